/**
 * Which margin accounts are at risk, and what they have open: published to all without users (STR-06), read by
 * operators with them. Derived from the state, never journaled, and of no consequence for any decision.
 *
 *   detection judges an account ─▶ candidates ──one pass in steps, at most once a second──▶ AtRisk, counts, the worst accounts
 *
 * Detection names accounts that may be at risk; a pass judges each of them exactly, at the prices of its step. So a price
 * that moves a hundred thousand accounts costs one note per account, and the passes at most a tenth of the thread: after
 * one that took longer than a tenth of the interval the next one waits longer.
 *
 * Not here: which accounts may be at risk (detection.ts), the figures (src/risk/at-risk.ts).
 */
import { assert } from '../../core/assert.ts';
import { format18 } from '../../core/decimal.ts';
import { compareAssetIds } from '../../core/ids.ts';
import type { AtRiskFigures } from '../../core/market-figures.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import { isShielded } from '../../risk/account.ts';
import {
  AtRiskTotals,
  isAtRisk,
  maintenanceRequirement,
  type RiskSums,
  sameAtRisk,
  zeroSurplusPrice,
} from '../../risk/at-risk.ts';
import { riskOf } from '../account-margin.ts';
import { assetTermsOf } from '../risks.ts';
import type { LiquidationRow } from '../rows.ts';
import type { ClearingState, PositionSlot, SubAccountSlot } from '../state.ts';
import { isBackstop } from './liquidation-rows.ts';

type View = Readonly<Record<string, unknown>>;

export const AT_RISK_INTERVAL_MS = 1_000;
/** Accounts of one step: about a millisecond. */
export const ACCOUNTS_PER_STEP = 256;
/** Pause between two steps, so that fills go between them. */
const STEP_INTERVAL_MS = 4;
/** A pass takes at most this part of the thread. */
const SHARE = 10;
/** Accounts that a pass keeps for operators. */
export const ACCOUNTS_AT_RISK_MAX = 1_000;

/** Accounts at risk, and those that only a broken credit shields from liquidation (AMB-45). */
export interface AtRiskCounts {
  readonly atRisk: number;
  readonly shielded: number;
}

/** What a pass found. */
export interface AtRiskResult {
  readonly counts: AtRiskCounts;
  /** Null when it is what was published last. */
  readonly changed: AtRiskFigures | null;
}

export interface AtRiskTimes {
  readonly nowNs: () => TimestampNs;
  /** Monotonic, of real time: sockets are paced by it. */
  readonly elapsedMs: () => number;
}

/** One run over the candidates. */
class Pass {
  readonly totals: AtRiskTotals = new AtRiskTotals();
  atRisk = 0;
  shielded = 0;
  /** Time that its steps took. */
  busyMs = 0;
  /** The worst so far, and others. */
  #listed: Listed[] = [];
  readonly #left: Iterator<SubAccountSlot>;

  constructor(candidates: ReadonlySet<SubAccountSlot>) {
    this.#left = candidates.values();
  }

  /** @returns whether all candidates were looked at. */
  step(state: ClearingState, nowNs: TimestampNs): boolean {
    for (let looked = 0; looked < ACCOUNTS_PER_STEP; looked += 1) {
      const next = this.#left.next();
      if (next.done === true) return true;
      this.#add(state, next.value, nowNs);
    }
    return false;
  }

  worst(): readonly SubAccountSlot[] {
    return worstOf(this.#listed).map(({ account }) => account);
  }

  #add(state: ClearingState, account: SubAccountSlot, nowNs: TimestampNs): void {
    // mutant: at-risk-backstop
    if (isBackstop(state, account.row.user)) return;
    const sums = riskOf(account, nowNs);
    if (!isAtRisk(sums)) return;
    this.atRisk += 1;
    if (isShielded(sums)) this.shielded += 1;
    this.#listed.push({ account, sums });
    // Twice as many as are kept, so that each is sorted a bounded number of times.
    if (this.#listed.length >= 2 * ACCOUNTS_AT_RISK_MAX) this.#listed = worstOf(this.#listed);
    for (const position of account.positions.values()) {
      const { base } = position.legs;
      if (base !== 0n) this.totals.add(position.asset, base, priceOf(account, position, sums, nowNs));
    }
  }
}

interface Listed {
  readonly account: SubAccountSlot;
  readonly sums: RiskSums;
}

/** The smallest surplus first. */
function worstOf(listed: Listed[]): Listed[] {
  return listed.sort(bySurplus).slice(0, ACCOUNTS_AT_RISK_MAX);
}

function bySurplus(a: Listed, b: Listed): number {
  const [x, y] = [a.sums.maintenance, b.sums.maintenance];
  if (x !== y) return x < y ? -1 : 1;
  const [one, other] = [a.account.row, b.account.row];
  if (one.user !== other.user) return one.user < other.user ? -1 : 1;
  return one.subAccount - other.subAccount;
}

/** The price that liquidates the account through this position. */
function priceOf(
  account: SubAccountSlot,
  { asset, risk, legs }: PositionSlot,
  { maintenance }: RiskSums,
  nowNs: TimestampNs,
): Amount18 | null {
  const spot = account.balances.get(asset)?.owned ?? ZERO_18;
  return zeroSurplusPrice(assetTermsOf(risk, nowNs), { base: legs.base, spot }, maintenance);
}

export class AtRiskAccounts {
  /** All that are at risk, and perhaps others. */
  readonly #candidates = new Set<SubAccountSlot>();
  #isChanged = false;
  #pass: Pass | null = null;
  #steppedMs = Number.NEGATIVE_INFINITY;
  #nextPassMs = Number.NEGATIVE_INFINITY;
  #published: AtRiskFigures = { timestampNs: 0n as TimestampNs, assets: [] };
  #counts: AtRiskCounts = { atRisk: 0, shielded: 0 };
  /** The accounts with the smallest surplus in the last pass, and the time of that pass. */
  #worst: readonly SubAccountSlot[] = [];
  #passedNs = 0n as TimestampNs;

