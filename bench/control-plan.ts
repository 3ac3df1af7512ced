/** What control.bench.ts tells its load generator, and what that answers: plain data between two processes. */

/** `creates`: two users trade with each other, every second order fills. `mix`: creates that rest, each cancelled later. */
export type ControlFlow = 'creates' | 'mix';

export interface ControlPlan {
  readonly target:
    | { readonly kind: 'node'; readonly oms: string; readonly ops: string; readonly assetId: string }
    /** The floor: echoes a frame's head after one verification. */
    | { readonly kind: 'floor'; readonly base: string };
  readonly flow: ControlFlow;
  /** `open`: at a steady rate, whatever comes back. `closed`: as fast as answers to the last `inFlight` allow. */
  readonly load:
    | { readonly kind: 'open'; readonly perSecond: number }
    | { readonly kind: 'closed'; readonly inFlight: number };
  /** Messages sent and not counted, then messages counted. */
  readonly warmUp: number;
  readonly count: number;
}

/** Microseconds, from the intended send time (open) or the send (closed). */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly p9999: number;
  readonly max: number;
}

export interface ControlResult {
  readonly creates: Latency;
  /** Empty with `creates`. */
  readonly cancels: Latency;
  /** How late the generator itself was, intended to actual send: part of every latency above. */
  readonly lateness: Latency;
  readonly rejected: number;
  readonly firstRefusal: string | null;
  readonly unanswered: number;
  /** Answers per second between the first counted send and the last answer. */
  readonly perSecond: number;
  /** What the node's ledger was checked for; null against the floor. */
  readonly ledger: string | null;
}
