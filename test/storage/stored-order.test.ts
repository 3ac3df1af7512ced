import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { OrderRow } from '../../src/clearing/rows.ts';
import { ByteWriter } from '../../src/storage/byte-writer.ts';
import { encodeRow } from '../../src/storage/row-tables.ts';
import { OrderShelves } from '../../src/storage/stored-order.ts';
import { propertyParameters } from '../support/property.ts';
import { ROW_ARBITRARIES } from '../support/row-arbitraries.ts';

const key = Buffer.from('a key');
const bytesOf = (row: OrderRow) => Uint8Array.from(encodeRow(new ByteWriter(64), 'order', key, row));
const rows = ROW_ARBITRARIES.order;

suite('stored orders', () => {
  test('an order that lies in its bytes returns in every member what was written, looked at and read', () => {
    const shelves = new OrderShelves();
    const lived: { readonly row: OrderRow; readonly place: number }[] = [];
    fc.assert(
      fc.property(rows, (row) => {
        const place = shelves.add(key, bytesOf(row));
        const look = shelves.look(place);
        for (const name of Object.keys(row) as (keyof OrderRow)[]) assert.deepEqual(look[name], row[name], name);
        lived.push({ row, place });
      }),
      propertyParameters(),
    );
    // Others that were stored beside it have changed nothing.
    for (const { row, place } of lived) assert.deepEqual(shelves.take(place), row);
  });

  test('a flipped bit and another key are found when it is taken in', () => {
    fc.assert(
      fc.property(rows, fc.nat(), (row, where) => {
        const value = bytesOf(row);
        assert.throws(() => new OrderShelves().add(Buffer.from('b key'), value), { name: 'InvariantError' });
        const bit = where % (value.length * 8);
        value[bit >> 3] = (value[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        assert.throws(() => new OrderShelves().add(key, value), { name: 'InvariantError' });
      }),
      propertyParameters(),
    );
  });
});
