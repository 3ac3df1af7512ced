/** What a connection takes with it, whatever happens to the orders (docs/trading.md, "When you may go away"). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { OrderId } from '../../../src/core/ids.ts';
import { ORDER_END } from '../../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import type { RawPrice } from '../../../src/core/units.ts';
import { type LeftBehind, Lifeline, Tie } from '../../../src/gateway/orders/lifeline.ts';
import { ALICE, mustPass, NOW, OrderDesk, replaceRequest } from '../../support/order-desk.ts';
import { propertyParameters } from '../../support/property.ts';

function taken(parts: readonly LeftBehind[]): string[] {
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
  readonly ties: Set<Lifeline>;
}

class World {
  readonly desk = new OrderDesk();
  readonly lifelines = Array.from({ length: 3 }, () => new Lifeline());
  readonly orders: Expected[] = [];
  /** Replaces that their market has not answered. */
  readonly replaces: { readonly requestId: number; readonly order: Expected; readonly over: Lifeline }[] = [];

  create(over: Lifeline | null): Expected {
    const id = `o-${this.orders.length}`;
    const createId = mustPass(this.desk.request({ id, quantity: 10, price: 1_000 }));
    if (over !== null) this.desk.manager.requests.tie(createId, new Tie(over));
    const order = { id, createId, sequence: 0, isOver: false, ties: new Set(over === null ? [] : [over]) };
    this.orders.push(order);
    return order;
  }

  admit(order: Expected): void {
    order.sequence = this.desk.nextSequence;
    const { createId: requestId, sequence } = order;
    this.desk.manager.onAdmitted({ requestId, marketIndex: 3, sequence, timeNs: NOW, refusal: 0 });
    this.desk.answer(requestId, sequence);
  }

  refuse(order: Expected): void {
    order.isOver = true;
    this.desk.answer(order.createId, 0, REJECT_CODE.ORDER_NOT_FOUND);
  }

  end(order: Expected): void {
    order.isOver = true;
    this.desk.end(order.sequence, ORDER_END.userRequested);
  }

  replace(order: Expected, over: Lifeline): void {
    const { manager } = this.desk;
    const request = replaceRequest({ orderId: order.id as OrderId, newPriceLimit: 1_005 as RawPrice });
    const prepared = mustPass(manager.requests.checkReplace(request, { user: ALICE, now: NOW, looksUp: false }));
    const requestId = mustPass(manager.requests.reserveReplace(prepared));
    manager.requests.tie(requestId, new Tie(over));
    this.replaces.push({ requestId, order, over });
  }

  answerReplace(isMade: boolean): void {
    const replace = this.replaces.shift();
    if (replace === undefined) return;
    const { requestId, order, over } = replace;
    if (isMade && !order.isOver) {
      this.desk.replaced(order.sequence, 1_005, 10);
      order.ties.add(over);
    }
    this.desk.answer(requestId, 0, isMade && !order.isOver ? 0 : REJECT_CODE.REQUEST_TOO_OLD);
  }

  /** Ids of what goes with it. */
  expected(lifeline: Lifeline): string[] {
    const onTheWay = this.replaces.filter(({ over }) => over === lifeline).map(({ order }) => order);
    const orders = this.orders.filter((order) => order.ties.has(lifeline) || onTheWay.includes(order));
    return orders.filter(({ isOver }) => !isOver).map(({ id }) => id);
  }
}

suite('a connection that takes its orders with it', () => {
  test('an order that was created over one and replaced over another goes with either, once with each', () => {
    const world = new World();
    const [first, second, third] = world.lifelines as [Lifeline, Lifeline, Lifeline];
    const order = world.create(first);
    world.admit(order);
    world.replace(order, second);
    world.replace(order, second);
    world.replace(order, third);
    world.answerReplace(true);
    assert.deepEqual([first.size, taken(second.cut()), taken(second.cut())], [1, ['o-0'], []]);
    assert.deepEqual([taken(first.cut()), taken(third.cut())], [['o-0'], ['o-0']]);
  });

  test('one that was refused a replace stays, one that is on its way goes, and another with its id is another order', () => {
    const world = new World();
    const [first, second] = world.lifelines as [Lifeline, Lifeline, Lifeline];
    const order = world.create(null);
    world.admit(order);
    world.replace(order, first);
    world.answerReplace(false);
    assert.deepEqual([first.size, taken(first.cut())], [0, []]);
    for (let twin = 0; twin < 2; twin += 1) {
      world.desk.manager.requests.tie(mustPass(world.desk.request({ id: 'twin', quantity: 10 })), new Tie(second));
    }
    assert.deepEqual(taken(second.cut()), ['twin', 'twin']);
  });

  test('a replace of an order that has ended meanwhile adds nothing to the group', () => {
    const world = new World();
    const [first] = world.lifelines as [Lifeline, Lifeline, Lifeline];
    const order = world.create(null);
    world.admit(order);
    world.replace(order, first);
    assert.equal(first.size, 1);
    world.end(order);
    assert.equal(first.size, 0);
    world.answerReplace(false);
    assert.deepEqual(taken(first.cut()), []);
  });

  test('for any story it leaves exactly what was created or replaced over it and is not over, and keeps nothing else', () => {
    const kinds = ['create', 'plain', 'admit', 'refuse', 'end', 'replace', 'made', 'denied', 'cut'] as const;
    const step = fc.tuple(fc.constantFrom(...kinds), fc.nat(1_000));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const world = new World();
        for (const [kind, pick] of steps) {
          const lifeline = world.lifelines[pick % 3] as Lifeline;
          const onTheWay = world.orders.filter(({ sequence, isOver }) => sequence === 0 && !isOver);
          const live = world.orders.filter(({ sequence, isOver }) => sequence > 0 && !isOver);
          const waiting = onTheWay[pick % Math.max(1, onTheWay.length)];
          const resting = live[pick % Math.max(1, live.length)];
          if (kind === 'create' && !lifeline.isCut) world.create(lifeline);
          else if (kind === 'plain') world.create(null);
          else if (kind === 'admit' && waiting !== undefined) world.admit(waiting);
          else if (kind === 'refuse' && waiting !== undefined) world.refuse(waiting);
          else if (kind === 'end' && resting !== undefined) world.end(resting);
          else if (kind === 'replace' && resting !== undefined && !lifeline.isCut) world.replace(resting, lifeline);
          else if (kind === 'made' || kind === 'denied') world.answerReplace(kind === 'made');
          else if (kind === 'cut' && !lifeline.isCut) {
            const expected = world.expected(lifeline);
            assert.deepEqual(taken(lifeline.cut()).sort(), expected.sort());
            assert.equal(lifeline.size, 0);
          }
        }
        while (world.replaces.length > 0) world.answerReplace(true);
        for (const order of world.orders.filter(({ isOver }) => !isOver)) {
          if (order.sequence === 0) world.refuse(order);
          else world.end(order);
        }
        assert.deepEqual(
          world.lifelines.map(({ size }) => size),
          [0, 0, 0],
        );
      }),
      propertyParameters(300),
    );
  });
});
