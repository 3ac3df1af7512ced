/**
 * Every order id a market knows, by (user, id bytes), and what it knows it as.
 *
 *            hold                    live
 *   (none) ───────▶ HELD     (none) ───────▶ LIVE ── remember ─▶ REMEMBERED or REMEMBERED_CANCELLED
 *                    │                                               │
 *                    └─ consumed or 5 s over ─▶ STALE ◀─ 30 days over, seen at the door
 *                                                 └───── its queue reaches it ─▶ (none)
 *
 *   LIVE         the order lives in the pool; `link` is its slot
 *   HELD         a cancel waits for its create (AMB-25); one queue of the market, by the time it was held
 *   REMEMBERED   the order ended (AMB-08); one queue per user, by the time it ended
 *   STALE        out of the hashes and of every count, still in its queue
 *
 * Live orders are few and asked for all the time, remembered ids are many and asked for once: they have a hash each, so
 * that the first stays in the processor's caches.
 *
 * Invariants
 *   (1) An entry is in `current` if and only if it is LIVE or HELD, in `past` if and only if it is REMEMBERED.
 *   (2) A user has at most `rememberedMax` remembered ids. The one that ended first makes room, and the user's
 *       watermark rises to its creation time: creates signed at or before it could be replays.
 *
 * An id counts as free from creation + 30 days on, whenever its memory is reclaimed.
 */
import { assert } from '../core/assert.ts';
import { ORDER_LIFE_NS } from '../core/limits.ts';
import { fromWords } from '../core/time-words.ts';
import { IdHash } from './id-hash.ts';
import { IdRecords } from './id-records.ts';
import { hashWords } from './key-words.ts';
import { NONE } from './pools.ts';
import type { UserTable } from './user-table.ts';

export const ID_STATE = { free: 0, live: 1, held: 2, remembered: 3, rememberedCancelled: 4, stale: 5 } as const;

export class OrderIdTable {
  /** LIVE: link is the order's slot; in a queue: the next entry. Time: of creation; HELD: until when. */
  readonly records: IdRecords;
  heldHead: number = NONE;
  #heldTail: number = NONE;
  readonly #users: UserTable;
  readonly #seed: number;
  readonly #rememberedMax: number;
  readonly #current: IdHash;
  readonly #past: IdHash;
  #sweptUser = 0;

  constructor(users: UserTable, options: { capacity: number; seed: number; rememberedMax: number }) {
    const { capacity } = options;
    this.#users = users;
    this.#seed = options.seed;
    this.#rememberedMax = options.rememberedMax;
    this.records = new IdRecords(Math.max(capacity * 16, 32));
    this.#current = new IdHash(Math.max(capacity * 2, 4));
    this.#past = new IdHash(Math.max(capacity * 2, 4));
  }

  /** Bytes of all arrays. */
  get bytes(): number {
    return this.records.words.byteLength + this.#current.bytes + this.#past.bytes;
  }

  hashOf(user: number, words: Int32Array, at: number, bytes: number): number {
    return hashWords(this.#seed ^ Math.imul(user, 0x9e3779b1), words, at, bytes);
  }

  /** @param hash what `hashOf` says of the same id. @returns its entry, LIVE or HELD; or NONE. */
  findCurrent(hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    return this.#findIn(this.#current, hash, user, words, at, bytes);
  }

  /** @returns its entry, LIVE, HELD or REMEMBERED; or NONE. */
  find(hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    const entry = this.#findIn(this.#current, hash, user, words, at, bytes);
    return entry === NONE ? this.#findIn(this.#past, hash, user, words, at, bytes) : entry;
  }

  #findIn(table: IdHash, hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    let place = table.probe(hash, table.placeOf(hash));
    while (place !== NONE) {
      const entry = table.pairs[place + 1] as number;
      if (this.records.equals(entry, user, words, at, bytes)) return entry;
      place = table.probe(hash, table.next(place));
    }
    return NONE;
  }

  /** A new LIVE entry; the id must be unknown. */
  addLive(hash: number, user: number, words: Int32Array, at: number, bytes: number): number {
    const entry = this.records.add(user, words, at, bytes);
    this.#current.add(hash, entry);
    this.records.setState(entry, ID_STATE.live);
    return entry;
  }

