/**
 * The one table of what the node publishes on `GET /metrics` (operator-api.md 3): name, kind, labels, help and source of every
 * family, in the order of the page.
 *
 *   METRIC_TABLE ─▶ metrics-page.ts              the page
 *                ─▶ docs/reference/metrics.md    the document; a test compares both, and a page of a running node
 *                ─▶ alerts and dashboards        name only what is here; a test holds it
 *
 * What threads record in shared memory is defined in gateway/metrics/metric-names.ts and runtime/topology.ts; a row that reads it
 * finds it by that name. The process and Node: process-metrics.ts.
 */
import type { WatchedChain } from '../chain/chain-kind.ts';
import type { ApprovalStop } from '../chain/vault-holdings.ts';
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
  type ReadKind,
  ROLLBACK_LABELS,
  readMetricOf,
  readTimeMetric,
  refusalMetric,
  responseMetric,
  shedMetric,
  stageMetric,
} from '../gateway/metrics/metric-names.ts';
import type { MarketFigures } from '../gateway/orders/order-manager.ts';
import type { HeadFigures } from '../gateway/queries/evidence-thread.ts';
import type { LimitName } from '../gateway/sessions/shared-budget.ts';
import { MARK_STALE_NS, ORACLE_STALE_NS, type SourceState, sourceState } from '../risk/prices.ts';
import { NODE_STATES, type NodeState } from '../runtime/leadership.ts';
import { droppedLines, isLogWaiting } from '../runtime/log-buffer.ts';
import { type RingDepth, ringDepth } from '../runtime/spsc-ring.ts';
import type { ThreadUse } from '../runtime/thread-times.ts';
import { MAIN_CHANNEL, type Plan } from '../runtime/topology.ts';
import {
  COARSE_SECONDS,
  histogramOf,
  type Labelled,
  type MetricRow,
  numberOf,
  RECORDS,
  type Recorded,
  type Sample,
  type Samples,
  type Scale,
  SECONDS,
  sumOf,
} from './metric-families.ts';
import type { OpsParts } from './ops-parts.ts';

/** What rows of a replica of market data read. */
export interface ReplicaScope {
  readonly parts: Pick<OpsParts, 'plan' | 'leadership'>;
  /** Its feed; null in a node. */
  readonly replica: Recorded | null;
}

/** What rows read; all of one moment. */
export interface MetricScope extends ReplicaScope {
  readonly parts: OpsParts;
  /** What every actor recorded: the gateway, clearing, both public listeners, and the actors of markets. */
  readonly actors: readonly Recorded[];
  readonly gateway: Recorded;
  readonly clearing: Recorded;
  /** Null on one machine. */
  readonly replicator: Recorded | null;
  /** Null where no evidence is kept. */
  readonly evidence: Recorded | null;
  readonly listeners: readonly (readonly [service: 'oms' | 'mds', listener: Recorded])[];
  readonly shards: readonly Recorded[];
  readonly threads: readonly Recorded[];
  readonly threadUses: readonly ThreadUse[];
  /** The first MARKETS_MAX markets. */
  readonly markets: readonly MarketFigures[];
  /** What was recorded for markets that have seen an action. */
  readonly marketActions: readonly Recorded[];
  /** Responses of the ops listener, by `<route> <status>`. */
  readonly opsRequests: ReadonlyMap<string, number>;
  readonly chains: readonly WatchedChain[];
  /** What the vaults hold beyond the ledger, by asset, 18 decimals. */
  readonly deviations: ReadonlyMap<AssetId, bigint>;
  /** Assets for which no approval is signed on a chain (MON-05). */
  readonly approvalStops: readonly ApprovalStop[];
}

type Row = MetricRow<MetricScope>;
type Read = (scope: MetricScope) => Samples;

/** Of the heads of the evidence, where some are signed. */
function ofHeads(read: (figures: HeadFigures) => number): Read {
  return ({ parts }) => {
    const figures = parts.headFigures();
    return figures === null ? null : read(figures);
  };
}

const TAKEOVER_CAUSES = ['silence', 'handover', 'operator'] as const;
const LEADING: ReadonlySet<NodeState> = new Set(['restoring', 'leading', 'stalled', 'handing-over']);
const RESPONSE_KINDS = ['read', 'change'] as const;

/** What every process of a cluster has: without samples on one machine. */
export const REPLICA_TABLE: readonly MetricRow<ReplicaScope>[] = [
  gauge('ringbook_cluster_state', ['state'], '1 for the state of this process in its cluster.', ({ parts }) =>
    NODE_STATES.flatMap((state): readonly Sample[] => {
      const { leadership } = parts;
      return leadership === null ? [] : [[leadership.state() === state ? 1 : 0, state]];
    }),
  ),
  gauge('ringbook_cluster_epoch', [], 'Number of the leadership that this process has seen.', ({ parts }) =>
    parts.leadership === null ? null : parts.leadership.view().epoch,
  ),
  counter(
    'ringbook_replica_gaps_total',
    [],
    'Times that this replica missed a message and read its books anew.',
    ({ replica }) => (replica === null ? null : numberOf(replica, 'gaps')),
  ),
  gauge(
    'ringbook_replica_lag_seconds',
    [],
    'From the reading of a record by the leader to its arrival at this replica, by both clocks; in silence, since the last message.',
    ({ replica }) => (replica === null ? null : numberOf(replica, 'lag_s')),
  ),
];

