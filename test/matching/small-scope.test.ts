// tier: quick, 4 s
/**
 * Every short sequence over two users, two prices, two sizes and every kind of order; see small-scope-walk.ts for what is
 * left out and why that loses nothing. Here sequences of two commands over all of it, and of three over one price and one
 * size; all of it to depth four is a command (small-scope-run.ts).
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { SMALL_SCOPE } from '../support/small-scope.ts';
import { SmallScopeWalk } from '../support/small-scope-walk.ts';

suite('every short sequence of commands', () => {
  for (const isPrevented of [false, true])
    test(`engine and reference emit the same events, self-trade prevention ${isPrevented ? 'on' : 'off'}`, () => {
      const { sequences } = new SmallScopeWalk({ ...SMALL_SCOPE, isPrevented }).walk();
      assert.ok(sequences > 2_000, `only ${sequences} sequences`);
    });

  test('with a collar between the prices', () => {
    const { sequences } = new SmallScopeWalk({ ...SMALL_SCOPE, isPrevented: true, collar: [101, 100] }).walk();
    assert.ok(sequences > 2_000, `only ${sequences} sequences`);
  });

  test('three commands over one size', () => {
    const { sequences } = new SmallScopeWalk({ ...SMALL_SCOPE, depth: 3, sizes: [1], prices: [100] }).walk();
    assert.ok(sequences > 2_000, `only ${sequences} sequences`);
  });

  for (const isPrevented of [false, true])
    test(`a protected maker, self-trade prevention ${isPrevented ? 'on' : 'off'}: trips, scans, rollbacks, freezes, restarts (MMP-03)`, () => {
      const scope = { ...SMALL_SCOPE, depth: 3, isPrevented, isProtected: true };
      const walk = new SmallScopeWalk(scope);
      const { sequences } = walk.walk();
      assert.ok(sequences > 3_000, `only ${sequences} sequences`);
      for (const event of ['protectionTriggered', 'protectionEnded', 'ended MarketMakerProtection', 'ended FillOrKill'])
        assert.ok(walk.seen.has(event), event);
      assert.ok(walk.seen.has('createRefused MMP_FROZEN'));
    });
});
