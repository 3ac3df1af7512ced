/**
 * The one place that touches lmdb: an ordered map from bytes to bytes in one file, written by one thread, read by any.
 *
 *   <data directory>/ledger.mdb        the map: tables and journal, one tree, the table is the key's first byte
 *   <data directory>/ledger.mdb-lock   LMDB's reader slots
 *   <data directory>/claim.…           the owner of the directory (data-lock.ts)
 *
 * When `commit` has returned, what it wrote is on the disk: `transactionSync` without overlapping sync writes the data
 * pages, flushes them, then writes the meta page through (O_DSYNC), and only then returns and shows the new version.
 * After a throw nothing of it is visible. So a process or power failure leaves whole commits, never a part of one.
 *
 * What of lmdb is not used here, and why
 *   asynchronous puts      they are committed without the caller and block on a full queue
 *   named databases        opening one races with a writer on another thread; a byte of the key does the same
 *   encoders, caching      they keep state beside the transaction; values are bytes of our own layout
 *   suspended iterators    one that waits between ticks pins old pages: ranges are answered whole, as arrays
 *   terminating a reader   a thread that reads closes its reader before it ends
 */
import { chmodSync, closeSync, fsyncSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { assert, InvariantError } from '../core/assert.ts';
import { type DataLock, lockDirectory } from './data-lock.ts';
import { keyAfter } from './key-layout.ts';
import { checkMapFile, MAP_FILE_NAME } from './map-file.ts';
import { StorageError, storageError } from './storage-error.ts';

/** require, because the package's form for it is one file; an import loads eleven, in each thread that reads. */
const { open } = createRequire(import.meta.url)('lmdb') as typeof import('lmdb');

export interface EnvironmentOptions {
  /** The claim on the directory, where the caller holds it already. */
  readonly lock?: DataLock;
  /**
   * Address space for the map, in bytes; the file grows as it is used. Not a bound: lmdb maps anew when the file outgrows
   * it, which readers on other threads should never have to live through. A full disk is a StorageError.
   */
  readonly mapBytes?: number;
  /** Another version of the data than today's: only an upgrade reads or makes such. */
  readonly version?: number;
  /** What a map that is no ledger is named by in itself. */
  readonly name?: string;
}

/** 64 GiB. */
const MAP_BYTES_DEFAULT: number = 64 * 2 ** 30;
const READERS_MAX = 126;
const NAMED_DATABASES = 1;
/** Written once into an empty map, in the table `meta` of key-layout.ts. */
const DATA_VERSION_KEY: Uint8Array = Uint8Array.of(0x01, 0x01);
export const DATA_VERSION = 16;

/** The name of that version, as it stands in a map. */
export function versionName(version: number = DATA_VERSION): string {
  return `ringbook data ${version}`;
}

/** One change of the map. */
export interface Write {
  readonly key: Uint8Array;
  /** Null removes the key, if it is there. */
  readonly value: Uint8Array | null;
  /**
   * `once`: the key must be new. `append`: it must also be above every key of the map. `fresh`: it is new but for rare
   * exceptions, so that looking for what is there would be lost work.
   */
  readonly rule?: 'once' | 'append' | 'fresh';
  /** Called for a fresh key that exists nevertheless: throws if the value may not replace the one before. */
  readonly checkReplaced?: (key: Uint8Array, before: Uint8Array, after: Uint8Array) => void;
}

/** Follows the writes of a commit from inside it. */
export interface CommitWatch {
  /** What a key held and what it holds from now on; null for nothing. */
  change(key: Uint8Array, before: Uint8Array | null, after: Uint8Array | null): void;
  /** What is written last, and not followed. */
  end(): readonly Write[];
}

export interface Entry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

interface Range {
  /** Included. */
  readonly from: Uint8Array;
  /** Not included. */
  readonly to: Uint8Array;
  /** Highest key first. */
  readonly newestFirst?: boolean;
  readonly skip?: number;
  readonly limit: number;
}

interface EntrySteps extends Omit<Range, 'skip' | 'limit'> {
  /** How many entries are read at a time. */
  readonly perStep: number;
}

/** Any one entry of the map. */
const ANYTHING: Range = { from: Uint8Array.of(0), to: Uint8Array.of(0xff), limit: 1 };

// mutant: write-once
const NEW = { noOverwrite: true };
const APPENDED = { noOverwrite: true, append: true };

/**
 * Values of ranges as lmdb hands them out, which is in a buffer that it uses again: each is copied, but while `visit` reads
 * them in place.
 */
class RangeValues {
  isInPlace = false;
  /** The value that was read in place last: most begin where it does and are as long, and then it is that one. */
  #inPlace: Uint8Array = new Uint8Array(0);

  encode(value: Uint8Array): Uint8Array {
    return value;
  }

  /** @param bytes its own `length` is not to be relied on: lmdb changes it. */
  decode(bytes: Uint8Array, byteLength: number): Uint8Array {
    if (!this.isInPlace) return Uint8Array.prototype.slice.call(bytes, 0, byteLength);
    const { buffer, byteOffset, length } = this.#inPlace;
    if (buffer !== bytes.buffer || byteOffset !== bytes.byteOffset || length !== byteLength) {
      this.#inPlace = new Uint8Array(bytes.buffer, bytes.byteOffset, byteLength);
    }
    return this.#inPlace;
  }
}

interface OpenMap {
  readonly directory: string;
  readonly map: RootDatabase<Uint8Array, Uint8Array>;
  readonly values: RangeValues;
}

function openMap(directory: string, readOnly: boolean, options: EnvironmentOptions): OpenMap {
  const path = join(directory, MAP_FILE_NAME);
  checkMapFile(path, readOnly);
  const values = new RangeValues();
  const map = open<Uint8Array, Uint8Array>({
    path,
    noSubdir: true,
    readOnly,
    mapSize: options.mapBytes ?? MAP_BYTES_DEFAULT,
    maxDbs: NAMED_DATABASES,
    maxReaders: READERS_MAX,
    keyEncoding: 'binary',
    encoding: 'binary',
    cache: false,
    // mutant: flush-before-meta
    overlappingSync: false,
    // Not in lmdb's types: after a crash only what was flushed counts; values are read and written as they are.
    ...{ safeRestore: true, encoder: values },
  });
  return { directory, map, values };
}

/** Runs one call of lmdb; what it throws becomes a StorageError with `doing` in its text. @param directory of the map, for a write. */
function guarded<T>(doing: string, call: () => T, directory: string | null = null): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof InvariantError || error instanceof StorageError) throw error;
    throw storageError(doing, error, directory);
  }
}

