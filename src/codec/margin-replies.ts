/**
 * Positions, margin, solvency, the close-all preview and simulations as JSON (wire.md 7.11 to 7.16), and what is at risk
 * over all accounts (G14). Amounts are 10^-18.
 */
import type { AssetId } from '../core/ids.ts';
import type { AtRiskFigures } from '../core/market-figures.ts';
import { SIDE_WORD, type Side } from '../core/order-terms.ts';
import type { Amount18 } from '../core/units.ts';
import { replyWriter } from './reply-writer.ts';
import {
  AT_RISK,
  CLOSE_ALL_PREVIEW,
  MARGIN,
  POSITION_BASIS,
  SIMULATION,
  SOLVENCY,
  USER_POSITION,
} from './shapes/account-shapes.ts';

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

const writePosition = replyWriter<object>(USER_POSITION);

/** Of every changed position of a stream, so without a copy by spreading, which costs more than the text. */
export function position(view: PositionView): string {
  const { base, quote } = view;
  return writePosition({
    assetId: view.assetId,
    name: view.name,
    subAccount: view.subAccount,
    side: view.side,
    size: magnitude(base),
    base_credits: creditOf(base),
    base_liabilities: creditOf(-base),
    quoteCredits: creditOf(quote),
    quoteLiabilities: creditOf(-quote),
    entryPrice: view.entryPrice,
    markPrice: view.markPrice,
    unrealizedPnl: view.unrealizedPnl,
    margin: view.margin,
    leverage: view.leverage,
    liquidationPrice: view.liquidationPrice,
  });
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

const writeBasis = replyWriter<readonly object[]>(POSITION_BASIS);

/** A bare array. */
export function basisReply(views: readonly BasisView[]): string {
  return writeBasis(
    views.map(({ isSpot, isLong, average, ...view }) => ({
      ...view,
      domain: isSpot ? 'spot' : 'margin',
      side: isSpot ? null : isLong ? 'long' : 'short',
      entryPrice: isSpot ? null : average,
      averageAcquisitionPrice: isSpot ? average : null,
    })),
  );
}

const writeMargin = replyWriter<object>(MARGIN);

/** @param withPositions false: the member is omitted. */
export function marginReply(views: MarginViews, withPositions: boolean): string {
  const accounts = new Map<number, object>();
  for (const [index, view] of views) accounts.set(index, accountOf(view, withPositions));
  const warnings = [...views.values()].flatMap((view) => view.warnings);
  const messages = warnings.map((warning) => ({ ...warning, message: WARNING_TEXT[warning.code] }));
  return writeMargin({ accounts, warnings: messages });
}

/** Member by member: a copy by spreading costs as much as all else of an account. */
function accountOf(view: ShownMargin, withPositions: boolean): object {
  const { equity, available, utilized, maintenanceSurplus, leverage, isSolvent, isLiquidatable } = view;
  const { initialSurplus, unrealizedPnl, maintenanceRequirement } = view;
  return {
    equity,
    available,
    utilized,
    maintenanceSurplus,
    leverage,
    isSolvent,
    isLiquidatable,
    initialSurplus,
    unrealizedPnl,
    maintenanceRequirement,
    positions: withPositions ? view.positions.map((held) => heldPosition(held, held.maintenance)) : undefined,
    total_upnl: unrealizedPnl,
    net_apy: null,
    margin_calls: [],
    netting: null,
  };
}

const WARNING_TEXT: Readonly<Record<MarginWarningView['code'], string>> = {
  PRICE_MISSING: 'no price of the asset is stored',
  PRICE_STALE: 'the price of the asset is not usable: the last stored one counts',
};

const writeSolvency = replyWriter<object>(SOLVENCY);

export function solvencyReply(views: MarginViews): string {
  return writeSolvency({ accounts: views });
}

const writePreview = replyWriter<object>(CLOSE_ALL_PREVIEW);

export function closePreviewReply({ orders, errors }: ClosePreviewView): string {
  const rows = orders.map((order) => ({
    ...order,
    side: SIDE_WORD[order.side],
    suggested_max_sellable_amount: null,
    book_price_decimals: order.priceDecimals,
    book_quantity_decimals: order.quantityDecimals,
    reduce_only: true,
  }));
  return writePreview({ orders: rows, errors });
}

const writeSimulation = replyWriter<object>(SIMULATION);

export function simulationReply({ figures, impact, isAccepted, liquidationPrice }: SimulationView): string {
  return writeSimulation({
    ...figures,
    utilized_margin: figures.utilized,
    marginRequired: impact < 0n ? -impact : 0n,
    marginImpact: impact,
    isAccepted,
    liquidationPrice,
    positions: figures.positions.map((held) => heldPosition(held, held.margin)),
  });
}

const writeAtRisk = replyWriter<object>(AT_RISK);

/** The frame of `/liquidation/at_risk/ws` (STR-06). */
export function atRisk({ timestampNs, assets }: AtRiskFigures): string {
  return writeAtRisk({ timestampNs, assets: new Map(assets.map((sides) => [sides.assetId, sides])) });
}

function heldPosition({ assetId, base, notional }: HeldPositionView, margin: Amount18): object {
  const side = base < 0n ? 'Short' : 'Long';
  return { asset_id: assetId, side, size: magnitude(base), notional_value: notional, margin };
}

function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

function creditOf(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}
