/**
 * Settlements (service spec 4.3, STL-01 to STL-14, AMB-82, AMB-137): a sub-account gives `amount_out` for `amount_in`
 * through the vault of a chain, which an executor calls with the approval of this node.
 *
 *   request ─▶ locked ──signature journaled──▶ approved ──Settled──▶ executed
 *                │ │                              │
 *                │ └──── block past validUntil ───┴──────────▶ expired
 *                └─ the signer refused what it has never signed ─▶ refused
 *
 *   locked     `amountOut` left what is owned and is in `locked`; the vault units of it are bound, the nonce and `validUntil` are
 *              fixed. A signature may exist in this node; none has left it
 *   approved   the signature is journaled and published: the user, or who was given it, may have it executed
 *   executed   the value of what left is debited, what came in is credited, the rest of the lock returned
 *              the chain drops it, its approval has ended, and the operator resumes: reversed (decision 0035)
 *   expired    a confirmed block is past `validUntil` and the vault's counter has not passed the nonce: everything returned
 *   refused    everything returned, and the nonce is free again: no signature was ever made
 *
 *   who may move it   request: the user; approved, refused: this node's signer, over exactly the row; executed, expired: the
 *                     chain alone. There is no cancel: an approval cannot be taken back
 *   timeout           of the caller: none of the row; the approval appears among the signatures. Of the chain: expired
 *
 * Each change is one journaled input, so a kill leaves the row before or behind it; a locked row is signed again at the next
 * start, with the same bytes. At most one live row has a nonce of (user, sub-account, chain), so there are never two
 * approvals for one counter that both could be used.
 *
 * Signatures and weight were checked before, and the amount was set aside from what open orders may spend (AMB-112).
 */

import { add18, mulDivCeil, normalizeDeposit, powerOfTen, smaller, subtract18 } from '../../core/arithmetic.ts';
import { assert, must } from '../../core/assert.ts';
import type { AssetId, ChainId, UserId } from '../../core/ids.ts';
import { USD } from '../../core/ids.ts';
import { LEDGER_ENTRY } from '../../core/ledger-entries.ts';
import { AMOUNT18_MAX } from '../../core/limits.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import { type Amount18, ONE_18, SECOND_NS, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import { isMarginType, mayHold } from '../../risk/account-types.ts';
import { capacityWith, isMarginBound } from '../account-margin.ts';
import { askingUser, balanceSlot, debitBelowZero, owesForced, SPOT_ACCOUNT, setFunds, setOwned } from '../balances.ts';
import type { Effect } from '../effects.ts';
import { availableOf } from '../holds.ts';
import type {
  Settle,
  Settled,
  SettlementLapsed,
  SettlementName,
  SettlementRefused,
  SettlementSigned,
  SettlementVanished,
} from '../inputs.ts';
import { tokenKey } from '../registry/registry-assets.ts';
import { configOf } from '../registry/registry-config.ts';
import { riskSlot } from '../risks.ts';
import type { SettlementRow, SettlementStatus, WithdrawalRow } from '../rows.ts';
import type { BalanceSlot, ClearingState, SubAccountSlot, TokenState, UserSlot } from '../state.ts';
import { isLiveSettlement, SETTLEMENTS_PER_USER } from './settlement-book.ts';
import { keepSettlement, refuseSigned } from './signed-approvals.ts';
import {
  alreadyUsed,
  endUses,
  forgetUses,
  keepUse,
  type MadeRow,
  refuseUse,
  type SignedUse,
  usedText,
} from './used-texts.ts';
import { isApprovalStopped } from './vault-deviations.ts';
import { decimalsOf, freeUnits, moveVaultUnits, reservedUnits, vaultOf } from './vault-units.ts';
import { payoutOf, payoutValue } from './withdrawal-figures.ts';
import { fillAfter, fillQueue, reserveFollows } from './withdrawal-queue.ts';
import { approvalsStopped, cancelUnsigned } from './withdrawals.ts';

type View = Readonly<Record<string, unknown>>;

/** Where a row may go from each state. */
const NEXT: Readonly<Record<SettlementStatus, readonly SettlementStatus[]>> = {
  locked: ['approved', 'executed', 'expired', 'refused'],
  approved: ['executed', 'expired'],
  executed: [],
  expired: [],
  refused: [],
};

