/**
 * How far a long command is, on standard error: what it does, how much of it is done, how fast, and what is left.
 *
 *   replaying: 12000 of 50000 (24 %), 8000/s, 5 s left
 *
 * On a terminal one line is written over, ten times a second at most. Elsewhere nothing is said unless it is asked for, with
 * `--progress`: then a line a second and one at the end of each step, for logs.
 */
import type { Progress } from '../tools/audit-data.ts';

const EVERY_MS = { terminal: 100, log: 1_000 } as const;
const WRITE_OVER = '\r\u001b[K';

export interface ProgressOutput {
  readonly isTerminal: boolean;
  /** Whether a log is wanted where there is no terminal. */
  readonly isAsked: boolean;
  readonly write: (text: string) => void;
  /** Grows monotonically. */
  readonly nowMs: () => number;
}

type Step = Parameters<Progress>[0];

interface Told {
  readonly step: Step;
  readonly startedMs: number;
  readonly startedAt: number;
  done: number;
  of: number;
  /** What was said last; -1 for nothing. */
  said: number;
}

export class ProgressReport {
  readonly #output: ProgressOutput;
  #told: Told | null = null;
  #saidMs = Number.NEGATIVE_INFINITY;
  #isLineOpen = false;

  constructor(output: ProgressOutput) {
    this.#output = output;
  }

  report(step: Step, done: number, of: number): void {
    const { isTerminal, isAsked } = this.#output;
    if (!isTerminal && !isAsked) return;
    const nowMs = this.#output.nowMs();
    if (this.#told?.step !== step) {
      this.#endStep(nowMs);
      this.#told = { step, startedMs: nowMs, startedAt: done, done, of, said: -1 };
    }
    const told = this.#told;
    told.done = done;
    told.of = of;
    if (nowMs - this.#saidMs >= (isTerminal ? EVERY_MS.terminal : EVERY_MS.log)) this.#say(told, nowMs);
  }

  /** The command has ended, well or not. */
  end(): void {
    this.#endStep(this.#output.nowMs());
    if (this.#isLineOpen) this.#output.write('\n');
    this.#isLineOpen = false;
  }

  /** A log has each step; a terminal shows only what goes on. */
  #endStep(nowMs: number): void {
    const told = this.#told;
    if (told !== null && told.said !== told.done && !this.#output.isTerminal) this.#say(told, nowMs);
    this.#told = null;
  }

  #say(told: Told, nowMs: number): void {
    const text = textOf(told, nowMs);
    this.#saidMs = nowMs;
    told.said = told.done;
    this.#isLineOpen = this.#output.isTerminal;
    this.#output.write(this.#output.isTerminal ? `${WRITE_OVER}${text}` : `${text}\n`);
  }
}

function textOf({ step, startedMs, startedAt, done, of }: Told, nowMs: number): string {
  if (done === 0 && of === 0) return step;
  const seconds = (nowMs - startedMs) / 1_000;
  const perSecond = seconds > 0 ? (done - startedAt) / seconds : 0;
  const share = of > 0 ? ` of ${of} (${Math.floor((100 * done) / of)} %)` : '';
  const rate = perSecond > 0 ? `, ${Math.round(perSecond)}/s` : '';
  const left = of > done && perSecond > 0 ? `, ${Math.ceil((of - done) / perSecond)} s left` : '';
  return `${step}: ${done}${share}${rate}${left}`;
}
