/**
 * Actions on a user's own accounts:
 *
 *   signer 403 ─▶ weight 400 ─▶ further signatures paid 429 ─▶ signatures 401 ─▶ set aside ─▶ clearing: weight again, the nonce is consumed with the effect ─▶ verdict
 *
 * What the action takes is set aside beside open orders before clearing sees it, and freed by clearing's answer (AMB-112).
 * Where it does not fit, the action goes to clearing all the same, which refuses it: so the checks keep their order, a
 * repeated nonce before money (NON-07). Nothing of a user who never had funds goes to clearing, as its journal would keep
 * it for ever.
 *
 * A refusal before clearing consumes nothing (AMB-68). A refusal by clearing is a verdict, answered with status 200
 * (AMB-67); a full queue to clearing is a refusal before it. A text that was used up before is refused with 409 (MON-01): clearing
 * has its SHA-256, which is made here of the bytes that the signatures cover.
 */

import { MARGIN_ACCOUNT, SPOT_ACCOUNT } from '../../clearing/balances.ts';
import type { ChainNonces } from '../../clearing/clearing-queries.ts';
import type { ActionReply, OperatorCommand, SignedInput, TargetType, Transfer } from '../../clearing/inputs.ts';
import { type KnownAddresses, refuseDestination } from '../../clearing/registry/known-addresses.ts';
import type { SettlementRow } from '../../clearing/rows.ts';
import { nativeSha256 } from '../../clearing/sha256.ts';
import { refuseNewSigner } from '../../clearing/signers/add-signer.ts';
import type {
  AccountTypeRead,
  ActionRequest,
  AttachedMakerOrder,
  SettlementAction,
  SignedAddSigner,
  SignedClosePosition,
  SignedTransfer,
  SignedWithdrawal,
  SignedWithdrawalCancel,
} from '../../codec/action-types.ts';
import { furtherSignatures, type Signatures } from '../../codec/signatures.ts';
import { parseAmountText } from '../../codec/signed-text.ts';
import { type AssetId, type ChainId, tokenOfAsset, type UserId } from '../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, type RejectName, reject } from '../../core/reject.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import type { ClearingClient } from '../clearing-client.ts';
import type { SetAside, SetAsides } from '../orders/balances/set-asides.ts';
import type { SettlementChains, SettlementRows } from '../queries/settlements.ts';
import { type SignerQueries, signedByOf } from '../queries/signers.ts';
import type { WithdrawalRows } from '../queries/withdrawals.ts';
import type { Cost } from '../sessions/costs.ts';
import type { UserSessions } from '../user-sessions.ts';
import type { RequestSignatures } from './request-signatures.ts';
import { BAD_SIGNATURE } from './signature-verifier.ts';

const NOT_THE_SIGNER: Reject = reject('SIGNER_MISMATCH', 'the signer is not the user of the session', 'user');

/** Clearing's answers to users who own nothing. */
const NO_FUNDS: Reject = reject('INSUFFICIENT_INVENTORY', 'the source account has less available', 'transfer_amount');
const NO_INVENTORY: Reject = reject('INSUFFICIENT_INVENTORY', 'account 0 has less than amount and fee', 'amount');
const NO_WITHDRAWAL: Reject = reject('WITHDRAWAL_NOT_FOUND', 'there is no such withdrawal', 'nonce');
const BAD_AMOUNT: Reject = reject(
  'INVALID_REQUEST',
  'an amount above zero in the number format of this node',
  'amount',
);
const NO_OUT: Reject = reject('INSUFFICIENT_INVENTORY', 'the sub-account has less available', 'amount_out');
const LATE_APPROVAL: Reject = reject(
  'TIMEOUT_UNKNOWN_STATE',
  'the settlement is locked and not signed yet; its approval will be among the signatures, or the lock ends by the chain',
);
const NOT_SIGNED: Reject = reject('SERVICE_UNAVAILABLE', 'no approval is signed now; this request locks nothing');
const NO_POSITION: Reject = reject('POSITION_NOT_FOUND', 'there is no such position', 'asset_identifier');
const NO_CHAIN: Reject = reject('INVALID_REQUEST', 'there is no such chain', 'chain_id');
const NOT_OWN: Reject = reject('INVALID_REQUEST', 'only accounts that the user created are renamed', 'account_index');

