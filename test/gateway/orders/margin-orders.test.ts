// tier: quick
/** Margin pre-flight: who is admitted, by the figures of the worked examples (MRG-12 to 26, ORD-26, TIF-08, TIF-09). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId } from '../../../src/core/ids.ts';
import { ORDER_END } from '../../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import type { TimestampNs } from '../../../src/core/units.ts';
import { ALICE, MARKETS, MarginFixture, riskRow, SIDE, TIF, TOY, USD, usd } from '../../support/margin-fixture.ts';
import { BOB, BTC, ETH } from '../../support/names.ts';

const { buy, sell } = SIDE;

/** EX-05: spot USD 10000, ETH short −2 with quote +4000. */
function example(): MarginFixture {
  const fixture = new MarginFixture();
  fixture.spot(USD, 10_000);
  fixture.position(ETH, -2, 4_000);
  return fixture;
}

/** Its first three orders. @returns the test market and the sequence of the first. */
function exampleWithOrders(): { fixture: MarginFixture; first: number } {
  const fixture = example();
  const first = fixture.place({ id: 'o1', side: buy, quantity: 3, price: 1_990 });
  fixture.place({ asset: BTC, side: sell, quantity: 1, price: 51_000 });
  fixture.place({ asset: BTC, side: buy, quantity: 1, price: 49_000 });
  return { fixture, first };
}

