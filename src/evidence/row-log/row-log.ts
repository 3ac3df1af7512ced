/**
 * The row log: records of the journal with their rows, appended by one owner, durable with one flush of one file.
 *
 *   append ─▶ tail, flushed ─▶ in whole blocks: rows, entries, leaves, flushed ─▶ the index, one commit ─▶ a new tail
 *             └─▶ durable       └──────────── settle, in steps of some milliseconds ────────────────────┘
 *
 * Invariants
 *   (1) What `durable` says is in the files up to the position of the index, or in the tail behind it.
 *   (2) Sequences have no gap: record s is followed by s + 1, from `first` on, which never changes.
 *   (3) Blocks, entries and leaves behind the position are cut at a start: the tail has them.
 *   (4) Memory holds the records of the tail, the last rows of users that were seen lately, and nothing else that grows.
 *
 * Not here: what rows say (row-bytes.ts), and when to flush (evidence-actor.ts).
 */
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { assert, must } from '../../core/assert.ts';
import { DAY_NS } from '../../core/units.ts';
import { flush, makeDirectory } from '../../storage/data-files.ts';
import { MAP_FILE_NAME } from '../../storage/map-file.ts';
import { StorageError } from '../../storage/storage-error.ts';
import { TileFiles } from '../tree/tile-files.ts';
import { TreeEdge } from '../tree/tree-edge.ts';
import { AppendFile } from './append-file.ts';
import {
  firstsIn,
  indexFolder,
  recordsFile,
  recordsFolder,
  rowsFile,
  rowsFolder,
  tailFile,
  tailFolder,
  tilesFolder,
} from './evidence-paths.ts';
import { type LoggedRecord, type LoggedRow, RECORD_ENTRY_BYTES, writeRecordEntry } from './logged-record.ts';
import { BLOCK_BYTES, BLOCK_BYTES_MAX, packRows, readBlock } from './row-blocks.ts';
import { rowHead, rowOrder } from './row-head.ts';
import {
  type ForgottenRow,
  type LogPosition,
  type RowBlock,
  type RowFile,
  RowIndex,
  RowIndexReader,
  type RowOfOrder,
  type UserEnd,
} from './row-index.ts';
import { type StoredRecord, storedRecords, tailRecords } from './stored-records.ts';
import { linesOf, TailWriter, tailBytes } from './tail.ts';

/** A file of rows is closed at this size, or with its day. */
const FILE_BYTES_MAX = 64 << 20;
/** Blocks go over once a second, or when the tail has so many bytes. */
const SETTLE_MS = 1_000;
const SETTLE_BYTES = 4 << 20;
/** Records without rows go over as well: in a cluster there is one every second. */
const SETTLE_RECORDS = 4_096;
/** Last rows of users that are kept in memory beside those of the tail. */
const USERS_KEPT = 65_536;
/** `"event":"ended"` of an order stands behind its head. */
const EVENT_BYTES = 600;

export interface RowLogOptions {
  /** As EnvironmentOptions' of the index. */
  readonly mapBytes?: number;
  /** The leaf hash of a row's entry: only the owner of the secret can make it. */
  readonly hashRow: (sequence: number, index: number, row: Uint8Array) => Uint8Array;
  /** How long files stay behind the time of their last record. */
  readonly keepNs: bigint;
  readonly elapsedMs: () => number;
  /** Called between the steps of opening. */
  readonly step?: () => void;
}

/** How far a log goes. */
export interface LogExtent {
  readonly first: number;
  /** The last record that is durable; first − 1 for none. */
  readonly durable: number;
}

/** What a settle has done so far. */
interface Settling {
  readonly blocks: RowBlock[];
  readonly files: Map<number, RowFile>;
  readonly userBlocks: { readonly user: string; readonly n: number; readonly block: RowBlock }[];
  readonly userEnds: Map<string, UserEnd>;
  readonly orders: RowOfOrder[];
}

/** Rows that become one block. */
interface OpenBlock {
  rows: LoggedRow[];
  rawBytes: number;
  sequence: number;
  index: number;
  firstNs: bigint;
  lastNs: bigint;
  lastSequence: number;
}

export class RowLog {
  readonly #folder: string;
  readonly #options: RowLogOptions;
  readonly #index: RowIndex;
  readonly #tiles: TileFiles;
  #edge: TreeEdge;
  #tail: TailWriter | null = null;
  #position: LogPosition | null;
  /** In the tail, or about to be. */
  #unsettled: LoggedRecord[] = [];
  /** How many of them are flushed. */
  #flushed = 0;
  #unsettledBytes = 0;
  /** Sequences at whose end a block ends. */
  #cuts: number[] = [];
  #openBytes = 0;
  #rows: AppendFile | null = null;
  #records: AppendFile | null = null;
  #file: RowFile | null = null;
  readonly #ends = new Map<string, UserEnd>();
  #settling: Iterator<void> | null = null;
  #settledMs: number;
  #forgetting: Iterator<void> | null = null;
  #rowCount = 0;

