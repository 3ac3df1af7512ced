/**
 * What open orders may spend by their optimistic figures: fills that clearing has not decided count as spent, and of an
 * order with replaces pending the one that spends most (RPL-07, AMB-112).
 *
 * Not here: the rule (src/risk/reservation.ts), balances (holds.ts).
 */
import type { RawPrice } from '../../core/units.ts';
import { type Amount18, ZERO_18 } from '../../core/units.ts';
import {
  budgetAtRelease,
  budgetLeft as leftOfBudget,
  type Means,
  reservationOf,
  type Spender,
  spendLeft,
} from '../../risk/reservation.ts';
import { filledOf, isSpot, isWhole, type LiveOrder, type ReplaceOnItsWay } from './live-order.ts';

/** Nothing of it may be spent any more. */
export function isOver(order: LiveOrder): boolean {
  return order.end !== 0 || order.faultReason !== 0 || order.isSpent || order.isCovered || order.isTold;
}

function spenderOf(order: LiveOrder, price: RawPrice = order.price): Spender {
  const { side, kind, amount } = order.terms;
  const filledNotional = order.pending.notional + order.confirmed.notional;
  return { side, kind, amount, price, budget: order.bound, filledQuantity: filledOf(order), filledNotional };
}

/** What the order could spend with the terms of a replace. */
export function spendWith(order: LiveOrder, replace: ReplaceOnItsWay): Amount18 {
  if (!isSpot(order.terms) || isOver(order) || order.isIdle || order.letThrough === 0) return ZERO_18;
  const lots = isWhole(order) ? replace.quantity : Math.min(replace.quantity, order.letThrough);
  return spendLeft(spenderOf(order, replace.price), lots - order.dropped, order.market.definition);
}

/** The most that the order may spend by its terms in force and its pending replaces. */
export function spendOf(order: LiveOrder): Amount18 {
  let most = spendWith(order, order);
  for (const replace of order.replaces) {
    const spend = spendWith(order, replace);
    if (spend > most) most = spend;
  }
  return most;
}

/** What an order reserves that may spend so much, at the taker's rate in force. */
export function holdOf({ terms, market }: Pick<LiveOrder, 'terms' | 'market'>, spend: Amount18): Amount18 {
  return reservationOf(terms.side, spend, market.definition.takerFeeRate);
}

/**
 * The bound of an order that is released so far, what it has spent included; else the one it has.
 *
 * @param lots that it may match now.
 * @returns null: there is nothing to give.
 */
export function boundAtRelease(order: LiveOrder, lots: number, means: Means): number | null {
  if (!isSpot(order.terms)) return order.bound;
  return budgetAtRelease({ ...spenderOf(order), quantity: order.quantity }, lots, means, order.market.definition);
}

/** What is left of a bound that the order does not name itself, as the market's budget; 0 for every other order. */
export function budgetLeft(order: LiveOrder): number {
  if (!isSpot(order.terms)) return 0;
  return leftOfBudget({ ...spenderOf(order), quantity: order.quantity }, order.market.definition);
}
