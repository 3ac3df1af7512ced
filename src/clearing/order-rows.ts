/**
 * Rows of orders: the first one, and the next of one that exists.
 *
 * Every field is written out here, once for each. A spread of a row this long costs thirty times as much as the same
 * object written out, and every order and every fill makes one.
 */

import type { UserId } from '../core/ids.ts';
import {
  ROLLBACK_REASON,
  SIGNATURE_VERDICT,
  type SignatureVerdict,
  TRIGGER,
  TRIGGER_STATE,
} from '../core/order-terms.ts';
import { ZERO_18 } from '../core/units.ts';
import type { Created, CreateRefused, NewOrder } from './inputs.ts';
import type { OrderRow } from './rows.ts';

/** What may change of an order once it is admitted. */
export type OrderChanges = Partial<
  Pick<
    OrderRow,
    | 'prioritySequence'
    | 'flags'
    | 'price'
    | 'quantity'
    | 'triggerKind'
    | 'triggerPrice'
    | 'triggerState'
    | 'parentSequence'
    | 'enabledQuantity'
    | 'activatedQuantity'
    | 'droppedQuantity'
    | 'timestampNs'
    | 'lastUpdateNs'
    | 'filledQuantity'
    | 'filledNotional'
    | 'fees'
    | 'end'
    | 'faultReason'
    | 'verdict'
  >
>;

/**
 * The row of an order at its admission, all of it enabled.
 *
 * @param user of the order, as the state has it: rows that share one text are found by it faster, and take less room.
 */
export function newOrderRow(
  input: Created | CreateRefused,
  user: UserId,
  verdict: SignatureVerdict = SIGNATURE_VERDICT.unknown,
): OrderRow {
  const order: NewOrder = input.order;
  return {
    marketIndex: input.marketIndex,
    orderSequence: input.sequence,
    prioritySequence: input.sequence,
    user,
    subAccount: order.subAccount,
    orderId: order.orderId,
    side: order.side,
    kind: order.kind,
    tif: order.tif,
    flags: order.flags,
    price: order.price,
    quantity: order.quantity,
    amount: order.amount,
    budget: order.budget,
    triggerKind: order.triggerKind,
    triggerPrice: order.triggerPrice,
    triggerState: order.triggerKind === TRIGGER.none ? TRIGGER_STATE.live : TRIGGER_STATE.dormant,
    parentSequence: input.kind === 'created' ? input.parent : 0,
    parentId: order.parentId,
    enabledQuantity: order.quantity,
    activatedQuantity: 0,
    droppedQuantity: 0,
    maxFeeRate: order.maxFeeRate,
    creationNs: order.creationNs,
    timestampNs: order.creationNs,
    goodUntilNs: order.goodUntilNs,
    expiryNs: order.expiryNs,
    admittedNs: input.timeNs,
    lastUpdateNs: input.timeNs,
    filledQuantity: 0,
    filledNotional: ZERO_18,
    fees: ZERO_18,
    end: 0,
    faultReason: ROLLBACK_REASON.none,
    verdict,
    text: order.text,
    signature: order.signature,
  };
}

/** The row with these changes. */
export function changedRow(row: OrderRow, changes: OrderChanges): OrderRow {
  return {
    marketIndex: row.marketIndex,
    orderSequence: row.orderSequence,
    prioritySequence: changes.prioritySequence ?? row.prioritySequence,
    user: row.user,
    subAccount: row.subAccount,
    orderId: row.orderId,
    side: row.side,
    kind: row.kind,
    tif: row.tif,
    flags: changes.flags ?? row.flags,
    price: changes.price ?? row.price,
    quantity: changes.quantity ?? row.quantity,
    amount: row.amount,
    budget: row.budget,
    triggerKind: changes.triggerKind ?? row.triggerKind,
    triggerPrice: changes.triggerPrice ?? row.triggerPrice,
    triggerState: changes.triggerState ?? row.triggerState,
    parentSequence: changes.parentSequence ?? row.parentSequence,
    parentId: row.parentId,
    enabledQuantity: changes.enabledQuantity ?? row.enabledQuantity,
    activatedQuantity: changes.activatedQuantity ?? row.activatedQuantity,
    droppedQuantity: changes.droppedQuantity ?? row.droppedQuantity,
    maxFeeRate: row.maxFeeRate,
    creationNs: row.creationNs,
    timestampNs: changes.timestampNs ?? row.timestampNs,
    goodUntilNs: row.goodUntilNs,
    expiryNs: row.expiryNs,
    admittedNs: row.admittedNs,
    lastUpdateNs: changes.lastUpdateNs ?? row.lastUpdateNs,
    filledQuantity: changes.filledQuantity ?? row.filledQuantity,
    filledNotional: changes.filledNotional ?? row.filledNotional,
    fees: changes.fees ?? row.fees,
    end: changes.end ?? row.end,
    faultReason: changes.faultReason ?? row.faultReason,
    verdict: changes.verdict ?? row.verdict,
    text: row.text,
    signature: row.signature,
  };
}
