/**
 * The orders that one owner keeps in memory: a slab of OrderRecords (schemas/messages.fbs) in chunks, and the indexes by
 * which an order is found. The gateway has one, the clearing engine has another.
 *
 *   records   │ chunk of 4,096 records │ chunk │ …      nothing is copied when the store grows
 *   links     one row of words per record: its user, its neighbours in every list, its hash
 *   indexes   (market, sequence) → index                    open addressing, grown incrementally (core/id-table.ts)
 *             (user, market, order id) → index              keyed hash: clients choose ids
 *             user → number → its orders, newest first      keyed hash
 *             market → its orders, in the order of insertion
 *             parent → its children, in the order of linking
 *
 *   claim() ──fill in place──▶ add(index) ──setSequence──▶ … ──remove(index)──▶ (free)
 *      └────── abandon(index) ──▶ (free)
 *   insertCopy(v, at) = claim, copy, add
 *
 * The identity of an order is its **index**, a small integer, from `add` until `remove`; then the index is reused. A view
 * is a short-lived accessor of the bytes. What only one owner needs of an order lies in the owner's arrays by index
 * (length `indexEnd`), which the owner resets at `add`.
 *
 * Several orders may have one user, market and order id (at the gateway: one that is live and others that are not
 * admitted yet). They form a chain: `findId` gives its first, `nextOfId` the others; `add` appends, `putFirstOfId` moves.
 *
 * Invariants, all checked by `check`
 *   (1) Every record is free, claimed or added; only added ones are in an index, each exactly once in each.
 *   (2) user, order id and market of an added record do not change; its sequence changes once, from 0, by `setSequence`.
 *   (3) At most `ordersMax` records are claimed or added; one more is refused with NONE.
 *   (4) A user number belongs to one user as long as the user has an order here.
 *   (5) A child is in the list of its parent, and both are added.
 *
 * Not here: what an order means, and any rule about it.
 */
import { assert } from '../core/assert.ts';
import { IdTable, nextPlace } from '../core/id-table.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import { finishHash, type HashKey, hashId, hashUser, lastWordMask } from '../core/key-words.ts';
import { ORDER_ID_BYTES_MAX } from '../core/limits.ts';
import { grown, NONE } from '../core/pools.ts';
import { type Views, viewsOf } from '../core/views.ts';
import { writeText, writeUser } from '../schema/fields.ts';
import { OrderRecord, OrderRecordView } from '../schema/generated/messages.ts';

const CHUNK_BITS = 12;
const CHUNK_RECORDS: number = 1 << CHUNK_BITS;
const IN_CHUNK: number = CHUNK_RECORDS - 1;
const CHUNK_BYTES: number = CHUNK_RECORDS * OrderRecord.bytes;
const USER_WORDS: number = OrderRecord.userLength >>> 2;
const U32 = 0x1_0000_0000;
const GOLDEN = 0x9e3779b1;
/** Initial capacity of the hash tables, which grow. */
const TABLE_MIN = 64;

/** Words of a record's row of links. The user's number, or the state of a record that is not added. */
const USER = 0;
const OLDER = 1;
const NEWER = 2;
/** In a free record: the next free one. */
const NEXT_IN_MARKET = 3;
const BEFORE_IN_MARKET = 4;
const ID_HASH = 5;
const NEXT_OF_ID = 6;
const BEFORE_OF_ID = 7;
const PARENT = 8;
const FIRST_CHILD = 9;
const NEXT_CHILD = 10;
/** In a first child: the last child of its parent. */
const BEFORE_CHILD = 11;
const LINK_WORDS = 12;
/** States in place of the user's number. */
const FREE = -1;
const CLAIMED = -2;

/** Words of a user; the last are its id, which is compared at every search: a record of the user is in no cache. */
const NEWEST = 0;
const COUNT = 1;
const USER_ID = 2;
const USER_ENTRY_WORDS: number = USER_ID + USER_WORDS;
const ROOM_MIN = 64;

interface MarketList {
  first: number;
  last: number;
  count: number;
}

/** The hashes of a record that is being added, by table. */
interface Hashes {
  sequence: number;
  user: number;
  id: number;
}

interface OrderStoreOptions {
  /** Records that may be claimed or added at once, 1 to 2^27. */
  readonly ordersMax: number;
  /** The key of the hashes of users and ids. */
  readonly key: HashKey;
}

