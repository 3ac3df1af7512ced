/**
 * Which resting orders expire when: a radix heap over nanoseconds, exact, with constant-time insert and removal.
 *
 * `last` is the time looked at last. An order is in the bucket of the highest bit in which its expiry differs from
 * `last`; as expiries lie after `last`, that bit is 1 in the expiry.
 *
 *   last     … 0 1 0 0 1 1 0
 *   bucket 4 … 0 1 1 x x x x      all of it earlier than anything in bucket 6
 *   bucket 6 … 1 x x x x x x
 *
 * When time passes to `now` with highest changed bit h, everything in buckets below h is due, bucket h is dealt out
 * anew, the buckets above h stay as they are. An order moves at most once per bit of its life, always downwards.
 * Nothing happens before `wakeNs`, a lower bound of the earliest expiry: that is the only comparison a command pays.
 *
 * The price: an order of 30 days moves some 50 times, and once in 13 days a good part of them move at the same moment
 * (10 ns each).
 */
import { assert } from '../core/assert.ts';
import { EXPIRY, EXPIRY_NEXT, EXPIRY_PREVIOUS, type OrderPool } from './order-pool.ts';
import { NONE } from './pools.ts';

const BUCKETS = 64;
/** Later than any expiry, and still a signed 64-bit number, which compares without a call. */
export const NEVER_NS: bigint = (1n << 63n) - 1n;

export class ExpiryBuckets {
  wakeNs: bigint = NEVER_NS;
  lastNs = 0n;
  #lastLow = 0;
  #lastHigh = 0;
  #lowest = BUCKETS;
  readonly #heads: Int32Array = new Int32Array(BUCKETS).fill(NONE);
  readonly #orders: OrderPool;

  constructor(orders: OrderPool) {
    this.#orders = orders;
  }

  /** The order's expiry lies after `lastNs`. */
  add(slot: number): void {
    const bucket = this.#bucketOf(slot);
    assert(bucket !== NONE, 'only what expires later is watched');
    this.#link(slot, bucket);
    if (bucket < this.#lowest) this.#wakeAt(bucket);
  }

  remove(slot: number): void {
    const { words } = this.#orders;
    const next = words[slot + EXPIRY_NEXT] as number;
    const previous = words[slot + EXPIRY_PREVIOUS] as number;
    if (next !== NONE) words[next + EXPIRY_PREVIOUS] = previous;
    if (previous < NONE) this.#heads[-2 - previous] = next;
    else words[previous + EXPIRY_NEXT] = next;
  }

  /** Passes to `nowNs`, at least `wakeNs`. @returns the orders due by then, out of the buckets, earliest first. */
  pass(nowNs: bigint): number[] {
    const due: number[] = [];
    const before = this.lastNs;
    this.lastNs = nowNs;
    this.#lastLow = Number(nowNs & 0xffff_ffffn);
    this.#lastHigh = Number(nowNs >> 32n);
    const changed = (before ^ nowNs).toString(2).length - 1;
    for (let bucket = this.#lowest; bucket <= changed; bucket++) this.#deal(bucket, due);
    this.#wakeAt(this.#lowestFilled());
    const orders = this.#orders;
    return due.sort((a, b) => {
      const difference = orders.expiryOf(a) - orders.expiryOf(b);
      return difference === 0n ? orders.sequenceOf(a) - orders.sequenceOf(b) : difference < 0n ? -1 : 1;
    });
  }

  #deal(bucket: number, due: number[]): void {
    const orders = this.#orders;
    let slot = this.#heads[bucket] as number;
    this.#heads[bucket] = NONE;
    while (slot !== NONE) {
      const next = orders.words[slot + EXPIRY_NEXT] as number;
      if (orders.expiryOf(slot) <= this.lastNs) due.push(slot);
      else this.#link(slot, this.#bucketOf(slot));
      slot = next;
    }
  }

  /** NONE when the expiry equals `lastNs`. */
  #bucketOf(slot: number): number {
    const { words } = this.#orders;
    const low = slot + EXPIRY * 2;
    const high = (words[low + 1] as number) ^ this.#lastHigh;
    if (high !== 0) return 63 - Math.clz32(high);
    return 31 - Math.clz32((words[low] as number) ^ this.#lastLow);
  }

  #link(slot: number, bucket: number): void {
    const { words } = this.#orders;
    const head = this.#heads[bucket] as number;
    words[slot + EXPIRY_NEXT] = head;
    words[slot + EXPIRY_PREVIOUS] = -2 - bucket;
    if (head !== NONE) words[head + EXPIRY_PREVIOUS] = slot;
    this.#heads[bucket] = slot;
  }

  #lowestFilled(): number {
    let bucket = 0;
    while (bucket < BUCKETS && this.#heads[bucket] === NONE) bucket++;
    return bucket;
  }

  /** Nothing expires before `last` with this bit set and all lower ones cleared. */
  #wakeAt(bucket: number): void {
    this.#lowest = bucket;
    const bit = BigInt(bucket);
    this.wakeNs = bucket === BUCKETS ? NEVER_NS : ((this.lastNs >> bit) | 1n) << bit;
  }
}
