// tier: quick, 3 s
/** `/control` in short requests, and the subprotocols that select version 1 (wire-additions.md 2). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { SocketReader } from '../support/edge-client.ts';
import type { PlainClient } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const NAME = 'newer.client.ws.v1';
const OPEN = { units_per_second: 1_000_000, capacity: 1_000_000 };
const COSTS = {
  action: 2,
  cancel: 1,
  cancel_all: 50,
  bulk_item: 1.5,
  bulk_minimum: 2,
  history_page: 25,
  public_read: 2,
};

interface Answer {
  readonly type: string;
  readonly channel: string;
  readonly request_id: string | null;
  readonly data: Readonly<
    Record<string, { readonly response: { readonly status: string; readonly reason: string } }>
  > | null;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly retryable: boolean;
    readonly details?: Readonly<Record<string, unknown>>;
  } | null;
}

suite('a short request on /control', () => {
  let node: TestNode;
  let alice: PlainClient;
  let v0: SocketReader;
  let v1: SocketReader;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    v0 = await alice.stream('/control');
    v1 = await alice.stream('/control', [NAME]);
  });
  after(() => node?.stop());

  const create = (id: string): string => `{"CreateOrderRequest":${alice.createBody({ id })}}`;
  const replace = (id: string, price = 300_500): string =>
    `{"ReplaceOrderRequest":${alice.replaceBody({ id, price })}}`;
  const short = (requestId: string, data: string): string => `{"request_id":"${requestId}","data":${data}}`;
  const read = async (reader = v1): Promise<Answer> => JSON.parse(await reader.frame()) as Answer;
  const say = (frame: string): Promise<Answer> => {
    v1.socket.send(frame);
    return read();
  };
  /** The error of a frame without data. */
  const refusal = async (frame: string): Promise<NonNullable<Answer['error']> & { requestId: string | null }> => {
    const { type, channel, request_id: requestId, data, error } = await say(frame);
    assert.deepEqual([type, channel, data], ['response', 'control', null], frame);
    assert.ok(error !== null);
    return { ...error, requestId };
  };

  test('every name that ends in .ws.v1 is echoed and selects version 1, credentials and other names do not', async () => {
    assert.equal(v1.socket.protocol, NAME);
    for (const [protocols, isV1] of [
      [[NAME, 'other'], true],
      [['other', 'svc.ws.v1'], true],
      [['other', NAME], false],
      [[`Bearer-${alice.token}`, `User-${alice.id}`, NAME], false],
      [['User-a.ws.v1'], false],
      [['svc.ws.v2'], false],
      [[NAME, 'ringbook.fbs.v1'], true],
    ] as const) {
      const reader = await alice.stream('/control', [...protocols]);
      assert.equal(reader.socket.protocol, protocols[0]);
      reader.socket.send('{}');
      assert.equal((await reader.frame()).startsWith('{"type":"response"'), isV1, `${protocols}`);
      reader.socket.terminate();
    }
  });

  test('is answered in the envelope with its request id, for each kind of action', async () => {
    const id = alice.newId();
    for (const [requestId, data, tag] of [
      ['r-1', create(id), 'CreateOrderResponse'],
      ['r'.repeat(64), replace(id), 'ReplaceOrderResponse'],
      ['r-3', `{"CancelOrderRequest":${alice.cancelBody(id)}}`, 'CancelOrderResponse'],
    ] as const) {
      const answer = await say(short(requestId, data));
      assert.deepEqual(
        [answer.type, answer.channel, answer.request_id, answer.error],
        ['response', 'control', requestId, null],
      );
      assert.equal(answer.data?.[tag]?.response.status, 'Received');
    }
  });

  test('what a rule of the order, the account or the market refuses is Rejected with its reason', async () => {
    for (const [data, tag, reason] of [
      [replace('none'), 'ReplaceOrderResponse', 'OrderNotFound'],
      [create(alice.newId()).replace(/"signature":\[\d+/, '"signature":[1'), 'CreateOrderResponse', 'InvalidSignature'],
      [create(alice.newId()).replace('"limit_price":300000', '"limit_price":0'), 'CreateOrderResponse', 'InvalidOrder'],
    ] as const) {
      const { data: told, error, request_id } = await say(short('r-4', data));
      assert.equal(error, null);
      assert.equal(request_id, 'r-4');
      assert.deepEqual([told?.[tag]?.response.status, told?.[tag]?.response.reason], ['Rejected', reason]);
    }
  });

  test('a wrong or missing member is an error with its path below data, and the order', async () => {
    const id = 'short-1';
    for (const [data, field] of [
      [create(id).replace('"side":"Sell"', '"side":7'), 'CreateOrderRequest.order.side'],
      [create(id).replace('"limit_price":', '"price":'), 'CreateOrderRequest.order.details.Limit.price'],
      [create(id).replace('"reduce_only":false,', ''), 'CreateOrderRequest.order.reduce_only'],
      [create(id).replace(/"signature":\[\d+/, '"signature":["x"'), 'CreateOrderRequest.signature'],
      [replace(id).replace('"new_quantity":null', '"new_quantity":"1"'), 'ReplaceOrderRequest.request.new_quantity'],
    ] as const) {
      const { code, message, retryable, details, requestId } = await refusal(short('r-5', data));
      assert.deepEqual([code, retryable, requestId], ['INVALID_REQUEST', false, 'r-5'], data);
      assert.deepEqual(details, { field, order_id: id });
      assert.ok(message.startsWith(`${field.split('.').at(-1)}: `), message);
    }
    const nothing = await refusal(short('r-6', '{"CreateOrderRequest":"nothing"}'));
    assert.deepEqual(nothing.details, { field: 'CreateOrderRequest' });
    const unknown = await refusal(short('r-7', '{"CreateEverything":{}}'));
    assert.deepEqual([unknown.requestId, unknown.details], ['r-7', { field: 'CreateEverything' }]);
    const long = await refusal(short('r-8', create(id).padEnd(200_000, ' ')));
    assert.deepEqual([long.code, long.requestId], ['PAYLOAD_TOO_LARGE', 'r-8']);
  });

  test('what no parser may take is answered with the request id too: a member twice, half a surrogate, depth, broken text', async () => {
    const id = 'short-3';
    const good = create(id);
    const order = 'CreateOrderRequest.order';
    for (const [data, field] of [
      [good.replace('"side":', '"side":"Buy","side":'), `${order}.side`],
      [good.replace(`"${id}"`, '"\\ud800"'), `${order}.order_id`],
      [good.replace('"Sell"', '"Se'), `${order}.side`],
      [good.replace('"trigger":null', `"trigger":${'['.repeat(100)}${']'.repeat(100)}`), `${order}.trigger`],
      [good.slice(0, -60), 'CreateOrderRequest.signature'],
    ] as const) {
      const { code, details, requestId } = await refusal(short('r-12', data));
      assert.deepEqual([code, requestId, details?.['field']], ['INVALID_REQUEST', 'r-12', field], data);
    }
    const twice = await refusal(`{"request_id":"r-13","request_id":"r-14","data":${good}}`);
    assert.deepEqual([twice.requestId, twice.details?.['field']], [null, 'request_id'], 'two ids are none');
    const again = await refusal(`{"request_id":"r-15","data":${good},"data":${good}}`);
    assert.deepEqual([again.requestId, again.details?.['field']], ['r-15', 'data']);
  });

  test('a request id has up to 64 characters, whatever their length in bytes', async () => {
    const requestId = '\u{1f512}'.repeat(64);
    assert.equal((await say(short(requestId, create(alice.newId())))).request_id, requestId);
    assert.equal((await refusal(short(`${requestId}.`, create(alice.newId())))).details?.['field'], 'request_id');
  });

  test('its envelope has request_id and data, and nothing else: the fault names the member', async () => {
    const id = alice.newId();
    const data = create(id);
    for (const [frame, field] of [
      [`{"data":${data}}`, 'request_id'],
      [`{"request_id":"","data":${data}}`, 'request_id'],
      [`{"request_id":"${'r'.repeat(65)}","data":${data}}`, 'request_id'],
      [`{"request_id":7,"data":${data}}`, 'request_id'],
      ['{"request_id":"r-9"}', 'data'],
      [`{"request_id":"r-9","data":${data},"timestamp_ns":1}`, 'timestamp_ns'],
      [`{"request_id":"r-9","data":${data},"error":null}`, 'error'],
      [`{"request_id":"r-9","data":${data},"extra":1}`, 'extra'],
      [`{"type":"request","request_id":"r-9","data":${data}}`, 'channel'],
      [`{"channel":"control","request_id":"r-9","data":${data}}`, 'type'],
    ] as const) {
      const { code, details } = await refusal(frame);
      assert.deepEqual([code, details?.['field']], ['INVALID_REQUEST', field], frame.slice(0, 60));
    }
    assert.equal((await alice.get(`/orders/user/${alice.id}/2/${id}`)).status, 404, 'nothing was done');
  });

  test('a full envelope, a raw wrapper and a version 0 socket have the answers that they had', async () => {
    const broken = create('short-2').replace('"side":"Sell"', '"side":7');
    const full = await say(`{"type":"request","channel":"control","request_id":"r-10","data":${broken}}`);
    assert.equal(full.data?.['CreateOrderResponse']?.response.reason, 'InvalidRequest');
    assert.equal((await say(broken)).data?.['CreateOrderResponse']?.response.reason, 'InvalidRequest');
    v0.socket.send(short('r-11', create(alice.newId())));
    assert.match(await v0.frame(), /^\{"CreateOrderResponse":.*"reason":"InvalidRequest".*"field":"type"/);
  });

  test('a batch is acknowledged and answered order by order with the request id', async () => {
    const ids = [alice.newId(), alice.newId()];
    v1.socket.send(short('b-1', `{"BatchCreateRequest":{"orders":[${ids.map((id) => alice.createBody({ id }))}]}}`));
    const answers = [await read(), await read(), await read()];
    assert.ok(answers.every(({ request_id, error }) => request_id === 'b-1' && error === null));
    assert.deepEqual(answers[0]?.data, { request: { status: 'submitted' } });
    assert.ok(answers.slice(1).every(({ data }) => data?.['CreateOrderResponse']?.response.status === 'Received'));
  });

  test('a batch that is refused as a whole gets one error: its shape, its size, an order named twice', async () => {
    const good = alice.createBody({ id: 'item-0' });
    const bad = alice.createBody({ id: 'item-1' }).replace('"side":"Sell"', '"side":7');
    const shape = await refusal(short('b-2', `{"BatchCreateRequest":{"orders":[${good},${bad}]}}`));
    assert.deepEqual(shape.details, { field: 'BatchCreateRequest.orders[1].order.side', order_id: 'item-1' });
    const empty = await refusal(short('b-3', '{"BatchCreateRequest":{"orders":[]}}'));
    assert.deepEqual([empty.requestId, empty.code], ['b-3', 'INVALID_REQUEST']);
    assert.deepEqual(empty.details, { field: 'BatchCreateRequest.orders' });
    const many = `{"BatchReplaceRequest":[${Array.from({ length: 51 }, (_, at) => alice.replaceBody({ id: `n-${at}` }))}]}`;
    assert.deepEqual((await refusal(short('b-5', many))).details, { field: 'BatchReplaceRequest' });
    const [first, again] = ['item-1', 'item-2'].map((id) => alice.replaceBody({ id, price: 300_100 }));
    for (const [list, place] of [
      [`{"replaces":[${first},${again},${again}]}`, '.replaces[2]'],
      [`[${again},${again}]`, '[1]'],
    ] as const) {
      const twice = await refusal(short('b-4', `{"BatchReplaceRequest":${list}}`));
      const field = `BatchReplaceRequest${place}.request.order_id`;
      assert.deepEqual([twice.requestId, twice.details], ['b-4', { field, order_id: 'item-2' }]);
    }
    await v1.caughtUp();
  });

  test('without budget an action and a batch get one error with the bucket (LIM-15)', async () => {
    const other = await node.user();
    const reader = await other.stream('/control', [NAME]);
    const rates = { units_per_second: 1, capacity: 1 };
    const limits = { default: rates, market_maker: OPEN, global: OPEN, costs: COSTS };
    await node.operate('PUT', '/operator/rate-limits', limits);
    assert.equal((await other.cancel('none')).status, 404, 'its budget is spent');
    const body = other.createBody({ id: 'poor-1' });
    for (const [requestId, data, orderId] of [
      ['l-1', `{"CreateOrderRequest":${body}}`, 'poor-1'],
      ['l-2', `{"BatchCreateRequest":{"orders":[${body}]}}`, undefined],
    ] as const) {
      reader.socket.send(short(requestId, data));
      const { request_id, data: told, error } = await read(reader);
      assert.deepEqual([request_id, told, error?.code, error?.retryable], [requestId, null, 'RATE_LIMITED', true]);
      assert.deepEqual([error?.details?.['bucket'], error?.details?.['order_id']], ['user', orderId]);
    }
    reader.socket.send(body.replace(/^/, '{"CreateOrderRequest":').concat('}'));
    assert.equal((await read(reader)).data?.['CreateOrderResponse']?.response.reason, 'RateLimited', 'a raw wrapper');
    reader.socket.terminate();
  });
});
