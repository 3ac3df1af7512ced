/**
 * The trades of a replica: what its feed has read of the tape, for the market data of the same process, which reads them as the tables
 * of a node. Kept until they are read: klines and tickers have them then.
 */
import type { TradeFigures } from '../core/market-figures.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { StoredTrade, TradeSource } from './market-data-feed.ts';

export class TapeStore implements TradeSource {
  /** By market, oldest first. */
  readonly #trades = new Map<number, StoredTrade[]>();

  /** Trades of one or more markets, in the order of their ids in each; one that is there, or was, is left. */
  add(trades: readonly TradeFigures[]): void {
    for (const trade of trades) {
      const kept = this.#trades.get(trade.marketIndex) ?? [];
      const last = kept.at(-1)?.tradeId ?? 0;
      if (trade.tradeId > last) kept.push({ ...trade, isAutoDeleverage: false });
      this.#trades.set(trade.marketIndex, kept);
    }
  }

  /** Everything was read: of each market the last trade stays. */
  release(): void {
    for (const [market, trades] of this.#trades) this.#trades.set(market, trades.slice(-1));
  }

  *marketTradesSince(marketIndex: number, sinceNs: TimestampNs): Generator<StoredTrade, void, undefined> {
    const trades = this.#of(marketIndex);
    for (let at = trades.length - 1; at >= 0; at -= 1) {
      const trade = trades[at];
      if (trade === undefined || trade.matchedNs < sinceNs) return;
      yield trade;
    }
  }

  marketTradesAfter(marketIndex: number, tradeId: Sequence, limit: number): readonly StoredTrade[] {
    const trades = this.#of(marketIndex);
    return trades.slice(firstFrom(trades, tradeId + 1)).slice(0, limit);
  }

  marketTrades({
    marketIndex,
    below,
    skip,
    limit,
  }: {
    readonly marketIndex: number;
    readonly below: Sequence | null;
    readonly skip: number;
    readonly limit: number;
  }): readonly StoredTrade[] {
    const trades = this.#of(marketIndex);
    const end = Math.max(0, (below === null ? trades.length : firstFrom(trades, below)) - skip);
    return trades.slice(Math.max(0, end - limit), end).reverse();
  }

  #of(marketIndex: number): readonly StoredTrade[] {
    return this.#trades.get(marketIndex) ?? [];
  }
}

/** Index of the first trade with this id or a larger one. */
function firstFrom(trades: readonly StoredTrade[], tradeId: number): number {
  let low = 0;
  let high = trades.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((trades[middle]?.tradeId ?? 0) < tradeId) low = middle + 1;
    else high = middle;
  }
  return low;
}
