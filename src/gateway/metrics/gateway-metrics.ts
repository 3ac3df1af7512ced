/** Counters and histograms of order entry and fills, in shared memory (metric-names.ts). */
import { must } from '../../core/assert.ts';
import type { AssetId, UserId } from '../../core/ids.ts';
import { FILL_STATUS, type FillStatus } from '../../core/order-terms.ts';
import { SECOND_NS } from '../../core/units.ts';
import type { Counter, Histogram, MetricsWriter } from '../../runtime/metrics.ts';
import type { Stage } from '../actions/admission.ts';
import type { GatewayCounters } from '../gateway.ts';
import type { FaultSettings } from '../sessions/fault-budget.ts';
import { ActionMetrics } from './action-metrics.ts';
import { FAULT_WORDS, ROLLBACK_LABELS, shedMetric } from './metric-names.ts';

interface FaultLog {
  warn(values: object, message: string): void;
}

export class GatewayMetrics implements GatewayCounters {
  readonly actions: ActionMetrics;
  readonly #received: Counter;
  readonly #rejected: Counter;
  readonly #answers: Histogram;
  readonly #waits: Histogram;
  readonly #shed: Readonly<Record<Stage, Counter>>;
  readonly #fills: Readonly<Record<FillStatus, Counter>>;
  readonly #rollbacks: ReadonlyMap<string, Counter>;

  readonly #faults: ReadonlyMap<string, Counter>;
  readonly #cooldowns: Counter;
  readonly #protectionTrips: Counter;
  readonly #log: FaultLog;

  /**
   * @param log for what happens so seldom that each time is a line.
   * @param isMarket as of ActionMetrics.
   */
  constructor(metrics: MetricsWriter, log: FaultLog, isMarket: (asset: AssetId) => boolean) {
    this.#log = log;
    this.actions = new ActionMetrics(metrics, isMarket);
    this.#faults = new Map(FAULT_WORDS.map((word) => [word, metrics.counter(`fault_${word}`)]));
    this.#cooldowns = metrics.counter('fault_cooldowns');
    this.#protectionTrips = metrics.counter('protection_trips');
    this.#received = metrics.counter('orders_received');
    this.#rejected = metrics.counter('orders_rejected');
    this.#answers = metrics.histogram('answer_ns');
    this.#waits = metrics.histogram('unflushed_ns');
    this.#shed = {
      gateway: metrics.counter(shedMetric('gateway')),
      signatures: metrics.counter(shedMetric('signatures')),
      market: metrics.counter(shedMetric('market')),
      clearing: metrics.counter(shedMetric('clearing')),
    };
    this.#fills = {
      [FILL_STATUS.pending]: metrics.counter('fills_pending'),
      [FILL_STATUS.confirmed]: metrics.counter('fills_confirmed'),
      [FILL_STATUS.rolledBack]: metrics.counter('fills_rolled_back'),
    };
    this.#rollbacks = new Map(ROLLBACK_LABELS.map((word) => [word, metrics.counter(`rollback_${word}`)]));
  }

  order(isReceived: boolean, elapsedMs: number): void {
    (isReceived ? this.#received : this.#rejected).add(1);
    this.#answers.record(elapsedMs * 1e6);
  }

  /** Orders that waited too long for this stage. */
  shed(stage: Stage, orders: number): void {
    this.#shed[stage].add(orders);
  }

  /** The time that the oldest event of a flush had waited for it. */
  unflushed(ms: number): void {
    this.#waits.record(ms * 1e6);
  }

  fault(reason: string): void {
    must(this.#faults.get(reason), 'a reason that counts').add(1);
  }

  cooldown(user: UserId, { windowNs, cooldownNs, ...bounds }: FaultSettings): void {
    this.#cooldowns.add(1);
    const settings = { ...bounds, windowS: Number(windowNs / SECOND_NS) };
    const cooldownS = Number(cooldownNs / SECOND_NS);
    this.#log.warn(
      { user, ...settings, cooldownS },
      'too many rollbacks by a user’s fault: new orders are refused, resting ones cancelled',
    );
  }

  /** A protection group has tripped. */
  protectionTrip(): void {
    this.#protectionTrips.add(1);
  }

  fill(status: FillStatus, rollbackReason: string | null): void {
    this.#fills[status].add(1);
    if (rollbackReason !== null) must(this.#rollbacks.get(rollbackReason), 'a known rollback reason').add(1);
  }
}
