/**
 * Bars of trades: their volumes in a column, and the sum of bars that follow each other.
 *
 * A page of klines of 30 s sums thirty bars for each of its rows. So a volume, of 128 bits, lies in its column as four
 * words of 32 bits, and a sum adds words: no object and no bigint for each bar.
 *
 *   volumes   │ low 64 bits     │ high 64 bits    │ a row
 *   words     │  0     │  1     │  2     │  3     │ little-endian, as the node's platforms are
 */
import { assert } from '../core/assert.ts';
import type { RawPrice } from '../core/units.ts';

const WORDS = 4;
const SHIFTS = [0n, 32n, 64n, 96n] as const;
const LOW_64 = (1n << 64n) - 1n;
/** Sums of so many words are exact. */
const BARS_MAX = 2 ** 21;

/** Open, high, low, close and volume (Σ raw price × raw quantity) of some trades. */
export interface Bar {
  readonly open: RawPrice;
  readonly high: RawPrice;
  readonly low: RawPrice;
  readonly close: RawPrice;
  readonly volume: bigint;
}

/** Where a trade stands among those of its market. */
export interface EdgeOfBar {
  /** Since 1970. */
  readonly second: number;
  readonly nsInSecond: number;
  readonly tradeId: number;
}

/** A bar with its first and its last trade. */
export interface SpannedBar extends Bar {
  readonly first: EdgeOfBar;
  readonly last: EdgeOfBar;
}

/** The prices of rows. */
type PriceColumns = Readonly<Record<'open' | 'high' | 'low' | 'close', Float64Array>>;

/** The volumes of rows, each below 2^128. */
export class VolumeColumn {
  readonly #volumes: BigUint64Array;
  readonly #words: Uint32Array;

  /** @param from the rows of a smaller column. */
  constructor(rows: number, from?: VolumeColumn) {
    this.#volumes = new BigUint64Array(2 * rows);
    if (from !== undefined) this.#volumes.set(from.#volumes);
    this.#words = new Uint32Array(this.#volumes.buffer);
  }

  at(row: number): bigint {
    return ((this.#volumes[2 * row + 1] ?? 0n) << 64n) | (this.#volumes[2 * row] ?? 0n);
  }

  add(row: number, volume: bigint): void {
    const sum = this.at(row) + volume;
    assert(sum >> 128n === 0n, 'the volume of a bar fits 128 bits');
    this.#volumes[2 * row] = sum & LOW_64;
    this.#volumes[2 * row + 1] = sum >> 64n;
  }

  /** Adds the words of a row to those of a sum. */
  addWords(row: number, sums: Float64Array): void {
    for (let word = 0; word < WORDS; word += 1) {
      sums[word] = (sums[word] ?? 0) + (this.#words[WORDS * row + word] ?? 0);
    }
  }
}

/** One bar of several, added in the order of their time. */
export class BarSum {
  readonly #words = new Float64Array(WORDS);
  #open = 0;
  #high = 0;
  #low = 0;
  #close = 0;
  #count = 0;

  /** @param row of the volume of the next bar. */
  add({ open, high, low, close }: PriceColumns, volumes: VolumeColumn, row: number): void {
    assert(this.#count < BARS_MAX, 'words are summed exactly');
    const isFirst = this.#count === 0;
    if (isFirst) this.#open = open[row] ?? 0;
    this.#high = isFirst ? (high[row] ?? 0) : Math.max(this.#high, high[row] ?? 0);
    this.#low = isFirst ? (low[row] ?? 0) : Math.min(this.#low, low[row] ?? 0);
    this.#close = close[row] ?? 0;
    this.#count += 1;
    volumes.addWords(row, this.#words);
  }

  /** The bar of what was added since the last call; undefined for nothing. */
  take(): Bar | undefined {
    if (this.#count === 0) return undefined;
    let volume = 0n;
    for (const [word, shift] of SHIFTS.entries()) {
      const sum = this.#words[word] ?? 0;
      if (sum !== 0) volume += BigInt(sum) << shift;
    }
    const bar = { open: this.#open, high: this.#high, low: this.#low, close: this.#close, volume };
    this.#words.fill(0);
    this.#count = 0;
    return bar as Bar;
  }
}
