/**
 * Settings (operator-api.md 4.10): one object, every member with its default.
 *
 * Not here: what each member may be (src/operator/config-bodies.ts).
 */
import type { UserId } from '../../core/ids.ts';
import {
  DISK_RESERVE_MIB,
  MARK_BAND_AGE_NS,
  OPEN_ORDERS_MARKET_MAKER_MAX,
  OPEN_ORDERS_MAX,
  OPEN_ORDERS_NODE_MAX,
  OPEN_ORDERS_USER_MARKET_MAKER_MAX,
  OPEN_ORDERS_USER_MAX,
} from '../../core/limits.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { reject } from '../../core/reject.ts';
import { MILLISECOND_NS } from '../../core/units.ts';

/**
 * Orders at fault, and fills of others that were undone for them, in a window before new orders are refused for the
 * cool-down (AMB-124, MON-08). The first two are `fault_orders` and `fault_orders_market_maker` too.
 */
interface FaultSettings {
  readonly fault_budget: number;
  readonly fault_budget_market_maker: number;
  readonly fault_fills: number;
  readonly fault_fills_market_maker: number;
  readonly fault_window_s: number;
  readonly fault_cooldown_s: number;
}

/** Members are named as on the wire; decimals stay human decimal strings. */
export interface Settings extends FaultSettings {
  readonly acks: 'optimistic' | 'durable';
  /** USD. */
  readonly preflight_minimum: string;
  readonly post_sign_max_age_ms: number;
  readonly clock_skew_ms: number;
  readonly held_cancel_ms: number;
  readonly held_cancels_per_user: number;
  readonly auto_reduce_enabled: boolean;
  readonly auto_reduce_cooldown_ms: number;
  /** Fraction. */
  readonly market_order_band: string;
  /** An oracle price older than this binds no mark (MON-06). */
  readonly mark_band_age_ms: number;
  readonly liquidation_interval_ms: number;
  readonly liquidation_rounds: number;
  /** Fraction. */
  readonly backstop_clip_fraction: string;
  readonly backstop_clip_usd: string;
  readonly breaker_recovery_updates: number;
  /** Fraction, or null for no guard. */
  readonly oracle_max_jump: string | null;
  /** Share of what the ledger has of an asset on a chain that its vault may lack (MON-05). */
  readonly approval_deviation_tolerance: string;
  readonly public_trade_cache: number;
  readonly max_open_orders: number;
  readonly max_open_orders_market_maker: number;
  readonly max_open_orders_user: number;
  readonly max_open_orders_user_market_maker: number;
  readonly max_open_orders_node: number;
  /** MiB of the disk under the data directory: with less free, new orders are refused (MCH-04). */
  readonly disk_reserve_mib: number;
  readonly fee_account: UserId;
  readonly backstop_account: UserId;
  readonly self_service_markets: boolean;
  /** Text of withdrawal and settlement amounts in requests and user events (AMB-11). */
  readonly amount_text: 'hex' | 'decimal';
  /** Of orders of connections that cancel on disconnect, and of users with a dead-man timer (cluster.md 8). */
  readonly on_takeover: 'keep' | 'cancel';
}

/**
 * As in dev and test; a production node patches `oracle_max_jump`, `self_service_markets` and the two accounts before it
 * opens: those written here have public keys.
 */
export const DEFAULT_SETTINGS: Settings = {
  acks: 'optimistic',
  preflight_minimum: '0.01',
  post_sign_max_age_ms: 60_000,
  clock_skew_ms: 5_000,
  held_cancel_ms: 5_000,
  held_cancels_per_user: 1_000,
  auto_reduce_enabled: true,
  auto_reduce_cooldown_ms: 1_000,
  market_order_band: '0.1',
  mark_band_age_ms: Number(MARK_BAND_AGE_NS / MILLISECOND_NS),
  liquidation_interval_ms: 1_000,
  liquidation_rounds: 3,
  backstop_clip_fraction: '0.1',
  backstop_clip_usd: '50000',
  breaker_recovery_updates: 3,
  oracle_max_jump: null,
  approval_deviation_tolerance: '0',
  public_trade_cache: 10_000,
  max_open_orders: OPEN_ORDERS_MAX,
  max_open_orders_market_maker: OPEN_ORDERS_MARKET_MAKER_MAX,
  max_open_orders_user: OPEN_ORDERS_USER_MAX,
  max_open_orders_user_market_maker: OPEN_ORDERS_USER_MARKET_MAKER_MAX,
  max_open_orders_node: OPEN_ORDERS_NODE_MAX,
  disk_reserve_mib: DISK_RESERVE_MIB,
  fault_budget: 20,
  fault_budget_market_maker: 200,
  fault_fills: 200,
  fault_fills_market_maker: 2_000,
  fault_window_s: 60,
  fault_cooldown_s: 60,
  fee_account: 'ca987f7a6cd863424641d4500dc7deba9782533ee071c5f00bc300bc85452437' as UserId,
  backstop_account: '7d59c5623dd40a74aa4d5a32ac645d3b3f95daeae4c22be25476dd6a486f7382' as UserId,
  self_service_markets: true,
  amount_text: 'hex',
  on_takeover: 'keep',
};

/** Other names of members: order and answer of both are one (MON-08). */
export const SETTING_ALIASES: Readonly<Record<string, keyof Settings>> = {
  fault_orders: 'fault_budget',
  fault_orders_market_maker: 'fault_budget_market_maker',
};

/** What is shown of settings: every member under each of its names. */
export function withAliases(settings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named = Object.entries(SETTING_ALIASES).map(([alias, name]) => [alias, settings[name]]);
  return { ...settings, ...Object.fromEntries(named) };
}

/**
 * The settings with the given members changed. Each member is valid by itself.
 *
 * @param now what members left out keep.
 * @returns INVALID_REQUEST with the member at fault.
 */
export function changedSettings(now: Settings, change: Partial<Settings>): Outcome<Settings> {
  const settings: Settings = { ...now, ...change };
  return settings.fee_account === settings.backstop_account
    ? rejected(reject('INVALID_REQUEST', 'the fee account and the backstop account differ', 'backstop_account'))
    : accepted(settings);
}

/** Reads stored settings back; what is not stored has its default. Members that there are no more are left out. */
export function parseSettings(json: string): Settings {
  const { reduce_only_excess_cancel: _gone, ...stored } = JSON.parse(json) as Partial<Settings> & OldSettings;
  return { ...DEFAULT_SETTINGS, ...stored };
}

/** Settings of earlier versions that may be stored (MON-09). */
interface OldSettings {
  readonly reduce_only_excess_cancel?: boolean;
}
