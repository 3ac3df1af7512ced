/**
 * The shape of an error, in an HTTP body and in a frame (wire.md 5.1, AMB-103).
 *
 *   {"error":{"code":"…","message":"…","retryable":false,"details":{…},"trace_id":"<32 hex>","span_id":"<16 hex>"}}
 *
 * `details` is an object or absent, never null. `field` of a reject becomes `details.field`.
 *
 * The surrounding frames are in stream-frames.ts.
 */
import { isRetryable, type Reject } from '../core/reject.ts';

export interface TraceIds {
  /** 32 lower-case hex digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hex digits, not all zero. */
  readonly spanId: string;
}

const TRACEPARENT_FORM = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/;

/** Parses the ids of a W3C `traceparent` header; null when it is absent, malformed or contains an all-zero id. */
export function parseTraceparent(header: string): TraceIds | null {
  const match = TRACEPARENT_FORM.exec(header);
  const traceId = match?.[1];
  const spanId = match?.[2];
  if (traceId === undefined || spanId === undefined || header.startsWith('ff')) return null;
  return /[^0]/.test(traceId) && /[^0]/.test(spanId) ? { traceId, spanId } : null;
}

/** The body of a rejected request. */
export function errorEnvelope(reject: Reject, trace: TraceIds): string {
  return `{"error":{${errorMembers(reject)},"trace_id":"${trace.traceId}","span_id":"${trace.spanId}"}}`;
}

/** The same error without trace, as frames carry it. */
export function errorObject(reject: Reject): string {
  return `{${errorMembers(reject)}}`;
}

function errorMembers(reject: Reject): string {
  const details = detailsOf(reject);
  return (
    `"code":"${reject.code}","message":${JSON.stringify(reject.message)},"retryable":${isRetryable(reject.code)}` +
    (details === '' ? '' : `,"details":{${details}}`)
  );
}

function detailsOf(reject: Reject): string {
  const members: string[] = [];
  if (reject.field !== undefined) members.push(`"field":${JSON.stringify(reject.field)}`);
  for (const [name, value] of Object.entries(reject.details ?? {})) {
    members.push(`${JSON.stringify(name)}:${typeof value === 'bigint' ? value.toString() : JSON.stringify(value)}`);
  }
  return members.join(',');
}
