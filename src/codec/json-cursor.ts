/**
 * A strict, lossless pull reader over the bytes of one JSON text: every request is parsed with it (AMB-01, AMB-02).
 *
 * It reads once, from left to right, into typed values; it builds no tree and creates no inexact number. It always
 * rejects: bytes that are not UTF-8, a byte order mark, text after the value, a repeated member (names compared
 * decoded), a lone surrogate, more than 16 levels, and an integer of more than 80 digits, with a fraction, an exponent,
 * a leading zero or as `-0`.
 *
 * Failure is sticky: the first fault is kept with the name of the member being read, the position moves to the end,
 * every later read returns a default and every loop ends. So callers read without checks and check once, at the end:
 *
 *     cursor.reset(bytes, 0, bytes.length);
 *     cursor.enterObject();
 *     for (let name = cursor.nextMember(SHAPE); name !== null; name = cursor.nextMember(SHAPE)) { …read its value… }
 *     if (!cursor.finish()) return rejected(cursor.reject());
 *
 * Invariants: 1. position ≤ end. 2. After a failure position = end until `reset`. 3. Between two reads the position is
 * after a value, after the colon of a member, or after an opening bracket.
 */

import { must } from '../core/assert.ts';
import { JSON_DEPTH_MAX, JSON_DIGITS_MAX } from '../core/limits.ts';
import { type Reject, reject } from '../core/reject.ts';
import { isOfOtherUnit, OTHER_UNIT_TEXT, type TimestampNs } from '../core/units.ts';
import type { ObjectShape } from './json-shape.ts';
import { decodeString } from './json-string.ts';
import type { KnownText, KnownTexts } from './known-texts.ts';

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' | 'none';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const NOTHING = -1;

const TRUE = new TextEncoder().encode('true');
const FALSE = new TextEncoder().encode('false');
const NULL = new TextEncoder().encode('null');
const NUMBER_FORM = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** The first 15 digits and the last one of 2^53−1. */
const SAFE_HEAD = 900_719_925_474_099;
const SAFE_TAIL = 1;
const TWO_16 = 65_536;
const TWO_32 = 4_294_967_296;
/** Both halves of one u64 as words, so that one bigint is created. Little-endian, as Node's platforms are. */
const U64 = new BigUint64Array(1);
const U64_HALVES = new Uint32Array(U64.buffer);

/** The longest array of bytes: a WebAuthn assertion (signatures.ts). */
const BYTES_MAX = 4_096;
const FIELD_SHOWN_MAX = 64;

export class JsonCursor {
  #bytes: Buffer = Buffer.alloc(0);
  #position = 0;
  #end = 0;
  #failure: Reject | null = null;
  /** The member being read, named in a fault. */
  #field: string | null = null;
  /** Where the fault is, from the root: `data.orders[3].order.side`; null for a fault of no member. */
  #path: string | null = null;

  /**
   * One entry per open bracket, at index depth: members or items begun, bits of the members seen, the last one, its name,
   * unknown names.
   */
  #depth = 0;
  readonly #started = new Int32Array(JSON_DEPTH_MAX + 1);
  readonly #seen = new Int32Array(JSON_DEPTH_MAX + 1);
  readonly #last = new Int32Array(JSON_DEPTH_MAX + 1);
  /** '' in an array. */
  readonly #names: string[] = new Array<string>(JSON_DEPTH_MAX + 1).fill('');
  readonly #strangers: (Set<string> | null)[] = new Array<Set<string> | null>(JSON_DEPTH_MAX + 1).fill(null);

  readonly #scratch = new Uint8Array(BYTES_MAX);

