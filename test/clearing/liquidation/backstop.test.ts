// tier: quick
/** The backstop: what it takes over, nets, sells in clips, deleverages, posts and returns. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Effect } from '../../../src/clearing/effects.ts';
import { backstopFigures } from '../../../src/clearing/liquidation/backstop-capital.ts';
import { setBackstopRow } from '../../../src/clearing/liquidation/liquidation-rows.ts';
import { takeOver } from '../../../src/clearing/liquidation/take-over.ts';
import { ledgerView } from '../../../src/clearing/views.ts';
import { format18 } from '../../../src/core/decimal.ts';
import type { AssetId, UserId } from '../../../src/core/ids.ts';
import { SUB_ACCOUNTS_MAX } from '../../../src/core/limits.ts';
import { SIDE } from '../../../src/core/order-terms.ts';
import { SECOND_NS } from '../../../src/core/units.ts';
import { DutyCycle } from '../../../src/runtime/duty-cycle.ts';
import { BACKSTOP, BackstopWorld, clipOf, FIRST, MAKER } from '../../support/backstop-world.ts';
import { codeOf, effectsOf } from '../../support/clearing-world.ts';
import { e18 } from '../../support/margin-world.ts';
import { ALICE, BOB, BTC, CAROL, ETH, USD } from '../../support/names.ts';

const SECOND = FIRST + 1;
/** An asset without a market. */
const OTHER = '9' as AssetId;

/** Alice, short 10 ETH at 2000 with 1500 USD, at 2200: equity −500, surplus −1600, requirement 1100. */
function bankrupt(world: BackstopWorld = BackstopWorld.withBackstop(), of: UserId = ALICE): BackstopWorld {
  world.fund(MAKER, USD, '10000000', 1);
  world.fund(of, USD, '1500', 1);
  world.open({ buyer: { user: MAKER }, seller: { user: of }, price: 2000, quantity: 10 });
  return world;
}

/** Bob, short 1 ETH at 2200 with 100 USD. */
function bankruptShort(world: BackstopWorld): void {
  world.fund(BOB, USD, '1000', 1);
  world.open({ buyer: { user: MAKER }, seller: { user: BOB }, price: 2200, quantity: 1 });
  world.drain(BOB, '900');
}

/** Trades are old, and these are the oracle prices. */
function priced(world: BackstopWorld, eth: string, btc = '50000'): void {
  world.pass(61n * SECOND_NS);
  world.prices({ [ETH]: eth, [BTC]: btc });
}

function difference(world: BackstopWorld, asset = USD): unknown {
  const view = DutyCycle.unwatched.finish(ledgerView(world.state)) as {
    assets: Record<string, Record<string, string>>;
  };
  return view.assets[asset]?.['difference'];
}

