/**
 * Limits per network address for requests before authentication (AMB-91): a bucket that errors drain, and a count of
 * open sockets.
 *
 *   level   capacity ────────── capacity / 2 ─────── 0 ─────────────── −capacity
 *             all requests are read │ public reads    │ 429, unread      │ connections are rejected
 *                                   │ and logins: 429 │
 *
 * Successful requests of a session are free here. Public reads and logins are paid in advance and only from the upper
 * half, so that one client's polling does not exclude sessions behind the same address. Malformed, unauthorized and
 * unknown requests are charged, and so are new connections, upgrades and the bytes of long requests: afterwards, so the
 * level can become negative; the address is then rejected until its level is positive again.
 *
 * Invariants
 *   (1) An address without an entry has a full bucket and no socket.
 *   (2) There are at most `entriesMax` buckets: the one with the oldest charge is evicted.
 *
 * The HTTP layer determines the address, the caller supplies the time.
 */
import type { RejectName } from '../../core/reject.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import { type BucketSize, bucketCapacity } from './bucket.ts';
import { UNIT } from './costs.ts';
import { KeyedBuckets } from './keyed-buckets.ts';
import { rateLimited } from './rate-limits.ts';

interface AddressRules {
  readonly size: BucketSize;
  /** Maximum number of open sockets. */
  readonly socketsMax: number;
}

/** About 10 MiB when full. */
const ENTRIES_MAX = 65_536;

/** Units for an accepted upgrade, and for a connection while many are free. */
export const CONNECTION_UNITS = 1n;

/**
 * Limits per address as a table shared by all addresses fills up: the last quarter is for addresses that use little of
 * it. In order of `filled`, the used fraction of the table.
 */
const SCARCITY: readonly { readonly filled: number; readonly socketsShare: number; readonly units: bigint }[] = [
  { filled: 7 / 8, socketsShare: 1 / 32, units: 128n },
  { filled: 3 / 4, socketsShare: 1 / 32, units: 32n },
  { filled: 1 / 2, socketsShare: 1 / 4, units: 8n },
  { filled: 0, socketsShare: 1, units: CONNECTION_UNITS },
];
const AMPLE = { socketsShare: 1, units: CONNECTION_UNITS };

function scarcityAt(filled: number): { readonly socketsShare: number; readonly units: bigint } {
  return SCARCITY.find((row) => filled >= row.filled) ?? AMPLE;
}

/** Units for a successful request without a session. */
export const PUBLIC_READ_UNITS = 1n;

/** Units for a login: one signature verification and one session entry. */
export const LOGIN_UNITS = 5n;

/** Units for a body that is not complete in time. */
export const STALLED_UNITS = 5n;

/** Units for a socket that exceeds the limit of frames without work. */
export const FLOOD_UNITS = 20n;

/** Bytes per request that are free, and bytes per further unit. */
const BYTES_PER_UNIT = 4_096;

/** Units for reading `bytes` of one request or frame, in addition to those of its outcome. */
export function unitsOfBytes(bytes: number): bigint {
  return BigInt(Math.max(0, Math.ceil(bytes / BYTES_PER_UNIT) - 1));
}

/** Units for an error reply; other codes are free. Errors that required cryptography cost most. */
const REFUSAL_UNITS: Readonly<Partial<Record<RejectName, bigint>>> = {
  INVALID_REQUEST: 1n,
  NOT_FOUND: 1n,
  METHOD_NOT_ALLOWED: 1n,
  UPGRADE_REQUIRED: 1n,
  PAYLOAD_TOO_LARGE: 5n,
  URI_TOO_LONG: 5n,
  HEADERS_TOO_LARGE: 5n,
  UNSUPPORTED_MEDIA_TYPE: 1n,
  UNAUTHORIZED: 2n,
  NONCE_NOT_FOUND: 2n,
  NONCE_EXPIRED: 2n,
  INVALID_NONCE: 2n,
  INVALID_SIGNATURE: 10n,
};

