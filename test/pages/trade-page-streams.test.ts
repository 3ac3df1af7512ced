// tier: full, 11 s
/**
 * The streams of the trading page in a browser: a reader that lags, and a book that changes a hundred times a second.
 * Skipped with a message where there is no Chromium.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { RingbookClient } from '../../src/client/client.ts';
import { browserOptions, launchBrowser, openPage } from '../support/browser.ts';
import { metricOf, type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { StallingProxy } from '../support/stalling-proxy.ts';
import { removeDirectory } from '../support/temporary-directory.ts';
import { clientOf, connectAs, live, rest, until } from '../support/trade-page.ts';

/** A script of the browser. */
const RECORD_CLOSES = `
  window.closes = [];
  window.WebSocket = class extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols);
      this.addEventListener('close', ({ code, reason }) => closes.push(code + ' ' + reason));
    }
  };
`;
const LAG_CLOSES = 'ringbook_lag_closes_total{service="oms"}';
const BATCH = 50;
const BATCHES = 3;
/** CPU time of one task of the page, in microseconds. */
const TASK_US_MAX = 50_000;

/** As many events as a batch has orders, each about a KiB. */
async function manyOrders(client: RingbookClient): Promise<void> {
  const orders = await Promise.all(
    Array.from({ length: BATCH }, (_, index) =>
      client.order({ assetId: '2', side: 'Buy', price: `${1_300 + index}`, quantity: '0.01' }),
    ),
  );
  const results = await client.batchCreate(orders.map((order) => client.signCreate(order)));
  assert.ok(results.every(({ status }) => status === 'Received'));
}

suite('the streams of the trading page', browserOptions, () => {
  let node: NodeProcess;
  let browser: Browser;
  let maker: RingbookClient;

  before(async () => {
    node = await startNode({ profile: 'dev' });
    browser = await launchBrowser();
    maker = await clientOf(node, 'a');
  });

  after(async () => {
    maker?.close();
    await browser?.close();
    if (node !== undefined) await stopNode(node, 'SIGKILL');
    if (node !== undefined) removeDirectory(node.dataDirectory);
  });

  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
  });

  test('after a close for lag the page reads its account again and misses nothing (WS-15)', async () => {
    const proxy = await StallingProxy.start(Number(new URL(node.oms).port));
    const client = await clientOf(node, 'b');
    const { page } = await openPage(browser);
    // Codes of closes cannot be read from outside of the page.
    await page.addInitScript(RECORD_CLOSES);
    await page.goto(`${proxy.url}/#2`);
    await connectAs(page, 'User b');
    await live(page);
    assert.equal(proxy.stall('/orders'), 1);
    let isLagging = false;
    const resumed = until('the node closes the socket for lag', async () => {
      isLagging = (await metricOf(node, LAG_CLOSES)) > 0;
      return isLagging;
    }).finally(() => proxy.resume());
    while (!isLagging) {
      // On a busy machine the page may give up the silent socket first, and open another.
      proxy.stall('/orders');
      await Promise.all(Array.from({ length: BATCHES }, () => manyOrders(client)));
      await client.cancelAll({ assetId: '2' });
    }
    await resumed;
    await until('the page was closed', () => page.evaluate<boolean>('closes.length > 0'));
    // A machine so slow that the node's last frames were not read in five seconds has 1006, a connection that was cut.
    assert.match(await page.evaluate<string>('closes[0]'), /^(1013 resync_required|1006 )$/);
    await client.cancelAll({ assetId: '2' });
    const ids = [await rest(client, 'Buy', '1400', '0.1'), await rest(client, 'Buy', '1401', '0.1')];
    await live(page);
    await until('every order is on the page', async () => {
      const shown = await page.getByRole('region', { name: 'Open orders' }).locator('tbody tr').count();
      return shown === ids.length;
    });
    await client.cancelAll();
    await page.getByText('No open orders.').waitFor();
    client.close();
    await proxy.close();
  });

  test('100 updates of the book a second cause no task of more than 50 ms of CPU', async (context) => {
    const { page } = await openPage(browser);
    let frames = 0;
    page.on('websocket', (socket) => {
      if (socket.url().includes('/marketdepth/')) socket.on('framereceived', () => (frames += 1));
    });
    await page.goto(`${node.oms}/#2`);
    await connectAs(page, 'User b');
    await live(page);
    // Durations by the clock are those of the machine with all its other work; the trace has the CPU time of a task.
    await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', 'toplevel'] });
    const sent: Promise<unknown>[] = [];
    const startedAt = performance.now();
    for (let update = 0; update < 300; update += 1) {
      const aheadMs = update * 10 - (performance.now() - startedAt);
      if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, aheadMs));
      sent.push(rest(maker, 'Sell', `${3_100 + (update % 60)}`, '0.01'));
    }
    await Promise.all(sent);
    const seconds = (performance.now() - startedAt) / 1_000;
    await page.getByRole('button', { name: /^Ask 3100,/ }).waitFor();
    const tasks = tasksOf(await browser.stopTracing());
    const longest = Math.max(...tasks);
    context.diagnostic(`${frames} frames in ${seconds.toFixed(1)} s, ${tasks.length} tasks, the longest ${longest} us`);
    // The market-data thread sums up changes, the more the less of a core it has.
    assert.ok(frames >= 30 && tasks.length >= 100, `${frames} frames, ${tasks.length} tasks`);
    assert.ok(longest <= TASK_US_MAX, `a task of ${longest} us of CPU`);
  });
});

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** CPU time of the tasks of the main threads of pages, in microseconds. */
function tasksOf(trace: Buffer): readonly number[] {
  const { traceEvents } = JSON.parse(trace.toString('utf8')) as { readonly traceEvents: readonly TraceEvent[] };
  const mains = traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const keys = new Set(mains.map(({ pid, tid }) => `${pid}/${tid}`));
  return traceEvents
    .filter(({ name, ph, pid, tid }) => name === 'RunTask' && ph === 'X' && keys.has(`${pid}/${tid}`))
    .map(({ tdur = 0 }) => tdur);
}
