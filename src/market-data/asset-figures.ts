/**
 * Prices and open interest as clearing published them (AMB-43, AMB-54, LIQ-10): absolute values, replaced by each
 * message. What time alone changes is found when they are read.
 *
 *   oracle prices   of every priced asset, with a market or without
 *   last trades     of every market, with the breaker of the mark
 *   open interest   of every market: sums of margin legs over all users
 *
 * The time of a change of open interest is not durable: after a start it is the match time of the market's last trade,
 * and a market without open interest counts as one that never had any until the next change.
 */
import type { AssetId } from '../core/ids.ts';
import type { InterestFigures, ShownPrices } from '../core/market-figures.ts';
import type { Amount18, TimestampNs } from '../core/units.ts';
import { type MarkRule, type PriceSource, shownPrices } from '../risk/prices.ts';
import { NO_ROW_TERMS } from '../risk/risk-terms.ts';

/** The figures of one market as clearing sends them. */
export interface MarketRisk {
  /** The last trade; null before the first. */
  readonly mark: PriceSource | null;
  /** Neither is negative. */
  readonly credits: Amount18;
  readonly borrows: Amount18;
}

export class AssetFigures {
  readonly #oracles = new Map<AssetId, PriceSource>();
  readonly #trades = new Map<AssetId, PriceSource>();
  readonly #interests = new Map<AssetId, InterestFigures>();
  readonly #rules = new Map<AssetId, MarkRule>();

  markRuleChanged(asset: AssetId, rule: MarkRule): void {
    this.#rules.set(asset, rule);
  }

  oracleAccepted(asset: AssetId, oracle: PriceSource): void {
    this.#oracles.set(asset, oracle);
  }

  /** @param nowNs time of the change; null for figures as they were at the start of this thread. */
  riskChanged(asset: AssetId, { mark, credits, borrows }: MarketRisk, nowNs: TimestampNs | null): void {
    if (mark !== null) this.#trades.set(asset, mark);
    const known = this.#interests.get(asset);
    const isFlat = credits === 0n && borrows === 0n;
    // mutant: open-interest-time
    if (known === undefined ? isFlat : known.long === credits && known.short === borrows) return;
    const changedNs = nowNs ?? mark?.timeNs ?? (0n as TimestampNs);
    this.#interests.set(asset, { long: credits, short: borrows, changedNs });
  }

  /** Whether the asset has ever had a price. */
  isPriced(asset: AssetId): boolean {
    return this.#oracles.has(asset) || this.#trades.has(asset);
  }

  prices(asset: AssetId, nowNs: TimestampNs): ShownPrices {
    const rule = this.#rules.get(asset) ?? NO_ROW_TERMS.markRule;
    return shownPrices(this.#oracles.get(asset) ?? null, this.#trades.get(asset) ?? null, rule, nowNs);
  }

  /** Null for a market that never had a position. */
  openInterest(asset: AssetId): InterestFigures | null {
    return this.#interests.get(asset) ?? null;
  }
}
