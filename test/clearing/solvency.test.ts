// tier: quick
/** No trade makes money: what a margin account may lose ends where it has nothing left (docs/decisions/0014). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { assetTermsOf } from '../../src/clearing/risks.ts';
import { larger, smaller } from '../../src/core/arithmetic.ts';
import { must } from '../../src/core/assert.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import { ONE_18, type RawPrice } from '../../src/core/units.ts';
import { MARK_STALE_NS, ORACLE_STALE_NS } from '../../src/risk/prices.ts';
import { e18, MarginWorld, type Side18 } from '../support/margin-world.ts';
import { ALICE, BOB, CAROL, ETH, USD } from '../support/names.ts';
import { propertyParameters } from '../support/property.ts';

const PARAMETERS = propertyParameters(60);
const A = { user: ALICE };
/** Bob's money and ETH are his own: a Spot account. */
const B = { user: BOB, subAccount: 0, isSpot: true };

/** Alice is short or long 1 ETH at about 2000 with 1000 USD behind it; Bob has the other side in spot. */
function puppets(side: 'short' | 'long'): MarginWorld {
  const world = MarginWorld.make();
  world.fund(ALICE, USD, '1000', 1);
  world.fund(BOB, USD, '10000');
  world.fund(BOB, ETH, '10');
  const terms = { price: 2000, quantity: 1 };
  const opened = side === 'short' ? { buyer: B, seller: A } : { buyer: A, seller: B };
  assert.equal(world.trade({ ...terms, ...opened }), 'confirmed');
  return world;
}

suite('a trade that only reduces', () => {
  test('skips the initial margin and not the solvency (MRG-10, MRG-14, MRG-15)', () => {
    const world = puppets('short');
    const close = { buyer: { ...A, reduceOnly: true }, seller: B, quantity: 1 };
    const refused = ['CounterpartyAtFault', 'InsufficientMargin'];
    // 1000 of its own and 2000 of the sale pay for it, and for a fee of 0.05 %.
    for (const price of [90_000_000_000, 3000, 2998.51]) {
      assert.deepEqual(world.trade({ ...close, price }), refused, String(price));
      assert.equal(world.owned(BOB, USD), e18('7999'));
    }
    assert.equal(world.trade({ ...close, price: 2998.5 }), 'confirmed');
    assert.deepEqual(world.legs(ALICE), ['0', '-999.99925', '0']);
  });

  test('of a long neither, at a price of nothing (MRG-14)', () => {
    const world = puppets('long');
    const close = { buyer: B, seller: { ...A, reduceOnly: true }, quantity: 1 };
    assert.deepEqual(world.trade({ ...close, price: 0.01 }), ['InsufficientMargin', 'CounterpartyAtFault']);
    assert.equal(world.trade({ ...close, price: 1001 }), 'confirmed');
  });

  test('of an account with more debt than assets passes where the trade itself costs nothing (MRG-14, MRG-15)', () => {
    const world = puppets('short');
    world.pass(MARK_STALE_NS + 1n);
    world.prices({ [ETH]: '4000' });
    assert.ok(world.figures(ALICE).equity < 0n);
    // Makers pay no fee here, so that the oracle's price is the edge.
    const close = (price: number): string | readonly (string | null)[] => {
      const maker = world.place(SIDE.buy, { ...A, reduceOnly: true }, price, 0.5);
      const taker = world.place(SIDE.sell, B, price, 0.5);
      return world.outcome(world.matchOf(maker, taker, price, 0.5));
    };
    assert.deepEqual(close(4000.01), ['InsufficientMargin', 'CounterpartyAtFault']);
    assert.equal(close(4000), 'confirmed');
  });

  test('of a broken asset counts at the last stored prices (MRG-14, CB-06, AMB-44)', () => {
    const world = puppets('long');
    world.pass(ORACLE_STALE_NS + 1n);
    assert.ok(world.figures(ALICE).equity < 0n);
    const close = { buyer: B, seller: { ...A, reduceOnly: true }, quantity: 0.5 };
    assert.equal(world.trade({ ...close, price: 1900 }), 'confirmed');
    assert.deepEqual(world.trade({ ...close, price: 10 }), ['InsufficientMargin', 'CounterpartyAtFault']);
  });

  test('is refused by no interest cap, whatever its counterparty does (CAP-02, CAP-07, AMB-54)', () => {
    const world = MarginWorld.make({ max_spot_open_interest: e18('10').toString() });
    for (const user of [ALICE, BOB]) world.fund(user, USD, '100000', 1);
    world.fund(CAROL, USD, '100000');
    world.fund(CAROL, ETH, '100');
    const [alice, bob, carol] = [A, { user: BOB }, { user: CAROL, subAccount: 0, isSpot: true }];
    assert.equal(world.trade({ buyer: alice, seller: bob, price: 2000, quantity: 5 }), 'confirmed');
    assert.equal(world.trade({ buyer: carol, seller: bob, price: 2000, quantity: 10 }), 'confirmed');
    // Shorts outweigh longs by 10 already, and by 15 without the long of 5.
    const grow = { buyer: carol, seller: bob, price: 2000, quantity: 0.0001 };
    assert.deepEqual(world.trade(grow), ['ProtocolCapBreach', 'CounterpartyAtFault']);
    const close = { buyer: carol, seller: { ...alice, reduceOnly: true }, price: 2000, quantity: 5 };
    assert.equal(world.trade(close), 'confirmed');
  });
});

