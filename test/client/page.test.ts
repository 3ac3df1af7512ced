// tier: quick
/**
 * What the reference page does between the published documents and a request: it reads them, rebuilds the signed bytes
 * from their schemas, and signs. Compared with the node's own readers, which are independent of it.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { devKey } from '../../src/client/keys.ts';
import { readOperations, readStreams } from '../../src/client/page/api-reader.ts';
import { refreshed, signedBody, signedShape, withOrderIds, withUser } from '../../src/client/page/attempt.ts';
import { JsonTextError, parseJsonText, prettyJson } from '../../src/client/page/json-text.ts';
import { decodeAddSigner, decodeSettlement, decodeTransfer } from '../../src/codec/account-requests.ts';
import { canonicalText } from '../../src/codec/canonical-text.ts';
import { isJsonObject, parseJson } from '../../src/codec/json-tree.ts';
import { writeJson } from '../../src/codec/json-writer.ts';
import { decodeCancel, decodeCreate, decodeReplace } from '../../src/codec/order-actions.ts';
import { must } from '../../src/core/assert.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { verify } from '../../src/crypto/ed25519.ts';
import { infoOf } from '../../src/http/api/api-documents.ts';
import { asyncApi } from '../../src/http/api/async-api.ts';
import { openApi } from '../../src/http/api/open-api.ts';
import { decodeClosePosition, decodeWithdrawal, decodeWithdrawalCancel } from '../support/account-decoders.ts';
import { createItems } from '../support/batch-bodies.ts';
import { propertyParameters } from '../support/property.ts';
import { SERVICE_TABLES } from '../support/service-tables.ts';
import { fitting } from '../support/shape-arbitrary.ts';

const { routes, streams } = SERVICE_TABLES.orders;
const operations = readOperations(parseJsonText(openApi(infoOf('orders'), routes)));
const operation = (id: string): (typeof operations)[number] =>
  must(
    operations.find((one) => one.id === id),
    id,
  );

interface Signed {
  readonly text: Uint8Array;
  /** Of a settlement that names its nonce as null, without that member. */
  readonly otherText?: Uint8Array | null;
  readonly fault?: unknown;
}
type Decode = (bytes: Uint8Array, start: number, end: number) => Outcome<Signed>;
const SIGNED: readonly (readonly [string, Decode])[] = [
  ['post_orders_create', decodeCreate],
  ['patch_orders_replace', decodeReplace],
  ['delete_orders_cancel', decodeCancel],
  ['post_account_transfer_sub_account', decodeTransfer],
  ['post_account_transfer_close_position', decodeClosePosition],
  ['post_withdrawal_init', decodeWithdrawal],
  ['post_withdrawal_cancel', decodeWithdrawalCancel],
  ['post_settlement_init', decodeSettlement],
  ['post_multisig_add_signer', decodeAddSigner],
];

