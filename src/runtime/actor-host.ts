/**
 * One actor with its mailbox, its publications and its metrics, ready to be polled by any runner.
 *
 * The runners decide when to poll, tick or park.
 */
import { assert, must } from '../core/assert.ts';
import type { Clock } from '../core/units.ts';
import type { Actor, ActorFactory } from './actor.ts';
import type { BellBoard } from './bell-board.ts';
import { type Channel, Mailbox } from './mailbox.ts';
import { type Counter, type Gauge, type Histogram, MetricsWriter } from './metrics.ts';
import { Publication } from './publication.ts';
import { RingReader, RingWriter } from './spsc-ring.ts';
import { MAIN_CHANNEL, type Plan, type PlannedActor, type PlannedEdge, threadOf } from './topology.ts';
import { PAUSE, type TraceLog } from './trace-log.ts';

/** The environment of a host. */
interface HostContext {
  readonly plan: Plan;
  readonly clock: Clock;
  readonly bells: BellBoard;
  readonly settings: unknown;
  /** True after a restart of the thread: channels that resync begin empty and request a snapshot. */
  readonly restarted: boolean;
  readonly wakeUp: () => void;
  /** Control block of the thread; absent where one thread is driven by hand. */
  readonly block?: { heartbeat(): void };
  /** The trace of the thread; null or absent while the node is not traced. */
  readonly trace?: TraceLog | null;
}

export class ActorHost {
  readonly actor: Actor;
  readonly mailbox: Mailbox;
  readonly #publications: readonly Publication[];
  readonly #batchRecordsMax: number;
  readonly #metrics: HostMetrics;
  readonly #trace: TraceLog | null;
  #stalled = false;
  #stalledAtUs = 0;

  constructor(name: string, factory: ActorFactory, context: HostContext) {
    const { plan, clock, settings, wakeUp, trace = null } = context;
    const spec = must(
      plan.actors.find((actor) => actor.name === name),
      `the plan has an actor named ${name}`,
    );
    const inbound = plan.edges.filter((edge) => edge.to === name);
    const outbound = plan.edges.filter((edge) => edge.from === name);
    const publications = outbound.map((edge) => openPublication(edge, context));
    const metrics = new MetricsWriter(spec.metricsPlan);
    this.actor = factory({
      name,
      clock,
      metrics,
      trace,
      settings,
      wakeUp,
      heartbeat: () => context.block?.heartbeat(),
      channelOf: (from, channel = MAIN_CHANNEL) =>
        find(inbound, (edge) => edge.from === from && edge.channel === channel),
      publication: (to, channel = MAIN_CHANNEL) =>
        must(
          publications[find(outbound, (edge) => edge.to === to && edge.channel === channel)],
          'a publication per edge',
        ),
    });
    assert(this.actor.name === name, `the actor made for ${name} has its name`);
    this.mailbox = new Mailbox(
      inbound.map((edge) => openChannel(edge, context)),
      this.actor,
    );
    this.#publications = publications;
    this.#batchRecordsMax = spec.batchRecordsMax;
    this.#metrics = new HostMetrics(metrics);
    this.#trace = trace;
  }

  start(): void {
    this.actor.start();
    this.actor.endBatch();
  }

  /**
   * Handles one bounded batch, or a step of the actor's own work. @returns the number of records handled, or 1 for the
   * step.
   */
  poll(recordsMax: number = this.#batchRecordsMax): number {
    const handled = this.#drain(recordsMax);
    if (handled > 0) return handled;
    const hasMore = this.#hasMore();
    if (hasMore || !this.#isQuiet()) this.actor.endBatch();
    return hasMore ? 1 : 0;
  }

  /** Whether nothing is pending: no record, no step of the actor's own work, no output without space in its ring. */
  isIdle(): boolean {
    return this.mailbox.isEmpty() && !this.#hasMore() && this.#isQuiet();
  }

  #isQuiet(): boolean {
    return this.actor.isQuiet?.() !== false;
  }

  #drain(recordsMax: number): number {
    if (this.mailbox.isEmpty()) return 0;
    const depth = this.mailbox.depth();
    const startedMs = performance.now();
    const handled = this.mailbox.drain(Math.min(recordsMax, this.#batchRecordsMax));
    if (handled > 0) {
      this.actor.endBatch();
      this.#metrics.batch(depth, handled, (performance.now() - startedMs) * 1e6);
    }
    return handled;
  }

  #hasMore(): boolean {
    return this.actor.hasMore?.() === true;
  }

