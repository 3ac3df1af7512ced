/**
 * What one network address may cost the node before anybody has logged in (AMB-91): a bucket that refusals empty, and a
 * count of open sockets.
 *
 *   level   capacity ───────────── 0 ─────────────── −capacity
 *             requests are read    │ 429, unread      │ connections are not taken
 *
 * Requests that succeed are free here, but for the bytes of long ones without a session. What is malformed, unauthorized or unknown costs, and so do new connections and
 * upgrades: afterwards, so that an address can owe; it is not let in again before it has come back above zero.
 *
 * Invariants
 *   (1) An address without an entry has a full bucket and no socket.
 *   (2) At most `entriesMax` buckets: the one that was charged the longest time ago gives way.
 *
 * Not here: what an address is (the edge), real time (the caller's).
 */
import type { RejectName } from '../core/reject.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { type BucketSize, capacityOf, suppliedBy } from './bucket.ts';
import { UNIT } from './costs.ts';
import { rateLimited } from './rate-limits.ts';

export interface AddressRules {
  readonly size: BucketSize;
  /** Open sockets. */
  readonly socketsMax: number;
}

/** About 10 MiB when full. */
const ENTRIES_MAX = 65_536;
const LOOKED_AT = 2;

/** Units for a new connection, and for an upgrade that is let in. */
export const CONNECTION_UNITS = 1n;

/** Units for a body that does not come to its end in time. */
export const STALLED_UNITS = 5n;

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
  // A user's budget has paid what a user pays; bytes beyond it are read for nothing.
  RATE_LIMITED: 0n,
};

export class AddressLimits {
  readonly #rules: AddressRules;
  readonly #entriesMax: number;
  /** Positions on the scale of bucket.ts. */
  readonly #positions = new Map<string, bigint>();
  readonly #sockets = new Map<string, number>();

  constructor(rules: AddressRules, entriesMax: number = ENTRIES_MAX) {
    this.#rules = rules;
    this.#entriesMax = entriesMax;
  }

  /** Addresses whose bucket is not known to be full. */
  get bucketCount(): number {
    return this.#positions.size;
  }

  /** Whether a request of this address is read: null, or RATE_LIMITED. */
  refusal(address: string, now: TimestampNs): Reject | null {
    const level = this.#level(address, now);
    if (level >= UNIT) return null;
    return rateLimited('address', UNIT, level > 0n ? level : 0n);
  }

  /** Whether even its connections are no longer taken. */
  isFlooding(address: string, now: TimestampNs): boolean {
    return this.#level(address, now) <= -capacityOf(this.#rules.size);
  }

  /** Whether one more socket fits: null, or RATE_LIMITED. */
  socketRefusal(address: string): Reject | null {
    const { socketsMax } = this.#rules;
    if ((this.#sockets.get(address) ?? 0) < socketsMax) return null;
    return {
      ...reject('RATE_LIMITED', 'too many sockets are open from this address'),
      details: { bucket: 'address', limit: socketsMax },
    };
  }

  /** @param bytes that were read for it. */
  chargeRefusal(address: string, code: RejectName, now: TimestampNs, bytes = 0): void {
    const units = REFUSAL_UNITS[code];
    if (units === undefined) return;
    const total = units + unitsOfBytes(bytes);
    if (total > 0n) this.charge(address, total, now);
  }

  /** Takes units, also those that are not there, down to the point where connections are no longer taken. */
  charge(address: string, units: bigint, now: TimestampNs): void {
    const { size } = this.#rules;
    const most = 2n * capacityOf(size);
    const missing = capacityOf(size) - this.#level(address, now) + units * UNIT;
    this.#positions.delete(address);
    this.#positions.set(address, suppliedBy(size, now) + (missing > most ? most : missing));
    this.#forgetFull(now);
  }

  socketOpened(address: string): void {
    this.#sockets.set(address, (this.#sockets.get(address) ?? 0) + 1);
  }

  socketClosed(address: string): void {
    const count = (this.#sockets.get(address) ?? 0) - 1;
    if (count > 0) this.#sockets.set(address, count);
    else this.#sockets.delete(address);
  }

  /** Milli-units, from −capacity to capacity. */
  #level(address: string, now: TimestampNs): bigint {
    const capacity = capacityOf(this.#rules.size);
    const position = this.#positions.get(address);
    if (position === undefined) return capacity;
    const missing = position - suppliedBy(this.#rules.size, now);
    return missing > 0n ? capacity - missing : capacity;
  }

  #forgetFull(now: TimestampNs): void {
    const supplied = suppliedBy(this.#rules.size, now);
    let looked = 0;
    for (const [address, position] of this.#positions) {
      if (looked === LOOKED_AT) return;
      looked += 1;
      if (position > supplied && this.#positions.size <= this.#entriesMax) return;
      this.#positions.delete(address);
    }
  }
}
