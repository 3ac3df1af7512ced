/**
 * `ringbook export`: what a data directory holds, as rows on standard output or in a file.
 *
 * The order of the two arguments names the form: `DIR trades` prints the tables as JSON lines, as it always did; `trades DIR`
 * and `journal DIR` are for back offices and readers.
 */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { RowLogReader } from '../evidence/row-log/row-log-reader.ts';
import type { StorageReader } from '../storage/environment.ts';
import type { Progress } from '../tools/audit-data.ts';
import type { RowExportName } from '../tools/export-columns.ts';
import type { ExportFilter, ExportSource } from '../tools/export-rows.ts';
import type { JournalPlace } from '../tools/readable-journal.ts';
import type { Cells, Column, TableFormat } from '../tools/table-writers.ts';
import { CliError, type Command, EXIT, parseOptions, usageError } from './command.ts';
import { PROGRESS_OPTION, withProgress, withProgressHelp } from './data-command.ts';
import { toOutput, userGiven } from './export-output.ts';

const CHUNK_CHARACTERS = 65_536;
const JOURNAL = 'journal';
/** Order records by the fields of MiCA, as JSON lines. */
const MICA = 'mica';
type Format = TableFormat | typeof MICA;

export const exportCommand: Command = {
  name: 'export',
  summary: 'write orders, fills, a ledger, the journal, … as CSV, JSON lines or Parquet',
  help: withProgressHelp(`usage: ringbook export WHAT DIR [--format csv|jsonl|parquet|mica] [--from TIME] [--to TIME]
                       [--user ID] [--market ID] [--out FILE]
       ringbook export journal DIR [--from PLACE] [--to PLACE] [--out FILE]
       ringbook export DIR journal|trades|balances|positions

WHAT: orders, fills, trades, ledger, balances, positions, deposits, withdrawals, settlements, liquidations, config; also
quote-sets, protections, accounts, prices and statements. The rows of the row log in the order of the journal, one a line: times
in UTC with nanoseconds, prices and amounts as exact decimals. balances are those of the end of the range. The columns are in
docs/reference/exports.md. Without a row log it writes what the tables have (orders, fills, trades, balances, positions), and
says so. What is not kept any more is refused. DIR may be that of a node that runs.

"journal DIR" prints the records of the journal as JSON for readers: its time, its hash, every input with words and exact
decimals, every verdict on a signature.

The third form writes JSON lines of everything up to one sequence of the journal, as programs read them: its "journal" is
what "ringbook restore --from-journal" takes. A directory with the name of what is exported is written as ./trades.

options:
  --format F     csv (RFC 4180), jsonl or parquet; of orders also mica, order records by the fields of MiCA  (jsonl)
  --from TIME    begins there: a UTC day or time (2026-11-29, 2026-11-29T09:41:26.123456789Z); of the journal also a sequence
  --to TIME      ends before it
  --user ID      rows of one user, 64 hex digits
  --market ID    rows of one market, by the id or the symbol of its asset
  --out FILE     writes FILE, which appears when it is whole, in the place of an earlier one, and prints a JSON line with the rows

example:
  ringbook export fills /var/lib/ringbook --format csv --from 2026-11-29 --to 2026-11-30 --out fills.csv
  ringbook export journal /var/lib/ringbook --from 2026-11-29T09:41Z --to 2026-11-29T09:42Z
  ringbook export /var/lib/ringbook trades > trades.jsonl
`),
  async run(argv) {
    const { positionals, values } = parseOptions(argv, {
      ...PROGRESS_OPTION,
      format: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      user: { type: 'string' },
      market: { type: 'string' },
      out: { type: 'string' },
    });
    // Copies of a ledger are for their owner, as the ledger is (MCH-04).
    process.umask(0o077);
    const [first, second] = positionals;
    if (first === undefined || second === undefined || positionals.length !== 2)
      throw usageError('ringbook export WHAT DIR; "ringbook export --help" has the list');
    const given = { ...values, progress: values.progress === true };
    if (first === JOURNAL) return exportJournal(second, given);
    const { ROW_EXPORT_NAMES } = await import('../tools/export-columns.ts');
    const what = ROW_EXPORT_NAMES.find((known) => known === first);
    return what === undefined ? exportLinesOf(first, second, given) : exportRows(what, second, given);
  },
};

