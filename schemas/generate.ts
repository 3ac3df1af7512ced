/**
 * Writes src/schema/generated/messages.ts from schemas/messages.fbs. For every struct `X`:
 *
 *   X          its type id and size, a getter and a setter per field that touch the bytes in place, and `read`, `write`,
 *              `copy`, `hash`, `toJson` of the whole struct
 *   XFields    the plain form that `read` gives and `write` takes
 *   XView      of a struct with the attribute `record`: an accessor, whose members read and write the bytes that it
 *              points at
 *
 * Attributes of structs: `record`, and `kind: "ended"`, a member `kind` of the plain form by which a union of messages is told
 * apart.
 *
 * Attributes of fields:
 *
 *   ts: "Sequence | 0"       the type of the value; without it `ulong` is TimestampNs, Int128 is Amount18
 *   hex                      bytes of a user id, in the plain form its text
 *   ascii: "order_id_bytes"  text of which that field, an ubyte, is the length: one text in the plain form
 *
 * A ulong, nanoseconds, is also read and written as two words of 32 bits: `timeNsHigh`, `timeNsLow`, `setTimeNsWords`.
 * Setters of `X` take plain numbers and bigints; `write` and views check the types.
 *
 * `npm run generate` writes the file, that of schemas/control.fbs (tables.ts), those of the hot requests (generate-wire.ts),
 * those of the Python package (generate-python.ts) and the document of exports (generate-exports.ts); `--check` only compares
 * and exits 1 when one differs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { generateExports } from './generate-exports.ts';
import { generatePython } from './generate-python.ts';
import { generateWire } from './generate-wire.ts';
import { type FieldLayout, readSchema, type StructLayout } from './layout.ts';
import { camel, capital, comment } from './names.ts';
import { generateTables } from './tables.ts';

interface Access {
  readonly view: string;
  readonly shift: number;
  readonly type: string;
}

const ACCESS: Readonly<Record<string, Access>> = {
  bool: { view: 'u8', shift: 0, type: 'boolean' },
  ubyte: { view: 'u8', shift: 0, type: 'number' },
  ushort: { view: 'u16', shift: 1, type: 'number' },
  int: { view: 'i32', shift: 2, type: 'number' },
  uint: { view: 'u32', shift: 2, type: 'number' },
  double: { view: 'f64', shift: 3, type: 'number' },
  long: { view: 'i64', shift: 3, type: 'bigint' },
  ulong: { view: 'u64', shift: 3, type: 'bigint' },
};
const DEFAULT_TYPES: Readonly<Record<string, string>> = { ulong: 'TimestampNs', Int128: 'Amount18' };

/** Where the types come from that `ts` may name. */
const TYPE_MODULES: Readonly<Record<string, readonly string[]>> = {
  'core/ids.ts': ['OrderId', 'UserId'],
  'core/order-terms.ts': [
    'FillGroup',
    'OrderEnd',
    'ProtectionLimit',
    'OrderKind',
    'QuoteChangeKind',
    'RollbackReason',
    'Side',
    'SignatureVerdict',
    'Tif',
    'TriggerKind',
    'TriggerState',
  ],
  'core/units.ts': ['Amount18', 'RawPrice', 'RawQuantity', 'Sequence', 'TimestampNs'],
};
const HELPERS = [
  'copyStruct',
  'type FieldSink',
  'plainJson',
  'readBytes',
  'readText',
  'readUser',
  'writeBytes',
  'writeTextField',
  'writeUser',
];
const USER_BYTES = 32;

/** How one field is read and written: expressions over `v` and `at`, or over `this.v` and `this.at`. */
interface Member {
  readonly field: FieldLayout;
  readonly name: string;
  /** Of the plain form, of `read` and of views. */
  readonly type: string;
  /** Of the setter in place. */
  readonly baseType: string;
  readonly read: string;
  write(value: string): string;
  /** The statement that gives the value to the sink `to`. */
  readonly hash: string;
}

function placeOf(offset: number): string {
  return offset === 0 ? 'at' : `at + ${offset}`;
}

