/**
 * The leader's side of market data for replicas, on the thread of the protocol (cluster.md 4): passes on what market data has put into
 * its ring, answers replicas, and keeps the tape.
 *
 *   records ─▶ rb.C.md.<epoch>.<channel>                    every 250 ms: rb.C.md.<epoch>.alive, with the numbers of all channels
 *   rb.C.md.snapshot ─▶ question to market data ─▶ answer, in parts
 *   new trades ─▶ question for those behind the last one of the tape ─▶ rb.C.tape.<market_index> ─▶ acknowledged ─▶ the next
 *
 * The tape has each confirmed trade of every market without a hole: a request is for what follows the last one that the stream has
 * acknowledged, or has, after a takeover. A trade may be there twice, when an acknowledgement was lost: readers go by its id.
 *
 * Invariants
 *   (1) Only a node that leads writes the tape. Confirmed trades come to market data when their record is stored: clearing lets nothing
 *       leave before.
 *   (2) A request without an answer is sent again after ASK_AGAIN_MS; questions of replicas and trades on their way are bounded.
 */
import type { Sequence } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { type FromTap, readTap, type TapSink, type ToTap, writeTap } from '../market-data/tap-codec.ts';
import type { Publication } from '../runtime/publication.ts';
import { MarketDataMessage } from '../schema/generated/messages.ts';

const ALIVE_MS = 250;
const ASK_AGAIN_MS = 500;
/** All markets are looked at again so often: trades whose message was lost. */
const SWEEP_MS = 5_000;
/** Markets with trades on their way. */
const WRITING_MAX = 16;
const REPLICAS_WAITING_MAX = 64;
const REPLICA_WAITS_MS = 5_000;

/** The part of the client of the servers that it uses. No promise rejects. */
interface MarketDataServers {
  publishMarketData(epoch: number, channel: string, bytes: Uint8Array): void;
  /** @param lines as JSON, one trade each. @returns whether the tape has them. */
  putTrades(marketIndex: number, lines: Uint8Array): Promise<boolean>;
  /** The last message of a market on the tape, empty for none; null for no answer. */
  lastTrades(marketIndex: number): Promise<Uint8Array | null>;
}

interface PublisherOptions {
  readonly servers: MarketDataServers;
  /** The edge to market data: 'drop-and-resync'. */
  readonly toMarketData: TapSink & Pick<Publication, 'flush' | 'needsResync' | 'beginResync'>;
  /** Whether the own lease holds: the tape is written then. */
  readonly leads: () => boolean;
  /** Whether records are passed on: a stalled leader does, and a replica goes by the highest epoch. */
  readonly serves: () => boolean;
  readonly epoch: () => number;
  /** The last record and the addresses of this node: what replicas show of their leader. */
  readonly place: () => AliveMessage['leader'] & { readonly sequence: number };
  readonly nowMs: () => number;
}

/** `rb.C.md.<epoch>.alive`, JSON. */
export interface AliveMessage {
  readonly run: number;
  /** By channel. */
  readonly numbers: Readonly<Record<string, number>>;
  readonly atMs: number;
  readonly sequence: number;
  readonly leader: { readonly node: string; readonly oms: string | null; readonly mds: string | null };
}

/** A market's part of the tape. */
interface TapeMarket {
  /** The last trade that the tape has; null until the stream was read. */
  through: Sequence | null;
  /** Whether there may be more. */
  isWanted: boolean;
  /** Since when something of it is on its way; null: nothing is. */
  busySinceMs: number | null;
  /** The question that is on its way: another answer is none. */
  request: number;
}

interface WaitingReplica {
  readonly respond: (part: Uint8Array) => void;
  readonly sinceMs: number;
}