test('a trade that improves a negative surplus leaves the account solvent too (MRG-15)', () => {
  const world = MarginWorld.make();
  world.fund(ALICE, ETH, '1', 1);
  world.fund(CAROL, USD, '10000', 1);
  world.fund(BOB, USD, '10000');
  assert.equal(world.trade({ buyer: A, seller: { user: CAROL }, price: 2000, quantity: 1 }), 'confirmed');
  // Worth 199 with 2 ETH at 1100 and a debt of 2001; an ETH counts 110 as collateral.
  world.pass(MARK_STALE_NS + 1n);
  world.put('putRisk', ETH, { collateral_factor: 10 }, 'patch');
  world.prices({ [ETH]: '1100' });
  assert.equal(world.figures(ALICE).initialSurplus, e18('-1781'));
  const sale = { buyer: B, seller: { ...A, isSpot: true }, quantity: 1 };
  for (const price of [500, 900.99]) {
    assert.deepEqual(world.trade({ ...sale, price }), ['InsufficientMargin', 'CounterpartyAtFault']);
  }
  assert.equal(world.trade({ ...sale, price: 901 }), 'confirmed');
});

test('no reducing trade of an account at maintenance is refused at a price between oracle and mark that costs it less than its surplus (MRG-14, MON-06, docs/decisions/0043)', () => {
  const cents = fc.integer({ min: 100_000, max: 300_000 });
  const lots = fc.integer({ min: 1, max: 10_000 });
  let [reduced, healthy] = [0, 0];
  fc.assert(
    fc.property(fc.boolean(), cents, cents, lots, fc.nat({ max: 100 }), (isShort, oracle, wash, closed, share) => {
      const world = puppets(isShort ? 'short' : 'long');
      world.fund(CAROL, USD, '10000');
      world.fund(CAROL, ETH, '1');
      world.prices({ [ETH]: String(oracle / 100) });
      const self = { user: CAROL, subAccount: 0, isSpot: true };
      assert.equal(world.trade({ buyer: self, seller: self, price: wash / 100, quantity: 0.0001 }), 'confirmed');
      const { maintenanceSurplus } = world.figures(ALICE);
      const { oracle: atOracle, mark } = assetTermsOf(
        must(world.state.risks.get(ETH), 'the risk of ETH'),
        world.nowNs,
      ).prices;
      const price = Number((atOracle * BigInt(share) + mark * BigInt(100 - share)) / 10n ** 18n) / 100;
      const quantity = closed / 10_000;
      // What it is worse off at the oracle or at the mark, and the fee of a taker.
      const worst = isShort ? price - Number(smaller(atOracle, mark)) / 1e18 : 0;
      const best = isShort ? 0 : Number(larger(atOracle, mark)) / 1e18 - price;
      const loss = (Math.max(worst, best, 0) + price * 0.0005 + 0.02) * quantity;
      if (maintenanceSurplus < 0n || Number(maintenanceSurplus) / 1e18 < loss) return;
      healthy += 1;
      const sides = isShort
        ? { buyer: { ...A, reduceOnly: true }, seller: B }
        : { buyer: B, seller: { ...A, reduceOnly: true } };
      assert.equal(world.trade({ ...sides, price: Math.round(price * 100) / 100, quantity }), 'confirmed');
      reduced += 1;
    }),
    { ...PARAMETERS, includeErrorInReport: true },
  );
  assert.ok(healthy > PARAMETERS.numRuns / 4 && reduced === healthy);
});

