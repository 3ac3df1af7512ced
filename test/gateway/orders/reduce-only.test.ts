// tier: quick
/**
 * Reduce-only orders at order entry: what matches at once must shrink its position (TIF-08, TIF-09, AMB-27, AMB-28), what may
 * rest has the room that older ones leave, and none presses (MRG-22, MON-09).
 */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { must } from '../../../src/core/assert.ts';
import type { OrderId } from '../../../src/core/ids.ts';
import { RAW_MAX } from '../../../src/core/limits.ts';
import { ORDER_END, ORDER_FLAG, ROLLBACK_REASON } from '../../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import type { RawPrice, RawQuantity, Sequence } from '../../../src/core/units.ts';
import { ALICE, MARKETS, MarginFixture, SIDE, TIF, USD } from '../../support/margin-fixture.ts';
import { BOB, ETH } from '../../support/names.ts';
import { codeOf, mustPass, restoreRow } from '../../support/order-fixture.ts';

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

suite('reduce-only orders by room (MON-09)', () => {
  /** Of ETH at 2000, with this position and so much USD. */
  function fixtureWith(base: number, spot: number): MarginFixture {
    const fixture = new MarginFixture();
    fixture.spot(USD, spot);
    fixture.position(ETH, base, -2_000 * base);
    return fixture;
  }

  const SHAPES = [{ tif: TIF.gtc }, { tif: TIF.gtd }, { market: { quote: 20_000_000 } }, { tif: TIF.ioc }] as const;
  /** Of ETH's decimals. */
  const lots = (units: number): number => Math.round(units * 10_000);

  function refusalOf(outcome: ReturnType<MarginFixture['request']>): { code: string; max: unknown } {
    assert.ok(!outcome.ok);
    return { code: outcome.reject.code, max: outcome.reject.details?.['max_quantity'] };
  }

  test('without room every shape is refused, with max_quantity 0 (MON-09, AMB-27)', () => {
    for (const shape of SHAPES) {
      for (const side of [buy, sell]) {
        for (const base of [0, side === buy ? 1 : -1]) {
          const refusal = refusalOf(
            fixtureWith(base, 10_000).request({ side, reduceOnly: true, quantity: 1, ...shape }),
          );
          assert.deepEqual(refusal, { code: 'REDUCE_ONLY_WOULD_INCREASE', max: 0 });
        }
      }
    }
  });

  test('what takes at once is refused beyond the position, with what it could have (MON-09, TIF-09)', () => {
    for (const shape of [{ tif: TIF.ioc }, { tif: TIF.fok }, { market: { base: lots(1.5) } }]) {
      const refusal = refusalOf(fixtureWith(1, 0).request({ side: sell, reduceOnly: true, quantity: 1.5, ...shape }));
      assert.deepEqual(refusal, { code: 'REDUCE_ONLY_WOULD_INCREASE', max: lots(1) });
    }
  });

  test('an IOC has the whole position, whatever rests; what rests has what older resting ones leave (MON-09)', () => {
    // Its fee is there: clearing takes no fill that leaves less than nothing (docs/decisions/0014).
    const fixture = fixtureWith(1, 10);
    fixture.place({ side: sell, reduceOnly: true, quantity: 0.6, price: 2_500 });
    const resting = fixture.prepared({ side: sell, reduceOnly: true, quantity: 1, price: 2_600 });
    assert.deepEqual(resting.room, { roomToTake: lots(1), roomToRest: lots(0.4) });
    assert.equal(fixture.verdict({ side: sell, reduceOnly: true, quantity: 1, tif: TIF.ioc }), 'ok');
  });

  test('one sized in quote has the position as its base cap (MON-09)', () => {
    const prepared = fixtureWith(1, 10).prepared({ side: sell, reduceOnly: true, market: { quote: 90_000_000 } });
    assert.equal(prepared.room.roomToTake, lots(1));
  });

  test('press on nothing, however little there is, and other orders use nothing of theirs (MRG-22, MON-09)', () => {
    const fixture = fixtureWith(1, 510);
    fixture.price(ETH, 1_500);
    const before = fixture.capacity();
    assert.ok(before < 0n);
    assert.equal(fixture.verdict({ side: sell, reduceOnly: true, quantity: 1, price: 1_500 }), 'ok');
    assert.equal(fixture.capacity(), before);
    const other = fixtureWith(2, 500);
    other.place({ side: sell, quantity: 2 });
    const full = other.capacity();
    assert.equal(other.verdict({ side: sell, reduceOnly: true, quantity: 2, price: 2_000 }), 'ok');
    assert.equal(other.capacity(), full);
  });

  test('a post-only one that has no room to rest is refused here, another one by its market (MON-09)', () => {
    const fixture = fixtureWith(1, 0);
    fixture.place({ side: sell, reduceOnly: true, quantity: 1, price: 2_500 });
    const wish = { side: sell, reduceOnly: true, quantity: 1, price: 2_600 };
    assert.equal(fixture.verdict({ ...wish, postOnly: true }), 'REDUCE_ONLY_WOULD_INCREASE');
    const { requestId } = mustPass(fixture.request({ ...wish, id: 'late' }));
    fixture.acknowledge(requestId, ETH, REJECT_CODE.REDUCE_ONLY_WOULD_INCREASE);
    const last = fixture.sink.events.at(-1)?.event;
    assert.deepEqual(last && [last.kind, 'reason' in last && last.reason], ['CreateFailed', 'ReduceOnlyWouldIncrease']);
  });

  test('a replace has its room too, by its admission; without any it leaves the order as it was (MON-09, RPL-07)', () => {
    const fixture = fixtureWith(1, 0);
    const first = fixture.place({ id: 'first', side: sell, reduceOnly: true, quantity: 0.4, price: 2_500 });
    fixture.place({ id: 'second', side: sell, reduceOnly: true, quantity: 0.6, price: 2_600 });
    assert.deepEqual(fixture.roomOfReplace('first', { quantity: 3 }), { roomToTake: lots(1), roomToRest: lots(1) });
    assert.deepEqual(fixture.roomOfReplace('second', { quantity: 3 }), { roomToTake: lots(1), roomToRest: lots(0.6) });
    fixture.end(first, ORDER_END.userRequested);
    fixture.position(ETH, 0, 0);
    assert.equal(codeOf(fixture.replace('second', { quantity: 0.5 })), 'REDUCE_ONLY_WOULD_INCREASE');
  });

  test('the minimum does not bind the replace of what is left to close (MON-09, AMB-42)', () => {
    const fixture = fixtureWith(0.0005, 100);
    fixture.place({ id: 'out', side: sell, reduceOnly: true, quantity: 0.0005, price: 2_500 });
    fixture.place({ id: 'plain', side: buy, quantity: 0.0001, price: 100 });
    const market = must(MARKETS[ETH], 'a market of the fixture');
    fixture.manager.onMarketChanged({ ...market, minimumQuantity: 10 as RawQuantity });
    assert.equal(codeOf(fixture.replace('out', { price: 2_400, quantity: 0.0005 })), 'ok');
    assert.equal(codeOf(fixture.replace('out', { price: 2_400, quantity: 0.0004 })), 'INVALID_ORDER');
    assert.equal(codeOf(fixture.replace('plain', { quantity: 0.0005 })), 'INVALID_ORDER');
  });

  test('dormant triggers are not judged, only releases; the released one gets the room (MON-09, AMB-28)', () => {
    const fixture = fixtureWith(0, 100);
    const stop = { side: sell, quantity: 1, reduceOnly: true, above: 200_000, market: { base: lots(1) } } as const;
    const order = fixture.place(stop);
    fixture.position(ETH, 0.4, -800);
    fixture.trigger(order, lots(1));
    assert.deepEqual(
      fixture.sink.releases.map(({ end, room }) => [end, room.roomToTake]),
      [[0, lots(0.4)]],
    );
  });

  test('a released one without room waits while fills are undecided, and while another one is matched (MON-09)', () => {
    for (const outcome of ['confirmed', 'rolled back'] as const) {
      const fixture = fixtureWith(1, 10_000);
      fixture.spot(USD, 10_000, 1, BOB);
      const stop = fixture.place({ side: sell, quantity: 1, reduceOnly: true, above: 200_000, tif: TIF.ioc });
      const own = fixture.place({ side: sell, quantity: 1 });
      const trade = fixture.match(own, fixture.place({ user: BOB, side: buy, quantity: 1 }), 2_000, 1, buy);
      fixture.trigger(stop, lots(1));
      assert.equal(fixture.sink.releases.length, 0, 'nothing is decided');
      if (outcome === 'confirmed') fixture.confirm(trade);
      else fixture.rollBack(trade);
      fixture.decide();
      const released = fixture.sink.releases.map(({ end, room }) => [end, room.roomToTake]);
      assert.deepEqual(released, outcome === 'confirmed' ? [[ORDER_END.reduceOnly, RAW_MAX]] : [[0, lots(1)]]);
    }
    const fixture = fixtureWith(1, 10_000);
    const waiting = fixture.place({ side: sell, quantity: 1, reduceOnly: true, above: 200_000, tif: TIF.ioc });
    const taker = fixture.place({ side: sell, quantity: 1, reduceOnly: true, tif: TIF.ioc });
    fixture.trigger(waiting, lots(1));
    assert.equal(fixture.sink.releases.length, 0);
    fixture.end(taker, ORDER_END.immediateOrCancel);
    fixture.decide();
    assert.deepEqual(
      fixture.sink.releases.map(({ end, room }) => [end, room.roomToTake]),
      [[0, lots(1)]],
    );
  });

  test('a released one goes on when the order that it waited for is refused by its market, though nothing else happens (MON-09)', () => {
    const fixture = fixtureWith(1, 10_000);
    const waiting = fixture.place({ side: sell, quantity: 1, reduceOnly: true, above: 200_000, tif: TIF.ioc });
    const { requestId } = mustPass(fixture.request({ side: sell, quantity: 1, reduceOnly: true, tif: TIF.ioc }));
    fixture.trigger(waiting, lots(1));
    fixture.decide();
    assert.equal(fixture.sink.releases.length, 0, 'it waits for the order on its way');
    fixture.acknowledge(requestId, ETH, REJECT_CODE.MARKET_HALTED);
    assert.deepEqual(
      fixture.sink.releases.map(({ end, room }) => [end, room.roomToTake]),
      [[0, lots(1)]],
    );
  });

  test('one that the account does not own the position for any more is at fault, unless it shrank without its user (MON-09)', () => {
    for (const forced of [true, false]) {
      const fixture = fixtureWith(1, 10_000);
      fixture.spot(USD, 10_000, 1, BOB);
      const out = fixture.place({ side: sell, quantity: 1, reduceOnly: true, price: 2_000 });
      const other = fixture.place({ user: BOB, side: buy, quantity: 1, tif: TIF.ioc });
      const trade = fixture.match(out, other, 2_000, 1, buy);
      if (forced) fixture.manager.margin.onForced(ALICE, 1, ETH);
      fixture.position(ETH, 0, 0);
      fixture.undo(trade, ROLLBACK_REASON.reduceOnlyViolation, ROLLBACK_REASON.counterpartyAtFault);
      assert.equal(fixture.sink.faults.length, forced ? 0 : 1);
    }
    const fixture = fixtureWith(1, 10_000);
    fixture.spot(USD, 10_000, 1, BOB);
    fixture.place({ id: 'old', side: sell, quantity: 1, reduceOnly: true, price: 2_000 });
    fixture.manager.margin.onForced(ALICE, 1, ETH);
    fixture.manager.margin.reduceOrders(fixture.nowNs);
    const late = fixture.place({ side: sell, quantity: 1, reduceOnly: true, price: 2_000, tif: TIF.ioc });
    const other = fixture.place({ user: BOB, side: buy, quantity: 1 });
    const trade = fixture.match(other, late, 2_000, 1, sell);
    fixture.undo(trade, ROLLBACK_REASON.counterpartyAtFault, ROLLBACK_REASON.reduceOnlyViolation);
    assert.equal(fixture.sink.faults.length, 1, 'the orders had been cut before it was matched');
  });

  test('have the same room after a restart, in whatever order they come back (MON-09, AMB-50, AMB-110)', () => {
    const [fixture, restored] = [fixtureWith(4, 5_000), fixtureWith(4, 5_000)];
    const orders = [2, 1.5, 0.25].map((quantity, at) => ({ quantity, price: 2_100 + at, at }));
    for (const { quantity, price } of orders) fixture.place({ side: sell, reduceOnly: true, quantity, price });
    for (const { quantity, price, at } of [...orders].reverse()) {
      restoreRow(restored.manager, {
        marketIndex: must(MARKETS[ETH], 'a market').marketIndex,
        orderSequence: (10 + at) as Sequence,
        orderId: `restored-${at}` as OrderId,
        subAccount: 1,
        side: sell,
        flags: ORDER_FLAG.reduceOnly,
        price: (price * 100) as RawPrice,
        quantity: lots(quantity) as RawQuantity,
      });
    }
    restored.manager.margin.onRestored();
    for (const each of [fixture, restored]) {
      const { room } = each.prepared({ side: sell, reduceOnly: true, quantity: 4, price: 2_200 });
      assert.deepEqual(room, { roomToTake: lots(4), roomToRest: lots(0.25) });
      assert.equal(each.capacity(), fixture.capacity());
    }
  });
});
