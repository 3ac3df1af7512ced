/** How orders end without an event of their market: as filled, or at a restart (restart.ts). Functions of a row alone. */
import { ORDER_END, ORDER_FLAG, type OrderEnd, ROLLBACK_REASON, TIF, TRIGGER_STATE } from '../core/order-terms.ts';
import type { OrderRow } from './rows.ts';

/** Whether every lot in force is confirmed. Never of an order without a number of lots. */
export function isFilled(row: OrderRow): boolean {
  return row.quantity !== 0 && row.filledQuantity >= row.quantity;
}

/** How an order ends that cannot go back into a book, or null for one that can. */
export function endAtRestart(row: OrderRow): OrderEnd | null {
  if (row.faultReason !== ROLLBACK_REASON.none) return ORDER_END.atFault;
  if ((row.flags & ORDER_FLAG.cancelPending) !== 0) return ORDER_END.userRequested;
  if (isFilled(row)) return ORDER_END.filled;
  if (row.triggerState !== TRIGGER_STATE.live || mayGrow(row)) return null;
  if (row.tif === TIF.ioc) return ORDER_END.immediateOrCancel;
  return row.tif === TIF.fok ? endOfFillOrKill(row) : null;
}

/** Whether more of a child may be released: a child that was released as a whole has no parent here any more. */
function mayGrow({ parentSequence, activatedQuantity, quantity }: OrderRow): boolean {
  return parentSequence !== 0 && activatedQuantity < quantity;
}

/** All of its match was confirmed or nothing; only a child is matched more than once (AMB-29, AMB-34). */
function endOfFillOrKill(row: OrderRow): OrderEnd {
  return row.filledQuantity > 0 && row.parentIdBytes === 0 ? ORDER_END.filled : ORDER_END.fillOrKill;
}
