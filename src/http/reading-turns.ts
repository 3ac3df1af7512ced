/**
 * Schedules work for clients with a limit per pass of the event loop, so that no client delays the thread's heartbeat
 * or other clients, even if much data is complete at the same time.
 *
 *   request, text ─▶ within the limit of this pass, its lane empty? ─▶ now
 *              │ no
 *              ▼
 *        cancels | quick | orders | reads | batches | slow ─▶ next pass, in this order: at least one of each lane
 *                             │            │
 *                             └─ waited longer than the bound: refused instead, unread (docs/safety.md, budgets)
 *
 * A pass is limited to READ_PER_TURN bytes, WORK_PER_TURN_MAX work items and WORK_MS_PER_TURN milliseconds, but runs at
 * least one item of each lane. Cancels precede everything. Short texts (`quick`) precede requests without a body (`reads`)
 * and long texts (`slow`): a login is parsed before pages and batches that arrived earlier. Orders (`orders`, and
 * `batches` where the text is long) wait as long as the pipeline behind takes none (`OrderGate`).
 *
 * A lane serves its sources in rotation, one item of each, so a connection with much work delays only itself. The work
 * of one source stays in order; a connection has a second source for cancels.
 *
 * The callers limit the waiting work (http-routes.ts, control-socket.ts).
 */
import { QUICK_TEXT_BYTES_MAX, READ_PER_TURN, WORK_MS_PER_TURN, WORK_PER_TURN_MAX } from '../core/limits.ts';
import { type Moment, ReadyState } from './readiness.ts';

export type Lane = 'cancels' | 'quick' | 'orders' | 'reads' | 'batches' | 'slow';

/** What a text asks for, as far as that decides when it is read. */
export type Urgency = 'cancel' | 'order' | 'other';

/** Whether orders may be read. */
export interface OrderGate {
  /** False while the pipeline behind the gateway has too much to do. */
  isOpen(): boolean;
  /** Milliseconds from the readiness of its socket, without those in which this thread got no CPU, after which an order is refused; 0: never. */
  readonly waitMsMax: number;
}

/** Takes every order, refuses none. */
export const OPEN_GATE: OrderGate = { isOpen: () => true, waitMsMax: 0 };

interface Waiting {
  readonly lane: Lane;
  readonly bytes: number;
  readonly read: () => void;
  readonly source: WorkSource;
  /** Since when it waits, where that is of interest. */
  readonly since: Moment;
  readonly refuse: (() => void) | null;
  /** Was refused, or dropped with its source: what is left of it is skipped. */
  isGone: boolean;
}

/** Work that waits. Neither function may throw. */
interface Work {
  readonly read: () => void;
  /** Called instead of `read` for an order that has waited too long. */
  readonly refuse?: () => void;
  readonly source?: WorkSource;
}

export function laneOf(bytes: number, urgency: Urgency = 'other'): Lane {
  const isShort = bytes <= QUICK_TEXT_BYTES_MAX;
  if (urgency === 'order') return isShort ? 'orders' : 'batches';
  if (urgency === 'cancel' && isShort) return 'cancels';
  return isShort ? 'quick' : 'slow';
}

/** Empty places at the front of a queue before it is compacted. */
const EMPTY_MAX = 1_024;

/** First in, first out; removal does not shift the rest. */
class Queue<T> {
  readonly #items: T[] = [];
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  get head(): T | undefined {
    return this.#items[this.#first];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): void {
    this.#first += 1;
    if (this.#first < this.#items.length && this.#first < EMPTY_MAX) return;
    this.#items.splice(0, this.#first);
    this.#first = 0;
  }

  clear(): void {
    this.#items.length = 0;
    this.#first = 0;
  }
}

/** The work of one connection, in order. A request is its own source: a connection has one at a time. */
export class WorkSource {
  readonly queue: Queue<Waiting> = new Queue();
  /** Whether it is in a lane. */
  isListed = false;

