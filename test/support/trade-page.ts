/** What tests of the trading page do and look for: a node's users, and parts of the page. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import type { NodeProcess } from './node-process.ts';
import { PATIENCE_MS } from './patience.ts';

export async function clientOf(node: NodeProcess, user: 'a' | 'b'): Promise<RingbookClient> {
  const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey(user) });
  await client.login();
  return client;
}

export async function rest(
  client: RingbookClient,
  side: 'Buy' | 'Sell',
  price: string,
  quantity = '1',
): Promise<string> {
  const order = await client.order({ assetId: '2', side, price, quantity });
  const { status } = await client.create(order);
  assert.equal(status, 'Received');
  return order.orderId;
}

export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; ) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`never true: ${what}`);
}

export async function textOf(locator: Locator): Promise<string> {
  return (await locator.textContent()) ?? '';
}

export function field(page: Page, label: string): Locator {
  return page.locator('#ticket').getByLabel(label, { exact: true });
}

export function row(page: Page, table: string, text: string): Locator {
  return page.getByRole('region', { name: table }).locator('tbody tr', { hasText: text }).first();
}

export async function connectAs(page: Page, name: string): Promise<void> {
  await page.locator('#key-button').click();
  await page.getByRole('button', { name }).click();
  await page.locator('#key-dialog').waitFor({ state: 'hidden' });
}

export async function live(page: Page): Promise<void> {
  await page.locator('#link-state.live').waitFor();
}
