/**
 * The live orders of a market by sequence, in the order of their admission. Most orders of a large market have not been
 * touched since the start: of those there is a name and a place, and their rows lie where the start found them (rows.ts).
 *
 *   names    │ 17 │ 21 │ 22 │ …     rising: what a start found
 *   places   │  p │  q │  r │ …     of their rows
 *   states   │  s │  – │ sl │ …     s: on its shelf, l: with a slot, as somebody finds it by it, – : touched, or over
 *   slots    a map: what was touched or linked, and all that was created since
 *
 * Invariants: names rise, and every order created later has a higher one. The row of an order that is on its shelf is
 * what it was at the start.
 */
import { assert, must } from '../core/assert.ts';
import type { Sequence } from '../core/units.ts';
import type { OrderRow, StoredOrders } from './rows.ts';
import type { OrderSlot } from './state.ts';

const ROOM_MIN = 64;
/** A walk through all of them may take seconds: it says so often that somebody is working. */
const LOOKS_PER_BEAT = 1_024;
/** Nothing was done with it but to link it. */
const ON_SHELF = 1;
/** A restart may end or change it. */
const UNSETTLED = 2;
/** It has a slot. */
const LINKED = 4;

/** Makes the slot of an order that is taken off its shelf. */
export type Unshelve = (stored: StoredOrders, place: number) => OrderSlot;

export class LiveOrders {
  readonly #slots = new Map<Sequence, OrderSlot>();
  readonly #unshelve: Unshelve;
  readonly #beat: () => void;
  #stored: StoredOrders | null = null;
  #names: Float64Array = new Float64Array(0);
  #places: Float64Array = new Float64Array(0);
  #states: Uint8Array = new Uint8Array(0);
  /** How many names there are. */
  #count = 0;
  /** How many of those have no slot and are live. */
  #withoutSlot = 0;

  /** @param beat called again and again while all are walked. */
  constructor(unshelve: Unshelve, beat: () => void) {
    this.#unshelve = unshelve;
    this.#beat = beat;
  }

  get size(): number {
    return this.#slots.size + this.#withoutSlot;
  }

