/** A restored order's message as the order manager takes it: a record, and what clearing keeps beside it. */

import { readRestoredRow } from '../clearing/restored-word.ts';
import type { Sequence } from '../core/units.ts';
import { type Views, viewsOf } from '../core/views.ts';
import { OrderRecord, OrderRestoredAtBoot } from '../schema/generated/messages.ts';
import type { OrderManager } from './orders/order-manager.ts';

const RECORD = viewsOf(new ArrayBuffer(OrderRecord.bytes), 0, OrderRecord.bytes);

export function restoreOrder(orders: OrderManager, v: Views, at: number): void {
  const { inForce, parentId, ...row } = readRestoredRow(v, at);
  const parent = OrderRestoredAtBoot.parent(v, at);
  OrderRecord.write(RECORD, 0, {
    ...row,
    prioritySequence: OrderRestoredAtBoot.prioritySequence(v, at) as Sequence,
    parentSequence: parent as Sequence,
    activatedQuantity: 0,
    droppedQuantity: 0,
    admittedNs: row.creationNs,
    maxFeeRate: 0,
    parentIdAt: 0,
    parentIdBytes: parentId.length,
    end: 0,
    faultReason: 0,
    verdict: 0,
  });
  orders.restoreOrder(RECORD, 0, { inForce, parent, parentId });
}
