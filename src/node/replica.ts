/**
 * The composition root of a replica of market data (cluster.md 2): the feed of the cluster on the main thread, market data with its
 * listener on its own, and a listener for operators. No data directory, no ledger, no orders.
 *
 *   servers ─▶ feed (main) ─ ring ─▶ market data ─▶ clients
 */
import { ReplicaActor } from '../cluster/replica-actor.ts';
import { PROTOCOL_VERSION } from '../codec/order-rules.ts';
import { LEADER } from '../codec/shapes/system-shapes.ts';
import { leaderReply } from '../codec/system-replies.ts';
import { MARKET_DATA, REPLICA_FEED } from '../core/actor-names.ts';
import { must } from '../core/assert.ts';
import { ConfigError } from '../core/config-error.ts';
import { accepted } from '../core/outcome.ts';
import { tlsOf } from '../http/public-listeners.ts';
import { MDS_LISTEN_FAILED } from '../market-data/market-data-actor.ts';
import { METRICS_CONTENT_TYPE, replicaMetricsPage } from '../operator/metrics-page.ts';
import { OpsHttp, type OpsRoute } from '../operator/ops-http.ts';
import { beginProcessMetrics } from '../operator/process-metrics.ts';
import { ALIVE, METRICS, READY, VERSION_SHOWN } from '../operator/reply-shapes.ts';
import type { ActorWiring } from '../runtime/actor.ts';
import { hostActors } from '../runtime/actor-host.ts';
import { diedOf } from '../runtime/ending.ts';
import { LogLane } from '../runtime/log-buffer.ts';
import { createLogger } from '../runtime/logging.ts';
import { COMMIT, VERSION } from '../runtime/version.ts';
import { DATA_VERSION } from '../storage/environment.ts';
import { hostOfUrl } from './addresses.ts';
import type { Environment } from './environment.ts';
import type { NodeThreads } from './node-threads.ts';
import { reload } from './reload.ts';

const LOOK_MS = 5;
const STOP_MS_MAX = 20_000;
const OPEN = { method: 'GET', area: 'Health', whileRecovering: true } as const;

/** Where a replica listens. */
interface ReplicaListening {
  readonly mds: string;
  readonly ops: string;
}

export class ReplicaNode {
  readonly #threads: NodeThreads;
  readonly #ops: OpsHttp;
  #isStopping = false;

