/**
 * The exposure of open orders by their optimistic figures, and the queue in which each counts (AMB-49, AMB-50).
 *
 * Nothing: an order that waits for its trigger (AMB-28), a spot sell. Reduce-only orders count in queues of their own, of
 * which the position covers the first lots (MRG-22, AMB-50); those that are judged on arrival add nothing (AMB-27). While
 * replaces are pending an order counts under the heaviest of its terms (src/risk/exposure-queue.ts).
 *
 * Not here: the rule for one order (src/risk/exposure.ts), netting (src/risk/exposure-queue.ts).
 */
import { SIDE } from '../../core/order-terms.ts';
import { EXPOSURE_BOOK, exposureBook, exposureOf as exposureLeft } from '../../risk/exposure.ts';
import { type Exposure, type ExposureEntry, NO_EXPOSURE } from '../../risk/exposure-queue.ts';
import { filledOf, type LiveOrder, type OrderTerms, type PendingReplace } from './live-order.ts';
import type { OrderQueue, Position } from './margin-account.ts';
import { filledNotionalOf, isOver, lotsWith, type Released } from './spending.ts';

/** Where an order of a margin-type account counts, and what its fills move if it is no spot order. */
export interface OrderExposure {
  readonly position: Position;
  readonly queue: OrderQueue;
  /** Owned by the order, by its index. */
  readonly entry: ExposureEntry<number>;
  /** What a market order is taken to trade at; set when it is released. */
  marketPrice: bigint;
}

/** The queue in which an order counts, of those of its position; null of a spot sell. */
export function queueOf(
  position: Position,
  order: Pick<OrderTerms, 'flags' | 'side' | 'kind' | 'tif'>,
): OrderQueue | null {
  const { side } = order;
  switch (exposureBook(order)) {
    case EXPOSURE_BOOK.none:
      return null;
    case EXPOSURE_BOOK.spotBuys:
      return position.spotBuys;
    case EXPOSURE_BOOK.margin:
      return side === SIDE.buy ? position.buys : position.sells;
    case EXPOSURE_BOOK.reduceOnly:
      return position.account.reduceOnlyOf(position).resting[side];
    case EXPOSURE_BOOK.onArrival:
      return position.account.reduceOnlyOf(position).arriving[side];
  }
}

/**
 * By the terms in force and those of pending replaces.
 *
 * @param as what is released of the order, or would be.
 */
export function exposureOf(
  order: LiveOrder,
  marketPrice: bigint,
  { replaces = order.replaces, as = order }: { replaces?: readonly PendingReplace[]; as?: Released } = {},
): Exposure {
  const inForce = exposureWith(order, order, marketPrice, as);
  if (replaces.length === 0) return inForce;
  const all = [inForce, ...replaces.map((replace) => exposureWith(order, replace, marketPrice, as))];
  const fewestFirst = all.filter(({ lots }) => lots > 0).sort((a, b) => a.lots - b.lots);
  return fewestFirst.reduce((other: Exposure | null, one) => ({ ...one, other }), null) ?? NO_EXPOSURE;
}

/** With the terms of a replace. */
function exposureWith(order: LiveOrder, replace: PendingReplace, marketPrice: bigint, as: Released): Exposure {
  if (isOver(order) || as.isIdle || as.releasedQuantity === 0) return NO_EXPOSURE;
  const { kind, amount } = order;
  const filledNotional = filledNotionalOf(order);
  const figures = { kind, amount, price: replace.price, filledQuantity: filledOf(order), filledNotional };
  return exposureLeft(figures, lotsWith(order, replace, as), marketPrice, order.market.definition);
}
