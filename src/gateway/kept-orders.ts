/**
 * Restored orders at the front door as bytes, until somebody speaks of their user (src/gateway/orders/sleepers.ts): of the word
 * that told an order what the door reads, copied as it lies.
 *
 *   chunk   │ the user's record before, user, units │ units of the first part of OrderRestoredAtBoot │ its id │ its parent's id │ …
 *           └ a record's place, in units of 8 bytes, runs through all chunks
 *   units   of 8 bytes, but for those that are 0, as more than half are: a bit says which there are
 *   users   id ─▶ number ─▶ last record, how many                  a user's records are a chain, the last one first
 *   names   market ─▶ sequence ─▶ place                            kept-names.ts
 *
 * A user is taken whole. Its records then only take up room until every record of the chunk is taken. A user with very
 * many orders is not kept: waking it would hold up everybody else.
 *
 * Invariants
 *   (1) A user is new, or keeps records, or is awake for ever.
 *   (2) A record counts while its user keeps records.
 */

import { readKeptRow } from '../clearing/restored-word.ts';
import { assert, must } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import { hashKeyOf } from '../core/key-words.ts';
import { type Views, viewsOf } from '../core/views.ts';
import { UserTable } from '../matching/user-table.ts';
import { readOrderId, readText, readUser } from '../schema/fields.ts';
import { OrderRestoredAtBoot } from '../schema/generated/messages.ts';
import { KeptNames } from './kept-names.ts';
import type { KeptOrders } from './orders/sleepers.ts';
import type { RestoredOrder } from './orders/words.ts';

const CHUNK_BYTES = 1 << 20;
/** Places of a chunk. */
const CHUNK_PLACES = CHUNK_BYTES / 8;
const HEADER_BYTES = 16;
/** Of the struct: what comes after it is the market's. */
const KEPT_BYTES = OrderRestoredAtBoot.expiryNsAt;
const KEPT_UNITS: number = KEPT_BYTES / 8;
const RECORD_BYTES_MAX = HEADER_BYTES + KEPT_BYTES + 2 * OrderRestoredAtBoot.orderIdLength;
/** About a quarter of a millisecond of waking. A user with more costs a start 8 µs and a kilobyte an order. */
export const KEPT_PER_USER_MAX = 64;

const NONE = -1;
const AWAKE = -2;
const USERS_AT_FIRST = 1_024;
const NO_ROWS: readonly RestoredOrder[] = [];

interface Chunk {
  readonly views: Views;
  /** Records that count. */
  kept: number;
}

export class KeptOrderBytes implements KeptOrders {
  readonly #users: UserTable;
  /** By user number. */
  readonly #names: UserId[] = [];
  /** Two words a user: its last record, NONE or AWAKE; and how many there are. */
  #chains = new Int32Array(2 * USERS_AT_FIRST);
  /** Users that keep records. */
  readonly #numbers = new Map<UserId, number>();
  readonly #chunks: (Chunk | null)[] = [];
  /** Of the last chunk. */
  #used = CHUNK_BYTES;
  readonly #byMarket = new Map<number, KeptNames>();
  #count = 0;
  /** The struct of the record that is read. */
  readonly #row: Views = viewsOf(new ArrayBuffer(KEPT_BYTES), 0, KEPT_BYTES);

  /** @param seed 64 bits that nobody outside knows: users choose their ids. */
  constructor(seed: bigint) {
    this.#users = new UserTable(USERS_AT_FIRST, hashKeyOf(seed));
  }

  get count(): number {
    return this.#count;
  }

