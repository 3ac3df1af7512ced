import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { ORDER_END, type OrderEnd, type RollbackReason } from '../../src/core/order-terms.ts';
import { reject } from '../../src/core/reject.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../../src/core/units.ts';
import { errorEnvelope } from '../../src/wire/error-envelope.ts';
import { type InventoryAccountView, inventoryReply } from '../../src/wire/inventory-reply.ts';
import { parseJson } from '../../src/wire/json-tree.ts';
import { marketObject } from '../../src/wire/market-reply.ts';
import { authReply, nonceReply, operationResponse } from '../../src/wire/operation-replies.ts';
import { type OrderEventView, orderEvent, quoteInteger } from '../../src/wire/order-events.ts';
import { type OrderRecordView, orderRecord } from '../../src/wire/order-record.ts';
import { bareArray, pageEnvelope } from '../../src/wire/pages.ts';
import {
  eventFrame,
  isTextPing,
  pongFrame,
  resyncFrame,
  unauthorizedFrame,
  welcomeFrame,
} from '../../src/wire/stream-frames.ts';
import { type UserTradeView, userTrade } from '../../src/wire/user-trade.ts';
import { USER_42, utf8, vectorNamed } from '../support/wire-vectors.ts';

const ns = (value: bigint): TimestampNs => value as TimestampNs;
const price = (value: number): RawPrice => value as RawPrice;
const quantity = (value: number): RawQuantity => value as RawQuantity;
const asset = (value: string): AssetId => value as AssetId;
/** Amounts in thousandths. */
const milli = (value: bigint): Amount18 => (value * 10n ** 15n) as Amount18;
const DECIMALS = { priceDecimals: 2, quantityDecimals: 4 };
const NAME = { orderId: 'demo-order-1', assetId: asset('12'), userId: USER_42 as UserId };

/** Every reply is also read by the strict reader: no duplicate key, no unquoted text, no stray byte. */
function parsed(text: string): Record<string, unknown> {
  assert.ok(parseJson(utf8(text)).ok, text);
  const value: unknown = JSON.parse(text.replace(/([:[,])(\d{17,})/g, '$1"$2"'));
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value));
  return value as Record<string, unknown>;
}

suite('errors', () => {
  const trace = { traceId: '7f'.repeat(16), spanId: '19'.repeat(8) };

  test('the envelope has its members in order, details only where there are some (ERR-01, AMB-103)', () => {
    const refused = {
      ...reject('INVALID_ORDER', 'a "quoted" reason', 'order_id'),
      details: { order_id: 'a"b', at: 2n ** 60n },
    };
    const { error } = parsed(errorEnvelope(refused, trace));
    assert.deepEqual(Object.entries(error as object), [
      ['code', 'INVALID_ORDER'],
      ['message', 'a "quoted" reason'],
      ['retryable', false],
      ['details', { field: 'order_id', order_id: 'a"b', at: '1152921504606846976' }],
      ['trace_id', trace.traceId],
      ['span_id', trace.spanId],
    ]);
    const plain = parsed(errorEnvelope(reject('RATE_LIMITED', 'later'), trace))['error'] as object;
    assert.deepEqual(Object.keys(plain), ['code', 'message', 'retryable', 'trace_id', 'span_id']);
    assert.equal(Reflect.get(plain, 'retryable'), true);
  });
});

suite('answers to actions and logins', () => {
  test('the operation response is Received or Rejected with a word (wire.md 7.4, AMB-123, ERR-11)', () => {
    const view = { orderId: 'a/+"b', processedAtNs: ns(1770000000001200000n) };
    assert.deepEqual(Object.entries(parsed(operationResponse({ ...view, refusal: null }))), [
      ['order_id', 'a/+"b'],
      ['status', 'Received'],
      ['reason', null],
      ['processed_at_ns', '1770000000001200000'],
    ]);
    const refused = parsed(operationResponse({ ...view, refusal: reject('WOULD_CROSS', 'x') }));
    assert.deepEqual([refused['status'], refused['reason']], ['Rejected', 'WouldCross']);
  });

  test('nonce and token (SES-01, SES-07, wire.md 3.2)', () => {
    assert.equal(nonceReply('q7Zr-41c0', 0), '{"value":"q7Zr-41c0","ce_nonce":0}');
    assert.equal(
      authReply('kPq3Xo2b', ns(1770086400000000000n)),
      '{"token":"kPq3Xo2b","expiry_ns":1770086400000000000}',
    );
  });
});

