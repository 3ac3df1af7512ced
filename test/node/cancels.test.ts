// tier: full, 6 s
/** Cancels of one, some and all, and replaces of what is gone (CAN-04 to CAN-12, RPL-09 to RPL-12, AMB-18, AMB-23). */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { TestNode } from '../support/test-node.ts';
import { below, limit } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const FUNDS = { '0': '1000000', '1': '10', '2': '1000' };
const ACCEPTED = '202 {"status":"accepted"}';

suite('cancels', () => {
  let world: TestNode;
  let own: Trader;
  let other: Trader;

  before(async () => {
    world = await TestNode.start();
    own = await world.trader(FUNDS);
    other = await world.trader(FUNDS);
  });

  afterEach(() => world.clear());
  after(() => world.stop());

  test('a second cancel answers ALREADY_CANCELLED, one of a filled order that there is none (CAN-04, AMB-23)', async () => {
    const order = await own.sell(limit(300_000, 10_000));
    assert.equal((await own.cancel(order.id)).word, 'Received');
    const again = await own.cancel(order.id);
    assert.deepEqual([again.status, again.word], [409, 'ALREADY_CANCELLED']);
    const filled = await own.sell(limit(300_000, 10));
    await other.buy(limit(300_000, 10));
    await own.until(filled.id, 'Removed Filled');
    const late = await own.cancel(filled.id);
    assert.deepEqual([late.status, late.word], [404, 'ORDER_NOT_FOUND']);
  });

  test('durable: a cancel, and that an order is cancelled already, is answered when clearing has flushed it (AMB-16)', async () => {
    const DELAY_MS = 600;
    const order = await own.sell(limit(300_000, 10_000));
    const parted = await own.sell(limit(300_100, 10_000));
    await world.rest();
    await world.operate('PATCH', '/operator/settings', { acks: 'durable' });
    await world.operate('POST', '/operator/clearing', { delay_ms: DELAY_MS });
    const took = async (answer: Promise<{ readonly word: string }>): Promise<readonly [string, boolean]> => {
      const from = performance.now();
      const { word } = await answer;
      return [word, performance.now() - from >= DELAY_MS / 2];
    };
    assert.deepEqual(await took(own.cancel(order.id)), ['Received', true]);
    const both = await Promise.all([took(own.cancel(parted.id)), took(own.cancel(parted.id))]);
    assert.deepEqual(both.map(([word]) => word).sort(), ['ALREADY_CANCELLED', 'Received']);
    assert.ok(both.every(([, waited]) => waited));
    await world.operate('PATCH', '/operator/settings', { acks: 'optimistic' });
    await world.operate('POST', '/operator/clearing', { delay_ms: 0 });
  });

  test('cancel-all needs no signature, takes everything that was sequenced before it, and publishes each on the stream (CAN-05, CAN-07, CAN-11, CAN-12)', async () => {
    const orders = [
      await own.sell(limit(300_000, 10_000)),
      await own.buy(limit(200_000, 10_000)),
      await own.sell(limit(280_000, 10_000), { trigger: below(290_000) }),
      await own.sell(limit(600_000, 10_000), { asset: '1' }),
    ];
    const foreign = await other.sell(limit(300_000, 10_000));
    assert.equal(await own.cancelAll(), ACCEPTED);
    for (const { id } of orders) {
      assert.deepEqual(await own.until(id, 'Canceled UserRequested'), ['Created', 'Canceled UserRequested']);
    }
    assert.equal(await other.status(foreign.id), 'Open');
    for (const asset of ['0', '1', '2']) assert.equal(await own.held(asset), '0', `asset ${asset}`);
    assert.equal(await own.cancelAll(), ACCEPTED, 'nothing left is no mistake');
  });

  test('max_ts takes what is strictly older; a replace makes an order younger (CAN-06, AMB-18)', async () => {
    const first = await own.sell(limit(300_000, 10_000), { createdNs: world.nowNs - 3_000n });
    const second = await own.sell(limit(300_000, 10_000), { createdNs: world.nowNs - 2_000n });
    const replaced = await own.sell(limit(300_000, 10_000), { createdNs: world.nowNs - 3_000n });
    await own.replace(replaced.id, { price: 300_100 });
    assert.equal(await own.cancelAll('', `?max_ts=${world.nowNs - 2_000n}`), ACCEPTED);
    await own.until(first.id, 'Canceled UserRequested');
    await world.rest();
    assert.deepEqual([await own.status(second.id), await own.status(replaced.id)], ['Open', 'Open']);
    assert.equal(await own.cancelAll('', '?max_ts=0'), ACCEPTED);
    await world.rest();
    assert.equal(await own.status(second.id), 'Open', 'nothing is older than 0');
    for (const bad of ['-1', '1.5', 'soon']) assert.match(await own.cancelAll('', `?max_ts=${bad}`), /^400 /, bad);
  });

  test('one market is cancelled and the other stays (CAN-08)', async () => {
    const here = await own.sell(limit(300_000, 10_000));
    const there = await own.sell(limit(600_000, 10_000), { asset: '1' });
    assert.equal(await own.cancelAll('/2'), ACCEPTED);
    await own.until(here.id, 'Canceled UserRequested');
    await world.rest();
    assert.equal(await own.status(there.id, '1'), 'Open');
    assert.match(await own.cancelAll('/77'), /^404 .*MARKET_NOT_FOUND/);
  });

  test('cancel-batch takes own orders of the list and lets foreign and unknown ids be (CAN-09, CAN-10)', async () => {
    const mine = [await own.sell(limit(300_000, 10_000)), await own.sell(limit(301_000, 10_000))];
    const twice = await own.sell(limit(302_000, 10_000), { id: 'in-two-markets' });
    await own.sell(limit(600_000, 10_000), { id: 'in-two-markets', asset: '1' });
    const stays = await own.sell(limit(303_000, 10_000));
    const foreign = await other.sell(limit(300_000, 10_000));
    const ids = [...mine.map(({ id }) => id), mine[0]?.id, foreign.id, 'nobody', twice.id];
    assert.equal(await own.cancelBatch({ order_ids: ids }), ACCEPTED);
    for (const { id } of mine) await own.until(id, 'Canceled UserRequested');
    await world.rest();
    assert.deepEqual([await own.status(twice.id), await own.status(twice.id, '1')], ['Canceled', 'Canceled']);
    assert.deepEqual([await own.status(stays.id), await other.status(foreign.id)], ['Open', 'Open']);
    assert.equal(await own.cancelBatch([stays.id]), ACCEPTED, 'a bare array is read too');
    await own.until(stays.id, 'Canceled UserRequested');
  });

  test('a cancel of an order that is wholly pending forbids its return, also over a kill (AMB-23, AMB-32 d)', async () => {
    await world.hook({ hold: true });
    const covered = await own.sell(limit(300_000, 10_000));
    const swept = await own.sell(limit(300_000, 10_000));
    await other.buy(limit(300_000, 20_000, 'IOC'));
    assert.equal((await own.cancel(covered.id)).word, 'Received');
    assert.equal(await own.cancelAll(), ACCEPTED);
    await world.rest();
    assert.deepEqual(own.eventsOf(covered.id), ['Created'], 'its end is not decided yet');
    await world.restart();
    await world.rest();
    assert.deepEqual([await own.status(covered.id), await own.status(swept.id)], ['Canceled', 'Canceled']);
    assert.deepEqual(await world.depth(), { asks: [], bids: [] });
    assert.equal(await own.held('2'), '0');
    const again = await own.sell(limit(300_000, 10_000), { id: covered.id });
    assert.equal(again.word, 'DUPLICATE_ORDER');
  });

  for (const { reason, end, status } of [
    { reason: null, end: 'Removed Filled', status: 'Filled' },
    { reason: 'InsufficientInventory', end: 'Canceled UserRequested', status: 'Canceled' },
  ]) {
    test(`a cancel-pending order ${reason === null ? 'whose fill is confirmed is filled' : 'whose fill rolls back is cancelled'} (AMB-23)`, async () => {
      await world.hook({ hold: true });
      const order = await own.sell(limit(300_000, 10_000));
      await other.buy(limit(300_000, 10_000, 'IOC'));
      assert.equal((await own.cancel(order.id)).word, 'Received');
      if (reason !== null) await world.hook({ fault: { kind: 'reject_fill', party: 'taker', reason } });
      await world.hook({ release: true });
      assert.deepEqual(await own.until(order.id, end), ['Created', end]);
      assert.equal(await own.status(order.id), status);
      await world.rest();
      assert.deepEqual((await world.depth()).asks, []);
    });
  }
});

