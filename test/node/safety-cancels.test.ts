/** Cancels ordered in advance are not lost, whatever room there is (docs/trading.md, "When you may go away"). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { OrderId, UserId } from '../../src/core/ids.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { MARKET_BUSY } from '../../src/node/door-refusals.ts';
import { SafetyCancels } from '../../src/node/safety-cancels.ts';
import type { PreparedCancel } from '../../src/orders/prepared.ts';
import { ALICE, BOB, mustPass, OrderDesk } from '../support/order-desk.ts';

class World {
  readonly desk = new OrderDesk();
  readonly sent: string[] = [];
  readonly swept: UserId[] = [];
  /** Cancels that find room. */
  room = 0;
  nowNs = 1_000n as TimestampNs;
  readonly cancels: SafetyCancels = new SafetyCancels({
    orders: this.desk.manager,
    bulk: {
      cancelSome: (cancels: readonly PreparedCancel[]) => {
        const fitting = cancels.slice(0, this.room);
        this.room -= fitting.length;
        this.sent.push(...fitting.map(({ orderId }) => orderId));
        return cancels.slice(fitting.length);
      },
      cancelAll: ({ user }) => {
        if (this.room === 0) return MARKET_BUSY;
        this.room -= 1;
        this.swept.push(user);
        return null;
      },
    },
    nowNs: () => this.nowNs,
  });

  /** An order on its way that is tied to these connections. */
  tied(id: string, ...connections: number[]): void {
    const { requestId } = mustPass(this.desk.reserve({ id, quantity: 100 }));
    for (const connection of connections) this.desk.manager.tie(requestId, connection);
  }
}

suite('cancels ordered in advance', () => {
  test('orders of a connection wait for room, in order, until the last has gone', () => {
    const world = new World();
    for (const id of ['a', 'b', 'c']) world.tied(id, 5);
    world.tied('other', 6);
    world.room = 1;
    const lifeline = { connection: 5, isCut: false };
    world.cancels.cut(ALICE, lifeline);
    assert.deepEqual([lifeline.isCut, world.sent, world.cancels.size], [true, ['a'], 2]);
    world.cancels.sendWaiting();
    assert.equal(world.cancels.size, 2);
    world.room = 10;
    world.cancels.sendWaiting();
    assert.deepEqual([world.sent, world.cancels.size], [['a', 'b', 'c'], 0]);
  });

  test('an order that two connections touched goes with the first of them that ends', () => {
    const world = new World();
    world.tied('both', 5, 6);
    world.room = 10;
    world.cancels.cut(ALICE, { connection: 6, isCut: false });
    assert.deepEqual(world.sent, ['both']);
  });

  test('orders of another user stay, and those with a twin on its way are found', () => {
    const world = new World();
    world.tied('twin', 5);
    world.tied('twin', 5);
    world.room = 10;
    world.cancels.cut(BOB, { connection: 5, isCut: false });
    assert.deepEqual(world.sent, []);
    world.cancels.cut(ALICE, { connection: 5, isCut: false });
    assert.deepEqual([...new Set(world.sent)], ['twin' as OrderId]);
  });

  test('a timer that is over is tried until every market was told, and then forgotten', () => {
    const world = new World();
    assert.deepEqual(world.cancels.cancelAllAfter(ALICE, 1_000), { ok: true, value: 1_000_001_000n });
    world.cancels.sendWaiting();
    assert.equal(world.cancels.size, 0);
    world.nowNs = 1_000_001_000n as TimestampNs;
    world.cancels.sendWaiting();
    assert.deepEqual([world.swept, world.cancels.size], [[], 1]);
    world.room = 5;
    world.cancels.sendWaiting();
    world.cancels.sendWaiting();
    assert.deepEqual([world.swept, world.cancels.size], [[ALICE], 0]);
  });
});
