/**
 * The front door's optimistic view of orders: what the market and clearing say, applied to orders, holds and fills.
 *
 *   market   admitted, matched, replaced, restored, ended
 *   clearing fill confirmed, fill rolled back
 *
 * The two speak over rings of their own. Clearing may be heard on a fill before the market: its outcome then waits for
 * the match, so that `Pending` always comes first (AMB-35).
 *
 * Every change ends in `#settle`: the hold is made to follow from the order, then the order's terminal event is told
 * if it is due. Holds are changed before anything is said (AMB-32).
 *
 * Invariants
 *   (1) Holds equal the sum over the orders in memory (holds.ts, live-orders.ts).
 *   (2) An order is told exactly one terminal event, after its `Created`; a crossing post-only has no `Created`.
 *   (3) A fill is told `Pending` once per side, then its outcome once per side.
 *
 * Not here: requests and their answers (order-manager.ts).
 */
import { powerOfTen } from '../core/arithmetic.ts';
import { assert, must } from '../core/assert.ts';
import { FILL_STATUS, isAtFault, ORDER_END, type OrderEnd, type RollbackReason, TIF } from '../core/order-terms.ts';
import { type Amount18, type RawPrice, type RawQuantity, type TimestampNs, ZERO_18 } from '../core/units.ts';
import type { Holds } from './holds.ts';
import { filledOf, holdOf, isFinished, type LiveOrder, type LiveOrders } from './live-orders.ts';
import type { MarketSlot } from './markets.ts';
import type { OrderNews, OrderSink } from './order-events.ts';
import { terminalEventOf } from './order-life.ts';
import type { Tail } from './tail.ts';
import {
  type Match,
  type PendingSide,
  type PendingTrade,
  pendingNews,
  pendingTrade,
  rolledBackNews,
  type TradeNews,
  userTradeOf,
} from './trade-view.ts';

/** Outcomes that may wait for their match; the rings between the threads hold fewer. */
export const EARLY_OUTCOMES_MAX = 1_048_576;

export interface OrderWord {
  readonly marketIndex: number;
  /** Market sequence of this word. */
  readonly sequence: number;
  /** Sequence of the order's admission: its name. */
  readonly order: number;
  readonly timeNs: TimestampNs;
}

export interface ReplacedWord extends OrderWord {
  /** The values now in force. */
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  /** Of the replace; 0n for one that the node made. */
  readonly timestampNs: TimestampNs;
}

export interface EndedWord extends OrderWord {
  readonly end: OrderEnd;
  /** 0 unless the end is `atFault`. */
  readonly faultReason: RollbackReason;
}

interface OfTrade {
  readonly marketIndex: number;
  readonly tradeId: number;
  /** When the front door heard it. */
  readonly timeNs: TimestampNs;
}

export interface FillConfirmed extends OfTrade {
  readonly makerFee: Amount18;
  readonly takerFee: Amount18;
  readonly isLiquidation: boolean;
  readonly isAutoDeleverage: boolean;
}

export interface FillRolledBack extends OfTrade {
  readonly makerReason: RollbackReason;
  readonly takerReason: RollbackReason;
}

type FillOutcome =
  | { readonly kind: 'confirmed'; readonly word: FillConfirmed; readonly heardAt: number }
  | { readonly kind: 'rolledBack'; readonly word: FillRolledBack };

export interface OrderBookParts {
  readonly orders: LiveOrders;
  readonly holds: Holds;
  readonly tail: Tail;
  readonly sink: OrderSink;
}

export class OrderBookView {
  readonly #orders: LiveOrders;
  readonly #holds: Holds;
  readonly #tail: Tail;
  readonly #sink: OrderSink;
  /** Outcomes heard before their matches, by market and trade. */
  readonly #early = new Map<string, FillOutcome>();

  constructor(parts: OrderBookParts) {
    this.#orders = parts.orders;
    this.#holds = parts.holds;
    this.#tail = parts.tail;
    this.#sink = parts.sink;
  }

  // ---- on the way

  /** A new order with its hold; there is room for it. */
  add(order: LiveOrder): void {
    this.#orders.add(order);
    this.rehold(order);
  }

  /** The market refused it: it leaves no trace. A replace that was sent after it may still be on its way. */
  drop(order: LiveOrder): void {
    assert(order.sequence === 0, 'an admitted order is not dropped');
    this.#setHold(order, ZERO_18);
    this.#orders.remove(order);
    order.isTold = true;
  }

  /** The hold follows from the order again. */
  rehold(order: LiveOrder): void {
    this.#setHold(order, holdOf(order));
  }

