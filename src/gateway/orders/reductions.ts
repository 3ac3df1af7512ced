/**
 * Orders that the node itself makes smaller or takes off: requests like a user's, whose answer nobody is told. While one
 * is on its way the order is in flight, so nothing else of the node touches it (AR-04).
 */
import { ORDER_END, type OrderEnd } from '../../core/order-terms.ts';
import type { LiveOrder } from './live-order.ts';
import type { OrderSink } from './order-events.ts';
import type { Reduction } from './reduction-plan.ts';
import type { PendingRequests } from './requests.ts';

export class Reductions {
  readonly #pending: PendingRequests;
  readonly #sink: OrderSink;
  #onTheWay = 0;

  constructor(pending: PendingRequests, sink: OrderSink) {
    this.#pending = pending;
    this.#sink = sink;
  }

  /** Sent, and not answered by their market. */
  get onTheWay(): number {
    return this.#onTheWay;
  }

  /** @returns false: there is no room now. */
  reduce({ order, total }: Reduction): boolean {
    return this.#send(order, total, ORDER_END.autoReduced);
  }

  /** @returns false: there is no room now. */
  cancelReduceOnly(order: LiveOrder): boolean {
    return this.#send(order, 0, ORDER_END.reduceOnly);
  }

  /** @returns false: there is no room now. */
  cancelUncovered(order: LiveOrder): boolean {
    return this.#send(order, 0, ORDER_END.marginInsufficient);
  }

  answered(): void {
    this.#onTheWay -= 1;
  }

  #send(order: LiveOrder, total: number, end: OrderEnd): boolean {
    if (!this.#pending.hasRoomFor('reduce')) return false;
    const { user, orderId } = order;
    const { marketIndex, assetId } = order.market.definition;
    const requestId = this.#pending.nextId;
    if (!this.#sink.reduce({ requestId, marketIndex, assetId, user, orderId, total, end })) return false;
    this.#pending.add({ kind: 'reduce', order });
    order.requests += 1;
    this.#onTheWay += 1;
    return true;
  }
}
