/**
 * Spot balances as pre-flight sees them, and what is set aside from each (AMB-52, AMB-112).
 *
 *   available = owned − held − pending − settling
 *
 *   owned      clearing's flushed word; withdrawal and settlement locks have left it (AMB-72)
 *   held       what live orders, and orders on their way to the market, may still spend
 *   pending    what fills will really cost that clearing has not decided
 *   settling   the same for fills that are confirmed, until the balance that contains them arrives
 *
 *   order ──match──▶ pending ──confirmed──▶ settling ──balance──▶ (owned is lower)
 *     ▲                 └──────rolled back──▶ nothing, or the order's hold again
 *
 * Invariants
 *   (1) held = the sum of the holds of all orders that spend from the balance; pending likewise of undecided fills.
 *   (2) held, pending, settling ≥ 0.
 *   (3) An order is let through only if its hold fits into what is available.
 *
 * Available may fall below zero later: a rollback gives an order its hold back, a price improvement having been spent.
 * Then nothing more is let through until it is positive again.
 *
 * Not here: which orders live (live-orders.ts) and what they need (needs.ts).
 */
import { assert } from '../core/assert.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import { type Amount18, ZERO_18 } from '../core/units.ts';

/** One spot balance: (user, sub-account, asset). Changed only by `Holds`. */
export interface Balance {
  readonly subAccount: number;
  readonly asset: AssetId;
  owned: bigint;
  held: bigint;
  pending: bigint;
  settling: bigint;
  /** The number of the last balance message that set `owned`. */
  messageNumber: number;
}

/** What can still be spent; negative after a restored hold found its money spent. */
export function availableOf(balance: Balance): Amount18 {
  return (balance.owned - balance.held - balance.pending - balance.settling) as Amount18;
}

export interface BalanceKey {
  readonly user: UserId;
  readonly subAccount: number;
  readonly asset: AssetId;
}

/** A balance as it is asked about; available = owned − the others. */
export interface Funds {
  readonly owned: bigint;
  readonly held: bigint;
  readonly pending: bigint;
  readonly settling: bigint;
  readonly available: bigint;
}

const NO_FUNDS: Funds = { owned: 0n, held: 0n, pending: 0n, settling: 0n, available: 0n };

export class Holds {
  readonly #byUser = new Map<UserId, Map<string, Balance>>();
  #messages = 0;

  /** The balance, made with nothing in it if clearing has not spoken of it. */
  balance(key: BalanceKey): Balance {
    const name = `${key.subAccount}/${key.asset}`;
    const own = this.#byUser.get(key.user) ?? new Map<string, Balance>();
    const known = own.get(name);
    if (known !== undefined) return known;
    const { subAccount, asset } = key;
    const fresh: Balance = { subAccount, asset, owned: 0n, held: 0n, pending: 0n, settling: 0n, messageNumber: 0 };
    own.set(name, fresh);
    this.#byUser.set(key.user, own);
    return fresh;
  }

  /** The balance if there is one; a question makes none. */
  find(key: BalanceKey): Balance | undefined {
    return this.#byUser.get(key.user)?.get(`${key.subAccount}/${key.asset}`);
  }

  /** What is available; zero where clearing has never spoken of the balance. */
  available(key: BalanceKey): Amount18 {
    const balance = this.find(key);
    return balance === undefined ? ZERO_18 : availableOf(balance);
  }

  funds(key: BalanceKey): Funds {
    const balance = this.find(key);
    if (balance === undefined) return NO_FUNDS;
    const { owned, held, pending, settling } = balance;
    return { owned, held, pending, settling, available: availableOf(balance) };
  }

  balancesOf(user: UserId): readonly Balance[] {
    return [...(this.#byUser.get(user)?.values() ?? [])];
  }

  /** How many balance messages have come: the instant at which clearing spoke, for `confirm`. */
  get messageNumber(): number {
    return this.#messages;
  }

  /** Clearing's absolute balance; it contains every fill confirmed before it. */
  setOwned(key: BalanceKey, owned: Amount18): void {
    assert(owned >= 0n, 'a spot balance is never negative');
    const balance = this.balance(key);
    this.#messages += 1;
    balance.owned = owned;
    balance.settling = 0n;
    balance.messageNumber = this.#messages;
  }

  /** Changes one order's part of `held`. */
  rehold(balance: Balance, before: Amount18, after: Amount18): void {
    assert(before >= 0n && after >= 0n, 'a hold is never negative');
    balance.held += after - before;
    assert(balance.held >= 0n, 'holds: what is held is never negative');
  }

  /** A fill whose outcome clearing owes. */
  pend(balance: Balance, debit: Amount18): void {
    assert(debit >= 0n, 'a fill debits what it spends');
    balance.pending += debit;
  }

  /**
   * The fill is booked.
   *
   * @param confirmedAt `messageNumber` when clearing said so; a balance that came after it contains the debit.
   */
  confirm(balance: Balance, debit: Amount18, confirmedAt: number): void {
    this.rollBack(balance, debit);
    if (balance.messageNumber <= confirmedAt) balance.settling += debit;
  }

  /** The fill will not be booked. */
  rollBack(balance: Balance, debit: Amount18): void {
    balance.pending -= debit;
    assert(balance.pending >= 0n, 'holds: what is pending is never negative');
  }
}
