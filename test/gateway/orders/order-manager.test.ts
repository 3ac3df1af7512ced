// tier: quick
/** Holds, fills, order events and answers at the gateway. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { USD } from '../../../src/core/ids.ts';
import { SIDE, TIF } from '../../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import { ONE_18, type RawPrice, type RawQuantity, type TimestampNs } from '../../../src/core/units.ts';
import { userTradeBody } from '../../../src/gateway/orders/book/trade-view.ts';
import { ALICE, BOB } from '../../support/names.ts';
import {
  BASE,
  cancelRequest,
  codeOf,
  MARKET,
  mustPass,
  NO_HISTORY,
  NOW,
  OrderFixture,
  replaceRequest,
} from '../../support/order-fixture.ts';
import { orderPage, tradePage } from '../../support/pages.ts';

const CALLER = { user: ALICE, now: NOW, looksUp: false };
const CENT = ONE_18 / 100n;

/** Reserves a replace of Alice's order-1. */
function replaces(fixture: OrderFixture, price: number | null, quantity: number | null) {
  const members = { newPriceLimit: price as RawPrice | null, newQuantity: quantity as RawQuantity | null };
  return fixture.manager.requests.reserveReplace(
    mustPass(fixture.manager.requests.checkReplace(replaceRequest(members), CALLER)),
  );
}

function replaced(
  fixture: OrderFixture,
  order: number,
  price: number,
  quantity: number,
  timestampNs: bigint = NOW + 7n,
): void {
  fixture.manager.onReplaced({
    marketIndex: 3,
    sequence: fixture.nextSequence,
    order,
    timeNs: NOW,
    requestId: 0,
    price: price as RawPrice,
    quantity: quantity as RawQuantity,
    triggerKind: 0,
    triggerPrice: 0 as RawPrice,
    timestampNs: timestampNs as TimestampNs,
  });
}

/** Alice's buy of 1 at 2000 rests; Bob's sell of `quantity` takes it. */
function crossed(quantity = 10_000, buyerTif: 0 | 2 = TIF.gtc) {
  const fixture = new OrderFixture();
  const maker = fixture.place({ tif: buyerTif });
  const taker = fixture.place({ id: 'sell', user: BOB, side: SIDE.sell, quantity });
  return { fixture, maker, taker, trade: fixture.match(maker, taker, 200_000, quantity) };
}

