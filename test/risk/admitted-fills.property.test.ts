// tier: quick
/**
 * With prices, steps and caps at rest no fill of an admitted order is `InsufficientMargin` (MON-07): order entry admits, and
 * every fill that the order's terms allow is judged by clearing's own rule.
 */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { notional18, quantity18, tradingFee18 } from '../../src/core/arithmetic.ts';
import { type AssetId, USD } from '../../src/core/ids.ts';
import { ORDER_END, ORDER_KIND, SIDE, type Side, TIF, type Tif } from '../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity } from '../../src/core/units.ts';
import { filledNotionalOf } from '../../src/gateway/orders/balances/spending.ts';
import { filledOf, isReduceOnly, isSpot, type LiveOrder } from '../../src/gateway/orders/book/live-order.ts';
import {
  addInitial,
  addInitialUsd,
  addStored,
  addStoredUsd,
  emptyInitial,
  emptyStoredEquity,
  type InitialSums,
  initialMarginHolds,
  type StoredEquity,
  solvencyHolds,
} from '../../src/risk/account.ts';
import { reduces, usdDelta } from '../../src/risk/position.ts';
import { quote18 } from '../../src/risk/reservation.ts';
import { ALICE, MARKETS, MarginFixture, type MarginWish, riskRow, usd } from '../support/margin-fixture.ts';
import { BOB, BTC, ETH } from '../support/names.ts';

import { propertyParameters } from '../support/property.ts';

const ASSETS = [ETH, BTC] as const;

interface Legs {
  base: bigint;
  quote: bigint;
}

/** Alice's account as clearing has it. */
interface Books {
  spot: Map<AssetId, bigint>;
  legs: Map<AssetId, Legs>;
}

interface Wish {
  readonly asset: (typeof ASSETS)[number];
  readonly side: Side;
  /** Lots. */
  readonly lots: number;
  /** Percent of the price. */
  readonly level: number;
  readonly form: 'limit' | 'limit' | 'ioc' | 'base' | 'quote' | 'capped';
  readonly target: 'margin' | 'reduceOnly' | 'spot';
}

const wishes: fc.Arbitrary<Wish> = fc.record({
  asset: fc.constantFrom(...ASSETS),
  side: fc.constantFrom<Side>(SIDE.buy, SIDE.sell),
  lots: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 400 })),
  level: fc.oneof(fc.integer({ min: 85, max: 115 }), fc.integer({ min: 1, max: 300 })),
  form: fc.constantFrom('limit', 'limit', 'ioc', 'base', 'quote', 'capped'),
  target: fc.constantFrom('margin', 'margin', 'margin', 'reduceOnly', 'spot'),
});
const fills = fc.record({
  pick: fc.nat(20),
  /** Percent of what is left, and of the way from its price to a better one. */
  share: fc.integer({ min: 1, max: 100 }),
  better: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 50 }) }),
});
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('create' as const), wish: wishes, fills: fc.array(fills, { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('fill' as const), fill: fills }),
    fc.record({ kind: fc.constant('cancel' as const), pick: fc.nat(20) }),
    fc.record({
      kind: fc.constant('replace' as const),
      pick: fc.nat(20),
      lots: fc.integer({ min: 1, max: 60 }),
      level: fc.integer({ min: 85, max: 115 }),
    }),
  ),
  { minLength: 1, maxLength: 25 },
);
const worlds = fc.record({
  /** Cents. */
  money: fc.integer({ min: 0, max: 60_000 }),
  coins: fc.integer({ min: 0, max: 20 }),
  bases: fc.tuple(fc.integer({ min: -60, max: 60 }), fc.integer({ min: -60, max: 60 })),
  /** Percent of the prices at which the positions were opened. */
  entry: fc.integer({ min: 85, max: 115 }),
  oracle: fc.integer({ min: 90, max: 110 }),
  mark: fc.integer({ min: 90, max: 110 }),
  risk: fc.constantFrom([90, 95, 1_000_000], [100, 100, 1_000_000], [60, 70, 900_000], [0, 50, 800_000]),
});

type Value<A> = A extends fc.Arbitrary<infer Of> ? Of : never;
type Filling = Value<typeof fills>;
type World = Value<typeof worlds>;

/** Lots are 10^-4; both assets are worth about 1,000,000, so that one is about 100 USD. */
const UNIT = 1_000_000;

class Play {
  readonly fixture = new MarginFixture();
  readonly books: Books = { spot: new Map(), legs: new Map() };
  readonly live: { readonly order: LiveOrder; readonly sequence: number; readonly asset: AssetId }[] = [];
  readonly world: { readonly oracle: number; readonly mark: number };
  confirmed = 0;
  refused = 0;

