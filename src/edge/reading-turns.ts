/**
 * Reading what clients send, a bounded number of bytes in each turn of the event loop, so that nobody keeps the thread
 * from its clock and its other clients, however many texts are complete at the same moment.
 *
 *   text ─▶ room left in this turn, none waits? ─▶ read now
 *              │ no
 *              ▼
 *        quick | slow ─▶ next turn: quick ones while there is room, then one slow one at least
 *
 * Short texts let nobody wait behind long ones: a login or an order is read before the batches that came earlier.
 * Whoever needs an order among texts keeps it: a lane is first come, first served.
 *
 * Not here: what waits is bounded by those who wait (uws-http.ts, control-socket.ts).
 */
import { QUICK_TEXT_BYTES_MAX, READ_PER_TURN } from '../core/limits.ts';

interface Waiting {
  readonly bytes: number;
  readonly read: () => void;
}

export type Lane = 'quick' | 'slow';

export function laneOf(bytes: number): Lane {
  return bytes <= QUICK_TEXT_BYTES_MAX ? 'quick' : 'slow';
}

export class ReadingTurns {
  readonly #alive: () => void;
  readonly #lanes: Readonly<Record<Lane, Waiting[]>> = { quick: [], slow: [] };
  /** Bytes read in this turn, and since `alive` was told. */
  #spent = 0;
  #silent = 0;
  #isTurnPlanned = false;
  #isStopped = false;

  /** @param alive told in every turn, and whenever READ_PER_TURN bytes have been read in one, that the thread lives. */
  constructor(alive: () => void = () => undefined) {
    this.#alive = alive;
  }

  /** Texts that wait. */
  get waiting(): number {
    return this.#lanes.quick.length + this.#lanes.slow.length;
  }

  /** Reads now when there is room in this turn, else in one of the next. `read` must not throw. */
  take(bytes: number, read: () => void): void {
    const lane = laneOf(bytes);
    const isFirst = this.#lanes[lane].length === 0 && (lane === 'quick' || this.waiting === 0);
    if (isFirst && this.#hasRoom(bytes)) this.#read({ bytes, read });
    else this.wait(lane, bytes, read);
  }

  /** Reads in one of the next turns. */
  wait(lane: Lane, bytes: number, read: () => void): void {
    this.#lanes[lane].push({ bytes, read });
    this.#plan();
  }

  /** Something was read beside the lanes in this turn. */
  note(bytes: number): void {
    this.#spent += bytes;
    this.#silent += bytes;
    if (this.#silent >= READ_PER_TURN) this.#tellAlive();
    this.#plan();
  }

  /** What waits is given up. */
  stop(): void {
    this.#isStopped = true;
    this.#lanes.quick.length = 0;
    this.#lanes.slow.length = 0;
  }

  #hasRoom(bytes: number): boolean {
    return this.#spent === 0 || this.#spent + bytes <= READ_PER_TURN;
  }

  #read({ bytes, read }: Waiting): void {
    this.note(bytes);
    read();
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
    this.#spent = 0;
    this.#readWhileRoom(this.#lanes.quick);
    const [slow] = this.#lanes.slow.splice(0, 1);
    if (slow !== undefined) this.#read(slow);
    this.#readWhileRoom(this.#lanes.slow);
    if (this.waiting > 0) this.#plan();
  }

  #readWhileRoom(lane: Waiting[]): void {
    let count = 0;
    for (let next = lane[0]; next !== undefined && this.#hasRoom(next.bytes); next = lane[count]) {
      count += 1;
      this.#read(next);
    }
    lane.splice(0, count);
  }
}
