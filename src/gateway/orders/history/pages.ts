/**
 * Pages of orders and trades: memory and tables merged, newest first (QRY-01 to QRY-04, PAG-01 to PAG-03, AMB-105).
 *
 *   plan: what memory has now, and the query of the tables ─▶ (maybe on another thread) ─▶ finish: the page
 *
 * The two overlap while a checkpoint is in the tables and not yet announced. Each thing is then taken from the tables:
 *
 *   trade     in the tables up to their last trade id of its market, else in memory
 *   finished  in the tables if it is there, which is so only up to their sequence of its market
 *   order     in memory, unless the tables are ahead of the gateway in its market, and have it as finished
 *   create    pending: in memory, unless its id is in the tables, so that an event of the market will follow
 *
 * So a page misses nothing that was there when it was planned and shows nothing twice, however much later the tables are
 * read: they contain themselves what was written in between. Open orders are in memory alone.
 *
 * A page of orders is found by counting: memory is a list with ranks (page-list.ts), frozen as it is when the page is
 * planned, so a page costs the rows it shows. Which orders may be in the tables too is known, except in one case: the tables
 * are ahead of this process in a market. Then the page is planned again; or all of memory is looked up.
 *
 * Merging m sorted things in memory with n in the tables needs of the tables, for the page at rank r, only the ranks
 * max(0, r − m) … r + limit: at most m of the first r are from memory, so those before r − m all precede the page. Where m
 * is large, some places of memory narrow that down (history-request.ts).
 */
import type { OrderReply } from '../../../codec/shapes/order-record-shapes.ts';
import { rowsBefore } from '../../../core/arithmetic.ts';
import { assert, must } from '../../../core/assert.ts';
import { compareAssetIds, type OrderId, type UserId } from '../../../core/ids.ts';
import { isFinished } from '../book/live-order.ts';
import type { LiveOrders } from '../book/live-orders.ts';
import type { Markets } from '../book/markets.ts';
import { statusOfLive } from '../book/order-life.ts';
import {
  type HeldTrades,
  type HistoryAnswer,
  type HistoryRequest,
  type OrderAnswer,
  type OrderDoubts,
  type OrderPivots,
  type Placed,
  placeOfTrade,
  type ReceivedMarkets,
  type RowFilter,
  type RowForm,
  type Show,
  type TradePlace,
  takesAll,
  takesOrder,
  takesTrade,
} from './history-request.ts';
import { type HistoryQuery, type OrderHistory, recordOfLive, recordOfRow } from './order-history.ts';
import { compareOrders, type FrozenList, type PageEntry, PageList } from './page-list.ts';
import type { UncheckpointedHistory, UncheckpointedTrade } from './uncheckpointed.ts';

/** If memory has fewer orders than this before a page, the tables are read from that many rows earlier. */
const FEW_BEFORE = 1_024;
const PIVOTS_MAX = 256;
const TOO_LONG: RowPage<never> = { isTooLong: true, rows: [], total: 0 };

export interface RowQuery extends HistoryQuery, RowForm {
  /** From zero. */
  readonly page: number;
  /** 1 … PAGE_LIMIT_MAX, as applied. */
  readonly limit: number;
}

export interface OrderPageQuery extends RowQuery {
  /** Only `Untriggered`, `Open` and `PartiallyFilled` (AMB-17). */
  readonly openOnly: boolean;
}

export interface RowPage<T> {
  /** True: more rows would have to be looked at than may be; then nothing else counts. */
  readonly isTooLong?: boolean;
  readonly rows: readonly T[];
  /** The number of rows of all pages together. */
  readonly total: number;
}

/** A page between its two steps. */
export interface PagePlan<T> {
  /** Null: memory has all of it. */
  readonly request: HistoryRequest | null;
  /** Rows are made when they are printed. @returns null: the tables were ahead of memory; plan again, or `requestAll`. */
  finish(answer: HistoryAnswer<T> | null): RowPage<() => T> | null;
  /** Instead of `request` a query whose answer `finish` can always take; its cost is the number of orders in memory. */
  requestAll(): HistoryRequest | null;
  /** No more rows of this plan are printed: finished orders of it may leave memory. */
  release(): void;
}

/** Where pages are read from. */
export interface PageSources {
  readonly markets: Markets;
  readonly orders: LiveOrders;
  readonly uncheckpointed: UncheckpointedHistory;
  readonly history: OrderHistory;
}

