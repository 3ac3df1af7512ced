// tier: quick
/** Children: trigger orders that come alive as their parent fills. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ORDER_END, ROLLBACK_REASON, TIF } from '../../src/core/order-terms.ts';
import { ends, fills, MarketFixture, names, type OrderWords, only, releases } from '../support/market-fixture.ts';
import { SELL, START_NS } from '../support/market-recorder.ts';

const { counterpartyAtFault: OTHER, insufficientInventory: OWN } = ROLLBACK_REASON;
/** A condition that every trade fulfils. */
const ANY = { above: 1, parent: 'parent' };

/** A parent that buys 10 at 100, order 1, and a child of it that sells at 110, order 2. */
function family(quantity = 10, words: OrderWords = {}): MarketFixture {
  const fixture = new MarketFixture();
  fixture.buy('parent', 10, 100);
  fixture.sell('child', quantity, 110, { ...ANY, ...words });
  return fixture;
}

let sells = 0;
/** A sell order fills the parent. */
function fill(fixture: MarketFixture, quantity: number): ReturnType<MarketFixture['sell']> {
  return fixture.sell(`to-parent-${++sells}`, quantity, 100, { user: 'bob', tif: TIF.ioc });
}

suite('who may be a parent', () => {
  test('a live limit order of the same user, of the other side and the same sub-account (TRG-04, TRG-05, AMB-29)', () => {
    const fixture = new MarketFixture();
    fixture.buy('parent', 10, 100);
    assert.deepEqual(fixture.sell('child', 5, 110, ANY)[0], ['accepted', 2, 'ada', 'child', 1]);
    assert.deepEqual(fixture.buy('a', 5, 110, ANY)[0]?.slice(1), [0, 3, 'INVALID_ORDER']);
    assert.deepEqual(fixture.sell('b', 5, 110, { ...ANY, subAccount: 2 })[0]?.slice(1), [0, 4, 'INVALID_ORDER']);
    assert.deepEqual(fixture.sell('c', 5, 110, { ...ANY, user: 'bob' })[0]?.slice(1), [0, 5, 'ORDER_NOT_FOUND']);
    assert.deepEqual(fixture.sell('d', 5, 110, { ...ANY, parent: 'nobody' })[0]?.[3], 'ORDER_NOT_FOUND');
    assert.deepEqual(fixture.sell('a', 5, 110)[0]?.[0], 'accepted', 'a refused child leaves its id free');
  });

  test('a parent is not conditional, not even when it was released (TRG-06)', () => {
    const fixture = new MarketFixture();
    fixture.buy('parent', 10, 100, { above: 1 });
    assert.equal(fixture.sell('a', 5, 110, ANY)[0]?.[3], 'INVALID_ORDER');
    fixture.buy('m', 1, 90);
    fixture.sell('n', 1, 90, { user: 'bob' });
    fixture.runTriggers();
    assert.equal(fixture.sell('b', 5, 110, ANY)[0]?.[3], 'INVALID_ORDER');
  });

  test('it may be filled while its fills are pending, not when it is over (AMB-29)', () => {
    const fixture = new MarketFixture();
    fixture.buy('parent', 10, 100);
    fill(fixture, 10);
    assert.equal(fixture.sell('a', 5, 110, ANY)[0]?.[0], 'accepted');
    fixture.settleAll();
    assert.equal(fixture.sell('b', 5, 110, ANY)[0]?.[3], 'ORDER_NOT_FOUND');
  });

  test('filled, it has no child that wants more than it has filled: clearing may have dropped it (AMB-29, AMB-110)', () => {
    const fixture = new MarketFixture();
    fixture.buy('parent', 10, 100);
    fixture.sell('early', 15, 110, ANY);
    const [match] = only(fill(fixture, 10), 'matched');
    assert.deepEqual(fixture.sell('late', 11, 110, ANY)[0]?.slice(1, 2), [0]);
    assert.equal(fixture.sell('late', 11, 110, ANY)[0]?.[3], 'INVALID_ORDER');
    assert.equal(fixture.sell('late', 10, 110, ANY)[0]?.[0], 'accepted');
    fixture.rollback(match, OTHER, OWN);
    assert.equal(fixture.sell('later', 11, 110, ANY)[0]?.[0], 'accepted', 'it is in the book again');
  });

  test('filled or ended, it lets no child grow beyond its fills; a child may shrink (AMB-19, AMB-29)', () => {
    const fixture = new MarketFixture();
    let at = START_NS;
    const resize = (quantity: number) => names(fixture.replace('child', { quantity, timestampNs: ++at }));
    fixture.buy('parent', 10, 100);
    fixture.sell('child', 5, 110, ANY);
    assert.deepEqual(resize(12), ['replaced'], 'it may fill yet');
    assert.deepEqual(resize(6), ['replaced']);
    fill(fixture, 8);
    assert.deepEqual(resize(11), ['replaced']);
    assert.deepEqual(resize(6), ['replaced']);
    fill(fixture, 2);
    assert.deepEqual(resize(11), ['replaceRefused']);
    assert.deepEqual(resize(10), ['replaced']);
    assert.deepEqual(resize(9), ['replaced']);
    fixture.settleAll();
    assert.deepEqual(resize(11), ['replaced'], 'all of it was activated: an order like any other');
  });

  test('ended with fills undecided, it lets no child grow: some of them may roll back (AMB-29)', () => {
    const fixture = family(5);
    fill(fixture, 8);
    fixture.cancel('parent');
    const refused = fixture.replace('child', { quantity: 6, timestampNs: START_NS + 1n });
    assert.deepEqual(only(refused, 'replaceRefused')[0]?.at(-1), 'INVALID_ORDER');
  });
});

