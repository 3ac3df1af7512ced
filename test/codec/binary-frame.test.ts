// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { binaryBatch, binaryRequest } from '../../src/client/binary-control.ts';
import type { OrderAction, SignedAction } from '../../src/client/signed-actions.ts';
import { decodeBinaryFrame } from '../../src/codec/binary-frame.ts';
import { type BinaryFrame, decodeControlFrame, type JsonFrame } from '../../src/codec/control-frame.ts';
import {
  Amend,
  BatchCreate,
  BatchReplace,
  Cancel,
  Condition,
  CoSigner,
  Create,
  Limit,
  MarketBase,
  MarketQuote,
  Replace,
  Scheme,
  Side,
  TimeInForce,
  Trigger,
  TriggerForm,
} from '../../src/codec/generated/control-tables.ts';
import { SCHEMES } from '../../src/codec/signatures.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { ACTION_BYTES_MAX, BATCH_ITEMS_MAX } from '../../src/core/limits.ts';
import { flatFrame, type PlainTable, plain } from '../support/flat-frames.ts';
import { propertyParameters } from '../support/property.ts';
import { USER_42, utf8, VECTORS, vectorNamed, wrap } from '../support/wire-vectors.ts';

const TAG: Readonly<Record<OrderAction, string>> = {
  Create: 'CreateOrderRequest',
  Replace: 'ReplaceOrderRequest',
  Amend: 'AmendOrderRequest',
  Cancel: 'CancelOrderRequest',
};

function decode(bytes: Uint8Array): BinaryFrame {
  return decodeBinaryFrame(bytes, 0, bytes.length);
}

function decodeJson(text: string): JsonFrame {
  const bytes = utf8(text);
  return decodeControlFrame(bytes, 0, bytes.length);
}

/** A frame without the form and the id of its request: what must not depend on them. */
function content(frame: BinaryFrame | JsonFrame): unknown {
  const { version: _version, requestId: _requestId, ...rest } = frame;
  return JSON.parse(
    JSON.stringify(rest, (_name, value: unknown) =>
      typeof value === 'bigint' ? `${value}n` : value instanceof Uint8Array ? [...value] : value,
    ),
  );
}

/** The same without the wording of a fault, which names what each form expects. */
function faultOf(frame: BinaryFrame | JsonFrame): unknown {
  assert.equal(frame.kind, 'malformed');
  if (frame.kind !== 'malformed') return null;
  const { reject, correlations, isAllFound } = frame;
  return { code: reject.code, field: reject.field, correlations, isAllFound };
}

function actionOf(action: OrderAction, body: string): SignedAction {
  return { action, assetId: '12' as AssetId, orderId: 'x', body };
}

// ---- requests in both forms, from one description

interface OrderWords {
  readonly signer: string;
  readonly orderId: string;
  readonly baseAsset: string;
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
  readonly details: DetailWords;
  readonly side: 'Buy' | 'Sell';
  readonly trigger: TriggerWords | null;
  readonly creationNs: bigint;
  readonly account: number;
  readonly isSpot: boolean;
  readonly reduceOnly: boolean;
  readonly feeRate: number;
  readonly version: number;
  readonly signature: Uint8Array;
  readonly coSigners: readonly CoSignerWords[];
  readonly postSignNs: bigint;
}

type DetailWords =
  | {
      readonly kind: 'limit';
      price: bigint;
      quantity: bigint;
      tif: 'GTC' | 'GTD' | 'IOC' | 'FOK';
      postOnly: boolean;
      untilNs: bigint;
    }
  | { readonly kind: 'base' | 'quote'; quantity: bigint; cap: bigint; fillOrKill: boolean };

interface TriggerWords {
  readonly parent: string | null;
  readonly direction: 'PriceAbove' | 'PriceBelow';
  readonly price: bigint;
}

interface CoSignerWords {
  readonly scheme: (typeof SCHEMES)[number];
  readonly key: Uint8Array;
  readonly signature: Uint8Array;
}

