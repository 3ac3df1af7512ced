/**
 * How the node's clock follows the system clock (MCH-02). Pure: a reading in, a correction out.
 *
 *   difference = system clock − node clock
 *
 *   behind                                         ─▶ slow down by a tenth until it is given back; never backwards
 *   ahead, with the steps of the last hour ≤ 60 s  ─▶ step at once
 *   ahead by more                                  ─▶ hold: not ready, until readings of 10 s agree and
 *                                                      no EVM chain is there, or
 *                                                      the confirmed blocks of one bear it out and of none contradict, or
 *                                                      the operator does
 *
 * What a confirmed block says: it was confirmed as long after its own time as those before it. So of each chain the shortest such
 * time of late is kept while nothing is held.
 */

const SECOND_NS = 1_000_000_000n;
/** System clocks are read in milliseconds, on threads that lose their processor: less is no difference. */
export const IGNORED_NS = 5_000_000n;
/** Steps forward that need no confirmation, in the time below together. */
export const STEP_NS_MAX: bigint = 60n * SECOND_NS;
const STEPS_WITHIN_NS = 3_600n * SECOND_NS;
/** For how long readings have to agree, and how nearly. */
export const AGREED_AFTER_NS: bigint = 10n * SECOND_NS;
const AGREED_NS = SECOND_NS;
/** Blocks whose age is remembered, of each chain. */
const AGES_MAX = 8;

export interface ConfirmedBlock {
  readonly chain: string;
  /** The time of the last confirmed block, seconds of Unix time. */
  readonly timeS: number;
}

interface ClockReading {
  readonly monotonicNs: bigint;
  /** The system clock at that moment. */
  readonly wallNs: bigint;
  /** The node's clock at that moment. */
  readonly nodeNs: bigint;
  /** The blocks of each EVM chain that the node watches and has read. */
  readonly blocks: readonly ConfirmedBlock[];
  /** EVM chains that it watches, read or not. */
  readonly chains: number;
}

export type ClockCorrection =
  | { readonly kind: 'none' }
  | { readonly kind: 'step'; readonly ns: bigint }
  | { readonly kind: 'slow'; readonly ns: bigint }
  | { readonly kind: 'hold'; readonly ns: bigint; readonly reason: string };

interface Jump {
  /** System clock − monotonic clock. */
  readonly offsetNs: bigint;
  readonly sinceNs: bigint;
}

interface SeenBlocks {
  timeS: number;
  seenNs: bigint;
  /** Ages by the node's clock at which blocks were confirmed. */
  ages: bigint[];
}

export class WallFollower {
  #jump: Jump | null = null;
  #isAccepted = false;
  #steps: { readonly atNs: bigint; readonly ns: bigint }[] = [];
  readonly #seen = new Map<string, SeenBlocks>();

  /** The operator bears out the step that is held. @returns false when none is. */
  accept(): boolean {
    this.#isAccepted = this.#jump !== null;
    return this.#isAccepted;
  }

  /** Call about once a second. */
  look(reading: ClockReading): ClockCorrection {
    const { monotonicNs, wallNs, nodeNs } = reading;
    const ns = wallNs - nodeNs;
    if (ns < STEP_NS_MAX) this.#note(reading);
    if (ns <= IGNORED_NS) {
      this.#release();
      return ns < -IGNORED_NS ? { kind: 'slow', ns: -ns } : { kind: 'none' };
    }
    this.#steps = this.#steps.filter(({ atNs }) => monotonicNs - atNs < STEPS_WITHIN_NS);
    const steppedNs = this.#steps.reduce((sum, step) => sum + step.ns, 0n);
    // mutant: clock-steps-bounded
    if (ns + steppedNs <= STEP_NS_MAX) return this.#step(monotonicNs, ns);
    const jump = this.#jumpAt(monotonicNs, wallNs - monotonicNs);
    const borne = this.#borneOut(reading, jump, ns);
    const hasAgreed = monotonicNs - jump.sinceNs >= AGREED_AFTER_NS;
    if (this.#isAccepted || (hasAgreed && borne === null)) {
      this.#steps = [];
      return this.#step(monotonicNs, ns, false);
    }
    const seconds = `${(ns + SECOND_NS / 2n) / SECOND_NS} s`;
    const reason = `the system clock is ${seconds} ahead of the node: ${borne ?? 'whether it stays so is seen in 10 s'}`;
    return { kind: 'hold', ns, reason };
  }

  #step(atNs: bigint, ns: bigint, isCounted = true): ClockCorrection {
    this.#release();
    if (isCounted) this.#steps.push({ atNs, ns });
    return { kind: 'step', ns };
  }

  #release(): void {
    this.#jump = null;
    this.#isAccepted = false;
  }

  /** The jump that is held, or a new one where the system clock has moved again. */
  #jumpAt(sinceNs: bigint, offsetNs: bigint): Jump {
    const held = this.#jump;
    if (held !== null && abs(offsetNs - held.offsetNs) <= AGREED_NS) return held;
    this.#jump = { offsetNs, sinceNs };
    this.#isAccepted = false;
    return this.#jump;
  }

  /** Null: nothing speaks against it. Otherwise what is missing. */
  #borneOut({ monotonicNs, wallNs, blocks, chains }: ClockReading, jump: Jump, ns: bigint): string | null {
    let supporters = 0;
    for (const { chain, timeS } of blocks) {
      const seen = this.#seen.get(chain);
      if (seen === undefined) continue;
      if (timeS > seen.timeS) Object.assign(seen, { timeS, seenNs: monotonicNs });
      const ageNs = seen.ages.reduce<bigint | null>(
        (least, age) => (least === null || age < least ? age : least),
        null,
      );
      if (seen.seenNs <= jump.sinceNs || ageNs === null) continue;
      const byChainNs = BigInt(seen.timeS) * SECOND_NS + ageNs + (monotonicNs - seen.seenNs);
      // Nearer to the system clock than to the node's.
      if (abs(wallNs - byChainNs) >= ns / 2n)
        return `the blocks of chain ${chain} contradict it; correct the system clock, or accept it`;
      supporters += 1;
    }
    if (chains === 0 || supporters > 0) return null;
    return 'no confirmed block has borne it out yet; accept it, or correct the system clock';
  }

  #note({ blocks, monotonicNs, nodeNs }: ClockReading): void {
    for (const { chain, timeS } of blocks) {
      const ageNs = nodeNs - BigInt(timeS) * SECOND_NS;
      const seen = this.#seen.get(chain);
      if (seen === undefined) this.#seen.set(chain, { timeS, seenNs: monotonicNs, ages: [ageNs] });
      else if (timeS > seen.timeS) {
        const ages = [...seen.ages, ageNs].slice(-AGES_MAX);
        Object.assign(seen, { timeS, seenNs: monotonicNs, ages });
      }
    }
  }
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}
