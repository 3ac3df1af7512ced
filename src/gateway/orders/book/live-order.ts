/**
 * One order as the gateway has it: its record in the store, and the optimistic figures beside it.
 *
 *   OrderRecord          terms in force, what clearing has confirmed, the end     the same bytes as clearing's
 *   optimistic figures   what is released, pending, held, in flight               the gateway's alone
 *
 * The market is the authority on what rests; clearing on what is filled. Both are received over rings of their own, in
 * either order, so what remains is derived: released quantity − pending − confirmed, nothing after an end.
 *
 * A `LiveOrder` is an accessor: it points at an index of the store and keeps nothing itself. Two of one order are equal, not
 * identical: orders are compared by `index`. One may be kept as long as its order is in memory (live-orders.ts).
 *
 * Invariants
 *   (1) order.spend = spendOf(order) (spending.ts), and order.balance holds that with the fee in force (holds.ts); in its
 *       queue an order has exposureOf(order) (order-exposure.ts).
 *   (2) The released quantity of an order that waits for its trigger is 0: it holds nothing (AMB-28).
 *
 * Not here: the orders of all users (live-orders.ts), what changes an order (order-book-view.ts), what it holds
 * (spending.ts), its terminal event (order-life.ts).
 */
import type { OrderId, UserId } from '../../../core/ids.ts';
import { ORDER_FLAG, type OrderKind, type Side, TIF, type Tif, type TriggerKind } from '../../../core/order-terms.ts';
import { NONE } from '../../../core/pools.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../../../core/units.ts';
import { type Views, viewsOf } from '../../../core/views.ts';
import type { OrderStore } from '../../../order/order-store.ts';
import { OrderRecordView } from '../../../schema/generated/messages.ts';
import { readInt128, writeInt128 } from '../../../schema/int128.ts';
import type { Balance } from '../balances/balance.ts';
import type { OrderExposure } from '../margin/margin-account.ts';
import type { MarketSlot } from './markets.ts';

/** Terms of a create that are final, except the trigger, which a replace may change while the order waits. */
export interface OrderTerms {
  readonly user: UserId;
  readonly subAccount: number;
  readonly orderId: OrderId;
  readonly side: Side;
  readonly kind: OrderKind;
  readonly tif: Tif;
  /** Bits of ORDER_FLAG. */
  readonly flags: number;
  /** Quote integer of scale 10^-quantity decimals: the cap of a base-sized buy or the target; 0 for none (AMB-05). */
  readonly amount: number;
  readonly triggerKind: TriggerKind;
  /** The id of a child's parent; '' for every other order. */
  readonly parentId: OrderId | '';
  readonly creationNs: TimestampNs;
  /** 0n unless GTD. */
  readonly goodUntilNs: TimestampNs;
}

/** Terms of a pending replace. */
export interface PendingReplace {
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
}

/** Fills of an order that clearing has not decided. */
export interface PendingFills {
  count: number;
  quantity: number;
  notional: bigint;
  fees: bigint;
}

/** The membership of an order in the cancel-on-disconnect group of a connection (disconnect-group.ts). */
export interface OrderMembership {
  /** Null: in none, until it moves to another connection. Compared by identity alone. */
  readonly group: object | null;
  leave(): void;
}

/** Where an accessor finds what its order consists of (live-orders.ts). Maps are by index. */
export interface OrderTables {
  readonly store: OrderStore;
  readonly figures: OptimisticFigures;
  readonly pending: Map<number, PendingFills>;
  readonly replaces: Map<number, readonly PendingReplace[]>;
  readonly memberships: Map<number, readonly OrderMembership[]>;
  at(index: number): LiveOrder;
  marketAt(marketIndex: number): MarketSlot;
  balanceAt(number: number): Balance;
  userOf(index: number): UserId;
  parentIdOf(index: number): OrderId;
}

