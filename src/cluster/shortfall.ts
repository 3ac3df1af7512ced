/**
 * The proof that the stream ends below what it had (cluster.md 7.1): its leader reports the same end on every read for 10 s, at
 * least five reads, and an append behind the own journal was refused with that end.
 */
import { SECOND_NS } from '../core/units.ts';

const PROOF_NS: bigint = 10n * SECOND_NS;
const READS_MIN = 5;

export class Shortfall {
  #end = -1;
  #sinceNs = 0n;
  #reads = 0;
  #isRefused = false;

  /** The stream's leader reported this end. */
  read(end: number, nowNs: bigint): void {
    if (end !== this.#end) this.#begin(end, nowNs);
    this.#reads += 1;
  }

  /** An append was refused with this end. */
  refused(end: number): void {
    if (end === this.#end) this.#isRefused = true;
  }

  /** The stream reaches as far as it should. */
  clear(): void {
    this.#begin(-1, 0n);
  }

  /** Whether reads alone are enough, so that an append may be tried. */
  isLong(nowNs: bigint): boolean {
    return this.#end >= 0 && this.#reads >= READS_MIN && nowNs - this.#sinceNs >= PROOF_NS;
  }

  isProven(nowNs: bigint): boolean {
    // mutant: shortfall-needs-a-refused-append
    return this.#isRefused && this.isLong(nowNs);
  }

  #begin(end: number, nowNs: bigint): void {
    this.#end = end;
    this.#sinceNs = nowNs;
    this.#reads = 0;
    this.#isRefused = false;
  }
}
