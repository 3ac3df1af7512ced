/**
 * Chains, vaults, settlers, withdrawal delays and settings (operator-api.md 4.4 to 4.6, 4.10): small objects kept as
 * JSON by kind and key, in wire form with every default written out. A removed settler leaves the JSON `null` behind,
 * because rows are never deleted.
 */
import { assert } from '../../core/assert.ts';
import { parseHex, toHex } from '../../core/hex.ts';
import { type ChainId, parseAddress, parseChainId, parseUserId } from '../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type RejectName, reject } from '../../core/reject.ts';
import type { Effect } from '../effects.ts';
import type { PutConfig } from '../inputs.ts';
import type { ConfigRow } from '../rows.ts';
import type { ClearingState } from '../state.ts';
import { BodyReader } from './body-reader.ts';
import { DEFAULT_SETTINGS, readSettings } from './settings.ts';

type View = Readonly<Record<string, unknown>>;
type Read = (state: ClearingState, input: PutConfig, body: unknown) => Outcome<View>;

const REMOVED = 'null';
const CONFIRMATIONS = { min: 0, max: 10_000 };
const INTERVAL_MS = { min: 1, max: 86_400_000 };
const SECONDS = { min: 1, max: 31_536_000 };
/** Deposit and withdrawal confirmations by EVM chain id (DEP-17 to DEP-20). */
const CONFIRMATIONS_OF_VM: ReadonlyMap<bigint, number> = new Map([
  [1n, 4],
  [42_161n, 15],
  [143n, 15],
  [8_453n, 10],
]);

export function configKey(kind: ConfigRow['kind'], key: string): string {
  return `${kind}/${key}`;
}

/** The stored object, or null when there is none or it was removed. */
export function configOf(state: ClearingState, kind: ConfigRow['kind'], key: string): View | null {
  const row = state.configs.get(configKey(kind, key));
  return row === undefined ? null : (JSON.parse(row.json) as View | null);
}

function invalid(message: string, field: string): ReturnType<typeof rejected> {
  return rejected(reject('INVALID_REQUEST', message, field));
}

/** Three confirmation counts, from `fallback` where they are left out. */
function readConfirmations(value: unknown, fallback: View): Outcome<View> {
  const reader = new BodyReader(value, ['deposit', 'withdrawal', 'settlement'], 'confirmations.');
  const count = (name: string): number => reader.integer(name, CONFIRMATIONS, fallback[name] as number);
  const view = { deposit: count('deposit'), withdrawal: count('withdrawal'), settlement: count('settlement') };
  return reader.failure ?? accepted(view);
}

function defaultConfirmations(chainId: ChainId): View {
  const count = CONFIRMATIONS_OF_VM.get(BigInt(`0x${chainId.slice(2)}`)) ?? 1;
  return { deposit: count, withdrawal: count, settlement: 0 };
}

const readChain: Read = (_state, input, body) => {
  const chainId = parseChainId(input.key);
  if (chainId === null) return invalid('a chain id is expected', 'chain_id');
  const reader = new BodyReader(body, [
    'kind',
    'block_time_ms',
    'auto_mine',
    'providers',
    'rpc_urls',
    'confirmations',
    'checkpoint_interval_ms',
    'approval_validity_s',
    'escape_timeout_s',
  ]);
  const kind = reader.word('kind', ['simulated', 'evm'], undefined);
  const foreign = kind === 'evm' ? ['block_time_ms', 'auto_mine', 'providers'] : ['rpc_urls'];
  for (const name of foreign) if (reader.has(name)) reader.fail(name, `a ${kind} chain does not have this member`);
  const own = kind === 'evm' ? readRpc(reader) : readSimulation(reader);
  const confirmations = readConfirmations(reader.raw('confirmations') ?? {}, defaultConfirmations(chainId));
  const view = {
    kind,
    ...own,
    confirmations: confirmations.ok ? confirmations.value : null,
    checkpoint_interval_ms: reader.integer('checkpoint_interval_ms', INTERVAL_MS, 1_000),
    approval_validity_s: reader.integer('approval_validity_s', SECONDS, 3_600),
    escape_timeout_s: reader.integer('escape_timeout_s', SECONDS, 604_800),
  };
  if (!confirmations.ok) reader.keep(confirmations.reject);
  return reader.failure ?? accepted(view);
};

function readSimulation(reader: BodyReader): View {
  return {
    block_time_ms: reader.integer('block_time_ms', INTERVAL_MS, 1_000),
    auto_mine: reader.flag('auto_mine', false),
    providers: reader.integer('providers', { min: 1, max: 15 }, 3),
  };
}

