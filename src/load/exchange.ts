/**
 * Sends the messages of a flow and records what comes back: replies on `/control`, fills of the buyer, depth updates.
 *
 *   message due ─▶ sent ─▶ reply (create, replace, cancel, batch; refused) ─▶ fill Pending ─▶ fill Confirmed
 *                                                                      └────▶ level in the depth stream
 *
 * Every time counts from the moment at which the message was due, so a stall counts for all messages due during it.
 * Frames are searched for what is needed, not parsed: the generator shares the machine with the node.
 */
import { isJsonObject, JsonFraction, parseJson } from '../codec/json-tree.ts';
import { assert, must } from '../core/assert.ts';
import { parseScaled } from '../core/decimal.ts';
import type { MessagesOf, SignedFlow } from './flows.ts';
import { Latencies, LatenciesOverTime } from './latencies.ts';
import { type Latency, type LoadPlan, TIMED, type Timed } from './plan.ts';
import { type CpuTimes, cpuTimes } from './thread-cpu.ts';
import type { Traders } from './traders.ts';

const ORDER_ID = '"order_id":"L';
const ORDER_DIGITS = 8;
const REASON = /"reason":"([A-Za-z0-9_]+)"/;
const HOP_MEMBERS = ['received_ns', 'verified_ns', 'sent_ns', 'matched_ns', 'answered_ns'] as const;
const HOPS = [
  'received to verified',
  'verified to sent to the market',
  'sent to taken up by the market',
  'taken up to answered',
] as const;
const OUTSIDE = 'outside of the node';
/** `{"Cr…`, `{"Re…`, `{"Ca…`: the third and fourth byte of a reply. */
const REPLY_KINDS: Readonly<Record<string, keyof MessagesOf>> = { Cr: 'create', Re: 'replace', Ca: 'cancel' };
const RECEIVED_IS_NOT_ALL_MAX = 20;

