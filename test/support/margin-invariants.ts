/**
 * Figures and pressure of random accounts, by the node and by fractions, as properties of fast-check: the tests try some,
 * the campaign `accounts` millions.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';

import { ORDER_KIND, SIDE } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice } from '../../src/core/units.ts';
import { addPosition, addSpot, emptySums, isLiquidatable, isShielded } from '../../src/risk/account.ts';
import { type AssetTerms, assetTerms } from '../../src/risk/asset-terms.ts';
import { exposureOf, offsetLots, requirementOf } from '../../src/risk/exposure.ts';
import { ExposureQueue, newExposureEntry } from '../../src/risk/exposure-queue.ts';
import { imFactor, type RiskRow, riskTerms } from '../../src/risk/risk-terms.ts';
import { marketOf } from './market-figures.ts';
import { equity, initial, maintenance, type PlainAsset, type PlainLeg, pressure } from './plain-margin.ts';
import type { PropertyParameters } from './property.ts';

/** What shields an account: one USD of an asset whose price is broken, in 36 decimals. */
const E18 = 10n ** 18n;
const NO_CAP = (1n << 256n) - 1n;

/** From one unit of 10^-18 to millions, so that rounding and magnitude both matter. */
const raw = fc.oneof(
  fc.bigInt({ min: 0n, max: 20n }),
  fc.bigInt({ min: 0n, max: 10n ** 18n }),
  fc.bigInt({ min: 0n, max: 10n ** 25n }),
);
export const signedAmount: fc.Arbitrary<bigint> = fc
  .tuple(raw, fc.boolean())
  .map(([value, isNegative]) => (isNegative ? -value : value));
export const oraclePrice: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: 1n, max: 100n }),
  fc.bigInt({ min: 1n, max: 10n ** 23n }),
);

const plainAsset: fc.Arbitrary<PlainAsset> = fc
  .record({
    cf: fc.integer({ min: 0, max: 100 }),
    lf: fc.integer({ min: 0, max: 100 }),
    steps: fc.uniqueArray(fc.tuple(fc.nat({ max: 1_000_000 }), fc.nat({ max: 1_000_000 })), {
      maxLength: 4,
      selector: ([clamp]) => clamp,
    }),
    spotCap: fc.option(raw, { freq: 4 }),
    credits: raw,
    borrows: raw,
    oracle: oraclePrice,
    mark: oraclePrice,
    broken: fc.boolean(),
  })
  .map(({ steps, ...asset }) => ({
    ...asset,
    clamps: [0, ...steps.map(([clamp]) => clamp).sort((a, b) => a - b)],
    factors: [1_000_000, ...steps.map(([, factor]) => factor)].sort((a, b) => b - a),
  }));

function termsOf(plain: PlainAsset): AssetTerms {
  const row: RiskRow = {
    collateral_factor: plain.cf,
    liability_factor: plain.lf,
    max_collateral: NO_CAP.toString(),
    max_total_open_interest_notional: NO_CAP.toString(),
    max_spot_open_interest: (plain.spotCap ?? NO_CAP).toString(),
    max_utilization: '1000000000000000000',
    isolated_only: false,
    initial_margin_clamps: plain.clamps,
    initial_margin_factors: plain.factors,
    min_sub_account_balance: '0',
  };
  const risk = riskTerms(row);
  const prices = {
    oracle: plain.oracle as Amount18,
    mark: plain.mark as Amount18,
    isBroken: plain.broken,
    shield: (plain.broken ? plain.oracle : 0n) as Amount18,
  };
  return assetTerms(risk, prices, imFactor(risk, plain));
}

/** Per asset a spot balance and two legs. */
export interface AccountDraw {
  readonly usd: bigint;
  readonly holdings: readonly {
    readonly asset: PlainAsset;
    readonly spot: bigint;
    readonly base: bigint;
    readonly quote: bigint;
  }[];
}

const account: fc.Arbitrary<AccountDraw> = fc.record({
  usd: raw,
  holdings: fc.array(fc.record({ asset: plainAsset, spot: raw, base: signedAmount, quote: signedAmount }), {
    maxLength: 6,
  }),
});

