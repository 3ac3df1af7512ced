/** Cancels ordered in advance are not lost, whatever room there is (docs/trading.md, "When you may go away"). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { OrderId, UserId } from '../../src/core/ids.ts';
import { REJECT_CODE } from '../../src/core/reject.ts';
import type { RawPrice, TimestampNs } from '../../src/core/units.ts';
import type { Lifeline } from '../../src/edge/oms-backend.ts';
import { MARKET_BUSY } from '../../src/node/door-refusals.ts';
import { SafetyCancels } from '../../src/node/safety-cancels.ts';
import type { PreparedCancel } from '../../src/orders/prepared.ts';
import { ALICE, BOB, mustPass, NOW, OrderDesk, replaceRequest } from '../support/order-desk.ts';

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
    for (const connection of connections) this.desk.manager.tie(requestId, { lifeline: { connection } });
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

  test('a replace ties its order while it is on its way and once it is made, not when its market refused it', () => {
    const world = new World();
    world.room = 10;
    const { manager } = world.desk;
    const replace = (over: Lifeline): number => {
      const request = replaceRequest({ newPriceLimit: 190_000 as RawPrice });
      const prepared = mustPass(manager.checkReplace(request, { user: ALICE, now: NOW, looksUp: true }));
      const requestId = mustPass(manager.reserveReplace(prepared));
      manager.tie(requestId, { lifeline: over });
      return requestId;
    };
    const lifeline = (connection: number): Lifeline => ({ connection, isCut: false });
    const [first, second, third] = [lifeline(5), lifeline(6), lifeline(7)];
    const sequence = world.desk.place();
    world.desk.answer(replace(first), 0, REJECT_CODE.REQUEST_TOO_OLD);
    world.cancels.cut(ALICE, first);
    assert.deepEqual(world.sent, [], 'it was not replaced over this one');
    for (const rejectCode of [0, 0, REJECT_CODE.REQUEST_TOO_OLD]) {
      const requestId = replace(second);
      if (rejectCode === 0) world.desk.replaced(sequence, 190_000, 10_000);
      world.desk.answer(requestId, 0, rejectCode);
    }
    world.cancels.cut(ALICE, second);
    assert.deepEqual(world.sent, ['order-1'], 'once, though it was replaced twice and refused once');
    replace(third);
    world.cancels.cut(ALICE, third);
    assert.deepEqual(world.sent, ['order-1', 'order-1'], 'on its way counts as made');
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
