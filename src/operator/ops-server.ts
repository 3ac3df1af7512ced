/**
 * The ops listener (operator-api.md): every route over one HTTP server. It opens first, before recovery, and closes
 * last.
 */
import type { Logger } from 'pino';
import type { ChainDesk } from '../chain/chain-desk.ts';
import { createLogger } from '../runtime/logging.ts';
import { chainHookRoutes } from './operator-chain-routes.ts';
import { configRoutes } from './operator-config-routes.ts';
import { hookRoutes } from './operator-hook-routes.ts';
import { limitRoutes } from './operator-limit-routes.ts';
import { readRoutes } from './operator-read-routes.ts';
import { registryRoutes } from './operator-registry-routes.ts';
import { OpsHttp } from './ops-http.ts';
import { openRoutes } from './ops-open-routes.ts';
import type { OpsParts } from './ops-parts.ts';

export class OpsServer {
  readonly #http: OpsHttp;

  /**
   * @param chains asked at each call: the simulated chains start after this listener; null where there are none.
   * @param log where audit lines and failures go.
   */
  constructor(parts: OpsParts, chains: () => ChainDesk | null, log: Logger = logger(parts)) {
    const hooks = parts.config.hooks ? [...hookRoutes(parts), ...chainHookRoutes(parts, chains)] : [];
    const routes = [
      ...openRoutes(parts, () => this.#http.requestCounts()),
      ...registryRoutes(parts),
      ...configRoutes(parts),
      ...limitRoutes(parts),
      ...readRoutes(parts),
      ...hooks,
    ];
    const isRecovering = (): boolean => parts.waitingFor().includes('clearing');
    this.#http = new OpsHttp(routes, { token: parts.config.token, log, isRecovering });
  }

  /** @param at.port 0 takes a free port. @returns the port; rejects when it cannot be had. */
  listen(at: { readonly host: string; readonly port: number }): Promise<number> {
    return this.#http.listen(at);
  }

  close(): Promise<void> {
    return this.#http.close();
  }
}

function logger({ config }: OpsParts): Logger {
  return createLogger({ name: 'ops', level: config.logLevel });
}
