/**
 * The trace of a thread: a ring of fixed records in shared memory, the oldest overwritten. One thread writes it, any
 * thread reads it. What a record means is a number of the node's; the runtime has numbers for the pauses of a thread,
 * which it records by itself after a gap.
 *
 *   record = code · key · end (µs) · value        four doubles
 *
 * All times are microseconds since the trace was created, on one clock for all threads. A record costs about 50 ns and
 * allocates nothing. After GAP_US without a record, the next one first reads why (thread-pauses.ts), about 2 µs.
 *
 *   Invariant   a reader gets whole records in their order, and the number of those it missed.
 */
import { must } from '../core/assert.ts';
import { readTogether } from './clock.ts';
import { ThreadPauses } from './thread-pauses.ts';

/** Codes of the runtime; their value is microseconds before the end. Other codes begin at FIRST_HOP. */
export const PAUSE = {
  /** Runnable, but without a CPU. */
  runQueue: 1,
  /** A pause of the thread's own collector. */
  collector: 2,
  /** A record waited because the actor was not ready for it: a ring behind it was full. */
  ringFull: 3,
} as const;
export const FIRST_HOP = 16;

/** The memory of one thread's trace; structured-cloneable. */
export interface TraceMemory {
  readonly thread: string;
  readonly memory: SharedArrayBuffer;
  /** Zero of its times, in nanoseconds of the monotonic clock. */
  readonly zeroNs: bigint;
}

/** Records that a reader got. */
interface TracePart {
  /** Pass it to the next `readTrace`. */
  readonly next: number;
  /** Records overwritten before they were read. */
  readonly lost: number;
  /** FIELDS doubles a record, oldest first. */
  readonly records: Float64Array;
}

export const TRACE_FIELDS = 4;
export const TRACE_RECORDS = 65_536;
/** The count of records is at byte 0, in a cache line of its own. */
const DATA_AT = 64;
/** Without a record for so long a thread looks why. */
const GAP_US = 250;
/** Shorter pauses are not recorded. */
const PAUSE_US_MIN = 20;

/** One per thread. */
export function createTrace(threads: readonly string[]): readonly TraceMemory[] {
  const zeroNs = process.hrtime.bigint();
  const bytes = DATA_AT + TRACE_RECORDS * TRACE_FIELDS * Float64Array.BYTES_PER_ELEMENT;
  return threads.map((thread) => ({ thread, memory: new SharedArrayBuffer(bytes), zeroNs }));
}

/** The writing end; made and used by the thread that it is about. */
export class TraceLog {
  readonly #count: Int32Array;
  readonly #cells: Float64Array;
  readonly #offsetUs: number;
  readonly #pauses = new ThreadPauses();
  #next: number;
  #last = 0;
  #lastUs: number;

  constructor({ memory, zeroNs }: TraceMemory) {
    this.#count = new Int32Array(memory, 0, 1);
    this.#cells = new Float64Array(memory, DATA_AT);
    this.#next = Atomics.load(this.#count, 0);
    const { ns, other } = readTogether(() => performance.now());
    this.#offsetUs = Number(ns - zeroNs) / 1_000 - other * 1_000;
    this.#lastUs = this.nowUs();
  }

  /** Microseconds since the trace was created. */
  nowUs(): number {
    return performance.now() * 1_000 + this.#offsetUs;
  }

  /** Records a moment: now. */
  mark(code: number, key: number, value = 0): void {
    const nowUs = this.nowUs();
    if (nowUs - this.#lastUs > GAP_US) this.#look(nowUs);
    this.#lastUs = nowUs;
    this.#last = code;
    this.#write(code, key, nowUs, value);
  }

  /** As `mark`, unless the last record that is not a pause has this code too. */
  markOnce(code: number): void {
    if (this.#last !== code) this.mark(code, 0);
  }

  /** Records what began at `beganUs` and ends now. */
  span(code: number, key: number, beganUs: number): void {
    const nowUs = this.nowUs();
    if (nowUs - this.#lastUs > GAP_US) this.#look(nowUs);
    this.#lastUs = nowUs;
    this.#last = code;
    this.#write(code, key, nowUs, nowUs - beganUs);
  }

  /** Called now and then on a thread that may record nothing for long, so that its profiler stays small. */
  look(): void {
    const nowUs = this.nowUs();
    if (nowUs - this.#lastUs <= GAP_US) return;
    this.#look(nowUs);
    this.#lastUs = nowUs;
  }

  /** The pauses in the time since the last record: they end where the thread runs again, which is now. */
  #look(nowUs: number): void {
    const pauses = this.#pauses;
    pauses.look();
    const gapUs = nowUs - this.#lastUs;
    const collectorUs = Math.min(pauses.collectorUs, gapUs);
    const runQueueUs = Math.min(pauses.runQueueUs, gapUs - collectorUs);
    if (collectorUs >= PAUSE_US_MIN) this.#write(PAUSE.collector, 0, nowUs - runQueueUs, collectorUs);
    if (runQueueUs >= PAUSE_US_MIN) this.#write(PAUSE.runQueue, 0, nowUs, runQueueUs);
  }

  #write(code: number, key: number, endUs: number, value: number): void {
    const cells = this.#cells;
    const at = (this.#next & (TRACE_RECORDS - 1)) * TRACE_FIELDS;
    cells[at] = code;
    cells[at + 1] = key;
    cells[at + 2] = endUs;
    cells[at + 3] = value;
    this.#next = (this.#next + 1) | 0;
    Atomics.store(this.#count, 0, this.#next);
  }
}

/** The trace of a thread of the node; null while the node is not traced. */
export function openTrace(memories: readonly TraceMemory[] | null, thread: string): TraceLog | null {
  if (memories === null) return null;
  const memory = memories.find((candidate) => candidate.thread === thread);
  return new TraceLog(must(memory, `the thread ${thread} has a trace`));
}

/** Number of the record that will be written next: 0 to 2^32 − 1, wraps around. */
export function traceEnd({ memory }: TraceMemory): number {
  return Atomics.load(new Int32Array(memory, 0, 1), 0) >>> 0;
}

/**
 * Copies the records from number `since` on; the record that is overwritten next is left out, as it may be half written.
 *
 * @param since of an earlier part, or `traceEnd`.
 */
export function readTrace(trace: TraceMemory, since: number): TracePart {
  const cells = new Float64Array(trace.memory, DATA_AT);
  const end = traceEnd(trace);
  const wanted = (end - since) >>> 0;
  const count = Math.min(wanted, TRACE_RECORDS - 1);
  const first = (end - count) >>> 0;
  const records = new Float64Array(count * TRACE_FIELDS);
  for (let index = 0; index < count; index += 1) {
    const from = ((first + index) & (TRACE_RECORDS - 1)) * TRACE_FIELDS;
    records.set(cells.subarray(from, from + TRACE_FIELDS), index * TRACE_FIELDS);
  }
  // What was overwritten meanwhile is not returned.
  const written = (traceEnd(trace) - first) >>> 0;
  const torn = Math.min(Math.max(0, written - (TRACE_RECORDS - 1)), count);
  // mutant: overwritten-records
  return { next: end, lost: wanted - count + torn, records: records.subarray(torn * TRACE_FIELDS) };
}
