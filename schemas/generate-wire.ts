/**
 * Writes what reads and writes the hot requests, from their shapes (src/codec/shapes/order-shapes.ts) and the tables of
 * schemas/control.fbs:
 *
 *   src/codec/generated/order-json.ts    the requests inside the node, readers over JsonCursor, canonical texts
 *   src/codec/generated/order-tables.ts      readers of the tables of /control in FlatBuffers
 *   src/client/generated/order-table-writers.ts     writers of those tables, for the SDK
 *
 * A request is a wrapper around one object, its terms. Alternatives of a shape are read as one: a member that one of them
 * lacks may be absent, and is null and left out of the signed text then. An object inside of them has no object of its own
 * in the node: its members stand among those around it. Which members go together is a rule written by hand (order-rules.ts).
 *
 * wire-types.ts has the types of the members. A member that no field of its table carries, and a field that no member gives,
 * are errors here.
 */
import { readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import {
  AMEND_REQUEST,
  CANCEL_REQUEST,
  CREATE_REQUEST,
  QUOTE_SET_REQUEST,
  REPLACE_REQUEST,
} from '../src/codec/shapes/order-shapes.ts';
import { camel, capital, comment, constant } from './names.ts';
import { fieldsOfTables } from './tables.ts';
import { plainType, WIRE_TYPES, type WireType } from './wire-types.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Action {
  /** Of its table; the request is called `<name>Request`. */
  readonly name: string;
  readonly shape: Schema;
  /** The member with the terms, and their type. */
  readonly terms: string;
  readonly type: string;
  /** Functions that find a MemberFault in terms and wrapper. */
  readonly rules?: { readonly terms: string; readonly wrapper: string };
}

const ACTIONS: readonly Action[] = [
  { name: 'Create', shape: CREATE_REQUEST, terms: 'order', type: 'SignedOrder' },
  {
    name: 'Replace',
    shape: REPLACE_REQUEST,
    terms: 'request',
    type: 'SignedReplace',
    rules: { terms: 'replaceTermsFault', wrapper: 'replaceMarketFault' },
  },
  { name: 'Cancel', shape: CANCEL_REQUEST, terms: 'cancel', type: 'SignedCancel' },
  { name: 'Amend', shape: AMEND_REQUEST, terms: 'request', type: 'AmendTerms' },
  { name: 'QuoteSet', shape: QUOTE_SET_REQUEST, terms: 'quotes', type: 'SignedQuoteSet' },
];

/** What every request has behind its own members, as far as these are not the same (SignedRequest). */
const COMMON: Readonly<Record<string, string>> = {
  signature: 'NO_BYTES',
  additionalSigners: 'NO_SIGNERS',
  postSignNs: '0n as TimestampNs',
  fault: 'null',
  text: 'NO_BYTES',
};

/** Deliberate bugs of test/mutants: how the statement of the output begins before which their mark stands. */
const SITES: Readonly<Record<string, string>> = {
  'text.ascii(\'},"reduce_only":\');': 'order-of-signed-members',
  'if (order.trigger === null)': 'null-of-an-unset-member',
  'export const SIGNED_CANCEL': 'unknown-signed-member',
  'order.maxTradingFeesRate = cursor': 'bounds-of-a-member',
};

// ---- shapes

interface Member {
  readonly wire: string;
  /** In the node; '' for one that is only checked. */
  readonly name: string;
  readonly schemas: readonly Schema[];
  readonly isOptional: boolean;
  /** Whether null is read. */
  readonly isNullable: boolean;
  /** Whether null is left out of the signed text. */
  readonly isLeftOut: boolean;
  /** Its value when it is absent, if that is neither null nor the one of its type. */
  readonly initial: string | null;
  readonly note: string;
}

interface Request extends Action {
  readonly wrapper: readonly Member[];
  /** The member of the wrapper that has the terms, and their members. */
  readonly inner: Member;
  readonly members: readonly Member[];
}

function requestOf(action: Action): Request {
  const wrapper = membersOf([action.shape]);
  const inner = wrapper.find(({ wire }) => wire === action.terms);
  if (inner === undefined) throw new Error(`${action.name} has no member ${action.terms}`);
  return { ...action, wrapper, inner, members: membersOf(inner.schemas) };
}

