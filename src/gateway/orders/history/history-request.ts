/**
 * What a page needs of the tables, as a query that can be answered on another thread, and the answer.
 *
 *   pages.ts ── HistoryRequest ─▶ a reader of the tables ─▶ answerHistory ── HistoryAnswer ─▶ pages.ts merges
 *
 * Both are plain values. An answer holds rows as `T`: records, or already their JSON.
 */
import { orderRecord, type ShownTerms, userOrderRecord } from '../../../codec/order-record.ts';
import type { OrderReply } from '../../../codec/shapes/order-record-shapes.ts';
import { userTrade } from '../../../codec/user-trade.ts';
import { must } from '../../../core/assert.ts';
import type { AssetId, OrderId } from '../../../core/ids.ts';
import { type OrderStatus, SIDE, type Side } from '../../../core/order-terms.ts';
import type { UserTradeEvent } from '../book/order-events.ts';
import { statusOf } from '../book/order-life.ts';
import { isBuyerOf, userTradeOfRow } from '../book/trade-view.ts';
import {
  type HistoryQuery,
  type HistorySnapshot,
  type HistoryTrade,
  type OrderPlace,
  type PastOrder,
  recordOfRow,
} from './order-history.ts';

/** Orders in memory that the tables may have as finished: columns, an order has one index in all of them. */
export interface OrderDoubts {
  readonly marketIndexes: Int32Array;
  /** 0: a create on its way, in the tables if its id is. */
  readonly sequences: Float64Array;
  /** Only tables that are ahead of this in the market can have the order as finished. */
  readonly received: Float64Array;
  readonly orderIds: readonly OrderId[];
}

/** Sides of trades in memory, newest first: columns, a side has one index in all of them. */
export interface HeldTrades {
  readonly marketIndexes: Int32Array;
  readonly tradeIds: Float64Array;
  readonly timesNs: BigInt64Array;
}

/**
 * A page of orders with so many in memory that the tables' part is found by places: the places of some of them,
 * newest first, and how many of memory come before each (pages.ts).
 */
export interface OrderPivots {
  /** How many orders memory has in all. */
  readonly held: number;
  readonly ranks: readonly number[];
  readonly places: readonly OrderPlace[];
}

/** How far this process is in markets, index by index: see OrderDoubts.received. */
export interface ReceivedMarkets {
  readonly marketIndexes: readonly number[];
  readonly received: readonly number[];
}

/** How rows are shown: as the order service does, or as market data does, and then which of them. */
export interface RowForm {
  /** Null or absent: the form of the order service, all rows. */
  readonly filter?: RowFilter | null;
}

export type HistoryRequest = RowForm &
  (
    | {
        readonly kind: 'orders';
        readonly query: HistoryQuery;
        /** The number of rows before the page. */
        readonly rank: number;
        readonly limit: number;
        readonly pivots: OrderPivots;
        readonly doubts: OrderDoubts;
        /** Markets of orders that are not in doubt unless the tables are ahead in their market. */
        readonly markets: ReceivedMarkets;
      }
    | {
        readonly kind: 'trades';
        readonly query: HistoryQuery;
        /** The number of rows before the page. */
        readonly rank: number;
        readonly limit: number;
        readonly held: HeldTrades;
      }
  );

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

/** A filtered page that would look at more rows than it may; then nothing else counts. */
interface MaybeTooLong {
  readonly isTooLong?: boolean;
}

export interface OrderAnswer<T> extends MaybeTooLong {
  readonly kind: 'orders';
  readonly total: number;
  readonly rows: readonly Placed<OrderPlace, T>[];
  /** Which doubts are in the tables, by their index. */
  readonly inTables: readonly number[];
  /** The tables are ahead in a market: orders that were not in doubt may be in them. Then nothing else counts. */
  readonly isAhead: boolean;
  /** The merge begins with this one of memory and with the tables' at `offset`, which `rows` begin with. */
  readonly heldFrom: number;
  readonly offset: number;
}