export class OrderStore {
  readonly ordersMax: number;
  readonly #key: HashKey;
  readonly #chunks: Views[] = [];
  #links = new Int32Array(ROOM_MIN * LINK_WORDS);
  #end = 0;
  #free: number = NONE;
  #claimed = 0;
  #size = 0;
  readonly #sequences = new IdTable(TABLE_MIN);
  readonly #ids = new IdTable(TABLE_MIN);
  readonly #userTable = new IdTable(TABLE_MIN);
  #users = new Int32Array(ROOM_MIN * USER_ENTRY_WORDS);
  #userEnd = 0;
  /** Free user numbers, linked through NEWEST. */
  #freeUser: number = NONE;
  readonly #markets = new Map<number, MarketList>();
  readonly #hashes: Hashes = { sequence: 0, user: 0, id: 0 };
  /** A user and an order id as words, of those who look for text. */
  readonly #scratch = viewsOf(new ArrayBuffer(OrderRecord.bytes), 0, OrderRecord.bytes);

  constructor({ ordersMax, key }: OrderStoreOptions) {
    assert(ordersMax >= 1 && ordersMax <= 2 ** 27, 'an order store is bounded');
    this.ordersMax = ordersMax;
    this.#key = key;
  }

  /** Orders that are added. */
  get size(): number {
    return this.#size;
  }

  /** Above every index that was ever given: the length of arrays by index. */
  get indexEnd(): number {
    return this.#end;
  }

  /** Above every user number that was ever given: the length of arrays by user. */
  get userEnd(): number {
    return this.#userEnd;
  }

  /** Memory of records, links and indexes. */
  get bytes(): number {
    const tables = this.#sequences.bytes + this.#ids.bytes + this.#userTable.bytes;
    return this.#chunks.length * CHUNK_BYTES + this.#links.byteLength + this.#users.byteLength + tables;
  }

  // ---- records

  /** The views in which the record lies, at `at(index)`. */
  viewsOf(index: number): Views {
    return this.#chunks[index >>> CHUNK_BITS] as Views;
  }

  at(index: number): number {
    return (index & IN_CHUNK) * OrderRecord.bytes;
  }

  /** A new accessor. */
  view(index: number): OrderRecordView {
    return new OrderRecordView(this.viewsOf(index), this.at(index));
  }

  /** Points an accessor at this record. */
  moveView(view: OrderRecordView, index: number): OrderRecordView {
    view.v = this.viewsOf(index);
    view.at = this.at(index);
    return view;
  }

  // ---- in and out

  /** A record of zeros, outside of every index, to be filled in place. @returns its index; NONE: the store is full. */
  claim(): number {
    const index = this.#allocate();
    if (index !== NONE) this.viewsOf(index).u8.fill(0, this.at(index), this.at(index) + OrderRecord.bytes);
    return index;
  }

  /** The claimed record is filled: user, order id and market are final. Its sequence may be 0 until `setSequence`. */
  add(index: number): void {
    assert(this.#link(index, USER) === CLAIMED, 'a record is claimed before it is added');
    const v = this.viewsOf(index);
    const at = this.at(index);
    const hashes = this.#fetch(v, at);
    this.#index(index, v, at, hashes);
  }

  /** Starts to load the lines of the hash tables that the record will be added to: they are in no cache. */
  #fetch(v: Views, at: number): Hashes {
    const hashes = this.#hashes;
    const idBytes = OrderRecord.orderIdBytes(v, at);
    assert(idBytes >= 1 && idBytes <= ORDER_ID_BYTES_MAX, 'an order has an id');
    const userWord = (at + OrderRecord.userAt) >>> 2;
    const market = OrderRecord.marketIndex(v, at);
    const sequence = OrderRecord.orderSequence(v, at);
    hashes.sequence = sequence === 0 ? 0 : this.#sequenceHash(market, sequence);
    if (sequence !== 0) this.#sequences.fetch(hashes.sequence);
    hashes.user = hashUser(this.#key, v.i32, userWord);
    this.#userTable.fetch(hashes.user);
    hashes.id = this.#idHash(v.i32, userWord, market, (at + OrderRecord.orderIdAt) >>> 2, idBytes);
    this.#ids.fetch(hashes.id);
    return hashes;
  }

  #index(index: number, v: Views, at: number, hashes: Hashes): void {
    const market = OrderRecord.marketIndex(v, at);
    this.#claimed -= 1;
    this.#size += 1;
    this.#addToUser(index, v, at, hashes.user);
    this.#addToMarket(index, market);
    this.#addToId(index, v, at, hashes.id);
    this.#addSequence(index, market, OrderRecord.orderSequence(v, at), hashes.sequence);
  }

