/**
 * Protection groups at the gateway (MMP-01 to MMP-04): clearing's rows, with the trips that markets have reported since, for
 * requests that name a group, and for reads. The market judges freezes and limits; here an order is refused that it would refuse.
 *
 * A group that is being removed takes no orders until clearing has answered: so none is on its way to the market when it is
 * gone (`leaving`). How many orders a group has is counted by LiveOrders, those on their way included, and what quote sets on their
 * way may bring into it by LiveQuoteSets.
 */
import { frozenRefusal, isFrozen, protectionKey } from '../../../clearing/protections.ts';
import type { ProtectionRow } from '../../../clearing/rows.ts';
import type { UserId } from '../../../core/ids.ts';
import { PROTECTED_ORDERS_MAX } from '../../../core/limits.ts';
import { accepted, type Outcome, rejected } from '../../../core/outcome.ts';
import { type Reject, reject } from '../../../core/reject.ts';
import type { Sequence, TimestampNs } from '../../../core/units.ts';
import type { LiveQuoteSets } from '../book/quote-sets.ts';

const UNKNOWN: Reject = reject('INVALID_ORDER', 'there is no such protection group in this market', 'protection_group');
const FULL: Reject = reject(
  'TOO_MANY_OPEN_ORDERS',
  `a protection group has at most ${PROTECTED_ORDERS_MAX} live orders`,
  'protection_group',
);

interface Tripped {
  readonly user: UserId;
  readonly marketIndex: number;
  readonly slot: number;
}

export class ProtectionGroups {
  /** By user, then as `protectionKey`. */
  readonly #users = new Map<UserId, Map<string, ProtectionRow>>();
  readonly #leaving = new Set<string>();
  /** Live orders of a group, those on their way included. */
  readonly #liveCount: (key: string) => number;
  readonly #sets: Pick<LiveQuoteSets, 'comingTo' | 'isComingTo'>;

  constructor(liveCount: (key: string) => number, sets: Pick<LiveQuoteSets, 'comingTo' | 'isComingTo'>) {
    this.#liveCount = liveCount;
    this.#sets = sets;
  }

  /** Clearing has flushed the row. What its market has reported since is newer than the row. */
  changed(row: ProtectionRow): void {
    const key = protectionKey(row);
    const groups = this.#users.get(row.user) ?? new Map<string, ProtectionRow>();
    const known = groups.get(key);
    if (row.isGone) groups.delete(key);
    else groups.set(key, known === undefined ? row : { ...row, ...freezeOf(known, row) });
    if (groups.size > 0) this.#users.set(row.user, groups);
    else this.#users.delete(row.user);
  }

  /** A market has taken the orders of a group off the book. @returns the group; undefined: it is gone. */
  triggered(
    event: Tripped & { readonly sequence: Sequence; readonly frozenUntilNs: TimestampNs },
  ): ProtectionRow | undefined {
    return this.#change(event, (row) => ({ ...row, trip: event.sequence, frozenUntilNs: event.frozenUntilNs }));
  }

  /** Rollbacks have ended the freeze of this trip. */
  ended(event: Tripped & { readonly trip: Sequence }): void {
    this.#change(event, (row) => ({ ...row, endedTrip: Math.max(row.endedTrip, event.trip) as Sequence }));
  }

  #change(at: Tripped, change: (row: ProtectionRow) => ProtectionRow): ProtectionRow | undefined {
    const groups = this.#users.get(at.user);
    const row = groups?.get(protectionKey(at));
    if (groups === undefined || row === undefined) return undefined;
    const changed = change(row);
    groups.set(protectionKey(at), changed);
    return changed;
  }

  /** The user's groups in a market, by slot. */
  of(user: UserId, marketIndex: number): readonly ProtectionRow[] {
    const rows = [...(this.#users.get(user)?.values() ?? [])].filter((row) => row.marketIndex === marketIndex);
    return rows.sort((a, b) => a.slot - b.slot);
  }

  find(user: UserId, marketIndex: number, group: string): ProtectionRow | undefined {
    return this.of(user, marketIndex).find((row) => row.group === group);
  }

  /** Live orders of a group and fills of it that are undecided. */
  liveOrders(row: ProtectionRow): number {
    return this.#liveCount(protectionKey(row));
  }

  /** Whether orders of the group live, have undecided fills, or may come to. */
  isUsed(row: ProtectionRow): boolean {
    // mutant: set-on-its-way-uses-its-group
    return this.liveOrders(row) > 0 || this.#sets.isComingTo(row);
  }

  /**
   * The slot for an order of this group. @param more orders that it would have beside those that live. @returns INVALID_ORDER
   * of an unknown group, MMP_FROZEN, TOO_MANY_OPEN_ORDERS.
   */
  slotFor(
    { user, marketIndex, group }: { readonly user: UserId; readonly marketIndex: number; readonly group: string },
    nowNs: TimestampNs,
    more = 1,
  ): Outcome<number> {
    const row = this.find(user, marketIndex, group);
    if (row === undefined || this.#leaving.has(protectionKey(row))) return rejected(UNKNOWN);
    const refusal = this.#refusal(row, nowNs, more);
    return refusal === null ? accepted(row.slot) : rejected(refusal);
  }

  /** The slot of a group, whatever may be added to it; undefined: there is none. */
  slotOf(user: UserId, marketIndex: number, group: string): number | undefined {
    return this.find(user, marketIndex, group)?.slot;
  }

  /** Why so many more orders may not be in the group of this slot, as `slotFor`; null: they may. */
  refusalToAdd(of: Tripped, nowNs: TimestampNs, more: number): Reject | null {
    const key = protectionKey(of);
    const row = this.#users.get(of.user)?.get(key);
    return row === undefined || this.#leaving.has(key) ? UNKNOWN : this.#refusal(row, nowNs, more);
  }

  #refusal(row: ProtectionRow, nowNs: TimestampNs, more: number): Reject | null {
    if (isFrozen(row, nowNs)) return frozenRefusal(row);
    return this.liveOrders(row) + this.#sets.comingTo(row) + more > PROTECTED_ORDERS_MAX ? FULL : null;
  }

  /** Why a market has refused a member, with the time until which it does so. */
  refusalOf({ user, marketIndex, slot }: Tripped): Reject {
    const row = this.#users.get(user)?.get(protectionKey({ user, marketIndex, slot }));
    return row === undefined ? UNKNOWN : frozenRefusal(row);
  }

  /** Until `left` is called the group takes no orders. */
  leaving(row: ProtectionRow): void {
    this.#leaving.add(protectionKey(row));
  }

  left(row: ProtectionRow): void {
    this.#leaving.delete(protectionKey(row));
  }
}

/** The later trip of the two, and the later end: a market reports each before clearing has it in a row. */
function freezeOf(
  known: ProtectionRow,
  row: ProtectionRow,
): Pick<ProtectionRow, 'trip' | 'endedTrip' | 'frozenUntilNs'> {
  const { trip, frozenUntilNs } = known.trip > row.trip ? known : row;
  // mutant: protection-end-of-a-freeze-seen
  return { trip, frozenUntilNs, endedTrip: Math.max(known.endedTrip, row.endedTrip) as Sequence };
}
