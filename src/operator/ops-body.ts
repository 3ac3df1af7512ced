/** Bodies of the operator API as the plain objects that clearing validates: strict JSON in, every integer a bigint. */

import { JsonFraction, type JsonObject, type JsonValue, parseJsonObject } from '../codec/json-tree.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';

type Plain = Readonly<Record<string, unknown>>;

/**
 * No body at all is an empty object: a call whose members all have defaults needs none.
 *
 * @param fractions `text`: numbers with a fraction are read, as JsonFraction.
 */
export function readPlainBody(bytes: Uint8Array, fractions: 'refuse' | 'text' = 'refuse'): Outcome<Plain> {
  if (bytes.length === 0) return accepted({});
  const tree = parseJsonObject(bytes, { fractions });
  if (!tree.ok) return tree;
  const marked = markedName(tree.value);
  if (marked !== null) return rejected(reject('INVALID_REQUEST', 'unknown member', marked.slice(0, 64)));
  return accepted(plainObject(tree.value));
}

/**
 * A name that begins with a dollar sign, anywhere. No object of the API has one, and to the node's own threads such
 * members mean exact numbers and bytes (messages/plain-values.ts): they must not come in from outside.
 */
function markedName(value: JsonValue): string | null {
  if (value instanceof Map) {
    for (const [name, member] of value) {
      const marked = name.startsWith('$') ? name : markedName(member);
      if (marked !== null) return marked;
    }
  } else if (Array.isArray(value)) {
    for (const item of value) {
      const marked = markedName(item);
      if (marked !== null) return marked;
    }
  }
  return null;
}

/** Without a prototype, so that no name of a member means anything else. */
function plainObject(object: JsonObject): Plain {
  const plain: Record<string, unknown> = Object.create(null);
  for (const [name, value] of object) plain[name] = plainValue(value);
  return plain;
}

function plainValue(value: JsonValue): unknown {
  if (value instanceof Map) return plainObject(value);
  if (value instanceof JsonFraction || !Array.isArray(value)) return value;
  return value.map(plainValue);
}
