/**
 * `GET /metrics` (operator-api.md 3): prints what the threads recorded in shared memory as Prometheus text
 * (metric-families.ts). Reading it costs the recording threads nothing.
 *
 * Here is what the exchange does: orders, fills, listeners, clearing, liquidation, chains. Threads, rings and the process
 * are in runtime-families.ts and process-metrics.ts, what is recorded in gateway/metrics/metric-names.ts and runtime/topology.ts.
 */
import type { WatchedChain } from '../chain/evm-thread.ts';
import type { ApprovalStop } from '../chain/vault-holdings.ts';
import { CLEARING, FRONT_DOOR, MARKET_DATA } from '../core/actor-names.ts';
import { format18 } from '../core/decimal.ts';
import { ACTIONS, gatewayStagesOf, MARKET_ACTIONS, MARKET_STAGES, NAMING_ACTIONS, resultsOf } from '../core/hops.ts';
import type { AssetId } from '../core/ids.ts';
import { STAGES } from '../gateway/actions/admission.ts';
import {
  actionMetric,
  actionTimeMetric,
  COUNTED_STATUSES,
  FAULT_WORDS,
  MARKET_TIME_METRIC,
  MARKETS_MAX,
  matchedMetric,
  READ_KINDS,
  READ_RESULTS,
  REFUSAL_CODES,
  ROLLBACK_WORDS,
  readMetric,
  readTimeMetric,
  refusalMetric,
  responseMetric,
  shedMetric,
  stageMetric,
} from '../gateway/metrics/metric-names.ts';
import type { MarketFigures } from '../gateway/orders/order-manager.ts';
import type { LimitName } from '../gateway/sessions/shared-budget.ts';
import { MARK_STALE_NS, ORACLE_STALE_NS, type SourceState, sourceState } from '../risk/prices.ts';
import { snapshotMetrics } from '../runtime/metrics.ts';
import {
  actorNamed,
  COARSE_SECONDS,
  counter,
  type Family,
  gauge,
  histogram,
  histogramOf,
  numberOf,
  plainCounter,
  plainGauge,
  type Recorded,
  recordedOf,
  type Sample,
  SECONDS,
  sumOf,
} from './metric-families.ts';
import type { OpsParts } from './ops-parts.ts';
import { processMetrics } from './process-metrics.ts';
import { runtimeFamilies } from './runtime-families.ts';

/** Of Prometheus' text format. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const RESPONSE_KINDS = ['read', 'change'] as const;

/** What no thread records in shared memory. */
export interface MeasuredElsewhere {
  /** Responses of the ops listener, by `<route> <status>`. */
  readonly opsRequests: ReadonlyMap<string, number>;
  readonly chains: readonly WatchedChain[];
  /** What the vaults hold beyond the ledger, by asset, 18 decimals. */
  readonly deviations: ReadonlyMap<AssetId, bigint>;
  /** Assets of which nothing is approved on a chain (MON-05). */
  readonly approvalStops: readonly ApprovalStop[];
}

/** 3,100 lines take 2 ms, in one piece: so the pause behind it counts all of it (paced-requests.ts). */
export async function metricsPage(parts: OpsParts, measured: MeasuredElsewhere): Promise<string> {
  return [...families(parts, measured), await processMetrics()].join('\n');
}

function* families(
  parts: OpsParts,
  { opsRequests, chains, deviations, approvalStops }: MeasuredElsewhere,
): Generator<Family> {
  const recorded = parts.plan.actors.map(({ name, metricsPlan }) => recordedOf(name, snapshotMetrics(metricsPlan)));
  const gateway = actorNamed(recorded, FRONT_DOOR);
  const clearing = actorNamed(recorded, CLEARING);
  yield* orderFamilies(gateway);
  yield* actionFamilies(recorded);
  yield* actionsByMarket(parts);
  yield* socketFamilies({ oms: gateway, mds: actorNamed(recorded, MARKET_DATA) });
  yield* readFamilies({ oms: gateway, mds: actorNamed(recorded, MARKET_DATA) });
  yield* signatureFamilies(clearing);
  yield* timeFamilies(gateway, clearing);
  yield plainGauge(
    'ringbook_unflushed_seconds',
    'How long the oldest market event has waited for its flush.',
    parts.unflushedSeconds(),
  );
  yield plainGauge('ringbook_open_orders', 'Live orders of all users.', parts.openOrders());
  yield* nodeFamilies(parts);
  const markets = [...parts.marketFigures()].slice(0, MARKETS_MAX);
  yield* marketFamilies(markets);
  yield matchingByMarket(recorded, markets);
  yield plainGauge('ringbook_data_file_bytes', 'Size of the data file.', parts.dataFileBytes());
  yield breakerFamily(parts);
  yield oracleAgeFamily(parts);
  yield* liquidationFamilies(clearing);
  yield* chainFamilies(chains);
  yield gauge(
    'ringbook_holdings_deviation',
    'What the vaults hold of an asset on the chains beyond what the ledger says, in units of the asset.',
    [...deviations].map(([asset, deviation]) => ({ value: Number(format18(deviation)), labels: { asset } })),
  );
  yield gauge(
    'ringbook_approvals_stopped_units',
    'What the vault of a chain lacks of an asset of which nothing is approved there, in units of the asset; none for others.',
    approvalStops.map(({ chainId, asset, missing }) => {
      return { value: Number(format18(missing)), labels: { chain: chainId, asset } };
    }),
  );
  yield* runtimeFamilies(parts, recorded);
  yield counter('ringbook_rate_limited_total', 'Requests refused with 429, by the bucket that was empty.', [
    limited(parts, 'user'),
    limited(parts, 'global'),
    limited(parts, 'address'),
  ]);
  yield counter('ringbook_requests_total', 'Requests answered.', [
    ...requestSamples(parts.requestCounts()),
    ...requestSamples(opsRequests),
  ]);
}

