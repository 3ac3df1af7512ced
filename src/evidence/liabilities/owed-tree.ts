/**
 * The tree of what the venue owes of one asset (LIA-03): a node has the sum of what is below it, and both sums are hashed with both hashes,
 * so that no part can be left out or made negative without another root.
 *
 *     ctx      H("ringbook/owed-ctx/v1\n" ‖ origin ‖ "\n" ‖ u64 sequence ‖ asset id)
 *     chunk    part i of k of what one sub-account is owed, its size and its nonce drawn from the evidence secret
 *     leaf     H(0x00 ‖ "ringbook/owed/v1\n" ‖ ctx ‖ u128 amount ‖ nonce 32 ‖ user 32 ‖ u16 sub ‖ u32 i ‖ u32 k ‖ u64 n ‖ last 32)
 *     node     H(0x01 ‖ u128 left sum ‖ left hash ‖ u128 right sum ‖ right hash), a sum below 2^127
 *
 * Leaves stand in rising order of their hashes, which says nothing about users. Behind them stand zero leaves, with the amount 0 and 32 zero bytes
 * for a hash, up to a power of two of at least 1,024. Integers are big-endian; amounts have 18 decimals.
 */
import { assert, must } from '../../core/assert.ts';
import { parseHex } from '../../core/hex.ts';
import { sha256 } from '../platform.ts';
import { TREE_HASH_BYTES } from '../tree/hashes.ts';
import { writeU64 } from '../tree/record-leaf.ts';

/** No tree has fewer leaves, so that a small number of users is not seen. */
export const OWED_LEAVES_MIN = 1_024;
/** Chunks of one amount. */
export const CHUNKS_MIN = 2;
export const CHUNKS_MAX = 5;
const SUM_END = 1n << 127n;
const U128_BYTES = 16;
const HASH_BITS = 256n;
const ascii = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const CONTEXT = ascii('ringbook/owed-ctx/v1\n');
const LEAF_CONTEXT = ascii('ringbook/owed/v1\n');
const SPLIT_CONTEXT = ascii('ringbook/split/v1\n');
const NONCE_CONTEXT = ascii('ringbook/nonce/v1\n');
/** The number that draws how many chunks there are; no chunk has it. */
const COUNT_DRAW = 0xffff_ffff;

/** What one sub-account is owed of one asset. */
export interface Owed {
  /** 64 hex digits. */
  readonly user: string;
  readonly subAccount: number;
  /** Above 0. */
  readonly amount: bigint;
  /** Number of the user's last row in the row log; 0 when there is none. */
  readonly n: number;
  /** Leaf hash of that row, 32 bytes; zeros when there is none. */
  readonly last: Uint8Array;
}

/** One leaf before it is hashed. */
export interface OwedChunk extends Owed {
  /** 0 to k − 1. */
  readonly i: number;
  readonly k: number;
  /** 32 bytes. */
  readonly nonce: Uint8Array;
}

/** A node of the tree: the sum of the amounts below it, and its hash. */
export interface OwedNode {
  readonly sum: bigint;
  readonly hash: Uint8Array;
}

const ZERO_LEAF: OwedNode = { sum: 0n, hash: new Uint8Array(TREE_HASH_BYTES) };

/** Binds a tree to its log, its place in the journal, and its asset: 32 bytes. */
export function owedContext(origin: string, sequence: number, assetId: string): Uint8Array {
  const tail = new TextEncoder().encode(assetId);
  const name = ascii(origin);
  const at = CONTEXT.length + name.length + 1;
  const bytes = new Uint8Array(at + 8 + tail.length);
  bytes.set(CONTEXT);
  bytes.set(name, CONTEXT.length);
  bytes[at - 1] = 0x0a;
  writeU64(bytes, at, sequence);
  bytes.set(tail, at + 8);
  return sha256(bytes);
}

/** Whether it can be an amount or a sum of this tree. */
export function isOwedSum(value: bigint): boolean {
  return value >= 0n && value < SUM_END;
}

function writeU128(to: Uint8Array, at: number, value: bigint): void {
  assert(isOwedSum(value), 'owed: an amount or a sum below 2^127');
  const view = new DataView(to.buffer, to.byteOffset);
  view.setBigUint64(at, value >> 64n);
  view.setBigUint64(at + 8, value & 0xffff_ffff_ffff_ffffn);
}

function writeU32(to: Uint8Array, at: number, value: number): void {
  new DataView(to.buffer, to.byteOffset).setUint32(at, value);
}

