/**
 * Life of an order on `/orders` and in records (AMB-23, AMB-32, AMB-128): its status, and its one terminal
 * event, with its time.
 *
 *   Canceled   at once, when a remainder is cancelled, or when the order is at fault in a rollback
 *   Removed    when nothing of it lives and no fill of it is pending, with final numbers
 *
 * The market publishes every end, except that an order with its whole quantity confirmed is filled without an event. A
 * market order that reaches its target or cap ends `filled`; no event follows when its fills roll back, and it ended short.
 *
 * An order with its whole quantity pending has no remainder to cancel: a cancel then waits for its fills, and ends as
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
  TRIGGER_STATE,
  type TriggerState,
} from '../../../core/order-terms.ts';
import { filledOf, isFull, type LiveOrder } from './live-order.ts';

interface LifeFigures {
  readonly end: OrderEnd | 0;
  readonly faultReason: RollbackReason;
  readonly quantity: number;
  readonly filledQuantity: number;
  readonly triggerState: TriggerState;
}

/** The status; a rollback may lead back from `Filled`. */
export function statusOf(figures: LifeFigures): OrderStatus {
  if (isFull(figures.quantity, figures.filledQuantity) || figures.end === ORDER_END.filled) return 'Filled';
  if (figures.end === ORDER_END.expired) return 'Expired';
  if (figures.end !== 0 || figures.faultReason !== 0) return 'Canceled';
  if (figures.triggerState !== TRIGGER_STATE.live) return 'Untriggered';
  return figures.filledQuantity > 0 ? 'PartiallyFilled' : 'Open';
}

export function statusOfLive(order: LiveOrder): OrderStatus {
  const { faultReason, quantity, triggerState } = order;
  return statusOf({ end: endOf(order), faultReason, quantity, filledQuantity: filledOf(order), triggerState });
}

/** Whether its status is `Untriggered`, `Open` or `PartiallyFilled` (AMB-17). Computed at every change of an order. */
export function isOpenOrder(
  order: Pick<LiveOrder, 'end' | 'isSpent' | 'faultReason' | 'quantity' | 'pendingQuantity' | 'filledQuantity'>,
): boolean {
  if (order.end !== 0 || order.isSpent || order.faultReason !== 0) return false;
  return !isFull(order.quantity, filledOf(order));
}

/** An order that never rests has ended when it was matched, and is short when a fill of it rolled back, whatever its end. */
function endOf(order: LiveOrder): OrderEnd | 0 {
  if (order.end === 0 && order.isSpent) return ORDER_END.rolledBack;
  return order.end === ORDER_END.filled && order.wasRolledBack ? ORDER_END.immediateOrCancel : order.end;
}

export interface TerminalEvent {
  readonly kind: 'Canceled' | 'Removed';
  readonly reason: string;
}

/** The terminal event that is due now; null when none is, or it has been published. */
export function terminalEventOf(order: LiveOrder): TerminalEvent | null {
  // mutant: terminal-event-once
  if (order.sequence === 0 || order.isClosed) return null;
  const isShort = !isComplete(order);
  if (isShort && order.end !== 0 && isCancelled(order, order.end)) {
    return { kind: 'Canceled', reason: cancelWord(order.end, order.faultReason) };
  }
  // mutant: removal-after-pending
  if (order.pendingFills > 0) return null;
  if (!isShort) return { kind: 'Removed', reason: 'Filled' };
  return order.end === 0 ? null : { kind: 'Removed', reason: shortEndWord(order, order.end) };
}

/** Whether its quantity is reached, or the target or cap of a market order was met and no fill was taken back (AMB-37). */
function isComplete(order: LiveOrder): boolean {
  return isFull(order.quantity, filledOf(order)) || (order.end === ORDER_END.filled && !order.wasRolledBack);
}

/** A remainder was cancelled; or an order that ended by itself is at fault in a fill it had. */
function isCancelled(order: LiveOrder, end: OrderEnd): boolean {
  if (isCancel(end)) return true;
  return order.faultReason !== 0 && (end === ORDER_END.immediateOrCancel || end === ORDER_END.filled);
}

function cancelWord(end: OrderEnd, fault: RollbackReason): string {
  const isFault = end === ORDER_END.atFault || !isCancel(end);
  return (isFault ? ROLLBACK_REASON_WORD[fault] : null) ?? ORDER_END_WORD[end];
}

/** Why an order that ended by itself fell short of its quantity, all fills decided. */
function shortEndWord(order: LiveOrder, end: OrderEnd): string {
  const namesItself = end === ORDER_END.expired || end === ORDER_END.fillOrKill;
  if (namesItself) return ORDER_END_WORD[end];
  const allRolledBack = order.wasRolledBack && order.filledQuantity === 0;
  return ORDER_END_WORD[allRolledBack ? ORDER_END.rolledBack : ORDER_END.immediateOrCancel];
}
