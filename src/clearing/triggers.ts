/**
 * Orders with a trigger (TRG-01 to TRG-03, TRG-08, AMB-28, AMB-29).
 *
 *   dormant ── a confirmed price, or the market's `triggered` ─▶ fired ── activated ─▶ live
 *
 * The market fires an order when it receives the confirmed price, and sends `triggered`. Clearing fires it with the
 * confirmation itself: a stop that is reached before a crash is not missed. The market's event is in force nevertheless: a
 * trigger that it moved meanwhile waits again.
 *
 * A child gets further `triggered` events as more of it is enabled: it stays fired, or live for the part that was
 * released. Nothing is held or filled before the last state; a restart keeps all of them.
 */
import { ORDER_FLAG, TIF, TRIGGER_STATE } from '../core/order-terms.ts';
import { ORDER_OUTCOME } from '../core/outcomes.ts';
import type { RawPrice } from '../core/units.ts';
import { unlinkChild } from './children.ts';
import type { Activated, Triggered } from './inputs.ts';
import { orderAt } from './live-orders.ts';
import { becomeWhole, changeOrder, fireOrder, namedOrder } from './orders.ts';
import type { ClearingMarket, ClearingState } from './state.ts';
import { confirmPrice, isWorkingOff, nextFired } from './trigger-heaps.ts';

/** Steps of one market before it is another one's turn. */
const STEPS_PER_TURN = 64;

/**
 * A fill has confirmed at this price: what waits for it has fired, if it was admitted before (TRG-03). Records follow a
 * part at a time (`fireSome`): only code that reads records without calling `isFired` sees the difference, and neither hash
 * nor tables do.
 */
export function fireReached(state: ClearingState, market: ClearingMarket, price: RawPrice): void {
  for (const heap of market.triggers) if (confirmPrice(heap, price)) state.firing.add(market);
}

/** Updates the records of so many fired orders, some of each market in turn. The moment changes nothing else. */
export function fireSome(state: ClearingState, stepsMax: number): void {
  let left = stepsMax;
  // A set goes round: a market that is put in again comes last.
  for (const market of state.firing) {
    if (left <= 0) return;
    const steps = Math.min(left, STEPS_PER_TURN);
    left -= steps;
    state.firing.delete(market);
    if (fireInMarket(state, market, steps)) state.firing.add(market);
  }
}

/** Updates the records of all fired orders: before records are written, and before they are sent after a start. */
export function fireAll(state: ClearingState): void {
  fireSome(state, Number.POSITIVE_INFINITY);
}

/** @returns whether there is more to do. */
function fireInMarket(state: ClearingState, market: ClearingMarket, stepsMax: number): boolean {
  for (let step = 0; step < stepsMax; step += 1) {
    const heap = market.triggers.find(isWorkingOff);
    if (heap === undefined) return false;
    const index = nextFired(heap);
    if (index !== null) fireOrder(state, orderAt(market, index));
  }
  return market.triggers.some(isWorkingOff);
}

export function applyTriggered(state: ClearingState, market: ClearingMarket, input: Triggered): void {
  const order = namedOrder(market, input.order);
  if (order.row.triggerState === TRIGGER_STATE.live) return;
  changeOrder(state, order, (row) => {
    row.triggerState = TRIGGER_STATE.fired;
    row.lastUpdateNs = input.timeNs;
  });
  state.outcomes?.order(market, ORDER_OUTCOME.triggered, order.row);
}

/** A child that is released whole is an order like any other from then on: a replace may enlarge it (AMB-29). */
export function applyActivated(state: ClearingState, market: ClearingMarket, input: Activated): void {
  const order = namedOrder(market, input.order);
  const { parentSequence, quantity, tif } = order.row;
  const isChild = parentSequence !== 0;
  const isWhole = isChild && input.quantity === quantity;
  if (isWhole) unlinkChild(market, order.index);
  const isEntering = isChild && !isWhole && (tif === TIF.ioc || tif === TIF.fok);
  changeOrder(state, order, (row) => {
    if (isWhole) {
      becomeWhole(row);
      row.enabledQuantity = quantity;
    } else row.activatedQuantity = isChild ? input.quantity : 0;
    if (isEntering) row.flags |= ORDER_FLAG.entering;
    row.triggerState = TRIGGER_STATE.live;
    row.prioritySequence = input.prioritySequence;
    row.lastUpdateNs = input.timeNs;
  });
  if (isEntering) market.entering = order.index;
  state.outcomes?.order(market, ORDER_OUTCOME.activated, order.row);
}
