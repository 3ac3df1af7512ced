/**
 * Positions, margin, solvency, the close-all preview and simulations as JSON (wire.md 7.11 to 7.16), and what is at risk
 * over all accounts (G14). Amounts are 10^-18.
 */
import { format18 } from '../core/decimal.ts';
import type { AssetId } from '../core/ids.ts';
import type { AtRiskFigures, AtRiskSide } from '../core/market-figures.ts';
import { SIDE_WORD, type Side } from '../core/order-terms.ts';
import type { Amount18 } from '../core/units.ts';
import { quote } from './json-writer.ts';
import { bareArray } from './pages.ts';

export interface PositionView {
  readonly assetId: AssetId;
  /** Name of the sub-account. */
  readonly name: string;
  readonly subAccount: number;
  readonly side: 'long' | 'short' | 'closed';
  /** Signed legs. */
  readonly base: bigint;
  readonly quote: bigint;
  readonly entryPrice: Amount18 | null;
  readonly markPrice: Amount18 | null;
  readonly unrealizedPnl: Amount18 | null;
  readonly margin: Amount18 | null;
  readonly leverage: Amount18 | null;
  readonly liquidationPrice: Amount18 | null;
}

/** A position in a list of figures: only positions with a base leg. */
export interface HeldPositionView {
  readonly assetId: AssetId;
  /** Signed, not zero. */
  readonly base: Amount18;
  /** At the mark. */
  readonly notional: Amount18;
  readonly margin: Amount18;
  /** Its part of the maintenance requirement; 0 without a price. */
  readonly maintenance: Amount18;
}

/** A figure that is not complete, and why (wire-additions.md 9.1). */
export interface MarginWarningView {
  readonly subAccount: number;
  readonly code: 'PRICE_MISSING' | 'PRICE_STALE';
  readonly assetId: AssetId;
}

export interface MarginFiguresView {
  readonly equity: Amount18;
  /** Trading capacity. */
  readonly available: Amount18;
  readonly utilized: Amount18;
  readonly maintenanceSurplus: Amount18;
  readonly initialSurplus: Amount18;
  readonly leverage: Amount18 | null;
  readonly unrealizedPnl: Amount18;
  readonly isSolvent: boolean;
  readonly isLiquidatable: boolean;
  readonly positions: readonly HeldPositionView[];
}

/** As an account is shown by itself. */
export interface ShownMargin extends MarginFiguresView {
  /** Null while a price is missing. */
  readonly maintenanceRequirement: Amount18 | null;
  readonly warnings: readonly MarginWarningView[];
}

/** By sub-account index. */
export type MarginViews = ReadonlyMap<number, ShownMargin>;

/** One order of the preview. */
export interface CloseOrderView {
  readonly assetId: AssetId;
  readonly side: Side;
  /** Raw book units. */
  readonly quantity: bigint;
  readonly oraclePrice: Amount18;
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
  readonly subAccount: number;
}

export interface ClosePreviewView {
  readonly orders: readonly CloseOrderView[];
  /** By asset. */
  readonly errors: ReadonlyMap<string, string>;
}

export interface SimulationView {
  /** Figures of the account after the trade. */
  readonly figures: MarginFiguresView;
  /** Capacity after the trade minus capacity before. */
  readonly impact: Amount18;
  readonly isAccepted: boolean;
  readonly liquidationPrice: Amount18 | null;
}

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

/** What a position cost (wire-additions.md 8.4). */
export interface BasisView {
  readonly subAccount: number;
  readonly assetId: AssetId;
  readonly isSpot: boolean;
  readonly isLong: boolean;
  /** Size, above 0. */
  readonly quantity: Amount18;
  readonly cost: Amount18;
  readonly average: Amount18;
  readonly markPrice: Amount18 | null;
  readonly unrealizedPnl: Amount18 | null;
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

const WARNING_TEXT: Readonly<Record<MarginWarningView['code'], string>> = {
  PRICE_MISSING: 'no price of the asset is stored',
  PRICE_STALE: 'the price of the asset is not usable: the last stored one counts',
};

function marginWarning({ subAccount, code, assetId }: MarginWarningView): string {
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
export function atRisk({ timestampNs, assets }: AtRiskFigures): string {
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
