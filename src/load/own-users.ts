/** Whether two existing users can trade in an existing market what a measurement sends, and what is missing. */
import type { RingbookClient } from '../client/client.ts';
import { format18, formatRaw, parseDecimal18, parseScaled } from '../core/decimal.ts';
import type { Flow, LoadMarket } from './plan.ts';

const ORDERS_PAGE = 1_000;
const ONE_18 = 10n ** 18n;
const USD = '0';
/** Fees and rounding, in percent of what is traded. */
const FEES_PERCENT = 6n;

/** What the runs of a measurement move. */
export interface Need {
  readonly flows: readonly Flow[];
  /** Orders that trade, of both users together. */
  readonly orders: number;
  /** The highest rate, orders per second. */
  readonly perSecond: number;
}

interface Book {
  readonly bid: bigint | null;
  readonly ask: bigint | null;
}

async function bookOf(client: RingbookClient, { assetId, priceDecimals }: LoadMarket): Promise<Book> {
  const { asks, bids } = await client.depth(assetId);
  const best = (levels: typeof asks): bigint | null => parseScaled(levels[0]?.price ?? '', priceDecimals);
  return { bid: best(bids), ask: best(asks) };
}

async function balance(client: RingbookClient, account: number, assetId: string): Promise<bigint> {
  const spot = (await client.inventory()).get(account)?.spot;
  return parseDecimal18(spot?.get(assetId) ?? '0') ?? 0n;
}

async function fundsMissing(
  [seller, buyer]: readonly [RingbookClient, RingbookClient],
  market: LoadMarket,
  { flows, orders }: Need,
): Promise<readonly string[]> {
  if (flows.length === 1 && flows[0] === 'margin') return [];
  const { assetId, account, price, quantity, priceDecimals, quantityDecimals } = market;
  const lots = BigInt(Math.ceil(orders / 2)) * BigInt(quantity);
  const base = (lots * ONE_18) / 10n ** BigInt(quantityDecimals);
  const quote = (lots * BigInt(price) * ONE_18) / 10n ** BigInt(quantityDecimals + priceDecimals);
  const needs = [
    { who: 'the seller (first key)', client: seller, asset: assetId, amount: base },
    { who: 'the buyer (second key)', client: buyer, asset: USD, amount: (quote * (100n + FEES_PERCENT)) / 100n },
  ];
  const faults: string[] = [];
  for (const { who, client, asset, amount } of needs) {
    const owned = await balance(client, account, asset);
    if (owned >= amount) continue;
    faults.push(`${who} needs ${format18(amount)} of asset ${asset} in account ${account} and has ${format18(owned)}`);
  }
  return faults;
}

async function budgetMissing(client: RingbookClient, who: string, perSecond: number): Promise<string | null> {
  const { unitsPerSecond, costs, tier } = await client.limits();
  const allowed = Math.floor(unitsPerSecond / Number(costs['action'] ?? 1));
  if (perSecond <= allowed) return null;
  return `${who} may send ${allowed} orders a second (tier ${tier}); ${perSecond} orders a second need an operator who raises the limit, or lower --rates`;
}

/** @returns one line for everything that is missing; none when the measurement can begin. */
export async function missing(
  pair: readonly [RingbookClient, RingbookClient],
  market: LoadMarket,
  need: Need,
): Promise<readonly string[]> {
  const [seller, buyer] = pair;
  if (seller.userId === buyer.userId) return ['the two keys are of one user: its orders would trade with themselves'];
  const faults: string[] = [];
  for (const [client, who] of [
    [seller, 'the seller (first key)'],
    [buyer, 'the buyer (second key)'],
  ] as const) {
    const { items } = await client.orders({ openOnly: true, limit: ORDERS_PAGE });
    const open = items.filter(({ assetId }) => assetId === market.assetId).length;
    if (open > 0) faults.push(`${who} has ${open} open orders in market ${market.assetId}: all are cancelled by a run`);
    const budget = await budgetMissing(client, who, need.perSecond);
    if (budget !== null) faults.push(budget);
  }
  const { bid, ask } = await bookOf(buyer, market);
  const price = BigInt(market.price);
  const text = formatRaw(market.price, market.priceDecimals);
  if (bid !== null && bid >= price)
    faults.push(`--price ${text} is not above the best bid: the orders of others would trade`);
  if (ask !== null && ask <= price)
    faults.push(`--price ${text} is not below the best ask: the orders of others would trade`);
  return [...faults, ...(await fundsMissing(pair, market, need))];
}
