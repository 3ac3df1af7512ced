/**
 * The gateway as an actor on the main thread: messages of markets and clearing go into its services, and what a turn of
 * the event loop has collected goes out.
 */

import { type ClearingEvent, readClearingEvent } from '../clearing/effect-codec.ts';
import type { BalanceRow, PositionRow, PriceRow, UserRow } from '../clearing/rows.ts';
import type { UnflushedWindow } from '../clearing/unflushed-window.ts';
import type { AccountEventView } from '../codec/account-events.ts';
import { type AmountText, amountText } from '../codec/signed-text.ts';
import { GATEWAY } from '../core/actor-names.ts';
import { InvariantError } from '../core/assert.ts';
import { HOP } from '../core/hops.ts';
import type { UserId } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Views } from '../core/views.ts';
import type { Actor } from '../runtime/actor.ts';
import type { Publication } from '../runtime/publication.ts';
import type { TraceLog } from '../runtime/trace-log.ts';
import {
  BalanceChanged,
  FillConfirmed,
  type FillConfirmedFields,
  FillRolledBack,
  type FillRolledBackFields,
  JournalFlushed,
  MarketAck,
  MarketDecided,
  MarketRestored,
  MarketRiskChanged,
  Matched,
  NodeEvent,
  NodeReply,
  OrderActivated,
  OrderCancelPending,
  OrderEnded,
  OrderReplaced,
  OrderRestored,
  OrderRestoredAtBoot,
  OrderTriggered,
  ParkedCancelExpired,
  PositionChanged,
  ProtectionEnded,
  ProtectionTriggered,
  QuoteSetApplied,
  QuoteSetEnded,
  QuoteSetRestored,
  RequestTaken,
  TradeIdsReserved,
  UserChanged,
} from '../schema/generated/messages.ts';
import { decodePlain } from '../schema/plain-values.ts';
import type { SignatureVerifier } from './actions/signature-verifier.ts';
import {
  readBalance,
  readMarketRisk,
  readPosition,
  readQuoteSetApplied,
  readQuoteSetEnded,
  readQuoteSetRestored,
  readRestored,
  UserTexts,
} from './event-codec.ts';
import type { Gateway } from './gateway.ts';

interface GatewayActorParts {
  readonly gateway: Gateway;
  readonly verifier: Pick<SignatureVerifier, 'flush'>;
  /** Channel that clearing writes; every other channel is a market's. */
  readonly clearingChannel: number;
  readonly publications: readonly Publication[];
  /** An answer to a command or a query of the node itself. */
  readonly replied: (requestId: number, outcome: Outcome<Readonly<Record<string, unknown>>>) => void;
  /** An event of clearing that is not about an order. */
  readonly clearingEvent: (event: ClearingEvent) => void;
  readonly marketOpened: (marketIndex: number) => void;
  readonly ticked: () => void;
  /** The node ends at once: the public sockets are closed. */
  readonly halted: () => void;
  readonly unflushed: UnflushedWindow;
  /** The trace of this thread; without it nothing is recorded. */
  readonly trace?: TraceLog | null;
}

export class GatewayActor implements Actor {
  readonly name: string = GATEWAY;
  readonly #parts: GatewayActorParts;
  readonly #users = new UserTexts();
  /** Clearing has published everything that lives. */
  #isRestored = false;
  /** Open markets without their definition. */
  readonly #opening = new Set<number>();

  constructor(parts: GatewayActorParts) {
    this.#parts = parts;
  }

  start(): void {}

  stop(): void {}

  halt(): void {
    this.#parts.halted();
  }

  /**
   * Always, except at boot: a market that matches crossing orders again sends messages about orders that clearing restores
   * over another ring.
   */
  ready(channel: number): boolean {
    return this.#isRestored || channel === this.#parts.clearingChannel;
  }

  handle(_lane: number, typeId: number, v: Views, at: number): void {
    this.#onMessage(typeId, v, at);
  }

