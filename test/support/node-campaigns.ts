/**
 * Campaigns on whole nodes, with real threads, sockets and a real map, under load of two traders (node-load.ts):
 *
 *   kills      kill -9, then one more while the node recovers from it, again and again on one directory
 *   crash      the process ends right before or right after a flush
 *   drain      SIGTERM: exit 0, a clean last checkpoint
 *   full disk  the data file cannot grow: 70 at once
 *   acks       kill -9 while orders are acknowledged: which of them are there
 *
 * Each throws an AssertionError with what is wrong; a seed gives the same load and moments, not the same timing.
 */
import assert from 'node:assert/strict';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { auditData } from '../../src/tools/audit-data.ts';
import { checkBook, checkHistory, Load } from './node-load.ts';
import { barrier, type NodeProcess, operator, startNode, stopNode } from './node-process.ts';
import { aMoment } from './patience.ts';
import { recoveredAndReplayed } from './recovered.ts';
import { SeededRandom } from './simulation.ts';
import { removeDirectory, temporaryDirectory } from './temporary-directory.ts';

const SIDES_BEFORE_A_KILL = 20;
const KILL_MS_MAX = 700;
const RESTART_MS_MAX = 1_000;
const ACKS_BEFORE_A_KILL = 200;
const ACKS_IN_FLIGHT = 32;
const FULL_KIB = { min: 400, spread: 200 };

export interface NodeCounts {
  /** Sides that were reported as confirmed. */
  confirmed: number;
}

/** One directory, and the nodes that live on it one after the other. */
class Lives {
  readonly dataDirectory: string = temporaryDirectory();
  readonly random: SeededRandom;
  readonly marginIds: Set<string> = new Set();
  #node: NodeProcess | null = null;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
  }

  async next(options: { readonly fileKiBMax?: number } = {}): Promise<NodeProcess> {
    this.#node = await startNode({ profile: 'dev', dataDirectory: this.dataDirectory, ...options });
    return this.#node;
  }

  /** Load that goes on until the node is gone. */
  begin(node: NodeProcess): Load {
    const load = new Load(node, this.random, this.marginIds);
    void load.run().catch(() => undefined);
    return load;
  }

  /** Once the node rests: what was restored may still trade, and market data gets it last. */
  async check(node: NodeProcess, load: Load): Promise<void> {
    await barrier(node);
    await checkHistory(node, load, this.marginIds);
    await checkBook(node);
  }

  async end(): Promise<void> {
    if (this.#node !== null) await stopNode(this.#node, 'SIGKILL');
    removeDirectory(this.dataDirectory);
  }
}

async function living<T>(seed: number, run: (lives: Lives) => Promise<T>): Promise<T> {
  const lives = new Lives(seed);
  try {
    return await run(lives);
  } finally {
    await lives.end();
  }
}

/** Every second kill is followed by one while the node recovers from it. */
export function killNodes(seed: number, kills: number): Promise<NodeCounts> {
  return living(seed, async (lives) => {
    const { random, dataDirectory } = lives;
    let node = await lives.next();
    let highest = 0;
    let confirmed = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const load = lives.begin(node);
      await load.untilTold(SIDES_BEFORE_A_KILL);
      await aMoment(random.below(KILL_MS_MAX));
      await stopNode(node, 'SIGKILL');
      load.close();
      await recoveredAndReplayed(dataDirectory);
      if (kill % 2 === 1) await killedWhileStarting(lives);
      const ids = load.told.map(({ trade }) => trade.tradeId);
      assert.ok(Math.min(...ids) > highest, `trade ids go on: ${Math.min(...ids)} after ${highest}`);
      highest = Math.max(...ids);
      confirmed += load.confirmed().length;
      node = await lives.next();
      await lives.check(node, load);
    }
    assert.equal(await stopNode(node), 0, node.stderr());
    return { confirmed };
  });
}

/** A start that is killed at some moment before it is ready, or soon after. */
async function killedWhileStarting({ dataDirectory, random }: Lives): Promise<void> {
  const starting = startNode({ profile: 'dev', dataDirectory, killAfterMs: 100 + random.below(RESTART_MS_MAX) });
  await starting.then(
    (node) => stopNode(node, 'SIGKILL'),
    () => undefined,
  );
}

