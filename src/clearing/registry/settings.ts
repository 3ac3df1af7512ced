/** Settings (operator-api.md 4.10): one object, every member with its default, read strictly. */
import { format18 } from '../../core/decimal.ts';
import { parseUserId, type UserId } from '../../core/ids.ts';
import {
  OPEN_ORDERS_MARKET_MAKER_MAX,
  OPEN_ORDERS_MAX,
  OPEN_ORDERS_NODE_MAX,
  OPEN_ORDERS_USER_MARKET_MAKER_MAX,
  OPEN_ORDERS_USER_MAX,
} from '../../core/limits.ts';
import { accepted, type Outcome } from '../../core/outcome.ts';
import { type Amount18, ONE_18 } from '../../core/units.ts';
import { BodyReader, type Bounds } from './body-reader.ts';

/** Rollbacks by a user's fault in a window before new orders are refused for the cool-down (AMB-124). */
interface FaultSettings {
  readonly fault_budget: number;
  readonly fault_budget_market_maker: number;
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
  readonly reduce_only_excess_cancel: boolean;
  /** Fraction. */
  readonly market_order_band: string;
  readonly liquidation_interval_ms: number;
  readonly liquidation_rounds: number;
  /** Fraction. */
  readonly backstop_clip_fraction: string;
  readonly backstop_clip_usd: string;
  readonly breaker_recovery_updates: number;
  /** Fraction, or null for no guard. */
  readonly oracle_max_jump: string | null;
  readonly public_trade_cache: number;
  readonly max_open_orders: number;
  readonly max_open_orders_market_maker: number;
  readonly max_open_orders_user: number;
  readonly max_open_orders_user_market_maker: number;
  readonly max_open_orders_node: number;
  readonly fee_account: UserId;
  readonly backstop_account: UserId;
  readonly self_service_markets: boolean;
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
  reduce_only_excess_cancel: false,
  market_order_band: '0.1',
  liquidation_interval_ms: 1_000,
  liquidation_rounds: 3,
  backstop_clip_fraction: '0.1',
  backstop_clip_usd: '50000',
  breaker_recovery_updates: 3,
  oracle_max_jump: null,
  public_trade_cache: 10_000,
  max_open_orders: OPEN_ORDERS_MAX,
  max_open_orders_market_maker: OPEN_ORDERS_MARKET_MAKER_MAX,
  max_open_orders_user: OPEN_ORDERS_USER_MAX,
  max_open_orders_user_market_maker: OPEN_ORDERS_USER_MARKET_MAKER_MAX,
  max_open_orders_node: OPEN_ORDERS_NODE_MAX,
  fault_budget: 20,
  fault_budget_market_maker: 200,
  fault_window_s: 60,
  fault_cooldown_s: 60,
  fee_account: 'ca987f7a6cd863424641d4500dc7deba9782533ee071c5f00bc300bc85452437' as UserId,
  backstop_account: '7d59c5623dd40a74aa4d5a32ac645d3b3f95daeae4c22be25476dd6a486f7382' as UserId,
  self_service_markets: true,
};

const DAY_MS: Bounds = { min: 0, max: 86_400_000 };
const INTERVAL_MS: Bounds = { min: 1, max: 86_400_000 };
const DAY_S: Bounds = { min: 1, max: 86_400 };
/** Of so many faults the times are kept. */
const FAULTS: Bounds = { min: 0, max: 100_000 };
const COUNT: Bounds = { min: 1, max: 1_000_000 };
const NODE_COUNT: Bounds = { min: 1, max: 20_000_000 };
const USD_AMOUNT = { min: 0n };
const FRACTION = { min: 1n, max: ONE_18 };
const JUMP = { min: 1n };

function decimalText(reader: BodyReader, name: string, bounds: { min: bigint; max?: bigint }, current: string): string {
  return reader.has(name) ? format18(reader.decimal(name, bounds, 0n as Amount18)) : current;
}

function jumpText(reader: BodyReader, current: string | null): string | null {
  if (!reader.has('oracle_max_jump')) return current;
  const jump = reader.decimalOrNull('oracle_max_jump', JUMP, null);
  return jump === null ? null : format18(jump);
}