export function planOrderPage<T>(
  { orders, markets }: Pick<PageSources, 'orders' | 'markets'>,
  query: OrderPageQuery,
  show: Show<T>,
): PagePlan<T> {
  const { filter = null } = query;
  const list = orders.pagesOf(query.user) ?? new PageList(orders);
  const held = list.freeze(query);
  const pin = orders.pin();
  const release = (): void => orders.unpin(pin);
  const received = receivedOf(markets, list.marketsOf(query));
  if (query.openOnly) {
    return { request: null, finish: () => mergeOrders(query, held, null, show), requestAll: () => null, release };
  }
  let doubted = [...held.doubtful()].filter(({ order }) => isFinished(order) || order.sequence === 0);
  const requestOf = (known: ReceivedMarkets): HistoryRequest => ({
    kind: 'orders',
    query: historyQuery(query),
    rank: rowsBefore(query),
    limit: query.limit,
    pivots: pivotsOf(query, held),
    filter,
    doubts: doubtsAbout(doubted, received),
    markets: known,
  });
  return {
    request: requestOf(received),
    finish: (answer) => {
      assert(answer?.kind === 'orders', 'an answer is of the kind that was asked');
      if (answer.isAhead) return null;
      const gone = new Set(answer.inTables.map((index) => must(doubted[index], 'a doubt is about an order')));
      if (filter === null || takesAll(filter)) return mergeOrders(query, held, { ...answer, gone }, show);
      return answer.isTooLong === true ? TOO_LONG : mergeFiltered(query, filter, held, { ...answer, gone }, show);
    },
    requestAll: () => {
      doubted = [...held.from(0)];
      return requestOf({ marketIndexes: [], received: [] });
    },
    release,
  };
}

/** How far the process is in those markets: the last event of the market, and the last that clearing has decided. */
function receivedOf(markets: Markets, marketIndexes: readonly number[]): ReceivedMarkets {
  const received = marketIndexes.map((marketIndex) => {
    const { seenSequence, decidedSequence } = markets.at(marketIndex);
    return Math.min(seenSequence, decidedSequence);
  });
  return { marketIndexes, received };
}

/** None where memory has so few orders before the page that the tables may as well be read from as many before it. */
function pivotsOf(query: RowQuery, held: FrozenList): OrderPivots {
  const before = rowsBefore(query);
  const pivots = Math.min(before, held.count) <= FEW_BEFORE ? [] : held.pivots(before, PIVOTS_MAX);
  return { held: held.count, ranks: pivots.map(({ rank }) => rank), places: pivots.map(({ place }) => place) };
}

/** The tables' part of a page of orders, and those of memory that are in the tables too. */
type OrdersOfTables<T> = Pick<OrderAnswer<T>, 'rows' | 'total' | 'heldFrom' | 'offset'> & {
  readonly gone: ReadonlySet<PageEntry>;
};

/** @param tables null: nothing of the page is in the tables. */
function mergeOrders<T>(
  query: RowQuery,
  held: FrozenList,
  tables: OrdersOfTables<T> | null,
  show: Show<T>,
): RowPage<() => T> {
  const rank = rowsBefore(query);
  const value = ({ order }: PageEntry): T => show.order(recordOfLive(order), order);
  if (tables === null) {
    const rest = held.from(rank);
    return mergePage(
      { lead: 0, limit: query.limit },
      { held: rest, value, rows: [], compare: compareOrders },
      held.count,
    );
  }
  const { heldFrom, offset, rows, total } = tables;
  const gone = new Set([...tables.gone].map(({ order }) => order.index));
  const [first] = held.from(heldFrom);
  const before = [...tables.gone].filter(({ place }) => first === undefined || compareOrders(place, first.place) < 0);
  const lead = rank - (heldFrom - before.length) - offset;
  const sources = { held: without(held.from(heldFrom), gone), value, rows, compare: compareOrders };
  return mergePage({ lead, limit: query.limit }, sources, held.count - gone.size + total);
}

/** As `mergeOrders`, for the rows that the filter takes. */
function mergeFiltered<T>(
  query: RowQuery,
  filter: RowFilter,
  held: FrozenList,
  { gone, rows, total, offset }: OrdersOfTables<T>,
  show: Show<T>,
): RowPage<() => T> {
  const indexes = new Set([...gone].map(({ order }) => order.index));
  const kept = [...without(held.from(0), indexes)].filter(({ order }) =>
    takesOrder(filter, order, () => statusOfLive(order)),
  );
  const value = ({ order }: PageEntry): T => show.order(recordOfLive(order), order);
  const sources = { held: kept.values(), value, rows, compare: compareOrders };
  return mergePage({ lead: rowsBefore(query) - offset, limit: query.limit }, sources, kept.length + total);
}

/** @param gone by index. */
function* without(entries: Iterable<PageEntry>, gone: ReadonlySet<number>): Generator<PageEntry> {
  for (const entry of entries) if (!gone.has(entry.order.index)) yield entry;
}

