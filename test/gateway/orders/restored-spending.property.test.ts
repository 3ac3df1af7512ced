// tier: quick
/** What balances hold for the orders of a start: the sum of what each reserves, whenever it is read (AMB-52, AMB-110). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { type AssetId, type OrderId, USD } from '../../../src/core/ids.ts';
import type { MarketDefinition } from '../../../src/core/market-definition.ts';
import { ORDER_KIND, SIDE } from '../../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity, Sequence } from '../../../src/core/units.ts';
import { reservationOfNew } from '../../../src/risk/reservation.ts';
import { ALICE, BOB } from '../../support/names.ts';
import { BASE, MARKET, OrderFixture, restoreRow } from '../../support/order-fixture.ts';
import { propertyParameters } from '../../support/property.ts';

/** In the last one fees of single orders are rounded. */
const MARKETS = [
  MARKET,
  { ...MARKET, marketIndex: 4, assetId: '77' as AssetId, takerFeeRate: 0 },
  { ...MARKET, marketIndex: 5, assetId: '78' as AssetId, priceDecimals: 7, quantityDecimals: 8, takerFeeRate: 333 },
] as const satisfies readonly MarketDefinition[];
const USERS = [ALICE, BOB];

const order = fc.record({
  market: fc.constantFrom(...MARKETS),
  user: fc.constantFrom(...USERS),
  subAccount: fc.constantFrom(0, 2),
  side: fc.constantFrom(SIDE.buy, SIDE.sell),
  price: fc.integer({ min: 1, max: 1_000_000_000 }),
  quantity: fc.integer({ min: 1, max: 1_000_000_000 }),
});
const step = fc.oneof(
  { weight: 6, arbitrary: order.map((restored) => ({ kind: 'restore' as const, restored })) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fee' as const), rate: fc.nat(10_000) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'open' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'read' as const }) },
);

type Restored = typeof order extends fc.Arbitrary<infer T> ? T : never;

function reserved(orders: readonly Restored[], fee: number, { user, subAccount, asset }: Account): bigint {
  return orders
    .filter((one) => one.user === user && one.subAccount === subAccount)
    .filter((one) => asset === (one.side === SIDE.buy ? USD : one.market.assetId))
    .map(({ market, side, price, quantity }) => {
      const terms = { side, kind: ORDER_KIND.limit, price: price as RawPrice, amount: 0, budget: 0 };
      return reservationOfNew(terms, quantity, market === MARKET ? { ...market, takerFeeRate: fee } : market);
    })
    .reduce((sum, amount) => sum + amount, 0n);
}

interface Account {
  readonly user: (typeof USERS)[number];
  readonly subAccount: number;
  readonly asset: AssetId;
}

const ACCOUNTS: readonly Account[] = USERS.flatMap((user) =>
  [0, 2].flatMap((subAccount) =>
    [USD, BASE, '77' as AssetId, '78' as AssetId].map((asset) => ({ user, subAccount, asset })),
  ),
);

suite('holds of a start', () => {
  test('are what the orders reserve one by one, in any order of markets and at any fee (AMB-52, AMB-110)', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { manager } = new OrderFixture();
        for (const market of MARKETS) manager.restoreMarket(market, 0);
        const orders: Restored[] = [];
        let fee: number = MARKET.takerFeeRate;
        const check = (): void => {
          for (const account of ACCOUNTS) assert.equal(manager.funds(account).held, reserved(orders, fee, account));
        };
        for (const one of steps) {
          if (one.kind === 'read') check();
          else if (one.kind === 'open') manager.onMarketOpened(MARKET.marketIndex);
          else if (one.kind === 'fee') {
            fee = one.rate;
            manager.onMarketChanged({ ...MARKET, takerFeeRate: fee });
          } else {
            orders.push(one.restored);
            const { market, price, quantity, ...terms } = one.restored;
            const orderSequence = orders.length as Sequence;
            const orderId = `order-${orders.length}` as OrderId;
            const raw = { price: price as RawPrice, quantity: quantity as RawQuantity };
            restoreRow(manager, { ...terms, ...raw, orderSequence, orderId, marketIndex: market.marketIndex });
          }
        }
        check();
      }),
      propertyParameters(150),
    );
  });
});
