// tier: quick
/** Replace, cancel, parked cancels and the memory of order ids. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MARKET_STATUS, ORDER_END, ROLLBACK_REASON, TIF, TRIGGER } from '../../src/core/order-terms.ts';
import { ends, fills, MarketFixture, names, only } from '../support/market-fixture.ts';
import { BUY, LIFE_NS, SELL, START_NS, type Told } from '../support/market-recorder.ts';

const SECOND_NS = 1_000_000_000n;
const { counterpartyAtFault } = ROLLBACK_REASON;

suite('replace', () => {
  const at = (ns: bigint): { timestampNs: bigint } => ({ timestampNs: START_NS + ns });

  test('same price and no more of it keeps the queue place, more of it goes to the back (AMB-19)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 5, 100);
    fixture.buy('b', 5, 100);
    assert.deepEqual(
      only(fixture.replace('a', { quantity: 3, ...at(1n) }), 'replaced')[0]?.slice(2, 6),
      [1, 1, 100, 3],
    );
    assert.deepEqual(
      only(fixture.replace('a', { quantity: 4, ...at(2n) }), 'replaced')[0]?.slice(2, 6),
      [1, 4, 100, 4],
    );
    assert.deepEqual(fills(fixture.sell('t', 6, 100)), [
      [2, 5, 100, 5],
      [1, 5, 100, 1],
    ]);
  });

  test('a new price goes to the back of its level and takes what it crosses (AMB-19)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 1, 105);
    fixture.buy('a', 3, 100);
    const told = fixture.replace('a', { price: 105, ...at(1n) });
    assert.deepEqual(told.map(([name]) => name).slice(0, 2), ['replaced', 'matched']);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[[105, 2]], []]);
  });

  test('the id stays: it is taken, and finds the order as before (RPL-04)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 5, 100);
    fixture.replace('a', { price: 99, ...at(1n) });
    assert.equal(fixture.buy('a', 1, 100)[0]?.[3], 'DUPLICATE_ORDER');
    assert.deepEqual(ends(fixture.cancel('a')), [[1, 'UserRequested', 5]]);
  });

  test('the new quantity is the total, filled part included (AMB-19, RPL-08, wire G4)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 10, 100);
    fixture.sell('t', 4, 100);
    fixture.replace('a', { quantity: 6, ...at(1n) });
    assert.deepEqual(fixture.levels(BUY), [[100, 2]]);
  });

  test('asking for no more than is filled completes the order (AMB-19, wire G4)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 10, 100);
    fixture.sell('t', 4, 100);
    const told = fixture.replace('a', { quantity: 4, ...at(1n) });
    assert.deepEqual([only(told, 'replaced').length, ends(told)], [1, [[1, 'Filled', 0]]]);
    assert.deepEqual(fixture.levels(BUY), []);
  });

  test('a post-only order that would take at its new price is cancelled (AMB-19)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 1, 105);
    fixture.buy('a', 3, 100, { postOnly: true });
    const told = fixture.replace('a', { price: 105, ...at(1n) });
    assert.deepEqual(ends(told), [[2, 'PostOnlyWouldCross', 3]]);
    assert.deepEqual(only(told, 'replaceRefused'), [['replaceRefused', 3, 'WOULD_CROSS']]);
    assert.deepEqual(fixture.levels(BUY), []);
  });

  test('older is too old, equal and identical is a success, equal and different is too old (RPL-09, AMB-21)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 3, 100);
    assert.deepEqual(fixture.replace('a', { price: 99, ...at(-1n) }), [['replaceRefused', 2, 'REQUEST_TOO_OLD']]);
    assert.deepEqual(fixture.replace('a', { price: 99, ...at(0n) }), [['replaceRefused', 3, 'REQUEST_TOO_OLD']]);
    assert.equal(only(fixture.replace('a', { price: 99, ...at(5n) }), 'replaced').length, 1);
    assert.deepEqual(fixture.replace('a', { price: 99, ...at(5n) }), [['replaceUnchanged', 5, 1]]);
    assert.deepEqual(fixture.replace('a', { price: 98, ...at(4n) }), [['replaceRefused', 6, 'REQUEST_TOO_OLD']]);
    assert.deepEqual(fixture.levels(BUY), [[99, 3]]);
  });

  test('only a resting order is replaced (RPL-10, RPL-11, AMB-23)', () => {
    const fixture = new MarketFixture();
    fixture.buy('filled', 1, 100);
    fixture.sell('t', 1, 100);
    fixture.buy('gone', 1, 100);
    fixture.cancel('gone');
    const answer = (orderId: string): unknown => fixture.replace(orderId, { price: 99, ...at(1n) })[0]?.[2];
    assert.deepEqual(['filled', 'gone', 'never'].map(answer), [
      'ORDER_NOT_FOUND',
      'ALREADY_CANCELLED',
      'ORDER_NOT_FOUND',
    ]);
  });
});

suite("the node's own reductions", () => {
  test('a smaller total keeps price, place and timestamp; one that is no smaller changes nothing (AMB-61)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 5, 100);
    fixture.buy('b', 5, 100);
    const told = only(fixture.replace('a', { quantity: 2, timestampNs: 0n, isNodeMade: true }), 'replaced')[0];
    assert.deepEqual(told?.slice(2, 6), [1, 1, 100, 2]);
    const user = fixture.replace('a', { quantity: 3, timestampNs: START_NS + 1n });
    assert.equal(only(user, 'replaced').length, 1, 'the user’s next replace is not older than the reduction');
    assert.equal(fixture.replace('a', { quantity: 3, timestampNs: 0n, isNodeMade: true })[0]?.[0], 'replaceUnchanged');
  });

  test('what was filled meanwhile completes the order, its end comes first (AMB-19)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 5, 100);
    fixture.sell('t', 3, 100);
    assert.deepEqual(ends(fixture.replace('a', { quantity: 3, timestampNs: 0n, isNodeMade: true })), [
      [1, 'Filled', 0],
    ]);
    assert.equal(fixture.replace('a', { quantity: 1, timestampNs: 0n, isNodeMade: true })[0]?.[0], 'replaceRefused');
  });

  test('a cancel of the node ends the order with the node’s reason (AMB-61, G21)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 5, 100);
    fixture.sell('t', 2, 100);
    assert.deepEqual(ends(fixture.cancel('a', { end: ORDER_END.autoReduced })), [[1, 'AutoReduced', 3]]);
    assert.equal(fixture.cancel('a')[0]?.[2], 'ALREADY_CANCELLED');
  });
});

suite('cancel', () => {
  test('takes the remainder off at once; a second one is late (CAN-04, CAN-12, AMB-23)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 3, 100);
    fixture.sell('t', 1, 100);
    assert.deepEqual(fixture.cancel('a').slice(0, 2), [
      ['ended', 4, 1, 'UserRequested', 0, 2, 3],
      ['cancelAccepted', 3, 1],
    ]);
    assert.deepEqual(fixture.cancel('a'), [['cancelRefused', 4, 'ALREADY_CANCELLED']]);
    fixture.settleAll();
    assert.deepEqual(fixture.cancel('a'), [['cancelRefused', 5, 'ALREADY_CANCELLED']]);
  });

  test('filled, expired and unknown orders are not found (AMB-23)', () => {
    const fixture = new MarketFixture();
    fixture.buy('filled', 1, 100);
    fixture.sell('t', 1, 100);
    fixture.settleAll();
    fixture.buy('expired', 1, 100, { tif: TIF.gtd, lifeNs: 10n });
    fixture.wait(10n);
    const answer = (orderId: string): unknown => fixture.cancel(orderId)[0]?.[2];
    assert.deepEqual(['filled', 'expired', 'never'].map(answer), Array(3).fill('ORDER_NOT_FOUND'));
  });

  test('with all of it pending it is received, and forbids the restore (AMB-23, AMB-32 d)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 3, 100);
    const [fill] = only(fixture.sell('t', 3, 100), 'matched');
    assert.deepEqual(fixture.cancel('a'), [
      ['cancelPending', 4, 1],
      ['cancelAccepted', 3, 1],
    ]);
    assert.deepEqual(fixture.cancel('a'), [['cancelRefused', 4, 'ALREADY_CANCELLED']]);
    const told = fixture.rollback(fill, counterpartyAtFault, ROLLBACK_REASON.insufficientInventory);
    assert.deepEqual(ends(told), [
      [2, 'AtFault', 3],
      [1, 'UserRequested', 3],
    ]);
  });

  test('one user cannot cancel another’s order (AMB-22)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 3, 100);
    assert.deepEqual(fixture.cancel('a', { user: 'bob' }), [['cancelRefused', 2, 'ORDER_NOT_FOUND']]);
  });
});

suite('parked cancels', () => {
  test('a cancel that comes before its create rejects the first create, once (CTL-05, AMB-25)', () => {
    const fixture = new MarketFixture();
    assert.deepEqual(fixture.cancel('a', { mayPark: true }), [['cancelAccepted', 1, 0]]);
    assert.deepEqual(fixture.buy('a', 1, 100), [['createRefused', 0, 2, 'ALREADY_CANCELLED']]);
    assert.equal(fixture.buy('a', 1, 100)[0]?.[0], 'accepted');
    assert.deepEqual(fixture.wait(10n * SECOND_NS), []);
  });

  test('after five seconds without a create it gives up (AMB-25)', () => {
    const fixture = new MarketFixture();
    fixture.cancel('a', { mayPark: true });
    assert.deepEqual(fixture.wait(5n * SECOND_NS - 1n), []);
    assert.deepEqual(fixture.wait(1n), [['parkedCancelExpired', 'ada', 'a']]);
    assert.equal(fixture.buy('a', 1, 100)[0]?.[0], 'accepted');
  });

  test('a thousand per user and no more (AMB-25)', () => {
    const fixture = new MarketFixture();
    for (let i = 0; i < 1_000; i++) assert.equal(fixture.cancel(`a${i}`, { mayPark: true })[0]?.[0], 'cancelAccepted');
    assert.deepEqual(fixture.cancel('more', { mayPark: true }), [['cancelRefused', 1_001, 'ORDER_NOT_FOUND']]);
    assert.equal(fixture.cancel('a7', { mayPark: true })[0]?.[0], 'cancelAccepted', 'what is held already is held');
    assert.equal(fixture.cancel('more', { mayPark: true, user: 'bob' })[0]?.[0], 'cancelAccepted');
    assert.equal(fixture.wait(5n * SECOND_NS).length, 1_001);
    assert.equal(fixture.cancel('more', { mayPark: true })[0]?.[0], 'cancelAccepted');
  });

  test('both bounds are settings, for cancels from then on (AMB-25)', () => {
    const fixture = new MarketFixture();
    fixture.cancel('long', { mayPark: true });
    fixture.engine.setParkedCancels(SECOND_NS, 2);
    assert.equal(fixture.cancel('short', { mayPark: true, user: 'bob' })[0]?.[0], 'cancelAccepted');
    assert.equal(fixture.cancel('second', { mayPark: true })[0]?.[0], 'cancelAccepted');
    assert.deepEqual(fixture.cancel('third', { mayPark: true }), [['cancelRefused', 4, 'ORDER_NOT_FOUND']]);
    assert.deepEqual(fixture.wait(5n * SECOND_NS), [
      ['parkedCancelExpired', 'ada', 'long'],
      ['parkedCancelExpired', 'bob', 'short'],
      ['parkedCancelExpired', 'ada', 'second'],
    ]);
    fixture.cancel('short', { mayPark: true });
    assert.deepEqual(fixture.wait(SECOND_NS - 1n), []);
    assert.deepEqual(fixture.wait(1n), [['parkedCancelExpired', 'ada', 'short']]);
  });

  test('without the hold an unknown order is not found and nothing waits (CAN-03)', () => {
    const fixture = new MarketFixture();
    assert.deepEqual(fixture.cancel('a'), [['cancelRefused', 1, 'ORDER_NOT_FOUND']]);
    assert.equal(fixture.buy('a', 1, 100)[0]?.[0], 'accepted');
  });
});

suite('order ids', () => {
  test('an id is taken while it lives and 30 days from its creation (AMB-08, wire G1)', () => {
    const fixture = new MarketFixture();
    fixture.buy('a', 1, 100);
    assert.equal(fixture.buy('a', 1, 100)[0]?.[3], 'DUPLICATE_ORDER');
    fixture.cancel('a');
    fixture.wait(LIFE_NS - 1n);
    assert.equal(fixture.buy('a', 1, 100)[0]?.[3], 'DUPLICATE_ORDER');
    fixture.nowNs += 1n;
    assert.equal(fixture.buy('a', 1, 100)[0]?.[0], 'accepted');
  });

  test('ids are per user, case-sensitive, and 1 to 64 bytes long (AMB-07, AMB-08)', () => {
    const fixture = new MarketFixture();
    const ids = ['a', 'A', 'aa', 'aaaa', 'aaaaa', 'x'.repeat(63), 'x'.repeat(64), `${'x'.repeat(63)}y`];
    for (const user of ['ada', 'bob'])
      for (const id of ids) assert.equal(fixture.buy(id, 1, 100, { user })[0]?.[0], 'accepted', id);
    for (const id of ids) assert.equal(fixture.buy(id, 1, 100)[0]?.[3], 'DUPLICATE_ORDER', id);
  });

  test('a full memory drops the id that ended first, and refuses what could be its replay (AMB-08)', () => {
    const fixture = new MarketFixture({ rememberedIdsPerUserMax: 2 });
    for (const [i, id] of ['a', 'b', 'c'].entries()) {
      fixture.buy(id, 1, 100, { creationNs: START_NS + BigInt(i) });
      fixture.cancel(id);
    }
    assert.equal(fixture.buy('a', 1, 100, { creationNs: START_NS })[0]?.[3], 'REQUEST_TOO_OLD');
    assert.equal(fixture.buy('b', 1, 100, { creationNs: START_NS })[0]?.[3], 'DUPLICATE_ORDER');
    assert.equal(fixture.buy('d', 1, 100, { creationNs: START_NS, user: 'bob' })[0]?.[0], 'accepted');
    assert.equal(fixture.buy('a', 1, 100, { creationNs: START_NS + 1n })[0]?.[0], 'accepted');
  });
});

suite('amends', () => {
  const T = START_NS;
  const codeOf = (told: readonly Told[]): unknown => {
    const [first] = told;
    return first?.[0] === 'replaceRefused' ? first.at(-1) : first?.[0];
  };

  test('it lowers the total, keeps the place in the queue and raises the timestamp, in every market status (wire-additions.md 4.3)', () => {
    for (const status of Object.values(MARKET_STATUS)) {
      const fixture = new MarketFixture();
      fixture.sell('a', 5, 100);
      fixture.sell('b', 5, 100, { user: 'bob' });
      fixture.engine.setMarket({ status, selfTradePrevention: true });
      const [told] = fixture.replace('a', { quantity: 2, timestampNs: T + 10n, amends: null });
      assert.deepEqual(told, ['replaced', 3, 1, 1, 100, 2, T + 10n, 3, 0, 0], String(status));
      assert.deepEqual(fixture.levels(SELL), [[100, 7]]);
    }
  });

  test('it never enlarges, and never applies to terms for which it was not made: check and change are one step', () => {
    const fixture = new MarketFixture();
    fixture.sell('a', 5, 100);
    const amend = (quantity: number, timestampNs: bigint, amends: bigint | null): unknown =>
      codeOf(fixture.replace('a', { quantity, timestampNs, amends }));
    for (const quantity of [5, 6]) assert.equal(amend(quantity, T + 10n, null), 'INVALID_ORDER');
    for (const revision of [T, 0n]) {
      assert.equal(
        amend(4, T + 10n, revision),
        'ORDER_REVISION_MISMATCH',
        'neither its creation nor 0 is its revision',
      );
    }
    assert.equal(amend(4, T, null), 'REQUEST_TOO_OLD', 'not above its creation');
    assert.equal(codeOf(fixture.replace('a', { quantity: 4, timestampNs: T + 20n })), 'replaced');
    assert.equal(amend(3, T + 30n, null), 'ORDER_REVISION_MISMATCH');
    assert.equal(amend(3, T + 20n, T + 20n), 'REQUEST_TOO_OLD', 'not above the revision');
    assert.equal(amend(3, T + 30n, T + 20n), 'replaced');
    assert.equal(amend(2, T + 40n, T + 30n), 'replaced', 'an amend is a revision');
    assert.equal(codeOf(fixture.replace('a', { quantity: 9, timestampNs: T + 35n })), 'REQUEST_TOO_OLD');
    assert.deepEqual(fixture.levels(SELL), [[100, 2]]);
  });

  test('a reduction by the node leaves the revision', () => {
    const fixture = new MarketFixture();
    fixture.sell('a', 5, 100);
    fixture.replace('a', { quantity: 4, isNodeMade: true });
    assert.equal(codeOf(fixture.replace('a', { quantity: 3, timestampNs: T + 10n, amends: null })), 'replaced');
    fixture.replace('a', { quantity: 2, isNodeMade: true });
    assert.equal(codeOf(fixture.replace('a', { quantity: 1, timestampNs: T + 20n, amends: T + 10n })), 'replaced');
  });

  test('a total that is not above what is filled ends the order; a dormant one is lowered where it waits', () => {
    const fixture = new MarketFixture();
    fixture.sell('a', 5, 100);
    fixture.buy('t', 3, 100, { user: 'bob' });
    const told = fixture.replace('a', { quantity: 3, timestampNs: T + 10n, amends: null });
    assert.deepEqual([names(told).slice(0, 2), ends(told)], [['replaced', 'ended'], [[1, 'Filled', 0]]]);
    fixture.buy('w', 5, 90, { above: 120 });
    const [waiting] = fixture.replace('w', { quantity: 2, timestampNs: T + 10n, amends: null });
    assert.deepEqual(waiting?.slice(0, 1), ['replaced']);
    assert.deepEqual(waiting?.slice(-2), [TRIGGER.above, 120], 'it keeps its trigger');
  });

  test('without an order that rests or waits: 404 or 409, as for a replace (AMB-23)', () => {
    const fixture = new MarketFixture();
    const amend = (id: string): unknown =>
      codeOf(fixture.replace(id, { quantity: 1, timestampNs: T + 10n, amends: null }));
    assert.equal(amend('none'), 'ORDER_NOT_FOUND');
    fixture.sell('a', 5, 100);
    fixture.cancel('a');
    assert.equal(amend('a'), 'ALREADY_CANCELLED');
  });
});
