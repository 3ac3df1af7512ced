/**
 * The live orders: records in one OrderStore, and per record what only clearing needs of it, in arrays by the same index.
 *
 *   index ─▶ record (order/order-store.ts) │ account │ place in a trigger heap │ changed since the last checkpoint
 *
 * An order is its index, from its admission until it ends; then the index is free for another order. A `ClearingOrder` is a
 * short-lived handle for the input that is being applied: it is not kept.
 *
 * The orders of a market are added in the order of their sequences, which is the order of their admission: so a parent
 * comes before its children.
 */
import { assert, must } from '../core/assert.ts';
import { USD, type UserId } from '../core/ids.ts';
import type { HashKey } from '../core/key-words.ts';
import { ORDER_FLAG } from '../core/order-terms.ts';
import { grown, NONE } from '../core/pools.ts';
import type { RawPrice, Sequence } from '../core/units.ts';
import { type Views, viewsOf } from '../core/views.ts';
import { OrderStore } from '../order/order-store.ts';
import { isMarginType } from '../risk/account-types.ts';
import { OrderRecord, OrderRecordView } from '../schema/generated/messages.ts';
import { accountBalance } from './balances.ts';
import { positionSlot } from './positions.ts';
import type { OrderRow } from './rows.ts';
import type { BalanceSlot, ClearingMarket, ClearingState, PositionSlot, SubAccountSlot, UserSlot } from './state.ts';

/** Index of a live order in the store; NONE for none. */
export type OrderIndex = number;

/** More would not fit into memory; the markets refuse orders earlier. */
const LIVE_ORDERS_MAX = 2 ** 27;
const CAPACITY_MIN = 1_024;

/** A live order while one input is applied. `row` reads and writes the record in place. */
export interface ClearingOrder {
  readonly index: OrderIndex;
  readonly row: OrderRecordView;
  readonly market: ClearingMarket;
  readonly account: SubAccountSlot;
}

export class ClearingOrders {
  readonly store: OrderStore;
  readonly #accounts: (SubAccountSlot | null)[] = [];
  /** The account of the order that a user added last, by the number that the store gives a user with orders. */
  readonly #recent: SubAccountSlot[] = [];
  /** Holds a row that is not a record yet. */
  readonly #plain: Views = viewsOf(new ArrayBuffer(OrderRecord.bytes), 0, OrderRecord.bytes);
  #heapPlaces = new Int32Array(CAPACITY_MIN);
  #isDirty = new Uint8Array(CAPACITY_MIN);
  /** Indexes that became dirty; those of orders that ended since are passed over. */
  #dirty: OrderIndex[] = [];
  #dirtyCount = 0;

  /** @param key of the hashes of users and order ids. */
  constructor(key: HashKey) {
    this.store = new OrderStore({ ordersMax: LIVE_ORDERS_MAX, key });
  }

  /** Changed since the last checkpoint. */
  get dirtyCount(): number {
    return this.#dirtyCount;
  }

  account(index: OrderIndex): SubAccountSlot {
    return this.#accounts[index] as SubAccountSlot;
  }

  triggerPrice(index: OrderIndex): RawPrice {
    return OrderRecord.triggerPrice(this.store.viewsOf(index), this.store.at(index));
  }

  /** Index in the heap of its trigger, NONE outside of it. */
  heapPlace(index: OrderIndex): number {
    return this.#heapPlaces[index] as number;
  }

  setHeapPlace(index: OrderIndex, place: number): void {
    this.#heapPlaces[index] = place;
  }

