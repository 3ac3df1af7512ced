/**
 * Pages of orders and trades: memory and tables merged, newest first (QRY-01 to QRY-04, PAG-01 to PAG-03, AMB-105).
 *
 *   plan: what memory has now, and what is asked of the tables ─▶ (maybe on another thread) ─▶ finish: the page
 *
 * The two overlap while a checkpoint is in the tables and not yet announced. Each thing is then taken from the tables:
 *
 *   trade     in the tables up to their last trade id of its market, else in memory
 *   finished  in the tables if they say so, which they can only up to their sequence of its market
 *   order     in memory, unless the tables know more of its market than the front door has heard, and say finished
 *   create    on its way: in memory, unless its id is in the tables, which the market is about to say
 *
 * So a page misses nothing that was there when it was planned and shows nothing twice, however much later the tables are
 * read: what they have learnt in between they say themselves. Open orders are in memory alone.
 *
 * Merging m sorted things in memory with n in the tables needs of the tables, for the page at rank r, only the ranks
 * max(0, r − m) … r + limit: at most m of the first r are from memory, so those before r − m all precede the page.
 */
import { assert } from '../core/assert.ts';
import { compareAssetIds, type OrderId, type UserId } from '../core/ids.ts';
import type { OrderRecordView } from '../wire/order-record.ts';
import {
  type HistoryAnswer,
  type HistoryAsk,
  type OrderDoubts,
  type OrderPlace,
  type Placed,
  placeOfTrade,
  type Show,
  type TradePlace,
} from './history-ask.ts';
import { isFinished, type LiveOrder } from './live-order.ts';
import type { LiveOrders } from './live-orders.ts';
import type { Markets } from './markets.ts';
import type { HistoryQuery, OrderHistory } from './order-history.ts';
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

/** A page between its two steps. */
export interface PagePlan<T> {
  /** Null: memory has all of it. */
  readonly ask: HistoryAsk | null;
  /** Rows are made when they are asked for. */
  finish(answer: HistoryAnswer<T> | null): Page<() => T>;
}

/** Where pages are read from. */
export interface PageSources {
  readonly markets: Markets;
  readonly orders: LiveOrders;
  readonly tail: Tail;
  readonly history: OrderHistory;
}

export function planOrderPage<T>(
  { orders }: Pick<PageSources, 'orders'>,
  query: OrderPageQuery,
  show: Show<T>,
): PagePlan<T> {
  const meant = [...orders.ofUser(query.user)]
    .filter((order) => matches(query, order.market.definition.marketIndex, order.terms.subAccount))
    .filter((order) => !query.openOnly || isOpen(order));
  const firstNs = meant[0]?.timestampNs ?? 0n;
  // A market maker may have tens of thousands: doubles are compared first, which never puts two times the wrong way
  // round, and bigints only where they are equal.
  const held = meant
    .map((order) => ({ age: Number(firstNs - order.timestampNs), place: placeOfOrder(order), order }))
    .sort((a, b) => a.age - b.age || compareOrders(a.place, b.place));
  const value = ({ order }: (typeof held)[number]): T => show.order(recordOfLive(order));
  if (query.openOnly) {
    const lead = query.page * query.limit;
    return {
      ask: null,
      finish: () => mergePage(query, lead, { held, value, total: 0, rows: [], compare: compareOrders }),
    };
  }
  return {
    ask: { kind: 'orders', ...windowOf(query, held.length), doubts: doubtsAbout(held.map(({ order }) => order)) },
    finish: (answer) => {
      assert(answer?.kind === 'orders', 'an answer is of the kind that was asked');
      const gone = new Set(answer.inTables);
      const inMemory = held.filter((_, index) => !gone.has(index));
      const { total, rows } = answer;
      return mergePage(query, leadOf(query, held.length), {
        held: inMemory,
        value,
        total,
        rows,
        compare: compareOrders,
      });
    },
  };
}

