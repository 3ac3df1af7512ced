/**
 * Writes FlatBuffers messages of tables whose layout is generated (flat-layout.ts), from front to back: each table behind
 * its own vtable, with a place for every field of the schema; a field that is not written stays absent.
 *
 *   begin(Frame.table) ─▶ table, then scalars, texts and further tables in any order ─▶ finish(): a copy of the message
 *
 * One message at a time. A message that does not fit is a mistake of the program: callers bound their texts.
 */
import { assert } from '../core/assert.ts';
import type { FieldLayout, TableLayout } from './flat-layout.ts';

const OFFSET_BYTES = 4;
/** The longest answer repeats an order id and an asset of 1,024 characters each. */
const MESSAGE_BYTES_MAX = 16_384;

export class FlatWriter {
  readonly #bytes: Buffer;
  readonly #u16: Uint16Array;
  readonly #u32: Uint32Array;
  readonly #u64: BigUint64Array;
  #end = 0;

  constructor() {
    const memory = new ArrayBuffer(MESSAGE_BYTES_MAX);
    this.#bytes = Buffer.from(memory);
    this.#u16 = new Uint16Array(memory);
    this.#u32 = new Uint32Array(memory);
    this.#u64 = new BigUint64Array(memory);
  }

  /** Starts a message with its root table. @returns the table's position. */
  begin(layout: TableLayout): number {
    this.#end = OFFSET_BYTES;
    const root = this.#append(layout);
    this.#u32[0] = root;
    return root;
  }

  /** The message, in memory of its own. */
  finish(): Uint8Array {
    return Buffer.from(this.#bytes.subarray(0, this.#end));
  }

  /** Writes a table and refers to it. @returns its position. */
  table(from: number, field: FieldLayout, layout: TableLayout): number {
    const at = this.#append(layout);
    this.#refer(from, field, at);
    return at;
  }

  /** Refers to a list of `count` tables, which `item` then writes. @returns the position of the list. */
  tables(from: number, field: FieldLayout, count: number): number {
    assert(count <= field.most, 'a list within its limit');
    const at = this.#reserve(OFFSET_BYTES * (count + 1), OFFSET_BYTES);
    this.#u32[at >> 2] = count;
    this.#refer(from, field, at);
    return at;
  }

  /** Writes a table of a list. @returns its position. */
  item(list: number, index: number, layout: TableLayout): number {
    const slot = list + OFFSET_BYTES * (index + 1);
    const at = this.#append(layout);
    this.#u32[slot >> 2] = at - slot;
    return at;
  }

  /** A scalar of 1, 2 or 4 bytes. */
  unsigned(table: number, field: FieldLayout, value: number): void {
    const at = this.#mark(table, field);
    if (field.bytes === 1) this.#bytes[at] = value;
    else if (field.bytes === 2) this.#u16[at >> 1] = value;
    else this.#u32[at >> 2] = value;
  }

  ulong(table: number, field: FieldLayout, value: bigint): void {
    this.#u64[this.#mark(table, field) >> 3] = value;
  }

  /** A struct of ulongs. */
  struct(table: number, field: FieldLayout, values: readonly bigint[]): void {
    const first = this.#mark(table, field) >> 3;
    for (let index = 0; index < values.length; index += 1) this.#u64[first + index] = values[index] as bigint;
  }

  text(table: number, field: FieldLayout, value: string): void {
    // A UTF-16 unit takes at most three bytes.
    assert(this.#end + 3 * value.length + 16 <= MESSAGE_BYTES_MAX, 'a text fits into its message');
    const at = Math.ceil(this.#end / OFFSET_BYTES) * OFFSET_BYTES;
    const start = at + OFFSET_BYTES;
    const length = this.#bytes.write(value, start, 'utf8');
    this.#bytes.fill(0, this.#end, at);
    this.#u32[at >> 2] = length;
    this.#bytes[start + length] = 0;
    this.#end = start + length + 1;
    this.#refer(table, field, at);
  }

  #append({ vtableBytes, bytes }: TableLayout): number {
    const vtable = this.#reserve(vtableBytes, 2);
    const at = this.#reserve(bytes, 8);
    this.#u16[vtable >> 1] = vtableBytes;
    this.#u16[(vtable >> 1) + 1] = bytes;
    this.#u32[at >> 2] = at - vtable;
    return at;
  }

  /** Zeros at the next multiple of `alignment`. @returns their position. */
  #reserve(bytes: number, alignment: number): number {
    const at = Math.ceil(this.#end / alignment) * alignment;
    assert(at + bytes <= MESSAGE_BYTES_MAX, 'a table fits into its message');
    this.#bytes.fill(0, this.#end, at + bytes);
    this.#end = at + bytes;
    return at;
  }

  /** Marks a field as present. @returns its position. */
  #mark(table: number, { slot, at }: FieldLayout): number {
    const vtable = table - (this.#u32[table >> 2] as number);
    this.#u16[(vtable + slot) >> 1] = at;
    return table + at;
  }

  #refer(table: number, field: FieldLayout, target: number): void {
    const at = this.#mark(table, field);
    this.#u32[at >> 2] = target - at;
  }
}
