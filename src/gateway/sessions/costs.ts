/**
 * Costs of requests: names for routes, prices for operators (LIM-08 to LIM-15, AMB-104). Prices and budgets are in
 * milli-units, so that half a unit per item is exact; the price of a request is a whole number of units.
 */
import { larger } from '../../core/arithmetic.ts';

/**
 * `action` any session request without a price of its own, `cancel` one signed cancel, `cancelAll` all orders of a user
 * or of a market, `deadMan` a dead-man timer, `bulk` this number of items in one request, `bulkCancel` this number of
 * cancels, `quotes` a quote set, and `furtherQuotes` so many entries of one that adds, `historyPage` a page of orders or
 * trades, `publicRead` any request without a session. `furtherSignatures` of an action beyond its first one, which costs as
 * much to verify as another action: each is priced like one.
 */
export type Cost =
  | 'action'
  | 'cancel'
  | 'cancelAll'
  | 'deadMan'
  | 'quotes'
  | 'historyPage'
  | 'publicRead'
  | { readonly furtherQuotes: number }
  | { readonly furtherSignatures: number }
  | { readonly bulk: number }
  | { readonly bulkCancel: number };

/** Whether the request cancels orders, now or later. */
export function isCancelCost(cost: Cost): boolean {
  return typeof cost === 'string'
    ? cost === 'cancel' || cost === 'cancelAll' || cost === 'deadMan'
    : 'bulkCancel' in cost;
}

/** Milli-units, each 0 or more. */
export interface Prices {
  readonly action: bigint;
  readonly cancel: bigint;
  readonly cancelAll: bigint;
  /** One item of a bulk; the sum is rounded up to whole units. */
  readonly bulkItem: bigint;
  readonly bulkMinimum: bigint;
  readonly historyPage: bigint;
  readonly publicRead: bigint;
}

/** Prices by their names in operator-api.md 4.8, in its order. */
export const PRICE_NAMES: readonly (readonly [keyof Prices, string])[] = [
  ['action', 'action'],
  ['cancel', 'cancel'],
  ['cancelAll', 'cancel_all'],
  ['bulkItem', 'bulk_item'],
  ['bulkMinimum', 'bulk_minimum'],
  ['historyPage', 'history_page'],
  ['publicRead', 'public_read'],
];

/** One unit in milli-units. */
export const UNIT = 1_000n;

export const STANDARD_PRICES: Prices = {
  action: 2n * UNIT,
  cancel: UNIT,
  cancelAll: 50n * UNIT,
  bulkItem: 1_500n,
  bulkMinimum: 2n * UNIT,
  historyPage: 25n * UNIT,
  publicRead: 2n * UNIT,
};

/** As many entries of a quote set cost as much as an action: 0.1 units each at the standard price (QTE-10). */
const QUOTES_PER_ACTION = 20n;

/** The price of a request in milli-units (EX-13). */
export function priceOf(cost: Cost, prices: Prices): bigint {
  if (cost === 'deadMan' || cost === 'quotes') return prices.action;
  if (typeof cost === 'string') return prices[cost];
  if ('furtherQuotes' in cost) return wholeUnits((BigInt(cost.furtherQuotes) * prices.action) / QUOTES_PER_ACTION);
  if ('furtherSignatures' in cost) return BigInt(cost.furtherSignatures) * prices.action;
  const items = BigInt('bulk' in cost ? cost.bulk : cost.bulkCancel) * prices.bulkItem;
  // mutant: bulk-price
  const rounded = wholeUnits(items);
  return larger(rounded, prices.bulkMinimum);
}

function wholeUnits(milliUnits: bigint): bigint {
  return ((milliUnits + UNIT - 1n) / UNIT) * UNIT;
}
