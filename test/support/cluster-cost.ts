/**
 * What a cluster costs, beside one machine in the same run: from the sending of an order that fills to the Confirmed of its side, at a
 * pace that no node has to queue for; and how fast a new standby reads a stream.
 */
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { ClusterLoad } from './cluster-load.ts';
import { type ClusterNode, ClusterWorld } from './cluster-world.ts';
import { spreadOf } from './failover-campaign.ts';
import { startNode, stopNode } from './node-process.ts';
import { aMoment } from './patience.ts';
import { SeededRandom } from './simulation.ts';

const PER_SECOND = 100;
/** Of the load that fills the stream for a new standby. */
const FILL_PER_SECOND = 1_000;

export interface ClusterCost {
  /** Milliseconds to Confirmed on one machine, with `confirm: ["stream"]`, and with `["stream","standby"]`. */
  readonly off: object;
  readonly sync: object;
  readonly standby: object;
  /** Of a node with an empty directory. */
  readonly catchUp: { readonly records: number; readonly ms: number; readonly per_second: number };
}

/** @param seconds of each load. @throws Error when a node is not ready. */
export async function clusterCost(program: string, seed: number, seconds: number): Promise<ClusterCost> {
  const off = await onOneMachine(seed, seconds);
  const standby = await inCluster(program, ['stream', 'standby'], (world) => confirmTimes(world, seed, seconds));
  const [sync, catchUp] = await inCluster(program, ['stream'], async (world) => {
    const times = await confirmTimes(world, seed, seconds);
    return [times, await catchUpOf(world, seed, seconds)] as const;
  });
  return { off, sync, standby, catchUp };
}

async function onOneMachine(seed: number, seconds: number): Promise<object> {
  const node = await startNode({ profile: 'dev' });
  try {
    const client: ClusterWorld['client'] = (name) =>
      new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey(name) });
    const untilLeading = (): never => {
      throw new Error('one machine has no leader');
    };
    return await confirmTimes({ client, untilLeading }, seed, seconds);
  } finally {
    await stopNode(node);
  }
}

async function inCluster<T>(
  program: string,
  confirm: readonly string[],
  measure: (world: ClusterWorld) => Promise<T>,
): Promise<T> {
  const world = await ClusterWorld.start(program, { nodes: ['a', 'b', 'c'], members: { confirm } });
  try {
    await world.startNodes(['a', 'b']);
    return await measure(world);
  } finally {
    await world.close();
  }
}

async function confirmTimes(
  world: Pick<ClusterWorld, 'client' | 'untilLeading'>,
  seed: number,
  seconds: number,
): Promise<object> {
  const load = new ClusterLoad(world, new SeededRandom(seed), { perSecond: PER_SECOND });
  await load.begin();
  await aMoment(1_000 * seconds);
  await load.stop();
  load.close();
  return spreadOf(load.confirmedAfterMs);
}

async function catchUpOf(world: ClusterWorld, seed: number, seconds: number): Promise<ClusterCost['catchUp']> {
  const load = new ClusterLoad(world, new SeededRandom(seed + 1), { perSecond: FILL_PER_SECOND });
  await load.begin();
  await aMoment(1_000 * seconds);
  await load.stop();
  load.close();
  const node: ClusterNode = world.node('c');
  node.launch();
  const joining = await node.until('joining');
  const following = await node.until('following');
  const records = following.sequence - joining.sequence;
  const ms = following.atMs - joining.atMs;
  return { records, ms: Math.round(ms), per_second: Math.round((records / ms) * 1_000) };
}
