// tier: full, 22 s
/**
 * Nodes that get next to no CPU: eight processes that compute run beside an idle node and a loaded one, all at a higher
 * priority; beside a node whose main thread alone gets the CPU that nothing else wants, while its watchers run
 * normally; and beside one of which all other threads do. A starved thread has not failed (AMB-111), so all live on and
 * answer. The time is a small share of the campaign: RINGBOOK_SHARE=command node dist/test/support/run-tests.js
 * node/starved
 */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';

import { ETH } from '../support/names.ts';
import { type NodeProcess, startNode } from '../support/node-process.ts';
import { aMoment, eventually } from '../support/patience.ts';
import { shareOf } from '../support/shares.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

const BUSY = fileURLToPath(new URL('../support/busy-process.js', import.meta.url));
const BUSY_PROCESSES = 8;
const SECONDS = shareOf('seconds of starved nodes');
/** A process of niceness 0 gets nine times what one of 10 gets. */
const NICE = 10;

/** Those threads of a process get a CPU only when nothing else wants it. @returns false where that is not possible. */
function starve({ pid }: NodeProcess, isMeant: (thread: number) => boolean): boolean {
  const threads = process.platform === 'linux' ? readdirSync(`/proc/${pid}/task`).map(Number) : [];
  const meant = threads.filter(isMeant);
  return meant.length > 0 && meant.every((thread) => spawnSync('chrt', ['-i', '-p', '0', `${thread}`]).status === 0);
}

/** Orders and reads one after the other for as long as it may. What fails for want of time is tried again. */
async function load(node: NodeProcess, isOver: () => boolean): Promise<number> {
  const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
  let done = 0;
  const end = setInterval(() => isOver() && client.close(), 100);
  while (!isOver()) {
    try {
      if (done === 0) await client.login();
      const order = await client.order({ assetId: ETH, side: 'Sell', price: '3100', quantity: '0.01' });
      await client.create(order);
      await client.cancel(ETH, order.orderId);
      await client.trades({ limit: 100 });
      done += 1;
    } catch {
      await aMoment();
    }
  }
  clearInterval(end);
  client.close();
  return done;
}

suite('nodes that are starved', () => {
  const crowd: ChildProcess[] = [];
  const nodes: NodeProcess[] = [];
  after(() => {
    for (const child of [...crowd, ...nodes.map((node) => node.child)]) child.kill('SIGKILL');
    for (const node of nodes) removeDirectory(node.dataDirectory);
  });

  test('an idle, a loaded and two partly starved nodes live on beside eight busy processes (AMB-111)', async () => {
    for (const nice of [NICE, NICE, 0, 0]) nodes.push(await startNode({ profile: 'dev', nice }));
    const [, loaded, withoutMain, withoutWorkers] = nodes;
    assert.ok(loaded !== undefined && withoutMain !== undefined && withoutWorkers !== undefined);
    for (let count = 0; count < BUSY_PROCESSES; count += 1) crowd.push(spawn(process.execPath, [BUSY]));
    starve(withoutMain, (thread) => thread === withoutMain.pid);
    starve(withoutWorkers, (thread) => thread !== withoutWorkers.pid);
    const untilMs = performance.now() + SECONDS * 1_000;
    const isOver = (): boolean => performance.now() > untilMs;
    const [done = 0] = await Promise.all([loaded, withoutMain, withoutWorkers].map((node) => load(node, isOver)));
    for (const child of crowd) child.kill('SIGKILL');
    for (const node of nodes) {
      assert.deepEqual([node.child.exitCode, node.child.signalCode], [null, null], node.stderr());
      // A request that the starved thread did not read for 5 s is 504 meanwhile.
      await eventually(async () => (await fetch(`${node.ops}/readyz`)).status === 200);
    }
    assert.ok(done > 0, 'the loaded node has answered');
  });
});
