// tier: quick

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { beforeEach, suite, test } from 'node:test';
import { ACTION_BYTES_MAX, BODY_BYTES_MAX } from '../../src/core/limits.ts';
import { FILL_STATUS } from '../../src/core/order-terms.ts';
import { reject } from '../../src/core/reject.ts';
import type { Amount18, RawPrice, RawQuantity } from '../../src/core/units.ts';
import type { BookEvent, UserTradeEvent } from '../../src/gateway/orders/book/order-events.ts';
import { OmsServer } from '../../src/http/oms-server.ts';
import { ask, askUpgrade, SocketReader, withoutDetail } from '../support/edge-client.ts';
import { listenTo, ReportList } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';
import { BASE, NOW } from '../support/order-fixture.ts';
import { cancelBody, createBody, replaceBody, ScriptedOms } from '../support/scripted-oms.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { TLS_CERTIFICATE, TLS_KEY } from '../support/tls-pair.ts';

const oms = new ScriptedOms();
const listener = listenTo(oms);
const { server, reports } = listener;
const { streams } = server;

beforeEach(async () => {
  oms.script = 'received';
  oms.cap = 10;
  oms.actions.length = 0;
  streams.endSessions(ALICE);
  streams.endSessions(BOB);
  while (server.socketCount > 0) await new Promise(setImmediate);
});

const as = (user = ALICE): Record<string, string> => ({ authorization: `Bearer ${oms.token(user)}`, 'user-id': user });
const open = (path: string, version: 0 | 1 = 0, user = ALICE): Promise<SocketReader> =>
  SocketReader.open(listener.port, path, version === 1 ? ['svc.ws.v1'] : [], as(user));
const refusal = async (path: string, headers: Parameters<typeof askUpgrade>[2]): Promise<[number, string]> => {
  const { status, text } = await askUpgrade(listener.port, path, headers);
  return [status, JSON.parse(text).error.code];
};
const v1 = (type: string, channel: string, data: string | null, error: string | null, requestId = 'null'): string =>
  `{"type":"${type}","channel":"${channel}","request_id":${requestId},"timestamp_ns":${NOW},` +
  `"data":${data},"error":${error}}`;

const FILLS = `/trades/user/events/${ALICE}`;
const CONFIRMED = `/trades/user/${ALICE}`;
const PATHS = ['/orders', FILLS, CONFIRMED, '/control'];
const CHANNEL: Readonly<Record<string, string>> = { '/orders': 'orders', [FILLS]: 'trades', [CONFIRMED]: 'trades' };

const CANCELED = {
  kind: 'Canceled',
  orderId: 'o-1',
  assetId: BASE,
  timestampNs: NOW,
  reason: 'UserRequested',
} as BookEvent;
const CANCELED_TEXT =
  `{"Canceled":{"order_id":"o-1","asset_id":"12","user_id":"${ALICE}","timestamp_ns":${NOW},` +
  '"reason":"UserRequested"}}';
const fill = (status: UserTradeEvent['status'], tradeId = 1): UserTradeEvent => ({
  assetId: BASE,
  tradeId,
  orderId: 'o-1' as UserTradeEvent['orderId'],
  subAccount: 0,
  price: 200_000 as RawPrice,
  quantity: 10_000 as RawQuantity,
  priceDecimals: 2,
  quantityDecimals: 4,
  timestampNs: NOW,
  isMaker: true,
  isBuyer: false,
  status,
  rollbackReason: null,
  isLiquidation: false,
  isAutoDeleverage: false,
  fee: 0n as Amount18,
});

