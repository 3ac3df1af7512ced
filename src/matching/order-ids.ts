/**
 * Every order id a market knows, by (user, id bytes), and what it knows it as.
 *
 *            hold                    create         retire              writeDown
 *   (none) ───────▶ HELD     (none) ───────▶ live ─────────▶ FORGOTTEN ─────────▶ REMEMBERED or REMEMBERED_CANCELLED
 *                    │                                                                │
 *                    └─ consumed or 5 s over ─▶ STALE ◀─ 30 days over, seen at the door ─┘
 *                                                 └───── its queue reaches it ─▶ (none)
 *
 *   live         the id of an order in the pool (live-ids.ts): few, asked for all the time
 *   FORGOTTEN    the order ended, and its id is still among the live ones: it is written down with others
 *   HELD         a cancel waits for its create (AMB-25); one queue of the market, by the time it was held
 *   REMEMBERED   the order ended (AMB-08); one queue per user, by the time it ended
 *   STALE        found no more, still in its queue
 *
 * All but live and forgotten ids are records (id-records.ts) found through past-ids.ts. To write one down touches places
 * that are in no cache; of two at a time the processor waits for both together. Eight would save another tenth of the time
 * of all commands, and double the time of the slowest thousandth. A command pays for two, so that what ends thousands
 * leaves that work to thousands. An id that somebody asks for meanwhile is written down out of turn, it alone. Its record
 * waits in the place of its slot, and comes into its user's queue when the slot would have:
 *
 *   waiting   ─┬──────┬──────┬─────────┬──────┬─   in the order of their ends, of all users
 *              │ slot │ slot │ ~record │ slot │
 *
 * Invariant: every user has at most `rememberedMax` ids that are remembered or forgotten. When one more ends, the one that
 * ended first makes room at once, and the user's watermark rises to its creation time: creates signed at or before it
 * could be replays. It is the first of the user's queue, and there is one, as no more than `rememberedMax` ids wait: an end
 * beyond those has the first of them written down.
 *
 * An id counts as free from creation + 30 days on, whenever its memory is reclaimed.
 */
import { assert } from '../core/assert.ts';
import { type HashKey, hashWords } from '../core/key-words.ts';
import { ORDER_LIFE_NS } from '../core/limits.ts';
import { fromWords, highWord, lowWord } from '../core/time-words.ts';
import { IdRecords } from './id-records.ts';
import { LiveIds } from './live-ids.ts';
import type { OrderPool } from './order-pool.ts';
import { ORDER_STATE } from './order-records.ts';
import { PastIds } from './past-ids.ts';
import { NONE } from './pools.ts';
import type { UserTable } from './user-table.ts';

export const ID_STATE = { held: 1, remembered: 2, rememberedCancelled: 3, stale: 4 } as const;
/** The compiler folds constants of the same file, imported and exported ones it loads. */
const REMEMBERED: number = ID_STATE.remembered;
const CANCELLED: number = ID_STATE.rememberedCancelled;
const FORGOTTEN: number = ORDER_STATE.forgotten;

/** Ids that are written down at a time. */
const BATCH = 2;
const FIRST_WAITING = 64;
/** A ring of which less than a sixteenth is in use is halved. */
const ROOM_SHIFT = 4;
/** Slots are even; the last bit of one that waits says that its order was cancelled. */
const CANCELLED_BIT = 1;

/** An id, where it lies. */
export interface IdWords {
  readonly words: Int32Array;
  readonly orderIdAt: number;
  readonly orderIdBytes: number;
}

export class OrderIds {
  /** Link: the next in its queue. Time: of creation; HELD: until when. */
  readonly records: IdRecords;
  readonly live: LiveIds;
  heldHead: number = NONE;
  #heldTail: number = NONE;
  readonly #orders: OrderPool;
  readonly #users: UserTable;
  readonly #past: PastIds;
  readonly #key: HashKey;
  readonly #rememberedMax: number;
  #sweptUser = 0;
  /** FORGOTTEN slots, and records that were written down out of turn (~record), in the order of their ends: a ring. */
  #waiting: Int32Array = new Int32Array(FIRST_WAITING);
  /** Number of the first one: places are numbers of 32 bits, of which the ring's length leaves the last ones. */
  #first = 0;
  #waitingCount = 0;
  /** Of no meaning: it keeps the compiler from leaving the first step out. */
  #touched = 0;

  constructor(orders: OrderPool, users: UserTable, options: { capacity: number; key: HashKey; rememberedMax: number }) {
    const { capacity } = options;
    assert(options.rememberedMax >= 1, 'an id that ends is remembered');
    this.#orders = orders;
    this.#users = users;
    this.#key = options.key;
    this.#rememberedMax = options.rememberedMax;
    this.records = new IdRecords();
    this.live = new LiveIds(orders, capacity);
    this.#past = new PastIds(this.records, capacity);
  }

  /** Bytes of all arrays. */
  get bytes(): number {
    return this.records.bytes + this.live.bytes + this.#past.bytes + this.#waiting.byteLength;
  }

