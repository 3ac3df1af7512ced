/**
 * The body of `DELETE /orders/cancel-batch` (wire.md 7.8, AMB-24): `{"order_ids":[…],"asset_id":…}`, or the bare array.
 *
 * 1 to 50 ids; duplicates collapse. An id that is not a valid order id cannot exist, so it is left out (CAN-09).
 */

import { type AssetId, type OrderId, parseAssetId, parseOrderId } from '../core/ids.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import { CANCEL_BATCH_REQUEST, type CancelBatchBody } from './shapes/order-shapes.ts';
import { readShape } from './shapes/read-shape.ts';

export interface CancelBatch {
  readonly orderIds: readonly OrderId[];
  /** Number of ids received, including duplicates and invalid ones: the basis of the rate cost (LIM-11). */
  readonly asked: number;
  /** Null for every market. */
  readonly assetId: AssetId | null;
}

export function decodeCancelBatch(body: Uint8Array): Outcome<CancelBatch> {
  const read = readShape(CANCEL_BATCH_REQUEST, body);
  if (!read.ok) return read;
  const texts = isList(read.value) ? read.value : read.value.order_ids;
  const asset = isList(read.value) ? null : (read.value.asset_id ?? null);
  return accepted({
    asked: texts.length,
    orderIds: [...new Set(texts)].map(parseOrderId).filter((id) => id !== null),
    assetId: asset === null ? null : parseAssetId(asset),
  });
}

function isList(body: CancelBatchBody): body is readonly string[] {
  return Array.isArray(body);
}
