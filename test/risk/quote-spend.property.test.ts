// tier: quick
/** What the entries of a quote set may spend together is what they may spend one by one (QTE-01). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ORDER_KIND, SIDE } from '../../src/core/order-terms.ts';
import type { RawPrice } from '../../src/core/units.ts';
import { spendLeft, spendOfAll } from '../../src/risk/reservation.ts';
import { marketOf } from '../support/market-figures.ts';
import { propertyParameters } from '../support/property.ts';

const figure = fc.oneof(
  fc.integer({ min: 1, max: 10_000 }),
  fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  fc.maxSafeInteger().map((value) => Math.max(1, Math.abs(value))),
);

suite('the spend of a quote set', () => {
  test('QTE-01: the sum over the entries, exact, whatever their size', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(figure, figure), { maxLength: 50 }),
        fc.constantFrom(SIDE.buy, SIDE.sell),
        fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 })),
        (entries, side, [priceDecimals, quantityDecimals]) => {
          const market = { ...marketOf(0, '2'), priceDecimals, quantityDecimals };
          const order = { kind: ORDER_KIND.limit, amount: 0, budget: 0, filledQuantity: 0, filledNotional: 0n };
          const single = ([price, lots]: readonly [number, number]): bigint =>
            spendLeft({ ...order, side, price: price as RawPrice }, lots, market);
          const sum = entries.map(single).reduce((all, one) => all + one, 0n);
          assert.equal(spendOfAll(side, entries.flat(), market), sum);
        },
      ),
      propertyParameters(2_000),
    );
  });
});
