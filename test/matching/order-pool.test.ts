// tier: quick
/** The pool of orders: whatever is stored beside a record or apart from it is read as it was written. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ORDER_LIFE_NS } from '../../src/core/limits.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import { grown } from '../../src/core/pools.ts';
import { fromWords, highWord, lowWord } from '../../src/core/time-words.ts';
import { ORDERS_MAX, OrderPool, WordHeap } from '../../src/matching/order-pool.ts';
import { PLAIN_TERMS } from '../support/market-recorder.ts';
import { propertyParameters } from '../support/property.ts';

const WORDS = Int32Array.from({ length: 16 }, (_, word) => Math.imul(word + 1, 0x01234567) | 0x01010101);

/** What one order was given. */
interface Given {
  readonly slot: number;
  readonly user: number;
  readonly idBytes: number;
  sequence: number;
  priority: number;
  creation: bigint;
  timestamp: bigint;
  expiry: bigint;
}

/** The first bytes of the id, the rest of its last word zero. */
function idOf(bytes: number): number[] {
  const id = new Uint8Array(Math.ceil(bytes / 4) * 4);
  id.set(new Uint8Array(WORDS.buffer).subarray(0, bytes));
  return [...new Int32Array(id.buffer)];
}

function begin(pool: OrderPool, user: number, sequence: number, times: { creation: bigint; expiry: bigint }): number {
  const { creation, expiry } = times;
  const words = {
    creationHigh: highWord(creation),
    creationLow: lowWord(creation),
    expiryHigh: highWord(expiry),
    expiryLow: lowWord(expiry),
  };
  return pool.begin({ ...PLAIN_TERMS, ...words, side: SIDE.buy, price: 100 }, user, 5, sequence);
}

function checkOrder(pool: OrderPool, given: Given): void {
  const { slot } = given;
  assert.equal(pool.userOf(slot), given.user);
  assert.equal(pool.sequenceOf(slot), given.sequence);
  assert.equal(pool.priorityOf(slot), given.priority);
  assert.equal(fromWords(pool.creationHigh(slot), pool.creationLow(slot)), given.creation);
  assert.equal(fromWords(pool.timestampHigh(slot), pool.timestampLow(slot)), given.timestamp);
  assert.equal(fromWords(pool.expiryHigh(slot), pool.expiryLow(slot)), given.expiry);
  assert.equal(pool.idBytesOf(slot), given.idBytes);
  const at = pool.idAt(slot);
  const words = idOf(given.idBytes);
  assert.deepEqual([...pool.idWordsOf(slot).subarray(at, at + words.length)], words);
}

