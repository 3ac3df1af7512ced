/**
 * What markets publish about quote sets, applied to orders and holds: a set in force, the end of one, those of a start.
 *
 *   QuoteSetApplied ─▶ entries that left, ─▶ resized, created ─▶ set: revision, mark, slot ─▶ counts for the answer
 *
 * All of a set is one step here as it is in the market. What it grows by was held by the guard of its set until now
 * (entry/quote-requests.ts), which the caller settles behind it.
 */
import type { QuoteOutcome } from '../../../codec/operation-replies.ts';
import { must } from '../../../core/assert.ts';
import { type OrderId, USD, type UserId } from '../../../core/ids.ts';
import {
  ORDER_END_WORD,
  ORDER_FLAG,
  type OrderEnd,
  QUOTE_CHANGE,
  type QuoteChangeKind,
  SIDE,
  type Side,
} from '../../../core/order-terms.ts';
import type { RejectName } from '../../../core/reject.ts';
import type { RawPrice, TimestampNs } from '../../../core/units.ts';
import type { Holds } from '../balances/holds.ts';
import type { MarginSide } from '../margin/margin-side.ts';
import { filledOf, isFull, isSpot, type LiveOrder } from './live-order.ts';
import type { EntryTerms, LiveOrders } from './live-orders.ts';
import type { MarketSlot } from './markets.ts';
import type { OrderBookView } from './order-book-view.ts';
import type { OrderSink } from './order-events.ts';
import type { LiveQuoteSet, LiveQuoteSets } from './quote-sets.ts';

/** One thing that a set did to an entry (QuoteSetChange in schemas/messages.fbs). */
export interface EntryChange {
  readonly change: QuoteChangeKind;
  readonly side: Side;
  /** Sequence of the entry; 0 for one that was refused. */
  readonly order: number;
  readonly price: number;
  readonly rests: number;
  /** In its id. */
  readonly number: number;
}

export interface QuoteSetAppliedEvent {
  readonly marketIndex: number;
  /** The last number that it takes. */
  readonly sequence: number;
  readonly timeNs: TimestampNs;
  readonly requestId: number;
  readonly user: UserId;
  readonly setId: string;
  readonly slot: number;
  readonly revisionNs: TimestampNs;
  readonly goodUntilNs: TimestampNs;
  readonly lastTradeId: number;
  readonly maxFeeRate: number;
  readonly subAccount: number;
  readonly flags: number;
  readonly protectionGroup: number;
  readonly kept: number;
  readonly termsChanged: boolean;
  readonly isOver: boolean;
  readonly changes: readonly EntryChange[];
}

export interface QuoteSetEndedEvent {
  readonly marketIndex: number;
  readonly sequence: number;
  readonly timeNs: TimestampNs;
  readonly markNs: TimestampNs;
  readonly user: UserId;
  readonly slot: number;
  /** 0: only its mark was raised. */
  readonly end: OrderEnd | 0;
}

/** A set of a start. */
export interface QuoteSetRestoredEvent {
  readonly marketIndex: number;
  readonly user: UserId;
  readonly setId: string;
  readonly slot: number;
  readonly revisionNs: TimestampNs;
  readonly markNs: TimestampNs;
  readonly subAccount: number;
  readonly flags: number;
}

/** Of the entries that one set inserts, one after the other. */
type InsertedTerms = { -readonly [Member in keyof EntryTerms]: EntryTerms[Member] };

interface QuoteSetViewParts {
  readonly orders: LiveOrders;
  readonly holds: Holds;
  readonly margin: MarginSide;
  readonly book: OrderBookView;
  readonly sets: LiveQuoteSets;
  readonly sink: OrderSink;
}

export class QuoteSetView {
  readonly #parts: QuoteSetViewParts;

  constructor(parts: QuoteSetViewParts) {
    this.#parts = parts;
  }

  applied(market: MarketSlot, event: QuoteSetAppliedEvent): QuoteOutcome {
    const { sets } = this.#parts;
    const set = sets.open(event.user, market, event.setId);
    sets.seat(set, event.slot);
    set.subAccount = event.subAccount;
    set.flags = targetOf(event);
    const outcome = this.#change(set, market, event);
    set.revisionNs = event.revisionNs;
    if (event.revisionNs > set.markNs) set.markNs = event.revisionNs;
    set.lastTradeId = event.lastTradeId;
    if (event.termsChanged) setTerms(this.#parts.orders, set, event);
    this.#publish(set, market, event, outcome);
    return outcome;
  }

  /** What left comes first: what is new spends what it has freed. */
  #change(set: LiveQuoteSet, market: MarketSlot, event: QuoteSetAppliedEvent): QuoteOutcome {
    const { changes, timeNs, sequence } = event;
    const { book } = this.#parts;
    const at = { timeNs, sequence };
    let [created, changed, cancelled] = [0, 0, 0];
    let terms: InsertedTerms | null = null;
    const refused: { side: Side; price: RawPrice; code: RejectName }[] = [];
    for (const { change, order } of changes) {
      if (change !== QUOTE_CHANGE.left && change !== QUOTE_CHANGE.out) continue;
      const entry = this.#entry(market, order);
      if (entry === undefined) continue;
      this.#parts.sets.left(entry);
      book.entryLeft(entry, change === QUOTE_CHANGE.out, at);
      if (change === QUOTE_CHANGE.left) cancelled += 1;
    }
    for (const each of changes) {
      const { change, side, price, rests } = each;
      if (change === QUOTE_CHANGE.resized || change === QUOTE_CHANGE.kept) {
        const entry = must(this.#entry(market, each.order), 'an entry that rests is in memory');
        book.entryRests(entry, rests, at);
        if (change === QUOTE_CHANGE.resized) changed += 1;
      } else if (change === QUOTE_CHANGE.created) {
        terms ??= termsOf(set, market, event);
        this.#create(set, terms, event, each);
        created += 1;
      } else if (change === QUOTE_CHANGE.refused) {
        refused.push({ side, price: price as RawPrice, code: 'WOULD_CROSS' });
      }
    }
    return { created, changed, kept: event.kept, cancelled, refused, isSuperseded: false };
  }

  #entry(market: MarketSlot, sequence: number): LiveOrder | undefined {
    return this.#parts.orders.ofSequence(market.definition.marketIndex, sequence);
  }

