/**
 * Finds the user and the order of a command by key, and the reject code when there is none (AMB-08, AMB-23, AMB-25).
 *
 * A look-up stores what it found for the call that adds the id: `findLive`, then `findPast` if no order is live, then
 * `prepareToAdd`.
 */
import { assert } from '../core/assert.ts';
import { CHILDREN_PER_PARENT_MAX, PARKED_CANCEL_NS, PARKED_CANCELS_PER_USER_MAX } from '../core/limits.ts';
import { isCancel, ORDER_KIND } from '../core/order-terms.ts';
import { NONE } from '../core/pools.ts';
import { REJECT_CODE, type RejectCode } from '../core/reject.ts';
import { fromWords } from '../core/time-words.ts';
import type { HashedKey, NewOrderCommand, OrderKey, Received } from './commands.ts';
import { ID_STATE, type OrderIds, UNKNOWN } from './order-ids.ts';
import type { OrderPool } from './order-pool.ts';
import { MARK, ORDER_STATE } from './order-records.ts';
import type { Triggers } from './triggers.ts';
import { QUEUE, queueOf, type UserTable } from './user-table.ts';

export class OrderLookup {
  /** Index of the last added order, or NONE; the entry may be free or reused by now. */
  lastAdded: number = NONE;
  /** The user of the last look-up, or NONE. */
  user: number = NONE;
  readonly ids: OrderIds;
  readonly #users: UserTable;
  readonly #orders: OrderPool;
  #hash = 0;
  /** Result of the last look-up. */
  #entry: number = UNKNOWN;
  /** The record of this id if its 30 days are over. */
  #over: number = NONE;
  #parkedNs: bigint = PARKED_CANCEL_NS;
  #parkedMax: number = PARKED_CANCELS_PER_USER_MAX;

  constructor(orders: OrderPool, ids: OrderIds, users: UserTable) {
    this.#orders = orders;
    this.ids = ids;
    this.#users = users;
  }

  /** @returns the index of the live order with this id, or NONE. */
  findLive({ words, userAt, orderIdAt, orderIdBytes, idHash }: HashedKey): number {
    return this.findLiveAt(words, userAt, orderIdAt, orderIdBytes, idHash);
  }

  /** As `findLive`, for a key without a hash. */
  findUnhashed({ words, userAt, orderIdAt, orderIdBytes }: OrderKey): number {
    const hash = this.ids.hashKey(words, userAt, orderIdAt, orderIdBytes);
    return this.findLiveAt(words, userAt, orderIdAt, orderIdBytes, hash);
  }

