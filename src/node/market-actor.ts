/**
 * A market shard: the engines of its markets behind one mailbox. It reads commands out of the rings, calls the engine,
 * and lets market-output.ts write down what happened.
 *
 *   front door ──commands──▶ ┌────────┐ ──events──▶ clearing, front door
 *   clearing ──decisions───▶ │ engine │ ──levels──▶ market data
 *                            └────────┘
 *
 * A market is opened by its definition and its restored state, both from clearing; until then its commands are refused.
 */
import type { RegistryChanged } from '../clearing/effects.ts';
import { assert, InvariantError, must } from '../core/assert.ts';
import { type RollbackReason, SIDE, type Side, type Tif } from '../core/order-terms.ts';
import type { Clock, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import type {
  CancelCommand,
  NewOrderCommand,
  RememberedId,
  ReplaceCommand,
  RestoredOrder,
  RollbackCommand,
} from '../matching/commands.ts';
import { MarketEngine } from '../matching/market-engine.ts';
import {
  CancelOrder,
  FillRolledBack,
  MarketDecided,
  MarketRestored,
  NewOrder,
  NodeEvent,
  OrderIdRemembered,
  OrderRestoredAtBoot,
  ReplaceOrder,
} from '../messages/generated/messages.ts';
import { decodePlain } from '../messages/plain-values.ts';
import type { Actor } from '../runtime/actor.ts';
import type { Outlet } from '../runtime/outlet.ts';
import type { NodeNews } from './effect-codec.ts';
import { MarketOutput } from './market-output.ts';
import { Outbox } from './outbox.ts';

interface OpenMarket {
  readonly engine: MarketEngine;
  readonly output: MarketOutput;
  isOpen: boolean;
}

export interface MarketShardWiring {
  readonly name: string;
  readonly clock: Clock;
  /** A test hook holds its commands back (operator-api.md 7.3 `stall_market`). */
  readonly isStalled: () => boolean;
  /** Lane that clearing writes; every other lane is the front door's. */
  readonly clearingLane: number;
  readonly clearing: Outlet;
  readonly door: Outlet;
  readonly data: Outlet;
}

const NO_BYTES = new Uint8Array(0);
const key = (): { bytes: Uint8Array; userAt: number; orderIdAt: number; orderIdBytes: number } => ({
  bytes: NO_BYTES,
  userAt: 0,
  orderIdAt: 0,
  orderIdBytes: 0,
});
const NO_TIME = 0n as TimestampNs;

export class MarketShardActor implements Actor {
  readonly name: string;
  private readonly wiring: MarketShardWiring;
  private readonly clearing: Outbox;
  private readonly door: Outbox;
  private readonly markets = new Map<number, OpenMarket>();

  // One record per kind of command, filled anew for each: nothing is allocated per message.
  private readonly newOrder: NewOrderCommand = {
    ...key(),
    requestId: 0,
    receivedNs: NO_TIME,
    creationNs: NO_TIME,
    expiryNs: NO_TIME,
    side: 0,
    tif: 0,
    flags: 0,
    price: 0,
    quantity: 0,
  };
  private readonly replace: ReplaceCommand = {
    ...key(),
    requestId: 0,
    receivedNs: NO_TIME,
    timestampNs: NO_TIME,
    price: 0,
    quantity: 0,
  };
  private readonly cancel: CancelCommand = { ...key(), requestId: 0, receivedNs: NO_TIME, hold: false };
  private readonly rollback: RollbackCommand = {
    receivedNs: NO_TIME,
    tradeId: 0,
    makerOrder: 0,
    takerOrder: 0,
    quantity: 0,
    makerReason: 0,
    takerReason: 0,
  };
  private readonly source: { views: Views; at: number; bytes: number };

  constructor(wiring: MarketShardWiring) {
    this.name = wiring.name;
    this.wiring = wiring;
    this.clearing = new Outbox(wiring.clearing);
    this.door = new Outbox(wiring.door);
    this.source = { views: wiring.clearing.views, at: 0, bytes: 0 };
  }

  start(): void {}

  stop(): void {}

  /**
   * New commands wait until everything said so far is in the rings. Clearing's decisions are always taken, so that two
   * full rings never wait for each other.
   */
  ready(lane: number): boolean {
    if (lane === this.wiring.clearingLane) return true;
    if (this.wiring.isStalled()) return false;
    return (this.clearing.isEmpty || this.clearing.flush()) && (this.door.isEmpty || this.door.flush());
  }

  handle(_lane: number, typeId: number, v: Views, at: number, bytes: number): void {
    switch (typeId) {
      case NewOrder.typeId:
        this.onNewOrder(v, at, bytes);
        break;
      case CancelOrder.typeId:
        this.onCancel(v, at);
        break;
      case ReplaceOrder.typeId:
        this.onReplace(v, at);
        break;
      case MarketDecided.typeId:
        this.market(MarketDecided.marketIndex(v, at)).engine.settled(MarketDecided.tradeId(v, at));
        break;
      case FillRolledBack.typeId:
        this.onRolledBack(v, at);
        break;
      case OrderRestoredAtBoot.typeId:
        this.onRestoredOrder(v, at);
        break;
      case OrderIdRemembered.typeId:
        this.onRememberedId(v, at);
        break;
      case MarketRestored.typeId:
        this.onRestored(v, at, bytes);
        break;
      case NodeEvent.typeId: {
        const start = at + NodeEvent.bytes;
        const news = decodePlain<NodeNews>(v.u8.subarray(start, start + NodeEvent.textBytes(v, at)));
        if (news.kind === 'registryChanged') this.onRegistry(news);
        break;
      }
      default:
        throw new InvariantError(`a market received a message of type ${typeId}`);
    }
  }

  endBatch(): void {
    this.clearing.flush();
    this.door.flush();
    if (this.wiring.data.needsResync()) this.sendBooks();
    this.wiring.data.flush();
  }

  tick(nowNs: bigint): void {
    if (!this.clearing.isEmpty || !this.door.isEmpty) return;
    for (const market of this.markets.values()) {
      if (!market.isOpen) continue;
      market.output.timeNs = nowNs as TimestampNs;
      market.engine.tick(nowNs as TimestampNs);
    }
  }

  /** Open markets with what operators and tests ask about them. */
  engines(): ReadonlyMap<number, MarketEngine> {
    return new Map([...this.markets].map(([index, market]) => [index, market.engine]));
  }

  private market(marketIndex: number): OpenMarket {
    return must(this.markets.get(marketIndex), `the shard holds market ${marketIndex}`);
  }

  private onNewOrder(v: Views, at: number, bytes: number): void {
    const market = this.market(NewOrder.marketIndex(v, at));
    assert(market.isOpen, 'orders reach a market only after it was restored');
    const command = this.newOrder;
    this.readKey(command, v, at + NewOrder.userAt, at + NewOrder.orderIdAt, NewOrder.orderIdBytes(v, at));
    command.requestId = NewOrder.requestId(v, at);
    command.receivedNs = NewOrder.receivedNs(v, at) as TimestampNs;
    command.creationNs = NewOrder.creationNs(v, at) as TimestampNs;
    command.expiryNs = NewOrder.expiryNs(v, at) as TimestampNs;
    command.side = NewOrder.side(v, at) as Side;
    command.tif = NewOrder.tif(v, at) as Tif;
    command.flags = NewOrder.flags(v, at);
    command.price = NewOrder.price(v, at);
    command.quantity = NewOrder.quantity(v, at);
    this.source.views = v;
    this.source.at = at;
    this.source.bytes = bytes;
    market.output.timeNs = command.receivedNs;
    market.output.source = this.source;
    market.engine.create(command);
    market.output.source = null;
  }

  private onReplace(v: Views, at: number): void {
    const market = this.market(ReplaceOrder.marketIndex(v, at));
    const command = this.replace;
    this.readKey(command, v, at + ReplaceOrder.userAt, at + ReplaceOrder.orderIdAt, ReplaceOrder.orderIdBytes(v, at));
    command.requestId = ReplaceOrder.requestId(v, at);
    command.receivedNs = ReplaceOrder.receivedNs(v, at) as TimestampNs;
    command.timestampNs = ReplaceOrder.timestampNs(v, at) as TimestampNs;
    command.price = ReplaceOrder.price(v, at);
    command.quantity = ReplaceOrder.quantity(v, at);
    market.output.timeNs = command.receivedNs;
    market.engine.replace(command);
  }

  private onCancel(v: Views, at: number): void {
    const market = this.market(CancelOrder.marketIndex(v, at));
    const command = this.cancel;
    this.readKey(command, v, at + CancelOrder.userAt, at + CancelOrder.orderIdAt, CancelOrder.orderIdBytes(v, at));
    command.requestId = CancelOrder.requestId(v, at);
    command.receivedNs = CancelOrder.receivedNs(v, at) as TimestampNs;
    command.hold = CancelOrder.hold(v, at) === 1;
    market.output.timeNs = command.receivedNs;
    market.engine.cancel(command);
  }

  private onRolledBack(v: Views, at: number): void {
    const market = this.market(FillRolledBack.marketIndex(v, at));
    const command = this.rollback;
    command.receivedNs = this.wiring.clock.nowNs();
    command.tradeId = FillRolledBack.tradeId(v, at);
    command.makerOrder = FillRolledBack.makerOrder(v, at);
    command.takerOrder = FillRolledBack.takerOrder(v, at);
    command.quantity = FillRolledBack.quantity(v, at);
    command.makerReason = FillRolledBack.makerReason(v, at) as RollbackReason;
    command.takerReason = FillRolledBack.takerReason(v, at) as RollbackReason;
    market.output.timeNs = command.receivedNs;
    market.engine.rollback(command);
  }

  private onRegistry(news: RegistryChanged): void {
    if (news.change.table !== 'market') return;
    const { definition } = news.change.row;
    const known = this.markets.get(definition.marketIndex);
    if (known !== undefined) {
      known.output.definition = definition;
      known.engine.setMarket(definition.status);
      return;
    }
    const output = new MarketOutput(definition, {
      clearing: this.clearing,
      door: this.door,
      data: this.wiring.data,
    });
    const engine = new MarketEngine({ events: output });
    engine.setMarket(definition.status);
    this.markets.set(definition.marketIndex, { engine, output, isOpen: false });
  }

  private onRestoredOrder(v: Views, at: number): void {
    const source = at + OrderRestoredAtBoot.bytes;
    const order: RestoredOrder = {
      ...key(),
      order: OrderRestoredAtBoot.order(v, at),
      prioritySequence: OrderRestoredAtBoot.prioritySequence(v, at),
      side: NewOrder.side(v, source) as Side,
      tif: NewOrder.tif(v, source) as Tif,
      flags: NewOrder.flags(v, source),
      price: OrderRestoredAtBoot.price(v, at),
      quantity: OrderRestoredAtBoot.quantity(v, at),
      filledQuantity: OrderRestoredAtBoot.filledQuantity(v, at),
      creationNs: NewOrder.creationNs(v, source) as TimestampNs,
      timestampNs: OrderRestoredAtBoot.timestampNs(v, at) as TimestampNs,
      expiryNs: NewOrder.expiryNs(v, source) as TimestampNs,
    };
    this.readKey(order, v, source + NewOrder.userAt, source + NewOrder.orderIdAt, NewOrder.orderIdBytes(v, source));
    this.market(OrderRestoredAtBoot.marketIndex(v, at)).engine.restoreOrder(order);
  }

  private onRememberedId(v: Views, at: number): void {
    const id: RememberedId = {
      ...key(),
      creationNs: OrderIdRemembered.creationNs(v, at) as TimestampNs,
      wasCancelled: OrderIdRemembered.wasCancelled(v, at) === 1,
    };
    const { userAt, orderIdAt } = OrderIdRemembered;
    this.readKey(id, v, at + userAt, at + orderIdAt, OrderIdRemembered.orderIdBytes(v, at));
    this.market(OrderIdRemembered.marketIndex(v, at)).engine.restoreRememberedId(id);
  }

  /** The market is whole: it opens, and the front door is told by the same message. */
  private onRestored(v: Views, at: number, bytes: number): void {
    const market = this.market(MarketRestored.marketIndex(v, at));
    assert(!market.isOpen, 'a market is restored once');
    const nowNs = this.wiring.clock.nowNs();
    market.output.timeNs = nowNs;
    market.engine.finishRestore({
      sequence: MarketRestored.sequence(v, at),
      lastTradeId: MarketRestored.lastTradeId(v, at),
      nowNs,
    });
    market.isOpen = true;
    const to = this.door.claim(MarketRestored.typeId, bytes);
    this.door.views.u8.set(v.u8.subarray(at, at + bytes), to);
    this.door.commit();
    if (!this.wiring.data.needsResync()) this.sendBook(market);
  }

  /** Whole books for market data after it began anew or lost something. */
  private sendBooks(): void {
    this.wiring.data.beginResync();
    for (const market of this.markets.values()) if (market.isOpen) this.sendBook(market);
  }

  private sendBook(market: OpenMarket): void {
    const { engine, output } = market;
    output.startDepthReset(engine.sequence);
    for (const side of [SIDE.buy, SIDE.sell]) {
      engine.forEachLevel(side, (price, quantity) => output.levelChanged(side, price, quantity));
    }
    output.depthCommitted();
  }

  private readKey(
    target: { bytes: Uint8Array; userAt: number; orderIdAt: number; orderIdBytes: number },
    v: Views,
    userAt: number,
    orderIdAt: number,
    orderIdBytes: number,
  ): void {
    target.bytes = v.u8;
    target.userAt = userAt;
    target.orderIdAt = orderIdAt;
    target.orderIdBytes = orderIdBytes;
  }
}
