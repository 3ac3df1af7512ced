/**
 * `/control` in FlatBuffers (schemas/control.fbs): signed actions as binary frames, and the node's frames as replies.
 *
 *   SignedAction, its body as JSON ─▶ the reader of the node ─▶ the fields of a table ─▶ a frame
 *
 * An action is signed once and can be sent in any form. Only what a table can hold can be sent: a signer in its normal
 * form, as the SDK signs it.
 */
import { Builder } from 'flatbuffers';
import { invalidArgument, invalidResponse, RingbookError } from '../../src/client/errors.ts';
import type { ActionTiming, OperationResponse } from '../../src/client/replies.ts';
import type { OrderAction, SignedAction } from '../../src/client/signed-actions.ts';
import { type FieldLayout, type TableLayout, VTABLE_HEAD_BYTES } from '../../src/codec/flat-layout.ts';
import { FlatReader } from '../../src/codec/flat-reader.ts';
import {
  Action,
  Amend,
  Answer,
  BatchCreate,
  BatchReplace,
  Body,
  Cancel,
  Condition,
  CoSigner,
  Create,
  Detail,
  Details,
  Failure,
  Frame,
  Limit,
  MarketBase,
  MarketQuote,
  Replace,
  Side,
  Status,
  TimeInForce,
  Timing,
  Trigger,
  TriggerForm,
} from '../../src/codec/generated/control-tables.ts';
import { type AdditionalSigner, SCHEMES, type Signatures } from '../../src/codec/signatures.ts';
import type { SpelledUser } from '../../src/codec/signed-text.ts';
import { must } from '../../src/core/assert.ts';
import { parseHex } from '../../src/core/hex.ts';
import { SIDE, TIF, type Tif } from '../../src/core/order-terms.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { pascalCase, rejectName } from '../../src/core/reject.ts';
import { type AmendRequest, decodeAmend } from './amend-request.ts';
import type { LimitDetails, OrderDetails, TriggerCondition } from './order-details.ts';
import { type CancelRequest, decodeCancel } from './signed-cancel.ts';
import { type CreateRequest, decodeCreate } from './signed-order.ts';
import { decodeReplace, type ReplaceRequest } from './signed-replace.ts';

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
  /** An error of the request, or with the request id 0 of the connection. */
  | { readonly kind: 'error'; readonly requestId: bigint; readonly error: RingbookError }
  | { readonly kind: 'shutdown'; readonly timestampNs: bigint }
  /** A batch was read: nothing to resolve. */
  | { readonly kind: 'notice' };

const TIF_VALUE: Readonly<Record<Tif, number>> = {
  [TIF.gtc]: TimeInForce.GTC,
  [TIF.gtd]: TimeInForce.GTD,
  [TIF.ioc]: TimeInForce.IOC,
  [TIF.fok]: TimeInForce.FOK,
};
const CONDITION_VALUE = { PriceAbove: Condition.PriceAbove, PriceBelow: Condition.PriceBelow } as const;
const ACTION_NAME: Readonly<Record<number, OrderAction>> = {
  [Action.Create]: 'Create',
  [Action.Replace]: 'Replace',
  [Action.Amend]: 'Amend',
  [Action.Cancel]: 'Cancel',
};
const FRAME_BYTES_START = 1_024;
const TEXT_LENGTH_MAX = 4_096;

/** A field with its value: of a scalar the value, of a reference the offset that the builder gave. */
type Entry = readonly [field: FieldLayout, value: number | bigint | boolean];
/** The offset of something that was written. */
type Offset = number;

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

function decoded<T>(decode: (bytes: Uint8Array, start: number, end: number) => Outcome<T>, body: string): T {
  const bytes = Buffer.from(body, 'utf8');
  const outcome = decode(bytes, 0, bytes.length);
  if (!outcome.ok) throw invalidArgument(`the action cannot be sent: ${outcome.reject.message}`);
  return outcome.value;
}

function frameOf(builder: Builder, requestId: bigint, type: number, body: Offset): Uint8Array {
  const frame = tableOf(builder, Frame.table, [
    [Frame.requestId, requestId],
    [Frame.bodyType, type],
    [Frame.body, body],
  ]);
  builder.finish(frame);
  return builder.asUint8Array();
}

