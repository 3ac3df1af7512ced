/**
 * The live orders of a start where they are: in their table. Whoever wants one reads its row by its key; whoever goes
 * through all of them reads the leaves of the table once more. Nothing of them is kept: a million rows are a gigabyte, of
 * which most is not asked for in days, and the file is in the system's memory anyway as far as it is used.
 *
 * Only for the one who writes the map: a row that it has not changed since it loaded it is what it was, and nobody else
 * changes any. Whoever loads, or walks, writes nothing meanwhile.
 *
 * Every row that is read is checked again: what was damaged since the start is found, and ends the node.
 */
import type { OrderRow, StoredOrders } from '../clearing/rows.ts';
import { assert, must } from '../core/assert.ts';
import type { StorageReader } from './environment.ts';
import { type KeyWriter, keyWriter, TABLE } from './key-layout.ts';
import { type Leaf, MapLeaves, type Room } from './map-leaves.ts';
import { OrderLook, type RowBytes, rowBytes } from './order-look.ts';
import { checkFrame, checkFrameAt, checksumAt, decodeRow } from './row-codecs.ts';
import type { TableSums } from './table-sums.ts';
import { UserOrdinals } from './user-ordinals.ts';

/** What keys are read with. */
type Getting = Pick<StorageReader, 'get'>;

const KEY_BYTES = 13;
const MARKET_AT = 1;
const SEQUENCE_AT = 5;
const U32 = 0x1_0000_0000;
const CRC_BYTES = 4;

/** An order as a load finds it. */
export interface FoundOrder {
  readonly stored: StoredOrders;
  /** Its sequence. */
  readonly place: number;
  /** A look, valid until the next. */
  readonly row: OrderRow;
}

export class OrderTable {
  /** Of the users whose orders these are, in the order of their rows. */
  readonly users: UserOrdinals = new UserOrdinals();
  readonly path: string;
  readonly #reader: Getting;
  readonly #markets = new Map<number, TableOrders>();
  readonly #keys: KeyWriter = keyWriter();

  /** @param path of the map's file. */
  constructor(path: string, reader: Getting) {
    this.path = path;
    this.#reader = reader;
  }

  /**
   * All of them, market by market and in the order of their sequences.
   *
   * @param sums take in each entry. @throws InvariantError when one is not what was written.
   */
  *load(leaves: MapLeaves, sums: TableSums): Generator<FoundOrder, void, undefined> {
    const walk = new OrderWalk(leaves);
    for (const place of walk.entries(Uint8Array.of(TABLE.openOrder))) {
      sums.addChecksum(TABLE.openOrder, walk.checksum);
      yield { stored: this.#ofMarket(walk.marketIndex), place, row: walk.look };
    }
  }

  read(marketIndex: number, sequence: number): OrderRow {
    const key = this.#key(marketIndex, sequence);
    return decodeRow('order', key, this.#value(key));
  }

  open(look: OrderLook, marketIndex: number, sequence: number): void {
    const key = this.#key(marketIndex, sequence);
    const body = checkFrame(key, this.#value(key));
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

/** Those of one market; their places are their sequences. */
class TableOrders implements StoredOrders {
  readonly #table: OrderTable;
  readonly #marketIndex: number;
  readonly #look = new OrderLook();

  constructor(table: OrderTable, marketIndex: number) {
    this.#table = table;
    this.#marketIndex = marketIndex;
  }

  take(sequence: number): OrderRow {
    return this.#table.read(this.#marketIndex, sequence);
  }

  look(sequence: number): OrderRow {
    this.#table.open(this.#look, this.#marketIndex, sequence);
    return this.#look;
  }

  *looks(sequences: Iterable<number>): Generator<OrderRow, void, undefined> {
    const leaves = new MapLeaves(this.#table.path);
    try {
      const walk = new OrderWalk(leaves);
      const found = walk.entries(marketPrefix(this.#marketIndex));
      for (const sequence of sequences) {
        let at = found.next();
        while (at.done !== true && at.value < sequence) at = found.next();
        assert(at.done !== true && at.value === sequence, 'storage: an order that nobody changed is in its table');
        yield walk.look;
      }
    } finally {
      leaves.close();
    }
  }

  userOf(look: OrderRow): number {
    return look instanceof OrderLook ? look.ordinalIn(this.#table.users) : -1;
  }
}

/** Goes through orders leaf by leaf; one at a time is open to be looked at. */
class OrderWalk {
  readonly look: OrderLook = new OrderLook();
  /** Of the order that is open. */
  marketIndex = 0;
  checksum = 0;
  readonly #leaves: MapLeaves;
  /** Of the leaf. */
  readonly #scratch: RowBytes;

  constructor(leaves: MapLeaves) {
    this.#leaves = leaves;
    this.#scratch = rowBytes(Buffer.allocUnsafeSlow(leaves.pageBytes));
  }

  /** @returns the sequence of each, as it is opened. @throws InvariantError when one is not what was written. */
  *entries(prefix: Uint8Array): Generator<number, void, undefined> {
    const room: Room = { bytes: this.#scratch.bytes, at: 0 };
    for (const leaf of this.#leaves.of(prefix, () => room)) {
      for (let node = 0; node < leaf.nodes; node += 1) {
        leaf.read(node);
        if (leaf.compareKey(prefix) !== 0) continue;
        yield this.#open(leaf);
      }
    }
  }

  #open(leaf: Leaf): number {
    const { bytes, keyAt, valueAt, valueEnd } = leaf;
    assert(valueAt - keyAt === KEY_BYTES, 'storage: the key of an order is a market and a sequence');
    this.marketIndex = bytes.readUInt32BE(keyAt + MARKET_AT);
    const sequence = bytes.readUInt32BE(keyAt + SEQUENCE_AT) * U32 + bytes.readUInt32BE(keyAt + SEQUENCE_AT + 4);
    if (leaf.isElsewhere) this.#openElsewhere(leaf);
    else {
      const bodyEnd = checkFrameAt(bytes, keyAt, valueAt, valueEnd);
      this.checksum = checksumAt(bytes, bodyEnd);
      this.look.open(this.#scratch, valueAt, bodyEnd);
    }
    const { look } = this;
    assert(look.orderSequence === sequence && look.marketIndex === this.marketIndex, 'storage: an order has its key');
    return sequence;
  }

  #openElsewhere(leaf: Leaf): void {
    const value = this.#leaves.elsewhere(leaf);
    const body = checkFrame(leaf.bytes.subarray(leaf.keyAt, leaf.valueAt), value);
    this.checksum = checksumAt(value, value.length - CRC_BYTES);
    this.look.open(rowBytes(value), 0, body.length);
  }
}

function marketPrefix(marketIndex: number): Uint8Array {
  const prefix = Buffer.alloc(SEQUENCE_AT);
  prefix[0] = TABLE.openOrder;
  prefix.writeUInt32BE(marketIndex, MARKET_AT);
  return prefix;
}