/** Confirmed trades only (QRY-03). */
export function planTradePage<T>(
  { uncheckpointed }: Pick<PageSources, 'uncheckpointed'>,
  query: RowQuery,
  show: Show<T>,
): PagePlan<T> {
  const { filter = null } = query;
  const held = uncheckpointed
    .tradesOf(query.user)
    .filter(
      ({ marketIndex, trade }) =>
        matches(query, marketIndex, trade.subAccount) && (filter === null || takesTrade(filter, trade)),
    )
    .map((entry) => ({ place: placeOfTrade(entry.trade), entry }))
    .sort((a, b) => compareTrades(a.place, b.place));
  const value = ({ entry }: HeldTrade): T => show.trade(entry.trade);
  const { limit } = query;
  const rank = rowsBefore(query);
  return {
    request: { kind: 'trades', query: historyQuery(query), rank, limit, held: columnsOf(held), filter },
    finish: (answer) => {
      assert(answer?.kind === 'trades', 'an answer is of the kind that was asked');
      if (answer.isTooLong === true) return TOO_LONG;
      const { total, rows, heldFrom, offset } = answer;
      const gone = new Set(answer.inTables);
      const inMemory = held.filter((_, index) => !gone.has(index));
      const sources = { held: inMemory.slice(heldFrom).values(), value, rows, compare: compareTrades };
      return mergePage({ lead: rank - heldFrom - offset, limit }, sources, inMemory.length + total);
    },
    requestAll: () => null,
    release: () => undefined,
  };
}

interface HeldTrade {
  readonly place: TradePlace;
  readonly entry: UncheckpointedTrade;
}

function columnsOf(held: readonly HeldTrade[]): HeldTrades {
  return {
    marketIndexes: Int32Array.from(held, ({ entry }) => entry.marketIndex),
    tradeIds: Float64Array.from(held, ({ entry }) => entry.trade.tradeId),
    timesNs: BigInt64Array.from(held, ({ place }) => place.timeNs),
  };
}

/** One order by its id, from memory or from the tables; undefined when there is none (G7). */
export function orderById(
  sources: PageSources,
  key: { readonly user: UserId; readonly marketIndex: number; readonly orderId: OrderId },
): OrderReply | undefined {
  const order = sources.orders.find(key.user, key.marketIndex, key.orderId);
  if (order !== undefined) return recordOfLive(order);
  return sources.history.read((snapshot) => {
    const row = snapshot.findOrder(key.user, key.marketIndex, key.orderId);
    return row === undefined ? undefined : recordOfRow(row, sources.markets.at(row.marketIndex).definition);
  });
}

function matches(query: HistoryQuery, marketIndex: number, subAccount: number): boolean {
  if (query.marketIndex !== null && query.marketIndex !== marketIndex) return false;
  return query.subAccounts === null || query.subAccounts.includes(subAccount);
}

/** Orders are described to another thread as four columns. @param received when the page was planned. */
function doubtsAbout(entries: readonly PageEntry[], { marketIndexes, received }: ReceivedMarkets): OrderDoubts {
  const known = new Map(marketIndexes.map((marketIndex, at) => [marketIndex, received[at] ?? 0]));
  const doubts = {
    marketIndexes: new Int32Array(entries.length),
    sequences: new Float64Array(entries.length),
    received: new Float64Array(entries.length),
    orderIds: entries.map(({ place }) => place.name as OrderId),
  };
  entries.forEach(({ order, place: { marketIndex } }, index) => {
    doubts.marketIndexes[index] = marketIndex;
    doubts.sequences[index] = order.sequence;
    doubts.received[index] = isFinished(order) ? order.lastSequence - 1 : (known.get(marketIndex) ?? 0);
  });
  return doubts;
}

function historyQuery({ user, marketIndex, subAccounts }: HistoryQuery): HistoryQuery {
  return { user, marketIndex, subAccounts };
}

// ---- merging

interface Sources<T, Place, Held extends { readonly place: Place }> {
  /** The rows of the plan that the tables do not have. */
  readonly held: Iterator<Held>;
  /** Makes what the page shows; called only for rows of the page. */
  value(held: Held): T;
  /** The tables' window. */
  readonly rows: readonly Placed<Place, T>[];
  compare(a: Place, b: Place): number;
}

/** @param lead how many of the merged rows come before the page. @param total of all pages. */
function mergePage<T, Place, Held extends { readonly place: Place }>(
  { lead, limit }: { readonly lead: number; readonly limit: number },
  { held, value, rows, compare }: Sources<T, Place, Held>,
  total: number,
): RowPage<() => T> {
  const shown: (() => T)[] = [];
  let next = held.next();
  let rowAt = 0;
  for (let rank = 0; rank < lead + limit; rank += 1) {
    const a = next.done === true ? undefined : next.value;
    const b = rows[rowAt];
    if (a === undefined && b === undefined) break;
    const isHeld = a !== undefined && (b === undefined || compare(a.place, b.place) < 0);
    if (isHeld) next = held.next();
    else rowAt += 1;
    if (rank < lead) continue;
    if (isHeld) shown.push(() => value(a));
    else if (b !== undefined) shown.push(() => b.value);
  }
  assert(shown.length <= limit, 'a page holds at most its limit');
  return { rows: shown, total };
}

// ---- the order of lists

function compareTrades(a: TradePlace, b: TradePlace): number {
  if (a.timeNs !== b.timeNs) return a.timeNs > b.timeNs ? -1 : 1;
  if (a.tradeId !== b.tradeId) return b.tradeId - a.tradeId;
  return compareAssetIds(a.assetId, b.assetId) || Number(a.isMaker) - Number(b.isMaker);
}
