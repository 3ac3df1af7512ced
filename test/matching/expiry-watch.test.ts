// tier: quick
/** The watch on expiries: no order is missed, and no call pays for all orders at once (ORD-20). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ORDER_LIFE_NS } from '../../src/core/limits.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import { fromWords, highWord, isBefore, lowWord } from '../../src/core/time-words.ts';
import { ExpiryWatch } from '../../src/matching/expiry-watch.ts';
import { OrderPool } from '../../src/matching/order-pool.ts';
import { ORDER_STATE } from '../../src/matching/order-records.ts';
import { PLAIN_TERMS, START_NS } from '../support/market-recorder.ts';
import { propertyParameters } from '../support/property.ts';

const SECOND = 1_000_000_000n;
const HOUR = 3_600n * SECOND;
const ALL = Number.MAX_SAFE_INTEGER;
/** What a sweep may read in one tick, and each of them twice at most. */
const READS_PER_TICK = 2 * 1_024 + 64;

interface Order {
  readonly slot: number;
  readonly sequence: number;
  readonly expiryNs: bigint;
}

class World {
  readonly pool = new OrderPool(1_024);
  readonly watch = new ExpiryWatch(this.pool);
  nowNs: bigint = START_NS;
  live: Order[] = [];
  #sequence = 0;

  constructor() {
    this.tick(0n);
  }

  add(lifeNs: bigint): void {
    const expiryNs = this.nowNs + lifeNs;
    const words = {
      creationHigh: highWord(this.nowNs),
      creationLow: lowWord(this.nowNs),
      expiryHigh: highWord(expiryNs),
      expiryLow: lowWord(expiryNs),
    };
    this.#sequence += 1;
    const sequence = this.#sequence;
    const slot = this.pool.begin({ ...PLAIN_TERMS, ...words, side: SIDE.buy, price: 100 }, 1, 5, sequence);
    this.pool.setState(slot, ORDER_STATE.resting);
    this.watch.add(slot);
    this.live.push({ slot, sequence, expiryNs });
  }

  release(at: number): void {
    const [order] = this.live.splice(at % this.live.length, 1);
    if (order !== undefined) this.pool.release(order.slot);
  }

  /** As a market does. @returns who has expired, by sequence. */
  tick(sinceNs: bigint): number[] {
    this.nowNs += sinceNs;
    const [high, low] = [highWord(this.nowNs), lowWord(this.nowNs)];
    const { watch } = this;
    const due = isBefore(high, low, watch.wakeHigh, watch.wakeLow) ? [] : watch.pass(high, low, ALL);
    const sequences = due.map((slot) => this.pool.sequenceOf(slot));
    this.live = this.live.filter(({ slot }) => !due.includes(slot));
    for (const slot of due) this.pool.release(slot);
    watch.tick(this.nowNs);
    return sequences;
  }

  /** Sequences of those that are due at a time, earliest first, then by admission. */
  due(nowNs: bigint): number[] {
    const due = this.live.filter(({ expiryNs }) => expiryNs <= nowNs);
    due.sort((a, b) => Number(a.expiryNs - b.expiryNs) || a.sequence - b.sequence);
    return due.map(({ sequence }) => sequence);
  }
}

/** Calls of a method of the pool from now on. */
function countCalls(pool: OrderPool, name: 'expiryHigh' | 'stateOf'): () => number {
  const { [name]: original } = pool;
  let calls = 0;
  pool[name] = (slot: number) => {
    calls += 1;
    return original.call(pool, slot);
  };
  return () => {
    const sum = calls;
    calls = 0;
    return sum;
  };
}

suite('the watch on expiries (ORD-20)', () => {
  test('whatever comes and goes, and however time passes, exactly those expire that are due, in order', () => {
    const life = fc.oneof(
      { weight: 3, arbitrary: fc.bigInt({ min: 1n, max: 10n * SECOND }) },
      { weight: 3, arbitrary: fc.bigInt({ min: 1n, max: 3n * HOUR }) },
      { weight: 1, arbitrary: fc.constant(ORDER_LIFE_NS) },
    );
    const since = fc.oneof(
      { weight: 4, arbitrary: fc.bigInt({ min: 0n, max: 5n * SECOND }) },
      { weight: 4, arbitrary: fc.bigInt({ min: 0n, max: HOUR / 4n }) },
      { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 3n * HOUR }) },
    );
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ life, count: fc.integer({ min: 1, max: 40 }) }) },
      { weight: 2, arbitrary: fc.record({ release: fc.nat(1_000), count: fc.integer({ min: 1, max: 30 }) }) },
      { weight: 4, arbitrary: fc.record({ since }) },
    );
    let expired = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
        const world = new World();
        for (const next of steps) {
          if ('life' in next) for (let at = 0; at < next.count; at += 1) world.add(next.life);
          else if ('release' in next) {
            for (let at = 0; at < next.count && world.live.length > 0; at += 1) world.release(next.release + 7 * at);
          } else {
            const due = world.due(world.nowNs + next.since);
            assert.deepEqual(world.tick(next.since), due);
            expired += due.length;
          }
        }
      }),
      propertyParameters(150),
    );
    assert.ok(expired > 0);
  });

  test('of a large book a tick reads some slots, all of them within half an hour, and those that expire soon are found', () => {
    const world = new World();
    const count = 20_000;
    for (let at = 0; at < count; at += 1) world.add(at % 10 === 0 ? HOUR + BigInt(at) * SECOND : ORDER_LIFE_NS);
    const read = countCalls(world.pool, 'expiryHigh');
    let all = 0;
    let sweeping = 0;
    for (let minute = 0; minute < 59; minute += 1) {
      assert.deepEqual(world.tick(60n * SECOND), []);
      const reads = read();
      assert.ok(reads <= READS_PER_TICK, `${reads} in minute ${minute}`);
      all += reads;
      if (reads > 0) sweeping += 1;
    }
    assert.ok(all >= count && sweeping >= count / 1_024, `${all} in ${sweeping} ticks`);
    const due = world.due(world.nowNs + 2n * 60n * SECOND);
    assert.deepEqual([world.tick(2n * 60n * SECOND), due.length], [due, 7]);
    const wake = fromWords(world.watch.wakeHigh, world.watch.wakeLow);
    assert.equal(wake, START_NS + HOUR + 70n * SECOND);
  });

  test('entries of orders that have left are dropped as others come: a crowd that comes and goes leaves none behind', () => {
    const world = new World();
    for (let at = 0; at < 20; at += 1) world.add(30n * SECOND);
    const looks = countCalls(world.pool, 'stateOf');
    for (let at = 0; at < 5_000; at += 1) {
      world.add(20n * SECOND);
      world.release(20);
      const each = looks();
      assert.ok(each <= 8, `${each} looks for one that comes and goes`);
    }
    assert.deepEqual(world.tick(25n * SECOND), []);
    assert.ok(looks() < 200, 'of thousands that have left');
    assert.equal(world.tick(5n * SECOND).length, 20);
  });
});
