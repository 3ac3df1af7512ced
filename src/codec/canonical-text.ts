/**
 * The signed text of an action, derived from its shape alone (wire.md 4.1): compact JSON, members in the order of the shape.
 * Unset, a member with a default signs as that, one that may be null as null, and any other, or one with `x-unset`, is left
 * out. An id signs in its received spelling (AMB-11, AMB-12).
 *
 *   shape ─▶ writer: closures, built at first use ─▶ text of a value that shape-reader.ts has read, or of a JSON tree
 *
 * The node writes the texts of account actions with it, and the SDK and the page theirs. Orders have generated writers.
 * It loads in browsers: no Buffer.
 */
import type { TSchema } from '@sinclair/typebox';
import { isJsonObject, JsonFraction } from './json-tree.ts';
import { alternativesOf, isOptional, nameInside } from './shapes/shape-kit.ts';
import { signedString } from './signed-text.ts';

/** @returns null for a value that does not fit. */
type Write = (value: unknown) => string | null;
type Members = Readonly<Record<string, unknown>>;

/** Shapes are constants, so they bound this map. */
const writers = new WeakMap<TSchema, Write>();

/** @param value fits the shape; its members have their names on the wire or inside the node. @throws Error for another value. */
export function canonicalText(shape: TSchema, value: unknown): string {
  let write = writers.get(shape);
  if (write === undefined) {
    write = writerFor(shape);
    writers.set(shape, write);
  }
  const text = write(value);
  if (text === null) throw new Error('the value does not fit its schema');
  return text;
}

function writerFor(shape: TSchema): Write {
  const alternatives = alternativesOf(shape);
  if (alternatives.length !== 1 || alternatives[0] !== shape) {
    const writes = alternatives.map((one) => onlyItsMembers(one, writerFor(one)));
    const own = (value: unknown): string | null => {
      for (const write of writes) {
        const text = write(value);
        if (text !== null) return text;
      }
      return null;
    };
    return shape['x-as'] === 'signer key' ? (value) => own(taggedKey(value)) : own;
  }
  switch (shape['type']) {
    case 'object':
      return objectWriter(shape);
    case 'array':
      return listWriter(writerFor(shape['items'] as TSchema));
    case 'string':
      return textWriter(shape['enum'] as readonly string[] | undefined);
    case 'integer':
      return (value) => (typeof value === 'bigint' || typeof value === 'number' ? String(value) : null);
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? String(value) : null);
    case 'null':
      return (value) => (value === null ? 'null' : null);
    default:
      throw new Error(`nothing signed is a ${String(shape['type'])}`);
  }
}

/** A text, or an id with its received spelling. */
function textWriter(words: readonly string[] | undefined): Write {
  return (value) => {
    // mutant: received-spelling-is-signed
    const text = typeof value === 'string' ? value : (value as { readonly text?: unknown } | null)?.text;
    const fits = typeof text === 'string' && words?.includes(text) !== false && !(value instanceof JsonFraction);
    return fits ? `"${signedString(text)}"` : null;
  };
}

function listWriter(item: Write): Write {
  return (value) => {
    if (!Array.isArray(value) && !(value instanceof Uint8Array)) return null;
    const texts = Array.from(value as ArrayLike<unknown>, item);
    return texts.includes(null) ? null : `[${texts.join(',')}]`;
  };
}

/** A key inside the node as it is on the wire: tagged with its scheme. */
function taggedKey(value: unknown): unknown {
  const { scheme, key } = value as { readonly scheme?: string; readonly key?: unknown };
  return scheme === undefined ? value : { [scheme]: key };
}

interface Member {
  readonly name: string;
  readonly nameInside: string;
  readonly lead: string;
  readonly write: Write;
  /** The text of an unset one; '' for one that is left out, null for one that must be set. */
  readonly unset: string | null;
}

function objectWriter(shape: TSchema): Write {
  const properties = shape['properties'] as Readonly<Record<string, TSchema>>;
  const members = Object.entries(properties).map(([name, member]): Member => {
    const write = writerFor(member);
    const lead = `${JSON.stringify(name)}:`;
    return { name, nameInside: nameInside(name, member), lead, write, unset: unsetText(shape, name, lead, write) };
  });
  return (value) => {
    const given = membersOf(value);
    if (given === null) return null;
    let all = '';
    for (const { name, nameInside, lead, write, unset } of members) {
      const member = nameInside in given ? given[nameInside] : given[name];
      const isUnset = unset !== null && (member ?? null) === null;
      const text = isUnset ? unset : written(lead, write(member));
      if (text === null) return null;
      if (text !== '') all += all === '' ? text : `,${text}`;
    }
    return `{${all}}`;
  };
}

/** An alternative: of several objects a value is that which has no other member, unless it is unset. */
function onlyItsMembers(shape: TSchema, write: Write): Write {
  if (shape['type'] !== 'object') return write;
  const properties = Object.entries(shape['properties'] as Readonly<Record<string, TSchema>>);
  const known = new Set(properties.flatMap(([name, member]) => [name, nameInside(name, member)]));
  return (value) => {
    const given = Object.entries(membersOf(value) ?? {});
    // mutant: alternative-of-its-members
    return given.every(([name, member]) => known.has(name) || (member ?? null) === null) ? write(value) : null;
  };
}

function written(lead: string, text: string | null): string | null {
  return text === null ? null : lead + text;
}

function unsetText(shape: TSchema, name: string, lead: string, write: Write): string | null {
  const member = (shape['properties'] as Readonly<Record<string, TSchema>>)[name] as TSchema;
  if (!isOptional(shape, name)) return null;
  // mutant: default-is-signed
  if (member['default'] !== undefined) return written(lead, write(member['default']));
  if (member['x-unset'] !== undefined) return '';
  return written(lead, write(null)) ?? '';
}

function membersOf(value: unknown): Members | null {
  if (isJsonObject(value as never)) return Object.fromEntries(value as ReadonlyMap<string, unknown>);
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value) && !('text' in value);
  return isPlain ? (value as Members) : null;
}
