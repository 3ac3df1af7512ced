/**
 * Bodies of chains, vaults, settlers, withdrawal delays and settings (operator-api.md 4.4 to 4.6, 4.10) as shapes, and what no
 * shape has: relations between members, and defaults that depend on others.
 *
 * Not here: rules that depend on the current registry (src/clearing/registry/registry-config.ts).
 */
import {
  type ConfigChange,
  type Confirmations,
  DEFAULT_WITHDRAWAL_DELAY,
  type WithdrawalDelay,
} from '../clearing/registry/registry-config.ts';
import { SETTING_ALIASES, type Settings } from '../clearing/registry/settings.ts';
import { defaulted, either, FLAG, nullable, optional, type Shape, words } from '../codec/shapes/shape-kit.ts';
import { Type } from '../codec/shapes/type-builder.ts';
import { parseHex, toHex } from '../core/hex.ts';
import { type ChainId, parseAddress, parseChainId, parseUserId } from '../core/ids.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import { ONE_18 } from '../core/units.ts';
import { badMember, readBody } from './body-reader.ts';
import {
  ADDRESS,
  body,
  CHAIN,
  CHAIN_ID_WORDS,
  integer,
  integers,
  list,
  normalDecimal,
  parsed,
  USER,
} from './body-shapes.ts';

type ChangeOf<Kind extends ConfigChange['config']> = Extract<ConfigChange, { readonly config: Kind }>;

const RPC_URL_MAX = 2_048;
const INTERVAL_MS = integer(1, 86_400_000);
const SECONDS = integer(1, 31_536_000);
/** Deposit and withdrawal confirmations by EVM chain id (DEP-17 to DEP-20). */
const CONFIRMATIONS_OF_VM: ReadonlyMap<bigint, number> = new Map([
  [1n, 4],
  [42_161n, 15],
  [143n, 15],
  [8_453n, 10],
]);

const BLOCKS = optional(integer(0, 10_000));
/** Those that are given; the others are the chain's. */
const CONFIRMATIONS = body({ deposit: BLOCKS, withdrawal: BLOCKS, settlement: BLOCKS });

const OF_ANY_CHAIN = {
  confirmations: optional(nullable(CONFIRMATIONS)),
  checkpoint_interval_ms: defaulted(INTERVAL_MS, 1_000),
  approval_validity_s: defaulted(SECONDS, 3_600),
  escape_timeout_s: defaulted(SECONDS, 604_800),
};

/** Each address has one vote of the majority, so none is named twice. */
const RPC_URLS = parsed(
  list(Type.String({ maxLength: RPC_URL_MAX })),
  rpcAddresses,
  '1 to 15 different http or https addresses',
);

const CHAIN_BODY = either(
  body({
    kind: words('simulated'),
    block_time_ms: defaulted(INTERVAL_MS, 1_000),
    auto_mine: defaulted(FLAG, false),
    providers: defaulted(integer(1, 15), 3),
    ...OF_ANY_CHAIN,
  }),
  body({ kind: words('evm'), rpc_urls: RPC_URLS, ...OF_ANY_CHAIN }),
);

function rpcAddresses(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > 15) return null;
  const places = value.map(rpcAddress).filter((place) => place !== null);
  return new Set(places).size === value.length ? (value as string[]) : null;
}

/** In its normal form. */
function rpcAddress(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > RPC_URL_MAX || !/^https?:\/\//.test(value)) return null;
  return URL.canParse(value) ? new URL(value).href : null;
}

function defaultConfirmations(chainId: ChainId): Confirmations {
  const blocks = CONFIRMATIONS_OF_VM.get(BigInt(`0x${chainId.slice(2)}`)) ?? 1;
  return { deposit: blocks, withdrawal: blocks, settlement: 0 };
}

