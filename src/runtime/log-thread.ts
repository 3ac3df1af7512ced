/**
 * The main thread's end of the log writer (log-writer.ts): starts it, starts it again when it dies, and ends it with the process.
 * Without it, before its start and after its end, a last line is written by the thread that has it.
 */
import { Worker } from 'node:worker_threads';
import { LAST_LINE_MS, LOG_WORD, LOG_WRITER, type LogMemory, stopWriter } from './log-buffer.ts';
import { unblockStandardStreams } from './standard-streams.ts';

const RESTARTS_MAX = 5;
const LOOK_MS = 2;
/** Beyond what it may wait for its reader. */
const END_MS_MAX = LAST_LINE_MS + 300;

export class LogThread {
  readonly #memory: LogMemory;
  readonly #entry: URL;
  #worker: Worker | null = null;
  #restarts = 0;
  #isEnding = false;

  /** @param entry its compiled program, which calls runLogWriter with its workerData. */
  constructor(memory: LogMemory, entry: URL) {
    this.#memory = memory;
    this.#entry = entry;
  }

  /** Call before other threads start. */
  start(): void {
    unblockStandardStreams();
    this.#spawn();
  }

  #spawn(): void {
    const worker = new Worker(this.#entry, { name: 'log', workerData: this.#memory });
    this.#worker = worker;
    worker.unref();
    // Its end follows.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      this.#worker = null;
      Atomics.store(new Int32Array(this.#memory.state), LOG_WORD.writer, LOG_WRITER.none);
      if (this.#isEnding || this.#restarts >= RESTARTS_MAX) return;
      this.#restarts += 1;
      this.#spawn();
    });
  }

  /**
   * Writes what its reader takes at once, and ends the thread, for a process that is about to exit.
   *
   * @returns false when the thread is blocked in the kernel: then only a signal ends the process.
   */
  async end(): Promise<boolean> {
    this.#isEnding = true;
    stopWriter(this.#memory);
    if (await this.#hasEnded(END_MS_MAX)) return true;
    void this.#worker?.terminate();
    return this.#hasEnded(LAST_LINE_MS);
  }

  async #hasEnded(withinMs: number): Promise<boolean> {
    const endMs = performance.now() + withinMs;
    while (this.#worker !== null && performance.now() < endMs) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return this.#worker === null;
  }
}
