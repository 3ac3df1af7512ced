/**
 * The node's own metrics, beside those that every actor has: recorded in shared memory, by these names. A name that ends
 * with `_ns` counts nanoseconds. Help, labels and published names: operator/metric-table.ts.
 */
import {
  ACTIONS,
  type Action,
  type ActionResult,
  type GatewayStage,
  gatewayStagesOf,
  MARKET_ACTIONS,
  MARKET_STAGES,
  type MarketStage,
  NAMING_ACTIONS,
  resultsOf,
} from '../../core/hops.ts';
import { ROLLBACK_REASON, ROLLBACK_REASON_WORD } from '../../core/order-terms.ts';
import { REJECT_CODE, type RejectName } from '../../core/reject.ts';
import type { MetricDefinition } from '../../runtime/metrics.ts';
import { STAGES, type Stage } from '../actions/admission.ts';
import { FAULT_RULE } from '../sessions/fault-budget.ts';

function counter(name: string): MetricDefinition {
  return { name, kind: 'counter' };
}

function gauge(name: string): MetricDefinition {
  return { name, kind: 'gauge' };
}

function histogram(name: string): MetricDefinition {
  return { name, kind: 'histogram' };
}

/** Markets with metrics of their own. */
export const MARKETS_MAX = 256;

/** One counter per rollback reason: labels come from a closed set (hazards: no user data in labels). */
export const ROLLBACK_LABELS: readonly string[] = Object.values(ROLLBACK_REASON_WORD).filter((word) => word !== null);

/** The reasons of rollbacks that count against their user's budget. */
export const FAULT_WORDS: readonly string[] = Object.values(ROLLBACK_REASON).flatMap((reason) => {
  const word = ROLLBACK_REASON_WORD[reason];
  return word === null || FAULT_RULE[reason] === 'never' ? [] : [word];
});

/** Orders that were refused unread, by the stage for which they waited. */
export function shedMetric(stage: Stage): string {
  return `orders_shed_${stage}`;
}

/** HTTP statuses that are counted by themselves; any other counts as `other`. */
export const COUNTED_STATUSES: readonly number[] = [
  200, 202, 304, 400, 401, 403, 404, 405, 409, 413, 414, 426, 429, 431, 500, 502, 503, 504,
];

export function responseMetric(status: number | 'other'): string {
  return `responses_${status}`;
}

/** What reads over HTTP read, by route (http/edge-metrics.ts). */
export const READ_KINDS = [
  'markets',
  'book',
  'klines',
  'trades',
  'tickers',
  'orders',
  'user-trades',
  'account',
  'system',
  'documents',
  'other',
] as const;
export type ReadKind = (typeof READ_KINDS)[number];
export const READ_RESULTS = ['accepted', 'rejected'] as const;

export function readMetricOf(kind: ReadKind, result: (typeof READ_RESULTS)[number]): string {
  return `read_${kind}_${result}`;
}

/** Nanoseconds from the head of a read to its response. */
export function readTimeMetric(kind: ReadKind): string {
  return `read_${kind}_ns`;
}

/** Codes with which a listener may refuse. */
export const REFUSAL_CODES: readonly RejectName[] = Object.keys(REJECT_CODE) as RejectName[];

export function refusalMetric(code: RejectName): string {
  return `refused_${code}`;
}

/** An action that ended so. */
export function actionMetric(action: Action, result: ActionResult): string {
  return `action_${action}_${result}`;
}

/** Nanoseconds from the reading of an action to its answer. */
export function actionTimeMetric(action: Action): string {
  return `action_${action}_ns`;
}

/** Nanoseconds in which the commands of a market were matched. @param index below MARKETS_MAX. */
export function matchedMetric(index: number): string {
  return `matched_${index}_ns`;
}

/** The same of all actions that name one market. */
export const MARKET_TIME_METRIC = 'action_ns';

/** Nanoseconds of a stage of an action: at the gateway, or in the market. */
export function stageMetric(action: Action, stage: GatewayStage | MarketStage): string {
  return `stage_${action}_${stage}_ns`;
}

/** Metrics of each actor that owns a public listener. */
const EDGE_METRICS: readonly MetricDefinition[] = [
  ...[...COUNTED_STATUSES, 'other' as const].map((status) => counter(responseMetric(status))),
  histogram('response_read_ns'),
  histogram('response_change_ns'),
  ...READ_KINDS.flatMap((kind) => [
    ...READ_RESULTS.map((result) => counter(readMetricOf(kind, result))),
    histogram(readTimeMetric(kind)),
  ]),
  ...REFUSAL_CODES.map((code) => counter(refusalMetric(code))),
  counter('lag_closes'),
  gauge('sockets'),
  gauge('socket_backlog_bytes'),
];

