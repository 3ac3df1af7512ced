// tier: quick

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  ORDER_END,
  ORDER_FLAG,
  ORDER_KIND,
  ROLLBACK_REASON,
  SIDE,
  TIF,
  TRIGGER,
  TRIGGER_STATE,
  type TriggerKind,
} from '../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity, Sequence } from '../../src/core/units.ts';
import { ClearingWorld, effectsOf, type OrderTerms, PlainTables, reasonsOf, user } from '../support/clearing-world.ts';
import { ALICE, BOB, CAROL, ETH, USD } from '../support/names.ts';

const E18 = 10n ** 18n;
const R = ROLLBACK_REASON;
const ABOVE = { triggerKind: TRIGGER.above, triggerPrice: 210_000 };
const SELL = { user: BOB, side: SIDE.sell };

function funded(): ClearingWorld {
  const world = ClearingWorld.withMarket();
  world.fund(ALICE, USD, '10000');
  world.fund(BOB, ETH, '10');
  world.fund(BOB, USD, '10000');
  return world;
}

/** Bob buys 4 ETH at 2000, and would sell 3 of them again at 2100 or above. */
function family(terms: OrderTerms = {}): { world: ClearingWorld; parent: Sequence; child: Sequence } {
  const world = funded();
  world.fund(CAROL, ETH, '10');
  const parent = world.create({ user: BOB, quantity: 40_000 });
  const child = world.createChild(parent, { ...SELL, ...ABOVE, price: 210_000, quantity: 30_000, ...terms });
  return { world, parent, child };
}

/** Carol sells into the parent. */
function fillParent(world: ClearingWorld, parent: Sequence, quantity: number): void {
  const seller = world.create({ user: CAROL, side: SIDE.sell, quantity });
  assert.equal(effectsOf(world.match(parent, seller, quantity), 'fillConfirmed').length, 1);
}

