/** Routes without a token (operator-api.md 3): is it alive, is it ready, what is it, how is it doing. */

import { writeJson } from '../codec/json-writer.ts';
import { PROTOCOL_VERSION } from '../codec/order-faults.ts';
import { accepted } from '../core/outcome.ts';
import { METRICS_CONTENT_TYPE, metricsPage } from './metrics-page.ts';
import type { OpsRoute, RawReply } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';

/** @param opsRequests answers of this listener, which the metrics show beside the public ones. */
export function openRoutes(parts: OpsParts, opsRequests: () => ReadonlyMap<string, number>): readonly OpsRoute[] {
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
        text: await metricsPage(parts, opsRequests()),
      }),
    },
  ];
}

/** Not ready is an answer, not an error: 503 without an envelope. */
function readiness(parts: OpsParts): RawReply {
  const waiting = parts.waitingFor();
  const progress = waiting.length === 0 ? null : parts.starting();
  const body = { ready: waiting.length === 0, waiting_for: waiting };
  const text = writeJson(progress === null ? body : { ...body, progress: { ...progress } });
  return { status: waiting.length === 0 ? 200 : 503, contentType: 'application/json', text };
}
