/**
 * Prices, breakers and the risk row of one asset as a child would keep them: every price ever published, searched from
 * the first one at every query.
 */
import type { Fraction, PlainAsset } from './plain-margin.ts';

const HOUR = 3_600_000_000_000n;
const MINUTE = 60_000_000_000n;
/** An oracle that is older binds no mark. */
const BAND_AGE = 2n * MINUTE;

/** A price, the time it is of, and when it came. */
interface Told {
  readonly price: bigint;
  readonly of: bigint;
  readonly came: bigint;
}

export interface PlainRow {
  readonly cf: number;
  readonly lf: number;
  readonly clamps: readonly number[];
  readonly factors: readonly number[];
  readonly spotCap: bigint | null;
  readonly interestCap: bigint | null;
  readonly collateralCap: bigint | null;
  readonly isolatedOnly: boolean;
  readonly minimum: bigint;
  /** Part of the holdings that shorts may borrow, 10^-18 (MON-10). */
  readonly utilization: bigint;
  /** Fraction of the oracle within which a trade is a mark (MON-06); null: as the factors have it; 'none': any trade is. */
  readonly band: Fraction | 'none' | null;
  /** USD: smaller matches leave the mark as it is (MON-06). */
  readonly markMinimum: bigint;
}

export const PLAIN_ROW: PlainRow = {
  cf: 90,
  lf: 100,
  clamps: [0],
  factors: [1_000_000],
  spotCap: null,
  interestCap: null,
  collateralCap: null,
  isolatedOnly: false,
  minimum: 0n,
  utilization: 10n ** 18n,
  band: null,
  markMinimum: 0n,
};

/** The smaller of 1/CF − 1 and 1 − 1/(2 − LF), the rest of 18 decimals dropped. */
export function widestBand({ cf, lf }: Pick<PlainRow, 'cf' | 'lf'>): Fraction {
  const one = 10n ** 18n;
  const ofBorrow = (one * BigInt(100 - lf)) / BigInt(200 - lf);
  const ofCredit = cf === 0 ? one : (one * BigInt(100 - cf)) / BigInt(cf);
  return { n: ofCredit < ofBorrow ? ofCredit : ofBorrow, d: one };
}

const NO_TRIPS: ReadonlySet<number> = new Set();

/** Whether the last of these prices can be used now. @param trips indices of the first price after each start. */
function isUsable(told: readonly Told[], stale: bigint, now: bigint, trips: ReadonlySet<number> = NO_TRIPS): boolean {
  let isTripped = false;
  let good = 0;
  told.forEach((update, at) => {
    const before = told[at - 1];
    if (trips.has(at) && before !== undefined) {
      isTripped = true;
      good = 0;
    }
    if (before === undefined) return;
    if (update.came - before.of > stale) isTripped = true;
    if (!isTripped) return;
    const isFresh = update.came - update.of <= stale;
    const follows = good > 0 && update.of - before.of <= stale;
    good = isFresh ? (follows ? good + 1 : 1) : 0;
    if (good < 3) return;
    isTripped = false;
    good = 0;
  });
  const last = told.at(-1);
  return last !== undefined && !isTripped && !trips.has(told.length) && now - last.of <= stale;
}

export class PlainRisk {
  row: PlainRow = PLAIN_ROW;
  readonly #oracles: Told[] = [];
  readonly #trades: Told[] = [];
  readonly #trips = new Set<number>();

  oracle(price: bigint, of: bigint, came: bigint): void {
    this.#oracles.push({ price, of, came });
  }

  traded(price: bigint, of: bigint, came: bigint): void {
    this.#trades.push({ price, of, came });
  }

