/**
 * Reads bodies of operators by their shapes (body-shapes.ts): strictly, without coercion, integers exact.
 *
 * Of several faults of an object an unknown member comes first, then the members in the order of the shape. A member that may be
 * absent has its default, or is absent from the value. A member has its name on the wire, unless the shape gives it another.
 *
 * Not here: relations between members.
 */
import type { TSchema } from '@sinclair/typebox';
import { alternativesOf, isOptional, type Shape } from '../codec/shapes/shape-kit.ts';
import { assert, must } from '../core/assert.ts';
import { nearestName } from '../core/nearest-name.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { OTHER_UNIT_TEXT } from '../core/units.ts';

type Body = Readonly<Record<string, unknown>>;

const U64_MAX = (1n << 64n) - 1n;

/** Thrown at the first fault, and caught by readBody. */
class BodyFault {
  readonly reject: Reject;

  constructor(path: string, message: string) {
    this.reject = path === '' ? reject('INVALID_REQUEST', message) : reject('INVALID_REQUEST', message, path);
  }
}

/**
 * @param value parsed JSON: objects, integers as bigints or safe numbers.
 * @param path of the value in the body; empty for the body itself.
 * @returns INVALID_REQUEST with the path of the member at fault.
 */
export function readBody<Inside>(shape: Shape<unknown, Inside>, value: unknown, path = ''): Outcome<Inside> {
  try {
    return accepted(read(shape, value, path) as Inside);
  } catch (error) {
    if (error instanceof BodyFault) return rejected(error.reject);
    throw error;
  }
}

/** INVALID_REQUEST for a member, in a relation that no shape has. */
export function badMember(field: string, expected: string): { readonly ok: false; readonly reject: Reject } {
  return rejected(reject('INVALID_REQUEST', `${expected} is expected`, field));
}

function read(shape: TSchema, value: unknown, path: string): unknown {
  const parse = shape['x-parse'] as ((value: unknown) => unknown) | undefined;
  if (parse !== undefined) return parse(value) ?? fail(shape, path);
  const alternatives = alternativesOf(shape);
  if (alternatives.length > 1) return ofAlternatives(alternatives, value, path);
  const only = must(alternatives[0], 'a shape has an alternative');
  if (only !== shape) return read(only, value, path);
  switch (shape['type']) {
    case 'object':
      return objectOf(shape, value, path);
    case 'array':
      return listOf(shape, value, path);
    case 'integer':
      return integerOf(shape, value, path);
    case 'string':
      return isText(shape, value) ? value : fail(shape, path);
    case 'boolean':
      return typeof value === 'boolean' ? value : fail(shape, path);
    default:
      assert(shape['type'] === undefined, 'a body is made of objects, lists, integers, strings and booleans');
      return value;
  }
}

function fail(shape: TSchema, path: string): never {
  throw new BodyFault(path, `${expectedOf(shape)} is expected`);
}

function expectedOf(shape: TSchema): string {
  const given = shape['x-expected'] as string | undefined;
  if (given !== undefined) return given;
  const words = shape['enum'] as readonly string[] | undefined;
  if (words !== undefined) return `one of ${words.join(', ')}`;
  switch (shape['type']) {
    case 'integer':
      return shape['format'] === undefined
        ? `an integer from ${String(shape['minimum'])} to ${String(shape['maximum'])}`
        : 'an integer of 64 bits';
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a list of values in range';
    case 'object':
      return 'an object';
    default:
      return String(shape['description'] ?? 'a string');
  }
}

// ---- alternatives

/** Null beside one form, or objects that their first member tells apart. */
function ofAlternatives(alternatives: readonly TSchema[], value: unknown, path: string): unknown {
  const others = alternatives.filter(({ type }) => type !== 'null');
  if (others.length < alternatives.length && value === null) return null;
  const [only, ...more] = others;
  if (only !== undefined && more.length === 0) {
    try {
      return read(only, value, path);
    } catch (error) {
      const isOwn =
        error instanceof BodyFault && only['type'] !== 'object' && error.reject.field === (path || undefined);
      throw isOwn ? new BodyFault(path, `${expectedOf(only)} or null is expected`) : error;
    }
  }
  const tagged = others.map((one) => ({ one, tag: tagOf(one) }));
  const [first] = tagged;
  assert(
    first !== undefined && tagged.every(({ tag }) => tag?.name === first.tag?.name),
    'one member tells objects apart',
  );
  const name = first.tag?.name ?? '';
  const object = asObject(value, path);
  const names = [...new Set(others.flatMap((one) => Object.keys(propertiesOf(one))))];
  refuseUnknown(object, names, path);
  if (!Object.hasOwn(object, name)) throw new BodyFault(below(path, name), 'this member is needed');
  const chosen = tagged.find(({ tag }) => tag?.word === object[name]);
  if (chosen !== undefined) {
    const own = Object.keys(propertiesOf(chosen.one));
    const foreign = names.find((other) => !own.includes(other) && Object.hasOwn(object, other));
    if (foreign === undefined) return objectOf(chosen.one, value, path);
    throw new BodyFault(below(path, foreign), `no member of ${String(chosen.tag?.word)}`);
  }
  throw new BodyFault(below(path, name), `one of ${tagged.map(({ tag }) => tag?.word).join(', ')} is expected`);
}