  // ---- the market's word

  admitted(
    order: LiveOrder,
    sequence: number,
    timeNs: TimestampNs,
    signed: { text: Uint8Array; signature: Uint8Array },
  ): void {
    this.#orders.admit(order, sequence);
    order.lastUpdateNs = timeNs;
    this.#tell(order, { kind: 'Created', ...signed, bookTimestampNs: timeNs });
  }

  /** A crossing post-only: a record and one `Canceled`, nothing live (AMB-16). */
  admittedAndCancelled(order: LiveOrder, sequence: number, timeNs: TimestampNs): void {
    this.#orders.admit(order, sequence);
    order.end = ORDER_END.postOnlyWouldCross;
    this.#settle(order, timeNs);
  }

  matched(market: MarketSlot, match: Match): void {
    const maker = must(market.orders.get(match.makerOrder), 'the maker of a match is in memory');
    const taker = must(market.orders.get(match.takerOrder), 'the taker of a match is in memory');
    assert(!market.pendingTrades.has(match.tradeId), 'a trade is matched once');
    const trade = pendingTrade(match, market, maker, taker);
    market.pendingTrades.set(match.tradeId, trade);
    for (const side of [trade.maker, trade.taker]) this.#addPending(trade, side, match.sequence);
    for (const side of [trade.maker, trade.taker]) this.#tellTrade(trade, side, pendingNews(side));

    const key = tradeKey(match.marketIndex, match.tradeId);
    const outcome = this.#early.get(key);
    if (outcome === undefined) return;
    this.#early.delete(key);
    if (outcome.kind === 'confirmed') this.#confirm(trade, outcome.word, outcome.heardAt);
    else this.#rollBack(trade, outcome.word);
  }

  replaced(market: MarketSlot, word: ReplacedWord): void {
    const order = must(market.orders.get(word.order), 'a replaced order is in memory');
    order.price = word.price;
    order.quantity = word.quantity;
    if (word.timestampNs > order.timestampNs) order.timestampNs = word.timestampNs;
    // A replace to what is filled already is two words: the market's `filled` has the next sequence (AMB-19).
    order.lastSequence = word.quantity <= filledOf(order) ? word.sequence + 1 : word.sequence;
    this.rehold(order);
    this.#tell(order, { kind: 'Replaced', newPrice: word.price, newQuantity: word.quantity });
    this.#settle(order, word.timeNs);
  }

  /** Quantity is in the book again after a rollback; how much follows from the fills. */
  restored(market: MarketSlot, word: OrderWord): void {
    const order = must(market.orders.get(word.order), 'a restored order is in memory');
    order.lastSequence = word.sequence;
    order.lastUpdateNs = word.timeNs;
  }

  /**
   * The order is off the book. `filled` (a replace to what is filled already) says nothing that the fills do not say,
   * and a rollback may still undo it (AMB-32 e).
   */
  ended(market: MarketSlot, word: EndedWord): void {
    const order = market.orders.get(word.order);
    // One that was filled to its end may have left memory with a checkpoint already.
    if (order === undefined) return;
    order.lastSequence = word.sequence;
    if (word.end !== ORDER_END.filled) order.end = word.end;
    if (word.end === ORDER_END.atFault) order.faultReason = word.faultReason;
    this.#settle(order, word.timeNs);
  }

  // ---- clearing's word

  confirmed(market: MarketSlot, word: FillConfirmed): void {
    const heardAt = this.#holds.messageNumber;
    const trade = market.pendingTrades.get(word.tradeId);
    if (trade === undefined) this.#wait(word, { kind: 'confirmed', word, heardAt });
    else this.#confirm(trade, word, heardAt);
  }

  rolledBack(market: MarketSlot, word: FillRolledBack): void {
    const trade = market.pendingTrades.get(word.tradeId);
    if (trade === undefined) this.#wait(word, { kind: 'rolledBack', word });
    else this.#rollBack(trade, word);
  }

  #wait(word: OfTrade, outcome: FillOutcome): void {
    assert(this.#early.size < EARLY_OUTCOMES_MAX, 'outcomes wait for matches that are on their way');
    this.#early.set(tradeKey(word.marketIndex, word.tradeId), outcome);
  }

