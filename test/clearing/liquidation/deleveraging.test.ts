// tier: quick
/** Auto-deleveraging: who is closed, in which order, how much of it, at which price, and what is left of it. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { format18 } from '../../../src/core/decimal.ts';
import type { AssetId, UserId } from '../../../src/core/ids.ts';
import { SECOND_NS } from '../../../src/core/units.ts';
import { BACKSTOP, BackstopWorld, clipOf, deleveragedOf, FIRST, MAKER } from '../../support/backstop-world.ts';
import { effectsOf, user } from '../../support/clearing-world.ts';
import { ALICE, BOB, BTC, CAROL, ETH, USD } from '../../support/names.ts';

const DAVE = user('d4');
const ERIN = user('e5');
const SHORT = user('5a');

/** Trades are old, and these are the oracle prices. */
function priced(world: BackstopWorld, eth: string, btc = '50000'): void {
  world.pass(61n * SECOND_NS);
  world.prices({ [ETH]: eth, [BTC]: btc });
}

interface Opening {
  readonly user: UserId;
  readonly side: 'long' | 'short';
  readonly size: number;
  readonly price: number;
  readonly spot: string;
  readonly asset?: AssetId;
}

/** A position against `other`; then the account has exactly `spot` USD. */
function opened(
  world: BackstopWorld,
  other: UserId,
  { user: of, side, size, price, spot, asset = ETH }: Opening,
): void {
  const rich = '10000000';
  world.fund(of, USD, rich, 1);
  const [buyer, seller] = side === 'long' ? [of, other] : [other, of];
  const marketIndex = asset === ETH ? 0 : 1;
  world.open({ buyer: { user: buyer }, seller: { user: seller }, price, quantity: size, marketIndex });
  world.drain(of, rich);
  if (spot !== '0') world.fund(of, USD, spot, 1);
}

/** The counterparties of EX-09, weights of 1. SHORT has the other side of all, and is taken over a cent below 2000. */
function ranking(maxAdl: string | null): BackstopWorld {
  const world = BackstopWorld.withBackstop({ collateral_factor: 100, liability_factor: 100 });
  world.put('putAsset', ETH, { max_adl: maxAdl }, 'patch');
  world.fund(SHORT, USD, '10000000', 1);
  opened(world, SHORT, { user: ALICE, side: 'long', size: 3, price: 1600, spot: '800' });
  opened(world, SHORT, { user: BOB, side: 'long', size: 2, price: 1000, spot: '2000' });
  opened(world, SHORT, { user: CAROL, side: 'long', size: 5, price: 1960, spot: '300' });
  opened(world, SHORT, { user: DAVE, side: 'long', size: 1, price: 2100, spot: '5000' });
  opened(world, SHORT, { user: ERIN, side: 'short', size: 2, price: 2500, spot: '100' });
  world.drain(SHORT, '10000000');
  priced(world, '1999.99');
  world.takenOver(SHORT);
  world.endClip(clipOf(world.stepAll()));
  priced(world, '2000');
  world.endClip(clipOf(world.step()));
  return world;
}