interface TradeAnswer<T> extends MaybeTooLong {
  readonly kind: 'trades';
  readonly total: number;
  readonly rows: readonly Placed<TradePlace, T>[];
  /** Which of memory are in the tables too, by their index. */
  readonly inTables: readonly number[];
  /** The merge begins with this one of those in memory alone, and with the tables' at `offset`, which `rows` begin with. */
  readonly heldFrom: number;
  readonly offset: number;
}

export type HistoryAnswer<T> = OrderAnswer<T> | TradeAnswer<T>;

/** How rows are shown. */
export interface Show<T> {
  order(view: OrderReply, terms: ShownTerms): T;
  trade(trade: UserTradeEvent): T;
}

/** Rows as the order service shows them. */
export const AS_JSON: Show<string> = { order: (view) => orderRecord(view), trade: userTrade };

/** Rows as market data shows them (wire-additions.md 8.4). */
const AS_MARKET_DATA_JSON: Show<string> = { order: userOrderRecord, trade: userTrade };

/** The JSON of rows in the form of a page. */
export function jsonOf({ filter = null }: RowForm): Show<string> {
  return filter === null ? AS_JSON : AS_MARKET_DATA_JSON;
}

/** Answers from one version of the tables. */
export function answerHistory<T>(snapshot: HistorySnapshot, request: HistoryRequest, show: Show<T>): HistoryAnswer<T> {
  return request.kind === 'orders' ? answerOrders(snapshot, request, show) : answerTrades(snapshot, request, show);
}

function answerOrders<T>(
  snapshot: HistorySnapshot,
  request: Extract<HistoryRequest, { kind: 'orders' }>,
  show: Show<T>,
): OrderAnswer<T> {
  const { query, doubts, markets, filter = null } = request;
  const nothing = {
    kind: 'orders',
    total: 0,
    rows: [],
    inTables: [],
    heldFrom: 0,
    offset: 0,
    isTooLong: false,
  } as const;
  const isAhead = markets.marketIndexes.some(
    (marketIndex, at) => snapshot.marketSequence(marketIndex) > (markets.received[at] ?? 0),
  );
  if (isAhead) return { ...nothing, isAhead };
  const inTables = [...doubts.marketIndexes.keys()].filter((index) => isInTables(snapshot, query, doubts, index));
  const rowOf = (row: PastOrder): Placed<OrderPlace, T> => ({
    place: { timeNs: row.timestampNs, name: row.orderId, marketIndex: row.marketIndex, sequence: row.orderSequence },
    value: show.order(recordOfRow(row, snapshot.definition(row.marketIndex)), row),
  });
  if (filter !== null && !takesAll(filter)) {
    return { kind: 'orders', ...filteredOrders(snapshot, request, filter, rowOf), inTables, isAhead };
  }
  const { heldFrom, offset, limit } = windowOf(snapshot, request, inTables.length);
  const { rows, total } = snapshot.finishedOrders(query, offset, limit);
  return { kind: 'orders', total, rows: rows.map(rowOf), inTables, isAhead, heldFrom, offset, isTooLong: false };
}

/**
 * What the page needs of the tables. A pivot with `a` of memory and `b` of the tables before it is itself the one of rank
 * a + b among all, or as many before as orders before it are doubled. So the last pivot with a + b ≤ rank is not behind
 * the page's begin, and the first with a − doubled + b > rank, of a' and b', is behind it. Then at most a' of memory come
 * before the page, at least a − doubled, and of the tables the rest of `rank`, at least b and at most b'.
 *
 * @param doubled how many of memory are in the tables too.
 */
