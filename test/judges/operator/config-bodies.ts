/**
 * Converts bodies of chains, vaults, settlers, withdrawal delays and settings (operator-api.md 4.4 to 4.6, 4.10) into
 * typed changes: each member is valid by itself, in wire form, and every default that depends on nothing else is filled
 * in.
 *
 * Not here: rules that depend on the current registry (src/clearing/registry/registry-config.ts).
 */
import {
  type ConfigChange,
  type Confirmations,
  DEFAULT_WITHDRAWAL_DELAY,
} from '../../../src/clearing/registry/registry-config.ts';
import { DEFAULT_SETTINGS, SETTING_ALIASES, type Settings } from '../../../src/clearing/registry/settings.ts';
import { format18 } from '../../../src/core/decimal.ts';
import { parseHex, toHex } from '../../../src/core/hex.ts';
import { type ChainId, parseAddress, parseChainId, parseUserId, type UserId } from '../../../src/core/ids.ts';
import { accepted, type Outcome, rejected } from '../../../src/core/outcome.ts';
import { reject } from '../../../src/core/reject.ts';
import { ONE_18 } from '../../../src/core/units.ts';
import { type AmountBounds, BodyReader, type Bounds, CHAIN_ID_WORDS, readMembers } from './body-reader.ts';

type View = Readonly<Record<string, unknown>>;
type ChangeOf<Kind extends ConfigChange['config']> = Extract<ConfigChange, { readonly config: Kind }>;

const CONFIRMATIONS = { min: 0, max: 10_000 };
const RPC_URL_MAX = 2_048;
const INTERVAL_MS = { min: 1, max: 86_400_000 };
const SECONDS = { min: 1, max: 31_536_000 };
/** Deposit and withdrawal confirmations by EVM chain id (DEP-17 to DEP-20). */
const CONFIRMATIONS_OF_VM: ReadonlyMap<bigint, number> = new Map([
  [1n, 4],
  [42_161n, 15],
  [143n, 15],
  [8_453n, 10],
]);

function invalid(message: string, field: string): ReturnType<typeof rejected> {
  return rejected(reject('INVALID_REQUEST', message, field));
}

const count = (reader: BodyReader, name: string): number => reader.integer(name, CONFIRMATIONS, undefined);
const COUNTS = { deposit: count, withdrawal: count, settlement: count };

/** Those of the three counts that are present. */
function readConfirmations(value: unknown): Outcome<Partial<Confirmations>> {
  return readMembers<Confirmations>(new BodyReader(value, Object.keys(COUNTS), 'confirmations.'), COUNTS);
}

function defaultConfirmations(chainId: ChainId): Confirmations {
  const blocks = CONFIRMATIONS_OF_VM.get(BigInt(`0x${chainId.slice(2)}`)) ?? 1;
  return { deposit: blocks, withdrawal: blocks, settlement: 0 };
}

/** @returns INVALID_REQUEST with the failing member. */
export function readChain(key: string, body: unknown): Outcome<ChangeOf<'chain'>> {
  const chainId = parseChainId(key);
  if (chainId === null) return invalid(`${CHAIN_ID_WORDS} is expected`, 'chain_id');
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
  if (kind === 'evm' && !chainId.startsWith('00')) reader.fail('chain_id', 'an evm chain has the routing id 00');
  const foreign = kind === 'evm' ? ['block_time_ms', 'auto_mine', 'providers'] : ['rpc_urls'];
  for (const name of foreign)
    if (reader.has(name)) reader.fail(name, `a chain of kind ${kind} does not have this member`);
  const own = kind === 'evm' ? readRpc(reader) : readSimulation(reader);
  const given = readConfirmations(reader.raw('confirmations') ?? {});
  const value = {
    kind,
    ...own,
    confirmations: given.ok ? { ...defaultConfirmations(chainId), ...given.value } : null,
    checkpoint_interval_ms: reader.integer('checkpoint_interval_ms', INTERVAL_MS, 1_000),
    approval_validity_s: reader.integer('approval_validity_s', SECONDS, 3_600),
    escape_timeout_s: reader.integer('escape_timeout_s', SECONDS, 604_800),
  };
  if (!given.ok) reader.keep(given.reject);
  return reader.failure ?? accepted({ config: 'chain', key: chainId, value });
}

function readSimulation(reader: BodyReader): View {
  return {
    block_time_ms: reader.integer('block_time_ms', INTERVAL_MS, 1_000),
    auto_mine: reader.flag('auto_mine', false),
    providers: reader.integer('providers', { min: 1, max: 15 }, 3),
  };
}

