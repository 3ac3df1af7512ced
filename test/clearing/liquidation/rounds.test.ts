// tier: quick
/** The rounds of a liquidation: what each input makes of an account below maintenance (LIQ-03 to LIQ-07, AMB-57). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Effect } from '../../../src/clearing/effects.ts';
import { isStepDue } from '../../../src/clearing/liquidation/rounds.ts';
import type { LiquidationRow } from '../../../src/clearing/rows.ts';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import { must } from '../../../src/core/assert.ts';
import { format18 } from '../../../src/core/decimal.ts';
import type { ChainId, OrderId, UserId } from '../../../src/core/ids.ts';
import { ORDER_END, ORDER_FLAG, SIDE, TIF } from '../../../src/core/order-terms.ts';
import { type Amount18, type RawPrice, type RawQuantity, SECOND_NS, type Sequence } from '../../../src/core/units.ts';
import { MARK_STALE_NS, ORACLE_STALE_NS } from '../../../src/risk/prices.ts';
import { DEFAULT_MARK_TERMS } from '../../../src/risk/risk-terms.ts';
import { CHAIN, codeOf, effectsOf, PlainTables, reasonsOf } from '../../support/clearing-world.ts';
import { MarginWorld } from '../../support/margin-world.ts';
import { ALICE, BOB, BTC, CAROL, ETH, USD } from '../../support/names.ts';

const A = { user: ALICE };
const B = { user: BOB };
/** 95 % of LF: a short of ETH at 2000 with 300 USD behind it is below maintenance from 2190.48 on. */
const HIGH = '2200';

/** Alice is short 1 ETH at 2000 with 300 USD, Bob long with much. No mark is usable. */
function shortWorld(): MarginWorld {
  const world = MarginWorld.make();
  world.fund(ALICE, USD, '300', 1);
  world.fund(BOB, USD, '100000', 1);
  assert.equal(world.trade({ buyer: B, seller: A, price: 2000, quantity: 1 }), 'confirmed');
  world.pass(MARK_STALE_NS + 1n);
  return world;
}

function row(world: MarginWorld, user = ALICE, subAccount = 1): LiquidationRow | null {
  return world.state.users.get(user)?.subAccounts.get(subAccount)?.liquidation ?? null;
}

function stage(world: MarginWorld): string {
  const found = row(world);
  return found === null ? 'none' : `${found.stage} ${found.round}${found.order === null ? '' : ' outstanding'}`;
}

function step(world: MarginWorld, user: UserId = ALICE, subAccount = 1): Effect[] {
  return world.send({ kind: 'liquidationStep', user, subAccount });
}

function cleared(world: MarginWorld, through: LiquidationRow['through'] = []): Effect[] {
  return world.send({ kind: 'accountCleared', request: world.request(), user: ALICE, subAccount: 1, through });
}

/** What the market publishes of the outstanding order when it admits it. @returns its sequence. */
function admit(world: MarginWorld, more: Readonly<Record<string, unknown>> = {}): Sequence {
  const { order } = must(row(world), 'there is a liquidation');
  const { marketIndex, orderId, side, price, quantity } = must(order, 'an order is outstanding');
  const flags = ORDER_FLAG.nodeMade | ORDER_FLAG.liquidation | ORDER_FLAG.reduceOnly;
  const terms = { user: ALICE, subAccount: 1, orderId, side, price, quantity, flags, tif: TIF.ioc, text: '{}' };
  return world.create({ ...terms, maxFeeRate: 0xffff_ffff, ...more }, marketIndex);
}

/** Nothing matches the outstanding order. */
function unmatched(world: MarginWorld): void {
  const { order } = must(row(world), 'there is a liquidation');
  const name = admit(world);
  const { marketIndex } = must(order, 'an order is outstanding');
  world.send({
    kind: 'ended',
    ...world.next(marketIndex),
    order: name,
    end: ORDER_END.immediateOrCancel,
    faultReason: 0,
  });
}

/** Accounts under liquidation of a state that is made from the rows of this one. Nothing of it is lost on the way. */
function afterStart(world: MarginWorld): number {
  const tables = new PlainTables();
  tables.checkpoint(world.state);
  const loaded = tables.load();
  assert.equal(stateHash(loaded), stateHash(world.state));
  return loaded.liquidations.size;
}

