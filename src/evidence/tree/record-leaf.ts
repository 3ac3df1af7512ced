/**
 * What the log commits to: rows, blinded by salts, under one leaf a journal record (evidence.md 3.2, EVD-03).
 *
 *     salt(s, i)      HMAC-SHA-256(secret, "ringbook/salt/v1\n" ‖ u64 s ‖ u32 i)
 *     entry data      "ringbook/entry/v1\n" ‖ u64 sequence ‖ u32 index ‖ salt 32 ‖ row bytes without newline
 *     entries root    RFC 6962 root over the entries of one record, in order of `index`
 *     raw commitment  H("ringbook/raw/v1\n" ‖ salt(s, 0xffffffff) ‖ hash of the journal record)
 *     leaf, 111 B     "ringbook/record/v1\n" ‖ u64 sequence ‖ u64 epoch ‖ u64 time_ns ‖ u32 count ‖ entries root ‖ raw commitment
 *
 * Integers are big-endian. Nothing here depends on Node.js but the hash: the verifier in a page builds the same bytes.
 */
import { assert } from '../../core/assert.ts';
import { sha256 } from '../platform.ts';
import { EMPTY_TREE_ROOT, nodeHash, splitOf, TREE_HASH_BYTES } from './hashes.ts';

const SECRET_BYTES = 32;
export const SALT_BYTES = 32;
export const RECORD_LEAF_BYTES = 111;
const RAW_INDEX = 0xffff_ffff;
const U32 = 0x1_0000_0000;
const BLOCK_BYTES = 64;

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const SALT_CONTEXT = ascii('ringbook/salt/v1\n');
const ENTRY_CONTEXT = ascii('ringbook/entry/v1\n');
const RAW_CONTEXT = ascii('ringbook/raw/v1\n');
const LEAF_CONTEXT = ascii('ringbook/record/v1\n');

function writeU32(to: Uint8Array, at: number, value: number): void {
  assert(Number.isInteger(value) && value >= 0 && value < U32, 'evidence: a u32');
  to[at] = value >>> 24;
  to[at + 1] = value >>> 16;
  to[at + 2] = value >>> 8;
  to[at + 3] = value;
}

/** @param value 0 to 2^53 − 1. */
export function writeU64(to: Uint8Array, at: number, value: number): void {
  assert(Number.isSafeInteger(value) && value >= 0, 'evidence: a u64');
  writeU32(to, at, Math.floor(value / U32));
  writeU32(to, at + 4, value % U32);
}

function readU32(from: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = from.subarray(at, at + 4);
  return a * 0x100_0000 + b * 0x1_0000 + c * 0x100 + d;
}

/** @returns null above 2^53 − 1. */
export function readU64(from: Uint8Array, at: number): number | null {
  const value = readU32(from, at) * U32 + readU32(from, at + 4);
  return Number.isSafeInteger(value) ? value : null;
}

/** Salts of one evidence secret: the two blocks of the HMAC are filled once. */
export class Salts {
  readonly #inner: Uint8Array = new Uint8Array(BLOCK_BYTES + SALT_CONTEXT.length + 12);
  readonly #outer: Uint8Array = new Uint8Array(BLOCK_BYTES + TREE_HASH_BYTES);

  /** @param secret 32 bytes. */
  constructor(secret: Uint8Array) {
    assert(secret.length === SECRET_BYTES, 'evidence: a secret has 32 bytes');
    for (let index = 0; index < BLOCK_BYTES; index += 1) {
      const byte = secret[index] ?? 0;
      this.#inner[index] = byte ^ 0x36;
      this.#outer[index] = byte ^ 0x5c;
    }
    this.#inner.set(SALT_CONTEXT, BLOCK_BYTES);
  }

