/**
 * The one clock of the node (AMB-113, AMB-141), shared by all threads through shared memory.
 *
 *   system   the monotonic clock plus an offset, so that it is wall time; the offset grows at once (`step`), and shrinks
 *            slowly (`slow`), as wall-follower.ts decides
 *   manual   a value that is constant until it is set or advanced
 *
 * Invariant: time never decreases, on any thread, independent of the machine's wall clock. It holds across processes
 * when the new one is created with `notBeforeNs`, the last time recorded by the old one.
 *
 * While it is slowed, time runs at SLOWED of its rate since `from`, until `total` is given back:
 *
 *   now = monotonic + offset − min(total, (monotonic − from) / 10)
 *
 * It is the same function before and after `from`, and before and after a change of its parameters, as long as a reader has read all
 * of them and the monotonic clock between two changes: a sequence lock. One thread slows; any thread steps.
 */
import { assert } from '../core/assert.ts';
import type { Clock, TimestampNs } from '../core/units.ts';

type ClockMode = 'system' | 'manual';

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
/** Nanoseconds by which it was pushed ahead of wall time by a test hook or by recorded times. */
const PUSHED = 2;
const SLOWED_FROM = 3;
const SLOWED_TOTAL = 4;
const CELLS = 5;
/** The word behind the cells: odd while the parameters change, and with this bit while they slow it. */
const IS_CHANGING = 1;
const IS_SLOWED = 2;
const SEQUENCE_STEP = 4;
/** Time that is slowed runs a tenth slower (MCH-02). */
const SLOWED_DIVISOR = 10n;

/** Creates the memory of a SharedClock; passed to every thread. */
export function createClock({ mode, notBeforeNs }: ClockStart): SharedArrayBuffer {
  const memory = new SharedArrayBuffer((CELLS + 1) * BigInt64Array.BYTES_PER_ELEMENT);
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
  readonly #sequence: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new BigInt64Array(memory, 0, CELLS);
    this.#sequence = new Int32Array(memory, CELLS * BigInt64Array.BYTES_PER_ELEMENT, 1);
    this.mode = this.#cells[IS_MANUAL] === 1n ? 'manual' : 'system';
  }

  nowNs(): TimestampNs {
    if (this.mode === 'manual') return Atomics.load(this.#cells, VALUE) as TimestampNs;
    for (;;) {
      const sequence = Atomics.load(this.#sequence, 0);
      if ((sequence & IS_CHANGING) !== 0) continue;
      const value = Atomics.load(this.#cells, VALUE);
      if ((sequence & IS_SLOWED) === 0) {
        const nowNs = value + process.hrtime.bigint();
        if (Atomics.load(this.#sequence, 0) === sequence) return nowNs as TimestampNs;
        continue;
      }
      const fromNs = Atomics.load(this.#cells, SLOWED_FROM);
      const totalNs = Atomics.load(this.#cells, SLOWED_TOTAL);
      const monotonicNs = process.hrtime.bigint();
      if (Atomics.load(this.#sequence, 0) !== sequence) continue;
      return (value + monotonicNs - givenBack(fromNs, totalNs, monotonicNs)) as TimestampNs;
    }
  }

  /** Advances time on every thread, ahead of wall time: a test hook. @param deltaNs - not negative. */
  advance(deltaNs: bigint): void {
    assert(deltaNs >= 0n, 'the clock only goes forward');
    Atomics.add(this.#cells, PUSHED, deltaNs);
    Atomics.add(this.#cells, VALUE, deltaNs);
  }

  /** How far `advance` and `setTo` have pushed it ahead of wall time. */
  get pushedNs(): bigint {
    return Atomics.load(this.#cells, PUSHED);
  }

  /** Goes forward as wall time does. @param deltaNs - not negative. */
  step(deltaNs: bigint): void {
    assert(deltaNs >= 0n, 'the clock only goes forward');
    Atomics.add(this.#cells, VALUE, deltaNs);
  }

  /**
   * Gives time back by running slower, in place of what was to be given back before. For one thread, in system mode.
   *
   * @param deltaNs - not negative; 0: from now on at its own rate.
   */
  slow(deltaNs: bigint): void {
    assert(deltaNs >= 0n && this.mode === 'system', 'time is given back, not taken');
    const sequence = Atomics.load(this.#sequence, 0);
    if (deltaNs === 0n && (sequence & IS_SLOWED) === 0) return;
    Atomics.store(this.#sequence, 0, sequence | IS_CHANGING);
    const monotonicNs = process.hrtime.bigint();
    if ((sequence & IS_SLOWED) !== 0) {
      const [fromNs, totalNs] = [this.#cells[SLOWED_FROM] ?? 0n, this.#cells[SLOWED_TOTAL] ?? 0n];
      Atomics.sub(this.#cells, VALUE, givenBack(fromNs, totalNs, monotonicNs));
    }
    Atomics.store(this.#cells, SLOWED_FROM, monotonicNs);
    Atomics.store(this.#cells, SLOWED_TOTAL, deltaNs);
    const next = ((sequence & ~(IS_CHANGING | IS_SLOWED)) + SEQUENCE_STEP) | (deltaNs === 0n ? 0 : IS_SLOWED);
    Atomics.store(this.#sequence, 0, next);
  }

  /** Advances time to `targetNs`, ahead of wall time. @returns false, without a change, when that is in the past. */
  setTo(targetNs: bigint): boolean {
    for (;;) {
      const value = Atomics.load(this.#cells, VALUE);
      const deltaNs = targetNs - this.nowNs();
      if (deltaNs < 0n) return false;
      if (Atomics.compareExchange(this.#cells, VALUE, value, value + deltaNs) !== value) continue;
      Atomics.add(this.#cells, PUSHED, deltaNs);
      return true;
    }
  }
}

/** Rounded down, so that time runs at nine tenths at least. */
function givenBack(fromNs: bigint, totalNs: bigint, monotonicNs: bigint): bigint {
  const givenNs = monotonicNs <= fromNs ? 0n : (monotonicNs - fromNs) / SLOWED_DIVISOR;
  return givenNs < totalNs ? givenNs : totalNs;
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
