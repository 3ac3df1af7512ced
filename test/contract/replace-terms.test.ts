// tier: quick, 3 s
/** Replaces with complete terms over REST and `/control` (wire-additions.md 3). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';
import { replaceBody, replaceText } from '../support/wire-texts.ts';

const RECEIVED = /^\{"order_id":"[^"]+","status":"Received","reason":null,"processed_at_ns":\d{19}\}$/;

interface Terms {
  readonly limit_price: string;
  readonly quantity: string;
  readonly timestamp_ns: number;
}

suite('a replace with complete terms', () => {
  let node: TestNode;
  let alice: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
  });
  after(() => node?.stop());

  const complete = { price: 300_500, quantity: 2_000, isComplete: true } as const;
  const placed = async (words: Parameters<PlainClient['create']>[0] = {}): Promise<string> => {
    const id = alice.newId();
    assert.equal((await alice.create({ id, ...words })).status, 200);
    return id;
  };
  const termsOf = async (id: string): Promise<Terms> => (await alice.read(`/orders/user/${alice.id}/2/${id}`)) as Terms;
  const patch = (body: string) => alice.send('PATCH', '/orders/replace', body);

  test('has the operation response and puts price and total in force', async () => {
    const id = await placed();
    const answer = await alice.replace({ id, ...complete });
    assert.match(answer.text, RECEIVED);
    const { limit_price, quantity } = await termsOf(id);
    assert.deepEqual([limit_price, quantity], ['3005', '0.2']);
  });

  test('leaves out what is null: the trigger and the version', async () => {
    const id = await placed();
    const text = replaceText({ id, ...complete, timestampNs: alice.nowNs() });
    const short = text.replace('"new_trigger":null,', '').replace(',"protocol_version":1', '');
    assert.match((await patch(replaceBody(alice.key, short, alice.nowNs(), '2', text))).text, RECEIVED);
  });

  test('gives both figures, and its market in the text alone', async () => {
    const id = await placed();
    for (const [field, body] of [
      ['new_price_limit', alice.replaceBody({ id, ...complete, price: null })],
      ['new_quantity', alice.replaceBody({ id, ...complete, quantity: null })],
      ['asset_id', alice.replaceBody({ id, ...complete }).replace('"signer"', '"asset_id":"2","signer"')],
      [
        'new_trigger',
        alice.replaceBody({
          id,
          ...complete,
          trigger: '{"parent_order_id":null,"condition":{"PriceAbove":{"price":1}}}',
        }),
      ],
    ] as const) {
      const answer = await patch(body);
      assert.equal(toldBy(answer), '400 INVALID_REQUEST', field);
      assert.equal(errorOf(answer).details?.['field'], field);
    }
    assert.equal((await termsOf(id)).limit_price, '3000', 'nothing was done');
  });

  test('is signed over its own text: a signature of the partial form is not one of it, nor the other way round', async () => {
    const id = await placed();
    const words = { id, ...complete, timestampNs: alice.nowNs() };
    const texts = [replaceText(words), replaceText({ ...words, isComplete: false })] as const;
    for (const [text, signed] of [texts, [texts[1], texts[0]]] as const) {
      const answer = await patch(replaceBody(alice.key, text, alice.nowNs(), '2', signed));
      assert.equal(toldBy(answer), '401 INVALID_SIGNATURE');
    }
    const moved = replaceBody(
      alice.key,
      texts[0].replace('"base_asset":"2"', '"base_asset":"1"'),
      alice.nowNs(),
      '2',
      texts[0],
    );
    assert.equal((await patch(moved)).status, 400, 'another market is another book, with other decimals');
  });

  test('an older one is refused, an equal one again is a success that changes nothing (AMB-21)', async () => {
    const id = await placed();
    const timestampNs = alice.nowNs();
    assert.equal((await alice.replace({ id, ...complete, timestampNs })).status, 200);
    assert.equal((await alice.replace({ id, ...complete, timestampNs })).status, 200);
    const older = await alice.replace({ id, ...complete, timestampNs: timestampNs - 1n });
    assert.equal(toldBy(older), '400 REQUEST_TOO_OLD');
    const other = await alice.replace({ id, ...complete, price: 300_600, timestampNs });
    assert.equal(toldBy(other), '400 REQUEST_TOO_OLD');
  });

  test('a dormant order keeps or changes its trigger, a live one has none to name', async () => {
    const trigger = '{"parent_order_id":null,"condition":{"PriceAbove":{"price":900000}}}';
    const id = await placed({ trigger });
    const none = await alice.replace({ id, ...complete });
    assert.equal(toldBy(none), '400 INVALID_ORDER');
    assert.equal(errorOf(none).details?.['field'], 'new_trigger');
    for (const price of [900_000, 910_000]) {
      const own = await alice.replace({ id, ...complete, trigger: `{"PriceAbove":{"price":${price}}}` });
      assert.equal(own.status, 200, own.text);
    }
    const live = await placed();
    const named = await alice.replace({ id: live, ...complete, trigger: '{"PriceAbove":{"price":900000}}' });
    assert.deepEqual([toldBy(named), errorOf(named).details?.['field']], ['400 INVALID_ORDER', 'new_trigger']);
  });

  test('batches take both forms, under `replaces` too', async () => {
    const ids = [await placed(), await placed(), 'unknown'];
    const bodies = ids.map((id, index) => alice.replaceBody({ id, ...complete, isComplete: index !== 1 }));
    const answer = await alice.send('PATCH', '/orders/batch-replace', `{"replaces":[${bodies}]}`);
    const { results } = JSON.parse(answer.text) as { readonly results: readonly { readonly reason: string | null }[] };
    assert.deepEqual(
      results.map(({ reason }) => reason),
      [null, null, 'OrderNotFound'],
    );
  });

  test('is answered on /control in both versions, with the asset as the text spells it', async () => {
    const id = await placed();
    for (const protocols of [[], ['svc.ws.v1']]) {
      const reader = await alice.stream('/control', protocols);
      reader.socket.send(`{"ReplaceOrderRequest":${alice.replaceBody({ id, ...complete })}}`);
      assert.match(
        await reader.frame(),
        /"ReplaceOrderResponse":\{"response":\{.*"status":"Received".*\},"asset_id":"2"\}/,
      );
      const broken = alice.replaceBody({ id, ...complete, price: null });
      reader.socket.send(`{"ReplaceOrderRequest":${broken}}`);
      assert.match(
        await reader.frame(),
        /"ReplaceOrderResponse":\{"response":\{.*"reason":"InvalidRequest".*"field":"new_price_limit".*"asset_id":"2"/,
      );
      reader.socket.terminate();
    }
  });
});
