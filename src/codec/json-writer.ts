/**
 * Writes JSON: bigints as bare integers, members in the order given, no white space (AMB-01).
 *
 * The shapes of wire.md are written by the templates of their own files; `writeJson` is for everything else.
 */
import { assert } from '../core/assert.ts';
import { JsonFraction } from './json-tree.ts';

/** Numbers are safe integers. Use a Map where names look like integers: an object would move those to the front. */
export type JsonWritable =
  | null
  | boolean
  | string
  | number
  | bigint
  | JsonFraction
  | readonly JsonWritable[]
  | ReadonlyMap<string, JsonWritable>
  | { readonly [name: string]: JsonWritable | undefined };

/** A string in quotes, escaped minimally: `"`, `\` and control characters (wire.md 4.1). */
export function quote(text: string): string {
  return JSON.stringify(text);
}

export function quoteOrNull(text: string | null): string {
  return text === null ? 'null' : quote(text);
}

/** Omits members with the value undefined. @throws InvariantError for a number that is not a safe integer. */
export function writeJson(value: JsonWritable): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') {
    assert(Number.isSafeInteger(value) && !Object.is(value, -0), 'only safe integers are written');
    return String(value);
  }
  if (value instanceof JsonFraction) return value.text;
  if (isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  const members: string[] = [];
  for (const [name, member] of value instanceof Map ? value : Object.entries(value)) {
    if (member !== undefined) members.push(`${quote(name)}:${writeJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

/** `Array.isArray` does not narrow read-only arrays out of a union. */
function isArray(value: JsonWritable): value is readonly JsonWritable[] {
  return Array.isArray(value);
}
