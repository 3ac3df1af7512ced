/**
 * The figures of one sub-account (service spec 2.8, MRG-03 to MRG-11, AMB-46 to AMB-48, AMB-129, LIQ-03).
 *
 *   every spot balance ─┐
 *   every base leg ─────┼─▶ one term each, no netting (AMB-47) ─▶ MarginSums ─▶ figuresOf
 *   every quote leg ────┘
 *
 * A sum is used again and again, so that checking a trade allocates nothing.
 *
 * Not here: what open orders add (pressure.ts).
 */
import { mulDivFloor, smaller } from '../core/arithmetic.ts';
import { type Amount18, ONE_18 } from '../core/units.ts';
import { type AssetTerms, equityLeg, legAtMark, shieldLeg, storedLeg, weighedLeg } from './asset-terms.ts';

/** Initial-margin surplus at both prices: all that a trade is checked for. */
export interface InitialSums {
  initialOracle: bigint;
  initialMark: bigint;
  /** Whether any leg is negative (MRG-13). */
  hasBorrows: boolean;
}

export function emptyInitial(): InitialSums {
  return { initialOracle: 0n, initialMark: 0n, hasBorrows: false };
}

/** Adds a spot balance or a base leg. */
export function addInitial(sums: InitialSums, terms: AssetTerms, amount: bigint): void {
  if (amount === 0n) return;
  if (amount < 0n) sums.hasBorrows = true;
  sums.initialOracle += weighedLeg(terms, amount, 'initialOracle');
  sums.initialMark += weighedLeg(terms, amount, 'initialMark');
}

/** Adds spot USD or a quote leg, which count as they are. */
export function addInitialUsd(sums: InitialSums, amount: bigint): void {
  if (amount < 0n) sums.hasBorrows = true;
  sums.initialOracle += amount;
  sums.initialMark += amount;
}

/**
 * Equity at the last stored prices, be they usable or not: what the account is worth if the last thing known is true. A
 * broken credit counts here, so that closing it against a price that is old is no loss.
 */
export interface StoredEquity {
  oracle: bigint;
  mark: bigint;
  /** Whether any leg is negative: without one, equity is not. */
  hasBorrows: boolean;
}

export function emptyStoredEquity(): StoredEquity {
  return { oracle: 0n, mark: 0n, hasBorrows: false };
}

/** Adds a spot balance or a base leg. */
export function addStored(sums: StoredEquity, terms: AssetTerms, amount: bigint): void {
  if (amount < 0n) sums.hasBorrows = true;
  sums.oracle += storedLeg(terms, amount, 'oracle');
  sums.mark += storedLeg(terms, amount, 'mark');
}

/** Adds spot USD or a quote leg. */
export function addStoredUsd(sums: StoredEquity, amount: bigint): void {
  if (amount < 0n) sums.hasBorrows = true;
  sums.oracle += amount;
  sums.mark += amount;
}

/** Maintenance margin: all that a price is checked for. */
export interface MaintenanceSums {
  maintenance: bigint;
  hasBorrows: boolean;
  /** What credits of circuit-broken assets would add at their last oracle prices (AMB-45, MON-11): not negative. */
  shield: bigint;
}

export function emptyMaintenance(): MaintenanceSums {
  return { maintenance: 0n, hasBorrows: false, shield: 0n };
}

/** Adds a spot balance or a base leg. */
export function addMaintenance(sums: MaintenanceSums, terms: AssetTerms, amount: bigint): void {
  if (amount === 0n) return;
  // mutant: shield-needs-break
  if (amount < 0n) sums.hasBorrows = true;
  else if (terms.prices.isBroken) sums.shield += shieldLeg(terms, amount);
  sums.maintenance += weighedLeg(terms, amount, 'maintenance');
}

/** Adds spot USD or a quote leg. */
export function addMaintenanceUsd(sums: MaintenanceSums, amount: bigint): void {
  if (amount < 0n) sums.hasBorrows = true;
  sums.maintenance += amount;
}

/** The whole account. All in USD, 18 decimals, signed. */
export interface MarginSums extends InitialSums, MaintenanceSums {
  equityOracle: bigint;
  equityMark: bigint;
  /** Σ |base leg| at the mark. */
  notional: bigint;
  /** Σ base leg at the mark + quote leg. */
  unrealizedPnl: bigint;
}

export function emptySums(): MarginSums {
  return {
    ...emptyInitial(),
    ...emptyMaintenance(),
    equityOracle: 0n,
    equityMark: 0n,
    notional: 0n,
    unrealizedPnl: 0n,
  };
}

function addLeg(sums: MarginSums, terms: AssetTerms, amount: bigint): void {
  if (amount === 0n) return;
  addInitial(sums, terms, amount);
  addMaintenance(sums, terms, amount);
  sums.equityOracle += equityLeg(terms, amount, 'oracle');
  sums.equityMark += equityLeg(terms, amount, 'mark');
}

