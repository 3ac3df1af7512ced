/**
 * Counters of a public listener in shared memory (metric-names.ts): responses, refusals by code, lagging sockets and
 * their backlog.
 */
import { must } from '../core/assert.ts';
import type { RejectName } from '../core/reject.ts';
import { COUNTED_STATUSES, REFUSAL_CODES, refusalMetric, responseMetric } from '../gateway/metric-names.ts';
import type { Counter, Gauge, Histogram, MetricsWriter } from '../runtime/metrics.ts';

export class EdgeMetrics {
  readonly #lagCloses: Counter;
  readonly #sockets: Gauge;
  readonly #backlogBytes: Gauge;
  readonly #responses: ReadonlyMap<number, Counter>;
  readonly #otherResponses: Counter;
  readonly #reads: Histogram;
  readonly #changes: Histogram;
  readonly #refusals: ReadonlyMap<RejectName, Counter>;

  constructor(metrics: MetricsWriter) {
    this.#lagCloses = metrics.counter('lag_closes');
    this.#sockets = metrics.gauge('sockets');
    this.#backlogBytes = metrics.gauge('socket_backlog_bytes');
    this.#responses = new Map(COUNTED_STATUSES.map((status) => [status, metrics.counter(responseMetric(status))]));
    this.#otherResponses = metrics.counter(responseMetric('other'));
    this.#reads = metrics.histogram('response_read_ns');
    this.#changes = metrics.histogram('response_change_ns');
    this.#refusals = new Map(REFUSAL_CODES.map((code) => [code, metrics.counter(refusalMetric(code))]));
  }

  /** As EdgeObserver's. */
  answered(status: number, isRead: boolean, ms: number): void {
    (this.#responses.get(status) ?? this.#otherResponses).add(1);
    (isRead ? this.#reads : this.#changes).record(ms * 1e6);
  }

  /** As EdgeObserver's. */
  refused(code: RejectName): void {
    must(this.#refusals.get(code), 'each code of the closed list is counted').add(1);
  }

  /** A socket lagged and is being closed (AMB-94). */
  lagged(): void {
    this.#lagCloses.add(1);
  }

  /** Sets the current values, with every tick. */
  level(server: { readonly socketCount: number; readonly backlogBytes: number }): void {
    this.#sockets.set(server.socketCount);
    this.#backlogBytes.set(server.backlogBytes);
  }
}
