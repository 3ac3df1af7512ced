// tier: quick
/** What every actor gets after a start, and in which order (AMB-110). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { applyBatch } from '../../src/clearing/clearing.ts';
import {
  type ClearingEvent,
  type EffectSinks,
  type RecordSink,
  readClearingEvent,
} from '../../src/clearing/effect-codec.ts';
import { recoverParts } from '../../src/clearing/recovery.ts';
import { liveOrders, restore, restoredCount } from '../../src/clearing/restoring.ts';
import type { ClearingState } from '../../src/clearing/state.ts';
import { LOAD_ORDER } from '../../src/clearing/tables.ts';
import { ORDER_END, TIF, TRIGGER } from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence, TimestampNs } from '../../src/core/units.ts';
import { type Views, viewsOf } from '../../src/core/views.ts';
import { MARK_STALE_NS } from '../../src/risk/prices.ts';
import { NodeEvent, OrderRecord, OrderRestoredAtBoot } from '../../src/schema/generated/messages.ts';
import { ClearingWorld, PlainTables } from '../support/clearing-world.ts';
import { MarginWorld } from '../support/margin-world.ts';
import { ALICE, BOB, CAROL, ETH, USD } from '../support/names.ts';

const MARK = { timeNs: 0n as TimestampNs, sequence: 1 as Sequence, clean: false, stateHash: null };

interface Told {
  readonly order: number;
  readonly parent: number;
}

/** Keeps the orders that it gets, and the kinds of cold events. */
class OrderSink implements RecordSink {
  readonly views: Views = viewsOf(new ArrayBuffer(1 << 16), 0, 1 << 16);
  readonly told: Told[] = [];
  readonly news: ClearingEvent[] = [];
  #type = 0;

  claim(typeId: number): number {
    this.#type = typeId;
    return 0;
  }

