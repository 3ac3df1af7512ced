// tier: quick
/** Protection of market makers in the engine: what counts, when a group trips, and what that takes off the book. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ROLLBACK_REASON, TIF } from '../../src/core/order-terms.ts';
import { SECOND_NS } from '../../src/core/units.ts';
import { FillWindow, WINDOW_ENTRIES_MAX } from '../../src/matching/fill-window.ts';
import { ends, fills, MarketFixture, names, only } from '../support/market-fixture.ts';
import { BUY, SELL, type Told } from '../support/market-recorder.ts';
import { propertyParameters } from '../support/property.ts';

const { counterpartyAtFault: INNOCENT, insufficientMargin: AT_FAULT } = ROLLBACK_REASON;
const MEMBER = { user: 'mm', group: 1 } as const;
const BY_BOB = { user: 'bob' } as const;

/** [limit, frozen until] of each trip. */
function trips(told: readonly Told[]): unknown[] {
  return only(told, 'protectionTriggered').map(([, , , , limit, untilNs]) => [limit, untilNs]);
}

function refusals(told: readonly Told[]): unknown[] {
  return only(told, 'createRefused').map(([, , , code]) => code);
}

/** Three asks and a bid of one lot each, of a group. */
function quoted(terms: Parameters<MarketFixture['protect']>[1]): MarketFixture {
  const fixture = new MarketFixture();
  fixture.protect('mm', terms);
  fixture.sell('a1', 1, 101, MEMBER);
  fixture.sell('a2', 1, 102, MEMBER);
  fixture.sell('a3', 1, 103, MEMBER);
  fixture.buy('b1', 1, 99, MEMBER);
  return fixture;
}

