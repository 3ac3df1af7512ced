// tier: quick
/** Full pages of one market: a client that requests 1,000 and gets fewer stops paging (wire.md 6.1, 7.9). */

import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { DEFAULT_ORDER_SETTINGS } from '../../src/gateway/orders/settings.ts';
import { ask } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE } from '../support/names.ts';

import { ScriptedOms } from '../support/scripted-oms.ts';

const ORDERS = 1_003;

suite('pages of a thousand', () => {
  const oms = new ScriptedOms();
  const listener = listenTo(oms);

  before(() => {
    const { fixture } = oms;
    fixture.manager.onSettingsChanged({ ...DEFAULT_ORDER_SETTINGS, openOrdersMax: 2 * ORDERS });
    for (let index = 0; index < ORDERS; index += 1)
      fixture.place({ id: `o-${String(index).padStart(4, '0')}`, price: 5 });
  });

  const read = async (query: string, market = '/12'): Promise<unknown> => {
    const headers = { authorization: `Bearer ${oms.token(ALICE)}`, 'user-id': ALICE };
    const { status, text } = await ask(listener.port, `/orders/user/${ALICE}${market}?${query}`, { headers });
    assert.equal(status, 200);
    return JSON.parse(text);
  };
  const idsOf = (rows: unknown): string[] => (rows as { order_id: string }[]).map((row) => row.order_id);

  test('limit=1000 is honoured in full, equal times go by id, and the next page has the rest (QRY-02, PAG-01, PAG-02, AMB-105)', async () => {
    const first = idsOf(await read('limit=1000'));
    const second = idsOf(await read('limit=1000&page=1'));
    assert.deepEqual([first.length, second.length], [1_000, ORDERS - 1_000]);
    const all = [...first, ...second];
    assert.deepEqual(all, [...all].sort().reverse());
    assert.equal(new Set(all).size, ORDERS);
    assert.deepEqual(idsOf(await read('limit=1000&page=2')), []);
    assert.equal(idsOf(await read('limit=1000&open_only=true')).length, 1_000);
  });

  test('a limit above the cap is the cap, and the envelope says which was applied (AMB-105, wire.md 6.1)', async () => {
    const page = (await read('limit=5000', '')) as Record<string, unknown>;
    const { limit, cursor_size, total_orders, total_pages, next_page } = page;
    assert.deepEqual([limit, cursor_size, total_orders, total_pages, next_page], [1_000, 1_000, ORDERS, 2, 1]);
    assert.equal(idsOf(await read('limit=99999999999999999999')).length, 1_000);
    assert.equal(idsOf(await read('')).length, 100, 'without a limit');
  });
});
