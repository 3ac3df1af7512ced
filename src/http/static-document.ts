/**
 * Documents: bytes that are constant while the listener is open, such as the API documents and their page.
 *
 * A slow reader gets a document as its socket drains, within a time limit (unread-replies.ts): nothing is buffered for
 * it, for any number of readers.
 */
import { createHash } from 'node:crypto';
import type { ReplyTarget } from './passed-requests.ts';
import type { RequestHead } from './request-head.ts';

export interface StaticDocument {
  readonly contentType: string;
  /** Quoted, as in the header. */
  readonly etag: string;
  /** Content-Security-Policy. */
  readonly securityPolicy: string;
  readonly body: Uint8Array;
}

/** Browsers revalidate before each use and do not guess the content type. */
const HEADERS = [
  ['Cache-Control', 'no-cache'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
] as const;

export function staticDocument(contentType: string, body: Uint8Array, securityPolicy: string): StaticDocument {
  const hash = createHash('sha256').update(body).digest('hex');
  return { contentType, body, securityPolicy, etag: `"${hash.slice(0, 32)}"` };
}

interface DocumentReply {
  readonly document: StaticDocument;
  /** Headers beside those of every document. */
  readonly extra: readonly (readonly [name: string, value: string])[];
  /** Writes the body after status and headers. */
  readonly send: (body: Uint8Array) => void;
}

/**
 * Call outside a cork.
 *
 * @returns the status of the reply: 200, or 304 for a client that has the document already.
 */
export function sendDocument(
  response: ReplyTarget,
  head: RequestHead,
  { document, extra, send }: DocumentReply,
): 200 | 304 {
  const isKnown = head.headers['if-none-match'].includes(document.etag);
  const { securityPolicy } = document;
  response.cork(() => {
    response.writeStatus(isKnown ? '304 Not Modified' : '200 OK');
    for (const [name, value] of HEADERS) response.writeHeader(name, value);
    for (const [name, value] of extra) response.writeHeader(name, value);
    response.writeHeader('Content-Type', document.contentType);
    response.writeHeader('Content-Security-Policy', securityPolicy);
    response.writeHeader('ETag', document.etag);
    if (isKnown) response.endWithoutBody();
    else send(document.body);
  });
  return isKnown ? 304 : 200;
}
