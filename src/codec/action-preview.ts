/**
 * What a frame of `/control` or the body of a signed action is about, without validating it: the kind of action, the
 * version and request id of the frame, and the orders that it names. A frame that waits is scheduled by this, and one
 * that is refused unread is answered with it (docs/safety.md, budgets).
 *
 *   {"CreateOrderRequest":{"order":{"signer":…,"order_id":…,"base_asset":…  │ the rest is not looked at
 *
 * Of a single action nothing behind its order id and asset is read. Every frame that decodes has a preview; the reverse
 * does not hold. Of a binary frame: previewBinaryFrame in binary-frame.ts.
 */
import { BATCH_ITEMS_MAX } from '../core/limits.ts';
import {
  type ControlAction,
  type Correlation,
  FRAME,
  type FrameHead,
  isTag,
  REQUEST_ID_MAX,
  TAGGED,
  type Tag,
} from './control-frame.ts';
import {
  AMEND,
  AMEND_TERMS,
  CANCEL,
  CREATE,
  QUOTE_SET,
  REPLACE,
  SIGNED_CANCEL,
  SIGNED_ORDER,
  SIGNED_QUOTE_SET,
  SIGNED_REPLACE,
} from './generated/order-json.ts';
import { JsonCursor } from './json-cursor.ts';
import { lenient, type ObjectShape, objectShape } from './json-shape.ts';
import { CREATE_LISTS, REPLACE_LISTS } from './order-batches.ts';
import { STRING_DECODED_MAX } from './signed-text.ts';
import { readUnsigned } from './unsigned-cancels.ts';

type AnyShape = ObjectShape<string>;

export type PreviewKind =
  | 'create'
  | 'replace'
  | 'cancel'
  | 'amend'
  | 'quotes'
  | 'batch-create'
  | 'batch-replace'
  | 'cancel-all'
  | 'cancel-batch'
  | 'cancel-all-after';

export type ActionPreview = FrameHead & NamedOrders;

interface NamedOrders {
  readonly kind: PreviewKind;
  /**
   * One for a single action; those of a batch in order of submission, at most BATCH_ITEMS_MAX; of a cancel of listed orders
   * without their market, and none of one of all orders.
   */
  readonly orders: readonly Correlation[];
}

const KIND: Readonly<Record<Tag, PreviewKind>> = {
  CreateOrderRequest: 'create',
  ReplaceOrderRequest: 'replace',
  CancelOrderRequest: 'cancel',
  BatchCreateRequest: 'batch-create',
  BatchReplaceRequest: 'batch-replace',
  AmendOrderRequest: 'amend',
  QuoteSetRequest: 'quotes',
  CancelAllRequest: 'cancel-all',
  CancelBatchRequest: 'cancel-batch',
  CancelAllAfterRequest: 'cancel-all-after',
};

/** Of each action its wrapper, the member of it with the terms, and these. */
const SHAPES: Readonly<Record<ControlAction, readonly [wrapper: AnyShape, inner: string, terms: AnyShape]>> = {
  create: [lenient(CREATE), 'order', lenient(SIGNED_ORDER)],
  replace: [lenient(REPLACE), 'request', lenient(SIGNED_REPLACE)],
  cancel: [lenient(CANCEL), 'cancel', lenient(SIGNED_CANCEL)],
  amend: [lenient(AMEND), 'request', lenient(AMEND_TERMS)],
  quotes: [lenient(QUOTE_SET), 'quotes', lenient(SIGNED_QUOTE_SET)],
};
const LISTS = objectShape(
  'skip',
  [...new Set([...CREATE_LISTS, ...REPLACE_LISTS])].map((name) => `${name}?` as const),
);

const previewCursor = new JsonCursor();

/**
 * Null for a text that is no action, or of which the orders are not found. Never throws.
 *
 * @param takesShort as for decodeControlFrame: of a frame that may be a short request all of it is read.
 */
export function previewFrame(bytes: Uint8Array, takesShort = false): ActionPreview | null {
  const cursor = previewCursor;
  cursor.reset(bytes, 0, bytes.length);
  let requestId: string | null = null;
  let named: NamedOrders | null = null;
  let version: 0 | 1 = 0;
  let hasType = false;
  let hasChannel = false;
  cursor.enterObject();
  for (let name = cursor.nextMember(FRAME); name !== null; name = cursor.nextMember(FRAME)) {
    if (isTag(name)) return withoutHead(previewKind(cursor, KIND[name], true));
    version = 1;
    hasType ||= name === 'type';
    hasChannel ||= name === 'channel';
    if (name === 'request_id') requestId = cursor.readNull() ? null : cursor.readString(REQUEST_ID_MAX);
    else if (name !== 'data') cursor.skipValue();
    else {
      const isLast = requestId !== null && (!takesShort || (hasType && hasChannel));
      named = previewData(cursor, isLast);
      if (named !== null && isLast) break;
    }
  }
  if (cursor.hasFailed || named === null) return null;
  const isShort = takesShort && version === 1 && !(hasType && hasChannel);
  const { kind, orders } = named;
  return isShort ? { kind, orders, version, requestId, isShort } : { kind, orders, version, requestId };
}

