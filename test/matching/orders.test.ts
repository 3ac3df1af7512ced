/** Admission, matching, time in force and expiry. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { RAW_MAX } from '../../src/core/limits.ts';
import { MARKET_STATUS, TIF } from '../../src/core/order-terms.ts';
import { ends, fills, MarketDesk, only } from '../support/market-desk.ts';
import { BUY, LIFE_NS, newOrder, PLAIN_TERMS, SELL, START_NS } from '../support/market-recorder.ts';

suite('matching', () => {
  test('an order that does not cross rests, and is in the depth (TIF-02, AMB-98)', () => {
    const desk = new MarketDesk();
    assert.deepEqual(desk.buy('a', 5, 100), [
      ['accepted', 1, 'ada', 'a', 0],
      ['levelChanged', BUY, 100, 5],
      ['depthCommitted', 1],
    ]);
    assert.deepEqual(desk.levels(BUY), [[100, 5]]);
  });

  test('the best price first, then first in first out, at the maker’s price (ORD-23, AMB-35)', () => {
    const desk = new MarketDesk();
    desk.sell('far', 5, 102);
    desk.sell('first', 2, 101);
    desk.sell('second', 2, 101);
    const told = desk.buy('taker', 6, 102);
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
    assert.deepEqual(desk.levels(SELL), [[102, 3]]);
  });

  test('one diff per command with the absolute quantity of every level it changed, 0 for gone (AMB-98)', () => {
    const desk = new MarketDesk();
    desk.sell('a', 2, 101);
    desk.sell('b', 2, 102);
    desk.sell('c', 2, 102);
    assert.deepEqual(only(desk.buy('t', 5, 103), 'levelChanged', 'depthCommitted'), [
      ['levelChanged', SELL, 101, 0],
      ['levelChanged', SELL, 102, 1],
      ['depthCommitted', 7],
    ]);
  });

  test('what a good-till-cancelled taker does not fill rests at its limit (TIF-02)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 2, 100);
    desk.buy('t', 5, 101);
    assert.deepEqual([desk.levels(BUY), desk.levels(SELL)], [[[101, 3]], []]);
  });

  test('an immediate-or-cancel order matches at once and never rests (TIF-01, TIF-03, AMB-16)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 2, 100);
    const told = desk.buy('t', 5, 100, { tif: TIF.ioc });
    assert.deepEqual([fills(told), ends(told)], [[[1, 2, 100, 2]], [[2, 'ImmediateOrCancel', 3]]]);
    assert.deepEqual(ends(desk.buy('u', 5, 100, { tif: TIF.ioc })), [[5, 'ImmediateOrCancel', 5]]);
    assert.deepEqual([desk.levels(BUY), desk.levels(SELL)], [[], []]);
  });

  test('a fill-or-kill order that cannot be filled inside its limit leaves the book untouched (TIF-04, AMB-37)', () => {
    const desk = new MarketDesk();
    desk.sell('a', 2, 100);
    desk.sell('b', 2, 101);
    desk.sell('c', 2, 102);
    const told = desk.buy('t', 5, 101, { tif: TIF.fok });
    assert.deepEqual([fills(told), ends(told)], [[], [[4, 'FillOrKill', 5]]]);
    assert.deepEqual(desk.levels(SELL), [
      [100, 2],
      [101, 2],
      [102, 2],
    ]);
  });

  test('the fills of a fill-or-kill order are one unit, the last one marked (TIF-06, AMB-34)', () => {
    const desk = new MarketDesk();
    desk.sell('a', 2, 100);
    desk.sell('b', 2, 101);
    const told = desk.buy('t', 3, 101, { tif: TIF.fok });
    assert.deepEqual(
      only(told, 'matched').map((fill) => fill.at(-1)),
      [1, 2],
    );
  });

  test('a post-only order that would take is cancelled: no trade, its id and a sequence used up (TIF-07, AMB-16)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 2, 100);
    assert.deepEqual(desk.buy('p', 1, 100, { postOnly: true }), [['createRefused', 2, 2, 'WOULD_CROSS']]);
    assert.deepEqual(desk.buy('p', 1, 99), [['createRefused', 0, 3, 'DUPLICATE_ORDER']]);
    assert.deepEqual(desk.cancel('p'), [['cancelRefused', 4, 'ALREADY_CANCELLED']]);
    assert.deepEqual(desk.buy('q', 1, 99, { postOnly: true })[0], ['accepted', 3, 'ada', 'q', 0]);
  });

  test('prices may lie anywhere from 1 to 2^53−1 (AMB-134)', () => {
    const desk = new MarketDesk();
    for (const [i, price] of [1, 32, 33, 1_000_000, 4_294_967_296, RAW_MAX - 1].entries()) desk.buy(`b${i}`, 1, price);
    desk.sell('s', 1, RAW_MAX);
    assert.deepEqual(
      desk.levels(BUY).map(([price]) => price),
      [RAW_MAX - 1, 4_294_967_296, 1_000_000, 33, 32, 1],
    );
    assert.deepEqual(fills(desk.sell('t', 6, 1)).length, 6);
  });

  test('levels come and go by the thousand without a trace', () => {
    const desk = new MarketDesk({ firstCapacity: 2 });
    for (let i = 0; i < 3_000; i++) desk.engine.create(sparse(i));
    desk.engine.checkInvariants();
    assert.equal(desk.levels(BUY).length, 3_000);
    assert.equal(desk.levels(BUY)[0]?.[0], 2_999 * 977 + 1);
    assert.equal(fills(desk.sell('all', 3_000, 1)).length, 3_000);
    assert.deepEqual(desk.levels(BUY), []);
  });

  test('a level never exceeds 2^53−1: no more fit (AMB-01)', () => {
    const desk = new MarketDesk();
    desk.buy('a', RAW_MAX - 1, 100);
    assert.deepEqual(desk.buy('b', 2, 100), [['createRefused', 0, 2, 'INVALID_ORDER']]);
    assert.deepEqual(desk.buy('b', 1, 100)[0], ['accepted', 2, 'ada', 'b', 0]);
    assert.deepEqual(desk.replace('b', { quantity: 2, timestampNs: START_NS + 1n }), [
      ['replaceRefused', 4, 'INVALID_ORDER'],
    ]);
  });

  test('outside Active creates and replaces are refused, cancels work (AMB-109)', () => {
    const desk = new MarketDesk();
    desk.buy('a', 1, 100);
    for (const status of [MARKET_STATUS.cancelOnly, MARKET_STATUS.halted]) {
      desk.setMarket(status);
      assert.equal(desk.buy('b', 1, 100)[0]?.[3], 'MARKET_HALTED');
      assert.equal(desk.replace('a', { price: 99, timestampNs: START_NS + 1n })[0]?.[2], 'MARKET_HALTED');
    }
    assert.deepEqual(ends(desk.cancel('a')), [[1, 'UserRequested', 1]]);
  });
});

suite('expiry', () => {
  test('every order leaves 30 days after its creation, whatever its last replace (ORD-20, AMB-10)', () => {
    const desk = new MarketDesk();
    desk.buy('a', 1, 100);
    desk.replace('a', { price: 99, timestampNs: START_NS + 1_000n });
    assert.deepEqual(desk.wait(LIFE_NS - 1n), []);
    assert.deepEqual(ends(desk.wait(1n)), [[1, 'Expired', 1]]);
    assert.deepEqual(desk.levels(BUY), []);
  });

  test('a good-till-date order rests until its instant, earliest first (AMB-127)', () => {
    const desk = new MarketDesk();
    desk.buy('late', 1, 100, { tif: TIF.gtd, lifeNs: 3_000n });
    desk.buy('soon', 1, 100, { tif: TIF.gtd, lifeNs: 1_000n });
    desk.buy('same', 1, 100, { tif: TIF.gtd, lifeNs: 3_000n });
    desk.buy('stays', 1, 100);
    assert.deepEqual(ends(desk.wait(5_000n)), [
      [2, 'Expired', 1],
      [1, 'Expired', 1],
      [3, 'Expired', 1],
    ]);
    assert.deepEqual(desk.levels(BUY), [[100, 1]]);
  });

  test('expiry is looked at again before a match (AMB-10)', () => {
    const desk = new MarketDesk();
    desk.sell('m', 1, 100, { tif: TIF.gtd, lifeNs: 1_000n });
    desk.nowNs += 1_000n;
    const told = desk.buy('t', 1, 100);
    assert.deepEqual([ends(told), fills(told)], [[[1, 'Expired', 1]], []]);
  });

  test('a market that holds as many orders as it can refuses one more, until one has left it (AMB-08)', () => {
    const desk = new MarketDesk({ ordersMax: 3 });
    desk.buy('rests', 1, 100);
    desk.buy('waits', 1, 100, { above: 200 });
    desk.sell('taker', 1, 100, { user: 'bob', tif: TIF.ioc });
    assert.equal(desk.engine.lastTradeId, 1);
    assert.deepEqual(desk.sell('more', 1, 101, { user: 'bob' }), [['createRefused', 0, 4, 'INVALID_ORDER']]);
    assert.deepEqual(desk.sell('more', 1, 100, { user: 'bob', tif: TIF.ioc })[0]?.[3], 'INVALID_ORDER');
    desk.settleAll();
    assert.equal(desk.sell('more', 1, 101, { user: 'bob' })[0]?.[0], 'accepted', 'its id was not taken');
    assert.equal(desk.buy('most', 1, 99)[0]?.[0], 'accepted');
    assert.equal(desk.buy('too many', 1, 99)[0]?.[3], 'INVALID_ORDER');
    desk.cancel('waits');
    assert.equal(desk.buy('too many', 1, 99)[0]?.[0], 'accepted');
  });

  test('a full market whose orders end in crowds takes no more memory than one whose orders end one by one (AMB-08)', () => {
    const desk = new MarketDesk({ ordersMax: 15, firstCapacity: 16 });
    let next = 0;
    const live: string[] = [];
    const fill = (): void => {
      while (desk.buy(`id ${next}`, 1, 100)[0]?.[0] === 'accepted') live.push(`id ${next++}`);
    };
    const cancelOldest = (): string => {
      const id = live.shift() ?? assert.fail('somebody rests');
      desk.cancel(id);
      return id;
    };
    // As many ids as the tables of ids can still take.
    while (next < 800) {
      fill();
      const refused = desk.cancel(cancelOldest());
      assert.equal(refused[0]?.[0], 'cancelRefused', 'who asks for an id that was in use has it written down');
    }
    const { bytes } = desk.engine;
    for (let round = 0; next < 1_050; round++) {
      if (round % 7 === 0) {
        desk.cancelAll();
        live.length = 0;
      } else for (let count = 0; count < 1 + (round % 5); count++) cancelOldest();
      fill();
    }
    assert.equal(desk.engine.bytes, bytes);
  });

  test('an order that is over when it arrives is refused (ORD-20)', () => {
    const desk = new MarketDesk();
    assert.equal(desk.buy('a', 1, 100, { creationNs: START_NS - LIFE_NS })[0]?.[3], 'ORDER_EXPIRED');
  });
});

function sparse(i: number): Parameters<MarketDesk['engine']['create']>[0] {
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
