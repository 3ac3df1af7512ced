/**
 * Orders with a trigger (TRG-01 to TRG-03, TRG-08, AMB-28, AMB-29).
 *
 *   dormant ── a confirmed price, or the market's `triggered` ─▶ fired ── activated ─▶ live
 *
 * The market fires an order once it hears of the price, and tells. Clearing knows the price when it confirms the fill: a
 * stop that is reached is not missed because the market had no time to say so before a crash. What the market says is
 * in force nevertheless: a trigger that it moved meanwhile waits again.
 *
 * A child is told of again when more of it is enabled: it stays fired, or live for the part that was released. Nothing is
 * held or filled before the last state; a restart keeps all of them.
 */
import { ORDER_FLAG, TIF, TRIGGER_STATE } from '../core/order-terms.ts';
import type { RawPrice } from '../core/units.ts';
import { unlinkOrder } from './children.ts';
import type { Activated, Triggered } from './inputs.ts';
import { changedRow } from './order-rows.ts';
import { changeOrder, liveOrder } from './orders.ts';
import type { ClearingState, MarketSlot } from './state.ts';
import { takeReached } from './trigger-heaps.ts';

/** A fill has confirmed at this price: what waits for it is fired, if it was admitted before (TRG-03). */
export function fireReached(state: ClearingState, market: MarketSlot, price: RawPrice): void {
  for (const heap of market.triggers) {
    for (let slot = takeReached(heap, price); slot !== null; slot = takeReached(heap, price)) {
      changeOrder(state, market, slot, changedRow(slot.row, { triggerState: TRIGGER_STATE.fired }));
    }
  }
}

export function applyTriggered(state: ClearingState, market: MarketSlot, input: Triggered): void {
  const slot = liveOrder(market, input.order);
  if (slot.row.triggerState === TRIGGER_STATE.live) return;
  const changes = { triggerState: TRIGGER_STATE.fired, lastUpdateNs: input.timeNs };
  changeOrder(state, market, slot, changedRow(slot.row, changes));
}

/** A child that is released whole is an order like any other from then on: a replace may ask for more (AMB-29). */
export function applyActivated(state: ClearingState, market: MarketSlot, input: Activated): void {
  const slot = liveOrder(market, input.order);
  const { parentSequence, enabledQuantity, quantity, tif, flags } = slot.row;
  const isWhole = parentSequence !== 0 && input.quantity === quantity;
  if (isWhole) unlinkOrder(market, slot);
  const isEntering = parentSequence !== 0 && !isWhole && (tif === TIF.ioc || tif === TIF.fok);
  const changes = {
    parentSequence: isWhole ? 0 : parentSequence,
    enabledQuantity: isWhole ? quantity : enabledQuantity,
    activatedQuantity: isWhole || parentSequence === 0 ? 0 : input.quantity,
    flags: isEntering ? flags | ORDER_FLAG.entering : flags,
    triggerState: TRIGGER_STATE.live,
    prioritySequence: input.prioritySequence,
    lastUpdateNs: input.timeNs,
  };
  changeOrder(state, market, slot, changedRow(slot.row, changes));
  if (isEntering) market.entering = slot;
}