suite('reads', () => {
  test('the market object of wire.md 7.2 with the members of AMB-138 behind it', () => {
    const definition = {
      marketIndex: 3,
      assetId: asset('12'),
      ...DECIMALS,
      tickSize: price(1),
      minimumQuantity: quantity(10),
      makerFeeRate: -25,
      takerFeeRate: 450,
      status: 1,
      selfTradePrevention: true,
      priceCollar: null,
    } as const;
    const view = { definition, maxLeverage: 10, isolatedOnly: false, feeAccount: '9a9a' };
    assert.deepEqual(Object.entries(parsed(marketObject(view))), [
      ['asset_id', '12'],
      ['book_price_decimals', 2],
      ['book_quantity_decimals', 4],
      ['max_leverage', '10'],
      ['isolated_only', false],
      ['tick_size', '0.01'],
      ['min_order_size', '0.001'],
      ['fee_schedule', { fee_account: '9a9a', global: [], per_asset: [] }],
      ['maker_fee_rate', -25],
      ['taker_fee_rate', 450],
      ['status', 'CancelOnly'],
      ['self_trade_prevention', true],
    ]);
    assert.equal(parsed(marketObject({ ...view, maxLeverage: null }))['max_leverage'], null);
  });

  test('page counters: the example of wire.md 6.2, the last page, no rows at all (PAG-01, AMB-105)', () => {
    const rows = Array.from({ length: 40 }, (_, index) => `{"n":${index}}`);
    const page = parsed(pageEnvelope('trades', { rows, page: 3, limit: 40, total: 217 }));
    assert.deepEqual(Object.keys(page), [
      'trades',
      'page',
      'limit',
      'total_trades',
      'total_pages',
      'cursor_size',
      'has_next_page',
      'next_page',
    ]);
    assert.deepEqual(Object.values(page).slice(1), [3, 40, 217, 6, 40, true, 4]);
    const last = parsed(pageEnvelope('orders', { rows: ['{}'], page: 5, limit: 40, total: 217 }));
    assert.deepEqual(Object.values(last), [[{}], 5, 40, 217, 6, 1, false, null]);
    const empty = parsed(pageEnvelope('positions', { rows: [], page: 0, limit: 100, total: 0 }));
    assert.deepEqual(Object.entries(empty)[3], ['total_positions', 0]);
    assert.deepEqual(Object.values(empty), [[], 0, 100, 0, 0, 0, false, null]);
    assert.equal(bareArray([]), '[]');
    assert.equal(bareArray(['{"a":1}', '2']), '[{"a":1},2]');
  });

  test('the order record of wire.md 7.9, letter by letter (QRY-11, AMB-17, AMB-133)', () => {
    assert.equal(
      orderRecord(RECORD),
      '{"order_id":"demo-order-1","base_asset":"12","side":"Sell","limit_price":"3150.25","quantity":"2.5","amount":null,"max_sellable_amount":null,"max_sellable_quantity":null,"confirmed_filled_quantity":"0.5","pending_filled_quantity":"0","confirmed_filled_amount":"1575.125","pending_filled_amount":"0","confirmed_trading_fees_amount":"0.31","pending_trading_fees_amount":"0","good_until_timestamp_ns":null,"timestamp_ns":1770000000001000000,"in_flight":false,"canceled":false,"status":"PartiallyFilled","trigger_above_price":null,"trigger_below_price":null,"trigger_touched":null,"parent_id":null,"last_update_timestamp_ns":1770000004000000000,"is_immediate_or_cancel":false,"is_fill_or_kill":false,"is_liquidation":false,"is_auto_deleverage":false,"is_reduce_only":false,"trigger_enabled_quantity":null}',
    );
  });

  test('an order record of a triggered child and of a quote-sized market order (wire.md 7.9)', () => {
    const child = parsed(
      orderRecord({
        ...RECORD,
        goodUntilNs: ns(1760086400123456789n),
        triggerBelowPrice: price(190000),
        triggerTouched: false,
        parentId: 'p"1',
        triggerEnabledQuantity: quantity(5000),
      }),
    );
    assert.deepEqual(
      [
        'good_until_timestamp_ns',
        'trigger_below_price',
        'trigger_touched',
        'parent_id',
        'trigger_enabled_quantity',
      ].map((key) => child[key]),
      ['1760086400123456789', '1900', false, 'p"1', '0.5'],
    );
    const market = parsed(
      orderRecord({
        ...RECORD,
        limitPrice: null,
        quantity: null,
        amount: milli(900n),
        maxSellableQuantity: quantity(1),
      }),
    );
    assert.deepEqual(
      ['limit_price', 'quantity', 'amount', 'max_sellable_quantity'].map((key) => market[key]),
      [null, null, '0.9', '0.0001'],
    );
  });

  test('the user trade of wire.md 7.10, letter by letter; an unknown fee is left out, never null', () => {
    assert.equal(
      userTrade(TRADE),
      '{"asset_id":"12","trade_id":88017,"order_id":"demo-order-1","price":"3150.25","quantity":"0.5","timestamp_ns":1770000004000000000,"is_maker":true,"is_buyer":false,"status":"Confirmed","rollback_reason":null,"is_liquidation":false,"is_auto_deleverage":false,"sub_account":1,"trading_fee":"0.31"}',
    );
    assert.ok(!('trading_fee' in parsed(userTrade({ ...TRADE, fee: null }))));
    const rolledBack = parsed(userTrade({ ...TRADE, status: 'Rollbacked', rollbackReason: 10, fee: milli(-44n) }));
    assert.deepEqual(
      [rolledBack['status'], rolledBack['rollback_reason'], rolledBack['trading_fee']],
      ['Rollbacked', 'CounterpartyAtFault', '-0.044'],
    );
  });

  test('inventory: USD always, other zeros never, assets in their order, flat positions left out (QRY-09, wire.md 7.13)', () => {
    const legs = {
      baseCredits: milli(2500n),
      baseLiabilities: milli(0n),
      quoteCredits: milli(0n),
      quoteLiabilities: milli(7875600n),
    };
    const flat = { ...legs, baseCredits: milli(0n), quoteLiabilities: milli(0n) };
    const margin: InventoryAccountView = {
      subAccount: 1,
      kind: 'cross_margin',
      name: 'Margin',
      asset: null,
      spot: [[asset('0'), milli(500000n)]],
      margins: [
        [asset('13'), flat],
        [asset('12'), legs],
      ],
    };
    const spot: InventoryAccountView = {
      subAccount: 0,
      kind: 'spot',
      name: 'Spot',
      asset: null,
      spot: [
        [asset('10'), milli(1n)],
        [asset('2'), milli(0n)],
        [asset('1'), milli(750n)],
        [asset('0'), milli(1200500n)],
      ],
      margins: [],
    };
    const text = inventoryReply({ isMarketMaker: false, accounts: [margin, spot] });
    assert.equal(
      text,
      '{"is_mm":false,"accounts":{"0":{"kind":"spot","name":"Spot","spot":{"0":"1200.5","1":"0.75","10":"0.001"},"margins":{}},' +
        '"1":{"kind":"cross_margin","name":"Margin","spot":{"0":"500"},"margins":{"12":{"base":{"credits":"2.5","liabilities":"0"},"quote":{"credits":"0","liabilities":"7875.6"}}}}}}',
    );
    const isolated: InventoryAccountView = {
      ...spot,
      subAccount: 2,
      kind: 'isolated_margin',
      asset: asset('12'),
      spot: [],
    };
    const accounts = parsed(inventoryReply({ isMarketMaker: true, accounts: [isolated] }))['accounts'];
    assert.deepEqual(accounts, {
      2: { kind: 'isolated_margin', name: 'Spot', asset: '12', spot: { 0: '0' }, margins: {} },
    });
  });
});

