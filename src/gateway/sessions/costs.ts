/**
 * Costs of requests: names for routes, prices for operators (LIM-08 to LIM-15, AMB-104). Prices and budgets are in
 * milli-units, so that half a unit per item is exact; the price of a request is a whole number of units.
 */

/**
 * `action` any session request without a price of its own, `cancel` one signed cancel, `cancelAll` all orders of a user
 * or of a market, `deadMan` a dead-man timer, `bulk` this number of items in one request, `bulkCancel` this number of
 * cancels, `historyPage` a page of orders or trades, `publicRead` any request without a session. `furtherSignatures` of an
 * action beyond its first one, which costs as much to verify as another action: each is priced like one.
 */
export type Cost =
  | 'action'
  | 'cancel'
  | 'cancelAll'
  | 'deadMan'
  | 'historyPage'
  | 'publicRead'
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

/** The price of a request in milli-units (EX-13). */
export function priceOf(cost: Cost, prices: Prices): bigint {
  if (cost === 'deadMan') return prices.action;
  if (typeof cost === 'string') return prices[cost];
  if ('furtherSignatures' in cost) return BigInt(cost.furtherSignatures) * prices.action;
  const items = BigInt('bulk' in cost ? cost.bulk : cost.bulkCancel) * prices.bulkItem;
  // mutant: bulk-price
  const rounded = ((items + UNIT - 1n) / UNIT) * UNIT;
  return rounded > prices.bulkMinimum ? rounded : prices.bulkMinimum;
}
