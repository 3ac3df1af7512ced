// tier: quick
/** Triggers at the gateway: what they hold, when they are let go, and a restart. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type OrderId, USD } from '../../../src/core/ids.ts';
import { ORDER_END, SIDE, TIF, TRIGGER, TRIGGER_STATE } from '../../../src/core/order-terms.ts';
import { ONE_18, type RawPrice, type RawQuantity } from '../../../src/core/units.ts';
import { ALICE, BOB } from '../../support/names.ts';
import {
  BASE,
  mustPass,
  NO_HISTORY,
  NOW,
  OrderFixture,
  type OrderWish,
  type RestoredRow,
  replaceRequest,
  restoreRow,
} from '../../support/order-fixture.ts';
import { orderPage } from '../../support/pages.ts';

const CALLER = { user: ALICE, now: NOW, looksUp: false };
const CENT = ONE_18 / 100n;
const USD_1 = 10_000;
const GO = 0;

/** The releases that the gateway sent to the market: order, quantity, end. */
function released(fixture: OrderFixture): readonly (readonly number[])[] {
  return fixture.sink.releases.map(({ order, quantity, end }) => [order, quantity, end]);
}

suite('triggers', () => {
  test('a dormant order is published as Created, shows Untriggered and its condition, and reserves nothing (TRG-01, AMB-28)', () => {
    const fixture = new OrderFixture();
    fixture.setOwned(ALICE, USD, 0n);
    fixture.place({ above: 210_000 });
    const row = fixture.record(ALICE);
    assert.deepEqual([fixture.told(ALICE), fixture.status(ALICE)], [['Created'], 'Untriggered']);
    assert.deepEqual(
      [row?.trigger_above_price, row?.trigger_below_price, row?.trigger_touched, row?.trigger_enabled_quantity],
      ['2100', null, false, null],
    );
    assert.equal(fixture.held(ALICE, USD), 0n);
    const page = { user: ALICE, marketIndex: 3, subAccounts: null, openOnly: true, page: 0, limit: 9 };
    assert.equal(orderPage(fixture.manager, NO_HISTORY, page).rows.length, 1, 'open orders include it (AMB-17)');
  });

  test('when it fires it passes the normal checks: the hold is taken, the market notified (TRG-02, TRG-08, AMB-28)', () => {
    const fixture = new OrderFixture();
    const order = fixture.place({ below: 190_000 });
    fixture.trigger(order, 10_000);
    assert.deepEqual(released(fixture), [[order, 10_000, GO]]);
    assert.equal(fixture.held(ALICE, USD), 200_100n * CENT);
    assert.deepEqual([fixture.told(ALICE), fixture.record(ALICE)?.trigger_touched], [['Created'], true]);
    fixture.activate(order, 10_000);
    assert.deepEqual([fixture.told(ALICE), fixture.status(ALICE)], [['Created', 'Triggered'], 'Open']);
    const event = fixture.sink.events.at(-1)?.event;
    assert.ok(event?.kind === 'Triggered');
    assert.deepEqual([event.timestampNs, event.triggerPrice], [NOW, 200_000], 'TRG-08');
  });

  test('without inventory it ends Canceled MarginInsufficient and was never held (AMB-28)', () => {
    const fixture = new OrderFixture();
    const order = fixture.place({ above: 210_000 });
    fixture.setOwned(ALICE, USD, 200_100n * CENT - 1n);
    fixture.trigger(order, 10_000);
    assert.deepEqual([released(fixture), fixture.manager.shortReleases], [[], 1], 'clearing may know of more');
    fixture.decide();
    assert.deepEqual(released(fixture), [[order, 10_000, ORDER_END.marginInsufficient]]);
    assert.deepEqual([fixture.held(ALICE, USD), fixture.manager.shortReleases], [0n, 0]);
    fixture.end(order, ORDER_END.marginInsufficient);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Triggered', 'Canceled MarginInsufficient']);
  });

  test('a release that is refused is published as Triggered, then its end, each once (TRG-08, AMB-28, AMB-128)', () => {
    const { postOnlyWouldCross, marginInsufficient, reduceOnly, expired, parentCanceled } = ORDER_END;
    for (const [end, word] of [
      [postOnlyWouldCross, 'Canceled PostOnlyWouldCross'],
      [marginInsufficient, 'Canceled MarginInsufficient'],
      [reduceOnly, 'Canceled ReduceOnly'],
    ] as const) {
      const fixture = new OrderFixture();
      const order = fixture.place({ above: 210_000 });
      fixture.trigger(order, 10_000);
      fixture.end(order, end);
      assert.deepEqual(fixture.told(ALICE), ['Created', 'Triggered', word]);
      const event = fixture.sink.events.at(-2)?.event;
      assert.ok(event?.kind === 'Triggered');
      assert.deepEqual([event.timestampNs, event.triggerPrice], [NOW, 200_000]);
      assert.equal(fixture.status(ALICE), 'Canceled');

      const live = new OrderFixture();
      const released = live.place({ above: 210_000 });
      live.trigger(released, 10_000);
      live.activate(released, 10_000);
      live.end(released, end);
      assert.deepEqual(live.told(ALICE), ['Created', 'Triggered', word], 'it was told when it was released');
    }
    for (const end of [expired, parentCanceled] as const) {
      const fixture = new OrderFixture();
      const order = fixture.place({ above: 210_000 });
      fixture.trigger(order, 10_000);
      fixture.end(order, end);
      assert.ok(!fixture.told(ALICE).includes('Triggered'), 'what ends before its release was not released');
    }
  });

  test('a cancel of a waiting order ends it; of one being released it frees the hold', () => {
    for (const fires of [false, true]) {
      const fixture = new OrderFixture();
      const order = fixture.place({ above: 210_000 });
      if (fires) fixture.trigger(order, 10_000);
      fixture.end(order, ORDER_END.userRequested);
      assert.deepEqual(
        [fixture.told(ALICE), fixture.status(ALICE)],
        [['Created', 'Canceled UserRequested'], 'Canceled'],
      );
      assert.equal(fixture.available(ALICE, USD), 10_000n * ONE_18);
    }
  });

  test('a replace of a waiting order needs no hold and publishes the trigger now in force (AMB-20)', () => {
    const fixture = new OrderFixture();
    const order = fixture.place({ above: 210_000 });
    fixture.setOwned(ALICE, USD, 0n);
    const request = replaceRequest({ newQuantity: 90_000 as RawQuantity });
    const requestId = mustPass(
      fixture.manager.requests.reserveReplace(mustPass(fixture.manager.requests.checkReplace(request, CALLER))),
    );
    fixture.replaced(order, 200_000, 90_000, { kind: TRIGGER.below, price: 190_000 });
    fixture.answer(requestId, 3);
    const row = fixture.record(ALICE);
    assert.deepEqual([row?.quantity, row?.trigger_above_price, row?.trigger_below_price], ['9', null, '1900']);
    assert.equal(row?.status, 'Untriggered');
  });

  test('complete terms that were checked before the trigger fired and are sent after it name it no more (wire-additions.md 3.3)', () => {
    const own = { direction: 'PriceAbove', price: 210_000 as RawPrice } as const;
    const other = { direction: 'PriceBelow', price: 190_000 as RawPrice } as const;
    const sent = (condition: typeof own | typeof other, isReleased: boolean): string => {
      const fixture = new OrderFixture();
      const { requests } = fixture.manager;
      const order = fixture.place({ above: 210_000 });
      const request = replaceRequest({
        ...{ baseAsset: { id: BASE, text: BASE }, newPriceLimit: 200_000 as RawPrice },
        ...{ newQuantity: 10_000 as RawQuantity, newTrigger: { shape: 'bare', parentOrderId: null, condition } },
      });
      const prepared = mustPass(requests.checkReplace(request, CALLER));
      fixture.trigger(order, 10_000, 210_000);
      if (isReleased) fixture.activate(order, 10_000);
      const reserved = requests.reserveReplace(prepared);
      return reserved.ok ? `trigger ${prepared.newTrigger?.price ?? 'none'}` : reserved.reject.code;
    };
    for (const isReleased of [false, true]) {
      assert.equal(sent(own, isReleased), 'trigger none', 'the market has forgotten it with the release');
      assert.equal(sent(other, isReleased), 'INVALID_ORDER', 'a fired trigger is not changed');
    }
  });

  test('a replace that is on its way while the trigger fires is covered by the hold of the release (RPL-07)', () => {
    const fixture = new OrderFixture();
    const order = fixture.place({ above: 210_000 });
    const request = replaceRequest({ newQuantity: 20_000 as RawQuantity });
    mustPass(fixture.manager.requests.reserveReplace(mustPass(fixture.manager.requests.checkReplace(request, CALLER))));
    fixture.trigger(order, 10_000, 210_000);
    assert.equal(fixture.held(ALICE, USD), 400_200n * CENT);
    fixture.replaced(order, 200_000, 20_000);
    assert.equal(
      fixture.record(ALICE)?.trigger_above_price,
      '2100',
      'what was released keeps the trigger that released it',
    );
  });

  test('the answer names the word it answers, and bounds an order that names no bound itself (AMB-28, AMB-39)', () => {
    const answer = (wish: OrderWish, quantity: number) => {
      const fixture = new OrderFixture();
      fixture.place({ id: 'other', side: wish.side ?? SIDE.buy, quantity: 20_000 });
      const word = fixture.trigger(fixture.place({ ...wish, above: 210_000 }), quantity);
      const told = fixture.sink.releases.at(-1);
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
    const fixture = new OrderFixture();
    fixture.place({ id: 'other', quantity: 20_000 });
    const order = fixture.place({ market: { base: 10_000 }, above: 210_000 });
    fixture.trigger(order, 10_000);
    assert.ok(fixture.available(ALICE, USD) < ONE_18 / 1_000n);
    fixture.activate(order, 10_000);
    fixture.end(order, ORDER_END.immediateOrCancel);
    assert.equal(fixture.held(ALICE, USD), 400_200n * CENT);
  });

  test('two that fire at once: the second waits for what the first, which took all there was, leaves (AMB-28)', () => {
    const fixture = new OrderFixture();
    const first = fixture.place({ id: 'first', market: { base: 10_000 }, above: 210_000 });
    const second = fixture.place({ market: { quote: 1_000 * USD_1 }, above: 210_000 });
    fixture.trigger(first, 10_000);
    fixture.trigger(second, 0);
    fixture.decide();
    assert.deepEqual(released(fixture), [[first, 10_000, GO]]);
    const maker = fixture.place({ id: 'maker', user: BOB, side: SIDE.sell });
    fixture.activate(first, 10_000);
    fixture.match(maker, first, 200_000, 10_000, SIDE.buy);
    assert.deepEqual(released(fixture)[1], [second, 0, GO]);
    assert.equal(fixture.held(ALICE, USD), 100_050n * CENT);
  });

  test('a release of one sized in quote has quantity 0 and is of the whole (AMB-28)', () => {
    const fixture = new OrderFixture();
    const buy = fixture.place({ market: { quote: 1_000 * USD_1 }, above: 210_000 });
    fixture.trigger(buy, 0);
    assert.deepEqual([released(fixture), fixture.held(ALICE, USD)], [[[buy, 0, GO]], 100_050n * CENT]);
    const sell = fixture.place({ id: 's', side: SIDE.sell, market: { quote: 1_000 * USD_1 }, above: 210_000 });
    fixture.trigger(sell, 0, 210_000);
    assert.equal(fixture.held(ALICE, BASE), 10n * ONE_18);
  });
});

suite('releases that are short', () => {
  /** Alice owns no base; her parent's fill of 1 has been received as confirmed, its balance not yet. */
  function bought() {
    const fixture = new OrderFixture();
    fixture.setOwned(ALICE, BASE, 0n);
    const parent = fixture.place({ id: 'parent' });
    const child = fixture.place({ side: SIDE.sell, above: 200_000, parent: 'parent' });
    const taker = fixture.place({ id: 'taker', user: BOB, side: SIDE.sell });
    fixture.confirm(fixture.match(parent, taker, 200_000, 10_000));
    return { fixture, child };
  }

  test('a child sells what its parent bought in the trade that released it, whichever event arrives first (TRG-07, AMB-28)', () => {
    for (const clearingFirst of [true, false]) {
      const { fixture, child } = bought();
      if (clearingFirst) fixture.setOwned(ALICE, BASE, ONE_18);
      fixture.trigger(child, 10_000);
      if (!clearingFirst) {
        assert.deepEqual(released(fixture), [], 'the market is ahead of clearing');
        fixture.setOwned(ALICE, BASE, ONE_18);
      }
      fixture.decide();
      assert.deepEqual(released(fixture), [[child, 10_000, GO]]);
      assert.equal(fixture.held(ALICE, BASE), ONE_18);
    }
  });

  test('a decision before the market’s event has no effect on what followed from it (AMB-28)', () => {
    const { fixture, child } = bought();
    fixture.decide();
    fixture.trigger(child, 10_000);
    assert.deepEqual(released(fixture), []);
    fixture.decide();
    assert.deepEqual(released(fixture), [[child, 10_000, ORDER_END.marginInsufficient]]);
  });

  test('one that ends meanwhile is not answered; a later word takes the place of an earlier one (AMB-28, AMB-29)', () => {
    const ended = bought();
    ended.fixture.trigger(ended.child, 10_000);
    ended.fixture.end(ended.child, ORDER_END.userRequested);
    ended.fixture.decide();
    assert.deepEqual([released(ended.fixture), ended.fixture.manager.shortReleases], [[], 0]);
    const { fixture, child } = bought();
    fixture.trigger(child, 4_000);
    fixture.trigger(child, 10_000);
    fixture.setOwned(ALICE, BASE, ONE_18);
    fixture.decide();
    assert.deepEqual(released(fixture), [[child, 10_000, GO]]);
  });

  test('of hundreds that take all there is, one after the other, each is checked three times at most (AMB-28, AMB-39)', () => {
    const fixture = new OrderFixture();
    const count = 400;
    const orders = Array.from({ length: count }, (_, at) =>
      fixture.place({ id: `o-${at}`, market: { base: 10_000 }, above: 210_000 }),
    );
    const { check } = fixture.manager.margin;
    let asked = 0;
    check.reduceOnlyFault = () => {
      asked += 1;
      return null;
    };
    for (const order of orders) {
      fixture.trigger(order, 10_000);
      fixture.decide();
    }
    assert.deepEqual([released(fixture), fixture.manager.shortReleases], [[[orders[0], 10_000, GO]], count - 1]);
    for (const order of orders) {
      fixture.activate(order, 10_000);
      fixture.decide();
      fixture.end(order, ORDER_END.immediateOrCancel);
    }
    assert.deepEqual(
      released(fixture),
      orders.map((order) => [order, 10_000, GO]),
    );
    assert.ok(asked <= 3 * count, `${asked} times`);
    assert.deepEqual([fixture.manager.shortReleases, fixture.held(ALICE, USD)], [0, 0n]);
  });

  test('what comes while one has all of it goes to the next, whichever other order takes all there is by then (AMB-28)', () => {
    const fixture = new OrderFixture();
    const [first, second, third] = ['a', 'b', 'c'].map((id) =>
      fixture.place({ id, market: { base: 10_000 }, above: 210_000 }),
    ) as [number, number, number];
    for (const order of [first, second, third]) fixture.trigger(order, 10_000);
    fixture.decide();
    fixture.setOwned(ALICE, USD, 20_000n * ONE_18);
    fixture.place({ id: 'other', user: BOB, side: SIDE.sell });
    fixture.decide();
    assert.deepEqual(
      released(fixture).map(([order]) => order),
      [first, second],
    );
    for (const order of [second, first]) {
      fixture.activate(order, 10_000);
      fixture.end(order, ORDER_END.immediateOrCancel);
    }
    assert.deepEqual(released(fixture).slice(2), [[third, 10_000, GO]], 'it took what the second one left');
    assert.equal(fixture.manager.shortReleases, 0);
    assert.ok(fixture.available(ALICE, USD) >= 9_999n * ONE_18, 'what the first one left is there');
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
    const fixture = new OrderFixture();
    restoreRow(fixture.manager, row());
    fixture.manager.onMarketOpened(3);
    assert.deepEqual([fixture.status(ALICE), fixture.held(ALICE, BASE), released(fixture)], ['Untriggered', 0n, []]);
    fixture.trigger(40, 10_000);
    assert.deepEqual(released(fixture), [[40, 10_000, GO]]);
  });

  test('one that had fired is held and released when its market opens, not before', () => {
    const fixture = new OrderFixture();
    restoreRow(fixture.manager, row({ triggerState: TRIGGER_STATE.fired }));
    assert.deepEqual([released(fixture), fixture.held(ALICE, BASE)], [[], 0n]);
    fixture.manager.onMarketOpened(3);
    assert.deepEqual([released(fixture), fixture.held(ALICE, BASE)], [[[40, 10_000, GO]], 100n * CENT]);
    assert.deepEqual(fixture.told(ALICE), [], 'no event is owed');
  });

  test('those that had fired are released in the order of admission, whatever order they come in (AMB-28, AMB-110)', () => {
    const fixture = new OrderFixture();
    for (const sequence of [44, 42, 43]) {
      const name = { orderSequence: sequence as never, orderId: `o${sequence}` as OrderId };
      restoreRow(fixture.manager, row({ ...name, triggerState: TRIGGER_STATE.fired }));
    }
    fixture.manager.onMarketOpened(3);
    assert.deepEqual(
      released(fixture).map(([sequence]) => sequence),
      [42, 43, 44],
    );
  });

  test('a fired child is released as far as its parent has filled, whatever order they come in', () => {
    const fixture = new OrderFixture();
    const child = { parentId: 'parent' as OrderId, parentSequence: 30 as never, enabledQuantity: 4_000 };
    restoreRow(fixture.manager, row({ ...child, triggerState: TRIGGER_STATE.fired }));
    const parent = { orderSequence: 30 as never, orderId: 'parent' as OrderId, side: SIDE.buy, filledQuantity: 4_000 };
    const untriggered = { triggerKind: TRIGGER.none, triggerState: TRIGGER_STATE.live, inForce: 10_000 } as const;
    restoreRow(fixture.manager, row({ ...parent, ...untriggered, triggerPrice: 0 as RawPrice }));
    fixture.manager.onMarketOpened(3);
    assert.deepEqual(released(fixture), [[40, 4_000, GO]]);
    assert.equal(fixture.record(ALICE)?.trigger_enabled_quantity, '0.4');
  });

  test('a live child of a parent that is over holds what was activated', () => {
    const fixture = new OrderFixture();
    const child = {
      parentId: 'parent' as OrderId,
      parentSequence: 30 as never,
      enabledQuantity: 4_000,
      inForce: 4_000,
    };
    restoreRow(fixture.manager, row({ ...child, quantity: 4_000 as RawQuantity, triggerState: TRIGGER_STATE.live }));
    fixture.manager.onMarketOpened(3);
    assert.deepEqual([fixture.held(ALICE, BASE), released(fixture)], [40n * CENT, []]);
  });

  test('a child that was released in part holds that part, and more when its market publishes more (AMB-29, AMB-110)', () => {
    const parent = { orderSequence: 30 as never, orderId: 'parent' as OrderId, side: SIDE.buy, filledQuantity: 9_000 };
    const plain = { triggerKind: TRIGGER.none, triggerPrice: 0 as RawPrice, inForce: 10_000 } as const;
    const part = { parentId: 'parent' as OrderId, parentSequence: 30 as never, enabledQuantity: 9_000, inForce: 4_000 };
    for (const [tif, held] of [
      [TIF.gtc, 30n],
      [TIF.ioc, 0n],
    ] as const) {
      const fixture = new OrderFixture();
      restoreRow(fixture.manager, row({ ...parent, ...plain, triggerState: TRIGGER_STATE.live }));
      restoreRow(fixture.manager, row({ ...part, tif, filledQuantity: 1_000, triggerState: TRIGGER_STATE.live }));
      fixture.manager.onMarketOpened(3);
      assert.deepEqual(
        [fixture.held(ALICE, BASE), released(fixture)],
        [held * CENT, []],
        'the rest of its part, if it rests',
      );
      fixture.trigger(40, 9_000);
      assert.deepEqual([fixture.held(ALICE, BASE), released(fixture)], [(held + 50n) * CENT, [[40, 9_000, GO]]]);
    }
  });
});
