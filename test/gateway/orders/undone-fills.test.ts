// tier: quick
/** What is no fault of the user whose fill was undone (MON-07, MON-08), and what one key with 1 USD can undo of others'. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { UserId } from '../../../src/core/ids.ts';
import { ROLLBACK_REASON } from '../../../src/core/order-terms.ts';
import type { TimestampNs } from '../../../src/core/units.ts';
import { FaultCooldowns } from '../../../src/gateway/actions/fault-cooldowns.ts';
import { ALICE, MarginFixture, riskRow, SIDE, TIF, USD, usd } from '../../support/margin-fixture.ts';
import { BOB, BTC, CAROL, ETH } from '../../support/names.ts';

const { buy, sell } = SIDE;
const { protocolCapBreach, counterpartyAtFault } = ROLLBACK_REASON;

function fixtureWith(money: number): MarginFixture {
  const fixture = new MarginFixture();
  fixture.spot(USD, money);
  fixture.spot(USD, 10_000_000, 1, BOB);
  return fixture;
}

/** Two orders and their match, of which ALICE's is the first. @returns the trade. */
function trade(fixture: MarginFixture, own: number, quantity = 1): number {
  const other = fixture.place({ user: BOB, side: sell, quantity, price: 2_000 });
  return fixture.match(other, own, 2_000, quantity, buy);
}

