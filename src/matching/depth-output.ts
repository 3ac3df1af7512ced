/**
 * Writes a market's levels to market data. A full ring drops them; the edge then has a gap, which is closed by a whole
 * book (design rule 3).
 */
import type { Side } from '../core/order-terms.ts';
import type { Sequence } from '../core/units.ts';
import type { Outlet } from '../runtime/outbox.ts';
import { DepthCommitted, DepthReset, LevelChanged } from '../schema/generated/messages.ts';

export class DepthOutput {
  readonly #marketIndex: number;
  readonly #outlet: Outlet;
  #commits = 0;

  constructor(marketIndex: number, outlet: Outlet) {
    this.#marketIndex = marketIndex;
    this.#outlet = outlet;
  }

  levelChanged(side: Side, price: number, quantity: number): void {
    const outlet = this.#outlet;
    const at = outlet.claim(LevelChanged.typeId, LevelChanged.bytes);
    if (at < 0) return;
    LevelChanged.setPrice(outlet.views, at, price);
    LevelChanged.setQuantity(outlet.views, at, quantity);
    LevelChanged.setMarketIndex(outlet.views, at, this.#marketIndex);
    LevelChanged.setSide(outlet.views, at, side);
    outlet.commit();
  }

  /** Ends the levels of a command. */
  committed(timeHigh: number, timeLow: number): void {
    this.#commits += 1;
    const outlet = this.#outlet;
    const at = outlet.claim(DepthCommitted.typeId, DepthCommitted.bytes);
    if (at < 0) return;
    DepthCommitted.setCommits(outlet.views, at, this.#commits);
    DepthCommitted.setTimeNsWords(outlet.views, at, timeHigh, timeLow);
    DepthCommitted.setMarketIndex(outlet.views, at, this.#marketIndex);
    outlet.commit();
  }

  /** Begins a whole book: the caller publishes every level and commits. */
  startReset(sequence: Sequence): void {
    const outlet = this.#outlet;
    const at = outlet.claim(DepthReset.typeId, DepthReset.bytes);
    if (at < 0) return;
    DepthReset.setSequence(outlet.views, at, sequence);
    DepthReset.setMarketIndex(outlet.views, at, this.#marketIndex);
    outlet.commit();
  }
}
