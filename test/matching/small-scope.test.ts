/**
 * Every short sequence over two users, two prices, two sizes and every kind of order; see small-scope.ts for what is
 * left out and why that loses nothing.
 *
 * By default sequences of two commands over all of it, and of three over one size without families. All of it deeper:
 * RINGBOOK_EXHAUSTIVE_DEPTH=3 takes minutes, 4 hours; progress goes to stderr.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { RAW_MAX } from '../../src/core/limits.ts';
import { playAll, type Scope } from '../support/small-scope.ts';

const DEPTH = Number(process.env['RINGBOOK_EXHAUSTIVE_DEPTH'] ?? 2);
const WHOLE: Scope = {
  depth: DEPTH,
  prices: [100, 101],
  sizes: [1, 2],
  hasFamilies: true,
  isPrevented: false,
  collar: [1, RAW_MAX],
};

function report(length: number, done: number, of: number): void {
  if (DEPTH > 2 && done % 100 === 0) process.stderr.write(`${length} commands: ${done} of ${of} states\n`);
}

suite('every short sequence of commands', () => {
  for (const isPrevented of [false, true])
    test(`engine and reference tell the same, self-trade prevention ${isPrevented ? 'on' : 'off'}`, () => {
      const { sequences } = playAll({ ...WHOLE, isPrevented }, report);
      assert.ok(sequences > 2_000, `only ${sequences} sequences`);
    });

  test('with a collar between the prices', () => {
    assert.ok(playAll({ ...WHOLE, isPrevented: true, collar: [101, 100] }, report).sequences > 2_000);
  });

  test('three commands over one size', () => {
    const { sequences } = playAll({ ...WHOLE, depth: 3, sizes: [1], prices: [100], hasFamilies: true });
    assert.ok(sequences > 2_000, `only ${sequences} sequences`);
  });
});
