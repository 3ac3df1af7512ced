// tier: quick
/** Auto-reduce (AR-01 to AR-06, AMB-61): who gives way, how much, and who is left alone. EX-17 by its numbers. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { UserId } from '../../../src/core/ids.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import type { TimestampNs } from '../../../src/core/units.ts';
import { REDUCED_MAX } from '../../../src/gateway/orders/margin/reductions.ts';
import { ALICE, MARKETS, MarginFixture, SIDE, TIF, TOY, USD, usd } from '../../support/margin-fixture.ts';
import { BOB, BTC, ETH } from '../../support/names.ts';

const { buy, sell } = SIDE;
const SECOND_NS = 1_000_000_000n;

/** EX-17: reference 100; B1 10 at 100, B2 10 at 95, B3 10 at 90; the surplus is what is in spot USD. */
function example(surplus = '300'): MarginFixture {
  const fixture = new MarginFixture();
  fixture.price(TOY, 100);
  fixture.spot(USD, surplus);
  for (const [id, price] of [
    ['b1', 100],
    ['b2', 95],
    ['b3', 90],
  ] as const) {
    fixture.place({ id, asset: TOY, side: buy, quantity: 10, price });
  }
  return fixture;
}

function look(fixture: MarginFixture): readonly string[] {
  fixture.manager.margin.reduceOrders(fixture.nowNs);
  return fixture.obey();
}

function pass(fixture: MarginFixture, ns: bigint): void {
  fixture.nowNs = (fixture.nowNs + ns) as TimestampNs;
}