suite('holds', () => {
  test('a buy holds price × quantity × (1 + taker), a sell its base (EX-27, AMB-52)', () => {
    const fixture = new OrderFixture();
    fixture.place({ quantity: 15_000 });
    assert.equal(fixture.manager.funds({ user: ALICE, subAccount: 0, asset: USD }).held, 300_150n * CENT);
    fixture.place({ id: 's', side: SIDE.sell, quantity: 15_000 });
    assert.equal(fixture.manager.funds({ user: ALICE, subAccount: 0, asset: BASE }).held, 150n * CENT);
  });

  test('an order that needs exactly what is available passes, one unit less is INSUFFICIENT_INVENTORY', () => {
    const fixture = new OrderFixture();
    fixture.setOwned(ALICE, USD, 200_100n * CENT - 1n);
    assert.equal(codeOf(fixture.request()), 'INSUFFICIENT_INVENTORY');
    assert.equal(fixture.available(ALICE, USD), 200_100n * CENT - 1n);
    fixture.setOwned(ALICE, USD, 200_100n * CENT);
    assert.equal(codeOf(fixture.request()), 'ok');
    assert.equal(fixture.available(ALICE, USD), 0n);
  });

  test('a refused create gives its hold back, leaves no record and publishes CreateFailed (AMB-128)', () => {
    const fixture = new OrderFixture();
    const before = fixture.available(ALICE, USD);
    fixture.answer(mustPass(fixture.request()), 0, REJECT_CODE.ALREADY_CANCELLED);
    assert.equal(fixture.available(ALICE, USD), before);
    assert.deepEqual(fixture.told(ALICE), ['CreateFailed AlreadyCancelled']);
    assert.equal(fixture.status(ALICE), undefined);
    assert.equal(fixture.sink.answers[0]?.answer.refusal?.code, 'ALREADY_CANCELLED');
  });

  test('a match turns the hold into what the fill costs; a price better than the limit frees the rest', () => {
    const { fixture, maker, trade } = crossed(4_000);
    const funds = () => fixture.manager.funds({ user: ALICE, subAccount: 0, asset: USD });
    // 0.6 left at 2000 with 5 bp; 0.4 bought at 2000 with a rebate of 1 bp.
    assert.equal(funds().held, 120_060n * CENT);
    assert.equal(funds().pending, 80_000n * CENT - 8n * CENT);
    fixture.confirm(trade);
    assert.deepEqual([funds().pending, funds().settling], [0n, 79_992n * CENT]);
    fixture.setOwned(ALICE, USD, 920_008n * CENT);
    assert.equal(funds().available, 920_008n * CENT - 120_060n * CENT);
    fixture.end(maker, 1);
    assert.equal(funds().available, 920_008n * CENT);
  });

  test('what an undecided fill will cost, and a confirmed one until its balance comes, cannot be spent again (AMB-52, AMB-112)', () => {
    const { fixture, trade } = crossed(4_000);
    const funds = () => fixture.manager.funds({ user: ALICE, subAccount: 0, asset: USD });
    const [held, cost] = [120_060n * CENT, 79_992n * CENT];
    fixture.setOwned(ALICE, USD, held + cost + 200_100n * CENT - 1n);
    const [another, third] = [{ id: 'order-2' }, { id: 'order-3' }];
    assert.equal(funds().available, 200_100n * CENT - 1n);
    assert.equal(codeOf(fixture.request(another)), 'INSUFFICIENT_INVENTORY');
    fixture.confirm(trade);
    assert.equal(funds().available, 200_100n * CENT - 1n);
    assert.equal(codeOf(fixture.request(third)), 'INSUFFICIENT_INVENTORY');
  });

  test('a balance that contains a fill may arrive before its match: the fill is not taken twice', () => {
    const fixture = new OrderFixture();
    const maker = fixture.place();
    const taker = fixture.place({ id: 'sell', user: BOB, side: SIDE.sell });
    fixture.confirm(1);
    fixture.setOwned(ALICE, USD, 8_000n * ONE_18);
    assert.equal(fixture.fills(ALICE).length, 0);
    assert.equal(fixture.match(maker, taker, 200_000, 10_000), 1);
    assert.deepEqual(
      fixture.fills(ALICE).map((fill) => fill.split(' ')[0]),
      ['Pending', 'Confirmed'],
    );
    assert.equal(fixture.available(ALICE, USD), 8_000n * ONE_18);
  });

  test('a rolled back fill of a resting order is held again, of one that never rests it is free (AMB-32 a, c)', () => {
    const resting = crossed();
    resting.fixture.rollBack(resting.trade, 10, 1);
    assert.equal(resting.fixture.available(ALICE, USD), (1_000_000n - 200_100n) * CENT);
    const immediate = crossed(10_000, TIF.ioc);
    immediate.fixture.rollBack(immediate.trade, 10, 1);
    assert.equal(immediate.fixture.available(ALICE, USD), 10_000n * ONE_18);
  });

  test('a change of the taker rate changes what buys hold', () => {
    const fixture = new OrderFixture();
    fixture.place();
    fixture.manager.onMarketChanged({ ...MARKET, takerFeeRate: 1_000 });
    assert.equal(fixture.available(ALICE, USD), (1_000_000n - 200_200n) * CENT);
  });
});

