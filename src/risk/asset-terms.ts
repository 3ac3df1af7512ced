/**
 * What one leg of an asset is worth, five ways (service spec 2.8, AMB-44, AMB-46).
 *
 *   figure                credit, floored                     borrow, ceiled
 *   equity at P           amount × P                          amount × P
 *   maintenance           amount × CF × max(oracle, mark)     amount × (2−LF) × min(oracle, mark)
 *   initial at P          amount × CF × im × P                amount × (2−LF) × (2−im) × P
 *
 * Each is one exact product and one rounding at 10^-18 USD against the user. Prices and weights are multiplied once,
 * when prices or the factor change, so that a leg costs one multiplication and one division.
 *
 * A credit of a circuit-broken asset is worth nothing, in equity too; its borrow counts in full, im at its floor.
 */
import { larger, mulDivFloor, smaller } from '../core/arithmetic.ts';
import { ONE_18, type TimestampNs } from '../core/units.ts';
import type { Interest } from './caps.ts';
import { type AssetPrices, assetPrices, type PriceSource, USD_PRICES } from './prices.ts';
import {
  FACTOR_ONE,
  imFactor as factorInForce,
  imFloor,
  nextImFactor,
  type RiskTerms,
  USD_TERMS,
} from './risk-terms.ts';

/** Percent × 1e-6: the scale of a weight of 1. */
export const WEIGHT_ONE: bigint = 100n * FACTOR_ONE;
/** An amount × a price × a weight has this scale too much. */
const WEIGHED = ONE_18 * WEIGHT_ONE;

/** Prices by figure, each times its weight, for credits or for borrows. */
interface Weighed {
  readonly maintenance: bigint;
  readonly initialOracle: bigint;
  readonly initialMark: bigint;
}

export interface AssetTerms {
  readonly prices: AssetPrices;
  readonly risk: RiskTerms;
  /** In force, 1e-6. */
  readonly imFactor: bigint;
  readonly credit: Weighed;
  readonly borrow: Weighed;
  /** The initial figures with the factor of the next lower step: what order entry holds ready for what opens (MON-07). */
  readonly next: { readonly credit: InitialPrices; readonly borrow: InitialPrices };
}

type InitialPrices = Omit<Weighed, 'maintenance'>;

/**
 * @param imFactor 1e-6, of imFactor(); a broken asset has its floor whatever is given.
 * @param nextFactor of nextImFactor(); the same unless given.
 */
export function assetTerms(
  risk: RiskTerms,
  prices: AssetPrices,
  imFactor: bigint,
  nextFactor: bigint = imFactor,
): AssetTerms {
  const { oracle, mark, isBroken } = prices;
  const factor = isBroken ? imFloor(risk) : imFactor;
  const collateral = isBroken ? 0n : risk.collateralFactor;
  const initialCredit = collateral * factor;
  const initialBorrow = risk.liabilityWeight * (2n * FACTOR_ONE - factor);
  const next = isBroken ? factor : nextFactor;
  const nextCredit = collateral * next;
  const nextBorrow = risk.liabilityWeight * (2n * FACTOR_ONE - next);
  return {
    prices,
    risk,
    imFactor: factor,
    credit: {
      maintenance: larger(oracle, mark) * collateral * FACTOR_ONE,
      initialOracle: oracle * initialCredit,
      initialMark: mark * initialCredit,
    },
    borrow: {
      maintenance: smaller(oracle, mark) * risk.liabilityWeight * FACTOR_ONE,
      initialOracle: oracle * initialBorrow,
      initialMark: mark * initialBorrow,
    },
    next: {
      credit: { initialOracle: oracle * nextCredit, initialMark: mark * nextCredit },
      borrow: { initialOracle: oracle * nextBorrow, initialMark: mark * nextBorrow },
    },
  };
}

/** The two price sources of an asset; null where it never had one. */
export interface PriceSources {
  readonly oracle: PriceSource | null;
  readonly mark: PriceSource | null;
}

/** The terms of an asset at `nowNs`, from its risk row, its sources and what all users have open in it. */
export function termsInForce(
  risk: RiskTerms,
  { oracle, mark }: PriceSources,
  interest: Interest,
  nowNs: TimestampNs,
): AssetTerms {
  const prices = assetPrices(oracle, mark, risk.markRule, nowNs);
  return assetTerms(risk, prices, factorInForce(risk, interest), nextImFactor(risk, interest));
}

export const USD_ASSET: AssetTerms = assetTerms(USD_TERMS, USD_PRICES, FACTOR_ONE);

/** A signed leg at weighed prices: credits floor, borrows ceil, so both round down as signed numbers. */
export function weighedLeg(terms: AssetTerms, amount: bigint, figure: keyof Weighed): bigint {
  return mulDivFloor(amount, (amount < 0n ? terms.borrow : terms.credit)[figure], WEIGHED);
}

/** A signed leg in USD at a plain price, in equity: credits floor, borrows ceil; a broken credit is worth nothing. */
export function equityLeg(terms: AssetTerms, amount: bigint, at: 'oracle' | 'mark'): bigint {
  if (amount > 0n && terms.prices.isBroken) return 0n;
  return storedLeg(terms, amount, at);
}

/** A signed leg at the last stored price, broken or not. */
export function storedLeg(terms: AssetTerms, amount: bigint, at: 'oracle' | 'mark'): bigint {
  return mulDivFloor(amount, terms.prices[at], ONE_18);
}

/** What a credit of a broken asset would count for maintenance at its last oracle price, floored (MON-11). @param amount above 0. */
export function shieldLeg({ prices, risk }: AssetTerms, amount: bigint): bigint {
  return mulDivFloor(amount, prices.shield * risk.collateralFactor * FACTOR_ONE, WEIGHED);
}

/** A signed leg at the mark, or at the last stored price, broken or not: for PnL, and its magnitude for notional. */
export function legAtMark(terms: AssetTerms, amount: bigint): bigint {
  return storedLeg(terms, amount, 'mark');
}