  /** A copy of the row, which has its final market and sequence. @param users its user and sub-account are there. */
  add(row: OrderRow, users: ReadonlyMap<UserId, UserSlot>): OrderIndex {
    const index = row instanceof OrderRecordView ? this.store.insertCopy(row.v, row.at) : this.#addPlain(row);
    assert(index !== NONE, 'live orders are bounded: markets have fewer');
    if (index >= this.#heapPlaces.length) this.#grow();
    this.#accounts[index] = this.#accountOf(index, row.subAccount, users);
    this.#heapPlaces[index] = NONE;
    return index;
  }

  /** Its index is free from here on. */
  remove(index: OrderIndex): void {
    this.#clean(index);
    this.#accounts[index] = null;
    this.store.remove(index);
  }

  markDirty(index: OrderIndex): void {
    if (this.#isDirty[index] === 1) return;
    this.#isDirty[index] = 1;
    this.#dirty.push(index);
    this.#dirtyCount += 1;
  }

  /** Every order that changed since the last call, once; they are unchanged from here on. */
  *takeDirty(): Generator<OrderRecordView, void, undefined> {
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const index of dirty) {
      if (this.#isDirty[index] !== 1) continue;
      this.#clean(index);
      yield this.store.view(index);
    }
  }

  /** A number is given to another user once its user has no order left. */
  #accountOf(index: OrderIndex, subAccount: number, users: ReadonlyMap<UserId, UserSlot>): SubAccountSlot {
    const number = this.store.userOf(index);
    const recent = this.store.countOfUser(number) === 1 ? undefined : this.#recent[number];
    if (recent?.row.subAccount === subAccount) return recent;
    const user = must(users.get(this.store.view(index).user), 'the user of an order is known');
    const account = must(user.subAccounts.get(subAccount), 'the sub-account of an order exists');
    this.#recent[number] = account;
    return account;
  }

  #addPlain(row: OrderRow): OrderIndex {
    OrderRecord.write(this.#plain, 0, row);
    return this.store.insertCopy(this.#plain, 0);
  }

  #clean(index: OrderIndex): void {
    if (this.#isDirty[index] !== 1) return;
    this.#isDirty[index] = 0;
    this.#dirtyCount -= 1;
  }

  #grow(): void {
    const capacity = Math.max(2 * this.#heapPlaces.length, this.store.indexEnd);
    this.#heapPlaces = grown(this.#heapPlaces, capacity);
    this.#isDirty = grown(this.#isDirty, capacity);
  }
}

/** The live orders of one market, by sequence, and in the order of their admission. */
export class MarketOrders {
  readonly store: OrderStore;
  readonly #all: ClearingOrders;
  readonly #marketIndex: number;

  constructor(all: ClearingOrders, marketIndex: number) {
    this.#all = all;
    this.store = all.store;
    this.#marketIndex = marketIndex;
  }

  get size(): number {
    return this.store.countOfMarket(this.#marketIndex);
  }

  find(sequence: Sequence | 0): OrderIndex {
    return sequence === 0 ? NONE : this.store.findSequence(this.#marketIndex, sequence);
  }

  has(sequence: Sequence | 0): boolean {
    return this.find(sequence) !== NONE;
  }

  /** The record of a live order. */
  get(sequence: Sequence | 0): OrderRecordView | undefined {
    const index = this.find(sequence);
    return index === NONE ? undefined : this.store.view(index);
  }

  row(index: OrderIndex): OrderRecordView {
    return this.store.view(index);
  }

  account(index: OrderIndex): SubAccountSlot {
    return this.#all.account(index);
  }

  /** @param row its sequence is above that of every live order of the market. */
  add(row: OrderRow, users: ReadonlyMap<UserId, UserSlot>): OrderIndex {
    return this.#all.add(row, users);
  }

  remove(index: OrderIndex): void {
    this.#all.remove(index);
  }

  /** In the order of admission. The order that was yielded last may be removed meanwhile, no other. */
  *indexes(): Generator<OrderIndex, void, undefined> {
    let index = this.store.firstOfMarket(this.#marketIndex);
    while (index !== NONE) {
      const next = this.store.nextOfMarket(index);
      yield index;
      index = next;
    }
  }

  /** Their records, as `indexes`. */
  *rows(): Generator<OrderRecordView, void, undefined> {
    for (const index of this.indexes()) yield this.row(index);
  }
}

export function orderAt(market: ClearingMarket, index: OrderIndex): ClearingOrder {
  return { index, row: market.orders.row(index), market, account: market.orders.account(index) };
}

export function orderOf(market: ClearingMarket, sequence: Sequence | 0): ClearingOrder | undefined {
  const index = market.orders.find(sequence);
  return index === NONE ? undefined : orderAt(market, index);
}

export function baseOf(state: ClearingState, { market, account }: Omit<ClearingOrder, 'index'>): BalanceSlot {
  return accountBalance(state, account, market.definition.assetId);
}

export function usdOf(state: ClearingState, { account }: Pick<ClearingOrder, 'account'>): BalanceSlot {
  return accountBalance(state, account, USD);
}

/**
 * What a margin order trades; null of a spot order, and of a margin order in a Spot account, which is refused with its
 * first fill like any order that breaks its terms.
 */
export function positionOf(
  state: ClearingState,
  { row, market, account }: Omit<ClearingOrder, 'index'>,
): PositionSlot | null {
  const isLeveraged = (row.flags & ORDER_FLAG.isSpot) === 0 && isMarginType(account.row);
  return isLeveraged ? positionSlot(state, account, market.definition.assetId) : null;
}
