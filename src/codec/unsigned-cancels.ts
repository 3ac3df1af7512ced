/**
 * Requests that a session authorizes without a signature: cancels of all orders in a scope, of those in a list, and the
 * dead-man timer (wire.md 7.8, AMB-24; UNS-01). Over REST a scope is a query; every other request is the same body over
 * REST and in a frame of `/control`.
 */
import { type AssetId, type OrderId, parseOrderId } from '../core/ids.ts';
import { DEAD_MAN_MS_MAX, DEAD_MAN_MS_MIN } from '../core/limits.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { JsonCursor } from './json-cursor.ts';
import { decodeShape, readShape } from './shape-reader.ts';
import {
  CANCEL_ALL_AFTER_REQUEST,
  CANCEL_ALL_REQUEST,
  CANCEL_BATCH_REQUEST,
  type CancelAllRead,
  type CancelBatchRead,
  PROTECTION_GROUP_NAME,
  QUOTE_SET_ID,
} from './shapes/order-shapes.ts';

/** Which orders of a user a mass cancel is about; null: of any. An order has to be in every scope that is given. */
export interface CancelScope {
  readonly assetId: AssetId | null;
  /** Orders that are strictly older; at least 1. */
  readonly beforeNs: TimestampNs | null;
  /** Only orders of this side, members of this group, entries of this quote set; of any where one is not there. */
  readonly side?: Side;
  readonly protectionGroup?: string;
  readonly quoteSetId?: string;
}

interface CancelBatch {
  readonly orderIds: readonly OrderId[];
  /** Number of ids received, including duplicates and invalid ones: the basis of the rate cost (LIM-11). */
  readonly asked: number;
  /** Null for every market. */
  readonly assetId: AssetId | null;
}

/** An unsigned request of a frame. */
export type UnsignedRequest =
  | { readonly kind: 'cancel-all'; readonly scope: CancelScope }
  | { readonly kind: 'cancel-batch'; readonly batch: CancelBatch }
  | { readonly kind: 'cancel-all-after'; readonly timeoutMs: number };

type UnsignedTag = 'CancelAllRequest' | 'CancelBatchRequest' | 'CancelAllAfterRequest';

const SIDES = { Buy: SIDE.buy, Sell: SIDE.sell } as const;
const BAD_TIMEOUT = reject(
  'INVALID_REQUEST',
  `timeout_ms is 0 or an integer from ${DEAD_MAN_MS_MIN} to ${DEAD_MAN_MS_MAX}`,
  'timeout_ms',
);

/** Reads the body of a frame at the cursor, which holds the fault of one that is none. */
export function readUnsigned(cursor: JsonCursor, tag: UnsignedTag): UnsignedRequest | null {
  if (tag === 'CancelAllRequest') {
    const read = readShape(cursor, CANCEL_ALL_REQUEST);
    return cursor.hasFailed ? null : { kind: 'cancel-all', scope: scopeOf(read) };
  }
  if (tag === 'CancelBatchRequest') {
    const read = readShape(cursor, CANCEL_BATCH_REQUEST);
    return cursor.hasFailed ? null : { kind: 'cancel-batch', batch: batchOf(read) };
  }
  const { timeoutMs } = readShape(cursor, CANCEL_ALL_AFTER_REQUEST) ?? { timeoutMs: 0 };
  if (!isTimeout(timeoutMs)) cursor.refuse(BAD_TIMEOUT);
  return cursor.hasFailed ? null : { kind: 'cancel-all-after', timeoutMs };
}

// ---- all orders in a scope

function scopeOf({ asset, side, protectionGroup, quoteSetId, maxNs }: CancelAllRead): CancelScope {
  const named = { side: side === null ? null : SIDES[side], protectionGroup, quoteSetId };
  return { assetId: asset?.id ?? null, beforeNs: beforeOf(maxNs), ...given(named) };
}

interface Named {
  readonly side: Side | null;
  readonly protectionGroup: string | null;
  readonly quoteSetId: string | null;
}

