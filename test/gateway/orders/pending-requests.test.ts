// tier: quick
/** Requests on their way: what one user may have of the table that all share (AMB-111), and who may hold cancels (AMB-25). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type OrderId, USD } from '../../../src/core/ids.ts';
import type { MarketSlot } from '../../../src/gateway/orders/book/markets.ts';
import {
  CANCELS_PER_USER_RESERVED,
  type OrderRequest,
  PendingRequests,
  REQUESTS_MAX,
  REQUESTS_PER_MARKET_MAKER_MAX,
  REQUESTS_PER_USER_MAX,
  UNANSWERED,
} from '../../../src/gateway/orders/entry/pending-requests.ts';
import { ALICE, BOB } from '../../support/names.ts';
import { BASE, cancelRequest, codeOf, mustPass, NOW, OrderFixture } from '../../support/order-fixture.ts';

const MARKET_SLOT = { decidedSequence: 0 } as MarketSlot;

function request(user = ALICE, market = MARKET_SLOT): OrderRequest {
  const request = { kind: 'create', user, orderId: 'o' as OrderId, market, order: null, replace: null } as const;
  return { ...request, signed: null, membership: null, reply: UNANSWERED };
}

suite('requests on their way', () => {
  test('a user, and a market maker, has a part of the table; cancels have more of it (AMB-111)', () => {
    const requests = new PendingRequests();
    for (let count = 0; count < REQUESTS_PER_USER_MAX; count += 1) requests.add(request());
    assert.deepEqual(
      [
        requests.isWithinShare('create', ALICE, false),
        requests.isWithinShare('replace', ALICE, false),
        requests.hasRoomFor('create'),
      ],
      [false, false, true],
    );
    assert.ok(requests.isWithinShare('create', BOB, false), 'another user has its own part');
    assert.ok(requests.isWithinShare('cancel', ALICE, false, CANCELS_PER_USER_RESERVED));
    assert.ok(!requests.isWithinShare('cancel', ALICE, false, CANCELS_PER_USER_RESERVED + 1));
    for (let at = REQUESTS_PER_USER_MAX; at < REQUESTS_PER_MARKET_MAKER_MAX; at += 1) requests.add(request());
    assert.ok(!requests.isWithinShare('create', ALICE, true));
    assert.ok(4 * REQUESTS_PER_MARKET_MAKER_MAX <= REQUESTS_MAX && 32 * REQUESTS_PER_USER_MAX <= REQUESTS_MAX);
  });

  test('a request counts until its answer is sent, with durable acks after the flush (AMB-16)', () => {
    const requests = new PendingRequests();
    const market = { decidedSequence: 0 } as MarketSlot;
    const all = [request(ALICE, market), request(ALICE, market), request(BOB, market)];
    const ids = all.map((one) => requests.add(one));
    const tell = (at: number, sequence: number): void => {
      const taken = requests.take(ids[at] as number);
      assert.equal(taken, all[at]);
      requests.answerWhenDecided(all[at] as OrderRequest, sequence, { refusal: null, processedAtNs: NOW });
    };
    assert.deepEqual([requests.countOf(ALICE), requests.countOf(BOB)], [2, 1]);
    tell(0, 0);
    tell(1, 5);
    tell(2, 7);
    assert.deepEqual([requests.countOf(ALICE), requests.countOf(BOB)], [1, 1], 'two wait for their flush');
    market.decidedSequence = 5;
    requests.marketDecided(market);
    assert.deepEqual([requests.countOf(ALICE), requests.countOf(BOB)], [0, 1]);
    requests.answerAll();
    assert.deepEqual([requests.countOf(BOB), requests.count], [0, 0]);
  });

  test('one user who floods a market that does not answer is refused, others are served, cancels of both go on', () => {
    const fixture = new OrderFixture();
    const first = fixture.place({ id: 'first', quantity: 10 });
    assert.ok(first > 0);
    for (let count = 0; count < REQUESTS_PER_USER_MAX; count += 1) {
      mustPass(fixture.manager.requests.reserveCancel({ ...cancelOf(fixture), user: ALICE }));
    }
    assert.equal(codeOf(fixture.request({ id: 'next', quantity: 10 })), 'SERVICE_UNAVAILABLE');
    assert.equal(codeOf(fixture.request({ id: 'next', quantity: 10, user: BOB })), 'ok');
    assert.ok(
      fixture.manager.requests.checkCancel(cancelRequest('first'), { user: ALICE, now: NOW, looksUp: true }).ok,
    );
  });

  test('a cancel waits for its create only of a user who may have one: a key that owns nothing holds none (AMB-25)', () => {
    const fixture = new OrderFixture();
    const control = { user: ALICE, now: NOW, looksUp: false };
    const check = () => codeOf(fixture.manager.requests.checkCancel(cancelRequest('never'), control));
    assert.equal(check(), 'ok');
    for (const asset of [USD, BASE]) fixture.setOwned(ALICE, asset, 0n);
    assert.equal(check(), 'ORDER_NOT_FOUND');
    fixture.setOwned(ALICE, USD, 1n);
    assert.equal(check(), 'ok');
  });
});

function cancelOf(fixture: OrderFixture): Parameters<OrderFixture['manager']['requests']['reserveCancel']>[0] {
  return mustPass(
    fixture.manager.requests.checkCancel(cancelRequest('first'), { user: ALICE, now: NOW, looksUp: true }),
  );
}
