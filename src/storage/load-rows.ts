/**
 * The tables of the last checkpoint, as a restart reads them: everything that clearing holds in memory. History stays
 * where it is, and so do the ids that must not be used again (id-runs.ts).
 *
 * Rows come table by table in clearing's LOAD_ORDER, each table in key order. Each step reads some hundreds of rows and
 * lets go of the map again, so a slow consumer pins nothing. No checkpoint may be written meanwhile: a restart loads
 * before it writes.
 */
import { LOAD_ORDER } from '../clearing/loading.ts';
import type { LoadedRow, RowWrite } from '../clearing/rows.ts';
import type { Entry, StorageReader } from './environment.ts';
import { endOf, keyWriter, META, type Table } from './key-layout.ts';
import { MapLeaves } from './map-leaves.ts';
import { decodeRow, ROW_TABLES } from './row-tables.ts';
import { OrderShelves } from './stored-order.ts';
import { OrderTable } from './table-orders.ts';
import { checkSum, decodeTableSums, readTableSums, TableSums } from './table-sums.ts';

const ENTRIES_PER_STEP = 512;
/** In the key of a user. */
const USER_AT = 1;

/**
 * Rows of everything but history: live orders are the only orders. They are held in memory, as bytes.
 *
 * @throws InvariantError at the first damaged row, and at the end of a table that lacks one or has one too many.
 */
export function* loadRows(reader: StorageReader): Generator<LoadedRow, void, undefined> {
  const shelves = new OrderShelves();
  const written = readTableSums(reader);
  for (const table of LOAD_ORDER) {
    if (table === 'trade') continue;
    const found = new TableSums();
    for (const { key, value } of entriesOf(reader, ROW_TABLES[table].table)) {
      found.add(key, value);
      if (table === 'user') shelves.users.add(key, USER_AT);
      if (table === 'order') {
        const place = shelves.add(key, value);
        yield { table: 'storedOrder', stored: shelves, place, row: shelves.look(place) };
      } else yield { table, row: decodeRow(table, key, value) } as RowWrite;
    }
    checkSum(table, found.of(ROW_TABLES[table].table), written.of(ROW_TABLES[table].table));
  }
}

/**
 * The same rows for the one who writes the map: read without lmdb (map-leaves.ts), and live orders stay in their table
 * (table-orders.ts).
 *
 * @param descriptor of the map's file, open as long as orders are asked for. @param reader of the same map, for those.
 */
export function readRows(
  descriptor: number,
  reader: Pick<StorageReader, 'get'>,
): Generator<LoadedRow, void, undefined> {
  return rowsIn(new MapLeaves(descriptor), new OrderTable(descriptor, reader));
}

function* rowsIn(leaves: MapLeaves, orders: OrderTable): Generator<LoadedRow, void, undefined> {
  const written = writtenSums(leaves);
  for (const table of LOAD_ORDER) {
    if (table === 'trade') continue;
    const found = new TableSums();
    if (table === 'order') yield* orders.load(leaves, found);
    else {
      for (const { key, value } of leaves.entries(Uint8Array.of(ROW_TABLES[table].table))) {
        found.add(key, value);
        if (table === 'user') orders.users.add(key, USER_AT);
        yield { table, row: decodeRow(table, key, value) } as RowWrite;
      }
    }
    checkSum(table, found.of(ROW_TABLES[table].table), written.of(ROW_TABLES[table].table));
  }
}

function writtenSums(leaves: MapLeaves): TableSums {
  for (const { key, value } of leaves.entries(keyWriter().meta(META.tableSums))) return decodeTableSums(key, value);
  return new TableSums();
}

/** How many rows there will be. */
export function countRows(reader: StorageReader): number {
  const written = readTableSums(reader);
  return Object.values(ROW_TABLES).reduce((sum, { table }) => sum + written.of(table).entries, 0);
}

function entriesOf(reader: StorageReader, table: Table): Generator<Entry, void, undefined> {
  const from = keyWriter().table(table);
  return reader.entries({ from, to: endOf(from), perStep: ENTRIES_PER_STEP });
}
