/**
 * Writes keys and row values one after the other into large reused chunks, without an allocation per field.
 *
 *   chunk   │ key │ value │ key │ value │ key │ ……free…… │
 *                                 ▲ start      ▲ position
 *
 * A piece is begun with `begin()` and ended with `end()`, which returns it. A piece that does not fit moves to a fresh
 * chunk whole; pieces returned before stay valid, as they keep their own chunk. `reset()` gives the newest chunk up for
 * reuse: no piece may be in use then.
 *
 * Integers are big-endian, so that keys sort as their numbers do.
 */
import { assert } from '../core/assert.ts';
import { crc32c } from '../core/crc32c.ts';
import { writeHex } from '../core/hex.ts';

// Users as bytes: a checkpoint writes some users thousands of times, and reading sixty-four hex digits takes longer than
// writing what they say. What is known is kept for as many users as a checkpoint usually has, then forgotten.

const USER_BYTES = 32;
const KNOWN_MAX = 4_096;
const WORDS = USER_BYTES / 4;

const scratch = new Uint8Array(USER_BYTES);
const scratchView = new DataView(scratch.buffer);
/** The words of a user's bytes. */
const known = new Map<string, Int32Array>();

/** @param user 64 hex digits. @throws InvariantError where it is something else. */
function writeUserBytes(to: DataView, at: number, user: string): void {
  const words = known.get(user) ?? wordsOf(user);
  for (let word = 0; word < WORDS; word += 1) to.setInt32(at + 4 * word, words[word] ?? 0);
}

function wordsOf(user: string): Int32Array {
  assert(writeHex(scratch, 0, user) === USER_BYTES, 'storage: hex digits');
  const words = Int32Array.from({ length: WORDS }, (_, word) => scratchView.getInt32(4 * word));
  if (known.size === KNOWN_MAX) known.clear();
  known.set(user, words);
  return words;
}

const U32 = 0x1_0000_0000;
const U64 = 1n << 64n;
const I64_MAX = (1n << 63n) - 1n;
const I128_MAX = (1n << 127n) - 1n;
const I128_MIN = -(1n << 127n);
const UTF8_BYTES_PER_UNIT_MAX = 3;
const SHORT_TEXT_UNITS = 32;

export class ByteWriter {
  readonly #chunkBytes: number;
  #chunk: Buffer;
  /** Over the chunk: its setters are an order of magnitude faster with bigints than those of Buffer. */
  #view: DataView;
  #start = 0;
  #position = 0;

  constructor(chunkBytes: number) {
    this.#chunkBytes = chunkBytes;
    this.#chunk = Buffer.allocUnsafeSlow(chunkBytes);
    this.#view = viewOf(this.#chunk);
  }

  reset(): void {
    this.#start = 0;
    this.#position = 0;
  }

  begin(): void {
    this.#start = this.#position;
  }

  /** The piece since `begin()`: a view, valid until `reset()`. */
  end(): Uint8Array {
    const piece = this.#soFar();
    this.#start = this.#position;
    return piece;
  }