  /** A fill of a taker, as a part of its match of that time. @param notional USD, 10^-18. */
  filled(price: bigint, { taker, notional, now }: { taker: number; notional: bigint; now: bigint }): void {
    const { markMinimum } = this.row;
    if (markMinimum > 0n) {
      const isSame = this.#counted.taker === taker && this.#counted.now === now;
      this.#counted = { taker, now, notional: notional + (isSame ? this.#counted.notional : 0n) };
      if (this.#counted.notional < markMinimum) return;
    }
    this.traded(price, now, now);
  }

  #counted = { taker: 0, now: 0n, notional: 0n };

  /** A start: the mark is tripped until enough fresh trades came (AMB-110). */
  restarted(): void {
    this.#trips.add(this.#trades.length);
  }

  /**
   * The prices that liquidation may use now: the oracle alone for two minutes, then last trade and oracle, each unless it is
   * old or tripped.
   */
  usable(now: bigint): readonly bigint[] {
    const trade = this.#trades.at(-1);
    const oracle = this.usableOracle(now);
    if (oracle !== null && now - (this.#oracles.at(-1)?.of ?? 0n) <= BAND_AGE) return [oracle];
    const marks = trade !== undefined && this.#isMarked(now) ? [this.#bound(trade.price, now)] : [];
    return [...marks, ...(oracle === null ? [] : [oracle])];
  }

  usableOracle(now: bigint): bigint | null {
    const oracle = this.#oracles.at(-1);
    return oracle !== undefined && isUsable(this.#oracles, HOUR, now) ? oracle.price : null;
  }

  /** A trade's price, brought within the band of the oracle of now: towards the oracle a rest is dropped. */
  #bound(price: bigint, now: bigint): bigint {
    const oracle = this.#oracles.at(-1);
    const { band } = this.row;
    if (band === 'none' || oracle === undefined || now - oracle.of > BAND_AGE) return price;
    const { n, d } = band ?? widestBand(this.row);
    const away = (oracle.price * n) / d;
    if (price > oracle.price + away) return oracle.price + away;
    return price < oracle.price - away ? oracle.price - away : price;
  }

  /** The last oracle price, for two hours; 0 without one. */
  shield(now: bigint): bigint {
    const oracle = this.#oracles.at(-1);
    return oracle === undefined || now - oracle.of > 2n * HOUR ? 0n : oracle.price;
  }

  #isMarked(now: bigint): boolean {
    return isUsable(this.#trades, MINUTE, now, this.#trips);
  }

  /** The asset now, with these sums of long and short legs. */
  asset(now: bigint, legs: readonly bigint[]): PlainAsset {
    const oracle = this.#oracles.at(-1)?.price ?? this.#trades.at(-1)?.price ?? 0n;
    const isMarked = this.#isMarked(now);
    const { cf, lf, clamps, factors, spotCap } = this.row;
    return {
      cf,
      lf,
      clamps,
      factors,
      spotCap,
      credits: legs.filter((leg) => leg > 0n).reduce((a, b) => a + b, 0n),
      borrows: legs.filter((leg) => leg < 0n).reduce((a, b) => a - b, 0n),
      oracle,
      mark: isMarked ? this.#bound(this.#trades.at(-1)?.price ?? 0n, now) : oracle,
      broken: !isUsable(this.#oracles, HOUR, now),
    };
  }
}

/** Whether one of the three measures is above its cap, and which it is. */
export function measuresAbove(
  row: PlainRow,
  asset: PlainAsset,
  collateral: bigint,
): readonly ('oi' | 'net' | 'spot')[] {
  const above: ('oi' | 'net' | 'spot')[] = [];
  const isWorthMore = (price: bigint, cap: bigint): boolean =>
    [asset.credits, asset.borrows].some((sum) => sum * price > cap * 10n ** 18n);
  const { interestCap, spotCap, collateralCap } = row;
  if (interestCap !== null && [asset.oracle, asset.mark].some((price) => isWorthMore(price, interestCap))) {
    above.push('oi');
  }
  const net = asset.credits - asset.borrows;
  if (spotCap !== null && (net > spotCap || -net > spotCap)) above.push('net');
  if (collateralCap !== null && collateral > collateralCap) above.push('spot');
  return above;
}