/** @returns the leaf of a chunk. @param context of `owedContext`. */
export function owedLeaf(context: Uint8Array, chunk: OwedChunk): OwedNode {
  const { amount, nonce, user, subAccount, i, k, n, last } = chunk;
  assert(nonce.length === TREE_HASH_BYTES && last.length === TREE_HASH_BYTES, 'owed: a nonce and a hash of 32 bytes');
  const bytes = new Uint8Array(1 + LEAF_CONTEXT.length + 4 * TREE_HASH_BYTES + U128_BYTES + 2 + 4 + 4 + 8);
  let at = 1;
  const put = (part: Uint8Array): void => {
    bytes.set(part, at);
    at += part.length;
  };
  put(LEAF_CONTEXT);
  put(context);
  writeU128(bytes, at, amount);
  at += U128_BYTES;
  put(nonce);
  put(must(parseHex(user, TREE_HASH_BYTES), 'owed: a user is 32 bytes of hex'));
  new DataView(bytes.buffer).setUint16(at, subAccount);
  writeU32(bytes, at + 2, i);
  writeU32(bytes, at + 6, k);
  writeU64(bytes, at + 10, n);
  at += 18;
  put(last);
  return { sum: amount, hash: sha256(bytes) };
}

/** @returns null when the sum of both is not below 2^127. */
export function owedNode(left: OwedNode, right: OwedNode): OwedNode | null {
  const sum = left.sum + right.sum;
  if (!isOwedSum(left.sum) || !isOwedSum(right.sum) || !isOwedSum(sum)) return null;
  const side = U128_BYTES + TREE_HASH_BYTES;
  const bytes = new Uint8Array(1 + 2 * side);
  bytes[0] = 1;
  writeU128(bytes, 1, left.sum);
  bytes.set(left.hash, 1 + U128_BYTES);
  writeU128(bytes, 1 + side, right.sum);
  bytes.set(right.hash, 1 + side + U128_BYTES);
  return { sum, hash: sha256(bytes) };
}

/** Draws of the evidence secret for one sub-account in one tree. */
class Draws {
  readonly #secret: Uint8Array;
  readonly #place: Uint8Array;

