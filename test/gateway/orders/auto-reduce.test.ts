/** Auto-reduce (AR-01 to AR-06, AMB-61): who gives way, how much, and who is left alone. EX-17 by its numbers. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { UserId } from '../../../src/core/ids.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import type { TimestampNs } from '../../../src/core/units.ts';
import { REDUCED_MAX } from '../../../src/gateway/orders/auto-reduce.ts';
import { ALICE, BTC, ETH, MARKETS, MarginDesk, SIDE, TIF, TOY, USD, usd } from '../../support/margin-desk.ts';
import { BOB } from '../../support/order-desk.ts';

const { buy, sell } = SIDE;
const SECOND_NS = 1_000_000_000n;

/** EX-17: reference 100; B1 10 at 100, B2 10 at 95, B3 10 at 90; the surplus is what is in spot USD. */
function example(surplus = '300'): MarginDesk {
  const desk = new MarginDesk();
  desk.price(TOY, 100);
  desk.spot(USD, surplus);
  for (const [id, price] of [
    ['b1', 100],
    ['b2', 95],
    ['b3', 90],
  ] as const) {
    desk.place({ id, asset: TOY, side: buy, quantity: 10, price });
  }
  return desk;
}

function look(desk: MarginDesk): readonly string[] {
  desk.manager.margin.reduceOrders(desk.nowNs);
  return desk.obey();
}

function pass(desk: MarginDesk, ns: bigint): void {
  desk.nowNs = (desk.nowNs + ns) as TimestampNs;
}

