// tier: quick
/** The dev profile's feeder (operator-api.md 1), against the node's own commands, questions and encoding. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KnownPrices } from '../../src/clearing/clearing-queries.ts';
import { must } from '../../src/core/assert.ts';
import { format18 } from '../../src/core/decimal.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { OracleFeed } from '../../src/operator/oracle-feed.ts';
import { e18 } from '../support/margin-world.ts';
import { OpsWorld } from '../support/ops-world.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const PUBLISHED_NS = 1_600_000_000_000_000_000n;

test('the feeder republishes every oracle price and changes none', { timeout: PATIENCE_MS }, async (t) => {
  const world = new OpsWorld('dev');
  const parts = world.parts();
  for (const [assetId, symbol] of [
    ['2', 'ETH'],
    ['3', 'BTC'],
  ] as const) {
    await parts.command({ kind: 'putAsset', method: 'put', assetId: assetId as AssetId, change: { symbol } });
  }
  const prices = [
    { asset: '2' as AssetId, price: e18('3000.25'), publishNs: PUBLISHED_NS, source: 'operator' },
    { asset: '3' as AssetId, price: e18('60000'), publishNs: PUBLISHED_NS, source: 'operator' },
  ];
  assert.ok((await parts.command({ kind: 'setPrices', prices })).ok);

  await new Promise<void>((resolve) => {
    const command: typeof parts.command = async (change) => {
      const reply = await parts.command(change);
      resolve();
      return reply;
    };
    const feed = new OracleFeed({ ...parts, command }, 1);
    t.after(() => feed.stop());
  });

  const reply = await parts.ask({ kind: 'prices' });
  assert.ok(reply.ok);
  for (const [asset, price] of [
    ['2', '3000.25'],
    ['3', '60000'],
  ] as const) {
    const { oracle }: KnownPrices[string] = must(reply.value.prices[asset], 'the price is still known');
    assert.ok(oracle !== null);
    assert.equal(format18(oracle.price), price);
    assert.ok(oracle.timeNs > PUBLISHED_NS);
  }
});
