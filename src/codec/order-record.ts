/** The JSON of order records (shapes/order-record-shapes.ts). */
import { ORDER_FLAG, revisionOf } from '../core/order-terms.ts';
import { replyWriter } from './reply-writer.ts';
import {
  ORDER_RECORD,
  type OrderReply,
  USER_ORDER_RECORD,
  type UserOrderRecordView,
} from './shapes/order-record-shapes.ts';

/** What market data shows of an order beside its record (wire-additions.md 8.4). */
export interface ShownTerms {
  readonly subAccount: number;
  /** Bits of ORDER_FLAG. */
  readonly flags: number;
  readonly creationNs: bigint;
  /** Creation, or the time of the last applied replace or amend. */
  readonly timestampNs: bigint;
}

const writeUserOrder: (view: UserOrderRecordView) => string = replyWriter(USER_ORDER_RECORD);

/** The JSON of a record on market data. */
export function userOrderRecord(view: OrderReply, terms: ShownTerms): string {
  const { subAccount, flags, creationNs } = terms;
  return writeUserOrder({
    ...view,
    last_update_timestamp_ns: view.last_update_timestamp_ns ?? creationNs,
    account_index: subAccount,
    is_spot: (flags & ORDER_FLAG.isSpot) !== 0,
    authorization_revision: revisionOf(terms),
  });
}

/** The JSON of a record. */
export const orderRecord: (view: OrderReply) => string = replyWriter(ORDER_RECORD);
