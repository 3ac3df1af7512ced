/**
 * An actor: state owned by one thread, fed from channels, with time as an argument. The same actor runs on its own
 * thread, on an event loop, or is polled by hand in a test; its code does not depend on which.
 *
 *   start → (ready → handle)* → endBatch … tick → endBatch … hasMore → endBatch …  → stop
 */
import type { Clock } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import type { MetricsWriter } from './metrics.ts';
import type { Publication } from './publication.ts';
import type { TraceLog } from './trace-log.ts';

export interface Actor {
  readonly name: string;
  /** Runs once, before any record. Its output is flushed by the `endBatch` that follows. */
  start(): void;
  /**
   * Whether this channel may be read now: is there space for the largest output of one record? Called before each
   * record.
   */
  ready(channel: number): boolean;
  /** Handles one record in place. `views` is valid until the call returns; copy what is needed later. */
  handle(channel: number, typeId: number, views: Views, at: number, bytes: number): void;
  /**
   * Announces the next record of the same channel, if it has arrived, so that the actor can prefetch the memory it will
   * touch; must have no other effect. In a damaged ring the record may be invalid: validation follows in `handle`.
   */
  expect?(typeId: number, views: Views, at: number, bytes: number): void;
  /** Called after each drained batch, after `start` and after `tick`: flushes the output. */
  endBatch(): void;
  /**
   * Whether the actor has work of its own that can continue now: `endBatch` did one step of it and needs another call.
   * Like `ready` it returns false while there is no space for the output of that work.
   */
  hasMore?(): boolean;
  /**
   * Whether all output is in its ring; by default true. Pending output continues with `endBatch`, and the actor is not
   * stopped before.
   */
  isQuiet?(): boolean;
  /**
   * Whether the actor still recovers its state; until then the duration of its polls is not watched. By default false.
   */
  isRecovering?(): boolean;
  /**
   * Periodic work: within `tickMs` of real time after every poll, and without polls after `nextTickMs`.
   *
   * @param nowNs - the node clock.
   */
  tick(nowNs: bigint): void;
  /**
   * How long the actor needs no tick while it is not polled, in milliseconds of real time; the runner limits it to
   * `tickMs` … IDLE_TICK_MS_MAX. By default 0. Called after a tick. @param nowNs - the node clock.
   */
  nextTickMs?(nowNs: bigint): number;
  /** Orderly end: every received record was handled. */
  stop(): void;
  /**
   * The node ends at once and no further record is handled: release what would crash the process (listeners of a thread
   * with an event loop). Must not change durable state.
   */
  halt?(): void;
}

/** The arguments of an actor's factory. */
export interface ActorWiring {
  readonly name: string;
  readonly clock: Clock;
  readonly metrics: MetricsWriter;
  /** The trace of the actor's thread; null while the node is not traced. */
  readonly trace: TraceLog | null;
  /** The same for every actor, from the composition root; a structured clone. */
  readonly settings: unknown;
  /** The number of the channel from `from`. @throws InvariantError when there is no such edge. */
  channelOf(from: string, channel?: string): number;
  /** @throws InvariantError when there is no such edge. */
  publication(to: string, channel?: string): Publication;
  /** Requests a poll soon, so that `endBatch` follows work that did not arrive on a channel (a socket's message). */
  wakeUp(): void;
  /** Records a heartbeat during a long step of bounded work (HEARTBEAT_LOST_MS). */
  heartbeat(): void;
}

export type ActorFactory = (wiring: ActorWiring) => Actor;
export type ActorFactories = Readonly<Record<string, ActorFactory>>;
