// tier: full, 3 s
/** `POST /dev/faucet`: a dev node fills up the account of any key, once; no other node has the route. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import { generateSeed, keyFromSeed } from '../../src/client/keys.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

async function ask(node: NodeProcess, body: string): Promise<readonly [number, string]> {
  const response = await fetch(`${node.oms}/dev/faucet`, { method: 'POST', body });
  return [response.status, await response.text()];
}

suite('the faucet of the page', () => {
  let node: NodeProcess;

  before(async () => {
    node = await startNode({ profile: 'dev' });
  });

  after(async () => {
    if (node === undefined) return;
    await stopNode(node, 'SIGKILL');
    removeDirectory(node.dataDirectory);
  });

  test('fills a new key up to fixed balances, and only what is missing afterwards', async () => {
    const key = keyFromSeed(generateSeed());
    const body = JSON.stringify({ user_id: key.userId });
    const replies = await Promise.all([ask(node, body), ask(node, body)]);
    assert.deepEqual(replies.map(([status]) => status).sort(), [200, 429], 'two at once credit once');
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key });
    await client.login();
    const spot = async (): Promise<unknown> => Object.fromEntries((await client.inventory()).get(1)?.spot ?? []);
    assert.deepEqual(await spot(), { 0: '100000', 1: '1', 2: '25' });
    assert.deepEqual(await ask(node, body), [200, '{"sub_account":1,"credited":[]}']);
    const order = await client.order({ assetId: '2', side: 'Sell', price: '3000', quantity: '1' });
    assert.equal((await client.create(order)).status, 'Received');
    client.close();
  });

  test('a body without a user id, or with more, is refused by name', async () => {
    for (const body of ['{}', '{"user_id":"ab"}', '{"user_id":1}', '[]', 'x']) {
      assert.equal((await ask(node, body))[0], 400, body);
    }
    const [status, text] = await ask(node, '{"user_id":"ab","amount":"1"}');
    assert.deepEqual([status, /"field":"amount"/.test(text)], [400, true]);
  });

  test('a node of another profile has no faucet', async () => {
    const plain = await startNode({ profile: 'test' });
    try {
      assert.equal((await ask(plain, JSON.stringify({ user_id: '01'.repeat(32) })))[0], 404);
      assert.doesNotMatch(await (await fetch(`${plain.oms}/`)).text(), /data-faucet|data-keys/);
    } finally {
      await stopNode(plain, 'SIGKILL');
      removeDirectory(plain.dataDirectory);
    }
  });
});
