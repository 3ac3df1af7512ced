/**
 * What several machines cost and how long a takeover takes: three NATS servers and two nodes on this machine, so latencies are upper
 * bounds of those of three machines.
 *
 * Parts, each optional: `--parts confirmed,takeover,catch-up,replica`.
 *
 *   confirmed   creates that trade, open loop at 200 a second: without a cluster, with the stream, with stream and standby, in turn
 *   takeover    kill -9 of the leader with live orders on the book, until the standby leads and until a create is answered by it; the
 *               leader of the stream is kept elsewhere
 *   catch-up    records a second that a standby applies which was away
 *   replica     how much later a public trade arrives from a replica than from the leader, at a client of both
 *
 * A small run leaves out `confirmed` and `replica`.
 *
 * It needs a NATS server, as the tests of the cluster do (test/support/nats-servers.ts); without one it says so and measures nothing.
 */
import { randomBytes } from 'node:crypto';
import type { LimitOrder } from '../src/client/canonical.ts';
import { RingbookClient } from '../src/client/client.ts';
import { keyFromSeed } from '../src/client/keys.ts';
import { OperatorClient } from '../src/client/operator.ts';
import { assert } from '../src/core/assert.ts';
import { makeSpotMarket } from '../src/load/load-market.ts';
import { type Latency, type LoadMarket, type LoadPlan, UNANSWERED_MAX } from '../src/load/plan.ts';
import { runPlan } from '../src/load/run-plan.ts';
import { startProcess } from '../test/support/cluster-processes.ts';
import { ClusterWorld } from '../test/support/cluster-world.ts';
import { natsServer } from '../test/support/nats-servers.ts';
import { metricOf, OPERATOR_TOKEN, startNode, stopNode } from '../test/support/node-process.ts';
import { eventually } from '../test/support/patience.ts';
import { removeDirectory } from '../test/support/temporary-directory.ts';
import { type BenchOptions, type BenchResult, type BenchRow, median, percentile, type Scale } from './bench-kit.ts';

const PER_SECOND = 200;
const BATCH = 50;
const BATCHES_IN_FLIGHT = 4;
const FUNDS = { subAccount: 1, assetId: '0', amount: '1000000000' };
/** Below the number of open orders that a market maker may have in one market (core/limits.ts). */
const ORDERS_OF_A_MAKER = 10_000;

interface Size {
  readonly rounds: number;
  readonly seconds: number;
  readonly takeovers: number;
  readonly liveOrders: number;
  readonly missedOrders: number;
}
const SIZES: Readonly<Record<Scale, Size>> = {
  small: { rounds: 1, seconds: 2, takeovers: 1, liveOrders: 500, missedOrders: 1_000 },
  full: { rounds: 3, seconds: 20, takeovers: 5, liveOrders: 100_000, missedOrders: 50_000 },
};

type Place = Pick<Awaited<ReturnType<typeof startNode>>, 'oms' | 'ops' | 'mds'>;

const ARRANGEMENTS = ['off', 'sync', 'sync and standby'] as const;
type Arrangement = (typeof ARRANGEMENTS)[number];

/** One node, or the leader of a cluster of two. */
async function inArrangement<T>(
  server: string,
  arrangement: Arrangement,
  use: (place: Place) => Promise<T>,
): Promise<T> {
  if (arrangement === 'off') {
    const node = await startNode({ profile: 'dev' });
    try {
      return await use(node);
    } finally {
      await stopNode(node);
      removeDirectory(node.dataDirectory);
    }
  }
  const confirm = arrangement === 'sync' ? ['stream'] : ['stream', 'standby'];
  const world = await ClusterWorld.start(server, { members: { confirm } });
  try {
    await world.startNodes();
    return await use(world.node('a'));
  } finally {
    await world.close();
  }
}

function newMarket(place: Place): Promise<LoadMarket> {
  return withOperator(place, async (operator) => {
    await operator.liftRateLimits();
    return makeSpotMarket(operator);
  });
}

/** Creates that trade, of new users. */
async function confirmedOf(place: Place, market: LoadMarket, seconds: number): Promise<readonly [Latency, Latency]> {
  const count = PER_SECOND * seconds;
  const plan: LoadPlan = {
    target: {
      kind: 'node',
      oms: place.oms,
      mds: null,
      users: { kind: 'new', ops: place.ops, token: OPERATOR_TOKEN },
      market,
    },
    flow: 'creates',
    pace: { kind: 'open', perSecond: PER_SECOND, unansweredMax: UNANSWERED_MAX },
    warmUp: count,
    count,
    streams: true,
    hops: false,
    pid: null,
  };
  const { latencies, unanswered, firstRejection } = await runPlan(plan);
  assert(unanswered === 0 && firstRejection === null, `every create is received: ${firstRejection}`);
  const { create, confirmed } = latencies;
  if (create === undefined || confirmed === undefined) throw new Error('nothing was confirmed');
  return [create, confirmed];
}