  /** The first item that is to be read. */
  head(): Waiting | undefined {
    while (this.queue.head?.isGone === true) this.queue.shift();
    return this.queue.head;
  }
}

/** Real milliseconds after which the gate is looked at again, while nothing but orders waits. */
const RETRY_MS = 1;
/** Milliseconds of a pass spent on refusals. */
const REFUSING_MS_PER_TURN = 1;
/** A multiple of the bound after which an order is refused although this thread got no CPU: its prices are old. */
const WITHHELD_MULTIPLE = 10;

const NO_MOMENT: Moment = { realMs: 0, withheldMs: 0 };

export class ReadingTurns {
  readonly #alive: () => void;
  readonly #nowMs: () => number;
  readonly #gate: OrderGate;
  readonly #readiness: ReadyState | null;
  readonly #lanes: Readonly<Record<Lane, Queue<WorkSource>>> = {
    cancels: new Queue(),
    quick: new Queue(),
    orders: new Queue(),
    reads: new Queue(),
    batches: new Queue(),
    slow: new Queue(),
  };
  /** Orders that may be refused, by the time since which they wait; some are gone. */
  readonly #refusable = new Queue<Waiting>();
  #waiting = 0;
  /** Figures of this pass: its number, bytes, work items, and milliseconds spent on them. */
  #turnNumber = 0;
  #spent = 0;
  #pieces = 0;
  #spentMs = 0;
  /** Bytes since the last call of `alive`. */
  #silent = 0;
  #isTurnPlanned = false;
  #isRetryPlanned = false;
  #isStopped = false;

  /**
   * @param alive called in every pass, and after every READ_PER_TURN bytes within one: records the thread's heartbeat.
   * @param nowMs real milliseconds, monotonic.
   * @param readiness of this thread's event loop, for this object alone; null where no order is refused.
   */
  constructor(
    alive: () => void = () => undefined,
    nowMs: () => number = () => performance.now(),
    gate: OrderGate = OPEN_GATE,
    readiness: ReadyState | null = gate.waitMsMax === 0 ? null : new ReadyState(),
  ) {
    this.#alive = alive;
    this.#nowMs = nowMs;
    this.#gate = gate;
    this.#readiness = readiness;
    this.#readiness?.start();
  }

  /** Number of waiting work items. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Differs from pass to pass. */
  get turnNumber(): number {
    return this.#turnNumber;
  }

  /** Since when the bytes that are read now may have waited. */
  since(): Moment {
    return this.#readiness?.since() ?? { realMs: this.#nowMs(), withheldMs: 0 };
  }