suite('triggers', () => {
  test('dormant and fired orders reserve nothing, a released one holds like any other (AMB-28, AMB-52)', () => {
    const world = funded();
    const order = world.create({ ...SELL, ...ABOVE, quantity: 20_000 });
    assert.equal(world.order(order)?.triggerState, TRIGGER_STATE.dormant);
    assert.equal(world.held(BOB, ETH), 0n);
    world.triggered(order, 20_000);
    assert.equal(world.order(order)?.triggerState, TRIGGER_STATE.fired);
    assert.equal(world.held(BOB, ETH), 0n);
    const { sequence } = world.next();
    world.activated(order, 20_000);
    assert.equal(world.order(order)?.triggerState, TRIGGER_STATE.live);
    assert.equal(world.order(order)?.prioritySequence, sequence);
    assert.equal(world.held(BOB, ETH), 2n * E18);
    assert.equal(world.order(order)?.triggerPrice, 210_000, 'it keeps the trigger that released it');
  });

  test('an order that is not released does not fill (FIL-10, FIL-17)', () => {
    const world = funded();
    const maker = world.create({ ...SELL, ...ABOVE });
    const taker = world.create();
    const refused = [[R.invalidOrder, R.counterpartyAtFault]];
    assert.deepEqual(reasonsOf(world.match(maker, taker, 1)), refused);
    world.triggered(maker, 10_000);
    assert.deepEqual(reasonsOf(world.match(maker, taker, 1)), refused);
    world.activated(maker, 10_000);
    assert.deepEqual(reasonsOf(world.match(maker, taker, 1)), []);
  });

  test('a replace of a waiting order moves its trigger, one of a released order leaves it (AMB-20)', () => {
    const world = funded();
    const order = world.create({ ...SELL, ...ABOVE });
    const moved = { triggerKind: TRIGGER.below, triggerPrice: 190_000 as RawPrice };
    world.replace(order, { ...moved, quantity: 5_000 as RawQuantity });
    assert.deepEqual(
      [world.order(order)?.triggerKind, world.order(order)?.triggerPrice, world.order(order)?.enabledQuantity],
      [TRIGGER.below, 190_000, 5_000],
    );
    world.triggered(order, 5_000);
    world.activated(order, 5_000);
    world.replace(order, { quantity: 6_000 as RawQuantity });
    assert.equal(world.order(order)?.triggerKind, TRIGGER.below);
    assert.equal(world.held(BOB, ETH), 6_000n * 10n ** 14n);
  });

  test('a confirmed price fires what it reaches, so that a crash before the market’s word misses no stop (TRG-03, AMB-28)', () => {
    const stop = (triggerKind: TriggerKind, triggerPrice: number): OrderTerms => ({
      ...SELL,
      triggerKind,
      triggerPrice,
    });
    const world = funded();
    const [reached, beyond] = [200_000, 200_001].map((price) => world.create(stop(TRIGGER.above, price)));
    const [under, at] = [199_999, 200_000].map((price) => world.create(stop(TRIGGER.below, price)));
    const maker = world.create({ ...SELL, quantity: 50_000 });
    const states = () => [reached, beyond, under, at].map((order) => world.order(order as Sequence)?.triggerState);
    const { dormant, fired } = TRIGGER_STATE;
    world.match(maker, world.create({ user: CAROL }), 10_000);
    assert.deepEqual(states(), [dormant, dormant, dormant, dormant], 'a fill that rolled back has no price');
    world.match(maker, world.create(), 10_000);
    assert.deepEqual(states(), [fired, dormant, dormant, fired]);
    const late = world.create(stop(TRIGGER.above, 200_000));
    assert.equal(world.order(late)?.triggerState, dormant, 'a true condition waits for the next trade');
    world.send({ kind: 'restarted', clean: false });
    assert.deepEqual(states(), [fired, dormant, dormant, fired]);
    world.triggered(reached as Sequence, 10_000);
    assert.deepEqual(states(), [fired, dormant, dormant, fired]);
  });

  test('a trigger that its market moved before it received the price waits again (AMB-20)', () => {
    const world = funded();
    const order = world.create({ ...SELL, triggerKind: TRIGGER.above, triggerPrice: 200_000 });
    world.match(world.create(SELL), world.create(), 10_000);
    const same = { triggerKind: TRIGGER.above, triggerPrice: 200_000 as RawPrice };
    world.replace(order, { ...same, quantity: 5_000 as RawQuantity });
    assert.equal(world.order(order)?.triggerState, TRIGGER_STATE.fired);
    world.replace(order, { ...same, triggerPrice: 200_500 as RawPrice });
    assert.equal(world.order(order)?.triggerState, TRIGGER_STATE.dormant);
    world.match(world.create(SELL), world.create(), 10_000);
    assert.equal(world.order(order)?.triggerState, TRIGGER_STATE.dormant);
    world.match(world.create(SELL), world.create({ price: 200_500 }), 10_000, { price: 200_500 as RawPrice });
    assert.equal(world.order(order)?.triggerState, TRIGGER_STATE.fired);
  });

  test('dormant and fired orders of any kind outlive a start, in their state (AMB-28, AMB-110)', () => {
    const world = funded();
    const kinds = [{}, { tif: TIF.ioc }, { kind: ORDER_KIND.marketBase, tif: TIF.fok, price: 0 }];
    const orders = kinds.map((terms) => world.create({ ...SELL, ...ABOVE, ...terms }));
    const fired = world.create({ ...SELL, ...ABOVE, tif: TIF.ioc });
    world.triggered(fired, 10_000);
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    world.state = tables.load();
    assert.deepEqual(effectsOf(world.send({ kind: 'restarted', clean: false }), 'orderEnded'), []);
    assert.deepEqual(
      [...orders, fired].map((order) => world.order(order)?.triggerState),
      [TRIGGER_STATE.dormant, TRIGGER_STATE.dormant, TRIGGER_STATE.dormant, TRIGGER_STATE.fired],
    );
  });
});

