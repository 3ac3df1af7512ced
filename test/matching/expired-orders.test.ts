// tier: quick
/** Orders that are due in a crowd: they are removed some at a time, and until then they are not observable. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MARKET_STATUS, ROLLBACK_REASON, TIF } from '../../src/core/order-terms.ts';
import { ends, fills, MarketFixture, names, only, tradeAt } from '../support/market-fixture.ts';
import { BUY, LIFE_NS, SELL, START_NS } from '../support/market-recorder.ts';

const SHORT = { tif: TIF.gtd, lifeNs: 1_000n } as const;
const CROWD = 200;

/** A market that ends one order a command, in which four sells of one lot are due, at 100, 100, 101 and 102; orders 1 to 4. */
function late(): MarketFixture {
  const fixture = new MarketFixture({ expiredPerPoll: 1 });
  for (const [i, price] of [100, 100, 101, 102].entries())
    fixture.sell(`due ${i}`, 1, price, { ...SHORT, user: 'bob' });
  return fixture;
}

/** Time passes all of them, and one has gone. */
function pass(fixture: MarketFixture): void {
  assert.deepEqual(ends(fixture.wait(1_000n)), [[1, 'Expired', 1]]);
}

function expired(...orders: readonly number[]): unknown[] {
  return orders.map((order) => [order, 'Expired', 1]);
}