export const METRIC_TABLE: readonly Row[] = [
  // ---- orders and fills
  counter('ringbook_orders_total', ['result'], 'Creates answered.', ({ gateway }) => [
    [numberOf(gateway, 'orders_received'), 'received'],
    [numberOf(gateway, 'orders_rejected'), 'rejected'],
  ]),
  counter(
    'ringbook_orders_shed_total',
    ['stage'],
    'Orders refused unread, because they had waited too long at the gateway for this stage.',
    ({ gateway }) => STAGES.map((stage): Sample => [numberOf(gateway, shedMetric(stage)), stage]),
  ),
  counter('ringbook_fills_total', ['status'], 'Sides of fills published to users.', ({ gateway }) => [
    [numberOf(gateway, 'fills_pending'), 'Pending'],
    [numberOf(gateway, 'fills_confirmed'), 'Confirmed'],
    [numberOf(gateway, 'fills_rolled_back'), 'Rollbacked'],
  ]),
  counter('ringbook_rollbacks_total', ['reason'], 'Sides of fills rolled back.', ({ gateway }) =>
    ROLLBACK_LABELS.map((word): Sample => [numberOf(gateway, `rollback_${word}`), word]),
  ),
  counter(
    'ringbook_faults_total',
    ['reason'],
    'Rollbacks by the fault of a user that count against the budget of faults.',
    ({ gateway }) => FAULT_WORDS.map((word): Sample => [numberOf(gateway, `fault_${word}`), word]),
  ),
  counter(
    'ringbook_fault_cooldowns_total',
    [],
    'Users whose new orders began to be refused for their faults.',
    ofGateway('fault_cooldowns'),
  ),

  counter(
    'ringbook_protection_trips_total',
    [],
    'Protection groups of market makers whose orders were taken off the book because they reached a limit.',
    ofGateway('protection_trips'),
  ),

  // ---- requests that change orders
  counter(
    'ringbook_actions_total',
    ['action', 'result'],
    'Answers to requests that change orders; an order of a batch counts as a create or replace too.',
    ({ gateway }) =>
      ACTIONS.flatMap((action) =>
        resultsOf(action).map((result): Sample => [numberOf(gateway, actionMetric(action, result)), action, result]),
      ),
  ),
  histogram(
    'ringbook_action_seconds',
    ['action'],
    'From the reading of a request that changes orders to its answer, of a batch to its last one.',
    ({ gateway }) => ACTIONS.map((action) => [histogramOf(gateway, actionTimeMetric(action)), action]),
  ),
  histogram(
    'ringbook_action_stage_seconds',
    ['action', 'stage'],
    'Time of an action in a stage: parse, verify, reserve, market, reply follow each other, but mass cancels are answered before their markets; ring (the longest wait of those read together) and match are within market.',
    stages,
  ),
  counter(
    'ringbook_market_actions_total',
    ['market', 'action', 'result'],
    'Answers to actions that name the market, and to orders of batches, of the first 256 markets that saw one.',
    marketActions,
  ),
  histogram(
    'ringbook_market_action_seconds',
    ['market'],
    'From the reading of an action that names the market to its answer, batches not included.',
    ({ marketActions: markets }) => markets.map((market) => [histogramOf(market, MARKET_TIME_METRIC), market.actor]),
    COARSE_SECONDS,
  ),

  // ---- the public listeners
  counter('ringbook_responses_total', ['service', 'code'], 'Responses over HTTP, by status.', ({ listeners }) =>
    listeners.flatMap(([service, listener]) =>
      [...COUNTED_STATUSES, 'other' as const].map(
        (status): Sample => [numberOf(listener, responseMetric(status)), service, String(status)],
      ),
    ),
  ),
  histogram(
    'ringbook_response_seconds',
    ['service', 'kind'],
    'From the head of a request over HTTP to its response: read is GET, change is any other method.',
    ({ listeners }) =>
      listeners.flatMap(([service, listener]) =>
        RESPONSE_KINDS.map((kind): Labelled => [histogramOf(listener, `response_${kind}_ns`), service, kind]),
      ),
  ),
  counter(
    'ringbook_refusals_total',
    ['service', 'code'],
    'Refusals sent to clients by their code: requests over HTTP, frames of control, orders of batches.',
    ({ listeners }) =>
      listeners.flatMap(([service, listener]) =>
        REFUSAL_CODES.map((code): Sample => [numberOf(listener, refusalMetric(code)), service, code]),
      ),
  ),
  counter('ringbook_lag_closes_total', ['service'], 'Sockets closed because they fell behind.', each('lag_closes')),
  gauge('ringbook_sockets', ['service'], 'Open sockets.', each('sockets')),
  gauge(
    'ringbook_socket_backlog_bytes',
    ['service'],
    'Bytes that wait for slow readers.',
    each('socket_backlog_bytes'),
  ),
  counter(
    'ringbook_reads_total',
    ['service', 'read', 'result'],
    'Answers to reads over HTTP, by what is read.',
    (scope) =>
      readsSeen(scope).flatMap(({ service, read, listener }) =>
        READ_RESULTS.map((result): Sample => [numberOf(listener, readMetricOf(read, result)), service, read, result]),
      ),
  ),
  histogram(
    'ringbook_read_seconds',
    ['service', 'read'],
    'From the head of a read over HTTP to its response, by what is read.',
    (scope) =>
      readsSeen(scope).map(({ service, read, listener }) => [
        histogramOf(listener, readTimeMetric(read)),
        service,
        read,
      ]),
    COARSE_SECONDS,
  ),

  // ---- clearing
  counter(
    'ringbook_orders_verified_total',
    ['by'],
    'Orders of which clearing judged the signatures, before their first fill.',
    ({ clearing }) => [
      [numberOf(clearing, 'orders_attested'), 'attestation'],
      [numberOf(clearing, 'orders_verified'), 'clearing'],
    ],
  ),
  counter(
    'ringbook_attestations_dropped_total',
    [],
    'Attestations dropped because their ring was full: clearing verifies these orders by itself.',
    ofClearing('attestations_dropped'),
  ),
  histogram(
    'ringbook_stage_seconds',
    ['stage'],
    'Time in a stage: answer is from a decoded create to its answer, commit is one flushed journal commit, confirm is from the oldest market event of a flush to its flush.',
    ({ gateway, clearing }) => [
      [histogramOf(gateway, 'answer_ns'), 'answer'],
      [histogramOf(clearing, 'commit_ns'), 'commit'],
      [histogramOf(gateway, 'unflushed_ns'), 'confirm'],
    ],
  ),
  histogram(
    'ringbook_unflushed_window_seconds',
    [],
    'How long the oldest market event of a flush had waited for it: what a kill takes from optimistic acknowledgements.',
    ({ gateway }) => [[histogramOf(gateway, 'unflushed_ns')]],
  ),
  histogram('ringbook_commit_seconds', [], 'One flushed journal commit.', ({ clearing }) => [
    [histogramOf(clearing, 'commit_ns')],
  ]),
  histogram(
    'ringbook_checkpoint_seconds',
    [],
    'One checkpoint: the changed rows written to the tables.',
    ({ clearing }) => [[histogramOf(clearing, 'checkpoint_ns')]],
  ),
  counter('ringbook_checkpoint_rows_total', [], 'Rows written by checkpoints.', ofClearing('checkpoint_rows')),
  gauge(
    'ringbook_checkpoint_sequence',
    [],
    'Last journal record that the tables reflect; 0 before the first checkpoint of this start.',
    ofClearing('checkpoint_sequence'),
  ),
  gauge(
    'ringbook_ledger_difference',
    [],
    'Units by which claims and holdings of all assets differ: anything but 0 is a fault of the node.',
    ofClearing('ledger_difference'),
  ),
  gauge('ringbook_journal_sequence', [], 'Last flushed journal record.', ofClearing('journal_sequence')),
  gauge(
    'ringbook_journal_first_sequence',
    [],
    'First journal record that is there, at the last checkpoint.',
    ofClearing('journal_first_sequence'),
  ),
  gauge(
    'ringbook_journal_bytes',
    [],
    'Bytes of the journal records that are there, at the last checkpoint.',
    ofClearing('journal_bytes'),
  ),
  gauge(
    'ringbook_evidence_durable_sequence',
    [],
    'Last journal record whose rows and leaf are durable in the evidence.',
    ofEvidence('durable_sequence'),
  ),
  gauge(
    'ringbook_evidence_behind_records',
    [],
    'Journal records that are applied and not durable in the evidence.',
    whereEvidence(ofClearing('evidence_behind_records')),
  ),
  gauge(
    'ringbook_evidence_behind_seconds',
    [],
    'How long the oldest of them has waited; from 10 s on clearing takes no input.',
    whereEvidence(ofClearing('evidence_behind_s')),
  ),
  gauge(
    'ringbook_evidence_behind_bytes',
    [],
    'What was decided in them, before it is rows; from 1 GiB on clearing takes no input.',
    whereEvidence(ofClearing('evidence_behind_bytes')),
  ),
  gauge(
    'ringbook_evidence_holds',
    [],
    '1 while clearing takes no input because the evidence is too far behind.',
    whereEvidence(ofClearing('evidence_holds')),
  ),
  counter('ringbook_evidence_rows_total', [], 'Rows of the evidence since the start.', ofEvidence('rows')),
  counter(
    'ringbook_evidence_row_bytes_total',
    [],
    'Bytes of these rows, before they are compressed.',
    ofEvidence('row_bytes'),
  ),
  gauge(
    'ringbook_evidence_head_size',
    [],
    'Journal records under the newest head that this node has signed.',
    ofHeads(({ size }) => size),
  ),
  gauge(
    'ringbook_evidence_head_age_seconds',
    [],
    'Since the newest head was signed; 0 for none.',
    ofHeads(({ ageMs }) => ageMs / 1_000),
  ),
  gauge(
    'ringbook_evidence_uncovered_records',
    [],
    'Journal records in the files of the evidence that no head covers.',
    ofHeads(({ uncovered }) => uncovered),
  ),
  gauge(
    'ringbook_evidence_witnesses',
    [],
    'Witnesses that cosigned when they were asked last.',
    ofHeads(({ cosigned }) => cosigned),
  ),
  gauge(
    'ringbook_evidence_quorum',
    [],
    'Witnesses that the venue promises for a head.',
    ofHeads(({ quorum }) => quorum),
  ),
  histogram('ringbook_evidence_flush_seconds', [], 'One flush of the evidence.', ({ evidence }) =>
    evidence === null ? [] : [[histogramOf(evidence, 'flush_ns')]],
  ),
  gauge('ringbook_unflushed_seconds', [], 'How long the oldest market event has waited for its flush.', ({ parts }) =>
    parts.unflushedSeconds(),
  ),

  // ---- whether the node serves, and what ends the growth of figures that are watched
  gauge('ringbook_open_orders', [], 'Live orders of all users.', ({ parts }) => parts.openOrders()),
  gauge('ringbook_ready', [], 'Whether the node serves: 0 while it starts or drains.', ({ parts }) =>
    parts.waitingFor().length === 0 ? 1 : 0,
  ),
  gauge(
    'ringbook_open_orders_limit',
    [],
    'Live orders that the node takes of all users.',
    ({ parts }) => parts.bounds().openOrders,
  ),
  gauge(
    'ringbook_verifier_signatures_limit',
    [],
    'Requests in the verifier pool, beyond which orders wait at the gateway.',
    ({ parts }) => parts.bounds().signatures,
  ),
  gauge(
    'ringbook_data_disk_bytes',
    [],
    'Size of the file system with the data file.',
    ({ parts }) => parts.dataDisk()?.bytes ?? null,
  ),
  gauge(
    'ringbook_data_disk_free_bytes',
    [],
    'Free space of the file system with the data file.',
    ({ parts }) => parts.dataDisk()?.freeBytes ?? null,
  ),
  gauge(
    'ringbook_data_disk_low',
    [],
    '1 while less than disk_reserve_mib is free, and new orders are refused.',
    ({ parts }) => {
      const disk = parts.dataDisk();
      return disk === null ? null : Number(disk.isLow);
    },
  ),
  gauge(
    'ringbook_tls_certificate_expiry_timestamp_seconds',
    [],
    'When the certificate of the public listeners ends, in Unix time.',
    ({ parts }) => parts.bounds().certificateEndS,
  ),
  counter(
    'ringbook_snapshots_total',
    ['result'],
    'Snapshots that the node made by its schedule, and those that failed.',
    ({ parts }) => {
      const { made, failed } = parts.snapshots();
      return [
        [made, 'made'],
        [failed, 'failed'],
      ];
    },
  ),

  // ---- markets and prices
  counter(
    'ringbook_market_events_total',
    ['market'],
    'Events of a market: the last number of its sequence, which jumps after an unclean stop.',
    ofMarkets(({ events }) => events),
  ),
  gauge(
    'ringbook_market_undecided_events',
    ['market'],
    'Events of a market that clearing has not decided and flushed.',
    ofMarkets(({ undecided }) => undecided),
  ),
  gauge(
    'ringbook_market_pending_trades',
    ['market'],
    'Trades of a market that clearing has neither confirmed nor rolled back.',
    ofMarkets(({ pendingTrades }) => pendingTrades),
  ),
  counter(
    'ringbook_market_match_seconds_total',
    ['market'],
    'Time in which commands of a market were matched.',
    matchingByMarket,
  ),
  gauge('ringbook_data_file_bytes', [], 'Size of the data file.', ({ parts }) => parts.dataFileBytes()),
  gauge(
    'ringbook_breaker_open',
    ['asset', 'source'],
    'Whether the prices of a source are too old, or too few since they were.',
    breakers,
  ),
  gauge(
    'ringbook_oracle_age_seconds',
    ['asset'],
    'Time since the last oracle price of an asset was published; after an hour it is not used.',
    oracleAges,
  ),

  // ---- liquidation
  gauge(
    'ringbook_accounts_at_risk',
    [],
    'Accounts that borrow and have a maintenance surplus below a tenth of their requirement.',
    ofClearing('accounts_at_risk'),
  ),
  gauge(
    'ringbook_accounts_shielded',
    [],
    'Accounts at risk below maintenance that are not liquidated because the price of a credit is broken.',
    ofClearing('accounts_shielded'),
  ),
  gauge('ringbook_accounts_liquidating', [], 'Accounts under liquidation.', ofClearing('accounts_liquidating')),
  gauge(
    'ringbook_liquidations_blocked',
    [],
    'Accounts under liquidation with a position that takes no order: no usable price, or a halted market.',
    ofClearing('liquidations_blocked'),
  ),
  gauge(
    'ringbook_backstop_equity_usd',
    [],
    'USD that the backstop is worth at the mark: its capital and the accounts that it took over.',
    ofClearing('backstop_equity_usd'),
  ),
  gauge(
    'ringbook_backstop_capital_usd',
    [],
    'USD of the backstop, less what it has credited to the accounts that it took over.',
    ofClearing('backstop_capital_usd'),
  ),
  gauge('ringbook_backstop_accounts', [], 'Accounts taken over and not sold yet.', ofClearing('backstop_accounts')),
  counter(
    'ringbook_liquidations_total',
    ['event'],
    'Liquidations of accounts that began, and how they ended.',
    ({ clearing }) => [
      [numberOf(clearing, 'liquidations_begun'), 'begun'],
      [numberOf(clearing, 'liquidations_healthy'), 'healthy'],
      [numberOf(clearing, 'liquidations_taken_over'), 'taken_over'],
    ],
  ),
  counter('ringbook_adl_trades_total', [], 'Positions closed by auto-deleveraging.', ofClearing('adl_trades')),
  counter('ringbook_adl_usd_total', [], 'USD of positions closed by auto-deleveraging.', ofClearing('adl_usd')),
  counter(
    'ringbook_backstop_credited_usd_total',
    [],
    'USD credited at take-overs.',
    ofClearing('backstop_credited_usd'),
  ),
  counter(
    'ringbook_shortfall_usd_total',
    [],
    'USD that accounts taken over were worth below zero.',
    ofClearing('shortfall_usd'),
  ),

  // ---- several machines: without samples on one
  ...REPLICA_TABLE,
  gauge(
    'ringbook_cluster_lease_seconds',
    [],
    'What is left of the lease of this leader; 0 or less: it is stalled.',
    (scope) => (leads(scope) ? (scope.parts.leadership?.leaseLeftMs() ?? 0) / 1_000 : null),
  ),
  gauge(
    'ringbook_cluster_lease_length_seconds',
    [],
    'What a lease of this leader lasts from the sending of a record.',
    (scope) => {
      const lengthMs = leads(scope) ? (scope.parts.leadership?.leaseLengthMs() ?? null) : null;
      return lengthMs === null ? null : lengthMs / 1_000;
    },
  ),
  counter(
    'ringbook_cluster_stalled_seconds_total',
    [],
    'Time in which this leader had no lease: nothing was confirmed.',
    ofReplicator('stalled_s'),
  ),
  counter(
    'ringbook_cluster_takeovers_total',
    ['cause'],
    'Leaderships of this process, by what they followed.',
    ({ replicator }) =>
      replicator === null
        ? null
        : TAKEOVER_CAUSES.map((cause): Sample => [numberOf(replicator, `takeovers_${cause}`), cause]),
  ),
  gauge(
    'ringbook_cluster_dropped_records',
    [],
    'Records of this node that the stream did not take, until they are acknowledged.',
    ofReplicator('dropped_records'),
  ),
  gauge('ringbook_cluster_standbys', [], 'Nodes that follow this leader.', ofLeader('standbys')),
  counter(
    'ringbook_cluster_appends_refused_total',
    [],
    'Appends that the stream refused, because it ended elsewhere.',
    ofReplicator('appends_refused'),
  ),
  gauge(
    'ringbook_replication_sequence',
    ['at'],
    'The last record that was appended, that is stored, and that clearing has applied.',
    ({ replicator, parts }) =>
      replicator === null
        ? null
        : [
            [numberOf(replicator, 'appended_sequence'), 'appended'],
            [numberOf(replicator, 'stored_sequence'), 'stored'],
            [parts.leadership?.view().sequence ?? 0, 'applied'],
          ],
  ),
  histogram(
    'ringbook_replication_store_seconds',
    [],
    'From the first sending of a record until it is known to be stored.',
    ({ replicator }) => (replicator === null ? [] : [[histogramOf(replicator, 'store_ns')]]),
  ),
  gauge(
    'ringbook_replication_lag_seconds',
    [],
    'How old the last record of the stream was when this node was given it, while it does not lead.',
    (scope) => (leads(scope) ? null : ofReplicator('lag_s')(scope)),
  ),
  counter(
    'ringbook_replication_retries_total',
    [],
    'Appends without an answer, which are sent again with the same bytes.',
    ofReplicator('append_retries'),
  ),
  gauge('ringbook_stream_bytes', [], 'Bytes of the journal stream, as this leader sees it.', ofLeader('stream_bytes')),
  gauge(
    'ringbook_stream_bytes_limit',
    [],
    'Where the stream is full and nothing more is confirmed; 0: no limit.',
    ofLeader('stream_bytes_limit'),
  ),
  gauge('ringbook_stream_first_sequence', [], 'First record of the stream.', ofLeader('stream_first_sequence')),
  gauge(
    'ringbook_stream_servers_current',
    [],
    'Servers of the stream that are current.',
    ofLeader('stream_servers_current'),
  ),
  gauge(
    'ringbook_stream_leader_at_home',
    [],
    '1 while the leader of the stream is on the machine of this leader: the death of both costs an election.',
    ofLeader('stream_leader_at_home'),
  ),

  // ---- chains: a chain is one label, of a set that operators make
  gauge(
    'ringbook_chain_stopped',
    ['chain'],
    'Whether deposits of a chain are not credited until an operator resumes it.',
    ofChains(({ stopped }) => (stopped === null ? 0 : 1)),
  ),
  gauge(
    'ringbook_chain_head',
    ['chain'],
    'The highest block that a majority of providers has reached; -1 while no majority answers.',
    ofChains(({ head }) => head),
  ),
  gauge(
    'ringbook_chain_processed_block',
    ['chain'],
    'The last block with all deposits credited.',
    ofChains(({ processed }) => processed),
  ),
  gauge(
    'ringbook_chain_providers_configured',
    ['chain'],
    'Providers of a chain, of which more than half have to agree.',
    ofChains(({ providers }) => providers),
  ),
  gauge(
    'ringbook_chain_providers_answering',
    ['chain'],
    'Providers that answered when they were last looked at.',
    ofChains(({ answering }) => answering),
  ),
  gauge(
    'ringbook_chain_providers_agreeing',
    ['chain'],
    'Answering providers whose last answers are those of the majority.',
    ofChains(({ agreeing }) => agreeing),
  ),
  counter(
    'ringbook_chain_provider_bombs_total',
    ['chain'],
    'Answers of providers beyond their bounds, unread; the provider rests for five minutes.',
    ofChains(({ bombs }) => bombs),
  ),
  gauge(
    'ringbook_chain_poll_age_seconds',
    ['chain'],
    'How long ago a chain was last looked at.',
    ofChains(({ polledMs }) => (performance.now() - polledMs) / 1_000),
  ),
  gauge(
    'ringbook_holdings_deviation',
    ['asset'],
    'What the vaults hold of an asset on the chains beyond what the ledger says, in units of the asset.',
    ({ deviations }) => [...deviations].map(([asset, deviation]): Sample => [Number(format18(deviation)), asset]),
  ),
  gauge(
    'ringbook_approvals_stopped_units',
    ['chain', 'asset'],
    'What the vault of a chain lacks of an asset of which nothing is approved there, in units of the asset; none for others.',
    ({ approvalStops }) =>
      approvalStops.map(({ chainId, asset, missing }): Sample => [Number(format18(missing)), chainId, asset]),
  ),

  // ---- the runtime: actors, rings, threads, the clock, the log
  gauge('ringbook_mailbox_depth', ['actor'], 'Records that wait for the actor.', ({ parts, actors }) =>
    actors.map(({ actor }): Sample => [mailboxDepth(parts.plan, actor), actor]),
  ),
  gauge(
    'ringbook_mailbox_high_water',
    ['actor'],
    'The most records that ever waited when a batch began.',
    ofActors('mailbox_high_water'),
  ),
  counter('ringbook_actor_records_total', ['actor'], 'Records handled.', ofActors('records_in')),
  counter(
    'ringbook_actor_stalls_total',
    ['actor'],
    'Times that a record waited because the actor was not ready for it.',
    ofActors('stalls'),
  ),
  histogram(
    'ringbook_actor_batch_records',
    ['actor'],
    'Records per batch.',
    ({ actors }) => actors.map((one) => [histogramOf(one, 'batch_records'), one.actor]),
    RECORDS,
  ),
  histogram('ringbook_actor_service_seconds', ['actor'], 'One batch, flush included.', ({ actors }) =>
    actors.map((one) => [histogramOf(one, 'service_ns'), one.actor]),
  ),
  gauge(
    'ringbook_ring_records',
    ['from', 'to', 'channel'],
    'Records in a ring.',
    ofRings(({ records }) => records),
  ),
  gauge(
    'ringbook_ring_used_ratio',
    ['from', 'to', 'channel'],
    'Bytes in a ring as a share of its capacity: at 1 it is full.',
    ofRings(({ bytes, capacityBytes }) => bytes / capacityBytes),
  ),
  gauge(
    'ringbook_ring_capacity_bytes',
    ['from', 'to', 'channel'],
    'Size of a ring.',
    ofRings(({ capacityBytes }) => capacityBytes),
  ),
  histogram(
    'ringbook_collector_pause_seconds',
    ['thread'],
    'Pauses of the garbage collector of a thread.',
    ({ threads }) => threads.map((one) => [histogramOf(one, 'collector_ns'), one.actor]),
  ),
  histogram(
    'ringbook_event_loop_delay_seconds',
    ['thread'],
    'How late a timer of the event loop of a thread was.',
    ({ parts, threads }) => {
      const loops = new Set(parts.plan.threads.flatMap((one) => (one.waiting === 'event-loop' ? [one.name] : [])));
      return threads
        .filter(({ actor }) => loops.has(actor))
        .map((one) => [histogramOf(one, 'loop_delay_ns'), one.actor]);
    },
  ),
  counter(
    'ringbook_thread_cpu_seconds_total',
    ['thread'],
    'CPU time of a thread; other is the sum of those without a name, V8 and libuv among them.',
    ({ threadUses }) => threadUses.map(({ thread, cpuSeconds }): Sample => [cpuSeconds, thread]),
  ),
  counter(
    'ringbook_thread_wait_seconds_total',
    ['thread'],
    'Time that a thread was runnable and had no CPU.',
    ({ threadUses }) => threadUses.map(({ thread, waitSeconds }): Sample => [waitSeconds, thread]),
  ),
  gauge(
    'ringbook_verifier_signatures',
    [],
    'Requests whose signatures wait in the verifier pool or are being verified.',
    ({ parts }) => parts.unverified(),
  ),
  gauge(
    'ringbook_clock_difference_seconds',
    [],
    'The system clock less the clock of the node.',
    ({ parts }) => Number(parts.wallClock.state.differenceNs / 1_000n) / 1e6,
  ),
  gauge(
    'ringbook_clock_held',
    [],
    '1 while a step of the system clock is not followed, because nothing bears it out.',
    ({ parts }) => (parts.wallClock.state.held === null ? 0 : 1),
  ),
  counter(
    'ringbook_log_lines_dropped_total',
    [],
    'Lines of the log that were not written, because standard error was not read or refused them.',
    ({ parts }) => droppedLines(parts.plan.logs),
  ),
  gauge('ringbook_log_waiting', [], '1 while lines of the log wait because standard error is not read.', ({ parts }) =>
    isLogWaiting(parts.plan.logs) ? 1 : 0,
  ),
  gauge(
    'ringbook_build_info',
    ['version', 'commit', 'profile', 'node'],
    'The version of this node; always 1.',
    ({ parts: { version, commit, config } }) => [[1, version, commit, config.profile, process.version]],
  ),
  counter(
    'ringbook_rate_limited_total',
    ['bucket'],
    'Requests refused with 429, by the bucket that was empty.',
    ({ parts }) =>
      (['user', 'global', 'address'] as const satisfies readonly LimitName[]).map(
        (bucket): Sample => [Number(parts.refusals(bucket)), bucket],
      ),
  ),
  counter('ringbook_requests_total', ['route', 'code'], 'Requests answered.', ({ parts, opsRequests }) => [
    ...requestSamples(parts.requestCounts()),
    ...requestSamples(opsRequests),
  ]),
];

