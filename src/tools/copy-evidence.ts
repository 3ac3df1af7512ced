/**
 * Copies the evidence of a data directory whose node may be running:
 *
 *   heads ─▶ files as they are ─▶ the index, at one commit ─▶ what files have grown by ─▶ the tail, which goes on behind the index
 *
 * Files only grow: what they have beyond the index is cut when the copy is opened. Where a new tail was begun in between, or an old file
 * was removed, it is copied again.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { EVIDENCE_BESIDE, EVIDENCE_KEYS, evidenceFolder } from '../evidence/evidence-files.ts';
import {
  firstsIn,
  headsFolder,
  indexFolder,
  recordsFolder,
  rowsFile,
  rowsFolder,
  tailFolder,
  tilesFolder,
} from '../evidence/row-log/evidence-paths.ts';
import { RowIndexReader } from '../evidence/row-log/row-index.ts';
import { inspectRowLog } from '../evidence/row-log/row-log.ts';
import { makeDirectory } from '../storage/data-files.ts';
import { MAP_FILE_NAME } from '../storage/map-file.ts';
import { StorageError } from '../storage/storage-error.ts';
import type { Progress } from './audit-data.ts';

const TRIES_MAX = 8;
const COPIED_BYTES = 1 << 20;

/**
 * @returns the last record that is durable in the copy; null where there is no evidence.
 * @throws StorageError when it cannot be copied.
 */
export async function copyEvidence(from: string, to: string, progress: Progress): Promise<number | null> {
  const [source, target] = [evidenceFolder(from), evidenceFolder(to)];
  for (const name of EVIDENCE_BESIDE) if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
  copyFiles(join(from, EVIDENCE_KEYS), join(to, EVIDENCE_KEYS));
  if (!existsSync(join(indexFolder(source), MAP_FILE_NAME))) return null;
  for (const folder of [target, indexFolder(target), tailFolder(target)]) makeDirectory(folder);
  for (const name of readdirSync(source))
    if (statSync(join(source, name)).isFile()) copyFileSync(join(source, name), join(target, name));
  // Before the tree: no head of the copy is larger than its tree.
  copyFiles(headsFolder(source), headsFolder(target));
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    growAll(source, target, progress);
    await copyIndex(source, target);
    growAll(source, target, progress);
    copyFiles(tailFolder(source), tailFolder(target));
    if (await goesOn(target)) return (await inspectRowLog(target))?.durable ?? null;
  }
  throw new StorageError(`the evidence of ${from} changed while it was copied: try again`);
}

/** Whether the tail begins at or before the end of the files, and these are as long as the index says. */
async function goesOn(folder: string): Promise<boolean> {
  const index = RowIndexReader.open(folder);
  try {
    const position = index.position();
    const [first] = firstsIn(tailFolder(folder), '.log');
    if (position === null) return true;
    const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? -1;
    const isWhole = index.files().every((file) => sizeOf(rowsFile(folder, file.first)) >= file.rowsBytes);
    return isWhole && (first === undefined || first <= position.sequence + 1);
  } finally {
    await index.close();
  }
}

async function copyIndex(source: string, target: string): Promise<void> {
  rmSync(indexFolder(target), { recursive: true });
  makeDirectory(indexFolder(target));
  const index = RowIndexReader.open(source);
  try {
    await index.copyTo(join(indexFolder(target), MAP_FILE_NAME));
  } finally {
    await index.close();
  }
}

/** Files that are small, and come and go: one that is gone meanwhile is left out. */
function copyFiles(source: string, target: string): void {
  if (!existsSync(source)) return;
  rmSync(target, { recursive: true, force: true });
  makeDirectory(target);
  for (const name of readdirSync(source)) {
    try {
      copyFileSync(join(source, name), join(target, name));
    } catch (error) {
      if (existsSync(join(source, name))) throw error;
    }
  }
}

/** Copies what files have beyond their copies. */
function growAll(source: string, target: string, progress: Progress): void {
  for (const folderOf of [rowsFolder, recordsFolder, tilesFolder]) {
    const [from, to] = [folderOf(source), folderOf(target)];
    if (!existsSync(from)) continue;
    for (const name of readdirSync(from, { recursive: true, encoding: 'utf8' }).sort()) {
      const path = join(from, name);
      if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) growFile(path, join(to, name), progress);
    }
  }
}

function growFile(from: string, to: string, progress: Progress): void {
  makeDirectory(dirname(to));
  const source = openSync(from, 'r');
  const target = openSync(to, 'a', 0o600);
  try {
    const bytes = Buffer.allocUnsafe(COPIED_BYTES);
    for (let at = fstatSync(target).size; ; ) {
      const count = readSync(source, bytes, 0, bytes.length, at);
      if (count === 0) return;
      for (let done = 0; done < count; ) done += writeSync(target, bytes, done, count - done);
      at += count;
      progress('copying', at, 0);
    }
  } finally {
    closeSync(source);
    closeSync(target);
  }
}
