// tier: quick
/** Pending cancels, self-trade prevention and cancels of many at the gateway. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId, OrderId } from '../../../src/core/ids.ts';
import { ORDER_END, SIDE } from '../../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import { ALICE, BOB } from '../../support/names.ts';
import { BASE, codeOf, mustPass, OrderFixture } from '../../support/order-fixture.ts';

suite('pending cancels and self-trade prevention', () => {
  function pendingSell() {
    const fixture = new OrderFixture();
    const maker = fixture.place({ side: SIDE.sell });
    const taker = fixture.place({ id: 'buy', user: BOB });
    const trade = fixture.match(maker, taker, 200_000, 10_000, SIDE.buy);
    return { fixture, maker, trade };
  }

  test('cancel pending: Filled if the fills are confirmed, Canceled UserRequested if one rolls back, never held again (AMB-23)', () => {
    const confirmed = pendingSell();
    confirmed.fixture.cover(confirmed.maker);
    assert.deepEqual(confirmed.fixture.told(ALICE), ['Created']);
    confirmed.fixture.confirm(confirmed.trade);
    assert.deepEqual(confirmed.fixture.told(ALICE), ['Created', 'Removed Filled']);
    const { fixture, maker, trade } = pendingSell();
    fixture.cover(maker);
    fixture.rollBack(trade, 10, 1);
    assert.equal(fixture.held(ALICE, BASE), 0n);
    fixture.end(maker, ORDER_END.userRequested);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Canceled UserRequested']);
  });

  test('clearing may have filled the order before the market covers it: nothing changes', () => {
    const { fixture, maker, trade } = pendingSell();
    fixture.confirm(trade);
    fixture.cover(maker);
    assert.deepEqual([fixture.told(ALICE), fixture.status(ALICE)], [['Created', 'Removed Filled'], 'Filled']);
    fixture.cover(999);
  });

  test('a resting order in the way of its own user is Canceled SelfTradePrevented (STP-03)', () => {
    const fixture = new OrderFixture();
    fixture.end(fixture.place({ side: SIDE.sell }), ORDER_END.selfTradePrevented);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Canceled SelfTradePrevented']);
    assert.equal(fixture.held(ALICE, BASE), 0n);
  });
});

suite('cancels of many', () => {
  const all = (fixture: OrderFixture, assetId: AssetId | null = null) =>
    fixture.manager.requests.checkCancelAll({ user: ALICE, assetId });
  const batch = (fixture: OrderFixture, orderIds: readonly string[], assetId: AssetId | null = null) =>
    fixture.manager.requests.ordersToCancel({ user: ALICE, assetId, orderIds: orderIds as readonly OrderId[] });

  test('cancel-all concerns the markets with an unfinished order, dormant and on their way included (CAN-05, CAN-07, CAN-08, AMB-18)', () => {
    const fixture = new OrderFixture();
    assert.deepEqual(mustPass(all(fixture)), []);
    mustPass(fixture.request({ above: 210_000 }));
    assert.deepEqual(
      mustPass(all(fixture)).map(({ definition }) => definition.marketIndex),
      [3],
    );
    assert.equal(mustPass(all(fixture, BASE)).length, 1);
    assert.equal(codeOf(all(fixture, '77' as AssetId)), 'MARKET_NOT_FOUND');
  });

  test('a refused twin on its way does not hide the other from a cancel-all', () => {
    const fixture = new OrderFixture();
    const [one] = [mustPass(fixture.request({ quantity: 10 })), mustPass(fixture.request({ quantity: 10 }))];
    fixture.answer(one ?? 0, 0, REJECT_CODE.ALREADY_CANCELLED);
    assert.equal(mustPass(all(fixture)).length, 1);
  });

  test('its answer is not published: 202 was the answer (CAN-11); each order has its own end published (CAN-12)', () => {
    const fixture = new OrderFixture();
    const order = fixture.place();
    const [market] = mustPass(all(fixture));
    assert.ok(market !== undefined);
    const requestId = mustPass(fixture.manager.requests.reserveCancelAll());
    assert.equal(fixture.manager.requests.count, 1);
    fixture.end(order, ORDER_END.userRequested);
    fixture.answer(requestId, 2);
    assert.deepEqual([fixture.sink.answers.length, fixture.manager.requests.count], [1, 0]);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Canceled UserRequested']);
    assert.deepEqual(mustPass(all(fixture)), []);
  });

  test('cancel-batch leaves out unknown, foreign and finished ids, and counts each once (CAN-09, AMB-24)', () => {
    const fixture = new OrderFixture();
    fixture.place({ id: 'mine' });
    fixture.place({ id: 'theirs', user: BOB });
    fixture.end(fixture.place({ id: 'done' }), ORDER_END.userRequested);
    const ids = ['mine', 'theirs', 'done', 'unknown', 'mine'];
    for (const assetId of [null, BASE]) {
      assert.deepEqual(
        mustPass(batch(fixture, ids, assetId)).map(({ orderId }) => orderId),
        ['mine'],
      );
    }
    assert.equal(codeOf(batch(fixture, ids, '77' as AssetId)), 'MARKET_NOT_FOUND');
  });
});
