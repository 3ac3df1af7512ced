// tier: quick
/** Children at the gateway: what is let through as a parent fills, and what is held for it. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { USD } from '../../../src/core/ids.ts';
import { ORDER_END, SIDE } from '../../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import { ONE_18, type RawQuantity } from '../../../src/core/units.ts';
import { ALICE, BOB } from '../../support/names.ts';
import {
  BASE,
  codeOf,
  mustPass,
  NOW,
  OrderFixture,
  type OrderWish,
  replaceRequest,
} from '../../support/order-fixture.ts';

const CALLER = { user: ALICE, now: NOW, looksUp: false };
const CENT = ONE_18 / 100n;
const GO = 0;

/** The releases that the gateway sent to the market: order, quantity, end. */
function released(fixture: OrderFixture): readonly (readonly number[])[] {
  return fixture.sink.releases.map(({ order, quantity, end }) => [order, quantity, end]);
}

/** Alice's parent, a buy of 1 at 2000, and its child, a sell of 1 above 2100; `filled` of the parent is confirmed. */
function family(filled: number, child: OrderWish = {}) {
  const fixture = new OrderFixture();
  const parent = fixture.place({ id: 'parent' });
  const order = fixture.place({ side: SIDE.sell, above: 210_000, parent: 'parent', ...child });
  const fill = (quantity: number) => {
    const taker = fixture.place({ id: `t${fixture.nextSequence}`, user: BOB, side: SIDE.sell, quantity });
    fixture.confirm(fixture.match(parent, taker, 200_000, quantity));
  };
  if (filled > 0) fill(filled);
  return { fixture, parent, order, fill };
}

