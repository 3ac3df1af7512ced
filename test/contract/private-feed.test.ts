// tier: full, 4 s
/** The client of the private socket and of sessions that only read, against a whole node (PRV-01, RDO-01, RDO-02). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { keyFromSeed } from '../../src/client/keys.ts';
import { type PrivateFeedFrame, RingbookClient } from '../../src/client/sdk.ts';
import { eventually } from '../support/patience.ts';
import { TestNode } from '../support/test-node.ts';

const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

suite('a client that reads', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start();
  });
  after(() => node?.stop());

  const clientOf = (byte: number, scope: 'full' | 'read' = 'full'): RingbookClient =>
    new RingbookClient({ oms: node.process.oms, key: keyFromSeed(seed(byte)), nowNs: () => node.stamp(), scope });

  test('PRV-01: a session that only reads gets orders over the private socket; RDO-01: it places and cancels none', async () => {
    const [trader, watcher] = [clientOf(0x21), clientOf(0x21, 'read')];
    await trader.login();
    await node
      .operate('POST', '/operator/clearing', {
        action: 'credit',
        user_id: trader.userId,
        sub_account: 1,
        asset_id: '0',
        amount: '100000',
      })
      .catch(() => null);
    const frames: PrivateFeedFrame[] = [];
    const feed = await watcher.privateFeed(['orders', 'account_events'], (frame) => frames.push(frame));
    await eventually(() => frames.filter(({ type }) => type === 'snapshot').length === 2);
    const order = await watcher.order({ assetId: '1', side: 'Buy', price: '100', quantity: '0.01' }).catch(() => null);
    if (order !== null) {
      await assert.rejects(watcher.create(order), { code: 'READ_ONLY_SESSION' });
    }
    await assert.rejects(watcher.cancelAll(), { code: 'READ_ONLY_SESSION' });
    await assert.rejects(watcher.control(), { code: 'READ_ONLY_SESSION' });
    const sessions = await watcher.sessions();
    assert.deepEqual(
      sessions.map(({ scope }) => scope),
      ['full', 'read'],
    );
    const reading = sessions.find(({ scope }) => scope === 'read');
    await assert.rejects(watcher.endSession(reading?.id ?? ''), { code: 'READ_ONLY_SESSION' });
    await trader.endSession(reading?.id ?? '');
    assert.deepEqual(
      (await trader.sessions()).map(({ scope }) => scope),
      ['full'],
    );
    feed.close();
    trader.close();
    watcher.close();
  });
});