suite('replace', () => {
  test('a replace that needs more than is available is refused and the order untouched (RPL-07)', () => {
    const fixture = new OrderFixture();
    fixture.place();
    const before = fixture.manager.funds({ user: ALICE, subAccount: 0, asset: USD });
    assert.equal(codeOf(replaces(fixture, null, 50_000)), 'INSUFFICIENT_INVENTORY');
    assert.deepEqual(fixture.manager.funds({ user: ALICE, subAccount: 0, asset: USD }), before);
    assert.deepEqual(fixture.told(ALICE), ['Created']);
  });

  test('more quantity at a lower price needs only the difference', () => {
    const fixture = new OrderFixture();
    fixture.setOwned(ALICE, USD, 200_100n * CENT);
    const order = fixture.place();
    const requestId = mustPass(replaces(fixture, 100_000, 20_000));
    replaced(fixture, order, 100_000, 20_000);
    fixture.answer(requestId, 3);
    assert.equal(fixture.available(ALICE, USD), 0n);
  });

  test('while a smaller replace is on its way the larger hold stays; refused, it stays for good (RPL-09)', () => {
    const fixture = new OrderFixture();
    fixture.place();
    const held = () => fixture.manager.funds({ user: ALICE, subAccount: 0, asset: USD }).held;
    const smaller = mustPass(replaces(fixture, null, 5_000));
    const larger = mustPass(replaces(fixture, null, 20_000));
    assert.equal(held(), 400_200n * CENT);
    fixture.answer(larger, 0, REJECT_CODE.REQUEST_TOO_OLD);
    assert.equal(held(), 200_100n * CENT);
    fixture.answer(smaller, 0, REJECT_CODE.REQUEST_TOO_OLD);
    assert.equal(held(), 200_100n * CENT);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'ReplaceFailed RequestTooOld', 'ReplaceFailed RequestTooOld']);
  });

  test('what a replace leaves may be what an earlier one on its way makes of it: the larger counts (RPL-07, AMB-112)', () => {
    const fixture = new OrderFixture();
    fixture.place();
    mustPass(replaces(fixture, 400_000, null));
    assert.equal(codeOf(replaces(fixture, null, 25_000)), 'INSUFFICIENT_INVENTORY');
    mustPass(replaces(fixture, null, 20_000));
    assert.equal(fixture.held(ALICE, USD), 800_400n * CENT, '2 at 4000, should both be applied');
    mustPass(replaces(fixture, 300_000, null));
    assert.equal(fixture.held(ALICE, USD), 800_400n * CENT);
  });

  test('an applied replace publishes effective values and raises the timestamp (AMB-18, RPL-12)', () => {
    const fixture = new OrderFixture();
    const order = fixture.place();
    replaced(fixture, order, 200_000, 20_000);
    const event = fixture.sink.events[1]?.event;
    assert.ok(event?.kind === 'Replaced');
    assert.deepEqual([event.newPrice, event.newQuantity], [200_000, 20_000]);
    const record = fixture.manager.order({ user: ALICE, marketIndex: 3, orderId: event.orderId });
    assert.equal(record?.timestamp_ns, NOW + 7n);
    const unchanged = [record?.order_id, record?.side, record?.is_immediate_or_cancel];
    assert.deepEqual(unchanged, ['order-1', 'Buy', false], 'RPL-04, RPL-05');
    replaced(fixture, order, 200_000, 10_000, NOW - 1n);
    assert.equal(
      fixture.manager.order({ user: ALICE, marketIndex: 3, orderId: event.orderId })?.timestamp_ns,
      NOW + 7n,
    );
  });

  test('a new total that is filled already completes the order, after its fills (RPL-08, AMB-19)', () => {
    const { fixture, maker, trade } = crossed(4_000);
    replaced(fixture, maker, 200_000, 3_000);
    fixture.end(maker, 32);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Replaced']);
    assert.equal(fixture.status(ALICE), 'Filled');
    fixture.confirm(trade);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Replaced', 'Removed Filled']);
  });

  test('a post-only that would cross after a replace is Canceled and answers WOULD_CROSS (AMB-19)', () => {
    const fixture = new OrderFixture();
    const order = fixture.place({ postOnly: true });
    const requestId = mustPass(replaces(fixture, 300_000, null));
    fixture.end(order, 5);
    fixture.answer(requestId, 2, REJECT_CODE.WOULD_CROSS);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Canceled PostOnlyWouldCross']);
    assert.equal(fixture.available(ALICE, USD), 10_000n * ONE_18);
  });
});