/** Released as a whole, whatever its quantity becomes. */
export const RELEASED_WHOLE: number = Number.MAX_SAFE_INTEGER;
/** The page word of an order that no page shows. */
export const NOT_LISTED = -1;

/** Bits of a cell's flags. */
const FLAG = {
  rolledBack: 1,
  spent: 2,
  cancelPending: 4,
  closed: 8,
  awaitingCheckpoint: 16,
  idle: 32,
  gone: 64,
  replaces: 128,
  memberships: 256,
  pending: 512,
  hadParent: 1_024,
  added: 2_048,
  faulted: 4_096,
} as const;

const NO_REPLACES: readonly PendingReplace[] = [];
const NO_MEMBERSHIPS: readonly OrderMembership[] = [];

export class LiveOrder extends OrderRecordView {
  readonly index: number;
  readonly market: MarketSlot;
  readonly #orders: OrderTables;
  readonly #chunk: FigureChunk;
  readonly #figures: FigureChunk['views'];
  readonly #at: number;

  /** @param index of a record that is in the store, or claimed and with its market. */
  constructor(orders: OrderTables, index: number) {
    const { store, figures } = orders;
    super(store.viewsOf(index), store.at(index));
    this.index = index;
    this.#orders = orders;
    this.#chunk = figures.chunk(index);
    this.#figures = this.#chunk.views;
    this.#at = cellAt(index);
    this.market = orders.marketAt(this.marketIndex);
  }

  // ---- names

  /** The text that all orders of the user share; of a draft its own. */
  override get user(): UserId {
    return this.#has(FLAG.added) ? this.#orders.userOf(this.index) : super.user;
  }
  override set user(user: UserId) {
    super.user = user;
  }

  /** A text of its own. */
  get recordedUser(): UserId {
    return super.user;
  }

  /** The id of a child's parent as it was signed; '' for every other order. */
  get parentId(): OrderId | '' {
    return this.parentIdBytes === 0 ? '' : this.#orders.parentIdOf(this.index);
  }

  /** Market sequence of its admission; 0 before. */
  get sequence(): number {
    return this.orderSequence;
  }

  /** Null where it has none, or the parent has left memory. */
  get parent(): LiveOrder | null {
    if (this.parentIdBytes === 0) return null;
    const parent = this.#orders.store.parentOf(this.index);
    return parent === NONE ? null : this.#orders.at(parent);
  }

  // ---- optimistic figures

  /**
   * Lots that may match, as far as order entry has released them: none while it waits for its trigger, of a child what was
   * released of it.
   */
  get releasedQuantity(): number {
    return this.#figures.f64[this.#at >>> 3] as number;
  }
  set releasedQuantity(lots: number) {
    this.#figures.f64[this.#at >>> 3] = lots;
  }

  /** Market sequence of the last message on it: when clearing has passed it, the tables have the order as it is here. */
  get lastSequence(): number {
    return this.#figures.f64[(this.#at + CELL.lastSequence) >>> 3] as number;
  }
  set lastSequence(sequence: number) {
    this.#figures.f64[(this.#at + CELL.lastSequence) >>> 3] = sequence;
  }

  /** Lots of fills that clearing has not decided. */
  get pendingQuantity(): number {
    return this.#pending?.quantity ?? 0;
  }

  get pendingFills(): number {
    return this.#pending?.count ?? 0;
  }

  get pendingNotional(): bigint {
    return this.#pending?.notional ?? 0n;
  }

  get pendingFees(): bigint {
    return this.#pending?.fees ?? 0n;
  }

