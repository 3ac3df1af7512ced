/**
 * Withdrawals (service spec 3.4, WDR-01 to WDR-26, AMB-76 to AMB-80, AMB-135).
 *
 *   request ─▶ queued ──delay over, units free, its turn (withdrawal-queue.ts)────▶ filled ──checkpoint──▶ signing
 *                │  └─ 24 h without a fill ─▶ expired ◀── nor to be signed in 24 h ──│                       │ signed
 *                └─ cancel ─▶ cancelled ◀──────────── cancel ────────────────────────┘                       ▼
 *                                                      expired ◀──block past validUntil, counter not moved── approved
 *                                                                                                            │ Withdrew
 *                                                                                                            ▼
 *                                                                                                         executed
 *   queued, filled     amount and fee are locked, of isolated lots of the token first, then of the pool; may be cancelled
 *   signing, approved  also bound to the vault's counter and `validUntil`: an approval may exist, so only the chain ends it
 *   executed           the value of the payout left the ledger, the fee went to the rebalancing pool, the rest returned. One whose
 *                      event a reorganisation dropped is approved again: it is paid, or expires (decision 0035)
 *   expired, cancelled everything returned, each part to where it came from
 *
 * Locked is in `locked` of the balance: not owned, not available, not margin. Each change is part of one journaled input, so
 * a kill leaves a row in the state before or after it. The chain executes a withdrawal only with an approval, and an
 * approval is signed only of a row in `signing`, at most one for a user and chain, at the vault's counter.
 *
 * Signature and weight were checked before, and the amount was set aside from what open orders may spend (AMB-112).
 */

import { add18, larger, smaller, subtract18 } from '../../core/arithmetic.ts';
import { must } from '../../core/assert.ts';
import { type AssetId, isPayable, type UserId } from '../../core/ids.ts';
import { LEDGER_ENTRY } from '../../core/ledger-entries.ts';
import { AMOUNT18_MAX } from '../../core/limits.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import { type Amount18, HOUR_NS, SECOND_NS, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import { askingUser, balanceSlot, moveHoldings, owesForced, SPOT_ACCOUNT, setFunds, totalsOf } from '../balances.ts';
import type { Effect } from '../effects.ts';
import { availableOf } from '../holds.ts';
import type {
  ApprovalLapsed,
  ApprovalSigned,
  CancelWithdrawal,
  PayoutVanished,
  VaultCheckpoint,
  Withdraw,
  Withdrew,
} from '../inputs.ts';
import { refuseDestination } from '../registry/known-addresses.ts';
import { tokenKey } from '../registry/registry-assets.ts';
import { configOf, withdrawalDelayOf } from '../registry/registry-config.ts';
import { borrowsOf } from '../risks.ts';
import type { UsedTextStatus, WithdrawalRow } from '../rows.ts';
import type { BalanceSlot, ClearingState } from '../state.ts';
import { moveFunds, withdrawalFeeOf } from './rebalancing.ts';
import { keepWithdrawal, refuseSigned } from './signed-approvals.ts';
import {
  alreadyUsed,
  endUses,
  keepUse,
  type MadeRow,
  refuseUse,
  reviveUses,
  type SignedUse,
  usedText,
} from './used-texts.ts';
import { isApprovalStopped } from './vault-deviations.ts';
import { decimalsOf, moveVaultUnits, vaultOf } from './vault-units.ts';
import {
  type Due,
  isLive,
  pooledAmount,
  WITHDRAWAL_LIFE_NS,
  WITHDRAWALS_PER_USER,
  type WithdrawalSlot,
} from './withdrawal-book.ts';
import { delaySeconds, payoutOf, payoutValue, usageAfter, usageChange } from './withdrawal-figures.ts';
import { fillAfter, fillQueue } from './withdrawal-queue.ts';
import { changed, counterOf, freeNonce, move, renumber } from './withdrawal-rows.ts';

type View = Readonly<Record<string, unknown>>;

/** Rows changed by one `withdrawalsDue`, those that their end fills not counted. */
const DUE_MAX = 256;

// ---- figures of the state

