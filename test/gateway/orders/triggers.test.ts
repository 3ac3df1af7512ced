/** Triggers at the gateway: what they hold, when they are let go, and a restart. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type OrderId, USD } from '../../../src/core/ids.ts';
import { ORDER_END, SIDE, TIF, TRIGGER, TRIGGER_STATE } from '../../../src/core/order-terms.ts';
import { ONE_18, type RawPrice, type RawQuantity } from '../../../src/core/units.ts';
import {
  ALICE,
  BASE,
  BOB,
  mustPass,
  NO_HISTORY,
  NOW,
  OrderDesk,
  type OrderWish,
  type RestoredRow,
  replaceRequest,
  restoreRow,
} from '../../support/order-desk.ts';
import { orderPage } from '../../support/pages.ts';

const CALLER = { user: ALICE, now: NOW, looksUp: false };
const CENT = ONE_18 / 100n;
const USD_1 = 10_000;
const GO = 0;

/** The releases that the gateway sent to the market: order, quantity, end. */
function released(desk: OrderDesk): readonly (readonly number[])[] {
  return desk.sink.releases.map(({ order, quantity, end }) => [order, quantity, end]);
}

suite('triggers', () => {
  test('a dormant order is published as Created, shows Untriggered and its condition, and reserves nothing (TRG-01, AMB-28)', () => {
    const desk = new OrderDesk();
    desk.setOwned(ALICE, USD, 0n);
    desk.place({ above: 210_000 });
    const row = desk.record(ALICE);
    assert.deepEqual([desk.told(ALICE), desk.status(ALICE)], [['Created'], 'Untriggered']);
    assert.deepEqual(
      [row?.trigger_above_price, row?.trigger_below_price, row?.trigger_touched, row?.trigger_enabled_quantity],
      ['2100', null, false, null],
    );
    assert.equal(desk.held(ALICE, USD), 0n);
    const page = { user: ALICE, marketIndex: 3, subAccounts: null, openOnly: true, page: 0, limit: 9 };
    assert.equal(orderPage(desk.manager, NO_HISTORY, page).rows.length, 1, 'open orders include it (AMB-17)');
  });

  test('when it fires it passes the normal checks: the hold is taken, the market notified (TRG-02, TRG-08, AMB-28)', () => {
    const desk = new OrderDesk();
    const order = desk.place({ below: 190_000 });
    desk.trigger(order, 10_000);
    assert.deepEqual(released(desk), [[order, 10_000, GO]]);
    assert.equal(desk.held(ALICE, USD), 200_100n * CENT);
    assert.deepEqual([desk.told(ALICE), desk.record(ALICE)?.trigger_touched], [['Created'], true]);
    desk.activate(order, 10_000);
    assert.deepEqual([desk.told(ALICE), desk.status(ALICE)], [['Created', 'Triggered'], 'Open']);
    const event = desk.sink.events.at(-1)?.event;
    assert.ok(event?.kind === 'Triggered');
    assert.deepEqual([event.timestampNs, event.triggerPrice], [NOW, 200_000], 'TRG-08');
  });

  test('without inventory it ends Canceled MarginInsufficient and was never held (AMB-28)', () => {
    const desk = new OrderDesk();
    const order = desk.place({ above: 210_000 });
    desk.setOwned(ALICE, USD, 200_100n * CENT - 1n);
    desk.trigger(order, 10_000);
    assert.deepEqual([released(desk), desk.manager.shortReleases], [[], 1], 'clearing may know of more');
    desk.decide();
    assert.deepEqual(released(desk), [[order, 10_000, ORDER_END.marginInsufficient]]);
    assert.deepEqual([desk.held(ALICE, USD), desk.manager.shortReleases], [0n, 0]);
    desk.end(order, ORDER_END.marginInsufficient);
    assert.deepEqual(desk.told(ALICE), ['Created', 'Triggered', 'Canceled MarginInsufficient']);
  });

  test('a release that is refused is published as Triggered, then its end, each once (TRG-08, AMB-28, AMB-128)', () => {
    const { postOnlyWouldCross, marginInsufficient, reduceOnly, expired, parentCanceled } = ORDER_END;
    for (const [end, word] of [
      [postOnlyWouldCross, 'Canceled PostOnlyWouldCross'],
      [marginInsufficient, 'Canceled MarginInsufficient'],
      [reduceOnly, 'Canceled ReduceOnly'],
    ] as const) {
      const desk = new OrderDesk();
      const order = desk.place({ above: 210_000 });
      desk.trigger(order, 10_000);
      desk.end(order, end);
      assert.deepEqual(desk.told(ALICE), ['Created', 'Triggered', word]);
      const event = desk.sink.events.at(-2)?.event;
      assert.ok(event?.kind === 'Triggered');
      assert.deepEqual([event.timestampNs, event.triggerPrice], [NOW, 200_000]);
      assert.equal(desk.status(ALICE), 'Canceled');

      const live = new OrderDesk();
      const released = live.place({ above: 210_000 });
      live.trigger(released, 10_000);
      live.activate(released, 10_000);
      live.end(released, end);
      assert.deepEqual(live.told(ALICE), ['Created', 'Triggered', word], 'it was told when it was released');
    }
    for (const end of [expired, parentCanceled] as const) {
      const desk = new OrderDesk();
      const order = desk.place({ above: 210_000 });
      desk.trigger(order, 10_000);
      desk.end(order, end);
      assert.ok(!desk.told(ALICE).includes('Triggered'), 'what ends before its release was not released');
    }
  });

  test('a cancel of a waiting order ends it; of one being released it frees the hold', () => {
    for (const fires of [false, true]) {
      const desk = new OrderDesk();
      const order = desk.place({ above: 210_000 });
      if (fires) desk.trigger(order, 10_000);
      desk.end(order, ORDER_END.userRequested);
      assert.deepEqual([desk.told(ALICE), desk.status(ALICE)], [['Created', 'Canceled UserRequested'], 'Canceled']);
      assert.equal(desk.available(ALICE, USD), 10_000n * ONE_18);
    }
  });

  test('a replace of a waiting order needs no hold and publishes the trigger now in force (AMB-20)', () => {
    const desk = new OrderDesk();
    const order = desk.place({ above: 210_000 });
    desk.setOwned(ALICE, USD, 0n);
    const request = replaceRequest({ newQuantity: 90_000 as RawQuantity });
    const requestId = mustPass(
      desk.manager.requests.reserveReplace(mustPass(desk.manager.requests.checkReplace(request, CALLER))),
    );
    desk.replaced(order, 200_000, 90_000, { kind: TRIGGER.below, price: 190_000 });
    desk.answer(requestId, 3);
    const row = desk.record(ALICE);
    assert.deepEqual([row?.quantity, row?.trigger_above_price, row?.trigger_below_price], ['9', null, '1900']);
    assert.equal(row?.status, 'Untriggered');
  });

  test('a replace that is on its way while the trigger fires is covered by the hold of the release (RPL-07)', () => {
    const desk = new OrderDesk();
    const order = desk.place({ above: 210_000 });
    const request = replaceRequest({ newQuantity: 20_000 as RawQuantity });
    mustPass(desk.manager.requests.reserveReplace(mustPass(desk.manager.requests.checkReplace(request, CALLER))));
    desk.trigger(order, 10_000, 210_000);
    assert.equal(desk.held(ALICE, USD), 400_200n * CENT);
    desk.replaced(order, 200_000, 20_000);
    assert.equal(
      desk.record(ALICE)?.trigger_above_price,
      '2100',
      'what was released keeps the trigger that released it',
    );
  });

  test('the answer names the word it answers, and bounds an order that names no bound itself (AMB-28, AMB-39)', () => {
    const answer = (wish: OrderWish, quantity: number) => {
      const desk = new OrderDesk();
      desk.place({ id: 'other', side: wish.side ?? SIDE.buy, quantity: 20_000 });
      const word = desk.trigger(desk.place({ ...wish, above: 210_000 }), quantity);
      const told = desk.sink.releases.at(-1);
      assert.deepEqual([told?.triggered, told?.end], [word, GO]);
      return told?.budget;
    };
    // 10000 − 4002 USD without the fee: 5998 / 1.0005 = 5995.00249875…
    assert.equal(answer({ market: { base: 10_000 } }, 10_000), 59_950_024);
    assert.equal(answer({ side: SIDE.sell, market: { quote: 1_000 * USD_1 } }, 0), 80_000);
    const bounded: readonly OrderWish[] = [
      { market: { base: 10_000, cap: 3_000 * USD_1 } },
      { side: SIDE.sell, market: { base: 10_000 } },
      { price: 200_000 },
    ];
    for (const wish of bounded) assert.equal(answer(wish, 10_000), 0);
    assert.equal(answer({ market: { quote: 1_000 * USD_1 } }, 0), 0);
  });

  test('one without a bound holds all there is until it ends, so it spends no other order’s hold (AMB-39, AMB-112)', () => {
    const desk = new OrderDesk();
    desk.place({ id: 'other', quantity: 20_000 });
    const order = desk.place({ market: { base: 10_000 }, above: 210_000 });
    desk.trigger(order, 10_000);
    assert.ok(desk.available(ALICE, USD) < ONE_18 / 1_000n);
    desk.activate(order, 10_000);
    desk.end(order, ORDER_END.immediateOrCancel);
    assert.equal(desk.held(ALICE, USD), 400_200n * CENT);
  });

  test('two that fire at once: the second waits for what the first, which took all there was, leaves (AMB-28)', () => {
    const desk = new OrderDesk();
    const first = desk.place({ id: 'first', market: { base: 10_000 }, above: 210_000 });
    const second = desk.place({ market: { quote: 1_000 * USD_1 }, above: 210_000 });
    desk.trigger(first, 10_000);
    desk.trigger(second, 0);
    desk.decide();
    assert.deepEqual(released(desk), [[first, 10_000, GO]]);
    const maker = desk.place({ id: 'maker', user: BOB, side: SIDE.sell });
    desk.activate(first, 10_000);
    desk.match(maker, first, 200_000, 10_000, SIDE.buy);
    assert.deepEqual(released(desk)[1], [second, 0, GO]);
    assert.equal(desk.held(ALICE, USD), 100_050n * CENT);
  });

  test('a release of one sized in quote has quantity 0 and is of the whole (AMB-28)', () => {
    const desk = new OrderDesk();
    const buy = desk.place({ market: { quote: 1_000 * USD_1 }, above: 210_000 });
    desk.trigger(buy, 0);
    assert.deepEqual([released(desk), desk.held(ALICE, USD)], [[[buy, 0, GO]], 100_050n * CENT]);
    const sell = desk.place({ id: 's', side: SIDE.sell, market: { quote: 1_000 * USD_1 }, above: 210_000 });
    desk.trigger(sell, 0, 210_000);
    assert.equal(desk.held(ALICE, BASE), 10n * ONE_18);
  });
});

