/**
 * The entries of a quote set: price and quantity of each in turn, `[p0, q0, p1, q1, …]`, raw, the best price first. One array
 * of numbers, since a set has up to a hundred of them. A raw figure outside 1 … 2^53−1 is read as 0, as in order-details.ts.
 */
import { QUOTES_PER_SIDE_MAX } from '../core/limits.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { JsonCursor } from './json-cursor.ts';
import type { TextWriter } from './text-writer.ts';

export type QuoteEntries = readonly number[];

export const NO_QUOTES: QuoteEntries = [];

/** Reads `[[price, quantity],…]`; after a failure of the cursor the value is undefined. */
export function readQuoteEntries(cursor: JsonCursor): QuoteEntries {
  const entries: number[] = [];
  cursor.enterArray();
  while (cursor.nextItem()) {
    if (entries.length === 2 * QUOTES_PER_SIDE_MAX) {
      cursor.fail(`at most ${QUOTES_PER_SIDE_MAX} entries`);
      break;
    }
    let figures = 0;
    cursor.enterArray();
    while (cursor.nextItem()) {
      figures += 1;
      const figure = cursor.readRaw();
      if (figures <= 2) entries.push(figure);
      else cursor.fail(PAIR);
    }
    if (figures !== 2) cursor.fail(PAIR);
    if (cursor.hasFailed) break;
  }
  return entries;
}

const PAIR = 'expected [price, quantity]';

export function writeQuoteEntries(text: TextWriter, entries: QuoteEntries): void {
  text.ascii('[');
  for (let at = 0; at < entries.length; at += 2) {
    text.ascii(at === 0 ? '[' : ',[');
    text.integer(entries[at] as number);
    text.ascii(',');
    text.integer(entries[at + 1] as number);
    text.ascii(']');
  }
  text.ascii(']');
}

/** Each side from its best price on, no price twice, and no bid at or above an ask. @returns INVALID_ORDER, or null. */
export function pricesFault({
  bids,
  asks,
}: {
  readonly bids: QuoteEntries;
  readonly asks: QuoteEntries;
}): Reject | null {
  for (let at = 2; at < bids.length; at += 2) {
    if ((bids[at] as number) >= (bids[at - 2] as number))
      return reject('INVALID_ORDER', 'bids fall, none twice', 'bids');
  }
  for (let at = 2; at < asks.length; at += 2) {
    if ((asks[at] as number) <= (asks[at - 2] as number))
      return reject('INVALID_ORDER', 'asks rise, none twice', 'asks');
  }
  const [bid] = bids;
  const [ask] = asks;
  if (bid === undefined || ask === undefined || bid < ask) return null;
  return reject('INVALID_ORDER', 'the best bid is below the best ask', 'bids');
}
