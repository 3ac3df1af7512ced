// tier: quick
/** The limits before authentication, over real sockets (AMB-91). */

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, beforeEach, suite, test } from 'node:test';
import type { UserId } from '../../src/core/ids.ts';
import { reject } from '../../src/core/reject.ts';
import { AddressLimits } from '../../src/gateway/sessions/address-limits.ts';
import { AddressGate, type AddressSource } from '../../src/http/address-gate.ts';
import { OmsServer } from '../../src/http/oms-server.ts';
import { ask, askUpgrade, type HttpAnswer, SocketReader } from '../support/edge-client.ts';
import { listenTo, ReportList } from '../support/listeners.ts';
import { ALICE } from '../support/names.ts';

import { eventually } from '../support/patience.ts';
import { createBody, ScriptedOms } from '../support/scripted-oms.ts';

const SIZE = { unitsPerSecond: 1n, capacity: 40n };
const SECOND = 1_000_000_000n;
const reports = new ReportList();

interface Door {
  readonly oms: ScriptedOms;
  readonly server: OmsServer;
  readonly port: number;
  /** Real time as the gate sees it. */
  nowNs: bigint;
  refused: number;
}

async function open(source: AddressSource): Promise<Door> {
  const oms = new ScriptedOms();
  const gateway: { -readonly [Name in keyof Door]?: Door[Name] } & { nowNs: bigint; refused: number } = {
    oms,
    nowNs: SECOND,
    refused: 0,
  };
  const gate = new AddressGate({
    limits: new AddressLimits({ size: SIZE, socketsMax: 3 }),
    source,
    nowNs: () => gateway.nowNs,
    refused: () => {
      gateway.refused += 1;
    },
  });
  gateway.server = new OmsServer({
    services: oms,
    gate,
    observer: reports,
  });
  oms.streams = gateway.server.streams;
  gateway.port = await gateway.server.listen({ host: '127.0.0.1', port: 0 });
  return gateway as Door;
}

const told = ({ status, text }: HttpAnswer): string => `${status} ${JSON.parse(text).error?.code}`;
const post = (port: number, path: string, body: string, headers = {}): Promise<HttpAnswer> =>
  ask(port, path, { method: 'POST', headers, body: Buffer.from(body) });

