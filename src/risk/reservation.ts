/**
 * What an order reserves of a spot balance: the most that it may still spend, in 10^-18 of USD for a buy and of the base
 * asset for a sell (AMB-39, AMB-52, EX-27). The gateway reserves it before an order is sent, over optimistic figures;
 * clearing holds it, over confirmed ones.
 *
 *   limit          buy   price × quantity, and the taker's fee       sell  quantity
 *   market, base   buy   cap or budget, and the taker's fee          sell  quantity
 *   market, quote  buy   target, and the taker's fee                 sell  base cap or budget
 *
 * less what was spent, and for a buy what rounding the fee of each fill may cost (buy-holds.ts). A margin order reserves
 * nothing, it has exposure (exposure.ts). An order that waits for its trigger reserves nothing either, a child as much as
 * was released and not dropped (AMB-28, AMB-29).
 *
 * The fee is added when a balance is evaluated: what an order may spend stays as it is when a market's fee changes.
 *
 * A budget is what order entry adds where an order names no bound of its own, when it is created or released: what its lots
 * or its target come to at the worst price that is known (price-bounds.ts), at most what is available, and where none is
 * known all of that. An order reserves its budget, so it cannot spend what other orders hold, and what the budget does not
 * cover is not matched.
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
} from '../core/arithmetic.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { ORDER_KIND, type OrderKind, SIDE, type Side } from '../core/order-terms.ts';
import { type Amount18, ONE_18, type RawPrice, type RawQuantity, ZERO_18 } from '../core/units.ts';
import { type BuyHolds, changeBuy, feeRounding, heldByBuys, noBuys } from './buy-holds.ts';

/** The members of an order that decide on its spending; an order record has all of them. */
export interface Spender {
  readonly side: Side;
  readonly kind: OrderKind;
  /** In force; means nothing of a market order. */
  readonly price: RawPrice;
  /** Quote integer of scale 10^-quantity decimals: cap or target; 0 for none. */
  readonly amount: number;
  /** What order entry let it spend where it names no bound: quote of a buy, lots of a sell; 0 for no such bound. */
  readonly budget: number;
  /** Fills so far: at the gateway pending ones too. */
  readonly filledQuantity: number;
  readonly filledNotional: bigint;
}

const RAW_LIMIT = BigInt(Number.MAX_SAFE_INTEGER);

/** A quote integer has the scale of quantities (AMB-05, G16). */
export function quote18(amount: number, { quantityDecimals }: Pick<MarketDefinition, 'quantityDecimals'>): Amount18 {
  return quantity18(amount as RawQuantity, quantityDecimals);
}

/**
 * What a released spot order may still spend, a buy's fee apart.
 *
 * @param lots in force, filled ones included, dropped ones not; 0 of an order that is sized in quote and has no base cap.
 */
export function spendLeft(order: Spender, lots: number, market: MarketDefinition): Amount18 {
  const { side, kind, amount, budget, filledQuantity } = order;
  if (side === SIDE.sell) {
    const left = (kind === ORDER_KIND.marketQuote && lots === 0 ? budget : lots) - filledQuantity;
    return left <= 0 ? ZERO_18 : quantity18(left as RawQuantity, market.quantityDecimals);
  }
  const lotsLeft = lots - filledQuantity;
  if (kind === ORDER_KIND.limit) {
    if (lotsLeft <= 0) return ZERO_18;
    const left = notional18(order.price, lotsLeft as RawQuantity, market);
    return (left + feeRounding(market, lotsLeft)) as Amount18;
  }
  // A child that is sized in base spends nothing while all that its parent has activated is filled.
  if (kind === ORDER_KIND.marketBase && lotsLeft <= 0) return ZERO_18;
  const left = quote18(amount === 0 ? budget : amount, market) - order.filledNotional;
  if (left <= 0n) return ZERO_18;
  return (left + feeRounding(market, kind === ORDER_KIND.marketQuote ? null : lotsLeft)) as Amount18;
}

/**
 * What new limit orders of one side may spend together: as the sum of theirs, exact.
 *
 * @param entries of each its price and its lots, one after the other.
 */
export function spendOfAll(side: Side, entries: readonly number[], market: MarketDefinition): Amount18 {
  let lots = 0n;
  let products = 0n;
  // Sums that are safe integers are added up as such: a set has a hundred of them.
  let fewLots = 0;
  let smallProducts = 0;
  for (let at = 0; at < entries.length; at += 2) {
    const price = entries[at] as number;
    const quantity = entries[at + 1] as number;
    if (fewLots + quantity > Number.MAX_SAFE_INTEGER) {
      lots += BigInt(fewLots);
      fewLots = 0;
    }
    fewLots += quantity;
    const product = price * quantity;
    if (product > Number.MAX_SAFE_INTEGER) {
      products += BigInt(price) * BigInt(quantity);
      continue;
    }
    if (smallProducts + product > Number.MAX_SAFE_INTEGER) {
      products += BigInt(smallProducts);
      smallProducts = 0;
    }
    smallProducts += product;
  }
  lots += BigInt(fewLots);
  const one = 1 as RawQuantity;
  if (side === SIDE.sell) return (lots * quantity18(one, market.quantityDecimals)) as Amount18;
  products += BigInt(smallProducts);
  // mutant: spend-of-all-entries
  return (products * notional18(1 as RawPrice, one, market) + lots * feeRounding(market, one)) as Amount18;
}