/** @returns INVALID_REQUEST with the failing member. */
export function readChain(key: string, given: unknown): Outcome<ChangeOf<'chain'>> {
  const chainId = parseChainId(key);
  if (chainId === null) return badMember('chain_id', CHAIN_ID_WORDS);
  const read = readBody(CHAIN_BODY, given);
  if (!read.ok) return read;
  const { kind, confirmations, checkpoint_interval_ms, approval_validity_s, escape_timeout_s, ...own } = read.value;
  if (kind === 'evm' && !chainId.startsWith('00')) return badMember('chain_id', 'the routing id 00 of an evm chain');
  const value = {
    kind,
    ...own,
    confirmations: { ...defaultConfirmations(chainId), ...confirmations },
    ...{ checkpoint_interval_ms, approval_validity_s, escape_timeout_s },
  };
  return accepted({ config: 'chain', key: chainId, value });
}

/** Of 20 bytes, in its normal form, without padding. */
export function shortAddress(value: unknown): string | null {
  const bytes = typeof value === 'string' ? parseHex(value, 20) : null;
  return bytes === null ? null : toHex(bytes);
}

const SHORT_ADDRESS = parsed(
  Type.String({ pattern: '^(?:0[xX])?[0-9a-fA-F]{40}$', description: '40 hex digits' }),
  shortAddress,
  'an address of 20 bytes',
);

const VAULT_BODY = body({
  administrators: list(SHORT_ADDRESS),
  quorum: integer(1, 1_024),
  confirmations: defaulted(nullable(CONFIRMATIONS), null),
  abi: defaulted(words('v1', 'v2'), 'v1'),
});

/** @param key `<address>@<chain id>` in its normal form. @returns INVALID_REQUEST with the failing member. */
export function readVault(key: string, given: unknown): Outcome<ChangeOf<'vault'>> {
  const [address = '', chain = ''] = key.split('@');
  if (parseAddress(address) !== address || parseChainId(chain) !== chain) {
    return badMember('vault', '<address>@<chain id>');
  }
  const read = readBody(VAULT_BODY, given);
  if (!read.ok) return read;
  const { administrators, quorum } = read.value;
  if (new Set(administrators).size !== administrators.length) return badMember('administrators', 'different addresses');
  if (quorum > Math.max(1, administrators.length)) return badMember('quorum', 'no more than there are administrators');
  return accepted({ config: 'vault', key, value: read.value });
}

const SETTLER_BODY = body({ chain_id: CHAIN, executor: ADDRESS });

/** @param key in its normal form. @returns INVALID_REQUEST with the failing member. */
export function readSettler(key: string, given: unknown): Outcome<ChangeOf<'settler'>> {
  const settler = parseUserId(key);
  if (settler === null || settler !== key) return badMember('settler', 'an Ed25519 key');
  const read = readBody(SETTLER_BODY, given);
  if (!read.ok) return read;
  const { chain_id, executor } = read.value;
  return accepted({ config: 'settler', key: settler, value: { chain_id, executor: executor.slice(0, 40) } });
}

const DELAY = DEFAULT_WITHDRAWAL_DELAY;
const DELAY_SECONDS = { min: 0, max: 31_536_000 };
const MILLIONTHS = 1_000_000;

const DELAY_BODY: Shape<unknown, WithdrawalDelay> = body({
  min_delay: defaulted(integer(0, DELAY_SECONDS.max), DELAY.min_delay),
  max_delay: defaulted(integer(0, DELAY_SECONDS.max), DELAY.max_delay),
  delay_clamps: defaulted(integers(0, MILLIONTHS), DELAY.delay_clamps),
  delay_values: defaulted(integers(0, DELAY_SECONDS.max), DELAY.delay_values),
  cap_floor: defaulted(integer(0, MILLIONTHS), DELAY.cap_floor),
});

/** @returns INVALID_REQUEST with the failing member. */
export function readDelay(given: unknown): Outcome<ChangeOf<'withdrawal-delay'>> {
  const read = readBody(DELAY_BODY, given);
  if (!read.ok) return read;
  const { value } = read;
  if (value.max_delay < value.min_delay) return badMember('max_delay', 'no less than the shortest delay');
  if (value.delay_values.length !== value.delay_clamps.length) return badMember('delay_values', 'one value a clamp');
  return accepted({ config: 'withdrawal-delay', value });
}

