/**
 * Readers of replies, built from their shapes (codec/shapes/shape-kit.ts): what the documents give is what the SDK reads.
 *
 *   shape ─▶ replyReader: closures, built once ─▶ JSON tree ─▶ value with the names and types inside
 *
 * Members that the SDK does not have, and unknown ones, are skipped, so that a newer service can add some. A member that is
 * optional or may be null is null when it is absent; one that a service of before does not send has the value of `x-before`.
 * Forms of texts are not looked at, and words of an enumeration are unless it is open.
 *
 * The types of the values are those of the shapes, which the compiler checks. It loads in browsers: no Buffer, no TypeBox.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../codec/json-tree.ts';
import { isOptional, nameInside, type Shape } from '../codec/shapes/shape-kit.ts';
import { must } from '../core/assert.ts';
import { invalidResponse } from './errors.ts';

/** @param name the member whose value it is. @param value undefined when it is absent. */
type Read = (value: JsonValue | undefined, name: string) => unknown;

/** @param what the subject of an error. @throws RingbookError INVALID_RESPONSE for a value that does not fit. */
export function replyReader<Inside>(what: string, shape: Shape<unknown, Inside>): (value: JsonValue) => Inside {
  const read = readerFor(shape, what);
  return (value) => read(value, '') as Inside;
}

/**
 * Of an object with one tag, as events have it: its content, and the tag as its `kind`.
 *
 * @returns null for a tag unknown to this version: a newer service may have more.
 */
export function taggedReader(what: string, shape: Shape): (value: JsonValue) => Tagged | null {
  const reads = new Map(
    (shape['oneOf'] as readonly Shape[]).map(({ properties }) => {
      const [tag, content] = must(Object.entries(properties as Members)[0], 'a tag of a choice');
      return [tag, readerFor(content, what)] as const;
    }),
  );
  return (value) => {
    if (!isJsonObject(value) || value.size !== 1) throw invalidResponse(what, 'expected one tag');
    const [[kind, content] = ['', null]] = value;
    if (!isJsonObject(content)) throw invalidResponse(what, 'a tag holds an object');
    const read = reads.get(kind);
    return read === undefined ? null : { ...(read(content, '') as object), kind };
  };
}

export interface Tagged {
  readonly kind: string;
}

type Members = Readonly<Record<string, Shape>>;

function readerFor(shape: Shape, what: string): Read {
  const all = (shape['anyOf'] ?? shape['allOf']) as readonly Shape[] | undefined;
  if (all !== undefined) {
    const values = all.filter(({ type }) => type !== 'null');
    const read = readerFor(must(values[0], 'a shape of a value'), what);
    return values.length === all.length ? read : (value, name) => (isUnset(value) ? null : read(value, name));
  }
  switch (shape['type']) {
    case 'object':
      return shape['properties'] === undefined ? mapReader(shape, what) : objectReader(shape, what);
    case 'array': {
      const read = readerFor(shape['items'] as Shape, what);
      return (value, name) => {
        if (!Array.isArray(value)) return unfit(what, value, name, 'expected an array');
        return (value as readonly JsonValue[]).map((item) => read(item, name));
      };
    }
    case 'string':
      return textReader(shape, what);
    case 'integer':
      return integerReader(shape, what);
    default:
      return (value, name) => (typeof value === 'boolean' ? value : unfit(what, value, name, 'expected true or false'));
  }
}

function objectReader(shape: Shape, what: string): Read {
  const members = Object.entries(shape['properties'] as Members).flatMap(([name, member]) => {
    const inside = nameInside(name, member);
    return inside === '' ? [] : [{ name, inside, read: memberReader(member, isOptional(shape, name), what) }];
  });
  return (value, name) => {
    const object = objectOf(what, value, name);
    const made: Record<string, unknown> = {};
    for (const { name: member, inside, read } of members) made[inside] = read(object.get(member), member);
    return made;
  };
}

function memberReader(shape: Shape, isOptional: boolean, what: string): Read {
  const read = readerFor(shape, what);
  const before = shape['x-before'];
  if (before === undefined && !isOptional) return read;
  return (value, name) => (isUnset(value) ? (before ?? null) : read(value, name));
}

function mapReader(shape: Shape, what: string): Read {
  const read = readerFor(shape['additionalProperties'] as Shape, what);
  const isByNumber = shape['x-as'] === 'by number';
  return (value, name) =>
    new Map(
      [...objectOf(what, value, name)].map(([key, member]) => [isByNumber ? Number(key) : key, read(member, key)]),
    );
}

const WHOLE_FORM = /^(?:0|[1-9][0-9]{0,77})$/;
const HEX_FORM = /^0x[0-9a-f]{1,64}$/;

function textReader(shape: Shape, what: string): Read {
  const type = shape['x-as'];
  if (type === 'whole') return amountReader(what, WHOLE_FORM, 'expected a base-10 integer');
  if (type === 'hex amount') return amountReader(what, HEX_FORM, 'expected 0x hex');
  const words = type === 'open word' ? undefined : (shape['enum'] as readonly string[] | undefined);
  return (value, name) => {
    if (typeof value !== 'string') return unfit(what, value, name, 'expected a string');
    if (words?.includes(value) === false) return unfit(what, value, name, `expected one of ${words.join(', ')}`);
    return value;
  };
}

function amountReader(what: string, form: RegExp, expected: string): Read {
  return (value, name) =>
    typeof value === 'string' && form.test(value) ? BigInt(value) : unfit(what, value, name, expected);
}

function integerReader(shape: Shape, what: string): Read {
  const isLong = shape['format'] === 'uint64' || shape['x-as'] === 'u64';
  const min = (shape['minimum'] as number | undefined) ?? Number.MIN_SAFE_INTEGER;
  const max = (shape['maximum'] as number | undefined) ?? Number.MAX_SAFE_INTEGER;
  const [from, to] = isLong ? [0n, (1n << 64n) - 1n] : [BigInt(min), BigInt(max)];
  return (value, name) => {
    if (typeof value !== 'bigint' || value < from || value > to)
      return unfit(what, value, name, `expected an integer from ${from} to ${isLong ? '2^64-1' : to}`);
    return isLong ? value : Number(value);
  };
}

function isUnset(value: JsonValue | undefined): value is null | undefined {
  return value === null || value === undefined;
}

function objectOf(what: string, value: JsonValue | undefined, name: string): JsonObject {
  if (value !== undefined && isJsonObject(value)) return value;
  return unfit(what, value, name, 'expected an object');
}

function unfit(what: string, value: JsonValue | undefined, name: string, expected: string): never {
  const reason = value === undefined ? 'a missing member' : expected;
  throw invalidResponse(what, name === '' ? reason : `${reason} (${name})`);
}
