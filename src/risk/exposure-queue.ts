/**
 * The open orders of one sub-account on one side of one market, in the order of their admission, and how much of them the
 * opposite position covers (MRG-19 to MRG-21, AMB-50).
 *
 *   offset 5        ├── netted ──┤├──── counted ────┤
 *   orders          [2][2][  3   ][4]                     netted 2, 2, 1, 0; counted 0, 0, 2, 4
 *                          ▲ edge
 *
 * Only what is counted increases risk. The sum of the counted notional is kept, so that a new order, a fill and a cancel
 * cost what they move and not what there is; an order that enters in the middle, as one that a trigger releases does, does
 * not go past all that came later. Reduce-only orders have queues of their own: they use nothing of this offset, and what is netted
 * of theirs is what they have room for (MON-09).
 *
 * Netting is lazy: lots that a change leaves free to be netted are netted when the sum is read.
 *
 * Invariants, when the sum is read
 *   (1) The netted lots are the first ones: an order before the edge is netted whole, one after it not at all. This holds at
 *       any time.
 *   (2) What is netted in all = the smaller of the offset and all lots.
 *   (3) `counted` = the sum of `notionalOf` over the orders.
 *
 * While a replace is pending an order may come to stand under any of several terms. It nets the most lots that one of
 * them has, and counts what the heaviest of them adds beyond what is netted: by full notional a large cheap order would
 * hide behind a small dear one that the position covers (RPL-07, MRG-12).
 *
 * Not here: what one order adds (exposure.ts), weights (margin-requirement.ts).
 */
import { assert } from '../core/assert.ts';

/** What an order may still add to its position; amounts in 10^-18 USD. */
export interface Exposure {
  /** 0: nothing. */
  readonly lots: number;
  /** The price of one lot; unused if `total` is given. */
  readonly lotPrice: bigint;
  /** A market order's notional for all of its lots, else null. */
  readonly total: bigint | null;
  /** What it does under other terms, of no more lots; null: there are none. */
  readonly other: Exposure | null;
}

export const NO_EXPOSURE: Exposure = { lots: 0, lotPrice: 0n, total: null, other: null };

/** An order in its queue. Changed only by the queue. */
export interface ExposureEntry<Owner = unknown> {
  readonly owner: Owner;
  /** Sequence of its admission; a larger number while it is pending. No two of a queue are equal. */
  place: number;
  exposure: Exposure;
  netted: number;
  previous: ExposureEntry<Owner> | null;
  next: ExposureEntry<Owner> | null;
  isIn: boolean;
}

export function newExposureEntry<Owner>(owner: Owner, place: number): ExposureEntry<Owner> {
  return { owner, place, exposure: NO_EXPOSURE, netted: 0, previous: null, next: null, isIn: false };
}

/** The notional of the lots that count, under the heaviest of the order's terms. */
function notionalOf({ exposure, netted }: ExposureEntry): bigint {
  let heaviest = notionalBeyond(exposure, netted);
  for (let { other } = exposure; other !== null; other = other.other) {
    const notional = notionalBeyond(other, netted);
    if (notional > heaviest) heaviest = notional;
  }
  return heaviest;
}

/** The notional of the lots that are not netted. */
function notionalBeyond({ lots, lotPrice, total }: Exposure, netted: number): bigint {
  if (lots <= netted) return 0n;
  // mutant: offset-once
  const counted = BigInt(lots - netted);
  if (total === null) return lotPrice * counted;
  return netted === 0 ? total : (total * counted + BigInt(lots) - 1n) / BigInt(lots);
}

/** Steps from the end before a search goes by signposts, how far these stand apart, and when there are too few of them. */
const NEAR = 64;
const SIGNPOST_EVERY = 128;
const CROWD = 512;

export class ExposureQueue<Owner = unknown> {
  #head: ExposureEntry<Owner> | null = null;
  #tail: ExposureEntry<Owner> | null = null;
  /** The last order with netted lots. */
  #edge: ExposureEntry<Owner> | null = null;
  #offset = 0;
  #netted = 0;
  /** The lots of all orders. */
  #lots = 0n;
  #counted = 0n;
  /** Each 128th entry, for searches that lead far; empty until there is one, and once one of them is gone. */
  #signposts: ExposureEntry<Owner>[] = [];

