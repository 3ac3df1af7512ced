/**
 * The ops listener (operator-api.md): all routes on one HTTP server. It opens first, before recovery, and closes last.
 */
import type { Logger } from 'pino';
import type { ChainOperations } from '../chain/chain-operations.ts';
import { writeJson } from '../codec/json-writer.ts';
import { PROTOCOL_VERSION } from '../codec/order-rules.ts';
import { assert } from '../core/assert.ts';
import { accepted, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { openApi } from '../http/api/open-api.ts';
import { ASSETS, pageFiles } from '../http/api/page-files.ts';
import { operatorRefusal } from '../http/leader-route.ts';
import { LogLane } from '../runtime/log-buffer.ts';
import { createLogger } from '../runtime/logging.ts';
import { VERSION } from '../runtime/version.ts';
import { METRICS_CONTENT_TYPE, type MeasuredElsewhere, metricsPage } from './metrics-page.ts';
import { chainHookRoutes, chainRoutes } from './operator-chain-routes.ts';
import { clockRoutes } from './operator-clock-routes.ts';
import { configRoutes } from './operator-config-routes.ts';
import { hookRoutes } from './operator-hook-routes.ts';
import { limitRoutes } from './operator-limit-routes.ts';
import { readRoutes } from './operator-read-routes.ts';
import { registryRoutes } from './operator-registry-routes.ts';
import type { OperatorToken } from './operator-tokens.ts';
import { documentOf, type OpsFiles, OpsHttp, type OpsReply, type OpsRoute, type RawReply } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';
import { beginProcessMetrics } from './process-metrics.ts';
import { ALIVE, DOCUMENT, METRICS, READY, VERSION_SHOWN } from './reply-shapes.ts';

export class OpsServer {
  /** All that the listener documents. */
  readonly routes: readonly OpsRoute[];
  readonly #http: OpsHttp;

  /**
   * @param chains called for each request: the chains start after this listener; null before.
   * @param log receives audit lines and failures.
   */
  constructor(parts: OpsParts, chains: () => ChainOperations | null, log: Logger = logger(parts)) {
    beginProcessMetrics();
    const hooks = parts.config.hooks ? [...hookRoutes(parts, chains), ...chainHookRoutes(parts, chains)] : [];
    this.routes = [
      ...openRoutes(parts, () => ({
        opsRequests: this.#http.requestCounts(),
        chains: chains()?.watched() ?? [],
        deviations: chains()?.lastDeviations() ?? new Map(),
        approvalStops: chains()?.approvalStops() ?? [],
      })),
      ...registryRoutes(parts, log),
      ...configRoutes(parts),
      ...chainRoutes(parts, chains),
      ...limitRoutes(parts),
      ...clockRoutes(parts),
      ...readRoutes(parts, chains),
      ...hooks,
      documentRoute(() => this.routes),
    ];
    const isRecovering = (): boolean => parts.waitingFor().includes('clearing');
    const { leadership } = parts;
    const notServing = (isChange: boolean): Reject | null =>
      leadership === null ? null : operatorRefusal(leadership, isChange);
    this.#http = new OpsHttp([...this.routes, ...pageRoutes()], {
      tokens: parts.config.operatorTokens,
      log,
      journal: (call) => parts.command({ kind: 'operatorCall', ...call }),
      isRecovering,
      notServing,
      ...(leadership === null ? {} : { isOver: () => leadership.state() !== 'leading' }),
      names: parts.config.opsNames ?? [],
    });
  }

  /** @param at.port 0 selects a free port. @returns the port; rejects when it cannot be opened. */
  listen(at: { readonly host: string; readonly port: number }): Promise<number> {
    return this.#http.listen(at);
  }

  /** Tokens that were read again. */
  replaceTokens(tokens: readonly OperatorToken[]): void {
    this.#http.replaceTokens(tokens);
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

function pageRoutes(): readonly OpsFiles[] {
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
    { method: 'GET', path: '/', isFile: true, handler: () => reply('/') },
    ...patterns.map(
      (parts): OpsFiles => ({
        method: 'GET',
        isFile: true,
        path: `${ASSETS}/${parts.map((name) => `{${name}}`).join('/')}`,
        handler: ({ param }) => reply(`${ASSETS}/${parts.map(param).join('/')}`),
      }),
    ),
  ];
}

// The document of this listener, made when it is first read.

const INFO =
  'Operators configure and watch the node here; in dev and test, tests move its clock, its chains and clearing. Money and quantities are decimal strings in human units, members named `…_base_units` integers of the token as strings. An unknown member of a body is 400, and the path of a member at fault stands in `details.field`.';

/** @param routes all of the listener's, this one among them. */
function documentRoute(routes: () => readonly OpsRoute[]): OpsRoute {
  let text: string | null = null;
  return {
    ...OPEN,
    path: '/api-doc.json',
    summary: 'This document: OpenAPI 3.1',
    reply: DOCUMENT,
    example: { reply: '{"openapi":"3.1.0"}' },
    handler: (): RawReply => {
      text ??= openApi({ title: 'ringbook: operators', description: INFO, version: VERSION }, routes().map(documentOf));
      return { status: 200, contentType: 'application/json', text };
    },
  };
}

// Routes without a token (operator-api.md 3): liveness, readiness, version, metrics.

const OPEN = { method: 'GET', area: 'Open' } as const;

/** @param measured what the metrics show beside what the threads recorded. */
function openRoutes(parts: OpsParts, measured: () => MeasuredElsewhere): readonly OpsRoute[] {
  const { version, commit, config } = parts;
  return [
    {
      ...OPEN,
      path: '/livez',
      summary: 'Whether the process serves',
      reply: ALIVE,
      example: { reply: '{"alive":true}' },
      handler: () => accepted({ alive: true }),
    },
    {
      ...OPEN,
      path: '/readyz',
      summary: 'Whether the node is ready',
      reply: READY,
      example: { reply: '{"ready":true,"waiting_for":[]}' },
      handler: () => readiness(parts),
    },
    {
      ...OPEN,
      path: '/version',
      summary: 'What runs',
      reply: VERSION_SHOWN,
      example: { reply: '{"name":"ringbook","version":"0.1.0","commit":"","profile":"dev","protocol_version":1}' },
      handler: () =>
        accepted({ name: 'ringbook', version, commit, profile: config.profile, protocol_version: PROTOCOL_VERSION }),
    },
    {
      ...OPEN,
      path: '/metrics',
      summary: 'The metrics',
      media: 'text/plain',
      reply: METRICS,
      example: { reply: '""' },
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
