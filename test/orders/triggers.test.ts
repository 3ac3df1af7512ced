/** Laws of triggers, children, covered cancels, self-trade prevention and cancels of many at the front door. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type AssetId, type OrderId, USD } from '../../src/core/ids.ts';
import { ORDER_END, ORDER_FLAG, ORDER_KIND, SIDE, TIF, TRIGGER, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../src/core/reject.ts';
import { ONE_18, type RawPrice, type RawQuantity, type TimestampNs } from '../../src/core/units.ts';
import type { RestoredOrder } from '../../src/orders/words.ts';
import {
  ALICE,
  BASE,
  BOB,
  codeOf,
  mustPass,
  NOW,
  OrderDesk,
  type OrderWish,
  replaceRequest,
} from '../support/order-desk.ts';

const CALLER = { user: ALICE, now: NOW, looksUp: false };
const CENT = ONE_18 / 100n;
const USD_1 = 10_000;
const GO = 0;

/** What the door told the market about releases: order, quantity, end. */
function released(desk: OrderDesk): readonly (readonly number[])[] {
  return desk.sink.releases.map(({ order, quantity, end }) => [order, quantity, end]);
}

/** Alice's parent, a buy of 1 at 2000, and its child, a sell of 1 above 2100; `filled` of the parent is confirmed. */
function family(filled: number, child: OrderWish = {}) {
  const desk = new OrderDesk();
  const parent = desk.place({ id: 'parent' });
  const order = desk.place({ side: SIDE.sell, above: 210_000, parent: 'parent', ...child });
  const fill = (quantity: number) => {
    const taker = desk.place({ id: `t${desk.nextSequence}`, user: BOB, side: SIDE.sell, quantity });
    desk.confirm(desk.match(parent, taker, 200_000, quantity));
  };
  if (filled > 0) fill(filled);
  return { desk, parent, order, fill };
}

