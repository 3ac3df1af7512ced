// tier: full, 6 s
/** The one-way streams of a whole node: handshake, welcome, envelopes, pings, and each event letter by letter (wire.md 9). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { frameBytes, OPCODE, RawSocket } from '../fuzz/raw-socket.ts';
import type { SocketReader } from '../support/edge-client.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';
import { IOC, POST_ONLY } from '../support/wire-texts.ts';

const V1 = ['svc.ws.v1'];
const NS = '18\\d{17}';

/** Frames until one of them is like this. */
async function upTo(reader: SocketReader, last: RegExp): Promise<string[]> {
  const frames: string[] = [];
  for (;;) {
    const frame = await reader.frame();
    frames.push(frame);
    if (last.test(frame)) return frames;
    assert.ok(frames.length < 50, frames.join('\n'));
  }
}

function close(...readers: readonly SocketReader[]): void {
  for (const { socket } of readers) socket.terminate();
}

suite('streams of the order service', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    bob = await node.user();
  });
  after(() => node?.stop());

  const tagOf = (frame: string): string => Object.keys(JSON.parse(frame) as object).join();

  test('a stream is a connection: nothing is sent, everything is received, in both versions (WS-01 to WS-04, VER-05)', async () => {
    const v0 = await alice.stream('/orders');
    const v1 = await alice.stream('/orders', V1);
    const id = alice.newId();
    assert.equal((await alice.create({ id, side: 'Buy', price: 100_000 })).status, 200);
    const bare = await v0.frame();
    assert.equal(tagOf(bare), 'Created');
    const enveloped = await v1.frame();
    const head = new RegExp(`^\\{"type":"event","channel":"orders","request_id":null,"timestamp_ns":${NS},"data":`);
    assert.match(enveloped, head);
    assert.equal(enveloped.replace(head, ''), `${bare},"error":null}`, 'data is exactly the v0 payload');
    close(v0, v1);
  });

  test('Created repeats the signed order and its signature (wire.md 9.4)', async () => {
    const stream = await alice.stream('/orders');
    const body = alice.createBody({ side: 'Buy', price: 100_000 });
    const [, text, signature] = /^\{"order":(.*),"signature":(\[.*\]),"post/.exec(body) ?? [];
    assert.equal((await alice.post('/orders/create', body)).status, 200);
    const frame = await stream.frame();
    const tail = `"limit_overrides":null,"limit_overrides_signature":null`;
    const expected = new RegExp(
      `^\\{"Created":\\{"user_order":.*,"signature":.*,"book_timestamp_ns":${NS}(,${tail})?\\}\\}$`,
    );
    assert.match(frame, expected);
    assert.ok(
      frame.startsWith(`{"Created":{"user_order":${text},"signature":${signature},"book_timestamp_ns":`),
      frame,
    );
    close(stream);
  });

  test('Replaced, Canceled and Removed have their fields in order, amounts as raw integers (STR-01, AMB-93, wire.md 9.4)', async () => {
    const stream = await alice.stream('/orders');
    const id = alice.newId();
    assert.equal((await alice.create({ id, quantity: 2_000 })).status, 200);
    assert.equal((await alice.replace({ id, price: 300_100 })).status, 200);
    assert.equal((await alice.cancel(id)).status, 200);
    const [, replaced = '', canceled = ''] = await upTo(stream, /^\{"Canceled"/);
    const about = `"order_id":"${id}","asset_id":"2","user_id":"${alice.id}"`;
    assert.equal(replaced, `{"Replaced":{${about},"new_quantity":2000,"new_price":300100}}`);
    assert.match(
      canceled,
      new RegExp(`^\\{"Canceled":\\{${about},"timestamp_ns":${NS},"reason":"UserRequested"\\}\\}$`),
    );
    const sold = alice.newId();
    assert.equal((await alice.create({ id: sold, price: 300_000, quantity: 2_000 })).status, 200);
    assert.equal((await bob.create({ side: 'Buy', price: 300_000, quantity: 2_000 })).status, 200);
    const removed = (await upTo(stream, /^\{"Removed"/)).at(-1) ?? '';
    const figures =
      '"filled_quantity":2000,"confirmed_quantity":2000,"filled_amount":6000000,"confirmed_amount":6000000,"book_quantity_decimals":4';
    const words = `"operator_pubkey":null,"reason":"Filled",${figures}`;
    const expected = new RegExp(
      `^\\{"Removed":\\{"order_id":"${sold}","asset_id":"2","user_id":"${alice.id}","timestamp_ns":${NS},${words}\\}\\}$`,
    );
    assert.match(removed, expected);
    close(stream);
  });

  test('a trigger is published when it is released, a crossing post-only is only Canceled (STR-01, TRG-08, AMB-128)', async () => {
    const stream = await alice.stream('/orders');
    const id = alice.newId();
    const trigger = '{"parent_order_id":null,"condition":{"PriceAbove":{"price":310000}}}';
    assert.equal((await alice.create({ id, price: 320_000, trigger })).status, 200);
    assert.equal((await bob.create({ price: 310_000 })).status, 200);
    assert.equal((await bob.create({ side: 'Buy', price: 310_000 })).status, 200);
    await node.rest();
    const triggered = (await upTo(stream, /^\{"Triggered"/)).at(-1) ?? '';
    const about = `"order_id":"${id}","asset_id":"2","user_id":"${alice.id}"`;
    assert.match(
      triggered,
      new RegExp(
        `^\\{"Triggered":\\{${about},"timestamp_ns":${NS},"trigger_price":310000,"quantity":1000,"trigger_touched":true\\}\\}$`,
      ),
    );
    const crossing = alice.newId();
    const answer = await alice.create({ id: crossing, side: 'Buy', price: 330_000, tif: POST_ONLY });
    assert.equal(toldBy(answer), '400 WOULD_CROSS');
    assert.match(await stream.frame(), /^\{"Canceled":.*"reason":"PostOnlyWouldCross"\}\}$/);
    await alice.send('DELETE', '/orders/cancel-all');
    await node.rest();
    close(stream);
  });

  test('an IOC that finds nothing is Removed with final numbers (AMB-128, G20)', async () => {
    const stream = await alice.stream('/orders');
    assert.equal((await alice.create({ price: 900_000, tif: IOC })).status, 200);
    const frames = await upTo(stream, /^\{"Removed"/);
    assert.deepEqual(frames.map(tagOf), ['Created', 'Removed']);
    assert.match(frames[1] ?? '', /"reason":"ImmediateOrCancel","filled_quantity":0,/);
    close(stream);
  });

  test('a fill is Pending, then Confirmed or Rollbacked; the confirmed stream has the second alone (STR-02, GEN-08, GEN-10)', async () => {
    const all = await alice.stream(`/trades/user/events/${alice.id}`);
    const confirmed = await alice.stream(`/trades/user/${alice.id}`);
    await node.hook({ hold: true });
    const id = alice.newId();
    assert.equal((await alice.create({ id, price: 300_000, quantity: 1_500 })).status, 200);
    assert.equal((await bob.create({ side: 'Buy', price: 300_000, quantity: 1_500 })).status, 200);
    const pending = await all.frame();
    const rest = (status: string): string =>
      `"is_maker":true,"is_buyer":false,"status":"${status}","rollback_reason":null,"is_liquidation":false,` +
      '"is_auto_deleverage":false,"sub_account":0,"trading_fee":"0.045"';
    const shape = (status: string): RegExp =>
      new RegExp(
        `^\\{"asset_id":"2","trade_id":\\d+,"order_id":"${id}","price":"3000","quantity":"0.15","timestamp_ns":${NS},${rest(status)}\\}$`,
      );
    assert.match(pending, shape('Pending'));
    const page = (await alice.read(`/trades/user/${alice.id}/2`)) as { trades: { order_id: string }[] };
    assert.ok(!page.trades.some(({ order_id }) => order_id === id), 'history has confirmed trades only');
    await node.hook({ release: true });
    const told = await all.frame();
    assert.match(told, shape('Confirmed'));
    assert.equal(await confirmed.frame(), told);
    await node.hook({ fault: { kind: 'reject_fill', party: 'taker', reason: 'InsufficientInventory' } });
    assert.equal((await alice.create({ price: 300_000 })).status, 200);
    assert.equal((await bob.create({ side: 'Buy', price: 300_000 })).status, 200);
    const [, rolled = ''] = await upTo(all, /"Rollbacked"/);
    assert.match(rolled, /"status":"Rollbacked","rollback_reason":"CounterpartyAtFault"/);
    await node.rest();
    assert.equal(confirmed.unread, 0);
    await alice.send('DELETE', '/orders/cancel-all');
    // Dispatched is not done: cancels are published before the next stream opens.
    await node.rest();
    close(all, confirmed);
  });

  test('a text ping gets a text pong, other words nothing; a protocol ping its payload (WS-08, WS-09, AMB-95)', async () => {
    for (const path of ['/orders', `/trades/user/events/${alice.id}`, `/trades/user/${alice.id}`]) {
      const v0 = await alice.stream(path);
      v0.socket.send('hello');
      v0.socket.send('{"type":"subscribe"}');
      v0.socket.send('{"type":"ping"}');
      assert.equal(await v0.frame(), '{"type":"pong"}', path);
      const v1 = await alice.stream(path, V1);
      v1.socket.send('{"type":"ping"}');
      assert.match(
        await v1.frame(),
        new RegExp(
          `^\\{"type":"pong","channel":"(orders|trades)","request_id":null,"timestamp_ns":${NS},"data":null,"error":null\\}$`,
        ),
      );
      const echoed = new Promise<string>((resolve) => v0.socket.once('pong', (data: Buffer) => resolve(String(data))));
      v0.socket.ping('are you there');
      assert.equal(await echoed, 'are you there');
      close(v0, v1);
    }
  });

  test('a frame over 1 MiB closes 1009, one of 1 MiB does not (AMB-95, wire.md 9.1)', async () => {
    for (const path of ['/orders', '/control']) {
      const stream = await alice.stream(path);
      stream.socket.send(' '.repeat(1_048_576));
      stream.socket.send(' '.repeat(1_048_577));
      assert.equal((await stream.closed).code, 1009, path);
    }
  });

  test('ten sockets a user, /control among them; one more is 429 with its limit, before the upgrade (LIM-19, AMB-96)', async () => {
    const user = await node.user({});
    const paths = ['/control', ...new Array<string>(9).fill('/orders')];
    const readers = await Promise.all(paths.map((path) => user.stream(path)));
    const refused = await user.upgrade('/orders');
    assert.equal(toldBy(refused), '429 RATE_LIMITED');
    assert.match(refused.text, /"retryable":true,"details":\{[^}]*"limit":10/);
    readers[0]?.socket.close();
    await readers[0]?.closed;
    await node.rest();
    const again = await user.stream('/orders');
    close(...readers, again);
  });

  test('a close is answered with its code, and a broken frame ends the socket, not the node (AUT-14)', async () => {
    const headers = Object.entries(alice.headers).map(([name, value]) => `${name}: ${value}`);
    const open = async (): Promise<RawSocket> => {
      const socket = await RawSocket.open(node.ports.oms, '/orders', headers);
      assert.ok(socket !== null);
      return socket;
    };
    for (const code of [1000, 1001]) {
      const socket = await open();
      const payload = Buffer.from([code >> 8, code & 0xff]);
      socket.write(frameBytes(payload, { opcode: OPCODE.close }));
      assert.ok(await socket.until(() => socket.frames.some(({ opcode }) => opcode === OPCODE.close), PATIENCE_MS));
      assert.deepEqual(socket.frames.at(-1)?.payload, payload);
      socket.destroy();
    }
    for (const head of [
      { opcode: 3 },
      { opcode: OPCODE.ping, isFinal: false },
      { opcode: OPCODE.text, reserved: 4 },
      { opcode: OPCODE.continuation },
    ]) {
      const socket = await open();
      socket.write(frameBytes(Buffer.from('x'), head));
      assert.ok((await socket.until(() => socket.isClosed, PATIENCE_MS)) || socket.isClosed, JSON.stringify(head));
    }
    assert.equal((await alice.get('/markets')).status, 200);
  });
});

suite('streams of market data', () => {
  let node: TestNode;
  let alice: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
  });
  after(() => node?.stop());

  const STREAMS: readonly (readonly [string, string])[] = [
    ['/marketdepth/diff/2', 'marketdepth'],
    ['/klines/diff/2', 'klines'],
    ['/trades', 'trades'],
    ['/trades/2', 'trades'],
    ['/ticker/ws/2', 'ticker'],
    ['/tickers/ws', 'tickers'],
  ];

  test('the welcome comes first and names the channel (WS-06, PTR-03, AMB-102)', async () => {
    for (const [path, name] of STREAMS) {
      const reader = await alice.marketStream(path);
      assert.equal(await reader.frame(), `{"type":"subscriptions","channels":[{"name":"${name}"}],"errors":[]}`, path);
      close(reader);
    }
  });

  test('market data has no version 1, whatever is offered (WS-05, VER-05)', async () => {
    for (const offered of [V1, ['x', 'svc.ws.v1']]) {
      const reader = await alice.marketStream('/trades/2', offered);
      assert.equal(reader.socket.protocol, offered[0]);
      await reader.frame();
      reader.socket.send('{"type":"ping"}');
      assert.equal(await reader.frame(), '{"type":"pong"}');
      close(reader);
    }
  });

  test('an unknown market is 404 before the upgrade (AMB-102)', async () => {
    for (const path of ['/marketdepth/diff/77', '/klines/diff/0', '/trades/ETH', '/ticker/ws/77']) {
      await assert.rejects(alice.marketStream(path), /404/, path);
    }
  });

  test('there is no cap: two hundred sockets of one address receive the same trade (WS-12)', async () => {
    const readers = await Promise.all(Array.from({ length: 200 }, () => alice.marketStream('/trades/2')));
    await Promise.all(readers.map((reader) => reader.frame()));
    await node.trade(alice, alice, 1_234);
    const frames = await Promise.all(readers.map((reader) => reader.frame()));
    const shape = new RegExp(
      `^\\{"asset_id":"2","trade_id":\\d+,"price":"3000","quantity":"0.1234","timestamp_ns":${NS},"buyer_is_maker":false,"status":"Confirmed"\\}$`,
    );
    assert.match(frames[0] ?? '', shape);
    assert.equal(new Set(frames).size, 1);
    close(...readers);
  });

  test('depth diffs continue the snapshot, each level absolute, 0 is gone (MD-01 to MD-03, wire.md 8, 9.6)', async () => {
    const reader = await alice.marketStream('/marketdepth/diff/2');
    await reader.frame();
    const [, first] =
      /^\{"asks":\[\],"bids":\[\],"sequence_number":(\d+)\}$/.exec((await alice.market('/marketdepth/2')).text) ?? [];
    assert.ok(first !== undefined);
    const id = alice.newId();
    assert.equal((await alice.create({ id, price: 300_025, quantity: 25_000 })).status, 200);
    assert.equal(await reader.frame(), `{"asks":[[3000.25,2.5]],"bids":[],"sequence_number":${Number(first) + 1}}`);
    assert.equal(
      (await alice.market('/marketdepth/2')).text,
      `{"asks":[[3000.25,2.5]],"bids":[],"sequence_number":${Number(first) + 1}}`,
    );
    assert.equal((await alice.cancel(id)).status, 200);
    assert.equal(await reader.frame(), `{"asks":[[3000.25,0]],"bids":[],"sequence_number":${Number(first) + 2}}`);
    close(reader);
  });

  test('a kline frame is an array, sent when its second is over (KLN-05, KLN-09, wire.md 9.3)', async () => {
    const reader = await alice.marketStream('/klines/diff/2');
    await reader.frame();
    await node.trade(alice, alice, 1_000);
    const before = JSON.parse((await alice.market('/klines/2')).text) as { items: unknown[] };
    assert.equal(before.items.length, 0, 'the open bucket is not in REST (KLN-06)');
    // Its second is over, and nothing happens in the market any more.
    await node.advance(1_000_000_000n);
    const shape = new RegExp(
      `^\\[\\{"open":"3000","high":"3000","low":"3000","close":"3000","volume":"[0-9.]+","open_timestamp_ns":${NS},"close_timestamp_ns":${NS}\\}\\]$`,
    );
    const frame = await reader.frame();
    assert.match(frame, shape);
    const page = (await alice.market('/klines/2')).text;
    assert.equal(
      page,
      `{"items":${frame},"page":0,"limit":1000,"total_pages":1,"cursor_size":1,"has_next_page":false,"next_page":null}`,
    );
    close(reader);
  });

  test('one socket has the book, trades and prices of a market, checked, while it trades (wire-additions.md 10)', async () => {
    const reader = await alice.marketStream('/ws');
    assert.equal(await reader.frame(), '{"type":"subscriptions","channels":[],"errors":[]}');
    const channels = ['depth', 'bbo', 'trades', 'prices'].map((name) => ({ name, asset_ids: ['2'] }));
    reader.socket.send(
      JSON.stringify({ type: 'subscribe', channels: [{ ...channels[0], checksum_every: 1 }, ...channels.slice(1)] }),
    );
    await upTo(reader, /"type":"snapshot","channel":"prices"/);
    await node.trade(alice, alice, 1_000);
    const frames = await upTo(reader, /"channel":"trades"/);
    assert.ok(
      frames.some((frame) => /"channel":"depth".*"checksum":\d+/.test(frame)),
      frames.join('\n'),
    );
    assert.match(frames.at(-1) ?? '', /"sequence":2,"timestamp_ns":\d+,"data":\{"trades":\[\{"asset_id":"2",/);
    assert.match((await upTo(reader, /"channel":"prices"/)).at(-1) ?? '', /"mark_price":"3000","mark_source":"trade"/);
    close(reader);
  });

  test('tickers are published when they change, at most one a second (TKR-01 to TKR-04)', async () => {
    const [one, all] = [await alice.marketStream('/ticker/ws/2'), await alice.marketStream('/tickers/ws')];
    await Promise.all([one.frame(), all.frame()]);
    await node.trade(alice, alice, 1_000);
    // The maker's order alone changes the best levels: on a busy machine a second ends between it and its trade.
    const frames = [await one.frame()];
    while (frames.at(-1) !== (await alice.market('/ticker/2')).text) frames.push(await one.frame());
    assert.ok(frames.length < 5, frames.join('\n'));
    const frame = frames.at(-1) ?? '';
    const shape = new RegExp(
      `^\\{"asset_id":"2","last_price":"3000","open":"3000","high":"3000","low":"3000","volume":"[0-9.]+","price_change":"0","price_change_percent":"0","timestamp_ns":${NS},"volume_24h":"[0-9.]+",.*\\}$`,
    );
    assert.match(frame, shape);
    const [told] = JSON.parse(await all.frame()) as { asset_id: string }[];
    assert.equal(told?.asset_id, '2');
    assert.match(
      (await alice.market('/tickers')).text,
      /^\[\{"asset_id":"1","last_price":null,"open":null,.*"volume":"0",/,
    );
    close(one, all);
  });
});

suite('a node that stops', () => {
  test('closes every socket with 1001 and ends with 0', async () => {
    const node = await TestNode.start();
    try {
      const alice = await node.user({});
      const readers = [
        await alice.stream('/orders'),
        await alice.stream('/control'),
        await alice.stream('/orders', V1),
        await alice.marketStream('/trades/2'),
      ];
      node.process.child.kill('SIGTERM');
      for (const { closed } of readers) assert.equal((await closed).code, 1001);
      assert.equal(await node.process.ended, 0);
    } finally {
      await node.stop();
    }
  });
});
