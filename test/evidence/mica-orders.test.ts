// tier: quick
/** Order records of MiCA: what rows become, by hand and for random rows. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MICA_COLUMNS, MICA_KINDS, micaRecords } from '../../src/tools/mica-orders.ts';
import { Draw, type PlainRow, randomRow } from '../support/random-rows.ts';
import { userOf } from '../support/row-log-fixture.ts';

const SCALES = new Map([
  ['2', { priceDecimals: 2, quantityDecimals: 4 }],
  ['3', { priceDecimals: 0, quantityDecimals: 1 }],
]);
const HEAD = { v: 1, sequence: '9', index: 3, time_ns: '1795945286123456999', user: 'ab', n: 4, previous: '00' };

function recordsOf(row: PlainRow): Record<string, unknown>[] {
  return micaRecords(row, SCALES).map((cells) =>
    Object.fromEntries(cells.flatMap((cell, place) => (cell === null ? [] : [[MICA_COLUMNS[place]?.name, cell]]))),
  );
}

suite('EXP-04 order records of MiCA', () => {
  test('EXP-04 an order that rests is a new order, its times rounded down beside those of the row', () => {
    const terms = {
      side: 'Buy',
      order_type: 'Limit',
      price: 300_025,
      quantity: 15_000,
      time_in_force: 'GTD',
      post_only: true,
    };
    const times = { event_ns: '1795945286123456789', good_until_ns: '1795945999999999999' };
    const row = {
      ...HEAD,
      kind: 'order',
      event: 'accepted',
      asset_id: '2',
      order_id: 'mine',
      order_sequence: 77,
      ...times,
      ...terms,
    };
    assert.deepEqual(recordsOf(row), [
      {
        client: 'ab',
        date_time: '2026-11-29T09:41:26.123456Z',
        date_time_ns: '1795945286123456789',
        validity_period: 'GTDT',
        validity_date_time: '2026-11-29T09:53:19.999999Z',
        validity_date_time_ns: '1795945999999999999',
        sequence_number: '9.3',
        order_book: '2',
        order_code: '2/77',
        client_order_id: 'mine',
        order_event: 'NEWO',
        order_type: 'Limit',
        order_class: 'LMTO',
        limit_price: '3000.25',
        buy_sell: 'BUYI',
        initial_quantity: '1.5',
        passive_only: true,
      },
    ]);
  });

  test('EXP-04 a confirmed execution has its price, quantity and code; a match that was rolled back is none', () => {
    const fill = {
      ...HEAD,
      kind: 'fill',
      asset_id: '3',
      trade_id: 8,
      order_id: 'mine',
      order_sequence: 77,
      side: 'Sell',
    };
    const row = {
      ...fill,
      status: 'Confirmed',
      role: 'Taker',
      price: 12,
      quantity: 34,
      event_ns: '1795945286000000001',
    };
    const [record = {}, ...others] = recordsOf(row);
    assert.deepEqual(others, []);
    assert.equal(record['order_event'], 'PARF');
    assert.deepEqual(
      [record['transaction_price'], record['traded_quantity'], record['transaction_code']],
      ['12', '3.4', '3/8'],
    );
    assert.deepEqual(
      [record['passive_aggressive'], record['buy_sell'], record['passive_only']],
      ['AGRE', 'SELL', undefined],
    );
    assert.deepEqual(recordsOf({ ...row, status: 'Rollbacked', reason: 'StaleMatch' }), []);
  });

  test('EXP-04 ends have the code of their reason, and what rests is what is not filled', () => {
    const order = {
      ...HEAD,
      kind: 'order',
      asset_id: '2',
      order_id: 'mine',
      order_sequence: 77,
      quantity: 10_000,
      filled_quantity: 2_500,
    };
    for (const [event, reason, code] of [
      ['ended', 'Filled', 'FILL'],
      ['ended', 'Expired', 'EXPI'],
      ['ended', 'UserRequested', 'CAME'],
      ['ended', 'Liquidation', 'CAMO'],
      ['ended', 'ImmediateOrCancel', 'CAMO'],
      ['refused', 'PostOnlyWouldCross', 'REMO'],
      ['replaced', undefined, 'REME'],
      ['cut', undefined, 'REMA'],
      ['triggered', undefined, 'TRIG'],
    ] as const) {
      const [record = {}] = recordsOf({ ...order, event, ...(reason === undefined ? {} : { reason }) });
      assert.deepEqual([record['order_event'], record['remaining_quantity']], [code, '0.75'], event);
    }
  });

  test('EXP-04 a revision of a quote set has a record for each entry that it changed', () => {
    const entries = [
      ['created', 1, 'Buy', 300_000, 10_000, 5],
      ['resized', 2, 'Sell', 310_000, 5_000, 6],
      ['left', 3, 'Sell', 320_000, 0, 7],
      ['kept', 4, 'Sell', 330_000, 5_000, 8],
    ];
    const row = {
      ...HEAD,
      kind: 'quote_set',
      event: 'applied',
      asset_id: '2',
      set_id: 'set',
      revision_sequence: 4,
      entries,
    };
    const found = recordsOf(row).map((record) => [
      ...[record['order_event'], record['client_order_id'], record['order_code'], record['buy_sell']],
      ...[record['limit_price'], record['remaining_quantity']],
    ]);
    assert.deepEqual(found, [
      ['NEWO', 'set:1', '2/5', 'BUYI', '3000', '1'],
      ['REME', 'set:2', '2/6', 'SELL', '3100', '0.5'],
      ['CAME', 'set:3', '2/7', 'SELL', '3200', '0'],
    ]);
  });

  test('EXP-04 every row of these kinds becomes records without an error, each with a code, a time and an order', () => {
    const draw = new Draw(8);
    const kinds = MICA_KINDS as Parameters<typeof randomRow>[2];
    for (let round = 0; round < 2_000; round += 1) {
      const { kind, members } = randomRow(draw, 3, kinds);
      // Entries of random rows are no lists.
      const row = { ...HEAD, user: userOf(1), kind, ...members, ...(kind === 'quote_set' ? { entries: [] } : {}) };
      for (const record of recordsOf(row)) {
        assert.match(String(record['order_event']), /^[A-Z]{4}$/);
        assert.match(String(record['date_time']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
        assert.match(String(record['order_code']), /^[23]\/\d+$/);
      }
    }
  });
});
