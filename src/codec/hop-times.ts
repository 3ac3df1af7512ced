/**
 * The hops of one action on the gateway's thread (core/hops.ts), for three readers: the client that requested its hop
 * times (docs/safety.md), in nanoseconds of the node's clock; the trace of the node, which has a clock of its own
 * (runtime/trace-log.ts); and the metrics, which count each action and time its stages.
 *
 *   read ─▶ parsed ─▶ verified ─▶ sent ─▶ acknowledged ─▶ answered       single action, batch
 *      parse    verify     reserve    market          reply
 *
 *   read ─▶ parsed ─▶ sent ─▶ answered … acknowledged                    mass cancel
 *      parse    reserve   reply
 *                         └──── market ──────┘
 *
 * A batch passes a hop with its last order, and a mass cancel is acknowledged by the last of its markets.
 */
import { type Action, type ActionResult, type GatewayStage, HOP, type Hop } from '../core/hops.ts';
import type { AssetId } from '../core/ids.ts';
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
  /** @param ns whole nanoseconds, so that recording them allocates nothing. */
  stage(action: Action, stage: GatewayStage, ns: number): void;
  /**
   * An action was answered.
   *
   * @param ns whole nanoseconds since it was read; null for an order of a batch.
   * @param asset of the market that it names, known or not; null for none.
   */
  answered(action: Action, result: ActionResult, ns: number | null, asset: AssetId | null): void;
}

const INT_LIMIT = 2 ** 31;
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
  #asset: AssetId | null = null;
  #readMs: number;
  /** Of the last hop that ended a stage. */
  #lastMs: number;
  /** When it was sent; 0 before. */
  #sentMs = 0;
  /** Messages without an acknowledgement. */
  #unacknowledged = 1;
  /** Of a timed batch the hops of each order, by its index; null before the first. */
  #ofItems: Map<number, ActionHops> | null = null;
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
    if (hop === HOP.verified) this.verified();
    else if (hop === HOP.sent) this.sent(1);
  }

  /**
   * It was decoded; of a malformed one nothing is counted here.
   *
   * @param asset of the market that a single action or a mass cancel names; null for none.
   */
  parsed(action: Action, asset: AssetId | null = null): void {
    this.pass(HOP.parsed);
    this.#action = action;
    this.#asset = asset;
    this.#endStage('parse');
  }

  /** As `parsed`, of a batch. @param items its orders. */
  parsedBatch(action: 'batch-create' | 'batch-replace', items: number): void {
    this.#unanswered = items;
    this.#items = items;
    this.parsed(action);
  }

  /** All of its signatures are verified, or refused. */
  verified(): void {
    this.#endStage('verify');
  }

  /** All of it is in the rings of its markets. @param messages each of which is acknowledged. */
  sent(messages: number): void {
    this.#endStage('reserve');
    this.#sentMs = this.#lastMs;
    this.#unacknowledged = messages;
  }

  /** A market has answered a message; the trace has this hop from the ring (gateway-actor.ts). */
  acknowledged(): void {
    this.#unacknowledged -= 1;
    // mutant: market-of-the-last-item
    if (this.#unacknowledged > 0) return;
    this.#endStage('market');
  }

  /** It is answered as a whole: a single action, a mass cancel, or a batch that is refused. */
  answered(refusal: Reject | null): void {
    this.pass(HOP.answered);
    this.#count(refusal === null ? 'accepted' : 'rejected');
  }

  /** One order of a batch is answered; with the last one the batch is. @param asset of its market. */
  itemAnswered(refusal: Reject | null, asset: AssetId): void {
    const result = refusal === null ? 'accepted' : 'rejected';
    const item = this.#action === 'batch-replace' ? 'replace' : 'create';
    this.#meter?.answered(item, result, null, asset);
    if (refusal === null) this.#accepted += 1;
    this.#unanswered -= 1;
    if (this.#unanswered > 0) return;
    this.#count(this.#accepted === 0 || this.#accepted === this.#items ? result : 'partial');
  }

  /**
   * The hops of one order of a batch whose client requested the times (UNS-03); of any other batch its own. Its
   * acknowledgement is one of the batch.
   */
  ofItem(index: number): ActionHops {
    const nowNs = this.#nowNs;
    if (nowNs === null) return this;
    this.#ofItems ??= new Map();
    let item = this.#ofItems.get(index);
    if (item === undefined) {
      item = new ItemHops(this, nowNs);
      this.#ofItems.set(index, item);
    }
    return item;
  }

  /** One order of a batch has passed a hop; recorded if the client requested the times. */
  itemPassed(index: number, hop: Hop): void {
    if (this.#nowNs !== null) this.ofItem(index).pass(hop);
  }

  /** The market's time of a timed action; its fills follow within microseconds. */
  takenAt(takenNs: TimestampNs): void {
    this.recordAt(HOP.taken, takenNs);
  }

  /** The time of a hop that was passed before or elsewhere. */
  protected recordAt(hop: Hop, timeNs: TimestampNs): void {
    this.#times?.set(hop, timeNs);
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
    if (meter === null || this.#action === null) return;
    const nowMs = meter.nowMs();
    // The answer of a mass cancel is before that of its markets.
    const fromMs = stage === 'market' ? this.#sentMs : this.#lastMs;
    meter.stage(this.#action, stage, nsOf(nowMs - fromMs));
    // mutant: stages-without-gap
    this.#lastMs = nowMs;
  }

  #count(result: ActionResult): void {
    const meter = this.#meter;
    if (meter === null || this.#action === null) return;
    const isSent = this.#sentMs > 0;
    if (isSent) this.#endStage('reply');
    // After a stage its end is the time of the answer.
    const nowMs = isSent ? this.#lastMs : meter.nowMs();
    meter.answered(this.#action, result, nsOf(nowMs - this.#readMs), this.#asset);
  }
}

/** Of one order of a batch: its times. The batch is what is counted and traced. */
class ItemHops extends ActionHops {
  readonly #batch: ActionHops;

  constructor(batch: ActionHops, nowNs: () => TimestampNs) {
    super(0, null, nowNs);
    this.#batch = batch;
    const readNs = batch.timeOf(HOP.read);
    if (readNs !== null) this.recordAt(HOP.read, readNs);
  }

  override acknowledged(): void {
    this.#batch.acknowledged();
  }
}

/** A whole number: up to two seconds by the cheapest way. */
function nsOf(ms: number): number {
  const ns = ms * 1e6;
  return ns < INT_LIMIT ? ns | 0 : Math.round(ns);
}