const time = fc.bigInt({ min: 0n, max: 2n ** 63n });
const step = fc.record({
  kind: fc.constantFrom('begin', 'beginUsual', 'priority', 'timestamp', 'expiry', 'release'),
  order: fc.nat(),
  idBytes: fc.integer({ min: 1, max: 64 }),
  number: fc.integer({ min: 1, max: 2 ** 53 - 1 }),
  time,
  other: time,
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

suite('the pool of orders', () => {
  test('ids of every length, own times and slots used again are read as they were written (AMB-08, AMB-19, ORD-20)', () => {
    const playAll = (steps: readonly Step[]): void => {
      const pool = new OrderPool(2);
      const live: Given[] = [];
      for (const { kind, order, idBytes, number, time: first, other } of steps) {
        const given = live[order % Math.max(live.length, 1)];
        if (kind === 'begin' || kind === 'beginUsual') {
          const times = { creation: first, expiry: kind === 'begin' ? other : first + ORDER_LIFE_NS };
          const slot = begin(pool, order % 7, number, times);
          pool.setId(slot, 1, WORDS, 0, idBytes);
          const user = order % 7;
          live.push({ slot, user, idBytes, sequence: number, priority: number, timestamp: first, ...times });
        } else if (given === undefined) continue;
        else if (kind === 'priority') {
          given.priority = number;
          pool.setPriority(given.slot, number);
        } else if (kind === 'timestamp') {
          given.timestamp = first;
          pool.setTimestamp(given.slot, highWord(first), lowWord(first));
        } else if (kind === 'expiry') {
          given.expiry = first;
          pool.setExpiry(given.slot, highWord(first), lowWord(first));
        } else {
          live.splice(live.indexOf(given), 1);
          pool.release(given.slot);
        }
        for (const one of live) checkOrder(pool, one);
        assert.equal(pool.count, live.length);
        const seen: number[] = [];
        pool.forEach((slot) => {
          seen.push(slot);
        });
        const slots = live.map(({ slot }) => slot).sort((a, b) => a - b);
        assert.deepEqual(seen, slots, 'each once, as they lie');
      }
    };
    fc.assert(fc.property(fc.array(step, { maxLength: 60, size: 'max' }), playAll), propertyParameters(200));
  });

  test('a large pool grows in place and keeps every order', () => {
    const pool = new OrderPool(1);
    const count = 65_536;
    const times = { creation: 5n, expiry: 5n + ORDER_LIFE_NS };
    for (let i = 0; i < count; i++) {
      const slot = begin(pool, i, i + 1, times);
      pool.setId(slot, i, Int32Array.of(i | 1, i, i, i, i, i), 0, 24);
    }
    assert.ok(pool.words.buffer instanceof SharedArrayBuffer, 'it is large enough to grow in place');
    for (let i = 0; i < count; i++) {
      const slot = i * 16;
      const id = [...pool.idWordsOf(slot).subarray(pool.idAt(slot), pool.idAt(slot) + 2)];
      assert.deepEqual([pool.userOf(slot), pool.sequenceOf(slot), ...id], [i, i + 1, i | 1, i]);
    }
    assert.ok(pool.bytes / count < 100, `an order takes ${pool.bytes / count} bytes`);
  });

  test('an array that grows keeps what it holds and is zero behind it, copied or in place', () => {
    let column = Float64Array.of(1, 2, 3);
    for (const length of [100, 130_000, 131_072, 140_000, 1_000_000]) {
      const before = column;
      const kept = before.length;
      column = grown(before, length);
      assert.equal(column.length, length);
      assert.deepEqual([...column.subarray(0, 3)], [1, 2, 3]);
      assert.ok(
        column.subarray(Math.max(kept, 3)).every((value) => value === 0),
        'zero behind it',
      );
    }
  });

  test('runs of words hold what they are given, and what is given back is used again before more is taken', () => {
    for (let size = 1; size <= 16; size++) {
      const heap = new WordHeap(size);
      const runs = Array.from({ length: 500 }, (_, i) => {
        const at = heap.allocate();
        heap.words.fill(i, at, at + size);
        return { at, i };
      });
      for (const { at, i } of runs) assert.ok(heap.words.subarray(at, at + size).every((word) => word === i));
      assert.ok(heap.bytes <= 4 * Math.max(2 * 500 * size, 64), `${heap.bytes} bytes of runs of ${size} words`);
      const { bytes } = heap;
      for (const { at } of runs) heap.release(at);
      const again = runs.map(() => heap.allocate());
      assert.equal(new Set(again).size, runs.length);
      assert.equal(heap.bytes, bytes);
    }
  });

  test('as many runs of the longest ids as a market has orders fit into one array', () => {
    const heap = new WordHeap(16);
    heap.words = grown(new Int32Array(0), ORDERS_MAX * 16);
    assert.ok(heap.words.length <= 2 ** 30, 'an index of it is a small integer');
  });

  test('what longer ids have left behind costs a pool nothing but the memory of the most that there were (AMB-08)', () => {
    const pool = new OrderPool(2);
    const fill = (bytes: number): number[] =>
      Array.from({ length: 100 }, (_, i) => {
        const slot = begin(pool, 0, i + 1, { creation: 5n, expiry: 6n });
        pool.setId(slot, i, WORDS, 0, bytes);
        return slot;
      });
    const round = (): number => {
      for (let bytes = 1; bytes <= 64; bytes++) for (const slot of fill(bytes)) pool.release(slot);
      return pool.bytes;
    };
    assert.equal(round(), round());
  });
});
