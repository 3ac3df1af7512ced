/** Values made from a shape, and the same values damaged: what a client could send, and nearly that. */
import type { TSchema } from '@sinclair/typebox';
import fc from 'fast-check';
import { isJsonObject, JsonFraction, type JsonValue } from '../../src/codec/json-tree.ts';

/** A value that the shape admits. Patterns without look-ahead are made from; look-ahead is filtered by. */
export function fitting(shape: TSchema): fc.Arbitrary<JsonValue> {
  const union = (shape['anyOf'] ?? shape['oneOf'] ?? shape['allOf']) as readonly TSchema[] | undefined;
  if (union !== undefined) return fc.oneof(...union.map(fitting));
  if ('const' in shape) return fc.constant(shape['const'] as boolean);
  switch (shape['type']) {
    case 'object':
      return objectOf(shape);
    case 'array':
      return arrayOf(shape);
    case 'string':
      return textOf(shape);
    case 'integer':
      return integerOf(shape);
    case 'number':
      return fc.constantFrom(new JsonFraction('3150.25'), new JsonFraction('0.5'), 7n, 0n);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      throw new Error(`no values of ${JSON.stringify(shape)}`);
  }
}

function objectOf(shape: TSchema): fc.Arbitrary<JsonValue> {
  const names = shape['propertyNames'] as TSchema | undefined;
  if (names !== undefined) {
    const members = fc.tuple(textOf(names), fitting(shape['additionalProperties'] as TSchema));
    return fc.uniqueArray(members, { maxLength: 3, selector: ([name]) => name }).map((all) => new Map(all));
  }
  const properties = (shape['properties'] ?? {}) as Readonly<Record<string, TSchema>>;
  const required = (shape['required'] ?? []) as readonly string[];
  const members = Object.entries(properties).map(([name, property]) =>
    fc.tuple(fc.constant(name), fitting(property), required.includes(name) ? fc.constant(true) : fc.boolean()),
  );
  return fc
    .tuple(...members)
    .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }))
    .map((all) => new Map(all.filter(([, , isThere]) => isThere).map(([name, value]) => [name, value])));
}

function arrayOf(shape: TSchema): fc.Arbitrary<JsonValue> {
  const least = (shape['minItems'] ?? 0) as number;
  const most = Math.min((shape['maxItems'] ?? 3) as number, Math.max(least, 3));
  return fc.array(fitting(shape['items'] as TSchema), { minLength: least, maxLength: most });
}

function textOf(shape: TSchema): fc.Arbitrary<string> {
  const choices = shape['enum'] as readonly string[] | undefined;
  if (choices !== undefined) return fc.constantFrom(...choices);
  const pattern = shape['pattern'] as string | undefined;
  if (pattern === undefined) return fc.string({ maxLength: Math.min((shape['maxLength'] ?? 16) as number, 16) });
  const form = new RegExp(pattern, 'u');
  return fc
    .stringMatching(new RegExp(pattern.replace(/\(\?!(?:[^()]|\([^()]*\))*\)/, ''), 'u'))
    .filter((text) => form.test(text));
}

function integerOf(shape: TSchema): fc.Arbitrary<bigint> {
  if (shape['format'] === 'uint64') {
    const excluded = shape['not'] as { readonly minimum: bigint; readonly maximum: bigint } | undefined;
    const every = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
    return excluded === undefined ? every : every.filter((ns) => ns < excluded.minimum || ns > excluded.maximum);
  }
  const least = (shape['minimum'] ?? Number.MIN_SAFE_INTEGER) as number;
  const most = (shape['maximum'] ?? Number.MAX_SAFE_INTEGER) as number;
  return fc.bigInt({ min: BigInt(least), max: BigInt(most) });
}

/** What stands where it should not: the edges of every bound of the wire among it. */
const STRANGERS: readonly JsonValue[] = [
  null,
  true,
  '',
  'x',
  'sys-1',
  '65535',
  '65536',
  '01',
  '0x',
  0n,
  1n,
  -1n,
  255n,
  256n,
  65_535n,
  65_536n,
  (1n << 53n) - 1n,
  1n << 53n,
  (1n << 64n) - 1n,
  1n << 64n,
  1_785_000_000_000n,
  new JsonFraction('1.5'),
  new JsonFraction('1e3'),
  [],
  [0n],
  new Map(),
  new Map([['Spot', null]]),
];

export const stranger: fc.Arbitrary<JsonValue> = fc.constantFrom(...STRANGERS);

type Path = readonly (string | number)[];

/** Where a value has something to damage: itself and everything in it. Long arrays are damaged at their ends only. */
function pathsOf(value: JsonValue, path: Path = []): readonly Path[] {
  if (isJsonObject(value)) {
    return [path, ...[...value].flatMap(([name, member]) => pathsOf(member, [...path, name]))];
  }
  if (isList(value)) {
    const ends = value.length > 4 ? [0, value.length - 1] : [...value.keys()];
    return [path, ...ends.flatMap((index) => pathsOf(value[index] ?? null, [...path, index]))];
  }
  return [path];
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The same value with one place replaced, left out, or with a stranger beside it. */
export function damaged(value: JsonValue): fc.Arbitrary<JsonValue> {
  const at = fc.constantFrom(...pathsOf(value));
  const how = fc.constantFrom<Damage>('replace', 'remove', 'add');
  return fc.tuple(at, how, stranger).map(([path, kind, strange]) => damage(value, path, kind, strange));
}

type Damage = 'replace' | 'remove' | 'add';

function damage(value: JsonValue, path: Path, kind: Damage, strange: JsonValue): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined) return kind === 'add' ? added(value, strange) : strange;
  if (isJsonObject(value) && typeof step === 'string') {
    const copy = new Map(value);
    if (rest.length === 0 && kind === 'remove') copy.delete(step);
    else copy.set(step, damage(value.get(step) ?? null, rest, kind, strange));
    return copy;
  }
  if (isList(value) && typeof step === 'number') {
    if (rest.length === 0 && kind === 'remove') return value.filter((_, index) => index !== step);
    return value.map((item, index) => (index === step ? damage(item, rest, kind, strange) : item));
  }
  return strange;
}

function added(value: JsonValue, strange: JsonValue): JsonValue {
  if (isJsonObject(value)) return new Map([...value, ['stranger', strange]]);
  return isList(value) ? [...value, strange] : strange;
}
