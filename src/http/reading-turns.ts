/**
 * Schedules work for clients with a limit per pass of the event loop, so that no client delays the thread's heartbeat
 * or other clients, even if much data is complete at the same time.
 *
 *   request, text ─▶ within the limit of this pass, its lane empty? ─▶ now
 *              │ no
 *              ▼
 *        quick | reads | slow ─▶ next pass: quick within the limit, then at least one of `reads` and of `slow`
 *
 * A pass is limited to READ_PER_TURN bytes, WORK_PER_TURN_MAX work items and WORK_MS_PER_TURN milliseconds, but runs at
 * least one item of each lane. Short texts (`quick`) precede requests without a body (`reads`) and long texts (`slow`):
 * a login or an order is parsed before pages and batches that arrived earlier.
 *
 * A lane serves its sources in rotation, one item of each, so a connection with much work delays only itself. The work
 * of one source stays in order.
 *
 * The callers limit the waiting work (http-routes.ts, control-socket.ts).
 */
import { QUICK_TEXT_BYTES_MAX, READ_PER_TURN, WORK_MS_PER_TURN, WORK_PER_TURN_MAX } from '../core/limits.ts';

export type Lane = 'quick' | 'reads' | 'slow';

interface Waiting {
  readonly lane: Lane;
  readonly bytes: number;
  readonly read: () => void;
}

export function laneOf(bytes: number): Lane {
  return bytes <= QUICK_TEXT_BYTES_MAX ? 'quick' : 'slow';
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
}

export class ReadingTurns {
  readonly #alive: () => void;
  readonly #nowMs: () => number;
  readonly #lanes: Readonly<Record<Lane, Queue<WorkSource>>> = {
    quick: new Queue(),
    reads: new Queue(),
    slow: new Queue(),
  };
  #waiting = 0;
  /** Of this pass: its number, bytes, work items, and milliseconds spent on them. */
  #turnNumber = 0;
  #spent = 0;
  #pieces = 0;
  #spentMs = 0;
  /** Bytes since the last call of `alive`. */
  #silent = 0;
  #isTurnPlanned = false;
  #isStopped = false;

  /**
   * @param alive called in every pass, and after every READ_PER_TURN bytes within one: records the thread's heartbeat.
   * @param nowMs real milliseconds, monotonic.
   */
  constructor(alive: () => void = () => undefined, nowMs: () => number = () => performance.now()) {
    this.#alive = alive;
    this.#nowMs = nowMs;
  }

  /** Number of waiting work items. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Differs from pass to pass. */
  get turnNumber(): number {
    return this.#turnNumber;
  }

  /** Reads now if this pass has capacity, else in one of the next. `read` must not throw. */
  take(bytes: number, read: () => void, lane: Lane = laneOf(bytes)): void {
    if (this.hasRoom(bytes, lane)) this.#read({ lane, bytes, read });
    else this.wait(lane, bytes, read);
  }

  /** Whether so many bytes of this lane may be read at once; then call `note`. */
  hasRoom(bytes: number, lane: Lane): boolean {
    const isFirst = this.#lanes[lane].length === 0 && (lane !== 'slow' || this.waiting === 0);
    return isFirst && this.#fits(bytes);
  }

  /** Reads in one of the next passes, after waiting work of the same source. */
  wait(lane: Lane, bytes: number, read: () => void, source: WorkSource = new WorkSource()): void {
    source.queue.push({ lane, bytes, read });
    this.#waiting += 1;
    if (source.queue.length === 1) this.#lanes[lane].push(source);
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
    this.#waiting -= source.queue.length;
    source.queue.clear();
  }

  /** Drops all waiting work. */
  stop(): void {
    this.#isStopped = true;
    for (const lane of Object.values(this.#lanes)) lane.clear();
    this.#waiting = 0;
  }

  #fits(bytes: number): boolean {
    if (this.#pieces === 0) return true;
    const hasTime = this.#pieces < WORK_PER_TURN_MAX && this.#spentMs < WORK_MS_PER_TURN;
    return hasTime && (this.#spent === 0 || this.#spent + bytes <= READ_PER_TURN);
  }

  #read({ bytes, read }: Waiting): void {
    this.note(bytes);
    this.timed(read);
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
    const { quick, reads, slow } = this.#lanes;
    this.#readWhileRoom(quick);
    this.#readOne(reads);
    this.#readOne(slow);
    this.#readWhileRoom(reads);
    this.#readWhileRoom(slow);
    if (this.waiting > 0) this.#plan();
  }

  #readWhileRoom(lane: Queue<WorkSource>): void {
    for (let next = nextOf(lane); next !== undefined && this.#fits(next.bytes); next = nextOf(lane)) {
      this.#readOne(lane);
    }
  }

  /** Runs one item of the next source, which then moves to the end of the lane of its next item. */
  #readOne(lane: Queue<WorkSource>): void {
    const piece = nextOf(lane);
    const source = lane.head;
    if (source === undefined || piece === undefined) return;
    lane.shift();
    source.queue.shift();
    this.#waiting -= 1;
    const next = source.queue.head;
    if (next !== undefined) this.#lanes[next.lane].push(source);
    this.#read(piece);
  }
}

/** The next item of a lane; removes dropped sources. */
function nextOf(lane: Queue<WorkSource>): Waiting | undefined {
  while (lane.head?.queue.length === 0) lane.shift();
  return lane.head?.queue.head;
}
