/**
 * Which accounts are to be liquidated (LIQ-01 to LIQ-03): found incrementally, and never journaled. What is found is a
 * candidate; the step that follows decides by the state of its batch (rounds.ts).
 *
 *   a leg or a balance of a margin account changed ──────────────▶ account marked ─┐
 *   mark, oracle, breaker or risk row of an asset changed ─┐                       ├─▶ judged exactly ─▶ candidate
 *   the interval has passed: every asset ──────────────────┴─▶ asset scanned ──────┘        │
 *                                            ▲                                              │
 *                                            └──── thresholds for each asset it holds ◀─────┘
 *
 * An account that was judged with surplus S has a threshold for each of its k legs: the price at which that leg alone has
 * cost S / k. Until a price crosses one of them, the surplus is not below zero, so nothing has to be looked at. A scan
 * compares one asset's prices with the thresholds of its holders. Prices change by time too, when one goes stale: so every
 * asset is scanned once an interval. An account that is at risk, shielded or under liquidation is judged with every price.
 *
 * Thresholds are floating point, on the safe side by more than their error; the judgement is exact.
 *
 * Not here: when a piece of this is done, and how much of it (pacing.ts).
 */
import { must } from '../../core/assert.ts';
import { ONE_18, type TimestampNs } from '../../core/units.ts';
import { isLiquidatable } from '../../risk/account.ts';
import { type AssetTerms, WEIGHT_ONE } from '../../risk/asset-terms.ts';
import { isAtRisk, type RiskSums } from '../../risk/at-risk.ts';
import { hasOracleRound, riskOf } from '../account-margin.ts';
import { assetTermsOf } from '../risks.ts';
import type { ClearingState, RiskSlot, SubAccountSlot } from '../state.ts';
import { isBackstop, mayEnd } from './liquidation-rows.ts';
import { ALWAYS_ABOVE, ALWAYS_BELOW, NEVER_ABOVE, NEVER_BELOW } from './watch-list.ts';

/** What detection keeps of an account. */
export interface AccountWatch {
  isMarked: boolean;
  /** The lists that have the account, and its index in each. */
  readonly risks: RiskSlot[];
  readonly places: number[];
}

/** Amount × weighed price has this scale too much. */
const WEIGHED: number = Number(ONE_18 * WEIGHT_ONE);
/** The error of a threshold, and of the price that it is compared with, is some 10^-15 of it. */
const PRICE_MARGIN = 1e-12;
const SURPLUS_MARGIN = 1 - 1e-6;
/** In units of 10^-18 USD: more than the roundings of all legs of an account. */
const ROUNDING_MARGIN = 1_000;
/** A surplus of an eleventh of the worth is a tenth of the requirement (AMB-62). */
const AT_RISK_SHARE = 11;
/** Below this a credit can raise the requirement by more than it adds to the surplus, percent. */
const COLLATERAL_FACTOR_MIN = 10n;

/** What an account holds of one asset: `credit` and `borrow` are not negative. */
interface Holding {
  risk: RiskSlot;
  credit: bigint;
  borrow: bigint;
}

/** Called with each account that was judged. `mayBeAtRisk` is false only if it is not at risk (AMB-62). */
export type Judged = (account: SubAccountSlot, mayBeAtRisk: boolean) => void;

export class Detection {
  /** Accounts that have to be judged, in the order in which they were marked. */
  #marked: SubAccountSlot[] = [];
  #nextMarked = 0;
  /** Assets that have to be scanned, and how far the first one is. */
  readonly #touched = new Set<RiskSlot>();
  #scanned: RiskSlot | null = null;
  #scannedTo = 0;
  readonly #candidates = new Set<SubAccountSlot>();
  readonly #holdings: Holding[] = [];

  /** Whether something waits to be scanned or judged. */
  get hasWork(): boolean {
    return this.#nextMarked < this.#marked.length || this.#touched.size > 0 || this.#scanned !== null;
  }