const U256_MAX = (1n << 256n) - 1n;

/** A request with what it is about. */
interface Terms {
  readonly account: SubAccountSlot;
  readonly out: TokenState;
  readonly in: TokenState;
  readonly baseUnitsOut: bigint;
  readonly baseUnitsIn: bigint;
  /** Seconds. */
  readonly validFrom: number;
  readonly validUntil: number;
}

// ---- figures

/** Base units that the vault takes: rounded up (wire.md 2.2). */
function intakeOf(amount: Amount18, decimals: number): bigint {
  return mulDivCeil(amount, powerOfTen(decimals), ONE_18);
}

function counterKey(chainId: ChainId, user: UserId, subAccount: number): string {
  return `${chainId}/${user}/${subAccount}`;
}

/** Executed settlements of a sub-account: the counter of the next. */
export function settlementCounter(state: ClearingState, chainId: ChainId, user: UserId, subAccount: number): number {
  return state.settlementCounters.get(counterKey(chainId, user, subAccount)) ?? 0;
}

/** The next managed nonce: the smallest from the vault's counter up that no live row has (STL-05, MON-02). */
export function managedNonce(
  state: ClearingState,
  { chainId, user, subAccount }: Pick<Settle, 'chainId' | 'user' | 'subAccount'>,
): number {
  const taken = new Set(state.settlements.liveOf(user, chainId, subAccount).map(({ nonce }) => nonce));
  let nonce = settlementCounter(state, chainId, user, subAccount);
  while (taken.has(nonce)) nonce += 1;
  return nonce;
}

// ---- refusals

function invalid(field: string, message: string): ReturnType<typeof rejected> {
  return rejected(reject('INVALID_REQUEST', message, field));
}

/**
 * Chain, vault, settler and tokens are registered (IDN-08, IDN-09); amounts are whole units; the account may have what
 * comes.
 */
function readTerms(state: ClearingState, input: Settle, nowNs: TimestampNs): Outcome<Terms> {
  const { user, subAccount, chainId, tokenOut, tokenIn, amountOut, amountIn } = input;
  const chain = configOf(state, 'chain', chainId);
  if (chain === null) return rejected(reject('CHAIN_NOT_FOUND', `chain ${chainId} is unknown`, 'chain_id'));
  const vault = vaultOf(state, chainId);
  if (vault === null || (input.vault !== null && input.vault !== vault)) {
    return rejected(reject('VAULT_NOT_FOUND', 'this is not the vault of the chain', 'vault'));
  }
  const unregistered = refuseSettler(state, input);
  if (unregistered !== null) return rejected(unregistered);
  const out = state.tokens.get(tokenKey(tokenOut, chainId));
  if (out === undefined) return rejected(noToken('asset_out'));
  const into = state.tokens.get(tokenKey(tokenIn, chainId));
  if (into === undefined) return rejected(noToken('asset_in'));
  const isPaid = amountOut > 0n && amountOut <= AMOUNT18_MAX;
  const baseUnitsOut = isPaid ? payoutOf(amountOut, out.decimals) : 0n;
  if (baseUnitsOut <= 0n || baseUnitsOut > U256_MAX)
    return invalid('amount_out', 'at least one base unit of the token');
  const isTaken = amountIn > 0n && amountIn <= AMOUNT18_MAX;
  const baseUnitsIn = isTaken ? intakeOf(amountIn, into.decimals) : 0n;
  if (baseUnitsIn <= 0n || baseUnitsIn > U256_MAX) return invalid('amount_in', 'the amount is above zero');
  const account = askingUser(state, user).subAccounts.get(subAccount);
  if (account === undefined) return invalid('sub_account_index', 'this sub-account does not exist');
  if (input.mode === 'margin' && !isMarginType(account.row)) {
    return invalid('mode', 'a settlement of mode margin needs a margin account');
  }
  if (!mayHold(account.row, into.asset, riskSlot(state, into.asset).risk)) {
    return invalid('asset_in', 'the sub-account does not take this asset');
  }
  const validFrom = Math.max(Number(nowNs / SECOND_NS), input.blockTime);
  const latest = validFrom + Number(chain['approval_validity_s']);
  const expiries = [input.expiresNs, input.makerOrder?.expiresNs ?? null].filter((ns) => ns !== null);
  // mutant: settlement-expiry
  const validUntil = expiries.reduce((until, ns) => Math.min(until, Number(ns / SECOND_NS)), latest);
  if (validUntil <= validFrom) return invalid('expires_at', 'the settlement has expired');
  return accepted({ account, out, in: into, baseUnitsOut, baseUnitsIn, validFrom, validUntil });
}

