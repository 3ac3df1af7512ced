/**
 * The one clock of the node (AMB-113, AMB-141), shared by all threads through shared memory.
 *
 *   system   wall time read once, anchored to the monotonic clock, plus an offset that only grows
 *   manual   a value that is constant until it is set or advanced
 *
 * Invariant: time never decreases, on any thread, independent of the machine's wall clock. It holds across processes
 * when the new one is created with `notBeforeNs`, the last time recorded by the old one.
 */
import { assert } from '../core/assert.ts';
import type { Clock, TimestampNs } from '../core/units.ts';

export type ClockMode = 'system' | 'manual';

export interface ClockStart {
  readonly mode: ClockMode;
  /** Manual mode: the start value. System mode: a lower bound of the start. */
  readonly notBeforeNs: bigint;
}

/** A pair of clocks is read so often at most, until no more than this lies between. */
const READINGS_MAX = 16;
const APART_NS_MAX = 5_000n;

/**
 * Reads another clock and the monotonic one at the same moment. On a busy machine a thread can lose its processor between two
 * readings, for milliseconds, and whatever is computed with their difference stays wrong by that; so of several pairs
 * the closest counts.
 */
export function readTogether(other: () => number): { readonly ns: bigint; readonly other: number } {
  let closest = { ns: 0n, other: 0, apartNs: -1n };
  for (let count = 0; count < READINGS_MAX; count += 1) {
    const beforeNs = process.hrtime.bigint();
    const value = other();
    const apartNs = process.hrtime.bigint() - beforeNs;
    if (closest.apartNs < 0n || apartNs < closest.apartNs) {
      closest = { ns: beforeNs + apartNs / 2n, other: value, apartNs };
    }
    if (apartNs <= APART_NS_MAX) break;
  }
  return closest;
}

/** Cells of the shared memory. In system mode the value is added to the monotonic clock. */
const VALUE = 0;
const IS_MANUAL = 1;

/** Creates the memory of a SharedClock; passed to every thread. */
export function createClock({ mode, notBeforeNs }: ClockStart): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(16);
  const cells = new BigInt64Array(memory);
  cells[IS_MANUAL] = mode === 'manual' ? 1n : 0n;
  const { ns, other: wallMs } = readTogether(() => Date.now());
  const wallNs = BigInt(wallMs) * 1_000_000n;
  const startNs = wallNs > notBeforeNs ? wallNs : notBeforeNs;
  cells[VALUE] = mode === 'manual' ? notBeforeNs : startNs - ns;
  return memory;
}

export class SharedClock implements Clock {
  readonly mode: ClockMode;
  readonly #cells: BigInt64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new BigInt64Array(memory);
    this.mode = this.#cells[IS_MANUAL] === 1n ? 'manual' : 'system';
  }

  nowNs(): TimestampNs {
    const value = Atomics.load(this.#cells, VALUE);
    return (this.mode === 'manual' ? value : value + process.hrtime.bigint()) as TimestampNs;
  }

  /** Advances time on every thread. @param deltaNs - not negative. */
  advance(deltaNs: bigint): void {
    assert(deltaNs >= 0n, 'the clock only goes forward');
    Atomics.add(this.#cells, VALUE, deltaNs);
  }

  /** Advances time to `targetNs`. @returns false, without a change, when that is in the past. */
  setTo(targetNs: bigint): boolean {
    for (;;) {
      const value = Atomics.load(this.#cells, VALUE);
      const nowNs = this.mode === 'manual' ? value : value + process.hrtime.bigint();
      if (targetNs < nowNs) return false;
      if (Atomics.compareExchange(this.#cells, VALUE, value, value + (targetNs - nowNs)) === value) return true;
    }
  }
}

/** Milliseconds of the monotonic clock as a 32-bit integer, comparable between threads; take differences with `| 0`. */
export class MonotonicMs {
  readonly #offsetMs: number;

  constructor() {
    const { ns, other } = readTogether(() => performance.now());
    this.#offsetMs = Number(ns / 1_000n) / 1_000 - other;
  }

  now(): number {
    return Math.floor(performance.now() + this.#offsetMs) | 0;
  }
}