suite('children', () => {
  test('a child that is admitted after its parent has left memory has what the parent had confirmed (AMB-29)', () => {
    const fixture = new OrderFixture();
    const parent = fixture.place({ id: 'parent' });
    const child = mustPass(fixture.request({ id: 'child', side: SIDE.sell, above: 210_000, parent: 'parent' }));
    const taker = fixture.place({ id: 'taker', user: BOB, side: SIDE.sell });
    fixture.confirm(fixture.match(parent, taker, 200_000, 10_000));
    // Clearing's channel is ahead of the market's: the parent is over, flushed and in the tables.
    fixture.manager.onMarketDecided({ marketIndex: 3, sequence: 1_000 });
    for (const sequence of [1, 2]) fixture.manager.onJournalFlushed({ sequence, checkpoint: sequence });
    assert.equal(fixture.record(ALICE, 'parent'), undefined);
    const sequence = fixture.nextSequence;
    fixture.manager.onAccepted({ requestId: child, marketIndex: 3, sequence, timeNs: NOW, rejectCode: 0 });
    fixture.answer(child, sequence);
    assert.equal(fixture.record(ALICE, 'child')?.trigger_enabled_quantity, '1');
  });

  test('a child whose parent had left memory before its request is activated whole (AMB-29)', () => {
    const fixture = new OrderFixture();
    const parent = fixture.place({ id: 'parent' });
    const taker = fixture.place({ id: 'taker', user: BOB, side: SIDE.sell });
    fixture.confirm(fixture.match(parent, taker, 200_000, 10_000));
    fixture.manager.onMarketDecided({ marketIndex: 3, sequence: 1_000 });
    for (const sequence of [1, 2]) fixture.manager.onJournalFlushed({ sequence, checkpoint: sequence });
    // The market has yet to receive the decision on the fill, so for it the parent lives.
    fixture.place({ id: 'child', side: SIDE.sell, above: 210_000, parent: 'parent', quantity: 4_000 });
    assert.equal(fixture.record(ALICE, 'child')?.trigger_enabled_quantity, '0.4');
  });

  test('the parent’s confirmed fills activate a child, up to its quantity (TRG-07, AMB-29)', () => {
    const { fixture, fill, order } = family(0);
    const enabled = () => fixture.record(ALICE)?.trigger_enabled_quantity;
    assert.deepEqual([enabled(), fixture.record(ALICE)?.parent_id], ['0', 'parent']);
    fill(4_000);
    assert.equal(enabled(), '0.4');
    const taker = fixture.place({ id: 'pending', user: BOB, side: SIDE.sell, quantity: 1_000 });
    fixture.match(2 - 1, taker, 200_000, 1_000);
    assert.equal(enabled(), '0.4', 'pending fills do not count');
    assert.equal(order, 2);
  });

  test('40 percent filled: 40 percent is held and released, the next part when there is more (TRG-07)', () => {
    const { fixture, order, fill } = family(4_000);
    fixture.trigger(order, 4_000);
    assert.equal(fixture.held(ALICE, BASE), 40n * CENT);
    fixture.activate(order, 4_000);
    fill(3_000);
    fixture.trigger(order, 7_000);
    assert.equal(fixture.held(ALICE, BASE), 70n * CENT);
    fixture.activate(order, 7_000);
    assert.deepEqual(released(fixture), [
      [order, 4_000, GO],
      [order, 7_000, GO],
    ]);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Triggered'], 'the first release is told, later parts are not');
  });

  test('a condition that fires while nothing is activated is touched, held for nothing and not answered (AMB-29)', () => {
    const { fixture, order } = family(0);
    fixture.trigger(order, 0);
    assert.deepEqual([released(fixture), fixture.held(ALICE, BASE)], [[], 0n]);
    assert.deepEqual([fixture.record(ALICE)?.trigger_touched, fixture.status(ALICE)], [true, 'Untriggered']);
  });

  test('a child that was released whole is replaced like any order (RPL-07)', () => {
    const { fixture, order } = family(8_000, { quantity: 5_000 });
    fixture.trigger(order, 5_000);
    fixture.activate(order, 5_000);
    fixture.setOwned(ALICE, BASE, 80n * CENT);
    const wish = (quantity: number) => replaceRequest({ newQuantity: quantity as RawQuantity });
    const reserve = (quantity: number) =>
      fixture.manager.requests.reserveReplace(mustPass(fixture.manager.requests.checkReplace(wish(quantity), CALLER)));
    assert.equal(codeOf(reserve(8_001)), 'INSUFFICIENT_INVENTORY');
    const requestId = mustPass(reserve(8_000));
    assert.equal(fixture.held(ALICE, BASE), 80n * CENT);
    fixture.replaced(order, 200_000, 8_000);
    fixture.answer(requestId, 9);
    assert.equal(fixture.held(ALICE, BASE), 80n * CENT);
    assert.equal(fixture.record(ALICE)?.trigger_enabled_quantity, '0.8', 'what is in force is enabled');
  });

  test('what a replace adds to a child that waits, when its parent is over and had activated all of it, is activated (AMB-29)', () => {
    const { fixture, parent, order } = family(6_000, { quantity: 6_000 });
    fixture.end(parent, ORDER_END.userRequested);
    fixture.replaced(order, 200_000, 9_000);
    assert.equal(fixture.record(ALICE)?.trigger_enabled_quantity, '0.9', 'as after a restart');
    const other = family(6_000, { quantity: 6_000 });
    other.fixture.replaced(other.order, 200_000, 9_000);
    assert.equal(other.fixture.record(ALICE)?.trigger_enabled_quantity, '0.6', 'its parent lives, and may fill more');
  });

  test('a part for which there is no inventory ends the child, what was released included (AMB-28)', () => {
    const { fixture, order, fill } = family(4_000);
    fixture.trigger(order, 4_000);
    fixture.activate(order, 4_000);
    fixture.setOwned(ALICE, BASE, 69n * CENT);
    fill(3_000);
    fixture.trigger(order, 7_000);
    fixture.decide();
    assert.deepEqual(released(fixture)[1], [order, 7_000, ORDER_END.marginInsufficient]);
    assert.equal(fixture.held(ALICE, BASE), 40n * CENT);
    fixture.end(order, ORDER_END.marginInsufficient);
    assert.equal(fixture.held(ALICE, BASE), 0n);
  });

  test('a replace while a release is on its way releases no more than was published (AMB-29, RPL-07)', () => {
    const { fixture, order } = family(5_000, { quantity: 5_000 });
    fixture.trigger(order, 5_000);
    fixture.replaced(order, 200_000, 9_000);
    assert.equal(fixture.held(ALICE, BASE), 50n * CENT);
    fixture.activate(order, 5_000);
    assert.equal(fixture.held(ALICE, BASE), 50n * CENT, 'the parent has filled no more');
  });

  /** Alice's parent sells 1; its child buys as much at the market, and finds 0.2 for the first 0.4. */
  function buyer() {
    const fixture = new OrderFixture();
    const parent = fixture.place({ id: 'parent', side: SIDE.sell });
    const child = fixture.place({ market: { base: 10_000 }, below: 210_000, parent: 'parent' });
    const fill = (quantity: number) => {
      const taker = fixture.place({ id: `t${fixture.nextSequence}`, user: BOB, quantity });
      fixture.confirm(fixture.match(parent, taker, 200_000, quantity, SIDE.buy));
    };
    fill(4_000);
    const maker = fixture.place({ id: 'maker', user: BOB, side: SIDE.sell, quantity: 2_000 });
    fixture.trigger(child, 4_000);
    fixture.activate(child, 4_000);
    fixture.match(maker, child, 200_005, 2_000, SIDE.buy);
    return { fixture, child, fill };
  }

  test('what a part that never rests did not get is gone, and its hold with it (AMB-29, AMB-39)', () => {
    const { fixture } = buyer();
    assert.ok(fixture.held(ALICE, USD) > 0n, 'more fills of it may be on their way');
    fixture.place({ id: 'other', user: BOB, quantity: 10 });
    assert.equal(fixture.held(ALICE, USD), 0n, 'the market has spoken of something else');
  });

  test('an order of its owner in the way does not stop such a part (STP-03)', () => {
    const fixture = new OrderFixture();
    const parent = fixture.place({ id: 'parent', side: SIDE.sell, price: 250_000 });
    const child = fixture.place({ market: { base: 10_000 }, below: 210_000, parent: 'parent' });
    const taker = fixture.place({ id: 'taker', user: BOB, price: 250_000, quantity: 4_000 });
    const own = fixture.place({ id: 'own', side: SIDE.sell, quantity: 10 });
    fixture.confirm(fixture.match(parent, taker, 250_000, 4_000, SIDE.buy));
    fixture.trigger(child, 4_000);
    fixture.activate(child, 4_000);
    fixture.end(own, ORDER_END.selfTradePrevented);
    assert.ok(fixture.held(ALICE, USD) > 0n);
  });

  test('the next part has a budget of its own for the lots that are new (AMB-29, AMB-39)', () => {
    const { fixture, child, fill } = buyer();
    fill(3_000);
    fixture.setOwned(ALICE, USD, 1_000n * ONE_18);
    fixture.trigger(child, 7_000);
    const { budget, quantity } = fixture.sink.releases.at(-1) ?? {};
    // 400.01 USD and the fee are pending: 1000 − 400.210005 = 599.789995, and 599.490247… without the fee.
    assert.deepEqual([quantity, budget], [7_000, 5_994_902]);
    const left = fixture.available(ALICE, USD);
    assert.ok(left >= 0n && left < ONE_18 / 1_000n);
    const maker = fixture.place({ id: 'more', user: BOB, side: SIDE.sell, quantity: 3_000 });
    fixture.activate(child, 7_000);
    fixture.match(maker, child, 100_000, 3_000, SIDE.buy);
    assert.equal(fixture.held(ALICE, USD), 0n, 'the 0.2 that the first part did not get are not waited for');
  });

  test('when the parent is over the rest of a child is cut off, or the child ends ParentCanceled (AMB-29)', () => {
    const cut = family(4_000);
    cut.fixture.trigger(cut.order, 4_000);
    cut.fixture.activate(cut.order, 4_000);
    cut.fixture.end(cut.parent, ORDER_END.userRequested);
    cut.fixture.replaced(cut.order, 200_000, 4_000);
    assert.deepEqual(cut.fixture.told(ALICE), ['Created', 'Triggered', 'Replaced']);
    assert.deepEqual([cut.fixture.held(ALICE, BASE), cut.fixture.record(ALICE)?.quantity], [40n * CENT, '0.4']);
    const { fixture, order, parent } = family(0);
    fixture.end(parent, ORDER_END.userRequested);
    fixture.end(order, ORDER_END.parentCanceled);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Canceled ParentCanceled']);
  });

  test('a refused parent is answered as such, 404, INVALID_ORDER or TOO_MANY_OPEN_ORDERS, and the child leaves no trace (TRG-04 to TRG-06)', () => {
    for (const [code, field] of [
      ['ORDER_NOT_FOUND', 'parent_order_id'],
      ['INVALID_ORDER', undefined],
      ['TOO_MANY_OPEN_ORDERS', undefined],
    ] as const) {
      const fixture = new OrderFixture();
      fixture.answer(mustPass(fixture.request({ above: 5, parent: 'p' })), 0, REJECT_CODE[code]);
      const refusal = fixture.sink.answers[0]?.answer.refusal;
      assert.deepEqual([refusal?.code, refusal?.field], [code, field]);
      assert.equal(fixture.record(ALICE), undefined);
    }
  });
});