suite('protection of market makers', () => {
  test('a limit takes all members off the book before the next fill, in the middle of the match of one taker (MMP-03)', () => {
    const fixture = quoted({ maxFills: 2 });
    fixture.sell('c', 5, 104, { user: 'cyd' });
    const told = fixture.buy('t', 4, 104, BY_BOB);
    assert.deepEqual(
      fills(told).map((fill) => (fill as number[])[0]),
      [1, 2, 5],
      'the third ask of the group is passed over',
    );
    assert.deepEqual(names(told), [
      'accepted',
      'matched',
      'matched',
      'protectionTriggered',
      'matched',
      'ended',
      'ended',
    ]);
    assert.deepEqual(ends(told), [
      [3, 'MarketMakerProtection', 1],
      [4, 'MarketMakerProtection', 1],
    ]);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[], [[104, 3]]]);
  });

  test('what is left of the maker that trips rests no longer either (MMP-03)', () => {
    const fixture = new MarketFixture();
    fixture.protect('mm', { maxFills: 1 });
    fixture.sell('a', 5, 100, MEMBER);
    assert.deepEqual(ends(fixture.buy('t', 2, 100, BY_BOB)), [[1, 'MarketMakerProtection', 3]]);
  });

  test('base quantity and notional of both sides count together, and name the limit (MMP-03, MMP-04)', () => {
    const byQuantity = quoted({ maxLots: 2n });
    assert.deepEqual(trips(byQuantity.sell('s', 1, 99, BY_BOB)), []);
    assert.deepEqual(trips(byQuantity.buy('t', 1, 101, BY_BOB)), [[2, 0n]]);
    const byNotional = quoted({ maxMoney: 200n });
    assert.deepEqual(trips(byNotional.sell('s', 1, 99, BY_BOB)), []);
    assert.deepEqual(trips(byNotional.buy('t', 1, 101, BY_BOB)), [[3, 0n]]);
  });

  test('a fill below the smallest notional counts as no fill, but its quantity counts (MMP-03)', () => {
    const fixture = quoted({ maxFills: 1, minMoney: 103n });
    assert.deepEqual(trips(fixture.buy('t', 2, 102, BY_BOB)), []);
    assert.deepEqual(trips(fixture.buy('u', 1, 103, BY_BOB)), [[1, 0n]]);
    assert.deepEqual(trips(quoted({ maxFills: 1, maxLots: 2n, minMoney: 1_000n }).buy('t', 2, 102, BY_BOB)), [[2, 0n]]);
  });

  test('fills against the own user, and those as taker, do not count (MMP-03)', () => {
    const fixture = quoted({ maxFills: 1 });
    assert.deepEqual(trips(fixture.buy('own', 1, 101, { user: 'mm' })), []);
    fixture.sell('c', 1, 100, { user: 'cyd' });
    assert.deepEqual(trips(fixture.buy('taker', 1, 100, MEMBER)), []);
    assert.deepEqual(trips(fixture.buy('t', 1, 102, BY_BOB)), [[1, 0n]]);
  });

  test('orders of other groups and without one stay (MMP-02)', () => {
    const fixture = quoted({ maxFills: 1 });
    fixture.sell('free', 1, 110, { user: 'mm' });
    fixture.buy('t', 1, 101, BY_BOB);
    assert.deepEqual(fixture.levels(SELL), [[110, 1]]);
  });

  test('fills leave the window when it is over (MMP-03)', () => {
    const fixture = quoted({ maxFills: 2, windowNs: SECOND_NS });
    fixture.buy('t', 1, 101, BY_BOB);
    fixture.wait(SECOND_NS);
    assert.deepEqual(trips(fixture.buy('u', 1, 102, BY_BOB)), []);
    fixture.wait(SECOND_NS - 1n);
    assert.deepEqual(trips(fixture.buy('v', 1, 103, BY_BOB)), [[1, 0n]]);
  });

  test('new limits apply to what is in the window, at the next fill (MMP-02)', () => {
    const fixture = quoted({ maxFills: 10 });
    fixture.buy('t', 1, 101, BY_BOB);
    fixture.protect('mm', { maxFills: 1 });
    assert.equal(fixture.levels(SELL).length, 2);
    assert.deepEqual(trips(fixture.buy('u', 1, 102, BY_BOB)), [[1, 0n]]);
  });

  test('a frozen group takes no new member until its time is over, and begins with an empty window (MMP-03)', () => {
    const fixture = quoted({ maxFills: 2, windowNs: 60n * SECOND_NS, frozenNs: SECOND_NS });
    const until = fixture.nowNs + SECOND_NS;
    assert.deepEqual(trips(fixture.buy('t', 2, 102, BY_BOB)), [[1, until]]);
    assert.deepEqual(refusals(fixture.sell('new', 1, 105, MEMBER)), ['MMP_FROZEN']);
    fixture.wait(SECOND_NS - 1n);
    assert.deepEqual(refusals(fixture.sell('new', 1, 105, MEMBER)), ['MMP_FROZEN']);
    fixture.wait(1n);
    assert.deepEqual(refusals(fixture.sell('new', 1, 105, MEMBER)), []);
    assert.deepEqual(trips(fixture.buy('u', 1, 105, BY_BOB)), []);
  });

  test('a freeze without a time lasts until the reset of its trip, whatever limits are put (MMP-02, MMP-03)', () => {
    const fixture = quoted({ maxFills: 1 });
    const [[, trip] = []] = only(fixture.buy('t', 1, 101, BY_BOB), 'protectionTriggered');
    fixture.wait(600n * SECOND_NS);
    fixture.protect('mm', { maxFills: 100 });
    assert.deepEqual(refusals(fixture.sell('new', 1, 105, MEMBER)), ['MMP_FROZEN']);
    fixture.protect('mm', { maxFills: 100 }, (trip as number) - 1);
    assert.deepEqual(refusals(fixture.sell('new', 1, 105, MEMBER)), ['MMP_FROZEN'], 'the reset of another trip');
    fixture.protect('mm', { maxFills: 100 }, trip as number);
    assert.deepEqual(refusals(fixture.sell('new', 1, 105, MEMBER)), []);
  });

  test('of a set in a frozen group what takes away is not refused, and what adds or joins is (QTE-04, MMP-03)', () => {
    const of = { user: 'mm', name: 'q' } as const;
    const quote = (bids: readonly (readonly [number, number])[], protectionGroup: number): readonly unknown[] => {
      fixture.wait(1n);
      const [applied] = only(fixture.quotes(bids, [], { ...of, protectionGroup }), 'quotesApplied');
      return [applied?.[6], fixture.levels(BUY)];
    };
    const fixture = new MarketFixture();
    fixture.protect('mm', { maxFills: 1 });
    fixture.sell('a', 1, 101, MEMBER);
    quote(
      [
        [99, 5],
        [98, 5],
        [97, 5],
      ],
      0,
    );
    assert.equal(trips(fixture.buy('t', 1, 101, BY_BOB)).length, 1);
    assert.deepEqual(
      quote(
        [
          [99, 5],
          [98, 5],
        ],
        1,
      ),
      [
        'MMP_FROZEN',
        [
          [99, 5],
          [98, 5],
        ],
      ],
      'what is kept would join',
    );
    assert.deepEqual(
      quote(
        [
          [99, 3],
          [98, 6],
        ],
        1,
      ),
      [
        'MMP_FROZEN',
        [
          [99, 3],
          [98, 5],
        ],
      ],
    );
    assert.deepEqual(quote([], 1), ['', []], 'nothing is left to join');
    assert.deepEqual(quote([[99, 5]], 1), ['MMP_FROZEN', []]);
  });

  test('what is in a group when it is removed is in none, nor in the next one of its slot (MMP-02)', () => {
    const of = { user: 'mm', name: 'q' } as const;
    const bids = [
      [99, 5],
      [98, 5],
    ] as const;
    const fixture = new MarketFixture();
    fixture.protect('mm', { maxFills: 1 });
    fixture.quotes(bids, [], { ...of, protectionGroup: 1 });
    fixture.sell('a', 1, 101, MEMBER);
    fixture.unprotect('mm');
    // Nothing may be added: what is kept has new terms, in the group in which it is.
    fixture.wait(1n);
    const [applied] = only(fixture.quotes(bids, [], { ...of, maxFeeRate: 90, onlyTakes: true }), 'quotesApplied');
    assert.equal(applied?.[6], '');
    fixture.protect('mm', { maxFills: 1 });
    assert.deepEqual(trips(fixture.sell('t', 1, 99, BY_BOB)), []);
    assert.deepEqual(trips(fixture.buy('u', 1, 101, BY_BOB)), []);
    assert.deepEqual(fixture.levels(BUY), [
      [99, 4],
      [98, 5],
    ]);
  });

  test('an unknown group is INVALID_ORDER (MMP-02)', () => {
    assert.deepEqual(refusals(new MarketFixture().sell('a', 1, 100, MEMBER)), ['INVALID_ORDER']);
  });

  test('a rollback not by the fault of the member is subtracted and ends the freeze; cancelled members stay so (MMP-03)', () => {
    const fixture = quoted({ maxFills: 2 });
    const [first, second] = only(fixture.buy('t', 2, 102, BY_BOB), 'matched');
    assert.deepEqual(only(fixture.rollback(first, AT_FAULT, INNOCENT), 'protectionEnded'), [], 'by its own fault');
    const told = fixture.rollback(second, INNOCENT, AT_FAULT);
    assert.equal(only(told, 'protectionEnded').length, 1);
    assert.deepEqual([fixture.levels(BUY), fixture.levels(SELL)], [[], []], 'nothing of the group returns');
    assert.deepEqual(
      (ends(told) as unknown[][]).filter(([, end]) => end === 'MarketMakerProtection'),
      [[2, 'MarketMakerProtection', 1]],
      'what was filled does not return either',
    );
    assert.deepEqual(refusals(fixture.sell('new', 1, 105, MEMBER)), []);
    assert.equal(trips(fixture.buy('u', 1, 105, BY_BOB)).length, 1, 'the other fill is still in the window');
  });

  test('what was pending at the trip does not return after the freeze (MMP-03)', () => {
    const fixture = quoted({ maxFills: 1, frozenNs: SECOND_NS });
    const [fill] = only(fixture.buy('t', 1, 101, BY_BOB), 'matched');
    fixture.wait(2n * SECOND_NS);
    assert.deepEqual(ends(fixture.rollback(fill, INNOCENT, AT_FAULT)).at(-1), [1, 'MarketMakerProtection', 1]);
  });

  test('fill-or-kill leaves out what protection would take off during its match (TIF-06, MMP-03)', () => {
    const killed = quoted({ maxFills: 2 });
    const told = killed.buy('t', 3, 103, { ...BY_BOB, tif: TIF.fok });
    assert.deepEqual([fills(told), ends(told)], [[], [[5, 'FillOrKill', 3]]]);
    assert.deepEqual(trips(told), []);
    const filled = quoted({ maxFills: 2 });
    filled.sell('c', 1, 104, { user: 'cyd' });
    const all = filled.buy('t', 3, 104, { ...BY_BOB, tif: TIF.fok });
    assert.equal(fills(all).length, 3);
    const matches = only(all, 'matched').map((event) => event.at(-1));
    assert.deepEqual(matches, [1, 1, 2], 'its fills are one group, which no end interrupts');
    assert.ok(names(all).lastIndexOf('matched') < names(all).indexOf('ended'));
  });

  test('an order sized by money pays no more than it may when makers leave during its match (MMP-03)', () => {
    const fixture = new MarketFixture();
    fixture.protect('mm', { maxFills: 1 });
    for (const id of ['a', 'b', 'c']) fixture.sell(id, 1, 100, MEMBER);
    fixture.sell('d', 5, 150, { user: 'cyd' });
    const told = fixture.marketBuy('t', { ...BY_BOB, quote: 300 });
    const spent = (fills(told) as number[][]).reduce((sum, [, , price = 0, lots = 0]) => sum + price * lots, 0);
    assert.deepEqual([spent, fills(told).length], [250, 2]);
  });

  test('a limit is passed by one fill at most, whatever is matched (MMP-03)', () => {
    const size = fc.integer({ min: 1, max: 9 });
    const order = fc.record({
      isBuy: fc.boolean(),
      size,
      price: fc.integer({ min: 95, max: 105 }),
      isMember: fc.boolean(),
    });
    const limits = fc.record({
      maxFills: fc.option(fc.integer({ min: 1, max: 4 })),
      maxLots: fc.option(fc.bigInt({ min: 1n, max: 20n })),
      maxMoney: fc.option(fc.bigInt({ min: 1n, max: 2_000n })),
      minMoney: fc.bigInt({ min: 0n, max: 500n }),
    });
    let tripped = 0;
    fc.assert(
      fc.property(limits, fc.array(order, { maxLength: 60 }), (terms, orders) => {
        const fixture = new MarketFixture();
        fixture.protect('mm', { ...terms, windowNs: 60n * SECOND_NS });
        const members = new Set<number>();
        const told: Told[] = [];
        for (const [at, { isBuy, size: lots, price, isMember }] of orders.entries()) {
          const words = isMember ? MEMBER : BY_BOB;
          const events = isBuy ? fixture.buy(`o${at}`, lots, price, words) : fixture.sell(`o${at}`, lots, price, words);
          for (const [, sequence] of only(events, 'accepted')) if (isMember) members.add(sequence as number);
          told.push(...events);
        }
        const sums = { fills: 0, lots: 0n, money: 0n };
        const isReached = (): boolean =>
          sums.fills >= (terms.maxFills ?? Number.POSITIVE_INFINITY) ||
          (terms.maxLots !== null && sums.lots >= terms.maxLots) ||
          (terms.maxMoney !== null && sums.money >= terms.maxMoney);
        for (const [maker = 0, taker = 0, price = 0, lots = 0] of fills(told) as number[][]) {
          if (!members.has(maker) || members.has(taker)) continue;
          assert.ok(!isReached(), 'no fill behind the one that reaches a limit');
          const money = BigInt(price) * BigInt(lots);
          sums.fills += money >= terms.minMoney ? 1 : 0;
          sums.lots += BigInt(lots);
          sums.money += money;
        }
        assert.equal(trips(told).length, isReached() ? 1 : 0);
        tripped += trips(told).length;
      }),
      propertyParameters(),
    );
    assert.ok(tripped > 0);
  });
});

