// tier: quick
/** Market orders: sized in base or in quote, caps, budgets, fill-or-kill, the collar. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { RAW_MAX } from '../../src/core/limits.ts';
import { ROLLBACK_REASON, TIF } from '../../src/core/order-terms.ts';
import { ends, fills, MarketFixture, only } from '../support/market-fixture.ts';
import { BUY, SELL, type Told } from '../support/market-recorder.ts';

const { counterpartyAtFault: OTHER, insufficientInventory: OWN } = ROLLBACK_REASON;

/** Fills and ends among the events of a command. */
function outcome(told: readonly Told[]): unknown[] {
  return [...fills(told).map((fill) => (fill as number[]).slice(2)), ...ends(told).map((end) => (end as unknown[])[1])];
}

/** Sells of 2 at 100, 101 and 102. */
function asks(fixture: MarketFixture = new MarketFixture()): MarketFixture {
  for (const price of [100, 101, 102]) fixture.sell(`ask-${price}`, 2, price, { user: 'bob' });
  return fixture;
}

/** Buys of 2 at 100, 99 and 98. */
function bids(fixture: MarketFixture = new MarketFixture()): MarketFixture {
  for (const price of [100, 99, 98]) fixture.buy(`bid-${price}`, 2, price, { user: 'bob' });
  return fixture;
}

