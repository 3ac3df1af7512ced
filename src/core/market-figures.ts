/**
 * Public market data before formatting: values that the market-data module computes and codec/market-data-json.ts
 * writes. Types only; prices and quantities in raw book units.
 */
import type { Side } from './order-terms.ts';
import type { RawPrice, RawQuantity, Sequence, TimestampNs } from './units.ts';

/**
 * Levels of a snapshot, or the changed levels of a diff, best first: raw price, raw quantity, raw price, …
 * In a diff a quantity is the new absolute one and 0 removes the level (AMB-98).
 */
export interface DepthLevels {
  readonly asks: readonly number[];
  readonly bids: readonly number[];
  readonly sequenceNumber: number;
}

/** One second with trades. `volume` is Σ raw price × raw quantity, exact. */
export interface Kline {
  readonly openNs: TimestampNs;
  readonly open: RawPrice;
  readonly high: RawPrice;
  readonly low: RawPrice;
  readonly close: RawPrice;
  readonly volume: bigint;
}

export interface KlinePage {
  /** Ascending in time. */
  readonly rows: readonly Kline[];
  readonly page: number;
  readonly limit: number;
  /** Rows over all pages. */
  readonly total: number;
}

/** A confirmed trade without its users. */
export interface PublicTrade {
  readonly marketIndex: number;
  readonly tradeId: Sequence;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly matchedNs: TimestampNs;
  readonly takerSide: Side;
}

/** The rolling day of a market (AMB-100). */
export interface Ticker {
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
