/**
 * Units as types. A brand costs nothing at run time; mixing two brands is a compile error, and arithmetic loses the
 * brand, so every product passes through arithmetic.ts.
 *
 *   RawPrice, RawQuantity   safe integers, 1 … 2^53−1, in the market's raw book units (wire.md 2.2)
 *   Amount18                bigint, 10^-18 of one unit of an asset or of one USD (GEN-11); may be negative
 *   TimestampNs             bigint, u64, nanoseconds since 1970; exceeds 2^53, never a number
 *   Sequence                safe integer that only grows: market sequences, order sequences, trade ids
 */
declare const brand: unique symbol;
type Brand<Base, Name extends string> = Base & { readonly [brand]: Name };

export type RawPrice = Brand<number, 'RawPrice'>;
export type RawQuantity = Brand<number, 'RawQuantity'>;
export type Amount18 = Brand<bigint, 'Amount18'>;
export type TimestampNs = Brand<bigint, 'TimestampNs'>;
export type Sequence = Brand<number, 'Sequence'>;

export const ZERO_18: Amount18 = 0n as Amount18;
export const ONE_18: Amount18 = (10n ** 18n) as Amount18;

/** One second in nanoseconds. */
export const SECOND_NS = 1_000_000_000n;
export const HOUR_NS = 3_600_000_000_000n;
export const DAY_NS = 86_400_000_000_000n;
/** One millisecond in nanoseconds. */
export const MILLISECOND_NS = 1_000_000n;

/** 2020-01-01. No order, price or request of a venue is older. */
export const EARLIEST_NS: bigint = 1_577_836_800n * SECOND_NS;
export const OTHER_UNIT_TEXT = 'is nanoseconds since 1970: from 10^9 up to 2020 it is taken for seconds, ms or µs';

/**
 * Whether a time that a client gave in nanoseconds lies from 10^9 up to 2020-01-01, where seconds, milliseconds and
 * microseconds of today lie (MCH-11). Smaller ones are times of a test or of a clock that begins at 0.
 */
export function isOfOtherUnit(ns: bigint): boolean {
  return ns < EARLIEST_NS && ns >= SECOND_NS;
}

/** Milliseconds until a time, rounded up; 0 when it has passed, Infinity for never (null). */
export function msUntil(timeNs: bigint | null, nowNs: bigint): number {
  if (timeNs === null) return Number.POSITIVE_INFINITY;
  return timeNs <= nowNs ? 0 : Number((timeNs - nowNs + MILLISECOND_NS - 1n) / MILLISECOND_NS);
}

/** The clock of every actor: `system` or `manual` (AMB-113, AMB-141). */
export interface Clock {
  nowNs(): TimestampNs;
}
