// tier: quick
/** What keeps an account below maintenance from being liquidated or taken over: assets without a price (AMB-45, AMB-110, MON-11). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { FIRST_PRICE_NS } from '../../../src/clearing/account-margin.ts';
import type { Effect } from '../../../src/clearing/effects.ts';
import { must } from '../../../src/core/assert.ts';
import { format18 } from '../../../src/core/decimal.ts';
import { ORDER_END, ORDER_FLAG, TIF } from '../../../src/core/order-terms.ts';
import { type Amount18, SECOND_NS } from '../../../src/core/units.ts';
import { ORACLE_STALE_NS, STORED_PRICE_NS } from '../../../src/risk/prices.ts';
import { effectsOf, PlainTables } from '../../support/clearing-world.ts';
import { MarginWorld } from '../../support/margin-world.ts';
import { ALICE, BOB, BTC, CAROL, ETH, USD } from '../../support/names.ts';

const A = { user: ALICE };
const B = { user: BOB };
const HALF_HOUR_NS = ORACLE_STALE_NS / 2n;

/** Alice is short 1 ETH at 2000 with 300 USD behind it: below maintenance from 2190.48 on. Bob has the other side. */
function shortOfEth(): MarginWorld {
  const world = MarginWorld.make();
  world.fund(ALICE, USD, '300', 1);
  world.fund(BOB, USD, '1000000', 1);
  assert.equal(world.trade({ buyer: B, seller: A, price: 2000, quantity: 1 }), 'confirmed');
  return world;
}

/** Time passes, and these assets are priced all the while. */
function passPricing(world: MarginWorld, ns: bigint, prices: Readonly<Record<string, string>>): void {
  for (let left = ns; left > 0n; left -= HALF_HOUR_NS) {
    world.pass(left < HALF_HOUR_NS ? left : HALF_HOUR_NS);
    world.prices(prices);
  }
}

function step(world: MarginWorld): Effect[] {
  return world.send({ kind: 'liquidationStep', user: ALICE, subAccount: 1 });
}

function begins(world: MarginWorld): boolean {
  return effectsOf(step(world), 'liquidationChanged').length === 1;
}

function stage(world: MarginWorld): string {
  const row = world.state.users.get(ALICE)?.subAccounts.get(1)?.liquidation ?? null;
  return row === null ? 'none' : `${row.stage} ${row.round}`;
}

/** One round in which no order of the node finds a counterparty. @returns the assets that were ordered. */
function unmatchedRound(world: MarginWorld): readonly string[] {
  const request = world.request();
  world.send({ kind: 'accountCleared', request, user: ALICE, subAccount: 1, through: [] });
  const assets: string[] = [];
  for (;;) {
    const [order] = effectsOf(step(world), 'nodeOrder');
    if (order === undefined) break;
    const { marketIndex, orderId, side, price, quantity } = order;
    const flags = ORDER_FLAG.nodeMade | ORDER_FLAG.liquidation | ORDER_FLAG.reduceOnly;
    const terms = { user: ALICE, subAccount: 1, orderId, side, price, quantity, flags, tif: TIF.ioc, text: '{}' };
    const name = world.create({ ...terms, maxFeeRate: 0xffff_ffff }, marketIndex);
    const end = ORDER_END.immediateOrCancel;
    world.send({ kind: 'ended', ...world.next(marketIndex), order: name, end, faultReason: 0 });
    assets.push(marketIndex === 0 ? ETH : BTC);
  }
  return assets;
}

