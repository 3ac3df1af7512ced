/** Rows as a start reads them: live orders lie in their bytes. */
import type { LoadedRow, RowWrite, StoredOrders } from '../../src/clearing/rows.ts';
import { ByteWriter } from '../../src/storage/byte-writer.ts';
import { encodeRow } from '../../src/storage/row-tables.ts';
import { OrderShelves } from '../../src/storage/stored-order.ts';

const KEY = Buffer.from('order');

/**
 * Each row is over with the next.
 *
 * @param writes in clearing's LOAD_ORDER, each table in key order.
 * @param told the verdict on an order's bytes.
 */
export function* storedRows(
  writes: Iterable<RowWrite>,
  told: (stored: StoredOrders) => StoredOrders = (stored) => stored,
): Generator<LoadedRow, void, undefined> {
  const shelves = new OrderShelves();
  const stored = told(shelves);
  for (const write of writes) {
    if (write.table === 'user') shelves.users.add(Buffer.from(write.row.user, 'hex'), 0);
    if (write.table !== 'order' || write.row.end !== 0) yield write;
    else {
      const place = shelves.add(KEY, encodeRow(new ByteWriter(1_024), 'order', KEY, write.row));
      yield { table: 'storedOrder', stored, place, row: shelves.look(place) };
    }
  }
}
