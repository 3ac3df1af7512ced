/**
 * Limits how often an address may send a wrong operator token: a bucket of WRONG_TOKENS that refills by one a second.
 * The right token is never refused for the wrong ones of others at the same address (MCH-06): an operator behind a proxy
 * shares it with every client of that proxy. Nothing is won by guessing on: a token has at least 32 characters.
 *
 * Bounded: at ADDRESSES_MAX the address whose last wrong token is oldest is removed, and its bucket is full again. Comparing takes the same time for every token
 * (hashes).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { lastForwardedKey } from '../http/client-address.ts';

export const WRONG_TOKENS = 20;
const REFILL_MS = 1_000;
export const ADDRESSES_MAX = 4_096;

/** `limited`: wrong too often. */
type TokenVerdict = 'right' | 'wrong' | 'limited';

interface Bucket {
  left: number;
  atMs: number;
}

export class TokenGuard {
  readonly #tokenHash: Buffer;
  readonly #buckets = new Map<string, Bucket>();
  readonly #nowMs: () => number;

  constructor(token: string, nowMs: () => number = () => performance.now()) {
    this.#tokenHash = hash(token);
    this.#nowMs = nowMs;
  }

  /** Number of addresses with a recent wrong token. */
  get addresses(): number {
    return this.#buckets.size;
  }

  /** @param authorization the header as received. A missing bearer token is wrong, and free. */
  judge(authorization: string | undefined, address: string | undefined): TokenVerdict {
    const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (given === undefined) return 'wrong';
    if (timingSafeEqual(hash(given), this.#tokenHash)) return 'right';
    const key = lastForwardedKey(address ?? '') ?? '';
    const bucket = this.#bucketOf(key);
    if (bucket.left < 1) return 'limited';
    bucket.left -= 1;
    this.#keep(key, bucket);
    return 'wrong';
  }

  #bucketOf(key: string): Bucket {
    const nowMs = this.#nowMs();
    const known = this.#buckets.get(key);
    if (known === undefined) return { left: WRONG_TOKENS, atMs: nowMs };
    known.left = Math.min(WRONG_TOKENS, known.left + (nowMs - known.atMs) / REFILL_MS);
    known.atMs = nowMs;
    return known;
  }

  /** The most recent is last. */
  #keep(key: string, bucket: Bucket): void {
    this.#buckets.delete(key);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size >= ADDRESSES_MAX && oldest !== undefined) this.#buckets.delete(oldest);
    this.#buckets.set(key, bucket);
  }
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