suite('order service, upgrades', () => {
  test('every stream needs a live session; refusals are 401 envelopes (STR-08, AUT-05, AUT-11, SES-15)', async () => {
    const token = oms.token(ALICE);
    const wrong: Parameters<typeof askUpgrade>[2][] = [
      {},
      { authorization: `Bearer ${token}` },
      { 'user-id': ALICE },
      { authorization: `Bearer ${token}`, 'user-id': BOB },
      { 'sec-websocket-protocol': `Bearer-${token}` },
      { 'sec-websocket-protocol': `User-${ALICE}` },
      { 'sec-websocket-protocol': `Bearer-${token}, User-${BOB}` },
      { 'sec-websocket-protocol': `Bearer-${token}, Bearer-${token}, User-${ALICE}` },
      {
        authorization: 'Bearer nonsense',
        'user-id': ALICE,
        'sec-websocket-protocol': `Bearer-${token}, User-${ALICE}`,
      },
    ];
    for (const path of PATHS) {
      for (const headers of wrong) {
        assert.deepEqual(await refusal(path, headers), [401, 'UNAUTHORIZED'], `${path} ${JSON.stringify(headers)}`);
      }
      const twice = { authorization: [`Bearer ${token}`, 'Bearer x'], 'user-id': ALICE };
      assert.deepEqual(await refusal(path, twice), [400, 'INVALID_REQUEST']);
    }
    for (const path of ['/trades/user/events/x', '/trades/user/x']) {
      assert.deepEqual(await refusal(path, as()), [400, 'INVALID_REQUEST']);
    }
  });

  test('subprotocols authenticate in any order and the first is selected (AUT-06 to AUT-10, AMB-90)', async () => {
    const values = [`Bearer-${oms.token(ALICE)}`, `User-${ALICE}`, 'svc.ws.v1'];
    const offers = [0, 1, 2].flatMap((a) => [0, 1, 2].flatMap((b) => [[a, b, 3 - a - b]].filter(() => a !== b)));
    assert.equal(offers.length, 6);
    for (const offer of offers) {
      const protocols = offer.map((index) => values[index] ?? '');
      const reader = await SocketReader.open(listener.port, '/orders', protocols);
      assert.equal(reader.socket.protocol, protocols[0]);
      streams.orderEvent(ALICE, CANCELED, NOW);
      assert.equal(await reader.frame(), v1('event', 'orders', CANCELED_TEXT, null));
      reader.socket.close();
      await reader.closed;
    }
    const plain = await SocketReader.open(listener.port, '/orders', values.slice(0, 2).reverse());
    assert.equal(plain.socket.protocol, values[1]);
    streams.orderEvent(ALICE, CANCELED, NOW);
    assert.equal(await plain.frame(), CANCELED_TEXT, 'v0 without the opt-in');
    const byHeader = await SocketReader.open(listener.port, '/orders', ['other', 'svc.ws.v1'], as());
    assert.equal(byHeader.socket.protocol, 'other');
    const silent = await open('/orders');
    assert.equal(silent.socket.protocol, '', 'nothing is selected unless offered');
  });

  test('a path of another user upgrades, sends unauthorized and closes 1000 (AUT-12, AUT-14)', async () => {
    for (const path of [FILLS, CONFIRMED]) {
      const error = '{"code":"unauthorized","message":"the path names another user","retryable":false}';
      const bare = await open(path, 0, BOB);
      assert.equal(await bare.frame(), `{"type":"error","channel":"trades","error":${error}}`);
      assert.deepEqual(await bare.closed, { code: 1000, reason: '' });
      const enveloped = await open(path, 1, BOB);
      assert.equal(await enveloped.frame(), v1('error', 'trades', null, error));
      assert.equal((await enveloped.closed).code, 1000);
    }
  });

  test('one stream too many is 429 before the upgrade, /control counts (LIM-19, AMB-96)', async () => {
    oms.cap = 2;
    const first = await open('/orders');
    await open('/control');
    for (const path of PATHS) {
      const { status, text } = await askUpgrade(listener.port, path, as());
      const { error } = JSON.parse(text);
      assert.deepEqual([status, error.code, error.retryable, error.details], [429, 'RATE_LIMITED', true, { limit: 2 }]);
    }
    await open('/orders', 0, BOB);
    first.socket.close();
    await first.closed;
    while (server.socketCount > 2) await new Promise(setImmediate);
    assert.equal((await open('/orders')).socket.readyState, 1);
  });
});

