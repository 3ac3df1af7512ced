/**
 * Pools of slots: struct of typed arrays that grow, addressed by number.
 *
 * A small array grows by being copied. A large one lies in memory of which 4 GiB of addresses are reserved, and grows in
 * place: nothing is copied and nothing touched, however large it is, and it may grow by little at a time. Only a
 * SharedArrayBuffer can do that without its readers becoming slower (an array over a resizable ArrayBuffer takes three
 * times as long); it is not shared with anybody.
 */

/** No slot, no level, no entry: the end of every list. */
export const NONE = -1;

/** Bytes from which on an array grows in place, and that are reserved for it: addresses, not memory. */
const LARGE_BYTES: number = 2 ** 20;
const RESERVED_BYTES: number = 2 ** 32;

type Column = Uint8Array | Int32Array | Uint32Array | Float64Array | BigUint64Array;

/** `column` made longer, zero at the end. The old one is to be forgotten. */
export function grown<C extends Column>(column: C, length: number): C {
  const bytes = length * column.BYTES_PER_ELEMENT;
  const Longer = column.constructor as new (buffer: ArrayBufferLike, byteOffset: number, length: number) => C;
  if (column.buffer instanceof SharedArrayBuffer) {
    column.buffer.grow(bytes);
    return new Longer(column.buffer, 0, length);
  }
  const buffer =
    bytes < LARGE_BYTES ? new ArrayBuffer(bytes) : new SharedArrayBuffer(bytes, { maxByteLength: RESERVED_BYTES });
  new Uint8Array(buffer).set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
  return new Longer(buffer, 0, length);
}