  #addPending(trade: PendingTrade, side: PendingSide, sequence: number): void {
    const { order } = side;
    order.pending.quantity += trade.quantity;
    order.pending.notional += trade.notional;
    order.pending.fees += side.fee;
    order.pendingFills += 1;
    order.lastSequence = sequence;
    order.lastUpdateNs = trade.matchedNs;
    const neverRests = order.terms.tif === TIF.ioc || order.terms.tif === TIF.fok;
    if (neverRests && filledOf(order) >= order.quantity) order.isSpent = true;
    this.#holds.pend(order.balance, side.debit);
    this.rehold(order);
  }

  #takePending(trade: PendingTrade, side: PendingSide): void {
    const { order } = side;
    order.pending.quantity -= trade.quantity;
    order.pending.notional -= trade.notional;
    order.pending.fees -= side.fee;
    order.pendingFills -= 1;
    assert(order.pendingFills >= 0 && order.pending.quantity >= 0, 'an order loses only fills that it had');
  }

  #confirm(trade: PendingTrade, word: FillConfirmed, heardAt: number): void {
    const { market } = trade;
    market.pendingTrades.delete(trade.tradeId);
    const sides = [
      { side: trade.maker, fee: word.makerFee },
      { side: trade.taker, fee: word.takerFee },
    ];
    for (const { side, fee } of sides) {
      const { order } = side;
      this.#takePending(trade, side);
      order.confirmed.quantity += trade.quantity;
      order.confirmed.notional += trade.notional;
      order.confirmed.fees += fee;
      this.#holds.confirm(order.balance, side.debit, heardAt);
    }
    const { isLiquidation, isAutoDeleverage } = word;
    for (const { side, fee } of sides) {
      const news: TradeNews = { status: FILL_STATUS.confirmed, fee, reason: 0, isLiquidation, isAutoDeleverage };
      const told = this.#tellTrade(trade, side, news);
      this.#tail.tradeConfirmed(side.order.terms.user, market.definition.marketIndex, told);
    }
    for (const { side } of sides) this.#settle(side.order, word.timeNs);
  }

  #rollBack(trade: PendingTrade, word: FillRolledBack): void {
    trade.market.pendingTrades.delete(trade.tradeId);
    const sides = [
      { side: trade.maker, reason: word.makerReason },
      { side: trade.taker, reason: word.takerReason },
    ];
    for (const { side, reason } of sides) {
      const { order } = side;
      this.#takePending(trade, side);
      this.#holds.rollBack(order.balance, side.debit);
      order.wasRolledBack = true;
      if (isAtFault(reason) && order.faultReason === 0) order.faultReason = reason;
    }
    for (const { side } of sides) this.rehold(side.order);
    for (const { side, reason } of sides) this.#tellTrade(trade, side, rolledBackNews(reason));
    for (const { side } of sides) this.#settle(side.order, word.timeNs);
  }

  // ---- after every change

  #settle(order: LiveOrder, timeNs: TimestampNs): void {
    order.lastUpdateNs = timeNs;
    const wasTold = order.isTold;
    const terminal = terminalEventOf(order);
    if (terminal !== null) {
      order.isTold = true;
      this.#orders.closeOne(order);
    }
    this.rehold(order);
    if (terminal?.kind === 'Canceled')
      this.#tell(order, { kind: 'Canceled', reason: terminal.reason, timestampNs: timeNs });
    if (terminal?.kind === 'Removed') this.#tell(order, this.#removed(order, terminal.reason, timeNs));
    if (isFinished(order) && !order.isInTail) {
      order.isInTail = true;
      this.#tail.orderFinished(order);
    }
    assert(!wasTold || terminal === null, 'an order has one terminal event');
  }

  #removed(order: LiveOrder, reason: string, timestampNs: TimestampNs): OrderNews {
    const { quantityDecimals } = order.market.definition;
    return {
      kind: 'Removed',
      timestampNs,
      reason,
      filledQuantity: order.confirmed.quantity,
      filledAmount: order.confirmed.notional / powerOfTen(18 - quantityDecimals),
      quantityDecimals,
    };
  }

  #setHold(order: LiveOrder, hold: Amount18): void {
    this.#holds.rehold(order.balance, order.held, hold);
    order.held = hold;
  }

  #tell(order: LiveOrder, event: OrderNews): void {
    const { user, orderId } = order.terms;
    this.#sink.orderEvent(user, { ...event, orderId, assetId: order.market.definition.assetId });
  }

  #tellTrade(trade: PendingTrade, side: PendingSide, news: TradeNews): ReturnType<typeof userTradeOf> {
    const told = userTradeOf(trade, side, news);
    this.#sink.userTrade(side.order.terms.user, told);
    return told;
  }
}

function tradeKey(marketIndex: number, tradeId: number): string {
  return `${marketIndex}/${tradeId}`;
}