suite('order service, streams', () => {
  test('events reach the streams of their user in both versions, in order (STR-01, STR-02, WS-01 to WS-04)', async () => {
    const readers = new Map<string, SocketReader>();
    for (const path of [...PATHS.slice(0, 3)]) {
      for (const version of [0, 1] as const) readers.set(`${path} ${version}`, await open(path, version));
    }
    const bob = await open('/orders', 0, BOB);
    streams.orderEvent(ALICE, CANCELED, NOW);
    streams.userTrade(ALICE, fill(FILL_STATUS.pending), NOW);
    streams.userTrade(ALICE, fill(FILL_STATUS.confirmed), NOW);
    streams.userTrade(ALICE, fill(FILL_STATUS.rolledBack, 2), NOW);
    streams.flush();
    const statuses: Readonly<Record<string, readonly string[]>> = {
      [FILLS]: ['Pending', 'Confirmed', 'Rollbacked'],
      [CONFIRMED]: ['Confirmed'],
    };
    assert.equal(await readers.get('/orders 0')?.frame(), CANCELED_TEXT);
    assert.equal(await readers.get('/orders 1')?.frame(), v1('event', 'orders', CANCELED_TEXT, null));
    for (const [path, expected] of Object.entries(statuses)) {
      for (const status of expected) {
        const bare = (await readers.get(`${path} 0`)?.frame()) ?? '';
        assert.equal(JSON.parse(bare).status, status);
        assert.equal(await readers.get(`${path} 1`)?.frame(), v1('event', 'trades', bare, null));
      }
    }
    streams.orderEvent(BOB, CANCELED, NOW);
    assert.match(await bob.frame(), /"Canceled"/);
    for (const reader of [...readers.values(), bob]) assert.equal(reader.unread, 0);
  });

  test('an event is serialised once for its readers, and not at all without one', async () => {
    let reads = 0;
    const counted = { ...CANCELED } as BookEvent;
    Object.defineProperty(counted, 'orderId', { get: () => `read-${++reads}` });
    streams.orderEvent(ALICE, counted, NOW);
    assert.equal(reads, 0);
    const readers = [await open('/orders'), await open('/orders'), await open('/orders', 1), await open('/orders', 1)];
    streams.orderEvent(ALICE, counted, NOW);
    for (const reader of readers) assert.match(await reader.frame(), /"order_id":"read-1"/);
    assert.equal(reads, 1);
  });

  test('text pings are answered in the version of the socket, other text is ignored (WS-09, AMB-95)', async () => {
    for (const [path, channel] of Object.entries(CHANNEL)) {
      for (const version of [0, 1] as const) {
        const reader = await open(path, version);
        for (const text of ['hello', createBody(ALICE, 'x'), '{"type":"ping"}']) reader.socket.send(text);
        assert.equal(await reader.frame(), version === 0 ? '{"type":"pong"}' : v1('pong', channel, null, null));
        assert.equal(reader.unread, 0);
      }
    }
    assert.deepEqual(oms.actions, []);
  });

  test('logout ends every socket of the user with a word and 1000 (SES-12, AMB-88)', async () => {
    const readers = [await open('/orders'), await open(FILLS, 1), await open('/control'), await open('/control', 1)];
    const bob = await open('/orders', 0, BOB);
    streams.orderEvent(ALICE, CANCELED, NOW);
    assert.equal((await ask(listener.port, '/logout', { method: 'POST', headers: as() })).status, 200);
    const small = '{"code":"unauthorized","message":"the session is over","retryable":false}';
    const large = '{"code":"UNAUTHORIZED","message":"the session is over","retryable":false}';
    const expected = [
      `{"type":"error","channel":"orders","error":${small}}`,
      v1('error', 'trades', null, small),
      `{"error":${large}}`,
      v1('error', 'control', null, large),
    ];
    assert.equal(await readers[0]?.frame(), CANCELED_TEXT, 'what was told before is written first');
    for (const [index, reader] of readers.entries()) {
      assert.equal(await reader.frame(), expected[index]);
      assert.deepEqual(await reader.closed, { code: 1000, reason: '' });
    }
    assert.equal(bob.socket.readyState, 1);
  });

  test('a token that expires ends its open sockets (AMB-88)', async () => {
    const reader = await open('/orders');
    const control = await open('/control');
    const bob = await open('/orders', 0, BOB);
    oms.expire(ALICE);
    assert.match(await reader.frame(), /"code":"unauthorized"/);
    assert.equal((await reader.closed).code, 1000);
    assert.match(await control.frame(), /"code":"UNAUTHORIZED"/);
    assert.equal((await control.closed).code, 1000);
    assert.equal(bob.socket.readyState, 1);
  });

  test('a reader that lags gets RESYNC_REQUIRED on v1, then 1013 (WS-13, WS-14, AMB-94)', async () => {
    for (const version of [0, 1] as const) {
      reports.lags.length = 0;
      const reader = await open('/orders', version);
      const steady = await open(FILLS);
      reader.socket.pause();
      const reason = 'x'.repeat(100_000);
      for (let count = 0; count < 1_000 && reports.lags.length === 0; count += 1) {
        streams.orderEvent(ALICE, { ...CANCELED, reason } as BookEvent, NOW);
        if (count % 10 === 0) await new Promise(setImmediate);
        streams.flush();
      }
      assert.deepEqual(reports.lags, ['/orders']);
      reader.socket.resume();
      assert.deepEqual(await reader.closed, { code: 1013, reason: 'resync_required' });
      let last = '';
      while (reader.unread > 0) last = await reader.frame();
      assert.equal(/"RESYNC_REQUIRED"/.test(last), version === 1);
      assert.equal(steady.socket.readyState, 1);
      steady.socket.close();
    }
  });
});

