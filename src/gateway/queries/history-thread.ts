/**
 * The gateway's end of the history thread (storage/history-worker.ts), and the messages between them: queries out, answers
 * in, in order.
 *
 * Bounded: beyond what may wait, a page is refused before anything is read.
 */
import { Worker } from 'node:worker_threads';
import type { LedgerRows, LedgerSelection } from '../../codec/ledger-page.ts';
import { assert, must } from '../../core/assert.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { Hang } from '../../runtime/hang-detection.ts';
import { Watch } from '../../runtime/heartbeat.ts';
import { threadTimes } from '../../runtime/thread-times.ts';
import type { HistoryAnswer, HistoryRequest } from '../orders/history/history-request.ts';
import type { BasisAnswer, BasisRequest } from '../orders/history/position-basis.ts';

/** Words that the thread writes and the gateway watches. */
export const HISTORY_WORD = { heartbeat: 0, kernelThread: 1, isOpen: 2 } as const;
const HISTORY_WORDS = 3;

export interface HistorySettings {
  readonly dataDirectory: string;
  readonly mapBytes: number;
  readonly words: SharedArrayBuffer;
}

/** Rows of a user's ledger. */
export interface LedgerRequest {
  readonly kind: 'ledger';
  readonly query: LedgerSelection;
}

export interface LedgerAnswer {
  readonly kind: 'ledger';
  /** Null where there is no row log. */
  readonly found: LedgerRows | null;
  /** Why the row log cannot be read: no reason to stop, as nothing is decided by it. */
  readonly fault?: string;
}

interface HistoryQuery {
  readonly id: number;
  readonly request: HistoryRequest | BasisRequest | LedgerRequest;
}

/** To the thread: a query, or null to end. */
export type ToHistory = HistoryQuery | null;

export interface FromHistory {
  readonly id: number;
  readonly answer: HistoryAnswer<string> | BasisAnswer | LedgerAnswer;
}

/** Queries without an answer: some seconds of work. */
const WAITING_MAX = 256;
const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'too many pages are being read, try again');

/** Reads the tables for pages. */
export interface PageReader {
  /** SERVICE_UNAVAILABLE when too many wait. */
  read(request: HistoryRequest): Promise<Outcome<HistoryAnswer<string>>>;
  /** As `read`, for the cost of positions. */
  basis(request: BasisRequest): Promise<Outcome<BasisAnswer>>;
  /** As `read`, of the row log; null where there is none. @throws Error when it cannot be read. */
  ledger(query: LedgerSelection): Promise<Outcome<LedgerRows | null>>;
}

export class HistoryThread implements PageReader {
  readonly #worker: Worker;
  readonly #watch: Watch;
  readonly #life: Int32Array;
  readonly #waiting = new Map<number, (answer: FromHistory['answer']) => void>();
  readonly #ended: Promise<void>;
  #nextId = 1;
  #isClosing = false;

  /** @param onDeath the thread ended by itself. @param entry its compiled program, which calls runHistoryThread. */
  constructor(settings: Omit<HistorySettings, 'words'>, onDeath: (error: Error) => void, entry: URL) {
    const words = new SharedArrayBuffer(HISTORY_WORDS * Int32Array.BYTES_PER_ELEMENT);
    const life = new Int32Array(words);
    this.#life = life;
    this.#watch = new Watch(
      [
        {
          lastHeartbeat: () => Atomics.load(life, HISTORY_WORD.heartbeat),
          kernelThread: () => Atomics.load(life, HISTORY_WORD.kernelThread),
          isWatched: () => !this.#isClosing && Atomics.load(life, HISTORY_WORD.heartbeat) !== 0,
        },
      ],
      threadTimes(),
    );
    this.#worker = new Worker(entry, { workerData: { ...settings, words } satisfies HistorySettings });
    this.#worker.on('message', ({ id, answer }: FromHistory) => this.#answered(id, answer));
    let fault: Error | null = null;
    this.#worker.on('error', (error: Error) => {
      fault = error;
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        Atomics.store(life, HISTORY_WORD.isOpen, 1);
        if (!this.#isClosing || fault !== null) onDeath(fault ?? new Error(`the thread ended with ${code}`));
        resolve();
      });
    });
  }

  async read(request: HistoryRequest): Promise<Outcome<HistoryAnswer<string>>> {
    const answer = await this.#request(request);
    if (!answer.ok) return answer;
    const { kind } = answer.value;
    assert(kind === 'orders' || kind === 'trades', 'an answer is of the kind that was requested');
    return accepted(answer.value);
  }

  async basis(request: BasisRequest): Promise<Outcome<BasisAnswer>> {
    const answer = await this.#request(request);
    if (!answer.ok) return answer;
    assert(answer.value.kind === 'basis', 'an answer is of the kind that was requested');
    return accepted(answer.value);
  }

  async ledger(query: LedgerSelection): Promise<Outcome<LedgerRows | null>> {
    const answer = await this.#request({ kind: 'ledger', query });
    if (!answer.ok) return answer;
    const { value } = answer;
    assert(value.kind === 'ledger', 'an answer is of the kind that was requested');
    if (value.fault !== undefined) throw new Error(value.fault);
    return accepted(value.found);
  }

  #request(request: HistoryQuery['request']): Promise<Outcome<FromHistory['answer']>> {
    if (this.#isClosing || this.#waiting.size >= WAITING_MAX) return Promise.resolve(rejected(BUSY));
    const id = this.#nextId;
    this.#nextId += 1;
    this.#worker.postMessage({ id, request } satisfies ToHistory);
    return new Promise((resolve) => this.#waiting.set(id, (answer) => resolve(accepted(answer))));
  }

  /**
   * Whether it has not loaded its modules and opened the tables yet: LMDB aborts the process when the thread is ended
   * meanwhile.
   */
  get isLoading(): boolean {
    // mutant: history-is-loading
    return Atomics.load(this.#life, HISTORY_WORD.isOpen) === 0;
  }

  /** The kernel's id; UNKNOWN_THREAD until it has started. */
  kernelThread(): number {
    return Atomics.load(this.#life, HISTORY_WORD.kernelThread);
  }

  /** Call it every WATCH_MS. @returns how the thread hangs. */
  hang(): Hang | null {
    return this.#watch.lost()?.hang ?? null;
  }

  /** Lets the thread answer its pending queries, then end. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#worker.postMessage(null satisfies ToHistory);
    await this.#ended;
  }

  #answered(id: number, answer: FromHistory['answer']): void {
    const resolve = must(this.#waiting.get(id), 'an answer belongs to a question');
    this.#waiting.delete(id);
    resolve(answer);
  }
}
