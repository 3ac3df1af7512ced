/** Market shards, made from their wiring and the node's settings; workers/market.ts boots one a thread. */

import { CLEARING, GATEWAY, MARKET_DATA, marketActor, SHARDS_MAX } from '../core/actor-names.ts';
import { MARKET_ACTIONS, type MarketStage } from '../core/hops.ts';
import { reserveNoAddresses } from '../core/pools.ts';
import { MARKETS_MAX, matchedMetric, stageMetric } from '../gateway/metrics/metric-names.ts';
import type { CommandTimes } from '../matching/command-timer.ts';
import { MarketShardActor } from '../matching/market-actor.ts';
import type { ActorFactories, ActorWiring } from '../runtime/actor.ts';
import { areAddressesBounded, ownLimits } from '../runtime/address-limit.ts';
import type { MetricsWriter } from '../runtime/metrics.ts';
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
    gateway: wiring.publication(GATEWAY),
    data: wiring.publication(MARKET_DATA),
    trace: wiring.trace,
    times: commandTimes(wiring.metrics),
  });
}

/** In shared memory (gateway/metrics/metric-names.ts). */
function commandTimes(metrics: MetricsWriter): CommandTimes {
  const histograms = (stage: MarketStage) =>
    new Map(MARKET_ACTIONS.map((action) => [action, metrics.histogram(stageMetric(action, stage))]));
  const rings = histograms('ring');
  const matches = histograms('match');
  const markets = Array.from({ length: MARKETS_MAX }, (_, index) => metrics.counter(matchedMetric(index)));
  return {
    nowMs: () => performance.now(),
    // The clock of the node may be set forward between the two.
    waited: (action, ns) => rings.get(action)?.record(Math.max(ns, 0)),
    matched: (action, ns) => matches.get(action)?.record(ns),
    matchedIn: (marketIndex, ns) => markets[marketIndex]?.add(ns),
  };
}