suite('margin pre-flight', () => {
  test('the table of EX-05, line by line (MRG-12, MRG-16 to 24, AMB-49, AMB-50)', () => {
    const fixture = example();
    assert.equal(fixture.capacity(), usd(9_800));
    fixture.place({ side: buy, quantity: 3, price: 1_990 });
    assert.equal(fixture.capacity(), usd('9600.005'));
    fixture.place({ asset: BTC, side: sell, quantity: 1, price: 51_000 });
    assert.equal(fixture.capacity(), usd('2430.5'));
    fixture.place({ asset: BTC, side: buy, quantity: 1, price: 49_000 });
    assert.equal(fixture.capacity(), usd('2430.5'));
    fixture.place({ side: buy, quantity: 2, price: 1_980, reduceOnly: true });
    assert.equal(fixture.capacity(), usd('2430.5'));
    assert.equal(fixture.verdict({ asset: BTC, side: sell, quantity: 0.5, price: 51_000 }), 'INSUFFICIENT_MARGIN');
    assert.equal(fixture.capacity(), usd('2430.5'), 'a refusal changes nothing');
    fixture.place({ asset: BTC, side: sell, quantity: 0.32, price: 51_000 });
    assert.equal(fixture.capacity(), usd('72.26'));
  });

  test('what is left must be strictly above the minimum, which is a setting (MRG-12, AMB-49)', () => {
    // Capacity 100, of which an order of one ETH at 995.0248… would take all; the sell weight is .05 and the fee .0005.
    const verdict = (minimum: string, quantity: number) => {
      const fixture = new MarginFixture();
      fixture.spot(USD, '101');
      fixture.settings({ preflightMinimum: usd(minimum) });
      return fixture.verdict({ side: sell, quantity, price: 2_000 });
    };
    assert.equal(verdict('0', 0.9999), 'ok');
    assert.equal(verdict('0', 1), 'INSUFFICIENT_MARGIN', 'nothing left is not above nothing');
    assert.equal(verdict('0.0101', 0.9999), 'INSUFFICIENT_MARGIN', 'equal to the minimum');
    assert.equal(verdict('0.010099', 0.9999), 'ok');
  });

  test('a fill on its way moves the position and the pressure at once; a rollback brings both back (AMB-50, AMB-142)', () => {
    const { fixture, first } = exampleWithOrders();
    const before = fixture.capacity();
    fixture.spot(USD, 100_000, 1, BOB);
    const seller = fixture.place({ user: BOB, side: sell, quantity: 2, price: 1_990 });
    const trade = fixture.match(first, seller, 1_990, 2, sell);
    // The short is gone, the quote leg is 4000 − 3980 − 1.99; one ETH of the order still presses.
    assert.equal(fixture.capacity(), usd('2648.51'));
    fixture.rollBack(trade);
    assert.equal(fixture.capacity(), before + 0n);
  });

  test('what is confirmed counts once, before and after the position that contains it is published (EX-05)', () => {
    const { fixture, first } = exampleWithOrders();
    fixture.spot(USD, 100_000, 1, BOB);
    const seller = fixture.place({ user: BOB, side: sell, quantity: 2, price: 1_990 });
    fixture.confirm(fixture.match(first, seller, 1_990, 2, sell));
    assert.equal(fixture.capacity(), usd('2648.51'));
    fixture.position(ETH, 0, '18.01');
    assert.equal(fixture.capacity(), usd('2648.51'));
  });

  test('a position published before its outcome arrives is not counted again', () => {
    const { fixture, first } = exampleWithOrders();
    fixture.spot(USD, 100_000, 1, BOB);
    const seller = fixture.place({ user: BOB, side: sell, quantity: 2, price: 1_990 });
    // Clearing confirms trade 1 and publishes the position before the gateway gets the match.
    fixture.confirm(1);
    fixture.position(ETH, 0, '18.01');
    fixture.match(first, seller, 1_990, 2, sell);
    assert.equal(fixture.capacity(), usd('2648.51'));
  });

  test('the worse of oracle and mark decides (ORD-26)', () => {
    const verdict = (oracle: number, mark: number) => {
      const fixture = new MarginFixture();
      fixture.spot(USD, 100);
      fixture.risk(ETH, riskRow(90, 95, 1_000_000), 'none');
      fixture.position(ETH, -1, 2_000);
      fixture.price(ETH, oracle, mark);
      return fixture.verdict({ side: sell, quantity: 0.1, price: 1_800 });
    };
    assert.equal(verdict(1_800, 1_800), 'ok');
    assert.equal(verdict(2_100, 1_800), 'INSUFFICIENT_MARGIN');
    assert.equal(verdict(1_800, 2_100), 'INSUFFICIENT_MARGIN');
  });

  test('an order that adds no pressure is admitted at any capacity (AMB-49)', () => {
    const fixture = new MarginFixture();
    // The fees of both orders are there: clearing takes no fill that leaves less than nothing (docs/decisions/0014).
    fixture.spot(USD, 10);
    fixture.position(ETH, -2, 4_000);
    assert.ok(fixture.capacity() < 0n);
    assert.equal(fixture.verdict({ side: buy, quantity: 2 }), 'ok');
    assert.equal(fixture.verdict({ side: buy, quantity: 0.0001 }), 'INSUFFICIENT_MARGIN', 'the offset is used up');
    const reducing = { side: buy, quantity: 2, reduceOnly: true } as const;
    assert.equal(
      fixture.verdict(reducing),
      'INSUFFICIENT_MARGIN',
      'once it is filled the other order would open (MON-07)',
    );
    const alone = new MarginFixture();
    alone.spot(USD, 10);
    alone.position(ETH, -2, 4_000);
    assert.equal(alone.verdict(reducing), 'ok', 'reduce-only does not need it');
  });

  test('a long gives an offset to sells, and to no other asset (MRG-20, MRG-21)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10);
    fixture.position(ETH, 2, -4_000);
    assert.equal(fixture.verdict({ side: sell, quantity: 2 }), 'ok');
    assert.equal(fixture.verdict({ asset: BTC, side: sell, quantity: 0.0001, price: 50_000 }), 'INSUFFICIENT_MARGIN');
  });

  test('surplus of one cross-margin account admits nothing in another (SUB-06)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10_000);
    const row = { user: ALICE, subAccount: 2, kind: 'cross_margin', name: 'Two', asset: null } as const;
    fixture.manager.onSubAccountChanged(row);
    assert.equal(fixture.verdict({ account: 2, side: buy }), 'INSUFFICIENT_MARGIN');
    assert.equal(fixture.verdict({ account: 1, side: buy }), 'ok');
  });

  test('an isolated account trades its asset, cross-margin nothing that is isolated only (SUB-07, SUB-08)', () => {
    const fixture = new MarginFixture();
    const row = { user: ALICE, subAccount: 3, kind: 'isolated_margin', name: 'Iso', asset: ETH } as const;
    fixture.manager.onSubAccountChanged(row);
    fixture.spot(USD, 10_000, 3);
    fixture.spot(USD, 10_000, 1);
    assert.equal(fixture.verdict({ account: 3, side: buy }), 'ok');
    assert.equal(
      fixture.verdict({ account: 3, asset: BTC, side: buy, quantity: 0.01, price: 50_000 }),
      'INVALID_ORDER',
    );
    fixture.risk(BTC, riskRow(60, 65, 950_000, { isolated_only: true }));
    assert.equal(
      fixture.verdict({ account: 1, asset: BTC, side: buy, quantity: 0.01, price: 50_000 }),
      'INVALID_ORDER',
    );
    const spot = { account: 1, asset: BTC, side: buy, quantity: 0.01, price: 50_000, isSpot: true } as const;
    assert.equal(fixture.verdict(spot), 'INVALID_ORDER');
  });

  test('what becomes isolated only is let out: by spot sells, and by orders that only reduce the position (SUB-07, POS-01)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10_000);
    fixture.spot(ETH, 1);
    fixture.position(ETH, 1, -2_000);
    fixture.risk(ETH, riskRow(90, 95, 1_000_000, { isolated_only: true }));
    const verdict = (wish: Partial<Parameters<MarginFixture['verdict']>[0]>): string => {
      return fixture.verdict({ side: sell, quantity: 1, ...wish });
    };
    assert.equal(verdict({ reduceOnly: true, tif: TIF.ioc }), 'ok');
    assert.equal(verdict({ reduceOnly: true }), 'ok');
    assert.equal(verdict({ market: { base: 10_000 } }), 'ok', 'a plain order that only reduces');
    assert.equal(verdict({ quantity: 1.0001 }), 'INVALID_ORDER', 'it would open a short');
    assert.equal(verdict({ isSpot: true }), 'ok');
    assert.equal(verdict({ side: buy, quantity: 0.1 }), 'INVALID_ORDER');
    assert.equal(verdict({ side: buy, quantity: 0.1, reduceOnly: true }), 'INVALID_ORDER');
    assert.equal(verdict({ side: buy, quantity: 0.1, isSpot: true }), 'INVALID_ORDER');
  });

  test('a market maker’s post-only order is not checked, another one is (MRG-26, AMB-55)', () => {
    const fixture = new MarginFixture();
    fixture.manager.onUserChanged({ user: ALICE, isMarketMaker: true });
    assert.equal(fixture.verdict({ side: buy, quantity: 10, postOnly: true }), 'ok');
    assert.equal(fixture.verdict({ side: buy, quantity: 10, postOnly: true, tif: TIF.gtd }), 'ok');
    assert.equal(fixture.verdict({ side: buy, quantity: 10 }), 'INSUFFICIENT_MARGIN');
    fixture.manager.onUserChanged({ user: ALICE, isMarketMaker: false });
    assert.equal(fixture.verdict({ side: buy, quantity: 10, postOnly: true }), 'INSUFFICIENT_MARGIN');
  });

  test('of an asset without a usable price only reducing orders are taken (AMB-109)', () => {
    const fixture = example();
    fixture.nowNs = (fixture.nowNs + 3_600_000_000_001n) as TimestampNs;
    fixture.price(BTC, 50_000);
    assert.equal(fixture.verdict({ side: buy, quantity: 2 }), 'ok');
    assert.equal(fixture.verdict({ side: buy, quantity: 1 }), 'PRICING_UNAVAILABLE');
    assert.equal(fixture.verdict({ side: sell, quantity: 1 }), 'PRICING_UNAVAILABLE');
    assert.equal(fixture.verdict({ asset: BTC, side: buy, quantity: 0.01, price: 50_000 }), 'ok');
    fixture.price(ETH, 2_000);
    assert.equal(fixture.verdict({ side: buy, quantity: 1 }), 'ok');
  });

  test('of one that never had a price neither: a market order weighs by its lots (AMB-109)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 1_000);
    const wish = { asset: TOY } as const;
    for (const side of [buy, sell]) {
      assert.equal(fixture.verdict({ ...wish, side, quantity: 1, price: 20 }), 'PRICING_UNAVAILABLE');
      assert.equal(fixture.verdict({ ...wish, side, market: { base: 1_000 } }), 'PRICING_UNAVAILABLE');
    }
    fixture.position(TOY, 1, 0);
    assert.equal(fixture.verdict({ ...wish, side: sell, market: { base: 1_000 } }), 'ok', 'it only reduces');
    assert.equal(
      fixture.verdict({ ...wish, side: sell, market: { base: 1_000 } }),
      'PRICING_UNAVAILABLE',
      'covered once',
    );
  });

  test('a replace passes a fresh check and keeps its slot; a refused one changes nothing (RPL-07, AMB-50)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 300);
    fixture.position(ETH, -1, 2_000);
    const before = fixture.capacity();
    const first = fixture.place({ id: 'first', side: buy, quantity: 1, price: 1_900 });
    fixture.place({ id: 'second', side: buy, quantity: 1, price: 1_000 });
    assert.equal(fixture.capacity(), before - usd('100.5'), 'the first is netted, the second counts');
    const refused = fixture.replace('first', { quantity: 3 });
    assert.equal(refused.ok ? 'ok' : refused.reject.code, 'INSUFFICIENT_MARGIN');
    assert.equal(fixture.capacity(), before - usd('100.5'));
    const taken = fixture.replace('first', { quantity: 0.5 });
    assert.ok(taken.ok);
    fixture.replaced(taken.value, first, 1_900, 0.5);
    assert.equal(fixture.capacity(), before - usd('50.25'), 'what it leaves goes to the second');
  });

  test('a replace is judged by what it adds beyond the position, not by its full notional (RPL-07, MRG-12, AMB-112)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 20_000);
    fixture.position(ETH, 1, -2_000);
    // 100 at 19.5 are less money than 1 at 2000, which the long covers; 99 of them would be a short.
    assert.equal(fixture.verdict({ side: sell, quantity: 100, price: 19.5 }), 'INSUFFICIENT_MARGIN');
    const order = fixture.place({ id: 'o', side: sell, quantity: 1, price: 2_000 });
    const before = fixture.capacity();
    const refused = fixture.replace('o', { price: 19.5, quantity: 100 });
    assert.equal(refused.ok ? 'ok' : refused.reject.code, 'INSUFFICIENT_MARGIN');
    assert.equal(fixture.capacity(), before, 'the original is untouched');
    const taken = fixture.replace('o', { price: 19.5, quantity: 5 });
    assert.ok(taken.ok);
    // 4 × 19.5 × (.05 + .0005)
    assert.equal(fixture.capacity(), before - usd('3.939'), 'on its way it weighs what it will');
    fixture.replaced(taken.value, order, 19.5, 5);
    assert.equal(fixture.capacity(), before - usd('3.939'));
  });

  test('a replace that weighs less in all is taken at any capacity (RPL-07, AMB-49)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 200);
    fixture.place({ id: 'o', side: buy, quantity: 1, price: 1_900 });
    fixture.spot(USD, 100);
    assert.ok(fixture.capacity() < 0n);
    // 0.5 × (2001 − 1800) less than (1900.95 − 1800): fills cost no more either (MON-07).
    assert.equal(fixture.replace('o', { price: 2_000, quantity: 0.9 }).ok, false);
    assert.equal(fixture.replace('o', { price: 2_000, quantity: 0.5 }).ok, true);
  });

  test('while a replace is on its way the heavier of both terms counts', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 1_000);
    const order = fixture.place({ id: 'o', side: buy, quantity: 1, price: 1_000 });
    assert.equal(fixture.capacity(), usd('899.5'));
    const wider = fixture.replace('o', { quantity: 2 });
    assert.equal(fixture.capacity(), usd(799));
    assert.ok(wider.ok);
    fixture.replaced(wider.value, order, 1_000, 2);
    const narrower = fixture.replace('o', { quantity: 1 });
    assert.equal(fixture.capacity(), usd(799));
    assert.ok(narrower.ok);
    fixture.replaced(narrower.value, order, 1_000, 1);
    assert.equal(fixture.capacity(), usd('899.5'));
  });

  test('orders on their way press from the moment they are let through, and no more once they are refused', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 200);
    const request = fixture.request({ side: sell, quantity: 1, price: 2_000 });
    assert.ok(request.ok);
    assert.equal(fixture.capacity(), usd(99));
    fixture.manager.onAck({
      requestId: request.value.requestId,
      marketIndex: MARKETS[ETH]?.marketIndex ?? 0,
      sequence: 0,
      timeNs: fixture.nowNs,
      rejectCode: REJECT_CODE.DUPLICATE_ORDER,
    });
    assert.equal(fixture.capacity(), usd(200));
  });
});