/** A table of a create; the body of a frame, or an item of a batch. */
function createTable(builder: Builder, { order, ...signed }: CreateRequest): Offset {
  const references: Entry[] = [
    [Create.signer, userVector(builder, order.signer)],
    [Create.orderId, builder.createString(order.orderId)],
    [Create.baseAsset, builder.createString(order.baseAsset.text)],
    [Create.details, detailsTable(builder, order.details)],
    ...signatureEntries(builder, signed, Create),
  ];
  if (order.trigger !== null) {
    const { parentOrderId, condition } = order.trigger;
    references.push([Create.trigger, triggerTable(builder, condition, parentOrderId)]);
  }
  return tableOf(builder, Create.table, [
    ...references,
    [Create.detailsType, DETAILS_TYPE[order.details.kind]],
    [Create.bookPriceDecimals, order.bookPriceDecimals],
    [Create.bookQuantityDecimals, order.bookQuantityDecimals],
    [Create.side, order.side === SIDE.buy ? Side.Buy : Side.Sell],
    [Create.creationTimestampNs, order.creationNs],
    [Create.account, order.account],
    [Create.isSpot, order.isSpot],
    [Create.reduceOnly, order.reduceOnly],
    [Create.maxTradingFeesRate, order.maxTradingFeesRate],
    [Create.protocolVersion, order.protocolVersion],
    [Create.postSignTimestamp, signed.postSignNs],
  ]);
}

const DETAILS_TYPE: Readonly<Record<OrderDetails['kind'], number>> = {
  limit: Details.Limit,
  'market-base': Details.MarketBase,
  'market-quote': Details.MarketQuote,
};

function detailsTable(builder: Builder, details: OrderDetails): Offset {
  switch (details.kind) {
    case 'limit':
      return limitTable(builder, details);
    case 'market-base':
      return tableOf(builder, MarketBase.table, [
        [MarketBase.quantity, BigInt(details.quantity)],
        [MarketBase.maxSellableAmount, rawOrUnset(details.maxSellableAmount)],
        [MarketBase.fillOrKill, details.fillOrKill],
      ]);
    case 'market-quote':
      return tableOf(builder, MarketQuote.table, [
        [MarketQuote.quantity, BigInt(details.amount)],
        [MarketQuote.maxSellableQuantity, rawOrUnset(details.maxSellableQuantity)],
        [MarketQuote.fillOrKill, details.fillOrKill],
      ]);
  }
}

function limitTable(builder: Builder, details: LimitDetails): Offset {
  return tableOf(builder, Limit.table, [
    [Limit.limitPrice, BigInt(details.limitPrice)],
    [Limit.quantity, BigInt(details.quantity)],
    [Limit.timeInForce, TIF_VALUE[details.tif]],
    [Limit.postOnly, details.postOnly],
    [Limit.timestampNs, details.goodUntilNs ?? 0n],
  ]);
}

function triggerTable(builder: Builder, condition: TriggerCondition, parentOrderId: string | null): Offset {
  const parent: Entry[] = parentOrderId === null ? [] : [[Trigger.parentOrderId, builder.createString(parentOrderId)]];
  return tableOf(builder, Trigger.table, [
    ...parent,
    [Trigger.condition, CONDITION_VALUE[condition.direction]],
    [Trigger.price, BigInt(condition.price)],
  ]);
}

function replaceTable(builder: Builder, { request, signer, asset, ...signed }: ReplaceRequest): Offset {
  const references: Entry[] = [
    [Replace.orderId, builder.createString(request.orderId)],
    [Replace.signer, userVector(builder, signer)],
    [Replace.assetId, builder.createString(asset.text)],
    ...signatureEntries(builder, signed, Replace),
  ];
  const trigger = request.newTrigger;
  if (trigger !== null) {
    const form = trigger.shape === 'bare' ? TriggerForm.Bare : TriggerForm.Wrapped;
    references.push([Replace.newTrigger, triggerTable(builder, trigger.condition, trigger.parentOrderId)]);
    references.push([Replace.newTriggerForm, form]);
  }
  return tableOf(builder, Replace.table, [
    ...references,
    [Replace.timestampNs, request.timestampNs],
    [Replace.newPriceLimit, rawOrUnset(request.newPriceLimit)],
    [Replace.newQuantity, rawOrUnset(request.newQuantity)],
    [Replace.bookQuantityDecimals, request.bookQuantityDecimals],
    [Replace.bookPriceDecimals, request.bookPriceDecimals],
    [Replace.protocolVersion, request.protocolVersion],
    [Replace.postSignTimestamp, signed.postSignNs],
    [Replace.complete, request.baseAsset !== null],
  ]);
}

