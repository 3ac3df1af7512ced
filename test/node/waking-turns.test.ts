/** How many parked orders one turn of the gateway wakes: much is done in parts, with requests in between (AMB-110). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { WOKEN_PER_BATCH } from '../../src/gateway/gateway-actor.ts';
import { KEPT_PER_USER_MAX } from '../../src/gateway/kept-orders.ts';
import { WATCHED_PER_TURN } from '../../src/gateway/orders/sleepers.ts';
import { WakingDoor } from '../support/waking-door.ts';

suite('turns of a front door whose orders sleep', () => {
  test('words that wake very many orders end the batch early, and the rest of them comes in the next ones', () => {
    const waking = new WakingDoor();
    const users = Math.ceil((3 * WOKEN_PER_BATCH) / KEPT_PER_USER_MAX);
    waking.tell({ users, each: KEPT_PER_USER_MAX, isMargin: false });
    waking.restored();
    waking.actor.endBatch();
    assert.equal(waking.gateway.orders.ordersWoken, 0);
    let [user, batches] = [0, 0];
    for (; user < users; batches += 1) {
      const before = waking.gateway.orders.ordersWoken;
      while (waking.isReady && user < users) {
        waking.ended(user * KEPT_PER_USER_MAX + 1);
        user += 1;
      }
      const woken = waking.gateway.orders.ordersWoken - before;
      assert.ok(woken < WOKEN_PER_BATCH + KEPT_PER_USER_MAX, `${woken} at once`);
      waking.actor.endBatch();
      assert.ok(waking.isReady, 'every batch takes a word');
    }
    assert.ok(batches >= 3, `${batches}`);
    assert.equal(waking.gateway.orders.ordersWoken, users * KEPT_PER_USER_MAX);
    assert.equal(waking.pokes, 0);
  });

  test('words of users that are awake end no batch early', () => {
    const waking = new WakingDoor();
    const each = KEPT_PER_USER_MAX + 1;
    const users = Math.ceil((2 * WOKEN_PER_BATCH) / each);
    waking.tell({ users, each, isMargin: false });
    waking.restored();
    waking.actor.endBatch();
    for (let order = 1; order <= users * each; order += 1) {
      assert.ok(waking.isReady);
      waking.ended(order);
    }
  });

  test('margin-type accounts are woken from the end of the start on, so many orders a turn, without a pause (AR-01)', () => {
    const waking = new WakingDoor();
    const [users, each] = [2 * WATCHED_PER_TURN, 3];
    waking.tell({ users, each, isMargin: true });
    assert.deepEqual([waking.gateway.orders.ordersWoken, waking.pokes], [0, 0], 'orders may follow of any of them');
    waking.restored();
    let turns = 0;
    for (let isOver = false; !isOver; turns += 1) {
      const [before, pokes] = [waking.gateway.orders.ordersWoken, waking.pokes];
      waking.actor.endBatch();
      const woken = waking.gateway.orders.ordersWoken - before;
      isOver = waking.gateway.orders.ordersWoken === users * each;
      assert.ok(woken < WATCHED_PER_TURN + each && (isOver || woken >= WATCHED_PER_TURN), `${woken} in a turn`);
      assert.equal(waking.pokes - pokes, isOver ? 0 : 1, 'it asks for a turn while others sleep');
    }
    assert.ok(turns >= 6, `${turns}`);
  });
});
