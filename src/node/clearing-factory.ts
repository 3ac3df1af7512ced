/** The clearing engine, made from its wiring and the node's settings; workers/clearing.ts boots it. */

import { ClearingActor, type ClearingOptions } from '../clearing/clearing-actor.ts';
import { CURVE_K_MAX } from '../clearing/funds/rebalancing.ts';
import { ClearingEnd } from '../clearing/log-codec.ts';
import { type OrderVerifiers, verifyOrder, verifyQuoteSet } from '../clearing/order-verdict.ts';
import type { OutcomeLink } from '../clearing/outcome-codec.ts';
import { RECOVERY_STEPS } from '../clearing/recovery-steps.ts';
import type { Replication } from '../clearing/replication.ts';
import { CLEARING, EVIDENCE, GATEWAY, MARKET_DATA, marketActor, REPLICATOR } from '../core/actor-names.ts';
import { format18 } from '../core/decimal.ts';
import { hashKeyOf } from '../core/key-words.ts';
import type { Amount18, Sequence } from '../core/units.ts';
import { Attestations } from '../crypto/attestations.ts';
import type { ActorFactories, ActorWiring } from '../runtime/actor.ts';
import { SharedClock } from '../runtime/clock.ts';
import { Leadership } from '../runtime/leadership.ts';
import { LogLane } from '../runtime/log-buffer.ts';
import { createLogger } from '../runtime/logging.ts';
import { LmdbDurability } from '../storage/lmdb-durability.ts';
import { LiquidationMonitor } from './liquidation-monitor.ts';
import { NodeWords } from './node-words.ts';
import { settingsOf } from './worker-settings.ts';

export const clearingFactories: ActorFactories = { [CLEARING]: createClearing };

