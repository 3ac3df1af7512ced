/** Messages between control.bench.ts and its load generator: plain data between two processes. */

/** `creates`: two users trade with each other, every second order fills. `mix`: creates that rest, each cancelled later. */
export type ControlFlow = 'creates' | 'mix';

export interface ControlPlan {
  readonly target:
    | { readonly kind: 'node'; readonly oms: string; readonly ops: string; readonly assetId: string }
    /** The floor: echoes a frame's head after one verification. */
    | { readonly kind: 'floor'; readonly base: string };
  readonly flow: ControlFlow;
  /** `open`: at a steady rate, independent of replies. `closed`: limited by `inFlight` unanswered messages. */
  readonly load:
    | { readonly kind: 'open'; readonly perSecond: number }
    | { readonly kind: 'closed'; readonly inFlight: number };
  /** Messages sent but not counted, then messages counted. */
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
  /** Delay of the generator itself, scheduled to actual send: part of every latency above. */
  readonly lateness: Latency;
  readonly rejected: number;
  readonly firstRefusal: string | null;
  readonly unanswered: number;
  /** Replies per second between the first counted send and the last reply. */
  readonly perSecond: number;
  /** The check of the node's ledger; null against the floor. */
  readonly ledger: string | null;
}
