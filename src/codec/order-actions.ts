/**
 * The requests on orders that are hot: create, replace, cancel (wire.md 7.4 to 7.6, wire-additions.md 3) and amend
 * (wire-additions.md 4.1). What is read and written is generated from their shapes; order-rules.ts has the rules.
 *
 *   JSON   ─▶ readCreateMembers, …            ─┐
 *                                              ├─▶ checkedCreate, …: rules, the signed bytes ─▶ CreateRequest, …
 *   table  ─▶ createAt, … (binary-frame.ts)   ─┘
 *
 * Two kinds of rejection. An invalid shape is INVALID_REQUEST and yields no request. An invalid figure or id is a
 * domain error that is reported after session, rate and signer were checked (AMB-91): the request then carries it as
 * `fault` and has no text, because it must not be verified.
 *
 * The text is rebuilt from the typed values in declaration order, every string as it was received, an unset member as null; the
 * order of members and the white space of the body are irrelevant (AMB-02). `signer` of a replace is not signed (AMB-22). Its
 * market is `asset_id` of the wrapper, not signed, or `base_asset` of complete terms, signed.
 *
 * An amend has no signature: the session alone authorizes it, so it may only reduce, which its market judges. To order entry
 * it is a signed request without signatures, so that it is processed in its turn among the signed ones of its connection.
 */
import { QUOTE_TEXT_BYTES_MAX } from '../core/limits.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { type Draft, decodeText } from './decode-text.ts';
import {
  type AmendRequest,
  type CancelRequest,
  type CreateRequest,
  type QuoteSetRequest,
  type ReplaceRequest,
  readAmendMembers,
  readCancelMembers,
  readCreateMembers,
  readQuoteSetMembers,
  readReplaceMembers,
  readSignedOrder,
  readSignedQuoteSet,
  type SignedOrder,
  type SignedQuoteSet,
  writeSignedCancel,
  writeSignedOrder,
  writeSignedQuoteSet,
  writeSignedReplace,
} from './generated/order-json.ts';
import type { JsonCursor } from './json-cursor.ts';
import { amendFault, cancelFault, groupFault, orderFault, quoteSetFault, replaceFault } from './order-rules.ts';
import { pricesFault } from './quote-entries.ts';
import type { Signatures } from './signatures.ts';
import { textBytes } from './text-writer.ts';

export type {
  AmendRequest,
  AmendTerms,
  CancelRequest,
  CreateRequest,
  QuoteSetRequest,
  ReplaceRequest,
  SignedCancel,
  SignedOrder,
  SignedQuoteSet,
  SignedReplace,
} from './generated/order-json.ts';

/** The part of a request that validation uses. */
export interface SignedRequest extends Signatures {
  readonly postSignNs: TimestampNs;
  /** A domain error, or null. To be reported after the preceding checks (AMB-91). */
  readonly fault: Reject | null;
  /** The signed bytes; empty when there is a fault. */
  readonly text: Uint8Array;
}

/** Decodes the body in bytes[start … end). */
export function decodeCreate(bytes: Uint8Array, start: number, end: number): Outcome<CreateRequest> {
  return decodeText(bytes, start, end, readCreate);
}

/** As `decodeCreate`. */
export function decodeReplace(bytes: Uint8Array, start: number, end: number): Outcome<ReplaceRequest> {
  return decodeText(bytes, start, end, readReplace);
}

/** As `decodeCreate`. */
export function decodeCancel(bytes: Uint8Array, start: number, end: number): Outcome<CancelRequest> {
  return decodeText(bytes, start, end, readCancel);
}

/** As `decodeCreate`. */
export function decodeAmend(bytes: Uint8Array, start: number, end: number): Outcome<AmendRequest> {
  return decodeText(bytes, start, end, readAmend);
}

/** As `decodeCreate`. */
export function decodeQuoteSet(bytes: Uint8Array, start: number, end: number): Outcome<QuoteSetRequest> {
  return decodeText(bytes, start, end, readQuoteSet);
}

