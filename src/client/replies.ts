/**
 * Replies of the service, typed (wire.md 7, 8). Amounts in human units stay decimal strings, exactly as sent; raw book
 * integers are numbers (safe by contract); nanoseconds are bigints.
 *
 * Every reader throws RingbookError INVALID_RESPONSE when a member required by wire.md is missing or of another type;
 * unknown members are ignored, so that a newer service can add some.
 */

import { isJsonObject, JsonFraction, type JsonValue } from '../codec/json-tree.ts';
import type {
  BatchResult,
  DepthLevel,
  Inventory,
  Kline,
  Market,
  OpenInterest,
  OperationResponse,
  OrderRecord,
  PublicTrade,
  QuoteSetResponse,
  RejectionDetail,
  Ticker,
  UserTrade,
} from '../codec/reply-types.ts';
import { INVENTORY } from '../codec/shapes/account-shapes.ts';
import { BEST_LEVEL, KLINE, OPEN_INTEREST, PUBLIC_TRADE, TICKER } from '../codec/shapes/market-data-shapes.ts';
import { ORDER_RECORD } from '../codec/shapes/order-record-shapes.ts';
import {
  BATCH_RESPONSE,
  CANCEL_ALL_AFTER_RESPONSE,
  OPERATION_RESPONSE,
  QUOTE_SET_RESPONSE,
  REJECTION_DETAIL,
  USER_TRADE,
} from '../codec/shapes/order-reply-shapes.ts';
import { MARKET } from '../codec/shapes/registry-shapes.ts';
import { nullable } from '../codec/shapes/shape-kit.ts';
import { invalidResponse } from './errors.ts';
import { readObject } from './read-members.ts';
import { replyReader } from './reply-reader.ts';

export type {
  ActionTiming,
  BatchResult,
  DepthLevel,
  Inventory,
  Kline,
  Market,
  OpenInterest,
  OperationResponse,
  OrderRecord,
  PublicTrade,
  QuoteSetResponse,
  RejectionDetail,
  SubAccount,
  Ticker,
  UserTrade,
} from '../codec/reply-types.ts';

type Reader<T> = (value: JsonValue) => T;

export interface Depth {
  /** Best first in a snapshot: asks ascending, bids descending. */
  readonly asks: readonly DepthLevel[];
  readonly bids: readonly DepthLevel[];
  readonly sequenceNumber: number;
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

const SAFE_MAX = Number.MAX_SAFE_INTEGER;

const readOperation = replyReader('operation response', OPERATION_RESPONSE);
const readDetail = replyReader('detail', REJECTION_DETAIL);

export function readOperationResponse(value: JsonValue): OperationResponse {
  const { timing, ...response } = readOperation(value);
  const detail = isJsonObject(value) ? (value.get('detail') ?? null) : null;
  return {
    ...response,
    ...(detail === null ? {} : { detail: detailOf(detail) }),
    ...(timing === null ? {} : { timing }),
  };
}

const readQuotes = replyReader('quote set response', QUOTE_SET_RESPONSE);

export function readQuoteSetResponse(value: JsonValue): QuoteSetResponse {
  const { timing, ...response } = readQuotes(value);
  const detail = isJsonObject(value) ? (value.get('detail') ?? null) : null;
  return {
    ...response,
    ...(detail === null ? {} : { detail: detailOf(detail) }),
    ...(timing === null ? {} : { timing }),
  };
}

/** A revision is a member of one rejection only. */
function detailOf(value: JsonValue): Required<RejectionDetail> | Omit<RejectionDetail, 'authorizationRevision'> {
  const { authorizationRevision, ...detail } = readDetail(value);
  const isOfAmend = isJsonObject(value) && value.has('authorization_revision');
  return isOfAmend ? { ...detail, authorizationRevision } : detail;
}

const readBatch = replyReader('batch reply', BATCH_RESPONSE);
const readTimer = replyReader('cancel-all-after reply', CANCEL_ALL_AFTER_RESPONSE);

/** The reply to a batch over REST, in the order of its actions. */
export function readBatchResults(value: JsonValue): readonly BatchResult[] {
  return readBatch(value).results;
}

/** The reply to a dead-man timer: when it expires. */
export function readFiresAt(value: JsonValue): bigint | null {
  return readTimer(value).firesAtNs;
}

export const readMarket: Reader<Market> = replyReader('market', MARKET);
export const readOrderRecord: Reader<OrderRecord> = replyReader('order record', ORDER_RECORD);
export const readUserTrade: Reader<UserTrade> = replyReader('user trade', USER_TRADE);
export const readPublicTrade: Reader<PublicTrade> = replyReader('trade', PUBLIC_TRADE);
export const readKline: Reader<Kline> = replyReader('kline', KLINE);
export const readTicker: Reader<Ticker> = replyReader('ticker', TICKER);
/** `{"price","size"}` or null. */
export const readBestLevel: Reader<DepthLevel | null> = replyReader('best level', nullable(BEST_LEVEL));

const readInterest = replyReader('open interest', OPEN_INTEREST);

/** A row of `/openinterest`: its asset, and null for a market that never had a position. */
export function readOpenInterest(value: JsonValue): {
  readonly assetId: string;
  readonly interest: OpenInterest | null;
} {
  const { assetId, long, short, timestampNs } = readInterest(value);
  const isKnown = long !== null && short !== null && timestampNs !== null;
  return { assetId, interest: isKnown ? { long, short, timestampNs } : null };
}

const readBalances = replyReader('inventory', INVENTORY);

export function readInventory(value: JsonValue): Inventory {
  return readBalances(value).accounts;
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
