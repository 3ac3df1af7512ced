/**
 * A doubly linked list for tables that evict their oldest entry, with operations in constant time.
 *
 * A Map in insertion order is no substitute: it keeps the places of deleted keys until it is rebuilt, and finding its
 * first key walks all of them (35 µs a step on average with 100,000 keys, with pauses of many milliseconds).
 *
 * Invariant: an entry is in at most one list.
 */
import { assert } from './assert.ts';

/** A place in a list; created once per value and reused. */
export class ListEntry<T> {
  readonly value: T;
  /** @internal */
  before: ListEntry<T> | null = null;
  /** @internal */
  after: ListEntry<T> | null = null;
  /** The list it is in, or null. */
  list: LinkedList<T> | null = null;

  constructor(value: T) {
    this.value = value;
  }
}

export class LinkedList<T> {
  #first: ListEntry<T> | null = null;
  #last: ListEntry<T> | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The value appended first; null for an empty list. */
  get first(): T | null {
    return this.#first === null ? null : this.#first.value;
  }

  /** Moves the entry from its list, if any, to the end of this one. */
  append(entry: ListEntry<T>): void {
    if (entry.list === this && this.#last === entry) return;
    entry.list?.remove(entry);
    entry.list = this;
    entry.before = this.#last;
    entry.after = null;
    if (this.#last === null) this.#first = entry;
    else this.#last.after = entry;
    this.#last = entry;
    this.#size += 1;
  }

  /** Removes an entry of this list. */
  remove(entry: ListEntry<T>): void {
    assert(entry.list === this, 'an entry is removed from the list that it is in');
    if (entry.before === null) this.#first = entry.after;
    else entry.before.after = entry.after;
    if (entry.after === null) this.#last = entry.before;
    else entry.after.before = entry.before;
    entry.before = null;
    entry.after = null;
    entry.list = null;
    this.#size -= 1;
  }

  clear(): void {
    for (let entry = this.#first; entry !== null; entry = this.#first) this.remove(entry);
  }
}
