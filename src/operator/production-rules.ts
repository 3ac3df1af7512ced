/**
 * What a production node does not serve, in one place: other profiles serve all of it, and no setting of a
 * configuration or of an operator changes it.
 */
import { PUBLIC_APPROVAL_ADDRESS } from '../chain/key-file.ts';
import { configList } from '../clearing/registry/registry-config.ts';
import type { ConfigRow } from '../clearing/rows.ts';
import type { Profile } from '../core/config-error.ts';
import { ConfigError } from '../core/config-error.ts';
import { type Reject, reject } from '../core/reject.ts';
import { shortAddress } from './config-bodies.ts';

/** Whether chains of a kind may be registered and opened. A simulated chain mints deposits on request. */
function servesChainKind(profile: Profile, kind: string): boolean {
  return profile !== 'production' || kind !== 'simulated';
}

/** Checks a body of `PUT /operator/chains/{chain_id}`; clearing validates the rest of it. */
export function refusedChain(profile: Profile, body: unknown): Reject | null {
  const isObject = typeof body === 'object' && body !== null;
  const kind = isObject && 'kind' in body ? body.kind : undefined;
  if (typeof kind !== 'string' || servesChainKind(profile, kind)) return null;
  return reject(
    'INVALID_REQUEST',
    `a production node registers no chain of kind "${kind}", which only simulates: give "evm"`,
    'kind',
  );
}

/**
 * Checks a body of `PUT /operator/vaults/{vault}`; clearing validates the rest of it. What the approval key of dev and test signs,
 * anybody can sign: an administrator with it opens the vault to all.
 */
export function refusedVault(profile: Profile, body: unknown): Reject | null {
  const isObject = typeof body === 'object' && body !== null;
  const administrators: unknown = isObject && 'administrators' in body ? body.administrators : [];
  const isPublic = (item: unknown): boolean => shortAddress(item) === PUBLIC_APPROVAL_ADDRESS;
  // mutant: production-public-administrator
  if (profile !== 'production' || !Array.isArray(administrators) || !administrators.some(isPublic)) return null;
  return reject(
    'INVALID_REQUEST',
    `${PUBLIC_APPROVAL_ADDRESS} is the approval key of dev and test, which everybody has: name administrators of your own`,
    'administrators',
  );
}

/** @throws ConfigError when the data directory has chains that the profile does not serve. */
export function checkChains(profile: Profile, rows: { readonly configs: ReadonlyMap<string, ConfigRow> }): void {
  const refused = configList(rows, 'chain').filter((view) => !servesChainKind(profile, String(view['kind'])));
  if (refused.length === 0) return;
  const names = refused.map((view) => `${String(view['chain_id'])} (${String(view['kind'])})`).join(', ');
  throw new ConfigError(
    `production serves no simulated chains, and this data directory has ${names}: start it with the profile that made it, or name another directory`,
  );
}
