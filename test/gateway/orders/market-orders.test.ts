// tier: quick
/** Market orders at the gateway: budgets, holds, records and ends. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { USD } from '../../../src/core/ids.ts';
import { ORDER_END, SIDE, type Side, TIF } from '../../../src/core/order-terms.ts';
import { type Amount18, ONE_18, type TimestampNs } from '../../../src/core/units.ts';
import { source } from '../../support/margin-fixture.ts';
import { ALICE, BOB } from '../../support/names.ts';
import { BASE, codeOf, MARKET, mustPass, NOW, OrderFixture, type OrderWish } from '../../support/order-fixture.ts';

const CENT = ONE_18 / 100n;
/** 1 USD in the quote scale of the market: quantity decimals 4. */
const USD_1 = 10_000;
const SELL = { side: SIDE.sell } as const;

/** What Alice's order holds of USD and of the base, in cents of a unit. */
function heldBy(wish: OrderWish): readonly [bigint, bigint] {
  const fixture = new OrderFixture();
  fixture.place(wish);
  return [fixture.held(ALICE, USD) / CENT, fixture.held(ALICE, BASE) / CENT];
}

/** Alice's market order takes `quantity` from Bob's order at `price`, once per entry. */
function taken(wish: OrderWish, fills: readonly (readonly [price: number, quantity: number])[]) {
  const fixture = new OrderFixture();
  const side = wish.side ?? SIDE.buy;
  const maker = fixture.place({
    id: 'maker',
    user: BOB,
    side: side === SIDE.buy ? SIDE.sell : SIDE.buy,
    quantity: 40_000,
  });
  const order = fixture.place(wish);
  const trades = fills.map(([price, quantity]) => fixture.match(maker, order, price, quantity, side));
  return { fixture, order, trades };
}

