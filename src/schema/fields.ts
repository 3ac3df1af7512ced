/**
 * Fields of messages and records that are more than one number: text, keys, bytes, and the copy of a whole struct. The
 * generated accessors (generated/messages.ts) are made of these and of the typed views.
 *
 * Not here: 128-bit amounts (int128.ts).
 */
import { assert } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import type { Views } from '../core/views.ts';

const USER_BYTES = 32;
const USER_WORDS = 8;
/** A power of two. */
const READ_USERS = 4_096;

/** Takes the fields of a struct one by one, in declaration order: what a digest of them is made of. */
export interface FieldSink {
  /** A safe integer; of a flag 0 or 1. */
  number(value: number): unknown;
  /** From 0 to 2^64 − 1. */
  nanoseconds(value: bigint): unknown;
  /** A signed amount of 128 bits. */
  amount(value: bigint): unknown;
  /** ASCII. */
  text(value: string): unknown;
  /** Valid until the call returns. */
  hex(bytes: Uint8Array): unknown;
}

/** One Buffer over each buffer that messages lie in: making one per field would cost more than the field. */
const buffers = new WeakMap<Uint8Array, Buffer>();

/** All bytes of the views, for text conversions at offsets. */
function bufferOf(v: Views): Buffer {
  const known = buffers.get(v.u8);
  if (known !== undefined) return known;
  const buffer = Buffer.from(v.u8.buffer, v.u8.byteOffset, v.u8.byteLength);
  buffers.set(v.u8, buffer);
  return buffer;
}

/** ASCII text of a message. */
export function readText(v: Views, at: number, length: number): string {
  return bufferOf(v).latin1Slice(at, at + length);
}

/** Writes ASCII text; the caller guarantees that it fits. */
export function writeText(v: Views, at: number, text: string): void {
  bufferOf(v).latin1Write(text, at, text.length);
}

/** Writes ASCII text into a field of `bytes` bytes; the rest of the field is zeros. @returns the length of the text. */
export function writeTextField(v: Views, at: number, bytes: number, text: string): number {
  assert(text.length <= bytes, 'a text is not longer than its field');
  if (text.length < bytes) v.u8.fill(0, at + text.length, at + bytes);
  if (text.length > 0) writeText(v, at, text);
  return text.length;
}

export function readOrderId(v: Views, at: number, length: number): OrderId {
  return readText(v, at, length) as OrderId;
}

/** A copy of a field of bytes. */
export function readBytes(v: Views, at: number, length: number): Uint8Array {
  return v.u8.slice(at, at + length);
}

/** Writes bytes into a field of `length` bytes; the rest of the field is zeros. */
export function writeBytes(v: Views, at: number, length: number, bytes: Uint8Array): void {
  assert(bytes.length <= length, 'bytes are not longer than their field');
  if (bytes.length < length) v.u8.fill(0, at + bytes.length, at + length);
  v.u8.set(bytes, at);
}

/** Writes the 32 bytes of a user id at `at`. */
export function writeUser(v: Views, at: number, user: UserId): void {
  bufferOf(v).hexWrite(user, at, USER_BYTES);
}

/**
 * The text of a user id. The same users are read again and again: the text of a recently read one is reused, which is
 * faster than making it, and lookups by the same string are faster too.
 *
 * @param at a multiple of 4.
 */
export function readUser(v: Views, at: number): UserId {
  return readUsers.read(v, at);
}

/** Recently read users, each in the cell that its first word chooses, where it replaces the one before. */
class ReadUsers {
  readonly #words = new Int32Array(READ_USERS * USER_WORDS);
  readonly #users: (UserId | undefined)[] = new Array(READ_USERS).fill(undefined);

  read(v: Views, at: number): UserId {
    assert((at & 3) === 0, 'a user id in a message begins at a word');
    const { i32 } = v;
    const from = at >>> 2;
    const cell = (i32[from] as number) & (READ_USERS - 1);
    const known = this.#users[cell];
    if (known !== undefined && this.#is(cell, i32, from)) return known;
    const user = bufferOf(v).hexSlice(at, at + USER_BYTES) as UserId;
    this.#words.set(i32.subarray(from, from + USER_WORDS), cell * USER_WORDS);
    this.#users[cell] = user;
    return user;
  }

  #is(cell: number, words: Int32Array, from: number): boolean {
    const at = cell * USER_WORDS;
    // mutant: whole-user-compared
    for (let word = 0; word < USER_WORDS; word += 1) if (this.#words[at + word] !== words[from + word]) return false;
    return true;
  }
}

const readUsers = new ReadUsers();

/**
 * Copies the `bytes` bytes of a struct, word by word: the longest has some ninety, and a subarray of each side would be
 * an allocation. Of a struct at a multiple of 8 on both sides, which most are, words of 64 bits take a third of the time.
 *
 * @param fromAt @param toAt multiples of 4.
 */
export function copyStruct(from: Views, fromAt: number, to: Views, toAt: number, bytes: number): void {
  const done = ((fromAt | toAt) & 7) === 0 ? copyLongs(from.u64, fromAt >>> 3, to.u64, toAt >>> 3, bytes >>> 5) : 0;
  const words = bytes >>> 2;
  const first = fromAt >>> 2;
  const into = toAt >>> 2;
  for (let word = done; word < words; word += 1) to.i32[into + word] = from.i32[first + word] as number;
  for (let byte = words << 2; byte < bytes; byte += 1) to.u8[toAt + byte] = from.u8[fromAt + byte] as number;
}

/** Copies groups of four words of 64 bits. @returns how many words of 32 bits that are. */
function copyLongs(from: BigUint64Array, first: number, to: BigUint64Array, into: number, groups: number): number {
  const end = first + 4 * groups;
  for (let [at, target] = [first, into]; at < end; at += 4, target += 4) {
    to[target] = from[at] as bigint;
    to[target + 1] = from[at + 1] as bigint;
    to[target + 2] = from[at + 2] as bigint;
    to[target + 3] = from[at + 3] as bigint;
  }
  return 8 * groups;
}

/** A JSON-compatible plain form for logs and debuggers: bigints as digits, bytes as hex. */
export function plainJson(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plainJson(member)]));
}