suite('children', () => {
  test('as many lots of a child are enabled as its parent’s fills have confirmed (TRG-07, AMB-29)', () => {
    const { world, parent, child } = family();
    assert.equal(world.order(child)?.enabledQuantity, 0);
    fillParent(world, parent, 12_000);
    assert.equal(world.order(child)?.enabledQuantity, 12_000);
    const late = world.createChild(parent, { ...SELL, ...ABOVE, quantity: 50_000 });
    assert.equal(world.order(late)?.enabledQuantity, 12_000, 'also of one that comes later');
    fillParent(world, parent, 28_000);
    assert.equal(world.order(parent), undefined);
    assert.equal(world.order(child)?.enabledQuantity, 30_000);
    assert.equal(world.order(late)?.enabledQuantity, 40_000);
  });

  test('a fill that rolls back enables nothing (TRG-03, AMB-29)', () => {
    const { world, parent, child } = family();
    const poor = world.create({ user: ALICE, side: SIDE.sell });
    assert.deepEqual(reasonsOf(world.match(parent, poor, 10_000)), [[R.counterpartyAtFault, R.insufficientInventory]]);
    assert.equal(world.order(child)?.enabledQuantity, 0);
  });

  test('a child that is live in part holds and fills what is enabled, and no more (AMB-29, FIL-11)', () => {
    const { world, parent, child } = family();
    fillParent(world, parent, 10_000);
    world.triggered(child, 10_000);
    world.activated(child, 10_000);
    assert.equal(world.held(BOB, ETH), E18);
    const buyer = world.create({ price: 210_000, quantity: 40_000 });
    const at = { price: 210_000 as RawPrice };
    assert.deepEqual(reasonsOf(world.match(child, buyer, 10_001, at)), [[R.overfill, R.counterpartyAtFault]]);
    assert.deepEqual(reasonsOf(world.match(child, buyer, 10_000, at)), []);
    assert.equal(world.order(child)?.filledQuantity, 10_000);
    assert.equal(world.held(BOB, ETH), 0n);
    fillParent(world, parent, 30_000);
    world.triggered(child, 30_000);
    assert.equal(world.order(child)?.triggerState, TRIGGER_STATE.live, 'what was released stays released');
    assert.equal(world.held(BOB, ETH), 2n * E18);
    world.activated(child, 30_000);
    assert.deepEqual(reasonsOf(world.match(child, buyer, 20_000, at)), []);
    assert.equal(world.finished(child)?.end, ORDER_END.filled);
  });

  test('what an IOC child did not get is held no more once its market has another event (AMB-29, AMB-52)', () => {
    const { world, parent, child } = family({ tif: TIF.ioc });
    const buyer = world.create({ price: 210_000, quantity: 40_000 });
    fillParent(world, parent, 10_000);
    world.triggered(child, 10_000);
    world.activated(child, 10_000);
    world.match(buyer, child, 4_000, { price: 210_000 as RawPrice });
    world.create();
    assert.equal(world.held(BOB, ETH), 0n);
    fillParent(world, parent, 5_000);
    assert.equal(world.held(BOB, ETH), E18 / 2n, 'what is enabled since is held');
  });

  test('what a finished parent has enabled stays, the rest goes with its market’s event (AMB-29)', () => {
    const { world, parent, child } = family();
    fillParent(world, parent, 10_000);
    world.end(parent, ORDER_END.userRequested);
    assert.equal(world.order(child)?.enabledQuantity, 10_000);
    world.replace(child, { quantity: 10_000 as RawQuantity, ...ABOVE, triggerPrice: 210_000 as RawPrice });
    assert.equal(world.order(child)?.enabledQuantity, 10_000);
    world.replace(child, { quantity: 15_000 as RawQuantity });
    assert.equal(world.order(child)?.enabledQuantity, 15_000, 'from here on it is an order like any other');
  });

  test('a start keeps what was released of a child, and one that never rests while more may be (AMB-29, AMB-110)', () => {
    for (const tif of [TIF.gtc, TIF.ioc]) {
      const { world, parent, child } = family({ tif });
      fillParent(world, parent, 10_000);
      world.triggered(child, 10_000);
      world.activated(child, 10_000);
      world.create();
      fillParent(world, parent, 5_000);
      const tables = new PlainTables();
      tables.checkpoint(world.state);
      const held = world.held(BOB, ETH);
      world.state = tables.load();
      assert.deepEqual(effectsOf(world.send({ kind: 'restarted', clean: false }), 'orderEnded'), []);
      assert.equal(world.held(BOB, ETH), held, 'what it has dropped stays dropped');
      const row = world.order(child);
      assert.deepEqual([row?.activatedQuantity, row?.enabledQuantity], [10_000, 15_000]);
      fillParent(world, parent, 15_000);
      world.activated(child, 30_000);
      assert.deepEqual([world.order(child)?.activatedQuantity, world.order(child)?.parentSequence], [0, 0], 'whole');
    }
  });

  test('when all that its parent has enabled is in force, it is an order like any other (AMB-29)', () => {
    const { world, parent, child } = family({ tif: TIF.ioc });
    fillParent(world, parent, 10_000);
    world.triggered(child, 10_000);
    world.activated(child, 10_000);
    world.end(parent, ORDER_END.userRequested);
    const ended = effectsOf(world.send({ kind: 'restarted', clean: false }), 'orderEnded');
    assert.deepEqual(
      ended.map(({ row }) => [row.orderSequence, row.end, row.quantity]),
      [[child, ORDER_END.immediateOrCancel, 10_000]],
    );
  });

  test('a child whose parent was filled before it came is enabled whole: it wants no more than those fills', () => {
    const { world, parent } = family();
    fillParent(world, parent, 40_000);
    const child = world.createChild(parent, { ...SELL, ...ABOVE, quantity: 15_000 });
    assert.equal(world.order(child)?.enabledQuantity, 15_000);
  });

  test('a child that is replaced before its market receives its parent’s end is enabled no further (AMB-19, AMB-29, AMB-110)', () => {
    for (const quantity of [35_000, 20_000, 8_000]) {
      const { world, parent, child } = family();
      fillParent(world, parent, 10_000);
      world.end(parent, ORDER_END.userRequested);
      world.replace(child, { quantity: quantity as RawQuantity });
      assert.equal(world.order(child)?.enabledQuantity, Math.min(quantity, 10_000));
      world.send({ kind: 'restarted', clean: false });
      assert.equal(world.order(child)?.quantity, Math.min(quantity, 10_000), 'a kill before the market’s last word');
    }
  });

  test('a start takes off what the parent can enable no more, also of a parent that ends there (AMB-29, AMB-110)', () => {
    const { world, parent, child } = family();
    const untouched = world.createChild(parent, { ...SELL, ...ABOVE, quantity: 10_000 });
    fillParent(world, parent, 10_000);
    const broke = world.create({ user: user('d4') });
    const hopeless = world.createChild(broke, { user: user('d4'), side: SIDE.sell, ...ABOVE });
    world.match(world.create(SELL), broke, 1);
    world.end(parent, ORDER_END.userRequested);
    const ended = effectsOf(world.send({ kind: 'restarted', clean: false }), 'orderEnded');
    assert.deepEqual(
      ended.map((effect) => [effect.row.orderSequence, effect.row.end]),
      [
        [broke, ORDER_END.atFault],
        [hopeless, ORDER_END.parentCanceled],
      ],
    );
    assert.equal(world.order(child)?.quantity, 10_000);
    assert.equal(world.order(child)?.triggerState, TRIGGER_STATE.dormant);
    assert.equal(world.order(untouched)?.quantity, 10_000);
  });

  test('parents and children are the same after a checkpoint and a start (AMB-110)', () => {
    const { world, parent, child } = family();
    fillParent(world, parent, 10_000);
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    world.state = tables.load();
    world.send({ kind: 'restarted', clean: false });
    fillParent(world, parent, 5_000);
    assert.equal(world.order(child)?.enabledQuantity, 15_000);
    assert.equal(world.order(child)?.quantity, 30_000);
  });
});

