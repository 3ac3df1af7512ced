// tier: quick
/** The bodies of batches (wire.md 7.7, G5, AMB-26). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { decodeControlFrame, type MalformedFrame } from '../../src/codec/control-frame.ts';
import { decodeCreate, decodeReplace } from '../../src/codec/order-actions.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { createItems, replaceItems } from '../support/batch-bodies.ts';
import { propertyParameters } from '../support/property.ts';
import { USER_42, utf8, VECTORS, vectorNamed, wrap } from '../support/wire-vectors.ts';

type Decode<T> = (bytes: Uint8Array, start: number, end: number) => Outcome<T>;

function decoded<T>(decode: Decode<T>, text: string): Outcome<T> {
  const bytes = utf8(text);
  return decode(bytes, 0, bytes.length);
}

function taken<T>(decode: Decode<T>, text: string): T {
  const outcome = decoded(decode, text);
  assert.ok(outcome.ok, text);
  return outcome.value;
}

function faultOf<T>(decode: Decode<T>, text: string): string {
  const outcome = decoded(decode, text);
  assert.ok(!outcome.ok, text.slice(0, 200));
  assert.equal(outcome.reject.code, 'INVALID_REQUEST');
  return `${outcome.reject.message} ${outcome.reject.field ?? ''}`.trim();
}

const CREATE = vectorNamed('wire.md create').text;
const REPLACE = vectorNamed('wire.md replace').text;
const create = (id: string): string => wrap('create', USER_42, CREATE.replace('demo-order-1', id));
const replace = (id: string): string => wrap('replace', USER_42, REPLACE.replace('demo-order-1', id));
const many = (count: number, item: (id: string) => string): string =>
  Array.from({ length: count }, (_, index) => item(`o-${index}`)).join(',');

/** Wrappers of every kind of order, with ids of any legal letters, and an id or a figure that breaks its own rule. */
const ORDER_ID = fc.stringMatching(/^[A-Za-z0-9+/=_.:-]{1,64}$/).filter((id) => !id.startsWith('sys-'));
const CREATES = VECTORS.filter(({ kind }) => kind === 'create');
const ANY_CREATE = fc
  .tuple(fc.constantFrom(...CREATES), ORDER_ID, fc.boolean())
  .map(([vector, id, isFaulty]) =>
    wrap(
      'create',
      vector.user,
      vector.text.replace(/"order_id":"[^"]*"/, `"order_id":"${isFaulty ? '' : id}"`).replace(/0000,/, '0001,'),
    ),
  );
const ANY_REPLACE = fc.tuple(fc.constantFrom('new_price_limit', 'new_quantity'), fc.constantFrom('null', '0', '7')).map(
  ([member, figure]) =>
    (id: string) =>
      replace(id).replace(new RegExp(`"${member}":[^,]+`), `"${member}":${figure}`),
);

