/**
 * A start on what the disk holds (design §4, AMB-110): tables, then the journal behind them through the same function
 * that ran before. Then everyone is told what lives (restoring.ts).
 *
 *   checkpoint clean, nothing behind it    the state of the stop
 *   checkpoint, journal behind it          replay; then the restart is marked and sequences jump
 *   no checkpoint, journal                 replay from the first record
 *   nothing                                an empty node
 */
import { loadState } from '../clearing/checkpoint.ts';
import { checkLedger, checkSums } from '../clearing/checks.ts';
import { applyBatch } from '../clearing/clearing.ts';
import type { ClearingState } from '../clearing/state.ts';
import { stateHash } from '../clearing/state-hash.ts';
import { assert } from '../core/assert.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { nativeSha256, nativeTextHash } from '../storage/sha256.ts';
import type { Durability, JournaledBatch } from './durability.ts';
import { decodeBatch } from './journal-batch.ts';

export interface Boot {
  readonly state: ClearingState;
  readonly sequence: Sequence;
  readonly checkpointed: Sequence;
  /** Time of the last batch; the clock must not go behind it. 0n when there is none. */
  readonly timeNs: TimestampNs;
  readonly clean: boolean;
  readonly isEmpty: boolean;
}

export const RECOVERY_STEPS = ['loading', 'replaying', 'restoring'] as const;
export type RecoveryStep = (typeof RECOVERY_STEPS)[number];
/** Told now and then: rows loaded, records replayed, users and orders restored, of how many. */
export type RecoveryProgress = (step: RecoveryStep, done: number, of: number) => void;

const TELL_EVERY = 4_096;

/** @throws InvariantError when the disk contradicts itself: the node does not start. */
export function recoverState(durability: Pick<Durability, 'recover'>, tell: RecoveryProgress = () => undefined): Boot {
  const recovery = durability.recover();
  const checkpointed = recovery.checkpoint?.sequence ?? (0 as Sequence);
  const { rowCount, batchCount } = recovery;
  const rows = counted(recovery.rows, (done) => tell('loading', done, rowCount));
  const state = loadState(rows, nativeSha256);
  const batches = counted(recovery.batches, (done) => tell('replaying', done, batchCount));
  const sequence = replay(state, batches, checkpointed);
  const clean = recovery.checkpoint?.clean === true && sequence === checkpointed;
  if (clean && recovery.checkpoint?.stateHash !== null) {
    assert(
      stateHash(state, nativeTextHash()) === recovery.checkpoint?.stateHash,
      'the tables give the state of the stop',
    );
  }
  if (sequence === checkpointed) checkSums(state);
  else checkLedger(state);
  return { state, sequence, checkpointed, timeNs: recovery.lastTimeNs, clean, isEmpty: sequence === 0 };
}

/** The same items; says now and then how many there were. */
function* counted<T>(items: Iterable<T>, tell: (done: number) => void): Generator<T> {
  let done = 0;
  for (const item of items) {
    yield item;
    done += 1;
    if (done % TELL_EVERY === 0) tell(done);
  }
  if (done > 0) tell(done);
}

function replay(state: ClearingState, batches: Iterable<JournaledBatch>, from: Sequence): Sequence {
  let sequence = from;
  for (const record of batches) {
    assert(record.sequence === sequence + 1, 'the journal goes on behind the checkpoint without a gap');
    applyBatch(state, decodeBatch(record.payload), []);
    sequence = record.sequence;
  }
  return sequence;
}
