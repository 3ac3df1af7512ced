/**
 * Whether the pipeline behind the gateway takes another order. Orders that it does not take wait at the gateway, where
 * cancels overtake them and a bound on their wait ends it (src/http/reading-turns.ts); so no order waits long in a queue
 * behind, where nothing can overtake it or take it back.
 *
 *   gateway ─▶ signatures in flight ─▶ market ─▶ clearing, flushed
 *              at most as many as      the probe, one create or      the oldest event that is
 *              take some milliseconds  replace, is answered in time  not flushed is young
 *
 * Cancels always pass. With `acks: durable` an answer waits for the flush, so the bound of clearing is that of an answer.
 */
import type { OrderSettings } from '../orders/settings.ts';

/** Signatures in flight for each thread of the pool: some 5 ms of work. */
export const SIGNATURES_IN_FLIGHT = 96;
/** The part of the bound of a wait for which a market may leave the probe unanswered. */
const MARKET_SHARE = 0.5;
/** A multiple of the bound: how old the oldest unflushed event may be while no answer waits for it. */
const FLUSH_MULTIPLE = 20;
/** That age is read at most so often: it is searched over all markets. */
const FLUSH_READ_MS = 1;

/** Where orders waited when they were refused: at the gateway itself, or for one of the stages behind it. */
export const STAGES = ['gateway', 'signatures', 'market', 'clearing'] as const;
export type Stage = (typeof STAGES)[number];

interface AdmissionParts {
  /** Milliseconds that an order may wait at the gateway; 0: every order is taken. */
  readonly waitMsMax: number;
  readonly verifyThreads: number;
  readonly verifier: { readonly inFlight: number };
  readonly entry: {
    /** The newest request that was sent to a market; 0 before the first. */
    readonly lastSentId: number;
    /** When it was sent; real milliseconds, monotonic. */
    readonly lastSentMs: number;
  };
  readonly requests: {
    /** Whether it has no answer of its market. */
    isAtMarket(requestId: number): boolean;
    readonly settings: Pick<OrderSettings, 'acks'>;
  };
  /** Age of the oldest event of a market that is not flushed. */
  readonly unflushedSeconds: () => number;
  /** Real milliseconds, monotonic. */
  readonly nowMs: () => number;
  /** Orders were refused after their wait. */
  readonly refused: (stage: Stage, orders: number) => void;
}

export class Admission {
  readonly waitMsMax: number;
  readonly #parts: AdmissionParts;
  /** A request sent to a market, and since when its answer is awaited. */
  #probe = 0;
  #probeSinceMs = 0;
  #flushAgeMs = 0;
  #flushReadAtMs = Number.NEGATIVE_INFINITY;
  /** The stage that kept the gate closed last, and when. */
  #closedBy: Stage = 'gateway';
  #closedAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    this.waitMsMax = parts.waitMsMax;
  }

  isOpen(): boolean {
    if (this.waitMsMax === 0) return true;
    const nowMs = this.#parts.nowMs();
    const stage = this.#fullStage(nowMs);
    if (stage === null) return true;
    this.#closedBy = stage;
    this.#closedAtMs = nowMs;
    return false;
  }

  /** Counts orders that waited too long, for the stage that they waited for. */
  refused(orders: number): void {
    const { nowMs, refused } = this.#parts;
    const isRecent = nowMs() - this.#closedAtMs <= this.waitMsMax;
    refused(isRecent ? this.#closedBy : 'gateway', orders);
  }

  #fullStage(nowMs: number): Stage | null {
    const { verifier, verifyThreads, entry, requests, unflushedSeconds } = this.#parts;
    if (verifyThreads > 0 && verifier.inFlight >= SIGNATURES_IN_FLIGHT * verifyThreads) return 'signatures';
    // mutant: market-probe
    if (!requests.isAtMarket(this.#probe)) {
      this.#probe = entry.lastSentId;
      this.#probeSinceMs = entry.lastSentMs;
    }
    if (requests.isAtMarket(this.#probe) && nowMs - this.#probeSinceMs > this.waitMsMax * MARKET_SHARE) return 'market';
    if (nowMs - this.#flushReadAtMs >= FLUSH_READ_MS) {
      this.#flushReadAtMs = nowMs;
      this.#flushAgeMs = unflushedSeconds() * 1_000;
    }
    const flushMsMax = this.waitMsMax * (requests.settings.acks === 'durable' ? 1 : FLUSH_MULTIPLE);
    return this.#flushAgeMs > flushMsMax ? 'clearing' : null;
  }
}
