/** The registry's settings of chains: their kind, their vault and policy, and their tokens. */
import { droppedTokens, tokenKey } from '../clearing/registry/registry-assets.ts';
import type { AssetRow, ConfigRow, TokenDefinition } from '../clearing/rows.ts';
import { must } from '../core/assert.ts';
import type { AssetId, ChainId } from '../core/ids.ts';
import { MILLISECOND_NS, SECOND_NS, ZERO_18 } from '../core/units.ts';

export interface ChainRegistry {
  readonly assets: ReadonlyMap<AssetId, AssetRow>;
  readonly configs: ReadonlyMap<string, ConfigRow>;
}

export interface VaultSettings {
  /** `<address>@<chain id>`. */
  readonly key: string;
  /** 64 hex, right-padded. */
  readonly address: string;
  readonly administrators: readonly string[];
  readonly quorum: number;
}

/** What chains of every kind have. */
export interface CommonSettings {
  /** 64 hex each, right-padded: those of all assets. */
  readonly tokens: readonly string[];
  /** Those of the vault where it overrides the chain's (DEP-21). */
  readonly depositConfirmations: number;
  readonly withdrawalConfirmations: number;
  readonly settlementConfirmations: number;
  readonly checkpointIntervalMs: number;
  readonly approvalValidityS: number;
  readonly vault: VaultSettings | null;
}

/** A chain in the data directory. */
export interface SimulatedSettings extends CommonSettings {
  readonly blockTimeNs: bigint;
  readonly autoMine: boolean;
  /** Number of configured RPC providers. */
  readonly providers: number;
  readonly escapeTimeoutNs: bigint;
}

/** A chain that is watched through JSON-RPC. */
export interface EvmChainSettings extends CommonSettings {
  /** 1 to 15 different ones. */
  readonly rpcUrls: readonly string[];
}

interface Confirmations {
  readonly deposit: number;
  readonly withdrawal: number;
  readonly settlement: number;
}

/** The relevant members of operator-api.md 4.4 and 4.5; clearing has written every default explicitly. */
type ChainJson = {
  readonly confirmations: Confirmations;
  readonly checkpoint_interval_ms: number;
  readonly approval_validity_s: number;
  readonly escape_timeout_s: number;
} & (
  | {
      readonly kind: 'simulated';
      readonly block_time_ms: number;
      readonly auto_mine: boolean;
      readonly providers: number;
    }
  | { readonly kind: 'evm'; readonly rpc_urls: readonly string[] }
);
type ChainOfKind<Kind extends ChainJson['kind']> = Extract<ChainJson, { readonly kind: Kind }>;

interface VaultJson {
  readonly administrators: readonly string[];
  readonly quorum: number;
  readonly confirmations: Confirmations | null;
}

/** The settings of every simulated chain. */
export function simulatedChains(registry: ChainRegistry): ReadonlyMap<ChainId, SimulatedSettings> {
  return chainsOf(registry, 'simulated', (chain, common) => ({
    ...common,
    escapeTimeoutNs: BigInt(chain.escape_timeout_s) * SECOND_NS,
    blockTimeNs: BigInt(chain.block_time_ms) * MILLISECOND_NS,
    autoMine: chain.auto_mine,
    providers: chain.providers,
  }));
}

/** The settings of every EVM chain. */
export function evmChains(registry: ChainRegistry): ReadonlyMap<ChainId, EvmChainSettings> {
  return chainsOf(registry, 'evm', (chain, common) => ({ ...common, rpcUrls: chain.rpc_urls }));
}

/** The chain id that an EVM node names: the last 8 bytes. */
export function vmIdOf(chainId: ChainId): bigint {
  return BigInt(`0x${chainId.slice(2)}`);
}