suite('a credit without a price', () => {
  test('MON-11, AMB-45: shields while the account would be at maintenance with it at CF × its last price, and not by a unit less', () => {
    const world = shortOfEth();
    passPricing(world, ORACLE_STALE_NS + 1n, { [ETH]: '2200' });
    const lacks = -world.figures(ALICE).maintenanceSurplus;
    assert.ok(lacks > 0n);
    // BTC was 50,000 and counts 95 %.
    const enough = (lacks * 100n + 4_749_999n) / 4_750_000n;
    world.fund(ALICE, BTC, format18(enough as Amount18), 1);
    assert.equal(world.figures(ALICE).isLiquidatable, false);
    assert.equal(begins(world), false);
    world.fund(ALICE, BTC, '-0.000000000000000001', 1);
    assert.equal(world.figures(ALICE).isLiquidatable, true);
    assert.equal(begins(world), true);
  });

  test('MON-11: two USD of it do not shield a debt of thousands', () => {
    const world = shortOfEth();
    world.fund(ALICE, BTC, '0.00004', 1);
    passPricing(world, ORACLE_STALE_NS + 1n, { [ETH]: '9000' });
    assert.equal(begins(world), true, 'a dollar was enough before');
  });

  test('MON-11: no shield is older than two hours', () => {
    const world = shortOfEth();
    world.fund(ALICE, BTC, '1', 1);
    passPricing(world, STORED_PRICE_NS, { [ETH]: '2200' });
    assert.equal(begins(world), false);
    world.pass(1n);
    assert.equal(begins(world), true);
  });

  test('MON-11: its owner makes it no larger by trading with himself', () => {
    const world = shortOfEth();
    world.fund(ALICE, BTC, '0.0001', 1);
    world.fund(CAROL, USD, '1000000');
    world.fund(CAROL, BTC, '1');
    passPricing(world, ORACLE_STALE_NS + 1n, { [ETH]: '2200' });
    const self = { user: CAROL, subAccount: 0, isSpot: true };
    assert.equal(
      world.trade({ buyer: self, seller: self, price: 9_000_000, quantity: 0.1, marketIndex: 1 }),
      'confirmed',
    );
    assert.equal(begins(world), true);
  });
});

suite('a short without a price', () => {
  test('MON-11: what is priced is ordered and taken over, and the other leg goes with it at its last price', () => {
    const world = shortOfEth();
    const long = { buyer: A, seller: B, price: 50_000, quantity: 0.01, marketIndex: 1 };
    world.fund(ALICE, USD, '100', 1);
    assert.equal(world.trade(long), 'confirmed');
    passPricing(world, 2n * ORACLE_STALE_NS, { [BTC]: '20000' });
    assert.equal(begins(world), true);
    for (let round = 1; round <= 3; round += 1) {
      assert.equal(stage(world), `cancelling ${round}`);
      assert.deepEqual(unmatchedRound(world), [BTC]);
      world.pass(SECOND_NS);
      step(world);
    }
    assert.equal(stage(world), 'none');
    const [row] = world.state.backstopRows.values();
    const { taken, provisional } = must(row ?? null, 'a row of the backstop');
    assert.deepEqual(
      taken.map(({ asset, quantity }) => [asset, format18(quantity)]),
      [
        [BTC, '0.01'],
        [ETH, '-1'],
      ],
    );
    assert.ok(provisional > 0n, 'the debt of ETH counts at 2000');
  });

  test('MON-11: an account with nothing else is taken over after the last round too', () => {
    const world = shortOfEth();
    world.prices({ [ETH]: '2300' });
    world.pass(2n * ORACLE_STALE_NS);
    assert.equal(begins(world), true, 'a borrow counts in full');
    for (let round = 1; round <= 3; round += 1) {
      assert.equal(stage(world), `cancelling ${round}`);
      assert.deepEqual(unmatchedRound(world), []);
      world.pass(SECOND_NS);
      step(world);
    }
    assert.deepEqual([stage(world), world.state.backstopRows.size], ['none', 1]);
  });
});

suite('after a start', () => {
  test('MON-11, AMB-110: nothing begins before the first price of each asset held, or for an hour, and a start anew begins that hour', () => {
    const world = shortOfEth();
    world.prices({ [ETH]: '2300' });
    world.send({ kind: 'restarted', clean: true });
    world.pass(FIRST_PRICE_NS);
    assert.equal(begins(world), false);
    world.send({ kind: 'restarted', clean: true });
    world.pass(FIRST_PRICE_NS);
    assert.equal(begins(world), false);
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    assert.equal(tables.load().startedNs, world.state.startedNs, 'a state that is loaded waits as long');
    world.pass(1n);
    assert.equal(begins(world), true);
  });
});
