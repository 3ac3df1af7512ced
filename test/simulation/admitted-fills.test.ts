// tier: full
/**
 * Random histories of a whole node with prices, steps and caps at rest (MON-07): no fill of an admitted order lacks margin, but
 * after a fill of its account was undone for another. Every kind of order, children, triggers, replaces, batches, transfers.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryDurability } from '../support/memory-durability.ts';
import { prepareMarkets } from '../support/simulated-markets.ts';
import { SIMULATED_MARKETS, SIMULATION_START_NS, SimulatedNode } from '../support/simulated-node.ts';
import { Traders } from '../support/simulated-traders.ts';

const SEEDS = 30;
const ROUNDS = 40;
/** No match is worth so much: no trade sets a mark. */
const MARK_MINIMUM = '1000000000';

test('with prices at rest no fill of an admitted order is InsufficientMargin (MON-07)', () => {
  let [confirmed, refused, undone] = [0, 0, 0];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const node = new SimulatedNode({
      ...{ durability: new MemoryDurability(), forged: new Set<string>(), startNs: SIMULATION_START_NS, seed },
    });
    prepareMarkets(node);
    for (const assetId of SIMULATED_MARKETS) {
      node.command({ kind: 'putAsset', method: 'patch', assetId, body: { mark_min_notional: MARK_MINIMUM } });
      const body = { collateral_factor: 90, liability_factor: 95, initial_margin_factors: [950_000] };
      node.command({ kind: 'putRisk', method: 'put', assetId, body });
    }
    const traders = new Traders(seed);
    traders.movesPrices = false;
    // Up to 17 % above the oracle.
    traders.spread = 1_000;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let step = 0; step < 40; step += 1) {
        if (traders.random.below(3) === 0) traders.act(node);
        node.simulation.step();
      }
      if (traders.random.below(3) === 0) node.settleLiquidations();
    }
    node.settleLiquidations();
    for (const { trade } of node.told) {
      if (trade.status === 'Confirmed' && trade.subAccount === 1) confirmed += 1;
      if (trade.status === 'Rollbacked') undone += 1;
    }
    refused += node.answers.filter(({ refusal }) => refusal?.code === 'INSUFFICIENT_MARGIN').length;
    assert.equal(node.faults.filter((reason) => reason === 'InsufficientMargin').length, 0, `seed ${seed}`);
  }
  assert.ok(confirmed > 500 && refused > 100, `${confirmed} fills, ${refused} refusals, ${undone} sides undone`);
});