  /** A cancel waits for its create until `until`; holds are made in the order of their ends. */
  hold(hash: number, user: number, words: Int32Array, at: number, bytes: number, untilNs: bigint): void {
    const entry = this.records.add(user, words, at, bytes);
    this.#current.add(hash, entry);
    this.records.setState(entry, ID_STATE.held);
    this.records.setTime(entry, Number(untilNs >> 32n), Number(untilNs & 0xffff_ffffn));
    this.records.setLink(entry, NONE);
    if (this.heldHead === NONE) this.heldHead = entry;
    else this.records.setLink(this.#heldTail, entry);
    this.#heldTail = entry;
    this.#countHeld(user, 1);
  }

  /** The hold has done its work. */
  consumeHold(entry: number): void {
    assert(this.records.stateOf(entry) === ID_STATE.held, 'only a hold is consumed');
    this.#countHeld(this.records.userOf(entry), -1);
    this.#current.remove(this.#hashOfEntry(entry), entry);
    this.records.setState(entry, ID_STATE.stale);
  }

  /** Takes the first of the held queue out, STALE or consumed by the caller. */
  dropHeldHead(): void {
    const entry = this.heldHead;
    assert(entry !== NONE && this.records.stateOf(entry) === ID_STATE.stale, 'only a stale hold leaves its queue');
    this.heldHead = this.records.linkOf(entry);
    this.records.release(entry);
  }

  /** The order is over: from now on its id is only remembered. @param hash under which it is found. */
  remember(entry: number, hash: number, wasCancelled: boolean): void {
    const users = this.#users;
    const { records } = this;
    const user = records.userOf(entry);
    this.#current.remove(hash, entry);
    this.#past.add(hash, entry);
    records.setState(entry, wasCancelled ? ID_STATE.rememberedCancelled : ID_STATE.remembered);
    records.setLink(entry, NONE);
    const tail = users.rememberedTail[user] as number;
    if (tail === NONE) users.rememberedHead[user] = entry;
    else records.setLink(tail, entry);
    users.rememberedTail[user] = entry;
    const count = (users.rememberedCount[user] as number) + 1;
    users.rememberedCount[user] = count;
    if (count > this.#rememberedMax) this.#evict(user);
  }

  isRemembered(entry: number): boolean {
    const state = this.records.stateOf(entry);
    return state === ID_STATE.remembered || state === ID_STATE.rememberedCancelled;
  }

  /** Whether the id of this remembered entry may be used again. */
  isOver(entry: number, nowNs: bigint): boolean {
    return this.createdNs(entry) + ORDER_LIFE_NS <= nowNs;
  }

  /** The id may be used again. */
  forget(entry: number): void {
    assert(this.isRemembered(entry), 'only a remembered id is forgotten');
    const { rememberedCount } = this.#users;
    const user = this.records.userOf(entry);
    rememberedCount[user] = (rememberedCount[user] as number) - 1;
    this.#past.remove(this.#hashOfEntry(entry), entry);
    this.records.setState(entry, ID_STATE.stale);
  }

  raiseWatermark(user: number, creationNs: bigint): void {
    const users = this.#users;
    if (users.hasWatermark[user] !== 0 && (users.watermarkNs[user] as bigint) >= creationNs) return;
    users.watermarkNs[user] = creationNs;
    users.hasWatermark[user] = 1;
  }

  createdNs(entry: number): bigint {
    return fromWords(this.records.timeHighOf(entry), this.records.timeLowOf(entry));
  }

  /** Reclaims at most `budget` entries that are over, user by user, taking turns. */
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

  #evict(user: number): void {
    const { rememberedHead } = this.#users;
    while (this.records.stateOf(rememberedHead[user] as number) === ID_STATE.stale) this.#dropRememberedHead(user);
    this.raiseWatermark(user, this.createdNs(rememberedHead[user] as number));
    this.#dropRememberedHead(user);
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

  #countHeld(user: number, change: number): void {
    this.#users.heldCount[user] = (this.#users.heldCount[user] as number) + change;
  }

  #hashOfEntry(entry: number): number {
    return this.records.hashOf(this.#seed ^ Math.imul(this.records.userOf(entry), 0x9e3779b1), entry);
  }
}