/** Vault units of an asset without what live withdrawals and settlements will take, 18 decimals (AMB-77). */
function holdingsOf(state: ClearingState, asset: AssetId): bigint {
  const bound = state.withdrawals.pending(asset) + state.settlements.boundAmount(asset);
  return totalsOf(state, asset).vaultHoldings - bound;
}

/** Changes the account's own usage by a change of holdings; an hour after its first accrual it begins anew (WDR-21). */
function accrue(
  state: ClearingState,
  { user, asset }: { readonly user: UserId; readonly asset: AssetId },
  holdings: { readonly before: bigint; readonly after: bigint },
  nowNs: TimestampNs,
): Amount18 {
  const key = `${user}/${asset}`;
  const known = state.withdrawalUsage.get(key);
  const kept = known !== undefined && nowNs - known.startedNs < HOUR_NS ? known : undefined;
  const change = usageChange(holdings, borrowsOf(state, asset), withdrawalDelayOf(state).cap_floor);
  const usage = usageAfter(kept?.usage ?? ZERO_18, change);
  if (usage === (known?.usage ?? ZERO_18) && kept === known) return usage;
  const startedNs = kept === undefined || kept.usage === 0n ? nowNs : kept.startedNs;
  state.withdrawalUsage.set(key, { user, asset, usage, startedNs });
  state.dirty.withdrawalUsage.add(key);
  return usage;
}

/** A deposit lowers the usage of its account (AMB-77). Called before the holdings change. */
export function depositLowersUsage(
  state: ClearingState,
  account: { readonly user: UserId; readonly asset: AssetId },
  amount: Amount18,
  nowNs: TimestampNs,
): void {
  if (!state.withdrawalUsage.has(`${account.user}/${account.asset}`)) return;
  const before = holdingsOf(state, account.asset);
  accrue(state, account, { before, after: before + amount }, nowNs);
}

// ---- changes

/** The balances that a withdrawal is locked from: of the pool, and of isolated lots of the token. */
interface Sources {
  readonly pool: BalanceSlot;
  /** null for a user who has none. */
  readonly lots: BalanceSlot | null;
}

function sourcesOf(
  state: ClearingState,
  { user, asset, token, chainId }: Pick<WithdrawalRow, 'user' | 'asset' | 'token' | 'chainId'>,
): Sources {
  const slot = askingUser(state, user);
  const lots = slot.subAccounts.get(SPOT_ACCOUNT)?.balances.get(tokenKey(token, chainId) as AssetId);
  return { pool: balanceSlot(state, slot, SPOT_ACCOUNT, asset), lots: lots ?? null };
}

function lock(state: ClearingState, slot: BalanceSlot | null, amount: Amount18): void {
  if (slot === null || amount === 0n) return;
  setFunds(state, slot, { owned: subtract18(slot.owned, amount), locked: add18(slot.locked, amount) });
}

/** Ends a lock. @param taken the part of it that leaves the balance. */
function release(state: ClearingState, slot: BalanceSlot | null, locked: Amount18, taken: Amount18): void {
  if (slot === null || locked === 0n) return;
  const owned = add18(slot.owned, subtract18(locked, taken));
  setFunds(state, slot, { owned, locked: subtract18(slot.locked, locked) });
}

/** What the text of a request is kept with: all parts of it have its number. */
function madeRow({ user: owner, sequence, requestedNs }: WithdrawalRow): MadeRow {
  return { made: 'withdrawal', owner, sequence, requestedNs };
}

/** A row has ended: with the last part of a request its text is used up. */
function endPart(state: ClearingState, row: WithdrawalRow, status: UsedTextStatus, nowNs: TimestampNs): void {
  // mutant: used-text-of-parts
  const isLast = !isPartLive(state, row);
  endUses(state, madeRow(row), { status, isLast, nowNs });
}

function isPartLive(state: ClearingState, { user, sequence }: WithdrawalRow): boolean {
  return state.withdrawals.ofUser(user).some(({ row }) => row.sequence === sequence && isLive(row));
}

