/**
 * What an operator's call has changed, member by member (LDG-03). The paths and passwords of addresses of RPC providers are secrets: of an address
 * its origin is listed alone.
 */
import type { MemberChange } from '../clearing/inputs.ts';
import { type JsonWritable, writeJson } from '../codec/json-writer.ts';

type View = Readonly<Record<string, unknown>>;

/** Changes listed of one call; the command in the journal has all of them. */
const CHANGES_MAX = 100;
/** In a JSON text. */
const ADDRESS = /\b(?:https?|wss?):\/\/[^"\\\s]*/g;
/** Characters of one value. */
const VALUE_LENGTH_MAX = 1_000;

/**
 * The members that differ, by their paths (`rebalancing.mode`), in the order of `after`, then those that are gone. Lists are compared as a whole.
 *
 * @param before,after objects as replies have them; null for an object that does not exist.
 */
export function memberChanges(before: View | null, after: View | null): readonly MemberChange[] {
  const old = flat(before ?? {}, '', new Map());
  const current = flat(after ?? {}, '', new Map());
  const changes: MemberChange[] = [];
  for (const [member, text] of current) {
    const was = old.get(member) ?? null;
    if (was !== text) changes.push({ member, before: shown(was), after: shown(text) });
  }
  for (const [member, text] of old)
    if (!current.has(member)) changes.push({ member, before: shown(text), after: null });
  return changes.slice(0, CHANGES_MAX);
}

function shown(text: string): string;
function shown(text: string | null): string | null;
function shown(text: string | null): string | null {
  return text?.replaceAll(ADDRESS, originOf).slice(0, VALUE_LENGTH_MAX) ?? null;
}

function originOf(address: string): string {
  return URL.canParse(address) ? `${new URL(address).origin}/…` : '…';
}

function flat(view: View, prefix: string, into: Map<string, string>): Map<string, string> {
  for (const [name, value] of Object.entries(view)) {
    if (value === undefined) continue;
    const path = `${prefix}${name}`;
    if (isPlainObject(value)) flat(value, `${path}.`, into);
    else into.set(path, writeJson(value as JsonWritable));
  }
  return into;
}

/** Numbers with a fraction are objects with a class. */
function isPlainObject(value: unknown): value is View {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
