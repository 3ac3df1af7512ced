// tier: quick, 4 s
/** `/control` in both versions: frames, correlation, what is held, and what ends the socket (wire.md 10; CTL). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { SocketReader } from '../support/edge-client.ts';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const V1 = ['svc.ws.v1'];
const NS = '18\\d{17}';

suite('/control', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;
  let v0: SocketReader;
  let v1: SocketReader;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    bob = await node.user();
    v0 = await alice.stream('/control');
    v1 = await alice.stream('/control', V1);
  });
  after(() => node?.stop());

  const say = async (reader: SocketReader, frame: string): Promise<string> => {
    reader.socket.send(frame);
    return reader.frame();
  };
  const create = (words: Parameters<PlainClient['createBody']>[0], user = alice): string =>
    `{"CreateOrderRequest":${user.createBody(words)}}`;
  const cancel = (id: string, asset?: string): string => `{"CancelOrderRequest":${alice.cancelBody(id, asset)}}`;
  const replace = (id: string, price: number): string => `{"ReplaceOrderRequest":${alice.replaceBody({ id, price })}}`;
  const inEnvelope = (requestId: string, frame: string): string =>
    `{"type":"request","channel":"control","request_id":"${requestId}","data":${frame}}`;
  const response = (tag: string, id: string, status: 'Received' | 'Rejected', reason: string | null): RegExp => {
    const word = reason === null ? 'null' : `"${reason}"`;
    const detail = reason === null ? '' : ',"detail":\\{"code":"[A-Z_]+","field":(?:null|"[^"]+"),"message":"[^"]+"\\}';
    return new RegExp(
      `^\\{"${tag}":\\{"response":\\{"order_id":"${id}","status":"${status}","reason":${word},"processed_at_ns":${NS}${detail}\\},"asset_id":"2"\\}\\}$`,
    );
  };

  test('create, replace and cancel are answered in their own tag, asset beside (CTL-01, CTL-02, wire.md 10.2)', async () => {
    const id = alice.newId();
    assert.match(await say(v0, create({ id })), response('CreateOrderResponse', id, 'Received', null));
    assert.match(await say(v0, replace(id, 300_500)), response('ReplaceOrderResponse', id, 'Received', null));
    assert.match(await say(v0, cancel(id)), response('CancelOrderResponse', id, 'Received', null));
    assert.match(await say(v0, cancel(id)), response('CancelOrderResponse', id, 'Rejected', 'AlreadyCancelled'));
  });

  test('version 1 answers in the envelope with the request id, a bare request too (CTL-03, wire.md 10.3)', async () => {
    const id = alice.newId();
    const envelope = (requestId: string, data: string): RegExp =>
      new RegExp(
        `^\\{"type":"response","channel":"control","request_id":${requestId},"timestamp_ns":${NS},"data":\\{"${data}":\\{"response":\\{"order_id":"${id}","status":"Received","reason":null,"processed_at_ns":${NS}\\},"asset_id":"2"\\}\\},"error":null\\}$`,
      );
    assert.match(await say(v1, inEnvelope('r-1', create({ id }))), envelope('"r-1"', 'CreateOrderResponse'));
    assert.match(await say(v1, inEnvelope('', replace(id, 300_600))), envelope('""', 'ReplaceOrderResponse'));
    assert.match(await say(v1, cancel(id)), envelope('null', 'CancelOrderResponse'));
  });

  test('frames may hold spaces, and be binary (wire.md 4.1, 9.1)', async () => {
    const id = alice.newId();
    const spaced = create({ id }).replaceAll('":', '": ').replaceAll(',"', ', "');
    assert.match(await say(v0, spaced), response('CreateOrderResponse', id, 'Received', null));
    v0.socket.send(Buffer.from(cancel(id)), { binary: true });
    assert.match(await v0.frame(), response('CancelOrderResponse', id, 'Received', null));
  });

  test('refusals are Rejected with the PascalCase of their code (CTL-02, ERR-11, AMB-123)', async () => {
    const id = alice.newId();
    assert.match(await say(v0, create({ id })), response('CreateOrderResponse', id, 'Received', null));
    const tag = 'CreateOrderResponse';
    assert.match(await say(v0, create({ id })), response(tag, id, 'Rejected', 'DuplicateOrder'));
    const poor = alice.newId();
    assert.match(
      await say(v0, create({ id: poor, quantity: 999_999_999 })),
      response(tag, poor, 'Rejected', 'InsufficientInventory'),
    );
    const forged = alice.newId();
    const bad = create({ id: forged }).replace(/"signature":\[\d+/, '"signature":[1');
    assert.match(await say(v0, bad), response(tag, forged, 'Rejected', 'InvalidSignature'));
    assert.match(
      await say(v0, replace('none', 300_500)),
      response('ReplaceOrderResponse', 'none', 'Rejected', 'OrderNotFound'),
    );
    const other = alice.newId();
    const elsewhere = await say(v0, create({ id: other, asset: '77' }));
    assert.match(elsewhere, /"status":"Rejected","reason":"MarketNotFound".*"asset_id":"77"\}\}$/);
    assert.match(await say(v0, cancel(id)), response('CancelOrderResponse', id, 'Received', null));
  });

  test('a rejection says in `detail` what REST says of the same request: code, member at fault, message (CTL-02, ERR-11)', async () => {
    const wrong = [
      alice.createBody({ id: alice.newId(), quantity: 1 }),
      alice.createBody({ id: alice.newId(), quantity: 999_999_999 }),
      alice.createBody({ id: alice.newId() }).replace(/"signature":\[\d+/, '"signature":[1'),
      alice.createBody({ id: alice.newId() }).replace('"side":"Sell"', '"side":7'),
    ];
    const fields: unknown[] = [];
    for (const body of wrong) {
      const { code, message, details } = errorOf(await alice.post('/orders/create', body));
      const field = details?.['field'] ?? null;
      const frame = JSON.parse(await say(v0, `{"CreateOrderRequest":${body}}`));
      assert.deepEqual(frame.CreateOrderResponse.response.detail, { code, field, message });
      const enveloped = JSON.parse(await say(v1, inEnvelope('r-7', `{"CreateOrderRequest":${body}}`)));
      assert.deepEqual(enveloped.data.CreateOrderResponse.response.detail, { code, field, message });
      fields.push(field);
    }
    assert.ok(fields.includes('side') && fields.includes(null), `${fields}`);
  });

  test('a malformed item that names its order is Rejected in the correlated shape (wire.md 10.2)', async () => {
    const body = create({ id: 'broken-1' }).replace('"side":"Sell"', '"side":7');
    assert.match(await say(v0, body), response('CreateOrderResponse', 'broken-1', 'Rejected', 'InvalidRequest'));
    const enveloped = await say(v1, inEnvelope('r-9', body));
    assert.match(enveloped, /^\{"type":"response","channel":"control","request_id":"r-9",.*"reason":"InvalidRequest"/);
  });

  test('what names no order is an uncorrelated error, a text ping too (WS-10, ERR-12, wire.md 10.2, 10.4)', async () => {
    const error = /^\{"error":\{"code":"INVALID_REQUEST","message":".+","retryable":false(,"details":\{.+\})?\}\}$/;
    for (const frame of [
      '{',
      '{}',
      '[]',
      'null',
      '',
      '{"type":"ping"}',
      '{"a":1}',
      '{"CreateOrderRequest":{}}',
      'hello',
    ]) {
      assert.match(await say(v0, frame), error, frame);
    }
    const twoTags = `${create({ id: 'x' }).slice(0, -1)},"type":"request"}`;
    assert.match(await say(v0, twoTags), /"(error|CreateOrderResponse)":/);
    const v1Error = new RegExp(
      `^\\{"type":"(response|error)","channel":"control","request_id":(null|"r-2"),"timestamp_ns":${NS},"data":null,"error":\\{"code":"INVALID_REQUEST","message":".+","retryable":false(,"details":\\{.+\\})?\\}\\}$`,
    );
    for (const frame of ['{', '{"type":"ping"}', inEnvelope('r-2', '{}')])
      assert.match(await say(v1, frame), v1Error, frame);
  });

  test('a cancel may come before its create, is held, and rejects it; over REST it is 404 (CTL-04, CTL-05, CAN-03)', async () => {
    const id = alice.newId();
    assert.equal(toldBy(await alice.cancel(id)), '404 ORDER_NOT_FOUND');
    assert.match(await say(v0, cancel(id)), response('CancelOrderResponse', id, 'Received', null));
    assert.match(await say(v0, create({ id })), response('CreateOrderResponse', id, 'Rejected', 'AlreadyCancelled'));
    const late = alice.newId();
    assert.match(await say(v0, cancel(late)), response('CancelOrderResponse', late, 'Received', null));
    await node.advance(5_000_000_001n);
    assert.match(await say(v0, create({ id: late })), response('CreateOrderResponse', late, 'Received', null));
    assert.match(await say(v0, cancel(late)), response('CancelOrderResponse', late, 'Received', null));
  });

  test('messages of one connection to one market keep their order (AMB-92)', async () => {
    const ids = Array.from({ length: 40 }, () => alice.newId());
    for (const id of ids) {
      v0.socket.send(create({ id, side: 'Buy', price: 100_000 }));
      v0.socket.send(cancel(id));
    }
    const answers = new Map<string, string[]>();
    for (let left = 2 * ids.length; left > 0; left -= 1) {
      const [, tag = '', id = '', status = ''] =
        /"(\w+)":\{"response":\{"order_id":"([^"]+)","status":"(\w+)"/.exec(await v0.frame()) ?? [];
      answers.set(id, [...(answers.get(id) ?? []), `${tag} ${status}`]);
    }
    for (const id of ids) {
      assert.deepEqual(answers.get(id), ['CreateOrderResponse Received', 'CancelOrderResponse Received'], id);
    }
  });

  test('an action of another signer: Rejected, UNAUTHORIZED, 1000 (AUT-13, AMB-92)', async () => {
    for (const [protocols, error] of [
      [[], /^\{"error":\{"code":"UNAUTHORIZED",/],
      [
        V1,
        /^\{"type":"error","channel":"control","request_id":null,"timestamp_ns":\d+,"data":null,"error":\{"code":"UNAUTHORIZED",/,
      ],
    ] as const) {
      const reader = await alice.stream('/control', [...protocols]);
      const id = bob.newId();
      assert.match(await say(reader, create({ id }, bob)), /"status":"Rejected","reason":"SignerMismatch"/);
      assert.match(await reader.frame(), error);
      assert.deepEqual(await reader.closed, { code: 1000, reason: '' });
    }
  });

  test('events of what /control does are published on /orders (STR-01)', async () => {
    const orders = await alice.stream('/orders');
    const id = alice.newId();
    await say(v0, create({ id }));
    await say(v0, cancel(id));
    assert.match(await orders.frame(), /^\{"Created":/);
    assert.match(await orders.frame(), new RegExp(`^\\{"Canceled":\\{"order_id":"${id}"`));
    orders.socket.terminate();
  });
});

suite('batches on /control', () => {
  let node: TestNode;
  let alice: PlainClient;
  let v0: SocketReader;
  let v1: SocketReader;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    v0 = await alice.stream('/control');
    v1 = await alice.stream('/control', V1);
  });
  after(() => node?.stop());

  const idsOf = async (reader: SocketReader, count: number): Promise<Map<string, string>> => {
    const answers = new Map<string, string>();
    for (let left = count; left > 0; left -= 1) {
      const frame = await reader.frame();
      const [, id = '', status = '', reason = ''] =
        /"order_id":"([^"]+)","status":"(\w+)","reason":(null|"\w+")/.exec(frame) ?? assert.fail(frame);
      answers.set(id, `${status} ${reason}`);
    }
    return answers;
  };

  test('batch create: one acknowledgement, then one response an order (CTL-01, wire.md 10.2)', async () => {
    const ids = [alice.newId(), alice.newId(), alice.newId()];
    const [first = '', second = '', third = ''] = ids;
    const bodies = [
      alice.createBody({ id: first }),
      alice.createBody({ id: second, quantity: 999_999_999 }),
      alice.createBody({ id: third }),
    ];
    v0.socket.send(`{"BatchCreateRequest":{"orders":[${bodies}]}}`);
    assert.equal(await v0.frame(), '{"request":{"status":"submitted"}}');
    const answers = await idsOf(v0, 3);
    assert.deepEqual(
      [answers.get(first), answers.get(second), answers.get(third)],
      ['Received null', 'Rejected "InsufficientInventory"', 'Received null'],
    );
  });

  test('batch replace: one acknowledgement, then one ReplaceOrderResponse an item, the request id on all (CTL-06, AMB-122)', async () => {
    const ids = [alice.newId(), alice.newId()];
    for (const id of ids) assert.equal((await alice.create({ id })).status, 200);
    const bodies = [...ids, 'unknown'].map((id) => alice.replaceBody({ id, price: 300_700 }));
    v1.socket.send(
      `{"type":"request","channel":"control","request_id":"b-1","data":{"BatchReplaceRequest":{"requests":[${bodies}]}}}`,
    );
    const acknowledged = await v1.frame();
    assert.match(
      acknowledged,
      new RegExp(
        `^\\{"type":"response","channel":"control","request_id":"b-1","timestamp_ns":${NS},"data":\\{"request":\\{"status":"submitted"\\}\\},"error":null\\}$`,
      ),
    );
    const frames = [await v1.frame(), await v1.frame(), await v1.frame()];
    for (const frame of frames) assert.match(frame, /"request_id":"b-1".*"data":\{"ReplaceOrderResponse":/);
    const unknown = frames.find((frame) => frame.includes('"unknown"')) ?? '';
    assert.match(unknown, /"status":"Rejected","reason":"OrderNotFound"/);
  });

  test('a batch refused whole is an uncorrelated error and nothing else (CTL-06, BAT-08, BAT-09)', async () => {
    const id = alice.newId();
    assert.equal((await alice.create({ id })).status, 200);
    const twice = [0, 1].map(() => alice.replaceBody({ id, price: 300_800 }));
    const many = Array.from({ length: 51 }, () => alice.createBody());
    for (const frame of [
      `{"BatchReplaceRequest":{"requests":[${twice}]}}`,
      `{"BatchCreateRequest":{"orders":[${many}]}}`,
      '{"BatchCreateRequest":{"orders":[]}}',
      '{"BatchCreateRequest":{}}',
    ]) {
      v0.socket.send(frame);
      assert.match(await v0.frame(), /^\{"error":\{"code":"INVALID_REQUEST",/, frame.slice(0, 60));
    }
    const record = (await alice.read(`/orders/user/${alice.id}/2/${id}`)) as { limit_price: string };
    assert.equal(record.limit_price, '3000');
  });
});