suite('auto-reduce', () => {
  test('the farthest order is made smaller by the fewest lots that suffice (AR-01, AR-02, EX-17)', () => {
    const fixture = example();
    assert.deepEqual(look(fixture), [], 'nothing is short');
    fixture.spot(USD, 200);
    assert.deepEqual(look(fixture), ['b3 444']);
    assert.equal(fixture.capacity(), usd('0.00902'));
    const told = fixture.sink.events.map(({ event }) => event).filter(({ kind }) => kind === 'Replaced');
    assert.deepEqual(
      told.map((event) => ('newQuantity' in event ? [event.orderId, event.newPrice, event.newQuantity] : [])),
      [['b3', 9_000, 444]],
    );
  });

  test('what cannot suffice is cancelled and the next one follows (AR-01, AR-06, EX-17)', () => {
    const fixture = example();
    fixture.spot(USD, 180);
    assert.deepEqual(look(fixture), ['b3 cancelled', 'b2 8326']);
    assert.equal(fixture.capacity(), usd('0.007515'));
    const ends = fixture.sink.events.map(({ event }) => event).filter(({ kind }) => kind === 'Canceled');
    assert.deepEqual(
      ends.map((event) => ('reason' in event ? `${event.orderId} ${event.reason}` : '')),
      ['b3 AutoReduced'],
    );
  });

  test('one round a second for a sub-account, whatever happens meanwhile (AR-03)', () => {
    const fixture = example();
    fixture.spot(USD, 200);
    assert.deepEqual(look(fixture), ['b3 444']);
    fixture.spot(USD, 150);
    assert.deepEqual(look(fixture), []);
    pass(fixture, SECOND_NS - 1n);
    assert.deepEqual(look(fixture), []);
    pass(fixture, 1n);
    assert.deepEqual(look(fixture), ['b3 cancelled', 'b2 5184']);
  });

  test('a price alone starts it (AR-01, MRG-25)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 400);
    fixture.position(ETH, 1, -2_000);
    fixture.price(TOY, 100);
    fixture.place({ id: 'b', asset: TOY, side: buy, quantity: 10, price: 100 });
    assert.deepEqual(look(fixture), []);
    fixture.price(ETH, '1800');
    assert.deepEqual(look(fixture), ['b 1990']);
  });

  test('IOC, FOK and what is in flight are left alone (AR-04)', () => {
    const fixture = example();
    for (const tif of [TIF.ioc, TIF.fok]) fixture.place({ asset: TOY, side: buy, quantity: 1, price: 10, tif });
    const onItsWay = fixture.request({ id: 'c', asset: TOY, side: buy, quantity: 1, price: 20 });
    assert.ok(onItsWay.ok);
    const replace = fixture.replace('b3', { price: 91 }, TOY);
    assert.ok(replace.ok);
    fixture.spot(USD, 250);
    assert.deepEqual(look(fixture), ['b2 5658']);
    pass(fixture, SECOND_NS);
    fixture.acknowledge(replace.value, TOY, REJECT_CODE.REQUEST_TOO_OLD);
    fixture.spot(USD, 200);
    assert.deepEqual(look(fixture)[0], 'b3 4583');
  });

  test('what has landed is looked at, though nothing else has changed (AR-04)', () => {
    const fixture = new MarginFixture();
    fixture.price(TOY, 100);
    fixture.spot(USD, 300);
    fixture.place({ id: 'o', asset: TOY, side: buy, quantity: 10, price: 100 });
    const replace = fixture.replace('o', { price: 101 }, TOY);
    assert.ok(replace.ok);
    fixture.spot(USD, 50);
    assert.deepEqual(look(fixture), []);
    fixture.acknowledge(replace.value, TOY, REJECT_CODE.REQUEST_TOO_OLD);
    assert.deepEqual(look(fixture), ['o 4975']);
  });

  test('market makers are exempt (AR-05, MRG-27)', () => {
    const fixture = example();
    fixture.manager.onUserChanged({ user: ALICE, isMarketMaker: true });
    fixture.spot(USD, 0);
    assert.deepEqual(look(fixture), []);
    assert.ok(fixture.capacity() < 0n);
    fixture.manager.onUserChanged({ user: ALICE, isMarketMaker: false });
    assert.equal(look(fixture).length, 3, 'who is one no longer is looked at, though nothing of the account has moved');
  });

  test('reduce-only orders, dormant triggers and what the position covers are left alone (AMB-61)', () => {
    const fixture = new MarginFixture();
    fixture.price(TOY, 100);
    fixture.spot(USD, 2_000);
    fixture.position(TOY, -10, 1_000);
    fixture.place({ id: 'covered', asset: TOY, side: buy, quantity: 10, price: 50 });
    fixture.place({ id: 'reduce', asset: TOY, side: buy, quantity: 10, price: 10, reduceOnly: true });
    fixture.place({ id: 'dormant', asset: TOY, side: buy, quantity: 10, price: 5, above: 20_000 });
    fixture.place({ id: 'open', asset: TOY, side: buy, quantity: 10, price: 100 });
    fixture.spot(USD, 0);
    assert.deepEqual(look(fixture), ['open cancelled']);
  });

  test('only the heavier side gives way, over all books of the account (AMB-61, MRG-23)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 1_000);
    fixture.place({ id: 'sell', side: sell, quantity: 1, price: 2_500 });
    fixture.place({ id: 'near', asset: BTC, side: buy, quantity: 0.01, price: 49_900 });
    fixture.place({ id: 'far', side: buy, quantity: 1, price: 1_500 });
    fixture.spot(USD, 150);
    // Buys 72.6045 and 150.75; the sell presses 126.25 and stays.
    assert.deepEqual(look(fixture), ['far 5134']);
    assert.ok(fixture.capacity() >= 0n);
  });

  test('of equally far ones the newest goes first (AMB-61)', () => {
    const fixture = new MarginFixture();
    fixture.price(TOY, 100);
    fixture.spot(USD, 300);
    for (const id of ['old', 'new']) fixture.place({ id, asset: TOY, side: buy, quantity: 10, price: 90 });
    fixture.spot(USD, 100);
    assert.deepEqual(look(fixture), ['new 1055']);
  });

  test('the newest is that of the latest creation, not of the latest arrival (AMB-61)', () => {
    const fixture = new MarginFixture();
    fixture.price(TOY, 100);
    fixture.spot(USD, 300);
    const terms = { asset: TOY, side: buy, quantity: 10, price: 90 };
    fixture.place({ id: 'new', ...terms });
    fixture.place({ id: 'old', ageNs: SECOND_NS, ...terms });
    fixture.spot(USD, 100);
    assert.deepEqual(look(fixture), ['new 1055']);
  });

  test('what would fall below the minimum is cancelled (AMB-61)', () => {
    const fixture = example();
    fixture.manager.onMarketChanged({ ...marketOf(TOY), minimumQuantity: 500 as never });
    fixture.spot(USD, 200);
    assert.deepEqual(look(fixture), ['b3 cancelled']);
  });

  test('orders of an asset that never had a price give way too, some at a time (AR-01, AMB-44)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, '10000');
    fixture.settings({ openOrdersMax: 2 * REDUCED_MAX });
    fixture.spot(USD, '1000000');
    for (let i = 0; i < REDUCED_MAX + 6; i += 1) {
      fixture.place({ id: `s${i}`, asset: TOY, side: buy, isSpot: true, quantity: 1, price: 100 + (i % 5) });
    }
    fixture.spot(USD, '0');
    assert.equal(fixture.manager.margin.assets.terms(TOY).prices.mark, 0n);
    assert.equal(look(fixture).length, REDUCED_MAX);
    assert.equal(look(fixture).length, 6);
  });

  test('it can be turned off, and its cooldown is a setting (operator-api.md 4.10)', () => {
    const fixture = example();
    fixture.settings({ autoReduces: false, autoReduceCooldownNs: 5n * SECOND_NS });
    fixture.spot(USD, 200);
    assert.deepEqual(look(fixture), []);
    fixture.settings({ autoReduces: true });
    assert.deepEqual(look(fixture), ['b3 444']);
    fixture.spot(USD, 100);
    pass(fixture, 4n * SECOND_NS);
    assert.deepEqual(look(fixture), []);
    pass(fixture, SECOND_NS);
    assert.notDeepEqual(look(fixture), []);
  });

  test('a full market gets it again later, nothing is lost (AMB-111)', () => {
    const fixture = example();
    fixture.sink.isFull = true;
    fixture.spot(USD, 200);
    assert.deepEqual(look(fixture), []);
    fixture.sink.isFull = false;
    pass(fixture, SECOND_NS);
    assert.deepEqual(look(fixture), ['b3 444']);
  });

  test('after a start no order gives way to old prices: it begins with the first new one (AMB-110)', () => {
    const fixture = example();
    fixture.manager.margin.onRestored();
    fixture.spot(USD, 200);
    assert.deepEqual(look(fixture), []);
    fixture.price(TOY, 100);
    assert.deepEqual(look(fixture), ['b3 444']);
  });

  test('nor to the new price of something else: every asset of the account has to have had its own (AMB-110)', () => {
    const fixture = example();
    fixture.position(ETH, 0.01, -20);
    fixture.manager.margin.onRestored();
    fixture.spot(USD, 200);
    fixture.price(BTC, 50_000);
    assert.deepEqual(look(fixture), []);
    fixture.price(TOY, 100);
    assert.deepEqual(look(fixture), [], 'what it holds counts like what it orders');
    fixture.price(ETH, 2_000);
    assert.equal(look(fixture).length, 1);
  });

  test('orders that the position covers are not walked: none of them would help (AR-02, AMB-61)', () => {
    const fixture = new MarginFixture();
    fixture.price(TOY, 100);
    fixture.spot(USD, 1_000);
    fixture.position(TOY, -10, 0);
    fixture.place({ id: 'covered', asset: TOY, side: buy, quantity: 10, price: 50 });
    fixture.spot(USD, 0);
    assert.ok(fixture.capacity() < 0n);
    const account = fixture.manager.margin.accounts.account(ALICE, 1);
    account.queues = () => assert.fail('a queue is walked');
    assert.deepEqual(look(fixture), []);
  });

  test('which is farther is decided by the prices themselves, where doubles see no difference (AR-02, AMB-61)', () => {
    const fixture = new MarginFixture();
    fixture.price(TOY, '100.000000000000000001');
    fixture.spot(USD, 300);
    fixture.place({ id: 'below', ageNs: SECOND_NS, asset: TOY, side: buy, quantity: 10, price: 90 });
    fixture.place({ id: 'above', asset: TOY, side: buy, quantity: 10, price: 110 });
    fixture.spot(USD, 100);
    assert.deepEqual(look(fixture), ['below cancelled', 'above 9045']);
  });

  test('a surplus that is gone costs all of the heavier side, then the other (AMB-61)', () => {
    const fixture = example();
    fixture.place({ id: 's', asset: TOY, side: sell, quantity: 10, price: 110 });
    fixture.spot(USD, 0);
    fixture.position(BTC, -1, 0);
    assert.deepEqual(look(fixture), ['b3 cancelled', 'b2 cancelled', 'b1 cancelled']);
    pass(fixture, SECOND_NS);
    assert.deepEqual(look(fixture), ['s cancelled']);
  });
});

