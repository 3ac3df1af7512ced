// tier: quick

import assert from 'node:assert/strict';
import { beforeEach, suite, test } from 'node:test';
import WebSocket from 'ws';
import {
  BINARY_PROTOCOL,
  type BinaryReply,
  binaryBatch,
  binaryRequest,
  readBinaryReply,
} from '../../src/client/binary-control.ts';
import type { OrderAction, SignedAction } from '../../src/client/signed-actions.ts';
import { Body, Create, Frame } from '../../src/codec/generated/control-tables.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { reject } from '../../src/core/reject.ts';
import { ask } from '../support/edge-client.ts';
import { packageBody, packageReads } from '../support/flat-frames.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';
import { NOW } from '../support/order-fixture.ts';
import { cancelBody, createBody, replaceBody, ScriptedOms } from '../support/scripted-oms.ts';

const oms = new ScriptedOms();
const listener = listenTo(oms);

beforeEach(() => {
  oms.script = 'received';
  oms.budget = null;
  oms.actions.length = 0;
});

/** Frames as they arrive, each with whether it came as a binary one. */
class BinarySocket {
  readonly socket: WebSocket;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly #frames: Buffer[] = [];
  readonly #waiting: ((frame: Buffer) => void)[] = [];

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer, isBinary) => {
      assert.ok(isBinary, 'the node sends binary frames');
      const next = this.#waiting.shift();
      if (next === undefined) this.#frames.push(data);
      else next(data);
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: reason.toString('utf8') }));
    });
  }

  async frame(): Promise<Buffer> {
    return this.#frames.shift() ?? new Promise<Buffer>((resolve) => this.#waiting.push(resolve));
  }

  async reply(): Promise<BinaryReply> {
    return readBinaryReply(await this.frame());
  }
}

async function open(protocols: string[] = [BINARY_PROTOCOL], path = '/control', user = ALICE): Promise<BinarySocket> {
  const headers = { authorization: `Bearer ${oms.token(user)}`, 'user-id': user };
  const socket = new WebSocket(`ws://127.0.0.1:${listener.port}${path}`, protocols, { headers });
  const binary = new BinarySocket(socket);
  await new Promise((resolve, reject_) => {
    socket.once('open', resolve);
    socket.once('error', reject_);
  });
  return binary;
}

async function end({ socket, closed }: BinarySocket): Promise<void> {
  socket.terminate();
  await closed;
}

const action = (kind: OrderAction, body: string): SignedAction => ({
  action: kind,
  assetId: '12' as AssetId,
  orderId: 'o',
  body,
});
const create = (orderId: string, user: UserId = ALICE): SignedAction => action('Create', createBody(user, orderId));
const received = (orderId: string) => ({ orderId, status: 'Received', reason: null, processedAtNs: NOW });

