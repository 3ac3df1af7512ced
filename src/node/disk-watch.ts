/**
 * Watches the free space under the data directory, so that a full disk is an orderly end and not a commit that fails (MCH-04):
 *
 *   free ≥ reserve           everything is taken
 *   free < reserve           new orders are refused with 503, until a tenth more than the reserve is free; cancels go on
 *   free < an eighth of it   the node ends in order, with 78: what clearing has confirmed fits, and a checkpoint
 */
import { statfs } from 'node:fs/promises';

const LOOK_MS = 1_000;
const MEBIBYTE = 1_048_576;
const LAST_SHARE = 8;

type DiskState = 'enough' | 'low' | 'full';

interface DiskWatchParts {
  readonly directory: string;
  /** Setting `disk_reserve_mib`; 0: nothing is watched. */
  readonly reserveMib: () => number;
  readonly low: (isLow: boolean, freeMib: number) => void;
  /** Called once. */
  readonly full: (reason: string) => void;
}

/** @param before the state of the last look. */
export function diskState(before: DiskState, freeBytes: number, reserveMib: number): DiskState {
  const reserve = reserveMib * MEBIBYTE;
  if (freeBytes < reserve / LAST_SHARE) return 'full';
  if (freeBytes < reserve) return 'low';
  // So that an order more or less does not turn it on and off.
  return before === 'enough' || freeBytes >= reserve * 1.1 ? 'enough' : 'low';
}

export class DiskWatch {
  readonly #parts: DiskWatchParts;
  #state: DiskState = 'enough';
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;

  constructor(parts: DiskWatchParts) {
    this.#parts = parts;
  }

  /** Whether new orders are refused. */
  get isLow(): boolean {
    return this.#state !== 'enough';
  }

  /** Looks now, and every second from now on. */
  async start(): Promise<void> {
    await this.look();
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** A file system that does not answer is asked once, on a thread of the pool. */
  async look(): Promise<void> {
    const { directory, reserveMib } = this.#parts;
    if (this.#isLooking || this.#state === 'full') return;
    this.#isLooking = true;
    try {
      const { bsize, bavail } = await statfs(directory);
      this.#judge(bsize * bavail, reserveMib());
    } catch {
      // It has no figures: nothing follows.
    } finally {
      this.#isLooking = false;
    }
  }

  #judge(freeBytes: number, reserveMib: number): void {
    const wasLow = this.isLow;
    this.#state = diskState(this.#state, freeBytes, reserveMib);
    const freeMib = Math.floor(freeBytes / MEBIBYTE);
    if (this.isLow !== wasLow) this.#parts.low(this.isLow, freeMib);
    if (this.#state !== 'full') return;
    const bound = `an eighth of disk_reserve_mib, ${reserveMib}`;
    this.#parts.full(
      `${freeMib} MiB are free under ${this.#parts.directory}, less than ${bound}: make space, then start again`,
    );
  }
}
