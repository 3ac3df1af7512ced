/**
 * Balances in which open orders hold more than is owned after a booking, and the orders that are cancelled for it, the
 * youngest first, until the rest fits (AMB-112). No race leads there, as all that is spent is reserved first: it follows
 * from what reserves nothing, as money that an operator takes back, or a taker fee that was raised.
 *
 *   balance booked ─▶ held + pending > owned ─▶ all that clearing decided was received of the markets too, and still so
 *     ─▶ youngest orders that suffice ─▶ cancels made by the node ─▶ market ─▶ Canceled MarginInsufficient
 *
 * A balance may come before the match that it contains, as the two are received over rings of their own: it is judged when
 * every market was received as far as clearing had decided. A market may be ahead, too: of a fill that was rolled back it
 * has matched the lots again before the rollback is received here. So it waits until no fill of the balance is undecided.
 * An order that the market has not answered is waited for, not passed over: it is the youngest. What a user's margin
 * orders press is not here but in reductions.ts.
 *
 * Bounded: a look walks the orders of `WALKED_MAX` users, once each, and cancels `CANCELS_MAX` orders of each; what is left
 * is for a look when those are over. The table holds a balance only while its orders hold too much.
 */
import type { UserId } from '../../../core/ids.ts';
import type { LiveOrder } from '../book/live-order.ts';
import { type Balance, excessOf } from './balance.ts';
import { holdFor, isOver } from './spending.ts';

/** Cancels of one balance, and balances with a walk of their orders in one check. */
const CANCELS_MAX = 64;
const WALKED_MAX = 4;

/** Sends the cancel of an order to its market; false: the ring is full, nothing was done. */
type CancelUncovered = (order: LiveOrder) => boolean;

/** A balance, and the orders with an expected event, before which it is not checked again. */
interface Uncovered {
  readonly user: UserId;
  /** The whole of what was decided with the booking was received from clearing. */
  isFlushed: boolean;
  waitsFor: readonly LiveOrder[];
}

export class UncoveredHolds {
  readonly #ordersOf: (user: UserId) => Iterable<LiveOrder>;
  readonly #cancel: CancelUncovered;
  readonly #balances = new Map<Balance, Uncovered>();

  /** @param ordersOf all orders of a user that are in memory. */
  constructor(ordersOf: (user: UserId) => Iterable<LiveOrder>, cancel: CancelUncovered) {
    this.#ordersOf = ordersOf;
    this.#cancel = cancel;
  }

  /** Clearing has booked a change of the balance. */
  booked(user: UserId, balance: Balance): void {
    if (excessOf(balance) <= 0n || this.#balances.has(balance)) return;
    this.#balances.set(balance, { user, isFlushed: false, waitsFor: [] });
  }

  /** Clearing has published all that it decided up to here. */
  flushed(): void {
    for (const uncovered of this.#balances.values()) uncovered.isFlushed = true;
  }

  /** The order leaves memory: there is no message on it to wait for. */
  leaving({ index }: LiveOrder): void {
    for (const uncovered of this.#balances.values()) {
      uncovered.waitsFor = uncovered.waitsFor.filter((order) => order.index !== index);
    }
  }

  get isEmpty(): boolean {
    return this.#balances.size === 0;
  }

  /**
   * Every turn in which all markets were received as far as clearing has decided.
   *
   * @returns whether there is more to do that waits for nothing.
   */
  look(): boolean {
    let walked = 0;
    for (const [balance, uncovered] of this.#balances) {
      if (excessOf(balance) <= 0n) {
        this.#balances.delete(balance);
        continue;
      }
      if (!uncovered.isFlushed || balance.pending > 0n || uncovered.waitsFor.some(isAwaited)) continue;
      if (walked === WALKED_MAX) return true;
      walked += 1;
      this.#cancelYoungest(balance, uncovered);
    }
    return false;
  }

  #cancelYoungest(balance: Balance, uncovered: Uncovered): void {
    let excess = excessOf(balance);
    const waitsFor: LiveOrder[] = [];
    for (const order of youngestFirst(this.#ordersOf(uncovered.user), balance)) {
      if (excess <= 0n) break;
      waitsFor.push(order);
      if (order.sequence === 0 || !this.#cancel(order)) break;
      excess -= holdFor(order, order.spend);
    }
    uncovered.waitsFor = waitsFor;
    if (waitsFor.length === 0) this.#balances.delete(balance);
  }
}

/** Whether an expected event of its market may change its hold. */
function isAwaited(order: LiveOrder): boolean {
  return !isOver(order) && (order.sequence === 0 || order.requests > 0);
}

/**
 * Orders that hold a part of the balance, as many as one look may cancel. Orders that are not admitted are younger than
 * those that are; then the order of AMB-61.
 */
function youngestFirst(orders: Iterable<LiveOrder>, balance: Balance): readonly LiveOrder[] {
  const youngest: LiveOrder[] = [];
  for (const order of orders) {
    if (order.balance !== balance || order.spend === 0n) continue;
    const last = youngest.at(-1);
    if (youngest.length === CANCELS_MAX && last !== undefined && youngerFirst(order, last) >= 0) continue;
    const at = youngest.findIndex((other) => youngerFirst(order, other) < 0);
    youngest.splice(at < 0 ? youngest.length : at, 0, order);
    if (youngest.length > CANCELS_MAX) youngest.pop();
  }
  return youngest;
}

function youngerFirst(a: LiveOrder, b: LiveOrder): number {
  if ((a.sequence === 0) !== (b.sequence === 0)) return a.sequence === 0 ? -1 : 1;
  // mutant: newest-uncovered-first
  if (a.timestampNs !== b.timestampNs) return a.timestampNs > b.timestampNs ? -1 : 1;
  const [first, second] = [a.marketIndex, b.marketIndex];
  return first === second ? b.sequence - a.sequence : second - first;
}
