/**
 * `/control` in FlatBuffers (schemas/control.fbs): signed actions as binary frames, and the node's frames as replies.
 *
 *   SignedAction, its body as JSON ─▶ the reader of the node ─▶ the fields of a table ─▶ a frame
 *
 * An action is signed once and can be sent in any form. Only what a table can hold can be sent: a signer in its normal
 * form, as the SDK signs it.
 */
import { Builder } from 'flatbuffers';
import type { FieldLayout } from '../codec/flat-layout.ts';
import { FlatReader } from '../codec/flat-reader.ts';
import {
  Action,
  Answer,
  BatchCreate,
  BatchReplace,
  Body,
  CancelAll,
  CancelAllAfter,
  CancelAllAfterAnswer,
  CancelBatch,
  CancelledOrder,
  CancelsAnswer,
  Detail,
  Failure,
  Frame,
  QuoteSetAnswer,
  RefusedQuote,
  Side,
  Status,
  Timing,
} from '../codec/generated/control-tables.ts';
import { decodeAmend, decodeCancel, decodeCreate, decodeQuoteSet, decodeReplace } from '../codec/order-actions.ts';
import type { UnsignedRequest } from '../codec/unsigned-cancels.ts';
import type { AssetId } from '../core/ids.ts';
import { SIDE } from '../core/order-terms.ts';
import type { Outcome } from '../core/outcome.ts';
import { pascalCase, rejectName } from '../core/reject.ts';
import { invalidArgument, invalidResponse, RingbookError } from './errors.ts';
import { amendTable, cancelTable, createTable, quoteSetTable, replaceTable } from './generated/order-table-writers.ts';
import type { ActionTiming, OperationResponse, QuoteSetResponse } from './replies.ts';
import type { OrderAction, SignedAction, SignedQuotes } from './signed-actions.ts';
import { listOf, type TableMember, tableOf } from './table-writer.ts';

/** The subprotocol of these frames. */
export const BINARY_PROTOCOL = 'ringbook.fbs.v1';

/** What a frame of the node means for its receiver. */
export type BinaryReply =
  | {
      readonly kind: 'answer';
      readonly requestId: bigint;
      readonly action: OrderAction;
      readonly assetId: string;
      readonly response: OperationResponse;
    }
  | {
      readonly kind: 'quotes';
      readonly requestId: bigint;
      readonly assetId: AssetId;
      readonly response: QuoteSetResponse;
    }
  /** An error of the request, or with the request id 0 of the connection. */
  | { readonly kind: 'error'; readonly requestId: bigint; readonly error: RingbookError }
  | { readonly kind: 'shutdown'; readonly timestampNs: bigint }
  /** Cancels are on their way. */
  | { readonly kind: 'accepted'; readonly requestId: bigint; readonly timing: ActionTiming | null }
  /** The dead-man timer as it runs now; null: none does. */
  | {
      readonly kind: 'timer';
      readonly requestId: bigint;
      readonly timeoutMs: number;
      readonly firesAtNs: bigint | null;
      readonly timing: ActionTiming | null;
    }
  /** A batch was read: nothing to resolve. */
  | { readonly kind: 'notice' };

const ACTION_NAME: Readonly<Record<number, OrderAction>> = {
  [Action.Create]: 'Create',
  [Action.Replace]: 'Replace',
  [Action.Amend]: 'Amend',
  [Action.Cancel]: 'Cancel',
};
const FRAME_BYTES_START = 1_024;
const TEXT_LENGTH_MAX = 4_096;

// ---- requests

/** One action as a frame. @throws RingbookError INVALID_ARGUMENT when its body is none that a table can hold. */
export function binaryRequest(requestId: bigint, { action, body }: SignedAction): Uint8Array {
  const builder = new Builder(FRAME_BYTES_START);
  switch (action) {
    case 'Create':
      return frameOf(builder, requestId, Body.Create, createTable(builder, decoded(decodeCreate, body)));
    case 'Replace':
      return frameOf(builder, requestId, Body.Replace, replaceTable(builder, decoded(decodeReplace, body)));
    case 'Cancel':
      return frameOf(builder, requestId, Body.Cancel, cancelTable(builder, decoded(decodeCancel, body)));
    case 'Amend':
      return frameOf(builder, requestId, Body.Amend, amendTable(builder, decoded(decodeAmend, body)));
  }
}

/** A quote set as a frame; as `binaryRequest`. */
export function binaryQuotes(requestId: bigint, { body }: SignedQuotes): Uint8Array {
  const builder = new Builder(FRAME_BYTES_START);
  return frameOf(builder, requestId, Body.QuoteSet, quoteSetTable(builder, decoded(decodeQuoteSet, body)));
}

