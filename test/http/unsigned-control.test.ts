// tier: quick
/** Unsigned operations on `/control`, in all of its forms, and what they overtake (UNS-01 to UNS-03). */
import assert from 'node:assert/strict';
import { beforeEach, suite, test } from 'node:test';
import { Builder } from 'flatbuffers';
import WebSocket from 'ws';
import { BINARY_PROTOCOL, readBinaryReply } from '../../src/client/binary-control.ts';
import { listOf, tableOf } from '../../src/client/table-writer.ts';
import type { FieldLayout } from '../../src/codec/flat-layout.ts';
import {
  Body,
  CancelAll,
  CancelAllAfter,
  CancelBatch,
  CancelledOrder,
  Frame,
  Side,
} from '../../src/codec/generated/control-tables.ts';
import { reject } from '../../src/core/reject.ts';
import type { PreparedCreate } from '../../src/gateway/orders/entry/pending-requests.ts';
import { ask, SocketReader } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE } from '../support/names.ts';
import { NOW } from '../support/order-fixture.ts';
import { eventually } from '../support/patience.ts';
import { cancelBody, createBody, ScriptedOms } from '../support/scripted-oms.ts';

const oms = new ScriptedOms();
const orders = { open: true, waitMsMax: 60_000, isOpen: () => orders.open, refused: () => undefined };
const listener = listenTo(oms, { orders });

beforeEach(() => {
  Object.assign(orders, { open: true });
  Object.assign(oms, { script: 'received', budget: null });
  oms.actions.length = 0;
  oms.bulkCancels.length = 0;
  oms.charged.length = 0;
  oms.timers.length = 0;
});

const as = (): Record<string, string> => ({ authorization: `Bearer ${oms.token(ALICE)}`, 'user-id': ALICE });
const open = (version: 0 | 1, query = ''): Promise<SocketReader> =>
  SocketReader.open(listener.port, `/control${query}`, version === 1 ? ['svc.ws.v1'] : [], as());

const REQUESTS = [
  ['CancelAllRequest', '{}', { user: ALICE, assetId: null, beforeNs: null }, 'cancelAll'],
  [
    'CancelAllRequest',
    `{"asset_id":"12","side":"Sell","protection_group":"g1","quote_set_id":"mm-1","max_ts":${NOW}}`,
    { user: ALICE, assetId: '12', beforeNs: NOW, side: 1, protectionGroup: 'g1', quoteSetId: 'mm-1' },
    'cancelAll',
  ],
  [
    'CancelBatchRequest',
    '{"order_ids":["a","b","a"],"asset_id":"12"}',
    { user: ALICE, orderIds: ['a', 'b'], assetId: '12' },
    { bulkCancel: 3 },
  ],
  ['CancelBatchRequest', '["a"]', { user: ALICE, orderIds: ['a'], assetId: null }, { bulkCancel: 1 }],
] as const;
const FORMS = [
  { form: 'v0', version: 0, wrap: (data: string) => data, answer: (data: string) => data },
  {
    form: 'v1',
    version: 1,
    wrap: (data: string) => `{"type":"request","channel":"control","request_id":"r-1","data":${data}}`,
    answer: (data: string) => inAnswer('r-1', data),
  },
  {
    form: 'short',
    version: 1,
    wrap: (data: string) => `{"request_id":"r-2","data":${data}}`,
    answer: (data: string) => inAnswer('r-2', data),
  },
] as const;

function inAnswer(requestId: string, data: string): string {
  return `{"type":"response","channel":"control","request_id":"${requestId}","timestamp_ns":${NOW},"data":${data},"error":null}`;
}

