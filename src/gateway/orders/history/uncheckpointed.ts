/**
 * The uncheckpointed history: finished orders and confirmed trades that no checkpoint holds yet, kept for reads (design: reads miss
 * nothing that was confirmed).
 *
 *   published ──decided by clearing──▶ undated ──journal flushed──▶ dated ──checkpoint reaches the date──▶ dropped
 *
 * The date is the number of the first journal flush that clearing announces after it decided the thing; the flush that
 * really held it may be earlier, so things are dropped late, never early. What is both here and in
 * the tables is sorted out when it is read (pages.ts).
 *
 * Bounded by what clearing can decide between two checkpoints, which are spaced by time and by journal length. What a
 * checkpoint holds goes some at a flush, and twice as much as the flush has dated: all of it at once would delay the
 * next request, and less would not keep up.
 */
import { must } from '../../../core/assert.ts';
import type { UserId } from '../../../core/ids.ts';
import { FILL_STATUS } from '../../../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../../../core/units.ts';
import { type Views, viewsOf } from '../../../core/views.ts';
import { readOrderId, writeText } from '../../../schema/fields.ts';
import { readInt128, writeInt128 } from '../../../schema/int128.ts';
import type { LiveOrder } from '../book/live-order.ts';
import type { MarketSlot } from '../book/markets.ts';
import type { UserTradeEvent } from '../book/order-events.ts';

/** What is needed of an order here: the last event of it, and how far clearing has decided its market. */
export interface FinishedOrder {
  readonly lastSequence: number;
  readonly market: { readonly decidedSequence: number };
}

interface Dated<Order> {
  readonly order: Order;
  readonly journal: number;
}

/** Orders, and sides of trades, that one flush drops at most: a fraction of a millisecond of work. */
export const DROPPED_PER_FLUSH = 512;

/** Places of what was dropped that are given up at once. */
const LET_GO_MIN = 64;

/** First in, first out. To shift an array of some 50,000 moves all of it, every time. */
class Line<T> {
  #items: T[] = [];
  #head = 0;

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  drop(): void {
    this.#head += 1;
    const isMost = this.#head >= LET_GO_MIN && 2 * this.#head >= this.#items.length;
    if (isMost || this.#head === this.#items.length) this.#letGo();
  }

  #letGo(): void {
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}

export class UncheckpointedHistory<Order extends FinishedOrder = LiveOrder> {
  readonly #orders: { remove(order: Order): void };
  readonly #ended = new Map<FinishedOrder['market'], Line<Order>>();
  #undatedOrders: Order[] = [];
  readonly #datedOrders = new Line<Dated<Order>>();
  readonly #trades: UncheckpointedTrades;

  /** @param orders where finished ones are until they are dropped. @param marketAt the market of an index. */
  constructor(orders: { remove(order: Order): void }, marketAt: (marketIndex: number) => MarketSlot) {
    this.#orders = orders;
    this.#trades = new UncheckpointedTrades(marketAt);
  }

  /** Confirmed trades of the user since the last checkpoint, in the order of their confirmation. */
  tradesOf(user: UserId): readonly UncheckpointedTrade[] {
    return this.#trades.of(user);
  }

  /** The number of sides of trades. */
  get tradeCount(): number {
    return this.#trades.count;
  }

  tradeConfirmed(user: UserId, marketIndex: number, trade: ConfirmedTrade): void {
    this.#trades.add(user, marketIndex, trade);
  }

  /** The order is finished; it stays in memory until a checkpoint holds it. */
  orderFinished(order: Order): void {
    if (order.lastSequence <= order.market.decidedSequence) {
      this.#undatedOrders.push(order);
      return;
    }
    let ended = this.#ended.get(order.market);
    if (ended === undefined) {
      ended = new Line();
      this.#ended.set(order.market, ended);
    }
    ended.push(order);
  }

  /** Clearing has decided this market up to `market.decidedSequence`. One that finished behind a later one waits for it. */
  marketDecided(market: FinishedOrder['market']): void {
    const ended = this.#ended.get(market);
    for (let order = ended?.first; order !== undefined; order = ended?.first) {
      if (order.lastSequence > market.decidedSequence) return;
      this.#undatedOrders.push(order);
      ended?.drop();
    }
  }

  /**
   * Dates what was decided, then drops some of what the checkpoint holds.
   *
   * @param journal the journal is flushed through this sequence.
   * @param checkpoint the last sequence that the tables reflect.
   */
  journalFlushed(journal: number, checkpoint: number): void {
    const orders = this.#undatedOrders;
    for (const order of orders) this.#datedOrders.push({ order, journal });
    this.#undatedOrders = [];
    this.#dropOrders(checkpoint, DROPPED_PER_FLUSH + 2 * orders.length);
    const { undated } = this.#trades;
    this.#trades.date(journal);
    this.#trades.drop(checkpoint, DROPPED_PER_FLUSH + 2 * undated);
  }

