// tier: quick, 4 s
/**
 * The shapes that the documents are made of equal what the hot readers accept: both take the same requests and refuse
 * the same ones. "Taken" means for a reader: no broken shape, and no figure or id outside its rule (AMB-91).
 */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { decodeAddSigner, decodeAuth, decodeSettlement, decodeTransfer } from '../../src/codec/account-requests.ts';
import { isJsonObject, parseJson } from '../../src/codec/json-tree.ts';
import { writeJson } from '../../src/codec/json-writer.ts';
import { decodeSignerKey } from '../../src/codec/multisig.ts';
import {
  decodeAmend,
  decodeCancel,
  decodeCreate,
  decodeQuoteSet,
  decodeReplace,
  type SignedRequest,
} from '../../src/codec/order-actions.ts';
import { orderRecord } from '../../src/codec/order-record.ts';
import { decodeShape } from '../../src/codec/shape-reader.ts';
import {
  ADD_SIGNER_REQUEST,
  AUTH_REQUEST,
  CLOSE_POSITION_REQUEST,
  RENAME_REQUEST,
  SETTLEMENT_REQUEST,
  SIGNER_SEARCH,
  SIMULATE_REQUEST,
  TRANSFER_REQUEST,
  WITHDRAWAL_CANCEL_REQUEST,
  WITHDRAWAL_REQUEST,
} from '../../src/codec/shapes/account-shapes.ts';
import { ORDER_RECORD, type OrderReply } from '../../src/codec/shapes/order-record-shapes.ts';
import {
  AMEND_REQUEST,
  BATCH_CREATE_REQUEST,
  CANCEL_REQUEST,
  CREATE_REQUEST,
  QUOTE_SET_REQUEST,
  REPLACE_REQUEST,
} from '../../src/codec/shapes/order-shapes.ts';
import { checkShape } from '../../src/codec/shapes/read-shape.ts';
import { isOptional, type Shape } from '../../src/codec/shapes/shape-kit.ts';
import { decodeCancelBatch } from '../../src/codec/unsigned-cancels.ts';
import { accepted, type Outcome } from '../../src/core/outcome.ts';
import { decodeClosePosition, decodeWithdrawal, decodeWithdrawalCancel } from '../support/account-decoders.ts';
import { createItems } from '../support/batch-bodies.ts';
import { propertyParameters } from '../support/property.ts';
import { damaged, fitting } from '../support/shape-arbitrary.ts';

type Decode = (bytes: Uint8Array, start: number, end: number) => Outcome<object>;

/** A batch is taken when all of its items are. */
function ofBatch(decode: (bytes: Uint8Array, start: number, end: number) => Outcome<readonly SignedRequest[]>): Decode {
  return (bytes, start, end) => {
    const batch = decode(bytes, start, end);
    const fault = batch.ok ? (batch.value.find((item) => item.fault !== null)?.fault ?? null) : null;
    return batch.ok ? accepted({ fault }) : batch;
  };
}

const HOT: readonly { readonly what: string; readonly shape: Shape; readonly decode: Decode }[] = [
  { what: 'a login (SES-06)', shape: AUTH_REQUEST, decode: decodeAuth },
  { what: 'a create (ORD-01)', shape: CREATE_REQUEST, decode: decodeCreate },
  { what: 'a replace (RPL-01)', shape: REPLACE_REQUEST, decode: decodeReplace },
  { what: 'an amend', shape: AMEND_REQUEST, decode: decodeAmend },
  { what: 'a quote set (QTE-01)', shape: QUOTE_SET_REQUEST, decode: decodeQuoteSet },
  { what: 'a cancel (CAN-01)', shape: CANCEL_REQUEST, decode: decodeCancel },
  { what: 'a transfer (TRF-01)', shape: TRANSFER_REQUEST, decode: decodeTransfer },
  { what: 'an add-signer (MSG-39, AMB-13)', shape: ADD_SIGNER_REQUEST, decode: decodeAddSigner },
  { what: 'a key (MSG-41)', shape: SIGNER_SEARCH, decode: (bytes) => decodeSignerKey(bytes) },
  { what: 'a batch of creates (BAT-01)', shape: BATCH_CREATE_REQUEST, decode: ofBatch(createItems) },
  { what: 'a withdrawal (WDR-01, MON-01)', shape: WITHDRAWAL_REQUEST, decode: decodeWithdrawal },
  { what: 'a withdrawal cancel (WDR-13, MON-01)', shape: WITHDRAWAL_CANCEL_REQUEST, decode: decodeWithdrawalCancel },
  { what: 'a settlement (STL-01, MON-01)', shape: SETTLEMENT_REQUEST, decode: decodeSettlement },
  { what: 'a close-position (POS-04)', shape: CLOSE_POSITION_REQUEST, decode: decodeClosePosition },
];