suite('releases that are short', () => {
  /** Alice owns no base; her parent's fill of 1 has been received as confirmed, its balance not yet. */
  function bought() {
    const desk = new OrderDesk();
    desk.setOwned(ALICE, BASE, 0n);
    const parent = desk.place({ id: 'parent' });
    const child = desk.place({ side: SIDE.sell, above: 200_000, parent: 'parent' });
    const taker = desk.place({ id: 'taker', user: BOB, side: SIDE.sell });
    desk.confirm(desk.match(parent, taker, 200_000, 10_000));
    return { desk, child };
  }

  test('a child sells what its parent bought in the trade that released it, whichever event arrives first (TRG-07, AMB-28)', () => {
    for (const clearingFirst of [true, false]) {
      const { desk, child } = bought();
      if (clearingFirst) desk.setOwned(ALICE, BASE, ONE_18);
      desk.trigger(child, 10_000);
      if (!clearingFirst) {
        assert.deepEqual(released(desk), [], 'the market is ahead of clearing');
        desk.setOwned(ALICE, BASE, ONE_18);
      }
      desk.decide();
      assert.deepEqual(released(desk), [[child, 10_000, GO]]);
      assert.equal(desk.held(ALICE, BASE), ONE_18);
    }
  });

  test('a decision before the market’s event has no effect on what followed from it (AMB-28)', () => {
    const { desk, child } = bought();
    desk.decide();
    desk.trigger(child, 10_000);
    assert.deepEqual(released(desk), []);
    desk.decide();
    assert.deepEqual(released(desk), [[child, 10_000, ORDER_END.marginInsufficient]]);
  });

  test('one that ends meanwhile is not answered; a later word takes the place of an earlier one (AMB-28, AMB-29)', () => {
    const ended = bought();
    ended.desk.trigger(ended.child, 10_000);
    ended.desk.end(ended.child, ORDER_END.userRequested);
    ended.desk.decide();
    assert.deepEqual([released(ended.desk), ended.desk.manager.shortReleases], [[], 0]);
    const { desk, child } = bought();
    desk.trigger(child, 4_000);
    desk.trigger(child, 10_000);
    desk.setOwned(ALICE, BASE, ONE_18);
    desk.decide();
    assert.deepEqual(released(desk), [[child, 10_000, GO]]);
  });

  test('of hundreds that take all there is, one after the other, each is checked three times at most (AMB-28, AMB-39)', () => {
    const desk = new OrderDesk();
    const count = 400;
    const orders = Array.from({ length: count }, (_, at) =>
      desk.place({ id: `o-${at}`, market: { base: 10_000 }, above: 210_000 }),
    );
    const { check } = desk.manager.margin;
    let asked = 0;
    check.reduceOnlyFault = () => {
      asked += 1;
      return null;
    };
    for (const order of orders) {
      desk.trigger(order, 10_000);
      desk.decide();
    }
    assert.deepEqual([released(desk), desk.manager.shortReleases], [[[orders[0], 10_000, GO]], count - 1]);
    for (const order of orders) {
      desk.activate(order, 10_000);
      desk.decide();
      desk.end(order, ORDER_END.immediateOrCancel);
    }
    assert.deepEqual(
      released(desk),
      orders.map((order) => [order, 10_000, GO]),
    );
    assert.ok(asked <= 3 * count, `${asked} times`);
    assert.deepEqual([desk.manager.shortReleases, desk.held(ALICE, USD)], [0, 0n]);
  });

  test('what comes while one has all of it goes to the next, whichever other order takes all there is by then (AMB-28)', () => {
    const desk = new OrderDesk();
    const [first, second, third] = ['a', 'b', 'c'].map((id) =>
      desk.place({ id, market: { base: 10_000 }, above: 210_000 }),
    ) as [number, number, number];
    for (const order of [first, second, third]) desk.trigger(order, 10_000);
    desk.decide();
    desk.setOwned(ALICE, USD, 20_000n * ONE_18);
    desk.place({ id: 'other', user: BOB, side: SIDE.sell });
    desk.decide();
    assert.deepEqual(
      released(desk).map(([order]) => order),
      [first, second],
    );
    for (const order of [second, first]) {
      desk.activate(order, 10_000);
      desk.end(order, ORDER_END.immediateOrCancel);
    }
    assert.deepEqual(released(desk).slice(2), [[third, 10_000, GO]], 'it took what the second one left');
    assert.equal(desk.manager.shortReleases, 0);
    assert.ok(desk.available(ALICE, USD) >= 9_999n * ONE_18, 'what the first one left is there');
  });
});

