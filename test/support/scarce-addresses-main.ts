/** Fills a market's largest arrays and prints how they lie in memory; run with and without a limit of addresses. */
import { assert } from '../../src/core/assert.ts';
import { ORDER_LIFE_NS } from '../../src/core/limits.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import { highWord, lowWord } from '../../src/core/time-words.ts';
import { OrderPool } from '../../src/matching/order-pool.ts';
import { PLAIN_TERMS } from './market-recorder.ts';

const ORDERS = 100_000;
const LONG_ID_BYTES = 40;

const pool = new OrderPool(1);
const arrays = new Set<ArrayBufferLike>();
const life = { expiryHigh: highWord(ORDER_LIFE_NS), expiryLow: lowWord(ORDER_LIFE_NS) };
for (let i = 0; i < ORDERS; i++) {
  const slot = pool.begin(
    { ...PLAIN_TERMS, ...life, creationHigh: 0, creationLow: 0, side: SIDE.buy, price: 1 },
    i,
    1,
    i,
  );
  pool.setId(slot, i, new Int32Array(10).fill(i), 0, LONG_ID_BYTES);
  arrays.add(pool.words.buffer);
}
for (let i = 0; i < ORDERS; i++) {
  const slot = i * 16;
  const id = pool.idWordsOf(slot).subarray(pool.idAt(slot), pool.idAt(slot) + 10);
  assert(pool.userOf(slot) === i && pool.sequenceOf(slot) === i, 'a record is as it was written');
  assert(
    id.every((word) => word === i),
    'an id is as it was written',
  );
}
process.stdout.write(
  JSON.stringify({ isInPlace: pool.words.buffer instanceof SharedArrayBuffer, buffers: arrays.size }),
);
