/**
 * The reference page in a browser: a trade by nothing but clicks. Skipped with a message where there is no Chromium.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { ChromiumPage, findChromium } from '../support/chromium.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

const chromium = findChromium();
const options = chromium === null ? { skip: 'no Chromium here; RINGBOOK_CHROMIUM names one' } : {};
const CREATE = "document.querySelector('#post_orders_create')";

const click = (label: string, inside = 'document'): string =>
  `[...${inside}.querySelectorAll('button')].find((one) => one.textContent === '${label}').click()`;

suite('the reference page in a browser', options, () => {
  let node: NodeProcess;
  let page: ChromiumPage;

  before(async () => {
    node = await startNode({ profile: 'dev' });
    page = await ChromiumPage.start(chromium ?? '');
  });

  after(async () => {
    if (node !== undefined) await stopNode(node, 'SIGKILL');
    if (node !== undefined) removeDirectory(node.dataDirectory);
    await page?.close();
  });

  async function logInAs(name: string): Promise<string> {
    await page.evaluate(click(`User ${name}`));
    await page.until("document.querySelector('.state .good')!==null");
    return String(await page.evaluate("document.querySelector('.state code').textContent"));
  }

  async function send(): Promise<string> {
    await page.evaluate(`${CREATE}.querySelector('.result').replaceChildren()`);
    await page.evaluate(click('Sign and send', CREATE));
    return String(await page.until(`${CREATE}.querySelector('.result b').textContent`));
  }

  test('two users trade, signed in the page, and the page shows it as it happens (DOC-03)', async () => {
    await page.open(`${node.oms}/api-reference#post_orders_create`);
    await page.until(`${CREATE}.querySelector('textarea').value`);
    const seller = await logInAs('a');
    assert.equal(await send(), '200');
    await page.until("document.querySelector('.live').innerText.includes('Created')");

    const buyer = await logInAs('b');
    assert.notEqual(buyer, seller);
    const body = String(await page.evaluate(`${CREATE}.querySelector('textarea').value`));
    assert.ok(body.includes(buyer) && !body.includes(seller), body);
    await page.evaluate(
      `(() => { const area = ${CREATE}.querySelector('textarea'); area.value = area.value.replace('"Sell"', '"Buy"') })()`,
    );
    assert.equal(await send(), '200');
    await page.until("document.querySelector('.live').innerText.includes('Trade Pending')");
    await page.until("document.querySelector('.live').innerText.includes('Trade Confirmed')");
  });

  test('a refusal of what was typed is reported before anything is sent', async () => {
    const before = page.requested.length;
    await page.evaluate(
      `(() => { const area = ${CREATE}.querySelector('textarea'); area.value = area.value.replace('page-', 'no good ') })()`,
    );
    await page.evaluate(click('Sign and send', CREATE));
    await page.until(`${CREATE}.querySelector('.result').innerText.includes('order_id: expected')`);
    assert.equal(page.requested.length, before);
  });

  test('the page of market data listens to a book (DOC-04)', async () => {
    const card = "document.querySelector('#stream-marketdepth_diff_asset_id')";
    await page.open(`${node.mds}/api-reference#stream-marketdepth_diff_asset_id`);
    await page.until(`${card}.querySelector('.try')`);
    await page.evaluate(click('Listen', card));
    await page.until(`${card}.querySelector('.frames').innerText.includes('marketdepth')`);
  });

  test('no other host was contacted, no seed left the page, and the browser reported no error', () => {
    const hosts = new Set(page.requested.filter((url) => url !== 'about:blank').map((url) => new URL(url).host));
    assert.deepEqual(hosts, new Set([new URL(node.oms).host, new URL(node.mds).host]));
    assert.ok(page.requested.every((url) => !url.includes('01'.repeat(16)) && !url.includes('02'.repeat(16))));
    assert.deepEqual(page.complaints, []);
  });
});
