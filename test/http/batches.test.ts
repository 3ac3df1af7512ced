// tier: quick
/** Batches over HTTP and over `/control`, in front of a service with scripted answers. */

import assert from 'node:assert/strict';
import { beforeEach, suite, test } from 'node:test';
import { reject } from '../../src/core/reject.ts';
import { ask, type HttpAnswer, SocketReader, withoutDetail } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';
import { NOW } from '../support/order-fixture.ts';
import { createBody, replaceBody, ScriptedOms } from '../support/scripted-oms.ts';

const oms = new ScriptedOms();
const listener = listenTo(oms);
beforeEach(() => {
  oms.script = 'received';
  oms.budget = null;
  oms.actions.length = 0;
  oms.charged.length = 0;
});

const as = (user = ALICE): Record<string, string> => ({ authorization: `Bearer ${oms.token(user)}`, 'user-id': user });
const creates = (...bodies: string[]): string => `{"orders":[${bodies.join(',')}]}`;
const replaces = (...bodies: string[]): string => `{"requests":[${bodies.join(',')}]}`;
const create = (id: string, signer = ALICE): string => createBody(signer, id);
const replace = (id: string, signer = ALICE): string => replaceBody(signer, id);
const told = ({ status, text }: HttpAnswer): [number, string] => [status, JSON.parse(text).error.code];

suite('a batch over HTTP', () => {
  const post = (body: string, headers = as()): Promise<HttpAnswer> =>
    ask(listener.port, '/orders/batch-create', { method: 'POST', headers, body: Buffer.from(body) });
  const patch = (body: string, headers = as()): Promise<HttpAnswer> =>
    ask(listener.port, '/orders/batch-replace', { method: 'PATCH', headers, body: Buffer.from(body) });

  test('answers one result an order, in order of submission, to the byte (BAT-02, BAT-04, wire.md 7.7)', async () => {
    oms.script = 'later';
    const pending = post(creates(create('b1'), create('b2'), create('b3')));
    while (oms.actions.length < 3) await new Promise(setImmediate);
    const refusal = reject('INSUFFICIENT_MARGIN', 'capacity too low');
    oms.actions[2]?.answer({ refusal: null, processedAtNs: oms.nowNs() });
    oms.actions[1]?.answer({ refusal, processedAtNs: oms.nowNs() });
    oms.actions[0]?.answer({ refusal: null, processedAtNs: oms.nowNs() });
    const { status, text } = await pending;
    assert.equal(status, 200);
    assert.equal(
      text,
      '{"results":[{"order_id":"b1","status":"Received","reason":null},' +
        '{"order_id":"b2","status":"Rejected","reason":"InsufficientMargin"},' +
        '{"order_id":"b3","status":"Received","reason":null}]}',
    );
  });

  test('is 200 though every item fails (AMB-26, ERR-11)', async () => {
    oms.script = reject('ORDER_NOT_FOUND', 'there is no such order');
    const { status, text } = await patch(replaces(replace('r1'), replace('r2')));
    assert.deepEqual(
      [status, JSON.parse(text).results.map(({ reason }: { reason: string }) => reason)],
      [200, ['OrderNotFound', 'OrderNotFound']],
    );
    oms.script = 'received';
    const foreign = await post(creates(create('a'), create('b', BOB)));
    assert.deepEqual(JSON.parse(foreign.text).results[1], {
      order_id: 'b',
      status: 'Rejected',
      reason: 'SignerMismatch',
    });
  });

  test('refused whole, nothing of it reaches the node: shape, size, a repeated id (BAT-08, BAT-09, AMB-91)', async () => {
    const fifty = Array.from({ length: 50 }, (_, index) => create(`o-${index}`));
    assert.equal((await post(creates(...fifty))).status, 200);
    assert.equal(oms.actions.length, 50);
    oms.actions.length = 0;
    oms.charged.length = 0;
    const refused = [
      await post(creates(...fifty, create('more')), {}),
      await post(creates(), {}),
      await post(creates(create('a'), '{}'), {}),
      await patch(replaces(replace('a'), replace('a')), {}),
      await patch('[]', {}),
    ];
    for (const answer of refused) assert.deepEqual(told(answer), [400, 'INVALID_REQUEST']);
    assert.deepEqual(told(await post(creates(create('a')), {})), [401, 'UNAUTHORIZED']);
    oms.budget = reject('RATE_LIMITED', 'too many requests');
    assert.deepEqual(told(await patch(replaces(replace('a')))), [429, 'RATE_LIMITED']);
    assert.deepEqual(oms.actions, []);
    assert.deepEqual(oms.charged, [[ALICE, { bulk: 1 }]]);
  });

  test('a session pays for a batch that is refused whole, at most for 50 items; a broken shape is free (AMB-104)', async () => {
    const fiftyOne = Array.from({ length: 51 }, (_, index) => create(`o-${index}`));
    for (const [answer, charge] of [
      [await post(creates(...fiftyOne)), { bulk: 50 }],
      [await post(creates()), { bulk: 0 }],
      [await patch(replaces(replace('a'), replace('a'))), { bulk: 2 }],
    ] as const) {
      assert.deepEqual(told(answer), [400, 'INVALID_REQUEST']);
      assert.deepEqual(oms.charged.shift(), [ALICE, charge]);
    }
    assert.deepEqual(told(await post(creates(create('a'), '{}'))), [400, 'INVALID_REQUEST']);
    assert.deepEqual(oms.charged, []);
    oms.budget = reject('RATE_LIMITED', 'too many requests');
    assert.deepEqual(told(await patch('[]')), [429, 'RATE_LIMITED']);
    assert.deepEqual(oms.actions, []);
  });

  test('is charged once, by its items (LIM-11)', async () => {
    await post(creates(create('a'), create('b'), create('c')));
    await patch(replaces(replace('a'), replace('b')));
    assert.deepEqual(oms.charged, [
      [ALICE, { bulk: 3 }],
      [ALICE, { bulk: 2 }],
    ]);
  });
});