suite('take-over', () => {
  test('BKS-02, BKS-03: a new sub-account takes the holdings, credited to 2 % above its initial margin (AMB-58)', () => {
    const world = bankrupt();
    priced(world, '2200');
    const effects = world.takenOver(ALICE);
    assert.deepEqual(world.legs(ALICE), ['0', '0', '0']);
    assert.equal(world.ownedText(ALICE, USD, 1), '0');
    assert.deepEqual(world.legs(BACKSTOP, FIRST), ['-10', '20000', '20000']);
    assert.deepEqual(world.view(), {
      account: BACKSTOP,
      capital: '-1622',
      sub_accounts: [
        {
          index: FIRST,
          source_user: ALICE,
          source_index: 1,
          state: 'working',
          spot: { [USD]: '3122' },
          positions: { [ETH]: { base: '-10', quote: '20000' } },
          provisional_collateral: '1622',
          posted_collateral: '0',
          equity: '1122',
          im_surplus: '22',
          im_requirement: '1100',
          adl_closed: {},
        },
      ],
    });
    assert.deepEqual(
      effectsOf(effects, 'positionCleared').map(({ user, subAccount, asset }) => [user, subAccount, asset]),
      [[ALICE, 1, ETH]],
    );
    assert.deepEqual(
      effectsOf(effects, 'liquidationChanged').map(({ user, stage }) => [user, stage]),
      [[ALICE, 'ended']],
    );
    assert.equal(effectsOf(effects, 'subAccountChanged').length, 1);
    assert.equal(difference(world), '0');
    const { shortfall, equity } = backstopFigures(world.state, world.nowNs);
    assert.deepEqual([format18(shortfall), format18(equity)], ['1622', '-500']);
  });

  test('BKS-03: nothing is credited where the surplus is there, and the worse price decides (AMB-58)', () => {
    const world = bankrupt();
    priced(world, '2200');
    world.fund(ALICE, USD, '1622', 1);
    world.takenOver(ALICE);
    assert.equal(world.row().provisional, 0n);
    assert.equal(world.rowView()['im_surplus'], '22');
  });

  test('BKS-02: an isolated account becomes a sub-account of its kind and asset', () => {
    const world = BackstopWorld.withBackstop();
    world.fund(MAKER, USD, '10000000', 1);
    world.fund(ALICE, USD, '1500');
    const targetType = { kind: 'isolated_margin', asset: ETH } as const;
    assert.ok(world.transfer({ user: ALICE, amount: '1500', targetIndex: 7, targetType }).ok);
    world.open({ buyer: { user: MAKER }, seller: { user: ALICE, subAccount: 7 }, price: 2000, quantity: 10 });
    priced(world, '2200');
    world.takenOver(ALICE, 7);
    const row = world.state.users.get(BACKSTOP)?.subAccounts.get(FIRST)?.row;
    assert.deepEqual([row?.kind, row?.asset], ['isolated_margin', ETH]);
    assert.equal(world.row().sourceIndex, 7);
  });

  test('BKS-02: a closed index is used again by an account of the same kind, and no other one is', () => {
    const world = bankrupt();
    bankrupt(world, BOB);
    priced(world, '2200');
    world.takenOver(ALICE);
    world.takenOver(BOB);
    assert.equal(world.row(SECOND).sourceUser, BOB);
    for (let clips = 0; world.row().state !== 'closed'; clips += 1) {
      assert.ok(clips < 20);
      for (const clip of effectsOf(world.stepAll(), 'nodeOrder')) world.fillClip(clip, 220_000);
      world.pass(SECOND_NS);
      world.prices({ [ETH]: '2200' });
    }
    priced(world, '2000');
    bankrupt(world, CAROL);
    priced(world, '2200');
    world.takenOver(CAROL);
    assert.equal(world.row().sourceUser, CAROL);
    assert.equal(world.row().state, 'working');
    assert.equal(world.state.backstopRows.size, 2);
  });

  test('BKS-01, BKS-02: with every index taken an account joins the row of its kind, or waits while none can take it (AMB-63)', () => {
    const world = bankrupt();
    priced(world, '2200');
    world.takenOver(ALICE);
    const row = world.row();
    const { marketIndex, ...order } = { ...clipOf(world.stepAll()) };
    const isBusy = { ...row, order: { ...order, marketIndex } };
    for (let index = FIRST; index < SUB_ACCOUNTS_MAX; index += 1) setBackstopRow(world.state, { ...isBusy, index });
    const account = world.state.users.get(MAKER)?.subAccounts.get(1);
    assert.ok(account !== undefined);
    const before = world.legs(MAKER);
    const effects: Effect[] = [];
    assert.equal(takeOver(world.state, account, world.nowNs, effects), false);
    assert.deepEqual([world.legs(MAKER), effects], [before, []]);
    setBackstopRow(world.state, row);
    bankruptShort(world);
    assert.equal(world.takenOver(BOB).length > 0, true);
    // 10 short at 2000 and 1 at 2200, 1500 + 1622 + 100 USD, and the credit up to 2 % of 1210.
    assert.deepEqual(world.legs(BACKSTOP, FIRST), ['-11', '22200', '22200']);
    const joined = world.rowView();
    assert.deepEqual([joined['source_user'], joined['im_surplus'], joined['im_requirement']], [ALICE, '24.2', '1210']);
    assert.deepEqual(world.row().taken, [{ asset: ETH, quantity: e18('-11') }]);
    assert.equal(world.row().provisional, row.provisional + e18('12.2'));
    assert.deepEqual(world.legs(BOB), ['0', '0', '0']);
    assert.equal(difference(world), '0');
  });

  test('BKS-02: of an account that joins a row, opposite bases close each other, and the worth is the sum', () => {
    const world = bankrupt();
    priced(world, '2200');
    world.takenOver(ALICE);
    const row = world.row();
    for (let index = SECOND; index < SUB_ACCOUNTS_MAX; index += 1) setBackstopRow(world.state, { ...row, index });
    world.takenOver(MAKER);
    assert.deepEqual(world.legs(BACKSTOP, FIRST), ['0', '0', '0']);
    assert.deepEqual(world.row().taken, [{ asset: ETH, quantity: 0n }]);
    assert.equal(world.ownedText(BACKSTOP, USD, FIRST), '10003122');
  });

  test('BKS-02: the backstop account stays while it works something off', () => {
    const world = bankrupt();
    priced(world, '2200');
    const change = {
      kind: 'putConfig',
      request: 1,
      change: { config: 'settings', method: 'patch', value: { backstop_account: BOB } },
    };
    world.takenOver(ALICE);
    const [answer] = effectsOf(world.send(change as never), 'replied');
    assert.ok(answer !== undefined);
    assert.equal(codeOf(answer.outcome), 'INVALID_REQUEST');
  });
});