  /** The salt of row `index` of a record: 32 bytes. */
  salt(sequence: number, index: number): Uint8Array {
    const at = BLOCK_BYTES + SALT_CONTEXT.length;
    writeU64(this.#inner, at, sequence);
    writeU32(this.#inner, at + 8, index);
    this.#outer.set(sha256(this.#inner), BLOCK_BYTES);
    return sha256(this.#outer);
  }

  /** The salt of the record's own hash, which belongs to no row. */
  rawSalt(sequence: number): Uint8Array {
    return this.salt(sequence, RAW_INDEX);
  }
}

/** Where a row stands. */
interface EntryPlace {
  readonly sequence: number;
  readonly index: number;
  /** 32 bytes. */
  readonly salt: Uint8Array;
}

/** The leaf hash of one row. @param row its bytes, without a newline. */
export function entryHash({ sequence, index, salt }: EntryPlace, row: Uint8Array): Uint8Array {
  assert(salt.length === SALT_BYTES, 'evidence: a salt has 32 bytes');
  const at = 1 + ENTRY_CONTEXT.length;
  const bytes = new Uint8Array(at + 12 + SALT_BYTES + row.length);
  bytes.set(ENTRY_CONTEXT, 1);
  writeU64(bytes, at, sequence);
  writeU32(bytes, at + 8, index);
  bytes.set(salt, at + 12);
  bytes.set(row, at + 12 + SALT_BYTES);
  return sha256(bytes);
}

/** The RFC 6962 root over the entries of one record. @param hashes in order of `index`; none gives the root of nothing. */
export function entriesRoot(hashes: readonly Uint8Array[]): Uint8Array {
  return rootOf(hashes, 0, hashes.length);
}

function rootOf(hashes: readonly Uint8Array[], from: number, to: number): Uint8Array {
  if (to === from) return EMPTY_TREE_ROOT;
  if (to - from === 1) return hashes[from] as Uint8Array;
  const middle = from + splitOf(to - from);
  return nodeHash(rootOf(hashes, from, middle), rootOf(hashes, middle, to));
}

/**
 * The paths of some entries to the entries root, from the leaf up. The tree is built once, level by level: the last node of an odd
 * level goes up as it is, which gives the tree of RFC 6962.
 *
 * @param indexes each below the number of hashes.
 */
export function entryPaths(
  hashes: readonly Uint8Array[],
  indexes: readonly number[],
): readonly (readonly Uint8Array[])[] {
  const paths: Uint8Array[][] = indexes.map(() => []);
  let [level, height] = [hashes, 1];
  while (level.length > 1) {
    indexes.forEach((index, at) => {
      assert(index >= 0 && index < hashes.length, 'evidence: an entry of the record');
      const node = Math.floor(index / height);
      const sibling = level[node % 2 === 0 ? node + 1 : node - 1];
      if (sibling !== undefined) paths[at]?.push(sibling);
    });
    const above: Uint8Array[] = [];
    for (let node = 0; node < level.length; node += 2) {
      const [left, right] = [level[node] as Uint8Array, level[node + 1]];
      above.push(right === undefined ? left : nodeHash(left, right));
    }
    level = above;
    height *= 2;
  }
  return paths;
}

/** Binds a record's rows to its inputs. @param rawSalt of `Salts.rawSalt`. @param recordHash 32 bytes, of the journal. */
export function rawCommitment(rawSalt: Uint8Array, recordHash: Uint8Array): Uint8Array {
  assert(
    rawSalt.length === SALT_BYTES && recordHash.length === TREE_HASH_BYTES,
    'evidence: a salt and a hash of 32 bytes',
  );
  const bytes = new Uint8Array(RAW_CONTEXT.length + SALT_BYTES + TREE_HASH_BYTES);
  bytes.set(RAW_CONTEXT);
  bytes.set(rawSalt, RAW_CONTEXT.length);
  bytes.set(recordHash, RAW_CONTEXT.length + SALT_BYTES);
  return sha256(bytes);
}

/** One leaf of the log: one journal record. */
export interface RecordLeaf {
  readonly sequence: number;
  readonly epoch: number;
  readonly timeNs: bigint;
  /** Rows of the record. */
  readonly count: number;
  readonly entriesRoot: Uint8Array;
  readonly rawCommitment: Uint8Array;
}

/** @returns the leaf's data, 111 bytes. */
export function recordLeaf(leaf: RecordLeaf): Uint8Array {
  const bytes = new Uint8Array(RECORD_LEAF_BYTES);
  bytes.set(LEAF_CONTEXT);
  const at = LEAF_CONTEXT.length;
  writeU64(bytes, at, leaf.sequence);
  writeU64(bytes, at + 8, leaf.epoch);
  new DataView(bytes.buffer).setBigUint64(at + 16, leaf.timeNs);
  writeU32(bytes, at + 24, leaf.count);
  bytes.set(leaf.entriesRoot, at + 28);
  bytes.set(leaf.rawCommitment, at + 28 + TREE_HASH_BYTES);
  return bytes;
}

/** The leaf of its 111 bytes; null when they are none. */
export function readRecordLeaf(bytes: Uint8Array): RecordLeaf | null {
  const at = LEAF_CONTEXT.length;
  if (bytes.length !== RECORD_LEAF_BYTES || LEAF_CONTEXT.some((byte, index) => bytes[index] !== byte)) return null;
  const [sequence, epoch] = [readU64(bytes, at), readU64(bytes, at + 8)];
  if (sequence === null || epoch === null) return null;
  return {
    sequence,
    epoch,
    timeNs: new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(at + 16),
    count: readU32(bytes, at + 24),
    entriesRoot: bytes.slice(at + 28, at + 28 + TREE_HASH_BYTES),
    rawCommitment: bytes.slice(at + 28 + TREE_HASH_BYTES),
  };
}
