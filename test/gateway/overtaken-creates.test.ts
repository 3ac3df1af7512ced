// tier: quick
/** What a cancel of all orders of a connection has overtaken: bounded, and forgotten once it is over (UNS-01). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { CancelScope } from '../../src/codec/unsigned-cancels.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { OvertakenCreates } from '../../src/gateway/orders/entry/overtaken-creates.ts';

const ALL: CancelScope = { assetId: null, beforeNs: null };
const CREATE = {
  assetId: '1' as AssetId,
  side: SIDE.buy,
  creationNs: 1_000n as TimestampNs,
  protectionGroup: null,
  quoteSetId: null,
};
/** A quote set has entries on both sides. */
const SET = { ...CREATE, side: null, quoteSetId: 'mm' };
const SWEEPS = 64;

suite('creates that a cancel of all orders has overtaken', () => {
  test('UNS-01: 64 sweeps are kept while a frame before them has not ended, then none is taken', () => {
    const overtaken = new OvertakenCreates();
    const frame = overtaken.begin();
    for (let count = 0; count < SWEEPS; count += 1) {
      assert.equal(overtaken.isFull, false, `${count}`);
      overtaken.sweep(ALL);
    }
    assert.equal(overtaken.isFull, true);
    assert.equal(overtaken.isTaken(frame, CREATE), true);
    overtaken.end(frame);
    assert.deepEqual([overtaken.isFull, overtaken.size], [false, 0]);
  });

  test('UNS-01: a sweep takes what has begun before it and not what comes later; with nothing begun none is kept', () => {
    const overtaken = new OvertakenCreates();
    overtaken.sweep(ALL);
    assert.equal(overtaken.size, 0);
    const first = overtaken.begin();
    overtaken.join(first);
    overtaken.sweep({ ...ALL, side: SIDE.buy });
    const second = overtaken.begin();
    assert.equal(overtaken.isTaken(first, CREATE), true);
    assert.equal(overtaken.isTaken(first, { ...CREATE, side: SIDE.sell }), false);
    assert.equal(overtaken.isTaken(second, CREATE), false);
    overtaken.end(first);
    assert.equal(overtaken.size, 1, 'one create of the frame has not ended');
    overtaken.end(first);
    assert.equal(overtaken.size, 0);
    overtaken.end(second);
  });

  test('UNS-02: a sweep of a quote set takes no create, since none is an entry', () => {
    const overtaken = new OvertakenCreates();
    const frame = overtaken.begin();
    overtaken.sweep({ ...ALL, quoteSetId: 'mm' });
    assert.equal(overtaken.isTaken(frame, CREATE), false);
    overtaken.sweep({ ...ALL, protectionGroup: 'g' });
    assert.equal(overtaken.isTaken(frame, CREATE), false);
    assert.equal(overtaken.isTaken(frame, { ...CREATE, protectionGroup: 'g' }), true);
    overtaken.end(frame);
  });

  test('QTE-09: a sweep takes the quote sets that it means: of one side or none, of its name, its group, its market, its age', () => {
    const isTaken = (scope: Partial<CancelScope>): boolean => {
      const overtaken = new OvertakenCreates();
      const frame = overtaken.begin();
      overtaken.sweep({ ...ALL, ...scope });
      return overtaken.isTaken(frame, SET);
    };
    const atNs = (ns: bigint): Partial<CancelScope> => ({ beforeNs: ns as TimestampNs });
    for (const scope of [{}, { side: SIDE.sell }, { quoteSetId: 'mm', side: SIDE.buy }, atNs(1_001n)])
      assert.equal(isTaken(scope), true, Object.keys(scope).join());
    for (const scope of [{ quoteSetId: 'other' }, { protectionGroup: 'g' }, { assetId: '2' as AssetId }, atNs(1_000n)])
      assert.equal(isTaken(scope), false, Object.keys(scope).join());
  });
});
