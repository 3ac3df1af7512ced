/**
 * What orders hold: the most that they may still spend, in 10^-18 of USD for a buy and of the base asset for a sell
 * (AMB-39, AMB-52, EX-27).
 *
 *   limit          buy   price × quantity, and the taker's fee       sell  quantity
 *   market, base   buy   cap or budget, and the taker's fee          sell  quantity
 *   market, quote  buy   target, and the taker's fee                 sell  base cap or budget
 *
 * less what was spent, and for a buy what rounding the fee of each fill may cost (core/buy-holds.ts). A margin order holds nothing, it is weighed (exposure.ts). An order that waits for its trigger
 * holds nothing either, a child as much as was let through and not dropped (AMB-28, AMB-29).
 *
 * The fee is added where it is asked for: what an order may spend stays as it is when a market's fee changes (holds.ts).
 *
 * A budget is what order entry adds where an order names no bound of its own, when it is created or released: what its lots
 * or its target come to at the worst price that is known (market-bounds.ts), at most what is available, and where none is
 * known all of that. It holds its budget, so it cannot spend what other orders hold, and what the budget does not cover is
 * not matched.
 */
import {
  add18,
  mulDivCeil,
  mulDivFloor,
  notional18,
  powerOfTen,
  quantity18,
  RATE_SCALE,
  smaller,
  tradingFee18,
} from '../../core/arithmetic.ts';
import { feeRounding } from '../../core/buy-holds.ts';
import type { MarketDefinition } from '../../core/market-definition.ts';
import { ORDER_KIND, SIDE } from '../../core/order-terms.ts';
import { type Amount18, ONE_18, type RawPrice, type RawQuantity, ZERO_18 } from '../../core/units.ts';
import { filledOf, isSpot, isWhole, type LiveOrder, type OrderTerms, type ReplaceOnItsWay } from './live-order.ts';

/** An order as far as its spending goes. */
type Spender = Pick<LiveOrder, 'bound'> & {
  readonly terms: Pick<OrderTerms, 'side' | 'kind' | 'amount'>;
  readonly market: { readonly definition: MarketDefinition };
};

interface Spent {
  readonly quantity: number;
  readonly notional: bigint;
}

const NOTHING_SPENT: Spent = { quantity: 0, notional: 0n };
const RAW_LIMIT = BigInt(Number.MAX_SAFE_INTEGER);

/** What `quantity` lots at `price` of an order that has spent nothing hold; the price matters to limit orders only. */
export function needOf(order: Spender, price: RawPrice, quantity: number): Amount18 {
  return holdOf(order, leftOf(order, price, quantity, NOTHING_SPENT));
}

/** What may be spent beyond what was, a buy's fee apart. */
function leftOf(order: Spender, price: RawPrice, quantity: number, spent: Spent): Amount18 {
  const { definition } = order.market;
  const { side, kind, amount } = order.terms;
  if (side === SIDE.sell) {
    const lots = (quantity === 0 ? order.bound : quantity) - spent.quantity;
    return lots <= 0 ? ZERO_18 : quantity18(lots as RawQuantity, definition.quantityDecimals);
  }
  if (kind !== ORDER_KIND.marketQuote && quantity <= spent.quantity) return ZERO_18;
  const lots = kind === ORDER_KIND.marketQuote ? null : quantity - spent.quantity;
  const left =
    kind === ORDER_KIND.limit
      ? notional18(price, (quantity - spent.quantity) as RawQuantity, definition)
      : quote18(amount === 0 ? order.bound : amount, definition) - spent.notional;
  return left <= 0n ? ZERO_18 : ((left + feeRounding(definition, lots)) as Amount18);
}

/** What an order holds that may spend so much: a buy also the fee, at the taker's rate in force. */
export function holdOf({ terms, market }: Spender, spend: Amount18): Amount18 {
  return terms.side === SIDE.sell ? spend : add18(spend, tradingFee18(spend, market.definition.takerFeeRate));
}

/** A quote integer has the scale of quantities (AMB-05, G16). */
export function quote18(amount: number, definition: MarketDefinition): Amount18 {
  return quantity18(amount as RawQuantity, definition.quantityDecimals);
}

/** Nothing of it may be spent any more. */
export function isOver(order: LiveOrder): boolean {
  return order.end !== 0 || order.faultReason !== 0 || order.isSpent || order.isCovered || order.isTold;
}