suite('the body of a batch', () => {
  test('its items decode to what each would alone, in their order (BAT-01, BAT-02, AMB-26)', () => {
    fc.assert(
      fc.property(fc.array(ANY_CREATE, { minLength: 1, maxLength: 50 }), (wrappers) => {
        const alone = wrappers.map((wrapper) => taken(decodeCreate, wrapper));
        assert.deepEqual(taken(createItems, `{"orders":[${wrappers.join(',')}]}`), alone);
      }),
      propertyParameters(40),
    );
    fc.assert(
      fc.property(fc.array(ANY_REPLACE, { minLength: 1, maxLength: 50 }), (items) => {
        const wrappers = items.map((item, index) => item(`o-${index}`));
        const alone = wrappers.map((wrapper) => taken(decodeReplace, wrapper));
        for (const body of [`{"requests":[${wrappers.join(', ')}]}`, `[ ${wrappers.join(',\n')} ]`]) {
          assert.deepEqual(taken(replaceItems, body), alone);
        }
      }),
      propertyParameters(40),
    );
  });

  test('a replace lies under one of three names or stands bare, a create under `orders` alone (G5)', () => {
    for (const name of ['requests', 'orders', 'replaces']) {
      assert.equal(taken(replaceItems, `{"x":1,"${name}":[${replace('a')}]}`).length, 1);
    }
    assert.equal(taken(replaceItems, `[${replace('a')}]`).length, 1);
    assert.equal(
      faultOf(replaceItems, `{"requests":[${replace('a')}],"orders":[${replace('b')}]}`),
      'expected one of requests, orders, replaces',
    );
    assert.equal(faultOf(replaceItems, '{}'), 'expected one of requests, orders, replaces');
    assert.equal(faultOf(createItems, `{"requests":[${create('a')}]}`), 'a missing member orders');
    assert.match(faultOf(createItems, `[${create('a')}]`), /^expected an object/);
  });

  test('50 items are taken; 51 and none are refused whole (BAT-01, BAT-08)', () => {
    assert.equal(taken(createItems, `{"orders":[${many(50, create)}]}`).length, 50);
    assert.equal(taken(replaceItems, `[${many(50, replace)}]`).length, 50);
    assert.equal(faultOf(createItems, `{"orders":[${many(51, create)}]}`), 'a batch has at most 50 items');
    assert.equal(faultOf(replaceItems, `[${many(51, replace)}]`), 'a batch has at most 50 items');
    assert.equal(faultOf(createItems, '{"orders":[]}'), 'a batch has at least one item');
    assert.equal(faultOf(replaceItems, '[]'), 'a batch has at least one item');
  });

  test('an id named twice refuses a batch replace whole, across markets; a create goes item by item (BAT-09, AMB-26)', () => {
    const elsewhere = replace('a').replace('"asset_id":"12"', '"asset_id":"13"');
    assert.equal(faultOf(replaceItems, `[${replace('a')},${elsewhere}]`), 'a batch names an order once order_id');
    assert.equal(taken(createItems, `{"orders":[${create('a')},${create('a')}]}`).length, 2);
  });

  test('a broken shape of one item refuses the whole body, a broken rule of an item does not (AMB-26)', () => {
    const broken = create('b').replace('315025', '"x"');
    assert.match(faultOf(createItems, `{"orders":[${create('a')},${broken}]}`), /limit_price$/);
    const zero = taken(createItems, `{"orders":[${create('a')},${create('b').replace('315025', '0')}]}`);
    assert.deepEqual(
      zero.map(({ fault }) => fault?.field ?? null),
      [null, 'limit_price'],
    );
    for (const item of ['null', '7', '[]', '{}', '"a"']) faultOf(createItems, `{"orders":[${item}]}`);
    for (const body of ['null', '{"orders":null}', '{"orders":{}}', '{"orders":[', `{"orders":[${create('a')}]} x`]) {
      faultOf(createItems, body);
    }
  });
});

suite('a batch on the control channel', () => {
  const frameOf = (text: string): ReturnType<typeof decodeControlFrame> => {
    const bytes = utf8(text);
    return decodeControlFrame(bytes, 0, bytes.length);
  };
  const malformed = (text: string): MalformedFrame => {
    const frame = frameOf(text);
    assert.ok(frame.kind === 'malformed');
    return frame;
  };

  test('is well-formed though refused whole: its fault is not a shape (AMB-122)', () => {
    for (const text of [
      `{"BatchCreateRequest":{"orders":[${many(51, create)}]}}`,
      `{"BatchReplaceRequest":[${replace('a')},${replace('a')}]}`,
      '{"BatchCreateRequest":{"orders":[]}}',
    ]) {
      const frame = frameOf(text);
      assert.ok(frame.kind === 'batch-create' || frame.kind === 'batch-replace');
      assert.equal(frame.batch.fault?.code, 'INVALID_REQUEST');
    }
  });

  test('of a broken one every order that can be named is found (wire.md 10.2)', () => {
    const broken = create('b').replace('"signature"', '"signatures"');
    const found = (action: string, ...ids: string[]): object[] =>
      ids.map((orderId) => ({ action, orderId, assetText: '12' }));
    const all = malformed(`{"BatchCreateRequest":{"orders":[${create('a')},${broken},${create('c')}]}}`);
    assert.deepEqual(all.correlations, found('create', 'a', 'b', 'c'));
    assert.deepEqual([all.isAllFound, all.reject.field], [true, 'signature']);
    const nameless = malformed(`{"BatchReplaceRequest":{"replaces":[${replace('a')},{"request":{}}]}}`);
    assert.deepEqual(nameless.correlations, found('replace', 'a'));
    assert.equal(nameless.isAllFound, false);
    const bare = malformed(`{"BatchReplaceRequest":[${replace('a')},{"request":{"order_id":"b"},"asset_id":"12"}]}`);
    assert.deepEqual(bare.correlations, found('replace', 'a', 'b'));
    for (const text of [
      `{"BatchCreateRequest":{"orders":[${many(51, create).replace('315025', '"x"')}]}}`,
      '{"BatchCreateRequest":{"orders":7}}',
      '{"BatchReplaceRequest":[7]}',
    ]) {
      const { correlations, isAllFound } = malformed(text);
      assert.deepEqual([correlations, isAllFound], [[], false]);
    }
  });
});