/** Codes of clearing's replies that are no verdict on the action. */
const REFUSED_BEFORE: readonly RejectName[] = ['SERVICE_UNAVAILABLE', 'ACTION_ALREADY_USED'];

/** Half of what may wait for clearing (clearing-client.ts): operators and chains have the other. */
export const ACTIONS_UNANSWERED_MAX = 2_048;
const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'too many actions wait for clearing, try again');

/**
 * Refused before clearing (a reject), or decided by clearing: null when it was done, `duplicate` when the same text had
 * done it and its row is live (MON-01), else clearing's refusal, which is answered with status 200 (AMB-67).
 */
export type ClearingVerdict = Outcome<Reject | 'duplicate' | null>;

/** Refused before clearing (a reject), refused by clearing, or approved. */
type SettlementVerdict = Outcome<
  | { readonly kind: 'refused'; readonly refusal: Reject }
  /** `isDuplicate`: the same text was accepted before. */
  | { readonly kind: 'approved'; readonly row: SettlementRow; readonly isDuplicate: boolean }
>;

interface AccountActionParts {
  readonly signatures: Pick<RequestSignatures, 'verify'>;
  readonly signers: Pick<SignerQueries, 'configNonceOf' | 'configOf' | 'refuseAction' | 'unfunded'>;
  readonly sessions: Pick<UserSessions, 'consumeNonce' | 'refuseNonce'>;
  readonly setAsides: SetAsides;
  readonly withdrawals: Pick<WithdrawalRows, 'form'>;
  /** RATE_LIMITED, or null after the charge. */
  readonly charge: (user: UserId, cost: Cost) => Reject | null;
  readonly settlements: Pick<SettlementRows, 'decided' | 'hasLive'>;
  readonly chains: SettlementChains;
  /** What the registry knows on each chain (MON-14). */
  readonly registry: () => KnownAddresses;
  /** The asset of a token on its chain, null when none has it. */
  readonly assetOfToken: (token: AssetId) => AssetId | null;
  /** Whether clearing has a row of the user. */
  readonly isKnown: (user: UserId) => boolean;
  /** Whether the user has this sub-account. */
  readonly hasAccount: (user: UserId, index: number) => boolean;
  readonly nowNs: () => TimestampNs;
  readonly command: (command: OperatorCommand) => Promise<ActionReply>;
  readonly ask: ClearingClient['ask'];
}

export class AccountActions {
  readonly #parts: AccountActionParts;
  #unanswered = 0;

  constructor(parts: AccountActionParts) {
    this.#parts = parts;
  }

  /** Actions that clearing has not answered. */
  get inFlight(): number {
    return this.#unanswered;
  }

  transfer(request: ActionRequest<SignedTransfer>, user: UserId): Promise<ClearingVerdict> {
    const { sourceIndex, targetIndex, transferAsset, transferAmount, targetAccountType, nonce } = request.inner;
    const asset = transferAsset.id;
    const amount = BigInt(transferAmount) as Amount18;
    const targetType = targetTypeOf(targetAccountType);
    const prepare = (): Prepared => {
      const from = { user, subAccount: sourceIndex, asset };
      const taken = this.#parts.setAsides.take({ from, amount, leaves: true }, this.#parts.nowNs());
      const shortfall = taken.ok ? null : shortfallOf(taken.reject);
      const terms = { user, sourceIndex, targetIndex, asset, amount, targetType, shortfall, nonce };
      return { command: { kind: 'transfer', ...terms }, setAside: taken.ok ? taken.value : null };
    };
    return this.#act(request, user, { kind: 'transfer', ofUnknown: () => NO_FUNDS, prepare });
  }

