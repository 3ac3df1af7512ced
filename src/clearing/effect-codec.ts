/**
 * Clearing's effects as messages: which of them goes to whom, and how it is written. Runs after the flush.
 *
 *   fillConfirmed     front door, market data          fillRolledBack   front door, its market, market data
 *   balanceChanged    front door                       marketDecided    front door, its market, market data
 *   positionChanged   front door                       marketRiskChanged   front door
 *   userChanged       front door                       replied             front door
 *   everything cold   front door; markets also where they need it
 */

import { unreachable } from '../core/assert.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { Amount18, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import type { PriceSource } from '../risk/prices.ts';
import { writeOrderId, writeText, writeUser } from '../schema/fields.ts';
import {
  BalanceChanged,
  FillConfirmed,
  FillRolledBack as FillRolledBackMessage,
  IdWatermark as IdWatermarkMessage,
  JournalFlushed,
  MarketDecided,
  MarketRestored,
  MarketRiskChanged,
  NodeEvent,
  NodeReply,
  OrderIdRemembered,
  PositionChanged,
  UserChanged,
} from '../schema/generated/messages.ts';
import { decodePlain, encodePlain } from '../schema/plain-values.ts';
import type { IdWatermark, Tombstone } from './checkpoint.ts';
import type {
  Effect,
  FillRolledBack,
  MarketDecided as MarketDecidedEffect,
  MarketRiskChanged as MarketRiskEffect,
} from './effects.ts';
import type { BalanceRow, PositionRow, TradeRow, UserRow } from './rows.ts';

/** Effects that are structs. */
type HotKind =
  | 'fillConfirmed'
  | 'fillRolledBack'
  | 'balanceChanged'
  | 'positionChanged'
  | 'userChanged'
  | 'marketRiskChanged'
  | 'marketDecided'
  | 'replied';

/** A cold message: an effect as a plain value, or word that the boot is over. */
export type NodeNews =
  | Exclude<Effect, { kind: HotKind }>
  /** To the front door: everything that lives has been told. */
  | { readonly kind: 'restored'; readonly journalSequence: number; readonly timeNs: bigint; readonly isEmpty: boolean }
  /** To market data: the tables hold every trade that was confirmed before this. */
  | { readonly kind: 'historyReady' };

/** Where records are written: an outbox, which is never full, or the edge to market data, which may drop (−1). */
export interface RecordSink {
  readonly views: Views;
  claim(typeId: number, payloadBytes: number): number;
  commit(): void;
}

/** Everyone clearing speaks to. */
export interface EffectSinks {
  readonly door: RecordSink;
  readonly data: RecordSink;
  readonly shards: readonly RecordSink[];
  /** The shard that holds a market. */
  market(marketIndex: number): RecordSink;
}

/** Writes one effect for those whom it concerns. */
export function writeEffect(effect: Effect, to: EffectSinks): void {
  switch (effect.kind) {
    case 'fillConfirmed':
      writeFillConfirmed(effect.trade, to.door);
      writeFillConfirmed(effect.trade, to.data);
      return;
    case 'fillRolledBack':
      for (const sink of [to.door, to.data, to.market(effect.marketIndex)]) writeRolledBack(effect, sink);
      return;
    case 'balanceChanged':
      writeBalance(effect.row, to.door);
      return;
    case 'positionChanged':
      writePosition(effect.row, to.door);
      return;
    case 'userChanged':
      writeUserChanged(effect.row, to.door);
      return;
    case 'marketRiskChanged':
      writeMarketRisk(effect, to.door);
      return;
    case 'marketDecided':
      for (const sink of [to.door, to.data, to.market(effect.marketIndex)]) writeDecided(effect, sink);
      return;
    case 'replied':
      writeReply(effect.request, effect.outcome, to.door);
      return;
    case 'registryChanged':
      writeNews(effect, to.door);
      if (effect.change.table === 'market') {
        const { definition } = effect.change.row;
        writeNews(effect, to.market(definition.marketIndex));
        writeNews(effect, to.data);
      } else if (effect.change.table === 'config' && effect.change.row.kind === 'settings') {
        for (const sink of [to.data, ...to.shards]) writeNews(effect, sink);
      }
      return;
    case 'orderEnded':
    case 'subAccountChanged':
    case 'positionCleared':
    case 'depositLanded':
    case 'transferDone':
      writeNews(effect, to.door);
      return;
    case 'priceAccepted':
      for (const sink of [to.door, ...to.shards]) writeNews(effect, sink);
      return;
    default:
      unreachable(effect);
  }
}

