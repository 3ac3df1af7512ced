/**
 * Clears an account in liquidation of its open orders: in every market, those that rest, that wait for a trigger, and those
 * on their way to the market (LIQ-04, AMB-57). Orders of the node stay.
 *
 *   cancelAccount ─▶ walk of the user's orders, youngest first, some a turn ─▶ cancels made by the node ─▶ markets
 *                                                                                                             │
 *   accountCleared ◀─ clearing has decided these markets so far ◀─ every cancel answered, markets read so far ◀┘
 *
 * A cancel that finds its order in the book ends it; one that finds all of it matched keeps it from coming back; one that
 * finds it ended is refused. So when all cancels are answered nothing of these orders lives, and no message about them but
 * the decisions of clearing follows what was received of their markets. A child is younger than its parent and therefore
 * cancelled before it.
 *
 * Orders that come after the request are not part of it: of an account in liquidation these are reducing ones.
 *
 * Quote sets of the account are ended first, also those that are on their way: nothing of them rests behind that (QTE-09).
 *
 * Bounded: `VISITED_PER_TURN` orders and accounts a turn and `IN_FLIGHT_MAX` commands without an answer, whatever is to be
 * cleared; nothing is dropped when a ring is full.
 */
import { ORDER_FLAG } from '../../../core/order-terms.ts';
import type { Sequence } from '../../../core/units.ts';
import type { LiveOrder } from '../book/live-order.ts';
import type { LiveOrders, Pin } from '../book/live-orders.ts';
import type { MarketSlot } from '../book/markets.ts';
import type { ClearedAccount } from '../book/order-events.ts';
import type { LiveQuoteSet } from '../book/quote-sets.ts';
import type { ReduceRequest } from './pending-requests.ts';

/** Orders and accounts of one turn: less than a millisecond. */
export const VISITED_PER_TURN = 512;
/** Commands of the node without an answer, beyond which no cancel is sent: users' requests share the table with them. */
export const IN_FLIGHT_MAX = 8_192;

type Account = Pick<ClearedAccount, 'user' | 'subAccount'>;

interface AccountCancelParts {
  readonly orders: Pick<LiveOrders, 'addedBy' | 'isReachedById' | 'pin' | 'unpin'>;
  /** Sends the cancel of an order; false: the ring is full, nothing was done. */
  readonly cancel: (order: LiveOrder, clearing: NonNullable<ReduceRequest['clearing']>) => boolean;
  /** Commands of the node that their markets have not answered. */
  readonly inFlight: () => number;
  readonly cleared: (account: ClearedAccount) => void;
  /** Quote sets of the account: also those of which nothing rests yet, as they may be on their way. */
  readonly setsOf: (account: Account) => readonly LiveQuoteSet[];
  /** Sends the end of a set; false: the ring is full, nothing was done. */
  readonly endSet: (set: LiveQuoteSet, clearing: NonNullable<ReduceRequest['clearing']>) => boolean;
}

/** How far clearing has to decide a market. */
interface Awaited {
  readonly market: MarketSlot;
  readonly sequence: Sequence;
}

/** One account that is being cleared. */
class Clearing {
  readonly account: Account;
  /** Held until every order was visited. */
  readonly pin: Pin;
  /** The next order; null: all were visited. */
  order: LiveOrder | null;
  /** Quote sets that are not ended yet. */
  readonly sets: LiveQuoteSet[];
  /** Cancels without an answer of their market. */
  unanswered = 0;
  /** Markets in which the account has orders in memory. */
  readonly markets: Set<MarketSlot> = new Set();
  /** Set when all cancels are answered. */
  awaited: readonly Awaited[] | null = null;
  readonly #walk: Iterator<LiveOrder, void>;

  constructor(account: Account, walk: Iterator<LiveOrder, void>, pin: Pin, sets: readonly LiveQuoteSet[]) {
    this.account = account;
    this.sets = [...sets];
    this.pin = pin;
    this.#walk = walk;
    this.order = walk.next().value ?? null;
  }

  get key(): string {
    return keyOf(this.account);
  }

  goOn(): void {
    this.order = this.#walk.next().value ?? null;
  }

  answered(): void {
    this.unanswered -= 1;
  }

  /** Whether nothing lives and everything is decided. */
  isDone(): boolean {
    if (this.order !== null || this.sets.length > 0 || this.unanswered > 0) return false;
    this.awaited ??= [...this.markets].map((market) => ({ market, sequence: market.seenSequence as Sequence }));
    // mutant: cleared-after-decisions
    return this.awaited.every(({ market, sequence }) => market.decidedSequence >= sequence);
  }
}

export class AccountCancels {
  readonly #parts: AccountCancelParts;
  readonly #clearings = new Map<string, Clearing>();
  /** Accounts with orders to visit, and accounts without; one that had its turn goes behind the others. */
  readonly #walking = new Set<Clearing>();
  readonly #awaiting = new Set<Clearing>();
  readonly #requested: Account[] = [];
  #isRestored = false;

