/**
 * Ids of finished orders and of held cancels: many, written once, seldom asked for. Remembering one, and finding that one
 * is unknown, touch memory that stays in the processor's caches, however many there are; nothing here ever stops the
 * market to move all of them.
 *
 *                   2,048 of them                  in the order of their hashes
 *   add ─▶ young: a small hash table ── when it is full ──▶ pages, found through a directory by leading bits
 *
 *   page    count  removed  depth     filter: two bits of one word an id      256 pairs (hash, record)
 *
 * Nearly every search ends at the filter of one page. A full page becomes two, by one more bit of the hash; the directory
 * doubles when a page has used all bits that it tells apart. Young ids wander in the order of their hashes, which is the
 * order of directory and pages: their cache misses overlap, and neighbours share a page of memory.
 *
 * Bits are not cleared when an id is taken out; a page's filter is made anew when 64 were taken out of it.
 */
import { assert } from '../core/assert.ts';
import type { IdRecords } from './id-records.ts';
import { grown, NONE } from './pools.ts';

const YOUNG_PLACES_MAX = 4_096;
const YOUNG_PLACES_MIN = 8;

const COUNT = 0;
const REMOVED = 1;
const DEPTH = 2;
const FILTER = 16;
const FILTER_WORDS = 128;
const PAIRS: number = FILTER + FILTER_WORDS;
const IDS_PER_PAGE_MAX = 256;
const PAGE_WORDS: number = PAIRS + IDS_PER_PAGE_MAX * 2;
/** Ids taken out before a page's filter is made anew. */
const REMOVED_MAX = 64;
/** Pages lie in chunks of so many, which never move; the first chunk grows to its size. */
const CHUNK_BITS = 6;
const CHUNK_PAGES: number = 1 << CHUNK_BITS;
const CHUNK_MASK: number = CHUNK_PAGES - 1;
/** More would mean that hundreds of ids have one hash. */
const DEPTH_MAX = 28;

export class PastIds {
  readonly #records: IdRecords;
  /** Pairs (hash, record + 1), linear probing, at most half full; a second word of 0 is an empty place. */
  readonly #young: Int32Array<ArrayBuffer>;
  readonly #youngShift: number;
  #youngCount = 0;
  readonly #chunks: Int32Array<ArrayBuffer>[] = [];
  #pageCount = 0;
  /** Page numbers by the first `#depth` bits of a hash. */
  #directory: Int32Array<ArrayBuffer>;
  #depth = 1;

  /** @param capacity a power of two: a small market needs no large table. */
  constructor(records: IdRecords, capacity: number) {
    this.#records = records;
    const places = Math.min(Math.max(capacity, YOUNG_PLACES_MIN), YOUNG_PLACES_MAX);
    this.#young = new Int32Array(places * 2);
    this.#youngShift = Math.clz32(places) + 1;
    this.#directory = Int32Array.of(this.#newPage(1), this.#newPage(1));
  }

  get bytes(): number {
    const pages = this.#chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    return this.#young.byteLength + this.#directory.byteLength + pages;
  }