suite('life of an order', () => {
  test('a crossing post-only has a record and one Canceled, no Created (TIF-07, AMB-16)', () => {
    const fixture = new OrderFixture();
    const requestId = mustPass(fixture.request({ postOnly: true }));
    const refusal = REJECT_CODE.WOULD_CROSS;
    fixture.manager.onAccepted({ requestId, marketIndex: 3, sequence: 1, timeNs: NOW, rejectCode: refusal });
    fixture.answer(requestId, 1, REJECT_CODE.WOULD_CROSS);
    assert.deepEqual(fixture.told(ALICE), ['Canceled PostOnlyWouldCross']);
    assert.equal(fixture.status(ALICE), 'Canceled');
    assert.equal(fixture.sink.answers[0]?.answer.refusal?.code, 'WOULD_CROSS');
    assert.equal(fixture.available(ALICE, USD), 10_000n * ONE_18);
  });

  test('Removed Filled waits until no fill is pending, with final numbers (AMB-128, G20)', () => {
    const { fixture, trade } = crossed();
    assert.deepEqual(fixture.told(ALICE), ['Created']);
    assert.equal(fixture.status(ALICE), 'Filled');
    fixture.confirm(trade);
    const event = fixture.sink.events.findLast(({ user }) => user === ALICE)?.event;
    assert.ok(event?.kind === 'Removed');
    assert.deepEqual([event.reason, event.filledQuantity, event.filledAmount], ['Filled', 10_000, 20_000_000n]);
  });

  test('a cancel of a remainder is published at once, although fills are pending (AMB-23)', () => {
    const { fixture, maker, trade } = crossed(4_000);
    fixture.end(maker, 1);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Canceled UserRequested']);
    fixture.rollBack(trade, 10, 1);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Canceled UserRequested']);
    assert.equal(fixture.available(ALICE, USD), 10_000n * ONE_18);
  });

  test('a cancel while all of it is pending ends as Filled, or as Canceled if a fill rolls back (AMB-23)', () => {
    const confirmed = crossed();
    const requestId = mustPass(
      confirmed.fixture.manager.requests.reserveCancel(
        mustPass(confirmed.fixture.manager.requests.checkCancel(cancelRequest(), CALLER)),
      ),
    );
    confirmed.fixture.answer(requestId);
    confirmed.fixture.confirm(confirmed.trade);
    assert.deepEqual(confirmed.fixture.told(ALICE), ['Created', 'Removed Filled']);
    for (const marketFirst of [true, false]) {
      const { fixture, maker, trade } = crossed();
      if (marketFirst) fixture.end(maker, 1);
      fixture.rollBack(trade, 10, 1);
      if (!marketFirst) fixture.end(maker, 1);
      assert.deepEqual(fixture.told(ALICE), ['Created', 'Canceled UserRequested']);
    }
  });

  test('an order at fault is Canceled with its reason, the other one lives on (AMB-32, EX-25)', () => {
    const { fixture, taker, trade } = crossed();
    fixture.rollBack(trade, 10, 2);
    assert.deepEqual([fixture.status(BOB, 'sell'), fixture.available(BOB, BASE)], ['Canceled', 10n * ONE_18]);
    fixture.end(taker, 10, 2);
    assert.deepEqual(fixture.told(BOB, 'sell'), ['Created', 'Canceled InsufficientInventory']);
    assert.deepEqual([fixture.status(ALICE), fixture.told(ALICE)], ['Open', ['Created']]);
    assert.equal(fixture.available(BOB, BASE), 10n * ONE_18);
  });

  test('an innocent order that never rests ends RolledBack when all its fills did (AMB-128, EX-25)', () => {
    for (const marketFirst of [true, false]) {
      const { fixture, maker, trade } = crossed(10_000, TIF.ioc);
      if (marketFirst) fixture.end(maker, 36);
      fixture.rollBack(trade, 10, 1);
      assert.equal(fixture.status(ALICE), 'Canceled');
      if (!marketFirst) fixture.end(maker, 36);
      assert.deepEqual(fixture.told(ALICE), ['Created', 'Removed RolledBack']);
    }
  });

  test('one that kept a fill ends ImmediateOrCancel, one at fault Canceled with its reason (AMB-128)', () => {
    const fixture = new OrderFixture();
    const ioc = fixture.place({ tif: TIF.ioc });
    const maker = fixture.place({ id: 'sell', user: BOB, side: SIDE.sell });
    const trades = [
      fixture.match(maker, ioc, 200_000, 4_000, SIDE.buy),
      fixture.match(maker, ioc, 200_000, 6_000, SIDE.buy),
    ];
    fixture.confirm(trades[0] ?? 0);
    fixture.rollBack(trades[1] ?? 0, 1, 10);
    fixture.end(ioc, 36);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Removed ImmediateOrCancel']);
    const faulty = crossed(4_000, TIF.ioc);
    faulty.fixture.end(faulty.maker, 34);
    faulty.fixture.rollBack(faulty.trade, 2, 10);
    assert.deepEqual(faulty.fixture.told(ALICE), ['Created', 'Canceled InsufficientInventory']);
  });

  test('an order completed by a replace lives again when a fill rolls back (AMB-32 e)', () => {
    const { fixture, maker, trade } = crossed(4_000);
    replaced(fixture, maker, 200_000, 3_000);
    fixture.end(maker, 32);
    fixture.rollBack(trade, 10, 1);
    assert.deepEqual([fixture.told(ALICE), fixture.status(ALICE)], [['Created', 'Replaced'], 'Open']);
    assert.equal(fixture.manager.funds({ user: ALICE, subAccount: 0, asset: USD }).held, 60_030n * CENT);
  });

  test('IOC out of book, FOK that cannot fill, expiry: Removed, once nothing is pending (TIF-03, TIF-04, ORD-20, G20)', () => {
    const { fixture, maker, trade } = crossed(4_000, TIF.ioc);
    fixture.end(maker, 34);
    assert.deepEqual(fixture.told(ALICE), ['Created']);
    fixture.confirm(trade);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Removed ImmediateOrCancel']);
    fixture.end(fixture.place({ id: 'fok', tif: TIF.fok, quantity: 10 }), 35);
    assert.deepEqual(fixture.told(ALICE, 'fok'), ['Created', 'Removed FillOrKill']);
    fixture.end(fixture.place({ id: 'old', quantity: 10 }), 33);
    assert.deepEqual(
      [fixture.told(ALICE, 'old'), fixture.status(ALICE, 'old')],
      [['Created', 'Removed Expired'], 'Expired'],
    );
  });

  test('a record is in flight until the market answers, and filled by what is pending too (ORD-23, ORD-24)', () => {
    const fixture = new OrderFixture();
    const record = () =>
      orderPage(fixture.manager, NO_HISTORY, {
        user: ALICE,
        marketIndex: 3,
        subAccounts: null,
        openOnly: true,
        page: 0,
        limit: 9,
      }).rows[0];
    const requestId = mustPass(fixture.request());
    assert.deepEqual([record()?.in_flight, record()?.status], [true, 'Open']);
    fixture.manager.onAccepted({ requestId, marketIndex: 3, sequence: 1, timeNs: NOW, rejectCode: 0 });
    fixture.answer(requestId, 1);
    fixture.nextSequence;
    const taker = fixture.place({ id: 't', user: BOB, side: SIDE.sell, quantity: 5_000 });
    const trade = fixture.match(1, taker, 200_000, 5_000);
    assert.deepEqual([record()?.in_flight, record()?.status], [false, 'PartiallyFilled']);
    assert.deepEqual([record()?.pending_filled_quantity, record()?.confirmed_filled_quantity], ['0.5', '0']);
    fixture.confirm(trade, { maker: -10n * CENT, taker: 50n * CENT });
    assert.deepEqual([record()?.pending_filled_quantity, record()?.confirmed_filled_quantity], ['0', '0.5']);
    assert.deepEqual([record()?.confirmed_filled_amount, record()?.confirmed_trading_fees_amount], ['1000', '-0.1']);
  });
});