suite('order service, /control', () => {
  const received = (tag: string, orderId: string, verdict = '"status":"Received","reason":null'): string =>
    `{"${tag}Response":{"response":{"order_id":"${orderId}",${verdict},"processed_at_ns":${NOW}},"asset_id":"12"}}`;
  const rejectedAs = (reason: string): string => `"status":"Rejected","reason":"${reason}"`;

  test('frames are answered in the order they came in, long ones that wait for their turn among them (CTL-01)', async () => {
    const control = await open('/control');
    const sizes = [0, 70_000, 0, 80_000, 20_000, 0, 500];
    sizes.forEach((bytes, index) => {
      control.socket.send(`{"CreateOrderRequest":${createBody(ALICE, `n-${index}`)}}`.padEnd(bytes));
    });
    for (const index of sizes.keys()) assert.equal(await control.frame(), received('CreateOrder', `n-${index}`));
    control.socket.terminate();
    await control.closed;
  });

  test('a mebibyte of other text and an action that is too long are answered with an error, and the socket goes on (AMB-95, AMB-124)', async () => {
    const control = await open('/control');
    control.socket.send('x'.repeat(BODY_BYTES_MAX));
    assert.match(await control.frame(), /"code":"INVALID_REQUEST"/);
    control.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'next')}}`.padEnd(ACTION_BYTES_MAX + 1));
    assert.match(await control.frame(), /"code":"PAYLOAD_TOO_LARGE"/);
    control.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'next')}}`);
    assert.equal(await control.frame(), received('CreateOrder', 'next'));
    control.socket.terminate();
    await control.closed;
  });

  test('actions are answered in the correlated shape of their version (CTL-01 to CTL-03)', async () => {
    const requests: readonly [string, string][] = [
      ['CreateOrder', createBody(ALICE, 'c/1+=')],
      ['ReplaceOrder', replaceBody(ALICE, 'c/1+=')],
      ['CancelOrder', cancelBody(ALICE, 'c/1+=')],
    ];
    const bare = await open('/control');
    const enveloped = await open('/control', 1);
    for (const [tag, body] of requests) {
      const request = `{"${tag}Request":${body}}`;
      bare.socket.send(request);
      assert.equal(await bare.frame(), received(tag, 'c/1+='));
      bare.socket.send(Buffer.from(request.replaceAll('":', '": ')));
      assert.equal(await bare.frame(), received(tag, 'c/1+='), 'binary and spaced');
      enveloped.socket.send(`{"type":"request","channel":"control","request_id":"r-1","data":${request}}`);
      assert.equal(await enveloped.frame(), v1('response', 'control', received(tag, 'c/1+='), null, '"r-1"'));
      enveloped.socket.send(request);
      assert.equal(await enveloped.frame(), v1('response', 'control', received(tag, 'c/1+='), null));
    }
    const [first, second] = [...new Set(oms.actions.map(({ origin }) => origin.connection))];
    assert.notEqual(first, undefined);
    assert.notEqual(second, undefined, 'each connection has a number of its own');
    assert.ok(oms.actions.every(({ origin }) => origin.isControl && origin.user === ALICE));
  });

  test('the asset is repeated letter by letter (wire.md 10.2)', async () => {
    const asset = `0x${'AB'.repeat(20)}@00000000000000A4B1`;
    const control = await open('/control');
    control.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'o', asset)}}`);
    assert.equal(JSON.parse(await control.frame()).CreateOrderResponse.asset_id, asset);
  });

  test('refusals are Rejected in PascalCase, malformed requests too where they name their order (CTL-02, AMB-123)', async () => {
    oms.script = reject('WOULD_CROSS', 'no');
    const control = await open('/control');
    control.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'o')}}`);
    assert.equal(withoutDetail(await control.frame()), received('CreateOrder', 'o', rejectedAs('WouldCross')));
    control.socket.send(
      `{"CancelOrderRequest":${cancelBody(ALICE, 'o').replace('"protocol_version":1', '"other":1')}}`,
    );
    assert.equal(withoutDetail(await control.frame()), received('CancelOrder', 'o', rejectedAs('InvalidRequest')));
    assert.equal(oms.actions.length, 1);
  });

  test('what cannot be correlated is an error frame: junk, pings (WS-10, wire.md 10.2, 10.4)', async () => {
    const frames = [
      'junk',
      '{}',
      '{"type":"ping"}',
      '{"CreateOrderRequest":{}}',
      '{"BatchCreateRequest":{"orders":[]}}',
      '{"BatchReplaceRequest":{"requests":[]}}',
    ];
    for (const version of [0, 1] as const) {
      const control = await open('/control', version);
      for (const text of frames) {
        control.socket.send(text);
        const answer = JSON.parse(await control.frame());
        const keys = ['type', 'channel', 'request_id', 'timestamp_ns', 'data', 'error'];
        assert.deepEqual(Object.keys(answer), version === 0 ? ['error'] : keys, text);
        assert.deepEqual([answer.error.code, answer.error.retryable], ['INVALID_REQUEST', false], text);
      }
      assert.equal(control.socket.readyState, 1);
    }
  });

  test('an action signed by another user is Rejected, then UNAUTHORIZED, then 1000 (AUT-13, AMB-92)', async () => {
    const control = await open('/control');
    control.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'mine')}}`);
    control.socket.send(`{"CancelOrderRequest":${cancelBody(BOB, 'o')}}`);
    control.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'too late')}}`);
    assert.equal(await control.frame(), received('CreateOrder', 'mine'));
    assert.equal(withoutDetail(await control.frame()), received('CancelOrder', 'o', rejectedAs('SignerMismatch')));
    const { error } = JSON.parse(await control.frame());
    assert.equal(error.code, 'UNAUTHORIZED');
    assert.deepEqual(await control.closed, { code: 1000, reason: '' });
    assert.equal(control.unread, 0);
    assert.deepEqual(
      oms.actions.map(({ orderId }) => orderId),
      ['mine', 'o'],
    );
  });

  test('the session is checked with every message (AMB-88)', async () => {
    const control = await open('/control', 1);
    control.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'o')}}`);
    await control.frame();
    oms.expire(ALICE);
    control.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'p')}}`);
    const farewell = JSON.parse(await control.frame());
    assert.deepEqual([farewell.type, farewell.error.code], ['error', 'UNAUTHORIZED']);
    assert.equal((await control.closed).code, 1000);
    assert.equal(oms.actions.length, 1);
  });

  test('a burst is answered whole and in order, answers of a later turn without any flush of the node', async () => {
    const control = await open('/control');
    oms.script = 'later';
    for (let index = 0; index < 2_000; index += 1) {
      control.socket.send(`{"CancelOrderRequest":${cancelBody(ALICE, `o-${index}`)}}`);
    }
    while (oms.actions.length < 2_000) await new Promise(setImmediate);
    // A frame that was left to a later pass counts from its arrival.
    const waitedMs = oms.waitedMs.slice(-2_000);
    assert.ok(Math.min(...waitedMs) >= 0 && Math.max(...waitedMs) > 0.2, `${Math.max(...waitedMs)} ms`);
    for (const { answer } of oms.actions) answer({ refusal: null, processedAtNs: oms.nowNs() });
    for (let index = 0; index < 2_000; index += 1) {
      assert.equal(await control.frame(), received('CancelOrder', `o-${index}`));
    }
  });

  test('an answer to a connection that is gone goes nowhere', async () => {
    const control = await open('/control');
    oms.script = 'later';
    control.socket.send(`{"CancelOrderRequest":${cancelBody(ALICE, 'o')}}`);
    while (oms.actions.length === 0) await new Promise(setImmediate);
    control.socket.terminate();
    while (server.socketCount > 0) await new Promise(setImmediate);
    oms.actions[0]?.answer({ refusal: null, processedAtNs: oms.nowNs() });
    oms.actions[0]?.answer({ refusal: reject('SIGNER_MISMATCH', 'no'), processedAtNs: oms.nowNs() });
    streams.flush();
  });

  test('an exception closes the socket it came from and no other', async () => {
    const broken = new ScriptedOms();
    const reported = new ReportList();
    const own = new OmsServer({ services: broken, observer: reported });
    const ownPort = await own.listen({ host: '127.0.0.1', port: 0 });
    const headers = { authorization: `Bearer ${broken.token(ALICE)}`, 'user-id': ALICE };
    const control = await SocketReader.open(ownPort, '/control', [], headers);
    const orders = await SocketReader.open(ownPort, '/orders', [], headers);
    broken.entry.submit = () => {
      throw new Error('the node broke');
    };
    control.socket.send(`{"CancelOrderRequest":${cancelBody(ALICE, 'o')}}`);
    assert.equal((await control.closed).code, 1011);
    assert.equal(orders.socket.readyState, 1);
    assert.equal(reported.failures.length, 1);
    own.close();
    assert.deepEqual(await orders.closed, { code: 1001, reason: 'going_away' });
  });
});

