// tier: full, 19 s
/**
 * The page of operators in a browser: figures of a node that trades, reads with the token, a node that ends and starts again,
 * contrast, keyboard and narrow screens. Skipped with a message where there is no Chromium.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { browserOptions, launchBrowser, type OpenPage, openPage } from '../support/browser.ts';
import { faintTexts } from '../support/contrast.ts';
import { type NodeProcess, OPERATOR_TOKEN, startNode, stopNode } from '../support/node-process.ts';
import { eventually, PATIENCE_MS } from '../support/patience.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

const NARROW = { width: 390, height: 844 };
const NARROWEST = { width: 320, height: 640 };

suite('the page of operators in a browser', browserOptions, () => {
  let node: NodeProcess;
  let browser: Browser;
  let page: Page;
  /** Of all pages that were opened. */
  const opened: OpenPage[] = [];

  before(async () => {
    node = await startNode({ profile: 'dev', env: { RINGBOOK_DEMO: '1' } });
    browser = await launchBrowser();
    page = await open({ width: 1440, height: 1000 }, 'dark');
  });

  after(async () => {
    await browser?.close();
    await stopNode(node, 'SIGKILL');
    removeDirectory(node.dataDirectory);
  });

  async function open(viewport: { width: number; height: number }, colorScheme: 'dark' | 'light'): Promise<Page> {
    const found = await openPage(browser, { viewport, colorScheme });
    opened.push(found);
    await found.page.goto(`${node.ops}/`);
    return found.page;
  }

  /** What the browser reported, and requests to other hosts. */
  const complaints = (): readonly string[] =>
    opened.flatMap((one) => [...one.complaints, ...one.requested.filter((url) => !url.startsWith(node.ops))]);

  /** The cells behind the name of a row. */
  const row = async (panel: string, name: string): Promise<readonly string[]> => {
    const found = page.locator(`#${panel} tbody tr`, { has: page.getByRole('rowheader', { name, exact: true }) });
    return found.first().locator('td').allInnerTexts();
  };
  const untilRow = async (panel: string, name: string, isSo: (cells: readonly string[]) => boolean): Promise<void> => {
    const end = performance.now() + PATIENCE_MS;
    let cells: readonly string[] = [];
    while (performance.now() < end) {
      cells = await row(panel, name);
      if (isSo(cells)) return;
      await page.waitForTimeout(200);
    }
    assert.fail(`${name} in ${panel} has ${cells.join(', ')}`);
  };

  test('it shows a node that trades: state, commits, fills, mailboxes, sockets, without a token and without another host', async () => {
    await page.locator('#state.good', { hasText: 'Ready' }).waitFor();
    await untilRow('durability', 'Journal commit, flushed', ([p50 = '', p99 = '']) => /s$/.test(p50) && /s$/.test(p99));
    await untilRow('traffic', 'Confirmed', ([, inWindow = '']) => Number(inWindow) > 0);
    await untilRow('traffic', '1', ([done = '', , p50 = '']) => done !== '0/s' && /s$/.test(p50));
    const reading = setInterval(() => void fetch(`${node.oms}/markets`), 200);
    await untilRow('traffic', 'markets', ([done = '', , p50 = '']) => done !== '0/s' && /s$/.test(p50)).finally(() =>
      clearInterval(reading),
    );
    await untilRow('actors', 'clearing', ([, , records = '']) => /^[0-9.]+\/s$/.test(records) && records !== '0/s');
    await untilRow('sockets', 'oms', ([sockets = '']) => Number(sockets) >= 2);
    assert.equal(await page.locator('.tile', { hasText: 'Open orders' }).locator('.spark polyline').count(), 1);
    assert.equal(await page.locator('#trouble').isVisible(), false);
    assert.equal(await page.locator('#cluster').isVisible(), false, 'a node of one machine has no cluster');
    assert.deepEqual(complaints(), []);
  });

  test('the path of an order: each stage with its p50 and p99, the shares as one strip, and what follows on disk', async () => {
    const TIME = /^[0-9.]+ (?:µs|ms|s)$/;
    for (const action of ['Create', 'Replace']) {
      await page.getByText(action, { exact: true }).click();
      for (const stage of ['parse', 'verify', 'reserve', 'market', 'ring', 'match', 'reply', 'flush', 'confirm']) {
        await untilRow('path', stage, ([p50 = '', p99 = '']) => TIME.test(p50) && TIME.test(p99));
      }
      await page.locator('#path .total', { hasText: /p50 .+, p99 .+\/s$/ }).waitFor();
      assert.match(
        String(await page.locator('#path .strip').getAttribute('aria-label')),
        /parse .+ verify .+ market .+ reply/,
      );
    }
    await page.getByText('Cancel', { exact: true }).click();
    await page.locator('#path .empty', { hasText: 'No order in this window' }).waitFor();
    await page.getByText('Create', { exact: true }).click();
    await untilRow('traffic', 'replace', ([done = '']) => done !== '0/s');
    await untilRow(
      'rings',
      'front-door → market-0',
      ([, used = '', size = '']) => used.includes('%') && size.endsWith('MiB'),
    );
    await untilRow('threads', 'clearing', ([cpu = '']) => cpu.includes('%'));
    assert.deepEqual(complaints(), []);
  });

  test('reads with the token: a wrong one is refused in words, a right one shows the ledger; it is stored nowhere', async () => {
    const form = page.locator('form.token');
    await form.locator('input').fill('wrong');
    await form.locator('button.main').click();
    await form.getByRole('status').filter({ hasText: 'UNAUTHORIZED' }).waitFor();
    assert.equal(await page.locator('#operator .reads').isVisible(), false);

    await form.locator('input').fill(OPERATOR_TOKEN);
    await form.locator('button.main').press('Enter');
    await untilRow('operator', '1', (cells) => cells.at(-1) === '0');
    assert.equal(await form.locator('input').inputValue(), '');
    const stored = await page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length');
    assert.equal(stored, 0);
    await page.getByRole('button', { name: 'Forget' }).click();
    assert.equal(await page.locator('#operator .reads').isVisible(), false);
    // The browser reports the refused read too.
    assert.deepEqual(
      complaints().filter((text) => !text.includes('401')),
      [],
    );
  });

  test('Pause stops the reads, and the same button goes on', async () => {
    const readAt = (): Promise<string | null> => page.locator('#read-at').textContent();
    await page.locator('#pause').click();
    await page.waitForTimeout(300);
    const paused = await readAt();
    await page.waitForTimeout(2_600);
    assert.equal(await readAt(), paused);
    await page.locator('#pause').click();
    await eventually(async () => (await readAt()) !== paused);
  });

  test('every text has the contrast of WCAG AA, in both themes', async () => {
    for (const scheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      assert.deepEqual(await faintTexts(page), [], scheme);
    }
    await page.locator('#theme').click();
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
    assert.deepEqual(await faintTexts(page), [], 'the other theme by the button');
  });

  test('the keyboard reaches everything that a click does, and narrow screens need no sideways scroll', async () => {
    const narrow = await open(NARROW, 'light');
    await narrow.locator('#state.good').waitFor();
    await narrow.keyboard.press('Tab');
    assert.equal(await narrow.evaluate('document.activeElement.className'), 'skip');
    const reached = new Set<string>();
    for (let presses = 0; presses < 40; presses += 1) {
      await narrow.keyboard.press('Tab');
      reached.add(String(await narrow.evaluate('document.activeElement.id || document.activeElement.textContent')));
    }
    for (const target of ['window', 'pause', 'theme', 'token', 'Read', 'Forget'])
      assert.ok(reached.has(target), target);
    await narrow.locator('input[value=create]').focus();
    await narrow.keyboard.press('ArrowRight');
    assert.equal(await narrow.locator('input[value=replace]').isChecked(), true);
    for (const size of [NARROW, NARROWEST]) {
      await narrow.setViewportSize(size);
      const beyond = Number(await narrow.evaluate('document.documentElement.scrollWidth - innerWidth'));
      assert.ok(beyond <= 0, `${size.width} px wide: ${beyond} px too much`);
    }
    await narrow.close();
  });

  test('no table is cut, from a small desktop to a wide one', async () => {
    const wide = await open({ width: 1_280, height: 900 }, 'dark');
    await wide.locator('#state.good').waitFor();
    await wide.locator('#threads tbody tr').first().waitFor();
    const cut = `[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth)
      .map((one) => one.getAttribute('aria-label'))`;
    for (const width of [768, 1_024, 1_280, 1_440, 1_920, 2_560]) {
      await wide.setViewportSize({ width, height: 900 });
      assert.deepEqual(await wide.evaluate(cut), [], `${width} px`);
    }
    await wide.close();
  });

  test('prices: an asset without one is not usable, broken ones are first, and many are cut short', async () => {
    const { page: fresh } = await openPage(browser, { viewport: { width: 1_440, height: 1_000 } });
    const others = Array.from({ length: 30 }, (_, index) => 900 + index);
    await fresh.route('**/metrics', async (route) => {
      const response = await route.fetch();
      const breaker = others.map((asset) => `ringbook_breaker_open{asset="${asset}",source="oracle"}`);
      const lines = breaker.map((name, index) => `${name} ${index === 29 ? 1 : 0}`);
      lines.push('ringbook_oracle_age_seconds{asset="929"} 4000');
      await route.fulfill({ response, body: `${await response.text()}${lines.join('\n')}\n` });
    });
    await fresh.goto(`${node.ops}/`);
    const textOf = async (name: string): Promise<string> => {
      const row = fresh.locator('#chains tbody tr', { has: fresh.getByRole('rowheader', { name, exact: true }) });
      return (await row.allInnerTexts()).join('\n');
    };
    await fresh.getByRole('rowheader', { name: '929', exact: true }).waitFor();
    assert.match(await textOf('929'), /broken, 4,000 s old/);
    assert.match(await textOf('900'), /no price/);
    assert.match(await textOf('1'), /\d s|\d ms/);
    const names = await fresh.locator('#chains tbody th').allInnerTexts();
    assert.ok(names.indexOf('929') < names.indexOf('1'), names.join(' '));
    assert.match(names.at(-1) ?? '', /^\d+ more$/);
    await fresh.close();
  });

  test('until one is chosen, the path on display is that of an action that the window has', async () => {
    const { page: fresh } = await openPage(browser, { viewport: { width: 1_440, height: 1_000 } });
    await fresh.route('**/metrics', async (route) => {
      const response = await route.fetch();
      const text = (await response.text()).replaceAll('action="create"', 'action="no-such"');
      await route.fulfill({ response, body: text });
    });
    await fresh.goto(`${node.ops}/`);
    await fresh.locator('#path .total', { hasText: /p50 .+, p99 .+\/s$/ }).waitFor();
    assert.equal(await fresh.locator('#path input[value=create]').isChecked(), false);
    await fresh.getByText('Create', { exact: true }).click();
    await fresh.locator('#path .empty', { hasText: 'No order in this window' }).waitFor();
    await fresh.waitForTimeout(2_500);
    assert.equal(await fresh.locator('#path input[value=create]').isChecked(), true, 'a choice stays');
    await fresh.close();
  });

  test('a node that ends is reported, what was read stays, and its next start is shown without a reload', async () => {
    const { dataDirectory, ops } = node;
    assert.equal(await stopNode(node), 0);
    await page.locator('#trouble', { hasText: 'does not answer' }).waitFor();
    await page.locator('#state.fault').waitFor();
    assert.ok((await row('durability', 'Last flushed record')).length > 0);

    node = await startNode({ profile: 'dev', dataDirectory, env: { RINGBOOK_OPS_PORT: new URL(ops).port } });
    await page.locator('#state.good').waitFor();
    await page.locator('#trouble').waitFor({ state: 'hidden' });
    // Counters have fallen: nothing of the node before counts.
    await untilRow('traffic', 'Confirmed', ([, inWindow = '', all = '']) => inWindow === '0' && all === '0');
  });
});
