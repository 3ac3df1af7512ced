/** What orders hold after a start, summed up on the way, is what they held before it (AMB-52). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { checkLedger } from '../../src/clearing/checks.ts';
import { SIDE, TRIGGER } from '../../src/core/order-terms.ts';
import { ALICE, BOB, ClearingWorld, ETH, heldOf, PlainTables, USD } from '../support/clearing-world.ts';
import { propertyParameters } from '../support/property.ts';

/** Raw prices and lots of which a handful adds up to more than a double can say, and small ones. */
const price = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 2 ** 40, max: 2 ** 44 }));
const quantity = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 2 ** 51, max: 2 ** 53 - 1 }));
const few = fc.integer({ min: 1, max: 300 });

const orders = fc.array(
  fc.record({
    user: fc.constantFrom(ALICE, BOB),
    side: fc.constantFrom(SIDE.buy, SIDE.sell),
    isTrigger: fc.boolean(),
    sizes: fc.oneof(fc.tuple(price, few), fc.tuple(few, quantity)),
  }),
  { maxLength: 40 },
);

const DECIMALS = [
  { book_price_decimals: 2, book_quantity_decimals: 4 },
  { book_price_decimals: 9, book_quantity_decimals: 9 },
] as const;

suite('holds after a start', () => {
  for (const decimals of DECIMALS) {
    test(`are those from before it, to the last unit, at ${JSON.stringify(decimals)} (AMB-52, AMB-110)`, () => {
      fc.assert(
        fc.property(orders, (terms) => {
          const world = ClearingWorld.withMarket(decimals);
          world.fund(ALICE, USD, '1');
          world.fund(BOB, ETH, '1');
          for (const { isTrigger, sizes, ...more } of terms) {
            const trigger = isTrigger ? { triggerKind: TRIGGER.above, triggerPrice: 1 } : {};
            world.create({ ...more, ...trigger, price: sizes[0], quantity: sizes[1] });
          }
          const tables = new PlainTables();
          tables.checkpoint(world.state);
          const loaded = tables.loadStored();
          checkLedger(loaded);
          assert.deepEqual(heldOf(loaded), heldOf(world.state));
        }),
        propertyParameters(60),
      );
    });
  }
});