function cellOf({ view, shift }: Access, offset: number): string {
  const place = placeOf(offset);
  if (shift === 0) return `v.${view}[${place}]`;
  return `v.${view}[${offset === 0 ? place : `(${place})`} >>> ${shift}]`;
}

function memberOf(field: FieldLayout, struct: StructLayout): Member {
  const name = camel(field.name);
  const { attributes } = field;
  if (field.arrayLength > 0) {
    if (field.type !== 'ubyte') throw new Error(`${struct.name}.${field.name}: an array of ${field.type}`);
    if (attributes.has('ascii')) return textMember(field, name, struct);
    return attributes.has('hex') ? userMember(field, name, struct) : bytesMember(field, name);
  }
  const type = attributes.get('ts') ?? DEFAULT_TYPES[field.type];
  if (field.type === 'Int128') return amountMember(field, name, type ?? 'bigint');
  const access = ACCESS[field.type];
  return access === undefined ? structMember(field, name) : scalarMember(field, name, access, type ?? access.type);
}

function scalarMember(field: FieldLayout, name: string, access: Access, type: string): Member {
  const cell = cellOf(access, field.offset);
  const isFlag = access.type === 'boolean';
  const isBig = access.type === 'bigint';
  const read = isFlag ? `${cell} !== 0` : `${cell} as ${type}`;
  return {
    field,
    name,
    type,
    baseType: access.type,
    read,
    write: (value) => `${cell} = ${isFlag ? `${value} ? 1 : 0` : value};`,
    hash: isBig ? `to.nanoseconds(${cell} as bigint);` : `to.number(${cell} as number);`,
  };
}

function amountMember(field: FieldLayout, name: string, type: string): Member {
  const place = placeOf(field.offset);
  return {
    field,
    name,
    type,
    baseType: 'bigint',
    read: `readInt128(v, ${place}) as ${type}`,
    write: (value) => `writeInt128(v, ${place}, ${value});`,
    hash: `to.amount(readInt128(v, ${place}));`,
  };
}

function structMember(field: FieldLayout, name: string): Member {
  const place = placeOf(field.offset);
  return {
    field,
    name,
    type: `${field.type}Fields`,
    baseType: `${field.type}Fields`,
    read: `${field.type}.read(v, ${place})`,
    write: (value) => `${field.type}.write(v, ${place}, ${value});`,
    hash: `${field.type}.hash(v, ${place}, to);`,
  };
}

function bytesMember(field: FieldLayout, name: string): Member {
  const place = placeOf(field.offset);
  return {
    field,
    name,
    type: 'Uint8Array',
    baseType: 'Uint8Array',
    read: `readBytes(v, ${place}, ${field.arrayLength})`,
    write: (value) => `writeBytes(v, ${place}, ${field.arrayLength}, ${value});`,
    hash: `to.hex(v.u8.subarray(${place}, at + ${field.offset + field.arrayLength}));`,
  };
}

function userMember(field: FieldLayout, name: string, struct: StructLayout): Member {
  if (field.arrayLength !== USER_BYTES || field.offset % 4 !== 0) {
    throw new Error(`${struct.name}.${field.name}: a user id has 32 bytes at a multiple of 4`);
  }
  const place = placeOf(field.offset);
  return {
    field,
    name,
    type: 'UserId',
    baseType: 'UserId',
    read: `readUser(v, ${place})`,
    write: (value) => `writeUser(v, ${place}, ${value});`,
    hash: `to.text(readUser(v, ${place}));`,
  };
}

function textMember(field: FieldLayout, name: string, struct: StructLayout): Member {
  const place = placeOf(field.offset);
  const length = lengthField(field, struct);
  const cell = cellOf(ACCESS['ubyte'] as Access, length.offset);
  const type = field.attributes.get('ts') ?? 'string';
  const read = `readText(v, ${place}, ${cell} as number)`;
  return {
    field,
    name,
    type,
    baseType: type,
    read: type === 'string' ? read : `${read} as ${type}`,
    write: (value) => `${cell} = writeTextField(v, ${place}, ${field.arrayLength}, ${value});`,
    hash: `to.text(${read});`,
  };
}

