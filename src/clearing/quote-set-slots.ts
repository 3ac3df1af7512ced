/** Quote sets in the state of clearing: which order is an entry of which set, and what a revision covers (QTE-07). */
import { quoteSetOfText } from '../codec/order-actions.ts';
import { assert, must } from '../core/assert.ts';
import { SIDE, SIGNATURE_VERDICT, type Side } from '../core/order-terms.ts';
import type { Sequence } from '../core/units.ts';
import type { OrderRow, QuoteSetRow } from './rows.ts';
import type { ClearingMarket, ClearingState, QuoteSetSlot } from './state.ts';

/** Key of a set among those of its market. */
export function quoteSetKey(user: string, slot: number): string {
  return `${user}/${slot}`;
}

/** The set of an entry. */
export function setOf(market: ClearingMarket, { user, quoteSet }: Pick<OrderRow, 'user' | 'quoteSet'>): QuoteSetSlot {
  return must(market.quoteSets.get(quoteSetKey(user, quoteSet)), 'an entry is of a set that is known');
}

/** At a start, before the orders. */
export function placeQuoteSet(state: ClearingState, row: QuoteSetRow): void {
  const market = must(state.markets[row.marketIndex], 'the market of a quote set is loaded');
  market.quoteSets.set(quoteSetKey(row.user, row.slot), { row, signed: null, entries: new Set() });
  if (row.sequence !== 0) market.revisions.set(row.sequence, quoteSetKey(row.user, row.slot));
}

/** A live order that is an entry is found by its set. */
export function enterSet(market: ClearingMarket, row: OrderRow): void {
  if (row.quoteSet !== 0) setOf(market, row).entries.add(row.orderSequence);
}

export function leaveSet(market: ClearingMarket, row: OrderRow): void {
  if (row.quoteSet !== 0) setOf(market, row).entries.delete(row.orderSequence);
}

export function changeSet(state: ClearingState, slot: QuoteSetSlot, row: QuoteSetRow): void {
  slot.row = row;
  state.dirty.quoteSets.add(slot);
}

/** The set of a revision by its name, the sequence at which it was applied; undefined when it is not in force. */
function setOfRevision(market: ClearingMarket, sequence: Sequence): QuoteSetSlot | undefined {
  const key = market.revisions.get(sequence);
  return key === undefined ? undefined : market.quoteSets.get(key);
}

/** Keeps the result of the check of a revision. @returns whether there is such a revision in force. */
export function recordSetVerdict(
  state: ClearingState,
  market: ClearingMarket,
  sequence: Sequence,
  valid: boolean,
): boolean {
  const slot = setOfRevision(market, sequence);
  if (slot === undefined) return false;
  assert(slot.row.verdict === SIGNATURE_VERDICT.unknown, 'a signature is judged once');
  changeSet(state, slot, { ...slot.row, verdict: valid ? SIGNATURE_VERDICT.valid : SIGNATURE_VERDICT.invalid });
  return true;
}

/** Lots that were signed for a side and price. Read once for a revision. */
function signedLots(slot: QuoteSetSlot, side: Side, price: number): number {
  slot.signed ??= readSigned(slot.row.text);
  return slot.signed[side].get(price) ?? 0;
}

function readSigned(text: string): NonNullable<QuoteSetSlot['signed']> {
  const read = quoteSetOfText(Buffer.from(text, 'latin1'));
  const sides = [new Map<number, number>(), new Map<number, number>()] as const;
  if (read === null) return sides;
  for (const [side, entries] of [
    [SIDE.buy, read.bids],
    [SIDE.sell, read.asks],
  ] as const)
    for (let at = 0; at < entries.length; at += 2) sides[side].set(entries[at] as number, entries[at + 1] as number);
  return sides;
}

/** Whether the revision in force covers so many lots more of an entry (QTE-07). @param lots of the plan, with those before it. */
export function coversLots(
  slot: QuoteSetSlot,
  { side, price }: Pick<OrderRow, 'side' | 'price'>,
  lots: number,
): boolean {
  const counted = slot.row.fills.find((fill) => fill.side === side && fill.price === price)?.lots ?? 0;
  // mutant: lots-per-price
  return counted + lots <= signedLots(slot, side, price);
}

/** Counts a confirmed fill of an entry. */
export function countQuoted(state: ClearingState, market: ClearingMarket, row: OrderRow, lots: number): void {
  const slot = setOf(market, row);
  const { side, price } = row;
  const fills = slot.row.fills.filter((fill) => fill.side !== side || fill.price !== price);
  const counted = slot.row.fills.find((fill) => fill.side === side && fill.price === price)?.lots ?? 0;
  fills.push({ side, price, lots: counted + lots });
  changeSet(state, slot, { ...slot.row, fills });
}

/** Of what was signed: the sets of all markets by their keys. */
export function quoteSetRows(state: ClearingState): QuoteSetRow[] {
  return state.markets.flatMap(({ quoteSets }) =>
    [...quoteSets].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { row }]) => row),
  );
}