function chainsOf<Kind extends ChainJson['kind'], Settings>(
  registry: ChainRegistry,
  kind: Kind,
  settings: (chain: ChainOfKind<Kind>, common: CommonSettings) => Settings,
): ReadonlyMap<ChainId, Settings> {
  const rows = [...registry.configs.values()];
  const vaults = new Map(rows.filter((row) => row.kind === 'vault').map((row) => [row.key.split('@')[1], row]));
  const chains = new Map<ChainId, Settings>();
  for (const row of rows) {
    if (row.kind !== 'chain') continue;
    const chain = JSON.parse(row.json) as ChainJson;
    if (chain.kind !== kind) continue;
    const chainId = row.key as ChainId;
    const common = commonOf(chain, vaults.get(chainId), tokensOn(registry, chainId));
    chains.set(chainId, settings(chain as ChainOfKind<Kind>, common));
  }
  return chains;
}

function commonOf(chain: ChainJson, row: ConfigRow | undefined, tokens: readonly string[]): CommonSettings {
  const vault = row === undefined ? null : (JSON.parse(row.json) as VaultJson);
  const { deposit, withdrawal, settlement } = vault?.confirmations ?? chain.confirmations;
  return {
    depositConfirmations: deposit,
    withdrawalConfirmations: withdrawal,
    settlementConfirmations: settlement,
    checkpointIntervalMs: chain.checkpoint_interval_ms,
    approvalValidityS: chain.approval_validity_s,
    tokens,
    vault: row === undefined || vault === null ? null : vaultSettings(row.key, vault),
  };
}

function vaultSettings(key: string, { administrators, quorum }: VaultJson): VaultSettings {
  return { key, address: must(key.split('@')[0], 'a vault is named by its address'), administrators, quorum };
}

/** Decimals of the ledger. */
export const INTERNAL_DECIMALS = 18;
/** A token is on its chain from its first registration on; without one it has no minimum and no caps. */
const UNREGISTERED: Omit<TokenDefinition, 'token' | 'chainId' | 'decimals'> = {
  maxDeposits: null,
  max1hrDeposits: null,
  minWeight: ZERO_18,
  minFirstDepositBaseUnits: 0n,
};

/** What the vault of a simulated chain sees of a token that is registered nowhere. */
export function unregistered(chainId: ChainId, token: string): TokenDefinition {
  return { ...UNREGISTERED, token, chainId, decimals: INTERNAL_DECIMALS };
}

/** The tokens that an asset has, and those that it had and no asset has now: a vault may still hold them. */
export function tokensEver(
  registry: ChainRegistry,
  row: AssetRow,
): readonly Pick<TokenDefinition, 'token' | 'chainId' | 'decimals'>[] {
  const isTaken = (token: string, chainId: string): boolean =>
    [...registry.assets.values()].some(({ tokens }) =>
      tokens.some((one) => one.token === token && one.chainId === chainId),
    );
  const dropped = [...droppedTokens(row)].flatMap(([key, decimals]) => {
    const [token = '', chainId = ''] = key.split('@');
    return isTaken(token, chainId) ? [] : [{ token, chainId: chainId as ChainId, decimals }];
  });
  return [...row.tokens, ...dropped];
}

function tokensOn(registry: ChainRegistry, chainId: ChainId): readonly string[] {
  const tokens = [...registry.assets.values()].flatMap((row) => tokensEver(registry, row));
  return tokens.filter((token) => token.chainId === chainId).map(({ token }) => token);
}

/** @param token 64 hex. @returns null for a token that no asset has or had on this chain. */
export function tokenOnChain(registry: ChainRegistry, chainId: ChainId, token: string): TokenDefinition | null {
  for (const { tokens } of registry.assets.values()) {
    const found = tokens.find((item) => item.token === token && item.chainId === chainId);
    if (found !== undefined) return found;
  }
  for (const row of registry.assets.values()) {
    const decimals = droppedTokens(row).get(tokenKey(token, chainId));
    if (decimals !== undefined) return { ...UNREGISTERED, token, chainId, decimals };
  }
  return null;
}

/** The executor of a settler on this chain, 64 hex, right-padded; null for a settler that is not registered there. */
export function executorOf({ configs }: ChainRegistry, chainId: ChainId, settler: string): string | null {
  const row = configs.get(`settler/${settler}`);
  const stored = row === undefined ? null : (JSON.parse(row.json) as { chain_id: string; executor: string } | null);
  return stored?.chain_id === chainId ? stored.executor.padEnd(64, '0') : null;
}
