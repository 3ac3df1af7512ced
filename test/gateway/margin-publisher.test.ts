// tier: quick
/** What the gateway keeps of the subscribers of margin figures. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { UserId } from '../../src/core/ids.ts';
import { MarginPublisher, STATS_INTERVAL_MS } from '../../src/gateway/margin-publisher.ts';
import type { UserEventStreams } from '../../src/gateway/user-streams.ts';
import { ALICE, MarginFixture, USD } from '../support/margin-fixture.ts';
import { BOB } from '../support/names.ts';

suite('account figures', () => {
  test('nothing is kept of who stops listening while others go on (STR-04, hazards I19)', () => {
    const fixture = new MarginFixture();
    for (const user of [ALICE, BOB]) fixture.spot(USD, 100, 1, user);
    let listeners: UserId[] = [ALICE, BOB];
    let nowMs = 0;
    const told: UserId[] = [];
    const streams = {
      listenersOf: () => listeners,
      accountStats: (user: UserId) => void told.push(user),
    } satisfies Partial<UserEventStreams>;
    const publisher = new MarginPublisher({
      orders: fixture.manager,
      streams: () => streams as unknown as UserEventStreams,
      nowNs: () => fixture.nowNs,
      nowMs: () => nowMs,
    });
    const round = (): readonly UserId[] => {
      nowMs += STATS_INTERVAL_MS;
      publisher.publishStats();
      return told.splice(0);
    };
    assert.deepEqual(round(), [ALICE, BOB]);
    assert.deepEqual(round(), [], 'nothing has changed');
    listeners = [ALICE];
    assert.deepEqual(round(), []);
    listeners = [ALICE, BOB];
    assert.deepEqual(round(), [BOB], 'he is told like somebody who never listened');
  });
});
