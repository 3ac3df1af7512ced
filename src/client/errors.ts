/**
 * The error of the SDK: a rejection by the service, or a failure to reach it.
 *
 * Codes of the service are those of wire.md 5.3. The SDK adds codes for errors on the client's side:
 *
 *   UNREACHABLE        no connection could be made; nothing was sent; retryable
 *   CLIENT_CLOSED      the client was closed before: nothing was sent
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
  readonly details?: ErrorDetails | null;
}

/** A plain object: texts, numbers, lists, objects. Integers beyond 2^53 are strings of digits. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

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
  /** Details of the cause, such as `order_id`, or `units_available` of a budget. */
  readonly details: ErrorDetails | null;
  /** The invalid member (`details.field`), spelled as on the wire, for INVALID_ARGUMENT as in the SDK; null if it is not one member. */
  readonly field: string | null;

  constructor(fields: RingbookErrorFields) {
    super(`${fields.code}: ${fields.message}`);
    this.code = fields.code;
    this.retryable = fields.retryable ?? false;
    this.status = fields.status ?? null;
    this.details = fields.details ?? null;
    const field = this.details?.['field'];
    this.field = typeof field === 'string' ? field : null;
  }

  /** All members for `JSON.stringify`. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, code, field, message, retryable, status, details } = this;
    return { name, code, field, message, retryable, status, details };
  }

  /** For a RATE_LIMITED error over REST; null for any other, and where the limit is a number of streams. */
  get budget(): ExceededBudget | null {
    const text = (name: string): string => {
      const value = this.details?.[name];
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

/** The details of an error, without the exact numbers of the JSON reader. */
export function plainDetails(details: JsonObject): ErrorDetails {
  return Object.fromEntries([...details].map(([name, member]) => [name, plain(member)]));
}

function plain(value: JsonValue): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof JsonFraction) return value.text;
  if (isJsonObject(value)) return plainDetails(value);
  return Array.isArray(value) ? value.map(plain) : value;
}

/** @param field the member of the caller's request that is invalid, as the caller spells it; omitted if it is not one member. */
export function invalidArgument(message: string, field?: string): RingbookError {
  return new RingbookError({ code: 'INVALID_ARGUMENT', message, details: field === undefined ? null : { field } });
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
    details: isJsonObject(details) ? plainDetails(details) : null,
  });
}

/** There was no connection, and so nothing was sent. */
export function unreachableAddress(origin: string, reason: string): RingbookError {
  return new RingbookError({
    code: 'UNREACHABLE',
    message: `${origin} cannot be reached (${reason})`,
    retryable: true,
  });
}

/** Of a request that may have been received: its outcome is unknown. */
export function lostRequest(reason: string): RingbookError {
  return new RingbookError({ code: 'CONNECTION_CLOSED', message: reason });
}

/** As `lostRequest`. */
export function lateReply(deadlineMs: number): RingbookError {
  return new RingbookError({ code: 'CLIENT_TIMEOUT', message: `no answer within ${deadlineMs} ms` });
}
