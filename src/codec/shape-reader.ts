/**
 * Readers of requests, built from their shapes (shapes/shape-kit.ts): they read at a cursor, so the first fault of a text is
 * the one that is reported, and give a value with the names and types inside the node.
 *
 *   shape ─▶ readerOf: closures, built when the first request of the shape comes ─▶ cursor ─▶ value, or the cursor's fault
 *
 * The value of an object: a member by its `x-inside` name or its own in camel case; its default, else null, for an optional
 * one that is absent, and undefined for one that a signed text leaves out. Objects that are alternatives of each other are
 * read as one object with the members of all; the members that stand in all of them are required.
 *
 * A list without a bound in its shape has COLD_VALUES_MAX. Orders have generated readers.
 */
import type { TSchema } from '@sinclair/typebox';
import { assert, must } from '../core/assert.ts';
import { COLD_VALUES_MAX } from '../core/limits.ts';
import type { Outcome } from '../core/outcome.ts';
import { decodeText } from './decode-text.ts';
import type { JsonCursor, JsonKind } from './json-cursor.ts';
import { choiceShape, objectShape } from './json-shape.ts';
import { alternativesOf, type DomainTypes, isOptional, nameInside, type Shape } from './shapes/shape-kit.ts';
import { readAdditionalSigners, readSignature, readSignerKey } from './signatures.ts';
import {
  readAddress,
  readAsset,
  readChain,
  readToken,
  readU256Text,
  readUser,
  STRING_DECODED_MAX,
} from './signed-text.ts';

/** Reads a value at the cursor; after a fault the value is of no use. */
type Read = (cursor: JsonCursor) => unknown;

const DOMAIN_READERS: { readonly [Name in keyof DomainTypes]: (cursor: JsonCursor) => DomainTypes[Name] } = {
  user: readUser,
  asset: readAsset,
  token: readToken,
  address: readAddress,
  chain: readChain,
  nanoseconds: (cursor) => cursor.readTime(),
  signature: readSignature,
  'signer key': readSignerKey,
  'co-signers': readAdditionalSigners,
  'u256 text': readU256Text,
};

const readers = new WeakMap<TSchema, Read>();

/** The reader of a shape. What it gives is checked against the shape by the compiler. */
function readerOf<Inside>(shape: Shape<unknown, Inside>): (cursor: JsonCursor) => Inside {
  let read = readers.get(shape);
  if (read === undefined) {
    read = readerFor(shape, null);
    readers.set(shape, read);
  }
  return read as (cursor: JsonCursor) => Inside;
}

/** Reads one value of a shape at the cursor, which holds the fault of one that is none. */
export function readShape<Inside>(cursor: JsonCursor, shape: Shape<unknown, Inside>): Inside {
  return readerOf(shape)(cursor);
}

/** Reads bytes[start … end) as one value of a shape. @returns INVALID_REQUEST with the member of the first fault. */
export function decodeShape<Inside>(
  shape: Shape<unknown, Inside>,
  bytes: Uint8Array,
  start = 0,
  end: number = bytes.length,
): Outcome<Inside> {
  return decodeText(bytes, start, end, readerOf(shape));
}

/** @param field the member whose value it is; null for none. */
function readerFor(shape: TSchema, field: string | null): Read {
  const type = shape['x-as'] as keyof DomainTypes | undefined;
  if (type !== undefined) return must(DOMAIN_READERS[type], `a reader of ${type}`);
  const alternatives = alternativesOf(shape);
  if (alternatives.length > 1) return unionReader(alternatives, field);
  const only = must(alternatives[0], 'a shape has an alternative');
  if (only !== shape) return readerFor(only, field);
  switch (shape['type']) {
    case 'object':
      return objectReader([shape]);
    case 'array':
      return listReader(shape, field);
    case 'string':
      return textReader(shape);
    case 'integer':
      return integerReader(shape);
    case 'boolean':
      return (cursor) => cursor.readBoolean();
    case 'null':
      return readNull;
    default:
      throw new Error(`no requests have a ${String(shape['type'])}`);
  }
}

function readNull(cursor: JsonCursor): null {
  if (!cursor.readNull()) cursor.fail('expected null');
  return null;
}

// ---- alternatives

/** Alternatives differ by the kind of their JSON value, but for objects. */
function unionReader(alternatives: readonly TSchema[], field: string | null): Read {
  const objects = alternatives.filter(({ type }) => type === 'object');
  const others = alternatives.filter(({ type }) => type !== 'object' && type !== 'null');
  const takesNull = objects.length + others.length < alternatives.length;
  const byKind = new Map<JsonKind, Read>();
  for (const shape of others) {
    const kind = shape['type'] === 'integer' ? 'number' : (shape['type'] as JsonKind);
    assert(!byKind.has(kind), 'alternatives of a request differ by their kind');
    byKind.set(kind, readerFor(shape, field));
  }
  if (objects.length > 0) byKind.set('object', isChoice(objects) ? choiceReader(objects) : objectReader(objects));
  const [only] = byKind.values();
  const read = byKind.size === 1 && only !== undefined ? only : readByKind(byKind);
  return takesNull ? (cursor) => (cursor.readNull() ? null : read(cursor)) : read;
}

