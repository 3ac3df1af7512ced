/**
 * Verification of the signatures of requests: inline while the node is idle, in the pool under load.
 *
 * The hop to a thread and back costs more than one signature, so the first of a turn of the event loop is verified
 * inline when nothing is in flight; the rest of a burst goes to the pool in one wake-up, so the loop is not blocked. Inline is chosen only while nothing at all is in flight, and a connection stays on its lane: order is kept.
 *
 * The jobs of one kind of request in flight on a thread are bounded, so that free keys cannot fill the queue before users
 * with funds, nor creates before cancels.
 */
import { must } from '../core/assert.ts';
import { type Reject, reject } from '../core/reject.ts';
import { verify as verifyInline } from '../crypto/ed25519.ts';
import { VerifyPool } from '../crypto/verify-pool.ts';
import type { Hang } from '../runtime/hang-detection.ts';
import { Watch } from '../runtime/heartbeat.ts';
import { type ThreadTimesReader, threadTimes } from '../runtime/thread-times.ts';
import type { Part } from './sessions/shared-budget.ts';

export const POOL_FULL: Reject = reject('SERVICE_UNAVAILABLE', 'too many signatures are waiting, try again');
export const BAD_SIGNATURE: Reject = reject(
  'INVALID_SIGNATURE',
  'the signature does not verify over the canonical bytes',
  'signature',
);

/** With so many jobs in flight on a thread one more of a part is refused; the size of the ring bounds cancels. */
const LANE_MAX: Readonly<Record<Part, number>> = { public: 64, user: 352, cancel: Number.POSITIVE_INFINITY };

export interface SignatureJob {
  /** Jobs of one connection are answered in order. */
  readonly connection: number;
  readonly signature: Uint8Array;
  readonly text: Uint8Array;
  readonly publicKey: Uint8Array;
  /** The part of the shared budget that it is charged to (shared-budget.ts); a user's unless given. */
  readonly part?: Part;
}

export class SignatureVerifier {
  readonly #pool: VerifyPool | null;
  readonly #waiting = new Map<number, (valid: boolean) => void>();
  #nextTicket = 1;
  #inlineThisTurn = 0;
  readonly #watch: Watch;
  #isClosed = false;

  /** @param threads 0: everything inline. @param onDeath a thread of the pool ended. @param entry as VerifyPool's. @param times as Watch's. */
  constructor(
    threads: number,
    onDeath: (error: Error) => void,
    entry: URL,
    times: ThreadTimesReader | null = threadTimes(),
  ) {
    this.#pool =
      threads === 0
        ? null
        : new VerifyPool({ threads, onDeath, entry, onVerdict: (ticket, valid) => this.#answer(ticket, valid) });
    this.#watch = new Watch(this.#pool?.watchables() ?? [], times);
  }

  get inFlight(): number {
    return this.#waiting.size;
  }

  /**
   * @param done called once with the verdict, before this returns or later.
   * @returns false when the pool is full for this part: nothing was taken, `done` is never called.
   */
  verify(job: SignatureJob, done: (valid: boolean) => void): boolean {
    const pool = this.#pool;
    if (pool === null || (this.#waiting.size === 0 && this.#inlineThisTurn === 0)) {
      this.#inlineThisTurn += 1;
      done(verifyInline(job.signature, job.text, job.publicKey));
      return true;
    }
    if (pool.inFlightOf(job.connection) >= LANE_MAX[job.part ?? 'user']) return false;
    const ticket = this.#nextTicket;
    if (!pool.submit(job.connection, ticket, job.signature, job.text, job.publicKey)) return false;
    this.#nextTicket += 1;
    this.#waiting.set(ticket, done);
    return true;
  }

  /** At the end of every turn: sends its jobs to the pool. */
  flush(): void {
    this.#inlineThisTurn = 0;
    this.#pool?.flush();
  }

  /** Call it every tick. @returns how a thread of the pool hangs; one without jobs shows life as well. */
  hang(nowMs: number = performance.now()): Hang | null {
    // The threads of a closed pool have ended; what is left of a stop may take longer than a thread may hang.
    return this.#isClosed ? null : (this.#watch.lost(nowMs)?.hang ?? null);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool?.close();
  }

  #answer(ticket: number, valid: boolean): void {
    const done = must(this.#waiting.get(ticket), 'a verdict answers a job');
    this.#waiting.delete(ticket);
    done(valid);
  }
}
