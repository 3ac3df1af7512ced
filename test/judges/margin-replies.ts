/** Frozen judge: the printers as they were written by hand, before replies were written by their shapes (reply-writer.ts). */

import { quote } from '../../src/codec/json-writer.ts';
import type {
  BasisView,
  CloseOrderView,
  ClosePreviewView,
  HeldPositionView,
  MarginViews,
  MarginWarningView as MarginWarning,
  PositionView,
  ShownMargin,
  SimulationView,
} from '../../src/codec/margin-replies.ts';
import { bareArray } from '../../src/codec/pages.ts';
import { format18 } from '../../src/core/decimal.ts';
import type { AtRiskFigures as AtRisk, AtRiskSide } from '../../src/core/market-figures.ts';
import { SIDE_WORD } from '../../src/core/order-terms.ts';
import type { Amount18 } from '../../src/core/units.ts';

export function position(view: PositionView): string {
  const { base, quote: usd } = view;
  return (
    `{"asset_id":"${view.assetId}","name":${quote(view.name)},"sub_account_index":${view.subAccount},` +
    `"side":"${view.side}","size":"${format18(magnitude(base))}",` +
    `"base_credits":"${format18(creditOf(base))}","base_liabilities":"${format18(creditOf(-base))}",` +
    `"quote_credits":"${format18(creditOf(usd))}","quote_liabilities":"${format18(creditOf(-usd))}",` +
    `"entry_price":${decimalOrNull(view.entryPrice)},"mark_price":${decimalOrNull(view.markPrice)},` +
    `"unrealized_pnl":${decimalOrNull(view.unrealizedPnl)},"margin":${decimalOrNull(view.margin)},` +
    `"leverage":${decimalOrNull(view.leverage)},"liquidation_price":${decimalOrNull(view.liquidationPrice)}}`
  );
}

/** A bare array. */
export function basisReply(views: readonly BasisView[]): string {
  return bareArray(
    views.map((view) => {
      const { subAccount, assetId, isSpot, isLong } = view;
      const average = `"${format18(view.average)}"`;
      const side = isSpot ? 'null' : isLong ? '"long"' : '"short"';
      return (
        `{"sub_account":${subAccount},"asset_id":"${assetId}","domain":"${isSpot ? 'spot' : 'margin'}","side":${side},` +
        `"quantity":"${format18(view.quantity)}","cost":"${format18(view.cost)}",` +
        `"entry_price":${isSpot ? 'null' : average},"avg_acquisition_price":${isSpot ? average : 'null'},` +
        `"mark_price":${decimalOrNull(view.markPrice)},"unrealized_pnl":${decimalOrNull(view.unrealizedPnl)}}`
      );
    }),
  );
}

/** @param withPositions false: the member is omitted. */
export function marginReply(views: MarginViews, withPositions: boolean): string {
  const accounts = byIndex(views, (view) => {
    const positions = withPositions ? `,"positions":${bareArray(view.positions.map(heldPosition))}` : '';
    return (
      `{"account_equity":"${format18(view.equity)}","available_margin":"${format18(view.available)}",` +
      `"utilized_margin":"${format18(view.utilized)}",` +
      `"maintenance_margin_surplus":"${format18(view.maintenanceSurplus)}",` +
      `"account_leverage":${decimalOrNull(view.leverage)},"is_solvent":${view.isSolvent},` +
      `"is_liquidatable":${view.isLiquidatable},"im_surplus":"${format18(view.initialSurplus)}",` +
      `"unrealized_pnl":"${format18(view.unrealizedPnl)}"${positions},` +
      `"total_upnl":"${format18(view.unrealizedPnl)}",` +
      `"mm_requirement":${decimalOrNull(view.maintenanceRequirement)},"net_apy":null,"margin_calls":[],"netting":null}`
    );
  });
  const warnings = [...views.values()].flatMap((view) => view.warnings.map(marginWarning));
  return `${accounts.slice(0, -1)},"warnings":${bareArray(warnings)}}`;
}

