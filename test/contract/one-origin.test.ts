// tier: quick
/**
 * Logins at the market-data listener, names of sub-accounts there, and market data at the order listener's origin
 * (wire-additions.md 8.1 to 8.4, 9.3).
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { ask, type HttpAnswer, type HttpAsk, SocketReader } from '../support/edge-client.ts';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

type Place = readonly [port: 'oms' | 'mds', below: string];
/** Where a login of market data is. */
const MARKET_DATA: readonly Place[] = [
  ['mds', ''],
  ['mds', '/market-data'],
  ['oms', '/market-data'],
];
const ORDERS: Place = ['oms', ''];

suite('one origin', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    bob = await node.user();
    await node.trade(alice, bob);
    await node.rest();
  });
  after(() => node?.stop());

  const at = ([port, below]: Place, path: string, options: HttpAsk = {}): Promise<HttpAnswer> =>
    ask(node.ports[port], `${below}${path}`, options);
  const nonceAt = async (place: Place, user: PlainClient): Promise<string> =>
    (JSON.parse((await at(place, `/nonce/${user.id}`)).text) as { value: string }).value;
  const authAt = (place: Place, user: PlainClient, nonce: string): Promise<HttpAnswer> => {
    const signature = [...user.key.sign(nonce)];
    const body = JSON.stringify({ user_id: user.id, nonce, signature });
    return at(place, '/auth', { method: 'POST', body: Buffer.from(body) });
  };
  const headersOf = (user: PlainClient, answer: HttpAnswer): HttpAsk['headers'] => {
    const { token } = JSON.parse(answer.text) as { token: string };
    return { authorization: `Bearer ${token}`, 'user-id': user.id };
  };

  test('each listener has a nonce of its own, accepted only where it was issued, and the tokens of either are valid on both', async () => {
    const ofOrders = await nonceAt(ORDERS, alice);
    const [ofMarketData = '', ...others] = await Promise.all(MARKET_DATA.map((place) => nonceAt(place, alice)));
    assert.deepEqual(others, [ofMarketData, ofMarketData], 'one login of market data');
    assert.notEqual(ofMarketData, ofOrders);
    assert.equal(toldBy(await authAt(ORDERS, alice, ofMarketData)), '400 INVALID_NONCE');
    assert.equal(toldBy(await authAt(['mds', ''], alice, ofOrders)), '400 INVALID_NONCE');
    // Both at once: neither spends the other's nonce.
    const logins = await Promise.all([authAt(['mds', ''], alice, ofMarketData), authAt(ORDERS, alice, ofOrders)]);
    for (const login of logins) {
      assert.equal(login.status, 200, login.text);
      const headers = headersOf(alice, login) ?? {};
      assert.equal((await ask(node.ports.oms, `/inventory/user/${alice.id}`, { headers })).status, 200);
      for (const place of MARKET_DATA) {
        assert.equal((await at(place, `/sub-accounts/user/${alice.id}`, { headers })).status, 200);
      }
    }
    assert.equal(toldBy(await authAt(['mds', ''], alice, ofMarketData)), '400 NONCE_NOT_FOUND', 'it was spent');
    const headers = headersOf(alice, logins[0]) ?? {};
    assert.equal((await ask(node.ports.oms, '/logout', { method: 'POST', headers })).status, 200);
    const over = await at(['mds', ''], `/sub-accounts/user/${alice.id}`, { headers });
    assert.equal(toldBy(over), '401 UNAUTHORIZED', 'logout revokes all');
    await alice.login();
  });

  test('errors of a login pass through whole: codes, fields, trace ids', async () => {
    for (const place of MARKET_DATA) {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const bad = await at(place, '/nonce/xyz', { headers: { traceparent } });
      assert.deepEqual([bad.status, errorOf(bad).details?.['field']], [400, 'user_id']);
      assert.equal(errorOf(bad).trace_id, '0af7651916cd43dd8448eb211c80319c');
      const malformed = await at(place, '/auth', { method: 'POST', body: Buffer.from('{') });
      assert.equal(toldBy(malformed), '400 INVALID_REQUEST');
      const forged = JSON.stringify({
        user_id: bob.id,
        nonce: await nonceAt(place, bob),
        signature: Array(64).fill(1),
      });
      const refused = await at(place, '/auth', { method: 'POST', body: Buffer.from(forged) });
      assert.equal(toldBy(refused), '401 INVALID_SIGNATURE');
      assert.equal(toldBy(await at(place, '/auth')), '405 METHOD_NOT_ALLOWED');
    }
  });

  test('reads of users need the session of their user', async () => {
    for (const place of MARKET_DATA) {
      const path = `/sub-accounts/user/${alice.id}`;
      assert.equal(toldBy(await at(place, path)), '401 UNAUTHORIZED');
      assert.equal(toldBy(await at(place, path, { headers: bob.headers })), '401 UNAUTHORIZED');
      const { code, details } = errorOf(await at(place, `${path}?nonsense=1`));
      assert.deepEqual([code, details?.['field']], ['INVALID_REQUEST', 'nonsense'], 'before the session');
    }
  });

  test('names of sub-accounts are those that the user gave; a rename answers the old and the new one', async () => {
    const names = async (): Promise<unknown> =>
      JSON.parse((await at(['mds', ''], `/sub-accounts/user/${alice.id}`, { headers: alice.headers })).text);
    assert.deepEqual(await names(), { names: [] });
    const opened = await alice.transfer({ source: 0, target: 3, amount: '1000000', type: '"CrossMargin"', nonce: 1 });
    assert.equal(opened.text, '{"success":true}');
    assert.deepEqual(await names(), { names: [] }, 'an account without a name of its own');
    const rename = (name: string): Promise<HttpAnswer> =>
      alice.send('PATCH', `/account/${alice.id}/sub-account/3/name`, JSON.stringify({ name }));
    assert.equal(
      (await rename('Hedge book')).text,
      '{"sub_account_index":3,"name":"Hedge book","account_index":3,"old_name":"Account 3","new_name":"Hedge book"}',
    );
    assert.match((await rename('Carry')).text, /"old_name":"Hedge book","new_name":"Carry"\}$/);
    assert.deepEqual(await names(), { names: [{ account_index: 3, name: 'Carry' }] });
    assert.deepEqual(await names(), JSON.parse((await alice.get(`/sub-accounts/user/${alice.id}`)).text));
  });

  test('the order listener serves public market data at its own path and below /market-data, byte for byte', async () => {
    for (const path of ['/trades', '/trades/2?limit=1', '/marketdepth/2', '/klines/2?limit=5', '/openinterest']) {
      const there = await at(['mds', ''], path);
      assert.equal(there.status, 200, there.text);
      for (const place of [ORDERS, ...MARKET_DATA]) {
        const here = await at(place, path);
        assert.deepEqual([here.status, here.text], [there.status, there.text], `${place.join(' ')} ${path}`);
        assert.equal(here.headers['content-type'], 'application/json');
        const head = await at(place, path, { method: 'HEAD' });
        assert.deepEqual([head.status, head.text], [200, '']);
        assert.equal(head.headers['content-length'], String(Buffer.byteLength(there.text)));
      }
    }
    for (const place of [ORDERS, ...MARKET_DATA]) {
      assert.equal(toldBy(await at(place, '/ticker/77')), '404 MARKET_NOT_FOUND');
      assert.equal(errorOf(await at(place, '/tickers?nonsense=1')).details?.['field'], 'nonsense');
      assert.equal(toldBy(await at(place, '/tickers', { method: 'POST' })), '405 METHOD_NOT_ALLOWED');
      assert.equal((await at(place, '/api-doc.json')).status, 200);
    }
    assert.equal(toldBy(await at(['mds', '/market-data'], '/nowhere')), '404 NOT_FOUND');
    assert.equal(toldBy(await at(['oms', '/market-data'], '/markets')), '404 NOT_FOUND');
  });

  test('pages of any origin may read public market data and documents, and nothing else (MCH-06)', async () => {
    const originOf = async (port: 'oms' | 'mds', path: string, headers: HttpAsk['headers'] = {}): Promise<unknown> => {
      const answer = await ask(node.ports[port], path, { headers: { origin: 'https://charts.example', ...headers } });
      assert.equal(answer.headers['access-control-allow-credentials'], undefined, path);
      assert.equal(answer.headers['uwebsockets'], undefined, 'no header names the server');
      return answer.headers['access-control-allow-origin'];
    };
    const reads = ['/marketdepth/2', '/trades/2', '/ticker/2', '/klines/2', '/trades', '/tickers', '/marketdepth/77'];
    const documents = ['/api-doc.json', '/async-api.json', '/api-reference'];
    for (const path of [...reads, ...documents]) assert.equal(await originOf('mds', path), '*', path);
    for (const path of reads) {
      assert.equal(await originOf('oms', path), '*', path);
      assert.equal(await originOf('oms', `/market-data${path}`), '*', path);
    }
    for (const path of documents) assert.equal(await originOf('oms', path), '*', path);
    const session = { authorization: `Bearer ${alice.token}`, 'user-id': alice.id };
    for (const path of [
      `/orders/user/${alice.id}`,
      `/inventory/user/${alice.id}`,
      `/nonce/${alice.id}`,
      '/',
      '/none',
    ]) {
      assert.equal(await originOf('oms', path, session), undefined, path);
    }
    assert.equal(await originOf('mds', `/nonce/${alice.id}`), undefined);
    assert.equal(await originOf('mds', `/orders/user/${alice.id}`, session), undefined);
  });

  test('every stream of market data is at both listeners, at its own path and below /market-data', async () => {
    const streams = [
      '/marketdepth/diff/2',
      '/klines/diff/2?interval=1m',
      '/trades',
      '/trades/2',
      '/ticker/ws/2',
      '/tickers/ws',
    ];
    const readers = new Map<string, SocketReader[]>();
    for (const path of [...streams, '/trades/events', '/ws']) {
      const ofPath: SocketReader[] = [];
      for (const [port, below] of [ORDERS, ...MARKET_DATA]) {
        ofPath.push(await SocketReader.open(node.ports[port], `${below}${path}`));
      }
      readers.set(path, ofPath);
      const welcomes = await Promise.all(ofPath.map((reader) => reader.frame()));
      assert.match(welcomes[0] ?? '', /^{"type":"subscriptions",/);
      assert.equal(new Set(welcomes).size, 1, path);
    }
    const subscribe = { type: 'subscribe', channels: [{ name: 'trades', asset_ids: ['2'] }] };
    for (const reader of readers.get('/ws') ?? []) {
      reader.socket.send(JSON.stringify(subscribe));
      assert.match(await reader.frame(), /^{"type":"subscriptions",/);
      assert.match(await reader.frame(), /^{"type":"snapshot","channel":"trades","asset_id":"2","sequence":1,/);
    }
    await node.trade(alice, bob);
    // Those that every trade has a frame on, without regard to the clock.
    for (const path of ['/trades', '/trades/2', '/trades/events', '/ws']) {
      const ofPath = readers.get(path) ?? [];
      const frames = (await Promise.all(ofPath.map((reader) => reader.frame()))).map((frame) =>
        path === '/ws' ? frame.replace(/"timestamp_ns":\d+/, '') : frame,
      );
      assert.equal(new Set(frames).size, 1, `${path}: ${frames.join('\n')}`);
    }
    for (const reader of [...readers.values()].flat()) reader.socket.close();
    for (const [port, below] of [ORDERS, ...MARKET_DATA]) {
      for (const path of ['/trades/77', '/ticker/ws/77', '/trades?page=1']) {
        const expected = path.includes('77') ? /404/ : /400/;
        await assert.rejects(SocketReader.open(node.ports[port], `${below}${path}`), expected);
      }
      assert.equal((await at([port, below], '/trades/events')).status, 426);
      assert.equal((await at([port, below], '/ws')).status, 426);
    }
    const mine = await SocketReader.open(node.ports.oms, `/trades/user/${alice.id}`, [], alice.headers);
    mine.socket.close();
    assert.equal((await mine.closed).code, 1005, 'its own streams are where they were');
  });

  test('many requests at once through the other thread are all answered', async () => {
    const answers = await Promise.all(Array.from({ length: 300 }, () => at(ORDERS, '/market-data/trades/2')));
    for (const { status } of answers) assert.ok(status === 200 || status === 429, String(status));
    assert.equal(answers[0]?.status, 200);
  });
});
