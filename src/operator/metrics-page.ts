/**
 * `GET /metrics` (operator-api.md 3): renders what the threads recorded in shared memory as Prometheus text. Reading it
 * costs the recording threads nothing; prom-client renders the snapshots like those of other processes.
 *
 * A recorded histogram has sixteen buckets per power of two; here each power of two is one bucket. Its bound is 2^k − 1
 * of the recorded unit, which is also the upper bound of a recorded bucket, so the cumulative counts are exact.
 *
 * Not here: what is recorded (metric-names.ts, runtime/topology.ts).
 */
import { AggregatorRegistry, Registry } from 'prom-client';
import type { WatchedChain } from '../chain/evm-thread.ts';
import { CLEARING, FRONT_DOOR, MARKET_DATA } from '../core/actor-names.ts';
import { assert } from '../core/assert.ts';
import { format18 } from '../core/decimal.ts';
import type { AssetId } from '../core/ids.ts';
import { STAGES } from '../gateway/admission.ts';
import { FAULT_WORDS, ROLLBACK_WORDS, shedMetric } from '../gateway/metric-names.ts';
import type { LimitName } from '../gateway/sessions/shared-budget.ts';
import { MARK_STALE_NS, ORACLE_STALE_NS, type SourceState, sourceState } from '../risk/prices.ts';
import { type HistogramSnapshot, type MetricSnapshot, snapshotMetrics } from '../runtime/metrics.ts';
import { ringDepth } from '../runtime/spsc-ring.ts';
import type { Plan } from '../runtime/topology.ts';
import type { OpsParts } from './ops-parts.ts';

export const METRICS_CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly value: number;
  readonly labels: Labels;
  /** Set where it differs from the family's name: the parts of a histogram. */
  readonly metricName?: string;
}

/** The shape that `Registry.getMetricsAsJSON` returns. */
interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator: 'sum';
  readonly values: readonly Sample[];
}

/** One actor and its metrics, by name. */
interface Recorded {
  readonly actor: string;
  readonly metrics: ReadonlyMap<string, MetricSnapshot>;
}

/** Upper bounds in the recorded unit, and the factor to the published unit. */
interface Scale {
  readonly bounds: readonly number[];
  readonly unit: number;
}

/** From nanoseconds: 1 µs to 34 s. */
const SECONDS: Scale = { bounds: powersBelow(10, 35), unit: 1e9 };
const RECORDS: Scale = { bounds: powersBelow(1, 12), unit: 1 };
const NO_HISTOGRAM: HistogramSnapshot = { count: 0, sum: 0, max: 0, buckets: [] };

function powersBelow(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => 2 ** (from + at) - 1);
}

/** What no thread records in shared memory. */
export interface MeasuredElsewhere {
  /** Responses of the ops listener, by `<route> <status>`. */
  readonly opsRequests: ReadonlyMap<string, number>;
  readonly chains: readonly WatchedChain[];
  /** What the vaults hold beyond the ledger, by asset, 18 decimals. */
  readonly deviations: ReadonlyMap<AssetId, bigint>;
}

export function metricsPage(parts: OpsParts, { opsRequests, chains, deviations }: MeasuredElsewhere): Promise<string> {
  const recorded = parts.plan.actors.map(
    ({ name, metricsPlan }): Recorded => ({
      actor: name,
      metrics: new Map(snapshotMetrics(metricsPlan).map((metric) => [metric.name, metric])),
    }),
  );
  const families = [
    ...orderFamilies(actorNamed(recorded, FRONT_DOOR)),
    ...socketFamilies({ oms: actorNamed(recorded, FRONT_DOOR), mds: actorNamed(recorded, MARKET_DATA) }),
    ...signatureFamilies(actorNamed(recorded, CLEARING)),
    ...timeFamilies(actorNamed(recorded, FRONT_DOOR), actorNamed(recorded, CLEARING)),
    plainGauge(
      'ringbook_unflushed_seconds',
      'How long the oldest market event has waited for its flush.',
      parts.unflushedSeconds(),
    ),
    plainGauge('ringbook_open_orders', 'Live orders of all users.', parts.openOrders()),
    plainGauge('ringbook_data_file_bytes', 'Size of the data file.', parts.dataFileBytes()),
    breakerFamily(parts),
    ...liquidationFamilies(actorNamed(recorded, CLEARING)),
    ...chainFamilies(chains),
    gauge(
      'ringbook_holdings_deviation',
      'What the vaults hold of an asset on the chains beyond what the ledger says, in units of the asset.',
      [...deviations].map(([asset, deviation]) => ({ value: Number(format18(deviation)), labels: { asset } })),
    ),
    ...actorFamilies(parts.plan, recorded),
    counter('ringbook_rate_limited_total', 'Requests refused with 429, by the bucket that was empty.', [
      limited(parts, 'user'),
      limited(parts, 'global'),
      limited(parts, 'address'),
    ]),
    counter('ringbook_requests_total', 'Requests answered.', [
      ...requestSamples(parts.requestCounts()),
      ...requestSamples(opsRequests),
    ]),
  ];
  return AggregatorRegistry.aggregate([families]).metrics();
}