function noToken(field: string): Reject {
  return reject('ASSET_NOT_FOUND', 'no asset has this token on that chain', field);
}

/** The settler is registered on the chain; a maker's order is of a registered settler or of a market maker (AMB-137). */
function refuseSettler(state: ClearingState, { settler, maker, chainId }: Settle): Reject | null {
  const isSettler = (key: UserId): boolean => configOf(state, 'settler', key)?.['chain_id'] === chainId;
  // mutant: settler-registered
  if (!isSettler(settler)) return reject('SETTLER_NOT_FOUND', 'this settler is not registered on the chain', 'settler');
  if (maker === null || isSettler(maker) || state.users.get(maker)?.row.isMarketMaker === true) return null;
  return reject('SETTLER_NOT_FOUND', 'the maker is neither a registered settler nor a market maker', 'mm_pubkey');
}

/** An explicit nonce neither collides with a live one nor lies below the counter (STL-06). */
function refuseNonce(state: ClearingState, input: Settle): Reject | null {
  const { nonce, chainId, user, subAccount } = input;
  if (nonce === null) return null;
  const expected = managedNonce(state, input);
  const live = state.settlements.liveOf(user, chainId, subAccount);
  // mutant: settlement-nonce
  const isFree =
    nonce >= settlementCounter(state, chainId, user, subAccount) && live.every((row) => row.nonce !== nonce);
  return isFree
    ? null
    : reject('INVALID_NONCE', `the next nonce of this sub-account and chain is ${expected}`, 'nonce');
}

/** The vault has the units, the account has the amount, and keeps its margin without it. */
function refuseFunds(
  state: ClearingState,
  { amountOut, shortfall, tokenOut, chainId }: Settle,
  { account, baseUnitsOut }: Terms,
  slot: BalanceSlot,
  nowNs: TimestampNs,
): Reject | null {
  if (amountOut > availableOf(slot) || shortfall === 'INSUFFICIENT_INVENTORY') {
    return reject('INSUFFICIENT_INVENTORY', 'the sub-account has less available', 'amount_out');
  }
  // mutant: settlement-of-debtor
  if (owesForced(state, slot.user)) {
    return reject('INSUFFICIENT_INVENTORY', 'account 0 owes what a vault paid by force', 'amount_out');
  }
  // mutant: settled-beyond-vault
  if (isApprovalStopped(state, slot.asset, chainId)) return approvalsStopped();
  // What is kept for withdrawals that wait is no liquidity of settlements (MON-04).
  // mutant: reserve-of-settlements
  if (freeUnits(state, tokenOut, chainId) - reservedUnits(state, tokenOut, chainId) < baseUnitsOut) {
    return reject('INSUFFICIENT_INVENTORY', 'the vault of the chain has fewer free units of this token', 'asset_out');
  }
  if (!isMarginType(account.row)) return null;
  if (account.liquidation !== null) {
    return reject('INSUFFICIENT_MARGIN', 'the sub-account is under liquidation', 'sub_account_index');
  }
  const owned = subtract18(slot.owned, amountOut);
  // mutant: settlement-margin
  const isBearable = !isMarginBound(account, nowNs) || capacityWith(account, { slot, owned }, nowNs) >= 0n;
  if (isBearable && shortfall === null) return null;
  return reject('INSUFFICIENT_MARGIN', 'the sub-account needs this as margin', 'amount_out');
}

/** What comes in can be owned; a margin account takes no more collateral than its cap (CAP-09). */
function refuseIntake(state: ClearingState, terms: Terms): Reject | null {
  const { account, baseUnitsIn } = terms;
  const { asset, decimals } = terms.in;
  const value = normalizeDeposit(baseUnitsIn, decimals);
  const owned = account.balances.get(asset)?.owned ?? ZERO_18;
  const claims = state.totals.get(asset)?.claims ?? ZERO_18;
  if (owned + value > AMOUNT18_MAX || claims + value > AMOUNT18_MAX) {
    return reject('INVALID_REQUEST', 'the sub-account would own too much of this asset', 'amount_in');
  }
  const { risk, collateral } = riskSlot(state, asset);
  const isExchanged = asset !== USD && asset !== terms.out.asset;
  if (!isMarginType(account.row) || !isExchanged || risk.maxCollateral === null) return null;
  return collateral + value > risk.maxCollateral
    ? reject('PROTOCOL_CAP_EXCEEDED', 'no more of this asset is taken as collateral', 'amount_in')
    : null;
}

