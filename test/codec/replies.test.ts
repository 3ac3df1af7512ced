// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { errorEnvelope } from '../../src/codec/error-envelope.ts';
import { inventoryReply } from '../../src/codec/inventory-reply.ts';
import { parseJson } from '../../src/codec/json-tree.ts';
import { marketObject } from '../../src/codec/market-reply.ts';
import { authReply, nonceReply, operationResponse } from '../../src/codec/operation-replies.ts';
import { type OrderEventView, orderEvent } from '../../src/codec/order-events.ts';
import { orderRecord } from '../../src/codec/order-record.ts';
import { bareArray, pageEnvelope } from '../../src/codec/pages.ts';
import type { InventoryAccountView } from '../../src/codec/shapes/account-shapes.ts';
import type { OrderReply } from '../../src/codec/shapes/order-record-shapes.ts';
import {
  eventFrame,
  isTextPing,
  pongFrame,
  resyncFrame,
  unauthorizedFrame,
  welcomeFrame,
} from '../../src/codec/stream-frames.ts';
import { type UserTradeView, userTrade } from '../../src/codec/user-trade.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { reject } from '../../src/core/reject.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../../src/core/units.ts';
import { USER_42, utf8, vectorNamed } from '../support/wire-vectors.ts';

const ns = (value: bigint): TimestampNs => value as TimestampNs;
const price = (value: number): RawPrice => value as RawPrice;
const quantity = (value: number): RawQuantity => value as RawQuantity;
const asset = (value: string): AssetId => value as AssetId;
/** Amounts in thousandths. */
const milli = (value: bigint): Amount18 => (value * 10n ** 15n) as Amount18;
const DECIMALS = { priceDecimals: 2, quantityDecimals: 4 };
const NAME = { orderId: 'demo-order-1', assetId: asset('12') };

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
    const view = { orderId: 'a/+"b', processedNs: ns(1770000000001200000n) };
    assert.deepEqual(Object.entries(parsed(operationResponse({ ...view, reject: null }))), [
      ['order_id', 'a/+"b'],
      ['status', 'Received'],
      ['reason', null],
      ['processed_at_ns', '1770000000001200000'],
    ]);
    const refused = parsed(operationResponse({ ...view, reject: reject('WOULD_CROSS', 'x') }));
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
      minimumNotional: 1n as never,
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

  test('an order record names every key when each of them has a value (wire.md 7.9)', () => {
    const full: OrderReply = {
      ...RECORD,
      amount: '900',
      max_sellable_amount: '1.5',
      max_sellable_quantity: '0.0001',
      good_until_timestamp_ns: 1760086400123456789n,
      trigger_above_price: '3300',
      trigger_below_price: '1900',
      trigger_touched: false,
      parent_id: 'p"1',
      trigger_enabled_quantity: '0.5',
    };
    const expected = Object.entries(full).map(([key, value]) => [
      key,
      typeof value === 'bigint' ? String(value) : value,
    ]);
    assert.deepEqual(Object.entries(parsed(orderRecord(full))), expected);
  });

  test('the user trade of wire.md 7.10, letter by letter; an unknown fee is left out, never null', () => {
    assert.equal(
      userTrade(TRADE),
      '{"asset_id":"12","trade_id":88017,"order_id":"demo-order-1","price":"3150.25","quantity":"0.5","timestamp_ns":1770000004000000000,"is_maker":true,"is_buyer":false,"status":"Confirmed","rollback_reason":null,"is_liquidation":false,"is_auto_deleverage":false,"sub_account":1,"trading_fee":"0.31"}',
    );
    assert.ok(!('trading_fee' in parsed(userTrade({ ...TRADE, fee: null }))));
    const rolledBack = parsed(
      userTrade({ ...TRADE, status: 'Rollbacked', rollbackReason: 'CounterpartyAtFault', fee: milli(-44n) }),
    );
    assert.deepEqual(
      [rolledBack['status'], rolledBack['rollback_reason'], rolledBack['trading_fee']],
      ['Rollbacked', 'CounterpartyAtFault', '-0.044'],
    );
  });

  test('the inventory of wire.md 7.13, letter by letter, index-like names in the order given (QRY-09)', () => {
    const margins: InventoryAccountView['margins'] = new Map([
      ['12', { base: { credits: '2.5', liabilities: '0' }, quote: { credits: '0', liabilities: '7875.6' } }],
    ]);
    const accounts = new Map<string, InventoryAccountView>([
      [
        '0',
        {
          kind: 'spot',
          name: 'Spot',
          spot: new Map([
            ['0', '1200.5'],
            ['1', '0.75'],
          ]),
          margins: new Map(),
        },
      ],
      ['1', { kind: 'cross_margin', name: 'Margin', spot: new Map([['0', '500']]), margins }],
    ]);
    assert.equal(
      inventoryReply({ is_mm: false, accounts }),
      '{"is_mm":false,"accounts":{"0":{"kind":"spot","name":"Spot","spot":{"0":"1200.5","1":"0.75"},"margins":{}},' +
        '"1":{"kind":"cross_margin","name":"Margin","spot":{"0":"500"},"margins":{"12":{"base":{"credits":"2.5","liabilities":"0"},"quote":{"credits":"0","liabilities":"7875.6"}}}}}}',
    );
    const isolated: InventoryAccountView = {
      kind: 'isolated_margin',
      name: 'a "b"',
      asset: '12',
      spot: new Map([
        ['5a@00', '1'],
        ['0', '0'],
      ]),
      margins: new Map(),
    };
    assert.equal(
      inventoryReply({ is_mm: true, accounts: new Map([['2', isolated]]) }),
      '{"is_mm":true,"accounts":{"2":{"kind":"isolated_margin","name":"a \\"b\\"","asset":"12","spot":{"5a@00":"1","0":"0"},"margins":{}}}}',
    );
  });
});

