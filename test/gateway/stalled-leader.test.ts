// tier: quick
/** What a leader does whose lease is over (cluster.md 7.4): what adds is refused, what takes away is executed and answered once it is stored. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { OrderId, UserId } from '../../src/core/ids.ts';
import { ORDER_END } from '../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../src/core/reject.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { CANCELS_PER_USER_RESERVED, REQUESTS_PER_USER_MAX } from '../../src/gateway/orders/entry/pending-requests.ts';
import type { Cost } from '../../src/gateway/sessions/costs.ts';
import { EntryWorld } from '../support/entry-world.ts';
import { ALICE, BOB } from '../support/names.ts';
import { BASE, cancelRequest, codeOf, mustPass, NOW, OrderFixture } from '../support/order-fixture.ts';

suite('a stalled leader', () => {
  test('refuses what is no cancel with SERVICE_UNAVAILABLE, uncharged, and takes cancels (cluster.md 7.4)', () => {
    const world = new EntryWorld();
    const { requests } = world.fixture.manager;
    const adding: readonly Cost[] = ['action', 'historyPage', { bulk: 3 }];
    const taking: readonly Cost[] = ['cancel', 'cancelAll', 'deadMan', { bulkCancel: 3 }];
    for (const isStalled of [true, false]) {
      requests.isStalled = () => isStalled;
      for (const cost of adding) {
        world.charged.length = 0;
        const refusal = world.entry.admit(ALICE, cost);
        assert.equal(refusal?.code ?? null, isStalled ? 'SERVICE_UNAVAILABLE' : null);
        assert.equal(world.charged.length, isStalled ? 0 : 1);
      }
      for (const cost of taking) assert.equal(world.entry.admit(ALICE, cost), null);
    }
  });

  test('answers when the decision is flushed, and so stored, whatever `acks` says (cluster.md 7.4)', () => {
    const fixture = new OrderFixture();
    let isStalled = true;
    fixture.manager.requests.isStalled = () => isStalled;
    const sequence = fixture.place();
    assert.equal(fixture.sink.answers.length, 0);
    fixture.manager.onMarketDecided({ marketIndex: 3, sequence });
    assert.equal(fixture.sink.answers.length, 1);
    isStalled = false;
    fixture.place({ id: 'o2' });
    assert.equal(fixture.sink.answers.length, 2);
  });

  test('a cancel-all and a cancel-batch are stored when their markets have cancelled and all that they sent is (cluster.md 7.4)', () => {
    for (const kind of ['all', 'batch'] as const) {
      const world = new EntryWorld();
      const { fixture, cancels } = world;
      const sequence = fixture.place();
      let stored = 0;
      const count = (): void => {
        stored += 1;
      };
      const orderIds = ['order-1', 'unknown'] as OrderId[];
      const send = (): unknown =>
        kind === 'all'
          ? cancels.cancelAll({ user: ALICE, assetId: null, beforeNs: null }, null, count)
          : cancels.cancelBatch({ user: ALICE, assetId: BASE, orderIds }, null, count);
      assert.equal(send(), null);
      const [sent] = world.rings[0]?.read() ?? [];
      const cancelled = fixture.end(sequence, ORDER_END.userRequested);
      assert.equal(stored, 0, 'the market has not answered');
      fixture.answer(sent?.requestId ?? 0, cancelled);
      fixture.decide(sequence);
      assert.equal(stored, 0, 'its cancel is not stored');
      // Nothing is left to be cancelled, and the end of it is not stored either.
      assert.equal(send(), null);
      assert.deepEqual([stored, world.rings[0]?.read()], [0, []]);
      fixture.decide();
      assert.equal(stored, 2, kind);
      assert.equal(send(), null);
      assert.equal(stored, 3, 'at once where everything is stored');
    }
  });

  test('mass cancels that wait take from the share of their user: with many of one user others are still taken (AMB-111)', () => {
    const world = new EntryWorld();
    const { fixture, cancels } = world;
    fixture.place();
    let stored = 0;
    const cancelAll = (user: UserId): string | null =>
      cancels.cancelAll({ user, assetId: BASE, beforeNs: 1n as TimestampNs }, null, () => {
        stored += 1;
      })?.code ?? null;
    const most = REQUESTS_PER_USER_MAX + CANCELS_PER_USER_RESERVED;
    for (let sent = 0; sent < most; sent += 1) {
      assert.equal(cancelAll(BOB), null, `${sent}`);
    }
    assert.equal(cancelAll(BOB), 'SERVICE_UNAVAILABLE');
    assert.equal(cancelAll(ALICE), null);
    const [sent] = world.rings[0]?.read() ?? [];
    fixture.answer(sent?.requestId ?? 0);
    assert.equal(stored, 0);
    fixture.decide();
    assert.equal(stored, most + 1);
    assert.equal(cancelAll(BOB), null);
  });

  test('that an order is over is answered when its end is flushed, where answers wait for that (AMB-16, AMB-23, cluster.md 7.4)', () => {
    for (const waits of ['stalled', 'durable', 'neither'] as const) {
      const fixture = new OrderFixture();
      const { manager } = fixture;
      manager.requests.isStalled = () => waits === 'stalled';
      if (waits === 'durable') manager.requests.settings = { ...manager.requests.settings, acks: 'durable' };
      const order = fixture.place();
      fixture.decide();
      const before = fixture.sink.answers.length;
      fixture.end(order, ORDER_END.userRequested);
      const cancel = (): ReturnType<typeof manager.requests.checkCancel> =>
        manager.requests.checkCancel(cancelRequest(), { user: ALICE, now: NOW, looksUp: true });
      if (waits === 'neither') {
        assert.equal(codeOf(cancel()), 'ALREADY_CANCELLED');
        continue;
      }
      const requestId = mustPass(manager.requests.reserveCancel(mustPass(cancel()), fixture.sink.reply('order-1')));
      fixture.answer(requestId, 0, REJECT_CODE.ALREADY_CANCELLED);
      assert.equal(fixture.sink.answers.length, before, 'its end is not flushed');
      fixture.decide();
      assert.equal(fixture.sink.answers.length, before + 1);
      assert.equal(fixture.sink.answers.at(-1)?.answer.refusal?.code, 'ALREADY_CANCELLED');
      assert.equal(codeOf(cancel()), 'ALREADY_CANCELLED', 'from now on without its market');
    }
  });
});
