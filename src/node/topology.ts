/**
 * Which actor runs on which thread, and the rings between them: the picture of docs/architecture.md as data.
 *
 *   gateway ──reject──▶ market-i ──never-full──▶ clearing ──never-full──▶ gateway, market-i
 *        ▲────never-full────┘   └──drop-and-resync──▶ market-data ◀──drop-and-resync──┘
 *   gateway ──reject──▶ clearing ◀──never-full──▶ replicator, in a cluster alone
 *                       clearing ──never-full──▶ evidence ──reject──▶ clearing, where evidence is kept
 *
 * No edge blocks: markets and clearing keep what a full ring does not take in their retry buffers and read no new
 * commands meanwhile (retry-buffer.ts), so a full clearing ring reaches the client as 503 of the gateway.
 */

import {
  CLEARING,
  EVIDENCE,
  GATEWAY,
  MARKET_DATA,
  marketActor,
  REPLICA_FEED,
  REPLICATOR,
} from '../core/actor-names.ts';
import {
  CLEARING_METRICS,
  EVIDENCE_METRICS,
  GATEWAY_METRICS,
  MARKET_DATA_METRICS,
  MARKET_METRICS,
  REPLICA_METRICS,
  REPLICATOR_METRICS,
} from '../gateway/metrics/metric-names.ts';
import type { EdgeSpec, ThreadSpec, Topology } from '../runtime/topology.ts';
import type { NodeConfig } from './config.ts';

const MAIN_THREAD = 'main';
const MARKET_BATCH_RECORDS = 256;
const GATEWAY_BATCH_RECORDS = 512;
const MARKET_DATA_BATCH_RECORDS = 1_024;
const REPLICATOR_BATCH_RECORDS = 256;
/** Half of it has room for the largest record of a stream, with what names it. */
const REPLICATOR_RING_BYTES = 1 << 22;
const REPLICATOR_EDGES: readonly EdgeSpec[] = [
  // Market data of the leader for replicas, and their questions.
  { from: MARKET_DATA, to: REPLICATOR, full: 'drop-and-resync', capacityBytes: 1 << 23, reservedBytes: 0 },
  { from: REPLICATOR, to: MARKET_DATA, full: 'drop-and-resync', capacityBytes: 1 << 16, reservedBytes: 0 },
  { from: CLEARING, to: REPLICATOR, full: 'never-full', capacityBytes: REPLICATOR_RING_BYTES, reservedBytes: 0 },
  { from: REPLICATOR, to: CLEARING, full: 'never-full', capacityBytes: REPLICATOR_RING_BYTES, reservedBytes: 0 },
];
const EVIDENCE_BATCH_RECORDS = 64;
/** Rows and hashes of some seconds wait for their files: as with clearing's, they are collected while they are young. */
const EVIDENCE_YOUNG_MEBIBYTES = 96;
const EVIDENCE_EDGES: readonly EdgeSpec[] = [
  { from: CLEARING, to: EVIDENCE, full: 'never-full', capacityBytes: 1 << 24, reservedBytes: 0 },
  // Of the last record that is durable each message says it all.
  { from: EVIDENCE, to: CLEARING, full: 'reject', capacityBytes: 1 << 16, reservedBytes: 0 },
];
/** Longest time between two ticks: also how late an expiry or a depth diff may be. */
const TICK_MS = 5;

/**
 * Rows of orders and trades are referenced until the next checkpoint has written them. In a young generation of this size
 * they are collected there; in a smaller one they are copied to the old generation first. Four times V8's own default.
 */
export const CLEARING_YOUNG_MEBIBYTES = 192;

/** A replica of market data: the feed of its cluster on the main thread, and market data. */
export function replicaTopology({ rings }: Pick<NodeConfig, 'rings'>): Topology {
  const shared = { place: 'worker', spinTurns: 0, waiting: 'event-loop', ownsListener: true } as const;
  return {
    threads: [
      { ...shared, name: MAIN_THREAD, place: 'main', onDeath: 'fail-stop' },
      { ...shared, name: MARKET_DATA, onDeath: 'restart' },
    ],
    actors: [
      { name: REPLICA_FEED, thread: MAIN_THREAD, batchRecordsMax: 1, metrics: REPLICA_METRICS },
      {
        name: MARKET_DATA,
        thread: MARKET_DATA,
        batchRecordsMax: MARKET_DATA_BATCH_RECORDS,
        metrics: MARKET_DATA_METRICS,
      },
    ],
    edges: [
      {
        from: REPLICA_FEED,
        to: MARKET_DATA,
        full: 'drop-and-resync',
        capacityBytes: Math.max(rings.depthBytes, REPLICATOR_RING_BYTES),
        reservedBytes: 0,
      },
    ],
    tickMs: TICK_MS,
  };
}

