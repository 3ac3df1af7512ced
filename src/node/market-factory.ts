/** Market shards, made from their wiring and the node's settings; workers/market.ts boots one a thread. */

import { CLEARING, FRONT_DOOR, MARKET_DATA, marketActor, SHARDS_MAX } from '../core/actor-names.ts';
import type { OrderAction } from '../core/hops.ts';
import { reserveNoAddresses } from '../core/pools.ts';
import { type MarketStage, stageMetric } from '../gateway/metric-names.ts';
import { type CommandTimes, MarketShardActor } from '../matching/market-actor.ts';
import type { ActorFactories, ActorWiring } from '../runtime/actor.ts';
import { areAddressesBounded, ownLimits } from '../runtime/address-limit.ts';
import type { Histogram, MetricsWriter } from '../runtime/metrics.ts';
import { NodeWords } from './node-words.ts';
import { settingsOf } from './worker-settings.ts';

export const marketFactories: ActorFactories = Object.fromEntries(
  Array.from({ length: SHARDS_MAX }, (_, shard) => [
    marketActor(shard),
    (wiring: ActorWiring) => createMarketShard(wiring, shard),
  ]),
);

function createMarketShard(wiring: ActorWiring, shard: number): MarketShardActor {
  const settings = settingsOf(wiring);
  const words = new NodeWords(settings.words);
  if (areAddressesBounded(ownLimits())) reserveNoAddresses();
  return new MarketShardActor({
    name: wiring.name,
    clock: wiring.clock,
    hashSeed: settings.hashSeed,
    isStalled: () => words.isStalled(shard),
    heartbeat: () => wiring.heartbeat(),
    clearingChannel: wiring.channelOf(CLEARING),
    clearing: wiring.publication(CLEARING),
    door: wiring.publication(FRONT_DOOR),
    data: wiring.publication(MARKET_DATA),
    trace: wiring.trace,
    times: commandTimes(wiring.metrics),
  });
}

/** In shared memory (gateway/metric-names.ts). */
function commandTimes(metrics: MetricsWriter): CommandTimes {
  const histograms = (stage: MarketStage): Readonly<Record<OrderAction, Histogram>> => ({
    create: metrics.histogram(stageMetric('create', stage)),
    replace: metrics.histogram(stageMetric('replace', stage)),
    cancel: metrics.histogram(stageMetric('cancel', stage)),
    amend: metrics.histogram(stageMetric('amend', stage)),
  });
  const rings = histograms('ring');
  const matches = histograms('match');
  return {
    nowMs: () => performance.now(),
    // The clock of the node may be set forward between the two.
    waited: (action, ns) => rings[action].record(Math.max(ns, 0)),
    matched: (action, ms) => matches[action].record(ms * 1e6),
  };
}