/** The process dies right before or right after a flush, some flushes from now. */
export function crashAtFlush(seed: number, point: 'before_flush' | 'after_flush'): Promise<NodeCounts> {
  return living(seed, async (lives) => {
    let node = await lives.next();
    const load = lives.begin(node);
    await load.untilTold();
    const fault = { kind: 'crash', point, after_transactions: lives.random.below(10) };
    await operator(node, 'POST', '/operator/clearing', { fault }).catch(() => undefined);
    assert.equal(await node.ended, 'SIGKILL', node.stderr());
    load.close();
    node = await lives.next();
    await lives.check(node, load);
    return { confirmed: load.confirmed().length };
  });
}

export function drainUnderLoad(seed: number): Promise<NodeCounts> {
  return living(seed, async (lives) => {
    let node = await lives.next();
    const load = lives.begin(node);
    await load.untilTold(1 + lives.random.below(SIDES_BEFORE_A_KILL));
    assert.equal(await stopNode(node), 0, node.stderr());
    load.close();
    assert.equal((await auditData(lives.dataDirectory, () => undefined)).clean, true, 'the last checkpoint is clean');
    node = await lives.next();
    await lives.check(node, load);
    return { confirmed: load.confirmed().length };
  });
}

export function fillTheDisk(seed: number): Promise<NodeCounts> {
  return living(seed, async (lives) => {
    let node = await lives.next({ fileKiBMax: FULL_KIB.min + lives.random.below(FULL_KIB.spread) });
    const load = lives.begin(node);
    assert.equal(await node.ended, 70, node.stderr());
    load.close();
    assert.match(node.stderr(), /"reason":"thread clearing: StorageError: committing/);
    await recoveredAndReplayed(lives.dataDirectory);
    node = await lives.next();
    await checkHistory(node, load, lives.marginIds);
    return { confirmed: load.confirmed().length };
  });
}

export interface AckCounts extends NodeCounts {
  /** Orders that were answered as received. */
  acknowledged: number;
  /** Of those, the ones that are gone after the kill. */
  lost: number;
}

/**
 * Durable acknowledgements lose nothing. Optimistic ones lose the last of what the market decided, never one with a
 * later one that is there.
 */
export function killAcknowledged(seed: number, acks: 'optimistic' | 'durable'): Promise<AckCounts> {
  return living(seed, async (lives) => {
    let node = await lives.next();
    await operator(node, 'PATCH', '/operator/settings', { acks });
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
    await client.login();
    const control = await client.control();
    const acknowledged: string[] = [];
    const inFlight = new Set<Promise<unknown>>();
    const wanted = ACKS_BEFORE_A_KILL + lives.random.below(ACKS_BEFORE_A_KILL);
    while (acknowledged.length < wanted) {
      const price = `${1_000 + lives.random.below(1_000)}`;
      const order = await client.order({ assetId: '2', side: 'Buy', price, quantity: '0.001' });
      const answer = control.send(client.signCreate(order)).then(({ status }) => {
        if (status === 'Received') acknowledged.push(order.orderId);
      });
      inFlight.add(answer);
      void answer.finally(() => inFlight.delete(answer)).catch(() => undefined);
      if (inFlight.size >= ACKS_IN_FLIGHT) await Promise.race(inFlight);
    }
    await stopNode(node, 'SIGKILL');
    await Promise.allSettled(inFlight);
    client.close();
    await recoveredAndReplayed(lives.dataDirectory);
    node = await lives.next();
    const there = await openOrders(node);
    const lost = acknowledged.filter((id) => !there.has(id));
    if (acks === 'durable') assert.deepEqual(lost, [], 'every order that was acknowledged is there');
    const kept = acknowledged.length - lost.length;
    assert.deepEqual(lost, acknowledged.slice(kept), 'what is lost was decided last');
    return { confirmed: 0, acknowledged: acknowledged.length, lost: lost.length };
  });
}

async function openOrders(node: NodeProcess): Promise<ReadonlySet<string>> {
  const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
  await client.login();
  const ids = new Set<string>();
  for (let page: number | null = 0; page !== null; ) {
    const found: Awaited<ReturnType<RingbookClient['orders']>> = await client.orders({
      openOnly: true,
      page,
      limit: 1000,
    });
    for (const { orderId } of found.items) ids.add(orderId);
    page = found.nextPage;
  }
  client.close();
  return ids;
}
