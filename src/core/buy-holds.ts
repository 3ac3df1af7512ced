/**
 * What the buys of one market hold of the balance that pays for them, whatever the taker fee is at the moment.
 *
 *   order i may spend nᵢ    holds nᵢ + ceil(nᵢ × rate)    nᵢ = millionsᵢ × 10^6 + restᵢ, in 10^-18 USD
 *   together                Σ nᵢ + rate × Σ millionsᵢ + Σ ceil(restᵢ × rate)
 *
 * Sums are kept of what does not depend on the rate, so a changed fee is in force for every order at once and walks none.
 * It is exact: what is held is the sum of what each order holds. Rests are counted by their size, and their fees are kept
 * for the rate that was asked for last: the first question at another one goes through the sizes, of which there are fewer
 * than a million and than orders. Markets whose decimals add up to 12 or less have no rests.
 *
 * Each fill rounds its fee up by itself, so an order that fills in parts may be charged more than its one rounding holds:
 * by less than 10^-18 USD a fill. Where notionals have rests, what an order may spend contains that much for each fill that
 * it may still have (`feeRounding`): of an order with lots as many as it has left, so that every fill finds its part there.
 *
 * Not here: what an order may spend (holds.ts of clearing, needs.ts of the front door).
 */
import { type BookDecimals, RATE_SCALE } from './arithmetic.ts';
import { assert } from './assert.ts';
import type { Amount18 } from './units.ts';

const SCALE = Number(RATE_SCALE);
/** Up to this sum of decimals every notional is a multiple of 10^6. */
const WHOLE_DECIMALS_MAX = 12;

/** Orders that one order without lots may match: it never rests, and a market holds fewer (matching/order-pool.ts). */
const FILLS_MAX = 2 ** 26;

/**
 * What rounding fees up may cost an order beyond the fee of its whole notional, 10^-18 USD.
 *
 * @param lots that it may still match; null for one that names none.
 */
export function feeRounding({ priceDecimals, quantityDecimals }: BookDecimals, lots: number | null): bigint {
  if (priceDecimals + quantityDecimals <= WHOLE_DECIMALS_MAX) return 0n;
  // mutant: fill-rounding-hold
  return BigInt(lots ?? FILLS_MAX);
}

export interface BuyHolds {
  /** Without fees. */
  notional: bigint;
  /** Null where there is none. */
  readonly rests: Rests | null;
}

interface Rests {
  /** How many orders have each rest above 0. */
  readonly counts: Map<number, number>;
  /** Of all: below 10^6 each, so numbers are exact. */
  sum: number;
  /** Of all at `rate`, rounded up for each. */
  fees: number;
  rate: number;
}

export function noBuys({ priceDecimals, quantityDecimals }: BookDecimals): BuyHolds {
  const hasRests = priceDecimals + quantityDecimals > WHOLE_DECIMALS_MAX;
  return { notional: 0n, rests: hasRests ? { counts: new Map(), sum: 0, fees: 0, rate: 0 } : null };
}

/** One order may spend something else now, fees apart. @param before what it could spend, 0 for a new one. */
export function changeBuy(buys: BuyHolds, before: Amount18, after: Amount18): void {
  assert(before >= 0n && after >= 0n, 'an order never spends less than nothing');
  buys.notional += after - before;
  assert(buys.notional >= 0n, 'what buys hold is never negative');
  if (buys.rests === null) return;
  count(buys.rests, before, -1);
  count(buys.rests, after, 1);
}

function count(rests: Rests, notional: Amount18, by: 1 | -1): void {
  const rest = Number(notional % RATE_SCALE);
  if (rest === 0) return;
  const { counts, rate } = rests;
  const orders = (counts.get(rest) ?? 0) + by;
  assert(orders >= 0, 'a rest that goes was counted');
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

/** All of them together, fees included. @param rate the taker's, an integer in 1e-6, 0 to 1,000,000. */
export function heldByBuys({ notional, rests }: BuyHolds, rate: number): Amount18 {
  if (rate === 0) return notional as Amount18;
  const millions = (rests === null ? notional : notional - BigInt(rests.sum)) / RATE_SCALE;
  // mutant: hold-fee
  const held = notional + millions * BigInt(rate);
  return (rests === null ? held : held + BigInt(feesAt(rests, rate))) as Amount18;
}
