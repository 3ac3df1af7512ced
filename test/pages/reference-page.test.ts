// tier: full, 4 s
/**
 * The reference page in a browser: a trade by nothing but clicks. Skipped with a message where there is no Chromium.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { browserOptions, launchBrowser, openPage } from '../support/browser.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory } from '../support/temporary-directory.ts';
import { textOf } from '../support/trade-page.ts';

suite('the reference page in a browser', browserOptions, () => {
  let node: NodeProcess;
  let browser: Browser;
  let page: Page;
  let requested: readonly string[];
  let complaints: readonly string[];

  before(async () => {
    node = await startNode({ profile: 'dev' });
    browser = await launchBrowser();
    ({ page, requested, complaints } = await openPage(browser));
  });

  after(async () => {
    await browser?.close();
    if (node !== undefined) await stopNode(node, 'SIGKILL');
    if (node !== undefined) removeDirectory(node.dataDirectory);
  });

  const create = () => page.locator('#post_orders_create');

  async function logInAs(name: string): Promise<string> {
    await page.getByRole('button', { name, exact: true }).click();
    await page.locator('.state .good').waitFor();
    return textOf(page.locator('.state code').first());
  }

  async function send(): Promise<string> {
    await create()
      .locator('.result')
      .evaluate((result) => result.replaceChildren());
    await create().getByRole('button', { name: 'Sign and send', exact: true }).click();
    return textOf(create().locator('.result b').first());
  }

  test('two users trade, signed in the page, and the page shows it as it happens (DOC-03)', async () => {
    await page.goto(`${node.oms}/api-reference#post_orders_create`);
    const body = create().locator('textarea').first();
    const seller = await logInAs('User a');
    assert.equal(await send(), '200');
    const live = page.locator('.live');
    await live.getByText('Created').first().waitFor();

    const buyer = await logInAs('User b');
    assert.notEqual(buyer, seller);
    const order = await body.inputValue();
    assert.ok(order.includes(buyer) && !order.includes(seller), order);
    await body.fill(order.replace('"Sell"', '"Buy"'));
    assert.equal(await send(), '200');
    await live.getByText('Trade Pending').first().waitFor();
    await live.getByText('Trade Confirmed').first().waitFor();
  });

  test('a refusal of what was typed is reported before anything is sent', async () => {
    const before = requested.length;
    const body = create().locator('textarea').first();
    await body.fill((await body.inputValue()).replace('page-', 'no good '));
    await create().getByRole('button', { name: 'Sign and send', exact: true }).click();
    await create().locator('.result', { hasText: 'order_id: expected' }).waitFor();
    assert.equal(requested.length, before);
  });

  test('the page of market data listens to a book (DOC-04)', async () => {
    await page.goto(`${node.mds}/api-reference#stream-marketdepth_diff_asset_id`);
    const card = page.locator('#stream-marketdepth_diff_asset_id');
    await card.getByRole('button', { name: 'Listen', exact: true }).click();
    await card.locator('.frames', { hasText: 'marketdepth' }).waitFor();
  });

  test('no other host was contacted, no seed left the page, and the browser reported no error', () => {
    const hosts = new Set(requested.map((url) => new URL(url).host));
    assert.deepEqual(hosts, new Set([new URL(node.oms).host, new URL(node.mds).host]));
    assert.ok(requested.every((url) => !url.includes('01'.repeat(16)) && !url.includes('02'.repeat(16))));
    assert.deepEqual(complaints, []);
  });
});