/** A chain is one label, of a set that operators make. */
function chainFamilies(chains: readonly WatchedChain[]): readonly Family[] {
  const samples = (value: (chain: WatchedChain) => number): readonly Sample[] =>
    chains.map((chain) => ({ value: value(chain), labels: { chain: chain.chainId } }));
  return [
    gauge(
      'ringbook_chain_stopped',
      'Whether deposits of a chain are not credited until an operator resumes it.',
      samples(({ stopped }) => (stopped === null ? 0 : 1)),
    ),
    gauge(
      'ringbook_chain_head',
      'The highest block that a majority of providers has reached.',
      samples(({ head }) => head),
    ),
    gauge(
      'ringbook_chain_processed_block',
      'The last block with all deposits credited.',
      samples(({ processed }) => processed),
    ),
    gauge(
      'ringbook_chain_providers_agreeing',
      'Providers that gave the answer of the majority at the last range.',
      samples(({ agreeing }) => agreeing),
    ),
    gauge(
      'ringbook_chain_poll_age_seconds',
      'How long ago a chain was last looked at.',
      samples(({ polledMs }) => (performance.now() - polledMs) / 1_000),
    ),
  ];
}

/** A source that never published a price has not tripped (AMB-44). */
function breakerFamily(parts: OpsParts): Family {
  const nowNs = parts.clock.nowNs();
  const sample = (asset: AssetId, source: 'oracle' | 'mark', state: SourceState): Sample => ({
    value: state === 'stale' || state === 'recovering' ? 1 : 0,
    labels: { asset, source },
  });
  const samples = [...parts.prices()].flatMap(([asset, { oracle, mark }]) => [
    sample(asset, 'oracle', sourceState(oracle, ORACLE_STALE_NS, nowNs)),
    sample(asset, 'mark', sourceState(mark, MARK_STALE_NS, nowNs)),
  ]);
  return gauge(
    'ringbook_breaker_open',
    'Whether the prices of a source are too old, or too few since they were.',
    samples,
  );
}

function actorNamed(recorded: readonly Recorded[], actor: string): Recorded {
  const found = recorded.find((candidate) => candidate.actor === actor);
  assert(found !== undefined, `the plan has an actor ${actor}`);
  return found;
}

function numberOf({ actor, metrics }: Recorded, name: string): number {
  const metric = metrics.get(name);
  assert(metric !== undefined && metric.kind !== 'histogram', `${actor} records a number ${name}`);
  return metric.value;
}

/** An empty histogram for an actor that does not record this duration. */
function histogramOf({ metrics }: Recorded, name: string): HistogramSnapshot {
  const metric = metrics.get(name);
  return metric?.kind === 'histogram' ? metric.value : NO_HISTOGRAM;
}

function counter(name: string, help: string, values: readonly Sample[]): Family {
  return { name, help, type: 'counter', aggregator: 'sum', values };
}

function gauge(name: string, help: string, values: readonly Sample[]): Family {
  return { name, help, type: 'gauge', aggregator: 'sum', values };
}

function plainGauge(name: string, help: string, value: number): Family {
  return gauge(name, help, [{ value, labels: {} }]);
}

