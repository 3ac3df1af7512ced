/** The query part of a request: single values, whole numbers and pages (wire.md 1, 6.1, AMB-105). */
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';

const WHOLE_FORM = /^(?:0|[1-9][0-9]{0,19})$/;
const NUMBER_MAX = BigInt(Number.MAX_SAFE_INTEGER);

export interface Page {
  /** From 0. */
  readonly page: number;
  /** As applied: at least 1, at most the route's cap. */
  readonly limit: number;
}

/** A raw query, without its question mark, parsed on demand. Unknown keys are ignored. */
export class Query {
  readonly #values: URLSearchParams;

  constructor(raw: string) {
    this.#values = new URLSearchParams(raw);
  }

  /** Every value of a repeatable key. */
  all(key: string): readonly string[] {
    return this.#values.getAll(key);
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
    if (!WHOLE_FORM.test(text.value)) return rejected(reject('INVALID_REQUEST', `${key} is not a whole number`, key));
    return accepted(BigInt(text.value));
  }

  /** `page` and `limit`; a limit above the cap is reduced to the cap, a limit of 0 is rejected. */
  page(bounds: { readonly limitDefault: number; readonly limitMax: number }): Outcome<Page> {
    const page = this.whole('page');
    if (!page.ok) return page;
    const limit = this.whole('limit');
    if (!limit.ok) return limit;
    if (limit.value === 0n) return rejected(reject('INVALID_REQUEST', 'limit is at least 1', 'limit'));
    if (page.value !== null && page.value > NUMBER_MAX) {
      return rejected(reject('INVALID_REQUEST', 'page is out of range', 'page'));
    }
    const wanted = limit.value ?? BigInt(bounds.limitDefault);
    const applied = wanted > BigInt(bounds.limitMax) ? bounds.limitMax : Number(wanted);
    return accepted({ page: Number(page.value ?? 0n), limit: applied });
  }
}
