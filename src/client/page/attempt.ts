/**
 * Converts an example into a request that the node accepts: your user id in place of `{user_id}`, current timestamps,
 * increasing numbers, and a signature over the canonical bytes of the schema.
 */

import { canonicalText } from '../../codec/canonical-text.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../codec/json-tree.ts';
import { writeJson } from '../../codec/json-writer.ts';
import { checkShape } from '../../codec/shapes/read-shape.ts';
import type { Shape } from '../../codec/shapes/shape-kit.ts';
import type { Operation } from './api-reader.ts';
import { isList } from './json-text.ts';

interface Signer {
  readonly userId: string;
  /** 64 bytes, Ed25519 over exactly these bytes. */
  sign(bytes: Uint8Array): Uint8Array;
}

interface Attempt {
  readonly body: string;
  /** The signed texts; one per item of a batch. */
  readonly signed: readonly string[];
}

/** Replaces `{user_id}`, and your previous user id, by the current one. */
export function withUser(value: JsonValue, userId: string, before: string): JsonValue {
  return mapped(value, (leaf) =>
    typeof leaf === 'string' ? leaf.replaceAll('{user_id}', userId).replaceAll(before, userId) : leaf,
  );
}

const TIMES = new Set(['creation_timestamp_ns', 'timestamp_ns', 'post_sign_timestamp', 'revision']);

const NEW_IDS: ReadonlySet<string> = new Set(['order_id', 'request_id']);

/** Sets every timestamp of signing and sending to now, and also the nonce of an account action. */
export function refreshed(value: JsonValue, nowNs: bigint): JsonValue {
  if (isList(value)) return value.map((item) => refreshed(item, nowNs));
  if (!isJsonObject(value)) return value;
  return new Map(
    [...value].map(([name, member]) => {
      if (name === 'GTD') return [name, member];
      if (TIMES.has(name)) return [name, nowNs];
      if (name === 'nonce' && typeof member === 'bigint') return [name, nowNs / 1_000_000n];
      return [name, refreshed(member, nowNs)];
    }),
  );
}

/** Replaces every order id and request id of the example by a new one. */
export function withOrderIds(value: JsonValue, newId: () => string): JsonValue {
  return mapped(value, (leaf, name) => (NEW_IDS.has(name) && typeof leaf === 'string' ? newId() : leaf));
}

function mapped(value: JsonValue, leafOf: (leaf: JsonValue, name: string) => JsonValue, name = ''): JsonValue {
  if (isList(value)) return value.map((item) => mapped(item, leafOf, name));
  if (!isJsonObject(value)) return leafOf(value, name);
  return new Map([...value].map(([member, inner]) => [member, mapped(inner, leafOf, member)]));
}

/**
 * Signs the operation's signed member. @throws Error with a message for people when the body does not match its schema;
 * an existing signature is ignored and replaced.
 */
export function signedBody(operation: Operation, body: JsonValue, signer: Signer): Attempt {
  const { signs } = operation;
  if (operation.body === null || signs === null) return { body: writeJson(body), signed: [] };
  const signed: string[] = [];
  const shapes = signedShape(operation.body.schema, signs);
  const sign = (wrapper: JsonObject): JsonObject => {
    const inner = wrapper.get(signs);
    if (inner === undefined) throw new Error(`${signs}: a missing member`);
    const fit = checkShape(shapes, inner);
    if (!fit.ok) throw new Error(`${fit.reject.field ?? signs}: ${fit.reject.message}`);
    const text = canonicalText(shapes, inner);
    signed.push(text);
    const signature = [...signer.sign(new TextEncoder().encode(text))].map(BigInt);
    return new Map<string, JsonValue>([...wrapper, ['signature', signature]]);
  };
  const text = writeJson(wrapped(body, signs, sign));
  if (signed.length === 0) throw new Error(`${signs}: a missing member`);
  return { body: text, signed };
}

/** Signs the wrapper, or every wrapper of a batch. */
function wrapped(body: JsonValue, signs: string, sign: (wrapper: JsonObject) => JsonObject): JsonValue {
  if (isList(body)) return body.map((item) => wrapped(item, signs, sign));
  if (!isJsonObject(body)) throw new Error('expected an object');
  if (body.has(signs)) return sign(body);
  return new Map([...body].map(([name, member]) => [name, isList(member) ? wrapped(member, signs, sign) : member]));
}

/** The schema of the signed member, anywhere in the body; of a body in several forms, any of theirs. */
export function signedShape(schema: Shape, signs: string): Shape {
  const found = findProperty(schema, signs);
  if (found === null) throw new Error(`the schema has no ${signs}`);
  return found;
}

function findProperty(schema: Shape, name: string): Shape | null {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Shape>>;
  const own = properties[name];
  if (own !== undefined) return own;
  const forms = (schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf'] ?? []) as readonly Shape[];
  const found = forms.flatMap((form) => findProperty(form, name) ?? []);
  if (found.length > 1) return { anyOf: found } as unknown as Shape;
  const inner = [
    ...Object.values(properties),
    ...forms,
    ...(schema['items'] === undefined ? [] : [schema['items'] as Shape]),
  ];
  for (const part of inner) {
    const one = findProperty(part, name);
    if (one !== null) return one;
  }
  return null;
}