/** Ends a row whose funds return: cancelled or expired. What that frees fills the queue. */
function giveBack(
  state: ClearingState,
  slot: WithdrawalSlot,
  status: 'cancelled' | 'expired',
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  returnFunds(state, slot, status, nowNs, effects);
  fillAfter(state, slot.row, nowNs, effects);
}

function returnFunds(
  state: ClearingState,
  slot: WithdrawalSlot,
  status: 'cancelled' | 'expired',
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  const { user, asset, amount, fee, isolated, chainId } = slot.row;
  const { pool, lots } = sourcesOf(state, slot.row);
  const before = holdingsOf(state, asset);
  move(state, slot, status, { endedNs: nowNs }, effects);
  endPart(state, slot.row, status, nowNs);
  release(state, lots, isolated, ZERO_18);
  // mutant: lock-returns
  release(state, pool, subtract18(add18(amount, fee), isolated), ZERO_18);
  accrue(state, { user, asset }, { before, after: before + pooledAmount(slot.row) }, nowNs);
  renumber(state, user, chainId, effects);
}

/**
 * Cancels withdrawals for which no approval can exist, the youngest first, until what a vault paid without the node is
 * covered (AMB-85). The queues of their assets are the caller's to fill, after its debit.
 *
 * @param asset null for all of them. @param isCovered evaluated after each one.
 * @returns the cancelled ones.
 */
export function cancelUnsigned(
  state: ClearingState,
  { user, asset }: { readonly user: UserId; readonly asset: AssetId | null },
  isCovered: () => boolean,
  nowNs: TimestampNs,
  effects: Effect[],
): readonly WithdrawalRow[] {
  const cancelled: WithdrawalRow[] = [];
  for (const slot of state.withdrawals.ofUser(user).reverse()) {
    const isUnsigned = slot.row.status === 'queued' || slot.row.status === 'filled';
    if (!isUnsigned || (asset !== null && slot.row.asset !== asset)) continue;
    returnFunds(state, slot, 'cancelled', nowNs, effects);
    cancelled.push(slot.row);
    if (isCovered()) break;
  }
  return cancelled;
}

// ---- inputs

function refuse(state: ClearingState, { token, chainId, amount, target, user }: Withdraw): Reject | null {
  const registered = state.tokens.get(tokenKey(token, chainId));
  if (registered === undefined) return reject('ASSET_NOT_FOUND', 'no asset has this token on that chain', 'asset');
  if (vaultOf(state, chainId) === null) return reject('VAULT_NOT_FOUND', 'this chain has no vault', 'asset');
  if (amount <= 0n || amount > AMOUNT18_MAX || payoutOf(amount, registered.decimals) === 0n) {
    return reject('INVALID_REQUEST', 'the amount pays at least one base unit of the token', 'amount');
  }
  if (!isPayable(target)) {
    return reject(
      'INVALID_REQUEST',
      'the target is an address of 20 bytes, padded on the right, and not zero',
      'target',
    );
  }
  const ofExchange = refuseDestination(state, chainId, target);
  if (ofExchange !== null) return ofExchange;
  if (state.withdrawals.freePlace(user) === null) {
    return reject('INVALID_REQUEST', `a user has at most ${WITHDRAWALS_PER_USER} live withdrawals`, 'inner');
  }
  return null;
}

/**
 * `POST /withdrawal/init`: locks amount and fee (WDR-01, AMB-76). A text that was accepted before changes nothing (MON-01).
 *
 * @returns `{"success":true}`, with `"duplicate":true` while the row of the text is live; ACTION_ALREADY_USED, ASSET_NOT_FOUND, VAULT_NOT_FOUND, INVALID_REQUEST, INVALID_NONCE, INSUFFICIENT_INVENTORY; then nothing changed.
 */
