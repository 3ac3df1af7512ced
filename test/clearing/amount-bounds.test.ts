// tier: quick
/** No request of a client or an operator makes an amount that rows and messages cannot hold (AMB-116, I16). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { format18 } from '../../src/core/decimal.ts';
import type { AssetId, ChainId, UserId } from '../../src/core/ids.ts';
import { AMOUNT18_MAX } from '../../src/core/limits.ts';
import { ORDER_FLAG, SIDE, type Side } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, Sequence } from '../../src/core/units.ts';
import { MARK_STALE_NS } from '../../src/risk/prices.ts';
import { acceptedValue, CHAIN, codeOf, reply } from '../support/clearing-world.ts';
import { MarginWorld, type Side18 } from '../support/margin-world.ts';
import { ALICE, BOB, CAROL, USD } from '../support/names.ts';

/** Traded in whole units at whole dollars, without fees. */
const GOLD = '7' as AssetId;
const GOLD_MARKET = 2;
/** 1.62e20 USD, of at most 1.70e20. */
const LOTS = 18_000;
const DEAR = 9e15;
const TOKEN = '5a'.repeat(32);

function goldWorld(price: string): MarginWorld {
  const world = MarginWorld.make();
  world.put('putAsset', GOLD, { symbol: 'XAU', tokens: [] });
  world.put('putRisk', GOLD, { collateral_factor: 90, liability_factor: 95 });
  world.put('putMarket', GOLD, { book_price_decimals: 0, book_quantity_decimals: 0 });
  world.prices({ [GOLD]: price });
  return world;
}

interface Terms {
  readonly price: number;
  readonly lots: number;
}

function at(world: MarginWorld, side: Side, of: Side18, { price, lots }: Terms): Sequence {
  const { user, subAccount = 1, isSpot = false, reduceOnly = false } = of;
  const flags = (isSpot ? ORDER_FLAG.isSpot : 0) | (reduceOnly ? ORDER_FLAG.reduceOnly : 0);
  return world.create({ user, subAccount, side, flags, price, quantity: lots }, GOLD_MARKET);
}

type Told = string | readonly (string | null)[];

function meet(world: MarginWorld, maker: Sequence, taker: Sequence, { price, lots }: Terms): Told {
  return world.outcome(world.match(maker, taker, lots, { marketIndex: GOLD_MARKET, price: price as RawPrice }));
}

/** The seller is the maker. */
function deal(world: MarginWorld, seller: Side18, buyer: Side18, terms: Terms = { price: DEAR, lots: LOTS }): Told {
  return meet(world, at(world, SIDE.sell, seller, terms), at(world, SIDE.buy, buyer, terms), terms);
}

/** Bob's deposit of USD. @returns what was done with it. */
function deposit(world: MarginWorld, depositNonce: number, baseUnits: bigint): unknown {
  const tx = String(depositNonce).padStart(64, '0');
  const event = { chainId: CHAIN as ChainId, tx, logIndex: 0, user: BOB, token: TOKEN, baseUnits, depositNonce };
  return acceptedValue(reply(world.send({ kind: 'deposit', request: world.request(), ...event })))['result'];
}

function spot(user: UserId, subAccount = 0): Side18 {
  return { user, subAccount, isSpot: true };
}

/** Alice and Carol can each buy 18000 units of 9e15 USD on margin; Bob has gold. */
function dear(): MarginWorld {
  const world = goldWorld('9000000000000000');
  for (const user of [ALICE, CAROL]) world.fund(user, USD, '50000000000000000000', 1);
  world.fund(BOB, GOLD, '36000');
  return world;
}

