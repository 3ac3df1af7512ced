// tier: quick

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { decodeAuth } from '../../src/codec/account-requests.ts';
import {
  type CreateRequest,
  decodeCancel,
  decodeCreate,
  decodeReplace,
  type ReplaceRequest,
} from '../../src/codec/order-actions.ts';
import { isUnsigned } from '../../src/codec/signatures.ts';
import { signedString } from '../../src/codec/signed-text.ts';
import { TIF } from '../../src/core/order-terms.ts';
import type { Reject } from '../../src/core/reject.ts';
import { USER_42, utf8, vectorNamed, wrap } from '../support/wire-vectors.ts';

const ORDER = vectorNamed('V-1').text;
const REPLACE = vectorNamed('V-2').text;

function createOf(body: string): CreateRequest {
  const bytes = utf8(body);
  const outcome = decodeCreate(bytes, 0, bytes.length);
  assert.ok(outcome.ok, outcome.ok ? '' : `${outcome.reject.message} (${outcome.reject.field})`);
  return outcome.value;
}

function createWith(from: string | RegExp, to: string): CreateRequest {
  assert.notEqual(ORDER.replace(from, to), ORDER);
  return createOf(wrap('create', USER_42, ORDER.replace(from, to)));
}

function refusalOf(body: string): Reject {
  const bytes = utf8(body);
  const outcome = decodeCreate(bytes, 0, bytes.length);
  assert.ok(!outcome.ok, body);
  assert.equal(outcome.reject.code, 'INVALID_REQUEST');
  return outcome.reject;
}

function refusalWith(from: string | RegExp, to: string): string | undefined {
  assert.notEqual(ORDER.replace(from, to), ORDER, String(from));
  return refusalOf(wrap('create', USER_42, ORDER.replace(from, to))).field;
}

function textOf(request: { readonly text: Uint8Array }): string {
  return new TextDecoder().decode(request.text);
}

