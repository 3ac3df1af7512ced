/** Reads what byte-writer.ts wrote. A read past the end is a broken promise: the checksum was right, the layout is not. */
import { assert } from '../core/assert.ts';

const U32 = 0x1_0000_0000;

const SHORT_BYTES_MAX = 16;
const SHORT_TEXTS = 256;

/**
 * Short ASCII texts that were read lately, each in a cell that its bytes choose, where it replaces the one before. Rows of
 * accounts have few different ones, of which a start would keep a copy for every row.
 */
class ShortTexts {
  readonly #texts: string[] = new Array(SHORT_TEXTS).fill('');

  /** @param byteLength 1 to SHORT_BYTES_MAX. */
  read(bytes: Buffer, at: number, byteLength: number): string {
    const ends = (bytes[at] as number) * 7 + (bytes[at + byteLength - 1] as number);
    const cell = (ends + byteLength * 31) & (SHORT_TEXTS - 1);
    const known = this.#texts[cell] as string;
    if (known.length === byteLength && isText(known, bytes, at)) return known;
    const text = bytes.toString('utf8', at, at + byteLength);
    if (text.length === byteLength) this.#texts[cell] = text;
    return text;
  }
}

function isText(text: string, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code !== bytes[at + index] || code > 0x7f) return false;
  }
  return true;
}

/** The hex digits that were read last: one user has several rows, one behind the other. */
class LastHex {
  #bytes: Buffer = Buffer.alloc(0);
  #digits = '';

  read(bytes: Buffer, at: number, byteCount: number): string {
    if (this.#bytes.length === byteCount && this.#isLast(bytes, at)) return this.#digits;
    this.#bytes = Buffer.from(bytes.subarray(at, at + byteCount));
    this.#digits = this.#bytes.toString('hex');
    return this.#digits;
  }

  #isLast(bytes: Buffer, at: number): boolean {
    const last = this.#bytes;
    for (let index = 0; index < last.length; index += 1) if (last[index] !== bytes[at + index]) return false;
    return true;
  }
}

const shortTexts = new ShortTexts();
const lastHex = new LastHex();

export class ByteReader {
  readonly #bytes: Buffer;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** How many bytes are left. */
  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#take(1));
  }

  u32(): number {
    return this.#bytes.readUInt32BE(this.#take(4));
  }

  i32(): number {
    return this.#bytes.readInt32BE(this.#take(4));
  }

  safe(): number {
    const at = this.#take(8);
    const value = this.#bytes.readUInt32BE(at) * U32 + this.#bytes.readUInt32BE(at + 4);
    assert(Number.isSafeInteger(value), 'storage: a safe integer was written');
    return value;
  }

  u64(): bigint {
    return this.#bytes.readBigUInt64BE(this.#take(8));
  }

  i128(): bigint {
    const at = this.#take(16);
    return (this.#bytes.readBigInt64BE(at) << 64n) | this.#bytes.readBigUInt64BE(at + 8);
  }

  integer(): bigint {
    return BigInt(this.text());
  }

  flag(): boolean {
    const value = this.u8();
    assert(value <= 1, 'storage: a flag is 0 or 1');
    return value === 1;
  }

  optional<T>(read: () => T): T | null {
    return this.flag() ? read() : null;
  }

  text(): string {
    const byteLength = this.u32();
    const at = this.#take(byteLength);
    if (byteLength === 0) return '';
    if (byteLength <= SHORT_BYTES_MAX) return shortTexts.read(this.#bytes, at, byteLength);
    return this.#bytes.toString('utf8', at, at + byteLength);
  }

  /** ASCII up to the end. */
  ascii(): string {
    const at = this.#take(this.remaining);
    return this.#bytes.toString('latin1', at);
  }

  hex(byteCount: number): string {
    const at = this.#take(byteCount);
    return lastHex.read(this.#bytes, at, byteCount);
  }

  bytes(): Uint8Array {
    return this.raw(this.u32());
  }

  /** A copy of the next bytes. */
  raw(byteCount: number): Uint8Array {
    const at = this.#take(byteCount);
    return new Uint8Array(this.#bytes.subarray(at, at + byteCount));
  }

  /** Copies the next bytes. */
  copyTo(to: Uint8Array, at: number, byteCount: number): void {
    const from = this.#take(byteCount);
    this.#bytes.copy(to, at, from, from + byteCount);
  }

  #take(byteCount: number): number {
    assert(byteCount >= 0 && byteCount <= this.remaining, 'storage: a row is as long as its layout says');
    const at = this.#position;
    this.#position += byteCount;
    return at;
  }
}