  closePosition(request: ActionRequest<SignedClosePosition>, user: UserId): Promise<ClearingVerdict> {
    const { account, asset, nonce } = request.inner;
    const prepare = (): Prepared => {
      const taken = this.#parts.setAsides.takeQuoteLeg({ user, subAccount: account }, asset.id);
      const setAside = taken.ok ? taken.value.amount : ZERO_18;
      const terms = { user, account, asset: asset.id, setAside, nonce };
      return { command: { kind: 'closePosition', ...terms }, setAside: taken.ok ? taken.value : null };
    };
    return this.#act(request, user, { kind: 'closePosition', ofUnknown: () => NO_POSITION, prepare });
  }

  /** `POST /withdrawal/init`; the fee is clearing's matter, the amount is set aside here: isolated lots first (AMB-73). */
  withdraw(request: ActionRequest<SignedWithdrawal>, user: UserId): Promise<ClearingVerdict> {
    const { inner } = request;
    const amount = parseAmountText(inner.amount, this.#parts.withdrawals.form);
    if (amount === null) return Promise.resolve(rejected(BAD_AMOUNT));
    const prepare = (): Prepared => {
      const { token, chainId } = tokenOfAsset(inner.asset.id);
      const asset = this.#parts.assetOfToken(inner.asset.id);
      const first = { user, subAccount: SPOT_ACCOUNT, asset: inner.asset.id };
      const sources = { first, second: { ...first, asset: asset ?? inner.asset.id } };
      const taken = this.#parts.setAsides.takeOfTwo(amount, sources, this.#parts.nowNs());
      const text = nativeSha256(request.text);
      const terms = { user, token, chainId, amount, target: inner.target.address, nonce: inner.nonce, text };
      return { command: { kind: 'withdraw', ...terms, isShort: !taken.ok }, setAside: taken.ok ? taken.value : null };
    };
    return this.#act(request, user, {
      kind: 'withdraw',
      refuse: () =>
        refuseDestination(this.#parts.registry(), tokenOfAsset(inner.asset.id).chainId, inner.target.address),
      ofUnknown: () => NO_INVENTORY,
      prepare,
    });
  }

  /** `POST /withdrawal/cancel`. */
  cancelWithdrawal(request: ActionRequest<SignedWithdrawalCancel>, user: UserId): Promise<ClearingVerdict> {
    const { asset, nonce, requestedNs } = request.inner;
    const prepare = (): Prepared => {
      const terms = { user, ...tokenOfAsset(asset.id), nonce, requestedNs: requestedNs as TimestampNs | null };
      return { command: { kind: 'cancelWithdrawal', ...terms, text: nativeSha256(request.text) }, setAside: null };
    };
    return this.#act(request, user, { kind: 'cancelWithdrawal', ofUnknown: () => NO_WITHDRAWAL, prepare });
  }

