/**
 * The tables as the order manager's reads want them (src/gateway/orders/history/order-history.ts): one version of the map per `read`,
 * with the order of ties that readers are promised.
 */
import type { MarketRow, OrderRow } from '../clearing/rows.ts';
import { must } from '../core/assert.ts';
import { compareAssetIds, type OrderId, type UserId } from '../core/ids.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { Sequence } from '../core/units.ts';
import type {
  HistoryQuery,
  HistorySnapshot,
  HistoryTrade,
  HistoryWindow,
  OrderHistory,
  OrderPlace,
  PastOrder,
  TimeRange,
} from '../gateway/orders/history/order-history.ts';
import type { StorageReader } from './environment.ts';
import { decodeFrame } from './frames.ts';
import { History } from './history.ts';
import { keyWriter, TABLE, TRADE_SIDE } from './key-layout.ts';
import { ORDER_OF_ID, OrderFinder } from './order-blocks.ts';
import { decodeRow } from './row-tables.ts';
import type { FinishedEntry, Listed, TradeEntry } from './runs.ts';

export class TableHistory implements OrderHistory {
  readonly #reader: StorageReader;
  readonly #history: History;

  /** @param entryRead called with each entry of a list that is read. */
  constructor(reader: StorageReader, entryRead: () => void = () => undefined) {
    this.#reader = reader;
    this.#history = new History(reader, entryRead);
  }

  read<T>(reader: (snapshot: HistorySnapshot) => T): T {
    return this.#reader.view(() => reader(new TableSnapshot(this.#reader, this.#history)));
  }
}

function compareFinishedTies(a: Listed<FinishedEntry>, b: Listed<FinishedEntry>): number {
  return a.marketIndex - b.marketIndex || a.item.orderSequence - b.item.orderSequence;
}

class TableSnapshot implements HistorySnapshot {
  readonly #reader: StorageReader;
  readonly #history: History;
  readonly #orders: OrderFinder;
  readonly #markets = new Map<number, MarketRow | null>();

  constructor(reader: StorageReader, history: History) {
    this.#reader = reader;
    this.#history = history;
    this.#orders = new OrderFinder(reader);
  }

  marketSequence(marketIndex: number): number {
    return this.#market(marketIndex)?.sequence ?? 0;
  }

  lastTradeId(marketIndex: number): number {
    return this.#market(marketIndex)?.lastTradeId ?? 0;
  }

  isFinished(user: UserId, marketIndex: number, orderId: OrderId, orderSequence: number): boolean {
    return this.#history.isFinished(user, marketIndex, orderId, orderSequence as Sequence);
  }

  orderFlags(user: UserId, marketIndex: number, orderId: OrderId, orderSequence: number): number | null {
    const key = keyWriter().ofMarket(TABLE.openOrder, marketIndex, orderSequence as Sequence);
    const open = this.#reader.get(key);
    if (open !== null) return decodeRow('order', key, open).flags;
    const byId = keyWriter().finishedById(user, marketIndex, orderId);
    const found = this.#reader.get(byId);
    if (found === null) return null;
    const last = decodeFrame(byId, found, ORDER_OF_ID.read);
    if (last.orderSequence !== orderSequence) return null;
    return this.#orders.find(marketIndex, last.block, last.orderSequence)?.flags ?? null;
  }

  findOrder(user: UserId, marketIndex: number, orderId: OrderId): PastOrder | undefined {
    return this.#history.finishedOrder(user, marketIndex, orderId) ?? undefined;
  }

  finishedOrders(query: HistoryQuery, offset: number, limit: number): HistoryWindow<PastOrder> {
    return this.#history.finishedOrders({ ...query, skip: offset, limit }, compareFinishedTies);
  }

  scanFinished(query: HistoryQuery, look: (order: OrderRow, rowOf: () => PastOrder) => boolean): void {
    this.#history.scanFinished(query, compareFinishedTies, look);
  }

  finishedBefore(query: HistoryQuery, places: readonly OrderPlace[], rank: number): readonly number[] {
    return this.#history.finishedBefore(query, places, rank, compareFinishedTies);
  }

  trades(query: HistoryQuery, offset: number, limit: number): HistoryWindow<HistoryTrade> {
    const { rows, total } = this.#history.userTrades({ ...query, skip: offset, limit }, (a, b) =>
      this.#compareTies(a, b),
    );
    return { rows: rows.map(({ trade, isMaker }) => ({ row: trade, isMaker })), total };
  }

  scanTrades(query: HistoryQuery, times: TimeRange, look: (entry: HistoryTrade) => boolean): void {
    const ties = (a: Listed<TradeEntry>, b: Listed<TradeEntry>): number => this.#compareTies(a, b);
    this.#history.scanTrades(query, times, ties, ({ trade, isMaker }) => look({ row: trade, isMaker }));
  }

  definition(marketIndex: number): MarketDefinition {
    return must(this.#market(marketIndex), 'a row is of a market in the tables').definition;
  }

  /** By asset, and of a self-match the taker's side first. */
  #compareTies(a: Listed<TradeEntry>, b: Listed<TradeEntry>): number {
    if (a.marketIndex !== b.marketIndex) {
      return compareAssetIds(this.definition(a.marketIndex).assetId, this.definition(b.marketIndex).assetId);
    }
    return Number(a.item.side === TRADE_SIDE.maker) - Number(b.item.side === TRADE_SIDE.maker);
  }

  #market(marketIndex: number): MarketRow | null {
    const known = this.#markets.get(marketIndex);
    if (known !== undefined) return known;
    const key = keyWriter().numbered(TABLE.market, marketIndex);
    const value = this.#reader.get(key);
    const row = value === null ? null : decodeRow('market', key, value);
    this.#markets.set(marketIndex, row);
    return row;
  }
}