suite('netting', () => {
  test('BKS-04: a long and a short of two rows close each other at the mark, without a trade', () => {
    const world = bankrupt();
    world.fund(BOB, USD, '1500', 1);
    world.open({ buyer: { user: BOB }, seller: { user: MAKER }, price: 2000, quantity: 4 });
    priced(world, '2200');
    world.takenOver(ALICE);
    world.takenOver(BOB);
    const tradesBefore = world.state.markets[0]?.lastTradeId;
    const effects = world.step(SECOND);
    assert.deepEqual(world.legs(BACKSTOP, FIRST), ['-6', '11200', '12000']);
    assert.deepEqual(world.legs(BACKSTOP, SECOND), ['0', '800', '0']);
    assert.equal(effectsOf(effects, 'nodeOrder').length + effectsOf(effects, 'deleveraged').length, 0);
    assert.equal(world.state.markets[0]?.lastTradeId, tradesBefore);
    assert.equal(difference(world, ETH), '0');
  });

  test('BKS-04: the oldest of each side comes first', () => {
    const world = BackstopWorld.withBackstop();
    world.fund(MAKER, USD, '10000000', 1);
    for (const user of [ALICE, BOB, CAROL]) world.fund(user, USD, '10000', 1);
    world.open({ buyer: { user: ALICE }, seller: { user: MAKER }, price: 2000, quantity: 3 });
    world.open({ buyer: { user: BOB }, seller: { user: MAKER }, price: 2000, quantity: 3 });
    world.open({ buyer: { user: MAKER }, seller: { user: CAROL }, price: 2000, quantity: 4 });
    for (const user of [CAROL, BOB, ALICE]) {
      world.pass(SECOND_NS);
      world.takenOver(user);
    }
    // Rows: Carol 2, Bob 3, Alice 4.
    world.step(4);
    assert.deepEqual(world.legs(BACKSTOP, SECOND)[0], '0');
    assert.deepEqual(world.legs(BACKSTOP, 4)[0], '2');
    assert.deepEqual(world.legs(BACKSTOP, FIRST)[0], '0');
  });

  test('BKS-04: nothing is netted without a price', () => {
    const world = bankrupt();
    world.fund(BOB, USD, '1500', 1);
    world.open({ buyer: { user: BOB }, seller: { user: MAKER }, price: 2000, quantity: 4 });
    world.takenOver(ALICE);
    world.takenOver(BOB);
    world.pass(3_601n * SECOND_NS);
    assert.deepEqual(effectsOf(world.step(), 'positionChanged'), []);
    assert.equal(world.legs(BACKSTOP, FIRST)[0], '-10');
  });
});

suite('clips', () => {
  test('BKS-05: a clip a second, 10 % of what was taken over, at the liquidation price, until all is sold (AMB-60, AMB-56)', () => {
    const world = bankrupt();
    priced(world, '2200');
    world.takenOver(ALICE);
    const clip = clipOf(world.stepAll());
    // 2200 × (3 − 0.95) / 2
    assert.deepEqual(
      [clip.user, clip.subAccount, clip.side, clip.price, clip.quantity, clip.isSpot, clip.isLiquidation],
      [BACKSTOP, FIRST, SIDE.buy, 225_500, 10_000, false, false],
    );
    assert.equal(world.isDue(), false, 'one order is outstanding at most');
    assert.equal(effectsOf(world.fillClip(clip), 'fillConfirmed').length, 1);
    assert.equal(world.legs(BACKSTOP, FIRST)[0], '-9');
    assert.equal(world.row().order, null);
    assert.deepEqual(effectsOf(world.stepAll(), 'nodeOrder'), [], 'the next one is a second later');
    world.pass(SECOND_NS);
    assert.equal(clipOf(world.stepAll()).quantity, 10_000);
  });

  test('BKS-05: what the book does not absorb of a clip is tried again a second later, under another id', () => {
    const world = bankrupt();
    priced(world, '2200');
    world.takenOver(ALICE);
    const first = clipOf(world.stepAll());
    world.endClip(first);
    assert.equal(world.row().order, null);
    world.pass(SECOND_NS);
    const next = clipOf(world.stepAll());
    assert.deepEqual([next.quantity, next.orderId === first.orderId], [first.quantity, false]);
  });

  test('BKS-05: no clip goes into a halted market, and one into a market that is cancel-only does', () => {
    const world = bankrupt();
    priced(world, '2200');
    world.takenOver(ALICE);
    world.put('putMarket', ETH, { status: 'Halted' }, 'patch');
    assert.deepEqual([world.isDue(), effectsOf(world.step(), 'nodeOrder')], [false, []]);
    world.put('putMarket', ETH, { status: 'CancelOnly' }, 'patch');
    assert.equal(clipOf(world.stepAll()).quantity, 10_000);
  });

  test('BKS-05: settings give the share and the bound of a clip (AMB-60)', () => {
    const world = bankrupt();
    priced(world, '2200');
    world.takenOver(ALICE);
    const set = (value: unknown): void => {
      const change = { config: 'settings', method: 'patch', value };
      world.send({ kind: 'putConfig', request: 1, change } as never);
    };
    set({ backstop_clip_fraction: '0.25' });
    const clip = clipOf(world.stepAll());
    assert.equal(clip.quantity, 25_000);
    world.endClip(clip);
    world.pass(SECOND_NS);
    set({ backstop_clip_usd: '1100' });
    assert.equal(clipOf(world.stepAll()).quantity, 5_000);
  });

  test('BKS-05: spot assets are sold in spot clips, the largest exposure first, and count as collateral until then', () => {
    const world = BackstopWorld.withBackstop();
    world.fund(MAKER, USD, '10000000', 1);
    world.fund(ALICE, BTC, '1', 1);
    world.open({ buyer: { user: MAKER }, seller: { user: ALICE }, price: 2000, quantity: 10 });
    priced(world, '7000');
    world.takenOver(ALICE);
    const positionFirst = clipOf(world.stepAll());
    assert.deepEqual([positionFirst.marketIndex, positionFirst.isSpot, positionFirst.quantity], [0, false, 10_000]);
    world.endClip(positionFirst);
    world.pass(SECOND_NS);
    world.prices({ [ETH]: '2000', [BTC]: '50000' });
    const spot = clipOf(world.stepAll());
    // 50000 × (1 + 0.95) / 2
    assert.deepEqual([spot.marketIndex, spot.isSpot, spot.side, spot.price], [1, true, SIDE.sell, 4_875_000]);
    assert.equal(spot.quantity, 1_000);
    assert.equal(effectsOf(world.fillClip(spot), 'fillConfirmed').length, 1);
    assert.equal(world.ownedText(BACKSTOP, BTC, FIRST), '0.9');
  });
});

