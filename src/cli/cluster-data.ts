/**
 * The commands of a cluster that make or read data directories (cluster.md 9, 12): what a stream begins with, how a node begins
 * without one, and how a stream gets back what it has lost.
 *
 *   init DIR          last record of DIR ─▶ bucket: its snapshot ─▶ a stream that begins behind it
 *   init --next DIR   the same of an upgraded DIR, whose last record the stream ends with: what it had goes
 *   join DIR          newest snapshot of this data version ─▶ DIR ─▶ `start` reads the records behind it
 *   restore-stream    journal of DIR behind the end of the stream ─▶ stream
 */
import { dirname } from 'node:path';
import type { ClusterAdmin } from '../cluster/cluster-admin.ts';
import { SnapshotBucket } from '../cluster/snapshot-bucket.ts';
import { toHex } from '../core/hex.ts';
import type { Sequence } from '../core/units.ts';
import { lockDirectory } from '../storage/data-lock.ts';
import { DATA_VERSION, type StorageReader } from '../storage/environment.ts';
import {
  journalBounds,
  journalHashAt,
  readJournalStored,
  readWholeRecords,
  type WholeRecord,
} from '../storage/journal.ts';
import { equal, HASH_BYTES } from '../storage/journal-record.ts';
import { MAP_FILE_NAME } from '../storage/map-file.ts';
import { type Audit, auditData, mustHoldData, type Progress, withReader } from '../tools/audit-data.ts';
import { beginWithSnapshot, makeSnapshot } from '../tools/snapshot-data.ts';
import { CliError, EXIT, usageError } from './command.ts';

/** What is answered by a server that is behind is asked again. */
const READS = 40;
const PAUSE_MS = 100;
const APPEND_MS_MAX = 30_000;

/** The last record of a directory that was stopped in order, with its snapshot in the bucket; 0 for an empty journal. */
export async function shareLast(
  admin: ClusterAdmin,
  directory: string,
  progress: Progress,
  check: (audit: Audit) => Promise<void> = () => Promise.resolve(),
): Promise<Sequence> {
  mustHoldData(directory);
  const lock = lockDirectory(directory);
  try {
    const audit = await auditData(directory, progress);
    if (!audit.clean)
      throw new CliError(EXIT.fault, `${directory} was not stopped in order: start and stop its node first`);
    await check(audit);
    if (audit.sequence === 0) return audit.sequence;
    const { sequence, path } = await makeSnapshot(directory, progress);
    await bucketOf(admin).put(sequence, `${path}/${MAP_FILE_NAME}`);
    return audit.sequence;
  } finally {
    lock.release();
  }
}

/** The stream begins anew behind the last record of an upgraded directory. @returns that record. */
export async function beginNext(admin: ClusterAdmin, directory: string, progress: Progress): Promise<Sequence> {
  await mustBeStopped(admin);
  const { end, first } = await streamOf(admin);
  const last = await shareLast(admin, directory, progress, async ({ sequence }) => {
    if (sequence !== end)
      throw new CliError(
        EXIT.fault,
        `${directory} ends with record ${sequence} and the stream with record ${end}: give the directory of the last leader, which was stopped in order`,
      );
    await withReader(directory, (reader) => mustBeInStream(admin, reader, { sequence, first }));
  });
  await admin.log.purgeBelow(last + 1);
  return last;
}

/** Makes a data directory of the newest snapshot. */
export async function joinFrom(admin: ClusterAdmin, directory: string, progress: Progress): Promise<object> {
  const bucket = bucketOf(admin);
  const newest = (await bucket.list()).at(-1);
  if (newest === undefined)
    throw new CliError(
      EXIT.fault,
      `the bucket has no snapshot of data version ${DATA_VERSION}: a cluster that began without data is joined with an empty directory, another one by a snapshot that "ringbook cluster init DIR" or a node has put`,
    );
  const { sequence, bytes } = newest;
  const { first } = await streamOf(admin);
  if (first > sequence + 1)
    throw new CliError(
      EXIT.fault,
      `the newest snapshot is of record ${sequence}, and the stream begins with record ${first}`,
    );
  const audit = await beginWithSnapshot(
    directory,
    async (file) => {
      await bucket.fetch(sequence, file, (done) => progress('copying', done, bytes));
      await withReader(dirname(file), (reader) =>
        mustBeInStream(admin, reader, { sequence: sequence as Sequence, first }),
      );
    },
    progress,
  );
  return { joined: directory, sequence: audit.sequence, state_hash: audit.stateHash, snapshot: newest.name };
}

interface RestoreWishes {
  readonly directory: string;
  /** Data directories of the other nodes. */
  readonly others: readonly string[];
  /** No other node has a directory any more. */
  readonly isOnly: boolean;
  readonly print: (line: object) => void;
}