suite('auto-deleveraging of a row', () => {
  test('ADL-01, ADL-02, ADL-03, ADL-07: the worked example: B 2, A 3, C 1 of 5; a loser and the same side are left alone (EX-09)', () => {
    const world = ranking('6');
    const effects = world.stepAll();
    assert.deepEqual(deleveragedOf(effects), [
      [BOB, 20_000, 200_000],
      [ALICE, 30_000, 200_000],
      [CAROL, 10_000, 200_000],
    ]);
    assert.deepEqual(world.legs(CAROL), ['4', '-7800', '7840']);
    assert.deepEqual([world.legs(DAVE)[0], world.legs(ERIN)[0]], ['1', '-2']);
    assert.equal(world.legs(BACKSTOP, FIRST)[0], '-3');
    assert.deepEqual(world.rowView()['adl_closed'], { [ETH]: '6' });
    for (const { trade } of effectsOf(effects, 'deleveraged')) {
      assert.deepEqual(
        [trade.isAutoDeleverage, trade.isLiquidation, trade.maker.fee, trade.taker.fee],
        [true, false, 0n, 0n],
      );
      assert.equal(trade.maker.orderId, `sys-adl-${trade.tradeId}`);
    }
    assert.equal(effectsOf(effects, 'fillConfirmed').length, 0, 'nothing for the public price sources');
  });

  test('ADL-03: trades take the ids of their market, in the order of the ranking (AMB-35, AMB-59)', () => {
    const world = ranking('6');
    const before = world.state.markets[0]?.lastTradeId ?? 0;
    const trades = effectsOf(world.stepAll(), 'deleveraged').map(({ trade }) => trade.tradeId - before);
    assert.deepEqual(trades, [1, 2, 3]);
    assert.equal(world.state.markets[0]?.decidedTradeId, before + 3);
  });

  test('ADL-06: at the cap nothing more is closed, and collateral is posted; a day later the cap is free (BKS-07, AMB-60)', () => {
    const world = ranking('6');
    world.stepAll();
    // Weights of 1: no closing changes the surplus, which is one cent for each of 9 short. So it is posted.
    assert.equal(world.row().state, 'working');
    assert.equal(format18(world.row().posted), '0.09');
    priced(world, '2000.01');
    world.endClip(clipOf(world.stepAll()));
    assert.deepEqual(deleveragedOf(world.stepAll()), [], 'the cap counts the last 24 hours');
    world.pass(86_400n * SECOND_NS);
    for (const eth of ['2000.01', '2000.01', '2000.01', '2000.02']) world.prices({ [ETH]: eth, [BTC]: '50000' });
    world.endClip(clipOf(world.step()));
    assert.equal(deleveragedOf(world.stepAll()).length, 1);
  });

  test('ADL-06: the cap is floored to the lot', () => {
    const world = ranking('0.00019');
    assert.deepEqual(deleveragedOf(world.stepAll()), [[BOB, 1, 200_000]]);
  });

  test('ADL-06: nobody is closed with a cap of 0 (BKS-07)', () => {
    const world = ranking('0');
    const effects = world.stepAll();
    assert.deepEqual([deleveragedOf(effects), effectsOf(effects, 'tradeIdsWanted')], [[], []]);
    assert.equal(format18(world.row().posted), '0.09');
  });

  test('ADL-05, ADL-08: closed until 2 % above the requirement, at the lower of oracle and mark of a short', () => {
    const world = BackstopWorld.withBackstop();
    world.fund(SHORT, USD, '10000000', 1);
    opened(world, SHORT, { user: ALICE, side: 'long', size: 10, price: 1900, spot: '5000' });
    world.drain(SHORT, '10000000');
    priced(world, '2000');
    world.takenOver(SHORT);
    world.endClip(clipOf(world.stepAll()));
    world.pass(SECOND_NS / 2n);
    world.prices({ [ETH]: '2001' });
    // Credited 2020; now equity 1010, surplus 9.5: not below zero.
    assert.equal(world.isDue(), false);
    world.prices({ [ETH]: '2002' });
    const effects = world.stepAll();
    // Equity 1000, surplus −1, requirement 1001: a lot of 1 at 2002 lifts the surplus by 100.1; 0.02 × 1001 + 1 = 21.02.
    assert.deepEqual(deleveragedOf(effects), [[ALICE, 2_059, 200_200]]);
    assert.equal(world.row().state, 'working');
    assert.deepEqual(effectsOf(effects, 'tradeIdsWanted'), [{ kind: 'tradeIdsWanted', marketIndex: 0, count: 1 }]);
    assert.equal(world.row().posted, 0n, 'BKS-07: no collateral while deleveraging resolves it');
  });

  test('ADL-09: at the higher of oracle and mark of a long', () => {
    const world = BackstopWorld.withBackstop();
    world.fund(MAKER, USD, '10000000', 1);
    opened(world, MAKER, { user: ALICE, side: 'short', size: 10, price: 2100, spot: '9000' });
    opened(world, ALICE, { user: SHORT, side: 'long', size: 10, price: 2100, spot: '0' });
    priced(world, '2000');
    world.takenOver(SHORT);
    world.endClip(clipOf(world.stepAll()));
    world.fund(BOB, USD, '100000', 1);
    world.fund(CAROL, USD, '100000', 1);
    // Marks of three trades heal the source: 1990, below the oracle.
    for (let trades = 0; trades < 3; trades += 1) {
      world.open({ buyer: { user: BOB }, seller: { user: CAROL }, price: 1990, quantity: 0.0001 });
    }
    const prices = deleveragedOf(world.stepAll()).map(([of, , price]) => [of, price]);
    assert.deepEqual(prices[0], [ALICE, 200_000]);
  });

  test('ADL-04: one market at a time, the largest exposure first, the next one when nobody is left', () => {
    const world = BackstopWorld.withBackstop();
    world.put('putAsset', BTC, { max_adl: '0.5' }, 'patch');
    world.fund(SHORT, USD, '10000000', 1);
    opened(world, SHORT, { user: ALICE, side: 'long', size: 10, price: 1900, spot: '5000' });
    opened(world, SHORT, { user: BOB, side: 'long', size: 1, price: 48000, spot: '20000', asset: BTC });
    world.drain(SHORT, '10000000');
    priced(world, '2000');
    world.takenOver(SHORT);
    world.endClip(clipOf(world.stepAll()));
    world.pass(SECOND_NS / 2n);
    world.prices({ [ETH]: '2400', [BTC]: '60000' });
    const trades = deleveragedOf(world.stepAll());
    assert.deepEqual(trades[0], [BOB, 5_000, 6_000_000]);
    assert.deepEqual([trades[1]?.[0], trades[1]?.[2]], [ALICE, 240_000]);
    assert.equal(trades.length, 2);
  });

  test('ADL-02: accounts of the backstop are no counterparties', () => {
    const world = ranking(null);
    world.step();
    world.takenOver(ALICE);
    const users = deleveragedOf(world.reserve(0, 3)).map(([of]) => of);
    assert.deepEqual(users, [BOB, CAROL]);
  });

  test('ADL-04, AMB-59: all is decided anew when the ids come, and ids that are not needed are never used', () => {
    const world = ranking('6');
    const [wanted] = effectsOf(world.step(), 'tradeIdsWanted');
    assert.deepEqual([wanted?.count, world.row().adlMarket, world.isDue()], [3, 0, false]);
    world.prices({ [ETH]: '1990', [BTC]: '50000' });
    const effects = world.reserve(0, 3);
    assert.deepEqual(deleveragedOf(effects), []);
    assert.equal(world.row().adlMarket, null);
    world.stepAll();
    assert.deepEqual([world.row().state, world.legs(BACKSTOP, FIRST)[0]], ['working', '-9']);
    assert.deepEqual(deleveragedOf(world.reserve(0, 3)), [], 'ids that no row requested');
  });

  test('ADL-04: with fewer ids than counterparties the first ones are closed, and more ids are requested', () => {
    const world = ranking('6');
    world.step();
    assert.deepEqual(
      deleveragedOf(world.reserve(0, 1)).map(([of]) => of),
      [BOB],
    );
    const [wanted] = effectsOf(world.step(), 'tradeIdsWanted');
    assert.equal(wanted?.count, 2);
  });

  test('AMB-110: at a start the requests are forgotten, and nothing is deleveraged before each asset has a new price', () => {
    const world = ranking('6');
    world.step();
    world.send({ kind: 'restarted', clean: true });
    assert.deepEqual([world.row().adlMarket, world.isDue()], [null, false]);
    world.prices({ [ETH]: '2000', [BTC]: '50000' });
    assert.equal(deleveragedOf(world.stepAll()).length, 3);
  });

  test('BKS-07: with a surplus, however small, nothing is posted when nobody is left on the other side (ADL-05, AMB-60)', () => {
    const world = BackstopWorld.withBackstop();
    world.fund(SHORT, USD, '10000000', 1);
    opened(world, SHORT, { user: ALICE, side: 'long', size: 10, price: 1900, spot: '5000' });
    world.drain(SHORT, '10000000');
    priced(world, '2000');
    world.takenOver(SHORT);
    world.endClip(clipOf(world.stepAll()));
    world.pass(SECOND_NS / 2n);
    world.prices({ [ETH]: '2002' });
    world.step();
    assert.equal(world.row().state, 'deleveraging');
    world.put('putAsset', ETH, { max_adl: '0' }, 'patch');
    world.reserve(0, 1);
    world.prices({ [ETH]: '2001' });
    assert.equal(world.isDue(), true);
    world.stepAll();
    assert.deepEqual([world.row().state, world.row().posted], ['working', 0n]);
  });

  test('ADL-01, CB-01: nothing is deleveraged or posted while the oracle is stale', () => {
    const world = ranking('6');
    world.pass(3_601n * SECOND_NS);
    assert.equal(world.isDue(), false);
    world.step();
    assert.deepEqual([world.row().posted, world.legs(BACKSTOP, FIRST)[0]], [0n, '-9']);
  });
});
