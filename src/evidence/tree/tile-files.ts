/**
 * The hashes of the log's tree on disk: for each level an append-only row of hashes, so that a tile is a slice of a file.
 *
 *     <folder>/<level, 2 digits>/<segment, 6 digits>     up to 2^20 hashes of 32 bytes; a full segment never changes again
 *
 * A hash of level L+1 is appended with the leaf that completes its 256 hashes of level L. What is behind the size that a caller
 * holds for durable is cut by `truncate`; hashes of higher levels are never needed to find those of lower ones.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { assert } from '../../core/assert.ts';
import { splitOf, TREE_HASH_BYTES } from './hashes.ts';
import { perfectRoot, TILE_HEIGHT, TILE_WIDTH, type TileReader } from './proofs.ts';
import { TreeEdge } from './tree-edge.ts';

/** Hashes of one file: 32 MiB. */
const SEGMENT_HASHES: number = 2 ** 20;
/** Hashes that are gathered of one level before they are written. */
const GATHERED_MAX = 4_096;
/** Descriptors that stay open for reading. */
const OPEN_MAX = 64;
/** 256^6 leaves are more than 2^47. */
const LEVELS_MAX = 7;

class TileFilesError extends Error {
  override readonly name = 'TileFilesError';
}

const hashesOf = (size: number, level: number): number => Math.floor(size / TILE_WIDTH ** level);

/** One owner appends; others read what it has written. */
type Access = 'append' | 'read';

/** One level: what is on disk, and what is gathered behind it. */
class Level {
  readonly #folder: string;
  /** Hashes of both. */
  #count: number;
  #gathered: Uint8Array = new Uint8Array(64 * TREE_HASH_BYTES);
  #gatheredCount = 0;
  readonly #open = new Map<number, number>();
  readonly #unsynced = new Set<number>();

  readonly #access: Access;

  constructor(folder: string, access: Access) {
    this.#folder = folder;
    this.#access = access;
    this.#count = storedCount(folder);
  }

  get count(): number {
    return this.#count;
  }

