// tier: quick
/** Cancel-all, and cancels that come while everything is pending. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MARKET_STATUS, ORDER_END, ROLLBACK_REASON } from '../../src/core/order-terms.ts';
import { ends, MarketFixture, names, only } from '../support/market-fixture.ts';
import { BUY, START_NS } from '../support/market-recorder.ts';

const { counterpartyAtFault: OTHER, insufficientInventory: OWN } = ROLLBACK_REASON;

suite('cancel-all', () => {
  test('everything that the user has goes, by admission, and is answered once (CAN-07, CAN-08, CAN-12)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 1, 100);
    fixture.sell('b', 1, 105);
    fixture.buy('not mine', 1, 100, { user: 'bob' });
    fixture.buy('c', 1, 99, { subAccount: 2 });
    const told = fixture.cancelAll();
    assert.deepEqual(only(told, 'ended', 'allCancelled'), [
      ['ended', 5, 1, 'UserRequested', 0, 1, 5],
      ['ended', 6, 2, 'UserRequested', 0, 1, 5],
      ['ended', 7, 4, 'UserRequested', 0, 1, 5],
      ['allCancelled', 5],
    ]);
    assert.equal(only(told, 'depthCommitted').length, 1, 'one step of the depth');
    assert.deepEqual(fixture.levels(BUY), [[100, 1]]);
    assert.deepEqual(fixture.cancelAll(), [['allCancelled', 6]]);
    assert.deepEqual(fixture.cancelAll({ user: 'nobody' }), [['allCancelled', 7]]);
  });

  test('with a time only what is strictly older goes, and a replace makes younger (CAN-06, AMB-18)', () => {
    const fixture = new MarketFixture();
    for (const id of ['a', 'b', 'c']) fixture.buy(id, 1, 100, { creationNs: START_NS + BigInt(id.charCodeAt(0) - 97) });
    fixture.replace('a', { price: 99, timestampNs: START_NS + 2n });
    assert.deepEqual(ends(fixture.cancelAll({ beforeNs: START_NS + 2n })), [[2, 'UserRequested', 1]]);
    assert.deepEqual(ends(fixture.cancelAll({ beforeNs: START_NS + 3n })), [
      [1, 'UserRequested', 1],
      [3, 'UserRequested', 1],
    ]);
  });

  test('without a time everything sequenced before it goes, whatever the clients’ clocks are (CAN-07, AMB-18)', () => {
    const fixture = new MarketFixture();
    fixture.buy('future', 1, 100, { creationNs: START_NS + 4_000_000_000n });
    assert.deepEqual(ends(fixture.cancelAll()), [[1, 'UserRequested', 1]]);
  });

  test('trigger orders are included, orders of the node are not (AMB-18)', () => {
    const fixture = new MarketFixture();
    fixture.buy('trigger', 1, 100, { above: 120 });
    fixture.buy('sys-liq-1', 1, 100, { nodeMade: true });
    assert.deepEqual(ends(fixture.cancelAll()), [[1, 'UserRequested', 1]]);
  });

  test('a parent takes its children along (AMB-29)', () => {
    const fixture = new MarketFixture();
    fixture.buy('parent', 5, 100);
    fixture.sell('child', 5, 110, { above: 105, parent: 'parent' });
    assert.deepEqual(ends(fixture.cancelAll()), [
      [1, 'UserRequested', 5],
      [2, 'ParentCanceled', 5],
    ]);
  });

  test('it works in every status (AMB-109)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 1, 100);
    fixture.setMarket(MARKET_STATUS.halted);
    assert.deepEqual(ends(fixture.cancelAll()), [[1, 'UserRequested', 1]]);
  });
});

suite('cancel-pending orders', () => {
  test('what is pending as a whole has its cancel pending: published, answered, and never back (AMB-23, AMB-32 d)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 3, 100);
    const [fill] = only(fixture.sell('t', 3, 100, { user: 'bob' }), 'matched');
    assert.deepEqual(fixture.cancelAll(), [
      ['cancelPending', 4, 1],
      ['allCancelled', 3],
    ]);
    assert.deepEqual(fixture.cancelAll(), [['allCancelled', 4]], 'once');
    assert.deepEqual(ends(fixture.rollback(fill, OTHER, OWN)), [
      [2, 'AtFault', 3],
      [1, 'UserRequested', 3],
    ]);
    assert.deepEqual(fixture.levels(BUY), []);
  });

  test('the node’s own cancel takes what rests and waits, and leaves what is pending as a whole (AMB-124)', () => {
    const fixture = new MarketFixture();
    fixture.buy('pending', 3, 100);
    const [fill] = only(fixture.sell('t', 3, 100, { user: 'bob' }), 'matched');
    fixture.buy('rests', 1, 99);
    fixture.buy('waits', 1, 99, { above: 200 });
    fixture.buy('others', 1, 98, { user: 'cyd' });
    const told = fixture.cancelAll({ end: ORDER_END.rateLimited });
    assert.deepEqual(ends(told), [
      [4, 'RateLimited', 1],
      [5, 'RateLimited', 1],
    ]);
    assert.deepEqual(only(told, 'cancelPending'), []);
    fixture.rollback(fill, OTHER, OWN);
    assert.deepEqual(fixture.levels(BUY), [
      [100, 3],
      [98, 1],
    ]);
  });

  test('if its fills are confirmed it was filled: nothing more is published, a late cancel finds nothing (AMB-23)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 3, 100);
    fixture.sell('t', 3, 100, { user: 'bob' });
    fixture.cancel('a');
    assert.deepEqual(names(fixture.settleAll()), []);
    assert.equal(fixture.cancel('a')[0]?.[2], 'ORDER_NOT_FOUND');
  });

  test('a cancel-pending order is no parent any more, and its children live by its fills (AMB-29)', () => {
    const fixture = new MarketFixture();
    fixture.buy('parent', 3, 100);
    fixture.sell('child', 5, 110, { above: 90, parent: 'parent' });
    fixture.sell('t', 3, 100, { user: 'bob' });
    fixture.cancel('parent');
    assert.equal(fixture.sell('late', 1, 110, { above: 90, parent: 'parent' })[0]?.[3], 'ORDER_NOT_FOUND');
    assert.deepEqual(only(fixture.settleAll(), 'replaced')[0]?.slice(2, 6), [2, 2, 110, 3]);
  });
});