  #dropOrders(checkpoint: number, most: number): void {
    for (let dropped = 0; dropped < most; dropped += 1) {
      const dated = this.#datedOrders.first;
      if (dated === undefined || dated.journal > checkpoint) return;
      this.#orders.remove(dated.order);
      this.#datedOrders.drop();
    }
  }
}

// Confirmed trades that no checkpoint holds yet, one record for each side, packed: each lives for seconds, so as objects
// they would be what the collector copies again and again.
//
//   first ──────── dated ──────── next          positions, counted since the start; each side takes the next one
//     │ dropped when a checkpoint reaches its date
//
// Records lie in chunks; one that is dropped as a whole is used again. The trades of a user are linked, the oldest first.

/** What is kept of one side of a confirmed trade; the rest follows from its market. */
export type ConfirmedTrade = Pick<
  UserTradeEvent,
  | 'tradeId'
  | 'orderId'
  | 'subAccount'
  | 'price'
  | 'quantity'
  | 'timestampNs'
  | 'isMaker'
  | 'isBuyer'
  | 'isLiquidation'
  | 'isAutoDeleverage'
  | 'fee'
> & {
  /** The target of its order. */
  readonly isSpot: boolean;
};

/** One side of a confirmed trade. */
export interface UncheckpointedTrade {
  readonly marketIndex: number;
  readonly trade: UserTradeEvent;
  /** The target of its order. */
  readonly isSpot: boolean;
}

/** Offsets of a record; doubles and nanoseconds first. */
const FIELD = {
  tradeId: 0,
  price: 8,
  quantity: 16,
  journal: 24,
  nextOfUser: 32,
  timestampNs: 40,
  fee: 48,
  marketIndex: 64,
  subAccount: 68,
  flags: 72,
  orderIdBytes: 76,
  orderId: 80,
} as const;
/** The order id has at most 64 bytes. */
const RECORD_BYTES: number = FIELD.orderId + 64;
const CHUNK_RECORDS = 1_024;
const MAKER = 1;
const BUYER = 2;
const LIQUIDATION = 4;
const AUTO_DELEVERAGE = 8;
const SPOT = 16;
const NONE = -1;

interface OwnTrades {
  readonly user: UserId;
  first: number;
  last: number;
}

interface Chunk {
  readonly views: Views;
  /** The owners of each record. */
  readonly owners: (OwnTrades | null)[];
}

class UncheckpointedTrades {
  /** The chunks with the positions from `first` on. */
  #chunks: Chunk[] = [];
  /** The last chunk that was dropped. */
  #spare: Chunk | null = null;
  /** The first position of the first chunk. */
  #base = 0;
  #first = 0;
  #dated = 0;
  #next = 0;
  readonly #users = new Map<UserId, OwnTrades>();
  readonly #marketAt: (marketIndex: number) => MarketSlot;

  constructor(marketAt: (marketIndex: number) => MarketSlot) {
    this.#marketAt = marketAt;
  }

  /** Sides of trades. */
  get count(): number {
    return this.#next - this.#first;
  }

  /** How many have no date. */
  get undated(): number {
    return this.#next - this.#dated;
  }

  add(user: UserId, marketIndex: number, trade: ConfirmedTrade): void {
    const position = this.#next;
    const chunk = this.#chunkFor(position);
    const at = recordAt(position);
    const { views } = chunk;
    const flags =
      (trade.isMaker ? MAKER : 0) |
      (trade.isBuyer ? BUYER : 0) |
      (trade.isLiquidation ? LIQUIDATION : 0) |
      (trade.isAutoDeleverage ? AUTO_DELEVERAGE : 0) |
      (trade.isSpot ? SPOT : 0);
    views.f64[(at + FIELD.tradeId) >>> 3] = trade.tradeId;
    views.f64[(at + FIELD.price) >>> 3] = trade.price;
    views.f64[(at + FIELD.quantity) >>> 3] = trade.quantity;
    views.f64[(at + FIELD.nextOfUser) >>> 3] = NONE;
    views.i64[(at + FIELD.timestampNs) >>> 3] = trade.timestampNs;
    writeInt128(views, at + FIELD.fee, trade.fee);
    views.i32[(at + FIELD.marketIndex) >>> 2] = marketIndex;
    views.i32[(at + FIELD.subAccount) >>> 2] = trade.subAccount;
    views.i32[(at + FIELD.flags) >>> 2] = flags;
    views.i32[(at + FIELD.orderIdBytes) >>> 2] = trade.orderId.length;
    writeText(views, at + FIELD.orderId, trade.orderId);
    chunk.owners[position % CHUNK_RECORDS] = this.#link(user, position);
    this.#next += 1;
  }

