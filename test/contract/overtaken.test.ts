// tier: quick, 4 s
/** A cancel of all orders on `/control` of a whole node, right behind what it cancels (UNS-01 to UNS-03). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { keyFromSeed } from '../../src/client/keys.ts';
import { type ControlConnection, type ControlVersion, RingbookClient } from '../../src/client/sdk.ts';
import { SocketReader } from '../support/edge-client.ts';
import { eventually } from '../support/patience.ts';
import { type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const VERSIONS: readonly ControlVersion[] = ['v0', 'v1', 'short', 'binary'];

suite('a cancel of all orders behind creates', () => {
  let node: TestNode;
  let maker: PlainClient;
  let taker: PlainClient;

  before(async () => {
    node = await TestNode.start();
    maker = await node.user();
    taker = await node.user();
  });
  after(() => node?.stop());

  /** The events of a user's orders, as they come. */
  async function eventsOf(user: PlainClient): Promise<string[]> {
    const reader = await SocketReader.open(node.ports.oms, '/orders', [], user.headers);
    const events: string[] = [];
    reader.socket.on('message', (data) => events.push(String(data)));
    return events;
  }

  test('UNS-01: creates that it overtakes in their verification are canceled and match nothing; what came later stays', async () => {
    const control = await SocketReader.open(node.ports.oms, '/control?timing=true', [], taker.headers);
    const events = await eventsOf(taker);
    assert.equal((await maker.create({ side: 'Sell' })).status, 200);
    // They cross the order of the maker. One pass of the node's event loop reads all frames, and a signature that is verified
    // on another thread has its verdict in a later pass: the cancel goes before all of them.
    const crossing = Array.from({ length: 5 }, () => `{"CreateOrderRequest":${taker.createBody({ side: 'Buy' })}}`);
    control.sendAtOnce([...crossing, '{"CancelAllRequest":{"side":"Buy"}}']);
    const tags: string[] = [];
    while (tags.length < 6) {
      const [[tag = '', content] = []] = Object.entries(JSON.parse(await control.frame()) as Record<string, unknown>);
      tags.push(tag);
      if (tag === 'CreateOrderResponse') assert.match(JSON.stringify(content), /"status":"Received".*"timing"/);
    }
    assert.equal(tags.filter((tag) => tag === 'CancelAllResponse').length, 1);
    await node.rest();
    await eventually(() => events.filter((text) => text.includes('"Canceled"')).length === 5);
    assert.ok(events.every((text) => !text.includes('"Canceled"') || text.includes('"reason":"UserRequested"')));
    assert.equal(events.filter((text) => text.includes('"Removed"')).length, 0, 'none has matched');
    control.socket.send(`{"CreateOrderRequest":${taker.createBody({ side: 'Buy' })}}`);
    await control.frame();
    await node.rest();
    await eventually(() => events.some((text) => text.includes('"Filled"')));
    control.socket.terminate();
  });

  test('UNS-01, UNS-02: of a protection group its members alone go, over REST and on /control; a name without orders cancels none', async () => {
    const group = (name: string): string =>
      `{"group":"${name}","window_ms":1000,"frozen_ms":0,"max_fills":900,"max_quantity":null,"max_notional":null}`;
    for (const name of ['g1', 'g2']) {
      assert.match(toldBy(await maker.send('PUT', '/account/protection/2', group(name))), /^200 /);
    }
    const rest = async (name: string | null): Promise<void> => {
      const body = maker.createBody({ side: 'Sell' });
      const member = name === null ? body : body.replace(/^\{/, `{"protection_group":"${name}",`);
      assert.match(toldBy(await maker.post('/orders/create', member)), /^200 /);
    };
    for (const name of ['g1', 'g2', null]) await rest(name);
    const live = async (): Promise<number> => {
      await node.rest();
      const page = (await maker.read(`/orders/user/${maker.id}?open_only=true`)) as { orders: readonly unknown[] };
      return page.orders.length;
    };
    const before = await live();
    for (const query of ['protection_group=g3', 'quote_set_id=none', 'protection_group=g1&side=Buy']) {
      assert.equal((await maker.send('DELETE', `/orders/cancel-all?${query}`)).status, 202);
      assert.equal(await live(), before, query);
    }
    assert.equal((await maker.send('DELETE', '/orders/cancel-all/2?protection_group=g1')).status, 202);
    assert.equal(await live(), before - 1);
    const control = await SocketReader.open(node.ports.oms, '/control', [], maker.headers);
    control.socket.send('{"CancelAllRequest":{"protection_group":"g2"}}');
    assert.match(await control.frame(), /accepted/);
    assert.equal(await live(), before - 2, 'what is in no group stays');
    control.socket.terminate();
  });

  for (const version of VERSIONS) {
    test(`UNS-01: the client's ${version}: all orders of a side, a list, the timer, and a refusal`, async () => {
      const seed = new Uint8Array(32).fill(0x30 + VERSIONS.indexOf(version));
      const client = new RingbookClient({ oms: node.process.oms, key: keyFromSeed(seed), nowNs: () => node.stamp() });
      await client.login();
      const control: ControlConnection = await client.control({ version });
      await control.cancelAll({ assetId: '1', side: 'Sell' });
      await control.cancelAll({ protectionGroup: 'none', quoteSetId: 'none' });
      await control.cancelBatch(['a', 'b'], '1');
      await control.cancelBatch(['a']);
      if (version !== 'v0') {
        await assert.rejects(control.cancelAll({ assetId: '999' }), { code: 'MARKET_NOT_FOUND' });
        await assert.rejects(control.cancelAllAfter(60_000), { code: 'INSUFFICIENT_INVENTORY' });
      }
      client.close();
    });
  }
});