// ---- the kinds of rows

function counter<Scope = MetricScope>(
  name: string,
  labels: readonly string[],
  help: string,
  read: (scope: Scope) => Samples,
): MetricRow<Scope> {
  return { name, kind: 'counter', labels, help, read };
}

function gauge<Scope = MetricScope>(
  name: string,
  labels: readonly string[],
  help: string,
  read: (scope: Scope) => Samples,
): MetricRow<Scope> {
  return { name, kind: 'gauge', labels, help, read };
}

function histogram(
  name: string,
  labels: readonly string[],
  help: string,
  read: (scope: MetricScope) => Iterable<Labelled>,
  scale: Scale = SECONDS,
): Row {
  return { name, kind: 'histogram', labels, help, read, scale };
}

// ---- sources

function ofGateway(metric: string): Read {
  return ({ gateway }) => numberOf(gateway, metric);
}

function ofClearing(metric: string): Read {
  return ({ clearing }) => numberOf(clearing, metric);
}

/** A metric of each public listener. */
function each(metric: string): Read {
  return ({ listeners }) => listeners.map(([service, listener]): Sample => [numberOf(listener, metric), service]);
}

/** Null on one machine. */
function leads({ parts: { leadership } }: MetricScope): boolean {
  return leadership !== null && LEADING.has(leadership.state());
}

