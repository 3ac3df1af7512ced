// tier: full
/** Quote sets of the SDK against a node: over REST and over `/control` in every version (QTE-01, QTE-06, QTE-09). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import type { ControlVersion } from '../../src/client/control.ts';
import { generateSeed, keyFromSeed } from '../../src/client/keys.ts';
import { OperatorClient } from '../../src/client/operator.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

const TARGET = { account: 0, isSpot: true };
const VERSIONS: readonly ControlVersion[] = ['v0', 'v1', 'short', 'binary'];

suite('quote sets of the SDK', () => {
  let node: NodeProcess;
  let operator: OperatorClient;
  let client: RingbookClient;

  before(async () => {
    node = await startNode({ profile: 'dev' });
    operator = new OperatorClient(node.ops);
    client = new RingbookClient({ oms: node.oms, key: keyFromSeed(generateSeed()) });
    await operator.putAsset('900', 'QUO');
    const figures = { priceDecimals: 2, quantityDecimals: 4, tickSize: '0.01', minOrderSize: '0.001' };
    await operator.putMarket('900', { ...figures, makerFeeRate: 0, takerFeeRate: 0 });
    await client.login();
    for (const assetId of ['0', '900'])
      await operator.faucet({ userId: client.userId, subAccount: 0, assetId, amount: '1000000' });
    await operator.barrier(30_000);
  });
  after(async () => {
    client?.close();
    operator?.close();
    await stopNode(node);
    removeDirectory(node.dataDirectory);
  });

  test('QTE-01: over REST a set is made, moved and ended; reads name it', async () => {
    const ticket = { assetId: '900', setId: 'sdk', target: TARGET };
    const first = await client.setQuotes({
      ...ticket,
      bids: [
        ['99', '1'],
        ['98.5', '2'],
      ],
      asks: [['101', '1']],
    });
    assert.deepEqual([first.status, first.created, first.superseded], ['Received', 3, false]);
    const { items } = await client.orders({ openOnly: true });
    assert.deepEqual([...new Set(items.map(({ quoteSetId }) => quoteSetId))], ['sdk']);
    const poor = await client.setQuotes({
      ...ticket,
      bids: [
        ['99', '0.5'],
        ['98', '100000000'],
      ],
      asks: [],
    });
    assert.deepEqual(
      [poor.status, poor.reason, poor.changed, poor.cancelled],
      ['Rejected', 'InsufficientInventory', 1, 2],
    );
    const ended = await client.endQuotes('900', 'sdk', TARGET);
    assert.equal(ended.cancelled, 1);
  });

  test('QTE-01: a set that the node would refuse for its figures is refused before it is sent', async () => {
    const ticket = { assetId: '900', setId: 'sdk', target: TARGET };
    for (const [bids, asks] of [
      [
        [
          ['99', '1'],
          ['99', '1'],
        ],
        [],
      ],
      [[['99', '1']], [['99', '1']]],
      [[['99', '0']], []],
    ] as const) {
      await assert.rejects(client.signQuotes({ ...ticket, bids, asks }), { code: 'INVALID_ARGUMENT' });
    }
  });

  for (const version of VERSIONS) {
    test(`QTE-01, UNS-03: over /control, ${version}: answers with counts, refusals and timing`, async () => {
      const control = await client.control({ version, timing: true });
      const setId = `control-${version}`;
      const ticket = { assetId: '900', setId, target: TARGET };
      const first = await control.sendQuotes(
        await client.signQuotes({
          ...ticket,
          bids: [
            ['90', '1'],
            ['89', '1'],
          ],
          asks: [['110', '1']],
        }),
      );
      assert.deepEqual([first.setId, first.status, first.created, first.kept], [setId, 'Received', 3, 0]);
      assert.ok(first.timing?.matchedNs !== undefined && first.timing.sentNs !== null);
      const moved = await control.sendQuotes(
        await client.signQuotes({
          ...ticket,
          bids: [
            ['90', '1'],
            ['88', '1'],
          ],
          asks: [['110', '2']],
        }),
      );
      assert.deepEqual([moved.created, moved.changed, moved.kept, moved.cancelled], [1, 1, 1, 1]);
      const poor = await control.sendQuotes(
        await client.signQuotes({ ...ticket, bids: [['90', '100000000']], asks: [] }),
      );
      assert.deepEqual([poor.status, poor.detail?.code, poor.cancelled], ['Rejected', 'INSUFFICIENT_INVENTORY', 2]);
      // A replay of an older revision changes nothing.
      const old = await client.signQuotes({ ...ticket, bids: [['90', '1']], asks: [] });
      const newer = await client.signQuotes({ ...ticket, bids: [], asks: [] });
      assert.equal((await control.sendQuotes(newer)).status, 'Received');
      assert.equal((await control.sendQuotes(old)).reason, 'RequestTooOld');
      control.close();
    });
  }

  test('QTE-09: a connection with cancel_on_disconnect takes its sets with it', async () => {
    const control = await client.control({ cancelOnDisconnect: true });
    const signed = await client.signQuotes({
      ...{ assetId: '900', setId: 'dropped', target: TARGET },
      ...{
        bids: [
          ['80', '1'],
          ['79', '1'],
        ] as const,
        asks: [],
      },
    });
    assert.equal((await control.sendQuotes(signed)).created, 2);
    control.close();
    const endMs = performance.now() + 10_000;
    let left = 2;
    while (left > 0 && performance.now() < endMs) left = (await client.orders({ openOnly: true })).items.length;
    assert.equal(left, 0);
    assert.equal(
      ((await client.sendQuotes(signed).catch((error: { code: string }) => error)) as { code?: string }).code,
      'REQUEST_TOO_OLD',
    );
  });
});
