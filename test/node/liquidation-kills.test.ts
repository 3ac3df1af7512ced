// tier: quick, 3 s
/** Liquidations over a kill: an account is before a step or after it, and what follows is decided anew (AMB-57, AMB-110). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const MARGIN: Ticket = { account: 1, isSpot: false };
const MINUTE_NS = 60_000_000_000n;
const SECOND_NS = 1_000_000_000n;

suite('a liquidation over a kill', () => {
  let node: TestNode;
  let maker: Trader;
  let owner: Trader;

  before(async () => {
    node = await TestNode.start();
    await node.market('2', { maker_fee_rate: 0, taker_fee_rate: 0 });
    maker = await node.trader({ '0': '1000000' }, [1]);
    owner = await node.trader({ '0': '400' }, [1]);
    await node.oraclePrice('2000');
    await maker.sell(limit(200_000, 10_000), MARGIN);
    const bought = await owner.buy(limit(200_000, 10_000), MARGIN);
    await owner.until(bought.id, 'Removed Filled');
    // The mark is not usable any more: the oracle alone counts.
    await node.advance(2n * MINUTE_NS);
    await node.oraclePrice('2000');
  });
  after(() => node.stop());

  async function positions(): Promise<string> {
    return (await owner.call('GET', `/positions/${owner.userId}`)).text;
  }

  test('a killed node goes on with the round after one price, refuses the owner meanwhile, and closes the position', async () => {
    await node.hook({ hold: { asset_id: '2' } });
    const bid = await maker.buy(limit(169_000, 20_000), MARGIN);
    assert.equal(bid.word, 'Received');
    await node.oraclePrice('1700');
    await node.rest();
    const refused = await owner.buy(limit(100_000, 1_000), MARGIN);
    assert.match(JSON.stringify(refused), /INSUFFICIENT_MARGIN/);
    assert.match(await positions(), /"side":"long","size":"1"/, 'the fill is held');
    await node.restart('SIGKILL');
    assert.match(await positions(), /"side":"long","size":"1"/);
    const again = await owner.buy(limit(100_000, 1_000), MARGIN);
    assert.match(JSON.stringify(again), /INSUFFICIENT_MARGIN/);
    await node.rest();
    assert.match(await positions(), /"side":"long","size":"1"/, 'no price has come since the start');
    await node.oraclePrice('1700');
    await node.rest();
    await node.advance(2n * SECOND_NS);
    await node.rest();
    assert.doesNotMatch(await positions(), /"side":"long"/);
    await node.ledgerAddsUp();
  });
});
