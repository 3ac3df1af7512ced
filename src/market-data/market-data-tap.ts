/**
 * What the leader's market data reads, for replicas (cluster.md 2, 4): each record as it is, in messages that are numbered for each
 * channel; whole books and the registry for a replica that begins or has missed a message; new trades for the tape.
 *
 *   record ─▶ handled ─▶ message of its channel ─▶ ring to the replicator      full: the message is lost, and its number shows it
 *   wanted ─▶ answer, in parts, with the numbers of all channels at that moment ─▶ as the ring has room
 *
 * Invariants
 *   (1) An answer reflects exactly the messages up to its numbers: both are taken between two records.
 *   (2) Nothing here waits for the other thread, and what waits for room is bounded: WANTED_MAX questions, the parts of one answer.
 */
import { type ClearingEvent, readClearingEvent } from '../clearing/effect-codec.ts';
import { formatRaw } from '../core/decimal.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { TradeFigures } from '../core/market-figures.ts';
import { SIDE } from '../core/order-terms.ts';
import type { Views } from '../core/views.ts';
import {
  DepthCommitted,
  DepthReset,
  FillConfirmed,
  LevelChanged,
  MarketDecided,
  MarketRiskChanged,
  NodeEvent,
} from '../schema/generated/messages.ts';
import type { BookImage } from './depth-replica.ts';
import type { MarketDataFeed } from './market-data-feed.ts';
import { type FromTap, RecordsBuffer, readTap, TAP_LAYOUT, type TapSink, type ToTap, writeTap } from './tap-codec.ts';

/** A message goes when it has so many bytes, at the latest with its batch. */
const MESSAGE_BYTES = 60_000;
const PART_BYTES = 240_000;
/** Beside the bytes of a part: its text and the head of a ring record. */
const TEXT_BYTES_MAX = 4_096;
const WANTED_MAX = 64;
const TRADES_PER_ANSWER = 256;

/** The edge to the replicator: 'drop-and-resync'. */
interface TapPublication extends TapSink {
  flush(): void;
  hasRoom(bytes: number): boolean;
  needsResync(): boolean;
  beginResync(): void;
}

export interface TapOptions {
  readonly publication: TapPublication;
  /** Milliseconds since 1970 at the start of the thread: larger in every later life. */
  readonly run: number;
  /** Milliseconds since 1970. */
  readonly wallMs: () => number;
  readonly clearingChannel: number;
  /** Channels whose records are passed on are below it. */
  readonly channels: number;
  /** The channel that the records of a market come from. */
  readonly channelOfMarket: (marketIndex: number) => number;
}

interface Part {
  readonly message: FromTap;
  readonly bytes: Uint8Array;
}

export class MarketDataTap {
  readonly #options: TapOptions;
  readonly #feed: MarketDataFeed;
  readonly #buffers: readonly RecordsBuffer[];
  readonly #numbers: number[];
  readonly #traded = new Set<number>();
  /** Events of the registry by what they are about: the last of each, in the order in which they are to be applied. */
  readonly #registry = { config: new Map<string, Uint8Array>(), asset: new Map<string, Uint8Array>() };
  readonly #markets: Uint8Array[] = [];
  readonly #prices = new Map<string, Uint8Array>();
  readonly #risks: Uint8Array[] = [];
  /** How far clearing has decided: klines close with it. */
  readonly #decided: Uint8Array[] = [];
  readonly #wanted: ToTap[] = [];
  readonly #parts: Part[] = [];
  /** A message was lost, and the receiver cannot see it yet. */
  #hasLost = false;

  constructor(options: TapOptions, feed: MarketDataFeed) {
    this.#options = options;
    this.#feed = feed;
    this.#buffers = Array.from({ length: options.channels }, () => new RecordsBuffer());
    this.#numbers = Array.from({ length: options.channels }, () => 0);
  }

  /** Whether something waits for room. */
  get isWaiting(): boolean {
    return this.#hasLost || this.#parts.length > 0 || this.#wanted.length > 0;
  }

