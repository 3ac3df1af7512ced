/**
 * The front door as an actor on the main thread: what markets and clearing say goes into the order manager, what a turn
 * of the event loop has collected goes out.
 */
import type { UserRow } from '../clearing/rows.ts';
import { InvariantError } from '../core/assert.ts';
import type { AssetId } from '../core/ids.ts';
import type { OrderEnd, RollbackReason, Side } from '../core/order-terms.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import {
  BalanceChanged,
  FillConfirmed,
  FillRolledBack,
  HeldCancelExpired,
  JournalFlushed,
  MarketAck,
  MarketDecided,
  MarketRestored,
  Matched,
  NodeEvent,
  NodeReply,
  OrderEnded,
  OrderReplaced,
  OrderRestored,
  OrderRestoredAtBoot,
} from '../messages/generated/messages.ts';
import { decodePlain } from '../messages/plain-values.ts';
import type { Actor } from '../runtime/actor.ts';
import type { Outlet } from '../runtime/outlet.ts';
import type { NodeNews } from './effect-codec.ts';
import type { FrontDoor } from './front-door.ts';
import { readNewOrder, readOrderId, readText, readUser } from './order-codec.ts';
import type { UnflushedWindow } from './unflushed-window.ts';
import type { SignatureDesk } from './verify-desk.ts';

export interface FrontDoorActorParts {
  readonly door: FrontDoor;
  readonly desk: SignatureDesk;
  readonly outlets: readonly Outlet[];
  /** An answer to a command or a question of the node itself. */
  readonly replied: (requestId: number, outcome: Outcome<Readonly<Record<string, unknown>>>) => void;
  /** Word of clearing that is not about an order. */
  readonly news: (news: NodeNews) => void;
  readonly marketOpened: (marketIndex: number) => void;
  readonly ticked: () => void;
  /** The node dies at once: let go of the public sockets. */
  readonly halted: () => void;
  readonly unflushed: UnflushedWindow;
}

export class FrontDoorActor implements Actor {
  readonly name = 'front-door';
  private readonly parts: FrontDoorActorParts;

  constructor(parts: FrontDoorActorParts) {
    this.parts = parts;
  }

  start(): void {}

  stop(): void {}

  halt(): void {
    this.parts.halted();
  }

  /** Always: nobody else may have to wait for the front door. */
  ready(): boolean {
    return true;
  }

  handle(_lane: number, typeId: number, v: Views, at: number): void {
    const { door } = this.parts;
    switch (typeId) {
      case MarketAck.typeId:
        this.onAck(v, at);
        break;
      case Matched.typeId:
        this.onMatched(v, at);
        break;
      case OrderEnded.typeId:
        this.heard(OrderEnded.marketIndex(v, at), OrderEnded.sequence(v, at));
        door.orders.onEnded({
          marketIndex: OrderEnded.marketIndex(v, at),
          sequence: OrderEnded.sequence(v, at),
          order: OrderEnded.order(v, at),
          timeNs: OrderEnded.timeNs(v, at) as TimestampNs,
          end: OrderEnded.end(v, at) as OrderEnd,
          faultReason: OrderEnded.faultReason(v, at) as RollbackReason,
        });
        break;
      case OrderReplaced.typeId:
        door.orders.onReplaced({
          marketIndex: OrderReplaced.marketIndex(v, at),
          sequence: OrderReplaced.sequence(v, at),
          order: OrderReplaced.order(v, at),
          timeNs: OrderReplaced.timeNs(v, at) as TimestampNs,
          price: OrderReplaced.price(v, at) as RawPrice,
          quantity: OrderReplaced.quantity(v, at) as RawQuantity,
          timestampNs: OrderReplaced.timestampNs(v, at) as TimestampNs,
        });
        break;
      case OrderRestored.typeId:
        door.orders.onRestored({
          marketIndex: OrderRestored.marketIndex(v, at),
          sequence: OrderRestored.sequence(v, at),
          order: OrderRestored.order(v, at),
          timeNs: OrderRestored.timeNs(v, at) as TimestampNs,
        });
        break;
      case HeldCancelExpired.typeId: {
        const { userAt, orderIdAt } = HeldCancelExpired;
        const orderId = readOrderId(v, at + orderIdAt, HeldCancelExpired.orderIdBytes(v, at));
        const marketIndex = HeldCancelExpired.marketIndex(v, at);
        door.orders.onHeldCancelExpired({ marketIndex, user: readUser(v, at + userAt), orderId });
        break;
      }
      default:
        this.onClearing(typeId, v, at);
    }
  }

  endBatch(): void {
    this.parts.desk.flush();
    for (const outlet of this.parts.outlets) outlet.flush();
    this.parts.door.streams.flush();
  }

  tick(): void {
    this.parts.ticked();
  }

