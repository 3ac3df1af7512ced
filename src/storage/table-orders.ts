/**
 * The live orders of a start where they are: in their table. Whoever wants one reads its row by its key; whoever goes
 * through all of them reads the leaves of the table once more. Nothing of them is kept: a million rows are a gigabyte, of
 * which most is not asked for in days, and the file is in the system's memory anyway as far as it is used.
 *
 * Only for the one who writes the map: a row that it has not changed since it loaded it is what it was, and nobody else
 * changes any. Whoever loads, or walks, writes nothing meanwhile.
 *
 * Every row that is read is checked again: what was damaged since the start, or is another version of itself, however
 * sound, is found, and ends the node. For that the checksum of each is kept, beside its name:
 *
 *   sequences    │ 17 │ 21 │ 22 │ …     of a market, rising; the place of an order is its index
 *   checksums    │  c │  d │  e │ …     as its row had it when it was loaded
 */
import type { LoadedRow, OrderRow, StoredOrders } from '../clearing/rows.ts';
import { assert, must } from '../core/assert.ts';
import type { StorageReader } from './environment.ts';
import { checkFrame, checkFrameAt, checksumAt } from './frames.ts';
import { type KeyWriter, keyWriter, TABLE } from './key-layout.ts';
import { type Leaf, MapLeaves } from './map-leaves.ts';
import { OrderLook, rowBytes } from './order-look.ts';
import { decodeRow } from './row-tables.ts';
import type { TableSums } from './table-sums.ts';
import { UserOrdinals } from './user-ordinals.ts';

/** What keys are read with. */
type Getting = Pick<StorageReader, 'get'>;

const KEY_BYTES = 13;
const MARKET_AT = 1;
const SEQUENCE_AT = 5;
const U32 = 0x1_0000_0000;
const CRC_BYTES = 4;
const ROOM_MIN = 64;

/** An order as a load finds it: one for all, valid until the next. */
type FoundOrder = Extract<LoadedRow, { table: 'storedOrder' }>;

export class OrderTable {
  /** Of the users whose orders these are, in the order of their rows. */
  readonly users: UserOrdinals = new UserOrdinals();
  readonly #descriptor: number;
  readonly #reader: Getting;
  readonly #markets = new Map<number, TableOrders>();
  readonly #keys: KeyWriter = keyWriter();

  /** @param descriptor of the map's file, which stays open as long as orders are asked for. */
  constructor(descriptor: number, reader: Getting) {
    this.#descriptor = descriptor;
    this.#reader = reader;
  }

  /**
   * All of them, market by market and in the order of their sequences.
   *
   * @param sums take in each entry. @throws InvariantError when one is not what was written.
   */
  *load(leaves: MapLeaves, sums: TableSums): Generator<FoundOrder, void, undefined> {
    const walk = new OrderWalk(leaves);
    const found = { table: 'storedOrder' as const, stored: this.#ofMarket(0), place: 0, row: walk.look };
    for (const sequence of walk.sequences(Uint8Array.of(TABLE.openOrder))) {
      const checksum = walk.open();
      sums.addChecksum(TABLE.openOrder, checksum);
      found.stored = this.#ofMarket(walk.marketIndex);
      found.place = found.stored.add(sequence, checksum);
      yield found;
    }
  }

  /** The map as it is now. */
  leaves(): MapLeaves {
    return new MapLeaves(this.#descriptor);
  }

  read(marketIndex: number, sequence: number, checksum: number): OrderRow {
    const key = this.#key(marketIndex, sequence);
    const value = this.#value(key);
    const row = decodeRow('order', key, value);
    checkVersion(checksumAt(value, value.length - CRC_BYTES), checksum);
    return row;
  }

  open(look: OrderLook, marketIndex: number, sequence: number, checksum: number): void {
    const key = this.#key(marketIndex, sequence);
    const value = this.#value(key);
    const body = checkFrame(key, value);
    checkVersion(checksumAt(value, body.length), checksum);
    look.open(rowBytes(Buffer.from(body.buffer, body.byteOffset, body.length)), 0, body.length);
  }

  #ofMarket(marketIndex: number): TableOrders {
    const known = this.#markets.get(marketIndex);
    if (known !== undefined) return known;
    const orders = new TableOrders(this, marketIndex);
    this.#markets.set(marketIndex, orders);
    return orders;
  }

  #key(marketIndex: number, sequence: number): Uint8Array {
    return this.#keys.ofMarket(TABLE.openOrder, marketIndex, sequence);
  }

  #value(key: Uint8Array): Uint8Array {
    return must(this.#reader.get(key), 'storage: an order that nobody changed is in its table');
  }
}

/** Those of one market. */
class TableOrders implements StoredOrders {
  readonly #table: OrderTable;
  readonly #marketIndex: number;
  readonly #look = new OrderLook();
  #sequences = new Float64Array(ROOM_MIN);
  #checksums = new Uint32Array(ROOM_MIN);
  #count = 0;

