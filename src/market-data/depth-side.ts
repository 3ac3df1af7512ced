/**
 * One side of a depth replica: every level of the book, its visible window, and the published part of the window.
 *
 *   keys, ascending:   worst ─ … ─ │ window start ─ … ─ best          window = the last `levelsMax` levels
 *
 * A key is the price for bids and its negative for asks, so the best level is always the last and changes near it move
 * few entries. `#published` stores, for each price changed since the last diff, the published quantity, 0 for an
 * invisible level. A level that enters or leaves the window because of another one counts as changed too: a client that
 * applies all diffs has exactly the window.
 */
import { assert } from '../core/assert.ts';
import { SIDE, type Side } from '../core/order-terms.ts';

const CAPACITY_FIRST = 256;

export class DepthSide {
  readonly #sign: 1 | -1;
  readonly #levelsMax: number;
  #keys = new Float64Array(CAPACITY_FIRST);
  #quantities = new Float64Array(CAPACITY_FIRST);
  #count = 0;
  readonly #published = new Map<number, number>();

  constructor(side: Side, levelsMax: number) {
    this.#sign = side === SIDE.buy ? 1 : -1;
    this.#levelsMax = levelsMax;
  }

  get hasChanges(): boolean {
    return this.#published.size > 0;
  }

  /** Sets the absolute quantity of a level; 0 removes it. */
  set(price: number, quantity: number): void {
    const key = price * this.#sign;
    const index = this.#indexOf(key);
    const exists = index < this.#count && this.#keys[index] === key;
    if (!exists && quantity > 0) this.#insert(index, key, quantity);
    else if (exists && quantity > 0) {
      this.#touch(index);
      this.#quantities[index] = quantity;
    } else if (exists) this.#remove(index);
  }

  /** Replaces the whole side: the next diff contains the difference. */
  replaceAll(levels: ReadonlyMap<number, number>): void {
    // mutant: book-image-replaces
    for (let index = this.#windowStart(); index < this.#count; index += 1) this.#touch(index);
    const keys = Float64Array.from(levels.keys(), (price) => price * this.#sign).sort();
    this.#count = keys.length;
    this.#reserve(keys.length);
    this.#keys.set(keys);
    keys.forEach((key, index) => {
      this.#quantities[index] = levels.get(key * this.#sign) ?? 0;
    });
    for (let index = this.#windowStart(); index < this.#count; index += 1) this.#touchEntering(index);
  }

  /** The unpublished changes, best first, as price, quantity, …; they count as published afterwards. */
  takeChanges(): number[] {
    const changed: number[] = [];
    for (const [price, published] of this.#published) {
      if (this.#visibleQuantity(price) !== published) changed.push(price * this.#sign);
    }
    changed.sort((a, b) => b - a);
    this.#published.clear();
    return changed.flatMap((key) => [key * this.#sign, this.#visibleQuantity(key * this.#sign)]);
  }

  /** The published window: without changes that are not in a diff yet. Best first, as price, quantity, … */
  published(): number[] {
    const levels: number[] = [];
    if (!this.hasChanges) {
      for (let index = this.#count - 1; index >= this.#windowStart(); index -= 1) this.#push(levels, index);
      return levels;
    }
    const quantityOf = new Map<number, number>();
    for (let index = this.#windowStart(); index < this.#count; index += 1) {
      quantityOf.set(this.#keys[index] ?? 0, this.#quantities[index] ?? 0);
    }
    for (const [price, quantity] of this.#published) quantityOf.set(price * this.#sign, quantity);
    const keys = [...quantityOf.keys()].filter((key) => quantityOf.get(key) !== 0).sort((a, b) => b - a);
    return keys.flatMap((key) => [key * this.#sign, quantityOf.get(key) ?? 0]);
  }

  /** Every level of the book, changes that are not in a diff yet included, as price, quantity, … */
  levels(): number[] {
    const levels: number[] = [];
    for (let index = 0; index < this.#count; index += 1) this.#push(levels, index);
    return levels;
  }

  /** The best `count` published levels, as price, quantity, …; costs what they and the unpublished changes are. */
  publishedTop(count: number): number[] {
    const quantityOf = new Map<number, number>();
    const first = Math.max(this.#windowStart(), this.#count - count - this.#published.size);
    for (let index = this.#count - 1; index >= first; index -= 1) {
      quantityOf.set(this.#keys[index] ?? 0, this.#quantities[index] ?? 0);
    }
    for (const [price, quantity] of this.#published) quantityOf.set(price * this.#sign, quantity);
    const keys = [...quantityOf.keys()].filter((key) => quantityOf.get(key) !== 0).sort((a, b) => b - a);
    return keys.slice(0, count).flatMap((key) => [key * this.#sign, quantityOf.get(key) ?? 0]);
  }

  #push(levels: number[], index: number): void {
    levels.push((this.#keys[index] ?? 0) * this.#sign, this.#quantities[index] ?? 0);
  }

  #windowStart(): number {
    return Math.max(0, this.#count - this.#levelsMax);
  }

  /** First index with a key of at least `key`. */
  #indexOf(key: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? 0) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #visibleQuantity(price: number): number {
    const key = price * this.#sign;
    const index = this.#indexOf(key);
    const isVisible = index < this.#count && this.#keys[index] === key && index >= this.#windowStart();
    return isVisible ? (this.#quantities[index] ?? 0) : 0;
  }

  /** Stores the published quantity of a level before it changes or leaves the window. */
  #touch(index: number): void {
    if (index >= this.#windowStart()) this.#remember(this.#keys[index] ?? 0, this.#quantities[index] ?? 0);
  }

  #touchEntering(index: number): void {
    this.#remember(this.#keys[index] ?? 0, 0);
  }

  #remember(key: number, quantity: number): void {
    const price = key * this.#sign;
    if (!this.#published.has(price)) this.#published.set(price, quantity);
  }

  #insert(index: number, key: number, quantity: number): void {
    const isWindowFull = this.#count >= this.#levelsMax;
    // Inserting at the window's start or above pushes the level at the start out; a level inserted below is not
    // visible.
    const isVisible = !isWindowFull || index > this.#windowStart();
    if (isVisible && isWindowFull) this.#touch(this.#windowStart());
    this.#reserve(this.#count + 1);
    this.#keys.copyWithin(index + 1, index, this.#count);
    this.#quantities.copyWithin(index + 1, index, this.#count);
    this.#keys[index] = key;
    this.#quantities[index] = quantity;
    this.#count += 1;
    if (isVisible) this.#touchEntering(index);
  }

  #remove(index: number): void {
    const isVisible = index >= this.#windowStart();
    this.#touch(index);
    this.#keys.copyWithin(index, index + 1, this.#count);
    this.#quantities.copyWithin(index, index + 1, this.#count);
    this.#count -= 1;
    if (isVisible && this.#count >= this.#levelsMax) this.#touchEntering(this.#windowStart());
  }

  #reserve(count: number): void {
    if (count <= this.#keys.length) return;
    let capacity = this.#keys.length;
    while (capacity < count) capacity *= 2;
    const keys = new Float64Array(capacity);
    const quantities = new Float64Array(capacity);
    keys.set(this.#keys);
    quantities.set(this.#quantities);
    this.#keys = keys;
    this.#quantities = quantities;
    assert(count <= this.#keys.length, 'depth side: room for its levels');
  }
}
