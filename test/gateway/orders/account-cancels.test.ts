// tier: quick
/** An account in liquidation is cleared of its orders, in bounded steps and completely (LIQ-04, AMB-57). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { OrderId } from '../../../src/core/ids.ts';
import { ORDER_END, ORDER_FLAG, SIDE } from '../../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import type { Sequence } from '../../../src/core/units.ts';
import type { ReduceCommand } from '../../../src/gateway/orders/book/order-events.ts';
import { IN_FLIGHT_MAX, VISITED_PER_TURN } from '../../../src/gateway/orders/entry/account-cancels.ts';
import { ALICE, BOB } from '../../support/names.ts';
import { BASE, mustPass, OrderFixture, restoreRow } from '../../support/order-fixture.ts';

const SPOT = { user: ALICE, subAccount: 0 };

function begun(fixture: OrderFixture): void {
  fixture.manager.accountCancels.begin(SPOT);
  fixture.manager.accountCancels.sendSome();
}

function started(): OrderFixture {
  const fixture = new OrderFixture();
  fixture.manager.onAllRestored();
  return fixture;
}

/** What was sent since the last call: order, total, reason. */
function sent(fixture: OrderFixture): ReduceCommand[] {
  return fixture.sink.reductions.splice(0);
}

suite('an account in liquidation', () => {
  test('LIQ-04: its orders are cancelled with the reason Liquidation, then clearing is told through which sequence', () => {
    const fixture = started();
    const first = fixture.place({ id: 'a', quantity: 100 });
    const second = fixture.place({ id: 'b', quantity: 100 });
    fixture.place({ id: 'others', quantity: 100, user: BOB });
    begun(fixture);
    const cancels = sent(fixture);
    assert.deepEqual(
      cancels.map(({ orderId, total, end, user }) => [orderId, total, end, user]),
      [
        ['b', 0, ORDER_END.liquidation, ALICE],
        ['a', 0, ORDER_END.liquidation, ALICE],
      ],
    );
    fixture.end(second, ORDER_END.liquidation);
    fixture.answer(cancels[0]?.requestId ?? 0);
    fixture.manager.accountCancels.sendSome();
    fixture.decide();
    assert.deepEqual(fixture.sink.cleared, [], 'one lives');
    fixture.end(first, ORDER_END.liquidation);
    const through = fixture.sequence;
    fixture.answer(cancels[1]?.requestId ?? 0);
    fixture.manager.accountCancels.sendSome();
    assert.deepEqual(fixture.sink.cleared, [], 'not decided');
    fixture.decide();
    fixture.manager.accountCancels.sendSome();
    assert.deepEqual(fixture.sink.cleared, [{ ...SPOT, through: [{ marketIndex: 3, sequence: through }] }]);
    assert.deepEqual(fixture.told(ALICE, 'a'), ['Created', 'Canceled Liquidation']);
    assert.equal(fixture.status(BOB, 'others'), 'Open');
    assert.equal(fixture.manager.accountCancels.size, 0);
  });

  test('LIQ-04: an order on its way to the market is cancelled behind its create', () => {
    const fixture = started();
    const requestId = mustPass(fixture.request({ id: 'a', quantity: 100 }));
    begun(fixture);
    const [cancel] = sent(fixture);
    assert.equal(cancel?.orderId, 'a');
    const sequence = fixture.admit(requestId);
    fixture.answer(requestId, sequence);
    fixture.end(sequence, ORDER_END.liquidation);
    fixture.answer(cancel?.requestId ?? 0);
    fixture.decide();
    fixture.manager.accountCancels.sendSome();
    assert.equal(fixture.sink.cleared.length, 1);
  });

  test('LIQ-04: two orders on their way with one id: each is cancelled once it is known which one the id names', () => {
    const fixture = started();
    const [first, second] = ['a', 'a'].map((id) => mustPass(fixture.request({ id, quantity: 100 })));
    begun(fixture);
    assert.deepEqual(sent(fixture), [], 'a cancel could reach the other one');
    fixture.answer(first ?? 0, 0, REJECT_CODE.INVALID_ORDER);
    const sequence = fixture.admit(second ?? 0);
    fixture.answer(second ?? 0, sequence);
    fixture.manager.accountCancels.sendSome();
    assert.equal(sent(fixture).length, 1);
  });

  test('AMB-57: undecided fills of an order that has ended are waited for', () => {
    const fixture = started();
    const maker = fixture.place({ id: 'a', quantity: 100 });
    const taker = fixture.place({ id: 't', quantity: 40, side: SIDE.sell, user: BOB });
    const trade = fixture.match(maker, taker, 200_000, 40);
    begun(fixture);
    const [cancel] = sent(fixture);
    const ended = fixture.end(maker, ORDER_END.liquidation);
    fixture.answer(cancel?.requestId ?? 0);
    fixture.decide(ended - 1);
    fixture.manager.accountCancels.sendSome();
    assert.equal(fixture.sink.cleared.length, 0);
    assert.deepEqual([fixture.manager.accountCancels.size, fixture.manager.accountCancels.waiting], [1, 0]);
    fixture.confirm(trade);
    fixture.decide(ended);
    fixture.manager.accountCancels.sendSome();
    assert.deepEqual(fixture.sink.cleared[0]?.through, [{ marketIndex: 3, sequence: ended }]);
  });

  test('LIQ-04: a full ring delays, and nothing is dropped', () => {
    const fixture = started();
    for (const id of ['a', 'b']) fixture.place({ id, quantity: 100 });
    fixture.sink.isFull = true;
    fixture.manager.accountCancels.begin(SPOT);
    assert.equal(fixture.manager.accountCancels.sendSome(), false, 'the ring is waited for');
    assert.deepEqual([fixture.manager.accountCancels.size, fixture.manager.accountCancels.waiting], [1, 1]);
    fixture.sink.isFull = false;
    fixture.manager.accountCancels.sendSome();
    assert.deepEqual(
      sent(fixture).map(({ orderId }) => orderId),
      ['b', 'a'],
    );
  });

  test('LIQ-04: many orders take several turns, each once, and another account is not delayed by them', () => {
    const fixture = started();
    const count = VISITED_PER_TURN + 40;
    fixture.setOwned(ALICE, BASE, 1_000_000n * 10n ** 18n);
    for (let at = 0; at < count; at += 1)
      fixture.place({ id: `o-${at}`, side: SIDE.sell, quantity: 10, price: 200_000 });
    fixture.place({ id: 'bobs', quantity: 100, user: BOB });
    fixture.manager.accountCancels.begin(SPOT);
    fixture.manager.accountCancels.begin({ user: BOB, subAccount: 0 });
    assert.equal(fixture.manager.accountCancels.sendSome(), true);
    const first = sent(fixture);
    assert.equal(first.length, VISITED_PER_TURN);
    fixture.manager.accountCancels.sendSome();
    const rest = sent(fixture);
    assert.equal(rest[0]?.orderId, 'bobs');
    assert.equal(new Set([...first, ...rest].map(({ orderId }) => orderId)).size, count + 1);
  });

  test('AMB-57: orders of the node stay, and so do those of another sub-account', () => {
    const fixture = new OrderFixture();
    restoreRow(fixture.manager, { orderId: 'sys-liq-1' as OrderId, flags: ORDER_FLAG.nodeMade | ORDER_FLAG.isSpot });
    restoreRow(fixture.manager, { orderId: 'b' as OrderId, orderSequence: 41 as Sequence, subAccount: 5 });
    fixture.manager.onAllRestored();
    begun(fixture);
    assert.deepEqual(sent(fixture), []);
    assert.deepEqual(fixture.sink.cleared, [{ ...SPOT, through: [{ marketIndex: 3, sequence: 0 }] }]);
  });

  test('AMB-110: asked for in a start, it begins when every order of the account is in memory', () => {
    const fixture = new OrderFixture();
    fixture.manager.accountCancels.begin(SPOT);
    assert.equal(fixture.manager.accountCancels.size, 1);
    fixture.manager.accountCancels.sendSome();
    restoreRow(fixture.manager, { orderId: 'a' as OrderId });
    fixture.manager.onAllRestored();
    fixture.manager.accountCancels.sendSome();
    assert.deepEqual(
      sent(fixture).map(({ orderId }) => orderId),
      ['a'],
    );
  });

  test('LIQ-04: asked for again, it begins again; answers to the first cancels count no more', () => {
    const fixture = started();
    const order = fixture.place({ id: 'a', quantity: 100 });
    begun(fixture);
    const [early] = sent(fixture);
    begun(fixture);
    const [late] = sent(fixture);
    fixture.end(order, ORDER_END.liquidation);
    fixture.answer(early?.requestId ?? 0);
    fixture.decide();
    fixture.manager.accountCancels.sendSome();
    assert.deepEqual(fixture.sink.cleared, []);
    fixture.answer(late?.requestId ?? 0, 0, REJECT_CODE.ALREADY_CANCELLED);
    fixture.manager.accountCancels.sendSome();
    assert.equal(fixture.sink.cleared.length, 1);
  });

  test('LIQ-04: an account that waits for decisions keeps no record of other orders in memory', () => {
    const fixture = started();
    const own = fixture.place({ id: 'a', quantity: 100 });
    begun(fixture);
    const [cancel] = sent(fixture);
    fixture.end(own, ORDER_END.liquidation);
    fixture.answer(cancel?.requestId ?? 0);
    fixture.manager.accountCancels.sendSome();
    assert.equal(fixture.manager.accountCancels.size, 1, 'not decided');
    fixture.decide();
    fixture.manager.onJournalFlushed({ sequence: 1, checkpoint: 1 });
    assert.equal(fixture.manager.ordersInMemory, 0);
    fixture.manager.accountCancels.sendSome();
    assert.equal(fixture.sink.cleared.length, 1);
  });

  test('LIQ-04: accounts that wait for decisions do not delay one with orders to cancel', () => {
    const fixture = started();
    for (let account = 0; account < VISITED_PER_TURN + 9; account += 1) {
      restoreRow(fixture.manager, {
        orderId: `o-${account}` as OrderId,
        orderSequence: (100 + account) as Sequence,
        subAccount: account % 200,
      });
    }
    for (let subAccount = 0; subAccount < 200; subAccount += 1) {
      fixture.manager.accountCancels.begin({ user: ALICE, subAccount });
      while (fixture.manager.accountCancels.sendSome());
    }
    assert.equal(sent(fixture).length, VISITED_PER_TURN + 9);
    fixture.place({ id: 'bobs', quantity: 100, user: BOB });
    fixture.manager.accountCancels.begin({ user: BOB, subAccount: 0 });
    fixture.manager.accountCancels.sendSome();
    assert.deepEqual(
      sent(fixture).map(({ orderId }) => orderId),
      ['bobs'],
    );
  });

  test('AMB-111: with many cancels without an answer no more are sent, and users’ requests still fit the table', () => {
    const fixture = started();
    const count = IN_FLIGHT_MAX + 100;
    for (let at = 0; at < count; at += 1) {
      restoreRow(fixture.manager, { orderId: `o-${at}` as OrderId, orderSequence: (100 + at) as Sequence });
    }
    fixture.manager.accountCancels.begin(SPOT);
    while (fixture.manager.accountCancels.sendSome());
    const first = sent(fixture);
    assert.equal(first.length, IN_FLIGHT_MAX);
    assert.ok(fixture.request({ id: 'bobs', quantity: 100, user: BOB }).ok);
    for (const { requestId } of first) fixture.answer(requestId);
    while (fixture.manager.accountCancels.sendSome());
    assert.equal(sent(fixture).length, 100);
  });
});