  get #pending(): PendingFills | undefined {
    return this.#has(FLAG.pending) ? this.#orders.pending.get(this.index) : undefined;
  }

  /** A fill came, or was decided: then all figures are negative. */
  addPending(quantity: number, notional: bigint, fee: bigint): void {
    let pending = this.#pending;
    if (pending === undefined) {
      pending = { count: 0, quantity: 0, notional: 0n, fees: 0n };
      this.#orders.pending.set(this.index, pending);
      this.#set(FLAG.pending, true);
    }
    pending.count += quantity > 0 ? 1 : -1;
    pending.quantity += quantity;
    pending.notional += notional;
    pending.fees += fee;
    if (pending.count > 0) return;
    this.#orders.pending.delete(this.index);
    this.#set(FLAG.pending, false);
  }

  /** What it may still spend of its balance, a buy's fee apart. */
  get spend(): Amount18 {
    return readInt128(this.#figures, this.#at + CELL.spend) as Amount18;
  }
  set spend(amount: Amount18) {
    writeInt128(this.#figures, this.#at + CELL.spend, amount);
  }

  /** The word of its entry in the list that pages are made of (page-list.ts), or NOT_LISTED. */
  get pageWord(): number {
    return this.#figures.i32[(this.#at + CELL.pageWord) >>> 2] as number;
  }
  set pageWord(word: number) {
    this.#figures.i32[(this.#at + CELL.pageWord) >>> 2] = word;
  }

  /** Requests about it that the market has not answered. */
  get requests(): number {
    return this.#figures.i32[(this.#at + CELL.requests) >>> 2] as number;
  }
  set requests(count: number) {
    this.#figures.i32[(this.#at + CELL.requests) >>> 2] = count;
  }

  /** Where the hold of a spot order lies: USD for a buy, the base asset for a sell. A margin order holds nothing. */
  get balance(): Balance | null {
    const number = this.#figures.i32[(this.#at + CELL.balance) >>> 2] as number;
    return number === 0 ? null : this.#orders.balanceAt(number - 1);
  }
  set balance(balance: Balance | null) {
    this.#figures.i32[(this.#at + CELL.balance) >>> 2] = balance === null ? 0 : balance.number + 1;
  }

  /** Where an order of a margin-type account counts; null in a spot account, and for a spot sell. */
  get exposure(): OrderExposure | null {
    const { exposures } = this.#chunk;
    return exposures === null ? null : (exposures[cellOf(this.index)] as OrderExposure | null);
  }
  set exposure(exposure: OrderExposure | null) {
    if (exposure !== null) this.#chunk.exposures ??= noExposures();
    if (this.#chunk.exposures !== null) this.#chunk.exposures[cellOf(this.index)] = exposure;
  }

  get replaces(): readonly PendingReplace[] {
    return this.#has(FLAG.replaces) ? (this.#orders.replaces.get(this.index) ?? NO_REPLACES) : NO_REPLACES;
  }
  set replaces(replaces: readonly PendingReplace[]) {
    this.#set(FLAG.replaces, replaces.length > 0);
    if (replaces.length > 0) this.#orders.replaces.set(this.index, replaces);
    else this.#orders.replaces.delete(this.index);
  }

  /** To connections over which it was created or replaced: it is cancelled with the end of any of them. */
  get memberships(): readonly OrderMembership[] {
    return this.#has(FLAG.memberships) ? (this.#orders.memberships.get(this.index) ?? NO_MEMBERSHIPS) : NO_MEMBERSHIPS;
  }
  set memberships(memberships: readonly OrderMembership[]) {
    this.#set(FLAG.memberships, memberships.length > 0);
    if (memberships.length > 0) this.#orders.memberships.set(this.index, memberships);
    else this.#orders.memberships.delete(this.index);
  }

  // ---- flags

  /** At least one fill was rolled back. */
  get wasRolledBack(): boolean {
    return this.#has(FLAG.rolledBack);
  }
  set wasRolledBack(is: boolean) {
    this.#set(FLAG.rolledBack, is);
  }

  /** It never rests and its quantity was matched: a rollback does not bring it back (AMB-32 c). */
  get isSpent(): boolean {
    return this.#has(FLAG.spent);
  }
  set isSpent(is: boolean) {
    this.#set(FLAG.spent, is);
  }

  /** A cancel came while all of it was pending: nothing of it comes back (AMB-23). */
  get isCancelPending(): boolean {
    return this.#has(FLAG.cancelPending);
  }
  set isCancelPending(is: boolean) {
    this.#set(FLAG.cancelPending, is);
  }

  /** Its one terminal event was published, or it was refused: it needs no hold. */
  get isClosed(): boolean {
    return this.#has(FLAG.closed);
  }
  set isClosed(is: boolean) {
    this.#set(FLAG.closed, is);
  }

  /** It is finished, and stays in memory until a checkpoint has it. */
  get isAwaitingCheckpoint(): boolean {
    return this.#has(FLAG.awaitingCheckpoint);
  }
  set isAwaitingCheckpoint(is: boolean) {
    this.#set(FLAG.awaitingCheckpoint, is);
  }

  /** A child that never rests has matched what it could of what was released, and waits for more. */
  get isIdle(): boolean {
    return this.#has(FLAG.idle);
  }
  set isIdle(is: boolean) {
    this.#set(FLAG.idle, is);
  }

  /** It has left memory, and only requests in flight or pages that are being read still point at it. */
  get isGone(): boolean {
    return this.#has(FLAG.gone);
  }
  set isGone(is: boolean) {
    this.#set(FLAG.gone, is);
  }

  /** It is in the lists of its user and market: no draft. */
  get isAdded(): boolean {
    return this.#has(FLAG.added);
  }
  set isAdded(is: boolean) {
    this.#set(FLAG.added, is);
  }

  /** A fill of it was undone for its fault. */
  get wasAtFault(): boolean {
    return this.#has(FLAG.faulted);
  }
  set wasAtFault(is: boolean) {
    this.#set(FLAG.faulted, is);
  }

  /** It is a child, and its parent was in memory at some time. */
  get hadParent(): boolean {
    return this.#has(FLAG.hadParent);
  }
  set hadParent(is: boolean) {
    this.#set(FLAG.hadParent, is);
  }

  #has(flag: number): boolean {
    return ((this.#figures.i32[(this.#at + CELL.flags) >>> 2] as number) & flag) !== 0;
  }

  #set(flag: number, is: boolean): void {
    const at = (this.#at + CELL.flags) >>> 2;
    const flags = this.#figures.i32[at] as number;
    this.#figures.i32[at] = is ? flags | flag : flags & ~flag;
  }
}

/** The optimistic filled quantity: pending and confirmed (ORD-23). */
export function filledOf(order: Pick<LiveOrder, 'pendingQuantity' | 'filledQuantity'>): number {
  return order.pendingQuantity + order.filledQuantity;
}

export function isSpot({ flags }: Pick<OrderTerms, 'flags'>): boolean {
  return (flags & ORDER_FLAG.isSpot) !== 0;
}

export function isReduceOnly({ flags }: Pick<OrderTerms, 'flags'>): boolean {
  return (flags & ORDER_FLAG.reduceOnly) !== 0;
}

export function isChild(order: Pick<LiveOrder, 'parentIdBytes'>): boolean {
  return order.parentIdBytes !== 0;
}

/** Whether a child is released as a whole: from then on it is like any other order, and a replace may raise its quantity. */
export function isFullyReleased({ activatedQuantity, quantity }: LiveOrder): boolean {
  return activatedQuantity > 0 && activatedQuantity >= quantity;
}

/** Lots of a child that its parent's confirmed fills have activated; of every other order its quantity (AMB-29). */
export function enabledOf(order: LiveOrder): number {
  if (!isChild(order) || isFullyReleased(order)) return order.quantity;
  return Math.min(order.quantity, order.parent?.filledQuantity ?? order.enabledQuantity);
}

export function neverRests({ tif }: Pick<OrderTerms, 'tif'>): boolean {
  return tif === TIF.ioc || tif === TIF.fok;
}

/**
 * Whether all of it was released, including what a replace may add; false for a child that may be released further
 * (AMB-29).
 */
export function isWhole(order: Pick<LiveOrder, 'releasedQuantity' | 'quantity'>): boolean {
  return order.releasedQuantity > 0 && order.releasedQuantity >= order.quantity;
}

/** Whether `filled` lots are all of a quantity; an order without one is never full. */
export function isFull(quantity: number, filled: number): boolean {
  return quantity > 0 && filled >= quantity;
}

/** Nothing of it lives and nothing about it is undecided. */
export function isFinished(order: LiveOrder): boolean {
  return (
    order.isClosed && order.pendingFills === 0 && (order.end !== 0 || isFull(order.quantity, order.filledQuantity))
  );
}

/** The answer to a replace with a membership: a refused one leaves its group, and an order is in each group once. */
export function settleMembership(order: LiveOrder, membership: OrderMembership, isReplaced: boolean): void {
  const others = order.memberships.filter((other) => other !== membership);
  if (isReplaced && others.every(({ group }) => group !== membership.group)) return;
  order.memberships = others;
  membership.leave();
}

// What the gateway keeps of an order beside its record (src/order/order-store.ts): figures of what clearing has not decided,
// and where the order stands in the gateway's lists. In memory only: after a start it is empty.
//
//   cell, 48 bytes, one an index of the store   │ released │ last sequence │ spend, Int128 │ four words │
//
// Cells lie in chunks, so nothing is copied when there are more. What few orders have (pending
// amounts, replaces in flight, memberships) is in maps of live-orders.ts; the exposures of margin orders lie in
// arrays that a chunk gets with its first.
//
// What the figures mean is above.

const CHUNK_SHIFT = 12;
const CHUNK_CELLS: number = 1 << CHUNK_SHIFT;
const CELL_BYTES = 48;
const CELL_WORDS: number = CELL_BYTES >>> 2;

/** Offsets of a cell's members, in bytes. */
const CELL = {
  releasedQuantity: 0,
  lastSequence: 8,
  spend: 16,
  pageWord: 32,
  flags: 36,
  requests: 40,
  /** Number of the balance (holds.ts) plus 1; 0: none. */
  balance: 44,
} as const;

/** Cells of consecutive indexes. */
interface FigureChunk {
  readonly views: Views;
  /** By cell of the chunk; null while none of its orders has an exposure. */
  exposures: (OrderExposure | null)[] | null;
}

export class OptimisticFigures {
  readonly #chunks: FigureChunk[] = [];

  /** Memory of the cells. */
  get bytes(): number {
    return this.#chunks.length * CHUNK_CELLS * CELL_BYTES;
  }

  /** The chunk of an index, made if there is none. */
  chunk(index: number): FigureChunk {
    const number = index >>> CHUNK_SHIFT;
    while (this.#chunks.length <= number) {
      this.#chunks.push({
        // Shared memory like the chunks of the store, so it is no work for the garbage collector.
        views: viewsOf(new SharedArrayBuffer(CHUNK_CELLS * CELL_BYTES), 0, CHUNK_CELLS * CELL_BYTES),
        exposures: null,
      });
    }
    return this.#chunks[number] as FigureChunk;
  }

  /** All members of the cell become 0, and the order has no exposure. */
  clear(index: number): void {
    const { views, exposures } = this.chunk(index);
    const word = cellAt(index) >>> 2;
    views.i32.fill(0, word, word + CELL_WORDS);
    if (exposures !== null) exposures[cellOf(index)] = null;
  }
}

/** Where the cell of an index begins in its chunk, in bytes. */
function cellAt(index: number): number {
  return cellOf(index) * CELL_BYTES;
}

/** Number of the cell of an index in its chunk. */
function cellOf(index: number): number {
  return index & (CHUNK_CELLS - 1);
}

/** Exposures of a chunk that has none yet. */
function noExposures(): (OrderExposure | null)[] {
  return new Array<OrderExposure | null>(CHUNK_CELLS).fill(null);
}
