/**
 * Counters and histograms of actions, in shared memory (metric-names.ts): one counter by action and result, one
 * histogram of the whole time by action, and one of each stage of the actions about one order.
 *
 * Recording is some typed-array writes, 4 to 15 ns, besides the reading of the clock; nothing is allocated.
 */
import type { ActionMeter } from '../codec/hop-times.ts';
import { must } from '../core/assert.ts';
import {
  ACTION_RESULTS,
  ACTIONS,
  type Action,
  type ActionResult,
  GATEWAY_STAGES,
  type GatewayStage,
  ORDER_ACTIONS,
  type OrderAction,
} from '../core/hops.ts';
import type { Counter, Histogram, MetricsWriter } from '../runtime/metrics.ts';
import { actionMetric, actionTimeMetric, stageMetric } from './metric-names.ts';

/** Actions that a session alone authorizes, by the pattern of their route: each is answered by its response (wire.md 7.8). */
const ACTION_OF_ROUTE: ReadonlyMap<string, Action> = new Map([
  ['/orders/cancel-all', 'cancel-all'],
  ['/orders/cancel-all/:asset_id', 'cancel-all'],
  ['/orders/cancel-batch', 'cancel-batch'],
  ['/orders/cancel-all-after', 'cancel-all-after'],
]);
const METHOD_NOT_ALLOWED = 405;
const ERROR_FROM = 400;

export class ActionMetrics implements ActionMeter {
  readonly #results: Readonly<Record<Action, Readonly<Record<ActionResult, Counter>>>>;
  readonly #times: Readonly<Record<Action, Histogram>>;
  readonly #stages: Readonly<Record<OrderAction, Readonly<Record<GatewayStage, Histogram>>>>;

  constructor(metrics: MetricsWriter) {
    this.#results = byName(ACTIONS, (action) =>
      byName(ACTION_RESULTS, (result) => metrics.counter(actionMetric(action, result))),
    );
    this.#times = byName(ACTIONS, (action) => metrics.histogram(actionTimeMetric(action)));
    this.#stages = byName(ORDER_ACTIONS, (action) =>
      byName(GATEWAY_STAGES, (stage) => metrics.histogram(stageMetric(action, stage))),
    );
  }

  nowMs(): number {
    return performance.now();
  }

  stage(action: OrderAction, stage: GatewayStage, ms: number): void {
    this.#stages[action][stage].record(ms * 1e6);
  }

  answered(action: Action, result: ActionResult, ms: number | null): void {
    this.#results[action][result].add(1);
    if (ms !== null) this.#times[action].record(ms * 1e6);
  }

  /** A request was answered over REST. Signed actions count themselves; a path with a method that it lacks is no action. */
  responded(pattern: string, status: number, ms: number): void {
    const action = ACTION_OF_ROUTE.get(pattern);
    if (action === undefined || status === METHOD_NOT_ALLOWED) return;
    this.answered(action, status < ERROR_FROM ? 'accepted' : 'rejected', ms);
  }
}

function byName<Name extends string, T>(names: readonly Name[], make: (name: Name) => T): Readonly<Record<Name, T>> {
  const made: Partial<Record<Name, T>> = {};
  for (const name of names) made[name] = make(name);
  return must(isWhole(made, names) ? made : undefined, 'an entry for every name');
}

function isWhole<Name extends string, T>(
  made: Partial<Record<Name, T>>,
  names: readonly Name[],
): made is Record<Name, T> {
  return names.every((name) => name in made);
}
