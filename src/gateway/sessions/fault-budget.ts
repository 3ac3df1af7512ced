/**
 * Rollbacks by a user's own fault, counted per user in a sliding window (AMB-124). Beyond a budget the user's new orders are
 * refused for a cool-down: fills that clearing refuses cost their counterparties and the node, and their user nothing.
 *
 *   fault ─▶ does its reason count? ─▶ more than the budget in the window? ─▶ cooling for the cool-down, counted anew then
 *
 * What no user can avoid does not count (`FAULT_RULE`). Faults while cooling do not either: they come from orders that were
 * let in before.
 *
 * Bounded: only users with a fault in the last window or cool-down have an entry, with as many times as their budget has
 * faults, and one more; at most `usersMax`, of which the one whose last fault is the oldest is forgotten. In memory only: a
 * restart begins with nothing, as budgets of requests do (LIM-18).
 *
 * Not here: what happens to the orders of a user who cools down (node/fault-cooldowns.ts).
 */
import type { UserId } from '../../core/ids.ts';
import { LinkedList, ListEntry } from '../../core/linked-list.ts';
import { ROLLBACK_REASON, type RollbackReason } from '../../core/order-terms.ts';
import { SECOND_NS, type TimestampNs } from '../../core/units.ts';

/**
 * Whether a rollback counts for the party that it names at fault, by its reason: always, never, or unless an oracle or mark
 * price of its asset, or of anything else in the account, came between match and decision. Every reason stands here.
 */
const RULES = {
  /** Not at fault. */
  [ROLLBACK_REASON.none]: 'never',
  /** The order was covered when it was let in; a price that moves meanwhile uncovers it without anybody's doing. */
  [ROLLBACK_REASON.insufficientMargin]: 'unlessPriceMoved',
  /** All that is spent is reserved before. */
  [ROLLBACK_REASON.insufficientInventory]: 'always',
  /** A stale oracle or an open breaker. */
  [ROLLBACK_REASON.pricingFailure]: 'never',
  /** Caps are checked before an order is let in; who fills one up to its edge meets it. */
  [ROLLBACK_REASON.protocolCapBreach]: 'unlessPriceMoved',
  [ROLLBACK_REASON.invalidSignature]: 'always',
  [ROLLBACK_REASON.invalidOrder]: 'always',
  [ROLLBACK_REASON.overfill]: 'always',
  /** Nobody's fault (AMB-33). */
  [ROLLBACK_REASON.staleMatch]: 'never',
  [ROLLBACK_REASON.reduceOnlyViolation]: 'always',
  /** The other party's. */
  [ROLLBACK_REASON.counterpartyAtFault]: 'never',
} as const;
export const FAULT_RULE: Readonly<Record<RollbackReason, 'always' | 'never' | 'unlessPriceMoved'>> = RULES;

export interface FaultSettings {
  /** Faults that a window may have. */
  readonly budget: number;
  readonly budgetMarketMaker: number;
  readonly windowNs: bigint;
  readonly cooldownNs: bigint;
}

/** AMB-124. */
export const DEFAULT_FAULTS: FaultSettings = {
  budget: 20,
  budgetMarketMaker: 200,
  windowNs: 60n * SECOND_NS,
  cooldownNs: 60n * SECOND_NS,
};

const USERS_MAX = 65_536;

interface Entry {
  readonly user: UserId;
  /** Of faults, the oldest first; those before `from` have left the window. */
  times: bigint[];
  from: number;
  lastNs: bigint;
  /** 0n: not cooling. */
  coolsUntilNs: bigint;
}

export class FaultBudget {
  settings: FaultSettings = DEFAULT_FAULTS;
  readonly #usersMax: number;
  readonly #entries = new Map<UserId, ListEntry<Entry>>();
  /** By their last fault, the oldest first. */
  readonly #byLast = new LinkedList<Entry>();

  constructor(usersMax: number = USERS_MAX) {
    this.#usersMax = usersMax;
  }

  /** Users with a recent fault. */
  get userCount(): number {
    return this.#entries.size;
  }

  /** One fault that counts. @returns whether the user begins to cool down with it. */
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

  /** How long the user's new orders are refused, in nanoseconds from now; 0n: they are not. */
  coolsForNs(user: UserId, now: TimestampNs): bigint {
    if (this.#entries.size === 0) return 0n;
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

  /** Those without a recent fault, two at most as one came; or the oldest, if there are too many. */
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

/** Each time is passed once, and moved once at most. */
function dropBefore(entry: Entry, startNs: bigint): void {
  const { times } = entry;
  while (entry.from < times.length && (times[entry.from] as bigint) <= startNs) entry.from += 1;
  if (entry.from * 2 < times.length) return;
  entry.times = times.slice(entry.from);
  entry.from = 0;
}
