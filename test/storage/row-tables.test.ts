// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { TableName } from '../../src/clearing/rows.ts';
import { ByteWriter } from '../../src/storage/byte-writer.ts';
import { decodeFrame, encodeFrame } from '../../src/storage/frames.ts';
import type { Field } from '../../src/storage/row-fields.ts';
import { ROW_TABLES, type RowTableName, SIGNED_TEXT, TRADE } from '../../src/storage/row-tables.ts';
import { propertyParameters } from '../support/property.ts';
import { ROW_ARBITRARIES } from '../support/row-arbitraries.ts';

const key = Buffer.from('a key');
const LAYOUTS: Readonly<Record<Exclude<TableName, RowTableName>, unknown>> = { trade: TRADE, signedText: SIGNED_TEXT };
function layoutOf(table: TableName): Field<never> {
  return (table === 'trade' || table === 'signedText' ? LAYOUTS[table] : ROW_TABLES[table].layout) as Field<never>;
}
const encoded = (table: TableName, row: never) => {
  const to = new ByteWriter(64);
  return Uint8Array.from(encodeFrame(to, key, () => layoutOf(table).write(to, row)));
};
const decoded = (table: TableName, at: Uint8Array, value: Uint8Array) => decodeFrame(at, value, layoutOf(table).read);

for (const table of Object.keys(ROW_ARBITRARIES) as TableName[]) {
  const rows = ROW_ARBITRARIES[table] as fc.Arbitrary<never>;

  suite(`row layout: ${table}`, () => {
    test('a row is read as it was written', () => {
      fc.assert(
        fc.property(rows, (row) => {
          // The market of a signed text is in its key.
          const { marketIndex, ...text } = row as { marketIndex?: number };
          const expected = table === 'signedText' ? text : row;
          assert.deepEqual(decoded(table, key, encoded(table, row)), expected);
        }),
        propertyParameters(),
      );
    });

    test('a flipped bit, a cut end and another key are each found', () => {
      fc.assert(
        fc.property(rows, fc.nat(), (row, where) => {
          const value = encoded(table, row);
          const flipped = Uint8Array.from(value);
          const bit = where % (value.length * 8);
          flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
          const damaged = { name: 'InvariantError', message: /is damaged|is too short/ };
          assert.throws(() => decoded(table, key, flipped), damaged);
          assert.throws(() => decoded(table, key, value.subarray(0, where % value.length)), damaged);
          assert.throws(() => decoded(table, Buffer.from('b key'), value), damaged);
        }),
        propertyParameters(),
      );
    });
  });
}

suite('byte writer', () => {
  test('pieces stay whole when they move to a fresh chunk', () => {
    const writer = new ByteWriter(8);
    const pieces = Array.from({ length: 50 }, (_, count) => {
      writer.begin();
      for (let byte = 0; byte < count; byte += 1) writer.u8(count);
      return writer.end();
    });
    for (const [count, piece] of pieces.entries()) {
      assert.equal(piece.length, count);
      assert.ok(piece.every((byte) => byte === count));
    }
  });

  test('a value outside its field is refused, not cut', () => {
    const writer = new ByteWriter(64);
    assert.throws(() => writer.u8(256));
    assert.throws(() => writer.u32(-1));
    assert.throws(() => writer.u32(2 ** 32));
    assert.throws(() => writer.i32(2 ** 31));
    assert.throws(() => writer.safe(2 ** 53));
    assert.throws(() => writer.safe(-1));
    assert.throws(() => writer.u64(2n ** 64n));
    assert.throws(() => writer.i128(2n ** 127n));
    assert.throws(() => writer.i128(-(2n ** 127n) - 1n));
    assert.throws(() => writer.hex('zz', 1));
    assert.throws(() => writer.hex('abc', 1));
  });
});
