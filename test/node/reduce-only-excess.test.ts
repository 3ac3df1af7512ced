// tier: full
/** Resting reduce-only orders beyond their position, on a whole node: they are in depth, unless the operator sets otherwise (AMB-27). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const MARGIN: Ticket = { account: 1, isSpot: false };
const REDUCE: Ticket = { ...MARGIN, reduceOnly: true };

suite('resting reduce-only orders', () => {
  let node: TestNode;
  let long: Trader;
  let short: Trader;

  before(async () => {
    node = await TestNode.start();
    await node.market('2', { maker_fee_rate: 0, taker_fee_rate: 0 });
    await node.oraclePrice('2000');
    long = await node.trader({ '0': '10000' }, [1]);
    short = await node.trader({ '0': '10000' }, [1]);
  });
  after(() => node.stop());

  /** Long 1 of the asset. */
  async function open(): Promise<void> {
    const bid = await long.buy(limit(200_000, 10_000), MARGIN);
    await short.sell(limit(200_000, 10_000, 'IOC'), MARGIN);
    await long.until(bid.id, 'Removed Filled');
    await node.rest();
  }

  async function shrinkBy(lots: number): Promise<void> {
    const bid = await short.buy(limit(199_000, lots), MARGIN);
    await long.sell(limit(199_000, lots, 'IOC'), MARGIN);
    await short.until(bid.id, 'Removed Filled');
    await node.rest();
  }

  test('stay in depth beyond their position by default, and are gone from it with the setting (AMB-27)', async () => {
    await open();
    const near = await long.sell(limit(210_000, 4_000), REDUCE);
    const far = await long.sell(limit(220_000, 10_000), REDUCE);
    await shrinkBy(5_000);
    assert.deepEqual((await node.depth()).asks, ['2100,0.4', '2200,1'], 'both can fill, not whole each');
    await node.operate('PATCH', '/operator/settings', { reduce_only_excess_cancel: true });
    await long.until(far.id, 'Canceled ReduceOnly');
    await node.rest();
    assert.deepEqual((await node.depth()).asks, ['2100,0.4']);
    await shrinkBy(5_000);
    await long.until(near.id, 'Canceled ReduceOnly');
    assert.deepEqual((await node.depth()).asks, []);
    const record = await long.record(near.id);
    assert.deepEqual([record['status'], record['canceled']], ['Canceled', true]);
  });

  test('that come without a position at all leave depth too (AMB-27)', async () => {
    await node.operate('PATCH', '/operator/settings', { reduce_only_excess_cancel: true });
    const nobody = await node.trader({ '0': '10000' }, [1]);
    const order = await nobody.sell(limit(230_000, 1_000), REDUCE);
    assert.equal(order.word, 'Received', 'a resting one is not judged before it fills');
    await nobody.until(order.id, 'Canceled ReduceOnly');
    await node.rest();
    assert.deepEqual((await node.depth()).asks, []);
  });
});
