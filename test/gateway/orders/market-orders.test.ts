/** Market orders at the gateway: budgets, holds, records and ends. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { USD } from '../../../src/core/ids.ts';
import { ORDER_END, SIDE, type Side, TIF } from '../../../src/core/order-terms.ts';
import { type Amount18, ONE_18, type TimestampNs } from '../../../src/core/units.ts';
import { source } from '../../support/margin-desk.ts';
import {
  ALICE,
  BASE,
  BOB,
  codeOf,
  MARKET,
  mustPass,
  NOW,
  OrderDesk,
  type OrderWish,
} from '../../support/order-desk.ts';

const CENT = ONE_18 / 100n;
/** 1 USD in the quote scale of the market: quantity decimals 4. */
const USD_1 = 10_000;
const SELL = { side: SIDE.sell } as const;

/** What Alice's order holds of USD and of the base, in cents of a unit. */
function heldBy(wish: OrderWish): readonly [bigint, bigint] {
  const desk = new OrderDesk();
  desk.place(wish);
  return [desk.held(ALICE, USD) / CENT, desk.held(ALICE, BASE) / CENT];
}

/** Alice's market order takes `quantity` from Bob's order at `price`, once per entry. */
function taken(wish: OrderWish, fills: readonly (readonly [price: number, quantity: number])[]) {
  const desk = new OrderDesk();
  const side = wish.side ?? SIDE.buy;
  const maker = desk.place({
    id: 'maker',
    user: BOB,
    side: side === SIDE.buy ? SIDE.sell : SIDE.buy,
    quantity: 40_000,
  });
  const order = desk.place(wish);
  const trades = fills.map(([price, quantity]) => desk.match(maker, order, price, quantity, side));
  return { desk, order, trades };
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
    const desk = new OrderDesk();
    desk.setOwned(ALICE, USD, 1_000n * ONE_18);
    const { budget } = mustPass(desk.reserve({ market: { base: 10_000 } }));
    // 1000 / 1.0005 = 999.50024987…
    assert.equal(budget, 9_995_002);
    const left = desk.available(ALICE, USD);
    assert.ok(left >= 0n && left < ONE_18 / 1_000n, 'all but what the scale cannot say is held');
  });

  test('an uncapped quote-sized sell is given the available base in lots (AMB-39)', () => {
    const desk = new OrderDesk();
    desk.setOwned(ALICE, BASE, 3n * ONE_18 + 123n);
    assert.equal(mustPass(desk.reserve({ ...SELL, market: { quote: 5 * USD_1 } })).budget, 30_000);
    assert.equal(desk.available(ALICE, BASE), 123n);
  });

  /** What an uncapped order of 1 unit, or of 2000 USD, is given: USD of a buy, units of a sale. */
  function given(desk: OrderDesk, side: Side): number {
    const market = side === SIDE.buy ? { base: 10_000 } : { quote: 2_000 * USD_1 };
    return mustPass(desk.reserve({ side, market, id: `m${desk.nextSequence}` })).budget / 10_000;
  }

  function priced(desk: OrderDesk, oracle: number, mark: number | null): void {
    const of = (price: number) => source((BigInt(price) * ONE_18) as Amount18, NOW);
    desk.manager.margin.onOraclePrice(BASE, of(oracle));
    const interest = { credits: 0n, borrows: 0n };
    desk.manager.margin.onMarketRisk({ marketIndex: 3, mark: mark === null ? null : of(mark), interest });
  }

  const { buy, sell } = SIDE;

  test('the budget is for the worst price that is known first: collar, prices and their band, best order seen (D21, AMB-39)', () => {
    const desk = new OrderDesk();
    desk.setOwned(ALICE, USD, 1_000_000n * ONE_18);
    desk.setOwned(ALICE, BASE, 100n * ONE_18);
    assert.ok(given(new OrderDesk(), buy) > 9_990, 'nothing is known: all there is');
    assert.equal(given(new OrderDesk(), sell), 10);
    desk.place({ user: BOB, side: sell, id: 'ask', price: 205_000 });
    desk.place({ user: BOB, side: sell, id: 'worse', price: 210_000 });
    desk.place({ user: BOB, side: buy, id: 'bid', price: 160_000 });
    assert.deepEqual([given(desk, buy), given(desk, sell)], [2_050, 1.25], 'the best that was seen');
    priced(desk, 2_000, null);
    assert.deepEqual([given(desk, buy), given(desk, sell)], [2_200, 1.1112], 'a tenth from the oracle');
    priced(desk, 2_000, 2_100);
    assert.deepEqual([given(desk, buy), given(desk, sell)], [2_310, 1.1112], 'from the worse of oracle and mark');
    desk.manager.onSettingsChanged({ ...desk.manager.settings, marketOrderBand: ONE_18 / 2n });
    assert.deepEqual([given(desk, buy), given(desk, sell)], [3_150, 2]);
    desk.manager.onMarketChanged({ ...MARKET, priceCollar: ONE_18 / 20n });
    assert.deepEqual([given(desk, buy), given(desk, sell)], [2_205, 1.0026], 'a twentieth from the mark');
  });

  test('prices that are stale are not known, nor are orders that do not rest any more (AMB-39, AMB-43)', () => {
    const desk = new OrderDesk();
    let owned = 1_000_000n;
    const isAllGiven = (): boolean => {
      owned *= 100n;
      desk.setOwned(ALICE, USD, owned * ONE_18);
      return given(desk, buy) > 900_000;
    };
    desk.setOwned(ALICE, USD, owned * ONE_18);
    priced(desk, 2_000, 2_100);
    const at = (seconds: bigint) => desk.manager.margin.assets.refresh((NOW + seconds * 1_000_000_000n) as TimestampNs);
    at(61n);
    assert.equal(given(desk, buy), 2_200);
    at(3_601n);
    assert.ok(isAllGiven());
    desk.setOwned(ALICE, USD, 10n * owned * ONE_18);
    const ask = desk.place({ user: BOB, side: sell, id: 'ask', price: 205_000 });
    assert.equal(given(desk, buy), 2_050);
    desk.end(ask, ORDER_END.userRequested);
    assert.ok(isAllGiven());
    const filled = desk.place({ user: BOB, side: sell, id: 'filled', price: 205_000 });
    desk.setOwned(ALICE, USD, 10n * owned * ONE_18);
    desk.match(filled, desk.place({ side: buy, id: 'taker', price: 205_000 }), 205_000, 10_000, buy);
    assert.ok(isAllGiven());
  });

  test('several on their way are all taken as long as they are affordable together (D21, AMB-39)', () => {
    const desk = new OrderDesk();
    priced(desk, 2_000, null);
    const orders = [1, 2, 3, 4].map((at) => codeOf(desk.reserve({ id: `m${at}`, market: { base: 10_000 } })));
    assert.deepEqual(orders, ['ok', 'ok', 'ok', 'ok']);
    // Each holds 2200 and a fee of 1.1; the fifth is given what is left.
    assert.equal(desk.available(ALICE, USD), (10_000n * 100n - 4n * 220_110n) * CENT);
    const { budget } = mustPass(desk.reserve({ id: 'm5', market: { base: 10_000 } }));
    assert.equal(budget, 11_950_024);
    const sales = [1, 2, 3].map((at) =>
      codeOf(desk.reserve({ ...SELL, id: `s${at}`, market: { quote: 5_000 * USD_1 } })),
    );
    assert.deepEqual(sales, ['ok', 'ok', 'ok']);
    assert.equal(desk.available(ALICE, BASE), 10n * ONE_18 - 3n * 27_778n * (ONE_18 / 10_000n));
  });

  test('released by a trigger it is given what it needs, and others that fire with it what they need (AMB-28, AMB-39)', () => {
    const desk = new OrderDesk();
    priced(desk, 2_000, null);
    const stops = [1, 2].map((at) => desk.place({ id: `stop-${at}`, market: { base: 10_000 }, above: 200_000 }));
    for (const stop of stops) desk.trigger(stop, 10_000);
    const released = desk.sink.releases.map(({ order, budget, end }) => [order, budget, end]);
    assert.deepEqual(
      released,
      stops.map((stop) => [stop, 2_200 * USD_1, 0]),
    );
    assert.equal(desk.available(ALICE, USD), (10_000n * 100n - 2n * 220_110n) * CENT);
  });

  test('an order with a bound of its own has no budget', () => {
    const bounded: readonly OrderWish[] = [
      {},
      { market: { quote: USD_1 } },
      { market: { base: 10, cap: USD_1 } },
      { ...SELL, market: { base: 10 } },
      { ...SELL, market: { quote: USD_1, cap: 10 } },
    ];
    for (const wish of bounded) assert.equal(mustPass(new OrderDesk().reserve(wish)).budget, 0);
  });

  test('a bound beyond what is available, or nothing available for a budget, is INSUFFICIENT_INVENTORY', () => {
    const refused: readonly OrderWish[] = [
      { market: { quote: 9_996 * USD_1 } },
      { market: { base: 10, cap: 9_996 * USD_1 } },
      { ...SELL, market: { base: 100_001 } },
      { ...SELL, market: { quote: USD_1, cap: 100_001 } },
    ];
    for (const wish of refused) assert.equal(codeOf(new OrderDesk().request(wish)), 'INSUFFICIENT_INVENTORY');
    const poor = new OrderDesk();
    poor.setOwned(ALICE, USD, 0n);
    poor.setOwned(ALICE, BASE, ONE_18 / 10_001n);
    assert.equal(codeOf(poor.request({ market: { base: 10 } })), 'INSUFFICIENT_INVENTORY');
    assert.equal(codeOf(poor.request({ ...SELL, market: { quote: USD_1 } })), 'INSUFFICIENT_INVENTORY');
  });

  test('what a fill spends leaves the hold, its cost is pending (AMB-112)', () => {
    const { desk, order } = taken({ market: { quote: 5_000 * USD_1 } }, [[200_000, 10_000]]);
    assert.equal(desk.held(ALICE, USD), 300_150n * CENT);
    assert.equal(desk.available(ALICE, USD), (1_000_000n - 300_150n - 200_100n) * CENT);
    desk.end(order, ORDER_END.immediateOrCancel);
    assert.equal(desk.held(ALICE, USD), 0n);
  });

  test('a base-sized buy whose quantity is matched holds nothing, whatever its cap has left', () => {
    const { desk } = taken({ market: { base: 10_000, cap: 5_000 * USD_1 } }, [[200_000, 10_000]]);
    assert.equal(desk.held(ALICE, USD), 0n);
  });
});

