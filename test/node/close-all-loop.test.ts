// tier: full
/** The close-all loop of the SDK on a whole node: preview, signed orders in a batch, fills, folding, preview again. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import type { CloseOrder } from '../../src/client/margin.ts';
import { formatRaw } from '../../src/core/decimal.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { TestNode } from '../support/test-node.ts';
import { limit } from '../support/wire-texts.ts';
import type { Ticket, Trader } from '../support/wire-trader.ts';

const MARGIN: Ticket = { account: 1, isSpot: false };

suite('close all', () => {
  let world: TestNode;
  let other: Trader;
  let client: RingbookClient;

  before(async () => {
    world = await TestNode.start();
    other = await world.trader({ '0': '1000000' }, [1]);
    const { sdkKey: key } = await world.trader({ '0': '100000' }, [1]);
    client = new RingbookClient({ oms: world.process.oms, mds: world.process.mds, key, nowNs: () => world.stamp() });
  });
  after(async () => {
    client.close();
    await world.stop();
  });

  /** The client's own order on margin, which takes what the other one has in the book. */
  async function open(assetId: string, side: 'Buy' | 'Sell', price: string, quantity: string): Promise<void> {
    const ticket = { assetId, side, price, quantity, target: { account: 1, isSpot: false } };
    assert.equal((await client.create(await client.order(ticket))).status, 'Received');
    await world.rest();
  }

  /** Signs what the preview suggests and sends it as one batch. */
  async function close(orders: readonly CloseOrder[]): Promise<void> {
    const signed = await Promise.all(
      orders.map(async ({ assetId, side, quantity, subAccount }) => {
        const { quantityDecimals } = await client.market(assetId);
        const size = formatRaw(quantity, quantityDecimals);
        const target = { account: subAccount, isSpot: false };
        const ticket = { assetId, side, quantity: size, target, reduceOnly: true };
        return client.signCreate(await client.marketOrder(ticket));
      }),
    );
    const told = await client.batchCreate(signed);
    assert.deepEqual(
      told.map(({ status }) => status),
      orders.map(() => 'Received'),
    );
    await world.rest();
  }

  test('positions are closed as far as the book goes, and the loop goes on until nothing is left (POS-11, POS-01, QRY-08)', async () => {
    const changes = await client.margin.positionStream();
    await other.sell(limit(300_000, 10_000), { ...MARGIN, asset: '2' });
    await open('2', 'Buy', '3000', '1');
    await other.buy(limit(600_000, 10_000), { ...MARGIN, asset: '1' });
    await open('1', 'Sell', '60000', '0.1');

    // The book takes all of one and part of the other.
    await other.buy(limit(299_000, 4_000), { ...MARGIN, asset: '2' });
    const offered = await other.sell(limit(601_000, 10_000), { ...MARGIN, asset: '1' });
    assert.equal(offered.word, 'Received');
    const first = await client.margin.closePreview(1);
    assert.deepEqual(
      first.orders.map(({ assetId, side, quantity }) => `${assetId} ${side} ${quantity}`),
      ['1 Buy 10000', '2 Sell 10000'],
    );
    await close(first.orders);
    const second = await client.margin.closePreview(1);
    assert.deepEqual(
      second.orders.map(({ assetId, side, quantity }) => `${assetId} ${side} ${quantity}`),
      ['2 Sell 6000'],
    );
    await other.buy(limit(298_000, 6_000), { ...MARGIN, asset: '2' });
    await close(second.orders);
    assert.deepEqual((await client.margin.closePreview(1)).orders, []);

    const flat = await client.margin.positions();
    assert.deepEqual(
      flat.map(({ assetId, side }) => `${assetId} ${side}`),
      ['1 closed', '2 closed'],
    );
    for (const { assetId } of flat) {
      await client.account.closePosition({ account: 1, assetId: assetId as AssetId, nonce: world.stamp() });
    }
    await world.rest();
    assert.deepEqual(await client.margin.positions(), []);
    const told: string[] = [];
    let lastNs = 1n;
    for await (const { assetId, side, size, timestampNs } of changes) {
      assert.ok(timestampNs >= lastNs, 'a change has the time at which it was booked');
      lastNs = timestampNs;
      told.push(`${assetId} ${side} ${size}`);
      if (told.includes('1 closed 0') && told.includes('2 closed 0')) break;
    }
    assert.deepEqual(told.slice(0, 2), ['2 long 1', '1 short 0.1'], 'every change in its order');
    const left = (await client.margin.figures()).get(1);
    // Bought 1 at 3000, sold .4 at 2990 and .6 at 2980; sold .1 at 60000, bought it at 60100; fees besides.
    assert.equal(left?.equity, left?.available);
    assert.ok(Number(left?.equity) < 100_000 - 16 - 10 && Number(left?.equity) > 100_000 - 60);
    await world.ledgerAddsUp();
  });
});