function lengthField(field: FieldLayout, struct: StructLayout): FieldLayout {
  const name = field.attributes.get('ascii');
  const length = struct.fields.find((other) => other.name === name);
  if (length?.type !== 'ubyte' || length.arrayLength > 0 || field.arrayLength > 255) {
    throw new Error(`${struct.name}.${field.name}: its length is an ubyte of the same struct`);
  }
  return length;
}

/** Fields with a meaning, the lengths of texts included. */
function membersOf(struct: StructLayout): Member[] {
  return struct.fields.filter(({ name }) => name !== 'padding').map((field) => memberOf(field, struct));
}

/** What the plain form has: without the lengths of its texts, which follow from them. */
function plainMembers(struct: StructLayout): Member[] {
  const lengths = new Set(struct.fields.map(({ attributes }) => attributes.get('ascii')));
  return membersOf(struct).filter(({ field }) => !lengths.has(field.name));
}

function accessorLines(member: Member): string[] {
  const { field, name, type, baseType, read, write } = member;
  const isPlace = field.arrayLength > 0 || ACCESS[field.type] === undefined || field.type === 'ulong';
  return [
    ...(isPlace ? [`  ${name}At: ${field.offset},`] : []),
    ...(field.arrayLength > 0 ? [`  ${name}Length: ${field.arrayLength},`] : []),
    `  ${name}: (v: Views, at: number): ${type} => ${read},`,
    `  set${capital(name)}: (v: Views, at: number, value: ${baseType}): void => {`,
    `    ${write('value')}`,
    '  },',
    ...wordLines(member),
  ];
}

/** A u64 as two words: no bigint is made for it. */
function wordLines({ field, name }: Member): string[] {
  if (field.type !== 'ulong') return [];
  const low = cellOf(ACCESS['uint'] as Access, field.offset);
  const high = cellOf(ACCESS['uint'] as Access, field.offset + 4);
  return [
    `  ${name}High: (v: Views, at: number): number => ${high} as number,`,
    `  ${name}Low: (v: Views, at: number): number => ${low} as number,`,
    `  set${capital(name)}Words: (v: Views, at: number, high: number, low: number): void => {`,
    `    ${low} = low;`,
    `    ${high} = high;`,
    '  },',
  ];
}

function wholeLines(struct: StructLayout): string[] {
  const { name } = struct;
  const members = plainMembers(struct);
  const kind = struct.attributes.get('kind');
  const written = kind === undefined ? `${name}Fields` : `Omit<${name}Fields, 'kind'>`;
  return [
    `  read: (v: Views, at: number): ${name}Fields => ({`,
    ...(kind === undefined ? [] : [`    kind: '${kind}',`]),
    ...members.map((member) => `    ${member.name}: ${member.read},`),
    '  }),',
    `  write: (v: Views, at: number, fields: ${written}): void => {`,
    ...members.map((member) => `    ${member.write(`fields.${member.name}`)}`),
    '  },',
    '  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>',
    `    copyStruct(from, fromAt, to, toAt, ${struct.bytes}),`,
    '  /** Its fields one by one. */',
    '  hash: (v: Views, at: number, to: FieldSink): void => {',
    ...members.map((member) => `    ${member.hash}`),
    '  },',
    '  /** For logs and debuggers. */',
    `  toJson: (v: Views, at: number): unknown => plainJson(${name}.read(v, at)),`,
  ];
}

