/** `POST /orders/cancel-all-after` (docs/trading.md): `{"timeout_ms":60000}` starts the user's dead-man timer, 0 ends it. */
import { DEAD_MAN_MS_MAX, DEAD_MAN_MS_MIN } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { CANCEL_ALL_AFTER_REQUEST } from './shapes/order-shapes.ts';
import { readShape } from './shapes/read-shape.ts';

const BAD_TIMEOUT = reject(
  'INVALID_REQUEST',
  `timeout_ms is 0 or an integer from ${DEAD_MAN_MS_MIN} to ${DEAD_MAN_MS_MAX}`,
  'timeout_ms',
);

/** @returns milliseconds: 0, or from DEAD_MAN_MS_MIN to DEAD_MAN_MS_MAX; INVALID_REQUEST with the field. */
export function decodeCancelAllAfter(body: Uint8Array): Outcome<number> {
  const read = readShape(CANCEL_ALL_AFTER_REQUEST, body);
  if (!read.ok) return read;
  const timeoutMs = read.value.timeout_ms;
  return timeoutMs !== 0 && timeoutMs < DEAD_MAN_MS_MIN ? rejected(BAD_TIMEOUT) : accepted(timeoutMs);
}

/** @param firesAtNs on the node's clock; null when no timer runs. */
export function cancelAllAfterReply(timeoutMs: number, firesAtNs: TimestampNs | null): string {
  return `{"timeout_ms":${timeoutMs},"fires_at_ns":${firesAtNs}}`;
}
