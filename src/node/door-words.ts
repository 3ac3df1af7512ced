/** Messages to the front door as the words that the order manager hears. */
import type { BalanceRow, PositionRow } from '../clearing/rows.ts';
import type { AssetId } from '../core/ids.ts';
import type { OrderKind, Side, Tif, TriggerKind, TriggerState } from '../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import {
  BalanceChanged,
  MarketRiskChanged,
  Matched,
  NewOrder,
  OrderRestoredAtBoot,
  PositionChanged,
} from '../messages/generated/messages.ts';
import type { AssetMarks } from '../orders/asset-desk.ts';
import type { Match } from '../orders/trade-view.ts';
import type { RestoredOrder } from '../orders/words.ts';
import { readMark } from './effect-codec.ts';
import { readOrderId, readText, readUser } from './order-codec.ts';

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

/** A live order with the values in force; text and signature stay behind. One literal: a start reads a million of them. */
export function readRestoredRow(v: Views, at: number): RestoredOrder {
  const order = at + OrderRestoredAtBoot.bytes;
  return {
    user: readUser(v, order + NewOrder.userAt),
    subAccount: NewOrder.subAccount(v, order),
    orderId: readOrderId(v, order + NewOrder.orderIdAt, NewOrder.orderIdBytes(v, order)),
    side: NewOrder.side(v, order) as Side,
    tif: NewOrder.tif(v, order) as Tif,
    kind: NewOrder.kind(v, order) as OrderKind,
    amount: NewOrder.amount(v, order),
    budget: NewOrder.budget(v, order),
    parentId: readOrderId(v, order + NewOrder.bytes + NewOrder.parentIdAt(v, order), NewOrder.parentIdBytes(v, order)),
    maxFeeRate: NewOrder.maxFeeRate(v, order),
    creationNs: NewOrder.creationNs(v, order) as TimestampNs,
    goodUntilNs: NewOrder.goodUntilNs(v, order) as TimestampNs,
    expiryNs: NewOrder.expiryNs(v, order) as TimestampNs,
    price: OrderRestoredAtBoot.price(v, at) as RawPrice,
    quantity: OrderRestoredAtBoot.quantity(v, at) as RawQuantity,
    flags: OrderRestoredAtBoot.flags(v, at),
    triggerKind: OrderRestoredAtBoot.triggerKind(v, at) as TriggerKind,
    triggerPrice: OrderRestoredAtBoot.triggerPrice(v, at) as RawPrice,
    triggerState: OrderRestoredAtBoot.triggerState(v, at) as TriggerState,
    parentSequence: OrderRestoredAtBoot.parent(v, at) as Sequence | 0,
    enabledQuantity: OrderRestoredAtBoot.enabledQuantity(v, at),
    inForce: OrderRestoredAtBoot.inForce(v, at),
    marketIndex: OrderRestoredAtBoot.marketIndex(v, at),
    orderSequence: OrderRestoredAtBoot.order(v, at) as Sequence,
    prioritySequence: OrderRestoredAtBoot.prioritySequence(v, at) as Sequence,
    timestampNs: OrderRestoredAtBoot.timestampNs(v, at) as TimestampNs,
    admittedNs: OrderRestoredAtBoot.admittedNs(v, at) as TimestampNs,
    lastUpdateNs: OrderRestoredAtBoot.lastUpdateNs(v, at) as TimestampNs,
    filledQuantity: OrderRestoredAtBoot.filledQuantity(v, at),
    filledNotional: OrderRestoredAtBoot.filledNotional(v, at) as Amount18,
    fees: OrderRestoredAtBoot.fees(v, at) as Amount18,
  };
}