/** What the order could spend with the terms of a replace. */
export function spendWith(order: LiveOrder, replace: ReplaceOnItsWay): Amount18 {
  if (!isSpot(order.terms) || isOver(order) || order.isIdle || order.letThrough === 0) return ZERO_18;
  const lots = isWhole(order) ? replace.quantity : Math.min(replace.quantity, order.letThrough);
  return leftOf(order, replace.price, lots - order.dropped, spentOf(order));
}

function spentOf(order: LiveOrder): Spent {
  return { quantity: filledOf(order), notional: order.pending.notional + order.confirmed.notional };
}

/** The most that the order may spend by its terms in force and its replaces on the way (RPL-07, AMB-112). */
export function spendOf(order: LiveOrder): Amount18 {
  let most = spendWith(order, order);
  for (const replace of order.replaces) {
    const spend = spendWith(order, replace);
    if (spend > most) most = spend;
  }
  return most;
}

/** A base-sized buy without a cap, or a quote-sized sell without one: nothing in it says what it may spend. */
function isUnbounded({ side, kind, amount }: Spender['terms'], quantity: number): boolean {
  if (side === SIDE.buy) return kind === ORDER_KIND.marketBase && amount === 0;
  return kind === ORDER_KIND.marketQuote && quantity === 0;
}

/** What an order that matches at once may use. */
export interface Means {
  readonly available: bigint;
  /** Of one unit, 10^-18 USD, above 0; null where none is known. */
  readonly worstPrice: bigint | null;
}

/**
 * The budget of an order that matches at once.
 *
 * @param wanted lots that a buy may match now; the target that a sale may still reach, 10^-18 USD.
 * @returns null for one that has a bound of its own; 0: nothing is available.
 */
export function budgetOf(
  terms: OrderTerms,
  quantity: number,
  definition: MarketDefinition,
  { wanted, available, worstPrice }: Means & { readonly wanted: { readonly lots: number; readonly target: bigint } },
): number | null {
  if (!isUnbounded(terms, quantity)) return null;
  if (available <= 0n) return 0;
  const unit = powerOfTen(18 - definition.quantityDecimals);
  if (terms.side === SIDE.sell) {
    const all = available / unit;
    const enough = worstPrice === null ? all : mulDivCeil(wanted.target, ONE_18, worstPrice * unit);
    return rawOf(smaller(all, enough));
  }
  // Its hold has the rounding of fees and at most as much of a fee on that.
  const spendable = available - 2n * feeRounding(definition, wanted.lots);
  if (spendable <= 0n) return 0;
  const all = mulDivFloor(spendable, RATE_SCALE, RATE_SCALE + BigInt(definition.takerFeeRate)) / unit;
  const enough = worstPrice === null ? all : mulDivCeil(BigInt(wanted.lots), worstPrice, ONE_18);
  // mutant: uncapped-market-hold
  return rawOf(smaller(all, enough));
}

/**
 * The bound of an order that is released so far, what it has spent included; else the one it has.
 *
 * @param lots that it may match now.
 * @returns null: there is nothing to give.
 */
export function boundAtRelease(order: LiveOrder, lots: number, means: Means): number | null {
  const { terms, market, quantity } = order;
  if (!isSpot(terms)) return order.bound;
  const spent = spentOf(order);
  const target = quote18(terms.amount, market.definition) - spent.notional;
  const wanted = { lots: Math.max(lots, 0), target: target > 0n ? target : 0n };
  const budget = budgetOf(terms, quantity, market.definition, { ...means, wanted });
  if (budget === null) return order.bound;
  const isSell = terms.side === SIDE.sell;
  const used = isSell ? BigInt(spent.quantity) : rawQuote(spent.notional, market.definition);
  const bound = rawOf(BigInt(budget) + used);
  return budgetLeft({ ...order, bound }) > 0 ? bound : null;
}

/** What is left of a bound that the order does not name itself, as the market's budget; 0 for every other order. */
export function budgetLeft(order: LiveOrder): number {
  const { terms, market, quantity, bound } = order;
  if (!isSpot(terms) || !isUnbounded(terms, quantity)) return 0;
  const spent = spentOf(order);
  if (terms.side === SIDE.sell) return bound - spent.quantity;
  return rawOf(rawQuote(quote18(bound, market.definition) - spent.notional, market.definition));
}

/** Floored to the quote scale. */
function rawQuote(amount: bigint, definition: MarketDefinition): bigint {
  return amount / powerOfTen(18 - definition.quantityDecimals);
}

function rawOf(value: bigint): number {
  return Number(value > RAW_LIMIT ? RAW_LIMIT : value);
}
