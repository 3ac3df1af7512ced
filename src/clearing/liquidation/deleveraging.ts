/**
 * Auto-deleveraging (service spec 3.6.9, ADL-01 to ADL-09): a market has given away trade ids, and they are used now or never,
 * so that the ids of confirmed trades rise.
 */
import type { TimestampNs } from '../../core/units.ts';
import type { Effect } from '../effects.ts';
import type { TradeIdsReserved } from '../inputs.ts';
import type { ClearingState, MarketSlot } from '../state.ts';

export function applyTradeIdsReserved(
  _state: ClearingState,
  market: MarketSlot,
  _input: TradeIdsReserved,
  _nowNs: TimestampNs,
  _effects: Effect[],
): void {
  market.decidedTradeId = market.lastTradeId;
}
