/** What everybody is told after a start, and in which order (AMB-110). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { TRIGGER } from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence } from '../../src/core/units.ts';
import { type Views, viewsOf } from '../../src/core/views.ts';
import { OrderRestoredAtBoot } from '../../src/messages/generated/messages.ts';
import type { RecordSink } from '../../src/node/effect-codec.ts';
import { restoredCount, restoreParts } from '../../src/node/restoring.ts';
import { ALICE, BOB, ClearingWorld, ETH, USD } from '../support/clearing-world.ts';

interface Told {
  readonly order: number;
  readonly parent: number;
}

/** Keeps the orders that it is told of. */
class OrderSink implements RecordSink {
  readonly views: Views = viewsOf(new ArrayBuffer(1 << 16), 0, 1 << 16);
  readonly told: Told[] = [];
  #type = 0;

  claim(typeId: number): number {
    this.#type = typeId;
    return 0;
  }

  commit(): void {
    if (this.#type !== OrderRestoredAtBoot.typeId) return;
    this.told.push({
      order: OrderRestoredAtBoot.order(this.views, 0),
      parent: OrderRestoredAtBoot.parent(this.views, 0),
    });
  }
}

function restored(world: ClearingWorld): { readonly door: readonly Told[]; readonly market: readonly Told[] } {
  const [door, market, data] = [new OrderSink(), new OrderSink(), new OrderSink()];
  const durability = { rememberedIds: () => [], idWatermarks: () => [] };
  const to = { door, data, shards: [market], market: () => market };
  for (const told of restoreParts({ state: world.state, durability, nowNs: world.nowNs, to })) {
    assert.ok(told <= restoredCount(world.state));
  }
  assert.deepEqual(data.told, []);
  return { door: door.told, market: market.told };
}

function funded(): ClearingWorld {
  const world = ClearingWorld.withMarket();
  world.fund(ALICE, USD, '1000000');
  world.fund(BOB, ETH, '1000');
  return world;
}

function later(world: ClearingWorld): { readonly prioritySequence: Sequence } {
  return { prioritySequence: world.next().sequence };
}

suite('orders that are told after a start', () => {
  test('each once, in the order of priorities, to its market and to the front door (AMB-110)', () => {
    const world = funded();
    const [first, second, third] = [world.create(), world.create(), world.create()];
    world.replace(first, { ...later(world), price: 190_000 as RawPrice });
    const { door, market } = restored(world);
    assert.deepEqual(
      market.map(({ order }) => order),
      [second, third, first],
    );
    assert.deepEqual(door, market);
  });

  test('a parent comes before its children, though they have the earlier priority; what waits names it (AMB-29)', () => {
    const world = funded();
    const waits = { triggerKind: TRIGGER.above, triggerPrice: 220_000 };
    const grandparent = world.create();
    const parent = world.createChild(grandparent, waits);
    const child = world.createChild(parent, waits);
    const other = world.create();
    world.replace(parent, { ...later(world), triggerKind: TRIGGER.above, triggerPrice: 230_000 as RawPrice });
    world.replace(grandparent, { ...later(world), price: 190_000 as RawPrice });
    const { door, market } = restored(world);
    assert.deepEqual(market, [
      { order: grandparent, parent: 0 },
      { order: parent, parent: grandparent },
      { order: child, parent },
      { order: other, parent: 0 },
    ]);
    assert.deepEqual(door, market);
  });

  test('a child whose parent is over names none', () => {
    const world = funded();
    const parent = world.create();
    const child = world.createChild(parent, { triggerKind: TRIGGER.above, triggerPrice: 220_000 });
    world.end(parent, 1);
    assert.deepEqual(restored(world).market, [{ order: child, parent: 0 }]);
  });
});