suite('order events', () => {
  const user = USER_42 as UserId;
  const event = (view: OrderEventView): [string, [string, unknown][]] => {
    const [tagged, ...others] = Object.entries(parsed(orderEvent(user, view)));
    assert.ok(tagged !== undefined && others.length === 0, 'one tag a frame');
    return [tagged[0], Object.entries(tagged[1] as object)];
  };
  const named: [string, unknown][] = [
    ['order_id', 'demo-order-1'],
    ['asset_id', '12'],
    ['user_id', USER_42],
  ];

  test('Created echoes the full signed order and its signature (STR-01, ORD-09)', () => {
    const { text, signature } = vectorNamed('V-10');
    const bytes = Buffer.from(signature, 'hex');
    const bookTimestampNs = ns(1770000000001000000n);
    const created: OrderEventView = { kind: 'Created', ...NAME, text: utf8(text), signature: bytes, bookTimestampNs };
    assert.equal(
      orderEvent(user, created),
      `{"Created":{"user_order":${text},"signature":[${[...bytes].join(',')}],"book_timestamp_ns":1770000000001000000,` +
        '"limit_overrides":null,"limit_overrides_signature":null}}',
    );
    assert.equal(event(created)[0], 'Created');
  });

  test('Canceled has a reason (CAN-12, wire.md G21)', () => {
    const timestampNs = ns(1770000009000000000n);
    assert.deepEqual(event({ kind: 'Canceled', ...NAME, timestampNs, reason: 'UserRequested' }), [
      'Canceled',
      [...named, ['timestamp_ns', '1770000009000000000'], ['reason', 'UserRequested']],
    ]);
  });

  test('Removed is the example of wire.md 9.4, letter by letter (AMB-128, wire.md G16, G20)', () => {
    const removed: OrderEventView = {
      kind: 'Removed',
      ...NAME,
      timestampNs: ns(1770000009000000000n),
      reason: 'Filled',
      filledQuantity: 25000,
      filledAmount: 78756250n,
      quantityDecimals: 4,
    };
    assert.equal(
      orderEvent(user, removed),
      `{"Removed":{"order_id":"demo-order-1","asset_id":"12","user_id":"${USER_42}","timestamp_ns":1770000009000000000,"operator_pubkey":null,"reason":"Filled","filled_quantity":25000,"confirmed_quantity":25000,"filled_amount":78756250,"confirmed_amount":78756250,"book_quantity_decimals":4}}`,
    );
  });

  test('Replaced, Triggered and the three failures (RPL-12, TRG-08, STR-01)', () => {
    assert.deepEqual(event({ kind: 'Replaced', ...NAME, newQuantity: quantity(444), newPrice: price(9000) }), [
      'Replaced',
      [...named, ['new_quantity', 444], ['new_price', 9000]],
    ]);
    assert.deepEqual(event({ kind: 'Triggered', ...NAME, timestampNs: ns(7n), triggerPrice: price(5), quantity: 3 }), [
      'Triggered',
      [...named, ['timestamp_ns', 7], ['trigger_price', 5], ['quantity', 3], ['trigger_touched', true]],
    ]);
    for (const kind of ['CreateFailed', 'ReplaceFailed', 'CancelFailed'] as const) {
      for (const reason of ['OrderNotFound', null]) {
        const expected = [
          ['order_id', 'demo-order-1'],
          ['user_id', USER_42],
          ['reason', reason],
        ];
        assert.deepEqual(event({ kind, ...NAME, reason }), [kind, expected]);
      }
    }
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

const RECORD: OrderReply = {
  order_id: 'demo-order-1',
  base_asset: '12',
  side: 'Sell',
  limit_price: '3150.25',
  quantity: '2.5',
  amount: null,
  max_sellable_amount: null,
  max_sellable_quantity: null,
  confirmed_filled_quantity: '0.5',
  pending_filled_quantity: '0',
  confirmed_filled_amount: '1575.125',
  pending_filled_amount: '0',
  confirmed_trading_fees_amount: '0.31',
  pending_trading_fees_amount: '0',
  good_until_timestamp_ns: null,
  timestamp_ns: 1770000000001000000n,
  in_flight: false,
  canceled: false,
  status: 'PartiallyFilled',
  trigger_above_price: null,
  trigger_below_price: null,
  trigger_touched: null,
  parent_id: null,
  last_update_timestamp_ns: 1770000004000000000n,
  is_immediate_or_cancel: false,
  is_fill_or_kill: false,
  is_liquidation: false,
  is_auto_deleverage: false,
  is_reduce_only: false,
  trigger_enabled_quantity: null,
};

const TRADE: UserTradeView = {
  assetId: asset('12'),
  tradeId: 88017,
  orderId: 'demo-order-1',
  ...DECIMALS,
  price: price(315025),
  quantity: quantity(5000),
  timestampNs: ns(1770000004000000000n),
  isMaker: true,
  isBuyer: false,
  status: 'Confirmed',
  rollbackReason: null,
  isLiquidation: false,
  isAutoDeleverage: false,
  subAccount: 1,
  fee: milli(310n),
};
