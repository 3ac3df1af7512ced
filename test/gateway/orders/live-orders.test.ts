// tier: quick
/** Orders that leave memory while a request or a page still points at their records (AMB-110, AMB-142, PAG-01). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { must } from '../../../src/core/assert.ts';
import { USD } from '../../../src/core/ids.ts';
import { ORDER_END, SIDE } from '../../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import { ONE_18, type RawQuantity } from '../../../src/core/units.ts';
import { AS_JSON, type OrderAnswer } from '../../../src/gateway/orders/history/history-request.ts';
import type { PagePlan } from '../../../src/gateway/orders/history/pages.ts';
import { ALICE } from '../../support/names.ts';
import { cancelRequest, mustPass, NOW, OrderFixture, replaceRequest } from '../../support/order-fixture.ts';

const CALLER = { user: ALICE, now: NOW, looksUp: false };
const NOTHING: OrderAnswer<string> = {
  ...{ kind: 'orders', total: 0, rows: [], inTables: [], isAhead: false, heldFrom: 0, offset: 0 },
};

function richFixture(): OrderFixture {
  const fixture = new OrderFixture();
  fixture.setOwned(ALICE, USD, 1_000_000n * ONE_18);
  return fixture;
}

function planOf(fixture: OrderFixture): PagePlan<string> {
  const query = { user: ALICE, marketIndex: null, subAccounts: null, page: 0, limit: 10, openOnly: false };
  return fixture.manager.planOrderPage(query, AS_JSON);
}

function idsOf(plan: PagePlan<string>): readonly string[] {
  const page = must(plan.finish(NOTHING) ?? undefined, 'a page');
  return page.rows.map((row) => (JSON.parse(row()) as { order_id: string }).order_id);
}

/** Everything decided, flushed and in a checkpoint. */
function checkpoint(fixture: OrderFixture): void {
  fixture.decide();
  fixture.manager.onJournalFlushed({ sequence: 1, checkpoint: 0 });
  fixture.manager.onJournalFlushed({ sequence: 2, checkpoint: 1 });
}

suite('orders that leave memory', () => {
  test('a page shows the orders of its plan, whatever has left memory and come since (PAG-01)', () => {
    const fixture = richFixture();
    const ended = ['a', 'b', 'c'].map((id) => fixture.place({ id }));
    for (const order of ended) fixture.end(order, ORDER_END.userRequested);
    const [first, second] = [planOf(fixture), planOf(fixture)];
    checkpoint(fixture);
    assert.equal(fixture.manager.ordersInMemory, 0);
    for (const id of ['x', 'y', 'z']) fixture.place({ id });
    assert.deepEqual(idsOf(second), ['c', 'b', 'a']);
    second.release();
    for (const id of ['x2', 'y2', 'z2']) fixture.place({ id });
    assert.deepEqual(idsOf(first), ['c', 'b', 'a'], 'the older page is still being read');
    first.release();
    first.release();
    const later = planOf(fixture);
    assert.deepEqual(idsOf(later), ['z2', 'z', 'y2', 'y', 'x2', 'x']);
    later.release();
  });

  test('the answer to a replace of a create that was refused changes no other order (RPL-07)', () => {
    const fixture = richFixture();
    const create = mustPass(fixture.request({ id: 'order-1' }));
    const { requests } = fixture.manager;
    const change = replaceRequest({ newQuantity: 50_000 as RawQuantity });
    const replace = mustPass(requests.reserveReplace(mustPass(requests.checkReplace(change, CALLER))));
    fixture.answer(create, 0, REJECT_CODE.MARKET_HALTED);
    assert.deepEqual([fixture.manager.ordersInMemory, fixture.held(ALICE, USD)], [0, 0n]);
    fixture.place({ id: 'order-2' });
    const held = fixture.held(ALICE, USD);
    const cancel = mustPass(requests.reserveCancel(mustPass(requests.checkCancel(cancelRequest('order-2'), CALLER))));
    fixture.answer(replace, 0, REJECT_CODE.ORDER_NOT_FOUND);
    assert.deepEqual([fixture.held(ALICE, USD), fixture.record(ALICE, 'order-2')?.in_flight], [held, true]);
    fixture.answer(cancel, 0, REJECT_CODE.ORDER_NOT_FOUND);
    assert.equal(fixture.record(ALICE, 'order-2')?.in_flight, false);
    assert.equal(fixture.status(ALICE, 'order-1'), undefined);
  });

  test('a child keeps what its parent had activated when the parent leaves memory (AMB-29)', () => {
    const fixture = new OrderFixture();
    const parent = fixture.place({ id: 'parent' });
    fixture.place({ id: 'child', side: SIDE.sell, above: 210_000, parent: 'parent' });
    const taker = fixture.place({ id: 'taker', side: SIDE.sell, quantity: 4_000 });
    fixture.confirm(fixture.match(parent, taker, 200_000, 4_000));
    assert.equal(fixture.record(ALICE, 'child')?.trigger_enabled_quantity, '0.4');
    fixture.end(parent, ORDER_END.userRequested);
    checkpoint(fixture);
    assert.equal(fixture.record(ALICE, 'parent'), undefined);
    assert.deepEqual(
      [fixture.record(ALICE, 'child')?.parent_id, fixture.record(ALICE, 'child')?.trigger_enabled_quantity],
      ['parent', '0.4'],
    );
  });
});