/** @param hasReplicator whether a thread beside clearing holds its log: in a cluster alone. */
export function nodeTopology(
  config: Pick<NodeConfig, 'threads' | 'rings' | 'journal'> & Partial<Pick<NodeConfig, 'isTraced' | 'evidence'>>,
  hasReplicator = false,
): Topology {
  const hasEvidence = (config.evidence ?? null) !== null;
  const { marketShards, marketsOn, spinTurns } = config.threads;
  const shards = Array.from({ length: marketShards }, (_, shard) => marketActor(shard));
  const verifyThreads = Array.from({ length: config.threads.verifyThreads }, (_, thread) => `verify-${thread}`);
  const worker = (name: string, more: Partial<ThreadSpec> = {}): ThreadSpec => ({
    name,
    place: 'worker',
    waiting: 'park',
    spinTurns,
    onDeath: 'fail-stop',
    ownsListener: false,
    ...more,
  });
  return {
    threads: [
      { ...worker(MAIN_THREAD), place: 'main', waiting: 'event-loop', ownsListener: true },
      ...(marketsOn === 'workers' ? shards.map((name) => worker(name)) : []),
      worker(CLEARING, { youngMebibytes: CLEARING_YOUNG_MEBIBYTES }),
      // What it keeps is a promise: a node without it ends.
      ...(hasEvidence ? [worker(EVIDENCE, { spinTurns: 0, youngMebibytes: EVIDENCE_YOUNG_MEBIBYTES })] : []),
      worker(MARKET_DATA, { waiting: 'event-loop', spinTurns: 0, onDeath: 'restart', ownsListener: true }),
      ...(hasReplicator ? [worker(REPLICATOR, { waiting: 'event-loop', spinTurns: 0 })] : []),
    ],
    actors: [
      {
        name: GATEWAY,
        thread: MAIN_THREAD,
        batchRecordsMax: GATEWAY_BATCH_RECORDS,
        metrics: GATEWAY_METRICS,
      },
      ...shards.map((name) => ({
        name,
        thread: marketsOn === 'workers' ? name : MAIN_THREAD,
        batchRecordsMax: MARKET_BATCH_RECORDS,
        metrics: MARKET_METRICS,
      })),
      {
        name: CLEARING,
        thread: CLEARING,
        batchRecordsMax: config.journal.batchRecordsMax,
        metrics: CLEARING_METRICS,
      },
      ...(hasEvidence
        ? [{ name: EVIDENCE, thread: EVIDENCE, batchRecordsMax: EVIDENCE_BATCH_RECORDS, metrics: EVIDENCE_METRICS }]
        : []),
      {
        name: MARKET_DATA,
        thread: MARKET_DATA,
        batchRecordsMax: MARKET_DATA_BATCH_RECORDS,
        metrics: MARKET_DATA_METRICS,
      },
      ...(hasReplicator
        ? [
            {
              name: REPLICATOR,
              thread: REPLICATOR,
              batchRecordsMax: REPLICATOR_BATCH_RECORDS,
              metrics: REPLICATOR_METRICS,
            },
          ]
        : []),
    ],
    edges: [
      ...edges(shards, config.rings),
      ...(hasEvidence ? EVIDENCE_EDGES : []),
      ...(hasReplicator ? REPLICATOR_EDGES : []),
    ],
    tickMs: TICK_MS,
    ...(config.isTraced === true ? { tracedBeside: verifyThreads } : {}),
  };
}

function edges(shards: readonly string[], rings: NodeConfig['rings']): EdgeSpec[] {
  const events = { capacityBytes: rings.eventBytes, reservedBytes: 0 };
  const commands = { capacityBytes: rings.commandBytes, reservedBytes: rings.commandReservedBytes };
  const depth = { capacityBytes: rings.depthBytes, reservedBytes: 0 };
  return [
    ...shards.flatMap((market): EdgeSpec[] => [
      { from: GATEWAY, to: market, full: 'reject', ...commands },
      { from: market, to: CLEARING, full: 'never-full', ...events },
      { from: market, to: GATEWAY, full: 'never-full', ...events },
      { from: market, to: MARKET_DATA, full: 'drop-and-resync', ...depth },
      { from: CLEARING, to: market, full: 'never-full', ...events },
    ]),
    { from: GATEWAY, to: CLEARING, full: 'reject', ...commands },
    { from: CLEARING, to: GATEWAY, full: 'never-full', ...events },
    { from: CLEARING, to: MARKET_DATA, full: 'drop-and-resync', ...depth },
  ];
}
