// tier: quick
/**
 * The room of reduce-only orders at their market (MON-09): what takes is cut to the room to take, what rests to the room to rest,
 * before anything matches; a release and a replace like a create.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MARKET_STATUS, SIDE, TIF } from '../../src/core/order-terms.ts';
import { ends, fills, LAST_PRICE, MarketFixture, names, only, releases, tradeAt } from '../support/market-fixture.ts';
import type { Told } from '../support/market-recorder.ts';
import { SeededRandom } from '../support/simulation.ts';

const room = (roomToTake: number, roomToRest: number) => ({ roomToTake, roomToRest });

/** `replaced` events as [order, total]. */
function cuts(told: readonly Told[]): unknown[] {
  return only(told, 'replaced').map((event) => [event[2], event[5]]);
}

suite('a create of a reduce-only order', () => {
  test('within its room is an order like any other (MON-09)', () => {
    const fixture = new MarketFixture();
    assert.deepEqual(names(fixture.sell('a', 5, 110, { reduceOnly: room(5, 5) })), ['accepted']);
    assert.deepEqual(fixture.levels(SIDE.sell), [[110, 5]]);
  });

  test('that rests is accepted with what was signed, then replaced with its room (MON-09)', () => {
    const fixture = new MarketFixture();
    const told = fixture.sell('a', 5, 110, { reduceOnly: room(4, 3) });
    assert.deepEqual(names(told), ['accepted', 'replaced']);
    assert.deepEqual([cuts(told), fixture.levels(SIDE.sell)], [[[1, 3]], [[110, 3]]]);
  });

  test('that crosses takes up to the room to take, whatever older ones rest with (MON-09)', () => {
    const fixture = new MarketFixture();
    fixture.buy('m', 9, 100, { user: 'bob' });
    const told = fixture.sell('a', 8, 100, { reduceOnly: room(4, 0) });
    assert.deepEqual(names(told), ['accepted', 'replaced', 'matched']);
    assert.deepEqual([cuts(told), fills(told)], [[[2, 4]], [[1, 2, 100, 4]]]);
    assert.deepEqual([fixture.levels(SIDE.sell), fixture.levels(SIDE.buy)], [[], [[100, 5]]]);
  });

  test('that crosses less than it has room for rests with the rest of its room (MON-09)', () => {
    const fixture = new MarketFixture();
    fixture.buy('m', 2, 100, { user: 'bob' });
    const told = fixture.sell('a', 8, 100, { reduceOnly: room(6, 5) });
    assert.deepEqual([cuts(told), fixture.levels(SIDE.sell)], [[[2, 5]], [[100, 3]]]);
  });

  test('without room to rest is refused where it would match nothing, and takes no id and no sequence (MON-09)', () => {
    const fixture = new MarketFixture();
    fixture.buy('m', 2, 100, { user: 'bob' });
    for (const [price, postOnly, toTake] of [
      [101, false, 6],
      [100, true, 6],
      [100, false, 0],
    ] as const) {
      const told = fixture.sell('a', 8, price, { reduceOnly: room(toTake, 0), postOnly });
      assert.deepEqual(
        told.map(([name, sequence, , code]) => [name, sequence, code]),
        [['createRefused', 0, 'REDUCE_ONLY_WOULD_INCREASE']],
      );
    }
    assert.deepEqual(names(fixture.sell('a', 1, 101)), ['accepted'], 'the id is free');
  });

  test('that meets only orders of its owner ends where those are cancelled instead (MON-09, STP-03)', () => {
    const fixture = new MarketFixture();
    fixture.preventSelfTrades();
    fixture.buy('own', 2, 100);
    const told = fixture.sell('a', 8, 100, { reduceOnly: room(6, 0) });
    assert.deepEqual(ends(told), [[2, 'ReduceOnly', 8]]);
    assert.deepEqual(fixture.levels(SIDE.buy), [[100, 2]], 'nothing of its owner is cancelled for it');
  });

  test('sized in quote has its room as base cap, and no quantity that could be replaced (MON-09)', () => {
    const fixture = new MarketFixture();
    fixture.buy('m', 9, 100, { user: 'bob' });
    const told = fixture.marketSell('a', { quote: 900, reduceOnly: room(4, 0) });
    assert.deepEqual(names(told), ['accepted', 'matched', 'ended']);
    assert.deepEqual(fills(told), [[1, 2, 100, 4]]);
  });

  test('that is no reduce-only order has no room to keep to (MON-09)', () => {
    const fixture = new MarketFixture();
    fixture.sell('a', 5, 110);
    assert.deepEqual(fixture.levels(SIDE.sell), [[110, 5]]);
  });
});