  append(hash: Uint8Array): void {
    if (this.#gatheredCount * TREE_HASH_BYTES === this.#gathered.length) this.#grow();
    this.#gathered.set(hash, this.#gatheredCount * TREE_HASH_BYTES);
    this.#gatheredCount += 1;
    this.#count += 1;
    if (this.#gatheredCount === GATHERED_MAX) this.write();
  }

  #grow(): void {
    const larger = new Uint8Array(Math.min(2 * this.#gathered.length, GATHERED_MAX * TREE_HASH_BYTES));
    larger.set(this.#gathered);
    this.#gathered = larger;
  }

  /** Writes what is gathered: it can be read by others, and is not durable yet. */
  write(): void {
    let done = 0;
    let at = this.#count - this.#gatheredCount;
    while (done < this.#gatheredCount) {
      const segment = Math.floor(at / SEGMENT_HASHES);
      const count = Math.min(this.#gatheredCount - done, (segment + 1) * SEGMENT_HASHES - at);
      const bytes = this.#gathered.subarray(done * TREE_HASH_BYTES, (done + count) * TREE_HASH_BYTES);
      writeAll(this.#descriptor(segment), bytes, (at % SEGMENT_HASHES) * TREE_HASH_BYTES);
      this.#unsynced.add(segment);
      done += count;
      at += count;
    }
    this.#gatheredCount = 0;
  }

  /** What was appended is durable afterwards. */
  sync(): void {
    this.write();
    for (const segment of this.#unsynced) fsyncSync(this.#descriptor(segment));
    this.#unsynced.clear();
  }

  read(index: number, count: number): Uint8Array {
    const bytes = new Uint8Array(count * TREE_HASH_BYTES);
    if (this.#access === 'read' && index + count > this.#count) this.#count = storedCount(this.#folder);
    if (index < 0 || index + count > this.#count) {
      throw new TileFilesError(`${this.#folder} has ${this.#count} hashes: ${index} to ${index + count} are not there`);
    }
    if (index + count > this.#count - this.#gatheredCount) this.write();
    for (let done = 0; done < count; ) {
      const segment = Math.floor((index + done) / SEGMENT_HASHES);
      const some = Math.min(count - done, (segment + 1) * SEGMENT_HASHES - index - done);
      const part = bytes.subarray(done * TREE_HASH_BYTES, (done + some) * TREE_HASH_BYTES);
      const at = ((index + done) % SEGMENT_HASHES) * TREE_HASH_BYTES;
      if (readSync(this.#descriptor(segment), part, 0, part.length, at) !== part.length) {
        throw new TileFilesError(`${this.#path(segment)} ends before hash ${index + done + some}`);
      }
      done += some;
    }
    return bytes;
  }

  /** Cuts everything behind the first `count` hashes. */
  truncate(count: number): void {
    assert(count <= this.#count, 'tiles: no longer than before');
    this.write();
    this.close();
    const last = Math.floor(count / SEGMENT_HASHES);
    for (const segment of segmentsOf(this.#folder)) if (segment > last) rmSync(this.#path(segment));
    this.#count = count;
    if (!existsSync(this.#path(last))) return;
    const descriptor = this.#descriptor(last);
    ftruncateSync(descriptor, (count % SEGMENT_HASHES) * TREE_HASH_BYTES);
    fsyncSync(descriptor);
  }

  close(): void {
    for (const descriptor of this.#open.values()) closeSync(descriptor);
    this.#open.clear();
    this.#unsynced.clear();
  }

  #path(segment: number): string {
    return join(this.#folder, String(segment).padStart(6, '0'));
  }

  #descriptor(segment: number): number {
    const known = this.#open.get(segment);
    if (known !== undefined) return known;
    if (this.#open.size >= OPEN_MAX) this.#closeOldest();
    const path = this.#path(segment);
    const isOwner = this.#access === 'append';
    if (isOwner && !existsSync(path)) this.#make(path);
    const descriptor = openSync(path, isOwner ? 'r+' : 'r');
    this.#open.set(segment, descriptor);
    return descriptor;
  }

  /** A file whose folder does not name it for sure is no file. */
  #make(path: string): void {
    if (!existsSync(this.#folder)) {
      mkdirSync(this.#folder, { recursive: true });
      syncFolder(join(this.#folder, '..'));
    }
    closeSync(openSync(path, 'a'));
    syncFolder(this.#folder);
  }

  #closeOldest(): void {
    for (const [segment, descriptor] of this.#open) {
      if (this.#unsynced.has(segment)) continue;
      closeSync(descriptor);
      this.#open.delete(segment);
      return;
    }
  }
}

function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function segmentsOf(folder: string): readonly number[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^\d{6,}$/.test(name))
    .map(Number)
    .sort((one, other) => one - other);
}

/** Whole hashes in the files of a folder: those before the last are full. */
function storedCount(folder: string): number {
  let count = 0;
  for (const segment of segmentsOf(folder)) {
    const { size } = statSync(join(folder, String(segment).padStart(6, '0')));
    if (count !== segment * SEGMENT_HASHES) throw new TileFilesError(`${folder} has no full file before ${segment}`);
    count += Math.floor(size / TREE_HASH_BYTES);
  }
  return count;
}

function writeAll(descriptor: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done, bytes.length - done, at + done);
}

/** The stored hashes of a tree that grows. */
export class TileFiles implements TileReader {
  readonly #levels: readonly Level[];

  /** @param folder is made with the first hash. @throws TileFilesError when a file of the middle is missing or short. */
  constructor(folder: string, access: Access) {
    const ofLevel = (level: number): string => join(folder, String(level).padStart(2, '0'));
    this.#levels = Array.from({ length: LEVELS_MAX }, (_, level) => new Level(ofLevel(level), access));
  }

  /** Leaves that are there, durable or not. */
  get size(): number {
    return this.#levels[0]?.count ?? 0;
  }

  /** Appends a leaf to `edge` and all hashes that it completes to the files. @param edge of exactly these leaves. */
  append(edge: TreeEdge, hash: Uint8Array): void {
    assert(edge.size === this.size, 'tiles: the edge of these leaves');
    edge.append(hash, (height, _index, node) => {
      if (height % TILE_HEIGHT === 0) this.#levels[height / TILE_HEIGHT]?.append(node);
    });
  }

  /** What was appended can be read by others that open the folder; it is not durable yet. */
  write(): void {
    for (const level of this.#levels) level.write();
  }

  /** What was appended is durable afterwards. */
  sync(): void {
    for (const level of this.#levels) level.sync();
  }

  read(level: number, index: number, count: number): Uint8Array {
    const stored = this.#levels[level];
    if (stored === undefined) throw new TileFilesError(`there is no level ${level}`);
    return stored.read(index, count);
  }

  /**
   * Cuts what is behind the first `size` leaves, and returns their edge. Hashes of higher levels that a crash took are made again.
   *
   * @throws TileFilesError when fewer leaves are there.
   */
  truncate(size: number): TreeEdge {
    if (this.size < size) throw new TileFilesError(`there are ${this.size} leaves of ${size}`);
    this.#levels.forEach((level, number) => {
      if (level.count > hashesOf(size, number)) level.truncate(hashesOf(size, number));
    });
    for (let number = 1; number < LEVELS_MAX; number += 1) this.#complete(number, hashesOf(size, number));
    return edgeAt(this, size);
  }

  close(): void {
    for (const level of this.#levels) level.close();
  }

  #complete(number: number, count: number): void {
    const level = this.#levels[number] as Level;
    while (level.count < count) {
      const edge = new TreeEdge();
      const tile = this.read(number - 1, level.count * TILE_WIDTH, TILE_WIDTH);
      for (let at = 0; at < tile.length; at += TREE_HASH_BYTES) edge.append(tile.subarray(at, at + TREE_HASH_BYTES));
      level.append(edge.root());
    }
  }
}

/** The edge of the first `size` leaves. */
export function edgeAt(reader: TileReader, size: number): TreeEdge {
  const nodes: Uint8Array[] = [];
  for (let from = 0; from < size; ) {
    const count = splitOf(size - from + 1);
    nodes.push(perfectRoot(reader, from, count));
    from += count;
  }
  return TreeEdge.of(size, nodes);
}
