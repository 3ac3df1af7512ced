/**
 * One market: commands in, events out, price-time priority (service spec 3.1, 3.2).
 *
 *   create  replace  cancel   from the front door        rollback  settled   from clearing        tick   from the clock
 *
 * Every command first lets what is over by its time go (ORD-20, AMB-127, AMB-25), then checks everything, then changes,
 * then tells the levels that changed. It is one function of state and command: time is in the command, and nothing here
 * reads a clock, waits or throws at a client.
 *
 * Nothing is allocated per command once the pools have grown, apart from what the JavaScript engine needs for large
 * numbers.
 *
 * Not here: ticks, lots, holds and signatures (the front door); market orders, triggers, self-trade prevention. The
 * loop that matches is Book.match; how a rollback is undone is rollback.ts; how a book is rebuilt is restore.ts.
 */
import { assert } from '../core/assert.ts';
import { HELD_CANCEL_NS, HELD_CANCELS_PER_USER_MAX, REMEMBERED_IDS_PER_USER_AND_MARKET_MAX } from '../core/limits.ts';
import {
  isCancel,
  MARKET_STATUS,
  type MarketStatus,
  ORDER_END,
  ORDER_FLAG,
  type Side,
  TIF,
} from '../core/order-terms.ts';
import { REJECT_CODE, type RejectCode } from '../core/reject.ts';
import type { Sequence } from '../core/units.ts';
import { Book } from './book.ts';
import { checkBook, hashBook } from './book-checks.ts';
import {
  type CancelCommand,
  type MarketEvents,
  type NewOrderCommand,
  type OrderKey,
  type RememberedId,
  type ReplaceCommand,
  type RestoredOrder,
  type RestoredPosition,
  type RollbackCommand,
  USER_BYTES,
} from './commands.ts';
import { KeyReader } from './key-bytes.ts';
import { ID_STATE, OrderIdTable } from './order-id-table.ts';
import { ORDER_STATE } from './order-pool.ts';
import { NONE } from './pools.ts';
import { continueFrom, placeRestored, uncross } from './restore.ts';
import { rollBack } from './rollback.ts';
import { UserTable } from './user-table.ts';

/** Entries that one tick reclaims at most. */
const SWEEP_BUDGET = 256;
const FIRST_CAPACITY = 1_024;

export interface MarketEngineOptions {
  readonly events: MarketEvents;
  /** 32 bits that nobody outside knows; the hash tables start from it, no event depends on it. */
  readonly hashSeed?: number;
  readonly heldCancelNs?: bigint;
  readonly heldCancelsPerUserMax?: number;
  readonly rememberedIdsPerUserMax?: number;
  /** Slots that every pool starts with, a power of two; pools double when they are full. */
  readonly firstCapacity?: number;
}

export class MarketEngine {
  readonly #events: MarketEvents;
  readonly #users: UserTable;
  readonly #ids: OrderIdTable;
  readonly #book: Book;
  readonly #reader: KeyReader = new KeyReader();
  readonly #heldCancelNs: bigint;
  readonly #heldCancelsMax: number;
  #status: MarketStatus = MARKET_STATUS.active;
  /** Restored orders that fit nowhere, until the restore is finished. */
  readonly #unplaced: number[] = [];
  /** What the last #find looked for: its view, user (or NONE) and hash, for whoever adds the id next. */
  #view: DataView;
  #user: number = NONE;
  #hash = 0;
  /** The entry that knew the id until its 30 days were over. */
  #over: number = NONE;