/** Confirmed trades only (QRY-03). */
export function planTradePage<T>({ tail }: Pick<PageSources, 'tail'>, query: PageQuery, show: Show<T>): PagePlan<T> {
  const held = tail
    .tradesOf(query.user)
    .filter((entry) => matches(query, entry.marketIndex, entry.trade.subAccount))
    .map((entry) => ({ place: placeOfTrade(entry.trade), entry }))
    .sort((a, b) => compareTrades(a.place, b.place));
  const markets = [...new Set(held.map(({ entry }) => entry.marketIndex))];
  const value = ({ entry }: { readonly place: TradePlace; readonly entry: TailTrade }): T => show.trade(entry.trade);
  return {
    ask: { kind: 'trades', ...windowOf(query, held.length), markets },
    finish: (answer) => {
      assert(answer?.kind === 'trades', 'an answer is of the kind that was asked');
      const last = new Map(markets.map((marketIndex, at) => [marketIndex, answer.lastTradeIds[at] ?? 0]));
      const inMemory = held.filter(({ entry }) => entry.trade.tradeId > (last.get(entry.marketIndex) ?? 0));
      const { total, rows } = answer;
      return mergePage(query, leadOf(query, held.length), {
        held: inMemory,
        value,
        total,
        rows,
        compare: compareTrades,
      });
    },
  };
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

function matches(query: HistoryQuery, marketIndex: number, subAccount: number): boolean {
  if (query.marketIndex !== null && query.marketIndex !== marketIndex) return false;
  return query.subAccounts === null || query.subAccounts.includes(subAccount);
}

function isOpen(order: LiveOrder): boolean {
  const status = statusOfLive(order);
  return status === 'Untriggered' || status === 'Open' || status === 'PartiallyFilled';
}

/** Thousands of orders are told to another thread as four columns. */
function doubtsAbout(orders: readonly LiveOrder[]): OrderDoubts {
  const marketIndexes = new Int32Array(orders.length);
  const sequences = new Float64Array(orders.length);
  const heard = new Float64Array(orders.length);
  orders.forEach((order, index) => {
    const { definition, seenSequence, decidedSequence } = order.market;
    marketIndexes[index] = definition.marketIndex;
    sequences[index] = order.sequence;
    heard[index] = isFinished(order) ? order.lastSequence - 1 : Math.min(seenSequence, decidedSequence);
  });
  return { marketIndexes, sequences, heard, orderIds: orders.map(({ terms }) => terms.orderId) };
}

// ---- merging

/** Ranks before the page that the tables' window begins with: as many as memory may have among them. */
function leadOf({ page, limit }: PageQuery, held: number): number {
  return Math.min(held, page * limit);
}

function windowOf(
  query: PageQuery,
  held: number,
): { readonly query: HistoryQuery; readonly offset: number; readonly limit: number } {
  const { user, marketIndex, subAccounts, page, limit } = query;
  const lead = leadOf(query, held);
  return { query: { user, marketIndex, subAccounts }, offset: page * limit - lead, limit: limit + lead };
}

interface Sources<T, Place, Held extends { readonly place: Place }> {
  /** Those of the plan that the tables do not have. */
  readonly held: readonly Held[];
  /** Makes what the page shows; called only for rows of the page. */
  value(held: Held): T;
  /** The tables' window, and how many they have in all. */
  readonly rows: readonly Placed<Place, T>[];
  readonly total: number;
  compare(a: Place, b: Place): number;
}

/** @param lead of the plan, which may have held more than is left of it. */
function mergePage<T, Place, Held extends { readonly place: Place }>(
  query: PageQuery,
  lead: number,
  { held, value, rows, total, compare }: Sources<T, Place, Held>,
): Page<() => T> {
  const shown: (() => T)[] = [];
  let heldAt = 0;
  let rowAt = 0;
  for (let rank = 0; rank < lead + query.limit; rank += 1) {
    const a = held[heldAt];
    const b = rows[rowAt];
    if (a === undefined && b === undefined) break;
    const isHeld = a !== undefined && (b === undefined || compare(a.place, b.place) < 0);
    if (isHeld) heldAt += 1;
    else rowAt += 1;
    if (rank < lead) continue;
    if (isHeld) shown.push(() => value(a));
    else if (b !== undefined) shown.push(() => b.value);
  }
  assert(shown.length <= query.limit, 'a page holds at most its limit');
  return { rows: shown, total: held.length + total };
}

// ---- the order of lists

function placeOfOrder(order: LiveOrder): OrderPlace {
  return {
    timeNs: order.timestampNs,
    name: order.terms.orderId,
    marketIndex: order.market.definition.marketIndex,
    sequence: order.sequence,
  };
}

function compareOrders(a: OrderPlace, b: OrderPlace): number {
  if (a.timeNs !== b.timeNs) return a.timeNs > b.timeNs ? -1 : 1;
  if (a.name !== b.name) return a.name > b.name ? -1 : 1;
  return a.marketIndex - b.marketIndex || a.sequence - b.sequence;
}

function compareTrades(a: TradePlace, b: TradePlace): number {
  if (a.timeNs !== b.timeNs) return a.timeNs > b.timeNs ? -1 : 1;
  if (a.tradeId !== b.tradeId) return b.tradeId - a.tradeId;
  return compareAssetIds(a.assetId, b.assetId) || Number(a.isMaker) - Number(b.isMaker);
}
