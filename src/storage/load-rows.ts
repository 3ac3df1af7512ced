/**
 * The tables of the last checkpoint, as a restart reads them: everything that clearing holds in memory. History and signed
 * texts stay where they are, and so do the ids that must not be used again (id-runs.ts).
 *
 * Rows come table by table in clearing's LOAD_ORDER, each table in key order. Each step reads some thousands of rows and
 * lets go of the map again, so a slow consumer pins nothing. No checkpoint may be written meanwhile: a restart loads
 * before it writes.
 */

import type { RowTableName } from '../clearing/row-layouts.ts';
import type { RowWrite, TableName } from '../clearing/rows.ts';
import { LOAD_ORDER } from '../clearing/tables.ts';
import { type Views, viewsOf } from '../core/views.ts';
import { OrderRecord, OrderRecordView } from '../schema/generated/messages.ts';
import type { Entry, StorageReader } from './environment.ts';
import { checkRecordFrame, RECORD_AT } from './frames.ts';
import { endOf, keyAfter, keyWriter, TABLE, type Table } from './key-layout.ts';
import { decodeRow, ROW_TABLES } from './row-tables.ts';
import { checkSum, readTableSums, TableSums } from './table-sums.ts';

/** Rows that are read at a time. */
const STEP_ROWS = 4_096;

type PlainTable = Exclude<RowTableName, 'order'>;

/**
 * Rows of everything but history: live orders are the only orders. The row of an order is an accessor, the same one for
 * all, over bytes that are valid until the next row.
 *
 * @throws InvariantError at the first damaged row, and at the end of a table that lacks one or has one too many.
 */
export function* loadRows(reader: StorageReader): Generator<RowWrite, void, undefined> {
  const written = readTableSums(reader);
  for (const name of LOAD_ORDER) {
    if (!isLoaded(name)) continue;
    const { table } = ROW_TABLES[name];
    const found = new TableSums();
    if (name === 'order') yield* loadOrders(reader, found);
    else yield* loadTable(reader, name, found);
    checkSum(name, found.of(table), written.of(table));
  }
}

/** How many rows there will be, and how many of orders. */
export function countRows(reader: StorageReader): { readonly rowCount: number; readonly orderCount: number } {
  const written = readTableSums(reader);
  const rowCount = Object.values(ROW_TABLES).reduce((sum, { table }) => sum + written.of(table).entries, 0);
  return { rowCount, orderCount: written.of(TABLE.openOrder).entries };
}

function isLoaded(name: TableName): name is RowTableName {
  return name !== 'trade' && name !== 'signedText';
}

function* loadTable(reader: StorageReader, name: PlainTable, found: TableSums): Generator<RowWrite, void, undefined> {
  let rows: RowWrite[] = [];
  const take = ({ key, value }: Entry): void => {
    found.add(key, value);
    rows.push({ table: name, row: decodeRow(name, key, value) } as RowWrite);
  };
  for (const _ of steps(reader, ROW_TABLES[name].table, take)) {
    yield* rows;
    rows = [];
  }
}

function* loadOrders(reader: StorageReader, found: TableSums): Generator<RowWrite, void, undefined> {
  const step = new RecordStep(found);
  const order: RowWrite = { table: 'order', row: step.order };
  for (const _ of steps(reader, TABLE.openOrder, (entry) => step.take(entry))) {
    for (let place = 0; place < step.count; place += 1) {
      step.order.at = place * OrderRecord.bytes;
      yield order;
    }
    step.count = 0;
  }
}

/** The records of one step, one behind the other at multiples of 8, as their fields need it. */
class RecordStep {
  count = 0;
  readonly order: OrderRecordView;
  readonly #records: Views;
  readonly #found: TableSums;
  /** Over the buffer in which values lie in place. */
  #values: DataView = new DataView(new ArrayBuffer(0));

  constructor(found: TableSums) {
    this.#found = found;
    const bytes = STEP_ROWS * OrderRecord.bytes;
    this.#records = viewsOf(new ArrayBuffer(bytes), 0, bytes);
    this.order = new OrderRecordView(this.#records, 0);
  }

  /** @throws InvariantError unless it is the row that was written under its key. */
  take({ key, value }: Entry): void {
    if (this.#values.buffer !== value.buffer || this.#values.byteOffset !== value.byteOffset) {
      this.#values = new DataView(value.buffer, value.byteOffset);
    }
    this.#found.addChecksum(TABLE.openOrder, checkRecordFrame(key, value, this.#values, OrderRecord.bytes));
    const at = this.count * OrderRecord.bytes;
    this.#records.u8.set(value.subarray(RECORD_AT, RECORD_AT + OrderRecord.bytes), at);
    this.count += 1;
  }
}

/** Goes through a table; `take` has had the entries of a step when it is yielded. */
function* steps(reader: StorageReader, table: Table, take: (entry: Entry) => void): Generator<void, void, undefined> {
  let from = keyWriter().table(table);
  const to = endOf(from);
  for (;;) {
    const last = reader.visit({ from, to, limit: STEP_ROWS }, take);
    if (last === null) return;
    yield;
    from = keyAfter(last);
  }
}
