/**
 * Spot balances as pre-flight sees them, and what is set aside from each (AMB-52, AMB-112).
 *
 *   available = owned − held − pending − settling − setAside
 *
 *   owned      as clearing has flushed it; withdrawal and settlement locks have left it (AMB-72)
 *   held       what live orders, and orders on their way to the market, may still spend
 *   pending    what fills will really cost that clearing has not decided
 *   settling   the same for fills that are confirmed, until the balance that contains them arrives
 *   setAside   what transfers, close-positions and locks will take, between this check and clearing's answer (set-asides.ts)
 *
 *   order ──match──▶ pending ──confirmed──▶ settling ──balance──▶ (owned is lower)
 *     ▲                 └──────rolled back──▶ nothing, or the order's hold again
 *
 * Invariants
 *   (1) held = the sum of the holds of all orders that spend from the balance, at the fees in force; pending likewise of
 *       undecided fills.
 *   (2) held, pending, settling ≥ 0; setAside ≥ leaving ≥ 0.
 *   (3) An order is accepted only if its hold fits into what is available.
 *
 * Available may fall below zero later: a rollback gives an order its hold back, a price improvement having been spent.
 * Then no order is accepted until it is positive again.
 *
 * What fills bring is not available before clearing has booked it; in a margin account it is collateral at once, as the
 * optimistic view of such an account is whole (`optimisticOf`).
 *
 * What all margin-type accounts own of an asset is summed for the cap of collateral (cap-check.ts): `collateral`. Every
 * fill on its way is in that sum, and what actions may take until clearing has booked them: they may be refused.
 *
 * Not here: which orders live (live-orders.ts) and what they need (spending.ts).
 */
import { assert, must } from '../../../core/assert.ts';
import { type AssetId, USD, type UserId } from '../../../core/ids.ts';
import { type Amount18, ZERO_18 } from '../../../core/units.ts';
import { changeReservedBuys } from '../../../risk/reservation.ts';
import type { LiveOrder } from '../book/live-order.ts';
import { Accounts } from './accounts.ts';
import {
  addToCollateral,
  availableIn,
  type Balance,
  type BalanceKey,
  type CollateralSum,
  type Funds,
  heldIn,
  NO_FUNDS,
  NOT_SUMMED,
  RestoredSpending,
  type SharedState,
  SpotAccount,
  type SpotMove,
} from './balance.ts';
import { holdFor } from './spending.ts';

// Users with a spot balance or a position, as clearing has flushed it. Limits for free keys use this (src/gateway/sessions).
// Orders add nothing to it: one that could fill is backed by a balance or a position.
// Invariant: a user is counted once for each balance that is not zero and once for each position that is not.

class FundedUsers {
  readonly #parts = new Map<UserId, number>();

  /** Users that have anything. */
  get count(): number {
    return this.#parts.size;
  }

  has(user: UserId): boolean {
    return this.#parts.has(user);
  }

  /** A balance or a position of the user is another one now. @param had whether it was not zero, `has` whether it is not. */
  changed(user: UserId, had: boolean, has: boolean): void {
    if (had === has) return;
    const parts = (this.#parts.get(user) ?? 0) + (has ? 1 : -1);
    assert(parts >= 0, 'what a user has is never less than nothing');
    if (parts === 0) this.#parts.delete(user);
    else this.#parts.set(user, parts);
  }
}

/** Numbers clearing's events of balances and positions, in the order of their arrival. */
export class UpdateCount {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  next(): number {
    this.#count += 1;
    return this.#count;
  }
}

export class Holds {
  readonly funded: FundedUsers = new FundedUsers();
  /** A user's only account, or by number all that it has. */
  readonly #byUser = new Map<UserId, SpotAccount | Map<number, SpotAccount>>();
  readonly #balances: Balance[] = [];
  readonly #updates: UpdateCount;
  readonly #shared: SharedState = { feeChanges: 0, restored: new RestoredSpending() };
  readonly #accounts: Accounts;
  readonly #collateral = new Map<AssetId, CollateralSum>();