suite('orders that are due in a crowd (ORD-20, AMB-10)', () => {
  test('so many a command and a turn, earliest first, then by admission; none is left behind', () => {
    const fixture = new MarketFixture();
    for (let i = 0; i < CROWD; i++)
      fixture.buy(`id ${i}`, 1, 1 + (i % 7), { ...SHORT, lifeNs: i < 10 ? 2_000n : 1_000n });
    fixture.nowNs += 5_000n;
    const told = [...ends(fixture.cancel('none')), ...ends(fixture.wait(0n))];
    assert.equal(told.length, 128, '64 each');
    for (let turn = 0; turn < 2; turn++) {
      assert.ok(fixture.engine.isBehind);
      told.push(...ends(fixture.poll()));
    }
    const orders = Array.from({ length: CROWD }, (_, i) => i + 1);
    assert.deepEqual(told, expired(...orders.slice(10), ...orders.slice(0, 10)));
    assert.equal(fixture.engine.isBehind, false);
    assert.equal(fixture.engine.poll(fixture.nowNs, 64), false);
    assert.deepEqual(fixture.levels(BUY), []);
  });

  test('they go in every market status, and a level counts them until their end is published (AMB-109)', () => {
    const fixture = late();
    pass(fixture);
    assert.deepEqual(fixture.levels(SELL), [
      [100, 1],
      [101, 1],
      [102, 1],
    ]);
    fixture.setMarket(MARKET_STATUS.halted);
    const told = fixture.poll();
    assert.deepEqual(ends(told), expired(2));
    assert.deepEqual(only(told, 'levelChanged'), [['levelChanged', SELL, 100, 0]]);
  });

  test('a taker passes them over, as far as it reaches', () => {
    const fixture = late();
    fixture.sell('live', 2, 101, { user: 'bob' });
    pass(fixture);
    const told = fixture.buy('t', 1, 102);
    assert.deepEqual(ends(told), expired(2, 3), 'one by the time, one on its way');
    assert.deepEqual(fills(told), [[5, 9, 101, 1]]);
    assert.deepEqual(fixture.levels(SELL), [
      [101, 1],
      [102, 1],
    ]);
  });

  test('a fill-or-kill order, and one sized by money, count none of them (TIF-04, AMB-37)', () => {
    for (const take of [
      (fixture: MarketFixture) => fixture.buy('t', 2, 102, { tif: TIF.fok }),
      (fixture: MarketFixture) => fixture.marketBuy('t', { quote: 202, tif: TIF.fok }),
    ]) {
      const fixture = late();
      fixture.sell('live', 1, 101, { user: 'bob' });
      pass(fixture);
      const told = take(fixture);
      assert.deepEqual(ends(told).slice(0, 3), expired(2, 3, 4));
      assert.equal((ends(told)[3] as unknown[])[1], 'FillOrKill');
      assert.deepEqual(fills(told), []);
    }
  });

  test('a post-only order crosses none of them (TIF-07)', () => {
    const fixture = late();
    pass(fixture);
    fixture.poll();
    const told = fixture.buy('p', 1, 102, { postOnly: true });
    assert.deepEqual(names(told), ['ended', 'ended', 'accepted']);
    assert.deepEqual(fixture.levels(BUY), [[102, 1]]);
    assert.deepEqual(fixture.levels(SELL), []);
  });

  test('a command on one finds it gone: not cancelled, not replaced, no parent (AMB-23)', () => {
    for (const [code, ask] of [
      ['ORDER_NOT_FOUND', (fixture: MarketFixture) => fixture.cancel('due 3', { user: 'bob' })],
      ['ORDER_NOT_FOUND', (fixture: MarketFixture) => fixture.replace('due 3', { user: 'bob', price: 99 })],
      [
        'ORDER_NOT_FOUND',
        (fixture: MarketFixture) => fixture.buy('c', 1, 90, { user: 'bob', below: 95, parent: 'due 3' }),
      ],
      ['DUPLICATE_ORDER', (fixture: MarketFixture) => fixture.buy('due 3', 1, 90, { user: 'bob' })],
    ] as const) {
      const fixture = late();
      pass(fixture);
      const told = ask(fixture);
      assert.deepEqual(ends(told), expired(2, 4));
      assert.ok(told.at(-1)?.includes(code), `${told.at(-1)}`);
    }
  });

  test('an id is free 30 days after its creation, though its order has no published end (AMB-08)', () => {
    const fixture = new MarketFixture({ expiredPerPoll: 1 });
    for (let i = 0; i < 4; i++) fixture.buy(`id ${i}`, 1, 100);
    fixture.nowNs += LIFE_NS;
    const told = fixture.buy('id 3', 1, 99);
    assert.deepEqual(ends(told), expired(1, 4));
    assert.equal(only(told, 'accepted').length, 1);
  });

  test('a cancel-all cancels none of them (CAN-05)', () => {
    const fixture = late();
    fixture.sell('live', 1, 103, { user: 'bob' });
    pass(fixture);
    assert.deepEqual(ends(fixture.cancelAll({ user: 'bob' })), [...expired(2, 3, 4), [5, 'UserRequested', 1]]);
  });

  test('one that waits is fired by no price, released by no word and placed by no turn (AMB-28)', () => {
    const waiting = (): MarketFixture => {
      const fixture = new MarketFixture({ expiredPerPoll: 1 });
      for (let i = 0; i < 3; i++) fixture.buy(`early ${i}`, 1, 1, SHORT);
      fixture.buy('waits', 1, 1, { ...SHORT, above: 100 });
      tradeAt(fixture);
      fixture.settleAll();
      return fixture;
    };
    const fired = waiting();
    fired.wait(1_000n);
    assert.deepEqual(ends(fired.poll()), expired(2, 4), 'not told');

    const told = waiting();
    told.poll();
    told.wait(1_000n);
    assert.deepEqual(ends(told.release(4, 1)), expired(2, 4), 'not released');

    const granted = waiting();
    granted.poll();
    granted.release(4, 1);
    granted.wait(1_000n);
    assert.deepEqual(names(granted.poll()), ['ended', 'ended'], 'not placed');
  });

  test('what enters by a trigger or by a replace passes them over (AMB-19, AMB-28)', () => {
    const fixture = late();
    fixture.buy('waits', 1, 101, { above: 99 });
    tradeAt(fixture, 99);
    fixture.settleAll();
    fixture.poll();
    fixture.release(5, 1);
    fixture.buy('moves', 1, 90);
    pass(fixture);
    const placed = fixture.poll();
    assert.deepEqual([names(placed), fills(placed)], [['ended', 'ended', 'activated'], []]);
    const moved = fixture.replace('moves', { price: 102, timestampNs: START_NS + 2_000n });
    assert.deepEqual([ends(moved), fills(moved)], [expired(4), []]);
    assert.deepEqual(fixture.levels(BUY), [
      [102, 1],
      [101, 1],
    ]);
  });

  test('an innocent order comes back in spite of them, and none of them comes back itself (AMB-32)', () => {
    const { counterpartyAtFault, insufficientInventory } = ROLLBACK_REASON;
    const fixture = new MarketFixture({ expiredPerPoll: 1 });
    fixture.buy('innocent', 1, 105);
    const [fill] = only(fixture.sell('fault', 1, 105, { user: 'bob', tif: TIF.ioc }), 'matched');
    for (let i = 0; i < 3; i++) fixture.sell(`due ${i}`, 1, 101 + i, { ...SHORT, user: 'bob' });
    fixture.nowNs += 1_000n;
    const told = fixture.rollback(fill, counterpartyAtFault, insufficientInventory);
    assert.deepEqual(ends(told), [...expired(4), [2, 'AtFault', 1], ...expired(5, 6)]);
    assert.deepEqual(fixture.levels(BUY), [[105, 1]]);

    const other = new MarketFixture({ expiredPerPoll: 1 });
    other.buy('early', 1, 90, SHORT);
    other.buy('innocent', 2, 105, SHORT);
    const [half] = only(other.sell('fault', 1, 105, { user: 'bob', tif: TIF.ioc }), 'matched');
    other.nowNs += 1_000n;
    const back = other.rollback(half, counterpartyAtFault, insufficientInventory);
    assert.deepEqual(ends(back), [...expired(1, 2), [3, 'AtFault', 1]]);
    assert.deepEqual(only(back, 'restored'), []);
  });

  test('what is due behind the party at fault does not keep the innocent one out (AMB-32)', () => {
    const { counterpartyAtFault, insufficientInventory } = ROLLBACK_REASON;
    const fixture = new MarketFixture({ expiredPerPoll: 1 });
    fixture.buy('other', 1, 1, { ...SHORT, user: 'cyd' });
    fixture.buy('innocent', 1, 105);
    const [fill] = only(fixture.sell('fault', 2, 99, { user: 'bob' }), 'matched');
    fixture.sell('due', 1, 104, { ...SHORT, user: 'cyd' });
    fixture.nowNs += 1_000n;
    const told = fixture.rollback(fill, counterpartyAtFault, insufficientInventory);
    assert.deepEqual(ends(told), [...expired(1), [3, 'AtFault', 2], ...expired(5)]);
    assert.deepEqual(fixture.levels(BUY), [[105, 1]]);
  });
});
