// tier: quick
/** A restart: what clearing kept comes back as it stood (AMB-110). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { RAW_MAX } from '../../src/core/limits.ts';
import { ORDER_FLAG, ORDER_KIND, type Side, TIF, TRIGGER, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import { highWord, lowWord } from '../../src/core/time-words.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import type { RestoredOrder } from '../../src/matching/commands.ts';
import { ends, fills, MarketFixture, only, releases, tradeAt } from '../support/market-fixture.ts';
import { BUY, keyOf, LIFE_NS, PLAIN_TERMS, SELL, START_NS } from '../support/market-recorder.ts';
import { endOfSets } from '../support/quote-fixture.ts';

/** An order of `order` lots at 100 by default, named by its sequence: `o1`, `o2`, … */
function restore(fixture: MarketFixture, side: Side, words: Partial<RestoredOrder> & { order: number }): void {
  fixture.engine.restoreOrder({
    ...PLAIN_TERMS,
    ...keyOf('ada', `o${words.order}`),
    prioritySequence: words.order,
    side,
    price: 100,
    quantity: 1,
    filledQuantity: 0,
    inForce: words.quantity ?? 1,
    spent: 0n,
    triggerState: TRIGGER_STATE.live,
    parent: 0,
    quoteSet: 0,
    creationHigh: highWord(START_NS),
    creationLow: lowWord(START_NS),
    timestampHigh: highWord(START_NS),
    timestampLow: lowWord(START_NS),
    ...expiringAt(START_NS + LIFE_NS),
    ...words,
  });
}

function expiringAt(ns: bigint): Pick<RestoredOrder, 'expiryHigh' | 'expiryLow'> {
  return { expiryHigh: highWord(ns), expiryLow: lowWord(ns) };
}

function finish(fixture: MarketFixture, nowNs: bigint = START_NS): void {
  fixture.engine.finishRestore({ sequence: 1_000, lastTradeId: 500, nowNs: nowNs as TimestampNs });
}

