/** Tables as exports write them, whole: for tests. */
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type Cells, type Column, type TableFormat, writeTable } from '../../src/tools/table-writers.ts';

/** What a table is in a format. */
export async function writtenTable(
  format: TableFormat,
  columns: readonly Column[],
  rows: Iterable<Cells> | AsyncIterable<Cells>,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const to = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(Buffer.from(piece));
      setImmediate(done);
    },
  });
  await writeTable(format, columns, rows, to);
  to.end();
  await finished(to);
  return Buffer.concat(pieces);
}

/** The cells of a CSV file by RFC 4180, character by character. @throws Error where it is none. */
export function parsedCsv(text: string): string[][] {
  const records: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const record: string[] = [];
    for (;;) {
      let cell = '';
      if (text[at] === '"') {
        at += 1;
        for (;;) {
          if (at >= text.length) throw new Error('a quote is not closed');
          if (text[at] !== '"') cell += text[at];
          else if (text[at + 1] === '"') {
            cell += '"';
            at += 1;
          } else break;
          at += 1;
        }
        at += 1;
      } else {
        while (at < text.length && text[at] !== ',' && text[at] !== '\r') {
          if (text[at] === '"' || text[at] === '\n') throw new Error(`a bare ${JSON.stringify(text[at])}`);
          cell += text[at];
          at += 1;
        }
      }
      record.push(cell);
      if (text[at] !== ',') break;
      at += 1;
    }
    if (text.slice(at, at + 2) !== '\r\n') throw new Error('a record does not end with CRLF');
    at += 2;
    records.push(record);
  }
  return records;
}