suite('holds and budgets of market orders', () => {
  test('a quote-sized buy holds its amount and the fee on top (EX-27, AMB-39)', () => {
    assert.deepEqual(heldBy({ market: { quote: 5_000 * USD_1 } }), [500_250n, 0n]);
  });

  test('a capped base-sized buy holds its cap and the fee on top (ORD-15)', () => {
    assert.deepEqual(heldBy({ market: { base: 10_000, cap: 3_000 * USD_1 } }), [300_150n, 0n]);
  });

  test('a sell holds its base: the quantity, or the cap of a quote size (ORD-16, AMB-52)', () => {
    assert.deepEqual(heldBy({ ...SELL, market: { base: 15_000 } }), [0n, 150n]);
    assert.deepEqual(heldBy({ ...SELL, market: { quote: 5 * USD_1, cap: 20_000 } }), [0n, 200n]);
  });

  test('an uncapped base-sized buy is given what is available without the fee, floored to the quote scale (AMB-39)', () => {
    const fixture = new OrderFixture();
    fixture.setOwned(ALICE, USD, 1_000n * ONE_18);
    const { budget } = mustPass(fixture.reserve({ market: { base: 10_000 } }));
    // 1000 / 1.0005 = 999.50024987…
    assert.equal(budget, 9_995_002);
    const left = fixture.available(ALICE, USD);
    assert.ok(left >= 0n && left < ONE_18 / 1_000n, 'all but what the scale cannot say is held');
  });

  test('an uncapped quote-sized sell is given the available base in lots (AMB-39)', () => {
    const fixture = new OrderFixture();
    fixture.setOwned(ALICE, BASE, 3n * ONE_18 + 123n);
    assert.equal(mustPass(fixture.reserve({ ...SELL, market: { quote: 5 * USD_1 } })).budget, 30_000);
    assert.equal(fixture.available(ALICE, BASE), 123n);
  });

  /** What an uncapped order of 1 unit, or of 2000 USD, is given: USD of a buy, units of a sale. */
  function given(fixture: OrderFixture, side: Side): number {
    const market = side === SIDE.buy ? { base: 10_000 } : { quote: 2_000 * USD_1 };
    return mustPass(fixture.reserve({ side, market, id: `m${fixture.nextSequence}` })).budget / 10_000;
  }

  function priced(fixture: OrderFixture, oracle: number, mark: number | null): void {
    const of = (price: number) => source((BigInt(price) * ONE_18) as Amount18, NOW);
    fixture.manager.margin.onOraclePrice(BASE, of(oracle));
    const interest = { credits: 0n, borrows: 0n };
    fixture.manager.margin.onMarketRisk({
      marketIndex: 3,
      mark: mark === null ? null : of(mark),
      interest,
      holdings: 0n,
    });
  }

  const { buy, sell } = SIDE;

  test('the budget is for the worst price that is known first: collar, prices and their band, best order seen (D21, AMB-39)', () => {
    const fixture = new OrderFixture();
    fixture.setOwned(ALICE, USD, 1_000_000n * ONE_18);
    fixture.setOwned(ALICE, BASE, 100n * ONE_18);
    assert.ok(given(new OrderFixture(), buy) > 9_990, 'nothing is known: all there is');
    assert.equal(given(new OrderFixture(), sell), 10);
    fixture.place({ user: BOB, side: sell, id: 'ask', price: 205_000 });
    fixture.place({ user: BOB, side: sell, id: 'worse', price: 210_000 });
    fixture.place({ user: BOB, side: buy, id: 'bid', price: 160_000 });
    assert.deepEqual([given(fixture, buy), given(fixture, sell)], [2_050, 1.25], 'the best that was seen');
    priced(fixture, 2_000, null);
    assert.deepEqual([given(fixture, buy), given(fixture, sell)], [2_200, 1.1112], 'a tenth from the oracle');
    priced(fixture, 2_000, 2_100);
    assert.deepEqual([given(fixture, buy), given(fixture, sell)], [2_310, 1.1112], 'from the worse of oracle and mark');
    fixture.manager.onSettingsChanged({ ...fixture.manager.settings, marketOrderBand: ONE_18 / 2n });
    assert.deepEqual([given(fixture, buy), given(fixture, sell)], [3_150, 2]);
    fixture.manager.onMarketChanged({ ...MARKET, priceCollar: ONE_18 / 20n });
    assert.deepEqual([given(fixture, buy), given(fixture, sell)], [2_205, 1.0026], 'a twentieth from the mark');
  });

  test('prices that are stale are not known, nor are orders that do not rest any more (AMB-39, AMB-43)', () => {
    const fixture = new OrderFixture();
    let owned = 1_000_000n;
    const isAllGiven = (): boolean => {
      owned *= 100n;
      fixture.setOwned(ALICE, USD, owned * ONE_18);
      return given(fixture, buy) > 900_000;
    };
    fixture.setOwned(ALICE, USD, owned * ONE_18);
    priced(fixture, 2_000, 2_100);
    const at = (seconds: bigint) =>
      fixture.manager.margin.assets.refresh((NOW + seconds * 1_000_000_000n) as TimestampNs);
    at(61n);
    assert.equal(given(fixture, buy), 2_200);
    at(3_601n);
    assert.ok(isAllGiven());
    fixture.setOwned(ALICE, USD, 10n * owned * ONE_18);
    const ask = fixture.place({ user: BOB, side: sell, id: 'ask', price: 205_000 });
    assert.equal(given(fixture, buy), 2_050);
    fixture.end(ask, ORDER_END.userRequested);
    assert.ok(isAllGiven());
    const filled = fixture.place({ user: BOB, side: sell, id: 'filled', price: 205_000 });
    fixture.setOwned(ALICE, USD, 10n * owned * ONE_18);
    fixture.match(filled, fixture.place({ side: buy, id: 'taker', price: 205_000 }), 205_000, 10_000, buy);
    assert.ok(isAllGiven());
  });

  test('several on their way are all taken as long as they are affordable together (D21, AMB-39)', () => {
    const fixture = new OrderFixture();
    priced(fixture, 2_000, null);
    const orders = [1, 2, 3, 4].map((at) => codeOf(fixture.reserve({ id: `m${at}`, market: { base: 10_000 } })));
    assert.deepEqual(orders, ['ok', 'ok', 'ok', 'ok']);
    // Each holds 2200 and a fee of 1.1; the fifth is given what is left.
    assert.equal(fixture.available(ALICE, USD), (10_000n * 100n - 4n * 220_110n) * CENT);
    const { budget } = mustPass(fixture.reserve({ id: 'm5', market: { base: 10_000 } }));
    assert.equal(budget, 11_950_024);
    const sales = [1, 2, 3].map((at) =>
      codeOf(fixture.reserve({ ...SELL, id: `s${at}`, market: { quote: 5_000 * USD_1 } })),
    );
    assert.deepEqual(sales, ['ok', 'ok', 'ok']);
    assert.equal(fixture.available(ALICE, BASE), 10n * ONE_18 - 3n * 27_778n * (ONE_18 / 10_000n));
  });

  test('released by a trigger it is given what it needs, and others that fire with it what they need (AMB-28, AMB-39)', () => {
    const fixture = new OrderFixture();
    priced(fixture, 2_000, null);
    const stops = [1, 2].map((at) => fixture.place({ id: `stop-${at}`, market: { base: 10_000 }, above: 200_000 }));
    for (const stop of stops) fixture.trigger(stop, 10_000);
    const released = fixture.sink.releases.map(({ order, budget, end }) => [order, budget, end]);
    assert.deepEqual(
      released,
      stops.map((stop) => [stop, 2_200 * USD_1, 0]),
    );
    assert.equal(fixture.available(ALICE, USD), (10_000n * 100n - 2n * 220_110n) * CENT);
  });

  test('an order with a bound of its own has no budget', () => {
    const bounded: readonly OrderWish[] = [
      {},
      { market: { quote: USD_1 } },
      { market: { base: 10, cap: USD_1 } },
      { ...SELL, market: { base: 10 } },
      { ...SELL, market: { quote: USD_1, cap: 10 } },
    ];
    for (const wish of bounded) assert.equal(mustPass(new OrderFixture().reserve(wish)).budget, 0);
  });

  test('a bound beyond what is available, or nothing available for a budget, is INSUFFICIENT_INVENTORY', () => {
    const refused: readonly OrderWish[] = [
      { market: { quote: 9_996 * USD_1 } },
      { market: { base: 10, cap: 9_996 * USD_1 } },
      { ...SELL, market: { base: 100_001 } },
      { ...SELL, market: { quote: USD_1, cap: 100_001 } },
    ];
    for (const wish of refused) assert.equal(codeOf(new OrderFixture().request(wish)), 'INSUFFICIENT_INVENTORY');
    const poor = new OrderFixture();
    poor.setOwned(ALICE, USD, 0n);
    poor.setOwned(ALICE, BASE, ONE_18 / 10_001n);
    assert.equal(codeOf(poor.request({ market: { base: 10 } })), 'INSUFFICIENT_INVENTORY');
    assert.equal(codeOf(poor.request({ ...SELL, market: { quote: USD_1 } })), 'INSUFFICIENT_INVENTORY');
  });

  test('what a fill spends leaves the hold, its cost is pending (AMB-112)', () => {
    const { fixture, order } = taken({ market: { quote: 5_000 * USD_1 } }, [[200_000, 10_000]]);
    assert.equal(fixture.held(ALICE, USD), 300_150n * CENT);
    assert.equal(fixture.available(ALICE, USD), (1_000_000n - 300_150n - 200_100n) * CENT);
    fixture.end(order, ORDER_END.immediateOrCancel);
    assert.equal(fixture.held(ALICE, USD), 0n);
  });

  test('a base-sized buy whose quantity is matched holds nothing, whatever its cap has left', () => {
    const { fixture } = taken({ market: { base: 10_000, cap: 5_000 * USD_1 } }, [[200_000, 10_000]]);
    assert.equal(fixture.held(ALICE, USD), 0n);
  });
});

