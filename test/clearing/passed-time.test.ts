// tier: quick
/** Time that passes on markets in which nothing happens (KLN-05, AMB-99). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { PassedTime } from '../../src/clearing/passed-time.ts';
import type { ClearingMarket } from '../../src/clearing/state.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { MemoryDurability } from '../support/memory-durability.ts';
import { prepareMarkets } from '../support/simulated-markets.ts';
import { SIMULATION_START_NS, SimulatedNode } from '../support/simulated-node.ts';

const START_NS = 1_760_000_000n * 1_000_000_000n;

function marketsOfNode(): readonly ClearingMarket[] {
  const durability = new MemoryDurability();
  const node = new SimulatedNode({ seed: 1, durability, forged: new Set(), startNs: SIMULATION_START_NS });
  prepareMarkets(node);
  return node.clearing.ledger.markets;
}

suite('passed time', () => {
  test('is that of the tick before, at most once a market and second (KLN-05)', () => {
    const markets = marketsOfNode();
    const passed = new PassedTime();
    const told: string[] = [];
    const tick = (ms: number): string[] => {
      passed.tick((START_NS + BigInt(ms) * 1_000_000n) as TimestampNs, markets, ({ marketIndex, timeNs }) =>
        told.push(`${marketIndex} at ${(timeNs - START_NS) / 1_000_000n}`),
      );
      return told.splice(0);
    };
    assert.deepEqual(tick(10), [], 'what was matched before it may be on its way');
    assert.deepEqual(tick(20), ['0 at 10', '1 at 10']);
    for (let ms = 30; ms < 1_000; ms += 10) assert.deepEqual(tick(ms), []);
    assert.deepEqual(tick(1_000), []);
    assert.deepEqual(tick(1_010), ['0 at 1000', '1 at 1000'], 'the second is over');
    assert.deepEqual(tick(9_000), []);
    assert.deepEqual(tick(9_001), ['0 at 9000', '1 at 9000'], 'a clock that was set forward');
  });

  test('stands still for a market with undecided fills, and catches up with the next tick (KLN-05, AMB-36)', () => {
    const markets = marketsOfNode();
    const passed = new PassedTime();
    const indices: number[] = [];
    const tick = (second: number): number[] => {
      passed.tick((START_NS + BigInt(second) * 1_000_000_000n) as TimestampNs, markets, ({ marketIndex }) =>
        indices.push(marketIndex),
      );
      return indices.splice(0);
    };
    const [first] = markets;
    assert.ok(first !== undefined);
    first.waiting = true;
    tick(1);
    assert.deepEqual(tick(2), [1]);
    first.waiting = false;
    assert.deepEqual(tick(2), [0, 1]);
  });
});
