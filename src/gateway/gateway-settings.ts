/** The stored settings as the gateway uses them (operator-api.md 4.10); one that is not stored has its default. */
import { must } from '../core/assert.ts';
import { parseDecimal18 } from '../core/decimal.ts';
import type { Amount18 } from '../core/units.ts';
import { DEFAULT_SETTINGS, type OrderSettings } from './orders/settings.ts';
import { DEFAULT_FAULTS, type FaultSettings } from './sessions/fault-budget.ts';

/** The members that the gateway reads; clearing checked them. */
interface SettingsJson {
  readonly acks?: string;
  readonly post_sign_max_age_ms?: number;
  readonly clock_skew_ms?: number;
  readonly max_open_orders?: number;
  readonly max_open_orders_market_maker?: number;
  readonly max_open_orders_user?: number;
  readonly max_open_orders_user_market_maker?: number;
  readonly max_open_orders_node?: number;
  readonly fault_budget?: number;
  readonly fault_budget_market_maker?: number;
  readonly fault_window_s?: number;
  readonly fault_cooldown_s?: number;
  readonly fee_account?: string;
  readonly self_service_markets?: boolean;
  readonly preflight_minimum?: string;
  readonly auto_reduce_enabled?: boolean;
  readonly auto_reduce_cooldown_ms?: number;
  readonly reduce_only_excess_cancel?: boolean;
  readonly market_order_band?: string;
}

/** @returns the fee account as undefined where it was never set. */
export function readSettings(json: string): {
  readonly settings: OrderSettings;
  readonly feeAccount: string | undefined;
  readonly selfServiceMarkets: boolean;
  readonly faults: FaultSettings;
} {
  const stored = JSON.parse(json) as SettingsJson;
  const { post_sign_max_age_ms: signAge, clock_skew_ms: skew, max_open_orders: open } = stored;
  const { max_open_orders_market_maker: openOfMaker, fee_account: feeAccount } = stored;
  const settings: OrderSettings = {
    ...DEFAULT_SETTINGS,
    ...marginSettings(stored),
    acks: stored.acks === 'durable' ? 'durable' : 'optimistic',
    ...(signAge === undefined ? {} : { postSignAgeMaxNs: milliseconds(signAge) }),
    ...(skew === undefined ? {} : { clockSkewNs: milliseconds(skew) }),
    ...(open === undefined ? {} : { openOrdersMax: open }),
    ...(openOfMaker === undefined ? {} : { openOrdersMarketMakerMax: openOfMaker }),
    ...openOrderBounds(stored),
  };
  const faults = faultSettings(stored);
  return { settings, feeAccount, selfServiceMarkets: stored.self_service_markets === true, faults };
}

function faultSettings(stored: SettingsJson): FaultSettings {
  const { fault_budget: budget, fault_budget_market_maker: ofMaker } = stored;
  const { fault_window_s: window, fault_cooldown_s: cooldown } = stored;
  return {
    budget: budget ?? DEFAULT_FAULTS.budget,
    budgetMarketMaker: ofMaker ?? DEFAULT_FAULTS.budgetMarketMaker,
    windowNs: window === undefined ? DEFAULT_FAULTS.windowNs : milliseconds(window * 1_000),
    cooldownNs: cooldown === undefined ? DEFAULT_FAULTS.cooldownNs : milliseconds(cooldown * 1_000),
  };
}

function openOrderBounds(stored: SettingsJson): Partial<OrderSettings> {
  const { max_open_orders_user: ofUser, max_open_orders_node: ofNode } = stored;
  const { max_open_orders_user_market_maker: ofMaker } = stored;
  return {
    ...(ofUser === undefined ? {} : { openOrdersUserMax: ofUser }),
    ...(ofMaker === undefined ? {} : { openOrdersUserMarketMakerMax: ofMaker }),
    ...(ofNode === undefined ? {} : { openOrdersNodeMax: ofNode }),
  };
}

function marginSettings(stored: SettingsJson): Partial<OrderSettings> {
  const { preflight_minimum: minimum, auto_reduce_enabled: autoReduces } = stored;
  const { auto_reduce_cooldown_ms: cooldown, reduce_only_excess_cancel: cancelsReduceOnlyExcess } = stored;
  const { market_order_band: band } = stored;
  return {
    ...(minimum === undefined
      ? {}
      : { preflightMinimum: must(parseDecimal18(minimum), 'a stored decimal') as Amount18 }),
    ...(autoReduces === undefined ? {} : { autoReduces }),
    ...(cooldown === undefined ? {} : { autoReduceCooldownNs: milliseconds(cooldown) }),
    ...(cancelsReduceOnlyExcess === undefined ? {} : { cancelsReduceOnlyExcess }),
    ...(band === undefined ? {} : { marketOrderBand: must(parseDecimal18(band), 'a stored decimal') }),
  };
}

function milliseconds(ms: number): bigint {
  return BigInt(ms) * 1_000_000n;
}
