/** What the front door counts while orders pass, in shared memory (metric-names.ts). */
import { must } from '../core/assert.ts';
import { FILL_STATUS, type FillStatus } from '../core/order-terms.ts';
import type { Counter, Histogram, MetricsWriter } from '../runtime/metrics.ts';
import type { FrontDoorCounters } from './front-door.ts';
import { ROLLBACK_WORDS } from './metric-names.ts';

export class FrontDoorMetrics implements FrontDoorCounters {
  private readonly received: Counter;
  private readonly rejected: Counter;
  private readonly answers: Histogram;
  private readonly waits: Histogram;
  private readonly fills: Readonly<Record<FillStatus, Counter>>;
  private readonly rollbacks: ReadonlyMap<string, Counter>;

  constructor(metrics: MetricsWriter) {
    this.received = metrics.counter('orders_received');
    this.rejected = metrics.counter('orders_rejected');
    this.answers = metrics.histogram('answer_ns');
    this.waits = metrics.histogram('unflushed_ns');
    this.fills = {
      [FILL_STATUS.pending]: metrics.counter('fills_pending'),
      [FILL_STATUS.confirmed]: metrics.counter('fills_confirmed'),
      [FILL_STATUS.rolledBack]: metrics.counter('fills_rolled_back'),
    };
    this.rollbacks = new Map(ROLLBACK_WORDS.map((word) => [word, metrics.counter(`rollback_${word}`)]));
  }

  order(isReceived: boolean, elapsedMs: number): void {
    (isReceived ? this.received : this.rejected).add(1);
    this.answers.record(elapsedMs * 1e6);
  }

  /** The oldest word that a flush covered had waited for it so long. */
  unflushed(ms: number): void {
    this.waits.record(ms * 1e6);
  }

  fill(status: FillStatus, rollbackReason: string | null): void {
    this.fills[status].add(1);
    if (rollbackReason !== null) must(this.rollbacks.get(rollbackReason), 'a known rollback reason').add(1);
  }
}
