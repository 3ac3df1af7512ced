// tier: quick
/** The space for levels is bounded: a side reports it before an order rests where there is none. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { hashKeyOf } from '../../src/core/key-words.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import { BookSide } from '../../src/matching/book-side.ts';
import { LEAF_SIZE, LEAVES_MAX } from '../../src/matching/level-index.ts';
import { LevelQueues } from '../../src/matching/level-queues.ts';
import { OrderPool } from '../../src/matching/order-pool.ts';
import { PriceHash } from '../../src/matching/price-hash.ts';
import { PLAIN_TERMS } from '../support/market-recorder.ts';

const LEAF = LEAF_SIZE;
const LEAVES = 4;

suite('space for levels', () => {
  test('a price far from all others fits until there is no space for it, and again when one of them is gone', () => {
    const orders = new OrderPool(64);
    const levels = { leaves: 1, leavesMax: LEAVES, hash: new PriceHash(hashKeyOf(1n)) };
    const side = new BookSide(SIDE.buy, orders, levels);
    let sequence = 0;
    const rest = (price: number): number => {
      assert.ok(side.fits(price, 1));
      const slot = orders.allocate({ ...PLAIN_TERMS, side: SIDE.buy, price }, 0, 1);
      sequence += 1;
      orders.setSequence(slot, sequence);
      side.append(slot);
      side.dropChanges();
      return slot;
    };
    const slots = Array.from({ length: LEAVES }, (_, at) => rest((at + 1) * LEAF));
    assert.equal(side.fits((LEAVES + 1) * LEAF, 1), false);
    rest(2 * LEAF);
    rest(2 * LEAF + 5);
    assert.equal(side.fits((LEAVES + 1) * LEAF, 1), false);
    side.remove(slots.pop() as number, 1);
    side.dropChanges();
    rest((LEAVES + 1) * LEAF);
    assert.equal(side.fits(LEAVES * LEAF, 1), false);
  });

  test('records of as many levels as there may be fit into one array', () => {
    const queues = new LevelQueues(new OrderPool(2), 2 ** 16);
    queues.reserve(LEAVES_MAX * LEAF);
    const last = LEAVES_MAX * LEAF - 1;
    queues.open(last, 7);
    assert.equal(queues.priceOf(last), 7);
    assert.equal(queues.countOf(last), 0);
  });

  test('an order far from all others takes no more than half a kilobyte of its side, a crowd of them no more each', () => {
    const orders = new OrderPool(64);
    const side = new BookSide(SIDE.sell, orders, { leaves: 1, hash: new PriceHash(hashKeyOf(1n)) });
    const count = 2 ** 14;
    for (let at = 1; at <= count; at++) {
      const slot = orders.allocate({ ...PLAIN_TERMS, side: SIDE.sell, price: at * 1_000 }, 0, 1);
      orders.setSequence(slot, at);
      side.append(slot);
    }
    side.dropChanges();
    assert.ok(side.bytes / count < 512, `${side.bytes / count} bytes`);
  });
});