suite('children', () => {
  test('as much can be released as its parent’s confirmed fills have activated (TRG-07, AMB-29)', () => {
    const fixture = family();
    fill(fixture, 4);
    assert.deepEqual(fixture.poll(), [], 'pending fills activate nothing');
    assert.deepEqual(releases(fixture.runTriggers()), [
      ['triggered', 2, 4],
      ['activated', 2, 4],
    ]);
    assert.deepEqual(fixture.levels(SELL), [[110, 4]]);
  });

  test('never more than its quantity (AMB-29)', () => {
    const fixture = family(3);
    fill(fixture, 8);
    assert.deepEqual(releases(fixture.runTriggers()), [
      ['triggered', 2, 3],
      ['activated', 2, 3],
    ]);
  });

  test('a condition that holds before anything is activated is told with nothing; later activations release at once (AMB-29)', () => {
    const fixture = family();
    fixture.buy('m', 1, 101, { user: 'bob' });
    fixture.sell('n', 1, 101, { user: 'bob' });
    assert.deepEqual(releases(fixture.runTriggers()), [['triggered', 2, 0]]);
    assert.deepEqual(fixture.release(2, 0), []);
    assert.deepEqual(fixture.poll(), [], 'nothing to release');
    fill(fixture, 4);
    assert.deepEqual(releases(fixture.runTriggers()), [
      ['triggered', 2, 4],
      ['activated', 2, 4],
    ]);
  });

  test('what grows on the book goes to the back of its queue, with all that is activated told (AMB-29)', () => {
    const fixture = family();
    fill(fixture, 4);
    fixture.runTriggers();
    fixture.sell('rival', 5, 110);
    fill(fixture, 2);
    assert.deepEqual(releases(fixture.runTriggers()), [
      ['triggered', 2, 6],
      ['activated', 2, 6],
    ]);
    assert.deepEqual(fixture.levels(SELL), [[110, 11]]);
    assert.deepEqual(
      fills(fixture.buy('b', 11, 110, { user: 'bob' })).map((each) => (each as number[])[3]),
      [5, 6],
    );
  });

  test('what was filled so far and grows is placed anew (AMB-29)', () => {
    const fixture = family();
    fill(fixture, 4);
    fixture.runTriggers();
    fixture.buy('taker', 4, 110, { user: 'bob' });
    fill(fixture, 3);
    fixture.buy('waiting', 1, 110, { user: 'bob' });
    assert.deepEqual(fills(fixture.runTriggers()).at(-1), [11, 2, 110, 1]);
    assert.deepEqual(fixture.levels(SELL), [[110, 2]]);
    assert.deepEqual(ends(fixture.cancel('child')), [[2, 'UserRequested', 5]], 'total less filled');
  });

  test('a growth of which the gateway has not spoken keeps what is in force (AMB-28, AMB-29)', () => {
    const fixture = family();
    fill(fixture, 4);
    fixture.runTriggers();
    fill(fixture, 2);
    fixture.settleAll();
    fixture.poll();
    fill(fixture, 2);
    fixture.settleAll();
    fixture.poll();
    assert.deepEqual(fixture.release(2, 6), [], 'overtaken');
    assert.deepEqual(fixture.poll(), []);
    assert.deepEqual(ends(fixture.release(2, 8, ORDER_END.marginInsufficient)), [[2, 'MarginInsufficient', 10]]);
    assert.deepEqual(fixture.levels(SELL), []);
  });

  test('an immediate child takes what each activation gives, drops the rest, and ends with the last one (AMB-29)', () => {
    const fixture = family(6, { tif: TIF.ioc });
    fill(fixture, 4);
    fixture.buy('bid', 3, 110, { user: 'bob' });
    const first = fixture.runTriggers();
    assert.deepEqual([fills(first), ends(first)], [[[5, 2, 110, 3]], []]);
    fill(fixture, 6);
    fixture.buy('bid 2', 9, 110, { user: 'bob' });
    const second = fixture.runTriggers();
    assert.deepEqual([fills(second).length, ends(second)], [1, [[2, 'ImmediateOrCancel', 1]]]);
    assert.equal((fills(second)[0] as number[])[3], 2);
  });

  test('an immediate child that gets all of it is filled, and nobody says so (AMB-29)', () => {
    const fixture = family(4, { tif: TIF.ioc });
    fill(fixture, 4);
    fixture.buy('bid', 4, 110, { user: 'bob' });
    const told = fixture.runTriggers();
    assert.deepEqual([fills(told).length, ends(told)], [1, []]);
  });

  test('a fill-or-kill child whose activation cannot be filled whole ends (TIF-04, AMB-29)', () => {
    const fixture = family(6, { tif: TIF.fok });
    fill(fixture, 4);
    fixture.buy('bid', 3, 110, { user: 'bob' });
    const told = fixture.runTriggers();
    assert.deepEqual([fills(told), ends(told)], [[], [[2, 'FillOrKill', 6]]]);
  });

  test('the cap of a market child counts for all its activations (ORD-15, AMB-29)', () => {
    const fixture = new MarketFixture();
    fixture.sell('parent', 10, 100);
    fixture.marketBuy('child', { lots: 6, quote: 450, ...ANY });
    fixture.buy('to-parent', 3, 100, { user: 'bob', tif: TIF.ioc });
    fixture.sell('offer', 3, 90, { user: 'bob' });
    assert.equal((fills(fixture.runTriggers())[0] as number[])[3], 3);
    fixture.buy('to-parent 2', 3, 100, { user: 'bob', tif: TIF.ioc });
    fixture.sell('offer 2', 9, 95, { user: 'bob' });
    const told = fixture.runTriggers();
    assert.deepEqual([(fills(told)[0] as number[])[3], ends(told)], [1, [[2, 'Filled', 2]]]);
  });
});

