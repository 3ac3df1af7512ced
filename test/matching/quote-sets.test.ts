// tier: quick
/** Quote sets in one market: one signature says what shall rest (QTE-01 to QTE-09). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MARKET_STATUS, ORDER_END, ROLLBACK_REASON, TIF } from '../../src/core/order-terms.ts';
import { SECOND_NS } from '../../src/core/units.ts';
import { ends, MarketFixture, names, only } from '../support/market-fixture.ts';
import { BUY, LIFE_NS, SELL, START_NS, type Told } from '../support/market-recorder.ts';
import type { QuoteWords } from '../support/quote-fixture.ts';

/** What the set did: name, side, price, rests. */
function did(told: readonly Told[]): unknown[] {
  return told
    .filter(([name]) => name.startsWith('quote') && !['quotesApplied', 'quotesRefused', 'quotesEnded'].includes(name))
    .map(([name, side, price, , , rests]) => [name, side, price, rests]);
}

/** The orders of a book side: [price, quantity, sequence], in the order of matching. */
function applied(told: readonly Told[]): Told | undefined {
  return only(told, 'quotesApplied')[0];
}

function started(): MarketFixture {
  const fixture = new MarketFixture();
  fixture.quotes(
    [
      [100, 5],
      [99, 5],
    ],
    [
      [110, 5],
      [111, 5],
    ],
  );
  fixture.wait(1n);
  return fixture;
}