suite('an address without a login', () => {
  let gateway: Door;
  before(async () => {
    gateway = await open('peer');
  });
  after(() => {
    gateway.server.close();
    assert.deepEqual(reports.failures, []);
  });
  beforeEach(() => {
    gateway.nowNs += 1_000n * SECOND;
  });

  /** Until the address has used up its budget. @returns how many were answered as they deserve. */
  async function drain(answer: () => Promise<HttpAnswer>, expected: string): Promise<number> {
    for (let count = 0; ; count += 1) {
      const got = told(await answer());
      if (got === '429 RATE_LIMITED') return count;
      assert.equal(got, expected);
    }
  }

  test('malformed bodies, wrong tokens and unknown paths use its budget up, then nothing is read (AMB-91)', async () => {
    // A connection costs 1 each time as well.
    assert.equal(await drain(() => post(gateway.port, '/orders/create', '{"order":'), '400 INVALID_REQUEST'), 20);
    const { details, retryable } = JSON.parse((await ask(gateway.port, '/markets')).text).error;
    assert.equal(retryable, true);
    assert.equal(details.bucket, 'address');
    assert.ok(gateway.refused >= 2);
    gateway.nowNs += 100n * SECOND;
    const wrong = { authorization: 'Bearer nothing', 'user-id': ALICE };
    assert.equal(
      await drain(() => ask(gateway.port, `/inventory/user/${ALICE}`, { headers: wrong }), '401 UNAUTHORIZED'),
      13,
    );
    gateway.nowNs += 100n * SECOND;
    assert.equal(await drain(() => ask(gateway.port, '/nothing'), '404 NOT_FOUND'), 20);
  });

  test('public reads and logins take the upper half of its budget, sessions behind the same address go on', async () => {
    const session = { authorization: `Bearer ${gateway.oms.token(ALICE)}`, 'user-id': ALICE };
    const control = await SocketReader.open(gateway.port, '/control', [], session);
    assert.equal(await drain(() => ask(gateway.port, '/markets'), '200 undefined'), 9, 'a connection and a read each');
    const { details } = JSON.parse((await ask(gateway.port, `/nonce/${ALICE}`)).text).error;
    assert.deepEqual([details.bucket, details.units_asked], ['address', '1']);
    assert.equal((await post(gateway.port, '/orders/create', createBody(ALICE, 'mine'), session)).status, 200);
    assert.equal((await ask(gateway.port, `/inventory/user/${ALICE}`, { headers: session })).status, 200);
    control.socket.terminate();
    await control.closed;
  });

  test('a failed login costs so much that the second is not verified; nothing of a user or of all is charged', async () => {
    gateway.oms.charged.length = 0;
    const login = async (): Promise<HttpAnswer> => {
      const { value } = gateway.oms.sessions.issueNonce(ALICE);
      const signature = `[${'0,'.repeat(63)}0]`;
      return post(gateway.port, '/auth', `{"user_id":"${ALICE}","nonce":"${value}","signature":${signature}}`);
    };
    assert.equal(await drain(login, '401 INVALID_SIGNATURE'), 1);
    assert.deepEqual(gateway.oms.charged, []);
  });

  test('an address that is refused is refused before its session is looked at; what was open goes on', async () => {
    const session = { authorization: `Bearer ${gateway.oms.token(ALICE)}`, 'user-id': ALICE };
    const control = await SocketReader.open(gateway.port, '/control', [], session);
    await drain(() => ask(gateway.port, '/nothing'), '404 NOT_FOUND');
    assert.equal(told(await askUpgrade(gateway.port, '/control', session)), '429 RATE_LIMITED');
    assert.equal(told(await post(gateway.port, '/orders/create', createBody(ALICE, 'x'), session)), '429 RATE_LIMITED');
    control.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'mine')}}`);
    assert.match(await control.frame(), /"order_id":"mine","status":"Received"/);
    control.socket.terminate();
    await control.closed;
  });

  test('malformed frames on /control are paid by the address; without budget the socket ends', async () => {
    const session = { authorization: `Bearer ${gateway.oms.token(ALICE)}`, 'user-id': ALICE };
    const control = await SocketReader.open(gateway.port, '/control', [], session);
    gateway.oms.charged.length = 0;
    for (let each = 0; each < 60; each += 1) control.socket.send('{"CreateOrderRequest":');
    assert.deepEqual(await control.closed, { code: 1013, reason: 'rate_limited' });
    const frames: string[] = [];
    while (control.unread > 0) frames.push(await control.frame());
    const codes = frames.map((text) => /"code":"([A-Z_]+)"/.exec(text)?.[1]);
    assert.equal(codes.at(-1), 'RATE_LIMITED');
    assert.ok(codes.slice(0, -1).every((code) => code === 'INVALID_REQUEST'));
    assert.ok(codes.length > 30 && codes.length < 41, `${codes.length}`);
    assert.deepEqual(gateway.oms.charged, [], 'no user pays for it');
  });

  test('public reads are charged by their bytes, also when it succeeds; a session reads for its user', async () => {
    const spaced = (text: string): string => text.padEnd(4 * 4_096);
    const assets = spaced('{"assets":["1"]}');
    // A connection, three times 4 KiB beyond the first, and the read itself, each time; it ends at the lower half.
    assert.equal(await drain(() => post(gateway.port, '/registry/decimals', assets), '200 undefined'), 4);
    gateway.nowNs += 100n * SECOND;
    assert.equal(await drain(() => post(gateway.port, '/orders/create', spaced('{')), '400 INVALID_REQUEST'), 8);
    gateway.nowNs += 100n * SECOND;
    const session = { authorization: `Bearer ${gateway.oms.token(ALICE)}`, 'user-id': ALICE };
    const order = spaced(createBody(ALICE, 'long'));
    assert.equal(await drain(() => post(gateway.port, '/orders/create', order, session), '200 undefined'), 39);
  });

  test('long frames beyond the budget of their user are paid by the address, short ones cost it a tenth (AMB-91)', async () => {
    const session = { authorization: `Bearer ${gateway.oms.token(ALICE)}`, 'user-id': ALICE };
    const control = await SocketReader.open(gateway.port, '/control', [], session);
    gateway.oms.budget = reject('RATE_LIMITED', 'too many requests');
    const order = `{"CreateOrderRequest":${createBody(ALICE, 'o')}}`;
    for (let each = 0; each < 100; each += 1) {
      control.socket.send(order);
      assert.match(await control.frame(), /"reason":"RateLimited"/);
    }
    for (let each = 0; each < 10; each += 1) control.socket.send(order.padEnd(5 * 4_096));
    assert.deepEqual(await control.closed, { code: 1013, reason: 'rate_limited' });
    gateway.oms.budget = null;
    // 40 units less the connection, the upgrade and 100 tenths; a long frame is 4 and a tenth.
    assert.ok(control.unread >= 7 && control.unread <= 8, `${control.unread}`);
  });

  test('it has so many sockets at most, after any login', async () => {
    const sockets = [];
    const headers = (): Record<string, string> => ({
      authorization: `Bearer ${gateway.oms.token(ALICE)}`,
      'user-id': ALICE,
    });
    for (let each = 0; each < 3; each += 1)
      sockets.push(await SocketReader.open(gateway.port, '/orders', [], headers()));
    const refused = await askUpgrade(gateway.port, '/orders', headers());
    assert.equal(told(refused), '429 RATE_LIMITED');
    assert.deepEqual(JSON.parse(refused.text).error.details, { bucket: 'address', limit: 3 });
    for (const { socket, closed } of sockets) {
      socket.close();
      await closed;
    }
    const again = await SocketReader.open(gateway.port, '/orders', [], headers());
    again.socket.close();
    await again.closed;
  });

  test('silent connections are counted too; a flood of them is not taken', async () => {
    let cut = 0;
    const open = [];
    for (let each = 0; each < 100; each += 1) {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.on('close', () => {
        cut += 1;
      });
      open.push(socket);
      await new Promise((resolve) => socket.once('connect', resolve));
    }
    await eventually(() => cut >= 20);
    assert.equal(cut, 20, '40 units, and 40 more that it may owe');
    for (const socket of open) socket.destroy();
    gateway.nowNs += 1_000n * SECOND;
    assert.equal((await ask(gateway.port, '/markets')).status, 200);
  });
});

suite('behind a terminator', () => {
  let gateway: Door;
  before(async () => {
    gateway = await open('x-forwarded-for');
  });
  after(() => gateway.server.close());

  test('the address is the last element of X-Forwarded-For; what a client wrote before it changes nothing', async () => {
    const bad = (forwarded: string): Promise<HttpAnswer> =>
      ask(gateway.port, '/nothing', { headers: { 'x-forwarded-for': forwarded } });
    for (let each = 0; each < 40; each += 1)
      assert.equal(told(await bad(`10.0.0.${each}, 192.0.2.7`)), '404 NOT_FOUND');
    assert.equal(told(await bad('10.9.9.9, 192.0.2.7')), '429 RATE_LIMITED');
    assert.equal(told(await bad('192.0.2.8')), '404 NOT_FOUND');
    assert.equal((await ask(gateway.port, '/markets')).status, 200, 'the terminator itself');
  });
});

suite('a listener with few sockets', () => {
  const oms = new ScriptedOms();
  const BOB = 'b'.repeat(64) as UserId;
  const listener = listenTo(oms, { socketsMax: 8 });
  oms.unfunded.add(BOB);

  test('users without funds have three quarters of the places; the oldest of theirs gives way to a user with funds', async () => {
    const headers = (user: UserId): Record<string, string> => ({
      authorization: `Bearer ${oms.token(user)}`,
      'user-id': user,
    });
    const strangers: SocketReader[] = [];
    for (let each = 0; each < 6; each += 1) {
      strangers.push(await SocketReader.open(listener.port, '/orders', [], headers(BOB)));
    }
    assert.equal(told(await askUpgrade(listener.port, '/orders', headers(BOB))), '503 SERVICE_UNAVAILABLE');
    const honest: SocketReader[] = [];
    for (let each = 0; each < 8; each += 1) {
      honest.push(await SocketReader.open(listener.port, '/control', [], headers(ALICE)));
    }
    for (const { closed } of strangers) assert.deepEqual(await closed, { code: 1013, reason: 'rate_limited' });
    assert.equal(told(await askUpgrade(listener.port, '/control', headers(ALICE))), '503 SERVICE_UNAVAILABLE');
    for (const { socket, closed } of honest) {
      socket.close();
      await closed;
    }
    const again = await SocketReader.open(listener.port, '/orders', [], headers(BOB));
    again.socket.close();
    await again.closed;
  });
});
