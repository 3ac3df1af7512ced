/**
 * Counts what a user's own faults cost others in a sliding window per user (AMB-124, MON-08): orders at fault, and fills of
 * other users that were undone for them. Above a budget of either the user's new orders are rejected for a cool-down: fills
 * that clearing rejects cost the counterparties and the node, but not the user at fault.
 *
 *   undone fill ─▶ does its reason count? ─▶ one more fill, and the order once ─▶ more than a budget in the window?
 *                                                             cool-down, with new counts afterwards ◀─────┘
 *
 * Faults that a user cannot avoid do not count (`FAULT_RULE`). Faults during a cool-down result from orders accepted
 * before it: they begin no other, but all undone fills of others together make it longer, by as often as they are the
 * budget of fills.
 *
 * Bounded: only users with a fault in the last window or cool-down have an entry, with at most 65 counts of each kind; at
 * most `usersMax` entries; the one with the oldest last fault is evicted. In memory only: a restart begins empty, like
 * the budgets of requests (LIM-18).
 *
 * The effect of a cool-down on orders is in gateway/actions/fault-cooldowns.ts.
 */
import { smaller } from '../../core/arithmetic.ts';
import type { UserId } from '../../core/ids.ts';
import { LinkedList, ListEntry } from '../../core/linked-list.ts';
import { ROLLBACK_REASON, type RollbackReason } from '../../core/order-terms.ts';
import { SECOND_NS, type TimestampNs } from '../../core/units.ts';

/**
 * Whether a rollback counts for the user at fault, by its reason: always; never; unless an oracle or mark price of its
 * asset, or of another asset in the account, moved against the account between match and decision, or a fill of the
 * account was undone for another user since its admission; or unless it would have fitted with what others had in the
 * asset, and the prices, at its admission. Every reason is listed.
 */
const RULES = {
  /** Not at fault. */
  [ROLLBACK_REASON.none]: 'never',
  /** The order had margin when it was accepted; prices and undone fills can remove it without the user's action (MON-07). */
  [ROLLBACK_REASON.insufficientMargin]: 'unlessPriceMoved',
  /** The balance to be spent is reserved before. */
  [ROLLBACK_REASON.insufficientInventory]: 'always',
  /** A stale oracle or an open breaker. */
  [ROLLBACK_REASON.pricingFailure]: 'never',
  /** Caps are checked before an order is accepted; what others trade meanwhile uses them up (MON-08). */
  [ROLLBACK_REASON.protocolCapBreach]: 'unlessForOthers',
  [ROLLBACK_REASON.invalidSignature]: 'always',
  [ROLLBACK_REASON.invalidOrder]: 'always',
  [ROLLBACK_REASON.overfill]: 'always',
  /** No user's fault (AMB-33). */
  [ROLLBACK_REASON.staleMatch]: 'never',
  [ROLLBACK_REASON.reduceOnlyViolation]: 'always',
  /** The fault of the other user. */
  [ROLLBACK_REASON.counterpartyAtFault]: 'never',
} as const;
type FaultRule = 'always' | 'never' | 'unlessPriceMoved' | 'unlessForOthers';
export const FAULT_RULE: Readonly<Record<RollbackReason, FaultRule>> = RULES;

export interface FaultSettings {
  /** Orders at fault permitted in a window. */
  readonly orders: number;
  readonly ordersMarketMaker: number;
  /** Undone fills of other users permitted in a window. */
  readonly fills: number;
  readonly fillsMarketMaker: number;
  readonly windowNs: bigint;
  readonly cooldownNs: bigint;
}

/** MON-08. */
const DEFAULT_FAULTS: FaultSettings = {
  orders: 20,
  ordersMarketMaker: 200,
  fills: 200,
  fillsMarketMaker: 2_000,
  windowNs: 60n * SECOND_NS,
  cooldownNs: 60n * SECOND_NS,
};

/** Times that lie closer together than this part of a window are counted as one; they leave it with the last of them. */
const PARTS = 64n;

/** No cool-down is longer, unless the setting is. */
const COOLDOWN_MAX_NS = 3_600n * SECOND_NS;

const USERS_MAX = 65_536;

/** How often something happened in a window, with at most 65 numbers. */
class SlidingCount {
  /** Ascending: from when each part counts, and its last time. */
  readonly #parts: { readonly fromNs: bigint; lastNs: bigint; count: number }[] = [];
  #count = 0;

  add(now: bigint, windowNs: bigint): void {
    const last = this.#parts.at(-1);
    if (last !== undefined && (now - last.fromNs) * PARTS < windowNs) {
      last.lastNs = now;
      last.count += 1;
    } else this.#parts.push({ fromNs: now, lastNs: now, count: 1 });
    this.#count += 1;
  }