  private constructor(folder: string, options: RowLogOptions) {
    this.#folder = folder;
    this.#options = options;
    for (const each of [folder, rowsFolder(folder), recordsFolder(folder), tailFolder(folder), tilesFolder(folder)])
      makeDirectory(each);
    flush(folder);
    this.#index = RowIndex.openToWrite(folder, options.mapBytes);
    this.#position = this.#index.position();
    this.#tiles = new TileFiles(tilesFolder(folder), 'append');
    this.#edge = new TreeEdge();
    this.#settledMs = options.elapsedMs();
  }

  /**
   * Opens a log, or makes one, and cuts what is not whole.
   *
   * @throws StorageError when files lack what the index says.
   */
  static open(folder: string, options: RowLogOptions): RowLog {
    const log = new RowLog(folder, options);
    log.#recover();
    return log;
  }

  /** Null before the first record. */
  get extent(): LogExtent | null {
    const first = this.#position?.first ?? this.#unsettled[0]?.sequence;
    return first === undefined ? null : { first, durable: this.#lastFlushed(first) };
  }

  /** The last record that was appended; null before the first. */
  get last(): number | null {
    return this.#unsettled.at(-1)?.sequence ?? this.#position?.sequence ?? null;
  }

  /** The edge of the tree over all records that were appended. */
  get edge(): TreeEdge {
    return this.#edge;
  }

  /** The hashes of the tree: those of the tail may not be durable. */
  get tiles(): TileFiles {
    return this.#tiles;
  }

  /** Bytes that wait in the tail. */
  get tailBytes(): number {
    return this.#unsettledBytes;
  }

  /** Rows that were appended since the start. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Bytes of the files that were closed, and of that which is open. */
  get rowsBytes(): number {
    return this.#rows?.length ?? 0;
  }

  /** The last row of a user. */
  userEnd(user: string): UserEnd {
    const known = this.#ends.get(user);
    if (known !== undefined) return known;
    const end = this.#index.userEnd(user);
    this.#ends.set(user, end);
    return end;
  }

  /** The next row of a user was made. @param hash the leaf hash of its entry. */
  userGrew(user: string, n: number, hash: Uint8Array): void {
    assert(n === this.userEnd(user).n + 1, 'evidence: rows of a user are numbered without a gap');
    this.#ends.set(user, { n, hash });
  }

  /** Durable with the next flush. @param record the next one. */
  append(record: LoggedRecord): void {
    const { last } = this;
    assert(last === null || record.sequence === last + 1, `evidence: record ${(last ?? 0) + 1} comes next`);
    this.#tail ??= TailWriter.begin(this.#folder, record.sequence, []);
    this.#tail.append(record);
    this.#note(record);
    this.#rowCount += record.rows.length;
  }

  /** All records that were appended are durable when it returns. */
  flush(): void {
    if (this.#flushed === this.#unsettled.length) return;
    this.#tail?.flush();
    this.#flushed = this.#unsettled.length;
  }

  /** Whether `step` has something to do. */
  get hasWork(): boolean {
    return this.#settling !== null || this.#forgetting !== null || this.#isSettleDue();
  }

  /** One step of some milliseconds towards the files, or of removing old ones. @param nowNs by which files are too old. */
  step(nowNs: bigint): void {
    if (this.#settling === null && this.#isSettleDue()) {
      this.#settling = this.#settle(must(this.#cuts.at(-1), 'evidence: a cut'));
    }
    if (this.#settling !== null) {
      if (this.#settling.next().done !== true) return;
      this.#settling = null;
      this.#settledMs = this.#options.elapsedMs();
      this.#forgetting ??= this.#forgetOld(nowNs);
      return;
    }
    if (this.#forgetting?.next().done === true) this.#forgetting = null;
  }

  /** Everything that was appended is in the files when it returns: a stopped node has whole files. */
  settleAll(step: () => void = () => undefined): void {
    this.flush();
    for (let settling = this.#settling; settling !== null; ) {
      if (settling.next().done === true) settling = null;
      step();
    }
    this.#settling = null;
    const last = this.#unsettled.at(-1);
    if (last === undefined) return;
    this.#cut(last.sequence);
    for (const _ of { [Symbol.iterator]: () => this.#settle(last.sequence) }) step();
  }

  /** Records from `sequence` on, which are there. */
  *storedFrom(sequence: number): Generator<StoredRecord, void, undefined> {
    const settled = this.#position?.sequence ?? 0;
    if (sequence <= settled) yield* storedRecords(this.#folder, this.#index, sequence, settled);
    for (const record of this.#unsettled)
      if (record.sequence >= sequence) yield { ...record, rows: record.rows.map(({ bytes }) => bytes) };
  }

  async close(): Promise<void> {
    this.#rows?.close();
    this.#records?.close();
    this.#tail?.close();
    this.#tiles.close();
    await this.#index.close();
  }

  #lastFlushed(first: number): number {
    return this.#unsettled[this.#flushed - 1]?.sequence ?? this.#position?.sequence ?? first - 1;
  }

  /** Once in the tail: how it goes over, and its leaf. */
  #note(record: LoggedRecord): void {
    const before = this.#unsettled.at(-1);
    const beforeNs = before?.timeNs ?? this.#position?.timeNs ?? record.timeNs;
    if (before !== undefined && record.timeNs / DAY_NS !== beforeNs / DAY_NS) this.#cut(before.sequence);
    this.#unsettled.push(record);
    this.#unsettledBytes += tailBytes(record);
    for (const { bytes } of record.rows) {
      this.#openBytes += bytes.length + 1;
      if (this.#openBytes >= BLOCK_BYTES_MAX) this.#openBytes = 0;
    }
    const sinceCut = record.sequence - (this.#cuts.at(-1) ?? (this.#unsettled[0]?.sequence ?? 1) - 1);
    if (this.#openBytes >= BLOCK_BYTES || sinceCut >= SETTLE_RECORDS) this.#cut(record.sequence);
    this.#tiles.append(this.#edge, record.leafHash);
  }

  #cut(sequence: number): void {
    if (this.#cuts.at(-1) !== sequence) this.#cuts.push(sequence);
    this.#openBytes = 0;
  }

  #isSettleDue(): boolean {
    const last = this.#cuts.at(-1);
    if (last === undefined || last > (this.#unsettled[this.#flushed - 1]?.sequence ?? 0)) return false;
    if (this.#unsettledBytes >= SETTLE_BYTES) return true;
    return this.#options.elapsedMs() - this.#settledMs >= SETTLE_MS;
  }

  /** Rows, entries and leaves up to a cut go into the files; then the index names them, and the tail begins behind them. */
  *#settle(through: number): Generator<void, void, undefined> {
    const count = this.#unsettled.findIndex(({ sequence }) => sequence === through) + 1;
    const records = this.#unsettled.slice(0, count);
    const last = must(records.at(-1), 'evidence: a settle has records');
    assert(count <= this.#flushed, 'evidence: what goes into the files is durable');
    const cuts = new Set(this.#cuts);
    const settling: Settling = { blocks: [], files: new Map(), userBlocks: [], userEnds: new Map(), orders: [] };
    let entriesFrom = 0;
    let open: OpenBlock | null = null;
    for (const [place, record] of records.entries()) {
      // A day ends with a block; what is too large is closed behind one.
      if (open === null && this.#isNewFile(record)) {
        this.#writeEntries(records.slice(entriesFrom, place), settling);
        entriesFrom = place;
        yield* this.#flushFiles();
        this.#beginFile(record.sequence, record.timeNs);
        yield;
      }
      for (const [index, row] of record.rows.entries()) {
        open ??= openBlock(record, index);
        open.rows.push(row);
        open.rawBytes += row.bytes.length + 1;
        open.lastSequence = record.sequence;
        open.lastNs = record.timeNs;
        if (open.rawBytes < BLOCK_BYTES_MAX) continue;
        this.#writeBlock(open, settling);
        open = null;
        yield;
      }
      if (!cuts.has(record.sequence)) continue;
      if (open !== null) this.#writeBlock(open, settling);
      open = null;
      this.#writeEntries(records.slice(entriesFrom, place + 1), settling);
      entriesFrom = place + 1;
      yield;
    }
    assert(open === null, 'evidence: a settle ends with a cut');
    yield* this.#flushFiles();
    this.#tiles.sync();
    yield;
    const file = must(this.#file, 'evidence: a file of rows');
    const position: LogPosition = {
      first: this.#position?.first ?? must(records[0], 'a record').sequence,
      sequence: last.sequence,
      timeNs: last.timeNs,
      file: file.first,
      rowsBytes: must(this.#rows, 'rows').length,
      recordsBytes: must(this.#records, 'records').length,
    };
    const { blocks, userBlocks, userEnds, orders } = settling;
    this.#index.settle({ position, blocks, files: [...settling.files.values()], userBlocks, userEnds, orders });
    this.#position = position;
    yield;
    this.#beginTail(count, through);
  }

  #isNewFile({ timeNs }: LoggedRecord): boolean {
    const file = this.#file;
    if (file === null || this.#rows === null) return true;
    if (file.firstNs / DAY_NS !== timeNs / DAY_NS) return true;
    return this.#rows.length >= FILE_BYTES_MAX;
  }

  #beginFile(first: number, timeNs: bigint): void {
    this.#rows?.close();
    this.#records?.close();
    this.#rows = new AppendFile(rowsFile(this.#folder, first));
    this.#records = new AppendFile(recordsFile(this.#folder, first));
    assert(this.#rows.length === 0 && this.#records.length === 0, 'evidence: a new file is empty');
    this.#file = { first, lastSequence: first - 1, firstNs: timeNs, lastNs: timeNs, rowsBytes: 0 };
  }

  *#flushFiles(): Generator<void, void, undefined> {
    this.#rows?.flush();
    yield;
    this.#records?.flush();
    yield;
  }

  #writeBlock(open: OpenBlock, settling: Settling): void {
    const rows = must(this.#rows, 'evidence: a file of rows');
    const file = must(this.#file, 'evidence: a file of rows');
    const packed = packRows(open.rows, open.rawBytes);
    const block: RowBlock = {
      firstSequence: open.sequence,
      firstIndex: open.index,
      file: file.first,
      offset: rows.length,
      bytes: packed.length,
      rows: open.rows.length,
      lastSequence: open.lastSequence,
      firstNs: open.firstNs,
      lastNs: open.lastNs,
    };
    rows.append(packed);
    settling.blocks.push(block);
    const seen = new Set<string>();
    for (const row of open.rows) {
      const { kind, chain } = rowHead(row.bytes);
      if (chain === null) continue;
      const { user, n } = chain;
      if (!seen.has(user)) settling.userBlocks.push({ user, n, block });
      seen.add(user);
      settling.userEnds.set(user, { n, hash: row.hash });
      const order = rowOrder(row.bytes, kind);
      if (order !== null) settling.orders.push({ user, n, order });
    }
  }

  #writeEntries(records: readonly LoggedRecord[], settling: Settling): void {
    const last = records.at(-1);
    if (last === undefined) return;
    const bytes = new Uint8Array(records.length * RECORD_ENTRY_BYTES);
    for (const [place, record] of records.entries()) writeRecordEntry(bytes, place * RECORD_ENTRY_BYTES, record);
    must(this.#records, 'evidence: a file of records').append(bytes);
    const file = must(this.#file, 'evidence: a file of rows');
    this.#file = {
      ...file,
      lastSequence: last.sequence,
      lastNs: last.timeNs,
      rowsBytes: must(this.#rows, 'evidence: a file of rows').length,
    };
    settling.files.set(file.first, this.#file);
  }

  /** What is settled leaves the tail and memory. */
  #beginTail(count: number, through: number): void {
    const left = this.#unsettled.slice(count);
    const old = this.#tail;
    this.#tail = TailWriter.begin(this.#folder, through + 1, left);
    old?.close();
    this.#removeTails(through + 1);
    this.#unsettled = left;
    this.#flushed = left.length;
    this.#unsettledBytes = left.reduce((sum, record) => sum + tailBytes(record), 0);
    this.#cuts = this.#cuts.filter((sequence) => sequence > through);
    if (this.#ends.size <= USERS_KEPT) return;
    const needed = new Set(left.flatMap(({ rows }) => rows.map(({ bytes }) => rowHead(bytes).chain?.user ?? '')));
    for (const user of this.#ends.keys()) if (!needed.has(user)) this.#ends.delete(user);
  }

  #removeTails(but: number): void {
    for (const first of firstsIn(tailFolder(this.#folder), '.log'))
      if (first !== but) rmSync(tailFile(this.#folder, first));
    flush(tailFolder(this.#folder));
  }

  #recover(): void {
    const position = this.#position;
    this.#checkFiles(position);
    this.#edge = this.#cutTiles(position);
    const records = tailRecords(this.#folder, position?.sequence ?? null);
    for (const { rows, ...meta } of records) {
      const { sequence } = meta;
      const hashed = rows.map((bytes, index) => ({ bytes, hash: this.#options.hashRow(sequence, index, bytes) }));
      for (const { bytes, hash } of hashed) {
        const { chain } = rowHead(bytes);
        if (chain !== null) this.userGrew(chain.user, chain.n, hash);
      }
      this.#note({ ...meta, rows: hashed });
      this.#options.step?.();
    }
    this.#flushed = this.#unsettled.length;
    const first = this.#unsettled[0]?.sequence ?? (position === null ? null : position.sequence + 1);
    if (first === null) return;
    this.#tail = TailWriter.begin(this.#folder, first, this.#unsettled);
    this.#removeTails(first);
  }

  /** @throws StorageError when the files lack what the index says. */
  #checkFiles(position: LogPosition | null): void {
    const known = this.#index.files();
    for (const { first, rowsBytes, lastSequence } of known) {
      this.#checkFile(rowsFile(this.#folder, first), rowsBytes);
      this.#checkFile(recordsFile(this.#folder, first), (lastSequence - first + 1) * RECORD_ENTRY_BYTES);
    }
    const isKnown = (first: number): boolean => known.some((file) => file.first === first);
    for (const first of firstsIn(rowsFolder(this.#folder), '.jsonl.gz'))
      if (!isKnown(first)) rmSync(rowsFile(this.#folder, first));
    for (const first of firstsIn(recordsFolder(this.#folder), '.records'))
      if (!isKnown(first)) rmSync(recordsFile(this.#folder, first));
    const newest = known.at(-1);
    if (position === null || newest === undefined) return;
    this.#rows = new AppendFile(rowsFile(this.#folder, newest.first));
    this.#rows.truncate(position.rowsBytes);
    this.#records = new AppendFile(recordsFile(this.#folder, newest.first));
    this.#records.truncate(position.recordsBytes);
    this.#file = newest;
  }

  #checkFile(path: string, bytes: number): void {
    const found = statSync(path, { throwIfNoEntry: false })?.size ?? -1;
    if (found >= bytes) return;
    const has = found < 0 ? 'is missing' : `has ${found} bytes`;
    throw new StorageError(
      `${path} ${has} and the index of the evidence says ${bytes}: restore the folder of a backup`,
    );
  }

  #cutTiles(position: LogPosition | null): TreeEdge {
    try {
      return this.#tiles.truncate(position === null ? 0 : position.sequence - position.first + 1);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StorageError(`the hashes of the evidence are not there: ${reason}: restore the folder of a backup`, {
        cause: error,
      });
    }
  }

  /** Removes the files whose last record is older than is kept, block by block: first what the index says of them. */
  *#forgetOld(nowNs: bigint): Generator<void, void, undefined> {
    for (const file of this.#index.files().slice(0, -1)) {
      if (file.lastNs >= nowNs - this.#options.keepNs) return;
      for (;;) {
        const [block] = this.#index.blocksFrom(file.first, 1);
        if (block === undefined || block.file !== file.first) break;
        this.#index.forget(file, [block], false, forgottenRows(this.#folder, block));
        yield;
      }
      this.#index.forget(file, [], true, []);
      for (const path of [rowsFile(this.#folder, file.first), recordsFile(this.#folder, file.first)])
        if (existsSync(path)) rmSync(path);
      yield;
    }
  }
}

function openBlock({ sequence, timeNs }: LoggedRecord, index: number): OpenBlock {
  return { rows: [], rawBytes: 0, sequence, index, firstNs: timeNs, lastNs: timeNs, lastSequence: sequence };
}

/** What the index says of the rows of a block. */
function forgottenRows(folder: string, block: RowBlock): readonly ForgottenRow[] {
  const rows: ForgottenRow[] = [];
  const seen = new Set<string>();
  for (const row of linesOf(readBlock(folder, block))) {
    const { kind, chain } = rowHead(row);
    if (chain === null) continue;
    const isEnd = kind === 'order' && Buffer.from(row.subarray(0, EVENT_BYTES)).includes('"event":"ended"');
    if (seen.has(chain.user) && !isEnd) continue;
    seen.add(chain.user);
    rows.push({ user: chain.user, n: chain.n, order: isEnd ? rowOrder(row, kind) : null });
  }
  return rows;
}

/** How far the log of a folder goes, without a change; null where none was begun. @throws StorageError for what cannot be read. */
export async function inspectRowLog(folder: string): Promise<LogExtent | null> {
  const position = await settledPosition(folder);
  const records = tailRecords(folder, position?.sequence ?? null);
  const first = position?.first ?? records[0]?.sequence;
  if (first === undefined) return null;
  return { first, durable: records.at(-1)?.sequence ?? position?.sequence ?? first - 1 };
}

async function settledPosition(folder: string): Promise<LogPosition | null> {
  if (!existsSync(join(indexFolder(folder), MAP_FILE_NAME))) return null;
  const index = RowIndexReader.open(folder);
  try {
    return index.position();
  } finally {
    await index.close();
  }
}
