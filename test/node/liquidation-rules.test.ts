// tier: full, 4 s
/**
 * The rules of liquidation on a whole node, over the public API: when an account is liquidated, what its orders cost, in which
 * order things are published (LIQ-01 to LIQ-14, CB-04 to CB-06).
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { MarginMarket, type MarginTerms } from '../support/margin-market.ts';
import { TestNode } from '../support/test-node.ts';
import { above } from '../support/wire-texts.ts';
import type { Answered, Trader } from '../support/wire-trader.ts';

const SECOND_NS = 1_000_000_000n;
const MINUTE_NS = 60n * SECOND_NS;
const HALF_HOUR_NS = 30n * MINUTE_NS;
/** Of EX-07. */
const SHORT: MarginTerms = { cf: 90, lf: 92, oracle: '2000' };
const LONG: MarginTerms = { cf: 90, lf: 92, oracle: '2000' };

suite('liquidation on a node', () => {
  let node: TestNode;
  let house: readonly [Trader, Trader];
  let nextAsset = 5_000;

  before(async () => {
    node = await TestNode.start();
    house = await MarginMarket.house(node);
  });
  after(async () => {
    await node.ledgerAddsUp();
    await node.stop();
  });

  async function open(terms: MarginTerms): Promise<MarginMarket> {
    nextAsset += 1;
    return MarginMarket.open(node, String(nextAsset), house, terms);
  }

  /** EX-07: short 1.5 at 2000 with 1000 USD, the oracle at 2500, the mark still below. */
  async function shortAccount(
    opened: (market: MarginMarket, trader: Trader) => Promise<void> = async () => undefined,
  ): Promise<{ market: MarginMarket; trader: Trader }> {
    const market = await open(SHORT);
    const trader = await market.trader('1000');
    await market.enter(trader, 2_000, -1.5);
    await opened(market, trader);
    await market.mark(2_469);
    await market.oracle('2500');
    return { market, trader };
  }

  test('LIQ-03, LIQ-05, LIQ-06, LIQ-07: at 2469 the short is safe, at 2470 it is bought back at 2600 (EX-07, MRG-10, AMB-35, AMB-56)', async () => {
    const { market, trader } = await shortAccount();
    assert.equal((await market.figures(trader))['maintenance_margin_surplus'], '0.22');
    assert.deepEqual(market.nodeOrders(trader), []);
    const [maker] = house;
    const ask = await market.rest(maker, 'Sell', 2_600, 1.5);
    await market.mark(2_470);
    await maker.until(ask.id, 'Removed Filled');
    const [id = 'none', ...others] = market.nodeOrders(trader);
    assert.match(id, /^sys-liq-/);
    assert.deepEqual(others, []);
    const record = await trader.record(id, market.asset);
    const { side, limit_price, quantity, status, is_liquidation, is_reduce_only, is_immediate_or_cancel } = record;
    assert.deepEqual([side, limit_price, quantity, status], ['Buy', '2600', '1.5', 'Filled']);
    assert.deepEqual([is_liquidation, is_reduce_only, is_immediate_or_cancel], [true, true, true]);
    const fills = market.nodeFills(trader);
    assert.deepEqual(
      fills.map(({ status: state, price, quantity: size, is_liquidation: isOne }) => [state, price, size, isOne]),
      [
        ['Pending', '2600', '1.5', true],
        ['Confirmed', '2600', '1.5', true],
      ],
    );
    const told = maker.fills.filter((fill) => fill['order_id'] === ask.id);
    assert.deepEqual(
      told.map((fill) => [fill['is_liquidation'], fill['is_auto_deleverage']]),
      [
        [true, false],
        [true, false],
      ],
    );
    assert.match(await market.position(trader), /^closed 0|^flat/);
  });

  test('LIQ-01: time alone makes an account liquidatable: its mark is a minute old, the oracle stands in for it (LIQ-08, AMB-43)', async () => {
    const { market, trader } = await shortAccount();
    assert.deepEqual(market.nodeOrders(trader), []);
    await node.advance(MINUTE_NS + 1n);
    await node.rest();
    // The last trade, at 2469, is out: 2500 · 2.08 / 2.
    const [id = 'none'] = market.nodeOrders(trader);
    assert.equal((await trader.record(id, market.asset))['limit_price'], '2600');
  });

  test('LIQ-02: several prices within 10 ms are one check, and one order follows', async () => {
    const { market, trader } = await shortAccount();
    for (const price of ['2600', '2610', '2620', '2630']) await market.oracle(price);
    await market.mark(2_700);
    await node.advance(10_000_000n);
    await node.rest();
    assert.equal(market.nodeOrders(trader).length, 1);
  });

  test('LIQ-03: without borrows no price liquidates (MRG-13)', async () => {
    const market = await open(LONG);
    const trader = await node.trader({ '0': '10', [market.asset]: '3' }, [1]);
    await market.oracle('0.5');
    await market.seconds(2);
    assert.equal((await market.figures(trader))['is_liquidatable'], false);
    assert.deepEqual(market.nodeOrders(trader), []);
  });

  test('LIQ-03, CB-04, CB-05: broken collateral counts nothing and shields, borrows count in full; three fresh prices heal (EX-21, CB-01, CB-03, AMB-44, AMB-45)', async () => {
    const eth = await open({ cf: 90, lf: 95, oracle: '2000' });
    const btc = await open({ cf: 95, lf: 96, oracle: '50000' });
    const trader = await node.trader({ [eth.asset]: '2' }, [1]);
    await btc.enter(trader, 50_000, -0.05);
    for (let halfHour = 0; halfHour < 2; halfHour += 1) {
      await node.advance(HALF_HOUR_NS + SECOND_NS);
      await btc.oracle('50000');
    }
    const broken = await eth.figures(trader);
    assert.deepEqual([broken['maintenance_margin_surplus'], broken['is_liquidatable']], ['-100', false]);
    await btc.seconds(3);
    assert.deepEqual(btc.nodeOrders(trader), []);
    const surpluses: unknown[] = [];
    for (let update = 0; update < 3; update += 1) {
      await node.advance(1n);
      await eth.oracle('2000');
      surpluses.push((await eth.figures(trader))['maintenance_margin_surplus']);
    }
    assert.deepEqual(surpluses, ['-100', '-100', '3500']);
    assert.deepEqual(btc.nodeOrders(trader), []);
  });

  test('LIQ-04: resting, spot and dormant orders are cancelled with reason Liquidation before the order of the node is there (AMB-57)', async () => {
    await node.operate('PATCH', '/operator/settings', { auto_reduce_enabled: false });
    const orders: Answered[] = [];
    const { market, trader } = await shortAccount(async (own, owner) => {
      orders.push(
        await own.rest(owner, 'Buy', 100, 0.1),
        await owner.buy(own.details(100, 0.1), { asset: own.asset, account: 1, isSpot: true }),
        await owner.buy(own.details(100, 0.1), { ...own.margin, trigger: above(900_000) }),
      );
    });
    assert.deepEqual(
      orders.map(({ word }) => word),
      ['Received', 'Received', 'Received'],
    );
    await market.mark(2_470);
    await node.rest();
    const [id = 'none'] = market.nodeOrders(trader);
    const at = (order: string, event: string): number =>
      trader.events.findIndex((frame) => JSON.stringify(frame).includes(order) && event in frame);
    for (const order of orders) {
      assert.equal(trader.eventsOf(order.id).at(-1), 'Canceled Liquidation');
      assert.ok(at(order.id, 'Canceled') < at(id, 'Created'), `${order.id} is cancelled first`);
    }
    await node.operate('PATCH', '/operator/settings', { auto_reduce_enabled: true });
  });

  test('while an account is liquidated it takes no order that does not reduce, and nothing leaves it; afterwards it does (AMB-57)', async () => {
    const { market, trader } = await shortAccount();
    await market.mark(2_470);
    await node.rest();
    const adding = await trader.sell(market.details(2_900, 0.1), market.margin);
    assert.deepEqual([adding.status, adding.word], [400, 'INSUFFICIENT_MARGIN']);
    const reducing = await trader.buy(market.details(100, 0.1), { ...market.margin, reduceOnly: true });
    assert.equal(reducing.word, 'Received');
    await node.fund(trader.userId, { '0': '2000' }, 1);
    await market.seconds(1);
    assert.equal((await market.figures(trader))['is_liquidatable'], false);
    const again = await trader.sell(market.details(2_900, 0.1), market.margin);
    assert.equal(again.word, 'Received');
  });

  test('LIQ-09: an oracle over an hour old prices nothing; a purchase goes by the last trade alone (EX-07, AMB-126)', async () => {
    const market = await open({ ...SHORT, lf: 95, priceDecimals: 3 });
    const trader = await market.trader('200');
    await market.enter(trader, 2_000, -1.5);
    for (const each of house) await node.fund(each.userId, { [market.asset]: '10' }, 0);
    await node.advance(61n * MINUTE_NS);
    // Spot trades are allowed with every price stale (CB-06); three of them heal the mark.
    const [buyer, seller] = house;
    const spot = { asset: market.asset, account: 0, isSpot: true };
    for (let trade = 0; trade < 3; trade += 1) {
      await seller.sell(market.details(1_995, 0.001), spot);
      const bid = await buyer.buy(market.details(1_995, 0.001), spot);
      await buyer.until(bid.id, 'Removed Filled');
    }
    assert.deepEqual(market.nodeOrders(trader), []);
    // With 100 USD less it is below maintenance, whatever the prices.
    await node.fund(trader.userId, { 0: '-100' }, 1);
    await node.rest();
    const [id = 'none'] = market.nodeOrders(trader);
    assert.equal((await trader.record(id, market.asset))['limit_price'], '2044.875');
  });

  test('LIQ-11: a fill of an account that has recovered before clearing looks is rolled back as InvalidOrder, without a fault of its owner (AMB-124)', async () => {
    const { market, trader } = await shortAccount();
    const [maker] = house;
    const ask = await market.rest(maker, 'Sell', 2_600, 1.5);
    // The order is matched, and the fill waits.
    await node.hook({ hold: { asset_id: market.asset } });
    await market.oracle('2700');
    await node.advance(MINUTE_NS + 1n);
    await node.rest();
    const [id = 'none'] = market.nodeOrders(trader);
    assert.deepEqual(trader.fillsOf(id), ['Pending 2600 1.5']);
    await market.oracle('2000');
    await node.hook({ release: true });
    await node.rest();
    assert.deepEqual(trader.fillsOf(id), ['Pending 2600 1.5', 'Rollbacked 2600 1.5 InvalidOrder']);
    assert.deepEqual(maker.fillsOf(ask.id).at(-1), 'Rollbacked 2600 1.5 CounterpartyAtFault');
    assert.equal(await market.position(trader), 'short 1.5');
    assert.equal(await maker.status(ask.id, market.asset), 'Open');
    await maker.cancel(ask.id, market.asset);
  });

  test('LIQ-14: the order of the node takes the best price first, then the oldest order, like any other', async () => {
    const { market, trader } = await shortAccount();
    const [first, second] = house;
    const late = await market.rest(second, 'Sell', 2_760, 0.5);
    const better = await market.rest(first, 'Sell', 2_750, 0.5);
    const last = await market.rest(first, 'Sell', 2_760, 1);
    await market.oracle('2700');
    await market.forgetMark();
    await second.until(late.id, 'Removed Filled');
    const confirmed = market.nodeFills(trader).filter(({ status }) => status === 'Confirmed');
    assert.deepEqual(
      confirmed.map(({ price, quantity }) => [price, quantity]),
      [
        ['2750', '0.5'],
        ['2760', '0.5'],
        ['2760', '0.5'],
      ],
    );
    assert.equal(await first.status(better.id, market.asset), 'Filled');
    assert.equal((await first.record(last.id, market.asset))['confirmed_filled_quantity'], '0.5');
    await first.cancel(last.id, market.asset);
  });

  test('CB-06: with every price stale a spot account trades (CB-01, CB-02)', async () => {
    const market = await open(SHORT);
    const [buyer, seller] = house;
    await node.fund(seller.userId, { [market.asset]: '1' }, 0);
    await node.advance(2n * 60n * MINUTE_NS);
    const spot = { asset: market.asset, account: 0, isSpot: true };
    await seller.sell(market.details(10, 1), spot);
    const bid = await buyer.buy(market.details(10, 1), spot);
    assert.deepEqual((await buyer.until(bid.id, 'Removed Filled')).at(-1), 'Removed Filled');
  });

  test('LIQ-10: a price over two hours old is in no read', async () => {
    const market = await open(SHORT);
    await node.advance(2n * 60n * MINUTE_NS + 1n);
    const prices = await node.operate('GET', '/operator/prices');
    assert.doesNotMatch(JSON.stringify(prices), new RegExp(`"asset_id":"${market.asset}","price":"2000"`));
  });
});
