// tier: full, 10 s
/** Auto-deleveraging on a whole node: who is closed, at which price, how far, and who sees what of it (ADL-01 to ADL-09). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { MarginMarket } from '../support/margin-market.ts';
import { TestNode } from '../support/test-node.ts';
import type { Trader } from '../support/wire-trader.ts';

const ROUNDS = 4;

suite('auto-deleveraging on a node', () => {
  let node: TestNode;
  let house: readonly [Trader, Trader];
  let nextAsset = 7_000;

  before(async () => {
    node = await TestNode.start();
    house = await MarginMarket.house(node);
  });
  after(async () => {
    await node.ledgerAddsUp();
    await node.stop();
  });

  async function open(oracle: string, cf = 90, lf = 95): Promise<MarginMarket> {
    nextAsset += 1;
    return MarginMarket.open(node, String(nextAsset), house, { cf, lf, oracle });
  }

  /** A new account of so many USD that entered at this price, when the oracle had it too. */
  async function entered(market: MarginMarket, price: number, quantity: number, usd: string): Promise<Trader> {
    await market.oracle(String(price));
    const trader = await market.trader(usd);
    await market.enter(trader, price, quantity);
    await market.forgetMark();
    return trader;
  }

  function closedOf(market: MarginMarket, trader: Trader): readonly string[] {
    return market
      .nodeFills(trader, 'sys-adl-')
      .map(({ status, price, quantity, trading_fee: fee }) => `${status} ${quantity} at ${price} for ${fee}`);
  }

  test('ADL-01, ADL-02, ADL-03, ADL-07: of a short backstop the profitable longs are closed by score, the last in part (EX-09, AMB-35, AMB-59)', async () => {
    const market = await open('2500', 99, 99);
    const sameSide = await entered(market, 2_500, -2, '5000');
    const losing = await entered(market, 2_100, 1, '5000');
    const b = await entered(market, 1_000, 2, '2000');
    const short = await entered(market, 1_500, -12, '6000');
    const a = await entered(market, 1_600, 3, '800');
    const c = await entered(market, 1_960, 5, '300');
    await market.oracle('2000');
    await market.seconds(ROUNDS);
    assert.equal((await market.takenFrom(short))?.provisional_collateral, '244.8');
    const tape = await market.tape();
    // At LF .98 the requirement of 12 is 480: half of it has to go.
    await node.operate('PATCH', `/operator/risk-parameters/${market.asset}`, { liability_factor: 98 });
    await market.seconds(1);
    assert.equal((await market.takenFrom(short))?.adl_closed[market.asset], '6');
    assert.deepEqual(closedOf(market, b), ['Confirmed 2 at 2000 for 0']);
    assert.deepEqual(closedOf(market, a), ['Confirmed 3 at 2000 for 0']);
    assert.deepEqual(closedOf(market, c), ['Confirmed 1 at 2000 for 0']);
    for (const other of [losing, sameSide]) assert.deepEqual(closedOf(market, other), []);
    assert.equal(await market.position(c), 'long 4');
    const [fill] = market.nodeFills(b, 'sys-adl-');
    const flags = [fill?.is_auto_deleverage, fill?.is_liquidation, fill?.['is_maker'], fill?.['is_buyer']];
    assert.deepEqual(flags, [true, false, false, false]);
    // No public price is made of it, and no order (decision 20).
    assert.deepEqual(await market.tape(), tape);
    assert.deepEqual(market.nodeOrders(b), []);
    const { text } = await b.call('GET', `/trades/user/${b.userId}/${market.asset}`);
    assert.match(text, /"is_auto_deleverage":true/);
  });

  test('ADL-04, ADL-05: the market with the largest exposure comes first, and no other one once 2 % are restored', async () => {
    const [large, small] = [await open('2000'), await open('2000')];
    const trader = await large.trader('4000');
    await large.enter(trader, 2_000, 10);
    await small.enter(trader, 2_000, 4);
    for (const each of [large, small]) await each.oracle('1900');
    await large.forgetMark();
    await large.seconds(ROUNDS);
    assert.equal((await large.takenFrom(trader))?.state, 'working');
    for (const each of [large, small]) await each.oracle('1850');
    await large.seconds(1);
    const row = await large.takenFrom(trader);
    assert.ok(Number(row?.adl_closed[large.asset]) > 0);
    assert.equal(row?.adl_closed[small.asset] ?? '0', '0');
    assert.equal(row?.positions[small.asset]?.base, '4');
    assert.ok(Number(row?.im_surplus) >= 0.02 * Number(row?.im_requirement));
  });

  test('ADL-06: at max_adl nothing more is closed within 24 hours (AMB-59)', async () => {
    const market = await open('2000');
    const trader = await entered(market, 2_000, 10, '2500');
    await market.oracle('1900');
    await market.seconds(ROUNDS);
    await node.operate('PATCH', `/operator/assets/${market.asset}`, { max_adl: '1.5' });
    await market.oracle('1850');
    await market.seconds(1);
    const row = await market.takenFrom(trader);
    assert.equal(row?.adl_closed[market.asset], '1.5');
    assert.notEqual(row?.posted_collateral, '0');
  });

  test('ADL-08: a short backstop buys at the lower of oracle and mark (ADL-02)', async () => {
    const market = await open('2000');
    const trader = await entered(market, 2_000, -10, '2500');
    await market.oracle('2200');
    await market.seconds(ROUNDS);
    assert.equal((await market.takenFrom(trader))?.state, 'working');
    // Three trades heal the mark; the oracle alone brings the row below its initial margin.
    for (let trade = 0; trade < 3; trade += 1) await market.mark(2_201);
    await market.oracle('2300');
    await market.seconds(1);
    const prices = new Set(market.nodeFills(house[0], 'sys-adl-').map(({ price }) => price));
    assert.deepEqual(prices, new Set(['2201']));
  });

  test('ADL-09, MON-06: a long backstop sells at the higher of oracle and mark, which is within the band of the oracle', async () => {
    const market = await open('2000');
    const trader = await entered(market, 2_000, 10, '2500');
    await market.oracle('1900');
    await market.seconds(ROUNDS);
    assert.equal((await market.takenFrom(trader))?.state, 'working');
    for (let trade = 0; trade < 3; trade += 1) await market.mark(1_899);
    await market.oracle('1800');
    await market.seconds(1);
    const prices = new Set(market.nodeFills(house[0], 'sys-adl-').map(({ price }) => price));
    // The trade was at 1899. The band of 1800 ends 4.76 % above it, at 1885.714…: to the cent above.
    assert.deepEqual(prices, new Set(['1885.72']));
  });
});
