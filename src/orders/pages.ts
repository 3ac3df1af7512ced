/**
 * Pages of orders and trades: memory and tables merged, newest first (QRY-01 to QRY-04, PAG-01 to PAG-03, AMB-105).
 *
 * The two overlap while a checkpoint is in the tables and not yet announced. Each thing is then taken from the tables:
 *
 *   trade     in the tables up to their last trade id of its market, else in memory
 *   finished  in the tables if they say so, which they can only up to their sequence of its market
 *   order     in memory, unless the tables know more of its market than the front door has heard, and say finished
 *   create    on its way: in memory, unless its id is in the tables, which the market is about to say
 *
 * So pages of one moment are disjoint, contiguous and complete.
 *
 * Merging m sorted things in memory with n in the tables needs of the tables, for the page at rank r, only the ranks
 * max(0, r − m) … r + limit: at most m of the first r are from memory, so those before r − m all precede the page.
 */
import { assert } from '../core/assert.ts';
import { compareAssetIds, type OrderId, type UserId } from '../core/ids.ts';
import { FILL_STATUS, SIDE } from '../core/order-terms.ts';
import type { OrderRecordView } from '../wire/order-record.ts';
import { isFinished, type LiveOrder } from './live-order.ts';
import type { LiveOrders } from './live-orders.ts';
import type { Markets } from './markets.ts';
import type { UserTrade } from './order-events.ts';
import type { HistoryQuery, HistorySnapshot, HistoryTrade, OrderHistory } from './order-history.ts';
import { statusOfLive } from './order-life.ts';
import { recordOfLive, recordOfRow } from './order-record.ts';
import type { Tail, TailTrade } from './tail.ts';

export interface PageQuery extends HistoryQuery {
  /** From zero. */
  readonly page: number;
  /** 1 … PAGE_LIMIT_MAX, as applied. */
  readonly limit: number;
}

export interface OrderPageQuery extends PageQuery {
  /** Only `Untriggered`, `Open` and `PartiallyFilled` (AMB-17). */
  readonly openOnly: boolean;
}

export interface Page<T> {
  readonly rows: readonly T[];
  /** Of all pages together. */
  readonly total: number;
}

/** Where pages are read from. */
export interface PageSources {
  readonly markets: Markets;
  readonly orders: LiveOrders;
  readonly tail: Tail;
  readonly history: OrderHistory;
}

export function orderPage(sources: PageSources, query: OrderPageQuery): Page<OrderRecordView> {
  return sources.history.read((snapshot) => {
    const inMemory = [...sources.orders.ofUser(query.user)]
      .filter((order) => matches(query, order.market.definition.marketIndex, order.terms.subAccount))
      .filter((order) => !query.openOnly || isOpen(order))
      .filter((order) => !isInTables(order, snapshot))
      .map(placedOrder)
      .sort(comparePlaces);
    return mergePage(query, {
      inMemory,
      count: query.openOnly ? 0 : snapshot.countFinishedOrders(query),
      window: (offset, limit) =>
        query.openOnly
          ? []
          : snapshot.finishedOrders(query, offset, limit).map((row) => ({
              timeNs: row.timestampNs,
              name: row.orderId,
              marketIndex: row.marketIndex,
              sequence: row.orderSequence,
              row: () => recordOfRow(row, sources.markets.at(row.marketIndex).definition),
            })),
      compare: comparePlaces,
    });
  });
}

/** One order by its id, from memory or from the tables; undefined when there is none (G7). */
export function orderById(
  sources: PageSources,
  key: { readonly user: UserId; readonly marketIndex: number; readonly orderId: OrderId },
): OrderRecordView | undefined {
  const order = sources.orders.find(key.user, key.marketIndex, key.orderId);
  if (order !== undefined) return recordOfLive(order);
  return sources.history.read((snapshot) => {
    const row = snapshot.findOrder(key.user, key.marketIndex, key.orderId);
    return row === undefined ? undefined : recordOfRow(row, sources.markets.at(row.marketIndex).definition);
  });
}

/** Confirmed trades only (QRY-03). */
export function tradePage(sources: PageSources, query: PageQuery): Page<UserTrade> {
  return sources.history.read((snapshot) =>
    mergePage(query, {
      inMemory: sources.tail
        .tradesOf(query.user)
        .filter((entry) => matches(query, entry.marketIndex, entry.trade.subAccount))
        .filter((entry) => entry.trade.tradeId > snapshot.lastTradeId(entry.marketIndex))
        .map(placedTrade)
        .sort(compareTrades),
      count: snapshot.countTrades(query),
      window: (offset, limit) =>
        snapshot.trades(query, offset, limit).map((entry) => {
          const trade = tradeOfRow(sources.markets, entry);
          return { trade, row: () => trade };
        }),
      compare: compareTrades,
    }),
  );
}

