/** How far a start is, for `GET /readyz` and, where it takes long, for standard error. */
import type { RecoveryStep } from './recovery.ts';

export interface StartStep {
  readonly step: 'verifying' | RecoveryStep;
  /** Pages, rows or records. */
  readonly done: number;
  /** 0 where it is not known. */
  readonly of: number;
}

const SAY_EVERY_MS = 1_000;

export class StartProgress {
  readonly #say: (step: StartStep) => void;
  readonly #look: () => StartStep | null;
  readonly #timer: NodeJS.Timeout;
  #last: StartStep | null = null;

  /** @param look at what the recovering thread says; null while it says nothing. */
  constructor(look: () => StartStep | null, say: (step: StartStep) => void) {
    this.#look = look;
    this.#say = say;
    this.#timer = setInterval(() => this.#tick(), SAY_EVERY_MS);
    this.#timer.unref();
  }

  verifying(done: number, of: number): void {
    this.#last = { step: 'verifying', done, of };
  }

  /** Null before there is anything to tell. */
  get step(): StartStep | null {
    this.#last = this.#look() ?? this.#last;
    return this.#last;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const { step } = this;
    if (step !== null) this.#say(step);
  }
}