suite('the page and the documents', () => {
  test('reads every operation and stream, with every reference resolved', () => {
    assert.equal(operations.length, routes.length);
    const read = readStreams(parseJsonText(asyncApi(infoOf('orders'), streams)));
    assert.deepEqual(
      read.map(({ path, receives }) => [path, receives.length]),
      streams.map(({ path, receives }) => [path, receives?.length ?? 0]),
    );
    const seen = JSON.stringify([operations, read], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    assert.ok(!seen.includes('$ref'));
  });

  for (const [id, decode] of SIGNED) {
    test(`${id}: the schema alone gives the bytes that the node verifies (SIG-03, SIG-04)`, () => {
      const { body, signs } = operation(id);
      const schema = must(body, 'a body').schema;
      const member = must(signs, 'a signed member');
      const shape = signedShape(schema, member);
      fc.assert(
        fc.property(fitting(schema), (value) => {
          const bytes = Buffer.from(writeJson(value));
          const decoded = decode(bytes, 0, bytes.length);
          assert.ok(decoded.ok && (decoded.value.fault ?? null) === null);
          const inner = isJsonObject(value) ? value.get(member) : undefined;
          const { text, otherText = null } = decoded.value;
          const texts = [text, ...(otherText === null ? [] : [otherText])].map((one) => Buffer.from(one).toString());
          assert.ok(texts.includes(canonicalText(shape, must(inner, member))));
        }),
        propertyParameters(200),
      );
    });
  }

  test('the order of a market maker: the schema alone gives the bytes that the node verifies (STL-01)', () => {
    const schema = must(operation('post_settlement_init').body, 'a body').schema;
    const shape = signedShape(signedShape(schema, 'maker_order'), 'inner');
    let count = 0;
    fc.assert(
      fc.property(fitting(schema), (value) => {
        const bytes = Buffer.from(writeJson(value));
        const decoded = decodeSettlement(bytes, 0, bytes.length);
        const order = isJsonObject(value) ? value.get('maker_order') : undefined;
        assert.ok(decoded.ok && (decoded.value.makerOrder === null) === !isJsonObject(order));
        if (!isJsonObject(order) || decoded.value.makerOrder === null) return;
        count += 1;
        const text = canonicalText(shape, must(order.get('inner'), 'inner'));
        assert.equal(Buffer.from(decoded.value.makerOrder.text).toString(), text);
      }),
      propertyParameters(200),
    );
    assert.ok(count > 20, `${count} orders of makers`);
  });

  test('an example, filled in and signed, is a request that verifies; a batch in every item (SIG-01, BAT-01)', () => {
    const key = devKey('a');
    const nowNs = 1_800_000_000_123_456_789n;
    const ids = ['made-1', 'made-2', 'made-3'];
    const newId = (): string => must(ids.shift(), 'an id');
    const fill = (id: string) => {
      const { example } = must(operation(id).body, id);
      const own = withUser(refreshed(example, nowNs), key.userId, '{user_id}');
      return signedBody(operation(id), withOrderIds(own, newId), key);
    };
    const one = fill('post_orders_create');
    const bytes = Buffer.from(one.body);
    const create = decodeCreate(bytes, 0, bytes.length);
    assert.ok(create.ok);
    const { text, signature, order, postSignNs } = create.value;
    assert.deepEqual([order.orderId, order.creationNs, postSignNs], ['made-1', nowNs, nowNs]);
    assert.equal(one.signed[0], Buffer.from(text).toString());
    assert.ok(verify(signature, text, Buffer.from(key.userId, 'hex')));
    const batch = Buffer.from(fill('post_orders_batch_create').body);
    const items = createItems(batch, 0, batch.length);
    assert.ok(items.ok);
    assert.deepEqual(
      items.value.map((item) => item.order.orderId),
      ['made-2', 'made-3'],
    );
    for (const item of items.value) assert.ok(verify(item.signature, item.text, Buffer.from(key.userId, 'hex')));
  });

  test('a body that does not fit is reported to its writer before it is signed', () => {
    const body = parseJsonText('{"cancel":{"order_id":"a b","asset_id":"1","signer":"x","protocol_version":1}}');
    assert.throws(() => signedBody(operation('delete_orders_cancel'), body, devKey('a')), /order_id: expected 1 to 64/);
    assert.throws(() => signedBody(operation('delete_orders_cancel'), parseJsonText('{}'), devKey('a')), /cancel/);
  });
});

suite('JSON without Buffers', () => {
  test('is read as the node reads it, and printed so that it reads the same', () => {
    const shape = must(operation('post_orders_batch_create').body, 'a body').schema;
    fc.assert(
      fc.property(fc.oneof(fitting(shape).map(writeJson), fc.json({ maxDepth: 6 })), (text) => {
        const tree = parseJson(Buffer.from(text), { fractions: 'text' });
        // The node refuses more: long numbers, lone surrogates, deep nesting. What it takes is the same here.
        if (!tree.ok) return;
        const here = parseJsonText(text);
        assert.equal(writeJson(here), writeJson(tree.value));
        assert.equal(writeJson(parseJsonText(prettyJson(here))), writeJson(here));
      }),
      propertyParameters(300),
    );
  });

  test('texts that are no JSON are refused with the place', () => {
    for (const text of [
      '',
      '{',
      '[1,]',
      '{"a":1,"a":2}',
      '01',
      '-0',
      '1 2',
      '"\n"',
      "{'a':1}",
      'nul',
      '[1 2]',
      '"\\x"',
    ]) {
      assert.throws(() => parseJsonText(text), JsonTextError, text);
    }
    assert.throws(() => parseJsonText('['.repeat(100)), JsonTextError);
  });
});

suite('the scripts of the page', () => {
  test('hold to their types', () => {
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'page'], { stdio: 'pipe' });
  });
});
