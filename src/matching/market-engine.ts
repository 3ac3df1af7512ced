/**
 * One market: commands in, events out, price-time priority (service spec 3.1, 3.2).
 *
 *   create  replace  cancel  cancelAll  release   from the gateway     tick   from the clock
 *   rollback  settled                             from clearing        poll   from the actor, once a batch
 *
 * Every command first ends expired orders (ORD-20, AMB-127, AMB-25), then validates, then changes state, then publishes
 * the levels that changed. The engine is a pure function of state and command: time comes with the command; no method
 * reads a clock, waits, or throws because of client input. Creates, cancels and fills of limit orders allocate nothing
 * once the pools have grown.
 *
 * The path of an order: this file handles the id and the rejects; placement.ts matches and rests; changes.ts replaces;
 * triggers.ts holds orders with triggers; rollback.ts undoes fills; restore.ts rebuilds the book. Ticks, lots, balance
 * holds and signatures are validated by the gateway.
 */
import { assert, must } from '../core/assert.ts';
import { hashKeyOf } from '../core/key-words.ts';
import {
  PARKED_CANCEL_NS,
  PARKED_CANCELS_PER_USER_MAX,
  REMEMBERED_IDS_PER_USER_AND_MARKET_MAX,
} from '../core/limits.ts';
import {
  MARKET_STATUS,
  ORDER_END,
  ORDER_FLAG,
  ORDER_KIND,
  type OrderEnd,
  type Side,
  TIF,
  TRIGGER,
  TRIGGER_STATE,
} from '../core/order-terms.ts';
import { NONE } from '../core/pools.ts';
import { REJECT_CODE, type RejectCode } from '../core/reject.ts';
import { fromWords, highWord, isBefore, lowWord } from '../core/time-words.ts';
import type { Sequence } from '../core/units.ts';
import { Book } from './book.ts';
import { checkBook, hashBook } from './book-checks.ts';
import { replaceOrder } from './changes.ts';
import type {
  CancelAllCommand,
  CancelBounds,
  CancelCommand,
  EndQuoteSetCommand,
  MarketEvents,
  MarketRules,
  NewOrderCommand,
  OrderKey,
  ProtectionCommand,
  QuoteSetCommand,
  ReleaseCommand,
  RememberedId,
  ReplaceCommand,
  RestoredOrder,
  RestoredPosition,
  RestoredProtection,
  RestoredQuoteSet,
  RollbackCommand,
} from './commands.ts';
import { ExpiredOrders, endIfDue, expireSome } from './expired-orders.ts';
import { type InjectedFill, InjectedFills } from './injected-fills.ts';
import { ID_STATE, OrderIds } from './order-ids.ts';
import { OrderLookup } from './order-lookup.ts';
import { ORDERS_MAX, OrderPool } from './order-pool.ts';
import { MARK, ORDER_STATE } from './order-records.ts';
import { lotsWanted, moneyOf, NO_MONEY, place } from './placement.ts';
import type { PublishedLevels } from './published-levels.ts';
import type { MarketQuoteSet } from './quote-set.ts';
import { QuoteSets } from './quote-sets.ts';
import { allocateRestored, continueFrom, placeRestored, RestoredSequences, UnsortedOrders } from './restore.ts';
import { type RollbackPlace, rollBack } from './rollback.ts';
import { enterRoom, isReducing, lacksRoom } from './room.ts';
import { Triggers } from './triggers.ts';
import { Uncrossing } from './uncross.ts';
import { USER_WORDS, UserTable } from './user-table.ts';

// Expiry of cancels that were parked for a create that did not arrive (AMB-25).

/** Expires the parked cancels due at this time and publishes each expiry. */
function expireParkedCancels(ids: OrderIds, users: UserTable, events: MarketEvents, high: number, low: number): void {
  const { records } = ids;
  for (let head = ids.parkedHead; head !== NONE; head = ids.parkedHead) {
    if (records.stateOf(head) === ID_STATE.parked) {
      if (isBefore(high, low, records.timeHighOf(head), records.timeLowOf(head))) return;
      ids.consumeParked(head);
      const userAt = records.userOf(head) * USER_WORDS;
      const words = records.wordsOf(head);
      events.parkedCancelExpired(users.words, userAt, words, records.idAt(head), records.bytesOf(head));
    }
    ids.dropParkedHead();
  }
}

export interface MarketEngineOptions {
  readonly events: MarketEvents;
  /** Price decimals of the market; constant. */
  readonly priceDecimals: number;
  /** A secret 64-bit key of the hash tables. No event depends on it. */
  readonly hashSeed?: bigint;
  readonly parkedCancelNs?: bigint;
  readonly parkedCancelsPerUserMax?: number;
  readonly rememberedIdsPerUserMax?: number;
  readonly rememberedIdsMax?: number;
  readonly expiredPerPoll?: number;
  /** Maximum number of live orders and orders with undecided fills; ORDERS_MAX by default. */
  readonly ordersMax?: number;
  /** Initial number of entries of every pool, a power of two; full pools double. */
  readonly firstCapacity?: number;
}