interface ReplaceWords {
  readonly orderId: string;
  readonly timestampNs: bigint;
  readonly price: bigint;
  readonly quantity: bigint;
  readonly trigger: TriggerWords | null;
  readonly isWrapped: boolean;
  readonly isComplete: boolean;
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
  readonly version: number;
  readonly signer: string;
  readonly asset: string;
  readonly signature: Uint8Array;
  readonly coSigners: readonly CoSignerWords[];
  readonly postSignNs: bigint;
}

const orNull = (raw: bigint): string => (raw === 0n ? 'null' : String(raw));
const text = (value: string): string => JSON.stringify(value);

function detailsJson(details: DetailWords): string {
  if (details.kind !== 'limit') {
    const [unit, cap] =
      details.kind === 'base' ? ['BaseAsset', 'max_sellable_amount'] : ['QuoteAsset', 'max_sellable_quantity'];
    const size = `{"${unit}":{"quantity":${details.quantity},"${cap}":${orNull(details.cap)}}}`;
    return `{"Market":{"quantity":${size},"fill_or_kill":${details.fillOrKill}}}`;
  }
  const { price, quantity, tif, postOnly, untilNs } = details;
  const time =
    tif === 'GTC'
      ? `{"GTC":{"post_only":${postOnly}}}`
      : tif === 'GTD'
        ? `{"GTD":{"post_only":${postOnly},"timestamp_ns":${untilNs}}}`
        : `{"IOC":{"fill_or_kill":${tif === 'FOK'}}}`;
  return `{"Limit":{"limit_price":${price},"quantity":${quantity},"time_in_force":${time}}}`;
}

function conditionJson({ direction, price }: TriggerWords): string {
  return `{"${direction}":{"price":${price}}}`;
}

function triggerJson(trigger: TriggerWords): string {
  const parent = trigger.parent === null ? 'null' : text(trigger.parent);
  return `{"parent_order_id":${parent},"condition":${conditionJson(trigger)}}`;
}

function signingJson({
  signature,
  coSigners,
  postSignNs,
}: Pick<OrderWords, 'signature' | 'coSigners' | 'postSignNs'>): string {
  const others = coSigners.map(
    ({ scheme, key, signature: own }) => `{"signer":{"${scheme}":[${key.join()}]},"signature":[${own.join()}]}`,
  );
  return `"signature":[${signature.join()}],"additional_signers":[${others.join()}],"post_sign_timestamp":${postSignNs}`;
}

function orderJson(words: OrderWords): string {
  return (
    `{"order":{"signer":"${words.signer}","order_id":${text(words.orderId)},"base_asset":${text(words.baseAsset)},` +
    `"book_price_decimals":${words.priceDecimals},"book_quantity_decimals":${words.quantityDecimals},` +
    `"details":${detailsJson(words.details)},"side":"${words.side}",` +
    `"trigger":${words.trigger === null ? 'null' : triggerJson(words.trigger)},` +
    `"creation_timestamp_ns":${words.creationNs},"target":{"account":${words.account},"is_spot":${words.isSpot}},` +
    `"reduce_only":${words.reduceOnly},"max_trading_fees_rate":${words.feeRate},"protocol_version":${words.version}},` +
    `${signingJson(words)}}`
  );
}

function replaceJson(words: ReplaceWords): string {
  const trigger =
    words.trigger === null ? 'null' : words.isWrapped ? triggerJson(words.trigger) : conditionJson(words.trigger);
  const [inside, beside] = words.isComplete
    ? [`"base_asset":${text(words.asset)},`, '']
    : ['', `"asset_id":${text(words.asset)},`];
  return (
    `{"request":{"order_id":${text(words.orderId)},${inside}"timestamp_ns":${words.timestampNs},` +
    `"new_price_limit":${orNull(words.price)},"new_quantity":${orNull(words.quantity)},"new_trigger":${trigger},` +
    `"book_quantity_decimals":${words.quantityDecimals},"book_price_decimals":${words.priceDecimals},` +
    `"protocol_version":${words.version}},"signer":"${words.signer}",${beside}${signingJson(words)}}`
  );
}

