// tier: quick, 3 s
/** Sockets at one listener with streams on the thread of another one (wire-additions.md 8.2). */
import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { SOCKET_LAG_BYTES_MAX } from '../../src/core/limits.ts';
import { accepted, rejected } from '../../src/core/outcome.ts';
import { reject } from '../../src/core/reject.ts';
import { StreamChannel } from '../../src/http/channel.ts';
import { type FrameHolder, HeldFrames } from '../../src/http/frame-allowance.ts';
import { PassedSockets, type SocketChannel, type SocketMessage, SocketsOfPeer } from '../../src/http/passed-sockets.ts';
import { type LagRule, MDS_LAG, type StreamSocket } from '../../src/http/uws-socket.ts';
import { ask, SocketReader } from '../support/edge-client.ts';
import { RouteListener } from '../support/listeners.ts';
import { eventually, PATIENCE_MS } from '../support/patience.ts';

const SOCKETS_MAX = 12;
const LAG: LagRule = { ...MDS_LAG, code: 1013, reason: 'resync_required', hardDropMs: PATIENCE_MS };
const RULE = { bytesMax: 65_536, perSecond: 1, burst: 6 };
type Receiver = (message: SocketMessage) => void;
type Frames = Extract<SocketMessage, { kind: 'frames' }>;

/** Two ends that copy as threads do. What is held is not delivered. */
class Pair {
  holds: (message: SocketMessage) => boolean = () => false;
  held: SocketMessage[] = [];
  readonly frames: Frames[] = [];
  readonly #receivers: Receiver[] = [];

