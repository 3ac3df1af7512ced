// tier: quick
/** Which undone fills count against a user, and when its new orders are refused (MON-08, AMB-124). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { ROLLBACK_REASON, type RollbackReason, SIDE } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { FaultCooldowns } from '../../src/gateway/actions/fault-cooldowns.ts';
import type { OrderFault } from '../../src/gateway/orders/book/order-events.ts';

const user = (name: string): UserId => name.padEnd(64, '0') as UserId;
const NOW = (10n ** 18n) as TimestampNs;

class World {
  readonly counted: string[] = [];
  readonly cancelled: UserId[] = [];
  isPriced = false;
  readonly cooldowns = new FaultCooldowns({
    nowNs: () => NOW,
    limits: { tierOf: () => 'default' },
    accounts: { pricedSinceMatch: () => this.isPriced },
    cancels: {
      cancelAll: ({ user: of }) => {
        this.cancelled.push(of);
        return null;
      },
    },
    counted: { fault: (reason) => this.counted.push(reason), cooldown: () => undefined },
  });

  undo(reason: RollbackReason, change: Partial<OrderFault> = {}): void {
    this.cooldowns.rolledBack({
      ...{ user: user('ada'), subAccount: 1, other: user('bob'), reason, asset: '1' as AssetId },
      ...{ side: SIDE.buy, matchedNs: NOW, isNewOrder: true, wasUndone: false, isForOthers: false },
      ...change,
    });
  }

  get isCooling(): boolean {
    return this.cooldowns.refusalOf(user('ada')) !== null;
  }
}

const { insufficientMargin, protocolCapBreach, insufficientInventory } = ROLLBACK_REASON;

suite('cool-downs of faults', () => {
  test('a fill-or-kill over a hundred makers counts a hundred undone fills, two are borne, three are not (MON-08)', () => {
    const world = new World();
    const undoOne = (): void => {
      for (let maker = 0; maker < 100; maker += 1) world.undo(insufficientInventory, { isNewOrder: maker === 0 });
    };
    undoOne();
    undoOne();
    assert.equal(world.isCooling, false);
    world.undo(insufficientInventory);
    assert.equal(world.isCooling, true);
    world.cooldowns.sendWaiting();
    assert.deepEqual(world.cancelled, [user('ada')]);
    assert.equal(world.counted.length, 201);
  });

  test('fills between accounts of one user count nothing (MON-08)', () => {
    const world = new World();
    for (let each = 0; each < 500; each += 1) world.undo(insufficientInventory, { other: user('ada') });
    assert.deepEqual([world.isCooling, world.counted.length], [false, 0]);
  });

  test('what lacks margin counts unless a price moved, or a fill of the account was undone for another (MON-07)', () => {
    for (const [change, isPriced, counts] of [
      [{}, false, 1],
      [{ wasUndone: true }, false, 0],
      [{ isForOthers: true }, false, 1],
      [{}, true, 0],
    ] as const) {
      const world = new World();
      world.isPriced = isPriced;
      world.undo(insufficientMargin, change);
      assert.equal(world.counted.length, counts);
    }
  });

  test('a cap counts unless the order would have fitted with what others had when it was taken, whatever else a price did (MON-08)', () => {
    for (const [change, isPriced, counts] of [
      [{}, false, 1],
      [{ wasUndone: true }, false, 1],
      [{ isForOthers: true }, false, 0],
      [{}, true, 1],
    ] as const) {
      const world = new World();
      world.isPriced = isPriced;
      world.undo(protocolCapBreach, change);
      assert.equal(world.counted.length, counts);
    }
  });
});
