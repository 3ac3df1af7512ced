// tier: quick
/** A book that is crossed by what came back: after rollbacks (AMB-32) and after a restart (AMB-110). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ROLLBACK_REASON, TIF } from '../../src/core/order-terms.ts';
import { ends, fills, MarketFixture, only } from '../support/market-fixture.ts';
import { BUY, SELL, type Told } from '../support/market-recorder.ts';
import { propertyParameters } from '../support/property.ts';

const { counterpartyAtFault: OTHER, insufficientInventory: OWN, insufficientMargin, staleMatch } = ROLLBACK_REASON;
const IOC = { user: 'thief', tif: TIF.ioc } as const;
const HONEST_ORDERS = 2_000;

/** `m`, two lots at 100, is consumed by a thief; then the bids and asks of `more` come. @returns the fill. */
function consumed(fixture: MarketFixture, words: { postOnly?: boolean } = {}): Told | undefined {
  fixture.sell('m', 2, 100, { user: 'mia', ...words });
  return only(fixture.buy('t', 2, 100, IOC), 'matched')[0];
}

/** Ends of others than those at fault. */
function innocentEnds(told: readonly Told[]): unknown[] {
  return ends(told.filter(([, , , end]) => end !== 'AtFault'));
}

suite('a rollback that crosses the book', () => {
  test('the younger order takes at the older one’s price, as taker (AMB-32 b)', () => {
    const fixture = new MarketFixture();
    const fill = consumed(fixture);
    fixture.buy('bid', 3, 103, { user: 'bob' });
    const told = fixture.rollback(fill, OTHER, OWN);
    assert.deepEqual(only(told, 'matched'), [['matched', 7, 2, 1, 4, 100, 2, BUY, 0]]);
    assert.deepEqual(innocentEnds(told), []);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[[103, 1]], []]);
  });

  test('an order that comes back takes what is older than it, at that price (AMB-32 b)', () => {
    const fixture = new MarketFixture();
    fixture.buy('old', 2, 104, { user: 'bob' });
    const [first] = only(fixture.sell('x', 2, 104, IOC), 'matched');
    fixture.sell('m', 2, 100, { user: 'mia' });
    const [second] = only(fixture.buy('y', 2, 100, IOC), 'matched');
    fixture.rollBackMore(first, OTHER, OWN);
    const told = fixture.rollback(second, OTHER, OWN);
    assert.deepEqual(fills(told), [[1, 4, 104, 2]]);
    assert.deepEqual(only(told, 'matched')[0]?.slice(7), [SELL, 0]);
  });

  test('best prices first, then by priority; every order stays in its place meanwhile (AMB-32)', () => {
    const fixture = new MarketFixture();
    const fill = consumed(fixture);
    fixture.buy('low', 1, 101, { user: 'bob' });
    fixture.buy('first', 1, 102, { user: 'cyd' });
    fixture.buy('second', 1, 102, { user: 'dan' });
    const told = fixture.rollback(fill, OTHER, OWN);
    assert.deepEqual(fills(told), [
      [1, 5, 100, 1],
      [1, 6, 100, 1],
    ]);
    assert.deepEqual(fixture.levels(BUY), [[101, 1]]);
  });

  test('crossing orders of the user at fault go first, with the rollback reason; others of it stay (AMB-32)', () => {
    const fixture = new MarketFixture();
    const fill = consumed(fixture);
    fixture.buy('again', 5, 110, { user: 'thief' });
    fixture.buy('account', 5, 109, { user: 'thief', subAccount: 2 });
    fixture.buy('far', 5, 99, { user: 'thief' });
    const told = fixture.rollback(fill, OTHER, insufficientMargin);
    assert.deepEqual(
      only(told, 'ended').map((word) => word.slice(2, 6)),
      [
        [2, 'AtFault', insufficientMargin, 2],
        [4, 'AtFault', insufficientMargin, 5],
        [5, 'AtFault', insufficientMargin, 5],
      ],
    );
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL), fills(told)], [[[99, 5]], [[100, 2]], []]);
  });

  test('of rollbacks in one go every user at fault counts, for what any of them brings back (AMB-32)', () => {
    const fixture = new MarketFixture();
    const first = consumed(fixture);
    fixture.sell('n', 1, 120, { user: 'mia' });
    const [second] = only(fixture.buy('u', 1, 120, { user: 'crook', tif: TIF.ioc }), 'matched');
    fixture.buy('again', 1, 101, { user: 'crook' });
    fixture.rollBackMore(first, OTHER, OWN);
    const told = fixture.rollback(second, OTHER, insufficientMargin);
    assert.deepEqual([ends(told).at(-1), fills(told)], [[7, 'AtFault', 1], []]);
    assert.deepEqual(fixture.levels(SELL), [
      [100, 2],
      [120, 1],
    ]);
  });

  test('a user at fault in an earlier step keeps orders rested since (AMB-32)', () => {
    const fixture = new MarketFixture();
    fixture.rollback(consumed(fixture), OTHER, OWN);
    const [fill] = only(fixture.buy('u', 2, 100, { user: 'crook', tif: TIF.ioc }), 'matched');
    fixture.buy('again', 2, 101, { user: 'thief' });
    assert.deepEqual(fills(fixture.rollback(fill, OTHER, OWN)), [[1, 8, 100, 2]]);
  });

  test('a post-only younger order is cancelled, a post-only older one is taken (AMB-32, TIF-07)', () => {
    const fixture = new MarketFixture();
    const fill = consumed(fixture, { postOnly: true });
    fixture.buy('post', 1, 102, { user: 'bob', postOnly: true });
    fixture.buy('plain', 1, 101, { user: 'bob' });
    const told = fixture.rollback(fill, OTHER, OWN);
    assert.deepEqual(innocentEnds(told), [[4, 'PostOnlyWouldCross', 1]]);
    assert.deepEqual(fills(told), [[1, 5, 100, 1]]);
  });

  test('two of one owner follow the self-trade switch (AMB-32, STP-03, STP-06)', () => {
    for (const isPrevented of [false, true]) {
      const fixture = new MarketFixture();
      fixture.preventSelfTrades(isPrevented);
      const fill = consumed(fixture);
      fixture.buy('own', 1, 101, { user: 'mia' });
      fixture.buy('account', 1, 100, { user: 'mia', subAccount: 3 });
      const told = fixture.rollback(fill, OTHER, OWN);
      assert.deepEqual(innocentEnds(told), isPrevented ? [[1, 'SelfTradePrevented', 2]] : []);
      assert.deepEqual(
        fills(told),
        isPrevented
          ? []
          : [
              [1, 4, 100, 1],
              [1, 5, 100, 1],
            ],
      );
    }
  });

  test('a post-only younger order that crosses an older foreign one goes, and own ones stay (AMB-32, AMB-38)', () => {
    const fixture = new MarketFixture();
    fixture.preventSelfTrades();
    fixture.sell('own', 1, 100, { user: 'mia' });
    fixture.sell('foreign', 1, 101, { user: 'bob' });
    const taken = only(fixture.buy('t', 2, 101, IOC), 'matched');
    fixture.buy('post', 1, 102, { user: 'mia', postOnly: true });
    for (const fill of taken) fixture.rollBackMore(fill, OTHER, OWN);
    fixture.engine.uncross(Number.POSITIVE_INFINITY);
    const told = fixture.recorder.take();
    assert.deepEqual(ends(told).at(-1), [6, 'PostOnlyWouldCross', 1]);
    assert.deepEqual(fixture.levels(SELL), [
      [100, 1],
      [101, 1],
    ]);
  });

  test('beyond the collar the younger one ends, as if it came now (AMB-32, AMB-39)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 2, 100, { user: 'mia' });
    const [fill] = only(fixture.buy('t', 2, 100, IOC), 'matched');
    fixture.buy('bid', 1, 103, { user: 'bob' });
    fixture.engine.setCollar(1, 99);
    const told = fixture.rollback(fill, OTHER, OWN);
    assert.deepEqual([innocentEnds(told), fills(told)], [[[4, 'ImmediateOrCancel', 1]], []]);
  });

  test('what expired meanwhile and has not gone yet matches nothing (AMB-32 d, ORD-20)', () => {
    const fixture = new MarketFixture({ expiredPerPoll: 1 });
    const fill = consumed(fixture);
    for (const id of ['a', 'b', 'c']) fixture.buy(id, 1, 101, { user: 'bob', tif: TIF.gtd, lifeNs: 1_000n });
    fixture.nowNs += 1_000n;
    const told = fixture.rollback(fill, OTHER, OWN);
    assert.deepEqual(fills(told), []);
    assert.deepEqual(ends(told).filter((end) => (end as unknown[])[1] === 'Expired').length, 3);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[], [[100, 2]]]);
  });

  test('levels are published once, when the book is whole (AMB-32, AMB-98)', () => {
    const fixture = new MarketFixture();
    const fill = consumed(fixture);
    fixture.buy('bid', 1, 103, { user: 'bob' });
    const { length } = fixture.recorder.take();
    assert.equal(length, 0);
    fixture.rollBackMore(fill, OTHER, OWN);
    assert.deepEqual(only(fixture.recorder.take(), 'levelChanged', 'depthCommitted'), []);
    assert.equal(fixture.engine.isUncrossing, true);
    fixture.engine.uncross(Number.POSITIVE_INFINITY);
    assert.deepEqual(
      only(fixture.recorder.take(), 'levelChanged', 'depthCommitted').map(([name]) => name),
      ['levelChanged', 'levelChanged', 'depthCommitted'],
    );
  });

  test('a command that comes before it is uncrossed meets a whole book', () => {
    const fixture = new MarketFixture();
    const fill = consumed(fixture);
    fixture.buy('bid', 1, 103, { user: 'bob' });
    fixture.rollBackMore(fill, OTHER, OWN);
    const told = fixture.buy('u', 5, 100, { user: 'cyd', tif: TIF.ioc });
    assert.deepEqual(fills(told), [
      [1, 4, 100, 1],
      [1, 8, 100, 1],
    ]);
  });

  test('in parts it ends as in one piece, a step at a time (AMB-32, AMB-111)', () => {
    const pieces = [1, 3, Number.POSITIVE_INFINITY].map((budget) => {
      const fixture = new MarketFixture();
      fixture.buy('large', 40, 110, { user: 'mia' });
      const [fill] = only(fixture.sell('t', 40, 110, { ...IOC }), 'matched');
      for (let order = 0; order < 30; order++) fixture.sell(`a${order}`, 1, 100 + (order % 7), { user: 'bob' });
      for (let order = 0; order < 5; order++) fixture.sell(`t${order}`, 1, 101, { user: 'thief' });
      fixture.rollBackMore(fill, OTHER, OWN);
      fixture.recorder.take();
      const told: Told[] = [];
      for (let more = true; more; ) {
        more = fixture.engine.uncross(budget);
        const part = fixture.recorder.take();
        assert.ok(only(part, 'matched', 'ended').length <= budget, 'a part has no more steps than its budget');
        told.push(...part);
      }
      fixture.engine.checkInvariants();
      return told;
    });
    assert.equal(fills(pieces[0] ?? []).length, 30);
    for (const piece of pieces) assert.deepEqual(piece, pieces[0]);
  });

  test('a stale match of two that rest comes back as it was matched, with a new trade (AMB-33)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 1, 100, { user: 'mia' });
    let [fill] = only(fixture.buy('t', 1, 101, { user: 'bob' }), 'matched');
    for (let round = 0; round < 3; round++) [fill] = only(fixture.rollback(fill, staleMatch, staleMatch), 'matched');
    assert.deepEqual(fill?.slice(2, 7), [4, 1, 2, 100, 1]);
  });
});

