/**
 * The gateway's optimistic view of fills: matches, and their outcomes in clearing.
 *
 *   market   matched
 *   clearing fill confirmed, fill rolled back
 *
 * The two have rings of their own. Clearing's event of a fill may arrive before the match: its outcome then waits for
 * the match, so that `Pending` always comes first (AMB-35).
 *
 * Invariants
 *   (1) A fill is published as `Pending` once per side, then its outcome once per side.
 *   (2) What an order has pending is the sum of its matches without an outcome.
 *
 * Not here: orders as such (order-book-view.ts), figures of a trade (trade-view.ts).
 */
import { assert, must } from '../../../core/assert.ts';
import {
  FILL_STATUS,
  isAtFault,
  ORDER_FLAG,
  ROLLBACK_REASON,
  ROLLBACK_REASON_WORD,
  type RollbackReason,
} from '../../../core/order-terms.ts';
import type { Amount18 } from '../../../core/units.ts';
import type { Holds, UpdateCount } from '../balances/holds.ts';
import type { UncheckpointedHistory } from '../history/uncheckpointed.ts';
import type { UserMarginAccounts } from '../margin/margin-accounts.ts';
import { filledOf, isFull, isSpot, type LiveOrder, neverRests } from './live-order.ts';
import type { LiveOrders } from './live-orders.ts';
import type { MarketSlot } from './markets.ts';
import type { OrderBookParts, OrderBookView } from './order-book-view.ts';
import type { FillConfirmedEvent, FillOutcome, FillRolledBackEvent, OrderSink } from './order-events.ts';
import type { LiveQuoteSets } from './quote-sets.ts';
import {
  confirmMove,
  type Match,
  type PendingSide,
  type PendingTrade,
  pendingOutcome,
  pendingTrade,
  pendMove,
  rollBackMove,
  rolledBackOutcome,
  userTradeOf,
} from './trade-view.ts';

/** Outcomes that may wait for their match; the rings between the threads hold fewer. */
const EARLY_OUTCOMES_MAX = 1_048_576;

interface FillViewParts extends OrderBookParts {
  /** Judges whether a fault was caused by what others have. */
  readonly margins: Pick<UserMarginAccounts, 'excuseBreach'>;
  readonly sets: LiveQuoteSets;
}

export class FillView {
  readonly #book: OrderBookView;
  readonly #orders: LiveOrders;
  readonly #holds: Holds;
  readonly #updates: UpdateCount;
  readonly #uncheckpointed: UncheckpointedHistory;
  readonly #sink: OrderSink;
  readonly #margins: Pick<UserMarginAccounts, 'excuseBreach'>;
  readonly #sets: LiveQuoteSets;
  /** Matches that clearing has not decided: by market index, then by trade id. */
  readonly #pending: (Map<number, PendingTrade> | undefined)[] = [];
  /** Outcomes that arrived before their matches, by market and trade. */
  readonly #early = new Map<string, FillOutcome>();

  constructor(book: OrderBookView, updates: UpdateCount, parts: FillViewParts) {
    this.#book = book;
    this.#orders = parts.orders;
    this.#holds = parts.holds;
    this.#updates = updates;
    this.#uncheckpointed = parts.uncheckpointed;
    this.#sink = parts.sink;
    this.#margins = parts.margins;
    this.#sets = parts.sets;
  }

