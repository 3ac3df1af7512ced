/**
 * What open orders may spend by their optimistic figures: fills that clearing has not decided count as spent, and of an
 * order with replaces pending the one that spends most (RPL-07, AMB-112).
 *
 * Not here: the rule (src/risk/reservation.ts), balances (holds.ts).
 */
import { ORDER_KIND, SIDE } from '../../../core/order-terms.ts';
import type { RawPrice } from '../../../core/units.ts';
import { type Amount18, ZERO_18 } from '../../../core/units.ts';
import {
  budgetAtRelease,
  budgetLeft as leftOfBudget,
  type Means,
  reservationOf,
  type Spender,
  spendLeft,
} from '../../../risk/reservation.ts';
import { filledOf, isSpot, type LiveOrder, type PendingReplace } from '../book/live-order.ts';

/** Nothing of it may be spent any more. */
export function isOver(order: LiveOrder): boolean {
  return order.end !== 0 || order.faultReason !== 0 || order.isSpent || order.isCancelPending || order.isClosed;
}

/** What may match of an order, as it is or would be. */
export type Released = Pick<LiveOrder, 'budget' | 'releasedQuantity' | 'droppedQuantity' | 'isIdle'>;

/** The notional of its fills, pending ones too. */
export function filledNotionalOf(order: LiveOrder): bigint {
  return order.pendingNotional + order.filledNotional;
}

/** One for all calls of `spenderOf`. */
const spender: { -readonly [Member in keyof Spender]: Spender[Member] } = {
  side: SIDE.buy,
  kind: ORDER_KIND.limit,
  price: 0 as RawPrice,
  amount: 0,
  budget: 0,
  filledQuantity: 0,
  filledNotional: 0n,
};

/** @returns the order as the rules see it, until the next call. What was spent decides nothing of a limit order. */
function spenderOf(order: LiveOrder, budget: number, price: RawPrice = order.price): Spender {
  spender.side = order.side;
  spender.kind = order.kind;
  spender.price = price;
  spender.amount = order.amount;
  spender.budget = budget;
  spender.filledQuantity = filledOf(order);
  spender.filledNotional = order.kind === ORDER_KIND.limit ? 0n : filledNotionalOf(order);
  return spender;
}

/** Lots that may match in all under the terms of a replace, without dropped ones. */
export function lotsWith({ quantity }: LiveOrder, replace: PendingReplace, as: Released): number {
  const { releasedQuantity, droppedQuantity } = as;
  const lots = releasedQuantity >= quantity ? replace.quantity : Math.min(replace.quantity, releasedQuantity);
  return lots - droppedQuantity;
}

/** What the order could spend with the terms of a replace. @param as what is released of it, or would be. */
export function spendWith(order: LiveOrder, replace: PendingReplace, as: Released = order): Amount18 {
  if (!isSpot(order) || isOver(order) || as.isIdle || as.releasedQuantity === 0) return ZERO_18;
  return spendLeft(spenderOf(order, as.budget, replace.price), lotsWith(order, replace, as), order.market.definition);
}

/**
 * The most that the order may spend by its terms in force and its pending replaces.
 *
 * @param as what is released of it, or would be.
 */
export function spendFor(order: LiveOrder, as: Released = order): Amount18 {
  let most = spendWith(order, order, as);
  for (const replace of order.replaces) {
    const spend = spendWith(order, replace, as);
    if (spend > most) most = spend;
  }
  return most;
}

/** What an order reserves that may spend so much, at the taker's rate in force. */
export function holdFor({ side, market }: Pick<LiveOrder, 'side' | 'market'>, spend: Amount18): Amount18 {
  return reservationOf(side, spend, market.definition.takerFeeRate);
}

/**
 * The budget of an order that is released so far, what it has spent included; else the one it has.
 *
 * @param lots that it may match now.
 * @returns null: there is nothing to give.
 */
export function releaseBudgetOf(order: LiveOrder, lots: number, means: Means): number | null {
  const { budget, quantity, market } = order;
  if (!isSpot(order)) return budget;
  return budgetAtRelease({ ...spenderOf(order, budget), quantity }, lots, means, market.definition);
}

/** What is left of a budget that the order does not name itself, as the market's budget; 0 for every other order. */
export function spendingLeft(order: LiveOrder): number {
  const { budget, quantity, market } = order;
  return isSpot(order) ? leftOfBudget({ ...spenderOf(order, budget), quantity }, market.definition) : 0;
}