suite('a signed create', () => {
  test('decodes into typed values (ORD-01 to ORD-13)', () => {
    const { order, postSignNs, signature, additionalSigners, fault } = createOf(wrap('create', USER_42, ORDER));
    assert.equal(fault, null);
    assert.deepEqual(order, {
      signer: { id: vectorNamed('V-1').user, text: vectorNamed('V-1').user },
      orderId: 'mm-000001',
      baseAsset: { id: '1', text: '1' },
      bookPriceDecimals: 2,
      bookQuantityDecimals: 4,
      details: { kind: 'limit', limitPrice: 200000, quantity: 15000, tif: TIF.gtc, postOnly: true, goodUntilNs: null },
      side: 0,
      trigger: null,
      creationNs: 1760000000123456789n,
      account: 1,
      isSpot: false,
      reduceOnly: false,
      maxTradingFeesRate: 1000,
      protocolVersion: 1,
    });
    assert.equal(postSignNs, 1770000000000400000n);
    assert.deepEqual([signature.length, signature[1], additionalSigners.length], [64, 37, 0]);
  });

  test('every member of the order is required but the trigger, and names itself when missing (ORD-06, SIG-08)', () => {
    const members = ['signer', 'order_id', 'base_asset', 'book_price_decimals', 'book_quantity_decimals', 'side'];
    for (const name of [...members, 'creation_timestamp_ns', 'reduce_only', 'max_trading_fees_rate']) {
      assert.equal(refusalWith(new RegExp(`"${name}":(?:"[^"]*"|[^,{}]*),`), ''), name);
    }
    assert.equal(refusalWith(',"protocol_version":1', ''), 'protocol_version');
    assert.equal(refusalWith(/"target":\{[^}]*\},/, ''), 'target');
    assert.equal(refusalWith(/"details":\{.*?\}\}\}\},/, ''), 'details');
    assert.equal(refusalWith('"limit_price":200000,', ''), 'limit_price');
  });

  test('wrong types are refused with the name of the field (ORD-03, ORD-06, ORD-07, ORD-11, ORD-12, ORD-13)', () => {
    assert.equal(refusalWith('"base_asset":"1"', '"base_asset":1'), 'base_asset');
    assert.equal(refusalWith('200000', '"200000"'), 'limit_price');
    assert.equal(refusalWith('200000', '2000.5'), 'limit_price');
    assert.equal(refusalWith('200000', '2e5'), 'limit_price');
    assert.equal(refusalWith('200000', '-200000'), 'limit_price');
    assert.equal(refusalWith('200000', '0200000'), 'limit_price');
    assert.equal(refusalWith('"Buy"', '"buy"'), 'side');
    assert.equal(refusalWith('"reduce_only":false', '"reduce_only":0'), 'reduce_only');
    assert.equal(refusalWith('1000,', '"1000",'), 'max_trading_fees_rate');
    assert.equal(refusalWith('"protocol_version":1', '"protocol_version":"1"'), 'protocol_version');
    assert.equal(refusalWith('1760000000123456789', '18446744073709551616'), 'creation_timestamp_ns');
    assert.equal(refusalWith('"book_price_decimals":2', '"book_price_decimals":128'), 'book_price_decimals');
    assert.equal(refusalWith('"account":1', '"account":-1'), 'account');
  });

  test('u64 timestamps are read to their last value (AMB-01)', () => {
    const values = [
      '0',
      '999999999',
      '1577836800000000000',
      '9223372036854775809',
      '18446744073709551615',
      '10000000000000000000',
    ];
    for (const digits of values) {
      const request = createWith('1760000000123456789', digits);
      assert.equal(request.order.creationNs, BigInt(digits));
      assert.ok(textOf(request).includes(`"creation_timestamp_ns":${digits},`));
    }
  });

  test('only the two decimals may be negative (AMB-01)', () => {
    const request = createWith('"book_price_decimals":2', '"book_price_decimals":-2');
    assert.equal(request.order.bookPriceDecimals, -2);
    assert.ok(textOf(request).includes('"book_price_decimals":-2,'));
  });

  test('IOC, FOK, GTD and the malformed times in force (AMB-04, TIF-01)', () => {
    const gtc = '{"GTC":{"post_only":true}}';
    const tifOf = (text: string): unknown => {
      const { order } = createWith(gtc, text);
      return order.details.kind === 'limit' ? order.details.tif : null;
    };
    assert.equal(tifOf('{"IOC":{"fill_or_kill":false}}'), TIF.ioc);
    assert.equal(tifOf('{"IOC":{"fill_or_kill":true}}'), TIF.fok);
    assert.equal(tifOf('{"GTD":{"timestamp_ns":5,"post_only":false}}'), TIF.gtd);
    const wrong = [
      '"GTC"',
      '{"FOK":{}}',
      '{"GTC":{}}',
      '{"GTC":{"post_only":true},"IOC":{"fill_or_kill":true}}',
      '{}',
      'null',
    ];
    for (const text of [...wrong, '{"GTD":{"post_only":false}}', '{"IOC":{}}', '{"GTC":{"post_only":1}}'])
      refusalWith(gtc, text);
  });

  test('market orders decode in both sizes, an absent cap signs as null (AMB-05, ORD-14 to ORD-16)', () => {
    const limit = /\{"Limit":.*?\}\}\}\}/;
    const base = createWith(limit, '{"Market":{"fill_or_kill":false,"quantity":{"BaseAsset":{"quantity":5}}}}');
    assert.deepEqual(base.order.details, {
      kind: 'market-base',
      quantity: 5,
      maxSellableAmount: null,
      fillOrKill: false,
    });
    assert.ok(textOf(base).includes('{"BaseAsset":{"quantity":5,"max_sellable_amount":null}},"fill_or_kill":false}'));
    const quote = createWith(
      limit,
      '{"Market":{"quantity":{"QuoteAsset":{"quantity":9000,"max_sellable_quantity":7}},"fill_or_kill":true}}',
    );
    assert.deepEqual(quote.order.details, {
      kind: 'market-quote',
      amount: 9000,
      maxSellableQuantity: 7,
      fillOrKill: true,
    });
    assert.ok(
      textOf(quote).includes('{"QuoteAsset":{"quantity":9000,"max_sellable_quantity":7}},"fill_or_kill":true}'),
    );
  });

  test('a trigger is null, or waits for a price above or below, and for nothing else (ORD-08, AMB-06)', () => {
    const waiting = (condition: string): string => `"trigger":{"parent_order_id":null,"condition":${condition}}`;
    for (const condition of ['{"PriceAbove":{"price":330000}}', '{"PriceBelow":{"price":290000}}'])
      assert.ok(textOf(createWith('"trigger":null', waiting(condition))).includes(waiting(condition)));
    assert.equal(createOf(wrap('create', USER_42, ORDER)).order.trigger, null);
    for (const condition of [
      '{"PriceAt":{"price":1}}',
      '{"PriceAbove":{"price":"1"}}',
      '{"PriceAbove":{}}',
      '{}',
      'null',
    ])
      assert.notEqual(refusalWith('"trigger":null', waiting(condition)), null, condition);
  });

  test('raw figures outside 1 to 2^53-1 are INVALID_ORDER with their field, and nothing is signed (AMB-01)', () => {
    for (const figure of ['0', '9007199254740992', '9007199254740993', '18446744073709551616', '9'.repeat(80)]) {
      const price = createWith('200000', figure);
      assert.deepEqual([price.fault?.code, price.fault?.field, price.text.length], ['INVALID_ORDER', 'limit_price', 0]);
      assert.equal(createWith('15000', figure).fault?.field, 'quantity');
    }
    assert.equal(refusalWith('200000', '9'.repeat(81)), 'limit_price');
    const largest = createWith('200000', '9007199254740991');
    assert.equal(largest.fault, null);
    assert.ok(textOf(largest).includes('"limit_price":9007199254740991'));
    assert.equal(
      createWith('"trigger":null', '"trigger":{"condition":{"PriceAbove":{"price":0}}}').fault?.field,
      'price',
    );
  });

  test('an order id outside its alphabet is a fault for later, not a broken shape, and is never signed (AMB-03, AMB-07)', () => {
    const ids = [
      '',
      'a b',
      'a\\u0020b',
      'ab\\r',
      'a\\nb',
      'é',
      'a\\"b',
      'x'.repeat(65),
      'sys-liq-1',
      'a\\tb',
      '\\u00a0',
    ];
    for (const id of ids) {
      const request = createWith('mm-000001', id);
      assert.deepEqual(
        [request.fault?.code, request.fault?.field, request.text.length],
        ['INVALID_ORDER', 'order_id', 0],
        id,
      );
    }
    assert.equal(createWith('mm-000001', 'x'.repeat(64)).fault, null);
    assert.equal(createWith('mm-000001', 'AZaz09+/=_-.:').fault, null);
    assert.equal(refusalWith('mm-000001', 'x'.repeat(2000)), 'order_id');
    const escaped = createWith('mm-000001', 'mm\\u002d000001');
    assert.equal(textOf(escaped), ORDER);
  });

  test('another protocol version is INVALID_ORDER (VER-04, ORD-13)', () => {
    for (const version of ['0', '2']) {
      const request = createWith('"protocol_version":1', `"protocol_version":${version}`);
      assert.deepEqual([request.fault?.code, request.fault?.field], ['INVALID_ORDER', 'protocol_version']);
    }
  });

  test('ids compare in normal form and sign in the spelling received (AMB-12, wire.md 2.1)', () => {
    const { user } = vectorNamed('V-1');
    const address = '5a'.repeat(20);
    const asset = `0x${address.toUpperCase()}@0X00000000000000A4B1`;
    const body = ORDER.replace(user, `0x${user.toUpperCase()}`).replace('"base_asset":"1"', `"base_asset":"${asset}"`);
    const request = createOf(wrap('create', user, body));
    assert.equal(request.order.signer.id, user);
    assert.equal(request.order.baseAsset.id, `${address}${'0'.repeat(24)}@00000000000000a4b1`);
    assert.equal(request.order.baseAsset.text, asset);
    assert.equal(textOf(request), body);
    assert.equal(refusalWith('"base_asset":"1"', '"base_asset":"01"'), 'base_asset');
    assert.equal(refusalWith('"base_asset":"1"', '"base_asset":"65536"'), 'base_asset');
    assert.equal(refusalWith(user, `${user} `), 'signer');
  });

  test('unknown members: refused inside the order, skipped but checked in the wrapper (AMB-02)', () => {
    assert.equal(refusalWith('"side"', '"memo":1,"side"'), 'memo');
    assert.equal(refusalWith('"post_only":true', '"post_only":true,"x":1'), 'x');
    const wrapped = wrap('create', USER_42, ORDER);
    assert.equal(textOf(createOf(wrapped.replace('{"order"', '{"memo":{"a":[1.5,"x",null]},"order"'))), ORDER);
    refusalOf(wrapped.replace('{"order"', '{"memo":{"a":1,"a":2},"order"'));
    refusalOf(wrapped.replace('{"order"', '{"memo":1,"m\\u0065mo":2,"order"'));
    refusalOf(wrapped.replace('{"order"', '{"memo":"\\ud800","order"'));
    refusalOf(`${wrapped.slice(0, -1)},"post_sign_timestamp":1}`);
  });

  test('a signature is 64 integers from 0 to 255, or none (ORD-18, SIG-07, AMB-136)', () => {
    const numbers = Array.from({ length: 64 }, () => 7);
    const withSignature = (signature: readonly (number | string)[]): string =>
      wrap('create', USER_42, ORDER, signature as readonly number[]);
    assert.equal(createOf(withSignature(numbers)).signature.length, 64);
    for (const wrong of [numbers.slice(1), [...numbers, 7], [256, ...numbers.slice(1)], ['"1"', ...numbers.slice(1)]]) {
      assert.equal(refusalOf(withSignature(wrong)).field, 'signature');
    }
    for (const element of ['-1', '1.0', '01', '1e1', 'null', '1000']) {
      assert.equal(refusalOf(withSignature([element, ...numbers.slice(1)])).field, 'signature');
    }
    assert.equal(refusalOf(withSignature(numbers).replace(/\[[0-9,]*\]/, '"07"')).field, 'signature');
    assert.ok(isUnsigned(createOf(withSignature([]))));
  });

  test('additional signers come out with scheme, key and signature (ORD-17, MSG-17, wire.md 4.4)', () => {
    const list = (count: number): string => `[${Array.from({ length: count }, () => 3).join(',')}]`;
    const withSigners = (text: string): string =>
      wrap('create', USER_42, ORDER, []).replace('"post_sign', `"additional_signers":${text},"post_sign`);
    const request = createOf(
      withSigners(
        `[{"signer":{"Ed25519":${list(32)}},"signature":${list(64)}},{"signature":${list(90)},"signer":{"WebAuthn":${list(33)}}}]`,
      ),
    );
    assert.deepEqual(
      request.additionalSigners.map((signer) => [signer.scheme, signer.key.length, signer.signature.length]),
      [
        ['Ed25519', 32, 64],
        ['WebAuthn', 33, 90],
      ],
    );
    assert.ok(!isUnsigned(request));
    assert.ok(isUnsigned(createOf(withSigners('null'))));
    const wrong = [`{"Secp256k1":${list(65)}}`, `{"P256":${list(32)}}`, `{"Rsa":${list(33)}}`, '{}', list(32)];
    for (const signer of wrong) refusalOf(withSigners(`[{"signer":${signer},"signature":${list(64)}}]`));
    const lengths = { Ed25519: [64], Secp256k1: [64, 65], P256: [64], WebAuthn: [63, 64, 65, 66] } as const;
    for (const [scheme, legal] of Object.entries(lengths)) {
      for (const count of [63, 64, 65, 66]) {
        const key = list(scheme === 'Ed25519' ? 32 : 33);
        const body = withSigners(`[{"signer":{"${scheme}":${key}},"signature":${list(count)}}]`);
        if ((legal as readonly number[]).includes(count)) {
          assert.deepEqual(createOf(body).additionalSigners[0]?.signature, new Uint8Array(count).fill(3));
        } else refusalOf(body);
      }
    }
    const many = Array.from({ length: 33 }, () => `{"signer":{"P256":${list(33)}},"signature":${list(64)}}`);
    refusalOf(withSigners(`[${many.join(',')}]`));
  });

  test('bytes before the start and behind the end are not looked at', () => {
    const body = utf8(`xx${wrap('create', USER_42, ORDER)}yy`);
    const outcome = decodeCreate(body, 2, body.length - 2);
    assert.ok(outcome.ok);
    const shifted = body.subarray(1);
    assert.ok(decodeCreate(shifted, 1, shifted.length - 2).ok);
  });

  test('a string that needs an escape or loses bytes to the stripping cannot get into a signed text (AMB-03)', () => {
    for (const text of ['a b', 'a\rb', 'a\nb', 'é', '"', '\\', '\t']) assert.throws(() => signedString(text));
  });
});