suite('order events', () => {
  const event = (view: OrderEventView): [string, [string, unknown][]] => {
    const [tagged, ...others] = Object.entries(parsed(orderEvent(view)));
    assert.ok(tagged !== undefined && others.length === 0, 'one tag a frame');
    return [tagged[0], Object.entries(tagged[1] as object)];
  };

  test('Created echoes the full signed order and its signature (STR-01, ORD-09)', () => {
    const { text, signature } = vectorNamed('V-10');
    const bytes = Buffer.from(signature, 'hex');
    const written = orderEvent({ kind: 'created', text, signature: bytes, bookTimestampNs: ns(1770000000001000000n) });
    assert.ok(written.startsWith(`{"Created":{"user_order":${text},"signature":[${[...bytes].join(',')}],`));
    const [tag, members] = event({
      kind: 'created',
      text,
      signature: bytes,
      bookTimestampNs: ns(1770000000001000000n),
    });
    assert.equal(tag, 'Created');
    assert.deepEqual(
      members.map(([name]) => name),
      ['user_order', 'signature', 'book_timestamp_ns', 'limit_overrides', 'limit_overrides_signature'],
    );
  });

  test('Canceled has a word for its reason, or the fault of the order (CAN-12, wire.md G21)', () => {
    const canceled = (end: OrderEnd, faultReason: RollbackReason): OrderEventView => ({
      kind: 'canceled',
      ...NAME,
      timestampNs: ns(1770000009000000000n),
      end,
      faultReason,
    });
    assert.deepEqual(event(canceled(ORDER_END.userRequested, 0)), [
      'Canceled',
      [
        ['order_id', 'demo-order-1'],
        ['asset_id', '12'],
        ['user_id', USER_42],
        ['timestamp_ns', '1770000009000000000'],
        ['reason', 'UserRequested'],
      ],
    ]);
    assert.equal(event(canceled(ORDER_END.atFault, 2))[1][4]?.[1], 'InsufficientInventory');
    assert.throws(() => orderEvent(canceled(ORDER_END.filled, 0)));
    assert.throws(() => orderEvent(canceled(ORDER_END.atFault, 0)));
  });

  test('Removed is the example of wire.md 9.4, letter by letter (AMB-128, wire.md G16, G20)', () => {
    const removed: OrderEventView = {
      kind: 'removed',
      ...NAME,
      timestampNs: ns(1770000009000000000n),
      end: ORDER_END.filled,
      filledQuantity: 25000,
      confirmedQuantity: 25000,
      filledAmount: milli(7875625n),
      confirmedAmount: milli(7875625n),
      bookQuantityDecimals: 4,
    };
    assert.equal(
      orderEvent(removed),
      `{"Removed":{"order_id":"demo-order-1","asset_id":"12","user_id":"${USER_42}","timestamp_ns":1770000009000000000,"operator_pubkey":null,"reason":"Filled","filled_quantity":25000,"confirmed_quantity":25000,"filled_amount":78756250,"confirmed_amount":78756250,"book_quantity_decimals":4}}`,
    );
    assert.throws(() => orderEvent({ ...removed, end: ORDER_END.userRequested }));
  });

  test('quote integers are floored to the quantity decimals (EX-15, wire.md G16)', () => {
    assert.equal(quoteInteger(milli(4998920n), 3), 4998920n);
    assert.equal(quoteInteger(4999999993100000000000n as Amount18, 8), 499999999310n);
    assert.equal(quoteInteger(999n as Amount18, 8), 0n);
  });

  test('Replaced, Triggered and the three failures (RPL-12, TRG-08, STR-01)', () => {
    assert.deepEqual(event({ kind: 'replaced', ...NAME, newQuantity: quantity(444), newPrice: price(9000) }), [
      'Replaced',
      [
        ['order_id', 'demo-order-1'],
        ['asset_id', '12'],
        ['user_id', USER_42],
        ['new_quantity', 444],
        ['new_price', 9000],
      ],
    ]);
    const triggered = event({ kind: 'triggered', ...NAME, timestampNs: ns(1n), triggerPrice: price(5) });
    assert.deepEqual([triggered[0], triggered[1].at(-1)], ['Triggered', ['trigger_price', 5]]);
    const tags = {
      'create-failed': 'CreateFailed',
      'replace-failed': 'ReplaceFailed',
      'cancel-failed': 'CancelFailed',
    } as const;
    for (const kind of Object.keys(tags) as (keyof typeof tags)[]) {
      const expected = [
        ['order_id', 'demo-order-1'],
        ['user_id', USER_42],
        ['reason', 'OrderNotFound'],
      ];
      assert.deepEqual(event({ kind, orderId: NAME.orderId, userId: NAME.userId, reason: 'ORDER_NOT_FOUND' }), [
        tags[kind],
        expected,
      ]);
    }
    assert.match(orderEvent({ kind: 'cancel-failed', ...NAME, reason: null }), /"reason":null/);
  });
});

