/** Contrast of the page to watch and to trade, with a book, trades and an account on it. Skipped where there is no Chromium. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { browserOptions, launchBrowser, openPage } from '../support/browser.ts';
import { faintTexts } from '../support/contrast.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

suite('contrast of the trading page', browserOptions, () => {
  let node: NodeProcess;
  let browser: Browser;

  before(async () => {
    node = await startNode({ profile: 'dev', env: { RINGBOOK_DEMO: '1' } });
    browser = await launchBrowser();
  });

  after(async () => {
    await browser?.close();
    if (node !== undefined) await stopNode(node, 'SIGKILL');
    if (node !== undefined) removeDirectory(node.dataDirectory);
  });

  test('every text has the contrast of WCAG AA, in both themes, with a book that is current', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, complaints } = await openPage(browser, { colorScheme });
      await page.goto(`${node.oms}/#1`);
      await page.locator('#link-state.live').waitFor();
      await page.locator('.ladder:not(.stale) .bids .level:enabled').first().waitFor();
      await page.locator('#tape li').first().waitFor();
      assert.deepEqual(await faintTexts(page), [], colorScheme);
      await page.locator('#key-button').click();
      await page.locator('#key-dialog').waitFor();
      assert.deepEqual(await faintTexts(page), [], `${colorScheme}, with the dialog of keys`);
      assert.deepEqual(complaints, []);
      await page.context().close();
    }
  });
});