suite('a parent that is over', () => {
  test('cancelled before anything was activated, it takes its child along (AMB-29)', () => {
    const fixture = family();
    assert.deepEqual(only(fixture.cancel('parent'), 'ended', 'cancelAccepted'), [
      ['ended', 3, 1, 'UserRequested', 0, 10, 3],
      ['ended', 4, 2, 'ParentCanceled', 0, 10, 0],
      ['cancelAccepted', 3, 1],
    ]);
    assert.equal(fixture.cancel('child')[0]?.[2], 'ALREADY_CANCELLED');
  });

  test('the activated part stays, told as a replace that nobody asked for (AMB-29)', () => {
    const fixture = family();
    fill(fixture, 4);
    fixture.runTriggers();
    const told = fixture.cancel('parent');
    assert.deepEqual(only(told, 'replaced')[0]?.slice(2), [2, 6, 110, 4, START_NS, 0, 0, 0]);
    assert.deepEqual(fixture.levels(SELL), [[110, 4]]);
    assert.deepEqual(only(fixture.replace('child', { quantity: 5, timestampNs: START_NS + 1n }), 'replaced').length, 1);
  });

  test('its pending fills are waited for (AMB-29)', () => {
    const fixture = family();
    fill(fixture, 4);
    assert.deepEqual(names(fixture.cancel('parent')), ['ended', 'cancelAccepted']);
    assert.deepEqual(names(fixture.settleAll()), ['replaced']);
    assert.deepEqual(releases(fixture.runTriggers()), [
      ['triggered', 2, 4],
      ['activated', 2, 4],
    ]);
  });

  test('if they are rolled back nothing was activated (AMB-29)', () => {
    const fixture = family();
    const [match] = only(fill(fixture, 4), 'matched');
    fixture.cancel('parent');
    assert.deepEqual(ends(fixture.rollback(match, OTHER, OWN)).at(-1), [2, 'ParentCanceled', 10]);
  });

  test('filled, it leaves a child that needs no more untouched (AMB-29)', () => {
    const fixture = family(7);
    fill(fixture, 10);
    assert.deepEqual(names(fixture.settleAll()), []);
    assert.deepEqual(releases(fixture.runTriggers()).length, 2);
  });

  test('filled for less than its child wants, it leaves the child as much as it filled (AMB-29)', () => {
    const fixture = family(15);
    fill(fixture, 10);
    assert.deepEqual(only(fixture.settleAll(), 'replaced')[0]?.slice(2, 6), [2, 2, 110, 10]);
  });

  test('a child that was filled as far as it was activated is filled (AMB-29, AMB-128)', () => {
    const fixture = family();
    fill(fixture, 4);
    fixture.runTriggers();
    fixture.buy('taker', 4, 110, { user: 'bob' });
    assert.deepEqual(only(fixture.cancel('parent'), 'replaced', 'ended').slice(1), [
      ['replaced', 10, 2, 6, 110, 4, START_NS, 0, 0, 0],
      ['ended', 11, 2, 'Filled', 0, 0, 0],
    ]);
  });

  test('expired, it does the same (ORD-20, AMB-29)', () => {
    const fixture = new MarketFixture();
    fixture.buy('parent', 10, 100, { tif: TIF.gtd, lifeNs: 10n });
    fixture.sell('child', 10, 110, ANY);
    assert.deepEqual(ends(fixture.wait(10n)), [
      [1, 'Expired', 10],
      [2, 'ParentCanceled', 10],
    ]);
  });
});

