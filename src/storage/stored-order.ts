/**
 * A live order that stays in the bytes of its row until something happens to it. A start reads a million of them: as
 * bytes they cost the garbage collector nothing, and most are not touched for days.
 *
 *   shelf    │ value │ value │ value │ …      a megabyte; the place of an order is that of its byte on all shelves
 */
import type { OrderRow, StoredOrders } from '../clearing/rows.ts';
import { ByteReader } from './byte-reader.ts';
import { checkFrame } from './frames.ts';
import { OrderLook, type RowBytes, rowBytes } from './order-look.ts';
import { orderCodec } from './row-codecs-orders.ts';
import { UserOrdinals } from './user-ordinals.ts';

const SHELF_BYTES = 1 << 20;

interface Shelf extends RowBytes {
  /** How many orders lie there. */
  orders: number;
}

/** Shared memory is shared with nobody: it does not count as work for the garbage collector, which a gigabyte of buffers would. */
function newShelf(byteLength: number): Shelf {
  return { ...rowBytes(Buffer.from(new SharedArrayBuffer(byteLength))), orders: 0 };
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

  /** @returns its place. @throws InvariantError when the value is not what was written under the key. */
  add(key: Uint8Array, value: Uint8Array): number {
    const body = checkFrame(key, value);
    const { bytes, at } = this.#room(body.length);
    bytes.set(body, at);
    this.#end += body.length;
    const index = this.#shelves.length - 1;
    const shelf = this.#shelves[index] as Shelf;
    this.#look.open(shelf, at, at + body.length);
    shelf.orders += 1;
    return index * SHELF_BYTES + at;
  }

  userOf(look: OrderRow): number {
    return look instanceof OrderLook ? look.ordinalIn(this.users) : -1;
  }

  *looks(places: Iterable<number>): Generator<OrderRow, void, undefined> {
    const look = new OrderLook();
    for (const place of places) {
      this.#point(look, place);
      yield look;
    }
  }

  look(place: number): OrderRow {
    this.#point(this.#look, place);
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
  #room(byteLength: number): { readonly bytes: Buffer; readonly at: number } {
    const last = this.#shelves.at(-1);
    if (last !== undefined && this.#end + byteLength <= last.bytes.length) return { bytes: last.bytes, at: this.#end };
    if (last !== undefined) this.#letGo(this.#shelves.length - 1);
    const shelf = newShelf(Math.max(SHELF_BYTES, byteLength));
    this.#shelves.push(shelf);
    this.#end = 0;
    return { bytes: shelf.bytes, at: 0 };
  }

  #point(look: OrderLook, place: number): void {
    const index = Math.floor(place / SHELF_BYTES);
    look.point(this.#shelves[index] as Shelf, place - index * SHELF_BYTES);
  }

  /** The bytes of a shelf on which nothing lies any more go. */
  #letGo(index: number): void {
    if ((this.#shelves[index] as Shelf).orders === 0) this.#shelves[index] = EMPTY_SHELF;
  }
}

const EMPTY_SHELF: Shelf = newShelf(0);