/** Whether the node serves, and what ends the growth of figures that are watched. */
function nodeFamilies(parts: OpsParts): readonly Family[] {
  const { openOrders, signatures, certificateEndS } = parts.bounds();
  const disk = parts.dataDisk();
  const { made, failed } = parts.snapshots();
  const sampleOf = (value: number | null): readonly Sample[] => (value === null ? [] : [{ value, labels: {} }]);
  return [
    plainGauge(
      'ringbook_ready',
      'Whether the node serves: 0 while it starts or drains.',
      parts.waitingFor().length === 0 ? 1 : 0,
    ),
    plainGauge('ringbook_open_orders_limit', 'Live orders that the node takes of all users.', openOrders),
    gauge(
      'ringbook_verifier_signatures_limit',
      'Requests in the verifier pool, beyond which orders wait at the gateway.',
      sampleOf(signatures),
    ),
    gauge('ringbook_data_disk_bytes', 'Size of the file system with the data file.', sampleOf(disk?.bytes ?? null)),
    gauge(
      'ringbook_data_disk_free_bytes',
      'Free space of the file system with the data file.',
      sampleOf(disk?.freeBytes ?? null),
    ),
    gauge(
      'ringbook_data_disk_low',
      '1 while less than disk_reserve_mib is free, and new orders are refused.',
      sampleOf(disk === null ? null : Number(disk.isLow)),
    ),
    gauge(
      'ringbook_tls_certificate_expiry_timestamp_seconds',
      'When the certificate of the public listeners ends, in Unix time.',
      sampleOf(certificateEndS),
    ),
    counter('ringbook_snapshots_total', 'Snapshots that the node made by its schedule, and those that failed.', [
      { value: made, labels: { result: 'made' } },
      { value: failed, labels: { result: 'failed' } },
    ]),
  ];
}

