// tier: quick
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { suite, test } from 'node:test';
import { SOCKET_LAG_MESSAGES_MAX, WORK_PER_TURN_MAX } from '../../src/core/limits.ts';
import { accepted, rejected } from '../../src/core/outcome.ts';
import { reject } from '../../src/core/reject.ts';
import { StreamChannel } from '../../src/http/channel.ts';
import {
  Backlog,
  frameHeaderBytes,
  type LagRule,
  MDS_LAG,
  OMS_LAG,
  type StreamSocket,
  selectSubprotocol,
} from '../../src/http/uws-socket.ts';
import { frameBytes, OPCODE } from '../fuzz/raw-socket.ts';
import { SocketReader } from '../support/edge-client.ts';
import { listenWith, RouteListener } from '../support/listeners.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const channel: StreamChannel<string> = new StreamChannel();
const opened: StreamSocket<string>[] = [];
const closed: string[] = [];

function addStream({ hub }: RouteListener, pattern: string, lag: LagRule, lastWord: string | null): void {
  hub.add<string>({
    pattern,
    lag,
    admit: ({ parameters, headers }) => {
      if (parameters[0] === 'nobody') return rejected(reject('UNAUTHORIZED', 'who is it'));
      if (parameters[0] === 'broken') throw new Error('admission broke');
      return accepted(`${parameters[0]} ${headers['user-id']}`.trim());
    },
    opened: (socket) => {
      opened.push(socket);
      channel.join(socket);
    },
    closed: (socket) => {
      closed.push(socket.data);
      channel.leave(socket);
    },
    lastWord: () => (lastWord === null ? null : Buffer.from(lastWord)),
  });
}

const listener = listenWith((listener) => {
  addStream(listener, '/mds/:name', { ...MDS_LAG, hardDropMs: PATIENCE_MS }, null);
  addStream(listener, '/oms/:name', { ...OMS_LAG, hardDropMs: PATIENCE_MS }, '{"resync":true}');
  addStream(listener, '/cut/:name', { ...OMS_LAG, hardDropMs: 50 }, null);
  listener.hub.add<null>({
    pattern: '/commands',
    lag: OMS_LAG,
    admit: () => accepted(null),
    opened: () => undefined,
    closed: () => undefined,
    message: (socket, bytes) => {
      if (bytes.byteLength === 3) throw new Error('handler broke');
      socket.send(Buffer.from(bytes));
    },
  });
});
const { reports } = listener;

const FRAME = Buffer.alloc(60_000, 'x');
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Publishes until a condition holds, one frame a turn, so that readers can read. */
async function publishUntil(isDone: () => boolean): Promise<number> {
  let frames = 0;
  while (!isDone()) {
    frames += 1;
    const text = `${frames}:${FRAME.toString('latin1')}`;
    channel.publish(() => text);
    channel.flush();
    await turn();
  }
  return frames;
}

async function stalled(path: string): Promise<SocketReader> {
  const reader = await SocketReader.open(listener.port, path);
  reader.socket.pause();
  return reader;
}

/** Frames a reader got, which must be 1, 2, 3, … without a hole, and what came last. */
async function prefixOf(reader: SocketReader): Promise<{ readonly numbered: number; readonly last: string }> {
  let numbered = 0;
  let last = '';
  while (reader.unread > 0) {
    last = await reader.frame();
    if (!last.includes(':x')) continue;
    numbered += 1;
    assert.equal(Number(last.split(':', 1)[0]), numbered, 'a prefix without a hole');
  }
  return { numbered, last };
}

