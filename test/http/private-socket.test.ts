// tier: full, 12 s
/** The private socket: authentication, snapshots, updates, resumption, and what happens to hostile and silent clients (PRV-01 to PRV-03). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeEach, suite, test } from 'node:test';
import WebSocket from 'ws';
import type { UserId } from '../../src/core/ids.ts';
import { reject } from '../../src/core/reject.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { AddressLimits } from '../../src/gateway/sessions/address-limits.ts';
import { AddressGate } from '../../src/http/address-gate.ts';
import { OmsServer } from '../../src/http/oms-server.ts';
import { ask, askUpgrade, SocketReader } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';
import { NOW } from '../support/order-fixture.ts';
import { aMoment, eventually } from '../support/patience.ts';
import { ScriptedOms } from '../support/scripted-oms.ts';

const oms = new ScriptedOms();
const listener = listenTo(oms);
beforeEach(() => {
  Object.assign(oms, { budget: null, cap: 10, risk: null });
  oms.charged.length = 0;
});

const as = (user = ALICE): Record<string, string> => ({ authorization: `Bearer ${oms.token(user)}`, 'user-id': user });
const WELCOME = '{"type":"subscriptions","channels":[],"errors":[]}';

async function open(user = ALICE): Promise<SocketReader> {
  const socket = await SocketReader.open(listener.port, '/user/ws', [], as(user));
  assert.equal(await socket.frame(), WELCOME);
  return socket;
}

const send = (socket: SocketReader, frame: object | string): void =>
  socket.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
const subscribe = (...channels: readonly (string | object)[]): object => ({
  type: 'subscribe',
  id: 's',
  channels: channels.map((one) => (typeof one === 'string' ? { name: one } : one)),
});
const read = async (socket: SocketReader): Promise<Record<string, never>> => JSON.parse(await socket.frame());

/** An update of what changed of an account, which is made here. */
function stats(user: UserId, word: string): void {
  listener.server.streams.accountStats(user, `{"accounts":{},"warnings":["${word}"]}`, NOW as TimestampNs);
}