suite('the window of a group', () => {
  test('its sums are those of a list, with trades that leave, slide out and merge (MMP-03)', () => {
    const step = fc.record({
      ns: fc.bigInt({ min: 0n, max: 40n }),
      lots: fc.bigInt({ min: 1n, max: 9n }),
      isFill: fc.boolean(),
      removes: fc.option(fc.nat(200)),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const window = new FillWindow();
        let list: { tradeId: number; ns: bigint; lots: bigint; fills: number }[] = [];
        let nowNs = 0n;
        for (const [at, { ns, lots, isFill, removes }] of steps.entries()) {
          nowNs += ns;
          window.slideTo(nowNs - 100n);
          list = list.filter((entry) => entry.ns > nowNs - 100n);
          if (removes === null) {
            const entry = { tradeId: at + 1, ns: nowNs, lots, fills: isFill ? 1 : 0 };
            list.push(entry);
            window.add(entry.tradeId, nowNs, entry.fills, lots, lots * 7n);
          } else {
            assert.equal(window.remove(removes), removes !== 0 && list.some(({ tradeId }) => tradeId === removes));
            list = list.filter(({ tradeId }) => tradeId !== removes);
          }
          const total = list.reduce((sum, entry) => sum + entry.lots, 0n);
          assert.deepEqual(
            [window.size, window.fills, window.lots, window.money],
            [list.length, list.reduce((sum, entry) => sum + entry.fills, 0), total, total * 7n],
          );
        }
      }),
      propertyParameters(),
    );
  });

  test('it is bounded: beyond, the oldest two count together until the younger of them is over (MMP-03)', () => {
    const window = new FillWindow();
    for (let at = 1; at <= 3 * WINDOW_ENTRIES_MAX; at += 1) window.add(at, BigInt(at), 1, 2n, 3n);
    assert.deepEqual([window.size, window.fills], [WINDOW_ENTRIES_MAX, 3 * WINDOW_ENTRIES_MAX]);
    assert.equal(window.remove(1), false, 'what was merged is not subtracted');
    const merged = 2 * WINDOW_ENTRIES_MAX + 1;
    window.slideTo(BigInt(merged - 1));
    assert.equal(window.fills, 3 * WINDOW_ENTRIES_MAX, 'counted a little longer, never shorter');
    window.slideTo(BigInt(merged));
    assert.deepEqual([window.fills, window.lots], [WINDOW_ENTRIES_MAX - 1, 2n * BigInt(WINDOW_ENTRIES_MAX - 1)]);
  });
});
