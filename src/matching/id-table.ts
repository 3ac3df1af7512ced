/**
 * A hash of small numbers by 32-bit hashes, which never stops anybody to grow: what live and past ids are found through.
 * What a number stands for, and whether it is the one that is looked for, is its user's to know.
 *
 *   places   ─┬────┬────┬────┬─   pairs (hash, number + 1); by the leading bits of the hash, then linear probing
 *   filter   ─┴────┴────┴────┴─   if there is one: 32 bits for the eight places that begin there, two bits an entry
 *
 * Places stand in the order of the hashes, and probing does not wrap: whoever takes the last place but one makes the table
 * longer. When five eighths of the places are taken, a table twice as long begins, and every entry that is added moves
 * the next few places to it, in their order:
 *
 *   old table    moved · · · │ boundary, an empty place │ · · · still here: also what is added now
 *   new table    entries whose place in the old one lies before the boundary
 *
 * So an entry is in one of them, and its hash says in which; new memory is touched from its beginning to its end.
 *
 * Hashes have a key that no client knows (key-words.ts). Entries that share one anyway stand next to each other: they are
 * slow to search, and nothing else. There are no tombstones; a word of the filter is made anew when an entry leaves.
 */
import { assert } from '../core/assert.ts';
import { grown } from './pools.ts';

/** Two words of the filter: a hash that is shifted by all of its 32 bits is not shifted at all. */
const BITS_MIN = 4;
/** Places of the old table that an added entry moves, and what remains until the next empty place. */
const PLACES_MOVED = 16;
/** From a place to its word of the filter. */
const FILTER_SHIFT = 3;
/**
 * Places behind the last one at which an entry may begin. In a large table so many that no cluster of a keyed hash ever
 * fills them, as to make it longer is to copy it: 11 of 16 places are taken at most, and then one table in e^31
 * reaches 512 places beyond the end. What is never touched is no memory yet.
 */
const TAIL_MIN = 32;
const TAIL_MAX = 512;
/** From the places of a table to those of its tail. */
const TAIL_SHIFT = 5;

export class IdTable {
  readonly #hasFilter: boolean;
  #places: Places;
  #count = 0;
  /** What the table grew from, until all of it has moved. */
  #old: Places | null = null;
  /** Entries that begin at this place of the old table or behind it are still there. */
  #boundary = 0;

  /** @param capacity places to begin with, a power of two. */
  constructor(capacity: number, hasFilter: boolean) {
    this.#hasFilter = hasFilter;
    this.#places = new Places(Math.max(Math.log2(capacity), BITS_MIN), hasFilter);
  }

  get bytes(): number {
    return this.#places.bytes + (this.#old?.bytes ?? 0);
  }

  /** Where an entry with this hash is, if it is here. */
  placesOf(hash: number): Places {
    const old = this.#old;
    return old !== null && old.placeOf(hash) >= this.#boundary ? old : this.#places;
  }

  add(hash: number, number: number): void {
    if (this.#old !== null) this.#moveSome(this.#old);
    this.placesOf(hash).add(hash, number + 1);
    this.#count++;
    if (this.#count * 8 > this.#places.size * 5 && this.#old === null) this.#beginToGrow(this.#places);
  }

  /** An entry that is here. */
  remove(hash: number, number: number): void {
    this.placesOf(hash).remove(hash, number + 1);
    this.#count--;
  }

  /** Reads what `add` will touch: one step for several entries, so that the processor fetches it for all at once. */
  touch(hash: number): number {
    return this.placesOf(hash).touch(hash);
  }

  #beginToGrow(old: Places): void {
    this.#old = old;
    this.#boundary = 0;
    this.#places = new Places(old.bits + 1, this.#hasFilter);
  }

  #moveSome(old: Places): void {
    const { pairs } = old;
    const places = pairs.length >> 1;
    const until = this.#boundary + PLACES_MOVED;
    let place = this.#boundary;
    for (; place < places; place++) {
      const named = pairs[place * 2 + 1] as number;
      if (named !== 0) this.#places.add(pairs[place * 2] as number, named);
      else if (place >= until) break;
    }
    this.#boundary = place;
    if (place === places) this.#old = null;
  }
}

