/**
 * Pools of slots: struct of typed arrays that grow, addressed by number.
 *
 * A small array grows by being copied. A large one lies in memory of which 4 GiB of addresses are reserved, and grows in
 * place: nothing is copied and nothing touched, however large it is, and it may grow by little at a time. Only a
 * SharedArrayBuffer can do that without its readers becoming slower (an array over a resizable ArrayBuffer takes three
 * times as long); it is not shared with anybody.
 *
 * Where addresses are scarce (`ulimit -v`) a large array is copied too, into a buffer that is a quarter longer than it
 * has to be: it grows into that before it is copied again.
 */
import { assert } from '../core/assert.ts';

/** No slot, no level, no entry: the end of every list. */
export const NONE = -1;

/** Bytes from which on an array grows in place, and that are reserved for it: addresses, not memory. */
const LARGE_BYTES: number = 2 ** 20;
const RESERVED_BYTES: number = 2 ** 32;
/** Of an array that cannot grow in place, per byte of what it needs now. */
const COPIED_ROOM = 1.25;
const CELL_BYTES = 8;

type Column = Uint8Array | Int32Array | Uint32Array | Float64Array | BigUint64Array;

/** Until a reservation has failed; then nothing is reserved any more, as others need addresses too. */
let reservesAddresses = true;

/** From here on large arrays are copied when they grow, on this thread: addresses are scarce. */
export function reserveNoAddresses(): void {
  reservesAddresses = false;
}

/** `column` made longer, zero at the end. The old one is to be forgotten. */
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
