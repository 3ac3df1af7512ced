/**
 * The rows of an export (EXP-01): of the row log where a data directory has one, else of the tables, which is said.
 *
 *   row log   in the order of the journal, from --from on, before --to, by the time of their records
 *   tables    what they have as it is now (export-tables.ts); the same times select
 *
 * Balances are those of the last ledger row of each before --to; so they are complete as long as the row log has its first
 * rows, with which it opened.
 */

import { SECOND_NS } from '../core/units.ts';
import { rowHead } from '../evidence/row-log/row-head.ts';
import type { RowLogReader } from '../evidence/row-log/row-log-reader.ts';
import type { StorageReader } from '../storage/environment.ts';
import { journalBounds, journalTimeAt } from '../storage/journal.ts';
import { StorageError } from '../storage/storage-error.ts';
import { type ExportRow, ROW_EXPORTS, type RowExportName } from './export-columns.ts';
import { isOfTables, TABLE_EXPORTS, tableRows } from './export-tables.ts';
import { isoTime } from './iso-time.ts';

/** What is exported of the rows that there are. */
export interface ExportFilter {
  /** Inclusive; null: from the first on. */
  readonly fromNs: bigint | null;
  /** Exclusive; null: to the last. */
  readonly toNs: bigint | null;
  /** 64 hex digits; null: all. */
  readonly user: string | null;
  /** The base asset of a market; null: all. */
  readonly market: string | null;
}

export interface ExportSource {
  readonly source: 'row log' | 'tables';
  /** What the reader of the file has to know, in whole sentences; null for nothing. */
  readonly note: string | null;
  readonly rows: Iterable<ExportRow>;
}

/** How far a row log may be behind the journal of a node that runs (EVD-05). */
const BEHIND_NS = 10n * SECOND_NS;
const TIME_END = 1n << 64n;

/**
 * @param log null where there is none.
 * @throws StorageError when the range begins before what is left, or when without a row log there is nothing to export.
 */
export function exportSource(
  reader: StorageReader,
  log: RowLogReader | null,
  what: RowExportName,
  filter: ExportFilter,
): ExportSource {
  const kinds = [ROW_EXPORTS[what]];
  if (what !== 'balances') return ofLog(reader, log, kinds, filter) ?? ofTables(reader, what, filter);
  const found = ofLog(reader, log, kinds, { ...filter, fromNs: null });
  const bounds = log?.bounds() ?? null;
  if (log === null || bounds === null || found === null) return ofTables(reader, what, filter);
  if (bounds.kept > bounds.first)
    throw new StorageError(
      `the row log is kept from record ${bounds.kept} on: the rows with which it opened are gone, so it does not give every balance. ` +
        '"ringbook export DIR balances" prints those of now',
    );
  return { ...found, rows: lastBalances(found.rows) };
}

/**
 * Rows of these kinds of the row log, in the order of the journal; null where there is none.
 *
 * @throws StorageError when the range begins before what is left.
 */
export function ofLog(
  reader: StorageReader,
  log: RowLogReader | null,
  kinds: readonly string[],
  filter: ExportFilter,
): ExportSource | null {
  const bounds = log?.bounds() ?? null;
  if (log === null || bounds === null) return null;
  const begin = log.meta(bounds.kept)?.timeNs ?? null;
  const isPartial = bounds.kept > 1 && begin !== null;
  if (isPartial && filter.fromNs !== null && filter.fromNs < begin) throw gone(bounds, begin);
  const notes = [
    isPartial && filter.fromNs === null ? `The row log begins with record ${bounds.kept} of ${isoTime(begin)}.` : null,
    endNote(reader, log, bounds.last, filter.toNs),
  ].filter((note) => note !== null);
  const rows = logRows(log, new Set(kinds), filter);
  return { source: 'row log', note: notes.length === 0 ? null : notes.join(' '), rows };
}