function writeFillConfirmed(trade: TradeRow, sink: RecordSink): void {
  const at = sink.claim(FillConfirmed.typeId, FillConfirmed.bytes);
  if (at < 0) return;
  const v = sink.views;
  FillConfirmed.setTradeId(v, at, trade.tradeId);
  FillConfirmed.setMakerOrder(v, at, trade.maker.orderSequence);
  FillConfirmed.setTakerOrder(v, at, trade.taker.orderSequence);
  FillConfirmed.setPrice(v, at, trade.price);
  FillConfirmed.setQuantity(v, at, trade.quantity);
  FillConfirmed.setMatchedNs(v, at, trade.matchedNs);
  FillConfirmed.setMakerFee(v, at, trade.maker.fee);
  FillConfirmed.setTakerFee(v, at, trade.taker.fee);
  FillConfirmed.setMarketIndex(v, at, trade.marketIndex);
  FillConfirmed.setTakerSide(v, at, trade.takerSide);
  FillConfirmed.setIsLiquidation(v, at, trade.isLiquidation ? 1 : 0);
  FillConfirmed.setIsAutoDeleverage(v, at, trade.isAutoDeleverage ? 1 : 0);
  sink.commit();
}

function writeRolledBack(fill: FillRolledBack, sink: RecordSink): void {
  const at = sink.claim(FillRolledBackMessage.typeId, FillRolledBackMessage.bytes);
  if (at < 0) return;
  const v = sink.views;
  FillRolledBackMessage.setTradeId(v, at, fill.tradeId);
  FillRolledBackMessage.setMakerOrder(v, at, fill.makerOrder);
  FillRolledBackMessage.setTakerOrder(v, at, fill.takerOrder);
  FillRolledBackMessage.setPrice(v, at, fill.price);
  FillRolledBackMessage.setQuantity(v, at, fill.quantity);
  FillRolledBackMessage.setMatchedNs(v, at, fill.matchedNs);
  FillRolledBackMessage.setMarketIndex(v, at, fill.marketIndex);
  FillRolledBackMessage.setMakerReason(v, at, fill.makerReason);
  FillRolledBackMessage.setTakerReason(v, at, fill.takerReason);
  FillRolledBackMessage.setTakerSide(v, at, fill.takerSide);
  sink.commit();
}

export function writeBalance(row: BalanceRow, sink: RecordSink): void {
  const at = sink.claim(BalanceChanged.typeId, BalanceChanged.bytes + row.asset.length);
  if (at < 0) return;
  const v = sink.views;
  BalanceChanged.setOwned(v, at, row.owned);
  BalanceChanged.setLocked(v, at, row.locked);
  BalanceChanged.setSubAccount(v, at, row.subAccount);
  BalanceChanged.setAssetBytes(v, at, row.asset.length);
  writeUser(v, at + BalanceChanged.userAt, row.user);
  writeText(v, at + BalanceChanged.bytes, row.asset);
  sink.commit();
}

export function writePosition(row: PositionRow, sink: RecordSink): void {
  const at = sink.claim(PositionChanged.typeId, PositionChanged.bytes + row.asset.length);
  if (at < 0) return;
  const v = sink.views;
  PositionChanged.setBase(v, at, row.base);
  PositionChanged.setQuote(v, at, row.quote);
  PositionChanged.setEntry(v, at, row.entry);
  PositionChanged.setSubAccount(v, at, row.subAccount);
  PositionChanged.setAssetBytes(v, at, row.asset.length);
  writeUser(v, at + PositionChanged.userAt, row.user);
  writeText(v, at + PositionChanged.bytes, row.asset);
  sink.commit();
}

export function writeUserChanged(row: Pick<UserRow, 'user' | 'isMarketMaker'>, sink: RecordSink): void {
  const at = sink.claim(UserChanged.typeId, UserChanged.bytes);
  if (at < 0) return;
  UserChanged.setIsMarketMaker(sink.views, at, row.isMarketMaker ? 1 : 0);
  writeUser(sink.views, at + UserChanged.userAt, row.user);
  sink.commit();
}

export function writeMarketRisk(effect: Omit<MarketRiskEffect, 'kind'>, sink: RecordSink): void {
  const at = sink.claim(MarketRiskChanged.typeId, MarketRiskChanged.bytes);
  if (at < 0) return;
  const v = sink.views;
  const { mark } = effect;
  MarketRiskChanged.setMark(v, at, mark?.price ?? 0n);
  MarketRiskChanged.setCredits(v, at, effect.credits);
  MarketRiskChanged.setBorrows(v, at, effect.borrows);
  MarketRiskChanged.setMatchedNs(v, at, mark?.timeNs ?? 0n);
  MarketRiskChanged.setMarketIndex(v, at, effect.marketIndex);
  MarketRiskChanged.setGoodUpdates(v, at, mark?.goodUpdates ?? 0);
  MarketRiskChanged.setIsTripped(v, at, mark?.isTripped === true ? 1 : 0);
  MarketRiskChanged.setHasMark(v, at, mark === null ? 0 : 1);
  sink.commit();
}

