/**
 * Work for clients, bounded in each turn of the event loop, so that no client keeps the thread from its heartbeat and its
 * other clients, however much is complete at the same moment.
 *
 *   request, text ─▶ room left in this turn, nothing of its lane waits? ─▶ now
 *              │ no
 *              ▼
 *        quick | reads | slow ─▶ next turn: quick while there is room, then one of `reads` and of `slow` at least
 *
 * A turn has room for READ_PER_TURN bytes, WORK_PER_TURN_MAX pieces of work and WORK_MS_PER_TURN milliseconds, and for one
 * piece of each lane at least. Short texts (`quick`) pass requests without a body (`reads`) and long texts (`slow`): a
 * login or an order is read before the pages and batches that came earlier.
 *
 * A lane serves its sources in rotation, one piece of each, so a connection with much work waits behind itself only. The
 * work of one source stays in order.
 *
 * Not here: what waits is bounded by those who wait (http-routes.ts, control-socket.ts).
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

/** Places at the front of a queue that are empty before it is moved. */
const EMPTY_MAX = 1_024;

/** First in, first out; taking does not move what is behind. */
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

/** The work of one connection, in order. A request is a source of its own: a connection has one at a time. */
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
  /** Of this turn: its number, bytes, pieces of work, and milliseconds in them. */
  #turnNumber = 0;
  #spent = 0;
  #pieces = 0;
  #spentMs = 0;
  /** Bytes since `alive` was called. */
  #silent = 0;
  #isTurnPlanned = false;
  #isStopped = false;

  /**
   * @param alive called in every turn, and whenever READ_PER_TURN bytes have been read in one: the thread's heartbeat.
   * @param nowMs real milliseconds, monotonic.
   */
  constructor(alive: () => void = () => undefined, nowMs: () => number = () => performance.now()) {
    this.#alive = alive;
    this.#nowMs = nowMs;
  }

  /** Pieces of work that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Differs from turn to turn. */
  get turnNumber(): number {
    return this.#turnNumber;
  }

  /** Reads now when there is room in this turn, else in one of the next. `read` must not throw. */
  take(bytes: number, read: () => void, lane: Lane = laneOf(bytes)): void {
    if (this.hasRoom(bytes, lane)) this.#read({ lane, bytes, read });
    else this.wait(lane, bytes, read);
  }

  /** Whether so many bytes of this lane may be read at once: then `note` them. */
  hasRoom(bytes: number, lane: Lane): boolean {
    const isFirst = this.#lanes[lane].length === 0 && (lane !== 'slow' || this.waiting === 0);
    return isFirst && this.#fits(bytes);
  }

  /** Reads in one of the next turns, behind what waits of the same source. */
  wait(lane: Lane, bytes: number, read: () => void, source: WorkSource = new WorkSource()): void {
    source.queue.push({ lane, bytes, read });
    this.#waiting += 1;
    if (source.queue.length === 1) this.#lanes[lane].push(source);
    this.#plan();
  }

  /** Something was read beside the lanes in this turn. */
  note(bytes: number): void {
    this.#spent += bytes;
    this.#silent += bytes;
    this.#pieces += 1;
    if (this.#silent >= READ_PER_TURN) this.#tellAlive();
    this.#plan();
  }

  /** Does work that was not counted yet, and counts the time it takes. */
  timed(work: () => void): void {
    const startedMs = this.#nowMs();
    work();
    this.#spentMs += this.#nowMs() - startedMs;
  }

  /** Gives up what waits of a source, which reads nothing from now on. */
  drop(source: WorkSource): void {
    this.#waiting -= source.queue.length;
    source.queue.clear();
  }

  /** What waits is given up. */
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

  /** One piece of the source whose turn it is, which then goes to the end of the lane of its next piece. */
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

/** What is read next of a lane; sources that were dropped leave it. */
function nextOf(lane: Queue<WorkSource>): Waiting | undefined {
  while (lane.head?.queue.length === 0) lane.shift();
  return lane.head?.queue.head;
}
