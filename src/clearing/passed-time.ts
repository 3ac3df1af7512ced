/**
 * The time up to which clearing has decided what its markets matched, published to market data when a market is quiet too:
 * it closes the klines of each second that is over (KLN-05, AMB-99). A market with events passes time with each of them;
 * a quiet one with the ticks of clearing's thread.
 *
 *   tick at time t ─▶ next tick: what was matched before t has been received ─▶ t, where no fill of the market is undecided
 *
 * At most once a market and second, as klines have no finer time. What a market matched before t and has not sent is
 * confirmed later, and amends its row.
 */

import { msUntil, SECOND_NS, type TimestampNs } from '../core/units.ts';
import type { MarketDecidedEffect } from './effects.ts';
import type { ClearingMarket } from './state.ts';

export class PassedTime {
  /** The time of the tick before; 0 before the first. */
  #tickedNs = 0n as TimestampNs;
  /** The last second that was published, by market index. */
  readonly #seconds: bigint[] = [];

  /** Milliseconds until `tick` may publish something, by the node clock; 0 when the next one may. */
  nextTickMs(nowNs: TimestampNs, markets: readonly ClearingMarket[]): number {
    const second = this.#tickedNs / SECOND_NS;
    if (markets.some(({ definition }) => second > (this.#seconds[definition.marketIndex] ?? 0n))) return 0;
    return msUntil((nowNs / SECOND_NS + 1n) * SECOND_NS, nowNs);
  }

  /** Every tick. @param publish takes what is due of a market. */
  tick(nowNs: TimestampNs, markets: readonly ClearingMarket[], publish: (passed: MarketDecidedEffect) => void): void {
    // mutant: quiet-market-time
    const timeNs = this.#tickedNs;
    this.#tickedNs = nowNs;
    const second = timeNs / SECOND_NS;
    for (const { definition, waiting, fillGroup, decidedSequence, decidedTradeId } of markets) {
      const { marketIndex } = definition;
      if (second <= (this.#seconds[marketIndex] ?? 0n) || waiting || fillGroup.length > 0) continue;
      this.#seconds[marketIndex] = second;
      const through = { throughTradeId: decidedTradeId, throughSequence: decidedSequence };
      publish({ kind: 'marketDecided', marketIndex, ...through, timeNs });
    }
  }
}