suite('places in a queue', () => {
  test('whatever comes back in whatever order stands by its priority (AMB-32 a, b)', () => {
    const orders = fc.shuffledSubarray(
      Array.from({ length: 60 }, (_, at) => at),
      { minLength: 60 },
    );
    fc.assert(
      fc.property(orders, fc.integer({ min: 1, max: 59 }), (returning, taken) => {
        const fixture = new MarketFixture();
        for (let at = 0; at < 60; at++) fixture.sell(`o${at}`, 2, 100, { user: 'mia' });
        const [before, after] = [taken * 2, (60 - taken) * 2];
        const matched = only(fixture.buy('t', before, 100, IOC), 'matched');
        for (let at = 0; at < 9; at++) fixture.sell(`p${at}`, 2, 100, { user: 'mia' });
        for (const at of returning) if (matched[at] !== undefined) fixture.rollBackMore(matched[at], OTHER, OWN);
        const told = fixture.buy('u', before + after + 18, 100, { user: 'bob', tif: TIF.ioc });
        const makers = only(told, 'matched').map(([, , , maker]) => maker as number);
        assert.deepEqual(
          makers,
          [...makers].sort((a, b) => a - b),
        );
        assert.equal(makers.length, 69);
      }),
      propertyParameters(60),
    );
  });
});

