// tier: quick, 4 s
/** Amends over REST and `/control`, and their events (wire-additions.md 4). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { HttpAnswer, SocketReader } from '../support/edge-client.ts';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const RECEIVED = /^\{"order_id":"[^"]+","status":"Received","reason":null,"processed_at_ns":\d{19}\}$/;

interface Words {
  readonly id: string;
  readonly quantity: number | string;
  /** The revision that it expects. */
  readonly expected?: bigint | null;
  readonly timestampNs?: bigint;
  /** Members of the request, and beside it. */
  readonly inside?: string;
  readonly beside?: string;
}

suite('an amend', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    bob = await node.user();
  });
  after(() => node?.stop());

  const bodyOf = ({ id, quantity, expected = null, timestampNs, inside = '', beside = '' }: Words): string =>
    `{"request":{"order_id":"${id}","base_asset":"2","new_quantity":${quantity},"book_quantity_decimals":4,` +
    `"expected_authorization_revision":${expected},"timestamp_ns":${timestampNs ?? alice.nowNs()}${inside}},` +
    `"user_id":"${alice.id}"${beside}}`;
  const amend = (words: Words): Promise<HttpAnswer> => alice.send('PATCH', '/orders/amend', bodyOf(words));
  const placed = async (words: Parameters<PlainClient['create']>[0] = {}): Promise<string> => {
    const id = alice.newId();
    assert.equal((await alice.create({ id, ...words })).status, 200);
    return id;
  };
  const quantityOf = async (id: string): Promise<string> =>
    ((await alice.read(`/orders/user/${alice.id}/2/${id}`)) as { quantity: string }).quantity;
  const refusal = (answer: HttpAnswer): readonly [string, unknown] => [
    toldBy(answer),
    errorOf(answer).details?.['field'],
  ];

  test('lowers the total without a signature; each is made for the revision before it', async () => {
    const id = await placed();
    const first = alice.nowNs();
    assert.match((await amend({ id, quantity: 900, timestampNs: first, inside: ',"source":"User"' })).text, RECEIVED);
    assert.equal(await quantityOf(id), '0.09');
    const stale = await amend({ id, quantity: 800 });
    assert.equal(toldBy(stale), '409 ORDER_REVISION_MISMATCH');
    assert.ok(stale.text.includes(`"authorization_revision":${first}`), stale.text);
    assert.deepEqual(refusal(await amend({ id, quantity: 800, expected: first, timestampNs: first })), [
      '400 REQUEST_TOO_OLD',
      'timestamp_ns',
    ]);
    const target = ',"target":{"account":0,"is_spot":false},"oms_operator_pubkey":"","receive_timestamp_ns":null';
    assert.equal((await amend({ id, quantity: 800, expected: first, beside: target })).status, 200);
    const never = await placed();
    const wrong = await amend({ id: never, quantity: 800, expected: first });
    assert.deepEqual(
      [toldBy(wrong), errorOf(wrong).details?.['authorization_revision']],
      ['409 ORDER_REVISION_MISMATCH', null],
    );
  });

  test('refuses what is no reduction, another market, decimals, user, source or member, and changes nothing', async () => {
    const id = await placed();
    for (const [answer, expected] of [
      [await amend({ id, quantity: 0 }), ['400 INVALID_ORDER', 'new_quantity']],
      [await amend({ id, quantity: 1_000 }), ['400 INVALID_ORDER', 'new_quantity']],
      [await amend({ id, quantity: 1 }), ['400 INVALID_ORDER', 'new_quantity']],
      [await amend({ id, quantity: '"900"' }), ['400 INVALID_REQUEST', 'new_quantity']],
      [await amend({ id, quantity: 900, inside: ',"source":"Operator"' }), ['400 INVALID_REQUEST', 'source']],
      [await amend({ id, quantity: 900, inside: ',"extra":1' }), ['400 INVALID_REQUEST', 'extra']],
      [await amend({ id, quantity: 900, beside: ',"extra":1' }), ['400 INVALID_REQUEST', 'extra']],
      [await amend({ id, quantity: 900, beside: ',"target":7' }), ['400 INVALID_REQUEST', 'target']],
      [
        await amend({ id, quantity: 900, timestampNs: alice.nowNs() - 61_000_000_000n }),
        ['400 REQUEST_TOO_OLD', 'timestamp_ns'],
      ],
      [
        await amend({ id, quantity: 900, timestampNs: alice.nowNs() + 9_000_000_000n }),
        ['400 REQUEST_TOO_OLD', 'timestamp_ns'],
      ],
      [await amend({ id: 'none', quantity: 900 }), ['404 ORDER_NOT_FOUND', undefined]],
    ] as const) {
      assert.deepEqual(refusal(answer), expected);
    }
    const decimals = bodyOf({ id, quantity: 900 }).replace('"book_quantity_decimals":4', '"book_quantity_decimals":5');
    assert.deepEqual(refusal(await alice.send('PATCH', '/orders/amend', decimals)), [
      '400 INVALID_ORDER',
      'book_quantity_decimals',
    ]);
    const foreign = await bob.send('PATCH', '/orders/amend', bodyOf({ id, quantity: 900 }));
    assert.deepEqual(refusal(foreign), ['403 SIGNER_MISMATCH', 'user_id']);
    assert.equal((await alice.send('PATCH', '/orders/amend', bodyOf({ id, quantity: 900 }), {})).status, 401);
    assert.equal(await quantityOf(id), '0.1');
    assert.equal((await alice.cancel(id)).status, 200);
    assert.equal(toldBy(await amend({ id, quantity: 900 })), '409 ALREADY_CANCELLED');
  });

  test('works while the market takes no orders, like a cancel', async () => {
    const id = await placed();
    let expected: bigint | null = null;
    for (const [status, quantity] of [
      ['CancelOnly', 900],
      ['Halted', 800],
    ] as const) {
      const timestampNs = alice.nowNs();
      await node.operate('PATCH', '/operator/markets/2', { status });
      assert.equal((await amend({ id, quantity, expected, timestampNs })).status, 200, status);
      expected = timestampNs;
    }
    await node.operate('PATCH', '/operator/markets/2', { status: 'Active' });
  });

  test('clearing judges later fills against the amended total, and a restart keeps it', async () => {
    const id = await placed({ side: 'Sell', price: 250_000 });
    const first = alice.nowNs();
    assert.equal((await amend({ id, quantity: 400, timestampNs: first })).status, 200);
    await node.rest();
    await node.restart();
    for (const user of [alice, bob]) await user.login();
    assert.equal((await amend({ id, quantity: 300 })).status, 409, 'its revision is kept');
    assert.equal((await amend({ id, quantity: 300, expected: first })).status, 200);
    assert.equal((await bob.create({ side: 'Buy', price: 250_000, quantity: 300 })).status, 200);
    await node.rest();
    const record = (await alice.read(`/orders/user/${alice.id}/2/${id}`)) as { status: string; quantity: string };
    assert.deepEqual([record.status, record.quantity], ['Filled', '0.03']);
  });

  test('is Amended on v1 and Replaced on v0; a late refusal AmendFailed and ReplaceFailed', async () => {
    const id = await placed();
    const v0 = await alice.stream('/orders');
    const v1 = await alice.stream('/orders', ['newer.client.ws.v1']);
    const first = alice.nowNs();
    assert.equal((await amend({ id, quantity: 700, timestampNs: first })).status, 200);
    assert.equal(
      await v0.frame(),
      `{"Replaced":{"order_id":"${id}","asset_id":"2","user_id":"${alice.id}","new_quantity":700,"new_price":300000}}`,
    );
    assert.match(
      await v1.frame(),
      new RegExp(
        `"data":\\{"Amended":\\{"order_id":"${id}","asset_id":"2","user_id":"${alice.id}","new_quantity":700,"remaining_quantity":700,"authorization_revision":${first},"book_quantity_decimals":4,"timestamp_ns":\\d{19},"operator_pubkey":null\\}\\}`,
      ),
    );
    assert.equal((await amend({ id, quantity: 600 })).status, 409);
    assert.match(
      await v0.frame(),
      /^\{"ReplaceFailed":\{"order_id":"[^"]+","user_id":"[0-9a-f]{64}","reason":"OrderRevisionMismatch"\}\}$/,
    );
    assert.match(
      await v1.frame(),
      /"data":\{"AmendFailed":\{"order_id":"[^"]+","user_id":"[0-9a-f]{64}","reason":"OrderRevisionMismatch"\}\}/,
    );
    for (const reader of [v0, v1]) reader.socket.terminate();
  });

  test('is answered on /control in every form, in its place behind what the connection sent before', async () => {
    const say = async (reader: SocketReader, frame: string): Promise<string> => {
      reader.socket.send(frame);
      return reader.frame();
    };
    const id = alice.newId();
    const v0 = await alice.stream('/control');
    const v1 = await alice.stream('/control', ['svc.ws.v1']);
    v0.socket.send(`{"CreateOrderRequest":${alice.createBody({ id })}}`);
    const first = alice.nowNs();
    v0.socket.send(`{"AmendOrderRequest":${bodyOf({ id, quantity: 900, timestampNs: first })}}`);
    assert.match(await v0.frame(), /"CreateOrderResponse".*"Received"/);
    assert.match(
      await v0.frame(),
      new RegExp(
        `^\\{"AmendOrderResponse":\\{"response":\\{"order_id":"${id}","status":"Received","reason":null,.*\\},"asset_id":"2"\\}\\}$`,
      ),
    );
    const mismatch = await say(v0, `{"AmendOrderRequest":${bodyOf({ id, quantity: 800 })}}`);
    assert.match(mismatch, /"AmendOrderResponse".*"Rejected","reason":"OrderRevisionMismatch"/);
    assert.ok(mismatch.includes(`"authorization_revision":${first}}`), mismatch);
    const short = `{"request_id":"a-1","data":{"AmendOrderRequest":${bodyOf({ id, quantity: 800, expected: first })}}}`;
    assert.match(await say(v1, short), /"request_id":"a-1",.*"AmendOrderResponse".*"Received".*"error":null\}$/);
    const broken = `{"request_id":"a-2","data":{"AmendOrderRequest":${bodyOf({ id, quantity: '"1"' })}}}`;
    assert.match(
      await say(v1, broken),
      /"data":null,"error":\{.*"field":"AmendOrderRequest.request.new_quantity","order_id":"/,
    );
    assert.match(
      await say(v0, `{"AmendOrderRequest":${bodyOf({ id: 'never', quantity: 1_000 })}}`),
      /"Rejected","reason":"OrderNotFound"/,
    );
  });
});