  /**
   * As `findLive`, with the key in parts: creates and cancels have two object shapes, and reading both through one
   * parameter would make the property access polymorphic.
   */
  findLiveAt(words: Int32Array, userAt: number, orderIdAt: number, orderIdBytes: number, hash: number): number {
    const user = this.#users.find(words, userAt);
    this.user = user;
    this.#over = NONE;
    this.#entry = UNKNOWN;
    this.#hash = hash;
    if (user === NONE) return NONE;
    this.#entry = this.ids.find(hash, user, words, orderIdAt, orderIdBytes);
    return this.ids.indexOf(this.#entry);
  }

  /** After a findLive that found none. @returns the record that holds this id, or NONE; NONE also after its 30 days. */
  findPast(nowHigh: number, nowLow: number): number {
    const record = this.ids.recordOf(this.#entry);
    return record === NONE ? NONE : this.#unlessOver(record, nowHigh, nowLow);
  }

  #unlessOver(record: number, nowHigh: number, nowLow: number): number {
    if (!this.ids.isRemembered(record)) return record;
    if (!this.ids.isOver(record, fromWords(nowHigh, nowLow))) return record;
    this.#over = record;
    return NONE;
  }

  /** Finds an order of the last look-up's user by an id stored separately. */
  findOther(words: Int32Array, bytes: number): number {
    if (this.user === NONE) return NONE;
    const hash = this.ids.hashOf(this.user, words, 0, bytes);
    return this.ids.indexOf(this.ids.find(hash, this.user, words, 0, bytes));
  }

  /** Index of a child's parent (TRG-04 to TRG-06, AMB-29), or the reject code. */
  parentOf(command: NewOrderCommand, triggers: Triggers): number | { readonly refusal: RejectCode } {
    const orders = this.#orders;
    const parent = this.findOther(command.parentWords, command.parentIdBytes);
    if (parent === NONE || this.isOver(parent)) return { refusal: REJECT_CODE.ORDER_NOT_FOUND };
    const fits =
      orders.kindOf(parent) === ORDER_KIND.limit &&
      !orders.hasMark(parent, MARK.wasConditional) &&
      orders.sideOf(parent) !== command.side &&
      orders.subAccountOf(parent) === command.subAccount;
    if (!fits) return { refusal: REJECT_CODE.INVALID_ORDER };
    const isFull = triggers.childrenOf(parent) >= CHILDREN_PER_PARENT_MAX;
    return isFull ? { refusal: REJECT_CODE.TOO_MANY_OPEN_ORDERS } : parent;
  }

  /** After both look-ups found nothing: frees an outdated record and adds the user if it is new. */
  prepareToAdd({ words, userAt }: OrderKey): void {
    if (this.#over !== NONE) this.ids.forget(this.#over);
    if (this.user === NONE) this.user = this.#users.intern(words, userAt);
  }

  /** Assigns the id of the last look-up to this order. */
  addLive(index: number, key: OrderKey): void {
    this.ids.addLive(index, this.#hash, key.words, key.orderIdAt, key.orderIdBytes);
    this.lastAdded = index;
  }

  addRemembered(key: OrderKey, creationNs: bigint, wasCancelled: boolean): void {
    this.ids.rememberId(this.#hash, this.user, key, creationNs, wasCancelled);
  }

  /** AMB-25; see MarketEngine.setParkedCancels. */
  setParkedCancels(ns: bigint, perUserMax: number): void {
    this.#parkedNs = ns;
    this.#parkedMax = perUserMax;
  }

  addParked(key: OrderKey, nowNs: bigint): void {
    this.ids.park(this.#hash, this.user, key, nowNs + this.#parkedNs);
  }

  /** Whether the user may park one more cancel. */
  mayPark(): boolean {
    const { user } = this;
    const parked = user === NONE ? 0 : (this.#users.queues[queueOf(user) + QUEUE.parked] as number);
    return parked < this.#parkedMax;
  }

  /** Whether a create signed at this time may be a replay of an id that is no longer remembered (AMB-08). */
  isBehindWatermark(creationHigh: number, creationLow: number): boolean {
    const { user } = this;
    if (user === NONE || this.#users.hasWatermark[user] === 0) return false;
    return fromWords(creationHigh, creationLow) <= (this.#users.watermarkNs[user] as bigint);
  }

  /** Whether the order rests or waits for its trigger. */
  isOpen(index: number): boolean {
    const state = this.#orders.stateOf(index);
    return state === ORDER_STATE.resting || state === ORDER_STATE.dormant;
  }

  /** Whether the order has ended or its cancel is pending (AMB-23). */
  isOver(index: number): boolean {
    const state = this.#orders.stateOf(index);
    return state === ORDER_STATE.filledCancelPending || state === ORDER_STATE.ended;
  }

  /**
   * After a findLive without an order to change: finds its record. A wrong hash would hide existing entries, so the
   * hash is checked here. @param index an order that is filled or over, or NONE. @returns the record, or NONE. @throws
   * InvariantError
   */
  findOver(index: number, command: HashedKey & Received): number {
    const { words, userAt, orderIdAt, orderIdBytes, idHash } = command;
    const hash = this.ids.hashKey(words, userAt, orderIdAt, orderIdBytes);
    assert(idHash === hash, "an id is hashed with its market's key");
    return index === NONE ? this.findPast(command.receivedHigh, command.receivedLow) : NONE;
  }

  /**
   * The reject code when there is no order to change. @param index an order that is filled or over, or NONE; @param
   * record or NONE.
   */
  codeWithoutOrder(index: number, record: number): RejectCode {
    if (index === NONE) {
      const wasCancelled = record !== NONE && this.ids.records.stateOf(record) === ID_STATE.rememberedCancelled;
      return wasCancelled ? REJECT_CODE.ALREADY_CANCELLED : REJECT_CODE.ORDER_NOT_FOUND;
    }
    const state = this.#orders.stateOf(index);
    const wasCancelled = state === ORDER_STATE.ended && isCancel(this.#orders.endOf(index));
    const isCancelled = state === ORDER_STATE.filledCancelPending || wasCancelled;
    return isCancelled ? REJECT_CODE.ALREADY_CANCELLED : REJECT_CODE.ORDER_NOT_FOUND;
  }
}