suite('unsigned operations on /control', () => {
  for (const { form, version, wrap, answer } of FORMS) {
    test(`UNS-01: ${form}: the body and the reply of REST, at its price`, async () => {
      const socket = await open(version);
      for (const [tag, body, request, price] of REQUESTS) {
        oms.charged.length = 0;
        socket.socket.send(wrap(`{"${tag}":${body}}`));
        const response = `{"${tag.replace('Request', 'Response')}":{"status":"accepted"}}`;
        assert.equal(await socket.frame(), answer(response), body);
        assert.deepEqual(oms.bulkCancels.pop(), request);
        assert.deepEqual(oms.charged, [[ALICE, price]]);
      }
      oms.charged.length = 0;
      socket.socket.send(wrap('{"CancelAllAfterRequest":{"timeout_ms":60000}}'));
      const fires = NOW + 60_000_000_000n;
      const timer = `{"CancelAllAfterResponse":{"timeout_ms":60000,"fires_at_ns":${fires}}}`;
      assert.equal(await socket.frame(), answer(timer));
      assert.deepEqual([oms.timers, oms.charged], [[[ALICE, 60_000]], [[ALICE, 'deadMan']]]);
      socket.socket.terminate();
    });

    test(`UNS-01: ${form}: what is malformed, unpaid or refused is an error of its request, and cancels nothing`, async () => {
      const socket = await open(version);
      const bad = [
        '{"CancelAllRequest":{"asset":"12"}}',
        '{"CancelAllRequest":{"side":"Both"}}',
        '{"CancelAllRequest":{"protection_group":""}}',
        '{"CancelAllRequest":{"quote_set_id":"a:b"}}',
        '{"CancelAllRequest":{"max_ts":1770000000000}}',
        '{"CancelAllRequest":[]}',
        '{"CancelBatchRequest":{"order_ids":[]}}',
        '{"CancelAllAfterRequest":{"timeout_ms":1}}',
        '{"CancelAllAfterRequest":{}}',
      ];
      for (const data of bad) {
        socket.socket.send(wrap(data));
        const { code } = errorIn(await socket.frame());
        assert.equal(code, 'INVALID_REQUEST', data);
      }
      oms.budget = reject('RATE_LIMITED', 'the budget is empty');
      socket.socket.send(wrap('{"CancelAllRequest":{}}'));
      assert.equal(errorIn(await socket.frame()).code, 'RATE_LIMITED');
      oms.budget = null;
      oms.script = reject('SERVICE_UNAVAILABLE', 'the market is busy');
      socket.socket.send(wrap('{"CancelAllRequest":{}}'));
      assert.equal(errorIn(await socket.frame()).code, 'SERVICE_UNAVAILABLE');
      oms.script = 'received';
      socket.socket.send(wrap('{"CancelAllRequest":{"asset_id":"13"}}'));
      assert.equal(errorIn(await socket.frame()).code, 'MARKET_NOT_FOUND');
      assert.deepEqual([oms.bulkCancels, oms.timers], [[], []]);
      socket.socket.terminate();
    });
  }

  test('UNS-01: FlatBuffers: the same requests, answered under their request ids', async () => {
    const socket = await openBinary();
    const next = receiver(socket);
    const texts = (builder: Builder, field: FieldLayout, text: string): [FieldLayout, number] => [
      field,
      builder.createString(text),
    ];
    socket.send(
      binaryFrame(7n, Body.CancelAll, (builder) =>
        tableOf(builder, CancelAll.table, [
          texts(builder, CancelAll.assetId, '12'),
          [CancelAll.side, Side.Sell],
          texts(builder, CancelAll.protectionGroup, 'g1'),
          texts(builder, CancelAll.quoteSetId, 'mm-1'),
          [CancelAll.maxTs, NOW],
        ]),
      ),
    );
    assert.deepEqual(await next(), { kind: 'accepted', requestId: 7n, timing: null });
    assert.deepEqual(oms.bulkCancels.pop(), REQUESTS[1][2]);
    socket.send(binaryFrame(8n, Body.CancelAll, (builder) => tableOf(builder, CancelAll.table, [])));
    assert.deepEqual(await next(), { kind: 'accepted', requestId: 8n, timing: null });
    assert.deepEqual(oms.bulkCancels.pop(), REQUESTS[0][2]);
    socket.send(
      binaryFrame(9n, Body.CancelBatch, (builder) => {
        const names = ['a', 'b', 'a'].map((id) =>
          tableOf(builder, CancelledOrder.table, [texts(builder, CancelledOrder.orderId, id)]),
        );
        return tableOf(builder, CancelBatch.table, [
          [CancelBatch.orderIds, listOf(builder, names)],
          texts(builder, CancelBatch.assetId, '12'),
        ]);
      }),
    );
    assert.deepEqual(await next(), { kind: 'accepted', requestId: 9n, timing: null });
    assert.deepEqual(oms.bulkCancels.pop(), REQUESTS[2][2]);
    const timer = (ms: number): Uint8Array =>
      binaryFrame(10n, Body.CancelAllAfter, (builder) =>
        tableOf(builder, CancelAllAfter.table, [[CancelAllAfter.timeoutMs, ms]]),
      );
    socket.send(timer(70_000));
    const firesAtNs = NOW + 70_000_000_000n;
    assert.deepEqual(await next(), { kind: 'timer', requestId: 10n, timeoutMs: 70_000, firesAtNs, timing: null });
    for (const bad of [
      timer(1),
      binaryFrame(11n, Body.CancelBatch, (builder) => tableOf(builder, CancelBatch.table, [])),
      binaryFrame(12n, Body.CancelAll, (builder) => tableOf(builder, CancelAll.table, [[CancelAll.side, 3]])),
      binaryFrame(13n, Body.CancelAll, (builder) =>
        tableOf(builder, CancelAll.table, [texts(builder, CancelAll.quoteSetId, 'a:b')]),
      ),
    ]) {
      socket.send(bad);
      const reply = await next();
      assert.equal(reply.kind === 'error' ? reply.error.code : reply.kind, 'INVALID_REQUEST');
    }
    assert.deepEqual(oms.bulkCancels, []);
    socket.terminate();
  });

  test('UNS-02: the REST forms take side, protection_group and quote_set_id', async () => {
    const remove = (path: string) => ask(listener.port, path, { method: 'DELETE', headers: as() });
    const query = `side=Sell&protection_group=g1&quote_set_id=mm-1&max_ts=${NOW}`;
    assert.equal((await remove(`/orders/cancel-all/12?${query}`)).status, 202);
    assert.deepEqual(oms.bulkCancels.pop(), REQUESTS[1][2]);
    for (const bad of [
      'side=sell',
      'side=',
      'protection_group=',
      'quote_set_id=a%3Ab',
      'side=Buy&side=Sell',
      'group=g',
    ]) {
      assert.equal((await remove(`/orders/cancel-all?${bad}`)).status, 400, bad);
    }
    assert.deepEqual(oms.bulkCancels, []);
  });

  test('UNS-03: answers to the orders of a batch carry timing where the connection asked for it', async () => {
    const batch = `{"BatchCreateRequest":{"orders":[${createBody(ALICE, 'a')},${createBody(ALICE, 'b')}]}}`;
    for (const isTimed of [true, false]) {
      const socket = await open(0, isTimed ? '?timing=true' : '');
      socket.socket.send(batch);
      assert.equal(await socket.frame(), '{"request":{"status":"submitted"}}');
      for (let count = 0; count < 2; count += 1) {
        const { response } = JSON.parse(await socket.frame()).CreateOrderResponse;
        const members = ['received_ns', 'verified_ns', 'sent_ns', 'matched_ns', 'answered_ns'];
        assert.deepEqual(isTimed ? Object.keys(response.timing) : response.timing, isTimed ? members : undefined);
      }
      socket.socket.send('{"CancelAllRequest":{}}');
      const { CancelAllResponse } = JSON.parse(await socket.frame());
      assert.equal('timing' in CancelAllResponse, isTimed);
      socket.socket.terminate();
    }
    const body = Buffer.from(`{"orders":[${createBody(ALICE, 'c')}]}`);
    const headers = { ...as(), 'x-ringbook-timing': 'true' };
    const rest = await ask(listener.port, '/orders/batch-create', { method: 'POST', headers, body });
    assert.equal('timing' in JSON.parse(rest.text).results[0], true);
  });
});