function windowOf(
  snapshot: HistorySnapshot,
  { query, rank, limit, pivots }: Extract<HistoryRequest, { kind: 'orders' }>,
  doubled: number,
): { readonly heldFrom: number; readonly offset: number; readonly limit: number } {
  const { ranks, places, held } = pivots;
  const before = places.length === 0 ? [] : snapshot.finishedBefore(query, places, rank + doubled);
  const found = before.map((count, at) => ({ held: must(ranks[at], 'a pivot has a rank'), count }));
  const from = found.findLast((pivot) => pivot.held + pivot.count <= rank) ?? { held: 0, count: 0 };
  const to = found.find((pivot) => pivot.held - doubled + pivot.count > rank) ?? { held, count: rank };
  const offset = Math.max(from.count, rank - to.held);
  const most = Math.min(to.count, rank - from.held + doubled);
  return { heldFrom: from.held, offset, limit: Math.max(0, most - offset) + limit };
}

function isInTables(
  snapshot: HistorySnapshot,
  { user }: HistoryQuery,
  { marketIndexes, sequences, received, orderIds }: OrderDoubts,
  index: number,
): boolean {
  const marketIndex = marketIndexes[index] ?? 0;
  const sequence = sequences[index] ?? 0;
  const orderId = must(orderIds[index], 'a doubt is about an order with an id');
  if (sequence === 0) return snapshot.findOrder(user, marketIndex, orderId) !== undefined;
  if (snapshot.marketSequence(marketIndex) <= (received[index] ?? 0)) return false;
  return snapshot.isFinished(user, marketIndex, orderId, sequence);
}

function answerTrades<T>(
  snapshot: HistorySnapshot,
  request: Extract<HistoryRequest, { kind: 'trades' }>,
  show: Show<T>,
): TradeAnswer<T> {
  const { marketIndexes, tradeIds } = request.held;
  const inTables = [...tradeIds.keys()].filter(
    (at) => (tradeIds[at] ?? 0) <= snapshot.lastTradeId(marketIndexes[at] ?? 0),
  );
  const rowOf = (entry: HistoryTrade): Placed<TradePlace, T> => {
    const trade = tradeOfRow(snapshot, entry);
    return { place: placeOfTrade(trade), value: show.trade(trade) };
  };
  const { filter = null } = request;
  if (filter !== null && !takesAll(filter)) {
    return { kind: 'trades', ...filteredTrades(snapshot, request, filter, rowOf), inTables };
  }
  const { heldFrom, offset, limit } = tradeWindow(snapshot, request, inTables);
  const { rows, total } = snapshot.trades(request.query, offset, limit);
  return { kind: 'trades', total, rows: rows.map(rowOf), inTables, heldFrom, offset, isTooLong: false };
}

/**
 * What the page needs of the tables. Of those in memory alone most are newer than all that the tables have, and so come
 * first; the rest may lie anywhere. So at least the newer ones come before the page, or as many as there are before it, and
 * at most all.
 */
function tradeWindow(
  snapshot: HistorySnapshot,
  { query, rank, limit, held }: Extract<HistoryRequest, { kind: 'trades' }>,
  inTables: readonly number[],
): { readonly heldFrom: number; readonly offset: number; readonly limit: number } {
  const newest = snapshot.trades(query, 0, 1).rows[0]?.row.matchedNs ?? -1n;
  const gone = new Set(inTables);
  let newer = 0;
  for (const [at, timeNs] of held.timesNs.entries()) if (timeNs > newest && !gone.has(at)) newer += 1;
  const heldFrom = Math.min(rank, newer);
  const offset = Math.max(0, rank - (held.timesNs.length - gone.size));
  return { heldFrom, offset, limit: rank - heldFrom - offset + limit };
}

export function placeOfTrade({ timestampNs, tradeId, assetId, isMaker }: UserTradeEvent): TradePlace {
  return { timeNs: timestampNs, tradeId, assetId, isMaker };
}

function tradeOfRow(snapshot: HistorySnapshot, { row, isMaker }: HistoryTrade): UserTradeEvent {
  return userTradeOfRow(row, isMaker, snapshot.definition(row.marketIndex));
}

