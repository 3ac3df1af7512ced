/**
 * A state beside another one that applies the same batches and is loaded from its tables again and again, as if a node had
 * restarted there or another one followed: it must record the same outcomes, byte for byte, and so give the same rows.
 */
import assert from 'node:assert/strict';
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { Batch } from '../../src/clearing/inputs.ts';
import { OutcomeRecorder } from '../../src/clearing/outcomes.ts';
import { type ClearingState, createClearingState } from '../../src/clearing/state.ts';
import { canCheckpoint } from '../../src/clearing/tables.ts';
import { viewsOf } from '../../src/core/views.ts';
import { RowWriter } from '../../src/evidence/row-bytes.ts';
import { PlainTables } from './clearing-world.ts';

/** The rows of outcomes, for what a test prints. */
export function rowsOf(outcomes: Uint8Array): string[] {
  const copy = outcomes.slice();
  const sink = { nextOf: () => ({ n: 1, previous: '00' }), row: (): void => undefined };
  const { bytes } = new RowWriter().write(
    { sequence: 1, timeNs: 1n },
    viewsOf(copy.buffer, 0, copy.length),
    0,
    copy.length,
    sink,
  );
  return Buffer.from(bytes).toString('utf8').split('\n');
}

export class RowMirror {
  state: ClearingState = createClearingState();
  readonly #recorder = new OutcomeRecorder();
  readonly #tables = new PlainTables();
  readonly #every: number;
  #batches = 0;

  /** @param every so many batches it is loaded anew. */
  constructor(every: number) {
    this.#every = every;
  }

  /** @param outcomes what the other state has recorded of the batch. */
  apply(batch: Batch, outcomes: Uint8Array): void {
    this.#batches += 1;
    if (this.#batches % this.#every === 0 && canCheckpoint(this.state)) {
      this.#tables.checkpoint(this.state);
      this.state = this.#tables.load();
    }
    this.state.outcomes = this.#recorder;
    applyBatch(this.state, batch, []);
    const { bytes } = this.#recorder;
    if (Buffer.compare(bytes, outcomes) === 0) return;
    assert.deepEqual(rowsOf(bytes), rowsOf(outcomes), `rows of batch ${this.#batches}`);
    assert.fail(`outcomes of batch ${this.#batches} differ, and their rows do not`);
  }
}

/** Applies batches that a world has applied to a mirror. @param outcomes what the world recorded of each. */
export function assertMirrored(journal: readonly Batch[], outcomes: readonly Uint8Array[], every: number): void {
  assert.equal(outcomes.length, journal.length);
  const mirror = new RowMirror(every);
  for (const [place, batch] of journal.entries()) mirror.apply(batch, outcomes[place] as Uint8Array);
}
