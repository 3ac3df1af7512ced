// tier: quick
/** The bounds of bodies and frames let every legal request through, and an unrequested part costs no memory. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { decodeCreate } from '../../src/codec/order-actions.ts';
import { decodeBatchCreate } from '../../src/codec/order-batches.ts';
import { decodeAssetList, decodeMarketAsset } from '../../src/codec/registry-requests.ts';
import { DECIMALS_REQUEST } from '../../src/codec/shapes/registry-shapes.ts';
import { ADDITIONAL_SIGNERS_MAX, ASSERTION_BYTES_MAX, CO_SIGNERS_BYTES_MAX } from '../../src/codec/signatures.ts';
import { decodeSimulateRequest, PENDING_TRANSFERS_MAX } from '../../src/codec/simulate-request.ts';
import { decodeCancelBatch } from '../../src/codec/unsigned-cancels.ts';
import {
  ACTION_BYTES_MAX,
  ASSETS_BODY_BYTES_MAX,
  BATCH_ITEMS_MAX,
  BODY_BYTES_MAX,
  COLD_VALUES_MAX,
  DECIMALS_ASKED_MAX,
  SMALL_BODY_BYTES_MAX,
} from '../../src/core/limits.ts';
import { accepted, type Outcome, rejected } from '../../src/core/outcome.ts';
import { type Reject, reject } from '../../src/core/reject.ts';
import { ACTION_ROUTES } from '../../src/http/action-routes.ts';
import { utf8 } from '../support/wire-vectors.ts';

const bytes = (count: number): string => `[${new Array(count).fill('255').join(',')}]`;
const ID = 'z'.repeat(64);
const TOKEN = `0x${'f'.repeat(64)}@0x${'f'.repeat(18)}`;
const U64 = '18446744073709551615';
const RAW = '9007199254740991';
const ORDER =
  `{"signer":"0x${'f'.repeat(64)}","order_id":"${ID}","base_asset":"${TOKEN}","book_price_decimals":18,` +
  `"book_quantity_decimals":18,"details":{"Limit":{"limit_price":${RAW},"quantity":${RAW},"time_in_force":` +
  `{"GTD":{"post_only":false,"timestamp_ns":${U64}}}}},"side":"Sell",` +
  `"trigger":{"parent_order_id":"${ID}","condition":{"PriceAbove":{"price":${RAW}}}},` +
  `"creation_timestamp_ns":${U64},"target":{"account":255,"is_spot":false},"reduce_only":false,` +
  '"max_trading_fees_rate":1000000,"protocol_version":1}';

function create(scheme: string, keyBytes: number, signatureBytes: number, signers = ADDITIONAL_SIGNERS_MAX): string {
  const signer = `{"signer":{"${scheme}":${bytes(keyBytes)}},"signature":${bytes(signatureBytes)}}`;
  const additional = new Array(signers).fill(signer).join(',');
  return `{"order":${ORDER},"signature":${bytes(64)},"additional_signers":[${additional}],"post_sign_timestamp":${U64}}`;
}

/** Over an order of 480 bytes: client data of 760 bytes, in base64url. */
const ORDINARY_ASSERTION_BYTES = 1_250;

test('an assertion over the longest order fits (MSG-19)', () => {
  const challenge = Buffer.from(ORDER).toString('base64url');
  const clientData = JSON.stringify({
    type: 'webauthn.get',
    challenge,
    origin: `https://${'o'.repeat(253)}`,
    crossOrigin: false,
  });
  const assertion = JSON.stringify({
    authenticatorData: Buffer.alloc(200).toString('base64url'),
    clientDataJSON: Buffer.from(clientData).toString('base64url'),
    signature: Buffer.alloc(72).toString('base64url'),
  });
  assert.ok(assertion.length > 2_000 && assertion.length <= ASSERTION_BYTES_MAX, `${assertion.length}`);
});

const reasonOf = (read: Outcome<unknown>): Reject | null => (read.ok ? null : read.reject);

