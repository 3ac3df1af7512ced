/**
 * Cancel on disconnect: the orders that are cancelled when a connection ends (docs/safety.md, "When your connection or
 * program may fail").
 *
 *   sent over it ──▶ Membership ──its order is known──▶ member of the group ──┬─ the order has ended ──▶ left
 *                        │                                   ▲                ├─ its replace was refused ──▶ left
 *                        └──── moved to another connection ──┘                └─ connection ended ──▶ GroupCancels
 *
 * A quote set is of the connection whose revision is in force: one that REST or another connection has revised since does not end
 * with it, unless that revision is refused.
 *
 * So the orders of a lost connection are at hand, however many others its user has, and are taken some at a time. No
 * connection outlives a restart, so no membership does.
 *
 * Invariants
 *   (1) A group has the memberships that refer to it and have an order, and no others.
 *   (2) The order of a membership is in memory, and its end has not been published (live-orders.ts).
 *   (3) After the end of its connection a group gets no more memberships.
 */
import { assert, must } from '../../../core/assert.ts';
import type { LiveOrder } from '../book/live-order.ts';
import type { MarketSlot } from '../book/markets.ts';
import type { LiveQuoteSet } from '../book/quote-sets.ts';

export class DisconnectGroup {
  #isEnded = false;
  /** By market, as a full ring must not delay the cancels of another. In the order of their requests. */
  readonly #memberships = new Map<MarketSlot, Set<Membership>>();

  /** Quote sets that were sent over the connection. */
  readonly #sets = new Set<LiveQuoteSet>();

  /** A revision of the set came over this connection. */
  holdSet(set: LiveQuoteSet): void {
    this.#sets.add(set);
  }

  /** The sets that may end with the connection: a revision that came over it is in force, or on its way. */
  takeSets(): readonly LiveQuoteSet[] {
    const sets = [...this.#sets].filter((set) => set.mayBeHeldBy(this));
    this.#sets.clear();
    return sets;
  }

  /** The connection has ended: a request that is not sent to its market is refused. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Memberships with an order. */
  get size(): number {
    let size = 0;
    for (const memberships of this.#memberships.values()) size += memberships.size;
    return size;
  }

  /** The connection has ended. @returns the orders to cancel, by market. */
  end(): readonly GroupCancels[] {
    this.#isEnded = true;
    const parts = Array.from(this.#memberships, ([market, memberships]) => new GroupCancels(this, market, memberships));
    return parts.filter(({ size }) => size > 0);
  }

  /** Called by Membership only. */
  add(membership: Membership, market: MarketSlot): void {
    assert(!this.#isEnded, 'an order joins the group of an open connection');
    const memberships = this.#memberships.get(market);
    if (memberships === undefined) this.#memberships.set(market, new Set([membership]));
    else memberships.add(membership);
  }

  /** Called by Membership only. */
  delete(membership: Membership, market: MarketSlot): void {
    this.#memberships.get(market)?.delete(membership);
  }
}

/** The order of one request in the group of its connection. */
export class Membership {
  #group: DisconnectGroup | null;
  #order: LiveOrder | null = null;

  /** @param group null: in none, until it moves to another connection. */
  constructor(group: DisconnectGroup | null) {
    this.#group = group;
  }

  get group(): DisconnectGroup | null {
    return this.#group;
  }

  get order(): LiveOrder | null {
    return this.#order;
  }

  /** To the group of another open connection. Has no effect once the first has ended: the order is cancelled. */
  moveTo(group: DisconnectGroup): void {
    const order = this.#order;
    if (order !== null && this.#group?.isEnded === true) return;
    if (order !== null) this.#group?.delete(this, order.market);
    this.#group = group;
    if (order !== null) group.add(this, order.market);
  }

  /** The request has its order. */
  bind(order: LiveOrder): void {
    assert(this.#order === null, 'a membership has one order');
    this.#order = order;
    this.#group?.add(this, order.market);
  }

  /** The order has ended, or is no longer a member. Idempotent. */
  leave(): void {
    const order = this.#order;
    if (order === null) return;
    this.#order = null;
    this.#group?.delete(this, order.market);
  }
}

/** Orders of an ended connection in one market, oldest first. An order that ends meanwhile leaves the set. */
export class GroupCancels {
  readonly market: MarketSlot;
  readonly #group: DisconnectGroup;
  readonly #memberships: ReadonlySet<Membership>;
  /** Goes on where it stopped, whatever leaves the set before or after it. */
  readonly #next: Iterator<Membership>;

  constructor(group: DisconnectGroup, market: MarketSlot, memberships: ReadonlySet<Membership>) {
    this.#group = group;
    this.market = market;
    this.#memberships = memberships;
    this.#next = memberships.values();
  }

  /** 0 when every order was taken, or has ended. */
  get size(): number {
    return this.#memberships.size;
  }

  /** The next order, each once; to be called while there are any. */
  take(): LiveOrder {
    const { value: membership } = this.#next.next();
    const order = must(membership?.order ?? undefined, 'a member is an order');
    // It may have been created and replaced over that connection.
    for (const other of order.memberships) if (other.group === this.#group) other.leave();
    return order;
  }
}
