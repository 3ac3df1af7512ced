/**
 * What rollbacks by a user's own fault cost (AMB-124, MON-08): beyond a budget the user's new orders are refused for the
 * cool-down, and what rests is cancelled. A fill between two accounts of one user is no other user's loss, and does not
 * count.
 *
 *   clearing ─FillRolledBack─▶ party at fault ─▶ budget (sessions/fault-budget.ts) ─▶ cooling
 *                                                     creates: RATE_LIMITED, bucket `faults` ◀─┤
 *                              cancel-all in every market, Canceled `RateLimited`, sent once  ◀─┘
 *
 * Cancels stay possible. Markets with a full ring are tried again every turn; the users that wait for that are among
 * those that cool down, so there are no more of them than the budget remembers.
 */
import type { UserId } from '../../core/ids.ts';
import { ORDER_END, ROLLBACK_REASON_WORD } from '../../core/order-terms.ts';
import { type Reject, reject } from '../../core/reject.ts';
import { MILLISECOND_NS, type TimestampNs } from '../../core/units.ts';
import type { OrderFault } from '../orders/book/order-events.ts';
import type { UserMarginAccounts } from '../orders/margin/margin-accounts.ts';
import { FAULT_RULE, FaultBudget, type FaultSettings } from '../sessions/fault-budget.ts';
import type { UserLimits } from '../sessions/user-limits.ts';
import type { OrderCancels } from './order-cancels.ts';

interface FaultCooldownParts {
  readonly nowNs: () => TimestampNs;
  readonly limits: Pick<UserLimits, 'tierOf'>;
  readonly accounts: Pick<UserMarginAccounts, 'pricedSinceMatch'>;
  readonly cancels: Pick<OrderCancels, 'cancelAll'>;
  readonly counted: FaultCounters;
}

/** What operators count and read. */
export interface FaultCounters {
  /** @param reason the rollback reason; only of rollbacks that count. */
  readonly fault: (reason: string) => void;
  /** One log line: the user and the settings that were exceeded. */
  readonly cooldown: (user: UserId, settings: FaultSettings) => void;
}

export class FaultCooldowns {
  readonly #parts: FaultCooldownParts;
  readonly #budget = new FaultBudget();
  /** Users with orders that are not cancelled yet. */
  readonly #toCancel = new Set<UserId>();

  constructor(parts: FaultCooldownParts) {
    this.#parts = parts;
  }

  set settings(settings: FaultSettings) {
    this.#budget.settings = settings;
  }

  /** Users with orders that wait for a full ring. */
  get size(): number {
    return this.#toCancel.size;
  }

  /** A fill of the user was rolled back, and its order was at fault. */
  rolledBack(fault: OrderFault): void {
    const { nowNs, limits, accounts, counted } = this.#parts;
    const { user, other, reason, isNewOrder } = fault;
    // mutant: own-accounts-at-fault
    if (other === user) return;
    const rule = FAULT_RULE[reason];
    if (rule === 'never') return;
    if (rule === 'unlessPriceMoved' && (fault.wasUndone || accounts.pricedSinceMatch(fault))) return;
    // mutant: cap-of-others
    if (rule === 'unlessForOthers' && fault.isForOthers) return;
    counted.fault(ROLLBACK_REASON_WORD[reason] ?? '');
    if (!this.#budget.fault(user, limits.tierOf(user) === 'marketMaker', nowNs(), isNewOrder)) return;
    counted.cooldown(user, this.#budget.settings);
    this.#toCancel.add(user);
  }

  /** @returns RATE_LIMITED for a new order of a user who cools down, or null. */
  refusalOf(user: UserId): Reject | null {
    if (this.#budget.isEmpty) return null;
    const leftNs = this.#budget.coolsForNs(user, this.#parts.nowNs());
    if (leftNs === 0n) return null;
    return {
      ...reject(
        'RATE_LIMITED',
        'too many of your fills were rolled back by your fault; new orders are refused for a while',
      ),
      details: {
        bucket: 'faults',
        units_asked: '1',
        units_available: '0',
        retry_after_ms: Number((leftNs + MILLISECOND_NS - 1n) / MILLISECOND_NS),
      },
    };
  }

  /** Every turn. */
  sendWaiting(): void {
    for (const user of this.#toCancel) {
      const request = { user, assetId: null, beforeNs: null, end: ORDER_END.rateLimited };
      if (this.#parts.cancels.cancelAll(request) === null) this.#toCancel.delete(user);
    }
  }
}