// Filters of a user's orders and trades as market data offers them (wire-additions.md 8.3), and the part of a filtered page
// that the tables have.
//
// Lists are in the order of time, not of side or status, so rows are looked at one by one: at most SCANNED_MAX of a page,
// beyond which it is refused. Trades of a time range are a range of ranks, found by bisection.
//
// A row is copied and shown for the page alone; what is only looked at is read where it lies. Not here: the merge with
// memory (pages.ts).

/** Rows that one page may look at. */
export const SCANNED_MAX = 100_000;
const STEP = 1_000;
/** What the tables can have: without one of these nothing is looked for in them. */
const FINISHED_STATUSES: ReadonlySet<OrderStatus> = new Set(['Filled', 'Canceled', 'Expired']);

/** Each null: any. Times are inclusive, in nanoseconds: the creation of an order, the match of a trade. */
export interface RowFilter {
  readonly fromNs: bigint | null;
  readonly toNs: bigint | null;
  /** The user's side. */
  readonly side: Side | null;
  /** Statuses of orders. */
  readonly statuses: readonly OrderStatus[] | null;
}

export function takesAll({ fromNs, toNs, side, statuses }: RowFilter): boolean {
  return fromNs === null && toNs === null && side === null && statuses === null;
}

function takesTime({ fromNs, toNs }: RowFilter, timeNs: bigint): boolean {
  return (fromNs === null || timeNs >= fromNs) && (toNs === null || timeNs <= toNs);
}

/** @param status computed only where the filter has statuses. */
export function takesOrder(
  filter: RowFilter,
  order: { readonly side: Side; readonly creationNs: bigint },
  status: () => OrderStatus,
): boolean {
  if (filter.side !== null && filter.side !== order.side) return false;
  // mutant: filter-of-times
  if (!takesTime(filter, order.creationNs)) return false;
  return filter.statuses === null || filter.statuses.includes(status());
}

export function takesTrade(
  filter: RowFilter,
  trade: { readonly isBuyer: boolean; readonly timestampNs: bigint },
): boolean {
  const side = trade.isBuyer ? SIDE.buy : SIDE.sell;
  return (filter.side === null || filter.side === side) && takesTime(filter, trade.timestampNs);
}

/** Which rows of the tables that the filter takes a page needs, counted from the newest. */
interface Wanted {
  readonly offset: number;
  readonly end: number;
}

/** What the tables have of a filtered page. */
interface Filtered<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly offset: number;
  /** The merge begins with the newest of memory. */
  readonly heldFrom: 0;
  readonly isTooLong: boolean;
}

/** @param held how many of memory may come before the page. */
function wantedOf({ rank, limit }: Pick<HistoryRequest, 'rank' | 'limit'>, held: number): Wanted {
  return { offset: Math.max(0, rank - held), end: rank + limit };
}

export function filteredOrders<T>(
  snapshot: HistorySnapshot,
  request: Extract<HistoryRequest, { kind: 'orders' }>,
  filter: RowFilter,
  rowOf: (row: PastOrder) => Placed<OrderPlace, T>,
): Filtered<Placed<OrderPlace, T>> {
  const { offset, end } = wantedOf(request, request.pivots.held);
  const rows: Placed<OrderPlace, T>[] = [];
  let total = 0;
  let scannedRows = 0;
  let isTooLong = false;
  const { statuses } = filter;
  // mutant: filter-without-finished
  const isOfNone = statuses !== null && !statuses.some((status) => FINISHED_STATUSES.has(status));
  if (isOfNone) return { rows, total, offset, heldFrom: 0, isTooLong };
  snapshot.scanFinished(request.query, (order, copyOf) => {
    // An order is never created after the time that it is listed at.
    if (filter.fromNs !== null && order.timestampNs < filter.fromNs) return false;
    isTooLong = scannedRows === SCANNED_MAX;
    scannedRows += 1;
    if (isTooLong || !takesOrder(filter, order, () => statusOf(order))) return !isTooLong;
    if (total >= offset && total < end) rows.push(rowOf(copyOf()));
    total += 1;
    return true;
  });
  return { rows, total, offset, heldFrom: 0, isTooLong };
}