  /** Risk-increasing notional. */
  get counted(): bigint {
    this.#level();
    return this.#counted;
  }

  get isEmpty(): boolean {
    return this.#head === null;
  }

  /** Lots of the position on the other side. */
  setOffset(lots: number): void {
    assert(lots >= 0 && Number.isSafeInteger(lots), 'an offset is whole lots');
    this.#offset = lots;
  }

  /** What the order may still do, nothing included. An order that enters stands by its place. */
  set(entry: ExposureEntry<Owner>, exposure: Exposure): void {
    if (!entry.isIn) {
      if (exposure.lots === 0) return;
      this.#insert(entry);
    }
    const isBeforeOthers = (entry.next?.netted ?? 0) > 0;
    this.#counted -= notionalOf(entry);
    if (exposure.lots !== entry.exposure.lots) this.#lots += BigInt(exposure.lots) - BigInt(entry.exposure.lots);
    entry.exposure = exposure;
    if (entry.netted > exposure.lots) {
      this.#netted -= entry.netted - exposure.lots;
      entry.netted = exposure.lots;
    }
    this.#counted += notionalOf(entry);
    if (isBeforeOthers) this.#netBeforeOthers(entry);
    this.#dropEdge();
    if (exposure.lots === 0) this.#unlink(entry);
    if (this.#netted > this.#offset) this.#level();
  }

  /**
   * Orders behind this one give it what they net, until it is netted whole. Lot by lot the sum stays what it was: the lots of
   * an order may be as many as a double holds, and one more would be lost in a sum.
   */
  #netBeforeOthers(entry: ExposureEntry<Owner>): void {
    while (entry.netted < entry.exposure.lots && this.#edge !== null && this.#edge !== entry) {
      const moved = Math.min(this.#edge.netted, entry.exposure.lots - entry.netted);
      this.#net(this.#edge, -moved);
      this.#net(entry, moved);
      this.#dropEdge();
    }
  }

  /** What `counted` would be if the order had this exposure. */
  countedWith(entry: ExposureEntry<Owner>, exposure: Exposure): bigint {
    const { exposure: before } = entry;
    this.set(entry, exposure);
    const { counted } = this;
    this.set(entry, before);
    return counted;
  }

  /** Lots of the position on the other side, as they were set last. */
  get offset(): number {
    return this.#offset;
  }

  /** Lots of all orders, netted or not. */
  get lots(): bigint {
    return this.#lots;
  }

  /** Lots of the offset that orders before this one leave: what an order at its place may have at most (MON-09). */
  roomOf(entry: ExposureEntry<Owner>): number {
    const { exposure: before } = entry;
    this.set(entry, { lots: Math.max(this.#offset, 1), lotPrice: 0n, total: null, other: null });
    this.#level();
    const { netted } = entry;
    this.set(entry, before);
    return netted;
  }

  /** Lots that would count if the order had so many. */
  lotsWith(entry: ExposureEntry<Owner>, lots: number): bigint {
    const counted = this.#lots - BigInt(entry.exposure.lots) + BigInt(lots) - BigInt(this.#offset);
    return counted > 0n ? counted : 0n;
  }

  /** Lots that count. */
  get countedLots(): bigint {
    this.#level();
    return this.#lots - BigInt(this.#netted);
  }

  /** What `counted` would be with another position. */
  countedAt(offset: number): bigint {
    const before = this.#offset;
    this.setOffset(offset);
    const { counted } = this;
    this.setOffset(before);
    return counted;
  }

  /** Lots of the offset that no order has used. */
  get freeOffset(): number {
    this.#level();
    return this.#offset - this.#netted;
  }

  /** Whether more lots would count if the order had so many, whatever they are worth. */
  outgrows(entry: ExposureEntry<Owner>, lots: number): boolean {
    return lots - entry.exposure.lots > this.freeOffset;
  }

  /** The market admitted it: its place is its sequence. Pending ones are admitted in their order. */
  admit(entry: ExposureEntry<Owner>, place: number): void {
    const isInPlace = (entry.previous?.place ?? 0) < place && (entry.next?.place ?? Number.POSITIVE_INFINITY) > place;
    if (!entry.isIn || isInPlace) {
      entry.place = place;
      return;
    }
    const { exposure } = entry;
    this.set(entry, NO_EXPOSURE);
    entry.place = place;
    this.set(entry, exposure);
  }

  /** The orders that are not wholly netted, and so count, from the first admitted on. */
  *counting(): Iterable<ExposureEntry<Owner>> {
    this.#level();
    let entry = this.#edge === null ? this.#head : this.#firstOpen(this.#edge);
    for (; entry !== null; entry = entry.next) yield entry;
  }

  /** All of them, from the first admitted on. */
  *entries(): Iterable<ExposureEntry<Owner>> {
    for (let entry = this.#head; entry !== null; entry = entry.next) yield entry;
  }

  #insert(entry: ExposureEntry<Owner>): void {
    const previous = this.#placeOf(entry.place);
    const next = previous === null ? this.#head : previous.next;
    entry.previous = previous;
    entry.next = next;
    if (previous === null) this.#head = entry;
    else previous.next = entry;
    if (next === null) this.#tail = entry;
    else next.previous = entry;
    entry.exposure = NO_EXPOSURE;
    entry.netted = 0;
    entry.isIn = true;
  }

  /** The last entry with a lower place; null where it is to be the first. */
  #placeOf(place: number): ExposureEntry<Owner> | null {
    let entry = this.#tail;
    for (let steps = 0; entry !== null && entry.place > place; steps += 1) {
      if (steps === NEAR) return this.#placeFar(place);
      entry = entry.previous;
    }
    return entry;
  }

  #placeFar(place: number): ExposureEntry<Owner> | null {
    if (this.#signposts.length === 0) this.#setSignposts();
    let entry = this.#signposts[this.#signpostsBefore(place) - 1] ?? null;
    let next = entry === null ? this.#head : entry.next;
    for (let steps = 0; next !== null && next.place < place; steps += 1) {
      // So many entries have come between two marks that the next search sets the marks anew.
      if (steps === CROWD) this.#signposts = [];
      entry = next;
      next = next.next;
    }
    return entry;
  }

  #setSignposts(): void {
    let count = 0;
    for (let entry = this.#head; entry !== null; entry = entry.next) {
      if (count % SIGNPOST_EVERY === 0) this.#signposts.push(entry);
      count += 1;
    }
  }

  /** How many of them have a lower place. */
  #signpostsBefore(place: number): number {
    let [low, high] = [0, this.#signposts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#signposts[middle]?.place ?? place) < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #unlink(entry: ExposureEntry<Owner>): void {
    if (this.#signposts[this.#signpostsBefore(entry.place)] === entry) this.#signposts = [];
    const { previous, next } = entry;
    if (previous === null) this.#head = next;
    else previous.next = next;
    if (next === null) this.#tail = previous;
    else next.previous = previous;
    if (this.#edge === entry) this.#edge = previous;
    entry.previous = null;
    entry.next = null;
    entry.isIn = false;
  }

  /** When no lot of the edge is netted any more, the edge moves to the order before. */
  #dropEdge(): void {
    while (this.#edge !== null && this.#edge.netted === 0) this.#edge = this.#edge.previous;
  }

  /** Nets from the edge on, or gives back from the edge, until (2) holds. */
  #level(): void {
    while (this.#netted > this.#offset && this.#edge !== null) {
      this.#net(this.#edge, -Math.min(this.#netted - this.#offset, this.#edge.netted));
      this.#dropEdge();
    }
    while (this.#netted < this.#offset) {
      const entry: ExposureEntry<Owner> | null = this.#edge === null ? this.#head : this.#firstOpen(this.#edge);
      if (entry === null) return;
      this.#net(entry, Math.min(this.#offset - this.#netted, entry.exposure.lots - entry.netted));
      this.#edge = entry;
    }
  }

  #firstOpen(edge: ExposureEntry<Owner>): ExposureEntry<Owner> | null {
    return edge.netted < edge.exposure.lots ? edge : edge.next;
  }

  #net(entry: ExposureEntry<Owner>, change: number): void {
    this.#counted -= notionalOf(entry);
    entry.netted += change;
    this.#netted += change;
    this.#counted += notionalOf(entry);
  }
}