export function applyWithdraw(
  state: ClearingState,
  input: Withdraw,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  const { user, token, chainId, amount, target, text: digest } = input;
  const use: SignedUse = {
    ...{ kind: 'withdrawal', user, digest, chainId, subAccount: 0 },
    ...{ nonce: input.nonce, expiresNs: null },
  };
  const used = usedText(state, use, nowNs);
  // mutant: withdrawal-text-once
  if (used?.status === 'live') return accepted({ success: true, duplicate: true });
  if (used !== null) return rejected(alreadyUsed(used, 'inner'));
  const refusal = refuse(state, input);
  if (refusal !== null) return rejected(refusal);
  const { asset, decimals } = must(state.tokens.get(tokenKey(token, chainId)), 'the token is registered');
  const nonce = freeNonce(state, user, chainId);
  if (input.nonce !== null && input.nonce !== nonce) {
    return rejected(reject('INVALID_NONCE', `the next nonce of this chain is ${nonce}`, 'nonce'));
  }
  const unkept = refuseUse(state, use, nowNs);
  if (unkept !== null) return rejected(unkept);
  const fee = withdrawalFeeOf(state, asset, chainId, amount);
  const { pool, lots } = sourcesOf(state, { user, asset, token, chainId });
  const locked = add18(amount, fee);
  // mutant: lots-first
  const isolated = lots === null ? ZERO_18 : smaller(locked, availableOf(lots));
  // mutant: withdrawal-of-debtor
  const isCovered = !owesForced(state, user) && subtract18(locked, isolated) <= availableOf(pool);
  if (input.isShort || !isCovered) {
    return rejected(reject('INSUFFICIENT_INVENTORY', 'account 0 has less than amount and fee available', 'amount'));
  }

  // After this point the withdrawal must be queued. Its user owns something, so it is known.
  lock(state, lots, isolated);
  lock(state, pool, subtract18(locked, isolated));
  const before = holdingsOf(state, asset);
  const after = before - pooledAmount({ amount, isolated });
  const usage = accrue(state, { user, asset }, { before, after }, nowNs);
  const delayNs = BigInt(delaySeconds(usage, withdrawalDelayOf(state))) * SECOND_NS;
  const row: WithdrawalRow = {
    user,
    place: must(state.withdrawals.freePlace(user), 'a place is free'),
    sequence: state.withdrawals.nextSequence(),
    chainId,
    token,
    asset,
    amount,
    fee,
    isolated,
    payout: payoutOf(amount, decimals),
    target,
    nonce,
    isExplicit: input.nonce !== null,
    status: 'queued',
    requestedNs: nowNs,
    dueNs: (nowNs + delayNs) as TimestampNs,
    endedNs: 0n as TimestampNs,
    validUntil: 0,
    epochHash: '',
    signatures: [],
  };
  changed(state, state.withdrawals.add(row), effects);
  keepUse(state, use, madeRow(row), nowNs);
  if (row.dueNs <= nowNs) fillQueue(state, asset, chainId, nowNs, effects);
  return accepted({ success: true });
}

/**
 * `POST /withdrawal/cancel`: of a queued or filled row, whose funds return at once (WDR-13). One that names the time of
 * the request cancels one row, once; any other the live row of that number, each time (MON-01).
 *
 * @returns WITHDRAWAL_NOT_FOUND.
 */
export function applyCancelWithdrawal(
  state: ClearingState,
  { user, token, chainId, nonce, requestedNs, text: digest }: CancelWithdrawal,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  // mutant: cancel-names-its-row
  const isNamed = (row: WithdrawalRow): boolean => requestedNs === null || row.requestedNs === requestedNs;
  const slot = state.withdrawals
    .liveOf(user, chainId)
    .find(
      ({ row }) =>
        row.token === token &&
        row.nonce === nonce &&
        isNamed(row) &&
        (row.status === 'queued' || row.status === 'filled'),
    );
  // mutant: cancel-of-one-part
  if (slot === undefined || (requestedNs !== null && usedText(state, { user, digest }, nowNs) !== null)) {
    return rejected(reject('WITHDRAWAL_NOT_FOUND', 'there is no such withdrawal that may be cancelled', 'nonce'));
  }
  // After this point the withdrawal must be cancelled.
  giveBack(state, slot, 'cancelled', nowNs, effects);
  if (requestedNs !== null && isPartLive(state, slot.row)) {
    const use: SignedUse = { kind: 'cancel', user, digest, chainId, subAccount: 0, nonce, expiresNs: null };
    keepUse(state, use, madeRow(slot.row), nowNs);
  }
  return accepted({ success: true });
}

