// tier: quick
/** What is no fault of the user whose fill was undone (MON-07, MON-08), and what one key with 1 USD can undo of others'. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ALICE, MarginFixture, riskRow, SIDE, TIF, USD, usd } from '../../support/margin-fixture.ts';
import { BOB, ETH } from '../../support/names.ts';

const { buy, sell } = SIDE;

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

  test('what others have of an asset with a cap moves by their trades alone (MON-08)', () => {
    for (const moves of [false, true]) {
      const fixture = fixtureWith(10_000);
      fixture.risk(ETH, riskRow(90, 95, 1_000_000, { max_total_open_interest_notional: String(usd(1_000_000)) }));
      const own = fixture.place({ side: buy, quantity: 1, price: 2_000 });
      const alone = fixture.place({ side: buy, quantity: 0.1, price: 2_000 });
      if (moves) fixture.position(ETH, 5, -10_000, 2, BOB);
      else fixture.position(ETH, 5, -10_000, 1);
      fixture.rollBackFor(trade(fixture, own), 'taker');
      assert.equal(fixture.sink.faults.at(-1)?.hasMeasureMoved, moves, 'own positions change nothing');
      assert.ok(alone > 0);
    }
  });

  test('of what vaults lend to shorts: others and deposits move it, also of an asset without a cap, no price does (MON-08, MON-10)', () => {
    // Before, 285 shorts that rested at the bound of what vaults lend took back 285 fills of others for 0.007 USD, and counted none:
    // any trade after their admission was a price that had moved.
    for (const [moves, isMoved] of [
      ['nothing', false],
      ['own', false],
      ['others', true],
      ['vaults', true],
    ] as const) {
      const fixture = fixtureWith(10_000);
      const own = fixture.place({ side: sell, quantity: 1, price: 2_000 });
      if (moves === 'own') fixture.position(ETH, 5, -10_000, 1);
      if (moves === 'others') fixture.position(ETH, -5, 10_000, 2, BOB);
      if (moves === 'vaults') {
        fixture.holdings = usd(1);
        fixture.price(ETH, 2_000);
      }
      const other = fixture.place({ user: BOB, side: buy, quantity: 1, price: 2_000 });
      fixture.rollBackFor(fixture.match(other, own, 2_000, 1, sell), 'taker');
      const { hasMeasureMoved, mayPriceBreakCap } = fixture.sink.faults.at(-1) ?? assert.fail(moves);
      assert.deepEqual([hasMeasureMoved, mayPriceBreakCap], [isMoved, false], moves);
    }
  });

  test('a price breaks only a cap in USD that the order itself may pass (MON-08)', () => {
    for (const [cap, may] of [
      [100_000, false],
      [2_001, false],
      [1_999, true],
    ] as const) {
      const fixture = fixtureWith(10_000);
      const own = fixture.place({ side: buy, quantity: 1, price: 2_000 });
      const other = fixture.place({ user: BOB, side: sell, quantity: 1, price: 2_000 });
      fixture.risk(ETH, riskRow(90, 95, 1_000_000, { max_total_open_interest_notional: String(usd(cap)) }));
      fixture.rollBackFor(fixture.match(other, own, 2_000, 1, buy), 'taker');
      assert.equal(fixture.sink.faults.at(-1)?.mayPriceBreakCap, may, String(cap));
    }
  });
});
