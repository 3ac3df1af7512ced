/**
 * A hash table from 32-bit hashes to numbers that grows incrementally: every id of a market is found through it. The
 * caller interprets the numbers and compares the keys.
 *
 *   line    a cache line    ┌────────┬──────┬──────┬── … ──┬──────┐
 *                           │ spare  │ pair │ pair │       │ pair │    seven pairs (hash, number); number 0: empty
 *                           └────────┴──────┴──────┴── … ──┴──────┘
 *   places    ─ line ─ line ─ line ─    by the leading bits of the hash, then linear probing
 *
 * A place is identified by the index of its first word. Places are in the order of the hashes, and probing does not
 * wrap: filling the last place but one extends the table. When eleven sixteenths of the places are taken, a table of
 * twice the length is allocated, and every added entry moves the next few places to it, in their order:
 *
 *   old table    moved · · · │ boundary │ · · · not moved yet, and entries added here
 *   new table    entries whose place in the old table lies before the boundary
 *
 * So an entry is in exactly one of them, determined by its hash; new memory is touched from its beginning to its end.
 *
 * A line of a large table is in no cache. `fetch` writes to the spare words, which are never read: a store makes the
 * processor load the line without waiting for it, as a load would.
 *
 * Hashes are keyed with a secret that no client has (key-words.ts). Entries that collide anyway are adjacent: searching
 * them is slow, with no other effect. There are no tombstones.
 */
import { assert } from './assert.ts';
import { grown } from './pools.ts';

const LINE_BITS = 4;
const LINE_WORDS: number = 1 << LINE_BITS;
const IN_LINE: number = LINE_WORDS - 1;
const SPARE_WORDS = 2;
const PLACES_PER_LINE = 7;
/** At least 1: a 32-bit shift of a hash would shift by 0. */
const BITS_MIN = 1;
/** Words of the old table moved per added entry, then on to the next empty place. */
const WORDS_MOVED = 16;
/**
 * Words of a page of memory; how far ahead of the moved entries pages of the new table are touched, and how many at
 * once.
 */
const PAGE_WORDS = 1_024;
const AHEAD_WORDS: number = 8 * PAGE_WORDS;
const TOUCHED_AT_ONCE = 4;
/**
 * Lines after the last one in which an entry may begin. Large tables have so many that no cluster of a keyed hash fills
 * them, because extending such a table copies it: at most three of four places are taken, and then one table in e^19
 * exceeds the tail. Untouched tail lines use no memory.
 */
const TAIL_MIN = 5;
const TAIL_MAX = 74;
/** Shift from a table's lines to the lines of its tail. */
const TAIL_SHIFT = 5;

export class IdTable {
  #places: Places;
  #count = 0;
  /** The table being migrated, until all of it has moved. */
  #old: Places | null = null;
  /** Entries that begin at or after this place of the old table are still there. */
  #boundary = 0;
  /** Up to which word the new table has been touched ahead. */
  #touched = 0;

  /** @param capacity initial capacity in numbers. */
  constructor(capacity: number) {
    this.#places = new Places(Math.max(Math.ceil(Math.log2(capacity / PLACES_PER_LINE)), BITS_MIN));
  }

  get bytes(): number {
    return this.#places.bytes + (this.#old?.bytes ?? 0);
  }

  /** The table that would contain an entry with this hash. */
  placesOf(hash: number): Places {
    const old = this.#old;
    return old !== null && old.placeOf(hash) >= this.#boundary ? old : this.#places;
  }