async function confirmedRows(server: string, { rounds, seconds }: Size): Promise<readonly BenchRow[]> {
  const figures = new Map<string, number[]>();
  const note = (label: string, us: number): void => {
    figures.set(label, [...(figures.get(label) ?? []), us / 1_000]);
  };
  for (let round = 1; round <= rounds; round += 1)
    for (const arrangement of ARRANGEMENTS) {
      process.stderr.write(`round ${round} of ${rounds}, ${arrangement}\n`);
      const [create, confirmed] = await inArrangement(server, arrangement, async (place) =>
        confirmedOf(place, await newMarket(place), seconds),
      );
      note(`${arrangement}: Received, p50`, create.p50);
      note(`${arrangement}: Received, p99`, create.p99);
      note(`${arrangement}: Confirmed, p50`, confirmed.p50);
      note(`${arrangement}: Confirmed, p99`, confirmed.p99);
    }
  return [...figures].map(([label, values]) => ({ label, value: median(values), unit: 'ms' }));
}

/** Bids of new market makers that rest. They are sent to the node that leads. */
async function rest(world: ClusterWorld, market: LoadMarket, count: number): Promise<void> {
  const { node } = await world.untilLeading();
  await withOperator(node, async (operator) => {
    for (let first = 0; first < count; first += ORDERS_OF_A_MAKER)
      await restOfMaker(node, operator, market, Math.min(ORDERS_OF_A_MAKER, count - first));
  });
}

async function restOfMaker(
  node: Place,
  operator: OperatorClient,
  { assetId }: LoadMarket,
  count: number,
): Promise<void> {
  const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: keyFromSeed(randomBytes(32)) });
  try {
    await operator.faucet({ ...FUNDS, userId: client.userId });
    await operator.setMarketMaker(client.userId, true);
    await client.login();
    const control = await client.control();
    const order = await client.order({ assetId, side: 'Buy', price: '1000', quantity: '0.001' });
    let sent = 0;
    const sendOn = async (): Promise<void> => {
      while (sent < count) {
        const size = Math.min(BATCH, count - sent);
        sent += size;
        const batch = Array.from({ length: size }, () =>
          client.signCreate({ ...order, orderId: randomBytes(16).toString('base64') }),
        );
        const answers = await control.sendBatch('Create', batch);
        const refused = answers.find(({ status }) => status !== 'Received');
        assert(refused === undefined, `every order rests: ${refused?.reason ?? ''}`);
      }
    };
    await Promise.all(Array.from({ length: BATCHES_IN_FLIGHT }, sendOn));
    control.close();
  } finally {
    client.close();
  }
}

async function withOperator<T>({ ops }: Pick<Place, 'ops'>, use: (operator: OperatorClient) => Promise<T>): Promise<T> {
  const operator = new OperatorClient(ops);
  try {
    return await use(operator);
  } finally {
    operator.close();
  }
}

async function untilCaughtUp(world: ClusterWorld, name: string): Promise<void> {
  const node = world.node(name);
  await node.until('following');
  const end = (await world.admin.log.info())?.end ?? 0;
  await eventually(async () => ((await node.view())?.sequence ?? 0) >= end);
}

async function takeoverRows(server: string, { takeovers, liveOrders }: Size): Promise<readonly BenchRow[]> {
  const world = await ClusterWorld.start(server, {});
  const probe = world.client('a');
  try {
    await world.startNodes();
    const market = await withOperator(world.node('a'), makeSpotMarket);
    await withOperator(world.node('a'), (operator) => operator.faucet({ ...FUNDS, userId: probe.userId }));
    await rest(world, market, liveOrders);
    const leads: number[] = [];
    const answers: number[] = [];
    for (let index = 0; index < takeovers; index += 1) {
      process.stderr.write(`takeover ${index + 1} of ${takeovers}\n`);
      const { node: leader, epoch } = await world.untilLeading();
      const standby = world.nodes.find(({ name }) => name !== leader.name);
      assert(standby !== undefined, 'there is a standby');
      await untilCaughtUp(world, standby.name);
      await probe.login();
      const order = await probe.order({ assetId: market.assetId, side: 'Buy', price: '900', quantity: '0.001' });
      const atMs = performance.now();
      await leader.kill();
      const lead = await world.untilLeading(epoch + 1);
      assert(lead.node.name === standby.name, 'the standby leads');
      leads.push((await standby.until('leading')).atMs - atMs);
      answers.push((await untilAnswered(probe, order)) - atMs);
      leader.launch();
    }
    const { node } = await world.untilLeading();
    const live = await metricOf(node, 'ringbook_open_orders');
    assert(live >= liveOrders, `every order is live after ${takeovers} takeovers: ${live} of ${liveOrders}`);
    const label = `takeover with ${liveOrders} live orders`;
    return [
      { label: `${label}: the standby leads, median`, value: median(leads), unit: 'ms' },
      { label: `${label}: the standby leads, highest`, value: percentile(leads, 1), unit: 'ms' },
      { label: `${label}: an order is answered, median`, value: median(answers), unit: 'ms' },
      { label: `${label}: an order is answered, highest`, value: percentile(answers, 1), unit: 'ms' },
    ];
  } finally {
    probe.close();
    await world.close();
  }
}

