/**
 * Filters of a user's orders and trades as market data offers them (wire-additions.md 8.3), and the part of a filtered page
 * that the tables have.
 *
 * Lists are in the order of time, not of side or status, so rows are looked at one by one: at most SCANNED_MAX of a page,
 * beyond which it is refused. Trades of a time range are a range of ranks, found by bisection.
 *
 * A row is copied and shown for the page alone; what is only looked at is read where it lies. Not here: the merge with memory
 * (pages.ts).
 */
import { type OrderStatus, SIDE, type Side } from '../../../core/order-terms.ts';
import { statusOf } from '../book/order-life.ts';
import { isBuyerOf } from '../book/trade-view.ts';
import type { HistoryAsk, Placed, TradePlace } from './history-ask.ts';
import type { HistoryQuery, HistorySnapshot, HistoryTrade, OrderPlace, PastOrder } from './order-history.ts';

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
  /** Of orders. */
  readonly statuses: readonly OrderStatus[] | null;
}

export function takesAll({ fromNs, toNs, side, statuses }: RowFilter): boolean {
  return fromNs === null && toNs === null && side === null && statuses === null;
}

export function takesTime({ fromNs, toNs }: RowFilter, timeNs: bigint): boolean {
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
function wantedOf({ rank, limit }: Pick<HistoryAsk, 'rank' | 'limit'>, held: number): Wanted {
  return { offset: Math.max(0, rank - held), end: rank + limit };
}

export function filteredOrders<T>(
  snapshot: HistorySnapshot,
  ask: Extract<HistoryAsk, { kind: 'orders' }>,
  filter: RowFilter,
  rowOf: (row: PastOrder) => Placed<OrderPlace, T>,
): Filtered<Placed<OrderPlace, T>> {
  const { offset, end } = wantedOf(ask, ask.pivots.held);
  const rows: Placed<OrderPlace, T>[] = [];
  let total = 0;
  let scannedRows = 0;
  let isTooLong = false;
  const { statuses } = filter;
  // mutant: filter-without-finished
  const isOfNone = statuses !== null && !statuses.some((status) => FINISHED_STATUSES.has(status));
  if (isOfNone) return { rows, total, offset, heldFrom: 0, isTooLong };
  snapshot.scanFinished(ask.query, (order, copyOf) => {
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

export function filteredTrades<T>(
  snapshot: HistorySnapshot,
  ask: Extract<HistoryAsk, { kind: 'trades' }>,
  filter: RowFilter,
  rowOf: (entry: HistoryTrade) => Placed<TradePlace, T>,
): Filtered<Placed<TradePlace, T>> {
  const { query } = ask;
  const { offset, end } = wantedOf(ask, ask.held.tradeIds.length);
  if (query.subAccounts !== null) return tradesOfSubAccounts(snapshot, ask, filter, rowOf);
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
  ask: Extract<HistoryAsk, { kind: 'trades' }>,
  filter: RowFilter,
  rowOf: (entry: HistoryTrade) => Placed<TradePlace, T>,
): Filtered<Placed<TradePlace, T>> {
  const { offset, end } = wantedOf(ask, ask.held.tradeIds.length);
  const wantsBuys = filter.side === SIDE.buy;
  const rows: Placed<TradePlace, T>[] = [];
  let total = 0;
  let scannedRows = 0;
  let isTooLong = false;
  snapshot.scanTrades(ask.query, filter, (entry) => {
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
