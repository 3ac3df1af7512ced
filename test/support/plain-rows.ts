/** The rows of a map's tables, each as a plain value. */
import { plainRow, type RowWrite } from '../../src/clearing/rows.ts';
import type { StorageReader } from '../../src/storage/environment.ts';
import { loadRows } from '../../src/storage/load-rows.ts';

export function plainRows(reader: StorageReader): RowWrite[] {
  return Array.from(loadRows(reader), (loaded) =>
    loaded.table === 'order' ? { table: 'order', row: plainRow(loaded.row) } : loaded,
  );
}