/** A batch as a frame; as `binaryRequest`. */
export function binaryBatch(
  requestId: bigint,
  kind: 'Create' | 'Replace',
  actions: readonly SignedAction[],
): Uint8Array {
  const builder = new Builder(FRAME_BYTES_START);
  if (kind === 'Create') {
    const items = actions.map(({ body }) => createTable(builder, decoded(decodeCreate, body)));
    const batch = tableOf(builder, BatchCreate.table, [[BatchCreate.orders, listOf(builder, items)]]);
    return frameOf(builder, requestId, Body.BatchCreate, batch);
  }
  const items = actions.map(({ body }) => replaceTable(builder, decoded(decodeReplace, body)));
  const batch = tableOf(builder, BatchReplace.table, [[BatchReplace.requests, listOf(builder, items)]]);
  return frameOf(builder, requestId, Body.BatchReplace, batch);
}

/** An unsigned request as a frame. @throws RingbookError INVALID_ARGUMENT for names that no table can hold. */
export function unsignedRequest(requestId: bigint, request: UnsignedRequest): Uint8Array {
  const builder = new Builder(FRAME_BYTES_START);
  const text = (field: FieldLayout, value: string | null | undefined): TableMember[] =>
    value == null ? [] : [[field, builder.createString(value)]];
  if (request.kind === 'cancel-all') {
    const { assetId, side, protectionGroup, quoteSetId, beforeNs } = request.scope;
    const members = [
      ...text(CancelAll.assetId, assetId),
      ...text(CancelAll.protectionGroup, protectionGroup),
      ...text(CancelAll.quoteSetId, quoteSetId),
    ];
    if (side !== undefined) members.push([CancelAll.side, side === SIDE.buy ? Side.Buy : Side.Sell]);
    if (beforeNs !== null) members.push([CancelAll.maxTs, beforeNs]);
    return frameOf(builder, requestId, Body.CancelAll, tableOf(builder, CancelAll.table, members));
  }
  if (request.kind === 'cancel-all-after') {
    const timer = tableOf(builder, CancelAllAfter.table, [[CancelAllAfter.timeoutMs, request.timeoutMs]]);
    return frameOf(builder, requestId, Body.CancelAllAfter, timer);
  }
  const { orderIds, assetId } = request.batch;
  const names = orderIds.map((id) => tableOf(builder, CancelledOrder.table, text(CancelledOrder.orderId, id)));
  const members: TableMember[] = [
    [CancelBatch.orderIds, listOf(builder, names)],
    ...text(CancelBatch.assetId, assetId),
  ];
  return frameOf(builder, requestId, Body.CancelBatch, tableOf(builder, CancelBatch.table, members));
}

function decoded<T>(decode: (bytes: Uint8Array, start: number, end: number) => Outcome<T>, body: string): T {
  const bytes = new TextEncoder().encode(body);
  const outcome = decode(bytes, 0, bytes.length);
  if (!outcome.ok) throw invalidArgument(`the action cannot be sent: ${outcome.reject.message}`);
  return outcome.value;
}

function frameOf(builder: Builder, requestId: bigint, type: number, body: number): Uint8Array {
  const frame = tableOf(builder, Frame.table, [
    [Frame.requestId, requestId],
    [Frame.bodyType, type],
    [Frame.body, body],
  ]);
  builder.finish(frame);
  return builder.asUint8Array();
}

// ---- replies

const reader = new FlatReader();

/** Reads a frame of the node. @throws RingbookError INVALID_RESPONSE. */
export function readBinaryReply(bytes: Uint8Array): BinaryReply {
  reader.load(bytes, 0, bytes.length);
  const frame = reader.root(Frame.table);
  if (frame === 0) throw invalidResponse('control frame', 'it is no sound FlatBuffers message');
  const requestId = reader.ulong(frame, Frame.requestId);
  const at = reader.referred(frame, Frame.body);
  switch (reader.unsigned(frame, Frame.bodyType)) {
    case Body.Answer:
      return answerAt(requestId, at);
    case Body.QuoteSetAnswer:
      return quotesAt(requestId, at);
    case Body.CancelsAnswer:
      return { kind: 'accepted', requestId, timing: timingAt(at, CancelsAnswer.timing) };
    case Body.CancelAllAfterAnswer:
      return {
        kind: 'timer',
        requestId,
        timeoutMs: reader.unsigned(at, CancelAllAfterAnswer.timeoutMs),
        firesAtNs: reader.ulong(at, CancelAllAfterAnswer.firesAtNs) || null,
        timing: timingAt(at, CancelAllAfterAnswer.timing),
      };
    case Body.Failure:
      return { kind: 'error', requestId, error: errorAt(at) };
    case Body.Resync:
      return { kind: 'error', requestId: 0n, error: resyncRequired() };
    case Body.Shutdown:
      return { kind: 'shutdown', timestampNs: reader.ulong(frame, Frame.timestampNs) };
    default:
      return { kind: 'notice' };
  }
}