suite('amounts of 128 bits', () => {
  test('a fill that would overflow a spot balance is rolled back (FIL-11, AMB-116)', () => {
    const world = dear();
    assert.equal(deal(world, spot(BOB), { user: ALICE }), 'confirmed');
    const owned = world.owned(BOB, USD);
    assert.ok(owned > AMOUNT18_MAX / 2n);
    assert.deepEqual(deal(world, spot(BOB), { user: CAROL }), ['Overfill', 'CounterpartyAtFault']);
    assert.equal(world.owned(BOB, USD), owned);
  });

  test('a transfer that would overflow its target is refused (TRF-03, AMB-116)', () => {
    const world = dear();
    const move = { user: BOB, asset: GOLD, amount: '18000', targetIndex: 2 };
    const targetType = { kind: 'spot' as const, asset: null };
    assert.equal(codeOf(world.transfer({ ...move, targetType })), null);
    assert.equal(deal(world, spot(BOB), { user: ALICE }), 'confirmed');
    assert.equal(deal(world, spot(BOB, 2), { user: CAROL }), 'confirmed');
    const all = format18(world.owned(BOB, USD) as Amount18);
    assert.equal(codeOf(world.transfer({ user: BOB, amount: all, targetIndex: 2 })), 'INVALID_REQUEST');
  });

  test('a faucet or a deposit that would overflow one balance is refused, or kept for an operator (DEP-10, operator-api.md 7.4)', () => {
    const world = dear();
    assert.equal(deal(world, spot(BOB), { user: ALICE }), 'confirmed');
    assert.equal(codeOf(world.fund(BOB, USD, '20000000000000000000')), 'INVALID_REQUEST');
    assert.equal(deposit(world, 0, 20n * 10n ** 24n), 'overflow');
  });

  test('a vault holds no more than that, though the faucet takes back what it paid in (DEP-10, operator-api.md 7.4)', () => {
    const world = MarginWorld.make();
    const half = AMOUNT18_MAX / 2n / 10n ** 12n;
    for (const nonce of [0, 1]) {
      assert.equal(deposit(world, nonce, half), 'credited');
      assert.equal(codeOf(world.fund(BOB, USD, `-${format18((half * 10n ** 12n) as Amount18)}`)), null);
    }
    assert.equal(deposit(world, 2, half), 'overflow');
    assert.equal(world.owned(BOB, USD), 0n);
  });

  test('what an order has traded is bounded, though its account gains and loses nothing (FIL-11, MRG-14)', () => {
    const world = goldWorld('1');
    for (const user of [ALICE, BOB]) world.fund(user, USD, '12000', 1);
    assert.equal(deal(world, { user: ALICE }, { user: BOB }, { price: 1, lots: 20_000 }), 'confirmed');
    const own = { user: ALICE };
    const wash = { price: 8e15, lots: 20_000 };
    const buy = at(world, SIDE.buy, { ...own, reduceOnly: true }, { price: 8e15, lots: 40_000 });
    assert.equal(meet(world, buy, at(world, SIDE.sell, own, { price: 1, lots: 20_000 }), wash), 'confirmed');
    world.pass(MARK_STALE_NS + 1n);
    const again = meet(world, buy, at(world, SIDE.sell, own, { price: 1, lots: 20_000 }), wash);
    assert.deepEqual(again, ['InsufficientMargin', 'CounterpartyAtFault']);
    assert.ok((world.order(buy, GOLD_MARKET)?.filledNotional ?? 0n) <= AMOUNT18_MAX);
  });

  test('a quote leg that spot USD cannot take in stays (POS-04, AMB-69)', () => {
    const world = dear();
    world.fund(BOB, USD, '50000000000000000000', 1);
    assert.equal(deal(world, { user: BOB }, { user: ALICE }), 'confirmed');
    world.pass(MARK_STALE_NS + 1n);
    world.prices({ [GOLD]: '1' });
    assert.equal(deal(world, { user: ALICE }, { user: BOB }, { price: 1, lots: LOTS }), 'confirmed');
    const outcome = reply(world.closePosition(BOB, 1, GOLD));
    assert.equal(codeOf(outcome), 'INVALID_REQUEST');
    assert.equal(world.legs(BOB, 1, GOLD)[0], '0');
  });

  test('an operator prices nothing beyond it (operator-api.md 5, 4.3)', () => {
    const world = goldWorld('1');
    const most = format18(AMOUNT18_MAX as Amount18);
    assert.equal(codeOf(world.prices({ [GOLD]: most })), null);
    assert.equal(codeOf(world.prices({ [GOLD]: `2${most}` })), 'INVALID_REQUEST');
    const market = (price_collar: string): string | null =>
      codeOf(world.put('putMarket', GOLD, { price_collar }, 'patch'));
    assert.equal(market(`2${most}`), 'INVALID_REQUEST');
    assert.equal(market('0.1'), null);
  });
});