/** Up to the first order of the first round. */
function ordered(world: MarginWorld): readonly Effect[] {
  step(world);
  cleared(world);
  return step(world);
}

suite('the rounds of a liquidation', () => {
  test('LIQ-03: an account is liquidated with borrows, below maintenance and without broken collateral alone', () => {
    const world = shortWorld();
    assert.deepEqual(step(world), [], 'above maintenance');
    world.fund(CAROL, ETH, '1', 1);
    world.prices({ [ETH]: HIGH });
    assert.ok(world.figures(ALICE).isLiquidatable);
    assert.deepEqual(step(world, CAROL), [], 'no borrows');
    assert.deepEqual(step(world, ALICE, 0), [], 'a spot account');
    assert.deepEqual(step(world, ALICE, 7), [], 'no account');
    world.fund(ALICE, BTC, '1', 1);
    world.pass(ORACLE_STALE_NS);
    world.prices({ [ETH]: HIGH });
    world.pass(1n);
    world.prices({ [ETH]: HIGH });
    assert.deepEqual(step(world), [], 'a broken credit of 50,000 USD shields');
    world.fund(ALICE, BTC, '-0.99996', 1);
    assert.ok(world.figures(ALICE).isLiquidatable, 'one of 2 USD does not (AMB-45, MON-11)');
    assert.equal(effectsOf(step(world), 'liquidationChanged').length, 1);
  });

  test('LIQ-04: first the live orders are cancelled, and undecided fills are decided', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    const timeNs = world.nowNs;
    assert.deepEqual(step(world), [
      { kind: 'liquidationChanged', user: ALICE, subAccount: 1, stage: 'begun', timeNs },
      { kind: 'cancelAccount', user: ALICE, subAccount: 1, timeNs },
    ]);
    assert.deepEqual(step(world), [], 'a step too many changes nothing');
    assert.equal(stage(world), 'cancelling 1');
    const { sequence } = world.next();
    cleared(world, [{ marketIndex: 0, sequence }]);
    assert.deepEqual(step(world), [], 'the market has published more than is decided');
    assert.equal(isStepDue(world.state, must(row(world), ''), world.nowNs), false);
    world.place(SIDE.sell, B, 9000, 0.1);
    assert.equal(isStepDue(world.state, must(row(world), ''), world.nowNs), true);
    assert.equal(effectsOf(step(world), 'nodeOrder').length, 1);
  });

  test('LIQ-05, LIQ-06: the order is opposite, at full size and at the midpoint price', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    const [order] = effectsOf(ordered(world), 'nodeOrder');
    const { sequence } = must(world.state.markets[0], 'a market');
    assert.deepEqual(order, {
      kind: 'nodeOrder',
      user: ALICE,
      subAccount: 1,
      orderId: `sys-liq-1-${sequence}` as OrderId,
      marketIndex: 0,
      side: SIDE.buy,
      // 2200 × (3 − 0.95) / 2
      price: 225_500 as RawPrice,
      quantity: 10_000 as RawQuantity,
      isSpot: false,
      isLiquidation: true,
      timeNs: world.nowNs,
    });
    assert.deepEqual(step(world), [], 'an order is outstanding');
    assert.equal(afterStart(world), 1);
  });

  test('AMB-85, LIQ-05: the position of a user whose account 0 owes is closed by the order of the node alone', () => {
    const world = shortWorld();
    const event = { chainId: CHAIN as ChainId, token: '5a'.repeat(32), baseUnits: 10_000_000n };
    const deposit = { ...event, tx: 'd0'.repeat(32), logIndex: 0, user: BOB, depositNonce: 0 };
    world.send({ kind: 'deposit', request: world.request(), ...deposit });
    world.send({ kind: 'forcedWithdrawal', request: world.request(), ...event, user: ALICE, nonce: 0 });
    assert.equal(format18(world.owned(ALICE, USD) as Amount18), '-10');
    world.prices({ [ETH]: HIGH });
    ordered(world);
    const own = world.trade({ buyer: A, seller: B, price: 2255, quantity: 1 });
    assert.deepEqual(own, ['CounterpartyAtFault', 'InsufficientInventory']);
    const maker = world.place(SIDE.sell, B, 2255, 1);
    assert.equal(world.outcome(world.matchOf(maker, admit(world), 2255, 1)), 'confirmed');
    assert.equal(world.legs(ALICE)[0], '0');
  });

  test('AMB-57: the largest position first, one at a time, each once a round', () => {
    const world = shortWorld();
    world.fund(ALICE, USD, '700', 1);
    assert.equal(world.trade({ buyer: B, seller: A, price: 50000, quantity: 0.05, marketIndex: 1 }), 'confirmed');
    world.pass(MARK_STALE_NS + 1n);
    world.prices({ [ETH]: '2300', [BTC]: '60000' });
    const [first] = effectsOf(ordered(world), 'nodeOrder');
    assert.equal(first?.marketIndex, 1, '3000 USD of BTC, 2300 of ETH');
    unmatched(world);
    assert.deepEqual(
      effectsOf(step(world), 'nodeOrder').map(({ marketIndex }) => marketIndex),
      [0],
    );
    unmatched(world);
    assert.equal(stage(world), 'ordering 1');
    assert.deepEqual(step(world), []);
    assert.equal(stage(world), 'waiting 1');
  });

  test('AMB-57: rounds begin an interval apart, by the time of the batch', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    ordered(world);
    unmatched(world);
    step(world);
    world.pass(SECOND_NS - 1n);
    assert.deepEqual(step(world), []);
    world.pass(1n);
    assert.deepEqual(step(world), [{ kind: 'cancelAccount', user: ALICE, subAccount: 1, timeNs: world.nowNs }]);
    assert.equal(stage(world), 'cancelling 2');
  });

  test('BKS-01, AMB-57: what the book does not absorb in three rounds is taken over as soon as the last one is over', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    for (let round = 1; round <= 3; round += 1) {
      ordered(world);
      assert.equal(stage(world), `ordering ${round} outstanding`);
      unmatched(world);
      assert.deepEqual(world.legs(ALICE), ['-1', '2000', '2000'], 'not before');
      if (round < 3) step(world);
      world.pass(round < 3 ? SECOND_NS : 0n);
    }
    const ended = effectsOf(step(world), 'liquidationChanged');
    assert.deepEqual(
      ended.map((change) => change.stage),
      ['ended'],
    );
    assert.deepEqual([world.legs(ALICE), row(world)], [['0', '0', '0'], null]);
    assert.equal(world.state.backstopRows.size, 1);
  });

  test('BKS-01: an account without an open position is taken over without a round', () => {
    const world = shortWorld();
    world.fund(ALICE, BTC, '0.002', 1);
    const own = world.place(SIDE.buy, { ...A, reduceOnly: true }, 2350, 1);
    assert.equal(world.outcome(world.matchOf(world.place(SIDE.sell, B, 2350, 1), own, 2350, 1)), 'confirmed');
    assert.deepEqual(world.legs(ALICE).slice(0, 1), ['0']);
    world.prices({ [BTC]: '1000' });
    assert.ok(world.figures(ALICE).isLiquidatable, 'it owes USD');
    step(world);
    cleared(world);
    const effects = step(world);
    assert.deepEqual([effectsOf(effects, 'nodeOrder'), row(world)], [[], null]);
    assert.equal(world.state.backstopRows.size, 1);
  });

  test('AMB-57: healthy again, it ends, and the account trades as before', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    step(world);
    world.fund(ALICE, USD, '400', 1);
    const timeNs = world.nowNs;
    const over = { kind: 'liquidationChanged', user: ALICE, subAccount: 1, stage: 'ended', timeNs };
    assert.deepEqual(step(world), [], 'its answer would be taken for that of another liquidation');
    cleared(world);
    assert.deepEqual(step(world), [over]);
    assert.deepEqual([row(world), world.state.liquidations.size], [null, 0]);
    cleared(world);
    assert.equal(row(world), null, 'an answer that comes late changes nothing');
    assert.equal(afterStart(world), 0, 'nor does it come back with a start');
  });

  test('AMB-57: a round in which a position has a halted market is repeated, and nothing is taken over', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    step(world);
    cleared(world);
    world.put('putMarket', ETH, { status: 'Halted' }, 'patch');
    for (let round = 0; round < 5; round += 1) {
      assert.deepEqual(effectsOf(step(world), 'nodeOrder'), []);
      assert.equal(stage(world), 'waiting 1');
      world.pass(SECOND_NS);
      step(world);
      cleared(world);
    }
    world.put('putMarket', ETH, { status: 'CancelOnly' }, 'patch');
    assert.equal(effectsOf(step(world), 'nodeOrder').length, 1, 'CancelOnly does not bind the node');
  });

  test('LIQ-08, LIQ-09: a trade older than 60 s and an oracle older than an hour price no order', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    step(world);
    cleared(world);
    world.pass(ORACLE_STALE_NS + 1n);
    assert.deepEqual(effectsOf(step(world), 'nodeOrder'), []);
    assert.equal(stage(world), 'waiting 1', 'it stays liquidatable: a borrow counts in full');
  });

  test('AMB-110: after a start nothing begins before each asset that the account holds had a price', () => {
    const world = shortWorld();
    world.fund(ALICE, BTC, '0.0001', 1);
    world.prices({ [ETH]: HIGH });
    world.send({ kind: 'restarted', clean: true });
    assert.ok(world.figures(ALICE).isLiquidatable);
    assert.deepEqual(step(world), []);
    world.pass(1n);
    world.prices({ [ETH]: HIGH });
    assert.deepEqual(step(world), []);
    world.prices({ [BTC]: '50000' });
    assert.equal(effectsOf(step(world), 'liquidationChanged').length, 1);
  });

  test('AMB-110: a start drops the outstanding order, requests the cancels again, and the round goes on', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    step(world);
    world.send({ kind: 'restarted', clean: false });
    assert.equal(stage(world), 'cancelling 1');
    cleared(world, [{ marketIndex: 0, sequence: (10 ** 9) as Sequence }]);
    world.send({ kind: 'restarted', clean: false });
    assert.equal(stage(world), 'cancelling 1', 'what the markets had published before is gone');
    world.pass(1n);
    world.prices({ [ETH]: HIGH });
    cleared(world);
    assert.equal(effectsOf(step(world), 'nodeOrder').length, 1);
    world.send({ kind: 'restarted', clean: false });
    assert.equal(stage(world), 'ordering 1');
    world.pass(1n);
    world.prices({ [ETH]: HIGH });
    assert.equal(effectsOf(step(world), 'nodeOrder').length, 1, 'its position has had no order');
  });

  test('an order that was refused counts, one that was not tried is sent again', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    const refuse = (isFinal: boolean): void => {
      const orderId = must(row(world)?.order, 'an order is outstanding').orderId;
      world.send({ kind: 'nodeOrderRefused', request: world.request(), user: ALICE, subAccount: 1, orderId, isFinal });
    };
    ordered(world);
    const other = { kind: 'nodeOrderRefused', user: ALICE, subAccount: 1, orderId: 'sys-liq-1-0' as OrderId } as const;
    world.send({ ...other, request: world.request(), isFinal: true });
    assert.equal(stage(world), 'ordering 1 outstanding', 'another order');
    refuse(false);
    assert.equal(stage(world), 'waiting 1');
    world.pass(SECOND_NS);
    step(world);
    assert.equal(stage(world), 'cancelling 1', 'the round did not count');
    cleared(world);
    step(world);
    refuse(true);
    step(world);
    world.pass(SECOND_NS);
    step(world);
    assert.equal(stage(world), 'cancelling 2');
  });

  test('AMB-57: while it lasts nothing leaves the account, and money comes in', () => {
    const world = shortWorld();
    world.fund(ALICE, BTC, '0.0001', 1);
    world.prices({ [ETH]: HIGH });
    step(world);
    const out = { user: ALICE, sourceIndex: 1, targetIndex: 0, asset: BTC, amount: '0.00001' };
    assert.equal(codeOf(world.transfer(out)), 'INSUFFICIENT_MARGIN');
    cleared(world);
    world.fund(ALICE, USD, '5000');
    assert.equal(codeOf(world.transfer({ user: ALICE, amount: '5000' })), null);
    assert.equal(
      codeOf(world.transfer(out)),
      'INSUFFICIENT_MARGIN',
      'it can afford it, and is still under liquidation',
    );
    step(world);
    assert.equal(codeOf(world.transfer(out)), null);
  });
});

