// tier: quick
/** The nearest known name: what a misspelt setting was meant to be, and no guess where nothing is near. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { nearestName } from '../../src/core/nearest-name.ts';
import { propertyParameters } from '../support/property.ts';

const KNOWN = ['hooks', 'marketShards', 'marketsOn', 'verifyThreads', 'feeAccount'];

suite('the nearest name', () => {
  for (const [given, nearest] of [
    ['hoooks', 'hooks'],
    ['hoks', 'hooks'],
    ['hoosk', 'hooks'],
    ['MARKET_SHARDS', 'marketShards'],
    ['marketShard', 'marketShards'],
    ['markteShards', 'marketShards'],
    ['fee_account', 'feeAccount'],
    ['telemetry', null],
    ['', null],
  ] as const) {
    test(`of "${given}" is ${nearest}`, () => {
      assert.equal(nearestName(given, KNOWN), nearest);
    });
  }

  test('of a known name is that name, and of a name with one character removed, doubled or swapped too', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...KNOWN),
        fc.nat(),
        fc.constantFrom('remove', 'double', 'swap'),
        (name, seed, change) => {
          const at = seed % (name.length - 1);
          const [left, one, two, right] = [name.slice(0, at), name[at], name[at + 1], name.slice(at + 2)];
          const changed = {
            remove: left + two + right,
            double: left + one + one + two + right,
            swap: left + two + one + right,
          };
          assert.equal(nearestName(name, KNOWN), name);
          assert.equal(nearestName(changed[change], KNOWN), name);
        },
      ),
      propertyParameters(),
    );
  });
});
