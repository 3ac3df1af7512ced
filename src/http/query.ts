/**
 * The query part of a request: which members a route has, single values, whole numbers and pages (wire.md 1, 6.1, AMB-105;
 * wire-additions.md 11.2, 11.3).
 */
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { isOfOtherUnit, OTHER_UNIT_TEXT, type TimestampNs } from '../core/units.ts';

const WHOLE_FORM = /^(?:0|[1-9][0-9]{0,19})$/;
/** Too long to be in any range. */
const LONG_FORM = /^[1-9][0-9]{20,}$/;
const DIGITS_FORM = /^[0-9]+$/;
/** The latest time that a query member may have, in nanoseconds. */
interface TimeBound {
  readonly value: bigint;
  /** Its name in messages. */
  readonly text: string;
}

const PAGE_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const TIME_MAX: TimeBound = { value: (1n << 63n) - 1n, text: '2^63-1' };
export const U64_TIME_MAX: TimeBound = { value: (1n << 64n) - 1n, text: '2^64-1' };

/** The query members of a route, and whether one may be given several times. */
export type QueryMembers = Readonly<Record<string, 'once' | 'repeats'>>;

export const NO_MEMBERS: QueryMembers = {};

/**
 * Why a query is refused whatever the values of its members mean: a name that the route does not have, one given twice, an
 * empty value. INVALID_REQUEST with the name, or null (wire-additions.md 11.3).
 *
 * @param raw without its question mark.
 */
export function queryFault(raw: string, members: QueryMembers): Reject | null {
  if (raw === '') return null;
  const seen = new Set<string>();
  // The separator in front keeps a second question mark in the first name.
  for (const [name, value] of new URLSearchParams(`&${raw}`)) {
    // mutant: query-member-ignored
    if (!Object.hasOwn(members, name)) return reject('INVALID_REQUEST', `this path has no query member ${name}`, name);
    if (seen.has(name) && members[name] === 'once') {
      return reject('INVALID_REQUEST', `${name} is given more than once`, name);
    }
    if (value === '') return reject('INVALID_REQUEST', `${name} has no value`, name);
    seen.add(name);
  }
  return null;
}

export interface PageWindow {
  /** From 0. */
  readonly page: number;
  /** The limit that is applied: at least 1, at most the route's cap. */
  readonly limit: number;
}

/** A raw query without its question mark, in which `queryFault` has found no fault. */
export class Query {
  readonly #values: URLSearchParams;

  constructor(raw: string) {
    this.#values = new URLSearchParams(raw);
  }

  /** Every value of a repeatable key. */
  all(key: string): readonly string[] {
    return this.#values.getAll(key);
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  /** @returns null when the key is absent; INVALID_REQUEST when it is repeated. */
  one(key: string): Outcome<string | null> {
    const values = this.#values.getAll(key);
    if (values.length > 1) return rejected(reject('INVALID_REQUEST', `${key} is given more than once`, key));
    return accepted(values[0] ?? null);
  }

  /** A whole number in base 10 without sign or leading zero, at most 20 digits; null when the key is absent. */
  whole(key: string): Outcome<bigint | null> {
    const text = this.one(key);
    if (!text.ok || text.value === null) return text.ok ? accepted(null) : text;
    if (WHOLE_FORM.test(text.value)) return accepted(BigInt(text.value));
    const fault = LONG_FORM.test(text.value) ? 'is out of range' : 'is not a whole number';
    return rejected(reject('INVALID_REQUEST', `${key} ${fault}`, key));
  }

  /**
   * A time in nanoseconds from 0 to `max`; null when the key is absent. One that is a time of today in another unit is
   * refused (MCH-11).
   */
  time(key: string, { value: max, text }: TimeBound = TIME_MAX): Outcome<TimestampNs | null> {
    const ns = this.whole(key);
    if (!ns.ok || ns.value === null) return ns as Outcome<null>;
    if (ns.value > max) return rejected(reject('INVALID_REQUEST', `${key} is at most ${text}`, key));
    if (isOfOtherUnit(ns.value)) return rejected(reject('INVALID_REQUEST', `${key} ${OTHER_UNIT_TEXT}`, key));
    return accepted(ns.value as TimestampNs);
  }

  /** `true` or `false`; by default false. */
  flag(key: string): Outcome<boolean> {
    const given = this.one(key);
    if (!given.ok) return given;
    const text = given.value ?? 'false';
    if (text === 'true' || text === 'false') return accepted(text === 'true');
    return rejected(reject('INVALID_REQUEST', `${key} is true or false`, key));
  }

  /** `page` and `limit`; a limit above the cap is reduced to the cap, a limit of 0 is rejected. */
  page(bounds: { readonly limitDefault: number; readonly limitMax: number }): Outcome<PageWindow> {
    const page = this.whole('page');
    if (!page.ok) return page;
    const limit = this.#limit();
    if (!limit.ok) return limit;
    if (limit.value === 0) return rejected(reject('INVALID_REQUEST', 'limit is at least 1', 'limit'));
    if (page.value !== null && page.value > PAGE_MAX) {
      return rejected(reject('INVALID_REQUEST', 'page is out of range', 'page'));
    }
    const applied = Math.min(limit.value ?? bounds.limitDefault, bounds.limitMax);
    return accepted({ page: Number(page.value ?? 0n), limit: applied });
  }

  /** Digits of any number, compared with a cap only; null when there is no limit. */
  #limit(): Outcome<number | null> {
    const text = this.one('limit');
    if (!text.ok || text.value === null) return text.ok ? accepted(null) : text;
    if (!DIGITS_FORM.test(text.value))
      return rejected(reject('INVALID_REQUEST', 'limit is not a whole number', 'limit'));
    return accepted(Number(text.value));
  }
}
