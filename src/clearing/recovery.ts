/**
 * A start on what the disk holds (design §4, AMB-110): tables, then the journal behind them through the same function
 * that ran before. Everyone is told what lives (restoring.ts).
 *
 *   journal behind the checkpoint ──looked through──▶ which orders it may change
 *   tables ──loaded, checked, and told but for those──▶ journal replayed ──▶ restart ──▶ the rest is told
 *
 *   checkpoint clean, nothing behind it    the state of the stop
 *   checkpoint, nothing behind it          its state; the restart is marked and sequences jump
 *   checkpoint, journal behind it          replay; the restart is marked and sequences jump
 *   no checkpoint, journal                 replay from the first record
 *   nothing                                an empty node
 */

import { assert } from '../core/assert.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { checkLedger, checkSums } from './checks.ts';
import { applyBatch } from './clearing.ts';
import type { Durability, Recovery } from './durability.ts';
import { decodeBatch } from './journal-batch.ts';
import { LateOrders } from './late-orders.ts';
import { type LoadedOrder, type OtherRow, StateLoader } from './loading.ts';
import type { RecoveryProgress } from './recovery-steps.ts';
import { ReplayChecks } from './replay-checks.ts';
import { ReplayReach } from './replay-reach.ts';
import type { LoadedRow, OrderRow } from './rows.ts';
import { nativeBytesHash, nativeSha256 } from './sha256.ts';
import type { ClearingState } from './state.ts';
import { StateHasher } from './state-hash.ts';

export interface Boot {
  readonly state: ClearingState;
  /** Those of its orders that no listener was told. */
  readonly late: LateOrders;
  readonly sequence: Sequence;
  readonly checkpointed: Sequence;
  /** Time of the last batch; the clock must not go behind it. 0n when there is none. */
  readonly timeNs: TimestampNs;
  readonly clean: boolean;
  readonly isEmpty: boolean;
}

/** Hears what is loaded while it is loaded. */
export interface LoadListener {
  /** A row that is no order, as it was at the checkpoint: what is replayed has yet to change it. */
  row(write: OtherRow): void;
  /** All of those are there. */
  tables(state: ClearingState): Iterable<void>;
  /** @param row a look; neither replay nor restart changes it. */
  order(row: OrderRow): void;
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

/** All at once; after a replay everything is recounted. @throws InvariantError when the disk contradicts itself. */
export function recoverState(durability: Pick<Durability, 'recover'>, tell?: RecoveryProgress): Boot {
  const parts = recoverParts(durability.recover(), tell === undefined ? {} : { tell });
  for (;;) {
    const part = parts.next();
    if (part.done !== true) continue;
    const boot = part.value;
    if (boot.sequence > boot.checkpointed) checkLedger(boot.state);
    return boot;
  }
}

/** The same in parts. @throws InvariantError when the disk contradicts itself: the node does not start. */
export function* recoverParts(recovery: Recovery, hearers: RecoveryHearers): Generator<void, Boot, undefined> {
  const checkpointed = recovery.checkpoint?.sequence ?? (0 as Sequence);
  const isWhole = recovery.batchCount === 0;
  const clean = isWhole && recovery.checkpoint?.clean === true;
  const loader = new StateLoader(nativeSha256, yield* reachOf(recovery));
  const { state } = loader;
  if (hearers.beat !== undefined) state.beat = hearers.beat;
  const walk = new LoadWalk(state, clean ? recovery.checkpoint : null, hearers.listener);
  yield* load(recovery, loader, walk, hearers);
  const { late } = walk;
  const checks = isWhole ? null : new ReplayChecks(state, late);
  const sequence = yield* replay(state, recovery, checkpointed, hearers);
  checkSums(state);
  checks?.check();
  return { state, late, sequence, checkpointed, timeNs: recovery.lastTimeNs, clean, isEmpty: sequence === 0 };
}

/** What the journal behind the rows may change of them; null for nothing. */
function* reachOf({ batches, batchCount, rowCount }: Recovery): Generator<void, ReplayReach | null, undefined> {
  if (batchCount === 0 || rowCount === 0) return null;
  const reach = new ReplayReach();
  for (const { payload } of batches) {
    reach.add(decodeBatch(payload));
    yield;
  }
  return reach;
}

function* load(
  { rows, rowCount }: Recovery,
  loader: StateLoader,
  walk: LoadWalk,
  { tell }: RecoveryHearers,
): Generator<void> {
  let done = 0;
  for (const write of rows) {
    if (isOrder(write)) {
      if (!walk.hasTables) yield* walk.tables();
      const isSettled = loader.addOrder(write);
      if (write.row.end === 0) walk.order(write.row, isSettled);
    } else {
      loader.add(write);
      walk.row(write);
    }
    done += 1;
    if (done % ROWS_PER_PART === 0) yield;
    if (done % TELL_EVERY === 0) tell?.('loading', done, rowCount);
  }
  if (done > 0) tell?.('loading', done, rowCount);
  if (!walk.hasTables) yield* walk.tables();
  loader.finish();
  walk.end();
}

/** What else is done with rows: the hash of the last stop is checked, and the listener is told what stays as it is. */
class LoadWalk {
  hasTables = false;
  readonly late: LateOrders = new LateOrders();
  readonly #state: ClearingState;
  readonly #stateHash: string | null;
  readonly #hasher: StateHasher | null;
  readonly #listener: LoadListener | undefined;

  /** @param stop the checkpoint of a stop in order; null: the state of the rows has no hash. */
  constructor(state: ClearingState, stop: Recovery['checkpoint'], listener: LoadListener | undefined) {
    this.#state = state;
    this.#stateHash = stop?.stateHash ?? null;
    this.#hasher = this.#stateHash === null ? null : new StateHasher(state, nativeBytesHash());
    this.#listener = listener;
  }

  row(write: OtherRow): void {
    this.#listener?.row(write);
  }

  /** Everything but orders is there. */
  *tables(): Generator<void> {
    this.hasTables = true;
    this.#hasher?.begin();
    if (this.#listener !== undefined) yield* this.#listener.tables(this.#state);
  }

  /** A live one. */
  order(row: OrderRow, isSettled: boolean): void {
    this.#hasher?.order(row);
    this.late.loaded(row, isSettled);
    if (isSettled) this.#listener?.order(row);
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
  // mutant: replay-all-batches
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
