/**
 * Long work in units. A job of the domain is a generator that yields the units of work done since its last yield; it has no
 * clock and no heartbeat. The thread that runs the job drives it here.
 *
 *   finish    runs a job to its end in one call, with heartbeats on the way
 *   advance   runs one slice of a job, so that other work of the thread comes between two of them
 *   done      counts units of work that drives itself, as the rows of a transaction
 *
 * A unit takes microseconds (an order, a row, a user): a heartbeat comes after so many of them.
 */
export const UNITS_PER_HEARTBEAT = 1_024;

/** A long job: it yields how many units of its work it has done since it last did. */
type Job<Result> = Iterator<number, Result, undefined>;

export class DutyCycle {
  /** For work that no thread watches: tools, tests, a start. */
  static readonly unwatched: DutyCycle = new DutyCycle(() => undefined);
  readonly #heartbeat: () => void;
  #units = 0;

  /** @param heartbeat records that the thread works. */
  constructor(heartbeat: () => void) {
    this.#heartbeat = heartbeat;
  }

  /** Counts units of work that are done. */
  done(units = 1): void {
    this.#units += units;
    if (this.#units < UNITS_PER_HEARTBEAT) return;
    this.#units = 0;
    this.#heartbeat();
  }

  /** A step of any length is done, as a flush. */
  step(): void {
    this.#units = 0;
    this.#heartbeat();
  }

  /** Runs the job to its end. */
  finish<Result>(job: Job<Result>): Result {
    for (;;) {
      const next = job.next();
      if (next.done === true) return next.value;
      this.done(next.value);
    }
  }

  /** Runs the job until so many units of it are done. @returns whether it has ended. */
  advance(job: Job<unknown>, units: number): boolean {
    for (let left = units; left > 0; ) {
      const next = job.next();
      if (next.done === true) return true;
      left -= next.value;
      this.done(next.value);
    }
    return false;
  }
}
