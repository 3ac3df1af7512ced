/**
 * The live orders of a market by sequence, in the order of their admission. Most orders of a large market have not been
 * touched since the start: of those there is a name and a place, and their rows lie in their bytes (rows.ts).
 *
 *   shelved   names  │ 17 │ 21 │ 22 │ … rising      a start puts them there; 16 bytes an order, nothing for the collector
 *             places │  p │  — │  r │ …             — : taken off, or over
 *   slots     a map: what was taken off, as something happened to it, and all that was created since
 *
 * Invariants: names of shelved orders rise, and every order created later has a higher one. An order is in one place.
 */
import { assert } from '../core/assert.ts';
import type { Sequence } from '../core/units.ts';
import type { OrderRow, StoredOrders } from './rows.ts';
import type { OrderSlot } from './state.ts';

const TAKEN_OFF = -1;
const ROOM_MIN = 64;

/** Makes the slot of an order that is taken off its shelf. */
export type Unshelve = (stored: StoredOrders, place: number) => OrderSlot;

export class LiveOrders {
  readonly #slots = new Map<Sequence, OrderSlot>();
  readonly #unshelve: Unshelve;
  #stored: StoredOrders | null = null;
  #names: Float64Array = new Float64Array(0);
  #places: Float64Array = new Float64Array(0);
  /** How many names there are. */
  #shelves = 0;
  /** How many of those are still there. */
  #shelved = 0;

  constructor(unshelve: Unshelve) {
    this.#unshelve = unshelve;
  }

  get size(): number {
    return this.#slots.size + this.#shelved;
  }

  /** What is asked for has something happen to it: it is taken off its shelf, which ends every look. */
  get(name: Sequence): OrderSlot | undefined {
    const slot = this.#slots.get(name);
    if (slot !== undefined || this.#shelved === 0) return slot;
    const at = this.#find(name);
    return at < 0 ? undefined : this.#takeOff(at);
  }

  has(name: Sequence): boolean {
    return this.#slots.has(name) || (this.#shelved > 0 && this.#find(name) >= 0);
  }

  /** The row to look at, valid until the next look at any order. */
  look(name: Sequence): OrderRow | undefined {
    const slot = this.#slots.get(name);
    if (slot !== undefined || this.#stored === null) return slot?.look();
    const at = this.#find(name);
    return at < 0 ? undefined : this.#stored.look(this.#places[at] as number);
  }

  set(name: Sequence, slot: OrderSlot): void {
    assert(name > this.#lastShelved(), 'an order is created after those that a start finds');
    this.#slots.set(name, slot);
  }

  /** Puts an order where it is not touched. Its sequence is above all others. */
  shelve(name: Sequence, stored: StoredOrders, place: number): void {
    assert(name > this.#lastShelved() && !this.#slots.has(name), 'orders are shelved in the order of their admission');
    assert(this.#stored === null || this.#stored === stored, 'the orders of a market lie together');
    this.#stored = stored;
    if (this.#shelves === this.#names.length) this.#grow();
    this.#names[this.#shelves] = name;
    this.#places[this.#shelves] = place;
    this.#shelves += 1;
    this.#shelved += 1;
  }

  delete(name: Sequence): void {
    if (this.#slots.delete(name) || this.#shelved === 0) return;
    const at = this.#find(name);
    if (at >= 0) this.#giveUp(at);
  }

  /** The slot of an order that something has happened to. */
  slotOf(name: Sequence): OrderSlot | null {
    return this.#slots.get(name) ?? null;
  }

  /** Of all orders that something has happened to, in no particular order. */
  slots(): Iterable<[Sequence, OrderSlot]> {
    return this.#slots;
  }

  /** Shows what is still on its shelf, in its turn, and nothing else. Nothing may be taken off meanwhile. */
  forEachShelved(visit: (stored: StoredOrders, place: number, name: Sequence) => void): void {
    const stored = this.#stored;
    if (stored === null) return;
    for (let at = 0; at < this.#shelves; at += 1) {
      const place = this.#places[at] as number;
      if (place !== TAKEN_OFF) visit(stored, place, this.#names[at] as Sequence);
    }
  }

  /** Every row in its turn, to look at only. Orders may be asked for, and end, meanwhile. */
  *looks(): Generator<OrderRow, void, undefined> {
    for (let at = 0; at < this.#shelves; at += 1) {
      const place = this.#places[at] as number;
      if (place !== TAKEN_OFF) yield (this.#stored as StoredOrders).look(place);
      else {
        const slot = this.#slots.get(this.#names[at] as Sequence);
        if (slot !== undefined) yield slot.look();
      }
    }
    const last = this.#lastShelved();
    for (const [name, slot] of this.#slots) if (name > last) yield slot.look();
  }

  *keys(): Generator<Sequence> {
    for (let at = 0; at < this.#shelves; at += 1) {
      const name = this.#names[at] as Sequence;
      if ((this.#places[at] as number) !== TAKEN_OFF || this.#slots.has(name)) yield name;
    }
    const last = this.#lastShelved();
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

  #lastShelved(): number {
    return this.#shelves === 0 ? Number.NEGATIVE_INFINITY : (this.#names[this.#shelves - 1] as number);
  }

  /** Where an order is shelved, or a negative number. */
  #find(name: number): number {
    if (name > this.#lastShelved()) return -1;
    let low = 0;
    let high = this.#shelves;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#names[middle] as number) < name) low = middle + 1;
      else high = middle;
    }
    return this.#names[low] === name && this.#places[low] !== TAKEN_OFF ? low : -1;
  }

  #takeOff(at: number): OrderSlot {
    const place = this.#giveUp(at);
    const slot = this.#unshelve(this.#stored as StoredOrders, place);
    this.#slots.set(this.#names[at] as Sequence, slot);
    return slot;
  }

  #giveUp(at: number): number {
    const place = this.#places[at] as number;
    this.#places[at] = TAKEN_OFF;
    this.#shelved -= 1;
    return place;
  }

  #grow(): void {
    const room = Math.max(ROOM_MIN, 2 * this.#names.length);
    const names = new Float64Array(room);
    const places = new Float64Array(room);
    names.set(this.#names);
    places.set(this.#places);
    this.#names = names;
    this.#places = places;
  }
}
