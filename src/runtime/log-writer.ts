/**
 * The thread that writes the lines of all threads (log-buffer.ts). It alone may wait for the reader of standard error.
 *
 *   wake ─▶ lanes with records ─▶ a chunk for each stream ─▶ write(2)   all: sleep until a line arrives
 *                                                           full:  look again soon, lanes fill meanwhile
 *                                                           error: the chunk is dropped and counted
 *
 * A line that could not be finished (a full disk) is closed with a line end before the next one. When everything is written after
 * lines were dropped, one line says how many.
 */
import { writeSync } from 'node:fs';
import { must } from '../core/assert.ts';
import {
  LAST,
  LAST_LINE_MS,
  LAST_LINES,
  LOG_LANES,
  LOG_WORD,
  LOG_WRITER,
  type LogMemory,
  lastLine,
} from './log-buffer.ts';
import { RingReader } from './spsc-ring.ts';
import { STANDARD_ERROR, STANDARD_OUTPUT, writeSome } from './standard-streams.ts';

const CHUNK_BYTES = 65_536;
const RECORDS_PER_DRAIN = 64;
/** Between two attempts while a stream takes nothing. */
const RETRY_MS = 20;
const LINE_END = 0x0a;

/** Like writeSync of node:fs: throws the error of the system call. */
type Write = (descriptor: number, bytes: Uint8Array, at: number, length: number) => number;

/** One stream: what is to be written, and how far it is. */
class Output {
  readonly descriptor: number;
  readonly #write: Write;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** Into the first piece. */
  #at = 0;
  /** The end of a line is missing in the stream. */
  #isTorn = false;
  /** The last write was refused. */
  hasFailed = false;

  constructor(descriptor: number, write: Write) {
    this.descriptor = descriptor;
    this.#write = write;
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  get hasRoom(): boolean {
    return this.#bytes < CHUNK_BYTES;
  }

  add(line: Uint8Array): void {
    this.#pieces.push(line);
    this.#bytes += line.length;
  }

  /** @returns how many lines were lost by it. */
  flush(): number {
    while (this.#pieces.length > 0) {
      if (this.#isTorn && this.#at === 0) {
        if (this.#some(Uint8Array.of(LINE_END), 0).how === 'done') this.#isTorn = false;
        else return this.#refused();
      }
      const piece = must(this.#pieces[0], 'a piece waits');
      const { at, how } = this.#some(piece, this.#at);
      this.#at = at;
      if (how === 'waits') return 0;
      if (how === 'failed') return this.#refused();
      this.hasFailed = false;
      this.#pieces.shift();
      this.#bytes -= piece.length;
      this.#at = 0;
    }
    return 0;
  }

  #some(bytes: Uint8Array, from: number): ReturnType<typeof writeSome> {
    return writeSome(bytes, from, (all, at, length) => this.#write(this.descriptor, all, at, length));
  }

  /** What waits is dropped: a stream that refuses once (a full disk, a closed pipe) refuses the next one as well. */
  #refused(): number {
    const lost = this.#pieces.length;
    if (this.#at > 0) this.#isTorn = true;
    this.#pieces = [];
    this.#bytes = 0;
    this.#at = 0;
    this.hasFailed = true;
    return lost;
  }
}

export class LogWriter {
  readonly #memory: LogMemory;
  readonly #words: Int32Array;
  readonly #lanes: readonly { readonly reader: RingReader; readonly output: Output }[];
  readonly #error: Output;
  readonly #outputs: readonly Output[];
  /** Last lines whose bytes are in the output. */
  readonly #last = new Set<number>();
  #reported = 0;

  constructor(memory: LogMemory, write: Write) {
    this.#memory = memory;
    this.#words = new Int32Array(memory.state);
    const output = new Output(STANDARD_OUTPUT, write);
    this.#error = new Output(STANDARD_ERROR, write);
    this.#outputs = [output, this.#error];
    this.#lanes = LOG_LANES.map((name, index) => ({
      reader: new RingReader(must(memory.lanes[index], 'every lane has a ring')),
      output: name === 'output' ? output : this.#error,
    }));
    // A writer before this one has reported, or taken with it, what it dropped.
    this.#reported = Atomics.load(this.#words, LOG_WORD.dropped);
  }

  /** Writes what there is, as far as it goes. @returns whether everything is written. */
  step(): boolean {
    do {
      for (const { reader, output } of this.#lanes) {
        if (!output.hasRoom) continue;
        const take = (_type: number, at: number, bytes: number): undefined => {
          output.add(reader.views.u8.slice(at, at + bytes));
        };
        reader.drain(take, RECORDS_PER_DRAIN);
      }
      this.#takeLast();
      for (const output of this.#outputs) this.#drop(output.flush());
      this.#acknowledge();
    } while (this.#lanes.some(({ reader, output }) => output.hasRoom && reader.hasRecords()));
    const isDone = this.#outputs.every((output) => output.isEmpty);
    if (isDone) this.#report();
    Atomics.store(this.#words, LOG_WORD.waiting, isDone ? 0 : 1);
    return isDone;
  }

  #takeLast(): void {
    for (let index = 0; index < LAST_LINES; index += 1) {
      if (this.#last.has(index) || Atomics.load(this.#words, LOG_WORD.last + index) !== LAST.full) continue;
      const { length, bytes } = lastLine(this.#memory, index);
      this.#error.add(bytes.slice(0, length[0]));
      this.#last.add(index);
    }
  }

  #acknowledge(): void {
    if (!this.#error.isEmpty) return;
    for (const index of this.#last) {
      Atomics.store(this.#words, LOG_WORD.last + index, LAST.written);
      Atomics.notify(this.#words, LOG_WORD.last + index);
    }
    this.#last.clear();
  }

  #drop(lines: number): void {
    if (lines > 0) Atomics.add(this.#words, LOG_WORD.dropped, lines);
  }

  /** The reader has come to the end: how much it has missed. */
  #report(): void {
    const dropped = Atomics.load(this.#words, LOG_WORD.dropped);
    const more = (dropped - this.#reported) >>> 0;
    if (more === 0 || this.#error.hasFailed) return;
    const msg = 'lines were dropped: standard error was not read as fast as they came, or refused them';
    const line = {
      level: 'warn',
      time: new Date().toISOString(),
      name: 'log',
      event: 'log-lines-dropped',
      lines: more,
      msg,
    };
    this.#error.add(Buffer.from(`${JSON.stringify(line)}\n`, 'utf8'));
    this.#reported = dropped;
    // That this line is lost is no news.
    this.#error.flush();
  }
}

/** The body of the thread: until it is stopped. */
export function runLogWriter(memory: LogMemory): void {
  const words = new Int32Array(memory.state);
  const writer = new LogWriter(memory, (descriptor, bytes, at, length) => writeSync(descriptor, bytes, at, length));
  Atomics.store(words, LOG_WORD.writer, LOG_WRITER.runs);
  let endMs = Number.POSITIVE_INFINITY;
  for (;;) {
    const wake = Atomics.load(words, LOG_WORD.wake);
    const isStopped = Atomics.load(words, LOG_WORD.stop) !== 0;
    const isDone = writer.step();
    if (isStopped && endMs === Number.POSITIVE_INFINITY) endMs = performance.now() + LAST_LINE_MS;
    if (isStopped && (isDone || performance.now() >= endMs)) break;
    Atomics.wait(words, LOG_WORD.wake, wake, isDone ? undefined : RETRY_MS);
  }
  Atomics.store(words, LOG_WORD.writer, LOG_WRITER.none);
}
