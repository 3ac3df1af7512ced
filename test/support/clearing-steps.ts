/** What can happen on a random day of a market and its users: the steps, and how likely they are. */

import fc from 'fast-check';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import {
  ORDER_END,
  ORDER_KIND,
  type OrderEnd,
  SIDE,
  type Side,
  TIF,
  TRIGGER,
  type TriggerKind,
} from '../../src/core/order-terms.ts';
import { ALICE, BOB, CAROL, ETH, USD } from './names.ts';

import type { PlainOrder } from './plain-clearing.ts';
import type { PlainRow } from './plain-risk.ts';

export const USERS: readonly UserId[] = [ALICE, BOB, CAROL];
export const ASSETS: readonly AssetId[] = [USD, ETH];

/** Where an order trades, and how. */
type Place = Pick<PlainOrder, 'subAccount' | 'isSpot' | 'reduceOnly'>;
type Size = Pick<PlainOrder, 'kind' | 'price' | 'quantity' | 'amount' | 'budget'>;
/** What happens next. Orders are picked by number among those that live. */
export type Step =
  | (Pick<PlainOrder, 'user' | 'side' | 'tif' | 'maxFeeRate' | 'forged'> & {
      readonly kind: 'create';
      readonly place: Place;
      readonly size: Size;
      readonly triggerKind: TriggerKind;
      readonly parent: number | null;
    })
  | {
      readonly kind: 'match';
      readonly makers: readonly number[];
      readonly taker: number;
      readonly price: number;
      readonly quantity: number;
      /** Between orders that do cross, at a price of theirs, and no more than they have. */
      readonly isHonest: boolean;
    }
  | { readonly kind: 'replace'; readonly order: number; readonly price: number; readonly quantity: number }
  | { readonly kind: 'end'; readonly order: number; readonly end: OrderEnd }
  | { readonly kind: 'release-order'; readonly order: number }
  | { readonly kind: 'cover'; readonly order: number }
  | {
      readonly kind: 'faucet';
      readonly user: UserId;
      readonly subAccount: number;
      readonly asset: AssetId;
      readonly amount: number;
    }
  | { readonly kind: 'deposit'; readonly user: UserId; readonly baseUnits: bigint; readonly nonceStep: number }
  | {
      readonly kind: 'transfer';
      readonly user: UserId;
      readonly from: number;
      readonly to: number;
      readonly type: 'spot' | 'cross_margin' | 'isolated_margin' | null;
      readonly asset: AssetId;
      readonly amount: bigint;
    }
  | { readonly kind: 'fees'; readonly taker: number; readonly maker: number }
  | { readonly kind: 'close'; readonly user: UserId; readonly account: number }
  | { readonly kind: 'flatten'; readonly user: UserId; readonly account: number }
  | { readonly kind: 'oracle'; readonly cents: number; readonly ageNs: bigint }
  | { readonly kind: 'pass'; readonly ns: bigint }
  | ({ readonly kind: 'risk' } & PlainRow);
export type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;

const who = fc.constantFrom(...USERS);
const pick = fc.nat({ max: 1_000 });
/** Prices around 10.00, in cents, and quantities around 1, in 1e-4: small, so that money runs out and orders overfill. */
const price = fc.integer({ min: 980, max: 1_020 });
const quantity = fc.integer({ min: 1, max: 30_000 });