  /** Ends the piece with the CRC-32C of what came before it: the bytes with that checksum, then the piece so far. */
  checksum(before: number): void {
    this.u32(crc32c(this.#chunk, before, this.#start, this.#position, this.#view));
  }

  u8(value: number): void {
    assert(Number.isInteger(value) && value >= 0 && value <= 0xff, 'storage: a u8 fits');
    const at = this.#take(1);
    this.#chunk[at] = value;
  }

  u32(value: number): void {
    assert(Number.isInteger(value) && value >= 0 && value < U32, 'storage: a u32 fits');
    const at = this.#take(4);
    this.#view.setUint32(at, value);
  }

  i32(value: number): void {
    assert(Number.isInteger(value) && value >= -(U32 / 2) && value < U32 / 2, 'storage: an i32 fits');
    const at = this.#take(4);
    this.#view.setInt32(at, value);
  }

  /** A safe integer from 0, in eight bytes: sequences, raw prices and quantities. */
  safe(value: number): void {
    assert(Number.isSafeInteger(value) && value >= 0, 'storage: a safe integer from 0');
    const at = this.#take(8);
    // Most fit the lower half, and a remainder of doubles is slow.
    const high = value < U32 ? 0 : Math.floor(value / U32);
    this.#view.setUint32(at, high);
    this.#view.setUint32(at + 4, value - high * U32);
  }

  /** Nanoseconds and nonces. */
  u64(value: bigint): void {
    assert(value >= 0n && value < U64, 'storage: a u64 fits');
    const at = this.#take(8);
    this.#view.setBigUint64(at, value);
  }

  /** An amount of an account: two's complement, 16 bytes. */
  i128(value: bigint): void {
    assert(value >= I128_MIN && value <= I128_MAX, 'storage: an i128 fits');
    const at = this.#take(16);
    // Most amounts fit the lower half: then the upper one is known without a shift, which would allocate.
    if (value >= 0n && value <= I64_MAX) this.#view.setBigInt64(at, 0n);
    else this.#view.setBigInt64(at, value >> 64n);
    // Takes the lower 64 bits.
    this.#view.setBigUint64(at + 8, value);
  }

  /** Any integer, as its decimal digits: caps and base units, which have no bound of their own. */
  integer(value: bigint): void {
    this.text(value.toString());
  }

  flag(value: boolean): void {
    this.u8(value ? 1 : 0);
  }

  /** A flag, and the value after it unless it is null. */
  optional<T>(value: T | null, write: (value: T) => void): void {
    this.flag(value !== null);
    if (value !== null) write(value);
  }

  /** UTF-8 with its length in four bytes before it. */
  text(value: string): void {
    if (value.length <= SHORT_TEXT_UNITS) {
      this.#shortText(value);
      return;
    }
    const room = UTF8_BYTES_PER_UNIT_MAX * value.length;
    const at = this.#take(4 + room);
    const byteLength = this.#chunk.write(value, at + 4, room, 'utf8');
    this.#view.setUint32(at, byteLength);
    this.#position = at + 4 + byteLength;
  }

  /** ASCII without a length: the end of a key, or before a byte that the text cannot hold. */
  ascii(value: string): void {
    const at = this.#take(value.length);
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      assert(code < 0x80, 'storage: ASCII is written whole');
      this.#chunk[at + index] = code;
    }
  }

  /** `byteCount` bytes given as hex. */
  hex(value: string, byteCount: number): void {
    assert(value.length === 2 * byteCount, 'storage: hex of the expected length');
    const at = this.#take(byteCount);
    if (byteCount === USER_BYTES) writeUserBytes(this.#view, at, value);
    else assert(writeHex(this.#chunk, at, value) === byteCount, 'storage: hex digits');
  }

  /** Bytes with their length in four bytes before them. */
  bytes(value: Uint8Array): void {
    this.u32(value.length);
    this.raw(value);
  }

  raw(value: Uint8Array): void {
    const at = this.#take(value.length);
    this.#chunk.set(value, at);
  }

  /** Writes names and ids, which are ASCII, byte by byte: that costs less than a call into the engine. */
  #shortText(value: string): void {
    const at = this.#take(4 + value.length);
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      if (code >= 0x80) {
        this.#position = at;
        this.bytes(Buffer.from(value, 'utf8'));
        return;
      }
      this.#chunk[at + 4 + index] = code;
    }
    this.#view.setUint32(at, value.length);
  }

  /** Makes space for `byteCount` bytes in the current piece. @returns where they begin in the chunk. */
  #take(byteCount: number): number {
    if (this.#position + byteCount > this.#chunk.length) this.#moveToFreshChunk(byteCount);
    const at = this.#position;
    this.#position += byteCount;
    return at;
  }

  #soFar(): Uint8Array {
    const { buffer, byteOffset } = this.#chunk;
    return new Uint8Array(buffer, byteOffset + this.#start, this.#position - this.#start);
  }

  #moveToFreshChunk(byteCount: number): void {
    const piece = this.#soFar();
    const needed = piece.length + byteCount;
    const fresh = Buffer.allocUnsafeSlow(Math.max(this.#chunkBytes, 2 * needed));
    fresh.set(piece, 0);
    this.#chunk = fresh;
    this.#view = viewOf(fresh);
    this.#start = 0;
    this.#position = piece.length;
  }
}

function viewOf(chunk: Buffer): DataView {
  return new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
