/** The actors of a node by name (operator-api.md 6 shows them), and how many market shards there can be. */

/** The gateway. Its name in metrics, the operator API and logs is an old one, and stays: dashboards and alerts have it. */
export const GATEWAY = 'front-door';
export const CLEARING = 'clearing';
export const MARKET_DATA = 'market-data';
/** The protocol of a cluster; on one machine there is none. */
export const REPLICATOR = 'replicator';
/** Rows and leaves of what clearing decided; it runs where evidence is kept. */
export const EVIDENCE = 'evidence';
/** What a replica of market data reads of its cluster. */
export const REPLICA_FEED = 'replica-feed';
/** The largest number that a configuration may have (config.ts). */
export const SHARDS_MAX = 64;

export function marketActor(shard: number): string {
  return `market-${shard}`;
}