/** A rate-limited request is not charged, but its error reply costs a little. */
const RATE_LIMITED_MILLI_UNITS: bigint = UNIT / 10n;

export class AddressLimits {
  readonly #rules: AddressRules;
  readonly #buckets: KeyedBuckets;
  readonly #sockets = new Map<string, number>();

  constructor(rules: AddressRules, entriesMax: number = ENTRIES_MAX) {
    this.#rules = rules;
    this.#buckets = new KeyedBuckets(rules.size, entriesMax);
  }

  /** Number of addresses with an entry. */
  get bucketCount(): number {
    return this.#buckets.count;
  }

  /** Whether a request of this address is read: null, or RATE_LIMITED. */
  refusal(address: string, now: TimestampNs): Reject | null {
    const level = this.#buckets.level(address, now);
    if (level >= UNIT) return null;
    return rateLimited('address', UNIT, level > 0n ? level : 0n);
  }

  /** Charges a public read or a login to the upper half. @returns null, or RATE_LIMITED without a charge. */
  take(address: string, units: bigint, now: TimestampNs): Reject | null {
    const capacity = bucketCapacity(this.#rules.size);
    const there = this.#buckets.level(address, now) - capacity / 2n;
    const asked = units * UNIT;
    // If the upper half is smaller than the price, a full bucket suffices.
    if (there < asked && there * 2n < capacity) return rateLimited('address', asked, there > 0n ? there : 0n);
    this.charge(address, units, now);
    return null;
  }

  /** Whether even connections of the address are rejected. */
  isFlooding(address: string, now: TimestampNs): boolean {
    return this.#buckets.level(address, now) <= -bucketCapacity(this.#rules.size);
  }

  /**
   * Whether one more connection is accepted; charges the address for it. While many are free the level may become
   * negative.
   *
   * @param filled the used fraction of the listener's connections, 0 to 1.
   */
  takesConnection(address: string, filled: number, now: TimestampNs): boolean {
    if (this.isFlooding(address, now)) return false;
    const { units } = scarcityAt(filled);
    const capacity = bucketCapacity(this.#rules.size);
    let price = units * UNIT;
    // A full bucket always suffices.
    if (price > capacity) price = capacity;
    if (units > CONNECTION_UNITS && this.#buckets.level(address, now) < price) return false;
    this.#buckets.charge(address, price, now, -capacity);
    return true;
  }

  /**
   * Whether one more socket is allowed: null, or RATE_LIMITED. @param filled the used fraction of the listener's
   * sockets.
   */
  socketRefusal(address: string, filled = 0): Reject | null {
    const limit = Math.max(1, Math.floor(this.#rules.socketsMax * scarcityAt(filled).socketsShare));
    if ((this.#sockets.get(address) ?? 0) < limit) return null;
    return {
      ...reject('RATE_LIMITED', 'too many sockets are open from this address'),
      details: { bucket: 'address', limit },
    };
  }

  /** @param bytes read for the request. */
  chargeRefusal(address: string, code: RejectName, now: TimestampNs, bytes = 0): void {
    const milliUnits = code === 'RATE_LIMITED' ? RATE_LIMITED_MILLI_UNITS : (REFUSAL_UNITS[code] ?? 0n) * UNIT;
    if (milliUnits > 0n) this.#charge(address, milliUnits + unitsOfBytes(bytes) * UNIT, now);
  }

  /** Charges units even beyond the level, down to the level at which connections are rejected. */
  charge(address: string, units: bigint, now: TimestampNs): void {
    this.#charge(address, units * UNIT, now);
  }

  socketOpened(address: string): void {
    this.#sockets.set(address, (this.#sockets.get(address) ?? 0) + 1);
  }

  socketClosed(address: string): void {
    const count = (this.#sockets.get(address) ?? 0) - 1;
    if (count > 0) this.#sockets.set(address, count);
    else this.#sockets.delete(address);
  }

  #charge(address: string, milliUnits: bigint, now: TimestampNs): void {
    this.#buckets.charge(address, milliUnits, now, -bucketCapacity(this.#rules.size));
  }
}
