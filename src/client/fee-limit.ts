/**
 * The limit of fees that our own programs sign where their user names none (MON-15): what the order may cost by the market's rates,
 * and not a rate that no market has.
 *
 *   takes at once (IOC, FOK, market)      the rate of a taker
 *   rests or waits (GTC, GTD, a trigger)  twice that, as rates may rise before it is filled
 *
 * Never below a rate that applies now: the node would refuse the order.
 *
 * It runs in a browser too: no Node.js module.
 */
import { mulDivCeil } from '../core/arithmetic.ts';

/** 1e-6 of the notional; the maker's may be negative. */
export interface FeeRates {
  readonly makerFeeRate: number;
  readonly takerFeeRate: number;
}

const RATE_MAX = 4_294_967_295;
const RATE_UNITS = 1_000_000n;

/** @param isLasting the order may rest or waits for a trigger. @returns 1e-6. */
export function feeLimitOf({ makerFeeRate, takerFeeRate }: FeeRates, isLasting: boolean): number {
  // mutant: fee-limit-of-own-programs
  const limit = isLasting ? Math.max(2 * takerFeeRate, makerFeeRate) : takerFeeRate;
  return Math.min(RATE_MAX, Math.max(0, limit));
}

/** The most that a fee of this notional is by a signed limit; both with 18 decimals, rounded up as the node does. */
export function feeAllowed18(notional18: bigint, maxTradingFeesRate: number): bigint {
  return mulDivCeil(notional18, BigInt(maxTradingFeesRate), RATE_UNITS);
}