// ---- changes

function balanceOf(state: ClearingState, { user, subAccount, assetOut }: SettlementRow): BalanceSlot {
  return balanceSlot(state, must(state.users.get(user), 'a user with a settlement is known'), subAccount, assetOut);
}

/** Ends a lock. @param returned of it; the rest leaves the account. */
function release(state: ClearingState, slot: BalanceSlot, locked: Amount18, returned: Amount18): void {
  setFunds(state, slot, { owned: add18(slot.owned, returned), locked: subtract18(slot.locked, locked) });
}

function move(
  state: ClearingState,
  row: SettlementRow,
  change: Pick<SettlementRow, 'status'> & Partial<SettlementRow>,
  effects: Effect[],
): void {
  assert(NEXT[row.status].includes(change.status), `a settlement goes from ${row.status} to ${change.status}`);
  const next: SettlementRow = { ...row, ...change };
  state.settlements.replace(next);
  changed(state, next, effects);
}

function changed(state: ClearingState, row: SettlementRow, effects: Effect[]): void {
  state.dirty.settlements.set(`${row.user}/${row.place}`, row);
  effects.push({ kind: 'settlementChanged', row });
}

/** What the texts of a row are kept with. */
function madeRow({ user: owner, place: sequence, requestedNs }: SettlementName): MadeRow {
  return { made: 'settlement', owner, sequence, requestedNs };
}

/** The text of the request, and that of the maker's order. */
function usesOf(input: Settle): { readonly request: SignedUse; readonly order: SignedUse | null } {
  const { user, subAccount, chainId, text: digest, nonce, expiresNs, maker, makerOrder } = input;
  const request: SignedUse = { kind: 'settlement', user, digest, chainId, subAccount, nonce, expiresNs };
  if (maker === null || makerOrder === null) return { request, order: null };
  const { text, expiresNs: orderExpiresNs } = makerOrder;
  const order: SignedUse = {
    ...{ kind: 'makerOrder', user: maker, digest: text, chainId, subAccount: 0 },
    ...{ nonce: null, expiresNs: orderExpiresNs },
  };
  return { request, order };
}

/** Ends a row that was not executed: the locked amount returns and the units are free. */
function giveBack(
  state: ClearingState,
  row: SettlementRow,
  status: 'expired' | 'refused',
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  const balance = balanceOf(state, row);
  move(state, row, { status }, effects);
  if (status === 'refused') forgetUses(state, madeRow(row));
  else endUses(state, madeRow(row), { status, isLast: true, nowNs });
  release(state, balance, row.amountOut, row.amountOut);
  fillQueue(state, row.assetOut, row.chainId, nowNs, effects);
}

/** The live row of that name. */
function named(state: ClearingState, { user, place, requestedNs }: SettlementName): SettlementRow | null {
  const row = state.settlements.find(user, place);
  return row !== null && row.requestedNs === requestedNs ? row : null;
}

function notFound(): Outcome<View> {
  return rejected(reject('SETTLEMENT_NOT_FOUND', 'there is no such settlement'));
}

// ---- inputs

/**
 * `POST /settlement/init`: locks the amount that is given, and binds it in the vault (STL-01, AMB-82). A text that was
 * accepted before changes nothing (MON-01).
 *
 * @returns `{"place","requested_ns"}` of the locked row, with `"duplicate":true` of one that lives already; ACTION_ALREADY_USED, SERVICE_UNAVAILABLE,
 *   CHAIN_NOT_FOUND, VAULT_NOT_FOUND, SETTLER_NOT_FOUND, ASSET_NOT_FOUND,
 *   INVALID_REQUEST, INVALID_NONCE, INSUFFICIENT_INVENTORY, INSUFFICIENT_MARGIN, PROTOCOL_CAP_EXCEEDED; then nothing changed.
 */
