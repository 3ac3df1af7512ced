// tier: full, 6 s
/** Market orders and times in force over the wire, to the unit, through clearing (ORD-14 to ORD-24, TIF-02 to TIF-07). */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { TestNode } from '../support/test-node.ts';
import { limit, marketBase, marketQuote } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const FUNDS = { '0': '1000000', '2': '1000' };

suite('market orders', () => {
  let world: TestNode;
  let maker: Trader;
  let taker: Trader;

  before(async () => {
    world = await TestNode.start();
    maker = await world.trader(FUNDS);
    taker = await world.trader(FUNDS);
  });

  afterEach(() => world.clear());
  after(() => world.stop());

  async function asks(...levels: readonly (readonly [number, number])[]): Promise<readonly string[]> {
    const ids: string[] = [];
    for (const [price, quantity] of levels) ids.push((await maker.sell(limit(price, quantity))).id);
    return ids;
  }

  async function bids(...levels: readonly (readonly [number, number])[]): Promise<void> {
    for (const [price, quantity] of levels) await maker.buy(limit(price, quantity));
  }

  test('fill as sized: in base or in quote, bought or sold (ORD-14)', async () => {
    await asks([300_000, 10_000], [301_000, 10_000]);
    await bids([290_000, 20_000]);
    const base = await taker.buy(marketBase(15_000));
    assert.equal(base.word, 'Received');
    assert.deepEqual(await taker.until(base.id, 'Removed Filled'), ['Created', 'Removed Filled']);
    assert.deepEqual(taker.fillsOf(base.id).slice(0, 2), ['Pending 3000 1', 'Pending 3010 0.5']);
    const record = await taker.record(base.id);
    assert.deepEqual(
      [
        record['limit_price'],
        record['quantity'],
        record['amount'],
        record['confirmed_filled_quantity'],
        record['status'],
      ],
      [null, '1.5', null, '1.5', 'Filled'],
    );
    const quote = await taker.sell(marketQuote(14_500_000));
    await taker.until(quote.id, 'Removed Filled');
    const sold = await taker.record(quote.id);
    assert.deepEqual(
      [sold['quantity'], sold['amount'], sold['confirmed_filled_quantity'], sold['confirmed_filled_amount']],
      [null, '1450', '0.5', '1450'],
    );
    assert.equal(await taker.held('0'), '0');
    assert.equal(await taker.held('2'), '0');
    await world.ledgerAddsUp();
  });

  test('a base-sized buy never spends beyond its quote cap (ORD-15, AMB-37)', async () => {
    await asks([300_000, 10_000], [310_000, 10_000]);
    const capped = await taker.buy(marketBase(20_000, { cap: 45_510_000 }));
    assert.deepEqual(await taker.until(capped.id, 'Removed Filled'), ['Created', 'Removed Filled']);
    const record = await taker.record(capped.id);
    assert.deepEqual(
      [record['max_sellable_amount'], record['confirmed_filled_quantity'], record['confirmed_filled_amount']],
      ['4551', '1.5003', '4550.93'],
    );
  });

  test('a quote-sized sell never sells beyond its base cap (ORD-16)', async () => {
    await bids([290_000, 10_000], [280_000, 10_000]);
    const capped = await taker.sell(marketQuote(50_000_000, { cap: 12_000 }));
    assert.deepEqual(await taker.until(capped.id, 'Removed Filled'), ['Created', 'Removed Filled']);
    const record = await taker.record(capped.id);
    assert.deepEqual(
      [record['max_sellable_quantity'], record['confirmed_filled_quantity'], record['confirmed_filled_amount']],
      ['1.2', '1.2', '3460'],
    );
  });

  test('caps stand where they mean something, and nowhere else (AMB-05)', async () => {
    const buy = await taker.buy(marketQuote(50_000_000, { cap: 12_000 }));
    assert.deepEqual([buy.word, buy.field], ['INVALID_ORDER', 'max_sellable_quantity']);
    const sell = await taker.sell(marketBase(10_000, { cap: 12_000 }));
    assert.deepEqual([sell.word, sell.field], ['INVALID_ORDER', 'max_sellable_amount']);
  });

  test('never rest: what the book does not give is gone (ORD-21)', async () => {
    await asks([300_000, 10_000]);
    const order = await taker.buy(marketBase(20_000));
    assert.deepEqual(await taker.until(order.id, 'Removed ImmediateOrCancel'), [
      'Created',
      'Removed ImmediateOrCancel',
    ]);
    await world.rest();
    assert.deepEqual(await world.depth(), { asks: [], bids: [] });
    assert.equal((await taker.record(order.id))['confirmed_filled_quantity'], '1');
    const nothing = await taker.sell(marketQuote(10_000_000));
    assert.equal(nothing.word, 'Received');
    await taker.until(nothing.id, 'Removed ImmediateOrCancel');
    assert.equal(await taker.status(nothing.id), 'Canceled');
  });

  for (const { quantityDecimals, filled, spent, fee, amount, asset } of [
    { asset: '21', quantityDecimals: 3, filled: '2.492', spent: '4998.92', fee: '2.49946', amount: 4_998_920 },
    {
      asset: '22',
      quantityDecimals: 8,
      filled: '2.49253731',
      spent: '4999.9999931',
      fee: '2.49999999655',
      amount: 499_999_999_310,
    },
  ]) {
    test(`a quote-sized buy at ${quantityDecimals} decimals, as in the example (EX-15, ORD-22, AMB-39)`, async () => {
      await world.addMarket(asset, [2, quantityDecimals], { maker_fee_rate: 0, taker_fee_rate: 500 });
      const lot = 10 ** quantityDecimals;
      const seller = await world.trader({ [asset]: '10' });
      const buyer = await world.trader({ '0': '5002.5' });
      await seller.sell(limit(200_000, lot), { asset });
      await seller.sell(limit(201_000, 2 * lot), { asset });
      const order = await buyer.buy(marketQuote(5_000 * lot), { asset });
      assert.equal(order.word, 'Received', 'it needs 5002.5 and has 5002.5 (EX-27)');
      await buyer.until(order.id, 'Removed Filled');
      const record = await buyer.record(order.id, asset);
      assert.deepEqual([record['confirmed_filled_quantity'], record['confirmed_trading_fees_amount']], [filled, fee]);
      assert.equal(await buyer.owned(asset), filled);
      const owned = Number(await buyer.owned('0'));
      assert.ok(Math.abs(owned - (5_002.5 - Number(spent) - Number(fee))) < 1e-9, `${owned} left`);
      const removed = buyer.events.map((frame) => frame['Removed']).find((told) => told !== undefined);
      assert.equal((removed as Record<string, unknown>)['filled_amount'], amount);
      await world.ledgerAddsUp();
    });
  }

  test('an uncapped buy spends what there is, fee included, and not a unit more (AMB-39)', async () => {
    const poor = await world.trader({ '0': '3000' });
    await asks([300_000, 100_000]);
    const order = await poor.buy(marketBase(50_000));
    assert.equal(order.word, 'Received');
    await poor.until(order.id, 'Removed ImmediateOrCancel');
    // 3000 / 1.00045 = 2998.65…, floored to lots of 0.3 USD.
    assert.equal(await poor.owned('2'), '0.9995');
    assert.equal(await poor.held('0'), '0');
    await world.ledgerAddsUp();
  });

  test('a buy with the money that it holds pays for ten fills whose fees are rounded up each by itself (A6, AMB-41)', async () => {
    await world.addMarket('23', [8, 8], { maker_fee_rate: 333, taker_fee_rate: 450 });
    const [price, lots] = [123_456_789n, 10_000_130n];
    // Price × lots in 10^-18 USD, as much for rounding as there are lots, and the fee.
    const spend = price * lots * 100n + lots;
    const hold = spend + (spend * 450n + 999_999n) / 1_000_000n;
    const text = `0.${String(hold).padStart(18, '0')}`;
    const buyer = await world.trader({ '0': text });
    const seller = await world.trader({ '23': '1' });
    const bid = await buyer.buy(limit(Number(price), Number(lots)), { asset: '23' });
    assert.equal(bid.word, 'Received');
    assert.equal(await buyer.held('0'), text);
    for (let at = 0; at < 10; at += 1) await seller.sell(limit(Number(price), 1_000_013, 'IOC'), { asset: '23' });
    await buyer.until(bid.id, 'Removed Filled');
    assert.equal(buyer.fillsOf(bid.id).filter((told) => told.startsWith('Confirmed')).length, 10);
    assert.equal(buyer.fillsOf(bid.id).filter((told) => told.startsWith('Rollbacked')).length, 0);
    await world.ledgerAddsUp();
  });

  test('two uncapped orders in one batch, or in two requests on their way, pass when both are affordable (D21, AMB-39)', async () => {
    const user = await world.trader({ '0': '7000', '2': '3' });
    await asks([300_000, 100_000]);
    await bids([290_000, 100_000]);
    const buys = [1, 2].map(() => user.wrapper('Buy', marketBase(10_000)));
    assert.deepEqual(
      await user.batchCreate(...buys),
      buys.map(({ id }) => `${id} Received`),
    );
    for (const { id } of buys) await user.until(id, 'Removed Filled');
    assert.equal(await user.owned('2'), '5');
    const sales = await Promise.all([1, 2].map(() => user.sell(marketQuote(29_000_000))));
    for (const { id, word } of sales) {
      assert.equal(word, 'Received');
      await user.until(id, 'Removed Filled');
    }
    assert.equal(await user.owned('2'), '3');
    assert.deepEqual([await user.held('0'), await user.held('2')], ['0', '0']);
    await world.ledgerAddsUp();
  });

  test('what the band does not cover is not matched, and the operator sets the band (D21, AMB-39)', async () => {
    const user = await world.trader({ '0': '20000' });
    await world.oraclePrice('2500');
    await world.advance(61_000_000_000n);
    await asks([300_000, 10_000]);
    // 2750 USD at most: 0.9166 at 3000.
    const order = await user.buy(marketBase(10_000));
    await user.until(order.id, 'Removed ImmediateOrCancel');
    assert.equal((await user.record(order.id))['confirmed_filled_quantity'], '0.9166');
    const { market_order_band: band } = await world.operate('GET', '/operator/settings');
    assert.equal(band, '0.1');
    await world.operate('PATCH', '/operator/settings', { market_order_band: '0.5' });
    await world.advance(61_000_000_000n);
    await asks([300_000, 10_000]);
    const other = await user.buy(marketBase(10_000));
    await user.until(other.id, 'Removed Filled');
    await world.operate('PATCH', '/operator/settings', { market_order_band: '0.1' });
  });

  test('what is pending and what is confirmed are distinguished (ORD-23, ORD-24)', async () => {
    await asks([300_000, 10_000]);
    await world.hook({ hold: true });
    const order = await taker.buy(limit(300_000, 20_000));
    await world.rest();
    const filled = async (): Promise<readonly unknown[]> => {
      const record = await taker.record(order.id);
      return [record['pending_filled_quantity'], record['confirmed_filled_quantity'], record['status']];
    };
    assert.deepEqual(await filled(), ['1', '0', 'PartiallyFilled']);
    await world.hook({ release: true });
    await world.rest();
    assert.deepEqual(await filled(), ['0', '1', 'PartiallyFilled']);
    await world.hook({ fault: { kind: 'reject_fill', party: 'taker', reason: 'InsufficientInventory' } });
    await maker.sell(limit(300_000, 5_000));
    await world.rest();
    assert.deepEqual(await filled(), ['0', '1', 'PartiallyFilled']);
  });
});

