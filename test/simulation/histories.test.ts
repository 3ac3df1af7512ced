// tier: quick, 10 s
/** Short histories, their shrinking, and what they have found. Long ones: long-histories.test.ts. */
import assert from 'node:assert/strict';
import { mock, suite, test } from 'node:test';
import { PARKED_CANCEL_NS } from '../../src/core/limits.ts';
import { DepthReplica } from '../../src/market-data/depth-replica.ts';
import { MemoryDurability } from '../support/memory-durability.ts';
import { cancelRequest } from '../support/order-fixture.ts';
import { shareOf } from '../support/shares.ts';
import { prepareMarkets } from '../support/simulated-markets.ts';
import { SIMULATION_START_NS, SimulatedNode } from '../support/simulated-node.ts';
import { operationsOf } from './actions.ts';
import { BrokenLaw, playScript, playSeed } from './campaign.ts';
import { playAll } from './histories.ts';
import { MARKETS, USERS, userAt } from './people.ts';
import { Tally } from './playing.ts';
import { parseScript, scriptText } from './script.ts';
import { invariantOf, shrink } from './shrinking.ts';

const OPERATIONS = shareOf('operations of a history');

suite('histories of a node', () => {
  test('invariants hold over some short ones (FIL-02 to 05, STR-01 to 05, AMB-08, AMB-23, AMB-28, AMB-32, AMB-52, AMB-110)', async () => {
    const tally = new Tally();
    await playAll({ seed: 1_001, seeds: 4, operations: OPERATIONS }, tally);
    assert.ok(tally.of('fill confirmed') > 100 && tally.of('rests') > 8);
  });

  test('the same seed gives the same history', async () => {
    const history = { seed: 7, operations: 1_000 };
    const [one, two] = [await playSeed(history), await playSeed(history)];
    assert.deepEqual([...one.counts], [...two.counts]);
  });

  test('one that breaks an invariant shrinks to a few commands, and as a file it breaks the same invariant', async () => {
    // Readers keep levels that are gone.
    const { levelChanged } = DepthReplica.prototype;
    const bug = mock.method(DepthReplica.prototype, 'levelChanged', function (this: DepthReplica, ...level) {
      if (level[2] !== 0) levelChanged.apply(this, level);
    } satisfies DepthReplica['levelChanged']);
    try {
      const broken = await playSeed({ seed: 3, operations: 2_000 }).catch((error: unknown) => error);
      assert.ok(broken instanceof BrokenLaw);
      const short = await shrink(broken.script, playScript);
      const operations = short.events.map((event) => (event.do === 'act' ? operationsOf(event.action) : 1));
      const commands = operations.reduce((sum, count) => sum + count, 0);
      assert.ok(commands < 10, `${broken.script.events.length} events became ${scriptText(short)}`);
      const again = await playScript(parseScript(scriptText(short)));
      assert.equal(invariantOf(again), invariantOf(broken.cause));
      bug.mock.restore();
      assert.equal(await playScript(short), null, 'without the bug it is fine');
    } finally {
      bug.mock.restore();
    }
  });
});

suite('found by the simulation', () => {
  test('a parked cancel without its create is reported to its owner (AMB-25)', () => {
    const durability = new MemoryDurability();
    const node = new SimulatedNode({ seed: 1, durability, forged: new Set(), startNs: SIMULATION_START_NS });
    prepareMarkets(node, USERS);
    const [user, id, market] = [userAt(1), 'never-created', MARKETS[0] ?? assert.fail()];
    const request = cancelRequest(id, user);
    const cancel = { ...request.cancel, asset: { id: market, text: market } };
    node.gateway.entry.submit(
      { kind: 'cancel', request: { ...request, cancel, postSignNs: node.nowNs as never } },
      { user, connection: 1, isControl: true },
      () => undefined,
    );
    node.settle();
    node.pass(PARKED_CANCEL_NS + 1n);
    node.settle();
    const told = node.events.map(({ user: to, event }) => [to, event.kind, event.orderId, event.assetId]);
    assert.deepEqual(told, [[user, 'CancelFailed', id, market]]);
  });
});
