/**
 * Validates a value of a JSON tree against its shape and converts it into the value of the shape's type (shape-kit.ts): the
 * page checks what it is about to sign, tests check replies. Requests are read without a tree (shape-reader.ts); a test
 * compares both. No value passes through a double: integers come as bigints from the lossless tree and become numbers only
 * where the shape keeps them within 2^53.
 *
 * Supported: type, properties, required, additionalProperties, propertyNames, items and their counts, enum, const,
 * pattern, string lengths, minimum, maximum, the formats int64 and uint64, not (a range of integers), anyOf, oneOf, allOf. Anything else in a
 * shape is a fault of the shape and throws.
 */
import type { TSchema } from '@sinclair/typebox';
import { assert } from '../../core/assert.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import { isJsonObject, JsonFraction, type JsonObject, type JsonValue } from '../json-tree.ts';
import { INNER_WORDS, type Shape } from './shape-kit.ts';

interface ShapeRules {
  /**
   * Treatment of unknown members, unless the object's shape defines it. Default `skip`; tests of replies use `refuse`.
   */
  readonly strangers?: 'skip' | 'refuse';
}

/** A fault: the member and its expected form. */
class Fault {
  readonly field: string | undefined;
  readonly expected: string;
  /** Depth of the fault in the value: of several faults the deepest is the most specific. */
  readonly depth: number;

  constructor(field: string | undefined, expected: string, depth: number) {
    this.field = field;
    this.expected = expected;
    this.depth = depth;
  }
}

interface Place {
  readonly field: string | undefined;
  readonly depth: number;
  readonly rules: ShapeRules;
}

const KNOWN = new Set([
  ...(
    'not type properties required additionalProperties propertyNames items minItems maxItems enum const pattern minLength ' +
    'maxLength minimum maximum format anyOf oneOf allOf title description default examples deprecated x-unset'
  ).split(' '),
  ...INNER_WORDS,
]);

/** Validates a value of a tree against a shape. */
export function checkShape<T>(shape: Shape<T>, value: JsonValue, rules: ShapeRules = {}): Outcome<T> {
  const read = convert(shape, value, { field: undefined, depth: 0, rules });
  return read instanceof Fault ? rejected(rejectOf(read)) : accepted(read as T);
}

function rejectOf(fault: Fault): Reject {
  return reject('INVALID_REQUEST', fault.expected, fault.field);
}

function convert(shape: TSchema, value: JsonValue, at: Place): unknown {
  for (const word of Object.keys(shape)) assert(KNOWN.has(word), `a shape says ${word}, which no reader handles`);
  const all = shape['allOf'] as readonly TSchema[] | undefined;
  if (all !== undefined) return convert(only(all), value, at);
  const union = (shape['anyOf'] ?? shape['oneOf']) as readonly TSchema[] | undefined;
  if (union !== undefined) return convertUnion(union, value, at);
  if ('const' in shape)
    return value === shape['const'] ? value : fault(at, `expected ${JSON.stringify(shape['const'])}`);
  switch (shape['type']) {
    case 'object':
      return isJsonObject(value) ? convertObject(shape, value, at) : fault(at, 'expected an object');
    case 'array':
      return isArray(value) ? convertArray(shape, value, at) : fault(at, 'expected an array');
    case 'string':
      return typeof value === 'string' ? checkText(shape, value, at) : fault(at, 'expected a string');
    case 'integer':
      return typeof value === 'bigint' ? checkInteger(shape, value, at) : fault(at, 'expected an integer');
    case 'number':
      return isNumber(value) ? value : fault(at, 'expected a number');
    case 'boolean':
      return typeof value === 'boolean' ? value : fault(at, 'expected true or false');
    case 'null':
      return value === null ? null : fault(at, 'expected null');
    case undefined:
      return value;
    default:
      throw new Error(`a shape of no known type: ${String(shape['type'])}`);
  }
}

function fault(at: Place, expected: string): Fault {
  return new Fault(at.field, expected, at.depth);
}