suite('WebSocket streams', () => {
  test('a reader that stalls is closed while the others receive everything in order (WS-13, WS-14, AMB-94)', async () => {
    reports.lags.length = 0;
    const steady = await SocketReader.open(listener.port, '/mds/steady');
    const slow = await stalled('/oms/slow');
    const published = await publishUntil(() => reports.lags.length > 0);
    assert.deepEqual(reports.lags, ['/oms/:name'], 'only the one that stalled');
    assert.equal(opened.at(-1)?.state, 'lagged');
    channel.publish(() => 'after the lag');
    channel.flush();
    slow.socket.resume();
    assert.deepEqual(await slow.closed, { code: 1013, reason: 'resync_required' });
    const { numbered, last } = await prefixOf(slow);
    assert.equal(numbered, published, 'everything up to the lag');
    assert.equal(last, '{"resync":true}', 'the last word comes last: nothing is sent after it');
    for (let frame = 1; frame <= published; frame += 1) {
      assert.equal(Number((await steady.frame()).split(':', 1)[0]), frame);
    }
    assert.equal(await steady.frame(), 'after the lag');
    assert.equal(listener.hub.backlogBytes, 0, 'nothing waits any more');
    steady.socket.close();
    await steady.closed;
  });

  test('a market-data reader that lags is closed with 1000 and an empty reason (WS-15)', async () => {
    reports.lags.length = 0;
    const slow = await stalled('/mds/slow');
    await publishUntil(() => reports.lags.length > 0);
    slow.socket.resume();
    assert.deepEqual(await slow.closed, { code: 1000, reason: '' });
  });

  test('a reader that goes on stalling is cut off when its time is over (AMB-94)', async () => {
    reports.lags.length = 0;
    closed.length = 0;
    const slow = await stalled('/cut/stuck');
    await publishUntil(() => reports.lags.length > 0);
    assert.ok(listener.hub.backlogBytes > 0);
    while (closed.length === 0) await turn();
    assert.deepEqual(closed, ['stuck']);
    assert.equal(listener.hub.backlogBytes, 0);
    slow.socket.resume();
    assert.equal((await slow.closed).code, 1006);
  });

  test('many small messages are a lag too (AMB-94)', async () => {
    reports.lags.length = 0;
    const slow = await stalled('/mds/small');
    let bytes = 0;
    while (reports.lags.length === 0) {
      for (let count = 0; count < 500; count += 1) channel.publish(() => 'y'.repeat(900));
      bytes += 500 * 900;
      channel.flush();
      assert.ok(bytes < 100_000_000);
      await turn();
    }
    slow.socket.terminate();
    await slow.closed;
  });

  test('queues of all sockets together are bounded: the longest are cut off, others go on (AMB-94)', async () => {
    const backlogBytesMax = 6_000_000;
    const own = new RouteListener({}, { pressedBytes: 2 ** 40, backlogBytesMax });
    const small = own.hub;
    const all: StreamSocket<string>[] = [];
    small.add<string>({
      pattern: '/many/:name',
      lag: MDS_LAG,
      admit: ({ parameters }) => accepted(parameters[0] ?? ''),
      opened: (socket) => void all.push(socket),
      closed: () => undefined,
    });
    const elsewhere: StreamSocket<string>[] = [];
    const remote = { pattern: '/there', lag: { ...MDS_LAG, messagesMax: Number.POSITIVE_INFINITY } };
    small.addRemote<string>(
      { ...remote, opened: (socket) => void elsewhere.push(socket), closed: () => undefined },
      (_, done) => void done(accepted('of another thread')),
    );
    const at = await own.open();
    const steady = await SocketReader.open(at, '/many/steady');
    const there = await SocketReader.open(at, '/there');
    const [passed = assert.fail()] = elsewhere;
    there.socket.pause();
    while (passed.backlogBytes < 3_000_000) passed.send(FRAME);
    const slow = [];
    for (let each = 0; each < 8; each += 1) {
      slow.push(await SocketReader.open(at, `/many/${each}`));
      slow.at(-1)?.socket.pause();
    }
    let most = 0;
    let sent = 0;
    while (all.every(({ state }) => state === 'open')) {
      for (const socket of all) socket.send(FRAME);
      sent += 1;
      most = Math.max(most, small.backlogBytes - passed.backlogBytes);
      await turn();
    }
    assert.ok(most <= backlogBytesMax + FRAME.length, `${most} bytes were queued`);
    assert.ok(small.backlogBytes - passed.backlogBytes <= backlogBytesMax);
    assert.ok(
      all.some(({ data, state }) => data !== 'steady' && state === 'open'),
      'not all of them',
    );
    assert.equal(passed.state, 'open', 'nor the longest of all, which is counted and bounded on its thread');
    for (let frame = 0; frame < sent; frame += 1) assert.equal((await steady.frame()).length, FRAME.length);
    for (const { socket } of [steady, there, ...slow]) socket.terminate();
    own.close();
  });

  test('admission comes before the upgrade: its refusal is an HTTP answer, its exception 500', async () => {
    await assert.rejects(SocketReader.open(listener.port, '/mds/nobody'), /401/);
    await assert.rejects(SocketReader.open(listener.port, '/mds/broken'), /500/);
    assert.deepEqual(reports.failures.splice(0), ['upgrade /mds/:name: admission broke']);
  });

  test('frames in and out; an exception on one socket closes that socket', async () => {
    const other = await SocketReader.open(listener.port, '/commands');
    const reader = await SocketReader.open(listener.port, '/commands');
    reader.socket.send('{"type":"ping"}');
    assert.equal(
      await reader.frame(),
      '{"type":"ping"}',
      'with a handler of its own, a text ping is an ordinary message (WS-10)',
    );
    reader.socket.send('abc');
    assert.equal((await reader.closed).code, 1011);
    assert.deepEqual(reports.failures.splice(0), ['socket /commands: handler broke']);
    other.socket.send('still here');
    assert.equal(await other.frame(), 'still here');
    other.socket.close();
    await other.closed;
  });

  test('upgrades beyond the room of a turn come in the next ones, and their sockets are as good (AMB-91)', async () => {
    const upgrade =
      'GET /commands HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';
    const connections = Array.from({ length: WORK_PER_TURN_MAX + 150 }, () => connect(listener.port, '127.0.0.1'));
    await Promise.all(connections.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    const echoes = connections.map(async (socket) => {
      let text = '';
      const received = new Promise<void>((resolve, reject) => {
        socket.on('data', (data: Buffer) => {
          const isUpgraded = text.includes('101');
          text += data.toString('latin1');
          if (!isUpgraded) socket.write(frameBytes(Buffer.from('echo'), { opcode: OPCODE.text }));
          else if (text.endsWith('echo')) resolve();
        });
        socket.on('close', () => reject(new Error(`closed after ${JSON.stringify(text)}`)));
      });
      await received;
    });
    for (const socket of connections) socket.write(upgrade);
    await Promise.all(echoes);
    assert.ok(listener.hub.count >= connections.length);
    for (const socket of connections) socket.removeAllListeners('close').destroy();
    while (listener.hub.count > 0) await turn();
  });

  test('closing a hub sends every socket the reason', async () => {
    const readers = [
      await SocketReader.open(listener.port, '/mds/a'),
      await SocketReader.open(listener.port, '/oms/b'),
    ];
    assert.equal(listener.hub.count, readers.length);
    listener.hub.finishAll(1001, 'going_away');
    for (const reader of readers) assert.deepEqual(await reader.closed, { code: 1001, reason: 'going_away' });
    assert.equal(listener.hub.count, 0);
  });

  test('only one valid token is ever echoed as subprotocol (AMB-90)', () => {
    assert.equal(selectSubprotocol(''), '');
    assert.equal(selectSubprotocol('svc.ws.v1, Bearer-x'), 'svc.ws.v1');
    assert.equal(selectSubprotocol(' Bearer-a.b_c~ ,svc.ws.v1'), 'Bearer-a.b_c~');
    for (const bad of ['a b', 'a\r\nx: y', ',svc.ws.v1', '"x"', 'ä', 'x'.repeat(257)])
      assert.equal(selectSubprotocol(bad), '');
  });

  test('a backlog counts messages by where they end, and no more than one above the limit', () => {
    const backlog = new Backlog();
    const size = 100 + frameHeaderBytes(100);
    for (let count = 0; count < 10; count += 1) backlog.add(100);
    backlog.settle(10 * size);
    assert.equal(backlog.messages, 10);
    backlog.settle(7 * size - 1);
    assert.equal(backlog.messages, 7, 'a message is queued until its last byte is gone');
    backlog.add(70_000);
    backlog.settle(1);
    assert.equal(backlog.messages, 1);
    backlog.settle(0);
    assert.equal(backlog.messages, 0);
    for (let count = 0; count < 2 * SOCKET_LAG_MESSAGES_MAX; count += 1) backlog.add(1);
    backlog.settle(1_000_000);
    assert.equal(backlog.messages, SOCKET_LAG_MESSAGES_MAX + 1);
    assert.deepEqual([125, 126, 65_535, 65_536].map(frameHeaderBytes), [2, 4, 4, 10]);
  });
});