suite('frames', () => {
  test('v0 sends the bare payload, v1 the six members around it (WS-03, WS-04)', () => {
    const payload = '{"Canceled":{"order_id":"demo-order-1"}}';
    assert.equal(eventFrame(0, 'orders', ns(1n), payload), payload);
    assert.equal(
      eventFrame(1, 'orders', ns(1770000004000000000n), payload),
      `{"type":"event","channel":"orders","request_id":null,"timestamp_ns":1770000004000000000,"data":${payload},"error":null}`,
    );
  });

  test('welcome, pong and what counts as a ping (WS-06, WS-09, AMB-95)', () => {
    assert.equal(welcomeFrame('trades'), '{"type":"subscriptions","channels":[{"name":"trades"}],"errors":[]}');
    assert.equal(pongFrame(0, 'orders', ns(1n)), '{"type":"pong"}');
    assert.equal(parsed(pongFrame(1, 'orders', ns(1n)))['type'], 'pong');
    assert.ok(isTextPing(utf8('{"type":"ping"}')) && isTextPing(utf8(' {"id":1.5, "type" : "ping"}')));
    for (const text of [
      '{"type":"pong"}',
      'ping',
      '"ping"',
      '',
      '{"type":"ping"',
      `{"type":"ping","x":"${'x'.repeat(300)}"}`,
    ]) {
      assert.ok(!isTextPing(utf8(text)), text);
    }
  });

  test("another user's path and lag are told in their own words (AUT-12, WS-14, ERR-12)", () => {
    assert.deepEqual(Object.keys(parsed(unauthorizedFrame(0, 'trades', ns(1n)))), ['type', 'channel', 'error']);
    const v1 = parsed(unauthorizedFrame(1, 'trades', ns(1n)));
    assert.deepEqual([v1['type'], v1['data'], (v1['error'] as { code: string }).code], ['error', null, 'unauthorized']);
    const resync = parsed(resyncFrame('orders', ns(1n)));
    assert.deepEqual([resync['type'], (resync['error'] as { code: string }).code], ['error', 'RESYNC_REQUIRED']);
  });
});

