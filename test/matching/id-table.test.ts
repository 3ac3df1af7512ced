/** The hash of live and past ids beside a plain map, while it grows and while ids leave it (AMB-08). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { IdTable } from '../../src/matching/id-table.ts';
import { propertyParameters } from '../support/property.ts';

interface Filled {
  readonly table: IdTable;
  readonly hasFilter: boolean;
}

/** The numbers that stand under a hash. */
function under({ table, hasFilter }: Filled, hash: number): number[] {
  const places = table.placesOf(hash);
  const found: number[] = [];
  for (let place = places.placeOf(hash) * 2; places.pairs[place + 1] !== 0; place += 2)
    if (places.pairs[place] === hash) found.push((places.pairs[place + 1] as number) - 1);
  if (found.length > 0 && hasFilter) assert.ok(places.mayHave(hash), 'a filter never denies what is there');
  return found;
}

/** Spreads numbers over all hashes; `step` many share one. */
function hashOf(number: number, step: number): number {
  return Math.imul(Math.floor(number / step) + 1, 0x9e3779b1);
}

/** Hashes anywhere, near each other, at both ends, and shared ones. */
const hash = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }) },
  { weight: 2, arbitrary: fc.integer({ min: -40, max: -1 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 40 }) },
  { weight: 1, arbitrary: fc.nat({ max: 2_000 }).map((near) => 0x5eed_5eed + (near << 8)) },
);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ adds: hash, many: fc.integer({ min: 1, max: 24 }) }) },
  { weight: 1, arbitrary: fc.record({ removes: fc.nat(), many: fc.integer({ min: 1, max: 24 }) }) },
);

/** Plays steps on a table and on a map from entries to their hashes. */
class Compared {
  readonly #plain = new Map<number, number>();
  readonly #filled: Filled;
  /** Hashes that are, or were, in it. */
  readonly #asked = new Set<number>();
  #next = 0;

  constructor(capacity: number, hasFilter: boolean) {
    this.#filled = { table: new IdTable(capacity, hasFilter), hasFilter };
  }

  play(next: typeof step extends fc.Arbitrary<infer S> ? S : never): void {
    for (let count = 0; count < next.many; count++) {
      if ('adds' in next) this.#add((next.adds + count * (count & 1)) | 0);
      else this.#remove(next.removes + 7 * count);
    }
  }

  #add(of: number): void {
    this.#filled.table.add(of, this.#next);
    this.#plain.set(this.#next++, of);
    this.#asked.add(of);
  }

  #remove(pick: number): void {
    const numbers = [...this.#plain.keys()];
    const number = numbers[pick % numbers.length];
    if (number === undefined) return;
    this.#filled.table.remove(this.#plain.get(number) as number, number);
    this.#plain.delete(number);
  }

  check(): void {
    const expected = new Map<number, number[]>([...this.#asked].map((of) => [of, []]));
    for (const [number, of] of this.#plain) expected.get(of)?.push(number);
    for (const [of, numbers] of expected)
      assert.deepEqual(
        under(this.#filled, of).sort((a, b) => a - b),
        numbers,
      );
  }
}

/** Entries come and go, three for two, until there are thousands; each is where its hash says all the time. */
function play(hasFilter: boolean, step: number): void {
  const table = new IdTable(8, hasFilter);
  const filled = { table, hasFilter };
  const here = new Set<number>();
  let oldest = 0;
  for (let number = 0; number < 12_000; number++) {
    table.add(hashOf(number, step), number);
    here.add(number);
    if (number % 3 !== 0) {
      table.remove(hashOf(oldest, step), oldest);
      here.delete(oldest++);
    }
    const asked = (number * 7) % (number + 1);
    assert.equal(under(filled, hashOf(asked, step)).includes(asked), here.has(asked), `entry ${asked} after ${number}`);
  }
  for (const number of here) assert.ok(under(filled, hashOf(number, step)).includes(number), `entry ${number}`);
  for (let number = 0; number < oldest; number++) assert.ok(!under(filled, hashOf(number, step)).includes(number));
}

suite('the table of ids', () => {
  for (const hasFilter of [false, true]) {
    test(`knows what came and did not leave, ${hasFilter ? 'with' : 'without'} a filter (AMB-08)`, () => {
      play(hasFilter, 1);
    });

    test(`tells hashes apart that several share, ${hasFilter ? 'with' : 'without'} a filter (AMB-07)`, () => {
      play(hasFilter, 40);
    });
  }

  for (const hasFilter of [false, true])
    test(`is a map, whatever comes and goes in whatever order, ${hasFilter ? 'with' : 'without'} a filter (AMB-07)`, () => {
      const capacity = fc.constantFrom(1, 8, 16, 64, 256);
      fc.assert(
        fc.property(capacity, fc.array(step, { maxLength: 120, size: 'max' }), (places, steps) => {
          const compared = new Compared(places, hasFilter);
          for (const [at, next] of steps.entries()) {
            compared.play(next);
            if (at % 16 === 0) compared.check();
          }
          compared.check();
        }),
        propertyParameters(100),
      );
    });

  test('a large one is not copied for a cluster at its end, and one that no tail holds is found all the same (AMB-07)', () => {
    const filled = { table: new IdTable(2 ** 16, false), hasFilter: false };
    const { table } = filled;
    const { pairs } = table.placesOf(-1);
    const last = (number: number): number => -1 - number;
    for (let number = 0; number < 500; number++) table.add(last(number), number);
    assert.equal(table.placesOf(-1).pairs, pairs, 'the same places');
    for (let number = 500; number < 3_000; number++) table.add(last(number), number);
    for (let number = 0; number < 3_000; number++) assert.deepEqual(under(filled, last(number)), [number]);
  });
});