/** Each key must come after the one before it; then the first and the last are within the bounds, and so are all. */
function checkOrder(entries: readonly Entry[], { from, to, newestFirst = false }: Range): void {
  const [first] = entries;
  const last = entries.at(-1);
  if (first === undefined || last === undefined) return;
  const [lowest, highest] = newestFirst ? [last, first] : [first, last];
  let isRight = Buffer.compare(from, lowest.key) <= 0 && Buffer.compare(highest.key, to) < 0;
  let before = first.key;
  for (let index = 1; index < entries.length; index += 1) {
    const { key } = entries[index] ?? first;
    const order = Buffer.compare(before, key);
    // mutant: page-order
    if (newestFirst ? order <= 0 : order >= 0) isRight = false;
    before = key;
  }
  if (!isRight) throw outOfPlace();
}

function outOfPlace(): InvariantError {
  return new InvariantError('map: a page is not the one that belongs there');
}

/** Reads of the latest committed version. Every value is a copy, but those of `visit`. */
export class StorageReader {
  protected readonly map: OpenMap['map'];
  readonly #values: RangeValues;
  #isViewing = false;

  constructor({ map, values }: OpenMap) {
    this.map = map;
    this.#values = values;
  }

  /**
   * Runs `read` on one version of the map, the latest: whatever it reads belongs together.
   *
   * Without this a reader on another thread would keep seeing the version of its event-loop turn. The version is given
   * up at the end, so that no old pages stay pinned. A view inside a view reads the outer one's version. `read` must be
   * synchronous.
   */
  view<T>(read: () => T): T {
    if (this.#isViewing) return read();
    return guarded('reading', () => {
      this.map.resetReadTxn();
      this.#isViewing = true;
      try {
        return read();
      } finally {
        this.#isViewing = false;
        this.map.resetReadTxn();
      }
    });
  }

  /** Null when the key is not there. */
  get(key: Uint8Array): Uint8Array | null {
    this.#checkNotVisiting();
    return guarded('reading a key', () => this.map.getBinary(key) ?? null);
  }

  /**
   * At most `limit` entries with from ≤ key < to, in order, skipping `skip`.
   *
   * @throws InvariantError when they are not: lmdb takes whatever page lies where one is expected.
   */
  range(range: Range): readonly Entry[] {
    this.#checkNotVisiting();
    return guarded('reading a range', () => {
      const bounds =
        range.newestFirst === true
          ? // Reversed, lmdb starts at the given key and ends before the other: both bounds move by the least key step.
            { start: range.to, end: range.from, exclusiveStart: true, inclusiveEnd: true, reverse: true }
          : { start: range.from, end: range.to };
      const entries = Array.from(this.map.getRange({ ...bounds, limit: range.limit, offset: range.skip ?? 0 }));
      checkOrder(entries, range);
      return entries;
    });
  }

  /** Every entry with from ≤ key < to, in order. Each step is a range of its own: what waits between them pins nothing. */
  *entries({ from, to, newestFirst = false, perStep }: EntrySteps): Generator<Entry, void, undefined> {
    const rest = { from, to };
    for (;;) {
      const step = this.range({ ...rest, newestFirst, limit: perStep });
      yield* step;
      const last = step.at(-1);
      if (last === undefined || step.length < perStep) return;
      if (newestFirst) rest.to = last.key;
      else rest.from = keyAfter(last.key);
    }
  }

  /**
   * Reads entries in place: at most `limit` with from ≤ key < to, in order. A copy of each value would be most of what the
   * read of a large table costs.
   *
   * @param visit gets each; the value is valid until it returns, the key stays valid. It must not read the map.
   * @returns the last key; null when there is no entry.
   * @throws InvariantError when keys are not in order; what `visit` throws.
   */
  visit({ from, to, limit }: Omit<Range, 'newestFirst' | 'skip'>, visit: (entry: Entry) => void): Uint8Array | null {
    const values = this.#values;
    this.#checkNotVisiting();
    return guarded('reading a range', () => {
      let last: Uint8Array | null = null;
      values.isInPlace = true;
      try {
        for (const entry of this.map.getRange({ start: from, end: to, limit })) {
          // mutant: visited-order
          if (Buffer.compare(last ?? from, entry.key) > (last === null ? 0 : -1)) throw outOfPlace();
          last = entry.key;
          visit(entry);
        }
      } finally {
        values.isInPlace = false;
      }
      if (last !== null && Buffer.compare(last, to) >= 0) throw outOfPlace();
      return last;
    });
  }

  /** Copies the latest version into a new file, while others may write. */
  async copyTo(path: string): Promise<void> {
    try {
      await this.map.backup(path, false);
    } catch (error) {
      throw storageError('copying the map', error);
    }
  }

  close(): Promise<void> {
    return this.map.close();
  }

  #checkNotVisiting(): void {
    assert(!this.#values.isInPlace, 'map: it is not read while values are visited in place');
  }
}

/** The single writer of a data directory; reads see its own commits at once. */
export class StorageWriter extends StorageReader {
  /** How many times this directory was opened for writing, this one included. */
  readonly epoch: number;
  readonly #lock: DataLock;
  readonly #directory: string;

