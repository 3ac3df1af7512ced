// tier: full, 3 s
/** An idle node is idle: its threads are woken up for heartbeats and for little else. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { OperatorClient } from '../../src/client/operator.ts';

import { DEAD_MAN_MS_MIN } from '../../src/core/limits.ts';
import { IDLE_TICK_MS_MAX } from '../../src/runtime/actor-ticks.ts';
import { ETH } from '../support/names.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { aMoment, eventually } from '../support/patience.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

const WATCHED_MS = 2_000;
/** Five threads record ten heartbeats a second each; with ticks every 5 ms it was 900. */
const WAKE_UPS_PER_SECOND_MAX = 250;

/** Voluntary context switches of all threads of a process. */
function switchesOf(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce((sum, thread) => {
    const status = readFileSync(`${tasks}/${thread}/status`, 'latin1');
    return sum + Number(/^voluntary_ctxt_switches:\s*([0-9]+)$/m.exec(status)?.[1] ?? 0);
  }, 0);
}

const BARRIERS = 9;

suite('an idle node', () => {
  let node: NodeProcess;
  let client: RingbookClient;

  before(async () => {
    node = await startNode({ profile: 'dev' });
    client = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
    await client.login();
  });

  after(async () => {
    client.close();
    await stopNode(node, 'SIGKILL');
    removeDirectory(node.dataDirectory);
  });

  test('wakes up less than 250 times a second, all threads together', {
    skip: process.platform === 'linux' ? false : 'no /proc',
  }, async () => {
    let perSecond = Number.POSITIVE_INFINITY;
    // What follows from the start ends some time after it.
    await eventually(async () => {
      const [fromMs, from] = [performance.now(), switchesOf(node.pid)];
      await aMoment(WATCHED_MS);
      perSecond = ((switchesOf(node.pid) - from) / (performance.now() - fromMs)) * 1_000;
      return perSecond < WAKE_UPS_PER_SECOND_MAX;
    });
    assert.ok(perSecond > 0);
  });

  test('answers a barrier as soon as every thread has ticked, which the main thread wakes up for it', async () => {
    const operator = new OperatorClient(node.ops);
    let shortestMs = Number.POSITIVE_INFINITY;
    for (let count = 0; count < BARRIERS; count += 1) {
      const fromMs = performance.now();
      await operator.barrier();
      shortestMs = Math.min(shortestMs, performance.now() - fromMs);
    }
    operator.close();
    assert.ok(shortestMs < IDLE_TICK_MS_MAX / 2, `${shortestMs} ms`);
  });

  test('cancels what a dead-man timer covers although no record arrives', async () => {
    const order = await client.order({ assetId: ETH, side: 'Sell', price: '3100', quantity: '0.01' });
    await client.create(order);
    const isOpen = async (): Promise<boolean> => (await client.orders({ openOnly: true })).items.length > 0;
    assert.equal(await isOpen(), true);
    const firesAtNs = await client.cancelAllAfter(DEAD_MAN_MS_MIN);
    await aMoment(DEAD_MAN_MS_MIN);
    await eventually(async () => !(await isOpen()));
    assert.ok(firesAtNs !== null && BigInt(Date.now()) * 1_000_000n >= firesAtNs, 'not too early');
  });
});
