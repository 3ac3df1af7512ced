/**
 * When detection works and when steps are made: pieces that are small against the time of a fill, on clearing's thread.
 *
 *   every 10 ms                     touched assets and marked accounts, in slices, until none is left (LIQ-02)
 *   every interval of the node's clock   all assets (LIQ-01)
 *   after each commit, every 10 ms  accounts under liquidation and rows of the backstop: those with a due step, some a turn
 *   always                          a search for counterparties of the backstop, where there are very many
 *
 * Pauses are measured by time that passes monotonically, so that a clock which stands by hand delays no check of a price;
 * the interval and the rounds go by the node's clock. A step is an input of the next batch; nothing else of this is
 * journaled, and when a step is made changes nothing of what it decides.
 */
import { must } from '../../core/assert.ts';
import { MILLISECOND_NS, msUntil, type TimestampNs } from '../../core/units.ts';
import type { BackstopStep, LiquidationStep } from '../inputs.ts';
import type { BackstopRow } from '../rows.ts';
import type { ClearingState, SubAccountSlot } from '../state.ts';
import { isBackstopStepDue, isDeleverageDue } from './backstop.ts';
import { CounterpartySearch } from './counterparty-search.ts';
import type { Judged } from './detection.ts';
import { isRoundBlocked, isStepDue } from './rounds.ts';

const CHECK_INTERVAL_MS = 10;
/** Detection works for so long at a time; then fills come. */
const SLICE_MS = 1;
/** Some hundred microseconds each. */
const SCANNED_PER_SLICE = 8_192;
const JUDGED_PER_SLICE = 64;
/** Each step is some ten microseconds. */
const STEPS_PER_BATCH = 32;
const ROWS_PER_POLL = 512;
/** What a row of the backstop needs is found by all that it holds. */
const BACKSTOP_ROWS_PER_CHECK = 16;

interface PacingTimes {
  readonly nowNs: TimestampNs;
  /** Monotonic milliseconds. */
  readonly elapsedMs: () => number;
}

/** What follows from detection beside steps. */
export interface DetectionListener {
  readonly judged: Judged;
  /** Prices of accounts with borrows have moved. */
  readonly pricesMoved: () => void;
}

/** Figures for the operator API. */
export interface LiquidationCounts {
  /** Accounts under liquidation, and how many of them repeat their round because a price or a market is missing. */
  readonly liquidating: number;
  readonly blocked: number;
}

export class Pacing {
  #checkedMs = Number.NEGATIVE_INFINITY;
  #scannedNs = 0n as TimestampNs;
  /** Whether a check has begun and is not over. */
  #isChecking = false;
  #rows: Iterator<SubAccountSlot> = [].values();
  #backstopRows: Iterator<BackstopRow> = [].values();
  readonly #search = new CounterpartySearch();
  /** Rows one after the other that had no due step, since something may have changed. */
  #restingRows = 0;
  /** Counted by the last look at all rows, and by the one that is under way. */
  #blocked = 0;
  #blockedSoFar = 0;

  /** A batch was applied. */
  stateChanged(): void {
    this.#restingRows = 0;
  }

