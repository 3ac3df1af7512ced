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
 * It doubles only while it stays below eight words a page. A page that no more bits, or none that are allowed, would
 * divide grows a chain instead: its filter then speaks for all of the chain, and a search reads it to its end. Hashes
 * have a key that no client knows, so that this happens to nobody; but ids are chosen by clients, and whatever they
 * are, memory stays in proportion to their number and nothing here fails.
 *
 *   head (full) ─▶ open ─▶ full ─▶ full        who leaves makes room in `open`, the only one that is not full
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
/** Words of the directory for each page, at most: three to five are usual. */
const DIRECTORY_PER_PAGE = 8;
/** The end of a chain. Page 0 is in the directory from the beginning, so it follows none. */
const NO_PAGE = 0;
const FIRST_PAGES = 64;

export class PastIds {
  readonly #records: IdRecords;
  /** Pairs as in a page, by linear probing, at most half full; a second word of 0 is an empty place. */
  readonly #young: Int32Array<ArrayBuffer>;
  readonly #youngShift: number;
  #youngCount = 0;
  readonly #pages: Int32Array<ArrayBuffer>[] = [];
  readonly #filters: Int32Array<ArrayBuffer>[] = [];
  /**
   * Of each page: its ids, and the next of its chain; of the head besides: ids taken out of the chain since its filter
   * was made, the bits of the hash that led to it.
   */
  #counts: Int32Array<ArrayBuffer> = new Int32Array(FIRST_PAGES);
  #removed: Int32Array<ArrayBuffer> = new Int32Array(FIRST_PAGES);
  #depths: Int32Array<ArrayBuffer> = new Int32Array(FIRST_PAGES);
  #next: Int32Array<ArrayBuffer> = new Int32Array(FIRST_PAGES);
  /** Pages that left a chain, linked through `#next`. */
  #freePage: number = NO_PAGE;
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
    return this.#young.byteLength + this.#directory.byteLength + this.#counts.byteLength * 4 + chunks;
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
    const head = this.#directory[hash >>> (32 - this.#depth)] as number;
    let page = head;
    let at = this.#placeIn(page, record + 1);
    while (at === NONE) {
      page = this.#next[page] as number;
      assert(page !== NO_PAGE, 'an id to take out is in its page');
      at = this.#placeIn(page, record + 1);
    }
    this.#fillGap(head, page, at);
    this.#removed[head] = (this.#removed[head] as number) + 1;
    if ((this.#removed[head] as number) >= REMOVED_MAX) this.#refilter(head);
  }

  /** The last id of the page that is not full moves to where one was taken out. */
  #fillGap(head: number, page: number, at: number): void {
    const open = this.#openOf(head);
    const left = (this.#counts[open] as number) - 1;
    const [chunk, from] = [this.#chunkOf(page), this.#chunkOf(open)];
    const last = startOf(open) + left * 2;
    chunk[at] = from[last] as number;
    chunk[at + 1] = from[last + 1] as number;
    this.#counts[open] = left;
    if (left === 0 && open !== head) this.#unchain(head, open);
  }

  /** Where the pair with this second word lies in the page's chunk, or NONE. */
  #placeIn(page: number, named: number): number {
    const chunk = this.#chunkOf(page);
    const end = startOf(page) + (this.#counts[page] as number) * 2;
    for (let at = startOf(page); at < end; at += 2) if (chunk[at + 1] === named) return at;
    return NONE;
  }

  /** Of a chain, the page that takes the next id, while it has room. */
  #openOf(head: number): number {
    const next = this.#next[head] as number;
    return next === NO_PAGE ? head : next;
  }

  #chain(head: number): number {
    const page = this.#newPage(0);
    this.#next[page] = this.#next[head] as number;
    this.#next[head] = page;
    return page;
  }

  /** Only the one behind the head leaves a chain. */
  #unchain(head: number, page: number): void {
    this.#next[head] = this.#next[page] as number;
    this.#counts[page] = 0;
    this.#next[page] = this.#freePage;
    this.#freePage = page;
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