/** What a leader alone sees; what it was before a node followed again is no figure. */
function ofLeader(metric: string): Read {
  const read = ofReplicator(metric);
  return (scope) => (leads(scope) ? read(scope) : null);
}

function ofReplicator(metric: string): Read {
  return ({ replicator }) => (replicator === null ? null : numberOf(replicator, metric));
}

/** Null where no evidence is kept. */
function ofEvidence(metric: string): Read {
  return ({ evidence }) => (evidence === null ? null : numberOf(evidence, metric));
}

function whereEvidence(read: Read): Read {
  return (scope) => (scope.evidence === null ? null : read(scope));
}

function ofActors(metric: string): Read {
  return ({ actors }) => actors.map((one): Sample => [numberOf(one, metric), one.actor]);
}

function ofMarkets(figure: (market: MarketFigures) => number): Read {
  return ({ markets }) => markets.map((figures): Sample => [figure(figures), figures.market]);
}

function ofChains(figure: (chain: WatchedChain) => number): Read {
  return ({ chains }) => chains.map((chain): Sample => [figure(chain), chain.chainId]);
}

function ofRings(figure: (depth: RingDepth) => number): Read {
  return ({ parts }) =>
    parts.plan.edges.map(
      ({ from, to, channel, ring }): Sample => [
        figure(ringDepth(ring)),
        from,
        to,
        channel === MAIN_CHANNEL ? undefined : channel,
      ],
    );
}

