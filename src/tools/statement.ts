/**
 * The statement of a user over a UTC day (LDG-02): what each balance was at its begin, every ledger row, what each balance was at
 * its end, and the difference between the three, which is 0.
 *
 *   opening │ row │ row │ … │ closing, with opening + the amounts of its rows − closing
 *
 * A balance begins the day with what the last row before left of it. Where that row is not kept any more, its first row of the day
 * says it. Memory holds a figure for each balance of the user, and one row.
 */
import { must } from '../core/assert.ts';
import { format18, parseDecimal18 } from '../core/decimal.ts';
import { DAY_NS } from '../core/units.ts';
import type { RowLogReader } from '../evidence/row-log/row-log-reader.ts';
import { StorageError } from '../storage/storage-error.ts';
import type { ExportRow } from './export-columns.ts';
import { rowOfKind } from './export-rows.ts';
import { isoTime } from './iso-time.ts';
import type { Cell, Cells, Column } from './table-writers.ts';

export const STATEMENT_COLUMNS: readonly Column[] = [
  { name: 'part', type: 'text', meaning: 'What the line is.', words: ['opening', 'row', 'closing'] },
  { name: 'time', type: 'text', meaning: 'The begin of the day, the time of the row, the end of the day.' },
  { name: 'sequence', type: 'integer', meaning: 'The journal record of the row.' },
  { name: 'index', type: 'integer', meaning: 'Its place among the rows of that record.' },
  { name: 'n', type: 'integer', meaning: 'Its number among all rows of the user.' },
  { name: 'sub_account', type: 'integer', meaning: 'The sub-account.' },
  { name: 'asset', type: 'text', meaning: 'The asset of the balance, 0 for USD.' },
  { name: 'leg', type: 'text', meaning: 'The market of a position, where the balance is one of its legs.' },
  { name: 'entry', type: 'text', meaning: 'Why it changed.' },
  { name: 'amount', type: 'text', meaning: 'By how much; of a closing line by how much over the day.' },
  { name: 'balance', type: 'text', meaning: 'The balance, after the row.' },
  { name: 'difference', type: 'text', meaning: 'Of a closing line: opening and amounts less the balance, 0.' },
  { name: 'reference', type: 'text', meaning: 'What the row belongs to.' },
];

const LEDGER: ReadonlySet<string> = new Set(['ledger']);

interface BalanceOfDay {
  readonly subAccount: number;
  readonly asset: string;
  readonly leg: string | null;
  /** As the last row before the day, or the first of it, has it. */
  opening: bigint;
  /** The sum of the amounts of the day. */
  amounts: bigint;
  /** As the last row has it. */
  balance: bigint;
}

export interface Statement {
  readonly lines: Iterable<Cells>;
  /** What the reader has to know, in whole sentences; null for nothing. */
  readonly note: string | null;
  /** Balances whose difference is not 0, after all lines were read. */
  readonly faults: () => readonly string[];
}

/** A statement before its lines are read. */
class DayOfUser {
  readonly faults: string[] = [];
  readonly #log: RowLogReader;
  readonly #user: string;
  readonly #fromNs: bigint;
  readonly #last: number;
  /** By place, in the order of lines. */
  readonly #balances = new Map<string, BalanceOfDay>();
  /** The number of the first row of the day; null for none. */
  #first: number | null = null;

  constructor(log: RowLogReader, user: string, fromNs: bigint) {
    this.#log = log;
    this.#user = user;
    this.#fromNs = fromNs;
    this.#last = log.lastOf(user);
  }

