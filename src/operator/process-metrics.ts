/**
 * `process_*` and `nodejs_*`: prom-client's own collectors, of the whole process and of the main thread.
 *
 * Left out of them:
 *   nodejs_eventloop_lag_min … p99   their timer wakes an idle main thread a hundred times a second; ringbook_event_loop_delay_seconds
 *                                    has the delay of every event loop. The timer is set to once a minute.
 *   nodejs_active_*_total            gauges with the suffix of counters, which `promtool check metrics` rejects; they are the
 *                                    sums of the families without it.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';

/** Milliseconds between two readings of the timer whose figures are left out. */
const UNUSED_TIMER_MS = 60_000;
const LEFT_OUT: readonly string[] = [
  ...['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map((figure) => `nodejs_eventloop_lag_${figure}_seconds`),
  ...['handles', 'requests', 'resources'].map((kind) => `nodejs_active_${kind}_total`),
];

/** One for the process: its collectors observe the whole process. */
let registry: Registry | null = null;

/** From now on collections of the main thread are counted. Further calls have no effect. */
export function beginProcessMetrics(): Registry {
  if (registry !== null) return registry;
  registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: UNUSED_TIMER_MS });
  for (const name of LEFT_OUT) registry.removeSingleMetric(name);
  return registry;
}

/** Prometheus text, read now. */
export function processMetrics(): Promise<string> {
  return beginProcessMetrics().metrics();
}
