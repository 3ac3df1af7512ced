/**
 * The gateway's end of the thread of proofs (evidence/proofs/proof-worker.ts), and the messages between them: what the log of the
 * evidence is read for, and how its heads stand.
 *
 * Bounded: beyond what may wait, a request is refused before anything is read.
 */
import { Worker } from 'node:worker_threads';
import { must } from '../../core/assert.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { Hang } from '../../runtime/hang-detection.ts';
import { Watch } from '../../runtime/heartbeat.ts';
import { threadTimes } from '../../runtime/thread-times.ts';

/** Words that the thread writes and the gateway watches. */
export const PROOF_WORD = { heartbeat: 0, kernelThread: 1, isOpen: 2 } as const;
const PROOF_WORDS = 3;

/** What is read of the log. Sizes and indexes are whole numbers below 2^53. */
export type ProofRequest =
  | { readonly kind: 'keys' }
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'tile'; readonly level: number; readonly index: number; readonly width: number }
  | { readonly kind: 'consistency'; readonly from: number; readonly to: number }
  | {
      readonly kind: 'order';
      readonly user: string;
      readonly assetId: string;
      readonly orderId: string;
      readonly isComplete: boolean;
    }
  /** What the venue states that it owes, with what it owes to a user; null: the statement alone. */
  | { readonly kind: 'liabilities'; readonly user: string | null };

/** A text, the bytes of a tile, or why there is neither. */
export type ProofReply =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'refused'; readonly reject: Reject };

/** How the heads stand. */
export interface HeadFigures {
  /** Records under the newest head; 0 for none. */
  readonly size: number;
  /** Real milliseconds since it was made; 0 for none. */
  readonly ageMs: number;
  /** Records in the files that no head covers yet. */
  readonly uncovered: number;
  /** Witnesses whose last answer was a cosignature, and those that are promised. */
  readonly cosigned: number;
  readonly quorum: number;
}

export type ToProofs =
  | { readonly id: number; readonly request: ProofRequest }
  /** The text of a statement that is journaled. */
  | { readonly stated: string }
  | null;

export type FromProofs =
  | { readonly kind: 'reply'; readonly id: number; readonly reply: ProofReply }
  | { readonly kind: 'figures'; readonly figures: HeadFigures }
  /** What this log has not stated yet: a certificate or the end of a key (EVD-01), or the hash of what is owed (LIA-04). */
  | { readonly kind: 'statement'; readonly subject: string; readonly text: string }
  /** The tree of this node does not continue a head that is known (EVD-07). */
  | { readonly kind: 'fork'; readonly reason: string }
  | { readonly kind: 'warning'; readonly text: string };

/** Requests without an answer. */
const WAITING_MAX = 64;
const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'too many proofs are being read, try again');

/** Reads proofs. */
export interface ProofReader {
  /** Refused with SERVICE_UNAVAILABLE when too many wait. */
  read(request: ProofRequest): Promise<ProofReply>;
}

interface ThreadEvents {
  readonly figures: (figures: HeadFigures) => void;
  /** Resolves when it is journaled, with false when the node stops before. */
  readonly statement: (subject: string, text: string) => Promise<boolean>;
  readonly fork: (reason: string) => void;
  readonly warning: (text: string) => void;
  /** The thread ended by itself. */
  readonly died: (error: Error) => void;
}

export class EvidenceThread implements ProofReader {
  readonly #worker: Worker;
  readonly #watch: Watch;
  readonly #life: Int32Array;
  readonly #waiting = new Map<number, (reply: ProofReply) => void>();
  readonly #ended: Promise<void>;
  readonly #events: ThreadEvents;
  #nextId = 1;
  #isClosing = false;

  /** @param settings of the worker, without `words`. @param entry its compiled program. */
  constructor(settings: object, events: ThreadEvents, entry: URL) {
    const words = new SharedArrayBuffer(PROOF_WORDS * Int32Array.BYTES_PER_ELEMENT);
    const life = new Int32Array(words);
    this.#life = life;
    this.#events = events;
    this.#watch = new Watch(
      [
        {
          lastHeartbeat: () => Atomics.load(life, PROOF_WORD.heartbeat),
          kernelThread: () => Atomics.load(life, PROOF_WORD.kernelThread),
          isWatched: () => !this.#isClosing && Atomics.load(life, PROOF_WORD.heartbeat) !== 0,
        },
      ],
      threadTimes(),
    );
    this.#worker = new Worker(entry, { workerData: { ...settings, words } });
    this.#worker.on('message', (message: FromProofs) => this.#received(message));
    let fault: Error | null = null;
    this.#worker.on('error', (error: Error) => {
      fault = error;
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        Atomics.store(life, PROOF_WORD.isOpen, 1);
        if (!this.#isClosing || fault !== null) events.died(fault ?? new Error(`the thread ended with ${code}`));
        resolve();
      });
    });
  }

  read(request: ProofRequest): Promise<ProofReply> {
    if (this.#isClosing || this.#waiting.size >= WAITING_MAX) return Promise.resolve({ kind: 'refused', reject: BUSY });
    const id = this.#nextId;
    this.#nextId += 1;
    this.#worker.postMessage({ id, request } satisfies ToProofs);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  /** Whether it has not opened its maps yet: LMDB aborts the process when the thread is ended meanwhile. */
  get isLoading(): boolean {
    return Atomics.load(this.#life, PROOF_WORD.isOpen) === 0;
  }

  /** The kernel's id; UNKNOWN_THREAD until it has started. */
  kernelThread(): number {
    return Atomics.load(this.#life, PROOF_WORD.kernelThread);
  }

  /** Call it every WATCH_MS. @returns how the thread hangs. */
  hang(): Hang | null {
    return this.#watch.lost()?.hang ?? null;
  }

  /** Lets the thread answer what waits, then end. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#worker.postMessage(null satisfies ToProofs);
    await this.#ended;
  }

  async #state(subject: string, text: string): Promise<void> {
    const isJournaled = await this.#events.statement(subject, text);
    if (isJournaled && !this.#isClosing) this.#worker.postMessage({ stated: text } satisfies ToProofs);
  }

  #received(message: FromProofs): void {
    switch (message.kind) {
      case 'reply': {
        const resolve = must(this.#waiting.get(message.id), 'a reply belongs to a request');
        this.#waiting.delete(message.id);
        resolve(message.reply);
        return;
      }
      case 'figures':
        this.#events.figures(message.figures);
        return;
      case 'statement':
        void this.#state(message.subject, message.text);
        return;
      case 'fork':
        this.#events.fork(message.reason);
        return;
      case 'warning':
        this.#events.warning(message.text);
    }
  }
}
