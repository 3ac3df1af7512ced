// tier: quick
/** Stored settings as they are read back (operator-api.md 4.10). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { DEFAULT_SETTINGS, parseSettings } from '../../src/clearing/registry/settings.ts';

suite('stored settings', () => {
  test('what is not stored has its default', () => {
    assert.deepEqual(parseSettings('{}'), DEFAULT_SETTINGS);
    assert.equal(parseSettings('{"acks":"durable"}').acks, 'durable');
  });

  test('a setting of an earlier version is left out: reduce_only_excess_cancel (MON-09)', () => {
    assert.deepEqual(parseSettings('{"reduce_only_excess_cancel":true}'), DEFAULT_SETTINGS);
  });
});
