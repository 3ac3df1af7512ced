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
import { IdArena } from './id-arena.ts';
import { finishHash, mixWord, wordAt } from './key-bytes.ts';
import { grown, NONE } from './pools.ts';
import type { UserTable } from './user-table.ts';

export const ID_STATE = { free: 0, live: 1, held: 2, remembered: 3, rememberedCancelled: 4, stale: 5 } as const;

export class OrderIdTable {
  readonly arena: IdArena;
  user: Int32Array<ArrayBuffer>;
  /** First word in the arena, and length in bytes. */
  block: Uint32Array<ArrayBuffer>;
  bytes: Uint8Array<ArrayBuffer>;
  state: Uint8Array<ArrayBuffer>;
  /** LIVE: the order's slot. In a queue: the next entry. Free: the next free entry. */
  link: Int32Array<ArrayBuffer>;
  /** HELD: until when. Else the creation time. */
  timeNs: BigUint64Array<ArrayBuffer>;
  heldHead: number = NONE;
  #heldTail: number = NONE;
  readonly #users: UserTable;
  readonly #seed: number;
  readonly #rememberedMax: number;
  /** Pairs: hash, entry. At most two thirds full. */
  #table: Int32Array<ArrayBuffer>;
  #inHash = 0;
  #used = 0;
  #free: number = NONE;
  #sweptUser = 0;