  /**
   * `POST /multisig/add-signer`. A value of `GET /nonce` in the request is judged as at a login (wire.md 3.2), and
   * consumed when the signer was added.
   */
  async addSigner(request: ActionRequest<SignedAddSigner>, user: UserId): Promise<ClearingVerdict> {
    const { signer, weight, sessionDurationNs, ceNonce, omsNonce } = request.inner;
    const { sessions, signers } = this.#parts;
    const terms = { user, signer, weight, sessionDurationNs, ceNonce };
    const verdict = await this.#act(request, user, {
      kind: 'addSigner',
      refuse: () => (omsNonce === null ? null : sessions.refuseNonce(user, omsNonce)),
      ofUnknown: () => {
        const configNonce = signers.configNonceOf(user);
        const account = { config: signers.configOf(user), configNonce, isKnown: false, unfunded: signers.unfunded };
        return refuseNewSigner(account, terms);
      },
      prepare: () => ({ command: { kind: 'addSigner', ...terms }, setAside: null }),
    });
    if (verdict.ok && verdict.value === null && omsNonce !== null) sessions.consumeNonce(user, omsNonce);
    return verdict;
  }

  /**
   * `POST /settlement/init`: locked by clearing, signed, journaled, and only then answered (STL-01). A request that waits
   * too long for its signature is TIMEOUT_UNKNOWN_STATE: the settlement is locked, and signed later.
   */
  async settle(request: SettlementAction, user: UserId): Promise<SettlementVerdict> {
    const { inner } = request;
    const { form } = this.#parts.withdrawals;
    const amountOut = parseAmountText(inner.amountOut, form);
    const amountIn = parseAmountText(inner.amountIn, form);
    if (amountOut === null) return rejected({ ...BAD_AMOUNT, field: 'amount_out' });
    if (amountIn === null) return rejected({ ...BAD_AMOUNT, field: 'amount_in' });
    /** Of the two texts that a request without a nonce may have signed, the one that verifies. */
    let signed = request.text;
    const decided = await this.#decided(request, user, {
      kind: 'settle',
      refuse: () => refuseDelegation(request) ?? this.#refuseChain(inner.chainId.id, user),
      verify: async () => {
        const verified = await this.#verifySettlement(request, user);
        if (verified.ok) signed = verified.value;
        return verified.ok ? null : verified.reject;
      },
      ofUnknown: () => NO_OUT,
      prepare: () => this.#prepareSettlement(request, { user, amountOut, amountIn, text: nativeSha256(signed) }),
    });
    if (!decided.ok) return decided;
    const reply = decided.value;
    if (!reply.ok) return accepted({ kind: 'refused', refusal: reply.reject });
    const { place, requested_ns: requestedNs } = reply.value as { place: number; requested_ns: TimestampNs };
    const isDuplicate = isOfUsedText(reply.value);
    const row = await this.#parts.settlements.decided({ user, place, requestedNs });
    if (row === null || row.status === 'expired') return rejected(LATE_APPROVAL);
    return row.status === 'refused' ? rejected(NOT_SIGNED) : accepted({ kind: 'approved', row, isDuplicate });
  }

  #prepareSettlement(
    { inner, makerOrder }: SettlementAction,
    terms: {
      readonly user: UserId;
      readonly amountOut: Amount18;
      readonly amountIn: Amount18;
      readonly text: string;
    },
  ): Prepared {
    const chainId = inner.chainId.id;
    const token = `${inner.assetOut.address}@${chainId}` as AssetId;
    const from = { user: terms.user, subAccount: inner.subAccount, asset: this.#parts.assetOfToken(token) ?? token };
    const taken = this.#parts.setAsides.take({ from, amount: terms.amountOut, leaves: true }, this.#parts.nowNs());
    const chain = this.#parts.chains(chainId);
    const command = {
      kind: 'settle' as const,
      ...terms,
      subAccount: inner.subAccount,
      chainId,
      vault: inner.vault?.address ?? null,
      mode: inner.mode,
      tokenOut: inner.assetOut.address,
      tokenIn: inner.assetIn.address,
      // C19: of a delegated settlement the settler is the one that the maker's order names.
      settler: makerOrder?.settler.id ?? inner.settler?.id ?? terms.user,
      maker: makerOrder?.maker.id ?? null,
      makerOrder: makerOrder === null ? null : { text: nativeSha256(makerOrder.text), expiresNs: makerOrder.expiresNs },
      nonce: inner.nonce,
      expiresNs: inner.expiresNs,
      blockTime: chain.kind === 'ready' ? chain.blockTime : 0,
      notReady: this.#notReady(chainId),
      shortfall: taken.ok ? null : shortfallOf(taken.reject),
    };
    return { command, setAside: taken.ok ? taken.value : null };
  }

  /**
   * Without a nonce either of two texts is signed (C2). The maker's signature is one more, at the cost of the user.
   *
   * @returns the text that the signatures are over.
   */
  async #verifySettlement(request: SettlementAction, user: UserId): Promise<Outcome<Uint8Array>> {
    const { signatures } = this.#parts;
    const { text, otherText, makerOrder } = request;
    const first = await signatures.verify(request, user);
    const isOther = first === BAD_SIGNATURE && otherText !== null;
    const refusal = isOther
      ? (this.#charge(user, 1 + request.additionalSigners.length) ??
        (await signatures.verify({ ...request, text: otherText }, user)))
      : first;
    if (refusal !== null) return rejected(refusal);
    const ofMaker = makerOrder === null ? null : (this.#charge(user, 1) ?? (await this.#verifyMaker(makerOrder, user)));
    // mutant: digest-of-signed-text
    return ofMaker === null ? accepted(isOther ? otherText : text) : rejected(ofMaker);
  }

  async #verifyMaker({ maker, signature, text }: AttachedMakerOrder, payer: UserId): Promise<Reject | null> {
    const request = { signature, text, additionalSigners: [] };
    // mutant: maker-signature
    const refusal = await this.#parts.signatures.verify(request, maker.id, payer);
    return refusal === BAD_SIGNATURE ? { ...BAD_SIGNATURE, field: 'maker_order' } : refusal;
  }

  /** A user with a live settlement may be asking for it again: clearing decides. */
  #refuseChain(chainId: ChainId, user: UserId): Reject | null {
    const notReady = this.#notReady(chainId);
    if (notReady === null || this.#parts.settlements.hasLive(user)) return null;
    return { ...NOT_SIGNED, message: notReady };
  }

  #notReady(chainId: ChainId): string | null {
    const chain = this.#parts.chains(chainId);
    return chain.kind === 'ready' ? null : `${NOT_SIGNED.message}: ${chain.reason}`;
  }

  /** The next numbers of a user on a chain (MON-02). INVALID_REQUEST for a chain that is not registered. */
  async nonces(user: UserId, chainId: ChainId): Promise<Outcome<ChainNonces>> {
    const answer = await this.#parts.ask({ kind: 'nonces', user, chainId });
    return answer.ok || answer.reject.code !== 'CHAIN_NOT_FOUND' ? answer : rejected(NO_CHAIN);
  }

  /** The name has its form. INVALID_REQUEST for accounts 0 and 1 and for one that does not exist (SUB-14). */
  async rename(request: {
    readonly user: UserId;
    readonly subAccount: number;
    readonly name: string;
  }): Promise<Outcome<null>> {
    const { user, subAccount: index, name } = request;
    if (index <= MARGIN_ACCOUNT || !this.#parts.hasAccount(user, index)) return rejected(NOT_OWN);
    const reply = await this.#send({ kind: 'renameSubAccount', user, index, name });
    return reply.ok ? accepted(null) : reply;
  }

  async #act(
    request: ActionRequest<{ readonly user: { readonly id: UserId } }>,
    user: UserId,
    action: Action,
  ): Promise<ClearingVerdict> {
    const decided = await this.#decided(request, user, action);
    if (!decided.ok) return decided;
    const reply = decided.value;
    if (!reply.ok) return accepted(reply.reject);
    return accepted(isOfUsedText(reply.value) ? 'duplicate' : null);
  }

  /** @returns why it was refused before clearing, or clearing's reply. */
  async #decided(
    request: ActionRequest<{ readonly user: { readonly id: UserId } }>,
    user: UserId,
    { kind, refuse = () => null, verify, ofUnknown, prepare }: Action,
  ): Promise<Outcome<ActionReply>> {
    if (request.inner.user.id !== user) return rejected(NOT_THE_SIGNER);
    const { signers, signatures, nowNs, isKnown } = this.#parts;
    const signedBy = signedByOf(request);
    const refusal =
      signers.refuseAction({ kind, user, signedBy }, nowNs()) ??
      refuse() ??
      this.#chargeFurther(request, user) ??
      (await (verify?.() ?? signatures.verify(request, user))) ??
      refuse();
    if (refusal !== null) return rejected(refusal);
    const ofStranger = isKnown(user) ? null : ofUnknown();
    if (ofStranger !== null) return accepted(rejected(ofStranger));
    const { command, setAside } = prepare();
    // The journal keeps who signed only where it was not the master key alone.
    const reply = await this.#send(signedBy.coSigners.length === 0 ? command : { ...command, signedBy });
    setAside?.free();
    // Every refusal of clearing itself is final; only a full queue is retryable. One of a used text has a status of its own.
    // mutant: used-text-is-409
    const isRefusal = !reply.ok && REFUSED_BEFORE.includes(reply.reject.code);
    return isRefusal ? reply : accepted(reply);
  }

  /** A signature costs as much to verify as another action: those behind the first are charged like one each. */
  #chargeFurther(signatures: Signatures, user: UserId): Reject | null {
    return this.#charge(user, furtherSignatures(signatures));
  }

  #charge(user: UserId, count: number): Reject | null {
    return count > 0 ? this.#parts.charge(user, { furtherSignatures: count }) : null;
  }

  async #send(command: OperatorCommand): Promise<ActionReply> {
    if (this.#unanswered >= ACTIONS_UNANSWERED_MAX) return rejected(BUSY);
    this.#unanswered += 1;
    try {
      return await this.#parts.command(command);
    } finally {
      this.#unanswered -= 1;
    }
  }
}