function triggerTable(trigger: TriggerWords): PlainTable {
  const { parent, direction, price } = trigger;
  return plain(Trigger, { parentOrderId: parent ?? undefined, condition: Condition[direction], price });
}

function detailsTable(details: DetailWords): PlainTable {
  if (details.kind === 'limit') {
    const { price, quantity, tif, postOnly, untilNs } = details;
    const isTimed = tif === 'GTC' || tif === 'GTD';
    return plain(Limit, {
      limitPrice: price,
      quantity,
      timeInForce: TimeInForce[tif],
      postOnly: isTimed && postOnly,
      timestampNs: tif === 'GTD' ? untilNs : 0n,
    });
  }
  const { quantity, cap, fillOrKill } = details;
  return details.kind === 'base'
    ? plain(MarketBase, { quantity, maxSellableAmount: cap, fillOrKill })
    : plain(MarketQuote, { quantity, maxSellableQuantity: cap, fillOrKill });
}

function coSignerTables(coSigners: readonly CoSignerWords[]): readonly PlainTable[] | undefined {
  if (coSigners.length === 0) return undefined;
  return coSigners.map(({ scheme, key, signature }) => plain(CoSigner, { scheme: Scheme[scheme], key, signature }));
}

function orderTable(words: OrderWords, changed: Parameters<typeof plain>[1] = {}): PlainTable {
  return plain(Create, {
    signer: Buffer.from(words.signer, 'hex'),
    orderId: words.orderId,
    baseAsset: words.baseAsset,
    bookPriceDecimals: words.priceDecimals,
    bookQuantityDecimals: words.quantityDecimals,
    detailsType: { limit: 1, base: 2, quote: 3 }[words.details.kind],
    details: detailsTable(words.details),
    side: Side[words.side],
    trigger: words.trigger === null ? undefined : triggerTable(words.trigger),
    creationTimestampNs: words.creationNs,
    account: words.account,
    isSpot: words.isSpot,
    reduceOnly: words.reduceOnly,
    maxTradingFeesRate: words.feeRate,
    protocolVersion: words.version,
    signature: words.signature,
    additionalSigners: coSignerTables(words.coSigners),
    postSignTimestamp: words.postSignNs,
    ...changed,
  });
}

function replaceTable(words: ReplaceWords, changed: Parameters<typeof plain>[1] = {}): PlainTable {
  return plain(Replace, {
    orderId: words.orderId,
    timestampNs: words.timestampNs,
    newPriceLimit: words.price,
    newQuantity: words.quantity,
    newTrigger:
      words.trigger === null
        ? undefined
        : triggerTable({ ...words.trigger, parent: words.isWrapped ? words.trigger.parent : null }),
    newTriggerForm: words.isWrapped ? TriggerForm.Wrapped : TriggerForm.Bare,
    bookQuantityDecimals: words.quantityDecimals,
    bookPriceDecimals: words.priceDecimals,
    protocolVersion: words.version,
    signer: Buffer.from(words.signer, 'hex'),
    assetId: words.asset,
    signature: words.signature,
    additionalSigners: coSignerTables(words.coSigners),
    postSignTimestamp: words.postSignNs,
    complete: words.isComplete,
    ...changed,
  });
}

