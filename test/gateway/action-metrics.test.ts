// tier: quick
/** Metrics of actions by market: which markets have some, and how many (src/gateway/metrics/action-metrics.ts). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId } from '../../src/core/ids.ts';
import { ActionMetrics } from '../../src/gateway/metrics/action-metrics.ts';
import { GATEWAY_METRICS, MARKETS_MAX } from '../../src/gateway/metrics/metric-names.ts';
import { createMetrics, MetricsWriter, readMetric } from '../../src/runtime/metrics.ts';

function metricsOf(isMarket: (asset: AssetId) => boolean): ActionMetrics {
  return new ActionMetrics(new MetricsWriter(createMetrics(GATEWAY_METRICS)), isMarket);
}

const asset = (number: number): AssetId => `${number}` as AssetId;

suite('metrics of actions by market', () => {
  test('a market has none before its first action, and an asset without a market never has', () => {
    const metrics = metricsOf((named) => named === asset(2));
    assert.deepEqual([...metrics.byMarket()], []);
    metrics.answered('create', 'accepted', 1, asset(2));
    metrics.answered('create', 'rejected', 1, asset(3));
    metrics.answered('batch-create', 'partial', 1, null);
    const [[market, plan] = assert.fail('one market'), ...others] = [...metrics.byMarket()];
    assert.deepEqual([market, others], [asset(2), []]);
    assert.equal(readMetric(plan, 'action_create_accepted'), 1);
    assert.equal(readMetric(plan, 'action_create_rejected'), 0);
  });

  test('only the first markets that see an action have metrics; they go on counting when there are no more places', () => {
    const metrics = metricsOf(() => true);
    for (let number = 0; number < MARKETS_MAX + 10; number += 1) {
      metrics.answered('replace', 'accepted', null, asset(number));
    }
    metrics.answered('replace', 'accepted', null, asset(0));
    const markets = [...metrics.byMarket()];
    assert.equal(markets.length, MARKETS_MAX);
    const [[first, plan] = assert.fail('one market')] = markets;
    assert.deepEqual([first, readMetric(plan, 'action_replace_accepted')], [asset(0), 2]);
    assert.ok(markets.every(([market]) => Number(market) < MARKETS_MAX));
  });
});