  /** The record of this id, or NONE. */
  find(hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    const young = this.#young;
    const mask = young.length - 1;
    for (let place = (hash >>> this.#youngShift) << 1; young[place + 1] !== 0; place = (place + 2) & mask) {
      const record = (young[place + 1] as number) - 1;
      if (young[place] === hash && this.#records.equals(record, user, words, at, bytes)) return record;
    }
    const page = this.#directory[hash >>> (32 - this.#depth)] as number;
    const chunk = this.#chunks[page >>> CHUNK_BITS] as Int32Array;
    const base = (page & CHUNK_MASK) * PAGE_WORDS;
    const bits = bitsOf(hash);
    if (((chunk[base + FILTER + (hash & (FILTER_WORDS - 1))] as number) & bits) !== bits) return NONE;
    return this.#findIn(chunk, base, { hash, user, words, at, bytes });
  }

  add(hash: number, record: number): void {
    const young = this.#young;
    const mask = young.length - 1;
    let place = (hash >>> this.#youngShift) << 1;
    while (young[place + 1] !== 0) place = (place + 2) & mask;
    young[place] = hash;
    young[place + 1] = record + 1;
    if (++this.#youngCount * 4 >= young.length) this.#flush();
  }

  /** An id that is here. What ended first usually stands near the front of its page. */
  remove(hash: number, record: number): void {
    if (this.#removeYoung(hash, record)) return;
    const page = this.#directory[hash >>> (32 - this.#depth)] as number;
    const chunk = this.#chunkOf(page);
    const base = baseOf(page);
    const first = base + PAIRS;
    const last = first + ((chunk[base + COUNT] as number) - 1) * 2;
    let at = first;
    while (at <= last && chunk[at + 1] !== record) at += 2;
    assert(at <= last, 'an id to take out is in its page');
    chunk[at] = chunk[last] as number;
    chunk[at + 1] = chunk[last + 1] as number;
    chunk[base + COUNT] = (chunk[base + COUNT] as number) - 1;
    chunk[base + REMOVED] = (chunk[base + REMOVED] as number) + 1;
    if ((chunk[base + REMOVED] as number) >= REMOVED_MAX) refilter(chunk, base);
  }

  #findIn(
    chunk: Int32Array,
    base: number,
    id: { hash: number; user: number; words: Int32Array; at: number; bytes: number },
  ): number {
    const end = base + PAIRS + (chunk[base + COUNT] as number) * 2;
    for (let at = base + PAIRS; at < end; at += 2) {
      const record = chunk[at + 1] as number;
      if (chunk[at] === id.hash && this.#records.equals(record, id.user, id.words, id.at, id.bytes)) return record;
    }
    return NONE;
  }

  /** @returns whether it was young. What stands behind it moves up to where its search begins. */
  #removeYoung(hash: number, record: number): boolean {
    const young = this.#young;
    const mask = young.length - 1;
    let gap = (hash >>> this.#youngShift) << 1;
    for (; young[gap + 1] !== record + 1; gap = (gap + 2) & mask) if (young[gap + 1] === 0) return false;
    for (let place = (gap + 2) & mask; young[place + 1] !== 0; place = (place + 2) & mask) {
      const home = ((young[place] as number) >>> this.#youngShift) << 1;
      if (((place - home) & mask) < ((place - gap) & mask)) continue;
      young[gap] = young[place] as number;
      young[gap + 1] = young[place + 1] as number;
      gap = place;
    }
    young[gap + 1] = 0;
    this.#youngCount--;
    return true;
  }

  /** Every young id into its page. */
  #flush(): void {
    const young = this.#young;
    for (let place = 0; place < young.length; place += 2) {
      const named = young[place + 1] as number;
      if (named !== 0) this.#addOld(young[place] as number, named - 1);
    }
    young.fill(0);
    this.#youngCount = 0;
  }

  #addOld(hash: number, record: number): void {
    for (;;) {
      const page = this.#directory[hash >>> (32 - this.#depth)] as number;
      const chunk = this.#chunks[page >>> CHUNK_BITS] as Int32Array;
      const base = (page & CHUNK_MASK) * PAGE_WORDS;
      const count = chunk[base + COUNT] as number;
      if (count < IDS_PER_PAGE_MAX) {
        const at = base + PAIRS + count * 2;
        chunk[base + COUNT] = count + 1;
        chunk[at] = hash;
        chunk[at + 1] = record;
        note(chunk, base, hash);
        return;
      }
      this.#split(page, hash);
    }
  }

  /** Two pages of a full one, by the next bit of the hashes. */
  #split(page: number, hash: number): void {
    const depth = this.#chunkOf(page)[baseOf(page) + DEPTH] as number;
    if (depth === this.#depth) this.#doubleDirectory();
    const upper = this.#newPage(depth + 1);
    const from = this.#chunkOf(page);
    const to = this.#chunkOf(upper);
    const fromBase = baseOf(page);
    const toBase = baseOf(upper);
    const first = fromBase + PAIRS;
    const end = first + (from[fromBase + COUNT] as number) * 2;
    let stays = first;
    let goes = toBase + PAIRS;
    for (let at = first; at < end; at += 2) {
      const isUpper = (((from[at] as number) >>> (31 - depth)) & 1) === 1;
      const target = isUpper ? to : from;
      const place = isUpper ? goes : stays;
      target[place] = from[at] as number;
      target[place + 1] = from[at + 1] as number;
      if (isUpper) goes += 2;
      else stays += 2;
    }
    from[fromBase + COUNT] = (stays - first) >> 1;
    from[fromBase + DEPTH] = depth + 1;
    to[toBase + COUNT] = (goes - toBase - PAIRS) >> 1;
    refilter(from, fromBase);
    refilter(to, toBase);
    const span = 1 << (this.#depth - depth);
    const start = (hash >>> (32 - depth)) * span;
    this.#directory.fill(upper, start + span / 2, start + span);
  }

  #doubleDirectory(): void {
    assert(this.#depth < DEPTH_MAX, 'hashes of ids differ');
    const old = this.#directory;
    this.#directory = new Int32Array(old.length * 2);
    for (let at = 0; at < old.length; at++) this.#directory.fill(old[at] as number, at * 2, at * 2 + 2);
    this.#depth++;
  }

  #newPage(depth: number): number {
    const page = this.#pageCount++;
    const chunk = page >>> CHUNK_BITS;
    const place = page & CHUNK_MASK;
    if (place === 0) this.#chunks.push(new Int32Array((chunk === 0 ? 1 : CHUNK_PAGES) * PAGE_WORDS));
    const last = this.#chunkOf(page);
    if (place * PAGE_WORDS === last.length) this.#chunks[chunk] = grown(last, last.length * 2);
    this.#chunkOf(page)[place * PAGE_WORDS + DEPTH] = depth;
    return page;
  }

  #chunkOf(page: number): Int32Array<ArrayBuffer> {
    return this.#chunks[page >>> CHUNK_BITS] as Int32Array<ArrayBuffer>;
  }
}

function baseOf(page: number): number {
  return (page & CHUNK_MASK) * PAGE_WORDS;
}

function note(chunk: Int32Array, base: number, hash: number): void {
  const word = base + FILTER + (hash & (FILTER_WORDS - 1));
  chunk[word] = (chunk[word] as number) | bitsOf(hash);
}

/** The page's filter anew, of the ids that it holds. */
function refilter(chunk: Int32Array, base: number): void {
  chunk.fill(0, base + FILTER, base + PAIRS);
  chunk[base + REMOVED] = 0;
  const end = base + PAIRS + (chunk[base + COUNT] as number) * 2;
  for (let at = base + PAIRS; at < end; at += 2) note(chunk, base, chunk[at] as number);
}

/** Two of 32 bits, from bits of the hash that choose neither the page nor the word. */
function bitsOf(hash: number): number {
  const mixed = Math.imul(hash, 0x9e3779b1);
  return (1 << (mixed >>> 27)) | (1 << ((mixed >>> 22) & 31));
}