/**
 * Time has passed: delays are over, unfilled rows expire after a day, finished ones leave after another; DUE_MAX at a
 * time.
 */
export function applyWithdrawalsDue(state: ClearingState, nowNs: TimestampNs, effects: Effect[]): void {
  // What changes nothing does not count: after a start, a queued row whose delay is over is due for that once more.
  for (let left = DUE_MAX; left > 0; ) {
    const due = state.withdrawals.takeDue(nowNs);
    if (due === null) return;
    const before = effects.length;
    makeDue(state, due, nowNs, effects);
    if (effects.length > before) left -= 1;
  }
}

/** Judged by the time at which it was due, however late it is taken. */
function makeDue(state: ClearingState, { ns: dueNs, slot }: Due, nowNs: TimestampNs, effects: Effect[]): void {
  const { row } = slot;
  // mutant: filled-expires
  const isWaiting = row.status === 'queued' || row.status === 'filled';
  if (isWaiting && dueNs - row.requestedNs >= WITHDRAWAL_LIFE_NS) {
    giveBack(state, slot, 'expired', nowNs, effects);
  } else if (row.status === 'queued') {
    fillQueue(state, row.asset, row.chainId, nowNs, effects);
  } else {
    move(state, slot, 'gone', {}, effects);
    state.withdrawals.remove(slot);
  }
}

/**
 * A checkpoint of a chain: every filled row at its user's counter is to be signed, one a user and chain (WDR-07, AMB-79).
 * `validUntil` counts from the later of the node's clock and the last confirmed block.
 */
export function applyVaultCheckpoint(
  state: ClearingState,
  { chainId, blockTime }: VaultCheckpoint,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  const chain = configOf(state, 'chain', chainId);
  if (chain === null) return rejected(reject('CHAIN_NOT_FOUND', `chain ${chainId} is unknown`, 'chain_id'));
  // mutant: approval-beyond-vault
  const filled = [...state.withdrawals.all()].filter(
    ({ row }) =>
      row.chainId === chainId &&
      row.status === 'filled' &&
      row.nonce === counterOf(state, row.user, chainId) &&
      !isApprovalStopped(state, row.asset, chainId),
  );
  // In a map users are in the order in which they came, which a restart does not keep.
  filled.sort(({ row: a }, { row: b }) => a.sequence - b.sequence || a.nonce - b.nonce);
  const epochHash = state.sha256(new TextEncoder().encode(`checkpoint/${chainId}/${nowNs}`));
  const validUntil = Math.max(Number(nowNs / SECOND_NS), blockTime) + Number(chain['approval_validity_s']);
  let count = 0;
  for (const slot of filled) {
    const { user } = slot.row;
    const isBound = state.withdrawals
      .liveOf(user, chainId)
      .some(({ row }) => row.status === 'signing' || row.status === 'approved');
    if (isBound) continue;
    move(state, slot, 'signing', { validUntil, epochHash }, effects);
    count += 1;
  }
  return accepted({ signing: count });
}

/** All signatures of the quorum, over exactly the row that is to be signed. @returns WITHDRAWAL_NOT_FOUND. */
export function applyApprovalSigned(
  state: ClearingState,
  { user, place, sequence, signatures }: ApprovalSigned,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  const slot = state.withdrawals.ofUser(user).find(({ row }) => row.place === place && row.sequence === sequence);
  if (slot === undefined || slot.row.status !== 'signing') return rejected(notSigning());
  // It was to be signed before the vault lacked something: it is not published meanwhile.
  if (isApprovalStopped(state, slot.row.asset, slot.row.chainId)) return rejected(approvalsStopped());
  const refusal = refuseSigned(state, nowNs);
  if (refusal !== null) return rejected(refusal);
  keepWithdrawal(state, slot.row, nowNs);
  move(state, slot, 'approved', { signatures }, effects);
  return accepted({});
}

