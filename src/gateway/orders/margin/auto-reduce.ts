/**
 * Accounts with a negative capacity, and the reduction of their orders (AR-01 to AR-06, AMB-61, EX-17).
 *
 *   price, position, order ─▶ capacity < 0 ─▶ plan ─▶ replace or cancel, made by the node ─▶ market ─▶ Replaced, Canceled
 *                                 ▲             ▲ not enough in one look: the next one goes on          │
 *                                 │             └──────────────────────────────────────────────────────┤
 *                                 └────────────────── cooldown of the sub-account ◀────────────────────┘
 *
 * Exempt: market makers; orders as in reduction-plan.ts; after a start, accounts until each of their assets has had a new
 * price (AMB-110).
 *
 * Checked in rounds, a bounded number of accounts and orders a time, as the gateway does nothing else meanwhile. An account
 * that has more to reduce than that is checked again in the next round: what was sent counts as reduced, and the rest is
 * planned by what is known then. Its cooldown begins with the first of them. Not here: the messages (src/node).
 */
import type { Side } from '../../../core/order-terms.ts';
import type { TimestampNs } from '../../../core/units.ts';
import type { ExposureEntry } from '../../../risk/exposure-queue.ts';
import type { Accounts } from '../balances/accounts.ts';
import type { LiveOrders } from '../book/live-orders.ts';
import type { OrderSettings } from '../settings.ts';
import type { MarginAccount } from './margin-account.ts';
import type { MarginAccounts } from './margin-accounts.ts';
import { planReductions, type Reduction, type Sent } from './reduction-plan.ts';

/** Accounts that one check passes, and those of them with a computed capacity. */
const PASSED_MAX = 1_024;
const WORKED_OUT_MAX = 64;
/** Orders that one check reduces, and planned orders after which it leaves the other accounts to the next. */
export const REDUCED_MAX = 1_024;
const PLANNED_OVER_MAX = 4_096;

/** Sends a reduction to the market; false: the ring is full, nothing was done. */
export type Reduce = (reduction: Reduction) => boolean;

export interface AutoReduceParts {
  readonly orders: LiveOrders;
  readonly reduce: Reduce;
}

/** Reductions of one side that exceed one check. */
interface Unfinished {
  readonly side: Side;
  /** By the exposure entry of the order, the requested total. */
  readonly sent: Map<ExposureEntry, number>;
}

/** Of an account with orders: the time of its last check, and the end of its cooldown. */
interface Watched {
  version: number;
  isExempt: boolean;
  cooldownEndNs: bigint;
  unfinished: Unfinished | null;
}

const NOTHING_SENT: Sent = new Map();

export class AutoReduce {
  readonly #accounts: Accounts;
  readonly #margins: MarginAccounts;
  readonly #orders: LiveOrders;
  readonly #reduce: Reduce;
  readonly #watched = new Map<MarginAccount, Watched>();
  /** Of the work of one check. */
  readonly #left = { reduced: 0, plannedOver: 0 };
  #round: Iterator<MarginAccount> = [].values();

  constructor(accounts: Accounts, margins: MarginAccounts, { orders, reduce }: AutoReduceParts) {
    this.#orders = orders;
    this.#accounts = accounts;
    this.#margins = margins;
    this.#reduce = reduce;
  }

  /**
   * Every turn. The caller has brought the asset assets up to `nowNs`.
   *
   * @returns whether it could not finish: the next turn should not wait for something to happen.
   */
  look(settings: OrderSettings, nowNs: TimestampNs): boolean {
    this.#left.reduced = REDUCED_MAX;
    this.#left.plannedOver = PLANNED_OVER_MAX;
    if (!settings.autoReduces || this.#margins.withOrders.size === 0) return false;
    const most = Math.min(PASSED_MAX, this.#margins.withOrders.size);
    let workedOut = 0;
    for (let passed = 0; passed < most && workedOut < WORKED_OUT_MAX; passed += 1) {
      const account = this.#next();
      if (account !== null && this.#lookAt(account, settings, nowNs)) workedOut += 1;
      if (this.#left.reduced <= 0 || this.#left.plannedOver <= 0) return true;
    }
    return false;
  }

  /** In rounds; null at the end of a round. */
  #next(): MarginAccount | null {
    const next = this.#round.next();
    if (next.done !== true) return next.value;
    this.#round = this.#margins.withOrders.values();
    const first = this.#round.next();
    return first.done === true ? null : first.value;
  }

  /** @returns whether there was something to work out. */
  #lookAt(account: MarginAccount, { autoReduceCooldownNs }: OrderSettings, nowNs: TimestampNs): boolean {
    if (!account.hasOrders) {
      this.#margins.withOrders.delete(account);
      this.#watched.delete(account);
      return false;
    }
    const watched = this.#watched.get(account) ?? newWatched();
    const { version } = account;
    const isExempt = this.#accounts.isMarketMaker(account.user);
    const isSeen = watched.version === version && watched.isExempt === isExempt;
    if (isSeen || (nowNs < watched.cooldownEndNs && watched.unfinished === null)) return false;
    if (account.awaitsPrice) return true;
    watched.isExempt = isExempt;
    this.#watched.set(account, watched);
    if (isExempt || account.capacity() >= 0n) {
      watched.version = version;
      watched.unfinished = null;
      return true;
    }
    if (this.#reduceOrders(account, watched)) watched.cooldownEndNs = nowNs + autoReduceCooldownNs;
    return true;
  }

  /** @returns whether a cooldown begins. */
  #reduceOrders(account: MarginAccount, watched: Watched): boolean {
    const { version } = account;
    const { unfinished } = watched;
    const parts = { orders: this.#orders, assets: this.#margins.assets, sent: unfinished?.sent ?? NOTHING_SENT };
    const plan = planReductions(account, parts, this.#left.reduced);
    this.#left.plannedOver -= plan.candidates;
    watched.unfinished = null;
    if (unfinished !== null && unfinished.side !== plan.side) return false;
    const sent = unfinished?.sent ?? new Map<ExposureEntry, number>();
    const isSent = plan.reductions.every((reduction) => {
      sent.set(reduction.entry, reduction.total);
      return this.#reduce(reduction);
    });
    this.#left.reduced -= plan.reductions.length;
    if (plan.isCut && isSent) watched.unfinished = { side: plan.side, sent };
    else if (plan.reductions.length === 0 && isSent) watched.version = version;
    return plan.reductions.length > 0 && unfinished === null;
  }
}

function newWatched(): Watched {
  return { version: -1, isExempt: false, cooldownEndNs: 0n, unfinished: null };
}
