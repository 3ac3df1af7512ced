/** Messages between overload.bench.ts and its load generator: plain data between two processes. */

export interface OverloadPlan {
  readonly oms: string;
  readonly ops: string;
  readonly assetId: string;
  /** `closed`: so many creates unanswered at any time. `open`: creates a second, whatever is answered. */
  readonly load:
    | { readonly kind: 'closed'; readonly inFlight: number }
    | { readonly kind: 'open'; readonly perSecond: number };
  readonly creates: number;
  /** Creates for each cancel of a resting order, over the same connection. */
  readonly createsPerCancel: number;
  /** REST requests a second, each of which cancels all of its user's orders. */
  readonly massCancelsPerSecond: number;
}

/** Microseconds from the intended send time to the answer that was read. */
export interface Waits {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export interface OverloadResult {
  readonly accepted: Waits;
  readonly refused: Waits;
  readonly cancels: Waits;
  readonly massCancels: Waits;
  /** Creates and refused creates of all users together. */
  readonly answers: Waits;
  /** Refusals by reason, cancels included. */
  readonly reasons: Readonly<Record<string, number>>;
  /** Cancels that were not `Received`. */
  readonly cancelsRefused: number;
  /** Messages without an answer, and with more than one. */
  readonly unanswered: number;
  readonly repeated: number;
  /** Of what was due in the time: creates sent, and creates accepted, a second. */
  readonly sentPerSecond: number;
  readonly acceptedPerSecond: number;
  /** How late the generator itself sent, p99, microseconds: part of every latency. */
  readonly latenessP99: number;
}