  constructor({ money, coins, bases, entry, oracle, mark, risk }: World) {
    this.world = { oracle, mark };
    this.fixture.spot(USD, 1_000_000_000_000, 1, BOB);
    this.fixture.manager.onBalanceChanged({
      user: BOB,
      subAccount: 1,
      asset: ETH,
      owned: usd(1_000_000),
      locked: usd(0),
    });
    this.fixture.manager.onBalanceChanged({
      user: BOB,
      subAccount: 1,
      asset: BTC,
      owned: usd(1_000_000),
      locked: usd(0),
    });
    for (const [at, asset] of ASSETS.entries()) {
      const [cf, lf, im] = at === 0 ? (risk as [number, number, number]) : ([95, 96, 900_000] as const);
      this.fixture.risk(asset, riskRow(cf, lf, im));
      this.fixture.price(asset, (UNIT * oracle) / 100, (UNIT * mark) / 100);
      const base = quantity18((bases[at] ?? 0) as RawQuantity, 4);
      const quote = (-base * BigInt(UNIT) * BigInt(entry)) / 100n;
      this.books.legs.set(asset, { base, quote });
      this.fixture.manager.margin.onPositionChanged({
        user: ALICE,
        subAccount: 1,
        asset,
        base,
        quote: quote as never,
        entry: usd(0),
      });
    }
    this.#own(USD, (usd(money) / 100n) as never);
    this.#own(ETH, quantity18(coins as RawQuantity, 4));
  }

