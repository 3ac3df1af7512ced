/**
 * The market-data thread: depth from the markets, confirmed trades from clearing, history from the tables, its own
 * public listener.
 *
 *   start      clearing: market definitions, then `historyReady`  ─▶ trades are read from the tables ─▶ listener opens
 *   gap        clearing checkpoints and sends `historyReady` again ─▶ missing trades are read; each is published once
 *
 * It may be restarted alone: rings and port stay, its state is read again. The composition root creates the listener
 * (node/market-data-factory.ts).
 */
import type { Views } from '../core/views.ts';
import type { Actor } from '../runtime/actor.ts';
import { MarketDataMessage } from '../schema/generated/messages.ts';
import type { MarketData } from './market-data.ts';
import { type FeedSink, MarketDataFeed, type MarketDataFeedOptions, OLDER_SPACING_MS } from './market-data-feed.ts';
import { MarketDataTap, type TapOptions } from './market-data-tap.ts';
import { readTap, type TapeMessage } from './tap-codec.ts';
import type { TapeStore } from './tape-store.ts';

/** Shared memory of this thread and others (node/node-words.ts). */
interface MarketDataSignals {
  mayListen(): boolean;
  setMarketHistory(): void;
  /** The open port, also of an earlier thread; 0 before the listener was opened; negative if opening failed. */
  mdsPort(): number;
  setMdsPort(port: number): void;
  setDepthWaits(waits: boolean): void;
  setDepthSequence(marketIndex: number, sequence: number): void;
}

/** The public streams: they accept frames immediately and send them at `flush`. */
interface MarketDataStreams extends FeedSink {
  flush(): void;
}

/** The public listener of the thread. */
interface MarketDataListener {
  /** @returns the open port. Rejects if it is not available. */
  open(port: number): Promise<number>;
  /** Writes the listener's gauges. */
  measure(): void;
  close(): void;
}

interface MarketDataOptions extends MarketDataFeedOptions {
  /** Of a leader: what replicas are given; null on one machine, and on a replica. */
  readonly tap: TapOptions | null;
  /** Of a replica: what its feed reads of the tape, which is its history too; null on a node. */
  readonly tape: TapeStore | null;
  readonly signals: MarketDataSignals;
  readonly streams: MarketDataStreams;
  /** Whether the listener opens before there is history. */
  readonly answersWithoutData: boolean;
  readonly listenerOf: (data: MarketData) => MarketDataListener;
  /** The port of the configuration; 0 lets the system choose. */
  readonly port: number;
}

/** Value of `mdsPort` when the listener could not be opened. */
export const MDS_LISTEN_FAILED = -1;

export class MarketDataActor implements Actor {
  readonly name = 'market-data';
  readonly #options: MarketDataOptions;
  readonly #feed: MarketDataFeed;
  readonly #listener: MarketDataListener;
  readonly #tap: MarketDataTap | null;
  #isListening = false;

  constructor(options: MarketDataOptions) {
    this.#options = options;
    this.#feed = new MarketDataFeed(options.streams, options);
    this.#listener = options.listenerOf(this.#feed.data);
    this.#tap = options.tap === null ? null : new MarketDataTap(options.tap, this.#feed);
  }

  start(): void {}

  ready(channel: number): boolean {
    return this.#feed.ready(channel);
  }

  handle(channel: number, typeId: number, v: Views, at: number, bytes: number): void {
    if (typeId === MarketDataMessage.typeId) {
      if (this.#options.tape !== null) this.#options.tape.add(readTap<TapeMessage>(v, at).message.trades);
      else this.#tap?.asked(v, at);
      return;
    }
    this.#feed.handle(typeId, v, at);
    this.#tap?.taken(channel, typeId, v, at, bytes);
  }

  endBatch(): void {
    this.#publish();
    this.#tap?.flush();
  }

  tick(): void {
    this.#publish();
    this.#feed.readOlder();
    if (!this.#feed.hasOlderTrades && this.#feed.hasHistory) this.#options.tape?.release();
    this.#listener.measure();
    this.#listenWhenAllowed();
  }

  /** Tickers and requests for a resync have a spacing of seconds, and klines follow messages of clearing. */
  nextTickMs(): number {
    if (!this.#isListening || this.#feed.data.hasUnsentDepth || this.#tap?.isWaiting === true) return 0;
    return this.#feed.hasOlderTrades ? OLDER_SPACING_MS : Number.POSITIVE_INFINITY;
  }

  stop(): void {
    this.#listener.close();
  }

  halt(): void {
    this.#listener.close();
  }

  #publish(): void {
    const { data, known, hasHistory } = this.#feed;
    if (!hasHistory) return;
    const { streams, signals } = this.#options;
    this.#feed.publish();
    streams.flush();
    signals.setDepthWaits(data.hasUnsentDepth);
    for (const index of known) signals.setDepthSequence(index, data.depthSequence(index));
  }

  #listenWhenAllowed(): void {
    const { signals, port } = this.#options;
    if (this.#feed.hasHistory) signals.setMarketHistory();
    if (this.#isListening || !signals.mayListen()) return;
    // In a cluster the listener answers without data too: that another node has them.
    if (!this.#feed.hasHistory && !this.#options.answersWithoutData) return;
    this.#isListening = true;
    // After a restart of the thread the port known to clients is opened, even if the system had chosen it.
    const earlier = signals.mdsPort();
    this.#listener.open(earlier > 0 ? earlier : port).then(
      (open) => signals.setMdsPort(open),
      (error: unknown) => {
        // A node that has served market data must not continue without it: the thread ends and is restarted.
        if (earlier > 0) throw error;
        signals.setMdsPort(MDS_LISTEN_FAILED);
      },
    );
  }
}
