/** A restart: what clearing kept comes back as it stood (AMB-110). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { RAW_MAX } from '../../src/core/limits.ts';
import { ORDER_KIND, type Side, TIF, TRIGGER, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import { highWord, lowWord } from '../../src/core/time-words.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import type { RestoredOrder } from '../../src/matching/commands.ts';
import { ends, fills, MarketDesk, only, releases, tradeAt } from '../support/market-desk.ts';
import { BUY, keyOf, LIFE_NS, PLAIN_TERMS, SELL, START_NS } from '../support/market-recorder.ts';

/** An order of `order` lots at 100 by default, named by its sequence: `o1`, `o2`, … */
function restore(desk: MarketDesk, side: Side, words: Partial<RestoredOrder> & { order: number }): void {
  desk.engine.restoreOrder({
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

function finish(desk: MarketDesk, nowNs: bigint = START_NS): void {
  desk.engine.finishRestore({ sequence: 1_000, lastTradeId: 500, nowNs: nowNs as TimestampNs });
}

suite('restart', () => {
  test('restored orders keep their priority, in whatever order they come (AMB-110)', () => {
    const desk = new MarketDesk();
    for (const order of [7, 3, 5]) restore(desk, SELL, { order });
    restore(desk, SELL, { order: 1, price: 100, quantity: 1, prioritySequence: 9 });
    finish(desk);
    assert.deepEqual(
      fills(desk.buy('t', 4, 100)).map((fill) => (fill as number[])[0]),
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
      const desk = new MarketDesk();
      for (const each of told) restore(desk, SELL, each);
      finish(desk);
      desk.engine.checkInvariants();
      return { ended: ends(desk.recorder.take()), levels: desk.levels(SELL), hash: desk.engine.hash() };
    });
    assert.deepEqual(outcomes[0]?.ended, [[3, 'RolledBack', 5]]);
    assert.deepEqual(outcomes[0]?.levels, [
      [100, RAW_MAX],
      [101, RAW_MAX],
    ]);
    for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
  });

  test('if restored orders cross, the later one takes, with new numbers (AMB-110)', () => {
    const desk = new MarketDesk();
    restore(desk, BUY, { order: 4, price: 101, quantity: 3 });
    restore(desk, SELL, { order: 2, price: 100, quantity: 2 });
    restore(desk, SELL, { order: 6, price: 101, quantity: 2 });
    finish(desk);
    assert.deepEqual(desk.recorder.take(), [
      ['matched', 1_001, 501, 2, 4, 100, 2, BUY, 0],
      ['matched', 1_002, 502, 4, 6, 101, 1, SELL, 0],
    ]);
    assert.deepEqual([desk.levels(BUY), desk.levels(SELL)], [[], [[101, 1]]]);
  });

  test('what expired while the node was down leaves before anything matches (AMB-110, ORD-20)', () => {
    const desk = new MarketDesk();
    restore(desk, BUY, { order: 1, price: 101, quantity: 1 });
    restore(desk, SELL, { order: 2, price: 100, quantity: 1 });
    finish(desk, START_NS + LIFE_NS);
    assert.deepEqual(ends(desk.recorder.take()), [
      [1, 'Expired', 1],
      [2, 'Expired', 1],
    ]);
  });

  test('remembered ids and the watermark survive (AMB-08)', () => {
    const desk = new MarketDesk();
    const key = keyOf('ada', 'old');
    desk.engine.restoreRememberedId({ ...key, creationNs: START_NS, wasCancelled: true });
    desk.engine.restoreWatermark(key.words, key.userAt, START_NS - 5n);
    finish(desk);
    assert.equal(desk.buy('old', 1, 100)[0]?.[3], 'DUPLICATE_ORDER');
    assert.equal(desk.cancel('old')[0]?.[2], 'ALREADY_CANCELLED');
    assert.equal(desk.buy('new', 1, 100, { creationNs: START_NS - 5n })[0]?.[3], 'REQUEST_TOO_OLD');
    assert.equal(desk.buy('new', 1, 100, { creationNs: START_NS - 4n })[0]?.[0], 'accepted');
  });

  test('an id that lives again is no past one, whatever the tables still remember (AMB-08)', () => {
    const desk = new MarketDesk();
    restore(desk, BUY, { ...keyOf('ada', 'again'), order: 1 });
    desk.engine.restoreRememberedId({
      ...keyOf('ada', 'again'),
      creationNs: (START_NS - 5n) as TimestampNs,
      wasCancelled: true,
    });
    finish(desk);
    assert.equal(desk.buy('again', 1, 100)[0]?.[3], 'DUPLICATE_ORDER');
    assert.deepEqual(ends(desk.cancel('again')), [[1, 'UserRequested', 1]]);
  });

  test('the uncrossing obeys self-trade prevention and the collar (AMB-38, AMB-39)', () => {
    const desk = new MarketDesk();
    desk.preventSelfTrades();
    desk.engine.setCollar(1, 100);
    restore(desk, SELL, { order: 1, price: 100 });
    restore(desk, SELL, { ...keyOf('bob', 'o2'), order: 2, price: 101 });
    restore(desk, BUY, { order: 3, price: 101 });
    finish(desk);
    assert.deepEqual(ends(desk.recorder.take()), [
      [1, 'SelfTradePrevented', 1],
      [3, 'ImmediateOrCancel', 1],
    ]);
    assert.deepEqual([desk.levels(BUY), desk.levels(SELL)], [[], [[101, 1]]]);
  });
});

suite('restart with triggers', () => {
  const trigger = { triggerKind: TRIGGER.above, triggerPrice: 100 };
  const dormant = { ...trigger, triggerState: TRIGGER_STATE.dormant };
  const fired = { ...trigger, triggerState: TRIGGER_STATE.fired };

  test('a dormant order of any kind waits again, and is no level of the book (TRG-01, AMB-110)', () => {
    const desk = new MarketDesk();
    const market = { kind: ORDER_KIND.marketQuote, tif: TIF.ioc, price: 0, quantity: 0, amount: 250 };
    restore(desk, BUY, { order: 1, ...dormant, ...market });
    restore(desk, BUY, { order: 2, ...dormant, quantity: 3 });
    finish(desk);
    assert.deepEqual([desk.levels(BUY), desk.poll()], [[], []]);
    tradeAt(desk);
    assert.deepEqual(releases(desk.runTriggers()).slice(0, 2), [
      ['triggered', 1, 0],
      ['triggered', 2, 3],
    ]);
  });

  test('a fired order waits for the gateway, which has what was published (AMB-28, AMB-110)', () => {
    const desk = new MarketDesk();
    restore(desk, BUY, { order: 1, ...fired, quantity: 3 });
    finish(desk);
    assert.deepEqual(desk.poll(), [], 'it is not told again');
    desk.release(1, 3);
    assert.deepEqual(releases(desk.poll()), [['activated', 1, 3]]);
  });

  test('of a child of a live parent as much is in force as the parent filled (AMB-29, AMB-110)', () => {
    const desk = new MarketDesk();
    restore(desk, BUY, { order: 1, quantity: 10, filledQuantity: 4 });
    restore(desk, SELL, { order: 2, ...trigger, price: 110, quantity: 10, parent: 1, inForce: 4 });
    restore(desk, SELL, { order: 3, ...fired, price: 111, quantity: 10, parent: 1 });
    finish(desk);
    assert.deepEqual(desk.levels(SELL), [[110, 4]]);
    desk.release(3, 4);
    assert.deepEqual(releases(desk.poll()), [['activated', 3, 4]]);
    desk.sell('more', 1, 100, { user: 'bob', tif: TIF.ioc });
    assert.deepEqual(releases(desk.runTriggers()), [
      ['triggered', 2, 5],
      ['triggered', 3, 5],
      ['activated', 2, 5],
      ['activated', 3, 5],
    ]);
  });

  test('what a parent enabled and nobody let go before the kill is published again, and enters when it is let go (AMB-29, AMB-110)', () => {
    const desk = new MarketDesk();
    restore(desk, BUY, { order: 1, quantity: 10, filledQuantity: 6 });
    restore(desk, SELL, { order: 2, ...trigger, price: 110, quantity: 10, parent: 1, inForce: 4, filledQuantity: 1 });
    restore(desk, SELL, { order: 3, ...trigger, price: 111, quantity: 10, parent: 1, inForce: 6 });
    restore(desk, SELL, { order: 4, ...trigger, price: 112, quantity: 6, inForce: 5, filledQuantity: 5 });
    finish(desk);
    assert.deepEqual(
      desk.levels(SELL),
      [
        [110, 3],
        [111, 6],
      ],
      'only what was released rests',
    );
    assert.deepEqual(releases(desk.runTriggers()), [
      ['triggered', 2, 6],
      ['triggered', 4, 6],
      ['activated', 2, 6],
      ['activated', 4, 6],
    ]);
    assert.deepEqual(desk.levels(SELL), [
      [110, 5],
      [111, 6],
      [112, 1],
    ]);
  });

  test('a child that never rests keeps what may still be released, and its cap what it has not spent (AMB-29, AMB-32 c)', () => {
    const desk = new MarketDesk();
    const child = { ...trigger, parent: 1, price: 0, kind: ORDER_KIND.marketBase, tif: TIF.ioc };
    restore(desk, SELL, { order: 1, quantity: 10, filledQuantity: 6 });
    restore(desk, BUY, { order: 2, ...child, quantity: 10, inForce: 4, filledQuantity: 2, amount: 500, spent: 220n });
    finish(desk);
    assert.deepEqual([desk.levels(BUY), desk.levels(SELL)], [[], [[100, 4]]], 'what it had not matched is gone');
    const told = [desk.runTriggers(), desk.runTriggers()];
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
    const desk = new MarketDesk();
    restore(desk, SELL, { order: 2, ...trigger, quantity: 4 });
    finish(desk);
    assert.deepEqual(desk.levels(SELL), [[100, 4]]);
    assert.equal(only(desk.replace('o2', { quantity: 5, timestampNs: START_NS + 1n }), 'replaced').length, 1);
  });

  test('a parent that expired while the node was down takes its children along (ORD-20, AMB-29)', () => {
    const desk = new MarketDesk();
    restore(desk, BUY, { order: 1, ...expiringAt(START_NS + 5n) });
    restore(desk, SELL, { order: 2, ...dormant, parent: 1, quantity: 3 });
    finish(desk, START_NS + 5n);
    assert.deepEqual(ends(desk.recorder.take()), [
      [1, 'Expired', 1],
      [2, 'ParentCanceled', 3],
    ]);
  });

  test('a released order is no parent after a restart either (TRG-06)', () => {
    const desk = new MarketDesk();
    restore(desk, BUY, { order: 1, ...trigger });
    finish(desk);
    assert.equal(desk.sell('child', 1, 110, { above: 1, parent: 'o1' })[0]?.[3], 'INVALID_ORDER');
  });
});

suite('the hash of a book', () => {
  const above = (desk: MarketDesk): unknown => desk.sell('t', 2, 120, { above: 110 });
  const stories: readonly [string, (desk: MarketDesk) => unknown][] = [
    ['nothing waits', () => {}],
    ['a trigger waits', above],
    ['for another price', (desk) => desk.sell('t', 2, 120, { above: 111 })],
    ['for the other direction', (desk) => desk.sell('t', 2, 120, { below: 110 })],
    ['of other lots', (desk) => desk.sell('t', 3, 120, { above: 110 })],
    ['of another user', (desk) => desk.sell('t', 2, 120, { above: 110, user: 'bob' })],
    ['for its parent too', (desk) => desk.sell('t', 2, 120, { above: 110, parent: 'p' })],
    ['its price has come', (desk) => fireAt(desk, 110, above)],
    ['a market order of one target', (desk) => desk.marketBuy('t', { quote: 300, above: 110 })],
    ['and of another', (desk) => desk.marketBuy('t', { quote: 301, above: 110 })],
  ];

  function fireAt(desk: MarketDesk, price: number, story: (desk: MarketDesk) => unknown): void {
    story(desk);
    tradeAt(desk, price);
    desk.settleAll();
  }

  test('distinguishes every two that differ in what waits, and no representation of one (TRG-01, AMB-110)', () => {
    const hashes = stories.map(([, story]) => {
      const [desk, other] = [new MarketDesk({ hashSeed: 1n }), new MarketDesk({ hashSeed: 2n, firstCapacity: 2 })];
      for (const each of [desk, other]) {
        each.buy('p', 9, 100);
        story(each);
        if (each === other) for (let i = 0; i < 9; i++) each.cancel(`unknown ${i}`);
      }
      assert.equal(desk.engine.hash(), other.engine.hash());
      return desk.engine.hash();
    });
    assert.equal(new Set(hashes).size, stories.length);
  });
});
