/** The hash of live and past ids beside a plain map, while it grows and while ids leave it (AMB-08). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { IdTable } from '../../src/matching/id-table.ts';

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
});
