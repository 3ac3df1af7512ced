/**
 * Which operator's token a request has, and how often an address may send a wrong one: a bucket of WRONG_TOKENS that refills by one a second.
 * A right token is never refused for the wrong ones of others at the same address (MCH-06): an operator behind a proxy
 * shares it with every client of that proxy. Nothing is won by guessing on: a token has at least 32 characters.
 *
 * Bounded: at ADDRESSES_MAX the address whose last wrong token is oldest is removed, and its bucket is full again. Comparing takes the same time for every token
 * (hashes).
 */
import { timingSafeEqual } from 'node:crypto';
import { lastForwardedKey } from '../http/client-address.ts';
import { hashOfToken, type OperatorToken } from './operator-tokens.ts';

export const WRONG_TOKENS = 20;
const REFILL_MS = 1_000;
export const ADDRESSES_MAX = 4_096;

/** The token; `limited`: wrong too often. */
type TokenVerdict = OperatorToken | 'wrong' | 'limited';

interface Bucket {
  left: number;
  atMs: number;
}

export class TokenGuard {
  #tokens: readonly OperatorToken[];
  readonly #buckets = new Map<string, Bucket>();
  readonly #nowMs: () => number;

  constructor(tokens: readonly OperatorToken[], nowMs: () => number = () => performance.now()) {
    this.#tokens = tokens;
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
    const known = this.#known(hashOfToken(given));
    if (known !== null) return known;
    const key = lastForwardedKey(address ?? '') ?? '';
    const bucket = this.#bucketOf(key);
    if (bucket.left < 1) return 'limited';
    bucket.left -= 1;
    this.#keep(key, bucket);
    return 'wrong';
  }

  /** From now on these are right, and no other. */
  replace(tokens: readonly OperatorToken[]): void {
    this.#tokens = tokens;
  }

  /** Every token is compared, so that the time shows neither which one it is nor how near a guess was. */
  #known(hash: Buffer): OperatorToken | null {
    let found: OperatorToken | null = null;
    for (const token of this.#tokens) if (timingSafeEqual(hash, token.hash)) found = token;
    return found;
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
