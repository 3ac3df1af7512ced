/**
 * Replies to single actions and logins: the operation response, its `/control` frames, nonce and token (wire.md 3, 7.4,
 * 10).
 */
import { SIDE_WORD, type Side } from '../core/order-terms.ts';
import { pascalCase, type Reject, type RejectName } from '../core/reject.ts';
import type { RawPrice, TimestampNs } from '../core/units.ts';
import type { ControlAction } from './control-frame.ts';
import { errorObject } from './error-envelope.ts';
import type { ActionHops } from './hop-times.ts';
import { quote } from './json-writer.ts';
import { streamEnvelope } from './stream-frames.ts';

/** The operation response of create, replace, cancel and amend. */
export interface OperationView {
  /** As received. */
  readonly orderId: string;
  /** Null for `Received`; a reject is written as `Rejected` with its code in PascalCase (AMB-123). */
  readonly reject: Reject | null;
  readonly processedNs: TimestampNs;
  /** Hop times if the client requested them, with the time of the reply. */
  readonly hops?: ActionHops | null;
  /** Of a quote set, whose id is `orderId`: its revision, null where it was not read. */
  readonly revisionNs?: TimestampNs | null;
  /** Of a quote set: what its market made of it; nothing unless given. */
  readonly quotes?: QuoteOutcome | undefined;
}

/** Entries of a quote set by what became of them (QTE-02 to QTE-05). */
export interface QuoteOutcome {
  readonly created: number;
  readonly changed: number;
  readonly kept: number;
  readonly cancelled: number;
  /** Entries that were left out. */
  readonly refused: readonly { readonly side: Side; readonly price: RawPrice; readonly code: RejectName }[];
  /** A newer set of this id overtook it (QTE-09). */
  readonly isSuperseded: boolean;
}

/** Of a set that changed nothing. */
export const NOT_APPLIED: QuoteOutcome = {
  created: 0,
  changed: 0,
  kept: 0,
  cancelled: 0,
  refused: [],
  isSuperseded: false,
};

/** The socket's version and the request's id: the address of a control frame. */
interface ControlAddress {
  readonly version: 0 | 1;
  readonly requestId: string | null;
}

const RESPONSE_TAG: Readonly<Record<ControlAction, string>> = {
  create: 'CreateOrderResponse',
  replace: 'ReplaceOrderResponse',
  cancel: 'CancelOrderResponse',
  amend: 'AmendOrderResponse',
  quotes: 'QuoteSetResponse',
};

export function operationResponse(view: OperationView): string {
  return `{${responseMembers(view)}}`;
}

function responseMembers(view: OperationView): string {
  return `"order_id":${quote(view.orderId)},${verdict(view.reject)},"processed_at_ns":${view.processedNs}${timing(view)}`;
}

function timing({ hops = null }: Pick<OperationView, 'hops'>): string {
  return hops?.isTimed === true ? `,"timing":${hops.timing()}` : '';
}

/** The reply to a quote set. */
export function quoteSetResponse(view: OperationView): string {
  return `{${quoteSetMembers(view)}}`;
}

function quoteSetMembers(view: OperationView): string {
  const { orderId, revisionNs = null, reject, processedNs, quotes = NOT_APPLIED } = view;
  const { created, changed, kept, cancelled, refused, isSuperseded } = quotes;
  const left = refused.map(
    ({ side, price, code }) =>
      `{"side":"${SIDE_WORD[side]}","price":${price},"reason":"${code === 'WOULD_CROSS' ? 'PostOnlyWouldCross' : pascalCase(code)}"}`,
  );
  return (
    `"set_id":${quote(orderId)},"revision":${revisionNs},${verdict(reject)},"created":${created},"changed":${changed},` +
    `"kept":${kept},"cancelled":${cancelled},"refused":[${left.join(',')}],"superseded":${isSuperseded},` +
    `"processed_at_ns":${processedNs}${timing(view)}`
  );
}

/** The content of a REST error envelope as an additional member of a `/control` rejection; '' for `Received`. */
function detailMember(reject: Reject | null): string {
  if (reject === null) return '';
  const field = reject.field === undefined ? 'null' : quote(reject.field);
  const revision = reject.code === 'ORDER_REVISION_MISMATCH' ? revisionMember(reject) : '';
  return `,"detail":{"code":"${reject.code}","field":${field},"message":${quote(reject.message)}${revision}}`;
}

/** What the next amend has to expect. */
function revisionMember({ details }: Reject): string {
  return `,"authorization_revision":${details?.['authorization_revision'] ?? null}`;
}