export class MarketDataPublisher {
  readonly #options: PublisherOptions;
  readonly #tape: TapeMarket[] = [];
  readonly #replicas = new Map<number, WaitingReplica>();
  #request = 0;
  #run = 0;
  /** Of market data, the most it has reported. */
  #markets = 0;
  readonly #numbers = new Map<number, number>();
  #led = false;
  #aliveMs = 0;
  #sweptMs = 0;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** A message of market data. @param at of the ring record. */
  receive(v: Views, at: number): void {
    const { message, bytes } = readTap<FromTap>(v, at);
    switch (message.kind) {
      case 'records':
        this.#pass(message, whole(v, at, bytes));
        return;
      case 'trades':
        void this.#write(message, bytes.slice());
        return;
      case 'numbers':
        this.#ofRun(message.run);
        this.#grow(message.markets);
        for (const [channel, number] of message.numbers.entries()) this.#numbers.set(channel, number);
        for (const market of this.#tape) market.isWanted = true;
        return;
      default: {
        this.#markets = Math.max(this.#markets, message.markets);
        const replica = this.#replicas.get(message.request);
        if (replica === undefined) return;
        replica.respond(whole(v, at, bytes));
        if (message.isLast) this.#replicas.delete(message.request);
      }
    }
  }

  /** A request of a replica; `market` null: for the registry. */
  asked(market: number | null, respond: (part: Uint8Array) => void): void {
    const { serves, nowMs } = this.#options;
    if (!serves() || this.#replicas.size >= REPLICAS_WAITING_MAX) return;
    // A question for a market that is none would hold a place of the others until its end.
    // mutant: book-of-no-market
    if (market !== null && market >= this.#markets) return;
    this.#request += 1;
    const request = this.#request;
    const isAsked = this.#ask(market === null ? { kind: 'registry', request } : { kind: 'book', request, market });
    if (isAsked) this.#replicas.set(request, { respond, sinceMs: nowMs() });
  }

  /** To be called every few milliseconds. */
  tick(): void {
    const { nowMs, leads, serves } = this.#options;
    const now = nowMs();
    if (serves() && now - this.#aliveMs >= ALIVE_MS) this.#alive(now);
    for (const [request, { sinceMs }] of this.#replicas)
      if (now - sinceMs >= REPLICA_WAITS_MS) this.#replicas.delete(request);
    if (leads() !== this.#led) this.#led = !this.#led;
    else if (!this.#led) return;
    if (!this.#led) {
      // The next leadership begins with what the stream has then.
      this.#tape.length = 0;
      this.#sweptMs = 0;
      return;
    }
    if (now - this.#sweptMs >= SWEEP_MS) {
      this.#sweptMs = now;
      for (const market of this.#tape) market.isWanted = true;
    }
    this.#continue(now);
  }

  #pass(message: Extract<FromTap, { kind: 'records' }>, bytes: Uint8Array): void {
    const { servers, serves, epoch } = this.#options;
    const { run, channel, number, traded, markets } = message;
    this.#ofRun(run);
    const last = this.#numbers.get(channel) ?? 0;
    this.#numbers.set(channel, number);
    this.#grow(markets);
    const wasLost = number !== last + 1;
    for (const [index, market] of this.#tape.entries()) if (wasLost || traded.includes(index)) market.isWanted = true;
    if (serves()) servers.publishMarketData(epoch(), `${channel}`, bytes);
  }

  #grow(markets: number): void {
    this.#markets = Math.max(this.#markets, markets);
    while (this.#tape.length < markets)
      this.#tape.push({ through: null, isWanted: true, busySinceMs: null, request: 0 });
  }

  /** Another life of market data counts from 1 again. */
  #ofRun(run: number): void {
    if (run !== this.#run) this.#numbers.clear();
    this.#run = run;
  }

  #alive(now: number): void {
    const { servers, epoch, place } = this.#options;
    this.#aliveMs = now;
    const { sequence, ...leader } = place();
    const numbers = Object.fromEntries(this.#numbers);
    const message: AliveMessage = { run: this.#run, numbers, atMs: Date.now(), sequence, leader };
    servers.publishMarketData(epoch(), 'alive', Buffer.from(JSON.stringify(message)));
  }

  /** @returns whether it is on its way. */
  #ask(message: ToTap): boolean {
    const { toMarketData } = this.#options;
    if (toMarketData.needsResync()) toMarketData.beginResync();
    const isWritten = writeTap(toMarketData, message);
    toMarketData.flush();
    return isWritten;
  }

  // ---- the tape

  #continue(now: number): void {
    let writing = 0;
    for (const [index, market] of this.#tape.entries()) {
      if (market.busySinceMs !== null && now - market.busySinceMs < ASK_AGAIN_MS) {
        writing += 1;
        continue;
      }
      // A request without an answer stays open.
      if (market.busySinceMs !== null) market.isWanted = true;
      market.busySinceMs = null;
      if (!market.isWanted || writing >= WRITING_MAX) continue;
      market.busySinceMs = now;
      writing += 1;
      if (market.through === null) void this.#begin(index, market);
      else this.#wantTrades(index, market, market.through);
    }
  }

  /** What the stream has of a market: read from its leader, so it is not an older state. */
  async #begin(index: number, market: TapeMarket): Promise<void> {
    const last = await this.#options.servers.lastTrades(index);
    if (last === null || market.through !== null || this.#tape[index] !== market) return;
    const through = lastIdOf(last);
    market.through = through;
    this.#wantTrades(index, market, through);
  }

  #wantTrades(index: number, market: TapeMarket, after: Sequence): void {
    this.#request += 1;
    market.request = this.#request;
    // A trade that comes from now on is wanted again: the answer may be without it.
    market.isWanted = false;
    market.busySinceMs = this.#options.nowMs();
    if (this.#ask({ kind: 'trades', request: market.request, market: index, after })) return;
    market.isWanted = true;
    market.busySinceMs = null;
  }

  async #write(answer: Extract<FromTap, { kind: 'trades' }>, lines: Uint8Array): Promise<void> {
    const { servers, leads, nowMs } = this.#options;
    const market = this.#tape[answer.market];
    if (market === undefined || answer.request !== market.request || !leads()) return;
    market.request = 0;
    market.busySinceMs = nowMs();
    const isStored = lines.length === 0 || (await servers.putTrades(answer.market, lines));
    if (this.#tape[answer.market] !== market) return;
    // What was not acknowledged is requested again: it may be there twice then.
    if (isStored) market.through = answer.through;
    else market.isWanted = true;
    market.busySinceMs = null;
    if (isStored && !answer.isAll && leads()) this.#wantTrades(answer.market, market, answer.through);
  }
}

/** The message with its bytes, as it lies in the ring. */
function whole(v: Views, at: number, bytes: Uint8Array): Uint8Array {
  const dataAt = (MarketDataMessage.bytes + MarketDataMessage.textBytes(v, at) + 7) & ~7;
  return v.u8.slice(at, at + dataAt + bytes.length);
}

/** Of the last line; 0 for none. A line that is none is from no ringbook: the whole market would be written again otherwise. */
function lastIdOf(lines: Uint8Array): Sequence {
  const last = Buffer.from(lines).toString('utf8').trimEnd().split('\n').at(-1) ?? '';
  if (last === '') return 0 as Sequence;
  const { trade_id: id } = JSON.parse(last) as { readonly trade_id: number };
  return id as Sequence;
}