  private onClearing(typeId: number, v: Views, at: number): void {
    const { door } = this.parts;
    switch (typeId) {
      case FillConfirmed.typeId:
        door.orders.onFillConfirmed({
          marketIndex: FillConfirmed.marketIndex(v, at),
          tradeId: FillConfirmed.tradeId(v, at),
          timeNs: door.nowNs(),
          makerFee: FillConfirmed.makerFee(v, at) as Amount18,
          takerFee: FillConfirmed.takerFee(v, at) as Amount18,
          isLiquidation: FillConfirmed.isLiquidation(v, at) === 1,
          isAutoDeleverage: FillConfirmed.isAutoDeleverage(v, at) === 1,
        });
        break;
      case FillRolledBack.typeId:
        door.orders.onFillRolledBack({
          marketIndex: FillRolledBack.marketIndex(v, at),
          tradeId: FillRolledBack.tradeId(v, at),
          timeNs: door.nowNs(),
          makerReason: FillRolledBack.makerReason(v, at) as RollbackReason,
          takerReason: FillRolledBack.takerReason(v, at) as RollbackReason,
        });
        break;
      case BalanceChanged.typeId:
        this.onBalance(v, at);
        break;
      case MarketDecided.typeId:
        this.onDecided(MarketDecided.marketIndex(v, at), MarketDecided.sequence(v, at));
        break;
      case JournalFlushed.typeId:
        door.orders.onJournalFlushed({
          sequence: JournalFlushed.sequence(v, at),
          checkpoint: JournalFlushed.checkpoint(v, at),
        });
        break;
      case OrderRestoredAtBoot.typeId:
        this.onRestoredOrder(v, at);
        break;
      case MarketRestored.typeId:
        door.openMarkets.add(MarketRestored.marketIndex(v, at));
        this.parts.marketOpened(MarketRestored.marketIndex(v, at));
        break;
      case NodeReply.typeId: {
        const start = at + NodeReply.bytes;
        const outcome = decodePlain<Outcome<Readonly<Record<string, unknown>>>>(
          v.u8.subarray(start, start + NodeReply.textBytes(v, at)),
        );
        this.parts.replied(NodeReply.requestId(v, at), outcome);
        break;
      }
      case NodeEvent.typeId: {
        const start = at + NodeEvent.bytes;
        this.onNews(decodePlain<NodeNews>(v.u8.subarray(start, start + NodeEvent.textBytes(v, at))));
        break;
      }
      default:
        throw new InvariantError(`the front door received a message of type ${typeId}`);
    }
  }

  private onDecided(marketIndex: number, sequence: number): void {
    this.parts.door.orders.onMarketDecided({ marketIndex, sequence });
    this.parts.unflushed.flushed(marketIndex, sequence, performance.now());
  }

  private heard(marketIndex: number, sequence: number): void {
    if (sequence > 0) this.parts.unflushed.heard(marketIndex, sequence, performance.now());
  }

  /** An admitted create first gets its name, then its answer. */
  private onAck(v: Views, at: number): void {
    const { orders } = this.parts.door;
    const ack = {
      requestId: MarketAck.requestId(v, at),
      marketIndex: MarketAck.marketIndex(v, at),
      sequence: MarketAck.sequence(v, at),
      timeNs: MarketAck.timeNs(v, at) as TimestampNs,
      rejectCode: MarketAck.rejectCode(v, at),
    };
    this.heard(ack.marketIndex, ack.sequence);
    if (MarketAck.isAdmission(v, at) === 1) orders.onAdmitted({ ...ack, refusal: ack.rejectCode });
    orders.onAck(ack);
  }

  private onMatched(v: Views, at: number): void {
    this.heard(Matched.marketIndex(v, at), Matched.sequence(v, at));
    this.parts.door.orders.onMatched({
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
    });
  }

  private onBalance(v: Views, at: number): void {
    const asset = readText(v, at + BalanceChanged.bytes, BalanceChanged.assetBytes(v, at));
    this.parts.door.orders.onBalanceChanged({
      user: readUser(v, at + BalanceChanged.userAt),
      subAccount: BalanceChanged.subAccount(v, at),
      asset: asset as AssetId,
      owned: BalanceChanged.owned(v, at) as Amount18,
      locked: BalanceChanged.locked(v, at) as Amount18,
    });
  }

  private onRestoredOrder(v: Views, at: number): void {
    const source = at + OrderRestoredAtBoot.bytes;
    const { text: _text, signature: _signature, ...order } = readNewOrder(v, source);
    this.parts.door.orders.restoreOrder({
      ...order,
      marketIndex: OrderRestoredAtBoot.marketIndex(v, at),
      orderSequence: OrderRestoredAtBoot.order(v, at) as Sequence,
      prioritySequence: OrderRestoredAtBoot.prioritySequence(v, at) as Sequence,
      timestampNs: OrderRestoredAtBoot.timestampNs(v, at) as TimestampNs,
      admittedNs: OrderRestoredAtBoot.admittedNs(v, at) as TimestampNs,
      lastUpdateNs: OrderRestoredAtBoot.lastUpdateNs(v, at) as TimestampNs,
      filledQuantity: OrderRestoredAtBoot.filledQuantity(v, at),
      filledNotional: OrderRestoredAtBoot.filledNotional(v, at) as Amount18,
      fees: OrderRestoredAtBoot.fees(v, at) as Amount18,
    });
  }

  private onNews(news: NodeNews): void {
    const { door } = this.parts;
    if (news.kind === 'userChanged') this.onUser(news.row);
    else if (news.kind === 'registryChanged') {
      const { change } = news;
      if (change.table === 'asset') door.assetChanged(change.row);
      else if (change.table === 'market') door.marketChanged(change.row.definition, change.row.sequence);
      else door.configChanged(change.row);
    }
    this.parts.news(news);
  }

  private onUser(row: UserRow): void {
    this.parts.door.userKnown(row.user, row.isMarketMaker);
    this.parts.door.orders.onUserChanged(row);
  }
}
