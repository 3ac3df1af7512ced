// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { ROW_LAYOUTS, type RowTableName, SIGNED_TEXT, TRADE } from '../../src/clearing/row-layouts.ts';
import type { TableName } from '../../src/clearing/rows.ts';
import { ByteWriter } from '../../src/schema/byte-writer.ts';
import { FactText } from '../../src/schema/fact-text.ts';
import type { Field } from '../../src/schema/row-fields.ts';
import { decodeFrame, encodeFrame } from '../../src/storage/frames.ts';
import { propertyParameters } from '../support/property.ts';
import { ROW_ARBITRARIES } from '../support/row-arbitraries.ts';

const key = Buffer.from('a key');
const LAYOUTS: Readonly<Record<Exclude<TableName, RowTableName>, unknown>> = { trade: TRADE, signedText: SIGNED_TEXT };
function layoutOf(table: TableName): Field<never> {
  return (table === 'trade' || table === 'signedText' ? LAYOUTS[table] : ROW_LAYOUTS[table]) as unknown as Field<never>;
}
const encoded = (table: TableName, row: never) => {
  const to = new ByteWriter(64);
  return Uint8Array.from(encodeFrame(to, key, () => layoutOf(table).write(to, row)));
};
const decoded = (table: TableName, at: Uint8Array, value: Uint8Array) => decodeFrame(at, value, layoutOf(table).read);

const printed = (table: TableName, row: never): string => {
  let line = '';
  const to = new FactText((piece) => {
    line += Buffer.from(piece).toString('utf8');
  });
  layoutOf(table).print(to, row);
  to.flush();
  return line;
};

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

    test('a member that differs prints another line of the state hash', () => {
      fc.assert(
        fc.property(rows, rows, fc.nat(), (one, other, pick) => {
          const members = Object.keys(one).filter((name) => table !== 'signedText' || name !== 'marketIndex');
          const member = members[pick % members.length] ?? '';
          const changed = { ...(one as object), [member]: other[member] } as never;
          const isSame = isDeepStrictEqual(one[member], other[member]);
          assert.equal(printed(table, one) === printed(table, changed), isSame, member);
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