suite('margin market orders', () => {
  const counted = (wish: Parameters<MarginFixture['place']>[0], base = 0): bigint => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 100_000);
    if (base !== 0) fixture.position(ETH, base, 0);
    fixture.price(ETH, 2_000, 2_010);
    const before = fixture.capacity();
    fixture.place(wish);
    return before - fixture.capacity();
  };

  test('sized in base it weighs at the higher of oracle and mark, its offset aside (AMB-49)', () => {
    // 1 × 2010 × (.1 + .0005)
    assert.equal(counted({ side: buy, market: { base: 10_000 } }), usd('202.005'));
    assert.equal(counted({ side: buy, market: { base: 20_000 } }, -1), usd('202.005'));
  });

  test('a cap, or an amount, stands for the notional (AMB-49)', () => {
    assert.equal(counted({ side: buy, market: { base: 10_000, cap: 10_000_000 } }), usd('100.5'));
    assert.equal(counted({ side: sell, market: { quote: 10_000_000 } }), usd('50.5'));
    assert.equal(counted({ side: buy, market: { quote: 10_000_000 } }), usd('100.5'));
  });

  test('one sized in quote uses the offset for the lots that it buys (AMB-50)', () => {
    assert.equal(counted({ side: buy, market: { quote: 20_100_000 } }, -1), 0n);
    assert.equal(counted({ side: buy, market: { quote: 40_200_000 } }, -1), usd('202.005'));
  });

  test('it never names a budget: margin spends no balance (AMB-39)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10_000);
    const reserved = fixture.request({ side: buy, market: { base: 10_000 } });
    assert.ok(reserved.ok);
    assert.equal(reserved.value.order.budget, 0);
  });
});

