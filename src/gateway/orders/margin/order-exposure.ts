/**
 * The exposure of open orders by their optimistic figures, and the queue in which each counts (AMB-49, AMB-50); and what
 * each may still match at which worst price (MON-07).
 *
 * No exposure: an order that waits for its trigger (AMB-28), a spot sell. Reduce-only orders count in queues of their
 * own, of which the position covers the first lots (MRG-22, AMB-50); those that are judged on arrival add nothing
 * (AMB-27). While replaces are pending an order counts under the heaviest of its terms (src/risk/exposure-queue.ts).
 *
 * Not here: the rule for one order (src/risk/exposure.ts), netting (src/risk/exposure-queue.ts), what fills may cost
 * (src/risk/worst-loss.ts).
 */
import { mulDivCeil, powerOfTen } from '../../../core/arithmetic.ts';
import { ORDER_KIND, SIDE } from '../../../core/order-terms.ts';
import { EXPOSURE_BOOK, exposureBook, exposureOf as exposureLeft } from '../../../risk/exposure.ts';
import { type Exposure, NO_EXPOSURE } from '../../../risk/exposure-queue.ts';
import { quote18 } from '../../../risk/reservation.ts';
import type { LossSide, LossTerms, MarketLosses } from '../../../risk/worst-loss.ts';
import { filledNotionalOf, isOver, lotsWith, type Released } from '../balances/spending.ts';
import {
  filledOf,
  isReduceOnly,
  isSpot,
  type LiveOrder,
  type OrderTerms,
  type PendingReplace,
} from '../book/live-order.ts';
import type { AccountPosition, OrderExposure, OrderQueue } from './margin-account.ts';

/** The queue in which an order counts, of those of its position; null of a spot sell. */
export function exposureQueueOf(
  position: AccountPosition,
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

/** Where what the fills of an order may cost is summed. */
export function lossesOf(losses: MarketLosses, order: Pick<OrderTerms, 'flags' | 'side'>): LossSide {
  const isBuy = order.side === SIDE.buy;
  if (isSpot(order)) return isBuy ? losses.spotBuys : losses.spotSells;
  if (isReduceOnly(order)) return isBuy ? losses.reducingBuys : losses.reducingSells;
  return isBuy ? losses.buys : losses.sells;
}

const NO_TERMS: readonly LossTerms[] = [];

/** Sets what the order may still match by its terms in force and those of pending replaces. */
export function setLoss(
  order: LiveOrder,
  { losses, loss, bound }: Pick<OrderExposure, 'losses' | 'loss' | 'bound'>,
  { replaces = order.replaces, as = order }: { replaces?: readonly PendingReplace[]; as?: Released } = {},
): void {
  const isLimit = order.kind === ORDER_KIND.limit;
  const lots = lossLots(order, order, bound, as);
  if (replaces.length === 0 && loss.others.length === 0) {
    if (lots === 0 && loss.at < 0) return;
    losses.set(loss, lots, isLimit ? order.price : bound, NO_TERMS, lots === 0 ? 0 : reachOf(order));
    return;
  }
  const others =
    replaces.length === 0
      ? NO_TERMS
      : replaces.map((replace) => ({
          lots: lossLots(order, replace, bound, as),
          price: isLimit ? replace.price : bound,
        }));
  losses.set(loss, lots, isLimit ? order.price : bound, others);
}

/** An order that is sized in money alone may get any number of lots: the better its price, the more. */
function reachOf({ kind, quantity }: LiveOrder): number {
  return kind === ORDER_KIND.marketQuote && quantity === 0 ? Number.MAX_SAFE_INTEGER : 0;
}

/** Lots that it may still match at its worst price; where that is not known they are not weighed. */
function lossLots(order: LiveOrder, replace: PendingReplace, bound: number, as: Released): number {
  if (isOver(order) || as.isIdle || as.releasedQuantity === 0) return 0;
  const left = Math.max(lotsWith(order, replace, as) - filledOf(order), 0);
  const { kind, amount, market } = order;
  if (kind === ORDER_KIND.limit) return left;
  if (bound === 0 || (kind === ORDER_KIND.marketBase && left === 0)) return 0;
  if (amount === 0) return left;
  const money = quote18(amount, market.definition) - filledNotionalOf(order);
  if (money <= 0n) return 0;
  // At a better price it gets more lots for the same money, and loses no more.
  const { priceDecimals, quantityDecimals } = market.definition;
  const most = mulDivCeil(money, 1n, BigInt(bound) * powerOfTen(18 - priceDecimals - quantityDecimals));
  if (left > 0 && most >= BigInt(left)) return left;
  return most > LOTS_MAX ? Number.MAX_SAFE_INTEGER : Number(most);
}

const LOTS_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * By the terms in force and those of pending replaces.
 *
 * @param as what is released of the order, or would be.
 */
export function orderExposureOf(
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

/** The exposure with the terms of a replace. */
function exposureWith(order: LiveOrder, replace: PendingReplace, marketPrice: bigint, as: Released): Exposure {
  if (isOver(order) || as.isIdle || as.releasedQuantity === 0) return NO_EXPOSURE;
  const { kind, amount } = order;
  const filledNotional = filledNotionalOf(order);
  const figures = { kind, amount, price: replace.price, filledQuantity: filledOf(order), filledNotional };
  return exposureLeft(figures, lotsWith(order, replace, as), marketPrice, order.market.definition);
}