const WARNING_TEXT: Readonly<Record<MarginWarning['code'], string>> = {
  PRICE_MISSING: 'no price of the asset is stored',
  PRICE_STALE: 'the price of the asset is not usable: the last stored one counts',
};

function marginWarning({ subAccount, code, assetId }: MarginWarning): string {
  return `{"sub_account":${subAccount},"code":"${code}","message":${quote(WARNING_TEXT[code])},"asset":"${assetId}"}`;
}

export function solvencyReply(views: MarginViews): string {
  return byIndex(
    views,
    ({ isSolvent, maintenanceSurplus }) =>
      `{"is_solvent":${isSolvent},"distance_from_liquidation":"${format18(maintenanceSurplus)}"}`,
  );
}

export function closePreviewReply({ orders, errors }: ClosePreviewView): string {
  const faults = [...errors].map(([asset, text]) => `${quote(asset)}:${quote(text)}`);
  return `{"orders":${bareArray(orders.map(closeOrder))},"errors":{${faults.join(',')}}}`;
}

export function simulationReply({ figures, impact, isAccepted, liquidationPrice }: SimulationView): string {
  const required = impact < 0n ? -impact : 0n;
  const positions = figures.positions.map((held) => `${open(held)},"margin":"${format18(held.margin)}"}`);
  return (
    `{"account_equity":"${format18(figures.equity)}","available_margin":"${format18(figures.available)}",` +
    `"mm_surplus":"${format18(figures.maintenanceSurplus)}","account_leverage":${decimalOrNull(figures.leverage)},` +
    `"utilized_margin":"${format18(figures.utilized)}","margin_required":"${format18(required)}",` +
    `"margin_impact":"${format18(impact)}","is_solvent":${figures.isSolvent},"trade_accepted":${isAccepted},` +
    `"liquidation_price":${decimalOrNull(liquidationPrice)},"positions":${bareArray(positions)}}`
  );
}

/** The frame of `/liquidation/at_risk/ws` (STR-06). */
export function atRisk({ timestampNs, assets }: AtRisk): string {
  const texts = assets.map(
    ({ assetId, long, short }) => `"${assetId}":{"long":${sideAtRisk(long)},"short":${sideAtRisk(short)}}`,
  );
  return `{"timestamp_ns":${timestampNs},"assets":{${texts.join(',')}}}`;
}

function sideAtRisk({ quantity, liquidationPrice }: AtRiskSide): string {
  return `{"quantity":"${format18(quantity)}","liquidation_price":${decimalOrNull(liquidationPrice)}}`;
}

function heldPosition(held: HeldPositionView): string {
  return `${open(held)},"margin":"${format18(held.maintenance)}"}`;
}

/** The members of a position, without the closing brace. */
function open({ assetId, base, notional }: HeldPositionView): string {
  const side = base < 0n ? 'Short' : 'Long';
  return (
    `{"asset_id":"${assetId}","side":"${side}","size":"${format18(magnitude(base))}",` +
    `"notional_value":"${format18(notional)}"`
  );
}

function closeOrder(order: CloseOrderView): string {
  return (
    `{"asset_id":"${order.assetId}","side":"${SIDE_WORD[order.side]}","quantity":${order.quantity},` +
    `"suggested_max_sellable_amount":null,"oracle_price":"${format18(order.oraclePrice)}",` +
    `"book_price_decimals":${order.priceDecimals},"book_quantity_decimals":${order.quantityDecimals},` +
    `"sub_account_index":${order.subAccount},"reduce_only":true}`
  );
}

function byIndex(views: MarginViews, textOf: (view: ShownMargin) => string): string {
  return `{"accounts":{${[...views].map(([index, view]) => `"${index}":${textOf(view)}`).join(',')}}}`;
}

function decimalOrNull(amount: Amount18 | null): string {
  return amount === null ? 'null' : `"${format18(amount)}"`;
}

function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

function creditOf(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}
