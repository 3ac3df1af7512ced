/**
 * Counts rollbacks by a user's own fault in a sliding window per user (AMB-124). Above a budget the user's new orders
 * are rejected for a cool-down: fills that clearing rejects cost the counterparties and the node, but not the user at
 * fault.
 *
 *   fault ─▶ does its reason count? ─▶ more than the budget in the window? ─▶ cool-down, with a new count afterwards
 *
 * Faults that a user cannot avoid do not count (`FAULT_RULE`), and neither do faults during a cool-down: they result
 * from orders accepted before it.
 *
 * Bounded: only users with a fault in the last window or cool-down have an entry, with at most one more time than their
 * budget; at most `usersMax` entries, of which the one with the oldest last fault is evicted. In memory only: a restart
 * begins empty, like the budgets of requests (LIM-18).
 *
 * The effect of a cool-down on orders is in gateway/fault-cooldowns.ts.
 */
import type { UserId } from '../../core/ids.ts';
import { LinkedList, ListEntry } from '../../core/linked-list.ts';
import { ROLLBACK_REASON, type RollbackReason } from '../../core/order-terms.ts';
import { SECOND_NS, type TimestampNs } from '../../core/units.ts';

/**
 * Whether a rollback counts for the user at fault, by its reason: always, never, or unless an oracle or mark price of
 * its asset, or of another asset in the account, changed between match and decision. Every reason is listed.
 */
const RULES = {
  /** Not at fault. */
  [ROLLBACK_REASON.none]: 'never',
  /** The order had margin when it was accepted; later price changes can remove it without the user's action. */
  [ROLLBACK_REASON.insufficientMargin]: 'unlessPriceMoved',
  /** The balance to be spent is reserved before. */
  [ROLLBACK_REASON.insufficientInventory]: 'always',
  /** A stale oracle or an open breaker. */
  [ROLLBACK_REASON.pricingFailure]: 'never',
  /** Caps are checked before an order is accepted, but a price change can push an account at its cap above it. */
  [ROLLBACK_REASON.protocolCapBreach]: 'unlessPriceMoved',
  [ROLLBACK_REASON.invalidSignature]: 'always',
  [ROLLBACK_REASON.invalidOrder]: 'always',
  [ROLLBACK_REASON.overfill]: 'always',
  /** No user's fault (AMB-33). */
  [ROLLBACK_REASON.staleMatch]: 'never',
  [ROLLBACK_REASON.reduceOnlyViolation]: 'always',
  /** The fault of the other user. */
  [ROLLBACK_REASON.counterpartyAtFault]: 'never',
} as const;
export const FAULT_RULE: Readonly<Record<RollbackReason, 'always' | 'never' | 'unlessPriceMoved'>> = RULES;

export interface FaultSettings {
  /** Faults permitted in a window. */
  readonly budget: number;
  readonly budgetMarketMaker: number;
  readonly windowNs: bigint;
  readonly cooldownNs: bigint;
}

/** AMB-124. */
const DEFAULT_FAULTS: FaultSettings = {
  budget: 20,
  budgetMarketMaker: 200,
  windowNs: 60n * SECOND_NS,
  cooldownNs: 60n * SECOND_NS,
};

const USERS_MAX = 65_536;

interface Entry {
  readonly user: UserId;
  /** Times of faults, oldest first; those before `from` have left the window. */
  times: bigint[];
  from: number;
  lastNs: bigint;
  /** 0n: no cool-down. */
  coolsUntilNs: bigint;
}

export class FaultBudget {
  settings: FaultSettings = DEFAULT_FAULTS;
  readonly #usersMax: number;
  readonly #entries = new Map<UserId, ListEntry<Entry>>();
  /** By last fault, oldest first. */
  readonly #byLast = new LinkedList<Entry>();

  constructor(usersMax: number = USERS_MAX) {
    this.#usersMax = usersMax;
  }

  /** Number of users with a recent fault. */
  get userCount(): number {
    return this.#entries.size;
  }

  /** Adds one fault that counts. @returns whether the user's cool-down begins with it. */
  fault(user: UserId, isMarketMaker: boolean, now: TimestampNs): boolean {
    const { budget, budgetMarketMaker, windowNs, cooldownNs } = this.settings;
    const entry = this.#entryOf(user);
    const own = entry.value;
    if (own.coolsUntilNs > now) return false;
    if (own.coolsUntilNs !== 0n) {
      own.coolsUntilNs = 0n;
      forgetTimes(own);
    }
    own.times.push(now);
    own.lastNs = now;
    this.#byLast.append(entry);
    dropBefore(own, now - windowNs);
    const isOver = own.times.length - own.from > (isMarketMaker ? budgetMarketMaker : budget);
    if (isOver) {
      forgetTimes(own);
      own.coolsUntilNs = now + cooldownNs;
    }
    this.#forget(now);
    return isOver;
  }

  /** No user has a fault. */
  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Remaining time for which the user's new orders are rejected, in nanoseconds; 0n: not rejected. */
  coolsForNs(user: UserId, now: TimestampNs): bigint {
    const until = this.#entries.get(user)?.value.coolsUntilNs ?? 0n;
    // mutant: fault-cool-down
    return until > now ? until - now : 0n;
  }

  #entryOf(user: UserId): ListEntry<Entry> {
    const known = this.#entries.get(user);
    if (known !== undefined) return known;
    const entry = new ListEntry<Entry>({ user, times: [], from: 0, lastNs: 0n, coolsUntilNs: 0n });
    this.#entries.set(user, entry);
    return entry;
  }

  /** Removes entries without a recent fault, at most two per added fault; or the oldest if there are too many. */
  #forget(now: TimestampNs): void {
    for (let looked = 0; looked < 2; looked += 1) {
      const oldest = this.#byLast.first;
      if (oldest === null) return;
      const isOver = oldest.lastNs + this.settings.windowNs <= now && oldest.coolsUntilNs <= now;
      if (!isOver && this.#entries.size <= this.#usersMax) return;
      const entry = this.#entries.get(oldest.user);
      if (entry !== undefined) this.#byLast.remove(entry);
      this.#entries.delete(oldest.user);
    }
  }
}

function forgetTimes(entry: Entry): void {
  entry.times = [];
  entry.from = 0;
}

/** Each time is skipped once, and moved at most once. */
function dropBefore(entry: Entry, startNs: bigint): void {
  const { times } = entry;
  while (entry.from < times.length && (times[entry.from] as bigint) <= startNs) entry.from += 1;
  if (entry.from * 2 < times.length) return;
  entry.times = times.slice(entry.from);
  entry.from = 0;
}