  constructor(secret: Uint8Array, context: Uint8Array, { user, subAccount }: Pick<Owed, 'user' | 'subAccount'>) {
    this.#secret = secret;
    this.#place = new Uint8Array(2 * TREE_HASH_BYTES + 2);
    this.#place.set(context);
    this.#place.set(must(parseHex(user, TREE_HASH_BYTES), 'owed: a user is 32 bytes of hex'), TREE_HASH_BYTES);
    new DataView(this.#place.buffer).setUint16(2 * TREE_HASH_BYTES, subAccount);
  }

  /** HMAC-SHA-256(secret, purpose ‖ ctx ‖ user ‖ u16 sub ‖ u32 i). */
  draw(purpose: Uint8Array, i: number): Uint8Array {
    const message = new Uint8Array(purpose.length + this.#place.length + 4);
    message.set(purpose);
    message.set(this.#place, purpose.length);
    writeU32(message, message.length - 4, i);
    return hmac(this.#secret, message);
  }
}

function hmac(secret: Uint8Array, message: Uint8Array): Uint8Array {
  const block = 64;
  const inner = new Uint8Array(block + message.length).fill(0x36, 0, block);
  const outer = new Uint8Array(block + TREE_HASH_BYTES).fill(0x5c, 0, block);
  for (const [index, byte] of secret.entries()) {
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  }
  inner.set(message, block);
  outer.set(sha256(inner), block);
  return sha256(outer);
}

function numberOf(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = value * 256n + BigInt(byte);
  return value;
}

/**
 * What one sub-account is owed as chunks whose sizes follow from the secret alone: the same each time.
 *
 * @param secret the evidence secret, 32 bytes. @param context of `owedContext`.
 */
export function chunksOf(secret: Uint8Array, context: Uint8Array, owed: Owed): readonly OwedChunk[] {
  assert(secret.length === TREE_HASH_BYTES, 'owed: a secret has 32 bytes');
  assert(owed.amount > 0n && isOwedSum(owed.amount), 'owed: an amount above 0 and below 2^127');
  const draws = new Draws(secret, context, owed);
  const [first = 0] = draws.draw(SPLIT_CONTEXT, COUNT_DRAW);
  const k = CHUNKS_MIN + (first % (CHUNKS_MAX - CHUNKS_MIN + 1));
  let left = owed.amount;
  return Array.from({ length: k }, (_, i) => {
    const drawn = (numberOf(draws.draw(SPLIT_CONTEXT, i)) * (left + 1n)) >> HASH_BITS;
    const amount = i === k - 1 ? left : drawn;
    left -= amount;
    return { ...owed, amount, i, k, nonce: draws.draw(NONCE_CONTEXT, i) };
  });
}

/** Leaves of a tree with so many chunks, zero leaves counted. */
export function owedWidth(chunks: number): number {
  let width = OWED_LEAVES_MIN;
  while (width < chunks) width *= 2;
  return width;
}

/** By level, the node over zero leaves alone: as many as a path of a tree of so many chunks has. */
export function emptyNodes(chunks: number): readonly OwedNode[] {
  let empty: OwedNode = ZERO_LEAF;
  const empties: OwedNode[] = [];
  for (let width = owedWidth(chunks); width > 1; width /= 2) {
    empties.push(empty);
    empty = must(owedNode(empty, empty), 'owed: nothing is owed to nobody');
  }
  return empties;
}

/** One asset's tree: every level is kept, about 100 bytes a chunk. */
export class OwedTree {
  /** Chunks, without zero leaves. */
  readonly leaves: number;
  readonly root: OwedNode;
  readonly #levels: readonly (readonly OwedNode[])[];
  /** By level: the node over zero leaves alone. */
  readonly #empties: readonly OwedNode[];
  readonly #places: ReadonlyMap<OwedChunk, number>;

  /** @throws InvariantError when two leaves are equal, or when what is owed is not below 2^127. */
  constructor(context: Uint8Array, chunks: readonly OwedChunk[]) {
    this.leaves = chunks.length;
    const leaves = chunks.map((chunk) => ({ chunk, leaf: owedLeaf(context, chunk) }));
    leaves.sort((a, b) => compareBytes(a.leaf.hash, b.leaf.hash));
    for (const [index, { leaf }] of leaves.entries()) {
      const before = leaves[index - 1];
      assert(before === undefined || compareBytes(before.leaf.hash, leaf.hash) < 0, 'owed: no leaf is there twice');
    }
    this.#places = new Map(leaves.map(({ chunk }, index) => [chunk, index]));
    const levels: (readonly OwedNode[])[] = [leaves.map(({ leaf }) => leaf)];
    const empties = emptyNodes(chunks.length);
    for (const filler of empties) {
      const below = levels.at(-1) ?? [];
      const level: OwedNode[] = [];
      for (let index = 0; index < below.length; index += 2) {
        const node = owedNode(below[index] ?? filler, below[index + 1] ?? filler);
        level.push(must(node, 'owed: what is owed of an asset is below 2^127'));
      }
      levels.push(level);
    }
    this.#levels = levels;
    this.#empties = empties;
    const [empty = ZERO_LEAF] = empties.slice(-1);
    this.root = levels.at(-1)?.[0] ?? must(owedNode(empty, empty), 'owed: nothing is owed to nobody');
  }

  /** From the leaves up, without nodes over zero leaves alone. */
  get levels(): readonly (readonly OwedNode[])[] {
    return this.#levels;
  }

  /** Where a chunk stands and its siblings from the leaf up. @param chunk one of those that the tree was made of. */
  proofOf(chunk: OwedChunk): { readonly index: number; readonly path: readonly OwedNode[] } {
    const index = must(this.#places.get(chunk), 'owed: a chunk of the tree');
    let at = index;
    const path = this.#empties.map((empty, level) => {
      const sibling = this.#levels[level]?.[at ^ 1] ?? empty;
      at >>>= 1;
      return sibling;
    });
    return { index, path };
  }
}

/** Where the path of a leaf leads; null when a sum is not one, or when the path has not the length of a tree of so many chunks. */
export function rootOfOwedPath(
  leaf: OwedNode,
  { index, path }: { readonly index: number; readonly path: readonly OwedNode[] },
  chunks: number,
): OwedNode | null {
  const width = owedWidth(chunks);
  if (!Number.isSafeInteger(index) || index < 0 || index >= chunks || 2 ** path.length !== width) return null;
  let node: OwedNode | null = leaf;
  for (const [level, sibling] of path.entries()) {
    if (sibling.hash.length !== TREE_HASH_BYTES) return null;
    const isRight: boolean = Math.floor(index / 2 ** level) % 2 === 1;
    node = isRight ? owedNode(sibling, node) : owedNode(node, sibling);
    if (node === null) return null;
  }
  return node;
}

function compareBytes(one: Uint8Array, other: Uint8Array): number {
  for (const [index, byte] of one.entries()) {
    const difference = byte - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
