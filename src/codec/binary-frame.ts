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
import { ACTION_BYTES_MAX } from '../core/limits.ts';
import { type Reject, reject } from '../core/reject.ts';
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
  Create,
  Frame,
  QuoteSet,
  Replace,
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
import { STRING_DECODED_MAX } from './signed-text.ts';

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
  const { correlations: orders, isAllFound } = namedOrders(type, reader.referred(frame, Frame.body));
  if (kind === undefined || !isAllFound || orders.length === 0) return null;
  return { kind, version: 'binary', requestId: reader.ulong(frame, Frame.requestId), orders };
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
