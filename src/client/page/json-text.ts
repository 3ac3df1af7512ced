/**
 * Parses JSON text into a lossless tree without Buffers: in a browser. The tree equals that of json-tree.ts, and it
 * rejects the same texts: repeated members, leading zeros, unknown escapes.
 */
import { isJsonObject, JsonFraction, type JsonValue } from '../../codec/json-tree.ts';

const DEPTH_MAX = 32;
const SPACE = /[ \n\r\t]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const WORDS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** The position of a fault in the text, for display. */
export class JsonTextError extends Error {
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

/** @throws JsonTextError */
export function parseJsonText(text: string): JsonValue {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.end();
  return value;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  end(): void {
    this.#take(SPACE);
    if (this.#at < this.#text.length) this.#fail('the text goes on behind its value');
  }

  value(depth: number): JsonValue {
    if (depth > DEPTH_MAX) this.#fail('too many levels');
    this.#take(SPACE);
    const next = this.#text[this.#at];
    if (next === '{') return this.#object(depth);
    if (next === '[') return this.#array(depth);
    if (next === '"') return this.#string();
    if (next !== undefined && (next === '-' || /[0-9]/.test(next))) return this.#number();
    for (const [word, value] of WORDS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    return this.#fail('expected a value');
  }

  #object(depth: number): JsonValue {
    const members = new Map<string, JsonValue>();
    this.#items('{', '}', () => {
      this.#take(SPACE);
      const name = this.#string();
      if (members.has(name)) this.#fail(`${name} is named twice`);
      this.#expect(':');
      members.set(name, this.value(depth + 1));
    });
    return members;
  }

  #array(depth: number): JsonValue {
    const items: JsonValue[] = [];
    this.#items('[', ']', () => items.push(this.value(depth + 1)));
    return items;
  }

  #items(open: string, close: string, read: () => void): void {
    this.#expect(open);
    if (this.#skipTo(close)) return;
    do read();
    while (this.#skipTo(','));
    this.#expect(close);
  }

  #string(): string {
    const start = this.#at;
    const text = this.#take(STRING);
    try {
      return JSON.parse(text) as string;
    } catch {
      this.#at = start;
      return this.#fail('expected a string');
    }
  }

  #number(): JsonValue {
    const text = this.#take(NUMBER);
    if (text === '' || text === '-0') this.#fail('expected a number');
    return /[.eE]/.test(text) ? new JsonFraction(text) : BigInt(text);
  }

  #take(form: RegExp): string {
    form.lastIndex = this.#at;
    const found = form.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  /** Reads `character` and returns true if it is next. */
  #skipTo(character: string): boolean {
    this.#take(SPACE);
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #expect(character: string): void {
    if (!this.#skipTo(character)) this.#fail(`expected ${character}`);
  }

  #fail(message: string): never {
    throw new JsonTextError(message, this.#at);
  }
}

const WIDTH_MAX = 96;

/** The tree formatted for people: short objects and arrays on one line. */
export function prettyJson(value: JsonValue, indent = ''): string {
  const flat = flatJson(value);
  if (flat.length + indent.length <= WIDTH_MAX) return flat;
  const inner = `${indent}  `;
  if (isJsonObject(value)) {
    const members = [...value].map(([name, member]) => `${inner}${JSON.stringify(name)}: ${prettyJson(member, inner)}`);
    return `{\n${members.join(',\n')}\n${indent}}`;
  }
  if (!isList(value)) return flat;
  // Bytes of a signature stay on one line, independent of their number.
  if (value.every((item) => typeof item === 'bigint')) return flat;
  return `[\n${value.map((item) => inner + prettyJson(item, inner)).join(',\n')}\n${indent}]`;
}

function flatJson(value: JsonValue): string {
  if (isJsonObject(value)) {
    const members = [...value].map(([name, member]) => `${JSON.stringify(name)}: ${flatJson(member)}`);
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
  }
  if (isList(value)) return `[${value.map(flatJson).join(', ')}]`;
  if (value instanceof JsonFraction) return value.text;
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
