/**
 * Margin figures of an account by confirmed balances and legs, or by those that a plan would leave;
 * and the capacity that its open orders leave it.
 *
 * Not here: the formulas (src/risk), which orders count (exposures.ts).
 */
import { SIDE, type Side } from '../core/order-terms.ts';
import type { Amount18, TimestampNs } from '../core/units.ts';
import {
  addInitial,
  addInitialUsd,
  addMaintenance,
  addMaintenanceUsd,
  addPosition,
  addSpot,
  addStored,
  addStoredUsd,
  emptyInitial,
  emptyMaintenance,
  emptyStoredEquity,
  emptySums,
  type InitialSums,
  initialSurplus,
  type MaintenanceSums,
  type MarginSums,
  type StoredEquity,
} from '../risk/account.ts';
import type { AssetTerms } from '../risk/asset-terms.ts';
import { addRisk, addRiskUsd, emptyRisk, type RiskSums } from '../risk/at-risk.ts';
import { capacityOf, requirementOf } from '../risk/exposure.ts';
import type { Legs } from '../risk/position.ts';
import { countedOf } from './exposures.ts';
import { assetTermsOf } from './risks.ts';
import type { BalanceSlot, ClearingState, PositionSlot, RiskSlot, SubAccountSlot } from './state.ts';

/** Figures in place of the confirmed ones. */
export interface Overlay {
  owned(slot: BalanceSlot): Amount18;
  legs(slot: PositionSlot): Legs;
  terms(slot: RiskSlot, nowNs: TimestampNs): AssetTerms;
}

export const CONFIRMED: Overlay = {
  owned: (slot) => slot.owned,
  legs: (slot) => slot.legs,
  terms: assetTermsOf,
};

/** How a figure takes a leg of an asset, and one of USD. */
interface Figure<Sums> {
  readonly leg: (sums: Sums, terms: AssetTerms, amount: bigint) => void;
  readonly usd: (sums: Sums, amount: bigint) => void;
}

const INITIAL: Figure<InitialSums> = { leg: addInitial, usd: addInitialUsd };
const MAINTENANCE: Figure<MaintenanceSums> = { leg: addMaintenance, usd: addMaintenanceUsd };
const RISK: Figure<RiskSums> = { leg: addRisk, usd: addRiskUsd };
const STORED: Figure<StoredEquity> = { leg: addStored, usd: addStoredUsd };

/** Which assets beside USD are terms of a sum: all, or those that are owed. */
type Terms = 'all' | 'owed';

function counts(terms: Terms, amount: Amount18): boolean {
  // mutant: debt-counts
  return amount < 0n || (amount > 0n && terms === 'all');
}

/** Every balance and every leg is a term of its own (AMB-47). */
function sumUp<Sums>(
  figure: Figure<Sums>,
  sums: Sums,
  terms: Terms,
  { account, nowNs, overlay }: { account: SubAccountSlot; nowNs: TimestampNs; overlay: Overlay },
): Sums {
  for (const slot of account.balances.values()) {
    const owned = overlay.owned(slot);
    if (slot.collateral === null) figure.usd(sums, owned);
    else if (counts(terms, owned)) figure.leg(sums, overlay.terms(slot.collateral, nowNs), owned);
  }
  for (const slot of account.positions.values()) {
    const { base, quote } = overlay.legs(slot);
    if (counts(terms, base)) figure.leg(sums, overlay.terms(slot.risk, nowNs), base);
    figure.usd(sums, quote);
  }
  return sums;
}

/** Initial surplus at both prices. */
export function initialOf(account: SubAccountSlot, nowNs: TimestampNs, overlay: Overlay): InitialSums {
  return sumUp(INITIAL, emptyInitial(), 'all', { account, nowNs, overlay });
}

/** Never more than `initialOf`: what is owed, and USD. What else is owned is worth nothing or more. */
export function initialOfDebts(account: SubAccountSlot, nowNs: TimestampNs, overlay: Overlay): InitialSums {
  return sumUp(INITIAL, emptyInitial(), 'owed', { account, nowNs, overlay });
}

/** Maintenance margin: what every price of an asset is checked for (LIQ-02). */
export function maintenanceOf(
  account: SubAccountSlot,
  nowNs: TimestampNs,
  overlay: Overlay = CONFIRMED,
): MaintenanceSums {
  return sumUp(MAINTENANCE, emptyMaintenance(), 'all', { account, nowNs, overlay });
}

