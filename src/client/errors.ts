/**
 * The error of the SDK: a rejection by the service, or a failure to reach it.
 *
 * Codes of the service are those of wire.md 5.3. The SDK adds codes for errors on the client's side:
 *
 *   UNREACHABLE        no connection could be made; nothing was sent; retryable
 *   CONNECTION_CLOSED  the connection ended before the reply: the outcome is unknown
 *   CLIENT_TIMEOUT     no reply in time: the outcome is unknown
 *   INVALID_RESPONSE   the service sent a reply that violates wire.md
 *   INVALID_ARGUMENT   the caller's request cannot be sent
 *   UNSAFE_NONCE       the login nonce has an unexpected form, so it was not signed
 *   CONSUMER_TOO_SLOW  a stream's reader was too slow and the stream was closed
 */

import { isJsonObject, JsonFraction, type JsonObject, type JsonValue } from '../codec/json-tree.ts';
import type { Reject } from '../core/reject.ts';

export interface RingbookErrorFields {
  readonly code: string;
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly retryable?: boolean;
  /** HTTP status, or null when the error did not come as an HTTP reply. */
  readonly status?: number | null;
  readonly details?: JsonObject | null;
}

/** Which budget was exhausted: the user's, the shared one, or that of the address. Units are decimals. */
export interface ExceededBudget {
  readonly bucket: string;
  readonly unitsAsked: string;
  readonly unitsAvailable: string;
}

export class RingbookError extends Error {
  override readonly name = 'RingbookError';
  readonly code: string;
  readonly retryable: boolean;
  readonly status: number | null;
  readonly details: JsonObject | null;

  constructor(fields: RingbookErrorFields) {
    super(`${fields.code}: ${fields.message}`);
    this.code = fields.code;
    this.retryable = fields.retryable ?? false;
    this.status = fields.status ?? null;
    this.details = fields.details ?? null;
  }

  /** The invalid member (`details.field`); null if it is not one member. */
  get field(): string | null {
    const field = this.details?.get('field');
    return typeof field === 'string' ? field : null;
  }

  /** All members for `JSON.stringify`, details as a plain object. Integers beyond 2^53 are strings of digits. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, code, field, message, retryable, status, details } = this;
    return { name, code, field, message, retryable, status, details: plain(details) };
  }

  /** For a RATE_LIMITED error over REST; null for any other, and where the limit is a number of streams. */
  get budget(): ExceededBudget | null {
    const text = (name: string): string => {
      const value = this.details?.get(name);
      return typeof value === 'string' ? value : '';
    };
    const budget = {
      bucket: text('bucket'),
      unitsAsked: text('units_asked'),
      unitsAvailable: text('units_available'),
    };
    return this.code === 'RATE_LIMITED' && budget.unitsAsked !== '' ? budget : null;
  }
}

/** A value of a tree in the form for `JSON.stringify`. */
function plain(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof JsonFraction) return value.text;
  if (isJsonObject(value)) return Object.fromEntries([...value].map(([name, member]) => [name, plain(member)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

export function invalidArgument(message: string): RingbookError {
  return new RingbookError({ code: 'INVALID_ARGUMENT', message });
}

/** @param what the subject of the message. */
export function invalidResponse(what: string, reason: string): RingbookError {
  return new RingbookError({ code: 'INVALID_RESPONSE', message: `${what}: ${reason}` });
}

export function malformed(what: string, fault: Reject): RingbookError {
  return invalidResponse(what, fault.field === undefined ? fault.message : `${fault.message} (${fault.field})`);
}

/**
 * The error object of an envelope (wire.md 5.1) or of a stream's error frame.
 *
 * @returns null when `value` is not such an object.
 */
export function errorOfEnvelope(value: JsonValue | undefined, status: number | null): RingbookError | null {
  if (!isJsonObject(value)) return null;
  const error = value.get('error');
  if (!isJsonObject(error)) return null;
  const code = error.get('code');
  const message = error.get('message');
  const details = error.get('details');
  if (typeof code !== 'string' || typeof message !== 'string') return null;
  return new RingbookError({
    code,
    message,
    retryable: error.get('retryable') === true,
    status,
    details: isJsonObject(details) ? details : null,
  });
}