suite('cancel-pending orders', () => {
  test('a cancel-pending order is gone for good: a start ends it as its user requested (AMB-23, AMB-110)', () => {
    const world = funded();
    const maker = world.create({ ...SELL, quantity: 20_000 });
    world.send({ kind: 'hold', request: 1, asset: ETH });
    world.match(maker, world.create({ quantity: 20_000 }), 20_000);
    world.cancelPending(maker);
    const [ended] = effectsOf(world.send({ kind: 'restarted', clean: false }), 'orderEnded');
    assert.equal(ended?.row.orderSequence, maker);
    assert.equal(ended?.row.end, ORDER_END.userRequested);
    assert.equal(world.held(BOB, ETH), 0n);
  });

  test('one whose fills confirm is filled, before or after the word of its cover (AMB-23)', () => {
    const world = funded();
    const maker = world.create(SELL);
    world.match(maker, world.create(), 10_000);
    assert.equal(world.finished(maker)?.end, ORDER_END.filled);
    assert.deepEqual(effectsOf(world.cancelPending(maker), 'orderEnded'), []);
    assert.equal(world.finished(maker)?.end, ORDER_END.filled);
  });

  test('one of which a fill rolled back lives until its market publishes the cancel (AMB-23, AMB-32 d)', () => {
    const world = funded();
    const maker = world.create(SELL);
    world.match(maker, world.create({ user: CAROL }), 10_000);
    world.cancelPending(maker);
    assert.equal((world.order(maker)?.flags ?? 0) & ORDER_FLAG.cancelPending, ORDER_FLAG.cancelPending);
    world.end(maker, ORDER_END.userRequested);
    assert.equal(world.finished(maker)?.end, ORDER_END.userRequested);
  });
});
