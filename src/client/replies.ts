/**
 * Replies of the service, typed (wire.md 7, 8). Amounts in human units stay decimal strings, exactly as sent; raw book
 * integers are numbers (safe by contract); nanoseconds are bigints.
 *
 * Every reader throws RingbookError INVALID_RESPONSE when a member required by wire.md is missing or of another type;
 * unknown members are ignored, so that a newer service can add some.
 */

import { isJsonObject, JsonFraction, type JsonObject, type JsonValue, MemberReader } from '../codec/json-tree.ts';
import type { BookDecimals } from '../core/arithmetic.ts';
import type { SideWord } from './canonical.ts';
import { invalidResponse, malformed } from './errors.ts';

/** The reply to create, replace and cancel. `Received` means accepted, not filled. */
export interface OperationResponse {
  readonly orderId: string;
  readonly status: 'Received' | 'Rejected';
  readonly reason: string | null;
  readonly processedAtNs: bigint | null;
  /** Why an action over `/control` was rejected; absent in all other replies. */
  readonly detail?: RejectionDetail;
  /** Only on request. */
  readonly timing?: ActionTiming;
}

/** Why an action was rejected. */
export interface RejectionDetail {
  /** An error code, as in an error envelope. */
  readonly code: string;
  /** The invalid member; null if it is not one member. */
  readonly field: string | null;
  /** For people; may change. */
  readonly message: string;
  /** Of an amend made for another revision: the one of the order, null if it was not changed since its create. */
  readonly authorizationRevision?: bigint | null;
}

/** When an action passed each hop, on the node's clock; null for a hop it did not reach. */
export interface ActionTiming {
  readonly receivedNs: bigint;
  readonly verifiedNs: bigint | null;
  readonly sentNs: bigint | null;
  readonly matchedNs: bigint | null;
  readonly answeredNs: bigint;
}

/** The result for one order of a batch. */
export interface BatchResult {
  readonly orderId: string;
  readonly status: 'Received' | 'Rejected';
  /** An error code in PascalCase, null if the order was received. */
  readonly reason: string | null;
}

export interface Market extends BookDecimals {
  readonly assetId: string;
  readonly tickSize: string;
  readonly minOrderSize: string;
  /** 1e-6 of notional; the maker's may be negative. */
  readonly makerFeeRate: number;
  readonly takerFeeRate: number;
  readonly status: string;
}

export interface OrderRecord {
  readonly orderId: string;
  readonly assetId: string;
  readonly side: SideWord;
  readonly limitPrice: string | null;
  readonly quantity: string | null;
  /** USD of an order that is sized in quote. */
  readonly amount: string | null;
  readonly triggerAbovePrice: string | null;
  readonly triggerBelowPrice: string | null;
  readonly parentId: string | null;
  readonly confirmedFilledQuantity: string;
  readonly pendingFilledQuantity: string;
  /** USD for the filled quantities, without fees: divided by them, the average price. */
  readonly confirmedFilledAmount: string;
  readonly pendingFilledAmount: string;
  /** USD, negative is a rebate. */
  readonly confirmedTradingFees: string;
  readonly pendingTradingFees: string;
  readonly isReduceOnly: boolean;
  readonly goodUntilNs: bigint | null;
  readonly status: string;
  readonly timestampNs: bigint;
}

export interface UserTrade {
  readonly assetId: string;
  readonly orderId: string;
  readonly tradeId: number;
  readonly price: string;
  readonly quantity: string;
  readonly timestampNs: bigint;
  readonly isMaker: boolean;
  readonly isBuyer: boolean;
  readonly status: 'Pending' | 'Confirmed' | 'Rollbacked';
  readonly rollbackReason: string | null;
  /** USD, negative is a rebate; null if the service omitted it. */
  readonly tradingFee: string | null;
  /** The node sold or bought for an account below its maintenance margin: yours or the counterparty's. */
  readonly isLiquidation: boolean;
  /** Your position was closed against the backstop, outside of the book and without a fee. */
  readonly isAutoDeleverage: boolean;
  readonly subAccount: number;
}

export interface PublicTrade {
  readonly assetId: string;
  readonly tradeId: number;
  readonly price: string;
  readonly quantity: string;
  readonly timestampNs: bigint;
  readonly buyerIsMaker: boolean;
}

/** One price level, human decimals. In a diff quantity `"0"` removes the level. */
export interface DepthLevel {
  readonly price: string;
  readonly quantity: string;
}

export interface Depth {
  /** Best first in a snapshot: asks ascending, bids descending. */
  readonly asks: readonly DepthLevel[];
  readonly bids: readonly DepthLevel[];
  readonly sequenceNumber: number;
}

