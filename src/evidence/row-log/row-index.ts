/**
 * Where rows are, and how far the files go: a small map of its own, written in one commit behind the flush of the files.
 *
 *   02                                            the position (LogPosition)
 *   10 │ first sequence 8 │ first index 4         a block: file 8, offset 8, bytes 4, rows 4, last sequence 8, first and last time 8 + 8
 *   11 │ first sequence 8                         a file: last sequence 8, first and last time 8 + 8, bytes of rows 8
 *   20 │ user 32 │ n 8                            the first row of a user in a block: the key of the block 12
 *   21 │ user 32                                  the last row of a user: n 8, leaf hash of its entry 32
 *   30 │ digest of an order 8 │ number 2          rows of an order: up to 64 times n 6
 *
 * An order is found by eight bytes of SHA-256 over its user, market and id. Rows of another with the same eight bytes may be
 * among those that are found, so a reader compares the id.
 */
import { createHash } from 'node:crypto';
import { assert, must } from '../../core/assert.ts';
import { parseHex, toHex } from '../../core/hex.ts';
import { makeDirectory } from '../../storage/data-files.ts';
import {
  openReader,
  openWriter,
  type StorageReader,
  type StorageWriter,
  type Write,
} from '../../storage/environment.ts';
import { indexFolder } from './evidence-paths.ts';
import type { RowBlockPlace } from './row-blocks.ts';
import type { RowOrder } from './row-head.ts';

const NAME = 'ringbook evidence 1';
const POSITION = 0x02;
const BLOCK = 0x10;
const FILE = 0x11;
const USER_BLOCK = 0x20;
const LAST = 0x21;
const ORDER = 0x30;
const HASH_BYTES = 32;
const USER_BYTES = 32;
const POSITION_KEY: Uint8Array = Uint8Array.of(POSITION);
const ORDER_ROWS_MAX = 64;
const DIGEST_BYTES = 8;
const N_BYTES = 6;
/** 4 million rows of one order. */
const ORDER_ENTRIES_MAX = 0xffff;
const U32 = 0x1_0000_0000;

/** How far the files go. Behind it is the tail alone. */
export interface LogPosition {
  /** The first sequence of the log; it never changes. */
  readonly first: number;
  /** The last whose rows, entry and leaf are in the files; first − 1 for none. */
  readonly sequence: number;
  readonly timeNs: bigint;
  /** The newest file; 0 for none. */
  readonly file: number;
  readonly rowsBytes: number;
  readonly recordsBytes: number;
}

export interface RowBlock extends RowBlockPlace {
  readonly firstSequence: number;
  readonly firstIndex: number;
  readonly lastSequence: number;
  readonly rows: number;
  readonly firstNs: bigint;
  readonly lastNs: bigint;
}

export interface RowFile {
  readonly first: number;
  readonly lastSequence: number;
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly rowsBytes: number;
}

/** The last row of a user. */
export interface UserEnd {
  readonly n: number;
  /** 32 bytes: the leaf hash of its entry. */
  readonly hash: Uint8Array;
}

/** No row. */
const NO_ROWS: UserEnd = { n: 0, hash: new Uint8Array(HASH_BYTES) };

class Bytes {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(of: number | Uint8Array) {
    this.#bytes = typeof of === 'number' ? new Uint8Array(of) : of;
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength);
  }

  u8(value: number): this {
    this.#view.setUint8(this.#at, value);
    this.#at += 1;
    return this;
  }

  u32(value: number): this {
    this.#view.setUint32(this.#at, value);
    this.#at += 4;
    return this;
  }

  u16(value: number): this {
    this.#view.setUint16(this.#at, value);
    this.#at += 2;
    return this;
  }

  u48(value: number): this {
    return this.u16(Math.floor(value / U32)).u32(value % U32);
  }

  u64(value: number | bigint): this {
    this.#view.setBigUint64(this.#at, BigInt(value));
    this.#at += 8;
    return this;
  }

  raw(bytes: Uint8Array): this {
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
    return this;
  }

  skip(bytes: number): this {
    this.#at += bytes;
    return this;
  }

  takeU32(): number {
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4);
  }

  takeU48(): number {
    this.#at += 2;
    return this.#view.getUint16(this.#at - 2) * U32 + this.takeU32();
  }

  takeU64(): bigint {
    this.#at += 8;
    return this.#view.getBigUint64(this.#at - 8);
  }

  takeNumber(): number {
    return Number(this.takeU64());
  }

  takeRaw(bytes: number): Uint8Array {
    this.#at += bytes;
    return this.#bytes.slice(this.#at - bytes, this.#at);
  }

  end(): Uint8Array {
    assert(this.#at === this.#bytes.length, 'evidence: a key or value of its length');
    return this.#bytes;
  }
}

