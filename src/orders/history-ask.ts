/**
 * What a page needs of the tables, as a question that can be answered on another thread, and the answer.
 *
 *   pages.ts ── HistoryAsk ─▶ whoever has the tables ─▶ answerHistory ── HistoryAnswer ─▶ pages.ts merges
 *
 * Both are plain values. An answer holds rows as `T`: records, or already their JSON.
 */
import { must } from '../core/assert.ts';
import type { AssetId, OrderId } from '../core/ids.ts';
import { FILL_STATUS, SIDE } from '../core/order-terms.ts';
import { type OrderRecordView, orderRecord } from '../wire/order-record.ts';
import { userTrade } from '../wire/user-trade.ts';
import type { UserTrade } from './order-events.ts';
import type { HistoryQuery, HistorySnapshot, HistoryTrade } from './order-history.ts';
import { recordOfRow } from './order-record.ts';

/** Orders in memory that the tables may have as finished: columns, an order has one index in all of them. */
export interface OrderDoubts {
  readonly marketIndexes: Int32Array;
  /** 0: a create on its way, in the tables if its id is. */
  readonly sequences: Float64Array;
  /** Only tables that know more of the market than this can know the order as finished. */
  readonly heard: Float64Array;
  readonly orderIds: readonly OrderId[];
}

interface Window {
  readonly query: HistoryQuery;
  readonly offset: number;
  readonly limit: number;
}

export type HistoryAsk =
  | (Window & { readonly kind: 'orders'; readonly doubts: OrderDoubts })
  /** `markets` are those of trades in memory. */
  | (Window & { readonly kind: 'trades'; readonly markets: readonly number[] });

/** What orders are sorted by: timestamp and id, both descending (PAG-02). */
export interface OrderPlace {
  readonly timeNs: bigint;
  readonly name: string;
  readonly marketIndex: number;
  readonly sequence: number;
}

/** What trades are sorted by: match time and id, both descending, then the asset (PAG-03, AMB-35). */
export interface TradePlace {
  readonly timeNs: bigint;
  readonly tradeId: number;
  readonly assetId: AssetId;
  readonly isMaker: boolean;
}

export interface Placed<Place, T> {
  readonly place: Place;
  readonly value: T;
}

export interface OrderAnswer<T> {
  readonly kind: 'orders';
  readonly total: number;
  readonly rows: readonly Placed<OrderPlace, T>[];
  /** Which doubts are in the tables, by their index. */
  readonly inTables: readonly number[];
}

export interface TradeAnswer<T> {
  readonly kind: 'trades';
  readonly total: number;
  readonly rows: readonly Placed<TradePlace, T>[];
  /** Trades up to this id are in the tables, market by market as asked. */
  readonly lastTradeIds: readonly number[];
}

export type HistoryAnswer<T> = OrderAnswer<T> | TradeAnswer<T>;

/** How rows are shown. */
export interface Show<T> {
  order(view: OrderRecordView): T;
  trade(trade: UserTrade): T;
}

/** As the wire has them. */
export const AS_JSON: Show<string> = { order: orderRecord, trade: userTrade };

/** Answers from one version of the tables. */
export function answerHistory<T>(snapshot: HistorySnapshot, ask: HistoryAsk, show: Show<T>): HistoryAnswer<T> {
  return ask.kind === 'orders' ? answerOrders(snapshot, ask, show) : answerTrades(snapshot, ask, show);
}

function answerOrders<T>(
  snapshot: HistorySnapshot,
  { query, offset, limit, doubts }: Extract<HistoryAsk, { kind: 'orders' }>,
  show: Show<T>,
): OrderAnswer<T> {
  const { rows, total } = snapshot.finishedOrders(query, offset, limit);
  return {
    kind: 'orders',
    total,
    rows: rows.map((row) => ({
      place: {
        timeNs: row.timestampNs,
        name: row.orderId,
        marketIndex: row.marketIndex,
        sequence: row.orderSequence,
      },
      value: show.order(recordOfRow(row, snapshot.definition(row.marketIndex))),
    })),
    inTables: [...doubts.marketIndexes.keys()].filter((index) => isInTables(snapshot, query, doubts, index)),
  };
}

function isInTables(
  snapshot: HistorySnapshot,
  { user }: HistoryQuery,
  { marketIndexes, sequences, heard, orderIds }: OrderDoubts,
  index: number,
): boolean {
  const marketIndex = marketIndexes[index] ?? 0;
  const sequence = sequences[index] ?? 0;
  const orderId = must(orderIds[index], 'a doubt is about an order with an id');
  if (sequence === 0) return snapshot.findOrder(user, marketIndex, orderId) !== undefined;
  if (snapshot.marketSequence(marketIndex) <= (heard[index] ?? 0)) return false;
  return snapshot.isFinished(user, marketIndex, orderId, sequence);
}

function answerTrades<T>(
  snapshot: HistorySnapshot,
  { query, offset, limit, markets }: Extract<HistoryAsk, { kind: 'trades' }>,
  show: Show<T>,
): TradeAnswer<T> {
  const { rows, total } = snapshot.trades(query, offset, limit);
  return {
    kind: 'trades',
    total,
    rows: rows.map((entry) => {
      const trade = tradeOfRow(snapshot, entry);
      return { place: placeOfTrade(trade), value: show.trade(trade) };
    }),
    lastTradeIds: markets.map((marketIndex) => snapshot.lastTradeId(marketIndex)),
  };
}

export function placeOfTrade({ timestampNs, tradeId, assetId, isMaker }: UserTrade): TradePlace {
  return { timeNs: timestampNs, tradeId, assetId, isMaker };
}

function tradeOfRow(snapshot: HistorySnapshot, { row, isMaker }: HistoryTrade): UserTrade {
  const definition = snapshot.definition(row.marketIndex);
  const side = isMaker ? row.maker : row.taker;
  return {
    assetId: definition.assetId,
    tradeId: row.tradeId,
    orderId: side.orderId,
    subAccount: side.subAccount,
    price: row.price,
    quantity: row.quantity,
    priceDecimals: definition.priceDecimals,
    quantityDecimals: definition.quantityDecimals,
    timestampNs: row.matchedNs,
    isMaker,
    isBuyer: isMaker === (row.takerSide === SIDE.sell),
    status: FILL_STATUS.confirmed,
    rollbackReason: null,
    isLiquidation: row.isLiquidation,
    isAutoDeleverage: row.isAutoDeleverage,
    fee: side.fee,
  };
}
