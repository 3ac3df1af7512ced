// tier: quick
/** Protocol caps at order entry: what raises a measure of all users above its cap is refused, what reduces passes (CAP-01 to CAP-10, AMB-112). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ORDER_END } from '../../../src/core/order-terms.ts';
import { ALICE, MarginFixture, type MarginWish, riskRow, SIDE, TIF, USD, usd } from '../../support/margin-fixture.ts';
import { BOB, BTC, ETH } from '../../support/names.ts';
import { codeOf } from '../../support/order-fixture.ts';

const { buy, sell } = SIDE;
const CAP = 'PROTOCOL_CAP_EXCEEDED';

/** Alice and Bob with money, and ETH at 2000 with this cap of its risk row, and this band of its mark. */
function fixture(cap: object, markBand: string | null = null): MarginFixture {
  const made = new MarginFixture();
  for (const user of [ALICE, BOB]) made.spot(USD, 1_000_000, 1, user);
  made.risk(ETH, riskRow(90, 95, 1_000_000, cap), markBand);
  return made;
}

/** Open interest of 20,000 USD: 10 ETH. */
const OPEN = { max_total_open_interest_notional: String(usd(20_000)) };
/** 10 ETH. */
const NET = { max_spot_open_interest: String(usd(10)) };

suite('protocol caps at order entry', () => {
  test('equal to the cap is allowed, more is refused, on either side, resting or not (CAP-04, CAP-07, AMB-54, AMB-112)', () => {
    for (const cap of [OPEN, NET]) {
      for (const side of [buy, sell]) {
        for (const shape of [{}, { tif: TIF.ioc }, { postOnly: true }, { market: { base: 100_001 } }]) {
          const wish = { side, price: side === buy ? 1_900 : 2_100, ...shape };
          assert.equal(fixture(cap).verdict({ ...wish, quantity: 10.0001 }), CAP);
          if (!('market' in shape)) assert.equal(fixture(cap).verdict({ ...wish, quantity: 10 }), 'ok');
        }
      }
    }
  });

  test('what an account has open on a side counts together, other accounts that rest do not (AMB-112)', () => {
    const world = fixture(OPEN);
    world.place({ user: BOB, side: buy, quantity: 10, price: 100 });
    const first = world.place({ side: buy, quantity: 6 });
    assert.equal(world.verdict({ side: buy, quantity: 4.0001 }), CAP);
    assert.equal(world.verdict({ side: sell, quantity: 10 }), 'ok', 'the other side is another sum');
    world.place({ id: 'second', side: buy, quantity: 4 });
    assert.equal(codeOf(world.replace('second', { quantity: 4.0001, price: 1 })), CAP, 'more lots for less money');
    assert.equal(codeOf(world.replace('second', { quantity: 4, price: 2_000 })), 'ok');
    world.end(first, ORDER_END.userRequested);
    assert.equal(world.verdict({ side: buy, quantity: 6 }), 'ok');
  });

  test('fills on their way count until they are rolled back (AMB-54, AMB-112)', () => {
    const world = fixture(OPEN);
    const maker = world.place({ user: BOB, side: sell, quantity: 9 });
    const taker = world.place({ side: buy, quantity: 9 });
    const trade = world.match(maker, taker, 2_000, 9, buy);
    assert.equal(world.verdict({ side: buy, quantity: 1.0001 }), CAP);
    world.rollBack(trade);
    world.end(taker, ORDER_END.userRequested);
    assert.equal(world.verdict({ side: buy, quantity: 10 }), 'ok');
  });

  test('above the cap what reduces passes, and nothing that adds (CAP-02, AMB-49)', () => {
    const world = fixture(OPEN);
    world.position(ETH, -20, 40_000);
    assert.equal(world.verdict({ side: sell, quantity: 0.0001 }), CAP);
    assert.equal(world.verdict({ side: buy, quantity: 20 }), 'ok');
    assert.equal(world.verdict({ user: BOB, side: buy, quantity: 10 }), 'ok', 'the measure is the larger of both sums');
    assert.equal(world.verdict({ user: BOB, side: buy, quantity: 10.5 }), CAP, 'with the ten that are open');
    assert.equal(world.verdict({ side: sell, quantity: 1, isSpot: true, reduceOnly: false }), 'INSUFFICIENT_INVENTORY');
  });

  test('an account without the margin for it is refused for that, whatever the cap leaves (MRG-12, AMB-112)', () => {
    const world = fixture(OPEN);
    world.spot(USD, 1, 1, BOB);
    for (const side of [buy, sell]) {
      assert.equal(world.verdict({ user: BOB, side, quantity: 10.0001 }), 'INSUFFICIENT_MARGIN');
      assert.equal(world.verdict({ side, quantity: 10.0001 }), CAP);
    }
  });

  test('a cap in USD is at oracle and at mark (CAP-03)', () => {
    const world = fixture(OPEN, 'none');
    world.price(ETH, 2_000, 2_500);
    assert.equal(world.verdict({ side: buy, quantity: 8.0001 }), CAP);
    assert.equal(world.verdict({ side: buy, quantity: 8 }), 'ok');
  });

  test('MON-10: while shorts have borrowed more than the vaults may lend, no order opens or grows one', () => {
    const made = new MarginFixture();
    made.holdings = usd(10);
    made.spot(USD, 1_000_000);
    made.risk(ETH, riskRow(90, 95, 1_000_000, { max_utilization: String(usd('0.5')) }));
    made.price(ETH, 2_000);
    assert.equal(made.verdict({ side: sell, quantity: 100 }), 'ok', 'a long may be on the other side');
    made.position(ETH, -5, 10_000);
    assert.equal(made.verdict({ side: sell, quantity: 1 }), 'ok', 'equal to it is allowed');
    made.holdings = usd('9.9999');
    made.price(ETH, 2_000);
    for (const shape of [{}, { tif: TIF.ioc }, { postOnly: true }, { market: { base: 1 } }]) {
      assert.equal(made.verdict({ side: sell, quantity: 0.0001, ...shape }), CAP);
    }
    assert.equal(made.verdict({ side: buy, quantity: 5 }), 'ok');
    assert.equal(made.verdict({ side: sell, quantity: 1, reduceOnly: true }), 'REDUCE_ONLY_WOULD_INCREASE');
    made.position(ETH, 1, -2_000);
    assert.equal(made.verdict({ side: sell, quantity: 1 }), 'ok', 'a long that is sold');
  });

  test('a released order is checked again, and a simulation answers what order entry would (TRG-02, SIM-01, AMB-71)', () => {
    const world = fixture(OPEN);
    const stop = world.place({ side: buy, quantity: 10, above: 200_000 });
    const trial = { user: ALICE, subAccount: 1, asset: ETH, side: buy, isSpot: false, transfers: [] };
    const accepts = (size: number): boolean | null => {
      const tried = world.manager.margin.simulate({ ...trial, size: usd(size), price: usd(2_000) }, world.nowNs);
      return tried.ok ? tried.value.isAccepted : null;
    };
    world.place({ side: buy, quantity: 1 });
    assert.deepEqual([accepts(9), accepts(10)], [true, false]);
    world.trigger(stop, 100_000);
    world.decide();
    assert.deepEqual(
      world.sink.releases.map(({ end }) => end),
      [ORDER_END.marginInsufficient],
    );
  });
});

