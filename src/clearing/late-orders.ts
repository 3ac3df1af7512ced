/**
 * The orders of which a start cannot say while it loads them how they will be: those that the replay or the restart behind
 * it may change, and those that the replay creates. All others are, when it is over, what their rows say.
 */
import type { Sequence } from '../core/units.ts';
import type { OrderRow } from './rows.ts';
import type { MarketSlot } from './state.ts';

interface OfMarket {
  /** In the order of admission. */
  readonly names: Set<Sequence>;
  /** Whoever has a higher name is created by the replay. */
  last: Sequence;
}

export class LateOrders {
  readonly #markets = new Map<number, OfMarket>();

  /** The next live order that is loaded: market by market, in the order of admission. @param isSettled it stays as it is. */
  loaded({ marketIndex, orderSequence }: OrderRow, isSettled: boolean): void {
    const own = this.#of(marketIndex);
    own.last = orderSequence;
    if (!isSettled) own.names.add(orderSequence);
  }

  has({ marketIndex, orderSequence }: OrderRow): boolean {
    const own = this.#markets.get(marketIndex);
    return own === undefined || orderSequence > own.last || own.names.has(orderSequence);
  }

  /** Those of a market that live, in the order of admission. A row is a look, valid until the next look at one order. */
  *of({ definition, orders }: MarketSlot): Generator<OrderRow, void, undefined> {
    const own = this.#markets.get(definition.marketIndex);
    for (const name of own?.names ?? []) {
      const row = orders.look(name);
      if (row !== undefined) yield row;
    }
    yield* orders.looksAfter(own?.last ?? 0);
  }

  #of(marketIndex: number): OfMarket {
    const known = this.#markets.get(marketIndex);
    if (known !== undefined) return known;
    const own: OfMarket = { names: new Set(), last: 0 as Sequence };
    this.#markets.set(marketIndex, own);
    return own;
  }
}