  hashOf(user: number, words: Int32Array, at: number, bytes: number): number {
    return hashWords(this.#key, user, words, at, bytes);
  }

  /** @param hash what `hashOf` says of the same id. @returns the slot of its order, or NONE. */
  findLive(hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    const slot = this.live.find(hash, user, words, at, bytes);
    if (slot === NONE || this.#orders.stateOf(slot) !== FORGOTTEN) return slot;
    this.#writeOutOfTurn(slot);
    return NONE;
  }

  /** @param hash what `hashOf` says of the same id. @returns its record, HELD or REMEMBERED; or NONE. */
  findPast(hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    return this.#past.find(hash, user, words, at, bytes);
  }

  /** A cancel waits for its create until `untilNs`; holds are made in the order of their ends. */
  hold(hash: number, user: number, id: IdWords, untilNs: bigint): void {
    const record = this.#record(user, id, ID_STATE.held, untilNs);
    this.#past.add(hash, record);
    if (this.heldHead === NONE) this.heldHead = record;
    else this.records.setLink(this.#heldTail, record);
    this.#heldTail = record;
    this.#countHeld(user, 1);
  }

  /** The hold has done its work. */
  consumeHold(record: number): void {
    assert(this.records.stateOf(record) === ID_STATE.held, 'only a hold is consumed');
    this.#countHeld(this.records.userOf(record), -1);
    this.#makeStale(record);
  }

  /** Takes the first of the held queue out, STALE. */
  dropHeldHead(): void {
    const record = this.heldHead;
    assert(record !== NONE && this.records.stateOf(record) === ID_STATE.stale, 'only a stale hold leaves its queue');
    this.heldHead = this.records.linkOf(record);
    this.records.release(record);
  }

  /** The order is over: it leaves the pool, and its id is only remembered. */
  retire(slot: number, wasCancelled: boolean): void {
    const orders = this.#orders;
    const user = orders.userOf(slot);
    if (this.#waitingCount === this.#rememberedMax) this.#writeFirst(1);
    if (this.#waitingCount === this.#waiting.length) this.#resizeWaiting(this.#waitingCount * 2);
    const place = (this.#first + this.#waitingCount) | 0;
    orders.retire(slot, place);
    this.#waiting[place & (this.#waiting.length - 1)] = wasCancelled ? slot | CANCELLED_BIT : slot;
    this.#waitingCount++;
    const { rememberedCount } = this.#users;
    const count = (rememberedCount[user] as number) + 1;
    rememberedCount[user] = count;
    if (count > this.#rememberedMax) this.#evict(user);
  }

  /** Whether the next command has ids to write down before it looks for any. */
  get isDue(): boolean {
    return this.#waitingCount >= BATCH;
  }

  /** Writes down a batch of forgotten ids. */
  writeDown(): void {
    this.#writeFirst(Math.min(this.#waitingCount, BATCH));
  }

  /** The first `count` that wait. One step for all of them after the other, each touching what no other waits for. */
  #writeFirst(count: number): void {
    const orders = this.#orders;
    const mask = this.#waiting.length - 1;
    for (let i = 0; i < count; i++) {
      const waiting = this.#waiting[(this.#first + i) & mask] as number;
      if (waiting >= 0) this.#touched ^= this.#past.touch(orders.idHashOf(waiting & ~CANCELLED_BIT));
    }
    for (let i = 0; i < count; i++) {
      const waiting = this.#waiting[(this.#first + i) & mask] as number;
      if (waiting < 0) this.#enqueue(this.records.userOf(~waiting), ~waiting);
      else this.#enqueue(orders.userOf(waiting & ~CANCELLED_BIT), this.#write(waiting));
    }
    this.#first = (this.#first + count) | 0;
    this.#waitingCount -= count;
    const { length } = this.#waiting;
    if (length > FIRST_WAITING && this.#waitingCount < length >>> ROOM_SHIFT) this.#resizeWaiting(length >>> 1);
  }

  /** It is found among the past ids from here on, and keeps its place among those that wait. */
  #writeOutOfTurn(slot: number): void {
    const at = this.#orders.placeOf(slot) & (this.#waiting.length - 1);
    const waiting = this.#waiting[at] as number;
    assert((waiting & ~CANCELLED_BIT) === slot, 'a forgotten id is where its slot says');
    this.#waiting[at] = ~this.#write(waiting);
  }

  /** @param waiting a slot, with the bit. It is another order's from here on. @returns its record, in no queue. */
  #write(waiting: number): number {
    const orders = this.#orders;
    const slot = waiting & ~CANCELLED_BIT;
    this.live.remove(slot);
    const record = this.#recordOf(slot, waiting === slot ? REMEMBERED : CANCELLED);
    this.#past.add(orders.idHashOf(slot), record);
    orders.release(slot);
    return record;
  }

  #recordOf(slot: number, state: number): number {
    const orders = this.#orders;
    const [words, at, bytes] = [orders.idWordsOf(slot), orders.idAt(slot), orders.idBytesOf(slot)];
    // Words as they lie, with a sign: an unsigned one is a float to the compiler, and often an allocation.
    const [timeHigh, timeLow] = [orders.creationHighRaw(slot), orders.creationLowRaw(slot)];
    return this.records.add(orders.userOf(slot), state, timeHigh, timeLow, words, at, bytes);
  }

  /** @param length a power of two. */
  #resizeWaiting(length: number): void {
    const old = this.#waiting;
    const next = new Int32Array(length);
    for (let i = 0; i < this.#waitingCount; i++) {
      const place = this.#first + i;
      next[place & (length - 1)] = old[place & (old.length - 1)] as number;
    }
    this.#waiting = next;
  }

  /** An id of an order that is in no pool: of one that ended before the node started. */
  rememberId(hash: number, user: number, id: IdWords, creationNs: bigint, wasCancelled: boolean): void {
    const record = this.#record(user, id, wasCancelled ? CANCELLED : REMEMBERED, creationNs);
    this.#past.add(hash, record);
    const { rememberedCount } = this.#users;
    rememberedCount[user] = (rememberedCount[user] as number) + 1;
    this.#enqueue(user, record);
    if ((rememberedCount[user] as number) > this.#rememberedMax) this.#evict(user);
  }

  #record(user: number, id: IdWords, state: number, timeNs: bigint): number {
    const { words, orderIdAt, orderIdBytes } = id;
    return this.records.add(user, state, highWord(timeNs), lowWord(timeNs), words, orderIdAt, orderIdBytes);
  }

  /** At the end of the user's queue; it is counted. STALE by then, if it was used again while it waited. */
  #enqueue(user: number, record: number): void {
    const { rememberedHead, rememberedTail } = this.#users;
    const tail = rememberedTail[user] as number;
    if (tail === NONE) rememberedHead[user] = record;
    else this.records.setLink(tail, record);
    rememberedTail[user] = record;
  }

  isRemembered(record: number): boolean {
    const state = this.records.stateOf(record);
    return state === ID_STATE.remembered || state === ID_STATE.rememberedCancelled;
  }

  /** Whether the id of this remembered record may be used again. */
  isOver(record: number, nowNs: bigint): boolean {
    return this.createdNs(record) + ORDER_LIFE_NS <= nowNs;
  }

  /** The id may be used again. */
  forget(record: number): void {
    assert(this.isRemembered(record), 'only a remembered id is forgotten');
    const { rememberedCount } = this.#users;
    const user = this.records.userOf(record);
    rememberedCount[user] = (rememberedCount[user] as number) - 1;
    this.#makeStale(record);
  }

  raiseWatermark(user: number, creationNs: bigint): void {
    const users = this.#users;
    if (users.hasWatermark[user] !== 0 && (users.watermarkNs[user] as bigint) >= creationNs) return;
    users.watermarkNs[user] = creationNs;
    users.hasWatermark[user] = 1;
  }

  createdNs(record: number): bigint {
    return fromWords(this.records.timeHighOf(record), this.records.timeLowOf(record));
  }

  /** Reclaims at most `budget` records that are over, user by user, taking turns. */
  sweep(nowNs: bigint, budget: number): void {
    for (let written = 0; written < budget && this.#waitingCount > 0; written += BATCH) this.writeDown();
    const { count, rememberedHead } = this.#users;
    for (let users = Math.min(budget, count), freed = 0; users > 0 && freed < budget; users--) {
      this.#sweptUser = this.#sweptUser + 1 < count ? this.#sweptUser + 1 : 0;
      for (; freed < budget; freed++) {
        const head = rememberedHead[this.#sweptUser] as number;
        if (head === NONE || !(this.records.stateOf(head) === ID_STATE.stale || this.isOver(head, nowNs))) break;
        this.#dropRememberedHead(this.#sweptUser);
      }
    }
  }

  /** Of a user with more ids than it may have: the one that ended first. */
  #evict(user: number): void {
    const head = this.#firstOf(user);
    this.raiseWatermark(user, this.createdNs(head));
    this.#dropRememberedHead(user);
  }

  #firstOf(user: number): number {
    const { rememberedHead } = this.#users;
    for (;;) {
      const head = rememberedHead[user] as number;
      assert(head !== NONE, 'of more ids than may wait some are in the queue of their user');
      if (this.records.stateOf(head) !== ID_STATE.stale) return head;
      this.#dropRememberedHead(user);
    }
  }

  #dropRememberedHead(user: number): void {
    const { rememberedHead, rememberedTail } = this.#users;
    const head = rememberedHead[user] as number;
    if (this.records.stateOf(head) !== ID_STATE.stale) this.forget(head);
    const next = this.records.linkOf(head);
    rememberedHead[user] = next;
    if (next === NONE) rememberedTail[user] = NONE;
    this.records.release(head);
  }

  #makeStale(record: number): void {
    this.#past.remove(this.records.hashOf(this.#key, record), record);
    this.records.setState(record, ID_STATE.stale);
  }

  #countHeld(user: number, change: number): void {
    this.#users.heldCount[user] = (this.#users.heldCount[user] as number) + change;
  }
}
