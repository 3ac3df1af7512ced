// tier: quick

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ORDER_END, ORDER_KIND, ROLLBACK_REASON, SIDE, TIF, TRIGGER } from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence } from '../../src/core/units.ts';
import { ClearingWorld, effectsOf, type OrderTerms, PlainTables, reasonsOf } from '../support/clearing-world.ts';
import { ALICE, BOB, CAROL, ETH, USD } from '../support/names.ts';

const E18 = 10n ** 18n;
const R = ROLLBACK_REASON;
/** One USD as a quote integer: the market has 4 quantity decimals. */
const DOLLAR = 10_000;

/** Alice has 10,000 USD and Bob 10 ETH; the taker's fee is 500 in 1e-6. */
function funded(): ClearingWorld {
  const world = ClearingWorld.withMarket({ taker_fee_rate: 500 });
  world.fund(ALICE, USD, '10000');
  world.fund(BOB, ETH, '10');
  return world;
}

function marketTerms(terms: OrderTerms): OrderTerms {
  return { kind: ORDER_KIND.marketBase, tif: TIF.ioc, price: 0, ...terms };
}

/** A resting sell of Bob's at 2000. */
function resting(world: ClearingWorld, quantity = 50_000): Sequence {
  return world.create({ user: BOB, side: SIDE.sell, quantity });
}