  #create(set: LiveQuoteSet, terms: InsertedTerms, event: QuoteSetAppliedEvent, change: EntryChange): void {
    const { orders, holds, margin, book } = this.#parts;
    const { side, price, order: sequence } = change;
    terms.orderId = `${set.setId}:${change.number}`;
    terms.side = side;
    terms.price = price;
    terms.quantity = change.rests;
    const entry = must(orders.draftEntry(terms) ?? undefined, 'the store has room for what its markets hold');
    if (isSpot(terms)) {
      const { user, subAccount, market } = terms;
      entry.balance = holds.balance({ user, subAccount, asset: side === SIDE.buy ? USD : market.definition.assetId });
    }
    margin.check.place(entry);
    book.entryCreated(entry, sequence, event.timeNs);
    entry.lastSequence = event.sequence;
    set.sideOf(side).entries.set(price, entry);
  }

  #publish(set: LiveQuoteSet, market: MarketSlot, event: QuoteSetAppliedEvent, outcome: QuoteOutcome): void {
    const { sink } = this.#parts;
    const { user, revisionNs, timeNs: timestampNs } = event;
    if (!sink.isOrderRead(user)) return;
    const name = { orderId: set.setId as OrderId, assetId: market.definition.assetId };
    const { created, changed, cancelled } = outcome;
    sink.orderEvent(user, { kind: 'QuoteSetApplied', ...name, revisionNs, created, changed, cancelled, timestampNs });
    if (event.isOver) sink.orderEvent(user, { kind: 'QuoteSetEnded', ...name, reason: 'UserRequested', timestampNs });
  }

  /** A mark was raised; `end` not 0: its entries have ended before, but for those of which all was filled. */
  ended(market: MarketSlot, { user, slot, markNs, end, timeNs: timestampNs, sequence }: QuoteSetEndedEvent): void {
    const set = this.#parts.sets.atSlot(user, market.definition.marketIndex, slot);
    if (set === undefined) return;
    if (markNs > set.markNs) set.markNs = markNs;
    // mutant: entries-of-an-ended-set
    if (end !== 0) this.#leave(set, { timeNs: timestampNs, sequence });
    if (end === 0 || !this.#parts.sink.isOrderRead(user)) return;
    const name = { orderId: set.setId as OrderId, assetId: market.definition.assetId };
    this.#parts.sink.orderEvent(user, { kind: 'QuoteSetEnded', ...name, reason: ORDER_END_WORD[end], timestampNs });
  }

  /** No revision that comes later is of these entries, and none of their fills that is undone brings them back. */
  #leave({ buys, sells }: LiveQuoteSet, at: { readonly timeNs: TimestampNs; readonly sequence: number }): void {
    for (const { entries } of [buys, sells]) {
      for (const entry of [...entries.values()]) {
        this.#parts.sets.left(entry);
        if (!entry.isClosed && isFull(entry.quantity, filledOf(entry))) this.#parts.book.entryLeft(entry, true, at);
      }
    }
  }

  /** Comes before the entries of the set. */
  restored(market: MarketSlot, event: QuoteSetRestoredEvent): void {
    const { sets } = this.#parts;
    const set = sets.open(event.user, market, event.setId);
    sets.seat(set, event.slot);
    set.revisionNs = event.revisionNs;
    set.markNs = event.markNs;
    set.subAccount = event.subAccount;
    set.flags = targetOf(event);
  }

  /** An order of a start, which may be an entry. */
  entryRestored(order: LiveOrder): void {
    this.#parts.sets.ofOrder(order)?.sideOf(order.side).entries.set(order.price, order);
  }
}

/** Flags that follow from its text: whether a connection holds it is the market's to keep (QTE-09). */
function targetOf({ flags }: { readonly flags: number }): number {
  return flags & ~ORDER_FLAG.cancelOnDisconnect;
}

/** What all entries that a set inserts have; the rest is filled in for each. */
function termsOf(set: LiveQuoteSet, market: MarketSlot, event: QuoteSetAppliedEvent): InsertedTerms {
  return {
    user: set.user,
    market,
    orderId: '',
    subAccount: set.subAccount,
    side: SIDE.buy,
    flags: event.flags,
    price: 0,
    quantity: 0,
    maxFeeRate: event.maxFeeRate,
    slot: event.slot,
    protectionGroup: event.protectionGroup,
    creationNs: event.revisionNs,
    goodUntilNs: event.goodUntilNs,
    timeNs: event.timeNs,
  };
}

/** What is kept has the terms of the newest revision. */
function setTerms(orders: LiveOrders, { buys, sells }: LiveQuoteSet, event: QuoteSetAppliedEvent): void {
  for (const { entries } of [buys, sells]) {
    for (const order of entries.values()) {
      order.maxFeeRate = event.maxFeeRate;
      order.goodUntilNs = event.goodUntilNs;
      orders.regroup(order, event.protectionGroup);
    }
  }
}