  endBatch(): void {
    this.#parts.verifier.flush();
    this.#parts.gateway.sendWaiting();
    this.#parts.gateway.reduceOrders();
    for (const publication of this.#parts.publications) publication.flush();
    this.#parts.trace?.markOnce(HOP.published);
    this.#parts.gateway.marginPublisher.publishPositions();
    this.#parts.gateway.streams.flush();
  }

  tick(): void {
    this.#parts.gateway.sendWaiting();
    this.#parts.gateway.marginPublisher.publishStats();
    this.#parts.ticked();
  }

  nextTickMs(nowNs: bigint): number {
    return this.#parts.gateway.nextTickMs(nowNs);
  }

  #onMessage(typeId: number, v: Views, at: number): void {
    const { gateway } = this.#parts;
    switch (typeId) {
      case MarketAck.typeId:
        this.#onAck(v, at);
        break;
      case Matched.typeId:
        this.#onMatched(v, at);
        break;
      case OrderEnded.typeId:
        gateway.orders.onEnded(this.#unflushed(OrderEnded.read(v, at)));
        break;
      case OrderReplaced.typeId:
        gateway.orders.onReplaced(this.#unflushed(OrderReplaced.read(v, at)));
        break;
      case OrderRestored.typeId:
        gateway.orders.onRestored(this.#unflushed(OrderRestored.read(v, at)));
        break;
      case OrderTriggered.typeId:
        gateway.orders.onTriggered(this.#unflushed(OrderTriggered.read(v, at)));
        break;
      case OrderActivated.typeId:
        gateway.orders.onActivated(this.#unflushed(OrderActivated.read(v, at)));
        break;
      case OrderCancelPending.typeId:
        gateway.orders.onCancelPending(this.#unflushed(OrderCancelPending.read(v, at)));
        break;
      case QuoteSetApplied.typeId:
        this.#onQuoteSetApplied(v, at);
        break;
      case RequestTaken.typeId:
        gateway.orders.requests.taken(RequestTaken.requestId(v, at), RequestTaken.takenNs(v, at));
        break;
      case QuoteSetEnded.typeId:
        gateway.orders.onQuoteSetEnded(this.#unflushed(readQuoteSetEnded(v, at, this.#users)));
        break;
      case TradeIdsReserved.typeId:
        gateway.orders.onTradeIdsReserved(this.#unflushed(TradeIdsReserved.read(v, at)));
        break;
      case ProtectionTriggered.typeId:
        gateway.orders.onProtectionTriggered(this.#unflushed(ProtectionTriggered.read(v, at)));
        break;
      case ProtectionEnded.typeId:
        gateway.orders.onProtectionEnded(this.#unflushed(ProtectionEnded.read(v, at)));
        break;
      case ParkedCancelExpired.typeId:
        gateway.orders.onParkedCancelExpired(ParkedCancelExpired.read(v, at));
        break;
      default:
        this.#onClearing(typeId, v, at);
    }
  }

  #onClearing(typeId: number, v: Views, at: number): void {
    const { gateway } = this.#parts;
    switch (typeId) {
      case FillConfirmed.typeId:
        this.#onFillConfirmed(FillConfirmed.read(v, at));
        break;
      case FillRolledBack.typeId:
        this.#onFillRolledBack(FillRolledBack.read(v, at));
        break;
      case BalanceChanged.typeId:
        this.#onBalance(readBalance(v, at, this.#users));
        break;
      case PositionChanged.typeId:
        this.#onPosition(readPosition(v, at, this.#users));
        break;
      case UserChanged.typeId:
        this.#onUser({
          user: this.#users.read(v, at + UserChanged.userAt),
          isMarketMaker: UserChanged.isMarketMaker(v, at),
        });
        break;
      case MarketRiskChanged.typeId:
        gateway.orders.margin.onMarketRisk(readMarketRisk(v, at));
        break;
      case MarketDecided.typeId:
        this.#onDecided(MarketDecided.marketIndex(v, at), MarketDecided.sequence(v, at));
        break;
      case JournalFlushed.typeId:
        gateway.orders.onJournalFlushed(JournalFlushed.read(v, at));
        break;
      case OrderRestoredAtBoot.typeId:
        gateway.orders.restoreOrder(v, at + OrderRestoredAtBoot.orderAt, readRestored(v, at));
        break;
      case QuoteSetRestored.typeId:
        gateway.orders.restoreQuoteSet(readQuoteSetRestored(v, at, this.#users));
        break;
      case MarketRestored.typeId:
        this.#opening.add(MarketRestored.marketIndex(v, at));
        this.#openMarkets();
        break;
      case NodeReply.typeId: {
        const start = at + NodeReply.bytes;
        const outcome = decodePlain<Outcome<Readonly<Record<string, unknown>>>>(
          v.u8.subarray(start, start + NodeReply.textBytes(v, at)),
        );
        this.#parts.replied(NodeReply.requestId(v, at), outcome);
        break;
      }
      case NodeEvent.typeId:
        this.#onClearingEvent(readClearingEvent(v, at));
        break;
      default:
        throw new InvariantError(`the gateway received a message of type ${typeId}`);
    }
  }

  /** A new market's definition may arrive later. Triggers that fired before a restart are released only now. */
  #openMarkets(): void {
    const { gateway } = this.#parts;
    for (const marketIndex of this.#opening) {
      if (!gateway.registry.knowsMarket(marketIndex)) continue;
      this.#opening.delete(marketIndex);
      gateway.marketOpened(marketIndex);
      this.#parts.marketOpened(marketIndex);
    }
  }

  #onDecided(marketIndex: number, sequence: number): void {
    this.#parts.gateway.orders.onMarketDecided({ marketIndex, sequence });
    this.#parts.unflushed.flushed(marketIndex, sequence, performance.now());
    this.#parts.trace?.mark(HOP.decided, marketIndex, sequence);
  }

  /** A message of a market, which is not flushed yet. */
  #unflushed<Message extends { readonly marketIndex: number; readonly sequence: number }>(message: Message): Message {
    this.#received(message.marketIndex, message.sequence);
    return message;
  }

  /** The market's message is not flushed yet. */
  #received(marketIndex: number, sequence: number): void {
    if (sequence > 0) this.#parts.unflushed.received(marketIndex, sequence, performance.now());
  }

  /** An accepted create first gets its sequence, then its answer. */
  #onAck(v: Views, at: number): void {
    const { orders } = this.#parts.gateway;
    const ack = this.#unflushed({
      requestId: MarketAck.requestId(v, at),
      marketIndex: MarketAck.marketIndex(v, at),
      sequence: MarketAck.sequence(v, at),
      timeNs: MarketAck.timeNs(v, at),
      rejectCode: MarketAck.rejectCode(v, at),
    });
    this.#parts.trace?.mark(HOP.acknowledged, ack.requestId, ack.sequence);
    if (MarketAck.takenNsHigh(v, at) !== 0 || MarketAck.takenNsLow(v, at) !== 0) {
      orders.requests.taken(ack.requestId, MarketAck.takenNs(v, at));
    }
    if (MarketAck.isAdmission(v, at)) orders.onAccepted(ack);
    orders.onAck(ack);
  }

  #onQuoteSetApplied(v: Views, at: number): void {
    const event = this.#unflushed(readQuoteSetApplied(v, at, this.#users));
    this.#parts.trace?.mark(HOP.acknowledged, event.requestId, event.sequence);
    this.#parts.gateway.orders.onQuoteSetApplied(event);
  }

  #onFillConfirmed(fill: FillConfirmedFields): void {
    const { marketIndex, tradeId, makerFee, takerFee } = fill;
    const { gateway } = this.#parts;
    gateway.orders.onFillConfirmed({ marketIndex, tradeId, timeNs: gateway.nowNs(), makerFee, takerFee });
  }

