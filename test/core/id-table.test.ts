// tier: quick
/** The hash of ids beside a plain map, while it grows and while ids leave it (AMB-08). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { IdTable, nextPlace } from '../../src/core/id-table.ts';
import { propertyParameters } from '../support/property.ts';

/** The numbers that stand under a hash. */
function under(table: IdTable, hash: number): number[] {
  const places = table.placesOf(hash);
  const { cells } = places;
  const found: number[] = [];
  for (let place = places.placeOf(hash); cells[place + 1] !== 0; place = nextPlace(place))
    if (cells[place] === hash) found.push(cells[place + 1] as number);
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
  { weight: 1, arbitrary: fc.record({ renames: fc.nat(), many: fc.integer({ min: 1, max: 24 }) }) },
);

/** Plays steps on a table and on a map from entries to their hashes. */
class Compared {
  readonly #plain = new Map<number, number>();
  readonly #table: IdTable;
  /** Hashes that are, or were, in it. */
  readonly #asked = new Set<number>();
  #next = 1;

  constructor(capacity: number) {
    this.#table = new IdTable(capacity);
  }

  play(next: typeof step extends fc.Arbitrary<infer S> ? S : never): void {
    for (let count = 0; count < next.many; count++) {
      if ('adds' in next) this.#add((next.adds + count * (count & 1)) | 0);
      else if ('removes' in next) this.#remove(next.removes + 7 * count);
      else this.#rename(next.renames + 7 * count);
      // What is fetched may be anything, and nothing comes of it; nor of memory touched ahead.
      this.#table.fetch(Math.imul(this.#next, 0x9e3779b1));
      if ((this.#next & 15) === 0) this.#table.touchAhead();
    }
  }

  #add(of: number): void {
    this.#table.add(of, this.#next);
    this.#plain.set(this.#next++, of);
    this.#asked.add(of);
  }

  #remove(pick: number): void {
    const numbers = [...this.#plain.keys()];
    const number = numbers[pick % numbers.length];
    if (number === undefined) return;
    this.#table.remove(this.#plain.get(number) as number, number);
    this.#plain.delete(number);
  }

  /** Half of all numbers are below 0. */
  #rename(pick: number): void {
    const numbers = [...this.#plain.keys()];
    const number = numbers[pick % numbers.length];
    if (number === undefined) return;
    const of = this.#plain.get(number) as number;
    this.#table.rename(of, number, -this.#next);
    this.#plain.delete(number);
    this.#plain.set(-this.#next++, of);
  }

  check(): void {
    const expected = new Map<number, number[]>([...this.#asked].map((of) => [of, []]));
    for (const [number, of] of this.#plain) expected.get(of)?.push(number);
    for (const [of, numbers] of expected)
      assert.deepEqual(
        under(this.#table, of).sort((a, b) => a - b),
        numbers.sort((a, b) => a - b),
      );
  }
}

/** Entries come and go, three for two, until there are thousands; each is always where its hash puts it. */
function play(step: number): void {
  const table = new IdTable(8);
  const here = new Set<number>();
  let oldest = 1;
  for (let number = 1; number < 12_000; number++) {
    table.add(hashOf(number, step), number);
    here.add(number);
    if (number % 3 !== 0) {
      table.remove(hashOf(oldest, step), oldest);
      here.delete(oldest++);
    }
    const asked = 1 + ((number * 7) % (number + 1));
    assert.equal(under(table, hashOf(asked, step)).includes(asked), here.has(asked), `entry ${asked} after ${number}`);
  }
  for (const number of here) assert.ok(under(table, hashOf(number, step)).includes(number), `entry ${number}`);
  for (let number = 1; number < oldest; number++) assert.ok(!under(table, hashOf(number, step)).includes(number));
}

suite('the table of ids', () => {
  test('has what came and did not leave (AMB-08)', () => {
    play(1);
  });

  test('distinguishes entries with the same hash (AMB-07)', () => {
    play(40);
  });

  test('is a map, whatever comes, goes and gets another number, in whatever order (AMB-07)', () => {
    const capacity = fc.constantFrom(1, 8, 16, 64, 256);
    fc.assert(
      fc.property(capacity, fc.array(step, { maxLength: 120, size: 'max' }), (places, steps) => {
        const compared = new Compared(places);
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
    const table = new IdTable(2 ** 16);
    const { cells } = table.placesOf(-1);
    const last = (number: number): number => -1 - number;
    for (let number = 1; number < 500; number++) table.add(last(number), number);
    assert.equal(table.placesOf(-1).cells, cells, 'the same places');
    for (let number = 500; number < 3_000; number++) table.add(last(number), number);
    for (let number = 1; number < 3_000; number++) assert.deepEqual(under(table, last(number)), [number]);
  });
});