suite('a release of a reduce-only order', () => {
  function fired(fixture: MarketFixture, order: (fixture: MarketFixture) => void): void {
    order(fixture);
    tradeAt(fixture);
    fixture.settleAll();
    fixture.poll();
  }

  test('is cut to the position: half of a stop is left after half was sold (MON-09)', () => {
    for (const shape of [{ tif: TIF.ioc }, { tif: TIF.gtc }]) {
      const fixture = new MarketFixture();
      fixture.buy('m', 9, 90, { user: 'bob' });
      fired(fixture, (at) => at.sell('stop', 10, 90, { below: LAST_PRICE, reduceOnly: room(0, 0), ...shape }));
      fixture.release(2, 10, 0, { room: room(5, 5) });
      const told = fixture.poll();
      assert.deepEqual(names(told), ['replaced', 'activated', 'matched']);
      assert.deepEqual([cuts(told), fills(told)], [[[2, 5]], [[1, 2, 90, 5]]]);
    }
  });

  test('at the market is cut too, and one in quote capped (MON-09)', () => {
    const fixture = new MarketFixture();
    fixture.buy('m', 30, 90, { user: 'bob' });
    fired(fixture, (at) => at.marketSell('base', { lots: 10, below: LAST_PRICE, reduceOnly: room(0, 0) }));
    fixture.release(2, 10, 0, { room: room(5, 0) });
    assert.deepEqual(fills(fixture.poll()), [[1, 2, 90, 5]]);
    const order = fixture.engine.sequence + 1;
    fired(fixture, (at) => at.marketSell('quote', { quote: 9_000, below: LAST_PRICE, reduceOnly: room(0, 0) }));
    fixture.release(order, 0, 0, { room: room(3, 0) });
    assert.deepEqual(fills(fixture.poll()), [[1, order, 90, 3]]);
  });

  test('ends where nothing crosses and older ones have the position (MON-09)', () => {
    const fixture = new MarketFixture();
    fired(fixture, (at) => at.sell('stop', 10, 120, { below: LAST_PRICE, reduceOnly: room(0, 0) }));
    fixture.release(1, 10, 0, { room: room(5, 0) });
    assert.deepEqual(ends(fixture.poll()), [[1, 'ReduceOnly', 10]]);
  });
});

suite('activations of a reduce-only child', () => {
  /** A parent that sells, and a child that buys as the parent fills; above and released at once. */
  function family(fixture: MarketFixture, tif: number): void {
    fixture.sell('parent', 10, 100);
    fixture.buy('child', 10, 90, { parent: 'parent', above: 1, tif: tif as never, reduceOnly: room(0, 0) });
  }

  function fill(fixture: MarketFixture, lots: number): void {
    fixture.buy(`f-${fixture.engine.sequence}`, lots, 100, { user: 'bob' });
    fixture.settleAll();
    fixture.poll();
  }

  test('are cut each by itself: what was cut is off the total, what comes later is judged anew (MON-09, AMB-29)', () => {
    const fixture = new MarketFixture();
    family(fixture, TIF.gtc);
    fill(fixture, 4);
    fixture.release(2, 4, 0, { room: room(3, 3) });
    const first = fixture.poll();
    assert.deepEqual([cuts(first), releases(first)], [[[2, 9]], [['activated', 2, 3]]]);
    fill(fixture, 2);
    fixture.release(2, 5, 0, { room: room(9, 4) });
    const second = fixture.poll();
    assert.deepEqual([cuts(second), releases(second)], [[[2, 8]], [['activated', 2, 4]]]);
    fill(fixture, 4);
    fixture.release(2, 8, 0, { room: room(9, 9) });
    assert.deepEqual(releases(fixture.poll()), [['activated', 2, 8]]);
    assert.deepEqual(fixture.levels(SIDE.buy), [[90, 8]]);
  });

  test('without room leave what rests, and end a child of which nothing rests (MON-09)', () => {
    const fixture = new MarketFixture();
    family(fixture, TIF.gtc);
    fill(fixture, 4);
    fixture.release(2, 4, 0, { room: room(4, 4) });
    fixture.poll();
    fill(fixture, 2);
    fixture.release(2, 6, 0, { room: room(4, 4) });
    const told = fixture.poll();
    assert.deepEqual([names(told), cuts(told)], [['replaced'], [[2, 8]]]);
    assert.deepEqual(fixture.levels(SIDE.buy), [[90, 4]]);
    const other = new MarketFixture();
    family(other, TIF.gtc);
    fill(other, 4);
    other.release(2, 4, 0, { room: room(0, 0) });
    assert.deepEqual(ends(other.poll()), [[2, 'ReduceOnly', 10]]);
  });

  test('of one that never rests match their room and drop the rest (MON-09, AMB-29)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 9, 90, { user: 'eve', subAccount: 1 });
    fixture.sell('parent', 10, 80);
    fixture.buy('child', 10, 90, { parent: 'parent', above: 1, tif: TIF.ioc, reduceOnly: room(0, 0) });
    fixture.buy('f', 6, 80, { user: 'bob' });
    fixture.settleAll();
    fixture.poll();
    fixture.release(3, 6, 0, { room: room(2, 0) });
    assert.equal(fills(fixture.poll()).length, 1);
    assert.deepEqual(cutsOf(fixture, 3), []);
  });

  function cutsOf(fixture: MarketFixture, order: number): unknown[] {
    return cuts(fixture.recorder.take()).filter((cut) => (cut as number[])[0] === order);
  }

  test('a cut by the node takes lots that rest off it, and more of it may come (MON-09)', () => {
    const fixture = new MarketFixture();
    family(fixture, TIF.gtc);
    fill(fixture, 4);
    fixture.release(2, 4);
    fixture.poll();
    const told = fixture.replace('child', { quantity: 7, isNodeMade: true });
    assert.deepEqual([names(told), cuts(told)], [['activated', 'replaced'], [[2, 7]]]);
    assert.deepEqual(fixture.levels(SIDE.buy), [[90, 1]]);
    fill(fixture, 6);
    fixture.release(2, 7);
    assert.deepEqual(releases(fixture.poll()), [['activated', 2, 7]]);
    assert.deepEqual(fixture.levels(SIDE.buy), [[90, 7]]);
  });
});

