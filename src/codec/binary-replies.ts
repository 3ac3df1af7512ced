/**
 * What the node sends on `/control` under the subprotocol `ringbook.fbs.v1`: the frames of schemas/control.fbs, with the
 * content of the JSON replies (operation-replies.ts, stream-frames.ts).
 */
import { must } from '../core/assert.ts';
import { HOP } from '../core/hops.ts';
import { SIDE } from '../core/order-terms.ts';
import { isRetryable, REJECT_CODE, type Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { ControlAction } from './control-frame.ts';
import type { FieldLayout, TableLayout } from './flat-layout.ts';
import { FlatWriter } from './flat-writer.ts';
import {
  Action,
  Answer,
  Body,
  CancelAllAfterAnswer,
  CancelsAnswer,
  Detail,
  Failure,
  Frame,
  QuoteSetAnswer,
  RefusedQuote,
  Resync,
  Shutdown,
  Side,
  Status,
  Submitted,
} from './generated/control-tables.ts';
import { NOT_APPLIED, type OperationView, type UnsignedView } from './operation-replies.ts';

const ACTION: Readonly<Record<Exclude<ControlAction, 'quotes'>, number>> = {
  create: Action.Create,
  replace: Action.Replace,
  cancel: Action.Cancel,
  amend: Action.Amend,
};

/** The members of `Timing`, in their order. */
const TIMING = [HOP.read, HOP.verified, HOP.sent, HOP.taken, HOP.answered] as const;

/** One message is written at a time, so one writer serves the thread. */
const writer = new FlatWriter();

/** The answer to one action. @param assetText identical to that of the request. */
export function binaryResponse(
  requestId: bigint,
  action: ControlAction,
  view: OperationView,
  assetText: string,
): Uint8Array {
  if (action === 'quotes') return quoteSetAnswer(requestId, view, assetText);
  const { orderId, reject, processedNs } = view;
  const at = begin(requestId, processedNs, Body.Answer, Answer.table);
  writer.unsigned(at, Answer.action, ACTION[action]);
  writer.unsigned(at, Answer.status, reject === null ? Status.Received : Status.Rejected);
  writer.ulong(at, Answer.processedAtNs, processedNs);
  writer.text(at, Answer.orderId, orderId);
  writer.text(at, Answer.assetId, assetText);
  if (reject !== null) writeReject(at, Answer, reject);
  writeTiming(at, Answer.timing, view);
  return writer.finish();
}

function quoteSetAnswer(requestId: bigint, view: OperationView, assetText: string): Uint8Array {
  const { orderId, revisionNs = null, reject, processedNs, quotes = NOT_APPLIED } = view;
  const at = begin(requestId, processedNs, Body.QuoteSetAnswer, QuoteSetAnswer.table);
  writer.unsigned(at, QuoteSetAnswer.status, reject === null ? Status.Received : Status.Rejected);
  writer.ulong(at, QuoteSetAnswer.processedAtNs, processedNs);
  writer.text(at, QuoteSetAnswer.setId, orderId);
  writer.text(at, QuoteSetAnswer.assetId, assetText);
  if (revisionNs !== null) writer.ulong(at, QuoteSetAnswer.revision, revisionNs);
  const { created, changed, kept, cancelled, refused, isSuperseded } = quotes;
  writer.unsigned(at, QuoteSetAnswer.created, created);
  writer.unsigned(at, QuoteSetAnswer.changed, changed);
  writer.unsigned(at, QuoteSetAnswer.kept, kept);
  writer.unsigned(at, QuoteSetAnswer.cancelled, cancelled);
  writer.unsigned(at, QuoteSetAnswer.superseded, isSuperseded ? 1 : 0);
  if (refused.length > 0) {
    const list = writer.tables(at, QuoteSetAnswer.refused, refused.length);
    for (const [index, { side, price, code }] of refused.entries()) {
      const item = writer.item(list, index, RefusedQuote.table);
      writer.unsigned(item, RefusedQuote.side, side === SIDE.buy ? Side.Buy : Side.Sell);
      writer.ulong(item, RefusedQuote.price, BigInt(price));
      writer.unsigned(item, RefusedQuote.code, must(REJECT_CODE[code], 'a code has its number'));
    }
  }
  if (reject !== null) writeReject(at, QuoteSetAnswer, reject);
  writeTiming(at, QuoteSetAnswer.timing, view);
  return writer.finish();
}

function writeTiming(at: number, field: FieldLayout, { hops = null }: Pick<OperationView, 'hops'>): void {
  if (hops?.isTimed !== true) return;
  writer.struct(
    at,
    field,
    TIMING.map((hop) => hops.timeOf(hop) ?? 0n),
  );
}

/** The answer to an unsigned request (UNS-01). */
export function binaryUnsigned(requestId: bigint, timestampNs: TimestampNs, done: UnsignedView): Uint8Array {
  if (done.kind !== 'cancel-all-after') {
    const at = begin(requestId, timestampNs, Body.CancelsAnswer, CancelsAnswer.table);
    writeTiming(at, CancelsAnswer.timing, done);
    return writer.finish();
  }
  const at = begin(requestId, timestampNs, Body.CancelAllAfterAnswer, CancelAllAfterAnswer.table);
  writer.unsigned(at, CancelAllAfterAnswer.timeoutMs, done.timeoutMs);
  if (done.firesAtNs !== null) writer.ulong(at, CancelAllAfterAnswer.firesAtNs, done.firesAtNs);
  writeTiming(at, CancelAllAfterAnswer.timing, done);
  return writer.finish();
}

/** A batch was read: an answer to each of its orders follows (CTL-06). */
export function binarySubmitted(requestId: bigint, timestampNs: TimestampNs): Uint8Array {
  begin(requestId, timestampNs, Body.Submitted, Submitted.table);
  return writer.finish();
}

/** A request without answers to its orders, or, without a request id, the end of the connection. */
export function binaryFailure(requestId: bigint, timestampNs: TimestampNs, reject: Reject): Uint8Array {
  const at = begin(requestId, timestampNs, Body.Failure, Failure.table);
  writeReject(at, Failure, reject);
  const details = Object.entries(reject.details ?? {});
  if (details.length > 0) {
    const list = writer.tables(at, Failure.details, details.length);
    for (const [index, [name, value]] of details.entries()) {
      const item = writer.item(list, index, Detail.table);
      writer.text(item, Detail.name, name);
      writer.text(item, Detail.value, String(value));
    }
  }
  return writer.finish();
}

/** The service stops soon. */
export function binaryShutdown(timestampNs: TimestampNs): Uint8Array {
  begin(0n, timestampNs, Body.Shutdown, Shutdown.table);
  return writer.finish();
}

/** The last frame of a socket that does not read fast enough (WS-14). */
export function binaryResync(timestampNs: TimestampNs): Uint8Array {
  const at = begin(0n, timestampNs, Body.Resync, Resync.table);
  writer.text(at, Resync.message, 'the client did not read fast enough');
  return writer.finish();
}

/** @returns the position of the frame's body. */
function begin(requestId: bigint, timestampNs: TimestampNs, type: number, layout: TableLayout): number {
  const frame = writer.begin(Frame.table);
  if (requestId !== 0n) writer.ulong(frame, Frame.requestId, requestId);
  writer.ulong(frame, Frame.timestampNs, timestampNs);
  writer.unsigned(frame, Frame.bodyType, type);
  return writer.table(frame, Frame.body, layout);
}

interface RejectFields {
  readonly code: FieldLayout;
  readonly retryable: FieldLayout;
  readonly message: FieldLayout;
  readonly field: FieldLayout;
}

function writeReject(at: number, fields: RejectFields, reject: Reject): void {
  writer.unsigned(at, fields.code, must(REJECT_CODE[reject.code], 'a code has its number'));
  writer.unsigned(at, fields.retryable, isRetryable(reject.code) ? 1 : 0);
  writer.text(at, fields.message, reject.message);
  if (reject.field !== undefined) writer.text(at, fields.field, reject.field);
}