/** Maximum number of id records that one tick reclaims. */
const SWEEP_BUDGET = 256;
/** Maximum number of expired orders that one command or poll ends: about 40 µs. */
const EXPIRED_PER_POLL = 64;
const FIRST_CAPACITY = 1_024;
/** Trade ids that one message reserves: the undecided trades of a market are a ring that grows with them. */
export const RESERVED_IDS_MAX = 65_536;
/** Orders per level that the check after a batch examines. */
const ORDERS_CHECKED = 8;

const WORD_MAX = 0xffff_ffff;

function isNamed(
  set: MarketQuoteSet,
  { words, nameAt, nameBytes, subAccount, anyAccount }: EndQuoteSetCommand,
): boolean {
  if (nameBytes !== 0) return set.hasName(words, nameAt, nameBytes);
  return anyAccount || set.subAccount === subAccount;
}

function isUnbounded({ beforeHigh, beforeLow, sideOnly, protectionGroup }: CancelBounds): boolean {
  return beforeHigh === 0 && beforeLow === 0 && sideOnly === 0 && protectionGroup === 0;
}

export class MarketEngine {
  readonly #events: MarketEvents;
  readonly #users: UserTable;
  readonly #ids: OrderIds;
  readonly #lookup: OrderLookup;
  readonly #injected: InjectedFills;
  readonly #book: Book;
  readonly #triggers: Triggers;
  /** One raw quote unit in the engine's money scale. */
  readonly #quoteUnit: bigint;
  readonly #ordersMax: number;
  /** A note has come that the next create was overtaken. */
  #isNextOvertaken = false;
  readonly #expiredPerPoll: number;
  readonly #expired: ExpiredOrders;
  readonly #uncrossing: Uncrossing;
  readonly #place: RollbackPlace;
  readonly #quotes: QuoteSets;
  #status: number = MARKET_STATUS.active;
  /** Used until the restore is finished: orders by sequence, and orders that are out of queue order or did not fit. */
  readonly #restored: RestoredSequences;
  readonly #unsorted = new UnsortedOrders();

