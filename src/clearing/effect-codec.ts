/**
 * Clearing's effects as messages: which of them goes to which actor, and how it is written. Runs after the flush.
 *
 *   fillConfirmed     gateway, market data   fillRolledBack      gateway, its market, market data
 *   balanceChanged    gateway                marketDecided       gateway, its market, market data
 *   positionChanged   gateway                marketRiskChanged   gateway, market data
 *   userChanged       gateway                replied             gateway
 *   everything cold   gateway; markets and market data also where they need it
 */

import { assert, unreachable } from '../core/assert.ts';
import type { OrderId } from '../core/ids.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { AtRiskFigures } from '../core/market-figures.ts';
import { TRIGGER_STATE } from '../core/order-terms.ts';
import { type Amount18, type Sequence, type TimestampNs, ZERO_18 } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import type { PriceSource } from '../risk/prices.ts';
import { writeText } from '../schema/fields.ts';
import {
  BalanceChanged,
  FillConfirmed,
  FillRolledBack,
  IdWatermark,
  JournalFlushed,
  type JournalFlushedFields,
  MarketDecided,
  MarketRestored,
  MarketRiskChanged,
  NodeEvent,
  NodeReply,
  OrderIdRemembered,
  OrderRecord,
  type OrderRecordView,
  OrderRestoredAtBoot,
  PositionChanged,
  QuoteSetRestored,
  UserChanged,
} from '../schema/generated/messages.ts';
import { decodePlain, encodePlain } from '../schema/plain-values.ts';
import type { DurableIds, Tombstone } from './durability.ts';
import type { Effect, FillRolledBackEffect, MarketDecidedEffect, MarketRiskChangedEffect } from './effects.ts';
import type { BalanceRow, OrderRow, PositionRow, QuoteSetRow, TradeRow, UserRow } from './rows.ts';

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
export type ClearingEvent =
  | Exclude<Effect, { kind: HotKind }>
  /** To the gateway, derived from the state between two batches: what is at risk over all accounts (AMB-62). */
  | { readonly kind: 'atRiskChanged'; readonly atRisk: AtRiskFigures }
  /** To the gateway: everything that lives has been sent. */
  | { readonly kind: 'restored'; readonly journalSequence: number; readonly timeNs: bigint; readonly isEmpty: boolean }
  /** To market data: the tables hold every trade that was confirmed before this. */
  | { readonly kind: 'historyReady' };

/** Where records are written: a retry buffer, which is never full, or the edge to market data, which may drop (−1). */
export interface RecordSink {
  readonly views: Views;
  claim(typeId: number, payloadBytes: number): number;
  commit(): void;
}

/** All receivers of clearing's messages. */
export interface EffectSinks {
  readonly gateway: RecordSink;
  readonly data: RecordSink;
  readonly shards: readonly RecordSink[];
  /** The shard that holds a market. */
  market(marketIndex: number): RecordSink;
}

/** Writes one effect to every actor that needs it. */
export function writeEffect(effect: Effect, to: EffectSinks): void {
  switch (effect.kind) {
    case 'fillConfirmed':
      writeFillConfirmed(effect.trade, to.gateway);
      writeFillConfirmed(effect.trade, to.data);
      return;
    case 'fillRolledBack':
      for (const sink of [to.gateway, to.data, to.market(effect.marketIndex)]) writeRolledBack(effect, sink);
      return;
    case 'balanceChanged':
      writeBalance(effect.row, to.gateway);
      return;
    case 'positionChanged':
      writePosition(effect.row, to.gateway);
      return;
    case 'userChanged':
      writeUserChanged(effect.row, to.gateway);
      return;
    case 'marketRiskChanged':
      for (const sink of [to.gateway, to.data]) writeMarketRisk(effect, sink);
      return;
    case 'marketDecided':
      for (const sink of [to.gateway, to.data, to.market(effect.marketIndex)]) writeDecided(effect, sink);
      return;
    case 'replied':
      writeReply(effect.request, effect.outcome, to.gateway);
      return;
    case 'registryChanged':
      writeClearingEvent(effect, to.gateway);
      if (effect.change.table === 'market') {
        const { definition } = effect.change.row;
        writeClearingEvent(effect, to.market(definition.marketIndex));
        writeClearingEvent(effect, to.data);
      } else if (effect.change.table === 'asset') {
        writeClearingEvent(effect, to.data);
      } else if (effect.change.table === 'config' && effect.change.row.kind === 'settings') {
        for (const sink of [to.data, ...to.shards]) writeClearingEvent(effect, sink);
      }
      return;
    case 'orderEnded':
    case 'signersChanged':
    case 'subAccountChanged':
    // The gateway passes it on to its market, in front of the orders that it concerns.
    case 'protectionChanged':
    case 'positionCleared':
    case 'depositLanded':
    case 'transferDone':
    case 'liquidationChanged':
    case 'cancelAccount':
    case 'nodeOrder':
    case 'deleveraged':
    case 'withdrawalChanged':
    case 'withdrawalCompleted':
    case 'settlementChanged':
      writeClearingEvent(effect, to.gateway);
      return;
    case 'tradeIdsWanted':
      writeClearingEvent(effect, to.market(effect.marketIndex));
      return;
    case 'priceAccepted':
      for (const sink of [to.gateway, to.data, ...to.shards]) writeClearingEvent(effect, sink);
      return;
    default:
      unreachable(effect);
  }
}