suite('collateral as a last resort', () => {
  test('BKS-05: what cannot be sold, less than a lot or of no market, goes to account 0 in kind when the rest is gone', () => {
    const world = bankrupt();
    world.put('putAsset', OTHER, { symbol: 'OTHER' });
    world.fund(ALICE, OTHER, '7', 1);
    world.fund(ALICE, BTC, '0.00001', 1);
    priced(world, '2200');
    world.takenOver(ALICE);
    // The other side of all that is left.
    world.takenOver(MAKER);
    world.stepAll(FIRST, SECOND);
    assert.deepEqual([world.row().state, world.rowView()['spot']], ['closed', {}]);
    assert.deepEqual([world.ownedText(BACKSTOP, OTHER), world.ownedText(BACKSTOP, BTC)], ['7', '0.00001']);
    for (const asset of [USD, ETH, BTC, OTHER]) assert.equal(difference(world, asset), '0');
  });

  test('BKS-07: what a row lacks when all of it is closed is posted, and what another one gains returns (AMB-60)', () => {
    const world = bankrupt();
    priced(world, '2200');
    world.takenOver(ALICE);
    world.endClip(clipOf(world.stepAll()));
    // The maker holds 10 long from 2000: taken over as well, no counterparty is left.
    world.takenOver(MAKER);
    world.pass(SECOND_NS / 2n);
    world.prices({ [ETH]: '2500' });
    world.stepAll(FIRST, SECOND);
    // Netted at 2500: 1500 + 1622 + 20000 − 25000.
    assert.equal(world.rowView()['posted_collateral'], '1878');
    assert.deepEqual(
      [world.legs(BACKSTOP, FIRST), world.legs(BACKSTOP, SECOND)],
      [
        ['0', '0', '0'],
        ['0', '0', '0'],
      ],
    );
    assert.deepEqual([world.row().state, world.row(SECOND).state], ['closed', 'closed']);
    assert.equal(world.view()['capital'], '10001500');
    assert.equal(difference(world), '0');
  });

  test('BKS-07: a loss that nobody pays is the shortfall of the backstop, to the unit; the row closes', () => {
    const world = bankrupt();
    priced(world, '2200');
    world.takenOver(ALICE);
    let clips = 0;
    for (; world.row().state !== 'closed'; clips += 1) {
      assert.ok(clips < 20);
      for (const clip of effectsOf(world.stepAll(), 'nodeOrder')) world.fillClip(clip, 220_000);
      world.pass(SECOND_NS);
      world.prices({ [ETH]: '2200' });
    }
    // Ten clips at 2200: 1500 + 20000 − 22000.
    assert.equal(clips, 11);
    assert.equal(world.view()['capital'], '-500');
    assert.deepEqual(world.rowView()['spot'], {});
    assert.equal(world.row().order, null);
    assert.equal(difference(world), '0');
    assert.equal(e18('500'), backstopFigures(world.state, world.nowNs).shortfall);
  });
});
