/** Random days of traders with accounts that fall below maintenance, as arbitraries that shrink. */

import fc from 'fast-check';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { MARKET_STATUS, type MarketStatus, SIDE, type Side } from '../../src/core/order-terms.ts';
import { user } from './clearing-world.ts';
import { ALICE, BOB, BTC, CAROL, ETH } from './names.ts';

/** Two makers with more money than all others lose. */
export const MAKERS: readonly [UserId, UserId] = [user('0d'), user('0e')];
export const TRADERS: readonly UserId[] = [ALICE, BOB, CAROL, user('d4'), user('e5')];
/** Cross-margin, and an isolated account of ETH. */
export const ACCOUNTS: readonly number[] = [1, 2];
export const PRICES: Readonly<Record<AssetId, number>> = { [ETH]: 2_000, [BTC]: 50_000 };

/** Whether the gateway or the market refuses an order of the node, and has tried it. */
type Refusal = 'none' | 'final' | 'untried';

type Kind<K extends string, Members> = { readonly kind: K } & Readonly<Members>;

export type LiquidationStep =
  | Kind<'fund', { user: UserId; account: number; usd: number }>
  | Kind<
      'trade',
      {
        user: UserId;
        account: number;
        asset: AssetId;
        side: Side;
        /** Percent of ten times what an account begins with. */
        size: number;
        /** The other trader; null for a maker. */
        with: UserId | null;
        isSpot: boolean;
      }
    >
  /** `level` in percent of the first price; `traded`: percent beside it at which the makers trade, or null. */
  | Kind<'oracle', { asset: AssetId; level: number; traded: number | null }>
  | Kind<'pass', { ns: bigint }>
  | Kind<'risk', { asset: AssetId; cf: number; lf: number }>
  | Kind<'status', { asset: AssetId; status: MarketStatus }>
  /** Hundredths of a unit; null for no cap. */
  | Kind<'maxAdl', { asset: AssetId; hundredths: number | null }>
  /** What becomes of the oldest order that the node has sent: fills in percent of it, that much better than its limit. */
  | Kind<'resolve', { fills: number[]; refusal: Refusal; better: number; with: UserId | null }>
  /** The gateway reports the oldest cancelled account as cleared. */
  | Kind<'clear', object>
  /** So many seconds in which accounts are cleared at once, and orders of the node meet nothing. */
  | Kind<'rounds', { seconds: number }>
  | Kind<'restart', { clean: boolean }>;
export type LiquidationStepOf<K extends LiquidationStep['kind']> = Extract<LiquidationStep, { kind: K }>;

const SECOND = 1_000_000_000n;
const MINUTE = 60n * SECOND;

const trader = fc.constantFrom(...TRADERS);
const account = fc.constantFrom(...ACCOUNTS, 1, 1);
const asset = fc.constantFrom(ETH, ETH, BTC);
const side = fc.constantFrom<Side>(SIDE.buy, SIDE.sell);
/** Percent of the first price of an asset. */
const level = fc.oneof(fc.integer({ min: 94, max: 106 }), fc.integer({ min: 45, max: 170 }));

const fund = fc.record({
  kind: fc.constant('fund' as const),
  user: trader,
  account,
  usd: fc.integer({ min: 1, max: 400 }),
});
const trade = fc.record({
  kind: fc.constant('trade' as const),
  user: trader,
  account,
  asset,
  side,
  size: fc.integer({ min: 1, max: 100 }),
  with: fc.option(trader, { freq: 3 }),
  isSpot: fc.constantFrom(false, false, false, false, true),
});
const oracle = fc.record({
  kind: fc.constant('oracle' as const),
  asset,
  level,
  traded: fc.option(fc.integer({ min: -6, max: 6 }), { freq: 3 }),
});
const pass = fc.record({
  kind: fc.constant('pass' as const),
  ns: fc.constantFrom(1n, SECOND / 2n, SECOND, SECOND, SECOND, 61n * SECOND, 61n * MINUTE, 25n * 60n * MINUTE),
});
const risk = fc.record({
  kind: fc.constant('risk' as const),
  asset,
  cf: fc.constantFrom(90, 90, 80, 0),
  lf: fc.constantFrom(95, 95, 80),
});
const status = fc.record({
  kind: fc.constant('status' as const),
  asset,
  status: fc.constantFrom(
    MARKET_STATUS.active,
    MARKET_STATUS.active,
    MARKET_STATUS.active,
    MARKET_STATUS.cancelOnly,
    MARKET_STATUS.halted,
  ),
});
const maxAdl = fc.record({
  kind: fc.constant('maxAdl' as const),
  asset,
  hundredths: fc.option(fc.integer({ min: 0, max: 300 })),
});
const resolve = fc.record({
  kind: fc.constant('resolve' as const),
  fills: fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 3 }),
  refusal: fc.constantFrom<Refusal>('none', 'none', 'none', 'none', 'final', 'untried'),
  better: fc.integer({ min: 0, max: 12 }),
  with: fc.option(trader, { freq: 6 }),
});
const clear = fc.record({ kind: fc.constant('clear' as const) });
const rounds = fc.record({ kind: fc.constant('rounds' as const), seconds: fc.integer({ min: 1, max: 5 }) });
const restart = fc.record({ kind: fc.constant('restart' as const), clean: fc.boolean() });
export const liquidationStep: fc.Arbitrary<LiquidationStep> = fc.oneof(
  { weight: 3, arbitrary: fund },
  { weight: 12, arbitrary: trade },
  { weight: 8, arbitrary: oracle },
  { weight: 8, arbitrary: pass },
  { weight: 1, arbitrary: risk },
  { weight: 1, arbitrary: status },
  { weight: 1, arbitrary: maxAdl },
  { weight: 12, arbitrary: resolve },
  { weight: 8, arbitrary: clear },
  { weight: 6, arbitrary: rounds },
  { weight: 1, arbitrary: restart },
);