suite('the longest legal requests', () => {
  test('an action with sixteen WebAuthn co-signers fits, a seventeenth signer is refused (AMB-124)', () => {
    const each = CO_SIGNERS_BYTES_MAX / ADDITIONAL_SIGNERS_MAX - 36;
    assert.ok(each >= ORDINARY_ASSERTION_BYTES, 'sixteen assertions over an ordinary order fit');
    const body = utf8(create('WebAuthn', 33, each));
    assert.ok(body.length < 103_000 && body.length < ACTION_BYTES_MAX, `${body.length}`);
    assert.deepEqual(reasonOf(decodeCreate(body, 0, body.length)), null);
    const tooLong = utf8(create('WebAuthn', 33, each + 1));
    const refusedBytes = decodeCreate(tooLong, 0, tooLong.length);
    assert.ok(!refusedBytes.ok && refusedBytes.reject.code === 'INVALID_REQUEST');
    assert.match(refusedBytes.reject.message, /at most 24576 bytes of keys and signatures/);
    const seventeen = utf8(create('P256', 33, 64, ADDITIONAL_SIGNERS_MAX + 1));
    assert.equal(ADDITIONAL_SIGNERS_MAX, 16);
    const refused = decodeCreate(seventeen, 0, seventeen.length);
    assert.ok(!refused.ok && refused.reject.message.includes('at most 16'));
  });

  test('a batch of fifty creates with sixteen plain keys each fits; ten with sixteen of WebAuthn (BAT-01, AMB-124)', () => {
    const routes = ACTION_ROUTES.filter(({ path }) => /batch-(create|replace)$/.test(path));
    assert.deepEqual(
      routes.map(({ bodyBytesMax }) => bodyBytesMax),
      [BODY_BYTES_MAX, BODY_BYTES_MAX],
      'no valid batch of a mebibyte is refused for its size',
    );
    for (const [count, item] of [
      [BATCH_ITEMS_MAX, create('Secp256k1', 33, 64)],
      [BATCH_ITEMS_MAX, create('WebAuthn', 33, ORDINARY_ASSERTION_BYTES, 1)],
      [10, create('WebAuthn', 33, ORDINARY_ASSERTION_BYTES)],
    ] as const) {
      const body = utf8(`{"orders":[${new Array(count).fill(item).join(',')}]}`);
      assert.ok(body.length < BODY_BYTES_MAX, `${body.length}`);
      const read = decodeBatchCreate(body, 0, body.length);
      assert.deepEqual(reasonOf(read), null);
      assert.ok(read.ok && read.value.items.length === count);
    }
  });

  test('a thousand assets, fifty ids, a hundred transfers fit their routes', () => {
    const list = (count: number, item: string): string => new Array(count).fill(item).join(',');
    const assets = utf8(`{"assets":[${list(DECIMALS_ASKED_MAX, `"${TOKEN}"`)}]}`);
    assert.ok(assets.length < ASSETS_BODY_BYTES_MAX && decodeAssetList(assets, DECIMALS_REQUEST).ok);
    const ids = utf8(`{"order_ids":[${list(BATCH_ITEMS_MAX, `"${ID}"`)}],"asset_id":"${TOKEN}"}`);
    assert.ok(ids.length < SMALL_BODY_BYTES_MAX && decodeCancelBatch(ids).ok);
    const transfer = `{"asset":"${TOKEN}","amount":"-${(1n << 127n) - 1n}"}`;
    const simulation = utf8(
      `{"sub_account":255,"trade":{"asset":"${TOKEN}","is_buy":false,"size":"1"},` +
        `"pending_transfers":[${list(PENDING_TRANSFERS_MAX, transfer)}]}`,
    );
    const read = decodeSimulateRequest(simulation);
    assert.ok(simulation.length < 2 * SMALL_BODY_BYTES_MAX, `${simulation.length}`);
    assert.deepEqual(read.ok, true);
  });
});

suite('unknown members', () => {
  const many = (count: number): string => new Array(count).fill('1').join(',');

  test('members that no shape names are read over, not built: they count as no values (AMB-02)', () => {
    const text = `{"asset_id":"1","x":[${many(2 * COLD_VALUES_MAX)}]}`;
    assert.deepEqual(decodeMarketAsset(utf8(text)), accepted('1'));
    for (const broken of ['[01]', '[1.]', '[-]', '[1e]', '[1x]', '[1', '["\\u"]', '{"a":1,"a":2}', 'nul']) {
      assert.equal(decodeMarketAsset(utf8(`{"asset_id":"1","x":${broken}}`)).ok, false, broken);
    }
    for (const legal of ['[0,10,-1,-0,1.5,1e9,1E-2,123456789012345678901234567890]', '"\\u0041"', '{"a":{"b":[]}}']) {
      assert.equal(decodeMarketAsset(utf8(`{"x":${legal},"asset_id":"1"}`)).ok, true, legal);
    }
  });

  test('a list with more items than any request has is refused at the first that is too many', () => {
    const ids = new Array(COLD_VALUES_MAX).fill('"o-1"').join(',');
    const batch = decodeCancelBatch(utf8(`{"order_ids":[${ids},`));
    assert.deepEqual(batch, rejected(reject('INVALID_REQUEST', 'expected at most 50 items', 'order_ids')));
    // The shape of a simulation bounds no list: its own rule names a smaller number.
    const transfer = '{"asset":"1","amount":"1"}';
    const transfers = new Array(COLD_VALUES_MAX + 1).fill(transfer).join(',');
    const simulation = decodeSimulateRequest(utf8(`{"pending_transfers":[${transfers},`));
    assert.deepEqual(simulation, rejected(reject('INVALID_REQUEST', 'too many values', 'pending_transfers')));
  });
});