  /** Reads all rows up to the end of the day once. */
  open(): void {
    for (const row of this.#rows(1)) {
      const { amount, after } = figuresOf(row);
      const place = placeOf(row);
      const isOfDay = timeOf(row) >= this.#fromNs;
      if (isOfDay) this.#first ??= Number(row['n']);
      const known = this.#balances.get(place);
      if (known === undefined) this.#balances.set(place, balanceOf(row, isOfDay ? after - amount : after));
      else if (!isOfDay) known.opening = after;
    }
    for (const balance of this.#balances.values()) balance.balance = balance.opening;
  }

  *lines(): Generator<Cells, void, undefined> {
    const places = [...this.#balances].sort(([a], [b]) => (a < b ? -1 : 1));
    const [begin, end] = [isoTime(this.#fromNs), isoTime(this.#fromNs + DAY_NS)];
    for (const [, balance] of places)
      if (balance.opening !== 0n) yield lineOf('opening', begin, balance, { balance: balance.opening });
    for (const row of this.#rows(this.#first ?? this.#last + 1)) yield this.#rowLine(row);
    for (const [, balance] of places) {
      const { opening, amounts, balance: closing } = balance;
      if (opening === 0n && closing === 0n && amounts === 0n) continue;
      const difference = opening + amounts - closing;
      if (difference !== 0n) this.faults.push(`${nameOf(balance)}: the difference is ${format18(difference)}`);
      yield lineOf('closing', end, balance, { amount: amounts, balance: closing, difference });
    }
  }

  #rowLine(row: ExportRow): Cells {
    const balance = must(this.#balances.get(placeOf(row)), 'a row was read before');
    const { amount, after } = figuresOf(row);
    // Two wrong rows may sum up to a right one.
    if (balance.balance + amount !== after)
      this.faults.push(`${nameOf(balance)}: row ${row['n']} does not follow from the balance before it`);
    balance.amounts += amount;
    balance.balance = after;
    const text = (name: string): Cell => (row[name] === undefined ? null : String(row[name]));
    return [
      'row',
      isoTime(timeOf(row)),
      ...[Number(row['sequence']), Number(row['index']), Number(row['n']), balance.subAccount],
      ...[balance.asset, balance.leg, text('entry'), format18(amount), format18(after), null, text('reference')],
    ];
  }

  /** Ledger rows from that number on, up to the end of the day. */
  *#rows(n: number): Generator<ExportRow, void, undefined> {
    for (const { bytes } of this.#log.userRows(this.#user, n, this.#last)) {
      const row = rowOfKind(bytes, LEDGER);
      if (row === null) continue;
      if (timeOf(row) >= this.#fromNs + DAY_NS) return;
      yield row;
    }
  }
}

/**
 * @param log null where there is none. @param fromNs the begin of the day.
 * @throws StorageError without a row log, or where the day is not kept, or has not begun in it.
 */
export function statementOf(log: RowLogReader | null, user: string, fromNs: bigint): Statement {
  const bounds = log?.bounds() ?? null;
  const [beginNs, endNs] =
    log === null || bounds === null ? [null, null] : [log.meta(bounds.kept)?.timeNs, log.meta(bounds.last)?.timeNs];
  if (log === null || bounds === null || beginNs == null || endNs == null)
    throw new StorageError(
      'there is no row log here: a statement is made of ledger rows ("evidence" switches them on)',
    );
  if (fromNs + DAY_NS <= beginNs || fromNs > endNs)
    throw new StorageError(`the row log has ${isoTime(beginNs)} to ${isoTime(endNs)}, and nothing of this day`);
  const day = new DayOfUser(log, user, fromNs);
  day.open();
  const notes = [
    fromNs < beginNs && bounds.kept > 1 ? `The row log begins at ${isoTime(beginNs)}, within the day.` : null,
    fromNs + DAY_NS > endNs
      ? `The row log ends at ${isoTime(endNs)}, within the day: closing balances are of then.`
      : null,
    bounds.kept > bounds.first && fromNs >= beginNs
      ? `Rows before ${isoTime(beginNs)} are not kept: a balance that has not changed since is not listed.`
      : null,
  ].filter((note) => note !== null);
  return { lines: day.lines(), note: notes.length === 0 ? null : notes.join(' '), faults: () => day.faults };
}

function timeOf(row: ExportRow): bigint {
  return BigInt(String(row['time_ns']));
}

function figuresOf(row: ExportRow): { readonly amount: bigint; readonly after: bigint } {
  const figure = (name: string): bigint =>
    must(parseDecimal18(String(row[name])), `a ledger row has an exact ${name}: ${String(row[name])}`);
  return { amount: figure('amount'), after: figure('balance_after') };
}

/** Sorts by sub-account, asset, leg. */
function placeOf(row: ExportRow): string {
  return `${String(row['sub_account']).padStart(5, '0')} ${row['asset']} ${row['leg'] ?? ''}`;
}

function balanceOf(row: ExportRow, opening: bigint): BalanceOfDay {
  const leg = row['leg'] === undefined ? null : String(row['leg']);
  const place = { subAccount: Number(row['sub_account']), asset: String(row['asset']), leg };
  return { ...place, opening, amounts: 0n, balance: opening };
}

function nameOf({ subAccount, asset, leg }: BalanceOfDay): string {
  return `sub-account ${subAccount}, asset ${asset}${leg === null ? '' : `, leg of ${leg}`}`;
}

function lineOf(
  part: 'opening' | 'closing',
  time: string,
  { subAccount, asset, leg }: BalanceOfDay,
  figures: { readonly amount?: bigint; readonly balance: bigint; readonly difference?: bigint },
): Cells {
  const { amount, balance, difference } = figures;
  const text = (figure: bigint | undefined): Cell => (figure === undefined ? null : format18(figure));
  return [
    part,
    time,
    null,
    null,
    null,
    subAccount,
    asset,
    leg,
    null,
    text(amount),
    text(balance),
    text(difference),
    null,
  ];
}
