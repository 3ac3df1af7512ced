/**
 * Accounts at risk of liquidation and what they have open (STR-06, AMB-62, wire.md G14, decisions-liquidation 26).
 *
 *   every balance and leg of an account ─▶ RiskSums ─▶ isAtRisk
 *   each open position of an account at risk, with its liquidation price ─▶ AtRiskTotals ─▶ one side of an asset
 *
 *   requirement = (credits × max(oracle, mark) − borrows × min(oracle, mark)) − maintenance surplus
 *
 * All exact: sums of integers, one rounding at the end, so that the order of accounts changes nothing.
 *
 * Not here: which accounts are looked at, and when (src/clearing/liquidation).
 */
import { larger, mulDivFloor, smaller } from '../core/arithmetic.ts';
import { type AssetId, compareAssetIds } from '../core/ids.ts';
import { AT_RISK_ASSETS_MAX } from '../core/limits.ts';
import type { AtRiskFigures, AtRiskSide } from '../core/market-figures.ts';
import { type Amount18, ONE_18, type TimestampNs } from '../core/units.ts';
import { addMaintenance, addMaintenanceUsd, type MaintenanceSums } from './account.ts';
import { type AssetTerms, WEIGHT_ONE, weighedLeg } from './asset-terms.ts';
import { magnitude } from './position.ts';
import { FACTOR_ONE } from './risk-terms.ts';

/** At risk is a surplus below the requirement divided by this. */
const AT_RISK_DIVISOR = 10n;

/** Maintenance surplus, and what the account is worth at the prices that maintenance takes. */
export interface RiskSums extends MaintenanceSums {
  /** credits × max(oracle, mark) − borrows × min(oracle, mark), USD, 18 decimals, signed; a broken credit is worth 0. */
  worth: bigint;
}

export function emptyRisk(): RiskSums {
  return { maintenance: 0n, hasBorrows: false, shield: 0n, worth: 0n };
}

/** Adds a spot balance or a base leg. */
export function addRisk(sums: RiskSums, terms: AssetTerms, amount: bigint): void {
  addMaintenance(sums, terms, amount);
  const { oracle, mark, isBroken } = terms.prices;
  if (amount > 0n && isBroken) return;
  sums.worth += mulDivFloor(amount, amount < 0n ? smaller(oracle, mark) : larger(oracle, mark), ONE_18);
}

/** Adds spot USD or a quote leg. */
export function addRiskUsd(sums: RiskSums, amount: bigint): void {
  addMaintenanceUsd(sums, amount);
  sums.worth += amount;
}

/** The part of the worth that the factors take away: never below zero, except by roundings. */
export function maintenanceRequirement({ worth, maintenance }: RiskSums): Amount18 {
  return (worth - maintenance) as Amount18;
}

/** Whether an account that borrows is close to liquidation, or below maintenance already. */
export function isAtRisk(sums: RiskSums): boolean {
  const { hasBorrows, maintenance } = sums;
  // mutant: at-risk-bound
  return hasBorrows && (maintenance < 0n || AT_RISK_DIVISOR * maintenance < maintenanceRequirement(sums));
}

/**
 * The price of an asset, oracle and mark alike, at which the maintenance surplus of an account is zero while all other
 * prices stay, floored (decisions-liquidation 26).
 *
 * @param own.base the position, and own.spot the balance in the asset; signed. @param maintenance the account's surplus.
 * @returns null when no price above zero liquidates the account through this asset, or there is no position.
 */
export function zeroSurplusPrice(
  terms: AssetTerms,
  own: { readonly base: bigint; readonly spot: bigint },
  maintenance: bigint,
): Amount18 | null {
  if (own.base === 0n) return null;
  const amounts = [own.base, own.spot];
  let rest = maintenance;
  // In 10^-18 units × percent × 10^-6: what one USD of the price moves.
  let slope = 0n;
  for (const amount of amounts) {
    rest -= weighedLeg(terms, amount, 'maintenance');
    slope += amount * maintenanceWeight(terms, amount);
  }
  if (slope === 0n) return null;
  // mutant: liquidation-price-floor
  const price = mulDivFloor((slope < 0n ? rest : -rest) * WEIGHT_ONE, ONE_18, magnitude(slope));
  return price > 0n ? (price as Amount18) : null;
}

function maintenanceWeight({ risk }: AssetTerms, amount: bigint): bigint {
  return (amount < 0n ? risk.liabilityWeight : risk.collateralFactor) * FACTOR_ONE;
}

/** Sums of one side of an asset. */
interface SideSums {
  quantity: bigint;
  /** Sums over the positions with a price: quantities, and quantity × price. */
  priced: bigint;
  weighed: bigint;
}

/** Positions of the accounts at risk, summed by asset and side. */
export class AtRiskTotals {
  readonly #assets = new Map<AssetId, { readonly long: SideSums; readonly short: SideSums }>();

  /** @param base the position, signed, not 0. @param price of `zeroSurplusPrice`. */
  add(assetId: AssetId, base: bigint, price: Amount18 | null): void {
    let asset = this.#assets.get(assetId);
    if (asset === undefined) {
      asset = { long: emptySide(), short: emptySide() };
      this.#assets.set(assetId, asset);
    }
    const side = base < 0n ? asset.short : asset.long;
    const quantity = magnitude(base);
    side.quantity += quantity;
    if (price === null) return;
    side.priced += quantity;
    side.weighed += quantity * price;
  }

  view(timestampNs: TimestampNs): AtRiskFigures {
    const assets = [...this.#assets]
      .sort(([a], [b]) => compareAssetIds(a, b))
      .slice(0, AT_RISK_ASSETS_MAX)
      .map(([assetId, { long, short }]) => ({ assetId, long: viewOf(long), short: viewOf(short) }));
    return { timestampNs, assets };
  }
}

function emptySide(): SideSums {
  return { quantity: 0n, priced: 0n, weighed: 0n };
}

function viewOf({ quantity, priced, weighed }: SideSums): AtRiskSide {
  return {
    quantity: quantity as Amount18,
    // mutant: at-risk-average
    liquidationPrice: priced === 0n ? null : ((weighed / priced) as Amount18),
  };
}

/** Whether two aggregates show the same; their times do not count. */
export function sameAtRisk(a: AtRiskFigures, b: AtRiskFigures): boolean {
  return (
    a.assets.length === b.assets.length &&
    a.assets.every((asset, index) => {
      const other = b.assets[index];
      return other?.assetId === asset.assetId && sameSide(asset.long, other.long) && sameSide(asset.short, other.short);
    })
  );
}

function sameSide(a: AtRiskSide, b: AtRiskSide): boolean {
  return a.quantity === b.quantity && a.liquidationPrice === b.liquidationPrice;
}