/** Quote integers, in 1e-4 USD: what one to three lots of 1 cost. */
const money = fc.integer({ min: 1, max: 300_000 });
const none = fc.constant(0);
const someMoney = fc.oneof(none, money);
const sizes = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant(ORDER_KIND.limit), price, quantity, amount: none, budget: none }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant(ORDER_KIND.marketBase),
      price: none,
      quantity,
      amount: someMoney,
      budget: someMoney,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant(ORDER_KIND.marketQuote),
      price: none,
      quantity: fc.oneof(none, quantity),
      amount: money,
      budget: fc.oneof(none, quantity),
    }),
  },
);
const create = fc.record({
  kind: fc.constant('create' as const),
  size: sizes,
  triggerKind: fc.constantFrom(TRIGGER.none, TRIGGER.none, TRIGGER.none, TRIGGER.above, TRIGGER.below),
  parent: fc.option(pick, { freq: 4 }),
  user: who,
  place: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        subAccount: fc.constantFrom(0, 0, 0, 1, 2),
        isSpot: fc.constant(true),
        reduceOnly: fc.constant(false),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        subAccount: fc.nat({ max: 11 }).map((at) => [0, 2, 2][at] ?? 1),
        isSpot: fc.constantFrom(false, false, false, false, true),
        reduceOnly: fc.constantFrom(false, false, false, true),
      }),
    },
  ),
  side: fc.constantFrom<Side>(SIDE.buy, SIDE.sell),
  tif: fc.constantFrom(TIF.gtc, TIF.gtc, TIF.gtc, TIF.ioc, TIF.fok),
  maxFeeRate: fc.nat({ max: 15 }).map((at) => [450, 100][at] ?? 1_000),
  forged: fc.nat({ max: 15 }).map((at) => at === 15),
});
const match = fc.record({
  kind: fc.constant('match' as const),
  makers: fc.array(pick, { minLength: 1, maxLength: 4 }),
  taker: pick,
  price,
  quantity: fc.integer({ min: 1, max: 20_000 }),
  isHonest: fc.constantFrom(true, true, true, false),
});
const replace = fc.record({ kind: fc.constant('replace' as const), order: pick, price, quantity });
const end = fc.record({
  kind: fc.constant('end' as const),
  order: pick,
  end: fc.constantFrom(ORDER_END.userRequested, ORDER_END.immediateOrCancel, ORDER_END.filled),
});
const release = fc.record({ kind: fc.constant('release-order' as const), order: pick });
const cover = fc.record({ kind: fc.constant('cover' as const), order: pick });
const faucet = fc.record({
  kind: fc.constant('faucet' as const),
  user: who,
  subAccount: fc.constantFrom(0, 1),
  asset: fc.constantFrom(...ASSETS),
  amount: fc.integer({ min: -20, max: 60 }),
});
const deposit = fc.record({
  kind: fc.constant('deposit' as const),
  user: who,
  baseUnits: fc.bigInt({ min: 0n, max: 50_000_000n }),
  nonceStep: fc.constantFrom(0, 0, 0, -1, 1),
});
const transfer = fc.record({
  kind: fc.constant('transfer' as const),
  user: who,
  from: fc.constantFrom(0, 0, 1, 2),
  to: fc.constantFrom(1, 1, 0, 2),
  type: fc.constantFrom(null, null, null, 'spot' as const, 'cross_margin' as const, 'isolated_margin' as const),
  asset: fc.constantFrom(...ASSETS),
  amount: fc.bigInt({ min: 0n, max: 30n * 10n ** 18n }),
});
const fees = fc.record({
  kind: fc.constant('fees' as const),
  taker: fc.integer({ min: 0, max: 900 }),
  maker: fc.integer({ min: -900, max: 900 }),
});

const MINUTE = 60_000_000_000n;
const close = fc.record({ kind: fc.constant('close' as const), user: who, account: fc.constantFrom(1, 1, 2, 0) });
const flatten = fc.record({ kind: fc.constant('flatten' as const), user: who, account: fc.constantFrom(1, 1, 1, 2) });
const oracle = fc.record({
  kind: fc.constant('oracle' as const),
  cents: fc.oneof(fc.integer({ min: 950, max: 1_050 }), fc.integer({ min: 500, max: 2_000 })),
  ageNs: fc.constantFrom(0n, 0n, 0n, MINUTE, 61n * MINUTE),
});
const pass = fc.record({
  kind: fc.constant('pass' as const),
  ns: fc.constantFrom(1n, 1_000_000_000n, MINUTE, 30n * MINUTE, 61n * MINUTE),
});
const cap = fc.option(fc.bigInt({ min: 0n, max: 12n * 10n ** 18n }), { freq: 2 });
const risk = fc.record({
  kind: fc.constant('risk' as const),
  cf: fc.constantFrom(90, 90, 90, 60, 0),
  lf: fc.constantFrom(100, 95, 95, 60),
  clamps: fc.constant([0, 300_000, 800_000]),
  factors: fc.constantFrom([1_000_000, 950_000, 800_000], [999_999, 999_999, 500_000]),
  spotCap: cap,
  interestCap: fc.option(fc.bigInt({ min: 0n, max: 150n * 10n ** 18n }), { freq: 2 }),
  collateralCap: cap,
  isolatedOnly: fc.constantFrom(false, false, false, true),
  minimum: fc.constantFrom(0n, 0n, 3n * 10n ** 18n),
  utilization: fc.constantFrom(10n ** 18n, 10n ** 18n, 10n ** 16n, 0n),
  markMinimum: fc.constantFrom(0n, 0n, 10n ** 17n, 10n ** 19n, 2n * 10n ** 19n),
  band: fc.constantFrom<PlainRow['band']>(
    null,
    null,
    'none',
    { n: 0n, d: 1n },
    { n: 2n, d: 100n },
    { n: 30n, d: 100n },
  ),
});

/** What only orders do. */
export const moves: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: create },
  { weight: 10, arbitrary: match },
  { weight: 2, arbitrary: replace },
  { weight: 2, arbitrary: end },
  { weight: 4, arbitrary: release },
  { weight: 1, arbitrary: cover },
  { weight: 3, arbitrary: flatten },
);
const funds = fc.oneof(
  { weight: 4, arbitrary: faucet },
  { weight: 2, arbitrary: deposit },
  { weight: 2, arbitrary: transfer },
  { weight: 1, arbitrary: fees },
  { weight: 2, arbitrary: close },
  { weight: 2, arbitrary: oracle },
  { weight: 1, arbitrary: pass },
  { weight: 1, arbitrary: risk },
);
export const step: fc.Arbitrary<Step> = fc.oneof({ weight: 3, arbitrary: moves }, { weight: 1, arbitrary: funds });
