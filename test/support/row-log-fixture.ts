/** Records for a row log, with rows in the form that it reads, chained and hashed as the thread of the evidence does it. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toHex } from '../../src/core/hex.ts';
import type { LoggedRecord, LoggedRow } from '../../src/evidence/row-log/logged-record.ts';
import { RowLog, type RowLogOptions } from '../../src/evidence/row-log/row-log.ts';
import { leafHash } from '../../src/evidence/tree/hashes.ts';
import { entriesRoot, entryHash, rawCommitment, recordLeaf, Salts } from '../../src/evidence/tree/record-leaf.ts';

const SALTS = new Salts(new Uint8Array(32).fill(7));

export function hashRow(sequence: number, index: number, row: Uint8Array): Uint8Array {
  return entryHash({ sequence, index, salt: SALTS.salt(sequence, index) }, row);
}

/** 64 hex digits. */
export function userOf(number: number): string {
  return number.toString(16).padStart(64, '0');
}

export interface PlannedRow {
  /** Null: a public row. */
  readonly user: number | null;
  readonly order?: string;
  readonly ends?: boolean;
  /** Bytes beside the rest. */
  readonly padding?: number;
}

/** Appends the next record. @returns its rows. */
export function appendRecord(
  log: RowLog,
  sequence: number,
  timeNs: bigint,
  planned: readonly PlannedRow[],
): readonly string[] {
  const rows = planned.map((plan, index): LoggedRow => rowOf(log, { sequence, index, timeNs }, plan));
  const meta = {
    sequence,
    epoch: 0,
    timeNs,
    count: rows.length,
    entriesRoot: entriesRoot(rows.map(({ hash }) => hash)),
    rawCommitment: rawCommitment(SALTS.rawSalt(sequence), new Uint8Array(32).fill(sequence & 0xff)),
  };
  const record: LoggedRecord = { ...meta, leafHash: leafHash(recordLeaf(meta)), rows };
  log.append(record);
  return rows.map(({ bytes }) => Buffer.from(bytes).toString('latin1'));
}

function rowOf(
  log: RowLog,
  { sequence, index, timeNs }: { readonly sequence: number; readonly index: number; readonly timeNs: bigint },
  { user, order, ends = false, padding = 0 }: PlannedRow,
): LoggedRow {
  const kind = user === null ? 'prices' : order === undefined ? 'ledger' : 'order';
  const head = `{"v":1,"sequence":"${sequence}","index":${index},"time_ns":"${timeNs}","kind":"${kind}"`;
  const name = userOf(user ?? 0);
  const before = user === null ? null : log.userEnd(name);
  const link = before === null ? '' : `,"user":"${name}","n":${before.n + 1},"previous":"${toHex(before.hash)}"`;
  const event = ends ? 'ended' : 'accepted';
  const of = order === undefined ? '' : `,"event":"${event}","asset_id":"BTC","order_id":"${order}"`;
  const bytes = Buffer.from(`${head}${link}${of},"text":"${noise(sequence * 31 + index, padding)}"}`);
  const hash = hashRow(sequence, index, bytes);
  if (before !== null) log.userGrew(name, before.n + 1, hash);
  return { bytes, hash };
}

/** Text that hardly compresses, the same for the same seed. */
function noise(seed: number, length: number): string {
  let state = seed * 2_654_435_761 + 1;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += state.toString(36);
  }
  return text.slice(0, length);
}

export function freshFolder(): string {
  return join(mkdtempSync(join(tmpdir(), 'ringbook-rows-')), 'evidence');
}

/** A log that moves what it can into its files with each step. */
export function openLog(folder: string, more: Partial<RowLogOptions> = {}): RowLog {
  return RowLog.open(folder, { hashRow, keepNs: 10n ** 30n, elapsedMs: passing(), ...more });
}

function passing(): () => number {
  let ms = 0;
  return () => {
    ms += 10_000;
    return ms;
  };
}
