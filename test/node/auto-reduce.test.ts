// tier: full, 4 s
/** Auto-reduce on a whole node: a price reduces orders, and the stream reports it (AR-01, AR-03 to AR-06). */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { eventually } from '../support/patience.ts';
import { type Json, TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const MARGIN: Ticket = { account: 1, isSpot: false };

suite('auto-reduce', () => {
  let node: TestNode;
  let long: Trader;
  let short: Trader;

  /** Oracle 2000, no fees; long 1 of the asset at 2000 on 400 USD: IM surplus 200. */
  before(async () => {
    node = await TestNode.start();
    await node.market('2', { maker_fee_rate: 0, taker_fee_rate: 0 });
    await price('2000');
    long = await node.trader({ '0': '400' }, [1]);
    short = await node.trader({ '0': '10000' }, [1]);
    const bid = await long.buy(limit(200_000, 10_000), MARGIN);
    await short.sell(limit(200_000, 10_000, 'IOC'), MARGIN);
    await long.until(bid.id, 'Removed Filled');
    // The last trade is too old to be a mark.
    await node.advance(61_000_000_000n);
    await price('2000');
  });
  afterEach(async () => {
    await price('2000');
    await node.clear();
    await node.advance(2_000_000_000n);
  });
  after(() => node.stop());

  const price = (value: string): Promise<void> => node.oraclePrice(value);

  async function available(): Promise<number> {
    const { text } = await long.call('GET', `/margin/user/${long.userId}?sub_account=1`);
    const { accounts } = JSON.parse(text) as { accounts: Record<string, Json> };
    return Number(accounts['1']?.['available_margin']);
  }

  test('a falling price reduces the farthest order until capacity is back (AR-01, AR-02, AR-06, MRG-25)', async () => {
    const near = await long.buy(limit(100_000, 10_000), MARGIN);
    const far = await long.buy(limit(50_000, 10_000), MARGIN);
    assert.deepEqual([near.word, far.word], ['Received', 'Received']);
    assert.equal(await available(), 50);
    // IM surplus 400 + .9·1900 − 2000 = 110: of 150 pressed 40 must go, .8 of the far order.
    await price('1900');
    await long.until(far.id, 'Replaced');
    await node.rest();
    assert.equal(await available(), 0);
    const record = await long.record(far.id);
    assert.deepEqual([record['quantity'], record['status'], record['in_flight']], ['0.2', 'Open', false]);
    assert.equal((await long.record(near.id))['quantity'], '1');
    const replaced = long.events.find((frame) => 'Replaced' in frame)?.['Replaced'] as Json;
    assert.deepEqual([replaced['order_id'], replaced['new_price'], replaced['new_quantity']], [far.id, 50_000, 2_000]);
    const later = await long.replace(far.id, { quantity: 1_000 });
    assert.equal(later.word, 'Received', 'the user’s own replace is not older');
  });

  test('a sub-account is left alone for a second of the node’s clock (AR-03)', async () => {
    const order = await long.buy(limit(100_000, 10_000), MARGIN);
    await price('1900');
    assert.deepEqual(long.eventsOf(order.id), ['Created']);
    await price('1850');
    await long.until(order.id, 'Replaced');
    await price('1800');
    assert.deepEqual(long.eventsOf(order.id), ['Created', 'Replaced']);
    await node.advance(1_000_000_000n);
    await eventually(
      () => long.eventsOf(order.id).length === 3,
      () => `${long.eventsOf(order.id)}`,
    );
    assert.deepEqual(long.eventsOf(order.id), ['Created', 'Replaced', 'Replaced']);
  });

  test('what is in flight is left alone until its market has answered (AR-04)', async () => {
    await node.hook({ fault: { kind: 'stall_market', asset_id: '2' } });
    const pending = long.buy(limit(100_000, 19_000), MARGIN);
    await eventuallyInFlight();
    await price('1900');
    await node.operate('POST', '/operator/clearing', { release: true });
    const order = await pending;
    assert.equal(order.word, 'Received');
    await long.until(order.id, 'Replaced');
  });

  /** The order weighs before its market has seen it. */
  async function eventuallyInFlight(): Promise<void> {
    await eventually(async () => (await available()) < 100);
  }

  test('a market maker’s orders stay (AR-05, MRG-27)', async () => {
    const order = await long.buy(limit(100_000, 15_000), MARGIN);
    await node.operate('PUT', `/operator/users/${long.userId}`, { is_mm: true });
    await price('1850');
    assert.ok((await available()) < 0);
    assert.deepEqual(long.eventsOf(order.id), ['Created']);
    await node.operate('PUT', `/operator/users/${long.userId}`, { is_mm: false });
    await price('1849');
    await long.until(order.id, 'Replaced');
  });

  test('what auto-reduce left of an order fills, and both sides are confirmed (AR-01, AMB-61, FIL-09)', async () => {
    const bid = await long.buy(limit(180_000, 10_000), MARGIN);
    await price('1880');
    await long.until(bid.id, 'Replaced');
    const { quantity } = await long.record(bid.id);
    const lots = Math.round(Number(quantity) * 10_000);
    assert.ok(lots > 0 && lots < 10_000, `${quantity}`);
    const ask = await short.sell(limit(180_000, lots, 'IOC'), MARGIN);
    await short.until(ask.id, 'Removed Filled');
    await long.until(bid.id, 'Removed Filled');
    await node.rest();
    for (const [who, { id }] of [
      [long, bid],
      [short, ask],
    ] as const) {
      const fills = who.fillsOf(id);
      assert.match(fills.at(-1) ?? '', /^Confirmed /, fills.join(', '));
    }
  });
});
