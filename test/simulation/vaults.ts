/** The chains of the simulation, each with one vault, and their tokens: of few and of many decimals, two of one asset. */

import { PUBLIC_APPROVAL_ADDRESS } from '../../src/chain/key-file.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId, ChainId, UserId } from '../../src/core/ids.ts';
import { USD } from '../../src/core/ids.ts';
import type { Asked } from '../support/asked.ts';
import type { SimulatedNode } from '../support/simulated-node.ts';
import { MARKETS, userAt } from './people.ts';

export interface VaultPlan {
  readonly chainId: ChainId;
  /** 64 hex, right-padded. */
  readonly address: string;
  readonly confirmations: { readonly deposit: number; readonly withdrawal: number };
}

export interface TokenPlan {
  readonly asset: AssetId;
  /** Index into VAULTS. */
  readonly vault: number;
  /** 64 hex, right-padded. */
  readonly token: string;
  readonly decimals: number;
}

export const PROVIDERS = 3;
export const APPROVAL_VALIDITY_S = 90;

function address(byte: string): string {
  return byte.repeat(20).padEnd(64, '0');
}

export const VAULTS: readonly VaultPlan[] = [
  {
    chainId: '000000000000007a69' as ChainId,
    address: address('0d'),
    confirmations: { deposit: 3, withdrawal: 2 },
  },
  {
    chainId: '000000000000000001' as ChainId,
    address: address('0e'),
    confirmations: { deposit: 1, withdrawal: 1 },
  },
];

export const TOKENS: readonly TokenPlan[] = [
  { asset: USD, vault: 0, token: address('5a'), decimals: 6 },
  { asset: USD, vault: 1, token: address('c0'), decimals: 18 },
  { asset: MARKETS[0] as AssetId, vault: 0, token: address('6b'), decimals: 8 },
  { asset: MARKETS[1] as AssetId, vault: 1, token: address('d3'), decimals: 20 },
];

export function vaultAt(index: number): VaultPlan {
  return must(VAULTS[index], 'a vault of the world');
}

export function tokenAt(index: number): TokenPlan {
  return must(TOKENS[index], 'a token of the world');
}

/** `<token>@<chain>`. */
export function nameOf({ token, vault }: TokenPlan): AssetId {
  return `${token}@${vaultAt(vault).chainId}` as AssetId;
}

/** The asset that a token is pooled into; any other asset is its own. */
export function pooledOf(asset: AssetId): AssetId {
  return TOKENS.find((token) => nameOf(token) === asset)?.asset ?? asset;
}

/** Of a token that an asset has; caps in whole units, null for none. */
export interface Registered {
  /** Index into TOKENS. */
  readonly token: number;
  readonly most: number | null;
  readonly hourly: number | null;
}

/** Of all tokens, in their order. */
export const REGISTERED_FIRST: readonly Registered[] = TOKENS.map((_, token) => ({ token, most: null, hourly: null }));

/** An asset with exactly these tokens. */
export function putTokens(assetId: AssetId, registered: readonly Registered[]): Asked {
  const inUnits = (cap: number | null): string | null => (cap === null ? null : `${cap}${'0'.repeat(18)}`);
  const tokens = registered.map(({ token: index, most, hourly }) => {
    const { token, vault, decimals } = tokenAt(index);
    const caps = { max_deposits: inUnits(most), max_1hr_deposits: inUnits(hourly) };
    return { token, chain_id: vaultAt(vault).chainId, decimals, ...caps };
  });
  const symbol = assetId === USD ? 'USD' : `A${assetId}`;
  return { kind: 'putAsset', method: 'put', assetId, body: { symbol, tokens } };
}

/** By its address, of which no two vaults have the same. */
export function planOf(token: string): TokenPlan {
  return must(
    TOKENS.find((plan) => plan.token === token),
    'a token of the world',
  );
}

/** What units cost in the ledger: 18 decimals, rounded up (AMB-11). */
export function costOf({ decimals }: TokenPlan, units: bigint): bigint {
  if (decimals <= 18) return units * 10n ** BigInt(18 - decimals);
  const part = 10n ** BigInt(decimals - 18);
  return (units + part - 1n) / part;
}

/** What units are worth in the ledger: 18 decimals, rounded down (AMT-06). */
export function worthOf({ decimals }: TokenPlan, units: bigint): bigint {
  return decimals <= 18 ? units * 10n ** BigInt(18 - decimals) : units / 10n ** BigInt(decimals - 18);
}

/** The settler of a vault, 64 hex: the user of the same number. */
export function settlerOf(vault: number): UserId {
  return userAt(vault);
}

/** Registers chains, vaults and tokens, once. */
export function prepareVaults(node: SimulatedNode): void {
  for (const { chainId, address: vault, confirmations } of VAULTS) {
    const body = {
      kind: 'simulated',
      providers: PROVIDERS,
      confirmations: { ...confirmations, settlement: 0 },
      checkpoint_interval_ms: 1_000,
      approval_validity_s: APPROVAL_VALIDITY_S,
    };
    node.command({ kind: 'putConfig', config: 'chain', key: chainId, method: 'put', body });
    const administrators = { administrators: [PUBLIC_APPROVAL_ADDRESS], quorum: 1 };
    node.command({
      kind: 'putConfig',
      config: 'vault',
      key: `${vault}@${chainId}`,
      method: 'put',
      body: administrators,
    });
  }
  for (const [index, { chainId }] of VAULTS.entries()) {
    const body = { chain_id: chainId, executor: 'e3'.repeat(20) };
    node.command({ kind: 'putConfig', config: 'settler', key: settlerOf(index), method: 'put', body });
  }
  for (const assetId of new Set(TOKENS.map(({ asset }) => asset))) {
    node.command(
      putTokens(
        assetId,
        REGISTERED_FIRST.filter(({ token }) => tokenAt(token).asset === assetId),
      ),
    );
  }
}
