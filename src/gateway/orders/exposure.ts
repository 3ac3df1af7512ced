/**
 * What an order may still add to its account's risk (AMB-49): lots and notional that the lanes weigh.
 *
 *   limit             lots left, each at its limit price
 *   market, base      lots left, at the higher of oracle and mark when it was let through, or what is left of its cap
 *   market, quote     what is left of its target, for the lots that it buys at that price, or its base cap
 *
 * Nothing: an order that waits for its trigger (AMB-28), a spot sell. Reduce-only orders are weighed in lanes of their own,
 * of which the position covers the first lots (MRG-22, AMB-50); those that are judged on arrival press nothing (AMB-27).
 * While replaces are on their way an order weighs what the heaviest of its terms does (pressure-lane.ts).
 *
 * Not here: netting (pressure-lane.ts).
 */
import { mulDivCeil, notional18, quantity18 } from '../../core/arithmetic.ts';
import { ORDER_KIND, SIDE } from '../../core/order-terms.ts';
import { ONE_18, type RawQuantity } from '../../core/units.ts';
import { isJudgedOnArrival } from '../../risk/pressure.ts';
import {
  filledOf,
  isReduceOnly,
  isSpot,
  isWhole,
  type LiveOrder,
  type OrderTerms,
  type ReplaceOnItsWay,
} from './live-order.ts';
import type { OrderLane, Position } from './margin-account.ts';
import { isOver, quote18 } from './needs.ts';
import { type Exposure, type LaneEntry, NO_EXPOSURE } from './pressure-lane.ts';

const ONE_LOT = 1 as RawQuantity;
const LOTS_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** Where an order of a margin-type account is weighed, and what its fills move if it is no spot order. */
export interface Seat {
  readonly position: Position;
  readonly lane: OrderLane;
  readonly entry: LaneEntry<LiveOrder>;
  /** What a market order is taken to trade at; set when it is let through. */
  marketPrice: bigint;
}

/** The lane of an order that is no spot sell, in a position that knows its market. */
export function laneOf(position: Position, terms: Pick<OrderTerms, 'flags' | 'side' | 'kind' | 'tif'>): OrderLane {
  if (isReduceOnly(terms)) {
    const { pressing, arriving } = position.account.reduceOnlyOf(position);
    // mutant: reduce-only-excess
    return (isJudgedOnArrival(terms) ? arriving : pressing)[terms.side];
  }
  if (isSpot(terms)) return position.spotBuys;
  return terms.side === SIDE.buy ? position.buys : position.sells;
}

/** By the terms in force and those on their way. */
export function exposureOf(order: LiveOrder, marketPrice: bigint): Exposure {
  const inForce = exposureWith(order, order, marketPrice);
  if (order.replaces.length === 0) return inForce;
  const all = [inForce, ...order.replaces.map((replace) => exposureWith(order, replace, marketPrice))];
  const fewestFirst = all.filter(({ lots }) => lots > 0).sort((a, b) => a.lots - b.lots);
  return fewestFirst.reduce((other: Exposure | null, one) => ({ ...one, other }), null) ?? NO_EXPOSURE;
}

/** With the terms of a replace. */
function exposureWith(order: LiveOrder, replace: ReplaceOnItsWay, marketPrice: bigint): Exposure {
  if (isOver(order) || order.isIdle || order.letThrough === 0) return NO_EXPOSURE;
  const total = isWhole(order) ? replace.quantity : Math.min(replace.quantity, order.letThrough);
  const lots = total - order.dropped - filledOf(order);
  const { definition } = order.market;
  const { kind, amount } = order.terms;
  if (kind === ORDER_KIND.limit) {
    return lots <= 0
      ? NO_EXPOSURE
      : { lots, lotPrice: notional18(replace.price, ONE_LOT, definition), total: null, other: null };
  }
  if (kind === ORDER_KIND.marketBase && lots <= 0) return NO_EXPOSURE;
  const spent = order.pending.notional + order.confirmed.notional;
  const left = amount === 0 ? null : quote18(amount, definition) - spent;
  if (left !== null && left <= 0n) return NO_EXPOSURE;
  const worthOf = (quantity: number): bigint =>
    mulDivCeil(quantity18(quantity as RawQuantity, definition.quantityDecimals), marketPrice, ONE_18);
  if (left === null) return { lots, lotPrice: 0n, total: worthOf(lots), other: null };
  return { lots: lots > 0 ? lots : lotsFor(left, worthOf(ONE_LOT)), lotPrice: 0n, total: left, other: null };
}

/** At least one: an order that buys less than a lot at this price may find a better one. */
function lotsFor(amount: bigint, lotValue: bigint): number {
  const lots = lotValue === 0n ? LOTS_MAX : amount / lotValue;
  return lots < 1n ? 1 : Number(lots > LOTS_MAX ? LOTS_MAX : lots);
}