const DAY_MS = optional(integer(0, 86_400_000));
const DAY_S = optional(integer(1, 86_400));
const INTERVAL = optional(INTERVAL_MS);
/** The bounds of the number of stored fault times. */
const FAULTS = optional(integer(0, 100_000));
const COUNT = optional(integer(1, 1_000_000));
const NODE_COUNT = optional(integer(1, 20_000_000));
/** Up to a TiB; 0: the disk is not watched. */
const MEBIBYTES = optional(integer(0, 1_048_576));
const SWITCH = optional(FLAG);
const ACCOUNT = optional(USER);
const USD_AMOUNT = optional(normalDecimal({ min: 0n }));
const FRACTION = optional(normalDecimal({ min: 1n, max: ONE_18 }));
const JUMP = optional(nullable(normalDecimal({ min: 1n })));

const SETTINGS_BODY: Shape<unknown, Partial<Settings>> = body({
  acks: optional(words('optimistic', 'durable')),
  preflight_minimum: USD_AMOUNT,
  post_sign_max_age_ms: DAY_MS,
  clock_skew_ms: DAY_MS,
  held_cancel_ms: DAY_MS,
  held_cancels_per_user: COUNT,
  auto_reduce_enabled: SWITCH,
  auto_reduce_cooldown_ms: DAY_MS,
  market_order_band: FRACTION,
  mark_band_age_ms: DAY_MS,
  liquidation_interval_ms: INTERVAL,
  liquidation_rounds: COUNT,
  backstop_clip_fraction: FRACTION,
  backstop_clip_usd: USD_AMOUNT,
  breaker_recovery_updates: COUNT,
  oracle_max_jump: JUMP,
  approval_deviation_tolerance: FRACTION,
  public_trade_cache: COUNT,
  max_open_orders: COUNT,
  max_open_orders_market_maker: COUNT,
  max_open_orders_user: COUNT,
  max_open_orders_user_market_maker: COUNT,
  max_open_orders_node: NODE_COUNT,
  disk_reserve_mib: MEBIBYTES,
  fault_budget: FAULTS,
  fault_budget_market_maker: FAULTS,
  fault_fills: FAULTS,
  fault_fills_market_maker: FAULTS,
  fault_window_s: DAY_S,
  fault_cooldown_s: DAY_S,
  fee_account: ACCOUNT,
  backstop_account: ACCOUNT,
  self_service_markets: SWITCH,
  amount_text: optional(words('hex', 'decimal')),
  on_takeover: optional(words('keep', 'cancel')),
});

/** @returns INVALID_REQUEST with the failing member. */
export function readSettings(method: ChangeOf<'settings'>['method'], given: unknown): Outcome<ChangeOf<'settings'>> {
  const named = withoutAliases(given);
  if (!named.ok) return named;
  const read = readBody(SETTINGS_BODY, named.value);
  return read.ok ? accepted({ config: 'settings', method, value: read.value }) : read;
}

/** Under the names that are stored. @returns INVALID_REQUEST: both names of a member are there. */
function withoutAliases(body: unknown): Outcome<unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return accepted(body);
  const given = body as Record<string, unknown>;
  const twice = Object.keys(given).find((name) => name in SETTING_ALIASES && String(SETTING_ALIASES[name]) in given);
  if (twice !== undefined) return badMember(twice, `one name of the setting ${SETTING_ALIASES[twice]}`);
  return accepted(
    Object.fromEntries(Object.entries(given).map(([name, value]) => [SETTING_ALIASES[name] ?? name, value])),
  );
}

/** The shapes of these bodies, for documents. */
export const CONFIG_BODIES: Readonly<Record<'chain' | 'vault' | 'settler' | 'settings' | 'withdrawal-delay', Shape>> = {
  chain: CHAIN_BODY,
  vault: VAULT_BODY,
  settler: SETTLER_BODY,
  settings: SETTINGS_BODY,
  'withdrawal-delay': DELAY_BODY,
};
