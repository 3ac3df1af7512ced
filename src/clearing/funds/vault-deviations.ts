/**
 * Approvals beyond the vault (MON-05). A majority of providers shows for a confirmed block that the vault of a chain
 * holds less of an asset than the events booked up to that block say: nothing of the asset is approved on that chain
 * until it holds enough, or an operator accepts that it does not.
 *
 *   chain/vault-holdings.ts ── missing, when it has changed ──▶ here, journaled ──▶ checkpoints leave out its rows, settlements are refused
 *   operator ── accept-deviation ──▶ accepted: that much may be missing; nothing once nothing is missing any more
 *
 * Stopped while missing > the larger of what is accepted and `approval_deviation_tolerance` × what the ledger has there.
 * Requests wait in the queue, and expire there after a day; what was approved before may be executed. It is a fact, so a
 * restart does not forget it.
 */
import { larger, mulDivFloor } from '../../core/arithmetic.ts';
import { must } from '../../core/assert.ts';
import { parseDecimal18 } from '../../core/decimal.ts';
import type { AssetId, ChainId } from '../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { reject } from '../../core/reject.ts';
import { type Amount18, ONE_18, ZERO_18 } from '../../core/units.ts';
import type { AcceptDeviation, VaultDeviation } from '../inputs.ts';
import { assetNotFound } from '../registry/registry-assets.ts';
import { configOf } from '../registry/registry-config.ts';
import type { VaultDeviationRow } from '../rows.ts';
import type { ClearingState } from '../state.ts';
import { decimalsOf } from './vault-units.ts';
import { payoutValue } from './withdrawal-figures.ts';

type View = Readonly<Record<string, unknown>>;

export function deviationKey(asset: AssetId, chainId: ChainId): string {
  return `${asset}/${chainId}`;
}

/** What the ledger has of the asset in the vault of the chain, 18 decimals. */
function ledgerAmount(state: ClearingState, asset: AssetId, chainId: ChainId): bigint {
  let sum = 0n;
  for (const { token, chainId: chain, asset: of, baseUnits } of state.vaultTokens.values()) {
    if (chain === chainId && of === asset) sum += payoutValue(baseUnits, decimalsOf(state, token, chain));
  }
  return sum;
}

/** Whether nothing of the asset is approved on the chain. */
export function isApprovalStopped(state: ClearingState, asset: AssetId, chainId: ChainId): boolean {
  const row = state.vaultDeviations.get(deviationKey(asset, chainId));
  if (row === undefined || row.missing <= 0n) return false;
  const share = must(parseDecimal18(state.settings.approval_deviation_tolerance), 'settings hold decimals');
  const tolerated = mulDivFloor(ledgerAmount(state, asset, chainId), share, ONE_18);
  // mutant: deviation-tolerance
  return row.missing > larger<bigint>(row.accepted, tolerated);
}

function change(state: ClearingState, row: VaultDeviationRow): void {
  const key = deviationKey(row.asset, row.chainId);
  if (row.missing === 0n && row.accepted === 0n) state.vaultDeviations.delete(key);
  else state.vaultDeviations.set(key, row);
  state.dirty.vaultDeviations.set(key, row);
}

function known(state: ClearingState, asset: AssetId, chainId: ChainId): VaultDeviationRow {
  return (
    state.vaultDeviations.get(deviationKey(asset, chainId)) ?? { asset, chainId, missing: ZERO_18, accepted: ZERO_18 }
  );
}

/** What the vault lacks has changed. @returns `{"is_stopped"}`; ASSET_NOT_FOUND, CHAIN_NOT_FOUND. */
export function applyVaultDeviation(state: ClearingState, input: VaultDeviation): Outcome<View> {
  const { asset, chainId, missing } = input;
  const fault = unknown(state, asset, chainId);
  if (fault !== null) return fault;
  const row = known(state, asset, chainId);
  // A shortage that has ended is accepted no longer: the next one is another.
  change(state, { ...row, missing, accepted: missing === 0n ? ZERO_18 : row.accepted });
  return accepted({ is_stopped: isApprovalStopped(state, asset, chainId) });
}

/**
 * `POST /operator/chains/{chain_id}/accept-deviation`: that much may be missing, 0 for nothing.
 *
 * @returns `{}`; CHAIN_NOT_FOUND, ASSET_NOT_FOUND.
 */
export function applyAcceptDeviation(state: ClearingState, input: AcceptDeviation): Outcome<View> {
  const { asset, chainId, amount } = input;
  const fault = unknown(state, asset, chainId);
  if (fault !== null) return fault;
  change(state, { ...known(state, asset, chainId), accepted: amount });
  return accepted({});
}

function unknown(state: ClearingState, asset: AssetId, chainId: ChainId): ReturnType<typeof rejected> | null {
  if (configOf(state, 'chain', chainId) === null) {
    return rejected(reject('CHAIN_NOT_FOUND', `chain ${chainId} is unknown`, 'chain_id'));
  }
  return state.assets.has(asset) ? null : rejected(assetNotFound(asset));
}

/** What clearing has of a shortage, for who measures it. */
export interface KnownDeviation {
  readonly asset: AssetId;
  readonly chainId: ChainId;
  readonly missing: Amount18;
  readonly isStopped: boolean;
}

export function knownDeviations(state: ClearingState): KnownDeviation[] {
  return [...state.vaultDeviations.values()].map(({ asset, chainId, missing }) => {
    return { asset, chainId, missing, isStopped: isApprovalStopped(state, asset, chainId) };
  });
}