suite('rollbacks of a child’s fills', () => {
  test('what was filled so far comes back as any other order does (AMB-32 b)', () => {
    const fixture = family();
    fill(fixture, 4);
    fixture.runTriggers();
    const [match] = only(fixture.buy('taker', 4, 110, { user: 'bob', tif: TIF.ioc }), 'matched');
    assert.deepEqual(only(fixture.rollback(match, OTHER, OWN), 'restored')[0]?.slice(2), [2, 6, 4]);
    assert.deepEqual(fixture.levels(SELL), [[110, 4]]);
  });

  test('at fault it ends, the part that was never activated included (AMB-32)', () => {
    const fixture = family();
    fill(fixture, 4);
    fixture.runTriggers();
    const [match] = only(fixture.buy('taker', 4, 110, { user: 'bob', tif: TIF.ioc }), 'matched');
    assert.deepEqual(ends(fixture.rollback(match, OWN, OTHER))[0], [2, 'AtFault', 10]);
  });
});

suite('one end', () => {
  test('a market child that lost its parent is told as filled once, whatever rolls back later (AMB-29, AMB-128)', () => {
    const fixture = new MarketFixture();
    fixture.buy('parent', 10, 90);
    fixture.marketSell('child', { lots: 10, ...ANY });
    fixture.sell('to-parent', 4, 90, { user: 'bob', tif: TIF.ioc });
    fixture.settleAll();
    fixture.buy('bid', 4, 95, { user: 'cyd' });
    fixture.poll();
    fixture.release(2, 4);
    const sold = only(fixture.poll(), 'matched')[0];
    const over = fixture.cancel('parent');
    assert.deepEqual(ends(over).at(-1), [2, 'Filled', 0]);
    assert.deepEqual(
      ends(fixture.rollback(sold, OWN, OTHER)).map((end) => (end as unknown[])[0]),
      [5],
      'the maker alone',
    );
  });

  test('an order that was replaced to its fills has ended: its own fault later ends it no second time (AMB-19, AMB-32)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 10, 100);
    const first = only(fixture.buy('a', 3, 100, { user: 'bob' }), 'matched')[0];
    const second = only(fixture.buy('b', 2, 100, { user: 'cyd' }), 'matched')[0];
    assert.ok(first !== undefined && second !== undefined);
    fixture.nowNs += 1n;
    assert.deepEqual(ends(fixture.replace('m', { quantity: 3 })), [[1, 'Filled', 0]]);
    assert.deepEqual(
      ends(fixture.rollback(second, OWN, OTHER)).filter((end) => (end as unknown[])[0] === 1),
      [],
    );
  });
});

