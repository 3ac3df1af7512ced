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
import { must } from '../core/assert.ts';
import type { UserId } from '../core/ids.ts';
import { ORDER_KIND, type OrderKind, TRIGGER_STATE, type TriggerState } from '../core/order-terms.ts';
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

/** Users that one turn wakes for what the node itself looks for. */
const WOKEN_PER_TURN = 4;

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

  /** Every turn of such a look: a few of those that are watched. */
  wakeWatched(): void {
    if (this.#watched.size === 0) return;
    let woken = 0;
    for (const user of this.#watched) {
      this.#watched.delete(user);
      this.wake(user);
      woken += 1;
      if (woken === WOKEN_PER_TURN) return;
    }
  }

  #wake(user: UserId): void {
    const rows = this.#kept.take(user);
    if (rows.length === 0) return;
    this.#watched.delete(user);
    must(this.#awaken, 'somebody hears of those that wake')(rows);
  }
}
