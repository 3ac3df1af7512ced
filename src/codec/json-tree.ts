/**
 * The same strict parser producing a plain tree, for cold paths: the operator API and replies received by a client.
 *
 * Objects are Maps in the order received, integers are bigints of any size; no value passes through a double. A number
 * with a fraction or an exponent is rejected by default; where numbers in human units are legal (depth in replies,
 * wire.md G8) the option `fractions: 'text'` returns them as text.
 */
import { parseDecimal18 } from '../core/decimal.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { JsonCursor } from './json-cursor.ts';
import type { UnknownMembers } from './json-shape.ts';

/** A number that is not an integer, exactly as written. */
export class JsonFraction {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type JsonObject = ReadonlyMap<string, JsonValue>;
export type JsonValue = null | boolean | string | bigint | JsonFraction | readonly JsonValue[] | JsonObject;

export interface JsonTreeOptions {
  /** Default `refuse`. */
  readonly fractions?: 'refuse' | 'text';
  /** Maximum number of values kept. Default unlimited. */
  readonly valuesMax?: number;
}

/** Parses one JSON text. @returns INVALID_REQUEST with the invalid member. */
export function parseJson(bytes: Uint8Array, options: JsonTreeOptions = {}): Outcome<JsonValue> {
  const cursor = new JsonCursor();
  cursor.reset(bytes, 0, bytes.length);
  const value = new TreeReader(cursor, options).read();
  return cursor.finish() ? accepted(value) : rejected(cursor.reject());
}

/** `parseJson` for a text that must be an object. */
export function parseJsonObject(bytes: Uint8Array, options: JsonTreeOptions = {}): Outcome<JsonObject> {
  const outcome = parseJson(bytes, options);
  if (!outcome.ok) return outcome;
  return isJsonObject(outcome.value)
    ? accepted(outcome.value)
    : rejected(reject('INVALID_REQUEST', 'expected an object'));
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map;
}

class TreeReader {
  readonly #cursor: JsonCursor;
  readonly #fractions: 'refuse' | 'text';
  #valuesLeft: number;

  constructor(cursor: JsonCursor, { fractions = 'refuse', valuesMax = Number.MAX_SAFE_INTEGER }: JsonTreeOptions) {
    this.#cursor = cursor;
    this.#fractions = fractions;
    this.#valuesLeft = valuesMax;
  }

  /** Recursion is bounded by the cursor's depth limit. */
  read(): JsonValue {
    const cursor = this.#cursor;
    this.#valuesLeft -= 1;
    if (this.#valuesLeft < 0) cursor.fail('too many values', null);
    switch (cursor.kind()) {
      case 'object':
        return this.#object();
      case 'array': {
        const items: JsonValue[] = [];
        cursor.enterArray();
        while (cursor.nextItem()) items.push(this.read());
        return items;
      }
      case 'string':
        return cursor.readString();
      case 'number':
        return readNumber(cursor, this.#fractions);
      case 'boolean':
        return cursor.readBoolean();
      default:
        if (!cursor.readNull()) cursor.fail('expected a JSON value');
        return null;
    }
  }

  #object(): JsonObject {
    const cursor = this.#cursor;
    const members = new Map<string, JsonValue>();
    cursor.enterObject();
    for (let name = cursor.nextName(); name !== null; name = cursor.nextName()) members.set(name, this.read());
    return members;
  }
}

const INTEGER_FORM = /^(?:0|-?[1-9][0-9]{0,79})$/;

function readNumber(cursor: JsonCursor, fractions: 'refuse' | 'text'): bigint | JsonFraction {
  const text = cursor.readNumberText();
  if (INTEGER_FORM.test(text)) return BigInt(text);
  if (fractions === 'refuse') cursor.fail('expected a plain integer');
  return new JsonFraction(text);
}

/**
 * Reads the members of one object of a tree by name, in any order. Failure is sticky as in the cursor: later reads
 * return defaults, and `finish` returns the first fault with its field.
 */
export class MemberReader {
  readonly #object: JsonObject;
  readonly #taken = new Set<string>();
  #failure: Reject | null = null;

  constructor(object: JsonObject) {
    this.#object = object;
  }

  /** Whether the member is present and not null: checked before reading an optional one. */
  has(name: string): boolean {
    return this.value(name) !== undefined && this.value(name) !== null;
  }

  /** Whether the member is present and null. */
  isNull(name: string): boolean {
    return this.value(name) === null;
  }

  /** The member of any kind; undefined if absent. It counts as read. */
  value(name: string): JsonValue | undefined {
    this.#taken.add(name);
    return this.#object.get(name);
  }

  string(name: string): string {
    const value = this.value(name);
    return typeof value === 'string' ? value : this.fail(name, 'expected a string', '');
  }

  boolean(name: string): boolean {
    const value = this.value(name);
    return typeof value === 'boolean' ? value : this.fail(name, 'expected true or false', false);
  }

  /** An integer within safe bounds. */
  integer(name: string, min: number, max: number): number {
    const value = this.value(name);
    const isWithin = typeof value === 'bigint' && value >= BigInt(min) && value <= BigInt(max);
    return isWithin ? Number(value) : this.fail(name, `expected an integer from ${min} to ${max}`, 0);
  }

  /** An integer from 0 to 2^64−1. */
  u64(name: string): bigint {
    const value = this.value(name);
    const isWithin = typeof value === 'bigint' && value >= 0n && value < 1n << 64n;
    return isWithin ? value : this.fail(name, 'expected an integer from 0 to 2^64-1', 0n);
  }

  /** A human decimal string with at most 18 fractional digits, as 18-decimal units (operator-api.md 2). */
  decimal18(name: string): bigint {
    const value = this.value(name);
    const amount = typeof value === 'string' ? parseDecimal18(value) : null;
    return amount ?? this.fail(name, 'expected a decimal string with at most 18 fractional digits', 0n);
  }

  array(name: string): readonly JsonValue[] {
    const value = this.value(name);
    return Array.isArray(value) ? value : this.fail(name, 'expected an array', []);
  }

  object(name: string): JsonObject {
    const value = this.value(name);
    return isJsonObject(value) ? value : this.fail(name, 'expected an object', new Map());
  }

  /** Rejects the object with the caller's reason. @returns `instead`, as a substitute for the value. */
  fail<T>(name: string, message: string, instead: T): T {
    const isMissing = !this.#object.has(name);
    this.#failure ??= reject('INVALID_REQUEST', isMissing ? 'a missing member' : message, name);
    return instead;
  }

  /** The first fault, or null. @param unknown whether members that were not read are a fault. */
  finish(unknown: UnknownMembers): Reject | null {
    if (this.#failure !== null || unknown === 'skip') return this.#failure;
    for (const name of this.#object.keys()) {
      if (!this.#taken.has(name)) return reject('INVALID_REQUEST', 'an unknown member', name.slice(0, 64));
    }
    return null;
  }
}