/** The members that are not null. */
export function given({ side, protectionGroup, quoteSetId }: Named): Pick<CancelScope, keyof Named> {
  return {
    ...(side === null ? {} : { side }),
    ...(protectionGroup === null ? {} : { protectionGroup }),
    ...(quoteSetId === null ? {} : { quoteSetId }),
  };
}

const GROUP_FORM = new RegExp(String(PROTECTION_GROUP_NAME['pattern']), 'u');
const SET_FORM = new RegExp(String(QUOTE_SET_ID['pattern']), 'u');

/** The further bounds of a cancel of all orders in a query. @param one gives a member, null for an absent one. */
export function scopeIn(one: (name: string) => Outcome<string | null>): Outcome<Pick<CancelScope, keyof Named>> {
  const [side, group, set] = [one('side'), one('protection_group'), one('quote_set_id')];
  if (!side.ok) return side;
  if (!group.ok) return group;
  if (!set.ok) return set;
  const sides: Readonly<Record<string, Side>> = SIDES;
  if (side.value !== null && sides[side.value] === undefined) return rejected(invalid('side', 'is Buy or Sell'));
  if (group.value !== null && !GROUP_FORM.test(group.value)) return rejected(invalid('protection_group', 'is no name'));
  if (set.value !== null && !SET_FORM.test(set.value)) return rejected(invalid('quote_set_id', 'is no id'));
  return accepted(
    given({
      side: side.value === null ? null : (sides[side.value] ?? null),
      protectionGroup: group.value,
      quoteSetId: set.value,
    }),
  );
}

function invalid(name: string, what: string): Reject {
  return reject('INVALID_REQUEST', `${name} ${what}`, name);
}

/** `max_ts`: cancels strictly older orders; by default all (AMB-18). No order has a timestamp below 1, so 0 and 1 select the same orders. */
export function beforeOf(maxNs: TimestampNs | null): TimestampNs | null {
  return maxNs === 0n ? (1n as TimestampNs) : maxNs;
}

// ---- `POST /orders/cancel-all-after` (docs/safety.md): `{"timeout_ms":60000}` starts the user's dead-man timer, 0 ends it

/** @returns milliseconds: 0, or from DEAD_MAN_MS_MIN to DEAD_MAN_MS_MAX; INVALID_REQUEST with the field. */
export function decodeCancelAllAfter(body: Uint8Array): Outcome<number> {
  const read = decodeShape(CANCEL_ALL_AFTER_REQUEST, body);
  if (!read.ok) return read;
  const { timeoutMs } = read.value;
  return isTimeout(timeoutMs) ? accepted(timeoutMs) : rejected(BAD_TIMEOUT);
}

function isTimeout(timeoutMs: number): boolean {
  return timeoutMs === 0 || timeoutMs >= DEAD_MAN_MS_MIN;
}

/** As `decodeCancelAllAfter`, of a number. */
export function timeoutOf(timeoutMs: number): Outcome<number> {
  return timeoutMs <= DEAD_MAN_MS_MAX && isTimeout(timeoutMs) ? accepted(timeoutMs) : rejected(BAD_TIMEOUT);
}

// ---- `DELETE /orders/cancel-batch`: 1 to 50 ids; duplicates collapse. An id that is not a valid order id cannot exist, so it is left out (CAN-09)

export function decodeCancelBatch(body: Uint8Array): Outcome<CancelBatch> {
  const read = decodeShape(CANCEL_BATCH_REQUEST, body);
  return read.ok ? accepted(batchOf(read.value)) : read;
}

function batchOf(read: CancelBatchRead): CancelBatch {
  const { orderIds, asset } = isList(read) ? { orderIds: read, asset: null } : read;
  return cancelBatchOf(orderIds, asset?.id ?? null);
}

/** @param texts as received. */
export function cancelBatchOf(texts: readonly string[], assetId: AssetId | null): CancelBatch {
  const orderIds = [...new Set(texts)].map(parseOrderId).filter((id) => id !== null);
  return { asked: texts.length, orderIds, assetId };
}

function isList(body: CancelBatchRead): body is readonly string[] {
  return Array.isArray(body);
}
