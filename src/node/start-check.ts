/**
 * The check before a start: a child process reads what was written to the data directory since it was last verified, and
 * only when all of it is sound do threads begin to use it. In a process of its own, so that neither damage nor time
 * spent on it is the node's: the ops listener answers meanwhile.
 *
 *   child      pages, checksums and chain since the mark ─▶ lines on its standard output: `<pages read> <pages>`
 *   node       exit 0 ─▶ the new mark is kept ─▶ threads start          anything else ─▶ 78
 *
 * Only what the child found damaged is called damaged: a backup restored over sound data loses what came after it. A check that
 * did not run, or did not finish, is no verdict on the data.
 *
 * A directory without a map is a new one, unless other files show that it had one: then 78.
 *
 * Not here: the child's side (start-check-child.ts).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseHex } from '../core/hex.ts';
import { EVIDENCE_BEGUN } from '../evidence/evidence-files.ts';
import { foreignLines } from '../runtime/foreign-lines.ts';
import { CHAINS, EVM_CURSORS, SNAPSHOTS } from '../storage/data-files.ts';
import { HASH_BYTES } from '../storage/journal-record.ts';
import { MAP_FILE_NAME } from '../storage/map-file.ts';
import { StorageError } from '../storage/storage-error.ts';
import { readVerifiedMark, type VerifiedMark, writeVerifiedMark } from '../storage/verified-mark.ts';

const MARK_FORM = /^mark ([0-9]+) ([0-9]+) ([0-9a-f]{64})$/;
const PROGRESS_FORM = /^([0-9]+) ([0-9]+)$/;
const DAMAGE_FORM = /^damaged (.*)$/;
const UNCHECKED_FORM = /^unchecked (.*)$/;
const REFUSAL_FORM = /^refused (.*)$/;

interface CheckObserver {
  readonly progress: (pagesRead: number, pages: number) => void;
  /** A line that the child prints to its standard error: it died. */
  readonly printed: (line: string) => void;
}

/** @throws StorageError when the directory is damaged, or cannot be checked. */
export async function checkBeforeStart(
  directory: string,
  entry: URL,
  { progress, printed }: CheckObserver,
): Promise<void> {
  if (!existsSync(join(directory, MAP_FILE_NAME))) return mustBeNew(directory);
  const child = spawn(process.execPath, [fileURLToPath(entry), directory], { stdio: ['ignore', 'pipe', 'pipe'] });
  foreignLines(child.stderr, printed);
  const report: CheckReport = { mark: null, damage: null, unchecked: null, refusal: null };
  const ended = endOf(child);
  if (child.stdout !== null) {
    for await (const line of createInterface({ input: child.stdout })) readLine(line, report, progress);
  }
  const how = await ended;
  if (how === 0 && report.mark !== null) writeVerifiedMark(directory, report.mark);
  else if (report.refusal !== null) throw new StorageError(report.refusal);
  else if (report.damage !== null)
    throw new StorageError(`the data directory ${directory} is damaged: ${report.damage}`);
  else throw new StorageError(unchecked(directory, report.unchecked ?? `its check ended with ${how}`));
}

function unchecked(directory: string, reason: string): string {
  const advice = 'remove the cause and start again; restore a backup only when `ringbook verify` finds damage';
  return `the data directory ${directory} could not be checked: ${reason}; nothing was found damaged: ${advice}`;
}

/** Files beside a missing map show that there was one: a start without it would lose what was confirmed. */
function mustBeNew(directory: string): void {
  const left =
    readVerifiedMark(directory) === null
      ? [CHAINS, EVM_CURSORS, SNAPSHOTS, EVIDENCE_BEGUN].find((name) => existsSync(join(directory, name)))
      : 'verified';
  if (left === undefined) return;
  const ways = 'restore a backup, or name an empty directory to begin anew';
  throw new StorageError(`the data directory ${directory} has lost its ${MAP_FILE_NAME}, as ${left} is there: ${ways}`);
}

interface CheckReport {
  mark: VerifiedMark | null;
  damage: string | null;
  /** Why the check came to no end. */
  unchecked: string | null;
  /** Nothing is damaged, and yet it is not for this node. */
  refusal: string | null;
}

function readLine(line: string, report: CheckReport, progress: (pagesRead: number, pages: number) => void): void {
  const [, pagesRead, pages] = PROGRESS_FORM.exec(line) ?? [];
  if (pages !== undefined) progress(Number(pagesRead), Number(pages));
  const [, txn, sequence, hex = ''] = MARK_FORM.exec(line) ?? [];
  const hash = parseHex(hex, HASH_BYTES);
  if (txn !== undefined && hash !== null) report.mark = { txn: Number(txn), sequence: Number(sequence), hash };
  const [, damage] = DAMAGE_FORM.exec(line) ?? [];
  if (damage !== undefined) report.damage = damage;
  const [, reason] = UNCHECKED_FORM.exec(line) ?? [];
  if (reason !== undefined) report.unchecked = reason;
  const [, refusal] = REFUSAL_FORM.exec(line) ?? [];
  if (refusal !== undefined) report.refusal = refusal;
}

function endOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'nothing'));
  });
}