export interface Kline {
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  /** Quote notional. */
  readonly volume: string;
  readonly openTimestampNs: bigint;
  readonly closeTimestampNs: bigint;
}

export interface Ticker {
  readonly assetId: string;
  readonly lastPrice: string | null;
  readonly open: string | null;
  readonly high: string | null;
  readonly low: string | null;
  readonly volume: string;
  readonly priceChange: string | null;
  readonly priceChangePercent: string | null;
  readonly timestampNs: bigint;
  /** USD: the last trade, or the oracle price when that is older than a minute; null without a stored price. */
  readonly markPrice: string | null;
  /** The oracle price, USD. */
  readonly indexPrice: string | null;
  readonly bestBid: DepthLevel | null;
  readonly bestAsk: DepthLevel | null;
  /** Null for a market that never had a position. */
  readonly openInterest: OpenInterest | null;
}

/** Credits and borrows of an asset over all margin positions, in its units. */
export interface OpenInterest {
  readonly long: string;
  readonly short: string;
  /** When either changed last. */
  readonly timestampNs: bigint;
}

/** A page of the envelopes of wire.md 6.2. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly limit: number;
  /** Null on the last page. */
  readonly nextPage: number | null;
}

export interface KlinePage extends Page<Kline> {
  /** Seconds; null when no interval was asked for. */
  readonly width: number | null;
  /** Rows that open before it are missing here; null when nothing older was traded, or no interval was asked for. */
  readonly truncatedBeforeNs: bigint | null;
}

export type Inventory = ReadonlyMap<number, SubAccount>;
export interface SubAccount {
  readonly kind: string;
  readonly name: string;
  /** Asset id to human decimal. */
  readonly spot: ReadonlyMap<string, string>;
}

const SAFE_MAX = Number.MAX_SAFE_INTEGER;

/** Reads one object with `read` and throws INVALID_RESPONSE for `what` when a member is invalid. */
export function readObject<T>(value: JsonValue, what: string, read: (reader: MemberReader) => T): T {
  if (!isJsonObject(value)) throw invalidResponse(what, 'expected an object');
  const reader = new MemberReader(value);
  const result = read(reader);
  const fault = reader.finish('skip');
  if (fault !== null) throw malformed(what, fault);
  return result;
}

export function readArray<T>(value: JsonValue, what: string, read: (item: JsonValue) => T): readonly T[] {
  if (!Array.isArray(value)) throw invalidResponse(what, 'expected an array');
  return (value as readonly JsonValue[]).map(read);
}

export function stringOrNull(reader: MemberReader, name: string): string | null {
  return reader.has(name) ? reader.string(name) : null;
}

export function choice<T extends string>(reader: MemberReader, name: string, choices: readonly T[]): T {
  const word = reader.string(name);
  const found = choices.find((candidate) => candidate === word);
  return found ?? reader.fail(name, `expected one of ${choices.join(', ')}`, choices[0] as T);
}

export function readOperationResponse(value: JsonValue): OperationResponse {
  return readObject(value, 'operation response', (reader) => ({
    orderId: reader.string('order_id'),
    status: choice(reader, 'status', ['Received', 'Rejected']),
    reason: stringOrNull(reader, 'reason'),
    processedAtNs: reader.has('processed_at_ns') ? reader.u64('processed_at_ns') : null,
    ...(reader.has('detail') ? { detail: readDetail(reader.value('detail') ?? null) } : {}),
    ...(reader.has('timing') ? { timing: readTiming(reader.value('timing') ?? null) } : {}),
  }));
}

function readDetail(value: JsonValue): RejectionDetail {
  return readObject(value, 'detail', (reader) => ({
    code: reader.string('code'),
    field: stringOrNull(reader, 'field'),
    message: reader.string('message'),
    ...(reader.has('authorization_revision') || reader.isNull('authorization_revision')
      ? { authorizationRevision: u64OrNull(reader, 'authorization_revision') }
      : {}),
  }));
}

function u64OrNull(reader: MemberReader, name: string): bigint | null {
  return reader.isNull(name) ? null : reader.u64(name);
}

function readTiming(value: JsonValue): ActionTiming {
  return readObject(value, 'timing', (reader) => ({
    receivedNs: reader.u64('received_ns'),
    verifiedNs: u64OrNull(reader, 'verified_ns'),
    sentNs: u64OrNull(reader, 'sent_ns'),
    matchedNs: u64OrNull(reader, 'matched_ns'),
    answeredNs: reader.u64('answered_ns'),
  }));
}

/** The reply to a batch over REST, in the order of its actions. */
export function readBatchResults(value: JsonValue): readonly BatchResult[] {
  return readObject(value, 'batch reply', (reader) =>
    reader.array('results').map((item) =>
      readObject(
        item,
        'result',
        (result): BatchResult => ({
          orderId: result.string('order_id'),
          status: choice(result, 'status', ['Received', 'Rejected']),
          reason: stringOrNull(result, 'reason'),
        }),
      ),
    ),
  );
}