suite('market orders', () => {
  test('sized in base it takes its lots at whatever price, and a fill of all of them is all that is told (ORD-14)', () => {
    const fixture = asks();
    assert.deepEqual(outcome(fixture.marketBuy('t', { lots: 3 })), [
      [100, 2],
      [101, 1],
    ]);
    assert.deepEqual(fixture.levels(SELL), [
      [101, 1],
      [102, 2],
    ]);
    assert.deepEqual(outcome(bids().marketSell('t', { lots: 3 })), [
      [100, 2],
      [99, 1],
    ]);
  });

  test('it never rests: what the book does not give is gone (ORD-21, TIF-03)', () => {
    const fixture = asks();
    const told = fixture.marketBuy('t', { lots: 7 });
    assert.deepEqual(ends(told), [[4, 'ImmediateOrCancel', 1]]);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[], []]);
    assert.deepEqual(ends(fixture.marketBuy('u', { lots: 7 })), [[9, 'ImmediateOrCancel', 7]]);
  });

  test('sized in quote it takes floor(what is left / price) lots at each level (ORD-14, ORD-22, AMB-39)', () => {
    const fixture = asks();
    const told = fixture.marketBuy('t', { quote: 350 });
    assert.deepEqual(outcome(told), [[100, 2], [101, 1], 'Filled']);
    assert.deepEqual(ends(told), [[4, 'Filled', 0]], 'a quote-sized order without a cap has no remainder');
    assert.deepEqual(outcome(bids().marketSell('t', { quote: 350 })), [[100, 2], [99, 1], 'Filled']);
  });

  test('EX-15: 5000 buys 2.492 or 2.49253731, and ends as filled (ORD-22, AMB-05, AMB-37, AMB-128)', () => {
    for (const [decimals, second] of [
      [3, 1_492],
      [8, 149_253_731],
    ] as const) {
      const one = 10 ** decimals;
      const fixture = new MarketFixture({ priceDecimals: 2 });
      fixture.sell('a', one, 200_000, { user: 'bob' });
      fixture.sell('b', 2 * one, 201_000, { user: 'bob' });
      assert.deepEqual(outcome(fixture.marketBuy('t', { quote: 5_000 * one })), [
        [200_000, one],
        [201_000, second],
        'Filled',
      ]);
    }
  });

  test('a quote cap stops a base-sized buy, which is then complete (ORD-15, TIF-05, AMB-37)', () => {
    const told = asks().marketBuy('t', { lots: 5, quote: 302 });
    assert.deepEqual(outcome(told), [[100, 2], [101, 1], 'Filled']);
    assert.deepEqual(ends(told), [[4, 'Filled', 2]]);
    assert.deepEqual(outcome(asks().marketBuy('t', { lots: 2, quote: 302 })), [[100, 2]], 'its lots came first');
  });

  test('a base cap stops a quote-sized sell, which is then complete (ORD-16, TIF-05)', () => {
    const told = bids().marketSell('t', { quote: 1_000, lots: 3 });
    assert.deepEqual([outcome(told), ends(told)], [[[100, 2], [99, 1], 'Filled'], [[4, 'Filled', 0]]]);
    const short = bids().marketSell('t', { quote: 250, lots: 5 });
    assert.deepEqual(ends(short), [[4, 'Filled', 3]], 'the remainder is told of the cap');
  });

  test('a target that the book runs out under is not met, one that it meets exactly is (AMB-37)', () => {
    assert.deepEqual(outcome(asks().marketBuy('t', { quote: 607 })).at(-1), 'ImmediateOrCancel');
    assert.deepEqual(outcome(asks().marketBuy('t', { quote: 606 })).at(-1), 'Filled');
  });

  test('an order that gets no lot has met nothing (AMB-128)', () => {
    const fixture = asks();
    assert.deepEqual(outcome(fixture.marketBuy('t', { quote: 99 })), ['ImmediateOrCancel']);
    assert.deepEqual(outcome(fixture.marketBuy('u', { lots: 1, quote: 99 })), ['ImmediateOrCancel']);
    assert.deepEqual(outcome(fixture.marketBuy('v', { quote: 99, tif: TIF.fok })), ['FillOrKill']);
  });

  test('a budget that is used up completes nothing (AMB-39)', () => {
    assert.deepEqual(outcome(asks().marketBuy('t', { lots: 5, budget: 302 })), [
      [100, 2],
      [101, 1],
      'ImmediateOrCancel',
    ]);
    assert.deepEqual(outcome(bids().marketSell('t', { quote: 1_000, budget: 3 })), [
      [100, 2],
      [99, 1],
      'ImmediateOrCancel',
    ]);
    assert.deepEqual(outcome(asks().marketBuy('t', { lots: 5, budget: 302, tif: TIF.fok })), ['FillOrKill']);
    assert.deepEqual(outcome(asks().marketBuy('t', { lots: 3, budget: 301 })), [
      [100, 2],
      [101, 1],
    ]);
  });

  test('money is exact where price × quantity leaves the safe integers (AMB-01, AMB-05)', () => {
    const fixture = new MarketFixture({ priceDecimals: 9 });
    const price = 9_000_000_000_000_000;
    fixture.sell('m', 2_000_000_000, price, { user: 'bob' });
    // 9,000,000 for each lot; one quote unit less buys one lot less.
    assert.deepEqual(outcome(fixture.marketBuy('t', { quote: 9_000_000 * 7 })), [[price, 7], 'Filled']);
    assert.deepEqual(outcome(fixture.marketBuy('u', { quote: 9_000_000 * 7 - 1 })), [[price, 6], 'Filled']);
    assert.deepEqual(outcome(fixture.marketBuy('v', { lots: RAW_MAX, quote: RAW_MAX })).at(-1), 'Filled');
  });
});

