/**
 * What actions on accounts take from balances, set aside before clearing sees the action (AMB-112, TRF-04): transfers and
 * close-positions today, locks of withdrawals and settlements the same way.
 *
 *   check ─▶ fits beside open orders ─▶ set aside ─▶ clearing ─▶ answer, of whatever kind ─▶ freed
 *                └─▶ refused, nothing changed
 *
 * An order that is reserved later finds the amount gone, one that was reserved before has its hold: so an order and an
 * action never spend the same money. When clearing has done the action, the balances that it left come before its answer.
 * All of it is in memory: a start has no action without an answer.
 *
 * Not here: what clearing checks besides, and for good (src/clearing/transfers.ts, close-position.ts).
 */
import { larger, smaller, subtract18 } from '../../../core/arithmetic.ts';
import { type AssetId, USD, type UserId } from '../../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../../core/outcome.ts';
import { reject } from '../../../core/reject.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../../../core/units.ts';
import { optimisticQuote } from '../margin/margin-account.ts';
import type { UserMarginAccounts } from '../margin/margin-accounts.ts';
import type { Accounts } from './accounts.ts';
import { availableIn, type BalanceKey } from './balance.ts';
import type { Holds } from './holds.ts';

/** What one action has set aside. */
export interface SetAside {
  readonly amount: Amount18;
  /** Called once, with clearing's answer. */
  readonly free: () => void;
}

/** Money that an action takes from one spot balance. */
interface Taking {
  readonly from: BalanceKey;
  readonly amount: Amount18;
  /** Whether it leaves the sub-account and its margin. */
  readonly leaves: boolean;
}

const NOTHING: SetAside = { amount: ZERO_18, free: () => undefined };
const NO_INVENTORY: Outcome<SetAside> = rejected(reject('INSUFFICIENT_INVENTORY', 'less is available'));
const IN_LIQUIDATION: Outcome<SetAside> = rejected(reject('INSUFFICIENT_MARGIN', 'the account is in liquidation'));
const NO_MARGIN: Outcome<SetAside> = rejected(reject('INSUFFICIENT_MARGIN', 'the account needs this as margin'));

export class SetAsides {
  readonly #accounts: Accounts;
  readonly #holds: Holds;
  readonly #margins: UserMarginAccounts;

  constructor(accounts: Accounts, holds: Holds, margins: UserMarginAccounts) {
    this.#accounts = accounts;
    this.#holds = holds;
    this.#margins = margins;
  }

  /**
   * Sets an amount aside if it is available and a margin account keeps its capacity without it (AMB-65), and the means for
   * whatever of its orders is filled (MON-07). Nothing leaves an
   * account in liquidation (AMB-57).
   *
   * @returns INSUFFICIENT_INVENTORY, INSUFFICIENT_MARGIN; then nothing changed.
   */
  take({ from, amount, leaves }: Taking, now: TimestampNs): Outcome<SetAside> {
    if (amount <= 0n) return accepted(NOTHING);
    const balance = this.#holds.find(from);
    if (balance === undefined || amount > availableIn(balance)) return NO_INVENTORY;
    if (leaves && this.#accounts.isInLiquidation(from)) return IN_LIQUIDATION;
    const holds = this.#holds;
    holds.setAside(balance, amount, leaves);
    const free = (): void => holds.setAside(balance, -amount, leaves);
    if (!leaves || this.#keepsCapacity(from.user, from.subAccount, now)) return accepted({ amount, free });
    free();
    return NO_MARGIN;
  }

  /**
   * Sets an amount aside of two balances of a spot account: what is available of the first, and the rest of the second.
   *
   * @returns INSUFFICIENT_INVENTORY; then nothing changed.
   */
  takeOfTwo(
    amount: Amount18,
    { first, second }: { readonly first: BalanceKey; readonly second: BalanceKey },
    now: TimestampNs,
  ): Outcome<SetAside> {
    const balance = this.#holds.find(first);
    const available = balance === undefined ? ZERO_18 : larger(availableIn(balance), ZERO_18);
    const ofFirst = this.take({ from: first, amount: smaller(amount, available), leaves: true }, now);
    if (!ofFirst.ok) return ofFirst;
    const rest = subtract18(amount, ofFirst.value.amount);
    const ofSecond = this.take({ from: second, amount: rest, leaves: true }, now);
    const free = (): void => {
      ofFirst.value.free();
      if (ofSecond.ok) ofSecond.value.free();
    };
    if (ofSecond.ok) return accepted({ amount, free });
    free();
    return ofSecond;
  }

  /**
   * Sets aside the spot USD that the quote leg of a position may cost when it is folded: what is booked or, where fills
   * are on their way, what they will leave, whichever is more.
   *
   * @returns INSUFFICIENT_INVENTORY; then nothing changed.
   */
  takeQuoteLeg(account: { readonly user: UserId; readonly subAccount: number }, asset: AssetId): Outcome<SetAside> {
    const position = this.#margins.find(account.user, account.subAccount)?.find(asset);
    if (position === undefined) return accepted(NOTHING);
    const cost = larger(-position.quote, -optimisticQuote(position)) as Amount18;
    const from = { ...account, asset: USD };
    // The quote leg and spot USD count alike, so the margin figures stay as they are: no time is needed for prices.
    return this.take({ from, amount: cost, leaves: false }, NO_TIME);
  }

  /** The account as it is now, if it is held to its capacity at all. */
  #keepsCapacity(user: UserId, subAccount: number, now: TimestampNs): boolean {
    if (!this.#accounts.isMargin(user, subAccount)) return true;
    this.#margins.assets.refresh(now);
    const account = this.#margins.account(user, subAccount);
    // mutant: transfer-covers-fills
    return !account.isLeveraged || (account.capacity() >= 0n && account.coversOrders);
  }
}

const NO_TIME = 0n as TimestampNs;
