// tier: quick, 4 s
/** Sessions and credentials on a whole node, byte for byte (wire.md 3, 9.1; SES, AUT). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { SocketReader } from '../support/edge-client.ts';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const SECOND_NS = 1_000_000_000n;

suite('sessions', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user({});
    bob = await node.user({});
  });
  after(() => node?.stop());

  test('a nonce is an object of value and ce_nonce, ASCII without blanks (SES-01, wire.md 3.1)', async () => {
    const answer = await alice.get(`/nonce/${alice.id}`, {});
    assert.equal(answer.status, 200);
    assert.match(answer.text, /^\{"value":"[\x21-\x7e]+","ce_nonce":0\}$/);
    assert.equal(answer.headers['content-type'], 'application/json');
    assert.equal((await alice.get(`/nonce/0x${alice.id.toUpperCase()}`, {})).text, answer.text, 'the same user');
    for (const id of [alice.id.slice(1), `${alice.id}0`, 'g'.repeat(64), 'me']) {
      assert.equal(toldBy(await alice.get(`/nonce/${id}`, {})), '400 INVALID_REQUEST', id);
    }
  });

  test('a login answers token and expiry to the nanosecond, and consumes its nonce (SES-07, SES-08, wire.md 3.2)', async () => {
    const nonce = await alice.nonce();
    const answer = await alice.auth(nonce);
    const expiryNs = node.nowNs + 86_400n * SECOND_NS;
    assert.equal(answer.status, 200);
    assert.match(answer.text, new RegExp(`^\\{"token":"[\\x21-\\x7e]{20,}","expiry_ns":${expiryNs}\\}$`));
    assert.equal(toldBy(await alice.auth(nonce)), '400 NONCE_NOT_FOUND');
  });

  test('what fails does not consume the nonce (SES-02, SES-06, SES-08, SES-10, SES-11, ERR-03, ERR-05)', async () => {
    const stranger = node.stranger();
    assert.equal(toldBy(await stranger.auth('never-issued')), '400 NONCE_NOT_FOUND');
    const nonce = await stranger.nonce();
    assert.equal(toldBy(await stranger.auth('another')), '400 INVALID_NONCE');
    assert.equal(toldBy(await stranger.auth(nonce, bob.key.sign(nonce))), '401 INVALID_SIGNATURE', 'signed by another');
    const decoded = Buffer.from(nonce, 'base64url');
    assert.equal(toldBy(await stranger.auth(nonce, stranger.key.sign(decoded))), '401 INVALID_SIGNATURE');
    const quoted = stranger.key.sign(JSON.stringify(nonce));
    assert.equal(toldBy(await stranger.auth(nonce, quoted)), '401 INVALID_SIGNATURE');
    assert.equal((await stranger.auth(nonce)).status, 200, 'still good');
  });

  test('a nonce is of its user: another may not sign in with it (SES-02)', async () => {
    const nonce = await alice.nonce();
    const body = (id: string, signer: PlainClient): string =>
      `{"user_id":"${id}","nonce":"${nonce}","signature":[${signer.key.sign(nonce).join(',')}]}`;
    assert.match(toldBy(await bob.post('/auth', body(bob.id, bob), {})), /^400 (NONCE_NOT_FOUND|INVALID_NONCE)$/);
    assert.equal(toldBy(await bob.post('/auth', body(alice.id, bob), {})), '401 INVALID_SIGNATURE');
    assert.equal((await alice.auth(nonce)).status, 200);
  });

  test('a login of another shape is 400 (ERR-02, AMB-86)', async () => {
    const nonce = await alice.nonce();
    const good = [...alice.key.sign(nonce)];
    const bodies = [
      '',
      '{',
      'null',
      '[]',
      '{}',
      `{"user_id":"${alice.id}","nonce":"${nonce}"}`,
      `{"user_id":"${alice.id}","nonce":7,"signature":[${good}]}`,
      `{"user_id":"${alice.id.slice(2)}","nonce":"${nonce}","signature":[${good}]}`,
      `{"user_id":"${alice.id}","nonce":"${nonce}","signature":[${good.slice(1)}]}`,
      `{"user_id":"${alice.id}","nonce":"${nonce}","signature":[${[...good.slice(1), 256]}]}`,
      `{"user_id":"${alice.id}","nonce":"${nonce}","signature":[${[...good.slice(1), '1.0']}]}`,
      `{"user_id":"${alice.id}","nonce":"${nonce}","signature":"${Buffer.from(good).toString('hex')}"}`,
      `{"user_id":"${alice.id}","nonce":"${nonce}","nonce":"${nonce}","signature":[${good}]}`,
    ];
    for (const body of bodies) assert.equal(toldBy(await alice.post('/auth', body, {})), '400 INVALID_REQUEST', body);
    assert.equal((await alice.auth(nonce)).status, 200);
  });

  test('logout answers {} and ends every token of the caller, of no other user (SES-12, wire.md 3.3)', async () => {
    const user = await node.user({});
    const first = user.headers;
    await user.login();
    const read = `/orders/user/${user.id}`;
    for (const headers of [first, user.headers]) assert.equal((await user.get(read, headers)).status, 200);
    const out = await user.post('/logout', '');
    assert.deepEqual([out.status, out.text], [200, '{}']);
    for (const headers of [first, user.headers])
      assert.equal(toldBy(await user.get(read, headers)), '401 UNAUTHORIZED');
    assert.equal(toldBy(await user.post('/logout', '')), '401 UNAUTHORIZED');
    assert.equal((await bob.get(`/orders/user/${bob.id}`)).status, 200);
  });

  test('a nonce lasts 5 minutes, the same until 10 s are left; a token a day (SES-03 to SES-05, SES-09)', async () => {
    const user = node.stranger();
    const first = await user.nonce();
    await node.advance(289n * SECOND_NS);
    assert.equal(await user.nonce(), first, '11 s are left');
    await node.advance(SECOND_NS);
    const second = await user.nonce();
    assert.notEqual(second, first, '10 s are left');
    assert.equal(toldBy(await user.auth(first)), '400 INVALID_NONCE', 'replaced (AMB-86)');
    await node.advance(300n * SECOND_NS);
    assert.equal(toldBy(await user.auth(second)), '400 NONCE_EXPIRED');
    await user.login();
    await node.advance(86_400n * SECOND_NS - 1n);
    assert.equal((await user.get(`/orders/user/${user.id}`)).status, 200);
    await node.advance(1n);
    assert.equal(toldBy(await user.get(`/orders/user/${user.id}`)), '401 UNAUTHORIZED');
    await Promise.all([alice.login(), bob.login()]);
  });
});

suite('credentials', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    bob = await node.user();
  });
  after(() => node?.stop());

  test('the scheme is Bearer, the user is the token’s (AUT-01, AUT-02, SES-15, ERR-04)', async () => {
    const path = `/inventory/user/${alice.id}`;
    const wrong: Readonly<Record<string, string>>[] = [
      {},
      { authorization: `Bearer ${alice.token}` },
      { 'user-id': alice.id },
      { authorization: alice.token, 'user-id': alice.id },
      { authorization: `Basic ${alice.token}`, 'user-id': alice.id },
      { authorization: `Bearer ${alice.token}x`, 'user-id': alice.id },
      { authorization: `Bearer  ${alice.token}`, 'user-id': alice.id },
      { authorization: `Bearer ${alice.token}`, 'user-id': bob.id },
      { authorization: `Bearer ${bob.token}`, 'user-id': alice.id },
      { authorization: `Bearer ${alice.token}`, 'user-id': `${alice.id}00` },
    ];
    for (const headers of wrong) {
      assert.equal(toldBy(await alice.get(path, headers)), '401 UNAUTHORIZED', JSON.stringify(headers));
      assert.equal(toldBy(await alice.upgrade('/orders', headers)), '401 UNAUTHORIZED', JSON.stringify(headers));
    }
    assert.equal((await alice.get(path)).status, 200);
  });

  test('a content type is tolerated on requests without body (AUT-03, wire.md 1)', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }, { accept: '*/*' }]) {
      assert.equal((await alice.get(`/inventory/user/${alice.id}`, { ...alice.headers, ...headers })).status, 200);
    }
  });

  test('a malformed body is 400 from any sender, a good one without session 401 (AUT-04, ERR-02, ERR-04, AMB-91)', async () => {
    const actions = [
      ['POST', '/orders/create', alice.createBody()],
      ['PATCH', '/orders/replace', alice.replaceBody({ id: 'none', price: 300_000 })],
      ['DELETE', '/orders/cancel', alice.cancelBody('none')],
      ['DELETE', '/orders/cancel-batch', '{"order_ids":["none"]}'],
    ] as const;
    for (const [method, path, body] of actions) {
      for (const broken of ['', '{', '{}', '[1]', 'null', body.slice(0, -1), `${body}x`, body.replace(/":/, '"')]) {
        assert.equal(toldBy(await alice.send(method, path, broken, {})), '400 INVALID_REQUEST', `${path} ${broken}`);
      }
      assert.equal(toldBy(await alice.send(method, path, body, {})), '401 UNAUTHORIZED', path);
    }
  });

  test('sockets authenticate by headers or by subprotocols in any order (AUT-05 to AUT-08)', async () => {
    (await alice.stream('/orders')).socket.terminate();
    const words = [`Bearer-${alice.token}`, `User-${alice.id}`, 'svc.ws.v1'];
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ].map((order) => order.map((index) => words[index] ?? ''));
    for (const offered of [...orders, words.slice(0, 2), words.slice(0, 2).reverse()]) {
      const stream = await alice.stream('/orders', offered);
      assert.equal(stream.socket.protocol, offered[0], 'the first offered value is selected (AUT-09, AUT-10)');
      stream.socket.send('{"type":"ping"}');
      const pong = await stream.frame();
      if (offered.includes('svc.ws.v1')) assert.match(pong, /^\{"type":"pong","channel":"orders",/);
      else assert.equal(pong, '{"type":"pong"}');
      stream.socket.terminate();
    }
  });

  test('what is not offered is not selected, and the offer of a header session is (AUT-09, AMB-90, wire.md 9.1)', async () => {
    const plain = await alice.stream('/orders');
    assert.equal(plain.socket.protocol, '');
    const offered = await alice.stream('/orders', ['svc.ws.v1', 'other']);
    assert.equal(offered.socket.protocol, 'svc.ws.v1');
    for (const { socket } of [plain, offered]) socket.terminate();
  });

  test('with both families the header wins (AMB-90)', async () => {
    const port = node.ports.oms;
    const bobs = [`Bearer-${bob.token}`, `User-${bob.id}`];
    const stream = await SocketReader.open(port, `/trades/user/${alice.id}`, bobs, alice.headers);
    stream.socket.send('{"type":"ping"}');
    assert.equal(await stream.frame(), '{"type":"pong"}', 'the session is Alice’s, so is the path');
    stream.socket.terminate();
    const wrong = { ...alice.headers, authorization: 'Bearer no', 'sec-websocket-protocol': bobs.join(', ') };
    assert.equal(toldBy(await alice.upgrade('/orders', wrong)), '401 UNAUTHORIZED');
  });

  test('half of the words, or the words of two users, are 401 in the envelope (AUT-06, AUT-11, SES-15)', async () => {
    for (const offered of [
      [`Bearer-${alice.token}`],
      [`User-${alice.id}`],
      ['svc.ws.v1'],
      [`Bearer-${alice.token}`, `User-${bob.id}`],
      [`bearer-${alice.token}`, `user-${alice.id}`],
    ]) {
      const answer = await alice.upgrade('/orders', { 'sec-websocket-protocol': offered.join(', ') });
      assert.equal(answer.status, 401, offered.join());
      assert.equal(errorOf(answer).code, 'UNAUTHORIZED');
      assert.equal(answer.headers['sec-websocket-protocol'], undefined);
    }
  });

  test('the path of another user: one frame, then 1000 (AUT-12, AUT-14, wire.md 9.1)', async () => {
    for (const path of [`/trades/user/events/${bob.id}`, `/trades/user/${bob.id}`]) {
      const v0 = await alice.stream(path);
      const frame = await v0.frame();
      assert.match(
        frame,
        /^\{"type":"error","channel":"trades","error":\{"code":"unauthorized","message":"[^"]+","retryable":false\}\}$/,
      );
      assert.deepEqual(await v0.closed, { code: 1000, reason: '' });
      const v1 = await alice.stream(path, ['svc.ws.v1']);
      assert.match(
        await v1.frame(),
        /^\{"type":"error","channel":"trades","request_id":null,"timestamp_ns":\d{19},"data":null,"error":\{"code":"unauthorized",/,
      );
      assert.deepEqual(await v1.closed, { code: 1000, reason: '' });
    }
  });

  test('logout ends open sockets with a word and 1000; on /control the word is UNAUTHORIZED (AUT-13, AMB-88, ERR-12)', async () => {
    const user = await node.user({});
    const streams = [await user.stream('/orders'), await user.stream('/control')];
    await user.post('/logout', '');
    const [orders, control] = await Promise.all(streams.map((stream) => stream.frame()));
    assert.match(orders ?? '', /^\{"type":"error","channel":"orders","error":\{"code":"unauthorized",/);
    assert.match(control ?? '', /^\{"error":\{"code":"UNAUTHORIZED","message":"[^"]+","retryable":false\}\}$/);
    for (const { closed } of streams) assert.deepEqual(await closed, { code: 1000, reason: '' });
  });

  test('public routes look at no credentials (AMB-89, wire.md 3.4)', async () => {
    const headers = { authorization: 'Bearer nonsense', 'user-id': 'nobody' };
    for (const path of ['/markets', '/market/2', `/nonce/${alice.id}`]) {
      assert.equal((await alice.get(path, headers)).status, 200, path);
    }
  });

  test('a refused action leaves nothing behind: it can be sent again as it is (wire.md 3.4)', async () => {
    const body = alice.createBody({ side: 'Buy', price: 100_000 });
    assert.equal(toldBy(await alice.post('/orders/create', body, {})), '401 UNAUTHORIZED');
    assert.equal(toldBy(await alice.post('/orders/create', body, bob.headers)), '403 SIGNER_MISMATCH');
    assert.equal((await alice.post('/orders/create', body)).status, 200);
  });
});
