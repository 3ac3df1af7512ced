// tier: quick

import assert from 'node:assert/strict';
import { before, beforeEach, suite, test } from 'node:test';
import { devKey } from '../../src/client/keys.ts';
import { reject } from '../../src/core/reject.ts';
import { ask, type HttpAnswer, type HttpAsk } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';
import { BASE, NOW } from '../support/order-fixture.ts';
import { cancelBody, createBody, replaceBody, ScriptedOms } from '../support/scripted-oms.ts';

const oms = new ScriptedOms();
const listener = listenTo(oms);
beforeEach(() => {
  oms.script = 'received';
  oms.actions.length = 0;
});

const as = (user: typeof ALICE): Record<string, string> => ({
  authorization: `Bearer ${oms.token(user)}`,
  'user-id': user,
});
const post = (path: string, body: string, headers: HttpAsk['headers'] = {}, method = 'POST'): Promise<HttpAnswer> =>
  ask(listener.port, path, { method, headers, body: Buffer.from(body) });
const read = (path: string, user = ALICE): Promise<HttpAnswer> => ask(listener.port, path, { headers: as(user) });
const told = ({ status, text }: HttpAnswer): [number, string] => [status, JSON.parse(text).error.code];
const UNAUTHORIZED: [number, string] = [401, 'UNAUTHORIZED'];

const ACTIONS: readonly [string, string, (orderId: string, signer?: typeof ALICE) => string][] = [
  ['POST', '/orders/create', (orderId, signer = ALICE) => createBody(signer, orderId)],
  ['PATCH', '/orders/replace', (orderId, signer = ALICE) => replaceBody(signer, orderId)],
  ['DELETE', '/orders/cancel', (orderId, signer = ALICE) => cancelBody(signer, orderId)],
];
const READS = [
  `/orders/user/${ALICE}`,
  `/orders/user/${ALICE}/12`,
  `/orders/user/${ALICE}/12/order-1`,
  `/trades/user/${ALICE}`,
  `/trades/user/${ALICE}/12`,
  `/inventory/user/${ALICE}`,
];

suite('order service, sessions', () => {
  test('a signed nonce becomes a token, which logout ends (SES-01, SES-07, SES-08, SES-12, AMB-86)', async () => {
    const key = devKey('a');
    const nonce = JSON.parse((await ask(listener.port, `/nonce/0x${key.userId.toUpperCase()}`)).text);
    assert.deepEqual(Object.keys(nonce), ['value', 'ce_nonce']);
    const body = (signed: string): string =>
      `{"user_id":"${key.userId}","nonce":"${nonce.value}","signature":[${key.sign(Buffer.from(signed)).join(',')}]}`;
    assert.deepEqual(told(await post('/auth', body('something else'))), [401, 'INVALID_SIGNATURE']);
    const login = await post('/auth', body(nonce.value));
    assert.equal(login.status, 200);
    assert.match(login.text, /^\{"token":"[\w-]{43}","expiry_ns":1770086400000000001\}$/);
    assert.deepEqual(told(await post('/auth', body(nonce.value))), [400, 'NONCE_NOT_FOUND']);
    const headers = { authorization: `Bearer ${JSON.parse(login.text).token}`, 'user-id': key.userId };
    const mine = `/orders/user/${key.userId}`;
    assert.equal((await ask(listener.port, mine, { headers })).status, 200);
    const out = await ask(listener.port, '/logout', { method: 'POST', headers });
    assert.deepEqual([out.status, out.text], [200, '{}']);
    assert.deepEqual(told(await ask(listener.port, mine, { headers })), UNAUTHORIZED);
    assert.deepEqual(told(await ask(listener.port, '/logout', { method: 'POST' })), UNAUTHORIZED);
  });

  test('a malformed user or login is 400 (AMB-86)', async () => {
    for (const user of ['', 'zz', ALICE.slice(1)]) {
      if (user !== '') assert.deepEqual(told(await ask(listener.port, `/nonce/${user}`)), [400, 'INVALID_REQUEST']);
      const body = `{"user_id":"${user}","nonce":"n","signature":[]}`;
      assert.deepEqual(told(await post('/auth', body)), [400, 'INVALID_REQUEST']);
    }
    assert.deepEqual(told(await post('/auth', '{')), [400, 'INVALID_REQUEST']);
  });

  test('protected routes take a live token of the same user and nothing else (AUT-01, AUT-02, SES-15)', async () => {
    const token = oms.token(ALICE);
    const wrong: HttpAsk['headers'][] = [
      {},
      { authorization: `Bearer ${token}` },
      { 'user-id': ALICE },
      { authorization: token, 'user-id': ALICE },
      { authorization: `Basic ${token}`, 'user-id': ALICE },
      { authorization: 'Bearer ', 'user-id': ALICE },
      { authorization: 'Bearer nonsense', 'user-id': ALICE },
      { authorization: `Bearer ${token}`, 'user-id': BOB },
      { authorization: `Bearer ${token}`, 'user-id': 'x' },
      { 'sec-websocket-protocol': `Bearer-${token}, User-${ALICE}` },
    ];
    for (const path of READS) {
      for (const headers of wrong)
        assert.deepEqual(told(await ask(listener.port, path, { headers: headers ?? {} })), UNAUTHORIZED);
      const twice = { authorization: [`Bearer ${token}`, 'Bearer other'], 'user-id': ALICE };
      assert.deepEqual(
        told(await ask(listener.port, path, { headers: twice })),
        [400, 'INVALID_REQUEST'],
        'duplicated header',
      );
      assert.deepEqual(told(await read(path, BOB)), UNAUTHORIZED, 'the path names another user (G25)');
    }
    const spelled = { authorization: `bearer ${token}`, 'user-id': `0x${ALICE.toUpperCase()}` };
    assert.equal((await ask(listener.port, `/orders/user/${ALICE.toUpperCase()}`, { headers: spelled })).status, 200);
  });

  test('public routes ignore credentials (AMB-89)', async () => {
    const headers = { authorization: 'Bearer nonsense', 'user-id': BOB };
    for (const path of ['/markets', '/market/12', `/nonce/${ALICE}`]) {
      assert.equal((await ask(listener.port, path, { headers })).status, 200, path);
    }
  });
});

