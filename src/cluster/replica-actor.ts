/**
 * The actor of a replica's feed: connects to the servers, again and again, and writes what the leader publishes into the ring of market
 * data (replica-feed.ts). Runs on a thread with an event loop.
 */

import { InvariantError } from '../core/assert.ts';
import type { Views } from '../core/views.ts';
import type { Actor } from '../runtime/actor.ts';
import type { Leadership, NodeState } from '../runtime/leadership.ts';
import type { Publication } from '../runtime/publication.ts';
import { ReplicaFeed } from './replica-feed.ts';
import { StreamLog, type StreamLogOptions } from './stream-log.ts';

const RECONNECT_MS = 250;
/** The servers elect within 9 s, in which a leader may publish nothing; a replica that receives nothing for longer serves old books. */
const SILENCE_MS_MAX = 10_000;

interface ReplicaActorOptions {
  readonly name: string;
  readonly node: string;
  readonly version: string;
  readonly servers: StreamLogOptions;
  readonly publication: Publication;
  /** Of this process: `following` while it serves, else `joining`. */
  readonly leadership: Leadership;
  readonly changed: (state: NodeState, epoch: number, sequence: number) => void;
  readonly measured: { readonly gaps: (count: number) => void; readonly lag: (seconds: number) => void };
  readonly log: (level: 'info' | 'warn', facts: Readonly<Record<string, unknown>>, text: string) => void;
}

export class ReplicaActor implements Actor {
  readonly name: string;
  readonly #options: ReplicaActorOptions;
  #stream: StreamLog | null = null;
  #feed: ReplicaFeed | null = null;
  #counted = 0;
  #hasEnded = false;

  constructor(options: ReplicaActorOptions) {
    this.name = options.name;
    this.#options = options;
  }

  start(): void {
    this.#options.leadership.setState('joining');
    void this.#connect();
  }

  ready(): boolean {
    return true;
  }

  handle(_channel: number, typeId: number, _v: Views, _at: number): void {
    throw new InvariantError(`the feed of a replica received a message of type ${typeId}`);
  }

  endBatch(): void {}

  tick(): void {
    const { measured } = this.#options;
    const feed = this.#feed;
    if (feed === null) return;
    feed.tick();
    measured.gaps(feed.gaps - this.#counted);
    this.#counted = feed.gaps;
    measured.lag(feed.lagSeconds());
    this.#judge();
  }

  stop(): void {
    this.#hasEnded = true;
    this.#options.leadership.setState('ended');
    void this.#stream?.close();
  }

  halt(): void {
    this.stop();
  }

  #judge(): void {
    const { leadership, changed } = this.#options;
    const silentMs = this.#feed?.silentMs() ?? Number.POSITIVE_INFINITY;
    const isGood = this.#feed?.isLive === true && silentMs < SILENCE_MS_MAX;
    // Books that are read anew stay as they were meanwhile: streams go on behind them.
    const wasGood = leadership.state() === 'following' && silentMs < SILENCE_MS_MAX;
    const state = isGood || wasGood ? 'following' : 'joining';
    if (state === leadership.state()) return;
    leadership.setState(state);
    const { epoch, sequence } = leadership.view();
    changed(state, epoch, sequence);
  }

  async #connect(): Promise<void> {
    const { servers, log } = this.#options;
    for (let last = ''; !this.#hasEnded; ) {
      try {
        const stream = await StreamLog.connect(servers);
        this.#stream = stream;
        this.#begin(stream);
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== last) log('warn', { reason }, 'no server of the cluster answers');
        last = reason;
        await sleep(RECONNECT_MS);
      }
    }
  }

  #begin(stream: StreamLog): void {
    const { publication, leadership, log, node, version } = this.#options;
    const feed = new ReplicaFeed({
      servers: stream,
      publication,
      wallMs: () => Date.now(),
      sleep,
      alive: (epoch, { leader, sequence }) => {
        leadership.setLeader(epoch, leader);
        leadership.setSequence(sequence);
      },
      log: (facts, text) => log('info', facts, text),
    });
    this.#feed = feed;
    stream.onMarketData((epoch, channel, bytes) => feed.heard(epoch, channel, bytes));
    stream.answerAsReplica(() => {
      const { state, epoch, sequence, leader } = leadership.view();
      const status = { node, role: 'replica', state, epoch, sequence, version, leader: leader?.node ?? null };
      const lag = { lag_seconds: feed.lagSeconds(), gaps: feed.gaps };
      return Buffer.from(JSON.stringify({ ...status, ...lag }));
    });
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