function readByKind(byKind: ReadonlyMap<JsonKind, Read>): Read {
  const expected = [...byKind.keys()].join(' or ');
  return (cursor) => {
    const read = byKind.get(cursor.kind());
    if (read !== undefined) return read(cursor);
    cursor.fail(`expected ${expected}`);
    return null;
  };
}

/** Objects of one member each. */
function isChoice(objects: readonly TSchema[]): boolean {
  return objects.every((shape) => {
    const names = Object.keys(propertiesOf(shape));
    return names.length === 1 && shape['additionalProperties'] === false && !isOptional(shape, names[0] as string);
  });
}

function choiceReader(objects: readonly TSchema[]): Read {
  const members = objects.flatMap((shape) => Object.entries(propertiesOf(shape)));
  const form = choiceShape(members.map(([tag]) => tag));
  const read = new Map(members.map(([tag, shape]) => [tag, readerFor(shape, tag)]));
  return (cursor) => {
    let value: unknown = null;
    cursor.enterObject();
    for (let tag = cursor.nextMember(form); tag !== null; tag = cursor.nextMember(form)) {
      value = { [tag]: read.get(tag)?.(cursor) };
    }
    return value;
  };
}

// ---- objects and lists

interface Member {
  readonly name: string;
  readonly read: Read;
}

/** @param shapes one, or alternatives of each other. */
function objectReader(shapes: readonly TSchema[]): Read {
  const properties: Readonly<Record<string, TSchema>> = Object.assign({}, ...[...shapes].reverse().map(propertiesOf));
  const sent = (shapes[0]?.['x-sent'] ?? []) as readonly string[];
  // mutant: order-of-missing-members
  const names = [...new Set([...sent, ...shapes.flatMap((shape) => Object.keys(propertiesOf(shape)))])];
  const members = new Map<string, Member>();
  const absent: Record<string, unknown> = {};
  const spellings = names.map((name) => {
    const shape = must(properties[name], name);
    const inner = nameInside(name, shape);
    members.set(name, { name: inner, read: readerFor(shape, name) });
    if (inner !== '') absent[inner] = valueOfAbsent(shape);
    return shapes.some((one) => isOptional(one, name)) ? `${name}?` : name;
  });
  // mutant: unknown-members-of-shapes
  const form = objectShape(shapes[0]?.['additionalProperties'] === false ? 'refuse' : 'skip', spellings);
  return (cursor) => {
    const value = { ...absent };
    cursor.enterObject();
    for (let name = cursor.nextMember(form); name !== null; name = cursor.nextMember(form)) {
      const member = members.get(name) as Member;
      const read = member.read(cursor);
      if (member.name !== '') value[member.name] = read;
    }
    return value;
  };
}

function valueOfAbsent(shape: TSchema): unknown {
  // mutant: absent-is-not-null
  return shape['default'] ?? (shape['x-unset'] === undefined ? null : undefined);
}

function propertiesOf(shape: TSchema): Readonly<Record<string, TSchema>> {
  return must(shape['properties'], 'an object of a request has members') as Readonly<Record<string, TSchema>>;
}

function listReader(shape: TSchema, field: string | null): Read {
  const least = (shape['minItems'] ?? 0) as number;
  const most = shape['maxItems'] as number | undefined;
  const countMax = most ?? COLD_VALUES_MAX;
  const tooMany = most === undefined ? 'too many values' : `expected at most ${most} items`;
  const item = must(shape['items'] as TSchema | undefined, 'a list has a shape of its items');
  const readItem = readerFor(item, field);
  const hasObjects = item['type'] === 'object';
  return (cursor) => {
    const items: unknown[] = [];
    cursor.enterArray();
    while (cursor.nextItem()) {
      // mutant: bound-of-lists
      if (items.length === countMax) cursor.fail(tooMany, field);
      // The cursor would name the last member of the object before.
      else if (hasObjects && cursor.kind() !== 'object') cursor.fail('expected an object', field);
      else items.push(readItem(cursor));
    }
    if (items.length < least) cursor.fail(`expected at least ${least} items`, field);
    return items;
  };
}

// ---- texts and integers

function textReader(shape: TSchema): Read {
  const words = shape['enum'] as readonly string[] | undefined;
  const least = (shape['minLength'] ?? 0) as number;
  const most = (shape['maxLength'] ?? STRING_DECODED_MAX) as number;
  const pattern = shape['pattern'] as string | undefined;
  const form = pattern === undefined ? null : new RegExp(pattern, 'u');
  const described = shape['description'] as string | undefined;
  const expected = words === undefined ? (described ?? 'another text') : `one of ${words.join(', ')}`;
  return (cursor) => {
    const text = cursor.readString(most);
    const fits = text.length >= least && (form?.test(text) ?? true) && (words?.includes(text) ?? true);
    if (!fits) cursor.fail(`expected ${expected}`);
    return text;
  };
}

function integerReader(shape: TSchema): Read {
  if (shape['format'] === 'uint64') return (cursor) => cursor.readU64();
  assert(shape['format'] === undefined, 'integers of requests are from 0 to 2^64-1, or safe');
  const least = (shape['minimum'] ?? Number.MIN_SAFE_INTEGER) as number;
  const most = (shape['maximum'] ?? Number.MAX_SAFE_INTEGER) as number;
  return (cursor) => cursor.readInteger(least, most);
}