interface Given {
  readonly format?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly user?: string | undefined;
  readonly market?: string | undefined;
  readonly out?: string | undefined;
  readonly progress: boolean;
}

/** @throws CliError 64 for an option that the form does not have. */
function refuseOptions(form: string, given: Given, names: readonly (keyof Given)[]): void {
  const wrong = names.find((name) => given[name] !== undefined);
  if (wrong !== undefined) throw usageError(`"ringbook export ${form}" has no --${wrong}`);
}

/** Runs it with a reader of the directory and with progress. */
async function reading<T>(
  directory: string,
  { progress: isAsked }: Given,
  run: (reader: StorageReader, progress: Progress) => Promise<T>,
): Promise<T> {
  const { withReader } = await import('../tools/audit-data.ts');
  return withProgress(isAsked, (progress) => withReader(directory, (reader) => run(reader, progress)));
}

async function exportJournal(directory: string, given: Given): Promise<typeof EXIT.done> {
  refuseOptions('journal DIR', given, ['format', 'user', 'market']);
  const { readableJournal } = await import('../tools/readable-journal.ts');
  const range = { from: await placeOf(given.from, '--from'), to: await placeOf(given.to, '--to') };
  await reading(directory, given, (reader, progress) =>
    toOutput(given.out, (to) => writeLines(readableJournal(reader, range, progress), to)),
  );
  return EXIT.done;
}

async function exportLinesOf(directory: string, what: string, given: Given): Promise<typeof EXIT.done> {
  const { EXPORTS, exportLines } = await import('../tools/export-data.ts');
  const name = EXPORTS.find((known) => known === what);
  if (name === undefined) throw usageError(`ringbook export WHAT DIR, or ringbook export DIR ${EXPORTS.join('|')}`);
  refuseOptions(`DIR ${name}`, given, ['format', 'from', 'to', 'user', 'market']);
  await reading(directory, given, (reader, progress) =>
    toOutput(given.out, (to) => writeLines(exportLines(reader, name, progress), to)),
  );
  return EXIT.done;
}

async function exportRows(what: RowExportName, directory: string, given: Given): Promise<typeof EXIT.done> {
  const { evidenceFolder } = await import('../evidence/evidence-files.ts');
  const { RowLogReader } = await import('../evidence/row-log/row-log-reader.ts');
  const { columnsOf } = await import('../tools/export-columns.ts');
  const { writeTable } = await import('../tools/table-writers.ts');
  const format = await formatOf(what, given.format);
  const columns = columnsOf(what);
  const has = (name: string): boolean => columns.some((column) => column.name === name);
  if (!has('user')) refuseOptions(`${what} DIR`, given, ['user']);
  if (!has('asset_id') && !has('leg')) refuseOptions(`${what} DIR`, given, ['market']);
  refuseTerminal(format, given.out);
  const times = { fromNs: await timeOf(given.from, '--from'), toNs: await timeOf(given.to, '--to') };
  const user = given.user === undefined ? null : userGiven(given.user);
  await reading(directory, given, async (reader, progress) => {
    const filter: ExportFilter = { ...times, user, market: await marketOf(reader, given.market) };
    const log = RowLogReader.open(evidenceFolder(directory));
    try {
      const table = await tableOf(format === MICA ? MICA : what, reader, log, filter);
      const written = await toOutput(given.out, (to) =>
        writeTable(format === MICA ? 'jsonl' : format, table.columns, table.cells, to, (count) =>
          progress('exporting', count, 0),
        ),
      );
      summarize({ what, format, source: table.source, note: table.note, written, given });
    } finally {
      await log?.close();
    }
  });
  return EXIT.done;
}

async function formatOf(what: RowExportName, text = 'jsonl'): Promise<Format> {
  const { TABLE_FORMATS } = await import('../tools/table-writers.ts');
  if (text === MICA && what !== 'orders') throw usageError('--format mica is of orders: ringbook export orders DIR');
  const formats: readonly Format[] = [...TABLE_FORMATS, MICA];
  const format = formats.find((known) => known === text);
  if (format === undefined) throw usageError(`--format takes ${TABLE_FORMATS.join(', ')}, not "${text}"`);
  return format;
}

