/**
 * Counters of a public listener in shared memory (metric-names.ts): responses, reads by what they read, refusals by code,
 * lagging sockets and their backlog.
 */
import { must } from '../core/assert.ts';
import type { RejectName } from '../core/reject.ts';
import {
  COUNTED_STATUSES,
  READ_KINDS,
  REFUSAL_CODES,
  type ReadKind,
  readMetricOf,
  readTimeMetric,
  refusalMetric,
  responseMetric,
} from '../gateway/metrics/metric-names.ts';
import type { Counter, Gauge, Histogram, MetricsWriter } from '../runtime/metrics.ts';
import { MARKET_DATA_PATH } from './user-read-routes.ts';

/** What the routes read, by the first segment of their paths; `other` for unknown paths. */
const KIND_OF_SEGMENT: ReadonlyMap<string, ReadKind> = new Map([
  ['markets', 'markets'],
  ['market', 'markets'],
  ['registry', 'markets'],
  ['marketdepth', 'book'],
  ['klines', 'klines'],
  ['trades', 'trades'],
  ['ticker', 'tickers'],
  ['tickers', 'tickers'],
  ['openinterest', 'tickers'],
  ['orders', 'orders'],
  ...['account', 'inventory', 'limits', 'margin', 'multisig', 'positions', 'sessions', 'settlement', 'solvency'].map(
    ofAccount,
  ),
  ...['sub-accounts', 'withdrawal'].map(ofAccount),
  ['evidence', 'system'],
  ['proof', 'system'],
  ['nonce', 'system'],
  ['system', 'system'],
  ...['', 'assets', 'api-doc.json', 'api-reference', 'async-api.json'].map((name) => [name, 'documents'] as const),
]);
const ERROR_FROM = 400;
const METHOD_NOT_ALLOWED = 405;

function ofAccount(segment: string): readonly [string, ReadKind] {
  return [segment, 'account'];
}

/** @param pattern of a route with GET. */
export function readKindOf(pattern: string): ReadKind {
  const path = pattern.startsWith(`${MARKET_DATA_PATH}/`) ? pattern.slice(MARKET_DATA_PATH.length) : pattern;
  const [, first = '', second = ''] = path.split('/');
  if (first === 'trades' && second === 'user') return 'user-trades';
  return KIND_OF_SEGMENT.get(first) ?? 'other';
}

interface ReadRecorder {
  readonly accepted: Counter;
  readonly rejected: Counter;
  readonly times: Histogram;
}

export class EdgeMetrics {
  readonly #lagCloses: Counter;
  readonly #sockets: Gauge;
  readonly #backlogBytes: Gauge;
  readonly #responses: ReadonlyMap<number, Counter>;
  readonly #otherResponses: Counter;
  readonly #reads: Histogram;
  readonly #changes: Histogram;
  readonly #refusals: ReadonlyMap<RejectName, Counter>;
  readonly #readKinds: ReadonlyMap<ReadKind, ReadRecorder>;
  /** By pattern, of the routes that were read. */
  readonly #readRoutes = new Map<string, ReadRecorder>();

  constructor(metrics: MetricsWriter) {
    this.#lagCloses = metrics.counter('lag_closes');
    this.#sockets = metrics.gauge('sockets');
    this.#backlogBytes = metrics.gauge('socket_backlog_bytes');
    this.#responses = new Map(COUNTED_STATUSES.map((status) => [status, metrics.counter(responseMetric(status))]));
    this.#otherResponses = metrics.counter(responseMetric('other'));
    this.#reads = metrics.histogram('response_read_ns');
    this.#changes = metrics.histogram('response_change_ns');
    this.#refusals = new Map(REFUSAL_CODES.map((code) => [code, metrics.counter(refusalMetric(code))]));
    this.#readKinds = new Map(
      READ_KINDS.map((kind) => {
        const accepted = metrics.counter(readMetricOf(kind, 'accepted'));
        const rejected = metrics.counter(readMetricOf(kind, 'rejected'));
        return [kind, { accepted, rejected, times: metrics.histogram(readTimeMetric(kind)) }];
      }),
    );
  }

  /** As in EdgeObserver. */
  answered(pattern: string, status: number, isRead: boolean, ms: number): void {
    (this.#responses.get(status) ?? this.#otherResponses).add(1);
    const ns = Math.round(ms * 1e6);
    (isRead ? this.#reads : this.#changes).record(ns);
    if (!isRead) return;
    // A path without GET reads nothing.
    const { accepted, rejected, times } = this.#readRoute(status === METHOD_NOT_ALLOWED ? '/*' : pattern);
    // mutant: reads-by-result
    (status < ERROR_FROM ? accepted : rejected).add(1);
    times.record(ns);
  }

  /** As in EdgeObserver. */
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

  #readRoute(pattern: string): ReadRecorder {
    const known = this.#readRoutes.get(pattern);
    if (known !== undefined) return known;
    const made = must(this.#readKinds.get(readKindOf(pattern)), 'a recorder for every kind');
    this.#readRoutes.set(pattern, made);
    return made;
  }
}