  /** Whether an order that waits since then is refused. */
  isOverdue(since: Moment): boolean {
    const { waitMsMax } = this.#gate;
    if (this.#readiness === null) return false;
    const waitedMs = this.#nowMs() - since.realMs;
    if (waitedMs <= waitMsMax) return false;
    return waitedMs > waitMsMax * WITHHELD_MULTIPLE || this.#readiness.ownMs(since) > waitMsMax;
  }

  /** Reads now if this pass has capacity, else in one of the next. */
  take(bytes: number, read: () => void, lane: Lane = laneOf(bytes), refuse?: () => void): void {
    const work = refuse === undefined ? { read } : { read, refuse };
    if (this.hasRoom(bytes, lane) && (refuse === undefined || !this.isOverdue(this.since()))) {
      this.note(bytes);
      this.timed(read);
    } else this.wait(lane, bytes, work);
  }

  /** Whether so many bytes of this lane may be read at once; then call `note`. */
  hasRoom(bytes: number, lane: Lane): boolean {
    const isFirst = this.#lanes[lane].length === 0 && ((lane !== 'slow' && lane !== 'batches') || this.waiting === 0);
    return isFirst && this.#fits(bytes) && (!isGated(lane) || this.#gate.isOpen());
  }

  /** Reads in one of the next passes, after waiting work of the same source; or refuses. */
  wait(lane: Lane, bytes: number, { read, refuse, source = new WorkSource() }: Work): void {
    const since = refuse === undefined ? NO_MOMENT : this.since();
    const item = { lane, bytes, read, source, since, refuse: refuse ?? null, isGone: false };
    source.queue.push(item);
    this.#waiting += 1;
    if (refuse !== undefined && this.#gate.waitMsMax > 0) this.#refusable.push(item);
    this.#list(source);
    this.#plan();
  }

  /** Counts bytes read outside the lanes in this pass. */
  note(bytes: number): void {
    this.#spent += bytes;
    this.#silent += bytes;
    this.#pieces += 1;
    if (this.#silent >= READ_PER_TURN) this.#tellAlive();
    this.#plan();
  }

  /** Runs and counts work of unknown duration. */
  timed(work: () => void): void {
    const startedMs = this.#nowMs();
    work();
    this.#spentMs += this.#nowMs() - startedMs;
  }

  /** Drops the waiting work of a source, which is not used any more. */
  drop(source: WorkSource): void {
    for (let item = source.head(); item !== undefined; item = source.head()) this.#remove(item);
  }

  /** Drops all waiting work. */
  stop(): void {
    this.#isStopped = true;
    this.#readiness?.stop();
    for (const lane of Object.values(this.#lanes)) lane.clear();
    this.#refusable.clear();
    this.#waiting = 0;
  }

  #fits(bytes: number): boolean {
    if (this.#pieces === 0) return true;
    const hasTime = this.#pieces < WORK_PER_TURN_MAX && this.#spentMs < WORK_MS_PER_TURN;
    return hasTime && (this.#spent === 0 || this.#spent + bytes <= READ_PER_TURN);
  }

  #tellAlive(): void {
    this.#silent = 0;
    this.#alive();
  }

  #plan(): void {
    if (this.#isTurnPlanned || this.#isStopped) return;
    this.#isTurnPlanned = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isTurnPlanned = false;
    if (this.#isStopped) return;
    this.#tellAlive();
    this.#turnNumber += 1;
    this.#spent = 0;
    this.#pieces = 0;
    this.#spentMs = 0;
    this.#readWhileRoom('cancels');
    this.#refuseOverdue();
    this.#readWhileRoom('quick');
    for (const lane of ['orders', 'reads', 'batches', 'slow'] as const) this.#readOne(lane);
    for (const lane of ['orders', 'reads', 'batches', 'slow'] as const) this.#readWhileRoom(lane);
    if (this.waiting === 0) return;
    if (this.#hasUngated() || this.#gate.isOpen()) this.#plan();
    else this.#retry();
  }

  /** Only orders wait, and none is taken now. */
  #retry(): void {
    if (this.#isRetryPlanned) return;
    this.#isRetryPlanned = true;
    setTimeout(() => {
      this.#isRetryPlanned = false;
      this.#plan();
    }, RETRY_MS);
  }

  #hasUngated(): boolean {
    const { cancels, quick, reads, slow } = this.#lanes;
    return cancels.length + quick.length + reads.length + slow.length > 0;
  }

  /** A refusal costs a fraction of what reading would, so these have a time of their own in a pass. */
  #refuseOverdue(): void {
    const untilMs = this.#nowMs() + REFUSING_MS_PER_TURN;
    for (let item = this.#refusable.head; item !== undefined; item = this.#refusable.head) {
      if (!item.isGone && (!this.isOverdue(item.since) || this.#nowMs() > untilMs)) break;
      this.#refusable.shift();
      if (item.isGone || item.refuse === null) continue;
      this.#remove(item);
      item.refuse();
    }
  }

  #readWhileRoom(lane: Lane): void {
    for (let next = this.#headOf(lane); next !== undefined && this.#fits(next.bytes); next = this.#headOf(lane)) {
      if (!this.#readOne(lane)) return;
    }
  }

  /** Runs one item of the next source, which then moves to the end of the lane of its next item. @returns whether it did. */
  #readOne(lane: Lane): boolean {
    const piece = this.#headOf(lane);
    if (piece === undefined || (isGated(lane) && !this.#gate.isOpen())) return false;
    const { source } = piece;
    this.#lanes[lane].shift();
    source.isListed = false;
    this.#remove(piece);
    this.#list(source);
    this.note(piece.bytes);
    this.timed(piece.read);
    return true;
  }

  /** The next item of a lane. Sources without work leave it, those whose next item is of another lane go there. */
  #headOf(lane: Lane): Waiting | undefined {
    const queue = this.#lanes[lane];
    for (let source = queue.head; source !== undefined; source = queue.head) {
      const item = source.head();
      if (item?.lane === lane) return item;
      queue.shift();
      source.isListed = false;
      this.#list(source);
    }
    return undefined;
  }

  #list(source: WorkSource): void {
    const item = source.head();
    if (item === undefined || source.isListed) return;
    source.isListed = true;
    this.#lanes[item.lane].push(source);
  }

  /** The item waits no longer. What is refused before the work ahead of it stays in its queue until that is done. */
  #remove(item: Waiting): void {
    item.isGone = true;
    this.#waiting -= 1;
    item.source.head();
  }
}

function isGated(lane: Lane): boolean {
  return lane === 'orders' || lane === 'batches';
}
