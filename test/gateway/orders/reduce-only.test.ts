// tier: quick
/**
 * Reduce-only orders at order entry: what matches at once must shrink its position (TIF-08, TIF-09, AMB-27, AMB-28), and of
 * what may rest only that is free of margin which shrinks it (MRG-22).
 */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { must } from '../../../src/core/assert.ts';
import type { OrderId } from '../../../src/core/ids.ts';
import { ORDER_END, ORDER_FLAG } from '../../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity, Sequence, TimestampNs } from '../../../src/core/units.ts';
import { BTC, ETH, MARKETS, MarginFixture, riskRow, SIDE, TIF, USD, usd } from '../../support/margin-fixture.ts';
import { BOB, codeOf, mustPass, restoreRow } from '../../support/order-fixture.ts';

const { buy, sell } = SIDE;

suite('reduce-only at the gateway', () => {
  const verdict = (base: number, wish: Partial<Parameters<MarginFixture['verdict']>[0]>): string => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10_000);
    if (base !== 0) fixture.position(ETH, base, 0);
    return fixture.verdict({ side: sell, reduceOnly: true, quantity: 1, ...wish });
  };

  test('IOC, FOK and base-sized market orders shrink the position or are refused (TIF-08, TIF-09, AMB-27)', () => {
    for (const shape of [{ tif: TIF.ioc }, { tif: TIF.fok }, { market: { base: 10_000 } }]) {
      assert.equal(verdict(1, shape), 'ok', 'all of it');
      assert.equal(verdict(2, shape), 'ok', 'a part of it');
      assert.equal(verdict(0.5, shape), 'REDUCE_ONLY_WOULD_INCREASE', 'it would flip');
      assert.equal(verdict(-1, shape), 'REDUCE_ONLY_WOULD_INCREASE', 'it would grow');
      assert.equal(verdict(0, shape), 'REDUCE_ONLY_WOULD_INCREASE', 'flat');
    }
  });

  test('of several that are judged on arrival each fits what those before it leave, until they end (TIF-09, AMB-27, AMB-112)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10_000);
    fixture.position(ETH, 2, 0);
    const ioc = { side: sell, tif: TIF.ioc, reduceOnly: true } as const;
    const first = fixture.place({ ...ioc, quantity: 1.5 });
    assert.equal(fixture.verdict({ ...ioc, quantity: 0.6 }), 'REDUCE_ONLY_WOULD_INCREASE');
    assert.equal(fixture.verdict({ ...ioc, quantity: 0.5 }), 'ok');
    fixture.end(first, ORDER_END.immediateOrCancel);
    assert.equal(fixture.verdict({ ...ioc, quantity: 1.5 }), 'ok');
  });

  test('one that waits for its trigger needs nothing yet; released as an IOC without a position it ends (TIF-08, AMB-28)', () => {
    const wish = { side: sell, quantity: 1, reduceOnly: true, above: 200_000, tif: TIF.ioc } as const;
    for (const [base, end] of [
      [0, ORDER_END.reduceOnly],
      [-1, ORDER_END.reduceOnly],
      [1, 0],
    ] as const) {
      const fixture = new MarginFixture();
      fixture.spot(USD, 10_000);
      const order = fixture.place(wish);
      fixture.position(ETH, base, 0);
      fixture.trigger(order, 10_000);
      assert.deepEqual(
        fixture.sink.releases.map((release) => release.end),
        [end],
      );
    }
  });

  test('the position counts fills on their way (AMB-27)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10_000);
    fixture.spot(USD, 10_000, 1, BOB);
    const maker = fixture.place({ user: BOB, side: sell, quantity: 1 });
    const taker = fixture.place({ side: buy, quantity: 1 });
    fixture.match(maker, taker, 2_000, 1, buy);
    assert.equal(fixture.verdict({ side: sell, tif: TIF.ioc, reduceOnly: true, quantity: 1 }), 'ok');
    assert.equal(
      fixture.verdict({ side: sell, tif: TIF.ioc, reduceOnly: true, quantity: 1.0001 }),
      'REDUCE_ONLY_WOULD_INCREASE',
    );
  });

  test('the minimum does not bind one that closes the whole position (AMB-42)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10_000);
    fixture.position(ETH, 0.0005, 0);
    fixture.manager.onMarketChanged({
      ...must(MARKETS[ETH], 'a market of the fixture'),
      minimumQuantity: 100 as never,
    });
    assert.equal(fixture.verdict({ side: sell, reduceOnly: true, quantity: 0.0005 }), 'ok');
    assert.equal(fixture.verdict({ side: sell, reduceOnly: true, quantity: 0.0004 }), 'INVALID_ORDER');
    assert.equal(fixture.verdict({ side: sell, quantity: 0.0005 }), 'INVALID_ORDER');
    const minimumNotional = (100n * 10n ** 18n) as never;
    fixture.manager.onMarketChanged({ ...must(MARKETS[ETH], 'a market of the fixture'), minimumNotional });
    assert.equal(fixture.verdict({ side: sell, reduceOnly: true, quantity: 0.0005 }), 'ok', 'nor the minimum notional');
    assert.equal(fixture.verdict({ side: sell, reduceOnly: true, quantity: 0.0004 }), 'INVALID_ORDER');
  });
});

