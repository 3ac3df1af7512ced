// tier: quick
/** What fills of open orders may cost, against every way to fill them (MON-07, docs/decisions/0042). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { powerOfTen, tradingFee18 } from '../../src/core/arithmetic.ts';
import { SIDE, type Side } from '../../src/core/order-terms.ts';
import { type Amount18, ONE_18 } from '../../src/core/units.ts';
import { addInitial, emptyInitial, type InitialSums } from '../../src/risk/account.ts';
import { type AssetTerms, assetTerms, WEIGHT_ONE } from '../../src/risk/asset-terms.ts';
import { nextImFactor, riskTerms } from '../../src/risk/risk-terms.ts';
import { freePrice, LossSide, lossOf, MarketLosses, newLossEntry } from '../../src/risk/worst-loss.ts';
import { riskRow, usd } from '../support/margin-fixture.ts';
import { propertyParameters } from '../support/property.ts';

const MARKET = { priceDecimals: 1, quantityDecimals: 2, makerFeeRate: 200, takerFeeRate: 700 };
const LOT = powerOfTen(16);
type Kind = 'margin' | 'reduceOnly' | 'spot';

interface Order {
  readonly side: Side;
  readonly kind: Kind;
  readonly lots: number;
  /** Raw; the market is around 1000. */
  readonly price: number;
}

const orders = fc.array(
  fc.record({
    side: fc.constantFrom<Side>(SIDE.buy, SIDE.sell),
    kind: fc.constantFrom<Kind>('margin', 'margin', 'margin', 'reduceOnly', 'spot'),
    lots: fc.integer({ min: 1, max: 60 }),
    price: fc.oneof(fc.integer({ min: 850, max: 1_150 }), fc.integer({ min: 1, max: 4_000 })),
  }),
  { maxLength: 6 },
);
const terms = fc
  .record({
    cf: fc.integer({ min: 0, max: 100 }),
    lf: fc.integer({ min: 0, max: 100 }),
    im: fc.integer({ min: 500_000, max: 1_000_000 }),
    step: fc.integer({ min: 0, max: 300_000 }),
    oracle: fc.integer({ min: 900, max: 1_100 }),
    mark: fc.integer({ min: 900, max: 1_100 }),
  })
  .map(({ cf, lf, im, step, oracle, mark }) => {
    const risk = riskTerms(riskRow(cf, lf, im));
    const prices = { oracle: usd(oracle / 10), mark: usd(mark / 10), isBroken: false, shield: usd(0) };
    return assetTerms(risk, prices, BigInt(im), BigInt(im - step));
  });

function lossesOf(all: readonly Order[]): MarketLosses {
  const losses = new MarketLosses();
  for (const order of all) sideOf(losses, order).set(newLossEntry(), order.lots, order.price);
  return losses;
}

function sideOf(losses: MarketLosses, { side, kind }: Order): LossSide {
  const { buys, sells, reducingBuys, reducingSells, spotBuys, spotSells } = losses;
  const [buy, sell] = { margin: [buys, sells], reduceOnly: [reducingBuys, reducingSells], spot: [spotBuys, spotSells] }[
    kind
  ] as [LossSide, LossSide];
  return side === SIDE.buy ? buy : sell;
}

/** A position and a spot balance, as clearing books fills. */
class Account {
  base: bigint;
  spot: bigint = ONE_18 * 100n;
  usd = 0n;

  constructor(base: bigint) {
    this.base = base;
  }

  /** @returns the lots that were booked: a reduce-only order never grows or flips a position. */
  fill({ side, kind, price }: Order, lots: number, better: number): number {
    const sign = side === SIDE.buy ? 1n : -1n;
    let booked = lots;
    if (kind === 'reduceOnly') {
      const held = this.base * -sign;
      booked = Math.min(lots, held > 0n ? Number(held / LOT) : 0);
    }
    if (booked === 0) return 0;
    const raw = Math.max(1, side === SIDE.buy ? price - better : price + better);
    const notional = (BigInt(raw) * BigInt(booked) * powerOfTen(15)) as Amount18;
    // The dearer of the two rates.
    this.usd -= sign * notional + tradingFee18(notional, MARKET.takerFeeRate);
    if (kind === 'spot') this.spot += sign * BigInt(booked) * LOT;
    else this.base += sign * BigInt(booked) * LOT;
    return booked;
  }