function userBytes(user: string): Uint8Array {
  return must(parseHex(user, USER_BYTES), 'evidence: a user has 64 hex digits');
}

const blockKey = (sequence: number, index: number): Uint8Array =>
  new Bytes(13).u8(BLOCK).u64(sequence).u32(index).end();
const fileKey = (first: number): Uint8Array => new Bytes(9).u8(FILE).u64(first).end();
const lastKey = (user: string): Uint8Array => new Bytes(33).u8(LAST).raw(userBytes(user)).end();
const userKey = (user: string, n: number): Uint8Array => new Bytes(41).u8(USER_BLOCK).raw(userBytes(user)).u64(n).end();
const orderKey = (digest: Uint8Array, number: number): Uint8Array =>
  new Bytes(11).u8(ORDER).raw(digest).u16(number).end();

function orderDigest(user: string, { assetId, orderId }: RowOrder): Uint8Array {
  const hash = createHash('sha256').update(`${user}\n${assetId}\n${orderId}`, 'latin1').digest();
  return hash.subarray(0, DIGEST_BYTES);
}

function readBlockEntry(key: Uint8Array, value: Uint8Array): RowBlock {
  const at = new Bytes(key).skip(1);
  const from = new Bytes(value);
  return {
    firstSequence: at.takeNumber(),
    firstIndex: at.takeU32(),
    file: from.takeNumber(),
    offset: from.takeNumber(),
    bytes: from.takeU32(),
    rows: from.takeU32(),
    lastSequence: from.takeNumber(),
    firstNs: from.takeU64(),
    lastNs: from.takeU64(),
  };
}

function readFileEntry(key: Uint8Array, value: Uint8Array): RowFile {
  const first = new Bytes(key).skip(1).takeNumber();
  const from = new Bytes(value);
  return {
    first,
    lastSequence: from.takeNumber(),
    firstNs: from.takeU64(),
    lastNs: from.takeU64(),
    rowsBytes: from.takeNumber(),
  };
}

function readOrderRows(value: Uint8Array): number[] {
  const from = new Bytes(value);
  return Array.from({ length: value.length / N_BYTES }, () => from.takeU48());
}

/** Reads of the latest commit. */
export class RowIndexReader {
  protected readonly map: StorageReader;

  constructor(map: StorageReader) {
    this.map = map;
  }

  /** @throws StorageError when there is none. */
  static open(folder: string): RowIndexReader {
    return new RowIndexReader(openReader(indexFolder(folder), { name: NAME }));
  }

  /** Copies the latest commit into a new file, while others may write. */
  copyTo(path: string): Promise<void> {
    return this.map.copyTo(path);
  }

  /** What `read` reads is of one commit. */
  view<T>(read: () => T): T {
    return this.map.view(read);
  }

  /** Null before the first block. */
  position(): LogPosition | null {
    const value = this.map.get(POSITION_KEY);
    if (value === null) return null;
    const from = new Bytes(value);
    return {
      first: from.takeNumber(),
      sequence: from.takeNumber(),
      timeNs: from.takeU64(),
      file: from.takeNumber(),
      rowsBytes: from.takeNumber(),
      recordsBytes: from.takeNumber(),
    };
  }

  /** The files that there are, the oldest first. */
  files(): readonly RowFile[] {
    const range = { from: fileKey(0), to: Uint8Array.of(FILE + 1), limit: Number.MAX_SAFE_INTEGER };
    return this.map.range(range).map(({ key, value }) => readFileEntry(key, value));
  }