  end(own: 0 | 1): SocketChannel {
    return {
      post: (message) => {
        const copy = structuredClone(message);
        if (copy.kind === 'frames') this.frames.push(copy);
        if (this.holds(copy)) this.held.push(copy);
        else setImmediate(() => this.#receivers[1 - own]?.(copy));
      },
      receive: (receiver) => {
        this.#receivers[own] = receiver;
      },
      close: () => undefined,
    };
  }
}

suite('sockets with streams on another thread', () => {
  const pair = new Pair();
  const front = new RouteListener();
  const back = new RouteListener();
  const channel: StreamChannel<string> = new StreamChannel();
  const opened: StreamSocket<string>[] = [];
  const closed: string[] = [];
  const messages: string[] = [];
  let sockets: SocketsOfPeer;

  before(async () => {
    back.hub.add<string>({
      pattern: '/numbers/:name',
      query: { interval: 'once' },
      lag: LAG,
      frames: RULE,
      admit: ({ parameters: [name = ''] }) =>
        name === 'missing' ? rejected(reject('MARKET_NOT_FOUND', 'no market missing')) : accepted(name),
      opened: (socket) => {
        opened.push(socket);
        socket.send(Buffer.from('welcome'));
        channel.join(socket);
      },
      closed: (socket) => {
        closed.push(socket.data);
        channel.leave(socket);
      },
      message: (socket, bytes) => {
        messages.push(`${socket.data} ${bytes.byteLength}`);
        socket.send(Buffer.from(`read ${bytes.byteLength}`));
      },
    });
    sockets = new SocketsOfPeer(back.hub, pair.end(1));
    const passed = new PassedSockets(front.hub, pair.end(0), SOCKETS_MAX);
    for (const pattern of ['/numbers/:name', '/below/numbers/:name']) {
      passed.add({ pattern, there: '/numbers/:name', lag: LAG, frames: RULE });
    }
    passed.add({ pattern: '/unknown', there: '/unknown', lag: LAG });
    await front.open();
    await back.open();
  });
  beforeEach(() => {
    opened.length = 0;
    closed.length = 0;
    messages.length = 0;
    pair.frames.length = 0;
  });
  after(() => {
    front.close();
    back.close();
  });

  const open = async (path: string): Promise<SocketReader> => {
    const reader = await SocketReader.open(front.port, path);
    // A socket that is lost right after its upgrade fails here (decision 0027); nothing would arrive ever.
    assert.equal(await Promise.race([reader.frame(), reader.closed]), 'welcome');
    return reader;
  };
  const leave = async (...readers: readonly SocketReader[]): Promise<void> => {
    for (const reader of readers) reader.socket.terminate();
    await eventually(() => front.hub.count === 0 && back.hub.count === 0);
  };
  const publish = (frame: string): void => {
    channel.publishBytes(Buffer.from(frame));
    channel.flush();
  };

  test('frames arrive in order at every socket, at each of its paths; a frame of several sockets travels once', async () => {
    const readers = [await open('/numbers/a'), await open('/below/numbers/b'), await open('/numbers/c?interval=1')];
    pair.frames.length = 0;
    for (let number = 0; number < 600; number += 1) channel.publishBytes(Buffer.from(`${number} ${'x'.repeat(400)}`));
    channel.flush();
    for (const reader of readers) {
      for (let number = 0; number < 600; number += 1)
        assert.match(await reader.frame(), new RegExp(`^${number} x{400}$`));
    }
    const travelled = pair.frames.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
    assert.ok(pair.frames.length >= 5, 'in several batches');
    for (const { ids } of pair.frames) assert.ok(ids.length <= 256, 'a batch is bounded');
    publish('shared');
    for (const reader of readers) assert.equal(await reader.frame(), 'shared');
    assert.equal(pair.frames.at(-1)?.bytes.byteLength, 'shared'.length);
    assert.ok(travelled < 3 * 600 * 404);
    await eventually(() => back.hub.backlogBytes === 0);
    await leave(...readers);
    assert.deepEqual(closed.sort(), ['a', 'b', 'c']);
  });

  test('admission is that of the stream: its query members, its errors with their trace ids', async () => {
    const refused = async (path: string): Promise<string> => {
      const headers = {
        ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
        ...{ 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' },
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      };
      const { status, text } = await ask(front.port, path, { headers });
      const { error } = JSON.parse(text) as { error: { code: string; trace_id: string } };
      assert.equal(error.trace_id, '0af7651916cd43dd8448eb211c80319c');
      return `${status} ${error.code}`;
    };
    assert.equal(await refused('/numbers/missing'), '404 MARKET_NOT_FOUND');
    assert.equal(await refused('/numbers/a?limit=1'), '400 INVALID_REQUEST');
    assert.equal(await refused('/unknown'), '404 NOT_FOUND');
    assert.equal((await ask(front.port, '/numbers/a')).status, 426);
    assert.deepEqual([opened.length, front.hub.count, back.hub.count], [0, 0, 0]);
  });

  test('a close of the stream comes behind its frames; a cut is at once', async () => {
    const [ended, cut] = [await open('/numbers/a'), await open('/numbers/b')];
    opened[0]?.send(Buffer.from('last'));
    opened[0]?.finish(1008, 'enough');
    opened[1]?.cut();
    assert.equal(await ended.frame(), 'last');
    assert.deepEqual(await ended.closed, { code: 1008, reason: 'enough' });
    assert.equal((await cut.closed).code, 1006);
    await leave();
    assert.deepEqual(closed, ['a', 'b']);
  });

  test('frames of a client arrive; its rule holds at the connection, and what is not taken is bounded', async () => {
    const reader = await open('/numbers/a');
    reader.socket.send('x'.repeat(40));
    assert.equal(await reader.frame(), 'read 40');
    reader.socket.send('x'.repeat(65_537));
    assert.equal((await reader.closed).code, 1009);
    const quick = await open('/numbers/b');
    for (let count = 0; count < RULE.burst + 2; count += 1) quick.socket.send('x'.repeat(50));
    assert.deepEqual(await quick.closed, { code: 1008, reason: 'too_many_frames' });
    assert.equal(messages.length, 1 + RULE.burst);
    const waiting = await open('/numbers/c');
    pair.holds = ({ kind }) => kind === 'message';
    for (let count = 0; count < 3; count += 1) waiting.socket.send('x'.repeat(60_000));
    assert.deepEqual(await waiting.closed, { code: 1008, reason: 'too_many_frames' });
    assert.equal(pair.held.length, 2);
    pair.holds = () => false;
    pair.held = [];
    await leave();
  });

  test('frames that wait are bounded per socket and in total, and a socket with few of them is not closed for others', () => {
    const held = new HeldFrames();
    const full: FrameHolder[] = [];
    for (let isFull = false; !isFull; ) {
      const holder = { heldBytes: 0 };
      while (held.hold(holder, 65_536));
      assert.ok(holder.heldBytes <= 2 * 66_048);
      isFull = holder.heldBytes === 0;
      if (!isFull) full.push(holder);
      assert.ok(full.length < 200, 'the total is bounded');
    }
    const small = { heldBytes: 0 };
    let frames = 0;
    while (held.hold(small, 100)) frames += 1;
    assert.ok(frames > 10 && frames < 20, `${frames} short frames beside those of the others`);
    held.release(small, 100);
    assert.ok(held.hold(small, 100));
    for (const holder of full) held.releaseAll(holder);
    assert.deepEqual(new Set(full.map(({ heldBytes }) => heldBytes)), new Set([0]));
    assert.ok(held.hold(small, 65_536), 'room comes back');
  });

  test('a reader that stalls lags by the rule of the stream, the others go on; one batch is on its way', async () => {
    const [slow, quick] = [await open('/numbers/slow'), await open('/numbers/quick')];
    slow.keepsUp = false;
    slow.socket.pause();
    const frame = 'y'.repeat(100_000);
    let sent = 0;
    let most = 0;
    while (back.reports.lags.length === 0) {
      publish(frame);
      sent += 1;
      most = Math.max(most, front.hub.backlogBytes);
      assert.equal((await quick.frame()).length, frame.length);
      assert.ok(sent < 1_000, 'it lags');
    }
    assert.deepEqual(back.reports.lags.splice(0), ['/numbers/:name']);
    assert.ok(most <= SOCKET_LAG_BYTES_MAX + 200_000, `${most} bytes are queued at the connection`);
    slow.socket.resume();
    assert.deepEqual(await slow.closed, { code: 1013, reason: 'resync_required' });
    assert.deepEqual(front.reports.lags, []);
    await leave(quick);
  });

  test('without reports of the listener nothing more leaves: the queue is the stream’s, up to its lag', async () => {
    const reader = await open('/numbers/a');
    await eventually(() => back.hub.backlogBytes === 0);
    pair.frames.length = 0;
    pair.holds = ({ kind }) => kind === 'written';
    for (let count = 0; count < 20; count += 1) {
      publish('z'.repeat(30_000));
      await new Promise((next) => setImmediate(next));
    }
    assert.equal(pair.frames.length, 1, 'one batch on its way');
    assert.ok(back.hub.backlogBytes >= 600_000, 'what is not reported is queued');
    for (let count = 0; back.reports.lags.length === 0; count += 1) {
      assert.ok(count < 1_000, 'it lags');
      publish('z'.repeat(300_000));
    }
    assert.equal(pair.frames.length, 1);
    back.reports.lags.length = 0;
    pair.holds = () => false;
    pair.held = [];
    await leave(reader);
    // The listener begins anew: the window is open again.
    pair.end(0).post({ kind: 'reset' });
    const next = await open('/numbers/b');
    await leave(next);
  });

  test('a thread that begins anew ends the sockets of its earlier life on both sides', async () => {
    const first = await open('/numbers/a');
    pair.end(1).post({ kind: 'reset' });
    assert.deepEqual(await first.closed, { code: 1001, reason: 'going_away' });
    await leave();
    const second = await open('/numbers/b');
    pair.end(0).post({ kind: 'reset' });
    await eventually(() => back.hub.count === 0);
    assert.deepEqual(closed, ['a', 'b']);
    await leave(second);
    // An upgrade that waits is refused.
    pair.holds = ({ kind }) => kind === 'open';
    const waiting = SocketReader.open(front.port, '/numbers/c').then(
      () => 'open',
      (error: Error) => error.message,
    );
    await eventually(() => pair.held.length === 1);
    pair.end(1).post({ kind: 'reset' });
    assert.match(await waiting, /503/);
    pair.holds = () => false;
    pair.held = [];
  });

  test('a client that leaves before its admission has no stream there', async () => {
    pair.holds = ({ kind }) => kind === 'admitted';
    const reader = SocketReader.open(front.port, '/numbers/a').catch(() => null);
    await eventually(() => pair.held.length === 1);
    const late = pair.held.splice(0);
    pair.holds = () => false;
    // Answered by its deadline meanwhile.
    await reader;
    for (const message of late) pair.end(1).post(message);
    await leave();
    assert.deepEqual(closed, ['a']);
  });

  test('so many sockets and no more; room comes back', async () => {
    const readers = await Promise.all(Array.from({ length: SOCKETS_MAX }, (_, index) => open(`/numbers/${index}`)));
    await assert.rejects(SocketReader.open(front.port, '/numbers/over'), /503/);
    await leave(...readers);
    await leave(await open('/numbers/again'));
  });

  test('a thread that ends closes its sockets behind their frames', async () => {
    const reader = await open('/numbers/a');
    publish('p'.repeat(200_000));
    publish('q'.repeat(200_000));
    back.hub.finishAll(1001, 'going_away');
    sockets.close();
    assert.match(await reader.frame(), /^p+$/);
    assert.match(await reader.frame(), /^q+$/);
    assert.deepEqual(await reader.closed, { code: 1001, reason: 'going_away' });
  });

  test('without another thread it is 503', async () => {
    const alone = new RouteListener();
    new PassedSockets(alone.hub, null).add({ pattern: '/numbers', there: '/numbers', lag: LAG });
    await alone.open();
    await assert.rejects(SocketReader.open(alone.port, '/numbers'), /503/);
    alone.close();
  });
});
