/** What orders of tests say on the wire: details, triggers, tickets. Prices, quantities and quote amounts are raw integers. */

export type Tif = 'GTC' | 'POST' | 'IOC' | 'FOK' | { readonly gtd: bigint };

function tifText(tif: Tif): string {
  if (typeof tif === 'object') return `{"GTD":{"post_only":false,"timestamp_ns":${tif.gtd}}}`;
  if (tif === 'IOC' || tif === 'FOK') return `{"IOC":{"fill_or_kill":${tif === 'FOK'}}}`;
  return `{"GTC":{"post_only":${tif === 'POST'}}}`;
}

export function limit(price: number, quantity: number, tif: Tif = 'GTC'): string {
  return `{"Limit":{"limit_price":${price},"quantity":${quantity},"time_in_force":${tifText(tif)}}}`;
}

interface MarketTerms {
  readonly cap?: number;
  readonly isFok?: boolean;
}

/** Sized in base; the cap is a quote integer. */
export function marketBase(quantity: number, { cap, isFok = false }: MarketTerms = {}): string {
  const sized = `{"BaseAsset":{"quantity":${quantity},"max_sellable_amount":${cap ?? null}}}`;
  return `{"Market":{"quantity":${sized},"fill_or_kill":${isFok}}}`;
}

/** Sized in quote; the cap is a base quantity. */
export function marketQuote(amount: number, { cap, isFok = false }: MarketTerms = {}): string {
  const sized = `{"QuoteAsset":{"quantity":${amount},"max_sellable_quantity":${cap ?? null}}}`;
  return `{"Market":{"quantity":${sized},"fill_or_kill":${isFok}}}`;
}

export function above(price: number, parent: string | null = null): string {
  return triggerText('PriceAbove', price, parent);
}

export function below(price: number, parent: string | null = null): string {
  return triggerText('PriceBelow', price, parent);
}

function triggerText(condition: string, price: number, parent: string | null): string {
  const parentText = parent === null ? 'null' : `"${parent}"`;
  return `{"parent_order_id":${parentText},"condition":{"${condition}":{"price":${price}}}}`;
}

export interface Ticket {
  readonly asset?: string;
  readonly account?: number;
  /** Spot unless it is said otherwise. */
  readonly isSpot?: boolean;
  readonly isReduceOnly?: boolean;
  readonly trigger?: string;
  readonly id?: string;
  readonly maxFee?: number;
  readonly createdNs?: bigint;
  /** The signature is another one. */
  readonly isForged?: boolean;
}

export interface Change {
  readonly asset?: string;
  readonly price?: number;
  readonly quantity?: number;
  /** The bare condition. */
  readonly trigger?: string;
  readonly timestampNs?: bigint;
  /** What is signed in place of the request. */
  readonly signed?: string;
}