  /** Blocks in order, from the first that holds rows of this record, or the first behind it. */
  blocksFrom(sequence: number, limit: number): readonly RowBlock[] {
    const before = this.map.range({
      from: blockKey(0, 0),
      to: blockKey(sequence, 0),
      newestFirst: true,
      limit: 1,
    });
    const within = this.map.range({ from: blockKey(sequence, 0), to: Uint8Array.of(BLOCK + 1), limit });
    const blocks = [...before, ...within].map(({ key, value }) => readBlockEntry(key, value));
    const [first] = blocks;
    if (first !== undefined && first.lastSequence < sequence) blocks.shift();
    return blocks;
  }

  /** Blocks in order behind one. */
  blocksBehind({ firstSequence, firstIndex }: RowBlock, limit: number): readonly RowBlock[] {
    const from = blockKey(firstSequence, firstIndex + 1);
    return this.map
      .range({ from, to: Uint8Array.of(BLOCK + 1), limit })
      .map(({ key, value }) => readBlockEntry(key, value));
  }

  block(sequence: number, index: number): RowBlock | null {
    const key = blockKey(sequence, index);
    const value = this.map.get(key);
    return value === null ? null : readBlockEntry(key, value);
  }

  /** The blocks with rows n to `last` of a user, in order. */
  blocksOfUser(user: string, n: number, last: number): readonly RowBlock[] {
    const before = this.map.range({ from: userKey(user, 0), to: userKey(user, n), newestFirst: true, limit: 1 });
    const within = this.map.range({ from: userKey(user, n), to: userKey(user, last + 1), limit: last - n + 1 });
    return [...before, ...within].map(({ value }) => {
      const at = new Bytes(value);
      return must(this.block(at.takeNumber(), at.takeU32()), 'evidence: a block that the index names');
    });
  }

  /** The last row of a user in the files. */
  userEnd(user: string): UserEnd {
    const value = this.map.get(lastKey(user));
    if (value === null) return NO_ROWS;
    const from = new Bytes(value);
    return { n: from.takeNumber(), hash: from.takeRaw(HASH_BYTES) };
  }

  /** All users that have rows, in order, from the one behind `after`. */
  userEnds(after: string | null, limit: number): readonly (UserEnd & { readonly user: string })[] {
    const from = after === null ? Uint8Array.of(LAST) : new Bytes(34).raw(lastKey(after)).u8(0).end();
    return this.map.range({ from, to: Uint8Array.of(LAST + 1), limit }).map(({ key, value }) => {
      const read = new Bytes(value);
      return { user: toHex(key.subarray(1)), n: read.takeNumber(), hash: read.takeRaw(HASH_BYTES) };
    });
  }

  /** The numbers of the rows of a user's order, rising. */
  rowsOfOrder(user: string, order: RowOrder): readonly number[] {
    return orderEntries(this.map, orderDigest(user, order)).flat();
  }

  close(): Promise<void> {
    return this.map.close();
  }
}

function orderEntries(map: StorageReader, digest: Uint8Array): number[][] {
  const range = { from: orderKey(digest, 0), to: orderKey(digest, ORDER_ENTRIES_MAX), limit: ORDER_ENTRIES_MAX };
  return map.range(range).map(({ value }) => readOrderRows(value));
}

/** What becomes true with one commit. */
interface Settled {
  readonly position: LogPosition;
  readonly blocks: readonly RowBlock[];
  /** Files that were begun or grew. */
  readonly files: readonly RowFile[];
  /** The first row of each user in each block. */
  readonly userBlocks: readonly { readonly user: string; readonly n: number; readonly block: RowBlock }[];
  readonly userEnds: ReadonlyMap<string, UserEnd>;
  readonly orders: readonly RowOfOrder[];
}

/** A row of an order. */
export interface RowOfOrder {
  readonly user: string;
  readonly n: number;
  readonly order: RowOrder;
}

export class RowIndex extends RowIndexReader {
  readonly #writer: StorageWriter;

  private constructor(writer: StorageWriter) {
    super(writer);
    this.#writer = writer;
  }

