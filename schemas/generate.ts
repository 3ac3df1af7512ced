/**
 * Writes src/schema/generated/messages.ts from schemas/messages.fbs: one constant per struct with its type id, its
 * size, and a getter and setter per field that touch the bytes in place.
 *
 * `npm run generate` writes the file; `--check` only compares and exits 1 when the two differ.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { type FieldLayout, readSchema, type StructLayout } from './layout.ts';

const ACCESS: Readonly<Record<string, { view: string; shift: number; type: string }>> = {
  ubyte: { view: 'u8', shift: 0, type: 'number' },
  ushort: { view: 'u16', shift: 1, type: 'number' },
  int: { view: 'i32', shift: 2, type: 'number' },
  uint: { view: 'u32', shift: 2, type: 'number' },
  double: { view: 'f64', shift: 3, type: 'number' },
  long: { view: 'i64', shift: 3, type: 'bigint' },
  ulong: { view: 'u64', shift: 3, type: 'bigint' },
};

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function fieldLines(field: FieldLayout): string[] {
  if (field.name === 'padding') return [];
  const name = camel(field.name);
  const setter = `set${capital(name)}`;
  if (field.arrayLength > 0) {
    return [
      `  /** Offset and length of the ${field.arrayLength} bytes of \`${field.name}\`. */`,
      `  ${name}At: ${field.offset},`,
      `  ${name}Length: ${field.arrayLength},`,
    ];
  }
  if (field.type === 'Int128') {
    return [
      `  ${name}: (v: Views, at: number): bigint => readInt128(v, at + ${field.offset}),`,
      `  ${setter}: (v: Views, at: number, value: bigint): void => writeInt128(v, at + ${field.offset}, value),`,
    ];
  }
  const access = ACCESS[field.type];
  if (access === undefined) throw new Error(`no access for ${field.type}`);
  const plain = field.offset === 0 ? 'at' : `(at + ${field.offset})`;
  const index = access.shift === 0 ? plain.replace(/^\((.*)\)$/, '$1') : `${plain} >>> ${access.shift}`;
  const cell = `v.${access.view}[${index}]`;
  return [
    ...(field.type === 'ulong' ? [`  ${name}At: ${field.offset},`] : []),
    `  ${name}: (v: Views, at: number): ${access.type} => ${cell} as ${access.type},`,
    `  ${setter}: (v: Views, at: number, value: ${access.type}): void => {`,
    `    ${cell} = value;`,
    '  },',
  ];
}

function structLines(struct: StructLayout): string[] {
  return [
    '',
    ...(struct.comment === '' ? [] : [`/** ${struct.comment.replaceAll('\n', ' ')} */`]),
    `export const ${struct.name} = {`,
    `  typeId: ${struct.typeId},`,
    `  bytes: ${struct.bytes},`,
    ...struct.fields.flatMap(fieldLines),
    '} as const;',
  ];
}

/** The text of the generated module. */
export function generate(schema: string): string {
  const messages = readSchema(schema).filter((struct) => struct.typeId !== 0);
  return `${[
    '/** Generated from schemas/messages.fbs by `npm run generate`. Do not edit. */',
    "import type { Views } from '../../core/views.ts';",
    "import { readInt128, writeInt128 } from '../int128.ts';",
    ...messages.flatMap(structLines),
  ].join('\n')}\n`;
}

function main(): void {
  const schema = readFileSync('schemas/messages.fbs', 'utf8');
  const target = 'src/schema/generated/messages.ts';
  const text = generate(schema);
  if (!process.argv.includes('--check')) {
    writeFileSync(target, text);
    return;
  }
  if (readFileSync(target, 'utf8') !== text) {
    process.stderr.write(`${target} is not what schemas/messages.fbs says: run npm run generate\n`);
    process.exitCode = 1;
  }
}

if (process.argv[1]?.endsWith('generate.js') === true) main();
