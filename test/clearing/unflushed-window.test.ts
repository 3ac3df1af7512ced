// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { UnflushedWindow } from '../../src/clearing/unflushed-window.ts';
import { propertyParameters } from '../support/property.ts';

suite('the loss window of optimistic acknowledgements (AMB-110)', () => {
  test('it is open from the first event that is not flushed until all are', () => {
    const window = new UnflushedWindow();
    assert.equal(window.seconds(1_000), 0);
    window.received(0, 1, 1_000);
    window.received(0, 2, 1_500);
    assert.equal(window.seconds(2_000), 1, 'a later word does not shorten it');
    window.flushed(0, 2, 2_000);
    assert.equal(window.seconds(3_000), 0);
  });

  test('a flush that covers a part leaves it open since the first event that it did not cover', () => {
    const window = new UnflushedWindow();
    window.received(0, 1, 1_000);
    window.received(0, 2, 1_200);
    window.received(0, 3, 1_300);
    window.flushed(0, 1, 1_400);
    assert.equal(window.seconds(1_900), 0.7, 'since the second word');
    window.received(0, 4, 1_900);
    window.flushed(0, 2, 2_000);
    assert.equal(window.seconds(2_000), 0.7, 'since the third word');
    window.flushed(0, 4, 2_100);
    assert.equal(window.seconds(5_000), 0);
  });

  test('it is never reported shorter than it is, and too long by what is not kept at most', () => {
    const words = fc.array(
      fc.record({ waitMs: fc.integer({ min: 0, max: 3 }), flushes: fc.integer({ min: 0, max: 6 }) }),
      {
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(words, (steps) => {
        const window = new UnflushedWindow();
        const waiting: { sequence: number; ms: number }[] = [];
        let nowMs = 1;
        for (const [index, { waitMs, flushes }] of steps.entries()) {
          nowMs += waitMs / 2;
          window.received(0, index + 1, nowMs);
          waiting.push({ sequence: index + 1, ms: nowMs });
          if (flushes > 0) {
            const covered = waiting.splice(0, flushes).at(-1);
            if (covered !== undefined) window.flushed(0, covered.sequence, nowMs);
          }
          const exact = (nowMs - (waiting[0]?.ms ?? nowMs)) / 1_000;
          const told = window.seconds(nowMs);
          assert.ok(told >= exact && told <= exact + 0.001, `${told} for ${exact}`);
        }
      }),
      propertyParameters(200),
    );
  });

  test('each flush reports how long the oldest event that it covers has waited', () => {
    const measured: number[] = [];
    const window = new UnflushedWindow((ms) => measured.push(ms));
    window.received(0, 1, 1_000);
    window.received(1, 1, 1_050);
    window.received(0, 2, 1_100);
    window.flushed(0, 2, 1_300);
    window.flushed(1, 1, 1_300);
    window.flushed(1, 1, 1_900);
    window.received(0, 3, 2_000);
    window.flushed(0, 3, 2_001);
    assert.deepEqual(measured, [300, 250, 1]);
  });

  test('markets are counted apart: the flush of one does not close the window of another', () => {
    const window = new UnflushedWindow();
    window.received(0, 5, 1_000);
    window.received(1, 9, 1_000);
    window.flushed(0, 5, 1_100);
    assert.ok(window.seconds(1_600) > 0);
    window.flushed(1, 9, 1_700);
    assert.equal(window.seconds(9_000), 0);
  });

  test('an event that was flushed before it was received opens nothing', () => {
    const window = new UnflushedWindow();
    window.flushed(3, 7, 1_000);
    window.received(3, 7, 1_001);
    assert.equal(window.seconds(2_000), 0);
  });
});