function account(reader: BodyReader, name: string, current: UserId): UserId {
  return reader.form(name, parseUserId, 'a user id is', current, current);
}

function faultSettings(reader: BodyReader, now: Settings): FaultSettings {
  return {
    fault_budget: reader.integer('fault_budget', FAULTS, now.fault_budget),
    fault_budget_market_maker: reader.integer('fault_budget_market_maker', FAULTS, now.fault_budget_market_maker),
    fault_window_s: reader.integer('fault_window_s', DAY_S, now.fault_window_s),
    fault_cooldown_s: reader.integer('fault_cooldown_s', DAY_S, now.fault_cooldown_s),
  };
}

/**
 * The settings with the given members changed.
 *
 * @param now what members left out keep.
 * @returns INVALID_REQUEST with the member at fault.
 */
export function readSettings(body: unknown, now: Settings): Outcome<Settings> {
  const reader = new BodyReader(body, Object.keys(DEFAULT_SETTINGS));
  const settings: Settings = {
    acks: reader.word('acks', ['optimistic', 'durable'], now.acks),
    preflight_minimum: decimalText(reader, 'preflight_minimum', USD_AMOUNT, now.preflight_minimum),
    post_sign_max_age_ms: reader.integer('post_sign_max_age_ms', DAY_MS, now.post_sign_max_age_ms),
    clock_skew_ms: reader.integer('clock_skew_ms', DAY_MS, now.clock_skew_ms),
    held_cancel_ms: reader.integer('held_cancel_ms', DAY_MS, now.held_cancel_ms),
    held_cancels_per_user: reader.integer('held_cancels_per_user', COUNT, now.held_cancels_per_user),
    auto_reduce_enabled: reader.flag('auto_reduce_enabled', now.auto_reduce_enabled),
    auto_reduce_cooldown_ms: reader.integer('auto_reduce_cooldown_ms', DAY_MS, now.auto_reduce_cooldown_ms),
    reduce_only_excess_cancel: reader.flag('reduce_only_excess_cancel', now.reduce_only_excess_cancel),
    market_order_band: decimalText(reader, 'market_order_band', FRACTION, now.market_order_band),
    liquidation_interval_ms: reader.integer('liquidation_interval_ms', INTERVAL_MS, now.liquidation_interval_ms),
    liquidation_rounds: reader.integer('liquidation_rounds', COUNT, now.liquidation_rounds),
    backstop_clip_fraction: decimalText(reader, 'backstop_clip_fraction', FRACTION, now.backstop_clip_fraction),
    backstop_clip_usd: decimalText(reader, 'backstop_clip_usd', USD_AMOUNT, now.backstop_clip_usd),
    breaker_recovery_updates: reader.integer('breaker_recovery_updates', COUNT, now.breaker_recovery_updates),
    oracle_max_jump: jumpText(reader, now.oracle_max_jump),
    public_trade_cache: reader.integer('public_trade_cache', COUNT, now.public_trade_cache),
    max_open_orders: reader.integer('max_open_orders', COUNT, now.max_open_orders),
    max_open_orders_market_maker: reader.integer(
      'max_open_orders_market_maker',
      COUNT,
      now.max_open_orders_market_maker,
    ),
    max_open_orders_user: reader.integer('max_open_orders_user', COUNT, now.max_open_orders_user),
    max_open_orders_user_market_maker: reader.integer(
      'max_open_orders_user_market_maker',
      COUNT,
      now.max_open_orders_user_market_maker,
    ),
    max_open_orders_node: reader.integer('max_open_orders_node', NODE_COUNT, now.max_open_orders_node),
    ...faultSettings(reader, now),
    fee_account: account(reader, 'fee_account', now.fee_account),
    backstop_account: account(reader, 'backstop_account', now.backstop_account),
    self_service_markets: reader.flag('self_service_markets', now.self_service_markets),
  };
  if (settings.fee_account === settings.backstop_account) {
    reader.fail('backstop_account', 'the fee account and the backstop account differ');
  }
  return reader.failure ?? accepted(settings);
}
