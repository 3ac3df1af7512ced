/**
 * What the venue owes, as its ledger has it (LIA-02): of each asset and sub-account what is there, and what was taken from there for a payment
 * that is not booked as paid. It is never netted: not over assets, not over sub-accounts, not over users.
 *
 *   owed       owned + locked of every balance that is not the venue's own, never below 0; deposits that credited nothing yet
 *   negative   what balances below 0 (AMB-85) were taken for 0 for
 *   own        balances of the accounts of fees and of the backstop, the credits of the backstop, the rebalancing pool
 *   longs      bases of positions above 0, and `shorts` below, without sign; of USD their quote legs. They are not owed.
 */
import { powerOfTen } from '../core/arithmetic.ts';
import { type AssetId, compareAssetIds, USD, type UserId } from '../core/ids.ts';
import { allBalances, SPOT_ACCOUNT } from './balances.ts';
import { allPositions } from './positions.ts';
import { tokenKey } from './registry/registry-assets.ts';
import type { ClearingState } from './state.ts';

/** A token that no asset has yet has no known decimals: its base units count as those of 18 decimals. */
const DECIMALS_UNKNOWN = 18;

interface OwedAccount {
  readonly user: UserId;
  readonly subAccount: number;
  /** 18 decimals, above 0. */
  readonly amount: bigint;
}

/** Amounts have 18 decimals. */
interface OwedOfAsset {
  /** An index, or `token@chain` for what is isolated of a token. */
  readonly asset: AssetId;
  /** In the order of users and sub-accounts. */
  readonly accounts: readonly OwedAccount[];
  readonly negative: bigint;
  readonly own: bigint;
  readonly longs: bigint;
  readonly shorts: bigint;
}

class Sums {
  readonly amounts: Map<string, OwedAccount> = new Map();
  negative = 0n;
  own = 0n;
  longs = 0n;
  shorts = 0n;

  owe(user: UserId, subAccount: number, amount: bigint): void {
    if (amount <= 0n) return;
    const key = `${user}/${String(subAccount).padStart(5, '0')}`;
    this.amounts.set(key, { user, subAccount, amount: (this.amounts.get(key)?.amount ?? 0n) + amount });
  }

  leg(amount: bigint): void {
    if (amount > 0n) this.longs += amount;
    else this.shorts -= amount;
  }
}

/** Every asset of the ledger, in the order of ids. It takes the whole ledger, so it is for the process of a snapshot. */
export function owedOf(state: ClearingState): readonly OwedOfAsset[] {
  const byAsset = new Map<AssetId, Sums>();
  const sumsOf = (asset: AssetId): Sums => {
    const known = byAsset.get(asset) ?? new Sums();
    byAsset.set(asset, known);
    return known;
  };
  const { fee_account: fees, backstop_account: backstop } = state.settings;
  for (const { user, subAccount, asset, owned, locked } of allBalances(state)) {
    const sums = sumsOf(asset);
    if (user === fees || user === backstop) sums.own += owned + locked;
    else {
      sums.owe(user, subAccount, (owned > 0n ? owned : 0n) + locked);
      if (owned < 0n) sums.negative -= owned;
    }
  }
  for (const { chainId, user, token, baseUnits } of state.unclaimed.values()) {
    const key = tokenKey(token, chainId);
    const decimals = state.tokenDecimals.get(key) ?? DECIMALS_UNKNOWN;
    const amount = decimals > 18 ? baseUnits / powerOfTen(decimals - 18) : baseUnits * powerOfTen(18 - decimals);
    sumsOf(key as AssetId).owe(user, SPOT_ACCOUNT, amount);
  }
  for (const { asset, legs } of allPositions(state)) {
    sumsOf(asset).leg(legs.base);
    sumsOf(USD).leg(legs.quote);
  }
  for (const { asset, backstopCredits, rebalancingPool } of state.totals.values())
    sumsOf(asset).own += backstopCredits + rebalancingPool;
  return [...byAsset]
    .sort(([a], [b]) => compareAssetIds(a, b))
    .map(([asset, { amounts, negative, own, longs, shorts }]) => {
      const accounts = [...amounts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, account]) => account);
      return { asset, accounts, negative, own, longs, shorts };
    });
}
