/** Progress of a start, for `GET /readyz` and, when it takes long, for standard error. */
import type { RecoveryStep } from '../clearing/recovery-steps.ts';

export interface StartStep {
  readonly step: 'verifying' | RecoveryStep;
  /** Pages, rows or records. */
  readonly done: number;
  /** 0 when it is not known. */
  readonly of: number;
}

/** Milliseconds of each executed step, and in total. */
type StartTimes = Readonly<Record<string, number>>;

/** Receives the progress of a start, and the duration of its steps at the end. */
interface StartReport {
  readonly step: (step: StartStep) => void;
  readonly started: (times: StartTimes) => void;
}

const SAY_EVERY_MS = 1_000;
/** The resolution of step durations. */
const LOOK_EVERY_MS = 20;

export class StartProgress {
  readonly #report: StartReport;
  readonly #look: () => StartStep | null;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAtMs: number = performance.now();
  readonly #times = new Map<string, number>();
  #last: StartStep | null = null;
  #lookedAtMs: number = this.#startedAtMs;
  #saidAtMs: number = this.#startedAtMs;

  /** @param look returns the step of the recovering thread; null before its first. */
  constructor(look: () => StartStep | null, report: StartReport) {
    this.#look = look;
    this.#report = report;
    this.#timer = setInterval(() => this.#tick(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  verifying(done: number, of: number): void {
    this.#last = { step: 'verifying', done, of };
  }

  /** Null before the first step. */
  get step(): StartStep | null {
    this.#last = this.#look() ?? this.#last;
    return this.#last;
  }

  end(): void {
    clearInterval(this.#timer);
    this.#tick();
    const all = Math.round(performance.now() - this.#startedAtMs);
    this.#report.started({ ...Object.fromEntries(this.#times), all });
  }

  #tick(): void {
    const nowMs = performance.now();
    const { step } = this;
    if (step !== null) {
      const before = this.#times.get(step.step) ?? 0;
      this.#times.set(step.step, Math.round(before + nowMs - this.#lookedAtMs));
    }
    this.#lookedAtMs = nowMs;
    if (step === null || nowMs - this.#saidAtMs < SAY_EVERY_MS) return;
    this.#saidAtMs = nowMs;
    this.#report.step(step);
  }
}
