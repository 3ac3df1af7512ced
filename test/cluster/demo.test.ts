// tier: full, 40 s
/** `ringbook start --demo` on the nodes of a cluster: the demo traders trade with the leader alone, and with the next one after it. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type ClusterNode, ClusterWorld } from '../support/cluster-world.ts';
import { natsServer } from '../support/nats-servers.ts';
import { operator } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';

const DEMO = { RINGBOOK_DEMO: '1' };

/** The highest trade id of market 1 that is Confirmed; 0 before the first. */
async function lastTrade(node: ClusterNode): Promise<number> {
  const response = await fetch(`${node.mds}/trades/1?limit=1`).catch(() => null);
  if (response?.status !== 200) return 0;
  const [trade] = (await response.json()) as readonly { readonly trade_id: number }[];
  return trade?.trade_id ?? 0;
}

test('demo traders on both nodes: those of the leader trade, and after its death those of the next one', {
  timeout: 300_000,
}, async (t) => {
  const server = natsServer();
  if ('missing' in server) return t.skip(server.missing);
  const world = await ClusterWorld.start(server.path, { members: { leaseMs: 6_000 } });
  try {
    const [a, b] = [world.node('a'), world.node('b')];
    a.launch(DEMO);
    await a.until('leading');
    b.launch(DEMO);
    await b.until('following');
    await eventually(
      async () => (await lastTrade(a)) > 0,
      () => `no trade: ${a.stdout}${a.stderr}`,
    );
    assert.doesNotMatch(b.stdout + b.stderr, /demo traders/, 'a node that follows has none');
    const before = await lastTrade(a);
    await a.kill();
    await world.untilLeading(2);
    await eventually(
      async () => (await lastTrade(b)) > before,
      () => `no trade with the next leader: ${b.stdout}${b.stderr}`,
    );
    // In order, to a standby that has traders too: they end with the leader, and those of the next one begin.
    a.launch(DEMO);
    await a.until('following');
    const ofB = await lastTrade(b);
    assert.equal(await b.stop(), 0, b.stderr);
    await world.untilLeading(3);
    await eventually(
      async () => (await lastTrade(a)) > ofB,
      () => `no trade after the handover: ${a.stdout}${a.stderr}`,
    );
    const { body } = await operator(a, 'GET', '/operator/ledger');
    for (const figures of Object.values(body['assets'] as Record<string, { difference: string }>))
      assert.equal(figures.difference, '0');
  } catch (error) {
    t.diagnostic(await world.story());
    throw error;
  } finally {
    await world.close();
  }
});