/** The places of a table, which is made longer at its end alone. */
export class Places {
  readonly bits: number;
  /** Places at which an entry may begin. */
  readonly size: number;
  /** A second word of 0 is an empty place. The last place is always empty: it ends every search. */
  pairs: Int32Array;
  readonly #filter: Int32Array;
  readonly #hasFilter: boolean;
  readonly #shift: number;

  constructor(bits: number, hasFilter: boolean) {
    this.bits = bits;
    this.size = 2 ** bits;
    this.#shift = 32 - bits;
    this.#hasFilter = hasFilter;
    this.pairs = new Int32Array((this.size + tailOf(this.size)) * 2);
    this.#filter = new Int32Array(hasFilter ? this.size >>> FILTER_SHIFT : 0);
  }

  get bytes(): number {
    return this.pairs.byteLength + this.#filter.byteLength;
  }

  /** Where the search for this hash begins. */
  placeOf(hash: number): number {
    return hash >>> this.#shift;
  }

  /** False if no entry has this hash. */
  mayHave(hash: number): boolean {
    const bits = bitsOf(hash);
    return ((this.#filter[hash >>> (this.#shift + FILTER_SHIFT)] as number) & bits) === bits;
  }

  touch(hash: number): number {
    const place = hash >>> this.#shift;
    return (this.pairs[place << 1] as number) ^ (this.#filter[place >>> FILTER_SHIFT] as number);
  }

  add(hash: number, named: number): void {
    const { pairs } = this;
    let place = (hash >>> this.#shift) << 1;
    while (pairs[place + 1] !== 0) place += 2;
    pairs[place] = hash;
    pairs[place + 1] = named;
    if (place === pairs.length - 4) this.pairs = grown(pairs, pairs.length + (pairs.length >> 2));
    if (!this.#hasFilter) return;
    const word = hash >>> (this.#shift + FILTER_SHIFT);
    this.#filter[word] = (this.#filter[word] as number) | bitsOf(hash);
  }

  /** What stands behind it moves up to where its search begins. */
  remove(hash: number, named: number): void {
    const { pairs } = this;
    let gap = this.placeOf(hash);
    while (pairs[gap * 2 + 1] !== named) {
      assert(pairs[gap * 2 + 1] !== 0, 'an id to take out is where its hash says');
      gap++;
    }
    for (let place = gap + 1; pairs[place * 2 + 1] !== 0; place++) {
      if (this.placeOf(pairs[place * 2] as number) > gap) continue;
      pairs[gap * 2] = pairs[place * 2] as number;
      pairs[gap * 2 + 1] = pairs[place * 2 + 1] as number;
      gap = place;
    }
    pairs[gap * 2 + 1] = 0;
    if (this.#hasFilter) this.#refilter(hash >>> (this.#shift + FILTER_SHIFT));
  }

  /** A word anew, of the entries that begin at its places. */
  #refilter(word: number): void {
    const { pairs } = this;
    const end = (word + 1) << FILTER_SHIFT;
    let bits = 0;
    for (let place = word << FILTER_SHIFT; place < end || pairs[place * 2 + 1] !== 0; place++) {
      const hash = pairs[place * 2] as number;
      const isOfWord = hash >>> (this.#shift + FILTER_SHIFT) === word;
      if (pairs[place * 2 + 1] !== 0 && isOfWord) bits |= bitsOf(hash);
    }
    this.#filter[word] = bits;
  }
}

function tailOf(size: number): number {
  return Math.max(TAIL_MIN, Math.min(TAIL_MAX, size >>> TAIL_SHIFT));
}

/** Two of 32 bits, of all that the hash says. */
function bitsOf(hash: number): number {
  const mixed = Math.imul(hash, 0x9e3779b1);
  return (1 << (mixed >>> 27)) | (1 << ((mixed >>> 22) & 31));
}
