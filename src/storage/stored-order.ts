/**
 * A live order that stays in the bytes of its row until something happens to it. A start reads a million of them: as
 * bytes they cost the garbage collector nothing, and most are not touched for days.
 *
 *   shelf    │ value │ value │ value │ …      a megabyte; the place of an order is that of its byte on all shelves
 *
 * What the codec of orders says field by field (row-codecs-orders.ts) stands here once more, as places. Two ids of any
 * length make them move: a is the length of the order's id, b of its parent's, c of the signed text.
 *
 *   0 version 1 │ 1 market 4 │ 5 order 8 │ 13 priority 8 │ 21 user 32 │ 53 sub-account 1 │ 54 length 4, order id a
 *   58+a         side 1 │ kind 1 │ tif 1 │ flags 4 │ price 8 │ quantity 8 │ amount 8 │ budget 8 │ trigger: kind 1, price 8,
 *                state 1 │ parent 8 │ length 4, parent id b
 *   119+a+b      enabled 8 │ activated 8 │ dropped 8 │ fee rate 8 │ creation, timestamp, good until, expiry, admitted, last update:
 *                8 each │ filled 8 │ notional 16 │ fees 16 │ end 1 │ fault 1 │ verdict 1 │ length 4, text c │ length 4, signature │ CRC 4
 */
import type { OrderRow, SignatureVerdict, StoredOrders } from '../clearing/rows.ts';
import { assert } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import type { OrderEnd, OrderKind, RollbackReason, Side, Tif, TriggerKind, TriggerState } from '../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import { ByteReader } from './byte-reader.ts';
import type { MapLeaves, Room } from './map-leaves.ts';
import { checkFrame, checkFrameAt, checksumAt, LAYOUT_VERSION } from './row-codecs.ts';
import { orderCodec } from './row-codecs-orders.ts';
import type { TableSums } from './table-sums.ts';
import { UserOrdinals } from './user-ordinals.ts';

const SHELF_BYTES = 1 << 20;
const U32 = 0x1_0000_0000;
const USER_AT = 21;
const USER_BYTES = 32;
const ID_LENGTH_AT = 54;
const ID_AT = 58;
const TERMS_BYTES = 61;
const FIGURES_BYTES = 127;

interface Shelf {
  readonly bytes: Buffer;
  /** Over the same bytes. */
  readonly view: DataView;
  /** How many orders lie there. */
  orders: number;
}

/** Shared memory is shared with nobody: it does not count as work for the garbage collector, which a gigabyte of buffers would. */
function newShelf(byteLength: number): Shelf {
  const bytes = Buffer.from(new SharedArrayBuffer(byteLength));
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), orders: 0 };
}

/** Takes in order rows as they are. */
export class OrderShelves implements StoredOrders {
  /** Of the users whose orders these are. */
  readonly users: UserOrdinals = new UserOrdinals();
  readonly #shelves: Shelf[] = [];
  readonly #look = new OrderLook();
  /** Another one: a row that is made says nothing about what is being looked at. */
  readonly #reading = new OrderLook();
  #end = 0;

  /**
   * All of a table: its leaves are read onto the shelves, and stay there without what is free in them.
   *
   * @param sums take in each entry.
   * @returns their places in the order of their keys. @throws InvariantError when one is not what was written.
   */
  *fill(leaves: MapLeaves, table: number, sums: TableSums): Generator<number, void, undefined> {
    const room = (byteLength: number): Room => this.#room(byteLength);
    for (const leaf of leaves.of(table, room)) {
      this.#end += leaf.compact();
      const index = this.#shelves.length - 1;
      for (let node = 0; node < leaf.nodes; node += 1) {
        leaf.read(node);
        const { bytes, keyAt, valueAt, valueEnd } = leaf;
        if (bytes[keyAt] !== table) continue;
        if (leaf.isElsewhere) {
          const own = leaves.elsewhere(leaf, giveFresh);
          const value = own.bytes.subarray(own.at, own.at + leaf.valueBytes);
          sums.add(bytes.subarray(keyAt, valueAt), value);
          yield this.add(bytes.subarray(keyAt, valueAt), value);
        } else {
          const bodyEnd = checkFrameAt(bytes, keyAt, valueAt, valueEnd);
          sums.addChecksum(table, checksumAt(bytes, bodyEnd));
          yield this.#place(index, valueAt, bodyEnd);
        }
      }
    }
  }

