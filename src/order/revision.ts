/** The revision of an order (wire-additions.md 4.3), for which an amend is made. */
import type { TimestampNs } from '../core/units.ts';

/**
 * The timestamp of the last applied replace or amend; null after its create. Both raise the timestamp of the record above its
 * creation, so the record has it.
 */
export function revisionOf(order: {
  readonly timestampNs: TimestampNs;
  readonly creationNs: TimestampNs;
}): TimestampNs | null {
  return order.timestampNs === order.creationNs ? null : order.timestampNs;
}
