/**
 * Groups that protect market makers, as durable facts (MMP-01, MMP-02, MMP-04): their limits, which a user sets, and their
 * freezes, which a market reports. What counts and when a group trips is the market's (src/matching/protection.ts).
 *
 *   put, delete, reset    from the gateway, journaled; the group goes to the gateway and from there to its market
 *   triggered, ended      from the market, each behind the fill or the rollback that caused it
 *
 * A trip is named by its sequence in its market. A freeze is in force while its trip is above the last one that was ended, and
 * its time is not over. So a reset that overtakes the report of its trip ends it all the same.
 */
import { assert } from '../core/assert.ts';
import type { UserId } from '../core/ids.ts';
import { PROTECTION_GROUPS_MAX } from '../core/limits.ts';
import { ORDER_END, type OrderEnd } from '../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { Effect } from './effects.ts';
import type {
  DeleteProtection,
  ProtectionEndedInput,
  ProtectionTriggeredInput,
  PutProtection,
  ResetProtection,
} from './inputs.ts';
import { protectionFact } from './outcome-facts.ts';
import { setOf } from './quote-set-slots.ts';
import type { OrderRow, ProtectionRow } from './rows.ts';
import type { ClearingMarket, ClearingState } from './state.ts';

type Reply = Outcome<Readonly<Record<string, unknown>>>;

const NO_TIME = 0n as TimestampNs;
const NO_GROUP: Reject = reject('NOT_FOUND', 'there is no such protection group', 'group');
const NO_MARKET: Reject = reject('MARKET_NOT_FOUND', 'there is no such market', 'asset_id');
const NO_USER: Reject = reject('INSUFFICIENT_INVENTORY', 'a protection group needs a user who owns something');
const TOO_MANY: Reject = reject('INVALID_REQUEST', `at most ${PROTECTION_GROUPS_MAX} groups in a market`, 'group');
const IN_USE: Reject = reject('PROTECTION_IN_USE', 'orders of the group are live or have undecided fills', 'group');

/** What names a group: its user, its market, and its slot there. */
type GroupPlace = Pick<ProtectionRow, 'user' | 'marketIndex' | 'slot'>;

export function protectionKey({ user, marketIndex, slot }: GroupPlace): string {
  return `${user}/${marketIndex}/${slot}`;
}

/** Whether the freeze of its last trip is in force. */
export function isFrozen({ trip, endedTrip, frozenUntilNs }: ProtectionRow, nowNs: TimestampNs): boolean {
  return trip > endedTrip && (frozenUntilNs === 0n || nowNs < frozenUntilNs);
}

/** 409 of an order, or of a delete, while the group is frozen (MMP-03). */
export function frozenRefusal({ frozenUntilNs }: ProtectionRow): Reject {
  const details = { frozen_until_ns: frozenUntilNs === 0n ? null : frozenUntilNs };
  return { ...reject('MMP_FROZEN', 'the protection group is frozen', 'protection_group'), details };
}