function only(shapes: readonly TSchema[]): TSchema {
  assert(shapes.length === 1, 'allOf wraps one shape');
  return shapes[0] as TSchema;
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isNumber(value: JsonValue): boolean {
  return typeof value === 'bigint' || value instanceof JsonFraction;
}

function convertUnion(shapes: readonly TSchema[], value: JsonValue, at: Place): unknown {
  let deepest: Fault | null = null;
  for (const shape of shapes) {
    const read = convert(shape, value, at);
    if (!(read instanceof Fault)) return read;
    if (deepest === null || read.depth > deepest.depth) deepest = read;
  }
  assert(deepest !== null, 'a union has members');
  return deepest;
}

function convertObject(shape: TSchema, value: JsonObject, at: Place): unknown {
  const names = shape['propertyNames'] as TSchema | undefined;
  const others = shape['additionalProperties'] as TSchema | boolean | undefined;
  if (names !== undefined && typeof others === 'object') return convertMap(names, others, value, at);
  const properties = (shape['properties'] ?? {}) as Readonly<Record<string, TSchema>>;
  const required = (shape['required'] ?? []) as readonly string[];
  const result: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const name of required) {
    if (!value.has(name)) return new Fault(name, 'a missing member', at.depth + 1);
  }
  for (const [name, member] of value) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const inside = below(at, name);
    if (property === undefined) {
      const isOpen = others === true || (others === undefined && at.rules.strangers !== 'refuse');
      if (!isOpen) return fault(inside, 'an unknown member');
      continue;
    }
    const read = convert(property, member, inside);
    if (read instanceof Fault) return read;
    result[name] = read;
  }
  return result;
}

function convertMap(names: TSchema, values: TSchema, value: JsonObject, at: Place): unknown {
  const result = new Map<string, unknown>();
  for (const [name, member] of value) {
    const inside = below(at, name);
    const checked = checkText(names, name, inside);
    if (checked instanceof Fault) return checked;
    const read = convert(values, member, inside);
    if (read instanceof Fault) return read;
    result.set(name, read);
  }
  return result;
}

function below(at: Place, field: string): Place {
  return { field: field.slice(0, 64), depth: at.depth + 1, rules: at.rules };
}

function convertArray(shape: TSchema, value: readonly JsonValue[], at: Place): unknown {
  const least = (shape['minItems'] ?? 0) as number;
  const most = (shape['maxItems'] ?? Number.MAX_SAFE_INTEGER) as number;
  if (value.length < least || value.length > most) {
    return fault(at, least === most ? `expected ${least} items` : `expected ${least} to ${most} items`);
  }
  const items = shape['items'] as TSchema | undefined;
  if (items === undefined) return value;
  const result: unknown[] = [];
  for (const item of value) {
    const read = convert(items, item, { ...at, depth: at.depth + 1 });
    if (read instanceof Fault) return read;
    result.push(read);
  }
  return result;
}

function checkText(shape: TSchema, text: string, at: Place): string | Fault {
  const choices = shape['enum'] as readonly string[] | undefined;
  if (choices !== undefined && !choices.includes(text)) return fault(at, `expected one of ${choices.join(', ')}`);
  const length = text.length;
  const least = (shape['minLength'] ?? 0) as number;
  const most = (shape['maxLength'] ?? Number.MAX_SAFE_INTEGER) as number;
  if (length < least || length > most) return fault(at, `expected ${least} to ${most} characters`);
  const pattern = shape['pattern'] as string | undefined;
  if (pattern !== undefined && !formOf(pattern).test(text)) {
    return fault(at, `expected ${(shape['description'] as string | undefined) ?? `a text like ${pattern}`}`);
  }
  return text;
}

const U64_LIMIT = 1n << 64n;
const I64_LIMIT = 1n << 63n;

function checkInteger(shape: TSchema, value: bigint, at: Place): bigint | number | Fault {
  const format = shape['format'] as string | undefined;
  if (format === 'uint64') {
    if (value < 0n || value >= U64_LIMIT) return fault(at, 'expected an integer from 0 to 2^64-1');
    const excluded = shape['not'] as { readonly minimum: bigint; readonly maximum: bigint } | undefined;
    const isExcluded = excluded !== undefined && value >= excluded.minimum && value <= excluded.maximum;
    return isExcluded ? fault(at, `expected no integer from ${excluded.minimum} to ${excluded.maximum}`) : value;
  }
  if (format === 'int64') {
    return value >= -I64_LIMIT && value < I64_LIMIT ? value : fault(at, 'expected a 64-bit integer');
  }
  const least = (shape['minimum'] ?? Number.MIN_SAFE_INTEGER) as number;
  const most = (shape['maximum'] ?? Number.MAX_SAFE_INTEGER) as number;
  const isWithin = value >= BigInt(least) && value <= BigInt(most);
  return isWithin ? Number(value) : fault(at, `expected an integer from ${least} to ${most}`);
}

/** Patterns are constants of the shapes, so their number bounds this map. */
const forms = new Map<string, RegExp>();

function formOf(pattern: string): RegExp {
  const known = forms.get(pattern);
  if (known !== undefined) return known;
  const form = new RegExp(pattern, 'u');
  forms.set(pattern, form);
  return form;
}
