/**
 * The threads, the actors on them, and the channels between actors; validated, then allocated as one plain object that
 * every worker gets as a structured clone.
 *
 * No sender waits for a full ring (publication.ts), so no cycle of edges can stand still.
 */
import { assert } from '../core/assert.ts';
import { type ClockStart, createClock } from './clock.ts';
import { createThreadBlocks } from './heartbeat.ts';
import { createLogs, type LogMemory } from './log-buffer.ts';
import { createMetrics, type MetricDefinition, type MetricsPlan } from './metrics.ts';
import type { FullPolicy } from './publication.ts';
import { createRing } from './spsc-ring.ts';
import { THREAD_METRICS } from './thread-metrics.ts';
import { createTrace, type TraceMemory } from './trace-log.ts';

/** Name of the only channel between two actors. */
export const MAIN_CHANNEL = 'main';

export interface ThreadSpec {
  readonly name: string;
  /** `main` is the thread of the process; exactly one. The others are workers. */
  readonly place: 'main' | 'worker';
  /**
   * `park`: a loop that owns the thread; promises and sockets do not run on it. `event-loop`: polls between the events
   * of a loop. The main thread is `event-loop`.
   */
  readonly waiting: 'park' | 'event-loop';
  /** Empty polls before parking. 0 unless the thread has a core of its own. */
  readonly spinTurns: number;
  /** `restart` only for threads with no other incoming channels than 'drop-and-resync'. */
  readonly onDeath: 'fail-stop' | 'restart';
  /**
   * Whether it holds a uWebSockets.js app: then it is never terminated from outside, because that aborts the process.
   */
  readonly ownsListener: boolean;
  /** Size limit of a worker's young generation, MiB; by default the engine's. */
  readonly youngMebibytes?: number;
}

interface ActorSpec {
  readonly name: string;
  readonly thread: string;
  /** Records per poll, all channels together. */
  readonly batchRecordsMax: number;
  /** The actor's own metrics, in addition to those of every actor. */
  readonly metrics?: readonly MetricDefinition[];
}

export interface EdgeSpec {
  readonly from: string;
  readonly to: string;
  /** Distinguishes several channels between the same two actors; MAIN_CHANNEL by default. */
  readonly channel?: string;
  readonly full: FullPolicy;
  readonly capacityBytes: number;
  readonly reservedBytes: number;
}

export interface Topology {
  /** In stop order: upstream first. */
  readonly threads: readonly ThreadSpec[];
  readonly actors: readonly ActorSpec[];
  readonly edges: readonly EdgeSpec[];
  /** Longest time between a poll and a tick, in milliseconds of real time; 1 … 100. Without polls: actor-ticks.ts. */
  readonly tickMs: number;
  /** Threads that are traced beside those of the topology; every thread is traced if this is given, else none. */
  readonly tracedBeside?: readonly string[];
}

export interface PlannedEdge extends EdgeSpec {
  readonly channel: string;
  readonly ring: SharedArrayBuffer;
}

export interface PlannedActor extends ActorSpec {
  readonly metricsPlan: MetricsPlan;
}

/** A topology with its shared memory. */
export interface Plan {
  readonly threads: readonly ThreadSpec[];
  readonly actors: readonly PlannedActor[];
  readonly edges: readonly PlannedEdge[];
  readonly tickMs: number;
  readonly threadBlocks: SharedArrayBuffer;
  /** In the order of `threads` (thread-metrics.ts). */
  readonly threadMetrics: readonly MetricsPlan[];
  readonly clock: SharedArrayBuffer;
  /** Lines of all threads on their way to standard error (log-buffer.ts). */
  readonly logs: LogMemory;
  /** Null while the node is not traced. */
  readonly trace: readonly TraceMemory[] | null;
}