/** The mark of a MarketRiskChanged, null for none. */
export function readMark(v: Views, at: number): PriceSource | null {
  if (MarketRiskChanged.hasMark(v, at) === 0) return null;
  return {
    price: MarketRiskChanged.mark(v, at) as Amount18,
    timeNs: MarketRiskChanged.matchedNs(v, at) as TimestampNs,
    isTripped: MarketRiskChanged.isTripped(v, at) === 1,
    goodUpdates: MarketRiskChanged.goodUpdates(v, at),
  };
}

export function writeDecided(effect: MarketDecidedEffect, sink: RecordSink): void {
  const at = sink.claim(MarketDecided.typeId, MarketDecided.bytes);
  if (at < 0) return;
  const v = sink.views;
  MarketDecided.setTradeId(v, at, effect.throughTradeId);
  MarketDecided.setSequence(v, at, effect.throughSequence);
  MarketDecided.setTimeNs(v, at, effect.timeNs);
  MarketDecided.setMarketIndex(v, at, effect.marketIndex);
  sink.commit();
}

export function writeReply(request: number, outcome: unknown, sink: RecordSink): void {
  const text = encodePlain(outcome);
  const at = sink.claim(NodeReply.typeId, NodeReply.bytes + text.length);
  if (at < 0) return;
  NodeReply.setRequestId(sink.views, at, request);
  NodeReply.setTextBytes(sink.views, at, text.length);
  sink.views.u8.set(text, at + NodeReply.bytes);
  sink.commit();
}

export function writeNews(news: NodeNews, sink: RecordSink): void {
  const text = encodePlain(news);
  const at = sink.claim(NodeEvent.typeId, NodeEvent.bytes + text.length);
  if (at < 0) return;
  NodeEvent.setTextBytes(sink.views, at, text.length);
  sink.views.u8.set(text, at + NodeEvent.bytes);
  sink.commit();
}

/** The news of the message at `at`. */
export function readNews(v: Views, at: number): NodeNews {
  const start = at + NodeEvent.bytes;
  return decodePlain<NodeNews>(v.u8.subarray(start, start + NodeEvent.textBytes(v, at)));
}

export function writeFlushed(
  flushed: { sequence: number; checkpoint: number; timeNs: bigint },
  sink: RecordSink,
): void {
  const at = sink.claim(JournalFlushed.typeId, JournalFlushed.bytes);
  if (at < 0) return;
  JournalFlushed.setSequence(sink.views, at, flushed.sequence);
  JournalFlushed.setCheckpoint(sink.views, at, flushed.checkpoint);
  JournalFlushed.setTimeNs(sink.views, at, flushed.timeNs);
  sink.commit();
}

/** An order id that stays taken (AMB-08). */
export function writeRememberedId(id: Tombstone, sink: RecordSink): void {
  const at = sink.claim(OrderIdRemembered.typeId, OrderIdRemembered.bytes);
  if (at < 0) return;
  const v = sink.views;
  OrderIdRemembered.setCreationNs(v, at, id.creationNs);
  OrderIdRemembered.setMarketIndex(v, at, id.marketIndex);
  OrderIdRemembered.setOrderIdBytes(v, at, id.orderId.length);
  OrderIdRemembered.setWasCancelled(v, at, id.wasCancelled ? 1 : 0);
  writeUser(v, at + OrderIdRemembered.userAt, id.user);
  writeOrderId(v, at + OrderIdRemembered.orderIdAt, id.orderId);
  sink.commit();
}

/** Creates of this user that were signed before may be replays (AMB-08). */
export function writeIdWatermark(mark: IdWatermark, sink: RecordSink): void {
  const at = sink.claim(IdWatermarkMessage.typeId, IdWatermarkMessage.bytes);
  if (at < 0) return;
  IdWatermarkMessage.setCreationNs(sink.views, at, mark.creationNs);
  IdWatermarkMessage.setMarketIndex(sink.views, at, mark.marketIndex);
  writeUser(sink.views, at + IdWatermarkMessage.userAt, mark.user);
  sink.commit();
}

export function writeMarketRestored(
  market: { definition: MarketDefinition; sequence: number; lastTradeId: number },
  sink: RecordSink,
): void {
  const at = sink.claim(MarketRestored.typeId, MarketRestored.bytes);
  if (at < 0) return;
  MarketRestored.setSequence(sink.views, at, market.sequence);
  MarketRestored.setLastTradeId(sink.views, at, market.lastTradeId);
  MarketRestored.setMarketIndex(sink.views, at, market.definition.marketIndex);
  sink.commit();
}
