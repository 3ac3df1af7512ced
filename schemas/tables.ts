/**
 * Reads the subset of FlatBuffers that schemas/control.fbs uses (enums, structs of scalars, tables, unions of tables, vectors
 * of bytes, of structs and of tables) and writes src/codec/generated/control-tables.ts: of every enum its values, of every struct the
 * offsets of its fields, of every table the slots of its fields in a vtable, what lies there, and the place that our own
 * writer gives it (flat-layout.ts).
 *
 * A table is declared before a table that refers to it.
 */

import { camel, comment, constant } from './names.ts';

const ENUM_FORM = /^(?<comment>(?:\/\/\/[^\n]*\n)*)enum (?<name>\w+) : \w+ \{(?<body>[^}]*)\}/gm;
const UNION_FORM = /^union (?<name>\w+) \{(?<body>[^}]*)\}/gm;
const OBJECT_FORM =
  /^(?<comment>(?:\/\/\/[^\n]*\n)*)(?<sort>struct|table) (?<name>\w+)(?: \(\w+\))? \{(?<body>[^}]*)\}/gm;
const FIELD_FORM =
  /\s*(?:\/\/\/[^\n]*\n\s*)*(?<name>\w+): (?<list>\[?)(?<type>\w+)\]?(?: = (?<initial>\d+))?(?: \(at_most: (?<most>\d+)\))?;/y;
const ENUM_TYPE_FORM = /^enum (\w+) : (\w+)/gm;

const SCALAR_BYTES: Readonly<Record<string, number>> = {
  bool: 1,
  byte: 1,
  ubyte: 1,
  ushort: 2,
  uint: 4,
  ulong: 8,
};
const OFFSET_BYTES = 4;
const SLOT_BYTES = 2;
/** Sizes of vtable and table, before the slots. */
const VTABLE_HEAD_BYTES = 4;

interface FieldSource {
  readonly name: string;
  readonly type: string;
  readonly isList: boolean;
  readonly initial: number;
  readonly most: number;
}

interface Schema {
  /** The scalar below each enum. */
  readonly enums: ReadonlyMap<string, string>;
  readonly unions: ReadonlyMap<string, readonly string[]>;
  /** Bytes of each struct; its alignment is 8. */
  readonly structs: ReadonlyMap<string, number>;
}

/** What lies in a slot, as flat-layout.ts names it. */
interface Slot {
  readonly name: string;
  readonly kind: string;
  readonly bytes: number;
  readonly alignment: number;
  readonly initial: number;
  /** The tables that it refers to, those of a union in the order of their types. */
  readonly tables: readonly string[];
  readonly most: number;
  /** Of a list of structs: bytes of one. */
  readonly entryBytes: number;
}

/** The text of the generated module. @throws Error naming the place when the schema leaves the subset. */
export function generateTables(text: string): string {
  const schema = readSchema(text);
  const parts = [
    ...[...text.matchAll(ENUM_FORM)].map(({ index, groups }) => ({ index, lines: enumLines(groups) })),
    ...[...text.matchAll(UNION_FORM)].map(({ index, groups }) => ({ index, lines: unionLines(groups) })),
    ...[...text.matchAll(OBJECT_FORM)].map(({ index, groups }) => ({ index, lines: objectLines(groups, schema) })),
  ];
  parts.sort((a, b) => a.index - b.index);
  return `${[
    '/** Generated from schemas/control.fbs by `npm run generate`. Do not edit. */',
    "import type { FieldLayout, TableLayout } from '../flat-layout.ts';",
    ...parts.flatMap(({ lines }) => lines),
  ].join('\n')}\n`;
}

/** The fields of every table by their names in the generated module. */
export function fieldsOfTables(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const schema = readSchema(text);
  const tables = [...text.matchAll(OBJECT_FORM)].filter(({ groups }) => groups?.['sort'] === 'table');
  return new Map(
    tables.map(({ groups }) => {
      const name = groups?.['name'] ?? '';
      const slots = fieldsOf(groups).flatMap((field) => slotsOf(field, schema, name));
      return [name, new Set(slots.map((slot) => slot.name))];
    }),
  );
}

/** What other languages' writers and readers need: names as in the schema, fields in the order of their slots. */
export interface TablesData {
  readonly enums: Readonly<Record<string, EnumData>>;
  readonly structs: Readonly<Record<string, readonly string[]>>;
  /** The tables of each union; the type of the first is 1. */
  readonly unions: Readonly<Record<string, readonly string[]>>;
  readonly tables: Readonly<Record<string, readonly FieldData[]>>;
}

