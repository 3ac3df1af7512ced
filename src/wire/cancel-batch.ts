/**
 * The body of `DELETE /orders/cancel-batch` (wire.md 7.8, AMB-24): `{"order_ids":[…],"asset_id":…}`, or the bare array.
 *
 * 1 to 50 ids, duplicates collapse. An id that no order can have is one that nobody knows, so it is left out (CAN-09).
 */
import { type AssetId, type OrderId, parseOrderId } from '../core/ids.ts';
import { BATCH_ITEMS_MAX } from '../core/limits.ts';
import type { Outcome } from '../core/outcome.ts';
import { decodeText } from './decode-text.ts';
import type { JsonCursor } from './json-cursor.ts';
import { objectShape } from './json-shape.ts';
import { readAsset, STRING_DECODED_MAX } from './signed-text.ts';

export interface CancelBatch {
  readonly orderIds: readonly OrderId[];
  /** Null for every market. */
  readonly assetId: AssetId | null;
}

const BODY = objectShape('skip', ['order_ids', 'asset_id?']);

export function decodeCancelBatch(bytes: Uint8Array, start: number, end: number): Outcome<CancelBatch> {
  return decodeText(bytes, start, end, readCancelBatch);
}

function readCancelBatch(cursor: JsonCursor): CancelBatch | null {
  let orderIds: readonly OrderId[] = [];
  let assetId: AssetId | null = null;
  if (cursor.kind() === 'array') orderIds = readOrderIds(cursor);
  else {
    cursor.enterObject();
    for (let name = cursor.nextMember(BODY); name !== null; name = cursor.nextMember(BODY)) {
      if (name === 'order_ids') orderIds = readOrderIds(cursor);
      else assetId = cursor.readNull() ? null : readAsset(cursor).id;
    }
  }
  return cursor.hasFailed ? null : { orderIds, assetId };
}

function readOrderIds(cursor: JsonCursor): readonly OrderId[] {
  const texts: string[] = [];
  cursor.enterArray();
  while (cursor.nextItem()) {
    texts.push(cursor.readString(STRING_DECODED_MAX));
    if (texts.length > BATCH_ITEMS_MAX) cursor.fail(`at most ${BATCH_ITEMS_MAX} order ids`, 'order_ids');
  }
  if (texts.length === 0) cursor.fail('at least one order id', 'order_ids');
  return [...new Set(texts)].map(parseOrderId).filter((id) => id !== null);
}
