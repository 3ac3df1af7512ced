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
} from '../schema/generated/messages.ts';
import type { RestoredView } from './orders/book/order-book-view.ts';
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