  #own(asset: AssetId, owned: bigint): void {
    this.books.spot.set(asset, owned);
    this.fixture.manager.onBalanceChanged({ user: ALICE, subAccount: 1, asset, owned: owned as never, locked: usd(0) });
  }

  create({ asset, side, lots, level, form, target }: Wish, after: readonly Filling[]): void {
    const price = Math.round((UNIT * level) / 100);
    const quote = Math.round(((UNIT * this.world.oracle) / 100) * lots);
    const market = { base: { base: lots }, quote: { quote }, capped: { base: lots, cap: quote } };
    const tif: Tif = form === 'ioc' ? TIF.ioc : TIF.gtc;
    const wish: MarginWish = {
      ...{ asset, side, quantity: lots / 10_000, price, tif },
      ...{ isSpot: target === 'spot', reduceOnly: target === 'reduceOnly' },
      ...(form === 'limit' || form === 'ioc' ? {} : { market: market[form] as never }),
    };
    const reserved = this.fixture.request(wish);
    if (!reserved.ok) {
      this.refused += 1;
      return;
    }
    const { order, requestId } = reserved.value;
    const entry = { order, sequence: this.fixture.admit(requestId, asset), asset };
    this.live.push(entry);
    if (order.kind === ORDER_KIND.limit && tif === TIF.gtc) return;
    for (const fill of after) this.#fill(entry, fill);
    if (!isDone(order)) this.fixture.end(entry.sequence, ORDER_END.immediateOrCancel, asset);
    this.live.pop();
  }

  cancel(pick: number): void {
    const at = pick % Math.max(1, this.live.length);
    const entry = this.live[at];
    if (entry === undefined) return;
    this.live.splice(at, 1);
    if (!isDone(entry.order)) this.fixture.end(entry.sequence, ORDER_END.userRequested, entry.asset);
  }

  replace(pick: number, lots: number, level: number): void {
    const entry = this.live[pick % Math.max(1, this.live.length)];
    if (entry === undefined || isDone(entry.order)) return;
    const price = Math.round((UNIT * level) / 100);
    const total = filledOf(entry.order) + lots;
    const asked = this.fixture.replace(entry.order.orderId, { price, quantity: total / 10_000 }, entry.asset);
    if (asked.ok) this.fixture.replaced(asked.value, entry.sequence, price, total / 10_000, entry.asset);
  }

  fill(given: Filling): void {
    const entry = this.live[given.pick % Math.max(1, this.live.length)];
    if (entry !== undefined && !isDone(entry.order)) this.#fill(entry, given);
  }

  #fill({ order, sequence, asset }: (typeof this.live)[number], { share, better }: Filling): void {
    const definition = MARKETS[asset] ?? assert.fail();
    if (isDone(order)) return;
    assert.ok(order.price > 0, 'a market order of a margin account has a bound');
    const isBuy = order.side === SIDE.buy;
    const price = Math.max(1, Math.round(order.price * (isBuy ? 1 - better / 100 : 1 + better / 100))) as RawPrice;
    const one = notional18(price, 1 as RawQuantity, definition);
    let most = order.quantity === 0 ? Number.MAX_SAFE_INTEGER : order.quantity - filledOf(order);
    if (order.amount > 0) {
      const money = quote18(order.amount, definition) - filledNotionalOf(order);
      most = Math.min(most, Number(money / one));
    }
    const lots = Math.min(1_000_000, Math.ceil((most * share) / 100)) as RawQuantity;
    if (lots === 0) return;
    const base = quantity18(lots, definition.quantityDecimals);
    const notional = notional18(price, lots, definition);
    const delta = isBuy ? base : -base;
    const money = usdDelta(delta, notional, tradingFee18(notional, 500));
    if (!this.#judge(order, asset, delta, money)) return;
    const counter = this.fixture.request({
      ...{ user: BOB, asset, side: isBuy ? SIDE.sell : SIDE.buy, quantity: lots / 10_000, price: price / 100 },
      isSpot: true,
    });
    assert.ok(counter.ok);
    const other = this.fixture.admit(counter.value.requestId, asset);
    const trade = this.fixture.match(sequence, other, price / 100, lots / 10_000, isBuy ? SIDE.sell : SIDE.buy, asset);
    this.fixture.confirm(trade, asset);
    this.confirmed += 1;
    if (isSpot(order)) {
      this.#own(asset, (this.books.spot.get(asset) ?? 0n) + delta);
      this.#own(USD, (this.books.spot.get(USD) ?? 0n) + money);
    } else {
      const legs = this.books.legs.get(asset) ?? assert.fail();
      legs.base += delta;
      legs.quote += money;
      this.fixture.manager.margin.onPositionChanged({
        ...{ user: ALICE, subAccount: 1, asset, entry: usd(0) },
        ...{ base: legs.base as never, quote: legs.quote as never },
      });
    }
  }

  /** As src/clearing/fill-checks.ts. @returns whether the fill is booked; what is no matter of margin is none here. */
  #judge(order: LiveOrder, asset: AssetId, delta: bigint, money: bigint): boolean {
    const legs = this.books.legs.get(asset) ?? assert.fail();
    const isReducing = !isSpot(order) && reduces(legs.base, delta);
    if (isReduceOnly(order) && !isReducing) return false;
    const before = this.#sums();
    const [spot, held] = [new Map(this.books.spot), { ...legs }];
    if (isSpot(order)) {
      this.books.spot.set(asset, (spot.get(asset) ?? 0n) + delta);
      this.books.spot.set(USD, (spot.get(USD) ?? 0n) + money);
    } else Object.assign(legs, { base: legs.base + delta, quote: legs.quote + money });
    const after = this.#sums();
    const isOwned = [...this.books.spot.values()].every((amount) => amount >= 0n);
    this.books.spot = spot;
    Object.assign(legs, held);
    if (!isOwned) return false;
    const margin = isReducing || initialMarginHolds(after.initial, () => before.initial);
    assert.ok(margin, 'initial margin');
    assert.ok(
      solvencyHolds(after.equity, () => before.equity),
      'solvency',
    );
    return true;
  }

  #sums(): { readonly initial: InitialSums; readonly equity: StoredEquity } {
    const [initial, equity] = [emptyInitial(), emptyStoredEquity()];
    const { assets } = this.fixture.manager.margin;
    const usdOf = (amount: bigint): void => {
      addInitialUsd(initial, amount);
      addStoredUsd(equity, amount);
    };
    for (const [asset, amount] of this.books.spot) {
      if (asset === USD) usdOf(amount);
      else {
        addInitial(initial, assets.terms(asset), amount);
        addStored(equity, assets.terms(asset), amount);
      }
    }
    for (const [asset, { base, quote }] of this.books.legs) {
      addInitial(initial, assets.terms(asset), base);
      addStored(equity, assets.terms(asset), base);
      usdOf(quote);
    }
    return { initial, equity };
  }
}

function isDone(order: LiveOrder): boolean {
  return order.isClosed || order.isGone || (order.quantity > 0 && filledOf(order) >= order.quantity);
}

suite('fills of admitted orders', () => {
  test('none lacks margin, of any kind of order, in any order, in part, at any better price (MON-07)', () => {
    let [confirmed, refused] = [0, 0];
    fc.assert(
      fc.property(worlds, steps, (world, story) => {
        const play = new Play(world);
        for (const step of story) {
          if (step.kind === 'create') play.create(step.wish, step.fills);
          else if (step.kind === 'fill') play.fill(step.fill);
          else if (step.kind === 'cancel') play.cancel(step.pick);
          else play.replace(step.pick, step.lots, step.level);
        }
        confirmed += play.confirmed;
        refused += play.refused;
      }),
      propertyParameters(400),
    );
    assert.ok(confirmed > 100 && refused > 100, `${confirmed} fills and ${refused} refusals`);
  });
});