function writeFillConfirmed(trade: TradeRow, sink: RecordSink): void {
  const at = sink.claim(FillConfirmed.typeId, FillConfirmed.bytes);
  if (at < 0) return;
  const { tradeId, price, quantity, matchedNs, marketIndex, takerSide, maker, taker } = trade;
  FillConfirmed.write(sink.views, at, {
    tradeId,
    makerOrder: maker.orderSequence,
    takerOrder: taker.orderSequence,
    price,
    quantity,
    matchedNs,
    makerFee: maker.fee,
    takerFee: taker.fee,
    marketIndex,
    takerSide,
    isLiquidation: trade.isLiquidation,
    isAutoDeleverage: trade.isAutoDeleverage,
  });
  sink.commit();
}

function writeRolledBack(fill: FillRolledBackEffect, sink: RecordSink): void {
  const at = sink.claim(FillRolledBack.typeId, FillRolledBack.bytes);
  if (at < 0) return;
  FillRolledBack.write(sink.views, at, fill);
  sink.commit();
}

export function writeBalance(row: BalanceRow, sink: RecordSink): void {
  const { user, subAccount, asset, owned, locked } = row;
  const at = sink.claim(BalanceChanged.typeId, BalanceChanged.bytes + asset.length);
  if (at < 0) return;
  BalanceChanged.write(sink.views, at, { owned, locked, subAccount, assetBytes: asset.length, user });
  writeText(sink.views, at + BalanceChanged.bytes, asset);
  sink.commit();
}

export function writePosition(row: PositionRow, sink: RecordSink): void {
  const { user, subAccount, asset, base, quote, entry } = row;
  const at = sink.claim(PositionChanged.typeId, PositionChanged.bytes + asset.length);
  if (at < 0) return;
  PositionChanged.write(sink.views, at, { base, quote, entry, subAccount, assetBytes: asset.length, user });
  writeText(sink.views, at + PositionChanged.bytes, asset);
  sink.commit();
}

export function writeUserChanged(row: Pick<UserRow, 'user' | 'isMarketMaker'>, sink: RecordSink): void {
  const at = sink.claim(UserChanged.typeId, UserChanged.bytes);
  if (at < 0) return;
  UserChanged.write(sink.views, at, { user: row.user, isMarketMaker: row.isMarketMaker });
  sink.commit();
}

export function writeMarketRisk(effect: Omit<MarketRiskChangedEffect, 'kind'>, sink: RecordSink): void {
  const at = sink.claim(MarketRiskChanged.typeId, MarketRiskChanged.bytes);
  if (at < 0) return;
  const { marketIndex, mark, credits, borrows, holdings } = effect;
  MarketRiskChanged.write(sink.views, at, {
    mark: mark?.price ?? ZERO_18,
    credits,
    borrows,
    holdings,
    matchedNs: mark?.timeNs ?? (0n as TimestampNs),
    marketIndex,
    goodUpdates: mark?.goodUpdates ?? 0,
    isTripped: mark?.isTripped ?? false,
    hasMark: mark !== null,
  });
  sink.commit();
}

/** The mark of a MarketRiskChanged, null for none. */
export function readMark(v: Views, at: number): PriceSource | null {
  if (!MarketRiskChanged.hasMark(v, at)) return null;
  return {
    price: MarketRiskChanged.mark(v, at) as Amount18,
    timeNs: MarketRiskChanged.matchedNs(v, at) as TimestampNs,
    isTripped: MarketRiskChanged.isTripped(v, at),
    goodUpdates: MarketRiskChanged.goodUpdates(v, at),
  };
}

