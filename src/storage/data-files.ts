/**
 * What lies beside the map in a data directory:
 *
 *   snapshots/<sequence, 16 digits>/ledger.mdb   the tables as they were right after that record, which is the only one of
 *                                                its journal: a data directory of its own, small where history is
 *   chains/<chain id>.json                       simulated chains
 *   data-<version>-at-<sequence>/                what an upgrade has replaced
 */
import { closeSync, existsSync, fsyncSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Sequence } from '../core/units.ts';

export const SNAPSHOTS = 'snapshots';
export const CHAINS = 'chains';
const SEQUENCE_DIGITS = 16;
const SNAPSHOT_FORM = /^[0-9]{16}$/;

export interface SnapshotPlace {
  readonly sequence: Sequence;
  readonly path: string;
}

export function snapshotPath(directory: string, sequence: number): string {
  return join(directory, SNAPSHOTS, String(sequence).padStart(SEQUENCE_DIGITS, '0'));
}

/** Those that are whole, the oldest first. */
export function snapshotsIn(directory: string): readonly SnapshotPlace[] {
  const home = join(directory, SNAPSHOTS);
  if (!existsSync(home)) return [];
  const names = readdirSync(home).filter((name) => SNAPSHOT_FORM.test(name));
  return names.sort().map((name) => ({ sequence: Number(name) as Sequence, path: join(home, name) }));
}

/** Everything in a directory, then the directory, made durable. */
export function flushTree(directory: string): void {
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) flush(join(directory, name));
  flush(directory);
}

/** Makes a file durable, or the names in a directory. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
