/**
 * Cancels that a user arranged in advance: of the orders of a connection when it ends (cancel on disconnect), and of every
 * order when a dead-man timer is over (docs/safety.md).
 *
 *   connection ends ─▶ its unfinished orders, some a turn ─┐
 *   timer is over ──▶ all orders of the user ──────────────┴─▶ room in the rings? ─▶ sent; answers are dropped
 *                                                                └─ no: waits here and is tried every turn
 *
 * Invariant: nothing that waits is ever dropped. Bounded by the orders of the connections and by the timers; an order that
 * has ended meanwhile leaves it.
 */
import type { UserId } from '../../core/ids.ts';
import { ORDER_END } from '../../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import type { MarketSlot } from '../orders/book/markets.ts';
import type { LiveQuoteSet } from '../orders/book/quote-sets.ts';
import type { DisconnectGroup, GroupCancels } from '../orders/entry/disconnect-group.ts';
import { DeadManTimers, type TimerHolder } from '../sessions/dead-man-timers.ts';
import type { OrderCancels } from './order-cancels.ts';
import type { TimerMarks } from './timer-marks.ts';

const NOTHING_TO_CANCEL = reject(
  'INSUFFICIENT_INVENTORY',
  'a timer is for users with a balance, a position or an open order',
);
const TOO_MANY = reject('SERVICE_UNAVAILABLE', 'too many timers run, try again');
const NS_PER_MS = 1_000_000n;
/** Cancels of the orders of ended connections in one turn: about a millisecond, however many connections end at once. */
export const CANCELS_PER_TURN = 256;

interface AutomaticCancelParts {
  readonly cancels: Pick<OrderCancels, 'hasRoomForCancel' | 'sendCancel' | 'cancelAll' | 'endQuoteSet'>;
  /** The user's share of the table of timers; null: the user has nothing that could be cancelled. */
  readonly holderOf: (user: UserId) => TimerHolder | null;
  readonly nowNs: () => TimestampNs;
  readonly wakeUp: () => void;
  /** Where clearing keeps whose timers run (cluster.md 8); null or absent on one machine. */
  readonly marks?: Pick<TimerMarks, 'size' | 'set' | 'sendWaiting'> | null;
}

export class AutomaticCancels {
  readonly #parts: AutomaticCancelParts;
  readonly #timers = new DeadManTimers();
  /** By market, as a full ring must not delay the cancels of another. Within a market in the order of disconnects. */
  readonly #waiting = new Map<MarketSlot, Set<GroupCancels>>();
  /** Quote sets of ended connections. */
  readonly #endedSets = new Set<LiveQuoteSet>();

  constructor(parts: AutomaticCancelParts) {
    this.#parts = parts;
  }

  /** Cancels and expired timers that are not sent yet. */
  get size(): number {
    let size = this.#endedSets.size + this.#timers.dueCount + (this.#parts.marks?.size ?? 0);
    for (const parts of this.#waiting.values()) for (const part of parts) size += part.size;
    return size;
  }

  /** When the first timer is over; null for never. */
  get nextTimerNs(): TimestampNs | null {
    return this.#timers.firstNs;
  }

  /** The connection of this group has ended: its orders are cancelled from the next turn on. */
  connectionEnded(group: DisconnectGroup): void {
    for (const part of group.end()) {
      const parts = this.#waiting.get(part.market);
      if (parts === undefined) this.#waiting.set(part.market, new Set([part]));
      else parts.add(part);
    }
    for (const set of group.takeSets()) this.#endedSets.add(set);
    this.#parts.wakeUp();
  }

  /**
   * Starts the user's timer, or starts it again.
   *
   * @param timeoutMs 0 disarms.
   * @param stored called once, when clearing has whether a timer of the user runs: at once on one machine, and where it has it already.
   * @returns when everything will be cancelled, null for never; rejects INSUFFICIENT_INVENTORY for a user who has
   *   nothing and no timer yet, SERVICE_UNAVAILABLE, the timer as it was.
   */
  cancelAllAfter(user: UserId, timeoutMs: number, stored: (() => void) | null = null): Outcome<TimestampNs | null> {
    if (timeoutMs === 0) {
      this.#timers.disarm(user);
      this.#mark(user, stored);
      return accepted(null);
    }
    const firesAtNs = (this.#parts.nowNs() + BigInt(timeoutMs) * NS_PER_MS) as TimestampNs;
    const holder = this.#parts.holderOf(user) ?? (this.#timers.has(user) ? 'user' : null);
    if (holder === null) return rejected(NOTHING_TO_CANCEL);
    if (!this.#timers.arm(user, firesAtNs, holder)) return rejected(TOO_MANY);
    this.#mark(user, stored);
    return accepted(firesAtNs);
  }

  /** A timer that is over counts until all cancels of its user are sent. */
  #mark(user: UserId, stored: (() => void) | null): void {
    const { marks = null } = this.#parts;
    if (marks === null) stored?.();
    else marks.set(user, this.#timers.has(user) || this.#timers.isDue(user), stored);
  }

  /** To be called every turn and every tick. */
  sendWaiting(): void {
    for (const set of this.#endedSets) {
      // mutant: set-of-another-connection
      if (set.isHeldBy('ended')) {
        if (!this.#parts.cancels.endQuoteSet(set, ORDER_END.userRequested)) break;
        this.#endedSets.delete(set);
      } else if (!set.mayBeHeldBy('ended')) this.#endedSets.delete(set);
      // Else a newer revision of another connection is on its way: if its market refuses it, the set ends.
    }
    if (this.#waiting.size > 0) this.#sendGroups();
    for (const user of this.#timers.due(this.#parts.nowNs())) {
      const refusal = this.#parts.cancels.cancelAll({ user, assetId: null, beforeNs: null });
      if (refusal !== null) continue;
      this.#timers.done(user);
      this.#mark(user, null);
    }
    this.#parts.marks?.sendWaiting();
  }

  /** Sends groups in rotation, one market after the other. */
  #sendGroups(): void {
    const share = Math.ceil(CANCELS_PER_TURN / this.#waiting.size);
    let sent = 0;
    for (const [market, parts] of this.#waiting) sent += this.#sendSome(market, parts, share);
    // Where nothing was sent a wake-up would keep the loop busy until a ring has space.
    if (sent > 0) this.#parts.wakeUp();
  }

  /** @returns how many were sent, at most `max`. */
  #sendSome(market: MarketSlot, parts: Set<GroupCancels>, max: number): number {
    const { cancels } = this.#parts;
    let sent = 0;
    for (const part of parts) {
      for (; part.size > 0; sent += 1) {
        if (sent === max || !cancels.hasRoomForCancel(market)) return sent;
        const { user, orderId } = part.take();
        cancels.sendCancel({ kind: 'cancel', market, user, orderId });
      }
      parts.delete(part);
    }
    this.#waiting.delete(market);
    return sent;
  }
}