  constructor(options: MarketEngineOptions) {
    const seed = options.hashSeed ?? 0;
    const capacity = options.firstCapacity ?? FIRST_CAPACITY;
    assert(Number.isInteger(Math.log2(capacity)), 'pools start with a power of two');
    assert(new Uint8Array(Uint32Array.of(1).buffer)[0] === 1, 'the machine is little-endian');
    this.#events = options.events;
    this.#users = new UserTable(capacity, seed);
    this.#ids = new OrderIdTable(this.#users, {
      capacity,
      seed,
      rememberedMax: options.rememberedIdsPerUserMax ?? REMEMBERED_IDS_PER_USER_AND_MARKET_MAX,
    });
    this.#book = new Book(this.#ids, options.events, capacity);
    this.#heldCancelNs = options.heldCancelNs ?? HELD_CANCEL_NS;
    this.#heldCancelsMax = options.heldCancelsPerUserMax ?? HELD_CANCELS_PER_USER_MAX;
    this.#view = this.#reader.viewOf(new Uint8Array(0));
  }

  /** The last sequence given out. */
  get sequence(): Sequence {
    return this.#book.sequence as Sequence;
  }

  get lastTradeId(): Sequence {
    return this.#book.trades.lastTradeId as Sequence;
  }

  /**
   * A new order: refused, or accepted and then filled, rested or ended (TIF-02 to 04, TIF-07, AMB-08, AMB-16).
   *
   * Refused with sequence 0: MARKET_HALTED (AMB-109), DUPLICATE_ORDER, ALREADY_CANCELLED, REQUEST_TOO_OLD,
   * ORDER_EXPIRED, INVALID_ORDER when its level would pass 2^53−1.
   */
  create(command: NewOrderCommand): void {
    this.#passTo(command.receivedNs);
    const refusal = this.#refusalOf(command);
    if (refusal !== 0) {
      this.#events.createRefused(0, command, refusal);
      return;
    }
    // After this point the command must succeed: the id is consumed.
    const id = this.#takeId(command);
    const sequence = this.#book.nextSequence();
    if ((command.flags & ORDER_FLAG.postOnly) !== 0 && this.#book.otherSide(command.side).crosses(command.price)) {
      this.#ids.remember(id, true);
      this.#events.createRefused(sequence, command, REJECT_CODE.WOULD_CROSS);
      return;
    }
    const slot = this.#admit(command, sequence, id);
    this.#events.accepted(sequence, command);
    this.#place(slot, command.tif);
    this.#book.commitDepth();
  }

  /**
   * New price, new total, or both, for a resting order (AMB-19, AMB-21).
   *
   * Refused: MARKET_HALTED; ORDER_NOT_FOUND or ALREADY_CANCELLED (AMB-23); REQUEST_TOO_OLD; INVALID_ORDER when the
   * level would pass 2^53−1; WOULD_CROSS, which alone costs the order its life.
   */
  replace(command: ReplaceCommand): void {
    this.#passTo(command.receivedNs);
    const { orders } = this.#book;
    const entry = this.#find(command, command.receivedNs);
    const refusal = this.#status === MARKET_STATUS.active ? this.#refusalOfChange(entry) : REJECT_CODE.MARKET_HALTED;
    const slot = refusal === 0 ? this.#ids.records.linkOf(entry) : NONE;
    if (refusal !== 0 || orders.stateOf(slot) !== ORDER_STATE.resting) {
      this.#events.replaceRefused(command, refusal === 0 ? REJECT_CODE.ORDER_NOT_FOUND : refusal);
      return;
    }
    const price = command.price === 0 ? orders.priceOf(slot) : command.price;
    const quantity = command.quantity === 0 ? orders.quantityOf(slot) : command.quantity;
    const age = command.timestampNs - orders.timestampOf(slot);
    const isSame = price === orders.priceOf(slot) && quantity === orders.quantityOf(slot);
    if (age < 0n || (age === 0n && !isSame)) this.#events.replaceRefused(command, REJECT_CODE.REQUEST_TOO_OLD);
    else if (age === 0n) this.#events.replaceUnchanged(command.requestId, this.#book.orders.sequenceOf(slot));
    else this.#applyReplace(slot, command, price, quantity);
    this.#book.commitDepth();
  }

  /**
   * Takes the remainder off the book. With all of it pending it only forbids a restore; with no such order it is held
   * if it may be (AMB-23, AMB-25). Works in every market status (AMB-109).
   *
   * Refused: ORDER_NOT_FOUND (also when the user has too many holds), ALREADY_CANCELLED.
   */
  cancel(command: CancelCommand): void {
    this.#passTo(command.receivedNs);
    const { orders } = this.#book;
    const entry = this.#find(command, command.receivedNs);
    if (command.hold && (entry === NONE || this.#ids.records.stateOf(entry) === ID_STATE.held)) {
      this.#hold(command, entry);
      return;
    }
    const refusal = this.#refusalOfChange(entry);
    if (refusal !== 0) {
      this.#events.cancelRefused(command, refusal);
      return;
    }
    const slot = this.#ids.records.linkOf(entry);
    const order = this.#book.orders.sequenceOf(slot);
    if (orders.stateOf(slot) === ORDER_STATE.filled) orders.setState(slot, ORDER_STATE.filledCovered);
    else {
      this.#book.takeOff(slot);
      this.#book.end(slot, ORDER_END.userRequested, 0, command.requestId);
    }
    this.#events.cancelAccepted(command.requestId, order);
    this.#book.commitDepth();
  }

  /** Time has passed: orders expire, held cancels give up, remembered ids are reclaimed (ORD-20, AMB-25, AMB-08). */
  tick(nowNs: bigint): void {
    this.#passTo(nowNs);
    this.#ids.sweep(nowNs, SWEEP_BUDGET);
  }

  /** Clearing refused a fill that is still undecided: rollback.ts has the table (AMB-32, AMB-34). */
  rollback(command: RollbackCommand): void {
    this.#passTo(command.receivedNs);
    rollBack(this.#book, this.#events, command);
    this.#book.commitDepth();
  }

  /** Every trade up to this one is decided; the others of them than were rolled back are confirmed. */
  settled(throughTradeId: number): void {
    this.#book.settle(throughTradeId);
  }

  /** Outside `active`, creates and replaces are refused (AMB-109). */
  setMarket(status: MarketStatus): void {
    this.#status = status;
  }

  /** At boot: a live order, before anything else happens. Orders may come in any order (AMB-110). */
  restoreOrder(command: RestoredOrder): void {
    assert(this.#find(command, 0n) === NONE, 'a restored order id is new');
    const id = this.#takeId(command);
    const slot = placeRestored(this.#book, command, id);
    this.#ids.records.setLink(id, slot);
    if (this.#book.orders.stateOf(slot) !== ORDER_STATE.resting) this.#unplaced.push(slot);
    this.#book.sequence = Math.max(this.#book.sequence, command.order, command.prioritySequence);
  }

  /** At boot: a finished order's id, in the order in which they ended (AMB-08). */
  restoreRememberedId(command: RememberedId): void {
    assert(this.#find(command, 0n) === NONE, 'a remembered order id is new');
    this.#ids.remember(this.#takeId(command), command.wasCancelled);
  }

  /** At boot: creates of this user signed at or before `creationNs` may be replays (AMB-08). */
  restoreWatermark(bytes: Uint8Array, userAt: number, creationNs: bigint): void {
    this.#ids.raiseWatermark(this.#users.intern(this.#reader.viewOf(bytes), userAt), creationNs);
  }

  /**
   * At boot, last: numbering goes on, what expired meanwhile leaves, and crossing orders match (AMB-110). Levels are
   * not told one by one: whoever follows the depth needs the whole book after this (`forEachLevel`).
   */
  finishRestore(position: RestoredPosition): void {
    continueFrom(this.#book, position);
    for (const slot of this.#unplaced.splice(0)) this.#book.end(slot, ORDER_END.rollbackRestoreWouldCross);
    if (position.nowNs >= this.#book.expiries.wakeNs) this.#expire(position.nowNs);
    uncross(this.#book);
    this.#book.forgetDepthChanges();
  }

  /** The levels of a side from the best on. */
  forEachLevel(side: Side, visit: (price: number, quantity: number) => void): void {
    this.#book.ownSide(side).forEachLevel(visit);
  }

  /** A safe integer that is equal for equal books, however they came about (book-checks.ts). */
  hash(): number {
    return hashBook(this.#book, this.#ids, this.#users);
  }

  /** Walks everything; for tests and boot. @throws InvariantError */
  checkInvariants(): void {
    checkBook(this.#book, this.#ids);
  }

  /** The cheap part, for the end of every batch: the book is not crossed. @throws InvariantError */
  checkBest(): void {
    assert(!this.#book.isCrossed(), 'book: the best bid is below the best ask');
  }

  #passTo(nowNs: bigint): void {
    if (nowNs >= this.#book.expiries.wakeNs) {
      this.#expire(nowNs);
      this.#book.commitDepth();
    }
    if (this.#ids.heldHead !== NONE) this.#expireHolds(nowNs);
  }

  #expire(nowNs: bigint): void {
    const { orders } = this.#book;
    for (const slot of this.#book.expiries.pass(nowNs)) {
      this.#book.ownSide(orders.sideOf(slot)).remove(slot, orders.remaining(slot));
      this.#book.end(slot, ORDER_END.expired);
    }
  }

  #expireHolds(nowNs: bigint): void {
    const { records } = this.#ids;
    for (let head = this.#ids.heldHead; head !== NONE; head = this.#ids.heldHead) {
      if (records.stateOf(head) === ID_STATE.held) {
        if (records.timeOf(head) > nowNs) return;
        this.#ids.consumeHold(head);
        const userAt = records.userOf(head) * USER_BYTES;
        const { bytes } = records;
        this.#events.heldCancelExpired(this.#users.keys, userAt, bytes, records.idAt(head), records.bytesOf(head));
      }
      this.#ids.dropHeldHead();
    }
  }

  /** @returns the entry that knows this id, or NONE, as after 30 days; leaves user and hash behind. */
  #find(key: OrderKey, nowNs: bigint): number {
    this.#view = this.#reader.viewOf(key.bytes);
    this.#user = this.#users.find(this.#view, key.userAt);
    this.#over = NONE;
    if (this.#user === NONE) return NONE;
    this.#hash = this.#ids.hashOf(this.#user, this.#view, key.orderIdAt, key.orderIdBytes);
    const entry = this.#ids.find(this.#hash, this.#user, this.#view, key.orderIdAt, key.orderIdBytes);
    this.#over = entry !== NONE && this.#ids.isRemembered(entry) && this.#ids.isOver(entry, nowNs) ? entry : NONE;
    return this.#over === NONE ? entry : NONE;
  }

  /** Why a create cannot be admitted, or 0. Spends a hold. */
  #refusalOf(command: NewOrderCommand): RejectCode | 0 {
    if (this.#status !== MARKET_STATUS.active) return REJECT_CODE.MARKET_HALTED;
    const entry = this.#find(command, command.receivedNs);
    if (entry !== NONE) {
      if (this.#ids.records.stateOf(entry) !== ID_STATE.held) return REJECT_CODE.DUPLICATE_ORDER;
      this.#ids.consumeHold(entry);
      return REJECT_CODE.ALREADY_CANCELLED;
    }
    if (this.#book.hasPassed(command.expiryNs, command.receivedNs)) return REJECT_CODE.ORDER_EXPIRED;
    const users = this.#users;
    const user = this.#user;
    if (user !== NONE && users.hasWatermark[user] !== 0 && command.creationNs <= (users.watermarkNs[user] as bigint))
      return REJECT_CODE.REQUEST_TOO_OLD;
    const rests = command.tif === TIF.gtc || command.tif === TIF.gtd;
    if (rests && !this.#book.ownSide(command.side).fits(command.price, command.quantity))
      return REJECT_CODE.INVALID_ORDER;
    return 0;
  }

  /** Why this entry's order cannot be changed, or 0: it is live, RESTING or FILLED (AMB-23). */
  #refusalOfChange(entry: number): RejectCode | 0 {
    if (entry === NONE) return REJECT_CODE.ORDER_NOT_FOUND;
    const state = this.#ids.records.stateOf(entry);
    if (state === ID_STATE.rememberedCancelled) return REJECT_CODE.ALREADY_CANCELLED;
    if (state !== ID_STATE.live) return REJECT_CODE.ORDER_NOT_FOUND;
    const { orders } = this.#book;
    const slot = this.#ids.records.linkOf(entry);
    if (orders.stateOf(slot) === ORDER_STATE.filledCovered) return REJECT_CODE.ALREADY_CANCELLED;
    if (orders.stateOf(slot) !== ORDER_STATE.ended) return 0;
    return isCancel(orders.endOf(slot)) ? REJECT_CODE.ALREADY_CANCELLED : REJECT_CODE.ORDER_NOT_FOUND;
  }

  /** Makes the id of the last #find LIVE. */
  #takeId(command: OrderKey & { readonly creationNs: bigint }): number {
    const { orderIdAt, orderIdBytes } = command;
    this.#prepareToAdd(command);
    const id = this.#ids.addLive(this.#hash, this.#user, this.#view, orderIdAt, orderIdBytes);
    this.#ids.records.setTime(id, command.creationNs);
    return id;
  }

  /** After a #find that knew no such id: makes room for it, and for its user. */
  #prepareToAdd({ userAt, orderIdAt, orderIdBytes }: OrderKey): void {
    if (this.#over !== NONE) this.#ids.forget(this.#over);
    if (this.#user !== NONE) return;
    this.#user = this.#users.intern(this.#view, userAt);
    this.#hash = this.#ids.hashOf(this.#user, this.#view, orderIdAt, orderIdBytes);
  }

  #admit(command: NewOrderCommand, sequence: Sequence, id: number): number {
    const { orders } = this.#book;
    const slot = orders.allocate(command);
    orders.setSequence(slot, sequence);
    orders.setPriority(slot, sequence);
    orders.setTimestamp(slot, command.creationNs);
    orders.setId(slot, id);
    this.#ids.records.setLink(id, slot);
    return slot;
  }

  /** Fill-or-kill looks first (TIF-04); then everyone matches; then what is left rests or ends (TIF-02, TIF-03). */
  #place(slot: number, tif: number): void {
    const book = this.#book;
    const { orders } = book;
    if (tif === TIF.fok) {
      const makers = book.otherSide(orders.sideOf(slot));
      if (!makers.canFill(orders.priceOf(slot), orders.quantityOf(slot))) {
        book.end(slot, ORDER_END.fillOrKill);
        return;
      }
    }
    book.match(slot);
    if (orders.remaining(slot) === 0) book.becomeFilled(slot);
    else if (tif === TIF.ioc) book.end(slot, ORDER_END.immediateOrCancel);
    else book.rest(slot);
  }

  #applyReplace(slot: number, command: ReplaceCommand, price: number, quantity: number): void {
    const book = this.#book;
    const { orders } = book;
    const before = orders.remaining(slot);
    const after = quantity - orders.filledOf(slot);
    const moves = price !== orders.priceOf(slot);
    const isPostOnly = (orders.flagsOf(slot) & ORDER_FLAG.postOnly) !== 0;
    if (after > 0 && moves && isPostOnly && book.otherSide(orders.sideOf(slot)).crosses(price)) {
      book.takeOff(slot);
      book.end(slot, ORDER_END.postOnlyWouldCross, 0, command.requestId);
      this.#events.replaceRefused(command, REJECT_CODE.WOULD_CROSS);
      return;
    }
    const growth = moves ? after : after - before;
    if (growth > 0 && !book.ownSide(orders.sideOf(slot)).fits(price, growth)) {
      this.#events.replaceRefused(command, REJECT_CODE.INVALID_ORDER);
      return;
    }
    // After this point the command must succeed.
    if (after <= 0 || moves) book.takeOff(slot);
    orders.setPriceAndQuantity(slot, price, quantity);
    orders.setTimestamp(slot, command.timestampNs);
    const sequence = book.nextSequence();
    if (after > 0 && (moves || after > before)) orders.setPriority(slot, sequence);
    this.#tellReplaced(slot, sequence, command);
    if (after <= 0) this.#completeByReplace(slot, command.requestId);
    else if (moves) this.#place(slot, orders.tifOf(slot));
    else this.#resize(slot, after - before);
  }

  #tellReplaced(slot: number, sequence: Sequence, { timestampNs, requestId }: ReplaceCommand): void {
    const { orders } = this.#book;
    const order = this.#book.orders.sequenceOf(slot);
    const priority = orders.priorityOf(slot);
    const price = orders.priceOf(slot);
    const quantity = orders.quantityOf(slot);
    this.#events.replaced(sequence, order, priority, price, quantity, timestampNs, requestId);
  }

  /** The maker wants no more than is filled: filled it is, though a rollback may make room again (AMB-32 e). */
  #completeByReplace(slot: number, requestId: number): void {
    const book = this.#book;
    const order = book.orders.sequenceOf(slot);
    this.#events.ended(book.nextSequence(), order, ORDER_END.filled, 0, 0, requestId);
    book.becomeFilled(slot);
  }

  /** Same price: a smaller order keeps its place, a larger one goes to the back. */
  #resize(slot: number, growth: number): void {
    if (growth === 0) return;
    const side = this.#book.ownSide(this.#book.orders.sideOf(slot));
    side.adjust(slot, growth);
    if (growth > 0) side.moveToBack(slot);
  }

  #hold(command: CancelCommand, entry: number): void {
    const { orderIdAt, orderIdBytes, receivedNs, requestId } = command;
    if (entry === NONE) {
      if (this.#user !== NONE && (this.#users.heldCount[this.#user] as number) >= this.#heldCancelsMax) {
        this.#events.cancelRefused(command, REJECT_CODE.ORDER_NOT_FOUND);
        return;
      }
      this.#prepareToAdd(command);
      const untilNs = receivedNs + this.#heldCancelNs;
      this.#ids.hold(this.#hash, this.#user, this.#view, orderIdAt, orderIdBytes, untilNs);
    }
    this.#events.cancelAccepted(requestId, 0);
  }
}