  tick(nowNs: bigint): void {
    this.actor.tick(nowNs);
    this.actor.endBatch();
    this.#noteStall();
    this.#trace?.look();
  }

  /** As Actor.nextTickMs; 0 while output has no space in its ring or a snapshot is due. */
  nextTickMs(nowNs: bigint): number {
    if (this.actor.nextTickMs === undefined || this.#stalled || !this.#isQuiet()) return 0;
    for (const publication of this.#publications) if (publication.needsResync()) return 0;
    return this.actor.nextTickMs(nowNs);
  }

  /**
   * Called before parking. @returns whether there is work. For an actor blocked on a full ring, requests a notification when
   * space is freed.
   */
  hasWork(): boolean {
    if (this.mailbox.hasWork() || this.#hasMore()) return true;
    if (!this.#noteStall()) return false;
    for (const publication of this.#publications) publication.wantRoom();
    return this.mailbox.hasWork();
  }

  #noteStall(): boolean {
    const stalled = this.mailbox.isHeldBack();
    if (stalled !== this.#stalled) {
      this.#metrics.stall(stalled);
      if (stalled) this.#stalledAtUs = this.#trace?.nowUs() ?? 0;
      else this.#trace?.span(PAUSE.ringFull, 0, this.#stalledAtUs);
    }
    this.#stalled = stalled;
    return stalled;
  }
}

/** The state of a thread that polls its actors. */
export function pollingState(hosts: readonly ActorHost[]): 'recovering' | 'running' {
  return hosts.some(({ actor }) => actor.isRecovering?.() === true) ? 'recovering' : 'running';
}

/** Creates the hosts of the actors of one thread, or of all threads when `thread` is null. */
export function hostActors(
  context: HostContext,
  factories: Readonly<Record<string, ActorFactory>>,
  thread: string | null,
): ActorHost[] {
  const here = (actor: PlannedActor): boolean => thread === null || actor.thread === thread;
  return context.plan.actors
    .filter(here)
    .map(({ name }) => new ActorHost(name, must(factories[name], `there is a factory for ${name}`), context));
}

/** The metrics that the runtime records for every actor. */
class HostMetrics {
  readonly #recordsIn: Counter;
  readonly #batches: Counter;
  readonly #batchRecords: Histogram;
  readonly #batchLast: Gauge;
  readonly #serviceNs: Histogram;
  readonly #depth: Gauge;
  readonly #highWater: Gauge;
  readonly #stalls: Counter;
  readonly #stalled: Gauge;

  constructor(metrics: MetricsWriter) {
    this.#recordsIn = metrics.counter('records_in');
    this.#batches = metrics.counter('batches');
    this.#batchRecords = metrics.histogram('batch_records');
    this.#batchLast = metrics.gauge('batch_last');
    this.#serviceNs = metrics.histogram('service_ns');
    this.#depth = metrics.gauge('mailbox_depth');
    this.#highWater = metrics.gauge('mailbox_high_water');
    this.#stalls = metrics.counter('stalls');
    this.#stalled = metrics.gauge('stalled');
  }

  batch(depth: number, handled: number, serviceNs: number): void {
    this.#recordsIn.add(handled);
    this.#batches.add(1);
    this.#batchRecords.record(handled);
    this.#batchLast.set(handled);
    this.#serviceNs.record(serviceNs);
    this.#depth.set(depth);
    this.#highWater.raise(depth);
  }

  stall(begins: boolean): void {
    if (begins) this.#stalls.add(1);
    this.#stalled.set(begins ? 1 : 0);
  }
}

function openChannel(edge: PlannedEdge, { plan, bells, restarted }: HostContext): Channel {
  const reader = new RingReader(edge.ring);
  const producerBell = bells.of(threadOf(plan.actors, edge.from));
  if (restarted && edge.full === 'drop-and-resync') {
    reader.resync();
    producerBell.ring();
  }
  return { reader, producerBell };
}

function openPublication(edge: PlannedEdge, { plan, bells }: HostContext): Publication {
  return new Publication(new RingWriter(edge.ring), bells.of(threadOf(plan.actors, edge.to)), edge.full);
}

function find(edges: readonly PlannedEdge[], matches: (edge: PlannedEdge) => boolean): number {
  const index = edges.findIndex(matches);
  assert(index >= 0, 'the plan has the edge that the actor uses');
  return index;
}
