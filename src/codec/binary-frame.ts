/**
 * A frame received on `/control` under the subprotocol `ringbook.fbs.v1`: a `Frame` of schemas/control.fbs.
 *
 *   bytes ─▶ FlatReader: sound? ─▶ fields into the values that the JSON frame of the same request gives ─▶ BinaryFrame
 *
 * The result is that of decodeControlFrame: the same request, faults with the same code and field, and the same text, by
 * the one canonical writer. So nothing behind it depends on the form. What JSON can express and this form cannot: other
 * spellings of a signer than 64 lower-case hex digits, and raw figures of 0 where 0 stands for "none".
 *
 * A frame that is not sound is `malformed` with its request id, if the frame itself can be read. A sound one with an
 * invalid field is malformed with the orders that it names, as far as their ids can be repeated.
 */
import type { AssetId } from '../core/ids.ts';
import { ACTION_BYTES_MAX } from '../core/limits.ts';
import { SIDE, type Side as SideCode } from '../core/order-terms.ts';
import { type Reject, reject } from '../core/reject.ts';
import { isOfOtherUnit, OTHER_UNIT_TEXT, type TimestampNs } from '../core/units.ts';
import type { ActionPreview, PreviewKind } from './action-preview.ts';
import {
  type BinaryFrame,
  type ControlAction,
  type ControlBody,
  type Correlation,
  LONG_ACTION,
  type MalformedBody,
} from './control-frame.ts';
import type { FieldLayout } from './flat-layout.ts';
import { frameFault, loadFrame, reader, refuseFrame } from './flat-members.ts';
import {
  Amend,
  BatchCreate,
  BatchReplace,
  Body,
  Cancel,
  CancelAll,
  CancelAllAfter,
  CancelBatch,
  CancelledOrder,
  Create,
  Frame,
  QuoteSet,
  Replace,
  Side,
} from './generated/control-tables.ts';
import { amendAt, cancelAt, createAt, quoteSetAt, replaceAt } from './generated/order-tables.ts';
import {
  type CreateRequest,
  checkedAmend,
  checkedCancel,
  checkedCreate,
  checkedQuoteSet,
  checkedReplace,
  type ReplaceRequest,
} from './order-actions.ts';
import { distinctOrders, type OrderBatch, wholeBatch } from './order-batches.ts';
import { PROTECTION_GROUP_NAME, QUOTE_SET_ID } from './shapes/order-shapes.ts';
import type { Shape } from './shapes/shape-kit.ts';
import { assetIn, STRING_DECODED_MAX } from './signed-text.ts';
import { cancelBatchOf, given, timeoutOf } from './unsigned-cancels.ts';

const UNSOUND: Reject = reject('INVALID_REQUEST', 'the frame is no FlatBuffers message of schemas/control.fbs');
const NO_REQUEST: Reject = reject('INVALID_REQUEST', 'the body is no request', 'body');
const KIND_OF: Readonly<Record<number, PreviewKind>> = {
  [Body.Create]: 'create',
  [Body.Replace]: 'replace',
  [Body.Cancel]: 'cancel',
  [Body.Amend]: 'amend',
  [Body.QuoteSet]: 'quotes',
  [Body.BatchCreate]: 'batch-create',
  [Body.BatchReplace]: 'batch-replace',
  [Body.CancelAll]: 'cancel-all',
  [Body.CancelBatch]: 'cancel-batch',
  [Body.CancelAllAfter]: 'cancel-all-after',
};

/** Decodes the frame in bytes[start … end), of at most BODY_BYTES_MAX bytes. Never throws; an unreadable frame is `malformed`. */
export function decodeBinaryFrame(bytes: Uint8Array, start: number, end: number): BinaryFrame {
  loadFrame(bytes, start, end);
  const frame = reader.root(Frame.table);
  if (frame === 0) {
    const requestId = reader.shallowUlong(Frame.requestId);
    return { kind: 'malformed', version: 'binary', requestId, reject: UNSOUND, correlations: [], isAllFound: false };
  }
  const requestId = reader.ulong(frame, Frame.requestId);
  const type = reader.unsigned(frame, Frame.bodyType);
  const at = reader.referred(frame, Frame.body);
  const isBatch = type === Body.BatchCreate || type === Body.BatchReplace;
  if (end - start > ACTION_BYTES_MAX && !isBatch) refuseFrame(LONG_ACTION);
  const body = bodyAt(type, at);
  const fault = frameFault();
  if (fault === null && body !== null) return { version: 'binary', requestId, ...body };
  return { kind: 'malformed', version: 'binary', requestId, reject: fault ?? NO_REQUEST, ...namedOrders(type, at) };
}

