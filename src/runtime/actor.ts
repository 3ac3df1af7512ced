/**
 * What an actor is: state owned by one thread, fed from lanes, with time given to it. The same actor runs on its own
 * thread, on an event loop, or turned by hand in a test; it never learns which.
 *
 *   start → (ready → handle)* → endBatch … tick → endBatch … hasMore → endBatch …  → stop
 */
import type { Clock } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import type { MetricsWriter } from './metrics.ts';
import type { Outlet } from './outlet.ts';

export interface Actor {
  readonly name: string;
  /** Runs once, before anything is handled. What it sends is flushed by the `endBatch` that follows. */
  start(): void;
  /** May this lane be read now: is there room for the worst case of one record's outputs? Asked before each record. */
  ready(lane: number): boolean;
  /** Handles one record in place. `views` is valid until the call returns; what must last is copied out. */
  handle(lane: number, typeId: number, views: Views, at: number, bytes: number): void;
  /**
   * What `handle` is given next, if it waits in the same lane already: to fetch what it will touch, and nothing else. A word
   * of it may be wrong or missing if the ring is damaged, which is not found out before `handle`.
   */
  expect?(typeId: number, views: Views, at: number, bytes: number): void;
  /** After each drained batch, after `start` and after `tick`: flush what was sent. */
  endBatch(): void;
  /**
   * Whether work goes on that no lane brought, and may go on now: `endBatch` did a part of it and asks for another turn.
   * Like `ready` it says false while there is no room for what the work says.
   */
  hasMore?(): boolean;
  /** Whether everything said is in its ring; left out: always. What is not goes on with `endBatch`, and no stop comes before. */
  isQuiet?(): boolean;
  /** Whether it still recovers what it starts with: until then nobody watches how long its turns take. Left out: never. */
  isRecovering?(): boolean;
  /** Periodic work, at least every `tickMs` of real time. @param nowNs - the node clock. */
  tick(nowNs: bigint): void;
  /** The orderly end: everything received was handled. */
  stop(): void;
  /**
   * The node dies at once and nothing more will be handled: release what would crash the process (listeners of a
   * thread with an event loop). Change nothing durable.
   */
  halt?(): void;
}

/** What an actor is built from. */
export interface ActorWiring {
  readonly name: string;
  readonly clock: Clock;
  readonly metrics: MetricsWriter;
  /** What the composition root passed to every actor; a structured clone. */
  readonly settings: unknown;
  /** The lane number under which records of `from` arrive. @throws InvariantError when there is no such edge. */
  laneOf(from: string, lane?: string): number;
  /** @throws InvariantError when there is no such edge. */
  outlet(to: string, lane?: string): Outlet;
  /** Asks for a turn soon, so that `endBatch` follows work that did not come from a lane (a socket's message). */
  poke(): void;
  /** Says in the middle of a long piece of bounded work that the thread is alive (HEARTBEAT_LOST_MS). */
  beat(): void;
}

export type ActorFactory = (wiring: ActorWiring) => Actor;
export type ActorFactories = Readonly<Record<string, ActorFactory>>;