/** 10 ETH in all margin accounts. */
const COLLATERAL = { max_collateral: String(usd(10)) };
const SPOT = { isSpot: true, account: 1 };

suite('the cap of collateral at order entry', () => {
  test('spot buys of a margin account up to the cap are taken, more is refused, resting or not (CAP-08, CAP-10, AMB-54, AMB-112)', () => {
    for (const shape of [{}, { tif: TIF.ioc }, { postOnly: true }, { market: { base: 100_001 } }]) {
      const wish = { ...SPOT, side: buy, price: 1_900, ...shape };
      assert.equal(fixture(COLLATERAL).verdict({ ...wish, quantity: 10.0001 }), CAP);
      if (!('market' in shape)) assert.equal(fixture(COLLATERAL).verdict({ ...wish, quantity: 10 }), 'ok');
    }
    const world = fixture(COLLATERAL);
    world.spot(ETH, 4);
    world.spot(ETH, 5, 1, BOB);
    world.spot(ETH, 100, 0, BOB);
    world.spot(BTC, 100);
    assert.equal(world.verdict({ ...SPOT, side: buy, quantity: 1.0001 }), CAP, 'of all users, in margin accounts only');
    assert.equal(world.verdict({ ...SPOT, side: buy, quantity: 1 }), 'ok');
  });

  test('where the cap is full spot sells, spot accounts and margin orders pass (CAP-02, CAP-08)', () => {
    const world = fixture(COLLATERAL);
    world.spot(USD, 1_000_000, 0);
    world.spot(ETH, 12);
    assert.equal(world.verdict({ ...SPOT, side: buy, quantity: 0.0001 }), CAP);
    assert.equal(world.verdict({ ...SPOT, side: sell, quantity: 12 }), 'ok');
    assert.equal(world.verdict({ side: buy, quantity: 5, isSpot: true, account: 0 }), 'ok');
    for (const side of [buy, sell]) assert.equal(world.verdict({ side, quantity: 5 }), 'ok');
  });

  test('open buys of the account count together, also in a replace; other accounts that rest do not (AMB-112)', () => {
    const world = fixture(COLLATERAL);
    world.place({ ...SPOT, user: BOB, side: buy, quantity: 10, price: 100 });
    const first = world.place({ ...SPOT, side: buy, quantity: 6 });
    assert.equal(world.verdict({ ...SPOT, side: buy, quantity: 4.0001 }), CAP);
    world.place({ ...SPOT, id: 'second', side: buy, quantity: 4 });
    assert.equal(codeOf(world.replace('second', { quantity: 4.0001, price: 1 })), CAP, 'more lots for less money');
    world.spot(ETH, 1, 1, BOB);
    assert.equal(codeOf(world.replace('second', { quantity: 4, price: 2_000 })), 'ok', 'as many lots as before');
    world.end(first, ORDER_END.userRequested);
    assert.equal(world.verdict({ ...SPOT, side: buy, quantity: 5.0001 }), CAP);
    assert.equal(world.verdict({ ...SPOT, side: buy, quantity: 5 }), 'ok');
  });

  test('fills on their way count until they are rolled back, what is transferred away until it is booked (AMB-54, AMB-112)', () => {
    const world = fixture(COLLATERAL);
    world.spot(ETH, 20, 0, BOB);
    const maker = world.place({ user: BOB, side: sell, quantity: 9, isSpot: true, account: 0 });
    const taker = world.place({ ...SPOT, side: buy, quantity: 9 });
    const trade = world.match(maker, taker, 2_000, 9, buy);
    assert.equal(world.verdict({ ...SPOT, user: BOB, side: buy, quantity: 1.0001 }), CAP);
    world.rollBack(trade);
    world.end(taker, ORDER_END.userRequested);
    assert.equal(world.verdict({ ...SPOT, user: BOB, side: buy, quantity: 10 }), 'ok');

    world.spot(ETH, 10);
    const from = { user: ALICE, subAccount: 1, asset: ETH };
    const taken = world.manager.setAsides.take({ from, amount: usd(4), leaves: true }, world.nowNs);
    assert.ok(taken.ok);
    assert.equal(world.verdict({ ...SPOT, side: buy, quantity: 4 }), CAP, 'clearing may refuse the transfer');
    world.spot(ETH, 6);
    taken.value.free();
    assert.equal(world.verdict({ ...SPOT, side: buy, quantity: 4.0001 }), CAP);
    assert.equal(world.verdict({ ...SPOT, side: buy, quantity: 4 }), 'ok');
  });

  test('balances of a margin account count whether they or the account are received first (CAP-08, SUB-04)', () => {
    for (const isAccountFirst of [true, false]) {
      const world = fixture(COLLATERAL);
      const row = { user: BOB, subAccount: 2, kind: 'cross_margin', name: 'two', asset: null } as const;
      if (isAccountFirst) world.manager.onSubAccountChanged(row);
      world.spot(ETH, 10, 2, BOB);
      if (!isAccountFirst) world.manager.onSubAccountChanged(row);
      world.manager.onSubAccountChanged({ ...row, name: 'again' });
      assert.equal(world.manager.margin.accounts.measures(ETH).collateral, usd(10));
      assert.equal(world.verdict({ ...SPOT, side: buy, quantity: 0.0001 }), CAP);
    }
  });

  test('a released order is checked again, and a simulation answers what order entry would (TRG-02, SIM-01, AMB-71)', () => {
    const world = fixture(COLLATERAL);
    const stop = world.place({ ...SPOT, side: buy, quantity: 10, above: 200_000 });
    const trial = { user: ALICE, subAccount: 1, asset: ETH, side: buy, isSpot: true, transfers: [] };
    const accepts = (size: number, transfer = 0): boolean | null => {
      const transfers = transfer === 0 ? [] : [{ asset: ETH, amount: usd(transfer) }];
      const asked = { ...trial, transfers, size: usd(size), price: usd(2_000) };
      const tried = world.manager.margin.simulate(asked, world.nowNs);
      return tried.ok ? tried.value.isAccepted : null;
    };
    world.place({ ...SPOT, side: buy, quantity: 1 });
    assert.deepEqual([accepts(9), accepts(10), accepts(9, 1)], [true, false, false]);
    world.trigger(stop, 100_000);
    world.decide();
    assert.deepEqual(
      world.sink.releases.map(({ end }) => end),
      [ORDER_END.marginInsufficient],
    );
  });
});

