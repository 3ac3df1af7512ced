/**
 * Rows of one width of one market: open, high, low, close and volume of each bucket with trades, in chunks of 1,024
 * buckets. Rows are added to in any order: the first and the last trade of a bucket are determined by match time and
 * trade id.
 *
 *   chunk number ─▶ slot of a bucket ─▶ row ─▶ open high low close volume first last   (columns, in order of arrival)
 *
 * A row costs 82 bytes. Bounded by the retention: chunks that are older as a whole are dropped.
 */
import { assert } from '../core/assert.ts';
import { bucketStart } from '../core/kline-intervals.ts';
import { type BarSum, type EdgeOfBar, type SpannedBar, VolumeColumn } from './bars.ts';
import type { BucketRange, BucketStarts } from './trade-history.ts';

const CHUNK_BUCKETS = 1_024;
const CAPACITY_FIRST = 16;
const NONE = -1;
const SECOND = 1e9;

/** Columns of a row; an edge is nanoseconds within the bucket, below 2^53, and a trade id. */
const COLUMNS = ['open', 'high', 'low', 'close', 'firstNs', 'firstId', 'lastNs', 'lastId'] as const;
type Columns = Record<(typeof COLUMNS)[number], Float64Array>;

function columnsOf(capacity: number, from: Columns | null): Columns {
  const columns = Object.fromEntries(COLUMNS.map((name) => [name, new Float64Array(capacity)])) as Columns;
  if (from !== null) for (const name of COLUMNS) columns[name].set(from[name]);
  return columns;
}

class Chunk {
  readonly #rowOfSlot = new Int16Array(CHUNK_BUCKETS).fill(NONE);
  #columns = columnsOf(CAPACITY_FIRST, null);
  #volumes = new VolumeColumn(CAPACITY_FIRST);
  #count = 0;

  has(slot: number): boolean {
    return this.#rowOfSlot[slot] !== NONE;
  }

  /** @param startSecond of the bucket. */
  merge(slot: number, startSecond: number, bar: SpannedBar): void {
    const first = placeOf(bar.first, startSecond);
    const last = placeOf(bar.last, startSecond);
    const known = this.#rowOfSlot[slot] ?? NONE;
    const row = known === NONE ? this.#newRow(slot) : known;
    const at = this.#columns;
    if (known === NONE || isBefore(first, bar.first.tradeId, at.firstNs[row] ?? 0, at.firstId[row] ?? 0)) {
      at.open[row] = bar.open;
      at.firstNs[row] = first;
      at.firstId[row] = bar.first.tradeId;
    }
    if (known === NONE || !isBefore(last, bar.last.tradeId, at.lastNs[row] ?? 0, at.lastId[row] ?? 0)) {
      at.close[row] = bar.close;
      at.lastNs[row] = last;
      at.lastId[row] = bar.last.tradeId;
    }
    at.high[row] = known === NONE ? bar.high : Math.max(at.high[row] ?? 0, bar.high);
    at.low[row] = known === NONE ? bar.low : Math.min(at.low[row] ?? 0, bar.low);
    this.#volumes.add(row, bar.volume);
  }

  /** Adds the bar of a bucket to a sum; no effect without trades. */
  addBar(slot: number, sum: BarSum): void {
    const row = this.#rowOfSlot[slot] ?? NONE;
    if (row !== NONE) sum.add(this.#columns, this.#volumes, row);
  }

  #newRow(slot: number): number {
    const row = this.#count;
    if (row === this.#columns.open.length) {
      const capacity = Math.min(2 * row, CHUNK_BUCKETS);
      this.#columns = columnsOf(capacity, this.#columns);
      this.#volumes = new VolumeColumn(capacity, this.#volumes);
    }
    this.#count += 1;
    this.#rowOfSlot[slot] = row;
    return row;
  }
}

/** A part of a chunk; none of it where `newest` is below `oldest`. */
interface ChunkRange {
  readonly chunk: Chunk;
  /** Its first bucket. */
  readonly base: number;
  readonly newest: number;
  readonly oldest: number;
}

