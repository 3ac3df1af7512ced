/**
 * Groups of one user's orders: a group is a market and a sub-account in which the user has had an order. Each counts the
 * user's unfinished orders in it: bounds (AMB-124) and the markets of a cancel of all follow from it, and an entry of a page
 * list names its group (page-list.ts).
 *
 * Most users have a few groups: they are searched in an array, and by a map from `FEW_GROUPS` groups on.
 *
 * Invariant: `total` is the sum of the counts of all groups.
 *
 * Not here: which orders are unfinished (live-orders.ts).
 */
import { assert } from '../../../core/assert.ts';

/** What decides on an order's group. */
interface Grouped {
  readonly marketIndex: number;
  readonly subAccount: number;
}

/** Which groups are meant. */
export interface GroupFilter {
  /** Null: all of them. */
  readonly marketIndex: number | null;
  readonly subAccounts: readonly number[] | null;
}

/** Numbers of sub-accounts have 16 bits. */
const SUB_ACCOUNTS = 65_536;
const FEW_GROUPS = 8;

export class OrderGroups {
  /** By number of the group: its key, and its unfinished orders. */
  readonly #keys: number[] = [];
  readonly #open: number[] = [];
  /** By key; null while a look through all groups is as fast. */
  #numbers: Map<number, number> | null = null;
  #total = 0;

  get count(): number {
    return this.#keys.length;
  }

  /** Unfinished orders of all groups. */
  get openTotal(): number {
    return this.#total;
  }

  /** Unfinished orders of a group. */
  openIn(marketIndex: number, subAccount: number): number {
    return this.#open[this.#find(keyOf(marketIndex, subAccount))] ?? 0;
  }

  /** Markets with an unfinished order, ascending. */
  openMarkets(): readonly number[] {
    return [...this.markets((group) => (this.#open[group] as number) > 0)].sort((a, b) => a - b);
  }

  /** Markets of the groups that the predicate takes, each once. */
  markets(takes: (group: number) => boolean): readonly number[] {
    return [...new Set([...this.#keys.keys()].filter(takes).map((group) => this.#marketOf(group)))];
  }

  /** Whether the filter takes orders of the group. */
  isMeant(group: number, { marketIndex, subAccounts }: GroupFilter): boolean {
    if (marketIndex !== null && marketIndex !== this.#marketOf(group)) return false;
    return subAccounts === null || subAccounts.includes((this.#keys[group] as number) % SUB_ACCOUNTS);
  }

  /** The number of an order's group, which is new if the order is the first in it. */
  numberOf({ marketIndex, subAccount }: Grouped): number {
    const key = keyOf(marketIndex, subAccount);
    const known = this.#find(key);
    if (known >= 0) return known;
    const number = this.#keys.length;
    this.#keys.push(key);
    this.#open.push(0);
    if (number === FEW_GROUPS) this.#numbers = new Map(this.#keys.map((each, at) => [each, at]));
    else this.#numbers?.set(key, number);
    return number;
  }

  /** The order is one more unfinished one of its group (1), or one less (-1); or so many more or less are. */
  changeOpen(order: Grouped, change: number): void {
    const group = this.numberOf(order);
    const count = (this.#open[group] as number) + change;
    assert(count >= 0, 'open orders are never negative');
    this.#open[group] = count;
    this.#total += change;
  }

  #marketOf(group: number): number {
    return Math.floor((this.#keys[group] as number) / SUB_ACCOUNTS);
  }

  /** -1 when there is none. */
  #find(key: number): number {
    return this.#numbers === null ? this.#keys.indexOf(key) : (this.#numbers.get(key) ?? -1);
  }
}

function keyOf(marketIndex: number, subAccount: number): number {
  return marketIndex * SUB_ACCOUNTS + subAccount;
}
