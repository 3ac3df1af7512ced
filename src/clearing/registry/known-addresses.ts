/**
 * Addresses of a chain that belong to the exchange itself, by the registry: the vault and every token that an asset has
 * or had. What a vault pays to one of them is lost to its owner (MON-14).
 */
import type { ChainId } from '../../core/ids.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { ConfigRow } from '../rows.ts';
import { tokenKey } from './registry-assets.ts';
import { configKey } from './registry-config.ts';

export interface KnownAddresses {
  readonly configs: ReadonlyMap<string, ConfigRow>;
  /** Decimals of every token that an asset has or had, by `tokenKey`. */
  readonly tokenDecimals: ReadonlyMap<string, number>;
}

/** @param address 64 hex, right-padded. @returns INVALID_REQUEST of `target`, or null. */
export function refuseDestination(
  { configs, tokenDecimals }: KnownAddresses,
  chainId: ChainId,
  address: string,
): Reject | null {
  const vault = configKey('vault', `${address}@${chainId}`);
  // mutant: known-destination
  if (!configs.has(vault) && !tokenDecimals.has(tokenKey(address, chainId))) return null;
  return reject('INVALID_REQUEST', 'the target is a vault or a token of the exchange on this chain', 'target');
}