suite('a replace of a reduce-only order', () => {
  test('by the node is applied in a market that takes no orders, as a cancel is (MON-09, AMB-109)', () => {
    for (const status of [MARKET_STATUS.cancelOnly, MARKET_STATUS.halted]) {
      const fixture = new MarketFixture();
      fixture.sell('a', 5, 110, { reduceOnly: room(5, 5) });
      fixture.setMarket(status);
      assert.deepEqual(cuts(fixture.replace('a', { quantity: 3, isNodeMade: true })), [[1, 3]]);
      assert.deepEqual(fixture.levels(SIDE.sell), [[110, 3]]);
    }
  });

  test('is cut to its room, keeps its place where the price stays, and is refused without any (MON-09)', () => {
    const fixture = new MarketFixture();
    fixture.sell('a', 5, 110, { reduceOnly: room(5, 5) });
    fixture.sell('b', 5, 110, { user: 'bob' });
    fixture.wait(1n);
    const told = fixture.replace('a', { quantity: 9, room: room(8, 4) });
    assert.deepEqual([cuts(told), fixture.levels(SIDE.sell)], [[[1, 4]], [[110, 9]]]);
    assert.deepEqual(fills(fixture.buy('t', 1, 110, { user: 'eve' })), [[1, 4, 110, 1]], 'it keeps its place');
    fixture.wait(1n);
    const refused = fixture.replace('a', { price: 105, room: room(8, 0) });
    assert.deepEqual(
      refused.map(([name]) => name),
      ['replaceRefused'],
    );
    assert.deepEqual(fixture.levels(SIDE.sell), [[110, 8]]);
  });

  test('to a price that crosses takes up to the room to take (MON-09)', () => {
    const fixture = new MarketFixture();
    fixture.buy('m', 9, 100, { user: 'bob' });
    fixture.sell('a', 5, 110, { reduceOnly: room(5, 5) });
    fixture.wait(1n);
    const told = fixture.replace('a', { price: 100, quantity: 8, room: room(4, 0) });
    assert.deepEqual([cuts(told), fills(told)], [[[2, 4]], [[1, 2, 100, 4]]]);
  });
});

test('however orders come, none is filled or rests beyond its room (MON-09)', () => {
  const random = new SeededRandom(9);
  for (let run = 0; run < 300; run += 1) {
    const fixture = new MarketFixture();
    for (let at = 0; at < random.below(6); at += 1) {
      fixture.buy(`m-${at}`, 1 + random.below(6), 95 + random.below(10), {
        user: random.below(4) === 0 ? 'ada' : 'bob',
      });
    }
    if (random.below(2) === 0) fixture.preventSelfTrades();
    const [signed, toTake] = [1 + random.below(12), random.below(10)];
    const toRest = random.below(toTake + 1);
    const tif = [TIF.gtc, TIF.gtc, TIF.ioc, TIF.fok][random.below(4)] ?? TIF.gtc;
    const price = 95 + random.below(10);
    const told = fixture.sell('a', signed, price, { reduceOnly: room(toTake, toRest), tif });
    const taken = (fills(told) as number[][]).reduce((sum, fill) => sum + (fill[3] ?? 0), 0);
    const [[, rests] = [0, 0]] = fixture.levels(SIDE.sell);
    assert.ok(taken <= toTake, 'what it took');
    assert.ok(rests <= Math.max(0, toRest - taken), 'what rests, after what it took');
    if (rests > 0) assert.equal(taken + rests, Math.max(taken, Math.min(signed, toRest)));
  }
});