/** Each address has one vote of the majority, so none is named twice. */
function readRpc(reader: BodyReader): View {
  const urls = reader.list('rpc_urls', undefined);
  const places = urls.map(rpcAddress).filter((place) => place !== null);
  if (urls.length === 0 || urls.length > 15 || new Set(places).size !== urls.length) {
    reader.fail('rpc_urls', '1 to 15 different http or https addresses are expected');
  }
  return { rpc_urls: urls };
}

/** In its normal form. */
function rpcAddress(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > RPC_URL_MAX || !/^https?:\/\//.test(value)) return null;
  return URL.canParse(value) ? new URL(value).href : null;
}

/** 20 bytes of hex, without padding. */
/** Of 20 bytes, in its normal form. */
export function shortAddress(value: unknown): string | null {
  const bytes = typeof value === 'string' ? parseHex(value, 20) : null;
  return bytes === null ? null : toHex(bytes);
}

/** @param key `<address>@<chain id>` in its normal form. @returns INVALID_REQUEST with the failing member. */
export function readVault(key: string, body: unknown): Outcome<ChangeOf<'vault'>> {
  const [address = '', chain = ''] = key.split('@');
  if (parseAddress(address) !== address || parseChainId(chain) !== chain) {
    return invalid('<address>@<chain id> is expected', 'vault');
  }
  const reader = new BodyReader(body, ['administrators', 'quorum', 'confirmations', 'abi']);
  const given = reader.list('administrators', undefined);
  const administrators = given.map(shortAddress).filter((item) => item !== null);
  if (new Set(administrators).size !== given.length) {
    reader.fail('administrators', 'different addresses of 20 bytes are expected');
  }
  const quorum = reader.integer('quorum', { min: 1, max: Math.max(1, given.length) }, undefined);
  const counts = reader.raw('confirmations') ?? null;
  const confirmations = counts === null ? accepted(null) : readConfirmations(counts);
  if (!confirmations.ok) return confirmations;
  const abi = reader.word('abi', ['v1', 'v2'], 'v1');
  const value = { administrators, quorum, confirmations: confirmations.value, abi };
  return reader.failure ?? accepted({ config: 'vault', key, value });
}

/** @param key in its normal form. @returns INVALID_REQUEST with the failing member. */
export function readSettler(key: string, body: unknown): Outcome<ChangeOf<'settler'>> {
  const settler = parseUserId(key);
  if (settler === null || settler !== key) return invalid('an Ed25519 key is expected', 'settler');
  const reader = new BodyReader(body, ['chain_id', 'executor']);
  const chainId = reader.form('chain_id', parseChainId, `${CHAIN_ID_WORDS} is`, undefined, '' as ChainId);
  const executor = reader.form('executor', parseAddress, 'an address is', undefined, '');
  const value = { chain_id: chainId, executor: executor.slice(0, 40) };
  return reader.failure ?? accepted({ config: 'settler', key: settler, value });
}

/** @returns INVALID_REQUEST with the failing member. */
export function readDelay(body: unknown): Outcome<ChangeOf<'withdrawal-delay'>> {
  const now = DEFAULT_WITHDRAWAL_DELAY;
  const reader = new BodyReader(body, Object.keys(now));
  const seconds = { min: 0, max: 31_536_000 };
  const fraction = { min: 0, max: 1_000_000 };
  const value = {
    min_delay: reader.integer('min_delay', seconds, now.min_delay),
    max_delay: reader.integer('max_delay', seconds, now.max_delay),
    delay_clamps: reader.integers('delay_clamps', fraction, now.delay_clamps),
    delay_values: reader.integers('delay_values', seconds, now.delay_values),
    cap_floor: reader.integer('cap_floor', fraction, now.cap_floor),
  };
  if (value.max_delay < value.min_delay) reader.fail('max_delay', 'the longest delay is at least the shortest');
  if (value.delay_values.length !== value.delay_clamps.length) reader.fail('delay_values', 'one value a clamp');
  return reader.failure ?? accepted({ config: 'withdrawal-delay', value });
}

