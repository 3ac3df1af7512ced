/**
 * Protection of market makers in one market (MMP-01 to MMP-04): groups of orders of one user that rest no longer once they
 * have traded too much as makers within a sliding window.
 *
 *   open ──a limit is reached by a fill─▶ frozen ──its time is over, or a reset─▶ open, with an empty window
 *                                           └──a rollback takes the count below the limits─▶ open, with the same window
 *
 * What counts: fills of a member as maker, both sides together, undecided ones too; not those against the same user. A fill
 * below `minFillNotional` counts as no fill, but its quantity and its notional count. While a group is frozen its window
 * stands still, so that a rollback decides whether the limit would have been reached without that fill.
 *
 * What was a member at a trip is over: nothing of it returns to the book, not after the freeze either.
 *
 * Orders without a group cost one test of a bit: `MARK.isMember` of their record. Not here: what is taken off the book
 * (book.ts), and when it is published.
 */
import { assert, must } from '../core/assert.ts';
import { PROTECTION_LIMIT, type ProtectionLimit } from '../core/order-terms.ts';
import { fromWords } from '../core/time-words.ts';
import { type Count, FillWindow, WINDOW_ENTRIES_MAX } from './fill-window.ts';
import type { OrderPool } from './order-pool.ts';
import { MARK } from './order-records.ts';

/** Limits of a group in the units of its market. */
export interface ProtectionTerms {
  readonly windowNs: bigint;
  /** How long a trip freezes; 0n: until it is reset. */
  readonly frozenNs: bigint;
  /** Counted fills; null for no limit. */
  readonly maxFills: number | null;
  /** Lots; null for no limit. */
  readonly maxLots: bigint | null;
  /** Price × lots; null for no limit. */
  readonly maxMoney: bigint | null;
  /** Price × lots from which a fill counts as one. */
  readonly minMoney: bigint;
}

/** A freeze in force: when it ends by itself, 0n for never, and the sequence of the trip. */
export interface Freeze {
  readonly untilNs: bigint;
  readonly trip: number;
}

const UNLIMITED: ProtectionTerms = {
  windowNs: 0n,
  frozenNs: 0n,
  maxFills: null,
  maxLots: null,
  maxMoney: null,
  minMoney: 0n,
};

/** What names a group in its market. */
interface GroupName {
  /** The user's number in the user table of the market, and its key. */
  readonly user: number;
  readonly key: Int32Array;
  /** 1 to 8. */
  readonly slot: number;
}

/** One group of one user. */
export class ProtectionGroup implements GroupName {
  readonly user: number;
  readonly key: Int32Array;
  readonly slot: number;
  terms: ProtectionTerms = UNLIMITED;
  /** Indexes of its orders that live or have undecided fills. */
  readonly members: Set<number> = new Set();
  readonly window: FillWindow = new FillWindow();
  freeze: Freeze | null = null;
  /** Sequence of the last trip; 0 before the first since the start. */
  trip = 0;
  /** What the scan with this number would add, and whether the group would trip in it. */
  scan = 0;
  scanned: Count = { fills: 0, lots: 0n, money: 0n };
  isGone = false;

  constructor({ user, key, slot }: GroupName) {
    this.user = user;
    this.key = key;
    this.slot = slot;
  }

  /** The limit that the sums reach, or null. */
  reached(fills: number, lots: bigint, money: bigint): ProtectionLimit | null {
    const { maxFills, maxLots, maxMoney } = this.terms;
    if (maxFills !== null && fills >= maxFills) return PROTECTION_LIMIT.fills;
    if (maxLots !== null && lots >= maxLots) return PROTECTION_LIMIT.quantity;
    if (maxMoney !== null && money >= maxMoney) return PROTECTION_LIMIT.notional;
    return null;
  }

  countsAsFill(money: bigint): number {
    return money >= this.terms.minMoney ? 1 : 0;
  }
}

/** Slots 1 to 8 in one number with the user's. */
const SLOTS = 16;

export class Protection {
  /** The engine's time: that of the command in hand. Written with every command. */
  nowHigh: number = 0;
  nowLow: number = 0;
  readonly #orders: OrderPool;
  /** By user × 16 + slot. */
  readonly #groups = new Map<number, ProtectionGroup>();
  /** By the index of a member: its group, and the last trip of that when it joined. */
  readonly #memberships = new Map<number, { readonly group: ProtectionGroup; readonly trip: number }>();
  /** Never goes back, as times of commands can. */
  #nowNs = 0n;
  #scan = 0;

  constructor(orders: OrderPool) {
    this.#orders = orders;
  }

  /** Whether any order of the market is in a group: without one, sizes of levels are what can be taken. */
  get hasMembers(): boolean {
    return this.#memberships.size > 0;
  }