/** For so long after a start an asset that is owed may wait for its first price (MON-11). */
export const FIRST_PRICE_NS = 3_600_000_000_000n;

/**
 * Whether an asset has had an oracle price since the node started (AMB-110), or has been waited for long enough (MON-11).
 * A credit that counts nothing needs none: else a unit of an asset without a price would protect an account for ever.
 */
export function isKnown(state: ClearingState, risk: RiskSlot, amount: Amount18, nowNs: TimestampNs): boolean {
  if (amount === 0n || risk.isPricedSinceStart) return true;
  // mutant: first-price-or-an-hour
  return nowNs - state.startedNs > FIRST_PRICE_NS || (amount > 0n && assetTermsOf(risk, nowNs).prices.isBroken);
}

/** Whether that is so of every asset of the account: before that nothing of it is liquidated or taken over. */
export function hasOracleRound(state: ClearingState, account: SubAccountSlot, nowNs: TimestampNs): boolean {
  for (const { collateral, owned } of account.balances.values()) {
    if (collateral !== null && !isKnown(state, collateral, owned, nowNs)) return false;
  }
  for (const { risk, legs } of account.positions.values()) {
    if (!isKnown(state, risk, legs.base, nowNs)) return false;
  }
  return true;
}

/** Maintenance margin, and what it is measured by: whether the account is at risk (AMB-62). */
export function riskOf(account: SubAccountSlot, nowNs: TimestampNs): RiskSums {
  return sumUp(RISK, emptyRisk(), 'all', { account, nowNs, overlay: CONFIRMED });
}

/** Equity at the last stored prices: what a trade must leave (docs/decisions/0014). */
export function storedEquityOf(account: SubAccountSlot, nowNs: TimestampNs, overlay: Overlay): StoredEquity {
  return sumUp(STORED, emptyStoredEquity(), 'all', { account, nowNs, overlay });
}

/** Never more than `storedEquityOf`, as `initialOfDebts`. */
export function storedEquityOfDebts(account: SubAccountSlot, nowNs: TimestampNs, overlay: Overlay): StoredEquity {
  return sumUp(STORED, emptyStoredEquity(), 'owed', { account, nowNs, overlay });
}

/** All figures of a margin account as confirmed. */
export function marginSumsOf(account: SubAccountSlot, nowNs: TimestampNs): MarginSums {
  const sums = emptySums();
  for (const { collateral, owned } of account.balances.values()) {
    addSpot(sums, collateral === null ? null : assetTermsOf(collateral, nowNs), owned);
  }
  for (const { risk, legs } of account.positions.values()) addPosition(sums, assetTermsOf(risk, nowNs), legs);
  return sums;
}

/** Margin requirement of one side's orders over all books, by the confirmed positions (MRG-23, AMB-50). */
function requirementOfSide(account: SubAccountSlot, side: Side, nowNs: TimestampNs): Amount18 {
  let requirement = 0n;
  for (const book of account.exposures[side].values()) {
    const terms = assetTermsOf(book.risk, nowNs);
    requirement += requirementOf(side, countedOf(book, terms), terms, book.market.definition.takerFeeRate);
  }
  return requirement as Amount18;
}

/** What is left for more risk, were the balance of `slot` to become `owned` (MRG-16, AMB-65). */
export function capacityWith(
  account: SubAccountSlot,
  { slot, owned }: { readonly slot: BalanceSlot; readonly owned: Amount18 },
  nowNs: TimestampNs,
): Amount18 {
  const overlay: Overlay = { ...CONFIRMED, owned: (other) => (other === slot ? owned : other.owned) };
  const surplus = initialSurplus(initialOf(account, nowNs, overlay));
  return capacityOf(surplus, requirementOfSide(account, SIDE.buy, nowNs), requirementOfSide(account, SIDE.sell, nowNs));
}

/** Whether the account is held to its capacity: it borrows, or has margin orders that add exposure (AMB-65). */
export function isMarginBound(account: SubAccountSlot, nowNs: TimestampNs): boolean {
  for (const { legs } of account.positions.values()) if (legs.base < 0n || legs.quote < 0n) return true;
  for (const books of account.exposures) {
    for (const book of books.values()) {
      if (book.position !== null && countedOf(book, assetTermsOf(book.risk, nowNs)) > 0n) return true;
    }
  }
  return false;
}
