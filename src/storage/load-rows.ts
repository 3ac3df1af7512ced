/**
 * The tables of the last checkpoint, as a restart reads them: everything that clearing holds in memory. History stays
 * where it is, and so do the ids that must not be used again (id-runs.ts).
 *
 * Rows come table by table in clearing's LOAD_ORDER, each table in key order. Each step reads some hundreds of rows and
 * lets go of the map again, so a slow consumer pins nothing. No checkpoint may be written meanwhile: a restart loads
 * before it writes.
 */
import { LOAD_ORDER } from '../clearing/checkpoint.ts';
import type { LoadedRow, RowWrite, TableName } from '../clearing/rows.ts';
import type { Entry, StorageReader } from './environment.ts';
import { endOf, keyWriter, TABLE, type Table } from './key-layout.ts';
import { MapLeaves } from './map-leaves.ts';
import { decodeRow } from './row-codecs.ts';
import { OrderShelves } from './stored-order.ts';
import { checkSum, readTableSums, TableSums } from './table-sums.ts';

const ENTRIES_PER_STEP = 512;
/** In the key of a user. */
const USER_AT = 1;

/** Where the rows of a table are. Trades and finished orders are history. */
const TABLE_OF: Readonly<Record<Exclude<TableName, 'trade'>, Table>> = {
  user: TABLE.user,
  subAccount: TABLE.subAccount,
  asset: TABLE.asset,
  market: TABLE.market,
  balance: TABLE.balance,
  position: TABLE.position,
  order: TABLE.openOrder,
  price: TABLE.price,
  mark: TABLE.mark,
  deposit: TABLE.deposit,
  config: TABLE.config,
  totals: TABLE.totals,
  tally: TABLE.tally,
};

/**
 * Rows of everything but history: live orders are the only orders.
 *
 * @param path the map's own file, for the one who may write to it: then entries are read without lmdb (map-leaves.ts).
 * @throws InvariantError at the first damaged row, and at the end of a table that lacks one or has one too many.
 */
export function* loadRows(reader: StorageReader, path: string | null = null): Generator<LoadedRow, void, undefined> {
  const leaves = path === null ? null : new MapLeaves(path);
  try {
    yield* rowsOf(reader, leaves);
  } finally {
    leaves?.close();
  }
}

function* rowsOf(reader: StorageReader, leaves: MapLeaves | null): Generator<LoadedRow, void, undefined> {
  const shelves = new OrderShelves();
  const written = readTableSums(reader);
  for (const table of LOAD_ORDER) {
    if (table === 'trade') continue;
    const found = new TableSums();
    if (table === 'order' && leaves !== null) {
      for (const place of shelves.fill(leaves, TABLE.openOrder, found)) {
        yield { table: 'storedOrder', stored: shelves, place };
      }
    } else {
      const entries = leaves === null ? entriesOf(reader, TABLE_OF[table]) : leaves.entries(TABLE_OF[table]);
      for (const { key, value } of entries) {
        found.add(key, value);
        if (table === 'user') shelves.users.add(key, USER_AT);
        if (table === 'order') yield { table: 'storedOrder', stored: shelves, place: shelves.add(key, value) };
        else yield { table, row: decodeRow(table, key, value) } as RowWrite;
      }
    }
    checkSum(table, found.of(TABLE_OF[table]), written.of(TABLE_OF[table]));
  }
}

/** How many rows there will be. */
export function countRows(reader: StorageReader): number {
  const written = readTableSums(reader);
  return Object.values(TABLE_OF).reduce((sum, table) => sum + written.of(table).entries, 0);
}

function entriesOf(reader: StorageReader, table: Table): Generator<Entry, void, undefined> {
  const from = keyWriter().table(table);
  return reader.entries({ from, to: endOf(from), perStep: ENTRIES_PER_STEP });
}
