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
 * (AMB-67); a full queue to clearing is a refusal before it.
 */
import { MARGIN_ACCOUNT, SPOT_ACCOUNT } from '../clearing/balances.ts';
import type { OperatorCommand, Reply, SignedInput, TargetType, Transfer } from '../clearing/inputs.ts';
import { refuseNewSigner } from '../clearing/signers/add-signer.ts';
import type { Signatures } from '../codec/signatures.ts';
import type { SignedAddSigner } from '../codec/signed-add-signer.ts';
import type {
  ActionRequest,
  SignedClosePosition,
  SignedTransfer,
  TargetAccountType,
} from '../codec/signed-transfer.ts';
import { parseAmountText, type SignedWithdrawal, type SignedWithdrawalCancel } from '../codec/signed-withdrawal.ts';
import { type AssetId, tokenOfAsset, type UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../core/units.ts';
import type { SetAside, SetAsides } from './orders/set-asides.ts';
import type { RequestSignatures } from './request-signatures.ts';
import type { Cost } from './sessions/costs.ts';
import { type SignerQueries, signedByOf } from './signers.ts';
import type { UserSessions } from './user-sessions.ts';
import type { WithdrawalRows } from './withdrawals.ts';

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
const NO_POSITION: Reject = reject('POSITION_NOT_FOUND', 'there is no such position', 'asset_identifier');
const NOT_OWN: Reject = reject('INVALID_REQUEST', 'only accounts that the user created are renamed', 'account_index');

/** Half of what may wait for clearing (clearing-client.ts): operators and chains have the other. */
export const ACTIONS_UNANSWERED_MAX = 2_048;
const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'too many actions wait for clearing, try again');

/**
 * Refused before clearing (a reject), or decided by clearing: null when it was done, else clearing's refusal, which is
 * answered with status 200 (AMB-67).
 */
export type ClearingVerdict = Outcome<Reject | null>;

export interface AccountActionParts {
  readonly signatures: Pick<RequestSignatures, 'verify'>;
  readonly signers: Pick<SignerQueries, 'configNonceOf' | 'configOf' | 'refuseAction' | 'unfunded'>;
  readonly sessions: Pick<UserSessions, 'consumeNonce' | 'refuseNonce'>;
  readonly setAsides: SetAsides;
  readonly withdrawals: Pick<WithdrawalRows, 'form'>;
  /** RATE_LIMITED, or null after the charge. */
  readonly charge: (user: UserId, cost: Cost) => Reject | null;
  /** The asset of a token on its chain, null when none has it. */
  readonly assetOfToken: (token: AssetId) => AssetId | null;
  /** Whether clearing has a row of the user. */
  readonly isKnown: (user: UserId) => boolean;
  /** Whether the user has this sub-account. */
  readonly hasAccount: (user: UserId, index: number) => boolean;
  readonly nowNs: () => TimestampNs;
  readonly command: (command: OperatorCommand) => Promise<Reply>;
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
      const terms = { user, token, chainId, amount, target: inner.target.address, nonce: inner.nonce };
      return { command: { kind: 'withdraw', ...terms, isShort: !taken.ok }, setAside: taken.ok ? taken.value : null };
    };
    return this.#act(request, user, { kind: 'withdraw', ofUnknown: () => NO_INVENTORY, prepare });
  }

  /** `POST /withdrawal/cancel`. */
  cancelWithdrawal(request: ActionRequest<SignedWithdrawalCancel>, user: UserId): Promise<ClearingVerdict> {
    const { asset, nonce } = request.inner;
    const prepare = (): Prepared => ({
      command: { kind: 'cancelWithdrawal', user, ...tokenOfAsset(asset.id), nonce },
      setAside: null,
    });
    return this.#act(request, user, { kind: 'cancelWithdrawal', ofUnknown: () => NO_WITHDRAWAL, prepare });
  }

  /**
   * `POST /multisig/add-signer`. A value of `GET /nonce` in the request is judged as at a login (wire.md 3.2), and consumed when
   * the signer was added.
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
    { kind, refuse = () => null, ofUnknown, prepare }: Action,
  ): Promise<ClearingVerdict> {
    if (request.inner.user.id !== user) return rejected(NOT_THE_SIGNER);
    const { signers, signatures, nowNs, isKnown } = this.#parts;
    const signedBy = signedByOf(request);
    const refusal =
      signers.refuseAction({ kind, user, signedBy }, nowNs()) ??
      refuse() ??
      this.#chargeFurther(request, user) ??
      (await signatures.verify(request, user)) ??
      refuse();
    if (refusal !== null) return rejected(refusal);
    const ofStranger = isKnown(user) ? null : ofUnknown();
    if (ofStranger !== null) return accepted(ofStranger);
    const { command, setAside } = prepare();
    // The journal keeps who signed only where it was not the master key alone.
    const reply = await this.#send(signedBy.coSigners.length === 0 ? command : { ...command, signedBy });
    setAside?.free();
    if (reply.ok) return accepted(null);
    // Every refusal of clearing itself is final; only a full queue is retryable.
    return reply.reject.code === 'SERVICE_UNAVAILABLE' ? reply : accepted(reply.reject);
  }

  /** A signature costs as much to verify as another action: those behind the first are charged like one each. */
  #chargeFurther({ signature, additionalSigners }: Signatures, user: UserId): Reject | null {
    const furtherSignatures = additionalSigners.length - (signature.length === 0 ? 1 : 0);
    return furtherSignatures > 0 ? this.#parts.charge(user, { furtherSignatures }) : null;
  }

  async #send(command: OperatorCommand): Promise<Reply> {
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
  /** Clearing's answer to a user of whom it has no row; null: it is to decide. */
  readonly ofUnknown: () => Reject | null;
  readonly prepare: () => Prepared;
}

/** A command with what was set aside for it; null where it did not fit. */
interface Prepared {
  readonly command: Extract<OperatorCommand, Pick<SignedInput, 'kind'>>;
  readonly setAside: SetAside | null;
}

function shortfallOf({ code }: Reject): NonNullable<Transfer['shortfall']> {
  return code === 'INSUFFICIENT_MARGIN' ? code : 'INSUFFICIENT_INVENTORY';
}

function targetTypeOf(type: TargetAccountType | null): TargetType | null {
  if (type === null) return null;
  if (type.kind === 'Isolated') return { kind: 'isolated_margin', asset: type.asset.id };
  return { kind: type.kind === 'Spot' ? 'spot' : 'cross_margin', asset: null };
}