  /** @param threads begun already. */
  constructor(threads: NodeThreads) {
    this.#threads = threads;
    beginProcessMetrics();
    const { config, plan } = threads;
    const stream = new LogLane(plan.logs, 'ops');
    this.#ops = new OpsHttp(this.#routes(), {
      tokens: config.operatorTokens,
      log: createLogger({ name: 'ops', level: config.logLevel, stream }),
      isRecovering: () => false,
      names: config.opsNames ?? [],
    });
  }

  /** As RingbookNode's; its listener of market data is on another thread. */
  reload(environment: Environment): void {
    const { config, log, peerName, supervisor } = this.#threads;
    reload(environment, {
      ...{ config, log, peerName },
      replaceTokens: (tokens) => this.#ops.replaceTokens(tokens),
      readCertificateAgain: () => Promise.resolve(),
      certificateEnds: () => undefined,
    }).catch((error: unknown) => supervisor.fail(diedOf(null, String(error))));
  }

  /** Resolves when it has all books and serves. @throws ConfigError when a port is taken. */
  async start(): Promise<ReplicaListening> {
    const { config, words, runner, context } = this.#threads;
    const { opsHost: host, opsPort, mdsHost, mdsPort } = config;
    const ops = await this.#ops.listen({ host, port: opsPort }).catch(() => {
      throw taken('RINGBOOK_OPS_PORT', host, opsPort);
    });
    await this.#threads.whenPolling();
    const wakeUp = (): void => runner.wakeUp();
    const settings = this.#threads.settings();
    const factories = { [REPLICA_FEED]: (wiring: ActorWiring) => this.#feed(wiring) };
    runner.start(hostActors({ ...context, settings, restarted: false, wakeUp }, factories, 'main'));
    words.allowListening();
    await when(() => words.mdsPort() !== 0);
    if (words.mdsPort() === MDS_LISTEN_FAILED) throw taken('RINGBOOK_MDS_PORT', mdsHost, mdsPort);
    await when(() => this.#isReady());
    const scheme = tlsOf(config.publicListeners) === null ? 'http' : 'https';
    return {
      mds: `${scheme}://${hostOfUrl(mdsHost)}:${words.mdsPort()}`,
      ops: `http://${hostOfUrl(host)}:${ops}`,
    };
  }

  async stop(): Promise<object> {
    this.#isStopping = true;
    await this.#threads.supervisor.stop(STOP_MS_MAX);
    this.#threads.release();
    await this.#ops.close();
    return {};
  }

  abandon(): Promise<void> {
    return this.#threads.abandon(() => false);
  }

  #isReady(): boolean {
    return this.#threads.leadership.state() === 'following' && this.#threads.words.hasMarketHistory();
  }

  #feed(wiring: ActorWiring): ReplicaActor {
    const { config, leadership, plan } = this.#threads;
    const { name, node, servers, credentialsFile, tls } = must(config.cluster ?? undefined, 'a replica has a cluster');
    const gaps = wiring.metrics.counter('gaps');
    const lag = wiring.metrics.gauge('lag_s');
    const output = new LogLane(plan.logs, 'output');
    return new ReplicaActor({
      name: REPLICA_FEED,
      node,
      version: VERSION,
      servers: { cluster: name, node, servers, credentialsFile, tls, dataVersion: String(DATA_VERSION) },
      publication: wiring.publication(MARKET_DATA),
      leadership,
      changed: (state, epoch, sequence) =>
        output.write(`${JSON.stringify({ event: 'state', state, epoch, sequence })}\n`),
      measured: { gaps: (count) => gaps.add(count), lag: (seconds) => lag.set(seconds) },
      log: (level, facts, text) => this.#threads.log[level](facts, text),
    });
  }

  #routes(): readonly OpsRoute[] {
    const { config, plan, leadership } = this.#threads;
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
        summary: 'Whether the replica has all books and hears of a leader',
        reply: READY,
        example: { reply: '{"ready":true,"waiting_for":[]}' },
        handler: () => {
          const isReady = this.#isReady() && !this.#isStopping;
          const text = JSON.stringify({ ready: isReady, waiting_for: isReady ? [] : ['market_data'] });
          return { status: isReady ? 200 : 503, contentType: 'application/json', text };
        },
      },
      {
        ...OPEN,
        path: '/version',
        summary: 'What runs',
        reply: VERSION_SHOWN,
        example: { reply: '{"name":"ringbook","version":"0.1.0","commit":"","profile":"dev","protocol_version":1}' },
        handler: () => {
          const { profile } = config;
          const version = { version: VERSION, commit: COMMIT };
          return accepted({ name: 'ringbook', ...version, profile, protocol_version: PROTOCOL_VERSION });
        },
      },
      {
        ...OPEN,
        path: '/metrics',
        summary: 'The metrics',
        media: 'text/plain',
        reply: METRICS,
        example: { reply: '""' },
        handler: async () => ({
          status: 200,
          contentType: METRICS_CONTENT_TYPE,
          text: await replicaMetricsPage({ plan, leadership }),
        }),
      },
      {
        ...OPEN,
        path: '/system/leader',
        summary: 'Which node leads, as this replica sees it',
        reply: LEADER,
        example: { reply: '{"role":"replica","state":"following","epoch":7,"sequence":1042,"leader":null}' },
        handler: () => ({
          status: 200,
          contentType: 'application/json',
          text: leaderReply({ role: 'replica', ...leadership.view() }),
        }),
      },
    ];
  }
}

async function when(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

function taken(variable: string, host: string, port: number): ConfigError {
  return new ConfigError(`cannot listen on ${host}, port ${port}: set ${variable} to a free port, or 0`);
}