export function applySettle(state: ClearingState, input: Settle, nowNs: TimestampNs, effects: Effect[]): Outcome<View> {
  const { user, subAccount, chainId, mode, tokenOut, amountOut, tokenIn, amountIn, settler } = input;
  const uses = usesOf(input);
  const used = usedText(state, uses.request, nowNs);
  if (used?.status === 'live') {
    return accepted({ place: used.sequence, requested_ns: used.requestedNs, duplicate: true });
  }
  if (used !== null) return rejected(alreadyUsed(used, 'inner'));
  const usedOrder = uses.order === null ? null : usedText(state, uses.order, nowNs);
  // mutant: maker-order-once
  if (usedOrder !== null) return rejected(alreadyUsed(usedOrder, 'maker_order'));
  // mutant: nothing-locked-while-not-ready
  if (input.notReady !== null) return rejected(reject('SERVICE_UNAVAILABLE', input.notReady));
  const terms = readTerms(state, input, nowNs);
  if (!terms.ok) return terms;
  const { out, in: into, baseUnitsOut, baseUnitsIn, validFrom, validUntil } = terms.value;
  const place = state.settlements.freePlace(user);
  if (place === null) return invalid('inner', `a user has at most ${SETTLEMENTS_PER_USER} live settlements`);
  const slot = balanceSlot(state, askingUser(state, user), subAccount, out.asset);
  const refusal =
    refuseNonce(state, input) ??
    refuseUse(state, uses.request, nowNs) ??
    (uses.order === null ? null : refuseUse(state, uses.order, nowNs)) ??
    refuseFunds(state, input, terms.value, slot, nowNs) ??
    refuseIntake(state, terms.value);
  if (refusal !== null) return rejected(refusal);

  // After this point the settlement must be locked. Its user owns something, so it is known.
  const row: SettlementRow = {
    user,
    place,
    subAccount,
    chainId,
    mode,
    tokenOut,
    assetOut: out.asset,
    amountOut,
    baseUnitsOut,
    tokenIn,
    assetIn: into.asset,
    amountIn,
    baseUnitsIn,
    settler,
    nonce: input.nonce ?? managedNonce(state, input),
    status: 'locked',
    requestedNs: nowNs,
    validFrom,
    validUntil,
    signature: '',
  };
  state.settlements.add(row);
  keepUse(state, uses.request, madeRow(row), nowNs);
  if (uses.order !== null) keepUse(state, uses.order, madeRow(row), nowNs);
  setFunds(state, slot, { owned: subtract18(slot.owned, amountOut), locked: add18(slot.locked, amountOut) });
  changed(state, row, effects);
  reserveFollows(state, tokenOut, chainId);
  return accepted({ place, requested_ns: nowNs });
}

/** @returns SETTLEMENT_NOT_FOUND for a row that is not locked. */
export function applySettlementSigned(
  state: ClearingState,
  input: SettlementSigned,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  const row = named(state, input);
  if (row === null || row.status !== 'locked') return notFound();
  if (isApprovalStopped(state, row.assetOut, row.chainId)) return rejected(approvalsStopped());
  const refusal = refuseSigned(state, nowNs);
  if (refusal !== null) return rejected(refusal);
  keepSettlement(state, row, nowNs);
  move(state, row, { status: 'approved', signature: input.signature }, effects);
  return accepted({});
}

/** @returns SETTLEMENT_NOT_FOUND for a row that is not locked: of an approved one a signature exists. */
export function applySettlementRefused(
  state: ClearingState,
  input: SettlementRefused,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  const row = named(state, input);
  // mutant: settlement-refused-once-signed
  if (row === null || row.status !== 'locked') return notFound();
  giveBack(state, row, 'refused', nowNs, effects);
  return accepted({});
}

/** The approval can never be used any more. @returns SETTLEMENT_NOT_FOUND while it can, or when it was. */
export function applySettlementLapsed(
  state: ClearingState,
  input: SettlementLapsed,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  const row = named(state, input);
  // mutant: settlement-lapse
  if (row === null || input.blockTime <= row.validUntil || input.counter > row.nonce) return notFound();
  giveBack(state, row, 'expired', nowNs, effects);
  return accepted({});
}

