/** What the door keeps of those whom it tells margin figures. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { UserId } from '../../src/core/ids.ts';
import { MarginNews, STATS_INTERVAL_MS } from '../../src/gateway/margin-news.ts';
import type { OmsStreams } from '../../src/http/oms-backend.ts';
import { ALICE, MarginDesk, USD } from '../support/margin-desk.ts';
import { BOB } from '../support/order-desk.ts';

suite('account figures', () => {
  test('nothing is kept of who stops listening while others go on (STR-04, hazards I19)', () => {
    const desk = new MarginDesk();
    for (const user of [ALICE, BOB]) desk.spot(USD, 100, 1, user);
    let listeners: UserId[] = [ALICE, BOB];
    let nowMs = 0;
    const told: UserId[] = [];
    const streams = {
      listenersOf: () => listeners,
      accountStats: (user: UserId) => void told.push(user),
    } satisfies Partial<OmsStreams>;
    const news = new MarginNews({
      orders: desk.manager,
      streams: () => streams as unknown as OmsStreams,
      nowNs: () => desk.nowNs,
      nowMs: () => nowMs,
    });
    const round = (): readonly UserId[] => {
      nowMs += STATS_INTERVAL_MS;
      news.tellStats();
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
