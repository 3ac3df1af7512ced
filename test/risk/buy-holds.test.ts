// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { notional18, tradingFee18 } from '../../src/core/arithmetic.ts';
import { type Amount18, type RawPrice, type RawQuantity, ZERO_18 } from '../../src/core/units.ts';
import { changeBuy, heldByBuys, noBuys } from '../../src/risk/buy-holds.ts';
import { propertyParameters } from '../support/property.ts';

const decimals = fc
  .integer({ min: 0, max: 18 })
  .chain((priceDecimals) =>
    fc.record({ priceDecimals: fc.constant(priceDecimals), quantityDecimals: fc.nat(18 - priceDecimals) }),
  );

/** A test order gets this price and this many lots: none is its end. */
const change = fc.record({
  order: fc.nat(5),
  price: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  lots: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2 ** 40 })),
  rate: fc.oneof(fc.constantFrom(0, 1_000_000), fc.nat(1_000_000)),
});

suite('what buys hold together', () => {
  test('is the sum of price × quantity × (1 + taker) of each, rounded up for each, at any fee and any decimals (AMB-39, AMB-52, EX-27)', () => {
    fc.assert(
      fc.property(decimals, fc.array(change, { minLength: 1, maxLength: 40 }), (market, changes) => {
        const buys = noBuys(market);
        const orders = new Map<number, Amount18>();
        for (const { order, price, lots, rate } of changes) {
          const after = notional18(price as RawPrice, lots as RawQuantity, market);
          changeBuy(buys, orders.get(order) ?? ZERO_18, after);
          orders.set(order, after);
          const held = [...orders.values()].reduce(
            (sum, notional) => sum + notional + tradingFee18(notional, rate),
            0n,
          );
          assert.equal(heldByBuys(buys, rate), held);
        }
        for (const notional of orders.values()) changeBuy(buys, notional, ZERO_18);
        const { notional, rests } = buys;
        assert.deepEqual([notional, rests?.counts.size ?? 0, rests?.sum ?? 0, rests?.fees ?? 0], [0n, 0, 0, 0]);
      }),
      propertyParameters(300),
    );
  });

  test('never becomes less than nothing', () => {
    const buys = noBuys({ priceDecimals: 2, quantityDecimals: 6 });
    assert.throws(() => changeBuy(buys, 1n as Amount18, ZERO_18), /not negative/);
  });
});