suite('quote sets', () => {
  test('QTE-03: prices that left are cancelled and new ones inserted in one step, with one event and one diff', () => {
    const fixture = started();
    const told = fixture.quotes(
      [
        [101, 2],
        [100, 5],
      ],
      [
        [110, 3],
        [112, 4],
      ],
    );
    assert.deepEqual(names(told), [
      'quotesApplied',
      'quoteLeft',
      'quoteCreated',
      'quoteResized',
      'quoteLeft',
      'quoteCreated',
    ]);
    assert.deepEqual(did(told), [
      ['quoteLeft', BUY, 99, 5],
      ['quoteCreated', BUY, 101, 2],
      ['quoteResized', SELL, 110, 3],
      ['quoteLeft', SELL, 111, 5],
      ['quoteCreated', SELL, 112, 4],
    ]);
    assert.equal(only(told, 'depthCommitted').length, 1);
    assert.deepEqual(fixture.levels(BUY), [
      [101, 2],
      [100, 5],
    ]);
    assert.deepEqual(fixture.levels(SELL), [
      [110, 3],
      [112, 4],
    ]);
    // The event, and two new orders.
    assert.deepEqual(applied(told)?.slice(2, 6), [3, 1, 'mm', 1]);
  });

  test('QTE-03: no own entry crosses another, whatever rested before', () => {
    const fixture = started();
    const told = fixture.quotes([[115, 1]], [[116, 1]]);
    assert.deepEqual(only(told, 'ended', 'matched', 'quoteRefused'), []);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[[115, 1]], [[116, 1]]]);
  });

  test('QTE-02: not more at its price keeps its place in the queue, more goes to the tail', () => {
    for (const [quantity, first] of [
      [5, 'ada'],
      [4, 'ada'],
      [6, 'bob'],
    ] as const) {
      const fixture = new MarketFixture();
      fixture.quotes([[100, 5]], []);
      fixture.buy('other', 5, 100, { user: 'bob' });
      fixture.wait(1n);
      fixture.quotes([[100, quantity]], []);
      const told = fixture.sell('s', 1, 100, { user: 'eve' });
      const [matched] = only(told, 'matched');
      assert.equal(matched?.[3] === 2 ? 'ada' : 'bob', first, `${quantity}`);
    }
  });

  test('QTE-01: the quantity is what rests: after a fill the same again rests all of it', () => {
    const fixture = started();
    fixture.sell('s', 4, 100, { user: 'eve' });
    const told = fixture.quotes([[100, 5]], [], { boughtSeen: 4 });
    assert.deepEqual(did(told)[1], ['quoteResized', BUY, 100, 5]);
    assert.deepEqual(fixture.levels(BUY), [[100, 5]]);
  });

  test('QTE-01: lots that the gateway has not seen are taken off farthest from the market first', () => {
    const fixture = started();
    fixture.sell('s', 6, 99, { user: 'eve' });
    const bids = [
      [102, 2],
      [101, 2],
      [100, 3],
    ] as const;
    const told = fixture.quotes(bids, [], { boughtSeen: 1 });
    assert.deepEqual(fixture.levels(BUY), [[102, 2]]);
    assert.deepEqual(did(told), [
      // It rested after the fill of one of its lots.
      ['quoteLeft', BUY, 99, 4],
      ['quoteOut', BUY, 100, 0],
      ['quoteCreated', BUY, 102, 2],
      ['quoteLeft', SELL, 110, 5],
      ['quoteLeft', SELL, 111, 5],
    ]);
    fixture.wait(1n);
    // Another side is not touched by what bids have traded.
    fixture.quotes([], [[120, 7]], { boughtSeen: 1 });
    assert.deepEqual(fixture.levels(SELL), [[120, 7]]);
  });

  test('QTE-05: an entry that would cross is left out and the others are applied', () => {
    const fixture = new MarketFixture();
    fixture.sell('ask', 5, 100, { user: 'bob' });
    const told = fixture.quotes(
      [
        [101, 1],
        [100, 2],
        [99, 3],
      ],
      [[105, 1]],
    );
    assert.deepEqual(did(told), [
      ['quoteCreated', BUY, 99, 3],
      ['quoteRefused', BUY, 100, 2],
      ['quoteRefused', BUY, 101, 1],
      ['quoteCreated', SELL, 105, 1],
    ]);
    assert.deepEqual(only(told, 'matched'), []);
    // It is no entry, so its price is a new insertion (QTE-02).
    fixture.cancel('ask', { user: 'bob' });
    fixture.wait(1n);
    assert.deepEqual(did(fixture.quotes([[101, 1]], [])).at(-1), ['quoteLeft', SELL, 105, 1]);
    assert.deepEqual(fixture.levels(BUY), [[101, 1]]);
  });

  test('QTE-05: with self-trade prevention own orders in the way end as for a post-only order, before the event', () => {
    const fixture = new MarketFixture();
    fixture.preventSelfTrades();
    fixture.sell('own', 5, 100);
    const told = fixture.quotes([[100, 2]], []);
    assert.deepEqual(names(told), ['ended', 'quotesApplied', 'quoteCreated']);
    assert.deepEqual(ends(told), [[1, 'SelfTradePrevented', 5]]);
    fixture.sell('foreign', 5, 101, { user: 'bob' });
    fixture.sell('own-2', 5, 102);
    fixture.wait(1n);
    assert.deepEqual(did(fixture.quotes([[102, 2]], [])), [
      ['quoteLeft', BUY, 100, 2],
      ['quoteRefused', BUY, 102, 2],
    ]);
    assert.deepEqual(fixture.levels(SELL), [
      [101, 5],
      [102, 5],
    ]);
  });

  test('QTE-04: what only takes away is applied in every status, what adds as a whole or not at all', () => {
    for (const status of [MARKET_STATUS.cancelOnly, MARKET_STATUS.halted]) {
      const fixture = started();
      fixture.setMarket(status);
      const told = fixture.quotes(
        [
          [101, 1],
          [100, 4],
          [99, 6],
        ],
        [],
      );
      assert.deepEqual(applied(told)?.[6], 'MARKET_HALTED');
      assert.deepEqual(did(told), [
        ['quoteResized', BUY, 100, 4],
        ['quoteLeft', SELL, 110, 5],
        ['quoteLeft', SELL, 111, 5],
      ]);
      assert.deepEqual(fixture.levels(BUY), [
        [100, 4],
        [99, 5],
      ]);
    }
    const fixture = started();
    const told = fixture.quotes([[100, 7]], [[110, 2]], { onlyTakes: true });
    assert.deepEqual(applied(told)?.[6], '');
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[[100, 5]], [[110, 2]]]);
  });

  test('QTE-04: a level that is full refuses all that the set adds, and what it takes away is applied', () => {
    const fixture = started();
    fixture.buy('large', Number.MAX_SAFE_INTEGER - 5, 98, { user: 'bob' });
    const told = fixture.quotes(
      [
        [101, 1],
        [98, 6],
      ],
      [],
    );
    assert.equal(applied(told)?.[6], 'INVALID_ORDER');
    assert.deepEqual(fixture.levels(BUY), [[98, Number.MAX_SAFE_INTEGER - 5]]);
  });

  test('QTE-06: ids count on, pass over what is taken, and are never given twice', () => {
    const fixture = new MarketFixture();
    fixture.buy('mm:2', 1, 50);
    fixture.quotes([[100, 1]], []);
    fixture.wait(1n);
    assert.equal(fixture.quotes([[101, 1]], []).find(([name]) => name === 'quoteCreated')?.[6], 3);
    assert.deepEqual(ends(fixture.cancel('mm:3')), [[5, 'UserRequested', 1]]);
    fixture.wait(1n);
    assert.equal(fixture.quotes([[101, 1]], []).find(([name]) => name === 'quoteCreated')?.[6], 4);
    assert.deepEqual(only(fixture.replace('mm:4', { quantity: 9 }), 'replaceRefused')[0]?.[2], 'QUOTE_ENTRY');
    assert.deepEqual(
      only(fixture.replace('mm:4', { quantity: 9, amends: null }), 'replaceRefused')[0]?.[2],
      'QUOTE_ENTRY',
    );
  });

  test('QTE-06: the id of an entry that left and never traded is taken, and was cancelled; it is in no memory', () => {
    const fixture = new MarketFixture();
    fixture.quotes([[100, 1]], []);
    fixture.wait(1n);
    fixture.quotes([[101, 1]], []);
    assert.equal(only(fixture.buy('mm:1', 1, 50), 'createRefused')[0]?.[3], 'DUPLICATE_ORDER');
    assert.equal(only(fixture.cancel('mm:1', { mayPark: true }), 'cancelRefused')[0]?.[2], 'ALREADY_CANCELLED');
    assert.equal(only(fixture.replace('mm:1', { quantity: 9 }), 'replaceRefused')[0]?.[2], 'ALREADY_CANCELLED');
    for (const free of ['mm:3', 'mm:01', 'mm:', 'mm', 'mn:1', 'mm:1a', 'm:1'])
      assert.equal(only(fixture.buy(free, 1, 50), 'accepted').length, 1, free);
    assert.equal(only(fixture.buy('mm:1', 1, 50, { user: 'eve' }), 'accepted').length, 1, 'of another user');
  });

  test('QTE-06: four sets of a user; another name takes the place of one that is over, and numbers go on', () => {
    const fixture = new MarketFixture();
    for (const name of ['a', 'b', 'c', 'd']) {
      const told = fixture.quotes([[100, 1]], [], { name });
      assert.equal(applied(told)?.[4], name);
    }
    fixture.wait(1n);
    assert.deepEqual(only(fixture.quotes([[90, 1]], [], { name: 'e' }), 'quotesRefused')[0]?.[2], 'TOO_MANY_QUOTES');
    fixture.quotes([], [], { name: 'b' });
    const old = fixture.quotes([[90, 1]], [], { name: 'e' });
    assert.equal(only(old, 'quotesRefused')[0]?.[2], 'REQUEST_TOO_OLD', 'its revision is that of the forgotten set');
    fixture.wait(1n);
    const told = fixture.quotes([[90, 1]], [], { name: 'e' });
    assert.deepEqual(applied(told)?.slice(3, 5), [2, 'e']);
    assert.equal(told.find(([name]) => name === 'quoteCreated')?.[6], 2);
  });

  /** Four sets with a bid each, of which the first is filled. */
  function filled(): { readonly fixture: MarketFixture; readonly trade: Told } {
    const fixture = new MarketFixture();
    for (const [at, name] of ['a', 'b', 'c', 'd'].entries()) fixture.quotes([[100 - at, 1]], [], { name });
    const [trade] = only(fixture.sell('t', 1, 100, { user: 'eve' }), 'matched');
    assert.ok(trade !== undefined);
    fixture.wait(10n);
    return { fixture, trade };
  }
  const refusals = (told: readonly Told[]): unknown => only(told, 'quotesRefused')[0]?.[2];

  test('QTE-06: a set of which all was filled ends for another name once its fills are decided, and not before', () => {
    const { fixture, trade } = filled();
    const quoted = (words: Partial<QuoteWords>): Told[] => fixture.quotes([[90, 1]], [], { name: 'e', ...words });
    assert.equal(refusals(quoted({})), 'TOO_MANY_QUOTES', 'a rollback may bring it back');
    fixture.engine.settled(trade[2] as number);
    // What is refused takes nothing: neither the revision of the set that would be forgotten nor an expired one.
    assert.equal(refusals(quoted({ revisionNs: START_NS })), 'REQUEST_TOO_OLD');
    assert.equal(refusals(quoted({ goodUntilNs: fixture.nowNs })), 'ORDER_EXPIRED');
    const told = quoted({ revisionNs: START_NS + 1n });
    assert.deepEqual(only(told, 'quotesEnded')[0]?.slice(2), [1, 'UserRequested', START_NS], 'its mark stays');
    assert.deepEqual(applied(told)?.slice(3, 5), [1, 'e']);
    assert.equal(told.find(([name]) => name === 'quoteCreated')?.[6], 2, 'its number goes on');
    fixture.engine.checkInvariants();
    // The forgotten name comes back with the next slot, above what is durable.
    fixture.quotes([], [], { name: 'b' });
    assert.equal(refusals(fixture.quotes([[80, 1]], [], { name: 'a', revisionNs: START_NS })), 'REQUEST_TOO_OLD');
  });

  test('QTE-06: a set that a rollback brought back keeps its slot', () => {
    const { fixture, trade } = filled();
    fixture.rollback(trade, ROLLBACK_REASON.counterpartyAtFault, ROLLBACK_REASON.insufficientInventory);
    fixture.engine.settled(trade[2] as number);
    assert.equal(refusals(fixture.quotes([[90, 1]], [], { name: 'e' })), 'TOO_MANY_QUOTES');
    assert.deepEqual(fixture.levels(BUY)[0], [100, 1]);
  });

  test('QTE-01: lots of a name that takes a slot are counted from what the gateway has counted of it', () => {
    const { fixture, trade } = filled();
    fixture.engine.settled(trade[2] as number);
    const name = 'e';
    fixture.quotes([[105, 3]], [], { name, boughtSeen: 7 });
    fixture.wait(1n);
    fixture.sell('u', 2, 105, { user: 'eve' });
    const told = fixture.quotes([[104, 9]], [], { name, boughtSeen: 7 });
    assert.deepEqual(did(only(told, 'quoteCreated')), [['quoteCreated', BUY, 104, 7]]);
  });

  test('QTE-07: a fill from before the applied revision that rolls back restores nothing to its price', () => {
    const { counterpartyAtFault, insufficientInventory } = ROLLBACK_REASON;
    for (const isWhole of [false, true]) {
      const fixture = started();
      const [old] = only(fixture.sell('s', isWhole ? 5 : 4, 100, { user: 'eve' }), 'matched');
      fixture.quotes([[100, 5]], [], { boughtSeen: isWhole ? 5 : 4 });
      const told = fixture.rollback(old, counterpartyAtFault, insufficientInventory);
      assert.deepEqual(only(told, 'restored'), []);
      assert.deepEqual(fixture.levels(BUY), [[100, 5]]);
      const innocent = ends(told).filter((end) => (end as unknown[])[1] === 'RolledBack');
      assert.deepEqual(innocent, isWhole ? [[2, 'RolledBack', 5]] : []);
      const [later] = only(fixture.sell('t', 5, 100, { user: 'eve' }), 'matched');
      assert.deepEqual(fixture.levels(BUY), []);
      fixture.rollback(later, counterpartyAtFault, insufficientInventory);
      assert.deepEqual(fixture.levels(BUY), [[100, 5]], 'a fill of the revision in force comes back');
    }
  });

  test('QTE-07: the node takes off an entry what rests at most: what is filled stays its total, and comes back where the fill is undone', () => {
    const { counterpartyAtFault, insufficientInventory, insufficientMargin } = ROLLBACK_REASON;
    for (const [to, taken] of [
      [4, 1],
      [2, 2],
      [1, 2],
    ] as const) {
      for (const isAtFault of [false, true]) {
        const fixture = started();
        const [fill] = only(fixture.sell('s', 3, 100, { user: 'eve' }), 'matched');
        const cut = fixture.replace('mm:1', { quantity: to, isNodeMade: true });
        assert.deepEqual(
          only(cut, 'replaced').map((told) => [told[2], told[5]]),
          [[2, taken]],
          'the lots that were taken off',
        );
        assert.deepEqual(ends(cut), taken === 2 ? [[2, 'Filled', 0]] : []);
        const undone = isAtFault
          ? fixture.rollback(fill, insufficientMargin, counterpartyAtFault)
          : fixture.rollback(fill, counterpartyAtFault, insufficientInventory);
        const rests = isAtFault ? [] : [[100, 5 - taken]];
        assert.deepEqual(
          fixture.levels(BUY).filter(([price]) => price === 100),
          rests,
          `${to} ${isAtFault}`,
        );
        assert.equal(ends(undone).length, 1, 'the side at fault');
      }
    }
  });

  test('QTE-07: an entry with a pending cancel ends when its fill is rolled back, whatever became of its set meanwhile', () => {
    const { counterpartyAtFault, insufficientInventory } = ROLLBACK_REASON;
    for (const isReplaced of [false, true]) {
      const fixture = started();
      const [old] = only(fixture.sell('s', 5, 100, { user: 'eve' }), 'matched');
      if (isReplaced) {
        fixture.cancel('mm:1');
        fixture.quotes([[99, 5]], [], { boughtSeen: 5 });
      } else fixture.cancelAll();
      const told = fixture.rollback(old, counterpartyAtFault, insufficientInventory);
      assert.ok(
        ends(told).some((end) => JSON.stringify(end) === '[2,"UserRequested",5]'),
        `${isReplaced}`,
      );
      assert.deepEqual(fixture.levels(BUY), isReplaced ? [[99, 5]] : []);
    }
  });

  test('QTE-02: entries that are kept with other terms count as made at the new revision', () => {
    const fixture = started();
    fixture.quotes([[100, 5]], [], { maxFeeRate: 200, goodUntilNs: START_NS + LIFE_NS / 2n });
    fixture.wait(1n);
    fixture.quotes([[100, 5]], [], { maxFeeRate: 300, goodUntilNs: START_NS + LIFE_NS / 3n });
    assert.deepEqual(ends(fixture.cancelAll({ beforeNs: fixture.nowNs })), []);
    assert.deepEqual(ends(fixture.cancelAll({ beforeNs: fixture.nowNs + 1n })), [[2, 'UserRequested', 5]]);
  });

  test('QTE-07: what is kept with undecided fills is named with what rests of it', () => {
    const fixture = started();
    fixture.sell('s', 4, 100, { user: 'eve' });
    const told = fixture.quotes(
      [[100, 1]],
      [
        [110, 5],
        [111, 5],
      ],
      { boughtSeen: 4 },
    );
    assert.deepEqual(did(told), [
      ['quoteLeft', BUY, 99, 5],
      ['quoteKept', BUY, 100, 1],
    ]);
    assert.equal(applied(told)?.[5], 3);
    fixture.settleAll();
  });

  test('QTE-07: an owner at fault in an old fill loses the entry', () => {
    const fixture = started();
    const [old] = only(fixture.sell('s', 4, 100, { user: 'eve' }), 'matched');
    fixture.quotes([[100, 5]], [], { boughtSeen: 4 });
    const told = fixture.rollback(old, ROLLBACK_REASON.insufficientInventory, ROLLBACK_REASON.counterpartyAtFault);
    assert.deepEqual(ends(told), [[2, 'AtFault', 5]]);
    assert.deepEqual(fixture.levels(BUY), []);
  });

  test('QTE-09: a revision up to the high-water mark changes nothing; a cancel-all raises the mark to its time', () => {
    const fixture = started();
    const bids = [[100, 9]] as const;
    assert.equal(only(fixture.quotes(bids, [], { revisionNs: START_NS }), 'quotesRefused')[0]?.[2], 'REQUEST_TOO_OLD');
    fixture.wait(10n * SECOND_NS);
    const told = fixture.cancelAll();
    assert.deepEqual(only(told, 'quotesEnded').at(0)?.slice(2), [1, 'UserRequested', START_NS + 1n + 10n * SECOND_NS]);
    for (const revisionNs of [START_NS + 5n * SECOND_NS, fixture.nowNs])
      assert.equal(only(fixture.quotes(bids, [], { revisionNs }), 'quotesRefused')[0]?.[2], 'REQUEST_TOO_OLD');
    assert.deepEqual(fixture.levels(BUY), []);
    fixture.quotes(bids, [], { revisionNs: fixture.nowNs + 1n });
    assert.deepEqual(fixture.levels(BUY), [[100, 9]]);
  });

  test('QTE-09: a cancel-all of one side, or of what is older, raises marks and ends no set', () => {
    const fixture = started();
    fixture.wait(10n);
    const told = fixture.cancelAll({ sideOnly: 1 });
    assert.deepEqual(only(told, 'quotesEnded').at(0)?.slice(2), [1, '', fixture.nowNs]);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL).length], [[], 2]);
    fixture.wait(10n);
    const before = fixture.nowNs + 5n;
    assert.deepEqual(
      only(fixture.cancelAll({ beforeNs: before }), 'quotesEnded')
        .at(0)
        ?.slice(2),
      [1, '', before - 1n],
    );
    fixture.quotes([[100, 1]], [], { revisionNs: before });
    assert.deepEqual(fixture.levels(BUY), [[100, 1]]);
  });

  test('QTE-09: a set that is ended ends with its entries, and its text is over', () => {
    const fixture = started();
    fixture.wait(10n);
    const told = fixture.endQuotes('mm', ORDER_END.liquidation);
    assert.deepEqual(ends(told).length, 4);
    assert.deepEqual(only(told, 'quotesEnded').at(0)?.slice(2), [1, 'Liquidation', fixture.nowNs]);
    assert.deepEqual(only(fixture.endQuotes('none'), 'quoteSetsEnded')[0]?.[2], 'ORDER_NOT_FOUND');
    assert.deepEqual(only(fixture.endQuotes(), 'quoteSetsEnded')[0]?.[2], '');
  });

  test('QTE-09: a cancel of one side of a set takes that side alone, ends nothing, and raises the mark of the whole set', () => {
    const fixture = started();
    const [trade] = only(fixture.sell('t', 5, 100, { user: 'eve', tif: TIF.ioc }), 'matched');
    assert.ok(trade !== undefined);
    fixture.wait(10n);
    const told = fixture.endQuotes('mm', ORDER_END.userRequested, { sideOnly: 1 });
    assert.deepEqual(ends(told).length, 1);
    assert.equal(only(told, 'cancelPending').length, 1, 'what is filled comes back to no cancelled side');
    assert.deepEqual(only(told, 'quotesEnded')[0]?.slice(2), [1, '', fixture.nowNs]);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL).length], [[], 2]);
    fixture.rollback(trade, ROLLBACK_REASON.counterpartyAtFault, ROLLBACK_REASON.insufficientInventory);
    assert.deepEqual(fixture.levels(BUY), []);
    assert.equal(refusals(fixture.quotes([[100, 1]], [], { revisionNs: fixture.nowNs - 1n })), 'REQUEST_TOO_OLD');
    const revised = fixture.quotes([[100, 1]], [[110, 5]], { revisionNs: fixture.nowNs + 1n, boughtSeen: 5 });
    assert.deepEqual(names(revised), ['quotesApplied', 'quoteCreated', 'quoteLeft']);
  });

  test('QTE-09: a cancel of what is older than an instant lets revisions from then on rest, and a group means its members', () => {
    const fixture = started();
    fixture.wait(10n);
    const before = fixture.nowNs - 3n;
    assert.equal(
      ends(fixture.endQuotes('mm', ORDER_END.userRequested, { beforeNs: START_NS })).length,
      0,
      'none is older',
    );
    assert.equal(ends(fixture.endQuotes('mm', ORDER_END.userRequested, { protectionGroup: 2 })).length, 0, 'no member');
    const other = started();
    other.wait(10n);
    assert.equal(ends(other.endQuotes('mm', ORDER_END.userRequested, { beforeNs: before })).length, 4);
    assert.equal(refusals(other.quotes([[100, 1]], [], { revisionNs: before - 1n })), 'REQUEST_TOO_OLD');
    assert.equal(applied(other.quotes([[100, 1]], [], { revisionNs: before }))?.[4], 'mm');
  });

  test('QTE-01: at good-until the set ends with its last entry', () => {
    const fixture = new MarketFixture();
    const goodUntilNs = START_NS + 60n * SECOND_NS;
    fixture.quotes([[100, 1]], [[110, 1]], { goodUntilNs });
    fixture.wait(1n);
    // Kept entries get the new instant.
    fixture.quotes([[100, 1]], [[110, 1]], { goodUntilNs: goodUntilNs + SECOND_NS });
    assert.deepEqual(only(fixture.wait(60n * SECOND_NS), 'ended'), []);
    const told = fixture.wait(2n * SECOND_NS);
    assert.deepEqual(names(told), ['ended', 'ended', 'quotesEnded']);
    assert.deepEqual(only(told, 'quotesEnded')[0]?.[3], 'Expired');
    const later = new MarketFixture();
    later.quotes([[100, 1]], []);
    assert.deepEqual(names(later.wait(LIFE_NS + 1n)), ['ended', 'quotesEnded']);
  });

  test('QTE-01: the target of a set with entries cannot change; of an empty one it can', () => {
    const fixture = started();
    assert.equal(only(fixture.quotes([], [], { subAccount: 1 }), 'quotesRefused')[0]?.[2], 'INVALID_ORDER');
    fixture.quotes([], []);
    fixture.wait(1n);
    assert.equal(applied(fixture.quotes([[1, 1]], [], { subAccount: 1 }))?.[4], 'mm');
  });
});