function cancelTable(builder: Builder, { cancel, ...signed }: CancelRequest): Offset {
  const references: Entry[] = [
    [Cancel.orderId, builder.createString(cancel.orderId)],
    [Cancel.assetId, builder.createString(cancel.asset.text)],
    [Cancel.signer, userVector(builder, cancel.signer)],
    ...signatureEntries(builder, signed, Cancel),
  ];
  return tableOf(builder, Cancel.table, [
    ...references,
    [Cancel.protocolVersion, cancel.protocolVersion],
    [Cancel.postSignTimestamp, signed.postSignNs],
  ]);
}

function amendTable(builder: Builder, { amend, user }: AmendRequest): Offset {
  const references: Entry[] = [
    [Amend.orderId, builder.createString(amend.orderId)],
    [Amend.baseAsset, builder.createString(amend.asset.text)],
    [Amend.userId, userVector(builder, user)],
  ];
  return tableOf(builder, Amend.table, [
    ...references,
    [Amend.newQuantity, BigInt(amend.newQuantity)],
    [Amend.bookQuantityDecimals, amend.bookQuantityDecimals],
    [Amend.expectedAuthorizationRevision, amend.expectedRevisionNs ?? 0n],
    [Amend.timestampNs, amend.timestampNs],
  ]);
}

/** Null is 0 in a table. */
function rawOrUnset(raw: number | null): bigint {
  if (raw === null) return 0n;
  if (raw === 0) throw invalidArgument('a raw figure lies in 1 … 2^53-1');
  return BigInt(raw);
}

function userVector(builder: Builder, { id, text }: SpelledUser): Offset {
  if (text !== id) throw invalidArgument('a signer is spelled with 64 lower-case hex digits');
  return builder.createByteVector(must(parseHex(id, 32), 'a user id is 32 bytes of hex'));
}

function signatureEntries(
  builder: Builder,
  { signature, additionalSigners }: Signatures,
  fields: { readonly signature: FieldLayout; readonly additionalSigners: FieldLayout },
): Entry[] {
  const entries: Entry[] = [];
  if (signature.length > 0) entries.push([fields.signature, builder.createByteVector(signature)]);
  if (additionalSigners.length > 0) {
    const items = additionalSigners.map((signer) => coSignerTable(builder, signer));
    entries.push([fields.additionalSigners, listOf(builder, items)]);
  }
  return entries;
}

function coSignerTable(builder: Builder, { scheme, key, signature }: AdditionalSigner): Offset {
  const references: Entry[] = [
    [CoSigner.key, builder.createByteVector(key)],
    [CoSigner.signature, builder.createByteVector(signature)],
  ];
  return tableOf(builder, CoSigner.table, [...references, [CoSigner.scheme, SCHEMES.indexOf(scheme)]]);
}

function listOf(builder: Builder, items: readonly Offset[]): Offset {
  builder.startVector(4, items.length, 4);
  for (const item of items.toReversed()) builder.addOffset(item);
  return builder.endVector();
}

/** Writes a table; what it refers to was written before. Scalars of their initial value stay absent. */
function tableOf(builder: Builder, layout: TableLayout, entries: readonly Entry[]): Offset {
  builder.startObject(layout.fields.length);
  for (const [field, value] of entries) addField(builder, field, value);
  return builder.endObject();
}

function addField(
  builder: Builder,
  { slot, kind, bytes, initial }: FieldLayout,
  value: number | bigint | boolean,
): void {
  const index = (slot - VTABLE_HEAD_BYTES) / 2;
  if (kind !== 'scalar' && kind !== 'union-type') builder.addFieldOffset(index, Number(value), 0);
  else if (bytes === 8) builder.addFieldInt64(index, BigInt.asIntN(64, BigInt(value)), BigInt(initial));
  else if (bytes === 4) builder.addFieldInt32(index, Number(value), initial);
  else if (bytes === 2) builder.addFieldInt16(index, Number(value), initial);
  else builder.addFieldInt8(index, Number(value), initial);
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
  const timing = timingAt(at);
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

function timingAt(answer: number): ActionTiming | null {
  const at = reader.placeOf(answer, Answer.timing);
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
