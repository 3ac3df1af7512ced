/**
 * What operators count and log of liquidations: one event for each that begins or ends, with the figures of the account
 * at that moment, and one for each trade of auto-deleveraging. Derived from the effects of a batch and the state after
 * it.
 *
 *   liquidationChanged begun ─▶ begun
 *                      ended ─▶ takenOver if the backstop has taken the account over, else healthy
 *   deleveraged              ─▶ deleveraged
 *
 * Not here: counters and log lines (src/node/liquidation-monitor.ts).
 */

import { notional18, quantity18 } from '../../core/arithmetic.ts';
import { must } from '../../core/assert.ts';
import type { AssetId, UserId } from '../../core/ids.ts';
import type { Amount18, TimestampNs } from '../../core/units.ts';
import { maintenanceRequirement } from '../../risk/at-risk.ts';
import { riskOf } from '../account-margin.ts';
import type { Deleveraged, Effect, LiquidationChanged, TakenOver } from '../effects.ts';
import type { AssetQuantity, TradeRow } from '../rows.ts';
import type { ClearingState, SubAccountSlot } from '../state.ts';
import { isBackstop } from './liquidation-rows.ts';

interface OfAccount {
  readonly user: UserId;
  readonly subAccount: number;
}

/** Amounts in USD or the asset, 18 decimals. */
export type LiquidationEvent =
  | (OfAccount & {
      readonly kind: 'begun' | 'healthy';
      readonly surplus: Amount18;
      readonly requirement: Amount18;
      /** Open positions, signed. */
      readonly positions: readonly AssetQuantity[];
    })
  | (OfAccount & TakenOver & { readonly kind: 'takenOver' })
  | (OfAccount & {
      /** The event of the counterparty, whose position was closed. */
      readonly kind: 'deleveraged';
      /** The sub-account of the backstop. */
      readonly index: number;
      readonly asset: AssetId;
      readonly tradeId: number;
      readonly quantity: Amount18;
      readonly notional: Amount18;
    });

type LiquidationEffect = LiquidationChanged | Deleveraged;

export function isLiquidationEffect(effect: Effect): effect is LiquidationEffect {
  return effect.kind === 'liquidationChanged' || effect.kind === 'deleveraged';
}

/** @param nowNs the time of the batch, after which the state is. */
export function liquidationEvent(
  state: ClearingState,
  effect: LiquidationEffect,
  nowNs: TimestampNs,
): LiquidationEvent {
  if (effect.kind === 'deleveraged') return deleveraged(state, effect.trade);
  const { user, subAccount, stage, takenOver } = effect;
  // mutant: taken-over-event
  if (takenOver !== undefined) return { kind: 'takenOver', user, subAccount, ...takenOver };
  const account = accountOf(state, { user, subAccount });
  const sums = riskOf(account, nowNs);
  return {
    kind: stage === 'begun' ? 'begun' : 'healthy',
    user,
    subAccount,
    surplus: sums.maintenance as Amount18,
    requirement: maintenanceRequirement(sums),
    positions: positionsOf(account),
  };
}

function accountOf(state: ClearingState, { user, subAccount }: OfAccount): SubAccountSlot {
  return must(state.users.get(user)?.subAccounts.get(subAccount), 'an account under liquidation exists');
}

function positionsOf(account: SubAccountSlot): readonly AssetQuantity[] {
  const open = [...account.positions.values()].filter(({ legs }) => legs.base !== 0n);
  return open.map(({ asset, legs }) => ({ asset, quantity: legs.base }));
}

function deleveraged(state: ClearingState, trade: TradeRow): LiquidationEvent {
  const { definition } = must(state.markets[trade.marketIndex], 'a trade is of a known market');
  const isMaker = isBackstop(state, trade.maker.user);
  const backstop = isMaker ? trade.maker : trade.taker;
  const other = isMaker ? trade.taker : trade.maker;
  return {
    kind: 'deleveraged',
    user: other.user,
    subAccount: other.subAccount,
    index: backstop.subAccount,
    asset: definition.assetId,
    tradeId: trade.tradeId,
    quantity: quantity18(trade.quantity, definition.quantityDecimals),
    notional: notional18(trade.price, trade.quantity, definition),
  };
}
