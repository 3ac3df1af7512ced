/**
 * Progress of a long command on standard error: the step, how much is done, the rate, and the remaining time.
 *
 *   replaying: 12000 of 50000 (24 %), 8000/s, 5 s left
 *
 * On a terminal one line is overwritten, at most ten times a second. Otherwise there is no output without `--progress`;
 * with it a line per second and one at the end of each step, for logs.
 */
import type { Progress } from '../tools/audit-data.ts';

const EVERY_MS = { terminal: 100, log: 1_000 } as const;
const WRITE_OVER = '\r\u001b[K';

interface ProgressOutput {
  readonly isTerminal: boolean;
  /** Whether output is requested without a terminal. */
  readonly isAsked: boolean;
  readonly write: (text: string) => void;
  /** Increases monotonically. */
  readonly nowMs: () => number;
}

type Step = Parameters<Progress>[0];

interface CurrentStep {
  readonly step: Step;
  readonly startedMs: number;
  readonly startedAt: number;
  done: number;
  of: number;
  /** `done` of the last output; -1 before the first. */
  shownDone: number;
}

export class ProgressReport {
  readonly #output: ProgressOutput;
  #current: CurrentStep | null = null;
  #writtenMs = Number.NEGATIVE_INFINITY;
  #isLineOpen = false;

  constructor(output: ProgressOutput) {
    this.#output = output;
  }

  report(step: Step, done: number, of: number): void {
    const { isTerminal, isAsked } = this.#output;
    if (!isTerminal && !isAsked) return;
    const nowMs = this.#output.nowMs();
    if (this.#current?.step !== step) {
      this.#endStep(nowMs);
      this.#current = { step, startedMs: nowMs, startedAt: done, done, of, shownDone: -1 };
    }
    const current = this.#current;
    current.done = done;
    current.of = of;
    if (nowMs - this.#writtenMs >= (isTerminal ? EVERY_MS.terminal : EVERY_MS.log)) this.#write(current, nowMs);
  }

  /** Called at the end of the command, also after a fault. */
  end(): void {
    this.#endStep(this.#output.nowMs());
    if (this.#isLineOpen) this.#output.write('\n');
    this.#isLineOpen = false;
  }

  /** A log has a line per step; a terminal shows only the current one. */
  #endStep(nowMs: number): void {
    const current = this.#current;
    if (current !== null && current.shownDone !== current.done && !this.#output.isTerminal) this.#write(current, nowMs);
    this.#current = null;
  }

  #write(current: CurrentStep, nowMs: number): void {
    const text = textOf(current, nowMs);
    this.#writtenMs = nowMs;
    current.shownDone = current.done;
    this.#isLineOpen = this.#output.isTerminal;
    this.#output.write(this.#output.isTerminal ? `${WRITE_OVER}${text}` : `${text}\n`);
  }
}

function textOf({ step, startedMs, startedAt, done, of }: CurrentStep, nowMs: number): string {
  if (done === 0 && of === 0) return step;
  const seconds = (nowMs - startedMs) / 1_000;
  const perSecond = seconds > 0 ? (done - startedAt) / seconds : 0;
  const share = of > 0 ? ` of ${of} (${Math.floor((100 * done) / of)} %)` : '';
  const rate = perSecond > 0 ? `, ${Math.round(perSecond)}/s` : '';
  const left = of > done && perSecond > 0 ? `, ${Math.ceil((of - done) / perSecond)} s left` : '';
  return `${step}: ${done}${share}${rate}${left}`;
}
