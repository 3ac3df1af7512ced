/**
 * The JSON of public market data (wire.md 6.2, 8, 9.6), formatted from the figures of core/market-figures.ts.
 *
 * Everything is formatted from exact integers: a price or a quantity never passes through a double in human units, so a
 * depth number is exact to its last digit (G8) and so is a timestamp above 2^53.
 */
import { assert } from '../core/assert.ts';
import { format18, formatScaled } from '../core/decimal.ts';
import type { AssetId } from '../core/ids.ts';
import type {
  BookLevel,
  DepthLevels,
  InterestFigures,
  KlineFigures,
  KlineFiguresPage,
  MarketQuotes,
  QuotedTicker,
  TradeFigures,
  WidePage,
} from '../core/market-figures.ts';
import { SIDE } from '../core/order-terms.ts';
import type { Amount18, RawPrice } from '../core/units.ts';

/** The part of a market definition needed to format its figures. */
export interface MarketText {
  readonly assetId: AssetId;
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
}

const SECOND_NS = 1_000_000_000n;

/**
 * A raw book integer in human units, like formatRaw, but without a bigint: whole books are formatted.
 *
 * @param raw a safe integer, zero or more. @param decimals 0 … 18.
 */
export function rawText(raw: number, decimals: number): string {
  assert(raw >= 0 && Number.isSafeInteger(raw), 'rawText: a safe integer');
  const digits = String(raw);
  if (decimals === 0 || raw === 0) return digits;
  const padded = digits.padStart(decimals + 1, '0');
  const point = padded.length - decimals;
  let end = padded.length;
  while (end > point && padded.charCodeAt(end - 1) === 0x30) end -= 1;
  return end === point ? padded.slice(0, point) : `${padded.slice(0, point)}.${padded.slice(point, end)}`;
}

/** A depth snapshot or diff: all three keys, levels as `[price,quantity]` numbers. */
export function depthJson(market: MarketText, levels: DepthLevels): string {
  const asks = levelsJson(market, levels.asks);
  const bids = levelsJson(market, levels.bids);
  return `{"asks":[${asks}],"bids":[${bids}],"sequence_number":${levels.sequenceNumber}}`;
}

function levelsJson(market: MarketText, levels: readonly number[]): string {
  const texts: string[] = [];
  for (let index = 0; index + 1 < levels.length; index += 2) {
    const price = rawText(levels[index] ?? 0, market.priceDecimals);
    const quantity = rawText(levels[index + 1] ?? 0, market.quantityDecimals);
    texts.push(`[${price},${quantity}]`);
  }
  return texts.join(',');
}

/** @param width of the row in seconds. */
export function klineJson(market: MarketText, kline: KlineFigures, width = 1): string {
  const price = (raw: RawPrice): string => rawText(raw, market.priceDecimals);
  return (
    `{"open":"${price(kline.open)}","high":"${price(kline.high)}","low":"${price(kline.low)}",` +
    `"close":"${price(kline.close)}","volume":"${volumeText(market, kline.volume)}",` +
    `"open_timestamp_ns":${kline.openNs},"close_timestamp_ns":${kline.openNs + BigInt(width) * SECOND_NS}}`
  );
}

/** A frame of `/klines/diff/{asset_id}`: always an array (wire.md 9.3). */
export function klinesFrameJson(market: MarketText, rows: readonly KlineFigures[], width = 1): string {
  return `[${rows.map((row) => klineJson(market, row, width)).join(',')}]`;
}

/** The reply of `GET /klines/{asset_id}`. */
export function klinePageJson(market: MarketText, page: KlineFiguresPage): string {
  return `{${pageMembers(market, page, 1)}}`;
}

/** The reply to a request with an interval (wire-additions.md 7.3). */
export function widePageJson(market: MarketText, page: WidePage): string {
  const { width, truncatedBeforeNs } = page;
  return `{${pageMembers(market, page, width)},"interval_s":${width},"truncated_before_ns":${truncatedBeforeNs ?? 'null'}}`;
}