/**
 * A confirmed block is past `validUntil` and the vault's counter has not moved beyond it: the approval can never be used
 * (WDR-10).
 *
 * @returns WITHDRAWAL_NOT_FOUND.
 */
export function applyApprovalLapsed(
  state: ClearingState,
  { user, place, sequence, blockTime, counter }: ApprovalLapsed,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  const slot = state.withdrawals.ofUser(user).find(({ row }) => row.place === place && row.sequence === sequence);
  const isSigned = slot?.row.status === 'signing' || slot?.row.status === 'approved';
  if (slot === undefined || !isSigned) return rejected(notSigning());
  // A counter below that of the row is one that a reorganisation took back: the approval was not used either.
  // mutant: lapse-of-used-approval
  if (blockTime <= slot.row.validUntil || counter > slot.row.nonce) return rejected(notSigning());
  giveBack(state, slot, 'expired', nowNs, effects);
  return accepted({});
}

/** Nothing of the asset is approved on the chain (MON-05). */
export function approvalsStopped(): Reject {
  return reject('SERVICE_UNAVAILABLE', 'the vault of the chain lacks some of this asset: nothing of it is approved');
}

function notSigning(): Reject {
  return reject('WITHDRAWAL_NOT_FOUND', 'there is no such approval');
}

/**
 * A confirmed `Withdrew` event (WDR-09, WDR-11): the row at that counter is complete, in whatever state it is. An event
 * without an approved row is the vault's word against the ledger's: nothing changes, the chain has to be looked at.
 *
 * @returns `{"result":"executed" | "duplicate" | "unmatched","next":…}`.
 */
export function applyWithdrew(
  state: ClearingState,
  { chainId, user, token, nonce, baseUnits }: Withdrew,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  const next = counterOf(state, user, chainId);
  if (nonce < next) return accepted({ result: 'duplicate', next });
  const slot = state.withdrawals.liveOf(user, chainId).find(({ row }) => row.nonce === nonce);
  const isApproved = slot?.row.status === 'signing' || slot?.row.status === 'approved';
  if (
    nonce !== next ||
    slot === undefined ||
    !isApproved ||
    slot.row.token !== token ||
    slot.row.payout !== baseUnits ||
    // A forced withdrawal took what this one was promised (AMB-85): the vault paid with units of no event.
    (state.vaultTokens.get(tokenKey(token, chainId))?.baseUnits ?? 0n) < baseUnits
  ) {
    return accepted({ result: 'unmatched', next });
  }

  // After this point the payout must be booked.
  const value = payoutValue(baseUnits, decimalsOf(state, token, chainId));
  state.withdrawalCounters.set(`${chainId}/${user}`, nonce + 1);
  state.withdrawals.moved(user, chainId);
  state.dirty.withdrawalCounters.add(`${chainId}/${user}`);
  move(state, slot, 'executed', { endedNs: nowNs }, effects);
  endPart(state, slot.row, 'executed', nowNs);
  payOut(state, slot.row, value);
  effects.push({ kind: 'withdrawalCompleted', row: slot.row, amount: value, timeNs: nowNs });
  renumber(state, user, chainId, effects);
  // A place of the user is free again, and what a fee took of lots backs none any more.
  fillAfter(state, slot.row, nowNs, effects);
  return accepted({ result: 'executed', next: nonce + 1 });
}

/**
 * A booked payout is no longer on the chain, whose resumption the operator ordered: the vault has the units again, and
 * its counter is lower than the ledger's. The row is approved as before, with what was paid locked out of the pool: its
 * approval may still be executed, then it is booked again; else it lapses like any other, and its funds return. The
 * highest counter comes first.
 *
 * Without its row, which stays for a day, or where the ledger cannot hold the sums, the counter follows alone: the
 * operator puts the funds right (docs/funds.md).
 *
 * @returns `{"result":"restored" | "unknown" | "duplicate"}`; `duplicate`: nothing changed.
 */