suite('order service, signed actions', () => {
  test('shape comes before the session, the session before the node (AUT-04, AMB-91)', async () => {
    for (const [method, path, bodyOf] of ACTIONS) {
      for (const body of [
        '',
        '{',
        '[]',
        '{}',
        bodyOf('o-1').replace('"protocol_version"', '"x":1,"protocol_version"'),
      ]) {
        assert.deepEqual(told(await post(path, body, {}, method)), [400, 'INVALID_REQUEST'], `${path} ${body}`);
      }
      const refused = await post(path, bodyOf('o-1'), {}, method);
      assert.deepEqual(told(refused), UNAUTHORIZED);
      assert.deepEqual(JSON.parse(refused.text).error.details, { order_id: 'o-1' });
    }
    assert.deepEqual(oms.actions, []);
  });

  test('what the node receives is answered with the operation response (ORD-19, RPL-03, CAN-02, AMB-16)', async () => {
    for (const [method, path, bodyOf] of ACTIONS) {
      const { status, text, headers } = await post(path, bodyOf('q3Jk+/9s=='), as(ALICE), method);
      assert.equal(status, 200);
      assert.equal(headers['content-type'], 'application/json');
      assert.equal(text, `{"order_id":"q3Jk+/9s==","status":"Received","reason":null,"processed_at_ns":${NOW}}`);
    }
    assert.deepEqual(
      oms.actions.map(({ kind, origin }) => [kind, origin.user, origin.isControl]),
      [
        ['create', ALICE, false],
        ['replace', ALICE, false],
        ['cancel', ALICE, false],
      ],
    );
  });

  test('refusals are envelopes that name the order (AMB-16, AMB-103, ERR-10)', async () => {
    oms.script = { ...reject('WOULD_CROSS', 'no', 'limit_price'), details: { best: 5n } };
    for (const [method, path, bodyOf] of ACTIONS) {
      const crossed = await post(path, bodyOf('o-2'), as(ALICE), method);
      assert.deepEqual(told(crossed), [400, 'WOULD_CROSS']);
      assert.deepEqual(JSON.parse(crossed.text).error.details, { field: 'limit_price', best: 5, order_id: 'o-2' });
      const foreign = await post(path, bodyOf('o-3', BOB), as(ALICE), method);
      assert.deepEqual(told(foreign), [403, 'SIGNER_MISMATCH']);
    }
    oms.script = reject('MARKET_HALTED', 'no');
    const halted = await post('/orders/create', createBody(ALICE, 'o'), as(ALICE));
    assert.deepEqual([halted.status, JSON.parse(halted.text).error.retryable], [503, true]);
  });

  test('an answer may come later, and a second request does not wait for it', async () => {
    oms.script = 'later';
    const first = post('/orders/create', createBody(ALICE, 'slow'), as(ALICE));
    while (oms.actions.length === 0) await new Promise(setImmediate);
    oms.script = 'received';
    assert.equal((await post('/orders/cancel', cancelBody(ALICE, 'fast'), as(ALICE), 'DELETE')).status, 200);
    oms.actions[0]?.answer({ refusal: null, processedAtNs: oms.nowNs() });
    assert.equal(JSON.parse((await first).text).order_id, 'slow');
    assert.notEqual(oms.actions[0]?.origin.connection, oms.actions[1]?.origin.connection);
  });
});

