/** The actors of a node by name (operator-api.md 6 shows them), and how many market shards there can be. */

export const FRONT_DOOR = 'front-door';
export const CLEARING = 'clearing';
export const MARKET_DATA = 'market-data';
/** As many as a configuration may ask for (config.ts). */
export const SHARDS_MAX = 64;

export function marketActor(shard: number): string {
  return `market-${shard}`;
}