  /** A claimed record is not needed. */
  abandon(index: number): void {
    assert(this.#link(index, USER) === CLAIMED, 'only a claimed record is abandoned');
    this.#claimed -= 1;
    this.#release(index);
  }

  /**
   * Adds a copy of the record at `at`: in a ring, or in the value of a table. @returns its index; NONE: the store is full.
   */
  insertCopy(v: Views, at: number): number {
    const index = this.#allocate();
    if (index === NONE) return NONE;
    const hashes = this.#fetch(v, at);
    const own = this.viewsOf(index);
    OrderRecord.copy(v, at, own, this.at(index));
    this.#index(index, own, this.at(index), hashes);
    return index;
  }

  /** The order was added without a sequence and is admitted now. */
  setSequence(index: number, sequence: number): void {
    const v = this.viewsOf(index);
    const at = this.at(index);
    assert(this.#isAdded(index) && sequence > 0, 'an order that is added gets its sequence');
    assert(OrderRecord.orderSequence(v, at) === 0, 'an order gets its sequence once');
    OrderRecord.setOrderSequence(v, at, sequence);
    const market = OrderRecord.marketIndex(v, at);
    this.#addSequence(index, market, sequence, this.#sequenceHash(market, sequence));
  }

  /** Out of every index. Its children are without a parent from now on. */
  remove(index: number): void {
    assert(this.#isAdded(index), 'only an added order is removed');
    const v = this.viewsOf(index);
    const at = this.at(index);
    const market = OrderRecord.marketIndex(v, at);
    const sequence = OrderRecord.orderSequence(v, at);
    for (let child = this.firstChild(index); child !== NONE; child = this.firstChild(index)) this.unlinkChild(child);
    if (this.parentOf(index) !== NONE) this.unlinkChild(index);
    if (sequence !== 0) this.#sequences.remove(this.#sequenceHash(market, sequence), index + 1);
    this.#removeFromId(index);
    this.#removeFromMarket(index, market);
    this.#removeFromUser(index, v, at);
    this.#size -= 1;
    this.#release(index);
  }

  // ---- by sequence and by id

  /** @returns the order's index, or NONE. @param sequence of its admission, not 0. */
  findSequence(marketIndex: number, sequence: number): number {
    return this.#findSequence(this.#sequenceHash(marketIndex, sequence), marketIndex, sequence);
  }

  #findSequence(hash: number, marketIndex: number, sequence: number): number {
    const places = this.#sequences.placesOf(hash);
    const { cells } = places;
    for (let place = places.placeOf(hash); cells[place + 1] !== 0; place = nextPlace(place)) {
      if (cells[place] !== hash) continue;
      const index = (cells[place + 1] as number) - 1;
      const v = this.viewsOf(index);
      const at = this.at(index);
      if (OrderRecord.orderSequence(v, at) === sequence && OrderRecord.marketIndex(v, at) === marketIndex) return index;
    }
    return NONE;
  }

  /** @returns the first of the orders with this user, market and id, or NONE. */
  findId(user: UserId, marketIndex: number, orderId: OrderId): number {
    if (orderId.length === 0 || orderId.length > ORDER_ID_BYTES_MAX) return NONE;
    const v = this.#scratch;
    writeUser(v, OrderRecord.userAt, user);
    writeText(v, OrderRecord.orderIdAt, orderId);
    return this.findIdAt(v, OrderRecord.userAt, marketIndex, OrderRecord.orderIdAt, orderId.length);
  }

  /** The same with the key as it lies in a message. @param userAt @param orderIdAt multiples of 4. */
  findIdAt(v: Views, userAt: number, marketIndex: number, orderIdAt: number, orderIdBytes: number): number {
    const userWord = userAt >>> 2;
    const idWord = orderIdAt >>> 2;
    const hash = this.#idHash(v.i32, userWord, marketIndex, idWord, orderIdBytes);
    return this.#findId(hash, v.i32, userWord, marketIndex, idWord, orderIdBytes);
  }

  /** The next order with the same user, market and id, or NONE. */
  nextOfId(index: number): number {
    return this.#link(index, NEXT_OF_ID);
  }

  /** What `findId` gives for the user, market and id of this order. */
  firstOfId(index: number): number {
    let first = index;
    for (let before = index; before !== NONE; before = this.#link(before, BEFORE_OF_ID)) first = before;
    return first;
  }

  /** `findId` gives this one from now on; the others follow in the order they had. */
  putFirstOfId(index: number): void {
    assert(this.#isAdded(index), 'an added order has an id');
    const first = this.firstOfId(index);
    if (first === index) return;
    this.#unlinkFromId(index);
    this.#setLink(index, BEFORE_OF_ID, NONE);
    this.#setLink(index, NEXT_OF_ID, first);
    this.#setLink(first, BEFORE_OF_ID, index);
    this.#ids.rename(this.#link(index, ID_HASH), first + 1, index + 1);
  }

  // ---- by user

  /** The number of an order's user. */
  userOf(index: number): number {
    return this.#link(index, USER);
  }

  /** @returns the user's number; NONE: the user has no order here. */
  findUser(user: UserId): number {
    writeUser(this.#scratch, OrderRecord.userAt, user);
    return this.findUserAt(this.#scratch, OrderRecord.userAt);
  }

  /** The same with the user as it lies in a message. @param at a multiple of 4. */
  findUserAt(v: Views, at: number): number {
    return this.#findUser(hashUser(this.#key, v.i32, at >>> 2), v.i32, at >>> 2);
  }

  countOfUser(user: number): number {
    return this.#user(user, COUNT);
  }

  /** The order of the user that was added last. */
  newestOfUser(user: number): number {
    return this.#user(user, NEWEST);
  }

  /** The order that the same user added before this one, or NONE. */
  olderOfUser(index: number): number {
    return this.#link(index, OLDER);
  }

  // ---- by market

  /** The oldest order of a market by insertion, or NONE. */
  firstOfMarket(marketIndex: number): number {
    return this.#markets.get(marketIndex)?.first ?? NONE;
  }

  nextOfMarket(index: number): number {
    return this.#link(index, NEXT_IN_MARKET);
  }

  countOfMarket(marketIndex: number): number {
    return this.#markets.get(marketIndex)?.count ?? 0;
  }

  /** Markets with orders, ascending. */
  markets(): readonly number[] {
    return [...this.#markets]
      .filter(([, { count }]) => count > 0)
      .map(([market]) => market)
      .sort((a, b) => a - b);
  }

  /** All orders: markets ascending, those of a market by insertion. The one that was given may be removed meanwhile. */
  *indexes(): Generator<number, void, undefined> {
    for (const market of this.markets()) {
      for (let index = this.firstOfMarket(market); index !== NONE; ) {
        const next = this.nextOfMarket(index);
        yield index;
        index = next;
      }
    }
  }

  // ---- parents and children

  /** The child is the last one of its parent from now on. */
  linkChild(child: number, parent: number): void {
    assert(this.#isAdded(child) && this.#isAdded(parent) && child !== parent, 'a parent and its child are added');
    assert(this.parentOf(child) === NONE, 'a child has one parent');
    const first = this.firstChild(parent);
    this.#setLink(child, PARENT, parent);
    this.#setLink(child, NEXT_CHILD, NONE);
    if (first === NONE) {
      this.#setLink(parent, FIRST_CHILD, child);
      this.#setLink(child, BEFORE_CHILD, child);
      return;
    }
    const last = this.#link(first, BEFORE_CHILD);
    this.#setLink(last, NEXT_CHILD, child);
    this.#setLink(child, BEFORE_CHILD, last);
    this.#setLink(first, BEFORE_CHILD, child);
  }

  unlinkChild(child: number): void {
    const parent = this.parentOf(child);
    assert(parent !== NONE, 'a child is unlinked from its parent');
    const first = this.firstChild(parent);
    const next = this.#link(child, NEXT_CHILD);
    const before = this.#link(child, BEFORE_CHILD);
    if (child === first) this.#setLink(parent, FIRST_CHILD, next);
    else this.#setLink(before, NEXT_CHILD, next);
    if (next !== NONE) this.#setLink(next, BEFORE_CHILD, before);
    else if (child !== first) this.#setLink(first, BEFORE_CHILD, before);
    this.#setLink(child, PARENT, NONE);
    this.#setLink(child, NEXT_CHILD, NONE);
    this.#setLink(child, BEFORE_CHILD, NONE);
  }

  /** The parent to which a child is linked, or NONE. */
  parentOf(child: number): number {
    return this.#link(child, PARENT);
  }

  firstChild(parent: number): number {
    return this.#link(parent, FIRST_CHILD);
  }

  nextChild(child: number): number {
    return this.#link(child, NEXT_CHILD);
  }

  // ---- the slab

  #link(index: number, word: number): number {
    return this.#links[index * LINK_WORDS + word] as number;
  }

  #setLink(index: number, word: number, value: number): void {
    this.#links[index * LINK_WORDS + word] = value;
  }

  #isAdded(index: number): boolean {
    return index >= 0 && index < this.#end && this.#link(index, USER) >= 0;
  }

  #allocate(): number {
    if (this.#size + this.#claimed >= this.ordersMax) return NONE;
    let index = this.#free;
    if (index === NONE) {
      index = this.#end;
      this.#makeRoom();
      this.#end += 1;
    } else {
      this.#free = this.#link(index, NEXT_IN_MARKET);
    }
    const links = this.#links;
    const from = index * LINK_WORDS;
    links[from + USER] = CLAIMED;
    for (let word = USER + 1; word < LINK_WORDS; word += 1) links[from + word] = NONE;
    this.#claimed += 1;
    return index;
  }

  #makeRoom(): void {
    if (this.#end >>> CHUNK_BITS === this.#chunks.length) {
      // Shared memory does not count as work for the garbage collector, which half a gigabyte of buffers would.
      this.#chunks.push(viewsOf(new SharedArrayBuffer(CHUNK_BYTES), 0, CHUNK_BYTES));
    }
    if ((this.#end + 1) * LINK_WORDS > this.#links.length) this.#links = grown(this.#links, 2 * this.#links.length);
  }

  #release(index: number): void {
    this.#setLink(index, USER, FREE);
    this.#setLink(index, NEXT_IN_MARKET, this.#free);
    this.#free = index;
  }

  // ---- the indexes

  #sequenceHash(marketIndex: number, sequence: number): number {
    const { first, second } = this.#key;
    const high = Math.floor(sequence / U32) + Math.imul(marketIndex, GOLDEN);
    return finishHash((Math.imul(sequence | 0, first) + Math.imul(high | 0, second)) | 0);
  }

  #addSequence(index: number, marketIndex: number, sequence: number, hash: number): void {
    if (sequence === 0) return;
    assert(this.#findSequence(hash, marketIndex, sequence) === NONE, 'a sequence belongs to one order');
    this.#sequences.add(hash, index + 1);
  }

  #idHash(words: Int32Array, userWord: number, marketIndex: number, idWord: number, idBytes: number): number {
    return (hashId(this.#key, words, userWord, idWord, idBytes) + Math.imul(marketIndex, GOLDEN)) | 0;
  }

  #findId(
    hash: number,
    words: Int32Array,
    userWord: number,
    marketIndex: number,
    idWord: number,
    idBytes: number,
  ): number {
    const places = this.#ids.placesOf(hash);
    const { cells } = places;
    for (let place = places.placeOf(hash); cells[place + 1] !== 0; place = nextPlace(place)) {
      if (cells[place] !== hash) continue;
      const index = (cells[place + 1] as number) - 1;
      const v = this.viewsOf(index);
      const at = this.at(index);
      if (
        OrderRecord.marketIndex(v, at) === marketIndex &&
        OrderRecord.orderIdBytes(v, at) === idBytes &&
        isUser(v.i32, (at + OrderRecord.userAt) >>> 2, words, userWord) &&
        isId(v.i32, (at + OrderRecord.orderIdAt) >>> 2, words, idWord, idBytes)
      ) {
        return index;
      }
    }
    return NONE;
  }

  #addToId(index: number, v: Views, at: number, hash: number): void {
    const userWord = (at + OrderRecord.userAt) >>> 2;
    const idWord = (at + OrderRecord.orderIdAt) >>> 2;
    const market = OrderRecord.marketIndex(v, at);
    const idBytes = OrderRecord.orderIdBytes(v, at);
    this.#setLink(index, ID_HASH, hash);
    const first = this.#findId(hash, v.i32, userWord, market, idWord, idBytes);
    if (first === NONE) {
      this.#ids.add(hash, index + 1);
      return;
    }
    let last = first;
    for (let next = this.nextOfId(last); next !== NONE; next = this.nextOfId(next)) last = next;
    this.#setLink(last, NEXT_OF_ID, index);
    this.#setLink(index, BEFORE_OF_ID, last);
  }

  #removeFromId(index: number): void {
    const hash = this.#link(index, ID_HASH);
    const next = this.nextOfId(index);
    if (this.#link(index, BEFORE_OF_ID) !== NONE) this.#unlinkFromId(index);
    else if (next === NONE) this.#ids.remove(hash, index + 1);
    else {
      this.#setLink(next, BEFORE_OF_ID, NONE);
      this.#ids.rename(hash, index + 1, next + 1);
    }
  }

  /** Removes an order that is not the first of its id. */
  #unlinkFromId(index: number): void {
    const next = this.nextOfId(index);
    const before = this.#link(index, BEFORE_OF_ID);
    this.#setLink(before, NEXT_OF_ID, next);
    if (next !== NONE) this.#setLink(next, BEFORE_OF_ID, before);
  }

  #user(user: number, word: number): number {
    return this.#users[user * USER_ENTRY_WORDS + word] as number;
  }

  #setUser(user: number, word: number, value: number): void {
    this.#users[user * USER_ENTRY_WORDS + word] = value;
  }