  constructor(map: OpenMap, lock: DataLock) {
    super(map);
    this.#directory = map.directory;
    this.#lock = lock;
    this.epoch = lock.epoch;
  }

  /**
   * All writes or none, on the disk when it returns.
   *
   * @throws StorageError when the disk or the map refuses; InvariantError when a rule is broken. Nothing is changed.
   */
  commit(writes: readonly Write[], watch: CommitWatch | null = null): void {
    guarded(
      'committing',
      () =>
        this.map.transactionSync(() => {
          for (const write of writes) this.#write(write, watch);
          if (watch !== null) for (const write of watch.end()) this.#write(write, null);
        }),
      this.#directory,
    );
  }

  #write({ key, value, rule, checkReplaced }: Write, watch: CommitWatch | null): void {
    if (value !== null && rule !== undefined && this.#putNew(key, value, rule)) {
      watch?.change(key, null, value);
      return;
    }
    if (rule === 'once' || rule === 'append') {
      throw new InvariantError(`storage: key ${Buffer.from(key).toString('hex')} is written once`);
    }
    // Inside the transaction, so that it sees what the writes before it have done.
    if (watch !== null || checkReplaced !== undefined) {
      const before = this.get(key);
      if (before !== null && value !== null) checkReplaced?.(key, before, value);
      watch?.change(key, before, value);
    }
    if (value === null) this.map.removeSync(key);
    else this.map.putSync(key, value);
  }