suite('restart', () => {
  test('a quote set whose group was removed before is in none, and keeps what rests (MMP-02, MMP-04, AMB-110)', () => {
    const fixture = new MarketFixture();
    const ns = START_NS as TimestampNs;
    const none = 0n as TimestampNs;
    fixture.engine.restoreQuoteSet({
      ...endOfSets('ada', 'q', { receivedNs: START_NS }),
      ...{ revisionNs: ns, markNs: ns, markFloorNs: none, goodUntilNs: none, slot: 1, isOver: false, lastNumber: 1 },
      ...{ numberFloor: 0, maxFeeRate: 100, subAccount: 0, flags: ORDER_FLAG.postOnly | ORDER_FLAG.isSpot },
      protectionGroup: 1,
    });
    const flags = ORDER_FLAG.postOnly | ORDER_FLAG.isSpot;
    restore(fixture, BUY, { ...keyOf('ada', 'q:1'), order: 5, price: 99, quantity: 3, flags, quoteSet: 1 });
    finish(fixture);
    fixture.wait(1n);
    // Nothing may be added: what is kept has new terms, in the group in which it is.
    const [applied] = only(
      fixture.quotes([[99, 3]], [], { name: 'q', maxFeeRate: 90, onlyTakes: true }),
      'quotesApplied',
    );
    assert.equal(applied?.[6], '');
    assert.deepEqual(fixture.levels(BUY), [[99, 3]]);
  });

  test('restored orders keep their priority, in whatever order they come (AMB-110)', () => {
    const fixture = new MarketFixture();
    for (const order of [7, 3, 5]) restore(fixture, SELL, { order });
    restore(fixture, SELL, { order: 1, price: 100, quantity: 1, prioritySequence: 9 });
    finish(fixture);
    assert.deepEqual(
      fills(fixture.buy('t', 4, 100)).map((fill) => (fill as number[])[0]),
      [3, 5, 7, 1],
    );
  });

  test('where a level has more than 2^53−1 lots, the latest that do not fit end, in whatever order they come (AMB-01, AMB-110)', () => {
    const orders = [
      { order: 1, quantity: RAW_MAX - 10, prioritySequence: 9 },
      { order: 2, quantity: 6 },
      { order: 3, quantity: 5, prioritySequence: 10 },
      { order: 4, quantity: 4 },
      { order: 5, price: 101, quantity: RAW_MAX },
    ];
    const outcomes = [orders, [...orders].reverse(), orders.slice(2).concat(orders.slice(0, 2))].map((told) => {
      const fixture = new MarketFixture();
      for (const each of told) restore(fixture, SELL, each);
      finish(fixture);
      fixture.engine.checkInvariants();
      return { ended: ends(fixture.recorder.take()), levels: fixture.levels(SELL), hash: fixture.engine.hash() };
    });
    assert.deepEqual(outcomes[0]?.ended, [[3, 'RolledBack', 5]]);
    assert.deepEqual(outcomes[0]?.levels, [
      [100, RAW_MAX],
      [101, RAW_MAX],
    ]);
    for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
  });

  test('if restored orders cross, the later one takes, with new numbers (AMB-110)', () => {
    const fixture = new MarketFixture();
    restore(fixture, BUY, { order: 4, price: 101, quantity: 3 });
    restore(fixture, SELL, { order: 2, price: 100, quantity: 2 });
    restore(fixture, SELL, { order: 6, price: 101, quantity: 2 });
    finish(fixture);
    assert.deepEqual(fixture.recorder.take(), [
      ['matched', 1_001, 501, 2, 4, 100, 2, BUY, 0],
      ['matched', 1_002, 502, 4, 6, 101, 1, SELL, 0],
    ]);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[], [[101, 1]]]);
  });

  test('what expired while the node was down leaves before anything matches (AMB-110, ORD-20)', () => {
    const fixture = new MarketFixture();
    restore(fixture, BUY, { order: 1, price: 101, quantity: 1 });
    restore(fixture, SELL, { order: 2, price: 100, quantity: 1 });
    finish(fixture, START_NS + LIFE_NS);
    assert.deepEqual(ends(fixture.recorder.take()), [
      [1, 'Expired', 1],
      [2, 'Expired', 1],
    ]);
  });

  test('remembered ids and the watermark survive (AMB-08)', () => {
    const fixture = new MarketFixture();
    const key = keyOf('ada', 'old');
    fixture.engine.restoreRememberedId({ ...key, creationNs: START_NS, wasCancelled: true });
    fixture.engine.restoreWatermark(key.words, key.userAt, START_NS - 5n);
    finish(fixture);
    assert.equal(fixture.buy('old', 1, 100)[0]?.[3], 'DUPLICATE_ORDER');
    assert.equal(fixture.cancel('old')[0]?.[2], 'ALREADY_CANCELLED');
    assert.equal(fixture.buy('new', 1, 100, { creationNs: START_NS - 5n })[0]?.[3], 'REQUEST_TOO_OLD');
    assert.equal(fixture.buy('new', 1, 100, { creationNs: START_NS - 4n })[0]?.[0], 'accepted');
  });

  test('an id that lives again is no past one, whatever the tables still remember (AMB-08)', () => {
    const fixture = new MarketFixture();
    restore(fixture, BUY, { ...keyOf('ada', 'again'), order: 1 });
    fixture.engine.restoreRememberedId({
      ...keyOf('ada', 'again'),
      creationNs: (START_NS - 5n) as TimestampNs,
      wasCancelled: true,
    });
    finish(fixture);
    assert.equal(fixture.buy('again', 1, 100)[0]?.[3], 'DUPLICATE_ORDER');
    assert.deepEqual(ends(fixture.cancel('again')), [[1, 'UserRequested', 1]]);
  });

  test('the uncrossing obeys self-trade prevention and the collar (AMB-38, AMB-39)', () => {
    const fixture = new MarketFixture();
    fixture.preventSelfTrades();
    fixture.engine.setCollar(1, 100);
    restore(fixture, SELL, { order: 1, price: 100 });
    restore(fixture, SELL, { ...keyOf('bob', 'o2'), order: 2, price: 101 });
    restore(fixture, BUY, { order: 3, price: 101 });
    finish(fixture);
    assert.deepEqual(ends(fixture.recorder.take()), [
      [1, 'SelfTradePrevented', 1],
      [3, 'ImmediateOrCancel', 1],
    ]);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[], [[101, 1]]]);
  });
});

