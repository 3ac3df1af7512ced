/** Reads what byte-writer.ts wrote. A read past the end is a broken promise: the checksum was right, the layout is not. */
import { assert } from '../core/assert.ts';

const U32 = 0x1_0000_0000;

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
    return this.#bytes.toString('utf8', at, at + byteLength);
  }

  /** ASCII up to the end. */
  ascii(): string {
    const at = this.#take(this.remaining);
    return this.#bytes.toString('latin1', at);
  }

  hex(byteCount: number): string {
    const at = this.#take(byteCount);
    return this.#bytes.toString('hex', at, at + byteCount);
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
