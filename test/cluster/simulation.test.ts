// tier: full, 60 s
/** The protocol of a cluster over a simulated stream (cluster.md 5 to 7): seeds, faults, and the invariants after every step. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { shareOf } from '../support/shares.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

const SEEDS = 20;

suite('a cluster, simulated', () => {
  const steps = shareOf('steps of a simulated cluster');

  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const nodes = 2 + (seed % 2);
    const standby = seed % 4 === 3;
    test(`seed ${seed}: ${nodes} nodes${standby ? ', Confirmed waits for a standby' : ''}`, (t) => {
      const cluster = new SimulatedCluster({ seed, nodes, standby });
      cluster.run(steps);
      cluster.recover();
      assert.ok(cluster.takeovers >= steps / 5_000, `${cluster.takeovers} takeovers`);
      assert.ok(cluster.confirmed >= steps / 500, `${cluster.confirmed} confirmed`);
      t.diagnostic(JSON.stringify(cluster.story));
    });
  }

  test('a full stream: the leader is stalled, a standby waits, and the same node leads on (cluster.md 14)', () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const cluster = new SimulatedCluster({ seed: 2_000 + seed, nodes: 2 + (seed % 2) });
      cluster.runCalmly(10_000);
      const leader = cluster.nodes.find(({ isServing }) => isServing);
      assert.ok(leader !== undefined);
      const { takeovers, confirmed } = cluster;
      cluster.stream.isFull = true;
      cluster.runCalmly(30_000);
      const states = cluster.nodes.map((node) => (node === leader ? '' : node.protocol?.state));
      assert.equal(leader.protocol?.state, 'stalled');
      assert.deepEqual(new Set(states), new Set(['', 'following']));
      cluster.stream.isFull = false;
      cluster.runCalmly(2_000);
      assert.ok(leader.isServing);
      assert.equal(cluster.takeovers, takeovers);
      assert.ok(cluster.confirmed > confirmed);
    }
  });

  test('a stream that loses what it acknowledged: every node that has more stops, none applies a record twice', (t) => {
    const endings: Record<string, number> = {};
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const cluster = new SimulatedCluster({ seed: 1_000 + seed, nodes: 3, losses: true });
      cluster.run(steps / 5);
      for (const [code, count] of Object.entries(cluster.endings)) endings[code] = (endings[code] ?? 0) + count;
    }
    t.diagnostic(JSON.stringify(endings));
    assert.ok((endings['78'] ?? 0) > 0, 'nodes ended with 78');
  });
});
