/**
 * A hash of numbers by 32-bit hashes, which never stops anybody to grow: every id that a market knows is found through it.
 * What a number stands for, and whether it is the one that is looked for, is its user's to know.
 *
 *   line    a cache line    ┌────────┬──────┬──────┬── … ──┬──────┐
 *                           │ spare  │ pair │ pair │       │ pair │    seven pairs (hash, number); number 0: empty
 *                           └────────┴──────┴──────┴── … ──┴──────┘
 *   places    ─ line ─ line ─ line ─    by the leading bits of the hash, then linear probing
 *
 * A place is named by the index of its first word. Places stand in the order of the hashes, and probing does not wrap:
 * whoever takes the last place but one makes the table longer. When eleven sixteenths of the places are taken, a table
 * twice as long begins, and every entry that is added moves the next few places to it, in their order:
 *
 *   old table    moved · · · │ boundary │ · · · still here: also what is added now
 *   new table    entries whose place in the old one lies before the boundary
 *
 * So an entry is in one of them, and its hash says in which; new memory is touched from its beginning to its end.
 *
 * A line of a large table is in no cache. The spare words are for `fetch`: nobody reads them, and who writes there has the
 * processor bring the line without waiting for it, as it does for a read.
 *
 * Hashes have a key that no client knows (key-words.ts). Entries that share one anyway stand next to each other: they are
 * slow to search, and nothing else. There are no tombstones.
 */
import { assert } from '../core/assert.ts';
import { grown } from './pools.ts';

const LINE_BITS = 4;
const LINE_WORDS: number = 1 << LINE_BITS;
const IN_LINE: number = LINE_WORDS - 1;
const SPARE_WORDS = 2;
const PLACES_PER_LINE = 7;
/** A hash that is shifted by all of its 32 bits is not shifted at all. */
const BITS_MIN = 1;
/** Words of the old table that an added entry moves, and what remains until the next empty place. */
const WORDS_MOVED = 40;
/**
 * Lines behind the last one in which an entry may begin. In a large table so many that no cluster of a keyed hash ever
 * fills them, as to make it longer is to copy it: three of four places are taken at most, and then one table in e^19
 * reaches so far beyond the end. What is never touched is no memory yet.
 */
const TAIL_MIN = 5;
const TAIL_MAX = 74;
/** From the lines of a table to those of its tail. */
const TAIL_SHIFT = 5;

export class IdTable {
  #places: Places;
  #count = 0;
  /** What the table grew from, until all of it has moved. */
  #old: Places | null = null;
  /** Entries that begin at this place of the old table or behind it are still there. */
  #boundary = 0;

  /** @param capacity numbers that there is room for to begin with. */
  constructor(capacity: number) {
    this.#places = new Places(Math.max(Math.ceil(Math.log2(capacity / PLACES_PER_LINE)), BITS_MIN));
  }

  get bytes(): number {
    return this.#places.bytes + (this.#old?.bytes ?? 0);
  }

  /** Where an entry with this hash is, if it is here. */
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

  /** An entry that is here has another number from now on. */
  rename(hash: number, from: number, to: number): void {
    const places = this.placesOf(hash);
    places.cells[places.find(hash, from) + 1] = to;
  }

  /** An entry that is here. */
  remove(hash: number, number: number): void {
    this.placesOf(hash).remove(hash, number);
    this.#count--;
  }

  /** Somebody will ask for this hash soon. */
  fetch(hash: number): void {
    this.placesOf(hash).fetch(hash);
  }

  #beginToGrow(old: Places): void {
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

/** The places of a table, which is made longer at its end alone. */
export class Places {
  readonly bits: number;
  /** Places at which an entry may begin. */
  readonly size: number;
  /** The last place is always empty: it ends every search. */
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

  /** Where the search for this hash begins: the leading bits say in which line, the next sixteen where in it. */
  placeOf(hash: number): number {
    const inLine = (((hash << this.bits) >>> 16) * PLACES_PER_LINE) >>> 16;
    return ((hash >>> this.#shift) << LINE_BITS) + SPARE_WORDS + (inLine << 1);
  }

  fetch(hash: number): void {
    this.cells[(hash >>> this.#shift) << LINE_BITS] = 0;
  }

  /** The place of an entry that is here. */
  find(hash: number, number: number): number {
    const { cells } = this;
    let place = this.placeOf(hash);
    while (cells[place + 1] !== number) {
      assert(cells[place + 1] !== 0, 'an id that is in the table is where its hash says');
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

  /** What stands behind it moves up to where its search begins. */
  remove(hash: number, number: number): void {
    const { cells } = this;
    let gap = this.find(hash, number);
    for (let place = nextPlace(gap); cells[place + 1] !== 0; place = nextPlace(place)) {
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

/** The place behind this one. */
export function nextPlace(place: number): number {
  const next = place + 2;
  return (next & IN_LINE) === 0 ? next + SPARE_WORDS : next;
}

function tailOf(lines: number): number {
  return Math.max(TAIL_MIN, Math.min(TAIL_MAX, lines >>> TAIL_SHIFT));
}