suite('undone fills', () => {
  test('the attack: with 1 USD no order is taken that would undo the fills of others (MON-07)', () => {
    // What it took before: 2,300 fills of honest makers, by 23 fill-or-kills of 100 makers each at a limit of 0.01.
    const fixture = fixtureWith(1);
    let taken = 0;
    for (let each = 0; each < 23; each += 1) {
      const wish = { side: sell, quantity: 10, price: 0.01, tif: TIF.fok };
      if (fixture.verdict(wish) === 'ok') taken += 1;
    }
    for (const tif of [TIF.fok, TIF.ioc, TIF.gtc, TIF.gtd]) {
      for (const [side, price] of [
        [sell, 0.01],
        [sell, 1_000],
        [sell, 1_999],
        [buy, 2_000],
        [buy, 1_000_000],
      ] as const) {
        if (fixture.verdict({ side, price, quantity: 1, tif }) === 'ok') taken += 1;
      }
    }
    for (const market of [{ base: 10_000 }, { quote: 20_000_000 }, { base: 10_000, cap: 20_000_000 }]) {
      for (const side of [buy, sell]) if (fixture.verdict({ side, market }) === 'ok') taken += 1;
    }
    assert.equal(taken, 0, 'of 49 orders');
    assert.equal(fixture.verdict({ side: sell, quantity: 0.0001, price: 2_000 }), 'ok', 'a small one is paid for');
  });

  test('many small orders together are taken for no more than the account has (MON-07)', () => {
    const fixture = fixtureWith(100);
    let sold = 0;
    while (fixture.verdict({ side: sell, quantity: 0.01, price: 1_900 }) === 'ok') sold += 1;
    // 0.01 × (2100 − 1900 × 0.9995) is 2.0095 of margin each.
    assert.equal(sold, 49);
  });

  test('a failure after a fill of the account was undone for another is no fault, an earlier one is (MON-07)', () => {
    for (const [party, wasUndone] of [
      ['other', true],
      ['own', false],
    ] as const) {
      const fixture = fixtureWith(10_000);
      const [first, second] = [
        fixture.place({ side: buy, quantity: 1, price: 2_000 }),
        fixture.place({ side: buy, quantity: 1, price: 2_000 }),
      ];
      fixture.rollBackFor(trade(fixture, first), party === 'other' ? 'maker' : 'taker');
      fixture.rollBackFor(trade(fixture, second), 'taker');
      const last = fixture.sink.faults.at(-1);
      assert.deepEqual([last?.user, last?.wasUndone], [ALICE, wasUndone]);
      const third = fixture.place({ side: buy, quantity: 1, price: 2_000 });
      fixture.rollBackFor(trade(fixture, third), 'taker');
      assert.equal(fixture.sink.faults.at(-1)?.wasUndone, false, 'one that was taken after it');
    }
  });

  test('the attack: a price excuses a lack of margin only if it moved against the account after the match (MON-07, MON-08)', () => {
    // Before, any younger trade excused all fills of a fill-or-kill, also one at the same price, or at a better one.
    for (const [btc, base, price, isExcused] of [
      [50_000, 1, 2_000, false],
      [50_001, 1, 2_000, false],
      [49_999, 1, 2_000, true],
      [49_999, -1, 2_000, false],
      [50_001, -1, 2_000, true],
      [50_000, 1, 2_001, false],
      [50_000, 1, 1_999, true],
    ] as const) {
      const fixture = fixtureWith(200_000);
      fixture.position(BTC, base, -base * 50_000);
      fixture.price(BTC, 50_000, 50_000);
      fixture.price(ETH, 2_000, 2_000);
      const own = fixture.place({ side: buy, quantity: 1, price: 2_000 });
      const match = trade(fixture, own);
      fixture.nowNs = (fixture.nowNs + 1_000_000n) as TimestampNs;
      fixture.price(BTC, 50_000, btc);
      fixture.price(ETH, 2_000, price);
      fixture.rollBackFor(match, 'taker');
      const fault = fixture.sink.faults.at(-1) ?? assert.fail();
      assert.equal(fixture.manager.margin.accounts.pricedSinceMatch(fault), isExcused, `${btc} ${base} ${price}`);
    }
  });

  test('the attack: shorts at the bound of what vaults lend, and a trade of another own key, count (MON-08, MON-10)', () => {
    // Before, any change of what others have excused every fault: five rounds of 290 shorts took back 1,416 fills of others for
    // 0.107 USD, counted none, and began no cool-down.
    for (const [decides, second] of [
      ['afterwards', -0.001],
      ['afterwards', 0.001],
      ['at once', -0.001],
      ['at once', 0.001],
    ] as const) {
      const { fixture, cooldowns } = shortsAtTheBound(5, 290);
      fixture.position(ETH, second, -second * 2_000, 1, CAROL);
      const fit = second < 0 ? 4 : 6;
      const trades: number[] = [];
      const decide = (trade: number, at: number): void =>
        at < fit ? fixture.confirm(trade) : fixture.undo(trade, protocolCapBreach, counterpartyAtFault);
      for (let order = 0; order < 290; order += 1) {
        trades.push(sold(fixture, order));
        if (decides === 'at once') decide(trades[order] ?? 0, order);
      }
      if (decides === 'afterwards') trades.forEach(decide);
      const { faults } = fixture.sink;
      const excused = second < 0 ? 1 : 0;
      assert.equal(faults.length, 290 - fit);
      assert.equal(faults.filter(({ isForOthers }) => isForOthers).length, excused, 'the one that fitted before');
      assert.equal(cooldowns.refusalOf(ALICE), null);
      for (const fault of faults) cooldowns.rolledBack(fault);
      assert.notEqual(cooldowns.refusalOf(ALICE), null, decides);
    }
  });

  test('shorts that no longer fit because others borrowed, or withdrew, are excused as far as they fitted (MON-08, MON-10)', () => {
    for (const cause of ['borrowed', 'withdrew', 'nothing', 'own'] as const) {
      const { fixture, cooldowns } = shortsAtTheBound(30, 32);
      if (cause === 'borrowed') fixture.position(ETH, -0.03, 60, 1, CAROL);
      if (cause === 'own') fixture.position(ETH, -0.03, 60, 2);
      if (cause === 'withdrew') {
        fixture.holdings = 0n;
        fixture.price(ETH, 2_000);
      }
      for (let order = 0; order < 32; order += 1) {
        const trade = sold(fixture, order);
        if (cause === 'nothing' && order < 30) fixture.confirm(trade);
        else fixture.undo(trade, protocolCapBreach, counterpartyAtFault);
      }
      for (const fault of fixture.sink.faults) cooldowns.rolledBack(fault);
      const excused = fixture.sink.faults.filter(({ isForOthers }) => isForOthers).length;
      assert.equal(excused, cause === 'borrowed' || cause === 'withdrew' ? 30 : 0, cause);
      assert.equal(cooldowns.refusalOf(ALICE) !== null, cause === 'own', cause);
    }
  });

  test('an order that was taken after fills were excused has the room of its own admission (MON-08)', () => {
    const { fixture } = shortsAtTheBound(2, 2);
    fixture.position(ETH, -0.002, 4, 1, CAROL);
    for (const order of [0, 1]) fixture.undo(sold(fixture, order), protocolCapBreach, counterpartyAtFault);
    fixture.position(ETH, 0, 0, 1, CAROL);
    const later = fixture.place({ side: sell, quantity: 0.001, price: 2_000, id: 's-2' });
    fixture.position(ETH, -0.002, 4, 1, CAROL);
    assert.ok(later > 0);
    fixture.undo(sold(fixture, 2, later), protocolCapBreach, counterpartyAtFault);
    assert.deepEqual(
      fixture.sink.faults.map(({ isForOthers }) => isForOthers),
      [true, true, true],
    );
  });

  test('every cap: due to others, to a price or to a lower limit it is excused, beside one it is not (MON-08)', () => {
    for (const [limit, isSpot] of [
      ['max_total_open_interest_notional', false],
      ['max_spot_open_interest', false],
      ['max_collateral', true],
    ] as const) {
      const isUsd = limit === 'max_total_open_interest_notional';
      const cap = (units: number): void =>
        fixture.risk(ETH, riskRow(90, 95, 1_000_000, { [limit]: String(usd(isUsd ? units * 2_000 : units)) }));
      let fixture = fixtureWith(100_000);
      const have = (units: number, user: UserId, account: number): void =>
        isSpot ? fixture.spot(ETH, units, account, user) : fixture.position(ETH, units, -units * 2_000, account, user);
      for (const [change, isForOthers] of [
        [() => have(2, CAROL, 1), true],
        [() => have(1.5, CAROL, 1), true],
        [() => have(4, ALICE, 2), false],
        [() => cap(1), true],
        [() => fixture.price(ETH, 20_000), isUsd],
        [() => fixture.price(ETH, 1_999), false],
      ] as const) {
        fixture = fixtureWith(100_000);
        const second = { user: ALICE, subAccount: 2, kind: 'cross_margin', name: 'two', asset: null } as const;
        fixture.manager.onSubAccountChanged(second);
        cap(2);
        const own = fixture.place({ side: buy, quantity: 1, price: 2_000, isSpot });
        const other = fixture.place({ user: BOB, side: sell, quantity: 1, price: 2_000 });
        // What it had before its fill was undone leaves room for all of it, or, with a price or more of its own, for none.
        change();
        if (!isForOthers) have(1.5, ALICE, 2);
        fixture.undo(fixture.match(other, own, 2_000, 1, buy), counterpartyAtFault, protocolCapBreach);
        assert.equal(fixture.sink.faults.at(-1)?.isForOthers, isForOthers, `${limit} ${change}`);
      }
    }
  });
});

