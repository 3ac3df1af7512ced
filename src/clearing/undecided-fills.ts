/** Matches that clearing has and has not decided: behind a hold, or in a unit that is not complete. */
import type { MatchedInput } from './inputs.ts';
import { type ClearingOrder, orderOf, positionOf } from './live-orders.ts';
import type { ClearingMarket, ClearingState, PositionSlot } from './state.ts';

function undecidedOf(state: ClearingState, market: ClearingMarket): readonly MatchedInput[] {
  const { marketIndex } = market.definition;
  const held = state.hooks.waiting.filter(
    (input): input is MatchedInput => input.kind === 'matched' && input.marketIndex === marketIndex,
  );
  return [...held, ...market.fillGroup];
}

/** One side of an undecided match that would move a position. */
interface UndecidedFill {
  readonly order: ClearingOrder;
  readonly fill: MatchedInput;
  readonly isMaker: boolean;
}

/** The undecided fills of orders that trade this position. Orders that wait behind a hold themselves are not known yet. */
export function undecidedFillsOf(state: ClearingState, position: PositionSlot): readonly UndecidedFill[] {
  const market = state.marketOfAsset.get(position.asset);
  if (market === undefined) return [];
  const found: UndecidedFill[] = [];
  for (const fill of undecidedOf(state, market)) {
    for (const [name, isMaker] of [
      [fill.makerOrder, true],
      [fill.takerOrder, false],
    ] as const) {
      const order = orderOf(market, name);
      if (order === undefined || order.account !== position.account) continue;
      if (positionOf(state, order) === position) found.push({ order, fill, isMaker });
    }
  }
  return found;
}