/** The metrics of every actor. */
const ACTOR_METRICS: readonly MetricDefinition[] = [
  { name: 'records_in', kind: 'counter' }, // Records handled.
  { name: 'batches', kind: 'counter' }, // Batches drained that held a record.
  { name: 'batch_records', kind: 'histogram' }, // Records per batch.
  { name: 'batch_last', kind: 'gauge' }, // Records of the last batch.
  { name: 'service_ns', kind: 'histogram' }, // Nanoseconds per batch, flush included.
  { name: 'mailbox_depth', kind: 'gauge' }, // Records that waited when the last batch began.
  { name: 'mailbox_high_water', kind: 'gauge' }, // The most records that ever waited when a batch began.
  { name: 'stalls', kind: 'counter' }, // Times that a record waited because the actor was not ready for it.
  { name: 'stalled', kind: 'gauge' }, // 1 while the actor is not ready for a record that waits.
];

/** @throws InvariantError when the topology is inconsistent, with the location. */
export function planTopology(topology: Topology, clock: ClockStart): Plan {
  checkThreads(topology);
  checkActors(topology);
  checkEdges(topology);
  const { threads, tracedBeside } = topology;
  return {
    threads: topology.threads,
    actors: topology.actors.map((actor) => ({
      ...actor,
      metricsPlan: createMetrics([...ACTOR_METRICS, ...(actor.metrics ?? [])]),
    })),
    edges: topology.edges.map((edge) => ({ ...edge, channel: edge.channel ?? MAIN_CHANNEL, ring: createRing(edge) })),
    tickMs: topology.tickMs,
    threadBlocks: createThreadBlocks(topology.threads.length),
    threadMetrics: topology.threads.map(() => createMetrics(THREAD_METRICS)),
    clock: createClock(clock),
    logs: createLogs(),
    trace: tracedBeside === undefined ? null : createTrace([...threads.map(({ name }) => name), ...tracedBeside]),
  };
}

/** The index of a thread in the plan: of its control block and its doorbell. */
export function threadIndex(plan: Plan, name: string): number {
  const index = plan.threads.findIndex((thread) => thread.name === name);
  assert(index >= 0, `there is a thread named ${name}`);
  return index;
}

/** @returns the thread of an actor. */
export function threadOf(actors: readonly ActorSpec[], actor: string): string {
  const spec = actors.find((candidate) => candidate.name === actor);
  assert(spec !== undefined, `there is an actor named ${actor}`);
  return spec.thread;
}

function checkThreads({ threads, tickMs }: Topology): void {
  assertDistinct(
    threads.map((thread) => thread.name),
    'thread',
  );
  assert(threads.filter((thread) => thread.place === 'main').length === 1, 'there is one main thread');
  assert(Number.isInteger(tickMs) && tickMs >= 1 && tickMs <= 100, 'tickMs is 1 to 100');
  for (const thread of threads) {
    assert(Number.isInteger(thread.spinTurns) && thread.spinTurns >= 0, `${thread.name}: spinTurns is a count`);
    assert(thread.place === 'worker' || thread.waiting === 'event-loop', 'the main thread runs its event loop');
    assert(thread.place === 'worker' || thread.onDeath === 'fail-stop', 'the main thread is not restarted');
    assert(!thread.ownsListener || thread.waiting === 'event-loop', `${thread.name}: a listener needs an event loop`);
  }
}

function checkActors({ threads, actors }: Topology): void {
  assertDistinct(
    actors.map((actor) => actor.name),
    'actor',
  );
  for (const actor of actors) {
    assert(
      threads.some((thread) => thread.name === actor.thread),
      `${actor.name}: its thread ${actor.thread} exists`,
    );
    assert(Number.isInteger(actor.batchRecordsMax) && actor.batchRecordsMax > 0, `${actor.name}: batches are bounded`);
  }
}

function checkEdges({ threads, actors, edges }: Topology): void {
  assertDistinct(
    edges.map((edge) => `${edge.from} → ${edge.to} (${edge.channel ?? MAIN_CHANNEL})`),
    'edge',
  );
  for (const edge of edges) {
    threadOf(actors, edge.from);
    const receiver = threads.find((thread) => thread.name === threadOf(actors, edge.to));
    assert(
      receiver?.onDeath !== 'restart' || edge.full === 'drop-and-resync',
      `${edge.from} → ${edge.to}: a thread that is restarted loses records, so its channels resync`,
    );
  }
}

function assertDistinct(names: readonly string[], what: string): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  assert(twice === undefined, `two ${what}s are named ${twice}`);
}