  /** Bytes that records lie in. */
  get bytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + (chunk === null ? 0 : CHUNK_BYTES), 0);
  }

  /**
   * Keeps the order of an OrderRestoredAtBoot.
   *
   * @param isAwake whether there are orders of the user in memory; asked of every user once.
   * @returns whose it is; null: its user is awake, or has too many, and nothing was kept.
   */
  add(v: Views, at: number, isAwake: (user: UserId) => boolean): UserId | null {
    const number = this.#users.intern(v.i32, (at + OrderRestoredAtBoot.userAt) >>> 2);
    if (number === this.#names.length) this.#addUser(readUser(v, at + OrderRestoredAtBoot.userAt), number, isAwake);
    const last = this.#chains[2 * number] as number;
    const count = this.#chains[2 * number + 1] as number;
    if (last === AWAKE || count === KEPT_PER_USER_MAX) return null;
    const place = this.#write(v, at, last, number);
    this.#chains[2 * number] = place;
    this.#chains[2 * number + 1] = count + 1;
    this.#count += 1;
    this.#namesOf(OrderRestoredAtBoot.marketIndex(v, at)).add(OrderRestoredAtBoot.order(v, at), place);
    return this.#names[number] as UserId;
  }

  take(user: UserId): readonly RestoredOrder[] {
    const number = this.#numbers.get(user);
    if (number === undefined) return NO_ROWS;
    const rows: RestoredOrder[] = [];
    for (let place = this.#chains[2 * number] as number; place !== NONE; place = this.#drop(place)) {
      rows.push(this.#read(place, user));
    }
    this.#numbers.delete(user);
    this.#chains[2 * number] = AWAKE;
    this.#count -= rows.length;
    if (this.#count === 0) this.#clear();
    return rows.reverse();
  }

  ownerOf(marketIndex: number, sequence: number): UserId | undefined {
    const place = this.#byMarket.get(marketIndex)?.find(sequence);
    if (place === undefined) return undefined;
    const chunk = this.#chunks[Math.floor(place / CHUNK_PLACES)];
    if (chunk === null || chunk === undefined) return undefined;
    const number = chunk.views.i32[wordAt(place) + 1] as number;
    return this.#chains[2 * number] === AWAKE ? undefined : this.#names[number];
  }

  // ---- users

  #addUser(user: UserId, number: number, isAwake: (user: UserId) => boolean): void {
    if (2 * number === this.#chains.length) this.#chains = doubled(this.#chains);
    this.#names.push(user);
    const isKept = !isAwake(user);
    this.#chains[2 * number] = isKept ? NONE : AWAKE;
    if (isKept) this.#numbers.set(user, number);
  }

  #namesOf(marketIndex: number): KeptNames {
    const known = this.#byMarket.get(marketIndex);
    if (known !== undefined) return known;
    const fresh = new KeptNames();
    this.#byMarket.set(marketIndex, fresh);
    return fresh;
  }

  // ---- records

  /** Copies word by word: a record is small. */
  #write(v: Views, at: number, before: number, user: number): number {
    const idBytes = OrderRestoredAtBoot.orderIdBytes(v, at);
    const parentBytes = OrderRestoredAtBoot.parentIdBytes(v, at);
    const place = this.#open();
    const { i32 } = this.#viewsAt(place);
    const header = wordAt(place);
    const kept = header + HEADER_BYTES / 4;
    let units = 0;
    let to = kept;
    const from = at >>> 2;
    for (let unit = 0; unit < KEPT_UNITS; unit += 1) {
      const low = v.i32[from + 2 * unit] as number;
      const high = v.i32[from + 2 * unit + 1] as number;
      if ((low | high) === 0) continue;
      units |= 1 << unit;
      i32[to] = low;
      i32[to + 1] = high;
      to += 2;
    }
    i32[header] = before;
    i32[header + 1] = user;
    i32[header + 2] = units;
    copyWords(v.i32, (at + OrderRestoredAtBoot.orderIdAt) >>> 2, i32, to, (idBytes + 3) >>> 2);
    const parent = to + padded(idBytes) / 4;
    copyWords(v.i32, (at + OrderRestoredAtBoot.bytes) >>> 2, i32, parent, (parentBytes + 3) >>> 2);
    this.#used += (parent - header) * 4 + padded(parentBytes);
    assert(this.#used <= CHUNK_BYTES, 'a kept order is as long as its ids may be');
    return place;
  }

  /** @returns where the next record begins, with room for the longest, in a chunk that keeps one more. */
  #open(): number {
    if (this.#used + RECORD_BYTES_MAX > CHUNK_BYTES) {
      this.#chunks.push({ views: viewsOf(new ArrayBuffer(CHUNK_BYTES), 0, CHUNK_BYTES), kept: 0 });
      this.#used = 0;
    }
    const index = this.#chunks.length - 1;
    must(this.#chunks[index], 'the last chunk is there').kept += 1;
    return index * CHUNK_PLACES + this.#used / 8;
  }

  #read(place: number, user: UserId): RestoredOrder {
    const v = this.#viewsAt(place);
    const id = this.#unpack(v, wordAt(place)) * 4;
    const row = this.#row;
    const idBytes = OrderRestoredAtBoot.orderIdBytes(row, 0);
    const parentId = readText(v, id + padded(idBytes), OrderRestoredAtBoot.parentIdBytes(row, 0)) as OrderId | '';
    return readKeptRow(row, 0, { user, orderId: readOrderId(v, id, idBytes), parentId });
  }

  /** The struct of the record at `header` into `#row`. @returns the word behind it. */
  #unpack({ i32 }: Views, header: number): number {
    const row = this.#row.i32;
    const units = i32[header + 2] as number;
    let from = header + HEADER_BYTES / 4;
    for (let unit = 0; unit < KEPT_UNITS; unit += 1) {
      const isThere = (units & (1 << unit)) !== 0;
      row[2 * unit] = isThere ? (i32[from] as number) : 0;
      row[2 * unit + 1] = isThere ? (i32[from + 1] as number) : 0;
      if (isThere) from += 2;
    }
    return from;
  }

  /** It counts no more. @returns the one before of its user. */
  #drop(place: number): number {
    const index = Math.floor(place / CHUNK_PLACES);
    const chunk = must(this.#chunks[index], 'a record that counts is in a chunk');
    const before = chunk.views.i32[wordAt(place)] as number;
    chunk.kept -= 1;
    if (chunk.kept === 0 && index < this.#chunks.length - 1) this.#chunks[index] = null;
    return before;
  }

  #viewsAt(place: number): Views {
    return must(this.#chunks[Math.floor(place / CHUNK_PLACES)], 'a record that counts is in a chunk').views;
  }

  /** Everybody is awake. */
  #clear(): void {
    this.#chunks.length = 0;
    this.#used = CHUNK_BYTES;
    this.#byMarket.clear();
  }
}

function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}

/** In its chunk. */
function wordAt(place: number): number {
  return (place % CHUNK_PLACES) * 2;
}

function copyWords(from: Int32Array, at: number, to: Int32Array, toAt: number, words: number): void {
  for (let word = 0; word < words; word += 1) to[toAt + word] = from[at + word] as number;
}

function doubled(from: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(from.length * 2);
  larger.set(from);
  return larger;
}
