/**
 * What a start does to the state (AMB-110): a node that was killed may have announced more than it flushed.
 *
 *   matches never confirmed      gone; their orders have their quantity back, because only confirmed fills count here
 *   other inputs behind a hold   applied: they were journaled
 *   orders at fault, filled, IOC or FOK, whose end the market had no time to send      ended here
 *   market sequences, trade ids  jump by RESTART_SEQUENCE_GAP after an unclean stop, so that none is used twice
 *   holds and faults             gone
 */
import { RESTART_SEQUENCE_GAP } from '../core/limits.ts';
import { ORDER_END, type OrderEnd, ROLLBACK_REASON, TIF } from '../core/order-terms.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { Effect } from './effects.ts';
import { endHolds, setFault } from './hooks.ts';
import type { Restarted } from './inputs.ts';
import { dropWaitingFills } from './market-inputs.ts';
import { finishOrder, isFilled } from './orders.ts';
import type { OrderRow } from './rows.ts';
import type { ClearingState, MarketSlot } from './state.ts';

export function applyRestarted(state: ClearingState, input: Restarted, nowNs: TimestampNs, effects: Effect[]): void {
  endHolds(state.hooks);
  setFault(state.hooks, null);
  dropWaitingFills(state, nowNs, effects);
  for (const market of state.markets) {
    market.unit = [];
    endLostOrders(state, market, nowNs, effects);
    if (!input.clean) jumpSequences(state, market);
    market.decidedSequence = market.sequence;
    market.decidedTradeId = market.lastTradeId;
    state.touchedMarkets.add(market);
  }
}

function jumpSequences(state: ClearingState, market: MarketSlot): void {
  market.sequence = (market.sequence + RESTART_SEQUENCE_GAP) as Sequence;
  market.lastTradeId = (market.lastTradeId + RESTART_SEQUENCE_GAP) as Sequence;
  state.dirty.markets.add(market);
}

/** How an order ends that cannot go back into a book, or null for one that can. */
function endAtRestart(row: OrderRow): OrderEnd | null {
  if (row.faultReason !== ROLLBACK_REASON.none) return ORDER_END.atFault;
  if (isFilled(row)) return ORDER_END.filled;
  if (row.tif === TIF.ioc) return ORDER_END.immediateOrCancel;
  return row.tif === TIF.fok ? ORDER_END.fillOrKill : null;
}

function endLostOrders(state: ClearingState, market: MarketSlot, nowNs: TimestampNs, effects: Effect[]): void {
  // Live orders stand in the order of their sequences: they are created and loaded in it.
  for (const slot of [...market.orders.values()]) {
    const end = endAtRestart(slot.row);
    if (end === null) continue;
    const row: OrderRow = { ...slot.row, end, lastUpdateNs: nowNs };
    finishOrder(state, market, slot, row);
    effects.push({ kind: 'orderEnded', row });
  }
}
