// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ByteReader } from '../../src/schema/byte-reader.ts';
import { ByteWriter } from '../../src/schema/byte-writer.ts';
import { propertyParameters } from '../support/property.ts';

/** Many of them have the same length, and the same first and last byte. */
const TEXTS = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'é', 'Ã', '\u0000', '中'), maxLength: 6 }), {
  maxLength: 60,
});
/** Most of them are the one before, or differ from it in one byte. */
const DIGITS = fc.array(
  fc.constantFrom('00', '01', 'ff', '80').map((byte) => `${'ab'.repeat(8)}${byte}`),
  {
    maxLength: 30,
  },
);

suite('bytes of rows', () => {
  test('texts are read as they were written, whatever was read before', () => {
    fc.assert(
      fc.property(TEXTS, (texts) => {
        const to = new ByteWriter(64);
        to.begin();
        for (const text of texts) to.text(text);
        const from = new ByteReader(to.end());
        for (const text of texts) assert.equal(from.text(), text);
        assert.equal(from.remaining, 0);
      }),
      propertyParameters(),
    );
  });

  test('hex digits are read as they were written, whatever was read before', () => {
    fc.assert(
      fc.property(DIGITS, (all) => {
        const to = new ByteWriter(64);
        to.begin();
        for (const digits of all) to.hex(digits, 9);
        const value = to.end();
        const from = new ByteReader(value);
        for (const digits of all) assert.equal(from.hex(9), digits);
        // A prefix is not what was read before.
        if (value.length > 0) assert.equal(new ByteReader(value).hex(4), 'abababab');
      }),
      propertyParameters(),
    );
  });
});