/** Appends what the stream has lost. Prints each record that it appends, then how many. */
export async function restoreStream(admin: ClusterAdmin, wishes: RestoreWishes): Promise<void> {
  const { directory, others, isOnly, print } = wishes;
  if ((others.length === 0) !== isOnly)
    throw usageError('name the data directories of all other nodes behind DIR, or give --only when none is left');
  for (const path of [directory, ...others]) mustHoldData(path);
  const locks = [directory, ...others].map((path) => lockDirectory(path));
  try {
    await mustBeStopped(admin);
    const { end, first } = await streamOf(admin);
    await withReader(directory, async (reader) => {
      // mutant: restore-the-longest
      for (const other of others) await withReader(other, (found) => mustNotBeLonger(directory, reader, other, found));
      const { firstSequence, lastSequence } = journalBounds(reader);
      if (end > lastSequence)
        throw new CliError(EXIT.fault, `the stream ends with record ${end}, ${directory} with record ${lastSequence}`);
      if (end + 1 < firstSequence)
        throw new CliError(
          EXIT.fault,
          `the stream ends with record ${end} and the journal of ${directory} begins with record ${firstSequence}: what is between them is in neither`,
        );
      if (end >= firstSequence && end > 0) await mustBeInStream(admin, reader, { sequence: end as Sequence, first });
      let restored = 0;
      for (const record of readWholeRecords(reader, (end + 1) as Sequence)) {
        await append(admin, record);
        restored += 1;
        const { sequence, epoch, timeNs, hash } = record;
        print({ restored: sequence, epoch, time_ns: String(timeNs), hash: toHex(hash) });
      }
      print({ restored_records: restored, first: restored === 0 ? null : end + 1, last: lastSequence });
    });
  } finally {
    for (const lock of locks) lock.release();
  }
}

/**
 * A journal that is longer has what the stream would not get. One that differs is of another history, but for a last record of which
 * it is not known whether it was stored: that one is put aside when its node joins.
 */
function mustNotBeLonger(directory: string, own: StorageReader, other: string, found: StorageReader): void {
  const { lastSequence: last, lastHash, firstSequence } = journalBounds(found);
  const { lastSequence: ownLast, firstSequence: ownFirst } = journalBounds(own);
  if (last > ownLast)
    throw new CliError(
      EXIT.fault,
      `${other} has records to ${last}, ${directory} to ${ownLast}: restore from the longest journal`,
    );
  if (last < ownFirst || last === 0) return;
  if (equal(lastHash, journalHashAt(own, last))) return;
  const before = (last - 1) as Sequence;
  const isUnknown = readJournalStored(found) < last && before >= Math.max(firstSequence, ownFirst);
  if (isUnknown && equal(journalHashAt(found, before), journalHashAt(own, before))) return;
  throw new CliError(EXIT.fault, `${other} has another record ${last} than ${directory}: they are of two histories`);
}

/** Appends one record until it is known to be there. */
async function append({ log }: ClusterAdmin, { sequence, bytes }: WholeRecord): Promise<void> {
  const untilMs = performance.now() + APPEND_MS_MAX;
  while (performance.now() < untilMs) {
    const answer = await log.append(bytes, sequence - 1);
    if (answer.kind === 'stored' && answer.sequence === sequence) return;
    const there = (await log.get(sequence)).find((message) => message.sequence === sequence);
    if (there !== undefined) {
      if (equal(there.bytes, bytes)) return;
      throw new CliError(EXIT.fault, `the stream has another record ${sequence} now: a node appends to it`);
    }
    await pause();
  }
  throw new CliError(EXIT.unreachable, `the stream does not take record ${sequence}: run the command again`);
}

/** @throws CliError when a node answers. */
async function mustBeStopped(admin: ClusterAdmin): Promise<void> {
  const { members } = await admin.status();
  const running = members.filter(({ role }) => role === 'node').map(({ node }) => node);
  if (running.length > 0) throw new CliError(EXIT.fault, `stop all nodes first: ${running.join(', ')} runs`);
}

async function streamOf({ log }: ClusterAdmin): Promise<{ readonly first: number; readonly end: number }> {
  for (let reads = 0; reads < READS; reads += 1) {
    const info = await log.info();
    if (info !== null) return info;
    await pause();
  }
  throw new CliError(EXIT.unreachable, 'the journal stream does not answer: it has no leader, or is not there');
}

/** @throws CliError unless the stream has the record of the reader, or has removed it. */
async function mustBeInStream(
  { log }: ClusterAdmin,
  reader: StorageReader,
  { sequence, first }: { readonly sequence: Sequence; readonly first: number },
): Promise<void> {
  if (sequence < first) return;
  for (let reads = 0; reads < READS; reads += 1) {
    const there = (await log.get(sequence)).find((message) => message.sequence === sequence);
    if (there === undefined) {
      await pause();
      continue;
    }
    if (equal(there.bytes.subarray(there.bytes.length - HASH_BYTES), journalHashAt(reader, sequence))) return;
    throw new CliError(EXIT.fault, `the stream has another record ${sequence}: they are of two histories`);
  }
  throw new CliError(EXIT.unreachable, `record ${sequence} of the stream cannot be read`);
}

function bucketOf(admin: ClusterAdmin): SnapshotBucket {
  return new SnapshotBucket(admin.log, DATA_VERSION);
}

function pause(): Promise<void> {
  return new Promise((done) => setTimeout(done, PAUSE_MS));
}