function orderFamilies(door: Recorded): readonly Family[] {
  const sample = (label: string, word: string, metric: string): Sample => ({
    value: numberOf(door, metric),
    labels: { [label]: word },
  });
  return [
    counter('ringbook_orders_total', 'Creates answered.', [
      sample('result', 'received', 'orders_received'),
      sample('result', 'rejected', 'orders_rejected'),
    ]),
    counter(
      'ringbook_orders_shed_total',
      'Orders refused unread, because they had waited too long at the gateway for this stage.',
      STAGES.map((stage) => sample('stage', stage, shedMetric(stage))),
    ),
    counter('ringbook_fills_total', 'Sides of fills told to users.', [
      sample('status', 'Pending', 'fills_pending'),
      sample('status', 'Confirmed', 'fills_confirmed'),
      sample('status', 'Rollbacked', 'fills_rolled_back'),
    ]),
    counter(
      'ringbook_rollbacks_total',
      'Sides of fills rolled back.',
      ROLLBACK_WORDS.map((word) => sample('reason', word, `rollback_${word}`)),
    ),
    counter(
      'ringbook_faults_total',
      'Rollbacks by the fault of a user that count against the budget of faults.',
      FAULT_WORDS.map((word) => sample('reason', word, `fault_${word}`)),
    ),
    counter('ringbook_fault_cooldowns_total', 'Users whose new orders began to be refused for their faults.', [
      { value: numberOf(door, 'fault_cooldowns'), labels: {} },
    ]),
  ];
}

function liquidationFamilies(clearing: Recorded): readonly Family[] {
  const value = (metric: string): number => numberOf(clearing, metric);
  const total = (name: string, help: string, metric: string): Family =>
    counter(name, help, [{ value: value(metric), labels: {} }]);
  return [
    plainGauge(
      'ringbook_accounts_at_risk',
      'Accounts that borrow and have a maintenance surplus below a tenth of their requirement.',
      value('accounts_at_risk'),
    ),
    plainGauge(
      'ringbook_accounts_shielded',
      'Accounts at risk below maintenance that are not liquidated because the price of a credit is broken.',
      value('accounts_shielded'),
    ),
    plainGauge('ringbook_accounts_liquidating', 'Accounts under liquidation.', value('accounts_liquidating')),
    plainGauge(
      'ringbook_liquidations_blocked',
      'Accounts under liquidation with a position that takes no order: no usable price, or a halted market.',
      value('liquidations_blocked'),
    ),
    plainGauge(
      'ringbook_backstop_equity_usd',
      'USD that the backstop is worth at the mark: its capital and the accounts that it took over.',
      value('backstop_equity_usd'),
    ),
    plainGauge(
      'ringbook_backstop_capital_usd',
      'USD of the backstop, less what it has credited to the accounts that it took over.',
      value('backstop_capital_usd'),
    ),
    plainGauge('ringbook_backstop_accounts', 'Accounts taken over and not sold yet.', value('backstop_accounts')),
    counter('ringbook_liquidations_total', 'Liquidations of accounts that began, and how they ended.', [
      { value: value('liquidations_begun'), labels: { event: 'begun' } },
      { value: value('liquidations_healthy'), labels: { event: 'healthy' } },
      { value: value('liquidations_taken_over'), labels: { event: 'taken_over' } },
    ]),
    total('ringbook_adl_trades_total', 'Positions closed by auto-deleveraging.', 'adl_trades'),
    total('ringbook_adl_usd_total', 'USD of positions closed by auto-deleveraging.', 'adl_usd'),
    total('ringbook_backstop_credited_usd_total', 'USD credited at take-overs.', 'backstop_credited_usd'),
    total('ringbook_shortfall_usd_total', 'USD that accounts taken over were worth below zero.', 'shortfall_usd'),
  ];
}

