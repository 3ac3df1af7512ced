/**
 * Writes canonical texts (wire.md 4.1) as bytes, into memory that many of them share: a text costs one view and no string.
 *
 *   chunk ─┬─ text ─┬─ signature ─┬─ text ─┬─ … free …        the next chunk begins when a longest text does not fit
 *
 * A chunk stays while one of its bytes is in use: bytes that are kept for longer than a request are copied.
 */
import { assert } from '../core/assert.ts';
import { SIGNED_TEXT_BYTES_MAX, VERIFIED_TEXT_BYTES_MAX } from '../core/limits.ts';

const CHUNK_BYTES = 65_536;
const ZERO = 0x30;
const MINUS = 0x2d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BILLION = 1_000_000_000;
const TWO_16 = 65_536;

export class TextWriter {
  #chunk = new Uint8Array(CHUNK_BYTES);
  /** First byte of the text that is being written, and the position behind its last one. */
  #start = 0;
  #at = 0;
  #bytesMax = SIGNED_TEXT_BYTES_MAX;
  readonly #u64 = new BigUint64Array(1);
  readonly #halves = new Uint32Array(this.#u64.buffer);

  /** Begins a text of at most so many bytes; one that was not ended is dropped. */
  begin(bytesMax: number = SIGNED_TEXT_BYTES_MAX): void {
    assert(bytesMax <= VERIFIED_TEXT_BYTES_MAX, 'no signed text is longer');
    this.#bytesMax = bytesMax;
    if (this.#start + bytesMax > CHUNK_BYTES) {
      this.#chunk = new Uint8Array(CHUNK_BYTES);
      this.#start = 0;
    }
    this.#at = this.#start;
  }

  /** @returns the bytes of the text. @throws InvariantError when it is too long. */
  end(): Uint8Array {
    const length = this.#at - this.#start;
    assert(length <= this.#bytesMax, 'a signed text is within its limit');
    const text = new Uint8Array(this.#chunk.buffer, this.#start, length);
    this.#start = this.#at;
    return text;
  }

  /** The first `count` bytes, at most SIGNED_TEXT_BYTES_MAX. */
  bytes(bytes: Uint8Array, count: number): void {
    assert(count <= SIGNED_TEXT_BYTES_MAX, 'copied bytes are within the limit of a text');
    const chunk = this.#chunk;
    let at = this.#at;
    for (let index = 0; index < count; index += 1) chunk[at++] = bytes[index] as number;
    this.#at = at;
  }

  /** A part of a template: ASCII. */
  ascii(text: string): void {
    const chunk = this.#chunk;
    let at = this.#at;
    for (let index = 0; index < text.length; index += 1) chunk[at++] = text.charCodeAt(index);
    this.#at = at;
  }

  /** The content of a signed string: visible ASCII that needs no escape, so that `"a b"` never signs like `"ab"` (AMB-03). */
  signed(text: string): void {
    const chunk = this.#chunk;
    let at = this.#at;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      assert(
        code > 0x20 && code < 0x7f && code !== QUOTE && code !== BACKSLASH,
        'a signed string is visible ASCII that needs no escape',
      );
      chunk[at++] = code;
    }
    this.#at = at;
  }

  /** As `signed` in quotes, or null. */
  signedOrNull(text: string | null): void {
    if (text === null) {
      this.ascii('null');
      return;
    }
    this.ascii('"');
    this.signed(text);
    this.ascii('"');
  }

  flag(is: boolean): void {
    this.ascii(is ? 'true' : 'false');
  }

  /** A safe integer. */
  integer(value: number): void {
    const magnitude = Math.abs(value);
    if (value < 0) this.#chunk[this.#at++] = MINUS;
    let digits = 1;
    for (let bound = 10; bound <= magnitude; bound *= 10) digits += 1;
    this.#digits(magnitude, digits);
  }

  integerOrNull(value: number | null): void {
    if (value === null) this.ascii('null');
    else this.integer(value);
  }

  /** 0 … 2^64−1: as billions and the rest, in steps below 2^53. */
  u64(value: bigint): void {
    this.#u64[0] = value;
    const low = this.#halves[0] as number;
    const upper = (this.#halves[1] as number) * TWO_16 + (low >>> 16);
    const billionsAbove = Math.floor(upper / BILLION);
    const lower = (upper - billionsAbove * BILLION) * TWO_16 + (low & 0xffff);
    const billions = Math.floor(lower / BILLION) + billionsAbove * TWO_16;
    const rest = lower % BILLION;
    if (billions === 0) {
      this.integer(rest);
      return;
    }
    this.integer(billions);
    this.#digits(rest, 9);
  }

  /** The last `count` decimal digits. */
  #digits(value: number, count: number): void {
    const chunk = this.#chunk;
    this.#at += count;
    let rest = value;
    for (let at = this.#at - 1; at >= this.#at - count; at -= 1) {
      const tens = Math.floor(rest / 10);
      chunk[at] = ZERO + (rest - tens * 10);
      rest = tens;
    }
  }
}

/** No text. */
export const NO_BYTES: Uint8Array = new Uint8Array();

/** Texts are written one after the other, so one writer serves the whole thread. */
const threadText = new TextWriter();

/** A copy of the first `count` bytes, for as long as a request. */
export function requestBytes(bytes: Uint8Array, count: number): Uint8Array {
  threadText.begin();
  threadText.bytes(bytes, count);
  return threadText.end();
}

/** The bytes that `write` makes, at most `bytesMax`. It calls nothing that writes another text. */
export function textBytes<Value>(
  value: Value,
  write: (text: TextWriter, value: Value) => void,
  bytesMax: number = SIGNED_TEXT_BYTES_MAX,
): Uint8Array {
  threadText.begin(bytesMax);
  write(threadText, value);
  return threadText.end();
}