  #findUser(hash: number, words: Int32Array, userWord: number): number {
    const places = this.#userTable.placesOf(hash);
    const { cells } = places;
    for (let place = places.placeOf(hash); cells[place + 1] !== 0; place = nextPlace(place)) {
      if (cells[place] !== hash) continue;
      const user = (cells[place + 1] as number) - 1;
      if (isUser(this.#users, user * USER_ENTRY_WORDS + USER_ID, words, userWord)) return user;
    }
    return NONE;
  }

  #addToUser(index: number, v: Views, at: number, hash: number): void {
    const userWord = (at + OrderRecord.userAt) >>> 2;
    let user = this.#findUser(hash, v.i32, userWord);
    if (user === NONE) {
      user = this.#newUser(v.i32, userWord);
      this.#userTable.add(hash, user + 1);
    } else {
      const newest = this.#user(user, NEWEST);
      this.#setLink(index, OLDER, newest);
      this.#setLink(newest, NEWER, index);
    }
    this.#setLink(index, USER, user);
    this.#setUser(user, NEWEST, index);
    this.#setUser(user, COUNT, this.#user(user, COUNT) + 1);
  }

  #newUser(words: Int32Array, userWord: number): number {
    const user = this.#freeUser === NONE ? this.#userEnd : this.#freeUser;
    if (user === this.#freeUser) this.#freeUser = this.#user(user, NEWEST);
    else this.#userEnd += 1;
    if (this.#userEnd * USER_ENTRY_WORDS > this.#users.length) this.#users = grown(this.#users, 2 * this.#users.length);
    this.#setUser(user, COUNT, 0);
    for (let word = 0; word < USER_WORDS; word += 1)
      this.#setUser(user, USER_ID + word, words[userWord + word] as number);
    return user;
  }

  #removeFromUser(index: number, v: Views, at: number): void {
    const user = this.userOf(index);
    const older = this.#link(index, OLDER);
    const newer = this.#link(index, NEWER);
    const count = this.#user(user, COUNT) - 1;
    this.#setUser(user, COUNT, count);
    if (count === 0) {
      this.#userTable.remove(hashUser(this.#key, v.i32, (at + OrderRecord.userAt) >>> 2), user + 1);
      this.#setUser(user, NEWEST, this.#freeUser);
      this.#freeUser = user;
      return;
    }
    if (newer === NONE) this.#setUser(user, NEWEST, older);
    else this.#setLink(newer, OLDER, older);
    if (older !== NONE) this.#setLink(older, NEWER, newer);
  }

