/**
 * The hops of one signed action on the gateway's thread (core/hops.ts), recorded for two readers: the client that
 * requested its hop times (docs/trading.md), in nanoseconds of the node's clock, and the trace of the node, which has a
 * clock of its own (runtime/trace-log.ts).
 */
import { HOP, type Hop } from '../core/hops.ts';
import type { TimestampNs } from '../core/units.ts';

/** Records hops of every thread for the trace. */
export interface HopLog {
  mark(hop: Hop, key: number, more?: number): void;
}

/** The members of the reply's `timing`. */
const TIMING: readonly (readonly [string, Hop])[] = [
  ['received_ns', HOP.read],
  ['verified_ns', HOP.verified],
  ['sent_ns', HOP.sent],
  ['matched_ns', HOP.taken],
  ['answered_ns', HOP.answered],
];

export class ActionHops {
  readonly #key: number;
  readonly #log: HopLog | null;
  readonly #nowNs: (() => TimestampNs) | null;
  /** By hop; empty unless the client requested them. */
  readonly #times = new Map<Hop, TimestampNs>();

  /**
   * @param key of its records in the trace.
   * @param log null while the node is not traced.
   * @param nowNs the node's clock; null unless the client requested the times.
   */
  constructor(key: number, log: HopLog | null, nowNs: (() => TimestampNs) | null) {
    this.#key = key;
    this.#log = log;
    this.#nowNs = nowNs;
  }

  /** Whether the client requested the times, so that the market's is needed in the acknowledgement. */
  get isTimed(): boolean {
    return this.#nowNs !== null;
  }

  /** @param more what identifies the action on the next thread. */
  pass(hop: Hop, more = 0): void {
    this.#log?.mark(hop, this.#key, more);
    if (this.#nowNs !== null) this.#times.set(hop, this.#nowNs());
  }

  /** The market's time of a timed action; its fills follow within microseconds. */
  takenAt(takenNs: TimestampNs): void {
    this.#times.set(HOP.taken, takenNs);
  }

  /** Null for a hop that the action did not reach, and for every hop unless the client requested the times. */
  timeOf(hop: Hop): TimestampNs | null {
    return this.#times.get(hop) ?? null;
  }

  /** The member `timing` of an operation response. */
  timing(): string {
    return `{${TIMING.map(([name, hop]) => `"${name}":${this.timeOf(hop)}`).join(',')}}`;
  }
}