  matched(market: MarketSlot, match: Match): void {
    const { marketIndex } = match;
    const maker = must(this.#orders.ofSequence(marketIndex, match.makerOrder), 'the maker of a match is in memory');
    const taker = must(this.#orders.ofSequence(marketIndex, match.takerOrder), 'the taker of a match is in memory');
    const pending = this.#pendingOf(marketIndex);
    assert(!pending.has(match.tradeId), 'a trade is matched once');
    const trade = pendingTrade(match, this.#holds, { market, maker, taker });
    pending.set(match.tradeId, trade);
    market.lastTradeId = match.tradeId;
    this.#addPending(trade, trade.maker, match.sequence);
    this.#addPending(trade, trade.taker, match.sequence);
    this.#sets.traded(maker, match.quantity);
    this.#sets.traded(taker, match.quantity);
    this.#publishPending(trade, trade.maker);
    this.#publishPending(trade, trade.taker);

    if (this.#early.size === 0) return;
    const key = tradeKey(marketIndex, match.tradeId);
    const outcome = this.#early.get(key);
    if (outcome === undefined) return;
    this.#early.delete(key);
    if (outcome.kind === 'confirmed') this.#confirm(trade, outcome.event, outcome.receivedAt);
    else this.#rollBack(trade, outcome.event);
  }

  confirmed({ definition }: MarketSlot, event: FillConfirmedEvent): void {
    const receivedAt = this.#updates.count;
    const trade = this.#pending[definition.marketIndex]?.get(event.tradeId);
    if (trade === undefined) this.#wait({ kind: 'confirmed', event, receivedAt });
    else this.#confirm(trade, event, receivedAt);
  }

  rolledBack({ definition }: MarketSlot, event: FillRolledBackEvent): void {
    const trade = this.#pending[definition.marketIndex]?.get(event.tradeId);
    if (trade === undefined) this.#wait({ kind: 'rolledBack', event });
    else this.#rollBack(trade, event);
  }

  /** How many matches of a market clearing has not decided. */
  pendingCount(marketIndex: number): number {
    return this.#pending[marketIndex]?.size ?? 0;
  }

  #pendingOf(marketIndex: number): Map<number, PendingTrade> {
    this.#pending[marketIndex] ??= new Map();
    return this.#pending[marketIndex];
  }

  #wait(outcome: FillOutcome): void {
    assert(this.#early.size < EARLY_OUTCOMES_MAX, 'outcomes wait for matches that are on their way');
    this.#early.set(tradeKey(outcome.event.marketIndex, outcome.event.tradeId), outcome);
  }

  #addPending(trade: PendingTrade, side: PendingSide, sequence: number): void {
    const { order } = side;
    order.addPending(trade.quantity, trade.notional, side.fee);
    order.lastSequence = sequence;
    order.lastUpdateNs = trade.matchedNs;
    if (neverRests(order) && isFull(order.quantity, filledOf(order))) order.isSpent = true;
    pendMove(side.move, this.#holds);
    this.#book.rehold(order);
  }

  #takePending(trade: PendingTrade, side: PendingSide): void {
    const { order } = side;
    assert(order.pendingFills > 0 && order.pendingQuantity >= trade.quantity, 'an order loses only fills that it had');
    order.addPending(-trade.quantity, -trade.notional, -side.fee);
  }

  #confirm(trade: PendingTrade, event: FillConfirmedEvent, receivedAt: number): void {
    this.#pendingOf(event.marketIndex).delete(trade.tradeId);
    const { makerFee, takerFee, timeNs } = event;
    this.#bookSide(trade, trade.maker, makerFee, receivedAt);
    this.#bookSide(trade, trade.taker, takerFee, receivedAt);
    for (const { order } of [trade.maker, trade.taker]) {
      if ((order.flags & ORDER_FLAG.nodeMade) !== 0) noteForced(order);
    }
    this.#publishConfirmed(trade, trade.maker, makerFee);
    this.#publishConfirmed(trade, trade.taker, takerFee);
    this.#book.settle(trade.maker.order, timeNs);
    this.#book.settle(trade.taker.order, timeNs);
  }

  /** A fill of one side is pending no more, but booked. @param receivedAt as of `confirmMove`. */
  #bookSide(trade: PendingTrade, side: PendingSide, fee: Amount18, receivedAt: number): void {
    const { order } = side;
    this.#takePending(trade, side);
    order.filledQuantity += trade.quantity;
    order.filledNotional = (order.filledNotional + trade.notional) as Amount18;
    order.fees = (order.fees + fee) as Amount18;
    confirmMove(side.move, this.#holds, receivedAt);
  }

  #rollBack(trade: PendingTrade, event: FillRolledBackEvent): void {
    this.#pendingOf(event.marketIndex).delete(trade.tradeId);
    const sides = [
      { side: trade.maker, reason: event.makerReason },
      { side: trade.taker, reason: event.takerReason },
    ];
    const faults: { readonly order: LiveOrder; readonly reason: RollbackReason }[] = [];
    for (const { side, reason } of sides) {
      const { order } = side;
      this.#takePending(trade, side);
      rollBackMove(side.move, this.#holds);
      order.wasRolledBack = true;
      if (!isAtFault(reason)) {
        noteForced(order);
        // mutant: undone-by-another
        if (order.exposure !== null && trade.maker.order.user !== trade.taker.order.user) {
          order.exposure.position.account.undone += 1;
        }
        continue;
      }
      const isUsers = (order.flags & ORDER_FLAG.nodeMade) === 0 && !isForced(order, reason, trade.tradeId);
      if (isUsers) faults.push({ order, reason });
      if (order.faultReason === 0) order.faultReason = reason;
    }
    for (const { side } of sides) {
      this.#sets.undone(side.order, trade.tradeId, trade.quantity);
      this.#book.rehold(side.order);
    }
    for (const { side, reason } of sides) this.#publishRolledBack(trade, side, reason);
    for (const { side } of sides) this.#book.settle(side.order, event.timeNs);
    const asset = trade.market.definition.assetId;
    for (const { order, reason } of faults) {
      const { user, subAccount, side, exposure } = order;
      const { user: other } = (order.index === trade.maker.order.index ? trade.taker : trade.maker).order;
      // mutant: order-at-fault-once
      const isNewOrder = !order.wasAtFault;
      order.wasAtFault = true;
      const wasUndone = exposure !== null && exposure.position.account.undone !== exposure.undone;
      const isBreach = reason === ROLLBACK_REASON.protocolCapBreach && other !== user;
      const isForOthers = isBreach && this.#margins.excuseBreach(order, trade.quantity);
      this.#sink.fault({
        ...{ user, subAccount, other, reason, asset, side, matchedNs: trade.matchedNs },
        ...{ isNewOrder, wasUndone, isForOthers },
      });
    }
  }

  #publishPending(trade: PendingTrade, side: PendingSide): void {
    this.#sink.countFill(FILL_STATUS.pending, null);
    const { user } = side.order;
    if (this.#sink.isTradeRead(user)) this.#sink.userTrade(user, userTradeOf(trade, side, pendingOutcome(side)));
  }

  /** A confirmed fill is kept until the tables have it, read or not. */
  #publishConfirmed(trade: PendingTrade, side: PendingSide, fee: Amount18): void {
    this.#sink.countFill(FILL_STATUS.confirmed, null);
    const { user } = side.order;
    const confirmed = userTradeOf(trade, side, { status: FILL_STATUS.confirmed, fee, reason: 0 });
    if (this.#sink.isTradeRead(user)) this.#sink.userTrade(user, confirmed);
    const { marketIndex } = trade.market.definition;
    this.#uncheckpointed.tradeConfirmed(user, marketIndex, { ...confirmed, isSpot: isSpot(side.order) });
  }

  #publishRolledBack(trade: PendingTrade, side: PendingSide, reason: RollbackReason): void {
    this.#sink.countFill(FILL_STATUS.rolledBack, ROLLBACK_REASON_WORD[reason]);
    const { user } = side.order;
    if (this.#sink.isTradeRead(user)) this.#sink.userTrade(user, userTradeOf(trade, side, rolledBackOutcome(reason)));
  }
}

/** The position of a margin order has shrunk, or not grown, without its user: its reduce-only orders are cut (MON-09). */
function noteForced({ exposure, flags }: LiveOrder): void {
  if (exposure === null || (flags & ORDER_FLAG.isSpot) !== 0) return;
  const { position } = exposure;
  if (position.reduceOnly === null) return;
  position.forcedThrough = Number.POSITIVE_INFINITY;
  position.account.reduceOnlyChanged(position);
}

/**
 * Whether a reduce-only fill was undone because the position had shrunk without its user, before the cut was in force
 * (MON-09).
 */
function isForced({ exposure }: LiveOrder, reason: RollbackReason, tradeId: number): boolean {
  // mutant: forced-reduce-only-fault
  return (
    reason === ROLLBACK_REASON.reduceOnlyViolation && exposure !== null && tradeId <= exposure.position.forcedThrough
  );
}

function tradeKey(marketIndex: number, tradeId: number): string {
  return `${marketIndex}/${tradeId}`;
}
