/**
 * The ids of finished orders, in the order in which the orders ended: what must not be used again (AMB-08), and what
 * goes first when there is too much.
 *
 *   list of (user, market)   │ run │ run │ …   each what one checkpoint added, at most RUN_ENTRIES_MAX ids
 *                               └─ about the same orders as one finished run (runs.ts), whose key it names
 *
 * Invariants
 *   (1) An id is in one run, and in it as long as its order's record is there.
 *   (2) Every run has an entry in `dueRun` at or before its first last update. One without its run may remain; it is
 *       removed when it is due.
 *
 * Not here: what goes when (finished-orders.ts), how many ids a list holds (id-lists.ts).
 */
import type { DurableIds, Tombstone } from '../clearing/durability.ts';
import type { OrderId } from '../core/ids.ts';
import { ORDER_LIFE_NS } from '../core/limits.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { ByteWriter } from '../schema/byte-writer.ts';
import { bytes, type Field, flag, list, safe, struct, text, u64 } from '../schema/row-fields.ts';
import type { Entry, StorageReader, Write } from './environment.ts';
import { decodeFrame, encodeFrame } from './frames.ts';
import { readIdList } from './id-lists.ts';
import { endOf, KeyWriter, keyWriter, type ListName, TABLE, type Table } from './key-layout.ts';
import { listNameOf } from './runs.ts';

/** Table and first last update: what a key in `dueRun` has before the key of its run. */
const DUE_PREFIX_BYTES = 9;
const RUNS_PER_STEP = 64;

/** A finished order in its run of ids. */
export interface IdEntry {
  readonly orderId: OrderId;
  readonly orderSequence: Sequence;
  readonly creationNs: TimestampNs;
  readonly lastUpdateNs: TimestampNs;
  /** Whether a cancel of it is answered ALREADY_CANCELLED (AMB-23). */
  readonly wasCancelled: boolean;
}

export interface IdRun {
  /** Key of the finished run of the same orders. */
  readonly finishedRun: Uint8Array;
  /** The one that ended first comes first. */
  readonly entries: readonly IdEntry[];
}

const ID_ENTRY: Field<IdEntry> = struct<IdEntry>({
  orderId: text,
  orderSequence: safe,
  creationNs: u64,
  lastUpdateNs: u64,
  wasCancelled: flag,
});
const ID_RUN: Field<IdRun> = struct<IdRun>({ finishedRun: bytes, entries: list(ID_ENTRY) });

/** Where a checkpoint's chunk is in its list: behind all of earlier checkpoints. */
export function idRunKey(keys: KeyWriter, name: ListName, checkpoint: number, chunk: number): Uint8Array {
  return keys.run(TABLE.idRun, name, (to) => {
    to.safe(checkpoint);
    to.u32(chunk);
  });
}

/** The run, and when to look at it. @param run holds at least one entry. */
export function* idRunWrites(to: ByteWriter, key: Uint8Array, run: IdRun): Generator<Write, void, undefined> {
  yield { key, value: encodeFrame(to, key, () => ID_RUN.write(to, run)) };
  let [{ lastUpdateNs: firstNs } = { lastUpdateNs: 0n as TimestampNs }] = run.entries;
  for (const { lastUpdateNs } of run.entries) if (lastUpdateNs < firstNs) firstNs = lastUpdateNs;
  const due = new KeyWriter(to).dueRun(firstNs, key);
  yield { key: due, value: encodeFrame(to, due, () => undefined) };
}

export function decodeIdRun({ key, value }: Entry): IdRun {
  return decodeFrame(key, value, ID_RUN.read);
}

/** The run that an entry of `dueRun` is about. */
export function dueRunOf({ key, value }: Entry): Uint8Array {
  decodeFrame(key, value, () => undefined);
  return key.subarray(DUE_PREFIX_BYTES);
}

/** The runs of one list from the one that ended first, still encoded. @param from a key among them, or null for all. */
export function idRunsOf(
  reader: StorageReader,
  { user, marketIndex }: ListName,
  from: Uint8Array | null,
): Generator<Entry, void, undefined> {
  const list = keyWriter().ofUser(TABLE.idRun, user, marketIndex);
  return reader.entries({ from: from ?? list, to: endOf(list), perStep: RUNS_PER_STEP });
}

/** A finished order's id, which its user may not use again in this market before creation + 30 days (AMB-08). */
interface RememberedId extends Tombstone {
  readonly orderSequence: Sequence;
}

/** The ids that are taken at `nowNs` by finished orders: user by user, market by market, in the order in which they ended. */
export function* loadRememberedIds(
  reader: StorageReader,
  nowNs: TimestampNs,
): Generator<RememberedId, void, undefined> {
  for (const { key, value } of tableEntries(reader, TABLE.idRun)) {
    const name = listNameOf(key);
    for (const { orderId, orderSequence, creationNs, wasCancelled } of decodeIdRun({ key, value }).entries) {
      if (creationNs + ORDER_LIFE_NS > nowNs) yield { ...name, orderId, orderSequence, creationNs, wasCancelled };
    }
  }
}

/** The watermarks of evicted ids. */
export function* loadIdWatermarks(reader: StorageReader): Generator<DurableIds, void, undefined> {
  for (const entry of tableEntries(reader, TABLE.idList)) {
    const { watermarkNs } = readIdList(entry);
    if (watermarkNs !== null) yield { ...listNameOf(entry.key), creationNs: watermarkNs };
  }
}

function tableEntries(reader: StorageReader, table: Table): Generator<Entry, void, undefined> {
  const from = keyWriter().table(table);
  return reader.entries({ from, to: endOf(from), perStep: RUNS_PER_STEP });
}
