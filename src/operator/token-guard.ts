/**
 * How often an address may be wrong about the operator token: a bucket of WRONG_TOKENS that refills by one a second. An address
 * whose bucket is empty is refused before its token is looked at, right or wrong: else the answer would tell.
 *
 * Bounded: the address that was wrong longest ago leaves when there are ADDRESSES_MAX, and its bucket is full again. A token has
 * 32 characters at least, so that is no way to guess one. Comparing takes the same time for every token (hashes).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { lastForwardedKey } from '../http/client-address.ts';

export const WRONG_TOKENS = 20;
const REFILL_MS = 1_000;
export const ADDRESSES_MAX = 4_096;

/** `limited`: not looked at. */
export type TokenVerdict = 'right' | 'wrong' | 'limited';

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

  /** Addresses that were wrong lately. */
  get addresses(): number {
    return this.#buckets.size;
  }

  /** @param authorization the header as it came. No bearer token at all is wrong, and free. */
  judge(authorization: string | undefined, address: string | undefined): TokenVerdict {
    const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (given === undefined) return 'wrong';
    const key = lastForwardedKey(address ?? '') ?? '';
    const bucket = this.#bucketOf(key);
    if (bucket.left < 1) return 'limited';
    if (timingSafeEqual(hash(given), this.#tokenHash)) return 'right';
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

  /** The last to be wrong stands at the end. */
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
