/**
 * Pools of entries: growable typed arrays per field, addressed by number.
 *
 * A small array grows by copying. A large one reserves 4 GiB of address space and grows in place: nothing is copied or
 * touched, however large it is, so it may grow in small steps. Only a SharedArrayBuffer supports that without slowing
 * its readers (an array over a resizable ArrayBuffer takes three times as long); the memory is not shared.
 *
 * Where address space is limited (`ulimit -v`) a large array is copied too, into a buffer that is a quarter longer than
 * necessary, so that later growth needs no copy.
 */
import { assert } from './assert.ts';

/** No entry: the end of every list. */
export const NONE = -1;

/** From this size on an array grows in place. The reserved size is address space, not memory. */
const LARGE_BYTES: number = 2 ** 20;
const RESERVED_BYTES: number = 2 ** 32;
/** Over-allocation factor of an array that cannot grow in place. */
const COPIED_ROOM = 1.25;
const CELL_BYTES = 8;

type Column = Uint8Array | Int32Array | Uint32Array | Float64Array | BigUint64Array;

/** False after a failed reservation: further reservations could take address space that others need. */
let reservesAddresses = true;

/** From now on large arrays of this thread grow by copying: address space is limited. */
export function reserveNoAddresses(): void {
  reservesAddresses = false;
}

/** Returns `column` extended with zeros. The caller must drop the old array. */
export function grown<C extends Column>(column: C, length: number): C {
  const bytes = length * column.BYTES_PER_ELEMENT;
  const Longer = column.constructor as new (buffer: ArrayBufferLike, byteOffset: number, length: number) => C;
  const { buffer } = column;
  assert(column.byteOffset === 0, 'an array that grows begins with its buffer');
  if (buffer instanceof SharedArrayBuffer) buffer.grow(bytes);
  if (buffer.byteLength >= bytes) return new Longer(buffer, 0, length);
  const longer = newBuffer(bytes);
  new Uint8Array(longer).set(new Uint8Array(buffer, 0, column.byteLength));
  return new Longer(longer, 0, length);
}

function newBuffer(bytes: number): ArrayBufferLike {
  if (bytes < LARGE_BYTES) return new ArrayBuffer(bytes);
  if (reservesAddresses) {
    try {
      return new SharedArrayBuffer(bytes, { maxByteLength: RESERVED_BYTES });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      reserveNoAddresses();
    }
  }
  const withRoom = Math.ceil((bytes * COPIED_ROOM) / CELL_BYTES) * CELL_BYTES;
  return new ArrayBuffer(Math.min(withRoom, RESERVED_BYTES));
}