suite('a signed replace', () => {
  const decode = (text: string): ReturnType<typeof decodeReplace> => {
    const bytes = utf8(wrap('replace', USER_42, text));
    return decodeReplace(bytes, 0, bytes.length);
  };
  const replaceOf = (text: string): ReplaceRequest => {
    const outcome = decode(text);
    assert.ok(outcome.ok, outcome.ok ? '' : `${outcome.reject.message} (${outcome.reject.field})`);
    return outcome.value;
  };

  test('keeps the unsigned signer and asset beside the request (RPL-01, AMB-22)', () => {
    const { request, signer, asset, fault } = replaceOf(REPLACE);
    assert.deepEqual([signer.id, asset.text, fault], [USER_42, '12', null]);
    assert.deepEqual([request.newPriceLimit, request.newQuantity, request.newTrigger], [199900, 12000, null]);
  });

  test('V-2 signs as it stands: eight members, quantity decimals before price decimals (RPL-02)', () => {
    assert.equal(textOf(replaceOf(REPLACE)), REPLACE);
    const names = [...REPLACE.matchAll(/"([a-z_]+)":/g)].map(([, name]) => name);
    assert.equal(names.length, 8);
    assert.ok(names.indexOf('book_quantity_decimals') < names.indexOf('book_price_decimals'));
  });

  test('members left out sign as null (SIG-08)', () => {
    const text = textOf(replaceOf(REPLACE.replace('"new_price_limit":199900,', '').replace('"new_trigger":null,', '')));
    assert.equal(text, REPLACE.replace('199900', 'null'));
  });

  test('a new trigger is verified in the shape received, bare or wrapped (AMB-06, wire.md G3)', () => {
    const shapes = [
      '{"PriceAbove":{"price":1}}',
      '{"PriceBelow":{"price":9007199254740991}}',
      '{"parent_order_id":null,"condition":{"PriceAbove":{"price":7}}}',
      '{"parent_order_id":"p-1","condition":{"PriceBelow":{"price":7}}}',
    ];
    for (const shape of shapes) {
      const text = REPLACE.replace('"new_trigger":null', `"new_trigger":${shape}`);
      assert.equal(textOf(replaceOf(text)), text);
    }
    const wrong = [
      '{}',
      '{"PriceAbove":{"price":1},"PriceBelow":{"price":1}}',
      '{"parent_order_id":"p"}',
      '{"price":1}',
    ];
    const mixed = [
      '{"condition":{"PriceAbove":{"price":1}},"PriceAbove":{"price":1}}',
      '{"PriceAbove":{"price":1},"parent_order_id":null}',
    ];
    for (const shape of [...wrong, ...mixed]) {
      const outcome = decode(REPLACE.replace('"new_trigger":null', `"new_trigger":${shape}`));
      assert.ok(!outcome.ok, shape);
    }
  });

  test('figures and ids outside their rules are faults with their field (AMB-01, AMB-07)', () => {
    const faultOf = (from: string, to: string): string | undefined => replaceOf(REPLACE.replace(from, to)).fault?.field;
    assert.equal(faultOf('199900', '0'), 'new_price_limit');
    assert.equal(faultOf('12000', '9007199254740992'), 'new_quantity');
    assert.equal(faultOf('mm-000001', 'a b'), 'order_id');
    assert.equal(faultOf('"protocol_version":1', '"protocol_version":3'), 'protocol_version');
    assert.equal(faultOf('"new_trigger":null', '"new_trigger":{"PriceAbove":{"price":0}}'), 'price');
    assert.equal(
      faultOf('"new_trigger":null', '"new_trigger":{"parent_order_id":"a b","condition":{"PriceAbove":{"price":1}}}'),
      'parent_order_id',
    );
  });
});