function pageMembers(market: MarketText, { rows, page, limit, total }: KlineFiguresPage, width: number): string {
  const totalPages = Math.ceil(total / limit);
  const hasNext = page + 1 < totalPages;
  return (
    `"items":${klinesFrameJson(market, rows, width)},"page":${page},"limit":${limit},"total_pages":${totalPages},` +
    `"cursor_size":${rows.length},"has_next_page":${hasNext},"next_page":${hasNext ? page + 1 : null}`
  );
}

/** `buyer_is_maker` is true when the taker sold. */
export function publicTradeJson(
  market: MarketText,
  trade: TradeFigures,
  status: 'Pending' | 'Confirmed' | 'Rollbacked' = 'Confirmed',
): string {
  return (
    `{"asset_id":"${market.assetId}","trade_id":${trade.tradeId},` +
    `"price":"${rawText(trade.price, market.priceDecimals)}",` +
    `"quantity":"${rawText(trade.quantity, market.quantityDecimals)}","timestamp_ns":${trade.matchedNs},` +
    `"buyer_is_maker":${trade.takerSide === SIDE.sell},"status":"${status}"}`
  );
}

/** The members of wire.md 8, and after them those of wire-additions.md 6.1. */
export function tickerJson(market: MarketText, { ticker, quotes }: QuotedTicker): string {
  const { day, lastPrice } = ticker;
  const price = (raw: RawPrice | undefined | null): string =>
    raw === undefined || raw === null ? 'null' : `"${rawText(raw, market.priceDecimals)}"`;
  const change =
    day === null || lastPrice === null
      ? 'null'
      : `"${formatScaled(BigInt(lastPrice) - BigInt(day.open), market.priceDecimals)}"`;
  const high = price(day?.high);
  const low = price(day?.low);
  const volume = volumeText(market, day?.volume ?? 0n);
  const percent = day === null ? 'null' : `"${formatScaled(day.changeMilliPercent, 3)}"`;
  return (
    `{"asset_id":"${market.assetId}","last_price":${price(lastPrice)},"open":${price(day?.open)},` +
    `"high":${high},"low":${low},"volume":"${volume}","price_change":${change},"price_change_percent":${percent},` +
    `"timestamp_ns":${ticker.asOfNs},"volume_24h":"${volume}","high_24h":${high},"low_24h":${low},` +
    `"price_change_24h":${change},"price_change_pct_24h":${percent},${quotesJson(market, quotes)}}`
  );
}

function quotesJson(market: MarketText, quotes: MarketQuotes): string {
  const { bestBid, bestAsk, openInterest } = quotes;
  const interest =
    openInterest === null
      ? 'null'
      : `{"long":"${format18(openInterest.long)}","short":"${format18(openInterest.short)}",` +
        `"timestamp_ns":${openInterest.changedNs}}`;
  return (
    `"mark_price":${amountOrNull(quotes.markPrice)},"index_price":${amountOrNull(quotes.indexPrice)},` +
    `"best_bid":${levelOrNull(market, bestBid)},"best_ask":${levelOrNull(market, bestAsk)},"open_interest":${interest}`
  );
}

/** `{"price","size"}` in human units. */
export function levelOrNull(market: MarketText, level: BookLevel | null): string {
  if (level === null) return 'null';
  const { priceDecimals, quantityDecimals } = market;
  return `{"price":"${rawText(level.price, priceDecimals)}","size":"${rawText(level.quantity, quantityDecimals)}"}`;
}

/** A decimal string of an 18-decimal amount, or null. */
export function amountOrNull(amount: Amount18 | null): string {
  return amount === null ? 'null' : `"${format18(amount)}"`;
}

/** A row of `/openinterest` (wire-additions.md 6.2). */
export function openInterestJson({ assetId }: MarketText, interest: InterestFigures | null): string {
  return (
    `{"asset_id":"${assetId}","long":${amountOrNull(interest?.long ?? null)},` +
    `"short":${amountOrNull(interest?.short ?? null)},"timestamp_ns":${interest?.changedNs ?? 'null'}}`
  );
}

export function volumeText(market: MarketText, volume: bigint): string {
  return formatScaled(volume, market.priceDecimals + market.quantityDecimals);
}