function filteredTrades<T>(
  snapshot: HistorySnapshot,
  request: Extract<HistoryRequest, { kind: 'trades' }>,
  filter: RowFilter,
  rowOf: (entry: HistoryTrade) => Placed<TradePlace, T>,
): Filtered<Placed<TradePlace, T>> {
  const { query } = request;
  const { offset, end } = wantedOf(request, request.held.tradeIds.length);
  if (query.subAccounts !== null) return tradesOfSubAccounts(snapshot, request, filter, rowOf);
  const { total: all } = snapshot.trades(query, 0, 1);
  const first = filter.toNs === null ? 0 : countAfter(snapshot, query, all, filter.toNs);
  const last = filter.fromNs === null ? all : countAfter(snapshot, query, all, filter.fromNs - 1n);
  if (filter.side === null) {
    const total = Math.max(0, last - first);
    const count = Math.max(0, Math.min(end, total) - offset);
    const window = count === 0 ? [] : snapshot.trades(query, first + offset, count).rows;
    return { rows: window.map(rowOf), total, offset, heldFrom: 0, isTooLong: false };
  }
  const rows: Placed<TradePlace, T>[] = [];
  const wantsBuys = filter.side === SIDE.buy;
  let total = 0;
  const isWhole = scanned(
    (at) => snapshot.trades(query, first + at, Math.max(0, Math.min(STEP, last - first - at))).rows,
    (entry) => {
      if (isBuyerOf(entry.row, entry.isMaker) !== wantsBuys) return;
      if (total >= offset && total < end) rows.push(rowOf(entry));
      total += 1;
    },
  );
  return { rows, total, offset, heldFrom: 0, isTooLong: !isWhole };
}

/** Their number is not stored, so ranks mean nothing: the list is read once. */
function tradesOfSubAccounts<T>(
  snapshot: HistorySnapshot,
  request: Extract<HistoryRequest, { kind: 'trades' }>,
  filter: RowFilter,
  rowOf: (entry: HistoryTrade) => Placed<TradePlace, T>,
): Filtered<Placed<TradePlace, T>> {
  const { offset, end } = wantedOf(request, request.held.tradeIds.length);
  const wantsBuys = filter.side === SIDE.buy;
  const rows: Placed<TradePlace, T>[] = [];
  let total = 0;
  let scannedRows = 0;
  let isTooLong = false;
  snapshot.scanTrades(request.query, filter, (entry) => {
    isTooLong = scannedRows === SCANNED_MAX;
    scannedRows += 1;
    if (isTooLong) return false;
    if (filter.side !== null && isBuyerOf(entry.row, entry.isMaker) !== wantsBuys) return true;
    if (total >= offset && total < end) rows.push(rowOf(entry));
    total += 1;
    return true;
  });
  return { rows, total, offset, heldFrom: 0, isTooLong };
}

/** @param read rows from that place on, at most STEP. @returns false: there are more than may be looked at. */
function scanned<Row>(read: (at: number) => readonly Row[], look: (row: Row) => void): boolean {
  for (let at = 0; at < SCANNED_MAX; at += STEP) {
    const rows = read(at);
    for (const row of rows) look(row);
    if (rows.length < STEP) return true;
  }
  return read(SCANNED_MAX).length === 0;
}

/** How many trades of the query were matched after a time. */
function countAfter(snapshot: HistorySnapshot, query: HistoryQuery, total: number, timeNs: bigint): number {
  let low = 0;
  let high = total;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const matchedNs = snapshot.trades(query, middle, 1).rows[0]?.row.matchedNs ?? -1n;
    if (matchedNs > timeNs) low = middle + 1;
    else high = middle;
  }
  return low;
}
