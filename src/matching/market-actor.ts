/**
 * A market shard: the engines of its markets behind one mailbox. It reads commands from the rings and calls the
 * engines; market-output.ts writes their events.
 *
 *   gateway ──commands──▶    ┌────────┐ ──events──▶ clearing, gateway
 *   clearing ──decisions───▶ │ engine │ ──levels──▶ market data
 *                            └────────┘
 *
 * A market is opened by its definition and its restored state, both from clearing; until then its commands are
 * rejected.
 */

import { type ClearingEvent, readClearingEvent } from '../clearing/effect-codec.ts';
import type { Effect, RegistryChanged } from '../clearing/effects.ts';
import {
  DEFAULT_PARKED_CANCELS,
  type ParkedCancelSettings,
  readParkedCancelSettings,
} from '../clearing/registry/stored-settings.ts';
import type { ConfigRow } from '../clearing/rows.ts';
import { assert, InvariantError, must } from '../core/assert.ts';
import { HOP } from '../core/hops.ts';
import type { AssetId } from '../core/ids.ts';
import { type Clock, msUntil, type TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { COMMAND_NOTE } from '../order/command-notes.ts';
import type { InjectedFill } from '../order/fill-injection.ts';
import { createHash, passedCreateBytes } from '../order/order-codec.ts';
import type { Actor } from '../runtime/actor.ts';
import type { Publication } from '../runtime/publication.ts';
import { RetryBuffer } from '../runtime/retry-buffer.ts';
import type { TraceLog } from '../runtime/trace-log.ts';
import {
  AmendOrder,
  ApplyQuoteSet,
  CancelAllOrders,
  CancelOrder,
  CommandNote,
  EndQuoteSet,
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
  QuoteSetRestored,
  ReleaseOrder,
  ReplaceOrder,
} from '../schema/generated/messages.ts';
import { decodePlain } from '../schema/plain-values.ts';
import { CommandTimer, type CommandTimes } from './command-timer.ts';
import { HostedMarket } from './hosted-market.ts';
import {
  CommandReader,
  keyOf,
  RestoredCommandReader,
  readRememberedId,
  readRestoredQuoteSet,
} from './market-commands.ts';
import type { MarketEngine } from './market-engine.ts';

/**
 * Back-pressure: trigger processing pauses while more than this many bytes of output to the gateway are unread. A reply
 * follows earlier output, so this bounds the delay of a cancel during a burst of triggers: about 70 messages, plus one
 * poll that exceeded the limit. Clearing reads a thousand messages at a time.
 */
const GATEWAY_UNREAD_MAX = 4_096;
const CLEARING_UNREAD_MAX = 65_536;

type PriceAccepted = Extract<Effect, { kind: 'priceAccepted' }>;

interface MarketShardWiring {
  readonly name: string;
  readonly clock: Clock;
  /** Key of the id hashes, shared with the gateway; no event depends on it. */
  readonly hashSeed: bigint;
  /** Whether a test hook stalls its commands (operator-api.md 7.3 `stall_market`). */
  readonly isStalled: () => boolean;
  /** Records a heartbeat between the steps of opening a large book. */
  readonly heartbeat: () => void;
  /** Channel of clearing; every other channel is the gateway's. */
  readonly clearingChannel: number;
  readonly clearing: Publication;
  readonly gateway: Publication;
  readonly data: Publication;
  /** The trace of this thread; without it nothing is recorded. */
  readonly trace?: TraceLog | null;
  /** None are timed unless given. */
  readonly times?: CommandTimes | null;
}

export class MarketShardActor implements Actor {
  readonly name: string;
  readonly #wiring: MarketShardWiring;
  readonly #clearing: RetryBuffer;
  readonly #gateway: RetryBuffer;
  readonly #commands = new CommandReader();
  readonly #restored = new RestoredCommandReader();
  readonly #markets = new Map<number, HostedMarket>();
  /** Last oracle prices, also for markets of this shard that will be opened later. */
  readonly #prices = new Map<AssetId, bigint>();
  /** Settings of parked cancels for every market of this shard. */
  #parkedCancels: ParkedCancelSettings = DEFAULT_PARKED_CANCELS;
  /** Markets with fired triggers or released orders, or which may have some. */
  readonly #busy = new Set<HostedMarket>();
  /** Markets with rollbacks in this batch, and those being uncrossed since (AMB-32). */
  readonly #rolledBack = new Set<HostedMarket>();
  /** Whether one of them is crossed: then commands wait, and levels are not published, until it is uncrossed. */
  #isCrossed = false;
  readonly #source: { views: Views; at: number; bytes: number };
  readonly #timer: CommandTimer | null;

  constructor(wiring: MarketShardWiring) {
    this.name = wiring.name;
    this.#wiring = wiring;
    this.#clearing = new RetryBuffer(wiring.clearing);
    this.#gateway = new RetryBuffer(wiring.gateway);
    this.#source = { views: wiring.clearing.views, at: 0, bytes: 0 };
    const { times = null, clock } = wiring;
    this.#timer = times === null ? null : new CommandTimer(times, clock);
  }

  start(): void {}

  stop(): void {}

  /**
   * New commands wait until all output is in the rings and every book is uncrossed. Clearing's decisions are always
   * accepted, so that two full rings never wait for each other.
   */
  ready(channel: number): boolean {
    // mutant: uncrossing-steps
    return channel === this.#wiring.clearingChannel || (!this.#isCrossed && this.#mayDoMore());
  }

  handle(_lane: number, typeId: number, v: Views, at: number, bytes: number): void {
    const beganMs = this.#timer?.begin(typeId, v, at) ?? 0;
    this.#take(typeId, v, at, bytes);
    this.#timer?.end(typeId, v, at, beganMs);
  }

  #take(typeId: number, v: Views, at: number, bytes: number): void {
    const { trace = null } = this.#wiring;
    const message = trace === null ? undefined : ORDER_MESSAGES.get(typeId);
    const requestId = message?.requestId(v, at) ?? 0;
    if (message === undefined || requestId === 0) this.#process(typeId, v, at, bytes);
    else {
      trace?.mark(HOP.taken, requestId, message.marketIndex(v, at));
      this.#process(typeId, v, at, bytes);
      trace?.mark(HOP.matched, requestId);
    }
  }

  #process(typeId: number, v: Views, at: number, bytes: number): void {
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
      case AmendOrder.typeId: {
        const command = this.#commands.readAmend(v, at);
        this.#marketAt(AmendOrder, v, at).engine.replace(command);
        break;
      }
      case CancelAllOrders.typeId: {
        const command = this.#commands.readCancelAll(v, at);
        this.#marketAt(CancelAllOrders, v, at).engine.cancelAll(command);
        break;
      }
      case ApplyQuoteSet.typeId:
        this.#onQuoteSet(v, at, bytes);
        break;
      case EndQuoteSet.typeId: {
        const command = this.#commands.readEndQuoteSet(v, at);
        this.#marketAt(EndQuoteSet, v, at).engine.endQuoteSets(command);
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

  /** Prefetches the id table's line for the next command while the current one is handled. */
  expect(typeId: number, v: Views, at: number, bytes: number): void {
    if (typeId === NewOrder.typeId)
      this.#expectId(OrderRecord.marketIndex(v, at + NewOrder.orderAt), createHash(v, at, bytes));
    else if (typeId === CancelOrder.typeId) this.#expectId(CancelOrder.marketIndex(v, at), CancelOrder.idHash(v, at));
    else if (typeId === ReplaceOrder.typeId)
      this.#expectId(ReplaceOrder.marketIndex(v, at), ReplaceOrder.idHash(v, at));
    else if (typeId === AmendOrder.typeId) this.#expectId(AmendOrder.marketIndex(v, at), AmendOrder.idHash(v, at));
  }

  #expectId(marketIndex: number, idHash: number): void {
    this.#markets.get(marketIndex)?.engine.expect(idHash);
  }

  endBatch(): void {
    this.#timer?.endPoll();
    this.#clearing.flush();
    this.#gateway.flush();
    this.#wiring.trace?.markOnce(HOP.published);
    if (this.#rolledBack.size > 0 && this.#mayDoMore()) this.#uncross();
    for (const market of this.#markets.values()) if (market.engine.isBehind) this.#busy.add(market);
    if (this.#mayPoll()) this.#poll();
    // A book that is being restored may be crossed, over several batches, until its market opens (AMB-110).
    for (const market of this.#markets.values()) {
      if (!market.isOpen) continue;
      market.check();
      market.engine.touchAhead();
    }
    if (!this.#isCrossed && this.#wiring.data.needsResync()) this.#sendBooks();
    this.#wiring.data.flush();
  }

  tick(nowNs: bigint): void {
    if (this.#isCrossed || !this.#clearing.isEmpty || !this.#gateway.isEmpty) return;
    for (const market of this.#markets.values()) if (market.isOpen) market.tick(nowNs as TimestampNs);
    // At least one poll per tick, independent of the neighbours' load.
    if (this.#busy.size > 0 && this.#mayDoMore()) this.#poll();
  }

  nextTickMs(nowNs: bigint): number {
    if (this.#busy.size > 0 || this.#isCrossed) return 0;
    let dueMs = Number.POSITIVE_INFINITY;
    for (const market of this.#markets.values())
      if (market.isOpen) dueMs = Math.min(dueMs, msUntil(market.nextTickNs(nowNs as TimestampNs), nowNs));
    return dueMs;
  }

  isQuiet(): boolean {
    const isPaused = this.#busy.size > 0 && !this.#wiring.isStalled() && !this.#readersKeepUp();
    return this.#clearing.isEmpty && this.#gateway.isEmpty && !isPaused;
  }

  /** Whether a book must be uncrossed, or triggers wait for a poll. */
  hasMore(): boolean {
    return (this.#isCrossed && this.#mayDoMore()) || this.#mayPoll();
  }

  /** Whether fired triggers or released orders wait and the readers keep up with the output. */
  #mayPoll(): boolean {
    return this.#busy.size > 0 && !this.#isCrossed && this.#mayDoMore() && this.#readersKeepUp();
  }

  #readersKeepUp(): boolean {
    const { gateway, clearing } = this.#wiring;
    return isRead(gateway, GATEWAY_UNREAD_MAX) && isRead(clearing, CLEARING_UNREAD_MAX);
  }

  /** Open markets, for operators and tests. */
  engines(): ReadonlyMap<number, MarketEngine> {
    return new Map([...this.#markets].map(([index, market]) => [index, market.engine]));
  }

  /** Whether all output is in the rings, and no hook stalls the shard. */
  #mayDoMore(): boolean {
    if (this.#wiring.isStalled()) return false;
    return (this.#clearing.isEmpty || this.#clearing.flush()) && (this.#gateway.isEmpty || this.#gateway.flush());
  }

  /** Uncrosses a part of each market: a rollback of thousands of orders is divided into steps. */
  #uncross(): void {
    const nowNs = this.#wiring.clock.nowNs();
    for (const market of this.#rolledBack) if (!market.uncross(nowNs)) this.#rolledBack.delete(market);
    this.#isCrossed = this.#rolledBack.size > 0;
    this.#clearing.flush();
    this.#gateway.flush();
  }

  #poll(): void {
    const nowNs = this.#wiring.clock.nowNs();
    for (const market of this.#busy) if (!market.poll(nowNs)) this.#busy.delete(market);
    this.#clearing.flush();
    this.#gateway.flush();
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
        this.#onRestoredOrder(this.#market(OrderRecord.marketIndex(v, at + OrderRestoredAtBoot.orderAt)), v, at);
        break;
      case QuoteSetRestored.typeId:
        this.#market(QuoteSetRestored.marketIndex(v, at)).engine.restoreQuoteSet(readRestoredQuoteSet(v, at));
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
        this.#onClearingEvent(readClearingEvent(v, at));
        break;
      default:
        throw new InvariantError(`a market received a message of type ${typeId}`);
    }
  }

  #market(marketIndex: number): HostedMarket {
    return must(this.#markets.get(marketIndex), `the shard holds market ${marketIndex}`);
  }

  /** The market of a command, with its time set to the command's. */
  #marketAt(message: CommandMessage, v: Views, at: number): HostedMarket {
    const market = this.#market(message.marketIndex(v, at));
    assert(market.isOpen, 'commands reach a market only after it was restored');
    market.output.setTime(message.receivedNsHigh(v, at), message.receivedNsLow(v, at));
    return market;
  }

  #onNewOrder(v: Views, at: number, bytes: number): void {
    const market = this.#marketAt(CREATE, v, at);
    this.#source.views = v;
    this.#source.at = at;
    // The hash after the text is used by the market only.
    this.#source.bytes = passedCreateBytes(v, at);
    market.output.source = this.#source;
    market.engine.create(this.#commands.readCreate(v, at, bytes));
    market.output.source = null;
  }

  #onQuoteSet(v: Views, at: number, bytes: number): void {
    const market = this.#marketAt(ApplyQuoteSet, v, at);
    this.#source.views = v;
    this.#source.at = at;
    this.#source.bytes = bytes;
    market.output.source = this.#source;
    market.engine.applyQuoteSet(this.#commands.readQuoteSet(v, at));
    market.output.source = null;
  }

  /** Applies an option that precedes a command: how it is answered or published. */
  #onNote(market: HostedMarket, kind: number): void {
    assert(market.isOpen, 'commands reach a market only after it was restored');
    if (kind === COMMAND_NOTE.timed) market.output.takenNs = this.#wiring.clock.nowNs();
    else if (kind === COMMAND_NOTE.overtaken) market.engine.cancelNext();
    else market.engine.deferDepth(kind === COMMAND_NOTE.batchBegins);
  }

  /** A test hook's fill; orders that ended meanwhile are not filled. */
  #onInjectedFill(fill: InjectedFill): void {
    const market = this.#market(fill.marketIndex);
    const { price, quantity } = fill;
    const words = { maker: keyOf(fill.maker), taker: keyOf(fill.taker), price, quantity };
    market.output.at(fill.matchedNs ?? this.#wiring.clock.nowNs(), () => market.engine.injectFill(words));
  }

  #onClearingEvent(event: ClearingEvent): void {
    if (event.kind === 'registryChanged') this.#onRegistry(event);
    else if (event.kind === 'priceAccepted') this.#onPrice(event);
    else if (event.kind === 'protectionChanged') this.#market(event.row.marketIndex).setProtection(event.row);
    else if (event.kind === 'tradeIdsWanted')
      this.#market(event.marketIndex).reserveTradeIds(event.count, this.#wiring.clock.nowNs());
  }

  #onRegistry(event: RegistryChanged): void {
    if (event.change.table === 'config') this.#onSettings(event.change.row);
    if (event.change.table !== 'market') return;
    const { definition } = event.change.row;
    const known = this.#markets.get(definition.marketIndex);
    if (known !== undefined) {
      known.define(definition, this.#wiring.clock.nowNs());
      if (known.isOpen) this.#busy.add(known);
      return;
    }
    const to = { clearing: this.#clearing, gateway: this.#gateway, data: this.#wiring.data };
    const oracle = this.#prices.get(definition.assetId) ?? null;
    const market = new HostedMarket(definition, to, { oraclePrice: oracle, hashSeed: this.#wiring.hashSeed });
    market.engine.setParkedCancels(this.#parkedCancels.ns, this.#parkedCancels.perUserMax);
    this.#markets.set(definition.marketIndex, market);
  }

  /** Settings of the node; other settings are read elsewhere. */
  #onSettings({ json }: ConfigRow): void {
    this.#parkedCancels = readParkedCancelSettings(json);
    for (const { engine } of this.#markets.values())
      engine.setParkedCancels(this.#parkedCancels.ns, this.#parkedCancels.perUserMax);
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

  /** The market is restored completely: it opens, and the same message informs the gateway. */
  #onRestored(v: Views, at: number, bytes: number): void {
    const market = this.#market(MarketRestored.marketIndex(v, at));
    assert(!market.isOpen, 'a market is restored once');
    this.#wiring.heartbeat();
    market.finishRestore({
      sequence: MarketRestored.sequence(v, at),
      lastTradeId: MarketRestored.lastTradeId(v, at),
      nowNs: this.#wiring.clock.nowNs(),
    });
    this.#busy.add(market);
    const to = this.#gateway.claim(MarketRestored.typeId, bytes);
    this.#gateway.views.u8.set(v.u8.subarray(at, at + bytes), to);
    this.#gateway.commit();
    this.#wiring.heartbeat();
    if (!this.#wiring.data.needsResync()) market.sendBook();
    this.#wiring.heartbeat();
  }

  /** Sends whole books to market data after a restart or loss. */
  #sendBooks(): void {
    this.#wiring.data.beginResync();
    for (const market of this.#markets.values()) if (market.isOpen) market.sendBook();
  }
}

/** Whether the reader keeps up. If not, it will ring the doorbell after reading. */
function isRead(publication: Publication, unreadMax: number): boolean {
  if (publication.unreadBytes() <= unreadMax) return true;
  publication.wantRoom();
  return publication.unreadBytes() <= unreadMax;
}

/** The fields common to the gateway's commands. */
interface CommandMessage {
  receivedNsHigh(v: Views, at: number): number;
  receivedNsLow(v: Views, at: number): number;
  marketIndex(v: Views, at: number): number;
}

/** A create has its market in the order's record. */
const CREATE: CommandMessage = {
  receivedNsHigh: NewOrder.receivedNsHigh,
  receivedNsLow: NewOrder.receivedNsLow,
  marketIndex: (v, at) => OrderRecord.marketIndex(v, at + NewOrder.orderAt),
};

/** A command about one order. */
interface OrderMessage extends CommandMessage {
  requestId(v: Views, at: number): number;
}

/** By type. */
const ORDER_MESSAGES: ReadonlyMap<number, OrderMessage> = new Map<number, OrderMessage>([
  [NewOrder.typeId, { ...NewOrder, ...CREATE }],
  [ReplaceOrder.typeId, ReplaceOrder],
  [CancelOrder.typeId, CancelOrder],
  [AmendOrder.typeId, AmendOrder],
  [ApplyQuoteSet.typeId, ApplyQuoteSet],
]);
