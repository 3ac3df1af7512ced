/**
 * Where the front door has signatures verified: on the spot while the node is idle, in the pool under load.
 *
 * The hop to a thread and back costs more than one signature, so the first of a turn of the event loop is verified
 * inline when nothing is in flight; what a burst brings beyond it goes to the pool in one wake-up, and the loop stays
 * free. Inline is chosen only while nothing at all is in flight, and a connection stays on its lane: order is kept.
 */

import { must } from '../core/assert.ts';
import { HEARTBEAT_LOST_MS, WATCH_MS } from '../core/limits.ts';
import { verify as verifyInline } from '../crypto/ed25519.ts';
import { VerifyPool } from '../crypto/verify-pool.ts';

/** Asks for a verdict. `done` is called once, before `verify` returns or later. */
export interface SignatureDesk {
  /** @returns false when the pool is full: nothing was taken, `done` is never called. */
  verify(job: SignatureJob, done: (valid: boolean) => void): boolean;
  /** Sends what a turn has collected. */
  flush(): void;
  readonly inFlight: number;
}

export interface SignatureJob {
  /** Jobs of one connection are answered in order. */
  readonly connection: number;
  readonly signature: Uint8Array;
  readonly text: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** Milliseconds without a beat of a pool thread: frozen. */
const FROZEN_MS = HEARTBEAT_LOST_MS;
const NOT_STARTED = 0;

export class VerifyDesk implements SignatureDesk {
  private readonly pool: VerifyPool | null;
  private readonly waiting = new Map<number, (valid: boolean) => void>();
  private nextTicket = 1;
  private inlineThisTurn = 0;
  private lastBeats: readonly number[] = [];
  private standsMs = 0;
  private lookedAtMs = 0;
  private isClosed = false;

  /** @param threads 0: everything inline. @param onDeath a thread of the pool ended. @param entry as VerifyPool's. */
  constructor(threads: number, onDeath: (error: Error) => void, entry: URL) {
    this.pool =
      threads === 0
        ? null
        : new VerifyPool({ threads, onDeath, entry, onVerdict: (ticket, valid) => this.answer(ticket, valid) });
  }

  get inFlight(): number {
    return this.waiting.size;
  }

  verify(job: SignatureJob, done: (valid: boolean) => void): boolean {
    const { pool } = this;
    if (pool === null || (this.waiting.size === 0 && this.inlineThisTurn === 0)) {
      this.inlineThisTurn += 1;
      done(verifyInline(job.signature, job.text, job.publicKey));
      return true;
    }
    const ticket = this.nextTicket;
    if (!pool.submit(job.connection, ticket, job.signature, job.text, job.publicKey)) return false;
    this.nextTicket += 1;
    this.waiting.set(ticket, done);
    return true;
  }

  flush(): void {
    this.inlineThisTurn = 0;
    this.pool?.flush();
  }

  /** Call it every tick. @returns whether a thread of the pool stands still; one without jobs beats as well. */
  isFrozen(nowMs: number): boolean {
    // Its threads have ended; what is left of a stop may take longer than a frozen thread is given.
    if (this.isClosed) return false;
    const beats = this.pool?.beats() ?? [];
    const stands = beats.some((beat, index) => beat !== NOT_STARTED && beat === this.lastBeats[index]);
    // Counted as threads watch each other (heartbeat.ts): who gets few turns himself gives the others more time.
    this.standsMs = stands ? this.standsMs + Math.min(nowMs - this.lookedAtMs, WATCH_MS) : 0;
    this.lookedAtMs = nowMs;
    if (!stands) this.lastBeats = beats;
    return this.standsMs > FROZEN_MS;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.pool?.close();
  }

  private answer(ticket: number, valid: boolean): void {
    const done = must(this.waiting.get(ticket), 'a verdict answers a job');
    this.waiting.delete(ticket);
    done(valid);
  }
}
