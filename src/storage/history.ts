/**
 * History for readers: finished orders and trades as of the last checkpoint, newest first. Runs on any thread with a
 * reader of its own; every answer is one version of the tables.
 *
 * What happened after that checkpoint is in the memory of the caller, who merges: each page names its checkpoint, so
 * that the caller leaves out of the uncheckpointed history what the page already has. To serve rows n to n + limit of the
 * merged list, request `skip` = max(0, n − m) and `limit` + m, where m is the number of rows in memory.
 *
 * Not here: pending fills and live orders (they are never in a list), names and decimals (the edge).
 */
import type { OrderRow, TradeRow } from '../clearing/rows.ts';
import { assert, InvariantError, must } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { PastOrder } from '../gateway/orders/history/order-history.ts';
import { OrderRecord, type OrderRecordView } from '../schema/generated/messages.ts';
import { checkpointSequence } from './checkpoint.ts';
import type { StorageReader } from './environment.ts';
import { decodeFrame } from './frames.ts';
import { endOf, keyWriter, TRADE_SIDE } from './key-layout.ts';
import { ORDER_OF_ID, OrderFinder } from './order-blocks.ts';
import {
  FINISHED_RUNS,
  type FinishedEntry,
  type Listed,
  newestFirst,
  type RunKind,
  type RunTable,
  TRADE_RUNS,
  type TradeEntry,
} from './runs.ts';
import { SignedTexts } from './signed-texts.ts';
import { TradeFinder, tradesAfter, tradesBefore } from './trade-blocks.ts';
import { RunsOverlap, tradesFrom } from './trade-ranks.ts';
import { marketsWithCount, readCount } from './user-counts.ts';

interface HistoryRequest {
  readonly user: UserId;
  /** Null: all markets. */
  readonly marketIndex: number | null;
  /** Null or absent: all sub-accounts. */
  readonly subAccounts?: readonly number[] | null;
  readonly skip: number;
  readonly limit: number;
}

interface HistoryPage<Row> {
  readonly rows: readonly Row[];
  /** All rows that the request would find with no skip and no limit. */
  readonly total: number;
  /** The journal sequence of this state; 0 before the first checkpoint. */
  readonly checkpoint: Sequence;
}

/** A trade as one of its two sides sees it. */
interface UserTrade {
  readonly trade: TradeRow;
  readonly isMaker: boolean;
}

/** Sorts entries of several markets that their lists hold for equal. */
type Ties<Item> = (a: Listed<Item>, b: Listed<Item>) => number;

/** What finished orders of several markets are sorted by, newest first. */
interface FinishedRank {
  readonly timeNs: bigint;
  readonly name: string;
  readonly marketIndex: number;
  readonly sequence: number;
}

interface Owned {
  readonly subAccount: number;
}

const TRADES_PER_STEP = 512;

type ScanRequest = Pick<HistoryRequest, 'user' | 'marketIndex' | 'subAccounts'>;

export class History {
  readonly #reader: StorageReader;
  readonly #entryRead: () => void;

  /** @param entryRead called with each entry of a list that is read. */
  constructor(reader: StorageReader, entryRead: () => void = () => undefined) {
    this.#reader = reader;
    this.#entryRead = entryRead;
  }