suite('fills of liquidation orders', () => {
  /** @returns the maker: Bob sells. */
  function againstBob(world: MarginWorld, price: number, quantity: number): Sequence {
    return world.place(SIDE.sell, B, price, quantity);
  }

  test('LIQ-11: the account is below maintenance before the trade: one that has recovered is not liquidated', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    ordered(world);
    const maker = againstBob(world, 2200, 1);
    const taker = admit(world);
    world.fund(ALICE, USD, '400', 1);
    assert.deepEqual(world.outcome(world.matchOf(maker, taker, 2200, 1)), ['CounterpartyAtFault', 'InvalidOrder']);
  });

  test('LIQ-11, AMB-41: below it, the fill is confirmed, flagged for both, with the fee of a taker', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    ordered(world);
    const maker = againstBob(world, 2200, 1);
    const effects = world.matchOf(maker, admit(world), 2200, 1);
    const [confirmed] = effectsOf(effects, 'fillConfirmed');
    assert.ok(confirmed?.trade.isLiquidation && !confirmed.trade.isAutoDeleverage);
    assert.equal(format18(confirmed.trade.taker.fee), '1.1');
    assert.equal(row(world)?.order, null, 'the order is over with its last lot');
    assert.deepEqual(
      effectsOf(step(world), 'liquidationChanged').map(({ stage: to }) => to),
      ['ended'],
    );
  });

  test('LIQ-12: a fill that adds to the position, or to none, is an invalid order', () => {
    const world = shortWorld();
    world.fund(ALICE, USD, '250', 1);
    assert.equal(world.trade({ buyer: B, seller: A, price: 50000, quantity: 0.02, marketIndex: 1 }), 'confirmed');
    world.pass(MARK_STALE_NS + 1n);
    world.prices({ [ETH]: '2600', [BTC]: '50000' });
    ordered(world);
    const maker = againstBob(world, 2200, 1);
    const taker = admit(world);
    // The position is closed by an order of its own that was matched before.
    const own = world.place(SIDE.buy, { ...A, reduceOnly: true }, 2200, 1);
    const other = againstBob(world, 2200, 1);
    assert.equal(world.outcome(world.matchOf(other, own, 2200, 1)), 'confirmed');
    world.pass(1n);
    world.prices({ [BTC]: '90000' });
    assert.ok(world.figures(ALICE).isLiquidatable);
    const reasons = world.outcome(world.matchOf(maker, taker, 2200, 1));
    assert.deepEqual(reasons, ['CounterpartyAtFault', 'InvalidOrder']);
  });

  test('LIQ-12: behind an old oracle, a mark that two traders have set far from it sells nothing to them, and what the oracle allows passes', () => {
    const world = MarginWorld.make();
    world.fund(ALICE, USD, '220', 1);
    world.fund(BOB, USD, '100000', 1);
    world.fund(CAROL, USD, '1000');
    world.fund(CAROL, ETH, '1');
    assert.equal(world.trade({ buyer: A, seller: B, price: 2000, quantity: 1 }), 'confirmed');
    world.prices({ [ETH]: '1970' });
    world.pass(DEFAULT_MARK_TERMS.bandAgeNs + SECOND_NS);
    // Carol trades with herself at 1, until the mark has healed: it is 1, and no band binds it.
    const spot = { user: CAROL, subAccount: 0, isSpot: true };
    for (let trade = 0; trade < 3; trade += 1) {
      assert.equal(world.trade({ buyer: spot, seller: spot, price: 1, quantity: 0.01 }), 'confirmed');
    }
    const [order] = effectsOf(ordered(world), 'nodeOrder');
    assert.equal(order?.price, 95, 'by LIQ-07 the order reaches as deep as the mark');
    const taker = admit(world);
    const fillAt = (price: number, quantity: number): unknown => {
      const bid = world.place(SIDE.buy, { user: CAROL, subAccount: 0, isSpot: true }, price, quantity);
      return world.outcome(world.matchOf(bid, taker, price, quantity));
    };
    const refused = ['CounterpartyAtFault', 'InvalidOrder'];
    assert.deepEqual(fillAt(1, 0.5), refused);
    // 90 % of 1970, and the fee: less would take from the surplus. 95 % is more.
    assert.deepEqual(fillAt(1773, 0.1), refused);
    assert.equal(fillAt(1774, 0.1), 'confirmed');
  });

  test('LIQ-12: with a mark far above it, a price that the oracle allows passes all the same', () => {
    const world = MarginWorld.make();
    world.fund(ALICE, USD, '220', 1);
    world.fund(BOB, USD, '100000', 1);
    assert.equal(world.trade({ buyer: A, seller: B, price: 2000, quantity: 1 }), 'confirmed');
    world.fund(ALICE, USD, '-50', 1);
    world.prices({ [ETH]: '1000' });
    assert.ok(world.figures(ALICE).isLiquidatable, 'the mark of 2000 counts');
    ordered(world);
    const bid = world.place(SIDE.buy, { user: BOB }, 950, 1);
    assert.equal(world.outcome(world.matchOf(bid, admit(world), 950, 1)), 'confirmed');
  });

  test('LIQ-13: a fill of more than the position is a reduce-only violation', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    ordered(world);
    const maker = againstBob(world, 2200, 1);
    const taker = admit(world);
    const own = world.place(SIDE.buy, { ...A, reduceOnly: true }, 2200, 0.0001);
    assert.equal(world.outcome(world.matchOf(againstBob(world, 2200, 0.0001), own, 2200, 0.0001)), 'confirmed');
    world.pass(MARK_STALE_NS + 1n);
    const reasons = world.outcome(world.matchOf(maker, taker, 2200, 1));
    assert.deepEqual(reasons, ['CounterpartyAtFault', 'ReduceOnlyViolation']);
  });

  test('a bankrupt account is closed in the book: its fills are not held to solvency', () => {
    const world = shortWorld();
    world.prices({ [ETH]: '2600' });
    assert.ok(world.figures(ALICE).equity < 0n);
    const maker = againstBob(world, 2650, 1);
    const own = world.place(SIDE.buy, { ...A, reduceOnly: true }, 2650, 1);
    const refused = ['CounterpartyAtFault', 'InsufficientMargin'];
    assert.deepEqual(world.outcome(world.matchOf(maker, own, 2650, 1)), refused, 'of its own it may not');
    ordered(world);
    assert.equal(world.outcome(world.matchOf(againstBob(world, 2650, 1), admit(world), 2650, 1)), 'confirmed');
    assert.deepEqual(world.legs(ALICE), ['0', '-651.325', '0']);
  });

  test('LIQ-14: its maker is held to everything that a maker is held to', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    ordered(world);
    world.fund(CAROL, USD, '10', 1);
    const maker = world.place(SIDE.sell, { user: CAROL }, 2200, 1);
    const reasons = world.outcome(world.matchOf(maker, admit(world), 2200, 1));
    assert.deepEqual(reasons, ['InsufficientMargin', 'CounterpartyAtFault']);
  });

  test('AMB-57: an order that is not the outstanding one in each of its terms is none of the node', () => {
    const world = shortWorld();
    world.prices({ [ETH]: HIGH });
    ordered(world);
    const { price, quantity } = must(row(world)?.order, 'an order is outstanding');
    const others: readonly Readonly<Record<string, unknown>>[] = [
      { orderId: 'sys-liq-1-9' },
      { price: price - 1 },
      { quantity: quantity - 1 },
      { side: SIDE.sell },
      { tif: TIF.gtc },
      { user: BOB },
      { subAccount: 0, flags: ORDER_FLAG.nodeMade | ORDER_FLAG.liquidation | ORDER_FLAG.isSpot },
      { flags: ORDER_FLAG.nodeMade | ORDER_FLAG.reduceOnly },
    ];
    for (const change of others) {
      const taker = admit(world, change);
      const isSell = change['side'] === SIDE.sell;
      const maker = world.place(isSell ? SIDE.buy : SIDE.sell, { user: CAROL, subAccount: 0, isSpot: true }, 2200, 1);
      const [reasons] = reasonsOf(world.matchOf(maker, taker, 2200, 1));
      const word = world.outcome(world.matchOf(maker, taker, 2200, 1));
      assert.ok(reasons !== undefined && word.includes('InvalidSignature'), `${JSON.stringify(change)}: ${word}`);
    }
    const client = admit(world, { flags: ORDER_FLAG.liquidation | ORDER_FLAG.reduceOnly });
    const word = world.outcome(world.matchOf(againstBob(world, 2200, 1), client, 2200, 1));
    assert.deepEqual(word, ['CounterpartyAtFault', 'InvalidOrder'], 'signed or not, a liquidation is the node’s');
  });
});