/** What distinguishes one signed action from another. */
interface Action {
  readonly kind: SignedInput['kind'];
  /** Judged before the signatures are verified, and again after them. */
  readonly refuse?: () => Reject | null;
  /** Instead of the signatures over the text of the request alone. */
  readonly verify?: () => Promise<Reject | null>;
  /** Clearing's answer to a user without a row; null: the action goes to clearing, which decides. */
  readonly ofUnknown: () => Reject | null;
  readonly prepare: () => Prepared;
}

/** The delegated flow needs both sides, an expiry, and no settler of the request (wire.md 7.19, AMB-137). */
function refuseDelegation({ inner, makerOrder }: SettlementAction): Reject | null {
  // mutant: maker-matches
  if ((inner.maker?.id ?? null) !== (makerOrder?.maker.id ?? null)) {
    return reject('INVALID_REQUEST', 'MmPubkeyMismatch: mm_pubkey is the one of maker_order', 'mm_pubkey');
  }
  if (makerOrder === null) return null;
  if (inner.expiresNs === null) return reject('INVALID_REQUEST', 'with mm_pubkey an expiry is needed', 'expires_at');
  if (inner.settler !== null) return reject('INVALID_REQUEST', 'the settler is the one of maker_order', 'settler');
  return null;
}

/** Whether clearing answered for a text that had been accepted before. */
function isOfUsedText(reply: Readonly<Record<string, unknown>>): boolean {
  return reply['duplicate'] === true;
}

/** A command with what was set aside for it; null where it did not fit. */
interface Prepared {
  readonly command: Extract<OperatorCommand, Pick<SignedInput, 'kind'>>;
  readonly setAside: SetAside | null;
}

function shortfallOf({ code }: Reject): NonNullable<Transfer['shortfall']> {
  return code === 'INSUFFICIENT_MARGIN' ? code : 'INSUFFICIENT_INVENTORY';
}

function targetTypeOf(type: AccountTypeRead | null): TargetType | null {
  if (type === null) return null;
  if (type.kind === 'Isolated') return { kind: 'isolated_margin', asset: type.asset.id };
  return { kind: type.kind === 'Spot' ? 'spot' : 'cross_margin', asset: null };
}
