/** Writes a million rows of fills in a format to nothing, and prints the rows and the most memory that it had, in MiB. */
import { Writable } from 'node:stream';
import { RowCells } from '../../src/tools/export-columns.ts';
import { type Cells, TABLE_FORMATS, writeTable } from '../../src/tools/table-writers.ts';
import { Draw, randomRow } from './random-rows.ts';
import { userOf } from './row-log-fixture.ts';

const ROWS = 1_000_000;
const format = TABLE_FORMATS.find((known) => known === process.argv[2]) ?? 'csv';
const cells = new RowCells('fills', {
  get: () => ({ priceDecimals: 2, quantityDecimals: 4 }),
});

function* rows(): Generator<Cells> {
  const { members } = randomRow(new Draw(1), 1, ['fill']);
  for (let number = 0; number < ROWS; number += 1) {
    const place = { sequence: `${number}`, index: 0, time_ns: `${1_795_945_286_000_000_000n + BigInt(number)}` };
    yield cells.of({ ...members, ...place, user: userOf(number % 1_000), n: number, trade_id: number });
  }
}

const nothing = new Writable({
  write(_piece, _encoding, done) {
    setImmediate(done);
  },
});
const { rows: written } = await writeTable(format, cells.columns, rows(), nothing);
process.stdout.write(`${written} ${Math.round(process.resourceUsage().maxRSS / 1_024)}\n`);
