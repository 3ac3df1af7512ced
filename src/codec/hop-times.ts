/**
 * The hops of one action on the gateway's thread (core/hops.ts), for three readers: the client that requested its hop
 * times (docs/trading.md), in nanoseconds of the node's clock; the trace of the node, which has a clock of its own
 * (runtime/trace-log.ts); and the metrics, which count each action and time its stages.
 *
 *   read ─▶ parsed ─▶ verified ─▶ sent ─▶ acknowledged ─▶ answered
 *      parse    verify     reserve    market          reply
 *
 * A batch is timed as a whole, from `read` to the answer to its last order.
 */
import {
  type Action,
  type ActionResult,
  type GatewayStage,
  HOP,
  type Hop,
  ORDER_ACTIONS,
  type OrderAction,
} from '../core/hops.ts';
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';

/** Records hops of every thread for the trace. */
export interface HopLog {
  mark(hop: Hop, key: number, more?: number): void;
}

/** Counts and times actions. */
export interface ActionMeter {
  /** Real milliseconds, monotonic. */
  nowMs(): number;
  stage(action: OrderAction, stage: GatewayStage, ms: number): void;
  /** An action was answered; `ms` since it was read, null for an order of a batch. */
  answered(action: Action, result: ActionResult, ms: number | null): void;
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
  readonly #meter: ActionMeter | null;
  /** By hop; null unless the client requested them. */
  readonly #times: Map<Hop, TimestampNs> | null;
  /** Null until it is parsed: what it is about is unknown before. */
  #action: Action | null = null;
  /** The same where its stages are timed. */
  #staged: OrderAction | null = null;
  #readMs: number;
  /** Of the last hop that ended a stage. */
  #lastMs: number;
  #isAtMarket = false;
  /** Orders of a batch without an answer, and of those with one the accepted. */
  #unanswered = 0;
  #items = 0;
  #accepted = 0;

  /**
   * @param key of its records in the trace.
   * @param log null while the node is not traced.
   * @param nowNs the node's clock; null unless the client requested the times.
   * @param meter null where nothing is counted.
   */
  constructor(key: number, log: HopLog | null, nowNs: (() => TimestampNs) | null, meter: ActionMeter | null = null) {
    this.#key = key;
    this.#log = log;
    this.#nowNs = nowNs;
    this.#times = nowNs === null ? null : new Map();
    this.#meter = meter;
    this.#readMs = meter === null ? 0 : meter.nowMs();
    this.#lastMs = this.#readMs;
  }

  /** Whether the client requested the times, so that the market's is needed in the acknowledgement. */
  get isTimed(): boolean {
    return this.#nowNs !== null;
  }

  /** @param more what identifies the action on the next thread. */
  pass(hop: Hop, more = 0): void {
    this.#log?.mark(hop, this.#key, more);
    if (this.#nowNs !== null) this.#times?.set(hop, this.#nowNs());
    if (hop === HOP.verified) this.#endStage('verify');
    else if (hop === HOP.sent) this.#endStage('reserve');
  }

  /**
   * It was decoded.
   *
   * @param action null for a malformed one, of which nothing is counted here.
   * @param items orders of a batch; 0 for one that is refused as a whole.
   */
  parsed(action: Action | null, items = 0): void {
    this.pass(HOP.parsed);
    this.#action = action;
    this.#staged = action !== null && isOrderAction(action) ? action : null;
    this.#unanswered = items;
    this.#items = items;
    this.#endStage('parse');
  }

  /** The market has answered; the trace has this hop from the ring (gateway-actor.ts). */
  acknowledged(): void {
    this.#isAtMarket = true;
    this.#endStage('market');
  }

  /** It is answered as a whole: a single action, or a batch that is refused. */
  answered(refusal: Reject | null): void {
    this.pass(HOP.answered);
    if (this.#isAtMarket) this.#endStage('reply');
    this.#count(refusal === null ? 'accepted' : 'rejected');
  }

  /** One order of a batch is answered; with the last one the batch is. */
  itemAnswered(refusal: Reject | null): void {
    const result = refusal === null ? 'accepted' : 'rejected';
    const item = this.#action === 'batch-replace' ? 'replace' : 'create';
    this.#meter?.answered(item, result, null);
    if (refusal === null) this.#accepted += 1;
    this.#unanswered -= 1;
    if (this.#unanswered > 0) return;
    this.#count(this.#accepted === 0 || this.#accepted === this.#items ? result : 'partial');
  }

  /** The market's time of a timed action; its fills follow within microseconds. */
  takenAt(takenNs: TimestampNs): void {
    this.#times?.set(HOP.taken, takenNs);
  }

  /** Null for a hop that the action did not reach, and for every hop unless the client requested the times. */
  timeOf(hop: Hop): TimestampNs | null {
    return this.#times?.get(hop) ?? null;
  }

  /** The member `timing` of an operation response. */
  timing(): string {
    return `{${TIMING.map(([name, hop]) => `"${name}":${this.timeOf(hop)}`).join(',')}}`;
  }

  #endStage(stage: GatewayStage): void {
    const meter = this.#meter;
    if (meter === null || this.#staged === null) return;
    const nowMs = meter.nowMs();
    meter.stage(this.#staged, stage, nowMs - this.#lastMs);
    // mutant: stages-without-gap
    this.#lastMs = nowMs;
  }

  #count(result: ActionResult): void {
    const meter = this.#meter;
    if (meter === null || this.#action === null) return;
    // After a stage its end is the time of the answer.
    const nowMs = this.#isAtMarket ? this.#lastMs : meter.nowMs();
    meter.answered(this.#action, result, nowMs - this.#readMs);
  }
}

function isOrderAction(action: Action): action is OrderAction {
  return (ORDER_ACTIONS as readonly string[]).includes(action);
}
