/**
 * Ids of finished orders and of held cancels: many, written once, seldom asked for. Remembering one, and finding that one
 * is unknown, touch memory that stays in the processor's caches, however many there are; nothing here ever stops the
 * market to move all of them.
 *
 *                   2,048 of them                  in the order of their hashes
 *   add ─▶ young: a small hash table ── when it is full ──▶ pages, found through a directory by leading bits
 *
 *   filters     32 words a page, two bits of one word an id: nearly every search ends here
 *   pages       up to 128 pairs (hash, record + 1), the last one at the end: adding one reads nothing
 *
 * A full page becomes two, by one more bit of the hash; the directory doubles when a page has used all bits that it tells
 * apart. Young ids wander in the order of their hashes, which is the order of the directory: their cache misses overlap.
 * Filters lie by themselves: those of a million ids are about as large as a second-level cache.
 *
 * Bits are not cleared when an id is taken out; a page's filter is made anew when 32 were taken out of it.
 */
import { assert } from '../core/assert.ts';
import type { IdRecords } from './id-records.ts';
import { grown, NONE } from './pools.ts';

const YOUNG_PLACES_MAX = 4_096;
const YOUNG_PLACES_MIN = 8;
const IDS_PER_PAGE_MAX = 128;
const PAGE_WORDS: number = IDS_PER_PAGE_MAX * 2;
const FILTER_WORDS = 32;
const FILTER_MASK: number = FILTER_WORDS - 1;
/** Ids taken out before a page's filter is made anew. */
const REMOVED_MAX = 32;
/** Pages and filters lie in chunks of so many, which never move; the first chunk grows to its size. */
const CHUNK_BITS = 6;
const CHUNK_PAGES: number = 1 << CHUNK_BITS;
const CHUNK_MASK: number = CHUNK_PAGES - 1;
/** More would mean that hundreds of ids have one hash. */
const DEPTH_MAX = 28;
const FIRST_PAGES = 64;