suite('bounds of a release', () => {
  test('a parent has at most 16 children: each of its fills is work for all of them (TRG-07)', () => {
    const fixture = new MarketFixture();
    fixture.buy('parent', 10, 100);
    for (let i = 0; i < 16; i++) assert.equal(fixture.sell(`c${i}`, 1, 110, ANY)[0]?.[0], 'accepted');
    assert.equal(fixture.sell('one-more', 1, 110, ANY)[0]?.[3], 'TOO_MANY_OPEN_ORDERS');
    fixture.cancel('c3');
    assert.equal(fixture.sell('one-more', 1, 110, ANY)[0]?.[0], 'accepted');
  });

  test('an answer to an earlier word is no answer, though it names the same lots (AMB-28)', () => {
    const fixture = family();
    fill(fixture, 4);
    fixture.settleAll();
    const [, sequence] = only(fixture.poll(), 'triggered')[0] ?? [];
    fixture.nowNs += 1n;
    fixture.replace('child', { price: 111 });
    fixture.poll();
    assert.deepEqual(fixture.release(2, 4, ORDER_END.marginInsufficient, { triggered: Number(sequence) }), []);
    fixture.release(2, 4);
    assert.deepEqual(names(fixture.poll()), ['activated']);
  });

  test('a released market order uses what the gateway set aside, and no more (AMB-39)', () => {
    const fixture = new MarketFixture();
    fixture.marketBuy('stop', { lots: 10, above: 100 });
    fixture.sell('a', 20, 100, { user: 'bob' });
    fixture.buy('t', 1, 100, { user: 'cyd' });
    fixture.settleAll();
    fixture.poll();
    fixture.release(1, 10, 0, { budget: 3 * 100 });
    const told = fixture.poll();
    assert.deepEqual(
      fills(told).map((fill) => (fill as number[])[3]),
      [3],
    );
    assert.deepEqual(ends(told), [[1, 'ImmediateOrCancel', 7]]);
  });

  test('what has expired by the time of a poll is not matched by it (ORD-20)', () => {
    const fixture = new MarketFixture();
    fixture.sell('m', 5, 100, { user: 'bob', lifeNs: 50n });
    fixture.buy('stop', 3, 100, { above: 100, tif: TIF.ioc });
    fixture.buy('t', 1, 100, { user: 'cyd' });
    fixture.settleAll();
    fixture.poll();
    fixture.release(2, 3);
    fixture.nowNs += 50n;
    assert.deepEqual(ends(fixture.poll()), [
      [1, 'Expired', 4],
      [2, 'ImmediateOrCancel', 3],
    ]);
  });
});