suite('auto-reduce', () => {
  test('the farthest order is made smaller by the fewest lots that suffice (AR-01, AR-02, EX-17)', () => {
    const desk = example();
    assert.deepEqual(look(desk), [], 'nothing is short');
    desk.spot(USD, 200);
    assert.deepEqual(look(desk), ['b3 444']);
    assert.equal(desk.capacity(), usd('0.00902'));
    const told = desk.sink.events.map(({ event }) => event).filter(({ kind }) => kind === 'Replaced');
    assert.deepEqual(
      told.map((event) => ('newQuantity' in event ? [event.orderId, event.newPrice, event.newQuantity] : [])),
      [['b3', 9_000, 444]],
    );
  });

  test('what cannot suffice is cancelled and the next one follows (AR-01, AR-06, EX-17)', () => {
    const desk = example();
    desk.spot(USD, 180);
    assert.deepEqual(look(desk), ['b3 cancelled', 'b2 8326']);
    assert.equal(desk.capacity(), usd('0.007515'));
    const ends = desk.sink.events.map(({ event }) => event).filter(({ kind }) => kind === 'Canceled');
    assert.deepEqual(
      ends.map((event) => ('reason' in event ? `${event.orderId} ${event.reason}` : '')),
      ['b3 AutoReduced'],
    );
  });

  test('one round a second for a sub-account, whatever happens meanwhile (AR-03)', () => {
    const desk = example();
    desk.spot(USD, 200);
    assert.deepEqual(look(desk), ['b3 444']);
    desk.spot(USD, 150);
    assert.deepEqual(look(desk), []);
    pass(desk, SECOND_NS - 1n);
    assert.deepEqual(look(desk), []);
    pass(desk, 1n);
    assert.deepEqual(look(desk), ['b3 cancelled', 'b2 5184']);
  });

  test('a price alone starts it (AR-01, MRG-25)', () => {
    const desk = new MarginDesk();
    desk.spot(USD, 400);
    desk.position(ETH, 1, -2_000);
    desk.price(TOY, 100);
    desk.place({ id: 'b', asset: TOY, side: buy, quantity: 10, price: 100 });
    assert.deepEqual(look(desk), []);
    desk.price(ETH, '1800');
    assert.deepEqual(look(desk), ['b 1990']);
  });

  test('IOC, FOK and what is in flight are left alone (AR-04)', () => {
    const desk = example();
    for (const tif of [TIF.ioc, TIF.fok]) desk.place({ asset: TOY, side: buy, quantity: 1, price: 10, tif });
    const onItsWay = desk.request({ id: 'c', asset: TOY, side: buy, quantity: 1, price: 20 });
    assert.ok(onItsWay.ok);
    const replace = desk.replace('b3', { price: 91 }, TOY);
    assert.ok(replace.ok);
    desk.spot(USD, 250);
    assert.deepEqual(look(desk), ['b2 5658']);
    pass(desk, SECOND_NS);
    desk.acknowledge(replace.value, TOY, REJECT_CODE.REQUEST_TOO_OLD);
    desk.spot(USD, 200);
    assert.deepEqual(look(desk)[0], 'b3 4583');
  });

  test('what has landed is looked at, though nothing else has changed (AR-04)', () => {
    const desk = new MarginDesk();
    desk.price(TOY, 100);
    desk.spot(USD, 300);
    desk.place({ id: 'o', asset: TOY, side: buy, quantity: 10, price: 100 });
    const replace = desk.replace('o', { price: 101 }, TOY);
    assert.ok(replace.ok);
    desk.spot(USD, 50);
    assert.deepEqual(look(desk), []);
    desk.acknowledge(replace.value, TOY, REJECT_CODE.REQUEST_TOO_OLD);
    assert.deepEqual(look(desk), ['o 4975']);
  });

  test('market makers are exempt (AR-05, MRG-27)', () => {
    const desk = example();
    desk.manager.onUserChanged({ user: ALICE, isMarketMaker: true });
    desk.spot(USD, 0);
    assert.deepEqual(look(desk), []);
    assert.ok(desk.capacity() < 0n);
    desk.manager.onUserChanged({ user: ALICE, isMarketMaker: false });
    assert.equal(look(desk).length, 3, 'who is one no longer is looked at, though nothing of the account has moved');
  });

  test('reduce-only orders, dormant triggers and what the position covers are left alone (AMB-61)', () => {
    const desk = new MarginDesk();
    desk.price(TOY, 100);
    desk.spot(USD, 2_000);
    desk.position(TOY, -10, 1_000);
    desk.place({ id: 'covered', asset: TOY, side: buy, quantity: 10, price: 50 });
    desk.place({ id: 'reduce', asset: TOY, side: buy, quantity: 10, price: 10, reduceOnly: true });
    desk.place({ id: 'dormant', asset: TOY, side: buy, quantity: 10, price: 5, above: 20_000 });
    desk.place({ id: 'open', asset: TOY, side: buy, quantity: 10, price: 100 });
    desk.spot(USD, 0);
    assert.deepEqual(look(desk), ['open cancelled']);
  });

  test('only the heavier side gives way, over all books of the account (AMB-61, MRG-23)', () => {
    const desk = new MarginDesk();
    desk.spot(USD, 1_000);
    desk.place({ id: 'sell', side: sell, quantity: 1, price: 2_500 });
    desk.place({ id: 'near', asset: BTC, side: buy, quantity: 0.01, price: 49_900 });
    desk.place({ id: 'far', side: buy, quantity: 1, price: 1_500 });
    desk.spot(USD, 150);
    // Buys 72.6045 and 150.75; the sell presses 126.25 and stays.
    assert.deepEqual(look(desk), ['far 5134']);
    assert.ok(desk.capacity() >= 0n);
  });

  test('of equally far ones the newest goes first (AMB-61)', () => {
    const desk = new MarginDesk();
    desk.price(TOY, 100);
    desk.spot(USD, 300);
    for (const id of ['old', 'new']) desk.place({ id, asset: TOY, side: buy, quantity: 10, price: 90 });
    desk.spot(USD, 100);
    assert.deepEqual(look(desk), ['new 1055']);
  });

  test('the newest is that of the latest creation, not of the latest arrival (AMB-61)', () => {
    const desk = new MarginDesk();
    desk.price(TOY, 100);
    desk.spot(USD, 300);
    const terms = { asset: TOY, side: buy, quantity: 10, price: 90 };
    desk.place({ id: 'new', ...terms });
    desk.place({ id: 'old', ageNs: SECOND_NS, ...terms });
    desk.spot(USD, 100);
    assert.deepEqual(look(desk), ['new 1055']);
  });

  test('what would fall below the minimum is cancelled (AMB-61)', () => {
    const desk = example();
    desk.manager.onMarketChanged({ ...marketOf(TOY), minimumQuantity: 500 as never });
    desk.spot(USD, 200);
    assert.deepEqual(look(desk), ['b3 cancelled']);
  });

  test('orders of an asset that never had a price give way too, some at a time (AR-01, AMB-44)', () => {
    const desk = new MarginDesk();
    desk.spot(USD, '10000');
    desk.settings({ openOrdersMax: 2 * REDUCED_MAX });
    desk.spot(USD, '1000000');
    for (let i = 0; i < REDUCED_MAX + 6; i += 1) {
      desk.place({ id: `s${i}`, asset: TOY, side: buy, isSpot: true, quantity: 1, price: 100 + (i % 5) });
    }
    desk.spot(USD, '0');
    assert.equal(desk.manager.margin.assets.terms(TOY).prices.mark, 0n);
    assert.equal(look(desk).length, REDUCED_MAX);
    assert.equal(look(desk).length, 6);
  });

  test('it can be turned off, and its cooldown is a setting (operator-api.md 4.10)', () => {
    const desk = example();
    desk.settings({ autoReduces: false, autoReduceCooldownNs: 5n * SECOND_NS });
    desk.spot(USD, 200);
    assert.deepEqual(look(desk), []);
    desk.settings({ autoReduces: true });
    assert.deepEqual(look(desk), ['b3 444']);
    desk.spot(USD, 100);
    pass(desk, 4n * SECOND_NS);
    assert.deepEqual(look(desk), []);
    pass(desk, SECOND_NS);
    assert.notDeepEqual(look(desk), []);
  });

  test('a full market gets it again later, nothing is lost (AMB-111)', () => {
    const desk = example();
    desk.sink.isFull = true;
    desk.spot(USD, 200);
    assert.deepEqual(look(desk), []);
    desk.sink.isFull = false;
    pass(desk, SECOND_NS);
    assert.deepEqual(look(desk), ['b3 444']);
  });

  test('after a start no order gives way to old prices: it begins with the first new one (AMB-110)', () => {
    const desk = example();
    desk.manager.margin.onRestored();
    desk.spot(USD, 200);
    assert.deepEqual(look(desk), []);
    desk.price(TOY, 100);
    assert.deepEqual(look(desk), ['b3 444']);
  });

  test('nor to the new price of something else: every asset of the account has to have had its own (AMB-110)', () => {
    const desk = example();
    desk.position(ETH, 0.01, -20);
    desk.manager.margin.onRestored();
    desk.spot(USD, 200);
    desk.price(BTC, 50_000);
    assert.deepEqual(look(desk), []);
    desk.price(TOY, 100);
    assert.deepEqual(look(desk), [], 'what it holds counts like what it orders');
    desk.price(ETH, 2_000);
    assert.equal(look(desk).length, 1);
  });

  test('orders that the position covers are not walked: none of them would help (AR-02, AMB-61)', () => {
    const desk = new MarginDesk();
    desk.price(TOY, 100);
    desk.spot(USD, 1_000);
    desk.position(TOY, -10, 0);
    desk.place({ id: 'covered', asset: TOY, side: buy, quantity: 10, price: 50 });
    desk.spot(USD, 0);
    assert.ok(desk.capacity() < 0n);
    const account = desk.manager.margin.accounts.account(ALICE, 1);
    account.queues = () => assert.fail('a queue is walked');
    assert.deepEqual(look(desk), []);
  });

  test('which is farther is decided by the prices themselves, where doubles see no difference (AR-02, AMB-61)', () => {
    const desk = new MarginDesk();
    desk.price(TOY, '100.000000000000000001');
    desk.spot(USD, 300);
    desk.place({ id: 'below', ageNs: SECOND_NS, asset: TOY, side: buy, quantity: 10, price: 90 });
    desk.place({ id: 'above', asset: TOY, side: buy, quantity: 10, price: 110 });
    desk.spot(USD, 100);
    assert.deepEqual(look(desk), ['below cancelled', 'above 9045']);
  });

  test('a surplus that is gone costs all of the heavier side, then the other (AMB-61)', () => {
    const desk = example();
    desk.place({ id: 's', asset: TOY, side: sell, quantity: 10, price: 110 });
    desk.spot(USD, 0);
    desk.position(BTC, -1, 0);
    assert.deepEqual(look(desk), ['b3 cancelled', 'b2 cancelled', 'b1 cancelled']);
    pass(desk, SECOND_NS);
    assert.deepEqual(look(desk), ['s cancelled']);
  });
});

