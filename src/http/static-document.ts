/**
 * Documents: bytes that stay the same as long as the listener is open, such as the API documents and their page.
 *
 * A reader that is slow takes a document as its socket drains, within a time (unread-replies.ts): nothing is buffered for
 * it, however many there are.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { createHash } from 'node:crypto';
import type { RequestHead } from './request-head.ts';

export interface StaticDocument {
  readonly contentType: string;
  /** In quotes, as the header has it. */
  readonly etag: string;
  /** Content-Security-Policy. */
  readonly securityPolicy: string;
  readonly body: Uint8Array;
}

/** Browsers ask again before each use, and take a document for what it says it is. */
const HEADERS = [
  ['Cache-Control', 'no-cache'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
] as const;

export function staticDocument(contentType: string, body: Uint8Array, securityPolicy: string): StaticDocument {
  const hash = createHash('sha256').update(body).digest('hex');
  return { contentType, body, securityPolicy, etag: `"${hash.slice(0, 32)}"` };
}

/**
 * Inside no cork.
 *
 * @param send the body, once status and headers are written.
 * @returns the status it was answered with: 200, or 304 to a reader who has it already.
 */
export function sendDocument(
  response: HttpResponse,
  head: RequestHead,
  document: StaticDocument,
  send: (body: Uint8Array) => void,
): 200 | 304 {
  const isKnown = head.headers['if-none-match'].includes(document.etag);
  response.cork(() => {
    response.writeStatus(isKnown ? '304 Not Modified' : '200 OK');
    for (const [name, value] of HEADERS) response.writeHeader(name, value);
    response.writeHeader('Content-Type', document.contentType);
    response.writeHeader('Content-Security-Policy', document.securityPolicy);
    response.writeHeader('ETag', document.etag);
    if (isKnown) response.endWithoutBody();
    else send(document.body);
  });
  return isKnown ? 304 : 200;
}
