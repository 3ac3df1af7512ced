// tier: quick
/** What a trader who pays himself does to the orders of the node: nothing, while the oracle is young (LIQ-07, BKS-05, MON-06). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { must } from '../../../src/core/assert.ts';
import type { RawPrice, RawQuantity } from '../../../src/core/units.ts';
import { BackstopWorld, MAKER } from '../../support/backstop-world.ts';
import { effectsOf } from '../../support/clearing-world.ts';
import { ALICE, BTC, CAROL, ETH, USD } from '../../support/names.ts';
import { propertyParameters } from '../../support/property.ts';

const PARAMETERS = propertyParameters(60);
const SELF = { user: CAROL, subAccount: 0, isSpot: true };
const MAKER_SIDE = { user: MAKER };
const SECOND_NS = 1_000_000_000n;
/** Trades that heal a mark that was stale. */
const HEALING = 3;
/** Below the band of ETH, 1 − 1/1.05. */
const BAND = 0.0476;

/** An account with one position at 2000, and what happens to its price. */
interface Plot {
  readonly isShort: boolean;
  /** ETH. */
  readonly size: number;
  /** USD for each ETH of the position. */
  readonly collateral: number;
  readonly oracle: number;
  /** Whole seconds, at most 120. */
  readonly oracleAge: number;
  /** Fraction of the oracle. */
  readonly wash: number;
}

interface NodeOrderTerms {
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
}

function inCents(price: number): number {
  return Math.round(price * 100) / 100;
}

function opened({ isShort, size, collateral, oracle, oracleAge }: Plot): BackstopWorld {
  const world = BackstopWorld.withBackstop();
  world.fund(MAKER, USD, '10000000', 1);
  world.fund(ALICE, USD, (collateral * size).toFixed(6), 1);
  world.fund(CAROL, USD, '1000');
  world.fund(CAROL, ETH, '1');
  const [buyer, seller] = isShort ? [MAKER_SIDE, { user: ALICE }] : [{ user: ALICE }, MAKER_SIDE];
  world.open({ buyer, seller, price: 2000, quantity: size });
  world.prices({ [ETH]: String(oracle), [BTC]: '50000' });
  world.pass(BigInt(oracleAge) * SECOND_NS);
  return world;
}

function wash(world: BackstopWorld, price: number): void {
  for (let trade = 0; trade < HEALING; trade += 1) {
    world.open({ buyer: SELF, seller: SELF, price: inCents(price), quantity: 0.01 });
  }
}

/** The first order of a liquidation; null where the account is not below maintenance. */
function liquidationOrder(plot: Plot, isWashed: boolean): NodeOrderTerms | null {
  const world = opened(plot);
  if (isWashed) wash(world, plot.oracle * (1 + plot.wash));
  const step = { kind: 'liquidationStep', user: ALICE, subAccount: 1 } as const;
  world.send(step);
  world.send({ kind: 'accountCleared', request: world.request(), user: ALICE, subAccount: 1, through: [] });
  return effectsOf(world.send(step), 'nodeOrder').map(termsOf)[0] ?? null;
}

function clip(plot: Plot, isWashed: boolean): NodeOrderTerms {
  const world = opened(plot);
  world.takenOver(ALICE);
  if (isWashed) wash(world, plot.oracle * (1 + plot.wash));
  return must(effectsOf(world.stepAll(), 'nodeOrder').map(termsOf)[0], 'the backstop has a clip');
}

function termsOf({ price, quantity }: NodeOrderTerms): NodeOrderTerms {
  return { price, quantity };
}

/** The midpoint by the oracle, in cents: CF 90 and LF 95. */
function byTheOracle({ isShort, oracle }: Plot): number {
  const cents = BigInt(Math.round(oracle * 100));
  return Number(isShort ? (cents * 205n + 199n) / 200n : (cents * 190n) / 200n);
}

const PLOTS = fc
  .record({
    isShort: fc.boolean(),
    lots: fc.integer({ min: 100, max: 200_000 }),
    collateral: fc.integer({ min: 230, max: 300 }),
    move: fc.integer({ min: 20, max: 300 }),
    oracleAge: fc.integer({ min: 0, max: 120 }),
    wash: fc.integer({ min: -1_000, max: 1_000 }),
  })
  .map(
    ({ isShort, lots, collateral, move, oracleAge, wash: share }): Plot => ({
      isShort,
      size: lots / 10_000,
      collateral,
      oracle: inCents(2000 * (1 + ((isShort ? 1 : -1) * move) / 1_000)),
      oracleAge,
      wash: (share / 1_000) * BAND,
    }),
  );

suite('a trade of an owner with himself', () => {
  test('LIQ-07, MON-06: within the band it moves the price of no liquidation order while the oracle is young', () => {
    let compared = 0;
    fc.assert(
      fc.property(PLOTS, (plot) => {
        const [calm, washed] = [liquidationOrder(plot, false), liquidationOrder(plot, true)];
        // The mark of 2000, or that of the wash, may be what makes the account safe or not; never what its order costs.
        for (const order of [calm, washed]) if (order !== null) assert.equal(order.price, byTheOracle(plot));
        if (calm === null || washed === null) return;
        assert.deepEqual(washed, calm);
        compared += 1;
      }),
      PARAMETERS,
    );
    assert.ok(compared >= 20, `${compared} accounts were liquidated either way`);
  });

  test('BKS-05, MON-06: nor price and size of a clip of the backstop', () => {
    fc.assert(
      fc.property(PLOTS, (plot) => {
        const order = clip(plot, true);
        assert.deepEqual(order, clip(plot, false));
        assert.equal(order.price, byTheOracle(plot));
      }),
      PARAMETERS,
    );
  });

  test('LIQ-07: at the end of the band it does not bring the order to a bid 8 % below the oracle', () => {
    const plot = { isShort: false, size: 1, collateral: 230, oracle: 1900, oracleAge: 0, wash: -BAND };
    // By the mark it would be 1719.08, 9.5 % below, and a bid of that owner at 1748 would be taken.
    assert.deepEqual(liquidationOrder(plot, true), { price: 180_500, quantity: 10_000 });
  });
});
