// tier: quick
/** Bounds of answers over bytes, and sizes that refusals teach (CHN-01 to 03). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { type AnswerBounds, AnswerMeter } from '../../src/chain/answer-bounds.ts';
import { LearntSize } from '../../src/chain/learnt-size.ts';
import { propertyParameters } from '../support/property.ts';

const BOUNDS: AnswerBounds = { bytes: 1_000, depth: 3, values: 20 };

function measured(text: string, bounds: AnswerBounds, chunk = 7): keyof AnswerBounds | null {
  const meter = new AnswerMeter(bounds);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunk) {
    const beyond = meter.take(bytes.subarray(at, at + chunk));
    if (beyond !== null) return beyond;
  }
  return null;
}

/** Depth, and what is counted of a value: itself, or its members and items. */
function figures(value: unknown): { readonly depth: number; readonly values: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 0 };
  const items = Object.values(value).map(figures);
  const separators = Math.max(items.length - 1, 0) + (Array.isArray(value) ? 0 : items.length);
  return {
    depth: 1 + Math.max(0, ...items.map(({ depth }) => depth)),
    values: 1 + separators + items.reduce((sum, { values }) => sum + values, 0),
  };
}

suite('bounds of answers', () => {
  test('CHN-03: brackets in texts are no depth, escaped quotes end none; each bound is named', () => {
    assert.equal(measured('{"a":"[[[[[[\\"[[[,,,,,,,,,,,,,,,,,,,,,,,,,"}', BOUNDS), null);
    assert.equal(measured('{"a":"\\\\"},[[[[', BOUNDS), 'depth');
    assert.equal(measured('[[[]]]', BOUNDS), null);
    assert.equal(measured('[[[[', BOUNDS), 'depth');
    assert.equal(measured(`[${'0,'.repeat(25)}`, BOUNDS), 'values');
    assert.equal(measured(`[${'[],'.repeat(15)}`, BOUNDS), 'values');
    assert.equal(measured(' '.repeat(1_001), BOUNDS), 'bytes');
  });

  test('property: JSON is within its own figures and beyond any smaller ones, however it is cut (CHN-03)', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 40 }), (value, chunk) => {
        const text = JSON.stringify(value);
        const { depth, values } = figures(value);
        const exact = { bytes: Buffer.byteLength(text), depth, values: values + 1 };
        assert.equal(measured(text, exact, chunk), null);
        assert.equal(measured(text, { ...exact, bytes: exact.bytes - 1 }, chunk), 'bytes');
        if (depth > 0) assert.notEqual(measured(text, { ...exact, depth: depth - 1 }, chunk), null);
        if (values > 0) assert.notEqual(measured(text, { ...exact, values }, chunk), null);
      }),
      propertyParameters(300),
    );
  });

  test('CHN-01: a learnt size finds the limit from any side and stays near it; refusals become rare', () => {
    for (const most of [1, 7, 10, 1_000, 10_000, 65_536]) {
      const size = new LearntSize(1_024, 65_536);
      let refusals = 0;
      for (let request = 0; request < 20_000; request += 1) {
        const wanted = size.value;
        if (wanted <= most) size.answered(wanted);
        else {
          refusals += 1;
          size.refused(wanted);
        }
      }
      assert.ok(size.value * 2 > most || size.value === 65_536, `${size.value} of ${most}`);
      assert.ok(refusals < 30, `${refusals} refusals of ${most}`);
    }
    assert.equal(new LearntSize(8, 8).refused(1), false);
  });
});
