/** Pools of slots: struct of typed arrays, grown by doubling, addressed by number. */

/** No slot, no level, no entry: the end of every list. */
export const NONE = -1;

type Column =
  | Uint8Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>
  | BigUint64Array<ArrayBuffer>;

/** A longer copy of `column`, zero at the end. The old one is to be forgotten. */
export function grown<C extends Column>(column: C, length: number): C {
  const bytes = new ArrayBuffer(length * column.BYTES_PER_ELEMENT);
  new Uint8Array(bytes).set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
  return new (column.constructor as new (buffer: ArrayBuffer) => C)(bytes);
}
