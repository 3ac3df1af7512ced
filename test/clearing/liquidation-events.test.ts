// tier: quick
/** What operators count of liquidations follows from the effects of a batch and the state after it. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Deleveraged, Effect, LiquidationChanged } from '../../src/clearing/effects.ts';
import { isLiquidationEffect, liquidationEvent } from '../../src/clearing/liquidation/liquidation-events.ts';
import { takeOver } from '../../src/clearing/liquidation/take-over.ts';
import type { TradeRow } from '../../src/clearing/rows.ts';
import type { OrderId, UserId } from '../../src/core/ids.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity, Sequence } from '../../src/core/units.ts';
import { effectsOf } from '../support/clearing-world.ts';
import { e18, MarginWorld } from '../support/margin-world.ts';
import { ALICE, BOB, ETH, USD } from '../support/names.ts';

/** Alice has 301 USD and is long 1 ETH at 2000; the mark has gone and the oracle is at 1500. */
function crashed(): MarginWorld {
  const world = MarginWorld.make();
  assert.ok(world.fund(BOB, USD, '100000', 1).ok && world.fund(ALICE, USD, '301', 1).ok);
  assert.equal(world.trade({ buyer: { user: ALICE }, seller: { user: BOB }, price: 2_000, quantity: 1 }), 'confirmed');
  world.pass(61_000_000_000n);
  world.prices({ [ETH]: '1500' });
  return world;
}

function changed(world: MarginWorld, stage: 'begun' | 'ended'): LiquidationChanged {
  return { kind: 'liquidationChanged', user: ALICE, subAccount: 1, stage, timeNs: world.nowNs };
}

suite('events of liquidations', () => {
  test('LIQ-03: one that begins or ends healthy has surplus, requirement and positions', () => {
    const world = crashed();
    const figures = { surplus: e18('-350'), requirement: e18('150'), positions: [{ asset: ETH, quantity: e18('1') }] };
    for (const [stage, kind] of [
      ['begun', 'begun'],
      ['ended', 'healthy'],
    ] as const) {
      const event = liquidationEvent(world.state, changed(world, stage), world.nowNs);
      assert.deepEqual(event, { kind, user: ALICE, subAccount: 1, ...figures });
    }
  });

  test('BKS-02: one that ends with a take-over has what was taken, the credit, and what it was worth below zero', () => {
    const world = crashed();
    const account = world.state.users.get(ALICE)?.subAccounts.get(1);
    assert.ok(account !== undefined);
    const effects: Effect[] = [];
    // 301 − 2001 + 1500: 200 below zero. The requirement is 150: 2 % of it and the surplus of −350 are credited.
    assert.ok(takeOver(world.state, account, world.nowNs, effects));
    const [effect] = effectsOf(effects, 'liquidationChanged');
    assert.ok(effect !== undefined);
    assert.deepEqual(liquidationEvent(world.state, effect, world.nowNs), {
      kind: 'takenOver',
      user: ALICE,
      subAccount: 1,
      index: 2,
      provisional: e18('353'),
      shortfall: e18('200'),
      taken: [{ asset: ETH, quantity: e18('1') }],
    });
  });

  test('ADL-07: a trade of auto-deleveraging has the counterparty, whichever side it is', () => {
    const world = crashed();
    const backstop = world.state.settings.backstop_account as UserId;
    const side = (user: UserId, subAccount: number): TradeRow['maker'] => ({
      user,
      subAccount,
      orderId: 'sys-adl-9' as OrderId,
      orderSequence: 0 as Sequence,
      fee: e18('0'),
    });
    const [ours, theirs] = [side(backstop, 4), side(BOB, 1)];
    for (const [maker, taker] of [
      [ours, theirs],
      [theirs, ours],
    ] as const) {
      const trade: TradeRow = {
        marketIndex: 0,
        tradeId: 9 as Sequence,
        price: 150_000 as RawPrice,
        quantity: 2_500 as RawQuantity,
        matchedNs: world.nowNs,
        takerSide: SIDE.buy,
        isLiquidation: false,
        isAutoDeleverage: true,
        maker,
        taker,
      };
      const effect: Deleveraged = { kind: 'deleveraged', trade, timeNs: world.nowNs };
      assert.ok(isLiquidationEffect(effect));
      assert.deepEqual(liquidationEvent(world.state, effect, world.nowNs), {
        kind: 'deleveraged',
        user: BOB,
        subAccount: 1,
        index: 4,
        asset: ETH,
        tradeId: 9,
        quantity: e18('0.25'),
        notional: e18('375'),
      });
    }
    assert.equal(isLiquidationEffect({ kind: 'replied', request: 1, outcome: { ok: true, value: {} } }), false);
  });
});