suite('auto-reduce of many orders', () => {
  const ORDERS = 2_500;
  /** The nearer ones first. */
  const many = (user = ALICE, orders = ORDERS): MarginDesk => {
    const desk = new MarginDesk();
    desk.settings({ openOrdersMax: ORDERS });
    desk.spot(USD, 1_000_000, 1, user);
    placeMany(desk, user, orders);
    return desk;
  };
  const placeMany = (desk: MarginDesk, user: UserId, orders: number): void => {
    for (let at = 0; at < orders; at += 1) {
      desk.place({ id: `${user.slice(0, 2)}-${at}`, user, side: buy, quantity: 0.01, price: 2_000 - at / 100 });
    }
  };
  /** One turn. @returns how many reductions it sent, and whether the next one is not to wait. */
  const turn = (desk: MarginDesk, sent: string[]): readonly [number, boolean] => {
    const before = desk.sink.reductions.length;
    const hasMore = desk.manager.margin.reduceOrders(desk.nowNs);
    const fresh = desk.sink.reductions.slice(before);
    sent.push(...fresh.map(({ orderId, total }) => `${orderId} ${total}`));
    return [fresh.length, hasMore];
  };

  for (const answers of ['before', 'after'] as const) {
    test(`goes on from look to look, whether markets answer ${answers} the next one (AR-01 to AR-03, AMB-61)`, () => {
      const desk = many();
      // Each presses 2.01 or a little less: the five nearest stay, the last of them in part.
      desk.spot(USD, 10);
      const sent: string[] = [];
      for (const expected of [
        [1_024, true],
        [1_024, true],
        [448, false],
        [0, false],
      ] as const) {
        assert.deepEqual(turn(desk, sent), expected);
        if (answers === 'before') desk.obey();
      }
      const farthestFirst = Array.from({ length: 2_495 }, (_, at) => `aa-${ORDERS - 1 - at} 0`);
      assert.deepEqual(sent.slice(0, -1), farthestFirst);
      desk.obey();
      assert.ok(desk.capacity() >= 0n);
      desk.spot(USD, 5);
      assert.deepEqual(turn(desk, sent), [0, false], 'the account cools down');
      pass(desk, SECOND_NS);
      assert.equal(turn(desk, sent)[1], false);
      desk.obey();
      assert.ok(desk.capacity() >= 0n);
    });
  }

  test('ends as soon as no more is needed (AR-01, AMB-61)', () => {
    const desk = many();
    desk.spot(USD, 10);
    const sent: string[] = [];
    assert.deepEqual(turn(desk, sent), [1_024, true]);
    desk.spot(USD, 4_000);
    assert.deepEqual(turn(desk, sent), [0, false], 'those on their way suffice');
    desk.obey();
    assert.ok(desk.capacity() >= 0n);
    desk.spot(USD, 10);
    assert.deepEqual(turn(desk, sent), [0, false], 'the account cools down');
  });

  test('a reduction that its market refuses is planned anew (AR-01, AR-04)', () => {
    const desk = many();
    desk.spot(USD, 10);
    const sent: string[] = [];
    turn(desk, sent);
    const [first] = desk.sink.reductions;
    assert.ok(first !== undefined);
    desk.acknowledge(first.requestId, ETH, REJECT_CODE.REQUEST_TOO_OLD);
    turn(desk, sent);
    assert.equal(sent[1_024], sent[0]);
  });

  test('of many accounts takes several looks, and none of them more than its share (AMB-61, AMB-111)', () => {
    const desk = many(ALICE, 900);
    const users = Array.from({ length: 4 }, (_, at) => `c${at}`.repeat(32) as UserId);
    for (const user of users) {
      desk.spot(USD, 1_000_000, 1, user);
      placeMany(desk, user, 900);
    }
    for (const user of [ALICE, ...users]) desk.spot(USD, 0, 1, user);
    const sent: string[] = [];
    const counts: number[] = [];
    for (let more = true; more; ) {
      const [count, hasMore] = turn(desk, sent);
      counts.push(count);
      more = hasMore;
    }
    assert.ok(counts.every((count) => count <= 1_024));
    assert.deepEqual([sent.length, new Set(sent).size], [4_500, 4_500]);
  });
});