function verdict(reject: Reject | null): string {
  return reject === null
    ? '"status":"Received","reason":null'
    : `"status":"Rejected","reason":"${pascalCase(reject.code)}"`;
}

/** The reply to a batch over REST (wire.md 7.7), in order of submission. */
export function batchReply(results: readonly Pick<OperationView, 'orderId' | 'reject' | 'hops'>[]): string {
  const items = results.map((view) => `{"order_id":${quote(view.orderId)},${verdict(view.reject)}${timing(view)}}`);
  return `{"results":[${items.join(',')}]}`;
}

/** A correlated reply. @param assetText identical to that of the request (wire.md 10.2). */
export function controlResponse(
  address: ControlAddress,
  action: ControlAction,
  view: OperationView,
  assetText: string,
): string {
  const members = action === 'quotes' ? quoteSetMembers(view) : responseMembers(view);
  const response = `{${members}${detailMember(view.reject)}}`;
  const frame = `{"${RESPONSE_TAG[action]}":{"response":${response},"asset_id":${quote(assetText)}}}`;
  return address.version === 0 ? frame : controlEnvelope(address, view.processedNs, frame, null);
}

/** What became of an unsigned request; its timer as it runs now. */
export type UnsignedView = Pick<OperationView, 'hops'> &
  (
    | { readonly kind: 'cancel-all' | 'cancel-batch' }
    | { readonly kind: 'cancel-all-after'; readonly timeoutMs: number; readonly firesAtNs: TimestampNs | null }
  );

const UNSIGNED_TAG: Readonly<Record<UnsignedView['kind'], string>> = {
  'cancel-all': 'CancelAllResponse',
  'cancel-batch': 'CancelBatchResponse',
  'cancel-all-after': 'CancelAllAfterResponse',
};

/** The members of the REST reply to an unsigned request, and its times. */
function unsignedMembers(done: UnsignedView): string {
  const members =
    done.kind === 'cancel-all-after'
      ? `"timeout_ms":${done.timeoutMs},"fires_at_ns":${done.firesAtNs}`
      : '"status":"accepted"';
  return `${members}${timing(done)}`;
}

/** The reply over REST (wire.md 7.8). */
export function unsignedReply(done: UnsignedView): string {
  return `{${unsignedMembers(done)}}`;
}

/** The same on `/control` (UNS-01). */
export function controlUnsigned(address: ControlAddress, timestampNs: TimestampNs, done: UnsignedView): string {
  const frame = `{"${UNSIGNED_TAG[done.kind]}":{${unsignedMembers(done)}}}`;
  return address.version === 0 ? frame : controlEnvelope(address, timestampNs, frame, null);
}

/** A batch was accepted for processing: a reply for each of its orders follows (wire.md 10.2, CTL-06). */
export function controlSubmitted(address: ControlAddress, timestampNs: TimestampNs): string {
  const frame = '{"request":{"status":"submitted"}}';
  return address.version === 0 ? frame : controlEnvelope(address, timestampNs, frame, null);
}

/**
 * A reject as the error of a short request: names its member by the path from the tag on, in `details` and in its message,
 * and its order (wire-additions.md 2.3).
 *
 * @param path null: the field of the reject. @param orderId null where it could not be read.
 */
export function shortFault(reject: Reject, path: string | null, orderId: string | null): Reject {
  const { code, field = null, message } = reject;
  const named = path ?? field;
  return {
    code,
    message: field === null ? message : `${field}: ${message}`,
    ...(named === null ? {} : { field: named }),
    details: { ...(orderId === null ? {} : { order_id: orderId }), ...reject.details },
  };
}

/** An error without a matching pending request: `{"error":{…}}` (wire.md 10.2), or its envelope on v1. */
export function controlError(address: ControlAddress, timestampNs: TimestampNs, reject: Reject): string {
  const error = errorObject(reject);
  return address.version === 0 ? `{"error":${error}}` : controlEnvelope(address, timestampNs, null, error);
}

function controlEnvelope(
  address: ControlAddress,
  timestampNs: TimestampNs,
  data: string | null,
  error: string | null,
): string {
  const { requestId } = address;
  return streamEnvelope({ type: 'response', channel: 'control', requestId, timestampNs, data, error });
}

/** `GET /nonce/{user_id}` (wire.md 3.1). */
export function nonceReply(value: string, ceNonce: number): string {
  return `{"value":${quote(value)},"ce_nonce":${ceNonce}}`;
}

/** `POST /auth` (wire.md 3.2). */
export function authReply(token: string, expiryNs: TimestampNs): string {
  return `{"token":${quote(token)},"expiry_ns":${expiryNs}}`;
}