/** What is written, before it is read. */
interface TableOfRows extends Pick<ExportSource, 'source' | 'note'> {
  readonly columns: readonly Column[];
  readonly cells: Iterable<Cells>;
}

async function tableOf(
  what: RowExportName | typeof MICA,
  reader: StorageReader,
  log: RowLogReader | null,
  filter: ExportFilter,
): Promise<TableOfRows> {
  const { exportSource, ofLog } = await import('../tools/export-rows.ts');
  const { MarketFinder } = await import('../tools/market-tables.ts');
  const scales = new MarketFinder(reader);
  if (what !== MICA) {
    const { RowCells } = await import('../tools/export-columns.ts');
    const { source, note, rows } = exportSource(reader, log, what, filter);
    const cells = new RowCells(what, scales);
    return { source, note, columns: cells.columns, cells: mapped(rows, (row) => [cells.of(row)]) };
  }
  const { MICA_COLUMNS, MICA_KINDS, micaRecords } = await import('../tools/mica-orders.ts');
  const found = ofLog(reader, log, MICA_KINDS, filter);
  if (found === null)
    throw new CliError(
      EXIT.fault,
      'there is no row log here: order records are made of its rows ("evidence" switches it on)',
    );
  const { source, note, rows } = found;
  return { source, note, columns: MICA_COLUMNS, cells: mapped(rows, (row) => micaRecords(row, scales)) };
}

function* mapped<From, To>(rows: Iterable<From>, map: (row: From) => readonly To[]): Generator<To, void, undefined> {
  for (const row of rows) yield* map(row);
}

/** A file has a line about it; rows on standard output have their note on standard error. */
function summarize(of: {
  readonly what: RowExportName;
  readonly format: Format;
  readonly source: ExportSource['source'];
  readonly note: string | null;
  readonly written: { readonly rows: number; readonly bytes: number };
  readonly given: Given;
}): void {
  const { what, format, source, note, written, given } = of;
  if (given.out === undefined) {
    if (note !== null) process.stderr.write(`ringbook: ${note}\n`);
    return;
  }
  const range = { from: given.from ?? null, to: given.to ?? null };
  process.stdout.write(`${JSON.stringify({ what, format, ...range, ...written, source, note })}\n`);
}

function refuseTerminal(format: Format, out: string | undefined): void {
  if (format === 'parquet' && out === undefined && process.stdout.isTTY === true)
    throw usageError('Parquet is no text for a terminal: --out FILE writes it');
}

async function marketOf(reader: StorageReader, text: string | undefined): Promise<string | null> {
  if (text === undefined) return null;
  const { assetOfName } = await import('../tools/market-tables.ts');
  const asset = assetOfName(reader, text);
  if (asset === null) throw new CliError(EXIT.usage, `--market: there is no asset "${text}"`);
  return asset;
}

async function timeOf(text: string | undefined, option: string): Promise<bigint | null> {
  if (text === undefined) return null;
  const { parseIsoTime } = await import('../tools/iso-time.ts');
  const timeNs = parseIsoTime(text);
  if (timeNs === null) throw usageError(`${option} takes a UTC day or time like 2026-11-29T09:41:26Z, not "${text}"`);
  return timeNs;
}

async function placeOf(text: string | undefined, option: string): Promise<JournalPlace | null> {
  if (text === undefined) return null;
  if (/^[1-9][0-9]{0,14}$/.test(text)) return { sequence: Number(text) };
  const { parseIsoTime } = await import('../tools/iso-time.ts');
  const timeNs = parseIsoTime(text);
  if (timeNs !== null) return { timeNs };
  throw usageError(`${option} takes a sequence or a UTC time like 2026-11-29T09:41:26Z, not "${text}"`);
}

/** Writes at the speed of the reader. */
async function writeLines(lines: Iterable<string>, to: Writable): Promise<void> {
  let chunk = '';
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    if (!to.write(chunk)) await once(to, 'drain');
    chunk = '';
  }
  to.write(chunk);
}