function stages({ gateway, shards }: MetricScope): readonly Labelled[] {
  return [
    ...ACTIONS.flatMap((action) =>
      gatewayStagesOf(action).map(
        (stage): Labelled => [histogramOf(gateway, stageMetric(action, stage)), action, stage],
      ),
    ),
    ...MARKET_ACTIONS.flatMap((action) =>
      MARKET_STAGES.map((stage): Labelled => {
        return [sumOf(shards.map((shard) => histogramOf(shard, stageMetric(action, stage)))), action, stage];
      }),
    ),
  ];
}

/** Figures of the kinds of actions that a market has seen. */
function marketActions({ marketActions: markets }: MetricScope): readonly Sample[] {
  return markets.flatMap((market) =>
    NAMING_ACTIONS.flatMap((action) => {
      const samples = resultsOf(action).map(
        (result): Sample => [numberOf(market, actionMetric(action, result)), market.actor, action, result],
      );
      return samples.some(([value]) => value > 0) ? samples : [];
    }),
  );
}

/** Reads of a kind, since the start; kinds without one are left out. */
function readsSeen({ listeners }: MetricScope): readonly { service: string; read: ReadKind; listener: Recorded }[] {
  return listeners
    .flatMap(([service, listener]) => READ_KINDS.map((read) => ({ service, read, listener })))
    .filter(({ read, listener }) => histogramOf(listener, readTimeMetric(read)).count > 0);
}