  commit(): void {
    if (this.#type === NodeEvent.typeId) this.news.push(readClearingEvent(this.views, 0));
    if (this.#type !== OrderRestoredAtBoot.typeId) return;
    this.told.push({
      order: OrderRecord.orderSequence(this.views, OrderRestoredAtBoot.orderAt),
      parent: OrderRestoredAtBoot.parent(this.views, 0),
    });
  }
}

interface Received {
  readonly gateway: readonly Told[];
  readonly market: readonly Told[];
}

const NO_PAST = { rememberedIds: () => [], idWatermarks: () => [], signedText: () => null };

function sinks(): { readonly to: EffectSinks; readonly received: () => Received } {
  const [gateway, market, data] = [new OrderSink(), new OrderSink(), new OrderSink()];
  const received = (): Received => {
    assert.deepEqual(data.told, []);
    return { gateway: gateway.told, market: market.told };
  };
  return { to: { gateway, data, shards: [market], market: () => market }, received };
}

function restored({ state, nowNs }: Pick<ClearingWorld, 'state' | 'nowNs'>): Received {
  const { to, received } = sinks();
  let last = 0;
  for (const sent of restore(state, liveOrders(state), to, { durability: NO_PAST, nowNs })) {
    assert.ok(sent >= last && sent <= restoredCount(state));
    last = sent;
  }
  assert.equal(last, restoredCount(state));
  return received();
}

/** Out of the tables of the world, the restart applied behind them. */
function restarted(world: ClearingWorld): Received & { readonly state: ClearingState } {
  const tables = new PlainTables();
  tables.checkpoint(world.state);
  const rows = LOAD_ORDER.flatMap((table) => tables.of(table));
  const recovery = {
    checkpoint: MARK,
    rows,
    rowCount: rows.length,
    orderCount: tables.of('order').length,
    lastTimeNs: world.nowNs,
    batches: [],
    batchCount: 0,
  };
  const parts = recoverParts(recovery, {});
  let part = parts.next();
  while (part.done !== true) part = parts.next();
  const { state } = part.value;
  applyBatch(state, { timeNs: world.nowNs, inputs: [{ kind: 'restarted', clean: false }], verdicts: [] }, []);
  return { ...restored({ state, nowNs: world.nowNs }), state };
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

suite('liquidations that are sent after a start', () => {
  test('each has begun, and the cancels that had no answer are asked for again, behind all orders (AMB-57, AMB-110)', () => {
    const world = MarginWorld.make();
    for (const user of [ALICE, CAROL]) world.fund(user, USD, '300', 1);
    world.fund(BOB, USD, '100000', 1);
    for (const user of [ALICE, CAROL]) {
      assert.equal(world.trade({ buyer: { user: BOB }, seller: { user }, price: 2000, quantity: 1 }), 'confirmed');
    }
    world.pass(MARK_STALE_NS + 1n);
    world.prices({ [ETH]: '2200' });
    for (const user of [ALICE, CAROL]) world.send({ kind: 'liquidationStep', user, subAccount: 1 });
    world.send({ kind: 'accountCleared', request: 1, user: CAROL, subAccount: 1, through: [] });
    world.send({ kind: 'liquidationStep', user: CAROL, subAccount: 1 });
    world.send({ kind: 'restarted', clean: false });
    const gateway = new OrderSink();
    const to: EffectSinks = { gateway, data: new OrderSink(), shards: [], market: () => new OrderSink() };
    for (const _ of restore(world.state, liveOrders(world.state), to, { durability: NO_PAST, nowNs: world.nowNs }));
    const sent = gateway.news.flatMap((news) => {
      return news.kind === 'liquidationChanged' || news.kind === 'cancelAccount' ? [[news.kind, news.user]] : [];
    });
    assert.deepEqual(sent, [
      ['liquidationChanged', ALICE],
      ['liquidationChanged', CAROL],
      ['cancelAccount', ALICE],
    ]);
    assert.equal(gateway.news.at(-1)?.kind, 'cancelAccount');
  });
});

suite('orders that are sent after a start', () => {
  test('each once, in the order of admission, to its market and to the gateway (AMB-110)', () => {
    const world = funded();
    const [first, second, third] = [world.create(), world.create(), world.create()];
    world.replace(first, { ...later(world), price: 190_000 as RawPrice });
    const { gateway, market } = restored(world);
    assert.deepEqual(
      market.map(({ order }) => order),
      [first, second, third],
    );
    assert.deepEqual(gateway, market);
    const { state: _, ...again } = restarted(world);
    assert.deepEqual(again, { gateway, market });
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
    const { gateway, market } = restored(world);
    assert.deepEqual(market, [
      { order: grandparent, parent: 0 },
      { order: parent, parent: grandparent },
      { order: child, parent },
      { order: other, parent: 0 },
    ]);
    assert.deepEqual(gateway, market);
  });

  test('a child whose parent is over names none', () => {
    const world = funded();
    const parent = world.create();
    const child = world.createChild(parent, { triggerKind: TRIGGER.above, triggerPrice: 220_000 });
    world.end(parent, 1);
    assert.deepEqual(restored(world).market, [{ order: child, parent: 0 }]);
  });

  test('what a restart ends is not sent; what it changes is sent as it is then (AMB-110)', () => {
    const world = funded();
    const [stays, gone] = [world.create(), world.create({ tif: TIF.ioc })];
    const parent = world.create();
    const cut = world.createChild(parent, { triggerKind: TRIGGER.above, triggerPrice: 220_000 });
    world.end(parent, ORDER_END.userRequested);
    const { market, gateway, state } = restarted(world);
    assert.deepEqual(gateway, market);
    // Nothing of the child was enabled: it is over as its parent is (AMB-29).
    assert.deepEqual(market, [{ order: stays, parent: 0 }]);
    for (const ended of [gone, cut]) assert.equal(state.markets[0]?.orders.has(ended), false);
  });
});