  /** @param number not 0. */
  add(hash: number, number: number): void {
    if (this.#old !== null) this.#moveSome(this.#old);
    this.placesOf(hash).add(hash, number);
    this.#count++;
    if (this.#old === null && this.#count * 16 > this.#places.size * 11) this.#beginToGrow(this.#places);
  }

  /** Changes the number of an existing entry. */
  rename(hash: number, from: number, to: number): void {
    const places = this.placesOf(hash);
    places.cells[places.find(hash, from) + 1] = to;
  }

  /** Removes an existing entry. */
  remove(hash: number, number: number): void {
    this.placesOf(hash).remove(hash, number);
    this.#count--;
  }

  /** Prefetches the line of this hash. */
  fetch(hash: number): void {
    this.placesOf(hash).fetch(hash);
  }

  /**
   * While the table grows: touches the next pages of the new table, a few at a time, because the first touch of a page takes
   * a microsecond or two. Called between batches.
   */
  touchAhead(): void {
    if (this.#old === null) return;
    const { cells } = this.#places;
    const until = Math.min(this.#boundary * 2 + AHEAD_WORDS, cells.length);
    for (let pages = 0; pages < TOUCHED_AT_ONCE && this.#touched < until; pages++) {
      // The first word of a line, which is never read.
      cells[this.#touched] = 0;
      this.#touched += PAGE_WORDS;
    }
  }

  #beginToGrow(old: Places): void {
    this.#touched = 0;
    this.#old = old;
    this.#boundary = SPARE_WORDS;
    this.#places = new Places(old.bits + 1);
  }

  #moveSome(old: Places): void {
    const { cells } = old;
    const until = this.#boundary + WORDS_MOVED;
    let place = this.#boundary;
    for (; place < cells.length; place = nextPlace(place)) {
      const number = cells[place + 1] as number;
      if (number !== 0) this.#places.add(cells[place] as number, number);
      else if (place >= until) break;
    }
    this.#boundary = place;
    if (place >= cells.length) this.#old = null;
  }
}

/** The places of a table, extended only at the end. */
class Places {
  readonly bits: number;
  /** Number of places at which an entry may begin. */
  readonly size: number;
  /** The last place is always empty and ends every search. */
  cells: Int32Array;
  readonly #shift: number;

  constructor(bits: number) {
    this.bits = bits;
    this.#shift = 32 - bits;
    const lines = 2 ** bits;
    this.size = lines * PLACES_PER_LINE;
    this.cells = new Int32Array((lines + tailOf(lines)) * LINE_WORDS);
  }

  get bytes(): number {
    return this.cells.byteLength;
  }

  /** Where the search for this hash begins: the leading bits select the line, the next sixteen the place in it. */
  placeOf(hash: number): number {
    const inLine = (((hash << this.bits) >>> 16) * PLACES_PER_LINE) >>> 16;
    return ((hash >>> this.#shift) << LINE_BITS) + SPARE_WORDS + (inLine << 1);
  }

  fetch(hash: number): void {
    this.cells[(hash >>> this.#shift) << LINE_BITS] = 0;
  }

  /** The place of an existing entry. */
  find(hash: number, number: number): number {
    const { cells } = this;
    let place = this.placeOf(hash);
    while (cells[place + 1] !== number) {
      assert(cells[place + 1] !== 0, 'an existing entry is found by its hash');
      place = nextPlace(place);
    }
    return place;
  }

  add(hash: number, number: number): void {
    const { cells } = this;
    let place = this.placeOf(hash);
    while (cells[place + 1] !== 0) place = nextPlace(place);
    cells[place] = hash;
    cells[place + 1] = number;
    if (place === cells.length - 4) this.#lengthen();
  }

  /** Following entries move up towards the place where their search begins. */
  remove(hash: number, number: number): void {
    const { cells } = this;
    let gap = this.find(hash, number);
    for (let place = nextPlace(gap); cells[place + 1] !== 0; place = nextPlace(place)) {
      // mutant: id-probe-chain
      if (this.placeOf(cells[place] as number) > gap) continue;
      cells[gap] = cells[place] as number;
      cells[gap + 1] = cells[place + 1] as number;
      gap = place;
    }
    cells[gap + 1] = 0;
  }

  #lengthen(): void {
    const lines = this.cells.length >> LINE_BITS;
    this.cells = grown(this.cells, (lines + (lines >> 2)) * LINE_WORDS);
  }
}

/** The next place. */
export function nextPlace(place: number): number {
  const next = place + 2;
  return (next & IN_LINE) === 0 ? next + SPARE_WORDS : next;
}

function tailOf(lines: number): number {
  return Math.max(TAIL_MIN, Math.min(TAIL_MAX, lines >>> TAIL_SHIFT));
}