suite('replaces', () => {
  let world: TestNode;
  let own: Trader;
  let other: Trader;

  before(async () => {
    world = await TestNode.start();
    own = await world.trader(FUNDS);
    other = await world.trader(FUNDS);
  });

  afterEach(() => world.clear());
  after(() => world.stop());

  test('the book refuses one that is older than what was applied, without effect (RPL-09, AMB-21)', async () => {
    const order = await own.sell(limit(300_000, 10_000));
    const timestampNs = world.stamp();
    const older = timestampNs - 1n;
    const newer = world.stamp();
    assert.equal((await own.replace(order.id, { price: 301_000, timestampNs: newer })).word, 'Received');
    const stale = await own.replace(order.id, { price: 302_000, timestampNs: older });
    assert.equal(stale.word, 'REQUEST_TOO_OLD');
    assert.equal((await own.record(order.id))['limit_price'], '3010');
    assert.equal((await own.replace(order.id, { price: 301_000, timestampNs: newer })).word, 'Received', 'once more');
    const different = await own.replace(order.id, { price: 303_000, timestampNs: newer });
    assert.equal(different.word, 'REQUEST_TOO_OLD');
  });

  test('it needs a signature of its own: that of the create is none (RPL-06)', async () => {
    const ticket = { id: 'signed-once', createdNs: world.stamp() };
    const { text } = own.wrapper('Sell', limit(300_000, 10_000), ticket);
    const signed = text.slice('{"order":'.length, text.indexOf(',"signature"'));
    assert.equal((await own.sell(limit(300_000, 10_000), ticket)).word, 'Received');
    const reused = await own.replace(ticket.id, { price: 301_000, signed });
    assert.deepEqual([reused.status, reused.word], [401, 'INVALID_SIGNATURE']);
    assert.equal((await own.record(ticket.id))['limit_price'], '3000');
  });

  test('only a resting order is replaced, and each applied one is published (RPL-10, RPL-12)', async () => {
    const order = await own.sell(limit(300_000, 10_000));
    assert.equal((await own.replace(order.id, { quantity: 5_000 })).word, 'Received');
    await own.until(order.id, 'Replaced');
    const told = own.events.flatMap((frame) => (frame['Replaced'] === undefined ? [] : [frame['Replaced']]));
    const { new_price: price, new_quantity: quantity } = told.at(-1) as Record<string, unknown>;
    assert.deepEqual([price, quantity], [300_000, 5_000]);
    await other.buy(limit(300_000, 5_000));
    await own.until(order.id, 'Removed Filled');
    assert.equal((await own.replace(order.id, { price: 301_000 })).word, 'ORDER_NOT_FOUND');
    const gone = await own.sell(limit(300_000, 10_000));
    await own.cancel(gone.id);
    assert.equal((await own.replace(gone.id, { price: 301_000 })).word, 'ALREADY_CANCELLED');
  });

  test('one of an unknown order is never held for it (RPL-11)', async () => {
    assert.equal((await own.replace('later', { price: 301_000 })).word, 'ORDER_NOT_FOUND');
    await own.sell(limit(300_000, 10_000), { id: 'later' });
    await world.rest();
    assert.equal((await own.record('later'))['limit_price'], '3000');
  });
});
