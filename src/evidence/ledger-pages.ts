/**
 * Pages of a user's ledger, read of the row log newest first (LDG-01).
 *
 * Rows are found by their numbers: a page begins below a number and names the one below which the next begins. So rows that come
 * meanwhile move no page, and the deepest page costs what the first does. How many ledger rows a user has is not counted.
 *
 * Bounded: a page ends after READ_MS_MAX of reading, perhaps with fewer rows than wanted, or none; its next page goes on.
 */
import { type LedgerRows, type LedgerSelection, ledgerRow } from '../codec/ledger-page.ts';
import { rowHead } from './row-log/row-head.ts';
import { RowLogReader, type RowOfUser } from './row-log/row-log-reader.ts';

/** Rows that are read at a time: each may lie in another block. A page begins with as many as it wants, within these bounds. */
const ROWS_PER_READ = 128;
const ROWS_OF_FIRST_READ = 16;
const READ_MS_MAX = 100;

export class LedgerPages {
  readonly #folder: string;
  readonly #passed: () => void;
  readonly #nowMs: () => number;
  #log: RowLogReader | null = null;

  /**
   * @param folder of the row log, which may not be there yet.
   * @param passed called between reads. @param nowMs rises.
   */
  constructor(folder: string, passed: () => void = () => undefined, nowMs: () => number = () => performance.now()) {
    this.#folder = folder;
    this.#passed = passed;
    this.#nowMs = nowMs;
  }

  /** @returns null where there is no row log. @throws StorageError when it is damaged. */
  read(query: LedgerSelection): LedgerRows | null {
    this.#log ??= RowLogReader.open(this.#folder);
    const log = this.#log;
    if (log === null) return null;
    const endMs = this.#nowMs() + READ_MS_MAX;
    const rows: string[] = [];
    let high = this.#highest(log, query);
    let size = Math.min(ROWS_PER_READ, Math.max(ROWS_OF_FIRST_READ, query.limit));
    while (high >= 1) {
      const low = Math.max(1, high - size + 1);
      const found = [...log.userRows(query.user, low, high)];
      for (const row of found.reverse()) {
        const { timeNs, kind } = rowHead(row.bytes);
        if (query.fromNs !== null && timeNs < query.fromNs) return { rows, nextBefore: null };
        if (kind !== 'ledger' || !isWanted(row, query)) continue;
        rows.push(ledgerRow(parsed(row)));
        if (rows.length === query.limit) return { rows, nextBefore: row.link.n > 1 ? row.link.n : null };
      }
      // What is older is not kept.
      if (found.length <= high - low) return { rows, nextBefore: null };
      high = low - 1;
      size = ROWS_PER_READ;
      this.#passed();
      if (this.#nowMs() >= endMs) break;
    }
    return { rows, nextBefore: high >= 1 ? high + 1 : null };
  }

  async close(): Promise<void> {
    await this.#log?.close();
  }

  /** The largest number of a row that may be on the page; 0 for none. */
  #highest(log: RowLogReader, { user, before, toNs }: LedgerSelection): number {
    const last = Math.min(log.lastOf(user), (before ?? Number.MAX_SAFE_INTEGER) - 1);
    if (toNs === null) return last;
    // Times rise with numbers. A row that is not kept is older than all that are.
    let [low, high] = [0, last];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const [row] = log.userRows(user, middle, middle);
      if (row === undefined || rowHead(row.bytes).timeNs <= toNs) low = middle;
      else high = middle - 1;
      this.#passed();
    }
    return low;
  }
}

function isWanted(row: RowOfUser, { subAccount, asset, entry }: LedgerSelection): boolean {
  if (subAccount === null && asset === null && entry === null) return true;
  const members = parsed(row);
  return (
    (subAccount === null || members['sub_account'] === subAccount) &&
    (asset === null || members['asset'] === asset) &&
    (entry === null || members['entry'] === entry)
  );
}

function parsed({ bytes }: RowOfUser): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')) as Record<
    string,
    unknown
  >;
}