const RECORD: OrderRecordView = {
  orderId: 'demo-order-1',
  baseAsset: asset('12'),
  decimals: DECIMALS,
  side: 1,
  limitPrice: price(315025),
  quantity: quantity(25000),
  amount: null,
  maxSellableAmount: null,
  maxSellableQuantity: null,
  confirmedFilledQuantity: 5000,
  pendingFilledQuantity: 0,
  confirmedFilledAmount: milli(1575125n),
  pendingFilledAmount: milli(0n),
  confirmedFees: milli(310n),
  pendingFees: milli(0n),
  goodUntilNs: null,
  timestampNs: ns(1770000000001000000n),
  inFlight: false,
  canceled: false,
  status: 'PartiallyFilled',
  triggerAbovePrice: null,
  triggerBelowPrice: null,
  triggerTouched: null,
  parentId: null,
  lastUpdateNs: ns(1770000004000000000n),
  isImmediateOrCancel: false,
  isFillOrKill: false,
  isLiquidation: false,
  isAutoDeleverage: false,
  isReduceOnly: false,
  triggerEnabledQuantity: null,
};

const TRADE: UserTradeView = {
  assetId: asset('12'),
  tradeId: 88017 as Sequence,
  orderId: 'demo-order-1',
  decimals: DECIMALS,
  price: price(315025),
  quantity: quantity(5000),
  timestampNs: ns(1770000004000000000n),
  isMaker: true,
  isBuyer: false,
  status: 'Confirmed',
  rollbackReason: 0,
  isLiquidation: false,
  isAutoDeleverage: false,
  subAccount: 1,
  fee: milli(310n),
};
