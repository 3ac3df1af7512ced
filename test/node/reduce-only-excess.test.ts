// tier: full
/** Reduce-only orders and their position on a whole node, over sockets and a kill (MON-09). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { TestNode } from '../support/test-node.ts';
import { below, limit, marketBase } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const MARGIN: Ticket = { account: 1, isSpot: false };
const REDUCE: Ticket = { ...MARGIN, reduceOnly: true };

suite('reduce-only orders', () => {
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

  test('are cut as the position shrinks, youngest first, keep their place, and go with it (MON-09)', async () => {
    await open();
    const near = await long.sell(limit(210_000, 4_000), REDUCE);
    const far = await long.sell(limit(220_000, 10_000), REDUCE);
    await long.until(far.id, 'Replaced');
    assert.deepEqual((await node.depth()).asks, ['2100,0.4', '2200,0.6'], 'cut to its room as it came');
    await shrinkBy(5_000);
    await node.rest();
    assert.deepEqual((await node.depth()).asks, ['2100,0.4', '2200,0.1']);
    await shrinkBy(5_000);
    await long.until(far.id, 'Canceled ReduceOnly');
    await long.until(near.id, 'Canceled ReduceOnly');
    assert.deepEqual((await node.depth()).asks, []);
    const record = await long.record(near.id);
    assert.deepEqual([record['status'], record['canceled']], ['Canceled', true]);
  });

  test('that come without a position at all are refused (MON-09)', async () => {
    const flat = await node.trader({ '0': '10000' }, [1]);
    assert.equal((await flat.sell(limit(230_000, 1_000), REDUCE)).word, 'REDUCE_ONLY_WOULD_INCREASE');
    assert.deepEqual((await node.depth()).asks, []);
  });

  test('a stop over the position closes what a take-profit has left of it, over a kill (MON-09)', async () => {
    await node.oraclePrice('3000');
    const bid = await long.buy(limit(300_000, 10_000), MARGIN);
    await short.sell(limit(300_000, 10_000, 'IOC'), MARGIN);
    await long.until(bid.id, 'Removed Filled');
    await node.rest();
    const profit = await long.sell(limit(310_000, 5_000), REDUCE);
    const stop = await long.sell(marketBase(10_000), { ...REDUCE, trigger: below(290_000) });
    assert.deepEqual([profit.word, stop.word], ['Received', 'Received']);
    await short.buy(limit(310_000, 5_000, 'IOC'), MARGIN);
    await long.until(profit.id, 'Removed Filled');
    await node.rest();
    await node.restart('SIGKILL');
    await long.login();
    await short.login();
    // The price falls: a sale at 2900 sets it, and there are bids below.
    await short.buy(limit(289_000, 20_000), MARGIN);
    const at = await short.buy(limit(290_000, 100), MARGIN);
    const seller = await node.trader({ '0': '10000' }, [1]);
    await seller.sell(limit(290_000, 100, 'IOC'), MARGIN);
    await short.until(at.id, 'Removed Filled');
    assert.equal((await long.until(stop.id, 'Removed Filled')).at(-1), 'Removed Filled');
    const record = await long.record(stop.id);
    assert.deepEqual([record['confirmed_filled_quantity'], record['quantity']], ['0.5', '0.5']);
    await node.ledgerAddsUp();
  });
});