suite('what a cancel of all orders overtakes', () => {
  const market = { definition: { assetId: '12' } };
  const isTaken = (index: number, side: 0 | 1 = 0): boolean | undefined =>
    oms.actions[index]?.origin.isOvertaken?.({ market, terms: { side, creationNs: NOW } } as unknown as PreparedCreate);

  test('UNS-01: it goes before creates that wait and takes those in its scope along, and none that came later', async () => {
    const socket = await open(0);
    orders.open = false;
    for (const id of ['a', 'b']) socket.socket.send(`{"CreateOrderRequest":${createBody(ALICE, id)}}`);
    socket.socket.send('{"CancelAllRequest":{"side":"Buy"}}');
    assert.equal(await socket.frame(), '{"CancelAllResponse":{"status":"accepted"}}');
    assert.deepEqual([oms.actions.length, oms.bulkCancels.length], [0, 1], 'it has overtaken both');
    socket.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'c')}}`);
    await socket.caughtUp();
    oms.script = 'later';
    orders.open = true;
    listener.server.streams.flush();
    await eventually(() => oms.actions.length === 3);
    assert.deepEqual(
      [0, 1, 2].map((index) => [isTaken(index, 0), isTaken(index, 1)]),
      [
        [true, false],
        [true, false],
        [false, false],
      ],
    );
    socket.socket.terminate();
  });

  test('UNS-01: it takes along what is being verified, of its own connection alone', async () => {
    oms.script = 'later';
    const [socket, other] = [await open(0), await open(0)];
    socket.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'a')}}`);
    await eventually(() => oms.actions.length === 1);
    other.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'b')}}`);
    await eventually(() => oms.actions.length === 2);
    assert.deepEqual([isTaken(0), isTaken(1)], [false, false]);
    oms.script = 'received';
    socket.socket.send('{"CancelAllRequest":{"asset_id":"12"}}');
    await socket.frame();
    assert.deepEqual([isTaken(0), isTaken(1)], [true, false]);
    for (const { socket: own } of [socket, other]) own.terminate();
  });

  test('UNS-01: a cancel of listed orders goes before what waits, but not before the create of one of them', async () => {
    const socket = await open(0);
    orders.open = false;
    socket.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'a')}}`);
    socket.socket.send('{"CancelBatchRequest":["b"]}');
    assert.equal(await socket.frame(), '{"CancelBatchResponse":{"status":"accepted"}}');
    socket.socket.send('{"CancelBatchRequest":["a"]}');
    await socket.caughtUp();
    assert.equal(oms.bulkCancels.length, 1, 'it names an order that waits');
    orders.open = true;
    await eventually(() => oms.bulkCancels.length === 2);
    assert.equal(oms.actions.length, 1);
    socket.socket.terminate();
  });

  test('UNS-01: cancels of all orders beyond 64 that wait for what they overtook are refused, until that is done', async () => {
    const socket = await open(0);
    orders.open = false;
    socket.socket.send(`{"CreateOrderRequest":${createBody(ALICE, 'a')}}`);
    const answers: string[] = [];
    for (let count = 0; count < 65; count += 1) {
      socket.socket.send('{"CancelAllRequest":{}}');
      answers.push(await socket.frame());
    }
    assert.equal(answers.filter((text) => text.includes('"accepted"')).length, 64);
    assert.match(answers[64] ?? '', /SERVICE_UNAVAILABLE/);
    assert.equal(oms.bulkCancels.length, 64, 'what is refused cancels nothing');
    socket.socket.send(`{"CancelOrderRequest":${cancelBody(ALICE, 'z')}}`);
    assert.match(await socket.frame(), /Received/);
    orders.open = true;
    assert.match(await socket.frame(), /CreateOrderResponse/);
    socket.socket.send('{"CancelAllRequest":{}}');
    assert.match(await socket.frame(), /"accepted"/);
    socket.socket.terminate();
  });
});

function errorIn(frame: string): { readonly code: string } {
  return JSON.parse(frame).error;
}

function binaryFrame(requestId: bigint, type: number, body: (builder: Builder) => number): Uint8Array {
  const builder = new Builder(256);
  const at = body(builder);
  builder.finish(
    tableOf(builder, Frame.table, [
      [Frame.requestId, requestId],
      [Frame.bodyType, type],
      [Frame.body, at],
    ]),
  );
  return builder.asUint8Array();
}

async function openBinary(): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${listener.port}/control`, [BINARY_PROTOCOL], { headers: as() });
  await new Promise((resolve) => {
    socket.once('open', resolve);
  });
  return socket;
}

function receiver(socket: WebSocket): () => Promise<ReturnType<typeof readBinaryReply>> {
  return () =>
    new Promise((resolve) => {
      socket.once('message', (data: Buffer) => resolve(readBinaryReply(data)));
    });
}