suite('fill-or-kill market orders', () => {
  const fok = { tif: TIF.fok };

  test('lots, target, cap and base cap each complete one (TIF-04, TIF-05, AMB-37)', () => {
    assert.deepEqual(outcome(asks().marketBuy('t', { lots: 3, ...fok })).length, 2);
    assert.deepEqual(outcome(asks().marketBuy('t', { quote: 350, ...fok })).at(-1), 'Filled');
    assert.deepEqual(outcome(asks().marketBuy('t', { lots: 9, quote: 350, ...fok })).at(-1), 'Filled');
    assert.deepEqual(outcome(bids().marketSell('t', { quote: 9_000, lots: 3, ...fok })).at(-1), 'Filled');
  });

  test('running out of book completes none: the book stays untouched (TIF-04, AMB-37)', () => {
    const fixture = asks();
    const told = [
      fixture.marketBuy('t', { lots: 7, ...fok }),
      fixture.marketBuy('u', { quote: 700, ...fok }),
      fixture.marketBuy('v', { lots: 9, quote: 700, ...fok }),
    ].flat();
    assert.deepEqual(outcome(told), ['FillOrKill', 'FillOrKill', 'FillOrKill']);
    assert.equal(only(told, 'levelChanged').length, 0);
  });

  test('the fills of one are a unit, whatever completes it (TIF-06, AMB-34)', () => {
    const units = (told: readonly Told[]): unknown[] => only(told, 'matched').map((fill) => fill.at(-1));
    assert.deepEqual(units(asks().marketBuy('t', { quote: 350, ...fok })), [1, 2]);
    assert.deepEqual(units(asks().marketBuy('t', { quote: 250, ...fok })), [2]);
  });
});

suite('rollbacks of market orders', () => {
  test('one that was filled by its lots ends as rolled back, once (AMB-32 c, AMB-128)', () => {
    const fixture = asks();
    const [first, second] = only(fixture.marketBuy('t', { lots: 3 }), 'matched');
    assert.deepEqual(ends(fixture.rollback(first, OWN, OTHER)), [
      [1, 'AtFault', 2],
      [4, 'RolledBack', 2],
    ]);
    assert.deepEqual(ends(fixture.rollback(second, OWN, OTHER)), [[2, 'AtFault', 2]]);
  });

  test('of one whose target was met nothing more is said (AMB-32 c)', () => {
    const fixture = asks();
    const [first] = only(fixture.marketBuy('t', { quote: 350 }), 'matched');
    assert.deepEqual(ends(fixture.rollback(first, OWN, OTHER)), [[1, 'AtFault', 2]]);
  });
});

suite('the price collar', () => {
  test('no fill beyond it, as if the book ended there (AMB-39)', () => {
    const fixture = asks();
    fixture.engine.setCollar(90, 101);
    assert.deepEqual(outcome(fixture.marketBuy('t', { lots: 9 })), [[100, 2], [101, 2], 'ImmediateOrCancel']);
    const short = bids();
    short.engine.setCollar(99, 200);
    assert.deepEqual(outcome(short.sell('t', 9, 1, { tif: TIF.ioc })), [[100, 2], [99, 2], 'ImmediateOrCancel']);
  });

  test('a fill-or-kill order looks no further than the collar (AMB-37, AMB-39)', () => {
    const fixture = asks();
    fixture.engine.setCollar(90, 101);
    assert.deepEqual(outcome(fixture.buy('t', 5, 200, { tif: TIF.fok })), ['FillOrKill']);
    assert.deepEqual(outcome(fixture.marketBuy('u', { quote: 500, tif: TIF.fok })), ['FillOrKill']);
  });

  test('what is left of a resting order would cross what lies beyond: it ends (AMB-39)', () => {
    const fixture = asks();
    fixture.engine.setCollar(90, 100);
    assert.deepEqual(outcome(fixture.buy('t', 5, 101)), [[100, 2], 'ImmediateOrCancel']);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL).length], [[], 2]);
    assert.deepEqual(outcome(fixture.buy('u', 5, 100)), [], 'within the collar it rests');
    fixture.engine.setCollar(1, RAW_MAX);
    assert.deepEqual(outcome(fixture.buy('v', 1, 101)), [[101, 1]], 'without a collar it takes again');
  });

  test('a post-only order is refused for what lies beyond it, too (TIF-07, AMB-39)', () => {
    const fixture = asks();
    fixture.engine.setCollar(1, 99);
    assert.equal(fixture.buy('p', 1, 100, { postOnly: true })[0]?.[3], 'WOULD_CROSS');
  });
});
