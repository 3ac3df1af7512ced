/**
 * Orders with a trigger, as their market tells of them (TRG-01, TRG-08, AMB-28, AMB-29).
 *
 *   dormant ── triggered ─▶ fired ── activated ─▶ live
 *
 * A child is told of again when more of it is enabled: it stays fired, or live for the part that was released. Neither
 * state holds or fills anything before the last; a restart keeps both.
 */
import { TRIGGER_STATE } from '../core/order-terms.ts';
import type { Activated, Triggered } from './inputs.ts';
import { changeOrder, liveOrder } from './orders.ts';
import type { ClearingState, MarketSlot } from './state.ts';

export function applyTriggered(state: ClearingState, market: MarketSlot, input: Triggered): void {
  const slot = liveOrder(market, input.order);
  if (slot.row.triggerState !== TRIGGER_STATE.dormant) return;
  changeOrder(state, market, slot, { ...slot.row, triggerState: TRIGGER_STATE.fired, lastUpdateNs: input.timeNs });
}

export function applyActivated(state: ClearingState, market: MarketSlot, input: Activated): void {
  const slot = liveOrder(market, input.order);
  changeOrder(state, market, slot, {
    ...slot.row,
    triggerState: TRIGGER_STATE.live,
    prioritySequence: input.prioritySequence,
    lastUpdateNs: input.timeNs,
  });
}
