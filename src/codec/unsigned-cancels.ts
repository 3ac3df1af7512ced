/**
 * The body of `DELETE /orders/cancel-batch` (wire.md 7.8, AMB-24): `{"order_ids":[…],"asset_id":…}`, or the bare array.
 *
 * 1 to 50 ids; duplicates collapse. An id that is not a valid order id cannot exist, so it is left out (CAN-09).
 */
import { type AssetId, type OrderId, parseOrderId } from '../core/ids.ts';
import { DEAD_MAN_MS_MAX, DEAD_MAN_MS_MIN } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { decodeShape } from './shape-reader.ts';
import { CANCEL_ALL_AFTER_REQUEST, CANCEL_BATCH_REQUEST, type CancelBatchRead } from './shapes/order-shapes.ts';

// `POST /orders/cancel-all-after` (docs/safety.md): `{"timeout_ms":60000}` starts the user's dead-man timer, 0 ends it.

const BAD_TIMEOUT = reject(
  'INVALID_REQUEST',
  `timeout_ms is 0 or an integer from ${DEAD_MAN_MS_MIN} to ${DEAD_MAN_MS_MAX}`,
  'timeout_ms',
);

/** @returns milliseconds: 0, or from DEAD_MAN_MS_MIN to DEAD_MAN_MS_MAX; INVALID_REQUEST with the field. */
export function decodeCancelAllAfter(body: Uint8Array): Outcome<number> {
  const read = decodeShape(CANCEL_ALL_AFTER_REQUEST, body);
  if (!read.ok) return read;
  const { timeoutMs } = read.value;
  return timeoutMs !== 0 && timeoutMs < DEAD_MAN_MS_MIN ? rejected(BAD_TIMEOUT) : accepted(timeoutMs);
}

/** @param firesAtNs on the node's clock; null when no timer runs. */
export function cancelAllAfterReply(timeoutMs: number, firesAtNs: TimestampNs | null): string {
  return `{"timeout_ms":${timeoutMs},"fires_at_ns":${firesAtNs}}`;
}

interface CancelBatch {
  readonly orderIds: readonly OrderId[];
  /** Number of ids received, including duplicates and invalid ones: the basis of the rate cost (LIM-11). */
  readonly asked: number;
  /** Null for every market. */
  readonly assetId: AssetId | null;
}

export function decodeCancelBatch(body: Uint8Array): Outcome<CancelBatch> {
  const read = decodeShape(CANCEL_BATCH_REQUEST, body);
  if (!read.ok) return read;
  const { orderIds: texts, asset } = isList(read.value) ? { orderIds: read.value, asset: null } : read.value;
  return accepted({
    asked: texts.length,
    orderIds: [...new Set(texts)].map(parseOrderId).filter((id) => id !== null),
    assetId: asset?.id ?? null,
  });
}

function isList(body: CancelBatchRead): body is readonly string[] {
  return Array.isArray(body);
}