suite('fills', () => {
  test('each side is published as Pending with the projected fee, then its outcome (FIL-02, FIL-03, FIL-04, AMB-35)', () => {
    const { fixture, trade } = crossed();
    fixture.confirm(trade, { maker: -20n * CENT, taker: 100n * CENT });
    assert.deepEqual(fixture.fills(ALICE), [`Pending null ${-20n * CENT}`, `Confirmed null ${-20n * CENT}`]);
    assert.deepEqual(fixture.fills(BOB), [`Pending null ${100n * CENT}`, `Confirmed null ${100n * CENT}`]);
  });

  test('a rollback publishes each side’s own reason and fee 0 (ORD-27, FIL-05, FIL-14, FIL-15, AMB-33)', () => {
    const { fixture, trade } = crossed();
    fixture.rollBack(trade, 10, 1);
    assert.equal(fixture.fills(ALICE)[1], 'Rollbacked CounterpartyAtFault 0');
    assert.equal(fixture.fills(BOB)[1], 'Rollbacked InsufficientMargin 0');
  });

  test('an outcome that arrives before its match is published after Pending (AMB-35)', () => {
    const fixture = new OrderFixture();
    const maker = fixture.place();
    const taker = fixture.place({ id: 'sell', user: BOB, side: SIDE.sell });
    fixture.rollBack(1, 8, 8);
    fixture.match(maker, taker, 200_000, 10_000);
    assert.deepEqual(
      fixture.fills(BOB).map((fill) => fill.split(' ').slice(0, 2).join(' ')),
      ['Pending null', 'Rollbacked StaleMatch'],
    );
    assert.equal(fixture.status(BOB, 'sell'), 'Open');
  });

  test('a self-match sends both events to the one user (AMB-35)', () => {
    const fixture = new OrderFixture();
    const maker = fixture.place();
    const taker = fixture.place({ id: 'sell', side: SIDE.sell });
    fixture.confirm(fixture.match(maker, taker, 200_000, 10_000));
    assert.equal(fixture.fills(ALICE).length, 4);
    const page = tradePage(fixture.manager, NO_HISTORY, {
      user: ALICE,
      marketIndex: null,
      subAccounts: null,
      page: 0,
      limit: 10,
    });
    assert.deepEqual(
      page.rows.map((trade) => [trade.tradeId, trade.isMaker, trade.isBuyer]),
      [
        [1, false, false],
        [1, true, true],
      ],
    );
  });

  test('a trade has the shape of wire.md 7.10 (FIL-01)', () => {
    const { fixture } = crossed(5_000);
    const trade = fixture.sink.trades.find(({ user }) => user === BOB)?.trade;
    assert.ok(trade !== undefined);
    assert.deepEqual(userTradeBody(trade), {
      asset_id: '12',
      trade_id: 1,
      order_id: 'sell',
      price: '2000',
      quantity: '0.5',
      timestamp_ns: NOW,
      is_maker: false,
      is_buyer: false,
      status: 'Pending',
      rollback_reason: null,
      is_liquidation: false,
      is_auto_deleverage: false,
      sub_account: 0,
      trading_fee: '0.5',
    });
  });
});
