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
 *   STALE        out of the hash and of every count, still in its queue
 *
 * Invariants
 *   (1) An entry is in the hash if and only if it is LIVE, HELD or REMEMBERED.
 *   (2) A user has at most `rememberedMax` remembered ids. The one that ended first makes room, and the user's
 *       watermark rises to its creation time: creates signed at or before it could be replays.
 *
 * An id counts as free from creation + 30 days on, whenever its memory is reclaimed.
 */
import { assert } from '../core/assert.ts';
import { ORDER_LIFE_NS } from '../core/limits.ts';
import { IdRecords } from './id-records.ts';
import { finishHash, mixWord, wordAt, wordCount } from './key-bytes.ts';
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
  /** Pairs: hash, entry. At most two thirds full. */
  #table: Int32Array<ArrayBuffer>;
  #inHash = 0;
  #sweptUser = 0;

  constructor(users: UserTable, options: { capacity: number; seed: number; rememberedMax: number }) {
    const { capacity } = options;
    this.#users = users;
    this.#seed = options.seed;
    this.#rememberedMax = options.rememberedMax;
    this.records = new IdRecords(capacity * 8);
    this.#table = new Int32Array(capacity * 4).fill(NONE);
  }

  hashOf(user: number, view: DataView, at: number, bytes: number): number {
    let hash = this.#seed ^ Math.imul(user, 0x9e3779b1);
    for (let done = 0; done < bytes; done += 4) hash = mixWord(hash, wordAt(view, at + done, bytes - done));
    return finishHash(hash);
  }

  /** @param hash what `hashOf` says of the same id. @returns its entry, LIVE, HELD or REMEMBERED; or NONE. */
  find(hash: number, user: number, view: DataView, at: number, bytes: number): number {
    const table = this.#table;
    const mask = table.length / 2 - 1;
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const entry = table[place * 2 + 1] as number;
      if (entry === NONE) return NONE;
      if (table[place * 2] === hash && this.records.equals(entry, user, view, at, bytes)) return entry;
    }
  }

  /** A new LIVE entry; the id must be unknown. */
  addLive(hash: number, user: number, view: DataView, at: number, bytes: number): number {
    const entry = this.#add(hash, user, view, at, bytes);
    this.records.setState(entry, ID_STATE.live);
    return entry;
  }

  /** A cancel waits for its create until `untilNs`; holds are made in the order of their ends. */
  hold(hash: number, user: number, view: DataView, at: number, bytes: number, untilNs: bigint): void {
    const entry = this.#add(hash, user, view, at, bytes);
    this.records.setState(entry, ID_STATE.held);
    this.records.setTime(entry, untilNs);
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
    this.#makeStale(entry);
  }

  /** Takes the first of the held queue out, STALE or consumed by the caller. */
  dropHeldHead(): void {
    const entry = this.heldHead;
    assert(entry !== NONE && this.records.stateOf(entry) === ID_STATE.stale, 'only a stale hold leaves its queue');
    this.heldHead = this.records.linkOf(entry);
    this.records.release(entry);
  }

  /** The order is over: from now on its id is only remembered. */
  remember(entry: number, wasCancelled: boolean): void {
    const users = this.#users;
    const user = this.records.userOf(entry);
    this.records.setState(entry, wasCancelled ? ID_STATE.rememberedCancelled : ID_STATE.remembered);
    this.records.setLink(entry, NONE);
    if (users.rememberedHead[user] === NONE) users.rememberedHead[user] = entry;
    else this.records.setLink(users.rememberedTail[user] as number, entry);
    users.rememberedTail[user] = entry;
    const count = (users.rememberedCount[user] as number) + 1;
    users.rememberedCount[user] = count;
    if (count > this.#rememberedMax) this.#evict(user);
  }

  isRemembered(entry: number): boolean {
    return (
      this.records.stateOf(entry) === ID_STATE.remembered ||
      this.records.stateOf(entry) === ID_STATE.rememberedCancelled
    );
  }

  /** Whether the id of this remembered entry may be used again. */
  isOver(entry: number, nowNs: bigint): boolean {
    return this.records.timeOf(entry) + ORDER_LIFE_NS <= nowNs;
  }

  /** The id may be used again. */
  forget(entry: number): void {
    assert(this.isRemembered(entry), 'only a remembered id is forgotten');
    const { rememberedCount } = this.#users;
    const user = this.records.userOf(entry);
    rememberedCount[user] = (rememberedCount[user] as number) - 1;
    this.#makeStale(entry);
  }

  raiseWatermark(user: number, creationNs: bigint): void {
    const users = this.#users;
    if (users.hasWatermark[user] !== 0 && (users.watermarkNs[user] as bigint) >= creationNs) return;
    users.watermarkNs[user] = creationNs;
    users.hasWatermark[user] = 1;
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
    this.raiseWatermark(user, this.records.timeOf(rememberedHead[user] as number));
    this.#dropRememberedHead(user);
  }

  #dropRememberedHead(user: number): void {
    const { rememberedHead } = this.#users;
    const head = rememberedHead[user] as number;
    if (this.records.stateOf(head) !== ID_STATE.stale) this.forget(head);
    rememberedHead[user] = this.records.linkOf(head);
    this.records.release(head);
  }

  /** Its queue drops it later. */
  #makeStale(entry: number): void {
    this.#unhash(entry);
    this.records.setState(entry, ID_STATE.stale);
  }

  #countHeld(user: number, change: number): void {
    this.#users.heldCount[user] = (this.#users.heldCount[user] as number) + change;
  }

  #add(hash: number, user: number, view: DataView, at: number, bytes: number): number {
    const entry = this.records.add(user, view, at, bytes);
    if ((this.#inHash + 1) * 3 > this.#table.length) this.#rehash();
    this.#inHash++;
    this.#enter(hash, entry);
    return entry;
  }

  #enter(hash: number, entry: number): void {
    const table = this.#table;
    const mask = table.length / 2 - 1;
    let place = hash & mask;
    while (table[place * 2 + 1] !== NONE) place = (place + 1) & mask;
    table[place * 2] = hash;
    table[place * 2 + 1] = entry;
  }

  /** Linear probing without tombstones: later entries of the run move back into the gap. */
  #unhash(entry: number): void {
    const table = this.#table;
    const mask = table.length / 2 - 1;
    let gap = this.#hashOfEntry(entry) & mask;
    while (table[gap * 2 + 1] !== entry) {
      assert(table[gap * 2 + 1] !== NONE, 'an entry to take out is in the hash');
      gap = (gap + 1) & mask;
    }
    for (let place = (gap + 1) & mask; table[place * 2 + 1] !== NONE; place = (place + 1) & mask) {
      const home = (table[place * 2] as number) & mask;
      if (((place - home) & mask) < ((place - gap) & mask)) continue;
      table[gap * 2] = table[place * 2] as number;
      table[gap * 2 + 1] = table[place * 2 + 1] as number;
      gap = place;
    }
    table[gap * 2 + 1] = NONE;
    this.#inHash--;
  }

  #hashOfEntry(entry: number): number {
    const { records } = this;
    const words = wordCount(records.bytesOf(entry));
    let hash = this.#seed ^ Math.imul(records.userOf(entry), 0x9e3779b1);
    for (let word = 0; word < words; word++) hash = mixWord(hash, records.idWord(entry, word));
    return finishHash(hash);
  }

  #rehash(): void {
    const old = this.#table;
    this.#table = new Int32Array(old.length * 2).fill(NONE);
    for (let at = 0; at < old.length; at += 2)
      if (old[at + 1] !== NONE) this.#enter(old[at] as number, old[at + 1] as number);
  }
}