suite('auto-reduce of many orders', () => {
  const ORDERS = 2_500;
  /** The nearer ones first. */
  const many = (user = ALICE, orders = ORDERS): MarginFixture => {
    const fixture = new MarginFixture();
    fixture.settings({ openOrdersMax: ORDERS });
    fixture.spot(USD, 1_000_000, 1, user);
    placeMany(fixture, user, orders);
    return fixture;
  };
  const placeMany = (fixture: MarginFixture, user: UserId, orders: number): void => {
    for (let at = 0; at < orders; at += 1) {
      fixture.place({ id: `${user.slice(0, 2)}-${at}`, user, side: buy, quantity: 0.01, price: 2_000 - at / 100 });
    }
  };
  /** One turn. @returns how many reductions it sent, and whether the next one is not to wait. */
  const turn = (fixture: MarginFixture, sent: string[]): readonly [number, boolean] => {
    const before = fixture.sink.reductions.length;
    const hasMore = fixture.manager.margin.reduceOrders(fixture.nowNs);
    const fresh = fixture.sink.reductions.slice(before);
    sent.push(...fresh.map(({ orderId, total }) => `${orderId} ${total}`));
    return [fresh.length, hasMore];
  };

  for (const answers of ['before', 'after'] as const) {
    test(`goes on from look to look, whether markets answer ${answers} the next one (AR-01 to AR-03, AMB-61)`, () => {
      const fixture = many();
      // Each presses 2.01 or a little less: the five nearest stay, the last of them in part.
      fixture.spot(USD, 10);
      const sent: string[] = [];
      for (const expected of [
        [1_024, true],
        [1_024, true],
        [448, false],
        [0, false],
      ] as const) {
        assert.deepEqual(turn(fixture, sent), expected);
        if (answers === 'before') fixture.obey();
      }
      const farthestFirst = Array.from({ length: 2_495 }, (_, at) => `a1-${ORDERS - 1 - at} 0`);
      assert.deepEqual(sent.slice(0, -1), farthestFirst);
      fixture.obey();
      assert.ok(fixture.capacity() >= 0n);
      fixture.spot(USD, 5);
      assert.deepEqual(turn(fixture, sent), [0, false], 'the account cools down');
      pass(fixture, SECOND_NS);
      assert.equal(turn(fixture, sent)[1], false);
      fixture.obey();
      assert.ok(fixture.capacity() >= 0n);
    });
  }

  test('ends as soon as no more is needed (AR-01, AMB-61)', () => {
    const fixture = many();
    fixture.spot(USD, 10);
    const sent: string[] = [];
    assert.deepEqual(turn(fixture, sent), [1_024, true]);
    fixture.spot(USD, 4_000);
    assert.deepEqual(turn(fixture, sent), [0, false], 'those on their way suffice');
    fixture.obey();
    assert.ok(fixture.capacity() >= 0n);
    fixture.spot(USD, 10);
    assert.deepEqual(turn(fixture, sent), [0, false], 'the account cools down');
  });

  test('a reduction that its market refuses is planned anew (AR-01, AR-04)', () => {
    const fixture = many();
    fixture.spot(USD, 10);
    const sent: string[] = [];
    turn(fixture, sent);
    const [first] = fixture.sink.reductions;
    assert.ok(first !== undefined);
    fixture.acknowledge(first.requestId, ETH, REJECT_CODE.REQUEST_TOO_OLD);
    turn(fixture, sent);
    assert.equal(sent[1_024], sent[0]);
  });

  test('of many accounts takes several looks, and none of them more than its share (AMB-61, AMB-111)', () => {
    const fixture = many(ALICE, 900);
    const users = Array.from({ length: 4 }, (_, at) => `c${at}`.repeat(32) as UserId);
    for (const user of users) {
      fixture.spot(USD, 1_000_000, 1, user);
      placeMany(fixture, user, 900);
    }
    for (const user of [ALICE, ...users]) fixture.spot(USD, 0, 1, user);
    const sent: string[] = [];
    const counts: number[] = [];
    for (let more = true; more; ) {
      const [count, hasMore] = turn(fixture, sent);
      counts.push(count);
      more = hasMore;
    }
    assert.ok(counts.every((count) => count <= 1_024));
    assert.deepEqual([sent.length, new Set(sent).size], [4_500, 4_500]);
  });
});