  /** Detection has looked at an account. @param mayBeAtRisk false only if it is not at risk. */
  judged(account: SubAccountSlot, mayBeAtRisk: boolean): void {
    if (mayBeAtRisk) this.#candidates.add(account);
    else if (!this.#candidates.delete(account)) return;
    this.#isChanged = true;
  }

  /** Prices of accounts with borrows have moved: what is at risk may have other figures. */
  pricesMoved(): void {
    if (this.#candidates.size > 0) this.#isChanged = true;
  }

  /** Whether a pass is under way, or could begin. */
  isDue(nowMs: number): boolean {
    return this.#pass !== null || (this.#isChanged && nowMs >= this.#nextPassMs);
  }

  /** When the next pass may begin, in the milliseconds of `isDue`; Infinity while nothing has changed. */
  get nextPassMs(): number {
    return this.#isChanged ? this.#nextPassMs : Number.POSITIVE_INFINITY;
  }

  /** One step of a pass when it is time for it. @returns the result of a pass that has ended with it, or null. */
  poll(state: ClearingState, { nowNs: now, elapsedMs }: AtRiskTimes): AtRiskResult | null {
    if (this.#pass === null && !this.#isChanged) return null;
    const startMs = elapsedMs();
    if (startMs < this.#steppedMs + STEP_INTERVAL_MS) return null;
    const pass = this.#pass ?? this.#begin(startMs);
    if (pass === null) return null;
    const nowNs = now();
    const isOver = pass.step(state, nowNs);
    this.#steppedMs = elapsedMs();
    pass.busyMs += this.#steppedMs - startMs;
    return isOver ? this.#end(pass, nowNs) : null;
  }

  #begin(nowMs: number): Pass | null {
    if (nowMs < this.#nextPassMs) return null;
    this.#nextPassMs = nowMs + AT_RISK_INTERVAL_MS;
    this.#isChanged = false;
    this.#pass = new Pass(this.#candidates);
    return this.#pass;
  }

  #end(pass: Pass, nowNs: TimestampNs): AtRiskResult {
    const { totals, atRisk, shielded, busyMs } = pass;
    this.#pass = null;
    this.#passedNs = nowNs;
    this.#worst = pass.worst();
    // mutant: at-risk-share
    this.#nextPassMs = Math.max(this.#nextPassMs, this.#steppedMs + (SHARE - 1) * busyMs);
    this.#counts = { atRisk, shielded };
    const view = totals.view(nowNs);
    if (sameAtRisk(view, this.#published)) return { counts: this.#counts, changed: null };
    this.#published = view;
    return { counts: this.#counts, changed: view };
  }

  /**
   * `GET /operator/accounts-at-risk`, as a job, a unit an account: the worst of the last pass with the figures of now.
   *
   * @param limit 1 … ACCOUNTS_AT_RISK_MAX.
   */
  *query(limit: number, nowNs: TimestampNs): Generator<number, View> {
    assert(limit >= 1 && limit <= ACCOUNTS_AT_RISK_MAX, 'an answer is bounded');
    const listed: Listed[] = [];
    for (const account of this.#worst.slice(0, limit)) {
      const sums = riskOf(account, nowNs);
      if (isAtRisk(sums)) listed.push({ account, sums });
      yield 1;
    }
    const accounts = listed.sort(bySurplus).map((one) => accountView(one, nowNs));
    const { atRisk, shielded } = this.#counts;
    return { timestamp_ns: this.#passedNs, accounts_at_risk: atRisk, shielded_accounts: shielded, accounts };
  }
}

function accountView({ account, sums }: Listed, nowNs: TimestampNs): View {
  const open = [...account.positions.values()].filter(({ legs }) => legs.base !== 0n);
  const positions = open
    .sort((a, b) => compareAssetIds(a.asset, b.asset))
    .map((position): [string, View] => [position.asset, positionView(account, position, sums, nowNs)]);
  const { user, subAccount } = account.row;
  return {
    user_id: user,
    sub_account: subAccount,
    maintenance_surplus: format18(sums.maintenance),
    maintenance_requirement: format18(maintenanceRequirement(sums)),
    is_shielded: isShielded(sums),
    liquidation: liquidationView(account.liquidation),
    positions: Object.fromEntries(positions),
  };
}

/** Null for an account that is not under liquidation. */
function liquidationView(row: LiquidationRow | null): View | null {
  if (row === null) return null;
  const { stage, round, startedNs, order } = row;
  return { stage, round, started_ns: startedNs, order_id: order?.orderId ?? null };
}

function positionView(account: SubAccountSlot, position: PositionSlot, sums: RiskSums, nowNs: TimestampNs): View {
  const price = priceOf(account, position, sums, nowNs);
  const { base, quote } = position.legs;
  return {
    base: format18(base),
    quote: format18(quote),
    mark_price: format18(assetTermsOf(position.risk, nowNs).prices.mark),
    liquidation_price: price === null ? null : format18(price),
  };
}
