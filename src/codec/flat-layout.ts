/**
 * Where the fields of FlatBuffers tables lie: the form in which src/codec/generated/control-tables.ts describes
 * schemas/control.fbs to reader and writer.
 *
 *   buffer   u32 offset of the root table … tables, vtables, vectors, strings
 *   table    i32 distance back to its vtable, then its fields; position 4 or more of the table
 *   vtable   u16 its bytes, u16 bytes of the table, then a slot for each field: u16 position in the table, 0 for absent
 *   string   u32 bytes, UTF-8, 0          vector   u32 entries, the entries
 *
 * Integers are little-endian, as the node's platforms are. Every value lies at a multiple of its size.
 */

/**
 * What lies in a field: a scalar or struct itself; or a u32 distance forward to a string (`text`), a vector of bytes, one of
 * structs, a table, a vector of such distances (`tables`), or the table of a union, whose type lies in the slot before.
 */
type FieldKind = 'scalar' | 'struct' | 'text' | 'bytes' | 'structs' | 'table' | 'tables' | 'union-type' | 'union';

export interface FieldLayout {
  /** Position of its slot in the vtable. */
  readonly slot: number;
  /** Position in a table that FlatWriter has written. */
  readonly at: number;
  readonly kind: FieldKind;
  /** In the table. */
  readonly bytes: number;
  readonly alignment: number;
  /** The value of a scalar that is absent. */
  readonly initial: number;
  /** The table it refers to; of a union one for each type from 1 on. */
  readonly tables: readonly TableLayout[];
  /** Of `tables` and `structs`: entries that are read. */
  readonly most: number;
  /** Of `structs`: bytes of one, which begins at a multiple of 8. */
  readonly entryBytes: number;
}

export interface TableLayout {
  readonly name: string;
  readonly vtableBytes: number;
  /** Of a table that FlatWriter has written: a multiple of 8. */
  readonly bytes: number;
  /** In the order of their slots. */
  readonly fields: readonly FieldLayout[];
}

/** Before the slots of a vtable. */
export const VTABLE_HEAD_BYTES = 4;