function matches(query: HistoryQuery, marketIndex: number, subAccount: number): boolean {
  if (query.marketIndex !== null && query.marketIndex !== marketIndex) return false;
  return query.subAccounts === null || query.subAccounts.includes(subAccount);
}

function isOpen(order: LiveOrder): boolean {
  const status = statusOfLive(order);
  return status === 'Untriggered' || status === 'Open' || status === 'PartiallyFilled';
}

function isInTables(order: LiveOrder, snapshot: HistorySnapshot): boolean {
  const { definition, seenSequence, decidedSequence } = order.market;
  if (order.sequence === 0) {
    return snapshot.findOrder(order.terms.user, definition.marketIndex, order.terms.orderId) !== undefined;
  }
  const heard = isFinished(order) ? order.lastSequence - 1 : Math.min(seenSequence, decidedSequence);
  if (snapshot.marketSequence(definition.marketIndex) <= heard) return false;
  return snapshot.isFinished(definition.marketIndex, order.sequence);
}

// ---- merging

interface Placed<T> {
  /** Makes what the page shows; called only for rows of the page. */
  row(): T;
}

interface Sources<T, P extends Placed<T>> {
  readonly inMemory: readonly P[];
  readonly count: number;
  window(offset: number, limit: number): readonly P[];
  compare(a: P, b: P): number;
}

function mergePage<T, P extends Placed<T>>(query: PageQuery, sources: Sources<T, P>): Page<T> {
  const { inMemory, count } = sources;
  const start = query.page * query.limit;
  const total = inMemory.length + count;
  if (start >= total) return { rows: [], total };
  const lead = Math.min(inMemory.length, start);
  const window = sources.window(start - lead, query.limit + lead);
  const rows: T[] = [];
  let memoryAt = 0;
  let windowAt = 0;
  for (let rank = 0; rank < lead + query.limit; rank += 1) {
    const a = inMemory[memoryAt];
    const b = window[windowAt];
    const next = a !== undefined && (b === undefined || sources.compare(a, b) < 0) ? a : b;
    if (next === undefined) break;
    if (next === a) memoryAt += 1;
    else windowAt += 1;
    if (rank >= lead) rows.push(next.row());
  }
  assert(rows.length <= query.limit, 'a page holds at most its limit');
  return { rows, total };
}

// ---- orders by timestamp and id, both descending (PAG-02)

interface OrderPlace extends Placed<OrderRecordView> {
  readonly timeNs: bigint;
  readonly name: string;
  readonly marketIndex: number;
  readonly sequence: number;
}

function placedOrder(order: LiveOrder): OrderPlace {
  return {
    timeNs: order.timestampNs,
    name: order.terms.orderId,
    marketIndex: order.market.definition.marketIndex,
    sequence: order.sequence,
    row: () => recordOfLive(order),
  };
}

function comparePlaces(a: OrderPlace, b: OrderPlace): number {
  if (a.timeNs !== b.timeNs) return a.timeNs > b.timeNs ? -1 : 1;
  if (a.name !== b.name) return a.name > b.name ? -1 : 1;
  return a.marketIndex - b.marketIndex || a.sequence - b.sequence;
}

// ---- trades by match time and id, both descending, then by asset (PAG-03, AMB-35)

interface TradePlace extends Placed<UserTrade> {
  readonly trade: UserTrade;
}

function placedTrade(entry: TailTrade): TradePlace {
  return { trade: entry.trade, row: () => entry.trade };
}

function compareTrades({ trade: a }: TradePlace, { trade: b }: TradePlace): number {
  if (a.timestampNs !== b.timestampNs) return a.timestampNs > b.timestampNs ? -1 : 1;
  if (a.tradeId !== b.tradeId) return b.tradeId - a.tradeId;
  return compareAssetIds(a.assetId, b.assetId) || Number(a.isMaker) - Number(b.isMaker);
}

function tradeOfRow(markets: Markets, { row, isMaker }: HistoryTrade): UserTrade {
  const { definition } = markets.at(row.marketIndex);
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
