// tier: full
/**
 * The page to watch and to trade, in a browser, against a whole node: a newcomer's trade by nothing but clicks and keys,
 * refusals at their fields, own orders, a node that ends. Skipped with a message where there is no
 * Chromium.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { RingbookClient } from '../../src/client/client.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { browserOptions, launchBrowser, type OpenPage, openPage } from '../support/browser.ts';
import { faintTexts } from '../support/contrast.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { clientOf, connectAs, field, live, rest, row, textOf, until } from '../support/trade-page.ts';

suite('the trading page in a browser', browserOptions, () => {
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

  async function opened(base = node.oms): Promise<OpenPage> {
    const found = await openPage(browser);
    await found.page.goto(`${base}/#2`);
    await live(found.page);
    return found;
  }

  test('a newcomer makes a key, gets test funds, buys by a click on the book, and sees the fill confirmed', async () => {
    await rest(maker, 'Sell', '3000', '2');
    const { page, requested, complaints } = await opened();
    await page.locator('#key-button').click();
    await page.getByRole('button', { name: 'Make a new key' }).click();
    const seed = await textOf(page.locator('.seed'));
    assert.match(seed, /^[0-9a-f]{64}$/);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.locator('#key-dialog').waitFor({ state: 'hidden' });
    await live(page);
    await page.getByRole('tab', { name: 'Funds' }).click();
    await page.getByRole('button', { name: 'Get test funds' }).click();
    await row(page, 'Balances', '100,000').waitFor();

    await page.getByRole('button', { name: /^Ask 3000,/ }).click();
    assert.equal(await field(page, 'Price').inputValue(), '3000');
    await field(page, 'Size').fill('0.5');
    const reading = 'Buy 0.5 ETH at 3000 USD or better; good till cancelled;';
    await page.locator('.reading', { hasText: reading }).waitFor();
    await page.getByRole('button', { name: 'Buy ETH' }).click();
    await page.locator('.ticket-state .good', { hasText: 'Received' }).waitFor();
    await page.getByRole('tab', { name: 'Fills' }).click();
    const fill = row(page, 'Fills', '3,000.00');
    await fill.locator('td', { hasText: 'Confirmed' }).waitFor();
    assert.match(await textOf(fill), /ETHBuy3,000\.000\.5000\S+TakerConfirmed$/);
    await page.locator('#tape li', { hasText: '3,000.00' }).first().waitFor();

    const hosts = new Set(requested.map((url) => new URL(url).host));
    assert.deepEqual(hosts, new Set([new URL(node.oms).host]), 'no other host is contacted');
    assert.ok(
      requested.every((url) => !url.includes(seed)),
      'the seed is not sent',
    );
    assert.deepEqual(complaints, []);
  });

  test('a refusal stands at its field, which gets the focus: of the page, of the node, of a flag', async () => {
    const { page } = await opened();
    await connectAs(page, 'User b');
    await live(page);
    const send = page.getByRole('button', { name: 'Buy ETH' });
    const errorAt = async (label: string): Promise<string> => {
      const control = field(page, label);
      await until(`an error at ${label}`, async () => (await control.getAttribute('aria-invalid')) === 'true');
      assert.ok(await control.evaluate((node) => node.matches(':focus')), `${label} has the focus`);
      const id = must(await control.getAttribute('aria-describedby'), 'its error');
      return textOf(page.locator(`#${id}`));
    };
    await field(page, 'Price').fill('3000.001');
    await field(page, 'Size').fill('1');
    await send.click();
    assert.equal(await errorAt('Price'), 'a number with at most 2 decimals');
    await field(page, 'Price').fill('2000');
    await field(page, 'Size').fill('0.0001');
    await send.click();
    assert.equal(await errorAt('Size'), 'below the minimum');
    await field(page, 'Size').fill('9000000');
    await send.click();
    assert.match(await errorAt('Size'), /balance/);
    assert.match(await textOf(page.locator('.ticket-state .fault')), /^Refused: INSUFFICIENT_INVENTORY/);
    await field(page, 'Size').fill('1');
    await page.getByText('Trigger, parent, fee limit').click();
    await field(page, 'Fees up to').fill('0.0001');
    await send.click();
    assert.match(await errorAt('Fees up to'), /rate/);
  });

  test('own orders are marked in the book, replaced, reduced without a signature, and cancelled by clicks', async () => {
    const { page } = await opened();
    await connectAs(page, 'User b');
    await live(page);
    await field(page, 'Price').fill('1500');
    await field(page, 'Size').fill('2');
    await page.locator('#ticket').getByText('Post only').click();
    await page.getByRole('button', { name: 'Buy ETH' }).click();
    const order = row(page, 'Open orders', '1,500.00');
    await order.waitFor();
    await page.getByRole('button', { name: /^Bid 1500, 2, own$/ }).waitFor();
    await order.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Price', { exact: true }).fill('1510');
    await dialog.getByRole('button', { name: 'Sign and replace' }).click();
    const moved = row(page, 'Open orders', '1,510.00');
    await moved.waitFor();
    await moved.getByRole('button', { name: 'Edit' }).click();
    const size = dialog.getByLabel('Total size, with what is filled');
    assert.equal(await size.inputValue(), '2');
    await size.fill('2.5');
    await dialog.getByRole('button', { name: 'Sign and replace' }).waitFor();
    await size.fill('0.00001');
    await dialog.getByRole('button', { name: 'Sign and replace' }).click();
    await dialog.getByText('a number with at most 4 decimals').waitFor();
    await size.fill('1.5');
    const amended = page.waitForRequest((request) => request.url().endsWith('/orders/amend'));
    await dialog.getByRole('button', { name: 'Reduce the size' }).click();
    const { request } = (await amended).postDataJSON() as { readonly request: { readonly new_quantity: number } };
    assert.equal(request.new_quantity, 15_000);
    await page.getByRole('button', { name: /^Bid 1510, 1\.5, own$/ }).waitFor();
    await row(page, 'Open orders', '1.5000').waitFor();
    await moved.getByRole('button', { name: 'Cancel' }).click();
    await moved.waitFor({ state: 'detached' });
  });

  test('every text has the contrast of WCAG AA, light and dark, wide and narrow', async () => {
    await rest(maker, 'Sell', '3050');
    await rest(maker, 'Buy', '2950');
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const viewport of [
        { width: 1_440, height: 900 },
        { width: 390, height: 844 },
      ]) {
        const { page } = await openPage(browser, { colorScheme, viewport });
        await page.goto(`${node.oms}/#2`);
        await connectAs(page, 'User b');
        await live(page);
        const parts = viewport.width < 500 ? ['Chart', 'Book', 'Trades', 'Order', 'Account'] : [];
        for (const part of parts) {
          await page.locator('#views').getByText(part).click();
          assert.deepEqual(await faintTexts(page), [], `${colorScheme} ${part}`);
          const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
          assert.ok(wide <= 0, `${part} is ${wide} px wider than the screen`);
        }
        if (parts.length === 0) {
          await page.locator('#book button', { hasText: '3,050.00' }).waitFor();
          for (const tab of ['Open orders', 'Fills', 'Funds']) {
            await page.getByRole('tab', { name: tab }).click();
            assert.deepEqual(await faintTexts(page), [], `${colorScheme} ${tab}`);
          }
          await page.locator('#theme').click();
          assert.deepEqual(await faintTexts(page), [], `the other theme than ${colorScheme}`);
        }
        // A user has ten sockets.
        await page.context().close();
      }
    }
  });

  test('on a phone a note of a fill takes no click from the parts, the tabs and the ticket', async () => {
    await rest(maker, 'Sell', '2990', '1');
    const { page } = await openPage(browser, { viewport: { width: 390, height: 844 } });
    await page.goto(`${node.oms}/#2`);
    await connectAs(page, 'User b');
    await live(page);
    await page.locator('#views').getByText('Order', { exact: true }).click();
    await field(page, 'Price').fill('2990');
    await field(page, 'Size').fill('1');
    await page.getByRole('button', { name: 'Buy ETH' }).click();
    const note = page.locator('.note', { hasText: 'Bought 1' });
    await note.waitFor();
    // In one step, so that the note cannot disappear between: what a finger would reach at the middle of each control.
    const covered = (part: string): Promise<string[]> =>
      page.evaluate(
        `(() => {
          for (const button of document.querySelectorAll('#views button')) if (button.textContent === '${part}') button.click();
          if (document.querySelector('.note') === null) return ['the note is gone'];
          return [...document.querySelectorAll('#views button, #account [role=tab], #ticket input')]
            .map((control) => ({ control, box: control.getBoundingClientRect() }))
            .filter(({ box }) => box.width > 0 && box.bottom < innerHeight)
            .map(({ control, box }) => [control, document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)])
            .filter(([, found]) => found?.closest('.notes') !== null)
            .map(([control]) => control.textContent || control.name);
        })()`,
      );
    assert.deepEqual(await covered('Order'), []);
    assert.deepEqual(await covered('Account'), []);
  });

  test('a key that is kept in the browser logs in after a reload, until it is removed', async () => {
    const { page } = await opened();
    const key = page.locator('#key-button');
    const reload = async (): Promise<void> => {
      await page.reload();
      await live(page);
    };
    await connectAs(page, 'User b');
    await reload();
    await page.locator('#key-button', { hasText: 'Connect a key' }).waitFor();
    await key.click();
    await page.getByLabel('Keep it in this browser').check();
    await page.getByRole('button', { name: 'User b' }).click();
    await page.locator('#key-dialog').waitFor({ state: 'hidden' });
    const shown = await textOf(key);
    assert.match(shown, /^[0-9a-f]{6}…[0-9a-f]{4}$/);
    await reload();
    await page.locator('#key-button', { hasText: shown }).waitFor();
    await key.click();
    await page.getByRole('button', { name: 'Log out and remove the key' }).click();
    await reload();
    await page.locator('#key-button', { hasText: 'Connect a key' }).waitFor();
    assert.equal(await page.evaluate('JSON.stringify(localStorage)'), '{}');
  });

  test('a name of another user, or a symbol, is text and never markup', async () => {
    const client = await clientOf(node, 'b');
    const name = '<img src=x onerror=alert(1)>';
    await client.account.transfer({
      sourceIndex: 0,
      targetIndex: 2,
      assetId: '0' as AssetId,
      amount18: 10n ** 18n,
      nonce: BigInt(Date.now()),
      targetAccountType: 'Spot',
    });
    await client.account.rename(2, name);
    const { page, complaints } = await opened();
    await connectAs(page, 'User b');
    await page.getByRole('tab', { name: 'Funds' }).click();
    await row(page, 'Balances', name).waitFor();
    assert.equal(await page.locator('img').count(), 1, 'the mark of the page and nothing else');
    assert.deepEqual(complaints, []);
    client.close();
  });
});

suite('the trading page of a node without a market', browserOptions, () => {
  test('an empty book, no order to send, and no error', async () => {
    const folder = temporaryDirectory();
    const config = join(folder, 'bare.json');
    writeFileSync(config, JSON.stringify({ extends: 'dev', seed: 'none' }));
    const node = await startNode({ profile: 'dev', env: { RINGBOOK_CONFIG: config } });
    const browser = await launchBrowser();
    try {
      const { page, complaints } = await openPage(browser);
      await page.goto(`${node.oms}/`);
      await live(page);
      await page.getByText('No markets yet.').waitFor();
      assert.equal(await page.locator('.level:enabled:visible').count(), 0);
      assert.equal(await page.locator('.own:visible').count(), 0);
      assert.ok(await page.locator('#ticket .send').isDisabled());
      assert.deepEqual(complaints, []);
    } finally {
      await browser.close();
      await stopNode(node, 'SIGKILL');
      removeDirectory(node.dataDirectory);
      removeDirectory(folder);
    }
  });
});

suite('the trading page and a node that ends', browserOptions, () => {
  test('the page reconnects to the node when it is back, logs in again, and shows what is open', async () => {
    const first = await startNode({ profile: 'dev' });
    const browser = await launchBrowser();
    try {
      const { page } = await openPage(browser);
      await page.goto(`${first.oms}/#2`);
      await connectAs(page, 'User b');
      await live(page);
      const client = await clientOf(first, 'b');
      await rest(client, 'Buy', '1234', '1');
      client.close();
      await row(page, 'Open orders', '1,234.00').waitFor();
      await stopNode(first);
      await page.locator('#link-state.waiting').waitFor();
      await page.locator('.ladder.stale .middle', { hasText: 'not connected' }).waitFor();
      await field(page, 'Price').fill('1200');
      await field(page, 'Size').fill('1');
      await page.getByRole('button', { name: 'Buy ETH' }).click();
      await page.locator('.ticket-state', { hasText: 'No answer. The order may have arrived' }).waitFor();
      const ports = { RINGBOOK_OMS_PORT: new URL(first.oms).port, RINGBOOK_MDS_PORT: new URL(first.mds).port };
      const second = await startNode({ profile: 'dev', dataDirectory: first.dataDirectory, env: ports });
      try {
        await live(page);
        await row(page, 'Open orders', '1,234.00').waitFor();
        await page.getByRole('button', { name: /^Bid 1234, 1, own$/ }).waitFor();
        await row(page, 'Open orders', '1,234.00').getByRole('button', { name: 'Cancel' }).click();
        await page.getByText('No open orders.').waitFor();
      } finally {
        await stopNode(second, 'SIGKILL');
      }
    } finally {
      await browser.close();
      await stopNode(first, 'SIGKILL');
      removeDirectory(first.dataDirectory);
    }
  });
});
