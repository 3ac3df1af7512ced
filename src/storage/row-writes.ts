/**
 * From changed rows to the writes they mean: each row under its key, finished orders, signed texts and trades in blocks,
 * and the runs that finished orders and trades add to the lists of their users (key-layout.ts). Blocks and runs are known
 * when all rows are: `end` comes last.
 */

import type { RowTableName } from '../clearing/row-layouts.ts';
import type { OrderRow, RowWrite, SignedTextRow, Tables, TradeRow, TradeSide } from '../clearing/rows.ts';
import { must } from '../core/assert.ts';
import type { UserId } from '../core/ids.ts';
import type { Sequence } from '../core/units.ts';
import { ByteReader } from '../schema/byte-reader.ts';
import type { ByteWriter } from '../schema/byte-writer.ts';
import type { StorageReader, Write } from './environment.ts';
import type { IdLists } from './id-lists.ts';
import { idRunKey, idRunWrites } from './id-runs.ts';
import { endOf, KeyWriter, keyWriter, type ListName, TABLE, TRADE_SIDE, type TradeSideIndex } from './key-layout.ts';
import { checkOrderOfId, type EndedOrder, encodeOrderOfId, endedOrder, orderBlockWrites } from './order-blocks.ts';
import { encodeRow, ROW_TABLES } from './row-tables.ts';
import {
  cutIntoRuns,
  encodeRun,
  encodeTradeRun,
  FINISHED_RUNS,
  lastTradeRun,
  olderThan,
  RUN_ENTRIES_MAX,
  TRADE_RUNS,
  type TradeEntry,
} from './runs.ts';
import { signedTextWrites } from './signed-texts.ts';
import { tradeBlockWrites } from './trade-blocks.ts';
import type { UserCounts } from './user-counts.ts';

/** Table and market. */
const MARKET_PREFIX_BYTES = 5;

/** What one checkpoint adds to the lists of a user in a market. */
interface Additions extends ListName {
  readonly orders: EndedOrder[];
  readonly trades: TradeEntry[];
}

export class RowWrites {
  readonly #reader: StorageReader;
  readonly #bytes: ByteWriter;
  readonly #keys: KeyWriter;
  readonly #counts: UserCounts;
  readonly #lists: IdLists;
  readonly #checkpoint: number;
  readonly #writes: Write[] = [];
  /** Per market the highest sequence of an order that is open in the tables, or becomes so here; -1 for none. */
  readonly #lastOpen = new Map<number, number>();
  /** By market, in the order in which they came. */
  readonly #trades = new Map<number, TradeRow[]>();
  /** By market. */
  readonly #ended = new Map<number, EndedOrder[]>();
  /** By market. */
  readonly #texts = new Map<number, SignedTextRow[]>();
  readonly #additions = new Map<UserId, Map<number, Additions>>();

  /** @param checkpoint its journal sequence: one that adds orders is above every one that did before. */
  constructor(
    reader: StorageReader,
    bytes: ByteWriter,
    into: { counts: UserCounts; lists: IdLists; checkpoint: number },
  ) {
    this.#reader = reader;
    this.#bytes = bytes;
    this.#keys = new KeyWriter(bytes);
    this.#counts = into.counts;
    this.#lists = into.lists;
    this.#checkpoint = into.checkpoint;
  }

  add(change: RowWrite): void {
    if (change.table === 'order') this.#order(change.row, change.isForgotten === true);
    else if (change.table === 'trade') this.#trade(change.row);
    else if (change.table === 'signedText') addTo(this.#texts, change.row.marketIndex, change.row);
    else this.#row(change.table, change.row);
  }

  /** Writes of the rows in their order, then of the blocks, then of the lists, user by user and market by market. */
  end(): readonly Write[] {
    for (const ended of this.#ended.values()) this.#writes.push(...orderBlockWrites(this.#bytes, this.#keys, ended));
    for (const texts of this.#texts.values()) {
      this.#writes.push(...signedTextWrites(this.#reader, this.#bytes, this.#keys, texts));
    }
    for (const trades of this.#trades.values()) {
      this.#writes.push(...tradeBlockWrites(this.#reader, this.#bytes, this.#keys, trades));
    }
    for (const markets of this.#additions.values()) {
      for (const additions of markets.values()) {
        if (additions.orders.length > 0) this.#endOrders(additions);
        if (additions.trades.length > 0) this.#endTrades(additions);
      }
    }
    return this.#writes;
  }

  #row<T extends RowTableName>(table: T, row: Tables[T]): void {
    const key = ROW_TABLES[table].key(this.#keys, row);
    this.#writes.push({ key, value: encodeRow(this.#bytes, table, key, row) });
  }

  #order(row: OrderRow, isForgotten: boolean): void {
    const { marketIndex, orderSequence } = row;
    const lastOpen = this.#lastOpenOf(marketIndex);
    if (isForgotten) {
      if (orderSequence <= lastOpen) this.#closed(marketIndex, orderSequence);
      return;
    }
    if (row.end === 0) {
      this.#row('order', row);
      this.#lastOpen.set(marketIndex, Math.max(lastOpen, orderSequence));
      return;
    }
    const ended = endedOrder(row);
    this.#additionsTo(row.user, marketIndex).orders.push(ended);
    addTo(this.#ended, marketIndex, ended);
    // Most orders end before a checkpoint saw them open: no search for what cannot be there.
    if (orderSequence <= lastOpen) this.#closed(marketIndex, orderSequence);
  }

  /** It is among the open orders no more. */
  #closed(marketIndex: number, orderSequence: Sequence): void {
    this.#writes.push({ key: this.#keys.ofMarket(TABLE.openOrder, marketIndex, orderSequence), value: null });
  }

  #lastOpenOf(marketIndex: number): number {
    let last = this.#lastOpen.get(marketIndex);
    if (last === undefined) {
      last = lastOpenOrder(this.#reader, marketIndex);
      this.#lastOpen.set(marketIndex, last);
    }
    return last;
  }

  #trade(row: TradeRow): void {
    this.#addSide(row, row.maker, TRADE_SIDE.maker);
    this.#addSide(row, row.taker, TRADE_SIDE.taker);
    addTo(this.#trades, row.marketIndex, row);
  }

  #addSide({ marketIndex, tradeId, matchedNs }: TradeRow, { user, subAccount }: TradeSide, side: TradeSideIndex): void {
    this.#additionsTo(user, marketIndex).trades.push({ matchedNs, tradeId, side, subAccount });
  }