suite('restart with triggers', () => {
  const trigger = { triggerKind: TRIGGER.above, triggerPrice: 100 };
  const dormant = { ...trigger, triggerState: TRIGGER_STATE.dormant };
  const fired = { ...trigger, triggerState: TRIGGER_STATE.fired };

  test('a dormant order of any kind waits again, and is no level of the book (TRG-01, AMB-110)', () => {
    const fixture = new MarketFixture();
    const market = { kind: ORDER_KIND.marketQuote, tif: TIF.ioc, price: 0, quantity: 0, amount: 250 };
    restore(fixture, BUY, { order: 1, ...dormant, ...market });
    restore(fixture, BUY, { order: 2, ...dormant, quantity: 3 });
    finish(fixture);
    assert.deepEqual([fixture.levels(BUY), fixture.poll()], [[], []]);
    tradeAt(fixture);
    assert.deepEqual(releases(fixture.runTriggers()).slice(0, 2), [
      ['triggered', 1, 0],
      ['triggered', 2, 3],
    ]);
  });

  test('a fired order waits for the gateway, which has what was published (AMB-28, AMB-110)', () => {
    const fixture = new MarketFixture();
    restore(fixture, BUY, { order: 1, ...fired, quantity: 3 });
    finish(fixture);
    assert.deepEqual(fixture.poll(), [], 'it is not told again');
    fixture.release(1, 3);
    assert.deepEqual(releases(fixture.poll()), [['activated', 1, 3]]);
  });

  test('of a child of a live parent as much is in force as the parent filled (AMB-29, AMB-110)', () => {
    const fixture = new MarketFixture();
    restore(fixture, BUY, { order: 1, quantity: 10, filledQuantity: 4 });
    restore(fixture, SELL, { order: 2, ...trigger, price: 110, quantity: 10, parent: 1, inForce: 4 });
    restore(fixture, SELL, { order: 3, ...fired, price: 111, quantity: 10, parent: 1 });
    finish(fixture);
    assert.deepEqual(fixture.levels(SELL), [[110, 4]]);
    fixture.release(3, 4);
    assert.deepEqual(releases(fixture.poll()), [['activated', 3, 4]]);
    fixture.sell('more', 1, 100, { user: 'bob', tif: TIF.ioc });
    assert.deepEqual(releases(fixture.runTriggers()), [
      ['triggered', 2, 5],
      ['triggered', 3, 5],
      ['activated', 2, 5],
      ['activated', 3, 5],
    ]);
  });

  test('what a parent enabled and nobody let go before the kill is published again, and enters when it is let go (AMB-29, AMB-110)', () => {
    const fixture = new MarketFixture();
    restore(fixture, BUY, { order: 1, quantity: 10, filledQuantity: 6 });
    restore(fixture, SELL, {
      order: 2,
      ...trigger,
      price: 110,
      quantity: 10,
      parent: 1,
      inForce: 4,
      filledQuantity: 1,
    });
    restore(fixture, SELL, { order: 3, ...trigger, price: 111, quantity: 10, parent: 1, inForce: 6 });
    restore(fixture, SELL, { order: 4, ...trigger, price: 112, quantity: 6, inForce: 5, filledQuantity: 5 });
    finish(fixture);
    assert.deepEqual(
      fixture.levels(SELL),
      [
        [110, 3],
        [111, 6],
      ],
      'only what was released rests',
    );
    assert.deepEqual(releases(fixture.runTriggers()), [
      ['triggered', 2, 6],
      ['triggered', 4, 6],
      ['activated', 2, 6],
      ['activated', 4, 6],
    ]);
    assert.deepEqual(fixture.levels(SELL), [
      [110, 5],
      [111, 6],
      [112, 1],
    ]);
  });

  test('a child that never rests keeps what may still be released, and its cap what it has not spent (AMB-29, AMB-32 c)', () => {
    const fixture = new MarketFixture();
    const child = { ...trigger, parent: 1, price: 0, kind: ORDER_KIND.marketBase, tif: TIF.ioc };
    restore(fixture, SELL, { order: 1, quantity: 10, filledQuantity: 6 });
    restore(fixture, BUY, {
      order: 2,
      ...child,
      quantity: 10,
      inForce: 4,
      filledQuantity: 2,
      amount: 500,
      spent: 220n,
    });
    finish(fixture);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[], [[100, 4]]], 'what it had not matched is gone');
    const told = [fixture.runTriggers(), fixture.runTriggers()];
    assert.deepEqual(told.map(releases), [
      [
        ['triggered', 2, 6],
        ['activated', 2, 6],
      ],
      [
        ['triggered', 2, 8],
        ['activated', 2, 8],
      ],
    ]);
    assert.deepEqual(told.map(fills), [[[1, 2, 100, 2]], []]);
    assert.deepEqual(told.map(ends), [[], [[2, 'Filled', 6]]], 'of 500 it had spent 220, and spends 200 now');
  });

  test('a child whose parent is over is whole (AMB-29, AMB-110)', () => {
    const fixture = new MarketFixture();
    restore(fixture, SELL, { order: 2, ...trigger, quantity: 4 });
    finish(fixture);
    assert.deepEqual(fixture.levels(SELL), [[100, 4]]);
    assert.equal(only(fixture.replace('o2', { quantity: 5, timestampNs: START_NS + 1n }), 'replaced').length, 1);
  });

  test('a parent that expired while the node was down takes its children along (ORD-20, AMB-29)', () => {
    const fixture = new MarketFixture();
    restore(fixture, BUY, { order: 1, ...expiringAt(START_NS + 5n) });
    restore(fixture, SELL, { order: 2, ...dormant, parent: 1, quantity: 3 });
    finish(fixture, START_NS + 5n);
    assert.deepEqual(ends(fixture.recorder.take()), [
      [1, 'Expired', 1],
      [2, 'ParentCanceled', 3],
    ]);
  });

  test('a released order is no parent after a restart either (TRG-06)', () => {
    const fixture = new MarketFixture();
    restore(fixture, BUY, { order: 1, ...trigger });
    finish(fixture);
    assert.equal(fixture.sell('child', 1, 110, { above: 1, parent: 'o1' })[0]?.[3], 'INVALID_ORDER');
  });
});