suite('reduce-only orders that exceed their position', () => {
  const shrunk = (change: Parameters<MarginFixture['settings']>[0] = {}): MarginFixture => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10_000);
    fixture.position(ETH, 2, -4_000);
    fixture.settings(change);
    fixture.place({ id: 'small', side: sell, quantity: 1, price: 2_100, reduceOnly: true });
    fixture.place({ id: 'large', side: sell, quantity: 2, price: 2_200, reduceOnly: true });
    fixture.position(ETH, 1, -2_000);
    return fixture;
  };

  test('are cut to it, youngest first, and end with ReduceOnly where nothing of it is left (MON-09)', () => {
    const fixture = shrunk();
    assert.deepEqual(look(fixture), ['large cancelled'], 'the older one has all of it');
    fixture.position(ETH, 0.25, -500);
    assert.deepEqual(look(fixture), ['small 2500']);
    fixture.position(ETH, 0, 100);
    assert.deepEqual(look(fixture), ['small cancelled']);
    const reasons = fixture.sink.events.map(({ event }) => ('reason' in event ? event.reason : null));
    assert.deepEqual(reasons.filter(Boolean), ['ReduceOnly', 'ReduceOnly']);
  });

  test('are all cancelled by a flip, and those of the other side are not enlarged (MON-09)', () => {
    const fixture = shrunk();
    fixture.obey();
    fixture.position(ETH, -3, 6_000);
    assert.deepEqual(look(fixture).toSorted(), ['large cancelled', 'small cancelled']);
    fixture.place({ id: 'back', side: SIDE.buy, quantity: 2, price: 1_900, reduceOnly: true });
    fixture.position(ETH, -1, 2_000);
    assert.deepEqual(look(fixture), ['back 10000']);
    fixture.position(ETH, -3, 6_000);
    assert.deepEqual(look(fixture), [], 'the node never enlarges what it cut');
  });

  test('are left alone by auto-reduce, as they press on nothing (MRG-22, AR-01, MON-09)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 300);
    fixture.position(ETH, 2, -4_000);
    fixture.place({ id: 'first', side: sell, quantity: 1, price: 2_100, reduceOnly: true });
    fixture.spot(USD, 0);
    assert.ok(fixture.capacity() < 0n);
    assert.deepEqual(look(fixture), []);
  });

  test('one that was filled in part and has no room any more is cancelled, not cut to what it filled (MON-09)', () => {
    const fixture = new MarginFixture();
    for (const user of [ALICE, BOB]) fixture.spot(USD, 10_000, 1, user);
    fixture.position(ETH, 1, -2_000);
    const own = fixture.place({ id: 'part', side: sell, quantity: 1, price: 2_000, reduceOnly: true });
    const other = fixture.place({ user: BOB, side: buy, quantity: 0.4, price: 2_000 });
    fixture.confirm(fixture.match(own, other, 2_000, 0.4, buy));
    fixture.position(ETH, 0, 0);
    assert.deepEqual(look(fixture), ['part cancelled']);
  });

  test('are cut when the ring takes it again, if it was full (MON-09, AMB-111)', () => {
    const fixture = shrunk();
    fixture.sink.isFull = true;
    assert.deepEqual(look(fixture), []);
    fixture.sink.isFull = false;
    assert.deepEqual(look(fixture), ['large cancelled']);
    assert.deepEqual(look(fixture), []);
  });

  test('end a bounded number a turn, where there are many (MON-09, AMB-111)', () => {
    const fixture = new MarginFixture();
    fixture.settings({ openOrdersMax: 3_000 });
    fixture.spot(USD, 10_000_000);
    fixture.position(ETH, 1_500, -3_000_000);
    for (let at = 0; at < 1_500; at += 1) {
      fixture.place({ id: `r-${at}`, side: sell, quantity: 1, price: 2_300 + at, reduceOnly: true });
    }
    fixture.position(ETH, 0.5, -1_000);
    assert.equal(fixture.manager.margin.reduceOrders(fixture.nowNs), true);
    assert.equal(fixture.obey().length, 1_024);
    assert.equal(fixture.manager.margin.reduceOrders(fixture.nowNs), false);
    const rest = fixture.obey();
    assert.deepEqual([rest.length, rest.includes('r-0 5000')], [476, false], 'the oldest was cut in the first turn');
  });

  test('end when the fill that opened their position is rolled back, not while it is on its way (MON-09, AMB-142)', () => {
    const fixture = new MarginFixture();
    for (const user of [ALICE, BOB]) fixture.spot(USD, 10_000, 1, user);
    const maker = fixture.place({ user: BOB, side: sell, quantity: 1 });
    const taker = fixture.place({ side: buy, quantity: 1 });
    const trade = fixture.match(maker, taker, 2_000, 1, buy);
    fixture.place({ id: 'out', side: sell, quantity: 1, price: 2_100, reduceOnly: true });
    assert.deepEqual(look(fixture), []);
    fixture.rollBack(trade);
    assert.deepEqual(look(fixture), ['out cancelled']);
  });

  test('wait for the decision of what a resting order closed, not of what an arriving one did (MON-09)', () => {
    for (const rested of [true, false]) {
      const fixture = new MarginFixture();
      for (const user of [ALICE, BOB]) fixture.spot(USD, 10_000, 1, user);
      fixture.position(ETH, 1, -2_000);
      fixture.place({ id: 'out', side: sell, quantity: 1, price: 2_100, reduceOnly: true });
      const own = fixture.place({ side: sell, quantity: 0.4 });
      const other = fixture.place({ user: BOB, side: buy, quantity: 0.4 });
      const [maker, taker] = rested ? [own, other] : [other, own];
      const trade = fixture.match(maker, taker, 2_000, 0.4, rested ? buy : sell);
      assert.deepEqual(look(fixture), rested ? [] : ['out 6000']);
      fixture.confirm(trade);
      assert.deepEqual(look(fixture), rested ? ['out 6000'] : []);
    }
  });

  test('are cut as soon as their market has taken them, if the position shrank before (MON-09)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 10_000);
    fixture.position(ETH, 1, -2_000);
    const made = fixture.request({ id: 'early', side: sell, quantity: 1, price: 2_100, reduceOnly: true });
    assert.ok(made.ok);
    fixture.position(ETH, 0.5, -1_000);
    assert.deepEqual(look(fixture), []);
    fixture.admit(made.value.requestId, ETH);
    fixture.manager.margin.reduceOrders(fixture.nowNs);
    assert.deepEqual(
      fixture.sink.reductions.map(({ orderId, total }) => [orderId, total]),
      [['early', 5_000]],
    );
  });

  test('are let be while they wait for a trigger (AMB-28, MON-09)', () => {
    const fixture = new MarginFixture();
    fixture.spot(USD, 1);
    fixture.place({ id: 'stop', side: sell, quantity: 1, reduceOnly: true, above: 200_000 });
    fixture.position(ETH, 0, 0);
    assert.deepEqual(look(fixture), []);
  });
});

function marketOf(asset: string): (typeof MARKETS)[string] & object {
  const market = MARKETS[asset];
  assert.ok(market !== undefined);
  return market;
}