export class PastIds {
  readonly #records: IdRecords;
  /** Pairs as in a page, by linear probing, at most half full; a second word of 0 is an empty place. */
  readonly #young: Int32Array<ArrayBuffer>;
  readonly #youngShift: number;
  #youngCount = 0;
  readonly #pages: Int32Array<ArrayBuffer>[] = [];
  readonly #filters: Int32Array<ArrayBuffer>[] = [];
  /** Of each page: its ids, those taken out since its filter was made, the bits of the hash that led to it. */
  #counts: Int32Array<ArrayBuffer> = new Int32Array(FIRST_PAGES);
  #removed: Int32Array<ArrayBuffer> = new Int32Array(FIRST_PAGES);
  #depths: Int32Array<ArrayBuffer> = new Int32Array(FIRST_PAGES);
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
    const chunks = [...this.#pages, ...this.#filters].reduce((sum, chunk) => sum + chunk.byteLength, 0);
    return this.#young.byteLength + this.#directory.byteLength + this.#counts.byteLength * 3 + chunks;
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
    const filters = this.#filters[page >>> CHUNK_BITS] as Int32Array;
    const bits = bitsOf(hash);
    const word = (page & CHUNK_MASK) * FILTER_WORDS + (hash & FILTER_MASK);
    if (((filters[word] as number) & bits) !== bits) return NONE;
    return this.#findIn(page, { hash, user, words, at, bytes });
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
    const last = startOf(page) + ((this.#counts[page] as number) - 1) * 2;
    let at = startOf(page);
    while (at <= last && chunk[at + 1] !== record + 1) at += 2;
    assert(at <= last, 'an id to take out is in its page');
    chunk[at] = chunk[last] as number;
    chunk[at + 1] = chunk[last + 1] as number;
    this.#counts[page] = (this.#counts[page] as number) - 1;
    this.#removed[page] = (this.#removed[page] as number) + 1;
    if ((this.#removed[page] as number) >= REMOVED_MAX) this.#refilter(page);
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

  #findIn(page: number, id: { hash: number; user: number; words: Int32Array; at: number; bytes: number }): number {
    const chunk = this.#chunkOf(page);
    const end = startOf(page) + (this.#counts[page] as number) * 2;
    for (let at = startOf(page); at < end; at += 2) {
      const record = (chunk[at + 1] as number) - 1;
      const isSame = chunk[at] === id.hash;
      if (isSame && this.#records.equals(record, id.user, id.words, id.at, id.bytes)) return record;
    }
    return NONE;
  }

  /** Every young id into its page. */
  #flush(): void {
    const young = this.#young;
    for (let place = 0; place < young.length; place += 2) {
      const named = young[place + 1] as number;
      if (named !== 0) this.#addOld(young[place] as number, named);
    }
    young.fill(0);
    this.#youngCount = 0;
  }

  #addOld(hash: number, named: number): void {
    let page = this.#directory[hash >>> (32 - this.#depth)] as number;
    while ((this.#counts[page] as number) >= IDS_PER_PAGE_MAX) {
      this.#split(page, hash);
      page = this.#directory[hash >>> (32 - this.#depth)] as number;
    }
    this.#enter(page, hash, named);
  }

  #enter(page: number, hash: number, named: number): void {
    const count = this.#counts[page] as number;
    const chunk = this.#pages[page >>> CHUNK_BITS] as Int32Array;
    const at = (page & CHUNK_MASK) * PAGE_WORDS + count * 2;
    chunk[at] = hash;
    chunk[at + 1] = named;
    this.#counts[page] = count + 1;
    note(this.#filters[page >>> CHUNK_BITS] as Int32Array, (page & CHUNK_MASK) * FILTER_WORDS, hash);
  }

  /** Two pages of a full one, by the next bit of the hashes. */
  #split(page: number, hash: number): void {
    const depth = this.#depths[page] as number;
    if (depth === this.#depth) this.#doubleDirectory();
    const upper = this.#newPage(depth + 1);
    const start = startOf(page);
    const chunk = this.#chunkOf(page);
    const old = chunk.slice(start, start + (this.#counts[page] as number) * 2);
    (this.#filters[page >>> CHUNK_BITS] as Int32Array).fill(0, filterOf(page), filterOf(page) + FILTER_WORDS);
    this.#counts[page] = 0;
    this.#removed[page] = 0;
    this.#depths[page] = depth + 1;
    for (let at = 0; at < old.length; at += 2) {
      const isUpper = (((old[at] as number) >>> (31 - depth)) & 1) === 1;
      this.#enter(isUpper ? upper : page, old[at] as number, old[at + 1] as number);
    }
    const span = 1 << (this.#depth - depth);
    const first = (hash >>> (32 - depth)) * span;
    this.#directory.fill(upper, first + span / 2, first + span);
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
    if (page === this.#counts.length) {
      this.#counts = grown(this.#counts, page * 2);
      this.#removed = grown(this.#removed, page * 2);
      this.#depths = grown(this.#depths, page * 2);
    }
    this.#depths[page] = depth;
    makeRoom(this.#pages, page, PAGE_WORDS);
    makeRoom(this.#filters, page, FILTER_WORDS);
    return page;
  }

  /** The page's filter anew, of the ids that it holds. */
  #refilter(page: number): void {
    const filters = this.#filters[page >>> CHUNK_BITS] as Int32Array;
    const chunk = this.#chunkOf(page);
    const start = startOf(page);
    filters.fill(0, filterOf(page), filterOf(page) + FILTER_WORDS);
    this.#removed[page] = 0;
    const end = start + (this.#counts[page] as number) * 2;
    for (let at = start; at < end; at += 2) note(filters, filterOf(page), chunk[at] as number);
  }

  #chunkOf(page: number): Int32Array<ArrayBuffer> {
    return this.#pages[page >>> CHUNK_BITS] as Int32Array<ArrayBuffer>;
  }
}

function startOf(page: number): number {
  return (page & CHUNK_MASK) * PAGE_WORDS;
}

function filterOf(page: number): number {
  return (page & CHUNK_MASK) * FILTER_WORDS;
}

/** Room for one page more at the end of the chunks. */
function makeRoom(chunks: Int32Array<ArrayBuffer>[], page: number, words: number): void {
  const at = page >>> CHUNK_BITS;
  if ((page & CHUNK_MASK) === 0) chunks.push(new Int32Array((at === 0 ? 1 : CHUNK_PAGES) * words));
  const last = chunks[at] as Int32Array<ArrayBuffer>;
  if ((page & CHUNK_MASK) * words === last.length) chunks[at] = grown(last, last.length * 2);
}

function note(filters: Int32Array, start: number, hash: number): void {
  const word = start + (hash & FILTER_MASK);
  filters[word] = (filters[word] as number) | bitsOf(hash);
}

/** Two of 32 bits, from bits of the hash that choose neither the page nor the word. */
function bitsOf(hash: number): number {
  const mixed = Math.imul(hash, 0x9e3779b1);
  return (1 << (mixed >>> 27)) | (1 << ((mixed >>> 22) & 31));
}
