/**
 * What is wrong with a configuration, in the words of its file: the member, what was given, what is allowed; for a member that
 * does not exist, the nearest one that does.
 *
 *   threads.marketShards is 0: give a whole number from 1 to 64
 *   there is no member "hoooks": did you mean "hooks"?
 *
 * It walks the shape of the configuration (config-shape.ts), in which a member is described once; a test holds it to
 * TypeBox's own check.
 */
import type { TSchema } from '@sinclair/typebox';
import { nearestName } from '../core/nearest-name.ts';

/** The parts of a shape that define what is allowed, as JSON schema has them. */
interface Shape extends TSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly writeOnly?: boolean;
  readonly description?: string;
}

type Members = Readonly<Record<string, unknown>>;

/** Longer values are cut where they are repeated. */
const GIVEN_LENGTH_MAX = 60;

/** @returns one sentence for each fault, in the order of the members; empty exactly where the shape accepts the value. */
export function faultsOf(shape: TSchema, value: unknown): readonly string[] {
  return faultsAt(shape as Shape, value, '', shape as Shape);
}

function faultsAt(shape: Shape, value: unknown, path: string, root: Shape): readonly string[] {
  if (shape.anyOf !== undefined) return unionFaults(shape, shape.anyOf, value, path, root);
  if (shape.properties !== undefined && isMembers(value)) return memberFaults(shape, value, path, root);
  if (shape.patternProperties !== undefined && isMembers(value)) return entryFaults(shape, value, path, root);
  if (shape.items !== undefined && Array.isArray(value) && isLengthAllowed(shape, value)) {
    const { items } = shape;
    return value.flatMap((item, index) => faultsAt(items, item, `${path}.${index}`, root));
  }
  return isPlainAllowed(shape, value) ? [] : [wrong(shape, value, path)];
}

function unionFaults(
  shape: Shape,
  options: readonly Shape[],
  value: unknown,
  path: string,
  root: Shape,
): readonly string[] {
  if (options.some((option) => faultsAt(option, value, path, root).length === 0)) return [];
  const objects = options.filter(({ type }) => type === 'object');
  const [only] = objects;
  return isMembers(value) && only !== undefined && objects.length === 1
    ? faultsAt(only, value, path, root)
    : [wrong(shape, value, path)];
}

/** Whether the shape is of a value without parts, and this is one of its values. */
function isPlainAllowed(shape: Shape, value: unknown): boolean {
  if (shape.const !== undefined) return value === shape.const;
  switch (shape.type) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value) && isWithin(value as number, shape.minimum, shape.maximum);
    case 'string':
      return typeof value === 'string' && isTextAllowed(shape, value);
    default:
      return false;
  }
}

function isTextAllowed({ minLength, maxLength, pattern }: Shape, text: string): boolean {
  return isWithin(text.length, minLength, maxLength) && (pattern === undefined || new RegExp(pattern).test(text));
}

function isWithin(value: number, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY): boolean {
  return value >= least && value <= most;
}

function memberFaults(shape: Shape, value: Members, path: string, root: Shape): readonly string[] {
  const properties = shape.properties ?? {};
  const unknown = Object.keys(value)
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => unknownMember(name, path, properties, root));
  const missing = (shape.required ?? [])
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => `${inside(path, name)} is missing: give ${allowed(properties[name] ?? shape)}`);
  const wrongs = Object.entries(properties)
    .filter(([name]) => Object.hasOwn(value, name))
    .flatMap(([name, member]) => faultsAt(member, value[name], inside(path, name), root));
  return [...unknown, ...missing, ...wrongs];
}

/** Faults of an object whose entries have names of one pattern. */
function entryFaults(shape: Shape, value: Members, path: string, root: Shape): readonly string[] {
  const [[pattern, member] = ['', shape]] = Object.entries(shape.patternProperties ?? {});
  const form = new RegExp(pattern);
  const entries = Object.entries(value);
  const faults = entries.flatMap(([name, entry]) =>
    form.test(name)
      ? faultsAt(member, entry, inside(path, name), root)
      : [`${path} has the entry ${given(name)}: each is named ${shape.description ?? pattern}`],
  );
  if (faults.length > 0 || isWithin(entries.length, 0, shape.maxProperties)) return faults;
  return [`${path} has ${entries.length} entries: give up to ${shape.maxProperties}`];
}

function unknownMember(name: string, path: string, siblings: Readonly<Record<string, Shape>>, root: Shape): string {
  const what = path === '' ? `there is no member ${given(name)}` : `${path} has no member ${given(name)}`;
  const sibling = nearestName(name, Object.keys(siblings));
  if (sibling !== null) return `${what}: did you mean "${inside(path, sibling)}"?`;
  // A member at the wrong level.
  const paths = new Map(pathsOf(root, '').map((full) => [full.slice(full.lastIndexOf('.') + 1), full]));
  const elsewhere = nearestName(name, paths.keys());
  if (elsewhere !== null) return `${what}: did you mean "${paths.get(elsewhere)}"?`;
  return `${what}: give ${listed(Object.keys(siblings).map((sibling) => sibling))}`;
}

/** Every member at any depth, by its path. */
function pathsOf(shape: Shape, path: string): readonly string[] {
  const below = (shape.anyOf ?? []).flatMap((option) => pathsOf(option, path));
  const own = Object.entries(shape.properties ?? {}).flatMap(([name, member]) => [
    inside(path, name),
    ...pathsOf(member, inside(path, name)),
  ]);
  return [...below, ...own];
}

function isLengthAllowed({ minItems, maxItems }: Shape, list: readonly unknown[]): boolean {
  return isWithin(list.length, minItems, maxItems);
}

function wrong(shape: Shape, value: unknown, path: string): string {
  const what = path === '' ? 'the configuration' : path;
  const shown = shape.writeOnly === true ? 'not of the form that it has' : given(value);
  return `${what} is ${shown}: give ${allowed(shape)}`;
}

/** The end of a sentence that begins with "give". */
function allowed(shape: Shape): string {
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.anyOf !== undefined) return listed(shape.anyOf.map(allowed));
  if (shape.properties !== undefined) return `an object with ${listed(Object.keys(shape.properties), 'and')}`;
  if (shape.patternProperties !== undefined) return `an object with entries named ${shape.description ?? ''}`;
  if (shape.items !== undefined) {
    const { minItems = 0, maxItems } = shape;
    return `a list of ${minItems} to ${maxItems ?? 'any number'}, each ${allowed(shape.items)}`;
  }
  if (shape.type === 'integer') return `a whole number from ${shape.minimum} to ${shape.maximum}`;
  if (shape.type === 'boolean') return 'true or false';
  return shape.type === 'null' ? 'null' : (shape.description ?? 'a text');
}

function listed(items: readonly string[], last = 'or'): string {
  const head = items.slice(0, -1).join(', ');
  const tail = items.at(-1) ?? '';
  return head === '' ? tail : `${head} ${last} ${tail}`;
}

function given(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length <= GIVEN_LENGTH_MAX ? text : `${text.slice(0, GIVEN_LENGTH_MAX)}…`;
}

function inside(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
