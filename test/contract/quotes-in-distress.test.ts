// tier: full, 12 s
/**
 * Quote sets where their owner or their market is in trouble: liquidation, margin, a market that takes only cancels or nothing, a
 * cool-down, a frozen group, and kills between (QTE-04, QTE-09, MMP-02, MMP-03).
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { PlainClient } from '../support/plain-client.ts';
import { openOrders, type QuoteWords, quoteBody, quoteOutcome, sendQuotes } from '../support/quote-texts.ts';
import { TestNode } from '../support/test-node.ts';
import { IOC } from '../support/wire-texts.ts';

const MILLISECOND_NS = 1_000_000n;
const MARGIN = { account: 1, isSpot: false } as const;

suite('quote sets in distress', () => {
  let node: TestNode;
  let house: readonly [PlainClient, PlainClient];

  before(async () => {
    node = await TestNode.start();
    house = [await node.user(undefined, [0, 1]), await node.user(undefined, [0, 1])];
  });
  after(async () => {
    await node.rest();
    await node.ledgerAddsUp();
    await node.stop();
  });

  const put = async (client: PlainClient, words: QuoteWords): Promise<string> =>
    quoteOutcome(await sendQuotes(client, quoteBody(client, words)));
  const restart = async (...clients: readonly PlainClient[]): Promise<void> => {
    await node.rest();
    await node.restart('SIGKILL');
    for (const client of [...house, ...clients]) await client.login();
    await node.rest();
  };

  /** A confirmed trade of margin accounts. */
  async function trade(buyer: PlainClient, seller: PlainClient, price: number, quantity: number): Promise<void> {
    const offered = await seller.create({ side: 'Sell', price, quantity, ...MARGIN });
    assert.equal(offered.status, 200, offered.text);
    const taken = await buyer.create({ side: 'Buy', price, quantity, ...MARGIN });
    assert.equal(taken.status, 200, taken.text);
    await node.rest();
  }

  test('QTE-09: a liquidation cancels the sets of its account and raises their marks, durably; other accounts keep theirs', async () => {
    const maker = await node.user({ '0': '1000' }, [0, 1]);
    await node.oraclePrice('2000');
    await trade(house[0], maker, 200_000, 15_000);
    const quotes = { bids: [[150_000, 100]], asks: [[400_000, 100]] } as const;
    assert.equal(await put(maker, { id: 'm', ...quotes, ...MARGIN }), 'Received 2 0 0 0');
    assert.equal(await put(maker, { id: 's', bids: [[100_000, 100]] }), 'Received 1 0 0 0');
    const signed = quoteBody(maker, { id: 'm', ...quotes, ...MARGIN });
    const other = quoteBody(maker, { id: 's', bids: [[100_100, 100]] });
    await node.advance(MILLISECOND_NS);
    await trade(house[0], house[1], 260_000, 10);
    await node.oraclePrice('2900');
    await node.advance(1_000n * MILLISECOND_NS);
    await node.rest();
    assert.deepEqual(await openOrders(maker), ['s:1 1000 0.01'], 'the set of the spot account stays');
    const record = (await maker.read(`/orders/user/${maker.id}/2/m:1`)) as { readonly status: string };
    assert.equal(record.status, 'Canceled');
    assert.equal(quoteOutcome(await sendQuotes(maker, signed)), '400 REQUEST_TOO_OLD');
    assert.equal(quoteOutcome(await sendQuotes(maker, other)), 'Received 1 0 0 1', 'the mark of the other set stayed');
    await restart(maker);
    assert.equal(quoteOutcome(await sendQuotes(maker, signed)), '400 REQUEST_TOO_OLD', 'the mark is durable');
    assert.deepEqual(await openOrders(maker), ['s:2 1001 0.01']);
    assert.equal(await put(maker, { id: 's' }), 'Received 0 0 0 1');
    await node.oraclePrice('2000');
  });

  test('QTE-04: without margin what adds is refused as a whole, what takes away is applied', async () => {
    const maker = await node.user({ '0': '1000' }, [1]);
    const first = [
      [190_000, 1_000],
      [189_000, 1_000],
    ] as const;
    assert.equal(await put(maker, { bids: first, ...MARGIN }), 'Received 2 0 0 0');
    const poor = [
      [190_000, 400],
      [180_000, 10_000_000],
    ] as const;
    assert.equal(await put(maker, { bids: poor, ...MARGIN }), 'Rejected InsufficientMargin 0 1 0 1');
    assert.deepEqual(await openOrders(maker), ['mm:1 1900 0.04']);
    const only = { id: 'other', bids: [[180_000, 10_000_000]], ...MARGIN } as const;
    assert.equal(await put(maker, only), '400 INSUFFICIENT_MARGIN', 'nothing is applied of one that only adds');
    assert.equal(await put(maker, MARGIN), 'Received 0 0 0 1');
  });

  for (const status of ['CancelOnly', 'Halted'] as const)
    test(`QTE-04: in a market that is ${status} what takes away is applied and what adds refused as a whole, over a kill too`, async () => {
      const maker = await node.user();
      const bids = [
        [190_000, 1_000],
        [189_000, 1_000],
        [188_000, 1_000],
      ] as const;
      assert.equal(await put(maker, { bids }), 'Received 3 0 0 0');
      await node.market('2', { status });
      const both = [
        [191_000, 1_000],
        [190_000, 400],
        [188_000, 1_000],
      ] as const;
      assert.equal(await put(maker, { bids: both }), 'Rejected MarketHalted 0 1 1 1');
      assert.deepEqual(await openOrders(maker), ['mm:1 1900 0.04', 'mm:3 1880 0.1']);
      assert.equal(await put(maker, { id: 'new', bids: [[170_000, 100]] }), '503 MARKET_HALTED');
      await restart(maker);
      assert.deepEqual(await openOrders(maker), ['mm:1 1900 0.04', 'mm:3 1880 0.1']);
      assert.equal(await put(maker, { bids: [[190_000, 400]] }), 'Received 0 0 1 1');
      assert.equal(await put(maker, {}), 'Received 0 0 0 1');
      await node.market('2', { status: 'Active' });
      assert.deepEqual(await openOrders(maker), []);
    });

  test('QTE-04, QTE-09: a cool-down cancels sets and raises marks; then what adds is refused, and an end is taken', async () => {
    await node.operate('PATCH', '/operator/settings', { fault_budget: 1, fault_cooldown_s: 30 });
    const maker = await node.user();
    const bids = [
      [190_000, 1_000],
      [189_000, 1_000],
    ] as const;
    assert.equal(await put(maker, { bids }), 'Received 2 0 0 0');
    const signed = quoteBody(maker, { bids });
    await node.advance(MILLISECOND_NS);
    for (const fill of ['f1', 'f2']) {
      assert.equal((await maker.create({ id: fill, side: 'Sell', price: 250_000, quantity: 10 })).status, 200);
      await node.hook({ fault: { kind: 'reject_fill', party: 'maker', reason: 'InsufficientInventory' } });
      assert.equal((await house[0].create({ side: 'Buy', price: 250_000, quantity: 10, tif: IOC })).status, 200);
      await node.rest();
    }
    assert.deepEqual(await openOrders(maker), [], 'all was cancelled');
    assert.equal(quoteOutcome(await sendQuotes(maker, signed)), '400 REQUEST_TOO_OLD');
    assert.equal(await put(maker, { bids }), '429 RATE_LIMITED');
    assert.equal(await put(maker, {}), 'Received 0 0 0 0');
    await node.advance(30_000n * MILLISECOND_NS);
    assert.equal(await put(maker, { bids }), 'Received 2 0 0 0', 'the cool-down is over');
    assert.equal(await put(maker, {}), 'Received 0 0 0 2');
    await node.operate('PATCH', '/operator/settings', { fault_budget: 20, fault_cooldown_s: 60 });
  });

  test('QTE-04, MMP-03: in a frozen group what takes away is applied and what adds refused, over a kill too; the trip ends its sets and raises their marks', async () => {
    const maker = await node.user();
    const limits = '"window_ms":60000,"frozen_ms":0,"max_fills":1,"min_fill_notional":"0"';
    for (const group of ['g', 'h'])
      assert.equal((await maker.send('PUT', '/account/protection/2', `{"group":"${group}",${limits}}`)).status, 200);
    const asks = [
      [250_000, 100],
      [251_000, 100],
    ] as const;
    assert.equal(await put(maker, { id: 'free', bids: [[100_000, 100]] }), 'Received 1 0 0 0');
    assert.equal(await put(maker, { id: 'in', asks, bids: [[101_000, 100]], group: 'g' }), 'Received 3 0 0 0');
    const signed = quoteBody(maker, { id: 'in', asks, group: 'g' });
    await node.advance(MILLISECOND_NS);
    // One taker, for both asks: the group trips with the first.
    assert.equal((await house[0].create({ side: 'Buy', price: 251_000, quantity: 200, tif: IOC })).status, 200);
    await node.rest();
    assert.deepEqual(await openOrders(maker), ['free:1 1000 0.01']);
    for (const moment of ['at once', 'after a kill']) {
      if (moment === 'after a kill') await restart(maker);
      assert.equal(quoteOutcome(await sendQuotes(maker, signed)), '400 REQUEST_TOO_OLD', moment);
      const refused = await sendQuotes(maker, quoteBody(maker, { id: 'in', asks, group: 'g' }));
      assert.equal(quoteOutcome(refused), '409 MMP_FROZEN', moment);
      assert.match(refused.text, /"frozen_until_ns":null/, moment);
      const joining = { id: 'free', bids: [[99_000, 100]], group: 'g' } as const;
      assert.equal(await put(maker, joining), 'Rejected MmpFrozen 0 0 0 1', moment);
      assert.equal(await put(maker, { id: 'in', group: 'g' }), 'Received 0 0 0 0', moment);
      assert.equal(
        await put(maker, { id: 'free', bids: [[100_000, 100]] }),
        'Received 1 0 0 0',
        'another group, or none',
      );
      assert.equal(await put(maker, { id: 'open', asks: [[300_000, 100]], group: 'h' }), 'Received 1 0 0 0');
      assert.equal(await put(maker, { id: 'open' }), 'Received 0 0 0 1');
    }
    assert.equal((await maker.post('/account/protection/2/g/reset', '')).status, 200);
    assert.equal(await put(maker, { id: 'in', asks, group: 'g' }), 'Received 2 0 0 0');
    assert.equal((await maker.send('DELETE', '/orders/cancel-all', '')).status, 202);
    await node.rest();
    assert.deepEqual(await openOrders(maker), []);
  });
});
