/**
 * Records of the journal as they are applied when they were written before: in a replay, and by a node that follows.
 *
 * Not here: chain, sequence and form of records (storage/journal.ts).
 */
import { assert } from '../core/assert.ts';
import { applyBatch } from './clearing.ts';
import type { Effect } from './effects.ts';
import type { Batch, Takeover } from './inputs.ts';
import { decodeBatch } from './journal-batch.ts';
import type { ClearingState } from './state.ts';

/** A record as a replay applies it. */
export interface RecordToApply {
  /** The epoch in its header. */
  readonly epoch: number;
  readonly payload: Uint8Array;
}

/**
 * Applies a record that was journaled before, here or on another machine.
 *
 * @returns the batch that it held. @throws InvariantError when its epoch is not what the records before it lead to.
 */
export function applyRecord(state: ClearingState, record: RecordToApply, effects: Effect[]): Batch {
  const batch = decodeBatch(record.payload);
  checkRecord(state, record.epoch, batch);
  applyBatch(state, batch, effects);
  return batch;
}

/** @throws InvariantError unless the record may follow what is applied. */
export function checkRecord({ leadership }: ClearingState, epoch: number, { inputs }: Pick<Batch, 'inputs'>): void {
  const takeover = inputs.find((input): input is Takeover => input.kind === 'takeover');
  const isLeaders = takeover !== undefined || inputs.some(({ kind }) => kind === 'handover');
  assert(!isLeaders || inputs.length === 1, 'a takeover and a handover are alone in their records');
  // mutant: epoch-of-the-header
  assert(epoch === (takeover?.epoch ?? leadership.epoch), `a record of epoch ${epoch} under epoch ${leadership.epoch}`);
  // mutant: nothing-after-a-handover
  assert(
    leadership.handover === null || takeover !== undefined || inputs[0]?.kind === 'restarted',
    'behind a handover comes a takeover',
  );
}
