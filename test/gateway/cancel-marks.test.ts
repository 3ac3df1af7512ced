// tier: quick
/** Marks of cancels for quote sets that no market knows yet (QTE-09). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { TimestampNs } from '../../src/core/units.ts';
import { CancelMarks } from '../../src/gateway/orders/entry/cancel-marks.ts';
import { ALICE, BOB } from '../support/names.ts';
import { propertyParameters } from '../support/property.ts';

const ns = (value: number): TimestampNs => BigInt(value) as TimestampNs;
const KEPT_NS = 60n;
const EVERY = { user: ALICE, marketIndex: null, setId: null } as const;

interface Raise {
  readonly user: typeof ALICE;
  readonly marketIndex: number | null;
  readonly setId: string | null;
  readonly mark: number;
  readonly pause: number;
}

const RAISES = fc.array(
  fc.record<Raise>({
    user: fc.constantFrom(ALICE, BOB),
    marketIndex: fc.constantFrom(null, 1, 2),
    setId: fc.constantFrom(null, 'a', 'b'),
    mark: fc.integer({ min: 0, max: 5 }),
    pause: fc.integer({ min: 0, max: 30 }),
  }),
);

function highest(raised: readonly { readonly markNs: bigint }[]): bigint {
  return (
    raised
      .map(({ markNs }) => markNs)
      .sort((a, b) => (a < b ? -1 : 1))
      .at(-1) ?? 0n
  );
}

suite('marks of cancels', () => {
  test('QTE-09: a mark is of a user, of one market or all, of one name or all', () => {
    const marks = new CancelMarks();
    assert.equal(marks.markOf(ALICE, 1, 'a'), 0n);
    marks.raise({ ...EVERY, marketIndex: 1, setId: 'a' }, ns(5), ns(5), KEPT_NS);
    assert.deepEqual(
      [
        marks.markOf(ALICE, 1, 'a'),
        marks.markOf(ALICE, 1, 'b'),
        marks.markOf(ALICE, 2, 'a'),
        marks.markOf(BOB, 1, 'a'),
      ],
      [5n, 0n, 0n, 0n],
    );
    marks.raise({ ...EVERY, marketIndex: 1 }, ns(6), ns(6), KEPT_NS);
    assert.deepEqual([marks.markOf(ALICE, 1, 'b'), marks.markOf(ALICE, 2, 'b')], [6n, 0n]);
    marks.raise(EVERY, ns(7), ns(7), KEPT_NS);
    assert.equal(marks.markOf(ALICE, 2, 'b'), 7n);
    marks.raise(EVERY, ns(3), ns(8), KEPT_NS);
    assert.equal(marks.markOf(ALICE, 2, 'b'), 7n, 'a mark only rises');
  });

  test('QTE-09: a mark is kept as long as a revision may be old, and beyond the bound the oldest is of all users', () => {
    const marks = new CancelMarks(2);
    marks.raise(EVERY, ns(1), ns(1), KEPT_NS);
    marks.raise({ ...EVERY, user: BOB }, ns(61), ns(61), KEPT_NS);
    assert.equal(marks.markOf(ALICE, 1, 'a'), 1n, 'a revision of 1 is 60 old');
    marks.raise({ ...EVERY, user: BOB }, ns(62), ns(62), KEPT_NS);
    assert.deepEqual([marks.markOf(ALICE, 1, 'a'), marks.size], [0n, 1]);
    marks.raise(EVERY, ns(63), ns(63), KEPT_NS);
    marks.raise({ ...EVERY, marketIndex: 1 }, ns(64), ns(64), KEPT_NS);
    assert.equal(marks.size, 2);
    assert.deepEqual([marks.markOf(BOB, 9, 'z'), marks.markOf(ALICE, 9, 'z')], [62n, 63n]);
  });

  test('QTE-09: no cancel is forgotten while what was made before it is not too old, whatever comes', () => {
    fc.assert(
      fc.property(RAISES, fc.integer({ min: 1, max: 4 }), (raises, max) => {
        const marks = new CancelMarks(max);
        const raised: (Raise & { readonly markNs: bigint; readonly atNs: bigint })[] = [];
        let now = 1_000;
        for (const raise of raises) {
          now += raise.pause;
          const markNs = ns(now - raise.mark);
          marks.raise(raise, markNs, ns(now), KEPT_NS);
          raised.push({ ...raise, markNs, atNs: ns(now) });
          assert.ok(marks.size <= max);
          for (const user of [ALICE, BOB])
            for (const marketIndex of [1, 2])
              for (const setId of ['a', 'b']) {
                const own = raised.filter(
                  (each) =>
                    each.user === user &&
                    (each.marketIndex === null || each.marketIndex === marketIndex) &&
                    (each.setId === null || each.setId === setId) &&
                    each.atNs + KEPT_NS >= BigInt(now),
                );
                const [least, most] = [highest(own), highest(raised)];
                const mark = marks.markOf(user, marketIndex, setId);
                assert.ok(mark >= least && mark <= most, `${least} ${mark} ${most}`);
              }
        }
      }),
      propertyParameters(200),
    );
  });
});