suite('order service, listener', () => {
  test('a server that stops refuses new sockets and actions and still gives the pending answers', async () => {
    const own = new ScriptedOms();
    const stopping = new OmsServer({ services: own, observer: reports });
    const ownPort = await stopping.listen({ host: '127.0.0.1', port: 0 });
    const headers = { authorization: `Bearer ${own.token(ALICE)}`, 'user-id': ALICE };
    const control = await SocketReader.open(ownPort, '/control', [], headers);
    own.script = 'later';
    control.socket.send(`{"CancelOrderRequest":${cancelBody(ALICE, 'before')}}`);
    while (own.actions.length === 0) await new Promise(setImmediate);
    stopping.stopAccepting();
    control.socket.send(`{"CancelOrderRequest":${cancelBody(ALICE, 'after')}}`);
    assert.equal(JSON.parse(await control.frame()).CancelOrderResponse.response.reason, 'ServiceUnavailable');
    own.actions[0]?.answer({ refusal: null, processedAtNs: own.nowNs() });
    assert.equal(JSON.parse(await control.frame()).CancelOrderResponse.response.order_id, 'before');
    for (const path of PATHS) assert.equal((await askUpgrade(ownPort, path, headers)).status, 503);
    const body = Buffer.from(cancelBody(ALICE, 'o'));
    assert.equal((await ask(ownPort, '/orders/cancel', { method: 'DELETE', headers, body })).status, 503);
    assert.equal((await ask(ownPort, '/markets')).status, 200);
    assert.equal(own.actions.length, 1);
    stopping.close();
    assert.equal((await control.closed).code, 1001);
  });

  test('with certificate and key it serves TLS', async () => {
    const directory = temporaryDirectory();
    const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
    writeFileSync(certFile, TLS_CERTIFICATE);
    writeFileSync(keyFile, TLS_KEY);
    const secure = new OmsServer({ services: new ScriptedOms(), observer: reports, tls: { certFile, keyFile } });
    const tlsPort = await secure.listen({ host: '127.0.0.1', port: 0 });
    const status = await new Promise((resolve, rejectPromise) => {
      const options = { host: '127.0.0.1', servername: 'localhost', port: tlsPort, path: '/markets', agent: false };
      https
        .get({ ...options, ca: TLS_CERTIFICATE, checkServerIdentity: () => undefined }, (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode));
        })
        .on('error', rejectPromise);
    });
    assert.equal(status, 200);
    secure.close();
    const missing = join(directory, 'none.pem');
    assert.throws(() => new OmsServer({ services: oms, observer: reports, tls: { certFile: missing, keyFile } }));
  });
});
