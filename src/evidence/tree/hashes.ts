/** Hashes of an RFC 6962 tree: leaf H(0x00 ‖ data), node H(0x01 ‖ left ‖ right), empty tree H(""). H is SHA-256. */
import { assert } from '../../core/assert.ts';
import { sha256 } from '../platform.ts';

export const TREE_HASH_BYTES = 32;
/** The root of a tree without leaves. */
export const EMPTY_TREE_ROOT: Uint8Array = sha256(new Uint8Array(0));

const NODE = new Uint8Array(1 + 2 * TREE_HASH_BYTES);
NODE[0] = 1;

/** @param data the bytes of a leaf. */
export function leafHash(data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + data.length);
  bytes.set(data, 1);
  return sha256(bytes);
}

/** @param left 32 bytes. @param right 32 bytes. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  assert(left.length === TREE_HASH_BYTES && right.length === TREE_HASH_BYTES, 'tree: a hash has 32 bytes');
  NODE.set(left, 1);
  NODE.set(right, 1 + TREE_HASH_BYTES);
  return sha256(NODE);
}

/** Whether two hashes are the same bytes. */
export function isSameHash(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

/** The largest power of two below `count`, at which a tree of `count` leaves is split. @param count above 1. */
export function splitOf(count: number): number {
  let split = 1;
  while (split * 2 < count) split *= 2;
  return split;
}
