// tier: full, 4 s
/**
 * A node whose market does not keep up, with a bound on the wait of orders: what cannot be sent in time is refused unread,
 * leaves nothing behind and is accepted later as it is; cancels are served meanwhile.
 */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';

import { ETH } from '../support/names.ts';
import { metricOf, type NodeProcess, operator, startNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const WAIT_MS_MAX = 50;
const REFUSED = 40;
const SHED = 'ringbook_orders_shed_total{stage="market"}';

suite('a node that refuses orders which waited too long', () => {
  const dataDirectory = temporaryDirectory();
  let node: NodeProcess;
  let a: RingbookClient;

  before(async () => {
    const config = `${dataDirectory}/bounded-wait.json`;
    const settings = { extends: 'dev', rateLimits: 'lifted', addresses: null, orderWaitMsMax: WAIT_MS_MAX };
    writeFileSync(config, JSON.stringify(settings));
    node = await startNode({ dataDirectory, env: { RINGBOOK_CONFIG: config } });
    a = new RingbookClient({ oms: node.oms, key: devKey('a') });
    await a.login();
  });

  after(() => {
    a?.close();
    node?.child.kill('SIGKILL');
    removeDirectory(dataDirectory);
  });

  async function hook(body: object): Promise<void> {
    const answer = await operator(node, 'POST', '/operator/clearing', body);
    assert.equal(answer.status, 200, answer.text);
  }

  async function held(): Promise<string> {
    const view = await operator(node, 'GET', `/operator/users/${a.userId}`);
    const accounts = view.body['sub_accounts'] as Record<string, { balances: Record<string, { held: string }> }>;
    return accounts['1']?.balances[ETH]?.held ?? 'nothing';
  }

  test('while a market answers nothing, orders are refused without a trace and the same bytes are accepted afterwards; no cancel is refused', async () => {
    const order = () => a.order({ assetId: ETH, side: 'Sell', price: '3600', quantity: '0.1' });
    const resting = await order();
    // A node that has just started may take longer than the bound for its first order.
    await eventually(async () => (await a.create(resting).catch(() => null))?.status === 'Received');
    const before = await held();
    await hook({ fault: { kind: 'stall_market', asset_id: ETH } });
    const control = await a.control();
    const stuck = control.send(a.signCreate(await order()));
    const atMarket = 'ringbook_mailbox_depth{actor="market-0"}';
    await eventually(async () => (await metricOf(node, atMarket)) === 1);
    const heldByBoth = await held();
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS_MAX));

    const signed = await Promise.all(Array.from({ length: REFUSED }, async () => a.signCreate(await order())));
    const refused = await Promise.all(signed.map((action) => control.send(action)));
    assert.deepEqual(new Set(refused.map(({ reason }) => reason)), new Set(['ServiceUnavailable']));
    await assert.rejects(a.create(await order()), { code: 'SERVICE_UNAVAILABLE', status: 503, retryable: true });
    assert.deepEqual([before, await held()], [before, heldByBoth], 'no refused order holds anything');
    assert.equal(await metricOf(node, SHED), REFUSED + 1);

    const cancelled = control.send(a.signCancel(ETH, resting.orderId));
    await eventually(async () => (await metricOf(node, atMarket)) === 2);
    await hook({ release: true });
    assert.equal((await cancelled).status, 'Received');
    assert.equal(
      (await stuck).status,
      'Received',
      'an order that was sent to its market gets the answer of the market',
    );
    for (const action of signed) {
      await eventually(async () => (await control.send(action)).status === 'Received');
    }
    control.close();
  });
});
