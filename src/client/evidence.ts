/** The evidence of an order, or a part in what is owed, as its file: the reply of the service, in the one spelling that the verifier takes (evidence.md). */
import { isJsonObject, JsonFraction, type JsonValue } from '../codec/json-tree.ts';

/** Compact JSON, members in their order. */
function compact(value: JsonValue): string {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof JsonFraction) return value.text;
  if (isJsonObject(value)) {
    return `{${[...value].map(([name, member]) => `${JSON.stringify(name)}:${compact(member)}`).join(',')}}`;
  }
  return Array.isArray(value) ? `[${value.map(compact).join(',')}]` : JSON.stringify(value);
}

/** The text of the file, with a newline at its end. */
export function evidenceFileText(reply: JsonValue): string {
  return `${compact(reply)}\n`;
}
