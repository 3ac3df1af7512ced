/**
 * The market-data thread: depth from the markets, confirmed trades from clearing, history from the tables, its own
 * public listener.
 *
 *   start      clearing: market definitions, then `historyReady`  ─▶ trades are read from the tables ─▶ listener opens
 *   gap        clearing checkpoints and says `historyReady` again ─▶ what is missing is read; nothing is told twice
 *
 * It may be restarted alone: rings and port stay, its state is read anew.
 */
import type { Views } from '../core/views.ts';
import type { SharedBudget } from '../gateway/sessions/shared-budget.ts';
import type { EdgeMetrics } from '../http/edge-metrics.ts';
import { MarketStreams, MdsServer } from '../http/mds-server.ts';
import { gateOf, type ListenerSettings } from '../http/public-listeners.ts';
import { MDS_LISTEN_FAILED, type NodeWords } from '../node/node-words.ts';
import type { Actor } from '../runtime/actor.ts';
import { MarketDataFeed, type MarketDataFeedOptions } from './market-data-feed.ts';

export interface MarketDataOptions extends MarketDataFeedOptions {
  readonly words: NodeWords;
  readonly budget: SharedBudget;
  readonly listener: ListenerSettings;
  readonly counted: EdgeMetrics;
  /** After every request: a sign of life in a burst that keeps the loop from its timers. */
  readonly answered: () => void;
  /** An exception out of a handler or a socket. */
  readonly failed: (where: string, error: unknown) => void;
}

export class MarketDataActor implements Actor {
  readonly name = 'market-data';
  private readonly options: MarketDataOptions;
  private readonly streams: MarketStreams;
  private readonly feed: MarketDataFeed;
  private readonly server: MdsServer;
  private isListening = false;

  constructor(options: MarketDataOptions) {
    this.options = options;
    // The edge of a market heals its own gaps: a whole book comes without being asked for.
    this.streams = new MarketStreams(() => undefined);
    this.feed = new MarketDataFeed(this.streams, options);
    const { clock, counted, answered, failed, budget, listener } = options;
    const gate = gateOf(listener.addresses, budget);
    this.server = new MdsServer({
      marketData: this.feed.data,
      streams: this.streams,
      clock,
      observer: { answered, failed, lagged: () => counted.lagged() },
      budget,
      gate,
      tls: listener.tls,
    });
  }

  start(): void {}

  ready(lane: number): boolean {
    return this.feed.ready(lane);
  }

  handle(_lane: number, typeId: number, v: Views, at: number): void {
    this.feed.handle(typeId, v, at);
  }

  endBatch(): void {
    this.publish();
  }

  tick(): void {
    this.publish();
    this.options.counted.level(this.server);
    this.listenWhenAllowed();
  }

  stop(): void {
    this.server.close();
  }

  halt(): void {
    this.server.close();
  }

  private publish(): void {
    const { data, known, hasHistory } = this.feed;
    if (!hasHistory) return;
    this.feed.publish();
    this.streams.flush();
    this.options.words.setDepthWaits(data.hasUnsentDepth);
    for (const index of known) this.options.words.setDepthSequence(index, data.depthSequence(index));
  }

  private listenWhenAllowed(): void {
    const { words, listener } = this.options;
    if (this.isListening || !this.feed.hasHistory || !words.mayListen()) return;
    this.isListening = true;
    // After a restart the port that clients know is taken again, also when the system chose it.
    const known = words.mdsPort();
    this.server.listen({ host: listener.host, port: known > 0 ? known : listener.port }).then(
      (open) => words.setMdsPort(open),
      (error: unknown) => {
        // A node that once served market data and cannot any more must not go on without: this thread dies again.
        if (known > 0) throw error;
        words.setMdsPort(MDS_LISTEN_FAILED);
      },
    );
  }
}