suite('the hash of a book', () => {
  const above = (fixture: MarketFixture): unknown => fixture.sell('t', 2, 120, { above: 110 });
  const stories: readonly [string, (fixture: MarketFixture) => unknown][] = [
    ['nothing waits', () => {}],
    ['a trigger waits', above],
    ['for another price', (fixture) => fixture.sell('t', 2, 120, { above: 111 })],
    ['for the other direction', (fixture) => fixture.sell('t', 2, 120, { below: 110 })],
    ['of other lots', (fixture) => fixture.sell('t', 3, 120, { above: 110 })],
    ['of another user', (fixture) => fixture.sell('t', 2, 120, { above: 110, user: 'bob' })],
    ['for its parent too', (fixture) => fixture.sell('t', 2, 120, { above: 110, parent: 'p' })],
    ['its price has come', (fixture) => fireAt(fixture, 110, above)],
    ['a market order of one target', (fixture) => fixture.marketBuy('t', { quote: 300, above: 110 })],
    ['and of another', (fixture) => fixture.marketBuy('t', { quote: 301, above: 110 })],
  ];

  function fireAt(fixture: MarketFixture, price: number, story: (fixture: MarketFixture) => unknown): void {
    story(fixture);
    tradeAt(fixture, price);
    fixture.settleAll();
  }

  test('distinguishes every two that differ in what waits, and no representation of one (TRG-01, AMB-110)', () => {
    const hashes = stories.map(([, story]) => {
      const [fixture, other] = [
        new MarketFixture({ hashSeed: 1n }),
        new MarketFixture({ hashSeed: 2n, firstCapacity: 2 }),
      ];
      for (const each of [fixture, other]) {
        each.buy('p', 9, 100);
        story(each);
        if (each === other) for (let i = 0; i < 9; i++) each.cancel(`unknown ${i}`);
      }
      assert.equal(fixture.engine.hash(), other.engine.hash());
      return fixture.engine.hash();
    });
    assert.equal(new Set(hashes).size, stories.length);
  });
});