/** Figures of markets that have seen a command; markets on one shard share its thread. */
function matchingByMarket({ shards, markets }: MetricScope): readonly Sample[] {
  return markets.flatMap(({ market, marketIndex }): readonly Sample[] => {
    if (marketIndex >= MARKETS_MAX) return [];
    const ns = shards.reduce((sum, shard) => sum + numberOf(shard, matchedMetric(marketIndex)), 0);
    return ns === 0 ? [] : [[ns / 1e9, market]];
  });
}

/** A source that never published a price has not tripped (AMB-44). */
function breakers({ parts }: MetricScope): readonly Sample[] {
  const nowNs = parts.clock.nowNs();
  const isOpen = (state: SourceState): number => (state === 'stale' || state === 'recovering' ? 1 : 0);
  return [...parts.prices()].flatMap(([asset, { oracle, mark }]): readonly Sample[] => [
    [isOpen(sourceState(oracle, ORACLE_STALE_NS, nowNs)), asset, 'oracle'],
    [isOpen(sourceState(mark, MARK_STALE_NS, nowNs)), asset, 'mark'],
  ]);
}

/** By the node's clock; a price may lie a little ahead of it. */
function oracleAges({ parts }: MetricScope): readonly Sample[] {
  const nowNs = parts.clock.nowNs();
  return [...parts.prices()].flatMap(([asset, { oracle }]): readonly Sample[] =>
    oracle === null ? [] : [[Math.max(Number(nowNs - oracle.timeNs), 0) / 1e9, asset]],
  );
}

/** Records queued for an actor in all its channels. */
export function mailboxDepth(plan: Plan, actor: string): number {
  return plan.edges.reduce((sum, edge) => (edge.to === actor ? sum + ringDepth(edge.ring).records : sum), 0);
}

function requestSamples(counts: ReadonlyMap<string, number>): readonly Sample[] {
  return [...counts].map(([key, value]): Sample => {
    const space = key.lastIndexOf(' ');
    return [value, key.slice(0, space), key.slice(space + 1)];
  });
}
