// tier: quick
/** What a leader removes from the stream (cluster.md 9). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Truncation } from '../../src/cluster/truncation.ts';

const DAY_MS = 86_400_000;
type Stream = ConstructorParameters<typeof Truncation>[0];

/** A stream and a bucket in memory. */
function stream(snapshots: readonly string[], nodes = ''): Stream & { first: number; nodes: string } {
  return {
    first: 1,
    nodes,
    async info() {
      return { first: this.first, end: 1_000, bytes: 0, bytesMax: 0, leader: 'n1', others: [] };
    },
    async purgeBelow(sequence) {
      assert.ok(sequence > this.first);
      this.first = sequence;
    },
    async snapshots() {
      return snapshots.map((name) => ({ name, bytes: 1, storedMs: 0 }));
    },
    async snapshot(name) {
      return name === 'nodes' && this.nodes !== '' ? new Blob([this.nodes]).stream() : null;
    },
    async putSnapshot(name, bytes) {
      assert.equal(name, 'nodes');
      this.nodes = await new Response(bytes).text();
    },
    deleteSnapshot: async () => assert.fail('a leader deletes no snapshots here'),
  };
}

suite('truncation of the stream', () => {
  test('below the oldest snapshot that is kept, of this data version; that record stays', async () => {
    const held = stream(['14/10', '15/100', '15/300', '15/200', 'nodes']);
    const truncation = new Truncation(held, 15, 2);
    assert.equal(await truncation.pass(0), 200);
    assert.equal(held.first, 200);
    assert.equal(await truncation.pass(0), null);
  });

  test('without a snapshot nothing is removed', async () => {
    const held = stream(['14/10']);
    assert.equal(await new Truncation(held, 15, 2).pass(0), null);
    assert.equal(held.first, 1);
  });

  test('a node that was seen within a day and is behind holds it, also when another one leads; later it does not', async () => {
    const held = stream(['15/300']);
    const first = new Truncation(held, 15, 2);
    first.see('a', 900, 1_000);
    first.see('c', 50, 1_000);
    assert.equal(await first.pass(1_000), 50);
    const next = new Truncation(held, 15, 2);
    next.see('b', 900, 2_000);
    assert.equal(await next.pass(2_000), null);
    next.see('c', 120, 3_000);
    assert.equal(await next.pass(3_000), 120);
    assert.deepEqual(JSON.parse(held.nodes), {
      a: { sequence: 900, atMs: 1_000 },
      b: { sequence: 900, atMs: 2_000 },
      c: { sequence: 120, atMs: 3_000 },
    });
    next.see('b', 950, 3_000 + DAY_MS);
    assert.equal(await next.pass(3_000 + DAY_MS), null, 'a day exactly');
    assert.equal(await next.pass(3_001 + DAY_MS), 300);
  });

  test('the last report of a node counts, also one of a directory that was made anew', async () => {
    const held = stream(['15/300']);
    const truncation = new Truncation(held, 15, 1);
    truncation.see('b', 900, 2_000);
    truncation.see('b', 40, 3_000);
    truncation.see('b', 950, 1_000);
    assert.equal(await truncation.pass(3_000), 40);
  });

  test('what is no memory of nodes is none', async () => {
    for (const nodes of ['{', '[1]', '{"b":7,"c":{"sequence":"1","atMs":1},"../d":{"sequence":1,"atMs":1}}']) {
      const held = stream(['15/300'], nodes);
      assert.equal(await new Truncation(held, 15, 1).pass(5), 300, nodes);
    }
  });
});