suite('a batch on /control', () => {
  const open = (version: 0 | 1 = 0): Promise<SocketReader> =>
    SocketReader.open(listener.port, '/control', version === 1 ? ['svc.ws.v1'] : [], as());
  const enveloped = (data: string | null, error: string | null, requestId: string): string =>
    `{"type":"response","channel":"control","request_id":${requestId},"timestamp_ns":${NOW},` +
    `"data":${data},"error":${error}}`;
  const response = (tag: string, id: string, reason: string | null = null): string =>
    `{"${tag}Response":{"response":{"order_id":"${id}","status":"${reason === null ? 'Received' : 'Rejected'}",` +
    `"reason":${reason === null ? 'null' : `"${reason}"`},"processed_at_ns":${NOW}},"asset_id":"12"}}`;
  const SUBMITTED = '{"request":{"status":"submitted"}}';
  const BATCHES = [
    ['CreateOrder', 'BatchCreateRequest', creates(create('a'), create('b'))],
    ['ReplaceOrder', 'BatchReplaceRequest', replaces(replace('a'), replace('b'))],
  ] as const;

  test('is acknowledged once, then answered order by order, v0 and v1, to the byte (CTL-01 to CTL-03, CTL-06)', async () => {
    for (const [tag, name, body] of BATCHES) {
      const bare = await open(0);
      bare.socket.send(`{"${name}":${body}}`);
      assert.deepEqual(
        [await bare.frame(), await bare.frame(), await bare.frame()],
        [SUBMITTED, response(tag, 'a'), response(tag, 'b')],
      );
      const v1 = await open(1);
      v1.socket.send(`{"type":"request","channel":"control","request_id":"r-1","data":{"${name}":${body}}}`);
      assert.deepEqual(
        [await v1.frame(), await v1.frame(), await v1.frame()],
        [SUBMITTED, response(tag, 'a'), response(tag, 'b')].map((frame) => enveloped(frame, null, '"r-1"')),
      );
      for (const { socket } of [bare, v1]) socket.close();
    }
    assert.deepEqual(oms.charged, new Array(4).fill([ALICE, { bulk: 2 }]), 'costs as over REST (CTL-07)');
  });

  test('refused whole it gets one error frame and no acknowledgement, and is paid for (AMB-104, AMB-122)', async () => {
    const control = await open(1);
    for (const [name, body] of [
      ['BatchCreateRequest', creates()],
      ['BatchReplaceRequest', replaces(replace('a'), replace('a'))],
      ['BatchCreateRequest', creates(...Array.from({ length: 51 }, (_, index) => create(`o-${index}`)))],
    ] as const) {
      control.socket.send(`{"type":"request","channel":"control","request_id":"r-2","data":{"${name}":${body}}}`);
      const frame = JSON.parse(await control.frame());
      assert.deepEqual([frame.request_id, frame.data, frame.error.code], ['r-2', null, 'INVALID_REQUEST']);
    }
    assert.deepEqual([control.unread, oms.actions], [0, []]);
    assert.deepEqual(
      oms.charged.map(([, cost]) => cost),
      [{ bulk: 0 }, { bulk: 2 }, { bulk: 50 }],
    );
    oms.budget = reject('RATE_LIMITED', 'too many requests');
    control.socket.send('{"BatchReplaceRequest":[]}');
    assert.match(await control.frame(), /"code":"RATE_LIMITED"/);
    control.socket.close();
  });

  test('with a broken item nothing of it is done, and every order that has a name is answered (wire.md 10.2, AMB-26)', async () => {
    const control = await open();
    const broken = create('b').replace('200000', '"x"');
    control.socket.send(`{"BatchCreateRequest":${creates(create('a'), broken)}}`);
    assert.deepEqual(
      [withoutDetail(await control.frame()), withoutDetail(await control.frame())],
      ['a', 'b'].map((id) => response('CreateOrder', id, 'InvalidRequest')),
    );
    control.socket.send(`{"BatchReplaceRequest":${replaces(replace('a'), '{"request":{}}')}}`);
    assert.equal(withoutDetail(await control.frame()), response('ReplaceOrder', 'a', 'InvalidRequest'));
    assert.match(withoutDetail(await control.frame()), /^\{"error":\{"code":"INVALID_REQUEST"/);
    assert.deepEqual([control.unread, oms.actions, oms.charged], [0, [], []]);
    control.socket.close();
  });

  test('beyond the budget every order is answered RateLimited and none is sent (CTL-07, wire.md 10.2)', async () => {
    oms.budget = reject('RATE_LIMITED', 'too many requests');
    const control = await open();
    control.socket.send(`{"BatchCreateRequest":${creates(create('a'), create('b'))}}`);
    assert.deepEqual(
      [
        withoutDetail(await control.frame()),
        withoutDetail(await control.frame()),
        withoutDetail(await control.frame()),
      ],
      [SUBMITTED, ...['a', 'b'].map((id) => response('CreateOrder', id, 'RateLimited'))],
    );
    assert.deepEqual(oms.actions, []);
    control.socket.close();
  });

  test("another user's signature in it: all are answered, then UNAUTHORIZED and close 1000 (AMB-92)", async () => {
    const control = await open();
    control.socket.send(`{"BatchCreateRequest":${creates(create('a', BOB), create('b'))}}`);
    assert.deepEqual(
      [
        withoutDetail(await control.frame()),
        withoutDetail(await control.frame()),
        withoutDetail(await control.frame()),
      ],
      [SUBMITTED, response('CreateOrder', 'a', 'SignerMismatch'), response('CreateOrder', 'b')],
    );
    assert.match(withoutDetail(await control.frame()), /^\{"error":\{"code":"UNAUTHORIZED"/);
    assert.equal((await control.closed).code, 1000);
  });
});
