/**
 * Chains, vaults, settlers, withdrawal delays and settings (operator-api.md 4.4 to 4.6, 4.10): small objects kept as
 * JSON by kind and key, in wire form with every default written out. A removed settler leaves the JSON `null` behind,
 * because rows are never deleted.
 */
import type { ChainId, UserId } from '../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import type { Effect } from '../effects.ts';
import type { Method, PutConfig } from '../inputs.ts';
import type { ConfigRow, LeadershipRow } from '../rows.ts';
import type { ClearingState } from '../state.ts';
import { placeTerms } from './registry-assets.ts';
import { changedSettings, DEFAULT_SETTINGS, parseSettings, type Settings } from './settings.ts';

type View = Readonly<Record<string, unknown>>;
const REMOVED = 'null';

/** Blocks that confirm what happens on a chain. */
export interface Confirmations {
  readonly deposit: number;
  readonly withdrawal: number;
  readonly settlement: number;
}

/**
 * A change as a request gives it, each member valid by itself (src/operator/config-bodies.ts). Chains, vaults, settlers and
 * delays are replaced whole, of the settings the given members. The key of a vault is `<address>@<chain>`; settings and
 * delays have none.
 */
export type ConfigChange =
  | { readonly config: 'chain'; readonly key: ChainId; readonly value: View }
  | {
      readonly config: 'vault';
      readonly key: string;
      /** Counts that are left out are the chain's; null: all of them. */
      readonly value: {
        readonly administrators: readonly string[];
        readonly quorum: number;
        readonly confirmations: Partial<Confirmations> | null;
        /** Types of nonces in calls of the vault: informs clients (wire.md 12.1). */
        readonly abi?: 'v1' | 'v2';
      };
    }
  /** null removes it. */
  | {
      readonly config: 'settler';
      readonly key: UserId;
      readonly value: { readonly chain_id: ChainId; readonly executor: string } | null;
    }
  | { readonly config: 'settings'; readonly method: Method; readonly value: Partial<Settings> }
  | { readonly config: 'withdrawal-delay'; readonly value: WithdrawalDelay };

type ChangeOf<Kind extends ConfigChange['config']> = Extract<ConfigChange, { readonly config: Kind }>;

export function configKey(kind: ConfigRow['kind'], key: string): string {
  return `${kind}/${key}`;
}

interface Configs {
  readonly configs: ReadonlyMap<string, ConfigRow>;
}

/** The stored object, or null when there is none or it was removed. */
export function configOf(state: Configs, kind: ConfigRow['kind'], key: string): View | null {
  const row = state.configs.get(configKey(kind, key));
  return row === undefined ? null : (JSON.parse(row.json) as View | null);
}

function chainNotFound(chain: string): ReturnType<typeof rejected> {
  return rejected(reject('CHAIN_NOT_FOUND', `chain ${chain} is unknown`));
}

/** Why a vault may not be registered on its chain, or null. */
export function vaultFault(state: Configs, vault: string): Reject | null {
  const chain = chainOfVault(vault);
  if (configOf(state, 'chain', chain) === null) return chainNotFound(chain).reject;
  const others = [...state.configs.values()].filter((row) => row.kind === 'vault' && row.key !== vault);
  return others.some((row) => chainOfVault(row.key) === chain) ? reject('VAULT_EXISTS', 'a chain has one vault') : null;
}

function chainOfVault(vault: string): string {
  return vault.slice(vault.indexOf('@') + 1);
}

function changedVault(state: ClearingState, { key, value }: ChangeOf<'vault'>): Outcome<View> {
  const fault = vaultFault(state, key);
  if (fault !== null) return rejected(fault);
  const { administrators, quorum, abi = 'v1' } = value;
  const ofChain = configOf(state, 'chain', chainOfVault(key))?.['confirmations'] as Confirmations;
  const confirmations = value.confirmations === null ? null : { ...ofChain, ...value.confirmations };
  // GET answers in order of registration, which a table sorted by key does not keep.
  const vaults = [...state.configs.values()].filter((row) => row.kind === 'vault').length;
  const registration = configOf(state, 'vault', key)?.['registration'] ?? vaults;
  return accepted({ administrators, quorum, confirmations, abi, registration });
}

function changedSettler(state: ClearingState, { key, value }: ChangeOf<'settler'>): Outcome<View | null> {
  if (value === null) {
    return configOf(state, 'settler', key) === null
      ? rejected(reject('SETTLER_NOT_FOUND', `${key} is unknown`))
      : accepted(null);
  }
  return configOf(state, 'chain', value.chain_id) === null ? chainNotFound(value.chain_id) : accepted(value);
}

export interface WithdrawalDelay {
  readonly min_delay: number;
  readonly max_delay: number;
  readonly delay_clamps: readonly number[];
  readonly delay_values: readonly number[];
  readonly cap_floor: number;
}

/** Seconds, and fractions in 1e-6 (operator-api.md 4.4). */
export const DEFAULT_WITHDRAWAL_DELAY: WithdrawalDelay = {
  min_delay: 30,
  max_delay: 3_600,
  delay_clamps: [0, 10_000, 50_000, 250_000],
  delay_values: [0, 300, 1_800, 7_200],
  cap_floor: 50_000,
};

