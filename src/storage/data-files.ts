/**
 * What lies beside the map in a data directory:
 *
 *   snapshots/<sequence, 16 digits>/ledger.mdb   the tables as they were right after that record, which is the only one of
 *                                                its journal: a data directory of its own, small where history is
 *   snapshots/gone-<sequence>/                   one that is being removed
 *   chains/<chain id>.json                       simulated chains
 *   evm/<chain id>.<kind of events>.json         how far chains are read, of every kind; no part of a backup (chain/event-cursor.ts)
 *   data-<version>-at-<sequence>/                what an upgrade has replaced
 *   dropped/                                     records that the stream of a cluster does not have (dropped-records.ts)
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Sequence } from '../core/units.ts';

export const SNAPSHOTS = 'snapshots';
export const CHAINS = 'chains';
export const EVM_CURSORS = 'evm';
const SEQUENCE_DIGITS = 16;
const SNAPSHOT_FORM = /^[0-9]{16}$/;
/** Begins the name of a snapshot that is being removed, so that it never counts as one. */
const GONE = 'gone-';

export interface SnapshotPlace {
  readonly sequence: Sequence;
  readonly path: string;
}

export function snapshotPath(directory: string, sequence: number): string {
  return join(directory, SNAPSHOTS, String(sequence).padStart(SEQUENCE_DIGITS, '0'));
}

/**
 * With those above it, one after the other: for all of them at once, the error of Node for a read-only disk is that
 * there is no such directory, and of `/proc` it never answers.
 */
export function makeDirectory(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const above = dirname(resolve(path));
  if (!existsSync(above)) makeDirectory(above);
  mkdirSync(path);
}

/** The snapshots that are complete, the oldest first. */
export function snapshotsIn(directory: string): readonly SnapshotPlace[] {
  const home = join(directory, SNAPSHOTS);
  if (!existsSync(home)) return [];
  const names = readdirSync(home).filter((name) => SNAPSHOT_FORM.test(name));
  return names.sort().map((name) => ({ sequence: Number(name) as Sequence, path: join(home, name) }));
}

/** The oldest from which a journal of these records leads on to its end. */
export function oldestWithin(directory: string, first: number, last: number): SnapshotPlace | undefined {
  return snapshotsIn(directory).find(({ sequence }) => sequence >= first && sequence <= last);
}

/** Removes the snapshots below one that stays. */
export async function forgetSnapshots(directory: string, below: Sequence): Promise<void> {
  await removeSnapshots(
    directory,
    snapshotsIn(directory).filter(({ sequence }) => sequence < below),
  );
}

/** Removes snapshots: killed at any moment, each is whole or counts no more. What an earlier removal left goes too. */
export async function removeSnapshots(directory: string, places: readonly SnapshotPlace[]): Promise<void> {
  const home = join(directory, SNAPSHOTS);
  if (!existsSync(home)) return;
  await sweepGone(home);
  if (places.length === 0) return;
  for (const { path } of places) await rename(path, join(home, `${GONE}${basename(path)}`));
  const names = await open(home, 'r');
  try {
    await names.sync();
  } finally {
    await names.close();
  }
  await sweepGone(home);
}

async function sweepGone(home: string): Promise<void> {
  const gone = readdirSync(home).filter((name) => name.startsWith(GONE));
  for (const name of gone) await rm(join(home, name), { recursive: true, force: true });
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
