/**
 * Every order id a market knows, by (user, id bytes), and what it knows it as.
 *
 *            hold                    create         retire
 *   (none) ───────▶ HELD     (none) ───────▶ live ─────────▶ REMEMBERED or REMEMBERED_CANCELLED
 *                    │                                                                │
 *                    └─ consumed or 5 s over ─▶ STALE ◀─ 30 days over, seen at the door ─┘
 *                                                 └───── its queue reaches it ─▶ (none)
 *
 *   live         the id of an order in the pool
 *   HELD         a cancel waits for its create (AMB-25); one queue of the market, by the time it was held
 *   REMEMBERED   the order ended (AMB-08); one queue per user, by the time it ended
 *   STALE        found no more, still in its queue
 *
 * All of them are found through one table (id-table.ts), and an id stays where it was first written:
 *
 *   entry   ─┬─ slot + 1    live; the id lies beside the order
 *            └─ ~record     all others (id-records.ts)
 *
 * Invariant: every user has at most `rememberedMax` ids that are remembered, and all together about `marketMax`. When one
 * more ends, the user's one that ended first makes room at once, and the user's watermark rises to its creation time:
 * creates signed at or before it could be replays. In a full market that is a user with the most, not the one that adds: who
 * fills it forgets its own.
 *
 * An id counts as free from creation + 30 days on, whenever its memory is reclaimed.
 */
import { assert } from '../core/assert.ts';
import { type HashKey, hashId, hashWords } from '../core/key-words.ts';
import { ORDER_LIFE_NS, REMEMBERED_IDS_PER_MARKET_MAX } from '../core/limits.ts';
import { fromWords, highWord, lowWord } from '../core/time-words.ts';
import { IdRecords } from './id-records.ts';
import { IdTable, nextPlace } from './id-table.ts';
import type { OrderPool } from './order-pool.ts';
import { ORDER_STATE } from './order-records.ts';
import { NONE } from './pools.ts';
import type { UserTable } from './user-table.ts';

export const ID_STATE = { held: 1, remembered: 2, rememberedCancelled: 3, stale: 4 } as const;
/** The compiler folds constants of the same file, imported and exported ones it loads. */
const REMEMBERED: number = ID_STATE.remembered;
const CANCELLED: number = ID_STATE.rememberedCancelled;

const FREE: number = ORDER_STATE.free;

/** No entry of the table. */
export const UNKNOWN = 0;

/** An id, where it lies. */
export interface IdWords {
  readonly words: Int32Array;
  readonly orderIdAt: number;
  readonly orderIdBytes: number;
}

export interface OrderIdsOptions {
  readonly capacity: number;
  readonly key: HashKey;
  /** Of a user. */
  readonly rememberedMax: number;
  /** Of all users. */
  readonly marketMax: number | undefined;
}

export class OrderIds {
  /** Link: the next in its queue. Time: of creation; HELD: until when. */
  readonly records: IdRecords;
  heldHead: number = NONE;
  #heldTail: number = NONE;
  readonly #orders: OrderPool;
  readonly #users: UserTable;
  readonly #table: IdTable;
  readonly #key: HashKey;
  readonly #rememberedMax: number;
  readonly #marketMax: number;
  #remembered = 0;
  /** No user who has added an id since this one became the heaviest has more of them. */
  #heaviest = 0;
  #sweptUser = 0;

