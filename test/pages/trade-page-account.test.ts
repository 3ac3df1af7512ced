// tier: full, 19 s
/**
 * What a user of the trading page does beyond a first trade: the keyboard alone, child orders, triggers, accounts and
 * withdrawals; and what the page shows of hostile or long names, of frames that come twice, and of a connection that fell silent.
 * Skipped with a message where there is no Chromium.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page, WebSocketRoute } from 'playwright-core';
import type { RingbookClient } from '../../src/client/client.ts';
import { browserOptions, launchBrowser, type OpenPage, openPage } from '../support/browser.ts';
import { type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory } from '../support/temporary-directory.ts';
import { clientOf, connectAs, field, live, rest, row, textOf, until } from '../support/trade-page.ts';

const HOSTILE = '<img/src=x/onerror=alert(1)>';
const LONG = 'SYMBOLOFTHIRTYTWOCHARACTERSINALL';
const MARKETS = 20;
const ID_OF_HOSTILE = 30;
const ID_OF_LONG = 31;
/** Twice the time after which a silent stream is given up (page/trade/stream.js). */
const SILENCE_MS = 90_000;

suite('the account on the trading page', browserOptions, () => {
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
    await maker.cancelAll();
  });

  async function opened(options: BrowserContextOptions = {}, market = '2'): Promise<OpenPage> {
    const found = await openPage(browser, options);
    await found.page.goto(`${node.oms}/#${market}`);
    await live(found.page);
    return found;
  }

  async function list(id: number, symbol: string, market: object): Promise<void> {
    const token = id.toString(16).padStart(2, '0').repeat(20);
    const tokens = [{ token, chain_id: '000000000000007a69', decimals: 18 }];
    const asset = await operator(node, 'PUT', `/operator/assets/${id}`, { symbol, tokens });
    assert.equal(asset.status, 200, asset.text);
    const made = await operator(node, 'PUT', `/operator/markets/${id}`, market);
    assert.equal(made.status, 200, made.text);
  }

  /** Presses Tab until the focus is on what the selector finds. */
  async function tabTo(page: Page, selector: string): Promise<void> {
    for (let presses = 0; presses < 80; presses += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
    }
    assert.fail(`Tab does not reach ${selector}`);
  }

  test('with the keyboard alone: a key, an order by a shortcut, its cancel; typing begins no order', async () => {
    const { page, complaints } = await opened();
    await tabTo(page, '#key-button');
    await page.keyboard.press('Enter');
    const userB = page.getByRole('button', { name: 'User b' });
    for (let presses = 0; presses < 9; presses += 1) {
      if (await userB.evaluate((button) => button.matches(':focus'))) break;
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Space');
    await page.locator('#key-dialog').waitFor({ state: 'hidden' });
    await live(page);
    // A click or a key on a choice leaves the focus there: the shortcuts go on.
    await page.locator('#ticket input[value=Buy]').focus();
    await page.keyboard.press('s');
    assert.ok(await page.locator('#ticket input[value=Sell]').isChecked());
    await page.keyboard.press('Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.type('3900');
    await page.keyboard.press('Tab');
    await page.keyboard.type('0.5b');
    assert.ok(await page.locator('#ticket input[value=Sell]').isChecked(), 'a letter in a field is text');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Enter');
    await row(page, 'Open orders', '3,900.00').waitFor();
    await tabTo(page, 'td.actions button:last-child');
    await page.keyboard.press('Enter');
    await page.getByText('No open orders.').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('single keys are listed by ?, and are off after a choice that this browser keeps (WCAG 2.1.4)', async () => {
    const { page } = await opened();
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard' });
    await dialog.getByText('begin a sale').waitFor();
    await dialog.getByLabel('Single keys outside of fields').uncheck();
    await page.keyboard.press('Escape');
    await page.keyboard.press('s');
    assert.ok(await page.locator('#ticket input[value=Buy]').isChecked());
    await page.reload();
    await live(page);
    await page.keyboard.press('s');
    assert.ok(await page.locator('#ticket input[value=Buy]').isChecked());
  });

  test('what open orders hold is not available, before and after a reload', async () => {
    const { page } = await opened();
    await connectAs(page, 'User b');
    await live(page);
    const shown = page.locator('#ticket .available').first();
    const available = async (): Promise<number> =>
      Number(/[\d,.]+/.exec(await textOf(shown))?.[0].replaceAll(',', '') ?? Number.NaN);
    await until('a figure', async () => (await available()) > 0);
    const first = await available();
    await field(page, 'Price').fill('1000');
    await field(page, 'Size').fill('3');
    // Signed is twice the rate of a taker, for what may rest; the page shows what that permits (MON-15).
    await page.locator('#ticket .available', { hasText: 'fee 1.35 now, at most 2.70' }).waitFor();
    await page.locator('.reading', { hasText: 'fees up to 0.09 %' }).waitFor();
    await page.getByRole('button', { name: 'Buy ETH' }).click();
    await row(page, 'Open orders', '1,000.00').waitFor();
    // 3,000 USD, and 0.045 % for the fee of a taker.
    const held = async (): Promise<number> => Math.round((first - (await available())) * 100) / 100;
    await until('3,001.35 USD are held', async () => (await held()) === 3_001.35);
    await page.reload();
    await connectAs(page, 'User b');
    await live(page);
    await until('they are held after a reload', async () => (await held()) === 3_001.35);
    await page.getByRole('button', { name: 'Cancel all' }).click();
    await until('nothing is held', async () => (await held()) === 0);
  });

  test('entries of a quote set show its name, as they come and after a reload, and cannot be edited (QTE-06)', async () => {
    const { page } = await opened();
    await connectAs(page, 'User a');
    await live(page);
    const answer = await maker.setQuotes({ assetId: '2', setId: 'mine', bids: [['1000', '0.1']], asks: [] });
    assert.deepEqual([answer.status, answer.created], ['Received', 1]);
    for (const when of ['as it comes', 'after a reload']) {
      if (when !== 'as it comes') {
        await page.reload();
        await connectAs(page, 'User a');
        await live(page);
      }
      const entry = row(page, 'Open orders', 'quote set mine');
      await entry.waitFor();
      assert.match(await textOf(entry), /1,000\.00/, when);
      assert.equal(await entry.getByRole('button', { name: 'Edit' }).count(), 0, when);
      assert.equal(await entry.getByRole('button', { name: 'Cancel' }).count(), 1, when);
    }
    await maker.endQuotes('2', 'mine');
    await row(page, 'Open orders', 'quote set mine').waitFor({ state: 'detached' });
  });

  test('a child order is made by choosing its parent, and the price of its trigger is moved by Edit', async () => {
    const { page } = await opened();
    await connectAs(page, 'User b');
    await live(page);
    const ticket = page.locator('#ticket');
    await field(page, 'Price').fill('1100');
    await field(page, 'Size').fill('1');
    await page.getByRole('button', { name: 'Buy ETH' }).click();
    await row(page, 'Open orders', '1,100.00').waitFor();
    await ticket.locator('input[value=Sell]').check();
    await ticket.getByText('Trigger, parent, fee limit').click();
    assert.equal(await field(page, 'Parent order').isVisible(), false);
    await field(page, 'Release').selectOption('PriceBelow');
    await field(page, 'Trigger price').fill('1050');
    await field(page, 'Price').fill('1040');
    const parents = field(page, 'Parent order');
    assert.match(await textOf(parents.locator('option').nth(1)), /^Buy 1\.0000 at 1,100\.00 \(/);
    await parents.selectOption({ index: 1 });
    await page.locator('.reading', { hasText: 'with order' }).waitFor();
    await page.getByRole('button', { name: 'Sell ETH' }).click();
    const child = row(page, 'Open orders', '≤ 1,050.00');
    await child.waitFor();
    assert.match(await textOf(child), /Untriggered, child of /);
    await child.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Trigger price').fill('1060');
    await dialog.getByRole('button', { name: 'Sign and replace' }).click();
    await row(page, 'Open orders', '≤ 1,060.00').waitFor();
    await page.getByRole('button', { name: 'Cancel all' }).click();
    await page.getByText('No open orders.').waitFor();
  });

  test('a transfer creates an account, which gets a name; a withdrawal is in the queue, and is cancelled there', async () => {
    const { page, complaints } = await opened();
    await page.locator('#key-button').click();
    await page.getByRole('button', { name: 'Make a new key' }).click();
    await page.getByRole('button', { name: 'Use this key' }).click();
    await live(page);
    await page.getByRole('tab', { name: 'Funds' }).click();
    await page.getByRole('button', { name: 'Get test funds' }).click();
    await row(page, 'Balances', '100,000').waitFor();
    const form = (name: string) => page.locator('.fund-form', { hasText: name });
    await form('Deposit').getByText('deposit(user, token, amount)').waitFor();

    const transfer = form('Transfer between accounts');
    await transfer.getByLabel('From').selectOption('1');
    await transfer.getByLabel('To').selectOption({ label: 'new account 2: margin of ETH only' });
    await transfer.getByLabel('Amount').fill('250');
    await transfer.getByRole('button').click();
    await row(page, 'Balances', '250').waitFor();
    const naming = form('Name of an account');
    await naming.getByLabel('New name').fill('Hedge <b>');
    await naming.getByRole('button').click();
    await row(page, 'Balances', '2 · Hedge <b>').waitFor();

    // Account 0 pays withdrawals.
    await transfer.getByLabel('From').selectOption('1');
    await transfer.getByLabel('To').selectOption('0');
    await transfer.getByLabel('Amount').fill('500');
    await transfer.getByRole('button').click();
    await row(page, 'Balances', '0 · Spot').filter({ hasText: '500' }).waitFor();
    const hold = { fault: { kind: 'withhold_checkpoints', chain_id: '000000000000007a69' } };
    assert.equal((await operator(node, 'POST', '/operator/clearing', hold)).status, 200);
    const withdrawal = form('Withdraw');
    await withdrawal.getByLabel('Token').selectOption({ label: 'USD on chain 31337' });
    await withdrawal.getByLabel('Amount').fill('20');
    await withdrawal.getByLabel('To the address').fill('0x12');
    await withdrawal.getByRole('button').click();
    await withdrawal.getByText('40 or 64 hex digits').waitFor();
    await withdrawal.getByLabel('To the address').fill(`0x${'7c'.repeat(20)}`);
    await withdrawal.getByRole('button').click();
    await row(page, 'Withdrawals', `0x${'7c'.repeat(20)}`).waitFor();
    const queued = row(page, 'Withdrawals', 'USD on chain 31337');
    assert.match(await textOf(queued), /20/);
    await queued.getByRole('button', { name: 'Cancel' }).click();
    await row(page, 'Withdrawals', 'cancelled').waitFor();
    await row(page, 'Balances', '0 · Spot').filter({ hasText: '500' }).waitFor();
    assert.deepEqual(complaints, []);
    // Hex without a letter would be a whole other amount to a node that reads base 10.
    await operator(node, 'PATCH', '/operator/settings', { amount_text: 'decimal' });
    assert.match((18n * 10n ** 14n).toString(16), /^[0-9]+$/);
    await withdrawal.getByLabel('Amount').fill('0.0018');
    await withdrawal.getByRole('button').click();
    await withdrawal.getByText('an amount above zero in the number format of this node').waitFor();
    await operator(node, 'PATCH', '/operator/settings', { amount_text: 'hex' });
    await row(page, 'Balances', '0 · Spot').filter({ hasText: '500' }).waitFor();
    await operator(node, 'POST', '/operator/clearing', { release: true });
  });

  test('long and hostile symbols are text, and push nothing off the screen, from a phone to a wide screen', async () => {
    const decimals = { book_price_decimals: 8, book_quantity_decimals: 0 };
    for (let id = 10; id < 10 + MARKETS; id += 1) await list(id, `M${id}`, decimals);
    await list(ID_OF_HOSTILE, HOSTILE, { ...decimals, status: 'Halted' });
    await list(ID_OF_LONG, LONG, decimals);
    await rest(maker, 'Buy', '900');
    for (const market of [ID_OF_HOSTILE, ID_OF_LONG]) {
      const { page, complaints } = await opened({ viewport: { width: 1_280, height: 720 } }, `${market}`);
      await connectAs(page, 'User a');
      await live(page);
      await page.getByText(market === ID_OF_LONG ? 'Rules of this market' : 'it takes no orders').waitFor();
      assert.equal(await page.locator('img').count(), 1, 'the mark of the page and nothing else');
      // Even a script of the page cannot turn text into markup.
      const refused = await page.evaluate<string>(
        `(() => { try { document.createElement('p').innerHTML = '<b>'; return ''; } catch (error) { return error.name; } })()`,
      );
      assert.equal(refused, 'TypeError');
      for (const width of [360, 768, 1_024, 1_280, 1_440, 1_920, 2_560]) {
        await page.setViewportSize({ width, height: 800 });
        const parts = width < 500 ? ['Chart', 'Book', 'Trades', 'Order', 'Account'] : [''];
        for (const part of parts) {
          if (part !== '') await page.locator('#views').getByText(part).click();
          assert.deepEqual(await outOfReach(page), [], `${width} px, ${part}`);
        }
      }
      assert.deepEqual(
        complaints.filter((text) => !text.includes('TrustedHTML')),
        [],
      );
      await page.context().close();
    }
  });

  test('notes do not cover the ticket, where an order is being entered', async () => {
    const { page } = await opened();
    for (const width of [768, 1_024, 1_280, 2_560]) {
      await page.setViewportSize({ width, height: 720 });
      const edges = `['#notes', '#ticket'].map((part) => document.querySelector(part).getBoundingClientRect())`;
      const isBeside = await page.evaluate<boolean>(`(([notes, ticket]) => notes.right <= ticket.left)(${edges})`);
      assert.ok(isBeside, `${width} px`);
    }
  });

  test('every part is on display at every width: none is lost between a phone and a wide screen', async () => {
    const { page } = await opened();
    for (const width of [720, 768, 1_024, 1_200, 1_280, 2_560]) {
      await page.setViewportSize({ width, height: 900 });
      for (const part of ['chart', 'book', 'tape', 'ticket', 'account'])
        assert.ok(await page.locator(`#${part}`).isVisible(), `${part} at ${width} px`);
      const choices = page.locator('.picker, #markets').filter({ visible: true });
      assert.equal(await choices.count(), 1, `a choice of markets at ${width} px`);
    }
  });

  test('a trade that the read has already is not shown again when its frame comes', async () => {
    const { page } = await openPage(browser);
    const held: (() => void)[] = [];
    let isHolding = true;
    await page.routeWebSocket(/\/market-data\/trades\/2$/, (socket: WebSocketRoute) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        if (isHolding) held.push(() => socket.send(message));
        else socket.send(message);
      });
    });
    let release = (): void => undefined;
    const traded = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/trades\/2\?/, async (route) => {
      await traded;
      await route.continue();
    });
    await page.goto(`${node.oms}/#2`);
    await live(page);
    await rest(maker, 'Sell', '2345.67', '1');
    const taker = await clientOf(node, 'b');
    const before = held.length;
    await rest(taker, 'Buy', '2345.67', '1');
    taker.close();
    await until('the frame of the trade waits', async () => held.length > before);
    release();
    const same = page.locator('#tape li:visible', { hasText: '2,345.67' });
    await same.first().waitFor();
    isHolding = false;
    for (const send of held) send();
    await rest(maker, 'Sell', '2345.68', '1');
    const second = await clientOf(node, 'b');
    await rest(second, 'Buy', '2345.68', '1');
    second.close();
    await page.locator('#tape li:visible', { hasText: '2,345.68' }).waitFor();
    assert.equal(await same.count(), 1);
  });

  test('a stream that has fallen silent without a close is opened again', async () => {
    const { page } = await openPage(browser);
    let opens = 0;
    await page.clock.install();
    await page.routeWebSocket(/\/marketdepth\/diff\/2$/, (socket: WebSocketRoute) => {
      opens += 1;
      // The first one is a connection that nothing comes from and nothing arrives at.
      if (opens > 1) socket.connectToServer();
    });
    await page.goto(`${node.oms}/#2`);
    await until('the book is open', async () => opens === 1);
    await page.clock.runFor(SILENCE_MS);
    await until('the book is opened again', async () => opens > 1);
    await page.clock.resume();
    await live(page);
  });
});

