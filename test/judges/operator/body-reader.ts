/**
 * Reads a parsed JSON object strictly: unknown members are rejected by name, types are not coerced, integers are exact.
 * The first failure is kept; later reads return their fallback, so the reader of a body needs no branches.
 *
 * A fallback of `undefined` makes a member required.
 */
import { parseDecimal18 } from '../../../src/core/decimal.ts';
import { nearestName } from '../../../src/core/nearest-name.ts';
import { accepted, type Outcome, rejected } from '../../../src/core/outcome.ts';
import { type Reject, reject } from '../../../src/core/reject.ts';
import type { Amount18 } from '../../../src/core/units.ts';

type Body = Readonly<Record<string, unknown>>;

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

export interface AmountBounds {
  readonly min?: bigint;
  readonly max?: bigint;
}

const TEXT_LENGTH_MAX = 256;
const LIST_LENGTH_MAX = 1_024;
const INTEGER_FORM = /^(?:0|-?[1-9][0-9]{0,77})$/;

/** How a chain id is described where another text is given. */
export const CHAIN_ID_WORDS = 'a chain id of 18 hex digits';

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A safe integer from a JSON number, whether the parser delivered it as a number or as a bigint. */
function safeInteger(value: unknown): number | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value);
  return null;
}

export class BodyReader {
  readonly #body: Body;
  readonly #path: string;
  #first: Reject | null = null;

  /** @param members the allowed names. @param path prefix of the field names in rejects. */
  constructor(value: unknown, members: readonly string[], path = '') {
    this.#path = path;
    this.#body = isObject(value) ? value : {};
    if (!isObject(value)) this.fail('', 'an object is expected');
    const unknown = Object.keys(this.#body).find((name) => !members.includes(name));
    if (unknown !== undefined) this.fail(unknown, unknownMember(unknown, members));
  }

  /** The first failure as an outcome, or null. */
  get failure(): ReturnType<typeof rejected> | null {
    return this.#first === null ? null : rejected(this.#first);
  }

  fail(name: string, message: string): void {
    const field = name === '' ? this.#path.replace(/\.$/, '') : `${this.#path}${name}`;
    this.keep(field === '' ? reject('INVALID_REQUEST', message) : reject('INVALID_REQUEST', message, field));
  }

  /** Keeps a reject of another kind, or one of a nested reader. */
  keep(failure: Reject): void {
    this.#first ??= failure;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#body, name);
  }

  /** The member unparsed; undefined when it is absent. */
  raw(name: string): unknown {
    return this.has(name) ? this.#body[name] : undefined;
  }

  /** Reads one member with `test`. `blank` replaces a required member after a failure. */
  #read<T>(name: string, test: (value: unknown) => T | null, expected: string, fallback: T | undefined, blank: T): T {
    if (!this.has(name)) {
      if (fallback === undefined) this.fail(name, 'this member is needed');
      return fallback ?? blank;
    }
    const value = test(this.#body[name]);
    if (value === null) this.fail(name, `${expected} expected`);
    return value ?? fallback ?? blank;
  }

  /** Like `read`, with null as a permitted value. */
  #readOrNull<T>(name: string, test: (value: unknown) => T | null, expected: string, fallback: T | null): T | null {
    if (!this.has(name)) return fallback;
    if (this.#body[name] === null) return null;
    const value = test(this.#body[name]);
    if (value === null) this.fail(name, `${expected} or null expected`);
    return value;
  }

  text(name: string, fallback: string | undefined): string {
    return this.#read(name, asText, 'a string is', fallback, '');
  }

  textOrNull(name: string, fallback: string | null): string | null {
    return this.#readOrNull(name, asText, 'a string', fallback);
  }

  flag(name: string, fallback: boolean | undefined): boolean {
    return this.#read(
      name,
      (value) => (typeof value === 'boolean' ? value : null),
      'true or false is',
      fallback,
      false,
    );
  }

  integer(name: string, bounds: Bounds, fallback: number | undefined): number {
    const test = (value: unknown): number | null => within(safeInteger(value), bounds);
    return this.#read(name, test, `an integer from ${bounds.min} to ${bounds.max} is`, fallback, bounds.min);
  }

  integers(name: string, bounds: Bounds, fallback: readonly number[]): readonly number[] {
    const test = (value: unknown): readonly number[] | null => asIntegers(value, bounds);
    return this.#read(name, test, 'a list of integers in range is', fallback, []);
  }

  /** One of a fixed list of strings. */
  word<W extends string>(name: string, words: readonly W[], fallback: W | undefined): W {
    const test = (value: unknown): W | null => words.find((word) => word === value) ?? null;
    return this.#read(name, test, `one of ${words.join(', ')} is`, fallback, words[0] as W);
  }

  /** A human decimal string with at most 18 fractional digits. */
  decimal(name: string, bounds: AmountBounds, fallback: Amount18 | undefined): Amount18 {
    return this.#read(
      name,
      (value) => asDecimal(value, bounds),
      'a decimal string in range is',
      fallback,
      0n as Amount18,
    );
  }

