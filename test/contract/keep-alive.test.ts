// tier: full, 11 s
/** Quiet sockets (wire.md 9.1): the server pings every 20 s of real time, and quiet alone ends nothing. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { PlainClient } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

suite('quiet sockets', () => {
  let node: TestNode;
  let alice: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user({});
  });
  after(() => node?.stop());

  test('every stream is pinged within its 20 s and some, and stays open (WS-07, WS-11, AMB-141)', async () => {
    const readers = [
      await alice.stream('/orders'),
      await alice.stream('/control'),
      await alice.marketStream('/trades/2'),
    ];
    const pinged = readers.map(({ socket }) => new Promise<void>((resolve) => socket.once('ping', () => resolve())));
    await node.advance(600_000_000_000n); // ten minutes of the node's clock are nothing to a socket
    await Promise.all(pinged);
    for (const { socket } of readers) assert.equal(socket.readyState, socket.OPEN);
    await node.trade(await node.user(), await node.user());
    const [, , trades] = readers;
    assert.match((await trades?.frame()) ?? '', /^\{"type":"subscriptions"/);
    assert.match((await trades?.frame()) ?? '', /"status":"Confirmed"\}$/, 'as good as on the first second');
    for (const { socket } of readers) socket.terminate();
  });
});