/** As `previewFrame`, of a binary frame: sound, and nothing read but the orders that it names. */
export function previewBinaryFrame(bytes: Uint8Array): ActionPreview | null {
  reader.load(bytes, 0, bytes.length);
  const frame = reader.root(Frame.table);
  if (frame === 0) return null;
  const type = reader.unsigned(frame, Frame.bodyType);
  const kind = KIND_OF[type];
  const at = reader.referred(frame, Frame.body);
  const requestId = reader.ulong(frame, Frame.requestId);
  if (kind === 'cancel-all' || kind === 'cancel-all-after') return { kind, version: 'binary', requestId, orders: [] };
  const { correlations: orders, isAllFound } = kind === 'cancel-batch' ? namedCancels(at) : namedOrders(type, at);
  if (kind === undefined || !isAllFound || orders.length === 0) return null;
  return { kind, version: 'binary', requestId, orders };
}

/** @returns null for a body that is no request. */
function bodyAt(type: number, at: number): ControlBody | null {
  switch (type) {
    case Body.Create:
      return { kind: 'create', request: createRequestAt(at) };
    case Body.Replace:
      return { kind: 'replace', request: replaceRequestAt(at) };
    case Body.Cancel:
      return { kind: 'cancel', request: checkedCancel(cancelAt(at), frameFault()) };
    case Body.Amend:
      return { kind: 'amend', request: checkedAmend(amendAt(at), frameFault()) };
    case Body.QuoteSet:
      return { kind: 'quotes', request: checkedQuoteSet(quoteSetAt(at), frameFault()) };
    case Body.CancelAll:
      return cancelAllAt(at);
    case Body.CancelBatch:
      return cancelBatchAt(at);
    case Body.CancelAllAfter:
      return cancelAllAfterAt(at);
    case Body.BatchCreate:
      return { kind: 'batch-create', batch: batchAt(at, 'orders', BatchCreate.orders, createRequestAt) };
    case Body.BatchReplace:
      return {
        kind: 'batch-replace',
        batch: distinctOrders(batchAt(at, 'requests', BatchReplace.requests, replaceRequestAt)),
      };
    default:
      return null;
  }
}

// ---- unsigned requests, as shapes read those of JSON

const SIDE_OF: Readonly<Record<number, SideCode>> = { [Side.Buy]: SIDE.buy, [Side.Sell]: SIDE.sell };

function cancelAllAt(at: number): ControlBody {
  const side = reader.unsigned(at, CancelAll.side);
  if (side !== Side.Unset && SIDE_OF[side] === undefined) invalidMember('side', 'expected one of Buy, Sell');
  const maxNs = reader.ulong(at, CancelAll.maxTs) as TimestampNs;
  if (isOfOtherUnit(maxNs)) invalidMember('max_ts', OTHER_UNIT_TEXT);
  const scope = {
    assetId: optionalAssetAt(at, CancelAll.assetId),
    beforeNs: maxNs === 0n ? null : maxNs,
    ...given({
      side: SIDE_OF[side] ?? null,
      protectionGroup: optionalTextAt(at, CancelAll.protectionGroup, 'protection_group', PROTECTION_GROUP_NAME),
      quoteSetId: optionalTextAt(at, CancelAll.quoteSetId, 'quote_set_id', QUOTE_SET_ID),
    }),
  };
  return { kind: 'cancel-all', scope };
}

function cancelBatchAt(at: number): ControlBody {
  const count = reader.count(at, CancelBatch.orderIds);
  if (count === 0 || count > CancelBatch.orderIds.most) invalidMember('order_ids', 'expected 1 to 50 values');
  const texts: string[] = [];
  for (let index = 0; index < Math.min(count, CancelBatch.orderIds.most); index += 1) {
    const text = reader.text(reader.item(at, CancelBatch.orderIds, index), CancelledOrder.orderId, STRING_DECODED_MAX);
    if (text === null) invalidMember('order_ids', 'expected a text');
    texts.push(text ?? '');
  }
  return { kind: 'cancel-batch', batch: cancelBatchOf(texts, optionalAssetAt(at, CancelBatch.assetId)) };
}