  /** @returns whether there was nothing under the key. */
  #putNew(key: Uint8Array, value: Uint8Array, rule: NonNullable<Write['rule']>): boolean {
    const isNew = this.map.putSync(key, value, rule === 'append' ? APPENDED : NEW) as unknown;
    return isNew === true;
  }

  override async close(): Promise<void> {
    await super.close();
    this.#lock.release();
  }
}

/**
 * Opens a data directory for writing, creating it when it is missing.
 *
 * @throws StorageError when another node holds it, when the disk refuses, or when its contents are of another version.
 */
export function openWriter(directory: string, options: EnvironmentOptions = {}): StorageWriter {
  const lock = options.lock ?? lockDirectory(directory);
  let map: OpenMap | null = null;
  try {
    map = guarded('opening the data directory', () => openMap(directory, false, options), directory);
    keepToOwner(directory);
    flushDirectory(directory);
    const writer = new StorageWriter(map, lock);
    if (writer.range(ANYTHING).length === 0) {
      writer.commit([{ key: DATA_VERSION_KEY, value: Buffer.from(nameOf(options), 'latin1') }]);
    }
    checkVersion(writer, directory, options);
    return writer;
  } catch (error) {
    void map?.map.close();
    lock.release();
    throw error;
  }
}

/** Opens an existing data directory for reading, from any thread or process. Close it before the thread ends. */
export function openReader(directory: string, options: EnvironmentOptions = {}): StorageReader {
  const reader = new StorageReader(guarded('opening the data directory', () => openMap(directory, true, options)));
  try {
    checkVersion(reader, directory, options);
  } catch (error) {
    void reader.close();
    throw error;
  }
  return reader;
}

/** The version of the data in a directory, whatever it is. @throws StorageError when there is no map, or it has none. */
export async function dataVersionOf(directory: string): Promise<number> {
  const reader = new StorageReader(guarded('opening the data directory', () => openMap(directory, true, {})));
  try {
    const name = storedVersion(reader);
    const version = Number(/^ringbook data ([1-9][0-9]{0,5})$/.exec(name)?.[1] ?? 0);
    if (version === 0) throw new StorageError(`${directory} holds "${name}", which is no data of ringbook`);
    return version;
  } finally {
    await reader.close();
  }
}

function storedVersion(reader: StorageReader): string {
  return Buffer.from(reader.get(DATA_VERSION_KEY) ?? []).toString('latin1');
}

function nameOf({ name, version }: EnvironmentOptions): string {
  return name ?? versionName(version);
}

function checkVersion(reader: StorageReader, directory: string, options: EnvironmentOptions): void {
  const found = storedVersion(reader);
  if (options.name !== undefined) {
    if (found === options.name) return;
    throw new StorageError(`${directory} holds "${found}"; this version of ringbook reads "${options.name}"`);
  }
  const refused = wrongVersion(directory, found, options.version ?? DATA_VERSION);
  if (refused !== null) throw refused;
}

/** The error of reading a map of the version named `found` as one of `version`, with what to do; null when it is. */
export function wrongVersion(directory: string, found: string, version: number): StorageError | null {
  const wanted = versionName(version);
  if (found === wanted) return null;
  const advice = `if it is older, "ringbook upgrade ${directory}" makes it that`;
  return new StorageError(`${directory} holds "${found}"; this version of ringbook reads "${wanted}": ${advice}`);
}

/**
 * The ledger is for the node's own user (MCH-04), also one that was made before or by another program. A file system without
 * modes, or files of another user, stay as they are.
 */
function keepToOwner(directory: string): void {
  for (const [path, mode] of [
    [directory, 0o700],
    [join(directory, MAP_FILE_NAME), 0o600],
    [join(directory, `${MAP_FILE_NAME}-lock`), 0o600],
  ] as const) {
    try {
      chmodSync(path, mode);
    } catch {
      // See above.
    }
  }
}

/** Makes the names of new files durable. */
function flushDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