  surplus(of: AssetTerms): InitialSums {
    const sums = emptyInitial();
    addInitial(sums, of, this.base);
    addInitial(sums, of, this.spot);
    sums.initialOracle += this.usd;
    sums.initialMark += this.usd;
    return sums;
  }
}

suite('what fills of open orders may cost', () => {
  test('no fills in any order, in part, at any better price, cost more (MON-07)', () => {
    const steps = fc.array(
      fc.record({ order: fc.nat(5), share: fc.double({ min: 0, max: 1, noNaN: true }), better: fc.nat(40) }),
      {
        maxLength: 14,
      },
    );
    fc.assert(
      fc.property(
        orders,
        terms,
        fc.integer({ min: -60, max: 60 }),
        steps,
        fc.boolean(),
        (all, of, held, fills, isAll) => {
          const base = BigInt(held) * LOT;
          const worst = lossesOf(all).initial(base, of, MARKET);
          const account = new Account(base);
          const before = account.surplus(of);
          const left = all.map(({ lots }) => lots);
          for (const { order: pick, share, better } of fills) {
            const at = pick % Math.max(1, all.length);
            const order = all[at];
            if (order === undefined) continue;
            const lots = isAll ? (left[at] ?? 0) : Math.floor(share * ((left[at] ?? 0) + 1));
            if (lots === 0) continue;
            left[at] = (left[at] ?? 0) - account.fill(order, lots, isAll ? 0 : better);
            const now = account.surplus(of);
            // One unit for each of the two legs that round.
            assert.ok(now.initialOracle >= before.initialOracle - lossOf(worst.oracle) - 2n, 'at the oracle');
            assert.ok(now.initialMark >= before.initialMark - lossOf(worst.mark) - 2n, 'at the mark');
          }
        },
      ),
      propertyParameters(3_000),
    );
  });

  test('and it is no more than what some fills cost, but for the next step and rounding (MON-07)', () => {
    const one = fc.record({
      side: fc.constantFrom<Side>(SIDE.buy, SIDE.sell),
      kind: fc.constantFrom<Kind>('margin', 'spot'),
      lots: fc.integer({ min: 1, max: 60 }),
      price: fc.integer({ min: 800, max: 1_200 }),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 4 }), terms, fc.integer({ min: -60, max: 60 }), (all, given, held) => {
        const of = assetTerms(given.risk, given.prices, given.imFactor);
        const base = BigInt(held) * LOT;
        const worst = lossOf(lossesOf(all).initial(base, of, MARKET).oracle);
        let most = 0n;
        for (let subset = 0; subset < 1 << all.length; subset += 1) {
          const account = new Account(base);
          const before = account.surplus(of).initialOracle;
          for (const [at, order] of all.entries()) if ((subset >> at) % 2 === 1) account.fill(order, order.lots, 0);
          const cost = before - account.surplus(of).initialOracle;
          if (cost > most) most = cost;
        }
        assert.ok(worst - most <= 1_000n, `${worst} of ${most}`);
      }),
      propertyParameters(1_500),
    );
  });

  test('kept sums are those of a walk, through changes of orders, prices, fees and pending replaces (MON-07)', () => {
    const change = fc.record({
      order: fc.nat(7),
      lots: fc.nat(30),
      price: fc.integer({ min: 900, max: 1_100 }),
      other: fc.option(fc.record({ lots: fc.nat(30), price: fc.integer({ min: 900, max: 1_100 }) }), {
        nil: undefined,
      }),
      value: fc.integer({ min: 900, max: 1_100 }),
      sum: fc.nat(5),
      rate: fc.constantFrom(-100, 0, 700),
    });
    fc.assert(
      fc.property(fc.constantFrom<Side>(SIDE.buy, SIDE.sell), fc.array(change, { maxLength: 40 }), (side, changes) => {
        const kept = new LossSide(side);
        const entries = Array.from({ length: 8 }, newLossEntry);
        for (const { order, lots, price, other, value, sum, rate } of changes) {
          kept.set(entries[order] ?? newLossEntry(), lots, price, other === undefined ? [] : [other]);
          const market = { ...MARKET, takerFeeRate: rate, makerFeeRate: rate };
          const weighed = usd(value / 10) * WEIGHT_ONE;
          const [fast, slow] = [kept.loss(sum as 0, weighed, market), kept.lossAnew(weighed, market)];
          // Each order by itself rounds by itself.
          assert.ok(fast <= slow && slow - fast <= 16n, `${fast} ${slow}`);
          assert.ok(kept.lossOfAtMost(10n, sum as 0, weighed, market) <= fast);
        }
      }),
      propertyParameters(800),
    );
  });

  test('at its free price an order that reduces costs nothing, one tick further it does (MON-07)', () => {
    fc.assert(
      fc.property(terms, (of) => {
        for (const side of [SIDE.buy, SIDE.sell] as const) {
          const base = side === SIDE.sell ? 10n * LOT : -10n * LOT;
          const free = freePrice(side, of, MARKET);
          const loss = (price: number): bigint => {
            const worst = lossesOf([{ side, kind: 'reduceOnly', lots: 10, price }]).initial(base, of, MARKET);
            return lossOf(worst.oracle) + lossOf(worst.mark);
          };
          if (free > 0) assert.equal(loss(free), 0n);
          const further = side === SIDE.sell ? free - 1 : free + 1;
          if (further > 0) assert.ok(loss(further) > 0n);
        }
      }),
      propertyParameters(400),
    );
  });

  test('the factor of the next lower step (MON-07, AMB-53)', () => {
    const row = riskRow(90, 95, 1_000_000, {
      max_spot_open_interest: String(usd(100)),
      initial_margin_clamps: [0, 500_000, 900_000],
      initial_margin_factors: [1_000_000, 950_000, 800_000],
    });
    const next = (credits: number) => nextImFactor(riskTerms(row), { credits: usd(credits), borrows: 0n });
    assert.deepEqual([0, 49, 50, 89, 90, 200].map(next), [950_000n, 950_000n, 800_000n, 800_000n, 800_000n, 800_000n]);
    const uncapped = { ...row, max_spot_open_interest: String((1n << 256n) - 1n) };
    assert.equal(nextImFactor(riskTerms(uncapped), { credits: usd(90), borrows: 0n }), 1_000_000n, 'no cap, no step');
  });

  test('the figures of MON-07: opening and reducing, both sides', () => {
    const of = assetTerms(
      riskTerms(riskRow(90, 95, 1_000_000)),
      { oracle: usd(100), mark: usd(100), isBroken: false, shield: usd(0) },
      1_000_000n,
    );
    const free = { ...MARKET, makerFeeRate: 0, takerFeeRate: 0 };
    const loss = (base: number, ...all: Order[]): number => {
      const worst = lossOf(lossesOf(all).initial(BigInt(base) * LOT, of, free).oracle);
      return Number(worst / powerOfTen(12)) / 1e6;
    };
    const order = (side: Side, lots: number, price: number, kind: Kind = 'margin'): Order => ({
      side,
      lots,
      price,
      kind,
    });
    assert.equal(Math.floor(loss(0, order(SIDE.sell, 100, 10))), 104, 'a sale at 1 of what is worth 100');
    assert.equal(Math.round(loss(0, order(SIDE.buy, 100, 1_000))), 10);
    assert.equal(loss(0, order(SIDE.buy, 100, 500)), 0, 'below what it is worth as collateral');
    assert.equal(loss(100, order(SIDE.sell, 100, 900, 'reduceOnly')), 0);
    assert.equal(Math.round(loss(100, order(SIDE.sell, 100, 800, 'reduceOnly'))), 10);
    assert.equal(
      Math.round(loss(100, order(SIDE.sell, 200, 1_000))),
      0,
      '100 come free as margin, the other 100 take 5 more',
    );
    assert.equal(Math.round(loss(-100, order(SIDE.buy, 100, 1_100))), 5, 'a short is bought back above what it binds');
    assert.equal(
      Math.round(loss(0, order(SIDE.buy, 100, 1_000), order(SIDE.sell, 100, 1_000))),
      10,
      'both sides: the worse',
    );
  });
});