function marketFamilies(markets: readonly MarketFigures[]): readonly Family[] {
  const samples = (value: (market: MarketFigures) => number): readonly Sample[] =>
    markets.map((figures) => ({ value: value(figures), labels: { market: figures.market } }));
  return [
    counter(
      'ringbook_market_events_total',
      'Events of a market: the last number of its sequence, which jumps after an unclean stop.',
      samples(({ events }) => events),
    ),
    gauge(
      'ringbook_market_undecided_events',
      'Events of a market that clearing has not decided and flushed.',
      samples(({ undecided }) => undecided),
    ),
    gauge(
      'ringbook_market_pending_trades',
      'Trades of a market that clearing has neither confirmed nor rolled back.',
      samples(({ pendingTrades }) => pendingTrades),
    ),
  ];
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
      'The highest block that a majority of providers has reached; -1 while no majority answers.',
      samples(({ head }) => head),
    ),
    gauge(
      'ringbook_chain_processed_block',
      'The last block with all deposits credited.',
      samples(({ processed }) => processed),
    ),
    gauge(
      'ringbook_chain_providers_configured',
      'Providers of a chain, of which more than half have to agree.',
      samples(({ providers }) => providers),
    ),
    gauge(
      'ringbook_chain_providers_answering',
      'Providers that answered when they were last looked at.',
      samples(({ answering }) => answering),
    ),
    gauge(
      'ringbook_chain_providers_agreeing',
      'Answering providers whose last answers are those of the majority.',
      samples(({ agreeing }) => agreeing),
    ),
    counter(
      'ringbook_chain_provider_bombs_total',
      'Answers of providers beyond their bounds, unread; the provider rests for five minutes.',
      samples(({ bombs }) => bombs),
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

/** By the node's clock; a price may lie a little ahead of it. */
function oracleAgeFamily(parts: OpsParts): Family {
  const nowNs = parts.clock.nowNs();
  const samples = [...parts.prices()].flatMap(([asset, { oracle }]) =>
    oracle === null ? [] : [{ value: Math.max(Number(nowNs - oracle.timeNs), 0) / 1e9, labels: { asset } }],
  );
  return gauge(
    'ringbook_oracle_age_seconds',
    'Time since the last oracle price of an asset was published; after an hour it is not used.',
    samples,
  );
}

function orderFamilies(gateway: Recorded): readonly Family[] {
  const sample = (label: string, word: string, metric: string): Sample => ({
    value: numberOf(gateway, metric),
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
    counter('ringbook_fills_total', 'Sides of fills published to users.', [
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
      { value: numberOf(gateway, 'fault_cooldowns'), labels: {} },
    ]),
  ];
}

/** Counts, times and stages of requests that change orders. */
function actionFamilies(recorded: readonly Recorded[]): readonly Family[] {
  const gateway = actorNamed(recorded, FRONT_DOOR);
  const shards = shardsOf(recorded);
  const results = ACTIONS.flatMap((action) =>
    resultsOf(action).map(
      (result): Sample => ({ value: numberOf(gateway, actionMetric(action, result)), labels: { action, result } }),
    ),
  );
  const stages = [
    ...ACTIONS.flatMap((action) =>
      gatewayStagesOf(action).map((stage) => ({
        labels: { action, stage },
        snapshot: histogramOf(gateway, stageMetric(action, stage)),
      })),
    ),
    ...MARKET_ACTIONS.flatMap((action) =>
      MARKET_STAGES.map((stage) => ({
        labels: { action, stage },
        snapshot: sumOf(shards.map((shard) => histogramOf(shard, stageMetric(action, stage)))),
      })),
    ),
  ];
  return [
    counter(
      'ringbook_actions_total',
      'Answers to requests that change orders; an order of a batch counts as a create or replace too.',
      results,
    ),
    histogram(
      'ringbook_action_seconds',
      'From the reading of a request that changes orders to its answer, of a batch to its last one.',
      ACTIONS.map((action) => ({ labels: { action }, snapshot: histogramOf(gateway, actionTimeMetric(action)) })),
      SECONDS,
    ),
    histogram(
      'ringbook_action_stage_seconds',
      'Time of an action in a stage: parse, verify, reserve, market, reply follow each other, but mass cancels are answered before their markets; ring (the longest wait of those read together) and match are within market.',
      stages,
      SECONDS,
    ),
  ];
}

/** The actors of markets. */
function shardsOf(recorded: readonly Recorded[]): readonly Recorded[] {
  return recorded.filter(({ metrics }) => metrics.has(stageMetric('create', 'match')));
}

/** Of markets that have seen a command; those on one shard share its thread. */
function matchingByMarket(recorded: readonly Recorded[], markets: readonly MarketFigures[]): Family {
  const shards = shardsOf(recorded);
  const samples = markets.flatMap(({ market, marketIndex }) => {
    if (marketIndex >= MARKETS_MAX) return [];
    const ns = shards.reduce((sum, shard) => sum + numberOf(shard, matchedMetric(marketIndex)), 0);
    return ns === 0 ? [] : [{ value: ns / 1e9, labels: { market } }];
  });
  return counter('ringbook_market_match_seconds_total', 'Time in which commands of a market were matched.', samples);
}

/** Of markets that have seen an action, and there of the kinds that they have seen. */
function actionsByMarket(parts: OpsParts): readonly Family[] {
  const markets = [...parts.marketActions()].map(([market, plan]) => recordedOf(market, snapshotMetrics(plan)));
  const counts = markets.flatMap((market) =>
    NAMING_ACTIONS.flatMap((action) => {
      const samples = resultsOf(action).map((result) => ({
        value: numberOf(market, actionMetric(action, result)),
        labels: { market: market.actor, action, result },
      }));
      return samples.some(({ value }) => value > 0) ? samples : [];
    }),
  );
  return [
    counter(
      'ringbook_market_actions_total',
      'Answers to actions that name the market, and to orders of batches, of the first 256 markets that saw one.',
      counts,
    ),
    histogram(
      'ringbook_market_action_seconds',
      'From the reading of an action that names the market to its answer, batches not included.',
      markets.map((market) => ({
        labels: { market: market.actor },
        snapshot: histogramOf(market, MARKET_TIME_METRIC),
      })),
      COARSE_SECONDS,
    ),
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
    Object.entries(services).map(([service, listener]) => ({ value: numberOf(listener, metric), labels: { service } }));
  const each = (label: string, names: readonly (readonly [string, string])[]): readonly Sample[] =>
    Object.entries(services).flatMap(([service, listener]) =>
      names.map(([name, metric]) => ({ value: numberOf(listener, metric), labels: { service, [label]: name } })),
    );
  const times = Object.entries(services).flatMap(([service, listener]) =>
    RESPONSE_KINDS.map((kind) => ({
      labels: { service, kind },
      snapshot: histogramOf(listener, `response_${kind}_ns`),
    })),
  );
  const statuses = [...COUNTED_STATUSES, 'other' as const].map((status): readonly [string, string] => [
    String(status),
    responseMetric(status),
  ]);
  const codes = REFUSAL_CODES.map((code): readonly [string, string] => [code, refusalMetric(code)]);
  return [
    counter('ringbook_responses_total', 'Responses over HTTP, by status.', each('code', statuses)),
    histogram(
      'ringbook_response_seconds',
      'From the head of a request over HTTP to its response: read is GET, change is any other method.',
      times,
      SECONDS,
    ),
    counter(
      'ringbook_refusals_total',
      'Refusals sent to clients by their code: requests over HTTP, frames of control, orders of batches.',
      each('code', codes),
    ),
    counter('ringbook_lag_closes_total', 'Sockets closed because they fell behind.', samples('lag_closes')),
    gauge('ringbook_sockets', 'Open sockets.', samples('sockets')),
    gauge('ringbook_socket_backlog_bytes', 'Bytes that wait for slow readers.', samples('socket_backlog_bytes')),
  ];
}

/** Of what was read since the start. */
function readFamilies(services: Readonly<Record<'oms' | 'mds', Recorded>>): readonly Family[] {
  const kinds = Object.entries(services).flatMap(([service, listener]) =>
    READ_KINDS.map((read) => ({
      labels: { service, read },
      read,
      listener,
      times: histogramOf(listener, readTimeMetric(read)),
    })),
  );
  const seen = kinds.filter(({ times }) => times.count > 0);
  return [
    counter(
      'ringbook_reads_total',
      'Answers to reads over HTTP, by what is read.',
      seen.flatMap(({ labels, read, listener }) =>
        READ_RESULTS.map((result) => ({
          value: numberOf(listener, readMetric(read, result)),
          labels: { ...labels, result },
        })),
      ),
    ),
    histogram(
      'ringbook_read_seconds',
      'From the head of a read over HTTP to its response, by what is read.',
      seen.map(({ labels, times }) => ({ labels, snapshot: times })),
      COARSE_SECONDS,
    ),
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

function timeFamilies(gateway: Recorded, clearing: Recorded): readonly Family[] {
  const commit = histogramOf(clearing, 'commit_ns');
  return [
    histogram(
      'ringbook_stage_seconds',
      'Time in a stage: answer is from a decoded create to its answer, commit is one flushed journal commit, confirm is from the oldest market event of a flush to its flush.',
      [
        { labels: { stage: 'answer' }, snapshot: histogramOf(gateway, 'answer_ns') },
        { labels: { stage: 'commit' }, snapshot: commit },
        { labels: { stage: 'confirm' }, snapshot: histogramOf(gateway, 'unflushed_ns') },
      ],
      SECONDS,
    ),
    histogram(
      'ringbook_unflushed_window_seconds',
      'How long the oldest market event of a flush had waited for it: what a kill takes from optimistic acknowledgements.',
      [{ labels: {}, snapshot: histogramOf(gateway, 'unflushed_ns') }],
      SECONDS,
    ),
    histogram('ringbook_commit_seconds', 'One flushed journal commit.', [{ labels: {}, snapshot: commit }], SECONDS),
    histogram(
      'ringbook_checkpoint_seconds',
      'One checkpoint: the changed rows written to the tables.',
      [{ labels: {}, snapshot: histogramOf(clearing, 'checkpoint_ns') }],
      SECONDS,
    ),
    plainCounter(
      'ringbook_checkpoint_rows_total',
      'Rows written by checkpoints.',
      numberOf(clearing, 'checkpoint_rows'),
    ),
    plainGauge(
      'ringbook_checkpoint_sequence',
      'Last journal record that the tables reflect; 0 before the first checkpoint of this start.',
      numberOf(clearing, 'checkpoint_sequence'),
    ),
    plainGauge(
      'ringbook_ledger_difference',
      'Units by which claims and holdings of all assets differ: anything but 0 is a fault of the node.',
      numberOf(clearing, 'ledger_difference'),
    ),
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

function limited(parts: OpsParts, bucket: LimitName): Sample {
  return { value: Number(parts.refusals(bucket)), labels: { bucket } };
}

function requestSamples(counts: ReadonlyMap<string, number>): readonly Sample[] {
  return [...counts].map(([key, value]) => {
    const space = key.lastIndexOf(' ');
    return { value, labels: { route: key.slice(0, space), code: key.slice(space + 1) } };
  });
}
