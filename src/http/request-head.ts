/**
 * The head of a request, copied out of uWebSockets.js while its HttpRequest is still valid.
 *
 * A raw HttpRequest lives on the stack of the native server: it is invalid once the route function returns or awaits,
 * so no other code in the node uses one.
 */
import type { HttpRequest } from 'uWebSockets.js';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { HEAD_BYTES_MAX } from './uws.ts';

/** Limit of a request target: path and query. */
export const TARGET_BYTES_MAX = 4_096;
const TARGET_TOO_LONG: Reject = reject('URI_TOO_LONG', `a request target has at most ${TARGET_BYTES_MAX} bytes`);
export const ENCODED: Reject = reject(
  'UNSUPPORTED_MEDIA_TYPE',
  'a body is sent without a content coding',
  'content-encoding',
);
const HEAD_TOO_LONG: Reject = reject('HEADERS_TOO_LARGE', `a head has at most ${HEAD_BYTES_MAX} bytes`);

/** The request headers a handler may read; '' when absent. Those of JOINED_HEADERS are joined by commas. */
const HEADERS = [
  'authorization',
  'user-id',
  'content-length',
  'transfer-encoding',
  'traceparent',
  'sec-websocket-protocol',
  'x-forwarded-for',
  'if-none-match',
  'host',
  'content-encoding',
  'x-ringbook-resend',
  'x-ringbook-timing',
] as const;
type HeaderName = (typeof HEADERS)[number];
const HEADER_SET: ReadonlySet<string> = new Set(HEADERS);
const JOINED_HEADERS: ReadonlySet<string> = new Set(['sec-websocket-protocol', 'x-forwarded-for']);
/** `: ` and the line end. */
const HEADER_FRAMING_BYTES = 4;
/** The spaces around the target, `HTTP/1.1` and the line end. */
const REQUEST_LINE_FRAMING_BYTES = 12;
/** A request with two of one of these is rejected, because readers could differ in which one they use. */
const SINGLE_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'user-id',
  'content-length',
  'transfer-encoding',
  'host',
]);
/** Headers that fix the end of the request: if one occurred twice, readers could differ about that end. */
const FRAMING_HEADERS: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);
const LENGTH_FORM = /^[0-9]{1,18}$/;

/** What arrives with the head of a request, copied out of uWebSockets.js. */
export interface RequestHead {
  /** Upper case. */
  readonly method: string;
  /** The path as it was sent, still percent-encoded, without the query. */
  readonly path: string;
  /** Without the question mark; '' when there is none. */
  readonly query: string;
  /** Path parameters in order, percent-decoded. */
  readonly parameters: readonly string[];
  readonly headers: Readonly<Record<HeaderName, string>>;
}

/** All header names with ''. */
export function noHeaders(): Record<HeaderName, string> {
  return {
    authorization: '',
    'user-id': '',
    'content-length': '',
    'transfer-encoding': '',
    traceparent: '',
    'sec-websocket-protocol': '',
    'x-forwarded-for': '',
    'if-none-match': '',
    host: '',
    'content-encoding': '',
    'x-ringbook-resend': '',
    'x-ringbook-timing': '',
  };
}

/** A head and whether it is valid. */
interface ReadHead {
  readonly head: RequestHead;
  readonly verdict: Outcome<null>;
  /** True: the head is too long, or the end of the request is ambiguous, so nothing after it may be read (RFC 9112 6.3). */
  readonly endsConnection: boolean;
}

/** The head for replying to a request that is rejected unparsed: its method and trace ids. */
export function briefHead(request: HttpRequest): ReadHead {
  const headers = noHeaders();
  headers.traceparent = request.getHeader('traceparent');
  const head = { method: request.getMethod().toUpperCase(), path: '', query: '', parameters: [], headers };
  return { head, verdict: accepted(null), endsConnection: false };
}

/**
 * Copies the head of a request.
 *
 * @returns URI_TOO_LONG or HEADERS_TOO_LARGE above their limits; UNSUPPORTED_MEDIA_TYPE for a coded body;
 *   INVALID_REQUEST when a security header is repeated, the length of the body is
 *   ambiguous, or a path parameter is not percent-encoded UTF-8. The head is complete in any case, so that the error can be
 *   written with its trace ids.
 */
export function readHead(request: HttpRequest, parameterCount: number): ReadHead {
  const headers = noHeaders();
  const seen = new Set<string>();
  let bytes = 0;
  let fault: Reject | undefined;
  let endsConnection = false;
  request.forEach((name, value) => {
    bytes += name.length + value.length + HEADER_FRAMING_BYTES;
    if (!HEADER_SET.has(name)) return;
    const known = name as HeaderName;
    if (!seen.has(name)) headers[known] = value;
    else if (SINGLE_HEADERS.has(name)) {
      fault = reject('INVALID_REQUEST', `more than one ${name} header`, name);
      endsConnection ||= FRAMING_HEADERS.has(name);
    } else if (JOINED_HEADERS.has(name)) headers[known] += `,${value}`;
    seen.add(name);
  });
  if (!isPlain(headers['content-encoding'])) fault = ENCODED;
  const framing = framingFault(headers, seen);
  if (framing !== null) {
    fault = framing;
    endsConnection = true;
  }
  const parameters: string[] = [];
  for (let index = 0; index < parameterCount; index += 1) {
    const decoded = percentDecoded(request.getParameter(index) ?? '');
    if (decoded === null) fault = reject('INVALID_REQUEST', 'the path is not percent-encoded UTF-8');
    parameters.push(decoded ?? '');
  }
  const method = request.getMethod().toUpperCase();
  const path = request.getUrl();
  const query = request.getQuery();
  const targetBytes = path.length + (query === undefined ? 0 : query.length + 1);
  const tooLong = lengthFault(targetBytes, method.length + targetBytes + REQUEST_LINE_FRAMING_BYTES + bytes);
  const head: RequestHead = { method, path, query: query ?? '', parameters, headers };
  if (tooLong !== null) return { head, verdict: rejected(tooLong), endsConnection: true };
  return { head, verdict: fault === undefined ? accepted(null) : rejected(fault), endsConnection };
}

/** Whether a body of that coding is read as it is (MCH-05). */
export function isPlain(contentEncoding: string): boolean {
  return contentEncoding === '' || contentEncoding.toLowerCase() === 'identity';
}

/** @param headBytes of the request line and the headers together. */
function lengthFault(targetBytes: number, headBytes: number): Reject | null {
  if (targetBytes > TARGET_BYTES_MAX) return TARGET_TOO_LONG;
  return headBytes > HEAD_BYTES_MAX ? HEAD_TOO_LONG : null;
}

/** The server treats any transfer coding as `chunked`, and an empty length as none. */
function framingFault(headers: Readonly<Record<HeaderName, string>>, seen: ReadonlySet<string>): Reject | null {
  const coding = headers['transfer-encoding'];
  if (seen.has('transfer-encoding') && coding.toLowerCase() !== 'chunked') {
    return reject('INVALID_REQUEST', 'the only transfer coding is chunked', 'transfer-encoding');
  }
  if (seen.has('transfer-encoding') && seen.has('content-length')) {
    return reject('INVALID_REQUEST', 'a body has a length or a transfer coding', 'content-length');
  }
  if (seen.has('content-length') && !LENGTH_FORM.test(headers['content-length'])) {
    return reject('INVALID_REQUEST', 'a content-length is a whole number', 'content-length');
  }
  return null;
}

function percentDecoded(segment: string): string | null {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

export function parameterCountOf(pattern: string): number {
  return pattern.split('/').filter((segment) => segment.startsWith(':')).length;
}