  /** The faults in the window that ends now. */
  count(now: bigint, windowNs: bigint): number {
    let over = 0;
    for (const part of this.#parts) {
      if (part.lastNs > now - windowNs) break;
      this.#count -= part.count;
      over += 1;
    }
    if (over > 0) this.#parts.splice(0, over);
    return this.#count;
  }

  clear(): void {
    this.#parts.length = 0;
    this.#count = 0;
  }
}

interface Entry {
  readonly user: UserId;
  readonly orders: SlidingCount;
  readonly fills: SlidingCount;
  lastNs: bigint;
  /** 0n: no cool-down. */
  coolsUntilNs: bigint;
  /** The begin of the cool-down, and the undone fills that it is for. */
  coolsFromNs: bigint;
  undone: number;
}

export class FaultBudget {
  settings: FaultSettings = DEFAULT_FAULTS;
  readonly #usersMax: number;
  readonly #entries = new Map<UserId, ListEntry<Entry>>();
  /** By last fault, oldest first. */
  readonly #byLast = new LinkedList<Entry>();

  constructor(usersMax: number = USERS_MAX) {
    this.#usersMax = usersMax;
  }

  /** Number of users with a recent fault. */
  get userCount(): number {
    return this.#entries.size;
  }

  /**
   * Adds one undone fill of another user that counts. @param isNewOrder the first one of the order.
   *
   * @returns whether the user's cool-down begins with it.
   */
  fault(user: UserId, isMarketMaker: boolean, now: TimestampNs, isNewOrder: boolean): boolean {
    const { orders, ordersMarketMaker, fills, fillsMarketMaker, windowNs, cooldownNs } = this.settings;
    const entry = this.#entryOf(user);
    const own = entry.value;
    const fillsMost = isMarketMaker ? fillsMarketMaker : fills;
    if (own.coolsUntilNs > now) {
      own.undone += 1;
      own.coolsUntilNs = own.coolsFromNs + cooldownOf(own.undone, fillsMost, cooldownNs);
      return false;
    }
    if (own.coolsUntilNs !== 0n) {
      own.coolsUntilNs = 0n;
      forget(own);
    }
    if (isNewOrder) own.orders.add(now, windowNs);
    own.fills.add(now, windowNs);
    own.lastNs = now;
    this.#byLast.append(entry);
    // mutant: undone-fills-count
    const isOver =
      own.orders.count(now, windowNs) > (isMarketMaker ? ordersMarketMaker : orders) ||
      own.fills.count(now, windowNs) > fillsMost;
    if (isOver) {
      own.undone = own.fills.count(now, windowNs);
      own.coolsFromNs = now;
      own.coolsUntilNs = now + cooldownOf(own.undone, fillsMost, cooldownNs);
      forget(own);
    }
    this.#forget(now);
    return isOver;
  }

  /** No user has a fault. */
  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Remaining time for which the user's new orders are rejected, in nanoseconds; 0n: not rejected. */
  coolsForNs(user: UserId, now: TimestampNs): bigint {
    const until = this.#entries.get(user)?.value.coolsUntilNs ?? 0n;
    // mutant: fault-cool-down
    return until > now ? until - now : 0n;
  }

  #entryOf(user: UserId): ListEntry<Entry> {
    const known = this.#entries.get(user);
    if (known !== undefined) return known;
    const entry = new ListEntry<Entry>({
      ...{ user, orders: new SlidingCount(), fills: new SlidingCount() },
      ...{ lastNs: 0n, coolsUntilNs: 0n, coolsFromNs: 0n, undone: 0 },
    });
    this.#entries.set(user, entry);
    return entry;
  }

  /** Removes entries without a recent fault, at most two per added fault; or the oldest if there are too many. */
  #forget(now: TimestampNs): void {
    for (let looked = 0; looked < 2; looked += 1) {
      const oldest = this.#byLast.first;
      if (oldest === null) return;
      const isOver = oldest.lastNs + this.settings.windowNs <= now && oldest.coolsUntilNs <= now;
      if (!isOver && this.#entries.size <= this.#usersMax) return;
      const entry = this.#entries.get(oldest.user);
      if (entry !== undefined) this.#byLast.remove(entry);
      this.#entries.delete(oldest.user);
    }
  }
}

/** The cool-down for `undone` fills of others, when `most` were permitted. */
function cooldownOf(undone: number, most: number, cooldownNs: bigint): bigint {
  // mutant: long-cool-down
  const times = BigInt(Math.max(1, Math.floor(undone / Math.max(1, most))));
  return cooldownNs < COOLDOWN_MAX_NS ? smaller(cooldownNs * times, COOLDOWN_MAX_NS) : cooldownNs;
}

function forget({ orders, fills }: Entry): void {
  orders.clear();
  fills.clear();
}