/** The reply to a dead-man timer: when it expires. */
export function readFiresAt(value: JsonValue): bigint | null {
  return readObject(value, 'cancel-all-after reply', (reader) => u64OrNull(reader, 'fires_at_ns'));
}

export function readMarket(value: JsonValue): Market {
  return readObject(value, 'market', (reader) => ({
    assetId: reader.string('asset_id'),
    priceDecimals: reader.integer('book_price_decimals', -128, 127),
    quantityDecimals: reader.integer('book_quantity_decimals', -128, 127),
    tickSize: reader.string('tick_size'),
    minOrderSize: reader.string('min_order_size'),
    makerFeeRate: reader.integer('maker_fee_rate', -SAFE_MAX, SAFE_MAX),
    takerFeeRate: reader.integer('taker_fee_rate', 0, SAFE_MAX),
    status: reader.string('status'),
  }));
}

export function readOrderRecord(value: JsonValue): OrderRecord {
  return readObject(value, 'order record', (reader) => ({
    orderId: reader.string('order_id'),
    assetId: reader.string('base_asset'),
    side: choice(reader, 'side', ['Buy', 'Sell']),
    limitPrice: stringOrNull(reader, 'limit_price'),
    quantity: stringOrNull(reader, 'quantity'),
    amount: stringOrNull(reader, 'amount'),
    triggerAbovePrice: stringOrNull(reader, 'trigger_above_price'),
    triggerBelowPrice: stringOrNull(reader, 'trigger_below_price'),
    parentId: stringOrNull(reader, 'parent_id'),
    confirmedFilledQuantity: reader.string('confirmed_filled_quantity'),
    pendingFilledQuantity: reader.string('pending_filled_quantity'),
    confirmedFilledAmount: reader.string('confirmed_filled_amount'),
    pendingFilledAmount: reader.string('pending_filled_amount'),
    confirmedTradingFees: reader.string('confirmed_trading_fees_amount'),
    pendingTradingFees: reader.string('pending_trading_fees_amount'),
    isReduceOnly: reader.has('is_reduce_only') && reader.boolean('is_reduce_only'),
    goodUntilNs: reader.has('good_until_timestamp_ns') ? reader.u64('good_until_timestamp_ns') : null,
    status: reader.string('status'),
    timestampNs: reader.u64('timestamp_ns'),
  }));
}

export function readUserTrade(value: JsonValue): UserTrade {
  return readObject(value, 'user trade', (reader) => ({
    assetId: reader.string('asset_id'),
    orderId: reader.string('order_id'),
    tradeId: reader.integer('trade_id', 0, SAFE_MAX),
    price: reader.string('price'),
    quantity: reader.string('quantity'),
    timestampNs: reader.u64('timestamp_ns'),
    isMaker: reader.boolean('is_maker'),
    isBuyer: reader.boolean('is_buyer'),
    status: choice(reader, 'status', ['Pending', 'Confirmed', 'Rollbacked']),
    rollbackReason: stringOrNull(reader, 'rollback_reason'),
    tradingFee: stringOrNull(reader, 'trading_fee'),
    isLiquidation: reader.has('is_liquidation') && reader.boolean('is_liquidation'),
    isAutoDeleverage: reader.has('is_auto_deleverage') && reader.boolean('is_auto_deleverage'),
    subAccount: reader.has('sub_account') ? reader.integer('sub_account', 0, 255) : 0,
  }));
}

export function readPublicTrade(value: JsonValue): PublicTrade {
  return readObject(value, 'trade', (reader) => ({
    assetId: reader.string('asset_id'),
    tradeId: reader.integer('trade_id', 0, SAFE_MAX),
    price: reader.string('price'),
    quantity: reader.string('quantity'),
    timestampNs: reader.u64('timestamp_ns'),
    buyerIsMaker: reader.boolean('buyer_is_maker'),
  }));
}

export interface PublicTradeEvent {
  readonly status: 'Pending' | 'Confirmed' | 'Rollbacked';
  readonly trade: PublicTrade;
}

/** @returns null for a tag unknown to this version. */
export function readPublicTradeEvent(value: JsonValue): PublicTradeEvent | null {
  if (!isJsonObject(value) || value.size !== 1) throw invalidResponse('trade event', 'expected one tag');
  const [[status, trade] = ['', null]] = value;
  if (status !== 'Pending' && status !== 'Confirmed' && status !== 'Rollbacked') return null;
  return { status, trade: readPublicTrade(trade) };
}