// ---- arbitrary requests: mostly valid, now and then with a figure or an id that is none

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const raw = fc.oneof(
  { weight: 12, arbitrary: fc.bigInt({ min: 1n, max: 2n ** 53n - 1n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }) },
);
const cap = fc.oneof(fc.constant(0n), raw);
const orderId = fc.oneof(
  { weight: 12, arbitrary: fc.stringMatching(/^[A-Za-z0-9+/=_.:-]{1,64}$/) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', 'sys-1', 'a b', 'x'.repeat(65), 'ö', '\u{1f600}', '"', 'x'.repeat(1025)),
  },
);
const asset = fc.oneof(
  { weight: 12, arbitrary: fc.nat(65_535).map(String) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(`${'ab'.repeat(32)}@${'0c'.repeat(9)}`, `0x${'AB'.repeat(20)}@${'0C'.repeat(9)}`),
  },
  { weight: 1, arbitrary: fc.constantFrom('', '01', '65536', 'x@y', 'ö') },
);
const bytes = (length: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ minLength: length, maxLength: length });
const signer = bytes(32).map((key) => Buffer.from(key).toString('hex'));
const trigger: fc.Arbitrary<TriggerWords> = fc.record({
  parent: fc.option(orderId, { nil: null }),
  direction: fc.constantFrom('PriceAbove' as const, 'PriceBelow' as const),
  price: raw,
});
const coSigner: fc.Arbitrary<CoSignerWords> = fc.constantFrom(...SCHEMES).chain((scheme) =>
  fc.record({
    scheme: fc.constant(scheme),
    key: bytes(scheme === 'Ed25519' ? 32 : 33),
    signature: scheme === 'WebAuthn' ? fc.uint8Array({ maxLength: 300 }) : bytes(64),
  }),
);
const signed = {
  signature: fc.oneof({ weight: 12, arbitrary: bytes(64) }, { weight: 1, arbitrary: bytes(0) }),
  coSigners: fc.array(coSigner, { maxLength: 3 }),
  postSignNs: u64,
};
const version = fc.oneof(
  { weight: 12, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.constantFrom(0, 2, 4_294_967_295) },
);
const decimals = fc.integer({ min: -128, max: 127 });
const details: fc.Arbitrary<DetailWords> = fc.oneof(
  fc.record({
    kind: fc.constant('limit' as const),
    price: raw,
    quantity: raw,
    tif: fc.constantFrom('GTC' as const, 'GTD' as const, 'IOC' as const, 'FOK' as const),
    postOnly: fc.boolean(),
    untilNs: u64,
  }),
  fc.record({ kind: fc.constantFrom('base' as const, 'quote' as const), quantity: raw, cap, fillOrKill: fc.boolean() }),
);
const order: fc.Arbitrary<OrderWords> = fc.record({
  signer,
  orderId,
  baseAsset: asset,
  priceDecimals: decimals,
  quantityDecimals: decimals,
  details,
  side: fc.constantFrom('Buy' as const, 'Sell' as const),
  trigger: fc.option(trigger, { nil: null }),
  creationNs: u64,
  account: fc.nat(65_535),
  isSpot: fc.boolean(),
  reduceOnly: fc.boolean(),
  feeRate: fc.integer({ min: 0, max: 4_294_967_295 }),
  version,
  ...signed,
});
const replace: fc.Arbitrary<ReplaceWords> = fc.record({
  orderId,
  timestampNs: u64,
  price: cap,
  quantity: cap,
  trigger: fc.option(trigger, { nil: null }),
  isWrapped: fc.boolean(),
  isComplete: fc.boolean(),
  priceDecimals: decimals,
  quantityDecimals: decimals,
  version,
  signer,
  asset,
  ...signed,
});

const SOUND: OrderWords = {
  signer: USER_42,
  orderId: 'o-1',
  baseAsset: '12',
  priceDecimals: 2,
  quantityDecimals: 4,
  details: { kind: 'limit', price: 5n, quantity: 7n, tif: 'GTC', postOnly: false, untilNs: 0n },
  side: 'Buy',
  trigger: null,
  creationNs: 1_770_000_000_000_000_001n,
  account: 1,
  isSpot: true,
  reduceOnly: false,
  feeRate: 50_000,
  version: 1,
  signature: new Uint8Array(64).fill(7),
  coSigners: [],
  postSignNs: 1_770_000_000_000_000_002n,
};

