// tier: full, 3 s
/** Markets of a token on its chain: an asset without an index, oracle or risk row (operator-api.md 4.3, IDN-04, AMB-66, AMB-108). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { operator } from '../support/node-process.ts';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

/** The seed's BTC on its chain. */
const TOKEN = `${'b1'.repeat(20).padEnd(64, '0')}@000000000000007a69`;
const SHORT = `${'B1'.repeat(20)}%40000000000000007A69`;
const UNKNOWN = `${'ee'.repeat(20)}@000000000000007a69`;
const FIGURES = { book_price_decimals: 2, book_quantity_decimals: 4 };

suite('markets of tokens', () => {
  let world: TestNode;
  let seller: Trader;
  let buyer: Trader;

  before(async () => {
    world = await TestNode.start();
  });

  after(() => world.stop());

  test('an operator opens one of a registered token, in any spelling, and of no other', async () => {
    const refused = await operator(world.process, 'PUT', `/operator/markets/${UNKNOWN}`, FIGURES);
    assert.deepEqual([refused.status, /ASSET_NOT_FOUND/.test(refused.text)], [404, true]);
    await world.openMarket(TOKEN, [2, 4], { maker_fee_rate: 100, taker_fee_rate: 450 });
    const again = await world.operate('PUT', `/operator/markets/${SHORT}`, FIGURES);
    assert.equal(again['asset_id'], TOKEN);
    const { markets } = await world.operate('GET', '/operator/markets');
    assert.deepEqual(
      (markets as readonly { asset_id: string }[]).map((market) => market.asset_id),
      ['1', '2', '3', TOKEN],
    );
    for (const path of [`/market/${TOKEN}`, `/market/${SHORT}`]) {
      const market = (await (await fetch(`${world.process.oms}${path}`)).json()) as Record<string, unknown>;
      assert.deepEqual([market['asset_id'], market['isolated_only']], [TOKEN, false], path);
    }
  });

  test('it trades spot balances, and what was traded is there after a kill', async () => {
    const funds = { '0': '100000', [TOKEN]: '10' };
    seller = await world.trader(funds);
    buyer = await world.trader({ '0': '100000' });
    const ask = await seller.sell(limit(3_000, 20_000), { asset: TOKEN });
    const bid = await buyer.buy(limit(3_000, 5_000), { asset: TOKEN });
    await buyer.until(bid.id, 'Removed Filled');
    assert.equal(await buyer.owned(TOKEN), '0.5');
    assert.equal(await seller.held(TOKEN), '1.5');
    await world.ledgerAddsUp();
    await world.restart('SIGKILL');
    assert.equal(await buyer.owned(TOKEN), '0.5');
    assert.deepEqual(await world.depth(TOKEN), { asks: ['30,1.5'], bids: [] });
    assert.equal((await seller.cancel(ask.id, TOKEN)).word, 'Received');
    assert.equal(await seller.held(TOKEN), '0');
    await world.ledgerAddsUp();
  });

  test('a margin account takes none of it, spot or as a position (AMB-66)', async () => {
    await world.operate('POST', '/operator/faucet', {
      user_id: buyer.userId,
      sub_account: 1,
      asset_id: '0',
      amount: '1000',
    });
    for (const isSpot of [true, false]) {
      const answer = await buyer.buy(limit(3_000, 1_000), { asset: TOKEN, account: 1, isSpot });
      assert.deepEqual([answer.status, answer.word, answer.field], [400, 'INVALID_ORDER', 'target']);
    }
  });
});