export class StoredKlines {
  /** Width of a bucket in seconds. */
  readonly width: number;
  readonly #keptSeconds: number;
  readonly #chunks = new Map<number, Chunk>();

  /** @param keptSeconds rows are kept for at least this time; Infinity for all. */
  constructor(width: number, keptSeconds: number) {
    this.width = width;
    this.#keptSeconds = keptSeconds;
  }

  /** The first second of the kept time. */
  firstKept(nowSecond: number): number {
    return Math.max(0, nowSecond - this.#keptSeconds);
  }

  /** Adds trades of one bucket. No effect if they are older than the kept time. */
  merge(bar: SpannedBar, nowSecond: number): void {
    const bucket = Math.floor(bar.first.second / this.width);
    assert(Math.floor(bar.last.second / this.width) === bucket, 'a bar within one bucket');
    const firstChunk = Math.floor(this.firstKept(nowSecond) / this.width / CHUNK_BUCKETS);
    const number = Math.floor(bucket / CHUNK_BUCKETS);
    if (number < firstChunk) return;
    let chunk = this.#chunks.get(number);
    if (chunk === undefined) {
      chunk = new Chunk();
      this.#chunks.set(number, chunk);
      for (const old of this.#chunks.keys()) if (old < firstChunk) this.#chunks.delete(old);
    }
    chunk.merge(bucket - number * CHUNK_BUCKETS, bucket * this.width, bar);
  }

  /** Starts of the buckets with trades in [from, to), in seconds, newest first. */
  *startsBefore(to: number, from: number): Generator<number, void, undefined> {
    for (const { chunk, base, newest, oldest } of this.#chunksBefore(to, from)) {
      for (let slot = newest; slot >= oldest; slot -= 1) if (chunk.has(slot)) yield (base + slot) * this.width;
    }
  }

  /**
   * Starts of wider buckets with trades in [from, to), newest first, and the number of all; at most 90,000 rows are walked,
   * without a generator: a page of sixty busy days costs half a millisecond.
   */
  bucketsBefore({ to, from, width, skip, limit }: BucketRange): BucketStarts {
    const starts: number[] = [];
    let total = 0;
    let last = Number.NaN;
    for (const { chunk, base, newest, oldest } of this.#chunksBefore(to, from)) {
      for (let slot = newest; slot >= oldest; slot -= 1) {
        if (!chunk.has(slot)) continue;
        const bucket = bucketStart((base + slot) * this.width, width);
        if (bucket === last) continue;
        last = bucket;
        if (total >= skip && starts.length < limit) starts.push(bucket);
        total += 1;
      }
    }
    return { starts, total };
  }

  /** Chunks with buckets in [from, to), newest first, and which of their slots are in it. */
  #chunksBefore(to: number, from: number): readonly ChunkRange[] {
    const newest = Math.ceil(to / this.width) - 1;
    const oldest = Math.ceil(from / this.width);
    return [...this.#chunks]
      .sort(([a], [b]) => b - a)
      .map(([number, chunk]) => {
        const base = number * CHUNK_BUCKETS;
        return {
          chunk,
          base,
          newest: Math.min(newest - base, CHUNK_BUCKETS - 1),
          oldest: Math.max(oldest - base, 0),
        };
      });
  }

  /** Adds the bar of the bucket that starts at this second to a sum; no effect without trades. */
  addBar(startSecond: number, sum: BarSum): void {
    const bucket = startSecond / this.width;
    const number = Math.floor(bucket / CHUNK_BUCKETS);
    this.#chunks.get(number)?.addBar(bucket - number * CHUNK_BUCKETS, sum);
  }
}

function placeOf({ second, nsInSecond }: EdgeOfBar, startSecond: number): number {
  return (second - startSecond) * SECOND + nsInSecond;
}

function isBefore(ns: number, id: number, otherNs: number, otherId: number): boolean {
  return ns < otherNs || (ns === otherNs && id < otherId);
}
