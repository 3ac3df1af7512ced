/**
 * A start on what the disk holds (design §5, AMB-110): tables, then the journal behind them through the same function
 * that ran before. What lives is then sent to all who hold a view of it (restoring.ts).
 *
 *   tables ──loaded, checked──▶ journal behind the checkpoint ──replayed──▶ recounted ──▶ restart (clearing-actor.ts)
 *
 *   checkpoint clean, nothing behind it    the state of the stop
 *   checkpoint, nothing behind it          its state; the restart is marked and sequences jump
 *   checkpoint, journal behind it          replay; the restart is marked and sequences jump
 *   no checkpoint, journal                 replay from the first record
 *   nothing                                an empty node
 */

import { assert } from '../core/assert.ts';
import type { HashKey } from '../core/key-words.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { checkLedger, checkSums } from './checks.ts';
import { applyBatch } from './clearing.ts';
import type { Durability, Recovery } from './durability.ts';
import { decodeBatch } from './journal-batch.ts';
import type { RecoveryProgress } from './recovery-steps.ts';
import { nativeBytesHash, nativeSha256 } from './sha256.ts';
import type { ClearingState } from './state.ts';
import { stateHash } from './state-hash.ts';
import { StateLoader } from './tables.ts';

export interface Boot {
  readonly state: ClearingState;
  readonly sequence: Sequence;
  readonly checkpointed: Sequence;
  /** Time of the last batch; the clock must not go behind it. 0n when there is none. */
  readonly timeNs: TimestampNs;
  readonly clean: boolean;
  readonly isEmpty: boolean;
}

export interface RecoveryOptions {
  readonly progress?: RecoveryProgress;
  /** As createClearingState's. */
  readonly key?: HashKey;
}

const PROGRESS_EVERY = 4_096;
/** Some hundred microseconds of work. */
const ROWS_PER_PART = 64;

/** All at once. @throws InvariantError when the disk contradicts itself. */
export function recoverState(durability: Pick<Durability, 'recover'>, progress?: RecoveryProgress): Boot {
  const parts = recoverParts(durability.recover(), progress === undefined ? {} : { progress });
  for (;;) {
    const part = parts.next();
    if (part.done === true) return part.value;
  }
}

/** The same in parts. @throws InvariantError when the disk contradicts itself: the node does not start. */
export function* recoverParts(recovery: Recovery, options: RecoveryOptions): Generator<void, Boot, undefined> {
  const { checkpoint, batchCount } = recovery;
  const checkpointed = checkpoint?.sequence ?? (0 as Sequence);
  const clean = batchCount === 0 && checkpoint?.clean === true;
  const loader = new StateLoader(nativeSha256, options.key);
  const { state } = loader;
  yield* load(recovery, loader, options);
  if (clean && checkpoint.stateHash !== null) {
    assert(stateHash(state, nativeBytesHash()) === checkpoint.stateHash, 'the tables give the state of the stop');
  }
  const sequence = yield* replay(state, recovery, checkpointed, options);
  // What orders hold was summed up from their rows a moment ago: without a replay there is nothing to recount.
  if (batchCount === 0) checkSums(state);
  else checkLedger(state);
  return { state, sequence, checkpointed, timeNs: recovery.lastTimeNs, clean, isEmpty: sequence === 0 };
}

function* load(
  { rows, rowCount }: Recovery,
  loader: StateLoader,
  { progress }: RecoveryOptions,
): Generator<void, void, undefined> {
  let done = 0;
  for (const write of rows) {
    loader.add(write);
    done += 1;
    if (done % ROWS_PER_PART === 0) yield;
    if (done % PROGRESS_EVERY === 0) progress?.('loading', done, rowCount);
  }
  if (done > 0) progress?.('loading', done, rowCount);
  loader.finish();
}

function* replay(
  state: ClearingState,
  { batches, batchCount }: Recovery,
  from: Sequence,
  { progress }: RecoveryOptions,
): Generator<void, Sequence, undefined> {
  let sequence = from;
  let done = 0;
  // mutant: replay-all-batches
  for (const record of batches) {
    assert(record.sequence === sequence + 1, 'the journal goes on behind the checkpoint without a gap');
    applyBatch(state, decodeBatch(record.payload), []);
    sequence = record.sequence;
    done += 1;
    if (done % PROGRESS_EVERY === 0) progress?.('replaying', done, batchCount);
    yield;
  }
  if (done > 0) progress?.('replaying', done, batchCount);
  return sequence;
}