function socketFamilies(services: Readonly<Record<'oms' | 'mds', Recorded>>): readonly Family[] {
  const samples = (metric: string): readonly Sample[] =>
    Object.entries(services).map(([service, door]) => ({ value: numberOf(door, metric), labels: { service } }));
  return [
    counter('ringbook_lag_closes_total', 'Sockets closed because they fell behind.', samples('lag_closes')),
    gauge('ringbook_sockets', 'Open sockets.', samples('sockets')),
    gauge('ringbook_socket_backlog_bytes', 'Bytes that wait for slow readers.', samples('socket_backlog_bytes')),
  ];
}

function signatureFamilies(clearing: Recorded): readonly Family[] {
  const value = (metric: string): number => numberOf(clearing, metric);
  return [
    counter(
      'ringbook_orders_verified_total',
      'Orders of which clearing judged the signatures, before their first fill.',
      [
        { value: value('orders_attested'), labels: { by: 'attestation' } },
        { value: value('orders_verified'), labels: { by: 'clearing' } },
      ],
    ),
    counter(
      'ringbook_attestations_dropped_total',
      'Attestations dropped because their ring was full: clearing verifies these orders by itself.',
      [{ value: value('attestations_dropped'), labels: {} }],
    ),
  ];
}

function timeFamilies(door: Recorded, clearing: Recorded): readonly Family[] {
  const commit = histogramOf(clearing, 'commit_ns');
  return [
    histogram(
      'ringbook_stage_seconds',
      'Time in a stage: answer is from a decoded create to its answer, commit is one flushed journal commit.',
      [
        { labels: { stage: 'answer' }, snapshot: histogramOf(door, 'answer_ns') },
        { labels: { stage: 'commit' }, snapshot: commit },
      ],
      SECONDS,
    ),
    histogram(
      'ringbook_unflushed_window_seconds',
      'How long the oldest market event of a flush had waited for it: what a kill takes from optimistic acknowledgements.',
      [{ labels: {}, snapshot: histogramOf(door, 'unflushed_ns') }],
      SECONDS,
    ),
    histogram('ringbook_commit_seconds', 'One flushed journal commit.', [{ labels: {}, snapshot: commit }], SECONDS),
    plainGauge('ringbook_journal_sequence', 'Last flushed journal record.', numberOf(clearing, 'journal_sequence')),
    plainGauge(
      'ringbook_journal_first_sequence',
      'First journal record that is there, at the last checkpoint.',
      numberOf(clearing, 'journal_first_sequence'),
    ),
    plainGauge(
      'ringbook_journal_bytes',
      'Bytes of the journal records that are there, at the last checkpoint.',
      numberOf(clearing, 'journal_bytes'),
    ),
  ];
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

function limited(parts: OpsParts, bucket: LimitName): Sample {
  return { value: Number(parts.refusals(bucket)), labels: { bucket } };
}

function requestSamples(counts: ReadonlyMap<string, number>): readonly Sample[] {
  return [...counts].map(([key, value]) => {
    const space = key.lastIndexOf(' ');
    return { value, labels: { route: key.slice(0, space), code: key.slice(space + 1) } };
  });
}

interface Labelled {
  readonly labels: Labels;
  readonly snapshot: HistogramSnapshot;
}

function histogram(name: string, help: string, parts: readonly Labelled[], scale: Scale): Family {
  const values = parts.flatMap(({ labels, snapshot }) => histogramSamples(name, labels, snapshot, scale));
  return { name, help, type: 'histogram', aggregator: 'sum', values };
}

/** The count is the sum of the buckets, so that `+Inf` and count agree while a sample is being recorded. */
function histogramSamples(
  name: string,
  labels: Labels,
  { sum, buckets }: HistogramSnapshot,
  { bounds, unit }: Scale,
): readonly Sample[] {
  const upTo = (bound: number): number =>
    buckets.reduce((count, bucket) => (bucket.upTo <= bound ? count + bucket.count : count), 0);
  const total = upTo(Number.POSITIVE_INFINITY);
  const bucket = (le: string, value: number): Sample => ({
    value,
    labels: { ...labels, le },
    metricName: `${name}_bucket`,
  });
  return [
    ...bounds.map((bound) => bucket(String(bound / unit), upTo(bound))),
    bucket('+Inf', total),
    { value: sum / unit, labels, metricName: `${name}_sum` },
    { value: total, labels, metricName: `${name}_count` },
  ];
}
