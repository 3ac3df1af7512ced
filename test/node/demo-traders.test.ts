// tier: full, 19 s
/** The demo traders of a dev node: which markets move and which do not, and that the node does not depend on them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey, keyFromSeed } from '../../src/client/keys.ts';
import { LEVELS, MAKERS } from '../../src/load/demo-quotes.ts';
import { DEMO_MARKETS, type DemoSettings } from '../../src/load/demo-traders.ts';
import { loadConfig } from '../../src/node/config.ts';
import { DemoThread } from '../../src/node/demo-thread.ts';
import { DEMO_BYTE, PUBLIC_KEYS } from '../../src/operator/seed-data.ts';
import { barrier, metricsOf, type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { CLI } from '../support/ringbook-command.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

const DEMO = { RINGBOOK_DEMO: '1' };

test('ringbook demo traders trades on a node that runs already, and cancels its orders at SIGTERM', async () => {
  const node = await startNode({ profile: 'dev' });
  const reader = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
  const levels = async (): Promise<number> => {
    const { asks, bids } = await reader.depth('1');
    return asks.length + bids.length;
  };
  const child = spawn(process.execPath, [CLI, 'demo', 'traders', '--oms', node.oms, '--ops', node.ops], {
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    await eventually(async () => (await levels()) >= LEVELS);
    child.kill('SIGTERM');
    assert.equal(await ended, 0);
    await eventually(async () => (await levels()) === 0);
  } finally {
    child.kill('SIGKILL');
    reader.close();
    await stopNode(node, 'SIGKILL');
    removeDirectory(node.dataDirectory);
  }
});

suite('a dev node with demo traders', () => {
  let node: NodeProcess;
  let a: RingbookClient;
  let b: RingbookClient;

  before(async () => {
    node = await startNode({ profile: 'dev', env: DEMO });
    a = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
    b = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('b') });
  });

  after(async () => {
    a.close();
    b.close();
    await stopNode(node, 'SIGKILL');
    removeDirectory(node.dataDirectory);
  });

  const sidesOf = async (market: string): Promise<readonly [number, number]> => {
    const { asks, bids } = await a.depth(market);
    return [asks.length, bids.length];
  };

  test('they quote both sides of markets 1 and 3 and trade there, near the oracle price', async () => {
    for (const market of DEMO_MARKETS) {
      await eventually(async () => (await a.publicTrades(market)).length > 0);
      await eventually(async () => (await sidesOf(market)).every((levels) => levels >= LEVELS * MAKERS - 2));
      assert.ok((await sidesOf(market)).every((levels) => levels <= LEVELS * MAKERS));
      const index = market === '1' ? 60_000 : 2.5;
      for (const { price } of await a.publicTrades(market)) {
        assert.ok(Math.abs(Number(price) / index - 1) < 0.01, `market ${market} traded at ${price}`);
      }
    }
    await eventually(() => /demo traders trade in markets 1 and 3/.test(node.stderr()), node.stderr);
  });

  test('market 2 is left to users: what README shows there is a trade between a and b alone', async () => {
    assert.deepEqual(await sidesOf('2'), [0, 0]);
    const confirmed: string[] = [];
    const trades = await b.userTrades();
    trades.listen(({ status, price }) => confirmed.push(`${status} ${price}`));
    const ticket = { assetId: '2', price: '3000', quantity: '0.5' } as const;
    await a.create(await a.order({ ...ticket, side: 'Sell' }));
    await b.create(await b.order({ ...ticket, side: 'Buy' }));
    await eventually(() => confirmed.includes('Confirmed 3000'));
    trades.close();
    // Market data is published by another thread.
    await eventually(async () => (await a.publicTrades('2')).length === 1);
    await eventually(async () => (await sidesOf('2')).every((levels) => levels === 0));
  });

  test('they fault nothing: no fill is rolled back, and the ledger adds up', async () => {
    await barrier(node);
    const metrics = await metricsOf(node);
    const rollbacks = [...metrics.matchAll(/^ringbook_rollbacks_total\{.*$/gm)].map(([line]) => line);
    assert.ok(rollbacks.length > 0);
    for (const line of rollbacks) assert.match(line, / 0$/);
    const { assets } = (await operator(node, 'GET', '/operator/ledger')).body as {
      assets: Readonly<Record<string, { readonly difference: string }>>;
    };
    assert.ok(Object.keys(assets).length >= 3);
    for (const [asset, { difference }] of Object.entries(assets)) assert.equal(difference, '0', `asset ${asset}`);
  });

  test('they follow an oracle price that jumps', async () => {
    await operator(node, 'POST', '/operator/prices', { prices: [{ asset_id: '3', price: '3' }] });
    await eventually(async () => {
      const { asks, bids } = await a.depth('3');
      const [ask, bid] = [Number(asks[0]?.price ?? 0), Number(bids[0]?.price ?? 0)];
      return ask > 2.97 && ask < 3.03 && bid > 2.97 && bid < ask;
    });
  });

  test('a stop cancels their orders and ends with 0; without the variable the next start has none', async () => {
    assert.equal(await stopNode(node), 0);
    node = await startNode({ profile: 'dev', dataDirectory: node.dataDirectory });
    const reader = new RingbookClient({ oms: node.oms, mds: node.mds });
    for (const market of DEMO_MARKETS) {
      const { asks, bids } = await reader.depth(market);
      assert.deepEqual([asks, bids], [[], []], `market ${market}`);
    }
    reader.close();
    assert.doesNotMatch(node.stderr(), /demo traders/);
  });
});

suite('the setting of the demo traders', () => {
  test('off unless wished; the variable wins over the option; other profiles have none', () => {
    assert.equal(loadConfig({}).isDemo, false);
    assert.equal(loadConfig({}, { demo: true }).isDemo, true);
    assert.equal(loadConfig(DEMO).isDemo, true);
    assert.equal(loadConfig({ RINGBOOK_DEMO: '0' }, { demo: true }).isDemo, false);
    assert.equal(loadConfig({ RINGBOOK_CONFIG: 'test' }, { demo: true }).isDemo, false);
    assert.throws(() => loadConfig({ RINGBOOK_CONFIG: 'test', ...DEMO }), /RINGBOOK_DEMO is 1/);
    assert.throws(() => loadConfig({ RINGBOOK_DEMO: 'yes' }), /RINGBOOK_DEMO is "yes"/);
  });

  test('the keys of the demo traders are public, so production refuses them', () => {
    for (const byte of [...DEMO_BYTE.makers, DEMO_BYTE.taker]) {
      assert.ok(PUBLIC_KEYS.has(keyFromSeed(new Uint8Array(32).fill(byte)).userId), byte.toString(16));
    }
  });
});

suite('the thread of the demo traders', () => {
  const settings: DemoSettings = { oms: '', ops: '', operatorToken: '', makers: [], taker: '', seed: 1 };
  const entryOf = (program: string): URL => new URL(`data:text/javascript,${encodeURIComponent(program)}`);

  function threadOf(program: string): { readonly thread: DemoThread; readonly logged: string[] } {
    const logged: string[] = [];
    const line = (fields: object, message: string): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
    const thread = new DemoThread({ entry: entryOf(program), settings, log: { info: line, warn: line }, againMs: 1 });
    thread.start();
    return { thread, logged };
  }

  test('one that dies is logged and begins anew, and the process goes on', async () => {
    const { thread, logged } = threadOf('throw new Error("the demo fails")');
    await eventually(() => logged.length >= 3);
    await thread.stop();
    assert.match(logged[0] ?? '', /died and begins anew .*the demo fails/);
    const { length } = logged;
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(logged.length, length, 'none begins after the stop');
  });

  test('one that does not end is ended', async () => {
    const { thread, logged } = threadOf(
      'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {}); parentPort.postMessage({ kind: "trading", markets: [] });',
    );
    await eventually(() => logged.length > 0);
    await thread.stop();
  });

  test('one that is out of memory does not end the process', async () => {
    const { thread, logged } = threadOf('const all = []; for (;;) all.push(new Array(100_000).fill({}));');
    await eventually(() => logged.length > 0);
    await thread.stop();
    assert.match(logged[0] ?? '', /memory/i);
  });
});
