// tier: full, 11 s
/** Trigger orders and children over the wire, through confirmed prices and restarts (TRG-01 to TRG-08, AMB-28, AMB-29). */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { TestNode } from '../support/test-node.ts';
import { above, below, limit, marketBase, marketQuote } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const FUNDS = { '0': '1000000', '2': '1000' };

suite('trigger orders', () => {
  let world: TestNode;
  let own: Trader;
  let a: Trader;
  let b: Trader;

  before(async () => {
    world = await TestNode.start();
    own = await world.trader(FUNDS);
    a = await world.trader(FUNDS);
    b = await world.trader(FUNDS);
  });

  afterEach(() => world.clear());
  after(() => world.stop());

  /** A trade of 0.001 at a raw price, decided unless fills are held. */
  async function trade(price: number): Promise<void> {
    await a.sell(limit(price, 10));
    const taken = await b.buy(limit(price, 10, 'IOC'));
    assert.equal(taken.word, 'Received');
    await world.rest();
  }

  test('rest in a book of their own, hold nothing and are open (TRG-01, AMB-28)', async () => {
    await own.sell(limit(310_000, 10_000));
    const before = await world.depth();
    const stop = await own.sell(limit(290_000, 5_000), { trigger: below(295_000) });
    assert.equal(stop.word, 'Received');
    await own.until(stop.id, 'Created');
    await world.rest();
    assert.deepEqual(await world.depth(), before);
    assert.equal(await own.held('2'), '1', 'only the resting order holds');
    const record = await own.record(stop.id);
    assert.deepEqual(
      [record['status'], record['trigger_below_price'], record['trigger_above_price'], record['trigger_touched']],
      ['Untriggered', '2950', null, false],
    );
    const state = await world.operate('GET', '/operator/state');
    const market = (state['markets'] as Record<string, { untriggered_orders: number }>)['2'];
    assert.equal(market?.untriggered_orders, 1);
  });

  test('PriceAbove is released at or above its price, PriceBelow at or below, nothing earlier (TRG-02, TRG-08)', async () => {
    const up = await own.buy(limit(250_000, 1_000), { trigger: above(305_000) });
    const down = await own.sell(limit(350_000, 1_000), { trigger: below(295_000) });
    for (const price of [300_000, 304_999, 295_001]) await trade(price);
    assert.deepEqual([await own.status(up.id), await own.status(down.id)], ['Untriggered', 'Untriggered']);
    await trade(305_000);
    assert.deepEqual(await own.until(up.id, 'Triggered'), ['Created', 'Triggered']);
    await trade(294_000);
    assert.deepEqual(await own.until(down.id, 'Triggered'), ['Created', 'Triggered']);
    await world.rest();
    const depth = await world.depth();
    assert.deepEqual([depth.asks.length, depth.bids.length], [1, 1], 'released, they rest in the main book');
    const told = own.events.map((frame) => frame['Triggered'] as Record<string, unknown> | undefined);
    const triggered = told.filter((frame) => frame?.['order_id'] === up.id);
    assert.deepEqual(
      triggered.map((frame) => [frame?.['asset_id'], frame?.['user_id'], frame?.['trigger_price']]),
      [['2', own.userId, 305_000]],
    );
  });

  test('only a confirmed price releases: not a pending one, never one that was rolled back (TRG-03)', async () => {
    const stop = await own.sell(limit(280_000, 1_000), { trigger: below(295_000) });
    await world.hook({ fault: { kind: 'reject_fill', party: 'taker', reason: 'InsufficientInventory' } });
    await trade(290_000);
    assert.equal(await own.status(stop.id), 'Untriggered');
    await a.cancelAll();
    await world.hook({ hold: true });
    await trade(290_000);
    assert.equal(await own.status(stop.id), 'Untriggered');
    await world.hook({ release: true });
    assert.deepEqual(await own.until(stop.id, 'Triggered'), ['Created', 'Triggered']);
  });

  test('an order that is already true waits for the next trade (AMB-28)', async () => {
    await trade(290_000);
    const stop = await own.sell(limit(280_000, 1_000), { trigger: below(295_000) });
    await world.rest();
    assert.equal(await own.status(stop.id), 'Untriggered');
    await trade(294_000);
    await own.until(stop.id, 'Triggered');
  });

  test('a released market order takes what the book has, sized in base or in quote (ORD-14, TRG-02)', async () => {
    await b.buy(limit(280_000, 100_000));
    const base = await own.sell(marketBase(1_000), { trigger: below(295_000) });
    const quote = await own.sell(marketQuote(2_800_000), { trigger: below(295_000) });
    const buys = await own.buy(marketBase(1_000), { trigger: below(295_000) });
    const buysQuote = await own.buy(marketQuote(3_000_000), { trigger: below(295_000) });
    await a.sell(limit(300_000, 100_000));
    await trade(294_000);
    for (const { id } of [base, quote, buys, buysQuote]) {
      assert.deepEqual(await own.until(id, 'Removed Filled'), ['Created', 'Triggered', 'Removed Filled'], id);
      assert.equal((await own.record(id))['confirmed_filled_quantity'], '0.1');
    }
    assert.equal(await own.held('0'), '0');
    assert.equal(await own.held('2'), '0');
    await world.ledgerAddsUp();
  });

  test('a released order that the balance does not cover ends MarginInsufficient (AMB-28)', async () => {
    const poor = await world.trader({ '2': '0.1' });
    const stop = await poor.sell(limit(280_000, 1_000), { trigger: below(295_000) });
    await poor.sell(limit(400_000, 1_000));
    await trade(294_000);
    assert.deepEqual(await poor.until(stop.id, 'Canceled MarginInsufficient'), [
      'Created',
      'Triggered',
      'Canceled MarginInsufficient',
    ]);
    assert.equal(await poor.held('2'), '0.1');
  });

  test('a released post-only order that would cross is Triggered, then Canceled (TRG-08, AMB-28, AMB-128)', async () => {
    await a.buy(limit(290_000, 1_000));
    const crossing = await own.sell(limit(280_000, 1_000, 'POST'), { trigger: below(295_000) });
    await trade(294_000);
    assert.deepEqual(await own.until(crossing.id, 'Canceled PostOnlyWouldCross'), [
      'Created',
      'Triggered',
      'Canceled PostOnlyWouldCross',
    ]);
  });

  test('several releases of one trade come nearest trigger price first, then by admission (AMB-28)', async () => {
    const far = await own.sell(limit(400_000, 100), { trigger: below(295_000) });
    const near = await own.sell(limit(400_000, 100), { trigger: below(299_000) });
    const nearToo = await own.sell(limit(400_000, 100), { trigger: below(299_000) });
    await trade(294_000);
    await own.until(far.id, 'Triggered');
    const order = own.events
      .map((frame) => (frame['Triggered'] as Record<string, unknown> | undefined)?.['order_id'])
      .filter((id) => id === far.id || id === near.id || id === nearToo.id);
    assert.deepEqual(order, [near.id, nearToo.id, far.id]);
  });

  test('a waiting limit order may be replaced, its trigger included; a live one has no trigger (AMB-20)', async () => {
    const stop = await own.sell(limit(280_000, 1_000), { trigger: below(290_000) });
    const changed = { price: 281_000, quantity: 2_000, trigger: '{"PriceBelow":{"price":295000}}' };
    assert.equal((await own.replace(stop.id, changed)).word, 'Received');
    await own.until(stop.id, 'Replaced');
    const record = await own.record(stop.id);
    assert.deepEqual(
      [record['limit_price'], record['quantity'], record['trigger_below_price']],
      ['2810', '0.2', '2950'],
    );
    await trade(294_000);
    await own.until(stop.id, 'Triggered');
    const late = await own.replace(stop.id, { trigger: '{"PriceBelow":{"price":280000}}' });
    assert.equal(late.word, 'INVALID_ORDER');
  });

  test('a child is released by as much as its parent has confirmed, later parts at once (TRG-07, AMB-29)', async () => {
    const parent = await own.buy(limit(300_000, 10_000));
    const child = await own.sell(limit(310_000, 10_000), { trigger: above(305_000, parent.id) });
    assert.equal(child.word, 'Received');
    await b.sell(limit(300_000, 4_000));
    await world.rest();
    assert.equal((await own.record(child.id))['trigger_enabled_quantity'], '0.4');
    assert.equal(await own.status(child.id), 'Untriggered');
    await trade(305_000);
    await own.until(child.id, 'Triggered');
    await world.rest();
    const asks = async (): Promise<unknown> => (await world.depth()).asks;
    assert.equal(await own.held('2'), '0.4');
    const first = await asks();
    await b.sell(limit(300_000, 6_000));
    await world.rest();
    assert.equal(await own.held('2'), '1');
    assert.notDeepEqual(await asks(), first);
    await a.buy(limit(310_000, 10_000));
    assert.deepEqual(await own.until(child.id, 'Removed Filled'), ['Created', 'Triggered', 'Removed Filled']);
    const record = await own.record(child.id);
    assert.deepEqual([record['parent_id'], record['confirmed_filled_quantity']], [parent.id, '1']);
    await world.ledgerAddsUp();
  });

  test('a child sells what its owner has from that very trade of its parent, and nothing else (TRG-07, AMB-28)', async () => {
    const poor = await world.trader({ '0': '1000000' });
    for (let round = 0; round < 5; round += 1) {
      const parent = await poor.buy(limit(300_000, 1_000));
      const child = await poor.sell(limit(310_000, 1_000), { trigger: above(300_000, parent.id) });
      await b.sell(limit(300_000, 1_000));
      assert.deepEqual(await poor.until(child.id, 'Triggered'), ['Created', 'Triggered']);
      await a.buy(limit(310_000, 1_000));
      await poor.until(child.id, 'Removed Filled');
    }
    await world.ledgerAddsUp();
  });

  test('a child that was released whole may be replaced to more, and clearing confirms it (AMB-29, RPL-07)', async () => {
    const parent = await own.buy(limit(300_000, 10_000));
    const child = await own.sell(limit(310_000, 4_000), { trigger: above(305_000, parent.id) });
    await b.sell(limit(300_000, 4_000));
    await trade(305_000);
    await own.until(child.id, 'Triggered');
    assert.equal((await own.replace(child.id, { quantity: 6_000 })).word, 'Received');
    const taken = await a.buy(limit(310_000, 6_000, 'IOC'));
    await a.until(taken.id, 'Removed Filled');
    await own.until(child.id, 'Removed Filled');
    assert.equal((await own.record(child.id))['confirmed_filled_quantity'], '0.6');
    assert.equal(await own.status(parent.id), 'PartiallyFilled');
  });

  test('a cancelled parent takes what it did not activate with it (AMB-29)', async () => {
    const parent = await own.buy(limit(300_000, 10_000));
    const child = await own.sell(limit(310_000, 10_000), { trigger: above(305_000, parent.id) });
    const idle = await own.buy(limit(299_000, 10_000));
    const unborn = await own.sell(limit(310_000, 10_000), { trigger: above(305_000, idle.id) });
    await b.sell(limit(300_000, 4_000));
    await world.rest();
    for (const { id } of [parent, idle]) assert.equal((await own.cancel(id)).word, 'Received');
    await own.until(unborn.id, 'Canceled ParentCanceled');
    await own.until(child.id, 'Replaced');
    assert.equal((await own.record(child.id))['quantity'], '0.4');
    await trade(305_000);
    await own.until(child.id, 'Triggered');
    assert.equal(await own.held('2'), '0.4');
  });

  test('a child is of the other side, of the same owner, and its parent is a plain order (TRG-04 to TRG-06)', async () => {
    const parent = await own.buy(limit(300_000, 10_000));
    const conditional = await own.buy(limit(299_000, 10_000), { trigger: below(290_000) });
    const word = async (who: Trader, side: 'Buy' | 'Sell', of: string): Promise<string> =>
      (await who.create(side, limit(310_000, 1_000), { trigger: above(305_000, of) })).word;
    assert.equal(await word(own, 'Buy', parent.id), 'INVALID_ORDER');
    assert.equal(await word(a, 'Sell', parent.id), 'ORDER_NOT_FOUND');
    assert.equal(await word(own, 'Sell', conditional.id), 'INVALID_ORDER');
    assert.equal(await word(own, 'Sell', 'nobody'), 'ORDER_NOT_FOUND');
    const quoteSized = await own.sell(marketQuote(1_000_000), { trigger: above(305_000, parent.id) });
    assert.equal(quoteSized.word, 'INVALID_ORDER');
  });

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    test(`triggers, children and what was released are as they were after a ${signal} (AMB-110)`, async () => {
      const stop = await own.sell(limit(280_000, 1_000), { trigger: below(290_000) });
      const parent = await own.buy(limit(300_000, 10_000));
      const child = await own.sell(limit(310_000, 10_000), { trigger: above(305_000, parent.id) });
      await b.sell(limit(300_000, 4_000));
      await trade(305_000);
      await own.until(child.id, 'Triggered');
      await world.rest();
      const seen = async (): Promise<unknown> => [
        await own.record(stop.id),
        await own.record(child.id),
        await own.held('2'),
        await own.held('0'),
        await world.depth(),
      ];
      const before = await seen();
      await world.restart(signal);
      await world.rest();
      assert.deepEqual(await seen(), before);
      await b.sell(limit(300_000, 6_000));
      await world.rest();
      assert.equal(await own.held('2'), '1', 'the child goes on growing with its parent');
      await trade(289_000);
      assert.deepEqual(await own.until(stop.id, 'Triggered'), ['Triggered']);
      const again = await own.sell(limit(310_000, 1_000), { id: stop.id });
      assert.equal(again.word, 'DUPLICATE_ORDER');
      await world.ledgerAddsUp();
    });

    test(`a child that never rests waits for more of its parent over a ${signal} (AMB-29, AMB-110)`, async () => {
      const parent = await own.buy(limit(300_000, 10_000));
      const child = await own.sell(limit(310_000, 10_000, 'IOC'), { trigger: above(305_000, parent.id) });
      await b.sell(limit(300_000, 4_000));
      await trade(305_000);
      await own.until(child.id, 'Triggered');
      await trade(304_000);
      assert.deepEqual([await own.status(child.id), await own.held('2')], ['Open', '0'], 'it met nobody');
      await world.restart(signal);
      await world.rest();
      assert.deepEqual([await own.status(child.id), await own.held('2')], ['Open', '0']);
      await world.hook({ hold: true });
      await b.sell(limit(300_000, 6_000));
      await a.buy(limit(310_000, 10_000));
      await world.hook({ release: true });
      await own.until(child.id, 'Removed ImmediateOrCancel');
      await world.rest();
      assert.equal(
        (await own.record(child.id))['confirmed_filled_quantity'],
        '0.6',
        'what was released since, and no more',
      );
      await world.ledgerAddsUp();
    });
  }
});
