/** Pages of a user's ledger (LDG-01): what is read of the row log, and its reply. */
import { LEDGER_ENTRIES } from '../core/ledger-entries.ts';

/** Which rows of a user: all that are given must hold. */
export interface LedgerSelection {
  /** 64 hex digits. */
  readonly user: string;
  readonly subAccount: number | null;
  readonly asset: string | null;
  /** One of LEDGER_ENTRIES. */
  readonly entry: string | null;
  /** Inclusive, in nanoseconds: the time of the record. */
  readonly fromNs: bigint | null;
  readonly toNs: bigint | null;
  /** Rows with a smaller `n`; null: from the newest on. */
  readonly before: number | null;
  /** At least 1. */
  readonly limit: number;
}

/** Newest first. */
export interface LedgerRows {
  /** JSON texts. */
  readonly rows: readonly string[];
  /** Where the next page begins: its `before`; null at the oldest row that there is. */
  readonly nextBefore: number | null;
}

export function isLedgerEntry(word: string): boolean {
  return LEDGER_ENTRIES.includes(word);
}

/** A row as the reply has it. @param row a ledger row of the row log. */
export function ledgerRow(row: Readonly<Record<string, unknown>>): string {
  const { n, sequence, time_ns, sub_account, asset, leg = null, entry, amount, balance_after, reference = null } = row;
  const place = `"n":${Number(n)},"sequence":${Number(sequence)},"timestamp_ns":${BigInt(String(time_ns))}`;
  const rest = { sub_account, asset, leg, kind: entry, amount, balance_after, reference };
  return `{${place},${JSON.stringify(rest).slice(1)}`;
}

/** @param limit as applied. */
export function ledgerReply({ rows, nextBefore }: LedgerRows, limit: number): string {
  return `{"ledger":[${rows.join(',')}],"limit":${limit},"has_next_page":${nextBefore !== null},"next_before":${nextBefore}}`;
}
