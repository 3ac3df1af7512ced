/**
 * Cancels that a user ordered in advance: of what a connection leaves behind, and of everything when the user does not
 * come back in time (docs/trading.md).
 *
 *   connection ends ─▶ its unfinished orders ─┐
 *   timer is over ──▶ all orders of the user ─┴─▶ room in the rings? ─▶ sent; nobody waits for the answers
 *                                                   └─ no: waits here and is tried every turn
 *
 * Invariant: nothing that waits is ever dropped. Bounded by the orders of the connections and by the timers; an order
 * that has finished meanwhile costs one refused cancel.
 */
import type { UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Lifeline } from '../edge/oms-backend.ts';
import type { OrderManager } from '../orders/order-manager.ts';
import type { PreparedCancel } from '../orders/prepared.ts';
import { DeadManTimers } from '../sessions/dead-man-timers.ts';
import type { BulkCancels } from './bulk-cancels.ts';

const TOO_MANY = reject('SERVICE_UNAVAILABLE', 'too many timers run, try again');
const NS_PER_MS = 1_000_000n;

export interface SafetyCancelParts {
  readonly orders: Pick<OrderManager, 'tiedOrders'>;
  readonly bulk: Pick<BulkCancels, 'cancelSome' | 'cancelAll'>;
  readonly nowNs: () => TimestampNs;
}

export class SafetyCancels {
  private readonly parts: SafetyCancelParts;
  private readonly timers = new DeadManTimers();
  private tied: readonly PreparedCancel[] = [];

  constructor(parts: SafetyCancelParts) {
    this.parts = parts;
  }

  /** What has found no room yet: cancels, and users whose timer is over. */
  get size(): number {
    return this.tied.length + this.timers.dueCount;
  }

  /** What of the connection is still between its signature and its market stays behind from now on. */
  cut(user: UserId, lifeline: Lifeline): void {
    lifeline.isCut = true;
    this.tied = [...this.tied, ...this.parts.orders.tiedOrders(user, lifeline.connection)];
    this.sendWaiting();
  }

  /**
   * Starts the user's timer, or starts it again.
   *
   * @param timeoutMs 0 disarms.
   * @returns when everything will be cancelled, null for never; rejects SERVICE_UNAVAILABLE, the timer as it was.
   */
  cancelAllAfter(user: UserId, timeoutMs: number): Outcome<TimestampNs | null> {
    if (timeoutMs === 0) {
      this.timers.disarm(user);
      return accepted(null);
    }
    const firesAtNs = (this.parts.nowNs() + BigInt(timeoutMs) * NS_PER_MS) as TimestampNs;
    return this.timers.arm(user, firesAtNs) ? accepted(firesAtNs) : rejected(TOO_MANY);
  }

  /** To be called every turn and every tick. */
  sendWaiting(): void {
    if (this.tied.length > 0) this.tied = this.parts.bulk.cancelSome(this.tied);
    for (const user of this.timers.due(this.parts.nowNs())) {
      const refusal = this.parts.bulk.cancelAll({ user, assetId: null, beforeNs: null });
      if (refusal === null) this.timers.done(user);
    }
  }
}