suite('triggers', () => {
  test('a dormant order is told Created, shows Untriggered and its condition, and reserves nothing (TRG-01, AMB-28)', () => {
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
    assert.equal(desk.manager.orderPage(page).rows.length, 1, 'open orders include it (AMB-17)');
  });

  test('when it fires it passes the normal checks: the hold is taken, the market told (TRG-02, TRG-08, AMB-28)', () => {
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
    assert.deepEqual(desk.told(ALICE), ['Created', 'Canceled MarginInsufficient']);
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

  test('a replace of a waiting order needs no hold and tells the trigger now in force (AMB-20)', () => {
    const desk = new OrderDesk();
    const order = desk.place({ above: 210_000 });
    desk.setOwned(ALICE, USD, 0n);
    const request = replaceRequest({ newQuantity: 90_000 as RawQuantity });
    const requestId = mustPass(desk.manager.reserveReplace(mustPass(desk.manager.checkReplace(request, CALLER))));
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
    mustPass(desk.manager.reserveReplace(mustPass(desk.manager.checkReplace(request, CALLER))));
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

  test('a release of one sized in quote says quantity 0 and is of the whole (AMB-28)', () => {
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
  /** Alice owns no base; her parent's fill of 1 is heard as confirmed, its balance not yet. */
  function bought() {
    const desk = new OrderDesk();
    desk.setOwned(ALICE, BASE, 0n);
    const parent = desk.place({ id: 'parent' });
    const child = desk.place({ side: SIDE.sell, above: 200_000, parent: 'parent' });
    const taker = desk.place({ id: 'taker', user: BOB, side: SIDE.sell });
    desk.confirm(desk.match(parent, taker, 200_000, 10_000));
    return { desk, child };
  }

  test('a child sells what its parent bought in the trade that released it, whoever is heard first (TRG-07, AMB-28)', () => {
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

  test('a decision before the market’s word says nothing about what followed from it (AMB-28)', () => {
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
});

suite('children', () => {
  test('a child that is admitted after its parent has left memory has what the parent had confirmed (AMB-29)', () => {
    const desk = new OrderDesk();
    const parent = desk.place({ id: 'parent' });
    const child = mustPass(desk.request({ id: 'child', side: SIDE.sell, above: 210_000, parent: 'parent' }));
    const taker = desk.place({ id: 'taker', user: BOB, side: SIDE.sell });
    desk.confirm(desk.match(parent, taker, 200_000, 10_000));
    // Clearing's lane is ahead of the market's: the parent is over, flushed and in the tables.
    desk.manager.onMarketDecided({ marketIndex: 3, sequence: 1_000 });
    for (const sequence of [1, 2]) desk.manager.onJournalFlushed({ sequence, checkpoint: sequence });
    assert.equal(desk.record(ALICE, 'parent'), undefined);
    const sequence = desk.nextSequence;
    desk.manager.onAdmitted({ requestId: child, marketIndex: 3, sequence, timeNs: NOW, refusal: 0 });
    desk.answer(child, sequence);
    assert.equal(desk.record(ALICE, 'child')?.trigger_enabled_quantity, '1');
  });

  test('a child whose parent had left memory before its request is activated whole (AMB-29)', () => {
    const desk = new OrderDesk();
    const parent = desk.place({ id: 'parent' });
    const taker = desk.place({ id: 'taker', user: BOB, side: SIDE.sell });
    desk.confirm(desk.match(parent, taker, 200_000, 10_000));
    desk.manager.onMarketDecided({ marketIndex: 3, sequence: 1_000 });
    for (const sequence of [1, 2]) desk.manager.onJournalFlushed({ sequence, checkpoint: sequence });
    // The market has yet to hear that the fill is decided, so for it the parent lives.
    desk.place({ id: 'child', side: SIDE.sell, above: 210_000, parent: 'parent', quantity: 4_000 });
    assert.equal(desk.record(ALICE, 'child')?.trigger_enabled_quantity, '0.4');
  });

  test('the parent’s confirmed fills activate a child, up to its quantity (TRG-07, AMB-29)', () => {
    const { desk, fill, order } = family(0);
    const enabled = () => desk.record(ALICE)?.trigger_enabled_quantity;
    assert.deepEqual([enabled(), desk.record(ALICE)?.parent_id], ['0', 'parent']);
    fill(4_000);
    assert.equal(enabled(), '0.4');
    const taker = desk.place({ id: 'pending', user: BOB, side: SIDE.sell, quantity: 1_000 });
    desk.match(2 - 1, taker, 200_000, 1_000);
    assert.equal(enabled(), '0.4', 'pending fills do not count');
    assert.equal(order, 2);
  });

  test('40 percent filled: 40 percent is held and released, the next part when there is more (TRG-07)', () => {
    const { desk, order, fill } = family(4_000);
    desk.trigger(order, 4_000);
    assert.equal(desk.held(ALICE, BASE), 40n * CENT);
    desk.activate(order, 4_000);
    fill(3_000);
    desk.trigger(order, 7_000);
    assert.equal(desk.held(ALICE, BASE), 70n * CENT);
    desk.activate(order, 7_000);
    assert.deepEqual(released(desk), [
      [order, 4_000, GO],
      [order, 7_000, GO],
    ]);
    assert.deepEqual(desk.told(ALICE), ['Created', 'Triggered'], 'the first release is told, later parts are not');
  });

  test('a condition that fires while nothing is activated is touched, held for nothing and not answered (AMB-29)', () => {
    const { desk, order } = family(0);
    desk.trigger(order, 0);
    assert.deepEqual([released(desk), desk.held(ALICE, BASE)], [[], 0n]);
    assert.deepEqual([desk.record(ALICE)?.trigger_touched, desk.status(ALICE)], [true, 'Untriggered']);
  });

  test('a child that was released whole is replaced like any order (RPL-07)', () => {
    const { desk, order } = family(8_000, { quantity: 5_000 });
    desk.trigger(order, 5_000);
    desk.activate(order, 5_000);
    desk.setOwned(ALICE, BASE, 80n * CENT);
    const wish = (quantity: number) => replaceRequest({ newQuantity: quantity as RawQuantity });
    const reserve = (quantity: number) =>
      desk.manager.reserveReplace(mustPass(desk.manager.checkReplace(wish(quantity), CALLER)));
    assert.equal(codeOf(reserve(8_001)), 'INSUFFICIENT_INVENTORY');
    const requestId = mustPass(reserve(8_000));
    assert.equal(desk.held(ALICE, BASE), 80n * CENT);
    desk.replaced(order, 200_000, 8_000);
    desk.answer(requestId, 9);
    assert.equal(desk.held(ALICE, BASE), 80n * CENT);
  });

  test('a part for which there is no inventory ends the child, what was released included (AMB-28)', () => {
    const { desk, order, fill } = family(4_000);
    desk.trigger(order, 4_000);
    desk.activate(order, 4_000);
    desk.setOwned(ALICE, BASE, 69n * CENT);
    fill(3_000);
    desk.trigger(order, 7_000);
    desk.decide();
    assert.deepEqual(released(desk)[1], [order, 7_000, ORDER_END.marginInsufficient]);
    assert.equal(desk.held(ALICE, BASE), 40n * CENT);
    desk.end(order, ORDER_END.marginInsufficient);
    assert.equal(desk.held(ALICE, BASE), 0n);
  });

  test('a replace while a release is on its way lets nothing more through than was told (AMB-29, RPL-07)', () => {
    const { desk, order } = family(5_000, { quantity: 5_000 });
    desk.trigger(order, 5_000);
    desk.replaced(order, 200_000, 9_000);
    assert.equal(desk.held(ALICE, BASE), 50n * CENT);
    desk.activate(order, 5_000);
    assert.equal(desk.held(ALICE, BASE), 50n * CENT, 'the parent has filled no more');
  });

  /** Alice's parent sells 1; its child buys as much at the market, and finds 0.2 for the first 0.4. */
  function buyer() {
    const desk = new OrderDesk();
    const parent = desk.place({ id: 'parent', side: SIDE.sell });
    const child = desk.place({ market: { base: 10_000 }, below: 210_000, parent: 'parent' });
    const fill = (quantity: number) => {
      const taker = desk.place({ id: `t${desk.nextSequence}`, user: BOB, quantity });
      desk.confirm(desk.match(parent, taker, 200_000, quantity, SIDE.buy));
    };
    fill(4_000);
    const maker = desk.place({ id: 'maker', user: BOB, side: SIDE.sell, quantity: 2_000 });
    desk.trigger(child, 4_000);
    desk.activate(child, 4_000);
    desk.match(maker, child, 200_005, 2_000, SIDE.buy);
    return { desk, child, fill };
  }

  test('what a part that never rests did not get is gone, and its hold with it (AMB-29, AMB-39)', () => {
    const { desk } = buyer();
    assert.ok(desk.held(ALICE, USD) > 0n, 'more fills of it may be on their way');
    desk.place({ id: 'other', user: BOB, quantity: 10 });
    assert.equal(desk.held(ALICE, USD), 0n, 'the market has spoken of something else');
  });

  test('an order of its owner in the way does not stop such a part (STP-03)', () => {
    const desk = new OrderDesk();
    const parent = desk.place({ id: 'parent', side: SIDE.sell, price: 250_000 });
    const child = desk.place({ market: { base: 10_000 }, below: 210_000, parent: 'parent' });
    const taker = desk.place({ id: 'taker', user: BOB, price: 250_000, quantity: 4_000 });
    const own = desk.place({ id: 'own', side: SIDE.sell, quantity: 10 });
    desk.confirm(desk.match(parent, taker, 250_000, 4_000, SIDE.buy));
    desk.trigger(child, 4_000);
    desk.activate(child, 4_000);
    desk.end(own, ORDER_END.selfTradePrevented);
    assert.ok(desk.held(ALICE, USD) > 0n);
  });

  test('the next part has a budget of its own for the lots that are new (AMB-29, AMB-39)', () => {
    const { desk, child, fill } = buyer();
    fill(3_000);
    desk.setOwned(ALICE, USD, 1_000n * ONE_18);
    desk.trigger(child, 7_000);
    const { budget, quantity } = desk.sink.releases.at(-1) ?? {};
    // 400.01 USD and the fee are pending: 1000 − 400.210005 = 599.789995, and 599.490247… without the fee.
    assert.deepEqual([quantity, budget], [7_000, 5_994_902]);
    const left = desk.available(ALICE, USD);
    assert.ok(left >= 0n && left < ONE_18 / 1_000n);
    const maker = desk.place({ id: 'more', user: BOB, side: SIDE.sell, quantity: 3_000 });
    desk.activate(child, 7_000);
    desk.match(maker, child, 100_000, 3_000, SIDE.buy);
    assert.equal(desk.held(ALICE, USD), 0n, 'the 0.2 that the first part did not get are not waited for');
  });

  test('when the parent is over the rest of a child is cut off, or the child ends ParentCanceled (AMB-29)', () => {
    const cut = family(4_000);
    cut.desk.trigger(cut.order, 4_000);
    cut.desk.activate(cut.order, 4_000);
    cut.desk.end(cut.parent, ORDER_END.userRequested);
    cut.desk.replaced(cut.order, 200_000, 4_000);
    assert.deepEqual(cut.desk.told(ALICE), ['Created', 'Triggered', 'Replaced']);
    assert.deepEqual([cut.desk.held(ALICE, BASE), cut.desk.record(ALICE)?.quantity], [40n * CENT, '0.4']);
    const { desk, order, parent } = family(0);
    desk.end(parent, ORDER_END.userRequested);
    desk.end(order, ORDER_END.parentCanceled);
    assert.deepEqual(desk.told(ALICE), ['Created', 'Canceled ParentCanceled']);
  });

  test('a refused parent is answered as such, 404, INVALID_ORDER or TOO_MANY_OPEN_ORDERS, and the child leaves no trace (TRG-04 to TRG-06)', () => {
    for (const [code, field] of [
      ['ORDER_NOT_FOUND', 'parent_order_id'],
      ['INVALID_ORDER', undefined],
      ['TOO_MANY_OPEN_ORDERS', undefined],
    ] as const) {
      const desk = new OrderDesk();
      desk.answer(mustPass(desk.request({ above: 5, parent: 'p' })), 0, REJECT_CODE[code]);
      const refusal = desk.sink.acks[0]?.result.reject;
      assert.deepEqual([refusal?.code, refusal?.field], [code, field]);
      assert.equal(desk.record(ALICE), undefined);
    }
  });
});

function row(change: Partial<RestoredOrder> = {}): RestoredOrder {
  return {
    marketIndex: 3,
    orderSequence: 40 as never,
    prioritySequence: 40 as never,
    user: ALICE,
    subAccount: 0,
    orderId: 'order-1' as OrderId,
    side: SIDE.sell,
    kind: ORDER_KIND.limit,
    tif: TIF.gtc,
    flags: ORDER_FLAG.isSpot,
    price: 200_000 as RawPrice,
    quantity: 10_000 as RawQuantity,
    amount: 0,
    budget: 0,
    triggerKind: TRIGGER.above,
    triggerPrice: 210_000 as RawPrice,
    triggerState: TRIGGER_STATE.dormant,
    parentSequence: 0,
    parentId: '',
    enabledQuantity: 10_000,
    maxFeeRate: 500,
    creationNs: NOW,
    timestampNs: NOW,
    goodUntilNs: 0n as TimestampNs,
    expiryNs: NOW,
    admittedNs: NOW,
    lastUpdateNs: NOW,
    filledQuantity: 0,
    filledNotional: 0n as never,
    fees: 0n as never,
    ...change,
  };
}

suite('triggers at a restart', () => {
  test('a dormant order comes back without a hold and is released by a later trade (AMB-28, AMB-110)', () => {
    const desk = new OrderDesk();
    desk.manager.restoreOrder(row());
    desk.manager.onMarketOpened(3);
    assert.deepEqual([desk.status(ALICE), desk.held(ALICE, BASE), released(desk)], ['Untriggered', 0n, []]);
    desk.trigger(40, 10_000);
    assert.deepEqual(released(desk), [[40, 10_000, GO]]);
  });

  test('one that had fired is held and released when its market opens, not before', () => {
    const desk = new OrderDesk();
    desk.manager.restoreOrder(row({ triggerState: TRIGGER_STATE.fired }));
    assert.deepEqual([released(desk), desk.held(ALICE, BASE)], [[], 0n]);
    desk.manager.onMarketOpened(3);
    assert.deepEqual([released(desk), desk.held(ALICE, BASE)], [[[40, 10_000, GO]], 100n * CENT]);
    assert.deepEqual(desk.told(ALICE), [], 'no event is owed');
  });

  test('a fired child is released as far as its parent has filled, whatever order they come in', () => {
    const desk = new OrderDesk();
    const child = { parentId: 'parent' as OrderId, parentSequence: 30 as never, enabledQuantity: 4_000 };
    desk.manager.restoreOrder(row({ ...child, triggerState: TRIGGER_STATE.fired }));
    const parent = { orderSequence: 30 as never, orderId: 'parent' as OrderId, side: SIDE.buy, filledQuantity: 4_000 };
    const untriggered = { triggerKind: TRIGGER.none, triggerState: TRIGGER_STATE.live } as const;
    desk.manager.restoreOrder(row({ ...parent, ...untriggered, triggerPrice: 0 as RawPrice }));
    desk.manager.onMarketOpened(3);
    assert.deepEqual(released(desk), [[40, 4_000, GO]]);
    assert.equal(desk.record(ALICE)?.trigger_enabled_quantity, '0.4');
  });

  test('a live child of a parent that is over holds what was activated', () => {
    const desk = new OrderDesk();
    const child = { parentId: 'parent' as OrderId, parentSequence: 30 as never, enabledQuantity: 4_000 };
    desk.manager.restoreOrder(row({ ...child, quantity: 4_000 as RawQuantity, triggerState: TRIGGER_STATE.live }));
    desk.manager.onMarketOpened(3);
    assert.deepEqual([desk.held(ALICE, BASE), released(desk)], [40n * CENT, []]);
  });
});

suite('covered cancels and self-trade prevention', () => {
  function pendingSell() {
    const desk = new OrderDesk();
    const maker = desk.place({ side: SIDE.sell });
    const taker = desk.place({ id: 'buy', user: BOB });
    const trade = desk.match(maker, taker, 200_000, 10_000, SIDE.buy);
    return { desk, maker, trade };
  }

  test('covered: Filled if the fills are confirmed, Canceled UserRequested if one rolls back, never held again (AMB-23)', () => {
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
    desk.manager.checkCancelAll({ user: ALICE, assetId });
  const batch = (desk: OrderDesk, orderIds: readonly string[], assetId: AssetId | null = null) =>
    desk.manager.ordersToCancel({ user: ALICE, assetId, orderIds: orderIds as readonly OrderId[] });

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

  test('its answer is not told: 202 was the answer (CAN-11); each order is told its own end (CAN-12)', () => {
    const desk = new OrderDesk();
    const order = desk.place();
    const [market] = mustPass(all(desk));
    assert.ok(market !== undefined);
    const requestId = mustPass(desk.manager.reserveCancelAll());
    assert.equal(desk.manager.requestsOnTheWay, 1);
    desk.end(order, ORDER_END.userRequested);
    desk.answer(requestId, 2);
    assert.deepEqual([desk.sink.acks.length, desk.manager.requestsOnTheWay], [1, 0]);
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
