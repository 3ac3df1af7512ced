/**
 * Verification of the signatures of requests, in the pool (crypto/verify-pool.ts); a connection stays on its thread of the
 * pool, so its order is kept. Without threads everything is verified inline.
 *
 * No order is verified inline beside a pool, not even the only signature of an idle node: the hop costs less than what
 * clearing spends on a signature that no verifier attested, and the event loop stays free (docs/decisions/0036).
 *
 * A cancel under load alone is: it overtakes the signatures that wait, which the caller permits where none of them is of
 * the same order. One with co-signers does not: 16 of them take 3 ms.
 *
 * A request without a signature is answered at once where its thread has nothing in flight; otherwise it waits in the same
 * queue, with a signature whose verdict is not used.
 *
 * The signatures of one kind of request in flight on a thread are bounded, so that free keys cannot fill the queue before
 * users with funds, nor creates before cancels. A job with n co-signers counts as n + 1: who makes a job long uses up the
 * same bound.
 */
import type { ActionHops } from '../../codec/hop-times.ts';
import type { AdditionalSigner } from '../../codec/signatures.ts';
import { must } from '../../core/assert.ts';
import { HOP } from '../../core/hops.ts';
import { type Reject, reject } from '../../core/reject.ts';
import { verifyCoSignatures } from '../../crypto/co-signature.ts';
import { verify as verifyEd25519 } from '../../crypto/ed25519.ts';
import { VerifyPool } from '../../crypto/verify-pool.ts';
import type { WebAuthnPolicy } from '../../crypto/webauthn.ts';
import type { Hang } from '../../runtime/hang-detection.ts';
import { Watch } from '../../runtime/heartbeat.ts';
import { type ThreadTimesReader, threadTimes } from '../../runtime/thread-times.ts';
import type { TraceMemory } from '../../runtime/trace-log.ts';
import type { Part } from '../sessions/shared-budget.ts';

export const POOL_FULL: Reject = reject('SERVICE_UNAVAILABLE', 'too many signatures are waiting, try again');
export const BAD_SIGNATURE: Reject = reject(
  'INVALID_SIGNATURE',
  'the signature does not verify over the canonical bytes',
  'signature',
);

/** Signatures of each kind of request in flight on a thread, at most; cancels are bounded by the size of the ring. */
const LANE_MAX: Readonly<Record<Part, number>> = { public: 64, user: 352, cancel: Number.POSITIVE_INFINITY };

/** An urgent job is verified inline where so many are in flight, at most so many a turn: some 60 µs each. */
const OVERTAKEN_MIN = 8;
const OVERTAKING_PER_TURN_MAX = 16;

export interface SignatureJob {
  /** Jobs of one connection are answered in order. */
  readonly connection: number;
  /** The signature of the master key, 64 bytes; absent if there are co-signers (AMB-136). */
  readonly signature: Uint8Array;
  readonly text: Uint8Array;
  /** The master key. */
  readonly publicKey: Uint8Array;
  /** Their signatures over the same text: the verdict is that all signatures given are valid. */
  readonly coSigners?: readonly AdditionalSigner[];
  /** A create, which clearing books: the pool attests it (crypto/attestations.ts). False unless given. */
  readonly isCreate?: boolean;
  /** It may overtake what its connection sent before. */
  readonly isUrgent?: boolean;
  /** Nothing is to be verified: it only keeps its place behind what its connection sent before. False unless given. */
  readonly isUnsigned?: boolean;
  /** The part of the shared budget that it is charged to (shared-budget.ts); a user's unless given. */
  readonly part?: Part;
  /** The hops of its action; without them none are recorded. */
  readonly hops?: ActionHops | null;
}

export interface SignatureVerifierOptions {
  /** 0: everything inline. */
  readonly threads: number;
  /** A thread of the pool ended. */
  readonly onDeath: (error: Error) => void;
  /** As in VerifyPool. */
  readonly entry: URL;
  /** The policy of the configuration; null: no WebAuthn co-signature is valid. */
  readonly webauthn: WebAuthnPolicy | null;
  /** As in VerifyPool. */
  readonly attestations?: readonly SharedArrayBuffer[];
  /** As in Watch. */
  readonly times?: ThreadTimesReader | null;
  /** One for each thread; none is traced unless given. */
  readonly traces?: readonly TraceMemory[];
}

export class SignatureVerifier {
  readonly #pool: VerifyPool | null;
  readonly #waiting = new Map<number, (valid: boolean) => void>();
  #nextTicket = 1;
  #overtakenThisTurn = 0;
  readonly #watch: Watch;
  #isClosed = false;
  readonly #webauthn: WebAuthnPolicy | null;

  constructor(options: SignatureVerifierOptions) {
    const { threads, times = threadTimes(), webauthn } = options;
    const onVerdict = (ticket: number, valid: boolean): void => this.#answer(ticket, valid);
    this.#webauthn = webauthn;
    this.#pool = threads === 0 ? null : new VerifyPool({ ...options, onVerdict });
    this.#watch = new Watch(this.#pool?.watchables() ?? [], times);
  }

  /** Whether a thread has not loaded its modules yet. */
  get isLoading(): boolean {
    return this.#pool?.isLoading === true;
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
    const coSigners = job.coSigners?.length ?? 0;
    // mutant: unsigned-in-turn
    if (job.isUnsigned === true && (pool === null || pool.inFlightOf(job.connection) === 0)) {
      done(true);
      return true;
    }
    if (pool === null || (coSigners === 0 && this.#overtakes(job))) {
      done(this.#verifyInline(job));
      return true;
    }
    if (pool.inFlightOf(job.connection) + coSigners >= LANE_MAX[job.part ?? 'user']) return false;
    const ticket = this.#nextTicket;
    // Before the thread may have it: a job that is not taken has no further hop of this ticket.
    job.hops?.pass(HOP.queued, ticket);
    if (!pool.submit(job.connection, ticket, job)) return false;
    this.#nextTicket += 1;
    this.#waiting.set(ticket, done);
    return true;
  }

  #overtakes({ isUrgent = false }: SignatureJob): boolean {
    if (!isUrgent || this.#waiting.size < OVERTAKEN_MIN || this.#overtakenThisTurn === OVERTAKING_PER_TURN_MAX)
      return false;
    this.#overtakenThisTurn += 1;
    return true;
  }

  /** The kernel's ids of the threads; UNKNOWN_THREAD for one that has not started. */
  kernelThreads(): readonly number[] {
    return (this.#pool?.watchables() ?? []).map((thread) => thread.kernelThread());
  }

  /** At the end of every turn: sends its jobs to the pool. */
  flush(): void {
    this.#overtakenThisTurn = 0;
    this.#pool?.flush();
  }

  /** Call it every WATCH_MS. @returns how a thread of the pool hangs; one without jobs shows life as well. */
  hang(nowMs: number = performance.now()): Hang | null {
    // The threads of a closed pool have ended; what is left of a stop may take longer than a thread may hang.
    return this.#isClosed ? null : (this.#watch.lost(nowMs)?.hang ?? null);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool?.close();
  }

  #verifyInline({ signature, text, publicKey, coSigners }: SignatureJob): boolean {
    if (coSigners === undefined || coSigners.length === 0) return verifyEd25519(signature, text, publicKey);
    const isMaster = signature.length === 0 || verifyEd25519(signature, text, publicKey);
    return isMaster && verifyCoSignatures(coSigners, text, this.#webauthn);
  }

  #answer(ticket: number, valid: boolean): void {
    const done = must(this.#waiting.get(ticket), 'a verdict answers a job');
    this.#waiting.delete(ticket);
    done(valid);
  }
}