/** Reads the body at the cursor. @returns null exactly when the cursor has failed. */
export function readCreate(cursor: JsonCursor): CreateRequest | null {
  const request = readCreateMembers(cursor);
  return cursor.hasFailed ? null : checkedCreate(request);
}

/** As `readCreate`. */
export function readReplace(cursor: JsonCursor): ReplaceRequest | null {
  const request = readReplaceMembers(cursor);
  return cursor.hasFailed ? null : checkedReplace(request);
}

/** As `readCreate`. */
export function readCancel(cursor: JsonCursor): CancelRequest | null {
  const request = readCancelMembers(cursor);
  return cursor.hasFailed ? null : checkedCancel(request);
}

/** As `readCreate`. */
export function readAmend(cursor: JsonCursor): AmendRequest | null {
  const request = readAmendMembers(cursor);
  return cursor.hasFailed ? null : checkedAmend(request);
}

/** As `readCreate`. */
export function readQuoteSet(cursor: JsonCursor): QuoteSetRequest | null {
  const request = readQuoteSetMembers(cursor);
  return cursor.hasFailed ? null : checkedQuoteSet(request);
}

/** Completes a request of which only the members were read. @param early a fault found before; null for none. */
export function checkedCreate(request: Draft<CreateRequest>, early: Reject | null = null): CreateRequest {
  request.fault = early ?? orderFault(request.order) ?? groupFault(request.protectionGroup);
  if (request.fault === null) request.text = textBytes(request.order, writeSignedOrder);
  return request;
}

/** As `checkedCreate`. */
export function checkedReplace(request: Draft<ReplaceRequest>, early: Reject | null = null): ReplaceRequest {
  request.asset = request.request.baseAsset ?? request.asset;
  request.fault = early ?? replaceFault(request.request);
  if (request.fault === null) request.text = textBytes(request.request, writeSignedReplace);
  return request;
}

/** As `checkedCreate`. */
export function checkedCancel(request: Draft<CancelRequest>, early: Reject | null = null): CancelRequest {
  request.fault = early ?? cancelFault(request.cancel);
  if (request.fault === null) request.text = textBytes(request.cancel, writeSignedCancel);
  return request;
}

/** As `checkedCreate`. */
export function checkedAmend(request: Draft<AmendRequest>, early: Reject | null = null): AmendRequest {
  request.postSignNs = request.amend.timestampNs;
  request.fault = early ?? amendFault(request.amend);
  return request;
}

/** As `checkedCreate`. */
export function checkedQuoteSet(request: Draft<QuoteSetRequest>, early: Reject | null = null): QuoteSetRequest {
  request.fault = early ?? quoteSetFault(request.quotes);
  if (request.fault === null) request.text = textBytes(request.quotes, writeSignedQuoteSet, QUOTE_TEXT_BYTES_MAX);
  return request;
}

/**
 * Reads an order back from what was signed.
 *
 * @returns null unless it is, byte for byte, the canonical text of an order without fault.
 */
export function orderOfText(bytes: Uint8Array): SignedOrder | null {
  const read = decodeText(bytes, 0, bytes.length, (cursor) => {
    const order = readSignedOrder(cursor);
    return cursor.hasFailed ? null : order;
  });
  if (!read.ok || orderFault(read.value) !== null) return null;
  // mutant: canonical-signed-text
  return Buffer.compare(textBytes(read.value, writeSignedOrder), bytes) === 0 ? read.value : null;
}

/**
 * The quote set that a text is, for clearing, which compares it with what it books (QTE-07).
 *
 * @returns null unless it is, byte for byte, the canonical text of a set without fault.
 */
export function quoteSetOfText(bytes: Uint8Array): SignedQuoteSet | null {
  const read = decodeText(bytes, 0, bytes.length, (cursor) => {
    const quotes = readSignedQuoteSet(cursor);
    return cursor.hasFailed ? null : quotes;
  });
  if (!read.ok || quoteSetFault(read.value) !== null || pricesFault(read.value) !== null) return null;
  // mutant: canonical-quote-text
  return Buffer.compare(textBytes(read.value, writeSignedQuoteSet, QUOTE_TEXT_BYTES_MAX), bytes) === 0
    ? read.value
    : null;
}