  #additionsTo(user: UserId, marketIndex: number): Additions {
    let markets = this.#additions.get(user);
    if (markets === undefined) {
      markets = new Map();
      this.#additions.set(user, markets);
    }
    let additions = markets.get(marketIndex);
    if (additions === undefined) {
      additions = { user, marketIndex, orders: [], trades: [] };
      markets.set(marketIndex, additions);
    }
    return additions;
  }

  #endOrders({ user, marketIndex, orders }: Additions): void {
    this.#counts.add(TABLE.finishedCount, user, marketIndex, orders.length);
    this.#lists.of({ user, marketIndex }).count += orders.length;
    // Cut as they ended, so that a run of ids and a finished run are about the same orders.
    for (let chunk = 0; chunk * RUN_ENTRIES_MAX < orders.length; chunk += 1) {
      const ended = orders.slice(chunk * RUN_ENTRIES_MAX, (chunk + 1) * RUN_ENTRIES_MAX);
      this.#endChunk({ user, marketIndex }, chunk, ended);
    }
    for (const order of orders) {
      const key = this.#keys.finishedById(user, marketIndex, order.orderId);
      const value = encodeOrderOfId(this.#bytes, key, order);
      this.#writes.push({ key, value, rule: 'fresh', checkReplaced: checkOrderOfId });
    }
  }

  #endChunk(name: ListName, chunk: number, ended: readonly EndedOrder[]): void {
    for (const { key, items } of cutIntoRuns(this.#keys, FINISHED_RUNS, name, ended)) {
      this.#writes.push({ key, value: encodeRun(this.#bytes, key, items, FINISHED_RUNS.write), rule: 'once' });
      const ids = { finishedRun: key, entries: ended };
      const idsKey = idRunKey(this.#keys, name, this.#checkpoint, chunk);
      for (const write of idRunWrites(this.#bytes, idsKey, ids)) this.#writes.push({ ...write, rule: 'once' });
    }
  }

  #endTrades({ user, marketIndex, trades }: Additions): void {
    this.#counts.add(TABLE.tradeCount, user, marketIndex, trades.length);
    const runs = [...cutIntoRuns(this.#keys, TRADE_RUNS, { user, marketIndex }, trades)].reverse();
    let last = lastTradeRun(this.#reader, { user, marketIndex });
    for (const { key, items } of runs) {
      const [newest, oldest] = [must(items[0], 'a run holds something'), must(items.at(-1), 'a run holds something')];
      const older = olderThan(last, oldest);
      this.#writes.push({ key, value: encodeTradeRun(this.#bytes, key, { older, items }), rule: 'once' });
      last = { place: newest, older, count: items.length };
    }
  }
}

function addTo<Row>(byMarket: Map<number, Row[]>, marketIndex: number, row: Row): void {
  const rows = byMarket.get(marketIndex);
  if (rows === undefined) byMarket.set(marketIndex, [row]);
  else rows.push(row);
}

/** The highest sequence among the open orders of a market, -1 when it has none. */
function lastOpenOrder(reader: StorageReader, marketIndex: number): number {
  const from = keyWriter().ofMarket(TABLE.openOrder, marketIndex, 0);
  const to = endOf(from.subarray(0, MARKET_PREFIX_BYTES));
  const [last] = reader.range({ from, to, newestFirst: true, limit: 1 });
  return last === undefined ? -1 : new ByteReader(last.key.subarray(MARKET_PREFIX_BYTES)).safe();
}