/** Groups of a user in a market, by slot. */
function groupsOf(state: ClearingState, user: UserId, marketIndex: number): ProtectionRow[] {
  const rows: ProtectionRow[] = [];
  for (let slot = 1; slot <= PROTECTION_GROUPS_MAX; slot += 1) {
    const row = state.protections.get(protectionKey({ user, marketIndex, slot }));
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

function place(state: ClearingState, row: ProtectionRow): void {
  state.protections.set(protectionKey(row), row);
  state.dirty.protections.set(protectionKey(row), row);
}

/** Creates the group, or gives it other limits: its slot and its freeze stay. */
export function applyPutProtection(state: ClearingState, input: PutProtection, effects: Effect[]): Reply {
  const { user, asset, group, terms } = input;
  const market = state.marketOfAsset.get(asset);
  if (market === undefined) return rejected(NO_MARKET);
  if (!state.users.has(user)) return rejected(NO_USER);
  const { marketIndex } = market.definition;
  const groups = groupsOf(state, user, marketIndex);
  const known = groups.find((row) => row.group === group);
  if (known === undefined && groups.length >= PROTECTION_GROUPS_MAX) return rejected(TOO_MANY);

  // After this point the command must succeed.
  const slot = known?.slot ?? freeSlot(groups);
  const freeze = known ?? { trip: 0 as Sequence, endedTrip: 0 as Sequence, frozenUntilNs: NO_TIME };
  const { trip, endedTrip, frozenUntilNs } = freeze;
  const row: ProtectionRow = {
    user,
    marketIndex,
    slot,
    group,
    ...terms,
    trip,
    endedTrip,
    frozenUntilNs,
    isGone: false,
  };
  place(state, row);
  effects.push({ kind: 'protectionChanged', row });
  return accepted({});
}

function freeSlot(groups: readonly ProtectionRow[]): number {
  let slot = 1;
  while (groups.some((row) => row.slot === slot)) slot += 1;
  return slot;
}

function findGroup(
  state: ClearingState,
  { user, asset, group }: Pick<PutProtection, 'user' | 'asset' | 'group'>,
): Outcome<ProtectionRow> {
  const market = state.marketOfAsset.get(asset);
  if (market === undefined) return rejected(NO_MARKET);
  const row = groupsOf(state, user, market.definition.marketIndex).find((each) => each.group === group);
  return row === undefined ? rejected(NO_GROUP) : accepted(row);
}

/** MMP_FROZEN while it is frozen, PROTECTION_IN_USE while it has orders. */
export function applyDeleteProtection(
  state: ClearingState,
  input: DeleteProtection,
  nowNs: TimestampNs,
  effects: Effect[],
): Reply {
  const found = findGroup(state, input);
  if (!found.ok) return found;
  const row = { ...found.value, isGone: true };
  if (isFrozen(row, nowNs)) return rejected(frozenRefusal(row));
  // mutant: protection-in-use
  if (state.protectedOrders.has(protectionKey(row))) return rejected(IN_USE);
  state.protections.delete(protectionKey(row));
  state.dirty.protections.set(protectionKey(row), row);
  effects.push({ kind: 'protectionChanged', row });
  return accepted({});
}

/** Ends the freeze of every trip up to the one that the gateway has seen: also of one that is not reported here yet. */
export function applyResetProtection(state: ClearingState, input: ResetProtection, effects: Effect[]): Reply {
  const found = findGroup(state, input);
  if (!found.ok) return found;
  const { trip, endedTrip } = found.value;
  // mutant: protection-reset-overtakes
  const ended = Math.max(trip, endedTrip, input.trip) as Sequence;
  const row = { ...found.value, endedTrip: ended };
  if (ended !== endedTrip) place(state, row);
  effects.push({ kind: 'protectionChanged', row });
  return accepted({});
}

/** A market has taken the orders of the group off the book; their ends follow. */
export function applyProtectionTriggered(
  state: ClearingState,
  { user, marketIndex, slot, sequence, frozenUntilNs }: ProtectionTriggeredInput,
): void {
  const row = state.protections.get(protectionKey({ user, marketIndex, slot }));
  if (row === undefined) return;
  const tripped = { ...row, trip: sequence, frozenUntilNs };
  // mutant: protection-trip-durable
  place(state, tripped);
  state.outcomes?.fact(protectionFact(state, 'tripped', tripped));
}

/** Rollbacks have taken the count of a frozen group below its limits. */
export function applyProtectionEnded(
  state: ClearingState,
  { user, marketIndex, slot, trip }: ProtectionEndedInput,
): void {
  const row = state.protections.get(protectionKey({ user, marketIndex, slot }));
  if (row === undefined || trip <= row.endedTrip) return;
  const ended = { ...row, endedTrip: trip };
  place(state, ended);
  state.outcomes?.fact(protectionFact(state, 'ended', ended));
}

// ---- members

/** A live order is in a group from here on, or no more. @param change 1 or −1. */
export function countMember(state: ClearingState, order: OrderRow, change: 1 | -1): void {
  const { user, marketIndex, protectionGroup: slot } = order;
  if (slot === 0) return;
  const key = protectionKey({ user, marketIndex, slot });
  const count = (state.protectedOrders.get(key) ?? 0) + change;
  assert(count >= 0, 'an order leaves the group that it was in');
  if (count === 0) state.protectedOrders.delete(key);
  else state.protectedOrders.set(key, count);
}

/** At a restart: what was a member at the last trip does not come back, whether its end was reported or not (MMP-03). */
export function endOfMember(state: ClearingState, market: ClearingMarket, order: OrderRow): OrderEnd | null {
  const { user, protectionGroup: slot, orderSequence, quoteSet } = order;
  if (slot === 0) return null;
  const { marketIndex } = market.definition;
  const trip = state.protections.get(protectionKey({ user, marketIndex, slot }))?.trip ?? 0;
  // An entry may have joined with a later revision of its set; one that was a member at a trip is in no later revision.
  const since = quoteSet === 0 ? orderSequence : setOf(market, order).row.sequence;
  // mutant: protection-after-restart
  return since < trip ? ORDER_END.marketMakerProtection : null;
}
