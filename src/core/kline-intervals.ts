/**
 * Widths of klines and how requests spell them (wire-additions.md 7.1, 7.2).
 *
 * A bare number is a count of minutes; seconds take `S`. So `60` is an hour and `60S` a minute. Suffixes are taken in
 * either case, except `m` (minutes) and `M` (30 days).
 *
 * Buckets start at multiples of their width from the Unix epoch; weeks start on Monday 00:00 UTC.
 */
import { assert } from './assert.ts';
import { accepted, type Outcome, rejected } from './outcome.ts';
import { reject } from './reject.ts';

const HOUR = 3_600;
const DAY = 86_400;
const WEEK = 7 * DAY;
const MONTH = 30 * DAY;
/** 1970-01-05 was a Monday. */
const FIRST_MONDAY = 4 * DAY;

/** Every width in seconds, ascending. */
export const KLINE_WIDTHS: readonly number[] = [
  ...[1, 5, 15, 30, 60, 180, 300, 900, 1_800],
  ...[HOUR, 2 * HOUR, 4 * HOUR, 6 * HOUR, 8 * HOUR, 12 * HOUR],
  ...[DAY, 3 * DAY, WEEK, MONTH],
];

/** Rows of at least this width, in seconds, are stored apart from the trades of seven days. */
export const STORED_WIDTH_MIN = 60;

const WIDTH_OF: ReadonlyMap<string, number> = new Map(KLINE_WIDTHS.flatMap((width) => spellings(width)));

function spellings(width: number): [string, number][] {
  const texts = [`${width}S`];
  if (width >= 60 && width <= HOUR / 2) texts.push(`${width / 60}`, `${width / 60}m`);
  if (width >= HOUR && width <= 12 * HOUR) texts.push(`${width / 60}`, `${width / HOUR}h`);
  if (width === DAY || width === 3 * DAY) texts.push(`${width / DAY}D`);
  if (width === WEEK) texts.push('1W');
  if (width === MONTH) texts.push('1M');
  return texts.map((text) => [text, width]);
}

/** The width of an interval in seconds; INVALID_REQUEST with the field `interval` for every other text. */
export function parseInterval(text: string): Outcome<number> {
  const suffix = text.at(-1) ?? '';
  const last = /[shdw]/i.test(suffix) ? (/h/i.test(suffix) ? 'h' : suffix.toUpperCase()) : suffix;
  // mutant: interval-minutes
  const width = WIDTH_OF.get(text.slice(0, -1) + last);
  if (width !== undefined) return accepted(width);
  const isWidth = KLINE_WIDTHS.some((seconds) => String(seconds) === text);
  const message = isWidth
    ? `interval ${text} would be minutes: ${text} seconds are spelled ${text}S`
    : 'interval is not one of the kline intervals, like 1m, 4h or 30S';
  return rejected(reject('INVALID_REQUEST', message, 'interval'));
}

/** Start of the bucket that holds a second. Both in seconds since 1970. */
export function bucketStart(second: number, width: number): number {
  const origin = width === WEEK ? FIRST_MONDAY : 0;
  return Math.floor((second - origin) / width) * width + origin;
}

/** The first bucket that starts at or after a second. */
export function bucketAtOrAfter(second: number, width: number): number {
  const start = bucketStart(second, width);
  return start === second ? start : start + width;
}

assert(WIDTH_OF.get('60') === HOUR && WIDTH_OF.get('60S') === 60, 'a bare number is a count of minutes');
