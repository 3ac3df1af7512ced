/** Clearing says between the steps of its longest turns that it is alive: no client's sweep may look like a hang. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId } from '../../src/core/ids.ts';
import { MemoryDurability } from '../support/memory-durability.ts';
import { SIMULATION_START_NS, SimulatedNode } from '../support/simulated-node.ts';

/** Judged, flushed, applied, told. */
const BEATS_OF_A_BATCH = 4;
/** Before its transaction and after. */
const BEATS_OF_A_CHECKPOINT = 2;

function beatsOfOneBatch(checkpointAfter: number): number {
  const node = new SimulatedNode({
    seed: 1,
    durability: new MemoryDurability(),
    startNs: SIMULATION_START_NS,
    forged: new Set(),
    checkpointAfter,
  });
  const before = node.clearingBeats;
  node.commandAll([{ kind: 'putAsset', method: 'put', assetId: '0' as AssetId, body: { symbol: 'USD' } }]);
  return node.clearingBeats - before;
}

suite('beats of clearing', () => {
  test('a journaled batch beats after each of its steps (AMB-111)', () => {
    assert.equal(beatsOfOneBatch(1_000), BEATS_OF_A_BATCH);
  });

  test('a checkpoint beats before its transaction and after it (AMB-111)', () => {
    assert.equal(beatsOfOneBatch(1), BEATS_OF_A_BATCH + BEATS_OF_A_CHECKPOINT);
  });
});
