// tier: quick
/**
 * The budget that threads share: nothing is lost or given twice, whichever thread read the clock when (LIM-02,
 * LIM-06).
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import type { TimestampNs } from '../../../src/core/units.ts';
import { bucketOf, suppliedBy } from '../../../src/gateway/sessions/bucket.ts';
import { UNIT } from '../../../src/gateway/sessions/costs.ts';
import { type Part, SharedBudget } from '../../../src/gateway/sessions/shared-budget.ts';
import { propertyParameters } from '../../support/property.ts';

const START = 1_800_000_000_000_000_000n as TimestampNs;
const at = (ns: bigint): TimestampNs => (START + ns) as TimestampNs;

/**
 * A thread that takes single units of one part until it is stopped, each with a time that it read from `ticks` before.
 */
const TAKER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { url, memory, ticks, start, turns, tickNs, part } = workerData;
  import(url).then(({ SharedBudget }) => {
    const shared = new SharedBudget(memory);
    const words = new BigInt64Array(ticks);
    let taken = 0;
    for (let turn = 0; turn < turns; turn += 1) {
      const now = start + Atomics.add(words, 0, tickNs);
      if (shared.take(1000n, now, part) === null) taken += 1;
    }
    parentPort.postMessage(taken);
  });`;

interface Race {
  readonly shared: SharedBudget;
  /** How far the clock of all threads is, in ns. */
  readonly ticks: SharedArrayBuffer;
  readonly turns: number;
  readonly tickNs: bigint;
}

/** @returns what the thread took. */
async function taker({ shared, ticks, turns, tickNs }: Race, part: Part = 'user'): Promise<number> {
  const url = new URL('../../../src/gateway/sessions/shared-budget.js', import.meta.url).href;
  const workerData = { url, memory: shared.memory, ticks, start: START, turns, tickNs, part };
  const worker = new Worker(TAKER, { eval: true, workerData });
  const taken = await new Promise<number>((resolve, fail) => {
    worker.once('message', resolve);
    worker.once('error', fail);
  });
  await worker.terminate();
  return taken;
}

suite('one budget for several threads', () => {
  test('a clock that was read before another thread charged finds nothing, and fills nothing', () => {
    const shared = new SharedBudget();
    shared.configure(bucketOf(20_000n), 2n * UNIT, START);
    assert.equal(shared.take(20_000n * UNIT, START), null);
    for (const earlyNs of [1n, 1_000n, 1_000_000_000n, 60_000_000_000n]) {
      assert.deepEqual(shared.takePublicRead(at(-earlyNs)), { asked: 2n * UNIT, available: 0n });
      assert.equal(shared.available(at(-earlyNs)), 0n);
      assert.equal(shared.available(START), 0n, `${earlyNs} ns before`);
      assert.equal(shared.take(0n, at(-earlyNs)), null, 'what costs nothing is let through');
      assert.equal(shared.available(START), 0n);
    }
    assert.equal(shared.available(at(1_000_000_000n)), 20_000n * UNIT);
  });

  test('for any order of charges with clocks read earlier: never more than the capacity and what was supplied', () => {
    const charge = fc.record({
      laterNs: fc.bigInt({ min: 0n, max: 3_000_000n }),
      earlyNs: fc.bigInt({ min: 0n, max: 50_000_000n }),
      price: fc.bigInt({ min: 0n, max: 60n * UNIT }),
    });
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 30_000n }), fc.array(charge, { maxLength: 150 }), (rate, charges) => {
        const size = { unitsPerSecond: rate, capacity: 150n };
        const shared = new SharedBudget();
        shared.configure(size, UNIT, START);
        let now = START;
        let taken = 0n;
        for (const { laterNs, earlyNs, price } of charges) {
          now = (now + laterNs) as TimestampNs;
          const before = shared.available(now);
          const isTaken = shared.take(price, (now - earlyNs) as TimestampNs) === null;
          if (isTaken) taken += price;
          const gone = before - shared.available(now);
          // Of a bucket that was full at the earlier time, what was supplied since counts as refill.
          assert.ok(gone >= 0n && gone <= price, `${gone} of ${price} are gone`);
          if (!isTaken) assert.equal(gone, 0n, 'a refusal takes nothing');
          const supplied = suppliedBy(size, now) - suppliedBy(size, START);
          assert.ok(taken <= 150n * UNIT + supplied, `${taken} taken of ${150n * UNIT + supplied}`);
        }
      }),
      propertyParameters(300),
    );
  });

  test('two threads that take as fast as they can take exactly what there is (LIM-02)', async () => {
    const shared = new SharedBudget();
    shared.configure({ unitsPerSecond: 0n, capacity: 100_000n }, UNIT, START);
    const race = { shared, ticks: new SharedArrayBuffer(8), turns: 120_000, tickNs: 0n };
    const [one, two] = await Promise.all([taker(race), taker(race)]);
    assert.equal(one + two, 100_000);
    assert.equal(shared.available(START), 0n);
  });

  test('two threads on an empty bucket that refills take no more than is supplied (LIM-02, LIM-06)', async () => {
    const size = { unitsPerSecond: 20_000n, capacity: 1_000n };
    const shared = new SharedBudget();
    shared.configure(size, UNIT, START);
    const ticks = new SharedArrayBuffer(8);
    const race = { shared, ticks, turns: 200_000, tickNs: 10_000n };
    const [one, two] = await Promise.all([taker(race), taker(race)]);
    const supplied = suppliedBy(size, at(Atomics.load(new BigInt64Array(ticks), 0))) - suppliedBy(size, START);
    const most = size.capacity + supplied / UNIT;
    assert.ok(BigInt(one + two) <= most, `${one + two} taken of ${most}`);
    assert.ok(BigInt(one + two) >= most / 2n, 'and about as much as there is');
  });
});

suite('shares of one budget (LIM-06, LIM-14)', () => {
  const drain = (shared: SharedBudget, part: Part, now = START): bigint => {
    let taken = 0n;
    while (shared.take(UNIT, now, part) === null) taken += 1n;
    return taken;
  };

  test('public requests take at most their half, users what is left, cancels a quarter beyond', () => {
    const shared = new SharedBudget();
    shared.configure(bucketOf(20_000n), 2n * UNIT, START);
    assert.equal(drain(shared, 'public'), 10_000n);
    assert.deepEqual(shared.takePublicRead(START), { asked: 2n * UNIT, available: 0n });
    assert.equal(shared.available(START), 10_000n * UNIT, 'what is left is there for users');
    assert.equal(drain(shared, 'user'), 10_000n);
    assert.equal(drain(shared, 'cancel'), 5_000n);
    for (const part of ['public', 'user', 'cancel'] as const) assert.equal(shared.available(START, part), 0n, part);
  });

  test('a user gets units at once, however fast public requests come, and no rate is lost while there are none', () => {
    const shared = new SharedBudget();
    shared.configure(bucketOf(20_000n), 2n * UNIT, START);
    let taken = drain(shared, 'public');
    for (let ms = 1n; ms <= 1_000n; ms += 1n) {
      const now = at(ms * 1_000_000n);
      taken += drain(shared, 'public', now);
      // As much as a batch of 50 and a cancel-all, ten times a second.
      if (ms % 100n === 0n) assert.equal(shared.take(125n * UNIT, now), null, `${ms} ms`);
    }
    assert.equal(taken, 10_000n + 20_000n - 9n * 125n, 'the first half, and what users left of the rate');
  });

  test('a budget below 2,000 units is not divided by default', () => {
    const shared = new SharedBudget();
    shared.configure({ unitsPerSecond: 4n, capacity: 4n }, 2n * UNIT, START);
    assert.equal(shared.takePublicRead(START), null);
    assert.equal(shared.takePublicRead(START), null);
    for (const part of ['public', 'user', 'cancel'] as const) assert.equal(shared.take(UNIT, START, part), 0n, part);
    const shares = { publicPercent: 25n, reservePercent: 50n };
    shared.configure({ unitsPerSecond: 4n, capacity: 4n }, UNIT, START, shares);
    assert.deepEqual(
      (['public', 'user', 'cancel'] as const).map((part) => drain(shared, part)),
      [1n, 3n, 2n],
    );
  });

  test('threads that race for three parts take together exactly what each may (LIM-02)', async () => {
    const shared = new SharedBudget();
    shared.configure({ unitsPerSecond: 0n, capacity: 40_000n }, UNIT, START);
    const race = { shared, ticks: new SharedArrayBuffer(8), turns: 60_000, tickNs: 0n };
    const [read, wrote, cancelled] = await Promise.all([
      taker(race, 'public'),
      taker(race, 'user'),
      taker(race, 'cancel'),
    ]);
    assert.equal(read + wrote + cancelled, 50_000);
    assert.ok(read <= 20_000 && read + wrote <= 40_000 && cancelled >= 10_000, `${read}, ${wrote}, ${cancelled}`);
    assert.equal(shared.available(START, 'cancel'), 0n);
  });
});