  constructor(users: UserTable, options: { capacity: number; seed: number; rememberedMax: number }) {
    const { capacity } = options;
    this.#users = users;
    this.#seed = options.seed;
    this.#rememberedMax = options.rememberedMax;
    this.arena = new IdArena(capacity * 8);
    this.user = new Int32Array(capacity);
    this.block = new Uint32Array(capacity);
    this.bytes = new Uint8Array(capacity);
    this.state = new Uint8Array(capacity);
    this.link = new Int32Array(capacity);
    this.timeNs = new BigUint64Array(capacity);
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
      if (
        table[place * 2] === hash &&
        this.user[entry] === user &&
        this.bytes[entry] === bytes &&
        this.arena.equals(this.block[entry] as number, view, at, bytes)
      )
        return entry;
    }
  }

  /** A new LIVE entry; the id must be unknown. */
  addLive(hash: number, user: number, view: DataView, at: number, bytes: number): number {
    const entry = this.#add(hash, user, view, at, bytes);
    this.state[entry] = ID_STATE.live;
    return entry;
  }

  /** A cancel waits for its create until `untilNs`; holds are made in the order of their ends. */
  hold(hash: number, user: number, view: DataView, at: number, bytes: number, untilNs: bigint): void {
    const entry = this.#add(hash, user, view, at, bytes);
    this.state[entry] = ID_STATE.held;
    this.timeNs[entry] = untilNs;
    this.link[entry] = NONE;
    if (this.heldHead === NONE) this.heldHead = entry;
    else this.link[this.#heldTail] = entry;
    this.#heldTail = entry;
    this.#countHeld(user, 1);
  }

  /** The hold has done its work. */
  consumeHold(entry: number): void {
    assert(this.state[entry] === ID_STATE.held, 'only a hold is consumed');
    this.#countHeld(this.user[entry] as number, -1);
    this.#makeStale(entry);
  }

  /** Takes the first of the held queue out, STALE or consumed by the caller. */
  dropHeldHead(): void {
    const entry = this.heldHead;
    assert(entry !== NONE && this.state[entry] === ID_STATE.stale, 'only a stale hold leaves its queue');
    this.heldHead = this.link[entry] as number;
    this.#release(entry);
  }

  /** The order is over: from now on its id is only remembered. */
  remember(entry: number, wasCancelled: boolean): void {
    const users = this.#users;
    const user = this.user[entry] as number;
    this.state[entry] = wasCancelled ? ID_STATE.rememberedCancelled : ID_STATE.remembered;
    this.link[entry] = NONE;
    if (users.rememberedHead[user] === NONE) users.rememberedHead[user] = entry;
    else this.link[users.rememberedTail[user] as number] = entry;
    users.rememberedTail[user] = entry;
    const count = (users.rememberedCount[user] as number) + 1;
    users.rememberedCount[user] = count;
    if (count > this.#rememberedMax) this.#evict(user);
  }

  isRemembered(entry: number): boolean {
    return this.state[entry] === ID_STATE.remembered || this.state[entry] === ID_STATE.rememberedCancelled;
  }

  /** Whether the id of this remembered entry may be used again. */
  isOver(entry: number, nowNs: bigint): boolean {
    return (this.timeNs[entry] as bigint) + ORDER_LIFE_NS <= nowNs;
  }

  /** The id may be used again. */
  forget(entry: number): void {
    assert(this.isRemembered(entry), 'only a remembered id is forgotten');
    const { rememberedCount } = this.#users;
    const user = this.user[entry] as number;
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
        if (head === NONE || !(this.state[head] === ID_STATE.stale || this.isOver(head, nowNs))) break;
        this.#dropRememberedHead(this.#sweptUser);
      }
    }
  }

  #evict(user: number): void {
    const { rememberedHead } = this.#users;
    while (this.state[rememberedHead[user] as number] === ID_STATE.stale) this.#dropRememberedHead(user);
    this.raiseWatermark(user, this.timeNs[rememberedHead[user] as number] as bigint);
    this.#dropRememberedHead(user);
  }

  #dropRememberedHead(user: number): void {
    const { rememberedHead } = this.#users;
    const head = rememberedHead[user] as number;
    if (this.state[head] !== ID_STATE.stale) this.forget(head);
    rememberedHead[user] = this.link[head] as number;
    this.#release(head);
  }

  /** Its queue drops it later. */
  #makeStale(entry: number): void {
    this.#unhash(entry);
    this.state[entry] = ID_STATE.stale;
  }

  #countHeld(user: number, change: number): void {
    this.#users.heldCount[user] = (this.#users.heldCount[user] as number) + change;
  }

  #add(hash: number, user: number, view: DataView, at: number, bytes: number): number {
    const entry = this.#allocate();
    this.user[entry] = user;
    this.block[entry] = this.arena.store(view, at, bytes);
    this.bytes[entry] = bytes;
    if ((this.#inHash + 1) * 3 > this.#table.length) this.#rehash();
    this.#inHash++;
    this.#enter(hash, entry);
    return entry;
  }

  #allocate(): number {
    if (this.#free !== NONE) {
      const entry = this.#free;
      this.#free = this.link[entry] as number;
      return entry;
    }
    if (this.#used === this.user.length) this.#grow();
    return this.#used++;
  }

  #release(entry: number): void {
    this.arena.release(this.block[entry] as number, this.bytes[entry] as number);
    this.state[entry] = ID_STATE.free;
    this.link[entry] = this.#free;
    this.#free = entry;
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
    const words = this.arena.words;
    const bytes = this.bytes[entry] as number;
    let hash = this.#seed ^ Math.imul(this.user[entry] as number, 0x9e3779b1);
    for (let done = 0, word = this.block[entry] as number; done < bytes; done += 4, word++)
      hash = mixWord(hash, words[word] as number);
    return finishHash(hash);
  }

  #rehash(): void {
    const old = this.#table;
    this.#table = new Int32Array(old.length * 2).fill(NONE);
    for (let at = 0; at < old.length; at += 2)
      if (old[at + 1] !== NONE) this.#enter(old[at] as number, old[at + 1] as number);
  }

  #grow(): void {
    const capacity = this.user.length * 2;
    this.user = grown(this.user, capacity);
    this.block = grown(this.block, capacity);
    this.bytes = grown(this.bytes, capacity);
    this.state = grown(this.state, capacity);
    this.link = grown(this.link, capacity);
    this.timeNs = grown(this.timeNs, capacity);
  }
}
