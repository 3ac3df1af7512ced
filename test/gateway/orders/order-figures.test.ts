// tier: quick
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AMOUNT18_MAX } from '../../../src/core/limits.ts';
import { ORDER_KIND, SIDE, TIF } from '../../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity, TimestampNs } from '../../../src/core/units.ts';
import { figuresFault, type OrderFigures } from '../../../src/gateway/orders/entry/pre-flight.ts';
import { MARKET } from '../../support/order-fixture.ts';

test('a limit order for more money than a row can hold is refused, one unit less is not (FIL-11, AMB-116)', () => {
  const price = 5_000_000_000_000_000;
  const most = Number(AMOUNT18_MAX / (BigInt(price) * 10n ** 18n));
  const fault = (quantity: number): string | null => {
    const figures: OrderFigures = {
      kind: ORDER_KIND.limit,
      tif: TIF.gtc,
      postOnly: false,
      goodUntilNs: 0n as TimestampNs,
      price: price as RawPrice,
      quantity: quantity as RawQuantity,
      amount: 0,
    };
    const market = { ...MARKET, priceDecimals: 0, quantityDecimals: 0 };
    const reject = figuresFault(figures, SIDE.buy, market, false);
    return reject === null ? null : `${reject.code} ${reject.field}`;
  };
  assert.equal(fault(most), null);
  assert.equal(fault(most + 1), 'INVALID_ORDER quantity');
});
