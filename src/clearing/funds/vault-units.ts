/**
 * Units of tokens in vaults, as confirmed events state (AMB-116), and the part of them that is promised: to filled
 * withdrawals (AMB-78), and to live settlements (AMB-82). One unit is never promised twice.
 */
import { mulDivCeil, powerOfTen } from '../../core/arithmetic.ts';
import { must } from '../../core/assert.ts';
import type { AssetId, ChainId } from '../../core/ids.ts';
import { type Amount18, ONE_18 } from '../../core/units.ts';
import { moveHoldings } from '../balances.ts';
import { tokenKey } from '../registry/registry-assets.ts';
import { configList } from '../registry/registry-config.ts';
import type { ClearingState } from '../state.ts';

/**
 * Units of a token that neither a withdrawal nor a settlement is promised and that back no isolated lot.
 *
 * @param isolated the part of the lots' backing that counts as free: the lots of the withdrawal that is judged.
 */
export function freeUnits(state: ClearingState, token: string, chainId: ChainId, isolated: bigint = 0n): bigint {
  const key = tokenKey(token, chainId) as AssetId;
  const units = state.vaultTokens.get(key)?.baseUnits ?? 0n;
  const promised = state.withdrawals.promised(token, chainId);
  // mutant: units-of-settlements
  const unpromised = units - promised.units - state.settlements.bound(token, chainId);
  const lots = (state.totals.get(key)?.vaultHoldings ?? 0n) - promised.isolated - isolated;
  // mutant: backing-of-lots
  if (lots <= 0n) return unpromised;
  return unpromised - mulDivCeil(lots, powerOfTen(decimalsOf(state, token, chainId)), ONE_18);
}

/** Base units of a token that are kept for withdrawals that could not be paid yet (MON-04): part of the free ones. */
export function reservedUnits({ payoutReserves }: ClearingState, token: string, chainId: ChainId): bigint {
  return payoutReserves.get(tokenKey(token, chainId))?.units ?? 0n;
}

export function decimalsOf(state: ClearingState, token: string, chainId: ChainId): number {
  return must(state.tokenDecimals.get(tokenKey(token, chainId)), 'the decimals of a token are kept for ever');
}

/** The vault of a chain, 64 hex; null without one. */
export function vaultOf(state: ClearingState, chainId: ChainId): string | null {
  for (const { vault } of configList(state, 'vault')) {
    const [address = '', chain] = String(vault).split('@');
    if (chain === chainId) return address;
  }
  return null;
}

/** Units came into a vault or left it. @param value of them in the pool of the asset. */
export function moveVaultUnits(
  state: ClearingState,
  { token, chainId, asset }: { readonly token: string; readonly chainId: ChainId; readonly asset: AssetId },
  baseUnits: bigint,
  value: Amount18,
): void {
  const key = tokenKey(token, chainId);
  const held = state.vaultTokens.get(key)?.baseUnits ?? 0n;
  state.vaultTokens.set(key, { token, chainId, asset, baseUnits: held + baseUnits });
  state.dirty.vaultTokens.add(key);
  moveHoldings(state, asset, value);
  state.lots.capsChanged();
}