  /** Restarts on bytes[start … end). The bytes are read in place and must not change before `finish`. */
  reset(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#position = start;
    this.#end = end;
    this.#failure = null;
    this.#field = null;
    this.#path = null;
    this.#depth = 0;
  }

  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  /** Whether exactly one well-formed value was read, followed only by white space. */
  finish(): boolean {
    // mutant: end-of-json
    if (this.#failure === null && this.#skipSpace() !== NOTHING) this.fail('the text goes on behind its value', null);
    return this.#failure === null;
  }

  /** The fault. Valid only after a failure. */
  reject(): Reject {
    return must(this.#failure, 'a reject is asked for after a failure');
  }

  /** The path of the invalid member, names cut like the field of the reject; null for none. Valid only after a failure. */
  path(): string | null {
    return this.#path;
  }

  /** Rejects the text. Only the first fault counts. @param field the invalid member; null for none. */
  fail(message: string, field: string | null = this.#field): void {
    if (this.#failure !== null) return;
    if (field !== null) this.#path = this.#pathTo(field);
    this.refuse(reject('INVALID_REQUEST', message, field?.slice(0, FIELD_SHOWN_MAX)));
  }

  /** As `fail`, of a member of the object whose closing bracket was just read. */
  failInside(message: string, field: string): void {
    if (this.#failure !== null) return;
    const path = this.#pathOf(this.#depth, field);
    this.fail(message, field);
    this.#path = path;
  }

  /** Rejects the text with the caller's reason. Only the first fault counts. */
  refuse(reason: Reject): void {
    if (this.#failure !== null) return;
    this.#failure = reason;
    this.#position = this.#end;
  }

  /** The kind of the next value, without reading it; `none` for the end and for a byte that starts no value. */
  kind(): JsonKind {
    const byte = this.#skipSpace();
    if (byte === QUOTE) return 'string';
    if (byte === MINUS || isDigit(byte)) return 'number';
    if (byte === OPEN_OBJECT) return 'object';
    if (byte === OPEN_ARRAY) return 'array';
    if (byte === TRUE[0] || byte === FALSE[0]) return 'boolean';
    return byte === NULL[0] ? 'null' : 'none';
  }

  // ---- objects and arrays

  enterObject(): void {
    this.#enter(OPEN_OBJECT, 'an object');
  }

  enterArray(): void {
    this.#enter(OPEN_ARRAY, 'an array');
  }

  /** True when another item follows; false at the closing bracket, which is then read, and after a failure. */
  nextItem(): boolean {
    return this.#more(CLOSE_ARRAY);
  }

  /**
   * Reads the name of the next member of `shape`; null at the closing bracket and after a failure. Unknown members are
   * rejected or skipped as the shape defines; a missing one is a fault at the closing bracket.
   */
  nextMember<Name extends string>(shape: ObjectShape<Name>): Name | null {
    while (this.#more(CLOSE_OBJECT)) {
      const index = this.#matchName(shape);
      if (index < 0) continue;
      const bit = 1 << index;
      const seen = this.#seen[this.#depth] as number;
      const name = shape.names[index] as Name;
      this.#begin(name);
      if ((seen & bit) !== 0) this.fail('a member is named once');
      if (shape.isChoice && seen !== 0) this.fail('exactly one member');
      this.#seen[this.#depth] = seen | bit;
      this.#last[this.#depth] = index;
      return this.#failure === null ? name : null;
    }
    if (this.#failure === null) this.#checkComplete(shape);
    return null;
  }

  /** The next member of an object without a fixed shape; null as for `nextMember`. */
  nextName(): string | null {
    if (!this.#more(CLOSE_OBJECT)) return null;
    const name = this.#readName();
    this.#begin(name);
    this.#rememberStranger(name);
    return this.#failure === null ? name : null;
  }

  /** Skips one value of any kind, with all checks. */
  skipValue(): void {
    const kind = this.kind();
    if (kind === 'object') {
      this.enterObject();
      while (this.nextName() !== null) this.skipValue();
    } else if (kind === 'array') {
      this.enterArray();
      while (this.nextItem()) this.skipValue();
    } else if (kind === 'string') this.readString();
    else if (kind === 'number') this.#skipNumber();
    else if (kind === 'boolean') this.readBoolean();
    else if (!this.readNull()) this.#expected('a JSON value', null);
  }

  // ---- strings and literals

  /** A string, decoded. @param lengthMax in UTF-16 units. */
  readString(lengthMax: number = Number.MAX_SAFE_INTEGER): string {
    if (this.#skipSpace() !== QUOTE) return this.#expected('a string', '');
    const bytes = this.#bytes;
    const start = this.#position + 1;
    for (let at = start; at < this.#end; at += 1) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) {
        this.#position = at + 1;
        if (at - start > lengthMax) this.fail(`a string of at most ${lengthMax} characters`);
        return bytes.toString('latin1', start, at);
      }
      if (byte === BACKSLASH || byte < 0x20 || byte > 0x7e) break;
    }
    const decoded = decodeString(bytes, start, this.#end);
    if (!decoded.ok) {
      this.fail(decoded.fault);
      return '';
    }
    this.#position = decoded.next;
    if (decoded.text.length > lengthMax) this.fail(`a string of at most ${lengthMax} characters`);
    return decoded.text;
  }

  /** The entry for the string that is next, which is read by that; null, and nothing read, if it is not in the table. */
  readKnown<Entry extends KnownText>(table: KnownTexts<Entry>): Entry | null {
    if (this.#skipSpace() !== QUOTE || this.#failure !== null) return null;
    const start = this.#position + 1;
    const known = table.find(this.#bytes, start, this.#end);
    if (known !== null) this.#position = start + known.text.length + 1;
    return known;
  }

  readBoolean(): boolean {
    if (this.#readWord(TRUE)) return true;
    return this.#readWord(FALSE) ? false : this.#expected('true or false', false);
  }

  /** Reads null and returns true if it is next; otherwise reads nothing. */
  readNull(): boolean {
    return this.#readWord(NULL);
  }

  // ---- numbers

  /** An integer within safe limits; one outside is a fault. A minus is accepted only if `min` is negative. */
  readInteger(min: number, max: number): number {
    const digits = this.#scanInteger(min < 0);
    const magnitude = this.#safeMagnitude(digits);
    const value = digits > 0 && this.#bytes[digits - 1] === MINUS && min < 0 ? -magnitude : magnitude;
    if (magnitude >= 0 && value >= min && value <= max) return value;
    return this.#expected(`an integer from ${min} to ${max}`, 0);
  }

  /**
   * A raw book figure. Its limits are checked with the order, not with the shape (wire.md 2.2): 0 represents every
   * integer outside 1 … 2^53−1, and the order's check names the field.
   */
  readRaw(): number {
    return Math.max(0, this.#safeMagnitude(this.#scanInteger(false)));
  }

  /** An integer from 0 to 2^64−1. */
  readU64(): bigint {
    const first = this.#scanInteger(false);
    const count = this.#position - first;
    if (count > 20) return this.#expected('an integer below 2^64', 0n);
    const cut = Math.max(first, this.#position - 9);
    const high = this.#digits(first, cut);
    const low = this.#digits(cut, this.#position);
    // high·10^9 + low in halves of 32 bits, no step above 2^53: high < 10^11, low < 10^9.
    const top = Math.floor(high / TWO_16) * 1_000_000_000;
    const rest = (top % TWO_16) * TWO_16 + (high % TWO_16) * 1_000_000_000 + low;
    const upper = Math.floor(top / TWO_16) + Math.floor(rest / TWO_32);
    if (upper >= TWO_32) return this.#expected('an integer below 2^64', 0n);
    U64_HALVES[0] = rest % TWO_32;
    U64_HALVES[1] = upper;
    return U64[0] as bigint;
  }

  /** Nanoseconds since 1970, from 0 to 2^64−1, that are no time of today in another unit (MCH-11). */
  readTime(): TimestampNs {
    const ns = this.readU64();
    if (isOfOtherUnit(ns)) this.fail(OTHER_UNIT_TEXT);
    return ns as TimestampNs;
  }

  /** A number of any JSON form, as its text. */
  readNumberText(): string {
    if (this.kind() !== 'number') return this.#expected('a number', '0');
    const start = this.#position;
    let at = start;
    while (at < this.#end && isNumberByte(this.#bytes[at] as number)) at += 1;
    // Converting more digits would take quadratic time; the text is not used elsewhere.
    if (at - start > 4 * JSON_DIGITS_MAX) return this.#expected('a shorter number', '0');
    const text = this.#bytes.toString('latin1', start, at);
    if (!NUMBER_FORM.test(text)) return this.#expected('a number', '0');
    this.#position = at;
    return text;
  }

  /**
   * An array of integers from 0 to 255: a key or a signature. Has its own loop, because a signature is a third of the
   * bytes of an order. @param countMax at most 4096. @param kept makes the result of the first `count` bytes.
   */
  readBytes(countMax: number, kept: (bytes: Uint8Array, count: number) => Uint8Array = ownBytes): Uint8Array {
    const bytes = this.#bytes;
    const scratch = this.#scratch;
    let count = 0;
    this.enterArray();
    while (this.#more(CLOSE_ARRAY)) {
      let byte = this.#skipSpace();
      const first = this.#position;
      let at = first;
      let value = 0;
      while (isDigit(byte) && at - first < 3) {
        value = value * 10 + byte - ZERO;
        at += 1;
        byte = at < this.#end ? (bytes[at] as number) : NOTHING;
      }
      const isPlain = at > first && (bytes[first] !== ZERO || at - first === 1);
      if (!isPlain || value > 255) this.#expected('integers from 0 to 255', null);
      else if (count === countMax) this.fail(`at most ${countMax} integers`);
      else this.#position = at;
      scratch[count++] = value;
    }
    return kept(scratch, count);
  }

  // ---- internals

  /** Skips short numbers, the usual case, in place; reads any other number. */
  #skipNumber(): void {
    const start = this.#position;
    let at = start;
    while (at < this.#end && at - start < 16 && isDigit(this.#bytes[at] as number)) at += 1;
    const isPlain = at > start && (this.#bytes[start] !== ZERO || at - start === 1);
    if (isPlain && (at === this.#end || !isNumberByte(this.#bytes[at] as number))) this.#position = at;
    else this.readNumberText();
  }

  /** Moves to the next byte that is not white space and returns it, −1 at the end. */
  #skipSpace(): number {
    const bytes = this.#bytes;
    while (this.#position < this.#end) {
      const byte = bytes[this.#position] as number;
      if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return byte;
      this.#position += 1;
    }
    return NOTHING;
  }

  #expected<T>(what: string, instead: T): T {
    this.fail(`expected ${what}`);
    return instead;
  }

  #enter(bracket: number, what: string): void {
    if (this.#skipSpace() !== bracket) this.#expected(what, null);
    else if (this.#depth === JSON_DEPTH_MAX) this.fail(`at most ${JSON_DEPTH_MAX} levels`);
    if (this.#failure !== null) return;
    this.#position += 1;
    this.#depth += 1;
    this.#started[this.#depth] = 0;
    this.#seen[this.#depth] = 0;
    this.#last[this.#depth] = -1;
    this.#names[this.#depth] = '';
    this.#strangers[this.#depth] = null;
  }

  /** The value of this member of the innermost object is read next. */
  #begin(name: string): void {
    this.#field = name;
    this.#names[this.#depth] = name;
  }

  /** Reads the comma before the next member or item, or the closing bracket. */
  #more(close: number): boolean {
    if (this.#failure !== null) return false;
    const byte = this.#skipSpace();
    if (byte === close) {
      this.#position += 1;
      this.#depth -= 1;
      return false;
    }
    const started = this.#started[this.#depth] as number;
    if (started > 0) {
      if (byte !== COMMA) return this.#expected('a comma or a closing bracket', false);
      this.#position += 1;
    }
    this.#started[this.#depth] = started + 1;
    return true;
  }

  /** Reads a name and its colon. @returns its index in the shape; −1 for a rejected or skipped one. */
  #matchName<Name extends string>(shape: ObjectShape<Name>): number {
    const guess = (this.#last[this.#depth] as number) + 1;
    if (guess < shape.nameBytes.length) {
      if (this.#readExactName(shape.nameBytes[guess] as Uint8Array)) return guess;
      const isOptional = (shape.required & (1 << guess)) === 0 && guess + 1 < shape.nameBytes.length;
      if (isOptional && this.#readExactName(shape.nameBytes[guess + 1] as Uint8Array)) return guess + 1;
    }
    const name = this.#readName();
    if (this.#failure !== null) return -1;
    const index = shape.indexOf.get(name);
    if (index !== undefined) return index;
    if (shape.unknown === 'refuse') {
      this.fail('an unknown member', name);
    } else {
      this.#rememberStranger(name);
      this.#begin(name);
      this.skipValue();
    }
    return -1;
  }

  /** Reads `"name":` if exactly these bytes are next. */
  #readExactName(name: Uint8Array): boolean {
    if (this.#skipSpace() !== QUOTE) return false;
    const bytes = this.#bytes;
    const start = this.#position + 1;
    const close = start + name.length;
    if (close >= this.#end || bytes[close] !== QUOTE) return false;
    for (let index = 0; index < name.length; index += 1) {
      if (bytes[start + index] !== name[index]) return false;
    }
    this.#position = close + 1;
    this.#readColon();
    return true;
  }

  #readName(): string {
    const name = this.readString();
    this.#readColon();
    return name;
  }

  #readColon(): void {
    if (this.#skipSpace() === COLON) this.#position += 1;
    else this.#expected('a colon', null);
  }

  #rememberStranger(name: string): void {
    const known = this.#strangers[this.#depth] ?? new Set<string>();
    if (known.has(name)) this.fail('a member is named once', name);
    known.add(name);
    this.#strangers[this.#depth] = known;
  }

  #checkComplete<Name extends string>(shape: ObjectShape<Name>): void {
    const seen = this.#seen[this.#depth + 1] as number;
    if (shape.isChoice && seen === 0) this.fail(`expected one of ${shape.names.join(', ')}`);
    const missing = shape.required & ~seen;
    if (missing === 0) return;
    this.failInside(
      'a missing member',
      must(shape.names[31 - Math.clz32(missing & -missing)], 'a required member has its name'),
    );
  }

  /** The path of the innermost open member of this name, or of a member beside the one that is open. */
  #pathTo(field: string): string {
    for (let depth = this.#depth; depth > 0; depth -= 1) {
      if (this.#names[depth] === field) return this.#pathOf(depth - 1, field);
    }
    return this.#pathOf(this.#depth - 1, field);
  }

  /** @param depth of the brackets whose open member or item leads to the last name. */
  #pathOf(depth: number, last: string): string {
    let path = '';
    for (let level = 1; level <= depth; level += 1) {
      const name = this.#names[level] as string;
      const begun = this.#started[level] as number;
      path += name === '' ? `[${begun - 1}]` : `${path === '' ? '' : '.'}${name.slice(0, FIELD_SHOWN_MAX)}`;
    }
    return `${path}${path === '' ? '' : '.'}${last.slice(0, FIELD_SHOWN_MAX)}`;
  }

  /** Reads `word` if it is next. */
  #readWord(word: Uint8Array): boolean {
    if (this.#skipSpace() !== word[0] || this.#position + word.length > this.#end) return false;
    for (let index = 1; index < word.length; index += 1) {
      if (this.#bytes[this.#position + index] !== word[index]) return false;
    }
    this.#position += word.length;
    return true;
  }

  /**
   * Scans an integer in its only valid spelling. @returns the position of its first digit; the position is then after
   * its last. After a failure both are the end, which means no digits.
   */
  #scanInteger(allowsMinus: boolean): number {
    const bytes = this.#bytes;
    let byte = this.#skipSpace();
    let at = this.#position;
    const isNegative = byte === MINUS;
    if (isNegative) {
      if (!allowsMinus) return this.#expected('an integer without a sign', this.#end);
      at += 1;
      byte = at < this.#end ? (bytes[at] as number) : NOTHING;
    }
    const first = at;
    while (isDigit(byte)) {
      at += 1;
      byte = at < this.#end ? (bytes[at] as number) : NOTHING;
    }
    const leadingZero = bytes[first] === ZERO && (at - first > 1 || isNegative);
    const isWhole = byte !== POINT && (byte | 0x20) !== 0x65;
    if (at === first || leadingZero || !isWhole || at - first > JSON_DIGITS_MAX) {
      return this.#expected('a plain integer', this.#end);
    }
    this.#position = at;
    return first;
  }

  /** The value of the digits from `first` to the position; −1 above 2^53−1. */
  #safeMagnitude(first: number): number {
    const count = this.#position - first;
    if (count <= 15) return this.#digits(first, this.#position);
    if (count > 16) return -1;
    const head = this.#digits(first, this.#position - 1);
    const tail = this.#digits(this.#position - 1, this.#position);
    return head < SAFE_HEAD || (head === SAFE_HEAD && tail <= SAFE_TAIL) ? head * 10 + tail : -1;
  }

  /** The value of at most 15 digits. */
  #digits(first: number, end: number): number {
    let value = 0;
    for (let at = first; at < end; at += 1) value = value * 10 + (this.#bytes[at] as number) - ZERO;
    return value;
  }
}

function ownBytes(bytes: Uint8Array, count: number): Uint8Array {
  return bytes.slice(0, count);
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

/** Digits, signs, the point and the exponent's letter: + - . e E. */
function isNumberByte(byte: number): boolean {
  return isDigit(byte) || byte === 0x2b || byte === MINUS || byte === POINT || byte === 0x65 || byte === 0x45;
}

/**
 * Where the values of the outermost object begin, by name. One pass over the brackets and strings, some 2 ms a MiB, whatever
 * the text is, −1 for one named twice; null for more members than `most`.
 */
export function outerMembers(
  bytes: Uint8Array,
  start: number,
  end: number,
  most: number,
): ReadonlyMap<string, number> | null {
  const members = new Map<string, number>();
  let count = 0;
  let depth = 0;
  let nameAt = start;
  let nameEnd = start;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      nameAt = at + 1;
      at = endOfString(bytes, nameAt, end);
      nameEnd = at;
    } else if (byte === COLON && depth === 1) {
      count += 1;
      const name = Buffer.from(bytes.subarray(nameAt, nameEnd)).toString('latin1');
      if (count > most) return null;
      members.set(name, members.has(name) ? NOTHING : at + 1);
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth -= 1;
  }
  return members;
}

/** @returns the place of the closing quote; `end` or behind it when there is none. */
function endOfString(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