/** Whether the event is what the row approved, in every member. */
function isOf(row: SettlementRow, input: Settled): boolean {
  return (
    row.nonce === input.nonce &&
    row.tokenOut === input.tokenOut &&
    row.baseUnitsOut === input.baseUnitsOut &&
    row.tokenIn === input.tokenIn &&
    row.baseUnitsIn === input.baseUnitsIn &&
    row.mode === input.mode &&
    row.settler === input.settler
  );
}

/**
 * A `Settled` event of the vault (STL-04, DEP-23): the row at that counter is complete, in whatever live state it is. Taken
 * once by the vault's counter, so that a block that comes again after a reorganisation changes nothing. An event without
 * its row contradicts the ledger: nothing changes, the chain has to be looked at.
 *
 * @returns `{"result":"executed" | "duplicate" | "unmatched","next":…}`.
 */
export function applySettled(
  state: ClearingState,
  input: Settled,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  const { chainId, user, subAccount, nonce } = input;
  const next = settlementCounter(state, chainId, user, subAccount);
  // mutant: settled-once
  if (nonce < next) return accepted({ result: 'duplicate', next });
  const row = state.settlements.liveOf(user, chainId, subAccount).find((one) => isOf(one, input));
  if (nonce !== next || row === undefined || !isLiveSettlement(row)) return accepted({ result: 'unmatched', next });
  const balance = balanceOf(state, row);
  const value = payoutValue(row.baseUnitsOut, decimalsOf(state, row.tokenOut, chainId));
  const credit = normalizeDeposit(row.baseUnitsIn, decimalsOf(state, row.tokenIn, chainId));
  const account = must(state.users.get(user)?.subAccounts.get(subAccount), 'sub-accounts are never deleted');
  const { claims, vaultHoldings } = state.totals.get(row.assetIn) ?? { claims: ZERO_18, vaultHoldings: ZERO_18 };
  const owned = account.balances.get(row.assetIn)?.owned ?? ZERO_18;
  // A deposit in between may have brought the asset to the bound of what a ledger can hold.
  if ([owned, claims, vaultHoldings].some((sum) => sum + credit > AMOUNT18_MAX)) {
    return accepted({ result: 'unmatched', next });
  }

  // After this point the settlement must be booked.
  state.settlementCounters.set(counterKey(chainId, user, subAccount), nonce + 1);
  state.dirty.settlementCounters.add(counterKey(chainId, user, subAccount));
  move(state, row, { status: 'executed' }, effects);
  endUses(state, madeRow(row), { status: 'executed', isLast: true, nowNs });
  state.outcomes?.cause(LEDGER_ENTRY.settlement, `${chainId}/${subAccount}/${nonce}`);
  release(state, balance, row.amountOut, subtract18(row.amountOut, value));
  const credited = balanceSlot(state, must(state.users.get(user), 'its account is known'), subAccount, row.assetIn);
  setOwned(state, credited, add18(credited.owned, credit));
  const { tokenOut, assetOut, baseUnitsOut, tokenIn, assetIn, baseUnitsIn } = row;
  moveVaultUnits(state, { token: tokenOut, chainId, asset: assetOut }, -baseUnitsOut, subtract18(ZERO_18, value));
  moveVaultUnits(state, { token: tokenIn, chainId, asset: assetIn }, baseUnitsIn, credit);
  fillQueue(state, assetIn, chainId, nowNs, effects);
  return accepted({ result: 'executed', next: nonce + 1 });
}

/**
 * A booked settlement is no longer on the chain, its approval has ended, and the operator resumes the chain: the vault
 * has what left, and has not what came in. Both are taken back in the ledger: what came in from the sub-account as far as
 * it is available there, the rest from account 0, below zero if it was spent. The highest counter comes first.
 *
 * @returns `{"result":"reversed" | "unmatched" | "duplicate"}`; `duplicate`: nothing changed; `unmatched`: the ledger cannot hold the
 *   reversal, only the counter follows.
 */
