/**
 * What operators count and log of liquidations: one event for each that begins or ends, with the figures of the account at that
 * moment, and one for each trade of auto-deleveraging. Derived from the effects of a batch and the state after it.
 *
 *   liquidationChanged begun ─▶ begun
 *                      ended ─▶ takenOver if a row of the backstop was made of the account at that time, else healthy
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
import type { Deleveraged, Effect, LiquidationChanged } from '../effects.ts';
import type { AssetQuantity, BackstopRow, TradeRow } from '../rows.ts';
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
  | (OfAccount & {
      readonly kind: 'takenOver';
      /** The sub-account of the backstop. */
      readonly index: number;
      /** Credited so that it stands 2 % above its initial margin. */
      readonly provisional: Amount18;
      /** What the holdings were worth below zero, at the prices of maintenance; 0 for an account that could pay. */
      readonly shortfall: Amount18;
      readonly taken: readonly AssetQuantity[];
    })
  | (OfAccount & {
      /** Of the counterparty: its position was closed. */
      readonly kind: 'deleveraged';
      /** The sub-account of the backstop. */
      readonly index: number;
      readonly asset: AssetId;
      readonly tradeId: number;
      readonly quantity: Amount18;
      readonly notional: Amount18;
    });

export type LiquidationEffect = LiquidationChanged | Deleveraged;

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
  const { user, subAccount, stage } = effect;
  // mutant: taken-over-event
  const row = stage === 'ended' ? rowMadeOf(state, effect) : null;
  if (row !== null) return takenOver(state, row, nowNs);
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

/** The row of the backstop that was made of the account by this effect. */
function rowMadeOf(state: ClearingState, { user, subAccount, timeNs }: LiquidationChanged): BackstopRow | null {
  for (const row of state.backstopRows.values()) {
    if (row.sourceUser === user && row.sourceIndex === subAccount && row.startedNs === timeNs) return row;
  }
  return null;
}

function takenOver(state: ClearingState, row: BackstopRow, nowNs: TimestampNs): LiquidationEvent {
  const { index, sourceUser, sourceIndex, provisional, taken } = row;
  const account = accountOf(state, { user: state.settings.backstop_account as UserId, subAccount: index });
  const worth = riskOf(account, nowNs).worth - provisional;
  return {
    kind: 'takenOver',
    user: sourceUser,
    subAccount: sourceIndex,
    index,
    provisional,
    shortfall: (worth < 0n ? -worth : 0n) as Amount18,
    taken,
  };
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
