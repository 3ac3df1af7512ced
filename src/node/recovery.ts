/**
 * A start on what the disk holds (design §4, AMB-110): tables, then the journal behind them through the same function
 * that ran before. Everyone is told what lives (restoring.ts).
 *
 *   checkpoint clean, nothing behind it    the state of the stop                                    ┐ told while it is
 *   checkpoint, nothing behind it          its state; the restart is marked and sequences jump      ┘ loaded
 *   checkpoint, journal behind it          replay; the restart is marked and sequences jump         ┐ told afterwards
 *   no checkpoint, journal                 replay from the first record                             ┘
 *   nothing                                an empty node
 */

import { checkLedger, checkSums } from '../clearing/checks.ts';
import { applyBatch } from '../clearing/clearing.ts';
import { type LoadedOrder, StateLoader } from '../clearing/loading.ts';
import type { LoadedRow, OrderRow } from '../clearing/rows.ts';
import type { ClearingState } from '../clearing/state.ts';
import { StateHasher } from '../clearing/state-hash.ts';
import { assert } from '../core/assert.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { nativeSha256, nativeTextHash } from '../storage/sha256.ts';
import type { Durability, Recovery } from './durability.ts';
import { decodeBatch } from './journal-batch.ts';
import type { RecoveryProgress } from './recovery-steps.ts';

export interface Boot {
  readonly state: ClearingState;
  readonly sequence: Sequence;
  readonly checkpointed: Sequence;
  /** Time of the last batch; the clock must not go behind it. 0n when there is none. */
  readonly timeNs: TimestampNs;
  readonly clean: boolean;
  readonly isEmpty: boolean;
}

/** Hears what is loaded while it is loaded, and is never told of anything that a replay might change. */
export interface LoadListener {
  /** Everything but orders is there. @param isClean whether the last stop was in order. */
  tables(state: ClearingState, isClean: boolean): Iterable<void>;
  /** @param row a look. @param isSettled a restart leaves it as it is. */
  order(row: OrderRow, isSettled: boolean): void;
}

export interface RecoveryHearers {
  readonly tell?: RecoveryProgress;
  readonly listener?: LoadListener;
  /** Called now and then in what takes long without a `yield`. */
  readonly beat?: () => void;
}

const TELL_EVERY = 4_096;
/** Some hundred microseconds of work. */
const ROWS_PER_PART = 64;

/** All at once. @throws InvariantError when the disk contradicts itself: the node does not start. */
export function recoverState(durability: Pick<Durability, 'recover'>, tell?: RecoveryProgress): Boot {
  const parts = recoverParts(durability.recover(), tell === undefined ? {} : { tell });
  for (;;) {
    const part = parts.next();
    if (part.done === true) return part.value;
  }
}

/** The same in parts. @throws InvariantError when the disk contradicts itself: the node does not start. */
export function* recoverParts(recovery: Recovery, hearers: RecoveryHearers): Generator<void, Boot, undefined> {
  const checkpointed = recovery.checkpoint?.sequence ?? (0 as Sequence);
  const isWhole = recovery.batchCount === 0;
  const state = yield* load(recovery, isWhole, hearers);
  const sequence = yield* replay(state, recovery, checkpointed, hearers);
  const clean = isWhole && recovery.checkpoint?.clean === true;
  if (isWhole) checkSums(state);
  else checkLedger(state);
  return { state, sequence, checkpointed, timeNs: recovery.lastTimeNs, clean, isEmpty: sequence === 0 };
}

/** @param isWhole nothing lies behind the rows: what is loaded is what lives. */
function* load(
  { checkpoint, rows, rowCount }: Recovery,
  isWhole: boolean,
  { tell, listener, beat }: RecoveryHearers,
): Generator<void, ClearingState, undefined> {
  const loader = new StateLoader(nativeSha256);
  if (beat !== undefined) loader.state.beat = beat;
  const walk = new WholeWalk(loader.state, isWhole ? checkpoint : null, isWhole ? listener : undefined);
  let done = 0;
  for (const write of rows) {
    if (isOrder(write)) {
      if (!walk.hasTables) yield* walk.tables();
      const isSettled = loader.addOrder(write);
      if (write.row.end === 0) walk.order(write.row, isSettled);
    } else loader.add(write);
    done += 1;
    if (done % ROWS_PER_PART === 0) yield;
    if (done % TELL_EVERY === 0) tell?.('loading', done, rowCount);
  }
  if (done > 0) tell?.('loading', done, rowCount);
  if (!walk.hasTables) yield* walk.tables();
  const state = loader.finish();
  walk.end();
  return state;
}

/** What else is done with rows that say what lives: the hash of the last stop is checked, and the listener is told. */
class WholeWalk {
  hasTables = false;
  readonly #state: ClearingState;
  readonly #isClean: boolean;
  readonly #stateHash: string | null;
  readonly #hasher: StateHasher | null;
  readonly #listener: LoadListener | undefined;

  /** @param checkpoint that of the rows; null: what lives is another thing. */
  constructor(state: ClearingState, checkpoint: Recovery['checkpoint'], listener: LoadListener | undefined) {
    this.#state = state;
    this.#isClean = checkpoint?.clean === true;
    this.#stateHash = this.#isClean ? (checkpoint?.stateHash ?? null) : null;
    this.#hasher = this.#stateHash === null ? null : new StateHasher(state, nativeTextHash());
    this.#listener = listener;
  }

  /** Everything but orders is there. */
  *tables(): Generator<void> {
    this.hasTables = true;
    this.#hasher?.begin();
    if (this.#listener !== undefined) yield* this.#listener.tables(this.#state, this.#isClean);
  }

  /** A live one. */
  order(row: OrderRow, isSettled: boolean): void {
    this.#hasher?.order(row);
    this.#listener?.order(row, isSettled);
  }

  /** @throws InvariantError when it is not the state of the stop. */
  end(): void {
    if (this.#hasher === null) return;
    this.#hasher.end();
    assert(this.#hasher.digest() === this.#stateHash, 'the tables give the state of the stop');
  }
}

function isOrder(write: LoadedRow): write is LoadedOrder {
  return write.table === 'order' || write.table === 'storedOrder';
}

function* replay(
  state: ClearingState,
  { batches, batchCount }: Recovery,
  from: Sequence,
  { tell }: RecoveryHearers,
): Generator<void, Sequence, undefined> {
  let sequence = from;
  let done = 0;
  for (const record of batches) {
    assert(record.sequence === sequence + 1, 'the journal goes on behind the checkpoint without a gap');
    applyBatch(state, decodeBatch(record.payload), []);
    sequence = record.sequence;
    state.beat();
    done += 1;
    if (done % TELL_EVERY === 0) tell?.('replaying', done, batchCount);
    yield;
  }
  if (done > 0) tell?.('replaying', done, batchCount);
  return sequence;
}