export function applySettlementVanished(
  state: ClearingState,
  input: SettlementVanished,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  const { chainId, user, subAccount, nonce, tokenOut, baseUnitsOut, tokenIn, baseUnitsIn, counter } = input;
  // mutant: reversed-once
  if (nonce + 1 !== settlementCounter(state, chainId, user, subAccount) || nonce < counter) {
    return accepted({ result: 'duplicate' });
  }

  // After this point it must be booked.
  state.settlementCounters.set(counterKey(chainId, user, subAccount), nonce);
  state.dirty.settlementCounters.add(counterKey(chainId, user, subAccount));
  const [out, into] = [
    state.vaultTokens.get(tokenKey(tokenOut, chainId)),
    state.vaultTokens.get(tokenKey(tokenIn, chainId)),
  ];
  const slot = state.users.get(user);
  if (out === undefined || into === undefined || into.baseUnits < baseUnitsIn || slot === undefined) {
    return accepted({ result: 'unmatched' });
  }
  const value = payoutValue(baseUnitsOut, decimalsOf(state, tokenOut, chainId));
  const credit = normalizeDeposit(baseUnitsIn, decimalsOf(state, tokenIn, chainId));
  const { claims, vaultHoldings } = must(state.totals.get(out.asset), 'an asset with vault units has totals');
  if (claims + value > AMOUNT18_MAX || vaultHoldings + value > AMOUNT18_MAX) return accepted({ result: 'unmatched' });
  const returned = balanceSlot(state, slot, subAccount, out.asset);
  state.outcomes?.cause(LEDGER_ENTRY.settlementReversed, `${chainId}/${subAccount}/${nonce}`);
  state.outcomes?.fact(reversedFact(input));
  setOwned(state, returned, add18(returned.owned, value));
  const ended = takeBack(state, slot, { subAccount, chainId, asset: into.asset }, credit, nowNs, effects);
  moveVaultUnits(state, { token: tokenOut, chainId, asset: out.asset }, baseUnitsOut, value);
  moveVaultUnits(state, { token: tokenIn, chainId, asset: into.asset }, -baseUnitsIn, subtract18(ZERO_18, credit));
  for (const row of ended) fillAfter(state, row, nowNs, effects);
  fillQueue(state, out.asset, chainId, nowNs, effects);
  reserveFollows(state, tokenIn, chainId);
  return accepted({ result: 'reversed' });
}

/** The row of the log. */
function reversedFact(input: SettlementVanished): Readonly<Record<string, unknown>> {
  const { chainId, user, subAccount, nonce, tokenOut, baseUnitsOut, tokenIn, baseUnitsIn } = input;
  const out = { token_out: tokenOut, base_units_out: baseUnitsOut };
  const into = { token_in: tokenIn, base_units_in: baseUnitsIn };
  const place = { sub_account: subAccount, chain_id: chainId, nonce };
  return { kind: 'settlement', user, event: 'reversed', ...place, ...out, ...into };
}

/**
 * Debits what the vault never got, as a forced withdrawal does: unsigned withdrawals of the user end before account 0 is
 * below zero.
 *
 * @returns them: their queues are the caller's to fill.
 */
function takeBack(
  state: ClearingState,
  user: UserSlot,
  { subAccount, chainId, asset }: { readonly subAccount: number; readonly chainId: ChainId; readonly asset: AssetId },
  amount: Amount18,
  nowNs: TimestampNs,
  effects: Effect[],
): readonly WithdrawalRow[] {
  const balance = balanceSlot(state, user, subAccount, asset);
  const available = availableOf(balance);
  const taken = available > 0n ? smaller(available, amount) : ZERO_18;
  setOwned(state, balance, subtract18(balance.owned, taken));
  const left = subtract18(amount, taken);
  if (left === 0n) return [];
  const pool = balanceSlot(state, user, SPOT_ACCOUNT, asset);
  const isCovered = (): boolean => pool.owned >= left;
  const name = { user: user.row.user, asset };
  const cancelled = isCovered() ? [] : [...cancelUnsigned(state, name, isCovered, nowNs, effects)];
  debitBelowZero(state, pool, left);
  if (pool.owned >= 0n) return cancelled;
  // While the balance is negative nothing of the user leaves, whatever the asset.
  cancelled.push(...cancelUnsigned(state, { ...name, asset: null }, () => false, nowNs, effects));
  // Only users with a row of forced withdrawals have a balance below zero (checks.ts).
  const key = `${chainId}/${user.row.user}`;
  state.forcedCounters.set(key, state.forcedCounters.get(key) ?? 0);
  state.dirty.forcedCounters.add(key);
  return cancelled;
}
