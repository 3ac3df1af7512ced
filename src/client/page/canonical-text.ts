/**
 * The signed bytes, derived only from the published schema (wire.md 4.1): compact JSON, members in the order of the
 * schema, unset ones null or left out. So `/api-doc.json` suffices for signing; the page signs this way, and a test compares it
 * with the node's own texts.
 */
import { isJsonObject, JsonFraction, type JsonObject, type JsonValue } from '../../codec/json-tree.ts';
import { checkShape } from '../../codec/shapes/read-shape.ts';
import type { Shape } from '../../codec/shapes/shape-kit.ts';
import { isList } from './json-text.ts';

/** @param shape without references. The value must match it. */
export function canonicalText(shape: Shape, value: JsonValue): string {
  const alternatives = (shape['anyOf'] ?? shape['oneOf'] ?? shape['allOf']) as readonly Shape[] | undefined;
  if (alternatives !== undefined) {
    const fitting = alternatives.find((alternative) => checkShape(alternative, value).ok);
    if (fitting === undefined) throw new Error('the value does not fit its schema');
    return canonicalText(fitting, value);
  }
  if (isJsonObject(value)) return objectText(shape, value);
  if (isList(value)) return `[${value.map((item) => canonicalText(shape['items'] as Shape, item)).join(',')}]`;
  if (value instanceof JsonFraction) throw new Error('no fraction is ever signed');
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}

function objectText(shape: Shape, value: JsonObject): string {
  const properties = shape['properties'] as Readonly<Record<string, Shape>>;
  const members = Object.entries(properties).flatMap(([name, property]) => {
    const member = value.get(name) ?? defaultOf(property);
    // Unset, a member with a default signs as that, one that may be null as null, and any other, or one with `x-unset`, is left out.
    if (member === null && (property['x-unset'] !== undefined || !checkShape(property, null).ok)) return [];
    return [`${JSON.stringify(name)}:${member === null ? 'null' : canonicalText(property, member)}`];
  });
  return `{${members.join(',')}}`;
}

function defaultOf(property: Shape): JsonValue {
  const value = property['default'] as number | string | undefined;
  if (value === undefined) return null;
  return typeof value === 'string' ? value : BigInt(value);
}
