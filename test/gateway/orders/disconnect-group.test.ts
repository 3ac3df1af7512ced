// tier: quick
/** What a connection takes with it, whatever happens to the orders (docs/safety.md, "When your connection or program may fail"). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { OrderId } from '../../../src/core/ids.ts';
import { ORDER_END } from '../../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import type { RawPrice } from '../../../src/core/units.ts';
import { DisconnectGroup, type GroupCancels, Membership } from '../../../src/gateway/orders/entry/disconnect-group.ts';
import { ALICE } from '../../support/names.ts';
import { mustPass, NOW, OrderFixture, replaceRequest } from '../../support/order-fixture.ts';
import { propertyParameters } from '../../support/property.ts';

function taken(parts: readonly GroupCancels[]): string[] {
  const ids: string[] = [];
  for (const part of parts) while (part.size > 0) ids.push(part.take().orderId);
  return ids;
}

/** One order as the test expects it. */
interface Expected {
  readonly id: string;
  readonly createId: number;
  /** 0 before its market has admitted it. */
  sequence: number;
  isOver: boolean;
  readonly memberships: Set<DisconnectGroup>;
}

class World {
  readonly fixture = new OrderFixture();
  readonly groups = Array.from({ length: 3 }, () => new DisconnectGroup());
  readonly orders: Expected[] = [];
  /** Replaces that their market has not answered. */
  readonly replaces: { readonly requestId: number; readonly order: Expected; readonly over: DisconnectGroup }[] = [];

  create(over: DisconnectGroup | null): Expected {
    const id = `o-${this.orders.length}`;
    const createId = mustPass(this.fixture.request({ id, quantity: 10, price: 1_000 }));
    if (over !== null) this.fixture.manager.requests.join(createId, new Membership(over));
    const order = { id, createId, sequence: 0, isOver: false, memberships: new Set(over === null ? [] : [over]) };
    this.orders.push(order);
    return order;
  }

  admit(order: Expected): void {
    order.sequence = this.fixture.nextSequence;
    const { createId: requestId, sequence } = order;
    this.fixture.manager.onAccepted({ requestId, marketIndex: 3, sequence, timeNs: NOW, rejectCode: 0 });
    this.fixture.answer(requestId, sequence);
  }

  refuse(order: Expected): void {
    order.isOver = true;
    this.fixture.answer(order.createId, 0, REJECT_CODE.ORDER_NOT_FOUND);
  }

  end(order: Expected): void {
    order.isOver = true;
    this.fixture.end(order.sequence, ORDER_END.userRequested);
  }

  replace(order: Expected, over: DisconnectGroup): void {
    const { manager } = this.fixture;
    const request = replaceRequest({ orderId: order.id as OrderId, newPriceLimit: 1_005 as RawPrice });
    const prepared = mustPass(manager.requests.checkReplace(request, { user: ALICE, now: NOW, looksUp: false }));
    const requestId = mustPass(manager.requests.reserveReplace(prepared));
    manager.requests.join(requestId, new Membership(over));
    this.replaces.push({ requestId, order, over });
  }

  answerReplace(isMade: boolean): void {
    const replace = this.replaces.shift();
    if (replace === undefined) return;
    const { requestId, order, over } = replace;
    if (isMade && !order.isOver) {
      this.fixture.replaced(order.sequence, 1_005, 10);
      order.memberships.add(over);
    }
    this.fixture.answer(requestId, 0, isMade && !order.isOver ? 0 : REJECT_CODE.REQUEST_TOO_OLD);
  }

  /** Ids of what goes with it. */
  expected(group: DisconnectGroup): string[] {
    const onTheWay = this.replaces.filter(({ over }) => over === group).map(({ order }) => order);
    const orders = this.orders.filter((order) => order.memberships.has(group) || onTheWay.includes(order));
    return orders.filter(({ isOver }) => !isOver).map(({ id }) => id);
  }
}

suite('a connection that takes its orders with it', () => {
  test('an order that was created over one and replaced over another goes with either, once with each', () => {
    const world = new World();
    const [first, second, third] = world.groups as [DisconnectGroup, DisconnectGroup, DisconnectGroup];
    const order = world.create(first);
    world.admit(order);
    world.replace(order, second);
    world.replace(order, second);
    world.replace(order, third);
    world.answerReplace(true);
    assert.deepEqual([first.size, taken(second.end()), taken(second.end())], [1, ['o-0'], []]);
    assert.deepEqual([taken(first.end()), taken(third.end())], [['o-0'], ['o-0']]);
  });

  test('an order with a refused replace stays, a pending one is cancelled, and another with its id is another order', () => {
    const world = new World();
    const [first, second] = world.groups as [DisconnectGroup, DisconnectGroup, DisconnectGroup];
    const order = world.create(null);
    world.admit(order);
    world.replace(order, first);
    world.answerReplace(false);
    assert.deepEqual([first.size, taken(first.end())], [0, []]);
    for (let twin = 0; twin < 2; twin += 1) {
      world.fixture.manager.requests.join(
        mustPass(world.fixture.request({ id: 'twin', quantity: 10 })),
        new Membership(second),
      );
    }
    assert.deepEqual(taken(second.end()), ['twin', 'twin']);
  });

  test('a replace of an order that has ended meanwhile adds nothing to the group', () => {
    const world = new World();
    const [first] = world.groups as [DisconnectGroup, DisconnectGroup, DisconnectGroup];
    const order = world.create(null);
    world.admit(order);
    world.replace(order, first);
    assert.equal(first.size, 1);
    world.end(order);
    assert.equal(first.size, 0);
    world.answerReplace(false);
    assert.deepEqual(taken(first.end()), []);
  });

  test('for any story it leaves exactly what was created or replaced over it and is not over, and keeps nothing else', () => {
    const kinds = ['create', 'plain', 'admit', 'refuse', 'end', 'replace', 'made', 'denied', 'cut'] as const;
    const step = fc.tuple(fc.constantFrom(...kinds), fc.nat(1_000));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const world = new World();
        for (const [kind, pick] of steps) {
          const group = world.groups[pick % 3] as DisconnectGroup;
          const onTheWay = world.orders.filter(({ sequence, isOver }) => sequence === 0 && !isOver);
          const live = world.orders.filter(({ sequence, isOver }) => sequence > 0 && !isOver);
          const waiting = onTheWay[pick % Math.max(1, onTheWay.length)];
          const resting = live[pick % Math.max(1, live.length)];
          if (kind === 'create' && !group.isEnded) world.create(group);
          else if (kind === 'plain') world.create(null);
          else if (kind === 'admit' && waiting !== undefined) world.admit(waiting);
          else if (kind === 'refuse' && waiting !== undefined) world.refuse(waiting);
          else if (kind === 'end' && resting !== undefined) world.end(resting);
          else if (kind === 'replace' && resting !== undefined && !group.isEnded) world.replace(resting, group);
          else if (kind === 'made' || kind === 'denied') world.answerReplace(kind === 'made');
          else if (kind === 'cut' && !group.isEnded) {
            const expected = world.expected(group);
            assert.deepEqual(taken(group.end()).sort(), expected.sort());
            assert.equal(group.size, 0);
          }
        }
        while (world.replaces.length > 0) world.answerReplace(true);
        for (const order of world.orders.filter(({ isOver }) => !isOver)) {
          if (order.sequence === 0) world.refuse(order);
          else world.end(order);
        }
        assert.deepEqual(
          world.groups.map(({ size }) => size),
          [0, 0, 0],
        );
      }),
      propertyParameters(300),
    );
  });
});
