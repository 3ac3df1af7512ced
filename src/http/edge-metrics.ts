/** Socket counters of a public listener in shared memory (metric-names.ts): lagging sockets, and their backlog. */
import type { Counter, Gauge, MetricsWriter } from '../runtime/metrics.ts';

export class EdgeMetrics {
  readonly #lagCloses: Counter;
  readonly #sockets: Gauge;
  readonly #backlogBytes: Gauge;

  constructor(metrics: MetricsWriter) {
    this.#lagCloses = metrics.counter('lag_closes');
    this.#sockets = metrics.gauge('sockets');
    this.#backlogBytes = metrics.gauge('socket_backlog_bytes');
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