suite('/control in FlatBuffers', () => {
  test('each action is answered under its request id, in binary frames (CTL-01, CTL-03)', async () => {
    const control = await open();
    assert.equal(control.socket.protocol, BINARY_PROTOCOL);
    control.socket.send(binaryRequest(5n, create('o-1')));
    control.socket.send(binaryRequest(2n ** 64n - 1n, action('Replace', replaceBody(ALICE, 'o-1'))));
    control.socket.send(binaryRequest(0n, action('Cancel', cancelBody(ALICE, 'o-1'))));
    const answers = [await control.reply(), await control.reply(), await control.reply()];
    assert.deepEqual(answers, [
      { kind: 'answer', requestId: 5n, action: 'Create', assetId: '12', response: received('o-1') },
      { kind: 'answer', requestId: 2n ** 64n - 1n, action: 'Replace', assetId: '12', response: received('o-1') },
      { kind: 'answer', requestId: 0n, action: 'Cancel', assetId: '12', response: received('o-1') },
    ]);
    assert.deepEqual(
      oms.actions.map(({ kind, signer, orderId }) => [kind, signer, orderId]),
      [
        ['create', ALICE, 'o-1'],
        ['replace', ALICE, 'o-1'],
        ['cancel', ALICE, 'o-1'],
      ],
    );
    await end(control);
  });

  test('a rejection has its code, field, message and whether a retry can succeed (AMB-123)', async () => {
    const control = await open();
    for (const script of [reject('INVALID_ORDER', 'an odd lot', 'quantity'), reject('SERVICE_UNAVAILABLE', 'busy')]) {
      oms.script = script;
      control.socket.send(binaryRequest(1n, create('o-1')));
      const reply = await control.reply();
      assert.ok(reply.kind === 'answer' && reply.response.status === 'Rejected');
      assert.deepEqual(reply.response.detail, {
        code: script.code,
        field: script.field ?? null,
        message: script.message,
      });
    }
    await end(control);
  });

  test('a batch is acknowledged, then every order of it is answered under its request id (CTL-02, CTL-06)', async () => {
    const control = await open();
    control.socket.send(binaryBatch(9n, 'Create', [create('o-1'), create('o-2')]));
    const { buffer, frame } = packageBody(await control.frame());
    assert.equal(packageReads(buffer, frame, Frame.bodyType), Body.Submitted);
    assert.equal(packageReads(buffer, frame, Frame.requestId), 9n);
    for (const orderId of ['o-1', 'o-2']) {
      const reply = await control.reply();
      assert.ok(reply.kind === 'answer');
      assert.deepEqual([reply.requestId, reply.response.orderId], [9n, orderId]);
    }
    control.socket.send(binaryBatch(10n, 'Create', []));
    const refused = await control.reply();
    assert.ok(refused.kind === 'error');
    assert.deepEqual([refused.requestId, refused.error.code], [10n, 'INVALID_REQUEST']);
    await end(control);
  });

  test('what is no message is an error, what names its order a rejection; the connection stays (WS-10)', async () => {
    const control = await open();
    for (const frame of ['{"type":"ping"}', `{"CreateOrderRequest":${createBody(ALICE, 'o')}}`, new Uint8Array(64)]) {
      control.socket.send(frame);
      const reply = await control.reply();
      assert.ok(reply.kind === 'error', String(frame));
      assert.deepEqual([reply.requestId, reply.error.code, reply.error.retryable], [0n, 'INVALID_REQUEST', false]);
    }
    const frame = binaryRequest(4n, create('o-1'));
    const { buffer, body } = packageBody(frame);
    const signature = body + buffer.__offset(body, Create.signature.slot);
    const broken = frame.slice();
    new DataView(broken.buffer).setUint32(signature + buffer.readInt32(signature), 63, true);
    control.socket.send(broken);
    const reply = await control.reply();
    assert.ok(reply.kind === 'answer' && reply.requestId === 4n);
    assert.deepEqual(reply.response.detail?.field, 'signature');
    assert.deepEqual(oms.actions, []);
    control.socket.send(binaryRequest(6n, create('o-2')));
    assert.equal((await control.reply()).kind, 'answer');
    await end(control);
  });

  test('a budget that is used up is RATE_LIMITED with what was asked, as in JSON (LIM-15)', async () => {
    const control = await open();
    oms.budget = { ...reject('RATE_LIMITED', 'too fast'), details: { bucket: 'user', units_asked: '1' } };
    control.socket.send(binaryBatch(3n, 'Replace', []));
    const reply = await control.reply();
    assert.ok(reply.kind === 'error');
    assert.deepEqual([reply.error.code, reply.error.retryable], ['RATE_LIMITED', true]);
    assert.equal(reply.error.details?.['bucket'], 'user');
    control.socket.send(binaryRequest(4n, create('o-1')));
    const single = await control.reply();
    assert.ok(single.kind === 'answer' && single.response.reason === 'RateLimited');
    await end(control);
  });

  test('hop times come with an answer where the connection was opened with ?timing=true', async () => {
    const control = await open([BINARY_PROTOCOL], '/control?timing=true');
    control.socket.send(binaryRequest(1n, create('o-1')));
    const reply = await control.reply();
    assert.ok(reply.kind === 'answer');
    const timing = { receivedNs: NOW, verifiedNs: null, sentNs: null, matchedNs: null, answeredNs: NOW };
    assert.deepEqual(reply.response.timing, timing);
    await end(control);
  });

  test('the end of the session, and an action of another user, are an error and close 1000 (AUT-13, AMB-88, AMB-92)', async () => {
    const control = await open();
    assert.equal(
      (
        await ask(listener.port, '/logout', {
          method: 'POST',
          headers: { authorization: `Bearer ${oms.token(ALICE)}`, 'user-id': ALICE },
        })
      ).status,
      200,
    );
    const over = await control.reply();
    assert.ok(over.kind === 'error' && over.requestId === 0n && over.error.code === 'UNAUTHORIZED');
    assert.deepEqual(await control.closed, { code: 1000, reason: '' });

    const second = await open();
    oms.script = reject('SIGNER_MISMATCH', 'another signer');
    second.socket.send(binaryRequest(8n, create('o-1', BOB)));
    const refused = await second.reply();
    assert.ok(refused.kind === 'answer' && refused.response.reason === 'SignerMismatch');
    const dismissed = await second.reply();
    assert.ok(dismissed.kind === 'error' && dismissed.error.code === 'UNAUTHORIZED');
    assert.equal((await second.closed).code, 1000);
  });

  test('of the subprotocols that name a form the first offered decides; other streams stay JSON', async () => {
    const cases = [
      [[BINARY_PROTOCOL, 'svc.ws.v1'], true],
      [['x', BINARY_PROTOCOL], true],
      [['svc.ws.v1', BINARY_PROTOCOL], false],
      [['svc.ws.v1'], false],
      [[], false],
    ] as const;
    for (const [protocols, isBinary] of cases) {
      const headers = { authorization: `Bearer ${oms.token(ALICE)}`, 'user-id': ALICE };
      const socket = new WebSocket(`ws://127.0.0.1:${listener.port}/control`, [...protocols], { headers });
      await new Promise((resolve) => socket.once('open', resolve));
      socket.send('hello');
      const told = await new Promise<boolean>((resolve) => socket.once('message', (_, binary) => resolve(binary)));
      assert.equal(told, isBinary, protocols.join());
      socket.terminate();
      await new Promise((resolve) => socket.once('close', resolve));
    }
    const stream = new WebSocket(`ws://127.0.0.1:${listener.port}/orders`, [BINARY_PROTOCOL], {
      headers: { authorization: `Bearer ${oms.token(ALICE)}`, 'user-id': ALICE },
    });
    await new Promise((resolve) => stream.once('open', resolve));
    stream.send('{"type":"ping"}');
    const [data, isBinary] = await new Promise<[Buffer, boolean]>((resolve) =>
      stream.once('message', (frame: Buffer, binary) => resolve([frame, binary])),
    );
    assert.deepEqual([String(data), isBinary], ['{"type":"pong"}', false]);
    stream.terminate();
    await new Promise((resolve) => stream.once('close', resolve));
  });

  test('a service that stops sends its notice before it closes with 1001', async () => {
    const stopping = await open();
    listener.server.streams.tellShutdown();
    const frame = await stopping.frame();
    const { buffer, frame: at } = packageBody(frame);
    assert.equal(packageReads(buffer, at, Frame.bodyType), Body.Shutdown);
    await end(stopping);
  });
});