function addUsd(sums: MarginSums, amount: bigint): void {
  addInitialUsd(sums, amount);
  addMaintenanceUsd(sums, amount);
  sums.equityOracle += amount;
  sums.equityMark += amount;
}

/** @param terms null for USD. */
export function addSpot(sums: MarginSums, terms: AssetTerms | null, amount: bigint): void {
  if (terms === null) addUsd(sums, amount);
  else addLeg(sums, terms, amount);
}

export function addPosition(
  sums: MarginSums,
  terms: AssetTerms,
  { base, quote }: { readonly base: bigint; readonly quote: bigint },
): void {
  addLeg(sums, terms, base);
  // mutant: quote-legs
  addUsd(sums, quote);
  const value = legAtMark(terms, base);
  sums.notional += value < 0n ? -value : value;
  sums.unrealizedPnl += value + quote;
}

/** The figures of AMB-129, without orders. */
export interface AccountFigures {
  /** At the mark. */
  readonly equity: Amount18;
  readonly maintenanceSurplus: Amount18;
  /** The smaller of the two prices (AMB-49). */
  readonly initialSurplus: Amount18;
  /** Equity at the price that gives `initialSurplus`: less capacity it is the utilized margin. */
  readonly bindingEquity: Amount18;
  readonly notional: Amount18;
  readonly unrealizedPnl: Amount18;
  /** Truncated to 18 decimals; null when equity is not above zero (AMB-48). */
  readonly leverage: Amount18 | null;
  readonly hasBorrows: boolean;
  readonly isSolvent: boolean;
  /** Borrows, maintenance surplus below zero, also with what shields (LIQ-03, MON-11). */
  readonly isLiquidatable: boolean;
}

export function initialSurplus({ initialOracle, initialMark }: InitialSums): Amount18 {
  return smaller(initialOracle, initialMark) as Amount18;
}

/** Whether the account stands below maintenance and may be liquidated (LIQ-03, AMB-45). */
export function isLiquidatable(sums: MaintenanceSums): boolean {
  // mutant: shield-to-maintenance
  return sums.hasBorrows && sums.maintenance < 0n && sums.maintenance + sums.shield < 0n;
}

/** Whether only credits without a price keep it from being liquidated (MON-11). */
export function isShielded(sums: MaintenanceSums): boolean {
  return sums.hasBorrows && sums.maintenance < 0n && sums.maintenance + sums.shield >= 0n;
}

/** notional / equity, truncated; null when equity is not above zero. */
export function leverageOf(notional: bigint, equity: bigint): Amount18 | null {
  return equity > 0n ? (mulDivFloor(notional, ONE_18, equity) as Amount18) : null;
}

export function figuresOf(sums: MarginSums): AccountFigures {
  const { equityOracle, equityMark, initialOracle, initialMark, maintenance, notional, unrealizedPnl } = sums;
  return {
    equity: equityMark as Amount18,
    maintenanceSurplus: maintenance as Amount18,
    initialSurplus: initialSurplus(sums),
    bindingEquity: (initialOracle < initialMark ? equityOracle : equityMark) as Amount18,
    notional: notional as Amount18,
    unrealizedPnl: unrealizedPnl as Amount18,
    leverage: leverageOf(notional, equityMark),
    hasBorrows: sums.hasBorrows,
    isSolvent: maintenance >= 0n,
    isLiquidatable: isLiquidatable(sums),
  };
}

/** No borrows, or a surplus at both prices: equity needs no check, it is never below the surplus. */
export function isCovered({ hasBorrows, initialOracle, initialMark }: InitialSums): boolean {
  return !hasBorrows || (initialOracle >= 0n && initialMark >= 0n);
}

/** No borrows, or equity that is not negative at both prices. */
export function coversDebts({ hasBorrows, oracle, mark }: StoredEquity): boolean {
  return !hasBorrows || (oracle >= 0n && mark >= 0n);
}

/**
 * Whether a trade leaves the account able to pay for what it lost: its equity is not negative at each price, or the
 * trade did not lower it. The loss of a bankrupt account is a counterparty's gain that no account pays (docs/decisions/0014).
 */
export function solvencyHolds(after: StoredEquity, before: () => StoredEquity): boolean {
  if (coversDebts(after)) return true;
  const was = before();
  return (after.oracle >= 0n || after.oracle >= was.oracle) && (after.mark >= 0n || after.mark >= was.mark);
}

/**
 * Whether a trade or transfer leaves the account as the initial margin wants it (MRG-11, MRG-13, MRG-15, AMB-51): no
 * borrows, or at each price a surplus that is not negative or better than before.
 */
export function initialMarginHolds(after: InitialSums, before: () => InitialSums): boolean {
  if (isCovered(after)) return true;
  const was = before();
  return (
    (after.initialOracle >= 0n || after.initialOracle > was.initialOracle) &&
    (after.initialMark >= 0n || after.initialMark > was.initialMark)
  );
}