suite('the private socket', () => {
  test('PRV-01: subscribe answers, sends the state that the REST read gives, and then updates with sequence', async () => {
    const socket = await open();
    const paths: Readonly<Record<string, string | null>> = {
      orders: `/orders/user/${ALICE}?open_only=true&limit=500`,
      trades: `/trades/user/${ALICE}?limit=100`,
      positions: `/positions/${ALICE}?limit=1000`,
      account_stats: `/margin/user/${ALICE}`,
      account_events: `/inventory/user/${ALICE}`,
      at_risk: null,
    };
    for (const [name, path] of Object.entries(paths)) {
      send(socket, subscribe(name));
      assert.ok(JSON.stringify(await read(socket)).includes(`"name":"${name}"`));
      const text = await socket.frame();
      const head = new RegExp(
        `^\\{"type":"snapshot","channel":"${name}","sequence":\\d+,"timestamp_ns":${NOW},"data":`,
      );
      assert.match(text, head);
      const data = text.replace(head, '').slice(0, -1);
      if (path === null) assert.equal(data, 'null');
      else assert.equal(data, (await ask(listener.port, path, { headers: as() })).text, name);
    }
    stats(ALICE, 'one');
    stats(BOB, 'of another user');
    stats(ALICE, 'two');
    const updates = [await read(socket), await read(socket)] as unknown as {
      sequence: number;
      data: unknown;
      type: string;
    }[];
    assert.deepEqual(
      updates.map(({ type, data }) => [type, data]),
      ['one', 'two'].map((word) => ['update', { accounts: {}, warnings: [word] }]),
    );
    assert.equal((updates[1]?.sequence ?? 0) - (updates[0]?.sequence ?? 0), 1);
    send(socket, { type: 'unsubscribe', channels: [{ name: 'account_stats' }] });
    const left = (await read(socket)) as unknown as { channels: { name: string }[]; id: null };
    assert.deepEqual([left.channels.length, left.id], [5, null]);
    stats(ALICE, 'nobody reads it');
    send(socket, { type: 'ping', id: 'p' });
    assert.equal(await socket.frame(), '{"type":"pong","id":"p"}');
    send(socket, { type: 'unsubscribe', channels: [{ name: 'account_stats' }] });
    assert.match(await socket.frame(), /"code":"NOT_SUBSCRIBED"/);
    socket.socket.terminate();
  });

  test('PRV-01: resume continues where the ring still reaches, from any socket, and begins with a snapshot beyond it', async () => {
    const first = await open();
    send(first, subscribe('account_stats'));
    await first.frame();
    const snapshot = (await read(first)) as unknown as { sequence: number };
    stats(ALICE, 'seen');
    const seen = (await read(first)) as unknown as { sequence: number };
    assert.equal(seen.sequence, snapshot.sequence + 1);
    first.socket.terminate();
    await first.closed;
    await eventually(() => listener.server.streams.countAll(ALICE) === 0);
    stats(ALICE, 'missed');
    const second = await open();
    send(second, subscribe({ name: 'account_stats', resume: { sequence: seen.sequence } }));
    await second.frame();
    const missed = (await read(second)) as unknown as { type: string; sequence: number; data: { warnings: string[] } };
    assert.deepEqual([missed.type, missed.sequence, missed.data.warnings], ['update', seen.sequence + 1, ['missed']]);
    stats(ALICE, 'next');
    assert.equal(((await read(second)) as unknown as { sequence: number }).sequence, seen.sequence + 2);
    for (const sequence of [0, seen.sequence + 1_000, Number.MAX_SAFE_INTEGER]) {
      send(second, subscribe({ name: 'account_stats', resume: { sequence } }));
      await second.frame();
      assert.equal((await read(second))['type'], 'snapshot', String(sequence));
    }
    second.socket.terminate();
  });

  test('PRV-01: each subscription is paid as the read of its state; a flood of them is refused and changes nothing', async () => {
    const socket = await open();
    send(socket, subscribe('orders', 'account_stats'));
    for (let count = 0; count < 3; count += 1) await socket.frame();
    assert.deepEqual(oms.charged, [
      [ALICE, 'historyPage'],
      [ALICE, 'action'],
    ]);
    oms.budget = reject('RATE_LIMITED', 'the budget is empty');
    for (let count = 0; count < 5; count += 1) {
      send(socket, subscribe('positions'));
      const answer = (await read(socket)) as unknown as { channels: { name: string }[]; errors: { code: string }[] };
      assert.deepEqual([answer.channels.length, answer.errors.map(({ code }) => code)], [2, ['RATE_LIMITED']]);
    }
    for (let count = 0; count < 60; count += 1) send(socket, subscribe('positions'));
    assert.deepEqual(await socket.closed, { code: 1008, reason: 'too_many_frames' });
  });

  test('PRV-01: frames of another form are errors with the member, and a session that ends ends the socket', async () => {
    const socket = await open();
    for (const [frame, field] of [
      ['{', undefined],
      ['[]', undefined],
      ['{"type":"subscribe"}', 'channels'],
      ['{"type":"subscribe","channels":[]}', 'channels'],
      ['{"type":"subscribe","channels":[{"name":"depth"}]}', 'channels[0].name'],
      ['{"type":"subscribe","channels":[{"name":"orders"},{"name":"orders"}]}', 'channels[1].name'],
      ['{"type":"subscribe","channels":[{"name":"orders","resume":{"sequence":-1}}]}', 'channels[0].resume.sequence'],
      ['{"type":"subscribe","channels":[{"name":"orders","more":1}]}', 'channels[0].more'],
      [`{"type":"auth","user_id":"${ALICE}","token":"x"}`, 'type'],
      [`{"type":"ping","id":"${'x'.repeat(65)}"}`, 'id'],
    ] as const) {
      send(socket, frame);
      const { type, error } = (await read(socket)) as unknown as {
        type: string;
        error: { code: string; details?: { field?: string } };
      };
      assert.deepEqual([type, error.code, error.details?.field], ['error', 'INVALID_REQUEST', field], frame);
    }
    oms.expire(ALICE);
    send(socket, { type: 'ping' });
    assert.match(await socket.frame(), /"code":"UNAUTHORIZED"/);
    assert.equal((await socket.closed).code, 1000);
  });

  test('PRV-01: what is at risk comes to every subscriber, with its own sequence', async () => {
    const sockets = [await open(ALICE), await open(BOB)];
    for (const socket of sockets) {
      send(socket, subscribe('at_risk'));
      await socket.frame();
      assert.equal((await read(socket))['type'], 'snapshot');
    }
    listener.server.streams.atRisk({ timestampNs: NOW as TimestampNs, assets: [] });
    const frames = await Promise.all(sockets.map((socket) => socket.frame()));
    assert.equal(frames[0], frames[1]);
    assert.match(frames[0] ?? '', /^\{"type":"update","channel":"at_risk","sequence":\d+/);
    for (const { socket } of sockets) socket.terminate();
  });

  test('PRV-02: the first frame may bring the session; before it nothing else is read', async () => {
    const socket = await SocketReader.open(listener.port, '/user/ws');
    send(socket, { type: 'auth', user_id: ALICE, token: oms.token(ALICE) });
    assert.equal(await socket.frame(), WELCOME);
    send(socket, subscribe('positions'));
    await socket.frame();
    assert.equal((await read(socket))['type'], 'snapshot');
    socket.socket.terminate();
    for (const frame of [
      { type: 'ping' },
      subscribe('orders'),
      { type: 'auth', user_id: ALICE, token: 'wrong' },
      { type: 'auth', user_id: BOB, token: oms.token(ALICE) },
      { type: 'auth', user_id: 'x', token: '' },
      { type: 'auth', token: oms.token(ALICE) },
    ]) {
      const refused = await SocketReader.open(listener.port, '/user/ws');
      send(refused, frame);
      send(refused, { type: 'auth', user_id: ALICE, token: oms.token(ALICE) });
      assert.match(await refused.frame(), /"code":"UNAUTHORIZED"/, JSON.stringify(frame));
      assert.equal((await refused.closed).code, 1000);
      assert.equal(refused.unread, 0, 'one chance');
    }
    const half = await askUpgrade(listener.port, '/user/ws', { authorization: 'Bearer x' });
    assert.equal(half.status, 401, 'what has credentials is judged by them');
    oms.cap = 1;
    const [mine, more] = [await open(), await SocketReader.open(listener.port, '/user/ws')];
    send(more, { type: 'auth', user_id: ALICE, token: oms.token(ALICE) });
    assert.match(await more.frame(), /"code":"RATE_LIMITED"/);
    assert.equal((await more.closed).code, 1000);
    mine.socket.terminate();
  });

  test('PRV-02: a socket whose auth frame never comes is closed after five seconds', async () => {
    const sinceMs = performance.now();
    const socket = await SocketReader.open(listener.port, '/user/ws');
    assert.match(await socket.frame(), /"code":"UNAUTHORIZED"/);
    assert.equal((await socket.closed).code, 1000);
    assert.ok(performance.now() - sinceMs > 4_500);
  });

  test('PRV-02: 1,024 sockets may wait for their first frame; one more is 503, one with credentials is not', async () => {
    const waiting: SocketReader[] = [];
    const first = await SocketReader.open(listener.port, '/user/ws');
    while (waiting.length < 1_023) {
      const some = Array.from({ length: 93 }, () => SocketReader.open(listener.port, '/user/ws'));
      waiting.push(...(await Promise.all(some)));
    }
    const refused = await askUpgrade(listener.port, '/user/ws', {});
    assert.equal(refused.status, 503);
    const mine = await open();
    send(first, { type: 'auth', user_id: ALICE, token: oms.token(ALICE) });
    assert.equal(await first.frame(), WELCOME);
    const next = await SocketReader.open(listener.port, '/user/ws');
    for (const { socket } of [...waiting, first, mine, next]) socket.terminate();
    await eventually(() => listener.server.streams.countAll(ALICE) === 0);
  });

  test('PRV-02: of sockets that wait for their first frame one address has no more than half', async (t) => {
    const limits = new AddressLimits({ size: { unitsPerSecond: 100_000n, capacity: 100_000n }, socketsMax: 2_000 });
    const gate = new AddressGate({ limits, source: 'peer', nowNs: () => 1n, refused: () => undefined });
    const crowded = new OmsServer({ services: oms, gate, observer: listener.reports });
    const port = await crowded.listen({ host: '127.0.0.1', port: 0 });
    const waiting: WebSocket[] = [];
    t.after(() => {
      for (const socket of waiting) socket.terminate();
      crowded.close();
    });
    const from = async (localAddress: string): Promise<() => string> => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/user/ws`, { localAddress });
      let frame = '';
      socket.on('message', (data) => {
        frame = String(data);
      });
      waiting.push(socket);
      await once(socket, 'open');
      return () => frame;
    };
    while (waiting.length < 512) await Promise.all(Array.from({ length: 64 }, () => from('127.0.0.1')));
    const frame = await from('127.0.0.1');
    await eventually(() => frame() !== '');
    assert.match(frame(), /"code":"RATE_LIMITED"/);
    const others = await Promise.all(Array.from({ length: 32 }, () => from('127.0.0.2')));
    const late = await from('127.0.0.2');
    await eventually(() => late() !== '');
    assert.match(late(), /"code":"RATE_LIMITED"/);
    assert.ok(others.every((told) => told() === ''));
  });

  test('PRV-03: at the cap the new socket is 429; silent ones without a pong are closed, those that answer and /control stay', async () => {
    oms.cap = 3;
    const headers = as();
    const control = await deadSocket('/control', headers);
    const alive = await SocketReader.open(listener.port, '/orders', [], headers);
    const dead = await deadSocket('/orders', headers);
    await eventually(() => listener.server.streams.countAll(ALICE) === 3);
    assert.equal((await askUpgrade(listener.port, '/orders', headers)).status, 429);
    await aMoment(3_500);
    assert.equal(listener.server.streams.countAll(ALICE), 3, 'none was silent for five seconds');
    await aMoment(2_000);
    assert.equal((await askUpgrade(listener.port, '/orders', headers)).status, 429);
    await eventually(() => listener.server.streams.countAll(ALICE) === 2);
    await aMoment(500);
    assert.equal(alive.socket.readyState, 1);
    assert.equal(control.closed, false, 'dead or not, /control is not closed for room');
    const later = await SocketReader.open(listener.port, '/user/ws', [], headers);
    assert.equal(await later.frame(), WELCOME, 'a later try finds the room');
    for (const { socket } of [alive, later]) socket.terminate();
    for (const socket of [control, dead]) socket.destroy();
  });
});

/** An open WebSocket whose client answers nothing. */
function deadSocket(path: string, headers: Readonly<Record<string, string>>): Promise<ReturnType<typeof connect>> {
  const socket = connect(listener.port, '127.0.0.1');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write(
    [
      `GET ${path} HTTP/1.1`,
      'host: x',
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      ...lines,
      '',
      '',
    ].join('\r\n'),
  );
  return new Promise((resolve) => {
    socket.once('data', () => resolve(socket));
  });
}