function readRpc(reader: BodyReader): View {
  const urls = reader.list('rpc_urls', undefined);
  if (
    urls.length === 0 ||
    urls.length > 15 ||
    !urls.every((url) => typeof url === 'string' && /^https?:\/\//.test(url))
  ) {
    reader.fail('rpc_urls', '1 to 15 http or https addresses are expected');
  }
  return { rpc_urls: urls };
}

/** 20 bytes of hex, without padding. */
function shortAddress(value: unknown): string | null {
  const bytes = typeof value === 'string' ? parseHex(value, 20) : null;
  return bytes === null ? null : toHex(bytes);
}

const readVault: Read = (state, input, body) => {
  const [address = '', chain = ''] = input.key.split('@');
  if (parseAddress(address) !== address || parseChainId(chain) !== chain) {
    return invalid('<address>@<chain id> is expected', 'vault');
  }
  if (configOf(state, 'chain', chain) === null) return rejected(reject('CHAIN_NOT_FOUND', `chain ${chain} is unknown`));
  const others = [...state.configs.values()].filter((row) => row.kind === 'vault');
  if (others.some((row) => row.key !== input.key && row.key.endsWith(`@${chain}`))) {
    return rejected(reject('VAULT_EXISTS', 'a chain has one vault'));
  }
  const reader = new BodyReader(body, ['administrators', 'quorum', 'confirmations']);
  const administrators = reader.list('administrators', undefined).map(shortAddress);
  if (administrators.some((item) => item === null) || new Set(administrators).size !== administrators.length) {
    reader.fail('administrators', 'different addresses of 20 bytes are expected');
  }
  const quorum = reader.integer('quorum', { min: 1, max: Math.max(1, administrators.length) }, undefined);
  const given = reader.raw('confirmations') ?? null;
  const ofChain = (configOf(state, 'chain', chain)?.['confirmations'] ?? {}) as View;
  const confirmations = given === null ? accepted(null) : readConfirmations(given, ofChain);
  if (!confirmations.ok) return confirmations;
  // GET answers in order of registration, which a table sorted by key does not keep.
  const registration = configOf(state, 'vault', input.key)?.['registration'] ?? others.length;
  return reader.failure ?? accepted({ administrators, quorum, confirmations: confirmations.value, registration });
};

const readSettler: Read = (state, input, body) => {
  if (parseUserId(input.key) !== input.key) return invalid('an Ed25519 key is expected', 'settler');
  const reader = new BodyReader(body, ['chain_id', 'executor']);
  const chainId = reader.form('chain_id', parseChainId, 'a chain id is', undefined, '' as ChainId);
  const executor = reader.form('executor', parseAddress, 'an address is', undefined, '');
  if (reader.failure !== null) return reader.failure;
  if (configOf(state, 'chain', chainId) === null) {
    return rejected(reject('CHAIN_NOT_FOUND', `chain ${chainId} is unknown`));
  }
  return accepted({ chain_id: chainId, executor: executor.slice(0, 40) });
};

/** Seconds, and fractions in 1e-6 (operator-api.md 4.4). */
export const DEFAULT_WITHDRAWAL_DELAY: View = {
  min_delay: 30,
  max_delay: 3_600,
  delay_clamps: [0, 10_000, 50_000, 250_000],
  delay_values: [0, 300, 1_800, 7_200],
  cap_floor: 50_000,
};

const readDelay: Read = (_state, _input, body) => {
  const now = DEFAULT_WITHDRAWAL_DELAY;
  const reader = new BodyReader(body, Object.keys(now));
  const seconds = { min: 0, max: 31_536_000 };
  const fraction = { min: 0, max: 1_000_000 };
  const view = {
    min_delay: reader.integer('min_delay', seconds, now['min_delay'] as number),
    max_delay: reader.integer('max_delay', seconds, now['max_delay'] as number),
    delay_clamps: reader.integers('delay_clamps', fraction, now['delay_clamps'] as readonly number[]),
    delay_values: reader.integers('delay_values', seconds, now['delay_values'] as readonly number[]),
    cap_floor: reader.integer('cap_floor', fraction, now['cap_floor'] as number),
  };
  if (view.max_delay < view.min_delay) reader.fail('max_delay', 'the longest delay is at least the shortest');
  if (view.delay_values.length !== view.delay_clamps.length) reader.fail('delay_values', 'one value a clamp');
  return reader.failure ?? accepted(view);
};

const readSettingsView: Read = (state, input, body) => {
  const outcome = readSettings(body, input.method === 'put' ? DEFAULT_SETTINGS : state.settings);
  return outcome.ok ? accepted({ ...outcome.value }) : outcome;
};

const READ: Readonly<Record<ConfigRow['kind'], Read>> = {
  chain: readChain,
  vault: readVault,
  settler: readSettler,
  settings: readSettingsView,
  'withdrawal-delay': readDelay,
};

/** Puts a row in its place, with the settings that follow from it. */
export function placeConfig(state: ClearingState, row: ConfigRow): void {
  state.configs.set(configKey(row.kind, row.key), row);
  if (row.kind !== 'settings') return;
  const outcome = readSettings(JSON.parse(row.json), DEFAULT_SETTINGS);
  assert(outcome.ok, 'stored settings are valid');
  state.settings = outcome.value;
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
  const { config: kind, key } = input;
  if (input.method === 'delete') {
    assert(kind === 'settler', 'only settlers are removed');
    if (configOf(state, kind, key) === null) return rejected(notFound('SETTLER_NOT_FOUND', key));
    changeConfig(state, { kind, key, json: REMOVED }, effects);
    return accepted({});
  }
  const outcome = READ[kind](state, input, input.body);
  if (!outcome.ok) return outcome;
  changeConfig(state, { kind, key, json: JSON.stringify(outcome.value) }, effects);
  return accepted(configView(kind, key, outcome.value));
}

function notFound(code: RejectName, key: string): ReturnType<typeof reject> {
  return reject(code, `${key} is unknown`);
}

/** The object with its key, as the operator API lists it. */
export function configView(kind: ConfigRow['kind'], key: string, view: View): View {
  switch (kind) {
    case 'chain':
      return { chain_id: key, ...view };
    case 'vault': {
      const { registration: _, ...shown } = view;
      return { vault: key, ...shown };
    }
    case 'settler':
      return { settler: key, ...view };
    case 'settings':
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
