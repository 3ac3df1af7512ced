// tier: quick
/** A planned stop of a node on every kind of connection of the SDK: announced, then closed. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import type { Closed } from '../../src/client/connection-events.ts';
import { devKey } from '../../src/client/keys.ts';
import type { OrderEvent } from '../../src/client/order-events.ts';
import { startNode, stopNode } from '../support/node-process.ts';
import { seenAtLast } from '../support/patience.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

suite('connections of a node that stops', () => {
  test('every private one receives the announcement, then 1001; order events have their times (WS-04)', async () => {
    const node = await startNode({ profile: 'dev' });
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
    const announced: string[] = [];
    const ends = new Map<string, Closed>();
    const reporting = (name: string) => ({
      onShutdown: ({ timestampNs }: { timestampNs: bigint }) => {
        assert.ok(timestampNs > 1_700_000_000_000_000_000n);
        announced.push(name);
      },
      onClosed: (closed: Closed) => void ends.set(name, closed),
    });
    try {
      const control = await client.control(reporting('v1'));
      await client.control({ version: 'binary', ...reporting('binary') });
      const options = { reconnect: false };
      const events = await client.orderEvents({ ...options, ...reporting('orders') });
      await client.userTrades({ ...options, resume: true, ...reporting('trades') });
      await client.account.events({ ...options, ...reporting('account') });
      await client.margin.positionStream({ ...options, ...reporting('positions') });
      await client.margin.figureStream({ ...options, ...reporting('figures') });
      const market = await client.tradeEvents({ ...options, ...reporting('market data') });

      const before = client.nowNs() - 60_000_000_000n;
      const order = await client.order({ assetId: '1', side: 'Sell', price: '64000', quantity: '0.01' });
      await control.send(client.signCreate(order));
      await control.send(await client.signReplace({ assetId: '1', orderId: order.orderId, price: '64100' }));
      await control.send(client.signCancel('1', order.orderId));
      const seen: OrderEvent[] = [];
      for await (const event of events) {
        seen.push(event);
        if (event.kind === 'Canceled') break;
      }
      assert.deepEqual(
        seen.map(({ kind }) => kind),
        ['Created', 'Replaced', 'Canceled'],
      );
      for (const { kind, timestampNs } of seen) assert.ok(timestampNs > before, kind);
      const privateOnes = ['account', 'binary', 'figures', 'positions', 'trades', 'v1'];
      await stopNode(node, 'SIGTERM');
      assert.ok(
        await seenAtLast(() => (ends.size === privateOnes.length + 2 ? true : undefined)),
        [...ends.keys()].join(),
      );
      assert.deepEqual(announced.toSorted(), privateOnes);
      for (const name of privateOnes) {
        const { code, error, isShutdown } = ends.get(name) ?? { code: 0, error: null, isShutdown: false };
        assert.deepEqual([code, error, isShutdown], [1001, null, true], name);
      }
      assert.deepEqual(ends.get('orders')?.isShutdown, false, 'the loop above closed it before the stop');
      assert.equal(ends.get('market data')?.isShutdown, false);
      assert.deepEqual(await market.next(), { done: true, value: undefined });
      assert.equal(control.isOpen, false);
    } finally {
      client.close();
      await stopNode(node, 'SIGKILL');
      removeDirectory(node.dataDirectory);
    }
  });
});