  constructor(options: MarketEngineOptions) {
    const key = hashKeyOf(options.hashSeed ?? 0n);
    const capacity = options.firstCapacity ?? FIRST_CAPACITY;
    assert(Number.isInteger(Math.log2(capacity)), 'the first capacity is a power of two');
    assert(new Uint8Array(Uint32Array.of(1).buffer)[0] === 1, 'the machine is little-endian');
    this.#events = options.events;
    this.#quoteUnit = 10n ** BigInt(options.priceDecimals);
    this.#users = new UserTable(capacity, key);
    this.#ordersMax = options.ordersMax ?? ORDERS_MAX;
    const orders = new OrderPool(capacity, this.#ordersMax);
    const rememberedMax = options.rememberedIdsPerUserMax ?? REMEMBERED_IDS_PER_USER_AND_MARKET_MAX;
    const marketMax = options.rememberedIdsMax;
    this.#ids = new OrderIds(orders, this.#users, { capacity, key, rememberedMax, marketMax });
    this.#triggers = new Triggers(options.events, this.#quoteUnit);
    this.#book = new Book({ orders, ids: this.#ids, events: options.events, watcher: this.#triggers, key }, capacity);
    this.#triggers.attach(this.#book);
    this.#restored = new RestoredSequences(orders);
    this.#lookup = new OrderLookup(orders, this.#ids, this.#users);
    this.#injected = new InjectedFills(this.#book, this.#lookup, options.events);
    this.#expired = new ExpiredOrders(this.#book, this.#lookup, this.#quoteUnit);
    this.#uncrossing = new Uncrossing(this.#book);
    this.#place = { book: this.#book, triggers: this.#triggers, events: options.events, uncrossing: this.#uncrossing };
    this.#quotes = new QuoteSets({
      book: this.#book,
      ids: this.#ids,
      users: this.#users,
      events: options.events,
      ordersMax: this.#ordersMax,
      addRefusal: (user, group) => this.refusalOfMember(user, group),
      protect: (index, group) => this.#protect(index, group),
    });
    this.#expiredPerPoll = options.expiredPerPoll ?? EXPIRED_PER_POLL;
    this.setParkedCancels(options.parkedCancelNs, options.parkedCancelsPerUserMax);
  }

  /** The last assigned sequence. */
  get sequence(): Sequence {
    return this.#book.sequence as Sequence;
  }

  get lastTradeId(): Sequence {
    return this.#book.trades.lastTradeId as Sequence;
  }

  /** Bytes of the pools and tables that hold orders and ids. */
  get bytes(): number {
    const { orders, buys, sells } = this.#book;
    return orders.bytes + this.#ids.bytes + buys.bytes + sells.bytes;
  }

  /** Prefetches the cache lines that a coming command with this id hash will read first. Changes no state. */
  expect(idHash: number): void {
    this.#ids.fetch(idHash);
  }

  /** Touches memory that the next commands will need; called between batches. Changes no state. */
  touchAhead(): void {
    this.#ids.touchAhead();
  }

  /**
   * A new order: rejected, or accepted and then filled, rested, ended, or kept until its trigger fires (TIF-02 to 04,
   * TIF-07, TRG-01, AMB-08, AMB-16).
   *
   * Rejected with sequence 0: MARKET_HALTED (AMB-109), of an order of the node only in a halted market; DUPLICATE_ORDER or, because of a parked cancel,
   * ALREADY_CANCELLED; ORDER_EXPIRED; REQUEST_TOO_OLD; ORDER_NOT_FOUND, INVALID_ORDER or TOO_MANY_OPEN_ORDERS for its
   * parent (AMB-29); INVALID_ORDER when its level would exceed 2^53−1, or the market has its maximum number of orders;
   * REDUCE_ONLY_WOULD_INCREASE of a reduce-only order that has no room to rest and would match nothing (MON-09);
   * MMP_FROZEN of a member of a group that is frozen, INVALID_ORDER of a group that does not exist (MMP-02, MMP-03).
   */
  create(command: NewOrderCommand): void {
    const isOvertaken = this.#isNextOvertaken;
    this.#isNextOvertaken = false;
    this.#begin(command.receivedHigh, command.receivedLow);
    if (this.#book.expiries.isBehind) this.#expired.beforeCreate(command);
    const refusal = this.#refusalOf(command);
    if (refusal !== 0) {
      this.#events.createRefused(0, command, refusal);
      return;
    }
    if (command.triggerKind !== TRIGGER.none) {
      const waiting = this.#createWaiting(command);
      if (isOvertaken && waiting !== NONE) this.#cancelOne(waiting, 0, ORDER_END.userRequested);
      return;
    }
    if (!isOvertaken && lacksRoom(this.#book, command)) {
      this.#events.createRefused(0, command, REJECT_CODE.REDUCE_ONLY_WOULD_INCREASE);
      return;
    }
    // After this point the command must succeed: the id is consumed.
    const index = this.#accept(command);
    const sequence = this.#book.orders.sequenceOf(index);
    // mutant: overtaken-create
    if (isOvertaken) {
      this.#events.accepted(sequence, command, 0);
      this.#book.end(index, ORDER_END.userRequested);
      this.#book.commitDepth();
      return;
    }
    // mutant: post-only
    if ((command.flags & ORDER_FLAG.postOnly) !== 0 && this.#book.wouldTake(index, command.price)) {
      if (command.protectionGroup !== 0) this.#book.protection.leave(index);
      this.#ids.retire(index, true);
      this.#events.createRefused(sequence, command, REJECT_CODE.WOULD_CROSS);
      return;
    }
    this.#events.accepted(sequence, command, 0);
    if ((command.flags & ORDER_FLAG.postOnly) !== 0) this.#book.cancelOwn(index, command.price);
    const mayEnter = !isReducing(command.flags) || enterRoom(this.#book, this.#events, index, command);
    const money = command.kind === ORDER_KIND.limit ? NO_MONEY : moneyOf(command, this.#quoteUnit);
    if (mayEnter) place(this.#book, index, money);
    this.#book.commitDepth();
  }

  /** The next create is canceled with its admission, before it matches anything (UNS-01). */
  cancelNext(): void {
    this.#isNextOvertaken = true;
  }

  /** Creates an order with a trigger, with or without a parent; it enters the trigger book. @returns NONE: it was refused. */
  #createWaiting(command: NewOrderCommand): number {
    const parent = command.parentIdBytes === 0 ? null : this.#lookup.parentOf(command, this.#triggers);
    const isParent = typeof parent === 'number';
    if (parent !== null && (!isParent || !this.#triggers.mayActivate(parent, command.quantity))) {
      this.#events.createRefused(0, command, isParent ? REJECT_CODE.INVALID_ORDER : parent.refusal);
      return NONE;
    }
    const { orders } = this.#book;
    const index = this.#accept(command);
    const { triggerKind: kind, triggerPrice: price } = command;
    const money = moneyOf(command, this.#quoteUnit);
    this.#events.accepted(orders.sequenceOf(index), command, parent === null ? 0 : orders.sequenceOf(parent));
    this.#triggers.accept(index, { kind, price, money, parent, state: TRIGGER_STATE.dormant, released: 0 });
    return index;
  }

  /**
   * Changes price, total or trigger of an order that rests or waits for its trigger (AMB-19 to AMB-21): changes.ts. An amend, and a
   * replace by the node, lower the total, in every market status.
   *
   * Rejects: MARKET_HALTED; ORDER_NOT_FOUND or ALREADY_CANCELLED (AMB-23); REQUEST_TOO_OLD; INVALID_ORDER when the
   * level would exceed 2^53−1, for a market order, and for a trigger of an order that waits for none; WOULD_CROSS, the
   * only reject that ends the order. Of an amend also ORDER_REVISION_MISMATCH.
   */
  replace(command: ReplaceCommand): void {
    this.#begin(command.receivedHigh, command.receivedLow);
    if (this.#book.expiries.isBehind) this.#expired.beforeReplace(command);
    const index = this.#lookup.findLive(command);
    // What only reduces an order is applied as a cancel is: an amend, and the node's own.
    if (this.#status !== MARKET_STATUS.active && !command.isAmend && !command.isNodeMade)
      this.#events.replaceRefused(command, REJECT_CODE.MARKET_HALTED);
    else if (index === NONE || !this.#lookup.isOpen(index))
      this.#events.replaceRefused(
        command,
        this.#codeWithoutOrder(index, this.#lookup.findOver(index, command), command),
      );
    else replaceOrder(this.#place, index, command);
    this.#book.commitDepth();
  }

  /**
   * Takes the remainder off the book. If all of it is in pending fills, the cancel only prevents a return to the book;
   * if there is no such order, the cancel is parked when the command permits it (AMB-23, AMB-25). Works in every market
   * status (AMB-109).
   *
   * Rejects: ORDER_NOT_FOUND (also when the user has too many parked cancels), ALREADY_CANCELLED.
   */
  cancel(command: CancelCommand): void {
    this.#begin(command.receivedHigh, command.receivedLow);
    if (this.#book.expiries.isBehind) this.#expired.beforeCommand(command);
    const { words, userAt, orderIdAt, orderIdBytes, idHash } = command;
    const index = this.#lookup.findLiveAt(words, userAt, orderIdAt, orderIdBytes, idHash);
    if (index === NONE || this.#lookup.isOver(index)) {
      this.#cancelUnknown(index, command);
      return;
    }
    const order = this.#book.orders.sequenceOf(index);
    this.#cancelOne(index, command.requestId, command.end);
    this.#events.cancelAccepted(command.requestId, order);
    this.#book.commitDepth();
  }

  /** Cancels the user's orders by acceptance sequence; orders made by the node stay (CAN-05 to CAN-08, AMB-18). */
  cancelAll(command: CancelAllCommand): void {
    this.#begin(command.receivedHigh, command.receivedLow);
    const { orders } = this.#book;
    const user = this.#users.find(command.words, command.userAt);
    for (const index of user === NONE ? [] : orders.ofUser(user)) {
      const isNodes = (orders.flagsOf(index) & ORDER_FLAG.nodeMade) !== 0;
      const isFilled = orders.stateOf(index) === ORDER_STATE.filled && command.end === ORDER_END.userRequested;
      const isLive = (this.#lookup.isOpen(index) || isFilled) && this.#isInScope(index, command);
      if (isLive && !isNodes && !endIfDue(this.#book, index)) this.#cancelOne(index, command.requestId, command.end);
    }
    if (user !== NONE) this.#raiseMarks(user, command);
    this.#events.allCancelled(command.requestId);
    this.#book.commitDepth();
  }

  #isInScope(index: number, bounds: CancelBounds): boolean {
    const { sideOnly, protectionGroup, beforeHigh, beforeLow } = bounds;
    const { orders } = this.#book;
    // mutant: cancel-all-of-a-side
    if (sideOnly !== 0 && sideOnly - 1 !== orders.sideOf(index)) return false;
    const isAnyAge = beforeHigh === 0 && beforeLow === 0;
    if (!isAnyAge && !isBefore(orders.timestampHigh(index), orders.timestampLow(index), beforeHigh, beforeLow))
      return false;
    if (protectionGroup === 0) return true;
    return orders.hasMark(index, MARK.isMember) && this.#book.protection.groupOf(index).slot === protectionGroup;
  }

  /** No set of the user that was made before comes into force behind a cancel-all; one without an entry left is over (QTE-09). */
  #raiseMarks(user: number, command: CancelAllCommand): void {
    const { sideOnly, protectionGroup, end } = command;
    const book = this.#book;
    const isAnyAge = command.beforeHigh === 0 && command.beforeLow === 0;
    for (const set of book.quoteSets.ofUser(user)) {
      if (protectionGroup !== 0 && set.protectionGroup !== protectionGroup) continue;
      const isOver = sideOnly === 0 && isAnyAge && book.quoteSets.countResting(set) === 0;
      this.#endSet(set, command, isOver ? end : 0);
    }
  }

  /** Raises the mark of a set to the time of a cancel; with `before` to what is before it: what is made then and later stays. */
  #endSet(set: MarketQuoteSet, command: CancelAllCommand | EndQuoteSetCommand, end: OrderEnd | 0): void {
    const { receivedHigh, receivedLow, beforeHigh, beforeLow } = command;
    const isAnyAge = beforeHigh === 0 && beforeLow === 0;
    const isBorrowed = beforeLow === 0;
    const high = isAnyAge ? receivedHigh : beforeHigh - (isBorrowed ? 1 : 0);
    const low = isAnyAge ? receivedLow : isBorrowed ? WORD_MAX : beforeLow - 1;
    this.#book.endSet(set, high, low, end);
  }

  /**
   * A quote set: compared with what rests and applied in one step (QTE-01 to QTE-05): quote-sets.ts. What only takes away is applied in
   * every market status.
   */
  applyQuoteSet(command: QuoteSetCommand): void {
    this.#begin(command.receivedHigh, command.receivedLow);
    this.#quotes.apply(command, this.#status);
  }

  /**
   * Cancels what lives of quote sets, or what of it is within the bounds, and raises the marks of the whole sets (QTE-09): no
   * revision from before puts back what was taken. Rejects: ORDER_NOT_FOUND for a name that is not known.
   */
  endQuoteSets(command: EndQuoteSetCommand): void {
    this.#begin(command.receivedHigh, command.receivedLow);
    const book = this.#book;
    const user = this.#users.find(command.words, command.userAt);
    const isWhole = isUnbounded(command);
    let found = 0;
    for (const set of user === NONE ? [] : book.quoteSets.ofUser(user)) {
      if (!isNamed(set, command)) continue;
      found += 1;
      for (const list of [set.bids, set.asks])
        for (let at = 0; at < list.count; at += 1) {
          // What is filled whole leaves with the end of its set.
          const index = isWhole ? book.quoteSets.resting(list, at) : book.quoteSets.living(list, at);
          if (index !== NONE && this.#isInScope(index, command) && !endIfDue(book, index))
            this.#cancelOne(index, command.requestId, command.end);
        }
      // mutant: mark-of-a-bounded-cancel
      this.#endSet(set, command, isWhole ? command.end : 0);
    }
    const isUnknown = command.nameBytes !== 0 && found === 0;
    this.#events.quoteSetsEnded(command.requestId, isUnknown ? REJECT_CODE.ORDER_NOT_FOUND : 0);
    book.commitDepth();
  }

  /** Takes a live order off the book, or marks it as cancel pending if it has no remainder there. */
  #cancelOne(index: number, requestId: number, end: OrderEnd): void {
    const { orders } = this.#book;
    const state = orders.stateOf(index);
    if (state === ORDER_STATE.filled) {
      orders.setCancelPending(index, end);
      this.#events.cancelPending(this.#book.nextSequence(), orders.sequenceOf(index));
      return;
    }
    if (state === ORDER_STATE.resting) this.#book.takeOff(index);
    this.#book.end(index, end, 0, requestId);
  }

  /** The gateway's decision on an order whose trigger has fired (AMB-28). */
  release(command: ReleaseCommand): void {
    this.#begin(highWord(command.receivedNs), lowWord(command.receivedNs));
    this.#triggers.release(command);
    this.#book.commitDepth();
  }

  /**
   * Ends expired orders and, in an active market, publishes fired triggers and places released orders, up to `budget`
   * of each. @returns whether work remains.
   */
  poll(nowNs: bigint, budget: number): boolean {
    const { expiries } = this.#book;
    const isActive = this.#status === MARKET_STATUS.active;
    if (this.#uncrossing.isBegun) this.uncross(Number.POSITIVE_INFINITY);
    expiries.lookAgain();
    if (!expiries.isBehind && !(isActive && this.#triggers.isBusy)) return false;
    this.#begin(highWord(nowNs), lowWord(nowNs));
    const isBusy = isActive && this.#triggers.poll(budget);
    this.#book.commitDepth();
    expiries.lookAgain();
    return isBusy || expiries.isBehind;
  }

  /** Whether expired orders are still to be ended. */
  get isBehind(): boolean {
    return this.#book.expiries.isBehind;
  }

  /** Advances time: expires orders, expires parked cancels, reclaims remembered ids (ORD-20, AMB-25, AMB-08). */
  tick(nowNs: bigint): void {
    this.#begin(highWord(nowNs), lowWord(nowNs));
    this.#book.expiries.tick(nowNs);
    this.#ids.sweep(nowNs, SWEEP_BUDGET);
  }

  /** The earliest time at which `tick` ends an order or a parked cancel; not later than the first expiry. */
  get dueNs(): bigint {
    const { wakeHigh, wakeLow } = this.#book.expiries;
    const expiryNs = fromWords(wakeHigh, wakeLow);
    const { parkedHead } = this.#ids;
    if (parkedHead === NONE) return expiryNs;
    const parkedNs = this.#ids.createdNs(parkedHead);
    const isParkedFirst = parkedNs < expiryNs;
    return isParkedFirst ? parkedNs : expiryNs;
  }

  /** Clearing rejected an undecided fill; the table is in rollback.ts (AMB-32, AMB-34). */
  rollback(command: RollbackCommand): void {
    this.#passTo(highWord(command.receivedNs), lowWord(command.receivedNs));
    if (this.#injected.has(command.tradeId)) this.#injected.rollBack(command);
    else rollBack(this.#place, command);
    this.#book.commitDepth();
  }

  /** Whether orders that returned to the book cross others: call `uncross` until it returns false. */
  get isUncrossing(): boolean {
    return this.#book.isUncrossing;
  }

  /**
   * Uncrosses after rollbacks, at most `budget` steps; any other command first does all of them. @returns whether steps
   * remain.
   */
  uncross(budget: number): boolean {
    if (this.#uncrossing.work(budget)) return true;
    this.#book.commitDepth();
    return false;
  }

  /** Every trade up to this one is decided: confirmed unless it was rolled back before. */
  settled(throughTradeId: number): void {
    this.#book.settle(throughTradeId);
    this.#injected.settled(throughTradeId);
  }

  /**
   * Gives the next `count` trade ids to trades that clearing makes without a match (ADL): they are void here, and publish
   * no trade.
   *
   * @returns the first of them.
   */
  reserveTradeIds(count: number): Sequence {
    assert(count >= 1 && count <= RESERVED_IDS_MAX, 'so many trade ids are reserved at once');
    const { trades } = this.#book;
    const first = (trades.lastTradeId + 1) as Sequence;
    for (let reserved = 0; reserved < count; reserved += 1) trades.addVoid(0);
    this.#events.tradeIdsReserved(this.#book.nextSequence(), first, count);
    return first;
  }

  /**
   * A test hook: publishes a match that the book did not make (injected-fills.ts). @returns false if an order is
   * missing.
   */
  injectFill(fill: InjectedFill): boolean {
    if (this.#uncrossing.isBegun) this.uncross(Number.POSITIVE_INFINITY);
    return this.#injected.inject(fill);
  }

  /**
   * Outside `active`, creates and replaces are rejected and triggers do not fire (AMB-109); STP as in STP-01, AMB-38.
   */
  setMarket(rules: MarketRules): void {
    this.#status = rules.status;
    this.#book.preventsSelfTrades = rules.selfTradePrevention;
  }

  /**
   * Sets how long cancels stay parked and how many a user may have; a cancel parked behind one with a longer time
   * expires with it.
   */
  setParkedCancels(ns: bigint = PARKED_CANCEL_NS, perUserMax: number = PARKED_CANCELS_PER_USER_MAX): void {
    this.#lookup.setParkedCancels(ns, perUserMax);
  }

  /** Limits fill prices to `lowest` … `highest`; 1 and 2^53−1 mean no collar (AMB-39). */
  setCollar(lowest: number, highest: number): void {
    this.#book.lowest = lowest;
    this.#book.highest = highest;
  }

  /** Defines a group, changes its limits, resets or removes it; the clock of a freeze goes on (MMP-01 to MMP-03). */
  setProtection({ words, userAt, slot, terms, resetTrip }: ProtectionCommand): void {
    const { protection } = this.#book;
    const user = this.#users.intern(words, userAt);
    if (terms === null) {
      protection.remove(user, slot);
      this.#quotes.leaveGroup(user, slot);
    } else {
      const group = protection.define({ user, slot, key: this.#keyOf(user) }, terms);
      if (resetTrip !== 0) protection.reset(group, resetTrip);
    }
  }

  /** At boot, before orders: a group, frozen if it was (MMP-04). */
  restoreProtection({ words, userAt, slot, terms, freeze }: RestoredProtection): void {
    const { protection } = this.#book;
    const user = this.#users.intern(words, userAt);
    protection.restoreFreeze(protection.define({ user, slot, key: this.#keyOf(user) }, terms), freeze);
  }

  #keyOf(user: number): Int32Array {
    return this.#users.words.slice(user * USER_WORDS, (user + 1) * USER_WORDS);
  }

  /**
   * Defers publication of levels between the two calls; the second call publishes them as one step, like one command's
   * (BAT-07).
   */
  deferDepth(isDeferred: boolean): void {
    assert(this.#book.isDepthDeferred !== isDeferred, 'batches of a market do not overlap');
    this.#book.isDepthDeferred = isDeferred;
    this.#book.commitDepth();
  }

  /**
   * At boot, before any other command: restores a live order; in any sequence, but a parent before its children
   * (AMB-110).
   */
  restoreOrder(command: RestoredOrder): void {
    const isNew = this.#lookup.findUnhashed(command) === NONE && this.#lookup.findPast(0, 0) === NONE;
    assert(isNew, 'a restored order id is new');
    const book = this.#book;
    this.#lookup.prepareToAdd(command);
    const index = allocateRestored(book, command, this.#lookup.user);
    this.#lookup.addLive(index, command);
    const group = book.protection.find(this.#lookup.user, command.protectionGroup);
    if (group !== undefined) book.protection.join(index, group);
    this.#restored.add(index);
    book.sequence = Math.max(book.sequence, command.order, command.prioritySequence);
    if (command.quoteSet !== 0) this.#quotes.restoreEntry(index, command.quoteSet);
    if (command.triggerKind !== TRIGGER.none) this.#restoreWaiting(command, index);
    const isOver = book.orders.stateOf(index) !== ORDER_STATE.dormant || command.triggerState === TRIGGER_STATE.live;
    if (isOver && book.orders.remaining(index) > 0) placeRestored(book, index, this.#unsorted);
  }

  /** At boot: restores a quote set, before its entries. */
  restoreQuoteSet(command: RestoredQuoteSet): void {
    this.#quotes.restore(command);
  }

  #restoreWaiting(command: RestoredOrder, index: number): void {
    const { triggerKind: kind, triggerPrice: price, triggerState: state, inForce: released } = command;
    const parent = command.parent === 0 ? null : this.#restored.indexOf(command.parent);
    const { target, budget } = moneyOf(command, this.#quoteUnit);
    const money = target === null && budget === null ? NO_MONEY : { target: target && target - command.spent, budget };
    this.#triggers.accept(index, { kind, price, money, parent, state, released });
  }

  /**
   * At boot: restores a finished order's id, in the sequence in which orders ended (AMB-08). The id of a live order is
   * skipped: the tables evict ids in the sequence in which clearing finished orders, so they can still contain an id
   * that the market had already evicted and accepted again.
   */
  restoreRememberedId(command: RememberedId): void {
    if (this.#lookup.findUnhashed(command) !== NONE) return;
    assert(this.#lookup.findPast(0, 0) === NONE, 'a remembered id is restored once');
    this.#lookup.prepareToAdd(command);
    this.#lookup.addRemembered(command, command.creationNs, command.wasCancelled);
  }

  /** At boot: sets the creation time at or before which this user's creates may be replays (AMB-08). */
  restoreWatermark(words: Int32Array, userAt: number, creationNs: bigint): void {
    this.#ids.raiseWatermark(this.#users.intern(words, userAt), creationNs);
  }

  /**
   * At boot, last: continues numbering, ends orders that expired meanwhile, and matches crossing orders (AMB-110). Does
   * not publish single levels: consumers of depth read the whole book afterwards (`forEachLevel`).
   */
  finishRestore(position: RestoredPosition): void {
    this.#restored.clear();
    continueFrom(this.#book, position, this.#unsorted);
    this.#book.protection.nowHigh = highWord(position.nowNs);
    this.#book.protection.nowLow = lowWord(position.nowNs);
    this.#quotes.sortRestored();
    expireSome(this.#book, highWord(position.nowNs), lowWord(position.nowNs), ORDERS_MAX);
    this.#uncrossing.begin();
    this.#uncrossing.work(Number.POSITIVE_INFINITY);
    this.#book.dropDepthChanges();
  }

  /** Visits the levels of a side, best first. */
  forEachLevel(side: Side, visit: (price: number, quantity: number) => void): void {
    this.#book.ownSide(side).forEachLevel(visit);
  }

  /** A hash (safe integer) that is equal for equal books, independent of their history (book-checks.ts). */
  hash(): number {
    return hashBook(this.#book, this.#users, this.#triggers);
  }

  /** Checks every invariant; for tests and boot. @throws InvariantError */
  checkInvariants(): void {
    checkBook(this.#book, this.#ids);
    this.#book.protection.check();
    this.#triggers.check();
  }

  /**
   * The check after every batch: the book is not crossed; recently published levels equal their published quantity and
   * the sum of their orders, in time priority (the first few orders of each); the last added order is found by its id
   * hash.
   * @throws InvariantError
   */
  checkBatch(published: PublishedLevels): void {
    assert(this.isUncrossing || !this.#book.isCrossed(), 'book: the best bid is below the best ask');
    this.#ids.checkHash(this.#lookup.lastAdded);
    // The levels of a batch of orders are published at its end, and those of returned orders after uncrossing.
    if (this.#book.isDepthDeferred || this.isUncrossing) return;
    published.take((side, price, quantity) => this.#book.ownSide(side).checkLevel(price, quantity, ORDERS_CHECKED));
  }

  /** The first step of every command except clearing's: finishes uncrossing and ends expired orders. */
  #begin(high: number, low: number): void {
    if (this.#uncrossing.isBegun) this.uncross(Number.POSITIVE_INFINITY);
    this.#passTo(high, low);
  }

  #passTo(high: number, low: number): void {
    const { expiries, protection } = this.#book;
    protection.nowHigh = high;
    protection.nowLow = low;
    if (!isBefore(high, low, expiries.wakeHigh, expiries.wakeLow)) {
      expireSome(this.#book, high, low, this.#expiredPerPoll);
      this.#book.commitDepth();
    }
    if (this.#ids.parkedHead !== NONE) expireParkedCancels(this.#ids, this.#users, this.#events, high, low);
  }

  /** The reject code for a create, without checking its parent, or 0. Consumes a parked cancel of the same id. */
  #refusalOf(command: NewOrderCommand): RejectCode | 0 {
    const isNodes = (command.flags & ORDER_FLAG.nodeMade) !== 0;
    if (!this.#takesCreates(isNodes)) return REJECT_CODE.MARKET_HALTED;
    const { words, userAt, orderIdAt, orderIdBytes, idHash } = command;
    if (this.#lookup.findLiveAt(words, userAt, orderIdAt, orderIdBytes, idHash) !== NONE)
      return REJECT_CODE.DUPLICATE_ORDER;
    const { receivedHigh, receivedLow } = command;
    const record = this.#lookup.findPast(receivedHigh, receivedLow);
    if (record !== NONE) {
      if (this.#ids.isRemembered(record)) return REJECT_CODE.DUPLICATE_ORDER;
      this.#ids.consumeParked(record);
      return REJECT_CODE.ALREADY_CANCELLED;
    }
    if (this.#isGiven(command)) return REJECT_CODE.DUPLICATE_ORDER;
    if (this.#book.expiries.isPast(command.expiryHigh, command.expiryLow, receivedHigh, receivedLow))
      return REJECT_CODE.ORDER_EXPIRED;
    // The ids of the node's orders are new whatever the user's clock was ahead.
    if (!isNodes && this.#lookup.isBehindWatermark(command.creationHigh, command.creationLow))
      return REJECT_CODE.REQUEST_TOO_OLD;
    const rests = command.triggerKind === TRIGGER.none && (command.tif === TIF.gtc || command.tif === TIF.gtd);
    const hasRoom = !rests || this.#book.ownSide(command.side).fits(command.price, command.quantity);
    if (!hasRoom || this.#book.orders.count >= this.#ordersMax) return REJECT_CODE.INVALID_ORDER;
    return command.protectionGroup === 0 ? 0 : this.refusalOfMember(this.#lookup.user, command.protectionGroup);
  }

  /** Why a group takes no new order: MMP_FROZEN, INVALID_ORDER where it does not exist; 0: it takes one (MMP-02, MMP-03). */
  refusalOfMember(user: number, slot: number): RejectCode | 0 {
    const { protection } = this.#book;
    const group = protection.find(user, slot);
    if (group === undefined) return REJECT_CODE.INVALID_ORDER;
    // mutant: protection-frozen
    return protection.isFrozen(group) ? REJECT_CODE.MMP_FROZEN : 0;
  }

  /** Orders of the node are accepted unless the market is halted: they close what cannot stay open. */
  #takesCreates(isNodes: boolean): boolean {
    if (this.#status === MARKET_STATUS.active) return true;
    // mutant: liquidation-in-cancel-only
    return isNodes && this.#status === MARKET_STATUS.cancelOnly;
  }

  /** Adds the order of an accepted create to the pool: FRESH, with its id and sequence. */
  #accept(command: NewOrderCommand): number {
    this.#lookup.prepareToAdd(command);
    const { orders } = this.#book;
    const index = orders.begin(command, this.#lookup.user, lotsWanted(command), this.#book.nextSequence());
    this.#lookup.addLive(index, command);
    if (command.protectionGroup !== 0) this.#protect(index, command.protectionGroup);
    return index;
  }

  /** The order is a member of a group that exists. */
  #protect(index: number, slot: number): void {
    const { orders, protection } = this.#book;
    protection.join(index, must(protection.find(orders.userOf(index), slot), 'the group of an order exists'));
  }

  /** Handles a cancel without a live order: parks it for its create, or rejects it. */
  #cancelUnknown(index: number, command: CancelCommand): void {
    const record = this.#lookup.findOver(index, command);
    const isParked = record !== NONE && !this.#ids.isRemembered(record);
    const isFree = record === NONE ? !this.#isGiven(command) : isParked;
    const canPark = command.mayPark && index === NONE && isFree;
    const hasRoom = this.#lookup.mayPark();
    if (isParked && canPark) this.#events.cancelAccepted(command.requestId, 0);
    else if (canPark && hasRoom) this.#park(command);
    else this.#events.cancelRefused(command, this.#codeWithoutOrder(index, record, command));
  }

  /** As that of the look-up; an entry that has left its set was cancelled. */
  #codeWithoutOrder(index: number, record: number, command: OrderKey): RejectCode {
    const isGone = index === NONE && record === NONE && this.#isGiven(command);
    return isGone ? REJECT_CODE.ALREADY_CANCELLED : this.#lookup.codeWithoutOrder(index, record);
  }

  /** Whether the last look-up's user has a quote set that has given the id to an entry. */
  #isGiven({ words, orderIdAt, orderIdBytes }: OrderKey): boolean {
    const { user } = this.#lookup;
    // mutant: id-of-an-entry-that-left
    return user !== NONE && this.#book.quoteSets.hasGiven(user, words, orderIdAt, orderIdBytes);
  }

  #park(command: CancelCommand): void {
    this.#lookup.prepareToAdd(command);
    this.#lookup.addParked(command, fromWords(command.receivedHigh, command.receivedLow));
    this.#events.cancelAccepted(command.requestId, 0);
  }
}
