// tier: full, 20 s
/**
 * A short soak with faults (MCH-01, MCH-02, CHN-01 to 04): seconds of what `run.js fault-soak` does for hours. Memory is judged only there.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { faultSoak } from '../support/fault-soak.ts';
import { shareOf } from '../support/shares.ts';

const SEED = 30;
const PER_SECOND = 40;
const LIVES = 2;

suite('a node under mixed load and faults of machines', () => {
  test('stalled logs, steps of the clock, companies of the table, kill -9: the ledger adds up, nothing acknowledged is lost, funds are what the chain shows', async () => {
    const minutes = shareOf('seconds of a soak with faults') / 60;
    const result = await faultSoak({ seed: SEED, minutes, lives: LIVES, perSecond: PER_SECOND });
    assert.deepEqual(result.problems, []);
    assert.ok(result.acknowledged > 0 && result.confirmed > 0, JSON.stringify(result));
    assert.ok((result.funds['deposit'] ?? 0) > 0, JSON.stringify(result.funds));
    assert.equal(result.funds['refused INVALID_REQUEST'], undefined, 'requests are well formed');
    assert.ok(Object.keys(result.events).length > 1, JSON.stringify(result.events));
  });
});