interface EnumData {
  /** The scalar below it. */
  readonly type: string;
  readonly values: Readonly<Record<string, number>>;
}

interface FieldData {
  readonly name: string;
  /** A scalar of FlatBuffers, `string`, or the name of an enum, a struct, a union or a table. */
  readonly type: string;
  readonly list: boolean;
  readonly initial: number;
}

/** @throws Error naming the place when the schema leaves the subset. */
export function describeTables(text: string): TablesData {
  const schema = readSchema(text);
  const objects = [...text.matchAll(OBJECT_FORM)].map(({ groups }) => groups);
  const sorted = (sort: string): readonly Groups[] => objects.filter((groups) => groups?.['sort'] === sort);
  const enums = Array.from(text.matchAll(ENUM_FORM), ({ groups }) => {
    const values = namesOf(groups?.['body'] ?? '').filter((value) => value !== '');
    const pairs = values.map((value) => value.split(' = ')).map(([name = '', number]) => [name, Number(number)]);
    const name = groups?.['name'] ?? '';
    return [name, { type: schema.enums.get(name) ?? '', values: Object.fromEntries(pairs) }] as const;
  });
  const structs = sorted('struct').map((groups) => [groups?.['name'] ?? '', fieldsOf(groups).map(({ name }) => name)]);
  const tables = sorted('table').map((groups) => {
    const fields = fieldsOf(groups).map(({ name, type, isList, initial }) => ({ name, type, list: isList, initial }));
    return [groups?.['name'] ?? '', fields] as const;
  });
  return {
    enums: Object.fromEntries(enums),
    structs: Object.fromEntries(structs) as Record<string, string[]>,
    unions: Object.fromEntries(schema.unions),
    tables: Object.fromEntries(tables),
  };
}

function readSchema(text: string): Schema {
  const structs = new Map<string, number>();
  for (const { groups } of text.matchAll(OBJECT_FORM)) {
    if (groups?.['sort'] === 'struct') structs.set(groups['name'] ?? '', 8 * fieldsOf(groups).length);
  }
  const enums = new Map(Array.from(text.matchAll(ENUM_TYPE_FORM), ([, name = '', type = '']) => [name, type]));
  const unions = new Map(
    Array.from(text.matchAll(UNION_FORM), ({ groups }) => [groups?.['name'] ?? '', namesOf(groups?.['body'] ?? '')]),
  );
  return { enums, unions, structs };
}

type Groups = Readonly<Record<string, string | undefined>> | undefined;

function namesOf(list: string): string[] {
  return list.split(',').map((name) => name.trim());
}

function fieldsOf(groups: Groups): FieldSource[] {
  const body = groups?.['body'] ?? '';
  const fields: FieldSource[] = [];
  let end = 0;
  FIELD_FORM.lastIndex = 0;
  for (let match = FIELD_FORM.exec(body); match !== null; match = FIELD_FORM.exec(body)) {
    const { name = '', type = '', list, initial = '0', most = '0' } = match.groups ?? {};
    fields.push({ name, type, isList: list === '[', initial: Number(initial), most: Number(most) });
    end = FIELD_FORM.lastIndex;
  }
  const rest = body.slice(end).trim();
  if (rest !== '') throw new Error(`${groups?.['name']}: cannot read the field "${rest.split(';')[0]}"`);
  return fields;
}

function enumLines(groups: Groups): string[] {
  const values = namesOf(groups?.['body'] ?? '')
    .filter((value) => value !== '')
    .map((value) => `  ${value.replace(' =', ':')},`);
  return ['', ...commentLines(groups), `export const ${groups?.['name']} = {`, ...values, '} as const;'];
}

function unionLines(groups: Groups): string[] {
  const values = namesOf(groups?.['body'] ?? '').map((name, index) => `  ${name}: ${index + 1},`);
  return [
    '',
    '/** Types of the union; 0 is none. */',
    `export const ${groups?.['name']} = {`,
    ...values,
    '} as const;',
  ];
}

function objectLines(groups: Groups, schema: Schema): string[] {
  return groups?.['sort'] === 'struct' ? structLines(groups) : tableLines(groups, schema);
}

