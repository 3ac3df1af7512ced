/**
 * Public figures of markets before formatting: values that market data and clearing compute and src/codec writes. Types
 * only; prices and quantities in raw book units, but for those at risk.
 */
import type { AssetId } from './ids.ts';
import type { Side } from './order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from './units.ts';

/**
 * Levels of a snapshot, or the changed levels of a diff, best first: raw price, raw quantity, raw price, …
 * In a diff a quantity is the new absolute one and 0 removes the level (AMB-98).
 */
export interface DepthLevels {
  readonly asks: readonly number[];
  readonly bids: readonly number[];
  readonly sequenceNumber: number;
}

/** A bucket with trades. `volume` is Σ raw price × raw quantity, exact. */
export interface KlineFigures {
  readonly openNs: TimestampNs;
  readonly open: RawPrice;
  readonly high: RawPrice;
  readonly low: RawPrice;
  readonly close: RawPrice;
  readonly volume: bigint;
}

export interface KlineFiguresPage {
  /** Ascending in time. */
  readonly rows: readonly KlineFigures[];
  readonly page: number;
  readonly limit: number;
  /** Rows over all pages. */
  readonly total: number;
}

/** A page of rows at a requested width. */
export interface WidePage extends KlineFiguresPage {
  /** Seconds. */
  readonly width: number;
  /** Rows that open before it are missing; null when nothing older was traded. */
  readonly truncatedBeforeNs: TimestampNs | null;
}

/** A confirmed trade without its users. */
export interface TradeFigures {
  readonly marketIndex: number;
  readonly tradeId: Sequence;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly matchedNs: TimestampNs;
  readonly takerSide: Side;
}

/** The rolling day of a market (AMB-100). */
export interface TickerFigures {
  /** Price of the last trade; null before the first. */
  readonly lastPrice: RawPrice | null;
  /** Null without a trade in the window. `volume` is Σ raw price × raw quantity. */
  readonly day: {
    readonly open: RawPrice;
    readonly high: RawPrice;
    readonly low: RawPrice;
    readonly volume: bigint;
    /** (last − open) / open in thousandths of a percent, half away from zero. */
    readonly changeMilliPercent: bigint;
  } | null;
  /** The time of the figures. */
  readonly asOfNs: TimestampNs;
}

/** A price level of the book, with its total quantity. */
export interface BookLevel {
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
}

/** Sums of an asset's legs over the margin positions of all users, in units of the asset, neither negative (AMB-54). */
export interface InterestFigures {
  readonly long: Amount18;
  readonly short: Amount18;
  /** When either changed last. */
  readonly changedNs: TimestampNs;
}

/** What a ticker carries beside the rolling day. Null: none. */
export interface MarketQuotes {
  /** USD, 18 decimals. */
  readonly markPrice: Amount18 | null;
  readonly indexPrice: Amount18 | null;
  readonly bestBid: BookLevel | null;
  readonly bestAsk: BookLevel | null;
  readonly openInterest: InterestFigures | null;
}

/** The prices that public reads show of an asset, USD, 18 decimals, each with its match or publish time. */
export interface ShownPrices {
  readonly mark: { readonly price: Amount18; readonly timeNs: TimestampNs; readonly source: 'trade' | 'oracle' } | null;
  readonly oracle: { readonly price: Amount18; readonly timeNs: TimestampNs } | null;
}

/** A market's ticker in full. */
export interface QuotedTicker {
  readonly ticker: TickerFigures;
  readonly quotes: MarketQuotes;
}

/** One side of an asset over all accounts at risk (wire.md G14). */
export interface AtRiskSide {
  /** Sum of the positions, units of the asset, 18 decimals, not negative. */
  readonly quantity: Amount18;
  /** Average of the accounts' liquidation prices by quantity, USD, 18 decimals, floored; null when none is above zero. */
  readonly liquidationPrice: Amount18 | null;
}

/** What is at risk in one asset: at least one side is not empty. */
interface AtRiskAsset {
  readonly assetId: AssetId;
  readonly long: AtRiskSide;
  readonly short: AtRiskSide;
}

/** The global aggregate of `/liquidation/at_risk/ws` (STR-06, AMB-62). */
export interface AtRiskFigures {
  readonly timestampNs: TimestampNs;
  /** In the numeric order of assets, at most AT_RISK_ASSETS_MAX. */
  readonly assets: readonly AtRiskAsset[];
}