/** A log that was switched off ends before the journal does; one that is written is some seconds behind at most. */
function endNote(reader: StorageReader, log: RowLogReader, last: number, toNs: bigint | null): string | null {
  const { lastSequence } = journalBounds(reader);
  const endNs = log.meta(last)?.timeNs ?? null;
  if (endNs === null || lastSequence <= last || (toNs !== null && toNs <= endNs)) return null;
  if (journalTimeAt(reader, lastSequence) - endNs <= BEHIND_NS) return null;
  return `The row log ends with record ${last} of ${isoTime(endNs)}, and the journal with record ${lastSequence}: it was switched off.`;
}

function gone({ first, kept }: { first: number; kept: number }, begin: bigint): StorageError {
  const why = kept > first ? 'older rows are not kept' : 'it was switched on then';
  return new StorageError(
    `the row log begins with record ${kept} of ${isoTime(begin)}: ${why}. Export from there on, or from a backup that is older`,
  );
}

function* logRows(
  log: RowLogReader,
  kinds: ReadonlySet<string>,
  { fromNs, toNs, user, market }: ExportFilter,
): Generator<ExportRow> {
  const [from, to] = [fromNs ?? 0n, toNs ?? TIME_END];
  if (user !== null) {
    for (const { bytes } of log.userRows(user, 1, log.lastOf(user))) {
      const row = rowOfKind(bytes, kinds);
      if (row === null) continue;
      const timeNs = BigInt(String(row['time_ns']));
      if (timeNs >= to) return;
      if (timeNs >= from && isOfMarket(row, market)) yield row;
    }
    return;
  }
  for (const { rows } of log.recordsByTime(from, to)) {
    for (const bytes of rows) {
      const row = rowOfKind(bytes, kinds);
      if (row !== null && isOfMarket(row, market)) yield row;
    }
  }
}

/** Null for one of another kind, which is not parsed. */
export function rowOfKind(bytes: Uint8Array, kinds: ReadonlySet<string>): ExportRow | null {
  if (!kinds.has(rowHead(bytes).kind)) return null;
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')) as ExportRow;
}

function isOfMarket(row: ExportRow, market: string | null): boolean {
  return market === null || row['asset_id'] === market || row['leg'] === market;
}

/** By user, sub-account, asset and leg; balances of nothing are left out. */
function* lastBalances(rows: Iterable<ExportRow>): Generator<ExportRow> {
  const last = new Map<string, ExportRow>();
  for (const row of rows) {
    const subAccount = String(row['sub_account']).padStart(5, '0');
    last.set([row['user'], subAccount, row['asset'], row['leg'] ?? ''].join(' '), row);
  }
  const places = [...last].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [, row] of places) if (row['balance_after'] !== '0') yield row;
}

function ofTables(reader: StorageReader, what: RowExportName, filter: ExportFilter): ExportSource {
  if (!isOfTables(what))
    throw new StorageError(
      `there is no row log here, so there is nothing to export of ${what}: switch it on ("evidence"). Tables have ${TABLE_EXPORTS.join(', ')}`,
    );
  const hasTime = what === 'orders' || what === 'fills' || what === 'trades';
  if (!hasTime && (filter.fromNs !== null || filter.toNs !== null))
    throw new StorageError(`there is no row log here: the tables have ${what} of now alone, without --from and --to`);
  const note = hasTime
    ? 'There is no row log here: these rows are what the tables have, one an order or trade, without records, and not in the order of the journal.'
    : 'There is no row log here: these rows are what the tables have now.';
  return { source: 'tables', note, rows: selected(tableRows(reader, what), filter) };
}

function* selected(rows: Iterable<ExportRow>, { fromNs, toNs, user, market }: ExportFilter): Generator<ExportRow> {
  for (const row of rows) {
    const timeNs = row['time_ns'];
    if (typeof timeNs === 'bigint' && ((fromNs !== null && timeNs < fromNs) || (toNs !== null && timeNs >= toNs)))
      continue;
    if ((user === null || row['user'] === user) && isOfMarket(row, market)) yield row;
  }
}