suite('margin triggers', () => {
  /** The answer of the gateway when the trigger of an order fires: the end, or 0 for a release. */
  const released = (fixture: MarginFixture, wish: Parameters<MarginFixture['place']>[0]): readonly number[] => {
    const order = fixture.place({ above: 200_000, ...wish });
    const before = fixture.capacity();
    fixture.trigger(order, 10_000);
    fixture.decide();
    const ends = fixture.sink.releases.map(({ end }) => end);
    if (ends[0] !== 0) assert.equal(fixture.capacity(), before, 'what is not released presses nothing');
    return ends;
  };

  test('a dormant one has no exposure; when it fires it needs capacity (AMB-28)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 300);
    const order = fixture.place({ side: buy, quantity: 1, above: 200_000 });
    assert.equal(fixture.capacity(), usd(300));
    fixture.trigger(order, 10_000);
    assert.equal(fixture.capacity(), usd(99));
    assert.deepEqual(
      fixture.sink.releases.map(({ end, budget }) => [end, budget]),
      [[0, 0]],
    );
  });

  test('one that does not fit ends with MarginInsufficient once clearing has passed the word (AMB-28)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 100);
    assert.deepEqual(released(fixture, { side: buy, quantity: 1 }), [ORDER_END.marginInsufficient]);
  });

  test('a market order is priced when it fires, an uncapped one needs no budget (AMB-39, AMB-49)', () => {
    const fixture = new MarginFixture();
    // Up to 2750 it costs 2750 × 1.0005 − 2250 of margin (MON-07).
    fixture.spot(USD, 502);
    const order = fixture.place({ side: buy, market: { base: 10_000 }, above: 200_000 });
    fixture.price(ETH, 2_500);
    fixture.trigger(order, 10_000);
    const [release] = fixture.sink.releases;
    assert.deepEqual([release?.end, release?.budget, release?.bound], [0, 0, 275_000]);
    assert.equal(fixture.capacity(), usd('250.75'));
  });

  test('a reduce-only one that matches at once ends with ReduceOnly if it would grow the position (AMB-28)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10_000);
    const wish = { side: sell, market: { base: 10_000 }, reduceOnly: true } as const;
    assert.deepEqual(released(fixture, wish), [ORDER_END.reduceOnly]);
    const long = new MarginFixture();
    long.spot(USD, 300);
    long.position(ETH, 1, -2_000);
    assert.deepEqual(released(long, wish), [0]);
  });

  test('a released order takes its place by its admission: earlier ones keep the offset (AMB-50)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 3_000);
    fixture.position(ETH, -1, 2_000);
    const first = fixture.place({ side: buy, quantity: 1, price: 1_000, above: 200_000 });
    fixture.place({ side: buy, quantity: 1, price: 2_000 });
    const before = fixture.capacity();
    fixture.trigger(first, 10_000);
    assert.equal(before - fixture.capacity(), usd(201), 'the one admitted later counts now');
  });
});

