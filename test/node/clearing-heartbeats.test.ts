// tier: full
/** Clearing sends heartbeats between the steps of its longest turns: no client's sweep may look like a hang. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { checkLedger } from '../../src/clearing/checks.ts';
import { applyBatch } from '../../src/clearing/clearing.ts';
import { answerQuery, type QueryContext } from '../../src/clearing/clearing-queries.ts';
import { AtRiskAccounts } from '../../src/clearing/liquidation/at-risk-accounts.ts';
import { recoverState } from '../../src/clearing/recovery.ts';
import { drainDirtyRows } from '../../src/clearing/tables.ts';
import { fireReached } from '../../src/clearing/triggers.ts';
import type { AssetId } from '../../src/core/ids.ts';
import type { RawPrice, TimestampNs } from '../../src/core/units.ts';
import { DutyCycle, UNITS_PER_HEARTBEAT } from '../../src/runtime/duty-cycle.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { makeLargeRows } from '../support/large-rows.ts';
import { MemoryDurability } from '../support/memory-durability.ts';
import { SIMULATION_START_NS, SimulatedNode } from '../support/simulated-node.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Checked, flushed, applied, published. */
const HEARTBEATS_OF_A_BATCH = 4;
/** Before its transaction and after. */
const BEATS_OF_A_CHECKPOINT = 2;
const ORDERS_PER_HEARTBEAT = UNITS_PER_HEARTBEAT;
const CONTEXT: QueryContext = {
  sequence: 1,
  checkpoint: 1,
  delayMs: 0,
  nowNs: SIMULATION_START_NS as TimestampNs,
  atRisk: new AtRiskAccounts(),
};
/** Above every trigger. */
const HIGH = Number.MAX_SAFE_INTEGER;

function beatsOfOneBatch(checkpointAfter: number): number {
  const node = new SimulatedNode({
    seed: 1,
    durability: new MemoryDurability(),
    startNs: SIMULATION_START_NS,
    forged: new Set(),
    checkpointAfter,
  });
  const before = node.clearingHeartbeats;
  node.commandAll([{ kind: 'putAsset', method: 'put', assetId: '0' as AssetId, body: { symbol: 'USD' } }]);
  return node.clearingHeartbeats - before;
}

suite('heartbeats of clearing', () => {
  test('a journaled batch records a heartbeat after each of its steps (AMB-111)', () => {
    assert.equal(beatsOfOneBatch(1_000), HEARTBEATS_OF_A_BATCH);
  });

  test('a checkpoint records a heartbeat before its transaction and after it (AMB-111)', () => {
    assert.equal(beatsOfOneBatch(1), HEARTBEATS_OF_A_BATCH + BEATS_OF_A_CHECKPOINT);
  });

  test('a changed taker fee walks no order, and the state for an operator sends heartbeats on the way (AMB-111, AMB-52)', async () => {
    const directory = temporaryDirectory();
    await makeLargeRows(directory, { users: 40, orders: 12_000, triggers: 32 });
    const durability = new LmdbDurability(directory);
    const node = new SimulatedNode({ seed: 1, durability, startNs: SIMULATION_START_NS, forged: new Set() });
    node.settle();
    const { ledger } = node.clearing;
    const counts = ledger.markets.map(({ orders }) => orders.size);
    assert.ok(counts.every((count) => count > 4 * ORDERS_PER_HEARTBEAT));
    for (const { definition } of ledger.markets) {
      const before = node.clearingHeartbeats;
      const body = { taker_fee_rate: definition.takerFeeRate + 100 };
      node.commandAll([{ kind: 'putMarket', method: 'patch', assetId: definition.assetId, body }]);
      // A checkpoint may be due by then.
      const most = HEARTBEATS_OF_A_BATCH + BEATS_OF_A_CHECKPOINT;
      assert.ok(node.clearingHeartbeats - before <= most, 'a changed fee goes through none of them');
    }
    checkLedger(ledger);
    let heartbeats = 0;
    const cycle = new DutyCycle(() => {
      heartbeats += 1;
    });
    const answer = cycle.finish(answerQuery({ kind: 'state' }, ledger, CONTEXT));
    const all = counts.reduce((sum, count) => sum + count, 0);
    assert.ok(
      heartbeats >= Math.floor(all / ORDERS_PER_HEARTBEAT),
      `a look at the state recorded ${heartbeats} heartbeats`,
    );
    const told = answer.ok ? Object.values(answer.value.markets) : [];
    assert.deepEqual(
      told.map((market) => market['open_orders']),
      counts,
    );
    const waiting = told.reduce((sum, market) => sum + Number(market['untriggered_orders']), 0);
    assert.equal(waiting, 32);
    await durability.close();
  });

  test('a restart ends what was left, and fires what a price had reached (AMB-110, AMB-29)', async () => {
    const directory = temporaryDirectory();
    const [children, leftovers, triggers] = [2_000, 4 * ORDERS_PER_HEARTBEAT, 4 * ORDERS_PER_HEARTBEAT];
    await makeLargeRows(directory, { users: 40, orders: 2_100, triggers, children, leftovers });
    const durability = new LmdbDurability(directory);
    const { state, timeNs } = recoverState(durability);
    const restart = (): void =>
      void applyBatch(state, { timeNs, inputs: [{ kind: 'restarted', clean: false }], verdicts: [] }, []);
    restart();
    assert.equal(state.dirty.finishedOrders.length, leftovers);
    for (const market of state.markets) for (const price of [1, HIGH]) fireReached(state, market, price as RawPrice);
    restart();
    assert.equal(state.orders.dirtyCount, triggers + children);
    await durability.close();
  });

  test('a checkpoint of thousands counts them as it encodes them and as it writes them (AMB-111)', async () => {
    const directory = temporaryDirectory();
    const triggers = 4 * ORDERS_PER_HEARTBEAT;
    await makeLargeRows(directory, { users: 40, orders: 100, triggers });
    const durability = new LmdbDurability(directory);
    const { state, timeNs } = recoverState(durability);
    for (const market of state.markets) for (const price of [1, HIGH]) fireReached(state, market, price as RawPrice);
    const rows = drainDirtyRows(state);
    assert.ok(rows.length >= triggers);
    let done = 0;
    const mark = { timeNs, sequence: durability.lastSequence, clean: false, stateHash: null };
    durability.checkpoint(mark, rows, () => {
      done += 1;
    });
    assert.ok(done >= 2 * rows.length, `${done} of ${rows.length} rows, encoded and written`);
    await durability.close();
  });
});