suite('a signed cancel, a login', () => {
  test('a cancel needs its four members and nothing else (CAN-01)', () => {
    const text = vectorNamed('V-3').text;
    const decode = (cancel: string): ReturnType<typeof decodeCancel> => {
      const bytes = utf8(wrap('cancel', USER_42, cancel));
      return decodeCancel(bytes, 0, bytes.length);
    };
    const whole = decode(text);
    assert.ok(whole.ok && whole.value.cancel.asset.text === '1' && whole.value.fault === null);
    for (const name of ['order_id', 'asset_id', 'signer']) {
      const outcome = decode(text.replace(new RegExp(`"${name}":"[^"]*",`), ''));
      assert.ok(!outcome.ok && outcome.reject.field === name);
    }
    const extra = decode(text.replace('}', ',"reason":"x"}'));
    assert.ok(!extra.ok && extra.reject.field === 'reason');
    const fault = decode(text.replace('mm-000001', 'mm 1'));
    assert.ok(fault.ok && fault.value.fault?.field === 'order_id' && fault.value.text.length === 0);
  });

  test('an order of the node is unknown to a cancel and to a replace, and its id is never signed (AMB-07, AMB-57)', () => {
    const cancel = utf8(wrap('cancel', USER_42, vectorNamed('V-3').text.replace('mm-000001', 'sys-liq-1')));
    const request =
      '{"order_id":"sys-liq-1","timestamp_ns":1,"new_price_limit":1,"new_quantity":null,"new_trigger":null,' +
      '"book_quantity_decimals":4,"book_price_decimals":2,"protocol_version":1}';
    const replace = utf8(
      `{"request":${request},"signer":"${USER_42}","asset_id":"12","signature":${JSON.stringify(new Array(64).fill(1))},"post_sign_timestamp":1}`,
    );
    for (const decoded of [decodeCancel(cancel, 0, cancel.length), decodeReplace(replace, 0, replace.length)]) {
      assert.ok(decoded.ok && decoded.value.fault?.code === 'ORDER_NOT_FOUND' && decoded.value.text.length === 0);
    }
  });

  test('a login body needs user, nonce, and 64 integers or none (SES-07, AUT-04, AMB-136)', () => {
    const body = (signature: readonly number[], user: string = USER_42): Uint8Array =>
      utf8(JSON.stringify({ user_id: user, nonce: 'n', signature, extra: 1 }));
    const numbers = Array.from({ length: 64 }, () => 1);
    const decode = (bytes: Uint8Array): ReturnType<typeof decodeAuth> => decodeAuth(bytes, 0, bytes.length);
    assert.ok(decode(body(numbers)).ok);
    for (const wrong of [body(numbers.slice(1)), body(numbers, 'ff'), utf8('{}'), utf8('[]'), utf8('')]) {
      assert.ok(!decode(wrong).ok);
    }
  });
});
