// tier: quick
/** A batch is published as one step of the depth, and otherwise equals its commands one by one (BAT-07). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../src/core/assert.ts';
import { MarketFixture, names, only } from '../support/market-fixture.ts';
import { BUY, MarketRecorder, SELL, type Told } from '../support/market-recorder.ts';
import { propertyParameters } from '../support/property.ts';

/** Keeps the published levels as market data would, in the order of publication. */
class DepthFold extends MarketRecorder {
  readonly levels: Record<number, Map<number, number>> = { [BUY]: new Map(), [SELL]: new Map() };
  commits = 0;

  override levelChanged(side: typeof BUY, price: number, quantity: number): void {
    const levels = this.levels[side] as Map<number, number>;
    if (quantity > 0) levels.set(price, quantity);
    else levels.delete(price);
  }

  override depthCommitted(): void {
    this.commits += 1;
  }

  best(side: typeof BUY): [number, number][] {
    const worse = side === BUY ? -1 : 1;
    return [...(this.levels[side] as Map<number, number>)].sort(([a], [b]) => worse * (a - b));
  }
}

interface Step {
  readonly act: 'buy' | 'sell' | 'cancel' | 'replace';
  readonly id: string;
  readonly quantity: number;
  readonly price: number;
}

const STEP: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom('buy', 'sell', 'cancel', 'replace'),
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  quantity: fc.integer({ min: 1, max: 5 }),
  price: fc.integer({ min: 98, max: 102 }),
});

function run(fixture: MarketFixture, { act, id, quantity, price }: Step): void {
  if (act === 'buy') fixture.buy(id, quantity, price);
  else if (act === 'sell') fixture.sell(id, quantity, price);
  else if (act === 'cancel') fixture.cancel(id);
  else fixture.replace(id, { price, quantity });
}

suite('a batch at the market', () => {
  test('publishes the levels of all its commands in one step', () => {
    const fixture = new MarketFixture();
    fixture.sell('s', 4, 103);
    fixture.engine.deferDepth(true);
    const told: Told[] = [...fixture.buy('a', 1, 100), ...fixture.buy('b', 2, 100), ...fixture.buy('c', 3, 103)];
    assert.deepEqual(only(told, 'levelChanged', 'depthCommitted'), []);
    assert.deepEqual(names(told), ['accepted', 'accepted', 'accepted', 'matched']);
    fixture.engine.deferDepth(false);
    assert.deepEqual(fixture.recorder.take(), [
      ['levelChanged', BUY, 100, 3],
      ['levelChanged', SELL, 103, 1],
      ['depthCommitted', fixture.engine.sequence],
    ]);
  });

  test('of which nothing changes a level publishes none; batches do not overlap', () => {
    const fixture = new MarketFixture();
    fixture.engine.deferDepth(true);
    fixture.cancel('nobody');
    assert.throws(() => fixture.engine.deferDepth(true), InvariantError);
    fixture.engine.deferDepth(false);
    assert.deepEqual(only(fixture.recorder.take(), 'levelChanged', 'depthCommitted'), []);
    assert.throws(() => fixture.engine.deferDepth(false), InvariantError);
  });

  test('does what its commands do one by one, and readers of the depth end with the same book', () => {
    fc.assert(
      fc.property(fc.array(fc.array(STEP, { minLength: 1, maxLength: 12 }), { maxLength: 12 }), (batches) => {
        const plain = new MarketFixture();
        const fold = new DepthFold();
        const held = new MarketFixture({ events: fold });
        for (const batch of batches) {
          const before = fold.commits;
          held.engine.deferDepth(true);
          for (const step of batch) run(held, step);
          held.engine.deferDepth(false);
          for (const step of batch) run(plain, step);
          assert.ok(fold.commits - before <= 1, 'one step at most');
          for (const side of [BUY, SELL]) {
            assert.deepEqual(fold.best(side), held.levels(side));
            assert.deepEqual(held.levels(side), plain.levels(side));
          }
        }
        assert.equal(held.engine.hash(), plain.engine.hash());
      }),
      propertyParameters(100),
    );
  });
});