function structLines(groups: Groups): string[] {
  const fields = fieldsOf(groups);
  const other = fields.find(({ type, isList }) => type !== 'ulong' || isList);
  if (other !== undefined) throw new Error(`${groups?.['name']}.${other.name}: a struct has fields of type ulong`);
  const places = fields.map(({ name }, index) => `  ${camel(name)}: ${8 * index},`);
  return [
    '',
    ...commentLines(groups),
    `export const ${groups?.['name']} = {`,
    `  bytes: ${8 * fields.length},`,
    ...places,
    '} as const;',
  ];
}

function tableLines(groups: Groups, schema: Schema): string[] {
  const name = groups?.['name'] ?? '';
  const slots = fieldsOf(groups).flatMap((field) => slotsOf(field, schema, name));
  const { places, bytes } = placesOf(slots);
  const members = slots.map((slot, index) => {
    const { kind, most, initial } = slot;
    const cell = `slot: ${VTABLE_HEAD_BYTES + SLOT_BYTES * index}, at: ${places[index]}`;
    const tables = slot.tables.map((table) => `${table}.table`).join(', ');
    return `  ${slot.name}: { ${cell}, kind: '${kind}', bytes: ${slot.bytes}, alignment: ${slot.alignment}, initial: ${initial}, tables: [${tables}], most: ${most}, entryBytes: ${slot.entryBytes} },`;
  });
  const fields = `${constant(name)}_FIELDS`;
  const vtableBytes = VTABLE_HEAD_BYTES + SLOT_BYTES * slots.length;
  return [
    '',
    `interface ${name}Fields {`,
    ...slots.map((slot) => `  readonly ${slot.name}: FieldLayout;`),
    '}',
    '',
    `const ${fields}: ${name}Fields = {`,
    ...members,
    '};',
    '',
    ...commentLines(groups),
    `export const ${name}: ${name}Fields & { readonly table: TableLayout } = {`,
    `  ...${fields},`,
    `  table: { name: '${name}', vtableBytes: ${vtableBytes}, bytes: ${bytes}, fields: Object.values(${fields}) },`,
    '};',
  ];
}

/** One slot, of a union two: its type and its table. */
function slotsOf(field: FieldSource, { enums, unions, structs }: Schema, table: string): Slot[] {
  const { initial, most, isList } = field;
  const name = camel(field.name);
  const plain = { name, alignment: OFFSET_BYTES, bytes: OFFSET_BYTES, initial, tables: [], most, entryBytes: 0 };
  if (isList) {
    if (field.type === 'ubyte') return [{ ...plain, kind: 'bytes' }];
    if (most === 0) throw new Error(`${table}.${field.name}: a list has its limit at_most`);
    const entryBytes = structs.get(field.type);
    if (entryBytes !== undefined) return [{ ...plain, kind: 'structs', entryBytes }];
    return [{ ...plain, kind: 'tables', tables: [field.type] }];
  }
  if (field.type === 'string') return [{ ...plain, kind: 'text' }];
  const members = unions.get(field.type);
  if (members !== undefined) {
    return [
      { ...plain, name: `${name}Type`, kind: 'union-type', bytes: 1, alignment: 1 },
      { ...plain, kind: 'union', tables: members },
    ];
  }
  const structBytes = structs.get(field.type);
  if (structBytes !== undefined) return [{ ...plain, kind: 'struct', bytes: structBytes, alignment: 8 }];
  const scalar = enums.get(field.type) ?? field.type;
  const bytes = SCALAR_BYTES[scalar];
  if (bytes === undefined) return [{ ...plain, kind: 'table', tables: [field.type] }];
  return [{ ...plain, kind: 'scalar', bytes, alignment: bytes }];
}

/** A place for every field in a table whose beginning is a multiple of 8, the largest alignment first. */
function placesOf(slots: readonly Slot[]): { readonly places: readonly number[]; readonly bytes: number } {
  const places = slots.map(() => 0);
  let end = OFFSET_BYTES;
  const order = [4, 8, 2, 1].flatMap((alignment) =>
    slots.flatMap((slot, index) => (slot.alignment === alignment ? [index] : [])),
  );
  for (const index of order) {
    const { alignment, bytes } = slots[index] as Slot;
    places[index] = Math.ceil(end / alignment) * alignment;
    end = (places[index] as number) + bytes;
  }
  return { places, bytes: Math.ceil(end / 8) * 8 };
}

function commentLines(groups: Groups): string[] {
  return comment((groups?.['comment'] ?? '').replace(/^\/\/\/ ?/gm, '').trim());
}
