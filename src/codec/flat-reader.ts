/**
 * Reads a FlatBuffers message of an untrusted sender: copies it, checks it whole, then gives out its fields.
 *
 *   load(bytes) ─▶ root(Frame.table): every table, vtable, string and vector that can be reached ─▶ fields by position
 *
 * The message is copied into memory of the reader once: its fields are then read as 16, 32 or 64 bits wherever the
 * message came from, and nothing can change between check and use. Positions are counted from the beginning of the
 * message; 0 is "absent", since there lies the offset of the root.
 *
 * What `root` has proved of all that can be reached, so that no read can leave the message:
 *   1. Every offset leads forward to a place inside the message, at a multiple of 4, and every vtable likewise to a
 *      multiple of 2. A field lies inside its table, at a multiple of its size. Strings end with a zero byte.
 *   2. A table has no field that the schema lacks, a union no type that it lacks, and a type has its table.
 *   3. Of a list of tables the first `at_most` are checked, and `count` shows a longer one. Tables cannot refer to
 *      themselves in the schema, so depth is bounded.
 *   4. Tables, strings and vectors, each counted as often as it is referred to, have at most twice the bytes of the
 *      message. So a sender may share an asset id or a signer among the orders of a batch, and reading a message costs no more than
 *      its length pays for.
 *
 * It never throws on a message.
 */
import { assert } from '../core/assert.ts';
import { BODY_BYTES_MAX } from '../core/limits.ts';
import { type FieldLayout, type TableLayout, VTABLE_HEAD_BYTES } from './flat-layout.ts';

