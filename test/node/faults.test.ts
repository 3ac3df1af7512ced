// tier: full, 11 s
/** Rollbacks by a user's own fault have a price, over the wire (A4, AMB-124). */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { metricOf } from '../support/node-process.ts';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Trader } from '../support/wire-trader.ts';

const FUNDS = { '0': '1000000', '2': '1000' };
const SECOND_NS = 1_000_000_000n;
const BUDGET = 3;

suite('a user whose fills are rolled back by its own fault', () => {
  let world: TestNode;
  let maker: Trader;
  let taker: Trader;

  before(async () => {
    world = await TestNode.start();
  });

  beforeEach(async () => {
    await world.operate('PATCH', '/operator/settings', { fault_budget: BUDGET, fault_cooldown_s: 30 });
    maker = await world.trader(FUNDS);
    taker = await world.trader(FUNDS);
  });

  afterEach(() => world.clear());
  after(() => world.stop());

  const metric = (name: string): Promise<number> => metricOf(world.process, name);

  /** Fills of the taker that clearing refuses, one after the other. */
  async function fail(
    times: number,
    party: 'maker' | 'taker' = 'taker',
    reason = 'InsufficientInventory',
  ): Promise<void> {
    await maker.sell(limit(300_000, 10_000 * times));
    for (let each = 0; each < times; each += 1) {
      if (party === 'maker' && each > 0) await maker.sell(limit(300_000, 10_000 * times));
      await world.hook({ fault: { kind: 'reject_fill', party, reason } });
      const answer = await taker.buy(limit(300_000, 10_000));
      assert.equal(answer.word, 'Received', answer.word);
      await world.rest();
    }
  }

  test('the settings have the defaults of AMB-124', async () => {
    const other = await TestNode.start();
    const settings = await other.operate('GET', '/operator/settings');
    const names = ['fault_budget', 'fault_budget_market_maker', 'fault_window_s', 'fault_cooldown_s'];
    assert.deepEqual(
      names.map((name) => settings[name]),
      [20, 200, 60, 60],
    );
    await other.stop();
  });

  test('beyond the budget its new orders are refused over REST, in batches and on /control, and what rests is cancelled', async () => {
    const [faults, cooldowns] = [
      'ringbook_faults_total{reason="InsufficientInventory"}',
      'ringbook_fault_cooldowns_total',
    ];
    const before = [await metric(faults), await metric(cooldowns)];
    const rests = await taker.buy(limit(250_000, 10_000));
    const waits = await taker.buy(limit(240_000, 10_000), {
      trigger: '{"parent_order_id":null,"condition":{"PriceAbove":{"price":900000}}}',
    });
    await fail(BUDGET);
    assert.equal((await taker.buy(limit(249_000, 10_000))).word, 'Received', 'the budget is borne');
    await fail(1);
    for (const { id } of [rests, waits]) await taker.until(id, 'Canceled RateLimited');
    assert.deepEqual(
      [await metric(faults), await metric(cooldowns)].map((value, at) => value - (before[at] ?? 0)),
      [BUDGET + 1, 1],
    );
    const lines = world.process.stderr().split('\n');
    assert.equal(
      lines.filter((line) => line.includes('rollbacks') && line.includes(taker.userId)).length,
      1,
      'one line',
    );

    const refused = await taker.call('POST', '/orders/create', taker.wrapper('Buy', limit(249_000, 10_000)).text);
    assert.equal(refused.status, 429);
    const { error } = JSON.parse(refused.text) as { error: { code: string; details: Record<string, unknown> } };
    assert.equal(error.code, 'RATE_LIMITED');
    const { bucket, retry_after_ms: retryMs } = error.details;
    assert.deepEqual([bucket, retryMs], ['faults', 30_000]);
    const batch = await taker.batchCreate(
      taker.wrapper('Buy', limit(249_000, 1)),
      taker.wrapper('Sell', limit(400_000, 1)),
    );
    assert.ok(
      batch.every((word) => word.endsWith(' RateLimited')),
      batch.join(),
    );
    const frames: Record<string, unknown>[] = [];
    const control = await taker.listen('/control', frames as never);
    control.send(`{"CreateOrderRequest":${taker.wrapper('Buy', limit(249_000, 1)).text}}`);
    while (frames.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.match(JSON.stringify(frames[0]), /"RateLimited"/);
    control.close();
    assert.equal((await maker.sell(limit(400_000, 10_000))).word, 'Received', 'nobody else is refused');

    await world.advance(30n * SECOND_NS);
    assert.equal((await taker.buy(limit(249_000, 10_000))).word, 'Received', 'the cool-down is over');
    await fail(BUDGET);
    assert.equal((await taker.buy(limit(249_000, 10_000))).word, 'Received', 'and the budget is whole again');
  });

  test('cancels stay allowed, and a resting order of another party that was at fault counts as well', async () => {
    const other = await maker.sell(limit(400_000, 10_000));
    await fail(BUDGET + 1, 'maker');
    await maker.until(other.id, 'Canceled RateLimited');
    assert.equal((await maker.cancel(other.id)).word, 'ALREADY_CANCELLED');
    assert.match(await maker.cancelAll(), /^202/);
    assert.equal((await maker.sell(limit(400_000, 10_000))).word, 'RATE_LIMITED');
    assert.equal((await taker.buy(limit(249_000, 10_000))).word, 'Received');
  });

  test('what no user can avoid does not count: a stale match, a broken price (AMB-33, AMB-44)', async () => {
    for (const reason of ['StaleMatch', 'PricingFailure']) await fail(BUDGET + 1, 'taker', reason);
    assert.equal((await taker.buy(limit(249_000, 10_000))).word, 'Received');
    assert.equal((await maker.sell(limit(400_000, 10_000))).word, 'Received');
  });

  test('a price of anything in the account that falls between match and decision is no fault of margin (AMB-124)', async () => {
    const target = { account: 1, isSpot: false };
    const owner = await world.trader({ '0': '1000000', '1': '10' }, [1]);
    // Each price is lower than the one before; then each is the same, which is no move.
    let btc = 60_000;
    for (const moves of [true, false]) {
      for (let each = 0; each <= BUDGET; each += 1) {
        await maker.sell(limit(300_000, 10_000));
        await world.hook({ fault: { kind: 'reject_fill', party: 'taker', reason: 'InsufficientMargin' } });
        await world.hook({ hold: true });
        assert.equal((await owner.buy(limit(300_000, 10_000, 'IOC'), target)).word, 'Received');
        await world.advance(SECOND_NS);
        if (moves) btc -= 10;
        await world.operate('POST', '/operator/prices', { prices: [{ asset_id: '1', price: String(btc) }] });
        await world.hook({ release: true });
        await world.rest();
      }
      const { word } = await owner.buy(limit(249_000, 10_000), target);
      assert.equal(word, moves ? 'Received' : 'RATE_LIMITED');
    }
  });

  test('market makers have a budget of their own (AMB-124)', async () => {
    await world.operate('PUT', `/operator/users/${taker.userId}`, { is_mm: true });
    await world.operate('PATCH', '/operator/settings', { fault_budget_market_maker: BUDGET + 2 });
    await fail(BUDGET + 2);
    assert.equal((await taker.buy(limit(249_000, 10_000))).word, 'Received');
    await fail(1);
    assert.equal((await taker.buy(limit(249_000, 10_000))).word, 'RATE_LIMITED');
  });
});