function row(change: RestoredRow = {}): RestoredRow {
  return {
    triggerKind: TRIGGER.above,
    triggerPrice: 210_000 as RawPrice,
    triggerState: TRIGGER_STATE.dormant,
    ...change,
  };
}

suite('triggers at a restart', () => {
  test('a dormant order comes back without a hold and is released by a later trade (AMB-28, AMB-110)', () => {
    const desk = new OrderDesk();
    restoreRow(desk.manager, row());
    desk.manager.onMarketOpened(3);
    assert.deepEqual([desk.status(ALICE), desk.held(ALICE, BASE), released(desk)], ['Untriggered', 0n, []]);
    desk.trigger(40, 10_000);
    assert.deepEqual(released(desk), [[40, 10_000, GO]]);
  });

  test('one that had fired is held and released when its market opens, not before', () => {
    const desk = new OrderDesk();
    restoreRow(desk.manager, row({ triggerState: TRIGGER_STATE.fired }));
    assert.deepEqual([released(desk), desk.held(ALICE, BASE)], [[], 0n]);
    desk.manager.onMarketOpened(3);
    assert.deepEqual([released(desk), desk.held(ALICE, BASE)], [[[40, 10_000, GO]], 100n * CENT]);
    assert.deepEqual(desk.told(ALICE), [], 'no event is owed');
  });

  test('those that had fired are released in the order of admission, whatever order they come in (AMB-28, AMB-110)', () => {
    const desk = new OrderDesk();
    for (const sequence of [44, 42, 43]) {
      const name = { orderSequence: sequence as never, orderId: `o${sequence}` as OrderId };
      restoreRow(desk.manager, row({ ...name, triggerState: TRIGGER_STATE.fired }));
    }
    desk.manager.onMarketOpened(3);
    assert.deepEqual(
      released(desk).map(([sequence]) => sequence),
      [42, 43, 44],
    );
  });

  test('a fired child is released as far as its parent has filled, whatever order they come in', () => {
    const desk = new OrderDesk();
    const child = { parentId: 'parent' as OrderId, parentSequence: 30 as never, enabledQuantity: 4_000 };
    restoreRow(desk.manager, row({ ...child, triggerState: TRIGGER_STATE.fired }));
    const parent = { orderSequence: 30 as never, orderId: 'parent' as OrderId, side: SIDE.buy, filledQuantity: 4_000 };
    const untriggered = { triggerKind: TRIGGER.none, triggerState: TRIGGER_STATE.live, inForce: 10_000 } as const;
    restoreRow(desk.manager, row({ ...parent, ...untriggered, triggerPrice: 0 as RawPrice }));
    desk.manager.onMarketOpened(3);
    assert.deepEqual(released(desk), [[40, 4_000, GO]]);
    assert.equal(desk.record(ALICE)?.trigger_enabled_quantity, '0.4');
  });

  test('a live child of a parent that is over holds what was activated', () => {
    const desk = new OrderDesk();
    const child = {
      parentId: 'parent' as OrderId,
      parentSequence: 30 as never,
      enabledQuantity: 4_000,
      inForce: 4_000,
    };
    restoreRow(desk.manager, row({ ...child, quantity: 4_000 as RawQuantity, triggerState: TRIGGER_STATE.live }));
    desk.manager.onMarketOpened(3);
    assert.deepEqual([desk.held(ALICE, BASE), released(desk)], [40n * CENT, []]);
  });

  test('a child that was released in part holds that part, and more when its market publishes more (AMB-29, AMB-110)', () => {
    const parent = { orderSequence: 30 as never, orderId: 'parent' as OrderId, side: SIDE.buy, filledQuantity: 9_000 };
    const plain = { triggerKind: TRIGGER.none, triggerPrice: 0 as RawPrice, inForce: 10_000 } as const;
    const part = { parentId: 'parent' as OrderId, parentSequence: 30 as never, enabledQuantity: 9_000, inForce: 4_000 };
    for (const [tif, held] of [
      [TIF.gtc, 30n],
      [TIF.ioc, 0n],
    ] as const) {
      const desk = new OrderDesk();
      restoreRow(desk.manager, row({ ...parent, ...plain, triggerState: TRIGGER_STATE.live }));
      restoreRow(desk.manager, row({ ...part, tif, filledQuantity: 1_000, triggerState: TRIGGER_STATE.live }));
      desk.manager.onMarketOpened(3);
      assert.deepEqual(
        [desk.held(ALICE, BASE), released(desk)],
        [held * CENT, []],
        'the rest of its part, if it rests',
      );
      desk.trigger(40, 9_000);
      assert.deepEqual([desk.held(ALICE, BASE), released(desk)], [(held + 50n) * CENT, [[40, 9_000, GO]]]);
    }
  });
});
