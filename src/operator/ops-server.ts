/**
 * The ops listener (operator-api.md): all routes on one HTTP server. It opens first, before recovery, and closes last.
 */
import type { Logger } from 'pino';
import type { ChainOperations } from '../chain/chain-operations.ts';
import { writeJson } from '../codec/json-writer.ts';
import { PROTOCOL_VERSION } from '../codec/order-rules.ts';
import { assert } from '../core/assert.ts';
import { accepted, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { ASSETS, pageFiles } from '../http/api/page-files.ts';
import { LogLane } from '../runtime/log-buffer.ts';
import { createLogger } from '../runtime/logging.ts';
import { METRICS_CONTENT_TYPE, type MeasuredElsewhere, metricsPage } from './metrics-page.ts';
import { chainHookRoutes, chainRoutes } from './operator-chain-routes.ts';
import { clockRoutes } from './operator-clock-routes.ts';
import { configRoutes } from './operator-config-routes.ts';
import { hookRoutes } from './operator-hook-routes.ts';
import { limitRoutes } from './operator-limit-routes.ts';
import { readRoutes } from './operator-read-routes.ts';
import { registryRoutes } from './operator-registry-routes.ts';
import { OpsHttp, type OpsReply, type OpsRoute, type RawReply } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';
import { beginProcessMetrics } from './process-metrics.ts';

export class OpsServer {
  readonly #http: OpsHttp;

  /**
   * @param chains called for each request: the chains start after this listener; null before.
   * @param log receives audit lines and failures.
   */
  constructor(parts: OpsParts, chains: () => ChainOperations | null, log: Logger = logger(parts)) {
    beginProcessMetrics();
    const hooks = parts.config.hooks ? [...hookRoutes(parts, chains), ...chainHookRoutes(parts, chains)] : [];
    const routes = [
      ...openRoutes(parts, () => ({
        opsRequests: this.#http.requestCounts(),
        chains: chains()?.watched() ?? [],
        deviations: chains()?.lastDeviations() ?? new Map(),
        approvalStops: chains()?.approvalStops() ?? [],
      })),
      ...pageRoutes(),
      ...registryRoutes(parts, log),
      ...configRoutes(parts),
      ...chainRoutes(parts, chains),
      ...limitRoutes(parts),
      ...clockRoutes(parts),
      ...readRoutes(parts, chains),
      ...hooks,
    ];
    const isRecovering = (): boolean => parts.waitingFor().includes('clearing');
    this.#http = new OpsHttp(routes, {
      token: parts.config.token,
      log,
      isRecovering,
      names: parts.config.opsNames ?? [],
    });
  }

  /** @param at.port 0 selects a free port. @returns the port; rejects when it cannot be opened. */
  listen(at: { readonly host: string; readonly port: number }): Promise<number> {
    return this.#http.listen(at);
  }

  close(): Promise<void> {
    return this.#http.close();
  }
}

function logger({ config, plan }: OpsParts): Logger {
  return createLogger({ name: 'ops', level: config.logLevel, stream: new LogLane(plan.logs, 'ops') });
}

// The page that shows the metrics, without a token like them: what needs one is requested with the token that is entered there.

/** A file of the page is at most so many folders below `/assets`. */
const DEPTH_MAX = 5;
const PAGE_HEADERS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };
const NO_FILE = reject('NOT_FOUND', 'there is no such route');

function pageRoutes(): readonly OpsRoute[] {
  const files = pageFiles({ url: '/', base: ASSETS, html: 'ops/index.html' });
  const names = Array.from({ length: DEPTH_MAX }, (_, depth) => `name_${depth}`);
  // One pattern for each depth: the paths of responses are labels of a metric.
  const patterns = names.map((_, depth) => names.slice(0, depth + 1));
  const reply = (path: string): OpsReply => {
    const file = files.get(path);
    if (file === undefined) return rejected(NO_FILE);
    const { contentType, body, securityPolicy } = file;
    assert(typeof securityPolicy === 'string', 'the page reads no second listener');
    return {
      status: 200,
      contentType,
      text: body,
      headers: { ...PAGE_HEADERS, 'content-security-policy': securityPolicy },
    };
  };
  return [
    { method: 'GET', pattern: '/', handler: () => reply('/') },
    ...patterns.map(
      (parts): OpsRoute => ({
        method: 'GET',
        pattern: `${ASSETS}/${parts.map((name) => `{${name}}`).join('/')}`,
        handler: ({ param }) => reply(`${ASSETS}/${parts.map(param).join('/')}`),
      }),
    ),
  ];
}

// Routes without a token (operator-api.md 3): liveness, readiness, version, metrics.

/** @param measured what the metrics show beside what the threads recorded. */
function openRoutes(parts: OpsParts, measured: () => MeasuredElsewhere): readonly OpsRoute[] {
  const { version, commit, config } = parts;
  return [
    { method: 'GET', pattern: '/livez', handler: () => accepted({ alive: true }) },
    { method: 'GET', pattern: '/readyz', handler: () => readiness(parts) },
    {
      method: 'GET',
      pattern: '/version',
      handler: () =>
        accepted({ name: 'ringbook', version, commit, profile: config.profile, protocol_version: PROTOCOL_VERSION }),
    },
    {
      method: 'GET',
      pattern: '/metrics',
      handler: async (): Promise<RawReply> => ({
        status: 200,
        contentType: METRICS_CONTENT_TYPE,
        text: await metricsPage(parts, measured()),
      }),
    },
  ];
}

/** Not ready is a regular response: 503 without an error envelope. */
function readiness(parts: OpsParts): RawReply {
  const waiting = parts.waitingFor();
  const progress = waiting.every((part) => part === 'clock') ? null : parts.starting();
  const { held } = parts.wallClock.state;
  const body = { ready: waiting.length === 0, waiting_for: waiting, ...(held === null ? {} : { reason: held }) };
  const text = writeJson(progress === null ? body : { ...body, progress: { ...progress } });
  return { status: waiting.length === 0 ? 200 : 503, contentType: 'application/json', text };
}
