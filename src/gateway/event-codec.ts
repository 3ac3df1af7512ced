/** Messages of markets and clearing to the gateway, as values. */

import { readMark } from '../clearing/effect-codec.ts';
import type { BalanceRow, PositionRow } from '../clearing/rows.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import type { Amount18 } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { readOrderId, readText, readUser } from '../schema/fields.ts';
import {
  BalanceChanged,
  MarketRiskChanged,
  OrderRecord,
  OrderRestoredAtBoot,
  PositionChanged,
  QuoteSetApplied,
  QuoteSetChange,
  QuoteSetEnded,
  QuoteSetRestored,
} from '../schema/generated/messages.ts';
import type { RestoredView } from './orders/book/order-book-view.ts';
import type {
  EntryChange,
  QuoteSetAppliedEvent,
  QuoteSetEndedEvent,
  QuoteSetRestoredEvent,
} from './orders/book/quote-set-view.ts';
import type { AssetMarks } from './orders/margin/asset-risks.ts';

const USER_WORDS = 8;

/** Ids of users as text; messages of one user most often come one after the other, and share it. */
export class UserTexts {
  readonly #words = new Int32Array(USER_WORDS);
  #text = '' as UserId;

  /** @param at a multiple of 4. */
  read(v: Views, at: number): UserId {
    const from = at >>> 2;
    let isLast = this.#text !== '';
    for (let word = 0; isLast && word < USER_WORDS; word += 1) isLast = this.#words[word] === v.i32[from + word];
    if (isLast) return this.#text;
    for (let word = 0; word < USER_WORDS; word += 1) this.#words[word] = v.i32[from + word] as number;
    this.#text = readUser(v, at);
    return this.#text;
  }
}

export function readBalance(v: Views, at: number, users: UserTexts): BalanceRow {
  const asset = readText(v, at + BalanceChanged.bytes, BalanceChanged.assetBytes(v, at));
  return {
    user: users.read(v, at + BalanceChanged.userAt),
    subAccount: BalanceChanged.subAccount(v, at),
    asset: asset as AssetId,
    owned: BalanceChanged.owned(v, at) as Amount18,
    locked: BalanceChanged.locked(v, at) as Amount18,
  };
}

export function readPosition(v: Views, at: number, users: UserTexts): PositionRow {
  const asset = readText(v, at + PositionChanged.bytes, PositionChanged.assetBytes(v, at));
  return {
    user: users.read(v, at + PositionChanged.userAt),
    subAccount: PositionChanged.subAccount(v, at),
    asset: asset as AssetId,
    base: PositionChanged.base(v, at) as Amount18,
    quote: PositionChanged.quote(v, at) as Amount18,
    entry: PositionChanged.entry(v, at) as Amount18,
  };
}

export function readMarketRisk(
  v: Views,
  at: number,
): { readonly marketIndex: number } & Pick<AssetMarks, 'mark' | 'interest' | 'holdings'> {
  return {
    marketIndex: MarketRiskChanged.marketIndex(v, at),
    mark: readMark(v, at),
    interest: { credits: MarketRiskChanged.credits(v, at), borrows: MarketRiskChanged.borrows(v, at) },
    holdings: MarketRiskChanged.holdings(v, at),
  };
}

/** The part of an OrderRestoredAtBoot that its record does not have. */
export function readRestored(v: Views, at: number): RestoredView {
  const parentIdBytes = OrderRecord.parentIdBytes(v, at + OrderRestoredAtBoot.orderAt);
  return {
    inForce: OrderRestoredAtBoot.inForce(v, at),
    parent: OrderRestoredAtBoot.parent(v, at),
    parentId: parentIdBytes === 0 ? '' : readOrderId(v, at + OrderRestoredAtBoot.bytes, parentIdBytes),
  };
}

const NO_CHANGES: readonly EntryChange[] = [];

/** A QuoteSetApplied with its changes. */
export function readQuoteSetApplied(
  v: Views,
  at: number,
  users: UserTexts,
): QuoteSetAppliedEvent & { readonly addCode: number } {
  const first = QuoteSetApplied.sequence(v, at);
  const count = QuoteSetApplied.changes(v, at);
  return {
    marketIndex: QuoteSetApplied.marketIndex(v, at),
    sequence: first + QuoteSetApplied.sequences(v, at) - 1,
    timeNs: QuoteSetApplied.timeNs(v, at),
    requestId: QuoteSetApplied.requestId(v, at),
    user: users.read(v, at + QuoteSetApplied.userAt),
    setId: readText(v, at + QuoteSetApplied.setIdAt, QuoteSetApplied.setIdBytes(v, at)),
    slot: QuoteSetApplied.slot(v, at),
    revisionNs: QuoteSetApplied.revisionNs(v, at),
    goodUntilNs: QuoteSetApplied.goodUntilNs(v, at),
    lastTradeId: QuoteSetApplied.lastTradeId(v, at),
    maxFeeRate: QuoteSetApplied.maxFeeRate(v, at),
    subAccount: QuoteSetApplied.subAccount(v, at),
    flags: QuoteSetApplied.flags(v, at),
    protectionGroup: QuoteSetApplied.protectionGroup(v, at),
    kept: QuoteSetApplied.kept(v, at),
    termsChanged: QuoteSetApplied.termsChanged(v, at),
    isOver: QuoteSetApplied.isOver(v, at),
    addCode: QuoteSetApplied.addCode(v, at),
    changes: count === 0 ? NO_CHANGES : readChanges(v, at + QuoteSetApplied.bytes, count),
  };
}

function readChanges(v: Views, at: number, count: number): readonly EntryChange[] {
  const changes: EntryChange[] = [];
  for (let index = 0, from = at; index < count; index += 1, from += QuoteSetChange.bytes) {
    changes.push({
      change: QuoteSetChange.change(v, from),
      side: QuoteSetChange.side(v, from),
      order: QuoteSetChange.order(v, from),
      price: QuoteSetChange.price(v, from),
      rests: QuoteSetChange.rests(v, from),
      number: QuoteSetChange.number(v, from),
    });
  }
  return changes;
}

export function readQuoteSetEnded(v: Views, at: number, users: UserTexts): QuoteSetEndedEvent {
  return {
    marketIndex: QuoteSetEnded.marketIndex(v, at),
    sequence: QuoteSetEnded.sequence(v, at),
    timeNs: QuoteSetEnded.timeNs(v, at),
    markNs: QuoteSetEnded.markNs(v, at),
    user: users.read(v, at + QuoteSetEnded.userAt),
    slot: QuoteSetEnded.slot(v, at),
    end: QuoteSetEnded.end(v, at),
  };
}

export function readQuoteSetRestored(v: Views, at: number, users: UserTexts): QuoteSetRestoredEvent {
  return {
    marketIndex: QuoteSetRestored.marketIndex(v, at),
    user: users.read(v, at + QuoteSetRestored.userAt),
    setId: readText(v, at + QuoteSetRestored.setIdAt, QuoteSetRestored.setIdBytes(v, at)),
    slot: QuoteSetRestored.slot(v, at),
    revisionNs: QuoteSetRestored.revisionNs(v, at),
    markNs: QuoteSetRestored.markNs(v, at),
    subAccount: QuoteSetRestored.subAccount(v, at),
    flags: QuoteSetRestored.flags(v, at),
  };
}