/** Every figure of an account is that of the fractions. */
export function figuresInvariant(): fc.IPropertyWithHooks<[AccountDraw]> {
  return fc.property(account, ({ usd, holdings }) => {
    const sums = emptySums();
    const legs: PlainLeg[] = [{ asset: null, raw: usd }];
    addSpot(sums, null, usd);
    for (const { asset, spot, base, quote } of holdings) {
      const terms = termsOf(asset);
      addSpot(sums, terms, spot);
      addPosition(sums, terms, { base, quote });
      legs.push({ asset, raw: spot }, { asset, raw: base }, { asset: null, raw: quote });
    }
    assert.equal(sums.maintenance, maintenance(legs));
    assert.equal(sums.initialOracle, initial(legs, 'oracle'));
    assert.equal(sums.initialMark, initial(legs, 'mark'));
    assert.equal(sums.equityOracle, equity(legs, 'oracle'));
    assert.equal(sums.equityMark, equity(legs, 'mark'));
    assert.equal(
      sums.hasBorrows,
      legs.some((leg) => leg.raw < 0n),
    );
    const shield = legs.reduce((sum, { asset, raw: held }) => {
      return asset?.broken === true && held > 0n ? sum + (held * asset.oracle * BigInt(asset.cf)) / (100n * E18) : sum;
    }, 0n);
    assert.equal(sums.shield, shield);
    const isBelow = sums.hasBorrows && sums.maintenance < 0n;
    assert.equal(isLiquidatable(sums), isBelow && sums.maintenance + shield < 0n);
    assert.equal(isShielded(sums), isBelow && !isLiquidatable(sums));
    // Initial margin is never easier than maintenance, and neither is worth more than equity could be.
    assert.ok(sums.initialOracle <= sums.maintenance && sums.initialMark <= sums.maintenance);
  });
}

interface OpenOrder {
  readonly buys: boolean;
  readonly lots: number;
  readonly cents: number;
}

/** The asset, its open orders, the position in lots, the taker fee rate. */
export type PressureDraw = [PlainAsset, OpenOrder[], number, number];

const openOrder = fc.record({
  buys: fc.boolean(),
  lots: fc.integer({ min: 1, max: 40 }),
  cents: fc.integer({ min: 1, max: 1_000_000 }),
});

const LOT = 10n ** 14n;
const heldLots = fc.integer({ min: -60, max: 60 });
const rate = fc.integer({ min: 0, max: 2_000 });

/** The pressure of both sides of a book is that of lots counted one by one. */
export function pressureInvariant(): fc.IPropertyWithHooks<PressureDraw> {
  return fc.property(
    plainAsset,
    fc.array(openOrder, { maxLength: 8 }),
    heldLots,
    rate,
    (asset, orders, held, takerRate) => {
      const terms = termsOf(asset);
      const base = BigInt(held) * LOT;
      const market = { ...marketOf(0, '2'), takerFeeRate: takerRate };
      for (const side of [SIDE.buy, SIDE.sell]) {
        const own = orders.filter(({ buys }) => buys === (side === SIDE.buy));
        const queue = new ExposureQueue();
        queue.setOffset(offsetLots(side, base, market.quantityDecimals));
        own.forEach(({ cents, lots }, at) => {
          const order = {
            kind: ORDER_KIND.limit,
            price: cents as RawPrice,
            amount: 0,
            filledQuantity: 0,
            filledNotional: 0n,
          };
          queue.set(newExposureEntry(null, at + 1), exposureOf(order, lots, 0n, market));
        });
        const plain = orders.map(({ buys, lots: count, cents }) => ({
          buys,
          lots: count,
          price: BigInt(cents) * 10n ** 16n,
        }));
        assert.equal(
          requirementOf(side, queue.counted, terms, takerRate),
          pressure(asset, side === SIDE.buy, plain, { base, lot: LOT, takerRate }),
        );
      }
    },
  );
}

const PART = 20_000;

/** Tries accounts by parts, each from a seed of its own, and reports its progress. */
export function accountCampaign(
  seed: number,
  accounts: number,
): { readonly problems: readonly string[]; readonly counts: object } {
  const problems: string[] = [];
  let tried = 0;
  for (let part = 0; tried < accounts && problems.length === 0; part += 1) {
    const numRuns = Math.min(PART, accounts - tried);
    const parameters = { seed: seed + part, numRuns };
    for (const report of [reportOf(figuresInvariant(), parameters), reportOf(pressureInvariant(), parameters)]) {
      if (report !== null) problems.push(`seed ${seed + part}: ${report}`);
    }
    tried += numRuns;
    if (part % 10 === 9) process.stderr.write(`${tried} of ${accounts} accounts\n`);
  }
  return { problems, counts: { accounts: tried, books: tried } };
}

/** @returns what fails, shrunk, or null. */
function reportOf<T>(property: fc.IPropertyWithHooks<T>, parameters: PropertyParameters): string | null {
  return fc.defaultReportMessage(fc.check(property, parameters)) ?? null;
}