export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export class Exchange {
  readonly #plan: LoadPlan;
  readonly #flow: SignedFlow;
  readonly #traders: Traders;
  readonly #dueMs: Float64Array;
  /** Replies that are missing, by message. */
  readonly #missing: Uint8Array;
  readonly #latencies: Record<Timed, Latencies>;
  readonly #hops = new Map<string, Latencies>();
  readonly #lateness = new Latencies();
  readonly #overTime: LatenciesOverTime;
  readonly #rejections = new Map<string, number>();
  readonly #total: number;
  #firstRejection: string | null = null;
  #answered = 0;
  #sent = 0;
  #sentActions = 0;
  /** Number of the newest order that was sent. */
  #newestOrder = -1;
  #receivedCounted = 0;
  #lastAnswerMs = 0;
  #lastFillMs = 0;
  #fills = 0;
  #closed: string | null = null;
  #cpuBefore: CpuTimes | null = null;
  onAnswer: () => void = () => {};

  constructor(plan: LoadPlan, flow: SignedFlow, traders: Traders) {
    this.#plan = plan;
    this.#flow = flow;
    this.#traders = traders;
    const { messages } = flow;
    this.#dueMs = new Float64Array(messages.length);
    this.#missing = Uint8Array.from(messages, ({ actions }) => actions);
    this.#total = messages.reduce((sum, { actions }) => sum + actions, 0);
    this.#latencies = Object.fromEntries(TIMED.map((kind) => [kind, new Latencies()])) as Record<Timed, Latencies>;
    const { pace, count } = plan;
    // A run without a schedule has no known length; its columns are of the shortest kind and the last one is open.
    this.#overTime = new LatenciesOverTime(pace.kind === 'open' ? (count * 1_000) / pace.perSecond : 0);
    // In Node messages are Buffers.
    for (const { control } of traders.pair) {
      control.on('message', (data) => this.#reply(data as Buffer));
      control.on('close', (code) => {
        this.#closed ??= `a /control connection was closed with ${code}`;
      });
    }
    traders.trades?.on('message', (data) => this.#fill(data as Buffer));
    traders.depth?.on('message', (data) => this.#depth(data as Buffer));
  }

  get messages(): number {
    return this.#flow.messages.length;
  }

  get sent(): number {
    return this.#sent;
  }

  /** Actions sent without a reply. */
  get inFlight(): number {
    return this.#sentActions - this.#answered;
  }

  get answered(): number {
    return this.#answered;
  }

  /** Every action has its reply, or none can come any more. */
  get isDone(): boolean {
    return this.#answered === this.#total || this.#closed !== null;
  }

  /** When the last reply, fill or depth update came. */
  get lastEventMs(): number {
    return Math.max(this.#lastAnswerMs, this.#lastFillMs);
  }

  /** Whether fills that should become confirmed have not yet. */
  get awaitsFills(): boolean {
    if (this.#traders.trades === null || this.#closed !== null || this.#rejections.size > 0) return false;
    return this.#fills * this.#quantity < this.#flow.bought;
  }

  get #quantity(): number {
    return this.#plan.target.kind === 'node' ? this.#plan.target.market.quantity : 1;
  }

  /** @param dueMs when it was due. @param possibleMs when it could be sent; the generator is late after it. */
  send(dueMs: number, possibleMs: number): void {
    const number = this.#sent;
    const message = must(this.#flow.messages[number], 'a message is left to send');
    if (number === this.#plan.warmUp && this.#plan.pid !== null) this.#cpuBefore = cpuTimes(this.#plan.pid);
    this.#dueMs[number] = dueMs;
    if (number >= this.#plan.warmUp) this.#lateness.recordMs(nowMs() - possibleMs);
    this.#sent += 1;
    this.#sentActions += message.actions;
    const next = this.#flow.messagesOf.create[this.#newestOrder + 1];
    if (next === number) this.#newestOrder += message.actions;
    this.#traders.pair[message.user].control.send(message.frame);
  }

  #reply(data: Buffer): void {
    const receivedMs = nowMs();
    const order = orderOf(data);
    if (order === null) {
      this.#notOfAnOrder(data);
      return;
    }
    const isOfNode = this.#plan.target.kind === 'node';
    const kind = must(REPLY_KINDS[data.toString('latin1', 2, 4)], 'a reply begins with its kind');
    const message = must(this.#flow.messagesOf[kind][order], 'a reply belongs to an order that was sent');
    assert(message >= 0 && (this.#missing[message] ?? 0) > 0, `a second reply: ${data.toString('utf8', 0, 200)}`);
    const left = (this.#missing[message] ?? 0) - 1;
    this.#missing[message] = left;
    this.#answered += 1;
    this.#lastAnswerMs = receivedMs;
    const isRejected = isOfNode && data.includes('"Rejected"');
    if (isRejected) this.#rejected(data);
    if (message >= this.#plan.warmUp) {
      const ms = receivedMs - (this.#dueMs[message] ?? 0);
      const timed = isRejected ? 'refused' : kind;
      this.#latencies[timed].recordMs(ms);
      if (this.#plan.flow === 'batches' && left === 0) this.#latencies.batch.recordMs(ms);
      if (timed === 'create') this.#overTime.record((this.#dueMs[message] ?? 0) - this.#startedMs, ms);
      if (!isRejected) this.#receivedCounted += 1;
      if (this.#plan.hops && !isRejected) this.#hopsOf(data, ms);
    }
    this.onAnswer();
  }

  get #startedMs(): number {
    return this.#dueMs[this.#plan.warmUp] ?? 0;
  }

  /** The acknowledgment of a batch belongs to no order; anything else is an error of the connection. */
  #notOfAnOrder(data: Buffer): void {
    if (data.includes('"submitted"')) return;
    this.#rejected(data);
    this.#closed ??= `an error frame: ${data.toString('utf8', 0, 200)}`;
  }

  #rejected(data: Buffer): void {
    const text = data.toString();
    const reason = REASON.exec(text)?.[1] ?? 'error frame';
    this.#rejections.set(reason, (this.#rejections.get(reason) ?? 0) + 1);
    this.#firstRejection ??= text;
  }

  /** The five times of a reply are nanoseconds beyond 2^53: they are subtracted before they become numbers. */
  #hopsOf(data: Buffer, ms: number): void {
    const from = data.indexOf('"timing":');
    if (from < 0) return;
    const text = data.toString('latin1', from);
    const times = HOP_MEMBERS.map((name) => {
      const digits = new RegExp(`"${name}":([0-9]+)`).exec(text)?.[1];
      return digits === undefined ? null : BigInt(digits);
    });
    for (const [index, label] of HOPS.entries()) {
      const [earlier = null, later = null] = [times[index], times[index + 1]];
      if (earlier !== null && later !== null) this.#hop(label, Number(later - earlier) / 1e6);
    }
    const [first = null, last = null] = [times[0], times.at(-1)];
    if (first !== null && last !== null) this.#hop(OUTSIDE, Math.max(0, ms - Number(last - first) / 1e6));
  }

  #hop(label: string, ms: number): void {
    const latencies = this.#hops.get(label) ?? new Latencies();
    this.#hops.set(label, latencies);
    latencies.recordMs(ms);
  }

  /** Only the buyer's order of a pair is timed: the fill follows from its arrival. */
  #fill(data: Buffer): void {
    const receivedMs = nowMs();
    this.#lastFillMs = receivedMs;
    const order = orderOf(data);
    if (order === null) return;
    const isConfirmed = data.includes('"status":"Confirmed"');
    if (isConfirmed) this.#fills += 1;
    const message = this.#flow.messagesOf.create[order] ?? -1;
    if (message < this.#plan.warmUp) return;
    const ms = receivedMs - (this.#dueMs[message] ?? 0);
    if (isConfirmed) this.#latencies.confirmed.recordMs(ms);
    else if (data.includes('"status":"Pending"')) this.#latencies.pending.recordMs(ms);
  }

  #depth(data: Buffer): void {
    const receivedMs = nowMs();
    const { target } = this.#plan;
    const outcome = parseJson(data, { fractions: 'text' });
    if (!outcome.ok || !isJsonObject(outcome.value) || target.kind === 'floor') return;
    const bids = outcome.value.get('bids');
    if (!Array.isArray(bids)) return;
    for (const level of bids) {
      const [price, quantity] = Array.isArray(level) ? level : [];
      if (price === undefined || quantity === undefined || quantity === 0n) continue;
      const text = price instanceof JsonFraction ? price.text : String(price);
      const raw = parseScaled(text, target.market.priceDecimals);
      const order = raw === null ? null : this.#flow.restsAt(Number(raw), this.#newestOrder);
      const message = order === null ? -1 : (this.#flow.messagesOf.create[order] ?? -1);
      if (message >= this.#plan.warmUp) this.#latencies.depth.recordMs(receivedMs - (this.#dueMs[message] ?? 0));
    }
  }

  /** CPU times of the node's threads at the first counted message; null unless its process is known. */
  get cpuBefore(): CpuTimes | null {
    return this.#cpuBefore;
  }

  get receivedCounted(): number {
    return this.#receivedCounted;
  }

  get closed(): string | null {
    return this.#closed;
  }

  get unanswered(): number {
    return this.#total - this.#answered;
  }

  get rejections(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#rejections].slice(0, RECEIVED_IS_NOT_ALL_MAX));
  }

  get firstRejection(): string | null {
    return this.#firstRejection;
  }

  get perSecond(): number {
    return (this.#receivedCounted * 1_000) / (this.#lastAnswerMs - this.#startedMs);
  }

  get lateness(): Latency {
    return this.#lateness.summary();
  }

  get heat(): ReturnType<LatenciesOverTime['heatMap']> {
    return this.#overTime.heatMap();
  }

  get latencies(): Readonly<Partial<Record<Timed, Latency>>> {
    const timed = TIMED.filter((kind) => this.#latencies[kind].count > 0);
    return Object.fromEntries(timed.map((kind) => [kind, this.#latencies[kind].summary()]));
  }

  get hops(): Readonly<Record<string, Latency>> {
    return Object.fromEntries([...this.#hops].map(([label, latencies]) => [label, latencies.summary()]));
  }
}

/** The number of the first order that a frame names; null for none. */
function orderOf(data: Buffer): number | null {
  const at = data.indexOf(ORDER_ID);
  if (at < 0) return null;
  const from = at + ORDER_ID.length;
  return Number(data.toString('latin1', from, from + ORDER_DIGITS));
}
