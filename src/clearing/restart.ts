/**
 * What a start does to the state (AMB-110): a node that was killed may have announced more than it flushed.
 *
 *   matches never confirmed      gone; their orders have their quantity back, because only confirmed fills count here
 *   other inputs behind a hold   applied: they were journaled
 *   orders at fault, covered, filled, IOC, FOK or market, without an `ended` of their market      ended here
 *   orders that wait for their trigger, or for their release      kept, whatever their kind
 *   members of a protection group that has tripped since they came    ended here (MMP-03)
 *   children that may be released further      kept, whatever their kind, with what their market has put in force
 *   children whose parent is over      cut to what its fills have enabled (AMB-29)
 *   market sequences, trade ids  jump by RESTART_SEQUENCE_GAP after an unclean stop, so that none is used twice
 *   holds and faults             gone
 *   dead-man timers, a handover  those of a cluster are over
 *   oracle prices                none has been updated since the start
 *   liquidations                 begin their round anew; orders of the node are over (liquidation/rounds.ts)
 *   rebalancing pools            those below zero, of before version 14, are filled (MON-03)
 *   marks                        tripped: stale until enough fresh ones came in a row
 */
import { assert } from '../core/assert.ts';
import { RESTART_SEQUENCE_GAP } from '../core/limits.ts';
import { ORDER_END, type OrderEnd } from '../core/order-terms.ts';
import { ORDER_OUTCOME } from '../core/outcomes.ts';
import type { RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import { tripped } from '../risk/prices.ts';
import { hasLiveParent } from './children.ts';
import type { Effect } from './effects.ts';
import { fillShortPools } from './funds/rebalancing.ts';
import { endHolds, setFault } from './hooks.ts';
import type { Restarted } from './inputs.ts';
import { endLeader } from './leader-marks.ts';
import { restartBackstop } from './liquidation/backstop.ts';
import { restartLiquidations } from './liquidation/rounds.ts';
import { type ClearingOrder, orderAt } from './live-orders.ts';
import { dropWaitingFills } from './market-inputs.ts';
import { endAtRestart } from './order-ends.ts';
import { becomeWhole, changeOrder, dropUnmatched, finishOrder } from './orders.ts';
import { endOfMember } from './protections.ts';
import { jumpNumbers } from './quote-sets.ts';
import { forgetUpdates } from './registry/prices.ts';
import { placeStart } from './registry/registry-config.ts';
import { changeMark } from './risks.ts';
import { type OrderRow, plainRow } from './rows.ts';
import type { ClearingMarket, ClearingState } from './state.ts';
import { fireAll } from './triggers.ts';

/** @param endOf how an order ends that would live on; null: it does. */
export function applyRestarted(
  state: ClearingState,
  input: Restarted,
  nowNs: TimestampNs,
  effects: Effect[],
  endOf: (row: OrderRow) => OrderEnd | null = () => null,
): void {
  endHolds(state.hooks);
  setFault(state.hooks, null);
  dropWaitingFills(state, nowNs, effects);
  fireAll(state);
  beginRestart(state, input);
  placeStart(state, nowNs);
  for (const market of state.markets) {
    // In the order of their admission: parents before children.
    for (const index of market.orders.indexes()) restartOrder(state, orderAt(market, index), nowNs, effects, endOf);
  }
}

/** What a restart does apart from orders, in a state in which nothing waits behind a hook and no price is worked off. */
export function beginRestart(state: ClearingState, { clean }: Pick<Restarted, 'clean'>): void {
  assert(state.hooks.waiting.length === 0 && state.firing.size === 0, 'what is changed at a restart has been applied');
  endLeader(state);
  forgetUpdates(state);
  for (const slot of state.risks.values()) if (slot.mark !== null) changeMark(state, slot, tripped(slot.mark));
  for (const market of state.markets) {
    market.fillGroup = [];
    if (!clean) jumpSequences(state, market, RESTART_SEQUENCE_GAP);
    // mutant: quote-numbers-jump
    if (!clean) jumpNumbers(state, market, RESTART_SEQUENCE_GAP);
    market.decidedSequence = market.sequence;
    market.decidedTradeId = market.lastTradeId;
    state.touchedMarkets.add(market);
  }
  restartLiquidations(state);
  restartBackstop(state);
  fillShortPools(state);
}

/**
 * What it does to an order. In a market, orders follow in the order of their admission, so a parent comes before its
 * children; those behind it need not be loaded.
 *
 * @returns whether it lives on.
 */
export function restartOrder(
  state: ClearingState,
  order: ClearingOrder,
  nowNs: TimestampNs,
  effects: Effect[],
  endOf: (row: OrderRow) => OrderEnd | null = () => null,
): boolean {
  const { index, row, market } = order;
  if (market.entering === index) dropUnmatched(state, market);
  const end =
    (isCut(market, row) ? cut(state, order) : null) ??
    endAtRestart(row) ??
    endOfMember(state, market, row) ??
    endOf(row);
  if (end === null) return true;
  const finished = finishOrder(state, order, (ended) => {
    ended.end = end;
    ended.lastUpdateNs = nowNs;
  });
  effects.push({ kind: 'orderEnded', row: plainRow(finished) });
  return false;
}

function jumpSequences(state: ClearingState, market: ClearingMarket, gap: number): void {
  market.sequence = (market.sequence + gap) as Sequence;
  market.lastTradeId = (market.lastTradeId + gap) as Sequence;
  state.dirty.markets.add(market);
}

/**
 * What is left of a child whose parent is over: the market may not have sent yet that it takes off what the parent's
 * fills have not enabled (AMB-29).
 */
function isCut(market: ClearingMarket, row: OrderRow): boolean {
  return row.enabledQuantity !== row.quantity && !hasLiveParent(market, row);
}

/** @returns how the child ends; null if lots are left, to which it is then cut. */
function cut(state: ClearingState, order: ClearingOrder): OrderEnd | null {
  const { enabledQuantity } = order.row;
  if (enabledQuantity === 0) return ORDER_END.parentCanceled;
  changeOrder(state, order, (row) => {
    row.quantity = enabledQuantity as RawQuantity;
    if (row.activatedQuantity >= enabledQuantity) becomeWhole(row);
  });
  state.outcomes?.order(order.market, ORDER_OUTCOME.cutAtRestart, order.row);
  return null;
}
