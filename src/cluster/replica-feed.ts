/**
 * The feed of a replica of market data (cluster.md 2, 4): what the leader publishes goes into the ring of the same market data that a
 * node has. It holds no ledger and no order.
 *
 *   syncing   registry ─▶ all books ─▶ tape up to the last trades of the books ─▶ what came meanwhile ─▶ live
 *   live      message after message, by the numbers of its channel
 *   gap, another epoch, another life of the leader's or the own market data ─▶ syncing
 *
 * Invariants
 *   (1) A record reaches market data once, behind the book that it changes, and none is left out: numbers are contiguous for each
 *       channel, and what a book or the registry reflects is passed over by its number.
 *   (2) Of two leaders the one with the higher epoch is followed, of two lives of its market data the later one.
 *   (3) What waits is bounded by WAITING_BYTES_MAX: with more the feed begins anew.
 */
import { readClearingEvent, writeClearingEvent } from '../clearing/effect-codec.ts';
import { parseScaled } from '../core/decimal.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { TradeFigures } from '../core/market-figures.ts';
import { SIDE } from '../core/order-terms.ts';
import type { RawPrice, RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import {
  type FromTap,
  marketOfRecord,
  readTapBytes,
  recordsIn,
  TAP_LAYOUT,
  type TapRecord,
  type TapSink,
  writeTap,
} from '../market-data/tap-codec.ts';
import { NodeEvent } from '../schema/generated/messages.ts';
import type { AliveMessage } from './market-data-publisher.ts';
import type { TapeLines } from './stream-log.ts';

const WAITING_BYTES_MAX: number = 64 << 20;
const BOOKS_AT_ONCE = 8;
const RETRY_MS = 100;
const ROOM_MS = 1;
/** How long the tape may be behind the last trade of a book. */
const TAPE_MS_MAX = 5_000;
const TRADES_PER_MESSAGE = 256;
/** A record and its head; far above any. */
const ROOM_BYTES = 1 << 16;
const KIND_OF_ALIVE = 'alive';

/** The servers, as a replica uses them. No promise rejects. */
interface ReplicaServers {
  askBook(market: number | null, take: (part: Uint8Array) => boolean): Promise<void>;
  getTape(from: number): Promise<readonly TapeLines[]>;
}

/** The edge to market data: 'drop-and-resync'. */
interface FeedPublication extends TapSink {
  flush(): void;
  hasRoom(bytes: number): boolean;
  needsResync(): boolean;
  beginResync(): void;
}

interface ReplicaFeedOptions {
  readonly servers: ReplicaServers;
  readonly publication: FeedPublication;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** The leader has published its place. */
  readonly alive: (epoch: number, message: AliveMessage) => void;
  readonly log: (facts: Readonly<Record<string, unknown>>, text: string) => void;
}

type Records = Extract<FromTap, { kind: 'records' }>;
type Answer = Extract<FromTap, { kind: 'book' | 'registry' }>;

interface Waiting {
  readonly channel: number;
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** An answer, whole. */
interface Answered {
  readonly head: Answer;
  readonly bytes: Uint8Array;
}

export class ReplicaFeed {
  readonly #options: ReplicaFeedOptions;
  #epoch = 0;
  #run = 0;
  #isLive = false;
  /** Every begin of a sync has another one: the requests of an earlier one are void. */
  #sync = 0;
  /** Messages in the order of their arrival: while syncing, and while the ring has no room. */
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /** By channel, the last message that was received without a gap. */
  readonly #received = new Map<number, number>();
  /** By channel, what an `alive` has named and was not there. */
  readonly #missing = new Map<number, number>();
  readonly #definitions = new Map<number, MarketDefinition>();
  #tapeNext = 1;
  readonly #tapeLast = new Map<number, Sequence>();
  #gaps = 0;
  #lagMs = 0;
  #heardMs: number | null = null;
  #isOtherLayout = false;

  constructor(options: ReplicaFeedOptions) {
    this.#options = options;
  }

  /** Whether market data has a contiguous image of all markets. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** Times that a message was missing. */
  get gaps(): number {
    return this.#gaps;
  }

  /** From the leader's reading of a record to its arrival, by both wall clocks; since the last message in silence. */
  lagSeconds(): number {
    if (this.#heardMs === null) return 0;
    const silentMs = this.#options.wallMs() - this.#heardMs;
    return Math.max(this.#lagMs, silentMs > 2 * RETRY_MS + 300 ? silentMs : 0, 0) / 1_000;
  }

  /** Milliseconds without a message of a leader; null before the first. */
  silentMs(): number | null {
    return this.#heardMs === null ? null : this.#options.wallMs() - this.#heardMs;
  }

  heard(epoch: number, channel: string, bytes: Uint8Array): void {
    if (channel === KIND_OF_ALIVE) {
      const alive = aliveOf(bytes);
      if (alive !== null && this.#isCurrent(epoch, alive.run)) this.#onAlive(epoch, alive);
      return;
    }
    const read = readTapBytes(bytes);
    if (read === null || read.message.kind !== 'records') return;
    if (this.#isOther(read.message.layout) || !this.#isCurrent(epoch, read.message.run)) return;
    this.#lagMs = this.#options.wallMs() - read.message.atMs;
    this.#heardMs = this.#options.wallMs();
    this.#onRecords(read.message, read.bytes);
  }

  /** To be called every few milliseconds. */
  tick(): void {
    const { publication } = this.#options;
    if (publication.needsResync()) {
      // Market data has begun anew: it has nothing.
      publication.beginResync();
      this.#tapeNext = 1;
      this.#tapeLast.clear();
      if (this.#run !== 0) this.#begin('market data was restarted');
    }
    if (this.#isLive) this.#pump();
  }

  /** Whether the message is of the leader that is followed; a later one is followed from now on. */
  #isCurrent(epoch: number, run: number): boolean {
    if (epoch < this.#epoch || (epoch === this.#epoch && run < this.#run)) return false;
    if (epoch === this.#epoch && run === this.#run) return true;
    this.#epoch = epoch;
    this.#run = run;
    this.#begin('another leader, or another life of its market data');
    return true;
  }

  #isOther(layout: number): boolean {
    if (layout === TAP_LAYOUT) return false;
    if (!this.#isOtherLayout)
      this.#options.log({ layout, own: TAP_LAYOUT }, 'the leader publishes records of another release: use the same');
    this.#isOtherLayout = true;
    this.#isLive = false;
    return true;
  }

  #onAlive(epoch: number, alive: AliveMessage): void {
    this.#options.alive(epoch, alive);
    this.#heardMs = this.#options.wallMs();
    for (const [name, number] of Object.entries(alive.numbers)) {
      const channel = Number(name);
      const received = this.#received.get(channel) ?? 0;
      const missed = this.#missing.get(channel) ?? 0;
      if (number > received) this.#missing.set(channel, number);
      else this.#missing.delete(channel);
      // The last message of a channel was lost: nothing that follows shows it.
      if (this.#isLive && missed > received) {
        this.#gap(channel, received + 1, missed);
        return;
      }
    }
  }

  #onRecords({ channel, number }: Records, bytes: Uint8Array): void {
    if (this.#isLive) {
      const expected = (this.#received.get(channel) ?? 0) + 1;
      if (number < expected) return;
      // mutant: replica-gap
      if (number > expected) this.#gap(channel, expected, number);
    }
    if (!this.#isLive && this.#waitingBytes + bytes.length > WAITING_BYTES_MAX) {
      this.#begin('too much came while books were read');
      return;
    }
    this.#received.set(channel, Math.max(number, this.#received.get(channel) ?? 0));
    this.#waiting.push({ channel, number, bytes });
    this.#waitingBytes += bytes.length;
    if (this.#isLive) this.#pump();
    if (this.#isLive && this.#waitingBytes > WAITING_BYTES_MAX) this.#begin('market data does not keep up');
  }

  #gap(channel: number, expected: number, number: number): void {
    this.#gaps += 1;
    this.#begin('messages are missing', { channel, expected, number });
  }

  /** What is read of the books goes to market data as it is, in the order of channels. */
  #pump(): void {
    const { publication } = this.#options;
    let taken = 0;
    for (const { bytes } of this.#waiting) {
      if (!publication.hasRoom(bytes.length + ROOM_BYTES)) break;
      for (const record of recordsIn(bytes)) this.#write(record);
      this.#waitingBytes -= bytes.length;
      taken += 1;
    }
    if (taken > 0) this.#waiting.splice(0, taken);
    publication.flush();
  }

  #write({ typeId, v, at, bytes }: TapRecord): void {
    if (typeId === NodeEvent.typeId) this.#note(v, at);
    const publication = this.#edge();
    const to = publication.claim(typeId, bytes);
    // A record that is dropped is a gap of the edge: the next tick begins anew.
    if (to < 0) return;
    publication.views.u8.set(v.u8.subarray(at, at + bytes), to);
    publication.commit();
  }

  /** Market data that was restarted is given nothing until the next tick: it has no market yet. */
  #edge(): FeedPublication {
    const { publication } = this.#options;
    publication.needsResync();
    return publication;
  }

  /** The decimals of markets, for prices of the tape. */
  #note(v: TapRecord['v'], at: number): void {
    const event = readClearingEvent(v, at);
    if (event.kind === 'registryChanged' && event.change.table === 'market') {
      const { definition } = event.change.row;
      this.#definitions.set(definition.marketIndex, definition);
    }
  }

  // ---- syncing

  #begin(why: string, facts: Readonly<Record<string, unknown>> = {}): void {
    this.#options.log({ epoch: this.#epoch, run: this.#run, ...facts }, `books are read from the leader: ${why}`);
    this.#isLive = false;
    this.#sync += 1;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#received.clear();
    this.#missing.clear();
    void this.#synchronise(this.#sync);
  }

  async #synchronise(sync: number): Promise<void> {
    const isOver = (): boolean => this.#sync !== sync;
    const registry = await this.#ask(null, isOver);
    if (registry === null) return;
    await this.#give(registry.bytes, isOver);
    const books = await this.#books(registry.head.markets, isOver);
    if (isOver()) return;
    await this.#readTape(books, isOver);
    if (isOver()) return;
    writeClearingEvent({ kind: 'historyReady' }, this.#edge());
    for (const { bytes } of books) await this.#give(bytes, isOver);
    await this.#catchUp(registry.head, books, isOver);
  }

  /** What came since the first answer: a book has some of it, and each record is given behind its own book. */
  async #catchUp(registry: Answer, books: readonly Answered[], isOver: () => boolean): Promise<void> {
    const { publication } = this.#options;
    const applied = new Map<number, number>(registry.numbers.map((number, channel) => [channel, number]));
    for (;;) {
      const next = this.#waiting.shift();
      if (next === undefined || isOver()) break;
      this.#waitingBytes -= next.bytes.length;
      const last = applied.get(next.channel) ?? 0;
      if (next.number <= last) continue;
      if (next.number !== last + 1) {
        this.#gap(next.channel, last + 1, next.number);
        return;
      }
      applied.set(next.channel, next.number);
      await this.#room(next.bytes.length, isOver);
      if (isOver()) return;
      for (const record of recordsIn(next.bytes)) {
        const book = next.channel === registry.channel ? undefined : books[marketOfRecord(record)];
        // mutant: book-reflects-its-number
        if (book === undefined || next.number > (book.head.numbers[next.channel] ?? 0)) this.#write(record);
      }
    }
    if (isOver()) return;
    // A message between an answer and the next one may have been lost: books then name more than was received.
    for (const { head } of books)
      for (const [channel, number] of head.numbers.entries())
        if (number > (applied.get(channel) ?? 0)) {
          this.#gap(channel, (applied.get(channel) ?? 0) + 1, number);
          return;
        }
    for (const [channel, number] of applied) this.#received.set(channel, number);
    publication.flush();
    this.#isLive = true;
    this.#options.log({ epoch: this.#epoch, markets: books.length }, 'the replica has all books');
  }

  async #books(markets: number, isOver: () => boolean): Promise<readonly Answered[]> {
    const books: Answered[] = [];
    for (let from = 0; from < markets; from += BOOKS_AT_ONCE) {
      const indexes = Array.from({ length: Math.min(BOOKS_AT_ONCE, markets - from) }, (_, at) => from + at);
      const answers = await Promise.all(indexes.map((market) => this.#ask(market, isOver)));
      for (const answer of answers) if (answer !== null) books.push(answer);
    }
    return books;
  }

  /** Repeats the request until there is an answer of the life that is followed; null when the sync is over. */
  async #ask(market: number | null, isOver: () => boolean): Promise<Answered | null> {
    const { servers, sleep } = this.#options;
    while (!isOver()) {
      const parts: Uint8Array[] = [];
      let head: Answer | null = null;
      await servers.askBook(market, (part) => {
        const read = readTapBytes(part);
        if (read === null || (read.message.kind !== 'book' && read.message.kind !== 'registry')) return false;
        if (this.#isOther(read.message.layout) || read.message.part !== parts.length) return false;
        parts.push(read.bytes.slice());
        if (read.message.isLast) head = read.message;
        return !read.message.isLast;
      });
      const answered = head as Answer | null;
      if (answered !== null && answered.run === this.#run) return { head: answered, bytes: Buffer.concat(parts) };
      await sleep(RETRY_MS);
    }
    return null;
  }

  async #give(bytes: Uint8Array, isOver: () => boolean): Promise<void> {
    for (const record of recordsIn(bytes)) {
      if (!this.#options.publication.hasRoom(record.bytes + ROOM_BYTES)) await this.#room(record.bytes, isOver);
      if (isOver()) return;
      this.#write(record);
    }
    this.#options.publication.flush();
  }

  async #room(bytes: number, isOver: () => boolean): Promise<void> {
    const { publication, sleep } = this.#options;
    while (!publication.hasRoom(bytes + ROOM_BYTES) && !isOver() && !publication.needsResync()) {
      publication.flush();
      await sleep(ROOM_MS);
    }
  }

  // ---- the tape

  /** Trades of the tape up to the last one of each book: those behind it come as records. */
  async #readTape(books: readonly Answered[], isOver: () => boolean): Promise<void> {
    const { sleep, wallMs, log } = this.#options;
    const untilMs = wallMs() + TAPE_MS_MAX;
    const behind = (): readonly TradeFigures[] =>
      books.flatMap(({ head: { lastTrade } }) =>
        lastTrade !== null && lastTrade.tradeId > (this.#tapeLast.get(lastTrade.marketIndex) ?? 0) ? [lastTrade] : [],
      );
    for (;;) {
      const isEnd = await this.#readTapeOnce(isOver);
      if (isOver()) return;
      if (!isEnd) continue;
      if (behind().length === 0) return;
      if (wallMs() >= untilMs) break;
      await sleep(RETRY_MS);
    }
    const missing = behind();
    log({ markets: missing.map(({ marketIndex }) => marketIndex) }, 'the tape does not have the last trades of these');
    await this.#giveTrades(missing, isOver);
  }

  /** @returns whether there was nothing. */
  async #readTapeOnce(isOver: () => boolean): Promise<boolean> {
    const messages = await this.#options.servers.getTape(this.#tapeNext);
    const trades = messages.flatMap(({ marketIndex, lines }) => tradesOf(lines, this.#definitions.get(marketIndex)));
    await this.#giveTrades(trades, isOver);
    const last = messages.at(-1);
    if (last !== undefined && !isOver()) this.#tapeNext = last.sequence + 1;
    return messages.length === 0;
  }

  async #giveTrades(trades: readonly TradeFigures[], isOver: () => boolean): Promise<void> {
    const { publication } = this.#options;
    for (let from = 0; from < trades.length; from += TRADES_PER_MESSAGE) {
      const some = trades.slice(from, from + TRADES_PER_MESSAGE);
      await this.#room(ROOM_BYTES, isOver);
      if (isOver()) return;
      writeTap(this.#edge(), { kind: 'tape', trades: some });
      for (const { marketIndex, tradeId } of some)
        if (tradeId > (this.#tapeLast.get(marketIndex) ?? 0)) this.#tapeLast.set(marketIndex, tradeId);
    }
    publication.flush();
  }
}

function aliveOf(bytes: Uint8Array): AliveMessage | null {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as AliveMessage;
  } catch {
    return null;
  }
}

/** Lines of the tape; none of a market that is not known, and none that cannot be read. */
function tradesOf(lines: Uint8Array, definition: MarketDefinition | undefined): TradeFigures[] {
  if (definition === undefined) return [];
  return Buffer.from(lines)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const trade = tradeOf(line, definition);
      return trade === null ? [] : [trade];
    });
}

function tradeOf(
  line: string,
  { marketIndex, priceDecimals, quantityDecimals }: MarketDefinition,
): TradeFigures | null {
  const { trade_id, price, quantity, matched_ns, taker_side } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const rawPrice = parseScaled(String(price), priceDecimals);
  const rawQuantity = parseScaled(String(quantity), quantityDecimals);
  if (typeof trade_id !== 'number' || rawPrice === null || rawQuantity === null) return null;
  return {
    marketIndex,
    tradeId: trade_id as Sequence,
    price: Number(rawPrice) as RawPrice,
    quantity: Number(rawQuantity) as RawQuantity,
    matchedNs: BigInt(String(matched_ns)) as TimestampNs,
    takerSide: taker_side === 'Buy' ? SIDE.buy : SIDE.sell,
  };
}