  constructor(parts: AccountCancelParts) {
    this.#parts = parts;
  }

  /** Accounts that are not cleared yet. */
  get size(): number {
    return this.#clearings.size + this.#requested.length;
  }

  /** How many of them wait for a turn or a ring, not for a market or for clearing. */
  get waiting(): number {
    let waiting = this.#requested.length + this.#walking.size;
    for (const clearing of this.#awaiting) if (clearing.isDone()) waiting += 1;
    return waiting;
  }

  /** Every order of a start is in memory: accounts are known whole from now on. */
  restored(): void {
    this.#isRestored = true;
    for (const account of this.#requested.splice(0)) this.begin(account);
  }

  /** Clears the account of the orders that it has now. One that is being cleared begins again. */
  begin({ user, subAccount }: Account): void {
    if (!this.#isRestored) {
      this.#requested.push({ user, subAccount });
      return;
    }
    const { orders } = this.#parts;
    const account = { user, subAccount };
    const known = this.#clearings.get(keyOf(account));
    if (known !== undefined) this.#forget(known);
    // Before the walk begins: it stands on an order.
    const pin = orders.pin();
    const clearing = new Clearing(account, orders.addedBy(user), pin, this.#parts.setsOf(account));
    this.#clearings.set(clearing.key, clearing);
    this.#walking.add(clearing);
  }

  /**
   * To be called every turn and every tick.
   *
   * @returns whether there is more to do that waits for no message and no ring.
   */
  sendSome(): boolean {
    let left = Math.min(VISITED_PER_TURN, IN_FLIGHT_MAX - this.#parts.inFlight());
    let hasMoved = false;
    for (const clearing of firstOf(this.#walking, Math.max(0, left))) {
      if (left <= 0) break;
      const visited = this.#visitSome(clearing, left);
      if (visited > 0) hasMoved = true;
      left -= visited + 1;
      if (clearing.order === null && clearing.sets.length === 0) this.#await(clearing);
      else toTheEnd(this.#walking, clearing);
    }
    for (const clearing of firstOf(this.#awaiting, VISITED_PER_TURN)) {
      if (clearing.isDone()) this.#finish(clearing);
      else toTheEnd(this.#awaiting, clearing);
    }
    return hasMoved && this.#walking.size > 0;
  }

  /** @returns orders that were visited. */
  #visitSome(clearing: Clearing, most: number): number {
    let visited = 0;
    // First the sets: what of them is on its way is ended behind them.
    for (; visited < most; visited += 1) {
      const set = clearing.sets.at(-1);
      if (set === undefined) break;
      if (!this.#parts.endSet(set, clearing)) return visited;
      clearing.markets.add(set.market);
      clearing.unanswered += 1;
      clearing.sets.pop();
    }
    for (; visited < most && clearing.order !== null; visited += 1) {
      if (!this.#visit(clearing, clearing.order)) break;
      clearing.goOn();
    }
    return visited;
  }

  /** @returns false: the order has to be visited again. */
  #visit(clearing: Clearing, order: LiveOrder): boolean {
    const { orders, cancel } = this.#parts;
    if (order.subAccount !== clearing.account.subAccount) return true;
    clearing.markets.add(order.market);
    if (!mayMatch(order)) return true;
    if (!orders.isReachedById(order) || !cancel(order, clearing)) return false;
    clearing.unanswered += 1;
    return true;
  }

  /** All orders were visited: what leaves memory from now on may go. */
  #await(clearing: Clearing): void {
    this.#walking.delete(clearing);
    this.#awaiting.add(clearing);
    this.#parts.orders.unpin(clearing.pin);
  }

  #finish(clearing: Clearing): void {
    this.#forget(clearing);
    const { account, awaited } = clearing;
    const through = (awaited ?? []).map(({ market, sequence }) => {
      return { marketIndex: market.definition.marketIndex, sequence };
    });
    this.#parts.cleared({ ...account, through });
  }

  #forget(clearing: Clearing): void {
    this.#clearings.delete(clearing.key);
    this.#awaiting.delete(clearing);
    if (this.#walking.delete(clearing)) this.#parts.orders.unpin(clearing.pin);
  }
}

function keyOf({ user, subAccount }: Account): string {
  return `${user} ${subAccount}`;
}

/** At most so many of a set, which may change meanwhile. */
function firstOf<T>(all: ReadonlySet<T>, most: number): readonly T[] {
  const first: T[] = [];
  for (const one of all) {
    if (first.length === most) break;
    first.push(one);
  }
  return first;
}

function toTheEnd<T>(all: Set<T>, one: T): void {
  all.delete(one);
  all.add(one);
}

/** Whether a part of it may still match, as far as is known here, and it is no order of the node. */
function mayMatch(order: LiveOrder): boolean {
  if ((order.flags & ORDER_FLAG.nodeMade) !== 0) return false;
  return !order.isClosed && order.end === 0 && !order.isCancelPending && !order.isSpent;
}
