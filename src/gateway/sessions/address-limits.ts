/**
 * What one network address may cost the node before anybody has logged in (AMB-91): a bucket that refusals empty, and a
 * count of open sockets.
 *
 *   level   capacity ────────── capacity / 2 ─────── 0 ─────────────── −capacity
 *             all requests are read │ public reads    │ 429, unread      │ connections are not taken
 *                                   │ and logins: 429 │
 *
 * Requests of a session that succeed are free here. Public reads and logins are paid in advance and only out of the upper
 * half, so that one client's polling does not shut out the sessions of others behind the same address. What is malformed,
 * unauthorized or unknown costs, and so do new connections, upgrades and the bytes of long requests: afterwards, so that
 * an address can owe; it is not let in again before it has come back above zero.
 *
 * Invariants
 *   (1) An address without an entry has a full bucket and no socket.
 *   (2) At most `entriesMax` buckets: the one that was charged the longest time ago gives way.
 *
 * Not here: what an address is (the edge), real time (the caller's).
 */
import type { RejectName } from '../../core/reject.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import { type BucketSize, capacityOf } from './bucket.ts';
import { UNIT } from './costs.ts';
import { KeyedBuckets } from './keyed-buckets.ts';
import { rateLimited } from './rate-limits.ts';

export interface AddressRules {
  readonly size: BucketSize;
  /** Open sockets. */
  readonly socketsMax: number;
}

/** About 10 MiB when full. */
const ENTRIES_MAX = 65_536;

/** Units for an upgrade that is let in, and for a connection while there is room for many. */
export const CONNECTION_UNITS = 1n;

/**
 * What a table that all addresses share grants to one of them as it fills: the last quarter is for those that have little
 * of it. In order of `filled`, the part of the table that is taken.
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

/** Units for a request that succeeds without a session. */
export const PUBLIC_READ_UNITS = 1n;

/** Units for a login: a signature is verified, and a session takes a place. */
export const LOGIN_UNITS = 5n;

/** Units for a body that does not come to its end in time. */
export const STALLED_UNITS = 5n;

/** Units for a socket that sends more frames without work than it may. */
export const FLOOD_UNITS = 20n;

/** Bytes read that cost nothing of their own, and as many for each unit beyond. */
const BYTES_PER_UNIT = 4_096;

/** Units for reading so many bytes of one request or frame, besides what becomes of it. */
export function unitsOfBytes(bytes: number): bigint {
  return BigInt(Math.max(0, Math.ceil(bytes / BYTES_PER_UNIT) - 1));
}

/** Units for a refusal; the others cost an address nothing. What made the node do cryptography costs most. */
const REFUSAL_UNITS: Readonly<Partial<Record<RejectName, bigint>>> = {
  INVALID_REQUEST: 1n,
  NOT_FOUND: 1n,
  METHOD_NOT_ALLOWED: 1n,
  UPGRADE_REQUIRED: 1n,
  PAYLOAD_TOO_LARGE: 5n,
  UNAUTHORIZED: 2n,
  NONCE_NOT_FOUND: 2n,
  NONCE_EXPIRED: 2n,
  INVALID_NONCE: 2n,
  INVALID_SIGNATURE: 10n,
};

/** For want of budget: nothing was paid for the request, but a little for its refusal. */
const RATE_LIMITED_MILLI_UNITS: bigint = UNIT / 10n;

export class AddressLimits {
  readonly #rules: AddressRules;
  readonly #buckets: KeyedBuckets;
  readonly #sockets = new Map<string, number>();

  constructor(rules: AddressRules, entriesMax: number = ENTRIES_MAX) {
    this.#rules = rules;
    this.#buckets = new KeyedBuckets(rules.size, entriesMax);
  }

  /** Addresses whose bucket is not known to be full. */
  get bucketCount(): number {
    return this.#buckets.count;
  }

  /** Whether a request of this address is read: null, or RATE_LIMITED. */
  refusal(address: string, now: TimestampNs): Reject | null {
    const level = this.#buckets.level(address, now);
    if (level >= UNIT) return null;
    return rateLimited('address', UNIT, level > 0n ? level : 0n);
  }

  /** Takes units for a public read or a login out of the upper half. @returns null, or RATE_LIMITED: nothing was taken. */
  take(address: string, units: bigint, now: TimestampNs): Reject | null {
    const capacity = capacityOf(this.#rules.size);
    const there = this.#buckets.level(address, now) - capacity / 2n;
    const asked = units * UNIT;
    // Where the upper half is smaller than the price, a full bucket will do.
    if (there < asked && there * 2n < capacity) return rateLimited('address', asked, there > 0n ? there : 0n);
    this.charge(address, units, now);
    return null;
  }

  /** Whether even its connections are no longer taken. */
  isFlooding(address: string, now: TimestampNs): boolean {
    return this.#buckets.level(address, now) <= -capacityOf(this.#rules.size);
  }

  /**
   * Whether one more connection is taken, which the address then pays for. While there is ample room it may owe for it.
   *
   * @param filled the part of the listener's connections that is taken, 0 to 1.
   */
  takesConnection(address: string, filled: number, now: TimestampNs): boolean {
    if (this.isFlooding(address, now)) return false;
    const { units } = scarcityAt(filled);
    const capacity = capacityOf(this.#rules.size);
    let price = units * UNIT;
    // A full bucket will always do.
    if (price > capacity) price = capacity;
    if (units > CONNECTION_UNITS && this.#buckets.level(address, now) < price) return false;
    this.#buckets.charge(address, price, now, -capacity);
    return true;
  }

  /** Whether one more socket fits: null, or RATE_LIMITED. @param filled the part of the listener's sockets that is taken. */
  socketRefusal(address: string, filled = 0): Reject | null {
    const limit = Math.max(1, Math.floor(this.#rules.socketsMax * scarcityAt(filled).socketsShare));
    if ((this.#sockets.get(address) ?? 0) < limit) return null;
    return {
      ...reject('RATE_LIMITED', 'too many sockets are open from this address'),
      details: { bucket: 'address', limit },
    };
  }

  /** @param bytes that were read for it. */
  chargeRefusal(address: string, code: RejectName, now: TimestampNs, bytes = 0): void {
    const milliUnits = code === 'RATE_LIMITED' ? RATE_LIMITED_MILLI_UNITS : (REFUSAL_UNITS[code] ?? 0n) * UNIT;
    if (milliUnits > 0n) this.#charge(address, milliUnits + unitsOfBytes(bytes) * UNIT, now);
  }

  /** Takes units, also those that are not there, down to the point where connections are no longer taken. */
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
    this.#buckets.charge(address, milliUnits, now, -capacityOf(this.#rules.size));
  }
}
