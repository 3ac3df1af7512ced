// tier: full, 12 s
/** The client in a browser: what bundlers take of its package has nothing of Node, and it trades from a page with a real node. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type BuildOptions, build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { bundleForBrowsers } from '../../packaging/browser-client.ts';
import { browserOptions, launchBrowser, openPage } from '../support/browser.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const home = temporaryDirectory();
/** The package with the two modules of its root; what is packed is looked at by package.test.ts. */
const PACKAGE = join(home, 'node_modules/ringbook-client');
mkdirSync(join(PACKAGE, 'dist/client/browser'), { recursive: true });
copyFileSync('packages/client/package.json', join(PACKAGE, 'package.json'));
symlinkSync(resolve('dist/src/client/sdk.js'), join(PACKAGE, 'dist/client/sdk.js'));
await bundleForBrowsers('dist/src/client', join(PACKAGE, 'dist/client/browser/sdk.js'));
const PROGRAM = join(home, 'program.js');
writeFileSync(PROGRAM, `import * as sdk from 'ringbook-client';\nglobalThis.sdk = sdk;\n`);

interface Bundle {
  readonly text: string;
  /** Modules and packages that are not in it. */
  readonly outside: readonly string[];
}

/** As a user's bundler takes the package. */
async function bundleOf(options: BuildOptions): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [PROGRAM],
    bundle: true,
    format: 'esm',
    write: false,
    metafile: true,
    logLevel: 'silent',
    ...options,
  });
  const outside = Object.values(metafile?.outputs ?? {}).flatMap(({ imports }) => imports.map(({ path }) => path));
  return { text: outputFiles?.[0]?.text ?? '', outside };
}

after(() => removeDirectory(home));

suite('the bundle of a page', () => {
  test('it has no module of Node, of its own accord: nothing is external and nothing is replaced', async () => {
    const { text, outside } = await bundleOf({ platform: 'browser' });
    assert.deepEqual(outside, []);
    assert.ok(text.length > 100_000, `${text.length} bytes`);
    for (const name of builtinModules) {
      assert.ok(!text.includes(`"node:${name}"`) && !text.includes(`require("${name}")`), name);
    }
    assert.ok(!/\brequire\(/.test(text) && !text.includes('from"ws"'));
  });

  test('a bundler for Node takes the other one, which has them', async () => {
    const { outside } = await bundleOf({ platform: 'node', external: ['ws'] });
    assert.deepEqual([...new Set(outside)].toSorted(), ['node:crypto', 'node:fs', 'node:http', 'node:https', 'ws']);
  });
});

/** Runs in the page. */
declare global {
  var sdk: typeof import('../../src/client/sdk.ts');
}

/** Every kind of connection and request, in a page. @returns what happened. */
async function trade({ oms, mds }: { oms: string; mds: string }): Promise<readonly string[]> {
  const { RingbookClient, keyFromSeed, priceOnTick, RingbookError } = globalThis.sdk;
  const done: string[] = [];
  const keys = [1, 2].map((byte) => keyFromSeed(new Uint8Array(32).fill(byte)));
  const [seller, buyer] = keys.map((key) => new RingbookClient({ oms, mds, key }));
  if (seller === undefined || buyer === undefined) throw new Error('two users');
  const book = await buyer.liveBook('ETH');
  const feed = await buyer.marketFeed();
  const feedBook = await feed.book('ETH');
  const fills = await buyer.userTrades({ resume: true });
  const market = await seller.market('ETH');
  const price = priceOnTick(market, 2_900.001, 'down');
  const sell = await seller.order({ assetId: 'ETH', side: 'Sell', price, quantity: '0.5' });
  done.push(`create ${(await seller.create(sell)).status}`);
  const control = await buyer.control({ version: 'v1' });
  const buy = await buyer.order({ assetId: 'ETH', side: 'Buy', price, quantity: '0.2' });
  done.push(`v1 ${(await control.send(buyer.signCreate(buy))).status}`);
  const binary = await buyer.control({ version: 'binary' });
  const second = await buyer.order({ assetId: 'ETH', side: 'Buy', price, quantity: '0.3' });
  done.push(`binary ${(await binary.send(buyer.signCreate(second))).status}`);
  let confirmed = 0;
  for await (const { status } of fills) {
    if (status === 'Confirmed') confirmed += 1;
    if (confirmed === 2) break;
  }
  done.push(`confirmed ${confirmed}`);
  done.push(`book ${book.bids(1).length + book.asks(1).length === feedBook.bids(1).length + feedBook.asks(1).length}`);
  const refusal = await buyer.cancel('ETH', 'unknown?').catch((error: unknown) => error);
  done.push(`refused ${refusal instanceof RingbookError ? refusal.code : String(refusal)}`);
  try {
    globalThis.sdk.loadKey('me.key');
  } catch (error) {
    done.push(`files ${error instanceof RingbookError ? error.code : String(error)}`);
  }
  // The token of a session that was ended elsewhere: the socket of a page is refused without a reason, and logs in again.
  await buyer.logout().catch(() => undefined);
  seller.close();
  buyer.close();
  done.push(`closed ${!control.isOpen}`);
  return done;
}

/** A session that another client of the user has ended. */
async function reopen({ oms }: { oms: string }): Promise<string> {
  const { RingbookClient, keyFromSeed } = globalThis.sdk;
  const key = keyFromSeed(new Uint8Array(32).fill(2));
  const [one, other] = [new RingbookClient({ oms, key }), new RingbookClient({ oms, key })];
  await one.login();
  await other.logout();
  const control = await one.control();
  const isOpen = control.isOpen;
  one.close();
  other.close();
  return `open ${isOpen}`;
}

suite('the client in a browser', browserOptions, () => {
  let node: NodeProcess;
  let browser: Browser;

  before(async () => {
    node = await startNode({ profile: 'dev' });
    browser = await launchBrowser();
  });

  after(async () => {
    await browser?.close();
    if (node !== undefined) {
      await stopNode(node, 'SIGKILL');
      removeDirectory(node.dataDirectory);
    }
  });

  test('signs, trades over REST and /control, follows streams and books, and ends, without a complaint', async () => {
    const { page, complaints } = await openPage(browser, { permissions: ['local-network-access'] });
    // Of the origin of the order service, which serves no page of another one. Chromium asks whether a page may use this machine.
    const address = `${node.oms}/of-a-user`;
    await page.route(address, (route) => route.fulfill({ contentType: 'text/html', body: '<title>a page</title>' }));
    await page.goto(address);
    const { text } = await bundleOf({ platform: 'browser' });
    await page.addScriptTag({ type: 'module', content: text });
    await page.waitForFunction(() => globalThis.sdk !== undefined);
    const { oms, mds } = node;
    assert.deepEqual(await page.evaluate(trade, { oms, mds }), [
      'create Received',
      'v1 Received',
      'binary Received',
      'confirmed 2',
      'book true',
      'refused INVALID_ARGUMENT',
      'files INVALID_ARGUMENT',
      'closed true',
    ]);
    assert.deepEqual(complaints, []);
    assert.equal(await page.evaluate(reopen, { oms }), 'open true');
    await page.close();
  });
});