  get nowNs(): bigint {
    const ns = fromWords(this.nowHigh, this.nowLow);
    if (ns > this.#nowNs) this.#nowNs = ns;
    return this.#nowNs;
  }

  /** Defines a group, or gives it other limits: its freeze and its window stay (MMP-02). */
  define(name: GroupName, terms: ProtectionTerms): ProtectionGroup {
    const { user, slot } = name;
    const group = this.find(user, slot) ?? new ProtectionGroup(name);
    this.#groups.set(user * SLOTS + slot, group);
    group.terms = terms;
    return group;
  }

  /** The group is no more; orders that are still in it leave it: another group may get its slot. */
  remove(user: number, slot: number): void {
    const group = this.find(user, slot);
    if (group === undefined) return;
    for (const index of [...group.members]) this.leave(index);
    this.#groups.delete(user * SLOTS + slot);
  }

  find(user: number, slot: number): ProtectionGroup | undefined {
    return this.#groups.get(user * SLOTS + slot);
  }

  /** At a start: a group that was frozen is frozen, and its window is empty (MMP-04). */
  restoreFreeze(group: ProtectionGroup, freeze: Freeze | null): void {
    group.freeze = freeze;
    group.trip = freeze?.trip ?? 0;
  }

  /** Ends the freeze of a trip up to this one, with an empty window. */
  reset(group: ProtectionGroup, trip: number): void {
    if (group.freeze === null || group.freeze.trip > trip) return;
    group.freeze = null;
    group.window.clear();
  }

  /** Whether the group takes no new members now. */
  isFrozen(group: ProtectionGroup): boolean {
    this.#refresh(group);
    return group.freeze !== null;
  }

  // ---- members

  /** Puts an order into a group that exists; it is in none. */
  join(index: number, group: ProtectionGroup): void {
    group.members.add(index);
    this.#memberships.set(index, { group, trip: group.trip });
    this.#orders.mark(index, MARK.isMember);
  }

  /** A member leaves the pool, or its group. */
  leave(index: number): void {
    this.groupOf(index).members.delete(index);
    this.#orders.unmark(index, MARK.isMember);
    this.#memberships.delete(index);
  }

  /** The group of an order with `MARK.isMember`. */
  groupOf(index: number): ProtectionGroup {
    return must(this.#memberships.get(index), 'a member has its group').group;
  }

  /** Whether a member was one at the last trip of its group. */
  isOver(index: number): boolean {
    const { group, trip } = must(this.#memberships.get(index), 'a member has its group');
    return trip < group.trip;
  }

  // ---- fills

  /**
   * Counts a fill of a member as maker. @returns the limit that it reaches, or null. The caller publishes the trip and calls
   * `tripped`.
   */
  filled(maker: number, taker: number, tradeId: number, lots: number, price: number): ProtectionLimit | null {
    const group = this.groupOf(maker);
    // mutant: protection-own-fills
    if (group.user === this.#orders.userOf(taker)) return null;
    this.#refresh(group);
    const { window } = group;
    const money = BigInt(price) * BigInt(lots);
    window.add(tradeId, this.nowNs, group.countsAsFill(money), BigInt(lots), money);
    // mutant: protection-limit
    return group.freeze === null ? group.reached(window.fills, window.lots, window.money) : null;
  }

  /** The group is frozen by the trip with this sequence. @returns when that ends by itself; 0n: never. */
  freeze(group: ProtectionGroup, trip: number): bigint {
    const { frozenNs } = group.terms;
    const untilNs = frozenNs === 0n ? 0n : this.nowNs + frozenNs;
    group.freeze = { untilNs, trip };
    group.trip = trip;
    return untilNs;
  }

  /**
   * A fill of a member as maker was rolled back, and not by its fault: it no longer counts (MMP-03).
   *
   * @returns whether that ends the freeze of its group.
   */
  rolledBack(group: ProtectionGroup, tradeId: number): boolean {
    this.#refresh(group);
    const { window } = group;
    // mutant: protection-rollback
    if (!window.remove(tradeId) || group.freeze === null) return false;
    if (group.reached(window.fills, window.lots, window.money) !== null) return false;
    group.freeze = null;
    return true;
  }

  // ---- scans: what a match would take, without matching

  /** Begins to visit makers in the order in which a match would meet them. */
  beginScan(): void {
    this.#scan += 1;
  }

  /**
   * Whether the match would still meet this member; then all of it is counted as taken.
   *
   * @param user the taker's.
   */
  meets(maker: number, user: number, lots: number, price: number): boolean {
    const group = this.groupOf(maker);
    if (group.user === user) return true;
    const { scanned } = group;
    if (group.scan !== this.#scan) {
      this.#refresh(group);
      group.scan = this.#scan;
      group.isGone = false;
      const { fills, lots: counted, money } = group.window;
      Object.assign(scanned, { fills, lots: counted, money });
    }
    if (group.isGone) return false;
    const money = BigInt(price) * BigInt(lots);
    scanned.fills += group.countsAsFill(money);
    scanned.lots += BigInt(lots);
    scanned.money += money;
    // mutant: protection-scan
    group.isGone = group.reached(scanned.fills, scanned.lots, scanned.money) !== null;
    return true;
  }

  // ---- checks

  /** @throws InvariantError */
  check(): void {
    let members = 0;
    for (const [index, { group }] of this.#memberships) {
      assert(this.#orders.hasMark(index, MARK.isMember), 'protection: a member is marked');
      assert(group.members.has(index), 'protection: a member is in its group');
      assert(this.#orders.userOf(index) === group.user, 'protection: a group has orders of its user');
      members += 1;
    }
    this.#orders.forEach((index) => {
      if (this.#orders.hasMark(index, MARK.isMember)) members -= 1;
    });
    assert(members === 0, 'protection: every marked order is a member');
    for (const { window } of this.#groups.values())
      assert(window.size <= WINDOW_ENTRIES_MAX, 'protection: a window is bounded');
  }

  /** What time alone has changed: a freeze is over, or fills have left the window. */
  #refresh(group: ProtectionGroup): void {
    const { nowNs } = this;
    const { freeze, window } = group;
    if (freeze === null) window.slideTo(nowNs - group.terms.windowNs);
    else if (freeze.untilNs !== 0n && nowNs >= freeze.untilNs) {
      group.freeze = null;
      window.clear();
    }
  }
}