/** The delay parameters in force (operator-api.md 4.4). */
export function withdrawalDelayOf(state: Configs): WithdrawalDelay {
  const stored = configOf(state, 'withdrawal-delay', '');
  return stored === null ? DEFAULT_WITHDRAWAL_DELAY : (stored as unknown as WithdrawalDelay);
}

/** Puts a row in its place, with the settings that follow from it. */
export function placeConfig(state: ClearingState, row: ConfigRow): void {
  state.configs.set(configKey(row.kind, row.key), row);
  if (row.kind === 'start') state.startedNs = BigInt((JSON.parse(row.json) as Start).started_ns) as TimestampNs;
  if (row.kind === 'leadership') state.leadership = JSON.parse(row.json) as LeadershipRow;
  if (row.kind !== 'settings') return;
  const bandAgeMs = state.settings.mark_band_age_ms;
  state.settings = parseSettings(row.json);
  if (state.settings.mark_band_age_ms !== bandAgeMs)
    for (const asset of state.assets.values()) placeTerms(state, asset);
}

interface Start {
  readonly started_ns: string;
}

/**
 * The node has started: from now on first prices are waited for (MON-11). Not part of the state hash, as breakers of
 * marks.
 */
export function placeStart(state: ClearingState, nowNs: TimestampNs): void {
  const start: Start = { started_ns: nowNs.toString() };
  placeConfig(state, { kind: 'start', key: '', json: JSON.stringify(start) });
  state.dirty.configs.add(configKey('start', ''));
}

function changeConfig(state: ClearingState, row: ConfigRow, effects: Effect[]): void {
  placeConfig(state, row);
  state.dirty.configs.add(configKey(row.kind, row.key));
  effects.push({ kind: 'registryChanged', change: { table: 'config', row } });
}

/**
 * @returns the object in wire form; `{}` for a removal. INVALID_REQUEST, CHAIN_NOT_FOUND, VAULT_EXISTS,
 *   SETTLER_NOT_FOUND.
 */
export function applyPutConfig(state: ClearingState, input: PutConfig, effects: Effect[]): Outcome<View> {
  const { change } = input;
  const { config: kind } = change;
  const key = 'key' in change ? change.key : '';
  const outcome = changedConfig(state, change);
  if (!outcome.ok) return outcome;
  const { value } = outcome;
  changeConfig(state, { kind, key, json: value === null ? REMOVED : JSON.stringify(value) }, effects);
  return accepted(value === null ? {} : configView(kind, key, value));
}

/** Whether a sub-account of the backstop is not closed: its index is one of the backstop account in force. */
function isBackstopBusy(state: ClearingState): boolean {
  for (const { state: now } of state.backstopRows.values()) if (now !== 'closed') return true;
  return false;
}

/** The object after the change; null: it is removed. */
function changedConfig(state: ClearingState, change: ConfigChange): Outcome<View | null> {
  switch (change.config) {
    case 'chain':
    case 'withdrawal-delay':
      return accepted({ ...change.value });
    case 'vault':
      return changedVault(state, change);
    case 'settler':
      return changedSettler(state, change);
    case 'settings': {
      const outcome = changedSettings(change.method === 'put' ? DEFAULT_SETTINGS : state.settings, change.value);
      if (outcome.ok && outcome.value.backstop_account !== state.settings.backstop_account && isBackstopBusy(state)) {
        return rejected(
          reject('INVALID_REQUEST', 'the backstop account works off what it took over', 'backstop_account'),
        );
      }
      return outcome.ok ? accepted({ ...outcome.value }) : outcome;
    }
  }
}

/** The object with its key, as the operator API lists it. */
/** The object as JSON for the public, null for a removed one; without addresses of providers, which often have keys in them. */
export function publicConfig({ kind, key, json }: ConfigRow): string | null {
  if (json === REMOVED) return null;
  const { rpc_urls: _, ...view } = configView(kind, key, JSON.parse(json) as View);
  return JSON.stringify(view);
}

function configView(kind: ConfigRow['kind'], key: string, view: View): View {
  switch (kind) {
    case 'chain':
      return { chain_id: key, ...view };
    case 'vault': {
      const { registration: _, ...shown } = view;
      return { vault: key, ...shown, abi: shown['abi'] ?? 'v1' };
    }
    case 'settler':
      return { settler: key, ...view };
    case 'settings':
    case 'start':
    case 'leadership':
    case 'withdrawal-delay':
      return view;
  }
}

/** All objects of a kind: vaults in order of registration, the others by key. */
export function configList(
  state: { readonly configs: ReadonlyMap<string, ConfigRow> },
  kind: ConfigRow['kind'],
): readonly View[] {
  const rows = [...state.configs.values()].filter((row) => row.kind === kind && row.json !== REMOVED);
  const items = rows.map((row) => ({ key: row.key, view: JSON.parse(row.json) as View }));
  items.sort((a, b) => {
    const order = Number(a.view['registration'] ?? 0) - Number(b.view['registration'] ?? 0);
    return order !== 0 ? order : a.key < b.key ? -1 : 1;
  });
  return items.map((item) => configView(kind, item.key, item.view));
}