  constructor(table: OrderTable, marketIndex: number) {
    this.#table = table;
    this.#marketIndex = marketIndex;
  }

  /** The next one, whose sequence is above all others. @returns its place. */
  add(sequence: number, checksum: number): number {
    const place = this.#count;
    if (place === this.#sequences.length) this.#grow();
    this.#sequences[place] = sequence;
    this.#checksums[place] = checksum;
    this.#count += 1;
    return place;
  }

  take(place: number): OrderRow {
    return this.#table.read(this.#marketIndex, this.#sequence(place), this.#checksum(place));
  }

  look(place: number): OrderRow {
    this.#table.open(this.#look, this.#marketIndex, this.#sequence(place), this.#checksum(place));
    return this.#look;
  }

  *looks(places: Iterable<number>): Generator<OrderRow, void, undefined> {
    const walk = new OrderWalk(this.#table.leaves());
    const found = walk.sequences(marketPrefix(this.#marketIndex));
    for (const place of places) {
      const sequence = this.#sequence(place);
      let at = found.next();
      while (at.done !== true && at.value < sequence) at = found.next();
      assert(at.done !== true && at.value === sequence, 'storage: an order that nobody changed is in its table');
      checkVersion(walk.open(), this.#checksum(place));
      yield walk.look;
    }
  }

  userOf(look: OrderRow): number {
    return look instanceof OrderLook ? look.ordinalIn(this.#table.users) : -1;
  }

  #sequence(place: number): number {
    return must(this.#sequences[place], 'storage: a place is that of an order');
  }

  #checksum(place: number): number {
    return must(this.#checksums[place], 'storage: a place is that of an order');
  }

  #grow(): void {
    const sequences = new Float64Array(2 * this.#count);
    const checksums = new Uint32Array(2 * this.#count);
    sequences.set(this.#sequences);
    checksums.set(this.#checksums);
    this.#sequences = sequences;
    this.#checksums = checksums;
  }
}

/** Goes through orders leaf by leaf; whoever wants the one at which it stands opens it. */
class OrderWalk {
  readonly look: OrderLook = new OrderLook();
  /** Of the order at which it stands. */
  marketIndex = 0;
  #sequence = 0;
  #leaf: Leaf | null = null;
  readonly #leaves: MapLeaves;

  constructor(leaves: MapLeaves) {
    this.#leaves = leaves;
  }

  /** Of each in its turn. */
  *sequences(prefix: Uint8Array): Generator<number, void, undefined> {
    for (const leaf of this.#leaves.of(prefix)) {
      for (let node = 0; node < leaf.nodes; node += 1) {
        leaf.read(node);
        if (leaf.compareKey(prefix) !== 0) continue;
        yield this.#stand(leaf);
      }
    }
  }

  #stand(leaf: Leaf): number {
    const { bytes, keyAt, valueAt } = leaf;
    assert(valueAt - keyAt === KEY_BYTES, 'storage: the key of an order is a market and a sequence');
    this.marketIndex = bytes.readUInt32BE(keyAt + MARKET_AT);
    this.#sequence = bytes.readUInt32BE(keyAt + SEQUENCE_AT) * U32 + bytes.readUInt32BE(keyAt + SEQUENCE_AT + 4);
    this.#leaf = leaf;
    return this.#sequence;
  }

  /** @returns the checksum of its row. @throws InvariantError when that is not what was written. */
  open(): number {
    const leaf = must(this.#leaf, 'storage: a walk stands at an order');
    const checksum = leaf.isElsewhere ? this.#openElsewhere(leaf) : this.#openHere(leaf);
    const isOfKey = this.look.orderSequence === this.#sequence && this.look.marketIndex === this.marketIndex;
    assert(isOfKey, 'storage: an order has its key');
    return checksum;
  }

  #openHere(leaf: Leaf): number {
    const { ahead } = this.#leaves;
    const { bytes, view } = ahead;
    const bodyEnd = checkFrameAt(bytes, view, leaf);
    this.look.open(ahead, leaf.valueAt, bodyEnd);
    return checksumAt(bytes, bodyEnd);
  }

  #openElsewhere(leaf: Leaf): number {
    const value = this.#leaves.elsewhere(leaf);
    const body = checkFrame(leaf.bytes.subarray(leaf.keyAt, leaf.valueAt), value);
    this.look.open(rowBytes(value), 0, body.length);
    return checksumAt(value, body.length);
  }
}

function checkVersion(found: number, loaded: number): void {
  assert(found === loaded, 'storage: an order that nobody changed is as it was loaded');
}

function marketPrefix(marketIndex: number): Uint8Array {
  const prefix = Buffer.alloc(SEQUENCE_AT);
  prefix[0] = TABLE.openOrder;
  prefix.writeUInt32BE(marketIndex, MARKET_AT);
  return prefix;
}