suite('an attacker whose fills are rolled back again and again', () => {
  test(`costs an honest maker none of ${HONEST_ORDERS} resting orders, nor their places (A3, AMB-32)`, () => {
    const fixture = new MarketFixture();
    for (let at = 0; at < HONEST_ORDERS; at++) fixture.sell(`h${at}`, 1, 100 + Math.floor(at / 100), { user: 'mia' });
    const levels = fixture.levels(SELL);
    for (let round = 0; round < 5; round++) {
      const users = ['thief', 'crook', round % 2 === 0 ? 'rogue' : 'thief'];
      const told = users.flatMap((user, at) => fixture.buy(`r${round}o${at}`, HONEST_ORDERS, 130 - at, { user }));
      let waiting = only(told, 'matched');
      while (waiting.length > 0) {
        for (const fill of waiting) fixture.rollBackMore(fill, OTHER, OWN);
        fixture.engine.uncross(Number.POSITIVE_INFINITY);
        waiting = only(fixture.recorder.take(), 'matched');
      }
      fixture.engine.settled(fixture.engine.lastTradeId);
    }
    fixture.engine.checkInvariants();
    assert.deepEqual([fixture.levels(SELL), fixture.levels(BUY)], [levels, []]);
    const swept = fills(fixture.buy('all', HONEST_ORDERS, 130, { user: 'bob' })) as number[][];
    assert.deepEqual(
      swept.map(([maker]) => maker),
      Array.from({ length: HONEST_ORDERS }, (_, at) => at + 1),
    );
  });
});
