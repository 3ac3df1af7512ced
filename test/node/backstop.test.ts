// tier: full, 6 s
/** What the book does not absorb, on a whole node: take-over, netting, clips, posting, the end of a row (BKS-01 to BKS-07). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { MarginMarket } from '../support/margin-market.ts';
import { type Json, TestNode } from '../support/test-node.ts';
import type { Trader } from '../support/wire-trader.ts';

/** Rounds of one second, and what follows at once. */
const ROUNDS = 4;

suite('the backstop of a node', () => {
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

  async function open(): Promise<MarginMarket> {
    nextAsset += 1;
    return MarginMarket.open(node, String(nextAsset), house, { cf: 90, lf: 95, oracle: '2000' });
  }

  /** Long 10 at 2000 with 2500 USD, in an empty book; at 1900 it has lacked 400 USD for three rounds. */
  async function taken(events: Json[] = []): Promise<{ market: MarginMarket; trader: Trader }> {
    const market = await open();
    const trader = await market.trader('2500');
    await trader.listen(`/account/events/${trader.userId}`, events);
    await market.enter(trader, 2_000, 10);
    await market.oracle('1900');
    await market.forgetMark();
    await market.seconds(ROUNDS);
    return { market, trader };
  }

  async function row(market: MarginMarket, trader: Trader): ReturnType<MarginMarket['takenFrom']> {
    return market.takenFrom(trader);
  }

  test('BKS-01, BKS-02, BKS-03: after three rounds in an empty book the account is taken over, 2 % above its requirement (LIQ-05, AMB-57, AMB-58)', async () => {
    const market = await open();
    const { capital } = await market.backstop();
    const events: Json[] = [];
    const { market: own, trader } = await taken(events);
    const ids = own.nodeOrders(trader);
    assert.equal(ids.length, 3, `three rounds: ${ids}`);
    for (const id of ids) assert.match(trader.eventsOf(id).at(-1) ?? '', / ImmediateOrCancel$/);
    assert.equal(await own.position(trader), 'flat');
    const after = await row(own, trader);
    assert.deepEqual(
      [after?.source_index, after?.state, after?.provisional_collateral, after?.posted_collateral],
      [1, 'working', '438', '0'],
    );
    assert.deepEqual([after?.spot, after?.positions[own.asset]], [{ 0: '2938' }, { base: '10', quote: '-20000' }]);
    assert.deepEqual([after?.equity, after?.im_surplus, after?.im_requirement], ['1938', '38', '1900']);
    assert.equal(Number((await own.backstop()).capital), Number(capital) - 438);
    const cleared = events.filter((event) => 'PositionCleared' in event);
    assert.equal(cleared.length, 1, JSON.stringify(events));
    // It may trade again.
    await node.fund(trader.userId, { 0: '1000' }, 1);
    assert.equal((await trader.buy(own.details(1_000, 0.1), own.margin)).word, 'Received');
  });

  test('BKS-05: the rest is sold in clips of a tenth, one a second, as public trades; the row closes and its USD are capital (AMB-60)', async () => {
    const { market, trader } = await taken();
    const { capital } = await market.backstop();
    const bid = await market.rest(house[1], 'Buy', 1_850, 10);
    await market.seconds(3);
    const few = await row(market, trader);
    const sold = 10 - Number(few?.positions[market.asset]?.base);
    assert.ok(sold >= 2 && sold <= 4, `${sold} in three seconds`);
    await market.seconds(9);
    await house[1].until(bid.id, 'Removed Filled');
    const fills = house[1].fills.filter((fill) => fill['order_id'] === bid.id && fill['status'] === 'Confirmed');
    assert.deepEqual(
      new Set(fills.map((fill) => `${fill['quantity']} ${fill['is_liquidation']}`)),
      new Set(['1 false']),
    );
    const clips = (await market.tape()).filter((trade) => trade['price'] === '1850');
    assert.deepEqual(
      clips.map((trade) => trade['quantity']),
      Array.from({ length: 10 }, () => '1'),
    );
    assert.equal((await row(market, trader))?.state, 'closed');
    // 2938 of collateral, 20000 of debt, 18500 from ten clips.
    assert.equal(Number((await market.backstop()).capital), Number(capital) + 1_438);
  });

  test('BKS-04: a long and a short are netted at the mark, without a trade or a fee; who is flat is closed', async () => {
    const { market, trader: long } = await taken();
    const before = await market.tape();
    await market.oracle('1900');
    const short = await market.trader('1000');
    await market.enter(short, 1_900, -4);
    await market.oracle('2100');
    await market.forgetMark();
    await market.seconds(ROUNDS + 1);
    const [kept, gone] = [await row(market, long), await row(market, short)];
    assert.deepEqual(kept?.positions[market.asset], { base: '6', quote: '-11600' });
    assert.deepEqual([gone?.state, gone?.provisional_collateral, gone?.positions], ['closed', '228.4', {}]);
    assert.equal((await market.tape()).length, before.length + 1, 'only the trade that opened the short');
  });

  test('BKS-06, BKS-07: below initial margin counterparties are closed until 2 % are restored, and no collateral is posted (ADL-05, ADL-07)', async () => {
    const { market, trader } = await taken();
    await market.oracle('1850');
    await node.rest();
    await market.seconds(1);
    const after = await row(market, trader);
    // 1438 of equity are 1.02 times the requirement of 7.6205 at 1850.
    assert.deepEqual([after?.positions[market.asset]?.base, after?.adl_closed[market.asset]], ['7.6205', '2.3795']);
    assert.deepEqual([after?.state, after?.posted_collateral], ['working', '0']);
    assert.ok(Number(after?.im_surplus) >= 0.02 * Number(after?.im_requirement));
    const [own] = house;
    const closed = market.nodeFills(own, 'sys-adl-');
    assert.deepEqual(
      closed.map((fill) => [fill.status, fill.price, fill.quantity, fill.is_auto_deleverage, fill.is_liquidation]),
      [['Confirmed', '1850', '2.3795', true, false]],
    );
  });

  test('BKS-07: with max_adl used up collateral is posted, up to 2 % above the requirement (ADL-06, AMB-60)', async () => {
    const { market, trader } = await taken();
    await node.operate('PATCH', `/operator/assets/${market.asset}`, { max_adl: '0' });
    const { capital } = await market.backstop();
    await market.oracle('1850');
    await market.seconds(1);
    const after = await row(market, trader);
    // −412 of surplus, 37 above the requirement of 1850.
    assert.deepEqual([after?.posted_collateral, after?.provisional_collateral], ['449', '438']);
    assert.deepEqual([after?.im_surplus, after?.im_requirement], ['37', '1850']);
    assert.equal(after?.positions[market.asset]?.base, '10');
    assert.equal(Number((await market.backstop()).capital), Number(capital) - 449);
  });

  test('BKS-02: rows of the backstop are there after a kill, with every order of it gone (AMB-110)', async () => {
    const { market, trader } = await taken();
    const before = await row(market, trader);
    await node.restart('SIGKILL');
    assert.deepEqual(await row(market, trader), before);
    await node.ledgerAddsUp();
  });
});
