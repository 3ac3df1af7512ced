/**
 * A tally of facts that leave memory: how many there were, and a digest of all of them. Facts are chained in pieces of
 * some: digest' = SHA-256(digest, facts), as soon as the facts since the last piece are PIECE_BYTES or more. So a
 * tally depends on the facts and their order alone, never on the ends of batches or checkpoints.
 *
 *   bytes   │ digest 32 │ fact │ fact │ …            those since the last piece, which a checkpoint carries as they are
 */
import { assert } from '../core/assert.ts';
import { toHex, writeHex } from '../core/hex.ts';
import type { TallyName, TallyRow } from './rows.ts';
import type { Sha256 } from './state.ts';

const DIGEST_BYTES = 32;
/** A call of the hash function costs as much as hashing some facts. */
export const PIECE_BYTES = 2_048;
/** The longest fact is a deposit with an address-form asset, some 400 bytes. */
const FACT_BYTES_MAX = 1_024;
const I64_LIMIT = 1n << 63n;

export class Tally {
  readonly name: TallyName;
  count = 0;
  readonly #bytes = new Uint8Array(DIGEST_BYTES + PIECE_BYTES + FACT_BYTES_MAX);
  readonly #view = new DataView(this.#bytes.buffer);
  #end = DIGEST_BYTES;

  constructor(name: TallyName) {
    this.name = name;
  }

  get row(): TallyRow {
    const { name, count } = this;
    const bytes = this.#bytes;
    const end = this.#end;
    return { name, count, digest: toHex(bytes.subarray(0, DIGEST_BYTES)), pending: bytes.slice(DIGEST_BYTES, end) };
  }

  /** @throws InvariantError unless it is the row of a tally. */
  restore({ name, count, digest, pending }: TallyRow): void {
    assert(name === this.name, 'a tally goes on from its own row');
    assert(writeHex(this.#bytes, 0, digest) === DIGEST_BYTES, 'a stored digest is 32 bytes of hex');
    assert(pending.length < PIECE_BYTES, 'a tally keeps less than a piece');
    this.#bytes.set(pending, DIGEST_BYTES);
    this.#end = DIGEST_BYTES + pending.length;
    this.count = count;
  }

  number(value: number): void {
    this.#view.setFloat64(this.#end, value, true);
    this.#end += 8;
  }

  nanoseconds(value: bigint): void {
    this.#view.setBigUint64(this.#end, value, true);
    this.#end += 8;
  }

  amount(value: bigint): void {
    this.#view.setBigInt64(this.#end, value, true);
    // Most amounts fit the lower half: then the upper one is known without a shift, which would allocate.
    const isShort = value >= -I64_LIMIT && value < I64_LIMIT;
    this.#view.setBigInt64(this.#end + 8, isShort ? (value < 0n ? -1n : 0n) : value >> 64n, true);
    this.#end += 16;
  }

  raw(value: Uint8Array): void {
    this.#bytes.set(value, this.#end);
    this.#end += value.length;
  }

  /** ASCII, ended by a zero. */
  text(value: string): void {
    for (let at = 0; at < value.length; at += 1) this.#bytes[this.#end + at] = value.charCodeAt(at);
    this.#bytes[this.#end + value.length] = 0;
    this.#end += value.length + 1;
  }

  /** What was written since the last call is a fact. */
  endFact(sha256: Sha256): void {
    assert(this.#end <= this.#bytes.length, 'a fact has room');
    this.count += 1;
    if (this.#end < DIGEST_BYTES + PIECE_BYTES) return;
    assert(
      writeHex(this.#bytes, 0, sha256(this.#bytes.subarray(0, this.#end))) === DIGEST_BYTES,
      'a digest is 32 bytes',
    );
    this.#end = DIGEST_BYTES;
  }
}