export const MARKET_DATA_METRICS: readonly MetricDefinition[] = EDGE_METRICS;

const ACTION_METRICS: readonly MetricDefinition[] = ACTIONS.flatMap((action) => [
  ...resultMetrics(action),
  histogram(actionTimeMetric(action)),
  ...gatewayStagesOf(action).map((stage) => stageHistogram(action, stage)),
]);

function resultMetrics(action: Action): readonly MetricDefinition[] {
  return resultsOf(action).map((result) => counter(actionMetric(action, result)));
}

function stageHistogram(action: Action, stage: GatewayStage | MarketStage): MetricDefinition {
  return histogram(stageMetric(action, stage));
}

/** Metrics of each market at the gateway, made at its first action. */
export const ONE_MARKET_METRICS: readonly MetricDefinition[] = [
  ...NAMING_ACTIONS.flatMap(resultMetrics),
  histogram(MARKET_TIME_METRIC),
];

/** Metrics of each market shard. */
export const MARKET_METRICS: readonly MetricDefinition[] = [
  ...MARKET_ACTIONS.flatMap((action) => MARKET_STAGES.map((stage) => stageHistogram(action, stage))),
  ...Array.from({ length: MARKETS_MAX }, (_, index) => counter(matchedMetric(index))),
];

export const GATEWAY_METRICS: readonly MetricDefinition[] = [
  ...EDGE_METRICS,
  ...ACTION_METRICS,
  counter('orders_received'),
  counter('orders_rejected'),
  ...STAGES.map((stage) => counter(shedMetric(stage))),
  counter('fills_pending'),
  counter('fills_confirmed'),
  counter('fills_rolled_back'),
  ...ROLLBACK_LABELS.map((word) => counter(`rollback_${word}`)),
  ...FAULT_WORDS.map((word) => counter(`fault_${word}`)),
  counter('fault_cooldowns'),
  counter('protection_trips'),
  histogram('unflushed_ns'),
  histogram('answer_ns'),
];

/** Metrics of liquidation, the backstop and auto-deleveraging; USD as a number. */
const LIQUIDATION_METRICS: readonly MetricDefinition[] = [
  gauge('accounts_at_risk'),
  gauge('accounts_liquidating'),
  gauge('liquidations_blocked'),
  gauge('accounts_shielded'),
  gauge('backstop_equity_usd'),
  gauge('backstop_capital_usd'),
  gauge('backstop_accounts'),
  counter('liquidations_begun'),
  counter('liquidations_healthy'),
  counter('liquidations_taken_over'),
  counter('adl_trades'),
  counter('adl_usd'),
  counter('backstop_credited_usd'),
  counter('shortfall_usd'),
];

/** Of the thread of a cluster's protocol. */
export const REPLICATOR_METRICS: readonly MetricDefinition[] = [
  histogram('store_ns'),
  gauge('appended_sequence'),
  gauge('stored_sequence'),
  gauge('lag_s'),
  counter('appends_refused'),
  counter('append_retries'),
  counter('takeovers_silence'),
  counter('takeovers_handover'),
  counter('takeovers_operator'),
  counter('stalled_s'),
  gauge('standbys'),
  gauge('stream_bytes'),
  gauge('stream_bytes_limit'),
  gauge('stream_first_sequence'),
  gauge('stream_servers_current'),
  gauge('stream_leader_at_home'),
  gauge('dropped_records'),
];

/** Of the thread of the evidence. */
export const EVIDENCE_METRICS: readonly MetricDefinition[] = [
  gauge('durable_sequence'),
  counter('rows'),
  counter('row_bytes'),
  histogram('flush_ns'),
];

/** Of the feed of a replica. */
export const REPLICA_METRICS: readonly MetricDefinition[] = [counter('gaps'), gauge('lag_s')];

export const CLEARING_METRICS: readonly MetricDefinition[] = [
  ...LIQUIDATION_METRICS,
  gauge('evidence_behind_records'),
  gauge('evidence_behind_s'),
  gauge('evidence_behind_bytes'),
  gauge('evidence_holds'),
  histogram('commit_ns'),
  counter('orders_attested'),
  counter('orders_verified'),
  counter('attestations_dropped'),
  // 1 while accounts wait to be judged for liquidation, or steps to be made.
  gauge('working'),
  gauge('journal_sequence'),
  gauge('journal_first_sequence'),
  gauge('journal_bytes'),
  histogram('checkpoint_ns'),
  counter('checkpoint_rows'),
  gauge('checkpoint_sequence'),
  gauge('ledger_difference'),
];
