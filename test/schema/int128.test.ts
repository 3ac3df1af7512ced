// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { AMOUNT18_MAX } from '../../src/core/limits.ts';
import { viewsOf } from '../../src/core/views.ts';
import { readInt128, writeInt128 } from '../../src/schema/int128.ts';
import { propertyParameters } from '../support/property.ts';

const v = viewsOf(new ArrayBuffer(32), 0, 32);

function readBack(value: bigint): bigint {
  v.u8.fill(0xa5);
  writeInt128(v, 8, value);
  assert.deepEqual([v.u8[7], v.u8[24]], [0xa5, 0xa5], 'nothing beside it is touched');
  return readInt128(v, 8);
}

suite('amounts in messages', () => {
  test('every amount of 128 bits is read as it was written', () => {
    const amount = fc.oneof(
      fc.bigInt({ min: -AMOUNT18_MAX, max: AMOUNT18_MAX }),
      fc.bigInt({ min: -(1n << 65n), max: 1n << 65n }),
    );
    fc.assert(
      fc.property(amount, (value) => assert.equal(readBack(value), value)),
      propertyParameters(),
    );
  });

  test('the bounds of both halves are read as they were written', () => {
    const powers = [0n, 1n, 1n << 62n, 1n << 63n, 1n << 64n, 1n << 65n, AMOUNT18_MAX];
    for (const power of powers) {
      for (const value of [power - 1n, power, power + 1n]) {
        if (value > AMOUNT18_MAX) continue;
        assert.equal(readBack(value), value);
        assert.equal(readBack(-value), -value);
      }
    }
  });

  test('one more is refused', () => {
    assert.throws(() => writeInt128(v, 8, AMOUNT18_MAX + 1n), { name: 'InvariantError' });
    assert.throws(() => writeInt128(v, 8, -AMOUNT18_MAX - 1n), { name: 'InvariantError' });
  });
});
