/**
 * Metrics of the runtime: actors and their mailboxes, rings, threads, the verifier and the build. The process: process-metrics.ts.
 *
 * A ring is labelled with its two actors; the set of rings, actors and threads follows from the configuration.
 */
import { must } from '../core/assert.ts';
import { droppedLines, isLogWaiting } from '../runtime/log-buffer.ts';
import { snapshotMetrics } from '../runtime/metrics.ts';
import { type RingDepth, ringDepth } from '../runtime/spsc-ring.ts';
import { MAIN_CHANNEL, type Plan } from '../runtime/topology.ts';
import {
  counter,
  type Family,
  gauge,
  histogram,
  histogramOf,
  type Labelled,
  numberOf,
  plainCounter,
  plainGauge,
  RECORDS,
  type Recorded,
  recordedOf,
  type Sample,
  SECONDS,
} from './metric-families.ts';
import type { OpsParts } from './ops-parts.ts';

export function* runtimeFamilies(parts: OpsParts, recorded: readonly Recorded[]): Generator<Family> {
  const { plan, version, commit, config } = parts;
  const build = { version, commit, profile: config.profile, node: process.version };
  yield* actorFamilies(plan, recorded);
  yield* ringFamilies(plan);
  yield* threadFamilies(parts);
  yield plainGauge(
    'ringbook_verifier_signatures',
    'Requests whose signatures wait in the verifier pool or are being verified.',
    parts.unverified(),
  );
  const { differenceNs, held } = parts.wallClock.state;
  yield plainGauge(
    'ringbook_clock_difference_seconds',
    'The system clock less the clock of the node.',
    Number(differenceNs / 1_000n) / 1e6,
  );
  yield plainGauge(
    'ringbook_clock_held',
    '1 while a step of the system clock is not followed, because nothing bears it out.',
    held === null ? 0 : 1,
  );
  yield plainCounter(
    'ringbook_log_lines_dropped_total',
    'Lines of the log that were not written, because standard error was not read or refused them.',
    droppedLines(plan.logs),
  );
  yield plainGauge(
    'ringbook_log_waiting',
    '1 while lines of the log wait because standard error is not read.',
    isLogWaiting(plan.logs) ? 1 : 0,
  );
  yield gauge('ringbook_build_info', 'The version of this node; always 1.', [{ value: 1, labels: build }]);
}

function actorFamilies(plan: Plan, recorded: readonly Recorded[]): readonly Family[] {
  const numbers = (metric: string): readonly Sample[] =>
    recorded.map((one) => ({ value: numberOf(one, metric), labels: { actor: one.actor } }));
  const histograms = (metric: string): readonly Labelled[] =>
    recorded.map((one) => ({ labels: { actor: one.actor }, snapshot: histogramOf(one, metric) }));
  const depths = recorded.map(({ actor }) => ({ value: mailboxDepth(plan, actor), labels: { actor } }));
  return [
    gauge('ringbook_mailbox_depth', 'Records that wait for the actor.', depths),
    gauge(
      'ringbook_mailbox_high_water',
      'The most records that ever waited when a batch began.',
      numbers('mailbox_high_water'),
    ),
    counter('ringbook_actor_records_total', 'Records handled.', numbers('records_in')),
    counter(
      'ringbook_actor_stalls_total',
      'Times that a record waited because the actor was not ready for it.',
      numbers('stalls'),
    ),
    histogram('ringbook_actor_batch_records', 'Records per batch.', histograms('batch_records'), RECORDS),
    histogram('ringbook_actor_service_seconds', 'One batch, flush included.', histograms('service_ns'), SECONDS),
  ];
}

/** Records queued for an actor in all its channels. */
export function mailboxDepth(plan: Plan, actor: string): number {
  return plan.edges.reduce((sum, edge) => (edge.to === actor ? sum + ringDepth(edge.ring).records : sum), 0);
}

function ringFamilies(plan: Plan): readonly Family[] {
  const rings = plan.edges.map(({ from, to, channel, ring }) => ({
    labels: channel === MAIN_CHANNEL ? { from, to } : { from, to, channel },
    depth: ringDepth(ring),
  }));
  const samples = (value: (depth: RingDepth) => number): readonly Sample[] =>
    rings.map(({ labels, depth }) => ({ value: value(depth), labels }));
  return [
    gauge(
      'ringbook_ring_records',
      'Records in a ring.',
      samples(({ records }) => records),
    ),
    gauge(
      'ringbook_ring_used_ratio',
      'Bytes in a ring as a share of its capacity: at 1 it is full.',
      samples(({ bytes, capacityBytes }) => bytes / capacityBytes),
    ),
    gauge(
      'ringbook_ring_capacity_bytes',
      'Size of a ring.',
      samples(({ capacityBytes }) => capacityBytes),
    ),
  ];
}

function threadFamilies({ plan, threadUses }: OpsParts): readonly Family[] {
  const threads = plan.threads.map(({ name }, index) =>
    recordedOf(name, snapshotMetrics(must(plan.threadMetrics[index], 'metrics for every thread'))),
  );
  const histograms = (metric: string, of: readonly Recorded[]): readonly Labelled[] =>
    of.map((one) => ({ labels: { thread: one.actor }, snapshot: histogramOf(one, metric) }));
  const loops = plan.threads.flatMap(({ name, waiting }) => (waiting === 'event-loop' ? [name] : []));
  const uses = threadUses();
  return [
    histogram(
      'ringbook_collector_pause_seconds',
      'Pauses of the garbage collector of a thread.',
      histograms('collector_ns', threads),
      SECONDS,
    ),
    histogram(
      'ringbook_event_loop_delay_seconds',
      'How late a timer of the event loop of a thread was.',
      histograms(
        'loop_delay_ns',
        threads.filter(({ actor }) => loops.includes(actor)),
      ),
      SECONDS,
    ),
    counter(
      'ringbook_thread_cpu_seconds_total',
      'CPU time of a thread; other is the sum of those without a name, V8 and libuv among them.',
      uses.map(({ thread, cpuSeconds }) => ({ value: cpuSeconds, labels: { thread } })),
    ),
    counter(
      'ringbook_thread_wait_seconds_total',
      'Time that a thread was runnable and had no CPU.',
      uses.map(({ thread, waitSeconds }) => ({ value: waitSeconds, labels: { thread } })),
    ),
  ];
}