  /** @param updates counts clearing's events of balances and positions. */
  constructor(updates: UpdateCount = new UpdateCount(), accounts: Accounts = new Accounts()) {
    this.#updates = updates;
    this.#accounts = accounts;
  }

  /** What all margin-type accounts own of an asset, fills on their way included (CAP-08). 0 for USD, which has no cap. */
  collateral(asset: AssetId): bigint {
    return this.#collateral.get(asset)?.amount ?? 0n;
  }

  /** The balances of one user that are in `collateral`: of all margin-type accounts, by no order. */
  *collateralOf(user: UserId, asset: AssetId): Generator<Balance, void, undefined> {
    const own = this.#byUser.get(user);
    if (own === undefined) return;
    for (const account of own instanceof SpotAccount ? [own] : own.values()) {
      const balance = account.find(asset);
      if (balance !== undefined && balance.collateral !== null) yield balance;
    }
  }

  /** A sub-account has become known: if it is of a margin type, what it owns is collateral. */
  subAccountKnown(user: UserId, subAccount: number): void {
    const account = this.#find(user, subAccount);
    for (let balance = account?.first ?? null; balance !== null; balance = balance.next) {
      balance.collateral = this.#collateralOf(user, balance);
      addToCollateral(balance);
    }
  }

  #collateralOf(user: UserId, { subAccount, asset }: Pick<Balance, 'subAccount' | 'asset'>): CollateralSum | null {
    if (asset === USD || !this.#accounts.isMargin(user, subAccount)) return null;
    let sum = this.#collateral.get(asset);
    if (sum === undefined) {
      sum = { amount: 0n };
      this.#collateral.set(asset, sum);
    }
    return sum;
  }

  /** The balance with this number. */
  balanceAt(number: number): Balance {
    return must(this.#balances[number], 'a balance that has a number is there');
  }

  /** The balance, created empty if clearing has published none. */
  balance(key: BalanceKey): Balance {
    const account = this.account(key.user, key.subAccount);
    const known = account.find(key.asset);
    if (known !== undefined) return known;
    const fresh: Balance = {
      number: this.#balances.length,
      subAccount: key.subAccount,
      asset: key.asset,
      heldAt: this.#shared.feeChanges,
      account,
      next: null,
      owned: 0n,
      held: 0n,
      shared: this.#shared,
      buys: null,
      pending: 0n,
      settling: 0n,
      incoming: 0n,
      settlingIn: 0n,
      setAside: 0n,
      leaving: 0n,
      messageNumber: 0,
      collateral: this.#collateralOf(key.user, key),
      summed: 0n,
    };
    account.add(fresh);
    this.#balances.push(fresh);
    return fresh;
  }

  /** The spot side of a sub-account; what comes to it later is seen in it. */
  account(user: UserId, subAccount: number): SpotAccount {
    const own = this.#byUser.get(user);
    const known = own === undefined ? undefined : accountOf(own, subAccount);
    if (known !== undefined) return known;
    const fresh = new SpotAccount(subAccount);
    if (own === undefined) this.#byUser.set(user, fresh);
    else if (own instanceof Map) own.set(subAccount, fresh);
    else this.#byUser.set(user, new Map([own, fresh].map((each) => [each.subAccount, each])));
    return fresh;
  }

  #find(user: UserId, subAccount: number): SpotAccount | undefined {
    const own = this.#byUser.get(user);
    return own === undefined ? undefined : accountOf(own, subAccount);
  }

  /** The spot side of a sub-account; a read makes none. */
  peek(user: UserId, subAccount: number): SpotAccount {
    return this.#find(user, subAccount) ?? new SpotAccount(subAccount);
  }

  /** The balance if there is one; a read makes none. */
  find(key: BalanceKey): Balance | undefined {
    return this.#find(key.user, key.subAccount)?.find(key.asset);
  }

  /** What is available; zero where clearing has published no balance. */
  available(key: BalanceKey): Amount18 {
    const balance = this.find(key);
    return balance === undefined ? ZERO_18 : availableIn(balance);
  }

