/** Which orders of the tables a replay may change, known from its inputs (AMB-110). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { StateLoader } from '../../src/clearing/loading.ts';
import { ReplayReach } from '../../src/clearing/replay-reach.ts';
import { SIDE, TRIGGER } from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence } from '../../src/core/units.ts';
import { ALICE, BOB, ClearingWorld, ETH, PlainTables, USD } from '../support/clearing-world.ts';

/** A price of the world's market. */
const PRICE = 200_000;

interface Scene {
  readonly world: ClearingWorld;
  readonly maker: Sequence;
  readonly taker: Sequence;
}

/** Two orders that have matched in part. */
function scene(): Scene {
  const world = ClearingWorld.withMarket();
  world.fund(ALICE, USD, '1000000');
  world.fund(BOB, ETH, '1000');
  const maker = world.create({ user: BOB, side: SIDE.sell, price: PRICE, quantity: 20_000 });
  const taker = world.create({ user: ALICE, side: SIDE.buy, price: PRICE, quantity: 20_000 });
  world.match(maker, taker, 1_000, { price: PRICE as RawPrice });
  return { world, maker, taker };
}

/** Orders that are settled, whatever `work` is about to do with them. */
function settledBefore({ world }: Scene, work: () => void): readonly number[] {
  const tables = new PlainTables();
  tables.checkpoint(world.state);
  const from = world.journal.length;
  work();
  const reach = new ReplayReach();
  for (const batch of world.journal.slice(from)) reach.add(batch);
  const loader = new StateLoader(undefined, reach);
  const settled: number[] = [];
  for (const write of tables.storedRows()) {
    if (write.table !== 'order' && write.table !== 'storedOrder') loader.add(write);
    else if (loader.addOrder(write)) settled.push(write.row.orderSequence);
  }
  return settled;
}

suite('what a replay reaches', () => {
  test('both orders of a match, whoever judged them before, and no other', () => {
    const { world, maker, taker } = scene();
    const other = world.create();
    const settled = settledBefore({ world, maker, taker }, () => {
      world.match(maker, taker, 1_000, { price: PRICE as RawPrice });
    });
    assert.deepEqual(settled, [other]);
  });

  test('what waits for a price of the journal or for one on the way to it, and nothing beyond', () => {
    const { world, maker, taker } = scene();
    const waits = (triggerKind: 1 | 2, triggerPrice: number): Sequence => world.create({ triggerKind, triggerPrice });
    const above = [PRICE, PRICE + 100, PRICE + 101].map((price) => waits(TRIGGER.above, price));
    const below = [PRICE + 100, PRICE, PRICE - 1].map((price) => waits(TRIGGER.below, price));
    const settled = settledBefore({ world, maker, taker }, () => {
      world.match(maker, taker, 1, { price: PRICE as RawPrice });
      world.match(maker, taker, 1, { price: (PRICE + 100) as RawPrice });
    });
    assert.deepEqual(settled, [above[2], below[2]]);
  });

  test('what a market names, and its children', () => {
    const { world, maker, taker } = scene();
    const [parent, replaced, other] = [world.create(), world.create(), world.create()];
    world.createChild(parent, { triggerKind: TRIGGER.above, triggerPrice: 2 * PRICE });
    const child = world.createChild(other, { triggerKind: TRIGGER.above, triggerPrice: 2 * PRICE });
    const settled = settledBefore({ world, maker, taker }, () => {
      world.end(parent, 1);
      world.replace(replaced, { prioritySequence: world.next().sequence });
    });
    assert.deepEqual(settled, [maker, taker, other, child]);
  });
});