export function applyPayoutVanished(
  state: ClearingState,
  { chainId, user, token, nonce, baseUnits, counter }: PayoutVanished,
  effects: Effect[],
): Outcome<View> {
  // mutant: vanished-once
  if (nonce + 1 !== counterOf(state, user, chainId) || nonce < counter) return accepted({ result: 'duplicate' });
  const slot = state.withdrawals
    .ofUser(user)
    .find(
      ({ row }) =>
        row.chainId === chainId &&
        row.nonce === nonce &&
        row.status === 'executed' &&
        row.token === token &&
        row.payout === baseUnits,
    );
  const restored = slot !== undefined && canHold(state, slot.row) ? slot : null;

  // After this point it must be booked.
  state.withdrawalCounters.set(`${chainId}/${user}`, nonce);
  state.withdrawals.moved(user, chainId);
  state.dirty.withdrawalCounters.add(`${chainId}/${user}`);
  if (restored !== null) restore(state, restored, effects);
  renumber(state, user, chainId, effects);
  return accepted({ result: restored === null ? 'unknown' : 'restored' });
}

/** Whether the sums of the asset stay within their bound with the payout of the row. */
function canHold(state: ClearingState, { asset, token, chainId, payout }: WithdrawalRow): boolean {
  const value = payoutValue(payout, decimalsOf(state, token, chainId));
  const { claims, vaultHoldings } = totalsOf(state, asset);
  return claims + value <= AMOUNT18_MAX && vaultHoldings + value <= AMOUNT18_MAX;
}

/** Takes a payout back into the lock of its row. Of the fee returns what the pool holds. */
function restore(state: ClearingState, slot: WithdrawalSlot, effects: Effect[]): void {
  const { token, chainId, asset, payout, signatures } = slot.row;
  const value = payoutValue(payout, decimalsOf(state, token, chainId));
  const fee = smaller(slot.row.fee, larger(totalsOf(state, asset).rebalancingPool, ZERO_18));
  // Signatures are made again of a row that was paid before they were booked.
  const status = signatures.length > 0 ? 'approved' : 'signing';
  const endedNs = 0n as TimestampNs;
  move(state, slot, status, { amount: value, fee, isolated: ZERO_18, endedNs }, effects);
  reviveUses(state, madeRow(slot.row));
  moveFunds(state, { asset, chainId, change: value, paid: -fee });
  const { pool } = sourcesOf(state, slot.row);
  state.outcomes?.cause(LEDGER_ENTRY.withdrawalReversed, `${chainId}/${slot.row.nonce}`, fee);
  setFunds(state, pool, { owned: pool.owned, locked: add18(pool.locked, add18(value, fee)) });
  moveVaultUnits(state, { token, chainId, asset }, payout, value);
}

/**
 * Books a payout and its fee: each takes what is locked of isolated lots first, then of the pool; what is over returns to
 * where it came from. A fee out of lots is pooled with that, as the rebalancing pool has the asset itself.
 */
function payOut(state: ClearingState, row: WithdrawalRow, value: Amount18): void {
  const { token, chainId, asset, amount, fee, isolated, payout } = row;
  const { pool, lots } = sourcesOf(state, row);
  const paid = smaller(isolated, value);
  const feeOfLots = smaller(subtract18(isolated, paid), fee);
  const takenOfLots = add18(paid, feeOfLots);
  const { outcomes } = state;
  outcomes?.cause(LEDGER_ENTRY.withdrawal, `${chainId}/${row.nonce}`, subtract18(ZERO_18, feeOfLots));
  release(state, lots, isolated, takenOfLots);
  outcomes?.cause(LEDGER_ENTRY.withdrawal, `${chainId}/${row.nonce}`, subtract18(feeOfLots, fee));
  release(state, pool, subtract18(add18(amount, fee), isolated), subtract18(add18(value, fee), takenOfLots));
  // mutant: withdrawal-fee-to-pool
  moveFunds(state, { asset, chainId, change: -value, paid: fee });
  if (takenOfLots > 0n) moveHoldings(state, tokenKey(token, chainId) as AssetId, subtract18(ZERO_18, takenOfLots));
  moveVaultUnits(state, { token, chainId, asset }, -payout, subtract18(feeOfLots, subtract18(value, paid)));
}
