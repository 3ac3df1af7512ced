/**
 * Where the kept orders of one market lie, by their sequences. Orders come by rising sequence, and those are columns; only
 * the few that a start tells after the others, as a restart might have changed them, are entries of a map.
 */
import { assert } from '../core/assert.ts';

const AT_FIRST = 1_024;

export class KeptNames {
  /** Ascending. */
  #sequences = new Float64Array(AT_FIRST);
  #places = new Int32Array(AT_FIRST);
  #count = 0;
  readonly #others = new Map<number, number>();

  add(sequence: number, place: number): void {
    const at = this.#count;
    if (at > 0 && sequence <= (this.#sequences[at - 1] as number)) {
      assert(this.find(sequence) === undefined, 'an order is kept once');
      this.#others.set(sequence, place);
      return;
    }
    if (at === this.#places.length) this.#grow();
    this.#sequences[at] = sequence;
    this.#places[at] = place;
    this.#count = at + 1;
  }

  find(sequence: number): number | undefined {
    const sequences = this.#sequences;
    let [from, to] = [0, this.#count];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((sequences[middle] as number) < sequence) from = middle + 1;
      else to = middle;
    }
    const isThere = from < this.#count && sequences[from] === sequence;
    return isThere ? this.#places[from] : this.#others.get(sequence);
  }

  #grow(): void {
    const sequences = new Float64Array(this.#count * 2);
    const places = new Int32Array(this.#count * 2);
    sequences.set(this.#sequences);
    places.set(this.#places);
    this.#sequences = sequences;
    this.#places = places;
  }
}