function createClearing(wiring: ActorWiring): ClearingActor {
  const settings = settingsOf(wiring);
  const words = new NodeWords(settings.words);
  const leadership = new Leadership(settings.leadership);
  const journalSequence = wiring.metrics.gauge('journal_sequence');
  // Until then its thread has loaded its modules, which is all that it may do.
  words.waitUntilChecked(() => wiring.heartbeat());
  const commits = wiring.metrics.histogram('commit_ns');
  const journalBytes = wiring.metrics.gauge('journal_bytes');
  const journalFirst = wiring.metrics.gauge('journal_first_sequence');
  const checkpoints = wiring.metrics.histogram('checkpoint_ns');
  const checkpointRows = wiring.metrics.counter('checkpoint_rows');
  const checkpointSequence = wiring.metrics.gauge('checkpoint_sequence');
  const ledgerDifference = wiring.metrics.gauge('ledger_difference');
  const stream = new LogLane(settings.logs, 'clearing');
  const log = createLogger({ name: CLEARING, level: settings.logLevel, stream });
  const monitor = new LiquidationMonitor(wiring.metrics, log, () => performance.now());
  const attestations = new Attestations(settings.attestations);
  const dropped = wiring.metrics.counter('attestations_dropped');
  const attested = wiring.metrics.counter('orders_attested');
  const verified = wiring.metrics.counter('orders_verified');
  const verifiers: OrderVerifiers = {
    webauthn: settings.webauthn,
    isAttested: (key, text, signatures) => {
      const isAttested = attestations.has(key, text, signatures);
      (isAttested ? attested : verified).add(1);
      return isAttested;
    },
  };
  const durability = new LmdbDurability(settings.dataDirectory, {
    mapBytes: settings.mapBytes,
    // The main thread claimed the directory before there were threads, and gives it free when they have ended.
    lock: { epoch: words.epoch(), release: () => undefined },
  });
  return new ClearingActor({
    liquidationEvent: (event) => monitor.event(event),
    atRiskCounts: (counts) => monitor.counts(counts),
    backstopFigures: (figures) => monitor.backstop(figures),
    clock: wiring.clock,
    notBefore: (timeNs) => {
      if (wiring.clock instanceof SharedClock) wiring.clock.setTo(timeNs);
    },
    durability,
    replication: replicationOf(wiring, durability, log),
    evidence: evidenceOf(wiring, words),
    evidenceBehind: behindOf(wiring),
    rebalancingAtStart: ({ pools, curves }) => {
      for (const { asset, missing } of pools) {
        log.warn(
          { asset, missing: format18(missing) },
          'a rebalancing pool below zero is filled from the fee account, then from the capital of the backstop',
        );
      }
      for (const { asset, k, isAboveMax, hasOtherSum } of curves) {
        if (isAboveMax)
          log.warn({ asset, k, counts: format18(CURVE_K_MAX as Amount18) }, 'k of a rebalancing curve is too large');
        if (hasOtherSum) log.warn({ asset }, 'target weights do not add up to 1 and count in relation to their sum');
      }
    },
    recovering: (step, done, of) => words.setRecovery(1 + RECOVERY_STEPS.indexOf(step), done, of),
    takeAttestations: () => dropped.add(attestations.drain()),
    verifyOrder: (order) => verifyOrder(order, verifiers),
    verifyQuoteSet: (set) => verifyQuoteSet(set, verifiers),
    idKey: hashKeyOf(settings.hashSeed),
    gateway: wiring.publication(GATEWAY),
    data: wiring.publication(MARKET_DATA),
    trace: wiring.trace,
    markets: Array.from({ length: settings.shards }, (_, shard) => wiring.publication(marketActor(shard))),
    checkpointMs: settings.checkpointMs,
    checkpointRecords: settings.checkpointRecords,
    checkpointRows: settings.checkpointRows,
    heartbeat: () => wiring.heartbeat(),
    elapsedMs: () => performance.now(),
    commitNs: (nanoseconds) => commits.record(nanoseconds),
    checkpointed: ({ ns, rows, sequence }) => {
      checkpoints.record(ns);
      checkpointRows.add(rows);
      checkpointSequence.set(sequence);
    },
    ledgerDifference: (amount) => ledgerDifference.set(Number(format18(amount as Amount18))),
    liquidationCounts: (counts) => monitor.rounds(counts),
    working: wiring.metrics.gauge('working'),
    journalSequence: {
      set: (sequence) => {
        journalSequence.set(sequence);
        leadership.setSequence(sequence);
      },
    },
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

/** Null where none is kept. */
function evidenceOf(wiring: ActorWiring, words: NodeWords): OutcomeLink | null {
  if (settingsOf(wiring).evidence === null) return null;
  const extent = words.evidence();
  return {
    publication: wiring.publication(EVIDENCE),
    channel: wiring.channelOf(EVIDENCE),
    extent: extent === null ? null : { first: extent.first as Sequence, durable: extent.durable as Sequence },
  };
}

function behindOf({ metrics }: ActorWiring): NonNullable<ClearingOptions['evidenceBehind']> {
  const records = metrics.gauge('evidence_behind_records');
  const seconds = metrics.gauge('evidence_behind_s');
  const bytes = metrics.gauge('evidence_behind_bytes');
  const isHeld = metrics.gauge('evidence_holds');
  return (behind, holds) => {
    records.set(behind.records);
    seconds.set(behind.ms / 1_000);
    bytes.set(behind.bytes);
    isHeld.set(holds ? 1 : 0);
  };
}

/** Null on one machine. */
function replicationOf(
  wiring: ActorWiring,
  journal: LmdbDurability,
  log: ReturnType<typeof createLogger>,
): Replication | null {
  const { log: begins, leadership: memory } = settingsOf(wiring);
  if (begins === undefined) return null;
  const end = new ClearingEnd(wiring.publication(REPLICATOR), begins);
  const leadership = new Leadership(memory);
  return {
    log: end,
    journal,
    inbox: { channel: wiring.channelOf(REPLICATOR), hasRoom: end.hasRoom, receive: end.receive },
    hasEnded: () => leadership.state() === 'ended',
    dropped: (sequence) =>
      log.error({ sequence }, 'the last record of the journal is not in the stream: it is kept in dropped/'),
  };
}