  /**
   * By match time, then trade id, both descending (PAG-03). A user on both sides sees the trade twice.
   *
   * @param ties what comes first of trades with the same time and id; else the higher market index, the taker's side.
   */
  userTrades(request: HistoryRequest, ties?: Ties<TradeEntry>): HistoryPage<UserTrade> {
    return this.#reader.view(() => {
      const rowOf = this.#tradeRows();
      return this.#ranked(request, ties, rowOf) ?? this.#page(request, TRADE_RUNS, ties, rowOf);
    });
  }

  /**
   * The same trades one after another, newest first, until `look` returns false. Of trades outside the times nothing but
   * their entries is read.
   *
   * @param times inclusive; null: any.
   */
  scanTrades(
    request: ScanRequest,
    times: { readonly fromNs: bigint | null; readonly toNs: bigint | null },
    ties: Ties<TradeEntry> | undefined,
    look: (trade: UserTrade) => boolean,
  ): void {
    const rowOf = this.#tradeRows();
    this.#scan(request, TRADE_RUNS, ties, (listed) => {
      const { matchedNs } = listed.item;
      if (times.toNs !== null && matchedNs > times.toNs) return true;
      if (times.fromNs !== null && matchedNs < times.fromNs) return false;
      return look(rowOf(listed));
    });
  }

  #tradeRows(): (listed: Listed<TradeEntry>) => UserTrade {
    const trades = new TradeFinder(this.#reader);
    return ({ marketIndex, item }) => {
      return { trade: trades.find(marketIndex, item.tradeId), isMaker: item.side === TRADE_SIDE.maker };
    };
  }

  /** The page by counting. @returns null where a filter, or runs that overlap, leave nothing but to read from the beginning. */
  #ranked(
    { user, marketIndex, subAccounts = null, skip, limit }: HistoryRequest,
    ties: Ties<TradeEntry> | undefined,
    rowOf: (listed: Listed<TradeEntry>) => UserTrade,
  ): HistoryPage<UserTrade> | null {
    const total = readCount(this.#reader, TRADE_RUNS.counts, user, marketIndex);
    if (subAccounts !== null || limit === 0 || skip >= total) return null;
    const markets = marketIndex === null ? marketsWithCount(this.#reader, TRADE_RUNS.counts, user) : [marketIndex];
    const lists = markets.map((market) => {
      return { marketIndex: market, count: readCount(this.#reader, TRADE_RUNS.counts, user, market) };
    });
    try {
      const { rank, entries } = tradesFrom(this.#reader, user, lists, skip);
      const rows: UserTrade[] = [];
      let at = rank;
      for (const listed of ranked(entries, TRADE_RUNS, ties)) {
        if (at >= skip) rows.push(rowOf(listed));
        at += 1;
        if (at === skip + limit) break;
      }
      assert(at === Math.min(skip + limit, total), 'storage: a list is as long as its count');
      return { rows, total, checkpoint: checkpointSequence(this.#reader) };
    } catch (error) {
      if (error instanceof RunsOverlap) return null;
      throw error;
    }
  }

  /**
   * How many finished orders of the query come before each place.
   *
   * @param places newest first. @param most above it counting ends, and it and one more stand for what is more.
   */
  finishedBefore(
    { user, marketIndex, subAccounts = null }: Pick<HistoryRequest, 'user' | 'marketIndex' | 'subAccounts'>,
    places: readonly FinishedRank[],
    most: number,
    ties?: Ties<FinishedEntry>,
  ): readonly number[] {
    return this.#reader.view(() => {
      const markets = marketIndex === null ? marketsWithCount(this.#reader, FINISHED_RUNS.counts, user) : [marketIndex];
      const before: number[] = [];
      let count = 0;
      for (const listed of ranked(newestFirst(this.#reader, FINISHED_RUNS, user, markets), FINISHED_RUNS, ties)) {
        if (subAccounts !== null && !subAccounts.includes(listed.item.subAccount)) continue;
        for (let place = places[before.length]; place !== undefined; place = places[before.length]) {
          if (compareRank(rankOf(listed), place) < 0) break;
          before.push(count);
        }
        count += 1;
        if (before.length === places.length || count > most) break;
      }
      while (before.length < places.length) before.push(count);
      return before;
    });
  }

  /**
   * By timestamp, then order id, both descending (PAG-02, AMB-18).
   *
   * @param ties what comes first of orders with the same time and id; else the higher market index.
   */
  finishedOrders(request: HistoryRequest, ties?: Ties<FinishedEntry>): HistoryPage<PastOrder> {
    return this.#page(request, FINISHED_RUNS, ties, this.#finishedRows());
  }

  /**
   * The same orders one after another, newest first, until `look` returns false.
   *
   * @param look is given the order as it lies in its block, and what copies it into a row: most are looked at, few are shown.
   */
  scanFinished(
    request: ScanRequest,
    ties: Ties<FinishedEntry> | undefined,
    look: (order: OrderRow, rowOf: () => PastOrder) => boolean,
  ): void {
    const orders = new OrderFinder(this.#reader);
    const texts = new SignedTexts(this.#reader);
    this.#scan(request, FINISHED_RUNS, ties, ({ marketIndex, item }) => {
      const view = orders.view(marketIndex, item.block, item.orderSequence);
      const order: OrderRecordView = found(view, marketIndex, item.orderSequence);
      return look(order, () => pastOrder(OrderRecord.read(order.v, order.at), texts));
    });
  }

  /** Every entry in turn, newest first, until `look` returns false. */
  #scan<Place, Item extends Place & Owned>(
    { user, marketIndex, subAccounts = null }: ScanRequest,
    kind: RunKind<Place, Item>,
    ties: Ties<Item> | undefined,
    look: (listed: Listed<Item>) => boolean,
  ): void {
    this.#reader.view(() => {
      const { counts, table } = kind;
      const counted = readCount(this.#reader, counts, user, marketIndex);
      if (counted === 0) {
        this.#checkEmpty(table, user, marketIndex);
        return;
      }
      let entries = 0;
      const markets = marketIndex === null ? marketsWithCount(this.#reader, counts, user) : [marketIndex];
      for (const listed of ranked(newestFirst(this.#reader, kind, user, markets), kind, ties)) {
        entries += 1;
        this.#entryRead();
        if (subAccounts !== null && !subAccounts.includes(listed.item.subAccount)) continue;
        if (!look(listed)) return;
      }
      assert(entries === counted, 'storage: a list is as long as its count');
    });
  }

  #finishedRows(): (listed: Listed<FinishedEntry>) => PastOrder {
    const orders = new OrderFinder(this.#reader);
    const texts = new SignedTexts(this.#reader);
    return ({ marketIndex, item }) => {
      const row = orders.find(marketIndex, item.block, item.orderSequence);
      return pastOrder(found(row, marketIndex, item.orderSequence), texts);
    };
  }

  /** The finished order with that id, or null: unknown, still live, or its record is gone (AMB-17). */
  finishedOrder(user: UserId, marketIndex: number, orderId: OrderId): PastOrder | null {
    return this.#reader.view(() => {
      const keys = keyWriter();
      const byId = keys.finishedById(user, marketIndex, orderId);
      const found = this.#reader.get(byId);
      if (found === null) return null;
      const { orderSequence, block } = decodeFrame(byId, found, ORDER_OF_ID.read);
      const row = new OrderFinder(this.#reader).find(marketIndex, block, orderSequence);
      return row === null ? null : pastOrder(row, new SignedTexts(this.#reader));
    });
  }

  /** Whether this order of that id has ended, or one that came after it: an id is used again when its order has ended. */
  isFinished(user: UserId, marketIndex: number, orderId: OrderId, orderSequence: Sequence): boolean {
    const byId = keyWriter().finishedById(user, marketIndex, orderId);
    const found = this.#reader.get(byId);
    return found !== null && decodeFrame(byId, found, ORDER_OF_ID.read).orderSequence >= orderSequence;
  }

  /** Trades of a market, newest first. @param below only trade ids less than this; null for all. */
  marketTrades(request: {
    readonly marketIndex: number;
    readonly below: Sequence | null;
    readonly skip: number;
    readonly limit: number;
  }): readonly TradeRow[] {
    const { marketIndex, below, skip, limit } = request;
    return this.#reader.view(() => {
      const trades: TradeRow[] = [];
      let rank = 0;
      for (const trade of limit > 0 ? tradesBefore(this.#reader, marketIndex, below) : []) {
        if (rank >= skip) trades.push(trade);
        rank += 1;
        if (rank === skip + limit) break;
      }
      return trades;
    });
  }

  /** Trades of a market with ids above `tradeId`, oldest first. */
  marketTradesAfter(marketIndex: number, tradeId: Sequence, limit: number): readonly TradeRow[] {
    return this.#reader.view(() => {
      const trades: TradeRow[] = [];
      for (const trade of limit > 0 ? tradesAfter(this.#reader, marketIndex, tradeId) : []) {
        trades.push(trade);
        if (trades.length === limit) break;
      }
      return trades;
    });
  }

  /**
   * Trades of a market matched at or after `sinceNs`, newest first, to rebuild klines and tickers. Match times rise with
   * trade ids, so the first older trade is the end.
   */
  *marketTradesSince(marketIndex: number, sinceNs: TimestampNs): Generator<TradeRow, void, undefined> {
    let below: Sequence | null = null;
    for (;;) {
      const trades: readonly TradeRow[] = this.marketTrades({ marketIndex, below, skip: 0, limit: TRADES_PER_STEP });
      for (const trade of trades) {
        if (trade.matchedNs < sinceNs) return;
        yield trade;
      }
      below = trades.at(-1)?.tradeId ?? null;
      if (trades.length < TRADES_PER_STEP) return;
    }
  }

  #page<Row, Place, Item extends Place & Owned>(
    request: HistoryRequest,
    kind: RunKind<Place, Item>,
    ties: Ties<Item> | undefined,
    rowOf: (listed: Listed<Item>) => Row,
  ): HistoryPage<Row> {
    const { user, marketIndex, subAccounts = null, skip, limit } = request;
    return this.#reader.view(() => {
      const counted = readCount(this.#reader, kind.counts, user, marketIndex);
      if (counted === 0) this.#checkEmpty(kind.table, user, marketIndex);
      const rows: Row[] = [];
      let rank = 0;
      // The number for some sub-accounts is not stored: they are read to their end.
      const isFiltered = subAccounts !== null && counted > 0;
      if (isFiltered || (limit > 0 && skip < counted)) {
        const markets = marketIndex === null ? marketsWithCount(this.#reader, kind.counts, user) : [marketIndex];
        let entries = 0;
        for (const listed of ranked(newestFirst(this.#reader, kind, user, markets), kind, ties)) {
          entries += 1;
          this.#entryRead();
          if (isFiltered && !subAccounts.includes(listed.item.subAccount)) continue;
          if (rank >= skip && rank < skip + limit) rows.push(rowOf(listed));
          rank += 1;
          if (!isFiltered && rank === skip + limit) break;
        }
        const expected = isFiltered ? counted : Math.min(skip + limit, counted);
        // mutant: list-count
        assert(entries === expected, 'storage: a list is as long as its count');
      }
      return { rows, total: isFiltered ? rank : counted, checkpoint: checkpointSequence(this.#reader) };
    });
  }

  /** Nothing counted is nothing listed: a count that lies on a damaged page is not there for lmdb. */
  #checkEmpty(table: RunTable, user: UserId, marketIndex: number | null): void {
    const from = keyWriter().ofUser(table, user, marketIndex);
    const isEmpty = this.#reader.range({ from, to: endOf(from), limit: 1 }).length === 0;
    assert(isEmpty, 'storage: who has a list has a count');
  }
}

/** The same entries, equals in the order that the caller wants; they are two sides in each market at most. */
function* ranked<Place, Item extends Place>(
  entries: Iterable<Listed<Item>>,
  kind: RunKind<Place, Item>,
  ties: Ties<Item> | undefined,
): Generator<Listed<Item>, void, undefined> {
  if (ties === undefined) {
    yield* entries;
    return;
  }
  let equals: Listed<Item>[] = [];
  for (const entry of entries) {
    const [first] = equals;
    if (first !== undefined && kind.compareRanks(first.item, entry.item) !== 0) {
      yield* equals.length === 1 ? equals : equals.sort(ties);
      equals = [];
    }
    equals.push(entry);
  }
  yield* equals.sort(ties);
}

/** @throws InvariantError for an order that a list has and its block has not. */
function found<Order>(order: Order | null, marketIndex: number, orderSequence: Sequence): Order {
  if (order === null) throw new InvariantError(`storage: order ${orderSequence} of market ${marketIndex} is missing`);
  return order;
}

/** The order with its parent's id, which stands in its signed text. @param row of the caller, who gives it away. */
function pastOrder(row: OrderRow, texts: SignedTexts): PastOrder {
  const { marketIndex, orderSequence, parentIdAt, parentIdBytes } = row;
  if (parentIdBytes === 0) return Object.assign(row, { parentId: '' as const });
  const signed = must(texts.find(marketIndex, orderSequence), 'storage: the signed text of a child is there');
  return Object.assign(row, { parentId: signed.text.slice(parentIdAt, parentIdAt + parentIdBytes) as OrderId });
}

function rankOf({ marketIndex, item }: Listed<FinishedEntry>): FinishedRank {
  return { timeNs: item.timestampNs, name: item.orderId, marketIndex, sequence: item.orderSequence };
}

function compareRank(a: FinishedRank, b: FinishedRank): number {
  if (a.timeNs !== b.timeNs) return a.timeNs > b.timeNs ? -1 : 1;
  if (a.name !== b.name) return a.name > b.name ? -1 : 1;
  return a.marketIndex - b.marketIndex || a.sequence - b.sequence;
}