function answerAt(requestId: bigint, at: number): BinaryReply {
  const action = ACTION_NAME[reader.unsigned(at, Answer.action)];
  const status = reader.unsigned(at, Answer.status);
  if (action === undefined || (status !== Status.Received && status !== Status.Rejected)) {
    throw invalidResponse('answer', 'an unknown action or status');
  }
  const timing = timingAt(at, Answer.timing);
  const common = {
    orderId: textAt(at, Answer.orderId) ?? '',
    processedAtNs: reader.ulong(at, Answer.processedAtNs),
    ...(timing === null ? {} : { timing }),
  };
  const assetId = textAt(at, Answer.assetId) ?? '';
  if (status === Status.Received) {
    const response: OperationResponse = { ...common, status: 'Received', reason: null };
    return { kind: 'answer', requestId, action, assetId, response };
  }
  const code = rejectName(reader.unsigned(at, Answer.code));
  const field = textAt(at, Answer.field);
  const message = textAt(at, Answer.message) ?? '';
  const detail = { code: code ?? 'UNKNOWN', field, message };
  const reason = code === undefined ? 'Unknown' : pascalCase(code);
  const response: OperationResponse = { ...common, status: 'Rejected', reason, detail };
  return { kind: 'answer', requestId, action, assetId, response };
}

function quotesAt(requestId: bigint, at: number): BinaryReply {
  const status = reader.unsigned(at, QuoteSetAnswer.status);
  const isReceived = status === Status.Received;
  const timing = timingAt(at, QuoteSetAnswer.timing);
  const code = isReceived ? null : (rejectName(reader.unsigned(at, QuoteSetAnswer.code)) ?? 'UNKNOWN');
  const message = textAt(at, QuoteSetAnswer.message) ?? '';
  const refused: { side: 'Buy' | 'Sell'; price: number; reason: string }[] = [];
  const count = Math.min(reader.count(at, QuoteSetAnswer.refused), QuoteSetAnswer.refused.most);
  for (let index = 0; index < count; index += 1) {
    const item = reader.item(at, QuoteSetAnswer.refused, index);
    const why = rejectName(reader.unsigned(item, RefusedQuote.code));
    refused.push({
      side: reader.unsigned(item, RefusedQuote.side) === Side.Buy ? 'Buy' : 'Sell',
      price: reader.safe(item, RefusedQuote.price, 0),
      reason: why === undefined ? 'Unknown' : why === 'WOULD_CROSS' ? 'PostOnlyWouldCross' : pascalCase(why),
    });
  }
  const response: QuoteSetResponse = {
    setId: textAt(at, QuoteSetAnswer.setId) ?? '',
    revisionNs: reader.ulong(at, QuoteSetAnswer.revision) || null,
    status: isReceived ? 'Received' : 'Rejected',
    reason: code === null ? null : code === 'UNKNOWN' ? 'Unknown' : pascalCase(code),
    created: reader.unsigned(at, QuoteSetAnswer.created),
    changed: reader.unsigned(at, QuoteSetAnswer.changed),
    kept: reader.unsigned(at, QuoteSetAnswer.kept),
    cancelled: reader.unsigned(at, QuoteSetAnswer.cancelled),
    refused,
    superseded: reader.unsigned(at, QuoteSetAnswer.superseded) === 1,
    processedAtNs: reader.ulong(at, QuoteSetAnswer.processedAtNs),
    ...(code === null ? {} : { detail: { code, field: textAt(at, QuoteSetAnswer.field), message } }),
    ...(timing === null ? {} : { timing }),
  };
  return { kind: 'quotes', requestId, assetId: (textAt(at, QuoteSetAnswer.assetId) ?? '') as AssetId, response };
}

function timingAt(answer: number, field: FieldLayout = Answer.timing): ActionTiming | null {
  const at = reader.placeOf(answer, field);
  if (at === 0) return null;
  const hop = (offset: number): bigint | null => reader.structUlong(at, offset) || null;
  return {
    receivedNs: reader.structUlong(at, Timing.receivedNs),
    verifiedNs: hop(Timing.verifiedNs),
    sentNs: hop(Timing.sentNs),
    matchedNs: hop(Timing.matchedNs),
    answeredNs: reader.structUlong(at, Timing.answeredNs),
  };
}

function errorAt(at: number): RingbookError {
  const field = textAt(at, Failure.field);
  const details: [string, string][] = field === null ? [] : [['field', field]];
  const count = Math.min(reader.count(at, Failure.details), Failure.details.most);
  for (let index = 0; index < count; index += 1) {
    const item = reader.item(at, Failure.details, index);
    details.push([textAt(item, Detail.name) ?? '', textAt(item, Detail.value) ?? '']);
  }
  return new RingbookError({
    code: rejectName(reader.unsigned(at, Failure.code)) ?? 'UNKNOWN',
    message: textAt(at, Failure.message) ?? '',
    retryable: reader.unsigned(at, Failure.retryable) === 1,
    details: details.length === 0 ? null : Object.fromEntries(details),
  });
}

/** As the JSON frame of a reader that fell behind (stream-frames.ts). */
function resyncRequired(): RingbookError {
  return new RingbookError({ code: 'RESYNC_REQUIRED', message: 'the stream fell behind', retryable: true });
}

function textAt(at: number, field: FieldLayout): string | null {
  return reader.text(at, field, TEXT_LENGTH_MAX);
}
