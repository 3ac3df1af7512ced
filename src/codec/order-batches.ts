/**
 * Batches of signed wrappers (wire.md 7.7, G5, AMB-26):
 *
 *   create    {"orders":[…]}
 *   replace   {"requests":[…]}, also under `orders` or `replaces`, or the bare array
 *
 * Two kinds of rejection. An invalid shape anywhere rejects the whole text, through the cursor. A batch that is empty,
 * of more than 50 items or, for replaces, contains an order twice is well-formed and rejected as a whole by its `fault`
 * (BAT-08, BAT-09). The content of an item is validated later, item by item.
 *
 * Bounded: items after the fiftieth are only checked to be JSON.
 */
import type { OrderId } from '../core/ids.ts';
import { BATCH_ITEMS_MAX } from '../core/limits.ts';
import type { Outcome } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { decodeText } from './decode-text.ts';
import type { JsonCursor } from './json-cursor.ts';
import { objectShape } from './json-shape.ts';
import { type CreateRequest, type ReplaceRequest, readCreate, readReplace } from './order-actions.ts';

export interface OrderBatch<Request> {
  /** In submission order; 1 to 50 unless there is a fault. */
  readonly items: readonly Request[];
  /** Why the whole batch is rejected, or null. */
  readonly fault: Reject | null;
  /** The member that contains the items; '' for the bare array. */
  readonly list: string;
}

/** The members that may contain a batch. */
export const CREATE_LISTS = ['orders'] as const;
export const REPLACE_LISTS = ['requests', 'orders', 'replaces'] as const;

const CREATES = objectShape('skip', ['orders']);
const REPLACES = objectShape('skip', ['requests?', 'orders?', 'replaces?']);

const EMPTY = reject('INVALID_REQUEST', 'a batch has at least one item');
const TOO_MANY = reject('INVALID_REQUEST', `a batch has at most ${BATCH_ITEMS_MAX} items`);
const REPEATED = reject('INVALID_REQUEST', 'a batch names an order once', 'order_id');

/** The body of `POST /orders/batch-create`. @returns INVALID_REQUEST for an invalid shape. */
export function decodeBatchCreate(bytes: Uint8Array, start: number, end: number): Outcome<OrderBatch<CreateRequest>> {
  return decodeText(bytes, start, end, readBatchCreate);
}

/** The body of `PATCH /orders/batch-replace`. @returns INVALID_REQUEST for an invalid shape. */
export function decodeBatchReplace(bytes: Uint8Array, start: number, end: number): Outcome<OrderBatch<ReplaceRequest>> {
  return decodeText(bytes, start, end, readBatchReplace);
}

/** Reads the body at the cursor. @returns null exactly when the cursor has failed. */
export function readBatchCreate(cursor: JsonCursor): OrderBatch<CreateRequest> | null {
  let batch: OrderBatch<CreateRequest> | null = null;
  cursor.enterObject();
  for (let name = cursor.nextMember(CREATES); name !== null; name = cursor.nextMember(CREATES)) {
    batch = readItems(cursor, readCreate, name);
  }
  return cursor.hasFailed ? null : batch;
}

/** As `readBatchCreate`. The id alone identifies an order, in any market (AMB-26). */
export function readBatchReplace(cursor: JsonCursor): OrderBatch<ReplaceRequest> | null {
  const batches: OrderBatch<ReplaceRequest>[] = [];
  if (cursor.kind() === 'array') batches.push(readItems(cursor, readReplace, ''));
  else {
    cursor.enterObject();
    for (let name = cursor.nextMember(REPLACES); name !== null; name = cursor.nextMember(REPLACES)) {
      batches.push(readItems(cursor, readReplace, name));
    }
  }
  const [batch] = batches;
  if (batch === undefined || batches.length > 1) cursor.fail(`expected one of ${REPLACE_LISTS.join(', ')}`, null);
  return cursor.hasFailed || batch === undefined ? null : distinctOrders(batch);
}

/** The batch, with its fault where it contains an order twice. */
export function distinctOrders(batch: OrderBatch<ReplaceRequest>): OrderBatch<ReplaceRequest> {
  const names = new Set(batch.items.map(({ request }) => request.orderId));
  return batch.fault === null && names.size < batch.items.length ? { ...batch, fault: REPEATED } : batch;
}

/** The batch, with its fault where its size is none. @param count of all items; at most fifty of them are given. */
export function wholeBatch<Request>(list: string, items: readonly Request[], count: number): OrderBatch<Request> {
  return { list, items, fault: count === 0 ? EMPTY : count > BATCH_ITEMS_MAX ? TOO_MANY : null };
}

/** Where a batch with a fault has it, from the batch's own value on, and which order that names. */
export function placeOfFault({ items, fault, list }: OrderBatch<CreateRequest> | OrderBatch<ReplaceRequest>): {
  readonly path: string;
  readonly orderId: OrderId | null;
} {
  const names = fault === REPEATED ? items.map((item) => ('request' in item ? item.request : item.order).orderId) : [];
  const index = names.findIndex((name, at) => names.indexOf(name) < at);
  const dot = list === '' ? '' : '.';
  if (index < 0) return { path: `${dot}${list}`, orderId: null };
  return { path: `${dot}${list}[${index}].request.order_id`, orderId: names[index] ?? null };
}

function readItems<Request>(
  cursor: JsonCursor,
  read: (cursor: JsonCursor) => Request | null,
  list: string,
): OrderBatch<Request> {
  const items: Request[] = [];
  let count = 0;
  cursor.enterArray();
  while (cursor.nextItem()) {
    count += 1;
    if (count > BATCH_ITEMS_MAX) {
      cursor.skipValue();
      continue;
    }
    const item = read(cursor);
    if (item !== null) items.push(item);
  }
  return wholeBatch(list, items, count);
}
