/**
 * Every order id of a market, by (user, id bytes), and its state.
 *
 *            park                    create         retire
 *   (none) ───────▶ PARKED     (none) ───────▶ live ─────────▶ REMEMBERED or REMEMBERED_CANCELLED
 *                    │                                                                │
 *                    └─ consumed or 5 s over ─▶ STALE ◀─ found after 30 days ──────────┘
 *                                                 └───── head of its queue ─▶ (none)
 *
 *   live         the id of an order in the pool
 *   PARKED         a cancel is parked for its create (AMB-25); one queue per market, by parking time
 *   REMEMBERED   the order ended (AMB-08); one queue per user, by end time
 *   STALE        not in the table any more, still in its queue
 *
 * All are found through one table (id-table.ts), and an id stays where it was first written:
 *
 *   entry   ─┬─ index + 1   live; the id lies beside the order
 *            └─ ~record     all others (id-records.ts)
 *
 * Invariant: every user has at most `rememberedMax` remembered ids, and all users together about `marketMax`. When one
 * more order ends, the user's oldest remembered id is evicted, and the user's watermark rises to its creation time:
 * creates signed at or before it could be replays. When the market's limit is reached, the eviction concerns a user
 * with the most ids instead: users who fill the table lose their own.
 *
 * An id is free again from creation + 30 days on, independent of when its memory is reclaimed.
 */
import { assert } from '../core/assert.ts';
import { IdTable, nextPlace } from '../core/id-table.ts';
import { type HashKey, hashId, hashWords } from '../core/key-words.ts';
import { ORDER_LIFE_NS, REMEMBERED_IDS_PER_MARKET_MAX } from '../core/limits.ts';
import { NONE } from '../core/pools.ts';
import { fromWords, highWord, lowWord } from '../core/time-words.ts';
import { IdRecords } from './id-records.ts';
import type { OrderPool } from './order-pool.ts';
import { ORDER_STATE } from './order-records.ts';
import { QUEUE, queueOf, type UserTable } from './user-table.ts';

export const ID_STATE = { parked: 1, remembered: 2, rememberedCancelled: 3, stale: 4 } as const;
/** The compiler folds constants of the same file but loads imported and exported ones. */
const REMEMBERED: number = ID_STATE.remembered;
const CANCELLED: number = ID_STATE.rememberedCancelled;
const HEAD: number = QUEUE.head;
const TAIL: number = QUEUE.tail;
const COUNT: number = QUEUE.count;

const FREE: number = ORDER_STATE.free;

/** Not in the table. */
export const UNKNOWN = 0;

/** An id in the memory that contains it. */
interface IdWords {
  readonly words: Int32Array;
  readonly orderIdAt: number;
  readonly orderIdBytes: number;
}

interface OrderIdsOptions {
  readonly capacity: number;
  readonly key: HashKey;
  /** Limit per user. */
  readonly rememberedMax: number;
  /** Limit of the market. */
  readonly marketMax: number | undefined;
}

export class OrderIds {
  /** Link: the next record of its queue. Time: of creation; for PARKED the expiry of the parked cancel. */
  readonly records: IdRecords;
  parkedHead: number = NONE;
  #parkedTail: number = NONE;
  readonly #orders: OrderPool;
  readonly #users: UserTable;
  readonly #table: IdTable;
  readonly #key: HashKey;
  readonly #rememberedMax: number;
  readonly #marketMax: number;
  #remembered = 0;
  /** No user that has added an id since this field changed has more ids. */
  #heaviest = 0;
  #sweptUser = 0;

  constructor(orders: OrderPool, users: UserTable, options: OrderIdsOptions) {
    const { capacity } = options;
    assert(options.rememberedMax >= 1, 'at least one id per user is remembered');
    this.#orders = orders;
    this.#users = users;
    this.#key = options.key;
    this.#rememberedMax = options.rememberedMax;
    this.#marketMax = options.marketMax ?? REMEMBERED_IDS_PER_MARKET_MAX;
    this.records = new IdRecords();
    this.#table = new IdTable(capacity);
  }

  /** Bytes of all arrays. */
  get bytes(): number {
    return this.records.bytes + this.#table.bytes;
  }

