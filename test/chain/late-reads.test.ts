// tier: quick
/** When blocks are read again (CHN-04): at most 8 times for each difference, ever less often, and what stays is listed. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { LateReads, READS_MAX } from '../../src/chain/late-reads.ts';
import type { ChainId } from '../../src/core/ids.ts';
import { propertyParameters } from '../support/property.ts';

const CHAIN = '000000000000007a69' as ChainId;
const TOKEN = '5a'.repeat(20).padEnd(64, '0');
const units = (amount: bigint): ReadonlyMap<string, bigint> => new Map(amount === 0n ? [] : [[TOKEN, amount]]);

suite('late reads', () => {
  test('CHN-04: a difference is read for after 1, 2, 4 … 128 s, from behind the last block without one; units that stay are listed', () => {
    const late = new LateReads();
    assert.equal(late.compared(CHAIN, 100, units(0n), 0), null);
    const reads: number[] = [];
    for (let second = 0; second <= 600; second += 1) {
      const from = late.compared(CHAIN, 110 + second, units(5n), second * 1_000);
      if (from === null) continue;
      assert.equal(from, 101);
      reads.push(second);
    }
    assert.deepEqual(
      reads,
      [1, 3, 7, 15, 31, 63, 127, 255].map((at) => at),
    );
    assert.deepEqual(late.listed(CHAIN), units(5n));
    // One that is taken away again, by a late event, is listed no longer; missing units never are.
    assert.equal(late.compared(CHAIN, 900, units(2n), 700_000), null);
    assert.deepEqual(late.listed(CHAIN), units(2n));
    assert.equal(late.compared(CHAIN, 901, units(0n), 701_000), null);
    assert.deepEqual(late.listed(CHAIN), units(0n));
    let negative = 0;
    for (let second = 0; second <= 600; second += 1) {
      if (late.compared(CHAIN, 902, units(-7n), 702_000 + second * 1_000) !== null) negative += 1;
    }
    assert.deepEqual([negative, late.listed(CHAIN)], [READS_MAX, units(0n)]);
  });

  test('CHN-04: a counter that is ahead is read for 8 times, and then it is over', () => {
    const late = new LateReads();
    const answers = Array.from({ length: 400 }, (_, second) => late.isAhead(CHAIN, 'alice', second * 1_000));
    assert.equal(answers.filter((answer) => answer === true).length, READS_MAX);
    assert.equal(answers.at(-1), 'over');
    assert.equal(late.isAhead(CHAIN, 'bob', 0), true);
  });

  test('CHN-04: one who changes the difference with every block gets a read every 128 s', () => {
    const late = new LateReads();
    let reads = 0;
    for (let second = 0; second < 36_000; second += 3) {
      if (late.compared(CHAIN, second, units(BigInt(second + 1)), second * 1_000) !== null) reads += 1;
    }
    assert.ok(reads <= 8 + 36_000 / 128, `${reads} reads in ten hours`);
  });

  test('property: whoever changes the difference, and how often, there are at most 8 reads for each change and fewer than one a second', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.bigInt(-3n, 3n), fc.integer({ min: 100, max: 20_000 })), { maxLength: 200 }),
        (story) => {
          const late = new LateReads();
          let nowMs = 0;
          let changes = 0;
          let reads = 0;
          let last = 0n;
          for (const [amount, passedMs] of story) {
            nowMs += passedMs;
            if (amount !== last) changes += 1;
            last = amount;
            if (late.compared(CHAIN, 10, units(amount), nowMs) !== null) reads += 1;
            for (const listed of late.listed(CHAIN).values()) assert.ok(listed > 0n && listed <= amount);
          }
          assert.ok(
            reads <= READS_MAX * changes && reads * 1_000 <= nowMs + 1_000,
            `${reads} reads of ${changes} changes`,
          );
        },
      ),
      propertyParameters(200),
    );
  });
});