  constructor(orders: OrderPool, users: UserTable, options: OrderIdsOptions) {
    const { capacity } = options;
    assert(options.rememberedMax >= 1, 'an id that ends is remembered');
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

  /** What `hashId` says of the id of this user. */
  hashOf(user: number, words: Int32Array, at: number, bytes: number): number {
    return hashWords(this.#key, this.#users.hashOf(user), words, at, bytes);
  }

  hashKey(words: Int32Array, userAt: number, idAt: number, idBytes: number): number {
    return hashId(this.#key, words, userAt, idAt, idBytes);
  }

  /** Somebody will ask for the id with this hash soon. */
  fetch(hash: number): void {
    this.#table.fetch(hash);
  }

  /** @param hash what `hashId` says of user and id. @returns its entry, or UNKNOWN: `slotOf` and `recordOf` read it. */
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

  /** The slot of an entry's order, or NONE. */
  slotOf(entry: number): number {
    return entry > 0 ? entry - 1 : NONE;
  }

  /** The record of an entry, HELD or REMEMBERED; or NONE. */
  recordOf(entry: number): number {
    return entry < 0 ? ~entry : NONE;
  }

  /** The id is an order's from here on. Its user is set. */
  addLive(slot: number, hash: number, words: Int32Array, at: number, bytes: number): void {
    this.#orders.setId(slot, hash, words, at, bytes);
    this.#table.add(hash, slot + 1);
  }

  /** The order in this slot, if there is one, has the hash of its id. @throws InvariantError */
  checkHash(slot: number): void {
    const orders = this.#orders;
    if (slot === NONE || orders.stateOf(slot) === FREE) return;
    const hash = this.hashOf(orders.userOf(slot), orders.idWordsOf(slot), orders.idAt(slot), orders.idBytesOf(slot));
    assert(orders.idHashOf(slot) === hash, 'an order has the hash of its id');
  }

  /** A cancel waits for its create until `untilNs`; holds are made in the order of their ends. */
  hold(hash: number, user: number, id: IdWords, untilNs: bigint): void {
    const record = this.#record(user, id, ID_STATE.held, untilNs);
    this.#table.add(hash, ~record);
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
    const [words, at, bytes] = [orders.idWordsOf(slot), orders.idAt(slot), orders.idBytesOf(slot)];
    // Words as they lie, with a sign: an unsigned one is a float to the compiler, and often an allocation.
    const [timeHigh, timeLow] = [orders.creationHighRaw(slot), orders.creationLowRaw(slot)];
    const state = wasCancelled ? CANCELLED : REMEMBERED;
    const record = this.records.add(user, state, timeHigh, timeLow, words, at, bytes);
    this.#table.rename(orders.idHashOf(slot), slot + 1, ~record);
    orders.release(slot);
    this.#remember(user, record);
  }

  /** An id of an order that is in no pool: of one that ended before the node started. */
  rememberId(hash: number, user: number, id: IdWords, creationNs: bigint, wasCancelled: boolean): void {
    const record = this.#record(user, id, wasCancelled ? CANCELLED : REMEMBERED, creationNs);
    this.#table.add(hash, ~record);
    this.#remember(user, record);
  }

  #record(user: number, id: IdWords, state: number, timeNs: bigint): number {
    const { words, orderIdAt, orderIdBytes } = id;
    return this.records.add(user, state, highWord(timeNs), lowWord(timeNs), words, orderIdAt, orderIdBytes);
  }

  /** At the end of the user's queue. */
  #remember(user: number, record: number): void {
    const { rememberedHead, rememberedTail, rememberedCount } = this.#users;
    const tail = rememberedTail[user] as number;
    if (tail === NONE) rememberedHead[user] = record;
    else this.records.setLink(tail, record);
    rememberedTail[user] = record;
    const count = (rememberedCount[user] as number) + 1;
    rememberedCount[user] = count;
    this.#remembered += 1;
    if (count > (rememberedCount[this.#heaviest] as number)) this.#heaviest = user;
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

  /** The id may be used again. */
  forget(record: number): void {
    assert(this.isRemembered(record), 'only a remembered id is forgotten');
    const { rememberedCount } = this.#users;
    const user = this.records.userOf(record);
    rememberedCount[user] = (rememberedCount[user] as number) - 1;
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

  /** Reclaims at most `budget` records that are over, user by user, taking turns. */
  sweep(nowNs: bigint, budget: number): void {
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

  /** Of a user with more ids than it may have, or of the heaviest in a market with more: the one that ended first. */
  #evict(user: number): void {
    const head = this.#firstOf(user);
    this.raiseWatermark(user, this.createdNs(head));
    this.#dropRememberedHead(user);
  }

  #firstOf(user: number): number {
    const { rememberedHead } = this.#users;
    for (;;) {
      const head = rememberedHead[user] as number;
      assert(head !== NONE, 'an id that was just remembered is in the queue of its user');
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
    this.#table.remove(
      this.records.hashOf(this.#key, this.#users.hashOf(this.records.userOf(record)), record),
      ~record,
    );
    this.records.setState(record, ID_STATE.stale);
  }

  #countHeld(user: number, change: number): void {
    this.#users.heldCount[user] = (this.#users.heldCount[user] as number) + change;
  }
}