  /** What is asked for has something happen to it: it is taken off its shelf, which ends every look at one order. */
  get(name: Sequence): OrderSlot | undefined {
    const slot = this.#slots.get(name);
    if (slot !== undefined || this.#withoutSlot === 0) return slot;
    const at = this.#find(name);
    return at < 0 ? undefined : this.#takeOff(at);
  }

  has(name: Sequence): boolean {
    return this.#slots.has(name) || (this.#withoutSlot > 0 && this.#find(name) >= 0);
  }

  /** The row to look at, valid until the next look at one order. */
  look(name: Sequence): OrderRow | undefined {
    const slot = this.#slots.get(name);
    if (slot !== undefined || this.#stored === null) return slot?.look();
    const at = this.#find(name);
    return at < 0 ? undefined : this.#stored.look(this.#places[at] as number);
  }

  set(name: Sequence, slot: OrderSlot): void {
    assert(name > this.#lastName(), 'an order is created after those that a start finds');
    this.#slots.set(name, slot);
  }

  /**
   * Leaves an order where it lies. Its sequence is above all others.
   *
   * @param isSettled whether a restart leaves it as it is, as long as nothing happens to it.
   */
  shelve(row: OrderRow, stored: StoredOrders, place: number, isSettled: boolean): void {
    const { orderSequence: name } = row;
    assert(name > this.#lastName() && !this.#slots.has(name), 'orders are shelved in the order of their admission');
    assert(this.#stored === null || this.#stored === stored, 'the orders of a market lie together');
    this.#stored = stored;
    if (this.#count === this.#names.length) this.#grow();
    this.#names[this.#count] = name;
    this.#places[this.#count] = place;
    this.#states[this.#count] = isSettled ? ON_SHELF : ON_SHELF | UNSETTLED;
    this.#count += 1;
    this.#withoutSlot += 1;
  }

  /** Gives the order that was shelved last a slot by which it is found, whose row still lies where it lay. */
  link(slot: OrderSlot): void {
    const at = this.#count - 1;
    this.#states[at] = this.#state(at) | LINKED;
    this.#slots.set(this.#lastName() as Sequence, slot);
    this.#withoutSlot -= 1;
  }

  delete(name: Sequence): void {
    const at = this.#find(name);
    if (at >= 0) this.#states[at] = 0;
    if (!this.#slots.delete(name) && at >= 0) this.#withoutSlot -= 1;
  }

  /** The slot of an order that has one. */
  slotOf(name: Sequence): OrderSlot | null {
    return this.#slots.get(name) ?? null;
  }

  /** Of all orders that have one, in no particular order. */
  slots(): Iterable<[Sequence, OrderSlot]> {
    return this.#slots;
  }

  /** Every row in its turn, to look at only. Orders may be asked for, and end, meanwhile. */
  *looks(): Generator<OrderRow, void, undefined> {
    const stored = this.#stored;
    if (stored !== null) {
      const rows = stored.looks(this.#placesOnShelf())[Symbol.iterator]();
      try {
        for (let at = 0; at < this.#count; at += 1) {
          if (at % LOOKS_PER_BEAT === 0) this.#beat();
          if (this.#isOnShelf(at)) yield must(rows.next().value ?? undefined, 'an order lies where it was left');
          else {
            const slot = this.#slots.get(this.#names[at] as Sequence);
            if (slot !== undefined) yield slot.look();
          }
        }
      } finally {
        rows.return?.();
      }
    }
    yield* this.looksAfter(this.#lastName());
  }

  /** Those of them that have a higher name than that. @param name of all that have one, every higher one has a slot. */
  *looksAfter(name: number): Generator<OrderRow, void, undefined> {
    let seen = 0;
    for (const [own, slot] of this.#slots) {
      if (seen % LOOKS_PER_BEAT === 0) this.#beat();
      seen += 1;
      if (own > name) yield slot.look();
    }
  }

  *keys(): Generator<Sequence> {
    for (let at = 0; at < this.#count; at += 1) {
      const name = this.#names[at] as Sequence;
      if (this.#isOnShelf(at) || this.#slots.has(name)) yield name;
    }
    const last = this.#lastName();
    for (const name of this.#slots.keys()) if (name > last) yield name;
  }

  /** As StoredOrders says it: of a look; negative of a row of its own. */
  userOf(row: OrderRow): number {
    return this.#stored?.userOf(row) ?? -1;
  }

  /** Whether a restart leaves a live order as it is: it lies on its shelf, and was left there so. 0 is none. */
  isSettled(name: Sequence | 0): boolean {
    const at = name === 0 ? -1 : this.#find(name);
    return at >= 0 && this.#isOnShelf(at) && (this.#state(at) & UNSETTLED) === 0;
  }

  /**
   * Names of those that a restart has to look at: something happened to them, or it was so from the start. A child is
   * taken off its shelf when its parent ends, if not before (enableChildren of orders.ts), and comes after it.
   */
  *unsettled(): Generator<Sequence> {
    for (let at = 0; at < this.#count; at += 1) {
      const name = this.#names[at] as Sequence;
      if (this.#isOnShelf(at) ? (this.#state(at) & UNSETTLED) !== 0 : this.#slots.has(name)) yield name;
    }
    const last = this.#lastName();
    for (const name of this.#slots.keys()) if (name > last) yield name;
  }

  /** All of them, taken off their shelves: for those who mean to touch all, or have few. */
  *values(): Generator<OrderSlot> {
    for (const name of this.keys()) {
      const slot = this.get(name);
      if (slot !== undefined) yield slot;
    }
  }

  *[Symbol.iterator](): Generator<[Sequence, OrderSlot]> {
    for (const slot of this.values()) yield [slot.look().orderSequence, slot];
  }

  #lastName(): number {
    return this.#count === 0 ? Number.NEGATIVE_INFINITY : (this.#names[this.#count - 1] as number);
  }

  #state(at: number): number {
    return this.#states[at] as number;
  }

  /** Whether its row lies where it lay. That of a linked order may have been read, and changed. */
  #isOnShelf(at: number): boolean {
    const state = this.#state(at);
    if ((state & LINKED) === 0) return state !== 0;
    return this.#slots.get(this.#names[at] as Sequence)?.isStored === true;
  }

  *#placesOnShelf(): Generator<number, void, undefined> {
    for (let at = 0; at < this.#count; at += 1) if (this.#isOnShelf(at)) yield this.#places[at] as number;
  }

  /** Where an order stands that a start found and that is live, or a negative number. */
  #find(name: number): number {
    if (name > this.#lastName()) return -1;
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#names[middle] as number) < name) low = middle + 1;
      else high = middle;
    }
    return this.#names[low] === name && this.#state(low) !== 0 ? low : -1;
  }

  #takeOff(at: number): OrderSlot {
    const slot = this.#unshelve(this.#stored as StoredOrders, this.#places[at] as number);
    this.#states[at] = 0;
    this.#withoutSlot -= 1;
    this.#slots.set(this.#names[at] as Sequence, slot);
    return slot;
  }

  #grow(): void {
    const room = Math.max(ROOM_MIN, 2 * this.#names.length);
    const names = new Float64Array(room);
    const places = new Float64Array(room);
    const states = new Uint8Array(room);
    names.set(this.#names);
    places.set(this.#places);
    states.set(this.#states);
    this.#names = names;
    this.#places = places;
    this.#states = states;
  }
}