  #onFillRolledBack({ marketIndex, tradeId, makerReason, takerReason }: FillRolledBackFields): void {
    const { gateway } = this.#parts;
    gateway.orders.onFillRolledBack({ marketIndex, tradeId, timeNs: gateway.nowNs(), makerReason, takerReason });
  }

  #onMatched(v: Views, at: number): void {
    this.#parts.gateway.orders.onMatched(this.#unflushed(Matched.read(v, at)));
  }

  #onClearingEvent(event: ClearingEvent): void {
    const { gateway } = this.#parts;
    if (event.kind === 'restored') this.#onRestored();
    else if (event.kind === 'subAccountChanged') gateway.orders.onSubAccountChanged(event.row);
    else if (event.kind === 'protectionChanged') gateway.protectionChanged(event.row);
    else if (event.kind === 'priceAccepted') this.#onPrice(event.row);
    else if (event.kind === 'atRiskChanged') gateway.atRiskChanged(event.atRisk);
    else if (event.kind === 'liquidationChanged') gateway.liquidations.changed(event);
    else if (event.kind === 'cancelAccount') gateway.liquidations.cancelAccount(event);
    else if (event.kind === 'nodeOrder') gateway.liquidations.nodeOrder(event);
    else if (event.kind === 'deleveraged') gateway.orders.onDeleveraged(event.trade);
    else if (event.kind === 'withdrawalChanged') gateway.withdrawals.changed(event.row);
    else if (event.kind === 'signersChanged') gateway.signers.changed(event.row, event.configNonce);
    else if (event.kind === 'settlementChanged') gateway.settlements.changed(event.row, this.#isRestored);
    else if (event.kind === 'registryChanged') {
      const { change } = event;
      if (change.table === 'asset') gateway.assetChanged(change.row);
      else if (change.table === 'market') gateway.marketChanged(change.row.definition, change.row.sequence);
      else gateway.configChanged(change.row);
    }
    const published = accountEventOf(event, gateway.withdrawals.form);
    if (published !== null) gateway.streams.accountEvent(published.user, published.event);
    this.#parts.clearingEvent(event);
    if (this.#opening.size > 0) this.#openMarkets();
  }

  #onRestored(): void {
    this.#isRestored = true;
    this.#parts.gateway.orders.onAllRestored();
    this.#parts.gateway.registry.loaded();
  }

  #onBalance(row: BalanceRow): void {
    const { orders, marginPublisher } = this.#parts.gateway;
    orders.onBalanceChanged(row);
    if (orders.margin.isMarginAccount(row.user, row.subAccount))
      marginPublisher.balanceChanged(row.user, row.subAccount);
  }

  #onPosition(row: PositionRow): void {
    const { orders, marginPublisher } = this.#parts.gateway;
    orders.margin.onPositionChanged(row);
    marginPublisher.positionChanged(row.user, row.subAccount, row.asset);
  }

  #onPrice({ asset, price, publishNs: timeNs, isTripped, goodUpdates }: PriceRow): void {
    this.#parts.gateway.orders.margin.onOraclePrice(asset, { price, timeNs, isTripped, goodUpdates });
  }

  #onUser(row: Pick<UserRow, 'user' | 'isMarketMaker'>): void {
    this.#parts.gateway.userKnown(row.user, row.isMarketMaker);
    this.#parts.gateway.orders.onUserChanged(row);
  }
}