/** Accounts of one owner, who trades with himself: three on margin, two of spot. */
const OWN: readonly Side18[] = [
  { user: ALICE },
  { user: BOB },
  { user: CAROL },
  B,
  { user: CAROL, subAccount: 0, isSpot: true },
];
const cents = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 190_000, max: 210_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 20_000, max: 400_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(1, 9_000_000_000_000) },
);
const trade = fc.record({
  kind: fc.constant('trade' as const),
  maker: fc.constantFrom(...OWN),
  taker: fc.constantFrom(...OWN),
  makerSells: fc.boolean(),
  /** Whether the maker's whole position is traded, at the side that closes it. */
  closes: fc.boolean(),
  cents,
  lots: fc.constantFrom(1, 5_000, 10_000, 25_000),
  rebate: fc.constantFrom(0, 0, -500),
});
const oracle = fc.record({ kind: fc.constant('oracle' as const), cents: fc.integer({ min: 100_000, max: 300_000 }) });
const pass = fc.record({
  kind: fc.constant('pass' as const),
  ns: fc.constantFrom(1n, MARK_STALE_NS + 1n, ORACLE_STALE_NS + 1n),
});
const step = fc.oneof(
  { weight: 12, arbitrary: trade },
  { weight: 2, arbitrary: oracle },
  { weight: 1, arbitrary: pass },
);
type Trade = typeof trade extends fc.Arbitrary<infer T> ? T : never;

/** In 10^-36 USD: Σ over the owner's accounts of what each is worth at a price, where debts of one do not count for another. */
function worth(world: MarginWorld, price: bigint): bigint {
  let sum = 0n;
  for (const { user, subAccount = 1 } of OWN) {
    const account = must(world.state.users.get(user)?.subAccounts.get(subAccount), 'an account of the owner');
    const legs = account.positions.get(ETH)?.legs;
    const base = world.owned(user, ETH, subAccount) + (legs?.base ?? 0n);
    const value = base * price + (world.owned(user, USD, subAccount) + (legs?.quote ?? 0n)) * ONE_18;
    if (value > 0n) sum += value;
  }
  return sum;
}

function playTrade(world: MarginWorld, { maker, taker, makerSells, closes, cents, lots, rebate }: Trade): void {
  const base =
    world.state.users
      .get(maker.user)
      ?.subAccounts.get(maker.subAccount ?? 1)
      ?.positions.get(ETH)?.legs.base ?? 0n;
  const isClose = closes && base !== 0n;
  const sells = isClose ? base > 0n : makerSells;
  const size = isClose ? Number((base > 0n ? base : -base) / 10n ** 14n) : lots;
  const side = sells ? SIDE.sell : SIDE.buy;
  const other = sells ? SIDE.buy : SIDE.sell;
  const names = [
    world.place(side, maker, cents / 100, size / 10_000),
    world.place(other, taker, cents / 100, size / 10_000),
  ] as const;
  const price = cents as RawPrice;
  world.match(names[0], names[1], size, { price, makerFeeRate: rebate, takerFeeRate: 500 });
}

test('no fill between accounts of one owner makes them worth more together, at the oracle or at the mark (MRG-10, MRG-14, MRG-15, AMB-116)', () => {
  let confirmed = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60, size: '+1' }), (steps) => {
      const world = MarginWorld.make();
      for (const { user, subAccount = 1 } of OWN) world.fund(user, USD, '1000', subAccount);
      for (const user of [BOB, CAROL]) world.fund(user, ETH, '3');
      for (const item of steps) {
        if (item.kind === 'oracle') world.prices({ [ETH]: String(item.cents / 100) });
        else if (item.kind === 'pass') world.pass(item.ns);
        else {
          const risk = must(world.state.risks.get(ETH), 'the risk of ETH');
          const { oracle: atOracle, mark: atMark } = assetTermsOf(risk, world.nowNs).prices;
          const before = [worth(world, atOracle), worth(world, atMark)] as const;
          const trades = world.state.tallies.trades.count;
          playTrade(world, item);
          confirmed += world.state.tallies.trades.count - trades;
          assert.ok(worth(world, atOracle) <= before[0], 'at the oracle');
          assert.ok(worth(world, atMark) <= before[1], 'at the mark');
        }
      }
    }),
    { ...PARAMETERS, includeErrorInReport: true },
  );
  assert.ok(confirmed > PARAMETERS.numRuns, 'some of it did trade');
});
