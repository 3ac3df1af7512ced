/**
 * Users at the gateway: market makers, existing sub-accounts, and those of them in liquidation. Follows clearing's events.
 *
 * A user without a row in clearing has sub-accounts 0 (spot) and 1 (cross margin), like all others (AMB-63, AMB-139).
 */
import {
  defaultAccountName,
  GIVEN_SUB_ACCOUNTS,
  isGiven,
  type SubAccountRow,
  type UserRow,
} from '../../../clearing/rows.ts';
import type { UserId } from '../../../core/ids.ts';
import { isMarginType } from '../../../risk/account-types.ts';

/** A sub-account as its user sees it. */
export type AccountBalances = Pick<SubAccountRow, 'kind' | 'name' | 'asset'>;

export class Accounts {
  readonly #marketMakers = new Set<UserId>();
  readonly #subAccounts = new Map<UserId, Map<number, AccountBalances>>();
  /** Sub-accounts from the detection that one is below maintenance until it is healthy or taken over. */
  readonly #inLiquidation = new Map<UserId, Set<number>>();

  setUser(row: Pick<UserRow, 'user' | 'isMarketMaker'>): void {
    if (row.isMarketMaker) this.#marketMakers.add(row.user);
    else this.#marketMakers.delete(row.user);
  }

  setSubAccount(row: SubAccountRow): void {
    let own = this.#subAccounts.get(row.user);
    if (own === undefined) {
      if (isGiven(row)) return;
      own = new Map();
      this.#subAccounts.set(row.user, own);
    }
    own.set(row.subAccount, { kind: row.kind, name: row.name, asset: row.asset });
  }

  isMarketMaker(user: UserId): boolean {
    return this.#marketMakers.has(user);
  }

  /** Undefined for one that does not exist. */
  find(user: UserId, subAccount: number): AccountBalances | undefined {
    return this.#subAccounts.get(user)?.get(subAccount) ?? GIVEN_SUB_ACCOUNTS.get(subAccount);
  }

  /** Whether it is of a margin type: positions, collateral, pressure (SUB-04, SUB-05). */
  isMargin(user: UserId, subAccount: number): boolean {
    const account = this.find(user, subAccount);
    return account !== undefined && isMarginType(account);
  }

  setInLiquidation(user: UserId, subAccount: number, isBegun: boolean): void {
    const own = this.#inLiquidation.get(user) ?? new Set();
    if (isBegun) this.#inLiquidation.set(user, own.add(subAccount));
    else if (own.delete(subAccount) && own.size === 0) this.#inLiquidation.delete(user);
  }

  /**
   * Whether new risk and outgoing transfers of the sub-account are refused (AMB-57).
   *
   * @param account its user is not read while there is no such account: of a new order that is a text to be made.
   */
  isInLiquidation(account: { readonly user: UserId; readonly subAccount: number }): boolean {
    return this.#inLiquidation.size > 0 && this.#inLiquidation.get(account.user)?.has(account.subAccount) === true;
  }

  /** Names that the user gave, ascending by index. */
  givenNames(user: UserId): readonly (readonly [number, string])[] {
    return this.of(user).flatMap(([index, { name }]) =>
      GIVEN_SUB_ACCOUNTS.has(index) || name === defaultAccountName(index) ? [] : [[index, name] as const],
    );
  }

  /** All sub-accounts of the user by index, ascending. */
  of(user: UserId): readonly (readonly [number, AccountBalances])[] {
    return [...new Map([...GIVEN_SUB_ACCOUNTS, ...(this.#subAccounts.get(user) ?? [])])].sort(([a], [b]) => a - b);
  }
}