  counts({ liquidations }: ClearingState): LiquidationCounts {
    return { liquidating: liquidations.size, blocked: Math.min(this.#blocked, liquidations.size) };
  }

  /** Whether there is work that can go on now. */
  hasMore(state: ClearingState): boolean {
    const isSearching = this.#isChecking || this.#search.isActive || state.detection.candidates.size > 0;
    return isSearching || this.#restingRows < state.liquidations.size;
  }

  /** Whether there is work, now or when the next check is due. */
  isWorking(state: ClearingState): boolean {
    return this.hasMore(state) || state.detection.hasWork;
  }

  /**
   * Milliseconds until a check may find what follows from time alone, from 0: every 10 ms while there are rounds or open
   * rows of the backstop, else when all assets are due.
   */
  nextCheckMs(state: ClearingState, nowNs: TimestampNs, nowMs: number): number {
    const { liquidations, backstopRows, risks, settings } = state;
    const hasRows = liquidations.size > 0 || [...backstopRows.values()].some((row) => row.state !== 'closed');
    if (hasRows) return Math.max(this.#checkedMs + CHECK_INTERVAL_MS - nowMs, 0);
    if (risks.size === 0) return Number.POSITIVE_INFINITY;
    return msUntil(this.#scannedNs + BigInt(settings.liquidation_interval_ms) * MILLISECOND_NS, nowNs);
  }

  /** @returns the steps that are due, not more than a batch takes. */
  poll(
    state: ClearingState,
    times: PacingTimes,
    listener: DetectionListener,
  ): readonly (LiquidationStep | BackstopStep)[] {
    const steps: (LiquidationStep | BackstopStep)[] = [];
    const startedMs = times.elapsedMs();
    if (!this.#isChecking && startedMs - this.#checkedMs >= CHECK_INTERVAL_MS) {
      this.#beginCheck(state, startedMs, times.nowNs);
      this.#addBackstopSteps(state, times.nowNs, steps);
      if (this.#isChecking) listener.pricesMoved();
    }
    if (this.#isChecking) this.#check(state, times, startedMs, listener.judged);
    this.#search.advance(state, times.nowNs);
    for (const account of state.detection.candidates) {
      if (steps.length >= STEPS_PER_BATCH) break;
      state.detection.takeCandidate(account);
      steps.push(stepOf(account));
    }
    this.#addDueRows(state, times.nowNs, steps);
    return steps;
  }

  #beginCheck(state: ClearingState, startedMs: number, nowNs: TimestampNs): void {
    const { detection, settings, risks } = state;
    this.#checkedMs = startedMs;
    this.#restingRows = 0;
    if (nowNs - this.#scannedNs >= BigInt(settings.liquidation_interval_ms) * MILLISECOND_NS) {
      this.#scannedNs = nowNs;
      for (const risk of risks.values()) detection.assetChanged(risk);
    }
    this.#isChecking = detection.hasWork;
  }

  #check(state: ClearingState, { nowNs, elapsedMs }: PacingTimes, startedMs: number, judged: Judged): void {
    const { detection } = state;
    while (!detection.scan(nowNs, SCANNED_PER_SLICE)) if (elapsedMs() - startedMs >= SLICE_MS) return;
    while (!detection.judge(state, nowNs, JUDGED_PER_SLICE, judged)) if (elapsedMs() - startedMs >= SLICE_MS) return;
    this.#isChecking = false;
  }

  #addDueRows(state: ClearingState, nowNs: TimestampNs, steps: (LiquidationStep | BackstopStep)[]): void {
    const { liquidations } = state;
    const count = Math.min(ROWS_PER_POLL, liquidations.size);
    for (let looked = 0; looked < count && this.#restingRows < liquidations.size; looked += 1) {
      if (steps.length >= STEPS_PER_BATCH) return;
      let next = this.#rows.next();
      if (next.done === true) {
        this.#blocked = this.#blockedSoFar;
        this.#blockedSoFar = 0;
        this.#rows = liquidations.values();
        next = this.#rows.next();
        if (next.done === true) return;
      }
      const row = next.value.liquidation;
      if (row !== null && isRoundBlocked(next.value, row, nowNs)) this.#blockedSoFar += 1;
      if (row !== null && isStepDue(state, row, nowNs)) steps.push(stepOf(next.value));
      else this.#restingRows += 1;
    }
  }

  #addBackstopSteps(state: ClearingState, nowNs: TimestampNs, steps: (LiquidationStep | BackstopStep)[]): void {
    const count = Math.min(BACKSTOP_ROWS_PER_CHECK, state.backstopRows.size);
    for (let looked = 0; looked < count; looked += 1) {
      let next = this.#backstopRows.next();
      if (next.done === true) {
        this.#backstopRows = state.backstopRows.values();
        next = this.#backstopRows.next();
        if (next.done === true) return;
      }
      // A row may have changed since it was put into the map.
      const row = must(state.backstopRows.get(next.value.index), 'a row stays');
      if (row.state !== 'closed' && isBackstopStepDue(state, row, nowNs)) {
        const found = isDeleverageDue(state, row, nowNs) ? this.#search.resultFor(state, row, nowNs) : [];
        if (found !== null)
          steps.push({ kind: 'backstopStep', index: row.index, ...(found.length > 0 ? { found } : {}) });
      }
    }
  }
}

function stepOf({ row }: SubAccountSlot): LiquidationStep {
  return { kind: 'liquidationStep', user: row.user, subAccount: row.subAccount };
}
