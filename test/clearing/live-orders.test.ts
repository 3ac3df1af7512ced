// tier: quick

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { drainDirtyRows } from '../../src/clearing/tables.ts';
import { must } from '../../src/core/assert.ts';
import { ORDER_END, TRIGGER } from '../../src/core/order-terms.ts';
import { NONE } from '../../src/core/pools.ts';
import type { Sequence } from '../../src/core/units.ts';
import { ClearingWorld } from '../support/clearing-world.ts';
import { ALICE, BOB } from '../support/names.ts';

function orderRows(world: ClearingWorld): readonly (readonly [Sequence, number])[] {
  return drainDirtyRows(world.state).flatMap((write) =>
    write.table === 'order' ? [[write.row.orderSequence, write.row.end] as const] : [],
  );
}

suite('live orders', () => {
  test('stand in the order of their admission, whatever index a later one is given', () => {
    const world = ClearingWorld.withMarket();
    const market = must(world.state.markets[0], 'the market');
    const [first, second, third] = [world.create(), world.create(), world.create()];
    const freed = market.orders.find(second);
    world.end(second, ORDER_END.userRequested);
    const fourth = world.create();
    assert.equal(market.orders.find(fourth), freed, 'the index is free for another order');
    assert.equal(market.orders.find(second), NONE);
    assert.deepEqual(
      [...market.orders.rows()].map(({ orderSequence }) => orderSequence),
      [first, third, fourth],
    );
    assert.equal(market.orders.size, 3);
  });

  test('a checkpoint writes an order once, under its index or after it, and another one under the same index', () => {
    const world = ClearingWorld.withMarket();
    const gone = world.create();
    world.cancelPending(gone);
    world.end(gone, ORDER_END.userRequested);
    const next = world.create();
    world.cancelPending(next);
    assert.deepEqual(orderRows(world), [
      [next, 0],
      [gone, ORDER_END.userRequested],
    ]);
    assert.deepEqual(orderRows(world), []);
    world.cancelPending(next);
    assert.equal(world.state.orders.dirtyCount, 1);
    world.end(next, ORDER_END.userRequested);
    assert.equal(world.state.orders.dirtyCount, 0);
    assert.deepEqual(orderRows(world), [[next, ORDER_END.userRequested]]);
  });

  test('an order whose trigger waits leaves no trace under an index that another one is given', () => {
    const world = ClearingWorld.withMarket();
    const waits = { triggerKind: TRIGGER.above, triggerPrice: 300_000 };
    const others = [world.create(waits), world.create({ ...waits, triggerPrice: 310_000 })];
    const gone = world.create({ ...waits, triggerPrice: 250_000 });
    world.end(gone, ORDER_END.userRequested);
    world.create();
    world.create({ ...waits, triggerPrice: 240_000 });
    for (const order of others) world.end(order, ORDER_END.userRequested);
    const [heap] = must(world.state.markets[0], 'the market').triggers;
    assert.equal(heap.entries.length, 1);
  });

  test('an order has the account that it names, whichever account and whichever user came before it (SUB-01)', () => {
    const world = ClearingWorld.withMarket();
    const market = must(world.state.markets[0], 'the market');
    const accountOf = (order: Sequence): unknown => {
      const { user, subAccount } = market.orders.account(market.orders.find(order)).row;
      return { user, subAccount };
    };
    const terms = [ALICE, BOB].flatMap((user) => [0, 1, 1, 0].map((subAccount) => ({ user, subAccount })));
    for (const { user, subAccount } of terms) {
      const order = world.create({ user, subAccount });
      assert.deepEqual(accountOf(order), { user, subAccount });
    }
    // The last order of a user frees the number under which the store finds the user.
    for (const order of [...market.orders.rows()].map(({ orderSequence }) => orderSequence)) {
      world.end(order, ORDER_END.userRequested);
    }
    for (const user of [BOB, ALICE]) assert.deepEqual(accountOf(world.create({ user })), { user, subAccount: 0 });
  });
});
