/**
 * The limits of one listener that need no login: the client's address, its admission, and the cost of its errors
 * (AMB-91). Uses real time, because it protects real resources.
 *
 * Behind a TLS terminator every connection comes from the terminator, so there the address is the last element of
 * `X-Forwarded-For`, if configured, and connections are not counted.
 */
import type { HttpResponse } from 'uWebSockets.js';
import type { Reject, RejectName } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import {
  type AddressLimits,
  CONNECTION_UNITS,
  FLOOD_UNITS,
  STALLED_UNITS,
  unitsOfBytes,
} from '../gateway/sessions/address-limits.ts';
import { addressKey, lastForwardedKey } from './client-address.ts';

/** Source of a client's address. */
export type AddressSource = 'peer' | 'x-forwarded-for';

interface AddressGateParts {
  readonly limits: AddressLimits;
  readonly source: AddressSource;
  /** Real nanoseconds, monotonic. */
  readonly nowNs: () => bigint;
  /** Called for every request rejected here. */
  readonly refused: () => void;
}

export class AddressGate {
  readonly #parts: AddressGateParts;

  constructor(parts: AddressGateParts) {
    this.#parts = parts;
  }

  /** The address of an open response. @param forwarded the `X-Forwarded-For` headers, joined by commas. */
  addressOf(response: HttpResponse, forwarded: string): string {
    const forwardedKey = this.#parts.source === 'x-forwarded-for' ? lastForwardedKey(forwarded) : null;
    return forwardedKey ?? addressKey(new Uint8Array(response.getRemoteAddress()));
  }

  /** Whether a connection belongs to one address: false behind a terminator. */
  get ownsConnections(): boolean {
    return this.#parts.source === 'peer';
  }

  /** Whether requests of this address are rejected. */
  isEmpty(address: string): boolean {
    return this.#parts.limits.refusal(address, this.#now()) !== null;
  }

  /** Whether even its connections are rejected. */
  isFlooding(address: string): boolean {
    return this.#parts.limits.isFlooding(address, this.#now());
  }

  /** Called before a request is parsed. */
  admit(address: string): Reject | null {
    return this.#counted(this.#parts.limits.refusal(address, this.#now()));
  }

  /**
   * Called before an upgrade; charges the address for an accepted one.
   *
   * @param filled the used fraction of the listener's sockets; 0 for a user with reserved places.
   */
  admitSocket(address: string, filled: number): Reject | null {
    const refusal = this.#counted(this.#parts.limits.socketRefusal(address, filled));
    if (refusal === null) this.#parts.limits.charge(address, CONNECTION_UNITS, this.#now());
    return refusal;
  }

  /** Called before a public read or a login. @returns null after charging the address. */
  pay(address: string, units: bigint): Reject | null {
    return this.#counted(this.#parts.limits.take(address, units, this.#now()));
  }

  /** Charges an error of this code to its address. @param bytes read for the request. */
  charge(address: string, code: RejectName, bytes = 0): void {
    this.#parts.limits.chargeRefusal(address, code, this.#now(), bytes);
  }

  /** Charges a socket that was closed for the number of its frames. */
  chargeFlood(address: string): void {
    this.#parts.limits.charge(address, FLOOD_UNITS, this.#now());
  }

  /** Charges the bytes read for an address without a login. */
  chargeBytes(address: string, bytes: number): void {
    const units = unitsOfBytes(bytes);
    if (units > 0n) this.#parts.limits.charge(address, units, this.#now());
  }

  /** Charges a body that was not complete in time. */
  chargeStalled(address: string): void {
    this.#parts.limits.charge(address, STALLED_UNITS, this.#now());
  }

  /**
   * Called for a new connection before anything is read.
   *
   * @param filled the used fraction of the listener's connections.
   * @returns whether to accept it.
   */
  connected(response: HttpResponse, filled: number): boolean {
    if (this.#parts.source !== 'peer') return true;
    const address = addressKey(new Uint8Array(response.getRemoteAddress()));
    return this.#parts.limits.takesConnection(address, filled, this.#now());
  }

  socketOpened(address: string): void {
    this.#parts.limits.socketOpened(address);
  }

  socketClosed(address: string): void {
    this.#parts.limits.socketClosed(address);
  }

  #counted(refusal: Reject | null): Reject | null {
    if (refusal !== null) this.#parts.refused();
    return refusal;
  }

  #now(): TimestampNs {
    return this.#parts.nowNs() as TimestampNs;
  }
}