/** The members of an object of any of these schemas, in order. */
function membersOf(schemas: readonly Schema[]): readonly Member[] {
  const objects = schemas.flatMap(alternativesOf).map(({ properties, required = [] }) => ({
    properties: properties as Readonly<Record<string, Schema>>,
    required: required as readonly string[],
  }));
  const names: string[] = [];
  for (const { properties } of objects) {
    for (const [index, name] of Object.keys(properties).entries()) {
      const before = Object.keys(properties)[index - 1];
      if (!names.includes(name)) names.splice(before === undefined ? 0 : names.indexOf(before) + 1, 0, name);
    }
  }
  return names.map((wire) => {
    const having = objects.filter(({ properties }) => wire in properties);
    const found = having.map(({ properties }) => properties[wire] as Schema);
    const isLeftOut = having.length < objects.length || wordOf(found, 'x-unset') !== undefined;
    const isOptional = isLeftOut || having.some(({ required }) => !required.includes(wire));
    return {
      wire,
      name: wordOf(found, 'x-inside') ?? camel(wire),
      schemas: found,
      isOptional,
      isNullable: found.some((schema) => alternativesOf(schema).some(({ type }) => type === 'null')),
      isLeftOut,
      initial: found.every((schema) => 'default' in schema) ? JSON.stringify(found[0]?.['default']) : null,
      note: wordOf(found, 'description') ?? '',
    };
  });
}