suite('reduce-only orders that may rest', () => {
  const SHAPES = [{ tif: TIF.gtc }, { tif: TIF.gtd }, { market: { quote: 20_000_000 } }] as const;

  /** Of ETH at 2000, with this position and so much USD. */
  function fixtureWith(base: number, spot: number): MarginFixture {
    const fixture = new MarginFixture();
    fixture.spot(USD, spot);
    fixture.position(ETH, base, -2_000 * base);
    return fixture;
  }

  test('need margin for what exceeds the position like any order, whatever they would do to it (MRG-22, AMB-27)', () => {
    for (const shape of SHAPES) {
      for (const side of [buy, sell]) {
        for (const base of [0, side === buy ? 1 : -1]) {
          const wish = { side, reduceOnly: true, quantity: 1, ...shape };
          assert.equal(fixtureWith(base, 0).verdict(wish), 'INSUFFICIENT_MARGIN', 'a key without money');
          const [fixture, other] = [fixtureWith(base, 10_000), fixtureWith(base, 10_000)];
          assert.equal(fixture.verdict(wish), 'ok');
          assert.equal(other.verdict({ ...wish, reduceOnly: false }), 'ok');
          assert.equal(fixture.capacity(), other.capacity(), 'it presses like any order');
        }
      }
    }
  });

  test('need none for what shrinks the position, however little there is (MRG-22, AMB-49)', () => {
    for (const shape of SHAPES) {
      const fixture = fixtureWith(1, 0);
      fixture.price(ETH, 1_500);
      const before = fixture.capacity();
      assert.ok(before < 0n);
      const market = 'market' in shape ? { market: { quote: 15_000_000 } } : {};
      assert.equal(
        fixture.verdict({ side: sell, reduceOnly: true, quantity: 1, price: 1_500, ...shape, ...market }),
        'ok',
      );
      assert.equal(fixture.capacity(), before);
    }
  });

  test('are covered oldest first, by the position once more than other orders are (MRG-22, AMB-27, AMB-50)', () => {
    const fixture = fixtureWith(2, 500);
    const wish = { side: sell, reduceOnly: true, price: 2_000 };
    fixture.place({ side: sell, quantity: 2 });
    const full = fixture.capacity();
    const first = fixture.place({ ...wish, quantity: 1.5 });
    assert.equal(fixture.capacity(), full, 'other orders of the side use nothing of it');
    assert.equal(fixture.verdict({ ...wish, quantity: 2 }), 'INSUFFICIENT_MARGIN');
    assert.equal(fixture.verdict({ ...wish, quantity: 0.75 }), 'ok');
    // A quarter of a unit is too much: 5 % of 500 and a fee of 0.25.
    assert.equal(fixture.capacity(), full - usd('25.25'));
    fixture.end(first, ORDER_END.userRequested);
    assert.equal(fixture.capacity(), full);
  });

  test('are counted anew when the position changes: fills, their rollback, what clearing books (MRG-22, AMB-27)', () => {
    const fixture = fixtureWith(0, 10_000);
    fixture.spot(USD, 10_000, 1, BOB);
    const maker = fixture.place({ user: BOB, side: sell, quantity: 1 });
    const taker = fixture.place({ side: buy, quantity: 1 });
    const trade = fixture.match(maker, taker, 2_000, 1, buy);
    const opened = fixture.capacity();
    fixture.place({ side: sell, reduceOnly: true, quantity: 1, price: 2_000 });
    assert.equal(fixture.capacity(), opened);
    fixture.rollBack(trade);
    fixture.end(taker, ORDER_END.userRequested);
    assert.equal(fixture.capacity(), usd(10_000) - usd(101), 'nothing is left to reduce');
    fixture.position(ETH, 1, -2_000);
    assert.equal(fixture.capacity(), usd(9_800));
    fixture.position(ETH, 0.5, -1_000);
    assert.equal(fixture.capacity(), usd(9_900) - usd('50.5'));
  });

  test('a replace beyond the position needs margin, and leaves the order as it was without (RPL-07, AMB-27)', () => {
    const fixture = fixtureWith(1, 0);
    fixture.spot(USD, 201);
    const order = fixture.place({ id: 'out', side: sell, reduceOnly: true, quantity: 1 });
    const before = fixture.capacity();
    assert.equal(codeOf(fixture.replace('out', { quantity: 3 })), 'INSUFFICIENT_MARGIN');
    assert.equal(fixture.capacity(), before);
    const asked = mustPass(fixture.replace('out', { quantity: 1, price: 2_500 }));
    fixture.replaced(asked, order, 2_500, 1);
    assert.equal(fixture.capacity(), before);
  });

  test('released by a trigger they need margin for what older ones leave uncovered (TRG-02, AMB-27, AMB-28)', () => {
    const fixture = fixtureWith(1, 0);
    fixture.spot(USD, 200.1);
    const stop = { side: sell, quantity: 1, reduceOnly: true, above: 200_000 } as const;
    const [dormant, atOnce] = [fixture.place(stop), fixture.place({ ...stop, market: { base: 10_000 } })];
    fixture.place({ side: sell, reduceOnly: true, quantity: 1, price: 2_500 });
    fixture.trigger(dormant, 10_000);
    fixture.trigger(atOnce, 10_000);
    fixture.decide();
    const ends = fixture.sink.releases.map(({ order, end }) => [order, end]);
    assert.deepEqual(
      ends.sort(),
      [
        [dormant, ORDER_END.marginInsufficient],
        [atOnce, 0],
      ],
      'the stop at the market closes',
    );
  });

  test('of a broken asset those that exceed the position are refused, others taken (CB-06, AMB-109)', () => {
    const fixture = fixtureWith(1, 10_000);
    fixture.nowNs = (fixture.nowNs + 3_700_000_000_000n) as TimestampNs;
    const wish = { side: sell, reduceOnly: true };
    assert.equal(fixture.verdict({ ...wish, quantity: 1.0001 }), 'PRICING_UNAVAILABLE');
    assert.equal(fixture.verdict({ ...wish, quantity: 1 }), 'ok');
  });

  test('press after a restart as before it, in whatever order they come back (AMB-27, AMB-50, AMB-110)', () => {
    const lots = [20_000, 15_000, 5_000];
    const [fixture, restored] = [new MarginFixture(), new MarginFixture()];
    for (const each of [fixture, restored]) {
      for (const asset of [USD, ETH, BTC]) each.spot(asset, 5_000);
      each.price(BTC, 2_000);
      each.risk(BTC, riskRow(90, 95, 1_000_000));
      each.position(ETH, 3, -6_000);
    }
    const full = fixture.capacity();
    const prices = [1_500, 1_501, 1_502];
    const orders = lots.map((quantity, at) => ({ quantity, price: prices[at] as number, at }));
    for (const { quantity, price } of orders) {
      fixture.place({ side: sell, reduceOnly: true, quantity: quantity / 10_000, price });
    }
    for (const { quantity, price, at } of [...orders].reverse()) {
      restoreRow(restored.manager, {
        marketIndex: must(MARKETS[ETH], 'a market').marketIndex,
        orderSequence: (10 + at) as Sequence,
        orderId: `restored-${at}` as OrderId,
        subAccount: 1,
        flags: ORDER_FLAG.reduceOnly,
        price: (price * 100) as RawPrice,
        quantity: quantity as RawQuantity,
      });
    }
    restored.manager.margin.onRestored();
    assert.equal(restored.capacity(), fixture.capacity());
    // Of 2, 1.5 and .5 the position covers 3: half a unit at 1501 and half a one at 1502 press.
    assert.equal(full - fixture.capacity(), usd('75.82575'));
  });
});