suite('order service, reads', () => {
  before(() => {
    const { fixture } = oms;
    const bid = fixture.place({ id: 'a/b+c=', user: ALICE, price: 200_000, quantity: 10_000 });
    fixture.place({ id: 'resting', user: ALICE, price: 100_000, quantity: 1_000 });
    const ask_ = fixture.place({ id: 'ask', user: BOB, side: 1, price: 200_000, quantity: 10_000 });
    fixture.confirm(fixture.match(bid, ask_, 200_000, 10_000));
    fixture.end(bid, 32);
    fixture.end(ask_, 32);
  });

  test('one market or all (wire.md 7.2)', async () => {
    const markets = JSON.parse((await ask(listener.port, '/markets')).text);
    assert.equal(markets[0].asset_id, '12');
    assert.deepEqual(JSON.parse((await ask(listener.port, '/market/12')).text), markets[0]);
    assert.equal(markets[0].tick_size, '0.05');
    for (const unknown of ['13', 'x', '99999']) {
      assert.deepEqual(told(await ask(listener.port, `/market/${unknown}`)), [404, 'MARKET_NOT_FOUND']);
    }
  });

  test('orders of all markets are an envelope, of one market a bare array (QRY-01, QRY-02, AMB-105)', async () => {
    const { status, text } = await read(`/orders/user/${ALICE}?limit=1`);
    assert.equal(status, 200);
    const page = JSON.parse(text);
    assert.deepEqual(Object.keys(page), [
      'orders',
      'page',
      'limit',
      'total_orders',
      'total_pages',
      'cursor_size',
      'has_next_page',
      'next_page',
    ]);
    assert.deepEqual([page.limit, page.total_orders, page.total_pages, page.next_page], [1, 2, 2, 1]);
    const rows = JSON.parse((await read(`/orders/user/${ALICE}/12?limit=1001`)).text);
    assert.deepEqual(rows.map((row: { order_id: string }) => row.order_id).sort(), ['a/b+c=', 'resting']);
    assert.equal(JSON.parse((await read(`/orders/user/${ALICE}?limit=1001`)).text).limit, 1_000);
    const open = JSON.parse((await read(`/orders/user/${ALICE}/12?open_only=true&sub_account=0&sub_account=1`)).text);
    assert.deepEqual(
      open.map((row: { status: string }) => row.status),
      ['Open'],
    );
    assert.equal((await read(`/orders/user/${ALICE}/12?sub_account=1`)).text, '[]');
    assert.equal((await read(`/orders/user/${ALICE}/12?page=7`)).text, '[]');
    assert.deepEqual(told(await read(`/orders/user/${ALICE}/13`)), [404, 'MARKET_NOT_FOUND']);
    assert.deepEqual(told(await read(`/orders/user/${ALICE}/x`)), [404, 'MARKET_NOT_FOUND']);
  });

  test('a malformed query is 400, before the session is looked at (PAG-01, AMB-91)', async () => {
    for (const query of ['limit=0', 'limit=-1', 'page=x', 'open_only=1', 'open_only=true&open_only=true']) {
      assert.deepEqual(
        told(await ask(listener.port, `/orders/user/${ALICE}?${query}`)),
        [400, 'INVALID_REQUEST'],
        query,
      );
    }
    for (const query of ['sub_account=256', 'sub_account=-1', 'sub_account=', 'sub_account=01']) {
      assert.deepEqual(
        told(await ask(listener.port, `/orders/user/${ALICE}/12?${query}`)),
        [400, 'INVALID_REQUEST'],
        query,
      );
      assert.deepEqual(
        told(await ask(listener.port, `/inventory/user/${ALICE}?${query}`)),
        [400, 'INVALID_REQUEST'],
        query,
      );
    }
    assert.deepEqual(told(await read('/orders/user/zz')), [400, 'INVALID_REQUEST']);
  });

  test('one order is found by its percent-encoded id (QRY-11, G7)', async () => {
    const { status, text } = await read(`/orders/user/${ALICE}/12/${encodeURIComponent('a/b+c=')}`);
    assert.equal(status, 200);
    const record = JSON.parse(text);
    assert.deepEqual([record.order_id, record.status, record.confirmed_filled_quantity], ['a/b+c=', 'Filled', '1']);
    for (const id of ['unknown', 'sys-1', '%20', 'x'.repeat(65)]) {
      assert.deepEqual(told(await read(`/orders/user/${ALICE}/12/${id}`)), [404, 'ORDER_NOT_FOUND'], id);
    }
    assert.deepEqual(told(await read(`/orders/user/${ALICE}/13/resting`)), [404, 'MARKET_NOT_FOUND']);
    assert.deepEqual(told(await read(`/orders/user/${ALICE}/12/%zz`)), [400, 'INVALID_REQUEST']);
  });

  test('confirmed trades are an envelope for all markets and for one (QRY-03, QRY-04)', async () => {
    for (const path of [`/trades/user/${ALICE}`, `/trades/user/${ALICE}/${BASE}`]) {
      const page = JSON.parse((await read(`${path}?page=0&limit=5`)).text);
      assert.equal(page.total_trades, 1);
      const [trade] = page.trades;
      assert.deepEqual(
        [trade.order_id, trade.price, trade.quantity, trade.is_maker, trade.status],
        ['a/b+c=', '2000', '1', true, 'Confirmed'],
      );
    }
    assert.deepEqual(told(await read(`/trades/user/${ALICE}/13`)), [404, 'MARKET_NOT_FOUND']);
  });

  test('inventory is shown by sub-account, for a new user too (QRY-09, AMB-139)', async () => {
    const all = JSON.parse((await read(`/inventory/user/${ALICE}`)).text);
    assert.deepEqual([all.is_mm, Object.keys(all.accounts)], [false, ['0', '1']]);
    assert.deepEqual(Object.keys(all.accounts['0'].spot), ['0', '12']);
    const one = JSON.parse((await read(`/inventory/user/${ALICE}?sub_account=1`)).text);
    assert.deepEqual(Object.keys(one.accounts), ['1']);
    const stranger = devKey('b').userId;
    assert.deepEqual(Object.keys(JSON.parse((await read(`/inventory/user/${stranger}`, stranger)).text).accounts), [
      '0',
      '1',
    ]);
    assert.equal(JSON.parse((await read(`/orders/user/${stranger}`, stranger)).text).total_orders, 0);
  });

  test('stream paths without Upgrade are 426, other paths 404, other methods 405 (AMB-97, wire.md 1)', async () => {
    const expected: readonly [string, string, number, string][] = [
      ['GET', '/orders', 426, 'UPGRADE_REQUIRED'],
      ['GET', '/control', 426, 'UPGRADE_REQUIRED'],
      ['GET', `/trades/user/events/${ALICE}`, 426, 'UPGRADE_REQUIRED'],
      ['POST', `/trades/user/events/${ALICE}`, 405, 'METHOD_NOT_ALLOWED'],
      ['GET', '/orders/create', 405, 'METHOD_NOT_ALLOWED'],
      ['POST', '/orders/cancel', 405, 'METHOD_NOT_ALLOWED'],
      ['POST', '/markets', 405, 'METHOD_NOT_ALLOWED'],
      ['GET', '/registry', 404, 'NOT_FOUND'],
      ['GET', `/orders/user/${ALICE}/12/a/b`, 404, 'NOT_FOUND'],
    ];
    for (const [method, path, status, code] of expected) {
      assert.deepEqual(told(await ask(listener.port, path, { method })), [status, code], `${method} ${path}`);
    }
  });
});
