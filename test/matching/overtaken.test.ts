// tier: quick
/** Creates that a cancel of all orders has overtaken, and cancels of one side, in the market (UNS-01, UNS-02). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { SIDE } from '../../src/core/order-terms.ts';
import { ends, MarketFixture, only } from '../support/market-fixture.ts';
import { BUY, SELL } from '../support/market-recorder.ts';

/** What was told, by position. */
const rows = (told: readonly unknown[]): readonly unknown[][] => told as unknown[][];

suite('an overtaken create', () => {
  test('UNS-01: is accepted and canceled at once, and matches nothing, whatever crosses it', () => {
    const fixture = new MarketFixture();
    fixture.sell('ask', 5, 100, { user: 'bob' });
    for (const take of [
      () => fixture.buy('limit', 5, 100),
      () => fixture.marketBuy('market', { lots: 5 }),
      () => fixture.buy('post-only', 5, 100, { postOnly: true }),
    ]) {
      fixture.engine.cancelNext();
      const told = take();
      assert.equal(only(told, 'accepted').length, 1);
      assert.deepEqual(only(told, 'matched'), []);
      assert.deepEqual(
        rows(ends(told)).map(([, reason, remaining]) => [reason, remaining]),
        [['UserRequested', 5]],
      );
      assert.deepEqual(fixture.levels(SELL), [[100, 5]]);
      assert.deepEqual(fixture.levels(BUY), []);
    }
    assert.equal(only(fixture.buy('next', 5, 100), 'matched').length, 1, 'only the next one was meant');
  });

  test('UNS-01: one that waits for a trigger leaves the trigger book, and its id is used', () => {
    const fixture = new MarketFixture();
    fixture.engine.cancelNext();
    assert.deepEqual(
      rows(ends(fixture.buy('trigger', 1, 100, { above: 120 }))).map(([, reason]) => reason),
      ['UserRequested'],
    );
    assert.equal(only(fixture.buy('trigger', 1, 100), 'accepted').length, 0, 'as the id of every canceled order');
    assert.deepEqual(ends(fixture.cancelAll()), []);
  });

  test('UNS-01: one that is refused is refused, and the note is spent with it', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 1, 100);
    fixture.engine.cancelNext();
    assert.equal(only(fixture.buy('a', 1, 100), 'accepted').length, 0);
    assert.deepEqual(ends(fixture.buy('b', 1, 100)), []);
  });
});

suite('cancel-all of one side', () => {
  test('UNS-02: takes the orders of that side alone, those in the trigger book too', () => {
    const fixture = new MarketFixture();
    fixture.buy('b', 1, 100);
    fixture.sell('s', 1, 105);
    fixture.sell('t', 1, 105, { above: 120 });
    assert.deepEqual(
      rows(ends(fixture.cancelAll({ sideOnly: 1 + SIDE.sell }))).map(([order]) => order),
      [2, 3],
    );
    assert.deepEqual(fixture.levels(BUY), [[100, 1]]);
    assert.deepEqual(ends(fixture.cancelAll({ sideOnly: 1 + SIDE.sell })), []);
    assert.equal(ends(fixture.cancelAll({ sideOnly: 1 + SIDE.buy })).length, 1);
  });
});
