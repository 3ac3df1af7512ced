// tier: quick
/** The keyed hash of prices: numbers that were made to meet, and numbers in a row (I19). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { finishHash, hashKeyOf, mixWord } from '../../src/core/key-words.ts';
import { NONE } from '../../src/core/pools.ts';
import { LEAF_SIZE, LevelIndex } from '../../src/matching/level-index.ts';
import { PriceHash } from '../../src/matching/price-hash.ts';

const SEEDS = [0n, 1n, 0x0706050403020100n, 0xffffffffffffffffn, 0x243f6a8885a308d3n];
const PLACES = 1_024;

/** The hash that stood here once: it could be computed by a client. */
function oldHash(value: number): number {
  return finishHash(mixWord(value | 0, Math.floor(value / 2 ** 32) | 0));
}

/** Keys that shared one of 1,024 places in the hash that stood here once. */
function keysMadeToMeet(count: number): number[] {
  const keys: number[] = [];
  for (let key = 1; keys.length < count; key++) if ((oldHash(key) & (PLACES - 1)) === 7) keys.push(key);
  return keys;
}

function inARow(count: number, step: number): number[] {
  return Array.from({ length: count }, (_, at) => (at + 1) * step);
}

/** The most that share one of 1,024 places. */
function pileUp(hashes: readonly number[]): number {
  const counts = new Int32Array(PLACES);
  for (const hash of hashes) counts[hash & (PLACES - 1)] = (counts[hash & (PLACES - 1)] ?? 0) + 1;
  return Math.max(...counts);
}

suite('hashes of prices', () => {
  test('spread prices that were made to meet, far apart or in a row, under every key', () => {
    const families = [
      keysMadeToMeet(1_000),
      inARow(1_000, 1),
      inARow(1_000, 2 ** 10),
      inARow(1_000, 2 ** 38),
      inARow(1_000, -1),
    ];
    for (const keys of families)
      for (const seed of SEEDS) {
        const hash = new PriceHash(hashKeyOf(seed));
        const most = pileUp(keys.map((key) => hash.of(key)));
        assert.ok(most <= 12, `${most} of 1,000 in one of 1,024 places under ${seed}`);
      }
  });

  test('differ under any two keys, and by every bit of a price', () => {
    const keys = Array.from({ length: 64 }, (_, bit) => new PriceHash(hashKeyOf(1n << BigInt(bit))));
    assert.equal(new Set(keys.map((hash) => hash.of(0x123456789ab))).size, 64);
    const [hash] = keys;
    assert.equal(new Set(Array.from({ length: 50 }, (_, bit) => hash?.of(2 ** bit))).size, 50);
  });

  test('find each of thousands of levels that were made to meet, whatever comes and goes', () => {
    const index = new LevelIndex(1, new PriceHash(hashKeyOf(9n)));
    const ranks = keysMadeToMeet(3_000).map((key) => key * LEAF_SIZE + (key % LEAF_SIZE));
    for (const rank of ranks) index.set(index.reach(rank));
    for (const rank of ranks) assert.equal(index.rankOf(index.find(rank)), rank);
    ranks.forEach((rank, at) => {
      if (at % 2 === 0) index.clear(index.find(rank));
      if (at % 100 === 0) index.releaseEmpty();
    });
    ranks.forEach((rank, at) => {
      assert.equal(index.find(rank) === NONE, at % 2 === 0);
    });
    index.releaseEmpty();
    assert.ok(index.isSound());
  });
});
