/**
 * Counters and histograms of actions, in shared memory (metric-names.ts): one counter by action and result, one histogram of
 * the whole time by action and one of each of its stages; and by market the counters again, with one histogram of the whole
 * time of the actions that name it.
 *
 * What a market has is made at its first action, for MARKETS_MAX markets at most, so that an idle market costs nothing.
 *
 * Recording is look-ups and typed-array writes, 20 to 40 ns, besides the reading of the clock; nothing is allocated.
 */
import type { ActionMeter } from '../../codec/hop-times.ts';
import { must } from '../../core/assert.ts';
import {
  ACTIONS,
  type Action,
  type ActionResult,
  type GatewayStage,
  gatewayStagesOf,
  resultsOf,
} from '../../core/hops.ts';
import type { AssetId } from '../../core/ids.ts';
import { type Counter, createMetrics, type Histogram, type MetricsPlan, MetricsWriter } from '../../runtime/metrics.ts';
import {
  actionMetric,
  actionTimeMetric,
  MARKET_TIME_METRIC,
  MARKETS_MAX,
  ONE_MARKET_METRICS,
  stageMetric,
} from './metric-names.ts';

/** The recorder of one action and result. */
interface ResultRecorder {
  readonly counter: Counter;
  /** Its counter among those of a market. */
  readonly place: number;
}

/** The recorders of one action. */
interface ActionRecorder {
  readonly results: ReadonlyMap<ActionResult, ResultRecorder>;
  readonly whole: Histogram;
  readonly stages: ReadonlyMap<GatewayStage, Histogram>;
}

/** The recorders of one market. */
interface MarketRecorder {
  readonly plan: MetricsPlan;
  /** By `place`; none for an action that names no market. */
  readonly counters: readonly (Counter | undefined)[];
  readonly whole: Histogram;
}

/** The results of every action that can be counted by market: each has a counter there. */
const PLACES: readonly string[] = ACTIONS.flatMap((action) =>
  resultsOf(action).map((result) => actionMetric(action, result)),
);

export class ActionMetrics implements ActionMeter {
  readonly #actions: ReadonlyMap<Action, ActionRecorder>;
  readonly #markets = new Map<AssetId, MarketRecorder>();
  readonly #isMarket: (asset: AssetId) => boolean;

  /** @param isMarket whether there is a market of this asset: clients send any. */
  constructor(metrics: MetricsWriter, isMarket: (asset: AssetId) => boolean) {
    this.#isMarket = isMarket;
    this.#actions = new Map(
      ACTIONS.map((action) => {
        const stages = gatewayStagesOf(action).map(
          (stage) => [stage, metrics.histogram(stageMetric(action, stage))] as const,
        );
        const whole = metrics.histogram(actionTimeMetric(action));
        const results = resultsOf(action).map((result) => {
          const name = actionMetric(action, result);
          return [result, { counter: metrics.counter(name), place: PLACES.indexOf(name) }] as const;
        });
        return [action, { results: new Map(results), whole, stages: new Map(stages) }];
      }),
    );
  }

  nowMs(): number {
    return performance.now();
  }

  stage(action: Action, stage: GatewayStage, ns: number): void {
    must(this.#of(action).stages.get(stage), 'a stage of the action').record(ns);
  }

  answered(action: Action, result: ActionResult, ns: number | null, asset: AssetId | null): void {
    const { results, whole } = this.#of(action);
    const { counter, place } = must(results.get(result), 'a result of the action');
    counter.add(1);
    if (ns !== null) whole.record(ns);
    const market = asset === null ? undefined : this.#marketOf(asset);
    if (market === undefined) return;
    // mutant: counted-by-market
    market.counters[place]?.add(1);
    if (ns !== null) market.whole.record(ns);
  }

  /** What was recorded by market, in the order of their first actions. */
  *byMarket(): Generator<readonly [AssetId, MetricsPlan]> {
    for (const [asset, { plan }] of this.#markets) yield [asset, plan];
  }

  #of(action: Action): ActionRecorder {
    return must(this.#actions.get(action), 'a recorder for every action');
  }

  #marketOf(asset: AssetId): MarketRecorder | undefined {
    const known = this.#markets.get(asset);
    // mutant: markets-with-metrics-bounded
    if (known !== undefined || this.#markets.size >= MARKETS_MAX || !this.#isMarket(asset)) return known;
    const made = newMarket();
    this.#markets.set(asset, made);
    return made;
  }
}

function newMarket(): MarketRecorder {
  const plan = createMetrics(ONE_MARKET_METRICS);
  const metrics = new MetricsWriter(plan);
  const named = new Set(plan.definitions.map(({ name }) => name));
  const counters = PLACES.map((name) => (named.has(name) ? metrics.counter(name) : undefined));
  return { plan, counters, whole: metrics.histogram(MARKET_TIME_METRIC) };
}
