/**
 * Deposits that advanced their counter and credited nothing (AMB-74, operator-api.md 4.4): of a token that no asset had, of
 * more than balances can hold, or for an id that is no key (MON-14), which stays here. They count nowhere in the ledger until an operator credits them, once, after the token is
 * registered: then as a deposit of that time, with its fee or rebate and under its caps.
 *
 *   deposit of an unregistered token ──▶ unclaimed ── credit ──▶ credited: pooled or a lot, DepositLanded; the row is gone
 *
 * Bounded, as a deposit of any token to any user costs its sender the fees of the chain alone: UNCLAIMED_PER_USER of a user on a
 * chain, so that deposits to one fill no list of others, and UNCLAIMED_PER_CHAIN. One more joins the youngest row of
 * the same user and token, with that row's counter; without such a row, the log and the table of deposits alone have it.
 */
import { must } from '../../core/assert.ts';
import type { AssetId, ChainId, UserId } from '../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import type { Effect } from '../effects.ts';
import type { CreditUnclaimed } from '../inputs.ts';
import { assetNotFound, tokenKey } from '../registry/registry-assets.ts';
import type { UnclaimedRow } from '../rows.ts';
import type { ClearingState } from '../state.ts';
import { tallyUnclaimedCredit } from '../tallies.ts';
import { bookDeposit, type DepositEvent, depositRow, judgeDeposit } from './deposits.ts';

type View = Readonly<Record<string, unknown>>;

export const UNCLAIMED_PER_USER = 64;
/** Their list is one message to the operator API, some 300 KiB. */
export const UNCLAIMED_PER_CHAIN = 1_024;

function keyOf({ chainId, user, counter }: Pick<UnclaimedRow, 'chainId' | 'user' | 'counter'>): string {
  return `${chainId}/${user}/${counter}`;
}

function count(state: ClearingState, { chainId, user }: UnclaimedRow, change: number): void {
  for (const key of [chainId, `${chainId}/${user}`]) {
    const left = (state.unclaimedCounts.get(key) ?? 0) + change;
    if (left === 0) state.unclaimedCounts.delete(key);
    else state.unclaimedCounts.set(key, left);
  }
}

/** A row, also of a checkpoint. */
export function placeUnclaimed(state: ClearingState, row: UnclaimedRow): void {
  if (row.credited) return;
  const key = keyOf(row);
  if (!state.unclaimed.has(key)) count(state, row, 1);
  state.unclaimed.set(key, row);
}

/** A deposit that cannot be credited now. */
export function keepUnclaimed(state: ClearingState, event: DepositEvent): void {
  const { chainId, user, depositNonce: counter, token, baseUnits, tx, logIndex } = event;
  const row: UnclaimedRow = { chainId, user, counter, token, baseUnits, tx, logIndex, credited: false };
  const kept = hasRoom(state, row) ? row : joined(state, row);
  if (kept === null) return;
  placeUnclaimed(state, kept);
  state.dirty.unclaimed.add(keyOf(kept));
}

function hasRoom({ unclaimedCounts }: ClearingState, { chainId, user }: UnclaimedRow): boolean {
  const ofUser = unclaimedCounts.get(`${chainId}/${user}`) ?? 0;
  return ofUser < UNCLAIMED_PER_USER && (unclaimedCounts.get(chainId) ?? 0) < UNCLAIMED_PER_CHAIN;
}

/** The youngest row of the same user and token, with these units too; null for none. */
function joined(state: ClearingState, { chainId, user, token, baseUnits }: UnclaimedRow): UnclaimedRow | null {
  let youngest: UnclaimedRow | null = null;
  for (const row of state.unclaimed.values()) {
    if (row.chainId !== chainId || row.user !== user || row.token !== token) continue;
    if (youngest === null || row.counter > youngest.counter) youngest = row;
  }
  return youngest === null ? null : { ...youngest, baseUnits: youngest.baseUnits + baseUnits };
}

/** Rows in the order of chains, users and counters. */
export function unclaimedRows(state: ClearingState): UnclaimedRow[] {
  const rows = [...state.unclaimed.values()];
  const place = ({ chainId, user }: UnclaimedRow): string => `${chainId}/${user}`;
  return rows.sort((a, b) => (place(a) === place(b) ? a.counter - b.counter : place(a) < place(b) ? -1 : 1));
}

/** `GET /operator/chains/{chain_id}/unclaimed`. */
export function unclaimedView(state: ClearingState, chainId: ChainId): View {
  const rows = unclaimedRows(state).filter((row) => row.chainId === chainId);
  return {
    unclaimed: rows.map(({ user, counter, token, baseUnits }) => {
      return { user, counter, token, amount_base_units: baseUnits.toString() };
    }),
  };
}

/** The row of a key of `dirty`; one that is gone was credited. */
export function unclaimedRow(state: ClearingState, key: string): UnclaimedRow {
  const [chainId, user, counter] = key.split('/') as [ChainId, UserId, string];
  const none = '0'.repeat(64);
  const credited = { token: none, baseUnits: 0n, tx: none, logIndex: 0, credited: true };
  return state.unclaimed.get(key) ?? { chainId, user, counter: Number(counter), ...credited };
}

/**
 * `POST /operator/chains/{chain_id}/unclaimed/{counter}/credit`.
 *
 * @returns NOT_FOUND when there is no such deposit, or it was credited before; ASSET_NOT_FOUND; INVALID_REQUEST for more than
 *   balances can hold.
 */
export function applyCreditUnclaimed(
  state: ClearingState,
  input: CreditUnclaimed,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<View> {
  const row = state.unclaimed.get(keyOf(input));
  if (row === undefined) return rejected(reject('NOT_FOUND', 'no deposit of this counter is unclaimed', 'counter'));
  const { chainId, tx, logIndex, user, token, baseUnits, counter: depositNonce } = row;
  const event: DepositEvent = { chainId, tx, logIndex, user, token, baseUnits, depositNonce };
  const credit = judgeDeposit(state, event, nowNs);
  if (credit === 'unknownToken') return rejected(assetNotFound(tokenKey(token, chainId) as AssetId));
  if (typeof credit === 'string') {
    return rejected(reject('INVALID_REQUEST', 'the balances of this asset would grow too large', 'counter'));
  }

  // After this point the deposit must be credited.
  // mutant: unclaimed-once
  state.unclaimed.delete(keyOf(row));
  count(state, row, -1);
  state.dirty.unclaimed.add(keyOf(row));
  const booked = depositRow(event, credit, nowNs);
  tallyUnclaimedCredit(state, booked);
  must(state.users.get(user), 'a deposit has made its user known');
  bookDeposit(state, { event, credit, row: booked }, effects);
  return accepted({});
}
