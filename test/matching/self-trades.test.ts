// tier: quick
/** Self-trade prevention: cancel what rests, match the others. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { RAW_MAX } from '../../src/core/limits.ts';
import { TIF } from '../../src/core/order-terms.ts';
import { ends, fills, MarketFixture, names } from '../support/market-fixture.ts';
import { BUY, SELL, START_NS } from '../support/market-recorder.ts';

function prevented(): MarketFixture {
  const fixture = new MarketFixture();
  fixture.preventSelfTrades();
  return fixture;
}

suite('self-trade prevention', () => {
  test('without it own orders match (STP-01, STP-06)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 2, 100);
    assert.deepEqual(fills(fixture.buy('t', 2, 100)), [[1, 2, 100, 2]]);
  });

  test('it holds for messages after the switch (STP-01, AMB-38)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 2, 100);
    fixture.sell('n', 2, 100);
    fixture.buy('t', 1, 100);
    fixture.preventSelfTrades();
    assert.deepEqual(fills(fixture.buy('u', 1, 100)), []);
    fixture.preventSelfTrades(false);
    fixture.sell('o', 1, 100);
    assert.deepEqual(fixture.levels(BUY), []);
  });

  test('own resting orders are cancelled as they are reached, and matching goes on (STP-02, STP-03)', () => {
    const fixture = prevented();
    fixture.sell('own', 2, 100);
    fixture.sell('other', 2, 100, { user: 'bob' });
    fixture.sell('own too', 2, 101);
    fixture.sell('far', 2, 102);
    const told = fixture.buy('t', 5, 101);
    assert.deepEqual(names(told), ['accepted', 'ended', 'matched', 'ended']);
    assert.deepEqual(ends(told), [
      [1, 'SelfTradePrevented', 2],
      [3, 'SelfTradePrevented', 2],
    ]);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[[101, 3]], [[102, 2]]]);
  });

  test('an order that is served before it reaches its own leaves them alone (AMB-38)', () => {
    const fixture = prevented();
    fixture.sell('other', 2, 100, { user: 'bob' });
    fixture.sell('own', 2, 100);
    assert.deepEqual(ends(fixture.buy('t', 2, 100)), []);
    assert.deepEqual(fixture.levels(SELL), [[100, 2]]);
  });

  test('immediate and market orders cancel what they reach, sized by lots or by money alike (AMB-38)', () => {
    const takers = [
      (fixture: MarketFixture) => fixture.buy('t', 3, 101, { tif: TIF.ioc }),
      (fixture: MarketFixture) => fixture.marketBuy('t', { lots: 3 }),
      (fixture: MarketFixture) => fixture.marketBuy('t', { lots: 3, budget: 1_000 }),
      (fixture: MarketFixture) => fixture.marketBuy('t', { quote: 1_000 }),
    ];
    for (const take of takers) {
      const fixture = prevented();
      fixture.sell('own', 1, 100);
      fixture.sell('other', 1, 100, { user: 'bob' });
      fixture.sell('last', 1, 101);
      const told = take(fixture);
      assert.deepEqual(fills(told), [[2, 4, 100, 1]]);
      const reached = ends(told).map((end) => (end as unknown[])[1]);
      assert.deepEqual(reached, ['SelfTradePrevented', 'SelfTradePrevented', 'ImmediateOrCancel']);
    }
  });

  test('money that buys no lot of an own order does not reach it (AMB-37, AMB-38)', () => {
    const fixture = prevented();
    fixture.sell('other', 1, 100, { user: 'bob' });
    fixture.sell('own', 1, 101);
    assert.deepEqual(ends(fixture.marketBuy('t', { lots: 3, budget: 200 })), [[3, 'ImmediateOrCancel', 2]]);
    assert.deepEqual(fixture.levels(SELL), [[101, 1]]);
  });

  test('a fill-or-kill order leaves its own out, and cancels none of them when it fails (AMB-37)', () => {
    const fixture = prevented();
    fixture.sell('own', 2, 100);
    fixture.sell('other', 2, 100, { user: 'bob' });
    assert.deepEqual(ends(fixture.buy('t', 3, 100, { tif: TIF.fok })), [[3, 'FillOrKill', 3]]);
    assert.deepEqual(ends(fixture.marketBuy('u', { quote: 300, tif: TIF.fok })), [[5, 'FillOrKill', 0]]);
    assert.deepEqual(fixture.levels(SELL), [[100, 4]]);
    const told = fixture.buy('v', 2, 100, { tif: TIF.fok });
    assert.deepEqual([ends(told), fills(told)], [[[1, 'SelfTradePrevented', 2]], [[2, 7, 100, 2]]]);
  });

  test('a post-only order that crosses only its own cancels them and rests (STP-04)', () => {
    const fixture = prevented();
    fixture.sell('own', 2, 100);
    fixture.sell('own too', 2, 101);
    const told = fixture.buy('p', 1, 101, { postOnly: true });
    assert.deepEqual(names(told), ['accepted', 'ended', 'ended']);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[[101, 1]], []]);
  });

  test('a post-only order that would match anyone else is refused, and its own stay (TIF-07, AMB-38)', () => {
    const fixture = prevented();
    fixture.sell('own', 2, 100);
    fixture.sell('other', 2, 101, { user: 'bob' });
    assert.equal(fixture.buy('p', 1, 101, { postOnly: true })[0]?.[3], 'WOULD_CROSS');
    assert.deepEqual(fixture.levels(SELL).length, 2);
  });

  test('own orders give way to a post-only order beyond the collar too: nothing trades there (STP-04, AMB-39)', () => {
    const fixture = prevented();
    fixture.engine.setCollar(1, 99);
    fixture.sell('own', 2, 100);
    fixture.buy('p', 1, 98, { postOnly: true });
    assert.deepEqual(ends(fixture.replace('p', { price: 100, timestampNs: START_NS + 1n })), [
      [1, 'SelfTradePrevented', 2],
    ]);
    assert.deepEqual(fixture.levels(BUY), [[100, 1]]);
    fixture.engine.setCollar(1, RAW_MAX);
  });

  test('a replace that crosses own orders cancels them (AMB-19, STP-02)', () => {
    const fixture = prevented();
    fixture.sell('own', 2, 101);
    fixture.buy('b', 1, 100);
    const told = fixture.replace('b', { price: 101, timestampNs: START_NS + 1n });
    assert.deepEqual(names(told), ['replaced', 'ended']);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[[101, 1]], []]);
  });

  test('sub-accounts are distinct owners (STP-05)', () => {
    const fixture = prevented();
    fixture.sell('m', 2, 100);
    assert.deepEqual(fills(fixture.buy('t', 2, 100, { subAccount: 2 })), [[1, 2, 100, 2]]);
  });
});
