/**
 * What a start does to the state (AMB-110): a node that was killed may have announced more than it flushed.
 *
 *   matches never confirmed      gone; their orders have their quantity back, because only confirmed fills count here
 *   other inputs behind a hold   applied: they were journaled
 *   orders at fault, covered, filled, IOC, FOK or market, whose end the market had no time to send      ended here
 *   orders that wait for their trigger, or for the word that they may go      kept, whatever their kind
 *   children of which more may be released      kept, whatever their kind, with what their market has put in force
 *   children whose parent is over      cut to what its fills have enabled (AMB-29)
 *   market sequences, trade ids  jump by RESTART_SEQUENCE_GAP after an unclean stop, so that none is used twice
 *   holds and faults             gone
 *   marks                        tripped: stale until enough fresh ones came in a row
 */
import { RESTART_SEQUENCE_GAP } from '../core/limits.ts';
import { ORDER_END } from '../core/order-terms.ts';
import type { RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import { tripped } from '../risk/prices.ts';
import { hasLiveParent } from './children.ts';
import type { Effect } from './effects.ts';
import { endHolds, setFault } from './hooks.ts';
import type { Restarted } from './inputs.ts';
import { dropWaitingFills } from './market-inputs.ts';
import { endAtRestart } from './order-ends.ts';
import { changedRow, type OrderChanges } from './order-rows.ts';
import { changeOrder, dropUnmatched, finishOrder, namedOrder } from './orders.ts';
import { changeMark } from './risks.ts';
import type { OrderRow } from './rows.ts';
import type { ClearingState, MarketSlot } from './state.ts';
import { fireAll } from './triggers.ts';

export function applyRestarted(state: ClearingState, input: Restarted, nowNs: TimestampNs, effects: Effect[]): void {
  endHolds(state.hooks);
  setFault(state.hooks, null);
  dropWaitingFills(state, nowNs, effects);
  fireAll(state);
  for (const slot of state.risks.values()) if (slot.mark !== null) changeMark(state, slot, tripped(slot.mark));
  for (const market of state.markets) {
    market.unit = [];
    if (market.entering !== null) dropUnmatched(state, market, market.entering);
    endLostOrders(state, market, nowNs, effects);
    if (!input.clean) jumpSequences(state, market, RESTART_SEQUENCE_GAP);
    market.decidedSequence = market.sequence;
    market.decidedTradeId = market.lastTradeId;
    state.touchedMarkets.add(market);
  }
}

function jumpSequences(state: ClearingState, market: MarketSlot, gap: number): void {
  market.sequence = (market.sequence + gap) as Sequence;
  market.lastTradeId = (market.lastTradeId + gap) as Sequence;
  state.dirty.markets.add(market);
}

/** Each may have to be read from its table. */
const ORDERS_PER_BEAT = 1_024;

const AS_ANY_OTHER: OrderChanges = { parentSequence: 0, activatedQuantity: 0 };

/**
 * What is left of a child whose parent is over: the market may have had no time to take off what the parent's fills have
 * not enabled (AMB-29). @returns its row in force, ended where nothing is left.
 */
function withoutLostPart(market: MarketSlot, row: OrderRow): OrderRow {
  if (row.enabledQuantity === row.quantity || hasLiveParent(market, row)) return row;
  if (row.enabledQuantity === 0) return changedRow(row, { end: ORDER_END.parentCanceled });
  const quantity = row.enabledQuantity as RawQuantity;
  return changedRow(row, row.activatedQuantity < quantity ? { quantity } : { quantity, ...AS_ANY_OTHER });
}

function endLostOrders(state: ClearingState, market: MarketSlot, nowNs: TimestampNs, effects: Effect[]): void {
  // Live orders stand in the order of their sequences: they are created and loaded in it, parents before children.
  let seen = 0;
  for (const name of market.orders.unsettled()) {
    if (seen % ORDERS_PER_BEAT === 0) state.beat();
    seen += 1;
    const slot = namedOrder(market, name);
    const left = withoutLostPart(market, slot.row);
    const end = left.end === 0 ? endAtRestart(left) : left.end;
    if (end !== null) {
      const row = changedRow(left, { end, lastUpdateNs: nowNs });
      finishOrder(state, market, slot, row);
      effects.push({ kind: 'orderEnded', row });
    } else if (left !== slot.row) changeOrder(state, market, slot, left);
  }
}
