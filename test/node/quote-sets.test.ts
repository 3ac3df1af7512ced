// tier: full
/** Quote sets through a whole node: signed, applied, filled, killed between set and fill (QTE-01 to QTE-08). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { ETH } from '../support/names.ts';
import { barrier, type NodeProcess, startNode, stopNode } from '../support/node-process.ts';

function clientOf(node: NodeProcess, name: 'a' | 'b'): RingbookClient {
  return new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey(name) });
}

async function openEntries(client: RingbookClient): Promise<readonly (readonly [string, string, string])[]> {
  const { items } = await client.orders({ limit: 1_000 });
  return items
    .filter(({ status, orderId }) => /Open|PartiallyFilled/.test(status) && orderId.startsWith('mm:'))
    .map(({ orderId, quantity, confirmedFilledQuantity }) => [orderId, `${quantity}`, confirmedFilledQuantity] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

suite('quote sets on a node', () => {
  test('QTE-08: a set is applied, filled and kept over a kill: what was signed less its confirmed fills', async () => {
    const node = await startNode({ profile: 'dev' });
    const [a, b] = [clientOf(node, 'a'), clientOf(node, 'b')];
    await a.login();
    await b.login();
    const ticket = { assetId: ETH, setId: 'mm' };
    const bids = [
      ['2990', '0.02'],
      ['2980', '0.02'],
    ] as const;
    const asks = [['3010', '0.02']] as const;
    const first = await a.setQuotes({ ...ticket, bids, asks });
    assert.deepEqual([first.status, first.created, first.kept], ['Received', 3, 0]);
    await b.create(await b.order({ assetId: ETH, side: 'Sell', price: '2990', quantity: '0.01' }));
    await barrier(node);
    assert.deepEqual(await openEntries(a), await openEntries(a));
    const before = await openEntries(a);
    assert.equal(before.length, 3);
    await stopNode(node, 'SIGKILL');
    for (const client of [a, b]) client.close();

    const again = await startNode({ profile: 'dev', dataDirectory: node.dataDirectory });
    const [c, d] = [clientOf(again, 'a'), clientOf(again, 'b')];
    await c.login();
    await d.login();
    assert.deepEqual(await openEntries(c), before, 'entries rest what they did, and keep their ids');
    // The same again rests all of it again; the other entries keep their orders.
    const second = await c.setQuotes({ ...ticket, bids, asks });
    assert.deepEqual([second.status, second.created, second.changed, second.kept], ['Received', 0, 1, 2]);
    await d.create(await d.order({ assetId: ETH, side: 'Sell', price: '2990', quantity: '0.02' }));
    await barrier(again);
    const ended = await c.setQuotes({ ...ticket, bids: [], asks: [] });
    assert.deepEqual([ended.status, ended.cancelled], ['Received', 2]);
    await barrier(again);
    assert.deepEqual(await openEntries(c), []);
    for (const client of [c, d]) client.close();
    assert.equal(await stopNode(again), 0);
  });
});
