/**
 * The tables of the last checkpoint, as a restart reads them: everything that clearing holds in memory, and the order
 * ids that must not be used again. History stays where it is.
 *
 * Rows come table by table in clearing's LOAD_ORDER, each table in key order. Each step reads some hundreds of rows and
 * lets go of the map again, so a slow consumer pins nothing. No checkpoint may be written meanwhile: a restart loads
 * before it writes.
 */
import { LOAD_ORDER } from '../clearing/checkpoint.ts';
import type { RowWrite, TableName } from '../clearing/rows.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import { ByteReader } from './byte-reader.ts';
import type { Entry, StorageReader } from './environment.ts';
import { type RememberedOrder, readRememberedOrder } from './finished-orders.ts';
import { endOf, keyWriter, TABLE, type Table } from './key-layout.ts';
import { decodeFrame, decodeRow } from './row-codecs.ts';

const ENTRIES_PER_STEP = 512;

/** Where the rows of a table are. Trades and finished orders are history. */
const TABLE_OF: Readonly<Record<Exclude<TableName, 'trade'>, Table>> = {
  user: TABLE.user,
  subAccount: TABLE.subAccount,
  asset: TABLE.asset,
  market: TABLE.market,
  balance: TABLE.balance,
  order: TABLE.openOrder,
  price: TABLE.price,
  deposit: TABLE.deposit,
  config: TABLE.config,
  totals: TABLE.totals,
  tally: TABLE.tally,
};

/** Rows of everything but history: live orders are the only orders. @throws InvariantError at the first damaged row. */
export function* loadRows(reader: StorageReader): Generator<RowWrite, void, undefined> {
  for (const table of LOAD_ORDER) {
    if (table === 'trade') continue;
    for (const { key, value } of entriesOf(reader, TABLE_OF[table])) {
      yield { table, row: decodeRow(table, key, value) } as RowWrite;
    }
  }
}

/** A finished order's id, which its user may not use again in this market before creation + 30 days (AMB-08). */
export interface RememberedId extends RememberedOrder {
  readonly marketIndex: number;
  readonly user: UserId;
  readonly orderId: OrderId;
}

/** By user, then market. Ids of live orders are not among them. */
export function* loadRememberedIds(reader: StorageReader): Generator<RememberedId, void, undefined> {
  for (const { key, value } of entriesOf(reader, TABLE.finishedById)) {
    const name = new ByteReader(key);
    name.u8();
    const user = name.hex(32) as UserId;
    const marketIndex = name.u32();
    yield { ...decodeFrame(key, value, readRememberedOrder), user, marketIndex, orderId: name.ascii() as OrderId };
  }
}

function entriesOf(reader: StorageReader, table: Table): Generator<Entry, void, undefined> {
  const from = keyWriter().table(table);
  return reader.entries({ from, to: endOf(from), perStep: ENTRIES_PER_STEP });
}
