/** Quote sets as a client of the wire sends them, with texts written from the contract alone (wire-additions 16). */
import type { HttpAnswer } from './edge-client.ts';
import type { PlainClient } from './plain-client.ts';

export type Quotes = readonly (readonly [price: number, quantity: number])[];

export interface QuoteWords {
  readonly bids?: Quotes;
  readonly asks?: Quotes;
  readonly id?: string;
  readonly revision?: bigint;
  readonly account?: number;
  readonly isSpot?: boolean;
  readonly group?: string | null;
}

/** The answer to a set. */
export interface QuoteAnswer {
  readonly set_id: string;
  readonly revision: number;
  readonly status: string;
  readonly reason: string | null;
  readonly created: number;
  readonly changed: number;
  readonly kept: number;
  readonly cancelled: number;
  readonly refused: readonly { readonly side: string; readonly price: number; readonly reason: string }[];
  readonly superseded: boolean;
}

/** A signed set in market 2. */
export function quoteBody(client: PlainClient, words: QuoteWords): string {
  const {
    bids = [],
    asks = [],
    id = 'mm',
    revision = client.nowNs(),
    account = 0,
    isSpot = true,
    group = null,
  } = words;
  const pairs = (quotes: Quotes): string => `[${quotes.map(([price, lots]) => `[${price},${lots}]`).join(',')}]`;
  const text =
    `{"signer":"${client.id}","set_id":"${id}","base_asset":"2","book_price_decimals":2,"book_quantity_decimals":4,` +
    `"revision":${revision},"bids":${pairs(bids)},"asks":${pairs(asks)},` +
    `"target":{"account":${account},"is_spot":${isSpot}},"max_trading_fees_rate":50000,` +
    `"protection_group":${group === null ? 'null' : `"${group}"`},"good_until_timestamp_ns":null,"protocol_version":1}`;
  return `{"quotes":${text},"signature":${client.key.signature(text)},"post_sign_timestamp":${client.nowNs()}}`;
}

export function sendQuotes(client: PlainClient, body: string): Promise<HttpAnswer> {
  return client.send('PUT', '/orders/quotes', body);
}

/** `Received` or `Rejected` with its reason, then created, changed, kept and cancelled; of a refusal its status and code. */
export function quoteOutcome(answer: HttpAnswer): string {
  if (answer.status !== 200) {
    const { error } = JSON.parse(answer.text) as { readonly error: { readonly code: string } };
    return `${answer.status} ${error.code}`;
  }
  const { status, reason, created, changed, kept, cancelled } = JSON.parse(answer.text) as QuoteAnswer;
  return `${status}${reason === null ? '' : ` ${reason}`} ${created} ${changed} ${kept} ${cancelled}`;
}

/** Entries and orders of a user that rest or wait: id, price and quantity. */
export async function openOrders(client: PlainClient): Promise<readonly string[]> {
  const page = (await client.read(`/orders/user/${client.id}?open_only=true&limit=200`)) as {
    readonly orders: readonly { readonly order_id: string; readonly limit_price: string; readonly quantity: string }[];
  };
  return page.orders.map(({ order_id, limit_price, quantity }) => `${order_id} ${limit_price} ${quantity}`).sort();
}