  #addToMarket(index: number, marketIndex: number): void {
    const list = this.#markets.get(marketIndex);
    if (list === undefined) {
      this.#markets.set(marketIndex, { first: index, last: index, count: 1 });
      return;
    }
    if (list.count === 0) list.first = index;
    else {
      this.#setLink(index, BEFORE_IN_MARKET, list.last);
      this.#setLink(list.last, NEXT_IN_MARKET, index);
    }
    list.last = index;
    list.count += 1;
  }

  #removeFromMarket(index: number, marketIndex: number): void {
    const list = this.#markets.get(marketIndex) as MarketList;
    const next = this.nextOfMarket(index);
    const before = this.#link(index, BEFORE_IN_MARKET);
    list.count -= 1;
    if (before === NONE) list.first = next;
    else this.#setLink(before, NEXT_IN_MARKET, next);
    if (next === NONE) list.last = before;
    else this.#setLink(next, BEFORE_IN_MARKET, before);
  }

  // ---- the invariants

  /** @throws InvariantError naming what is broken. Walks everything: for tests. */
  check(): void {
    let added = 0;
    let claimed = 0;
    for (let index = 0; index < this.#end; index += 1) {
      if (this.#isAdded(index)) {
        added += 1;
        this.#checkOrder(index);
      } else if (this.#link(index, USER) === CLAIMED) claimed += 1;
    }
    assert(added === this.#size && claimed === this.#claimed, 'orders are counted');
    assert(added + claimed <= this.ordersMax, 'the store is bounded');
    let free = 0;
    for (let index = this.#free; index !== NONE; index = this.#link(index, NEXT_IN_MARKET)) {
      assert(this.#link(index, USER) === FREE, 'the free list has free records alone');
      free += 1;
    }
    assert(free + added + claimed === this.#end, 'every record is free, claimed or added');
    assert([...this.indexes()].length === added, 'every order is in the list of its market');
    this.#checkMarkets();
    this.#checkUsers(added);
  }

  #checkOrder(index: number): void {
    const { marketIndex, orderSequence, user, orderId } = this.view(index);
    if (orderSequence !== 0) {
      assert(this.findSequence(marketIndex, orderSequence) === index, 'an order is found by its sequence');
    }
    let same = this.findId(user, marketIndex, orderId);
    while (same !== NONE && same !== index) same = this.nextOfId(same);
    assert(same === index, 'an order is found by its id');
    assert(this.findUser(user) === this.userOf(index), 'an order has the number of its user');
    const parent = this.parentOf(index);
    let child = parent === NONE ? index : this.firstChild(parent);
    while (child !== NONE && child !== index) child = this.nextChild(child);
    assert(child === index, 'a child is in the list of its parent');
    for (let own = this.firstChild(index); own !== NONE; own = this.nextChild(own)) {
      assert(this.#isAdded(own) && this.parentOf(own) === index, 'a parent has its own children');
    }
  }

  #checkMarkets(): void {
    for (const [market, { first, last, count }] of this.#markets) {
      let [before, seen]: [number, number] = [NONE, 0];
      for (let index = first; count > 0 && index !== NONE; index = this.nextOfMarket(index)) {
        assert(this.view(index).marketIndex === market, 'the list of a market has its orders');
        assert(this.#link(index, BEFORE_IN_MARKET) === before, 'a market list is linked both ways');
        before = index;
        seen += 1;
      }
      assert(seen === count && (count === 0 || last === before), 'orders of a market are counted');
    }
  }

  #checkUsers(added: number): void {
    let all = 0;
    const seenUsers = new Set<number>();
    for (let index = 0; index < this.#end; index += 1) {
      if (!this.#isAdded(index) || seenUsers.has(this.userOf(index))) continue;
      const user = this.userOf(index);
      seenUsers.add(user);
      let [newer, seen]: [number, number] = [NONE, 0];
      for (let own = this.newestOfUser(user); own !== NONE; own = this.olderOfUser(own)) {
        assert(this.userOf(own) === user, 'the list of a user has its orders');
        assert(this.#link(own, NEWER) === newer, 'a list of a user is linked both ways');
        newer = own;
        seen += 1;
      }
      assert(seen === this.countOfUser(user), 'orders of a user are counted');
      all += seen;
    }
    assert(all === added, 'every order is in the list of its user');
  }
}

function isUser(a: Int32Array, aWord: number, b: Int32Array, bWord: number): boolean {
  for (let word = 0; word < USER_WORDS; word += 1) if (a[aWord + word] !== b[bWord + word]) return false;
  return true;
}

/** Whether `b` is the id in `a`, where the bytes behind the id are zero. */
function isId(a: Int32Array, aWord: number, b: Int32Array, bWord: number, bytes: number): boolean {
  const last = (bytes - 1) >>> 2;
  for (let word = 0; word < last; word += 1) if (a[aWord + word] !== b[bWord + word]) return false;
  return a[aWord + last] === ((b[bWord + last] as number) & lastWordMask(bytes));
}