  /** The hash of this user's id, equal to `hashId`. */
  hashOf(user: number, words: Int32Array, at: number, bytes: number): number {
    return hashWords(this.#key, this.#users.hashOf(user), words, at, bytes);
  }

  hashKey(words: Int32Array, userAt: number, idAt: number, idBytes: number): number {
    return hashId(this.#key, words, userAt, idAt, idBytes);
  }

  /** Prefetches the table line of this hash. */
  fetch(hash: number): void {
    this.#table.fetch(hash);
  }

  /** @param hash of user and id (`hashId`). @returns the table entry, or UNKNOWN; `indexOf` and `recordOf` decode it. */
  find(hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    const places = this.#table.placesOf(hash);
    const { cells } = places;
    for (let place = places.placeOf(hash); ; place = nextPlace(place)) {
      const entry = cells[place + 1] as number;
      if (entry === UNKNOWN) return UNKNOWN;
      if (cells[place] !== hash) continue;
      const isIt =
        entry > 0
          ? this.#orders.hasId(entry - 1, user, words, at, bytes)
          : this.records.equals(~entry, user, words, at, bytes);
      if (isIt) return entry;
    }
  }

  /** The index of an entry's order, or NONE. */
  indexOf(entry: number): number {
    return entry > 0 ? entry - 1 : NONE;
  }

  /** The record of an entry, PARKED or REMEMBERED; or NONE. */
  recordOf(entry: number): number {
    return entry < 0 ? ~entry : NONE;
  }

  /** Assigns the id to an order whose user is set. */
  addLive(index: number, hash: number, words: Int32Array, at: number, bytes: number): void {
    this.#orders.setId(index, hash, words, at, bytes);
    this.#table.add(hash, index + 1);
  }

  /** Checks that the order at this index, if any, has the hash of its id. @throws InvariantError */
  checkHash(index: number): void {
    const orders = this.#orders;
    if (index === NONE || orders.stateOf(index) === FREE) return;
    const hash = this.hashOf(
      orders.userOf(index),
      orders.idWordsOf(index),
      orders.idAt(index),
      orders.idBytesOf(index),
    );
    assert(orders.idHashOf(index) === hash, 'an order has the hash of its id');
  }

  /** Touches memory that ids of the next commands will need; called between batches. */
  touchAhead(): void {
    this.records.touchAhead();
    this.#table.touchAhead();
  }

  /** Parks a cancel until `untilNs`; calls have ascending times. */
  park(hash: number, user: number, id: IdWords, untilNs: bigint): void {
    const record = this.#record(user, id, ID_STATE.parked, untilNs);
    this.#table.add(hash, ~record);
    if (this.parkedHead === NONE) this.parkedHead = record;
    else this.records.setLink(this.#parkedTail, record);
    this.#parkedTail = record;
    this.#countParked(user, 1);
  }

  /** Removes a parked cancel from the table: matched by its create, or expired. */
  consumeParked(record: number): void {
    assert(this.records.stateOf(record) === ID_STATE.parked, 'only a parked cancel is consumed');
    this.#countParked(this.records.userOf(record), -1);
    this.#makeStale(record);
  }

  /** Frees the first record of the parked queue, which is STALE. */
  dropParkedHead(): void {
    const record = this.parkedHead;
    assert(
      record !== NONE && this.records.stateOf(record) === ID_STATE.stale,
      'only a stale parked cancel leaves its queue',
    );
    this.parkedHead = this.records.linkOf(record);
    this.records.release(record);
  }

  /** The order leaves the pool and its id becomes remembered. */
  retire(index: number, wasCancelled: boolean): void {
    const orders = this.#orders;
    const user = orders.userOf(index);
    const record = this.records.add(
      user,
      wasCancelled ? CANCELLED : REMEMBERED,
      // Signed words: an unsigned one is a float to the compiler, and often an allocation.
      orders.creationHighRaw(index),
      orders.creationLowRaw(index),
      orders.idWordsOf(index),
      orders.idAt(index),
      orders.idBytesOf(index),
    );
    this.#table.rename(orders.idHashOf(index), index + 1, ~record);
    orders.release(index);
    this.#remember(user, record);
  }

  /** The order leaves the pool, and its id is as if it had never been. */
  dismiss(index: number): void {
    this.#table.remove(this.#orders.idHashOf(index), index + 1);
    this.#orders.release(index);
  }

  /** Remembers the id of an order that is not in the pool: it ended before the node started. */
  rememberId(hash: number, user: number, id: IdWords, creationNs: bigint, wasCancelled: boolean): void {
    const record = this.#record(user, id, wasCancelled ? CANCELLED : REMEMBERED, creationNs);
    this.#table.add(hash, ~record);
    this.#remember(user, record);
  }

  #record(user: number, id: IdWords, state: number, timeNs: bigint): number {
    const { words, orderIdAt, orderIdBytes } = id;
    return this.records.add(user, state, highWord(timeNs), lowWord(timeNs), words, orderIdAt, orderIdBytes);
  }

  /** Appends to the user's queue. */
  #remember(user: number, record: number): void {
    const { queues } = this.#users;
    const at = queueOf(user);
    const tail = queues[at + TAIL] as number;
    if (tail === NONE) queues[at + HEAD] = record;
    else this.records.setLink(tail, record);
    queues[at + TAIL] = record;
    const count = (queues[at + COUNT] as number) + 1;
    queues[at + COUNT] = count;
    this.#remembered += 1;
    if (count > (queues[queueOf(this.#heaviest) + COUNT] as number)) this.#heaviest = user;
    if (count > this.#rememberedMax) this.#evict(user);
    else if (this.#remembered > this.#marketMax) this.#evict(this.#heaviest);
  }

  isRemembered(record: number): boolean {
    const state = this.records.stateOf(record);
    return state === ID_STATE.remembered || state === ID_STATE.rememberedCancelled;
  }

  /** Whether the id of this remembered record may be used again. */
  isOver(record: number, nowNs: bigint): boolean {
    return this.createdNs(record) + ORDER_LIFE_NS <= nowNs;
  }

  /** Makes the id available again. */
  forget(record: number): void {
    assert(this.isRemembered(record), 'only a remembered id is released');
    const { queues } = this.#users;
    const at = queueOf(this.records.userOf(record)) + COUNT;
    queues[at] = (queues[at] as number) - 1;
    this.#remembered -= 1;
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

  /** Reclaims at most `budget` outdated records, round-robin over the users. */
  sweep(nowNs: bigint, budget: number): void {
    const { count, queues } = this.#users;
    for (let users = Math.min(budget, count), freed = 0; users > 0 && freed < budget; users--) {
      this.#sweptUser = this.#sweptUser + 1 < count ? this.#sweptUser + 1 : 0;
      for (; freed < budget; freed++) {
        const head = queues[queueOf(this.#sweptUser) + HEAD] as number;
        if (head === NONE || !(this.records.stateOf(head) === ID_STATE.stale || this.isOver(head, nowNs))) break;
        this.#dropRememberedHead(this.#sweptUser);
      }
    }
  }

  /** Evicts the oldest id of a user above its limit, or of the heaviest user in a market above its limit. */
  #evict(user: number): void {
    const head = this.#firstOf(user);
    this.raiseWatermark(user, this.createdNs(head));
    this.#dropRememberedHead(user);
  }

  #firstOf(user: number): number {
    const { queues } = this.#users;
    for (;;) {
      const head = queues[queueOf(user) + HEAD] as number;
      assert(head !== NONE, 'a user with remembered ids has a queue head');
      if (this.records.stateOf(head) !== ID_STATE.stale) return head;
      this.#dropRememberedHead(user);
    }
  }

  #dropRememberedHead(user: number): void {
    const { queues } = this.#users;
    const at = queueOf(user);
    const head = queues[at + HEAD] as number;
    if (this.records.stateOf(head) !== ID_STATE.stale) this.forget(head);
    const next = this.records.linkOf(head);
    queues[at + HEAD] = next;
    if (next === NONE) queues[at + TAIL] = NONE;
    this.records.release(head);
  }

  #makeStale(record: number): void {
    this.#table.remove(
      this.records.hashOf(this.#key, this.#users.hashOf(this.records.userOf(record)), record),
      ~record,
    );
    this.records.setState(record, ID_STATE.stale);
  }

  #countParked(user: number, change: number): void {
    const { queues } = this.#users;
    const at = queueOf(user) + QUEUE.parked;
    queues[at] = (queues[at] as number) + change;
  }
}
