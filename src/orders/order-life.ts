/**
 * Life of an order on `/orders` and in records (AMB-23, AMB-32, AMB-128): which word its status is, and which one
 * terminal event it gets, when.
 *
 *   Canceled   at once, when someone or something takes a remainder off, or when the order is at fault in a rollback
 *   Removed    when nothing of it lives and no fill of it is pending, with final numbers
 *
 * The market names every end, except that an order whose whole quantity is confirmed is filled without a word.
 *
 * An order whose whole quantity is pending has no remainder to take off: a cancel then waits for its fills, and ends as
 * `Removed` `Filled`, or as `Canceled` when one of them rolls back.
 */
import {
  isCancel,
  ORDER_END,
  ORDER_END_WORD,
  type OrderEnd,
  type OrderStatus,
  ROLLBACK_REASON_WORD,
  type RollbackReason,
} from '../core/order-terms.ts';
import { filledOf, type LiveOrder } from './live-orders.ts';

export interface LifeFigures {
  readonly end: OrderEnd | 0;
  readonly faultReason: RollbackReason;
  readonly quantity: number;
  readonly filledQuantity: number;
}

/** The status word; a rollback may lead back from `Filled`. */
export function statusOf(figures: LifeFigures): OrderStatus {
  if (figures.filledQuantity >= figures.quantity) return 'Filled';
  if (figures.end === ORDER_END.expired) return 'Expired';
  if (figures.end !== 0 || figures.faultReason !== 0) return 'Canceled';
  return figures.filledQuantity > 0 ? 'PartiallyFilled' : 'Open';
}

export function statusOfLive(order: LiveOrder): OrderStatus {
  const { faultReason, quantity } = order;
  const end = order.end === 0 && order.isSpent ? ORDER_END.rolledBack : order.end;
  return statusOf({ end, faultReason, quantity, filledQuantity: filledOf(order) });
}

export interface TerminalEvent {
  readonly kind: 'Canceled' | 'Removed';
  readonly reason: string;
}

/** The terminal event that is due now; null when none is, or it has been told. */
export function terminalEventOf(order: LiveOrder): TerminalEvent | null {
  if (order.sequence === 0 || order.isTold) return null;
  const isShort = filledOf(order) < order.quantity;
  if (isShort && order.end !== 0 && isCancelled(order, order.end)) {
    return { kind: 'Canceled', reason: cancelWord(order.end, order.faultReason) };
  }
  if (order.pendingFills > 0) return null;
  if (!isShort) return { kind: 'Removed', reason: 'Filled' };
  return order.end === 0 ? null : { kind: 'Removed', reason: shortEndWord(order, order.end) };
}

/** Somebody took a remainder off; or an order that ended for want of a counterparty is at fault in a fill it had. */
function isCancelled(order: LiveOrder, end: OrderEnd): boolean {
  return isCancel(end) || (order.faultReason !== 0 && end === ORDER_END.immediateOrCancel);
}

function cancelWord(end: OrderEnd, fault: RollbackReason): string {
  const isFault = end === ORDER_END.atFault || !isCancel(end);
  return (isFault ? ROLLBACK_REASON_WORD[fault] : null) ?? ORDER_END_WORD[end];
}

/** Why an order that ended by itself fell short of its quantity, all fills decided. */
function shortEndWord(order: LiveOrder, end: OrderEnd): string {
  if (end !== ORDER_END.immediateOrCancel && end !== ORDER_END.rolledBack) return ORDER_END_WORD[end];
  const allRolledBack = order.wasRolledBack && order.confirmed.quantity === 0;
  return ORDER_END_WORD[allRolledBack ? ORDER_END.rolledBack : ORDER_END.immediateOrCancel];
}
