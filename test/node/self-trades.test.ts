// tier: full
/** Self-trade prevention over the wire (STP-01 to STP-06, AMB-38). */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { TestNode } from '../support/test-node.ts';
import { limit, marketBase } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const FUNDS = { '0': '1000000', '1': '10', '2': '1000' };

suite('self-trade prevention', () => {
  let world: TestNode;
  let own: Trader;
  let other: Trader;

  before(async () => {
    world = await TestNode.start();
    own = await world.trader(FUNDS, [0, 1]);
    other = await world.trader(FUNDS);
    await world.market('2', { self_trade_prevention: true });
  });

  afterEach(() => world.clear());
  after(() => world.stop());

  test('is switched on for one market only; elsewhere own orders match (STP-01, STP-06)', async () => {
    const resting = await own.sell(limit(600_000, 10_000), { asset: '1' });
    const taking = await own.buy(limit(600_000, 10_000, 'IOC'), { asset: '1' });
    await own.until(taking.id, 'Removed Filled');
    await own.until(resting.id, 'Removed Filled');
    assert.equal(own.fills.filter(({ status }) => status === 'Confirmed').length, 2, 'both sides are told');
    const here = await own.sell(limit(300_000, 10_000));
    await own.buy(limit(300_000, 10_000, 'IOC'));
    await own.until(here.id, 'Canceled SelfTradePrevented');
  });

  test('own resting orders are cancelled as they are reached, and the next maker fills (STP-02, STP-03)', async () => {
    const first = await own.sell(limit(300_000, 10_000));
    const foreign = await other.sell(limit(300_000, 10_000));
    const behind = await own.sell(limit(300_100, 10_000));
    const taking = await own.buy(marketBase(10_000));
    await own.until(taking.id, 'Removed Filled');
    await own.until(first.id, 'Canceled SelfTradePrevented');
    await other.until(foreign.id, 'Removed Filled');
    assert.deepEqual(own.fillsOf(taking.id).slice(0, 1), ['Pending 3000 1']);
    assert.deepEqual(own.fillsOf(first.id), []);
    assert.equal(await own.status(behind.id), 'Open', 'what was not reached stays');
    assert.equal(await own.held('2'), '1', 'the cancelled order holds nothing');
  });

  test('a post-only order that crosses only own orders cancels them and books (STP-04)', async () => {
    const resting = await own.sell(limit(300_000, 10_000));
    const maker = await own.buy(limit(300_000, 10_000, 'POST'));
    assert.equal(maker.word, 'Received');
    await own.until(resting.id, 'Canceled SelfTradePrevented');
    await world.rest();
    const depth = await world.depth();
    assert.deepEqual([depth.asks.length, depth.bids.length], [0, 1]);
    await own.cancel(maker.id);
    const mine = await own.sell(limit(300_000, 10_000));
    await other.sell(limit(300_000, 10_000));
    const crossing = await own.buy(limit(300_000, 10_000, 'POST'));
    assert.equal(crossing.word, 'WOULD_CROSS', 'a foreign order is within its price');
    assert.equal(await own.status(mine.id), 'Open', 'then own orders stay');
  });

  test('sub-accounts of one signer are distinct owners (STP-05)', async () => {
    const resting = await own.sell(limit(300_000, 10_000), { account: 0 });
    const taking = await own.buy(limit(300_000, 10_000), { account: 1 });
    await own.until(taking.id, 'Removed Filled');
    await own.until(resting.id, 'Removed Filled');
  });

  test('a FOK that own orders leave without its quantity cancels nothing (AMB-37)', async () => {
    const resting = await own.sell(limit(300_000, 10_000));
    await other.sell(limit(300_000, 5_000));
    const taking = await own.buy(limit(300_000, 10_000, 'FOK'));
    await own.until(taking.id, 'Removed FillOrKill');
    assert.equal(await own.status(resting.id), 'Open');
  });
});
