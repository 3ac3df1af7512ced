/**
 * A market's levels on their way to market data. A full ring drops; the edge remembers the gap and is healed by whole
 * books (design rule 3).
 */
import type { Side } from '../core/order-terms.ts';
import type { Sequence } from '../core/units.ts';
import type { Outlet } from '../runtime/outbox.ts';
import { DepthCommitted, DepthReset, LevelChanged } from '../schema/generated/messages.ts';
import { writeWords } from '../schema/word-writer.ts';

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

  /** All levels of a command have been told. */
  committed(timeHigh: number, timeLow: number): void {
    this.#commits += 1;
    const outlet = this.#outlet;
    const at = outlet.claim(DepthCommitted.typeId, DepthCommitted.bytes);
    if (at < 0) return;
    DepthCommitted.setCommits(outlet.views, at, this.#commits);
    writeWords(outlet.views, at + DepthCommitted.timeNsAt, timeHigh, timeLow);
    DepthCommitted.setMarketIndex(outlet.views, at, this.#marketIndex);
    outlet.commit();
  }

  /** The whole book follows: the caller tells every level and commits. */
  startReset(sequence: Sequence): void {
    const outlet = this.#outlet;
    const at = outlet.claim(DepthReset.typeId, DepthReset.bytes);
    if (at < 0) return;
    DepthReset.setSequence(outlet.views, at, sequence);
    DepthReset.setMarketIndex(outlet.views, at, this.#marketIndex);
    outlet.commit();
  }
}