suite('reduce-only orders that exceed their position', () => {
  const shrunk = (change: Parameters<MarginDesk['settings']>[0]): MarginDesk => {
    const desk = new MarginDesk();
    desk.spot(USD, 10_000);
    desk.position(ETH, 2, -4_000);
    desk.settings(change);
    desk.place({ id: 'small', side: sell, quantity: 1, price: 2_100, reduceOnly: true });
    desk.place({ id: 'large', side: sell, quantity: 2, price: 2_200, reduceOnly: true });
    desk.position(ETH, 1, -2_000);
    return desk;
  };

  test('stay by default where the account bears what they press (AMB-27)', () => {
    const desk = shrunk({});
    assert.deepEqual(desk.obey(), []);
    assert.ok(desk.capacity() > 0n);
  });

  test('give way like any other where the account does not bear it, what the position covers left alone (AR-01, AMB-27, AMB-61)', () => {
    const desk = new MarginDesk();
    desk.spot(USD, 300);
    desk.position(ETH, 2, -4_000);
    desk.place({ id: 'first', side: sell, quantity: 1, price: 2_100, reduceOnly: true });
    desk.place({ id: 'second', side: sell, quantity: 1, price: 2_200, reduceOnly: true });
    desk.spot(USD, 0);
    desk.position(ETH, 1, -1_750);
    // 0.9·2000 − 1750 = 50, and a sell of 1 at 2200 presses 111.1: 0.45 of it is 49.995, and below the rest stays 1e-4.
    assert.deepEqual(look(desk), ['second 4500']);
    assert.ok(desk.capacity() >= 0n);
    desk.position(ETH, 0, 0);
    desk.nowNs = (desk.nowNs + 2_000_000_000n) as TimestampNs;
    assert.deepEqual(look(desk), ['second cancelled', 'first cancelled']);
  });

  test('end with ReduceOnly where the operator wants it (AMB-27)', () => {
    const desk = shrunk({ cancelsReduceOnlyExcess: true });
    assert.deepEqual(desk.obey(), ['large cancelled']);
    desk.position(ETH, 0, 100);
    assert.deepEqual(desk.obey(), ['small cancelled']);
    const reasons = desk.sink.events.map(({ event }) => ('reason' in event ? event.reason : null));
    assert.deepEqual(reasons.filter(Boolean), ['ReduceOnly', 'ReduceOnly']);
  });

  test('end when the setting is turned on, and when the ring was full before (AMB-27, AMB-111)', () => {
    const desk = shrunk({});
    assert.deepEqual(look(desk), []);
    desk.settings({ cancelsReduceOnlyExcess: true });
    desk.sink.isFull = true;
    assert.deepEqual(look(desk), []);
    desk.sink.isFull = false;
    assert.deepEqual(look(desk), ['large cancelled']);
    assert.deepEqual(look(desk), []);
  });

  test('end a bounded number a turn, where there are many (AMB-27, AMB-111)', () => {
    const desk = shrunk({ openOrdersMax: 3_000 });
    desk.spot(USD, 10_000_000);
    for (let at = 0; at < 1_500; at += 1) {
      desk.place({ id: `r-${at}`, side: sell, quantity: 2, price: 2_300 + at, reduceOnly: true });
    }
    desk.settings({ cancelsReduceOnlyExcess: true });
    assert.equal(desk.manager.margin.reduceOrders(desk.nowNs), true);
    assert.equal(desk.obey().length, 1_024);
    assert.equal(desk.manager.margin.reduceOrders(desk.nowNs), false);
    assert.equal(desk.obey().length, 477);
  });

  test('end when the fill that opened their position is rolled back, not while it is on its way (AMB-27, AMB-142)', () => {
    const desk = new MarginDesk();
    desk.settings({ cancelsReduceOnlyExcess: true });
    for (const user of [ALICE, BOB]) desk.spot(USD, 10_000, 1, user);
    const maker = desk.place({ user: BOB, side: sell, quantity: 1 });
    const taker = desk.place({ side: buy, quantity: 1 });
    const trade = desk.match(maker, taker, 2_000, 1, buy);
    desk.place({ id: 'out', side: sell, quantity: 1, price: 2_100, reduceOnly: true });
    assert.deepEqual(look(desk), []);
    desk.rollBack(trade);
    assert.deepEqual(look(desk), ['out cancelled']);
  });

  test('are let be while they wait for a trigger (AMB-27, AMB-28)', () => {
    const desk = new MarginDesk();
    desk.settings({ cancelsReduceOnlyExcess: true });
    desk.spot(USD, 1);
    desk.place({ id: 'stop', side: sell, quantity: 1, reduceOnly: true, above: 200_000 });
    desk.position(ETH, 0, 0);
    assert.deepEqual(look(desk), []);
  });
});

function marketOf(asset: string): (typeof MARKETS)[string] & object {
  const market = MARKETS[asset];
  assert.ok(market !== undefined);
  return market;
}