export function writeDecided(effect: MarketDecidedEffect, sink: RecordSink): void {
  const at = sink.claim(MarketDecided.typeId, MarketDecided.bytes);
  if (at < 0) return;
  const { throughTradeId: tradeId, throughSequence: sequence, timeNs, marketIndex } = effect;
  MarketDecided.write(sink.views, at, { tradeId, sequence, timeNs, marketIndex });
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

export function writeClearingEvent(event: ClearingEvent, sink: RecordSink): void {
  const text = encodePlain(event);
  const at = sink.claim(NodeEvent.typeId, NodeEvent.bytes + text.length);
  if (at < 0) return;
  NodeEvent.setTextBytes(sink.views, at, text.length);
  sink.views.u8.set(text, at + NodeEvent.bytes);
  sink.commit();
}

/** The cold message at `at`. */
export function readClearingEvent(v: Views, at: number): ClearingEvent {
  const start = at + NodeEvent.bytes;
  return decodePlain<ClearingEvent>(v.u8.subarray(start, start + NodeEvent.textBytes(v, at)));
}

export function writeFlushed(flushed: JournalFlushedFields, sink: RecordSink): void {
  const at = sink.claim(JournalFlushed.typeId, JournalFlushed.bytes);
  if (at < 0) return;
  JournalFlushed.write(sink.views, at, flushed);
  sink.commit();
}

/** The part of a restored order that its record does not have. */
interface RestoredState {
  /** Sequence of its parent; 0 when there is none or it lives no more. */
  readonly parent: Sequence | 0;
  /** The id as it was signed; '' for an order that is no child. */
  readonly parentId: OrderId | '';
}

export function writeRestoredOrder(
  order: OrderRecordView,
  { parent, parentId }: RestoredState,
  sink: RecordSink,
): void {
  assert(parentId.length === order.parentIdBytes, 'the id of a parent is as long as its record says');
  const at = sink.claim(OrderRestoredAtBoot.typeId, OrderRestoredAtBoot.bytes + parentId.length);
  if (at < 0) return;
  const v = sink.views;
  OrderRestoredAtBoot.setInForce(v, at, inForceOf(order));
  OrderRestoredAtBoot.setParent(v, at, parent);
  OrderRecord.copy(order.v, order.at, v, at + OrderRestoredAtBoot.orderAt);
  if (parentId !== '') writeText(v, at + OrderRestoredAtBoot.bytes, parentId);
  sink.commit();
}

/** A quote set, before its entries. */
export function writeRestoredQuoteSet(row: QuoteSetRow, sink: RecordSink): void {
  const at = sink.claim(QuoteSetRestored.typeId, QuoteSetRestored.bytes);
  if (at < 0) return;
  QuoteSetRestored.write(sink.views, at, row);
  sink.commit();
}

/** Lots that the market has released, or never kept back. */
function inForceOf({ triggerState, parentSequence, quantity, activatedQuantity }: OrderRow): number {
  if (triggerState !== TRIGGER_STATE.live) return 0;
  return parentSequence === 0 ? quantity : activatedQuantity;
}

/** An order id that stays taken (AMB-08). */
export function writeRememberedId(id: Tombstone, sink: RecordSink): void {
  const at = sink.claim(OrderIdRemembered.typeId, OrderIdRemembered.bytes);
  if (at < 0) return;
  OrderIdRemembered.write(sink.views, at, id);
  sink.commit();
}

/** Creates of this user that were signed before may be replays (AMB-08). */
export function writeIdWatermark(mark: DurableIds, sink: RecordSink): void {
  const at = sink.claim(IdWatermark.typeId, IdWatermark.bytes);
  if (at < 0) return;
  IdWatermark.write(sink.views, at, mark);
  sink.commit();
}

export function writeMarketRestored(
  market: { definition: MarketDefinition; sequence: Sequence; lastTradeId: Sequence },
  sink: RecordSink,
): void {
  const at = sink.claim(MarketRestored.typeId, MarketRestored.bytes);
  if (at < 0) return;
  const { definition, sequence, lastTradeId } = market;
  MarketRestored.write(sink.views, at, { sequence, lastTradeId, marketIndex: definition.marketIndex });
  sink.commit();
}