const DAY_MS: Bounds = { min: 0, max: 86_400_000 };
const DAY_S: Bounds = { min: 1, max: 86_400 };
/** The bounds of the number of stored fault times. */
const FAULTS: Bounds = { min: 0, max: 100_000 };
const COUNT: Bounds = { min: 1, max: 1_000_000 };
/** Up to a TiB; 0: the disk is not watched. */
const MEBIBYTES = { min: 0, max: 1_048_576 };
const NODE_COUNT: Bounds = { min: 1, max: 20_000_000 };
const USD_AMOUNT: AmountBounds = { min: 0n };
const FRACTION: AmountBounds = { min: 1n, max: ONE_18 };
const JUMP: AmountBounds = { min: 1n };

type Member<T> = (reader: BodyReader, name: string) => T;

function integer(bounds: Bounds): Member<number> {
  return (reader, name) => reader.integer(name, bounds, undefined);
}

function decimal(bounds: AmountBounds): Member<string> {
  return (reader, name) => format18(reader.decimal(name, bounds, undefined));
}

const onTakeover: Member<Settings['on_takeover']> = (reader, name) => reader.word(name, ['keep', 'cancel'], undefined);
const flag: Member<boolean> = (reader, name) => reader.flag(name, undefined);
const amountText: Member<Settings['amount_text']> = (reader, name) => reader.word(name, ['hex', 'decimal'], undefined);
const acks: Member<Settings['acks']> = (reader, name) => reader.word(name, ['optimistic', 'durable'], undefined);
const account: Member<UserId> = (reader, name) =>
  reader.form(name, parseUserId, 'a user id is', undefined, '' as UserId);
const jump: Member<string | null> = (reader, name) => {
  const fraction = reader.decimalOrNull(name, JUMP, null);
  return fraction === null ? null : format18(fraction);
};

const SETTINGS: { readonly [Name in keyof Settings]: Member<Settings[Name]> } = {
  acks,
  preflight_minimum: decimal(USD_AMOUNT),
  post_sign_max_age_ms: integer(DAY_MS),
  clock_skew_ms: integer(DAY_MS),
  held_cancel_ms: integer(DAY_MS),
  held_cancels_per_user: integer(COUNT),
  auto_reduce_enabled: flag,
  auto_reduce_cooldown_ms: integer(DAY_MS),
  market_order_band: decimal(FRACTION),
  mark_band_age_ms: integer(DAY_MS),
  liquidation_interval_ms: integer(INTERVAL_MS),
  liquidation_rounds: integer(COUNT),
  backstop_clip_fraction: decimal(FRACTION),
  backstop_clip_usd: decimal(USD_AMOUNT),
  breaker_recovery_updates: integer(COUNT),
  oracle_max_jump: jump,
  approval_deviation_tolerance: decimal(FRACTION),
  public_trade_cache: integer(COUNT),
  max_open_orders: integer(COUNT),
  max_open_orders_market_maker: integer(COUNT),
  max_open_orders_user: integer(COUNT),
  max_open_orders_user_market_maker: integer(COUNT),
  max_open_orders_node: integer(NODE_COUNT),
  disk_reserve_mib: integer(MEBIBYTES),
  fault_budget: integer(FAULTS),
  fault_budget_market_maker: integer(FAULTS),
  fault_fills: integer(FAULTS),
  fault_fills_market_maker: integer(FAULTS),
  fault_window_s: integer(DAY_S),
  fault_cooldown_s: integer(DAY_S),
  fee_account: account,
  backstop_account: account,
  self_service_markets: flag,
  amount_text: amountText,
  on_takeover: onTakeover,
};

/** @returns INVALID_REQUEST with the failing member. */
export function readSettings(method: ChangeOf<'settings'>['method'], body: unknown): Outcome<ChangeOf<'settings'>> {
  const named = withoutAliases(body);
  if (!named.ok) return named;
  const value = readMembers(new BodyReader(named.value, Object.keys(DEFAULT_SETTINGS)), SETTINGS);
  return value.ok ? accepted({ config: 'settings', method, value: value.value }) : value;
}

/** Under the names that are stored. @returns INVALID_REQUEST: both names of a member are there. */
function withoutAliases(body: unknown): Outcome<unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return accepted(body);
  const given = body as Record<string, unknown>;
  const twice = Object.keys(given).find((name) => name in SETTING_ALIASES && String(SETTING_ALIASES[name]) in given);
  if (twice !== undefined) return invalid(`the same setting as ${SETTING_ALIASES[twice]}`, twice);
  return accepted(
    Object.fromEntries(Object.entries(given).map(([name, value]) => [SETTING_ALIASES[name] ?? name, value])),
  );
}
