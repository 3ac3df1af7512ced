/**
 * The balance reserved for the buy orders of one market, at any taker fee.
 *
 *   order i may spend nᵢ    reserves nᵢ + ceil(nᵢ × rate)    nᵢ = millionsᵢ × 10^6 + restᵢ, in 10^-18 USD
 *   total                   Σ nᵢ + rate × Σ millionsᵢ + Σ ceil(restᵢ × rate)
 *
 * The stored sums do not depend on the rate, so a changed fee applies to every order at once without visiting any. The
 * total is exact: the sum of the reservations of the orders. Orders are counted by their rest (the remainder modulo
 * 10^6), and the total fee of the rests is cached for one rate: the first call with another rate visits the distinct
 * rests, which are fewer than a million and fewer than the orders. In markets with decimals of at most 12 in total
 * every rest is 0.
 *
 * Every fill rounds its fee up separately, so an order that fills in parts may be charged more than its one rounding
 * reserves: by less than 10^-18 USD per fill. Where rests exist, the amount that an order may spend includes that much
 * for each fill that it may still have (`feeRounding`): one per remaining lot, so that every fill is covered.
 *
 * The amount that an order may spend is computed in holds.ts of clearing and needs.ts of the gateway.
 */
import { type BookDecimals, RATE_SCALE } from '../core/arithmetic.ts';
import { assert } from '../core/assert.ts';
import type { Amount18 } from '../core/units.ts';

const SCALE = Number(RATE_SCALE);
/** Up to this sum of decimals every notional is a multiple of 10^6. */
const WHOLE_DECIMALS_MAX = 12;

/**
 * Upper bound of the fills of an order without lots: it never rests, and a market holds fewer orders
 * (matching/order-pool.ts).
 */
const FILLS_MAX = 2 ** 26;

/**
 * The most that rounding up the fees of single fills may cost an order beyond the fee of its whole notional, 10^-18
 * USD.
 *
 * @param lots that it may still match; null for an order without a quantity.
 */
export function feeRounding(decimals: BookDecimals, lots: number | null): bigint {
  if (!roundsFees(decimals)) return 0n;
  // mutant: fill-rounding-hold
  return BigInt(lots ?? FILLS_MAX);
}

/** Whether fees of single orders are rounded: some notionals are no multiple of 10^6. */
export function roundsFees({ priceDecimals, quantityDecimals }: BookDecimals): boolean {
  return priceDecimals + quantityDecimals > WHOLE_DECIMALS_MAX;
}

export interface BuyHolds {
  /** Total, without fees. */
  notional: bigint;
  /** Null in markets without rests. */
  readonly rests: Rests | null;
}

interface Rests {
  /** Number of orders by rest, for rests above 0. */
  readonly counts: Map<number, number>;
  /** Sum of all rests; each is below 10^6, so a number is exact. */
  sum: number;
  /** Sum of the fees of all rests at `rate`, each rounded up. */
  fees: number;
  rate: number;
}

export function noBuys(decimals: BookDecimals): BuyHolds {
  return { notional: 0n, rests: roundsFees(decimals) ? { counts: new Map(), sum: 0, fees: 0, rate: 0 } : null };
}

/** Changes the amount that one order may spend, without fees. @param before the previous amount, 0 for a new order. */
export function changeBuy(buys: BuyHolds, before: Amount18, after: Amount18): void {
  assert(before >= 0n && after >= 0n, 'the amount of an order is not negative');
  buys.notional += after - before;
  assert(buys.notional >= 0n, 'the total of the buys is not negative');
  if (buys.rests === null) return;
  count(buys.rests, before, -1);
  count(buys.rests, after, 1);
}

function count(rests: Rests, notional: Amount18, by: 1 | -1): void {
  const rest = Number(notional % RATE_SCALE);
  if (rest === 0) return;
  const { counts, rate } = rests;
  const orders = (counts.get(rest) ?? 0) + by;
  assert(orders >= 0, 'a removed rest was counted');
  if (orders === 0) counts.delete(rest);
  else counts.set(rest, orders);
  rests.sum += by * rest;
  rests.fees += by * feeOf(rest, rate);
}

function feeOf(rest: number, rate: number): number {
  return Math.ceil((rest * rate) / SCALE);
}

function feesAt(rests: Rests, rate: number): number {
  if (rests.rate === rate) return rests.fees;
  rests.rate = rate;
  rests.fees = 0;
  for (const [rest, orders] of rests.counts) rests.fees += feeOf(rest, rate) * orders;
  return rests.fees;
}

/** The total reservation, including fees. @param rate the taker's, an integer in 1e-6, 0 to 1,000,000. */
export function heldByBuys({ notional, rests }: BuyHolds, rate: number): Amount18 {
  if (rate === 0) return notional as Amount18;
  const millions = (rests === null ? notional : notional - BigInt(rests.sum)) / RATE_SCALE;
  // mutant: hold-fee
  const held = notional + millions * BigInt(rate);
  return (rests === null ? held : held + BigInt(feesAt(rests, rate))) as Amount18;
}
