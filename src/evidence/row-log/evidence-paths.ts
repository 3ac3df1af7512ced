/**
 * What lies in the folder of the evidence:
 *
 *   evidence/rows/<first sequence, 20 digits>.jsonl.gz      rows, in gzip members of some 64 KiB of rows (row-blocks.ts)
 *   evidence/records/<first sequence, 20 digits>.records    80 bytes for each record of that file (logged-record.ts)
 *   evidence/tail/<first sequence, 20 digits>.log           what is durable and not in those yet (tail.ts)
 *   evidence/tiles/                                         the hashes of the tree (tree/tile-files.ts)
 *   evidence/liabilities/                                   what the venue owes at some records (liabilities/stored-liabilities.ts)
 *   evidence/index/                                         where rows are, and how far all of this goes (row-index.ts)
 *   evidence-begun                                          beside the folder: that there is a log, so that its loss is seen
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const DIGITS = 20;

export function rowsFolder(folder: string): string {
  return join(folder, 'rows');
}

export function recordsFolder(folder: string): string {
  return join(folder, 'records');
}

export function tailFolder(folder: string): string {
  return join(folder, 'tail');
}

export function tilesFolder(folder: string): string {
  return join(folder, 'tiles');
}

/** Heads that this node has signed (heads/head-store.ts). */
export function headsFolder(folder: string): string {
  return join(folder, 'heads');
}

/** Statements of what is owed (liabilities/stored-liabilities.ts). */
export function liabilitiesFolder(folder: string): string {
  return join(folder, 'liabilities');
}

export function indexFolder(folder: string): string {
  return join(folder, 'index');
}

export function rowsFile(folder: string, first: number): string {
  return join(rowsFolder(folder), `${padded(first)}.jsonl.gz`);
}

export function recordsFile(folder: string, first: number): string {
  return join(recordsFolder(folder), `${padded(first)}.records`);
}

export function tailFile(folder: string, first: number): string {
  return join(tailFolder(folder), `${padded(first)}.log`);
}

/** First sequences of the files of this ending, rising. */
export function firstsIn(folder: string, ending: string): readonly number[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending) && /^[0-9]{20}$/.test(name.slice(0, -ending.length)))
    .map((name) => Number(name.slice(0, DIGITS)))
    .sort((one, other) => one - other);
}

function padded(sequence: number): string {
  return String(sequence).padStart(DIGITS, '0');
}