function cancelAllAfterAt(at: number): ControlBody {
  const timeout = timeoutOf(reader.unsigned(at, CancelAllAfter.timeoutMs));
  if (!timeout.ok) refuseFrame(timeout.reject);
  return { kind: 'cancel-all-after', timeoutMs: timeout.ok ? timeout.value : 0 };
}

/** The ids that a cancel of listed orders names, as previewFrame gives them. */
function namedCancels(at: number): Pick<MalformedBody, 'correlations' | 'isAllFound'> {
  const correlations: Correlation[] = [];
  for (const item of itemsAt(at, CancelBatch.orderIds)) {
    const orderId = reader.text(item, CancelledOrder.orderId, STRING_DECODED_MAX);
    if (orderId !== null) correlations.push({ action: 'cancel', orderId, assetText: '' });
  }
  return { correlations, isAllFound: correlations.length > 0 };
}

function optionalAssetAt(at: number, field: FieldLayout): AssetId | null {
  if (reader.placeOf(at, field) === 0) return null;
  const asset = assetIn(reader.text(at, field, STRING_DECODED_MAX) ?? '');
  if (asset === null) invalidMember('asset_id', 'expected an asset id');
  return asset?.id ?? null;
}

function optionalTextAt(at: number, field: FieldLayout, name: string, shape: Shape<string>): string | null {
  if (reader.placeOf(at, field) === 0) return null;
  const text = reader.text(at, field, STRING_DECODED_MAX);
  if (text === null || !new RegExp(String(shape['pattern']), 'u').test(text))
    invalidMember(name, 'expected another text');
  return text;
}

function invalidMember(name: string, message: string): void {
  refuseFrame(reject('INVALID_REQUEST', message, name));
}

function createRequestAt(at: number): CreateRequest {
  return checkedCreate(createAt(at), frameFault());
}

function replaceRequestAt(at: number): ReplaceRequest {
  return checkedReplace(replaceAt(at), frameFault());
}

function batchAt<Request>(
  at: number,
  list: string,
  field: FieldLayout,
  read: (at: number) => Request,
): OrderBatch<Request> {
  const count = reader.count(at, field);
  const items: Request[] = [];
  for (let index = 0; index < Math.min(count, field.most); index += 1) items.push(read(reader.item(at, field, index)));
  return wholeBatch(list, items, count);
}

// ---- correlation of malformed frames

/** The orders that a sound frame names, as decodeControlFrame gives those of a malformed one. */
function namedOrders(type: number, at: number): Pick<MalformedBody, 'correlations' | 'isAllFound'> {
  switch (type) {
    case Body.Create:
      return found('create', [at], Create.orderId, Create.baseAsset);
    case Body.Replace:
      return found('replace', [at], Replace.orderId, Replace.assetId);
    case Body.Cancel:
      return found('cancel', [at], Cancel.orderId, Cancel.assetId);
    case Body.Amend:
      return found('amend', [at], Amend.orderId, Amend.baseAsset);
    case Body.QuoteSet:
      return found('quotes', [at], QuoteSet.setId, QuoteSet.baseAsset);
    case Body.BatchCreate:
      return found('create', itemsAt(at, BatchCreate.orders), Create.orderId, Create.baseAsset);
    case Body.BatchReplace:
      return found('replace', itemsAt(at, BatchReplace.requests), Replace.orderId, Replace.assetId);
    default:
      return { correlations: [], isAllFound: false };
  }
}

/** A list that no batch may have is not correlated item by item. */
function itemsAt(at: number, field: FieldLayout): readonly number[] {
  const count = reader.count(at, field);
  return count > field.most ? [] : Array.from({ length: count }, (_, index) => reader.item(at, field, index));
}

function found(
  action: ControlAction,
  items: readonly number[],
  id: FieldLayout,
  asset: FieldLayout,
): Pick<MalformedBody, 'correlations' | 'isAllFound'> {
  const correlations: Correlation[] = [];
  for (const at of items) {
    const orderId = reader.text(at, id, STRING_DECODED_MAX);
    const assetText = reader.text(at, asset, STRING_DECODED_MAX);
    if (orderId !== null && assetText !== null) correlations.push({ action, orderId, assetText });
  }
  return { correlations, isAllFound: correlations.length > 0 && correlations.length === items.length };
}
