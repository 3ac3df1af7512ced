/** Messages to the front door as the words that the order manager hears. */
import type { BalanceRow, PositionRow } from '../clearing/rows.ts';
import type { AssetId } from '../core/ids.ts';
import type { Side } from '../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { BalanceChanged, MarketRiskChanged, Matched, PositionChanged } from '../messages/generated/messages.ts';
import type { AssetMarks } from '../orders/asset-desk.ts';
import type { Match } from '../orders/trade-view.ts';
import { readMark } from './effect-codec.ts';
import { readText, readUser } from './order-codec.ts';

export function readMatch(v: Views, at: number): Match {
  return {
    marketIndex: Matched.marketIndex(v, at),
    sequence: Matched.sequence(v, at),
    tradeId: Matched.tradeId(v, at),
    makerOrder: Matched.makerOrder(v, at),
    takerOrder: Matched.takerOrder(v, at),
    price: Matched.price(v, at) as RawPrice,
    quantity: Matched.quantity(v, at) as RawQuantity,
    takerSide: Matched.takerSide(v, at) as Side,
    makerFeeRate: Matched.makerFeeRate(v, at),
    takerFeeRate: Matched.takerFeeRate(v, at),
    timeNs: Matched.timeNs(v, at) as TimestampNs,
  };
}

export function readBalance(v: Views, at: number): BalanceRow {
  const asset = readText(v, at + BalanceChanged.bytes, BalanceChanged.assetBytes(v, at));
  return {
    user: readUser(v, at + BalanceChanged.userAt),
    subAccount: BalanceChanged.subAccount(v, at),
    asset: asset as AssetId,
    owned: BalanceChanged.owned(v, at) as Amount18,
    locked: BalanceChanged.locked(v, at) as Amount18,
  };
}

export function readPosition(v: Views, at: number): PositionRow {
  const asset = readText(v, at + PositionChanged.bytes, PositionChanged.assetBytes(v, at));
  return {
    user: readUser(v, at + PositionChanged.userAt),
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
): { readonly marketIndex: number } & Pick<AssetMarks, 'mark' | 'interest'> {
  return {
    marketIndex: MarketRiskChanged.marketIndex(v, at),
    mark: readMark(v, at),
    interest: { credits: MarketRiskChanged.credits(v, at), borrows: MarketRiskChanged.borrows(v, at) },
  };
}
