// tier: quick
/** Admission, matching, time in force and expiry. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { RAW_MAX } from '../../src/core/limits.ts';
import { MARKET_STATUS, TIF } from '../../src/core/order-terms.ts';
import { ends, fills, MarketFixture, only } from '../support/market-fixture.ts';
import { BUY, LIFE_NS, newOrder, PLAIN_TERMS, SELL, START_NS } from '../support/market-recorder.ts';

suite('matching', () => {
  test('an order that does not cross rests, and is in the depth (TIF-02, AMB-98)', () => {
    const fixture = new MarketFixture();
    assert.deepEqual(fixture.buy('a', 5, 100), [
      ['accepted', 1, 'ada', 'a', 0],
      ['levelChanged', BUY, 100, 5],
      ['depthCommitted', 1],
    ]);
    assert.deepEqual(fixture.levels(BUY), [[100, 5]]);
  });

  test('the best price first, then first in first out, at the maker’s price (ORD-23, AMB-35)', () => {
    const fixture = new MarketFixture();
    fixture.sell('far', 5, 102);
    fixture.sell('first', 2, 101);
    fixture.sell('second', 2, 101);
    const told = fixture.buy('taker', 6, 102);
    assert.deepEqual(fills(told), [
      [2, 4, 101, 2],
      [3, 4, 101, 2],
      [1, 4, 102, 2],
    ]);
    assert.deepEqual(
      only(told, 'matched').map(([, sequence, tradeId]) => [sequence, tradeId]),
      [
        [5, 1],
        [6, 2],
        [7, 3],
      ],
    );
    assert.deepEqual(fixture.levels(SELL), [[102, 3]]);
  });

  test('one diff per command with the absolute quantity of every level it changed, 0 for gone (AMB-98)', () => {
    const fixture = new MarketFixture();
    fixture.sell('a', 2, 101);
    fixture.sell('b', 2, 102);
    fixture.sell('c', 2, 102);
    assert.deepEqual(only(fixture.buy('t', 5, 103), 'levelChanged', 'depthCommitted'), [
      ['levelChanged', SELL, 101, 0],
      ['levelChanged', SELL, 102, 1],
      ['depthCommitted', 7],
    ]);
  });

  test('what a good-till-cancelled taker does not fill rests at its limit (TIF-02)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 2, 100);
    fixture.buy('t', 5, 101);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[[101, 3]], []]);
  });

  test('an immediate-or-cancel order matches at once and never rests (TIF-01, TIF-03, AMB-16)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 2, 100);
    const told = fixture.buy('t', 5, 100, { tif: TIF.ioc });
    assert.deepEqual([fills(told), ends(told)], [[[1, 2, 100, 2]], [[2, 'ImmediateOrCancel', 3]]]);
    assert.deepEqual(ends(fixture.buy('u', 5, 100, { tif: TIF.ioc })), [[5, 'ImmediateOrCancel', 5]]);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[], []]);
  });

  test('a fill-or-kill order that cannot be filled inside its limit leaves the book untouched (TIF-04, AMB-37)', () => {
    const fixture = new MarketFixture();
    fixture.sell('a', 2, 100);
    fixture.sell('b', 2, 101);
    fixture.sell('c', 2, 102);
    const told = fixture.buy('t', 5, 101, { tif: TIF.fok });
    assert.deepEqual([fills(told), ends(told)], [[], [[4, 'FillOrKill', 5]]]);
    assert.deepEqual(fixture.levels(SELL), [
      [100, 2],
      [101, 2],
      [102, 2],
    ]);
  });

  test('the fills of a fill-or-kill order are one unit, the last one marked (TIF-06, AMB-34)', () => {
    const fixture = new MarketFixture();
    fixture.sell('a', 2, 100);
    fixture.sell('b', 2, 101);
    const told = fixture.buy('t', 3, 101, { tif: TIF.fok });
    assert.deepEqual(
      only(told, 'matched').map((fill) => fill.at(-1)),
      [1, 2],
    );
  });

  test('a post-only order that would take is cancelled: no trade, its id and a sequence used up (TIF-07, AMB-16)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 2, 100);
    assert.deepEqual(fixture.buy('p', 1, 100, { postOnly: true }), [['createRefused', 2, 2, 'WOULD_CROSS']]);
    assert.deepEqual(fixture.buy('p', 1, 99), [['createRefused', 0, 3, 'DUPLICATE_ORDER']]);
    assert.deepEqual(fixture.cancel('p'), [['cancelRefused', 4, 'ALREADY_CANCELLED']]);
    assert.deepEqual(fixture.buy('q', 1, 99, { postOnly: true })[0], ['accepted', 3, 'ada', 'q', 0]);
  });

  test('prices may lie anywhere from 1 to 2^53−1 (AMB-134)', () => {
    const fixture = new MarketFixture();
    for (const [i, price] of [1, 32, 33, 1_000_000, 4_294_967_296, RAW_MAX - 1].entries())
      fixture.buy(`b${i}`, 1, price);
    fixture.sell('s', 1, RAW_MAX);
    assert.deepEqual(
      fixture.levels(BUY).map(([price]) => price),
      [RAW_MAX - 1, 4_294_967_296, 1_000_000, 33, 32, 1],
    );
    assert.deepEqual(fills(fixture.sell('t', 6, 1)).length, 6);
  });

  test('levels come and go by the thousand without a trace', () => {
    const fixture = new MarketFixture({ firstCapacity: 2 });
    for (let i = 0; i < 3_000; i++) fixture.engine.create(sparse(i));
    fixture.engine.checkInvariants();
    assert.equal(fixture.levels(BUY).length, 3_000);
    assert.equal(fixture.levels(BUY)[0]?.[0], 2_999 * 977 + 1);
    assert.equal(fills(fixture.sell('all', 3_000, 1)).length, 3_000);
    assert.deepEqual(fixture.levels(BUY), []);
  });

  test('a level never exceeds 2^53−1: no more fit (AMB-01)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', RAW_MAX - 1, 100);
    assert.deepEqual(fixture.buy('b', 2, 100), [['createRefused', 0, 2, 'INVALID_ORDER']]);
    assert.deepEqual(fixture.buy('b', 1, 100)[0], ['accepted', 2, 'ada', 'b', 0]);
    assert.deepEqual(fixture.replace('b', { quantity: 2, timestampNs: START_NS + 1n }), [
      ['replaceRefused', 4, 'INVALID_ORDER'],
    ]);
  });

  test('outside Active creates and replaces are refused, cancels work (AMB-109)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 1, 100);
    for (const status of [MARKET_STATUS.cancelOnly, MARKET_STATUS.halted]) {
      fixture.setMarket(status);
      assert.equal(fixture.buy('b', 1, 100)[0]?.[3], 'MARKET_HALTED');
      assert.equal(fixture.replace('a', { price: 99, timestampNs: START_NS + 1n })[0]?.[2], 'MARKET_HALTED');
    }
    assert.deepEqual(ends(fixture.cancel('a')), [[1, 'UserRequested', 1]]);
  });
});

suite('expiry', () => {
  test('every order leaves 30 days after its creation, whatever its last replace (ORD-20, AMB-10)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 1, 100);
    fixture.replace('a', { price: 99, timestampNs: START_NS + 1_000n });
    assert.deepEqual(fixture.wait(LIFE_NS - 1n), []);
    assert.deepEqual(ends(fixture.wait(1n)), [[1, 'Expired', 1]]);
    assert.deepEqual(fixture.levels(BUY), []);
  });

  test('a good-till-date order rests until its instant, earliest first (AMB-127)', () => {
    const fixture = new MarketFixture();
    fixture.buy('late', 1, 100, { tif: TIF.gtd, lifeNs: 3_000n });
    fixture.buy('soon', 1, 100, { tif: TIF.gtd, lifeNs: 1_000n });
    fixture.buy('same', 1, 100, { tif: TIF.gtd, lifeNs: 3_000n });
    fixture.buy('stays', 1, 100);
    assert.deepEqual(ends(fixture.wait(5_000n)), [
      [2, 'Expired', 1],
      [1, 'Expired', 1],
      [3, 'Expired', 1],
    ]);
    assert.deepEqual(fixture.levels(BUY), [[100, 1]]);
  });

  test('expiry is looked at again before a match (AMB-10)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 1, 100, { tif: TIF.gtd, lifeNs: 1_000n });
    fixture.nowNs += 1_000n;
    const told = fixture.buy('t', 1, 100);
    assert.deepEqual([ends(told), fills(told)], [[[1, 'Expired', 1]], []]);
  });

  test('a market that holds as many orders as it can refuses one more, until one has left it (AMB-08)', () => {
    const fixture = new MarketFixture({ ordersMax: 3 });
    fixture.buy('rests', 1, 100);
    fixture.buy('waits', 1, 100, { above: 200 });
    fixture.sell('taker', 1, 100, { user: 'bob', tif: TIF.ioc });
    assert.equal(fixture.engine.lastTradeId, 1);
    assert.deepEqual(fixture.sell('more', 1, 101, { user: 'bob' }), [['createRefused', 0, 4, 'INVALID_ORDER']]);
    assert.deepEqual(fixture.sell('more', 1, 100, { user: 'bob', tif: TIF.ioc })[0]?.[3], 'INVALID_ORDER');
    fixture.settleAll();
    assert.equal(fixture.sell('more', 1, 101, { user: 'bob' })[0]?.[0], 'accepted', 'its id was not taken');
    assert.equal(fixture.buy('most', 1, 99)[0]?.[0], 'accepted');
    assert.equal(fixture.buy('too many', 1, 99)[0]?.[3], 'INVALID_ORDER');
    fixture.cancel('waits');
    assert.equal(fixture.buy('too many', 1, 99)[0]?.[0], 'accepted');
  });

  test('a full market whose orders end in crowds takes no more memory than one whose orders end one by one (AMB-08)', () => {
    const fixture = new MarketFixture({ ordersMax: 15, firstCapacity: 16 });
    let next = 0;
    const live: string[] = [];
    const fill = (): void => {
      while (fixture.buy(`id ${next}`, 1, 100)[0]?.[0] === 'accepted') live.push(`id ${next++}`);
    };
    const cancelOldest = (): string => {
      const id = live.shift() ?? assert.fail('somebody rests');
      fixture.cancel(id);
      return id;
    };
    // As many ids as the tables of ids can still take.
    while (next < 800) {
      fill();
      const refused = fixture.cancel(cancelOldest());
      assert.equal(refused[0]?.[0], 'cancelRefused', 'who asks for an id that was in use has it written down');
    }
    const { bytes } = fixture.engine;
    for (let round = 0; next < 1_050; round++) {
      if (round % 7 === 0) {
        fixture.cancelAll();
        live.length = 0;
      } else for (let count = 0; count < 1 + (round % 5); count++) cancelOldest();
      fill();
    }
    assert.equal(fixture.engine.bytes, bytes);
  });

  test('an order that is over when it arrives is refused (ORD-20)', () => {
    const fixture = new MarketFixture();
    assert.equal(fixture.buy('a', 1, 100, { creationNs: START_NS - LIFE_NS })[0]?.[3], 'ORDER_EXPIRED');
  });
});

function sparse(i: number): Parameters<MarketFixture['engine']['create']>[0] {
  const times = { receivedNs: START_NS, creationNs: START_NS, expiryNs: START_NS + LIFE_NS };
  const price = ((i * 1_231) % 3_000) * 977 + 1;
  return newOrder({
    ...PLAIN_TERMS,
    ...times,
    user: 'ada',
    orderId: `sparse-${i}`,
    requestId: i,
    side: BUY,
    price,
    quantity: 1,
  });
}
