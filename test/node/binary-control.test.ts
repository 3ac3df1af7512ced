// tier: full
/**
 * Orders in FlatBuffers through a whole node: by the SDK, beside a client of JSON, and by the Python example with the
 * `flatbuffers` package of its registry.
 */

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';

import { REJECT_CODE } from '../../src/core/reject.ts';
import { ETH } from '../support/names.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

const PYTHON_MS_MAX = 60_000;

/** Why the Python example cannot run here, or false. */
function withoutPython(): string | false {
  try {
    execFileSync('python3', ['-c', 'import flatbuffers'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'python3 with the package flatbuffers is not installed: pip install flatbuffers==25.9.23';
  }
}

suite('/control in FlatBuffers, on a dev node', () => {
  let node: NodeProcess;
  let a: RingbookClient;
  let b: RingbookClient;

  before(async () => {
    node = await startNode({ profile: 'dev' });
    a = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
    b = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('b') });
  });

  after(async () => {
    a?.close();
    b?.close();
    if (node !== undefined) {
      await stopNode(node, 'SIGKILL');
      removeDirectory(node.dataDirectory);
    }
  });

  test('an order in FlatBuffers trades with one in JSON, and both fills are confirmed (FIL-02 to FIL-04, CTL-02)', async () => {
    const fills = await a.userTrades();
    const maker = await a.control({ version: 'binary', timing: true });
    const taker = await b.control({ version: 'v1' });
    const sell = await a.order({ assetId: ETH, side: 'Sell', price: '3000', quantity: '0.5' });
    const rested = await maker.send(a.signCreate(sell));
    assert.deepEqual([rested.status, rested.orderId], ['Received', sell.orderId]);
    const { timing } = rested;
    assert.ok(timing?.verifiedNs != null && timing.matchedNs != null);
    assert.ok(timing.receivedNs <= timing.verifiedNs && timing.verifiedNs <= timing.answeredNs);
    const buy = await b.order({ assetId: ETH, side: 'Buy', price: '3000', quantity: '0.5' });
    assert.equal((await taker.send(b.signCreate(buy))).status, 'Received');
    const seen: string[] = [];
    for await (const trade of fills) {
      assert.equal(trade.orderId, sell.orderId);
      seen.push(trade.status);
      if (seen.length === 2) break;
    }
    assert.deepEqual(seen, ['Pending', 'Confirmed']);
    fills.close();
    maker.close();
    taker.close();
  });

  test('a market order, a trigger, batches, replaces and cancels are answered as over JSON', async () => {
    const control = await a.control({ version: 'binary' });
    const market = await a.marketOrder({ assetId: ETH, side: 'Buy', amount: '10' });
    const dormant = await a.order({
      assetId: ETH,
      side: 'Sell',
      price: '2000',
      quantity: '0.1',
      trigger: { when: 'below', price: '2100' },
    });
    assert.equal((await control.send(a.signCreate(market))).status, 'Received');
    assert.equal((await control.send(a.signCreate(dormant))).status, 'Received');
    const quotes = await Promise.all(
      ['4000', '4010', '4020'].map((price) => a.order({ assetId: ETH, side: 'Sell', price, quantity: '0.1' })),
    );
    const created = await control.sendBatch(
      'Create',
      quotes.map((quote) => a.signCreate(quote)),
    );
    assert.deepEqual(
      created.map(({ status, orderId }) => [status, orderId]),
      quotes.map(({ orderId }) => ['Received', orderId]),
    );
    const moves = await Promise.all(
      quotes.map(({ orderId }) => a.signReplace({ assetId: ETH, orderId, price: '4100', quantity: '0.2' })),
    );
    assert.ok((await control.sendBatch('Replace', moves)).every(({ status }) => status === 'Received'));
    const rearmed = { assetId: ETH, orderId: dormant.orderId, trigger: { when: 'below' as const, price: '2050' } };
    assert.equal((await control.send(await a.signReplace(rearmed))).status, 'Received');
    for (const { orderId } of [...quotes, dormant]) {
      assert.equal((await control.send(a.signCancel(ETH, orderId))).status, 'Received');
    }
    const again = await control.send(a.signCancel(ETH, dormant.orderId));
    assert.deepEqual(
      [again.status, again.reason, again.detail?.code],
      ['Rejected', 'AlreadyCancelled', 'ALREADY_CANCELLED'],
    );
    control.close();
  });

  test('a signature over another text is rejected: the node verifies the text that it rebuilds (SIG-02)', async () => {
    const control = await a.control({ version: 'binary' });
    const order = await a.order({ assetId: ETH, side: 'Sell', price: '4000', quantity: '0.1' });
    const signed = a.signCreate(order);
    const changed = { ...signed, body: signed.body.replace('"is_spot":true', '"is_spot":false') };
    assert.notEqual(changed.body, signed.body);
    const reply = await control.send(changed);
    assert.deepEqual([reply.reason, reply.detail?.field], ['InvalidSignature', 'signature']);
    assert.equal((await control.send(signed)).status, 'Received');
    assert.equal((await control.send(a.signCancel(ETH, order.orderId))).status, 'Received');
    control.close();
  });

  test('the Python example creates an order, cancels it, and is rejected for a wrong signature', {
    skip: withoutPython(),
  }, async () => {
    const { stdout } = await promisify(execFile)('python3', ['examples/control_binary.py', node.oms], {
      timeout: PYTHON_MS_MAX,
    });
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    assert.deepEqual(
      answers.map(({ status, code, field }) => [status, code, field]),
      [
        ['Received', 0, null],
        ['Received', 0, null],
        ['Rejected', REJECT_CODE.INVALID_SIGNATURE, 'signature'],
      ],
    );
  });
});