suite('records of market orders', () => {
  const sizes = (wish: OrderWish) => {
    const desk = new OrderDesk();
    desk.place(wish);
    const row = desk.record(ALICE);
    return [row?.limit_price, row?.quantity, row?.amount, row?.max_sellable_amount, row?.max_sellable_quantity];
  };

  test('each kind shows its own figures, amounts in USD (wire.md 7.9)', () => {
    assert.deepEqual(sizes({}), ['2000', '1', null, null, null]);
    assert.deepEqual(sizes({ market: { base: 25_000, cap: 15_000 } }), [null, '2.5', null, '1.5', null]);
    assert.deepEqual(sizes({ market: { quote: 15_000 } }), [null, null, '1.5', null, null]);
    assert.deepEqual(sizes({ ...SELL, market: { quote: 15_000, cap: 5_000 } }), [null, null, '1.5', null, '0.5']);
  });

  test('fill-or-kill and immediate-or-cancel show in the flags (TIF-04)', () => {
    const desk = new OrderDesk();
    desk.place({ market: { quote: USD_1, fok: true } });
    const row = desk.record(ALICE);
    assert.deepEqual([row?.is_immediate_or_cancel, row?.is_fill_or_kill], [true, true]);
  });
});

suite('ends of market orders', () => {
  test('a met target or cap is Filled and never rests, before and after its fills are decided (ORD-21, ORD-22, TIF-05, AMB-37, AMB-128, EX-15)', () => {
    for (const market of [{ quote: 5_000 * USD_1 }, { base: 30_000, cap: 5_000 * USD_1 }]) {
      const { desk, order, trades } = taken({ market }, [
        [200_000, 10_000],
        [201_000, 14_925],
      ]);
      assert.equal(desk.status(ALICE), 'PartiallyFilled');
      desk.end(order, ORDER_END.filled);
      assert.deepEqual([desk.status(ALICE), desk.told(ALICE)], ['Filled', ['Created']]);
      for (const trade of trades) desk.confirm(trade);
      const event = desk.sink.events.findLast(({ user }) => user === ALICE)?.event;
      // 1 at 2000 and 1.4925 at 2010, the lots that 3000 USD buy there: 4999.925 USD (ORD-22).
      assert.ok(event?.kind === 'Removed' && event.filledAmount === 49_999_250n);
      assert.deepEqual([desk.status(ALICE), desk.told(ALICE)], ['Filled', ['Created', 'Removed Filled']]);
      assert.equal(desk.held(ALICE, USD), 0n);
    }
  });

  test('amounts in events are floored to the quote scale (AMB-05, G16)', () => {
    const { desk, order, trades } = taken({ market: { quote: USD_1 } }, [[200_005, 1]]);
    desk.end(order, ORDER_END.filled);
    desk.confirm(trades[0] ?? 0);
    const event = desk.sink.events.findLast(({ user }) => user === ALICE)?.event;
    assert.ok(event?.kind === 'Removed');
    // 0.0001 at 2000.05 is 0.200005 USD.
    assert.deepEqual([event.filledQuantity, event.filledAmount], [1, 2_000n]);
  });

  test('running out of book is ImmediateOrCancel, with or without a fill (AMB-128)', () => {
    const { desk, order, trades } = taken({ market: { quote: 5_000 * USD_1 } }, [[200_000, 10_000]]);
    desk.end(order, ORDER_END.immediateOrCancel);
    assert.deepEqual([desk.status(ALICE), desk.told(ALICE)], ['Canceled', ['Created']]);
    desk.confirm(trades[0] ?? 0);
    assert.deepEqual(desk.told(ALICE), ['Created', 'Removed ImmediateOrCancel']);
    const empty = taken({ market: { quote: USD_1 } }, []);
    empty.desk.end(empty.order, ORDER_END.immediateOrCancel);
    assert.deepEqual(empty.desk.told(ALICE), ['Created', 'Removed ImmediateOrCancel']);
  });

  test('a failed scan is FillOrKill and leaves no hold (TIF-04)', () => {
    const { desk, order } = taken({ market: { quote: USD_1, fok: true } }, []);
    desk.end(order, ORDER_END.fillOrKill);
    assert.deepEqual([desk.told(ALICE), desk.held(ALICE, USD)], [['Created', 'Removed FillOrKill'], 0n]);
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
      const { desk, order, trades } = taken({ market: { quote: 5_000 * USD_1 } }, fills);
      desk.end(order, ORDER_END.filled);
      if (confirmed) desk.confirm(trades[0] ?? 0);
      else desk.rollBack(trades[0] ?? 0, 1, 10);
      assert.deepEqual(desk.told(ALICE), ['Created'], 'a fill is undecided');
      desk.rollBack(trades[1] ?? 0, 1, 10);
      assert.deepEqual([desk.status(ALICE), desk.told(ALICE)], ['Canceled', ['Created', `Removed ${word}`]]);
      assert.equal(desk.held(ALICE, USD), 0n, 'it is not matched again (AMB-32 c)');
    }
  });

  test('each refused fill is a fault of its party, those of a fill-or-kill are one, a fill without a side at fault none (AMB-34, AMB-124)', () => {
    for (const [tif, faults] of [
      [TIF.fok, 1],
      [TIF.gtc, 2],
    ] as const) {
      const desk = new OrderDesk();
      const maker = desk.place({ id: 'm', user: BOB, side: SIDE.sell, quantity: 30_000 });
      const taker = desk.place({ price: 201_000, quantity: 20_000, tif });
      for (let each = 0; each < 2; each += 1) desk.rollBack(desk.match(maker, taker, 200_000, 10_000, SIDE.buy), 10, 2);
      assert.deepEqual(
        desk.sink.faults.map(({ user, reason }) => [user, reason]),
        Array.from({ length: faults }, () => [ALICE, 2]),
      );
      desk.rollBack(desk.match(maker, desk.place({ id: 'other' }), 200_000, 10_000, SIDE.buy), 8, 8);
      assert.equal(desk.sink.faults.length, faults);
    }
  });

  test('a fill-or-kill whose one maker is at fault loses all its fills; each sees its own reason (TIF-06, FIL-14, FIL-15, EX-25)', () => {
    const desk = new OrderDesk();
    const sell = (id: string, quantity: number) => desk.place({ id, user: BOB, side: SIDE.sell, quantity });
    const [m1, m2] = [sell('m1', 10_000), sell('m2', 20_000)];
    const taker = desk.place({ price: 201_000, quantity: 25_000, tif: TIF.fok });
    const trades = [desk.match(m1, taker, 200_000, 10_000, SIDE.buy), desk.match(m2, taker, 201_000, 15_000, SIDE.buy)];
    // Projected fees of 1 and 1.5075 USD.
    assert.equal(
      desk.manager.funds({ user: ALICE, subAccount: 0, asset: USD }).pending,
      501_750n * CENT + (CENT / 100n) * 75n,
    );
    desk.rollBack(trades[0] ?? 0, 10, 10);
    desk.rollBack(trades[1] ?? 0, 1, 10);
    desk.end(taker, ORDER_END.rolledBack);
    desk.end(m2, ORDER_END.atFault, 1);
    assert.deepEqual([desk.told(ALICE), desk.status(ALICE)], [['Created', 'Removed RolledBack'], 'Canceled']);
    assert.deepEqual([desk.told(BOB, 'm1'), desk.status(BOB, 'm1')], [['Created'], 'Open']);
    assert.deepEqual(desk.told(BOB, 'm2'), ['Created', 'Canceled InsufficientMargin']);
    assert.deepEqual(
      desk.sink.faults.map(({ user, reason, asset }) => [user, reason, asset]),
      [[BOB, 1, BASE]],
    );
    assert.deepEqual(desk.fills(ALICE).slice(2), [
      'Rollbacked CounterpartyAtFault 0',
      'Rollbacked CounterpartyAtFault 0',
    ]);
    assert.deepEqual(desk.fills(BOB).slice(2), ['Rollbacked CounterpartyAtFault 0', 'Rollbacked InsufficientMargin 0']);
    assert.equal(
      desk.held(BOB, BASE),
      100n * CENT,
      'what is left of both makers: all of the first, none of the second',
    );
  });

  test('one at fault in a fill of its met target is Canceled with its own reason (AMB-32, FIL-14)', () => {
    const { desk, order, trades } = taken({ market: { quote: 2_000 * USD_1 } }, [[200_000, 10_000]]);
    desk.end(order, ORDER_END.filled);
    desk.rollBack(trades[0] ?? 0, 10, 2);
    assert.deepEqual(desk.told(ALICE), ['Created', 'Canceled InsufficientInventory']);
    assert.deepEqual(desk.fills(ALICE)[1], 'Rollbacked InsufficientInventory 0');
    assert.deepEqual(desk.fills(BOB)[1], 'Rollbacked CounterpartyAtFault 0', 'FIL-15');
  });
});