  funds(key: BalanceKey): Funds {
    const balance = this.find(key);
    if (balance === undefined) return NO_FUNDS;
    const { owned, pending, settling, setAside } = balance;
    return { owned, held: heldIn(balance), pending, settling, setAside, available: availableIn(balance) };
  }

  /** The balances of one sub-account. */
  balancesOf(user: UserId, subAccount: number): readonly Balance[] {
    const balances: Balance[] = [];
    const first = this.#find(user, subAccount)?.first ?? null;
    for (let balance = first; balance !== null; balance = balance.next) balances.push(balance);
    return balances;
  }

  /**
   * Clearing's absolute balance; it contains every fill confirmed before it. No hold depends on it. Negative after a forced
   * withdrawal (AMB-85).
   *
   * @returns the balance as it is now.
   */
  setOwned(key: BalanceKey, owned: Amount18): Balance {
    const balance = this.balance(key);
    this.funded.changed(key.user, balance.owned > 0n, owned > 0n);
    balance.owned = owned;
    balance.settling = 0n;
    balance.settlingIn = 0n;
    balance.messageNumber = this.#updates.next();
    balance.account.changes += 1;
    addToCollateral(balance);
    return balance;
  }

  /** An action that clearing has not answered may take so much; a negative amount gives it back. */
  setAside(balance: Balance, amount: bigint, leaves: boolean): void {
    balance.setAside += amount;
    if (leaves) {
      balance.leaving += amount;
      balance.account.changes += 1;
    }
    assert(balance.setAside >= balance.leaving && balance.leaving >= 0n, 'holds: what is set aside is never negative');
  }

  /** The order may spend something else of its balance from now on, `order.spend` until now. */
  respend(balance: Balance, order: LiveOrder, after: Amount18): void {
    const { spend: before, market } = order;
    if (before === after) return;
    const held = heldIn(balance);
    if (balance.asset === USD) {
      balance.buys ??= new Map();
      changeReservedBuys(balance.buys, market, before, after);
    }
    balance.held = held + holdFor(order, after) - holdFor(order, before);
    assert(after >= 0n && balance.held >= 0n, 'holds: what is held is never negative');
  }

  /** An order of a start may spend so much. */
  spendRestored(balance: Balance, { market }: LiveOrder, spend: Amount18): void {
    assert(spend >= 0n, 'holds: what is held is never negative');
    if (spend === 0n) return;
    this.#shared.restored.add(balance, market, spend);
    balance.heldAt = NOT_SUMMED;
  }

  /** Every order of a market was restored. */
  settleRestored(): void {
    this.#shared.restored.close();
  }

  /** A market has another taker fee, and what is held for its buys follows. */
  feeChanged(): void {
    this.#shared.feeChanges += 1;
  }

  /** A fill without an outcome: the order's balance pays, another one receives. */
  pend({ from, debit, to, credit }: SpotMove): void {
    assert(debit >= 0n && credit >= 0n, 'a fill debits what it spends and credits what it gets');
    from.pending += debit;
    to.incoming += credit;
    from.account.changes += 1;
    addToCollateral(from);
    addToCollateral(to);
  }

  /**
   * The fill is booked.
   *
   * @param confirmedAt the count of events at its confirmation; a balance that came after it contains the fill.
   */
  confirm(move: SpotMove, confirmedAt: number): void {
    this.rollBack(move);
    const { from, debit, to, credit } = move;
    if (from.messageNumber <= confirmedAt) from.settling += debit;
    if (to.messageNumber <= confirmedAt) to.settlingIn += credit;
    addToCollateral(from);
    addToCollateral(to);
  }

  /** The fill will not be booked. */
  rollBack({ from, debit, to, credit }: SpotMove): void {
    from.pending -= debit;
    to.incoming -= credit;
    assert(from.pending >= 0n && to.incoming >= 0n, 'holds: what is pending is never negative');
    from.account.changes += 1;
    addToCollateral(from);
    addToCollateral(to);
  }
}

function accountOf(own: SpotAccount | Map<number, SpotAccount>, subAccount: number): SpotAccount | undefined {
  if (own instanceof Map) return own.get(subAccount);
  return own.subAccount === subAccount ? own : undefined;
}
