// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { parseHex, toHex, writeHex } from '../../src/core/hex.ts';
import { propertyParameters } from '../support/property.ts';

suite('hex', () => {
  test('bytes are read as they were printed, in any case, and written in place', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.boolean(), (bytes, isUpper) => {
        const text = isUpper ? toHex(bytes).toUpperCase() : toHex(bytes);
        assert.deepEqual(parseHex(text, bytes.length), bytes);
        assert.deepEqual(parseHex(`0x${text}`, bytes.length), bytes);
        const room = new Uint8Array(50).fill(7);
        assert.equal(writeHex(room, 5, text), bytes.length);
        assert.deepEqual(room.subarray(5, 5 + bytes.length), bytes);
        assert.deepEqual([room[4], room[5 + bytes.length]], [7, 7], 'and nothing beside them');
      }),
      propertyParameters(),
    );
  });

  test('what is no hex, of another length or does not fit is refused', () => {
    for (const text of ['0g', 'g0', '0', '0x', '/0', ':0', '@0', '`0', '0\u0660', '0\u0130', '\u00e0a']) {
      assert.equal(parseHex(text, 1), null, text);
      assert.equal(writeHex(new Uint8Array(4), 0, text), -1, text);
    }
    assert.equal(parseHex('0000', 1), null);
    assert.equal(writeHex(new Uint8Array(4), 3, '0000'), -1);
  });
});