suite('market orders', () => {
  test('a quote-sized buy of 5000 holds 5002.5, less what its confirmed fills spent (AMB-39, AMB-52, EX-27)', () => {
    const world = funded();
    const maker = resting(world);
    const taker = world.create(marketTerms({ kind: ORDER_KIND.marketQuote, quantity: 0, amount: 5_000 * DOLLAR }));
    assert.equal(world.held(ALICE, USD), (50_025n * E18) / 10n);
    world.match(maker, taker, 10_000);
    assert.equal(world.held(ALICE, USD), (30_015n * E18) / 10n);
    world.end(taker, ORDER_END.immediateOrCancel);
    assert.equal(world.held(ALICE, USD), 0n);
  });

  test('what each kind holds follows from its cap, target, budget or quantity (AMB-05, AMB-39, AMB-52)', () => {
    const quote = { kind: ORDER_KIND.marketQuote, quantity: 0 };
    const sells = { user: BOB, side: SIDE.sell };
    const cases: readonly (readonly [string, OrderTerms, bigint])[] = [
      ['a base-sized buy holds its cap', { quantity: 10_000, amount: 1_000 * DOLLAR }, (10_005n * E18) / 10n],
      ['or its budget', { quantity: 10_000, budget: 2_000 * DOLLAR }, 2_001n * E18],
      ['the cap is what counts when it has both', { amount: DOLLAR, budget: 9 * DOLLAR }, (10_005n * E18) / 10_000n],
      ['a quote-sized buy its target', { ...quote, amount: 100 * DOLLAR }, (10_005n * E18) / 100n],
      ['a base-sized sell its quantity', { ...sells, quantity: 25_000 }, (25n * E18) / 10n],
      ['a quote-sized sell its base cap', { ...quote, ...sells, quantity: 5_000, amount: DOLLAR }, E18 / 2n],
      ['or its budget', { ...quote, ...sells, amount: DOLLAR, budget: 100_000 }, 10n * E18],
      ['a margin order holds no spot', { ...sells, quantity: 25_000, flags: 0 }, 0n],
    ];
    for (const [name, terms, held] of cases) {
      const world = funded();
      world.create(marketTerms(terms));
      assert.equal(world.held(ALICE, USD) + world.held(BOB, ETH), held, name);
    }
  });

  test('a market order has no limit price to be beyond (FIL-10, FIL-17)', () => {
    const world = funded();
    const maker = world.create({ user: BOB, side: SIDE.sell, price: 900_000 });
    const taker = world.create(marketTerms({ quantity: 10_000 }));
    const effects = world.match(maker, taker, 10_000, { price: 900_000 as RawPrice });
    assert.equal(effectsOf(effects, 'fillConfirmed').length, 1);
    assert.equal(world.finished(taker)?.end, ORDER_END.filled, 'its quantity is reached');
  });

  test('more than the quantity, the base cap, the quote cap or the target is an overfill, to the last lot (FIL-11, AMB-05)', () => {
    const overfill = [[R.counterpartyAtFault, R.overfill]];
    // Two fills: one that fits, and one lot more than the rest.
    const cases: readonly (readonly [string, OrderTerms, number, number])[] = [
      ['quantity', { quantity: 10_000 }, 6_000, 4_000],
      ['quote cap', { quantity: 40_000, amount: 2_000 * DOLLAR }, 6_000, 4_000],
      ['target', { kind: ORDER_KIND.marketQuote, quantity: 0, amount: 2_000 * DOLLAR }, 6_000, 4_000],
    ];
    for (const [name, terms, first, rest] of cases) {
      const world = funded();
      const maker = resting(world);
      const taker = world.create(marketTerms(terms));
      assert.deepEqual(reasonsOf(world.match(maker, taker, first)), [], name);
      assert.deepEqual(reasonsOf(world.match(maker, taker, rest + 1)), overfill, name);
      assert.deepEqual(reasonsOf(world.match(maker, taker, rest)), [], name);
    }
    const world = funded();
    const maker = world.create({ quantity: 50_000 });
    const capped = {
      kind: ORDER_KIND.marketQuote,
      user: BOB,
      side: SIDE.sell,
      quantity: 4_000,
      amount: 9_000 * DOLLAR,
    };
    const taker = world.create(marketTerms(capped));
    assert.deepEqual(reasonsOf(world.match(maker, taker, 4_001)), overfill, 'base cap');
    assert.deepEqual(reasonsOf(world.match(maker, taker, 4_000)), []);
  });

  test('a budget is the gateway’s, not the user’s: clearing judges by what is owned (AMB-39)', () => {
    const world = funded();
    const maker = resting(world);
    const taker = world.create(marketTerms({ quantity: 40_000, budget: DOLLAR }));
    assert.deepEqual(reasonsOf(world.match(maker, taker, 40_000)), []);
    const poor = world.create(marketTerms({ quantity: 10_000 }));
    assert.deepEqual(reasonsOf(world.match(maker, poor, 10_000)), [[R.counterpartyAtFault, R.insufficientInventory]]);
  });

  test('a quantity that is reached ends an order sized in base; one sized in quote waits for its market’s word (AMB-37)', () => {
    const world = funded();
    const maker = resting(world);
    const base = world.create(marketTerms({ quantity: 5_000, amount: 9_000 * DOLLAR }));
    world.match(maker, base, 5_000);
    assert.equal(world.finished(base)?.end, ORDER_END.filled);
    const bids = world.create({ quantity: 50_000 });
    const quote = { kind: ORDER_KIND.marketQuote, user: BOB, side: SIDE.sell, quantity: 4_000, amount: 9_000 * DOLLAR };
    const capped = world.create(marketTerms(quote));
    world.match(bids, capped, 4_000);
    assert.notEqual(world.order(capped), undefined);
    world.end(capped, ORDER_END.filled);
    assert.equal(world.finished(capped)?.end, ORDER_END.filled);
    assert.equal(world.held(BOB, ETH), 45_000n * 10n ** 14n, 'only the resting sell holds base now');
  });

  test('a market order that its market calls filled is over, and filled only if no fill rolled back (AMB-32 c, AMB-128)', () => {
    const cases: readonly (readonly [string, readonly boolean[], number])[] = [
      ['all confirmed', [true, true], ORDER_END.filled],
      ['one rolled back', [true, false], ORDER_END.immediateOrCancel],
      ['all rolled back', [false, false], ORDER_END.rolledBack],
    ];
    for (const said of [ORDER_END.filled, ORDER_END.immediateOrCancel] as const) {
      for (const [name, fills, end] of cases) {
        const world = funded();
        const maker = resting(world);
        const broke = world.create({ user: CAROL, side: SIDE.sell });
        const taker = world.create(marketTerms({ kind: ORDER_KIND.marketQuote, quantity: 0, amount: 5_000 * DOLLAR }));
        for (const passes of fills) world.match(passes ? maker : broke, taker, 1_000);
        world.end(taker, said);
        assert.equal(world.order(taker), undefined);
        assert.equal(world.finished(taker)?.end, fills.includes(false) ? end : said, name);
        assert.equal(world.held(ALICE, USD), 0n);
      }
    }
  });

  test('that a fill rolled back is known after a checkpoint and a start (AMB-110)', () => {
    const world = funded();
    const broke = world.create({ user: CAROL, side: SIDE.sell });
    const taker = world.create(marketTerms({ kind: ORDER_KIND.marketQuote, quantity: 0, amount: DOLLAR }));
    world.match(broke, taker, 1);
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    world.state = tables.load();
    world.end(taker, ORDER_END.filled);
    assert.equal(world.finished(taker)?.end, ORDER_END.rolledBack);
  });

  test('a market fill-or-kill is cleared whole or not at all (TIF-06, AMB-34, EX-25)', () => {
    const run = (secondHas: string) => {
      const world = funded();
      world.fund(CAROL, ETH, secondHas);
      const first = world.create({ user: BOB, side: SIDE.sell, quantity: 10_000 });
      const second = world.create({ user: CAROL, side: SIDE.sell, price: 201_000, quantity: 20_000 });
      // 1 at 2000 and 1.5 at 2010: 5015.
      const terms = { kind: ORDER_KIND.marketQuote, tif: TIF.fok, quantity: 0, amount: 5_015 * DOLLAR };
      const taker = world.create(marketTerms(terms));
      world.match(first, taker, 10_000, { group: 1 });
      const effects = world.match(second, taker, 15_000, { group: 2, price: 201_000 as RawPrice });
      world.end(taker, ORDER_END.filled);
      return { world, effects, first, second, taker };
    };
    const { world, effects, first, second, taker } = run('1.4999');
    assert.deepEqual(reasonsOf(effects), [
      [R.counterpartyAtFault, R.counterpartyAtFault],
      [R.insufficientInventory, R.counterpartyAtFault],
    ]);
    assert.equal(world.finished(taker)?.end, ORDER_END.rolledBack);
    assert.equal(world.finished(taker)?.filledQuantity, 0);
    assert.equal(world.owned(ALICE, USD), 10_000n * E18);
    assert.equal(world.order(first)?.faultReason, R.none);
    assert.equal(world.order(second)?.faultReason, R.insufficientInventory);
    const passed = run('1.5');
    assert.equal(effectsOf(passed.effects, 'fillConfirmed').length, 2);
    assert.equal(passed.world.finished(passed.taker)?.end, ORDER_END.filled);
  });

  test('the fills of a unit count together against a target (FIL-11, AMB-34)', () => {
    const world = funded();
    const maker = resting(world);
    const terms = { kind: ORDER_KIND.marketQuote, tif: TIF.fok, quantity: 0, amount: 2_000 * DOLLAR };
    const taker = world.create(marketTerms(terms));
    world.match(maker, taker, 6_000, { group: 1 });
    const overfilled = [R.counterpartyAtFault, R.overfill];
    assert.deepEqual(reasonsOf(world.match(maker, taker, 4_001, { group: 2 })), [overfilled, overfilled]);
  });

  test('market orders whose end the market had no time to send are gone, dormant ones stay (AMB-110)', () => {
    const world = funded();
    const maker = resting(world);
    const quote = { kind: ORDER_KIND.marketQuote, quantity: 0, amount: 2_000 * DOLLAR };
    const ioc = world.create(marketTerms(quote));
    const killed = world.create(marketTerms({ ...quote, tif: TIF.fok }));
    const whole = world.create(marketTerms({ ...quote, tif: TIF.fok }));
    world.match(maker, whole, 10_000);
    const trigger = { triggerKind: TRIGGER.above, triggerPrice: 300_000 };
    const dormant = world.create(marketTerms({ ...quote, ...trigger }));
    const ended = effectsOf(world.send({ kind: 'restarted', clean: false }), 'orderEnded');
    assert.deepEqual(
      ended.map((effect) => [effect.row.orderSequence, effect.row.end]),
      [
        [ioc, ORDER_END.immediateOrCancel],
        [killed, ORDER_END.fillOrKill],
        [whole, ORDER_END.filled],
      ],
    );
    assert.notEqual(world.order(dormant), undefined);
  });
});