suite('spot orders in a margin account', () => {
  test('a spot buy turns USD into less collateral: it presses as a buy, without an offset (AMB-30, AMB-47)', () => {
    const fixture = example();
    fixture.place({ side: buy, quantity: 1, price: 2_000, isSpot: true });
    assert.equal(fixture.capacity(), usd(9_800) - usd(201));
  });

  test('without borrows and margin orders it needs its balance only (MRG-13, CB-06)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, '2001');
    fixture.price('1' as AssetId, 2_000);
    fixture.nowNs = (fixture.nowNs + 3_600_000_000_001n) as TimestampNs;
    assert.equal(fixture.verdict({ side: buy, quantity: 1, isSpot: true }), 'ok', 'the oracle is stale');
    assert.equal(fixture.verdict({ side: buy, quantity: 0.0001, isSpot: true }), 'INSUFFICIENT_INVENTORY');
  });

  test('with borrows it needs capacity too', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 2_100);
    fixture.position(BTC, -0.1, 3_500);
    // IM: 2100 + 3500 − .1·50000·1.04·1.1 = −120.
    assert.equal(fixture.capacity(), usd(-120));
    assert.equal(fixture.verdict({ side: buy, quantity: 1, isSpot: true }), 'INSUFFICIENT_MARGIN');
  });

  test('a spot fill on its way is collateral at once, but not money (AMB-142)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 2_001);
    fixture.spot(ETH, 1, 1, BOB);
    fixture.position(BTC, -0.001, 50);
    const before = fixture.capacity();
    const maker = fixture.place({ user: BOB, side: sell, quantity: 1, isSpot: true });
    const taker = fixture.place({ side: buy, quantity: 1, isSpot: true });
    assert.equal(fixture.capacity(), before - usd(201));
    const trade = fixture.match(maker, taker, 2_000, 1, buy);
    assert.equal(fixture.capacity(), before - usd(201), 'the order pressed for just that');
    fixture.confirm(trade);
    fixture.spot(USD, 0);
    fixture.spot(ETH, 1);
    assert.equal(fixture.capacity(), before - usd(201));
  });

  test('spot and margin orders of an account that are short are released in the order in which they fired (AMB-28)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10_000);
    fixture.position(BTC, -0.1, 5_000);
    const orders = Array.from({ length: 8 }, (_, at) =>
      fixture.place({ side: buy, quantity: at % 2 === 0 ? 1 : 0.5, isSpot: at % 3 === 1, above: 200_000 }),
    );
    fixture.position(BTC, -0.1, -5_000);
    for (const [at, order] of orders.entries()) fixture.trigger(order, at % 2 === 0 ? 10_000 : 5_000);
    assert.equal(fixture.sink.releases.length, 0);
    fixture.position(BTC, -0.1, -3_600);
    fixture.decide();
    const sequences = fixture.sink.releases.map(({ order }) => order);
    const isReleased = fixture.sink.releases.map(({ end }) => end === 0);
    assert.deepEqual(sequences, orders, 'each is answered, the oldest first');
    assert.ok(isReleased.filter((is) => is).length > 2 && isReleased.includes(false), String(isReleased));
  });

  test('an order without the capacity is checked again when something has changed, and a last time when clearing has passed it (AMB-28, AMB-111)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 1_000);
    const orders = Array.from({ length: 20 }, () => fixture.place({ side: buy, quantity: 1, above: 200_000 }));
    fixture.spot(USD, 100);
    for (const order of orders) fixture.trigger(order, 10_000);
    const account = fixture.manager.margin.accounts.account(ALICE, 1);
    const { capacity } = account;
    let asked = 0;
    account.capacity = (...whatIf) => {
      asked += 1;
      return capacity.apply(account, whatIf);
    };
    let others = 0;
    const pass = (): number => {
      others += 1;
      asked = 0;
      fixture.manager.onMarketDecided({ marketIndex: 1, sequence: others });
      return asked;
    };
    assert.deepEqual([pass(), pass()], [0, 0]);
    fixture.price(BTC, 50_001);
    assert.deepEqual([pass(), pass()], [20, 0]);
    fixture.spot(USD, 250);
    assert.equal(pass(), 20);
    assert.deepEqual(
      fixture.sink.releases.splice(0).map(({ order, end }) => [order, end]),
      [[orders[0], 0]],
      'one of them is covered now',
    );
    asked = 0;
    fixture.decide();
    assert.equal(asked, 19);
    assert.ok(fixture.sink.releases.every(({ end }) => end === ORDER_END.marginInsufficient));
    assert.equal(fixture.sink.releases.length, 19);
  });
});