suite('times in force', () => {
  let world: TestNode;
  let maker: Trader;
  let taker: Trader;

  before(async () => {
    world = await TestNode.start();
    maker = await world.trader(FUNDS);
    taker = await world.trader(FUNDS);
  });

  afterEach(() => world.clear());
  after(() => world.stop());

  test('GTC rests its remainder, IOC never rests (TIF-02, TIF-03)', async () => {
    await maker.sell(limit(300_000, 10_000));
    const rests = await taker.buy(limit(300_000, 15_000));
    await world.rest();
    assert.equal(await taker.status(rests.id), 'PartiallyFilled');
    assert.equal((await world.depth()).bids.length, 1);
    await taker.cancel(rests.id);
    await maker.sell(limit(300_000, 10_000));
    const takes = await taker.buy(limit(300_000, 15_000, 'IOC'));
    assert.deepEqual(await taker.until(takes.id, 'Removed ImmediateOrCancel'), [
      'Created',
      'Removed ImmediateOrCancel',
    ]);
    await world.rest();
    assert.deepEqual(await world.depth(), { asks: [], bids: [] });
  });

  test('FOK fills whole or touches nothing, limited or at market (TIF-04, TIF-05, AMB-37)', async () => {
    await maker.sell(limit(300_000, 10_000));
    const before = await world.depth();
    const tooMuch = [
      await taker.buy(limit(300_000, 10_001, 'FOK')),
      await taker.buy(marketBase(10_001, { isFok: true })),
      await taker.buy(marketQuote(30_010_000, { isFok: true })),
    ];
    for (const { id, word } of tooMuch) {
      assert.equal(word, 'Received');
      assert.deepEqual(await taker.until(id, 'Removed FillOrKill'), ['Created', 'Removed FillOrKill']);
      assert.deepEqual(taker.fillsOf(id), []);
    }
    await world.rest();
    assert.deepEqual(await world.depth(), before);
    const capped = await taker.buy(marketBase(20_000, { cap: 30_000_000, isFok: true }));
    assert.deepEqual(
      await taker.until(capped.id, 'Removed Filled'),
      ['Created', 'Removed Filled'],
      'the cap completes it',
    );
    assert.equal((await taker.record(capped.id))['confirmed_filled_quantity'], '1');
  });

  for (const [name, details] of [
    ['limited', limit(201_000, 25_000, 'FOK')],
    ['at market', marketBase(25_000, { isFok: true })],
  ] as const) {
    test(`all fills of a FOK ${name} are one unit through clearing (EX-25, TIF-06, AMB-34)`, async () => {
      const other = await world.trader(FUNDS);
      const first = await maker.sell(limit(200_000, 10_000));
      const second = await other.sell(limit(201_000, 20_000));
      const fault = { kind: 'reject_fill', party: 'maker', reason: 'InsufficientMargin', skip: 1 };
      await world.hook({ fault });
      const order = await taker.buy(details);
      assert.deepEqual(await taker.until(order.id, 'Removed RolledBack'), ['Created', 'Removed RolledBack']);
      // Market and clearing send over rings of their own: each trade is pending first, trades may interleave (AMB-35).
      for (const trade of ['2000 1', '2010 1.5'])
        assert.deepEqual(
          taker.fillsOf(order.id).filter((fill) => fill.includes(` ${trade}`)),
          [`Pending ${trade}`, `Rollbacked ${trade} CounterpartyAtFault`],
        );
      await other.until(second.id, 'Canceled InsufficientMargin');
      await world.rest();
      assert.deepEqual(maker.eventsOf(first.id), ['Created']);
      assert.deepEqual(maker.fillsOf(first.id), ['Pending 2000 1', 'Rollbacked 2000 1 CounterpartyAtFault']);
      assert.deepEqual(other.fillsOf(second.id).at(-1), 'Rollbacked 2010 1.5 InsufficientMargin');
      const record = await taker.record(order.id);
      assert.deepEqual([record['status'], record['confirmed_filled_quantity']], ['Canceled', '0']);
      assert.equal(await taker.held('0'), '0');
      const depth = await world.depth();
      assert.equal(depth.asks.length, 1, 'the first maker is back, the second is gone');
    });
  }

  test('post-only is cancelled where it would match and rests at the touch (TIF-07)', async () => {
    await maker.sell(limit(300_000, 10_000));
    const crossing = await taker.buy(limit(300_000, 10_000, 'POST'));
    assert.equal(crossing.word, 'WOULD_CROSS');
    await taker.until(crossing.id, 'Canceled PostOnlyWouldCross');
    const touching = await taker.buy(limit(299_999, 10_000, 'POST'));
    assert.equal(touching.word, 'Received');
    await world.rest();
    assert.equal(await taker.status(touching.id), 'Open');
    assert.deepEqual(taker.fillsOf(crossing.id), []);
  });

  test('no fill happens beyond the collar around the mark: the oracle, then the last confirmed trade for 60 s (AMB-39, AMB-43)', async () => {
    await world.market('2', { price_collar: '0.05' });
    const far = await maker.sell(limit(316_000, 10_000));
    const stopped = await taker.buy(marketBase(1_000));
    await taker.until(stopped.id, 'Removed ImmediateOrCancel');
    const beyond = await taker.buy(limit(320_000, 1_000));
    await taker.until(beyond.id, 'Removed ImmediateOrCancel');
    assert.equal(await maker.status(far.id), 'Open');
    await maker.sell(limit(310_000, 1_000));
    const within = await taker.buy(marketBase(2_000));
    await taker.until(within.id, 'Removed ImmediateOrCancel');
    assert.deepEqual(taker.fillsOf(within.id)[0], 'Pending 3100 0.1');
    await world.rest();
    const next = await taker.buy(marketBase(1_000));
    await taker.until(next.id, 'Removed Filled');
    assert.deepEqual(taker.fillsOf(next.id)[0], 'Pending 3160 0.1', 'the trade at 3100 is the mark');
    await world.advance(61_000_000_000n);
    const late = await taker.buy(marketBase(1_000));
    await taker.until(late.id, 'Removed ImmediateOrCancel');
    assert.deepEqual(taker.fillsOf(late.id), [], 'the oracle is the mark again');
    await world.market('2', { price_collar: null });
    const free = await taker.buy(marketBase(1_000));
    await taker.until(free.id, 'Removed Filled');
  });

  test('the id of a cancelled order is taken until 30 days after its creation, and free then (AMB-08)', async () => {
    const dayNs = 86_400_000_000_000n;
    const createdNs = world.nowNs;
    const order = await maker.sell(limit(300_000, 10_000), { createdNs });
    assert.equal((await maker.cancel(order.id)).word, 'Received');
    await world.advance(30n * dayNs - 1n);
    await world.login();
    const early = await maker.sell(limit(300_000, 10_000), { id: order.id, createdNs: world.nowNs });
    assert.equal(early.word, 'DUPLICATE_ORDER');
    await world.advance(2n);
    const again = await maker.sell(limit(310_000, 10_000), { id: order.id, createdNs: world.nowNs });
    assert.equal(again.word, 'Received');
    assert.equal(await maker.status(order.id), 'Open');
    assert.equal((await maker.cancel(order.id)).word, 'Received');
    await maker.until(order.id, 'Canceled UserRequested');
  });

  test('every order is over 30 days after its creation (ORD-20)', async () => {
    const order = await maker.sell(limit(300_000, 10_000), { createdNs: world.nowNs });
    const dayNs = 86_400_000_000_000n;
    const tooOld = await taker.buy(limit(100_000, 10_000), { createdNs: world.nowNs - 30n * dayNs });
    assert.equal(tooOld.word, 'ORDER_EXPIRED');
    await world.advance(30n * dayNs - 1n);
    await world.login();
    assert.equal(await maker.status(order.id), 'Open');
    await world.advance(1n);
    await maker.until(order.id, 'Removed Expired');
    assert.deepEqual((await world.depth()).asks, []);
  });
});
