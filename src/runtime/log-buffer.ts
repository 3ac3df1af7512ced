/**
 * Lines on their way to standard error and standard output: written into shared memory by the threads that log, read by the one
 * thread that writes them (log-writer.ts). Nothing here waits for the reader of the lines (MCH-01).
 *
 *   thread ─▶ its lane, a ring that it alone writes ───┐
 *   thread ─▶ its lane                        full: dropped and counted
 *   …                                                  ├─▶ log writer ─▶ write(2), which may take for ever
 *   any thread, once: the last line of the process ────┘   waits for its line LAST_LINE_MS at most
 */
import { must } from '../core/assert.ts';
import { createRing, RING_FULL, RingWriter } from './spsc-ring.ts';
import { STANDARD_ERROR, writeWithin } from './standard-streams.ts';

/** One for each logger, as a lane has one writer; `output` is that of the ready line. */
export const LOG_LANES = ['main', 'ops', 'clearing', 'market-data', 'chain', 'replicator', 'output'] as const;
type LogLaneName = (typeof LOG_LANES)[number];

const LANE_BYTES = 262_144;
/** A longer line is not written: it is counted as dropped. */
export const LINE_BYTES_MAX = 65_536;
/** What the end of the process waits for its last line. */
export const LAST_LINE_MS = 200;
/** A fail-stop, and the kill when it fails: more last lines there are not. */
export const LAST_LINES = 4;
const LAST_LINE_BYTES = 16_384;

/** Words of the state. */
export const LOG_WORD = {
  /** Changes with every line: what the writer sleeps on. */
  wake: 0,
  /** One of LOG_WRITER. */
  writer: 1,
  /** Lines that were not written, modulo 2^32. */
  dropped: 2,
  /** Not 0: the writer writes what it can at once, and ends. */
  stop: 3,
  /** Not 0 while lines wait for the reader of standard error. */
  waiting: 4,
  /** One word for each last line: one of LAST. */
  last: 5,
} as const;
export const LOG_WRITER = { none: 0, runs: 1 } as const;
export const LAST = { free: 0, taken: 1, full: 2, written: 3 } as const;
const STATE_WORDS = LOG_WORD.last + LAST_LINES;

/** Shared by all threads; a structured clone. */
export interface LogMemory {
  /** In the order of LOG_LANES. */
  readonly lanes: readonly SharedArrayBuffer[];
  readonly state: SharedArrayBuffer;
  /** LAST_LINES times a length of 4 bytes and LAST_LINE_BYTES. */
  readonly last: SharedArrayBuffer;
}

export function createLogs(): LogMemory {
  return {
    lanes: LOG_LANES.map(() => createRing({ capacityBytes: LANE_BYTES, reservedBytes: 0 })),
    state: new SharedArrayBuffer(STATE_WORDS * Int32Array.BYTES_PER_ELEMENT),
    last: new SharedArrayBuffer(LAST_LINES * (Int32Array.BYTES_PER_ELEMENT + LAST_LINE_BYTES)),
  };
}

/** Lines that were dropped since the start. */
export function droppedLines({ state }: LogMemory): number {
  return Atomics.load(new Int32Array(state), LOG_WORD.dropped) >>> 0;
}

/** Whether lines wait because standard error or output is not read. */
export function isLogWaiting({ state }: LogMemory): boolean {
  return Atomics.load(new Int32Array(state), LOG_WORD.waiting) !== 0;
}

/** The producer's end of a lane, as pino wants a destination. Only for one thread at a time. */
export class LogLane {
  readonly #ring: RingWriter;
  readonly #state: Int32Array;

  constructor(memory: LogMemory, name: LogLaneName) {
    this.#ring = new RingWriter(must(memory.lanes[LOG_LANES.indexOf(name)], 'every lane has a ring'));
    this.#state = new Int32Array(memory.state);
  }

  /** Never waits and never throws. @param line with its line end. */
  write(line: string): void {
    const bytes = Buffer.from(line, 'utf8');
    const at = bytes.length > LINE_BYTES_MAX ? RING_FULL : this.#ring.claim(0, bytes.length);
    if (at === RING_FULL) {
      // mutant: log-drop-counted
      Atomics.add(this.#state, LOG_WORD.dropped, 1);
      return;
    }
    this.#ring.views.u8.set(bytes, at);
    this.#ring.commit();
    this.#ring.publish();
    wake(this.#state);
  }
}

function wake(state: Int32Array): void {
  Atomics.add(state, LOG_WORD.wake, 1);
  Atomics.notify(state, LOG_WORD.wake);
}

/**
 * Writes the last line of the process, from any thread, and waits until it is written, LAST_LINE_MS at most.
 *
 * @param line with its line end. @param memory null where there is none.
 */
export function writeLastLine(memory: LogMemory | null, line: string): void {
  const state = memory === null ? null : new Int32Array(memory.state);
  if (memory === null || state === null || Atomics.load(state, LOG_WORD.writer) !== LOG_WRITER.runs) {
    writeWithin(STANDARD_ERROR, line, LAST_LINE_MS);
    return;
  }
  for (let index = 0; index < LAST_LINES; index += 1) {
    const word = LOG_WORD.last + index;
    if (Atomics.compareExchange(state, word, LAST.free, LAST.taken) !== LAST.free) continue;
    const { length, bytes } = lastLine(memory, index);
    length[0] = new TextEncoder().encodeInto(line, bytes).written;
    Atomics.store(state, word, LAST.full);
    wake(state);
    // mutant: last-line-waits
    Atomics.wait(state, word, LAST.full, LAST_LINE_MS);
    return;
  }
}

/** The writer writes what it can and ends. */
export function stopWriter({ state }: LogMemory): void {
  const words = new Int32Array(state);
  Atomics.store(words, LOG_WORD.stop, 1);
  wake(words);
}

interface LastLine {
  /** One word: how many of the bytes. */
  readonly length: Int32Array;
  readonly bytes: Uint8Array;
}

export function lastLine({ last }: LogMemory, index: number): LastLine {
  const at = index * (Int32Array.BYTES_PER_ELEMENT + LAST_LINE_BYTES);
  return {
    length: new Int32Array(last, at, 1),
    bytes: new Uint8Array(last, at + Int32Array.BYTES_PER_ELEMENT, LAST_LINE_BYTES),
  };
}