export function readDepth(value: JsonValue): Depth {
  return readObject(value, 'depth', (reader) => ({
    asks: reader.array('asks').map(readLevel),
    bids: reader.array('bids').map(readLevel),
    sequenceNumber: reader.integer('sequence_number', 0, SAFE_MAX),
  }));
}

function readLevel(value: JsonValue): DepthLevel {
  if (!Array.isArray(value) || value.length !== 2) throw invalidResponse('depth', 'a level is [price, quantity]');
  return { price: decimalText(value[0]), quantity: decimalText(value[1]) };
}

/** A JSON number exactly as written, or the string that represents one (G8). */
function decimalText(value: JsonValue | undefined): string {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof JsonFraction) return value.text;
  if (typeof value === 'string') return value;
  throw invalidResponse('depth', 'expected a number');
}

export function readKline(value: JsonValue): Kline {
  return readObject(value, 'kline', (reader) => ({
    open: reader.string('open'),
    high: reader.string('high'),
    low: reader.string('low'),
    close: reader.string('close'),
    volume: reader.string('volume'),
    openTimestampNs: reader.u64('open_timestamp_ns'),
    closeTimestampNs: reader.u64('close_timestamp_ns'),
  }));
}

export function readTicker(value: JsonValue): Ticker {
  return readObject(value, 'ticker', (reader) => ({
    assetId: reader.string('asset_id'),
    lastPrice: stringOrNull(reader, 'last_price'),
    open: stringOrNull(reader, 'open'),
    high: stringOrNull(reader, 'high'),
    low: stringOrNull(reader, 'low'),
    volume: reader.string('volume'),
    priceChange: stringOrNull(reader, 'price_change'),
    priceChangePercent: stringOrNull(reader, 'price_change_percent'),
    timestampNs: reader.u64('timestamp_ns'),
    markPrice: stringOrNull(reader, 'mark_price'),
    indexPrice: stringOrNull(reader, 'index_price'),
    bestBid: bestLevel(reader, 'best_bid'),
    bestAsk: bestLevel(reader, 'best_ask'),
    openInterest: reader.has('open_interest') ? readInterest(reader.object('open_interest')) : null,
  }));
}

/** `{"price","size"}` or null. */
export function bestLevel(reader: MemberReader, name: string): DepthLevel | null {
  if (!reader.has(name)) return null;
  return readObject(reader.object(name), name, (level) => ({
    price: level.string('price'),
    quantity: level.string('size'),
  }));
}

function readInterest(value: JsonValue): OpenInterest {
  return readObject(value, 'open interest', (reader) => ({
    long: reader.string('long'),
    short: reader.string('short'),
    timestampNs: reader.u64('timestamp_ns'),
  }));
}

/** A row of `/openinterest`: its asset, and null for a market that never had a position. */
export function readOpenInterest(value: JsonValue): {
  readonly assetId: string;
  readonly interest: OpenInterest | null;
} {
  return readObject(value, 'open interest', (reader) => ({
    assetId: reader.string('asset_id'),
    interest: ['long', 'short', 'timestamp_ns'].every((name) => reader.has(name)) ? readInterest(value) : null,
  }));
}

/** @param listKey `orders`, `trades` or `items`. */
export function readPage<T>(value: JsonValue, listKey: string, read: (item: JsonValue) => T): Page<T> {
  return readObject(value, 'page', (reader) => ({
    items: reader.array(listKey).map(read),
    page: reader.integer('page', 0, SAFE_MAX),
    limit: reader.integer('limit', 0, SAFE_MAX),
    nextPage: reader.has('next_page') ? reader.integer('next_page', 0, SAFE_MAX) : null,
  }));
}

export function readKlinePage(value: JsonValue): KlinePage {
  const page = readPage(value, 'items', readKline);
  return readObject(value, 'page', (reader) => ({
    ...page,
    width: reader.has('interval_s') ? reader.integer('interval_s', 1, SAFE_MAX) : null,
    truncatedBeforeNs: reader.has('truncated_before_ns') ? reader.u64('truncated_before_ns') : null,
  }));
}

export function readInventory(value: JsonValue): Inventory {
  const accounts = readObject(value, 'inventory', (reader) => reader.object('accounts'));
  return new Map([...accounts].map(([index, account]) => [Number(index), readSubAccount(account)]));
}

function readSubAccount(value: JsonValue): SubAccount {
  return readObject(value, 'sub-account', (reader) => ({
    kind: reader.string('kind'),
    name: reader.string('name'),
    spot: readBalances(reader.object('spot')),
  }));
}

function readBalances(balances: JsonObject): ReadonlyMap<string, string> {
  return new Map(
    [...balances].map(([asset, amount]) => {
      if (typeof amount !== 'string') throw invalidResponse('inventory', 'a balance is a decimal string');
      return [asset, amount];
    }),
  );
}
