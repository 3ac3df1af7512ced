/** Orders that are due in a crowd: they are removed some at a time, and until then they are not observable. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MARKET_STATUS, ROLLBACK_REASON, TIF } from '../../src/core/order-terms.ts';
import { ends, fills, MarketDesk, names, only, tradeAt } from '../support/market-desk.ts';
import { BUY, LIFE_NS, SELL, START_NS } from '../support/market-recorder.ts';

const SHORT = { tif: TIF.gtd, lifeNs: 1_000n } as const;
const CROWD = 200;

/** A market that ends one order a command, in which four sells of one lot are due, at 100, 100, 101 and 102; orders 1 to 4. */
function late(): MarketDesk {
  const desk = new MarketDesk({ expiredPerPoll: 1 });
  for (const [i, price] of [100, 100, 101, 102].entries()) desk.sell(`due ${i}`, 1, price, { ...SHORT, user: 'bob' });
  return desk;
}

/** Time passes all of them, and one has gone. */
function pass(desk: MarketDesk): void {
  assert.deepEqual(ends(desk.wait(1_000n)), [[1, 'Expired', 1]]);
}

function expired(...orders: readonly number[]): unknown[] {
  return orders.map((order) => [order, 'Expired', 1]);
}

suite('orders that are due in a crowd (ORD-20, AMB-10)', () => {
  test('so many a command and a turn, earliest first, then by admission; none is left behind', () => {
    const desk = new MarketDesk();
    for (let i = 0; i < CROWD; i++) desk.buy(`id ${i}`, 1, 1 + (i % 7), { ...SHORT, lifeNs: i < 10 ? 2_000n : 1_000n });
    desk.nowNs += 5_000n;
    const told = [...ends(desk.cancel('none')), ...ends(desk.wait(0n))];
    assert.equal(told.length, 128, '64 each');
    for (let turn = 0; turn < 2; turn++) {
      assert.ok(desk.engine.isBehind);
      told.push(...ends(desk.poll()));
    }
    const orders = Array.from({ length: CROWD }, (_, i) => i + 1);
    assert.deepEqual(told, expired(...orders.slice(10), ...orders.slice(0, 10)));
    assert.equal(desk.engine.isBehind, false);
    assert.equal(desk.engine.poll(desk.nowNs, 64), false);
    assert.deepEqual(desk.levels(BUY), []);
  });

  test('they go in every market status, and a level counts them until their end is published (AMB-109)', () => {
    const desk = late();
    pass(desk);
    assert.deepEqual(desk.levels(SELL), [
      [100, 1],
      [101, 1],
      [102, 1],
    ]);
    desk.setMarket(MARKET_STATUS.halted);
    const told = desk.poll();
    assert.deepEqual(ends(told), expired(2));
    assert.deepEqual(only(told, 'levelChanged'), [['levelChanged', SELL, 100, 0]]);
  });

  test('a taker passes them over, as far as it reaches', () => {
    const desk = late();
    desk.sell('live', 2, 101, { user: 'bob' });
    pass(desk);
    const told = desk.buy('t', 1, 102);
    assert.deepEqual(ends(told), expired(2, 3), 'one by the time, one on its way');
    assert.deepEqual(fills(told), [[5, 9, 101, 1]]);
    assert.deepEqual(desk.levels(SELL), [
      [101, 1],
      [102, 1],
    ]);
  });

  test('a fill-or-kill order, and one sized by money, count none of them (TIF-04, AMB-37)', () => {
    for (const take of [
      (desk: MarketDesk) => desk.buy('t', 2, 102, { tif: TIF.fok }),
      (desk: MarketDesk) => desk.marketBuy('t', { quote: 202, tif: TIF.fok }),
    ]) {
      const desk = late();
      desk.sell('live', 1, 101, { user: 'bob' });
      pass(desk);
      const told = take(desk);
      assert.deepEqual(ends(told).slice(0, 3), expired(2, 3, 4));
      assert.equal((ends(told)[3] as unknown[])[1], 'FillOrKill');
      assert.deepEqual(fills(told), []);
    }
  });

  test('a post-only order crosses none of them (TIF-07)', () => {
    const desk = late();
    pass(desk);
    desk.poll();
    const told = desk.buy('p', 1, 102, { postOnly: true });
    assert.deepEqual(names(told), ['ended', 'ended', 'accepted']);
    assert.deepEqual(desk.levels(BUY), [[102, 1]]);
    assert.deepEqual(desk.levels(SELL), []);
  });

  test('a command on one finds it gone: not cancelled, not replaced, no parent (AMB-23)', () => {
    for (const [code, ask] of [
      ['ORDER_NOT_FOUND', (desk: MarketDesk) => desk.cancel('due 3', { user: 'bob' })],
      ['ORDER_NOT_FOUND', (desk: MarketDesk) => desk.replace('due 3', { user: 'bob', price: 99 })],
      ['ORDER_NOT_FOUND', (desk: MarketDesk) => desk.buy('c', 1, 90, { user: 'bob', below: 95, parent: 'due 3' })],
      ['DUPLICATE_ORDER', (desk: MarketDesk) => desk.buy('due 3', 1, 90, { user: 'bob' })],
    ] as const) {
      const desk = late();
      pass(desk);
      const told = ask(desk);
      assert.deepEqual(ends(told), expired(2, 4));
      assert.ok(told.at(-1)?.includes(code), `${told.at(-1)}`);
    }
  });

  test('an id is free 30 days after its creation, though its order has no published end (AMB-08)', () => {
    const desk = new MarketDesk({ expiredPerPoll: 1 });
    for (let i = 0; i < 4; i++) desk.buy(`id ${i}`, 1, 100);
    desk.nowNs += LIFE_NS;
    const told = desk.buy('id 3', 1, 99);
    assert.deepEqual(ends(told), expired(1, 4));
    assert.equal(only(told, 'accepted').length, 1);
  });

  test('a cancel-all cancels none of them (CAN-05)', () => {
    const desk = late();
    desk.sell('live', 1, 103, { user: 'bob' });
    pass(desk);
    assert.deepEqual(ends(desk.cancelAll({ user: 'bob' })), [...expired(2, 3, 4), [5, 'UserRequested', 1]]);
  });

  test('one that waits is fired by no price, released by no word and placed by no turn (AMB-28)', () => {
    const waiting = (): MarketDesk => {
      const desk = new MarketDesk({ expiredPerPoll: 1 });
      for (let i = 0; i < 3; i++) desk.buy(`early ${i}`, 1, 1, SHORT);
      desk.buy('waits', 1, 1, { ...SHORT, above: 100 });
      tradeAt(desk);
      desk.settleAll();
      return desk;
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
    const desk = late();
    desk.buy('waits', 1, 101, { above: 99 });
    tradeAt(desk, 99);
    desk.settleAll();
    desk.poll();
    desk.release(5, 1);
    desk.buy('moves', 1, 90);
    pass(desk);
    const placed = desk.poll();
    assert.deepEqual([names(placed), fills(placed)], [['ended', 'ended', 'activated'], []]);
    const moved = desk.replace('moves', { price: 102, timestampNs: START_NS + 2_000n });
    assert.deepEqual([ends(moved), fills(moved)], [expired(4), []]);
    assert.deepEqual(desk.levels(BUY), [
      [102, 1],
      [101, 1],
    ]);
  });

  test('an innocent order comes back in spite of them, and none of them comes back itself (AMB-32)', () => {
    const { counterpartyAtFault, insufficientInventory } = ROLLBACK_REASON;
    const desk = new MarketDesk({ expiredPerPoll: 1 });
    desk.buy('innocent', 1, 105);
    const [fill] = only(desk.sell('fault', 1, 105, { user: 'bob', tif: TIF.ioc }), 'matched');
    for (let i = 0; i < 3; i++) desk.sell(`due ${i}`, 1, 101 + i, { ...SHORT, user: 'bob' });
    desk.nowNs += 1_000n;
    const told = desk.rollback(fill, counterpartyAtFault, insufficientInventory);
    assert.deepEqual(ends(told), [...expired(4), [2, 'AtFault', 1], ...expired(5, 6)]);
    assert.deepEqual(desk.levels(BUY), [[105, 1]]);

    const other = new MarketDesk({ expiredPerPoll: 1 });
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
    const desk = new MarketDesk({ expiredPerPoll: 1 });
    desk.buy('other', 1, 1, { ...SHORT, user: 'cyd' });
    desk.buy('innocent', 1, 105);
    const [fill] = only(desk.sell('fault', 2, 99, { user: 'bob' }), 'matched');
    desk.sell('due', 1, 104, { ...SHORT, user: 'cyd' });
    desk.nowNs += 1_000n;
    const told = desk.rollback(fill, counterpartyAtFault, insufficientInventory);
    assert.deepEqual(ends(told), [...expired(1), [3, 'AtFault', 2], ...expired(5)]);
    assert.deepEqual(desk.levels(BUY), [[105, 1]]);
  });
});