/** Until a create of this shape is answered as received by any node. @returns the time of the answer. */
async function untilAnswered(client: RingbookClient, order: LimitOrder): Promise<number> {
  let answeredMs: number | null = null;
  await eventually(async () => {
    try {
      await client.login();
      await client.create({ ...order, orderId: randomBytes(16).toString('base64') });
      answeredMs = performance.now();
    } catch {
      // Neither node serves it yet.
    }
    return answeredMs !== null;
  });
  return answeredMs ?? Number.NaN;
}

async function catchUpRows(server: string, { missedOrders }: Size): Promise<readonly BenchRow[]> {
  const world = await ClusterWorld.start(server, {});
  try {
    await world.startNodes();
    const market = await withOperator(world.node('a'), makeSpotMarket);
    const b = world.node('b');
    await b.stop();
    const before = (await world.admin.log.info())?.end ?? 0;
    await rest(world, market, missedOrders);
    const after = (await world.admin.log.info())?.end ?? 0;
    b.launch();
    // A standby joins until it has read to the end of the stream.
    const { atMs } = await b.until('joining');
    await untilCaughtUp(world, 'b');
    const seconds = (performance.now() - atMs) / 1_000;
    return [
      { label: 'a standby catches up, records', value: (after - before) / seconds, unit: '/s' },
      { label: 'a standby catches up, orders', value: missedOrders / seconds, unit: '/s' },
    ];
  } finally {
    await world.close();
  }
}

/** When each trade of a market was received first, in milliseconds. */
async function tradeTimes({ oms, mds }: Pick<Place, 'oms' | 'mds'>, assetId: string): Promise<Received> {
  const atMs = new Map<number, number>();
  const client = new RingbookClient({ oms, mds, key: keyFromSeed(randomBytes(32)) });
  const feed = await client.marketFeed();
  await feed.subscribe('trades', { assetIds: [assetId] }, ({ data }) => {
    for (const { tradeId } of data) if (!atMs.has(tradeId)) atMs.set(tradeId, performance.now());
  });
  return {
    atMs,
    close: () => {
      feed.close();
      client.close();
    },
  };
}

interface Received {
  readonly atMs: ReadonlyMap<number, number>;
  readonly close: () => void;
}

async function replicaRows(server: string, { seconds }: Size): Promise<readonly BenchRow[]> {
  const world = await ClusterWorld.start(server, {});
  const replica = startProcess(world.servers, 'r1', 'replica');
  try {
    await world.startNodes();
    const leader = world.node('a');
    const market = await newMarket(leader);
    const { mds } = await replica.ready();
    const [there, here] = await Promise.all([
      tradeTimes(leader, market.assetId),
      tradeTimes({ oms: leader.oms, mds }, market.assetId),
    ]);
    await confirmedOf(leader, market, seconds);
    await eventually(() => here.atMs.size >= there.atMs.size);
    const laterMs = [...there.atMs].map(([id, atMs]) => (here.atMs.get(id) ?? Number.NaN) - atMs);
    there.close();
    here.close();
    assert(laterMs.length > 0 && laterMs.every(Number.isFinite), 'the replica has every trade');
    return [
      { label: 'a replica behind the leader, p50', value: percentile(laterMs, 0.5), unit: 'ms' },
      { label: 'a replica behind the leader, p99', value: percentile(laterMs, 0.99), unit: 'ms' },
    ];
  } finally {
    replica.child.kill('SIGKILL');
    await world.close();
  }
}

type Part = (server: string, size: Size) => Promise<readonly BenchRow[]>;

const PARTS: Readonly<Record<string, Part>> = {
  confirmed: confirmedRows,
  takeover: takeoverRows,
  'catch-up': catchUpRows,
  replica: replicaRows,
};

/** The part without takeovers starts three arrangements one after the other, for figures alone. */
const PARTS_OF: Readonly<Record<Scale, readonly string[]>> = {
  small: ['takeover', 'catch-up'],
  full: Object.keys(PARTS),
};

export async function run(scale: Scale, options: BenchOptions = {}): Promise<BenchResult> {
  const server = natsServer();
  if ('missing' in server) return { name: 'cluster', rows: [], checks: `nothing was measured: ${server.missing}` };
  const size = { ...SIZES[scale], ...options };
  const rows: BenchRow[] = [];
  for (const name of options.parts ?? PARTS_OF[scale]) {
    const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
    if (part === undefined) throw new Error(`cluster has no part ${name}; it has ${Object.keys(PARTS).join(', ')}`);
    rows.push(...(await part(server.path, size)));
  }
  return { name: 'cluster', rows, checks: 'every order is received, and live after every takeover' };
}