suite('caps and market orders that are sized in quote', () => {
  const verdict = (cap: object, wish: Pick<MarginWish, 'side' | 'isSpot' | 'market'>): string =>
    fixture(cap).verdict(wish);

  test('their lots are those at the lowest price that they may meet, a tenth below oracle and mark (CAP-04, CAP-10, AMB-39)', () => {
    for (const [cap, wish] of [
      [OPEN, { side: buy }],
      [OPEN, { side: sell }],
      [NET, { side: buy }],
      [NET, { side: sell }],
      [COLLATERAL, { side: buy, isSpot: true }],
    ] as const) {
      assert.equal(verdict(cap, { ...wish, market: { quote: 180_000_000 } }), 'ok', '18,000 USD are 10 units at 1,800');
      assert.equal(verdict(cap, { ...wish, market: { quote: 180_001_000 } }), CAP);
    }
  });

  test('a sale with a cap of its own counts no more lots than that (CAP-04, AMB-39)', () => {
    for (const cap of [OPEN, NET]) {
      assert.equal(verdict(cap, { side: sell, market: { quote: 190_000_000, cap: 100_000 } }), 'ok');
      assert.equal(verdict(cap, { side: sell, market: { quote: 190_000_000, cap: 100_001 } }), CAP);
    }
  });
});