function innerOf(schema: Schema): readonly Schema[] {
  return (schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf'] ?? []) as readonly Schema[];
}

function alternativesOf(schema: Schema): readonly Schema[] {
  return innerOf(schema).length === 0 ? [schema] : innerOf(schema).flatMap(alternativesOf);
}

/** The word of the first schema that has it, from outside in. */
function wordOf(schemas: readonly Schema[], word: string): string | undefined {
  return schemas
    .map((schema) => (schema[word] as string | undefined) ?? wordOf(innerOf(schema), word))
    .find((found) => found !== undefined);
}

/** The type of a member; null for an object whose members stand among those around it. */
function typeOrNull({ wire, schemas }: Member): WireType | null {
  const word = wordOf(schemas, 'x-as');
  const [plain = {}] = schemas.flatMap(alternativesOf);
  const type = word === undefined ? plainType(plain) : WIRE_TYPES[word];
  if (type === undefined) throw new Error(`${wire}: no type is called ${word}`);
  if (type === null && plain['type'] !== 'object') throw new Error(`${wire}: its shape needs a type`);
  return type;
}

function typeOf(member: Member): WireType {
  return typeOrNull(member) ?? fail(`${member.wire} has no type`);
}

function mayBeNull(member: Member): boolean {
  return (member.isNullable || member.isLeftOut) && typeOf(member).isNeverNull !== true;
}

function insideType(member: Member): string {
  return `${typeOf(member).type}${mayBeNull(member) ? ' | null' : ''}`;
}

/** The value of an absent member. @throws Error for one that may be absent and then means nothing. */
function noneOf(member: Member): string {
  const { wire, isOptional, initial } = member;
  const type = typeOf(member);
  if (mayBeNull(member)) return 'null';
  if (isOptional && initial === null && type.isNeverNull !== true) throw new Error(`${wire}: absent, it means nothing`);
  return initial ?? type.none;
}

/** The members in the node, those of objects in place of the objects. */
function kept(members: readonly Member[]): readonly Member[] {
  return members.flatMap((member) => {
    if (member.name === '') return [];
    return typeOrNull(member) === null ? kept(membersOf(member.schemas)) : [member];
  });
}

function besides({ wrapper, inner }: Request): readonly Member[] {
  return kept(wrapper.filter((member) => member !== inner));
}

function fail(message: string): never {
  throw new Error(message);
}

function sentence(note: string): string {
  return note === '' || note.endsWith('…') ? note : `${capital(note)}.`;
}

function lower(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

// ---- requests and their readers

function typeLines(request: Request): readonly string[] {
  const { name, type, shape, inner, members } = request;
  const line = (member: Member): readonly string[] => [
    ...comment(sentence(member.note), '  '),
    `  readonly ${member.name}: ${insideType(member)};`,
  ];
  const own = besides(request).filter((member) => !(member.name in COMMON));
  return [
    ...['', ...comment(sentence(inner.note)), `export interface ${type} {`, ...kept(members).flatMap(line), '}'],
    ...[
      '',
      ...comment(sentence(wordOf([shape], 'description') ?? '')),
      `export interface ${name}Request extends SignedRequest {`,
    ],
    ...[`  readonly ${inner.name}: ${type};`, ...own.flatMap(line), '}'],
  ];
}

function shapeLines(name: string, schemas: readonly Schema[]): readonly string[] {
  const members = membersOf(schemas);
  const isClosed = schemas.flatMap(alternativesOf).every((schema) => schema['additionalProperties'] === false);
  const type = members.map(({ wire }) => `'${wire}'`).join(' | ');
  const names = members.map(({ wire, isOptional }) => `  '${wire}${isOptional ? '?' : ''}',`);
  const head = `export const ${constant(name)}: ObjectShape<${type}> = objectShape('${isClosed ? 'refuse' : 'skip'}', [`;
  return ['', head, ...names, ']);'];
}

function noneLines(request: Request): readonly string[] {
  const { name, type, inner, members } = request;
  const value = (member: Member): string => `  ${member.name}: ${noneOf(member)},`;
  const own = besides(request);
  const none = `NO_${constant(type)}`;
  const common = commonLines(own).map((line) => `  ${line}`);
  return [
    ...['', `const ${none}: ${type} = {`, ...kept(members).map(value), '};'],
    ...[
      '',
      `const NO_${constant(name)}: ${name}Request = {`,
      `  ${inner.name}: ${none},`,
      ...own.map(value),
      ...common,
    ],
    '};',
  ];
}

/** The common members that the request does not give itself. */
function commonLines(own: readonly Member[]): readonly string[] {
  return Object.entries(COMMON).flatMap(([name, none]) =>
    own.some((member) => member.name === name) ? [] : [`${name}: ${none},`],
  );
}

/** The statement that reads a member at the cursor. @param to the object that takes its value. */
function readStatement(member: Member, to: string): string {
  const type = typeOrNull(member);
  if (type === null) {
    const values = kept(membersOf(member.schemas)).map((one) => `${one.name}: ${noneOf(one)}`);
    return `read${capital(camel(member.wire))}(cursor, ${member.name === '' ? `{ ${values.join(', ')} }` : to});`;
  }
  if (member.name === '') return member.isNullable ? `if (!cursor.readNull()) ${type.read};` : `${type.read};`;
  const takesNull = mayBeNull(member) && member.isNullable;
  return `${to}.${member.name} = ${takesNull ? `cursor.readNull() ? null : ${type.read}` : type.read};`;
}

/** Reads the members of an object. @param statements by their names on the wire. */
function loopLines(shape: string, statements: readonly (readonly [string, string])[]): readonly string[] {
  return [
    '  cursor.enterObject();',
    `  for (let name = cursor.nextMember(${shape}); name !== null; name = cursor.nextMember(${shape})) {`,
    '    switch (name) {',
    ...statements.flatMap(([wire, statement]) => [`      case '${wire}':`, `        ${statement}`, '        break;']),
    ...['      default:', '        unreachable(name);', '    }', '  }'],
  ];
}

function ruleLines(rule: string | undefined, value: string): readonly string[] {
  if (rule === undefined) return [];
  return [`  const fault = ${rule}(${value});`, '  if (fault !== null) cursor.failInside(fault.message, fault.field);'];
}

function readerLines({ name, type, inner, wrapper, members, rules }: Request): readonly string[] {
  const terms = members.map((member) => [member.wire, readStatement(member, inner.name)] as const);
  const all = wrapper.map((member) => {
    const isInner = member === inner;
    return [
      member.wire,
      isInner ? `request.${inner.name} = read${type}(cursor);` : readStatement(member, 'request'),
    ] as const;
  });
  return [
    ...['', '/** After a failure of the cursor its members are undefined, as those of every object here. */'],
    `export function read${type}(cursor: JsonCursor): ${type} {`,
    `  const ${inner.name}: Draft<${type}> = { ...NO_${constant(type)} };`,
    ...[...loopLines(constant(type), terms), ...ruleLines(rules?.terms, inner.name), `  return ${inner.name};`, '}'],
    ...['', '/** Without its fault and its text. */'],
    `export function read${name}Members(cursor: JsonCursor): Draft<${name}Request> {`,
    `  const request: Draft<${name}Request> = { ...NO_${constant(name)} };`,
    ...[...loopLines(constant(name), all), ...ruleLines(rules?.wrapper, 'request'), '  return request;', '}'],
  ];
}

/** Readers of the objects whose members stand among those around them, one of each name. */
function spreadLines(requests: readonly Request[]): readonly string[] {
  const all = requests.flatMap(({ members, wrapper, inner }) => [
    ...members,
    ...wrapper.filter((member) => member !== inner),
  ]);
  const spread = new Map(all.flatMap((member) => (typeOrNull(member) === null ? [[member.wire, member.schemas]] : [])));
  return [...(spread as ReadonlyMap<string, readonly Schema[]>)].flatMap(([wire, schemas]) => {
    const members = membersOf(schemas);
    const taken = kept(members).map((member) => `${member.name}: ${insideType(member)}`);
    return [
      ...shapeLines(wire, schemas),
      ...['', `function read${capital(camel(wire))}(cursor: JsonCursor, to: { ${taken.join('; ')} }): void {`],
      ...loopLines(
        constant(wire),
        members.map((member) => [member.wire, readStatement(member, 'to')]),
      ),
      '}',
    ];
  });
}

// ---- canonical texts

/** The text of an object as in wire-types.ts: its members in order, those in objects under their names. */
function objectText(members: readonly Member[], value: string): string {
  const parts = members.map((member, index) => {
    const lead = `${index === 0 ? '' : ','}"${member.wire}":`;
    const type = typeOrNull(member);
    if (type === null) return lead + objectText(membersOf(member.schemas), value);
    const place = `${value}.${member.name}`;
    const text = (type.text ?? fail(`${member.wire} is never signed`)).replaceAll('@', place);
    if (!mayBeNull(member)) return lead + text;
    if (!member.isLeftOut) return `${lead}«if (${place} === null) {»null«} else {»${text}«}»`;
    return `«if (${place} !== null) {»${lead}${text}«}»`;
  });
  return `{${parts.join('')}}`;
}

function writerLines({ type, inner, members }: Request): readonly string[] {
  const head = `export function write${type}(text: TextWriter, ${inner.name}: ${type}): void {`;
  const lines = ['', '/** Its canonical text; the object has no fault. */', head];
  let indent = '  ';
  for (const [index, part] of objectText(members, inner.name).split(/[«»]/).entries()) {
    if (part === '') continue;
    if (part.startsWith('}') && index % 2 === 1) indent = indent.slice(2);
    lines.push(indent + (index % 2 === 1 ? part : `text.ascii('${part}');`));
    if (part.endsWith('{') && index % 2 === 1) indent += '  ';
  }
  return [...lines, '}'];
}

// ---- tables

type Tables = ReadonlyMap<string, ReadonlySet<string>>;

/** The template of a member for its table. */
function filled(template: string | undefined, table: string, member: Member, value = ''): string {
  if (template === undefined) throw new Error(`${member.wire} has no place in a table`);
  const [first = '', second = ''] = fieldNames(member).map((field) => `${table}.${field}`);
  return template
    .replaceAll('$1', first)
    .replaceAll('$2', second)
    .replaceAll('#', `'${member.wire}'`)
    .replaceAll('@', value);
}

function fieldNames(member: Member): readonly string[] {
  return typeOf(member).fields?.(camel(member.wire)) ?? [camel(member.wire)];
}

/** @throws Error for a member that no field of the table carries, and a field that no member gives. */
function checkFields(request: Request, tables: Tables): void {
  const given = new Set([...kept(request.members), ...besides(request)].flatMap(fieldNames));
  const fields = tables.get(request.name) ?? new Set<string>();
  const odd = [...given, ...fields].filter((name) => !given.has(name) || !fields.has(name));
  if (odd.length > 0) throw new Error(`members and the table ${request.name} differ in ${odd.join(', ')}`);
}

function tableReader(request: Request): readonly string[] {
  const { name, inner, members, rules } = request;
  const line = (member: Member): string => {
    const { at, atOrNull } = typeOf(member);
    return `    ${member.name}: ${filled(mayBeNull(member) ? atOrNull : at, name, member)},`;
  };
  const others = besides(request);
  return [
    ...['', '/** After a fault of the frame its members are undefined. */'],
    ...[`export function ${lower(name)}At(at: number): Draft<${name}Request> {`, `  const ${inner.name} = {`],
    ...[...kept(members).map(line), '  };'],
    ...(rules === undefined ? [] : [`  refuseMember(${rules.terms}(${inner.name}));`]),
    ...['  return {', `    ${inner.name},`, ...others.map(line)],
    ...[...commonLines(others).map((one) => `    ${one}`), '  };', '}'],
  ];
}

function tableWriter(request: Request): readonly string[] {
  const { name, inner, members } = request;
  const line = (value: string) => (member: Member) => {
    const { put, putOrNull } = typeOf(member);
    return `    ${filled(mayBeNull(member) ? putOrNull : put, name, member, `${value}.${member.name}`)},`;
  };
  return [
    ...['', '/** @returns its offset. */'],
    `export function ${lower(name)}Table(builder: Builder, request: ${name}Request): number {`,
    ...(inner.name === 'request' ? [] : [`  const { ${inner.name} } = request;`]),
    `  return tableOf(builder, ${name}.table, [`,
    ...kept(members).map(line(inner.name === 'request' ? 'request.request' : inner.name)),
    ...[...besides(request).map(line('request')), '  ]);', '}'],
  ];
}

// ---- modules

/** Where the names of a module may come from, by path below src. */
const ORIGINS: Readonly<Record<string, readonly string[]>> = {
  'codec/generated/order-json.ts': [
    ...['core/assert.ts', 'core/ids.ts', 'core/order-terms.ts', 'core/units.ts', 'codec/decode-text.ts'],
    ...['codec/json-cursor.ts', 'codec/json-shape.ts', 'codec/order-details.ts', 'codec/order-actions.ts'],
    ...['codec/order-rules.ts', 'codec/quote-entries.ts', 'codec/signatures.ts', 'codec/signed-text.ts'],
    'codec/text-writer.ts',
  ],
  'codec/generated/order-tables.ts': [
    ...['core/ids.ts', 'core/units.ts', 'codec/decode-text.ts', 'codec/flat-members.ts', 'codec/order-rules.ts'],
    ...['codec/generated/control-tables.ts', 'codec/generated/order-json.ts', 'codec/signatures.ts'],
    'codec/text-writer.ts',
  ],
  'client/generated/order-table-writers.ts': [
    ...['codec/generated/control-tables.ts', 'codec/generated/order-json.ts', 'client/table-writer.ts'],
  ],
};
const EXPORT_FORM = /^export (const|function|class|interface|type) (\w+)/gm;

/** Imports of the exported names that stand in the text. @param made modules that were generated before. */
function importLines(target: string, text: string, made: ReadonlyMap<string, string>): readonly string[] {
  const words = new Set(text.replaceAll(/'[^'\n]*'|\/\*\*.*\*\//g, '').match(/(?<![.\w])[A-Za-z_]\w*/g));
  return (ORIGINS[target] ?? []).flatMap((origin) => {
    const source = made.get(origin) ?? readFileSync(`src/${origin}`, 'utf8');
    const names = [...source.matchAll(EXPORT_FORM)].flatMap(([, kind = '', name = '']) =>
      words.has(name) ? [kind === 'const' || kind === 'function' ? name : `type ${name}`] : [],
    );
    const list = names.every((name) => name.startsWith('type '))
      ? `type { ${names.join(', ').replaceAll('type ', '')} }`
      : `{ ${names.join(', ')} }`;
    const path = relative(dirname(target), origin);
    return names.length === 0 ? [] : [`import ${list} from '${path.replace(/^(?!\.)/, './')}';`];
  });
}

function moduleText(target: string, lines: readonly string[], made: ReadonlyMap<string, string>): string {
  const marked = lines.flatMap((line) => {
    const site = Object.entries(SITES).find(([start]) => line.trimStart().startsWith(start))?.[1];
    return site === undefined ? [line] : [`${/^ */.exec(line)?.[0]}// mutant: ${site}`, line];
  });
  return `${[
    '/** Generated from src/codec/shapes/order-shapes.ts and schemas/control.fbs by `npm run generate`. Do not edit. */',
    ...(target.startsWith('client') ? ["import type { Builder } from 'flatbuffers';"] : []),
    ...importLines(target, lines.join('\n'), made),
    ...marked,
  ].join('\n')}\n`;
}

/** The generated modules by path below src. @param schema of the tables. @throws Error for a shape that has no readers. */
export function generateWire(schema: string): ReadonlyMap<string, string> {
  const requests = ACTIONS.map(requestOf);
  const tables = fieldsOfTables(schema);
  for (const request of requests) checkFields(request, tables);
  const each = (lines: (request: Request) => readonly string[]): readonly string[] => requests.flatMap(lines);
  const made = new Map<string, string>();
  const make = (target: string, lines: readonly string[]): unknown => made.set(target, moduleText(target, lines, made));
  make('codec/generated/order-json.ts', [
    ...each(typeLines),
    ...each(({ name, shape, type, inner }) => [...shapeLines(name, [shape]), ...shapeLines(type, inner.schemas)]),
    ...each(noneLines),
    ...spreadLines(requests),
    ...each(readerLines),
    ...each((request) => (request.type.startsWith('Signed') ? writerLines(request) : [])),
  ]);
  make('codec/generated/order-tables.ts', each(tableReader));
  make('client/generated/order-table-writers.ts', each(tableWriter));
  return made;
}