  decimalOrNull(name: string, bounds: AmountBounds, fallback: Amount18 | null): Amount18 | null {
    return this.#readOrNull(name, (value) => asDecimal(value, bounds), 'a decimal string in range', fallback);
  }

  /** An integer in base 10, as a string. */
  integerText(name: string, bounds: AmountBounds, fallback: bigint | undefined): bigint {
    return this.#read(name, (value) => asIntegerText(value, bounds), 'an integer string in range is', fallback, 0n);
  }

  integerTextOrNull(name: string, bounds: AmountBounds, fallback: bigint | null): bigint | null {
    return this.#readOrNull(name, (value) => asIntegerText(value, bounds), 'an integer string in range', fallback);
  }

  list(name: string, fallback: readonly unknown[] | undefined): readonly unknown[] {
    const test = (value: unknown): readonly unknown[] | null =>
      Array.isArray(value) && value.length <= LIST_LENGTH_MAX ? value : null;
    return this.#read(name, test, `a list of at most ${LIST_LENGTH_MAX} is`, fallback, []);
  }

  /** A value in a format of its own, parsed by `test`, which returns null for anything else. */
  form<T>(name: string, test: (text: string) => T | null, expected: string, fallback: T | undefined, blank: T): T {
    return this.#read(name, (value) => (typeof value === 'string' ? test(value) : null), expected, fallback, blank);
  }
}

function asText(value: unknown): string | null {
  return typeof value === 'string' && value.length <= TEXT_LENGTH_MAX ? value : null;
}

function within(value: number | null, bounds: Bounds): number | null {
  return value !== null && value >= bounds.min && value <= bounds.max ? value : null;
}

function asIntegers(value: unknown, bounds: Bounds): readonly number[] | null {
  if (!Array.isArray(value) || value.length > LIST_LENGTH_MAX) return null;
  const integers = value.map((item) => within(safeInteger(item), bounds));
  return integers.every((item) => item !== null) ? integers : null;
}

function inAmountBounds(value: bigint | null, bounds: AmountBounds): bigint | null {
  if (value === null) return null;
  if (bounds.min !== undefined && value < bounds.min) return null;
  return bounds.max !== undefined && value > bounds.max ? null : value;
}

function asDecimal(value: unknown, bounds: AmountBounds): Amount18 | null {
  if (typeof value !== 'string') return null;
  return inAmountBounds(parseDecimal18(value), bounds) as Amount18 | null;
}

function asIntegerText(value: unknown, bounds: AmountBounds): bigint | null {
  if (typeof value !== 'string' || !INTEGER_FORM.test(value)) return null;
  return inAmountBounds(BigInt(value), bounds);
}

/** Reads each object of a list with a reader of its own; the first failure goes to `parent`. */
export function readEach<T>(
  parent: BodyReader,
  items: readonly BodyReader[],
  read: (reader: BodyReader) => T,
): readonly T[] {
  return items.map((reader) => {
    const value = read(reader);
    const failure = reader.failure;
    if (failure !== null) parent.keep(failure.reject);
    return value;
  });
}

/**
 * Reads the members of an object that are present, in the order of the table.
 *
 * @returns INVALID_REQUEST with the failing member.
 */
export function readMembers<T extends object>(
  reader: BodyReader,
  table: { readonly [Name in keyof T]: (reader: BodyReader, name: string) => T[Name] },
): Outcome<Partial<T>> {
  const given: Partial<T> = {};
  for (const name of Object.keys(table) as (keyof T & string)[]) {
    if (reader.has(name)) given[name] = table[name](reader, name);
  }
  return reader.failure ?? accepted(given);
}

function unknownMember(name: string, members: readonly string[]): string {
  const nearest = nearestName(name, members);
  return nearest === null ? 'unknown member' : `unknown member: did you mean "${nearest}"?`;
}
