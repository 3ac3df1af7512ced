/** The actors of the worker threads, made from their wiring and the node's settings. workers/*.ts boot them. */
import { randomBytes } from 'node:crypto';
import type { ActorFactories, ActorWiring } from '../runtime/actor.ts';
import { SharedClock } from '../runtime/clock.ts';
import { SharedBudget } from '../sessions/shared-budget.ts';
import { openReader } from '../storage/environment.ts';
import { History } from '../storage/history.ts';
import { ClearingActor } from './clearing-actor.ts';
import { EdgeMetrics } from './edge-metrics.ts';
import { LmdbDurability } from './lmdb-durability.ts';
import { MarketShardActor } from './market-actor.ts';
import { MarketDataActor } from './market-data-actor.ts';
import { NodeWords } from './node-words.ts';
import { verifyOrder } from './order-verdict.ts';
import type { ListenerSettings } from './public-listeners.ts';
import { RECOVERY_STEPS } from './recovery.ts';
import { CLEARING, FRONT_DOOR, MARKET_DATA, marketActor, SHARDS_MAX } from './topology.ts';

/** Given to every worker; a structured clone. */
export interface WorkerSettings {
  readonly dataDirectory: string;
  readonly mapBytes: number;
  readonly checkpointMs: number;
  readonly checkpointRecords: number;
  readonly checkpointRows: number;
  readonly shards: number;
  readonly mdsListener: ListenerSettings;
  readonly words: SharedArrayBuffer;
  /** Of SharedBudget. */
  readonly budget: SharedArrayBuffer;
}

function settingsOf(wiring: ActorWiring): WorkerSettings {
  return wiring.settings as WorkerSettings;
}

export const marketFactories: ActorFactories = Object.fromEntries(
  Array.from({ length: SHARDS_MAX }, (_, shard) => [
    marketActor(shard),
    (wiring: ActorWiring) => createMarketShard(wiring, shard),
  ]),
);

function createMarketShard(wiring: ActorWiring, shard: number): MarketShardActor {
  const words = new NodeWords(settingsOf(wiring).words);
  return new MarketShardActor({
    name: wiring.name,
    clock: wiring.clock,
    // Told to nobody and kept nowhere, so that nobody can choose order ids that meet in one place.
    hashSeed: randomBytes(8).readBigUInt64LE(),
    isStalled: () => words.isStalled(shard),
    beat: () => wiring.beat(),
    clearingLane: wiring.laneOf(CLEARING),
    clearing: wiring.outlet(CLEARING),
    door: wiring.outlet(FRONT_DOOR),
    data: wiring.outlet(MARKET_DATA),
  });
}

export const clearingFactories: ActorFactories = { [CLEARING]: createClearing };

function createClearing(wiring: ActorWiring): ClearingActor {
  const settings = settingsOf(wiring);
  const words = new NodeWords(settings.words);
  const commits = wiring.metrics.histogram('commit_ns');
  const journalBytes = wiring.metrics.gauge('journal_bytes');
  const journalFirst = wiring.metrics.gauge('journal_first_sequence');
  return new ClearingActor({
    clock: wiring.clock,
    notBefore: (timeNs) => {
      if (wiring.clock instanceof SharedClock) wiring.clock.setTo(timeNs);
    },
    durability: new LmdbDurability(settings.dataDirectory, {
      mapBytes: settings.mapBytes,
      // The main thread claimed the directory before there were threads, and gives it free when they have ended.
      lock: { epoch: words.epoch(), release: () => undefined },
    }),
    recovering: (step, done, of) => words.setRecovery(1 + RECOVERY_STEPS.indexOf(step), done, of),
    verifyOrder,
    door: wiring.outlet(FRONT_DOOR),
    data: wiring.outlet(MARKET_DATA),
    markets: Array.from({ length: settings.shards }, (_, shard) => wiring.outlet(marketActor(shard))),
    checkpointMs: settings.checkpointMs,
    checkpointRecords: settings.checkpointRecords,
    checkpointRows: settings.checkpointRows,
    beat: () => wiring.beat(),
    elapsedMs: () => performance.now(),
    commitNs: (nanoseconds) => commits.record(nanoseconds),
    journalSequence: wiring.metrics.gauge('journal_sequence'),
    journalSize: ({ firstSequence, bytes }) => {
      journalFirst.set(firstSequence);
      journalBytes.set(bytes);
    },
    hooks: { wait: waitMs, crash: () => process.kill(process.pid, 'SIGKILL') },
  });
}

/** Blocks this thread: it has no event loop (operator-api.md 7.3 `delay_ms`). */
function waitMs(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

export const marketDataFactories: ActorFactories = { [MARKET_DATA]: createMarketData };

function createMarketData(wiring: ActorWiring): MarketDataActor {
  const settings = settingsOf(wiring);
  return new MarketDataActor({
    clock: wiring.clock,
    clearingLane: wiring.laneOf(CLEARING),
    openHistory: () => new History(openReader(settings.dataDirectory, { mapBytes: settings.mapBytes })),
    words: new NodeWords(settings.words),
    budget: new SharedBudget(settings.budget),
    listener: settings.mdsListener,
    counted: new EdgeMetrics(wiring.metrics),
    failed: marketDataFailed,
    pacingNs: () => process.hrtime.bigint(),
  });
}

/** An error on one socket closes that socket; the thread says so and goes on. */
function marketDataFailed(where: string, error: unknown): void {
  const reason = error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${JSON.stringify({ level: 'error', event: 'edge-failed', where, reason })}\n`);
}
