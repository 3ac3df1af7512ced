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
import type { Durability, JournaledBatch, Recovery } from './durability.ts';
import type { ClearingOrder } from './live-orders.ts';
import { applyRecord } from './records.ts';
import type { RecoveryProgress } from './recovery-steps.ts';
import type { RowWrite } from './rows.ts';
import { nativeBytesHash, nativeSha256 } from './sha256.ts';
import type { ClearingState } from './state.ts';
import { LoadingHash } from './state-hash.ts';
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
  /** The hash key of createClearingState. */
  readonly key?: HashKey;
  /** Called when the tables are loaded, before anything is replayed. */
  readonly loaded?: (state: ClearingState, sequence: Sequence) => void;
  /** Called with each record that was replayed. */
  readonly replayed?: (record: JournaledBatch, timeNs: TimestampNs) => void;
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
  const { batchCount, rowCount, orderCount } = recovery;
  const load = new TableLoad(recovery, options);
  yield* load.ledger(rowCount);
  let done = rowCount - orderCount;
  for (const _ of load.orders()) {
    done += 1;
    if (done % ROWS_PER_PART === 0) yield;
    if (done % PROGRESS_EVERY === 0) options.progress?.('loading', done, rowCount);
  }
  if (rowCount > 0) options.progress?.('loading', rowCount, rowCount);
  options.loaded?.(load.state, load.checkpointed);
  const sequence = yield* replay(load.state, recovery, load.checkpointed, options);
  // What orders hold was summed up from their rows a moment ago: without a replay there is nothing to recount.
  if (batchCount > 0) checkLedger(load.state);
  return load.bootAt(sequence);
}

/**
 * The tables of the last checkpoint on their way into memory: all that orders name, then the orders one by one. An order
 * that was given is complete, and what is done with it changes no other that is yet to come: so where no journal is to be
 * replayed, it can be sent while others are loaded.
 */
export class TableLoad {
  /** The state with the rows that were loaded so far. */
  readonly state: ClearingState;
  readonly checkpointed: Sequence;
  /** Whether this is the state of an orderly stop. */
  readonly clean: boolean;
  readonly #recovery: Recovery;
  readonly #progress: RecoveryProgress;
  readonly #loader: StateLoader;
  readonly #rows: Iterator<RowWrite>;
  /** The first order, which ended the walk through the other tables. */
  #next: RowWrite | null = null;
  #hash: LoadingHash | null = null;

  constructor(recovery: Recovery, { progress = () => undefined, key }: RecoveryOptions) {
    const { checkpoint, batchCount, rows } = recovery;
    this.#recovery = recovery;
    this.#progress = progress;
    this.#loader = new StateLoader(nativeSha256, key);
    this.#rows = rows[Symbol.iterator]();
    this.state = this.#loader.state;
    this.checkpointed = checkpoint?.sequence ?? (0 as Sequence);
    this.clean = batchCount === 0 && checkpoint?.clean === true;
  }

  /** What a start begins with. @param sequence of the journal, up to which all is applied. */
  bootAt(sequence: Sequence): Boot {
    const { state, checkpointed, clean } = this;
    return { state, sequence, checkpointed, timeNs: this.#recovery.lastTimeNs, clean, isEmpty: sequence === 0 };
  }

  /**
   * Everything but orders. @yields after each part. @throws InvariantError when it contradicts itself.
   *
   * @param of rows whose loading is reported.
   */
  *ledger(of: number): Generator<void, void, undefined> {
    let done = 0;
    for (let row = this.#nextRow(); row !== null; row = this.#nextRow()) {
      if (row.table === 'order') {
        this.#next = row;
        break;
      }
      this.#loader.add(row);
      done += 1;
      if (done % ROWS_PER_PART === 0) yield;
      if (done % PROGRESS_EVERY === 0) this.#progress('loading', done, of);
    }
    if (done > 0) this.#progress('loading', done, of);
    this.#loader.finish();
    if (this.#recovery.batchCount === 0) checkSums(this.state);
    if (this.clean && this.#recovery.checkpoint?.stateHash !== null) {
      this.#hash = new LoadingHash(this.state, nativeBytesHash());
    }
  }

  /**
   * The live orders, market by market in the order of their admission. Each is the caller's to change or to finish before
   * it takes the next.
   *
   * @throws InvariantError at the first that is damaged, and behind the last when these are not those of the stop.
   */
  *orders(): Generator<ClearingOrder, void, undefined> {
    for (let row = this.#next; row !== null; row = this.#nextRow()) {
      assert(row.table === 'order', 'orders are loaded last');
      const order = this.#loader.addOrder(row.row);
      if (order === null) continue;
      this.#hash?.order(order);
      yield order;
    }
    const isRight = this.#hash === null || this.#hash.digest() === this.#recovery.checkpoint?.stateHash;
    assert(isRight, 'the tables give the state of the stop');
  }

  #nextRow(): RowWrite | null {
    const { done, value } = this.#rows.next();
    return done === true ? null : value;
  }
}

function* replay(
  state: ClearingState,
  { batches, batchCount }: Recovery,
  from: Sequence,
  { progress, replayed }: RecoveryOptions,
): Generator<void, Sequence, undefined> {
  let sequence = from;
  let done = 0;
  // mutant: replay-all-batches
  for (const record of batches) {
    assert(record.sequence === sequence + 1, 'the journal goes on behind the checkpoint without a gap');
    const { timeNs } = applyRecord(state, record, []);
    replayed?.(record, timeNs);
    sequence = record.sequence;
    done += 1;
    if (done % PROGRESS_EVERY === 0) progress?.('replaying', done, batchCount);
    yield;
  }
  if (done > 0) progress?.('replaying', done, batchCount);
  return sequence;
}
