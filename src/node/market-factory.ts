/** Market shards, made from their wiring and the node's settings; workers/market.ts boots one a thread. */

import { CLEARING, FRONT_DOOR, MARKET_DATA, marketActor, SHARDS_MAX } from '../core/actor-names.ts';
import { reserveNoAddresses } from '../core/pools.ts';
import { MarketShardActor } from '../matching/market-actor.ts';
import type { ActorFactories, ActorWiring } from '../runtime/actor.ts';
import { areAddressesBounded, ownLimits } from '../runtime/address-limit.ts';
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
  });
}
