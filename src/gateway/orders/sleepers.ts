/**
 * Orders of a restart of users of whom nobody has spoken since: they sleep as bytes, and become orders in memory all at
 * once, the first time that anything asks about their user or says something of one of them. A start on a million orders
 * so makes no object of them.
 *
 *   restored ──▶ asleep ──user or order named──▶ in memory (live-orders.ts)
 *       └──the user is awake, or the order cannot wait──▶ in memory
 *
 * Whoever finds something by its user or by an order's sequence wakes first: LiveOrders, MarketOrders, Holds,
 * MarginAccounts. So nobody can tell an order that slept from one that did not.
 *
 * Invariants
 *   (1) A user sleeps whole: all orders of it are asleep, or none.
 *   (2) Nothing that sleeps has changed: it is what clearing told, and the same under today's fee as a live order.
 *
 * Not here: how they are kept (KeptOrders).
 */
import { must } from '../../core/assert.ts';
import type { UserId } from '../../core/ids.ts';
import { ORDER_KIND, type OrderKind, TRIGGER_STATE, type TriggerState } from '../../core/order-terms.ts';
import type { RestoredOrder } from './words.ts';

/** Orders as bytes. */
export interface KeptOrders {
  /** Orders that are kept. */
  readonly count: number;
  /** Takes out all orders of a user, in the order in which they came; none for a user without. */
  take(user: UserId): readonly RestoredOrder[];
  /** Whose the order is, if it is kept. */
  ownerOf(marketIndex: number, sequence: number): UserId | undefined;
}

export const NONE_KEPT: KeptOrders = { count: 0, take: () => [], ownerOf: () => undefined };

/** Orders that one turn wakes for what the node itself looks for, the last user's beyond it: about a millisecond. */
export const WATCHED_PER_TURN = 256;

/** Brings orders of one user into memory. */
export type Awaken = (rows: readonly RestoredOrder[]) => void;

/**
 * Whether the order changes nothing by being asleep: what has fired is released when its market opens, in its turn, and
 * what was let through without a limit price was priced at the start.
 */
export function maySleep(kind: OrderKind, state: TriggerState): boolean {
  return state === TRIGGER_STATE.dormant || (state === TRIGGER_STATE.live && kind === ORDER_KIND.limit);
}

export class Sleepers {
  readonly #kept: KeptOrders;
  /** Users with orders that the node looks at by itself, in rounds: those of margin-type accounts. */
  readonly #watched = new Set<UserId>();
  #round: Iterator<UserId> = [].values();
  #woken = 0;
  #awaken: Awaken | null = null;

  constructor(kept: KeptOrders = NONE_KEPT) {
    this.#kept = kept;
  }

  /** Comes first: orders need what wakes them, and they are woken into it. */
  onWake(awaken: Awaken): void {
    this.#awaken = awaken;
  }

  /** Orders that sleep. */
  get count(): number {
    return this.#kept.count;
  }

  /** Orders that were woken, ever. */
  get woken(): number {
    return this.#woken;
  }

  /** After this the user has no order asleep. */
  wake(user: UserId): void {
    if (this.#kept.count > 0) this.#wake(user);
  }

  /** After this the order is in memory if there is one. @returns whether it was asleep. */
  wakeOrder(marketIndex: number, sequence: number): boolean {
    if (this.#kept.count === 0) return false;
    const user = this.#kept.ownerOf(marketIndex, sequence);
    if (user === undefined) return false;
    this.#wake(user);
    return true;
  }

  /** The node looks at the user's orders by itself: they are woken in their turn. */
  watch(user: UserId): void {
    this.#watched.add(user);
  }

  /** Every turn of such a look: some of those that are watched. @returns whether others still wait. */
  wakeWatched(): boolean {
    const most = this.#woken + WATCHED_PER_TURN;
    while (this.#watched.size > 0 && this.#woken < most) {
      const user = this.#nextWatched();
      this.#watched.delete(user);
      this.#wake(user);
    }
    return this.#watched.size > 0;
  }

  /** One walk for many turns: a new one would pass everybody who has left. */
  #nextWatched(): UserId {
    const next = this.#round.next();
    if (next.done !== true) return next.value;
    this.#round = this.#watched.values();
    return must(this.#round.next().value, 'somebody is watched');
  }

  #wake(user: UserId): void {
    const rows = this.#kept.take(user);
    if (rows.length === 0) return;
    this.#watched.delete(user);
    this.#woken += rows.length;
    must(this.#awaken, 'somebody hears of those that wake')(rows);
  }
}