/** The first member of an object, which has one word. */
function tagOf(shape: TSchema): { readonly name: string; readonly word: unknown } | null {
  const [first] = Object.entries(propertiesOf(shape));
  const words = first?.[1]['enum'] as readonly unknown[] | undefined;
  return first === undefined || words?.length !== 1 ? null : { name: first[0], word: words[0] };
}

// ---- objects and lists

function propertiesOf(shape: TSchema): Readonly<Record<string, TSchema>> {
  return (shape['properties'] ?? {}) as Readonly<Record<string, TSchema>>;
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function asObject(value: unknown, path: string): Body {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BodyFault(path, 'an object is expected');
  return value as Body;
}

function refuseUnknown(object: Body, names: readonly string[], path: string): void {
  const unknown = Object.keys(object).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, names);
  const hint = nearest === null ? '' : `: did you mean "${nearest}"?`;
  throw new BodyFault(below(path, unknown), `unknown member${hint}`);
}

function objectOf(shape: TSchema, value: unknown, path: string): unknown {
  const object = asObject(value, path);
  if (shape['propertyNames'] !== undefined) return mapOf(shape, object, path);
  const properties = propertiesOf(shape);
  if (shape['additionalProperties'] === false) refuseUnknown(object, Object.keys(properties), path);
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(properties)) {
    const inside = (member['x-inside'] as string | undefined) ?? name;
    if (Object.hasOwn(object, name)) {
      const value = read(member, object[name], below(path, name));
      if (inside !== '') result[inside] = value;
    } else if (!isOptional(shape, name)) throw new BodyFault(below(path, name), 'this member is needed');
    else if (member['default'] !== undefined) result[inside] = read(member, member['default'], below(path, name));
  }
  return result;
}

/** By names in their form. */
function mapOf(shape: TSchema, object: Body, path: string): ReadonlyMap<unknown, unknown> {
  const names = shape['propertyNames'] as TSchema;
  const values = shape['additionalProperties'] as TSchema;
  const entries = Object.entries(object).map(([name, value]) => {
    const at = below(path, name);
    return [read(names, name, at), read(values, value, at)] as const;
  });
  return new Map(entries);
}

/** Of a list of objects the path has the place; any other list is at fault as a whole. */
function listOf(shape: TSchema, value: unknown, path: string): readonly unknown[] {
  const { minItems = 0, maxItems = Number.MAX_SAFE_INTEGER } = shape as { minItems?: number; maxItems?: number };
  if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) return fail(shape, path);
  const items = shape['items'] as TSchema;
  const isOfObjects = items['type'] === 'object';
  return value.map((item: unknown, at) => read(items, item, isOfObjects ? `${path}[${at}]` : path));
}

// ---- texts and integers

function isText(shape: TSchema, value: unknown): boolean {
  if (typeof value !== 'string' || value.length > ((shape['maxLength'] ?? Number.MAX_SAFE_INTEGER) as number))
    return false;
  const words = shape['enum'] as readonly string[] | undefined;
  const pattern = shape['pattern'] as string | undefined;
  return (words?.includes(value) ?? true) && (pattern === undefined || new RegExp(pattern, 'u').test(value));
}

/** A bigint for a format of 64 bits, else a safe number. */
function integerOf(shape: TSchema, value: unknown, path: string): bigint | number {
  const isWhole = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
  if (!isWhole) return fail(shape, path);
  const whole = BigInt(value);
  const isWide = shape['format'] !== undefined;
  const least = BigInt((shape['minimum'] ?? 0) as number | bigint);
  const most = BigInt((shape['maximum'] ?? (isWide ? U64_MAX : Number.MAX_SAFE_INTEGER)) as number | bigint);
  if (whole < least || whole > most) return fail(shape, path);
  const not = shape['not'] as { readonly minimum: bigint; readonly maximum: bigint } | undefined;
  if (not !== undefined && whole >= not.minimum && whole <= not.maximum) {
    throw new BodyFault(path, `${path.slice(path.lastIndexOf('.') + 1)} ${OTHER_UNIT_TEXT}`);
  }
  return isWide ? whole : Number(whole);
}