/** The orders of the body of a REST request; null as for a frame. */
export function previewBody(kind: PreviewKind, body: Uint8Array): readonly Correlation[] | null {
  const cursor = previewCursor;
  cursor.reset(body, 0, body.length);
  return previewKind(cursor, kind, true)?.orders ?? null;
}

function withoutHead(named: NamedOrders | null): ActionPreview | null {
  return named === null ? null : { ...named, version: 0, requestId: null };
}

/** @param isLast whether nothing behind it is needed. */
function previewData(cursor: JsonCursor, isLast: boolean): NamedOrders | null {
  let named: NamedOrders | null = null;
  cursor.enterObject();
  for (let tag = cursor.nextMember(TAGGED); tag !== null; tag = cursor.nextMember(TAGGED)) {
    named = previewKind(cursor, KIND[tag], isLast);
    if (isLast) return named;
  }
  return named;
}

function previewKind(cursor: JsonCursor, kind: PreviewKind, isLast: boolean): NamedOrders | null {
  if (kind === 'batch-create' || kind === 'batch-replace') return previewBatch(cursor, kind);
  if (kind === 'cancel-batch') return previewCancelBatch(cursor);
  if (kind === 'cancel-all' || kind === 'cancel-all-after') {
    cursor.skipValue();
    return cursor.hasFailed ? null : { kind, orders: [] };
  }
  const order = previewOrder(cursor, kind, isLast);
  return order === null ? null : { kind, orders: [order] };
}

function previewBatch(cursor: JsonCursor, kind: 'batch-create' | 'batch-replace'): NamedOrders | null {
  const orders: Correlation[] = [];
  const action = kind === 'batch-create' ? 'create' : 'replace';
  const readItems = (): void => {
    cursor.enterArray();
    while (cursor.nextItem()) {
      const order = previewOrder(cursor, action, false);
      if (order === null || orders.length === BATCH_ITEMS_MAX) cursor.fail('expected a batch');
      else orders.push(order);
    }
  };
  if (cursor.kind() === 'array') readItems();
  else {
    cursor.enterObject();
    while (cursor.nextMember(LISTS) !== null) readItems();
  }
  return cursor.hasFailed || orders.length === 0 ? null : { kind, orders };
}

function previewCancelBatch(cursor: JsonCursor): NamedOrders | null {
  const read = readUnsigned(cursor, 'CancelBatchRequest');
  if (read?.kind !== 'cancel-batch') return null;
  const orders = read.batch.orderIds.map((orderId): Correlation => ({ action: 'cancel', orderId, assetText: '' }));
  return { kind: 'cancel-batch', orders };
}

/** Whether it takes away and adds nothing: it overtakes what waits, but for what names the same order. */
export function isUrgent({ kind }: Pick<ActionPreview, 'kind'>): boolean {
  return kind === 'cancel' || kind === 'cancel-all' || kind === 'cancel-batch' || kind === 'cancel-all-after';
}

/** @returns null when the cursor has failed, or the order or its asset is not there. */
function previewOrder(cursor: JsonCursor, action: ControlAction, isLast: boolean): Correlation | null {
  const found: Found = { orderId: null, assetText: null };
  const [wrapper, inner, terms] = SHAPES[action];
  find(cursor, wrapper, inner, terms, found, isLast);
  const { orderId, assetText } = found;
  return cursor.hasFailed || orderId === null || assetText === null ? null : { action, orderId, assetText };
}

interface Found {
  orderId: string | null;
  assetText: string | null;
}

/** Reads an object with the member `inner`, in both of which the order id and the asset may be. */
function find(
  cursor: JsonCursor,
  shape: AnyShape,
  inner: string,
  innerShape: AnyShape | null,
  found: Found,
  isLast: boolean,
): void {
  cursor.enterObject();
  for (let name = cursor.nextMember(shape); name !== null; name = cursor.nextMember(shape)) {
    if (name === inner && innerShape !== null) find(cursor, innerShape, '', null, found, isLast);
    else if (name === 'order_id' || name === 'set_id') found.orderId = cursor.readString(STRING_DECODED_MAX);
    else if (name === 'base_asset' || name === 'asset_id') found.assetText = cursor.readString(STRING_DECODED_MAX);
    else cursor.skipValue();
    if (isLast && found.orderId !== null && found.assetText !== null) return;
  }
}