  /** Accounts for which a step is wanted. */
  get candidates(): ReadonlySet<SubAccountSlot> {
    return this.#candidates;
  }

  /** A leg or a balance of a margin account has changed. */
  accountChanged(account: SubAccountSlot): void {
    if (account.watch?.isMarked === true) return;
    account.watch ??= { isMarked: true, risks: [], places: [] };
    account.watch.isMarked = true;
    this.#marked.push(account);
  }

  /** The risk row of an asset is another one: a threshold, which is of price and weight together, stands for nothing. */
  weightsChanged(risk: RiskSlot): void {
    risk.watchers.invalidate();
    this.assetChanged(risk);
  }

  /** A price or the breaker of an asset has changed. */
  assetChanged(risk: RiskSlot): void {
    if (risk.watchers.size > 0) this.#touched.add(risk);
  }

  /** Takes a candidate off: a step for it is on its way. */
  takeCandidate(account: SubAccountSlot): void {
    this.#candidates.delete(account);
  }

  /** Looks at the next holders of the touched assets. @param count how many. @returns whether all were looked at. */
  scan(nowNs: TimestampNs, count: number): boolean {
    let left = count;
    const mark = (account: SubAccountSlot): void => this.accountChanged(account);
    while (left > 0) {
      const risk = this.#scanned ?? this.#beginScan();
      if (risk === null) return true;
      const { credit, borrow } = assetTermsOf(risk, nowNs);
      const from = this.#scannedTo;
      const prices = [Number(credit.maintenance), Number(borrow.maintenance)] as const;
      this.#scannedTo = risk.watchers.scan(from, left, prices[0], prices[1], mark);
      left -= Math.max(1, this.#scannedTo - from);
      if (this.#scannedTo >= risk.watchers.size) this.#scanned = null;
    }
    return this.#touched.size === 0 && this.#scanned === null;
  }

  #beginScan(): RiskSlot | null {
    for (const risk of this.#touched) {
      this.#touched.delete(risk);
      this.#scanned = risk;
      this.#scannedTo = 0;
      return risk;
    }
    return null;
  }

  /** Judges the next marked accounts. @param count how many. @returns whether all were judged. */
  judge(state: ClearingState, nowNs: TimestampNs, count: number, judged: Judged): boolean {
    const end = Math.min(this.#nextMarked + count, this.#marked.length);
    for (; this.#nextMarked < end; this.#nextMarked += 1) {
      this.#judge(state, this.#marked[this.#nextMarked] as SubAccountSlot, nowNs, judged);
    }
    if (this.#nextMarked < this.#marked.length) return false;
    this.#marked = [];
    this.#nextMarked = 0;
    return true;
  }

  #judge(state: ClearingState, account: SubAccountSlot, nowNs: TimestampNs, judged: Judged): void {
    const watch = must(account.watch, 'a marked account has its watch');
    watch.isMarked = false;
    if (isBackstop(state, account.row.user)) return;
    const sums = riskOf(account, nowNs);
    const count = this.#collect(account, sums);
    const row = account.liquidation;
    const atRisk = isAtRisk(sums);
    this.#watch(account, watch, { allowance: row === null ? this.#allowance(sums, count, atRisk) : null, nowNs });
    judged(account, atRisk);
    const isToBe = isLiquidatable(sums);
    const isCandidate = row === null ? isToBe && hasOracleRound(state, account, nowNs) : !isToBe && mayEnd(row);
    if (isCandidate) this.#candidates.add(account);
  }

  /** What the account holds of each asset, if it borrows. @returns how many legs that are, in so many holdings. */
  #collect(account: SubAccountSlot, { hasBorrows }: RiskSums): number {
    this.#holdings.length = 0;
    if (!hasBorrows) return 0;
    let count = 0;
    for (const { risk, legs } of account.positions.values()) {
      if (legs.base === 0n) continue;
      const isCredit = legs.base > 0n;
      this.#holdings.push({ risk, credit: isCredit ? legs.base : 0n, borrow: isCredit ? 0n : -legs.base });
      count += 1;
    }
    for (const { collateral, owned } of account.balances.values()) {
      if (collateral === null || owned === 0n) continue;
      const known = this.#holdingOf(collateral);
      if (known === null) this.#holdings.push({ risk: collateral, credit: owned, borrow: 0n });
      else known.credit += owned;
      count += 1;
    }
    return count;
  }

  #holdingOf(risk: RiskSlot): Holding | null {
    for (const holding of this.#holdings) if (holding.risk === risk) return holding;
    return null;
  }

  /**
   * What each leg may cost before the account has to be judged again, in 10^-18 USD: before it is at risk, or, where it
   * is, below maintenance. null: with every price.
   */
  #allowance(sums: RiskSums, count: number, atRisk: boolean): number | null {
    if (sums.maintenance < 0n) return null;
    const surplus = Number(sums.maintenance);
    const isSafe = !atRisk && this.#holdings.every(isCollateralOrBorrow);
    const slack = isSafe ? surplus - Number(sums.worth) / AT_RISK_SHARE : surplus;
    // mutant: threshold-per-leg
    return Math.max(0, slack * SURPLUS_MARGIN - ROUNDING_MARGIN) / count;
  }

