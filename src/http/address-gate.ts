/**
 * The limits of one listener that need no login: who an address is, whether it is let in, what its refusals cost
 * (AMB-91). It runs on real time, because what it protects is real.
 *
 * Behind a TLS terminator every connection comes from the terminator, so there the address is the last element of
 * `X-Forwarded-For`, if the configuration says so, and connections are not counted.
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

/** Where a client's address stands. */
export type AddressSource = 'peer' | 'x-forwarded-for';

export interface AddressGateParts {
  readonly limits: AddressLimits;
  readonly source: AddressSource;
  /** Real nanoseconds, monotonic. */
  readonly nowNs: () => bigint;
  /** A request was refused here. */
  readonly refused: () => void;
}

export class AddressGate {
  readonly #parts: AddressGateParts;

  constructor(parts: AddressGateParts) {
    this.#parts = parts;
  }

  /** Of a response that is still open. @param forwarded the `X-Forwarded-For` headers, joined by commas. */
  addressOf(response: HttpResponse, forwarded: string): string {
    const told = this.#parts.source === 'x-forwarded-for' ? lastForwardedKey(forwarded) : null;
    return told ?? addressKey(new Uint8Array(response.getRemoteAddress()));
  }

  /** Whether a connection is one address's: not behind a terminator, whose connections carry many. */
  get ownsConnections(): boolean {
    return this.#parts.source === 'peer';
  }

  /** Whether requests of this address are refused. */
  isEmpty(address: string): boolean {
    return this.#parts.limits.refusal(address, this.#now()) !== null;
  }

  /** Whether even its connections are no longer taken. */
  isFlooding(address: string): boolean {
    return this.#parts.limits.isFlooding(address, this.#now());
  }

  /** Before anything of a request is looked at. */
  admit(address: string): Reject | null {
    return this.#counted(this.#parts.limits.refusal(address, this.#now()));
  }

  /**
   * Before an upgrade; one that is let in is paid for.
   *
   * @param filled the part of the listener's sockets that is taken; 0 for a user who has places of their own.
   */
  admitSocket(address: string, filled: number): Reject | null {
    const refusal = this.#counted(this.#parts.limits.socketRefusal(address, filled));
    if (refusal === null) this.#parts.limits.charge(address, CONNECTION_UNITS, this.#now());
    return refusal;
  }

  /** Before a public read or a login. @returns null when the address has paid for it. */
  pay(address: string, units: bigint): Reject | null {
    return this.#counted(this.#parts.limits.take(address, units, this.#now()));
  }

  /** What a refusal of this code costs its address. @param bytes that were read for it. */
  charge(address: string, code: RejectName, bytes = 0): void {
    this.#parts.limits.chargeRefusal(address, code, this.#now(), bytes);
  }

  /** A socket was closed for the number of its frames. */
  chargeFlood(address: string): void {
    this.#parts.limits.charge(address, FLOOD_UNITS, this.#now());
  }

  /** What reading so many bytes costs an address that nobody has logged in from. */
  chargeBytes(address: string, bytes: number): void {
    const units = unitsOfBytes(bytes);
    if (units > 0n) this.#parts.limits.charge(address, units, this.#now());
  }

  /** A body was begun and not sent to its end in time. */
  chargeStalled(address: string): void {
    this.#parts.limits.charge(address, STALLED_UNITS, this.#now());
  }

  /**
   * A connection has been made, nothing read yet.
   *
   * @param filled the part of the listener's connections that is taken.
   * @returns whether to take it.
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
