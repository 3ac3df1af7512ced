/** How the reference book is uncrossed after orders came back to it (AMB-32, AMB-110). */
import { ORDER_END, SIDE, type Side } from '../../src/core/order-terms.ts';
import { isPostOnly, isSameOwner, least, left, type ReferenceOrder } from './reference-order.ts';
import { ReferenceState } from './reference-state.ts';

export class ReferenceUncrossing extends ReferenceState {
  /** Orders may have come back, and cross. */
  beginUncrossing(): void {
    this.leaving = null;
    if (this.#crossing().length > 0) this.isUncrossing = true;
  }

  /** @returns whether more is left after so many steps. */
  uncross(budget: number = Number.POSITIVE_INFINITY): boolean {
    if (this.isUncrossing) {
      this.leaving ??= this.#crossing().filter(({ user }) => this.faults.has(user));
      for (let left = budget; ; left--) {
        if (left === 0) return true;
        if (!this.#step()) break;
      }
    }
    this.isUncrossing = false;
    this.leaving = null;
    this.faults.clear();
    this.tellLevels();
    return false;
  }

  /** Resting orders of a side, best first. */
  #queue(side: Side): ReferenceOrder[] {
    const sign = side === SIDE.buy ? -1 : 1;
    return this.orders
      .filter((order) => order.state === 'resting' && order.side === side)
      .sort((a, b) => sign * (a.price - b.price) || a.priority - b.priority);
  }

  /** All that cross something, bids first. */
  #crossing(): ReferenceOrder[] {
    const [bids, asks] = [this.#queue(SIDE.buy), this.#queue(SIDE.sell)];
    return [
      ...bids.filter((bid) => asks.some((ask) => ask.price <= bid.price)),
      ...asks.filter((ask) => bids.some((bid) => ask.price <= bid.price)),
    ];
  }

  #step(): boolean {
    for (;;) {
      const order = this.leaving?.shift();
      if (order === undefined) break;
      if (order.state !== 'resting' || !this.orders.includes(order)) continue;
      if (!this.meet(order)) {
        const faultReason = this.faults.get(order.user);
        this.end(order, ORDER_END.atFault, faultReason === undefined ? {} : { faultReason });
      }
      return true;
    }
    const [bid] = this.#queue(SIDE.buy);
    const [ask] = this.#queue(SIDE.sell);
    if (bid === undefined || ask === undefined || bid.price < ask.price) return false;
    if (!this.meet(bid) && !this.meet(ask)) {
      if (bid.priority < ask.priority) this.#meetOlder(ask, bid);
      else this.#meetOlder(bid, ask);
    }
    return true;
  }

  /** The younger one comes upon the older one as if it came now. */
  #meetOlder(younger: ReferenceOrder, older: ReferenceOrder): void {
    const [lowest, highest] = this.collar;
    const isOwn = this.isOwn(younger, older);
    if (isPostOnly(younger) && (!isOwn || this.#crossesOlderForeign(younger)))
      this.end(younger, ORDER_END.postOnlyWouldCross);
    else if (isOwn) this.end(older, ORDER_END.selfTradePrevented);
    else if (younger.side === SIDE.buy ? older.price > highest : older.price < lowest)
      this.end(younger, ORDER_END.immediateOrCancel);
    else {
      this.trade(older, younger, least([left(older), left(younger)]), 0);
      for (const order of [older, younger]) this.exhaust(order);
    }
  }

  #crossesOlderForeign(order: ReferenceOrder): boolean {
    return this.crossedBy(order).some((other) => other.priority < order.priority && !isSameOwner(other, order));
  }
}
