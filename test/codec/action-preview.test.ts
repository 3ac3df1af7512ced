// tier: quick
/** The preview of a frame names what its decoded form names, and never throws. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { binaryRequest } from '../../src/client/binary-control.ts';
import { previewBody, previewFrame } from '../../src/codec/action-preview.ts';
import { decodeBinaryFrame, previewBinaryFrame } from '../../src/codec/binary-frame.ts';
import { decodeControlFrame } from '../../src/codec/control-frame.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { BATCH_ITEMS_MAX } from '../../src/core/limits.ts';
import { correlationOf, correlationsOf } from '../../src/http/oms-actions.ts';
import { ALICE } from '../support/names.ts';

import { propertyParameters } from '../support/property.ts';
import { cancelBody, createBody, replaceBody } from '../support/scripted-oms.ts';

const id = fc.stringMatching(/^[A-Za-z0-9+/=_.:-]{1,24}$/);
const lists = fc.array(id, { minLength: 1, maxLength: 8 }).map((ids) => [...new Set(ids)]);
const action = fc.oneof(
  id.map((one) => `{"CreateOrderRequest":${createBody(ALICE, one)}}`),
  id.map((one) => `{"CancelOrderRequest":${cancelBody(ALICE, one)}}`),
  id.map((one) => `{"ReplaceOrderRequest":${replaceBody(ALICE, one)}}`),
  lists.map((ids) => `{"BatchCreateRequest":{"orders":[${ids.map((one) => createBody(ALICE, one)).join(',')}]}}`),
  lists.map((ids) => `{"BatchReplaceRequest":[${ids.map((one) => replaceBody(ALICE, one)).join(',')}]}`),
);
/** The members of the envelope in any order, and white space. */
const frame = fc
  .tuple(action, fc.constantFrom('v0', 'v1'), fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), fc.boolean())
  .map(([data, version, order, isSpaced]) => {
    if (version === 'v0') return isSpaced ? data.replaceAll('":', '" : ') : data;
    const members = ['"type":"request"', '"channel":"control"', '"request_id":"r-7"', `"data":${data}`];
    return `{${order.map((index) => members[index]).join(isSpaced ? ' ,\n' : ',')}}`;
  });

function namedBy(bytes: Uint8Array): unknown {
  const decoded = decodeControlFrame(bytes, 0, bytes.length);
  assert.notEqual(decoded.kind, 'malformed', Buffer.from(bytes).toString());
  if (decoded.kind === 'malformed') return null;
  const { kind, version, requestId } = decoded;
  if (kind === 'batch-create')
    return { kind, version, requestId, orders: correlationsOf({ kind, requests: decoded.batch.items }) };
  if (kind === 'batch-replace')
    return { kind, version, requestId, orders: correlationsOf({ kind, requests: decoded.batch.items }) };
  if (kind === 'cancel-all' || kind === 'cancel-batch' || kind === 'cancel-all-after') return assert.fail(kind);
  return { kind, version, requestId, orders: [correlationOf(decoded)] };
}

suite('the preview of an action', () => {
  test('names the same orders as the decoded frame, with the same version and request id', () => {
    fc.assert(
      fc.property(frame, (text) => {
        const bytes = Buffer.from(text);
        assert.deepEqual(previewFrame(bytes), namedBy(bytes));
      }),
      propertyParameters(1_000),
    );
  });

  test('never throws, whatever bytes are changed', () => {
    const edit = fc.tuple(fc.nat(2_000), fc.nat(255));
    fc.assert(
      fc.property(frame, fc.array(edit, { maxLength: 4 }), fc.nat(2_000), (text, edits, end) => {
        const bytes = Buffer.from(text);
        for (const [at, value] of edits) if (at < bytes.length) bytes[at] = value;
        previewFrame(bytes);
        previewFrame(bytes.subarray(0, end));
      }),
      propertyParameters(2_000),
    );
  });

  test('names the orders of a binary frame as its decoded form does, and of an unsound one none', () => {
    for (const [name, body] of [
      ['Create', createBody(ALICE, 'o-1')],
      ['Replace', replaceBody(ALICE, 'o-2')],
      ['Cancel', cancelBody(ALICE, 'o-3')],
    ] as const) {
      const bytes = binaryRequest(9n, { action: name, assetId: '12' as AssetId, orderId: 'o', body });
      const decoded = decodeBinaryFrame(bytes, 0, bytes.length);
      if (decoded.kind !== 'create' && decoded.kind !== 'replace' && decoded.kind !== 'cancel')
        assert.fail(decoded.kind);
      const { kind, version, requestId } = decoded;
      assert.deepEqual(previewBinaryFrame(bytes), { kind, version, requestId, orders: [correlationOf(decoded)] });
      assert.equal(previewBinaryFrame(bytes.subarray(0, bytes.length - 8)), null);
    }
  });

  test('a text that is no action has none: it is read in full', () => {
    const long = new Array(BATCH_ITEMS_MAX + 1).fill(createBody(ALICE, 'x')).join(',');
    for (const text of [
      '',
      '{}',
      '[]',
      '{"type":"ping"}',
      '{"CreateOrderRequest":{}}',
      `{"BatchCreateRequest":{"orders":[${long}]}}`,
    ]) {
      assert.equal(previewFrame(Buffer.from(text)), null, text.slice(0, 40));
    }
  });

  test('of a single create nothing behind its asset is looked at', () => {
    const text = createBody(ALICE, 'cut');
    const cut = text.indexOf('"book_price_decimals"');
    assert.ok(cut > 0);
    const [order] = previewBody('create', Buffer.from(text.slice(0, cut))) ?? [];
    assert.equal(order?.orderId, 'cut');
  });
});
