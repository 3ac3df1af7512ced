/**
 * How long events of markets wait for the flush that makes them durable: the window that a kill could take from
 * optimistic acknowledgements (AMB-110). Now, `ringbook_unflushed_seconds`; and at each flush, what it had been at worst,
 * `ringbook_unflushed_window_seconds`.
 *
 *   received  1   2 3       4   5          moments are kept of some events, one a millisecond
 *   moments   1   2         4
 *   flushed             2                  3 waits: since the moment of 2, which is not later than its own
 *
 * So the window is reported too long by a little, never too short.
 */

/** Moments of a market that are kept at most; for events beyond these the last one counts. */
const MOMENTS_MAX = 1_024;
const APART_MS = 1;

interface Moment {
  readonly sequence: number;
  readonly ms: number;
}

interface Waiting {
  /** Last sequence of the market's events, and the last that is flushed. */
  seen: number;
  decided: number;
  /**
   * Moments of waiting events, rising; the first belongs to the oldest event, or to one before it. Empty when none
   * waits.
   */
  moments: Moment[];
}

export class UnflushedWindow {
  readonly #markets = new Map<number, Waiting>();
  readonly #measured: (ms: number) => void;

  /** @param measured called at each flush with the wait of the oldest event that it covers, milliseconds. */
  constructor(measured: (ms: number) => void = () => undefined) {
    this.#measured = measured;
  }

  /** An event of a market was received; it is not flushed yet. */
  received(marketIndex: number, sequence: number, nowMs: number): void {
    const market = this.#marketOf(marketIndex);
    if (sequence <= market.seen) return;
    market.seen = sequence;
    if (sequence <= market.decided) return;
    const { moments } = market;
    const last = moments.at(-1);
    // mutant: unflushed-window-start
    if (last === undefined || (nowMs - last.ms >= APART_MS && moments.length < MOMENTS_MAX)) {
      moments.push({ sequence, ms: nowMs });
    }
  }

  /** Everything of the market up to `sequence` is flushed. */
  flushed(marketIndex: number, sequence: number, nowMs: number): void {
    const market = this.#marketOf(marketIndex);
    const [oldest] = market.moments;
    if (oldest !== undefined && oldest.sequence <= sequence) this.#measured(nowMs - oldest.ms);
    market.decided = sequence;
    if (market.seen <= sequence) market.moments = [];
    else {
      const after = market.moments.findIndex((moment) => moment.sequence > sequence + 1);
      market.moments.splice(0, (after < 0 ? market.moments.length : after) - 1);
    }
  }

  seconds(nowMs: number): number {
    let oldestMs = nowMs;
    for (const { moments } of this.#markets.values()) oldestMs = Math.min(oldestMs, moments[0]?.ms ?? nowMs);
    return (nowMs - oldestMs) / 1000;
  }

  #marketOf(marketIndex: number): Waiting {
    let market = this.#markets.get(marketIndex);
    if (market === undefined) {
      market = { seen: 0, decided: 0, moments: [] };
      this.#markets.set(marketIndex, market);
    }
    return market;
  }
}
