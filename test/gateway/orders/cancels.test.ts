/** Pending cancels, self-trade prevention and cancels of many at the gateway. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId, OrderId } from '../../../src/core/ids.ts';
import { ORDER_END, SIDE } from '../../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import { ALICE, BASE, BOB, codeOf, mustPass, OrderDesk } from '../../support/order-desk.ts';

suite('pending cancels and self-trade prevention', () => {
  function pendingSell() {
    const desk = new OrderDesk();
    const maker = desk.place({ side: SIDE.sell });
    const taker = desk.place({ id: 'buy', user: BOB });
    const trade = desk.match(maker, taker, 200_000, 10_000, SIDE.buy);
    return { desk, maker, trade };
  }

  test('cancel pending: Filled if the fills are confirmed, Canceled UserRequested if one rolls back, never held again (AMB-23)', () => {
    const confirmed = pendingSell();
    confirmed.desk.cover(confirmed.maker);
    assert.deepEqual(confirmed.desk.told(ALICE), ['Created']);
    confirmed.desk.confirm(confirmed.trade);
    assert.deepEqual(confirmed.desk.told(ALICE), ['Created', 'Removed Filled']);
    const { desk, maker, trade } = pendingSell();
    desk.cover(maker);
    desk.rollBack(trade, 10, 1);
    assert.equal(desk.held(ALICE, BASE), 0n);
    desk.end(maker, ORDER_END.userRequested);
    assert.deepEqual(desk.told(ALICE), ['Created', 'Canceled UserRequested']);
  });

  test('clearing may have filled the order before the market covers it: nothing changes', () => {
    const { desk, maker, trade } = pendingSell();
    desk.confirm(trade);
    desk.cover(maker);
    assert.deepEqual([desk.told(ALICE), desk.status(ALICE)], [['Created', 'Removed Filled'], 'Filled']);
    desk.cover(999);
  });

  test('a resting order in the way of its own user is Canceled SelfTradePrevented (STP-03)', () => {
    const desk = new OrderDesk();
    desk.end(desk.place({ side: SIDE.sell }), ORDER_END.selfTradePrevented);
    assert.deepEqual(desk.told(ALICE), ['Created', 'Canceled SelfTradePrevented']);
    assert.equal(desk.held(ALICE, BASE), 0n);
  });
});

suite('cancels of many', () => {
  const all = (desk: OrderDesk, assetId: AssetId | null = null) =>
    desk.manager.requests.checkCancelAll({ user: ALICE, assetId });
  const batch = (desk: OrderDesk, orderIds: readonly string[], assetId: AssetId | null = null) =>
    desk.manager.requests.ordersToCancel({ user: ALICE, assetId, orderIds: orderIds as readonly OrderId[] });

  test('cancel-all concerns the markets with an unfinished order, dormant and on their way included (CAN-05, CAN-07, CAN-08, AMB-18)', () => {
    const desk = new OrderDesk();
    assert.deepEqual(mustPass(all(desk)), []);
    mustPass(desk.request({ above: 210_000 }));
    assert.deepEqual(
      mustPass(all(desk)).map(({ definition }) => definition.marketIndex),
      [3],
    );
    assert.equal(mustPass(all(desk, BASE)).length, 1);
    assert.equal(codeOf(all(desk, '77' as AssetId)), 'MARKET_NOT_FOUND');
  });

  test('a refused twin on its way does not hide the other from a cancel-all', () => {
    const desk = new OrderDesk();
    const [one] = [mustPass(desk.request({ quantity: 10 })), mustPass(desk.request({ quantity: 10 }))];
    desk.answer(one ?? 0, 0, REJECT_CODE.ALREADY_CANCELLED);
    assert.equal(mustPass(all(desk)).length, 1);
  });

  test('its answer is not published: 202 was the answer (CAN-11); each order has its own end published (CAN-12)', () => {
    const desk = new OrderDesk();
    const order = desk.place();
    const [market] = mustPass(all(desk));
    assert.ok(market !== undefined);
    const requestId = mustPass(desk.manager.requests.reserveCancelAll());
    assert.equal(desk.manager.requests.count, 1);
    desk.end(order, ORDER_END.userRequested);
    desk.answer(requestId, 2);
    assert.deepEqual([desk.sink.answers.length, desk.manager.requests.count], [1, 0]);
    assert.deepEqual(desk.told(ALICE), ['Created', 'Canceled UserRequested']);
    assert.deepEqual(mustPass(all(desk)), []);
  });

  test('cancel-batch leaves out unknown, foreign and finished ids, and counts each once (CAN-09, AMB-24)', () => {
    const desk = new OrderDesk();
    desk.place({ id: 'mine' });
    desk.place({ id: 'theirs', user: BOB });
    desk.end(desk.place({ id: 'done' }), ORDER_END.userRequested);
    const ids = ['mine', 'theirs', 'done', 'unknown', 'mine'];
    for (const assetId of [null, BASE]) {
      assert.deepEqual(
        mustPass(batch(desk, ids, assetId)).map(({ orderId }) => orderId),
        ['mine'],
      );
    }
    assert.equal(codeOf(batch(desk, ids, '77' as AssetId)), 'MARKET_NOT_FOUND');
  });
});