const SHORT = 0.001;

/** ALICE rests shorts of 0.001 ETH, of which vaults lend so many. */
function shortsAtTheBound(lent: number, count: number): { fixture: MarginFixture; cooldowns: FaultCooldowns } {
  const fixture = fixtureWith(100_000);
  fixture.holdings = BigInt(lent) * 10n ** 15n;
  fixture.price(ETH, 2_000);
  for (let order = 0; order < count; order += 1) {
    SEQUENCES[order] = fixture.place({ side: sell, quantity: SHORT, price: 2_000, id: `s-${order}` });
  }
  const cooldowns = new FaultCooldowns({
    nowNs: () => fixture.nowNs,
    limits: { tierOf: () => 'default' },
    accounts: fixture.manager.margin.accounts,
    cancels: { cancelAll: () => null },
    counted: { fault: () => undefined, cooldown: () => undefined },
  });
  return { fixture, cooldowns };
}

const SEQUENCES: number[] = [];

/** A spot buyer meets one of the shorts. @returns the trade. */
function sold(fixture: MarginFixture, order: number, sequence: number = SEQUENCES[order] ?? 0): number {
  const buyer = fixture.place({ user: BOB, side: buy, quantity: SHORT, price: 2_000, isSpot: true });
  return fixture.match(sequence, buyer, 2_000, SHORT, buy);
}