  /** @returns its place. @throws InvariantError when the value is not what was written under the key. */
  add(key: Uint8Array, value: Uint8Array): number {
    const body = checkFrame(key, value);
    const { bytes, at } = this.#room(body.length);
    bytes.set(body, at);
    this.#end += body.length;
    return this.#place(this.#shelves.length - 1, at, at + body.length);
  }

  userAt(place: number): number {
    const index = Math.floor(place / SHELF_BYTES);
    const { bytes } = this.#shelves[index] as Shelf;
    return this.users.find(bytes, place - index * SHELF_BYTES + USER_AT);
  }

  look(place: number): OrderRow {
    const index = Math.floor(place / SHELF_BYTES);
    this.#look.point(this.#shelves[index] as Shelf, place - index * SHELF_BYTES);
    return this.#look;
  }

  take(place: number): OrderRow {
    const index = Math.floor(place / SHELF_BYTES);
    const at = place - index * SHELF_BYTES;
    const shelf = this.#shelves[index] as Shelf;
    this.#reading.point(shelf, at);
    const row = orderCodec.read(new ByteReader(shelf.bytes.subarray(at + 1, this.#reading.endAt())));
    shelf.orders -= 1;
    if (index < this.#shelves.length - 1) this.#letGo(index);
    return row;
  }

  /** The next so many bytes. */
  #room(byteLength: number): Room {
    const last = this.#shelves.at(-1);
    if (last !== undefined && this.#end + byteLength <= last.bytes.length) return { bytes: last.bytes, at: this.#end };
    if (last !== undefined) this.#letGo(this.#shelves.length - 1);
    const shelf = newShelf(Math.max(SHELF_BYTES, byteLength));
    this.#shelves.push(shelf);
    this.#end = 0;
    return { bytes: shelf.bytes, at: 0 };
  }

  #place(index: number, from: number, to: number): number {
    const shelf = this.#shelves[index] as Shelf;
    this.#look.point(shelf, from);
    assert(this.#look.endAt() === to, 'storage: an order is as long as its layout says');
    shelf.orders += 1;
    return index * SHELF_BYTES + from;
  }

  /** The bytes of a shelf on which nothing lies any more go. */
  #letGo(index: number): void {
    if ((this.#shelves[index] as Shelf).orders === 0) this.#shelves[index] = EMPTY_SHELF;
  }
}

function giveFresh(byteLength: number): Room {
  return { bytes: Buffer.allocUnsafeSlow(byteLength), at: 0 };
}

const EMPTY_SHELF: Shelf = newShelf(0);

/** Reads each member where it lies, whenever it is asked. It points at one order at a time. */
class OrderLook implements OrderRow {
  #bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;
  #terms = 0;
  #figures = 0;

  point({ bytes, view }: Shelf, at: number): void {
    assert(bytes[at] === LAYOUT_VERSION, 'storage: a row of a known layout');
    this.#bytes = bytes;
    this.#view = view;
    this.#at = at;
    this.#terms = at + ID_AT + view.getUint32(at + ID_LENGTH_AT);
    this.#figures = this.#terms + TERMS_BYTES + view.getUint32(this.#terms + TERMS_BYTES - 4);
  }

  /** Where the row ends if its lengths are right. */
  endAt(): number {
    const signatureAt = this.#figures + FIGURES_BYTES + this.#textBytes();
    return signatureAt + 4 + this.#view.getUint32(signatureAt);
  }

  get marketIndex(): number {
    return this.#view.getUint32(this.#at + 1);
  }
  get orderSequence(): Sequence {
    return this.#safe(this.#at + 5) as Sequence;
  }
  get prioritySequence(): Sequence {
    return this.#safe(this.#at + 13) as Sequence;
  }
  get user(): UserId {
    return this.#bytes.hexSlice(this.#at + USER_AT, this.#at + USER_AT + USER_BYTES) as UserId;
  }
  get subAccount(): number {
    return this.#view.getUint8(this.#at + 53);
  }
  get orderId(): OrderId {
    return this.#bytes.utf8Slice(this.#at + ID_AT, this.#terms) as OrderId;
  }
  get side(): Side {
    return this.#view.getUint8(this.#terms) as Side;
  }
  get kind(): OrderKind {
    return this.#view.getUint8(this.#terms + 1) as OrderKind;
  }
  get tif(): Tif {
    return this.#view.getUint8(this.#terms + 2) as Tif;
  }
  get flags(): number {
    return this.#view.getUint32(this.#terms + 3);
  }
  get price(): RawPrice {
    return this.#safe(this.#terms + 7) as RawPrice;
  }
  get quantity(): RawQuantity {
    return this.#safe(this.#terms + 15) as RawQuantity;
  }
  get amount(): number {
    return this.#safe(this.#terms + 23);
  }
  get budget(): number {
    return this.#safe(this.#terms + 31);
  }
  get triggerKind(): TriggerKind {
    return this.#view.getUint8(this.#terms + 39) as TriggerKind;
  }
  get triggerPrice(): RawPrice {
    return this.#safe(this.#terms + 40) as RawPrice;
  }
  get triggerState(): TriggerState {
    return this.#view.getUint8(this.#terms + 48) as TriggerState;
  }
  get parentSequence(): Sequence | 0 {
    return this.#safe(this.#terms + 49) as Sequence | 0;
  }
  get parentId(): OrderId | '' {
    const at = this.#terms + TERMS_BYTES;
    return at === this.#figures ? '' : (this.#bytes.utf8Slice(at, this.#figures) as OrderId);
  }
  get enabledQuantity(): number {
    return this.#safe(this.#figures);
  }
  get activatedQuantity(): number {
    return this.#safe(this.#figures + 8);
  }
  get droppedQuantity(): number {
    return this.#safe(this.#figures + 16);
  }
  get maxFeeRate(): number {
    return this.#safe(this.#figures + 24);
  }
  get creationNs(): TimestampNs {
    return this.#time(this.#figures + 32);
  }
  get timestampNs(): TimestampNs {
    return this.#time(this.#figures + 40);
  }
  get goodUntilNs(): TimestampNs {
    return this.#time(this.#figures + 48);
  }
  get expiryNs(): TimestampNs {
    return this.#time(this.#figures + 56);
  }
  get admittedNs(): TimestampNs {
    return this.#time(this.#figures + 64);
  }
  get lastUpdateNs(): TimestampNs {
    return this.#time(this.#figures + 72);
  }
  get filledQuantity(): number {
    return this.#safe(this.#figures + 80);
  }
  get filledNotional(): Amount18 {
    return this.#amount(this.#figures + 88);
  }
  get fees(): Amount18 {
    return this.#amount(this.#figures + 104);
  }
  get end(): OrderEnd | 0 {
    return this.#view.getUint8(this.#figures + 120) as OrderEnd | 0;
  }
  get faultReason(): RollbackReason {
    return this.#view.getUint8(this.#figures + 121) as RollbackReason;
  }
  get verdict(): SignatureVerdict {
    return this.#view.getUint8(this.#figures + 122) as SignatureVerdict;
  }
  get text(): string {
    const at = this.#figures + FIGURES_BYTES;
    return this.#bytes.utf8Slice(at, at + this.#textBytes());
  }
  get signature(): Uint8Array {
    const at = this.#figures + FIGURES_BYTES + this.#textBytes();
    return new Uint8Array(this.#bytes.subarray(at + 4, this.endAt()));
  }

  #textBytes(): number {
    return this.#view.getUint32(this.#figures + FIGURES_BYTES - 4);
  }

  #safe(at: number): number {
    const high = this.#view.getUint32(at);
    const low = this.#view.getUint32(at + 4);
    // Most are small: as integers they are cheaper than as doubles, wherever they go from here.
    if (high === 0) return low;
    const value = high * U32 + low;
    assert(Number.isSafeInteger(value), 'storage: a safe integer was written');
    return value;
  }

  #time(at: number): TimestampNs {
    return this.#view.getBigUint64(at) as TimestampNs;
  }

  /** Most amounts fit the lower half: no shift, which would allocate. */
  #amount(at: number): Amount18 {
    const high = this.#view.getBigInt64(at);
    const low = this.#view.getBigUint64(at + 8);
    return (high === 0n ? low : (high << 64n) | low) as Amount18;
  }
}
