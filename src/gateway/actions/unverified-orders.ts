/**
 * Which orders have a create or replace whose signature is being verified, or whose batch waits for its other signatures,
 * as counts of hashes of their ids: a cancel overtakes the signatures of other orders, never those of its own order. Two
 * ids with one hash only keep a cancel in its place. Constant memory, no allocation.
 */
import { assert } from '../../core/assert.ts';

const PLACES = 8_192;

export class UnverifiedOrders {
  readonly #counts = new Uint32Array(PLACES);

  /** @returns the order's place, for `ended`. */
  begun(orderId: string): number {
    const place = placeOf(orderId);
    const count = this.#counts[place] as number;
    assert(count < 4_294_967_295, 'fewer orders are in flight than a count has');
    this.#counts[place] = count + 1;
    return place;
  }

  ended(place: number): void {
    const count = this.#counts[place] as number;
    assert(count > 0, 'each place that was begun ends once');
    this.#counts[place] = count - 1;
  }

  has(orderId: string): boolean {
    return this.#counts[placeOf(orderId)] !== 0;
  }
}

function placeOf(orderId: string): number {
  let hash = 0;
  for (let at = 0; at < orderId.length; at += 1) hash = (Math.imul(hash, 31) + orderId.charCodeAt(at)) | 0;
  return (hash ^ (hash >>> 16)) & (PLACES - 1);
}
