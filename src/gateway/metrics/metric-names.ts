/** The node's own metrics, beside those that every actor has: recorded in shared memory, rendered by metrics-page.ts. */
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

function counter(name: string, help: string): MetricDefinition {
  return { name, kind: 'counter', help };
}

function histogram(name: string, help: string): MetricDefinition {
  return { name, kind: 'histogram', help };
}

/** Markets with metrics of their own. */
export const MARKETS_MAX = 256;

/** One counter per rollback reason: labels come from a closed set (hazards: no user data in labels). */
export const ROLLBACK_WORDS: readonly string[] = Object.values(ROLLBACK_REASON_WORD).filter((word) => word !== null);

/** Of rollbacks that count against their user's budget. */
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

export function readMetric(kind: ReadKind, result: (typeof READ_RESULTS)[number]): string {
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

/** Of each actor that owns a public listener. */
const EDGE_METRICS: readonly MetricDefinition[] = [
  ...[...COUNTED_STATUSES, 'other' as const].map((status) =>
    counter(responseMetric(status), `Responses with the status ${status}.`),
  ),
  histogram('response_read_ns', 'Nanoseconds from the head of a read to its response.'),
  histogram('response_change_ns', 'Nanoseconds from the head of any other request to its response.'),
  ...READ_KINDS.flatMap((kind) => [
    ...READ_RESULTS.map((result) => counter(readMetric(kind, result), `Reads of ${kind}: ${result}.`)),
    histogram(readTimeMetric(kind), `Nanoseconds from the head of a read of ${kind} to its response.`),
  ]),
  ...REFUSAL_CODES.map((code) => counter(refusalMetric(code), `Refusals with ${code}.`)),
  counter('lag_closes', 'Sockets closed because they fell behind.'),
  { name: 'sockets', kind: 'gauge', help: 'Open sockets.' },
  { name: 'socket_backlog_bytes', kind: 'gauge', help: 'Bytes that wait for slow readers.' },
];

export const MARKET_DATA_METRICS: readonly MetricDefinition[] = EDGE_METRICS;

const ACTION_METRICS: readonly MetricDefinition[] = ACTIONS.flatMap((action) => [
  ...resultMetrics(action),
  histogram(actionTimeMetric(action), `Nanoseconds from the reading of a ${action} to its answer.`),
  ...gatewayStagesOf(action).map((stage) => stageHistogram(action, stage)),
]);

function resultMetrics(action: Action): readonly MetricDefinition[] {
  return resultsOf(action).map((result) => counter(actionMetric(action, result), `Answers to ${action}: ${result}.`));
}

function stageHistogram(action: Action, stage: GatewayStage | MarketStage): MetricDefinition {
  return histogram(stageMetric(action, stage), `Nanoseconds of ${action} in the stage ${stage}.`);
}

/** Of each market at the gateway, made at its first action. */
export const ONE_MARKET_METRICS: readonly MetricDefinition[] = [
  ...NAMING_ACTIONS.flatMap(resultMetrics),
  histogram(MARKET_TIME_METRIC, 'Nanoseconds from the reading of an action that names the market to its answer.'),
];

/** Of each market shard. */
export const MARKET_METRICS: readonly MetricDefinition[] = [
  ...MARKET_ACTIONS.flatMap((action) => MARKET_STAGES.map((stage) => stageHistogram(action, stage))),
  ...Array.from({ length: MARKETS_MAX }, (_, index) =>
    counter(matchedMetric(index), `Nanoseconds in which commands of market ${index} were matched.`),
  ),
];

export const FRONT_DOOR_METRICS: readonly MetricDefinition[] = [
  ...EDGE_METRICS,
  ...ACTION_METRICS,
  counter('orders_received', 'Creates answered with Received.'),
  counter('orders_rejected', 'Creates answered with a reject.'),
  ...STAGES.map((stage) => counter(shedMetric(stage), `Orders refused after a wait for: ${stage}.`)),
  counter('fills_pending', 'Sides of fills told as Pending.'),
  counter('fills_confirmed', 'Sides of fills told as Confirmed.'),
  counter('fills_rolled_back', 'Sides of fills told as Rollbacked.'),
  ...ROLLBACK_WORDS.map((word) => counter(`rollback_${word}`, `Sides rolled back with ${word}.`)),
  ...FAULT_WORDS.map((word) => counter(`fault_${word}`, `Rollbacks that count, with ${word}.`)),
  counter('fault_cooldowns', 'Users whose new orders began to be refused for their faults.'),
  { name: 'unflushed_ns', kind: 'histogram', help: 'Nanoseconds that the oldest word of a flush had waited for it.' },
  { name: 'answer_ns', kind: 'histogram', help: 'Nanoseconds from a decoded create to its answer.' },
];

/** Of liquidation, the backstop and auto-deleveraging; USD as a number. */
const LIQUIDATION_METRICS: readonly MetricDefinition[] = [
  { name: 'accounts_at_risk', kind: 'gauge', help: 'Accounts with a surplus below a tenth of their requirement.' },
  { name: 'accounts_liquidating', kind: 'gauge', help: 'Accounts under liquidation.' },
  {
    name: 'liquidations_blocked',
    kind: 'gauge',
    help: 'Accounts under liquidation with a position that takes no order.',
  },
  { name: 'accounts_shielded', kind: 'gauge', help: 'Accounts below maintenance that a broken credit shields.' },
  { name: 'backstop_equity_usd', kind: 'gauge', help: 'USD that the backstop is worth: capital and accounts.' },
  { name: 'backstop_capital_usd', kind: 'gauge', help: 'USD of the backstop, less what it has credited.' },
  { name: 'backstop_accounts', kind: 'gauge', help: 'Accounts taken over and not sold yet.' },
  counter('liquidations_begun', 'Accounts of which the liquidation began.'),
  counter('liquidations_healthy', 'Accounts of which the liquidation ended because they were healthy again.'),
  counter('liquidations_taken_over', 'Accounts that the backstop took over.'),
  counter('adl_trades', 'Trades of auto-deleveraging.'),
  counter('adl_usd', 'USD of these trades.'),
  counter('backstop_credited_usd', 'USD credited by the backstop at take-overs.'),
  counter('shortfall_usd', 'USD that accounts taken over were worth below zero.'),
];

export const CLEARING_METRICS: readonly MetricDefinition[] = [
  ...LIQUIDATION_METRICS,
  { name: 'commit_ns', kind: 'histogram', help: 'Nanoseconds of one flushed journal commit.' },
  counter('orders_attested', 'Orders whose signatures the verifier had attested when clearing booked them.'),
  counter('orders_verified', 'Orders whose signatures clearing verified by itself.'),
  counter('attestations_dropped', 'Attestations dropped because their ring was full.'),
  { name: 'working', kind: 'gauge', help: '1 while accounts wait to be judged for liquidation, or steps to be made.' },
  { name: 'journal_sequence', kind: 'gauge', help: 'Last flushed journal record.' },
  { name: 'journal_first_sequence', kind: 'gauge', help: 'First journal record that is there.' },
  { name: 'journal_bytes', kind: 'gauge', help: 'Bytes of the journal records that are there.' },
  histogram('checkpoint_ns', 'Nanoseconds of one checkpoint.'),
  counter('checkpoint_rows', 'Rows written by checkpoints.'),
  { name: 'checkpoint_sequence', kind: 'gauge', help: 'Last journal record that the tables reflect.' },
  { name: 'ledger_difference', kind: 'gauge', help: 'Units by which claims and holdings of all assets differ.' },
];