  #findIn(head: number, id: { hash: number; user: number; words: Int32Array; at: number; bytes: number }): number {
    let page = head;
    do {
      const chunk = this.#chunkOf(page);
      const end = startOf(page) + (this.#counts[page] as number) * 2;
      for (let at = startOf(page); at < end; at += 2) {
        const record = (chunk[at + 1] as number) - 1;
        const isSame = chunk[at] === id.hash;
        if (isSame && this.#records.equals(record, id.user, id.words, id.at, id.bytes)) return record;
      }
      page = this.#next[page] as number;
    } while (page !== NO_PAGE);
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
    while ((this.#counts[page] as number) >= IDS_PER_PAGE_MAX && this.#isDivisible(page, hash)) {
      this.#split(page, hash);
      page = this.#directory[hash >>> (32 - this.#depth)] as number;
    }
    this.#enter(page, hash, named);
  }

  /** Whether the directory may become as large as telling the ids of the page and this one apart needs. */
  #isDivisible(page: number, hash: number): boolean {
    const chunk = this.#chunkOf(page);
    const end = startOf(page) + PAGE_WORDS;
    let differing = 0;
    for (let at = startOf(page); at < end; at += 2) differing |= (chunk[at] as number) ^ hash;
    const depth = Math.clz32(differing) + 1;
    return depth <= this.#depth || 2 ** depth <= this.#pageCount * DIRECTORY_PER_PAGE;
  }

  /** One more in the chain of this page. */
  #enter(head: number, hash: number, named: number): void {
    let page = this.#openOf(head);
    if (this.#counts[page] === IDS_PER_PAGE_MAX) page = this.#chain(head);
    const count = this.#counts[page] as number;
    const chunk = this.#chunkOf(page);
    const at = startOf(page) + count * 2;
    chunk[at] = hash;
    chunk[at + 1] = named;
    this.#counts[page] = count + 1;
    note(this.#filters[head >>> CHUNK_BITS] as Int32Array, filterOf(head), hash);
  }

  /** Two chains of that of a full page, by the next bit of the hashes. */
  #split(page: number, hash: number): void {
    const depth = this.#depths[page] as number;
    if (depth === this.#depth) this.#doubleDirectory();
    const old = this.#takeAll(page);
    const upper = this.#newPage(depth + 1);
    this.#depths[page] = depth + 1;
    for (let at = 0; at < old.length; at += 2) {
      const isUpper = (((old[at] as number) >>> (31 - depth)) & 1) === 1;
      this.#enter(isUpper ? upper : page, old[at] as number, old[at + 1] as number);
    }
    const span = 1 << (this.#depth - depth);
    const first = (hash >>> (32 - depth)) * span;
    this.#directory.fill(upper, first + span / 2, first + span);
  }

  /** The pairs of a chain, of which an empty head is left. */
  #takeAll(head: number): Int32Array {
    const pages = [head];
    for (let page = this.#next[head] as number; page !== NO_PAGE; page = this.#next[page] as number) pages.push(page);
    const pairs = new Int32Array(pages.length * PAGE_WORDS);
    let count = 0;
    for (const page of pages) {
      const start = startOf(page);
      pairs.set(this.#chunkOf(page).subarray(start, start + (this.#counts[page] as number) * 2), count * 2);
      count += this.#counts[page] as number;
      if (page !== head) this.#unchain(head, page);
    }
    (this.#filters[head >>> CHUNK_BITS] as Int32Array).fill(0, filterOf(head), filterOf(head) + FILTER_WORDS);
    this.#counts[head] = 0;
    this.#removed[head] = 0;
    return pairs.subarray(0, count * 2);
  }

  #doubleDirectory(): void {
    const old = this.#directory;
    this.#directory = new Int32Array(old.length * 2);
    for (let at = 0; at < old.length; at++) this.#directory.fill(old[at] as number, at * 2, at * 2 + 2);
    this.#depth++;
  }

  /** An empty one, the head of a chain or to become part of one. */
  #newPage(depth: number): number {
    if (this.#freePage !== NO_PAGE) {
      const free = this.#freePage;
      this.#freePage = this.#next[free] as number;
      this.#next[free] = NO_PAGE;
      this.#depths[free] = depth;
      return free;
    }
    const page = this.#pageCount++;
    if (page === this.#counts.length) {
      this.#counts = grown(this.#counts, page * 2);
      this.#removed = grown(this.#removed, page * 2);
      this.#depths = grown(this.#depths, page * 2);
      this.#next = grown(this.#next, page * 2);
    }
    this.#depths[page] = depth;
    makeRoom(this.#pages, page, PAGE_WORDS);
    makeRoom(this.#filters, page, FILTER_WORDS);
    return page;
  }

  /** The filter anew, of the ids of the chain. */
  #refilter(head: number): void {
    const filters = this.#filters[head >>> CHUNK_BITS] as Int32Array;
    filters.fill(0, filterOf(head), filterOf(head) + FILTER_WORDS);
    this.#removed[head] = 0;
    let page = head;
    do {
      const chunk = this.#chunkOf(page);
      const start = startOf(page);
      const end = start + (this.#counts[page] as number) * 2;
      for (let at = start; at < end; at += 2) note(filters, filterOf(head), chunk[at] as number);
      page = this.#next[page] as number;
    } while (page !== NO_PAGE);
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
