/**
 * Proofs of RFC 6962 (section 2.1) over the stored hashes of a tree, for any size that it had, and their verification by RFC 9162
 * (2.1.3.2 and 2.1.4.2). Sizes and indexes are whole numbers below 2^53.
 */
import { assert } from '../../core/assert.ts';
import { EMPTY_TREE_ROOT, isSameHash, nodeHash, splitOf, TREE_HASH_BYTES } from './hashes.ts';

/** Levels of a tree that are stored: every eighth (C2SP tlog-tiles). */
export const TILE_HEIGHT = 8;
export const TILE_WIDTH: number = 2 ** TILE_HEIGHT;

/** The stored hashes of a tree. */
export interface TileReader {
  /**
   * @param level 0 for leaves; a hash of level L is the root of 256^L leaves. @param index of the first hash.
   * @returns `count` hashes of 32 bytes each, one behind the other. @throws when they are not there.
   */
  read(level: number, index: number, count: number): Uint8Array;
}

/** The root of leaves `from` to `to` (exclusive), which must be those of one subtree of RFC 6962. */
function rangeRoot(reader: TileReader, from: number, to: number): Uint8Array {
  const count = to - from;
  const split = splitOf(count);
  if (count === 1 || split * 2 === count) return perfectRoot(reader, from, count);
  return nodeHash(perfectRoot(reader, from, split), rangeRoot(reader, from + split, to));
}

/** The root of `count` leaves from `from`. @param count a power of two of which `from` is a multiple. */
export function perfectRoot(reader: TileReader, from: number, count: number): Uint8Array {
  let [level, span] = [0, 1];
  while (span * TILE_WIDTH <= count) {
    span *= TILE_WIDTH;
    level += 1;
  }
  const stored = reader.read(level, from / span, count / span);
  assert(stored.length === (count / span) * TREE_HASH_BYTES, 'tree: stored hashes of 32 bytes');
  const at = (index: number): Uint8Array => stored.subarray(index * TREE_HASH_BYTES, (index + 1) * TREE_HASH_BYTES);
  let hashes = Array.from({ length: count / span }, (_, index) => at(index));
  while (hashes.length > 1) {
    hashes = Array.from({ length: hashes.length / 2 }, (_, index) =>
      nodeHash(hashes[2 * index] as Uint8Array, hashes[2 * index + 1] as Uint8Array),
    );
  }
  return Uint8Array.from(hashes[0] as Uint8Array);
}

/** The root of the first `size` leaves: 32 bytes. */
export function rootAt(reader: TileReader, size: number): Uint8Array {
  return size === 0 ? EMPTY_TREE_ROOT : rangeRoot(reader, 0, size);
}

/** The path of leaf `index` to the root of the first `size` leaves, from the leaf up. @param index below `size`. */
export function inclusionProof(reader: TileReader, index: number, size: number): readonly Uint8Array[] {
  assert(index >= 0 && index < size, 'tree: a leaf of the tree');
  const path: Uint8Array[] = [];
  let [from, to] = [0, size];
  while (to - from > 1) {
    const middle = from + splitOf(to - from);
    if (index < middle) {
      path.push(rangeRoot(reader, middle, to));
      to = middle;
    } else {
      path.push(rangeRoot(reader, from, middle));
      from = middle;
    }
  }
  return path.reverse();
}

/** That the tree of `size` leaves continues that of `older` leaves. @param older 0 to `size`; 0 and `size` need no hash. */
export function consistencyProof(reader: TileReader, older: number, size: number): readonly Uint8Array[] {
  assert(older >= 0 && older <= size, 'tree: an older size');
  if (older === 0 || older === size) return [];
  const proof: Uint8Array[] = [];
  let [from, to, isComplete] = [0, size, true];
  while (older !== to) {
    const middle = from + splitOf(to - from);
    if (older <= middle) {
      proof.push(rangeRoot(reader, middle, to));
      to = middle;
    } else {
      proof.push(rangeRoot(reader, from, middle));
      from = middle;
      isComplete = false;
    }
  }
  if (!isComplete) proof.push(rangeRoot(reader, from, to));
  return proof.reverse();
}

/** RFC 9162 2.1.3.2. @returns the root to which the path leads; null when its length is not that of (index, size). */
export function rootOfPath(
  index: number,
  size: number,
  hash: Uint8Array,
  path: readonly Uint8Array[],
): Uint8Array | null {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return null;
  let [node, last, root] = [index, size - 1, hash];
  for (const sibling of path) {
    if (last === 0 || sibling.length !== TREE_HASH_BYTES) return null;
    if (node % 2 === 1 || node === last) {
      root = nodeHash(sibling, root);
      while (node % 2 === 0 && node !== 0) {
        node /= 2;
        last = Math.floor(last / 2);
      }
    } else root = nodeHash(root, sibling);
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? root : null;
}

/** A tree of a size. */
export interface TreeState {
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** RFC 9162 2.1.4.2: whether `newer` continues `older`. The empty tree is continued by every tree, without a hash. */
export function isConsistent(older: TreeState, newer: TreeState, proof: readonly Uint8Array[]): boolean {
  if (!Number.isSafeInteger(older.size) || !Number.isSafeInteger(newer.size)) return false;
  if (older.size < 0 || older.size > newer.size || proof.some((hash) => hash.length !== TREE_HASH_BYTES)) return false;
  if (older.size === 0) return proof.length === 0 && isSameHash(older.root, EMPTY_TREE_ROOT);
  if (older.size === newer.size) return proof.length === 0 && isSameHash(older.root, newer.root);
  const hashes = isPowerOfTwo(older.size) ? [older.root, ...proof] : proof;
  let [node, last] = [older.size - 1, newer.size - 1];
  while (node % 2 === 1) {
    node = (node - 1) / 2;
    last = Math.floor(last / 2);
  }
  const [first, ...rest] = hashes;
  if (first === undefined) return false;
  let [olderRoot, newerRoot] = [first, first];
  for (const hash of rest) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      olderRoot = nodeHash(hash, olderRoot);
      newerRoot = nodeHash(hash, newerRoot);
      while (node % 2 === 0 && node !== 0) {
        node /= 2;
        last = Math.floor(last / 2);
      }
    } else newerRoot = nodeHash(newerRoot, hash);
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && isSameHash(olderRoot, older.root) && isSameHash(newerRoot, newer.root);
}

function isPowerOfTwo(size: number): boolean {
  return size === 1 || splitOf(size) * 2 === size;
}