/** What an order reserves that may spend so much: a buy also the fee. @param takerFeeRate in force, 1e-6. */
export function reservationOf(side: Side, spend: Amount18, takerFeeRate: number): Amount18 {
  return side === SIDE.sell ? spend : add18(spend, tradingFee18(spend, takerFeeRate));
}

/** What a new order of this many lots reserves, before any fill. */
export function reservationOfNew(
  order: Omit<Spender, 'filledQuantity' | 'filledNotional'>,
  quantity: number,
  market: MarketDefinition,
): Amount18 {
  const { side, kind, price, amount, budget } = order;
  const unfilled = { side, kind, price, amount, budget, filledQuantity: 0, filledNotional: 0n };
  return reservationOf(side, spendLeft(unfilled, quantity, market), market.takerFeeRate);
}

/** What buys reserve of a USD balance, by market. */
export type ReservedByBuys<Market> = Map<Market, BuyHolds>;

/** A buy of the market may spend something else now. @param before what it could spend, 0 for a new one. */
export function changeReservedBuys<Market extends { readonly definition: MarketDefinition }>(
  buys: ReservedByBuys<Market>,
  market: Market,
  before: Amount18,
  after: Amount18,
): void {
  let own = buys.get(market);
  if (own === undefined) {
    own = noBuys(market.definition);
    buys.set(market, own);
  }
  changeBuy(own, before, after);
}

/** What all of them reserve, at the fees in force. */
export function reservedByBuys<Market extends { readonly definition: MarketDefinition }>(
  buys: ReservedByBuys<Market>,
): Amount18 {
  let reserved = 0n;
  for (const [{ definition }, own] of buys) reserved += heldByBuys(own, definition.takerFeeRate);
  return reserved as Amount18;
}

/** A base-sized buy without a cap, or a quote-sized sell without one: it has no bound of its spending. */
export function isUnbounded(
  { side, kind, amount }: Pick<Spender, 'side' | 'kind' | 'amount'>,
  quantity: number,
): boolean {
  if (side === SIDE.buy) return kind === ORDER_KIND.marketBase && amount === 0;
  return kind === ORDER_KIND.marketQuote && quantity === 0;
}

/** What an order that matches at once may use. */
export interface Means {
  readonly available: bigint;
  /** The worst price of one unit, 10^-18 USD, above 0; null if none is known. */
  readonly worstPrice: bigint | null;
}

/** What it may still match: lots of a buy; the target of a sale, 10^-18 USD. */
interface Wanted {
  readonly lots: number;
  readonly target: bigint;
}

/**
 * The budget of an order that matches at once.
 *
 * @returns null for one that has a bound of its own; 0: nothing is available.
 */
export function budgetOf(
  order: Pick<Spender, 'side' | 'kind' | 'amount'>,
  quantity: number,
  definition: MarketDefinition,
  { wanted, available, worstPrice }: Means & { readonly wanted: Wanted },
): number | null {
  if (!isUnbounded(order, quantity)) return null;
  if (available <= 0n) return 0;
  const unit = powerOfTen(18 - definition.quantityDecimals);
  if (order.side === SIDE.sell) {
    const all = available / unit;
    const enough = worstPrice === null ? all : mulDivCeil(wanted.target, ONE_18, worstPrice * unit);
    return rawOf(smaller(all, enough));
  }
  // The reservation includes the rounding of fees, and at most as much again for a fee on it.
  const spendable = available - 2n * feeRounding(definition, wanted.lots);
  if (spendable <= 0n) return 0;
  const all = mulDivFloor(spendable, RATE_SCALE, RATE_SCALE + BigInt(definition.takerFeeRate)) / unit;
  const enough = worstPrice === null ? all : mulDivCeil(BigInt(wanted.lots), worstPrice, ONE_18);
  // mutant: uncapped-market-hold
  return rawOf(smaller(all, enough));
}

/** An order that may be released: its quantity in force beside what decides on its spending. */
type Released = Spender & { readonly quantity: number };

/**
 * The budget of a spot order that is released so far, what it has spent included; else the one it has.
 *
 * @param lots that it may match now.
 * @returns null: there is nothing to give.
 */
export function budgetAtRelease(order: Released, lots: number, means: Means, market: MarketDefinition): number | null {
  const target = quote18(order.amount, market) - order.filledNotional;
  const wanted = { lots: Math.max(lots, 0), target: target > 0n ? target : 0n };
  const more = budgetOf(order, order.quantity, market, { ...means, wanted });
  if (more === null) return order.budget;
  const used = order.side === SIDE.sell ? BigInt(order.filledQuantity) : rawQuote(order.filledNotional, market);
  const budget = rawOf(BigInt(more) + used);
  return unspentBudget(order, budget, market) > 0 ? budget : null;
}

/** What is left of a budget, in its own unit; 0 for an order that names its own bound. */
export function budgetLeft(order: Released, market: MarketDefinition): number {
  return isUnbounded(order, order.quantity) ? unspentBudget(order, order.budget, market) : 0;
}

function unspentBudget(order: Released, budget: number, market: MarketDefinition): number {
  if (order.side === SIDE.sell) return budget - order.filledQuantity;
  return rawOf(rawQuote(quote18(budget, market) - order.filledNotional, market));
}

/** Floored to the quote scale. */
function rawQuote(amount: bigint, { quantityDecimals }: MarketDefinition): bigint {
  return amount / powerOfTen(18 - quantityDecimals);
}

function rawOf(value: bigint): number {
  return Number(value > RAW_LIMIT ? RAW_LIMIT : value);
}
