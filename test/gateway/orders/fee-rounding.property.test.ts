// tier: quick
/** What an order was accepted with pays for its fills, however it is split into them and each fee rounded up (issue A6). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { holdOf as clearingHoldOf } from '../../../src/clearing/holds.ts';
import type { OrderRow } from '../../../src/clearing/rows.ts';
import { notional18, tradingFee18 } from '../../../src/core/arithmetic.ts';
import { ORDER_FLAG, ORDER_KIND, type OrderKind, SIDE, TRIGGER_STATE } from '../../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity } from '../../../src/core/units.ts';
import { budgetOf, reservationOfNew } from '../../../src/risk/reservation.ts';
import { MARKET } from '../../support/order-fixture.ts';
import { propertyParameters } from '../../support/property.ts';

const PARTS_MAX = 40;

const drawn = fc.record({
  priceDecimals: fc.integer({ min: 0, max: 10 }),
  quantityDecimals: fc.integer({ min: 0, max: 8 }),
  rate: fc.integer({ min: 0, max: 5_000 }),
  price: fc.integer({ min: 1, max: 1_000_000_000 }),
  kind: fc.constantFrom<OrderKind>(ORDER_KIND.limit, ORDER_KIND.marketBase, ORDER_KIND.marketQuote),
  /** Lots of each fill, and what its price is better by. */
  parts: fc.array(fc.tuple(fc.integer({ min: 1, max: 1_000_000 }), fc.nat(1_000)), {
    minLength: 1,
    maxLength: PARTS_MAX,
  }),
});

suite('rounding of fees', () => {
  test('any split of an accepted buy into fills is payable from its hold, and so is what is left after each (A6, AMB-41, AMB-52)', () => {
    let charged = 0;
    fc.assert(
      fc.property(drawn, ({ priceDecimals, quantityDecimals, rate, price, kind, parts }) => {
        const definition = { ...MARKET, priceDecimals, quantityDecimals, takerFeeRate: rate };
        const lots = parts.reduce((sum, [quantity]) => sum + quantity, 0);
        const fills = parts.map(([quantity, better]) => {
          const at = kind === ORDER_KIND.limit ? Math.max(1, price - better) : price;
          return { quantity, notional: notional18(at as RawPrice, quantity as RawQuantity, definition) };
        });
        const whole = fills.reduce((sum, { notional }) => sum + notional, 0n);
        const unit = 10n ** BigInt(18 - quantityDecimals);
        const amount = kind === ORDER_KIND.limit ? 0 : Number((whole + unit - 1n) / unit);
        const quantity = kind === ORDER_KIND.marketQuote ? 0 : lots;
        const order = { side: SIDE.buy, kind, amount, budget: 0, price: price as RawPrice };
        const hold = reservationOfNew(order, quantity, definition);
        const row = { side: SIDE.buy, kind, price, quantity, amount, budget: 0, enabledQuantity: quantity };
        let [paid, filled, notional] = [0n, 0, 0n];
        for (const fill of fills) {
          paid += fill.notional + tradingFee18(fill.notional, rate);
          filled += fill.quantity;
          notional += fill.notional;
          const now = { filledQuantity: filled, filledNotional: notional, droppedQuantity: 0 };
          const state = { triggerState: TRIGGER_STATE.live, flags: ORDER_FLAG.isSpot };
          const left = clearingHoldOf({ ...row, ...now, ...state } as OrderRow, definition);
          // A quote-sized one is over with its match; others rest, or their children wait, between two fills.
          assert.ok(paid + (kind === ORDER_KIND.marketQuote ? 0n : left) <= hold, 'payable from the hold');
        }
        const once = whole + tradingFee18(whole as Amount18, rate);
        if (paid > once) charged += 1;
      }),
      propertyParameters(400),
    );
    assert.ok(charged > 20, `${charged} orders were charged more than one rounding`);
  });

  test('the hold of a budget is never more than what is available (A6, AMB-39)', () => {
    fc.assert(
      fc.property(
        drawn,
        fc.bigInt({ min: 1n, max: 10n ** 24n }),
        ({ priceDecimals, quantityDecimals, rate, parts }, available) => {
          const definition = { ...MARKET, priceDecimals, quantityDecimals, takerFeeRate: rate };
          const lots = parts.reduce((sum, [quantity]) => sum + quantity, 0);
          const order = { side: SIDE.buy, kind: ORDER_KIND.marketBase, amount: 0, price: 0 as RawPrice };
          const wanted = { lots, target: 0n };
          const budget = budgetOf(order, lots, definition, { available, worstPrice: null, wanted });
          assert.ok(budget !== null);
          if (budget === 0) return;
          assert.ok(reservationOfNew({ ...order, budget }, lots, definition) <= available);
        },
      ),
      propertyParameters(300),
    );
  });

  test('markets whose decimals add up to 12 or less hold one fee as ever (EX-27)', () => {
    const definition = { ...MARKET, priceDecimals: 4, quantityDecimals: 8 };
    const order = { side: SIDE.buy, kind: ORDER_KIND.limit, amount: 0, budget: 0, price: 20_000_000 as RawPrice };
    const hold = reservationOfNew(order, 150_000_000, definition);
    assert.equal(hold, 3_001_500_000_000_000_000_000n);
  });
});
