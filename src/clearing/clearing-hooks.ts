/**
 * Commands to the clearing thread that are no part of its state: test hooks (operator-api.md 7.3; off in production), and
 * which records of its journal a snapshot has taken the place of.
 */
import type { Sequence } from '../core/units.ts';

export const CRASH_POINTS = ['before_flush', 'after_flush', 'now'] as const;
type CrashPoint = (typeof CRASH_POINTS)[number];

export type ClearingHook =
  | { readonly kind: 'prune'; readonly below: Sequence }
  | { readonly kind: 'delay'; readonly ms: number }
  /** A point of null takes a planned crash back. */
  | { readonly kind: 'crash'; readonly point: CrashPoint | null; readonly afterTransactions: number };

/** Kills the process at a named point, after so many commits. */
export class CrashPlan {
  readonly #crash: () => void;
  #point: CrashPoint | null = null;
  #transactionsLeft = 0;

  constructor(crash: () => void) {
    this.#crash = crash;
  }

  plan(hook: { readonly point: CrashPoint | null; readonly afterTransactions: number }): void {
    this.#point = hook.point;
    this.#transactionsLeft = hook.afterTransactions;
    if (hook.point === 'now') this.#crash();
  }

  /** Called once per commit at each point. */
  at(point: CrashPoint): void {
    if (point !== this.#point) return;
    if (this.#transactionsLeft === 0) this.#crash();
    this.#transactionsLeft -= 1;
  }
}