/** Controls whose middle is covered, or beyond the screen, without a way to scroll to them. */
function outOfReach(page: Page): Promise<string[]> {
  return page.evaluate(
    `(() => {
      if (document.documentElement.scrollWidth > innerWidth) return ['the page is wider than the screen'];
      const far = [];
      for (const control of document.querySelectorAll('#ticket input, #ticket button, .tools button, td.actions button, .picker, .market-list .last')) {
        if (!control.checkVisibility() || control.getBoundingClientRect().width === 0) continue;
        control.scrollIntoView({ block: 'nearest', inline: 'nearest' });
        const { left, right } = control.getBoundingClientRect();
        if (left < 0 || right > innerWidth + 0.5) far.push(control.className + ' ' + (control.textContent || control.name || control.id));
        const panel = control.closest('.panel, .bar').getBoundingClientRect();
        if (right > panel.right + 0.5) far.push('beyond its panel: ' + control.className + ' ' + control.textContent);
      }
      // The last price of the market on display is in sight at every width.
      const [price, bar] = ['.stats > .last', '.bar'].map((one) => document.querySelector(one).getBoundingClientRect());
      if (price.bottom > bar.bottom || price.right > innerWidth) far.push('the last price');
      scrollTo(0, 0);
      return far;
    })()`,
  );
}
