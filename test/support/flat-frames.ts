/**
 * FlatBuffers messages of schemas/control.fbs written with the `flatbuffers` package from plain values, whatever they are:
 * unlike the SDK this checks nothing. What the package reads from a message, for comparison with our own reader.
 */
import { Builder, ByteBuffer } from 'flatbuffers';
import type { FieldLayout, TableLayout } from '../../src/codec/flat-layout.ts';
import { Body, Frame } from '../../src/codec/generated/control-tables.ts';

/** A table with its members by their names in the generated layout. */
export interface PlainTable {
  readonly layout: TableLayout;
  readonly members: Readonly<Record<string, PlainValue>>;
}

/** Scalar, string, bytes, table, list of tables; undefined is absent. */
export type PlainValue =
  | number
  | bigint
  | boolean
  | string
  | Uint8Array
  | PlainTable
  | readonly PlainTable[]
  | undefined;

/** A generated table: its fields by name, and its layout. */
export type Generated = { readonly table: TableLayout } & object;

export function plain(generated: Generated, members: Readonly<Record<string, PlainValue>>): PlainTable {
  return { layout: generated.table, members: fieldsByName(generated, members) };
}

/** Members keyed by slot, so that a table needs no names to be written. */
function fieldsByName(
  generated: Generated,
  members: Readonly<Record<string, PlainValue>>,
): Readonly<Record<string, PlainValue>> {
  const fields = generated as unknown as Readonly<Record<string, FieldLayout | undefined>>;
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      const field = fields[name];
      if (field === undefined) throw new Error(`${generated.table.name} has no field ${name}`);
      return [field.slot, value];
    }),
  );
}

/** A frame around a body. */
export function flatFrame(type: keyof typeof Body, body: PlainTable, requestId = 1n): Uint8Array {
  const builder = new Builder(256);
  const at = write(builder, plain(Frame, { requestId, bodyType: Body[type], body }));
  builder.finish(at);
  return builder.asUint8Array().slice();
}

function write(builder: Builder, { layout, members }: PlainTable): number {
  const offsets = new Map<number, number>();
  for (const { slot } of layout.fields) {
    const value = members[slot];
    if (typeof value === 'string') offsets.set(slot, builder.createString(value));
    else if (value instanceof Uint8Array) offsets.set(slot, builder.createByteVector(value));
    else if (isList(value)) offsets.set(slot, writeList(builder, value));
    else if (typeof value === 'object') offsets.set(slot, write(builder, value));
  }
  builder.startObject(layout.fields.length);
  for (const field of layout.fields) {
    const value = members[field.slot];
    const index = (field.slot - 4) / 2;
    const offset = offsets.get(field.slot);
    if (offset !== undefined) builder.addFieldOffset(index, offset, 0);
    else if (value !== undefined) writeScalar(builder, field, index, value as number | bigint | boolean);
  }
  return builder.endObject();
}

function isList(value: PlainValue): value is readonly PlainTable[] {
  return Array.isArray(value);
}

function writeList(builder: Builder, items: readonly PlainTable[]): number {
  const offsets = items.map((item) => write(builder, item));
  builder.startVector(4, offsets.length, 4);
  for (const offset of offsets.toReversed()) builder.addOffset(offset);
  return builder.endVector();
}

function writeScalar(builder: Builder, field: FieldLayout, index: number, value: number | bigint | boolean): void {
  if (field.bytes === 8) builder.addFieldInt64(index, BigInt.asIntN(64, BigInt(value)), BigInt(field.initial));
  else if (field.bytes === 4) builder.addFieldInt32(index, Number(value), field.initial);
  else if (field.bytes === 2) builder.addFieldInt16(index, Number(value), field.initial);
  else builder.addFieldInt8(index, Number(value), field.initial);
}

// ---- reading with the package

/** What the package reads of a field of the table at `at`; null for absent. */
export function packageReads(buffer: ByteBuffer, at: number, field: FieldLayout): string | bigint | number | null {
  const inTable = buffer.__offset(at, field.slot);
  if (inTable === 0) return null;
  const place = at + inTable;
  if (field.kind === 'text') return buffer.__string(place) as string;
  if (field.kind === 'bytes') {
    const start = buffer.__vector(place);
    return Buffer.from(buffer.bytes().subarray(start, start + buffer.__vector_len(place))).toString('hex');
  }
  if (field.bytes === 8) return buffer.readUint64(place);
  if (field.bytes === 4) return buffer.readUint32(place);
  return field.bytes === 2 ? buffer.readUint16(place) : buffer.readUint8(place);
}

/** The table that the body of a frame is, as the package finds it. */
export function packageBody(bytes: Uint8Array): {
  readonly buffer: ByteBuffer;
  readonly frame: number;
  readonly body: number;
} {
  const buffer = new ByteBuffer(bytes);
  const frame = buffer.readInt32(0);
  return { buffer, frame, body: buffer.__indirect(frame + buffer.__offset(frame, Frame.body.slot)) };
}