function isTaken(decode: Decode, text: string): boolean {
  const bytes = Buffer.from(text);
  const request = decode(bytes, 0, bytes.length);
  return request.ok && ((request.value as { fault?: unknown }).fault ?? null) === null;
}

function isOfShape(shape: Shape, text: string): boolean {
  const tree = parseJson(Buffer.from(text), { fractions: 'text' });
  return tree.ok && checkShape(shape, tree.value).ok;
}

suite('shapes and hot readers', () => {
  for (const { what, shape, decode } of HOT) {
    test(`${what}: whatever fits the shape is taken by the reader`, () => {
      fc.assert(
        fc.property(fitting(shape), (value) => {
          const text = writeJson(value);
          assert.ok(isOfShape(shape, text), text);
          assert.ok(isTaken(decode, text), text);
        }),
        propertyParameters(200),
      );
    });

    test(`${what}: a damaged one is taken by both or refused by both`, () => {
      let refused = 0;
      fc.assert(
        fc.property(fitting(shape).chain(damaged), (value) => {
          const text = writeJson(value);
          const verdict = isOfShape(shape, text);
          if (!verdict) refused += 1;
          assert.equal(isTaken(decode, text), verdict, text);
        }),
        propertyParameters(600),
      );
      assert.ok(refused > 100, `${refused} refused`);
    });
  }
});

function refusalOf(shape: Shape, text: string): string {
  const read = decodeShape(shape, Buffer.from(text));
  return read.ok ? 'taken' : `${read.reject.code} ${read.reject.field ?? '-'}: ${read.reject.message}`;
}

suite('printers and shapes', () => {
  test('an order record is printed with the members of its shape, in its order', () => {
    fc.assert(
      fc.property(fitting(ORDER_RECORD), (tree) => {
        assert.ok(isJsonObject(tree));
        const names = Object.keys(ORDER_RECORD['properties'] as object);
        const isThere = (name: string): boolean => tree.has(name) || !isOptional(ORDER_RECORD, name);
        const inOrder = new Map(names.filter(isThere).map((name) => [name, tree.get(name) ?? null]));
        assert.equal(orderRecord(Object.fromEntries(tree) as unknown as OrderReply), writeJson(inOrder));
      }),
      propertyParameters(100),
    );
  });
});

suite('cold requests are read by their shape', () => {
  test('a refusal names the member and what was expected there (ERR-02)', () => {
    const body = (size: string): string =>
      `{"sub_account":1,"trade":{"asset":"1","is_buy":true,"size":${size},"limit_price":"5"}}`;
    assert.equal(refusalOf(SIMULATE_REQUEST, body('"7"')), 'taken');
    assert.equal(refusalOf(SIMULATE_REQUEST, body('7')), 'INVALID_REQUEST size: expected a string');
    assert.equal(
      refusalOf(SIMULATE_REQUEST, body('"7.5"')),
      'INVALID_REQUEST size: expected base-10 integer as a string',
    );
    assert.equal(refusalOf(SIMULATE_REQUEST, '{"sub_account":1}'), 'INVALID_REQUEST trade: a missing member');
    assert.equal(refusalOf(RENAME_REQUEST, '[]'), 'INVALID_REQUEST -: expected an object');
    assert.equal(refusalOf(RENAME_REQUEST, '{"name":"a","name":"b"}'), 'INVALID_REQUEST name: a member is named once');
  });

  test('a member named like one of Object is no member (AMB-02)', () => {
    const read = decodeShape(RENAME_REQUEST, Buffer.from('{"name":"a","__proto__":{"x":1},"constructor":1}'));
    assert.ok(read.ok);
    assert.deepEqual({ ...read.value }, { name: 'a' });
  });

  test('a cancel-batch has 1 to 50 ids, with a market or bare; impossible ids are left out (CAN-09, AMB-24)', () => {
    const ids = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, index) => `o-${index}`));
    const decode = (text: string): unknown => {
      const batch = decodeCancelBatch(Buffer.from(text));
      return batch.ok ? [batch.value.orderIds.length, batch.value.assetId] : batch.reject.field;
    };
    assert.deepEqual(decode(ids(50)), [50, null]);
    assert.deepEqual(decode(`{"order_ids":${ids(2)},"asset_id":"7"}`), [2, '7']);
    assert.deepEqual(decode('["a","a","sys-1","b c"]'), [1, null]);
    assert.deepEqual(decode(`{"order_ids":${ids(51)}}`), 'order_ids');
    assert.deepEqual(decode('{"order_ids":[]}'), 'order_ids');
    assert.deepEqual(decode('{"order_ids":["a"],"asset_id":"x"}'), 'asset_id');
  });
});