  /** Opens it, or makes it. @param mapBytes as EnvironmentOptions'. @throws StorageError */
  static openToWrite(folder: string, mapBytes: number | undefined): RowIndex {
    makeDirectory(indexFolder(folder));
    // Whoever holds the data directory holds this.
    const lock = { epoch: 0, release: () => undefined };
    return new RowIndex(
      openWriter(indexFolder(folder), { name: NAME, lock, ...(mapBytes === undefined ? {} : { mapBytes }) }),
    );
  }

  /** On the disk when it returns. */
  settle({ position, blocks, files, userBlocks, userEnds, orders }: Settled): void {
    const writes: Write[] = [];
    for (const block of blocks) {
      const key = blockKey(block.firstSequence, block.firstIndex);
      const value = new Bytes(48).u64(block.file).u64(block.offset).u32(block.bytes).u32(block.rows);
      value.u64(block.lastSequence).u64(block.firstNs).u64(block.lastNs);
      writes.push({ key, value: value.end() });
    }
    for (const { first, lastSequence, firstNs, lastNs, rowsBytes } of files) {
      const value = new Bytes(32).u64(lastSequence).u64(firstNs).u64(lastNs).u64(rowsBytes);
      writes.push({ key: fileKey(first), value: value.end() });
    }
    for (const { user, n, block } of userBlocks) {
      const value = new Bytes(12).u64(block.firstSequence).u32(block.firstIndex).end();
      writes.push({ key: userKey(user, n), value });
    }
    for (const [user, { n, hash }] of userEnds) {
      writes.push({ key: lastKey(user), value: new Bytes(8 + HASH_BYTES).u64(n).raw(hash).end() });
    }
    writes.push(...this.#orderWrites(orders));
    const { first, sequence, timeNs, file, rowsBytes, recordsBytes } = position;
    const value = new Bytes(48).u64(first).u64(sequence).u64(timeNs).u64(file).u64(rowsBytes).u64(recordsBytes).end();
    writes.push({ key: POSITION_KEY, value });
    this.#writer.commit(writes);
  }

  /** A file that is about to be removed has no blocks any more. @returns whether all of them are gone. */
  forget(file: RowFile, blocks: readonly RowBlock[], isWhole: boolean, rows: readonly ForgottenRow[]): void {
    const writes: Write[] = blocks.map(({ firstSequence, firstIndex }) => ({
      key: blockKey(firstSequence, firstIndex),
      value: null,
    }));
    for (const { user, n, order } of rows) {
      writes.push({ key: userKey(user, n), value: null });
      if (order === null) continue;
      const digest = orderDigest(user, order);
      const entries = orderEntries(this.map, digest);
      // What goes on in younger files keeps its entry.
      if ((entries.at(-1)?.at(-1) ?? 0) <= n)
        for (const number of entries.keys()) writes.push({ key: orderKey(digest, number), value: null });
    }
    if (isWhole) writes.push({ key: fileKey(file.first), value: null });
    this.#writer.commit(writes);
  }

  #orderWrites(rows: readonly RowOfOrder[]): readonly Write[] {
    const open = new Map<string, number[][]>();
    const changed = new Map<string, Write>();
    for (const { user, n, order } of rows) {
      const digest = orderDigest(user, order);
      const name = toHex(digest);
      const entries = open.get(name) ?? orderEntries(this.map, digest);
      open.set(name, entries);
      if ((entries.at(-1)?.length ?? ORDER_ROWS_MAX) >= ORDER_ROWS_MAX && entries.length < ORDER_ENTRIES_MAX)
        entries.push([]);
      const last = must(entries.at(-1), 'evidence: an entry of an order');
      if (last.length >= ORDER_ROWS_MAX) continue;
      last.push(n);
      const value = new Bytes(N_BYTES * last.length);
      for (const each of last) value.u48(each);
      const number = entries.length - 1;
      changed.set(`${name} ${number}`, { key: orderKey(digest, number), value: value.end() });
    }
    return [...changed.values()];
  }
}

/** A row of a file that is removed. */
export interface ForgottenRow {
  readonly user: string;
  readonly n: number;
  /** Of the last row of an order alone. */
  readonly order: RowOrder | null;
}
