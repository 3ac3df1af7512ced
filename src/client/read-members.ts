/** Reading the members of replies by hand, where no shape gives them. */
import { isJsonObject, type JsonValue, MemberReader } from '../codec/json-tree.ts';
import { invalidResponse, malformed } from './errors.ts';

/** Reads one object with `read` and throws INVALID_RESPONSE for `what` when a member is invalid. */
export function readObject<T>(value: JsonValue, what: string, read: (reader: MemberReader) => T): T {
  if (!isJsonObject(value)) throw invalidResponse(what, 'expected an object');
  const reader = new MemberReader(value);
  const result = read(reader);
  const fault = reader.finish('skip');
  if (fault !== null) throw malformed(what, fault);
  return result;
}

export function readArray<T>(value: JsonValue, what: string, read: (item: JsonValue) => T): readonly T[] {
  if (!Array.isArray(value)) throw invalidResponse(what, 'expected an array');
  return (value as readonly JsonValue[]).map(read);
}

export function stringOrNull(reader: MemberReader, name: string): string | null {
  return reader.has(name) ? reader.string(name) : null;
}