/**
 * The event of `/account/events/{user_id}` (wire.md 9.5) and its user; null for a node event that is none. Node events are
 * published after their flush, so they are final.
 */
function accountEventOf(
  event: ClearingEvent,
  form: AmountText,
): { readonly user: UserId; readonly event: AccountEventView } | null {
  switch (event.kind) {
    case 'depositLanded': {
      const { user, asset, amount, chainId, depositNonce, creditedNs } = event.row;
      return { user, event: { kind: event.kind, asset, amount, chainId, depositNonce, timestampNs: creditedNs } };
    }
    case 'withdrawalCompleted': {
      const { user, asset, chainId, nonce: withdrawalNonce } = event.row;
      const amount = form === 'hex' ? `0x${amountText(event.amount, form)}` : amountText(event.amount, form);
      return {
        user,
        event: { kind: event.kind, asset, amount, chainId, withdrawalNonce, timestampNs: event.timeNs },
      };
    }
    case 'transferDone': {
      const { user, asset, amount, sourceIndex, targetIndex, timeNs } = event;
      return { user, event: { kind: 'transferred', asset, amount, sourceIndex, targetIndex, timestampNs: timeNs } };
    }
    case 'positionCleared': {
      const { user, asset, subAccount, timeNs } = event;
      return { user, event: { kind: event.kind, asset, subAccount, timestampNs: timeNs } };
    }
    default:
      return null;
  }
}
