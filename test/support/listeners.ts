/**
 * Listeners that are open while the tests of the calling file or suite run: routes and streams alone, or an order service
 * in front of a scripted node. Each ends with a check of its own: no handler has thrown that a test has not taken note of.
 */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { HttpRoutes } from '../../src/http/http-routes.ts';
import { OmsServer } from '../../src/http/oms-server.ts';
import { PublicApp } from '../../src/http/public-app.ts';
import type { EdgeObserver, LaggedSocket } from '../../src/http/uws-http.ts';
import { type HubBounds, SocketHub } from '../../src/http/uws-socket.ts';
import type { ScriptedOms } from './scripted-oms.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 } as const;

/** What a listener has reported. */
export class ReportList implements EdgeObserver {
  /** `/orders 200` */
  readonly answers: string[] = [];
  /** `GET /orders: message` */
  readonly failures: string[] = [];
  /** Patterns of the streams. */
  readonly lags: string[] = [];

  answered(pattern: string, status: number): void {
    this.answers.push(`${pattern} ${status}`);
  }
  failed(where: string, error: unknown): void {
    this.failures.push(`${where}: ${error instanceof Error ? error.message : error}`);
  }
  lagged({ path }: LaggedSocket): void {
    this.lags.push(path);
  }
}

export class RouteListener {
  readonly reports: ReportList = new ReportList();
  readonly routes: HttpRoutes;
  /** Loopback; 0 until it is open. */
  port = 0;
  readonly #app = new PublicApp(null);
  readonly #bounds: HubBounds;
  #hub: SocketHub | null = null;

  constructor(options: Partial<ConstructorParameters<typeof HttpRoutes>[1]> = {}, bounds: HubBounds = {}) {
    this.routes = new HttpRoutes(this.#app, { observer: this.reports, gate: null, ...options });
    this.#bounds = bounds;
  }

  get hub(): SocketHub {
    const listener = { observer: this.reports, gate: null };
    this.#hub ??= new SocketHub(this.#app, this.routes, listener, this.#bounds);
    return this.#hub;
  }

  async open(): Promise<number> {
    this.routes.seal();
    this.port = await this.#app.listen(LOOPBACK);
    return this.port;
  }

  close(): void {
    this.#hub?.finishAll(1001, 'going_away');
    this.routes.stop();
    this.#app.close();
    assert.deepEqual(this.reports.failures, []);
  }
}

/** @param add adds routes and streams. */
export function listenWith(
  add: (listener: RouteListener) => void,
  ...options: ConstructorParameters<typeof RouteListener>
): RouteListener {
  const listener = new RouteListener(...options);
  before(() => {
    add(listener);
    return listener.open();
  });
  after(() => listener.close());
  return listener;
}

export interface OmsListener {
  readonly server: OmsServer;
  readonly reports: ReportList;
  /** Loopback; 0 until the tests run. */
  readonly port: number;
}

export function listenTo(
  oms: ScriptedOms,
  options: Partial<ConstructorParameters<typeof OmsServer>[0]> = {},
): OmsListener {
  const reports = new ReportList();
  const server = new OmsServer({ services: oms, observer: reports, ...options });
  oms.streams = server.streams;
  let port = 0;
  before(async () => {
    port = await server.listen(LOOPBACK);
  });
  after(() => {
    server.close();
    assert.deepEqual(reports.failures, []);
  });
  return {
    server,
    reports,
    get port() {
      return port;
    },
  };
}
