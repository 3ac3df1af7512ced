// tier: full, 120 s
/**
 * Partitions of three machines in network namespaces, each with a server, two of them with a node (cluster.md 14): what is lost on
 * the network is packets, and no connection is closed.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { ClusterLoad } from '../support/cluster-load.ts';
import { type ClusterNode, ClusterWorld } from '../support/cluster-world.ts';
import { Machines } from '../support/machines.ts';
import { natsServer } from '../support/nats-servers.ts';
import { operator } from '../support/node-process.ts';
import { aMoment, eventually } from '../support/patience.ts';
import { SeededRandom } from '../support/simulation.ts';

const SIDES = 30;
const PULLED_MS = 4_000;

interface Stage {
  readonly world: ClusterWorld;
  readonly machines: Machines;
  readonly load: ClusterLoad;
  readonly leader: ClusterNode;
  readonly leaderAt: number;
  readonly standby: ClusterNode;
  readonly standbyAt: number;
  readonly epoch: number;
  /** When it began, by `performance.now()`. */
  readonly fromMs: number;
}

const PARTITIONS: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  'the minority side has the leader': async ({ world, machines, leader, leaderAt, standby, epoch, fromMs }) => {
    machines.pull(leaderAt);
    const next = await world.untilLeading(epoch + 1);
    const ledMs = standby.states.find(({ state, atMs }) => state === 'leading' && atMs > fromMs)?.atMs ?? 0;
    assert.equal(next.node, standby);
    machines.plug(leaderAt);
    assert.equal(await leader.ended, 75, leader.stderr);
    const { states } = leader;
    assert.ok(states.some((line) => line.state === 'stalled' && line.epoch === epoch));
    leader.launch();
    await leader.until('following');
    return `the standby leads after ${Math.round(ledMs - fromMs)} ms`;
  },
  'the minority side has the standby': async ({ world, machines, load, standby, standbyAt, leader, epoch }) => {
    machines.pull(standbyAt);
    await aMoment(PULLED_MS / 2);
    await load.untilConfirmed(SIDES);
    machines.plug(standbyAt);
    assert.deepEqual(await world.untilLeading(), { node: leader, epoch });
    return standby.isRunning ? 'the standby follows again' : `the standby ended with ${await standby.ended}`;
  },
  'the machine without a node is cut off': async ({ world, machines, load, leader, epoch }) => {
    machines.pull(2);
    await aMoment(PULLED_MS);
    await load.untilConfirmed(SIDES);
    machines.plug(2);
    assert.deepEqual(await world.untilLeading(), { node: leader, epoch });
    return 'the same node leads';
  },
  'the machines of leader and standby do not reach each other': async ({
    world,
    machines,
    load,
    leaderAt,
    standbyAt,
  }) => {
    machines.part(leaderAt, standbyAt);
    await aMoment(PULLED_MS);
    await load.untilConfirmed(SIDES);
    machines.heal();
    const { node } = await world.untilLeading();
    return `${node === world.nodes[leaderAt] ? 'the same node' : 'the standby'} leads`;
  },
  'no machine reaches another one': async ({ world, machines, leader, epoch }) => {
    for (const at of [0, 1, 2]) machines.pull(at);
    await aMoment(PULLED_MS);
    machines.heal();
    const after = await world.untilLeading();
    if (leader.isRunning && after.node === leader) assert.equal(after.epoch, epoch);
    return `${after.node === leader ? 'the same node' : 'the standby'} leads`;
  },
};

/** One that is over, or whose home was away, is started again as by a supervisor. */
async function untilWhole(world: ClusterWorld): Promise<void> {
  let last: object = {};
  await eventually(
    async () => {
      for (const node of world.nodes) if (!node.isRunning) node.launch();
      const status = await world.admin.status();
      last = status;
      for (const { node, dropped } of status.members) if (dropped > 0) await world.admin.acknowledge(node);
      return status.isSound && status.stream?.servers.every(({ current }) => current) === true;
    },
    () => `the cluster is not whole again: ${JSON.stringify(last)}`,
  );
}

/** @returns the server with the stream's leader, which is not the one beside the leader (cluster.md 7.6). */
async function streamLeaderBeside(world: ClusterWorld, home: string): Promise<string> {
  let found: string | null = null;
  await eventually(async () => {
    found = (await world.admin.log.info())?.leader ?? null;
    return found !== null && found !== home;
  });
  return found ?? '';
}

test('partitions of machines lose and double nothing that was Confirmed, and do what the table of failures says', async (t) => {
  const server = natsServer();
  if ('missing' in server) return t.skip(server.missing);
  const machines = Machines.make(3);
  if ('missing' in machines) return t.skip(machines.missing);
  const world = await ClusterWorld.start(server.path, { machines });
  const load = new ClusterLoad(world, new SeededRandom(11), { perSecond: 100 });
  try {
    await world.startNodes();
    const { status } = await operator(world.node('a'), 'PATCH', '/operator/settings', { acks: 'durable' });
    assert.equal(status, 200);
    await load.begin();
    for (const [name, play] of Object.entries(PARTITIONS)) {
      await load.untilConfirmed(SIDES);
      const { node: leader, epoch } = await world.untilLeading();
      const leaderAt = world.nodes.indexOf(leader);
      const [standby] = world.nodes.filter((node) => node !== leader);
      assert.ok(standby !== undefined);
      const streamLeader = await streamLeaderBeside(world, `nats${leaderAt + 1}`);
      const fromMs = performance.now();
      const stage = { world, machines, load, leader, leaderAt, standby, standbyAt: 1 - leaderAt, epoch, fromMs };
      const what = await play(stage);
      await untilWhole(world);
      await load.untilConfirmed(SIDES);
      const silentMs = Math.round(load.longestSilenceMs(fromMs));
      const places = `leader ${leader.name}, stream's leader ${streamLeader}`;
      t.diagnostic(`${name} (${places}): ${what}; ${silentMs} ms without an answer`);
    }
    await load.stop();
    await load.check({ isDurable: true });
  } catch (error) {
    t.diagnostic(await world.story());
    throw error;
  } finally {
    machines.heal();
    load.close();
    await world.close();
    machines.close();
  }
});