  /** A record that market data has handled. */
  taken(channel: number, typeId: number, v: Views, at: number, bytes: number): void {
    const buffer = this.#buffers[channel];
    if (buffer === undefined) return;
    if (channel === this.#options.clearingChannel) this.#keep(typeId, v, at, bytes);
    buffer.add(typeId, v, at, bytes);
    if (buffer.length >= MESSAGE_BYTES) this.#send(channel);
  }

  /** A question of the replicator. More than WANTED_MAX are left: they are asked again. */
  asked(v: Views, at: number): void {
    if (this.#wanted.length < WANTED_MAX) this.#wanted.push(readTap<ToTap>(v, at).message);
  }

  /** Everything that was taken is on its way afterwards, and answers as far as there is room. */
  flush(): void {
    const { publication } = this.#options;
    if (publication.needsResync()) publication.beginResync();
    for (const [channel, { length }] of this.#buffers.entries()) if (length > 0) this.#send(channel);
    if (this.#hasLost && publication.hasRoom(TEXT_BYTES_MAX)) {
      const place = { run: this.#options.run, numbers: [...this.#numbers] };
      writeTap(publication, { kind: 'numbers', ...place, markets: this.#feed.known.size });
      this.#hasLost = false;
    }
    for (;;) {
      for (let part = this.#parts[0]; part !== undefined; part = this.#parts[0]) {
        if (!publication.hasRoom(part.bytes.length + TEXT_BYTES_MAX)) break;
        writeTap(publication, part.message, part.bytes);
        this.#parts.shift();
      }
      const wanted = this.#parts.length === 0 ? this.#wanted.shift() : undefined;
      if (wanted === undefined) break;
      this.#answer(wanted);
    }
    publication.flush();
  }

  #send(channel: number): void {
    const { publication, run, wallMs } = this.#options;
    const buffer = this.#buffers[channel];
    if (buffer === undefined) return;
    const number = (this.#numbers[channel] ?? 0) + 1;
    this.#numbers[channel] = number;
    const traded = channel === this.#options.clearingChannel ? [...this.#traded] : [];
    if (traded.length > 0) this.#traded.clear();
    const markets = this.#feed.known.size;
    const shared = { layout: TAP_LAYOUT, run, channel, number } as const;
    const message = { kind: 'records', ...shared, atMs: wallMs(), traded, markets } as const;
    // mutant: lost-message-has-a-number
    if (!writeTap(publication, message, buffer.bytes())) {
      publication.beginResync();
      this.#hasLost = true;
    }
    buffer.clear();
  }

  /** What a replica that begins has to be given of clearing's events. */
  #keep(typeId: number, v: Views, at: number, bytes: number): void {
    if (typeId === FillConfirmed.typeId) this.#traded.add(FillConfirmed.marketIndex(v, at));
    if (typeId === MarketRiskChanged.typeId)
      this.#risks[MarketRiskChanged.marketIndex(v, at)] = recordOf(typeId, v, at, bytes);
    if (typeId === MarketDecided.typeId)
      this.#decided[MarketDecided.marketIndex(v, at)] = recordOf(typeId, v, at, bytes);
    if (typeId !== NodeEvent.typeId) return;
    const event: ClearingEvent = readClearingEvent(v, at);
    if (event.kind === 'priceAccepted') this.#prices.set(event.row.asset, recordOf(typeId, v, at, bytes));
    if (event.kind !== 'registryChanged') return;
    const { change } = event;
    if (change.table === 'market') this.#markets[change.row.definition.marketIndex] = recordOf(typeId, v, at, bytes);
    else if (change.table === 'asset') this.#registry.asset.set(change.row.assetId, recordOf(typeId, v, at, bytes));
    else this.#registry.config.set(change.row.kind, recordOf(typeId, v, at, bytes));
  }

  #answer(wanted: ToTap): void {
    if (wanted.kind === 'trades') this.#answerTrades(wanted);
    else if (wanted.kind === 'registry') this.#answerRegistry(wanted.request);
    else this.#answerBook(wanted.request, wanted.market);
  }

  #answerRegistry(request: number): void {
    const records = new RecordsBuffer();
    const { config, asset } = this.#registry;
    for (const events of [config.values(), asset.values(), this.#markets, this.#prices.values()])
      for (const event of events) records.addAll(event);
    this.#split(
      { kind: 'registry', request, channel: this.#options.clearingChannel, lastTrade: null },
      records.bytes(),
    );
  }

  /** No answer while the own book has a gap: the question comes again. */
  #answerBook(request: number, marketIndex: number): void {
    if (!this.#feed.hasHistory || !this.#feed.known.has(marketIndex)) return;
    const { data } = this.#feed;
    const image = data.bookImage(marketIndex);
    if (image === null) return;
    const records = new RecordsBuffer();
    for (const record of [this.#risks[marketIndex], this.#decided[marketIndex]])
      if (record !== undefined) records.addAll(record);
    writeBook(records, marketIndex, image);
    const channel = this.#options.channelOfMarket(marketIndex);
    this.#split({ kind: 'book', request, channel, lastTrade: data.lastTrade(marketIndex) }, records.bytes());
  }

  #split(
    answer: Pick<Extract<FromTap, { kind: 'book' | 'registry' }>, 'kind' | 'request' | 'channel' | 'lastTrade'>,
    bytes: Uint8Array,
  ): void {
    const shared = {
      ...answer,
      layout: TAP_LAYOUT,
      run: this.#options.run,
      numbers: [...this.#numbers],
      markets: this.#feed.known.size,
    };
    const count = Math.max(1, Math.ceil(bytes.length / PART_BYTES));
    for (let part = 0; part < count; part += 1) {
      const slice = bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES);
      this.#parts.push({ message: { ...shared, part, isLast: part + 1 === count }, bytes: slice });
    }
  }

  #answerTrades({ request, market, after }: Extract<ToTap, { kind: 'trades' }>): void {
    const { data, hasHistory, known } = this.#feed;
    const definition = known.has(market) ? data.definitionOf(market) : undefined;
    if (!hasHistory || definition === undefined) return;
    const { trades, through, isAll } = this.#feed.tradesBehind(market, after, TRADES_PER_ANSWER);
    const lines = trades.map((trade) => `${tapeLine(definition, trade)}\n`).join('');
    const bytes = new TextEncoder().encode(lines);
    this.#parts.push({ message: { kind: 'trades', request, market, through, isAll }, bytes });
  }
}

/** The whole book, and what a message that is not committed yet has changed so far. */
function writeBook(to: RecordsBuffer, marketIndex: number, image: BookImage): void {
  const reset = to.claim(DepthReset.typeId, DepthReset.bytes);
  DepthReset.write(to.views, reset, { sequence: image.sequenceNumber as never, marketIndex });
  to.commit();
  for (const [side, levels] of [
    [SIDE.sell, image.asks],
    [SIDE.buy, image.bids],
  ] as const)
    for (let at = 0; at + 1 < levels.length; at += 2)
      writeLevel(to, { marketIndex, side, price: levels[at] ?? 0, quantity: levels[at + 1] ?? 0 });
  const commit = to.claim(DepthCommitted.typeId, DepthCommitted.bytes);
  DepthCommitted.write(to.views, commit, { commits: image.marketSequence, timeNs: 0n as never, marketIndex });
  to.commit();
  const { uncommitted } = image;
  // mutant: half-a-message-in-a-book
  for (let at = 0; at + 2 < uncommitted.length; at += 3) {
    const [side = 0, price = 0, quantity = 0] = uncommitted.slice(at, at + 3);
    writeLevel(to, { marketIndex, side, price, quantity });
  }
}

function writeLevel(
  to: RecordsBuffer,
  level: { readonly marketIndex: number; readonly side: number; readonly price: number; readonly quantity: number },
): void {
  const at = to.claim(LevelChanged.typeId, LevelChanged.bytes);
  LevelChanged.setPrice(to.views, at, level.price);
  LevelChanged.setQuantity(to.views, at, level.quantity);
  LevelChanged.setMarketIndex(to.views, at, level.marketIndex);
  LevelChanged.setSide(to.views, at, level.side);
  to.commit();
}

function recordOf(typeId: number, v: Views, at: number, bytes: number): Uint8Array {
  const one = new RecordsBuffer();
  one.add(typeId, v, at, bytes);
  return one.bytes().slice();
}

/** A confirmed trade as `ringbook export DIR trades` prints it, without its two sides: accounts, orders and fees are not public. */
function tapeLine({ assetId, priceDecimals, quantityDecimals }: MarketDefinition, trade: TradeFigures): string {
  return JSON.stringify({
    market: assetId,
    trade_id: trade.tradeId,
    price: formatRaw(trade.price, priceDecimals),
    quantity: formatRaw(trade.quantity, quantityDecimals),
    matched_ns: `${trade.matchedNs}`,
    taker_side: trade.takerSide === SIDE.buy ? 'Buy' : 'Sell',
  });
}
