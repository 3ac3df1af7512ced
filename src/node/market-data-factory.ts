/** Market data, made from its wiring and the node's settings; workers/market-data.ts boots it. */

import { SharedBudget } from '../gateway/sessions/shared-budget.ts';
import { EdgeMetrics } from '../http/edge-metrics.ts';
import { MarketDataActor } from '../market-data/market-data-actor.ts';
import type { ActorFactories, ActorWiring } from '../runtime/actor.ts';
import { openReader } from '../storage/environment.ts';
import { History } from '../storage/history.ts';
import { NodeWords } from './node-words.ts';
import { CLEARING, MARKET_DATA } from './topology.ts';
import { settingsOf } from './worker-settings.ts';

export const marketDataFactories: ActorFactories = { [MARKET_DATA]: createMarketData };

function createMarketData(wiring: ActorWiring): MarketDataActor {
  const settings = settingsOf(wiring);
  return new MarketDataActor({
    clock: wiring.clock,
    clearingLane: wiring.laneOf(CLEARING),
    openHistory: () => new History(openReader(settings.dataDirectory, { mapBytes: settings.mapBytes }), wiring.beat),
    words: new NodeWords(settings.words),
    budget: new SharedBudget(settings.budget),
    listener: settings.mdsListener,
    counted: new EdgeMetrics(wiring.metrics),
    failed: marketDataFailed,
    answered: () => wiring.beat(),
    pacingNs: () => process.hrtime.bigint(),
  });
}

/** An error on one socket closes that socket; the thread says so and goes on. */
function marketDataFailed(where: string, error: unknown): void {
  const reason = error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${JSON.stringify({ level: 'error', event: 'edge-failed', where, reason })}\n`);
}