  /** Puts the account into the lists of what it holds, and takes it out of the others. */
  #watch(
    account: SubAccountSlot,
    watch: AccountWatch,
    { allowance, nowNs }: { readonly allowance: number | null; readonly nowNs: TimestampNs },
  ): void {
    const { risks, places } = watch;
    for (let at = risks.length - 1; at >= 0; at -= 1) {
      if (this.#holdingOf(risks[at] as RiskSlot) === null) this.#unwatch(watch, at);
    }
    for (const holding of this.#holdings) {
      const { risk } = holding;
      let at = risks.indexOf(risk);
      if (at < 0) {
        at = risks.length;
        risks.push(risk);
        places.push(risk.watchers.add(account));
      }
      const place = places[at] as number;
      if (allowance === null) risk.watchers.set(place, ALWAYS_BELOW, ALWAYS_ABOVE);
      else {
        const terms = assetTermsOf(risk, nowNs);
        risk.watchers.set(place, belowOf(holding, terms, allowance), aboveOf(holding, terms, allowance));
      }
    }
  }

  #unwatch({ risks, places }: AccountWatch, at: number): void {
    const risk = risks[at] as RiskSlot;
    const place = places[at] as number;
    risks.splice(at, 1);
    places.splice(at, 1);
    const moved = risk.watchers.remove(place);
    if (moved === null) return;
    const other = must(moved.watch, 'an account in a list has its watch');
    other.places[other.risks.indexOf(risk)] = place;
    // What a scan has not looked at yet stands where it has been already.
    // mutant: moved-entry-marked
    if (this.#scanned === risk && place < this.#scannedTo) this.accountChanged(moved);
  }
}

function isCollateralOrBorrow({ risk, credit }: Holding): boolean {
  return credit === 0n || risk.risk.collateralFactor >= COLLATERAL_FACTOR_MIN;
}

/** The weighed price of a credit below which it has cost more than the allowance. */
function belowOf({ credit }: Holding, { credit: { maintenance } }: AssetTerms, allowance: number): number {
  if (credit === 0n) return NEVER_BELOW;
  const price = Number(maintenance);
  return price - (allowance / Number(credit)) * WEIGHED + price * PRICE_MARGIN;
}

/** The weighed price of a borrow above which it has cost more. */
function aboveOf({ borrow }: Holding, { borrow: { maintenance } }: AssetTerms, allowance: number): number {
  if (borrow === 0n) return NEVER_ABOVE;
  const price = Number(maintenance);
  return price + (allowance / Number(borrow)) * WEIGHED - price * PRICE_MARGIN;
}
