// tier: full, 90 s
/** Procedures of docs/cluster.md under load: servers are upgraded, one gets an empty disk, and at the end the cluster is left. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ClusterLoad } from '../support/cluster-load.ts';
import { ClusterWorld } from '../support/cluster-world.ts';
import { natsServer } from '../support/nats-servers.ts';
import { checkHistory } from '../support/node-load.ts';
import { barrier, operator, startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { SeededRandom } from '../support/simulation.ts';

const SIDES = 30;

/** What `ringbook cluster status` waits for: three current servers, a leader and a standby without lag. */
async function untilWhole(world: ClusterWorld): Promise<void> {
  let last: object = {};
  await eventually(
    async () => {
      const status = await world.admin.status();
      last = status;
      return status.isSound && status.stream?.servers.every(({ current }) => current) === true;
    },
    () => `the cluster is not whole: ${JSON.stringify(last)}`,
  );
}

test('servers are upgraded and get an empty disk under load, with one leader; the last directory is one of one machine', async (t) => {
  const server = natsServer();
  if ('missing' in server) return t.skip(server.missing);
  const world = await ClusterWorld.start(server.path);
  const load = new ClusterLoad(world, new SeededRandom(5), { perSecond: 100 });
  try {
    await world.startNodes();
    const [leader, standby] = [world.node('a'), world.node('b')];
    const { status } = await operator(leader, 'PATCH', '/operator/settings', { acks: 'durable' });
    assert.equal(status, 200);
    await load.begin();
    await load.untilConfirmed(SIDES);
    await untilWhole(world);

    // Upgrade the servers: one at a time, the one with the stream's leader last.
    const streamLeader = (await world.admin.log.info())?.leader ?? '';
    for (const name of [...world.servers.names.filter((other) => other !== streamLeader), streamLeader]) {
      const fromMs = performance.now();
      await world.servers.stop(name);
      world.servers.launch(name);
      await untilWhole(world);
      await load.untilConfirmed(SIDES);
      t.diagnostic(`${name} upgraded: ${Math.round(load.longestSilenceMs(fromMs))} ms without an answer`);
    }

    // Replace a server whose disk is gone.
    const info = await world.admin.log.info();
    const gone = info?.others[0]?.name ?? '';
    world.servers.kill(gone);
    world.servers.empty(gone);
    await load.untilConfirmed(SIDES);
    world.servers.launch(gone);
    await untilWhole(world);
    await load.untilConfirmed(SIDES);
    assert.deepEqual(await world.untilLeading(), { node: leader, epoch: 1 }, 'the same node leads all the time');
    const records = info?.end ?? 0;
    const again = await world.admin.log.info();
    assert.ok((again?.end ?? 0) > records && again?.first === info?.first, 'the stream has all that it had');

    // Leave the cluster.
    await load.stop();
    await load.check({ isDurable: true });
    assert.equal(await standby.stop(), 0, standby.stderr);
    assert.equal(await leader.stop(), 0, leader.stderr);
    const alone = await startNode({ profile: 'dev', dataDirectory: leader.dataDirectory });
    try {
      await barrier(alone);
      await checkHistory(alone, load, load.marginIds);
    } finally {
      await stopNode(alone);
    }
  } catch (error) {
    t.diagnostic(await world.story());
    throw error;
  } finally {
    load.close();
    await world.close();
  }
});
