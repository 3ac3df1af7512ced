// tier: full, 4 s
/**
 * Orders that the node makes, on a whole node: what their owner sees of them, what clients cannot do to them, and what a
 * market's status and a restart mean for them (LIQ-04, LIQ-05, AMB-07, AMB-57, decisions 4 to 7 on liquidation).
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { MarginMarket } from '../support/margin-market.ts';
import { type Json, TestNode } from '../support/test-node.ts';
import type { Trader } from '../support/wire-trader.ts';

suite('orders of the node', () => {
  let node: TestNode;
  let house: readonly [Trader, Trader];
  let nextAsset = 6_000;

  before(async () => {
    node = await TestNode.start();
    house = await MarginMarket.house(node);
  });
  after(async () => {
    await node.ledgerAddsUp();
    await node.stop();
  });

  /** Long 4 at 2000 on 1000 USD, safe; at 1900 it is below maintenance. */
  async function longAccount(): Promise<{ market: MarginMarket; trader: Trader }> {
    nextAsset += 1;
    const market = await MarginMarket.open(node, String(nextAsset), house, { cf: 90, lf: 92, oracle: '2000' });
    const trader = await market.trader('1000');
    await market.enter(trader, 2_000, 4);
    await market.forgetMark();
    await market.oracle('2000');
    await node.rest();
    return { market, trader };
  }

  async function orderOf(market: MarginMarket, trader: Trader): Promise<string> {
    await node.rest();
    const [id] = market.nodeOrders(trader);
    return id ?? assert.fail('the node has sent no order');
  }

  test('LIQ-05, AMB-57: the owner is the signer, the signature is empty, and reads list it with its flags', async () => {
    const { market, trader } = await longAccount();
    await market.oracle('1900');
    const id = await orderOf(market, trader);
    assert.deepEqual(trader.eventsOf(id), ['Created', 'Removed ImmediateOrCancel']);
    const created = trader.events.find((frame) => JSON.stringify(frame['Created'])?.includes(id))?.['Created'] as Json;
    const signed = created['user_order'] as Json;
    assert.deepEqual([created['signature'], signed['signer'], signed['reduce_only']], [[], trader.userId, true]);
    const record = await trader.record(id, market.asset);
    assert.deepEqual([record['is_liquidation'], record['is_reduce_only'], record['status']], [true, true, 'Canceled']);
    const page = await trader.call('GET', `/orders/user/${trader.userId}`);
    assert.match(page.text, new RegExp(`"order_id":"${id}"`));
  });

  test('AMB-07, AMB-57: a client can neither create, cancel nor replace one', async () => {
    const { market, trader } = await longAccount();
    await node.hook({ hold: { asset_id: market.asset } });
    const [maker] = house;
    const bid = await market.rest(maker, 'Buy', 1_890, 4);
    await market.oracle('1900');
    const id = await orderOf(market, trader);
    assert.match(trader.fillsOf(id).join(), /^Pending /);
    const cancel = await trader.cancel(id, market.asset);
    assert.deepEqual([cancel.status, cancel.word], [404, 'ORDER_NOT_FOUND']);
    const replace = await trader.replace(id, { quantity: 1, asset: market.asset });
    assert.deepEqual([replace.status, replace.word], [404, 'ORDER_NOT_FOUND']);
    const create = await trader.sell(market.details(1_900, 1), { ...market.margin, id });
    assert.deepEqual([create.status, create.word, create.field], [400, 'INVALID_ORDER', 'order_id']);
    assert.match(await trader.cancelBatch({ order_ids: [id], asset_id: market.asset }), /^202 /);
    assert.match(await trader.cancelAll(), /^202 /);
    await node.hook({ release: true });
    await node.rest();
    assert.deepEqual(trader.eventsOf(id), ['Created', 'Removed Filled']);
    assert.equal(await market.position(trader), 'closed 0');
    assert.equal(await maker.status(bid.id, market.asset), 'Filled');
  });

  test('AMB-109, AMB-57: CancelOnly does not stop it; in a halted market rounds wait', async () => {
    const { market, trader } = await longAccount();
    const [maker] = house;
    await market.rest(maker, 'Buy', 1_890, 4);
    const status = (word: string): Promise<Json> =>
      node.operate('PATCH', `/operator/markets/${market.asset}`, { status: word });
    await status('Halted');
    await market.oracle('1900');
    await market.seconds(5);
    assert.deepEqual(market.nodeOrders(trader), []);
    assert.equal(await market.position(trader), 'long 4');
    await status('CancelOnly');
    await market.seconds(2);
    const id = await orderOf(market, trader);
    await trader.until(id, 'Removed Filled');
    assert.equal(await market.position(trader), 'closed 0');
  });

  test('AMB-110: killed while its fills wait, an account is in liquidation before its first request is answered', async () => {
    const { market, trader } = await longAccount();
    await node.hook({ hold: { asset_id: market.asset } });
    const [maker] = house;
    await market.rest(maker, 'Buy', 1_890, 4);
    const resting = await market.rest(trader, 'Sell', 3_000, 1);
    await market.oracle('1900');
    await node.rest();
    assert.equal(trader.eventsOf(resting.id).at(-1), 'Canceled Liquidation');
    await node.restart('SIGKILL');
    const adding = await trader.buy(market.details(1_000, 0.1), market.margin);
    assert.deepEqual([adding.status, adding.word], [400, 'INSUFFICIENT_MARGIN']);
    assert.equal(await market.position(trader), 'long 4', 'no fill of it was confirmed');
    assert.deepEqual(market.nodeOrders(trader), [], 'AMB-110: no order before a round of prices');
    await market.oracle('1900');
    await market.seconds(2);
    const id = await orderOf(market, trader);
    await trader.until(id, 'Removed Filled');
    assert.equal(await market.position(trader), 'closed 0');
    const again = await trader.cancel(resting.id, market.asset);
    assert.equal(again.word, 'ALREADY_CANCELLED');
  });
});
