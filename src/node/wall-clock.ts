/** Reads the system clock once a second and has the node's clock follow it (runtime/wall-follower.ts); on the main thread. */
import { readTogether, type SharedClock } from '../runtime/clock.ts';
import { type ClockCorrection, type ConfirmedBlock, WallFollower } from '../runtime/wall-follower.ts';

const LOOK_MS = 1_000;
const MILLISECOND_NS = 1_000_000n;
/** A reading of two clocks that are further apart is none: the thread had no processor. */
const APART_NS_MAX = 2_000_000n;
/** Threads wait by the monotonic clock: after a step of this they look again at once. */
const WAKE_NS = 100_000_000n;

interface WallClockParts {
  readonly clock: SharedClock;
  /** Whether hooks or recorded times may push the clock ahead for good: dev and test. */
  readonly mayBePushed: boolean;
  /** Milliseconds of the system clock. */
  readonly systemMs?: () => number;
  readonly blocks: () => readonly ConfirmedBlock[];
  /** EVM chains that are watched. */
  readonly chains: () => number;
  /** The clock went forward by a step. */
  readonly stepped: (ns: bigint) => void;
  /** A step is held; null: no more. */
  readonly held: (reason: string | null) => void;
}

interface WallClockState {
  /** System clock − node clock, as of the last reading. */
  readonly differenceNs: bigint;
  /** Why the node is not ready; null while it follows. */
  readonly held: string | null;
}

export class WallClock {
  readonly #parts: WallClockParts;
  readonly #follower = new WallFollower();
  #timer: NodeJS.Timeout | null = null;
  #held: string | null = null;
  #differenceNs = 0n;

  constructor(parts: WallClockParts) {
    this.#parts = parts;
  }

  /** No effect in manual mode. */
  start(): void {
    if (this.#parts.clock.mode === 'manual') return;
    this.look();
    this.#timer = setInterval(() => this.look(), LOOK_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  get state(): WallClockState {
    return { differenceNs: this.#differenceNs, held: this.#held };
  }

  /** The operator bears out the step that is held. @returns false when none is. */
  accept(): boolean {
    const isHeld = this.#follower.accept();
    if (isHeld) this.look();
    return isHeld;
  }

  /** One reading, and what follows from it. */
  look(): void {
    const { clock, mayBePushed, systemMs = Date.now, blocks, chains } = this.#parts;
    const { ns, other } = readTogether(systemMs);
    const nodeNs = clock.nowNs();
    const endedNs = process.hrtime.bigint();
    if (endedNs - ns > APART_NS_MAX) return;
    const pushedNs = mayBePushed ? clock.pushedNs : 0n;
    const reading = {
      monotonicNs: endedNs,
      wallNs: BigInt(Math.floor(other)) * MILLISECOND_NS + (endedNs - ns),
      nodeNs: nodeNs - pushedNs,
      blocks: blocks(),
      chains: chains(),
    };
    this.#differenceNs = reading.wallNs - reading.nodeNs;
    this.#correct(this.#follower.look(reading));
  }

  #correct(correction: ClockCorrection): void {
    const { clock, stepped } = this.#parts;
    // What was to be given back is part of the reading: it is decided anew each time.
    clock.slow(correction.kind === 'slow' ? correction.ns : 0n);
    if (correction.kind === 'step') {
      clock.step(correction.ns);
      this.#differenceNs = 0n;
      if (correction.ns >= WAKE_NS) stepped(correction.ns);
    }
    this.#hold(correction.kind === 'hold' ? correction.reason : null);
  }

  #hold(reason: string | null): void {
    const isChange = (reason === null) !== (this.#held === null);
    this.#held = reason;
    if (isChange) this.#parts.held(reason);
  }
}