function viewLines(struct: StructLayout): string[] {
  if (!struct.attributes.has('record')) return [];
  const { name } = struct;
  const members = plainMembers(struct);
  const own = (text: string): string => text.replace(/\bv\b/g, 'this.v').replace(/\bat\b/g, 'this.at');
  return [
    '',
    `/** The bytes of a ${name} as an object: its members are read and written where they lie. */`,
    `export class ${name}View implements ${name}Fields {`,
    '  v: Views;',
    '  at: number;',
    '',
    '  /** @param at a multiple of 8. */',
    '  constructor(v: Views, at: number) {',
    '    this.v = v;',
    '    this.at = at;',
    '  }',
    ...members.flatMap((member) => [
      '',
      ...comment(member.field.comment, '  '),
      `  get ${member.name}(): ${member.type} {`,
      `    return ${own(member.read)};`,
      '  }',
      `  set ${member.name}(value: ${member.type}) {`,
      `    ${own(member.write('value'))}`,
      '  }',
    ]),
    '',
    '  toJSON(): unknown {',
    `    return ${name}.toJson(this.v, this.at);`,
    '  }',
    '}',
  ];
}

function structLines(struct: StructLayout): string[] {
  const { name, typeId, bytes } = struct;
  return [
    '',
    `/** The plain form of ${name}. */`,
    `export interface ${name}Fields {`,
    ...(struct.attributes.has('kind') ? [`  readonly kind: '${struct.attributes.get('kind')}';`] : []),
    ...plainMembers(struct).flatMap((member) => [
      ...comment(member.field.comment, '  '),
      `  readonly ${member.name}: ${member.type};`,
    ]),
    '}',
    '',
    ...comment(struct.comment, ''),
    `export const ${name} = {`,
    ...(typeId === 0 ? [] : [`  typeId: ${typeId},`]),
    `  bytes: ${bytes},`,
    ...membersOf(struct).flatMap(accessorLines),
    ...wholeLines(struct),
    '} as const;',
    ...viewLines(struct),
  ];
}

/** Imports of those names that the text uses. */
function importLine(names: readonly string[], from: string, text: string): string[] {
  const used = names.filter((name) => new RegExp(`\\b${name.replace('type ', '')}\\b`).test(text));
  if (used.length === 0) return [];
  const areTypes = used.every((name) => !HELPERS.includes(name) || name.startsWith('type '));
  const list = areTypes ? used.map((name) => name.replace('type ', '')) : used;
  return [`import ${areTypes ? 'type ' : ''}{ ${list.join(', ')} } from '${from}';`];
}

/** The text of the generated module. */
export function generate(schema: string): string {
  const structs = readSchema(schema).filter(({ name }) => name !== 'Int128');
  const body = structs.flatMap(structLines);
  const text = body.join('\n');
  return `${[
    '/** Generated from schemas/messages.fbs by `npm run generate`. Do not edit. */',
    ...Object.entries(TYPE_MODULES).flatMap(([module, names]) => importLine(names, `../../${module}`, text)),
    "import type { Views } from '../../core/views.ts';",
    ...importLine(HELPERS, '../fields.ts', text),
    "import { readInt128, writeInt128 } from '../int128.ts';",
    ...body,
  ].join('\n')}\n`;
}

/** The generated modules: path, what it is made of, its text. */
function generated(): readonly (readonly [target: string, source: string, text: string])[] {
  const [messages, control] = ['schemas/messages.fbs', 'schemas/control.fbs'];
  const controlText = readFileSync(control, 'utf8');
  return [
    ['src/schema/generated/messages.ts', messages, generate(readFileSync(messages, 'utf8'))],
    ['src/codec/generated/control-tables.ts', control, generateTables(controlText)],
    ...[...generateWire(controlText)].map(
      ([path, text]) => [`src/${path}`, 'order-shapes.ts or control.fbs', text] as const,
    ),
    ['docs/reference/exports.md', 'src/evidence/row-kinds.ts or src/tools/export-columns.ts', generateExports()],
    ...[...generatePython(controlText)].map(([path, text]) => [path, 'src/codec/shapes or control.fbs', text] as const),
  ];
}

function main(): void {
  const isCheck = process.argv.includes('--check');
  for (const [target, source, text] of generated()) {
    if (!isCheck) writeFileSync(target, text);
    else if (readFileSync(target, 'utf8') !== text) {
      process.stderr.write(`${target} is not what ${source} says: run npm run generate\n`);
      process.exitCode = 1;
    }
  }
}

if (process.argv[1]?.endsWith('generate.js') === true) main();