const OFFSET_BYTES = 4;
/** An offset of the root and an empty table with its vtable. */
const MESSAGE_BYTES_MIN = 12;
/** What can be reached, in lengths of the message. */
const REACHED_PER_BYTE_MAX = 2;
const TWO_32 = 4_294_967_296;
/** The upper half of 2^53−1. */
const SAFE_UPPER = 2_097_151;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class FlatReader {
  readonly #bytes: Buffer;
  readonly #u16: Uint16Array;
  readonly #u32: Uint32Array;
  readonly #i32: Int32Array;
  readonly #u64: BigUint64Array;
  #end = 0;
  /** Bytes that may yet be reached. */
  #left = 0;

  /** @param bytesMax of a message; a multiple of 8. */
  constructor(bytesMax: number = BODY_BYTES_MAX) {
    const memory = new ArrayBuffer(bytesMax);
    this.#bytes = Buffer.from(memory);
    this.#u16 = new Uint16Array(memory);
    this.#u32 = new Uint32Array(memory);
    this.#i32 = new Int32Array(memory);
    this.#u64 = new BigUint64Array(memory);
  }

  /** Takes bytes[start … end) as the message, in place of the one before. */
  load(bytes: Uint8Array, start: number, end: number): void {
    assert(end - start <= this.#bytes.length, 'a message is within the limit of its reader');
    this.#end = end - start;
    this.#bytes.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
  }

  /** The position of the root table, or 0 where the message is not sound. */
  root(layout: TableLayout): number {
    if (this.#end < MESSAGE_BYTES_MIN) return 0;
    this.#left = REACHED_PER_BYTE_MAX * this.#end;
    const at = this.#target(0);
    return at !== 0 && this.#isTable(at, layout) ? at : 0;
  }

  /**
   * A ulong of the root table of a message that is not sound otherwise, also of one with fields that the schema lacks; 0
   * where it is absent or cannot be read.
   */
  shallowUlong(field: FieldLayout): bigint {
    if (this.#end < MESSAGE_BYTES_MIN) return 0n;
    const at = this.#target(0);
    const vtable = at === 0 ? 0 : this.#vtableOf(at);
    if (vtable === 0 || field.slot + 2 > (this.#u16[vtable >> 1] as number)) return 0n;
    const place = at + (this.#u16[(vtable + field.slot) >> 1] as number);
    const isInside = place > at && place % field.alignment === 0 && place + field.bytes <= this.#end;
    return isInside ? (this.#u64[place >> 3] as bigint) : 0n;
  }

  // ---- fields, of tables that `root` has reached

  /** The position of a field in its table; 0 for absent. */
  placeOf(table: number, field: FieldLayout): number {
    const vtable = table - (this.#i32[table >> 2] as number);
    if (field.slot >= (this.#u16[vtable >> 1] as number)) return 0;
    const at = this.#u16[(vtable + field.slot) >> 1] as number;
    return at === 0 ? 0 : table + at;
  }

  /** An unsigned scalar of 1, 2 or 4 bytes. */
  unsigned(table: number, field: FieldLayout): number {
    const at = this.placeOf(table, field);
    if (at === 0) return field.initial;
    if (field.bytes === 1) return this.#bytes[at] as number;
    return (field.bytes === 2 ? this.#u16[at >> 1] : this.#u32[at >> 2]) as number;
  }

  /** A signed byte. */
  signedByte(table: number, field: FieldLayout): number {
    return (this.unsigned(table, field) << 24) >> 24;
  }

  /** A ulong up to 2^53−1; every greater one as `instead`. */
  safe(table: number, field: FieldLayout, instead: number): number {
    const at = this.placeOf(table, field);
    if (at === 0) return 0;
    const upper = this.#u32[(at >> 2) + 1] as number;
    return upper > SAFE_UPPER ? instead : upper * TWO_32 + (this.#u32[at >> 2] as number);
  }

  ulong(table: number, field: FieldLayout): bigint {
    const at = this.placeOf(table, field);
    return at === 0 ? 0n : (this.#u64[at >> 3] as bigint);
  }

  /** A ulong of a struct. @param offset of the struct. */
  structUlong(struct: number, offset: number): bigint {
    return this.#u64[(struct + offset) >> 3] as bigint;
  }

  /** Of a reference: the position of the table, string or vector that it leads to; 0 for absent. */
  referred(table: number, field: FieldLayout): number {
    const at = this.placeOf(table, field);
    return at === 0 ? 0 : at + (this.#u32[at >> 2] as number);
  }

  /** Bytes of a string, entries of a vector; 0 for absent. */
  count(table: number, field: FieldLayout): number {
    const at = this.referred(table, field);
    return at === 0 ? 0 : (this.#u32[at >> 2] as number);
  }

  /**
   * A string; null for an absent one, for one that is not UTF-8, and for one of more than `lengthMax` UTF-16 units. At
   * most three bytes of UTF-8 are one unit.
   */
  text(table: number, field: FieldLayout, lengthMax: number): string | null {
    const at = this.referred(table, field);
    if (at === 0) return null;
    const length = this.#u32[at >> 2] as number;
    if (length > 3 * lengthMax) return null;
    const start = at + OFFSET_BYTES;
    const end = start + length;
    for (let next = start; next < end; next += 1) {
      if ((this.#bytes[next] as number) > 0x7f) return this.#decoded(start, end, lengthMax);
    }
    return length > lengthMax ? null : this.#bytes.latin1Slice(start, end);
  }

  /** Four bytes of a vector of bytes. @param index of the word, all of it inside the vector. */
  word(table: number, field: FieldLayout, index: number): number {
    return this.#u32[(this.referred(table, field) + OFFSET_BYTES) / 4 + index] as number;
  }

  /** A vector of bytes as lower-case hex. */
  hex(table: number, field: FieldLayout): string {
    const at = this.referred(table, field);
    if (at === 0) return '';
    const start = at + OFFSET_BYTES;
    return this.#bytes.hexSlice(start, start + (this.#u32[at >> 2] as number));
  }

  /** A copy of a vector of bytes; none for an absent one. */
  bytes(table: number, field: FieldLayout): Uint8Array {
    const at = this.referred(table, field);
    const length = at === 0 ? 0 : (this.#u32[at >> 2] as number);
    const copy = new Uint8Array(length);
    for (let index = 0; index < length; index += 1) copy[index] = this.#bytes[at + OFFSET_BYTES + index] as number;
    return copy;
  }

  /** The position of a table in a list of them. @param index below `count` and below the limit of the list. */
  item(table: number, field: FieldLayout, index: number): number {
    assert(index < field.most, 'an entry of a list that was checked');
    const at = this.referred(table, field) + OFFSET_BYTES * (index + 1);
    return at + (this.#u32[at >> 2] as number);
  }

  /**
   * A ulong up to 2^53−1 of a struct of a list; every greater one as `instead`. @param index below `count`.
   * @param offset of the member in its struct.
   */
  safeOfStruct(table: number, field: FieldLayout, index: number, offset: number, instead: number): number {
    const at = this.referred(table, field) + OFFSET_BYTES + field.entryBytes * index + offset;
    const upper = this.#u32[(at >> 2) + 1] as number;
    return upper > SAFE_UPPER ? instead : upper * TWO_32 + (this.#u32[at >> 2] as number);
  }

  #decoded(start: number, end: number, lengthMax: number): string | null {
    try {
      const text = utf8.decode(this.#bytes.subarray(start, end));
      return text.length > lengthMax ? null : text;
    } catch {
      return null;
    }
  }

  // ---- checks

  /** Where the offset at `at` leads; 0 unless that is a whole word inside the message. */
  #target(at: number): number {
    const target = at + (this.#u32[at >> 2] as number);
    return target > at && target % 4 === 0 && target + OFFSET_BYTES <= this.#end ? target : 0;
  }

  #isTable(at: number, layout: TableLayout): boolean {
    if (!this.#hasSoundFields(at, layout)) return false;
    const vtable = at - (this.#i32[at >> 2] as number);
    const size = this.#u16[vtable >> 1] as number;
    for (const field of layout.fields) {
      if (field.slot >= size) return true;
      if (field.kind === 'scalar' || field.kind === 'struct' || field.kind === 'union-type') continue;
      const inTable = this.#u16[(vtable + field.slot) >> 1] as number;
      if (inTable !== 0 && !this.#isReference(at, at + inTable, field, layout)) return false;
    }
    return true;
  }

  /** The position of a table's vtable, on either side of it; 0 unless all of that lies in the message. */
  #vtableOf(at: number): number {
    const vtable = at - (this.#i32[at >> 2] as number);
    if (vtable <= 0 || vtable % 2 !== 0 || vtable + VTABLE_HEAD_BYTES > this.#end) return 0;
    const size = this.#u16[vtable >> 1] as number;
    // mutant: flat-vtable-bounds
    return size < VTABLE_HEAD_BYTES || size % 2 !== 0 || vtable + size > this.#end ? 0 : vtable;
  }

  /** Whether so much more may be reached. */
  #takes(bytes: number): boolean {
    this.#left -= bytes;
    // mutant: flat-reached-bytes
    return this.#left >= 0;
  }

  /** Whether its vtable lies in the message and every field inside the table. */
  #hasSoundFields(at: number, layout: TableLayout): boolean {
    const vtable = this.#vtableOf(at);
    if (vtable === 0) return false;
    const size = this.#u16[vtable >> 1] as number;
    const tableBytes = this.#u16[(vtable >> 1) + 1] as number;
    if (size > layout.vtableBytes) return false;
    if (tableBytes < OFFSET_BYTES || at + tableBytes > this.#end || !this.#takes(tableBytes)) return false;
    let unionType = 0;
    for (const { slot, kind, bytes, alignment } of layout.fields) {
      const inTable = slot < size ? (this.#u16[(vtable + slot) >> 1] as number) : 0;
      if (inTable !== 0) {
        // mutant: flat-field-bounds
        if (inTable < OFFSET_BYTES || inTable + bytes > tableBytes || (at + inTable) % alignment !== 0) return false;
      }
      if (kind === 'union-type') unionType = inTable === 0 ? 0 : (this.#bytes[at + inTable] as number);
      else if (kind === 'union' && (unionType !== 0) !== (inTable !== 0)) return false;
    }
    return true;
  }

  /** @param at the place of the offset in the table. */
  #isReference(table: number, at: number, field: FieldLayout, layout: TableLayout): boolean {
    const target = this.#target(at);
    if (target === 0) return false;
    const { kind, tables } = field;
    if (kind === 'table') return this.#isTable(target, tables[0] as TableLayout);
    if (kind === 'union') {
      const member = tables[this.#unionType(table, field, layout) - 1];
      return member !== undefined && this.#isTable(target, member);
    }
    const count = this.#u32[target >> 2] as number;
    const start = target + OFFSET_BYTES;
    if (kind === 'structs') {
      const bytes = field.entryBytes * count;
      if (count > 0 && start % 8 !== 0) return false;
      return start + bytes <= this.#end && this.#takes(OFFSET_BYTES + bytes);
    }
    if (kind === 'bytes') return start + count <= this.#end && this.#takes(OFFSET_BYTES + count);
    if (kind === 'text') {
      return start + count < this.#end && this.#bytes[start + count] === 0 && this.#takes(OFFSET_BYTES + count);
    }
    if (start + OFFSET_BYTES * count > this.#end || !this.#takes(OFFSET_BYTES * (1 + count))) return false;
    const checked = Math.min(count, field.most);
    for (let index = 0; index < checked; index += 1) {
      const item = this.#target(start + OFFSET_BYTES * index);
      if (item === 0 || !this.#isTable(item, tables[0] as TableLayout)) return false;
    }
    return true;
  }

  /** The slot of a union's type lies before that of its table. */
  #unionType(table: number, field: FieldLayout, { fields }: TableLayout): number {
    const type = fields[(field.slot - VTABLE_HEAD_BYTES) / 2 - 1];
    return type === undefined ? 0 : this.unsigned(table, type);
  }
}