suite('a control frame in FlatBuffers', () => {
  for (const vector of VECTORS.filter(({ kind }) => kind === 'create' || kind === 'replace' || kind === 'cancel')) {
    test(`${vector.name}: the signed text is rebuilt to the byte (SIG-03, SIG-05)`, () => {
      const action = { create: 'Create', replace: 'Replace', cancel: 'Cancel' }[vector.kind as 'create'] as OrderAction;
      const body = wrap(vector.kind, vector.user, vector.text);
      const frame = decode(binaryRequest(9n, actionOf(action, body)));
      assert.ok(frame.kind === 'create' || frame.kind === 'replace' || frame.kind === 'cancel');
      assert.equal(new TextDecoder().decode(frame.request.text), vector.text);
      assert.equal(frame.requestId, 9n);
      assert.deepEqual(content(frame), content(decodeJson(`{"${TAG[action]}":${body}}`)));
    });
  }

  test('a create gives what the JSON frame of the same order gives, faults included (CTL-01, AMB-91)', () => {
    const told = { sound: 0, faulty: 0, malformed: 0 };
    fc.assert(
      fc.property(order, (words) => {
        const binary = decode(flatFrame('Create', orderTable(words)));
        const json = decodeJson(`{"CreateOrderRequest":${orderJson(words)}}`);
        if (json.kind === 'malformed') assert.deepEqual(faultOf(binary), faultOf(json));
        else assert.deepEqual(content(binary), content(json));
        if (json.kind === 'malformed') told.malformed += 1;
        else if (json.kind === 'create' && json.request.fault !== null) told.faulty += 1;
        else told.sound += 1;
      }),
      propertyParameters(600),
    );
    assert.ok(told.sound > 20 && told.faulty > 20 && told.malformed > 5, JSON.stringify(told));
  });

  test('a replace gives what the JSON frame of the same replace gives, faults included (CTL-01, AMB-06)', () => {
    fc.assert(
      fc.property(replace, (words) => {
        const binary = decode(flatFrame('Replace', replaceTable(words)));
        const json = decodeJson(`{"ReplaceOrderRequest":${replaceJson(words)}}`);
        if (json.kind === 'malformed') assert.deepEqual(faultOf(binary), faultOf(json));
        else assert.deepEqual(content(binary), content(json));
      }),
      propertyParameters(600),
    );
  });

  test('batches give what their JSON frames give, whole faults and repeated orders included (CTL-02, BAT-08, BAT-09)', () => {
    const items = fc.array(order, { minLength: 0, maxLength: 4 });
    fc.assert(
      fc.property(items, fc.array(replace, { maxLength: 4 }), (orders, replaces) => {
        const creates = decode(
          flatFrame('BatchCreate', plain(BatchCreate, { orders: orders.map((one) => orderTable(one)) })),
        );
        const createsJson = decodeJson(`{"BatchCreateRequest":{"orders":[${orders.map(orderJson)}]}}`);
        if (createsJson.kind === 'malformed') assert.deepEqual(faultOf(creates), faultOf(createsJson));
        else assert.deepEqual(content(creates), content(createsJson));
        const tables = replaces.map((one) => replaceTable(one));
        const changes = decode(flatFrame('BatchReplace', plain(BatchReplace, { requests: tables })));
        const changesJson = decodeJson(`{"BatchReplaceRequest":{"requests":[${replaces.map(replaceJson)}]}}`);
        if (changesJson.kind === 'malformed') assert.deepEqual(faultOf(changes), faultOf(changesJson));
        else assert.deepEqual(content(changes), content(changesJson));
      }),
      propertyParameters(150),
    );
  });

  test('a batch of more than fifty is rejected as a whole, and only fifty of its items are read (BAT-08, AMB-26)', () => {
    const tables = Array.from({ length: BATCH_ITEMS_MAX + 1 }, (_, index) =>
      orderTable({ ...SOUND, orderId: `o-${index}` }),
    );
    const frame = decode(flatFrame('BatchCreate', plain(BatchCreate, { orders: tables })));
    assert.ok(frame.kind === 'batch-create');
    assert.equal(frame.batch.fault?.code, 'INVALID_REQUEST');
    assert.equal(frame.batch.items.length, BATCH_ITEMS_MAX);
    const whole = decode(flatFrame('BatchCreate', plain(BatchCreate, { orders: tables.slice(1) })));
    assert.ok(whole.kind === 'batch-create' && whole.batch.fault === null);
  });

  test('the SDK sends every body that JSON accepts so that it is read the same', () => {
    fc.assert(
      fc.property(order, replace, (orderWords, replaceWords) => {
        const cases = [
          ['Create', orderJson(orderWords), 'CreateOrderRequest'],
          ['Replace', replaceJson(replaceWords), 'ReplaceOrderRequest'],
        ] as const;
        for (const [action, body, tag] of cases) {
          const json = decodeJson(`{"${tag}":${body}}`);
          if (json.kind === 'malformed' || !('request' in json) || json.request.fault !== null) continue;
          const frame = decode(binaryRequest(1n, actionOf(action, body)));
          assert.deepEqual(content(frame), content(json));
          const batch = decode(binaryBatch(1n, action, [actionOf(action, body)]));
          assert.ok(batch.kind === 'batch-create' || batch.kind === 'batch-replace');
          assert.equal(batch.batch.items.length, 1);
        }
      }),
      propertyParameters(200),
    );
  });

  test('an amend gives what the JSON frame of the same amend gives, faults included (wire-additions.md 4.1)', () => {
    const words = fc.record({ orderId, asset, quantity: raw, decimals, expected: u64, timestampNs: u64, signer });
    fc.assert(
      fc.property(words, ({ quantity, expected, timestampNs, ...one }) => {
        const body =
          `{"request":{"order_id":${text(one.orderId)},"base_asset":${text(one.asset)},"new_quantity":${quantity},` +
          `"book_quantity_decimals":${one.decimals},"expected_authorization_revision":${orNull(expected)},` +
          `"timestamp_ns":${timestampNs}},"user_id":"${one.signer}"}`;
        const table = plain(Amend, {
          orderId: one.orderId,
          baseAsset: one.asset,
          newQuantity: quantity,
          bookQuantityDecimals: one.decimals,
          expectedAuthorizationRevision: expected,
          timestampNs,
          userId: Buffer.from(one.signer, 'hex'),
        });
        const binary = decode(flatFrame('Amend', table));
        const json = decodeJson(`{"AmendOrderRequest":${body}}`);
        if (json.kind === 'malformed') assert.deepEqual(faultOf(binary), faultOf(json));
        else assert.deepEqual(content(binary), content(json));
        if (json.kind !== 'amend' || json.request.fault !== null) return;
        assert.deepEqual(content(decode(binaryRequest(1n, actionOf('Amend', body)))), content(json));
      }),
      propertyParameters(300),
    );
  });

  test('what JSON cannot express, or not without a member, is rejected with the field', () => {
    const limit = (members: Parameters<typeof plain>[1]): Parameters<typeof plain>[1] => ({
      details: plain(Limit, { limitPrice: 5n, quantity: 7n, timeInForce: TimeInForce.GTC, ...members }),
    });
    const key = new Uint8Array(32);
    const entry = { scheme: Scheme.Ed25519, key, signature: new Uint8Array(64) };
    const coSigners = (...list: Parameters<typeof plain>[1][]): Parameters<typeof plain>[1] => ({
      additionalSigners: list.map((members) => plain(CoSigner, members)),
    });
    const cases: readonly [string, Parameters<typeof plain>[1]][] = [
      ['signer', { signer: undefined }],
      ['signer', { signer: new Uint8Array(31) }],
      ['order_id', { orderId: undefined }],
      ['base_asset', { baseAsset: undefined }],
      ['details', { details: undefined, detailsType: undefined }],
      ['side', { side: Side.Unset }],
      ['side', { side: 3 }],
      ['is_spot', { isSpot: 2 }],
      ['reduce_only', { reduceOnly: 255 }],
      ['time_in_force', limit({ timeInForce: TimeInForce.Unset })],
      ['time_in_force', limit({ timeInForce: 9 })],
      ['post_only', limit({ timeInForce: TimeInForce.IOC, postOnly: true })],
      ['post_only', limit({ timeInForce: TimeInForce.FOK, postOnly: true })],
      ['timestamp_ns', limit({ timestampNs: 1n })],
      ['timestamp_ns', limit({ timeInForce: TimeInForce.IOC, timestampNs: 1n })],
      ['condition', { trigger: plain(Trigger, { price: 5n }) }],
      ['signature', { signature: new Uint8Array(63) }],
      ['signature', { signature: new Uint8Array(65) }],
      ['additional_signers', coSigners(...Array.from({ length: 17 }, () => entry))],
      ['additional_signers', coSigners({ ...entry, signature: new Uint8Array(63) })],
      [
        'additional_signers',
        coSigners(
          ...Array.from({ length: 8 }, () => ({
            scheme: Scheme.WebAuthn,
            key: new Uint8Array(33),
            signature: new Uint8Array(4_000),
          })),
        ),
      ],
      ['signature', coSigners({ scheme: Scheme.WebAuthn, key: new Uint8Array(33), signature: new Uint8Array(4_097) })],
      ['signer', coSigners({ ...entry, scheme: 4 })],
      ['Ed25519', coSigners({ ...entry, key: new Uint8Array(33) })],
    ];
    for (const [field, changed] of cases) {
      const frame = decode(flatFrame('Create', orderTable(SOUND, changed)));
      assert.ok(frame.kind === 'malformed', field);
      assert.deepEqual([frame.reject.code, frame.reject.field], ['INVALID_REQUEST', field]);
      assert.equal(frame.requestId, 1n);
    }
    assert.equal(decode(flatFrame('Create', orderTable(SOUND))).kind, 'create');
  });

  test('a malformed action is correlated by its order where its ids can be repeated, as in JSON (wire.md 10.2)', () => {
    const frame = decode(flatFrame('Create', orderTable(SOUND, { side: 0 })));
    assert.ok(frame.kind === 'malformed');
    assert.deepEqual(frame.correlations, [{ action: 'create', orderId: 'o-1', assetText: '12' }]);
    assert.ok(frame.isAllFound);
    const nameless = decode(flatFrame('Create', orderTable(SOUND, { orderId: undefined })));
    assert.ok(nameless.kind === 'malformed' && nameless.correlations.length === 0 && !nameless.isAllFound);
  });

  test('a cancel is read, and a frame of one action above its limit is PAYLOAD_TOO_LARGE (AMB-124)', () => {
    const cancel = {
      orderId: 'o-1',
      assetId: '12',
      signer: Buffer.from(USER_42, 'hex'),
      signature: new Uint8Array(64),
    };
    const frame = decode(flatFrame('Cancel', plain(Cancel, cancel)));
    assert.ok(frame.kind === 'cancel');
    assert.equal(
      new TextDecoder().decode(frame.request.text),
      vectorNamed('wire.md cancel').text.replace('demo-order-1', 'o-1'),
    );
    const bytes = flatFrame('Cancel', plain(Cancel, cancel));
    const padded = (length: number): Uint8Array => {
      const longer = new Uint8Array(length);
      longer.set(bytes);
      return longer;
    };
    assert.equal(decode(padded(ACTION_BYTES_MAX)).kind, 'cancel');
    const long = decode(padded(ACTION_BYTES_MAX + 1));
    assert.ok(long.kind === 'malformed');
    assert.equal(long.reject.code, 'PAYLOAD_TOO_LARGE');
  });

  test('two users whose keys begin alike stay two users, whichever was read before', () => {
    const first = Buffer.alloc(32, 5);
    const second = Buffer.alloc(32, 5);
    second[31] = 6;
    for (const key of [first, second, first, second]) {
      const frame = decode(flatFrame('Create', orderTable(SOUND, { signer: key })));
      assert.ok(frame.kind === 'create');
      assert.equal(frame.request.order.signer.id, key.toString('hex'));
    }
  });
});
