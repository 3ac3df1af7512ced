// tier: quick
/** Signed texts against the vectors of wire.md 13 and examples.md, and key files. */
import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  cancelText,
  type LimitOrder,
  type MarketOrder,
  orderText,
  replaceText,
  transferText,
} from '../../src/client/canonical.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { feeAllowed18 } from '../../src/client/fee-limit.ts';
import { devKey, keyFromSeed, loadKey, type SigningKey, saveSeed } from '../../src/client/keys.ts';
import {
  limitOrder,
  marketOrder,
  randomOrderId,
  signCancel,
  signCreate,
  signReplace,
} from '../../src/client/signed-actions.ts';
import { decodeCreate } from '../../src/codec/order-actions.ts';
import { toHex } from '../../src/core/hex.ts';
import { type AssetId, parseOrderId } from '../../src/core/ids.ts';
import { propertyParameters } from '../support/property.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { USER_9D, USER_42, vectorNamed } from '../support/wire-vectors.ts';

const WIRE = keyFromSeed(new Uint8Array(32).fill(0x42));
const RFC = keyFromSeed(Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex'));

const asset = (text: string): AssetId => text as AssetId;

const V1: LimitOrder = {
  signer: RFC.userId,
  orderId: 'mm-000001',
  assetId: asset('1'),
  priceDecimals: 2,
  quantityDecimals: 4,
  side: 'Buy',
  limitPrice: 200_000,
  quantity: 15_000,
  timeInForce: { kind: 'GTC', postOnly: true },
  creationTimestampNs: 1_760_000_000_123_456_789n,
  target: { account: 1, isSpot: false },
  reduceOnly: false,
  maxTradingFeesRate: 1_000,
};

/** The text and the signature of a named vector. */
function assertVector(name: string, key: SigningKey, text: string): void {
  const vector = vectorNamed(name);
  assert.equal(text, vector.text);
  assert.equal(text.length, vector.byteLength);
  assert.equal(toHex(key.sign(Buffer.from(text))), vector.signature);
}

const TRANSFER = {
  user: RFC.userId,
  sourceIndex: 0,
  targetIndex: 1,
  assetId: asset('0'),
  amount18: 10n ** 21n,
  targetAccountType: null,
  nonce: 7n,
} as const;

suite('vectors', () => {
  test('user ids are those of the vectors and of the dev seed', () => {
    assert.equal(WIRE.userId, USER_42);
    assert.equal(RFC.userId, USER_9D);
    assert.equal(devKey('a').userId, '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c');
    assert.equal(devKey('b').userId, '8139770ea87d175f56a35466c34c7ecccb8d8a91b4ee37a25df60f5b8fc9b394');
  });

  test('the login signature of wire.md 13 (SES-02)', () => {
    assert.equal(
      toHex(WIRE.sign(Buffer.from('q7Zr-41c0'))),
      '1bf500812448c3a427b8790a0f1faa3aee8878f880f2114b4472d56a8a50c33ed94c02b9f79fdfb3aa3a47111ce59c7d756d501e4e1a45ede7021caa01a2b509',
    );
  });

  test('create: V-1 and wire.md 13 (SIG-03, SIG-04)', () => {
    assertVector('V-1', RFC, orderText(V1));
    const demo: LimitOrder = {
      ...V1,
      signer: WIRE.userId,
      orderId: 'demo-order-1',
      assetId: asset('12'),
      side: 'Sell',
      limitPrice: 315_025,
      quantity: 25_000,
      creationTimestampNs: 1_770_000_000_000_000_001n,
      maxTradingFeesRate: 50_000,
    };
    assertVector('wire.md create', WIRE, orderText(demo));
  });

  test('replace: V-2 and wire.md 13 (SIG-04)', () => {
    const decimals = { priceDecimals: 2, quantityDecimals: 4 };
    const timestampNs = 1_760_000_001_123_456_789n;
    const v2 = { orderId: 'mm-000001', timestampNs, newLimitPrice: 199_900, newQuantity: 12_000, ...decimals };
    assertVector('V-2', RFC, replaceText(v2));
    const demo = { newLimitPrice: 315_100, newQuantity: null, timestampNs: 1_770_000_000_500_000_002n, ...decimals };
    assertVector('wire.md replace', WIRE, replaceText({ orderId: 'demo-order-1', ...demo }));
  });

  test('cancel: V-3 and wire.md 13 (SIG-04)', () => {
    assertVector('V-3', RFC, cancelText({ orderId: 'mm-000001', assetId: asset('1'), signer: RFC.userId }));
    const demo = cancelText({ orderId: 'demo-order-1', assetId: asset('12'), signer: WIRE.userId });
    assertVector('wire.md cancel', WIRE, demo);
  });

  test('transfer: V-4 to an existing account, V-5 to a new one, and wire.md 13 (C10)', () => {
    assertVector('V-4', RFC, transferText(TRANSFER));
    const toNew = transferText({ ...TRANSFER, targetIndex: 2, targetAccountType: 'CrossMargin', nonce: 8n });
    assertVector('V-5 bare name', RFC, toNew);
    const amount18 = 2_500_000_000_000_000_000n;
    const demo = { ...TRANSFER, user: WIRE.userId, targetIndex: 2, amount18, nonce: 1_770_000_000_123n };
    assertVector('wire.md transfer', WIRE, transferText(demo));
  });
});

suite('signed texts', () => {
  test('are the compact JSON of their values and hold no byte that is stripped (SIG-05, AMB-03)', () => {
    const tifs = [
      { kind: 'GTC' },
      { kind: 'GTD', postOnly: true, timestampNs: 2n ** 64n - 1n },
      { kind: 'IOC' },
      { kind: 'FOK' },
    ] as const;
    const order = fc.record({
      limitPrice: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      quantity: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      priceDecimals: fc.integer({ min: -128, max: 127 }),
      timeInForce: fc.constantFrom(...tifs),
      orderId: fc.constant(null).map(() => randomOrderId()),
    });
    fc.assert(
      fc.property(order, (changes) => {
        const text = orderText({ ...V1, ...changes });
        assert.doesNotMatch(text, /[ \r\n]/);
        const parsed = JSON.parse(text) as { order_id: string; details: { Limit: { limit_price: number } } };
        assert.equal(parsed.order_id, changes.orderId);
        assert.equal(parsed.details.Limit.limit_price, changes.limitPrice);
      }),
      propertyParameters(),
    );
  });

  test('IOC and FOK have the one shape of the wire (AMB-04)', () => {
    assert.match(
      orderText({ ...V1, timeInForce: { kind: 'IOC' } }),
      /"time_in_force":\{"IOC":\{"fill_or_kill":false\}\}/,
    );
    assert.match(
      orderText({ ...V1, timeInForce: { kind: 'FOK' } }),
      /"time_in_force":\{"IOC":\{"fill_or_kill":true\}\}/,
    );
  });

  test('values outside the contract are refused before they are signed (AMB-01, AMB-07)', () => {
    const wrong: readonly Partial<LimitOrder>[] = [
      { limitPrice: 0 },
      { limitPrice: 1.5 },
      { quantity: Number.MAX_SAFE_INTEGER + 1 },
      { orderId: 'a b' },
      { orderId: 'sys-1' },
      { orderId: 'x'.repeat(65) },
      { assetId: asset('007') },
      { creationTimestampNs: -1n },
      { creationTimestampNs: 2n ** 64n },
    ];
    for (const changes of wrong) {
      assert.throws(
        () => orderText({ ...V1, ...changes }),
        (error) => error instanceof RingbookError,
        String(Object.keys(changes)),
      );
    }
  });

  test('the wrapper holds the signed text unchanged, and unsigned members beside it (SIG-07)', () => {
    const create = signCreate(RFC, V1, 5n);
    assert.ok(create.body.startsWith(`{"order":${orderText(V1)},"signature":[61,36,220,`));
    assert.ok(create.body.endsWith('],"post_sign_timestamp":5}'));
    const cancel = signCancel(RFC, { orderId: 'mm-000001', assetId: asset('1') }, 6n);
    assert.deepEqual(Object.keys(JSON.parse(cancel.body) as object), ['cancel', 'signature', 'post_sign_timestamp']);
    const request = {
      orderId: 'x',
      timestampNs: 1n,
      newLimitPrice: null,
      newQuantity: 2,
      priceDecimals: 2,
      quantityDecimals: 4,
    };
    const replace = signReplace(RFC, { ...request, assetId: asset('1') }, 7n);
    assert.deepEqual(Object.keys(JSON.parse(replace.body) as object), [
      'request',
      'signer',
      'asset_id',
      'signature',
      'post_sign_timestamp',
    ]);
  });

  test('market orders and triggers are signed as the node writes them back (wire.md 4.3, AMB-05, AMB-06)', () => {
    const { limitPrice: _, quantity: __, timeInForce: ___, ...common } = V1;
    const sized = (unit: 'base' | 'quote', cap: number | null): MarketOrder => {
      return { ...common, size: { unit, quantity: 9_000, cap }, fillOrKill: cap !== null };
    };
    const orders = [
      sized('base', null),
      sized('base', 7),
      sized('quote', null),
      sized('quote', 7),
      { ...V1, trigger: { kind: 'PriceAbove', price: 330_000 } },
      { ...sized('base', null), trigger: { kind: 'PriceBelow', price: 290_000, parentOrderId: 'mm-1' } },
    ] as const;
    for (const order of orders) {
      const { body } = signCreate(RFC, order, 5n);
      const bytes = Buffer.from(body);
      const decoded = decodeCreate(bytes, 0, bytes.length);
      assert.ok(decoded.ok, body);
      assert.equal(decoded.value.fault, null);
      assert.equal(Buffer.from(decoded.value.text).toString(), orderText(order));
    }
    const replace = { orderId: 'o', timestampNs: 1n, newLimitPrice: null, newQuantity: null };
    const decimals = { priceDecimals: 2, quantityDecimals: 4 };
    const text = replaceText({ ...replace, ...decimals, newTrigger: { kind: 'PriceAbove', price: 5 } });
    assert.match(text, /"new_trigger":\{"PriceAbove":\{"price":5\}\},/);
  });

  test('an order is signed by its signer alone', () => {
    assert.throws(() => signCreate(WIRE, V1, 5n), /signed by its signer/);
  });
});

suite('order tickets', () => {
  const context = { signer: RFC.userId, decimals: { priceDecimals: 2, quantityDecimals: 4 }, nowNs: 9n };
  const ticket = { assetId: asset('2'), side: 'Buy', price: '3000.25', quantity: '0.5' } as const;

  test('human decimals become raw integers exactly (AMT, wire.md 2.2)', () => {
    const order = limitOrder(ticket, context);
    assert.equal(order.limitPrice, 300_025);
    assert.equal(order.quantity, 5_000);
    assert.deepEqual(order.target, { account: 1, isSpot: true });
    assert.equal(order.maxTradingFeesRate, 50_000, 'the usual one, where no rates are known');
    assert.notEqual(parseOrderId(order.orderId), null);
  });

  test("the limit of fees is the market's rate of a taker, twice that of what rests or waits, unless it is given (MON-15)", () => {
    const rates = { makerFeeRate: -100, takerFeeRate: 450 };
    const of = { ...context, rates };
    const limit = (change: object, by = of) => limitOrder({ ...ticket, ...change }, by).maxTradingFeesRate;
    assert.equal(limit({}), 900, 'good till cancelled');
    assert.equal(limit({ timeInForce: { kind: 'GTD', timestampNs: 99n } }), 900);
    assert.equal(limit({ timeInForce: { kind: 'IOC' } }), 450);
    assert.equal(limit({ timeInForce: { kind: 'FOK' } }), 450);
    assert.equal(limit({ timeInForce: { kind: 'IOC' }, trigger: { when: 'below', price: '2900' } }), 900);
    assert.equal(limit({ maxTradingFeesRate: 7 }), 7);
    assert.equal(limit({}, { ...of, rates: { makerFeeRate: 1_000, takerFeeRate: 450 } }), 1_000, 'a maker pays more');
    const market = { assetId: '2', side: 'Buy', quantity: '0.5' } as const;
    assert.equal(marketOrder(market, of).maxTradingFeesRate, 450);
    assert.equal(marketOrder({ ...market, trigger: { when: 'above', price: '3300' } }, of).maxTradingFeesRate, 900);
    assert.equal(feeAllowed18(600n * 10n ** 18n, 450), 27n * 10n ** 16n);
    assert.equal(feeAllowed18(1n, 1), 1n, 'rounded up');
  });

  test('a market order is sized in base or in USD, at the scale of quantities (ORD-14 to ORD-16, G16)', () => {
    const sizeOf = (size: Parameters<typeof marketOrder>[0]) => marketOrder(size, context).size;
    const common = { assetId: '2', side: 'Buy' } as const;
    assert.deepEqual(sizeOf({ ...common, quantity: '0.5', maxAmount: '1500.5' }), {
      unit: 'base',
      quantity: 5_000,
      cap: 15_005_000,
    });
    assert.deepEqual(sizeOf({ ...common, side: 'Sell', amount: '100' }), {
      unit: 'quote',
      quantity: 1_000_000,
      cap: null,
    });
    const child = { when: 'above', price: '3300', parentOrderId: 'p' } as const;
    assert.deepEqual(limitOrder({ ...ticket, trigger: child }, context).trigger, {
      kind: 'PriceAbove',
      price: 330_000,
      parentOrderId: 'p',
    });
  });

  test('what is finer than a raw unit, zero, negative or not a decimal is refused, never rounded', () => {
    for (const price of ['3000.251', '0', '-1', '1e3', '', '.5', '90071992547409.93']) {
      assert.throws(() => limitOrder({ ...ticket, price }, context), RingbookError, price);
    }
    assert.equal(limitOrder({ ...ticket, price: '90071992547409.91' }, context).limitPrice, Number.MAX_SAFE_INTEGER);
  });
});

suite('keys', () => {
  test('node:crypto and noble sign alike', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.uint8Array({ maxLength: 64 }),
        (seed, message) => {
          const platform = keyFromSeed(seed);
          const fallback = keyFromSeed(seed, 'noble');
          assert.equal(fallback.userId, platform.userId);
          assert.equal(toHex(fallback.sign(message)), toHex(platform.sign(message)));
        },
      ),
      propertyParameters(10),
    );
  });

  test('a key file is for its owner alone and is never overwritten', () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'user.key');
    try {
      saveSeed(path, new Uint8Array(32).fill(0x42));
      assert.equal(statSync(path).mode & 0o777, 0o600);
      assert.equal(loadKey(path).userId, WIRE.userId);
      assert.throws(() => saveSeed(path, new Uint8Array(32)), /EEXIST/);
      const open = join(directory, 'open.key');
      writeFileSync(open, `${'42'.repeat(32)}\n`, { mode: 0o644 });
      assert.throws(() => loadKey(open), /chmod 600/);
      const broken = join(directory, 'broken.key');
      writeFileSync(broken, 'not a key\n', { mode: 0o600 });
      assert.throws(() => loadKey(broken), /64 hex digits/);
    } finally {
      removeDirectory(directory);
    }
  });
});
