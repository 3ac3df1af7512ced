/**
 * Prices on the tick of a market and quantities in its lots, from what a program has computed.
 *
 * A price or quantity is a decimal text, taken exactly, or a number, of which 15 significant digits count: what a computation with
 * doubles leaves behind them (0.1 + 0.2) moves no price to the next tick. Results are decimal texts, as tickets have them.
 *
 * A lot is the smallest step of a quantity, 10^-quantityDecimals.
 */
import { format18, parseDecimal18 } from '../core/decimal.ts';
import { invalidArgument } from './errors.ts';
import type { Market } from './replies.ts';

export type Rounding = 'down' | 'up' | 'nearest';

const DECIMALS = 18;
const NUMBER_DIGITS = 15;

/** The price on the market's tick. `nearest`, a half away from zero, is the default; bids round down and asks up. */
export function priceOnTick(market: Market, price: string | number, rounding: Rounding = 'nearest'): string {
  return format18(rounded(amountOf(price, 'price'), tickOf(market), rounding));
}

/** The price `ticks` above, or below for a negative number, a price on the tick. */
export function movePrice(market: Market, price: string, ticks: number): string {
  if (!Number.isSafeInteger(ticks)) throw invalidArgument('ticks are a whole number', 'ticks');
  return format18(amountOf(price, 'price') + BigInt(ticks) * tickOf(market));
}

/** How many ticks `to` is above `from`; both on the tick. */
export function ticksBetween(market: Market, from: string, to: string): number {
  const distance = amountOf(to, 'to') - amountOf(from, 'from');
  const tick = tickOf(market);
  if (distance % tick !== 0n)
    throw invalidArgument(`${from} and ${to} are not whole ticks of ${market.tickSize} apart`);
  return Number(distance / tick);
}

/** The quantity in whole lots, rounded down; '0' where that is less than the smallest order of the market. */
export function quantityInLots(market: Market, quantity: string | number): string {
  const lot = 10n ** BigInt(DECIMALS - market.quantityDecimals);
  const inLots = rounded(amountOf(quantity, 'quantity'), lot, 'down');
  return inLots < amountOf(market.minOrderSize, 'minOrderSize') ? '0' : format18(inLots);
}

function tickOf({ tickSize }: Market): bigint {
  return amountOf(tickSize, 'tickSize');
}

function rounded(amount: bigint, unit: bigint, rounding: Rounding): bigint {
  const rest = ((amount % unit) + unit) % unit;
  const isUp = rounding === 'up' ? rest > 0n : rounding === 'nearest' && 2n * rest >= unit;
  return amount - rest + (isUp ? unit : 0n);
}

/** 18 decimals. @throws RingbookError INVALID_ARGUMENT. */
function amountOf(value: string | number, member: string): bigint {
  const text = typeof value === 'number' ? textOf(value) : value;
  const amount = parseDecimal18(text);
  if (amount === null) throw invalidArgument(`${member} ${JSON.stringify(value)} is no decimal`, member);
  return amount;
}

/** Digits behind the eighteenth are cut off. */
function textOf(value: number): string {
  if (!Number.isFinite(value)) return 'not finite';
  const [digits = '', exponent = '0'] = value.toExponential(NUMBER_DIGITS - 1).split('e');
  const sign = digits.startsWith('-') ? '-' : '';
  const significant = digits.replace(/[-.]/g, '');
  const point = 1 + Number(exponent);
  const whole = point > 0 ? significant.slice(0, point).padEnd(point, '0') : '0';
  const fraction = `${'0'.repeat(Math.max(0, -point))}${significant.slice(Math.max(0, point))}`.slice(0, DECIMALS);
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
