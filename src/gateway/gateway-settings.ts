/** The stored settings as the gateway uses them, in its own units (operator-api.md 4.10). */
import { parseSettings } from '../clearing/registry/settings.ts';
import { must } from '../core/assert.ts';
import { parseDecimal18 } from '../core/decimal.ts';
import type { UserId } from '../core/ids.ts';
import { type Amount18, MILLISECOND_NS, SECOND_NS } from '../core/units.ts';
import type { OrderSettings } from './orders/settings.ts';
import type { FaultSettings } from './sessions/fault-budget.ts';

/** @param json a stored row; what it lacks has its default. */
export function readGatewaySettings(json: string): {
  readonly settings: OrderSettings;
  readonly feeAccount: UserId;
  readonly selfServiceMarkets: boolean;
  readonly faults: FaultSettings;
  readonly amountText: 'hex' | 'decimal';
  readonly diskReserveMib: number;
} {
  const stored = parseSettings(json);
  const settings: OrderSettings = {
    acks: stored.acks,
    postSignAgeMaxNs: milliseconds(stored.post_sign_max_age_ms),
    clockSkewNs: milliseconds(stored.clock_skew_ms),
    openOrdersMax: stored.max_open_orders,
    openOrdersMarketMakerMax: stored.max_open_orders_market_maker,
    openOrdersUserMax: stored.max_open_orders_user,
    openOrdersUserMarketMakerMax: stored.max_open_orders_user_market_maker,
    openOrdersNodeMax: stored.max_open_orders_node,
    preflightMinimum: decimal(stored.preflight_minimum),
    autoReduces: stored.auto_reduce_enabled,
    autoReduceCooldownNs: milliseconds(stored.auto_reduce_cooldown_ms),
    marketOrderBand: decimal(stored.market_order_band),
  };
  const faults: FaultSettings = {
    orders: stored.fault_budget,
    ordersMarketMaker: stored.fault_budget_market_maker,
    fills: stored.fault_fills,
    fillsMarketMaker: stored.fault_fills_market_maker,
    windowNs: BigInt(stored.fault_window_s) * SECOND_NS,
    cooldownNs: BigInt(stored.fault_cooldown_s) * SECOND_NS,
  };
  return {
    settings,
    feeAccount: stored.fee_account,
    selfServiceMarkets: stored.self_service_markets,
    faults,
    amountText: stored.amount_text,
    diskReserveMib: stored.disk_reserve_mib,
  };
}

function decimal(text: string): Amount18 {
  return must(parseDecimal18(text), 'a stored setting is a decimal') as Amount18;
}

function milliseconds(ms: number): bigint {
  return BigInt(ms) * MILLISECOND_NS;
}