suite('records of market orders', () => {
  const sizes = (wish: OrderWish) => {
    const fixture = new OrderFixture();
    fixture.place(wish);
    const row = fixture.record(ALICE);
    return [row?.limit_price, row?.quantity, row?.amount, row?.max_sellable_amount, row?.max_sellable_quantity];
  };

  test('each kind shows its own figures, amounts in USD (wire.md 7.9)', () => {
    assert.deepEqual(sizes({}), ['2000', '1', null, null, null]);
    assert.deepEqual(sizes({ market: { base: 25_000, cap: 15_000 } }), [null, '2.5', null, '1.5', null]);
    assert.deepEqual(sizes({ market: { quote: 15_000 } }), [null, null, '1.5', null, null]);
    assert.deepEqual(sizes({ ...SELL, market: { quote: 15_000, cap: 5_000 } }), [null, null, '1.5', null, '0.5']);
  });

  test('fill-or-kill and immediate-or-cancel show in the flags (TIF-04)', () => {
    const fixture = new OrderFixture();
    fixture.place({ market: { quote: USD_1, fok: true } });
    const row = fixture.record(ALICE);
    assert.deepEqual([row?.is_immediate_or_cancel, row?.is_fill_or_kill], [true, true]);
  });
});

suite('ends of market orders', () => {
  test('a met target or cap is Filled and never rests, before and after its fills are decided (ORD-21, ORD-22, TIF-05, AMB-37, AMB-128, EX-15)', () => {
    for (const market of [{ quote: 5_000 * USD_1 }, { base: 30_000, cap: 5_000 * USD_1 }]) {
      const { fixture, order, trades } = taken({ market }, [
        [200_000, 10_000],
        [201_000, 14_925],
      ]);
      assert.equal(fixture.status(ALICE), 'PartiallyFilled');
      fixture.end(order, ORDER_END.filled);
      assert.deepEqual([fixture.status(ALICE), fixture.told(ALICE)], ['Filled', ['Created']]);
      for (const trade of trades) fixture.confirm(trade);
      const event = fixture.sink.events.findLast(({ user }) => user === ALICE)?.event;
      // 1 at 2000 and 1.4925 at 2010, the lots that 3000 USD buy there: 4999.925 USD (ORD-22).
      assert.ok(event?.kind === 'Removed' && event.filledAmount === 49_999_250n);
      assert.deepEqual([fixture.status(ALICE), fixture.told(ALICE)], ['Filled', ['Created', 'Removed Filled']]);
      assert.equal(fixture.held(ALICE, USD), 0n);
    }
  });

  test('amounts in events are floored to the quote scale (AMB-05, G16)', () => {
    const { fixture, order, trades } = taken({ market: { quote: USD_1 } }, [[200_005, 1]]);
    fixture.end(order, ORDER_END.filled);
    fixture.confirm(trades[0] ?? 0);
    const event = fixture.sink.events.findLast(({ user }) => user === ALICE)?.event;
    assert.ok(event?.kind === 'Removed');
    // 0.0001 at 2000.05 is 0.200005 USD.
    assert.deepEqual([event.filledQuantity, event.filledAmount], [1, 2_000n]);
  });

  test('running out of book is ImmediateOrCancel, with or without a fill (AMB-128)', () => {
    const { fixture, order, trades } = taken({ market: { quote: 5_000 * USD_1 } }, [[200_000, 10_000]]);
    fixture.end(order, ORDER_END.immediateOrCancel);
    assert.deepEqual([fixture.status(ALICE), fixture.told(ALICE)], ['Canceled', ['Created']]);
    fixture.confirm(trades[0] ?? 0);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Removed ImmediateOrCancel']);
    const empty = taken({ market: { quote: USD_1 } }, []);
    empty.fixture.end(empty.order, ORDER_END.immediateOrCancel);
    assert.deepEqual(empty.fixture.told(ALICE), ['Created', 'Removed ImmediateOrCancel']);
  });

  test('a failed scan is FillOrKill and leaves no hold (TIF-04)', () => {
    const { fixture, order } = taken({ market: { quote: USD_1, fok: true } }, []);
    fixture.end(order, ORDER_END.fillOrKill);
    assert.deepEqual([fixture.told(ALICE), fixture.held(ALICE, USD)], [['Created', 'Removed FillOrKill'], 0n]);
  });

  test('a met target whose fills all roll back is RolledBack, some of them ImmediateOrCancel (AMB-128, EX-25)', () => {
    const fills = [
      [200_000, 10_000],
      [201_000, 14_925],
    ] as const;
    for (const [confirmed, word] of [
      [false, 'RolledBack'],
      [true, 'ImmediateOrCancel'],
    ] as const) {
      const { fixture, order, trades } = taken({ market: { quote: 5_000 * USD_1 } }, fills);
      fixture.end(order, ORDER_END.filled);
      if (confirmed) fixture.confirm(trades[0] ?? 0);
      else fixture.rollBack(trades[0] ?? 0, 1, 10);
      assert.deepEqual(fixture.told(ALICE), ['Created'], 'a fill is undecided');
      fixture.rollBack(trades[1] ?? 0, 1, 10);
      assert.deepEqual([fixture.status(ALICE), fixture.told(ALICE)], ['Canceled', ['Created', `Removed ${word}`]]);
      assert.equal(fixture.held(ALICE, USD), 0n, 'it is not matched again (AMB-32 c)');
    }
  });

  test('each refused fill is an undone fill of another, its order is at fault once; one without a side at fault is none (MON-08, AMB-124)', () => {
    for (const tif of [TIF.fok, TIF.gtc] as const) {
      const fixture = new OrderFixture();
      const maker = fixture.place({ id: 'm', user: BOB, side: SIDE.sell, quantity: 30_000 });
      const taker = fixture.place({ price: 201_000, quantity: 20_000, tif });
      for (let each = 0; each < 2; each += 1)
        fixture.rollBack(fixture.match(maker, taker, 200_000, 10_000, SIDE.buy), 10, 2);
      assert.deepEqual(
        fixture.sink.faults.map(({ user, other, reason, isNewOrder }) => [user, other, reason, isNewOrder]),
        [true, false].map((isNewOrder) => [ALICE, BOB, 2, isNewOrder]),
      );
      fixture.rollBack(fixture.match(maker, fixture.place({ id: 'other' }), 200_000, 10_000, SIDE.buy), 8, 8);
      assert.equal(fixture.sink.faults.length, 2);
    }
  });

  test('a fill-or-kill whose one maker is at fault loses all its fills; each sees its own reason (TIF-06, FIL-14, FIL-15, EX-25)', () => {
    const fixture = new OrderFixture();
    const sell = (id: string, quantity: number) => fixture.place({ id, user: BOB, side: SIDE.sell, quantity });
    const [m1, m2] = [sell('m1', 10_000), sell('m2', 20_000)];
    const taker = fixture.place({ price: 201_000, quantity: 25_000, tif: TIF.fok });
    const trades = [
      fixture.match(m1, taker, 200_000, 10_000, SIDE.buy),
      fixture.match(m2, taker, 201_000, 15_000, SIDE.buy),
    ];
    // Projected fees of 1 and 1.5075 USD.
    assert.equal(
      fixture.manager.funds({ user: ALICE, subAccount: 0, asset: USD }).pending,
      501_750n * CENT + (CENT / 100n) * 75n,
    );
    fixture.rollBack(trades[0] ?? 0, 10, 10);
    fixture.rollBack(trades[1] ?? 0, 1, 10);
    fixture.end(taker, ORDER_END.rolledBack);
    fixture.end(m2, ORDER_END.atFault, 1);
    assert.deepEqual([fixture.told(ALICE), fixture.status(ALICE)], [['Created', 'Removed RolledBack'], 'Canceled']);
    assert.deepEqual([fixture.told(BOB, 'm1'), fixture.status(BOB, 'm1')], [['Created'], 'Open']);
    assert.deepEqual(fixture.told(BOB, 'm2'), ['Created', 'Canceled InsufficientMargin']);
    assert.deepEqual(
      fixture.sink.faults.map(({ user, reason, asset }) => [user, reason, asset]),
      [[BOB, 1, BASE]],
    );
    assert.deepEqual(fixture.fills(ALICE).slice(2), [
      'Rollbacked CounterpartyAtFault 0',
      'Rollbacked CounterpartyAtFault 0',
    ]);
    assert.deepEqual(fixture.fills(BOB).slice(2), [
      'Rollbacked CounterpartyAtFault 0',
      'Rollbacked InsufficientMargin 0',
    ]);
    assert.equal(
      fixture.held(BOB, BASE),
      100n * CENT,
      'what is left of both makers: all of the first, none of the second',
    );
  });

  test('one at fault in a fill of its met target is Canceled with its own reason (AMB-32, FIL-14)', () => {
    const { fixture, order, trades } = taken({ market: { quote: 2_000 * USD_1 } }, [[200_000, 10_000]]);
    fixture.end(order, ORDER_END.filled);
    fixture.rollBack(trades[0] ?? 0, 10, 2);
    assert.deepEqual(fixture.told(ALICE), ['Created', 'Canceled InsufficientInventory']);
    assert.deepEqual(fixture.fills(ALICE)[1], 'Rollbacked InsufficientInventory 0');
    assert.deepEqual(fixture.fills(BOB)[1], 'Rollbacked CounterpartyAtFault 0', 'FIL-15');
  });
});
