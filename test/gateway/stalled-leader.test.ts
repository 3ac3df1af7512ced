// tier: quick
/** What a leader does whose lease is over (cluster.md 7.4): what adds is refused, what takes away is executed and answered once it is stored. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Cost } from '../../src/gateway/sessions/costs.ts';
import { EntryWorld } from '../support/entry-world.ts';
import { ALICE } from '../support/names.ts';
import { OrderFixture } from '../support/order-fixture.ts';

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
});
