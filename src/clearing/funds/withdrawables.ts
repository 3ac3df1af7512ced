/**
 * What each account can withdraw of each token in the vault of a chain, as a checkpoint commits it (WDR-24, AMB-85, CHN-07).
 *
 *   owned of a pooled asset ── × free units of the vault ÷ free units of all vaults ──▶ token of the vault, floored to base units
 *   isolated lots ── × what backs them, where a vault paid by force ──────────────────▶ their own token, floored to base units
 *
 *   promised to filled withdrawals, and to settlements ──────────────────────────────────▶ what they pay from this vault
 *
 * The vault takes off what it paid by approvals with counters that were not booked: so an entry names the booked ones,
 * and what an approval may yet pay is claimed once, by it or by force.
 *
 * A unit is in the root of one vault only: an asset that lies in several is divided by what is free in each, so that
 * nothing is claimed twice, and where the ledger owes more than is free, all get the same share of it. So the entries of
 * a token are never more than its units in the vault, unless that has paid by force what it had promised.
 *
 * Left out: queued withdrawals; accounts with a position or a
 * negative balance; users that owe what a vault has paid by force; and users whose master key alone may not withdraw, as
 * a vault verifies that key alone.
 */
import { larger, mulDivFloor, powerOfTen } from '../../core/arithmetic.ts';
import type { AssetId, ChainId, UserId } from '../../core/ids.ts';
import { ONE_18, type TimestampNs } from '../../core/units.ts';
import { owesForced, SPOT_ACCOUNT } from '../balances.ts';
import { MASTER_ALONE, refuseSigners } from '../signers/signer-config.ts';
import type { ClearingState, SubAccountSlot } from '../state.ts';
import { settlementCounter } from './settlements.ts';
import { decimalsOf, freeUnits } from './vault-units.ts';

export interface WithdrawableUnits {
  readonly user: UserId;
  readonly account: number;
  /** 64 hex. */
  readonly token: string;
  /** More than 0. */
  readonly baseUnits: bigint;
  /** Counters of the vault, booked of the user, and of the account. */
  readonly withdrawals: number;
  readonly settlements: number;
}

/** The free units of all vaults in one asset, and what all accounts own of it; 18 decimals. */
interface Share {
  readonly free: bigint;
  owned: bigint;
}

/** Yields the number of accounts that it has looked at. */
export function* withdrawables(
  state: ClearingState,
  chainId: ChainId,
  nowNs: TimestampNs,
): Generator<number, readonly WithdrawableUnits[]> {
  const shares = new Map<AssetId, Share>();
  for (const { token, chainId: chain, asset } of state.vaultTokens.values()) {
    const free = value(state, token, chain, positive(freeUnits(state, token, chain)));
    shares.set(asset, { free: (shares.get(asset)?.free ?? 0n) + free, owned: 0n });
  }
  for (const user of state.users.values()) {
    for (const account of user.subAccounts.values()) {
      for (const [asset, { owned }] of account.balances) {
        const share = shares.get(asset);
        if (share !== undefined) share.owned += positive(owned);
      }
    }
    yield user.subAccounts.size;
  }
  const tokens = [...state.vaultTokens.values()].filter((row) => row.chainId === chainId);
  const found: WithdrawableUnits[] = [];
  for (const [user, { subAccounts }] of state.users) {
    const mayClaim = !owesForced(state, user) && isMasterEnough(state, user, nowNs);
    for (const [account, slot] of mayClaim ? subAccounts : []) {
      if (isBorrowing(slot)) continue;
      const withdrawals = state.withdrawalCounters.get(`${chainId}/${user}`) ?? 0;
      const settlements = settlementCounter(state, chainId, user, account);
      for (const { token, asset } of tokens) {
        const owned = unitsOf(state, slot, { token, chainId, asset }, shares.get(asset));
        const baseUnits = owned + promisedTo(state, { user, account, token, chainId });
        if (baseUnits > 0n) found.push({ user, account, token, baseUnits, withdrawals, settlements });
      }
    }
    yield subAccounts.size;
  }
  return found;
}

function unitsOf(
  state: ClearingState,
  { balances }: SubAccountSlot,
  { token, chainId, asset }: { readonly token: string; readonly chainId: ChainId; readonly asset: AssetId },
  share: Share | undefined,
): bigint {
  const scale = powerOfTen(decimalsOf(state, token, chainId));
  const isolated = `${token}@${chainId}` as AssetId;
  const lots = positive(balances.get(isolated)?.owned ?? 0n);
  const owned = positive(balances.get(asset)?.owned ?? 0n);
  const units = freeUnits(state, token, chainId);
  const free = value(state, token, chainId, positive(units));
  const whole = larger(share?.free ?? 0n, share?.owned ?? 0n);
  // mutant: withdrawables-shared
  const pooled = whole === 0n ? 0n : mulDivFloor(owned, free, whole);
  // A vault that paid by force may have less than backs its lots.
  const all = units < 0n ? (state.totals.get(isolated)?.vaultHoldings ?? 0n) : 0n;
  const backed = all === 0n ? 0n : positive(mulDivFloor(all, scale, ONE_18) + units);
  const ofLots = all === 0n ? mulDivFloor(lots, scale, ONE_18) : mulDivFloor(lots, backed, all);
  return ofLots + mulDivFloor(pooled, scale, ONE_18);
}

/** Base units that approvals may take out of this vault for an account. */
function promisedTo(
  state: ClearingState,
  place: { readonly user: UserId; readonly account: number; readonly token: string; readonly chainId: ChainId },
): bigint {
  const { user, account, token, chainId } = place;
  let sum = 0n;
  const rows = account === SPOT_ACCOUNT ? state.withdrawals.liveOf(user, chainId) : [];
  for (const { row } of rows) if (row.token === token && row.status !== 'queued') sum += row.payout;
  for (const row of state.settlements.liveOf(user, chainId, account)) {
    if (row.tokenOut === token) sum += row.baseUnitsOut;
  }
  return sum;
}

function isMasterEnough(state: ClearingState, user: UserId, nowNs: TimestampNs): boolean {
  return refuseSigners(state.signers.configOf(user), MASTER_ALONE, 'high', nowNs) === null;
}

function isBorrowing({ balances, positions }: SubAccountSlot): boolean {
  for (const { legs } of positions.values()) if (legs.base !== 0n || legs.quote !== 0n) return true;
  for (const { owned } of balances.values()) if (owned < 0n) return true;
  return false;
}

/** Base units in 18 decimals, floored. */
function value(state: ClearingState, token: string, chainId: ChainId, baseUnits: bigint): bigint {
  return mulDivFloor(baseUnits, ONE_18, powerOfTen(decimalsOf(state, token, chainId)));
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}
