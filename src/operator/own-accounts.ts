/**
 * Ensures that a production node pays its fees to no publicly known key (operator-api.md 9).
 *
 * The fee account and the backstop account default to keys of the dev seed. In production the configuration names
 * others, or an operator sets them before a market is created; a value that an operator has set is kept.
 *
 * Not here: other restrictions of public keys (user-sessions.ts for logging in, operator-config-routes.ts for bodies).
 */
import { configList } from '../clearing/registry/registry-config.ts';
import { DEFAULT_SETTINGS, type Settings } from '../clearing/registry/settings.ts';
import type { ConfigRow } from '../clearing/rows.ts';
import type { Profile } from '../core/config-error.ts';
import { ConfigError } from '../core/config-error.ts';
import type { AssetId } from '../core/ids.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { PUBLIC_KEYS } from './seed-data.ts';

/** Members of the settings, in the form of an operator's PATCH. */
export type AccountSettings = Partial<Pick<Settings, 'fee_account' | 'backstop_account'>>;

const MEMBERS = [
  { member: 'fee_account', name: 'feeAccount' },
  { member: 'backstop_account', name: 'backstopAccount' },
] as const;

/** Contents of a data directory. */
interface Held {
  readonly configs: ReadonlyMap<string, ConfigRow>;
  readonly definitions: ReadonlyMap<AssetId, MarketDefinition>;
}

function settingsOf(rows: Pick<Held, 'configs'>): Readonly<Record<string, unknown>> {
  return configList(rows, 'settings')[0] ?? { ...DEFAULT_SETTINGS };
}

/**
 * @returns the changes of settings that a production node needs before it opens; none outside production.
 * @throws ConfigError where markets would continue to pay fees to a public key, because the configuration names no
 * other.
 */
export function ownAccounts(
  config: { readonly profile: Profile; readonly feeAccount: string | null; readonly backstopAccount: string | null },
  rows: Held,
): AccountSettings {
  if (config.profile !== 'production') return {};
  const settings = settingsOf(rows);
  const isPublic = MEMBERS.filter(({ member }) => PUBLIC_KEYS.has(String(settings[member])));
  const missing = isPublic.filter(({ name }) => config[name] === null).map(({ name }) => `"${name}"`);
  if (missing.length > 0 && rows.definitions.size > 0) {
    throw new ConfigError(
      `production needs accounts of its own: set ${missing.join(' and ')} in the configuration to user ids (64 hex digits) of which you alone have the keys`,
    );
  }
  const named = isPublic.filter(({ name }) => config[name] !== null);
  const own: AccountSettings = Object.fromEntries(named.map(({ member, name }) => [member, config[name]]));
  const after = { ...settings, ...own };
  if (after['fee_account'] === after['backstop_account']) {
    throw new ConfigError('"feeAccount" and "backstopAccount" differ, also from what the data directory holds');
  }
  return own;
}

/** The members of the settings that name a public key; none of a production node with markets (operator-api.md 9). */
export function publicAccounts(rows: Pick<Held, 'configs'>): readonly string[] {
  const settings = settingsOf(rows);
  return MEMBERS.map(({ member }) => member).filter((member) => PUBLIC_KEYS.has(String(settings[member])));
}