  /** A journal flush dates what has no date. */
  date(journal: number): void {
    for (; this.#dated < this.#next; this.#dated += 1) {
      this.#viewsOf(this.#dated).f64[(recordAt(this.#dated) + FIELD.journal) >>> 3] = journal;
    }
  }

  /** Drops at most so many that the checkpoint holds, the oldest first. */
  drop(checkpoint: number, most: number): void {
    const end = Math.min(this.#dated, this.#first + most);
    while (this.#first < end) {
      const position = this.#first;
      const { views, owners } = this.#chunkOf(position);
      if ((views.f64[(recordAt(position) + FIELD.journal) >>> 3] as number) > checkpoint) return;
      const own = must(owners[position % CHUNK_RECORDS] ?? undefined, "a trade that is kept is its user's");
      owners[position % CHUNK_RECORDS] = null;
      own.first = views.f64[(recordAt(position) + FIELD.nextOfUser) >>> 3] as number;
      if (own.first === NONE) this.#users.delete(own.user);
      this.#first += 1;
      if (this.#first - this.#base === CHUNK_RECORDS) this.#dropChunk();
    }
  }

  /** The user's trades, in the order of their confirmation. */
  of(user: UserId): readonly UncheckpointedTrade[] {
    const trades: UncheckpointedTrade[] = [];
    for (let position = this.#users.get(user)?.first ?? NONE; position !== NONE; ) {
      trades.push(this.#read(position));
      position = this.#viewsOf(position).f64[(recordAt(position) + FIELD.nextOfUser) >>> 3] as number;
    }
    return trades;
  }

  #read(position: number): UncheckpointedTrade {
    const views = this.#viewsOf(position);
    const at = recordAt(position);
    const marketIndex = views.i32[(at + FIELD.marketIndex) >>> 2] as number;
    const { assetId, priceDecimals, quantityDecimals } = this.#marketAt(marketIndex).definition;
    const flags = views.i32[(at + FIELD.flags) >>> 2] as number;
    const trade: UserTradeEvent = {
      assetId,
      tradeId: views.f64[(at + FIELD.tradeId) >>> 3] as number,
      orderId: readOrderId(views, at + FIELD.orderId, views.i32[(at + FIELD.orderIdBytes) >>> 2] as number),
      subAccount: views.i32[(at + FIELD.subAccount) >>> 2] as number,
      price: views.f64[(at + FIELD.price) >>> 3] as RawPrice,
      quantity: views.f64[(at + FIELD.quantity) >>> 3] as RawQuantity,
      priceDecimals,
      quantityDecimals,
      timestampNs: views.i64[(at + FIELD.timestampNs) >>> 3] as TimestampNs,
      isMaker: (flags & MAKER) !== 0,
      isBuyer: (flags & BUYER) !== 0,
      status: FILL_STATUS.confirmed,
      rollbackReason: null,
      isLiquidation: (flags & LIQUIDATION) !== 0,
      isAutoDeleverage: (flags & AUTO_DELEVERAGE) !== 0,
      fee: readInt128(views, at + FIELD.fee) as Amount18,
    };
    return { marketIndex, trade, isSpot: (flags & SPOT) !== 0 };
  }

  /** The record is the user's last from now on. */
  #link(user: UserId, position: number): OwnTrades {
    const known = this.#users.get(user);
    if (known === undefined) {
      const own = { user, first: position, last: position };
      this.#users.set(user, own);
      return own;
    }
    this.#viewsOf(known.last).f64[(recordAt(known.last) + FIELD.nextOfUser) >>> 3] = position;
    known.last = position;
    return known;
  }

  #chunkFor(position: number): Chunk {
    if (position - this.#base === this.#chunks.length * CHUNK_RECORDS) {
      this.#chunks.push(this.#spare ?? newChunk());
      this.#spare = null;
    }
    return this.#chunkOf(position);
  }

  #dropChunk(): void {
    this.#spare = this.#chunks.shift() ?? null;
    this.#base += CHUNK_RECORDS;
  }

  #chunkOf(position: number): Chunk {
    return this.#chunks[Math.floor((position - this.#base) / CHUNK_RECORDS)] as Chunk;
  }

  #viewsOf(position: number): Views {
    return this.#chunkOf(position).views;
  }
}

function newChunk(): Chunk {
  const bytes = CHUNK_RECORDS * RECORD_BYTES;
  return {
    views: viewsOf(new ArrayBuffer(bytes), 0, bytes),
    owners: new Array<OwnTrades | null>(CHUNK_RECORDS).fill(null),
  };
}

/** Byte offset within its chunk. */
function recordAt(position: number): number {
  return (position % CHUNK_RECORDS) * RECORD_BYTES;
}
