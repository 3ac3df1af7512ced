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

import { type NodeNews, readNews } from '../clearing/effect-codec.ts';
import type { Effect, RegistryChanged } from '../clearing/effects.ts';
import { DEFAULT_HOLDS, type Holds, readHolds } from '../clearing/registry/stored-settings.ts';
import { RestoredCommandReader } from '../clearing/restored-word.ts';
import type { ConfigRow } from '../clearing/rows.ts';
import { assert, InvariantError, must } from '../core/assert.ts';
import type { AssetId } from '../core/ids.ts';
import type { Clock, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { COMMAND_NOTE } from '../order/command-notes.ts';
import { type InjectedFill, keyOf } from '../order/fill-injection.ts';
import { createHash } from '../order/order-codec.ts';
import type { Actor } from '../runtime/actor.ts';
import { Outbox } from '../runtime/outbox.ts';
import type { Outlet } from '../runtime/outlet.ts';
import {
  CancelAllOrders,
  CancelOrder,
  CommandNote,
  FillRolledBack,
  IdWatermark,
  MarketDecided,
  MarketRestored,
  NewOrder,
  NodeEvent,
  NodeHook,
  OrderIdRemembered,
  OrderRecord,
  OrderRestoredAtBoot,
  ReleaseOrder,
  ReplaceOrder,
} from '../schema/generated/messages.ts';
import { decodePlain } from '../schema/plain-values.ts';
import { HostedMarket } from './hosted-market.ts';
import { CommandReader, readRememberedId } from './market-commands.ts';
import type { MarketEngine } from './market-engine.ts';

/**
 * Words that nobody has read yet, in bytes: with more of them before it, a storm of triggers waits. An answer stands
 * behind what was said before it, so this is how far a storm delays a cancel: some 70 words of the front door's, and
 * the one turn of the pump that went past it. Clearing reads a thousand at a time.
 */
const DOOR_UNREAD_MAX = 4_096;
const CLEARING_UNREAD_MAX = 65_536;

type PriceAccepted = Extract<Effect, { kind: 'priceAccepted' }>;

export interface MarketShardWiring {
  readonly name: string;
  readonly clock: Clock;
  /** Of the hashes of ids, as the front door has it; no event depends on it. */
  readonly hashSeed: bigint;
  /** A test hook holds its commands back (operator-api.md 7.3 `stall_market`). */
  readonly isStalled: () => boolean;
  /** A large book is opened in one piece: the thread says between its steps that it is alive. */
  readonly beat: () => void;
  /** Lane that clearing writes; every other lane is the front door's. */
  readonly clearingLane: number;
  readonly clearing: Outlet;
  readonly door: Outlet;
  readonly data: Outlet;
}

export class MarketShardActor implements Actor {
  readonly name: string;
  readonly #wiring: MarketShardWiring;
  readonly #clearing: Outbox;
  readonly #door: Outbox;
  readonly #commands = new CommandReader();
  readonly #restored = new RestoredCommandReader();
  readonly #markets = new Map<number, HostedMarket>();
  /** Last oracle prices, for markets of this shard that are yet to come as well. */
  readonly #prices = new Map<AssetId, bigint>();
  /** Of cancels that wait for their creates, in every market of this shard. */
  #holds: Holds = DEFAULT_HOLDS;
  /** Markets with triggers that fired, or released orders, or a reason to look for them. */
  readonly #busy = new Set<HostedMarket>();
  /** Markets with rollbacks of this batch, and those that are being uncrossed since (AMB-32). */
  readonly #rolledBack = new Set<HostedMarket>();
  /** One of them is crossed: commands wait, and levels are not told, until it is uncrossed. */
  #isCrossed = false;
  readonly #source: { views: Views; at: number; bytes: number };

  constructor(wiring: MarketShardWiring) {
    this.name = wiring.name;
    this.#wiring = wiring;
    this.#clearing = new Outbox(wiring.clearing);
    this.#door = new Outbox(wiring.door);
    this.#source = { views: wiring.clearing.views, at: 0, bytes: 0 };
  }

  start(): void {}

  stop(): void {}

  /**
   * New commands wait until everything said so far is in the rings and every book is uncrossed. Clearing's decisions are always taken, so that two
   * full rings never wait for each other.
   */
  ready(lane: number): boolean {
    // mutant: uncrossing-steps
    return lane === this.#wiring.clearingLane || (!this.#isCrossed && this.#mayDoMore());
  }

  handle(_lane: number, typeId: number, v: Views, at: number, bytes: number): void {
    switch (typeId) {
      case NewOrder.typeId:
        this.#onNewOrder(v, at, bytes);
        break;
      case CancelOrder.typeId: {
        const command = this.#commands.readCancel(v, at);
        this.#marketAt(CancelOrder, v, at).engine.cancel(command);
        break;
      }
      case ReplaceOrder.typeId: {
        const command = this.#commands.readReplace(v, at);
        this.#marketAt(ReplaceOrder, v, at).engine.replace(command);
        break;
      }
      case CancelAllOrders.typeId: {
        const command = this.#commands.readCancelAll(v, at);
        this.#marketAt(CancelAllOrders, v, at).engine.cancelAll(command);
        break;
      }
      case ReleaseOrder.typeId: {
        const market = this.#marketAt(ReleaseOrder, v, at);
        market.engine.release(this.#commands.readRelease(v, at));
        this.#busy.add(market);
        break;
      }
      case CommandNote.typeId:
        this.#onNote(this.#market(CommandNote.marketIndex(v, at)), CommandNote.kind(v, at));
        break;
      case NodeHook.typeId: {
        const start = at + NodeHook.bytes;
        this.#onInjectedFill(decodePlain(v.u8.subarray(start, start + NodeHook.textBytes(v, at))));
        break;
      }
      default:
        this.#onClearing(typeId, v, at, bytes);
    }
  }

  /** The line of an id's table is far away; it comes while the command before is handled. */
  expect(typeId: number, v: Views, at: number, bytes: number): void {
    if (typeId === NewOrder.typeId)
      this.#expectId(OrderRecord.marketIndex(v, at + NewOrder.orderAt), createHash(v, at, bytes));
    else if (typeId === CancelOrder.typeId) this.#expectId(CancelOrder.marketIndex(v, at), CancelOrder.idHash(v, at));
    else if (typeId === ReplaceOrder.typeId)
      this.#expectId(ReplaceOrder.marketIndex(v, at), ReplaceOrder.idHash(v, at));
  }

  #expectId(marketIndex: number, idHash: number): void {
    this.#markets.get(marketIndex)?.engine.expect(idHash);
  }

  endBatch(): void {
    this.#clearing.flush();
    this.#door.flush();
    if (this.#rolledBack.size > 0 && this.#mayDoMore()) this.#uncross();
    for (const market of this.#markets.values()) if (market.engine.isBehind) this.#busy.add(market);
    if (this.#mayPump()) this.#pump();
    // A book that is still being restored may be crossed, over several batches, until its market opens (AMB-110).
    for (const market of this.#markets.values()) if (market.isOpen) market.check();
    if (!this.#isCrossed && this.#wiring.data.needsResync()) this.#sendBooks();
    this.#wiring.data.flush();
  }

  tick(nowNs: bigint): void {
    if (this.#isCrossed || !this.#clearing.isEmpty || !this.#door.isEmpty) return;
    for (const market of this.#markets.values()) if (market.isOpen) market.tick(nowNs as TimestampNs);
    // However busy its neighbours are with others: one turn of it a tick.
    if (this.#busy.size > 0 && this.#mayDoMore()) this.#pump();
  }

  isQuiet(): boolean {
    const isPaused = this.#busy.size > 0 && !this.#wiring.isStalled() && !this.#isHeard();
    return this.#clearing.isEmpty && this.#door.isEmpty && !isPaused;
  }

  /** A book is to be uncrossed, or triggers wait for a turn. */
  hasMore(): boolean {
    return (this.#isCrossed && this.#mayDoMore()) || this.#mayPump();
  }

  /** Triggers that fired, or orders that were released, wait for a turn, and the neighbours keep up with what is said. */
  #mayPump(): boolean {
    return this.#busy.size > 0 && !this.#isCrossed && this.#mayDoMore() && this.#isHeard();
  }

  #isHeard(): boolean {
    const { door, clearing } = this.#wiring;
    return isRead(door, DOOR_UNREAD_MAX) && isRead(clearing, CLEARING_UNREAD_MAX);
  }

  /** Open markets with what operators and tests ask about them. */
  engines(): ReadonlyMap<number, MarketEngine> {
    return new Map([...this.#markets].map(([index, market]) => [index, market.engine]));
  }

  /** Everything said so far is in the rings, and no hook holds the shard. */
  #mayDoMore(): boolean {
    if (this.#wiring.isStalled()) return false;
    return (this.#clearing.isEmpty || this.#clearing.flush()) && (this.#door.isEmpty || this.#door.flush());
  }

  /** A part of what came back in each market: a rollback of thousands of orders is no step of its own. */
  #uncross(): void {
    const nowNs = this.#wiring.clock.nowNs();
    for (const market of this.#rolledBack) if (!market.uncross(nowNs)) this.#rolledBack.delete(market);
    this.#isCrossed = this.#rolledBack.size > 0;
    this.#clearing.flush();
    this.#door.flush();
  }

  #pump(): void {
    const nowNs = this.#wiring.clock.nowNs();
    for (const market of this.#busy) if (!market.pump(nowNs)) this.#busy.delete(market);
    this.#clearing.flush();
    this.#door.flush();
  }

  #onClearing(typeId: number, v: Views, at: number, bytes: number): void {
    switch (typeId) {
      case MarketDecided.typeId: {
        const market = this.#market(MarketDecided.marketIndex(v, at));
        market.decided(MarketDecided.tradeId(v, at), this.#wiring.clock.nowNs());
        this.#busy.add(market);
        break;
      }
      case FillRolledBack.typeId: {
        const market = this.#market(FillRolledBack.marketIndex(v, at));
        market.rollBack(this.#commands.readRollback(v, at, this.#wiring.clock.nowNs()));
        this.#busy.add(market);
        this.#rolledBack.add(market);
        if (market.engine.isUncrossing) this.#isCrossed = true;
        break;
      }
      case OrderRestoredAtBoot.typeId:
        this.#onRestoredOrder(this.#market(OrderRestoredAtBoot.marketIndex(v, at)), v, at);
        break;
      case OrderIdRemembered.typeId:
        this.#market(OrderIdRemembered.marketIndex(v, at)).engine.restoreRememberedId(readRememberedId(v, at));
        break;
      case IdWatermark.typeId: {
        const userAt = (at + IdWatermark.userAt) >>> 2;
        const creationNs = IdWatermark.creationNs(v, at) as TimestampNs;
        this.#market(IdWatermark.marketIndex(v, at)).engine.restoreWatermark(v.i32, userAt, creationNs);
        break;
      }
      case MarketRestored.typeId:
        this.#onRestored(v, at, bytes);
        break;
      case NodeEvent.typeId:
        this.#onNews(readNews(v, at));
        break;
      default:
        throw new InvariantError(`a market received a message of type ${typeId}`);
    }
  }

  #market(marketIndex: number): HostedMarket {
    return must(this.#markets.get(marketIndex), `the shard holds market ${marketIndex}`);
  }

  /** The market of a command, its time set to the command's. */
  #marketAt(message: CommandMessage, v: Views, at: number): HostedMarket {
    const market = this.#market(message.marketIndex(v, at));
    assert(market.isOpen, 'commands reach a market only after it was restored');
    const word = (at + message.receivedNsAt) >>> 2;
    market.output.setTime(v.u32[word + 1] as number, v.u32[word] as number);
    return market;
  }

  #onNewOrder(v: Views, at: number, bytes: number): void {
    const market = this.#marketAt(CREATE, v, at);
    this.#source.views = v;
    this.#source.at = at;
    // The hash behind the text is for the market alone.
    this.#source.bytes = NewOrder.bytes + NewOrder.textBytes(v, at);
    market.output.source = this.#source;
    market.engine.create(this.#commands.readCreate(v, at, bytes));
    market.output.source = null;
  }

  /** A command's own word on how it is to be answered or told. */
  #onNote(market: HostedMarket, kind: number): void {
    assert(market.isOpen, 'commands reach a market only after it was restored');
    if (kind === COMMAND_NOTE.timed) market.output.takenNs = this.#wiring.clock.nowNs();
    else market.engine.holdDepth(kind === COMMAND_NOTE.batchBegins);
  }

  /** A test hook's fill; orders that ended meanwhile are not filled. */
  #onInjectedFill(fill: InjectedFill): void {
    const market = this.#market(fill.marketIndex);
    const { price, quantity } = fill;
    const words = { maker: keyOf(fill.maker), taker: keyOf(fill.taker), price, quantity };
    market.output.at(fill.matchedNs ?? this.#wiring.clock.nowNs(), () => market.engine.injectFill(words));
  }

  #onNews(news: NodeNews): void {
    if (news.kind === 'registryChanged') this.#onRegistry(news);
    else if (news.kind === 'priceAccepted') this.#onPrice(news);
  }

  #onRegistry(news: RegistryChanged): void {
    if (news.change.table === 'config') this.#onSettings(news.change.row);
    if (news.change.table !== 'market') return;
    const { definition } = news.change.row;
    const known = this.#markets.get(definition.marketIndex);
    if (known !== undefined) {
      known.define(definition, this.#wiring.clock.nowNs());
      if (known.isOpen) this.#busy.add(known);
      return;
    }
    const to = { clearing: this.#clearing, door: this.#door, data: this.#wiring.data };
    const oracle = this.#prices.get(definition.assetId) ?? null;
    const market = new HostedMarket(definition, to, { oraclePrice: oracle, hashSeed: this.#wiring.hashSeed });
    market.engine.setHolds(this.#holds.ns, this.#holds.perUserMax);
    this.#markets.set(definition.marketIndex, market);
  }

  /** Settings of the node; what is not of a market is read elsewhere. */
  #onSettings({ json }: ConfigRow): void {
    this.#holds = readHolds(json);
    for (const { engine } of this.#markets.values()) engine.setHolds(this.#holds.ns, this.#holds.perUserMax);
  }

  #onPrice({ row }: PriceAccepted): void {
    this.#prices.set(row.asset, row.price);
    for (const market of this.#markets.values()) {
      if (market.output.definition.assetId === row.asset) market.setOraclePrice(row.price, this.#wiring.clock.nowNs());
    }
  }

  #onRestoredOrder(market: HostedMarket, v: Views, at: number): void {
    market.engine.restoreOrder(this.#restored.read(v, at, market.moneyUnit));
  }

  /** The market is whole: it opens, and the front door is told by the same message. */
  #onRestored(v: Views, at: number, bytes: number): void {
    const market = this.#market(MarketRestored.marketIndex(v, at));
    assert(!market.isOpen, 'a market is restored once');
    this.#wiring.beat();
    market.finishRestore({
      sequence: MarketRestored.sequence(v, at),
      lastTradeId: MarketRestored.lastTradeId(v, at),
      nowNs: this.#wiring.clock.nowNs(),
    });
    this.#busy.add(market);
    const to = this.#door.claim(MarketRestored.typeId, bytes);
    this.#door.views.u8.set(v.u8.subarray(at, at + bytes), to);
    this.#door.commit();
    this.#wiring.beat();
    if (!this.#wiring.data.needsResync()) market.sendBook();
    this.#wiring.beat();
  }

  /** Whole books for market data after it began anew or lost something. */
  #sendBooks(): void {
    this.#wiring.data.beginResync();
    for (const market of this.#markets.values()) if (market.isOpen) market.sendBook();
  }
}

/** Whether the reader keeps up. If not, it rings when it has read some. */
function isRead(outlet: Outlet, unreadMax: number): boolean {
  if (outlet.unreadBytes() <= unreadMax) return true;
  outlet.wantRoom();
  return outlet.unreadBytes() <= unreadMax;
}

/** What every command of the front door has. */
interface CommandMessage {
  readonly receivedNsAt: number;
  marketIndex(v: Views, at: number): number;
}

/** A create has its market in the order's record. */
const CREATE: CommandMessage = {
  receivedNsAt: NewOrder.receivedNsAt,
  marketIndex: (v, at) => OrderRecord.marketIndex(v, at + NewOrder.orderAt),
};
